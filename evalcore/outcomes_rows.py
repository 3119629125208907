"""Which methods solve which problems: joint outcomes, wins, and answers that are the same."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Annotated, Any

import numpy as np

from evalcore.answer_table import (
    CELL,
    NOT_ANSWERED,
    NOT_ASKED,
    RIGHT,
    Clusters,
    Frame,
    count_clusters,
    describe_documents,
    make_answer_table,
    name_cell,
)
from evalcore.messages import CellLevels, Messages, describe_left_out
from evalcore.pairing import describe_overlap
from evalcore.score_options import ScoreOptions
from evalcore.scores import GroupedRow
from ngramscan.errors import InputError
from ngramscan.messages import OptionUse
from ngramscan.reporting.columns import ALL, first_of
from ngramscan.rows import Label, Limits, Plot, Share, UnansweredCount, UnknownCount, row_kind
from ngramscan.statistics.clustered_means import ClusteredMean
from ngramscan.statistics.estimates import fields_of, no_interval
from ngramscan.statistics.proportions import mcnemar
from ngramscan.statistics.two_samples import estimate_clustered_accuracy

_PROBLEM = ["document", "problem", "unit", "cluster"]
"""The levels of an index that name a problem."""
_DEPENDENT = "no interval: answers of several models to one problem are not independent"
_NO_CHOICE = "no selection accuracy: each problem is solved by all methods or by no baseline"


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
    """Limit of the 95% Wilson interval. None if there is no interval (see `note`)."""
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


@dataclass(frozen=True, slots=True)
class AnswerLevels:
    """How much is known about the answer of each method to each problem."""

    levels: Frame
    """How much is known, up to RIGHT; a column for each method, the adaptive one first. The index
    names the cell and the problem."""
    answers: Frame
    """The answers themselves, in the same form."""


def find_answer_levels(
    rows: Sequence[GroupedRow], methods: list[str], epoch: int | None, options: ScoreOptions
) -> tuple[AnswerLevels, Messages]:
    """Return what is known about the answers of methods, where all of them were scored."""
    table = make_answer_table(rows, options.unpooled)
    # If a problem has only one answer, it is used whatever the epoch.
    is_epoch = (epoch is None) | table["epoch"].isna() | (table["epoch"] == epoch)
    used_rows = table[table["method"].isin(methods) & is_epoch]
    _refuse_unclear(used_rows)
    table["level"] = used_rows["level"] + (used_rows["value"] == 1)
    table["cluster"] = table["cluster"].fillna("")  # groups need a value
    by_answer = table.groupby(["source_cell", *CELL, *_PROBLEM, "method"])
    levels = by_answer["level"].first().unstack().reindex(columns=methods)
    levels, absences = _take_complete_cells(levels, methods)
    lowest_levels: Any = levels.min(axis=1).groupby(level=CELL, sort=False)
    has_hashes = bool(table["hash"].notna().any())
    cell_levels = [
        CellLevels(
            name_cell(cell),
            levels_of_cell,
            describe_overlap(_by_document(levels, levels_of_cell), has_hashes),
        )
        for cell, levels_of_cell in lowest_levels
    ]
    messages = Messages(notices=[*describe_documents(table), *absences])
    messages += describe_left_out("problem", cell_levels, options.lowest_level)
    levels = levels[lowest_levels.transform("max") >= options.lowest_level]
    answers = by_answer["answer"].first().unstack().reindex(index=levels.index, columns=methods)
    return AnswerLevels(levels, answers), messages


def _refuse_unclear(rows: Frame) -> None:
    """Raise an InputError if a problem has several answers, or one is neither right nor wrong."""
    names = ["dataset", "model", "method", "id"]
    is_repeated = rows.duplicated(["source_cell", "method", "problem"])
    if is_repeated.any():
        place = ", ".join(rows.loc[is_repeated, names].iloc[0])
        cure = "choose one with " + OptionUse("epoch", placeholder="N")
        raise InputError(place, "several answers to one problem; " + cure)
    is_graded = ~rows["value"].isin([0, 1, np.nan])
    if is_graded.any():
        *place_parts, value = rows.loc[is_graded, [*names, "value"]].iloc[0]
        problem = f"value {value:g} is neither right nor wrong; "
        cure = "set a limit with " + OptionUse("right_from")
        raise InputError(", ".join(place_parts), problem + cure)


def _take_complete_cells(levels: Frame, methods: Sequence[str]) -> tuple[Frame, list[str]]:
    """Return the levels of cells that have all methods, and notices on the other cells."""
    by_cell: Any = levels.notna().groupby(level=CELL, sort=False)
    is_complete = by_cell.transform("any").all(axis=1)
    scored_methods = [*by_cell.any().iterrows()]
    if not is_complete.any():
        available = first_of(
            [
                f"{name_cell(cell)}: {', '.join(is_scored.index[is_scored])}"
                for cell, is_scored in scored_methods
            ]
        )
        problem = f"no model was scored on one benchmark with all of them; available: {available}"
        raise InputError(", ".join(methods), problem)
    absences = [
        f"{name_cell(cell[:-1])}: left out, no scores for {', '.join(is_scored.index[~is_scored])}"
        for cell, is_scored in scored_methods
        if not is_scored.all()
    ]
    return levels[is_complete].dropna(how="all").fillna(NOT_ASKED), absences


def _by_document(levels: Frame, levels_of_cell: Frame) -> Frame:
    """Return whether each method was asked about each document of a cell."""
    is_asked = levels.loc[levels_of_cell.index] > NOT_ASKED
    return is_asked.set_axis(levels_of_cell.index.get_level_values("document"))


def _by_model(levels: Frame) -> list[tuple[Any, Frame]]:
    """Return the levels of each model, then those of all together if there are several."""
    models = [*levels.groupby(level="model", sort=False)]
    return models + ([(ALL, levels)] if len(models) > 1 else [])


def _split_by_row(levels: Frame) -> Iterator[tuple[dict[str, Any], Frame]]:
    """Yield what belongs to each row: single benchmarks and models, and all of them together."""
    for (dataset, group), levels_of_dataset in levels.groupby(
        level=["dataset", "group"], sort=False
    ):
        for model, levels_of_model in _by_model(levels_of_dataset):
            yield {"dataset": dataset, "model": model, "group": group}, levels_of_model
    for (model, group), levels_of_model in levels.groupby(level=["model", "group"], sort=False):
        if len(levels_of_model.index.unique("dataset")) > 1:
            yield {"dataset": ALL, "model": model, "group": group}, levels_of_model


def make_outcomes(levels: Frame, lowest: int) -> list[OutcomeRow]:
    """Return the joint outcomes for each benchmark and model, and for all of them."""
    return [_make_outcome(names, part, lowest) for names, part in _split_by_row(levels)]


def _make_outcome(names: dict[str, Any], levels: Frame, lowest: int) -> OutcomeRow:
    lowest_levels = levels.min(axis=1)
    right = levels[lowest_levels >= lowest] == RIGHT
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
    counts: dict[str, Any] = {name: int(is_met.sum()) for name, is_met in conditions.items()}
    is_choice, has_models = any_baseline & ~(all_baselines & is_right), names["model"] == ALL
    selection = _estimate_share(
        "selection", right.loc[is_choice, adaptive], has_interval=not has_models
    )
    note = _DEPENDENT if has_models else ""
    if not is_choice.any():
        note = _NO_CHOICE
    clusters = _clusters_of(right)
    return OutcomeRow(
        **names,
        rule=", ".join(levels.index.unique("rule")),
        adaptive=adaptive,
        baselines=", ".join(baselines),
        n=n,
        n_no_answer=int((lowest_levels == NOT_ANSWERED).sum()),
        n_unknown=int((lowest_levels < NOT_ANSWERED).sum()),
        **counts,
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


def make_wins(levels: Frame, lowest: int, alpha: float) -> Iterator[WinRow]:
    """Yield how often the adaptive method beats each baseline, for each model."""
    adaptive, *baselines = levels.columns
    for model, levels_of_model in _by_model(levels):
        for baseline in baselines:
            lowest_levels = levels_of_model[[adaptive, baseline]].min(axis=1)
            right = levels_of_model[lowest_levels >= lowest] == RIGHT
            more: Any = (right[adaptive] > right[baseline]).groupby(level=CELL).sum()
            less: Any = (right[adaptive] < right[baseline]).groupby(level=CELL).sum()
            signs = np.sign(more - less)
            p_values = [_win_p(cell, adaptive, baseline) for _, cell in right.groupby(level=CELL)]
            signs_by_test = signs * [p < alpha for p in p_values]
            yield WinRow(
                model=model,
                baseline=baseline,
                treatment=adaptive,
                cells=len(signs),
                wins=int((signs == 1).sum()),
                ties=int((signs == 0).sum()),
                losses=int((signs == -1).sum()),
                wins_by_test=int((signs_by_test == 1).sum()),
                ties_by_test=int((signs_by_test == 0).sum()),
                losses_by_test=int((signs_by_test == -1).sum()),
                alpha=alpha,
            )


def _win_p(right: Frame, adaptive: str, baseline: str) -> float:
    """Return the p-value of no difference: exact McNemar's, or by tilting over clusters."""
    difference = right[adaptive].astype(int) - right[baseline].astype(int)
    if not _clusters_of(right).have_several_problems:
        return mcnemar(int((difference > 0).sum()), int((difference < 0).sum()))
    clusters = difference.index.get_level_values("unit")
    return ClusteredMean(difference, clusters, -1, 1).test(0.0).value


def make_agreements(answer_levels: AnswerLevels, lowest: int) -> Iterator[AnswersRow]:
    """Yield how accurate the adaptive method and each baseline are where they agree or differ."""
    levels = answer_levels.levels
    adaptive, *baselines = levels.columns
    comparable_answers = answer_levels.answers.map(_comparable)
    for names, part in _split_by_row(levels):
        for baseline in baselines:
            levels_of_two = part[[baseline, adaptive]]
            right = levels_of_two[levels_of_two.min(axis=1) >= lowest] == RIGHT
            answers = comparable_answers.loc[right.index]
            is_same = (answers[baseline] != "") & (answers[baseline] == answers[adaptive])
            is_baseline_right, is_adaptive_right = right[baseline], right[adaptive]
            any_right = is_baseline_right | is_adaptive_right
            shares = {
                "agree": is_same,
                "accuracy_agree": is_baseline_right[is_same],
                "accuracy_baseline_differ": is_baseline_right[~is_same],
                "accuracy_adaptive_differ": is_adaptive_right[~is_same],
                "accepted": is_same & is_baseline_right,
                "verified": (is_same & is_baseline_right) | (~is_same & any_right),
            }
            figures: dict[str, Any] = {}
            for name, hits in shares.items():
                figures |= _estimate_share(name, hits, has_interval=names["model"] != ALL)
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


def _estimate_share(name: str, hits: Any, has_interval: bool) -> dict[str, Any]:
    """Return the share of problems that are hits, with its interval; None without problems."""
    if not len(hits):
        return fields_of(name, None)
    if not has_interval:
        return fields_of(name, no_interval(float(hits.mean()), 0.95, _DEPENDENT))
    clusters = hits.index.get_level_values("unit")
    return fields_of(name, estimate_clustered_accuracy(hits, clusters))


def compare_rules(rows: Iterable[GroupedRow]) -> list[GroupedRow]:
    """Return scores in which the rule takes the place of the method, to compare rules."""
    return [
        replace(row, method=row.rule, group=name_cell([row.group, row.method]), rule=ALL)
        for row in rows
    ]
