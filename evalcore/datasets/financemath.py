"""FinanceMath: questions with tables, and the programs that answer them."""

from __future__ import annotations

import math
from pathlib import Path

from evalcore.datasets.base import Problem
from evalcore.datasets.reading import Row, decode, parse_json, rows_of
from ngramscan.errors import InputError


def parse_financemath(content: bytes, path: Path) -> tuple[list[Problem], list[str]]:
    """Return the problems of `validation.json` and what is wrong with them, or raise InputError."""
    rows = rows_of(parse_json(decode(content, str(path)), str(path)), str(path))
    problems = [_problem(row) for row in rows]
    noisy = [
        each.id for each in problems if round(float(each.gold or ""), 3) != float(each.gold or "")
    ]
    faults = (
        [f"{len(noisy)} answers have more than 3 decimals, the first is {noisy[0]}"]
        if noisy
        else []
    )
    return problems, faults


def _problem(row: Row) -> Problem:
    gold = float(row.take("ground_truth", float | int))
    if not math.isfinite(gold):
        raise InputError(row.where, f"ground_truth is {gold}; expected a number")
    return Problem(
        id=row.text("question_id"),
        text=_statement(row.text("question"), row),
        gold=str(gold),
        subtask=row.text("topic"),
        details={"program": row.text("python_solution"), "ground_truth": gold},
    )


def _statement(question: str, row: Row) -> str:
    """Join a question and its tables as the authors do in their chain-of-thought prompt.

    Their two prompts introduce the tables in different words; here all methods get the same words,
    so that nothing but the method differs between them.
    """
    tables = row.take("tables", list)
    if not all(isinstance(table, str) for table in tables):
        raise InputError(row.where, "tables is not a list of texts")
    if not tables:
        return f"Question: {question}"
    joined = "\n\n".join(tables)
    return f"Table:\n{joined}\n\nQuestion: {question}"
