"""`evalcore compare`: whether one method is better than another, on the same problems."""

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, combinations, product
from operator import itemgetter
from typing import Annotated, Any, Literal, NamedTuple

import numpy as np

from evalcore.epochs import take_passes
from evalcore.labels import Labels, labels_of_methods, read_labels
from evalcore.options import (
    ColumnName,
    ColumnNames,
    Difference,
    Draws,
    PassOptions,
    Seed,
)
from evalcore.paired_tests import (
    DEFAULTS,
    Comparison,
    GradedTest,
    Settings,
    compare_pairs,
    correct_pairs,
)
from evalcore.pairing import (
    CELL,
    LEAST,
    NAMES,
    NOT_ANSWERED,
    Frame,
    ScoreOptions,
    count_clusters,
    describe_documents,
    describe_tasks_apart,
    find_pairs,
    left_out,
    name_cell,
    overlap_of_pairs,
    to_table,
)
from evalcore.scores import ScoreRow
from ngramscan.errors import InputError
from ngramscan.messages import OptionUse
from ngramscan.options import Level
from ngramscan.reading.row_files import GivenTables, Table
from ngramscan.reporting import refuse_other
from ngramscan.reporting.columns import ALL, first_of, for_paper, print_pooled, to_columns
from ngramscan.reporting.command import NewFile, Option, Result, RowsFile, Shared, command
from ngramscan.reporting.layout import Columns, Layout, p_text, percent, print_line
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

_OPTIONAL = ("both answered", "not found", "unknown", "needed n", "detectable", "p exact", "pairs")
RIGHT_OR_WRONG, GRADED = "right or wrong", "graded"
_PAPER = ["dataset", "model", "group", "methods", "n", "treatment only", "baseline only"]
_PAPER += ["baseline", "treatment", "difference", "p"]
_P_HEADERS = {"holm": "p Holm", "bh": "p BH"}
_LEGEND = (
    "n: problems; difference: in percentage points, with its interval; p: by the test that -o FILE"
    " names; p Holm, p BH: adjusted within the family; baseline, treatment: mean accuracy in"
    " percent; detectable: smallest difference found with 80% power;"
    " needed n: problems that find a difference of --difference with 80% power"
)


@dataclass(frozen=True, kw_only=True)
class CompareOptions(ScoreOptions, PassOptions):
    """The shared options of `compare`."""


Adjustment = Literal["holm", "bh"]
_ADJUSTMENTS = {"holm": holm, "bh": benjamini_hochberg}
Methods = Annotated[str | Sequence[str], Option(metavar="METHOD")]


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


class _Compared(NamedTuple):
    """Pairs of answers, and the result of comparing them. None: no pair was left."""

    names: dict[str, str]
    pairs: Frame
    result: Comparison | None
    row: CompareRow | None

    @property
    def has_answers(self) -> bool:
        return bool((self.pairs["least"] >= NOT_ANSWERED).any())

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
) -> tuple[list[CompareRow], list[AverageRow], dict[str, Any]]:
    """Compare methods in pairs; return rows, averages, and the messages that belong to them.

    Without a baseline, every method is compared with every other; without treatments, the baseline
    is compared with all others. With labels of people, one for each row or nan, differences by a
    judge are corrected.
    """
    refuse_other("family", family, NAMES)
    table = to_table(rows, by)
    if labels is not None:
        table = table.assign(label=labels[table.index])
    methods = pairs_of_methods([*table["method"].unique()], baseline, treatments)
    several = table.groupby(["dataset", "group", "rule"])["model"].transform("nunique") > 1
    by_model = find_pairs(table, methods)
    pooled = find_pairs(table[several].assign(model=ALL), methods)
    cells: Any = [*table.groupby(CELL, sort=False)["method"].unique().items()]
    if not by_model:
        there = [f"{name_cell(cell)}: {', '.join(names)}" for cell, names in cells]
        problem = "nothing to compare: no benchmark, model and rule has two of the methods"
        apart = "".join(f"; {text}" for text in describe_tasks_apart(table))
        raise InputError("scores", f"{problem}{apart}; available: {first_of(there)}")
    single, together = (
        [_compare_cell(pairs, settings) for pairs in found] for found in (by_model, pooled)
    )
    levels = [(cell.title, cell.pairs["least"], overlap_of_pairs(cell.pairs)) for cell in single]
    messages = left_out("pair", levels, LEAST[settings.no_answer])
    messages["failures"] += _without_labels(single)
    wanted = product(dict.fromkeys(chain(*methods)), cells)
    absent = [f"{name_cell(cell)}: no {name}" for name, (cell, has) in wanted if name not in has]
    of_documents = describe_documents(table)
    messages["notices"] = [*of_documents, *absent, *messages["notices"], *_uneven(single)]
    messages["notices"] += _few_labels(single)
    averages = [*_averages(single + together, settings)]
    rows_of_models = _adjusted(single, family, "single models", adjust)
    return rows_of_models + _adjusted(together, family, "all models", adjust), averages, messages


def _few_labels(cells: Sequence[_Compared]) -> Iterator[str]:
    """Say where a correction has neither an interval nor a test."""
    for cell in cells:
        if cell.result and cell.result.judged and cell.result.difference.low is None:
            yield f"Warning: {cell.title}: {cell.result.difference.note}"


def _without_labels(cells: Sequence[_Compared]) -> Iterator[str]:
    for cell in cells:
        if cell.row is None and cell.has_answers and "label_1" in cell.pairs:
            yield (
                f"{cell.title}: nothing to compare; no pair has labels for both outputs (--labels"
                " needs them for the same problems)"
            )


def _choose_baseline(
    methods: Sequence[str], baseline: str | None, treatments: Sequence[str], all_pairs: bool
) -> tuple[str | None, list[str]]:
    """Return the baseline, which is the first of two methods if none is named, and a notice."""
    if (baseline is None) == all_pairs:
        return baseline, []
    if all_pairs or len(methods) != 2:
        problem = "expected either a baseline or " + OptionUse("all_pairs") + "; the methods are"
        raise InputError(OptionUse("baseline"), problem + f" {', '.join(methods)}")
    named = {name.lower() for name in treatments}
    first, second = methods if methods[0].lower() not in named else reversed(methods)
    return first, [f"the baseline is {first}, and not {second}; --baseline METHOD chooses it"]


def pairs_of_methods(
    known: Sequence[str], baseline: str | None, treatments: Sequence[str]
) -> list[tuple[str, str]]:
    """Return the baseline with each treatment; without a baseline, each method with every other."""
    if baseline is None:
        return list(combinations(known, 2))
    names = {name.lower(): name for name in reversed(known)}
    first, *others = (names.get(given.lower(), given) for given in (baseline, *treatments))
    refuse_other("baseline", first, known)
    refuse_other("treatment", others, known)
    if first in others:
        raise InputError(OptionUse("treatment", first), "this method is the baseline, too")
    return [(first, name) for name in others or known if name != first]


def _compare_cell(pairs: Frame, settings: Settings) -> _Compared:
    names: dict[str, Any] = {name: str(pairs[name].iloc[0]) for name in NAMES}
    known = pairs[pairs["least"] >= NOT_ANSWERED]
    compared = pairs[pairs["least"] >= LEAST[settings.no_answer]]
    result = complete = _test(names, pairs, settings)
    if not result:
        return _Compared(names, pairs, None, None)
    n_no_answer = int((known["least"] == NOT_ANSWERED).sum())
    if n_no_answer:
        complete = _test(names, pairs, replace(settings, no_answer="exclude"))
    clusters = count_clusters(pairs[pairs["least"] >= LEAST[settings.no_answer]])
    notes = [*_notes(result, n_no_answer, settings.no_answer), clusters.note]
    row = CompareRow(
        **names,
        n=result.n,
        n_no_answer=n_no_answer,
        n_unknown=len(pairs) - len(known),
        treatment_only=result.treatment_only,
        baseline_only=result.baseline_only,
        accuracy_baseline=result.baseline,
        accuracy_treatment=result.treatment,
        unanswered_baseline=_finite(known.drop_duplicates("place_1")["not_found_1"].mean()),
        unanswered_treatment=_finite(known.drop_duplicates("place_2")["not_found_2"].mean()),
        **fields_of("difference", result.difference),
        p=result.p.value,
        p_exact=result.p_exact,
        p_holm=None,
        test=result.p.procedure + (" over clusters" if clusters.have_several_problems else ""),
        n_complete=len(known) - n_no_answer,
        difference_complete=complete.difference.value if complete else None,
        p_complete=complete.p.value if complete else None,
        detectable=result.detectable,
        note="; ".join(filter(None, notes)),
        level=settings.level,
        needed_n=result.needed_n(settings.smallest_difference),
        n_problems=compared["problem"].nunique(),
        scale=_scale(compared),
        n_clusters=clusters.n,
        **_correction(result),
    )
    return _Compared(names, pairs, result, row)


def _scale(pairs: Frame) -> str:
    values = pairs[["value_1", "value_2"]].stack().dropna()
    return RIGHT_OR_WRONG if values.isin((0, 1)).all() else GRADED


def _test(
    names: Mapping[str, str], pairs: Frame, settings: Settings, subtask: str = ""
) -> Comparison | None:
    known = pairs[pairs["least"] >= NOT_ANSWERED]
    if not (known["least"] >= LEAST[settings.no_answer]).any():
        return None
    told = filter(None, names.values())
    generator = stream(settings.seed, *told, subtask, settings.no_answer)
    first, second, units = (known[name] for name in ("value_1", "value_2", "unit"))
    has_clusters = bool(known["cluster"].notna().any())
    of_pairs = units, known["weight"]
    result = compare_pairs(first, second, generator, settings, *of_pairs, has_clusters)
    if "label_1" not in known:
        return result
    labels = labels_of_methods(known)
    both = labels["1"], labels["2"]
    return correct_pairs(result, (first, second), both, settings, *of_pairs)


def _correction(result: Comparison) -> dict[str, Any]:
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


def _notes(result: Comparison, n_no_answer: int, no_answer: str) -> Iterator[str]:
    if n_no_answer:
        treated = "left out" if no_answer == "exclude" else "counted as wrong"
        yield f"no answer: {n_no_answer}, {treated}"
    yield from filter(None, (result.difference.note, result.p.note))
    if result.p.standard_error:
        yield f"standard error of p {result.p.standard_error:.2g}"
    if warning := disagreement(result.difference, result.p):
        yield warning


def _adjusted(
    cells: Sequence[_Compared], family: Sequence[str], models: str, adjust: Adjustment
) -> list[CompareRow]:
    """Adjust p within each family and rule: two rules for one output are not two experiments.

    `models` says whether the rows are about single models or all together.
    """
    rows = [cell.row for cell in cells if cell.row]
    keys = [*dict.fromkeys(["rule", *family])]
    families: dict[str, list[int]] = defaultdict(list)
    for place, row in enumerate(rows):
        families[_name_family(row, keys, models)].append(place)
    for name, places in families.items():
        adjusted = _ADJUSTMENTS[adjust]([rows[place].p for place in places])
        for place, p in zip(places, adjusted, strict=True):
            row = replace(rows[place], family=name, family_tests=len(places))
            rows[place] = replace(row, p_bh=p) if adjust == "bh" else replace(row, p_holm=p)
    return rows


def _name_family(row: CompareRow, keys: Sequence[str], models: str) -> str:
    values = {key: getattr(row, key) for key in keys}
    return ", ".join([*(f"{key} {value}" for key, value in values.items() if value), models])


def _uneven(cells: Sequence[_Compared]) -> Iterator[str]:
    """Warn where answers of one method were found more often; the widest gap stands for all."""
    gaps: list[tuple[float, str]] = []
    for title, row in [(cell.title, cell.row) for cell in cells if cell.row]:
        first, second = row.unanswered_baseline, row.unanswered_treatment
        gap = float(np.ptp(np.array([first, second], dtype=float)))  # nan if one is unknown
        if round(gap, 9) > 0.02:  # 0.05 - 0.03 is more than 0.02
            text = (
                f"{title}: no answer was found in {percent(first)}% of the complete outputs "
                f"of {row.baseline} and in {percent(second)}% of those of {row.treatment}; part "
                "of the difference may come from how answers are found"
            )
            gaps.append((gap, text))
    if gaps:
        more = (
            f"; {len(gaps) - 1} more comparisons differ by over 2 points" if len(gaps) > 1 else ""
        )
        yield f"Warning: {max(gaps, key=itemgetter(0))[1]}{more}"


def _averages(cells: Sequence[_Compared], settings: Settings) -> Iterator[AverageRow]:
    benchmarks = defaultdict[tuple[str, ...], list[_Compared]](list)
    for cell in cells:
        benchmarks[tuple(cell.names.values())[1:]].append(cell)
        subtasks = [
            cell._replace(
                pairs=pairs, result=_test(cell.names, pairs, settings, f"subtask {subtask}")
            )
            for subtask, pairs in cell.pairs.groupby("subtask")
        ]
        if not any(_without_labels(subtasks)):
            yield from _average("macro over subtasks", cell.names, subtasks)
    for parts in benchmarks.values():
        names = parts[0].names | {"dataset": ALL}
        # In the order of their names, so that the order of rows does not change the last digits.
        parts.sort(key=lambda cell: cell.names["dataset"])
        if any(_without_labels(parts)):
            continue
        for average in ("micro", "macro over benchmarks"):
            yield from _average(average, names, parts)


def _average(
    average: str, names: Mapping[str, Any], parts: Sequence[_Compared]
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
    means = np.array([[one.baseline, one.treatment, one.difference.value] for one in results])
    limits = np.array([[one.difference.low, one.difference.high] for one in results], dtype=float)
    baseline, treatment, difference = (weights @ means).tolist()
    arms = np.abs(limits - means[:, 2:])
    below, above = weights @ arms if _share_clusters(parts) else np.sqrt(weights**2 @ arms**2)
    yield AverageRow(
        **names,
        average=average,
        parts=len(results),
        n=sum(result.n for result in results),
        n_unknown=sum(int((part.pairs["least"] < NOT_ANSWERED).sum()) for part in parts),
        accuracy_baseline=baseline,
        accuracy_treatment=treatment,
        difference=difference,
        difference_low=_finite(difference - below),
        difference_high=_finite(difference + above),
    )


def _share_clusters(parts: Sequence[_Compared]) -> bool:
    """Return whether problems of one cluster are in several parts."""
    units = [unit for part in parts for unit in part.pairs["unit"].unique()]
    return len(set(units)) < len(units)


def difference_text(row: Any) -> str:
    """Return a row's difference of accuracies and its interval, in percentage points."""
    ends = row.difference_low, row.difference_high
    interval = "(no interval)" if None in ends else f"[{', '.join(map(percent, ends))}]"
    sign = "+" if row.difference >= 0 else ""
    return f"{sign}{percent(row.difference)} {interval}"


def _columns(rows: Sequence[Any], stars: bool = False) -> Columns:
    columns = to_columns(rows, ("dataset", "model", "group", "rule"))
    columns["methods"] = [f"{row.treatment} − {row.baseline}" for row in rows]
    is_average = bool(rows) and isinstance(rows[0], AverageRow)
    columns |= to_columns(rows, ("n" if is_average else ("n", "n_problems"),))
    if any(getattr(row, "n_clusters", None) for row in rows):
        columns |= to_columns(rows, (("clusters", "n_clusters"),))
    columns["difference"] = [difference_text(row) for row in rows]
    accuracies = (("baseline", "accuracy_baseline"), ("treatment", "accuracy_treatment"))
    if is_average:
        columns = {"average": [f"{row.average} ({row.parts})" for row in rows]} | columns
        return columns | to_columns(rows, accuracies)
    columns["p"] = [p_text(row.p, stars) for row in rows]
    columns["p Holm"] = [p_text(row.p_holm) for row in rows]
    columns["p BH"] = [p_text(row.p_bh) for row in rows]
    names = (
        *accuracies,
        "treatment_only",
        "baseline_only",
        "detectable",
        "needed_n",
        ("unknown", "n_unknown"),
    )
    columns |= to_columns(rows, names)
    if any(row.n_labelled is not None for row in rows):
        of_judge = (
            ("labelled", "n_labelled"),
            "judge_weight",
            ("difference by judge", "difference_judged"),
        )
        columns |= to_columns(rows, of_judge)
    columns["p exact"] = [p_text(row.p_exact) for row in rows]
    if any(row.n != row.n_problems for row in rows):
        columns |= to_columns(rows, (("pairs", "n"),))
    unanswered = [(row.unanswered_baseline, row.unanswered_treatment) for row in rows]
    if any(map(any, unanswered)):
        columns["not found"] = [", ".join(map(percent, shares)) for shares in unanswered]
    if any(row.n_no_answer for row in rows):
        columns["both answered"] = [
            f"{row.n_complete:,}: {percent(row.difference_complete)}, p {p_text(row.p_complete)}"
            for row in rows
        ]
    return columns


def _print(console: Any, rows: Any, parts: Any, stars: bool) -> None:
    print_pooled(console, rows, partial(_columns, stars=stars), Layout(5, optional=_OPTIONAL))
    if rows:
        print_line(console, _LEGEND, "dim")
    layout = Layout(6, frozenset({"average"}), title="Averages, with the number of parts")
    print_pooled(console, parts, _columns, layout)


@command
def compare(
    scores: GivenTables,
    *,
    baseline: Annotated[str | None, Option(metavar="METHOD")] = None,
    treatment: Methods = (),
    all_pairs: bool = False,
    weight: ColumnName = None,
    interval: Literal["newcombe", "bootstrap"] = "newcombe",
    graded_test: GradedTest = "tilting",
    zeros: Literal["dropped", "pratt"] = "dropped",
    family: ColumnNames = (),
    adjust: Adjustment = "holm",
    labels: Annotated[Table | None, Option(metavar="FILE")] = None,
    level: Level = 0.95,
    difference: Difference = 0.05,
    resamples: Draws = 10_000,
    seed: Seed = 1,
    stars: Annotated[bool, Option(is_shown=True)] = False,
    averages: RowsFile = None,
    figure: NewFile = None,
    **options: Annotated[Any, Shared(CompareOptions)],
) -> Result[CompareRow]:
    """Compare prompting methods in pairs, on the same problems.

    SCORES are files of rows of `evalcore score`, `judge` or `logs`, logs of other tools, or tables
    with an `id` and a column of verdicts for each method. Answers to the same document are paired.
    Right and wrong answers get McNemar's mid-p test, with the exact test beside it, and Newcombe's
    interval. Graded answers, and problems in clusters, get a test and an interval by nonparametric
    tilting. Where a benchmark has several models, they are also compared together, with problems as
    clusters. Files have fractions; tables and figures have percentages and percentage points.

    Parameters
    ----------
    scores : str, Path or DataFrame, or several of them
        Score rows: files that `score`, `judge` or `logs` wrote, or what they returned.
    baseline : str, optional
        The method that the others are compared with; needed unless `all_pairs` is set or there are
        only two methods, of which it then is the first.
    treatment : str or sequence of str
        Compare only these methods with the baseline. By default all others.
    all_pairs : bool
        Compare every method with every other.
    weight : str, optional
        Weigh problems by this column of the scores, such as their points.
    interval : str
        Interval for right and wrong answers of one model; `bootstrap` is bootstrap-t.
    graded_test : str
        Test for graded answers and for several answers to a problem; for the latter, `sign-flip`
        replaces `signed-rank`.
    zeros : str
        How the signed-rank test treats pairs that do not differ.
    family : str or sequence of str
        Adjust p-values separately for each value of these columns, and always for each rule.
    adjust : str
        `holm` bounds the chance of any false finding, `bh` (Benjamini-Hochberg) the share of false
        ones among the findings.
    labels : str, Path or DataFrame, optional
        People's verdicts on a random part of the outputs, with which differences by a judge that
        errs are corrected: columns id, method and value (or label), and model, dataset or epoch if
        there are several.
    level : float
        Confidence level of the intervals.
    difference : float
        The smallest difference that matters to you, as a fraction. `needed_n` is how many problems
        find it with 80% power.
    resamples : int
        Number of bootstrap samples and of random sign flips.
    seed : int
        Random seed of the bootstrap and the sign flips.
    stars : bool
        Mark p-values below 0.05, 0.01 and 0.001 with stars, in terminal and LaTeX tables.
    averages : str or Path, optional
        Write averages over subtasks and benchmarks to this file.
    figure : str or Path, optional
        Draw the differences and their intervals as a forest plot: .svg, .png or .pdf.

    Returns
    -------
    DataFrame
        One row per benchmark, model, rule and pair of methods, then those of all models together.
        If some have nothing to compare, an IncompleteError holds the other rows.

    Examples
    --------
    $ evalcore compare scores.jsonl --baseline cot --treatment f-1
    $ evalcore compare scores.jsonl --all-pairs --figure forest.svg
    $ evalcore compare judged.jsonl --baseline cot --by subtask --weight points
    $ evalcore compare passages.csv --baseline cot --cluster passage
    $ evalcore compare epochs.csv --baseline cot --pass-at 3
    $ evalcore compare proofs.jsonl --baseline cot --labels people.csv
    """
    asked = CompareOptions(**options)
    chosen, notices, failures = asked.read(scores, weight, is_one_rule=False)
    if len(asked.rates) > 1:
        raise InputError(
            OptionUse("pass_hat"),
            "not allowed with " + OptionUse("pass_at") + "; compare one at a time",
        )
    for rate in asked.rates:
        chosen, of_passes = take_passes(chosen, rate, counts_no_answer=asked.no_answer == "wrong")
        notices += of_passes
    methods = [*dict.fromkeys(row.method for row in chosen)]
    baseline, of_baseline = _choose_baseline(methods, baseline, treatment, all_pairs)
    settings = Settings(
        no_answer=asked.no_answer,
        interval=interval,
        graded_test=graded_test,
        zeros=zeros,
        level=level,
        resamples=resamples,
        seed=seed,
        smallest_difference=difference,
    )
    values, of_labels = (None, []) if labels is None else read_labels(labels, chosen)
    rows, parts, messages = compare_methods(
        chosen,
        baseline,
        treatment,
        by=asked.kept_apart,
        family=family,
        settings=settings,
        adjust=adjust,
        labels=values,
    )
    rows = [replace(row, weight=weight or "", right_from=asked.right_from) for row in rows]
    messages["notices"] = notices + of_labels + of_baseline + messages["notices"]
    messages["failures"] = failures + messages["failures"]
    is_paper = parts and str(averages).lower().endswith(".tex")
    means: tuple[list[Any], type] = for_paper(_columns(parts)) if is_paper else (parts, AverageRow)
    shown = _columns(rows, stars)
    printed = partial(_print, rows=rows, parts=parts, stars=stars)
    paper = for_paper({name: shown[name] for name in [*_PAPER, _P_HEADERS[adjust]]})
    return Result(
        rows,
        CompareRow,
        print_table=printed,
        figure=(figure, rows) if rows else (),
        files=[(averages, *means)],
        for_paper=paper,
        **messages,
    )
