"""Outputs and reference solutions as texts to trace, with the questions to mask."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from ngramscan.errors import InputError, some_of
from ngramscan.messages import OptionUse
from ngramscan.outputs.formulas import kinds_of
from ngramscan.outputs.reading import (
    ASKED_FIELDS,
    ID_FIELDS,
    Output,
    asked_in,
    id_in,
)
from ngramscan.prevalence.trace import GivenText
from ngramscan.prevalence.trace_methods import CONTROL
from ngramscan.reading.row_files import Table, name_of, read_table


def read_questions(table: Table | None) -> dict[str, tuple[str, ...]]:
    """Return the questions of a table by their ids; without a table, none."""
    questions: dict[str, tuple[str, ...]] = {}
    if table is None:
        return questions
    for place, row in read_table(table):
        name = _id_of(place, row)
        if not (texts := asked_in(row)):
            problem = f"no question; it has: {some_of(row)}"
            raise InputError(place, f"{problem}; call it {' or '.join(ASKED_FIELDS)}")
        questions[name] = texts
    return questions


def _id_of(place: str, row: Mapping[str, Any]) -> str:
    if name := id_in(row):
        return name
    problem = f"no id; it has: {some_of(row)}"
    raise InputError(place, f"{problem}; call it {' or '.join(ID_FIELDS)}")


def text_of(
    output: Output, masks: Mapping[str, tuple[str, ...]] | None, has_kinds: bool
) -> GivenText:
    """Return an output as a text to trace; without `masks`, nothing is masked."""
    dataset, id_, _ = output.problem
    asked_texts = () if masks is None else (*output.asked, *masks.get(id_, ()))
    problem = id_ and f"{dataset}/{id_}"
    text = output.text or ""
    kinds = tuple(kinds_of(text)) if has_kinds else None
    return GivenText(*output.group, output.id, problem, text, asked_texts, kinds)


def read_controls(table: Table, field: str, texts: Sequence[GivenText]) -> list[GivenText]:
    """Return the reference solutions of a table, for the problems of some texts."""
    problems = {text.problem: text for text in texts if text.problem}
    solutions = {}
    for place, row in read_table(table):
        if field not in row:
            problem = f"no column {field}; it has: {some_of(row)} (see "
            raise InputError(place, problem + OptionUse("control_field") + ")")
        if not isinstance(row[field], str) or not row[field].strip():
            raise InputError(place, f"{field} is not text; correct the row or leave it out")
        solutions[_id_of(place, row)] = row[field]
    controls = [
        replace(
            text,
            model="",
            prompt=CONTROL,
            text=solution,
            kinds=None if text.kinds is None else tuple(kinds_of(solution)),
        )
        for problem, text in problems.items()
        if (solution := solutions.get(problem.removeprefix(f"{text.dataset}/")))
    ]
    if not controls:
        raise InputError(name_of(table), "no solution has the id of a traced output")
    return controls
