"""The place of the text in a record: the field of `--text-field`, which may be nested.

`text` is a field. `messages.content` is the field `content` of each object in the list `messages`,
joined by line ends, and `messages[role=assistant].content` only of objects whose role is
assistant. `text,content` is the first of these fields that a record has. A field with exactly the
written name takes precedence.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from ngramscan.errors import some_of
from ngramscan.messages import OptionUse, Text, message_of

_STEP = re.compile(r"(?P<name>[^.\[\]]+)(?:\[(?P<key>[^=\[\]]+)=(?P<value>[^\[\]]*)\])?")


class NoTextError(Exception):
    """A record has no text; `kind` says why where such records are counted."""

    def __init__(self, kind: str, problem: Text, is_null: bool = False) -> None:
        super().__init__(str(problem))
        self.kind = kind
        self.problem = message_of(problem)
        self.is_null = is_null
        """The text is missing and not damaged, as `--skip-null` allows."""


@dataclass(frozen=True)
class _Step:
    """One name of a path, and a filter for the objects of a list."""

    name: str
    key: str = ""
    value: str = ""


@dataclass(frozen=True)
class TextField:
    """A field, a path to one, or several of which a record may have any."""

    spec: str
    steps: tuple[_Step, ...]
    alternatives: tuple[TextField, ...] = ()
    """The fields in order of preference, if there are several."""

    @property
    def first(self) -> str:
        """Return the field of a record that the path begins with."""
        return self.steps[0].name

    def name_in(self, names: Sequence[str] | Mapping[str, Any]) -> str:
        """Return the field of a record that has the text, given the fields that there are."""
        if self.spec in names:
            return self.spec
        alternative = self._alternative_in(names)
        return alternative.name_in(names) if alternative else self.first

    def _alternative_in(self, names: Sequence[str] | Mapping[str, Any]) -> TextField | None:
        """Return the first of several fields that is there; None if there is one field or none."""
        return next((each for each in self.alternatives if each.name_in(names) in names), None)

    def text_of(self, record: Mapping[str, Any]) -> str:
        """Return the text of a record; a NoTextError says why it has none."""
        return "\n".join(self.texts_of(record))

    def texts_of(self, record: Mapping[str, Any]) -> list[str]:
        """Return the strings that are the text of a record, with line ends between them.

        They are the objects of the record. A NoTextError says why it has no text.
        """
        if self.spec not in record and (alternative := self._alternative_in(record)):
            return alternative.texts_of(record)
        quoted = f"field {self.spec!r}"
        steps = (_Step(self.spec),) if self.spec in record else self.steps
        values = list(_values(record, steps, self.spec))
        if texts := [value for value in values if value is not None and value is not _ABSENT]:
            return texts
        if not values:  # an empty list
            return []
        if None in values:
            raise NoTextError("null", f"{quoted} is null; expected a string" + _CURE, is_null=True)
        names = some_of(record) or "none"
        problem = f"no {quoted}; it has: {names} (see " + OptionUse("text_field") + ")"
        raise NoTextError(f"without {quoted}", problem)


_CURE = " (see " + OptionUse("skip_null") + ")"
_ABSENT: Any = object()
"""A record, or an object in a list, lacks a field."""


@lru_cache(maxsize=16)
def parse_text_field(spec: str) -> TextField:
    """Parse a path, or several with commas between them; anything else is the name of a field."""
    several = re.split(r",(?![^\[]*\])", spec)
    if len(several) > 1 and all(several):
        alternatives = tuple(parse_text_field(each) for each in several)
        return TextField(spec, (_Step(spec),), alternatives)
    matches = [_STEP.fullmatch(part) for part in _split(spec)]
    steps = [_Step(**match.groupdict("")) for match in matches if match]
    is_path = len(steps) == len(matches)
    return TextField(spec, tuple(steps) if is_path else (_Step(spec),))


def _split(spec: str) -> list[str]:
    """Return the parts of a path between dots, except dots in brackets."""
    return re.split(r"\.(?![^\[]*\])", spec)


def _values(value: Any, steps: Sequence[_Step], spec: str) -> Iterator[Any]:
    """Yield the strings at the end of a path: None for null, _ABSENT for no such field."""
    if isinstance(value, list):
        for item in value:
            yield from _values(item, steps, spec)
    elif value is None:
        yield None
    elif not steps:
        if not isinstance(value, str):
            problem = f"field {spec!r} is {type(value).__name__}; expected a string"
            raise NoTextError("not a string", problem)
        yield value
    elif not isinstance(value, Mapping):
        problem = f"{steps[0].name!r} of field {spec!r} is looked for in {type(value).__name__}"
        raise NoTextError("not an object", f"{problem}; expected an object")
    elif steps[0].name not in value:
        yield _ABSENT
    else:
        yield from _values(_chosen(value[steps[0].name], steps[0]), steps[1:], spec)


def _chosen(value: Any, step: _Step) -> Any:
    """Return the objects of a list that a step selects, or raise a NoTextError."""
    if not step.key:
        return value
    items = value if isinstance(value, list) else [value]
    objects = [item for item in items if isinstance(item, Mapping)]
    chosen = [item for item in objects if str(item.get(step.key)) == step.value]
    if not chosen:
        others = list(dict.fromkeys(str(item.get(step.key)) for item in objects))
        has = some_of(others) or "none"
        problem = (
            f"no object in {step.name!r} has {step.key}={step.value}; they have: {has}" + _CURE
        )
        raise NoTextError(f"without {step.name}[{step.key}={step.value}]", problem, is_null=True)
    return chosen
