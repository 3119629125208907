"""Whether one method is better than another: rows of comparisons, their averages and families."""

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, combinations, product
from operator import itemgetter
from typing import Any, Literal, NamedTuple

import numpy as np

from evalcore.answer_table import (
    CELL,
    LOWEST_COUNTED,
    NAMES,
    NOT_ANSWERED,
    Frame,
    count_clusters,
    describe_documents,
    make_answer_table,
    name_cell,
)
from evalcore.labels import Labels, labels_of_methods
from evalcore.messages import CellLevels, Messages, describe_left_out
from evalcore.paired_tests import (
    DEFAULTS,
    Comparison,
    Settings,
    compare_pairs,
    correct_pairs,
)
from evalcore.pairing import describe_overlap_of_pairs, describe_tasks_apart, find_pairs
from evalcore.scores import ScoreRow
from ngramscan.errors import InputError
from ngramscan.messages import OptionUse, Text
from ngramscan.reporting import refuse_other
from ngramscan.reporting.columns import ALL, first_of
from ngramscan.reporting.layout import percent
from ngramscan.rows import (
    BenjaminiHochbergP,
    HolmP,
    Label,
    Plot,
    Points,
    PValue,
    Share,
    UnansweredCount,
    UnknownCount,
    row_kind,
)
from ngramscan.statistics.estimates import fields_of
from ngramscan.statistics.p_values import benjamini_hochberg, disagreement, holm
from ngramscan.statistics.streams import stream

RIGHT_OR_WRONG, GRADED = "right or wrong", "graded"
Adjustment = Literal["holm", "bh"]
_ADJUSTMENTS = {"holm": holm, "bh": benjamini_hochberg}


@row_kind(
    "compare",
    "Differences of methods",
    Plot(
        "difference",
        panel=("dataset",),
        label=("model", "group", "rule", "baseline", "treatment"),
        aside="n = {n_problems}, p = {p_holm} (Holm)",
        sides=("{baseline} better", "{treatment} better"),
    ),
    key=("n", "accuracy_baseline", "accuracy_treatment", "p", "p_holm"),
    may_lack=("p_holm",),
)
@dataclass(frozen=True, slots=True, kw_only=True)
class CompareRow:
    """Two methods on the same problems; accuracies, differences and their limits are fractions."""

    dataset: Label
    model: Label
    group: str = ""
    """The values of further columns that `--by` names."""
    rule: Label
    baseline: Label
    treatment: Label
    n: int
    """Pairs of answers that are compared. A missing answer counts as wrong unless excluded."""
    n_no_answer: UnansweredCount
    """Pairs in which a model gave no answer: it refused, was cut off, or wrote nothing."""
    n_unknown: UnknownCount
    """Pairs left out because one result is unknown (no request, not run, not judged, a crash)."""
    treatment_only: int
    """Pairs in which only the treatment is right; with graded answers, has the higher score."""
    baseline_only: int
    accuracy_baseline: Share
    accuracy_treatment: Share
    unanswered_baseline: Share | None
    """Share of complete outputs in which no answer was found (they are wrong). None: unknown."""
    unanswered_treatment: Share | None
    difference: Points
    """Treatment minus baseline."""
    difference_low: Points | None
    difference_high: Points | None
    p: PValue | None
    p_exact: PValue | None
    """By the exact McNemar test, which is conservative; None: graded answers or several models."""
    p_holm: HolmP | None
    """`p`, adjusted by Holm's method within the row's family of tests, never across rules. None:
    not tested, or adjusted by `--adjust bh`."""
    test: str
    n_complete: int
    """Pairs with an answer from both; the next two columns describe only these."""
    difference_complete: Points | None
    p_complete: PValue | None
    detectable: Share | None
    """The smallest difference that is found with 80% power, given how much the answers vary: one in
    the direction of the observed difference, where this matters."""
    note: str
    level: float
    """Confidence level of the intervals."""
    needed_n: int | None
    """How many problems find a difference of `--difference` with 80% power, if answers vary as
    here. It does not depend on the difference that was observed. None: no pair differs, as for
    `detectable`, or more than ten million."""
    n_problems: int | None = None
    """Problems of these pairs: the number of independent values."""
    scale: str = ""
    """`right or wrong`, or `graded` if there are values between 0 and 1."""
    weight: str = ""
    """The column by which problems were weighed; empty: none."""
    right_from: float | None = None
    """The value from which graded answers were counted as right; None: they were not."""
    family: str = ""
    """The tests that `p_holm`, or `p_bh`, is adjusted for."""
    family_tests: int | None = None
    """How many these are."""
    n_clusters: int | None = None
    """Number of clusters that the compared problems are from, by `--cluster`. None: not given."""
    p_bh: BenjaminiHochbergP | None = None
    """`p`, adjusted by Benjamini and Hochberg's method within the family; None: by Holm's."""
    n_labelled: int | None = None
    """Pairs in which people labelled both outputs, with which the accuracies, the difference and
    its test are corrected. None: no labels are given."""
    judge_weight: float | None = None
    """The share of the judge's mean in the corrected one, from 0 to 1."""
    difference_judged: Points | None = None
    """The difference by the judge alone, if it is corrected."""


@row_kind(
    "compare --averages",
    "Average differences of methods",
    Plot(
        "difference",
        panel=("dataset", "model"),
        label=("average", "group", "rule", "baseline", "treatment"),
        sides=("{baseline} better", "{treatment} better"),
    ),
    key=("parts", "n", "accuracy_baseline", "accuracy_treatment"),
)
@dataclass(frozen=True, slots=True, kw_only=True)
class AverageRow:
    """Two methods averaged over several subtasks or benchmarks; shares are fractions."""

    average: Label
    """`micro` weighs pairs equally, `macro over subtasks` or `benchmarks` weighs these equally."""
    dataset: Label
    model: Label
    group: str = ""
    rule: Label
    baseline: Label
    treatment: Label
    parts: int
    """Number of subtasks or benchmarks that have pairs to compare."""
    n: int
    n_unknown: UnknownCount
    """Pairs left out because one result is unknown, including those of parts without any pair."""
    accuracy_baseline: Share
    accuracy_treatment: Share
    difference: Points
    difference_low: Points | None
    difference_high: Points | None


class _ComparedCell(NamedTuple):
    """Pairs of answers, and the result of comparing them. None: no pair was left."""

    names: dict[str, str]
    pairs: Frame
    result: Comparison | None
    row: CompareRow | None

    @property
    def has_answers(self) -> bool:
        return bool((self.pairs["lowest_level"] >= NOT_ANSWERED).any())

    @property
    def title(self) -> str:
        *cell, baseline, treatment = self.names.values()
        return f"{name_cell(cell)}, {treatment} − {baseline}"


def compare_methods(
    rows: Sequence[ScoreRow],
    baseline: str | None = None,
    treatments: Sequence[str] = (),
    by: Sequence[str] = CELL[:2],
    family: Sequence[str] = (),
    settings: Settings = DEFAULTS,
    adjust: Adjustment = "holm",
    labels: Labels | None = None,
) -> tuple[list[CompareRow], list[AverageRow], Messages]:
    """Compare methods in pairs; return rows, averages, and the messages that belong to them.

    Without a baseline, every method is compared with every other; without treatments, the baseline
    is compared with all others. With labels of people, one for each row or nan, differences by a
    judge are corrected.
    """
    refuse_other("family", family, NAMES)
    table = make_answer_table(rows, by)
    if labels is not None:
        table = table.assign(label=labels[table.index])
    methods = pair_methods([*table["method"].unique()], baseline, treatments)
    pairs_by_model = find_pairs(table, methods)
    if not pairs_by_model:
        raise _nothing_to_compare(table)
    n_models = table.groupby(["dataset", "group", "rule"])["model"].transform("nunique")
    has_several_models = n_models > 1
    pooled_pairs = find_pairs(table[has_several_models].assign(model=ALL), methods)
    single = [_compare_cell(pairs, settings) for pairs in pairs_by_model]
    pooled = [_compare_cell(pairs, settings) for pairs in pooled_pairs]
    cell_levels = [
        CellLevels(cell.title, cell.pairs["lowest_level"], describe_overlap_of_pairs(cell.pairs))
        for cell in single
    ]
    messages = (
        Messages(notices=[*describe_documents(table), *_describe_absent(table, methods)])
        + describe_left_out("pair", cell_levels, LOWEST_COUNTED[settings.no_answer])
        + Messages(
            notices=[*_warn_of_uneven(single), *_warn_of_few_labels(single)],
            failures=[*_describe_unlabelled(single)],
        )
    )
    averages = [*_average_all(single + pooled, settings)]
    compared = [
        *_adjust_p_values(single, family, "single models", adjust),
        *_adjust_p_values(pooled, family, "all models", adjust),
    ]
    return compared, averages, messages


def first_of_two(methods: Sequence[str], treatments: Sequence[str]) -> tuple[str, list[Text]]:
    """Return the baseline of two methods if none is named, and the notice that says so."""
    treatment_names = {name.lower() for name in treatments}
    first, second = methods if methods[0].lower() not in treatment_names else reversed(methods)
    option = OptionUse("baseline", placeholder="METHOD")
    return first, [f"the baseline is {first}, and not {second}; " + option + " chooses it"]


def pair_methods(
    methods: Sequence[str], baseline: str | None, treatments: Sequence[str]
) -> list[tuple[str, str]]:
    """Return the baseline with each treatment; without a baseline, each method with every other."""
    if baseline is None:
        return list(combinations(methods, 2))
    names = {name.lower(): name for name in reversed(methods)}
    chosen_baseline = names.get(baseline.lower(), baseline)
    chosen_treatments = [names.get(name.lower(), name) for name in treatments]
    refuse_other("baseline", chosen_baseline, methods)
    refuse_other("treatment", chosen_treatments, methods)
    if chosen_baseline in chosen_treatments:
        option = OptionUse("treatment", chosen_baseline)
        raise InputError(option, "this method is the baseline, too")
    compared = chosen_treatments or methods
    return [(chosen_baseline, name) for name in compared if name != chosen_baseline]


def _methods_by_cell(table: Frame) -> list[tuple[tuple[str, ...], list[str]]]:
    """Return the methods of each cell."""
    methods: Any = table.groupby(CELL, sort=False)["method"].unique()
    return [*methods.items()]


def _nothing_to_compare(table: Frame) -> InputError:
    cells = [f"{name_cell(cell)}: {', '.join(names)}" for cell, names in _methods_by_cell(table)]
    problem = "nothing to compare: no benchmark, model and rule has two of the methods"
    apart = "".join(f"; {text}" for text in describe_tasks_apart(table))
    return InputError("scores", f"{problem}{apart}; available: {first_of(cells)}")


def _describe_absent(table: Frame, methods: Sequence[tuple[str, str]]) -> Iterator[str]:
    """Say which cells lack one of the methods."""
    cells = _methods_by_cell(table)
    for name, (cell, names) in product(dict.fromkeys(chain(*methods)), cells):
        if name not in names:
            yield f"{name_cell(cell)}: no {name}"


def _warn_of_few_labels(cells: Sequence[_ComparedCell]) -> Iterator[str]:
    """Say where a correction has neither an interval nor a test."""
    for cell in cells:
        if cell.result and cell.result.judged and cell.result.difference.low is None:
            yield f"Warning: {cell.title}: {cell.result.difference.note}"


def _describe_unlabelled(cells: Sequence[_ComparedCell]) -> Iterator[str]:
    """Say which cells have answers, but no pair with labels."""
    for cell in cells:
        if cell.row is None and cell.has_answers and "label_baseline" in cell.pairs:
            yield (
                f"{cell.title}: nothing to compare; no pair has labels for both outputs (--labels"
                " needs them for the same problems)"
            )


def _compare_cell(pairs: Frame, settings: Settings) -> _ComparedCell:
    names: dict[str, Any] = {name: str(pairs[name].iloc[0]) for name in NAMES}
    known_pairs = pairs[pairs["lowest_level"] >= NOT_ANSWERED]
    compared_pairs = pairs[pairs["lowest_level"] >= LOWEST_COUNTED[settings.no_answer]]
    result = result_of_complete = _test_pairs(names, pairs, settings)
    if not result:
        return _ComparedCell(names, pairs, None, None)
    n_no_answer = int((known_pairs["lowest_level"] == NOT_ANSWERED).sum())
    if n_no_answer:
        excluding = replace(settings, no_answer="exclude")
        result_of_complete = _test_pairs(names, pairs, excluding)
    clusters = count_clusters(compared_pairs)
    notes = [*_make_notes(result, n_no_answer, settings.no_answer), clusters.note]
    row = CompareRow(
        **names,
        n=result.n,
        n_no_answer=n_no_answer,
        n_unknown=len(pairs) - len(known_pairs),
        treatment_only=result.treatment_only,
        baseline_only=result.baseline_only,
        accuracy_baseline=result.baseline,
        accuracy_treatment=result.treatment,
        unanswered_baseline=_mean_of_outputs(known_pairs, "not_found", "baseline"),
        unanswered_treatment=_mean_of_outputs(known_pairs, "not_found", "treatment"),
        **fields_of("difference", result.difference),
        p=result.p.value,
        p_exact=result.p_exact,
        p_holm=None,
        test=result.p.procedure + (" over clusters" if clusters.have_several_problems else ""),
        n_complete=len(known_pairs) - n_no_answer,
        difference_complete=result_of_complete.difference.value if result_of_complete else None,
        p_complete=result_of_complete.p.value if result_of_complete else None,
        detectable=result.detectable,
        note="; ".join(filter(None, notes)),
        level=settings.level,
        needed_n=result.needed_n(settings.smallest_difference),
        n_problems=compared_pairs["problem"].nunique(),
        scale=_find_scale(compared_pairs),
        n_clusters=clusters.n,
        **_columns_of_correction(result),
    )
    return _ComparedCell(names, pairs, result, row)


def _mean_of_outputs(pairs: Frame, column: str, side: str) -> float | None:
    """Return the mean over the outputs of one method, which may each be in several pairs."""
    outputs = pairs.drop_duplicates(f"position_{side}")
    return _finite(outputs[f"{column}_{side}"].mean())


def _find_scale(pairs: Frame) -> str:
    values = pairs[["value_baseline", "value_treatment"]].stack().dropna()
    return RIGHT_OR_WRONG if values.isin((0, 1)).all() else GRADED


def _test_pairs(
    names: Mapping[str, str], pairs: Frame, settings: Settings, subtask: str = ""
) -> Comparison | None:
    """Compare the values of pairs; None: no pair counts, or none has labels."""
    known_pairs = pairs[pairs["lowest_level"] >= NOT_ANSWERED]
    if not (known_pairs["lowest_level"] >= LOWEST_COUNTED[settings.no_answer]).any():
        return None
    named = filter(None, names.values())
    generator = stream(settings.seed, *named, subtask, settings.no_answer)
    values = known_pairs["value_baseline"], known_pairs["value_treatment"]
    has_clusters = bool(known_pairs["cluster"].notna().any())
    units, weights = known_pairs["unit"], known_pairs["weight"]
    result = compare_pairs(*values, generator, settings, units, weights, has_clusters)
    if "label_baseline" not in known_pairs:
        return result
    labels = labels_of_methods(known_pairs)
    return correct_pairs(result, values, labels, settings, units, weights)


def _columns_of_correction(result: Comparison) -> dict[str, Any]:
    """Return the columns of a row about its correction by labels."""
    if not (judged := result.judged):
        return {}
    return {
        "n_labelled": judged.n_labelled,
        "judge_weight": judged.judge_weight,
        "difference_judged": judged.judged,
    }


def _finite(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None


def _make_notes(result: Comparison, n_no_answer: int, no_answer: str) -> Iterator[str]:
    if n_no_answer:
        treatment = "left out" if no_answer == "exclude" else "counted as wrong"
        yield f"no answer: {n_no_answer}, {treatment}"
    yield from filter(None, (result.difference.note, result.p.note))
    if result.p.standard_error:
        yield f"standard error of p {result.p.standard_error:.2g}"
    if warning := disagreement(result.difference, result.p):
        yield warning


def _adjust_p_values(
    cells: Sequence[_ComparedCell], family: Sequence[str], models: str, adjust: Adjustment
) -> list[CompareRow]:
    """Adjust p within each family and rule: two rules for one output are not two experiments.

    `models` says whether the rows are about single models or all together.
    """
    rows = [cell.row for cell in cells if cell.row]
    keys = [*dict.fromkeys(["rule", *family])]
    families: dict[str, list[int]] = defaultdict(list)
    for number, row in enumerate(rows):
        families[_name_family(row, keys, models)].append(number)
    for name, numbers in families.items():
        adjusted = _ADJUSTMENTS[adjust]([rows[number].p for number in numbers])
        for number, p in zip(numbers, adjusted, strict=True):
            row = replace(rows[number], family=name, family_tests=len(numbers))
            rows[number] = replace(row, p_bh=p) if adjust == "bh" else replace(row, p_holm=p)
    return rows


def _name_family(row: CompareRow, keys: Sequence[str], models: str) -> str:
    values = {key: getattr(row, key) for key in keys}
    return ", ".join([*(f"{key} {value}" for key, value in values.items() if value), models])


def _warn_of_uneven(cells: Sequence[_ComparedCell]) -> Iterator[str]:
    """Warn where answers of one method were found more often; the widest gap stands for all."""
    gaps: list[tuple[float, str]] = []
    for title, row in [(cell.title, cell.row) for cell in cells if cell.row]:
        shares = row.unanswered_baseline, row.unanswered_treatment
        gap = float(np.ptp(np.array(shares, dtype=float)))  # nan if one is unknown
        if round(gap, 9) > 0.02:  # 0.05 - 0.03 is more than 0.02
            text = (
                f"{title}: no answer was found in {percent(shares[0])}% of the complete outputs "
                f"of {row.baseline} and in {percent(shares[1])}% of those of {row.treatment}; part "
                "of the difference may come from how answers are found"
            )
            gaps.append((gap, text))
    if gaps:
        more = (
            f"; {len(gaps) - 1} more comparisons differ by over 2 points" if len(gaps) > 1 else ""
        )
        yield f"Warning: {max(gaps, key=itemgetter(0))[1]}{more}"


def _average_all(cells: Sequence[_ComparedCell], settings: Settings) -> Iterator[AverageRow]:
    """Yield averages over the subtasks of each cell, then over benchmarks."""
    benchmarks = defaultdict[tuple[str, ...], list[_ComparedCell]](list)
    for cell in cells:
        benchmarks[tuple(cell.names.values())[1:]].append(cell)
        subtasks = [
            cell._replace(
                pairs=pairs, result=_test_pairs(cell.names, pairs, settings, f"subtask {subtask}")
            )
            for subtask, pairs in cell.pairs.groupby("subtask")
        ]
        if not any(_describe_unlabelled(subtasks)):
            yield from _average("macro over subtasks", cell.names, subtasks)
    for parts in benchmarks.values():
        names = parts[0].names | {"dataset": ALL}
        # In the order of their names, so that the order of rows does not change the last digits.
        parts.sort(key=lambda cell: cell.names["dataset"])
        if any(_describe_unlabelled(parts)):
            continue
        for average in ("micro", "macro over benchmarks"):
            yield from _average(average, names, parts)


def _average(
    average: str, names: Mapping[str, Any], parts: Sequence[_ComparedCell]
) -> Iterator[AverageRow]:
    """Weigh results of different problems, whose errors are independent (MOVER).

    If problems of a cluster are in several parts, the errors of these may go together, and then
    each limit is the weighted mean of theirs.
    """
    results = [part.result for part in parts if part.result]
    if len(results) < 2:
        return
    sizes = np.array([result.size for result in results])
    weights = sizes / sizes.sum() if average == "micro" else np.full(len(sizes), 1 / len(sizes))
    means = np.array(
        [[result.baseline, result.treatment, result.difference.value] for result in results]
    )
    limits = np.array(
        [[result.difference.low, result.difference.high] for result in results], dtype=float
    )
    baseline, treatment, difference = (weights @ means).tolist()
    arms = np.abs(limits - means[:, 2:])
    below, above = weights @ arms if _share_clusters(parts) else np.sqrt(weights**2 @ arms**2)
    yield AverageRow(
        **names,
        average=average,
        parts=len(results),
        n=sum(result.n for result in results),
        n_unknown=sum(int((part.pairs["lowest_level"] < NOT_ANSWERED).sum()) for part in parts),
        accuracy_baseline=baseline,
        accuracy_treatment=treatment,
        difference=difference,
        difference_low=_finite(difference - below),
        difference_high=_finite(difference + above),
    )


def _share_clusters(parts: Sequence[_ComparedCell]) -> bool:
    """Return whether problems of one cluster are in several parts."""
    units = [unit for part in parts for unit in part.pairs["unit"].unique()]
    return len(set(units)) < len(units)
