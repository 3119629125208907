"""Outputs, plain files and reference solutions as texts to trace, with the questions to mask."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from ngramscan.errors import InputError, some_of
from ngramscan.messages import OptionUse
from ngramscan.outputs.formulas import kinds_of
from ngramscan.outputs.reading import (
    ASKED_FIELDS,
    ID_FIELDS,
    Output,
    OutputSet,
    asked_in,
    id_in,
    treat_reasoning,
)
from ngramscan.prevalence.trace import GivenText
from ngramscan.prevalence.trace_methods import CONTROL
from ngramscan.reading.output_paths import PromptGroup
from ngramscan.reading.row_files import Table, name_of, read_table
from ngramscan.reading.streams import name_of as name_of_file
from ngramscan.reading.streams import read_bytes


def read_plain(paths: Sequence[str | Path], without_reasoning: bool) -> OutputSet:
    """Return files of text as outputs without prompts, each named by its file."""
    outputs = []
    for path in paths:
        name, content = name_of_file(Path(path)), read_bytes(Path(path))
        try:
            text = content.decode()
        except UnicodeDecodeError as error:
            raise InputError(name, f"not UTF-8 at byte {error.start} of the file") from error
        outputs.append(Output(PromptGroup("", "", ""), id=name, text=text, place=name))
    if not any(each.has_text for each in outputs):
        where = ", ".join(map(name_of, paths)) or OptionUse("outputs")
        raise InputError(where, "no file contains text")
    return OutputSet(*treat_reasoning(outputs, without_reasoning), "")


def is_typed_text(argument: str | Path) -> bool:
    """Tell whether an argument is itself a text to trace: words, which no file is called."""
    if not isinstance(argument, str) or len(argument.split()) < 2:
        return False
    looks_like_path = argument.endswith("/") or re.search(r"\.[A-Za-z]\w*$", argument)
    return not looks_like_path and not os.path.exists(argument)


def typed_outputs(texts: Sequence[str], without_reasoning: bool) -> OutputSet:
    """Return texts as outputs without prompts, each named by its number."""
    outputs = [
        Output(PromptGroup("", "", ""), id=f"text {number}", text=text, place=f"text {number}")
        for number, text in enumerate(texts, 1)
    ]
    return OutputSet(*treat_reasoning(outputs, without_reasoning), "")


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
