"""`evalcore efficiency`: what correct answers cost."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypedDict

from evalcore.figures.frontier import draw_frontier
from evalcore.logs import UsageRow
from evalcore.records import read_records
from evalcore.row_files import GivenTables, Table, as_tables, read_rows
from evalcore.scores import NO_ANSWER_IS, UNKNOWN, ScoreRow
from evalcore.statistics import Resampling
from evalcore.tallies import read_chosen
from evalcore.token_costs import (
    TOKENS,
    CostSettings,
    EfficiencyRow,
    Usage,
    cost_rows,
    output_of,
    with_tokens,
)
from ngramscan.errors import InputError
from ngramscan.output import refuse_other, several, strict_keywords, to_frame
from ngramscan.output.canvas import check_target, save_figure

if TYPE_CHECKING:
    import pandas as pd
    from rich.console import Console

_SHOWN = (
    *("dataset", "model", "method", "n", "accuracy", "mean_tokens", "tokens_per_correct"),
    *("accuracy_per_100_tokens", "prompt_overhead", "on_frontier", "frontier_share"),
)
_TEXTS = 3
DEFAULT_BASELINE = "zero-shot"
_OPTIONAL = (
    *("frontier_share", "prompt_overhead", "accuracy_per_100_tokens", "dataset", "n"),
    *("note", "mean_tokens"),
)
"""Columns that a narrow terminal has no room for, the first to go first."""


class EfficiencyOptions(TypedDict, total=False):
    """All options of `efficiency` but the scores."""

    outputs: str | Path | None
    usage: str | Path | None
    rule: str | Sequence[str]
    baseline: str
    tokens: str
    run: str | Sequence[str]
    no_answer: str
    draws: int
    seed: int
    figure: str | Path | None


class Costs(NamedTuple):
    """The rows of the command, and what to say beside them."""

    rows: list[EfficiencyRow]
    notices: list[str]


def efficiency_with(scores: Sequence[Table], options: EfficiencyOptions) -> Costs:
    """Find what correct answers cost."""
    figure = Path(named) if (named := options.get("figure")) else None
    check_target(figure)
    usage = _usage(options)
    costs = _costs(scores, usage, options)
    if figure:
        drawable = [row for row in costs.rows if row.on_frontier is not None]
        if not drawable:
            raise InputError(str(figure), "nothing to draw: no tokens are known")
        save_figure(draw_frontier(drawable), figure)
    return costs


def _usage(options: EfficiencyOptions) -> Sequence[Usage]:
    """Return the tokens of outputs."""
    outputs, usage = options.get("outputs"), options.get("usage")
    if outputs and usage:
        raise InputError("--usage", "it can't go with --outputs; both have the tokens")
    if usage:
        return read_rows(Path(usage), UsageRow, "rows of `evalcore logs --usage`")
    if not outputs:
        raise InputError("--outputs", "missing; scores do not say how many tokens were used")
    return read_records(Path(outputs))


def _costs(tables: Sequence[Table], usage: Sequence[Usage], options: EfficiencyOptions) -> Costs:
    settings = _settings(options)
    rules, runs = several(options.get("rule", ())), several(options.get("run", ()))
    rows = read_chosen(tables, rules, runs)
    if settings.baseline != DEFAULT_BASELINE:
        refuse_other("--baseline", settings.baseline, dict.fromkeys(row.method for row in rows))
    found = cost_rows(with_tokens(rows, usage), settings)
    resampling = settings.resampling
    drawn = f"Intervals: {resampling.draws:,} draws of problems, seed {resampling.seed}"
    return Costs(found, [*_left_out(rows), *_unmatched(rows, usage), drawn])


def _left_out(rows: Sequence[ScoreRow]) -> list[str]:
    unknown = sum(row.status == UNKNOWN for row in rows)
    said = f"{unknown:,} of {len(rows):,} outputs are left out: nothing is known of them"
    return [said] if unknown else []


def _settings(options: EfficiencyOptions) -> CostSettings:
    tokens = options.get("tokens", TOKENS[0])
    no_answer = options.get("no_answer", NO_ANSWER_IS[0])
    refuse_other("--tokens", tokens, TOKENS)
    refuse_other("--no-answer", no_answer, NO_ANSWER_IS)
    resampling = Resampling(options.get("draws", 2000), options.get("seed", 1))
    return CostSettings(resampling, tokens, options.get("baseline", DEFAULT_BASELINE), no_answer)


def _unmatched(rows: Iterable[ScoreRow], usage: Iterable[Usage]) -> list[str]:
    scored = {output_of(row) for row in rows}
    recorded = {output_of(one) for one in usage}
    said = []
    if absent := len(scored - recorded):
        said.append(f"{absent} of {len(scored)} scored outputs are not among the recorded ones")
    if unused := len(recorded - scored):
        said.append(
            f"{unused} of {len(recorded)} recorded outputs are not scored; they are left out"
        )
    return said


def print_costs(console: Console, rows: Sequence[EfficiencyRow]) -> None:
    """Print the main columns; files have all."""
    from ngramscan.output.layout import Layout, cell, print_columns

    columns = {
        name: [cell(getattr(row, name)) for row in rows]
        for name in _SHOWN
        if any(getattr(row, name) is not None for row in rows)
    }
    if any(row.note for row in rows):
        columns["note"] = [row.note for row in rows]
    layout = Layout(_TEXTS, frozenset({"model", "method", "note"}), _OPTIONAL)
    print_columns(console, columns, layout)


@strict_keywords
def efficiency(
    scores: GivenTables,
    *,
    outputs: str | Path | None = None,
    usage: str | Path | None = None,
    baseline: str = DEFAULT_BASELINE,
    tokens: str = TOKENS[0],
    rule: str | Sequence[str] = (),
    run: str | Sequence[str] = (),
    no_answer: str = NO_ANSWER_IS[0],
    draws: int = 2000,
    seed: int = 1,
    figure: str | Path | None = None,
) -> pd.DataFrame:
    """Find what correct answers cost.

    Parameters
    ----------
    scores : str, Path or DataFrame, or several of them
        Score rows: files that `score`, `judge` or `logs` wrote, or what they returned.
    outputs : str or Path, optional
        The recorded outputs, which have the tokens; this or `usage` is needed.
    usage : str or Path, optional
        The tokens of each answer, as `logs` writes them.
    baseline : str
        The method whose prompts others are compared with.
    tokens : str
        Which tokens count: `completion`, those of the answer with its reasoning, or `total`, those
        of the prompt too.
    rule : str or sequence of str
        The rules whose values are taken, one per benchmark; needed where several rules scored.
    run : str or sequence of str
        The runs to take of methods that have several: names, parts of them, or `latest`.
    no_answer : str
        What an output counts as that was refused, cut off or empty: `wrong`, or `exclude`d.
    draws : int
        Number of draws of problems, for intervals.
    seed : int
        Random seed.
    figure : str or Path, optional
        Draw accuracy against tokens, with the frontier: .svg or .png.

    Returns
    -------
    DataFrame
        One row per benchmark, model and method, and one for all models.

    Raises
    ------
    InputError
        A file or an option is wrong.
    """
    options = EfficiencyOptions(
        outputs=outputs,
        usage=usage,
        baseline=baseline,
        tokens=tokens,
        rule=several(rule),
        run=several(run),
        no_answer=no_answer,
        draws=draws,
        seed=seed,
        figure=figure,
    )
    return to_frame(efficiency_with(as_tables(scores), options).rows, EfficiencyRow)
