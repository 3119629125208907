"""Claims about a paper: read, recomputed from its own tables, with a verdict on each."""

import ast
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import msgspec

from docs.errata.cells import Decimals, TableFacts, Tables, parse_printed, read_tables
from docs.errata.formulas import Evaluator, Recomputed, name_of_claim
from docs.errata.selections import parse_formula, select
from docs.errata.verdicts import Judgement, Relation, Verdict, judge
from ngramscan.errors import InputError
from ngramscan.reading.yaml_files import as_type, parse_yaml, read_text

FOLDER = Path(__file__).parent
PLACEHOLDER = re.compile(r"\{([A-Za-z_]\w*(?:\.id)?)\}")
Choices = list[str] | dict[str, str]
"""Texts for a loop, or texts by their short names."""


class Claim(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """An entry of a claims file; one with loops stands for a claim per combination."""

    id: str
    where: str
    statement: str
    published: str | None = None
    cell: str | None = None
    formula: str | None = None
    relation: Relation = msgspec.field(default="equal", name="is")
    decimals: Decimals | None = None
    rounded: str | None = None
    different: str | None = None
    underivable: str | None = None
    note: str | None = None
    loops: dict[str, str | Choices] = msgspec.field(default_factory=dict, name="for")

    def __post_init__(self) -> None:
        if self.published is not None and self.cell is not None:
            raise ValueError("published and cell are both given; expected one of them")
        if self.underivable is None and self.published is None and self.cell is None:
            raise ValueError("published is missing, or the cell where it is printed")
        if self.underivable is None and self.formula is None:
            raise ValueError("formula is missing, or why there is none: underivable")


class ClaimsFile(TableFacts, forbid_unknown_fields=True, kw_only=True):
    """A claims file, with claims as they are before loops."""

    claims: list[dict[str, Any]]
    lists: dict[str, Choices] = msgspec.field(default_factory=dict)
    values: dict[str, str] = msgspec.field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class CheckedClaim:
    """A published figure, the figure recomputed from the tables, and the verdict."""

    id: str
    where: str
    statement: str
    published: str | None
    """As printed; None if the paper prints no such figure."""
    recomputed: float | None
    low: float | None
    high: float | None
    """Limits of the range that the rounding of the inputs allows."""
    verdict: Verdict
    formula: str | None
    inputs: str | None
    """The cells that the formula reads."""
    note: str | None


@contextmanager
def _errors_at(place: str) -> Iterator[None]:
    try:
        yield
    except ValueError as error:
        raise InputError(place, str(error)) from error


def check_claims(tables: Path, file: Path) -> list[CheckedClaim]:
    """Recompute the claims of a file from the CSV files of a folder; InputError says what is wrong.

    Claims are in the order of the file.
    """
    content = as_type(parse_yaml(read_text(file), file.name), ClaimsFile, file.name)
    claims: dict[str, Claim] = {}
    for number, entry in enumerate(content.claims, 1):
        with _errors_at(f"{file.name}: claim {number} ({entry.get('id', 'no id')})"):
            for claim in _expand(msgspec.convert(entry, Claim), content.lists):
                if claim.id in claims:
                    raise ValueError(f"two claims have the id {claim.id!r}")
                claims[claim.id] = claim
    formulas: dict[str, ast.expr] = {}
    for name, text in [*content.values.items(), *_formulas_of(claims.values())]:
        with _errors_at(f"{file.name}: {name}"):
            formulas[name] = parse_formula(text)
    with _errors_at(f"{file.name}: keys, counts, decimals"):
        cells = read_tables(tables, content)
        for place in (*content.counts, *content.decimals):
            select(cells, parse_formula(place))
    checked = []
    for claim in claims.values():
        with _errors_at(f"{file.name}: claim {claim.id}"):
            checked.append(_check(claim, cells, formulas))
    return checked


@cache
def check_paper() -> list[CheckedClaim]:
    """Recompute what the Formula-One Prompting paper publishes from its own tables."""
    return check_claims(FOLDER / "tables", FOLDER / "claims.yaml")


# Loops


def _expand(claim: Claim, lists: Mapping[str, Choices]) -> Iterator[Claim]:
    """Yield a claim for each combination of what its loops run over."""
    if not claim.loops:  # whose texts may have the braces of LaTeX
        yield claim
        return
    texts = {
        field: value
        for field, value in msgspec.structs.asdict(claim).items()
        if isinstance(value, str)
    }
    loops = [_short_names_and_texts(choices, lists) for choices in claim.loops.values()]
    for combination in product(*loops):
        names: dict[str, str] = {}
        for name, (short_name, text) in zip(claim.loops, combination, strict=True):
            names[name] = text
            names[f"{name}.id"] = short_name
        filled = {field: _fill(text, names) for field, text in texts.items()}
        yield msgspec.structs.replace(claim, **filled)


def _short_names_and_texts(
    choices: str | Choices, lists: Mapping[str, Choices]
) -> list[tuple[str, str]]:
    if isinstance(choices, str):
        if choices not in lists:
            raise ValueError(f"for: no list named {choices!r}")
        choices = lists[choices]
    if not choices:
        raise ValueError("for: a list is empty")
    if isinstance(choices, dict):
        return list(choices.items())
    return [(text, text) for text in choices]


def _fill(text: str, names: Mapping[str, str]) -> str:
    """Return a text with the values of names in braces."""
    for match in PLACEHOLDER.finditer(text):
        if match[1] not in names:
            raise ValueError(f"{{{match[1]}}} is not the name of a loop")
    return PLACEHOLDER.sub(lambda match: names[match[1]], text)


# Verdicts


def _name_of_rounded(claim: Claim) -> str:
    return f'rounded("{claim.id}")'


def _formulas_of(claims: Iterable[Claim]) -> Iterator[tuple[str, str]]:
    for claim in claims:
        if claim.formula:
            yield name_of_claim(claim.id), claim.formula
        if claim.rounded:
            yield _name_of_rounded(claim), claim.rounded


def _check(claim: Claim, tables: Tables, formulas: Mapping[str, ast.expr]) -> CheckedClaim:
    evaluator = Evaluator(tables, formulas)
    published = claim.published if claim.cell is None else _printed_in(tables, claim.cell)
    recomputed: Recomputed | None = None
    if claim.formula is not None:
        recomputed = evaluator.recompute(formulas[name_of_claim(claim.id)])
    verdict: Verdict = "not derivable"
    remark = claim.underivable
    if claim.underivable is None and recomputed is not None:
        verdict, remark = _judge(claim, published or "", recomputed, tables, formulas)
    formula = claim.formula
    if formula and claim.relation != "equal":
        formula = f"{claim.relation} {formula}"
    notes = [claim.different, claim.note, remark, *evaluator.remarks]
    return CheckedClaim(
        id=claim.id,
        where=claim.where,
        statement=claim.statement,
        published=published,
        recomputed=float(recomputed.value) if recomputed else None,
        low=float(recomputed.low) if recomputed else None,
        high=float(recomputed.high) if recomputed else None,
        verdict=verdict,
        formula=formula,
        inputs="; ".join(str(cell) for cell in evaluator.cells) or None,
        note="; ".join(note for note in notes if note) or None,
    )


def _printed_in(tables: Tables, place: str) -> str:
    cells, _ = select(tables, parse_formula(place))
    if len(cells) != 1:
        raise ValueError(f"cell: {len(cells)} cells are selected; expected one")
    return cells[0].text


def _judge(
    claim: Claim,
    published: str,
    recomputed: Recomputed,
    tables: Tables,
    formulas: Mapping[str, ast.expr],
) -> Judgement:
    """Return the verdict on a claim, also by what was rounded on the way or is another quantity."""
    printed = parse_printed(published, claim.decimals)
    if printed is None:
        raise ValueError(f"{published!r} is published; expected a number as printed")
    judgement = judge(printed, recomputed, claim.relation)
    if judgement.verdict == "mismatch" and claim.rounded:
        steps = Evaluator(tables, formulas).recompute(formulas[_name_of_rounded(claim)])
        if judge(printed, steps, claim.relation) == Judgement("ok"):
            judgement = Judgement("rounding")
    if claim.different and judgement.verdict != "ok":
        return Judgement("different quantity", judgement.remark)
    return judgement
