"""Rows of entries × scores → whether models do better on what a corpus contains.

Nothing causal is claimed: entries that a corpus contains may be easier or harder for other reasons.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean
from typing import Any, Literal, NamedTuple, get_args

from ngramscan.errors import InputError
from ngramscan.messages import OptionUse, counted
from ngramscan.prevalence.contamination.contaminate import EntryRow
from ngramscan.prevalence.contamination.rules import (
    CONTAMINATED,
    PARTLY,
    EntryClass,
    classes_by,
)
from ngramscan.reading.score_values import complete_status, counted_value
from ngramscan.rows import AdjustedP, Label, Plot, Points, PValue, Share, row_kind
from ngramscan.statistics.estimates import fields_of
from ngramscan.statistics.p_values import disagreement, holm
from ngramscan.statistics.power import ALPHA
from ngramscan.statistics.two_samples import (
    SampleComparison,
    compare_samples,
    estimate_mean,
    is_binary,
)

LARGE = 0.2
"""If only a larger difference would have been found, a note says so."""
_BenchmarkPart = Literal["clean", "suspicious", "dirty"]
"""The parts of a benchmark as columns name them, whatever the rule calls its classes."""
_COMPARED: tuple[_BenchmarkPart, _BenchmarkPart] = "clean", "dirty"
_Values = Mapping[str, float | None]
"""The mean score of the answers to each problem; None if it is unknown."""


class _ScoredMethod(NamedTuple):
    dataset: str
    model: str
    method: str


@dataclass(frozen=True, slots=True)
class GivenScore:
    """One row of scores as `evalcore score` writes it; other columns are left out."""

    dataset: str
    model: str
    method: str
    id: str
    rule: str
    value: float | None
    status: str = ""
    epoch: int | None = None
    run: str | None = None


@row_kind(
    "contaminate --effects",
    "Scores on clean and on contaminated entries",
    Plot(
        "difference",
        panel=("index",),
        label=("dataset", "model", "method", "score_rule"),
        sides=("clean entries better", "contaminated entries better"),
    ),
    key=("n_clean", "accuracy_clean", "n_dirty", "accuracy_dirty", "p"),
)
@dataclass(frozen=True, slots=True)
class EffectRow:
    """The accuracy of a model with a method on entries by verdict; shares, not percent.

    Columns of `dirty` are about contaminated entries by any rule: dirty or copied ones. Those of
    `suspicious` are about the classes in between: suspicious entries, or variants. Those of `clean`
    are about the others: clean entries, by the rule `copied` also shared ones.
    """

    index: Label
    dataset: Label
    model: Label
    method: Label
    score_rule: Label
    n: int
    """Entries with a verdict and a known score."""
    accuracy: Share | None
    n_clean: int
    """By the rule `copied`: entries that are clean, or shared: what they share is common text."""
    accuracy_clean: Share | None
    """The score that remains on the clean part."""
    accuracy_clean_low: Share | None
    accuracy_clean_high: Share | None
    n_suspicious: int
    """By the rule `copied`: entries that are variants."""
    accuracy_suspicious: Share | None
    accuracy_suspicious_low: Share | None
    accuracy_suspicious_high: Share | None
    n_dirty: int
    """By the rule `copied`: entries that are copied."""
    accuracy_dirty: Share | None
    accuracy_dirty_low: Share | None
    accuracy_dirty_high: Share | None
    difference: Points | None
    """Dirty minus clean."""
    difference_low: Points | None
    difference_high: Points | None
    level: float
    p: PValue | None
    test: str
    detectable: Share | None
    """The least true gain on dirty entries that would have been found, with p ≤ .05, in 80 of 100
    such comparisons; None: not even the largest possible one, or there is no comparison."""
    n_without_verdict: int
    """Scored entries that have no verdict, or are not in the benchmark file."""
    n_without_score: int
    """Entries with a verdict whose score is not known."""
    note: str = ""
    p_adjusted: AdjustedP | None = None
    """`p`, adjusted by Holm's method within `family`."""
    family: str = ""
    """The tests adjusted together; indexes with the same clean and dirty entries count once."""
    answer: Label = ""
    """`near`, `not near`: of dirty entries (by the rule `copied`, of copied ones) only those whose
    answer is; the others count as without a verdict. Empty: all."""
    rule: Label = ""
    """The rule of contamination with all its choices."""


def make_effects(
    rows: Sequence[EntryRow],
    scores: Sequence[GivenScore],
    level: float = 0.95,
    answers: Sequence[str] = (),
) -> list[EffectRow]:
    """Compare accuracies on dirty and on clean entries, per index, dataset, model and method.

    By the rule `copied`, copied entries are the dirty ones, and shared ones count as clean;
    variants are in columns of their own, as suspicious entries are by other rules.

    Answers to one problem are averaged first. No answer counts as wrong; an unknown score is left
    out. `compare_samples` says which intervals and tests these are. A difference has other possible
    reasons than the corpus: dirty entries may be easier or harder. `answers` are values of `answer`
    whose dirty entries are compared with the clean ones, too.

    An InputError: no id of the scores belongs to an entry, an answer is scored twice, there are
    several rules or runs of one method, or a value is not one from 0 to 1.
    """
    check_scores(scores, [row.id for row in rows])
    groups = _grouped(scores)
    verdicts: dict[tuple[str, str], dict[str, _BenchmarkPart | None]] = {}
    for answer in ("", *answers):
        for row in rows:
            part_of_entry = row.verdict and _part_of(row.verdict)
            is_other = answer and part_of_entry == "dirty" and row.answer != answer
            verdicts.setdefault((row.index, answer), {})[row.id] = (
                None if is_other else part_of_entry
            )
    *_, contaminated = classes_by(rows[0].rule)
    compared = {
        (part, group): replace(
            _effect(
                part[0],
                group,
                score_rule=rule,
                verdicts=by_id,
                values=values,
                level=level,
                contaminated=contaminated,
            ),
            answer=part[1],
            rule=rows[0].rule,
        )
        for part, by_id in verdicts.items()
        for group, (rule, values) in groups.items()
    }
    tests = [(group, *_compared_ids(verdicts[part], groups[group][1])) for part, group in compared]
    return _adjusted([*compared.values()], tests)


def _part_of(verdict: EntryClass) -> _BenchmarkPart:
    """Return the part of the benchmark to which a class belongs."""
    if verdict in CONTAMINATED:
        return "dirty"
    return "suspicious" if verdict in PARTLY else "clean"


def _compared_ids(
    verdicts: Mapping[str, _BenchmarkPart | None], values: _Values
) -> tuple[frozenset[str], frozenset[str]]:
    """Return the clean and the dirty entries whose scores are known."""
    verdicts_of_scored = [
        (id_, verdicts.get(id_)) for id_, value in values.items() if value is not None
    ]
    clean, dirty = (
        frozenset(id_ for id_, verdict in verdicts_of_scored if verdict == side)
        for side in _COMPARED
    )
    return clean, dirty


def _adjusted(rows: Sequence[EffectRow], tests: Sequence[Hashable]) -> list[EffectRow]:
    """Adjust the p-values of all different tests; rows of one test have the same p-value."""
    p_values = {test: row.p for test, row in zip(tests, rows, strict=True) if row.p is not None}
    adjusted = dict(zip(p_values, holm([*p_values.values()]), strict=True))
    family = f"{counted(len(p_values), 'comparison')} of this table"
    return [
        replace(row, p_adjusted=adjusted[test], family=family) if test in adjusted else row
        for test, row in zip(tests, rows, strict=True)
    ]


def check_scores(scores: Sequence[GivenScore], ids: Iterable[str]) -> None:
    """Raise the InputErrors of `make_effects` before anything is counted, from the entries' ids."""
    _grouped(scores)
    entry_ids, scored = dict.fromkeys(ids), dict.fromkeys(score.id for score in scores)
    if not entry_ids.keys() & scored.keys():
        firsts = (", ".join([*names][:3]) or "none" for names in (scored, entry_ids))
        problem = "no id belongs to an entry; ids of the scores: {}, …; ids of the entries: {}, …"
        raise InputError("scores", problem.format(*firsts))


def _grouped(scores: Sequence[GivenScore]) -> dict[_ScoredMethod, tuple[str, _Values]]:
    """Return the rule and the values of each method."""
    groups: dict[_ScoredMethod, list[GivenScore]] = {}
    for score in scores:
        group = _ScoredMethod(score.dataset, score.model, score.method)
        groups.setdefault(group, []).append(score)
    scores_by_group: dict[_ScoredMethod, tuple[str, _Values]] = {}
    for group, in_group in groups.items():
        where = ", ".join(group)
        if len(rules := dict.fromkeys(score.rule for score in in_group)) > 1:
            raise InputError(
                where, f"scored by {', '.join(rules)}; choose one with " + OptionUse("score_rule")
            )
        if len(runs := dict.fromkeys(score.run or "one without a name" for score in in_group)) > 1:
            raise InputError(where, f"several runs: {', '.join(runs)}; keep one in the file")
        answers: dict[str, dict[int | None, float | None]] = {}
        for score in in_group:
            if score.epoch in (of_problem := answers.setdefault(score.id, {})):
                raise InputError(where, f"id {score.id} is scored twice; was a file given twice?")
            of_problem[score.epoch] = _value(score)
        scores_by_group[group] = (
            in_group[0].rule,
            {id_: _mean(by_epoch.values()) for id_, by_epoch in answers.items()},
        )
    return scores_by_group


def _mean(values: Iterable[float | None]) -> float | None:
    numbers = [value for value in values if value is not None]
    return fmean(numbers) if numbers else None


def _value(score: GivenScore) -> float | None:
    """Return the value of an answer; 0 if there was none, None if it is unknown."""
    try:
        status = complete_status(score.value, score.status)
    except ValueError as error:
        where = f"{score.dataset}, {score.model}, {score.method}, id {score.id}"
        raise InputError(where, str(error)) from error
    return counted_value(score.value, status)


def _effect(
    index: str,
    group: _ScoredMethod,
    *,
    score_rule: str,
    verdicts: Mapping[str, _BenchmarkPart | None],
    values: _Values,
    level: float,
    contaminated: EntryClass,
) -> EffectRow:
    parts: dict[_BenchmarkPart, list[float]] = {part: [] for part in get_args(_BenchmarkPart)}
    without_verdict = 0
    for id_, value in values.items():
        verdict = verdicts.get(id_)
        if verdict and value is not None:
            parts[verdict].append(value)
        elif value is not None:
            without_verdict += 1
    compared_values = [value for part in parts.values() for value in part]
    n_verdicts = sum(verdict is not None for verdict in verdicts.values())
    clean, dirty = parts["clean"], parts["dirty"]
    comparison = None
    if clean and dirty:
        comparison = compare_samples(clean, dirty, level)
    return EffectRow(
        index=index,
        **group._asdict(),
        score_rule=score_rule,
        n=len(compared_values),
        accuracy=fmean(compared_values) if compared_values else None,
        **_accuracies(parts, is_binary(compared_values), level),
        **fields_of("difference", comparison and comparison.difference),
        level=level,
        p=comparison and comparison.p.value,
        test=comparison.p.procedure if comparison else "",
        detectable=comparison and comparison.detectable,
        n_without_verdict=without_verdict,
        n_without_score=n_verdicts - len(compared_values),
        note=_note(parts, comparison, {"clean": "clean", "dirty": contaminated}),
    )


def _accuracies(
    parts: Mapping[_BenchmarkPart, Sequence[float]], binary: bool, level: float
) -> dict[str, Any]:
    """Return the fields of a row about the accuracy of each part."""
    fields: dict[str, Any] = {}
    for verdict, values in parts.items():
        accuracy = estimate_mean(values, binary, level) if values else None
        fields |= {f"n_{verdict}": len(values), **fields_of(f"accuracy_{verdict}", accuracy)}
    return fields


def _note(
    parts: Mapping[_BenchmarkPart, Sequence[float]],
    comparison: SampleComparison | None,
    names: Mapping[_BenchmarkPart, EntryClass],
) -> str:
    """Say why there is no comparison, or which differences it could have missed.

    `names` has what the rule calls the parts that are compared.
    """
    if comparison is None:
        if not any(parts.values()):
            return "no entry has a verdict and a score"
        empty = [names[part] for part in _COMPARED if not parts[part]]
        return f"no {' and no '.join(empty)} entries with a score"
    conflict = disagreement(comparison.difference, comparison.p)
    why = f"{conflict}, as Fisher's test is exact and the interval is not" if conflict else ""
    return "; ".join(filter(None, (_weakness(comparison), why)))


def _weakness(comparison: SampleComparison) -> str:
    """Say which differences a comparison without a significant one could have missed."""
    if comparison.p.value <= ALPHA or (comparison.detectable or 1) <= LARGE:
        return ""
    if comparison.detectable is None:
        return "no gain would have been found reliably, however large"
    gain = f"{100 * comparison.detectable:.0f} points"
    return f"too few entries: only a gain of {gain} or more would have been found"
