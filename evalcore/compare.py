"""`evalcore compare`: whether one method is better than another, on the same problems."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, make_dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import numpy as np

from evalcore.left_out import say_left_out
from evalcore.pairing import ALL, NAMES, Pair, find_pairs, method_pairs, to_table
from evalcore.scores import ScoreRow, read_all
from evalcore.statistics import Comparison, GradedTest, Settings, mcnemar_detectable, t_detectable
from ngramscan.errors import InputError
from ngramscan.output import optional_target
from ngramscan.output.command import Option, Result, command
from ngramscan.output.layout import UNKNOWN, Layout, cell, print_columns
from ngramscan.output.options import save
from ngramscan.output.row_files import GivenTables
from ngramscan.statistics.p_values import holm

if TYPE_CHECKING:
    from rich.console import Console

_ONLY = "treatment_only,\nbaseline_only"
_OPTIONAL = (
    *("p exact", "detectable", "p Holm", "dataset", "treatment", "baseline", "n", "not found"),
    "both answered",
)
"""Columns that a narrow terminal has no room for, the first to go first."""
_NOTHING = {"", "0", "0.0, 0.0", "0.0, –", "–, 0.0", "–, –"}
"""A column is not shown where all its cells are among these."""
_TREATED = {"wrong": "counted as wrong", "exclude": "left out"}
_UNEVEN = 2.0
"""Percentage points: warn where the shares of outputs without an answer differ by more."""


@dataclass(frozen=True, slots=True)
class CompareRow:
    """Two methods on the same problems. Accuracies in percent, differences in percentage points."""

    dataset: str
    model: str
    rule: str
    baseline: str
    treatment: str
    n: int
    """Pairs of answers that are compared: no answer is a wrong one, unless it is excluded."""
    n_no_answer: int
    """Pairs in which a model gave no answer: it refused, was cut off, or wrote nothing."""
    n_unknown: int
    """Pairs left out: of one side nothing is known (not asked, run or judged, or a crash)."""
    treatment_only: int
    """Pairs in which the treatment has more: where answers are right or wrong, only it is right."""
    baseline_only: int
    accuracy_baseline: float
    accuracy_treatment: float
    unanswered_baseline: float | None
    """Percentage of complete outputs in which no answer was found: wrong ones. None: not known."""
    unanswered_treatment: float | None
    difference: float
    """Treatment minus baseline."""
    difference_low: float | None
    difference_high: float | None
    p: float | None
    p_exact: float | None
    """By the exact McNemar test, which errs on the safe side; None: graded, or several models."""
    p_holm: float | None
    """`p`, adjusted within the family of tests that the row belongs to: never across rules."""
    test: str
    n_complete: int
    """Pairs in which both models gave an answer, right or wrong."""
    difference_complete: float | None
    """The difference on these alone."""
    p_complete: float | None
    detectable: float | None
    """Least difference found with a probability of 80 %, at the discordance or spread seen."""
    note: str


@dataclass(frozen=True, slots=True)
class AverageRow:
    """Two methods on several subtasks or benchmarks, in percent; the average says which."""

    average: str
    """`micro`: each pair once; `macro over subtasks` or `benchmarks`: each of these once."""
    dataset: str
    model: str
    rule: str
    baseline: str
    treatment: str
    parts: int
    """Subtasks or benchmarks of which pairs are left."""
    n: int
    n_unknown: int
    """Pairs that are left out, also those of other parts, since nothing is known of one side."""
    accuracy_baseline: float
    accuracy_treatment: float
    difference: float
    difference_low: float | None
    difference_high: float | None


Found = tuple[Pair, Comparison | None, CompareRow | None]
"""Two methods in a cell, and what comparing them gave; None: no pair was left."""


def compare_methods(
    rows: Sequence[ScoreRow],
    baseline: str | None = None,
    treatments: Sequence[str] = (),
    by: Sequence[str] = ("dataset", "model"),
    family: Sequence[str] = (),
    how: Settings | None = None,
) -> tuple[list[CompareRow], list[AverageRow], dict[str, Any]]:
    """Compare methods in pairs; return rows, averages, and what to say beside them.

    Without a baseline, all pairs; without treatments, all other methods. Raise an InputError where
    a method is not there, a row is there twice, or nothing can be compared.
    """
    for name in family:
        if name not in NAMES:
            raise InputError(f"--family {name}", f"one of {', '.join(NAMES)} was expected")
    how, table = how or Settings(), to_table(rows, by)
    methods = method_pairs([*table["method"].unique()], baseline, treatments)
    several = table.groupby(["dataset", "rule"])["model"].transform("nunique") > 1
    single, missing = find_pairs(table, methods)
    if not single:
        problem = "nothing to compare; two methods on the same problems were expected"
        raise InputError("scores", problem)
    generator = np.random.default_rng(how.seed)
    pooled, _ = find_pairs(table[several].assign(model=ALL), methods)
    found = [_compared(pair, how, generator) for pair in (*single, *pooled)]
    own, together = found[: len(single)], found[len(single) :]
    averages = [*_averages(found, how, generator)]
    nothing = [pair for pair, _, row in own if not row]
    n_left_out = sum(len(pair.left_out) for pair in single)
    said = {
        "heading": say_left_out("pair", n_left_out, sum(len(pair.answers) for pair in single)),
        "notices": [*missing, *_notices(own)],
        "failures": [f"{pair.name}: nothing to compare; {pair.reasons(True)}" for pair in nothing],
    }
    return _adjusted(own, family) + _adjusted(together, family), averages, said


def _compared(pair: Pair, how: Settings, generator: np.random.Generator) -> Found:
    result = complete = pair.compared(how, generator)
    n_no_answer = pair.n_no_answer
    if not result:
        return pair, None, None
    if n_no_answer:
        complete = pair.compared(replace(how, no_answer="exclude"), generator)
    row = CompareRow(
        **pair.names,
        n=result.n,
        n_no_answer=n_no_answer,
        n_unknown=len(pair.left_out),
        treatment_only=result.treatment_only,
        baseline_only=result.baseline_only,
        accuracy_baseline=100 * result.baseline,
        accuracy_treatment=100 * result.treatment,
        unanswered_baseline=_percent(pair.unanswered("1")),
        unanswered_treatment=_percent(pair.unanswered("2")),
        difference=100 * result.difference.value,
        difference_low=_percent(result.difference.low),
        difference_high=_percent(result.difference.high),
        p=result.p.value,
        p_exact=result.p_exact,
        p_holm=None,
        test=result.p.procedure,
        n_complete=len(pair.answers) - n_no_answer,
        difference_complete=100 * complete.difference.value if complete else None,
        p_complete=complete.p.value if complete else None,
        detectable=_percent(_detectable(result)),
        note="; ".join(_notes(result, n_no_answer, how.no_answer)),
    )
    return pair, result, row


def _percent(share: float | None) -> float | None:
    return None if share is None or math.isnan(share) else 100 * share


def _detectable(result: Comparison) -> float | None:
    """Return the least difference that is found often enough."""
    differing = result.treatment_only + result.baseline_only
    if result.p_exact is not None and differing:
        return mcnemar_detectable(result.n, differing / result.n)
    return t_detectable(result.n) * result.spread if result.spread and differing else None


def _notes(result: Comparison, n_no_answer: int, no_answer: str) -> Iterator[str]:
    if n_no_answer:
        yield f"no answer: {n_no_answer}, " + _TREATED[no_answer]
    yield from filter(None, (result.difference.note, result.p.note))
    if result.p.standard_error:
        yield f"standard error of p {result.p.standard_error:.2g}"
    low, high, alpha = result.difference.low, result.difference.high, 1 - result.difference.level
    is_small = result.p.value <= round(alpha, 12)
    # Interval and test are computed in different ways.
    if low is not None and high is not None and (low <= 0 <= high) == is_small:
        where = "includes 0, but p is at most" if is_small else "excludes 0, but p is above"
        yield f"interval and test disagree: the interval {where} {alpha:g}"


def _adjusted(found: Sequence[Found], family: Sequence[str]) -> list[CompareRow]:
    """Adjust p within each family and rule: two rules of one output are not two experiments."""
    rows = [row for _, _, row in found if row]
    keys = [tuple(getattr(row, name) for name in ("rule", *family)) for row in rows]
    adjusted = {
        key: iter(holm([row.p for row, own in zip(rows, keys, strict=True) if own == key]))
        for key in set(keys)
    }
    return [replace(row, p_holm=next(adjusted[key])) for row, key in zip(rows, keys, strict=True)]


def _notices(found: Sequence[Found]) -> Iterator[str]:
    """Yield why pairs are left out, then where methods differ in how often they gave no answer."""
    for pair, _, row in found:
        if row and (why := pair.reasons()):
            yield f"{pair.name}: {why}"
    for pair, _, row in found:
        first, second = (row.unanswered_baseline, row.unanswered_treatment) if row else (None, None)
        if first is not None and second is not None and abs(second - first) > _UNEVEN:
            yield (
                f"Warning: {pair.name}: no answer was found in {first:.1f} % of the complete "
                f"outputs of {pair.names['baseline']} and in {second:.1f} % of those of "
                f"{pair.names['treatment']}; a part of the difference may come from how answers "
                "are found"
            )


# Averages


def _averages(
    found: Sequence[Found], how: Settings, generator: np.random.Generator
) -> Iterator[AverageRow]:
    """Yield averages over the subtasks of each pair, then over the benchmarks of each model."""
    for pair, _, _ in found:
        parts = pair.answers.groupby("subtask", sort=False)
        results = [pair._replace(answers=part).compared(how, generator) for _, part in parts]
        n_unknown = int(pair.left_out["subtask"].count())
        yield from _average("macro over subtasks", pair.names, results, n_unknown)
    groups: dict[tuple[str, ...], list[Found]] = {}
    for one in found:
        groups.setdefault(tuple(one[0].names.values())[1:], []).append(one)
    for group in groups.values():
        names = group[0][0].names | {"dataset": ALL}
        n_unknown = sum(len(pair.left_out) for pair, _, _ in group)
        for average in ("micro", "macro over benchmarks"):
            yield from _average(average, names, [result for _, result, _ in group], n_unknown)


def _average(
    average: str, names: dict[str, Any], parts: Sequence[Comparison | None], n_unknown: int
) -> Iterator[AverageRow]:
    """Weigh results of different problems, whose errors are independent (MOVER)."""
    results = [result for result in parts if result]
    if len(results) < 2:
        return
    sizes = np.array([result.n for result in results])
    weights = sizes / sizes.sum() if average == "micro" else np.full(sizes.size, 1 / sizes.size)
    means = np.array([[one.baseline, one.treatment, one.difference.value] for one in results])
    limits = np.array([[one.difference.low, one.difference.high] for one in results], dtype=float)
    baseline, treatment, difference = (weights @ means).tolist()
    below, above = np.sqrt(weights**2 @ (limits - means[:, 2:]) ** 2).tolist()
    shares = [baseline, treatment, difference, difference - below, difference + above]
    row: list[Any] = [average, *names.values(), len(results), int(sizes.sum()), n_unknown]
    yield AverageRow(*row, *map(_percent, shares))


# For people


def p_text(p: float | None, stars: bool = False) -> str:
    """Return a p-value with three digits; small ones with their power of ten, and with stars."""
    if p is None:
        return UNKNOWN
    text = f"{p:.3f}" if p >= 0.001 else f"{p:.1e}"
    return text + "*" * sum(stars and p < limit for limit in (0.05, 0.01, 0.001))


def _one(value: float | None) -> str:
    return UNKNOWN if value is None else f"{value:.1f}"


def _shown(row: CompareRow | AverageRow, stars: bool = False) -> dict[str, str]:
    """Return what tables show of a row, by column."""
    low, high = row.difference_low, row.difference_high
    interval = "(no interval)" if low is None or high is None else f"[{low:.1f}, {high:.1f}]"
    shown = {
        **{name: getattr(row, name) for name in NAMES[:3]},
        "methods": f"{row.treatment} − {row.baseline}",
        "n": cell(row.n),
        _ONLY: "",
        "baseline": _one(row.accuracy_baseline),
        "treatment": _one(row.accuracy_treatment),
        "difference": f"{row.difference:+.1f} {interval}",
    }
    if isinstance(row, AverageRow):
        return {"average": f"{row.average} ({row.parts})"} | shown
    gap, p = row.difference_complete, p_text(row.p_complete)
    complete = UNKNOWN if gap is None else f"{row.n_complete:,}: {gap:+.1f}, p {p}"
    return shown | {
        _ONLY: f"{row.treatment_only}, {row.baseline_only}",
        "p": p_text(row.p, stars),
        "p exact": p_text(row.p_exact),
        "p Holm": p_text(row.p_holm),
        "detectable": _one(row.detectable),
        "not found": f"{_one(row.unanswered_baseline)}, {_one(row.unanswered_treatment)}",
        "unknown": cell(row.n_unknown),
        "both answered": complete if row.n_no_answer else "",
    }


def _print_compared(
    console: Console, rows: Sequence[CompareRow], averages: Sequence[AverageRow], stars: bool
) -> None:
    for part in ([_shown(row, stars) for row in rows], [_shown(row) for row in averages]):
        columns = {name: [row[name] for row in part] for name in (part or [{}])[0]}
        for name, cells in list(columns.items()):
            says_nothing = name not in NAMES and {*cells} <= _NOTHING
            if says_nothing or (name == "rule" and len({*cells}) == 1):
                del columns[name]
        if "average" in columns:
            console.print("Averages\n")
        if columns:
            wrapping = frozenset({"model", "average", "both answered"})
            print_columns(console, columns, Layout(list(columns).index("n"), wrapping, _OPTIONAL))


_COUNTS = ("n", "treatment_only", "baseline_only")
_PAPER = ("dataset", "model", "methods", *_COUNTS, *NAMES[3:], "difference", "p", "p_holm")
PaperRow = make_dataclass("PaperRow", _PAPER)
"""What a table in a paper says of a comparison: what decides, in few digits."""


def _for_paper(row: CompareRow, stars: bool) -> Any:
    shown = _shown(row, stars) | {"p_holm": p_text(row.p_holm)}
    return PaperRow(*(getattr(row, name) if name in _COUNTS else shown[name] for name in _PAPER))


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
        Columns whose values are compared on their own; what is not named is put together.
    rule : str or sequence of str
        Only scores by these rules.
    run : str or sequence of str
        The runs to take of methods that have several: names, parts of them, or `latest`.
    no_answer : str
        What an output counts as that was refused, cut off or empty: `wrong`, or `exclude`d.
    interval : str
        Interval of right and wrong answers of one model; all others take the bootstrap.
    graded_test : str
        Test of graded answers. Several models together take `sign-flip` for `signed-rank`.
    zeros : str
        What the signed-rank test does with pairs that do not differ.
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
        Some cells have nothing that could be compared; the other rows are in it.

    Examples
    --------
    $ evalcore compare scores.jsonl --baseline cot --treatment f-1
    $ evalcore compare scores.jsonl --all-pairs --format latex
    """
    if (baseline is None) != all_pairs:
        raise InputError("--baseline", "either a baseline or --all-pairs was expected")
    target = optional_target(averages)
    how = Settings(no_answer, interval, graded_test, zeros, level, draws, seed)
    chosen = read_all(scores, rule, run)
    rows, parts, said = compare_methods(chosen, baseline, treatment, by, family, how)
    save(parts, AverageRow, target)
    return Result(
        rows,
        CompareRow,
        **said,
        print_table=partial(_print_compared, rows=rows, averages=parts, stars=stars),
        for_paper=([_for_paper(row, stars) for row in rows], PaperRow),
    )
