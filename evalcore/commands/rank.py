"""`evalcore rank`: models and methods in the order of their accuracy, with limits of the ranks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations
from typing import Annotated, Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from evalcore.answer_table import Frame, describe_documents, make_answer_table, name_cell
from evalcore.labels import read_labels
from evalcore.messages import Messages
from evalcore.options import Seed
from evalcore.paired_tests import Comparison, Settings, compare_pairs, correct_pairs
from evalcore.score_options import ScoreOptions
from ngramscan.errors import InputError
from ngramscan.messages import OptionUse, Text, counted
from ngramscan.options import Level
from ngramscan.reading.row_files import GivenTables, Table
from ngramscan.reporting.columns import for_paper, print_notes, to_columns
from ngramscan.reporting.command import NewFile, Option, Result, Shared, command
from ngramscan.reporting.layout import Layout, print_columns, print_line
from ngramscan.rows import Heading, Label, Plot, Share, row_kind
from ngramscan.statistics.estimates import Estimate, fields_of
from ngramscan.statistics.judged_means import JudgedMean
from ngramscan.statistics.ranks import PairTest, estimate_ranks
from ngramscan.statistics.resampling import Floats
from ngramscan.statistics.streams import stream
from ngramscan.statistics.two_samples import estimate_clustered_accuracy, estimate_mean, is_binary

Ranked = Literal["both", "methods", "models"]
_IN_COMMON = {
    "both": ["dataset", "group", "rule"],
    "methods": ["dataset", "model", "group", "rule"],
    "models": ["dataset", "method", "group", "rule"],
}
"""The columns that all in a list have in common, by what is ranked."""
_LEGEND = (
    "rank: with limits that hold for all of a list together; accuracy: in percent, with the"
    " interval of each; better, worse: how many of the others are significantly so"
)


@row_kind(
    "rank",
    "Ranks",
    Plot(
        "rank",
        panel=("dataset",),
        label=("model", "group", "method", "rule"),
        aside="of {rank_of}",
    ),
    key=("n", "accuracy", "accuracy_low", "accuracy_high", "rank_of", "level"),
)
@dataclass(frozen=True, slots=True, kw_only=True)
class RankedRow:
    """The place of one model with one method; accuracies are fractions."""

    dataset: Label
    model: Label
    group: str = ""
    """The values of further columns that `--by` names."""
    method: Label
    rule: Label
    n: int
    """Problems that all in the list have a known result for; only these count."""
    accuracy: Share
    """The mean over problems of the mean over answers to the problem."""
    accuracy_low: Share | None
    """Limit of the interval of this accuracy alone."""
    accuracy_high: Share | None
    rank: int
    """1 plus the number of others with a higher accuracy; equal accuracies have the same rank."""
    rank_low: int
    """1 plus `better`: the best rank that the data allow."""
    rank_high: int
    """`rank_of` minus `worse`: the worst one."""
    rank_of: Annotated[int, Heading("ranked")]
    """How many are ranked in this list."""
    better: int
    """Others that are significantly better, by paired tests and Holm's procedure over all pairs."""
    worse: int
    level: float
    """Confidence level: of the accuracy by itself, and of all ranks in the list together."""
    n_labelled: int | None = None
    """Problems with labels of people, with which the accuracy is corrected. None: no labels."""
    judge_weight: float | None = None
    """The share of the judge's mean in the corrected accuracy, from 0 to 1."""
    accuracy_judged: Share | None = None
    """The accuracy by the judge alone, if it is corrected."""
    note: str = ""


@dataclass(frozen=True, slots=True)
class _RankedMethod:
    """One model with one method: a value for each problem, in the same order for all of a list."""

    model: str
    method: str
    scores: Floats
    """Mean over the answers to a problem; nan: there is none."""
    labels: Floats
    """The same by people; nan: not all answers have labels. 0 if there is no answer."""

    @property
    def is_labelled(self) -> bool:
        """Whether any answer has a label."""
        return bool((~np.isnan(self.labels) & ~np.isnan(self.scores)).any())


class _Ranking(NamedTuple):
    """Models and methods that are ranked together."""

    names: dict[str, str]
    entries: list[_RankedMethod]
    n_left_out: int
    """Problems without a known result of one of them."""
    is_judged: bool
    """Whether scores are corrected by labels."""
    units: NDArray[np.int64]
    """The independent unit of each problem: its cluster, or the problem itself."""
    has_clusters: bool

    @property
    def title(self) -> str:
        return name_cell(self.names.values())


def _make_ranking(names: dict[str, str], scores: Frame, lowest: int) -> _Ranking:
    by_entry = ["model", "method"]
    # One answer with an unknown result makes the mean of a problem unknown.
    levels = scores.groupby([*by_entry, "problem"])["level"].min()
    n_known = levels[levels >= lowest].groupby("problem").size()
    n_entries = scores.groupby(by_entry).ngroups
    problems = n_known[n_known == n_entries].index
    is_judged = "label" in scores
    if not is_judged:
        scores = scores.assign(label=np.nan)
    # An answer that is missing is wrong, for people too.
    no_answer = scores["value"].isna()
    scores = scores.assign(
        is_answered=~no_answer,
        value=scores["value"].fillna(0.0),
        label=scores["label"].mask(no_answer, 0.0),
        is_labelled=scores["label"].notna() | no_answer,
    )
    entries = []
    for (model, method), answers in scores.groupby(by_entry, sort=False):
        by_problem = answers.groupby("problem")
        values = by_problem["value"].mean().where(by_problem["is_answered"].any())
        labels = by_problem["label"].mean().where(by_problem["is_labelled"].all())
        columns = [column.reindex(problems).to_numpy(dtype=float) for column in (values, labels)]
        entries.append(_RankedMethod(str(model), str(method), *columns))
    n_left_out = scores["problem"].nunique() - problems.size
    units = scores.groupby("problem")["unit"].first().reindex(problems).to_numpy()
    has_clusters = bool(scores["cluster"].notna().any())
    return _Ranking(names, entries, n_left_out, is_judged, units, has_clusters)


def _estimate_accuracy(
    entry: _RankedMethod, ranked: _Ranking, level: float
) -> tuple[Estimate, JudgedMean | None]:
    has_answer, values = ~np.isnan(entry.scores), np.nan_to_num(entry.scores)
    if ranked.is_judged:
        judged = JudgedMean(values, entry.labels, 0, 1, ranked.units, can_err=has_answer)
        return judged.estimate(level), judged
    if ranked.has_clusters:
        return estimate_clustered_accuracy(values, ranked.units, level), None
    return estimate_mean(values, is_binary(values), level), None


def _compare(
    first: _RankedMethod, second: _RankedMethod, ranked: _Ranking, settings: Settings
) -> PairTest:
    """Test the difference of two entries, the first minus the second."""
    values = second.scores, first.scores
    names = first.model, first.method, second.model, second.method
    generator = stream(settings.seed, *ranked.names.values(), *names)
    result: Comparison | None = compare_pairs(
        *values, generator, settings, ranked.units, has_clusters=ranked.has_clusters
    )
    if result and ranked.is_judged:
        is_incomplete = np.isnan(first.labels) | np.isnan(second.labels)
        labels = (
            np.where(is_incomplete, np.nan, second.labels),
            np.where(is_incomplete, np.nan, first.labels),
        )
        result = correct_pairs(result, values, labels, settings, ranked.units)
    if not result:
        return PairTest(difference=0.0, p=None)
    return PairTest(result.difference.value, result.p.value)


def rank_entries(ranked: _Ranking, settings: Settings) -> Iterator[RankedRow]:
    """Yield the row of each entry of a list, from the best one on."""
    entries, level = ranked.entries, settings.level
    estimates = [_estimate_accuracy(entry, ranked, level) for entry in entries]
    tests = {
        (first, second): _compare(entries[first], entries[second], ranked, settings)
        for first, second in combinations(range(len(entries)), 2)
    }
    ranks = estimate_ranks([accuracy.value for accuracy, _ in estimates], tests, level)
    untested = [places for places, test in tests.items() if test.p is None]
    rows = []
    for place, (entry, (accuracy, judged), rank) in enumerate(
        zip(entries, estimates, ranks, strict=True)
    ):
        n_untested = sum(place in places for places in untested)
        few = f"not tested against {counted(n_untested, 'other')}: no problem has both labels"
        notes = [accuracy.note, few if n_untested else ""]
        row = RankedRow(
            dataset=ranked.names["dataset"],
            model=entry.model,
            group=ranked.names["group"],
            method=entry.method,
            rule=ranked.names["rule"],
            n=entry.scores.size,
            **fields_of("accuracy", accuracy),
            rank=rank.value,
            rank_low=rank.low,
            rank_high=rank.high,
            rank_of=len(entries),
            better=rank.low - 1,
            worse=len(entries) - rank.high,
            level=level,
            note="; ".join(filter(None, notes)),
        )
        if judged:
            row = replace(
                row,
                n_labelled=judged.n_labelled,
                judge_weight=judged.judge_weight,
                accuracy_judged=judged.judged,
            )
        rows.append(row)
    yield from sorted(rows, key=lambda row: row.rank)


def _why_not_ranked(ranked: _Ranking) -> Text:
    """Return why a list can't be ranked; empty if it can be."""
    if not ranked.entries[0].scores.size:
        return f"{ranked.title}: no problem has a known result of all {len(ranked.entries)}"
    unlabelled = [entry for entry in ranked.entries if not entry.is_labelled]
    if ranked.is_judged and unlabelled:
        entry = name_cell([unlabelled[0].model, unlabelled[0].method])
        cure = OptionUse("labels") + " needs some of each that is ranked"
        return f"{ranked.title}: no label of {entry}; " + cure
    return ""


def _columns(rows: Sequence[RankedRow]) -> dict[str, Any]:
    names = ("dataset", "model", "group", "method", "rule", "n")
    columns = to_columns(rows, (*names, "rank", "accuracy", "better", "worse"))
    if any(row.n_labelled is not None for row in rows):
        judge_columns = (
            ("labelled", "n_labelled"),
            "judge_weight",
            ("accuracy by judge", "accuracy_judged"),
        )
        columns |= to_columns(rows, judge_columns)
    return columns


def _print(console: Any, rows: Sequence[RankedRow]) -> None:
    print_columns(console, _columns(rows), Layout(5, optional=("worse", "better")))
    if rows:
        print_line(console, _LEGEND, "dim")
        print_notes(console, rows, "model", "method")


@command
def rank(
    scores: GivenTables,
    *,
    of: Ranked = "both",
    labels: Annotated[Table | None, Option(metavar="FILE")] = None,
    level: Level = 0.95,
    seed: Seed = 1,
    figure: NewFile = None,
    **options: Annotated[Any, Shared(ScoreOptions)],
) -> Result[RankedRow]:
    """Rank models and methods by accuracy: a leaderboard with limits.

    SCORES are as for `compare`. All pairs are tested on the problems that all have in common, as
    `compare` does, with Holm's procedure. A rank lies between 1 plus the number of those that are
    significantly better, and the last place that those which are significantly worse leave. With a
    probability of --level these limits hold for all ranks of a list.

    Parameters
    ----------
    scores : see compare
    of : str
        Rank `models` that use the same method, `methods` of the same model, or `both`: each model
        with each method.
    labels : str, Path or DataFrame, optional
        People's verdicts on a random part of the outputs, with which accuracies by a judge that
        errs are corrected; see `compare`.
    level : float
        Confidence level of the accuracies, each by itself, and of all ranks of a list together.
    seed : int
        Random seed; it matters only where tests draw at random.
    figure : str or Path, optional
        Draw the ranks with their limits: .svg, .png or .pdf.

    Returns
    -------
    DataFrame
        One row per benchmark, rule, model and method, from the best one on. If some can't be
        ranked, an IncompleteError holds the other rows.

    Examples
    --------
    $ evalcore rank scores.jsonl
    $ evalcore rank scores.jsonl --of methods --figure ranks.svg
    $ evalcore rank proofs.jsonl --labels people.csv
    """
    score_options = ScoreOptions(**options)
    rows_of_scores, messages = score_options.read(scores, is_one_rule=False)
    table = make_answer_table(rows_of_scores, score_options.unpooled)
    if labels is not None:
        values, label_notices = read_labels(labels, rows_of_scores)
        table = table.assign(label=values[table.index])
        messages += Messages(notices=label_notices)
    messages = Messages(notices=describe_documents(table)) + messages
    settings = Settings(no_answer=score_options.no_answer, level=level, seed=seed)
    in_common, rows = _IN_COMMON[of], list[RankedRow]()
    for cell, answers in table.groupby(in_common, sort=False):
        names = dict(zip(in_common, map(str, cell), strict=True))
        ranked = _make_ranking(names, answers, score_options.lowest_level)
        if why := _why_not_ranked(ranked):
            messages += Messages(failures=[why])
            continue
        if ranked.n_left_out:
            left_out = f"{counted(ranked.n_left_out, 'problem')} left out"
            notice = f"{ranked.title}: {left_out}, without a known result of each"
            messages += Messages(notices=[notice])
        rows += rank_entries(ranked, settings)
    if not rows:
        raise InputError("scores", "nothing to rank; " + messages.failures[-1])
    return Result(
        rows,
        RankedRow,
        notices=messages.notices,
        failures=messages.failures,
        print_table=partial(_print, rows=rows),
        figure=(figure, rows),
        for_paper=for_paper(_columns(rows)),
    )
