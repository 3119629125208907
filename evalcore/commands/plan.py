"""`evalcore plan`: how many problems, or answers to each, a comparison needs."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any, NamedTuple

import numpy as np

from evalcore.answer_table import NAMES, describe_documents, make_answer_table, name_cell
from evalcore.compare_rows import first_of_two, pair_methods
from evalcore.messages import CellLevels, Messages, describe_left_out
from evalcore.options import LeastDifference, Methods
from evalcore.pairing import describe_overlap_of_pairs, find_pairs
from evalcore.pilots import AssumedClusters, Variation, assume_variation, make_design, measure_pilot
from evalcore.score_options import ScoreOptions
from ngramscan.errors import InputError
from ngramscan.messages import OptionUse, Text
from ngramscan.reading.row_files import Table
from ngramscan.reporting.columns import print_pooled, to_columns
from ngramscan.reporting.command import NewFile, Option, Result, RowsFile, Shared, command
from ngramscan.reporting.layout import CellColumns, Layout, print_line
from ngramscan.rows import Label, Plot, Points, Share, row_kind
from ngramscan.statistics.planning import Design, McNemarDesign, needed_n

_LEGEND = (
    "needed n: problems that find the difference with the target power, by a test at .05;"
    " answers: of each method, to all of these; power: with n problems; detectable: smallest"
    " difference that n problems find with the target power; in percent and percentage points"
)
_CURVE_POINTS = 24
Probability = Annotated[float | None, Option(least=0, most=1)]


@row_kind(
    "plan",
    "Planned comparisons",
    key=(
        "epochs",
        "cluster_size",
        "difference",
        "target_power",
        "needed_n",
        "needed_answers",
        "n",
        "power",
        "detectable",
        "spread",
        "test",
    ),
)
@dataclass(frozen=True, slots=True, kw_only=True)
class PlanRow:
    """The size that a comparison of two methods needs; differences and power are fractions.

    Names are empty if there is no pilot.
    """

    dataset: Label
    model: Label
    rule: Label
    baseline: Label
    treatment: Label
    epochs: int
    """Answers of each method to each problem."""
    cluster_size: int
    """Problems in each cluster; 1: problems are independent."""
    difference: Points
    """The true difference that is to be found."""
    target_power: Share
    needed_n: int | None
    """Problems that find it with this power. None: more than ten million."""
    needed_clusters: int | None
    """Clusters that these are in. None: problems are independent."""
    needed_answers: int | None
    """Answers of each method to these problems."""
    n: int | None
    """The number of problems that the next two columns are about. None: it was not given."""
    power: Share | None
    """How often a comparison of n problems finds the difference."""
    detectable: Share | None
    """The smallest difference that n problems find with the target power. None if no
    difference is large enough."""
    discordance: Share | None
    """Share of problems on which a single answer of one method alone is right. None: graded."""
    spread: float
    """Standard deviation of a problem's difference."""
    test: str


@row_kind(
    "plan --curve",
    "Power against the number of problems",
    Plot(
        "power",
        panel=("dataset", "model", "rule", "baseline", "treatment"),
        label=("epochs",),
        scale="share",
        series="epochs",
        across="n",
    ),
    key=("epochs", "difference"),
)
@dataclass(frozen=True, slots=True, kw_only=True)
class PowerCurveRow:
    """The power of a planned comparison at one number of problems."""

    dataset: Label
    model: Label
    rule: Label
    baseline: Label
    treatment: Label
    epochs: int
    difference: Points
    n: int
    power: Share


class _PlannedPair(NamedTuple):
    """Two methods, and how their answers vary."""

    names: dict[str, str]
    variation: Variation


class _Goal(NamedTuple):
    """The difference to find, and the problems to find it with."""

    difference: float
    power: float
    clusters: AssumedClusters
    n: int | None


def _plan(pair: _PlannedPair, epochs: int, goal: _Goal) -> tuple[PlanRow, list[PowerCurveRow]]:
    variation, clusters = pair.variation, goal.clusters
    design = make_design(variation, epochs, clusters)
    units = needed_n(design, goal.difference, goal.power)
    needed = None if units is None else units * clusters.size
    n = variation.problems if goal.n is None else goal.n
    units_of_n = None if n is None else n // clusters.size
    is_mcnemar = isinstance(design, McNemarDesign)
    row = PlanRow(
        **pair.names,
        epochs=epochs,
        cluster_size=clusters.size,
        difference=goal.difference,
        target_power=goal.power,
        needed_n=needed,
        needed_clusters=None if clusters.size == 1 else units,
        needed_answers=None if needed is None else needed * epochs,
        n=n,
        power=None if units_of_n is None else _power(design, units_of_n, goal.difference),
        detectable=None if not units_of_n else design.detectable(units_of_n, goal.power),
        discordance=variation.discordance,
        spread=float(np.sqrt(variation.variance(epochs))),
        test="mid-p McNemar" if is_mcnemar else "nonparametric tilting",
    )
    return row, [*_curve(row, design)]


def _power(design: Design, units: int, difference: float) -> float:
    return design.power_at(units, difference) if units else 0.0


def _curve(row: PlanRow, design: Design) -> Iterator[PowerCurveRow]:
    """Yield the power at numbers of problems up to twice the needed one."""
    units = (row.needed_n or 0) // row.cluster_size
    for number in sorted({round(2 * units * k / _CURVE_POINTS) for k in range(_CURVE_POINTS + 1)}):
        if number > 0:
            yield PowerCurveRow(
                dataset=row.dataset,
                model=row.model,
                rule=row.rule,
                baseline=row.baseline,
                treatment=row.treatment,
                epochs=row.epochs,
                difference=row.difference,
                n=number * row.cluster_size,
                power=design.power_at(number, row.difference),
            )


def _choose_baseline(
    methods: Sequence[str], baseline: str | None, treatments: Sequence[str]
) -> tuple[str, list[Text]]:
    """Return the baseline, which is the first of two methods if none is named, and a notice."""
    if baseline:
        return baseline, []
    if len(methods) != 2:
        problem = f"required with a pilot; its methods are {', '.join(methods)}"
        raise InputError(OptionUse("baseline"), problem)
    return first_of_two(methods, treatments)


def _read_pilot(
    scores: Sequence[Table],
    chosen_baseline: str | None,
    treatments: Sequence[str],
    options: ScoreOptions,
) -> tuple[list[_PlannedPair], Messages]:
    """Return the pairs of methods of a pilot, and messages."""
    rows, read_messages = options.read(scores, is_one_rule=False)
    method_names = [*dict.fromkeys(row.method for row in rows)]
    baseline, baseline_notices = _choose_baseline(method_names, chosen_baseline, treatments)
    methods = pair_methods(method_names, baseline, treatments)
    table = make_answer_table(rows)
    planned, cell_levels, failures = list[_PlannedPair](), list[CellLevels](), list[Text]()
    for pairs in find_pairs(table, methods):
        names = {name: str(pairs[name].iloc[0]) for name in NAMES if name != "group"}
        title, levels = name_cell(names.values()), pairs["lowest_level"]
        cell_levels.append(CellLevels(title, levels, describe_overlap_of_pairs(pairs)))
        compared_pairs = pairs[levels >= options.lowest_level]
        if compared_pairs.empty:
            continue  # which `describe_left_out` says
        if variation := measure_pilot(compared_pairs):
            planned.append(_PlannedPair(names, variation))
        else:
            problem = "no plan: fewer than two problems, or the methods never differ"
            failures.append(f"{title}: {problem}; try " + OptionUse("accuracies"))
    if not cell_levels:
        raise InputError("scores", f"no benchmark and model has {baseline} and another method")
    left_out = describe_left_out("pair", cell_levels, options.lowest_level)
    notices = [*read_messages.notices, *baseline_notices]
    before = Messages(notices=[*notices, *describe_documents(table)])
    after = Messages(failures=[*read_messages.failures, *failures])
    return planned, before + left_out + after


def _choose_epochs(wanted: Sequence[int], variation: Variation, is_pilot: bool) -> list[int]:
    """Return the numbers of answers to plan for, by default that of the pilot."""
    epochs = [*dict.fromkeys(wanted)] or [variation.epochs]
    if variation.within is None and epochs != [1]:
        cure: Text = "a pilot with several answers of both methods"
        if not is_pilot:
            cure = OptionUse("self_agreement")
        raise InputError(
            OptionUse("epochs", epochs[-1]), "several answers to a problem need " + cure
        )
    return epochs


def _assume(
    accuracies: Sequence[float], agreement: float | None, self_agreement: float | None
) -> tuple[_PlannedPair, list[str]]:
    """Return methods without names, of which these numbers are assumed, and a notice."""
    if len(accuracies) != 2 or not all(0 <= value <= 1 for value in accuracies):
        raise InputError(
            OptionUse("accuracies"),
            "expected two fractions, as in " + OptionUse("accuracies", "0.6,0.65"),
        )
    if accuracies[0] == accuracies[1]:
        raise InputError(
            OptionUse("accuracies"), "both are the same: there is no difference to find"
        )
    variation = assume_variation((accuracies[0], accuracies[1]), agreement, self_agreement)
    names = dict.fromkeys(("dataset", "model", "rule", "baseline", "treatment"), "")
    alike = f"{100 * (1 - (variation.discordance or 0)):.0f}% agreement"
    notice = f"methods are taken as independent ({alike}); --agreement gives a better number"
    return _PlannedPair(names, variation), [] if agreement is not None else [notice]


def _columns(rows: Sequence[PlanRow]) -> CellColumns:
    columns = to_columns(rows, ("dataset", "model", "rule"))
    if any(row.treatment for row in rows):
        columns["methods"] = [f"{row.treatment} − {row.baseline}" for row in rows]
    columns |= to_columns(rows, ("epochs", "difference", "target_power", "needed_n"))
    if any(row.cluster_size > 1 for row in rows):
        columns |= to_columns(rows, ("cluster_size", "needed_clusters"))
    names = (("answers", "needed_answers"), "n", "power", "detectable", "discordance")
    return columns | to_columns(rows, names)


def _print(console: Any, rows: Sequence[PlanRow]) -> None:
    print_pooled(console, rows, _columns, Layout(5, optional=("discordance", "answers")))
    print_line(console, _LEGEND, "dim")


def _check_clusters(size: int, icc: float, problems: int | None) -> list[str]:
    """Refuse clusters that don't fit together; return a notice if their correlation is missing."""
    if size == 1:
        if icc:
            size_of_five = OptionUse("cluster_size", 5)
            problem = "a correlation within clusters needs their size: " + size_of_five
            raise InputError(OptionUse("icc", icc), problem)
        return []
    if problems is not None and problems < 2 * size:
        expected = f"expected {2 * size} problems or more"
        raise InputError(
            OptionUse("problems", problems), f"fewer than two clusters of {size}; {expected}"
        )
    if icc:
        return []
    return ["problems of a cluster are taken as independent; --icc 0.1 says how alike they are"]


def _check_inputs(
    scores: Sequence[Table],
    accuracies: Sequence[float],
    agreements: Sequence[float | None],
) -> None:
    """Refuse a pilot and assumptions together, and neither."""
    if bool(scores) == bool(accuracies):
        either = "expected either " + OptionUse("scores") + " of a pilot or "
        raise InputError("plan", either + OptionUse("accuracies"))
    if scores and any(agreement is not None for agreement in agreements):
        raise InputError(
            OptionUse("agreement"), "measured in the pilot; requires " + OptionUse("accuracies")
        )


@command
def plan(
    *scores: Annotated[Table, Option(metavar="[SCORES]...", is_optional=True)],
    baseline: Annotated[str | None, Option(metavar="METHOD")] = None,
    treatment: Methods = (),
    difference: LeastDifference = 0.05,
    power: Annotated[float, Option(over=0.05, under=1)] = 0.8,
    problems: Annotated[int | None, Option(metavar="N", least=2)] = None,
    epochs: Annotated[int | Sequence[int], Option(metavar="N", least=1)] = (),
    accuracies: Annotated[float | Sequence[float], Option(metavar="A,B", least=0, most=1)] = (),
    agreement: Probability = None,
    self_agreement: Probability = None,
    cluster_size: Annotated[int, Option(metavar="N", least=1)] = 1,
    icc: Annotated[float, Option(least=0, most=1)] = 0.0,
    curve: RowsFile = None,
    figure: NewFile = None,
    **options: Annotated[Any, Shared(ScoreOptions, without=("by",))],
) -> Result[PlanRow]:
    """Show how many problems, or answers to each, a comparison needs.

    A test at .05 finds the true difference with the given power. How answers vary is measured in
    SCORES of a pilot (see compare), or follows from assumed accuracies. Single right and wrong
    answers are planned for McNemar's mid-p test, all others for nonparametric tilting.

    Parameters
    ----------
    scores : str, Path or DataFrame, or several of them
        Score rows of a pilot.
    baseline : str, optional
        The method of the pilot that others are compared with; the first if it has only two.
    treatment : see compare
    difference : float
        The true difference to find, as a fraction; with `accuracies`, it is theirs.
    power : float
        How often it should be found.
    problems : int, optional
        Show the power and the smallest detectable difference with this many problems; by default
        those of the pilot.
    epochs : int or sequence of int
        Answers of each method to each problem: a row for each number.
    accuracies : float or sequence of float
        Assumed accuracies of baseline and treatment, instead of a pilot.
    agreement : float, optional
        Share of problems on which both are right or both are wrong. By default as if the methods
        were independent, which needs more problems than most pairs of methods do.
    self_agreement : float, optional
        Share of pairs of answers of one method to one problem that are both right or both wrong;
        needed for several `epochs`.
    cluster_size : int
        Number of problems in each cluster, such as questions about one text.
    icc : float
        Intraclass correlation of the differences within clusters; 0: they are independent.
    curve : str or Path, optional
        Write the power at numbers of problems to this file.
    figure : str or Path, optional
        Draw the power against the number of problems: .svg, .png or .pdf.

    Returns
    -------
    DataFrame
        One row per benchmark, model, rule, pair of methods and number of epochs.

    Examples
    --------
    $ evalcore plan --accuracies 0.6,0.65 --agreement 0.8
    $ evalcore plan scores.jsonl --baseline cot --treatment f-1 --difference 0.03 --figure power.svg
    $ evalcore plan --accuracies 0.6,0.65 --agreement 0.8 --self-agreement 0.9 --epochs 1,4,16
    """
    assumed_accuracies = [accuracies] if isinstance(accuracies, float | int) else [*accuracies]
    wanted_epochs = [epochs] if isinstance(epochs, int) else [*epochs]
    _check_inputs(scores, assumed_accuracies, (agreement, self_agreement))
    if scores:
        planned, messages = _read_pilot(scores, baseline, treatment, ScoreOptions(**options))
    else:
        assumed, notices = _assume(assumed_accuracies, agreement, self_agreement)
        planned, messages = [assumed], Messages(notices=notices)
        difference = abs(assumed_accuracies[1] - assumed_accuracies[0])
    messages += Messages(notices=_check_clusters(cluster_size, icc, problems))
    goal = _Goal(difference, power, AssumedClusters(cluster_size, icc), problems)
    plans = [
        _plan(pair, number, goal)
        for pair in planned
        for number in _choose_epochs(wanted_epochs, pair.variation, bool(scores))
    ]
    rows = [row for row, _ in plans]
    points = [point for _, curve_rows in plans for point in curve_rows]
    return Result(
        rows,
        PlanRow,
        messages.notices,
        messages.failures,
        print_table=partial(_print, rows=rows),
        files=[(curve, points, PowerCurveRow)],
        figure=(figure, points) if points else (),
    )
