"""OlympiadBench: open-ended and theorem-proving problems, and how their answers are asked for."""

from __future__ import annotations

from pathlib import Path

from evalcore.datasets.base import Problem
from evalcore.datasets.reading import (
    Row,
    decode,
    parse_json,
    parse_jsonl,
    parse_parquet,
    rows_of,
)
from ngramscan.errors import InputError

_KINDS = {
    "Numerical": "a numerical value",
    "Expression": "an expression",
    "Equation": "an equation",
    "Interval": "an interval",
}
_UNNAMED_KINDS = ("Tuple", "Need_human_evaluate")
"""Kinds of which the authors tell a model nothing: what a tuple is depends on the problem."""


def parse_olympiadbench(content: bytes, path: Path, subset: str) -> tuple[list[Problem], list[str]]:
    """Return the problems of one subset.

    Parameters
    ----------
    content : bytes
        One JSON object a line, a JSON array, or Parquet, as the name ends.
    path : Path
        The file that it is from.
    subset : str
        `OE_maths`, `OE_physics`, `TP_maths` or `TP_physics`.

    Returns
    -------
    tuple of list of Problem and list of str
        The problems, and what is wrong with them.

    Raises
    ------
    InputError
        A column is missing or of a wrong type; names the file and the row.
    """
    make = _proof_problem if subset.startswith("TP") else _answer_problem
    problems = [make(row, subset) for row in _rows(content, path)]
    pictured = [each.id for each in problems if "<img_" in each.text]
    if pictured:
        return problems, [f"{len(pictured)} problems need a picture, the first is {pictured[0]}"]
    return problems, []


def _rows(content: bytes, path: Path) -> list[Row]:
    where = str(path)
    if path.suffix == ".parquet":
        return parse_parquet(content, where)
    text = decode(content, where)
    if text.lstrip().startswith("["):
        return rows_of(parse_json(text, where), where)
    return parse_jsonl(text, where)


def _proof_problem(row: Row, subset: str) -> Problem:
    return Problem(
        id=str(row.take("id", int | str)),
        text=_statement(row),
        gold=None,
        subtask=subset,
        details={"solution": _texts(row, "solution"), "subfield": row.take("subfield", str | None)},
    )


def _answer_problem(row: Row, subset: str) -> Problem:
    answers = _texts(row, "final_answer")
    if not answers:
        raise InputError(row.where, "final_answer is empty")
    has_several: bool = row.take("is_multiple_answer", bool)
    kind = row.text("answer_type")
    unit: str | None = row.take("unit", str | None) or None
    return Problem(
        id=str(row.take("id", int | str)),
        text=_statement(row),
        gold=", ".join(answers),
        subtask=subset,
        fields={
            "answer_type_text": _answer_type_text(kind, has_several, row.where),
            "boxed_format": _boxed_format(has_several, unit),
            "unit_text": _unit_text(unit),
        },
        details={
            "unit": unit,
            "tolerance": _tolerance(row),
            "answer_type": kind,
            "is_multiple_answer": has_several,
            "solution": _texts(row, "solution"),
            "subfield": row.take("subfield", str | None),
        },
    )


def _statement(row: Row) -> str:
    context: str | None = row.take("context", str | None)
    question = row.text("question")
    return f"{context}\n{question}" if context else question


def _texts(row: Row, column: str) -> list[str]:
    texts = row.take(column, list | None) or []
    if not all(isinstance(text, str) for text in texts):
        raise InputError(row.where, f"{column} is not a list of texts")
    return list(texts)


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


def _boxed_format(has_several: bool, unit: str | None) -> str:
    content = "multiple answers connected with commas" if has_several else "answer"
    return f"\\boxed{{{content}}}" + ("(unit)" if unit else "")


def _unit_text(unit: str | None) -> str:
    return ", note that the unit of the answer should not be included in \\boxed{}" if unit else ""
