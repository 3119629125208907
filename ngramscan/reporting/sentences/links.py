"""Links between prevalence and accuracy."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ngramscan.messages import counted
from ngramscan.reporting.sentences.comparisons import COMPARED
from ngramscan.reporting.sentences.differences import DifferenceWords, Verbs, is_shown
from ngramscan.reporting.sentences.names import named, scope_of
from ngramscan.reporting.sentences.phrases import (
    MeasureWords,
    Row,
    finding,
    group_rows,
    known_rows,
    listed,
    more_in_table,
    number,
    p_of,
)
from ngramscan.reporting.sentences.sentence import Sentence

_WHERE = ("dataset", "model", "group", "rule")
_COMPARISON = (*_WHERE, "treatment", "baseline")
_MOST_PAIRS = 2
_MOST_INDEXES = 4
_MOST_TAUS = 3
_RATIO = MeasureWords("prevalence_ratio", limits=("prevalence_low", "prevalence_high"))
_FREQUENT = {
    "occurrences": ("occur", "as often"),
    "documents": ("are in", "as many documents"),
}
"""The words for prevalence, by the unit of the counts."""
_PLACEBO = "placebo"
_USUAL_COUNTS = "prevalence"


def _groups(row: Row) -> str:
    """Return the number of groups of problems behind a slope."""
    return "" if row.get("groups") is None else f"n = {counted(row['groups'], 'group')}"


def _counts(row: Row) -> list[str]:
    """Return the counts that a slope is based on, and the groups that are left out."""
    name, _, left_out = str(row.get("counts") or "").partition(" without ")
    texts = []
    if name not in {"", _USUAL_COUNTS}:
        texts.append(f"by the counts {named(name)}")
    if left_out:
        texts.append(f"without {named(left_out)}")
    return texts


_SLOPE = DifferenceWords(
    ("dataset", "model", "rule", "method"),
    lambda _: ("Problems with ten times the count", "others,"),
    lambda _: Verbs("have higher mean scores than", "have lower mean scores than"),
    _groups,
    _counts,
)
_SLOPES = DifferenceWords(
    ("dataset", "model", "rule"),
    lambda row: (f"The slope of {named(row['method'])}", f"that of {named(row['baseline'])}"),
    lambda _: Verbs("is greater than", "is smaller than"),
    _groups,
    _counts,
)


def say_links(rows: Sequence[Row], alpha: float) -> Iterator[Sentence]:
    """Yield the sentences about rows of `link`: whose phrases are frequent, who is accurate."""
    yield from _say_ratios(rows)
    # A comparison has a row for each index.
    comparisons = [group[0] for group in group_rows(rows, *_COMPARISON).values()]
    yield from COMPARED.say(comparisons, alpha)
    with_direction = known_rows(rows, "same_direction")
    if len(with_direction) > 1:
        agreeing = number(sum(bool(row["same_direction"]) for row in with_direction))
        total = number(len(with_direction))
        text = f"Prevalence and accuracy have the same direction in {agreeing} of {total}"
        yield Sentence(f"{text} rows; that does not imply a link.")
    else:
        yield Sentence("Prevalence and accuracy in one row do not imply a link.")


def _say_ratios(rows: Sequence[Row]) -> Iterator[Sentence]:
    """Yield how often the phrases of one method occur for one of the other, in each index."""
    with_ratio = known_rows(rows, "prevalence_ratio")
    pairs = group_rows(with_ratio, "treatment", "baseline", "measure")
    for (treatment, baseline, measure), group in [*pairs.items()][:_MOST_PAIRS]:
        verb, as_often = _FREQUENT.get(measure, _FREQUENT["occurrences"])
        ratios: list[str] = []
        rows_of_indexes = [rows[0] for rows in group_rows(group, "index").values()]
        for row in rows_of_indexes:
            than = "" if ratios else f" {as_often} as those of {named(baseline)}"
            where = scope_of(row, ("index",))
            ratios.append(f"{_RATIO.estimate(row)} times{than}{where}")
        text = f"The phrases of {named(treatment)} {verb} {listed(ratios, most=_MOST_INDEXES)}"
        has_interval = any(map(_RATIO.has_interval, rows_of_indexes[:_MOST_INDEXES]))
        yield finding(f"{text} (ratio of geometric means).", has_interval=has_interval)
    yield from more_in_table(len(pairs) - _MOST_PAIRS, "pair", "methods")


def say_slopes(rows: Sequence[Row], alpha: float) -> Iterator[Sentence]:
    """Yield which slopes are shown, and which of them differ; a placebo is never a finding."""
    all_slopes = [_as_difference(row) for row in rows]
    tested = [row for row in all_slopes if row.get("role") != _PLACEBO]
    yield from _SLOPE.say([row for row in tested if not row["baseline"]], alpha)
    yield from _SLOPES.say([row for row in tested if row["baseline"]], alpha)
    placebos = [row for row in all_slopes if row.get("role") == _PLACEBO]
    if placebos := known_rows(placebos, "difference"):
        n_shown = sum(is_shown(row, alpha) for row in placebos)
        tests = counted(len(placebos), "test")
        counts = "with placebo counts, which can't matter"
        text = f"In {number(n_shown)} of {tests} {counts}, a slope is shown, too."
        if not n_shown:
            text = f"No slope is shown in {tests} {counts}."
        yield Sentence(text, is_claim=True)
    yield Sentence(
        "A slope is the difference in mean scores for ten times the count; it does not say why."
    )


def _as_difference(row: Row) -> Row:
    """Return a row of slopes in the form of a row of differences."""
    return {**row, **{f"difference{end}": row.get(f"slope{end}") for end in ("", "_low", "_high")}}


def say_rank_links(rows: Sequence[Row], _alpha: float) -> Iterator[Sentence]:
    """Yield the sentences about rows of `link --ranks`: how two orders of methods agree."""
    computed = known_rows(rows, "tau")
    order = sorted(computed, key=lambda row: float(row["tau"]))
    extremes = order if len(order) <= _MOST_TAUS else [order[0], order[-1]]
    for row in extremes:
        methods = "" if row.get("methods") is None else f" of {counted(row['methods'], 'method')}"
        where = scope_of(row, ("index", *_WHERE))
        where += "," if "," in where else ""
        text = f"Kendall's tau of prevalence and accuracy{methods}{where}"
        yield finding(f"{text} is {number(row['tau'])}{_alone(row, rows)}.")
    if len(extremes) < len(order):
        yield Sentence(f"These are the smallest and the largest of {number(len(order))} values.")
    if unknown := len(rows) - len(computed):
        share = f"{number(unknown)} of {counted(len(rows), 'row')}"
        yield Sentence(f"Tau could not be computed for {share}.")
    tested = known_rows(rows, "p")
    if len(tested) > 1:
        p = p_of(min(1.0, len(tested) * min(row["p"] for row in tested)))
        tests = number(len(tested))
        yield Sentence(f"The smallest p-value, adjusted for {tests} tests (Bonferroni): {p}.")


def _alone(row: Row, rows: Sequence[Row]) -> str:
    """Return the p-value of a lone test, which needs no adjustment."""
    if len(known_rows(rows, "p")) != 1 or row.get("p") is None:
        return ""
    return f" ({p_of(row['p'])})"
