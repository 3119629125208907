"""Accuracy against token cost: quotients of sums over problems, and the efficient frontier."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from evalcore.answer_table import Frame, count_clusters, make_answer_table
from evalcore.commands.logs import UsageRow
from evalcore.records import Record
from evalcore.score_options import ScoreOptions
from evalcore.scores import GroupedRow, key_of
from ngramscan.reading.score_values import NO_ANSWER, UNKNOWN
from ngramscan.reporting.columns import ALL
from ngramscan.rows import Label, Plot, Share, UnansweredCount, UnknownCount, row_kind
from ngramscan.statistics import resampling
from ngramscan.statistics.resampling import ITEMS_FOR_AN_INTERVAL, Floats, Ratio, Resampling
from ngramscan.statistics.streams import stream
from ngramscan.statistics.two_samples import estimate_accuracy, estimate_clustered_accuracy

TokenUsage = Record | UsageRow
"""A row with the token counts of an output."""
FARTHEST = 20.0
"""An interval of a cost that reaches beyond 20 times the value, or below a 20th of it, is left out:
the tail of tokens is not known from such a sample."""
_ORDER = ["problem", "epoch", "model", "value"]
_NAMES = ["dataset", "model", "group", "method"]
_TOKENS = ("prompt_tokens", "completion_tokens", "reasoning_tokens")
_MEANS = {
    "prompt_tokens": "mean_prompt_tokens",
    "completion_tokens": "mean_completion_tokens",
    "reasoning_tokens": "mean_reasoning_tokens",
}
"""The columns of a row that are means over outputs where something is known."""
_SUMS = ["outputs", "right", "known", "hits", "used"]
"""Sums for each problem: outputs, right outputs, outputs whose tokens are known, the right ones of
these, and their tokens."""
_QUOTIENTS = {
    "mean_tokens": ("used", "known", 1, "no tokens are known"),
    "tokens_per_correct": ("used", "hits", 1, "no tokens per correct answer: none is correct"),
    "accuracy_per_100_tokens": ("hits", "used", 100, "no accuracy per token: there are no tokens"),
}
"""Numerator, denominator, factor of the unit, and the note where there is no quotient."""
_COST_SUMS = ["priced", "priced_right", "paid"]
"""Sums for each problem: outputs with a known cost, the right ones of these, and their dollars."""
_COST_QUOTIENTS = {
    "cost_per_answer": ("paid", "priced", 1, "no costs are known"),
    "cost_per_correct": ("paid", "priced_right", 1, "no cost per correct answer: none is correct"),
}


@row_kind(
    "efficiency",
    "Accuracy and tokens",
    Plot(
        "accuracy",
        panel=("dataset", "model", "group", "rule"),
        label=("method",),
        scale="share",
        across="mean_tokens",
    ),
    key=("n", "on_frontier"),
)
@dataclass(frozen=True, slots=True, kw_only=True)
class EfficiencyRow:
    """The cost of one model's answers to one method's prompts; shares are fractions."""

    dataset: Label
    model: Label
    """`all` stands for the answers of all models together."""
    group: str = ""
    """The values of further columns that `--by` names."""
    method: Label
    rule: Label | None = None
    n: int | None = None
    n_no_answer: UnansweredCount | None = None
    """Outputs that were refused, cut off or empty; they are wrong unless excluded from `n`."""
    n_unknown: UnknownCount | None = None
    """Outputs left out of `n` because their result is unknown."""
    correct: float | None = None
    """The sum of the values."""
    accuracy: Share | None = None
    accuracy_low: Share | None = None
    """Limit of the 95% interval: Wilson's, with the effective number of problems or clusters."""
    accuracy_high: Share | None = None
    n_tokens: int | None = None
    """Outputs whose tokens are known; the columns that follow describe these."""
    mean_tokens: float | None = None
    mean_tokens_low: float | None = None
    mean_tokens_high: float | None = None
    tokens_per_correct: float | None = None
    """All tokens divided by the number of correct answers. None: nothing is correct."""
    tokens_per_correct_low: float | None = None
    tokens_per_correct_high: float | None = None
    accuracy_per_100_tokens: Share | None = None
    """Mean accuracy, a fraction, divided by mean tokens, times 100: a ratio of means."""
    accuracy_per_100_tokens_low: Share | None = None
    accuracy_per_100_tokens_high: Share | None = None
    mean_of_ratios: float | None = None
    """Mean of the models' ratios, in rows of all models; cheap models have the most weight."""
    mean_prompt_tokens: float | None = None
    mean_completion_tokens: float | None = None
    mean_reasoning_tokens: float | None = None
    cost_per_answer: float | None = None
    """In dollars, at the given prices; None: no prices, or no token counts of the prompt."""
    cost_per_correct: float | None = None
    """All dollars divided by the number of correct answers. None: nothing is correct."""
    prompt_overhead: float | None = None
    """Mean number of prompt tokens beyond those of the baseline on the same problem."""
    prompt_overhead_n: int | None = None
    """Number of outputs in `prompt_overhead`."""
    on_frontier: bool | None = None
    """No method of the model is at least as accurate and as cheap, and better in one of the two."""
    frontier_share: Share | None = None
    """Share of the resamples in which the method is on the frontier."""
    note: str = ""
    n_clusters: int | None = None
    """Number of clusters that the problems are from, by `--cluster`. None: not given."""
    cost_per_answer_low: float | None = None
    """Limit of the interval, as are the next three: by bootstrap over problems."""
    cost_per_answer_high: float | None = None
    cost_per_correct_low: float | None = None
    cost_per_correct_high: float | None = None


def name_output(row: GroupedRow | TokenUsage) -> tuple[object, ...]:
    """Return which output a row describes; records belong to one run each."""
    return *key_of(row), getattr(row, "run", None)


def make_output_table(
    rows: Sequence[GroupedRow],
    usage: Sequence[TokenUsage],
    tokens: str,
    options: ScoreOptions,
    baseline: str,
    prices: Floats,
) -> Frame:
    """Return the answer table with what each output contributes to the sums of its problem.

    Parameters
    ----------
    rows : sequence of GroupedRow
        Scores of outputs.
    usage : sequence of Record or UsageRow
        Token counts of outputs.
    tokens : str
        `completion` or `total`: which tokens count.
    options : ScoreOptions
        How scores count.
    baseline : str
        The method whose prompts the others are compared with.
    prices : array of float, shape (2,)
        Dollars per million tokens of prompts and of completions; nan: not given.

    Returns
    -------
    DataFrame
        With the columns that `_SUMS` and `_COST_SUMS` name, token counts, `counts` (whether the
        output counts) and `prompt_overhead` (prompt tokens beyond those of the baseline).
    """
    table = make_answer_table(rows, options.unpooled)
    by_output = {name_output(row): row for row in usage}
    for name in _TOKENS:
        counts = [getattr(by_output.get(name_output(row)), name, None) for row in rows]
        table[name] = np.array(counts, dtype=float)[table.index]
    prompt, completion = table["prompt_tokens"], table["completion_tokens"]
    counted_tokens = completion + (prompt if tokens == "total" else 0)
    dollars = (prompt * prices[0] + completion * prices[1]) / 1e6
    table["counts"] = table["level"] >= options.lowest_level
    table["outputs"] = 1.0
    table["right"] = table["value"].fillna(0)
    table["known"] = counted_tokens.notna().astype(float)
    table["used"] = counted_tokens.fillna(0)
    table["hits"] = table["right"] * table["known"]
    table["priced"] = dollars.notna().astype(float)
    table["priced_right"] = table["right"] * table["priced"]
    table["paid"] = dollars.fillna(0)
    is_baseline = table["method"] == baseline
    table["baseline_prompt_tokens"] = prompt.where(is_baseline)
    same_problem = table.groupby(["source_cell", "problem", "epoch"], dropna=False)
    of_baseline = same_problem["baseline_prompt_tokens"].transform("max")
    table["prompt_overhead"] = (prompt - of_baseline).mask(is_baseline)
    return table


def make_efficiencies(
    outputs: Frame, baseline: str, settings: Resampling
) -> Iterator[EfficiencyRow]:
    """Yield a row for each benchmark, model and method, and one for all models together."""
    for _, outputs_of_dataset in outputs.groupby(["dataset", "group"], sort=False):
        models = [part for _, part in outputs_of_dataset.groupby("model", sort=False)]
        singles = [row for part in models for row in _make_rows(part, baseline, (), settings)]
        yield from singles
        if len(models) > 1:
            pooled = outputs_of_dataset.assign(model=ALL)
            yield from _make_rows(pooled, baseline, singles, settings)


def _make_rows(
    outputs: Frame, baseline: str, singles: Sequence[EfficiencyRow], settings: Resampling
) -> Iterator[EfficiencyRow]:
    """Yield a row for each method; `singles` are the rows of single models, if this is all."""
    methods = outputs["method"].unique()
    # Sums of outputs in another order may differ in the last digits.
    outputs = outputs.sort_values(_ORDER, kind="stable")
    parts = [outputs[outputs["method"] == name] for name in methods]
    counted_parts = [part[part["counts"]] for part in parts]
    units = outputs.loc[outputs["counts"], "unit"].unique()
    sums = [
        part.groupby("unit")[_SUMS].sum().reindex(units, fill_value=0) for part in counted_parts
    ]
    names = [tuple(filter(None, map(str, part[_NAMES].iloc[0]))) for part in parts]
    costs = estimate_costs(np.stack(sums), names, settings)
    for number, (token_columns, token_notes) in enumerate(costs):
        part, counted_part = parts[number], counted_parts[number]
        labels, n = part.iloc[0], token_columns["n"]
        notes = [*token_notes]
        if token_columns["n_tokens"] != n:
            notes.insert(0, f"tokens are known for {token_columns['n_tokens']} of {n} outputs")
        mean_of_ratios, ratio_note = _mean_of_ratios(singles, labels["method"])
        columns, dollar_notes = _estimate_dollars(counted_part, names[number], settings)
        notes += [*dollar_notes, ratio_note]
        overheads = part["prompt_overhead"].dropna()
        if overheads.empty and labels["method"] != baseline:
            notes.append(
                f"overhead unknown: no problem has prompt tokens of this method and {baseline}"
            )
        columns |= {mean: _mean(counted_part[name]) for name, mean in _MEANS.items()}
        columns |= token_columns
        clusters = count_clusters(counted_part)
        notes.append(clusters.note)
        if n:
            has_clusters = clusters.n is not None
            estimate = estimate_clustered_accuracy if has_clusters else estimate_accuracy
            accuracy = estimate(counted_part["right"], counted_part["unit"], settings.level)
            columns |= {"accuracy_low": accuracy.low, "accuracy_high": accuracy.high}
        yield EfficiencyRow(
            **labels[[*_NAMES, "rule"]],
            n_no_answer=int((part["status"] == NO_ANSWER).sum()),
            n_unknown=int((part["status"] == UNKNOWN).sum()),
            mean_of_ratios=mean_of_ratios,
            prompt_overhead=_mean(overheads),
            prompt_overhead_n=len(overheads) or None,
            n_clusters=clusters.n,
            note="; ".join(filter(None, notes)),
            **columns,
        )


@np.errstate(divide="ignore", invalid="ignore")
def _estimate_dollars(
    outputs: Frame, names: Sequence[str], settings: Resampling
) -> tuple[dict[str, Any], list[str]]:
    """Return the columns about costs of one method, and notes; both empty if none is known."""
    n_priced, n = int(outputs["priced"].sum()), len(outputs)
    if not n_priced:
        return {}, []
    notes = [f"costs are known for {n_priced} of {n} outputs"] if n_priced < n else []
    sums = outputs.groupby("unit")[_COST_SUMS].sum().to_numpy()
    columns = dict[str, Any]()
    sums_by_name = dict(zip(_COST_SUMS, sums.T, strict=True))
    quotients = _estimate_quotients(sums_by_name, _COST_QUOTIENTS, (*names, "costs"), settings)
    without_interval = defaultdict[str, list[str]](list)
    for quotient in quotients:
        columns |= quotient.columns
        if quotient.lacks_interval:
            without_interval[quotient.note].append(quotient.name)
    notes += [_name_note(note, lacking) for note, lacking in without_interval.items()]
    return columns, notes


def _mean_of_ratios(rows: Sequence[EfficiencyRow], method: str) -> tuple[float | None, str]:
    """Return the mean of the ratios of a method's models, and a note if not all have one."""
    ratios = [row.accuracy_per_100_tokens for row in rows if row.method == method]
    if None in ratios:
        return None, "no mean of ratios: a model's tokens are not known"
    n_models = len({row.model for row in rows})
    is_partial = len(ratios) < n_models
    note = f"mean of ratios of {len(ratios)} of {n_models} models" if is_partial else ""
    return _mean(sorted(ratios)), note


def _mean(values: Any) -> float | None:
    finite_values = np.array(values, dtype=float)[np.isfinite(values)]
    return float(finite_values.mean()) if finite_values.size else None


@np.errstate(divide="ignore", invalid="ignore")
def estimate_costs(
    methods: Floats, names: Sequence[tuple[str, ...]], settings: Resampling
) -> list[tuple[dict[str, Any], list[str]]]:
    """Return columns of a row, and notes, for each of several methods on the same problems.

    `methods` has the shape (n_methods, n_problems, 5), where `_SUMS` names the last axis. `names`
    tells the rows apart, the last part the methods; an interval depends on them, the seed and the
    method's own problems, and on nothing else.
    """
    n_outputs, n_right, n_known, _, n_tokens = methods.sum(axis=1).T
    accuracies, means = n_right / n_outputs, n_tokens / n_known
    on_frontier = find_frontier(accuracies, means)
    shares = _frontier_shares(methods, names, settings)
    costs = []
    for number, sums in enumerate(methods):
        columns: dict[str, Any] = {
            "n": int(n_outputs[number]),
            "correct": float(n_right[number]),
            "n_tokens": int(n_known[number]),
        }
        notes, without_interval = dict[str, None](), defaultdict[str, list[str]](list)
        if n_outputs[number]:  # its interval is that of `evalcore score`
            columns["accuracy"] = float(accuracies[number])
        else:
            notes["there are no outputs"] = None
        if np.isfinite(accuracies[number] + means[number]):
            columns["on_frontier"] = bool(on_frontier[number])
            columns["frontier_share"] = shares[number]
        sums_by_name = dict(zip(_SUMS, sums[sums.any(axis=1)].T, strict=True))
        for quotient in _estimate_quotients(sums_by_name, _QUOTIENTS, names[number], settings):
            columns |= quotient.columns
            notes[quotient.note] = None
            if quotient.lacks_interval:
                without_interval[quotient.note].append(quotient.name)
        costs.append((columns, [_name_note(note, without_interval[note]) for note in notes]))
    return costs


def _name_note(note: str, names: Sequence[str]) -> str:
    """Return a note, after the names of the columns that it is about, if there are any."""
    return f"{', '.join(names)}: {note}" if names else note


class _Quotient(NamedTuple):
    """A quotient of a method: its columns, and a note if something lacks."""

    name: str
    columns: dict[str, float]
    note: str

    @property
    def lacks_interval(self) -> bool:
        """Whether its value is known, but no interval."""
        return self.name in self.columns and f"{self.name}_low" not in self.columns


def _estimate_quotients(
    sums: Mapping[str, Floats],
    quotients: Mapping[str, tuple[str, str, int, str]],
    names: Sequence[str],
    settings: Resampling,
) -> Iterator[_Quotient]:
    """Yield the quotients of a method.

    `sums` has the sums of each problem by name; `quotients` is one of `_QUOTIENTS`' form.
    """
    ratios = [Ratio(sums[above], sums[below]) for above, below, *_ in quotients.values()]
    rows = np.nan_to_num(np.concatenate([ratio.rows() for ratio in ratios]))
    resampled_sums = np.empty((len(rows), 0))
    if rows.shape[1] >= ITEMS_FOR_AN_INTERVAL:
        generator = stream(settings.seed, *names)
        resampled_sums = resampling.drawn_sums(rows, generator, settings.draws)
    draws_of_ratios = np.split(resampled_sums, len(ratios))
    for name, ratio, draws in zip(quotients, ratios, draws_of_ratios, strict=True):
        above, below, factor, undefined = quotients[name]
        columns = {name: float(factor * sums[above].sum() / sums[below].sum())}
        if not np.isfinite(columns[name]):
            yield _Quotient(name, {}, undefined)
            continue
        interval = resampling.studentized_interval(
            ratio.of_data(),
            ratio.of_sums(draws),
            ratio.n,
            settings.level,
            one_more=ratio.largest_influence,  # a problem may take more tokens than any seen
            farthest=FARTHEST,
        )
        if interval.low is not None:
            low, high = interval.limits
            columns |= {f"{name}_low": factor * low, f"{name}_high": factor * high}
        yield _Quotient(name, columns, interval.note)


def _frontier_shares(
    methods: Floats, names: Sequence[tuple[str, ...]], settings: Resampling
) -> list[float | None]:
    """Return how often each method is on the frontier, if all answer the same drawn problems."""
    n_methods, n_problems, _ = methods.shape
    if n_problems < ITEMS_FOR_AN_INTERVAL:
        return [None] * n_methods
    # In the order of their names, so that the order of rows does not change what is drawn.
    order = np.array(sorted(range(n_methods), key=lambda number: names[number]))
    generator = stream(settings.seed, *names[0][:-1], "frontier")
    rows = np.moveaxis(methods[order], -1, 1).reshape(-1, n_problems)
    resampled = resampling.drawn_sums(rows, generator, settings.draws)
    by_sum = np.moveaxis(resampled.reshape(n_methods, len(_SUMS), -1), 1, 0)
    n_outputs, n_right, n_known, _, n_tokens = by_sum
    is_on_frontier = find_frontier((n_right / n_outputs).T, (n_tokens / n_known).T)
    shares: list[float | None] = is_on_frontier.mean(axis=0)[np.argsort(order)].tolist()
    return shares


def find_frontier(accuracy: Floats, cost: Floats) -> NDArray[np.bool_]:
    """Return which methods, along the last axis, no other beats; one with a nan is not on it."""
    # Comparisons with nan are false, so a method whose cost is unknown beats none.
    gain = accuracy[..., None, :] - accuracy[..., :, None]
    dearer = cost[..., None, :] - cost[..., :, None]
    is_beaten = ((gain >= 0) & (dearer <= 0) & ((gain > 0) | (dearer < 0))).any(axis=-1)
    return np.asarray(~is_beaten & ~np.isnan(accuracy + cost))
