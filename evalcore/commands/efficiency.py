"""`evalcore efficiency`: accuracy against token cost."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from evalcore.commands.logs import UsageRow
from evalcore.options import Draws, File, FileOrFolder, Seed
from evalcore.pairing import (
    Frame,
    ScoreOptions,
    count_clusters,
    describe_documents,
    to_table,
)
from evalcore.records import Record, read_records
from evalcore.scores import NO_ANSWER, UNKNOWN, GroupedRow, key_of
from ngramscan.errors import InputError
from ngramscan.messages import OptionUse, Wording
from ngramscan.reading.row_files import GivenTables, read_rows
from ngramscan.reporting import refuse_other
from ngramscan.reporting.columns import ALL, for_paper, print_pooled, to_columns
from ngramscan.reporting.command import NewFile, Option, Result, Shared, command
from ngramscan.reporting.layout import Layout
from ngramscan.rows import Label, Plot, Share, UnansweredCount, UnknownCount, row_kind
from ngramscan.statistics import resampling
from ngramscan.statistics.resampling import ITEMS_FOR_AN_INTERVAL, Floats, Ratio, Resampling
from ngramscan.statistics.streams import stream
from ngramscan.statistics.two_samples import estimate_accuracy, estimate_clustered_accuracy

Usage = Record | UsageRow
Price = Annotated[float | None, Option(metavar="DOLLARS", least=0, most=10**9)]
_ROWS_OF_USAGE = Wording("rows of `evalcore logs --usage`", "rows of `evalcore.logs(usage=FILE)`")
_BASELINE = "zero-shot"
FARTHEST = 20.0
"""There is no interval of a cost that reaches beyond so many times the value, or one part in so
many of it: the tail of tokens is not known from such a sample."""
_ORDER = ["problem", "epoch", "model", "value"]
_NAMES = ["dataset", "model", "group", "method"]
_USED = ("prompt_tokens", "completion_tokens", "reasoning_tokens")
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
"""The same: outputs whose cost is known, the right ones of these, and their dollars."""
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


_columns = partial(
    to_columns,
    names=(
        "dataset",
        "model",
        "group",
        "method",
        "rule",
        "n",
        "accuracy",
        "mean_tokens",
        "tokens_per_correct",
        "cost_per_answer",
        "cost_per_correct",
        "on_frontier",
        "frontier_share",
        "accuracy_per_100_tokens",
        "prompt_overhead",
    ),
)
_OPTIONAL = ("prompt overhead", "frontier share", "accuracy per 100 tokens")


def _output(row: GroupedRow | Usage) -> tuple[object, ...]:
    """Return which output a row describes; records belong to one run each."""
    return *key_of(row), getattr(row, "run", None)


def _outputs(
    rows: Sequence[GroupedRow],
    usage: Sequence[Usage],
    tokens: str,
    asked: ScoreOptions,
    baseline: str,
    prices: Floats,
) -> Frame:
    table = to_table(rows, asked.kept_apart)
    by_output = {_output(row): row for row in usage}
    for name in _USED:
        counts = [getattr(by_output.get(_output(row)), name, None) for row in rows]
        table[name] = np.array(counts, dtype=float)[table.index]
    prompt, completion = table["prompt_tokens"], table["completion_tokens"]
    used = completion + (prompt if tokens == "total" else 0)
    table["dollars"] = (prompt * prices[0] + completion * prices[1]) / 1e6
    table["counts"] = table["level"] >= asked.lowest
    table["outputs"] = 1.0
    table["right"] = table["value"].fillna(0)
    table["known"] = used.notna().astype(float)
    table["used"] = used.fillna(0)
    table["hits"] = table["right"] * table["known"]
    table["priced"] = table["dollars"].notna().astype(float)
    table["priced_right"] = table["right"] * table["priced"]
    table["paid"] = table["dollars"].fillna(0)
    is_baseline = table["method"] == baseline
    table["beside"] = prompt.where(is_baseline)
    same = table.groupby(["asked", "problem", "epoch"], dropna=False)
    table["more"] = (prompt - same["beside"].transform("max")).mask(is_baseline)
    return table


def _rows(outputs: Frame, baseline: str, settings: Resampling) -> Iterator[EfficiencyRow]:
    for _, answers in outputs.groupby(["dataset", "group"], sort=False):
        models = [part for _, part in answers.groupby("model", sort=False)]
        singles = [row for part in models for row in _method_rows(part, baseline, (), settings)]
        yield from singles
        if len(models) > 1:
            yield from _method_rows(answers.assign(model=ALL), baseline, singles, settings)


def _method_rows(
    outputs: Frame, baseline: str, singles: Sequence[EfficiencyRow], settings: Resampling
) -> Iterator[EfficiencyRow]:
    methods = outputs["method"].unique()
    # Sums of outputs in another order may differ in the last digits.
    outputs = outputs.sort_values(_ORDER, kind="stable")
    parts = [outputs[outputs["method"] == name] for name in methods]
    counted = [part[part["counts"]] for part in parts]
    units = outputs.loc[outputs["counts"], "unit"].unique()
    sums = [part.groupby("unit")[_SUMS].sum().reindex(units, fill_value=0) for part in counted]
    names = [tuple(filter(None, map(str, part[_NAMES].iloc[0]))) for part in parts]
    costs = estimate_costs(np.stack(sums), names, settings)
    for number, (found, of_tokens) in enumerate(costs):
        notes = [*of_tokens]
        part, kept = parts[number], counted[number]
        first, more, n = part.iloc[0], part["more"].dropna(), found["n"]
        mean_of_ratios, few = _mean_of_ratios(singles, first["method"])
        if found["n_tokens"] != n:
            notes.insert(0, f"tokens are known for {found['n_tokens']} of {n} outputs")
        columns, of_costs = _estimate_dollars(kept, names[number], settings)
        notes += of_costs
        notes.append(few)
        if more.empty and first["method"] != baseline:
            notes.append(
                f"overhead unknown: no problem has prompt tokens of this method and {baseline}"
            )
        columns |= {mean: _mean(kept[name]) for name, mean in _MEANS.items()} | found
        clusters = count_clusters(kept)
        notes.append(clusters.note)
        if n:
            has_clusters = clusters.n is not None
            estimate = estimate_clustered_accuracy if has_clusters else estimate_accuracy
            accuracy = estimate(kept["right"], kept["unit"], settings.level)
            columns |= {"accuracy_low": accuracy.low, "accuracy_high": accuracy.high}
        yield EfficiencyRow(
            **first[[*_NAMES, "rule"]],
            n_no_answer=int((part["status"] == NO_ANSWER).sum()),
            n_unknown=int((part["status"] == UNKNOWN).sum()),
            mean_of_ratios=mean_of_ratios,
            prompt_overhead=_mean(more),
            prompt_overhead_n=len(more) or None,
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
    part = dict(zip(_COST_SUMS, sums.T, strict=True))
    quotients = _quotients(part, _COST_QUOTIENTS, (*names, "costs"), settings)
    without_interval = defaultdict[str, list[str]](list)
    for quotient in quotients:
        columns |= quotient.columns
        if quotient.lacks_interval:
            without_interval[quotient.note].append(quotient.name)
    notes += [_named_note(note, named) for note, named in without_interval.items()]
    return columns, notes


def _mean_of_ratios(rows: Sequence[EfficiencyRow], method: str) -> tuple[float | None, str]:
    """Return the mean of the ratios of a method's models, and a note if not all have one."""
    ratios = [row.accuracy_per_100_tokens for row in rows if row.method == method]
    if None in ratios:
        return None, "no mean of ratios: a model's tokens are not known"
    n_models = len({row.model for row in rows})
    few = f"mean of ratios of {len(ratios)} of {n_models} models" if len(ratios) < n_models else ""
    return _mean(sorted(ratios)), few


def _mean(values: Any) -> float | None:
    known = np.array(values, dtype=float)[np.isfinite(values)]
    return float(known.mean()) if known.size else None


@np.errstate(divide="ignore", invalid="ignore")
def estimate_costs(
    methods: Floats, names: Sequence[tuple[str, ...]], settings: Resampling
) -> list[tuple[dict[str, Any], list[str]]]:
    """Return columns of a row, and notes, for each of several methods on the same problems.

    `methods` has the shape (n_methods, n_problems, 5), where `_SUMS` names the last axis. `names`
    tells the rows apart, the last part the methods; an interval depends on them, the seed and the
    method's own problems, and on nothing else.
    """
    outputs, right, known, _, used = methods.sum(axis=1).T
    accuracies, means = right / outputs, used / known
    on_frontier = pareto_frontier(accuracies, means)
    shares = _frontier_shares(methods, names, settings)
    found = []
    for number, sums in enumerate(methods):
        columns: dict[str, Any] = {
            "n": int(outputs[number]),
            "correct": float(right[number]),
            "n_tokens": int(known[number]),
        }
        notes, without_interval = dict[str, None](), defaultdict[str, list[str]](list)
        if outputs[number]:  # its interval is that of `evalcore score`
            columns["accuracy"] = float(accuracies[number])
        else:
            notes["there are no outputs"] = None
        if np.isfinite(accuracies[number] + means[number]):
            columns["on_frontier"] = bool(on_frontier[number])
            columns["frontier_share"] = shares[number]
        part = dict(zip(_SUMS, sums[sums.any(axis=1)].T, strict=True))
        for quotient in _quotients(part, _QUOTIENTS, names[number], settings):
            columns |= quotient.columns
            notes[quotient.note] = None
            if quotient.lacks_interval:
                without_interval[quotient.note].append(quotient.name)
        found.append((columns, [_named_note(note, without_interval[note]) for note in notes]))
    return found


def _named_note(note: str, names: Sequence[str]) -> str:
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


def _quotients(
    part: Mapping[str, Floats],
    wanted: Mapping[str, tuple[str, str, int, str]],
    names: Sequence[str],
    settings: Resampling,
) -> Iterator[_Quotient]:
    """Yield the quotients of a method.

    `part` has the sums of each problem by name, and `wanted` what `_QUOTIENTS` has.
    """
    ratios = [Ratio(part[above], part[below]) for above, below, *_ in wanted.values()]
    rows = np.nan_to_num(np.concatenate([ratio.rows() for ratio in ratios]))
    drawn = np.empty((len(rows), 0))
    if rows.shape[1] >= ITEMS_FOR_AN_INTERVAL:
        drawn = resampling.drawn_sums(rows, stream(settings.seed, *names), settings.draws)
    of_ratios = np.split(drawn, len(ratios))
    for name, ratio, draws in zip(wanted, ratios, of_ratios, strict=True):
        above, below, factor, undefined = wanted[name]
        columns = {name: float(factor * part[above].sum() / part[below].sum())}
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
    drawn = resampling.drawn_sums(rows, generator, settings.draws)
    outputs, right, known, _, used = np.moveaxis(drawn.reshape(n_methods, len(_SUMS), -1), 1, 0)
    is_on_frontier = pareto_frontier((right / outputs).T, (used / known).T)
    shares: list[float | None] = is_on_frontier.mean(axis=0)[np.argsort(order)].tolist()
    return shares


def pareto_frontier(right: Floats, cost: Floats) -> NDArray[np.bool_]:
    """Return which methods, along the last axis, no other beats; one with a nan is not on it."""
    # Comparisons with nan are false, so a method whose cost is unknown beats none.
    more = right[..., None, :] - right[..., :, None]
    dearer = cost[..., None, :] - cost[..., :, None]
    beaten = ((more >= 0) & (dearer <= 0) & ((more > 0) | (dearer < 0))).any(axis=-1)
    return np.asarray(~beaten & ~np.isnan(right + cost))


@command
def efficiency(
    scores: GivenTables,
    *,
    outputs: FileOrFolder = None,
    usage: File = None,
    baseline: Annotated[str, Option(metavar="METHOD")] = _BASELINE,
    tokens: Literal["completion", "total"] = "completion",
    price_in: Price = None,
    price_out: Price = None,
    resamples: Draws = 2000,
    seed: Seed = 1,
    figure: NewFile = None,
    **options: Annotated[Any, Shared(ScoreOptions)],
) -> Result[EfficiencyRow]:
    """Show accuracy against token cost.

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
    price_in : float, optional
        Dollars per million prompt tokens; with `price_out`, costs are shown.
    price_out : float, optional
        Dollars per million completion tokens, reasoning included.
    resamples : int
        Number of bootstrap samples of problems, for the intervals.
    seed : see compare
    figure : str or Path, optional
        Draw accuracy against tokens, with the efficient frontier: .svg, .png or .pdf.

    Returns
    -------
    DataFrame
        One row per benchmark, model and method, and one for all models together.

    Examples
    --------
    $ evalcore efficiency scores.jsonl --outputs outputs/
    $ evalcore efficiency scores.jsonl --outputs outputs/ --tokens total --figure frontier.svg
    $ evalcore efficiency scores.jsonl --outputs outputs/ --price-in 0.5 --price-out 1.5
    """
    if (price_in is None) != (price_out is None):
        missing = OptionUse("price_out" if price_out is None else "price_in")
        raise InputError(missing, "missing; costs need both prices, each per million tokens")
    if outputs and usage:
        problem = "not allowed with " + OptionUse("outputs") + "; both hold the tokens"
        raise InputError(OptionUse("usage"), problem)
    if not outputs and not usage:
        cure = "or give " + OptionUse("usage")
        raise InputError(
            OptionUse("outputs"), "missing; scores don't hold token counts (" + cure + ")"
        )
    skipped = list[str]()
    used: Sequence[Usage] = []
    if outputs:
        used = read_records(Path(outputs), on_notice=skipped.append)
    if usage:
        used = read_rows(Path(usage), UsageRow, _ROWS_OF_USAGE)
    asked = ScoreOptions(**options)
    chosen, notices, failures = asked.read(scores)
    if baseline != _BASELINE:
        refuse_other("baseline", baseline, (row.method for row in chosen))
    prices = np.array([price_in, price_out], dtype=float)  # nan: not given
    table = _outputs(chosen, used, tokens, asked, baseline, prices)
    rows = list(_rows(table, baseline, Resampling(resamples, seed)))
    drawable = [row for row in rows if row.on_frontier is not None]
    if figure and not drawable:
        raise InputError(str(figure), "nothing to draw: no tokens are known")
    scored, recorded = set(map(_output, chosen)), set(map(_output, used))
    absent, unused = len(scored - recorded), len(recorded - scored)
    unknown = sum(row.status == UNKNOWN for row in chosen)
    left_out = [
        (unknown, f"{unknown:,} of {len(chosen):,} outputs are left out: their result is unknown"),
        (absent, f"{absent:,} of {len(scored):,} scored outputs are not among the recorded ones"),
        (unused, f"{unused:,} of {len(recorded):,} recorded outputs are left out: not scored"),
    ]
    notices += [*skipped, *describe_documents(table)]
    notices += [notice for number, notice in left_out if number]
    units = "clusters of problems" if asked.cluster else "problems"
    notices.append(f"Intervals: {resamples:,} bootstrap samples of {units}, seed {seed}")
    printed = partial(
        print_pooled,
        rows=rows,
        columns=_columns,
        layout=Layout(5, optional=_OPTIONAL),
        notes=("model", "method"),
    )
    return Result(
        rows,
        EfficiencyRow,
        notices=notices,
        failures=failures,
        print_table=printed,
        figure=(figure, drawable),
        for_paper=for_paper(_columns(rows)),
    )
