"""Outputs → the strategy each follows, and the shares of the strategies."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import fmean

from ngramscan.outputs.formulas import Parts, take_apart
from ngramscan.outputs.reading import Group, OutputSet
from ngramscan.outputs.strategy_rules import STRATEGIES, Rule, RuleSet
from ngramscan.patterns.regexes import whole
from ngramscan.statistics.proportions import effective_size, wilson

ALL_MODELS = "all"
LEVEL = 0.95


@dataclass(frozen=True, slots=True)
class Classified:
    """One row: how one output solves its problem, and what says so."""

    dataset: str
    model: str
    variant: str
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
class StrategyShare:
    """One row: how many outputs of one group follow one strategy."""

    dataset: str
    model: str
    """`all`: of all models together."""
    variant: str
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
class Strategies:
    """All that came of classifying some outputs."""

    rows: list[StrategyShare]
    outputs: list[Classified]
    notices: list[str]


def classify_outputs(found: OutputSet, rules: RuleSet) -> Strategies:
    """Return the strategy of each output that has text, and the shares of each group."""
    classified = [
        _classify(output.group, output.id, output.text or "", rules)
        for output in found.outputs
        if output.is_there
    ]
    return Strategies(list(_shares(classified)), classified, list(found.notices))


def find_strategy(text: str, rules: RuleSet) -> tuple[str, str]:
    """Return the strategy of one text, and the name of the rule that decided."""
    decided = _classify(Group("", "", ""), "", text, rules)
    return decided.strategy, decided.rule


# One output


def _classify(group: Group, id_: str, text: str, rules: RuleSet) -> Classified:
    parts = take_apart(text)
    measures: dict[str, float] = {
        "steps": _count_steps(parts.prose, rules),
        "steps_before_code": _count_steps(parts.before_code, rules),
        "words": parts.words,
        "formula_density": parts.formula_density,
    }
    rule = _first_that_holds(rules.rules, parts, measures)
    return Classified(
        *group,
        id=id_,
        strategy=rule.strategy,
        has_code=parts.has_code,
        steps=int(measures["steps"]),
        steps_before_code=int(measures["steps_before_code"]),
        words=parts.words,
        formula_density=parts.formula_density,
        characters=len(text),
        rule=rule.name,
    )


def _first_that_holds(rules: Sequence[Rule], parts: Parts, measures: dict[str, float]) -> Rule:
    return next(rule for rule in rules if rule.holds(parts.has_code, measures))


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
        if start >= end:
            steps += 1
        end = max(end, stop)
    return steps


# Shares


def _shares(classified: Sequence[Classified]) -> Iterator[StrategyShare]:
    groups: dict[Group, list[Classified]] = {}
    models: dict[Group, set[str]] = {}
    for output in classified:
        group = Group(output.dataset, output.model, output.variant)
        pooled = group._replace(model=ALL_MODELS)
        groups.setdefault(group, []).append(output)
        models.setdefault(pooled, set()).add(output.model)
    for group, outputs in groups.items():
        yield from _shares_of(group, outputs)
    for pooled, names in models.items():
        if len(names) > 1:
            of_all = [groups[pooled._replace(model=model)] for model in sorted(names)]
            yield from _shares_of(pooled, [output for outputs in of_all for output in outputs])


def _shares_of(group: Group, outputs: Sequence[Classified]) -> Iterator[StrategyShare]:
    n = len(outputs)
    for strategy in STRATEGIES:
        densities = [output.formula_density for output in outputs if output.strategy == strategy]
        limits = _limits(group, outputs, strategy)
        yield StrategyShare(
            *group,
            strategy=strategy,
            outputs=n,
            with_strategy=len(densities),
            share=len(densities) / n,
            share_low=limits[0],
            share_high=limits[1],
            mean_formula_density=fmean(densities) if densities else None,
            formula_density_of_group=fmean(output.formula_density for output in outputs),
            level=LEVEL,
        )


def _limits(
    group: Group, outputs: Sequence[Classified], strategy: str
) -> tuple[float | None, float | None]:
    follows = [output.strategy == strategy for output in outputs]
    size = float(len(follows))
    if group.model == ALL_MODELS:
        if not all(output.id for output in outputs):
            return None, None
        problems = {output.id: number for number, output in enumerate(outputs)}
        size = effective_size(follows, [problems[output.id] for output in outputs])
    estimate = wilson(size * sum(follows) / len(follows), size, LEVEL)
    return estimate.low, estimate.high
