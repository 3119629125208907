"""`evalcore flips`, `complementarity` and `outcomes`: which methods solve which problems.

A problem counts where something is known of the answers by all methods; the others are counted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple

from evalcore.left_out import reasons_for_left_out, say_left_out
from evalcore.scores import UNKNOWN, ScoreRow, read_chosen
from ngramscan.errors import InputError
from ngramscan.output import optional_target
from ngramscan.output.command import Option, Result, command
from ngramscan.output.layout import print_rows
from ngramscan.output.options import save
from ngramscan.output.row_files import GivenTables
from ngramscan.statistics.proportions import mcnemar, wilson

if TYPE_CHECKING:
    from rich.console import Console

ALL = "all"
_CLUSTERED = "no interval: answers of several models to one problem are not independent"
_NO_CHOICE = "no selection accuracy: all methods solve, or no baseline does, each problem"
_NOT_ASKED, _UNKNOWN, _NO_ANSWER, _WRONG, _RIGHT = range(5)
"""What is known of an answer; the least of a problem's says whether the problem counts."""
Levels = dict[tuple[str, str, str], dict[str, dict[str, int]]]
"""By benchmark, model and rule; by method; by problem."""


@dataclass(frozen=True, slots=True)
class FlipRow:
    """How many problems a treatment turns from wrong to right, and the reverse."""

    dataset: str
    model: str
    rule: str
    baseline: str
    treatment: str
    n: int
    n_no_answer: int
    """Problems with an answer that was refused, cut off or empty: wrong, or excluded from `n`."""
    n_unknown: int
    """Problems that are left out of `n`, since nothing is known of one of the answers."""
    treatment_only: int
    baseline_only: int
    both: int
    neither: int
    net: int
    """`treatment_only` - `baseline_only`."""


@dataclass(frozen=True, slots=True)
class ComplementRow:
    """How far two methods solve different problems; counts are as in `flips`."""

    dataset: str
    model: str
    rule: str
    baseline: str
    treatment: str
    n: int
    n_no_answer: int
    n_unknown: int
    accuracy_baseline: float
    """In percent, as all shares of problems."""
    accuracy_treatment: float
    treatment_only: int
    baseline_only: int
    union: float
    """Solved by at least one, which an oracle that chooses between the two reaches."""
    disjoint: float
    """Solved by exactly one."""


@dataclass(frozen=True, slots=True)
class OutcomeRow:
    """How an adaptive method does where its baselines do well or not.

    `n` to `n_unknown` are as in `flips`; `all_fail` to `only_adaptive` are a partition of `n`.
    """

    dataset: str
    model: str
    """`all`: the problems of all models together."""
    rule: str
    adaptive: str
    baselines: str
    n: int
    n_no_answer: int
    n_unknown: int
    all_fail: int
    all_solve: int
    """The adaptive method and all baselines."""
    adaptive_right: int
    """The adaptive method and some baselines, but not all."""
    adaptive_wrong: int
    """Some or all baselines, but not the adaptive method."""
    only_adaptive: int
    all_baselines_but_adaptive: int
    """Those of `adaptive_wrong` that all baselines solve: no choice between them was needed."""
    accuracy: float
    """Accuracy of the adaptive method; in percent, as all that follow."""
    upper_bound: float
    """Problems that at least one baseline solves."""
    upper_bound_with_adaptive: float
    """Problems that at least one method solves, the adaptive one among them."""
    selection_accuracy: float | None
    """`adaptive_right` of `adaptive_right + adaptive_wrong`: of problems that a baseline solves."""
    selection_low: float | None
    """Limit of the 95 % Wilson interval; None: there is none, and the note says why."""
    selection_high: float | None
    note: str


@dataclass(frozen=True, slots=True)
class WinRow:
    """How often a method wins against a baseline, over benchmarks."""

    model: str
    """`all`: all models together."""
    baseline: str
    treatment: str
    cells: int
    """Pairs of a benchmark and a model."""
    wins: int
    """More problems solved."""
    ties: int
    losses: int
    wins_by_test: int
    """More solved, and McNemar's exact p below `alpha`, not corrected for the number of cells."""
    ties_by_test: int
    losses_by_test: int
    alpha: float


class Cell(NamedTuple):
    """What one model, or all, made of one benchmark, or all."""

    dataset: str
    model: str
    rule: str
    answers: Sequence[Sequence[int]]
    """By problem and method, one of the levels above."""
    lowest: int
    """A problem counts where no answer is below this level."""

    @property
    def counts(self) -> tuple[int, int, int]:
        """Return the columns `n`, `n_no_answer` and `n_unknown`."""
        least = [min(row) for row in self.answers]
        n_unknown = sum(level < _NO_ANSWER for level in least)
        return sum(level >= self.lowest for level in least), least.count(_NO_ANSWER), n_unknown

    def kinds(self, *places: int) -> Counter[tuple[bool, ...]]:
        """Return how many of the problems that count were solved by which of some methods."""
        rows = [[row[place] for place in places] for row in self.answers]
        return Counter(tuple(a == _RIGHT for a in row) for row in rows if min(row) >= self.lowest)


def _levels(
    rows: Sequence[ScoreRow], methods: Sequence[str], epoch: int | None, right_from: float | None
) -> Levels:
    """Return what is known of the answers."""
    if len(set(methods)) < len(methods):
        raise InputError(", ".join(methods), "a method is named twice")
    found: Levels = {}
    for row in rows:
        own = found.setdefault((row.dataset, row.model, row.rule), {})
        # The only answer to a problem is always meant.
        if row.method not in methods or (epoch is not None and row.epoch not in {None, epoch}):
            continue
        place = f"{row.dataset}, {row.model}, {row.method}, {row.id}"
        if row.id in own.setdefault(row.method, {}):
            raise InputError(place, "several answers to one problem; --epoch says which is meant")
        if right_from is None and row.value not in {None, 0.0, 1.0}:
            problem = f"value {row.value:g} is neither right nor wrong"
            raise InputError(place, f"{problem}; --right-from says what is right")
        level = _UNKNOWN if row.status == UNKNOWN else _NO_ANSWER
        if row.value is not None:
            level = _RIGHT if row.value >= (right_from or 1) else _WRONG
        own[row.method][row.id] = level
    if not any(own.keys() == {*methods} for own in found.values()):
        there = ", ".join(dict.fromkeys(row.method for row in rows))
        problem = f"no model has rows of all of them; methods there: {there}"
        raise InputError(", ".join(methods), problem)
    return found


def _find_cells(
    found: Levels, methods: Sequence[str], no_answer: str
) -> tuple[list[Cell], dict[str, Any]]:
    """Return the cells in which methods can be compared, and what to say of the others."""
    cells, absences, notices, failures, totals = [], [], [], [], Counter[int]()
    for key, own in found.items():
        if absent := [method for method in methods if method not in own]:
            absences.append(f"{key[0]}, {key[1]}: left out, no rows of {', '.join(absent)}")
            continue
        ids = dict.fromkeys(chain(*own.values()))
        answers = [[own[method].get(id_, _NOT_ASKED) for method in methods] for id_ in ids]
        cell = Cell(*key, answers, _WRONG if no_answer == "exclude" else _NO_ANSWER)
        least = Counter(map(min, answers))
        totals += least
        reasons = reasons_for_left_out("problem", least[_UNKNOWN], least[_NOT_ASKED])
        if max(least) >= cell.lowest:
            cells.append(cell)
            notices += [f"{', '.join(key)}: {reasons}"] * bool(reasons)
        else:
            excluded = f"{least[_NO_ANSWER]:,} without an answer left out" * (_NO_ANSWER in least)
            why = ", ".join(filter(None, (reasons, excluded)))
            failures.append(f"{', '.join((*key, *methods))}: nothing to compare; {why}")
    n_left_out = totals[_UNKNOWN] + totals[_NOT_ASKED]
    heading = say_left_out("problem", n_left_out, totals.total() - n_left_out)
    return cells, {"heading": heading, "notices": absences + notices, "failures": failures}


def _by(cells: Sequence[Cell], name: str) -> list[list[Cell]]:
    values = dict.fromkeys(getattr(cell, name) for cell in cells)
    return [[cell for cell in cells if getattr(cell, name) == value] for value in values]


def _pooled(cells: Sequence[Cell], **names: Any) -> list[Cell]:
    """Return what several models, or benchmarks, made together; nothing of one."""
    rules = ", ".join(dict.fromkeys(cell.rule for cell in cells))
    answers = [row for cell in cells for row in cell.answers]
    return [cells[0]._replace(rule=rules, answers=answers, **names)] * (len(cells) > 1)


def _flips(cell: Cell, methods: Sequence[str]) -> FlipRow:
    kinds = cell.kinds(0, 1)
    gained, lost = kinds[False, True], kinds[True, False]
    counts = gained, lost, kinds[True, True], kinds[False, False]
    columns: list[Any] = [*cell[:3], *methods, *cell.counts, *counts, gained - lost]
    return FlipRow(*columns)


def _complement(cell: Cell, methods: Sequence[str]) -> ComplementRow:
    kinds = cell.kinds(0, 1)
    gained, lost, both = kinds[False, True], kinds[True, False], kinds[True, True]
    solved = both + lost, both + gained, both + lost + gained, lost + gained
    first, second, union, disjoint = (100 * count / kinds.total() for count in solved)
    shares = first, second, gained, lost, union, disjoint
    columns: list[Any] = [*cell[:3], *methods, *cell.counts, *shares]
    return ComplementRow(*columns)


def _outcomes(cell: Cell, methods: Sequence[str]) -> OutcomeRow:
    kinds: Counter[tuple[bool, ...]] = Counter()
    for (adaptive, *baselines), count in cell.kinds(*range(len(methods))).items():
        kinds[adaptive, any(baselines), all(baselines)] += count
    all_fail, all_solve = kinds[False, False, False], kinds[True, True, True]
    right, lost = kinds[True, True, False], kinds[False, True, True]
    wrong, alone = kinds[False, True, False] + lost, kinds[True, False, False]
    n, choices = kinds.total(), right + wrong
    solved = all_solve + right + alone, n - all_fail - alone, n - all_fail
    selection: list[Any] = [None, None, None, _NO_CHOICE]
    if choices:
        share = wilson(right, choices)
        selection = [*(100 * (one or 0.0) for one in (share.value, share.low, share.high)), ""]
    if choices and cell.model == ALL:
        selection[1:] = None, None, _CLUSTERED
    columns: list[Any] = [
        *(*cell[:3], methods[0], ", ".join(methods[1:]), *cell.counts),
        *(all_fail, all_solve, right, wrong, alone, lost),
        *(100 * count / n for count in solved),
        *selection,
    ]
    return OutcomeRow(*columns)


def _wins(cells: Sequence[Cell], methods: Sequence[str], alpha: float) -> Iterator[WinRow]:
    """Yield how often the first method wins against each of the others."""
    model = cells[0].model if len(_by(cells, "model")) == 1 else ALL
    for place, baseline in enumerate(methods[1:], 1):
        signs, tested = [], []
        for cell in cells:
            kinds = cell.kinds(place, 0)
            lost, gained = kinds[True, False], kinds[False, True]
            signs.append((gained > lost) - (gained < lost))
            tested.append(signs[-1] if mcnemar(lost, gained) < alpha else 0)
        counts = [found.count(sign) for found in (signs, tested) for sign in (1, 0, -1)]
        columns: list[Any] = [model, baseline, methods[0], len(cells), *counts, alpha]
        yield WinRow(*columns)


def _result(
    rows: Sequence[Any], row_type: type, said: dict[str, Any], won: Sequence[WinRow] = ()
) -> Result:
    def print_table(console: Console) -> None:
        for shown, its_type in ((rows, row_type), (won, WinRow)):
            if shown:
                print_rows(console, shown, its_type)

    return Result(rows, row_type, print_table=print_table, **said)


Names = Annotated[str | Sequence[str], Option(metavar="NAME")]
Epoch = Annotated[int | None, Option(metavar="N")]
RightFrom = Annotated[float | None, Option(metavar="VALUE", over=0, most=1)]
NoAnswer = Literal["wrong", "exclude"]


@command
def flips(
    scores: GivenTables,
    *,
    baseline: Annotated[str, Option(metavar="METHOD")],
    treatment: Annotated[str, Option(metavar="METHOD")],
    rule: Names = (),
    run: Names = (),
    epoch: Epoch = None,
    right_from: RightFrom = None,
    no_answer: NoAnswer = "wrong",
) -> Result:
    """Count the problems that a treatment turns from wrong to right, and the reverse.

    Parameters
    ----------
    scores : see compare
    baseline : str
        The method that the treatment is compared with.
    treatment : str
        The method that is compared.
    rule : str or sequence of str
        The rules whose values are taken, one per benchmark; needed where several rules scored.
    run : see compare
    epoch : int, optional
        Which of repeated answers to take; needed where a problem has several.
    right_from : float, optional
        The least value of a right answer; needed where there are others than 0 and 1.
    no_answer : see compare

    Returns
    -------
    DataFrame
        One row per benchmark and model, and one for all benchmarks of a model.

    Raises
    ------
    InputError
        A file or an option is wrong.
    IncompleteError
        Of some cells nothing is known that could be compared; the other rows are in it.

    Examples
    --------
    $ evalcore flips scores.jsonl --baseline cot --treatment f-1
    $ evalcore flips scores.jsonl --baseline cot --treatment f-1 --no-answer exclude
    """
    methods = [baseline, treatment]
    found = _levels(read_chosen(scores, rule, run), methods, epoch, right_from)
    cells, said = _find_cells(found, methods, no_answer)
    cells += [one for own in _by(cells, "model") for one in _pooled(own, dataset=ALL)]
    return _result([_flips(cell, methods) for cell in cells], FlipRow, said)


@command
def complementarity(
    scores: GivenTables,
    *,
    methods: Annotated[str | Sequence[str], Option(metavar="FIRST,SECOND", has_commas=True)],
    rule: Names = (),
    run: Names = (),
    epoch: Epoch = None,
    right_from: RightFrom = None,
    no_answer: NoAnswer = "wrong",
) -> Result:
    """Find how far two methods solve different problems.

    Parameters
    ----------
    scores : see flips
    methods : str or sequence of str
        The two methods; the first is called the baseline.
    rule, run, epoch, right_from, no_answer : see flips

    Returns
    -------
    DataFrame
        One row per benchmark and model. Errors are those of `flips`.

    Examples
    --------
    $ evalcore complementarity scores.jsonl --methods f-1,formulate-and-solve
    """
    if len(methods) != 2:
        raise InputError("--methods", f"{len(methods)} names; two were expected, as cot,pot")
    found = _levels(read_chosen(scores, rule, run), methods, epoch, right_from)
    cells, said = _find_cells(found, methods, no_answer)
    return _result([_complement(cell, methods) for cell in cells], ComplementRow, said)


@command
def outcomes(
    scores: GivenTables,
    *,
    baselines: Annotated[str | Sequence[str], Option(metavar="METHODS", has_commas=True)],
    adaptive: Annotated[str, Option(metavar="METHOD")],
    alpha: Annotated[float, Option(over=0, under=1)] = 0.05,
    wins: Annotated[str | Path | None, Option(metavar="FILE", is_written=True)] = None,
    rule: Names = (),
    run: Names = (),
    epoch: Epoch = None,
    right_from: RightFrom = None,
    no_answer: NoAnswer = "wrong",
) -> Result:
    """Find how an adaptive method does where its baselines do well or not.

    Each problem is one of: all fail, all solve, adaptive right (some baselines are too), adaptive
    wrong (a baseline is right), only adaptive. Beside them stand what an oracle that chooses
    between the baselines reaches, and how often the adaptive method is right where a baseline is.
    In the terminal wins, ties and losses follow.

    Parameters
    ----------
    scores : see flips
    baselines : str or sequence of str
        One method or more, with commas between them.
    adaptive : str
        The method that chooses between their ways of solving.
    alpha : float
        A difference with a greater p of McNemar's test is a tie by test.
    wins : str or Path, optional
        Write wins, ties and losses per model and baseline to this file.
    rule, run, epoch, right_from, no_answer : see flips

    Returns
    -------
    DataFrame
        One row per benchmark and model, and one for all models of a benchmark. Errors are those of
        `flips`.

    Examples
    --------
    $ evalcore outcomes scores.jsonl --baselines zero-shot,cot,pot --adaptive f-1
    $ evalcore outcomes scores.jsonl --baselines cot,pot --adaptive f-1 --wins wins.csv
    """
    if not baselines:
        raise InputError("--baselines", "no method is named")
    target, methods = optional_target(wins), [adaptive, *baselines]
    found = _levels(read_chosen(scores, rule, run), methods, epoch, right_from)
    cells, said = _find_cells(found, methods, no_answer)
    models = _by(cells, "model")
    together = [cells] * (len(models) > 1)
    won = [row for own in [*models, *together] for row in _wins(own, methods, alpha)]
    save(won, WinRow, target)
    datasets = [[*own, *_pooled(own, model=ALL)] for own in _by(cells, "dataset")]
    rows = [_outcomes(cell, methods) for own in datasets for cell in own]
    return _result(rows, OutcomeRow, said, won)
