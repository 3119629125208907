"""`evalcore compare`: whether one method is better than another, on the same problems."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, combinations, product
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import numpy as np

from evalcore.pairing import CELL, LEAST, NAMES, NOT_ANSWERED, find_pairs, left_out, to_table
from evalcore.scores import ScoreRow, read_all
from evalcore.statistics import Comparison, GradedTest, Settings, compare_pairs
from ngramscan.errors import InputError
from ngramscan.reading.row_files import GivenTables
from ngramscan.reporting import optional_target, refuse_other
from ngramscan.reporting.charts.files import check_target, save_figure
from ngramscan.reporting.columns import ALL, first_of, for_paper, print_pooled, to_columns
from ngramscan.reporting.command import Option, Result, command
from ngramscan.reporting.layout import Columns, Layout, p_text, percent
from ngramscan.reporting.options import save
from ngramscan.statistics.p_values import disagreement, holm
from ngramscan.statistics.streams import stream

if TYPE_CHECKING:
    import pandas as pd

_OPTIONAL = ("both answered", "not found", "unknown", "detectable", "p exact")
_PAPER = ["dataset", "model", "methods", "n", "treatment only", "baseline only"]
_PAPER += ["baseline", "treatment", "difference", "p", "p Holm"]
_SHARES = ("accuracy_baseline", "accuracy_treatment", "detectable")
ColumnNames = Annotated[str | Sequence[str], Option(metavar="COLUMNS")]
Found = tuple[str, "pd.DataFrame", Comparison | None, "CompareRow | None"]
"""A name, pairs of answers, and the result of comparing them. None: no pair was left."""


@dataclass(frozen=True, slots=True)
class CompareRow:
    """Two methods on the same problems; accuracies, differences and their limits are fractions."""

    dataset: str
    model: str
    rule: str
    baseline: str
    treatment: str
    n: int
    """Pairs of answers that are compared. A missing answer counts as wrong unless excluded."""
    n_no_answer: int
    """Pairs in which a model gave no answer: it refused, was cut off, or wrote nothing."""
    n_unknown: int
    """Pairs left out because one result is unknown (not asked, not run, not judged, a crash)."""
    treatment_only: int
    """Pairs in which only the treatment is right; with graded answers, has the higher score."""
    baseline_only: int
    accuracy_baseline: float
    accuracy_treatment: float
    unanswered_baseline: float | None
    """Share of complete outputs in which no answer was found (they are wrong). None: unknown."""
    unanswered_treatment: float | None
    difference: float
    """Treatment minus baseline."""
    difference_low: float | None
    difference_high: float | None
    p: float | None
    p_exact: float | None
    """By the exact McNemar test, which is conservative; None: graded answers or several models."""
    p_holm: float | None
    """`p`, adjusted by Holm's method within the row's family of tests, never across rules."""
    test: str
    n_complete: int
    """Pairs with an answer from both; the next two columns describe only these."""
    difference_complete: float | None
    p_complete: float | None
    detectable: float | None
    """The smallest difference that is found with 80% power, given how much the answers vary."""
    note: str


@dataclass(frozen=True, slots=True)
class AverageRow:
    """Two methods averaged over several subtasks or benchmarks; shares are fractions."""

    average: str
    """`micro` weighs pairs equally, `macro over subtasks` or `benchmarks` weighs these equally."""
    dataset: str
    model: str
    rule: str
    baseline: str
    treatment: str
    parts: int
    """Number of subtasks or benchmarks that have pairs to compare."""
    n: int
    n_unknown: int
    """Pairs left out because one result is unknown, including those of parts without any pair."""
    accuracy_baseline: float
    accuracy_treatment: float
    difference: float
    difference_low: float | None
    difference_high: float | None


def compare_methods(
    rows: Sequence[ScoreRow],
    baseline: str | None = None,
    treatments: Sequence[str] = (),
    by: Sequence[str] = CELL[:2],
    family: Sequence[str] = (),
    how: Settings | None = None,
) -> tuple[list[CompareRow], list[AverageRow], dict[str, Any]]:
    """Compare methods in pairs; return rows, averages, and the messages that belong to them.

    Without a baseline, every method is compared with every other; without treatments, the baseline
    is compared with all others.
    """
    refuse_other("--by", by, CELL[:2])
    refuse_other("--family", family, NAMES)
    how, table = how or Settings(), to_table(rows, by)
    methods = _pairs_of_methods([*table["method"].unique()], baseline, treatments)
    several = table.groupby(["dataset", "rule"])["model"].transform("nunique") > 1
    tables = table, table[several].assign(model=ALL)
    cells: Any = [*table.groupby(CELL, sort=False)["method"].unique().items()]
    single, pooled = (find_pairs(each, methods) for each in tables)
    if not single:
        there = [f"{', '.join(cell)}: {', '.join(names)}" for cell, names in cells]
        problem = "nothing to compare: no benchmark, model and rule has two of the methods"
        raise InputError("scores", f"{problem}; there are {first_of(there)}")
    own, together = ([_compared(one, how) for one in each] for each in (single, pooled))
    averages = [*_averages([*own, *together], how)]
    levels = [(name, pairs["least"]) for name, pairs, _, _ in own]
    said = left_out("pair", levels, LEAST[how.no_answer])
    wanted = product(dict.fromkeys(chain(*methods)), cells)
    missing = [f"{', '.join(cell)}: no {name}" for name, (cell, has) in wanted if name not in has]
    said["notices"] = [*missing, *said["notices"], *_uneven(own)]
    return _adjusted(own, family) + _adjusted(together, family), averages, said


def _pairs_of_methods(
    known: Sequence[str], baseline: str | None, treatments: Sequence[str]
) -> list[tuple[str, str]]:
    if baseline is None:
        return list(combinations(known, 2))
    names, chosen = {name.lower(): name for name in reversed(known)}, []
    for option, given in (("--baseline", baseline), *(("--treatment", one) for one in treatments)):
        chosen.append(names.get(given.lower(), given))
        refuse_other(option, chosen[-1], known)
    if chosen[0] in chosen[1:]:
        raise InputError(f"--treatment {chosen[0]}", "this method is the baseline, too")
    return [(chosen[0], one) for one in chosen[1:] or known if one != chosen[0]]


def _compared(pairs: pd.DataFrame, how: Settings) -> Found:
    names = [str(name) for name in pairs[NAMES].iloc[0]]
    name = f"{', '.join(names[:3])}, {names[4]} − {names[3]}"
    known = pairs[pairs["least"] >= NOT_ANSWERED]
    result = complete = _tested(pairs, how)
    if not result:
        return name, pairs, None, None
    n_no_answer = int((known["least"] == NOT_ANSWERED).sum())
    if n_no_answer:
        complete = _tested(pairs, replace(how, no_answer="exclude"))
    outputs = (known.drop_duplicates(f"place_{side}")[f"not_found_{side}"] for side in (1, 2))
    unanswered = [found.mean() for found in outputs]
    difference, p = result.difference, result.p
    columns: list[Any] = [
        *(*names, result.n, n_no_answer, len(pairs) - len(known)),
        *(result.treatment_only, result.baseline_only, result.baseline, result.treatment),
        *(float(share) if np.isfinite(share) else None for share in unanswered),
        *(difference.value, difference.low, difference.high),
        *(p.value, result.p_exact, None, p.procedure, len(known) - n_no_answer),
        *((complete.difference.value, complete.p.value) if complete else (None, None)),
        *(result.detectable, "; ".join(_notes(result, n_no_answer, how.no_answer))),
    ]
    return name, pairs, result, CompareRow(*columns)


def _tested(pairs: pd.DataFrame, how: Settings, subtask: str = "") -> Comparison | None:
    known = pairs[pairs["least"] >= NOT_ANSWERED]
    if not (known["least"] >= LEAST[how.no_answer]).any():
        return None
    names = (*map(str, pairs[NAMES].iloc[0]), subtask, how.no_answer)
    generator = stream(how.seed, *names)
    return compare_pairs(known["value_1"], known["value_2"], generator, how, known["problem"])


def _notes(result: Comparison, n_no_answer: int, no_answer: str) -> Iterator[str]:
    if n_no_answer:
        treated = "left out" if no_answer == "exclude" else "counted as wrong"
        yield f"no answer: {n_no_answer}, {treated}"
    yield from filter(None, (result.difference.note, result.p.note))
    if result.p.standard_error:
        yield f"standard error of p {result.p.standard_error:.2g}"
    if told := disagreement(result.difference, result.p):
        yield told


def _adjusted(found: Sequence[Found], family: Sequence[str]) -> list[CompareRow]:
    """Adjust p within each family and rule: two rules for one output are not two experiments."""
    import pandas as pd

    rows, names = [row for *_, row in found if row], {"rule", *family}
    table = pd.DataFrame({name: [getattr(row, name) for row in rows] for name in {"p", *names}})
    adjusted = table.groupby([*names])["p"].transform(lambda p: holm([*p]))
    return [replace(row, p_holm=p) for row, p in zip(rows, adjusted, strict=True)]


def _uneven(found: Sequence[Found]) -> Iterator[str]:
    """Warn where answers of one method were found more often; the widest gap stands for all."""
    gaps = []
    for name, _, _, row in found:
        shares = (row.unanswered_baseline, row.unanswered_treatment) if row else (None,)
        if row and None not in shares:
            gaps.append((abs(np.subtract(*shares)), name, row, *map(percent, shares)))
    gaps = [gap for gap in gaps if round(gap[0], 9) > 0.02]  # 0.05 - 0.03 is more than 0.02
    if gaps:
        _, name, row, first, second = max(gaps, key=lambda gap: gap[0])
        more = f"; {len(gaps) - 1} more comparisons differ by over 2 points" * (len(gaps) > 1)
        yield (
            f"Warning: {name}: no answer was found in {first}% of the complete outputs of "
            f"{row.baseline} and in {second}% of those of {row.treatment}; part of the difference "
            f"may come from how answers are found{more}"
        )


def _averages(found: Sequence[Found], how: Settings) -> Iterator[AverageRow]:
    """Weigh results of different problems, whose errors are independent (MOVER)."""
    groups: dict[tuple[str, ...], list[tuple[Any, pd.DataFrame, Comparison | None]]]
    groups = defaultdict(list)
    for _, pairs, result, _ in found:
        names = [*pairs[NAMES].iloc[0]]
        for subtask, part in pairs.groupby("subtask"):
            tested = _tested(part, how, f"subtask {subtask}")
            groups["macro over subtasks", *names].append((subtask, part, tested))
        for average in ("micro", "macro over benchmarks"):
            groups[average, ALL, *names[1:]].append((names[0], pairs, result))
    for key, parts in sorted(groups.items(), key=lambda one: one[0][0] != "macro over subtasks"):
        # In the order of their names, so that the order of rows does not change the last digits.
        results = [result for _, _, result in sorted(parts, key=lambda one: one[0]) if result]
        if len(results) < 2:
            continue
        n_unknown = sum(int((pairs["least"] < NOT_ANSWERED).sum()) for _, pairs, _ in parts)
        sizes = np.array([one.n for one in results])
        weights = sizes / sizes.sum() if key[0] == "micro" else np.full(len(sizes), 1 / len(sizes))
        means = np.array([[one.baseline, one.treatment, one.difference.value] for one in results])
        limits = [[one.difference.low, one.difference.high] for one in results]
        arms = np.array(limits, dtype=float) - means[:, 2:]
        shares, (below, above) = weights @ means, np.sqrt(weights**2 @ arms**2)
        shares = [*shares, shares[2] - below, shares[2] + above]
        columns: list[Any] = [*key, len(results), int(sizes.sum()), n_unknown]
        finite = (float(share) if np.isfinite(share) else None for share in shares)
        yield AverageRow(*columns, *finite)


def difference_text(row: Any) -> str:
    """Return a row's difference of accuracies and its interval, in percentage points."""
    ends = row.difference_low, row.difference_high
    interval = "(no interval)" if None in ends else f"[{', '.join(map(percent, ends))}]"
    return f"{'+' * (row.difference >= 0)}{percent(row.difference)} {interval}"


def _columns(rows: Sequence[Any], stars: bool = False) -> Columns:
    columns = to_columns(rows, "dataset model rule")
    columns["methods"] = [f"{row.treatment} − {row.baseline}" for row in rows]
    columns |= to_columns(rows, "n")
    columns["difference"] = [difference_text(row) for row in rows]
    accuracies = "baseline=accuracy_baseline treatment=accuracy_treatment"
    if rows and isinstance(rows[0], AverageRow):
        columns = {"average": [f"{row.average} ({row.parts})" for row in rows]} | columns
        return columns | to_columns(rows, accuracies, _SHARES)
    columns["p"] = [p_text(row.p, stars) for row in rows]
    columns["p Holm"] = [p_text(row.p_holm) for row in rows]
    names = f"{accuracies} treatment_only baseline_only detectable unknown=n_unknown"
    columns |= to_columns(rows, names, _SHARES)
    columns["p exact"] = [p_text(row.p_exact) for row in rows]
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
    print_pooled(console, rows, partial(_columns, stars=stars), Layout(4, optional=_OPTIONAL))
    layout = Layout(5, frozenset({"average"}), title="Averages, with the number of parts")
    print_pooled(console, parts, _columns, layout)


@command
def compare(
    scores: GivenTables,
    *,
    baseline: Annotated[str | None, Option(metavar="METHOD")] = None,
    treatment: Annotated[str | Sequence[str], Option(metavar="METHOD")] = (),
    all_pairs: bool = False,
    by: ColumnNames = "dataset,model",
    rule: Annotated[str | Sequence[str], Option(metavar="NAME")] = (),
    run: Annotated[str | Sequence[str], Option(metavar="NAME")] = (),
    no_answer: Literal["wrong", "exclude"] = "wrong",
    interval: Literal["newcombe", "bootstrap"] = "newcombe",
    graded_test: GradedTest = "tilting",
    zeros: Literal["dropped", "pratt"] = "dropped",
    family: ColumnNames = "",
    level: Annotated[float, Option(over=0, under=1)] = 0.95,
    resamples: Annotated[int, Option(metavar="N", least=100)] = 10_000,
    seed: Annotated[int, Option(least=0)] = 1,
    stars: Annotated[bool, Option(is_shown=True)] = False,
    averages: Annotated[str | Path | None, Option(metavar="FILE", is_written=True)] = None,
    figure: Annotated[str | Path | None, Option(metavar="FILE", is_written=True)] = None,
) -> Result[CompareRow]:
    """Compare prompting methods in pairs, on the same problems.

    SCORES are files of rows of `evalcore score`, `judge` or `logs`. Right and wrong answers get
    McNemar's mid-p test, with the exact test beside it, and Newcombe's interval. Graded answers get
    a test and an interval by nonparametric tilting. Where a benchmark has several models, they are
    also compared together, with problems as clusters. Files have fractions; tables and figures have
    percentages and percentage points.

    Parameters
    ----------
    scores : str, Path or DataFrame, or several of them
        Score rows: files that `score`, `judge` or `logs` wrote, or what they returned.
    baseline : str, optional
        The method that the others are compared with; needed unless `all_pairs` is set.
    treatment : str or sequence of str
        Compare only these methods with the baseline. By default all others.
    all_pairs : bool
        Compare every method with every other.
    by : str or sequence of str
        Compare separately for each value of these columns; the others are pooled.
    rule : str or sequence of str
        Use only scores by these rules.
    run : str or sequence of str
        The run to use where a method has several: its name, part of it, or `latest`.
    no_answer : str
        How to count outputs that were refused, cut off or empty: as `wrong`, or `exclude` them.
    interval : str
        Interval for right and wrong answers of one model; `bootstrap` is bootstrap-t.
    graded_test : str
        Test for graded answers and for several answers to a problem; for the latter, `sign-flip`
        replaces `signed-rank`.
    zeros : str
        How the signed-rank test treats pairs that do not differ.
    family : str or sequence of str
        Adjust p-values separately for each value of these columns, and always for each rule.
    level : float
        Confidence level of the intervals.
    resamples : int
        Number of bootstrap samples and of random sign flips.
    seed : int
        Random seed of the bootstrap and the sign flips.
    stars : bool
        Mark p-values below 0.05, 0.01 and 0.001 with stars, in terminal and LaTeX tables.
    averages : str or Path, optional
        Write averages over subtasks and benchmarks to this file.
    figure : str or Path, optional
        Draw the differences and their intervals as a forest plot: .svg or .png.

    Returns
    -------
    DataFrame
        One row per benchmark, model, rule and pair of methods, then those of all models together.
        If some have nothing to compare, an IncompleteError holds the other rows.

    Examples
    --------
    $ evalcore compare scores.jsonl --baseline cot --treatment f-1
    $ evalcore compare scores.jsonl --all-pairs --figure forest.svg
    """
    target, picture = optional_target(averages), Path(figure) if figure else None
    check_target(picture)
    chosen = read_all(scores, rule, run)
    if (baseline is None) != all_pairs:
        there = ", ".join(dict.fromkeys(row.method for row in chosen))
        problem = "either a baseline or --all-pairs was expected; the methods are"
        raise InputError("--baseline", f"{problem} {there}")
    how = Settings(no_answer, interval, graded_test, zeros, level, resamples, seed)
    rows, parts, said = compare_methods(chosen, baseline, treatment, by, family, how)
    is_paper = parts and target and target.format == "latex"
    means: tuple[list[Any], type] = for_paper(_columns(parts)) if is_paper else (parts, AverageRow)
    save(*means, target)
    if picture and rows:
        save_figure(picture, rows)
    shown = _columns(rows, stars)
    printed = partial(_print, rows=rows, parts=parts, stars=stars)
    paper = for_paper({name: shown[name] for name in _PAPER})
    return Result(rows, CompareRow, print_table=printed, for_paper=paper, **said)
