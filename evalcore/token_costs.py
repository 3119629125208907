"""Scores and recorded tokens → what an answer costs, and which methods are worth their cost."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from evalcore.cost_estimates import Estimates, Sums, estimate_costs, sums_of
from evalcore.logs import UsageRow
from evalcore.records import Record
from evalcore.scores import NO_ANSWER, NO_ANSWER_IS, UNKNOWN, ScoreRow
from evalcore.statistics import Resampling

TOKENS = ("completion", "total")
"""Those of the answer, its reasoning among them; or those of the prompt too."""
ALL_MODELS = "all"

Usage = Record | UsageRow
"""What says how many tokens an output took."""


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


@dataclass(frozen=True, slots=True)
class CostSettings:
    """How costs are counted."""

    resampling: Resampling
    tokens: str = "completion"
    baseline: str = "zero-shot"
    """Whose prompts others are compared with."""
    no_answer: str = NO_ANSWER_IS[0]


@dataclass(frozen=True, slots=True)
class Answer:
    """One output: its worth and its tokens. None: not known."""

    score: ScoreRow
    prompt: int | None = None
    completion: int | None = None
    reasoning: int | None = None

    def tokens(self, kind: str) -> int | None:
        """Return what it cost."""
        if kind == "completion":
            return self.completion
        if self.prompt is None or self.completion is None:
            return None
        return self.prompt + self.completion


def output_of(one: ScoreRow | Usage) -> tuple[object, ...]:
    """Return which output a row is about; records are of one run each."""
    run = None if isinstance(one, Record) else one.run
    return one.dataset, one.model, one.method, one.id, one.epoch, run


def with_tokens(rows: Iterable[ScoreRow], usage: Iterable[Usage]) -> list[Answer]:
    """Put tokens beside the scores of the same outputs."""
    by_output = {output_of(one): one for one in usage}
    answers = []
    for row in rows:
        record = by_output.get(output_of(row))
        if record is None:
            answers.append(Answer(row))
        else:
            known = (record.prompt_tokens, record.completion_tokens, record.reasoning_tokens)
            answers.append(Answer(row, *known))
    return answers


def cost_rows(answers: Sequence[Answer], settings: CostSettings) -> list[EfficiencyRow]:
    """Return one row per benchmark, model and method, and one for all models.

    Parameters
    ----------
    answers : sequence of Answer
        By one rule per benchmark.
    settings : CostSettings
        How costs are counted.
    """
    rows = []
    for dataset in dict.fromkeys(answer.score.dataset for answer in answers):
        own = [answer for answer in answers if answer.score.dataset == dataset]
        models = list(dict.fromkeys(answer.score.model for answer in own))
        found = [
            row
            for model in models
            for row in _model_rows(model, [a for a in own if a.score.model == model], settings)
        ]
        if len(models) > 1:
            ratios = {(row.model, row.method): row.accuracy_per_100_tokens for row in found}
            found += _model_rows(ALL_MODELS, own, settings, ratios)
        rows += found
    return rows


def _model_rows(
    model: str,
    answers: Sequence[Answer],
    settings: CostSettings,
    ratios: Mapping[tuple[str, str], float | None] | None = None,
) -> list[EfficiencyRow]:
    """Return one row per method; with the ratios of models, what is pooled over them."""
    kept = _kept(answers, settings)
    methods = list(dict.fromkeys(answer.score.method for answer in answers))
    problems = list(dict.fromkeys(answer.score.id for answer in kept))
    sums = [
        _sums([answer for answer in kept if answer.score.method == method], problems, settings)
        for method in methods
    ]
    estimates = estimate_costs(sums, settings.resampling)
    rows = []
    for method, estimate in zip(methods, estimates, strict=True):
        own = [answer for answer in answers if answer.score.method == method]
        mean, said = (None, "") if ratios is None else _mean_of_ratios(method, ratios)
        overhead = _overhead(method, answers, settings.baseline)
        notes = [_tokens_note(estimate), *estimate.notes, said, overhead.note]
        columns = _described(model, own, notes) | estimate.columns() | _means(_kept(own, settings))
        rows.append(
            EfficiencyRow(
                **columns,
                mean_of_ratios=mean,
                prompt_overhead=overhead.tokens,
                prompt_overhead_n=overhead.n,
            )
        )
    return rows


def _kept(answers: Sequence[Answer], settings: CostSettings) -> list[Answer]:
    leaves = {UNKNOWN, NO_ANSWER} if settings.no_answer == "exclude" else {UNKNOWN}
    return [answer for answer in answers if answer.score.status not in leaves]


def _described(model: str, answers: Sequence[Answer], notes: Iterable[str]) -> dict[str, Any]:
    first = answers[0].score
    return {
        "dataset": first.dataset,
        "model": model,
        "method": first.method,
        "rule": first.rule,
        "n_no_answer": sum(answer.score.status == NO_ANSWER for answer in answers),
        "n_unknown": sum(answer.score.status == UNKNOWN for answer in answers),
        "note": "; ".join(dict.fromkeys(note for note in notes if note)),
    }


def _sums(answers: Sequence[Answer], problems: Sequence[str], settings: CostSettings) -> Sums:
    """Return what is added up over problems: all answers to one are drawn together."""
    numbers = {problem: number for number, problem in enumerate(problems)}
    places = [numbers[answer.score.id] for answer in answers]
    values = [answer.score.value or 0.0 for answer in answers]
    tokens = [answer.tokens(settings.tokens) for answer in answers]
    return sums_of(places, values, tokens, len(problems))


def _tokens_note(estimate: Estimates) -> str:
    if estimate.n_tokens == estimate.n:
        return ""
    return f"tokens are known of {estimate.n_tokens} of {estimate.n} outputs"


def _means(answers: Sequence[Answer]) -> dict[str, Any]:
    return {
        "mean_prompt_tokens": _mean([answer.prompt for answer in answers]),
        "mean_completion_tokens": _mean([answer.completion for answer in answers]),
        "mean_reasoning_tokens": _mean([answer.reasoning for answer in answers]),
    }


def _mean(numbers: Iterable[int | None]) -> float | None:
    known = [number for number in numbers if number is not None]
    return sum(known) / len(known) if known else None


def _mean_of_ratios(
    method: str, ratios: Mapping[tuple[str, str], float | None]
) -> tuple[float | None, str]:
    models = {model for model, _ in ratios}
    own = [ratio for (_, named), ratio in ratios.items() if named == method]
    note = "" if len(own) == len(models) else f"of {len(own)} of {len(models)} models"
    known = [ratio for ratio in own if ratio is not None]
    if len(known) < len(own):
        return None, "no mean of ratios: a model's tokens are not known"
    return float(np.mean(known)), note


class _Overhead(NamedTuple):
    tokens: float | None
    n: int | None
    note: str = ""


def _overhead(method: str, answers: Sequence[Answer], baseline: str) -> _Overhead:
    if method == baseline:
        return _Overhead(None, None)
    prompts = {
        _question(answer): answer.prompt for answer in answers if answer.score.method == baseline
    }
    more = [
        answer.prompt - beside
        for answer in answers
        if answer.score.method == method
        and answer.prompt is not None
        and (beside := prompts.get(_question(answer))) is not None
    ]
    if not more:
        return _Overhead(None, None, f"no prompt tokens of it and {baseline} on the same problems")
    return _Overhead(sum(more) / len(more), len(more))


def _question(answer: Answer) -> tuple[str, str, int | None]:
    return answer.score.model, answer.score.id, answer.score.epoch
