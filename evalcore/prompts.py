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
from typing import Any

from evalcore.benchmarks import Answers, find_benchmark
from evalcore.formats import Problem
from evalcore.yaml_files import parse_yaml, read_text
from ngramscan.errors import InputError

_FOR_ALL = "any-benchmark.yaml"
_PROBLEM = "problem"
_PLACEHOLDER = re.compile(r"\{\{([A-Za-z][\w+.-]*)\}\}")
_METHOD_NAME = re.compile(r"[a-z0-9][a-z0-9+._-]*")  # it also names a file
_OWN_KEYS = {"source": str, "phases": dict, "methods": dict}
_KEYS = {**_OWN_KEYS, "fields": list, "benchmarks": dict}
_OWN_METHOD_KEYS = {"system": str, "user": str, "note": str}
_METHOD_KEYS = {**_OWN_METHOD_KEYS, "ours": bool, "answer": str}


@dataclass(frozen=True, slots=True)
class Template:
    """One method: its messages, in which only what a problem fills is left open."""

    system: str | None
    user: str
    ours: bool = False
    """The paper prints no such prompt: it was written for this package, or by its user."""
    note: str = ""
    answer: Answers = "either"


@dataclass(frozen=True, slots=True)
class _File:
    """A template file, each key of the right type; what its texts name is not looked up yet."""

    where: str
    phases: Mapping[str, str]
    fields: tuple[str, ...]
    methods: Mapping[str, Mapping[str, Any]]


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
        """Return the name of a method, whatever the case in which it is written.

        Raises
        ------
        InputError
            There is no such method; names those that there are.
        """
        if method.lower() not in self.methods:
            known = ", ".join(self.methods)
            raise InputError(f"method {method}", f"unknown for {self.dataset}; it has {known}")
        return method.lower()

    def answer_to(self, method: str) -> Answers:
        """Return what answers to a method: as it, or the part after its last `+`, stands here."""
        names = (method.lower(), method.lower().rpartition("+")[2])
        return next((self.methods[one].answer for one in names if one in self.methods), "either")

    def render(self, method: str, problem: Problem) -> list[dict[str, str]]:
        """Make the messages that put a problem after a method.

        Parameters
        ----------
        method : str
            Its name, in any case.
        problem : Problem
            Of this benchmark; its gold and details are not looked at.

        Returns
        -------
        list of dict
            The system message, where the method has one, then the user's: `role` and `content`.

        Raises
        ------
        InputError
            There is no such method, or the problem lacks a field that its prompt names.
        """
        template = self.methods[self.resolve(method)]
        values = {**problem.fields, _PROBLEM: problem.text}
        texts = (("system", template.system), ("user", template.user))
        try:
            return [{"role": role, "content": fill(text, values)} for role, text in texts if text]
        except KeyError as error:
            raise InputError(
                f"problem {problem.id}", f"has no {error.args[0]}, which {method} names"
            ) from error


def load_templates(dataset: str, extra: Path | None = None) -> PromptSet:
    """Load the prompting methods of a benchmark, and a user's own beside them.

    Parameters
    ----------
    dataset : str
        A benchmark's name.
    extra : Path or None
        A file of the same format; its methods may name the phases of the benchmark.

    Returns
    -------
    PromptSet
        The methods of the benchmark, those that hold for any benchmark, and those of the file.

    Raises
    ------
    InputError
        There are no prompts for such a benchmark, or a file breaks the format.
    """
    general, own = _shipped(_FOR_ALL), _shipped(find_benchmark(dataset).prompts)
    fields = {_PROBLEM, *own.fields}
    phases = {**general.phases, **own.phases}
    methods = _expand(own, phases, fields)
    methods = {**methods, **_without(_expand(general, phases, fields), methods)}
    if extra is not None:
        added = _parse(read_text(extra), str(extra), is_own=True)
        _refuse_known("phases", added.phases, phases, added.where)
        _refuse_known("methods", added.methods, methods, added.where)
        methods.update(_expand(added, {**phases, **added.phases}, fields))
    return PromptSet(dataset, methods)


def fill(text: str, values: Mapping[str, str]) -> str:
    """Put values in the places of a text that two braces mark; they are not looked into.

    Parameters
    ----------
    text : str
        With placeholders such as `{{problem}}`.
    values : Mapping of str to str
        By the names of the placeholders.

    Returns
    -------
    str
        The text without placeholders of its own.

    Raises
    ------
    KeyError
        There is no value for a placeholder.
    """
    return _PLACEHOLDER.sub(lambda found: values[found[1]], text)


def _shipped(name: str) -> _File:
    content = (resources.files("evalcore") / "benchmarks" / name).read_text(encoding="utf-8")
    return _parse(content, name)


def _parse(content: str, where: str, is_own: bool = False) -> _File:
    document = _checked(parse_yaml(content, where), _OWN_KEYS if is_own else _KEYS, where)
    phases = document.get("phases", {})
    for name, text in phases.items():
        _check_phase(name, text, where)
    methods = {}
    for name, raw in document.get("methods", {}).items():
        if not isinstance(name, str) or not _METHOD_NAME.fullmatch(name.lower()):
            raise InputError(where, f"method {name}: its name may have letters, digits and +._-")
        keys = _OWN_METHOD_KEYS if is_own else _METHOD_KEYS
        method = _checked(raw, keys, f"{where}: method {name}")
        if name.lower() in methods:
            raise InputError(where, f"method {name} stands twice")
        methods[name.lower()] = {"ours": is_own, **method}
    if not methods:
        raise InputError(where, "no methods")
    return _File(where, phases, tuple(document.get("fields", ())), methods)


def _checked(value: object, keys: Mapping[str, type], where: str) -> dict[str, Any]:
    """Return a mapping of which each key is known and of its type."""
    if not isinstance(value, dict):
        raise InputError(where, f"not a mapping with some of {', '.join(keys)}")
    for key, content in value.items():
        if key not in keys:
            raise InputError(where, f"unknown key {key}; known are {', '.join(keys)}")
        if not isinstance(content, keys[key]) or content == "":
            kind = {str: "a text", bool: "true or false"}.get(keys[key], f"a {keys[key].__name__}")
            raise InputError(where, f"{key} is not {kind}")
    return value


def _check_phase(name: object, text: object, where: str) -> None:
    if not isinstance(name, str) or not _PLACEHOLDER.fullmatch(f"{{{{{name}}}}}"):
        raise InputError(where, f"phase {name}: its name may have letters, digits and _+.-")
    if not isinstance(text, str) or not text:
        raise InputError(where, f"phase {name} is not a text")


def _refuse_known(
    kind: str, added: Mapping[str, Any], known: Mapping[str, Any], where: str
) -> None:
    """Refuse a name that the benchmark has: outputs of two prompts would go by one name."""
    for name in added:
        if name in known or name == _PROBLEM:
            raise InputError(where, f"{name} is among the benchmark's {kind}; take another name")


def _without(methods: dict[str, Template], names: Mapping[str, Any]) -> dict[str, Template]:
    return {name: each for name, each in methods.items() if name not in names}


def _expand(content: _File, phases: Mapping[str, str], fields: set[str]) -> dict[str, Template]:
    """Put the phases in their places; only what a problem fills stays open."""
    methods = {}
    for name, raw in content.methods.items():
        where = f"{content.where}: method {name}"
        if "user" not in raw:
            raise InputError(where, "user is missing: the message in which the problem stands")
        texts = {
            role: _with_phases(raw[role], phases, fields, where)
            for role in ("system", "user")
            if role in raw
        }
        if _PROBLEM not in _PLACEHOLDER.findall(texts["user"]):
            raise InputError(where, "the user message has no {{problem}}")
        kept = {key: raw[key] for key in ("ours", "note", "answer") if key in raw}
        methods[name] = Template(texts.get("system"), texts["user"], **kept)
    return methods


def _with_phases(text: str, phases: Mapping[str, str], fields: set[str], where: str) -> str:
    expanded = _PLACEHOLDER.sub(lambda found: phases.get(found[1], found[0]), text)
    for name in _PLACEHOLDER.findall(expanded):
        if name in phases:
            raise InputError(where, f"a phase names the phase {name}; only methods can")
        if name not in fields:
            known = ", ".join([*sorted(fields), *phases])
            raise InputError(where, f"nothing is named {{{{{name}}}}}; there are {known}")
    return expanded
