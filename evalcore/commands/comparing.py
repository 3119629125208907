"""`evalcore compare`: whether one method is better than another, on the same problems."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from evalcore.averages import AverageRow
from evalcore.comparisons import Compared, CompareRow, compare_methods
from evalcore.paired_results import CompareSettings
from evalcore.row_files import GivenTables, Table, as_tables
from evalcore.score_files import read_scores, refuse_unscored
from evalcore.score_runs import choose_runs
from evalcore.scoring.base import ScoreRow
from evalcore.statistics import GradedTest, Settings
from ngramscan.errors import InputError
from ngramscan.output import optional_target
from ngramscan.output.command import Option, Result, command
from ngramscan.output.layout import UNKNOWN, Layout, cell, print_columns
from ngramscan.output.options import save

if TYPE_CHECKING:
    from rich.console import Console

_OPTIONAL = (
    "p exact",
    "detectable",
    "p Holm",
    "dataset",
    "treatment",
    "baseline",
    "n",
    "not found",
    "both answered",
)
"""Columns that a narrow terminal has no room for, the first to go first."""
STARS = ((0.001, "***"), (0.01, "**"), (0.05, "*"))


def read_all(tables: Sequence[Table], rules: Sequence[str]) -> list[ScoreRow]:
    """Read the rows of some tables, and of some rules only where these are named.

    Raises
    ------
    InputError
        A table is malformed or named twice, or has none of the rules.
    """
    if len({_identity(table) for table in tables}) < len(tables):
        raise InputError("scores", "a file is named twice")
    rows = [row for table in tables for row in read_scores(table)]
    if not rows:
        raise InputError("scores", "there are no rows")
    refuse_unscored(rules, (row.rule for row in rows))
    return [row for row in rows if not rules or row.rule in rules]


def _identity(table: Table) -> object:
    return table.resolve() if isinstance(table, Path) else id(table)


# For people


def stars_of(p: float | None) -> str:
    """Return the stars of a p-value, as the paper has them."""
    return next((stars for limit, stars in STARS if p is not None and p < limit), "")


def print_compared(console: Console, compared: Compared, stars: bool = False) -> None:
    """Print the rows of a comparison, then its averages.

    Parameters
    ----------
    console : Console
        Where.
    compared : Compared
        The rows.
    stars : bool
        Put stars behind p-values: one below .05, two below .01, three below .001.
    """
    rows = compared.rows
    columns = {
        "dataset": [row.dataset for row in rows],
        "model": [row.model for row in rows],
        "rule": [row.rule for row in rows],
        "methods": [f"{row.treatment} − {row.baseline}" for row in rows],
        "n": [cell(row.n) for row in rows],
        "b, c": [f"{row.b}, {row.c}" for row in rows],
        "baseline": [_one(row.accuracy_baseline) for row in rows],
        "treatment": [_one(row.accuracy_treatment) for row in rows],
        "difference": [_interval(row) for row in rows],
        "p": [p_text(row.p) + (stars_of(row.p) if stars else "") for row in rows],
        "p exact": [p_text(row.p_exact) for row in rows],
        "p Holm": [p_text(row.p_holm) for row in rows],
        "detectable": [_one(row.detectable) for row in rows],
    }
    if any(row.unanswered_baseline or row.unanswered_treatment for row in rows):
        columns["not found"] = [_not_found(row) for row in rows]
    if any(row.n_unknown for row in rows):
        columns["unknown"] = [cell(row.n_unknown) for row in rows]
    if any(row.n_no_answer for row in rows):
        columns["both answered"] = [_complete(row) for row in rows]
    numbers = len(columns) - 4
    if len(set(columns["rule"])) == 1:
        del columns["rule"]
    texts = len(columns) - numbers
    print_columns(console, columns, Layout(texts, frozenset({"model", "both answered"}), _OPTIONAL))
    if compared.averages:
        console.print("Averages\n")
        _print_averages(console, compared.averages)


def _print_averages(console: Console, rows: Sequence[AverageRow]) -> None:
    columns = {
        "average": [f"{row.average} ({row.parts})" for row in rows],
        "dataset": [row.dataset for row in rows],
        "model": [row.model for row in rows],
        "rule": [row.rule for row in rows],
        "methods": [f"{row.treatment} − {row.baseline}" for row in rows],
        "n": [cell(row.n) for row in rows],
        "baseline": [_one(row.accuracy_baseline) for row in rows],
        "treatment": [_one(row.accuracy_treatment) for row in rows],
        "difference": [_interval(row) for row in rows],
    }
    if len(set(columns["rule"])) == 1:
        del columns["rule"]
    layout = Layout(len(columns) - 4, frozenset({"model", "average"}), _OPTIONAL)
    print_columns(console, columns, layout)


@dataclass(frozen=True, slots=True)
class PaperRow:
    """What a table in a paper says of a comparison."""

    dataset: str
    model: str
    methods: str
    n: int
    b: int
    c: int
    baseline: str
    treatment: str
    difference: str
    p: str
    p_holm: str


def for_paper(rows: Sequence[CompareRow], stars: bool) -> list[PaperRow]:
    """Return rows as a paper prints them: what decides, in few digits.

    Parameters
    ----------
    rows : sequence of CompareRow
        Of a comparison.
    stars : bool
        Put stars behind p-values.
    """
    return [
        PaperRow(
            row.dataset,
            row.model,
            f"{row.treatment} − {row.baseline}",
            row.n,
            row.b,
            row.c,
            _one(row.accuracy_baseline),
            _one(row.accuracy_treatment),
            _interval(row),
            p_text(row.p) + (stars_of(row.p) if stars else ""),
            p_text(row.p_holm),
        )
        for row in rows
    ]


def _complete(row: CompareRow) -> str:
    """Return what is found where both models gave an answer, unless both always did."""
    if not row.n_no_answer:
        return ""
    if row.difference_complete is None:
        return UNKNOWN
    return f"{row.n_complete:,}: {row.difference_complete:+.1f}, p {p_text(row.p_complete)}"


def _not_found(row: CompareRow) -> str:
    """Return the shares of complete outputs in which no answer was found, the baseline's first."""
    return f"{_one(row.unanswered_baseline)}, {_one(row.unanswered_treatment)}"


def _one(value: float | None) -> str:
    return UNKNOWN if value is None else f"{value:.1f}"


def _interval(row: CompareRow | AverageRow) -> str:
    if row.difference_low is None or row.difference_high is None:
        return f"{row.difference:+.1f} (no interval)"
    return f"{row.difference:+.1f} [{row.difference_low:.1f}, {row.difference_high:.1f}]"


def p_text(p: float | None) -> str:
    """Return a p-value with three digits; small ones with their power of ten."""
    if p is None:
        return UNKNOWN
    return f"{p:.3f}" if p >= 0.001 else f"{p:.1e}"


@command
def compare(
    scores: GivenTables,
    *,
    baseline: Annotated[str | None, Option(metavar="METHOD")] = None,
    treatment: Annotated[str | Sequence[str], Option(metavar="METHOD")] = (),
    all_pairs: bool = False,
    by: Annotated[
        str | Sequence[str], Option(metavar="COLUMNS", has_commas=True)
    ] = "dataset,model",
    rule: Annotated[str | Sequence[str], Option(metavar="NAME")] = (),
    run: Annotated[str | Sequence[str], Option(metavar="NAME")] = (),
    no_answer: Literal["wrong", "exclude"] = "wrong",
    interval: Literal["newcombe", "bootstrap"] = "newcombe",
    graded_test: GradedTest = "bootstrap-t",
    zeros: Literal["dropped", "pratt"] = "dropped",
    family: Annotated[str | Sequence[str], Option(metavar="COLUMNS", has_commas=True)] = "",
    level: Annotated[float, Option(over=0, under=1)] = 0.95,
    draws: Annotated[int, Option(metavar="N", least=100)] = 10_000,
    seed: Annotated[int, Option(least=0)] = 1,
    stars: Annotated[bool, Option(is_shown=True)] = False,
    averages: Annotated[str | Path | None, Option(metavar="FILE", is_written=True)] = None,
) -> Result:
    """Compare prompting methods in pairs, on the same problems.

    SCORES are files of rows of `evalcore score`, `judge` or `logs`. Right and wrong answers get
    McNemar's mid-p test (the exact one beside it) and Newcombe's interval; graded ones test and
    interval by bootstrap-t; several models of one benchmark are also taken together, with problems
    as clusters. Percent, and percentage points.

    Parameters
    ----------
    scores : str, Path or DataFrame, or several of them
        Score rows: files that `score`, `judge` or `logs` wrote, or what they returned.
    baseline : str, optional
        The method that the others are compared with; needed unless `all_pairs` is set.
    treatment : str or sequence of str
        Only these methods. By default all others.
    all_pairs : bool
        Compare every method with every other.
    by : str or sequence of str
        Columns whose values are compared on their own; what is not named is put together, by
        problem.
    rule : str or sequence of str
        Only scores by these rules.
    run : str or sequence of str
        The runs to take of methods that have several: names, parts of them, or `latest`.
    no_answer : str
        What an output counts as that was refused, cut off or empty: `wrong`, or `exclude`d.
    interval : str
        Interval of the difference where answers are right or wrong: `newcombe` or `bootstrap`.
        Graded answers, and several models together, always take the bootstrap.
    graded_test : str
        Test of graded answers: `bootstrap-t`, which gives their interval too, `signed-rank` or
        `sign-flip`. Several models together take `sign-flip` in the place of `signed-rank`.
    zeros : str
        Pairs without a difference, in the signed-rank test: `dropped` or `pratt`.
    family : str or sequence of str
        Adjust p-values within each value of these columns. Always within each rule.
    level : float
        Confidence level of the intervals.
    draws : int
        Number of draws of the bootstrap and of sign flips.
    seed : int
        Random seed.
    stars : bool
        Put stars behind p-values, in tables of the terminal and of LaTeX.
    averages : str or Path, optional
        Write averages over subtasks and benchmarks to this file.

    Returns
    -------
    DataFrame
        One row per cell and pair of methods, then those of all models together.

    Raises
    ------
    InputError
        An argument or a file is wrong, or there is nothing to compare.
    IncompleteError
        Of some cells nothing is known that could be compared; the other rows are in it.

    Examples
    --------
    $ evalcore compare scores.jsonl --baseline cot --treatment f-1
    $ evalcore compare scores.jsonl --all-pairs --format latex
    """
    if (baseline is None) != all_pairs:
        raise InputError("--baseline", "either a baseline or --all-pairs was expected")
    target = optional_target(averages)
    compared = compare_methods(
        choose_runs(read_all(as_tables(scores), rule), run),
        CompareSettings(
            by=by,
            baseline=baseline,
            treatments=treatment,
            statistics=Settings(
                missing="dropped" if no_answer == "exclude" else "wrong",
                interval=interval,
                graded_test=graded_test,
                zeros=zeros,
                level=level,
                draws=draws,
            ),
            family=family,
            seed=seed,
        ),
    )
    save(compared.averages, AverageRow, target)
    return Result(
        compared.rows,
        CompareRow,
        heading=compared.left_out,
        notices=compared.notices,
        failures=compared.failures,
        print_table=partial(print_compared, compared=compared, stars=stars),
        for_paper=(for_paper(compared.rows, stars), PaperRow),
    )
