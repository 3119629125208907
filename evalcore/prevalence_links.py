"""Prevalence and accuracy, problem by problem: slopes, rank correlations, and their differences.

Problems of one value of `--on` have the same prevalence, so they are one group, and groups are what
is permuted and flipped; each counts once. With `--cluster` clusters of groups are independent.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Annotated, Any, ClassVar, NamedTuple

import numpy as np

from evalcore.answer_table import (
    CELL,
    NOT_ANSWERED,
    Frame,
    describe_documents,
    make_answer_table,
)
from evalcore.messages import CellLevels, Messages, describe_left_out
from evalcore.options import ColumnName, DrawCount, OptionalFile, Seed
from evalcore.pairing import describe_overlap_of_pairs, find_pairs
from evalcore.score_options import PairBy
from evalcore.scores import read_all
from evalcore.simple_tables import complete_table
from ngramscan.errors import InputError, some_of
from ngramscan.messages import OptionUse, Text
from ngramscan.options import OPTIONS, Level, Option
from ngramscan.reading.row_files import Table, name_of
from ngramscan.reporting import refuse_other
from ngramscan.reporting.keyed_counts import key_in, number_in, read_counts
from ngramscan.rows import AdjustedP, Label, Plot, Points, PValue, UnknownCount, row_kind
from ngramscan.statistics.estimates import Estimate, fields_of
from ngramscan.statistics.instrumental_slopes import instrumental_slope
from ngramscan.statistics.p_values import disagreement, holm
from ngramscan.statistics.slopes import rank_correlation, residuals, slope_test
from ngramscan.statistics.streams import stream

TRANSFORMATION = "log10(count + 0.5)"
NOT_RELATED = "no corrected slope: the counts of the two corpora are not positively correlated"
SAME_COUNTS = "no corrected slope: the two corpora have the same counts"
SHARED_NOISE = "slopes are corrected with {}, but not for noise that both corpora share"
NO_SLOPE = "no slope: the counts do not vary, or only with covariates"
PREVALENCE, ALSO, PLACEBO = "prevalence", "also", "placebo"
GroupCounts = Mapping[str, float]
"""The count of each group."""


@dataclass(frozen=True, kw_only=True)
class ProblemOptions:
    """How problems are linked, with `--problems`.

    Parameters
    ----------
    on : str
        With `--problems`: column of the scores by which counts are joined, COLUMN=NAME if COUNTS
        call it NAME. Problems with the same value are one group.
    count : str, optional
        With `--problems`: column with the counts, where it can't be told.
    covariate : str or sequence of str
        With `--problems`: column of the scores, a number for each problem, to adjust for.
    without : str or sequence of str
        With `--problems`: also show the result without these groups, all together.
    also : str or Path, optional
        With `--problems`: the same counts in another corpus, to correct slopes for noise.
    placebo : str or Path, optional
        With `--problems`: counts that can't matter, to test in the same way.
    level, resamples, seed : see compare
    cluster : str, optional
        With `--problems`: column of the scores; groups with the same value, such as topics of one
        source, are taken together: they are not independent.
    """

    heading: ClassVar[str] = OPTIONS

    on: Annotated[str, Option(metavar="COLUMN")] = "id"
    count: ColumnName = None
    covariate: Annotated[str | Sequence[str], Option(metavar="COLUMN")] = ()
    without: Annotated[str | Sequence[str], Option(metavar="GROUP")] = ()
    also: OptionalFile = None
    placebo: OptionalFile = None
    level: Level = 0.95
    resamples: DrawCount = 10_000
    seed: Seed = 1
    cluster: ColumnName = None


@row_kind(
    "link --problems",
    "Accuracy per tenfold count",
    Plot(
        "slope",
        panel=("counts",),
        label=("dataset", "model", "rule", "method", "baseline"),
        aside="{groups} groups, p = {p_adjusted} (adjusted)",
    ),
    key=("transformation", "groups", "p", "p_adjusted"),
)
@dataclass(frozen=True, slots=True)
class SlopeRow:
    """How accuracy goes with prevalence for one method, or how much more than for another."""

    counts: Label
    """`prevalence` or the name of an index, perhaps `without` some groups; `also`; `placebo`."""
    transformation: str
    """The unit of slopes: it is 1 higher for a tenfold count."""
    dataset: Label
    model: Label
    rule: Label
    method: Label
    baseline: Label | None
    """The slope is the method's minus this one's, on the same problems. None: it is the method's
    own."""
    n: int
    """Answers, or pairs of answers, with a known result and a count. No answer counts as wrong."""
    n_unknown: UnknownCount
    """Answers or pairs left out because a result is unknown."""
    groups: int
    """Groups of problems with one prevalence, each of which counts once. They are the independent
    values, unless there are clusters."""
    rho: float | None
    """Spearman's rank correlation of the groups' counts and accuracies, given covariates."""
    slope: Points | None
    """Accuracy per tenfold count, a fraction, as are the limits; None: the counts do not vary."""
    slope_low: Points | None
    slope_high: Points | None
    p: PValue | None
    p_adjusted: AdjustedP | None
    """`p`, adjusted by Holm's method for all tests of the output."""
    test: str
    count_correlation: float | None
    """Correlation of the logarithms of two counts, these and those of `--also`."""
    slope_corrected: Points | None
    """The slope corrected for noise of the counts, with those of `--also` as an instrument. Noise
    that both counts share is not corrected. None: without `--also`, or the counts are not
    positively correlated."""
    slope_corrected_low: Points | None
    slope_corrected_high: Points | None
    """None: the interval is unbounded, and `note` says which slopes it has."""
    level: float
    note: str
    n_clusters: int | None = None
    """Clusters of groups, which are the independent values. None: without `--cluster`."""
    role: str = PREVALENCE
    """`prevalence`: the counts in question; `also`; `placebo`: counts that can't matter, so that a
    slope is not a finding."""


class _GroupedCell(NamedTuple):
    """The answers of a method, or the pairs of answers of two, by groups."""

    names: Mapping[str, Any]
    n_unknown: int
    groups: Frame
    """By the name of the group: the mean of `y`, its `size` and `cluster`, means of covariates."""


class _CountSet(NamedTuple):
    """The counts of one corpus, perhaps without some groups."""

    name: str
    role: str
    counts: GroupCounts


class _Correction(NamedTuple):
    """A slope that is corrected by the counts of another corpus."""

    correlation: float | None
    """That of the logarithms of both counts."""
    slope: Estimate | None
    note: str


def _title(names: Mapping[str, Any]) -> str:
    """Return what a row is about."""
    *cell, method, baseline = names.values()
    return ", ".join([*cell, f"{method} − {baseline}" if baseline else method])


def link_problems(
    counts: Table,
    scores: Table,
    rules: Sequence[str],
    runs: Sequence[str],
    options: ProblemOptions,
    pair_by: PairBy = "hash",
) -> tuple[list[SlopeRow], Messages]:
    """Link the prevalence of problems to the accuracy of methods.

    Return the rows and the messages that belong to them.
    """
    completed = complete_table(scores)
    score_rows: Any = completed.rows
    if pair_by == "id":
        score_rows = [(place, row | {"hash": None}) for place, row in score_rows]
    rows, _ = read_all([score_rows], rules, runs)
    table = make_answer_table(rows)
    column = options.on.partition("=")[0]
    if column == "id":
        _refuse_shared_ids(table)
    problems = _describe_problems(score_rows, column, options.cluster, options.covariate)
    groups = [*problems["on"].unique()]
    if unknown := [group for group in options.without if group not in groups]:
        problem = f"no such value of {column}; available: {some_of(groups)}"
        raise InputError(OptionUse("without", unknown[0]), problem)
    count_sets = _read_count_sets(counts, options, groups)
    cells, cell_messages = _make_cells(table, problems)
    remarks = [f"{name_of(scores)}: {remark}" for remark in completed.remarks]
    messages = Messages(notices=[*remarks, *describe_documents(table)]) + cell_messages
    slopes = [
        _make_row(cell, count_set, count_sets, options)
        for count_set in count_sets
        for cell in cells
    ]
    if all(row.slope is None for row in slopes):
        problem = "no slope: all counts are equal, or fewer than three groups have one"
        raise InputError(name_of(counts), problem)
    messages += Messages(notices=[*_describe_uncounted(count_sets, groups, column, options)])
    if instrument := _find_instrument(count_sets):
        messages += Messages(notices=[SHARED_NOISE.format(instrument.name)])
    adjusted = holm([row.p for row in slopes])
    return [replace(row, p_adjusted=p) for row, p in zip(slopes, adjusted, strict=True)], messages


def _describe_uncounted(
    count_sets: Sequence[_CountSet], groups: Sequence[str], column: str, options: ProblemOptions
) -> Iterator[str]:
    """Say which groups of the scores have no count."""
    for count_set in count_sets:
        expected = {*count_set.counts, *options.without}
        if uncounted := [group for group in groups if group not in expected]:
            n = f"{len(uncounted):,} of {len(groups):,} values of {column}"
            yield f"{count_set.name}: {n} without a count left out: {some_of(uncounted)}"


def _read_count_sets(
    counts: Table, options: ProblemOptions, groups: Sequence[str]
) -> list[_CountSet]:
    """Return the counts of each table and index, those that are asked about first."""
    column, _, key = options.on.partition("=")
    count_sets = []
    tables = {PREVALENCE: counts, ALSO: options.also, PLACEBO: options.placebo}
    for role, table in tables.items():
        if table is None:
            continue
        for index, by_group in read_counts(table, key or column, options.count).items():
            if by_group.keys().isdisjoint(groups):
                problem = f"no {column} of the scores has a count; they have {some_of(groups)}"
                raise InputError(name_of(table), f"{problem}, the counts {some_of([*by_group])}")
            is_asked_about = role == PREVALENCE
            name = (index or role) if is_asked_about else f"{role} {index}".strip()
            count_sets.append(_CountSet(name, role, by_group))
            if options.without and is_asked_about:
                remaining = {
                    group: count
                    for group, count in by_group.items()
                    if group not in options.without
                }
                name_without = f"{name} without {', '.join(options.without)}"
                count_sets.append(_CountSet(name_without, role, remaining))
    return count_sets


def _find_instrument(count_sets: Sequence[_CountSet]) -> _CountSet | None:
    """Return the counts of `--also`, the first of several; None without `--also`."""
    return next((count_set for count_set in count_sets if count_set.role == ALSO), None)


def _refuse_shared_ids(table: Frame) -> None:
    """Raise an InputError if an id names several problems, whose counts can't be told apart."""
    if table["benchmark"].nunique() > 1:
        is_shared = table.groupby("id")["benchmark"].nunique().gt(1).any()
        problem: Text = "two benchmarks have the same ids; give the scores of one"
    else:
        is_shared = table.groupby("id")["problem"].nunique().gt(1).any()
        cure = "join counts by another column, with " + OptionUse("on")
        problem = "an id names different documents; " + cure
    if is_shared:
        raise InputError("scores", problem)


def _describe_problems(
    score_rows: Any, on: str, cluster: str | None, covariates: Sequence[str]
) -> Frame:
    """Return the group of each problem (`on`), its cluster and its covariates.

    Problems are named by task, id and hash. Without a name of clusters, each group is one.
    """
    import pandas as pd

    columns = [*score_rows[0][1]]
    refuse_other("on", on, columns)
    refuse_other("cluster", [cluster] if cluster else [], columns)
    refuse_other("covariate", covariates, columns)
    descriptions: dict[tuple[str, str, str], tuple[Any, ...]] = {}
    for place, row in score_rows:
        labels = key_in(place, row, on), key_in(place, row, cluster or on)
        numbers = [number_in(place, row, name) for name in covariates]
        problem = str(row["dataset"]), str(row["id"]), str(row.get("hash") or "")
        if descriptions.setdefault(problem, (*labels, *numbers)) != (*labels, *numbers):
            described = ", ".join(filter(None, [on, cluster, *covariates]))
            text = f"another row of id {problem[1]} has another value of {described}"
            raise InputError(place, text)
    table = pd.DataFrame.from_dict(descriptions, orient="index")
    table = table.rename(columns={0: "on", 1: "cluster"})
    _refuse_split_groups(table, on, cluster)
    return table.set_index(pd.Index([*descriptions], tupleize_cols=False))


def _refuse_split_groups(problems: Frame, on: str, cluster: str | None) -> None:
    """Raise an InputError if the problems of a group are in several clusters."""
    clusters = problems.groupby("on", sort=False)["cluster"].unique()
    split = clusters[clusters.map(len) > 1]
    if split.empty:
        return
    where = f"{on} {split.index[0]} is in {some_of([*split.iloc[0]])}"
    if problems.groupby("cluster")["on"].nunique().max() == 1:
        cure = "each is within one group, and groups are independent already; leave it out"
    else:
        cure = "expected a column with one value for each group"
    raise InputError(OptionUse("cluster", cluster), f"{where}; {cure}")


class _ValuedAnswers(NamedTuple):
    """The answers of a method with their values, or pairs of answers with their differences."""

    names: dict[str, Any]
    answers: Frame
    """`y` is the value, `source` the problem, `lowest_level` how much is known."""
    overlap: Text = ""


def _make_cells(table: Frame, problems: Frame) -> tuple[list[_GroupedCell], Messages]:
    """Return the methods of each benchmark, model and rule, then their pairs, and messages."""
    valued, notices = list[_ValuedAnswers](), list[str]()
    columns = [name for name in CELL if name != "group"]
    for cell, answers in table.fillna({"value": 0.0}).groupby(columns, sort=False):
        names: dict[str, Any] = dict(zip(columns, cell, strict=True))
        methods = [*answers["method"].unique()]
        valued += _value_methods(names, answers)
        valued += _value_pairs(names, find_pairs(answers, combinations(methods, 2)))
        if len(methods) == 1:
            only = f"only {methods[0]}, so no differences"
            notices.append(f"{', '.join(names.values())}: {only}")
    cells = [_group_answers(each, problems) for each in valued]
    levels = [
        CellLevels(_title(each.names), each.answers["lowest_level"], each.overlap)
        for each in valued
    ]
    left_out = describe_left_out("answer", levels, NOT_ANSWERED)
    return list(filter(None, cells)), left_out + Messages(notices=notices)


def _value_methods(names: Mapping[str, Any], answers: Frame) -> Iterator[_ValuedAnswers]:
    for method, answers_of_method in answers.groupby("method", sort=False):
        valued = answers_of_method.assign(
            y=answers_of_method["value"],
            lowest_level=answers_of_method["level"],
            source=_sources(answers_of_method),
        )
        yield _ValuedAnswers({**names, "method": method, "baseline": None}, valued)


def _value_pairs(
    names: Mapping[str, Any], pairs_of_cells: Sequence[Frame]
) -> Iterator[_ValuedAnswers]:
    for pairs in pairs_of_cells:
        methods = {"method": pairs["treatment"].iloc[0], "baseline": pairs["baseline"].iloc[0]}
        valued = pairs.assign(
            y=pairs["value_treatment"] - pairs["value_baseline"],
            source=_sources(pairs, "_baseline"),
        )
        yield _ValuedAnswers({**names, **methods}, valued, describe_overlap_of_pairs(pairs))


def _group_answers(valued: _ValuedAnswers, problems: Frame) -> _GroupedCell | None:
    """Return the means of answers by group of problems; None: no result is known."""
    answers = valued.answers
    counted_answers = answers[answers["lowest_level"] >= NOT_ANSWERED]
    if counted_answers.empty:
        return None
    averaged = ["y", *problems.columns.drop(["on", "cluster"])]
    values = counted_answers[["y", "source"]]  # problems have columns of the same names as answers
    grouped = values.join(problems, on="source").groupby("on")[averaged]
    clusters = problems.groupby("on")["cluster"].first()
    groups = grouped.mean().assign(size=grouped.size()).join(clusters)
    return _GroupedCell(valued.names, len(answers) - len(counted_answers), groups)


def _sources(answers: Frame, side: str = "") -> Any:
    """Return the task, id and hash of each answer, as `_problems` names them."""
    columns = answers[[f"{name}{side}" for name in ("task", "id", "hash")]].fillna("")
    return [*columns.itertuples(index=False, name=None)]


def _make_row(
    cell: _GroupedCell,
    count_set: _CountSet,
    count_sets: Sequence[_CountSet],
    options: ProblemOptions,
) -> SlopeRow:
    groups = cell.groups[cell.groups.index.isin([*count_set.counts])]
    x = _logarithms(groups, count_set.counts)
    adjusted = residuals(x, groups["y"], np.ones(len(groups)), _covariates(groups))
    names = [str(name) for name in cell.names.values()]
    generator = stream(options.seed, count_set.name, *names)
    is_pair = cell.names["baseline"] is not None
    clusters = groups["cluster"] if options.cluster else None
    slope, p = slope_test(adjusted, generator, is_pair, options.resamples, options.level, clusters)
    correction = _Correction(None, None, "")
    if count_set.role == PREVALENCE and (instrument := _find_instrument(count_sets)):
        correction = _correct_slope(groups, count_set.counts, instrument.counts, options)
    notes = [slope.note if slope else NO_SLOPE, disagreement(slope, p) if slope and p else ""]
    return SlopeRow(
        counts=count_set.name,
        transformation=TRANSFORMATION,
        **cell.names,
        n=int(groups["size"].sum()),
        n_unknown=cell.n_unknown,
        groups=len(groups),
        rho=None if is_pair else rank_correlation(x, groups["y"], _covariates(groups)),
        **fields_of("slope", slope),
        p=p.value if p else None,
        p_adjusted=None,
        test=p.procedure if p else "",
        count_correlation=correction.correlation,
        **fields_of("slope_corrected", correction.slope),
        level=options.level,
        note="; ".join(filter(None, [*notes, correction.note])),
        n_clusters=groups["cluster"].nunique() if options.cluster else None,
        role=count_set.role,
    )


def _correct_slope(
    groups: Frame, counts: GroupCounts, instrument: GroupCounts, options: ProblemOptions
) -> _Correction:
    """Correct a slope by the counts of another corpus, over groups that both have."""
    common = groups[groups.index.isin([*instrument])]
    x, instrument_x = _logarithms(common, counts), _logarithms(common, instrument)
    covariates = _covariates(common)
    related = residuals(x, instrument_x, np.ones(len(common)), covariates)
    if related is None:
        return _Correction(None, None, NOT_RELATED)
    if np.array_equal(x, instrument_x):
        return _Correction(related.correlation, None, SAME_COUNTS)
    clusters = common["cluster"] if options.cluster else None
    slope = instrumental_slope(x, common["y"], instrument_x, covariates, options.level, clusters)
    return _Correction(related.correlation, slope, slope.note if slope else NOT_RELATED)


def _logarithms(groups: Frame, counts: GroupCounts) -> Any:
    return np.log10(np.array([counts[group] for group in groups.index]) + 0.5)


def _covariates(groups: Frame) -> Any:
    return groups.drop(columns=["y", "size", "cluster"]).to_numpy().T
