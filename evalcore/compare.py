"""`evalcore compare`: whether one method is better than another, on the same problems."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, make_dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple

import numpy as np

from evalcore.averages import AverageRow, Found, over_benchmarks, over_subtasks, percent
from evalcore.left_out import say_left_out
from evalcore.pairing import (
    Pair,
    find_pairs,
    incomplete,
    make_cells,
    merged,
    method_pairs,
    unanswered_share,
)
from evalcore.row_files import GivenTables
from evalcore.scores import ScoreRow, read_all
from evalcore.statistics import (
    Comparison,
    GradedTest,
    Settings,
    mcnemar_detectable,
    t_detectable,
)
from ngramscan.errors import InputError
from ngramscan.output import optional_target
from ngramscan.output.command import Option, Result, command
from ngramscan.output.layout import UNKNOWN, Layout, cell, print_columns
from ngramscan.output.options import save
from ngramscan.statistics.p_values import holm

if TYPE_CHECKING:
    from rich.console import Console

FAMILY_COLUMNS = ("dataset", "model", "rule", "baseline", "treatment")
_UNEVEN = 2.0
"""Percentage points. A greater difference of the shares of outputs in which no answer was found is
told."""
_OPTIONAL = (
    *("p exact", "detectable", "p Holm", "dataset", "treatment", "baseline", "n", "not found"),
    "both answered",
)
"""Columns that a narrow terminal has no room for, the first to go first."""
_ONLY = "treatment_only,\nbaseline_only"
_STARS = ((0.001, "***"), (0.01, "**"), (0.05, "*"))


@dataclass(frozen=True, slots=True)
class CompareRow:
    """Two methods on the same problems. Accuracies in percent, differences in percentage points."""

    dataset: str
    model: str
    rule: str
    baseline: str
    treatment: str
    n: int
    """Pairs of answers that are compared: no answer is a wrong one, unless such pairs are left
    out."""
    n_no_answer: int
    """Pairs in which a model gave no answer: it refused, was cut off, or wrote nothing."""
    n_unknown: int
    """Pairs that are left out, since nothing is known of one side or both: not asked, not run, not
    judged, or the grader crashed."""
    treatment_only: int
    """Pairs in which the treatment has more: where answers are right or wrong, only it is right."""
    baseline_only: int
    """Pairs in which the baseline has more."""
    accuracy_baseline: float
    accuracy_treatment: float
    unanswered_baseline: float | None
    """Complete outputs in which no answer was found, in percent of the complete ones; None: not
    known. They count as wrong, so that where the two differ much, the difference is one of finding
    answers too."""
    unanswered_treatment: float | None
    difference: float
    """Treatment minus baseline."""
    difference_low: float | None
    difference_high: float | None
    p: float | None
    p_exact: float | None
    """By the exact McNemar test, which errs on the safe side; None where answers are graded or of
    several models."""
    p_holm: float | None
    """`p`, adjusted within the family of tests that the row belongs to: never across rules."""
    test: str
    n_complete: int
    """Pairs in which both models gave an answer, right or wrong."""
    difference_complete: float | None
    """Of these alone."""
    p_complete: float | None
    detectable: float | None
    """The least difference that the test would have found with a probability of 80 %, at the
    discordance (or spread of differences) that was seen."""
    note: str


class Compared(NamedTuple):
    """The rows of a comparison, and what is to be known beside them."""

    rows: list[CompareRow]
    averages: list[AverageRow]
    left_out: str
    """How many pairs nothing is known of; empty: none."""
    notices: list[str]
    failures: list[str]
    """Cells with nothing to compare."""


# The rows


def compare_methods(
    rows: Sequence[ScoreRow],
    baseline: str | None = None,
    treatments: Sequence[str] = (),
    by: Sequence[str] = ("dataset", "model"),
    family: Sequence[str] = (),
    how: Settings | None = None,
) -> Compared:
    """Compare methods in pairs: in every cell, then of all models together, then averages.

    No baseline: all pairs of methods; no treatments: all other methods. `by` and `family` are as in
    `compare`.

    Raises
    ------
    InputError
        A method is not there, a row is there twice, or nothing can be compared.
    """
    for name in family:
        if name not in FAMILY_COLUMNS:
            expected = ", ".join(FAMILY_COLUMNS)
            raise InputError(f"--family {name}", f"one of {expected} was expected")
    how, cells = how or Settings(), make_cells(rows, by)
    pairs = method_pairs(cells, baseline, treatments)
    generator = np.random.default_rng(how.seed)
    single = [_compared(pair, how, generator) for pair in find_pairs(cells, pairs)]
    if not single:
        problem = "nothing to compare; two methods on the same problems were expected"
        raise InputError("scores", problem)
    pooled = [_compared(pair, how, generator) for pair in find_pairs(merged(cells), pairs)]
    compared, taken_together = ([row for _, row in found if row] for found in (single, pooled))
    found = [each for each, _ in [*single, *pooled]]
    n_left_out = sum(pair.left_out.size for (pair, _), _ in single)
    return Compared(
        [*_adjusted(compared, family), *_adjusted(taken_together, family)],
        [*over_subtasks(found, how, generator), *over_benchmarks(found)],
        say_left_out("pair", n_left_out, sum(pair.n for (pair, _), _ in single)),
        [*incomplete(cells, pairs), *_reasons(each for each, _ in single), *_warnings(compared)],
        [pair.nothing_left for (pair, result), _ in single if not result],
    )


def _compared(
    pair: Pair, how: Settings, generator: np.random.Generator
) -> tuple[Found, CompareRow | None]:
    """Return the row of two methods in a cell, and what averages need of it."""
    result = pair.compared(how, generator)
    if not result:
        return (pair, None), None
    n_no_answer, answered = pair.n - pair.n_answered, replace(how, missing="dropped")
    complete = pair.compared(answered, generator) if n_no_answer else result
    row = CompareRow(
        **pair.names,
        n=result.n,
        n_no_answer=n_no_answer,
        n_unknown=pair.left_out.size,
        treatment_only=result.treatment_only,
        baseline_only=result.baseline_only,
        accuracy_baseline=100 * result.baseline,
        accuracy_treatment=100 * result.treatment,
        unanswered_baseline=percent(unanswered_share(pair.first)),
        unanswered_treatment=percent(unanswered_share(pair.second)),
        difference=100 * result.difference.value,
        difference_low=percent(result.difference.low),
        difference_high=percent(result.difference.high),
        p=result.p.value,
        p_exact=result.p_exact,
        p_holm=None,
        test=result.p.procedure,
        n_complete=pair.n_answered,
        difference_complete=100 * complete.difference.value if complete else None,
        p_complete=complete.p.value if complete else None,
        detectable=percent(_detectable(result)),
        note="; ".join(_notes(result, n_no_answer, how.missing)),
    )
    return (pair, result), row


def _detectable(result: Comparison) -> float | None:
    """Return the least difference that is found often enough."""
    differing = result.treatment_only + result.baseline_only
    if result.spread is None or not differing:
        return None
    if result.p_exact is not None:
        return mcnemar_detectable(result.n, differing / result.n)
    return t_detectable(result.n) * result.spread if result.spread else None


def _notes(result: Comparison, missing: int, treated: str) -> Iterator[str]:
    if missing:
        yield f"no answer: {missing}, " + ("counted as wrong" if treated == "wrong" else "left out")
    if result.difference.note:
        yield result.difference.note
    if result.p.note:
        yield result.p.note
    if result.p.standard_error:
        yield f"standard error of p {result.p.standard_error:.2g}"
    low, high = result.difference.low, result.difference.high
    if low is None or high is None:
        return
    alpha = round(1 - result.difference.level, 12)
    has_zero, is_small = low <= 0 <= high, result.p.value <= alpha
    if has_zero == is_small:  # they are computed in different ways
        where = "includes 0, but p is at most" if has_zero else "excludes 0, but p is above"
        yield f"interval and test disagree: the interval {where} {alpha:g}"


def _adjusted(rows: Sequence[CompareRow], family: Sequence[str]) -> Iterator[CompareRow]:
    """Yield rows with p-values adjusted within each family.

    Each rule has families of its own: two rules of the same outputs are not two experiments.
    """
    families: dict[tuple[str, ...], list[CompareRow]] = {}
    keys = [tuple(getattr(row, name) for name in ("rule", *family)) for row in rows]
    for key, row in zip(keys, rows, strict=True):
        families.setdefault(key, []).append(row)
    adjusted = {key: iter(holm([row.p for row in own])) for key, own in families.items()}
    for key, row in zip(keys, rows, strict=True):
        yield replace(row, p_holm=next(adjusted[key]))


def _reasons(found: Iterable[Found]) -> Iterator[str]:
    """Tell why pairs are left out where others are compared."""
    for pair, result in found:
        if result and pair.said:
            yield f"{pair.name}: {pair.said}"


def _warnings(rows: Iterable[CompareRow]) -> Iterator[str]:
    """Warn where methods differ in how often no answer was found."""
    for row in rows:
        first, second = row.unanswered_baseline, row.unanswered_treatment
        if first is not None and second is not None and abs(second - first) > _UNEVEN:
            named = f"{row.dataset}, {row.model}, {row.rule}, {row.treatment} − {row.baseline}"
            yield (
                f"Warning: {named}: no answer was found in {first:.1f} % of the complete outputs "
                f"of {row.baseline} and in {second:.1f} % of those of {row.treatment}; a part of "
                "the difference may come from how answers are found"
            )


# For people


def p_text(p: float | None, stars: bool = False) -> str:
    """Return a p-value with three digits; small ones with their power of ten, and with stars."""
    if p is None:
        return UNKNOWN
    text = f"{p:.3f}" if p >= 0.001 else f"{p:.1e}"
    return text + next((mark for limit, mark in _STARS if stars and p < limit), "")


def _columns(rows: Sequence[CompareRow | AverageRow]) -> dict[str, list[str]]:
    """Return what is shown of comparisons and of averages."""
    columns = {name: [getattr(row, name) for row in rows] for name in ("dataset", "model", "rule")}
    if len(set(columns["rule"])) == 1:
        del columns["rule"]
    return columns | {
        "methods": [f"{row.treatment} − {row.baseline}" for row in rows],
        "n": [cell(row.n) for row in rows],
        _ONLY: [
            f"{row.treatment_only}, {row.baseline_only}"
            for row in rows
            if isinstance(row, CompareRow)
        ],
        "baseline": [_one(row.accuracy_baseline) for row in rows],
        "treatment": [_one(row.accuracy_treatment) for row in rows],
        "difference": [_interval(row) for row in rows],
    }


def _print_compared(console: Console, compared: Compared, stars: bool) -> None:
    """Print the rows of a comparison, then its averages."""
    rows, columns = compared.rows, _columns(compared.rows)
    columns |= {
        "p": [p_text(row.p, stars) for row in rows],
        "p exact": [p_text(row.p_exact) for row in rows],
        "p Holm": [p_text(row.p_holm) for row in rows],
        "detectable": [_one(row.detectable) for row in rows],
    }
    if any(row.unanswered_baseline or row.unanswered_treatment for row in rows):
        shares = [(row.unanswered_baseline, row.unanswered_treatment) for row in rows]
        columns["not found"] = [f"{_one(first)}, {_one(second)}" for first, second in shares]
    if any(row.n_unknown for row in rows):
        columns["unknown"] = [cell(row.n_unknown) for row in rows]
    if any(row.n_no_answer for row in rows):
        columns["both answered"] = [_complete(row) for row in rows]
    _print(console, columns)
    if averages := compared.averages:
        console.print("Averages\n")
        named = {"average": [f"{row.average} ({row.parts})" for row in averages]}
        columns = named | _columns(averages)
        del columns[_ONLY]
        _print(console, columns)


def _print(console: Console, columns: dict[str, list[str]]) -> None:
    wrapping = frozenset({"model", "average", "both answered"})
    print_columns(console, columns, Layout(list(columns).index("n"), wrapping, _OPTIONAL))


def _complete(row: CompareRow) -> str:
    """Return what is found where both models gave an answer, unless both always did."""
    if not row.n_no_answer:
        return ""
    if row.difference_complete is None:
        return UNKNOWN
    return f"{row.n_complete:,}: {row.difference_complete:+.1f}, p {p_text(row.p_complete)}"


def _one(value: float | None) -> str:
    return UNKNOWN if value is None else f"{value:.1f}"


def _interval(row: CompareRow | AverageRow) -> str:
    if row.difference_low is None or row.difference_high is None:
        return f"{row.difference:+.1f} (no interval)"
    return f"{row.difference:+.1f} [{row.difference_low:.1f}, {row.difference_high:.1f}]"


_COUNTS = ("n", "treatment_only", "baseline_only")
_ESTIMATES = ("baseline", "treatment", "difference", "p", "p_holm")
_PAPER = ("dataset", "model", "methods", *_COUNTS, *_ESTIMATES)
PaperRow = make_dataclass("PaperRow", _PAPER)
"""What a table in a paper says of a comparison: what decides, in few digits."""


def _for_paper(rows: Sequence[CompareRow], stars: bool) -> list[Any]:
    columns = _columns(rows) | {name: [getattr(row, name) for row in rows] for name in _COUNTS}
    columns["p"] = [p_text(row.p, stars) for row in rows]
    columns["p_holm"] = [p_text(row.p_holm) for row in rows]
    return [PaperRow(*row) for row in zip(*(columns[name] for name in _PAPER), strict=True)]


# The command


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
        read_all(scores, rule, run),
        baseline,
        treatment,
        by,
        family,
        Settings(
            missing="dropped" if no_answer == "exclude" else "wrong",
            interval=interval,
            graded_test=graded_test,
            zeros=zeros,
            level=level,
            draws=draws,
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
        print_table=partial(_print_compared, compared=compared, stars=stars),
        for_paper=(_for_paper(compared.rows, stars), PaperRow),
    )
