"""The rules by which outputs are classified, read from YAML and checked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any

import yaml

from ngramscan.errors import InputError
from ngramscan.patterns.regexes import compile_regex
from ngramscan.reading.yaml_files import compose_yaml, fields_of, place_of, read_text

STRATEGIES = ("Direct", "CoT", "PoT", "Hybrid")
MEASURES = ("steps", "steps_before_code", "words", "formula_density")
"""What has thresholds."""
_THRESHOLDS = {f"{measure}_{end}" for measure in MEASURES for end in ("at_least", "at_most")}
_NEEDED = ("name", "strategy", "reason")


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule: the strategy of the outputs for which all conditions hold."""

    name: str
    strategy: str
    code: bool | None
    """Whether there must be a program; None: either way."""
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
    needed = {"name", "step_markers", "rules"}
    fields = fields_of(compose_yaml(content, where), where, {*needed, "source"}, needed, "")
    markers = tuple(
        _marker(node, where, f"step_markers[{number}]")
        for number, node in enumerate(_listed(fields["step_markers"], where, "step_markers"))
    )
    nodes = _listed(fields["rules"], where, "rules")
    rules = tuple(_rule(node, where, f"rules[{number}]") for number, node in enumerate(nodes))
    for number, rule in enumerate(rules):
        is_unconditional = rule.code is None and not rule.thresholds
        if is_unconditional != (rule is rules[-1]):
            problem = "the last rule, and no other, must be without conditions"
            raise InputError(place_of(where, nodes[number]), f"rules[{number}]: {problem}")
    for key in fields.keys() & {"name", "source"}:
        _text(fields[key], where, key)
    return RuleSet(markers, rules)


def _marker(node: yaml.Node, where: str, path: str) -> Any:
    fields = fields_of(node, where, {"regex", "reason"}, {"regex", "reason"}, f"{path}: ")
    _text(fields["reason"], where, f"{path}.reason")
    try:
        return compile_regex(_text(fields["regex"], where, f"{path}.regex"), "im")
    except ValueError as error:
        raise InputError(place_of(where, fields["regex"]), f"{path}.regex: {error}") from error


def _rule(node: yaml.Node, where: str, path: str) -> Rule:
    fields = fields_of(node, where, {*_NEEDED, "code", *_THRESHOLDS}, {*_NEEDED}, f"{path}: ")
    name, strategy, _ = (_text(fields[key], where, f"{path}.{key}") for key in _NEEDED)
    if strategy not in STRATEGIES:
        problem = f"{path}.strategy: {strategy!r} is none of {', '.join(STRATEGIES)}"
        raise InputError(place_of(where, fields["strategy"]), problem)
    code = None
    if truth := fields.get("code"):
        if truth.tag != "tag:yaml.org,2002:bool":
            raise InputError(place_of(where, truth), f"{path}.code: true or false was expected")
        code = truth.value.lower() in {"true", "yes", "on"}
    keys = sorted(fields.keys() & _THRESHOLDS)
    limits = {key: _threshold(fields[key], where, f"{path}.{key}") for key in keys}
    return Rule(name, strategy, code, limits)


def _threshold(node: yaml.Node, where: str, path: str) -> float:
    tags = {"tag:yaml.org,2002:int", "tag:yaml.org,2002:float"}
    try:
        value = float(node.value) if node.tag in tags else -1.0
    except ValueError:
        value = -1.0
    most = 1.0 if "formula_density" in path else float("inf")
    if not 0 <= value <= most:
        between = "between 0 and 1" if most == 1 else "of at least 0"
        raise InputError(place_of(where, node), f"{path}: a number {between} was expected")
    return value


def _listed(node: yaml.Node, where: str, path: str) -> list[yaml.Node]:
    if not isinstance(node, yaml.SequenceNode) or not node.value:
        problem = f"{path}: a list was expected, with something in it"
        raise InputError(place_of(where, node), problem)
    nodes: list[yaml.Node] = node.value
    return nodes


def _text(node: yaml.Node, where: str, path: str) -> str:
    if node.tag != "tag:yaml.org,2002:str" or not node.value.strip():
        raise InputError(place_of(where, node), f"{path}: a text was expected")
    return str(node.value)
