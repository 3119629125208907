"""People's labels of some of the outputs that a judge or a rule has scored."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evalcore.scores import GroupedRow, ScoreRow, group_of, key_of, read_scores
from evalcore.simple_tables import complete_table
from ngramscan.errors import InputError
from ngramscan.messages import counted
from ngramscan.reading.row_files import Table, name_of, read_table
from ngramscan.reading.score_values import NO_ANSWER

Labels = NDArray[np.float64]
"""The label of each score; nan where there is none."""
RARE = 0.01
"""A difference of labelled and other outputs that is so rare by chance is reported."""
_NAMES = ("dataset", "model", "epoch")
"""Names that a table of labels may lack, if it is clear without them which output is meant."""


@dataclass(frozen=True, slots=True)
class _PlacedLabel:
    place: str
    row: ScoreRow


def read_labels(table: Table, scores: Sequence[GroupedRow]) -> tuple[Labels, list[str]]:
    """Return the label of each score, and notices.

    Parameters
    ----------
    table : str, Path or DataFrame
        One of the forms of a table of scores, with the verdicts of people: a row for each labelled
        output, or a column for each method. The verdict may also be in a column `label`.
    scores : sequence of GroupedRow
        The scores of all outputs.

    Returns
    -------
    array of float, shape (n_scores,)
        From 0 to 1; nan for scores of outputs without a label.
    list of str
        How many outputs have labels, and whether they look like a random part.

    Raises
    ------
    InputError
        An output has two labels, a label may be about several outputs, or none is about any.
    """
    placed = _as_verdicts([*read_table(table)])
    has_column = {name for _, row in placed for name in row}
    names = ["method", "id", *(name for name in _NAMES if name in has_column)]
    labels = _by_output(_rows_of(table, placed), names)
    values = np.full(len(scores), np.nan)
    outputs = defaultdict[tuple[Any, ...], set[Any]](set)
    for number, score in enumerate(scores):
        key = tuple(getattr(score, name) for name in names)
        if label := labels.get(key):
            _refuse_other_document(label, score)
            outputs[key].add(key_of(score))
            values[number] = label.row.value
    for key, meant in outputs.items():
        if len(meant) > 1:
            missing = " or ".join(name for name in _NAMES if name not in names)
            problem = f"{counted(len(meant), 'output')} may be meant; add a column {missing}"
            raise InputError(labels[key].place, problem)
    if not outputs:
        example = ", ".join(
            f"{name} {value}" for name, value in zip(names, next(iter(labels)), strict=True)
        )
        raise InputError(
            name_of(table), f"no label is about an output of the scores, such as {example}"
        )
    return values, [
        *_describe(values, scores, len(labels) - len(outputs)),
        *_doubts(values, scores),
    ]


def _as_verdicts(placed: list[tuple[str, dict[str, Any]]]) -> list[tuple[str, dict[str, Any]]]:
    """Return rows in which the column `label` is called `value`, unless there is a value."""
    columns = {name for _, row in placed for name in row}
    if "label" not in columns or "value" in columns:
        return placed
    return [
        (place, {"value" if name == "label" else name: cell for name, cell in row.items()})
        for place, row in placed
    ]


def _rows_of(table: Table, placed: Any) -> Iterator[_PlacedLabel]:
    completed: Any = complete_table(placed).rows
    if not completed:
        raise InputError(name_of(table), "no labels")
    for (place, _), row in zip(completed, read_scores(completed, ScoreRow), strict=True):
        if row.value is not None:
            yield _PlacedLabel(place, row)


def _by_output(
    labels: Iterator[_PlacedLabel], names: Sequence[str]
) -> dict[tuple[Any, ...], _PlacedLabel]:
    by_output = dict[tuple[Any, ...], _PlacedLabel]()
    for label in labels:
        first = by_output.setdefault(tuple(getattr(label.row, name) for name in names), label)
        if first is not label:
            output = f"id {label.row.id} of {label.row.method}"
            raise InputError(label.place, f"{output} already has a label at {first.place}")
    if not by_output:
        raise InputError(
            "labels", "no row has a label; expected numbers from 0 to 1, or yes and no"
        )
    return by_output


def _refuse_other_document(label: _PlacedLabel, score: ScoreRow) -> None:
    if label.row.hash and score.hash and label.row.hash != score.hash:
        problem = f"id {score.id} of {score.method} is about another document in the scores"
        raise InputError(label.place, f"{problem}: their hashes differ")


def _describe(labels: Labels, scores: Sequence[ScoreRow], n_unused: int) -> Iterator[str]:
    labelled = {key_of(score) for score, label in zip(scores, labels, strict=True) if label >= 0}
    n = len({key_of(score) for score in scores})
    yield (
        f"{len(labelled):,} of {counted(n, 'output')} have labels of people, which must be a random"
        " part of those with an answer"
    )
    if n_unused:
        yield f"{counted(n_unused, 'label')} left out: not about an output of the scores"


def _doubts(labels: Labels, scores: Sequence[ScoreRow]) -> Iterator[str]:
    """Warn of labelled outputs that the judge values otherwise than the others of the same run."""
    from ngramscan.statistics.two_samples import compare_samples  # slow to import

    runs = defaultdict[tuple[str, ...], tuple[list[float], list[float]]](lambda: ([], []))
    for score, label in zip(scores, labels, strict=True):
        if score.value is not None and score.status != NO_ANSWER:
            runs[group_of(score)][int(label >= 0)].append(score.value)
    compared = {run: parts for run, parts in runs.items() if all(parts)}
    for run, (others, labelled) in compared.items():
        if compare_samples(others, labelled).p.value <= RARE / len(compared):
            means = f"{100 * np.mean(labelled):.1f}% and {100 * np.mean(others):.1f}%"
            yield (
                f"Warning: {', '.join(filter(None, run))}: the mean score of labelled and of other"
                f" outputs is {means}; if labels are not a random part, their correction is biased"
            )


def labels_of_methods(pairs: Any) -> tuple[Labels, Labels]:
    """Return the labels of baseline and treatment; 0 where a method gave no answer, which is wrong.

    Pairs in which an output with an answer has no label have nan for both.
    """
    baseline, treatment = (
        pairs[f"label_{side}"].mask(pairs[f"value_{side}"].isna(), 0.0).to_numpy(dtype=float)
        for side in ("baseline", "treatment")
    )
    is_incomplete = np.isnan(baseline) | np.isnan(treatment)
    return np.where(is_incomplete, np.nan, baseline), np.where(is_incomplete, np.nan, treatment)
