"""`evalcore efficiency`: what correct answers cost, and which methods are worth it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from itertools import starmap
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import numpy as np
from numpy.typing import NDArray

from evalcore.figures import draw_frontier
from evalcore.logs import UsageRow
from evalcore.outcomes import ALL, Names, NoAnswer
from evalcore.records import Record, read_records
from evalcore.scores import NO_ANSWER, UNKNOWN, ScoreRow, read_chosen
from ngramscan.errors import InputError
from ngramscan.output import refuse_other
from ngramscan.output.canvas import check_target, save_figure
from ngramscan.output.command import Option, Result, command
from ngramscan.output.layout import Layout, cell, print_columns
from ngramscan.output.row_files import GivenTables, read_rows
from ngramscan.statistics import resampling
from ngramscan.statistics.resampling import ITEMS_FOR_AN_INTERVAL, Ratio, Resampling

if TYPE_CHECKING:
    import pandas as pd
    from rich.console import Console

Floats = NDArray[np.float64]
Usage = Record | UsageRow
"""What says how many tokens an output took."""
_BASELINE = "zero-shot"
_KINDS = ("prompt", "completion", "reasoning")
_SUMS = ["outputs", "right", "known", "known_right", "used"]
"""What is added up for each problem; the last three over outputs whose tokens are known."""
_QUOTIENTS = {
    "accuracy": (100, "there are no outputs"),
    "mean_tokens": (1, "no tokens are known"),
    "tokens_per_correct": (1, "no tokens per correct answer: none is correct"),
    "accuracy_per_100_tokens": (10_000, "no accuracy per token: there are no tokens"),
}
"""The factor of the unit, and what is said where there is no quotient."""
_NO_SPREAD = 1e-9
"""A relative standard error below it is a rounding error."""
_SHOWN = (
    *("dataset", "model", "method", "n", *_QUOTIENTS, "prompt_overhead", "on_frontier"),
    *("frontier_share", "note"),
)
_OPTIONAL = (
    *("frontier_share", "prompt_overhead", "accuracy_per_100_tokens", "dataset", "n"),
    *("note", "mean_tokens"),
)
"""Columns that a narrow terminal has no room for, the first to go first."""


@dataclass(frozen=True, slots=True)
class EfficiencyRow:
    """What one model's answers after one method cost."""

    dataset: str
    model: str
    """`all`: the answers of all models together."""
    method: str
    rule: str | None = None
    n: int | None = None
    n_no_answer: int | None = None
    """Outputs that were refused, cut off or empty: wrong, or excluded and not in `n`."""
    n_unknown: int | None = None
    """Outputs of which nothing is known: left out, and not in `n`."""
    correct: float | None = None
    """The sum of the values."""
    accuracy: float | None = None
    """In percent."""
    accuracy_low: float | None = None
    """Limit of the 95 % interval from draws of problems; None: none, and the note says why."""
    accuracy_high: float | None = None
    n_tokens: int | None = None
    """Outputs whose tokens are known; what follows is of these."""
    mean_tokens: float | None = None
    mean_tokens_low: float | None = None
    mean_tokens_high: float | None = None
    tokens_per_correct: float | None = None
    """All tokens over all correct answers; None: nothing is correct."""
    tokens_per_correct_low: float | None = None
    tokens_per_correct_high: float | None = None
    accuracy_per_100_tokens: float | None = None
    """Mean accuracy, in percent, over mean tokens, times 100: a ratio of means."""
    accuracy_per_100_tokens_low: float | None = None
    accuracy_per_100_tokens_high: float | None = None
    mean_of_ratios: float | None = None
    """The mean of the models' ratios, in rows of all models; the cheapest has the most weight."""
    mean_prompt_tokens: float | None = None
    mean_completion_tokens: float | None = None
    mean_reasoning_tokens: float | None = None
    prompt_overhead: float | None = None
    """How many more prompt tokens than the baseline's, in the mean over the same problems."""
    prompt_overhead_n: int | None = None
    """Outputs that it is of."""
    on_frontier: bool | None = None
    """No other method of the model is as accurate with as few tokens, and better in one of them."""
    frontier_share: float | None = None
    """Share of draws of problems in which it is so."""
    note: str = ""


def _output(one: ScoreRow | Usage) -> tuple[object, ...]:
    """Return which output a row is about; records are of one run each."""
    run = None if isinstance(one, Record) else one.run
    return one.dataset, one.model, one.method, one.id, one.epoch, run


def _outputs(
    rows: Sequence[ScoreRow], usage: Sequence[Usage], tokens: str, no_answer: str, baseline: str
) -> pd.DataFrame:
    """Return a table of the outputs, with what is added up; nan: tokens that are not known."""
    import pandas as pd

    table, by_output = pd.DataFrame([asdict(row) for row in rows]), {_output(u): u for u in usage}
    for kind in _KINDS:
        counts = [getattr(by_output.get(_output(row)), f"{kind}_tokens", None) for row in rows]
        table[kind] = np.array(counts, dtype=float)
    used = table["completion"] + (table["prompt"] if tokens == "total" else 0)
    leaves = [UNKNOWN, NO_ANSWER] if no_answer == "exclude" else [UNKNOWN]
    table["counts"], table["outputs"] = ~table["status"].isin(leaves), 1.0
    table["right"], table["used"] = table["value"].astype(float).fillna(0), used.fillna(0)
    table["known"] = used.notna().astype(float)
    table["known_right"] = table["right"] * table["known"]
    key = ["dataset", "model", "id", "epoch"]
    beside = table.loc[table["method"] == baseline, [*key, "prompt"]]
    table = table.merge(beside, how="left", on=key, suffixes=("", "_beside"))
    table["more"] = (table["prompt"] - table["prompt_beside"])[table["method"] != baseline]
    return table


def _rows(outputs: pd.DataFrame, baseline: str, how: Resampling) -> Iterator[EfficiencyRow]:
    """Yield one row per benchmark, model and method, then one for all models."""
    for _, own in outputs.groupby("dataset", sort=False):
        models = [part for _, part in own.groupby("model", sort=False)]
        singles: list[EfficiencyRow] = []
        for part in models:
            singles += _method_rows(part, baseline, (), how)
        yield from singles
        if len(models) > 1:
            yield from _method_rows(own.assign(model=ALL), baseline, singles, how)


def _method_rows(
    outputs: pd.DataFrame, baseline: str, singles: Sequence[EfficiencyRow], how: Resampling
) -> Iterator[EfficiencyRow]:
    """Yield one row per method; of all models, with the mean of what their single rows have."""
    every = [own for _, own in outputs.groupby("method", sort=False)]
    kept = [own[own["counts"]] for own in every]
    ids = outputs.loc[outputs["counts"], "id"].unique()
    sums = [own.groupby("id")[_SUMS].sum().reindex(ids, fill_value=0).to_numpy() for own in kept]
    estimates = estimate_costs(sums, how)
    for own, counted, (columns, told) in zip(every, kept, estimates, strict=True):
        names, more = own.iloc[0], own["more"].dropna()
        n, n_tokens = columns["n"], columns["n_tokens"]
        known = f"tokens are known of {n_tokens} of {n} outputs" * (n_tokens != n)
        ratio, of_ratio = _mean_of_ratios(names["method"], singles)
        alone = f"no prompt tokens of it and {baseline} on the same problems"
        notes = [known, *told, of_ratio, alone * (more.empty and names["method"] != baseline)]
        columns |= {f"mean_{kind}_tokens": _mean(counted[kind]) for kind in _KINDS}
        yield EfficiencyRow(
            dataset=names["dataset"],
            model=names["model"],
            method=names["method"],
            rule=names["rule"],
            n_no_answer=int((own["status"] == NO_ANSWER).sum()),
            n_unknown=int((own["status"] == UNKNOWN).sum()),
            mean_of_ratios=ratio,
            prompt_overhead=_mean(more),
            prompt_overhead_n=len(more) or None,
            note="; ".join(dict.fromkeys(filter(None, notes))),
            **columns,
        )


def _mean(values: Any) -> float | None:
    known = np.array(values, dtype=float)[np.isfinite(values)]
    return float(known.mean()) if known.size else None


def _mean_of_ratios(method: str, singles: Sequence[EfficiencyRow]) -> tuple[float | None, str]:
    ratios = [row.accuracy_per_100_tokens for row in singles if row.method == method]
    n_models = len({row.model for row in singles})
    if None in ratios:
        return None, "no mean of ratios: a model's tokens are not known"
    return _mean(ratios), f"of {len(ratios)} of {n_models} models" * (len(ratios) < n_models)


# Accuracy, tokens and their quotients: arrays in, columns out


@np.errstate(divide="ignore", invalid="ignore")
def estimate_costs(
    methods: Sequence[Floats], how: Resampling
) -> list[tuple[dict[str, Any], list[str]]]:
    """Return columns of a row, and notes, for each of some methods on the same problems.

    Each has an array of shape (n_problems, 5): by problem, what `_SUMS` names.
    """
    # The odds of a right answer: their logarithm has no bounds, as those of the others.
    ratios = [
        [Ratio(right, n - right), *starmap(Ratio, others)]
        for (right, n), *others in map(_divided, methods)
    ]
    rows = [sums.T for sums in methods] + [ratio.rows() for own in ratios for ratio in own]
    drawn = np.empty((len(rows), 5, 0))
    if len(methods[0]) >= ITEMS_FOR_AN_INTERVAL:
        generator = np.random.default_rng(how.seed)
        sums = resampling.drawn_sums(np.nan_to_num(np.concatenate(rows)), generator, how.draws)
        drawn = sums.reshape(len(rows), 5, -1)
    totals, of_draws = np.stack(methods).sum(axis=1), np.moveaxis(drawn[: len(methods)], -1, 0)
    values, (right, cost, *_) = _quotients(totals), _quotients(of_draws)
    on, shares = pareto_frontier(values[0], values[1]), pareto_frontier(right, cost)
    by_ratio = iter(drawn[len(methods) :])
    found = []
    for number, own in enumerate(ratios):
        is_placed = np.isfinite(values[:2, number]).all()
        columns: dict[str, Any] = {
            "n": int(totals[number, 0]),
            "correct": float(totals[number, 1]),
            "n_tokens": int(totals[number, 2]),
            "on_frontier": bool(on[number]) if is_placed else None,
            "frontier_share": _mean(shares[:, number]) if is_placed else None,
        }
        notes: dict[str, list[str]] = {}
        for name, value, ratio in zip(_QUOTIENTS, values[:, [number]], own, strict=True):
            low, high, note = _interval(name, ratio, next(by_ratio), how.level)
            columns |= {name: _mean(value), f"{name}_low": low, f"{name}_high": high}
            notes.setdefault(note, []).append(name)
        told = [
            f"{', '.join(names)}: " * (note.startswith("no interval") and len(names) < 4) + note
            for note, names in notes.items()
        ]
        found.append((columns, told))
    return found


def _divided(sums: Floats) -> list[tuple[Floats, Floats]]:
    """Return what is divided by what."""
    outputs, right, known, known_right, used = np.moveaxis(sums, -1, 0)
    return [(right, outputs), (used, known), (used, known_right), (known_right, used)]


def _quotients(sums: Floats) -> Floats:
    factors = [factor for factor, _ in _QUOTIENTS.values()]
    pairs = zip(factors, _divided(sums), strict=True)
    return np.stack([factor * above / below for factor, (above, below) in pairs])


def pareto_frontier(right: Floats, cost: Floats) -> NDArray[np.bool_]:
    """Tell which methods, along the last axis, no other one beats; one with a nan is not on it."""
    # Comparisons with what is not known are false: such a method beats none.
    more = right[..., None, :] - right[..., :, None]
    dearer = cost[..., None, :] - cost[..., :, None]
    beaten = ((more >= 0) & (dearer <= 0) & ((more > 0) | (dearer < 0))).any(axis=-1)
    return np.asarray(~beaten & ~np.isnan(right + cost))


def _interval(
    name: str, ratio: Ratio, sums: Floats, level: float
) -> tuple[float | None, float | None, str]:
    """Return an interval, from that of the logarithm of a ratio; or why there is none."""
    (factor, undefined), is_share, note = _QUOTIENTS[name], name == "accuracy", ""
    data = ratio.of_data().log()
    if not np.isfinite(ratio.value) and not (is_share and ratio.n):
        note = undefined
    elif ratio.n < ITEMS_FOR_AN_INTERVAL:
        note = f"no interval: {ratio.n} items; {ITEMS_FOR_AN_INTERVAL} are needed"
    elif not data.errors[0] >= _NO_SPREAD:
        note = "no interval: all problems give the same value"
    if note:
        return None, None, note
    # Accuracies have bounds; a problem may take more tokens than any that was seen.
    one_more = 0.0 if is_share else ratio.largest_influence / ratio.value
    drawn = ratio.of_sums(sums).log()
    limits = np.exp(resampling.studentized_limits(data, drawn, ratio.n, level, one_more))
    low, high = factor * (limits / (1 + limits) if is_share else limits)
    return float(low), float(high), ""


def _left_out(rows: Sequence[ScoreRow], usage: Sequence[Usage]) -> Iterator[str]:
    if unknown := sum(row.status == UNKNOWN for row in rows):
        yield f"{unknown:,} of {len(rows):,} outputs are left out: nothing is known of them"
    scored, recorded = {_output(row) for row in rows}, {_output(one) for one in usage}
    if absent := len(scored - recorded):
        yield f"{absent} of {len(scored)} scored outputs are not among the recorded ones"
    if unused := len(recorded - scored):
        yield f"{unused} of {len(recorded)} recorded outputs are not scored; they are left out"


def _print(console: Console, rows: Sequence[EfficiencyRow]) -> None:
    """Print the main columns; files have all."""
    columns = {
        name: [cell(getattr(row, name)) for row in rows]
        for name in _SHOWN
        if any(getattr(row, name) not in (None, "") for row in rows)
    }
    print_columns(console, columns, Layout(3, frozenset({"model", "method", "note"}), _OPTIONAL))


@command
def efficiency(
    scores: GivenTables,
    *,
    outputs: Annotated[str | Path | None, Option(metavar="PATH")] = None,
    usage: Annotated[str | Path | None, Option(metavar="FILE")] = None,
    baseline: Annotated[str, Option(metavar="METHOD")] = _BASELINE,
    tokens: Literal["completion", "total"] = "completion",
    rule: Names = (),
    run: Names = (),
    no_answer: NoAnswer = "wrong",
    draws: Annotated[int, Option(least=100)] = 2000,
    seed: Annotated[int, Option(least=0)] = 1,
    figure: Annotated[str | Path | None, Option(metavar="FILE", is_written=True)] = None,
) -> Result:
    """Find what correct answers cost, and which methods are worth it.

    SCORES are files of rows of `evalcore score`, `judge` or `logs`. Accuracy per 100 tokens is a
    ratio of means; rows of all models have the mean of their ratios too. Tokens that are not
    recorded are missing, never 0.

    Parameters
    ----------
    scores : see compare
    outputs : str or Path, optional
        The recorded outputs, which have the tokens; these, or `usage`, are needed.
    usage : str or Path, optional
        The tokens of each answer, as `evalcore logs --usage` writes them.
    baseline : str
        The method whose prompts others are compared with.
    tokens : str
        Which tokens count: `completion`, those of the answer with its reasoning, or `total`, those
        of the prompt too.
    rule : see outcomes
    run, no_answer : see compare
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

    Examples
    --------
    $ evalcore efficiency scores.jsonl --outputs outputs/
    $ evalcore efficiency scores.jsonl --outputs outputs/ --tokens total --figure frontier.svg
    """
    target = Path(figure) if figure else None
    check_target(target)
    if outputs and usage:
        raise InputError("--usage", "it can't go with --outputs; both have the tokens")
    if not outputs and not usage:
        raise InputError("--outputs", "missing; scores do not say how many tokens were used")
    used: Sequence[Usage] = read_records(Path(outputs)) if outputs else []
    if usage:
        used = read_rows(Path(usage), UsageRow, "rows of `evalcore logs --usage`")
    chosen = read_chosen(scores, rule, run)
    if baseline != _BASELINE:
        refuse_other("--baseline", baseline, dict.fromkeys(row.method for row in chosen))
    table = _outputs(chosen, used, tokens, no_answer, baseline)
    rows = list(_rows(table, baseline, Resampling(draws, seed)))
    if target:
        drawable = [row for row in rows if row.on_frontier is not None]
        if not drawable:
            raise InputError(str(target), "nothing to draw: no tokens are known")
        save_figure(draw_frontier(drawable), target)
    notices = [*_left_out(chosen, used), f"Intervals: {draws:,} draws of problems, seed {seed}"]
    return Result(rows, EfficiencyRow, notices=notices, print_table=partial(_print, rows=rows))
