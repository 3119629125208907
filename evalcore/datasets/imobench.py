"""IMO-AnswerBench and IMO-ProofBench: competition problems with answers or with gradings."""

from __future__ import annotations

from pathlib import Path

from evalcore.datasets.base import Problem
from evalcore.datasets.catalog import FIRST_ANSWERBENCH
from evalcore.datasets.reading import Row, decode, parse_csv, read_content, sha256_of
from ngramscan.errors import InputError

_BROKEN_UPSTREAM = "imo-bench-algebra-036"
"""In the second version a quotation mark is missing: its answer stands in its problem."""


def parse_answerbench(content: bytes, path: Path) -> tuple[list[Problem], list[str]]:
    """Return the problems of `answerbench_v2.csv`, or of the first version, and their faults.

    A row without a source is broken: its fields are shifted, which puts the answer into the
    problem. The one that is known is taken from the first version, if that lies beside the file;
    any other is refused.

    Raises
    ------
    InputError
        A row is broken, or a column is missing or empty; names the file and the row.
    """
    problems, faults = [], []
    for row in parse_csv(decode(content, str(path)), str(path)):
        if (row.values.get("Source") or "").strip():
            problems.append(_answer_problem(row))
        else:
            problem, fault = _repaired(row, path)
            problems.append(problem)
            faults.extend(fault)
    open_formulas = [each.id for each in problems if (each.gold or "").count("$") % 2]
    faults += [f"{name}: its answer has a $ without its pair" for name in open_formulas]
    return problems, faults


def parse_proofbench(content: bytes, path: Path) -> tuple[list[Problem], list[str]]:
    """Return the problems of `proofbench_v2.csv`, or raise InputError."""
    rows = parse_csv(decode(content, str(path)), str(path))
    return [_proof_problem(row) for row in rows], []


def _answer_problem(row: Row) -> Problem:
    return Problem(
        id=row.text("Problem ID"),
        text=row.text("Problem").strip(),
        gold=row.text("Short Answer").strip(),
        subtask=row.text("Category"),
        details={"category": row.text("Category"), "subcategory": row.text("Subcategory")},
    )


def _proof_problem(row: Row) -> Problem:
    return Problem(
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


def _repaired(row: Row, path: Path) -> tuple[Problem, list[str]]:
    name = row.text("Problem ID")
    broken = f"{name} has no Source: its fields are shifted"
    if name != _BROKEN_UPSTREAM:
        raise InputError(row.where, broken)
    other = path.with_name(FIRST_ANSWERBENCH.name)
    if not other.is_file() or other.samefile(path):
        cure = f"put {other.name} of the same project beside this file"
        raise InputError(row.where, f"{broken}, and its answer stands in its problem; {cure}")
    content = read_content(other)
    for candidate in parse_csv(decode(content, str(other)), str(other)):
        if candidate.values.get("Problem ID") == name and candidate.values.get("Source"):
            faults = [f"{broken} upstream; it was taken from {other.name}"]
            if sha256_of(content) != FIRST_ANSWERBENCH.sha256:
                faults.append(f"{other.name} beside it is not the published file")
            return _answer_problem(candidate), faults
    raise InputError(row.where, f"{broken}, and {other.name} beside it has no whole row for it")
