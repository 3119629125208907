"""Outputs → the strategy each follows, by rules from YAML, and the shares of the strategies."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from itertools import compress
from pathlib import Path
from statistics import fmean
from typing import Any

from ngramscan.messages import Text
from ngramscan.outputs.formulas import take_apart
from ngramscan.outputs.markers import ALL, LEVEL
from ngramscan.outputs.reading import Output, OutputSet, number_problems
from ngramscan.patterns.regexes import compile_regex, whole
from ngramscan.reading.output_paths import PromptGroup
from ngramscan.reading.yaml_files import Node, compose_yaml, read_text
from ngramscan.rows import Label, Plot, Share, row_kind
from ngramscan.statistics.clusters import ClusteredShare

STRATEGIES = ("Direct", "CoT", "PoT", "Hybrid")
MEASURES = ("steps", "steps_before_code", "words", "formula_density")
"""Measures that rules may have thresholds for."""
_THRESHOLDS = {f"{measure}_{end}" for measure in MEASURES for end in ("at_least", "at_most")}


@dataclass(frozen=True, slots=True)
class StrategyRule:
    """One rule: the strategy of the outputs for which all conditions hold."""

    name: str
    strategy: str
    code: bool | None
    """Whether there must be a program; None if it does not matter."""
    thresholds: Mapping[str, float]
    """By a measure's name and its end, `_at_least` or `_at_most`."""

    def holds(self, has_code: bool, measures: Mapping[str, float]) -> bool:
        """Tell whether all conditions hold; `measures` has a number for each of `MEASURES`."""
        return self.code in {None, has_code} and all(
            measures[key.removesuffix("_at_least")] >= limit
            if key.endswith("_at_least")
            else measures[key.removesuffix("_at_most")] <= limit
            for key, limit in self.thresholds.items()
        )


@dataclass(frozen=True, slots=True)
class RuleSet:
    """The content of one rules file."""

    step_markers: tuple[Any, ...]
    """Patterns of RE2; where one has a group, the group is what it marks."""
    rules: tuple[StrategyRule, ...]
    """The first that holds decides; the last holds always."""


@row_kind(
    "strategies --per-output",
    "Strategy of each output",
    key=("strategy", "formula_density", "rule"),
)
@dataclass(frozen=True, slots=True)
class OutputStrategyRow:
    """One row: the strategy of one output, and what it was decided by."""

    dataset: Label
    model: Label
    prompt: Label
    id: Label
    strategy: str
    """`Direct`, `CoT`, `PoT` or `Hybrid`."""
    has_code: bool
    steps: int
    """Step markers outside of code."""
    steps_before_code: int
    """Step markers before the last program."""
    words: int
    """Words outside of code and formulas."""
    formula_density: Share
    """Characters within formulas of all characters, 0 to 1: the paper's F-ratio of one output."""
    characters: int
    rule: str
    """The name of the rule that decided."""


@row_kind(
    "strategies",
    "Strategies of outputs",
    Plot(
        "share",
        panel=("dataset", "model"),
        label=("prompt", "strategy"),
        scale="share",
        series="strategy",
        aside="{with_strategy} of {outputs} outputs",
    ),
    key=("outputs", "with_strategy"),
)
@dataclass(frozen=True, slots=True)
class StrategyRow:
    """One row: how many outputs of one group follow one strategy."""

    dataset: Label
    model: Label
    """`all` for all models together."""
    prompt: Label
    strategy: Label
    outputs: int
    """All outputs of the group that have text."""
    with_strategy: int
    share: Share
    share_low: Share | None
    share_high: Share | None
    """Limits of the Wilson interval, with the effective sample size of outputs for the same
    problems. None for all models together if outputs have no id."""
    mean_formula_density: Share | None
    """Mean of the outputs with this strategy; None if there are none."""
    formula_density_of_group: Share
    """The mean of all outputs of the group: the paper's F-ratio, as a share."""
    level: float


@dataclass(slots=True)
class StrategyResult:
    """All rows, and notices on them."""

    rows: list[StrategyRow]
    outputs: list[OutputStrategyRow]
    notices: list[Text]


def run_strategies(outputs_read: OutputSet, rules: RuleSet) -> StrategyResult:
    """Return the strategy of each output that has text, and the shares of each group."""
    present = [output for output in outputs_read.outputs if output.has_text]
    outputs = [classify(output.group, output.id, output.text or "", rules) for output in present]
    return StrategyResult([*_shares(present, outputs)], outputs, outputs_read.notices)


def classify(group: PromptGroup, id_: str, text: str, rules: RuleSet) -> OutputStrategyRow:
    """Return the strategy of one text, by the first rule that holds."""
    parts = take_apart(text)
    steps, before = (_count_steps(prose, rules) for prose in (parts.prose, parts.before_code))
    measures: dict[str, Any] = {
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
        characters=len(text),
        rule=rule.name,
        **measures,
    )


def _count_steps(text: str, rules: RuleSet) -> int:
    """Count the matches of markers; overlapping matches count once."""
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


ClassifiedOutputs = list[tuple[Output, OutputStrategyRow]]


def _shares(outputs: Sequence[Output], rows: Sequence[OutputStrategyRow]) -> Iterator[StrategyRow]:
    """Yield the shares of each group, then those of all models, where there are several."""
    groups: dict[PromptGroup, ClassifiedOutputs] = {}
    pooled: dict[PromptGroup, ClassifiedOutputs] = {}
    for answer in zip(outputs, rows, strict=True):
        group = answer[0].group
        groups.setdefault(group, []).append(answer)
        pooled.setdefault(group._replace(model=ALL), []).append(answer)
    of_several_models = (
        pair for pair in pooled.items() if len({row.model for _, row in pair[1]}) > 1
    )
    for group, answers in [*groups.items(), *of_several_models]:
        for strategy in STRATEGIES:
            yield _share(group, answers, strategy)


def _share(group: PromptGroup, answers: ClassifiedOutputs, strategy: str) -> StrategyRow:
    follows = [row.strategy == strategy for _, row in answers]
    densities = [row.formula_density for _, row in answers]
    group_densities = list(compress(densities, follows))
    problems = number_problems(output for output, _ in answers)
    share = ClusteredShare(follows, problems).estimate(LEVEL)
    # Only ids show which outputs of several models answer the same problem.
    is_known = group.model != ALL or all(output.id for output, _ in answers)
    return StrategyRow(
        *group,
        strategy=strategy,
        outputs=len(answers),
        with_strategy=len(group_densities),
        share=share.value,
        share_low=share.low if is_known else None,
        share_high=share.high if is_known else None,
        mean_formula_density=fmean(group_densities) if group_densities else None,
        formula_density_of_group=fmean(densities),
        level=LEVEL,
    )


# Rules


def load_rules(path: str | Path | None = None) -> RuleSet:
    """Load rules from a YAML file; without one, those of this package."""
    if path is None:
        shipped = resources.files("ngramscan.outputs") / "strategy_rules.yaml"
        return parse_rules(shipped.read_text(encoding="utf-8"), "strategy_rules.yaml")
    return parse_rules(read_text(Path(path)), str(path))


def parse_rules(content: str, where: str) -> RuleSet:
    """Parse the content of a rules file; `where` names it in errors."""
    fields = compose_yaml(content, where).fields({"name", "step_markers", "rules"}, {"source"})
    for key in fields.keys() & {"name", "source"}:
        fields[key].string()
    nodes = fields["rules"].items()
    rules = tuple(map(_rule, nodes))
    for node, rule in zip(nodes, rules, strict=True):
        is_unconditional = rule.code is None and not rule.thresholds
        if is_unconditional != (node is nodes[-1]):
            raise node.error("the last rule, and no other, must be without conditions")
    return RuleSet(tuple(map(_marker, fields["step_markers"].items())), rules)


def _marker(node: Node) -> Any:
    fields = node.fields({"regex", "reason"})
    fields["reason"].string()
    try:
        return compile_regex(fields["regex"].string(), "im")
    except ValueError as error:
        raise fields["regex"].error(str(error)) from error


def _rule(node: Node) -> StrategyRule:
    fields = node.fields({"name", "strategy", "reason"}, {"code", *_THRESHOLDS})
    fields["reason"].string()
    code = fields["code"].value() if "code" in fields else None
    if not isinstance(code, bool | None):
        raise fields["code"].error("expected true or false")
    limits = {key: _threshold(fields[key]) for key in sorted(fields.keys() & _THRESHOLDS)}
    return StrategyRule(
        fields["name"].string(), fields["strategy"].choice(STRATEGIES), code, limits
    )


def _threshold(node: Node) -> float:
    most = 1.0 if "formula_density" in node.path else math.inf
    value = node.value()
    if type(value) not in {int, float} or not 0 <= value <= most:
        between = "between 0 and 1" if most == 1 else "of at least 0"
        raise node.error(f"expected a number {between}")
    return float(value)
