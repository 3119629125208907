"""Prevalence and accuracy, problem by problem: slopes, rank correlations, and their differences.

Problems of one value of `--on` have the same prevalence, so they are one group, and groups are what
is permuted, resampled and flipped.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Annotated, Any, ClassVar, NamedTuple

import numpy as np

from evalcore.options import ColumnName, Draws, File, Level, Seed
from evalcore.pairing import (
    CELL,
    NOT_ANSWERED,
    Frame,
    PairBy,
    describe_documents,
    find_pairs,
    left_out,
    overlap_of_pairs,
    to_table,
)
from evalcore.scores import read_all
from evalcore.simple_tables import complete_table
from ngramscan.errors import InputError, some_of
from ngramscan.options import OPTIONS, Option
from ngramscan.reading.row_files import Table, name_of
from ngramscan.reporting import refuse_other
from ngramscan.reporting.keyed_counts import key_in, number_in, read_counts
from ngramscan.statistics.estimates import fields_of
from ngramscan.statistics.p_values import disagreement, holm
from ngramscan.statistics.slopes import rank_correlation, residuals, slope_test
from ngramscan.statistics.streams import stream

TRANSFORMATION = "log10(count + 0.5)"
NO_SLOPE = "no slope: the counts do not vary, or only with covariates"
ALSO, PLACEBO = "also", "placebo"
Counts = Mapping[str, float]
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
        With `--problems`: the same counts in another corpus, to estimate attenuation by noise.
    placebo : str or Path, optional
        With `--problems`: counts that can't matter, to test in the same way.
    level, resamples, seed : see compare
    """

    heading: ClassVar[str] = OPTIONS

    on: Annotated[str, Option(metavar="COLUMN")] = "id"
    count: ColumnName = None
    covariate: Annotated[str | Sequence[str], Option(metavar="COLUMN")] = ()
    without: Annotated[str | Sequence[str], Option(metavar="GROUP")] = ()
    also: File = None
    placebo: File = None
    level: Level = 0.95
    resamples: Draws = 10_000
    seed: Seed = 1


@dataclass(frozen=True, slots=True)
class SlopeRow:
    """How accuracy goes with prevalence for one method, or how much more than for another."""

    counts: str
    """`prevalence` or the name of an index, perhaps `without` some groups; `also`; `placebo`."""
    transformation: str
    """The unit of slopes: it is 1 higher for a tenfold count."""
    dataset: str
    model: str
    rule: str
    method: str
    baseline: str | None
    """The slope is that of the method minus that of this one, on the same problems. None: it is
    that of the method."""
    n: int
    """Answers, or pairs of answers, with a known result and a count. No answer counts as wrong."""
    n_unknown: int
    """Answers or pairs left out because a result is unknown."""
    groups: int
    """Groups of problems with one prevalence: the number of independent values."""
    rho: float | None
    """Spearman's rank correlation of the groups' counts and accuracies, given covariates."""
    slope: float | None
    """Accuracy per tenfold count, a fraction, as are the limits; None: the counts do not vary."""
    slope_low: float | None
    slope_high: float | None
    p: float | None
    p_adjusted: float | None
    """`p`, adjusted by Holm's method for all tests of the output."""
    test: str
    count_correlation: float | None
    """Correlation of the logarithms of two counts, these and those of `--also`."""
    slope_corrected: float | None
    """The slope corrected for attenuation: divided by that correlation, as if both counts measured
    the same thing equally well, with independent errors."""
    level: float
    note: str


class _Cell(NamedTuple):
    """The answers of a method, or the pairs of answers of two, by groups."""

    names: Mapping[str, Any]
    n_unknown: int
    groups: Frame
    """By the name of the group: the mean of `y`, its `size`, means of covariates."""


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
) -> tuple[list[SlopeRow], dict[str, Any]]:
    """Link the prevalence of problems to the accuracy of methods.

    Return the rows and the messages that belong to them.
    """
    completed = complete_table(scores)
    given: Any = completed.rows
    if pair_by == "id":
        given = [(place, row | {"hash": None}) for place, row in given]
    rows, _ = read_all([given], rules, runs)
    table = to_table(rows)
    column = options.on.partition("=")[0]
    if column == "id":
        _refuse_shared_ids(table)
    problems = _problems(given, column, options.covariate)
    known = [*problems["on"].unique()]
    if wrong := [group for group in options.without if group not in known]:
        problem = f"no such value of {column}; available: {some_of(known)}"
        raise InputError(f"--without {wrong[0]}", problem)
    sets = _read_sets(counts, options, known)
    cells, messages = _cells(table, problems)
    messages["notices"] = [
        *(f"{name_of(scores)}: {remark}" for remark in completed.remarks),
        *describe_documents(table),
        *messages["notices"],
    ]
    found = [_row(cell, name, sets, options) for name in sets for cell in cells]
    if all(row.slope is None for row in found):
        problem = "no slope: all counts are equal, or fewer than three groups have one"
        raise InputError(name_of(counts), problem)
    for name, each in sets.items():
        if lacking := [group for group in known if group not in {*each, *options.without}]:
            first = f"{name}: {len(lacking):,} of {len(known):,} values of {column}"
            messages["notices"].append(f"{first} without a count left out: {some_of(lacking)}")
    adjusted = holm([row.p for row in found])
    return [replace(row, p_adjusted=p) for row, p in zip(found, adjusted, strict=True)], messages


def _read_sets(counts: Table, options: ProblemOptions, known: Sequence[str]) -> dict[str, Counts]:
    """Return the counts by the names of their tables and indexes, those that are tested first."""
    column, _, key = options.on.partition("=")
    sets: dict[str, Counts] = {}
    for role, table in (("", counts), (ALSO, options.also), (PLACEBO, options.placebo)):
        if table is None:
            continue
        for index, each in read_counts(table, key or column, options.count).items():
            if each.keys().isdisjoint(known):
                problem = f"no {column} of the scores has a count; they have {some_of(known)}"
                raise InputError(name_of(table), f"{problem}, the counts {some_of([*each])}")
            sets[f"{role} {index}".strip() or "prevalence"] = each
            if options.without and not role:
                rest = {name: n for name, n in each.items() if name not in options.without}
                sets[f"{index or 'prevalence'} without {', '.join(options.without)}"] = rest
    return sets


def _refuse_shared_ids(table: Frame) -> None:
    """Raise an InputError if an id names several problems, whose counts can't be told apart."""
    if table["benchmark"].nunique() > 1:
        is_shared = table.groupby("id")["benchmark"].nunique().gt(1).any()
        problem = "two benchmarks have the same ids; give the scores of one"
    else:
        is_shared = table.groupby("id")["problem"].nunique().gt(1).any()
        problem = "an id names different documents; join counts by another column, with --on"
    if is_shared:
        raise InputError("scores", problem)


def _problems(given: Any, on: str, covariates: Sequence[str]) -> Frame:
    """Return the group of each problem (`on`), and its covariates, by task, id and hash."""
    import pandas as pd

    columns = [*given[0][1]]
    refuse_other("--on", on, columns)
    refuse_other("--covariate", covariates, columns)
    found: dict[tuple[str, str, str], tuple[Any, ...]] = {}
    for place, row in given:
        group, *rest = key_in(place, row, on), *(number_in(place, row, name) for name in covariates)
        problem = str(row["dataset"]), str(row["id"]), str(row.get("hash") or "")
        if found.setdefault(problem, (group, *rest)) != (group, *rest):
            named = ", ".join([on, *covariates])
            raise InputError(place, f"another row of id {problem[1]} has another value of {named}")
    table = pd.DataFrame.from_dict(found, orient="index").rename(columns={0: "on"})
    return table.set_index(pd.Index([*found], tupleize_cols=False))


def _cells(table: Frame, problems: Frame) -> tuple[list[_Cell], dict[str, Any]]:
    """Return the methods of each benchmark, model and rule, then their pairs, and messages."""
    found, alone, cells = [], [], []
    columns = [name for name in CELL if name != "group"]
    for cell, part in table.fillna({"value": 0.0}).groupby(columns, sort=False):
        names: dict[str, Any] = dict(zip(columns, cell, strict=True))
        methods = [*part["method"].unique()]
        for method, answers in part.groupby("method", sort=False):
            valued = answers.assign(y=answers["value"], least=answers["level"])
            valued["source"] = _sources(answers)
            found.append((names | {"method": method, "baseline": None}, valued, ""))
        for pairs in find_pairs(part, combinations(methods, 2)):
            chosen = {"method": pairs["treatment"].iloc[0], "baseline": pairs["baseline"].iloc[0]}
            valued = pairs.assign(y=pairs["value_2"] - pairs["value_1"])
            valued["source"] = _sources(pairs, "_1")
            found.append((names | chosen, valued, overlap_of_pairs(pairs)))
        if len(methods) == 1:
            alone.append(f"{', '.join(names.values())}: only {methods[0]}, so no differences")
    averaged = ["y", *problems.columns.drop("on")]
    for names, answers, _ in found:
        known = answers[answers["least"] >= NOT_ANSWERED]
        if not known.empty:
            grouped = known.join(problems, on="source").groupby("on")[averaged]
            groups = grouped.mean().assign(size=grouped.size())
            cells.append(_Cell(names, len(answers) - len(known), groups))
    levels = [(_title(names), answers["least"], overlap) for names, answers, overlap in found]
    messages = left_out("answer", levels, NOT_ANSWERED)
    messages["notices"] += alone
    return cells, messages


def _sources(answers: Frame, side: str = "") -> list[tuple[str, str, str]]:
    """Return the task, id and hash of each answer, as `_problems` names them."""
    columns = answers[[f"{name}{side}" for name in ("task", "id", "hash")]].fillna("")
    return [*columns.itertuples(index=False, name=None)]


def _row(cell: _Cell, name: str, sets: Mapping[str, Counts], settings: ProblemOptions) -> SlopeRow:
    groups = cell.groups[cell.groups.index.isin([*sets[name]])]
    x = _logarithms(groups, sets[name])
    found = residuals(x, groups["y"], groups["size"], _covariates(groups))
    names = [str(each) for each in cell.names.values()]
    generator = stream(settings.seed, name, *names)
    is_pair = cell.names["baseline"] is not None
    slope, p = slope_test(found, generator, is_pair, settings.resamples, settings.level)
    other = next((each for each in sets if each.startswith(ALSO)), None)
    correlation = corrected = None
    if other and not name.startswith((ALSO, PLACEBO)):
        common = groups[groups.index.isin([*sets[other]])]
        first, second = (_logarithms(common, sets[each]) for each in (name, other))
        both = residuals(first, second, common["size"], _covariates(common))
        correlation = both.correlation if both else None
        if correlation and slope and correlation > 0:
            corrected = slope.value / correlation
    notes = [slope.note if slope else NO_SLOPE, disagreement(slope, p) if slope and p else ""]
    return SlopeRow(
        counts=name,
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
        count_correlation=correlation,
        slope_corrected=corrected,
        level=settings.level,
        note="; ".join(filter(None, notes)),
    )


def _logarithms(groups: Frame, counts: Counts) -> Any:
    return np.log10(np.array([counts[group] for group in groups.index]) + 0.5)


def _covariates(groups: Frame) -> Any:
    return groups.drop(columns=["y", "size"]).to_numpy().T
