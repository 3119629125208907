"""Outputs → the strategy each follows, and the shares of the strategies."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import fmean

from ngramscan.outputs.formulas import take_apart
from ngramscan.outputs.markers import ALL, LEVEL
from ngramscan.outputs.reading import Group, OutputSet
from ngramscan.outputs.strategy_rules import STRATEGIES, RuleSet
from ngramscan.patterns.regexes import whole
from ngramscan.statistics.proportions import effective_size, wilson


@dataclass(frozen=True, slots=True)
class OutputStrategyRow:
    """One row: how one output solves its problem, and what says so."""

    dataset: str
    model: str
    prompt: str
    id: str
    strategy: str
    """One of `STRATEGIES`."""
    has_code: bool
    steps: int
    """Step markers outside of code."""
    steps_before_code: int
    """Those before the last program."""
    words: int
    """Outside of code and formulas."""
    formula_density: float
    """Characters within formulas of all characters, 0 to 1: the paper's F-ratio of one output."""
    characters: int
    rule: str
    """The name of the rule that decided."""


@dataclass(frozen=True, slots=True)
class StrategyRow:
    """One row: how many outputs of one group follow one strategy."""

    dataset: str
    model: str
    """`all`: of all models together."""
    prompt: str
    strategy: str
    outputs: int
    """Of the group, all strategies together; those without text are left out."""
    with_strategy: int
    share: float
    share_low: float | None
    share_high: float | None
    """Limits of the Wilson interval; of all models, with the effective size of outputs that answer
    the same problems. None: of all models, where outputs have no id."""
    mean_formula_density: float | None
    """Of the outputs with this strategy; None: there is none."""
    formula_density_of_group: float
    """The mean of all outputs of the group: the paper's F-ratio, as a share."""
    level: float
    """Of the interval."""


@dataclass(slots=True)
class StrategyResult:
    """All that came of classifying some outputs."""

    rows: list[StrategyRow]
    outputs: list[OutputStrategyRow]
    notices: list[str]


def run_strategies(found: OutputSet, rules: RuleSet) -> StrategyResult:
    """Return the strategy of each output that has text, and the shares of each group."""
    outputs = [
        classify(output.group, output.id, output.text or "", rules)
        for output in found.outputs
        if output.is_there
    ]
    rows = [row for group, own in _groups(outputs) for row in _shares(group, own)]
    return StrategyResult(rows, outputs, found.notices)


def classify(group: Group, id_: str, text: str, rules: RuleSet) -> OutputStrategyRow:
    """Return the strategy of one text, by the first rule that holds."""
    parts = take_apart(text)
    steps, before = (_count_steps(prose, rules) for prose in (parts.prose, parts.before_code))
    measures = {
        "steps": steps,
        "steps_before_code": before,
        "words": parts.words,
        "formula_density": parts.formula_density,
    }
    rule = next(rule for rule in rules.rules if rule.holds(parts.has_code, measures))
    return OutputStrategyRow(
        *group,
        id=id_,
        strategy=rule.strategy,
        has_code=parts.has_code,
        steps=steps,
        steps_before_code=before,
        words=parts.words,
        formula_density=parts.formula_density,
        characters=len(text),
        rule=rule.name,
    )


def _count_steps(text: str, rules: RuleSet) -> int:
    """Count the places where markers match; two that match the same words count once."""
    text = whole(text)
    spans = sorted(
        match.span(min(marker.groups, 1))
        for marker in rules.step_markers
        for match in marker.finditer(text)
    )
    steps, end = 0, 0
    for start, stop in spans:
        steps += start >= end
        end = max(end, stop)
    return steps


Outputs = Sequence[OutputStrategyRow]


def _groups(outputs: Outputs) -> Iterator[tuple[Group, Outputs]]:
    """Yield the outputs of each group, then those of all models, where there are several."""
    groups: dict[Group, list[OutputStrategyRow]] = {}
    pooled: dict[Group, list[OutputStrategyRow]] = {}
    for output in outputs:
        group = Group(output.dataset, output.model, output.prompt)
        groups.setdefault(group, []).append(output)
        pooled.setdefault(group._replace(model=ALL), []).append(output)
    yield from groups.items()
    for group, own in pooled.items():
        if len({output.model for output in own}) > 1:
            yield group, own


def _shares(group: Group, outputs: Outputs) -> Iterator[StrategyRow]:
    for strategy in STRATEGIES:
        densities = [output.formula_density for output in outputs if output.strategy == strategy]
        low, high = _limits([output.strategy == strategy for output in outputs], group, outputs)
        yield StrategyRow(
            *group,
            strategy=strategy,
            outputs=len(outputs),
            with_strategy=len(densities),
            share=len(densities) / len(outputs),
            share_low=low,
            share_high=high,
            mean_formula_density=fmean(densities) if densities else None,
            formula_density_of_group=fmean(output.formula_density for output in outputs),
            level=LEVEL,
        )


def _limits(
    follows: Sequence[bool], group: Group, outputs: Outputs
) -> tuple[float | None, float | None]:
    size = float(len(follows))
    if group.model == ALL:
        if not all(output.id for output in outputs):
            return None, None
        problems = {output.id: number for number, output in enumerate(outputs)}
        size = effective_size(follows, [problems[output.id] for output in outputs])
    estimate = wilson(size * sum(follows) / len(follows), size, LEVEL)
    return estimate.low, estimate.high
