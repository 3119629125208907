"""`evalcore compare`: whether one method is better than another, on the same problems."""

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Annotated, Any, Literal

from evalcore.compare_rows import (
    Adjustment,
    AverageRow,
    CompareRow,
    compare_methods,
    first_of_two,
)
from evalcore.epochs import take_passes
from evalcore.labels import read_labels
from evalcore.messages import Messages
from evalcore.options import (
    ColumnName,
    ColumnNames,
    DrawCount,
    LeastDifference,
    Methods,
    PassOptions,
    Seed,
)
from evalcore.paired_tests import GradedTest, Settings
from evalcore.score_options import ScoreOptions
from ngramscan.errors import InputError
from ngramscan.messages import OptionUse, Text
from ngramscan.options import Level
from ngramscan.reading.row_files import GivenTables, Table, as_tables
from ngramscan.reading.streams import is_stream
from ngramscan.reporting.columns import for_paper, print_pooled, to_columns
from ngramscan.reporting.command import NewFile, Option, Result, RowsFile, Shared, command
from ngramscan.reporting.layout import CellColumns, Layout, p_text, percent, print_line

_OPTIONAL = ("both answered", "not found", "unknown", "needed n", "detectable", "p exact", "pairs")
_PAPER = (
    "dataset",
    "model",
    "group",
    "methods",
    "n",
    "treatment only",
    "baseline only",
    "baseline",
    "treatment",
    "difference",
    "p",
)
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


def _choose_baseline(
    methods: Sequence[str], baseline: str | None, treatments: Sequence[str], all_pairs: bool
) -> tuple[str | None, list[Text]]:
    """Return the baseline, which is the first of two methods if none is named, and a notice."""
    if (baseline is None) == all_pairs:
        return baseline, []
    if all_pairs or len(methods) != 2:
        problem = "expected either a baseline or " + OptionUse("all_pairs") + "; the methods are"
        raise InputError(OptionUse("baseline"), problem + f" {', '.join(methods)}")
    return first_of_two(methods, treatments)


def _split_methods(scores: GivenTables) -> tuple[list[Table], list[str]]:
    """Return the tables, and the names after the first of them that no file has."""
    tables = as_tables(scores)
    names = [
        table
        for table in tables[1:]
        if isinstance(table, str) and not is_stream(table) and not os.path.exists(table)
    ]
    others = (table for table in tables[1:] if not _is_among(table, names))
    return [*tables[:1], *others], names


def _is_among(table: Table, names: Sequence[str]) -> bool:
    return isinstance(table, str) and table in names


def _refuse_other_names(names: Sequence[str], methods: Sequence[str]) -> None:
    """Raise an InputError for a name that is neither a file nor a method."""
    known_names = {method.lower() for method in methods}
    for name in names:
        if name.lower() not in known_names:
            problem = f"no such file or folder, and no method; the methods are {', '.join(methods)}"
            raise InputError(name, problem)


def difference_text(row: Any) -> str:
    """Return a row's difference of accuracies and its interval, in percentage points."""
    ends = row.difference_low, row.difference_high
    interval = "(no interval)" if None in ends else f"[{', '.join(map(percent, ends))}]"
    sign = "+" if row.difference >= 0 else ""
    return f"{sign}{percent(row.difference)} {interval}"


def _columns(rows: Sequence[Any], stars: bool = False) -> CellColumns:
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
        judge_columns = (
            ("labelled", "n_labelled"),
            "judge_weight",
            ("difference by judge", "difference_judged"),
        )
        columns |= to_columns(rows, judge_columns)
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


def _print(console: Any, rows: Any, averages: Any, stars: bool) -> None:
    print_pooled(console, rows, partial(_columns, stars=stars), Layout(5, optional=_OPTIONAL))
    if rows:
        print_line(console, _LEGEND, "dim")
    layout = Layout(6, frozenset({"average"}), title="Averages, with the number of parts")
    print_pooled(console, averages, _columns, layout)


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
    difference: LeastDifference = 0.05,
    resamples: DrawCount = 10_000,
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
    tilting. Names of methods may follow the files: the first is the baseline, others are compared
    with it. Where a benchmark has several models, they are also compared together, with problems as
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
    score_options = CompareOptions(**options)
    tables, method_names = _split_methods(scores)
    if method_names and (baseline is not None or treatment or all_pairs):
        options_for_methods = OptionUse("baseline") + " and " + OptionUse("treatment")
        problem = "no such file or folder; methods are named either by " + options_for_methods
        raise InputError(method_names[0], problem + ", or after the scores")
    rows_of_scores, messages = score_options.read(tables, weight, is_one_rule=False)
    if len(score_options.rates) > 1:
        problem = "not allowed with " + OptionUse("pass_at") + "; compare one at a time"
        raise InputError(OptionUse("pass_hat"), problem)
    counts_no_answer = score_options.no_answer == "wrong"
    for rate in score_options.rates:
        rows_of_scores, pass_notices = take_passes(rows_of_scores, rate, counts_no_answer)
        messages += Messages(notices=pass_notices)
    methods = [*dict.fromkeys(row.method for row in rows_of_scores)]
    if method_names:
        _refuse_other_names(method_names, methods)
        baseline, treatment = method_names[0], method_names[1:]
    baseline, baseline_notices = _choose_baseline(methods, baseline, treatment, all_pairs)
    if method_names:
        baseline_notices = [f"the baseline is {baseline}, the first of the methods named"]
    settings = Settings(
        no_answer=score_options.no_answer,
        interval=interval,
        graded_test=graded_test,
        zeros=zeros,
        level=level,
        resamples=resamples,
        seed=seed,
        smallest_difference=difference,
    )
    label_values = None
    if labels is not None:
        label_values, label_notices = read_labels(labels, rows_of_scores)
        messages += Messages(notices=label_notices)
    compared, average_rows, compare_messages = compare_methods(
        rows_of_scores,
        baseline,
        treatment,
        by=score_options.unpooled,
        family=family,
        settings=settings,
        adjust=adjust,
        labels=label_values,
    )
    messages += Messages(notices=baseline_notices) + compare_messages
    rows = [
        replace(row, weight=weight or "", right_from=score_options.right_from) for row in compared
    ]
    columns = _columns(rows, stars)
    is_paper = average_rows and str(averages).lower().endswith((".tex", ".md"))
    averages_file: tuple[list[Any], type] = (
        for_paper(_columns(average_rows)) if is_paper else (average_rows, AverageRow)
    )
    return Result(
        rows,
        CompareRow,
        notices=messages.notices,
        failures=messages.failures,
        heading=messages.heading,
        print_table=partial(_print, rows=rows, averages=average_rows, stars=stars),
        figure=(figure, rows) if rows else (),
        files=[(averages, *averages_file)],
        for_paper=for_paper({name: columns[name] for name in [*_PAPER, _P_HEADERS[adjust]]}),
    )
