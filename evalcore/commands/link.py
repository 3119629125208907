"""`evalcore link`: how often methods occur in corpora, beside how accurate they are."""

import math
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise, permutations, product
from math import inf
from typing import Annotated, Any, Literal

import numpy as np

from evalcore.commands.compare import difference_text
from evalcore.compare_rows import CompareRow, compare_methods
from evalcore.options import OptionNames
from evalcore.prevalence_links import ProblemOptions, SlopeRow, link_problems
from evalcore.score_options import PairBy, without_hashes
from evalcore.scores import read_all
from ngramscan.errors import InputError
from ngramscan.messages import OptionUse, Text, joined
from ngramscan.reading.row_files import Table, name_of, read_rows, read_table
from ngramscan.reporting import refuse_other, to_frame
from ngramscan.reporting.columns import for_paper, print_notes, print_pooled, to_columns
from ngramscan.reporting.command import NewFile, Option, Result, RowsFile, Shared, command
from ngramscan.reporting.layout import Layout, p_text, print_columns
from ngramscan.reporting.older_rows import refuse_older_tokens, refuse_unknown_unit
from ngramscan.rows import AdjustedP, Label, Limits, Plot, Points, PValue, row_kind
from ngramscan.statistics.estimates import geometric_mean_ratio

CORRELATIONAL = (
    "Prevalence and accuracy are shown side by side. This is not evidence of cause, whether they "
    "agree or not: methods differ in many other ways, and there are few of them."
)
NO_CAUSE = (
    "This is not evidence of cause: frequent problems differ from rare ones in other ways, too."
)
_AS_COMPARED = ["dataset", "model", "rule", "baseline", "treatment"]
_AS_COMPARED += ["difference", "difference_low", "difference_high", "p"]
_AS_COMPARED += ["group", "test", "n_problems", "scale", "weight", "right_from"]
_AS_COMPARED += ["family", "family_tests"]
MOST_PERMUTED = 8
"""With more methods, there are too many orders to try them all."""
PatternCounts = Mapping[str, Mapping[str, Sequence[float]]]
"""The counts of patterns by index, then by method."""


@dataclass(frozen=True, slots=True)
class PatternCount:
    """The count of one pattern, from a row of `ngramscan count` or `docnorm`."""

    index: str
    method: str | None
    tier: str | None
    pattern: str
    occurrences: float
    documents: float | None = None
    documents_lower_estimate: float | None = None
    documents_upper_estimate: float | None = None
    unit: str = "bytes"


@row_kind(
    "link",
    "Prevalence and accuracy of pairs of methods",
    Plot(
        "prevalence_ratio",
        panel=("index", "measure"),
        label=("dataset", "model", "group", "rule", "baseline", "treatment"),
        scale="log",
    ),
    Plot(
        "difference",
        panel=("index", "measure"),
        label=("dataset", "model", "group", "rule", "baseline", "treatment"),
        across="prevalence_ratio",
    ),
    key=("same_direction",),
)
@dataclass(frozen=True, slots=True)
class LinkRow:
    """One pair of methods: its prevalence in one corpus, and its comparison in one model."""

    index: Label
    measure: Label
    """The unit of the counts: `occurrences` or `documents`."""
    dataset: Label
    model: Label
    rule: Label
    baseline: Label
    treatment: Label
    prevalence_ratio: Annotated[float, Limits("prevalence_low", "prevalence_high")]
    """Treatment to baseline: ratio of the geometric means of count + 0.5 over patterns."""
    prevalence_low: float | None
    prevalence_high: float | None
    sum_ratio: float | None
    """Ratio of plain sums, which grows with the number of patterns; None: the baseline's is 0."""
    difference: Points
    """Accuracy of the treatment minus that of the baseline; fractions, as are the limits."""
    difference_low: Points | None
    difference_high: Points | None
    p: PValue | None
    same_direction: bool
    """Whether the more frequent method is also the more accurate one."""
    p_adjusted: AdjustedP | None
    """`p`, adjusted within its family: the `p_holm` of `compare`, or its `p_bh`. There a
    comparison counts once, in however many indexes it stands."""
    group: str = ""
    """The values of further columns that `compare --by` named."""
    test: str = ""
    n_problems: int | None = None
    """This column and the next five are those of `compare`."""
    scale: str = ""
    weight: str = ""
    right_from: float | None = None
    family: str = ""
    family_tests: int | None = None


@row_kind(
    "link --ranks",
    "Prevalence and accuracy, ranks of methods",
    Plot(
        "tau",
        panel=("index", "measure"),
        label=("dataset", "model", "group", "rule"),
    ),
    key=("methods", "p"),
)
@dataclass(frozen=True, slots=True)
class RankRow:
    """How well the order of methods by prevalence agrees with the order by accuracy."""

    index: Label
    measure: Label
    dataset: Label
    model: Label
    rule: Label
    methods: int
    tau: float | None
    """Kendall's tau-b, from -1 to 1; None: too few methods, or all have the same value."""
    p: PValue | None
    """Two-sided permutation p-value over all orders of the methods."""
    note: str
    group: str = ""
    """The values of further columns that `compare --by` named."""


def _count_methods(
    patterns: Sequence[PatternCount], measure: str, tiers: Sequence[str], names: Mapping[str, str]
) -> PatternCounts:
    """Return counts by compared method: `f-1` is `F-1`, also in `FP/F-1`; variants add up."""
    wanted = [tier.upper() for tier in tiers]
    refuse_other("tier", wanted, (row.tier for row in patterns if row.tier))
    wanted = wanted or ["T1", "T2"]
    table = to_frame([row for row in patterns if row.tier in wanted], PatternCount)
    if table.empty:
        problem = f"no patterns of {', '.join(wanted)}; expected a set with methods and tiers"
        raise InputError("counts", problem)
    for row in patterns:
        if row.tier not in wanted:
            continue
        count = getattr(row, measure)
        if count is None:
            raise InputError(f"counts: {row.index}, {row.pattern!r}", _why_no_documents(row))
        if not 0 <= count < inf:
            problem = f"{measure}: {count:g} is not a count; correct the row or leave it out"
            raise InputError(f"counts: {row.index}, {row.pattern!r}", problem)
    parts = [{name, *name.split("/")} for name in table["method"].str.lower()]
    table["compared"] = [[name for name in names if names[name].lower() in part] for part in parts]
    keys = ["index", "compared", "method", "tier", "pattern"]
    sums = table.explode("compared").groupby(keys, sort=False)[measure].sum()
    lists = sums.groupby(keys[:2], sort=False).agg(list)
    return {index: lists[index].to_dict() for index in lists.index.unique(0)}


def _why_no_documents(row: PatternCount) -> Text:
    low, high = row.documents_lower_estimate, row.documents_upper_estimate
    if low is None or high is None:
        return "no documents in this row; ngramscan docnorm estimates them"
    problem = f"two estimates of documents, {low:,.0f} and {high:,.0f}"
    reason = "since long ones were truncated"
    measure = "use " + OptionUse("measure", "occurrences")
    draws = OptionUse("draws", int(row.occurrences)) + ", which looks at all occurrences"
    again = (
        ", or run ngramscan docnorm with " + draws + ", or with a larger " + OptionUse("context")
    )
    return f"{problem}, {reason}; " + measure + again


def _link_pairs(
    pattern_counts: PatternCounts, compared: Sequence[CompareRow], measure: str
) -> Iterator[LinkRow]:
    for (index, lists), row in product(pattern_counts.items(), compared):
        if {row.treatment, row.baseline} <= lists.keys():
            treatment, baseline = lists[row.treatment], lists[row.baseline]
            ratio = geometric_mean_ratio(treatment, baseline, 0.95)
            yield LinkRow(
                index=index,
                measure=measure,
                **{name: getattr(row, name) for name in _AS_COMPARED},
                prevalence_ratio=ratio.value,
                prevalence_low=ratio.low,
                prevalence_high=ratio.high,
                sum_ratio=sum(treatment) / sum(baseline) if sum(baseline) else None,
                same_direction=math.log(ratio.value) * row.difference > 0,
                p_adjusted=row.p_holm if row.p_bh is None else row.p_bh,
            )


def _rank_methods(
    pattern_counts: PatternCounts, compared: Sequence[CompareRow], measure: str
) -> Iterator[RankRow]:
    cells: dict[tuple[str, str, str, str], dict[str, float]] = defaultdict(dict)
    for row in compared:
        accuracies = cells[row.dataset, row.model, row.rule, row.group]
        accuracies[row.baseline] = row.accuracy_baseline
        accuracies[row.treatment] = row.accuracy_treatment
    for (index, lists), (cell, accuracies) in product(pattern_counts.items(), cells.items()):
        dataset, model, rule, group = cell
        methods = [method for method in accuracies if method in lists]
        if len(methods) > 1:
            means = [np.log(np.add(lists[name], 0.5)).mean() for name in methods]
            agreement = rank_agreement(means, [accuracies[name] for name in methods])
            names = index, measure, dataset, model, rule
            yield RankRow(*names, len(methods), *agreement, group=group)


def rank_agreement(
    first: Sequence[float], second: Sequence[float]
) -> tuple[float | None, float | None, str]:
    """Return Kendall's tau-b, the share of orders with one at least as far from 0, and a note."""
    from scipy.stats import kendalltau  # slow to import

    n = len(first)
    if n < 3:
        return None, None, "an order takes at least three methods"
    if len({*first}) == 1 or len({*second}) == 1:
        return None, None, "all methods have the same value in one list"
    tau = float(kendalltau(first, second).statistic)
    if n > MOST_PERMUTED:
        return tau, None, f"no p: more than {MOST_PERMUTED} methods have too many orders"
    note = f"with {n} methods p can't be below {2 / math.factorial(n):.2g}" if n < 5 else ""
    return tau, _permutation_p(first, second), note


def _permutation_p(first: Sequence[float], second: Sequence[float]) -> float:
    """Return the share of orders of the second list that agree or disagree at least as much.

    All orders have the same ties, so that tau-b is proportional to concordant minus discordant
    pairs.
    """
    first_signs = np.sign(np.subtract.outer(first, first))
    second_signs = np.sign(np.subtract.outer(second, second))
    surplus = np.abs((first_signs * second_signs).sum())
    orders = np.array(list(permutations(range(len(first)))))
    permuted_signs = second_signs[orders[:, :, None], orders[:, None, :]]
    permuted_surpluses = np.abs((first_signs * permuted_signs).sum(axis=(1, 2)))
    return float((permuted_surpluses >= surplus).mean())


def _columns(rows: Sequence[LinkRow]) -> dict[str, Any]:
    columns = to_columns(rows, ("index", "measure", "dataset", "model", "group", "rule"))
    columns["methods"] = [f"{row.treatment} : {row.baseline}" for row in rows]
    columns |= to_columns(rows, ("prevalence_ratio",))
    columns["accuracy difference"] = [difference_text(row) for row in rows]
    return columns | _p_columns(rows)


def _print(console: Any, rows: Sequence[LinkRow], ranks: Sequence[RankRow]) -> None:
    print_pooled(console, rows, _columns, Layout(7))
    ordered = [rank for rank in ranks if rank.tau is not None]
    names = ("index", "dataset", "model", "group", "rule", "methods", "tau", "p")
    columns = partial(to_columns, names=names)
    title = "Order of methods by prevalence and by accuracy: Kendall's tau-b"
    print_pooled(console, ordered, columns, Layout(5, title=title), notes=["model"])


def _slope_columns(rows: Sequence[SlopeRow]) -> dict[str, Any]:
    columns = to_columns(rows, ("counts", "dataset", "model", "rule"))
    columns["method"] = [
        f"{row.method} − {row.baseline}" if row.baseline else row.method for row in rows
    ]
    columns |= to_columns(rows, ("groups",))
    if any(row.n_clusters is not None for row in rows):
        columns |= to_columns(rows, (("clusters", "n_clusters"),))
    columns |= to_columns(rows, ("rho", "slope")) | _p_columns(rows)
    return columns | to_columns(rows, (("corrected", "slope_corrected"),))


def _p_columns(rows: Sequence[Any]) -> dict[str, Any]:
    names = {"p": "p", "p Holm": "p_adjusted"}
    return {name: [p_text(getattr(row, names[name])) for row in rows] for name in names}


def _print_slopes(console: Any, rows: Sequence[SlopeRow]) -> None:
    title = "Accuracy per tenfold count, percentage points"
    ends = [row.counts != other.counts for row, other in pairwise(rows)]
    layout = Layout(5, headings=4, title=title, section_ends=ends, optional=("corrected",))
    print_columns(console, _slope_columns(rows), layout)
    names = ("counts", "dataset", "model", "rule", "method", "baseline")
    print_notes(console, rows, *(name for name in names if _varies(rows, name)))


def _varies(rows: Sequence[SlopeRow], name: str) -> bool:
    return len({getattr(row, name) for row in rows}) > 1


def _refuse_ignored(problems: bool, has_method_options: bool, options: ProblemOptions) -> None:
    if problems and has_method_options:
        others = [OptionUse(name) for name in ("measure", "tier", "rename", "ranks")]
        raise InputError(OptionUse("problems"), "not allowed with " + joined(others, ", "))
    if not problems and options != ProblemOptions():
        others = [OptionUse(name) for name in vars(options)]
        raise InputError(OptionUse("problems"), "needed for these: " + joined(others, ", "))


def _read_comparisons(
    scores: Table, rules: Sequence[str], runs: Sequence[str], pair_by: PairBy
) -> tuple[list[CompareRow], list[Text]]:
    """Return rows of `compare`, or compare the methods of scores in all pairs; and notices."""
    given_rows: Any = [*read_table(scores)]  # a pipe can be read once
    if "difference" in given_rows[0][1]:
        compared = read_rows(given_rows, CompareRow, "rows of `evalcore compare` or `score`")
        refuse_other("rule", rules, (row.rule for row in compared))
        return [row for row in compared if not rules or row.rule in rules], []
    rows_of_scores, table_notices = read_all([given_rows], [*rules], [*runs])
    if pair_by == "id":
        rows_of_scores = without_hashes(rows_of_scores)
    compared, _, messages = compare_methods(rows_of_scores)
    notices: list[Text] = [*table_notices]
    if messages.heading:
        notices.append(messages.heading)
    notices += messages.notices
    notices += [str(failure) for failure in messages.failures]
    return compared, notices


def _refuse_unattested(renamed: Mapping[str, str], attested: Collection[str]) -> None:
    """Raise an InputError if a method that is renamed has no patterns."""
    for method, name in renamed.items():
        if not name or method not in attested:
            problem = "expected METHOD=NAME: a compared method, and a method with patterns"
            raise InputError(OptionUse("rename", f"{method}={name}".rstrip("=")), problem)


def _read_patterns(counts: Table) -> list[PatternCount]:
    """Read counts of phrases; an InputError refuses those of n-grams of tokens, which differ."""
    counted_rows: Any = [*read_table(counts)]  # a pipe can be read once
    refuse_older_tokens(counts, [row for _, row in counted_rows])
    for place, row in counted_rows:
        refuse_unknown_unit(place, row)
        if "pattern" not in row and "count" in row:
            cure = "; if these are counts of problems, add " + OptionUse("problems")
            raise InputError(place, "no column pattern" + cure)
    patterns = read_rows(counted_rows, PatternCount, "rows of `ngramscan count` or `docnorm`")
    if any(row.unit == "tokens" for row in patterns):
        problem = "rows with the unit tokens count n-grams of tokens, not phrases"
        raise InputError(name_of(counts), f"{problem}; keep the rows with the unit bytes")
    return patterns


@command
def link(
    counts: Table,
    scores: Table,
    *,
    problems: bool = False,
    measure: Literal["occurrences", "documents"] = "occurrences",
    tier: OptionNames = (),
    rename: Annotated[str | Sequence[str], Option(metavar="METHOD=NAME")] = (),
    rule: OptionNames = (),
    run: OptionNames = (),
    pair_by: PairBy = "hash",
    ranks: RowsFile = None,
    figure: NewFile = None,
    **options: Annotated[Any, Shared(ProblemOptions)],
) -> Result[LinkRow] | Result[SlopeRow]:
    """Show the prevalence of methods in corpora beside their accuracy.

    COUNTS are rows of `ngramscan count` or `docnorm`. SCORES are rows of `evalcore compare`, or of
    `evalcore score`, which are then compared in all pairs. With --problems, COUNTS has a count for
    each problem or topic, and SCORES are rows of `evalcore score`: does prevalence predict
    accuracy, problem by problem, and do methods change that? The result is not evidence of cause.

    Parameters
    ----------
    counts, scores : str, Path or DataFrame
        Files with these rows, or what the commands returned.
    problems : bool
        Link the prevalence of problems, not of methods.
    measure : str
        How prevalence is measured: `occurrences` or `documents`.
    tier : str or sequence of str
        Use only patterns of these tiers. By default T1 and T2.
    rename : str or sequence of str
        Name of a compared method in the pattern sets, where it differs: METHOD=NAME.
    rule, run, pair_by : see compare
    ranks : str or Path, optional
        Write how well the orders of methods agree to this file.
    figure : str or Path, optional
        Draw the differences in accuracy against the ratios of prevalence, or the slopes: .svg,
        .png or .pdf.

    Returns
    -------
    DataFrame
        One row per index, benchmark, model, rule and pair of methods; with `problems` also per
        method.

    Examples
    --------
    $ ngramscan count f1 --index dclm -o counts.csv
    $ evalcore compare scores.jsonl --all-pairs -o compared.csv
    $ evalcore link counts.csv compared.csv --figure link.svg
    $ evalcore link prevalence.csv scores.jsonl --problems --figure slopes.svg
    """
    problem_options = ProblemOptions(**options)
    has_method_options = bool(measure != "occurrences" or tier or rename or ranks)
    _refuse_ignored(problems, has_method_options, problem_options)
    if problems:
        slopes, messages = link_problems(counts, scores, rule, run, problem_options, pair_by)
        return Result(
            slopes,
            SlopeRow,
            heading=messages.heading,
            notices=[*messages.notices, NO_CAUSE],
            failures=messages.failures,
            print_table=partial(_print_slopes, rows=slopes),
            figure=(figure, slopes),
            for_paper=for_paper(_slope_columns(slopes)),
        )
    patterns = _read_patterns(counts)
    compared, notices = _read_comparisons(scores, rule, run, pair_by)
    methods = [*dict.fromkeys(name for row in compared for name in (row.baseline, row.treatment))]
    renamed = dict(text.partition("=")[::2] for text in rename)
    names = {method: renamed.get(method, method) for method in methods}
    pattern_counts = _count_methods(patterns, measure, [*tier], names)
    attested = set().union(*pattern_counts.values())
    _refuse_unattested(renamed, attested)
    if not (rows := list(_link_pairs(pattern_counts, compared, measure))):
        in_patterns = ", ".join(dict.fromkeys(row.method for row in patterns if row.method))
        problem = "no compared pair of methods has patterns of these tiers"
        cure = "see " + OptionUse("rename")
        raise InputError("counts", f"{problem}; available: {in_patterns} (" + cure + ")")
    orders = list(_rank_methods(pattern_counts, compared, measure))
    if absent := [method for method in methods if method not in attested]:
        notices.append(f"left out, because they have no patterns: {', '.join(absent)}")
    notices.append(CORRELATIONAL)
    return Result(
        rows,
        LinkRow,
        notices=notices,
        print_table=partial(_print, rows=rows, ranks=orders),
        figure=(figure, rows),
        files=[(ranks, orders, RankRow)],
        for_paper=for_paper(_columns(rows)),
    )
