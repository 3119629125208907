"""`evalcore efficiency`: what correct answers cost, and which methods are worth it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from evalcore.figures import draw_frontier
from evalcore.logs import UsageRow
from evalcore.records import Record, read_records
from evalcore.row_files import GivenTables, read_rows
from evalcore.scores import NO_ANSWER, UNKNOWN, ScoreRow, read_chosen
from ngramscan.errors import InputError
from ngramscan.output import refuse_other
from ngramscan.output.canvas import check_target, save_figure
from ngramscan.output.command import Option, Result, command
from ngramscan.output.layout import Layout, cell, print_columns
from ngramscan.statistics.resampling import (
    ITEMS_FOR_AN_INTERVAL,
    Ratio,
    Resampling,
    Studentized,
    drawn_sums,
    studentized_limits,
)

if TYPE_CHECKING:
    from rich.console import Console

Floats = NDArray[np.float64]
Usage = Record | UsageRow
"""What says how many tokens an output took."""
_BASELINE = "zero-shot"
_UNDEFINED = {
    "accuracy": "there are no outputs",
    "mean_tokens": "no tokens are known",
    "tokens_per_correct": "no tokens per correct answer: none is correct",
    "accuracy_per_100_tokens": "no accuracy per token: there are no tokens",
}
_NO_SPREAD = 1e-9
"""A relative standard error below it is a rounding error."""
_SHOWN = (
    *("dataset", "model", "method", "n", "accuracy", "mean_tokens", "tokens_per_correct"),
    *("accuracy_per_100_tokens", "prompt_overhead", "on_frontier", "frontier_share"),
)
_OPTIONAL = (
    *("frontier_share", "prompt_overhead", "accuracy_per_100_tokens", "dataset", "n"),
    *("note", "mean_tokens"),
)
"""Columns that a narrow terminal has no room for, the first to go first."""


@dataclass(frozen=True, slots=True)
class EfficiencyRow:
    """What one model's answers after one method cost.

    Limits are of 95 % intervals from problems drawn again; where there are none, `note` says why.
    """

    dataset: str
    model: str
    """`all`: the answers of all models together."""
    method: str
    rule: str | None = None
    n: int | None = None
    """Outputs that count."""
    n_no_answer: int | None = None
    """Outputs that were refused, cut off or empty: wrong, or excluded and not in `n`."""
    n_unknown: int | None = None
    """Outputs of which nothing is known: left out, and not in `n`."""
    correct: float | None = None
    """The sum of the values."""
    accuracy: float | None = None
    """In percent."""
    accuracy_low: float | None = None
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
    """The mean of the models' ratios, where the row is of all models; the cheapest model has the
    most weight in it."""
    mean_prompt_tokens: float | None = None
    mean_completion_tokens: float | None = None
    mean_reasoning_tokens: float | None = None
    prompt_overhead: float | None = None
    """How many more prompt tokens than the baseline's, in the mean over the same problems."""
    prompt_overhead_n: int | None = None
    """Outputs that it is of."""
    on_frontier: bool | None = None
    """No other method of the same model is at least as accurate with at most as many tokens, and
    better in one of them."""
    frontier_share: float | None = None
    """Share of draws of problems in which it is so."""
    note: str = ""


class _Answer(NamedTuple):
    score: ScoreRow
    prompt: int | None
    completion: int | None
    reasoning: int | None


class _Settings(NamedTuple):
    tokens: str
    no_answer: str
    baseline: str
    resampling: Resampling


# Answers to rows


def _output(one: ScoreRow | Usage) -> tuple[object, ...]:
    """Return which output a row is about; records are of one run each."""
    run = None if isinstance(one, Record) else one.run
    return one.dataset, one.model, one.method, one.id, one.epoch, run


def _with_tokens(rows: Iterable[ScoreRow], usage: Iterable[Usage]) -> Iterator[_Answer]:
    by_output = {_output(one): one for one in usage}
    for row in rows:
        one = by_output.get(_output(row))
        known = (one.prompt_tokens, one.completion_tokens, one.reasoning_tokens) if one else ()
        yield _Answer(row, *(known or (None, None, None)))


def _cost_rows(answers: Sequence[_Answer], settings: _Settings) -> Iterator[EfficiencyRow]:
    """Yield one row per benchmark, model and method, then one for all models."""
    for dataset in dict.fromkeys(answer.score.dataset for answer in answers):
        own = [answer for answer in answers if answer.score.dataset == dataset]
        models = dict.fromkeys(answer.score.model for answer in own)
        ratios = {}
        for model in models:
            for row in _rows(model, [a for a in own if a.score.model == model], settings, None):
                ratios[model, row.method] = row.accuracy_per_100_tokens
                yield row
        if len(models) > 1:
            yield from _rows("all", own, settings, ratios)


def _rows(
    model: str,
    answers: Sequence[_Answer],
    settings: _Settings,
    ratios: Mapping[tuple[str, str], float | None] | None,
) -> Iterator[EfficiencyRow]:
    """Yield one row per method; with the ratios of models, what is pooled over them."""
    leaves = {UNKNOWN, NO_ANSWER} if settings.no_answer == "exclude" else {UNKNOWN}
    kept = [answer for answer in answers if answer.score.status not in leaves]
    numbers = {id_: n for n, id_ in enumerate(dict.fromkeys(a.score.id for a in kept))}
    by_method: dict[str, list[_Answer]] = {answer.score.method: [] for answer in answers}
    for answer in kept:
        by_method[answer.score.method].append(answer)
    sums = [_sums(own, numbers, settings.tokens) for own in by_method.values()]
    estimates = estimate_costs(sums, settings.resampling)
    for (method, own), (columns, told) in zip(by_method.items(), estimates, strict=True):
        mean, of_mean = (None, "") if ratios is None else _mean_of_ratios(method, ratios)
        more, of_more = _overhead(method, answers, settings.baseline)
        known = f"tokens are known of {columns['n_tokens']} of {columns['n']} outputs"
        notes = [known * (columns["n_tokens"] != columns["n"]), *told, of_mean, of_more]
        statuses = [answer.score.status for answer in answers if answer.score.method == method]
        yield EfficiencyRow(
            dataset=answers[0].score.dataset,
            model=model,
            method=method,
            rule=answers[0].score.rule,
            n_no_answer=statuses.count(NO_ANSWER),
            n_unknown=statuses.count(UNKNOWN),
            mean_of_ratios=mean,
            mean_prompt_tokens=_mean(answer.prompt for answer in own),
            mean_completion_tokens=_mean(answer.completion for answer in own),
            mean_reasoning_tokens=_mean(answer.reasoning for answer in own),
            prompt_overhead=_mean(more),
            prompt_overhead_n=len(more) or None,
            note="; ".join(dict.fromkeys(filter(None, notes))),
            **columns,
        )


def _sums(answers: Sequence[_Answer], numbers: Mapping[str, int], kind: str) -> Floats:
    """Return what is added up over problems: all answers to one are drawn together."""
    sums = np.zeros((len(numbers), 5))
    for score, prompt, completion, _ in answers:
        value, place = score.value or 0.0, numbers[score.id]
        sums[place, :2] += (1, value)
        parts = [completion] if kind == "completion" else [prompt, completion]
        known = [part for part in parts if part is not None]
        if len(known) == len(parts):
            sums[place, 2:] += (1, value, sum(known))
    return sums


def _mean(numbers: Iterable[int | None]) -> float | None:
    known = [number for number in numbers if number is not None]
    return sum(known) / len(known) if known else None


def _mean_of_ratios(
    method: str, ratios: Mapping[tuple[str, str], float | None]
) -> tuple[float | None, str]:
    n_models = len({model for model, _ in ratios})
    own = [ratio for (_, named), ratio in ratios.items() if named == method]
    known = [ratio for ratio in own if ratio is not None]
    if len(known) < len(own):
        return None, "no mean of ratios: a model's tokens are not known"
    note = f"of {len(own)} of {n_models} models" * (len(own) < n_models)
    return float(np.mean(known)), note


def _overhead(method: str, answers: Sequence[_Answer], baseline: str) -> tuple[Sequence[int], str]:
    """Return how many more prompt tokens each output took than the baseline's on its problem."""
    if method == baseline:
        return [], ""
    by_method: dict[str, dict[object, int | None]] = {method: {}, baseline: {}}
    for score, prompt, _, _ in answers:
        if score.method in by_method:
            by_method[score.method][score.model, score.id, score.epoch] = prompt
    beside = by_method[baseline]
    pairs = [(own, beside.get(question)) for question, own in by_method[method].items()]
    more = [own - other for own, other in pairs if own is not None and other is not None]
    note = f"no prompt tokens of it and {baseline} on the same problems"
    return more, note * (not more)


# Accuracy, tokens and their quotients: arrays in, columns out


def estimate_costs(
    methods: Sequence[Floats], resampling: Resampling
) -> list[tuple[dict[str, Any], list[str]]]:
    """Return columns of a row, and notes, for each of some methods on the same problems.

    Parameters
    ----------
    methods : sequence of array, shape (n_problems, 5)
        By problem: outputs, their values, outputs whose tokens are known, the values of these,
        their tokens.
    resampling : Resampling
        Of problems, the same ones for all methods.
    """
    values = _quantities(np.stack([sums.sum(axis=0) for sums in methods]))
    on = pareto_frontier(values["accuracy"], values["mean_tokens"])
    ratios = [_ratios(sums) for sums in methods]
    sums_drawn, ratios_drawn = _draw(methods, ratios, resampling)
    of_draws = _quantities(sums_drawn)
    shares = pareto_frontier(of_draws["accuracy"], of_draws["mean_tokens"])
    found = []
    for number, sums in enumerate(methods):
        n, correct, n_tokens = sums[:, :3].sum(axis=0)
        columns: dict[str, Any] = {
            "n": int(n),
            "n_tokens": int(n_tokens),
            "correct": float(correct),
        }
        columns |= {"on_frontier": None, "frontier_share": None}
        if not np.isnan([values["accuracy"][number], values["mean_tokens"][number]]).any():
            columns["on_frontier"] = bool(on[number])
            if len(shares):
                columns["frontier_share"] = float(shares[:, number].mean())
        notes: dict[str, list[str]] = {}
        for name, ratio in ratios[number].items():
            value, drawn = float(values[name][number]), ratios_drawn[number].get(name)
            limits = _interval(
                name, value, ratio, drawn, int((sums[:, 0] > 0).sum()), resampling.level
            )
            if isinstance(limits, str):
                notes.setdefault(limits, []).append(name)
            low, high = (None, None) if isinstance(limits, str) else limits
            columns[name] = None if np.isnan(value) else value
            columns |= {f"{name}_low": low, f"{name}_high": high}
        told = [
            f"{', '.join(names)}: " * (note.startswith("no interval") and len(names) < 4) + note
            for note, names in notes.items()
        ]
        found.append((columns, told))
    return found


def _quantities(sums: Floats) -> dict[str, Floats]:
    outputs, values, known, known_values, tokens = np.moveaxis(sums, -1, 0)

    def ratio(above: Floats, below: Floats) -> Floats:
        quotients = np.full(above.shape, np.nan)
        np.divide(above, below, out=quotients, where=below != 0)
        return quotients

    return {
        "accuracy": 100 * ratio(values, outputs),
        "mean_tokens": ratio(tokens, known),
        "tokens_per_correct": ratio(tokens, known_values),
        "accuracy_per_100_tokens": 100 * ratio(100 * known_values, tokens),
    }


def pareto_frontier(right: Floats, cost: Floats) -> NDArray[np.bool_]:
    """Tell which methods no other one beats: as good and as cheap, and better in one of them.

    Parameters
    ----------
    right, cost : array of float, shape (..., n_methods)
        Accuracies and mean tokens; nan: not known, and not on the frontier.
    """
    # Comparisons with what is not known are false: such a method beats none.
    as_good = right[..., None, :] >= right[..., :, None]
    as_cheap = cost[..., None, :] <= cost[..., :, None]
    better = right[..., None, :] > right[..., :, None]
    cheaper = cost[..., None, :] < cost[..., :, None]
    beaten = (as_good & as_cheap & (better | cheaper)).any(axis=-1)
    return np.asarray(~beaten & ~np.isnan(right) & ~np.isnan(cost))


def _ratios(sums: Floats) -> dict[str, Ratio | None]:
    """Return the ratios that intervals are made of; None: one of its parts is not positive."""
    outputs, values, known, known_values, tokens = sums.T
    parts = {
        # The odds of a right answer: their logarithm has no bounds, as those of the others.
        "accuracy": (values, outputs - values),
        "mean_tokens": (tokens, known),
        "tokens_per_correct": (tokens, known_values),
    }
    ratios = {
        name: Ratio(*both) if min(part.sum() for part in both) > 0 else None
        for name, both in parts.items()
    }
    return ratios | {"accuracy_per_100_tokens": ratios["tokens_per_correct"]}


def _draw(
    methods: Sequence[Floats], ratios: Sequence[Mapping[str, Ratio | None]], resampling: Resampling
) -> tuple[Floats, list[dict[str, Studentized]]]:
    """Return the sums of each draw, shape (draws, methods, 5), and the ratios of each method."""
    if len(methods[0]) < ITEMS_FOR_AN_INTERVAL:
        return np.empty((0, len(methods), 5)), [{} for _ in methods]
    rows = [sums.T for sums in methods]
    rows += [ratio.rows() for own in ratios for ratio in own.values() if ratio]
    generator = np.random.default_rng(resampling.seed)
    sums = drawn_sums(np.concatenate(rows), generator, resampling.draws)
    parts = iter(sums.reshape(-1, 5, resampling.draws))
    by_method = np.stack([next(parts).T for _ in methods], axis=1)
    return by_method, [
        {name: ratio.of_sums(next(parts)) for name, ratio in own.items() if ratio} for own in ratios
    ]


def _interval(
    name: str, value: float, ratio: Ratio | None, drawn: Studentized | None, n: int, level: float
) -> tuple[float, float] | str:
    """Return an interval, from that of the logarithm of a ratio; or why there is none."""
    n = ratio.n if ratio else n
    if np.isnan(value):
        return _UNDEFINED[name]
    if n < ITEMS_FOR_AN_INTERVAL:
        return f"no interval: {n} items; {ITEMS_FOR_AN_INTERVAL} are needed"
    if ratio is None or drawn is None or ratio.of_data().log().errors[0] < _NO_SPREAD:
        return "no interval: all problems give the same value"
    # Accuracies have bounds; a problem may take more tokens than any that was seen.
    one_more = 0.0 if name == "accuracy" else ratio.largest_influence / ratio.value
    limits = studentized_limits(ratio.of_data().log(), drawn.log(), n, level, one_more)
    low, high = (float(np.exp(limit)) for limit in limits)
    if name == "accuracy":
        return 100 * low / (1 + low), 100 * high / (1 + high)
    return (1e4 / high, 1e4 / low) if name == "accuracy_per_100_tokens" else (low, high)


# The command


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
        if any(getattr(row, name) is not None for row in rows)
    }
    if any(row.note for row in rows):
        columns["note"] = [row.note for row in rows]
    print_columns(console, columns, Layout(3, frozenset({"model", "method", "note"}), _OPTIONAL))


@command
def efficiency(
    scores: GivenTables,
    *,
    outputs: Annotated[str | Path | None, Option(metavar="PATH")] = None,
    usage: Annotated[str | Path | None, Option(metavar="FILE")] = None,
    baseline: Annotated[str, Option(metavar="METHOD")] = _BASELINE,
    tokens: Literal["completion", "total"] = "completion",
    rule: Annotated[str | Sequence[str], Option(metavar="NAME")] = (),
    run: Annotated[str | Sequence[str], Option(metavar="NAME")] = (),
    no_answer: Literal["wrong", "exclude"] = "wrong",
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
    scores : str, Path or DataFrame, or several of them
        Score rows: files that `score`, `judge` or `logs` wrote, or what they returned.
    outputs : str or Path, optional
        The recorded outputs, which have the tokens; these, or `usage`, are needed.
    usage : str or Path, optional
        The tokens of each answer, as `evalcore logs --usage` writes them.
    baseline : str
        The method whose prompts others are compared with.
    tokens : str
        Which tokens count: `completion`, those of the answer with its reasoning, or `total`, those
        of the prompt too.
    rule : str or sequence of str
        The rules whose values are taken, one per benchmark; needed where several rules scored.
    run : see compare
    no_answer : see compare
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
    used: Sequence[Usage]
    if usage:
        used = read_rows(Path(usage), UsageRow, "rows of `evalcore logs --usage`")
    else:
        used = read_records(Path(outputs or ""))
    chosen = read_chosen(scores, rule, run)
    if baseline != _BASELINE:
        refuse_other("--baseline", baseline, dict.fromkeys(row.method for row in chosen))
    settings = _Settings(tokens, no_answer, baseline, Resampling(draws, seed))
    rows = list(_cost_rows([*_with_tokens(chosen, used)], settings))
    if target:
        drawable = [row for row in rows if row.on_frontier is not None]
        if not drawable:
            raise InputError(str(target), "nothing to draw: no tokens are known")
        save_figure(draw_frontier(drawable), target)
    drawn = f"Intervals: {draws:,} draws of problems, seed {seed}"
    notices = [*_left_out(chosen, used), drawn]
    return Result(rows, EfficiencyRow, notices=notices, print_table=partial(_print, rows=rows))
