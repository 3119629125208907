"""`evalcore outcomes`: which methods solve which problems."""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import Annotated, Any, Literal

import numpy as np

from evalcore.pairing import (
    CELL,
    NOT_ANSWERED,
    NOT_ASKED,
    RIGHT,
    Clusters,
    Frame,
    ScoreOptions,
    count_clusters,
    describe_documents,
    describe_overlap,
    left_out,
    name_cell,
    to_table,
)
from evalcore.scores import GroupedRow
from ngramscan.errors import InputError
from ngramscan.messages import OptionUse
from ngramscan.options import Level
from ngramscan.reading.row_files import GivenTables
from ngramscan.reporting import refuse_other
from ngramscan.reporting.columns import (
    ALL,
    first_of,
    for_paper,
    print_pooled,
    to_columns,
)
from ngramscan.reporting.command import Option, Result, RowsFile, Shared, command
from ngramscan.reporting.layout import Layout
from ngramscan.rows import Label, Limits, Plot, Share, UnansweredCount, UnknownCount, row_kind
from ngramscan.statistics.clustered_means import ClusteredMean
from ngramscan.statistics.estimates import fields_of, no_interval
from ngramscan.statistics.proportions import mcnemar
from ngramscan.statistics.two_samples import estimate_clustered_accuracy

_PROBLEM = ["document", "problem", "unit", "cluster"]
"""The levels of an index that name a problem."""
_CLUSTERED = "no interval: answers of several models to one problem are not independent"
_NO_CHOICE = "no selection accuracy: each problem is solved by all methods or by no baseline"
_columns = partial(
    to_columns,
    names=(
        "dataset",
        "model",
        "group",
        "rule",
        "adaptive",
        "baselines",
        "n",
        "all_fail",
        "all_solve",
        "adaptive_right",
        "adaptive_wrong",
        "only_adaptive",
        "accuracy",
        "upper_bound",
        "selection_accuracy",
        "upper_bound_with_adaptive",
        "all_baselines_but_adaptive",
        ("no answer", "n_no_answer"),
        ("unknown", "n_unknown"),
    ),
)
_OPTIONAL = ("upper bound with adaptive", "all baselines but adaptive", "no answer", "unknown")
_WINS = (
    "model",
    "treatment",
    "baseline",
    "wins",
    "ties",
    "losses",
    "wins_by_test",
    "ties_by_test",
    "losses_by_test",
    "cells",
)


@row_kind(
    "outcomes",
    "Joint outcomes of the adaptive method and its baselines",
    Plot(
        "selection_accuracy",
        panel=("dataset", "model"),
        label=("group", "rule", "adaptive", "baselines"),
        scale="share",
    ),
    key=("n", "adaptive_right", "adaptive_wrong"),
)
@dataclass(frozen=True, slots=True, kw_only=True)
class OutcomeRow:
    """How an adaptive method does where its baselines succeed or fail; shares are fractions.

    `all` stands for all benchmarks or models together. `all_fail` to `only_adaptive` add up to `n`.
    """

    dataset: Label
    model: Label
    group: str = ""
    """The values of further columns that `--by` names, and the method if rules are compared."""
    rule: Label
    adaptive: Label
    baselines: Label
    n: int
    n_no_answer: UnansweredCount
    """Problems with a refused, cut off or empty answer; it is wrong unless excluded from `n`."""
    n_unknown: UnknownCount
    """Problems left out of `n` because one of the results is unknown."""
    all_fail: int
    all_solve: int
    """Solved by the adaptive method and all baselines."""
    adaptive_right: int
    """Solved by the adaptive method and some baselines, but not all."""
    adaptive_wrong: int
    """Solved by some or all baselines, but not by the adaptive method."""
    only_adaptive: int
    all_baselines_but_adaptive: int
    """Problems in `adaptive_wrong` that all baselines solve, so that any choice would do."""
    accuracy: Share
    """Accuracy of the adaptive method."""
    upper_bound: Share
    """Share of problems that at least one baseline solves."""
    upper_bound_with_adaptive: Share
    selection_accuracy: Annotated[Share | None, Limits("selection_low", "selection_high")]
    """`adaptive_right` divided by `adaptive_right + adaptive_wrong`."""
    selection_low: Share | None
    """Limit of the 95% Wilson interval. None: there is none, and the note says why."""
    selection_high: Share | None
    note: str
    n_clusters: int | None = None
    """Number of clusters that the `n` problems are from, by `--cluster`. None: not given."""


@row_kind(
    "outcomes --wins",
    "Wins, ties and losses",
    key=("cells", "wins", "ties", "losses"),
)
@dataclass(frozen=True, slots=True)
class WinRow:
    """How often a method beats a baseline, that is, solves more problems of a benchmark."""

    model: Label
    baseline: Label
    treatment: Label
    cells: int
    """Combinations of a benchmark, a model and a group."""
    wins: int
    """Cells in which the treatment solves more problems."""
    ties: int
    losses: int
    wins_by_test: int
    """Wins with an exact McNemar p below `alpha`, not corrected for the number of cells; with
    `--cluster`, by tilting over clusters."""
    ties_by_test: int
    losses_by_test: int
    alpha: float


@row_kind(
    "outcomes --agreements",
    "Accuracy where two methods agree",
    Plot(
        "accuracy_agree",
        panel=("dataset", "model"),
        label=("group", "rule", "baseline", "adaptive"),
        scale="share",
        aside="{n_agree} of {n} agree",
    ),
    key=("n", "n_agree"),
)
@dataclass(frozen=True, slots=True, kw_only=True)
class AnswersRow:
    """How accurate two methods are where they give the same answer; shares are fractions.

    Answers are the same if they are equal numbers (six digits), or equal texts, blanks and capitals
    aside. Limits are those of 95% Wilson intervals, with `--cluster` for the effective number of
    problems; None for several models together.
    """

    dataset: Label
    model: Label
    group: str = ""
    rule: Label
    baseline: Label
    adaptive: Label
    n: int
    n_agree: int
    agree: Share | None
    """Share of problems to which both give the same answer."""
    agree_low: Share | None
    agree_high: Share | None
    accuracy_agree: Share | None
    """Accuracy where both give the same answer."""
    accuracy_agree_low: Share | None
    accuracy_agree_high: Share | None
    accuracy_baseline_differ: Share | None
    accuracy_baseline_differ_low: Share | None
    accuracy_baseline_differ_high: Share | None
    accuracy_adaptive_differ: Share | None
    accuracy_adaptive_differ_low: Share | None
    accuracy_adaptive_differ_high: Share | None
    accepted: Share | None
    """Share of all problems with an answer that is right and that both give. It is the accuracy of
    taking an answer unless the other method disagrees, and of no answer otherwise."""
    accepted_low: Share | None
    accepted_high: Share | None
    verified: Share | None
    """The same if a verifier that never errs chooses between different answers: an upper bound."""
    verified_low: Share | None
    verified_high: Share | None


_agreed_columns = partial(
    to_columns,
    names=(
        "dataset",
        "model",
        "group",
        "rule",
        "baseline",
        "adaptive",
        "n",
        "agree",
        "accuracy_agree",
        "accuracy_baseline_differ",
        "accuracy_adaptive_differ",
        "accepted",
        "verified",
    ),
)


def _find_levels(
    rows: Sequence[GroupedRow], methods: list[str], epoch: int | None, asked: ScoreOptions
) -> tuple[Frame, Frame, dict[str, Any]]:
    """Return what is known about each answer, by cell, problem and method; answers; messages."""
    table, keys = to_table(rows, asked.kept_apart), ["asked", "method", "problem"]
    names = ["dataset", "model", "method", "id"]
    # If a problem has only one answer, it is used whatever the epoch.
    is_epoch = (epoch is None) | table["epoch"].isna() | (table["epoch"] == epoch)
    meant = table[table["method"].isin(methods) & is_epoch]
    is_graded = ~meant["value"].isin([0, 1, np.nan])
    if (is_repeated := meant.duplicated(keys)).any():
        repeated = meant.loc[is_repeated, names].iloc[0]
        cure = "choose one with " + OptionUse("epoch", placeholder="N")
        raise InputError(", ".join(repeated), "several answers to one problem; " + cure)
    if is_graded.any():
        *first, value = meant.loc[is_graded, [*names, "value"]].iloc[0]
        cure = "set a limit with " + OptionUse("right_from")
        raise InputError(", ".join(first), f"value {value:g} is neither right nor wrong; " + cure)
    table["level"] = meant["level"] + (meant["value"] == 1)
    table["cluster"] = table["cluster"].fillna("")  # groups need a value
    by_answer = table.groupby(["asked", *CELL, *_PROBLEM, "method"])
    levels = by_answer["level"].first().unstack().reindex(columns=methods)
    cells: Any = levels.notna().groupby(level=CELL, sort=False)
    is_complete, known = cells.transform("any").all(axis=1), [*cells.any().iterrows()]
    if not is_complete.any():
        there = first_of([f"{name_cell(cell)}: {', '.join(has.index[has])}" for cell, has in known])
        problem = f"no model was scored on one benchmark with all of them; available: {there}"
        raise InputError(", ".join(methods), problem)
    absences = [
        f"{name_cell(cell[:-1])}: left out, no scores for {', '.join(has.index[~has])}"
        for cell, has in known
        if not has.all()
    ]
    levels = levels[is_complete].dropna(how="all").fillna(NOT_ASKED)
    least: Any = levels.min(axis=1).groupby(level=CELL, sort=False)
    has_hashes = bool(table["hash"].notna().any())
    cells = [
        (name_cell(cell), part, describe_overlap(_by_document(levels, part), has_hashes))
        for cell, part in least
    ]
    messages = left_out("problem", cells, asked.lowest)
    messages["notices"] = describe_documents(table) + absences + messages["notices"]
    levels = levels[least.transform("max") >= asked.lowest]
    answers = by_answer["answer"].first().unstack().reindex(index=levels.index, columns=methods)
    return levels, answers, messages


def _by_document(levels: Frame, part: Frame) -> Frame:
    """Return whether each method was asked about each document of a part."""
    is_asked = levels.loc[part.index] > NOT_ASKED
    return is_asked.set_axis(part.index.get_level_values("document"))


def _by_model(levels: Frame) -> list[tuple[Any, Frame]]:
    """Return the levels of each model, then those of all together if there are several."""
    models = [*levels.groupby(level="model", sort=False)]
    return models + ([(ALL, levels)] if len(models) > 1 else [])


def _parts(levels: Frame) -> Iterator[tuple[dict[str, Any], Frame]]:
    """Yield what belongs to each row: single benchmarks and models, and all of them together."""
    for (dataset, group), part in levels.groupby(level=["dataset", "group"], sort=False):
        for model, answers in _by_model(part):
            yield {"dataset": dataset, "model": model, "group": group}, answers
    for (model, group), part in levels.groupby(level=["model", "group"], sort=False):
        if len(part.index.unique("dataset")) > 1:
            yield {"dataset": ALL, "model": model, "group": group}, part


def _row(names: dict[str, Any], levels: Frame, lowest: int) -> OutcomeRow:
    least = levels.min(axis=1)
    right = levels[least >= lowest] == RIGHT
    (adaptive, *baselines), n = levels.columns, len(right)
    is_right = right[adaptive]
    any_baseline, all_baselines = right[baselines].any(axis=1), right[baselines].all(axis=1)
    conditions = {
        "all_fail": ~is_right & ~any_baseline,
        "all_solve": is_right & all_baselines,
        "adaptive_right": is_right & any_baseline & ~all_baselines,
        "adaptive_wrong": ~is_right & any_baseline,
        "only_adaptive": is_right & ~any_baseline,
        "all_baselines_but_adaptive": ~is_right & all_baselines,
    }
    n_with: dict[str, Any] = {name: int(met.sum()) for name, met in conditions.items()}
    is_choice, has_models = any_baseline & ~(all_baselines & is_right), names["model"] == ALL
    selection = _share("selection", right.loc[is_choice, adaptive], has_interval=not has_models)
    note = _NO_CHOICE if not is_choice.any() else _CLUSTERED if has_models else ""
    clusters = _clusters_of(right)
    return OutcomeRow(
        **names,
        rule=", ".join(levels.index.unique("rule")),
        adaptive=adaptive,
        baselines=", ".join(baselines),
        n=n,
        n_no_answer=int((least == NOT_ANSWERED).sum()),
        n_unknown=int((least < NOT_ANSWERED).sum()),
        **n_with,
        accuracy=int(is_right.sum()) / n,
        upper_bound=int(any_baseline.sum()) / n,
        upper_bound_with_adaptive=int((is_right | any_baseline).sum()) / n,
        selection_accuracy=selection.pop("selection"),
        **selection,
        note="; ".join(filter(None, (note, clusters.note))),
        n_clusters=clusters.n,
    )


def _clusters_of(problems: Frame) -> Clusters:
    """Return the clusters of problems, which the index names."""
    answers = problems.index.to_frame(index=False)
    return count_clusters(answers.assign(cluster=answers["cluster"].replace("", None)))


def _wins(levels: Frame, lowest: int, alpha: float) -> Iterator[WinRow]:
    adaptive, *baselines = levels.columns
    for model, part in _by_model(levels):
        for baseline in baselines:
            both = part[part[[adaptive, baseline]].min(axis=1) >= lowest] == RIGHT
            more: Any = (both[adaptive] > both[baseline]).groupby(level=CELL).sum()
            less: Any = (both[adaptive] < both[baseline]).groupby(level=CELL).sum()
            signs = np.sign(more - less)
            p_values = [_win_p(cell, adaptive, baseline) for _, cell in both.groupby(level=CELL)]
            tested = signs * [p < alpha for p in p_values]
            counted: dict[str, Any] = {
                f"{name}{end}": int((found == sign).sum())
                for end, found in (("", signs), ("_by_test", tested))
                for name, sign in (("wins", 1), ("ties", 0), ("losses", -1))
            }
            yield WinRow(
                model=model,
                baseline=baseline,
                treatment=adaptive,
                cells=len(signs),
                alpha=alpha,
                **counted,
            )


def _win_p(right: Frame, adaptive: str, baseline: str) -> float:
    """Return the p-value of no difference: exact McNemar's, or by tilting over clusters."""
    difference = right[adaptive].astype(int) - right[baseline].astype(int)
    if not _clusters_of(right).have_several_problems:
        return mcnemar(int((difference > 0).sum()), int((difference < 0).sum()))
    clusters = difference.index.get_level_values("unit")
    return ClusteredMean(difference, clusters, -1, 1).test(0.0).value


def _agreements(levels: Frame, answers: Frame, lowest: int) -> Iterator[AnswersRow]:
    adaptive, *baselines = levels.columns
    given = answers.map(_comparable)
    for names, part in _parts(levels):
        for baseline in baselines:
            both = part[[baseline, adaptive]]
            right = both[both.min(axis=1) >= lowest] == RIGHT
            said = given.loc[right.index]
            is_same = (said[baseline] != "") & (said[baseline] == said[adaptive])
            first, second = right[baseline], right[adaptive]
            shares = {
                "agree": is_same,
                "accuracy_agree": first[is_same],
                "accuracy_baseline_differ": first[~is_same],
                "accuracy_adaptive_differ": second[~is_same],
                "accepted": is_same & first,
                "verified": (is_same & first) | (~is_same & (first | second)),
            }
            figures: dict[str, Any] = {}
            for name, hits in shares.items():
                figures |= _share(name, hits, has_interval=names["model"] != ALL)
            yield AnswersRow(
                **names,
                rule=", ".join(part.index.unique("rule")),
                baseline=baseline,
                adaptive=adaptive,
                n=len(right),
                n_agree=int(is_same.sum()),
                **figures,
            )


def _comparable(answer: Any) -> str:
    """Return an answer such that equal numbers and words are the same text; empty if none."""
    text = "".join(str(answer).split()).lower() if isinstance(answer, str) else ""
    with suppress(ValueError):
        return f"{float(text.replace(',', '')):.6g}"
    return text


def _share(name: str, hits: Any, has_interval: bool) -> dict[str, Any]:
    """Return the share of problems that are hits, with its interval; None without problems."""
    if not len(hits):
        return fields_of(name, None)
    if not has_interval:
        return fields_of(name, no_interval(float(hits.mean()), 0.95, _CLUSTERED))
    clusters = hits.index.get_level_values("unit")
    return fields_of(name, estimate_clustered_accuracy(hits, clusters))


def _as_rule(row: GroupedRow) -> GroupedRow:
    """Return a score in which the rule takes the place of the method."""
    return replace(row, method=row.rule, group=name_cell([row.group, row.method]), rule=ALL)


def _print(
    console: Any,
    rows: Sequence[OutcomeRow],
    won: Sequence[WinRow],
    agreed: Sequence[AnswersRow],
) -> None:
    layout = Layout(6, frozenset({"baselines"}), _OPTIONAL)
    print_pooled(console, rows, _columns, layout, notes=("dataset", "model"))
    layout = Layout(6, title="Equal and different answers")
    print_pooled(console, agreed, _agreed_columns, layout)
    title = f"Benchmarks won, tied and lost; by test: p < {won[0].alpha:g}" if won else None
    layout = Layout(3, optional=("cells",), title=title)
    print_pooled(console, won if rows else (), partial(to_columns, names=_WINS), layout)


@command
def outcomes(
    scores: GivenTables,
    *,
    baselines: Annotated[str | Sequence[str], Option(metavar="METHODS")],
    adaptive: Annotated[str, Option(metavar="METHOD")],
    alpha: Level = 0.05,
    wins: RowsFile = None,
    agreements: RowsFile = None,
    epoch: Annotated[int | None, Option(metavar="N", least=0)] = None,
    between: Literal["methods", "rules"] = "methods",
    **options: Annotated[Any, Shared(ScoreOptions)],
) -> Result[OutcomeRow]:
    """Show how an adaptive method does where its baselines succeed or fail.

    Each problem has one of five outcomes: all methods fail, all solve it, the adaptive method and
    some baselines are right, a baseline is right but not the adaptive method, or only the adaptive
    method is right. The upper bound is the accuracy of always choosing the right baseline; the
    selection accuracy is how often the adaptive method is right where baselines disagree with it or
    each other. With one baseline, the table shows the problems that the method gains and loses.

    Parameters
    ----------
    scores : see compare
    baselines : str or sequence of str
        The methods that the adaptive one is compared with.
    adaptive : str
        The method that chooses how to solve each problem.
    alpha : float
        Count a difference as a tie by test if its p is not below this: exact McNemar's, or with
        `cluster` by tilting over clusters.
    wins : str or Path, optional
        Write wins, ties and losses by model and baseline to this file.
    agreements : str or Path, optional
        Write how often each baseline gives the same answer as the adaptive method, and how accurate
        equal and different answers are, to this file; the terminal shows it, too.
    epoch : int, optional
        Which of several answers to a problem to use.
    between : str
        Compare `methods`, or `rules` that scored the same outputs, for each method;
        `baselines` and `adaptive` then name rules.

    Returns
    -------
    DataFrame
        One row per benchmark and model, one for all models of a benchmark, and one for all
        benchmarks of a model.

    Examples
    --------
    $ evalcore outcomes scores.jsonl --baselines zero-shot,cot,pot --adaptive f-1
    $ evalcore outcomes scores.jsonl --baselines cot --adaptive f-1 --wins wins.csv
    $ evalcore outcomes scores.jsonl --baselines strict --adaptive lenient --between rules
    """
    if not baselines:
        raise InputError(OptionUse("baselines"), "expected at least one method")
    asked = ScoreOptions(**options)
    chosen, notices, failures = asked.read(scores, is_one_rule=between == "methods")
    if between == "rules":
        chosen = [*map(_as_rule, chosen)]
    methods, known = [adaptive, *baselines], [row.method for row in chosen]
    refuse_other("adaptive", adaptive, known)
    refuse_other("baselines", baselines, known)
    if twice := [name for name in methods if methods.count(name) > 1]:
        raise InputError(OptionUse("baselines", twice[0]), "this method was given twice")
    levels, answers, messages = _find_levels(chosen, methods, epoch, asked)
    messages["notices"] = notices + messages["notices"]
    messages["failures"] = failures + messages["failures"]
    rows = [_row(names, part, asked.lowest) for names, part in _parts(levels)]
    won = [*_wins(levels, asked.lowest, alpha)]
    agreed = [*_agreements(levels, answers, asked.lowest)] if agreements else []
    printed = partial(_print, rows=rows, won=won, agreed=agreed)
    paper = for_paper(_columns(rows))
    files: Any = [(wins, won, WinRow), (agreements, agreed, AnswersRow)]
    return Result(rows, OutcomeRow, print_table=printed, files=files, for_paper=paper, **messages)
