"""The formats in which benchmarks are published: bytes → problems, each column of its type."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import UnionType
from typing import Any, NamedTuple

from ngramscan.errors import InputError


@dataclass(frozen=True, slots=True)
class Problem:
    """One problem. What stands in `gold` and `details` must reach no prompt and no sandbox."""

    id: str
    text: str
    """The statement, with its tables or context, as the benchmark's authors put it to models."""
    gold: str | None
    """The reference answer in the notation of the benchmark; None where there is none (proofs)."""
    subtask: str = ""
    """What macro averages are taken over: a topic, a subset."""
    fields: Mapping[str, str] = field(default_factory=dict)
    """What prompts may name besides `{{problem}}`."""
    details: Mapping[str, Any] = field(default_factory=dict)
    """What scorers and judges need: unit, tolerance, points, guidelines, a reference program."""


class Published(NamedTuple):
    """What a format needs to know of the benchmark whose file it reads."""

    path: Path
    """The file; of a folder, the folder."""
    subset: str = ""
    first_version: str = ""
    """The name of the file that its authors have replaced."""
    first_sha256: str | None = None


Parsed = tuple[list[Problem], list[str]]
"""The problems in their order, and what is known to be wrong with them, a sentence each."""


# Rows


@dataclass(frozen=True, slots=True)
class Row:
    """One row, and where it stands."""

    where: str
    """File and row, for messages; the first row is row 1."""
    values: Mapping[str, Any]

    def take(self, column: str, kind: type | UnionType) -> Any:
        """Return a value of a type, None if it may be null; an InputError: it is missing, or other.

        A bool is no number.
        """
        value = self.values.get(column)
        is_hidden_bool = isinstance(value, bool) and kind is not bool
        if not isinstance(value, kind) or is_hidden_bool:
            found = "missing" if column not in self.values else f"a {type(value).__name__}"
            name = getattr(kind, "__name__", str(kind))
            raise InputError(self.where, f"{column} is {found}; expected {name}")
        return value

    def text(self, column: str) -> str:
        """Return the value of a column that must hold more than white space."""
        value: str = self.take(column, str)
        if not value.strip():
            raise InputError(self.where, f"{column} is empty")
        return value

    def texts(self, column: str) -> list[str]:
        """Return the texts of a list; none where it is null."""
        texts = self.take(column, list | None) or []
        if not all(isinstance(text, str) for text in texts):
            raise InputError(self.where, f"{column} is not a list of texts")
        return list(texts)


def read_content(path: Path) -> bytes:
    """Return the bytes of a file, or raise InputError."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise InputError(str(path), (error.strerror or str(error)).lower()) from error


def sha256_of(content: bytes) -> str:
    """Return the SHA-256 in hexadecimal."""
    return hashlib.sha256(content).hexdigest()


def _decode(content: bytes, where: object) -> str:
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(str(where), f"not UTF-8 at byte {error.start}") from error


def _json(text: str, where: str) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        problem = f"not valid JSON in line {error.lineno}: {error.msg.lower()}"
        raise InputError(where, problem) from error
    except (ValueError, RecursionError) as error:
        raise InputError(where, f"not valid JSON: {error}") from error


def _rows_of(value: Any, where: str) -> list[Row]:
    if not isinstance(value, list):
        raise InputError(where, f"a {type(value).__name__}; expected a list of problems")
    return [_row(item, f"{where}: row {number}") for number, item in enumerate(value, 1)]


def _row(value: Any, where: str) -> Row:
    if not isinstance(value, dict):
        raise InputError(where, f"a {type(value).__name__}; expected an object")
    return Row(where, value)


def rows_of_file(content: bytes, path: Path) -> list[Row]:
    """Return the rows of a file: JSON, a JSON object a line, CSV or Parquet, as its name ends."""
    where = str(path)
    if path.suffix == ".parquet":
        return _parquet(content, where)
    text = _decode(content, where)
    if path.suffix == ".csv":
        return list(_csv(csv.DictReader(io.StringIO(text, newline="")), where))
    if text.lstrip().startswith("["):
        return _rows_of(_json(text, where), where)
    lines = [(f"{where}: row {number}", line) for number, line in enumerate(text.split("\n"), 1)]
    return [_row(_json(line, place), place) for place, line in lines if line.strip()]


def _parquet(content: bytes, where: str) -> list[Row]:
    import pyarrow
    from pyarrow import parquet

    try:
        table = parquet.read_table(io.BytesIO(content))
    except (pyarrow.ArrowException, OSError) as error:
        problem = f"not a readable Parquet file: {' '.join(str(error).split())}"
        raise InputError(where, problem) from error
    return _rows_of(table.to_pylist(), where)


def _csv(reader: csv.DictReader[str], where: str) -> Iterator[Row]:
    number = 0
    try:
        for number, values in enumerate(reader, 1):
            if None in values:
                raise InputError(f"{where}: row {number}", "has more fields than the header")
            yield Row(f"{where}: row {number}", values)
    except csv.Error as error:
        raise InputError(f"{where}: row {number + 1}", f"not valid CSV: {error}") from error


# FinanceMath: questions with tables, and the programs that answer them


def _financemath(content: bytes, published: Published) -> Parsed:
    where = str(published.path)
    rows = _rows_of(_json(_decode(content, where), where), where)
    problems = [_finance_problem(row) for row in rows]
    golds = {problem.id: float(problem.gold or "") for problem in problems}
    noisy = [name for name, gold in golds.items() if round(gold, 3) != gold]
    said = f"{len(noisy)} answers have more than 3 decimals, the first is {''.join(noisy[:1])}"
    return problems, [said] if noisy else []


def _finance_problem(row: Row) -> Problem:
    gold = float(row.take("ground_truth", float | int))
    if not math.isfinite(gold):
        raise InputError(row.where, f"ground_truth is {gold}; expected a number")
    # Joined as the authors do in their chain-of-thought prompt. Their two prompts introduce tables
    # in different words; here nothing but the method differs between methods.
    question = f"Question: {row.text('question')}"
    row.take("tables", list)
    tables = "\n\n".join(row.texts("tables"))
    return Problem(
        id=row.text("question_id"),
        text=f"Table:\n{tables}\n\n{question}" if tables else question,
        gold=str(gold),
        subtask=row.text("topic"),
        details={"program": row.text("python_solution"), "ground_truth": gold},
    )


# IMO-AnswerBench and IMO-ProofBench: competition problems with answers or with gradings

_BROKEN_UPSTREAM = "imo-bench-algebra-036"
"""In the second version a quotation mark is missing: its answer stands in its problem."""


def _answerbench(content: bytes, published: Published) -> Parsed:
    """Take the one row that is known to be broken from the first version beside the file.

    A row without a source is broken: its fields are shifted, which puts the answer into the
    problem.
    """
    problems, faults = [], []
    for row in rows_of_file(content, published.path):
        if (row.values.get("Source") or "").strip():
            problems.append(_answer_problem(row))
        else:
            problem, fault = _repaired(row, published)
            problems.append(problem)
            faults.extend(fault)
    open_formulas = [each.id for each in problems if (each.gold or "").count("$") % 2]
    return problems, faults + [f"{i}: its answer has a $ without its pair" for i in open_formulas]


def _answer_problem(row: Row) -> Problem:
    return Problem(
        id=row.text("Problem ID"),
        text=row.text("Problem").strip(),
        gold=row.text("Short Answer").strip(),
        subtask=row.text("Category"),
        details={"category": row.text("Category"), "subcategory": row.text("Subcategory")},
    )


def _repaired(row: Row, published: Published) -> tuple[Problem, list[str]]:
    name = row.text("Problem ID")
    broken = f"{name} has no Source: its fields are shifted"
    if name != _BROKEN_UPSTREAM:
        raise InputError(row.where, broken)
    other = published.path.with_name(published.first_version)
    if not other.is_file() or other.samefile(published.path):
        cure = f"put {other.name} of the same project beside this file"
        raise InputError(row.where, f"{broken}, and its answer stands in its problem; {cure}")
    content = read_content(other)
    for candidate in rows_of_file(content, other):
        if candidate.values.get("Problem ID") == name and candidate.values.get("Source"):
            faults = [f"{broken} upstream; it was taken from {other.name}"]
            if sha256_of(content) != published.first_sha256:
                faults.append(f"{other.name} beside it is not the published file")
            return _answer_problem(candidate), faults
    raise InputError(row.where, f"{broken}, and {other.name} beside it has no whole row for it")


def _proofbench(content: bytes, published: Published) -> Parsed:
    return [
        Problem(
            id=row.text("Problem ID"),
            text=row.text("Problem").strip(),
            gold=None,
            subtask=row.text("Category"),
            details={
                "solution": row.text("Solution"),
                "guidelines": row.text("Grading guidelines"),
                "level": row.text("Level"),
            },
        )
        for row in rows_of_file(content, published.path)
    ], []


# OlympiadBench: open-ended and theorem-proving problems, and how their answers are asked for

_KINDS = {
    "Numerical": "a numerical value",
    "Expression": "an expression",
    "Equation": "an equation",
    "Interval": "an interval",
}
_UNNAMED_KINDS = ("Tuple", "Need_human_evaluate")
"""Kinds of which the authors tell a model nothing: what a tuple is depends on the problem."""


def _olympiadbench(content: bytes, published: Published) -> Parsed:
    make = _olympiad_proof if published.subset.startswith("TP") else _olympiad_answer
    problems = [make(row, published.subset) for row in rows_of_file(content, published.path)]
    pictured = [each.id for each in problems if "<img_" in each.text]
    said = f"{len(pictured)} problems need a picture, the first is {''.join(pictured[:1])}"
    return problems, [said] if pictured else []


def _olympiad_proof(row: Row, subset: str) -> Problem:
    subfield = row.take("subfield", str | None)
    return Problem(
        id=str(row.take("id", int | str)),
        text=_statement(row),
        gold=None,
        subtask=subset,
        details={"solution": row.texts("solution"), "subfield": subfield},
    )


def _olympiad_answer(row: Row, subset: str) -> Problem:
    answers = row.texts("final_answer")
    if not answers:
        raise InputError(row.where, "final_answer is empty")
    has_several: bool = row.take("is_multiple_answer", bool)
    kind = row.text("answer_type")
    unit: str | None = row.take("unit", str | None) or None
    boxed = "multiple answers connected with commas" if has_several else "answer"
    unit_text = ", note that the unit of the answer should not be included in \\boxed{}"
    return Problem(
        id=str(row.take("id", int | str)),
        text=_statement(row),
        gold=", ".join(answers),
        subtask=subset,
        fields={
            "answer_type_text": _answer_type_text(kind, has_several, row.where),
            "boxed_format": f"\\boxed{{{boxed}}}" + ("(unit)" if unit else ""),
            "unit_text": unit_text if unit else "",
        },
        details={
            "unit": unit,
            "tolerance": _tolerance(row),
            "answer_type": kind,
            "is_multiple_answer": has_several,
            "solution": row.texts("solution"),
            "subfield": row.take("subfield", str | None),
        },
    )


def _statement(row: Row) -> str:
    context: str | None = row.take("context", str | None)
    question = row.text("question")
    return f"{context}\n{question}" if context else question


def _tolerance(row: Row) -> float | tuple[float | None, ...] | None:
    """Return the tolerance of the answer; several, where several answers have their own."""
    stated: str | None = row.take("error", str | None)
    if not stated:
        return None
    try:
        tolerances = tuple(float(part) if part.strip() else None for part in stated.split(","))
    except ValueError as error:
        raise InputError(row.where, f"error is {stated}; expected a number") from error
    return tolerances if len(tolerances) > 1 else tolerances[0]


def _answer_type_text(kind: str, has_several: bool, where: str) -> str:
    """Say what the answer must be, in the words of the authors' own prompt."""
    if any(unnamed in kind for unnamed in _UNNAMED_KINDS):
        return ""
    kinds = [_kind(part, where) for part in (kind.split(",") if has_several else [kind])]
    if not has_several:
        return f"The answer of The problem should be {kinds[0]}. "
    if len(set(kinds)) == 1:
        return f"The problem has multiple answers, each of them should be {kinds[0]}. "
    listed = ", ".join(kinds)
    return f"The problem has multiple answers, with the answers in order being {listed}. "


def _kind(stated: str, where: str) -> str:
    for kind, words in _KINDS.items():
        if kind in stated:
            return words
    expected = ", ".join([*_KINDS, *_UNNAMED_KINDS])
    raise InputError(where, f"answer_type is {stated}; expected {expected}")


# Word sorting of BIG-Bench Hard: the task without equations


def _word_sorting(content: bytes, published: Published) -> Parsed:
    where = str(published.path)
    document = _json(_decode(content, where), where)
    if not isinstance(document, dict) or "examples" not in document:
        raise InputError(where, "no list of examples; expected BIG-Bench Hard's JSON")
    problems = [
        Problem(f"word_sorting-{number}", row.text("input"), row.text("target"), "word_sorting")
        for number, row in enumerate(_rows_of(document["examples"], where))
    ]
    marked = isinstance(document.get("canary"), str)
    return problems, [] if marked else ["the canary that keeps it out of training data is gone"]


# AICrypto: proof problems of three exams, one LaTeX file each, with their points

_HEADING = re.compile(
    r"(?:\\paragraph\{|\*\*)Problem (?P<number>\d+) \((?P<points>\d+) points?\)(?:\}|\*\*)"
)
"""One of the published files has its heading in Markdown."""
_ALL_POINTS = 330


def _aicrypto(files: Sequence[tuple[str, bytes]]) -> Parsed:
    problems = [_exam_problem(name, content) for name, content in files]
    points = sum(each.details["points"] for each in problems)
    if points != _ALL_POINTS:
        return problems, [f"the points add up to {points}; the benchmark has {_ALL_POINTS}"]
    return problems, []


def _exam_problem(name: str, content: bytes) -> Problem:
    text = _decode(content, name).strip()
    identifier = name.removesuffix(".tex")
    exam, _, number = identifier.partition("/problem")
    found = list(_HEADING.finditer(text))
    if len(found) != 1:
        expected = f"\\paragraph{{Problem {number} (P points)}}"
        raise InputError(name, f"{len(found)} headings with points; expected one {expected}")
    if found[0]["number"] != number:
        raise InputError(name, f"its heading is of problem {found[0]['number']}")
    details = {"points": int(found[0]["points"])}
    return Problem(identifier, text, gold=None, subtask=exam, details=details)


FORMATS: dict[str, Callable[[bytes, Published], Parsed]] = {
    "financemath": _financemath,
    "answerbench": _answerbench,
    "proofbench": _proofbench,
    "olympiadbench": _olympiadbench,
    "word-sorting": _word_sorting,
}
"""Of one file; a benchmark's YAML names one."""
FOLDER_FORMATS: dict[str, Callable[[Sequence[tuple[str, bytes]]], Parsed]] = {"aicrypto": _aicrypto}
"""Of several files, given by their names and contents."""
