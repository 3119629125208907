"""Prompting methods as data: template files, and the exact messages that they make of a problem.

Placeholders have two braces, `{{problem}}`, since prompts are full of LaTeX's single ones. They are
replaced once and never inside a problem, so that no statement can be taken for a template.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Annotated, Any

import msgspec

from evalcore.benchmarks import GENERAL, find_benchmark
from evalcore.formats import Answers, Benchmark, Problem
from ngramscan.errors import InputError
from ngramscan.yaml_files import as_type, parse_yaml, read_text

_PROBLEM = "problem"
_PLACEHOLDER = re.compile(r"\{\{([A-Za-z][\w+.-]*)\}\}")
_PHASE = re.compile(r"[A-Za-z][\w+.-]*")
_METHOD = re.compile(r"[A-Za-z0-9][A-Za-z0-9+._-]*")  # it also names a file
_Text = Annotated[str, msgspec.Meta(min_length=1)]


class _OwnMethod(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    user: _Text
    system: _Text | None = None
    note: str = ""


class Template(_OwnMethod, kw_only=True, forbid_unknown_fields=True):
    """One method: its messages, in which only what a problem fills is left open."""

    ours: bool = False
    """The paper prints no such prompt: it was written for this package, or by its user."""
    answer: Answers = "either"


class _File(msgspec.Struct, forbid_unknown_fields=True):
    source: str = ""
    phases: dict[str, _Text] = {}
    methods: dict[str, Any] = {}
    fields: list[str] = []
    benchmarks: dict[str, Any] = {}


@dataclass(frozen=True, slots=True)
class PromptSet:
    """All methods of one benchmark, by their names."""

    dataset: str
    methods: Mapping[str, Template]

    @property
    def sha256(self) -> str:
        """The SHA-256 of all messages, in hexadecimal: it changes when a prompt does."""
        content = {name: [each.system, each.user] for name, each in self.methods.items()}
        return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()

    def resolve(self, method: str) -> str:
        """Return the name of a method that may be written in any case; an InputError: none such."""
        if method.lower() not in self.methods:
            known = ", ".join(self.methods)
            raise InputError(f"method {method}", f"unknown for {self.dataset}; it has {known}")
        return method.lower()

    def answer_to(self, method: str) -> Answers:
        """Return what answers to a method: as it, or the part after its last `+`, stands here."""
        names = (method.lower(), method.lower().rpartition("+")[2])
        return next((self.methods[one].answer for one in names if one in self.methods), "either")

    def render(self, method: str, problem: Problem) -> list[dict[str, str]]:
        """Return the messages that put a problem after a method; gold and details stay unseen."""
        template = self.methods[self.resolve(method)]
        values = {**problem.fields, _PROBLEM: problem.text}
        texts = (("system", template.system), ("user", template.user))
        try:
            return [{"role": role, "content": fill(text, values)} for role, text in texts if text]
        except KeyError as error:
            what = f"has no {error.args[0]}, which {method} names"
            raise InputError(f"problem {problem.id}", what) from error


def load_templates(benchmark: str | Benchmark, extra: Path | None = None) -> PromptSet:
    """Load a benchmark's methods, those of any, and one's own, which may name its phases."""
    benchmark = find_benchmark(benchmark) if isinstance(benchmark, str) else benchmark
    folder = resources.files("evalcore") / "benchmarks"
    general, own = (_parse(read_text(folder / name), name) for name in (GENERAL, benchmark.prompts))
    fields, phases = {_PROBLEM, *own.fields}, {**general.phases, **own.phases}
    chosen = {**own.methods, **general.methods, **own.methods}  # the benchmark's come first
    methods = _expand(chosen, phases, fields, benchmark.prompts)
    if extra is not None:
        where, added = str(extra), _parse(read_text(extra), str(extra))
        if added.fields or added.benchmarks or not added.methods:
            raise InputError(where, "it must have methods, and may have phases and a source")
        # Outputs of two prompts must not go by one name.
        for kind, known in (("phases", {_PROBLEM, *phases}), ("methods", {*methods})):
            if taken := [name for name in getattr(added, kind) if name in known]:
                problem = f"{taken[0]} is among the benchmark's {kind}; take another name"
                raise InputError(where, problem)
        phases |= added.phases
        methods |= _expand(added.methods, phases, fields, where, _OwnMethod)
    return PromptSet(benchmark.name, methods)


def fill(text: str, values: Mapping[str, str]) -> str:
    """Put values in the places that two braces mark; a KeyError: there is none for one."""
    return _PLACEHOLDER.sub(lambda found: values[found[1]], text)


def _parse(content: str, where: str) -> _File:
    """Return what a template file says, the names of its methods in lower case."""
    file = as_type(parse_yaml(content, where), _File, where)
    for what, form, names in (("phase", _PHASE, file.phases), ("method", _METHOD, file.methods)):
        for name in names:
            if not form.fullmatch(name):
                raise InputError(where, f"{what} {name}: its name may have letters, digits, +._-")
            if what == "method" and [other.lower() for other in names].count(name.lower()) > 1:
                raise InputError(where, f"method {name} stands twice")
    file.methods = {name.lower(): method for name, method in file.methods.items()}
    return file


def _expand(
    methods: Mapping[str, Any],
    phases: Mapping[str, str],
    fields: set[str],
    where: str,
    kind: type[_OwnMethod] = Template,
) -> dict[str, Template]:
    """Put the phases in their places; only what a problem fills stays open."""
    expanded = {}
    for name, raw in methods.items():
        place = f"{where}: method {name}"
        template = Template(**{"ours": True, **msgspec.structs.asdict(as_type(raw, kind, place))})
        template.user = _with_phases(template.user, phases, fields, place)
        if template.system:
            template.system = _with_phases(template.system, phases, fields, place)
        if _PROBLEM not in _PLACEHOLDER.findall(template.user):
            raise InputError(place, "the user message has no {{problem}}")
        expanded[name] = template
    return expanded


def _with_phases(text: str, phases: Mapping[str, str], fields: set[str], where: str) -> str:
    expanded = _PLACEHOLDER.sub(lambda found: phases.get(found[1], found[0]), text)
    for name in _PLACEHOLDER.findall(expanded):
        if name in phases:
            raise InputError(where, f"a phase names the phase {name}; only methods can")
        if name not in fields:
            known = ", ".join([*sorted(fields), *phases])
            raise InputError(where, f"nothing is named {{{{{name}}}}}; there are {known}")
    return expanded
