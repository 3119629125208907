"""Recorded outputs of models: which model wrote what, to which problem, after which prompt.

A prompt is named after its method, or after several joined by `+`: a prefix and the solver that
follows it (`f-1+cot`). A missing or empty output is kept as such: it has no marker because it has
no text, which differs from a text without markers.
"""

from __future__ import annotations

import codecs
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ngramscan.errors import InputError, some_of
from ngramscan.messages import OptionUse, Text, Wording, message_of
from ngramscan.reading.output_paths import PromptGroup, group_of
from ngramscan.reading.reasoning import split_reasoning
from ngramscan.reading.row_files import decoded, list_items
from ngramscan.reading.streams import is_stream, missing, name_of, read_bytes, unpacked_path
from ngramscan.reading.surrogates import describe_halves, replace_halves

_EXPECTED = "a folder of DATASET/MODEL/PROMPT.jsonl or DATASET/raw_PROMPT_outputs/MODEL.json"
ID_FIELDS = ("id", "question_id", "problem_id")
ASKED_FIELDS = ("question", "prompt", "problem", "input", "context", "tables")


@dataclass(frozen=True, slots=True)
class Output:
    """A model's output for one problem."""

    group: PromptGroup
    id: str
    """The problem's id and the epoch, the same for all models and prompts; empty if unknown."""
    text: str | None
    """None if it is missing."""
    place: str
    """File and line, or file and number in its list."""
    epoch: str = ""
    """The end of `id` that numbers several outputs to the same problem."""
    asked: tuple[str, ...] = ()
    """The input texts of the model that the record contains: question and prompt."""

    @property
    def problem(self) -> tuple[str, str, str]:
        """The problem's key; each output without an id counts as a separate problem."""
        id_ = self.id.removesuffix(self.epoch)
        return self.group.dataset, id_, "" if id_ else self.place

    @property
    def has_text(self) -> bool:
        """Whether there is any text."""
        return bool(self.text and self.text.strip())


@dataclass(slots=True)
class OutputSet:
    """All outputs of some folders or files (`where`), in the order of files and lines."""

    outputs: list[Output]
    notices: list[Text]
    where: str


def read_outputs(
    paths: str | Path | Sequence[str | Path],
    output_field: str = "output",
    prompt_field: str | None = None,
    skip_bad_lines: bool = False,
    without_reasoning: bool = False,
) -> OutputSet:
    """Read all outputs of files, of pipes, or of any level of folders in the known layouts.

    Where one file has outputs of several prompts, `prompt_field` names them. Where a path doesn't
    name dataset, model and prompt, the fields `dataset`, `model` and `method` do. An InputError
    says where a record is malformed, or that there are no outputs.
    """
    given_paths = [paths] if isinstance(paths, str | Path) else paths
    where = ", ".join(map(name_of, given_paths)) or "outputs"
    outputs: list[Output] = []
    notices: list[str] = []
    bad: list[str] | None = [] if skip_bad_lines else None
    files = [file for path in given_paths for file in _files(Path(path))]
    if len({file.resolve() for file, _ in files}) < len(files):
        raise InputError(where, "a file is given twice")
    for file, group in files:
        name = name_of(file)
        content, halves = _content(file)
        if halves:
            notices.append(describe_halves(name, halves))
        records = _records(name, content, bad)
        file_outputs = [
            _output(record, place, group, field=output_field, prompt_field=prompt_field)
            for place, record in records
        ]
        outputs += file_outputs
        if not file_outputs:
            notices.append(f"{name}: contains no outputs")
    if bad:
        notices.append(f"{where}: malformed lines skipped: {len(bad)}")
    if not outputs:
        raise InputError(where, "no outputs there")
    _refuse_duplicates(outputs)
    outputs, on_reasoning = treat_reasoning(outputs, without_reasoning)
    return OutputSet(outputs, [*notices, *on_reasoning, *_describe_absent(outputs)], where)


def treat_reasoning(
    outputs: Sequence[Output], without_reasoning: bool
) -> tuple[list[Output], list[Text]]:
    """Return outputs with or without the reasoning that models mark, and a notice on it.

    An output that ends within its reasoning is empty without it.
    """
    split = [split_reasoning(output.text or "") for output in outputs]
    having = sum(bool(reasoning) or answer is None for reasoning, answer in split)
    if not having:
        return list(outputs), []
    notice = f"{having} of {len(outputs)} outputs have marked reasoning"
    if not without_reasoning:
        return list(outputs), [
            f"{notice}, which is counted; " + OptionUse("without_reasoning") + " leaves it out"
        ]
    answers = [
        output if output.text is None else replace(output, text=answer or "")
        for output, (_, answer) in zip(outputs, split, strict=True)
    ]
    unended = sum(answer is None for _, answer in split)
    ends = f"; {unended} of them end within it, and are empty without it" if unended else ""
    return answers, [f"{notice}, which is left out{ends}"]


def _files(path: Path) -> list[tuple[Path, PromptGroup]]:
    if is_stream(path):
        return [(path, PromptGroup(name_of(path), "", ""))]
    if path.is_file():
        stem = unpacked_path(path).stem
        return [(path, group_of(path) or PromptGroup(path.parent.name, "", stem))]
    if not path.is_dir():
        raise InputError(str(path), missing(path, _EXPECTED))
    files = [(file, group) for file in sorted(path.rglob("*")) if (group := group_of(file))]
    if not files:
        raise InputError(str(path), f"no outputs there; expected {_EXPECTED}")
    return files


def _content(file: Path) -> tuple[bytes, int]:
    """Return the content of a file, and how many halves of characters were replaced in it."""
    content, halves = replace_halves(read_bytes(file))
    try:
        content.decode()
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        problem = f"not UTF-8 at byte {error.start} of the file"
        raise InputError(f"{name_of(file)}:{line}", problem) from error
    return content.removeprefix(codecs.BOM_UTF8), halves


_TEXTS = {".txt", ".md"}
"""Suffixes of files that are likely texts, and not records of outputs."""
_TRACE_TEXTS = Wording("`ngramscan trace --plain`", "`ngramscan.trace(…, plain=True)`")


def _records(name: str, content: bytes, bad: list[str] | None) -> Iterator[tuple[str, Any]]:
    """Yield the records of a list or of lines after their places; add those of broken lines."""
    if content.lstrip().startswith(b"["):
        yield from list_items(name, content)
        return
    for number, line in enumerate(content.split(b"\n"), 1):
        place = f"{name}:{number}"
        try:
            if line.strip():
                yield place, decoded(place, line)
        except InputError as error:
            if bad is None:
                is_text = Path(name).suffix.lower() in _TEXTS
                cure = OptionUse("skip_bad_lines") + " leaves such lines out"
                if is_text:
                    cure = _TRACE_TEXTS + " reads plain texts"
                raise InputError(place, error.problem + "; " + cure) from error
            bad.append(place)


def _output(
    record: Any, place: str, group: PromptGroup, field: str, prompt_field: str | None
) -> Output:
    if not isinstance(record, dict):
        raise InputError(place, "not a JSON object; expected one with an output")
    if field not in record:
        fields = some_of(record) or "none"
        problem = f"no field {field!r}; it has: {fields} (see " + OptionUse("output_field") + ")"
        raise InputError(place, problem)
    group = _group_in(record, place, group, prompt_field)
    text = record[field]
    if isinstance(text, list) and len(text) <= 1:
        text = text[0] if text else None
    if text is not None and not isinstance(text, str):
        field_type = f"field {field!r} is {type(text).__name__}"
        raise InputError(place, f"{field_type}; expected a string, or a list of one string")
    id_ = id_in(record)
    epoch = f"#{record['epoch']}" if id_ and record.get("epoch") is not None else ""
    return Output(
        group, id=id_ + epoch, text=text, place=place, epoch=epoch, asked=asked_in(record)
    )


def id_in(record: Mapping[str, Any]) -> str:
    """Return the id of a record's problem; empty: it has none."""
    return next((f"{record[name]}" for name in ID_FIELDS if record.get(name) is not None), "")


def asked_in(record: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the strings of a record that the model was given: question, prompt, context."""
    values_by_field = (record[name] for name in ASKED_FIELDS if name in record)
    lists = (value if isinstance(value, list) else [value] for value in values_by_field)
    return tuple(text for values in lists for text in values if isinstance(text, str))


def _group_in(record: Any, place: str, group: PromptGroup, prompt_field: str | None) -> PromptGroup:
    """Return the group of a record, by its path or else by its fields."""
    fields = {} if group.model else {"dataset": "dataset", "model": "model", "prompt": "method"}
    if prompt_field is not None:
        # The path of a file with several prompts may look like a group, but is not one.
        fields |= {"model": "model", "prompt": prompt_field}
        if not isinstance(record.get(prompt_field), str) or not record[prompt_field]:
            raise InputError(place, f"field {prompt_field!r}: expected a prompt's name")
    fields_given = {name: record.get(field) for name, field in fields.items()}
    return group._replace(
        **{name: text for name, text in fields_given.items() if isinstance(text, str)}
    )


def number_problems(outputs: Iterable[Output]) -> list[int]:
    """Return the problem of each output as a number, from 0 in their order."""
    numbers: dict[tuple[str, str, str], int] = {}
    return [numbers.setdefault(output.problem, len(numbers)) for output in outputs]


def _refuse_duplicates(outputs: Sequence[Output]) -> None:
    places: dict[tuple[PromptGroup, str], str] = {}
    for output in outputs:
        first = places.setdefault((output.group, output.id), output.place)
        if output.id and first != output.place:
            named = "/".join(filter(None, output.group))
            problem = message_of(f"id {output.id!r} of {named} is also at {first}")
            if not output.group.prompt:
                cure = OptionUse("prompt_field", placeholder="NAME") + " says which prompt"
                problem = problem + "; " + cure
            raise InputError(output.place, problem)


def _describe_absent(outputs: Sequence[Output]) -> Iterator[Text]:
    if nameless := sum(not output.group.prompt for output in outputs):
        cure = OptionUse("prompt_field", placeholder="NAME") + " says which field"
        yield f"{nameless} outputs do not name their prompt; " + cure
    missing = sum(output.text is None for output in outputs)
    empty = sum(output.text is not None and not output.has_text for output in outputs)
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
