"""`evalcore compare`: whether one method is better than another, on the same problems."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, make_dataclass, replace
from functools import partial
from itertools import chain, combinations, product
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import numpy as np
from numpy.random import Generator, default_rng

from evalcore.pairing import ALL, CELL, LEAST, NAMES, NOT_ANSWERED, find_pairs, left_out, to_table
from evalcore.scores import ScoreRow, read_all
from evalcore.statistics import Comparison, GradedTest, Settings, compare_pairs
from ngramscan.errors import InputError
from ngramscan.reading.row_files import GivenTables
from ngramscan.report import optional_target, refuse_other
from ngramscan.report.command import Option, Result, command
from ngramscan.report.layout import UNKNOWN, Layout, cell, print_columns
from ngramscan.report.options import save
from ngramscan.statistics.p_values import holm

if TYPE_CHECKING:
    import pandas as pd
    from rich.console import Console

_ONLY = "treatment_only,\nbaseline_only"
_RARE = ("not found", "both answered")
_OPTIONAL = ("p exact", "detectable", "p Holm", "dataset", "treatment", "baseline", "n", *_RARE)
"""Columns that a narrow terminal has no room for, the first to go first."""
_PAPER = [*CELL[:2], "methods", "n", "treatment_only", "baseline_only", "baseline", "treatment"]
_PAPER += ["difference", "p", "p Holm"]
PaperRow = make_dataclass("PaperRow", [name.replace(" Holm", "_holm") for name in _PAPER])
"""What a table in a paper says of a comparison: what decides, in few digits."""
Columns = Annotated[str | Sequence[str], Option(metavar="COLUMNS")]
Found = tuple[str, "pd.DataFrame", Comparison | None, "CompareRow | None"]
"""A name, pairs of answers, and what comparing them gave; None: no pair was left."""


@dataclass(frozen=True, slots=True)
class CompareRow:
    """Two methods on the same problems, in percent; differences are treatment minus baseline."""

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
    """Pairs in which both models gave an answer; what follows is of these alone."""
    difference_complete: float | None
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


def compare_methods(
    rows: Sequence[ScoreRow],
    baseline: str | None = None,
    treatments: Sequence[str] = (),
    by: Sequence[str] = CELL[:2],
    family: Sequence[str] = (),
    how: Settings | None = None,
) -> tuple[list[CompareRow], list[AverageRow], dict[str, Any]]:
    """Compare methods in pairs; return rows, averages, and what to say beside them.

    Without a baseline, all pairs; without treatments, all other methods.
    """
    for option, given, known in (("--by", by, CELL[:2]), ("--family", family, NAMES)):
        for name in given:
            refuse_other(option, name, known)
    how, table = how or Settings(), to_table(rows, by)
    methods = _pairs_of_methods([*table["method"].unique()], baseline, treatments)
    several = table.groupby(["dataset", "rule"])["model"].transform("nunique") > 1
    tables = table, table[several].assign(model=ALL)
    single, pooled = (find_pairs(each, methods) for each in tables)
    if not single:
        problem = "nothing to compare; two methods on the same problems were expected"
        raise InputError("scores", problem)
    generator = default_rng(how.seed)
    own, together = ([_compared(one, how, generator) for one in each] for each in (single, pooled))
    averages = [*_averages([*own, *together], how, generator)]
    levels = [(name, pairs["least"]) for name, pairs, _, _ in own]
    said = left_out("pair", levels, LEAST[how.no_answer])
    cells = table.groupby(CELL, sort=False)["method"].unique().items()
    wanted = product(dict.fromkeys(chain(*methods)), cells)
    missing = [f"{', '.join(cell)}: no {name}" for name, (cell, has) in wanted if name not in has]
    said["notices"] = [*missing, *said["notices"], *_uneven(own)]
    return _adjusted(own, family) + _adjusted(together, family), averages, said


def _pairs_of_methods(
    known: Sequence[str], baseline: str | None, treatments: Sequence[str]
) -> list[tuple[str, str]]:
    if baseline is None:
        return list(combinations(known, 2))
    names = {name.lower(): name for name in reversed(known)}
    for method in (*treatments, baseline):
        if method.lower() not in names:
            raise InputError(f"method {method}", f"not scored; there are {', '.join(known)}")
    first, *chosen = (names[method.lower()] for method in (baseline, *treatments))
    if first in chosen:
        raise InputError(f"--treatment {first}", "it is the baseline too")
    return [(first, method) for method in chosen or known if method != first]


def _compared(pairs: pd.DataFrame, how: Settings, generator: Generator) -> Found:
    names = [str(name) for name in pairs[NAMES].iloc[0]]
    name = f"{', '.join(names[:3])}, {names[4]} − {names[3]}"
    known = pairs[pairs["least"] >= NOT_ANSWERED]
    result = complete = _tested(pairs, how, generator)
    if not result:
        return name, pairs, None, None
    n_no_answer = int((known["least"] == NOT_ANSWERED).sum())
    if n_no_answer:
        complete = _tested(pairs, replace(how, no_answer="exclude"), generator)
    outputs = [known.drop_duplicates(f"place_{side}")[f"not_found_{side}"] for side in (1, 2)]
    difference, p = result.difference, result.p
    columns: list[Any] = [
        *(*names, result.n, n_no_answer, len(pairs) - len(known)),
        *(result.treatment_only, result.baseline_only, 100 * result.baseline),
        *(100 * result.treatment, *(_percent(found.mean()) for found in outputs)),
        *(100 * difference.value, _percent(difference.low), _percent(difference.high)),
        *(p.value, result.p_exact, None, p.procedure, len(known) - n_no_answer),
        *((100 * complete.difference.value, complete.p.value) if complete else (None, None)),
        *(_percent(result.detectable), "; ".join(_notes(result, n_no_answer, how.no_answer))),
    ]
    return name, pairs, result, CompareRow(*columns)


def _tested(pairs: pd.DataFrame, how: Settings, generator: Generator) -> Comparison | None:
    known = pairs[pairs["least"] >= NOT_ANSWERED]
    if not (known["least"] >= LEAST[how.no_answer]).any():
        return None
    return compare_pairs(known["value_1"], known["value_2"], generator, how, known["problem"])


def _percent(share: float | None) -> float | None:
    return 100 * float(share) if share is not None and math.isfinite(share) else None


def _notes(result: Comparison, n_no_answer: int, no_answer: str) -> Iterator[str]:
    if n_no_answer:
        treated = "left out" if no_answer == "exclude" else "counted as wrong"
        yield f"no answer: {n_no_answer}, {treated}"
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
    import pandas as pd

    rows, names = [row for *_, row in found if row], {"rule", *family}
    table = pd.DataFrame({name: [getattr(row, name) for row in rows] for name in {"p", *names}})
    adjusted = table.groupby([*names])["p"].transform(lambda p: holm([*p]))
    return [replace(row, p_holm=p) for row, p in zip(rows, adjusted, strict=True)]


def _uneven(found: Sequence[Found]) -> Iterator[str]:
    for name, _, _, row in found:
        first, second = (row.unanswered_baseline, row.unanswered_treatment) if row else (None, None)
        if row and first is not None and second is not None and abs(second - first) > 2:
            yield (
                f"Warning: {name}: no answer was found in {first:.1f} % of the complete outputs of "
                f"{row.baseline} and in {second:.1f} % of those of {row.treatment}; a part of the "
                "difference may come from how answers are found"
            )


def _averages(found: Sequence[Found], how: Settings, generator: Generator) -> Iterator[AverageRow]:
    """Weigh results of different problems, whose errors are independent (MOVER)."""
    groups: dict[tuple[str, ...], list[tuple[pd.DataFrame, Comparison | None]]] = defaultdict(list)
    for _, pairs, result, _ in found:
        names = [*pairs[NAMES].iloc[0]]
        for _, part in pairs.groupby("subtask", sort=False):
            tested = _tested(part, how, generator)
            groups["macro over subtasks", *names].append((part, tested))
        for average in ("micro", "macro over benchmarks"):
            groups[average, ALL, *names[1:]].append((pairs, result))
    for key, parts in sorted(groups.items(), key=lambda one: one[0][0] != "macro over subtasks"):
        results = [result for _, result in parts if result]
        if len(results) < 2:
            continue
        n_unknown = sum(int((pairs["least"] < NOT_ANSWERED).sum()) for pairs, _ in parts)
        sizes = np.array([one.n for one in results])
        weights = sizes / sizes.sum() if key[0] == "micro" else np.full(len(sizes), 1 / len(sizes))
        means = np.array([[one.baseline, one.treatment, one.difference.value] for one in results])
        limits = [[one.difference.low, one.difference.high] for one in results]
        arms = np.array(limits, dtype=float) - means[:, 2:]
        shares, (below, above) = weights @ means, np.sqrt(weights**2 @ arms**2)
        shares = [*shares, shares[2] - below, shares[2] + above]
        columns: list[Any] = [*key, len(results), int(sizes.sum()), n_unknown]
        yield AverageRow(*columns, *map(_percent, shares))


def p_text(p: float | None, stars: bool = False) -> str:
    """Return a p-value with three digits; small ones with their power of ten, and with stars."""
    if p is None:
        return UNKNOWN
    text = f"{p:.3f}" if p >= 0.001 else f"{p:.1e}"
    return text + "*" * sum(stars and p < limit for limit in (0.05, 0.01, 0.001))


def _one(value: float | None) -> str:
    return UNKNOWN if value is None else f"{value:.1f}"


def _shown(row: CompareRow | AverageRow, stars: bool = False) -> dict[str, str]:
    low, high = row.difference_low, row.difference_high
    interval = "(no interval)" if low is None or high is None else f"[{low:.1f}, {high:.1f}]"
    shown = {
        **{name: getattr(row, name) for name in CELL},
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


def _print(parts: Sequence[Sequence[dict[str, str]]], console: Console) -> None:
    for part in filter(None, parts):
        columns = {name: [row[name] for row in part] for name in part[0]}
        for name in ("rule", _ONLY, "unknown", *_RARE):
            cells = {*columns.get(name, ())}
            if (name == "rule" and len(cells) == 1) or not "".join(cells).strip("0., –"):
                columns.pop(name, None)
        if "average" in columns:
            console.print("Averages\n")
        wrapping = frozenset({"model", "average", "both answered"})
        print_columns(console, columns, Layout(list(columns).index("n"), wrapping, _OPTIONAL))


@command
def compare(
    scores: GivenTables,
    *,
    baseline: Annotated[str | None, Option(metavar="METHOD")] = None,
    treatment: Annotated[str | Sequence[str], Option(metavar="METHOD")] = (),
    all_pairs: bool = False,
    by: Columns = "dataset,model",
    rule: Annotated[str | Sequence[str], Option(metavar="NAME")] = (),
    run: Annotated[str | Sequence[str], Option(metavar="NAME")] = (),
    no_answer: Literal["wrong", "exclude"] = "wrong",
    interval: Literal["newcombe", "bootstrap"] = "newcombe",
    graded_test: GradedTest = "bootstrap-t",
    zeros: Literal["dropped", "pratt"] = "dropped",
    family: Columns = "",
    level: Annotated[float, Option(over=0, under=1)] = 0.95,
    draws: Annotated[int, Option(metavar="N", least=100)] = 10_000,
    seed: Annotated[int, Option(least=0)] = 1,
    stars: Annotated[bool, Option(is_shown=True)] = False,
    averages: Annotated[str | Path | None, Option(metavar="FILE", is_written=True)] = None,
) -> Result[CompareRow]:
    """Compare prompting methods in pairs, on the same problems.

    SCORES are files of rows of `evalcore score`, `judge` or `logs`. Right and wrong answers get
    McNemar's mid-p test (the exact one beside it) and Newcombe's interval; graded ones get a test
    and an interval by bootstrap-t; several models of one benchmark are also taken together, with
    problems as clusters. Percent, and percentage points.

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
        Random seed of sign flips and bootstrap draws.
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
    shown = [_shown(row, stars) for row in rows]
    cells = [asdict(row) | own | {"n": row.n} for row, own in zip(rows, shown, strict=True)]
    return Result(
        rows,
        CompareRow,
        **said,
        print_table=partial(_print, [shown, [_shown(row) for row in parts]]),
        for_paper=([PaperRow(*map(one.get, _PAPER)) for one in cells], PaperRow),
    )
