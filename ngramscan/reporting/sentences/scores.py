"""Outputs and their scores."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ngramscan.messages import counted
from ngramscan.reporting.sentences.names import named
from ngramscan.reporting.sentences.phrases import (
    Row,
    group_rows,
    known_rows,
    listed,
    more_in_table,
    number,
)
from ngramscan.reporting.sentences.sentence import Sentence
from ngramscan.reporting.sentences.shares import MOST_NAMED

_NO_ANSWER = "no_answer"


def say_outputs(rows: Sequence[Row], _alpha: float) -> Iterator[Sentence]:
    """Yield how many outputs there are for how many problems, and how many are right."""
    outputs = group_rows(rows, "dataset", "model", "method", "id", "epoch")
    problems = group_rows(rows, "dataset", "id")
    first = f"{counted(len(outputs), 'output')} for {counted(len(problems), 'problem')}"
    models = group_rows(rows, "model")
    methods = group_rows(rows, "method")
    by = f"by {counted(len(models), 'model')} with {counted(len(methods), 'method')}"
    yield Sentence(f"The table has {first}, {by}.")
    yield from say_scores(known_rows(rows, "rule"), _alpha)


def say_scores(rows: Sequence[Row], _alpha: float) -> Iterator[Sentence]:
    """Yield how many answers are right by each rule; those of each method, if they are few."""
    groups = group_rows(rows, "rule")
    for (rule,), group in [*groups.items()][:MOST_NAMED]:
        methods = group_rows(group, "method")
        text = f"By {named(rule)}, {_rights(group)}"
        if 1 < len(methods) <= MOST_NAMED:
            parts = (
                f"{_right(rows_of_method)} of {number(len(rows_of_method))} of {named(method)}"
                for (method,), rows_of_method in methods.items()
            )
            text += f" ({', '.join(parts)})"
        yield Sentence(f"{text}{_without_value(group)}.")
    yield from more_in_table(len(groups) - MOST_NAMED, "rule")


def _right(rows: Sequence[Row]) -> str:
    return number(sum(row.get("value") == 1 for row in rows))


def _rights(rows: Sequence[Row]) -> str:
    """Return how many answers are right, and how many in part."""
    text = f"{_right(rows)} of {counted(len(rows), 'answer')} {_verb(_right(rows))} right"
    partly = sum(0 < row["value"] < 1 for row in known_rows(rows, "value"))
    return f"{text}, {number(partly)} in part" if partly else text


def _without_value(rows: Sequence[Row]) -> str:
    """Return how many outputs have no answer, and how many scores are not known."""
    without = [row for row in rows if row.get("value") is None]
    lacking = sum(row.get("status") == _NO_ANSWER for row in without)
    unknown = len(without) - lacking
    texts = []
    if lacking:
        texts.append(f"{number(lacking)} without an answer")
    if unknown:
        texts.append(f"{number(unknown)} with an unknown score")
    return f"; {listed(texts)}" if texts else ""


def _verb(n: str) -> str:
    return "is" if n == "1" else "are"
