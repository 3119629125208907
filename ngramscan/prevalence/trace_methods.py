"""Traces of outputs → coverage by length of spans, and differences between prompting methods.

Problems are the unit: outputs of several models or epochs for one problem are alike, and count as
one cluster. Coverage is compared, not the longest span, which grows with the length of a text.
Few outputs may have most of what is copied, and a sample often has none of these. So intervals and
tests are for means between two bounds (`BoundedMean`), and problems are not resampled.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from statistics import fmean
from typing import Annotated, NamedTuple

import numpy as np

from ngramscan.prevalence.spans import Integers
from ngramscan.prevalence.trace import (
    Measures,
    Traced,
    TraceOptions,
    TraceResult,
    creativity_index,
)
from ngramscan.rows import HolmP, Label, PlainIf, Plot, Points, PValue, Share, row_kind
from ngramscan.statistics.bounded_means import BoundedMean
from ngramscan.statistics.estimates import Estimate, fields_of
from ngramscan.statistics.p_values import holm
from ngramscan.statistics.two_samples import estimate_mean, is_binary

CURVE_TO = 12
"""Words of the longest spans of a curve."""
FEW = 10
"""From fewer problems, little can be said about others."""
ALL_MODELS = "all"
CONTROL = "control"
"""The prompt of reference texts, which every model's outputs are compared with."""
_OutputGroup = tuple[str, str, str, str]
_Difference = Annotated[Points, PlainIf("measure", "creativity_index")]


class OutputMeasure(NamedTuple):
    """A measure of outputs, and its largest value."""

    value_of: Callable[[Traced], float | None]
    most: float = 1.0
    """The largest possible value; the least is 0."""


class _ModelProblem(NamedTuple):
    model: str
    problem: str


@row_kind(
    "trace --curve",
    "Coverage of outputs by length of spans",
    Plot(
        "coverage",
        panel=("index", "dataset", "model", "kind"),
        label=("model",),
        scale="share",
        series="prompt",
        across="length",
    ),
    key=("outputs",),
)
@dataclass(frozen=True, slots=True)
class CurveRow:
    """How much of the outputs of one prompt is in spans of some length or longer."""

    index: Label
    dataset: Label
    model: Label
    """`all` for all models together."""
    prompt: Label
    kind: Label
    """`all`, or the kind of the words that the row is about."""
    length: int
    """Words."""
    outputs: int
    """Outputs with a word that counts."""
    problems: int
    """Problems that these answer: the number of independent values."""
    coverage: Share
    """Mean share of the words of an output that are in such spans."""
    coverage_low: Share | None
    coverage_high: Share | None
    novelty: Share | None
    """Mean share of the n-grams of an output that the index lacks; None: no output has any."""
    novelty_low: Share | None
    novelty_high: Share | None
    level: float
    note: str = ""
    """Why there is no interval."""


@row_kind(
    "trace --differences",
    "Differences of what prompts copy",
    Plot(
        "difference",
        panel=("index", "measure"),
        label=("dataset", "model", "prompt", "baseline"),
        aside="{problems} problems, p = {p_holm} (Holm)",
        sides=("more with {baseline}", "more with {prompt}"),
    ),
    key=("problems", "mean", "mean_baseline", "p", "p_holm"),
)
@dataclass(frozen=True, slots=True)
class DifferenceRow:
    """How a measure differs between the outputs of two prompts for the same problems."""

    index: Label
    dataset: Label
    model: Label
    """`all` for all models together."""
    prompt: Label
    baseline: Label
    kind: Label
    """`all`, or the kind of the words that the row is about."""
    measure: Label
    """`coverage`, `novelty`, `creativity_index`, or `coverage_truncated`."""
    problems: int
    """Problems with an output after both prompts."""
    mean: float
    mean_baseline: float
    difference: _Difference
    """The mean over problems of `prompt` minus `baseline`."""
    difference_low: _Difference | None
    difference_high: _Difference | None
    p: PValue | None
    """The p-value for a true difference of 0."""
    p_holm: HolmP | None
    """`p`, adjusted by Holm's method within `family`: all rows of the same index."""
    level: float
    note: str = ""
    test: str = ""
    family: str = ""
    """The tests adjusted together."""
    family_tests: int = 0
    """How many these are."""


def make_curve(result: TraceResult, options: TraceOptions, level: float) -> Iterator[CurveRow]:
    """Yield the coverage and the novelty of each prompt, for each length that is known."""
    for index, traced in result.traced.items():
        for names, outputs in _by_prompt(traced).items():
            least = max(each.least for each in outputs)
            problems = _problems(outputs)
            for length in range(least, max(options.min_words, CURVE_TO) + 1):
                measures = [each.profile.measures(length) for each in outputs]
                coverage = _mean(problems, [each.coverage for each in measures], level)
                novelty = _mean(problems, [each.novelty for each in measures], level)
                if coverage is None:
                    continue
                dataset, model, prompt, kind = names
                yield CurveRow(
                    index=index,
                    dataset=dataset,
                    model=model,
                    prompt=prompt,
                    kind=kind,
                    length=length,
                    outputs=sum(each.words > 0 for each in measures),
                    problems=_answered(problems, measures),
                    **fields_of("coverage", coverage),
                    **fields_of("novelty", novelty),
                    level=level,
                    note=coverage.note,
                )


def make_differences(
    result: TraceResult, options: TraceOptions, level: float
) -> list[DifferenceRow]:
    """Return the paired differences of all pairs of prompts, by model and of all models together.

    A problem counts where it has outputs after both prompts. Intervals and p-values are from
    nonparametric tilting, with problems as the independent values; p-values are adjusted by Holm's
    procedure.
    """
    rows = []
    for index, traced in result.traced.items():
        of_index = [
            row
            for kind in dict.fromkeys(each.kind for each in traced)
            for outputs in _by_model([each for each in traced if each.kind == kind])
            for row in _differences(index, outputs, options, level)
        ]
        adjusted = holm([row.p for row in of_index])
        rows += [
            replace(row, p_holm=p, family=f"index {index}", family_tests=len(of_index))
            for row, p in zip(of_index, adjusted, strict=True)
        ]
    return rows


def _differences(
    index: str, outputs: Mapping[str, list[Traced]], options: TraceOptions, level: float
) -> Iterator[DifferenceRow]:
    """Yield the differences of all pairs of prompts, of the outputs of one model or of several."""
    models = {each.given.model for some in outputs.values() for each in some} - {""}
    first_output = next(each for some in outputs.values() for each in some)
    dataset, kind = first_output.given.dataset, first_output.kind
    model = models.pop() if len(models) == 1 else ALL_MODELS
    for baseline, prompt in combinations(outputs, 2):
        for name, measure in _measures(options).items():
            first, second = (
                _values(outputs[each], measure.value_of) for each in (prompt, baseline)
            )
            shared = [key for key in first if key in second]
            if not shared:
                continue
            changes = defaultdict(list)
            for key in shared:
                changes[key.problem].append(first[key] - second[key])
            mean_change = BoundedMean(
                [sum(each) for each in changes.values()],
                least=-measure.most,
                most=measure.most,
                sizes=[len(each) for each in changes.values()],
            )
            p = mean_change.test(0.0)
            yield DifferenceRow(
                index=index,
                dataset=dataset,
                model=model,
                prompt=prompt,
                baseline=baseline,
                kind=kind,
                measure=name,
                problems=len(changes),
                mean=fmean(first[key] for key in shared),
                mean_baseline=fmean(second[key] for key in shared),
                **fields_of("difference", mean_change.estimate(level)),
                p=p.value,
                p_holm=None,
                level=level,
                note=f"fewer than {FEW} problems" if len(changes) < FEW else "",
                test=p.procedure,
            )


def _measures(options: TraceOptions) -> dict[str, OutputMeasure]:
    """Return the measures to compare, by name."""
    least = options.min_words
    measures = {
        "coverage": OutputMeasure(lambda each: each.profile.measures(least).coverage),
        "novelty": OutputMeasure(lambda each: each.profile.measures(least).novelty),
        "creativity_index": OutputMeasure(
            lambda each: creativity_index(each.profile, options),
            most=float(len(options.index_lengths)),  # a sum of shares, one for each length
        ),
    }
    if options.truncate:
        first = options.truncate
        measures["coverage_truncated"] = OutputMeasure(
            lambda each: each.profile_of(first).measures(least).coverage
        )
    return measures


def _values(
    outputs: Sequence[Traced], value_of: Callable[[Traced], float | None]
) -> dict[_ModelProblem, float]:
    """Return the value of each model's outputs for each problem: the mean where it has several."""
    values: dict[_ModelProblem, list[float]] = defaultdict(list)
    for each in outputs:
        value = value_of(each)
        if each.given.problem and value is not None:
            values[_ModelProblem(each.given.model, each.given.problem)].append(value)
    return {key: fmean(several) for key, several in values.items()}


def _problems(outputs: Sequence[Traced]) -> Integers:
    """Return the problem of each output as a number; an output without one has its own."""
    names = [each.given.problem or f"\0{number}" for number, each in enumerate(outputs)]
    return np.unique(names, return_inverse=True)[1]


def _answered(problems: Integers, measures: Sequence[Measures]) -> int:
    """Return the number of problems of outputs with a word that counts."""
    return len({*problems[[each.words > 0 for each in measures]].tolist()})


def _mean(problems: Integers, values: Sequence[float | None], level: float) -> Estimate | None:
    """Return the mean share of outputs, with problems as clusters; None if no output has one."""
    every = np.array(values, np.float64)
    is_known = ~np.isnan(every)
    if not is_known.any():
        return None
    shares = every[is_known]
    numbers = np.unique(problems[is_known], return_inverse=True)[1]
    sums, sizes = np.bincount(numbers, weights=shares), np.bincount(numbers)
    if sums.size == shares.size and is_binary(shares):
        return estimate_mean(shares, binary=True, level=level)
    return BoundedMean(sums, 0, 1, sizes).estimate(level)


def _by_prompt(traced: Sequence[Traced]) -> dict[_OutputGroup, list[Traced]]:
    """Return the outputs of each dataset, model, prompt and kind, then of several models."""
    groups: dict[_OutputGroup, list[Traced]] = defaultdict(list)
    pooled: dict[_OutputGroup, list[Traced]] = defaultdict(list)
    for each in traced:
        given_text = each.given
        groups[given_text.dataset, given_text.model, given_text.prompt, each.kind].append(each)
        pooled[given_text.dataset, ALL_MODELS, given_text.prompt, each.kind].append(each)
    several = {key for key, some in pooled.items() if len({each.given.model for each in some}) > 1}
    return groups | {key: some for key, some in pooled.items() if key in several}


def _by_model(traced: Sequence[Traced]) -> Iterator[dict[str, list[Traced]]]:
    """Yield the outputs of each prompt, for each dataset and model, then for all its models.

    Control texts belong to each model, as if it had written them.
    """
    controls = [each for each in traced if each.given.prompt == CONTROL]
    outputs = [each for each in traced if each.given.prompt != CONTROL]
    by_dataset: dict[str, dict[str, dict[str, list[Traced]]]] = {}
    for each in outputs:
        given_text = each.given
        prompts = by_dataset.setdefault(given_text.dataset, {}).setdefault(given_text.model, {})
        prompts.setdefault(given_text.prompt, []).append(each)
    for dataset, by_model in by_dataset.items():
        pooled: dict[str, list[Traced]] = {}
        for model, prompts in by_model.items():
            if controls:
                prompts[CONTROL] = [
                    replace(each, given=replace(each.given, dataset=dataset, model=model))
                    for each in controls
                ]
            for prompt, some in prompts.items():
                pooled.setdefault(prompt, []).extend(some)
            yield prompts
        if len(by_model) > 1:
            yield pooled
