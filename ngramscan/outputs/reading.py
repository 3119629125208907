"""Recorded outputs of models: which model wrote what, to which problem, after which prompt.

A prompt is named after its method, or after several joined by `+`: a prefix and the solver that
follows it (`f-1+cot`). A missing or empty output is kept as such: it has no marker because it has
no text, which differs from a text without markers.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from ngramscan.errors import InputError
from ngramscan.reading.row_files import decoded
from ngramscan.reading.surrogates import describe_halves, replace_halves

_LAYOUTS = (
    re.compile(r"(?P<dataset>[^/]+)/(?P<model>[^/]+)/(?P<prompt>[^/]+)\.jsonl"),
    re.compile(r"(?P<dataset>[^/]+)/raw_(?P<prompt>[^/]+)_outputs/(?P<model>[^/]+)\.json"),
)
"""The ends of paths: our own layout, and that of FinanceMath."""
_EXPECTED = "{dataset}/{model}/{prompt}.jsonl or {dataset}/raw_{prompt}_outputs/{model}.json"
_ID_FIELDS = ("id", "question_id", "problem_id")


class Group(NamedTuple):
    """Where an output comes from: one file in the usual layout."""

    dataset: str
    model: str
    prompt: str


@dataclass(frozen=True, slots=True)
class Output:
    """A model's output for one problem."""

    group: Group
    id: str
    """The problem's id and the epoch, the same for all models and prompts; empty if unknown."""
    text: str | None
    """None if it is missing."""
    place: str
    """File and line, or file and number in its list."""
    epoch: str = ""
    """The end of `id` that tells several samples of the same problem apart."""

    @property
    def problem(self) -> tuple[str, str, str]:
        """The problem's key; an output without an id has a problem of its own."""
        id_ = self.id.removesuffix(self.epoch)
        return self.group.dataset, id_, "" if id_ else self.place

    @property
    def is_there(self) -> bool:
        """Whether there is any text."""
        return bool(self.text and self.text.strip())


@dataclass(slots=True)
class OutputSet:
    """All outputs of a folder or file (`where`), in the order of files and lines."""

    outputs: list[Output]
    notices: list[str]
    where: str


def read_outputs(
    path: str | Path,
    output_field: str = "output",
    prompt_field: str | None = None,
    skip_bad_lines: bool = False,
) -> OutputSet:
    """Read all outputs of a file, or of any level of a folder in one of the known layouts.

    Where one file has outputs of several prompts, `prompt_field` names them. An InputError says
    where a record is malformed, or that there are no outputs.
    """
    outputs: list[Output] = []
    notices: list[str] = []
    bad: list[str] | None = [] if skip_bad_lines else None
    for file, group in _files(Path(path)):
        content, halves = _content(file)
        if halves:
            notices.append(describe_halves(str(file), halves))
        records = _records(file, content, bad)
        found = [_output(each, place, group, output_field, prompt_field) for place, each in records]
        outputs += found
        if not found:
            notices.append(f"{file}: no outputs in it")
    if bad:
        notices.append(f"{path}: malformed lines skipped: {len(bad)}")
    if not outputs:
        raise InputError(str(path), "no outputs there")
    _refuse_duplicates(outputs)
    return OutputSet(outputs, [*notices, *_describe_absent(outputs)], str(path))


def _files(path: Path) -> list[tuple[Path, Group]]:
    if path.is_file():
        return [(path, _group_of(path) or Group(path.parent.name, "", path.stem))]
    if not path.is_dir():
        raise InputError(str(path), "no such file or folder")
    files = [(file, group) for file in sorted(path.rglob("*")) if (group := _group_of(file))]
    if not files:
        raise InputError(str(path), f"no outputs there; files like {_EXPECTED} were expected")
    return files


def _group_of(file: Path) -> Group | None:
    end = "/".join(file.absolute().parts[-3:])
    matches = (layout.fullmatch(end) for layout in _LAYOUTS)
    return next((Group(**match.groupdict()) for match in matches if match), None)


def _content(file: Path) -> tuple[bytes, int]:
    """Return the content of a file, and how many halves of characters were replaced in it."""
    content, halves = replace_halves(file.read_bytes())
    try:
        content.decode()
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        problem = f"not UTF-8 at byte {error.start} of the file"
        raise InputError(f"{file}:{line}", problem) from error
    return content.removeprefix(codecs.BOM_UTF8), halves


def _records(file: Path, content: bytes, bad: list[str] | None) -> Iterator[tuple[str, Any]]:
    """Yield the records of a list or of lines after their places; add those of broken lines."""
    if content.lstrip().startswith(b"["):
        records = enumerate(decoded(str(file), content), 1)
        yield from ((f"{file}[{number}]", record) for number, record in records)
        return
    for number, line in enumerate(content.split(b"\n"), 1):
        place = f"{file}:{number}"
        try:
            if line.strip():
                yield place, decoded(place, line)
        except InputError as error:
            if bad is None:
                cure = "--skip-bad-lines leaves such lines out"
                raise InputError(place, f"{error.problem}; {cure}") from error
            bad.append(place)


def _output(record: Any, place: str, group: Group, field: str, prompt_field: str | None) -> Output:
    if not isinstance(record, dict):
        raise InputError(place, "not a JSON object; one with an output was expected")
    if field not in record:
        known = ", ".join(record) or "none"
        problem = f"no field {field!r}; it has: {known} (see --output-field)"
        raise InputError(place, problem)
    if prompt_field is not None:
        prompt = record.get(prompt_field)
        if not isinstance(prompt, str) or not prompt:
            raise InputError(place, f"field {prompt_field!r}: a prompt's name was expected")
        group = group._replace(prompt=prompt)
    # The path of a file with several prompts does not say who wrote, though it may look so.
    if isinstance(record.get("model"), str) and (prompt_field or not group.model):
        group = group._replace(model=record["model"])
    text = record[field]
    if isinstance(text, list) and len(text) <= 1:
        text = text[0] if text else None
    if text is not None and not isinstance(text, str):
        found = f"field {field!r} is {type(text).__name__}"
        raise InputError(place, f"{found}; a string, or a list of one, was expected")
    id_ = next((f"{record[name]}" for name in _ID_FIELDS if record.get(name) is not None), "")
    epoch = f"#{record['epoch']}" if id_ and record.get("epoch") is not None else ""
    return Output(group, id_ + epoch, text, place, epoch)


def _refuse_duplicates(outputs: Sequence[Output]) -> None:
    seen: dict[tuple[Group, str], str] = {}
    for output in outputs:
        first = seen.setdefault((output.group, output.id), output.place)
        if output.id and first != output.place:
            problem = f"id {output.id!r} of {'/'.join(output.group)} is also at {first}"
            raise InputError(output.place, problem)


def _describe_absent(outputs: Sequence[Output]) -> Iterator[str]:
    missing = sum(output.text is None for output in outputs)
    empty = sum(output.text is not None and not output.is_there for output in outputs)
    if missing or empty:
        total = f"of {len(outputs)} outputs"
        yield f"{total} {missing} are missing and {empty} empty; left out of all shares"
    if any(not output.id for output in outputs):
        yield "some outputs have no id; what is compared in pairs leaves them out"


# Names of prompts


def parts_of(prompt: str) -> list[str]:
    """Return the methods of a prompt's name: prefix and solver of `f-1+cot`."""
    return [part.strip() for part in prompt.split("+") if part.strip()]


def has_method(prompt: str, method: str) -> bool:
    """Tell whether a part of a prompt's name is a method, by one of its names (`FP/F-1`)."""
    names = {method.lower(), *method.lower().split("/")}
    return any(part.lower() in names for part in parts_of(prompt))


def methods_of(prompt: str, methods: Sequence[str]) -> list[str]:
    """Return which of some methods a prompt has, in the order of its parts."""
    return [method for part in parts_of(prompt) for method in methods if has_method(part, method)]
