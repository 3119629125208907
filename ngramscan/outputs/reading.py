"""Recorded outputs of models: who wrote what, to which problem, after which prompt.

A variant is a prompting method, or several joined by `+`: a prefix and the solver that follows it
(`f-1+cot`). What is missing or empty is kept as such: it has no marker because it has no text, and
that is something else than a text without markers.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from ngramscan.errors import InputError
from ngramscan.reading.surrogates import describe_halves, replace_halves

LAYOUTS = ("{dataset}/{model}/{variant}.jsonl", "{dataset}/raw_{variant}_outputs/{model}.json")
"""Where files stand below, or up to, the folder that is named: ours, and FinanceMath's."""

NO_SOLVER = ("zs", "zero", "zero-shot")
"""Last parts of a variant that name no solver: `f-1+zs` is the prefix alone."""

_ID_FIELDS = ("id", "question_id", "problem_id")


class Group(NamedTuple):
    """Who wrote: one file in the usual layout."""

    dataset: str
    model: str
    variant: str


@dataclass(frozen=True, slots=True)
class Output:
    """What a model wrote to one problem."""

    group: Group
    id: str
    """Of the problem, the same for all models and variants, with the epoch; empty: not known."""
    text: str | None
    """None: missing."""
    place: str
    """File and line, or file and number in its list."""
    epoch: str = ""
    """Which of several samples of the same problem, as the end of `id` tells."""

    @property
    def problem(self) -> tuple[str, str, str]:
        """What tells the problem from others: without an id, each output has one of its own."""
        id_ = self.id.removesuffix(self.epoch)
        return self.group.dataset, id_, "" if id_ else self.place

    @property
    def is_there(self) -> bool:
        """Tell whether there is any text."""
        return bool(self.text and self.text.strip())


@dataclass(frozen=True, slots=True)
class OutputFields:
    """Where a record has what; the options of the commands."""

    output: str = "output"
    variant: str | None = None
    """A field with the variant, where one file has several."""
    skip_bad_lines: bool = False


@dataclass(slots=True)
class OutputSet:
    """All outputs of one place, in the order of files and lines."""

    outputs: list[Output] = field(default_factory=list)
    notices: list[str] = field(default_factory=list)

    def groups(self) -> dict[Group, list[Output]]:
        """Return the outputs of each group, those without text too."""
        groups: dict[Group, list[Output]] = {}
        for output in self.outputs:
            groups.setdefault(output.group, []).append(output)
        return groups


def read_outputs(path: Path, fields: OutputFields) -> OutputSet:
    """Read all outputs of a folder or file.

    Parameters
    ----------
    path : Path
        A folder in one of `LAYOUTS` (from any level of it), or a file: JSON lines or a JSON list.
    fields : OutputFields
        Where a record has what.

    Raises
    ------
    InputError
        Nothing is there, or a record is malformed; says where.
    """
    found = OutputSet()
    skipped = 0
    for file, group in _files(path):
        content, halves = _decoded(file)
        if halves:
            found.notices.append(describe_halves(str(file), halves))
        records, bad = _records(file, content, fields.skip_bad_lines)
        skipped += bad
        outputs = [_output(record, place, group, fields) for place, record in records]
        if not outputs:
            found.notices.append(f"{file}: no outputs in it")
        found.outputs += outputs
    if skipped:
        found.notices.append(f"{path}: malformed lines skipped: {skipped}")
    if not found.outputs:
        raise InputError(str(path), "no outputs there")
    _refuse_duplicates(found.outputs)
    found.notices += _describe_absent(found)
    return found


# Files


def _files(path: Path) -> list[tuple[Path, Group]]:
    if path.is_file():
        return [(path, _group_of(path) or Group(path.parent.name, "", path.stem))]
    if not path.is_dir():
        raise InputError(str(path), "no such file or folder")
    files = sorted(file for file in path.rglob("*") if file.suffix in {".json", ".jsonl"})
    grouped = [(file, group) for file in files if (group := _group_of(file))]
    if not grouped:
        layouts = " or ".join(LAYOUTS)
        raise InputError(str(path), f"no outputs there; files like {layouts} were expected")
    return grouped


def _group_of(file: Path) -> Group | None:
    parts = file.absolute().parts[-3:]
    for layout in LAYOUTS:
        pattern = re.escape(layout).replace(r"\{", "{").replace(r"\}", "}")
        named = re.sub(r"\{(\w+)\}", r"(?P<\1>[^/]+)", pattern)
        if match := re.fullmatch(named, "/".join(parts)):
            return Group(match["dataset"], match["model"], match["variant"])
    return None


# Records


def _records(
    file: Path, content: str, skip_bad: bool
) -> tuple[list[tuple[str, dict[str, Any]]], int]:
    if content.lstrip().startswith("["):
        return list(_listed(file, content)), 0
    records, bad = [], 0
    for number, line in enumerate(content.split("\n"), 1):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
        except (ValueError, RecursionError) as error:
            if not skip_bad:
                problem = f"no JSON: {error}; --skip-bad-lines leaves such lines out"
                raise InputError(f"{file}:{number}", problem) from error
            bad += 1
            continue
        records.append((f"{file}:{number}", _object(record, f"{file}:{number}")))
    return records, bad


def _decoded(file: Path) -> tuple[str, int]:
    """Return the content of a file, and how many halves of characters were replaced in it."""
    raw, halves = replace_halves(file.read_bytes())
    try:
        return raw.decode("utf-8-sig"), halves
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise InputError(
            f"{file}:{line}", f"not UTF-8 at byte {error.start} of the file"
        ) from error


def _listed(file: Path, content: str) -> Iterator[tuple[str, dict[str, Any]]]:
    try:
        records = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise InputError(str(file), f"no JSON: {error}") from error
    for number, record in enumerate(records, 1):
        yield f"{file}[{number}]", _object(record, f"{file}[{number}]")


def _object(record: object, place: str) -> dict[str, Any]:
    if not isinstance(record, dict):
        raise InputError(place, "no JSON object; one with an output was expected")
    return record


def _output(record: Mapping[str, Any], place: str, group: Group, fields: OutputFields) -> Output:
    if fields.output not in record:
        known = ", ".join(map(str, record)) or "none"
        problem = f"no field {fields.output!r}; it has: {known} (see --output-field)"
        raise InputError(place, problem)
    if fields.variant is not None:
        variant = record.get(fields.variant)
        if not isinstance(variant, str) or not variant:
            raise InputError(place, f"field {fields.variant!r}: a variant's name was expected")
        group = group._replace(variant=variant)
    # The path of a file with several variants does not say who wrote, though it may look so.
    if isinstance(record.get("model"), str) and (fields.variant or not group.model):
        group = group._replace(model=record["model"])
    text = _text(record[fields.output], place, fields.output)
    id_ = next((f"{record[name]}" for name in _ID_FIELDS if record.get(name) is not None), "")
    epoch = f"#{record['epoch']}" if id_ and record.get("epoch") is not None else ""
    return Output(group, id_ + epoch, text, place, epoch)


def _text(value: object, place: str, name: str) -> str | None:
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    if value is None or value == []:
        return None
    if not isinstance(value, str):
        problem = (
            f"field {name!r} is {type(value).__name__}; a string, or a list of one, was expected"
        )
        raise InputError(place, problem)
    return value


# All of them


def _refuse_duplicates(outputs: Sequence[Output]) -> None:
    seen: dict[tuple[Group, str], str] = {}
    for output in outputs:
        if output.id:
            first = seen.setdefault((output.group, output.id), output.place)
            if first != output.place:
                problem = f"id {output.id!r} of {'/'.join(output.group)} is also at {first}"
                raise InputError(output.place, problem)


def _describe_absent(found: OutputSet) -> Iterator[str]:
    missing = sum(output.text is None for output in found.outputs)
    empty = sum(output.text is not None and not output.is_there for output in found.outputs)
    if missing or empty:
        total = len(found.outputs)
        yield f"of {total} outputs {missing} are missing and {empty} empty; left out of all shares"
    if any(not output.id for output in found.outputs):
        yield "some outputs have no id; what is compared in pairs leaves them out"


# Variants


def parts_of(variant: str) -> list[str]:
    """Return the methods of a variant's name: prefix and solver of `f-1+cot`."""
    return [part.strip() for part in variant.split("+") if part.strip()]


def is_method(part: str, method: str) -> bool:
    """Tell whether a part of a variant's name is a method, by one of its names (`FP/F-1`)."""
    return part.lower() in {method.lower(), *method.lower().split("/")}


def methods_of(variant: str, methods: Sequence[str]) -> list[str]:
    """Return which of some methods a variant has, in the order of its parts."""
    return [method for part in parts_of(variant) for method in methods if is_method(part, method)]
