"""`evalcore efficiency`: what correct answers cost, and which methods are worth it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import numpy as np
from numpy.typing import NDArray

from evalcore.logs import UsageRow
from evalcore.outcomes import Names, NoAnswer
from evalcore.records import Record, read_records
from evalcore.scores import NO_ANSWER, UNKNOWN, ScoreRow, key_of, read_chosen
from ngramscan.errors import InputError
from ngramscan.reading.row_files import GivenTables, read_rows
from ngramscan.reporting import refuse_other
from ngramscan.reporting.charts.files import check_target, save_figure
from ngramscan.reporting.columns import ALL, for_paper, print_notes, print_pooled, to_columns
from ngramscan.reporting.command import Option, Result, command
from ngramscan.reporting.layout import Layout
from ngramscan.statistics import resampling
from ngramscan.statistics.resampling import ITEMS_FOR_AN_INTERVAL, Floats, Ratio, Resampling
from ngramscan.statistics.streams import stream
from ngramscan.statistics.two_samples import estimate_accuracy

if TYPE_CHECKING:
    import pandas as pd

Usage = Record | UsageRow
_BASELINE = "zero-shot"
FARTHEST = 20.0
"""There is no interval of a cost that reaches beyond so many times the value, or one part in so
many of it: the tail of tokens is not known from such a sample."""
_ORDER = ["id", "epoch", "model", "value"]
_KINDS = ("prompt", "completion", "reasoning")
_SUMS = ["outputs", "right", "known", "hits", "used"]
"""Sums for each problem: outputs, right outputs, outputs whose tokens are known, the right ones of
these, and their tokens."""
_QUOTIENTS = {
    "accuracy": ("right", "outputs", 1, "there are no outputs"),
    "mean_tokens": ("used", "known", 1, "no tokens are known"),
    "tokens_per_correct": ("used", "hits", 1, "no tokens per correct answer: none is correct"),
    "accuracy_per_100_tokens": ("hits", "used", 100, "no accuracy per token: there are no tokens"),
}
"""Numerator, denominator, factor of the unit, and the note where there is no quotient."""


@dataclass(frozen=True, slots=True)
class EfficiencyRow:
    """The cost of one model's answers to one method's prompts; shares are fractions."""

    dataset: str
    model: str
    """`all` stands for the answers of all models together."""
    method: str
    rule: str | None = None
    n: int | None = None
    n_no_answer: int | None = None
    """Outputs that were refused, cut off or empty; they are wrong unless excluded from `n`."""
    n_unknown: int | None = None
    """Outputs left out of `n` because their result is unknown."""
    correct: float | None = None
    """The sum of the values."""
    accuracy: float | None = None
    accuracy_low: float | None = None
    """Limit of the 95% interval: Wilson's, with the effective number of problems."""
    accuracy_high: float | None = None
    n_tokens: int | None = None
    """Outputs whose tokens are known; the columns that follow describe these."""
    mean_tokens: float | None = None
    mean_tokens_low: float | None = None
    mean_tokens_high: float | None = None
    tokens_per_correct: float | None = None
    """All tokens divided by the number of correct answers. None: nothing is correct."""
    tokens_per_correct_low: float | None = None
    tokens_per_correct_high: float | None = None
    accuracy_per_100_tokens: float | None = None
    """Mean accuracy, a fraction, divided by mean tokens, times 100: a ratio of means."""
    accuracy_per_100_tokens_low: float | None = None
    accuracy_per_100_tokens_high: float | None = None
    mean_of_ratios: float | None = None
    """Mean of the models' ratios, in rows of all models; cheap models have the most weight."""
    mean_prompt_tokens: float | None = None
    mean_completion_tokens: float | None = None
    mean_reasoning_tokens: float | None = None
    prompt_overhead: float | None = None
    """Mean number of prompt tokens beyond those of the baseline on the same problem."""
    prompt_overhead_n: int | None = None
    """Number of outputs in `prompt_overhead`."""
    on_frontier: bool | None = None
    """No method of the model is at least as accurate and as cheap, and better in one of the two."""
    frontier_share: float | None = None
    """Share of the resamples in which the method is on the frontier."""
    note: str = ""


_columns = partial(
    to_columns,
    names="dataset model method rule n accuracy mean_tokens tokens_per_correct on_frontier"
    " frontier_share accuracy_per_100_tokens prompt_overhead",
    shares=("accuracy", "accuracy_per_100_tokens", "frontier_share"),
)
_OPTIONAL = ("prompt overhead", "frontier share", "accuracy per 100 tokens")


def _output(one: ScoreRow | Usage) -> tuple[object, ...]:
    """Return which output a row describes; records belong to one run each."""
    return *key_of(one), getattr(one, "run", None)


def _outputs(
    rows: Sequence[ScoreRow], usage: Sequence[Usage], tokens: str, no_answer: str, baseline: str
) -> pd.DataFrame:
    import pandas as pd

    table, by_output = pd.DataFrame([asdict(row) for row in rows]), {_output(u): u for u in usage}
    for kind in _KINDS:
        counts = [getattr(by_output.get(_output(row)), f"{kind}_tokens", None) for row in rows]
        table[kind] = np.array(counts, dtype=float)
    used = table["completion"] + (table["prompt"] if tokens == "total" else 0)
    leaves, is_baseline = [UNKNOWN, NO_ANSWER], table["method"] == baseline
    table["counts"] = ~table["status"].isin(leaves if no_answer == "exclude" else leaves[:1])
    table["outputs"], table["known"] = 1.0, used.notna().astype(float)
    table["right"], table["used"] = table["value"].astype(float).fillna(0), used.fillna(0)
    table["hits"] = table["right"] * table["known"]
    table["beside"] = table["prompt"].where(is_baseline)
    same = table.groupby(["dataset", "model", "id", "epoch"], dropna=False)
    table["more"] = (table["prompt"] - same["beside"].transform("max")).mask(is_baseline)
    return table


def _rows(outputs: pd.DataFrame, baseline: str, how: Resampling) -> Iterator[EfficiencyRow]:
    for _, own in outputs.groupby("dataset", sort=False):
        parts = [part for _, part in own.groupby("model", sort=False)]
        singles = [row for part in parts for row in _method_rows(part, baseline, (), how)]
        yield from singles
        if len(parts) > 1:
            yield from _method_rows(own.assign(model=ALL), baseline, singles, how)


def _method_rows(
    outputs: pd.DataFrame, baseline: str, singles: Sequence[EfficiencyRow], how: Resampling
) -> Iterator[EfficiencyRow]:
    methods = outputs["method"].unique()
    # Sums of outputs in another order may differ in the last digits.
    outputs = outputs.sort_values(_ORDER, kind="stable")
    by_method = outputs.groupby("method")
    every = [by_method.get_group(name) for name in methods]
    kept = [own[own["counts"]] for own in every]
    ids = outputs.loc[outputs["counts"], "id"].unique()
    sums = [own.groupby("id")[_SUMS].sum().reindex(ids, fill_value=0) for own in kept]
    names = [tuple(map(str, own[["dataset", "model", "method"]].iloc[0])) for own in every]
    found = estimate_costs(np.stack(sums), names, how)
    for own, counted, (columns, told) in zip(every, kept, found, strict=True):
        first, more = own.iloc[0], own["more"].dropna()
        n, n_tokens, method = columns["n"], columns["n_tokens"], first["method"]
        known = f"tokens are known for {n_tokens} of {n} outputs" * (n_tokens != n)
        ratios = [one.accuracy_per_100_tokens for one in singles if one.method == method]
        n_models = len({one.model for one in singles})
        few = f"mean of ratios of {len(ratios)} of {n_models} models" * (len(ratios) < n_models)
        if None in ratios:
            few, ratios = "no mean of ratios: a model's tokens are not known", []
        alone = f"no overhead: no problem has prompt tokens of this method and {baseline}"
        notes = [known, *told, few, alone * (more.empty and method != baseline)]
        columns |= {f"mean_{kind}_tokens": _mean(counted[kind]) for kind in _KINDS}
        if n:
            accuracy = estimate_accuracy(counted["right"], counted["id"], how.level)
            columns |= {"accuracy_low": accuracy.low, "accuracy_high": accuracy.high}
        yield EfficiencyRow(
            **first[["dataset", "model", "method", "rule"]],
            n_no_answer=int((own["status"] == NO_ANSWER).sum()),
            n_unknown=int((own["status"] == UNKNOWN).sum()),
            mean_of_ratios=_mean(ratios if None in ratios else sorted(ratios)),
            prompt_overhead=_mean(more),
            prompt_overhead_n=len(more) or None,
            note="; ".join(dict.fromkeys(filter(None, notes))),
            **columns,
        )


def _mean(values: Any) -> float | None:
    known = np.array(values, dtype=float)[np.isfinite(values)]
    return float(known.mean()) if known.size else None


@np.errstate(divide="ignore", invalid="ignore")
def estimate_costs(
    methods: Floats, names: Sequence[tuple[str, ...]], how: Resampling
) -> list[tuple[dict[str, Any], list[str]]]:
    """Return columns of a row, and notes, for each of several methods on the same problems.

    `methods` has the shape (n_methods, n_problems, 5), where `_SUMS` names the last axis. `names`
    tells the rows apart, the last part the methods; an interval depends on them, the seed and the
    method's own problems, and on nothing else.
    """
    sums = methods.sum(axis=1)
    values = np.empty((len(methods), len(_QUOTIENTS)))
    for place, (above, below, factor, _) in enumerate(_QUOTIENTS.values()):
        values[:, place] = factor * sums[:, _SUMS.index(above)] / sums[:, _SUMS.index(below)]
    on_frontier, shares = pareto_frontier(*values.T[:2]), _frontier_shares(methods, names, how)
    found = []
    for number, (n, right_ones, n_tokens, *_) in enumerate(sums.tolist()):
        columns: dict[str, Any] = {"n": int(n), "correct": right_ones, "n_tokens": int(n_tokens)}
        if np.isfinite(values[number, :2]).all():
            columns["on_frontier"] = bool(on_frontier[number])
            columns["frontier_share"] = shares[number]
        notes: dict[str, list[str]] = {}
        ratios = _drawn_ratios(methods[number], names[number], how)
        for place, (name, (ratio, drawn)) in enumerate(zip(_QUOTIENTS, ratios, strict=True)):
            quotient, note = _quotient(name, values[number, place], ratio, drawn, how.level)
            columns |= quotient
            notes.setdefault(note, []).append(name)
        told = [
            f"{', '.join(names)}: " * note.startswith("no interval") + note
            for note, names in notes.items()
        ]
        found.append((columns, told))
    return found


def _drawn_ratios(
    sums: Floats, names: Sequence[str], how: Resampling
) -> list[tuple[Ratio, Floats]]:
    """Return the quotients of a method as ratios, with the sums of their rows in each draw."""
    own = dict(zip(_SUMS, sums[sums.any(axis=1)].T, strict=True))
    # The odds of a right answer, whose logarithm is unbounded like those of the others.
    ratios = [
        Ratio(own[above], own[below] - own[above] * (name == "accuracy"))
        for name, (above, below, *_) in _QUOTIENTS.items()
    ]
    rows = np.nan_to_num([ratio.rows() for ratio in ratios])
    drawn = np.empty((*rows.shape[:2], 0))
    if rows.shape[-1] >= ITEMS_FOR_AN_INTERVAL:
        flat = rows.reshape(-1, rows.shape[-1])
        drawn = resampling.drawn_sums(flat, stream(how.seed, *names), how.draws)
        drawn = drawn.reshape(*rows.shape[:2], -1)
    return [*zip(ratios, drawn, strict=True)]


def _frontier_shares(
    methods: Floats, names: Sequence[tuple[str, ...]], how: Resampling
) -> list[float | None]:
    """Return how often each method is on the frontier, if all answer the same drawn problems."""
    if methods.shape[1] < ITEMS_FOR_AN_INTERVAL:
        return [None] * len(methods)
    order = sorted(range(len(methods)), key=lambda number: names[number])
    generator = stream(how.seed, *names[0][:-1], "frontier")
    rows = np.moveaxis(methods[order], -1, 1).reshape(-1, methods.shape[1])
    drawn = resampling.drawn_sums(rows, generator, how.draws)
    sums = dict(zip(_SUMS, np.moveaxis(drawn.reshape(*methods.shape[::2], -1), 1, 0), strict=True))
    shares = pareto_frontier((sums["right"] / sums["outputs"]).T, (sums["used"] / sums["known"]).T)
    by_method = dict(zip(order, shares.mean(axis=0).tolist(), strict=True))
    return [by_method[number] for number in range(len(methods))]


def _quotient(
    name: str, value: float, ratio: Ratio, drawn: Floats, level: float
) -> tuple[dict[str, float], str]:
    _, _, factor, undefined = _QUOTIENTS[name]
    if not np.isfinite(value):
        return {}, undefined
    if name == "accuracy":  # its interval is that of `evalcore score`
        return {name: value}, ""
    sums = ratio.of_data(), ratio.of_sums(drawn)
    # A problem may take more tokens than any that was seen.
    reach = ratio.largest_influence
    found = resampling.studentized_interval(*sums, ratio.n, level, reach, FARTHEST)
    if found.low is None or found.high is None:
        return {name: value}, found.note
    ends = factor * found.low, factor * found.high
    return {name: value, f"{name}_low": ends[0], f"{name}_high": ends[1]}, ""


def pareto_frontier(right: Floats, cost: Floats) -> NDArray[np.bool_]:
    """Return which methods, along the last axis, no other beats; one with a nan is not on it."""
    # Comparisons with nan are false, so a method whose cost is unknown beats none.
    more = right[..., None, :] - right[..., :, None]
    dearer = cost[..., None, :] - cost[..., :, None]
    beaten = ((more >= 0) & (dearer <= 0) & ((more > 0) | (dearer < 0))).any(axis=-1)
    return np.asarray(~beaten & ~np.isnan(right + cost))


def _print(console: Any, rows: Sequence[EfficiencyRow]) -> None:
    print_pooled(console, rows, _columns, Layout(4, optional=_OPTIONAL))
    print_notes(console, rows, "model", "method")


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
    resamples: Annotated[int, Option(metavar="N", least=100)] = 2000,
    seed: Annotated[int, Option(least=0)] = 1,
    figure: Annotated[str | Path | None, Option(metavar="FILE", is_written=True)] = None,
) -> Result[EfficiencyRow]:
    """Show what correct answers cost, and which methods are worth it.

    SCORES are files of rows of `evalcore score`, `judge` or `logs`. Accuracy per 100 tokens is a
    ratio of means; rows of all models also have the mean of the models' ratios. Tokens that were
    not recorded are missing, never 0.

    Parameters
    ----------
    scores : see compare
    outputs : str or Path, optional
        The recorded outputs, which hold the token counts; either these or `usage` are needed.
    usage : str or Path, optional
        The token counts of each answer, as written by `evalcore logs --usage`.
    baseline : str
        The method whose prompt lengths the others are compared with.
    tokens : str
        Which tokens to count: `completion` (the reply and its reasoning) or `total` (the prompt,
        too).
    rule : see outcomes
    run, no_answer : see compare
    resamples : int
        Number of bootstrap samples of problems, for the intervals.
    seed : see compare
    figure : str or Path, optional
        Draw accuracy against tokens, with the efficient frontier: .svg or .png.

    Returns
    -------
    DataFrame
        One row per benchmark, model and method, and one for all models together.

    Examples
    --------
    $ evalcore efficiency scores.jsonl --outputs outputs/
    $ evalcore efficiency scores.jsonl --outputs outputs/ --tokens total --figure frontier.svg
    """
    check_target(target := Path(figure) if figure else None)
    if outputs and usage:
        raise InputError("--usage", "not allowed with --outputs; both hold the tokens")
    if not outputs and not usage:
        raise InputError("--outputs", "missing; scores don't hold token counts (or give --usage)")
    used: Sequence[Usage] = read_records(Path(outputs)) if outputs else []
    if usage:
        used = read_rows(Path(usage), UsageRow, "rows of `evalcore logs --usage`")
    chosen = read_chosen(scores, rule, run)
    if baseline != _BASELINE:
        refuse_other("--baseline", baseline, (row.method for row in chosen))
    table = _outputs(chosen, used, tokens, no_answer, baseline)
    rows = list(_rows(table, baseline, Resampling(resamples, seed)))
    if target:
        drawable = [row for row in rows if row.on_frontier is not None]
        if not drawable:
            raise InputError(str(target), "nothing to draw: no tokens are known")
        save_figure(target, drawable)
    scored, recorded = set(map(_output, chosen)), set(map(_output, used))
    absent, unused = len(scored - recorded), len(recorded - scored)
    unknown = sum(row.status == UNKNOWN for row in chosen)
    notices = {
        f"{unknown:,} of {len(chosen):,} outputs are left out: their result is unknown": unknown,
        f"{absent:,} of {len(scored):,} scored outputs are not among the recorded ones": absent,
        f"{unused:,} of {len(recorded):,} recorded outputs are left out: not scored": unused,
        f"Intervals: {resamples:,} bootstrap samples of problems, seed {seed}": True,
    }
    told = [notice for notice, is_so in notices.items() if is_so]
    printed, paper = partial(_print, rows=rows), for_paper(_columns(rows))
    return Result(rows, EfficiencyRow, notices=told, print_table=printed, for_paper=paper)
