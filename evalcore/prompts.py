"""Prompting methods as data: templates, and the exact messages that they make of a problem."""

import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any

import msgspec

from evalcore.formats import AnswerPlace, Benchmark, JsonFields, NonEmptyText, Problem
from ngramscan.errors import InputError
from ngramscan.messages import OptionUse
from ngramscan.reading.yaml_files import as_type, parse_yaml, read_text
from ngramscan.reporting import refuse_other

# Two braces, since prompts are full of LaTeX's single ones.
_PLACEHOLDER = re.compile(r"\{\{([A-Za-z][\w+.-]*)\}\}")
_TEXTS = {".txt", ".md"}
"""Suffixes of files that are the message of one method as it is."""
_OTHER_PLACEHOLDER = re.compile(r"\{\{\s*(?:problem|question)\s*\}\}|\{(?:problem|question)\}")
"""How other tools write where the problem belongs."""


class Template(msgspec.Struct, forbid_unknown_fields=True):
    """The messages of one method, with placeholders for the parts of a problem."""

    user: NonEmptyText
    system: NonEmptyText | None = None
    note: str = ""
    ours: bool = False
    """Whether it was written for this package or by its user; the paper prints no such prompt."""
    answer: AnswerPlace = "either"


class _PromptFile(msgspec.Struct, forbid_unknown_fields=True):
    source: str = ""
    phases: dict[str, NonEmptyText] = {}
    methods: dict[str, JsonFields] = {}
    fields: list[str] = []
    benchmarks: JsonFields = {}


@dataclass(frozen=True, slots=True)
class PromptSet:
    """All methods of one benchmark, by their names."""

    dataset: str
    methods: Mapping[str, Template]

    @property
    def sha256(self) -> str:
        """The SHA-256 of all messages in hexadecimal, which changes when a prompt changes."""
        templates = self.methods.items()
        content = {name: [template.system, template.user] for name, template in templates}
        return sha256_of(content)

    def resolve(self, method: str) -> str:
        """Return the name of a method, which may be given in any case; or raise an InputError."""
        refuse_other("methods", method.lower(), self.methods)
        return method.lower()

    def answer_to(self, method: str) -> AnswerPlace:
        """Return what answers to a method, or to the part of its name after the last `+`."""
        names = (method.lower(), method.lower().rpartition("+")[2])
        return next((self.methods[name].answer for name in names if name in self.methods), "either")

    def render(self, method: str, problem: Problem) -> list[dict[str, str]]:
        """Return the messages that ask a problem by a method; gold and details never enter them."""
        template = self.methods[self.resolve(method)]
        # Filled in once: a problem's text may contain braces of its own.
        values = {**problem.fields, "problem": problem.text}
        texts = (("system", template.system), ("user", template.user))
        return [{"role": role, "content": fill(text, values)} for role, text in texts if text]


def sha256_of(content: Any) -> str:
    """Return the SHA-256 of messages or other content as canonical JSON, in hexadecimal."""
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def fill(text: str, values: Mapping[str, str]) -> str:
    """Fill in the placeholders, which are in double braces; a KeyError names a missing value."""
    return _PLACEHOLDER.sub(lambda placeholder: values[placeholder[1]], text)


def load_templates(benchmark: Benchmark, extra: Path | None = None) -> PromptSet:
    """Load the methods of a benchmark, the general ones, and a user's own, which may use phases."""
    names = ("any-benchmark.yaml", benchmark.prompts)
    folder = resources.files("evalcore") / "benchmarks"
    general, file = (_parse(read_text(folder / name), name) for name in names)
    file.fields.append("problem")
    file.phases = general.phases | file.phases
    file.methods = {**file.methods, **general.methods, **file.methods}  # the benchmark's come first
    methods = dict(_templates(file, benchmark.prompts))
    if extra is not None:
        where, added = str(extra), _parse_own(extra)
        if added.fields or added.benchmarks or not added.methods:
            raise InputError(where, "it must have methods, and may have phases and a source")
        # Outputs of two prompts must not bear one name.
        for kind, names_in_file in (("phases", {"problem", *file.phases}), ("methods", methods)):
            if taken := [name for name in getattr(added, kind) if name in names_in_file]:
                raise InputError(where, f"{kind}: the name {taken[0]} is taken; choose another")
        added.fields, added.phases = file.fields, file.phases | added.phases
        methods |= _templates(added, where, are_own=True)
    return PromptSet(benchmark.name, methods)


def _parse_own(path: Path) -> _PromptFile:
    """Return the content of a user's file: YAML, or a text that is the message of one method."""
    if "{" in path.name and not path.exists():
        problem = "expected a file; write the text into one, as mine.txt, with {{problem}} in it"
        raise InputError(OptionUse("prompts", str(path)), problem)
    content = read_text(path)
    if path.suffix.lower() not in _TEXTS:
        return _parse(content, str(path))
    if "{{problem}}" not in content:
        content = _OTHER_PLACEHOLDER.sub("{{problem}}", content)
    if "{{problem}}" not in content:
        raise InputError(path, "write {{problem}} where the text of the problem belongs")
    return _PromptFile(methods={path.stem.lower(): {"user": content.strip()}})


def _parse(content: str, where: str) -> _PromptFile:
    """Return the content of a template file, with the names of its methods in lower case."""
    file = as_type(parse_yaml(content, where), _PromptFile, where)
    if bad := [name for name in file.phases if not _PLACEHOLDER.fullmatch(f"{{{{{name}}}}}")]:
        raise InputError(where, f"phase {bad[0]}: a name has letters, digits and +._- only")
    names = [name.lower() for name in file.methods]
    if twice := [name for name in names if names.count(name) > 1]:
        raise InputError(where, f"method {twice[0]} is defined twice")
    file.methods = dict(zip(names, file.methods.values(), strict=True))
    return file


def _templates(
    file: _PromptFile, where: str, are_own: bool = False
) -> Iterator[tuple[str, Template]]:
    """Yield the methods with their phases filled in; placeholders for the problem stay."""
    for name, raw in file.methods.items():
        place = f"{where}: method {name}"
        if others := [key for key in raw if are_own and key not in {"user", "system", "note"}]:
            raise InputError(place, f"unknown key {others[0]}; available: user, system, note")
        template = as_type(raw, Template, place)
        template.ours |= are_own
        for role, text in (("system", template.system or ""), ("user", template.user)):
            filled = _PLACEHOLDER.sub(
                lambda placeholder: file.phases.get(placeholder[1], placeholder[0]), text
            )
            setattr(template, role, filled or None)
            for part in _PLACEHOLDER.findall(filled):
                if part in file.phases:
                    raise InputError(place, f"a phase can't use another phase ({part})")
                if part not in file.fields:
                    possible = ", ".join([*sorted(file.fields), *file.phases])
                    raise InputError(
                        place, f"unknown placeholder {{{{{part}}}}}; known: {possible}"
                    )
        if "{{problem}}" not in template.user:
            raise InputError(place, "the user message has no {{problem}}")
        yield name, template
