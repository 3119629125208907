"""`evalcore outcomes`: which methods solve which problems."""

from collections.abc import Sequence
from functools import partial
from typing import Annotated, Any, Literal

from evalcore.outcomes_rows import (
    AnswersRow,
    OutcomeRow,
    WinRow,
    compare_rules,
    find_answer_levels,
    make_agreements,
    make_outcomes,
    make_wins,
)
from evalcore.score_options import ScoreOptions
from ngramscan.errors import InputError
from ngramscan.messages import OptionUse
from ngramscan.options import Level
from ngramscan.reading.row_files import GivenTables
from ngramscan.reporting import refuse_other
from ngramscan.reporting.columns import for_paper, print_pooled, to_columns
from ngramscan.reporting.command import Option, Result, RowsFile, Shared, command
from ngramscan.reporting.layout import Layout

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
_agreement_columns = partial(
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


def _print(
    console: Any,
    rows: Sequence[OutcomeRow],
    wins: Sequence[WinRow],
    agreements: Sequence[AnswersRow],
) -> None:
    layout = Layout(6, frozenset({"baselines"}), _OPTIONAL)
    print_pooled(console, rows, _columns, layout, notes=("dataset", "model"))
    layout = Layout(6, title="Equal and different answers")
    print_pooled(console, agreements, _agreement_columns, layout)
    title = f"Benchmarks won, tied and lost; by test: p < {wins[0].alpha:g}" if wins else None
    layout = Layout(3, optional=("cells",), title=title)
    print_pooled(console, wins if rows else (), partial(to_columns, names=_WINS), layout)


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
    score_options = ScoreOptions(**options)
    scores_of_methods, messages = score_options.read(scores, is_one_rule=between == "methods")
    if between == "rules":
        scores_of_methods = compare_rules(scores_of_methods)
    methods = [adaptive, *baselines]
    available = [row.method for row in scores_of_methods]
    refuse_other("adaptive", adaptive, available)
    refuse_other("baselines", baselines, available)
    if repeated := [name for name in methods if methods.count(name) > 1]:
        raise InputError(OptionUse("baselines", repeated[0]), "this method was given twice")
    answer_levels, level_messages = find_answer_levels(
        scores_of_methods, methods, epoch, score_options
    )
    messages += level_messages
    lowest = score_options.lowest_level
    rows = make_outcomes(answer_levels.levels, lowest)
    win_rows = [*make_wins(answer_levels.levels, lowest, alpha)]
    agreement_rows = [*make_agreements(answer_levels, lowest)] if agreements else []
    return Result(
        rows,
        OutcomeRow,
        heading=messages.heading,
        notices=messages.notices,
        failures=messages.failures,
        print_table=partial(_print, rows=rows, wins=win_rows, agreements=agreement_rows),
        files=[(wins, win_rows, WinRow), (agreements, agreement_rows, AnswersRow)],
        for_paper=for_paper(_columns(rows)),
    )
