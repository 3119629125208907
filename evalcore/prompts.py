"""Prompting methods as data: template files, and the exact messages that they make of a problem."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Annotated, Any

import msgspec

from evalcore.formats import Answers, Benchmark, Problem
from ngramscan.errors import InputError
from ngramscan.reading.yaml_files import as_type, parse_yaml, read_text

# Two braces, since prompts are full of LaTeX's single ones.
_PLACEHOLDER = re.compile(r"\{\{([A-Za-z][\w+.-]*)\}\}")
_Text = Annotated[str, msgspec.Meta(min_length=1)]


class Template(msgspec.Struct, forbid_unknown_fields=True):
    """One method: its messages, in which only what a problem fills is left open."""

    user: _Text
    system: _Text | None = None
    note: str = ""
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
        # Filled in once, so that no statement of a problem is taken for a template.
        values = {**problem.fields, "problem": problem.text}
        texts = (("system", template.system), ("user", template.user))
        return [{"role": role, "content": fill(text, values)} for role, text in texts if text]


def fill(text: str, values: Mapping[str, str]) -> str:
    """Put values in the places that two braces mark; a KeyError: there is none for one."""
    return _PLACEHOLDER.sub(lambda found: values[found[1]], text)


def load_templates(benchmark: Benchmark, extra: Path | None = None) -> PromptSet:
    """Load a benchmark's methods, those of any, and one's own, which may name its phases."""
    names = ("any-benchmark.yaml", benchmark.prompts)
    folder = resources.files("evalcore") / "benchmarks"
    general, file = (_parse(read_text(folder / name), name) for name in names)
    file.fields.append("problem")
    file.phases = general.phases | file.phases
    file.methods = {**file.methods, **general.methods, **file.methods}  # the benchmark's come first
    methods = dict(_templates(file, benchmark.prompts))
    if extra is not None:
        where, own = str(extra), _parse(read_text(extra), str(extra))
        if own.fields or own.benchmarks or not own.methods:
            raise InputError(where, "it must have methods, and may have phases and a source")
        # Outputs of two prompts must not go by one name.
        for kind, known in (("phases", {"problem", *file.phases}), ("methods", methods)):
            if taken := [name for name in getattr(own, kind) if name in known]:
                problem = f"{taken[0]} is among the benchmark's {kind}; take another name"
                raise InputError(where, problem)
        own.fields, own.phases = file.fields, file.phases | own.phases
        methods |= _templates(own, where, are_own=True)
    return PromptSet(benchmark.name, methods)


def _parse(content: str, where: str) -> _File:
    """Return what a template file says, the names of its methods in lower case."""
    file = as_type(parse_yaml(content, where), _File, where)
    if bad := [name for name in file.phases if not _PLACEHOLDER.fullmatch(f"{{{{{name}}}}}")]:
        raise InputError(where, f"phase {bad[0]}: its name may have letters, digits, +._-")
    names = [name.lower() for name in file.methods]
    if twice := [name for name in names if names.count(name) > 1]:
        raise InputError(where, f"method {twice[0]} stands twice")
    file.methods = dict(zip(names, file.methods.values(), strict=True))
    return file


def _templates(file: _File, where: str, are_own: bool = False) -> Iterator[tuple[str, Template]]:
    """Yield the methods with the phases in their places; only what a problem fills stays open."""
    for name, raw in file.methods.items():
        place = f"{where}: method {name}"
        template = as_type(raw, Template, place)
        if are_own and {"ours", "answer"} & {*raw}:
            raise InputError(place, "one's own have only user, system and note")
        template.ours |= are_own
        for role, text in (("system", template.system or ""), ("user", template.user)):
            filled = _PLACEHOLDER.sub(lambda found: file.phases.get(found[1], found[0]), text)
            setattr(template, role, filled or None)
            for part in _PLACEHOLDER.findall(filled):
                if part in file.phases:
                    raise InputError(place, f"a phase names the phase {part}; only methods can")
                if part not in file.fields:
                    known = ", ".join([*sorted(file.fields), *file.phases])
                    raise InputError(place, f"nothing is named {{{{{part}}}}}; there are {known}")
        if "{{problem}}" not in template.user:
            raise InputError(place, "the user message has no {{problem}}")
        yield name, template
