"""The rules by which outputs are classified, read from YAML and checked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any

from ngramscan.patterns.regexes import compile_regex
from ngramscan.reading.yaml_files import Node, compose_yaml, read_text

STRATEGIES = ("Direct", "CoT", "PoT", "Hybrid")
MEASURES = ("steps", "steps_before_code", "words", "formula_density")
"""What thresholds may be of."""


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule: the strategy of the outputs for which all conditions hold."""

    name: str
    strategy: str
    """One of `STRATEGIES`."""
    reason: str
    code: bool | None = None
    """Whether there must be a program; None: either way."""
    at_least: tuple[tuple[str, float], ...] = ()
    at_most: tuple[tuple[str, float], ...] = ()

    @property
    def is_unconditional(self) -> bool:
        """Tell whether it holds for every output."""
        return self.code is None and not self.at_least and not self.at_most

    def holds(self, has_code: bool, measures: Mapping[str, float]) -> bool:
        """Tell whether all conditions hold; `measures` has a number for each of `MEASURES`."""
        return (
            self.code in {None, has_code}
            and all(measures[name] >= least for name, least in self.at_least)
            and all(measures[name] <= most for name, most in self.at_most)
        )


@dataclass(frozen=True, slots=True)
class RuleSet:
    """The content of one rules file."""

    name: str
    source: str
    step_markers: tuple[Any, ...]
    """Patterns of RE2; where one has a group, the group is what it marks."""
    rules: tuple[Rule, ...]
    """The first that holds decides; the last holds always."""


def load_rules(path: str | Path | None = None) -> RuleSet:
    """Load rules from a YAML file; without one, those of this package.

    Raises
    ------
    InputError
        There is no such file, or it breaks the format; names the file and the line.
    """
    if path is None:
        shipped = resources.files("ngramscan.outputs") / "strategy_rules.yaml"
        return parse_rules(shipped.read_text(encoding="utf-8"), "strategy_rules.yaml")
    return parse_rules(read_text(Path(path)), str(path))


def parse_rules(content: str, where: str) -> RuleSet:
    """Parse the content of a rules file; `where` names it in errors."""
    fields = compose_yaml(content, where).fields({"name", "step_markers", "rules"}, {"source"})
    markers = tuple(_marker(node) for node in fields["step_markers"].items())
    nodes = fields["rules"].items()
    rules = tuple(_rule(node) for node in nodes)
    for node, rule in zip(nodes, rules, strict=True):
        if rule.is_unconditional != (node is nodes[-1]):
            raise node.error("the last rule, and no other, must be without conditions")
    source = fields["source"].string() if "source" in fields else ""
    return RuleSet(fields["name"].string(), source, markers, rules)


def _marker(node: Node) -> Any:
    fields = node.fields({"regex", "reason"})
    fields["reason"].string()
    try:
        return compile_regex(fields["regex"].string(), "im")
    except ValueError as error:
        raise fields["regex"].error(str(error)) from error


_THRESHOLDS = {f"{measure}_{end}" for measure in MEASURES for end in ("at_least", "at_most")}


def _rule(node: Node) -> Rule:
    fields = node.fields({"name", "strategy", "reason"}, {"code", *_THRESHOLDS})
    limits: dict[str, list[tuple[str, float]]] = {"_at_least": [], "_at_most": []}
    for key in fields.keys() & _THRESHOLDS:
        end = "_at_least" if key.endswith("_at_least") else "_at_most"
        limits[end].append((key.removesuffix(end), _threshold(fields[key])))
    least, most = (tuple(sorted(limits[end])) for end in ("_at_least", "_at_most"))
    return Rule(
        fields["name"].string(),
        fields["strategy"].choice(STRATEGIES),
        fields["reason"].string(),
        _truth(fields["code"]) if "code" in fields else None,
        least,
        most,
    )


def _threshold(node: Node) -> float:
    most = 1.0 if "formula_density" in node.path else float("inf")
    value = node.value()
    if type(value) not in {int, float} or not 0 <= value <= most:
        between = "between 0 and 1" if most == 1 else "of at least 0"
        raise node.error(f"a number {between} was expected")
    return float(value)


def _truth(node: Node) -> bool:
    value = node.value()
    if not isinstance(value, bool):
        raise node.error("true or false was expected")
    return value
