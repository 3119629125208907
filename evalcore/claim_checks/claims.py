"""Claims files: YAML → claims, one for each turn of their loops."""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources.abc import Traversable
from itertools import product
from pathlib import Path
from typing import Any

import yaml

from evalcore.claim_checks.nodes import Node, Selection
from evalcore.claim_checks.parsing import FormulaError, parse_formula
from evalcore.claim_checks.tables import Printed, Reading, parse_printed
from ngramscan.errors import InputError

RELATIONS = ("equal", "at least", "at most", "above", "below")
_TEXTS = (
    "id",
    "where",
    "statement",
    "published",
    "cell",
    "formula",
    "is",
    "decimals",
    "underivable",
    "note",
)
_NEEDED = ("id", "where", "statement")
_FILE_KEYS = {
    "decimals": dict,
    "keys": list,
    "counts": list,
    "aliases": dict,
    "lists": dict,
    "values": dict,
}
_PLACEHOLDER = re.compile(r"\{([A-Za-z_]\w*)(\.id)?\}")


@dataclass(frozen=True, slots=True)
class Claim:
    """A figure that was published, and how it follows from others."""

    id: str
    where: str
    statement: str
    published: Printed | None
    published_text: str | None
    cell: Selection | None
    """Where it is printed, in place of the figure itself."""
    formula: Node | None
    formula_text: str | None
    relation: str
    decimals: int | None
    """How many decimals of the published figure mean something; None: all that are printed."""
    underivable: str | None
    """Why it can't be checked from what is printed."""
    note: str | None


@dataclass(frozen=True, slots=True)
class Claims:
    """A claims file."""

    name: str
    claims: Sequence[Claim]
    values: Mapping[str, Node]
    reading: Reading


class _StrictLoader(yaml.SafeLoader):
    """Refuses a key that is there twice; YAML would take the last one."""


def _mapping(loader: _StrictLoader, node: yaml.MappingNode) -> dict[Hashable, Any]:
    keys = [loader.construct_object(key, deep=True) for key, _ in node.value]
    for key in keys:
        if keys.count(key) > 1:
            raise yaml.MarkedYAMLError(
                problem=f"{key!r} is there twice", problem_mark=node.start_mark
            )
    return {
        key: loader.construct_object(value, deep=True)
        for key, (_, value) in zip(keys, node.value, strict=True)
    }


_StrictLoader.add_constructor(yaml.resolver.BaseResolver.DEFAULT_MAPPING_TAG, _mapping)


def read_claims(file: Path | Traversable) -> Claims:
    """Read a claims file.

    Raises
    ------
    InputError
        It can't be read, breaks the format, or a formula in it is none.
    """
    name = file.name
    root = _load(file)
    if not isinstance(root, dict) or not isinstance(root.get("claims"), list):
        raise InputError(name, "expected a mapping with a list of `claims`")
    for key, value in root.items():
        kind = _FILE_KEYS.get(key, list if key == "claims" else None)
        if kind is None:
            raise InputError(
                name, f"unknown key {key!r}; known are {', '.join(_FILE_KEYS)}, claims"
            )
        if not isinstance(value, kind):
            raise InputError(
                f"{name}: {key}", f"expected a {'list' if kind is list else 'mapping'}"
            )
    lists = {
        key: _choices(value, f"{name}: lists: {key}")
        for key, value in root.get("lists", {}).items()
    }
    claims = [
        claim
        for number, entry in enumerate(root["claims"], 1)
        for claim in _expand(entry, lists, f"{name}: claim {number}")
    ]
    _check_ids(claims, name)
    return Claims(name, claims, _values(root.get("values", {}), name), _reading(root, name))


def _load(file: Path | Traversable) -> Any:
    try:
        # The loader is a safe one.
        return yaml.load(file.read_text(encoding="utf-8"), Loader=_StrictLoader)
    except OSError as error:
        raise InputError(str(file), (error.strerror or str(error)).lower()) from error
    except UnicodeDecodeError as error:
        raise InputError(file.name, f"not UTF-8 at byte {error.start}") from error
    except yaml.YAMLError as error:
        raise InputError(file.name, f"not valid YAML: {' '.join(str(error).split())}") from error


def _reading(root: Mapping[str, Any], name: str) -> Reading:
    keys = _texts(root.get("keys", []), f"{name}: keys")
    counts = _texts(root.get("counts", []), f"{name}: counts")
    aliases: dict[str, str] = {}
    for wanted, others in root.get("aliases", {}).items():
        for other in _texts(others, f"{name}: aliases: {wanted}"):
            if other in aliases:
                raise InputError(f"{name}: aliases", f"{other!r} is an alias twice")
            aliases[other] = str(wanted)
    decimals = {}
    for column, number in root.get("decimals", {}).items():
        found = _decimals(number, f"{name}: decimals: {column}")
        if found is not None:
            decimals[str(column)] = found
    return Reading(frozenset(keys), frozenset(counts), decimals, aliases)


def _texts(value: Any, where: str) -> list[str]:
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise InputError(where, "expected a list of texts")
    return value


def _values(formulas: Mapping[Any, Any], name: str) -> dict[str, Node]:
    return {str(key): _parse(str(text), f"{name}: values: {key}") for key, text in formulas.items()}


def _choices(value: Any, where: str) -> dict[str, str]:
    """Return what a loop goes through: short names, which ids use, and what they stand for."""
    if isinstance(value, list):
        value = {item: item for item in value}
    if not isinstance(value, dict) or not value:
        raise InputError(where, "expected a list of texts, or a mapping of ids to texts")
    if not all(isinstance(item, str) for pair in value.items() for item in pair):
        raise InputError(where, "all entries must be texts; put numbers in quotes")
    return value


def _expand(entry: Any, lists: Mapping[str, Mapping[str, str]], where: str) -> Iterator[Claim]:
    """Yield the claims that an entry stands for."""
    if not isinstance(entry, dict):
        raise InputError(where, "expected a mapping with id, where, statement, …")
    where = f"{where} ({entry.get('id', 'no id')})"
    for key, value in entry.items():
        if key != "for" and key not in _TEXTS:
            raise InputError(where, f"unknown key {key!r}; known are for, {', '.join(_TEXTS)}")
        if key != "for" and not isinstance(value, str):
            raise InputError(where, f"{key} is {value!r}; expected a text (put numbers in quotes)")
    for key in _NEEDED:
        if key not in entry:
            raise InputError(where, f"{key} is missing")
    loops = _loops(entry.get("for", {}), lists, where)
    for turn in product(*(choices.items() for choices in loops.values())):
        names = dict(zip(loops, turn, strict=True))
        yield _claim(
            {key: _fill(entry[key], names, where) for key in _TEXTS if key in entry}, where
        )


def _loops(
    loops: Any, lists: Mapping[str, Mapping[str, str]], where: str
) -> dict[str, Mapping[str, str]]:
    if not isinstance(loops, dict):
        raise InputError(where, "for: expected a mapping of names to lists")
    found = {}
    for name, choices in loops.items():
        if isinstance(choices, str):
            if choices not in lists:
                raise InputError(where, f"for: there is no list {choices!r}")
            found[str(name)] = lists[choices]
        else:
            found[str(name)] = _choices(choices, f"{where}: for: {name}")
    return found


def _fill(text: str, names: Mapping[str, tuple[str, str]], where: str) -> str:
    def value(found: re.Match[str]) -> str:
        if found[1] not in names:
            raise InputError(where, f"{found[0]} is not the name of a loop")
        short, full = names[found[1]]
        return short if found[2] else full

    # Without a loop nothing is a placeholder, and LaTeX may have its braces.
    return _PLACEHOLDER.sub(value, text) if names else text


def _claim(fields: Mapping[str, str], where: str) -> Claim:
    where = f"{where.rsplit(' (', 1)[0]} ({fields['id']})"
    _check_fields(fields, where)
    formula, cell, text = fields.get("formula"), fields.get("cell"), fields.get("published")
    decimals = _decimals(fields.get("decimals"), where)
    published = parse_printed(text, decimals) if text is not None else None
    if text is not None and published is None and "underivable" not in fields:
        raise InputError(where, f"published is {text!r}; expected a number as printed")
    parsed_cell = _parse(cell, f"{where}: cell") if cell else None
    if parsed_cell is not None and not isinstance(parsed_cell, Selection):
        raise InputError(where, "cell: expected a selection, TABLE[…].COLUMN")
    return Claim(
        id=fields["id"],
        where=fields["where"],
        statement=fields["statement"],
        published=published,
        published_text=text,
        cell=parsed_cell,
        formula=_parse(formula, where) if formula else None,
        formula_text=formula,
        relation=fields.get("is", RELATIONS[0]),
        decimals=decimals,
        underivable=fields.get("underivable"),
        note=fields.get("note"),
    )


def _decimals(text: object, where: str) -> int | None:
    if text is None:
        return None
    if not re.fullmatch(r"\d", str(text)):
        raise InputError(where, f"decimals is {text!r}; expected a number from 0 to 9")
    return int(str(text))


def _check_fields(fields: Mapping[str, str], where: str) -> None:
    if fields.get("is", RELATIONS[0]) not in RELATIONS:
        raise InputError(where, f"is: {fields['is']!r}; expected one of {', '.join(RELATIONS)}")
    if "published" in fields and "cell" in fields:
        raise InputError(where, "published and cell are both there; expected one of them")
    if "underivable" in fields:
        return
    if "published" not in fields and "cell" not in fields:
        raise InputError(where, "published is missing, or the cell where it is printed")
    if "formula" not in fields:
        raise InputError(where, "formula is missing, or why there is none: underivable")


def _parse(text: str, where: str) -> Node:
    try:
        return parse_formula(text)
    except FormulaError as error:
        raise InputError(where, str(error)) from error


def _check_ids(claims: Sequence[Claim], name: str) -> None:
    seen: set[str] = set()
    for claim in claims:
        if claim.id in seen:
            raise InputError(name, f"two claims have the id {claim.id!r}")
        seen.add(claim.id)
