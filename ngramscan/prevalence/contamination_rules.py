"""Rules of contamination: which windows of a text are looked for, and what finding them means."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

from ngramscan.matching import Normalization

Unit = Literal["characters", "bytes", "words"]
Tail = Literal["drop", "cut", "end"]
Short = Literal["whole", "skip"]


class TextWindow(NamedTuple):
    """A part of a text that is looked for."""

    start: int
    """First character of the text, as it was given."""
    stop: int
    """Behind the last character."""
    query: str
    """The string to count: the part, normalized as the corpus is."""


@dataclass(frozen=True, slots=True)
class Rule:
    """How windows are taken from a text, and at which share of found ones it counts as what."""

    name: str
    """`mini`, `gpt4`, `gpt4-stripped`, `gpt3`, `palm` or `ngram-N`."""
    unit: Unit
    """What the width counts."""
    width: int
    suspicious_from: str
    """The least share of windows found, as decimals: `0.2`. `0`: any window."""
    dirty_from: str
    normalization: Normalization = ""
    draws: int | None = None
    """Random windows per text; None: one at the beginning of each word."""
    tail: Tail = "drop"
    """Windows that the end of the text cuts short: left out, kept as they are, or moved to end
    there (once)."""
    short: Short = "whole"
    """A text shorter than a window: it is one window, or it has none."""
    strip: bool = True
    """Leave out white space at both ends of the text first."""

    @property
    def described(self) -> str:
        """The rule with all its choices, as rows record it."""
        raise NotImplementedError

    def least(self, share: str, windows: int) -> int:
        """Return the least number of found windows that makes up a share."""
        raise NotImplementedError


def make_rule(
    name: str,
    width: int | None = None,
    unit: Literal["characters", "bytes"] | None = None,
    tail: Tail | None = None,
    short: Short | None = None,
    strip: bool = True,
) -> Rule:
    """Return a rule by its name, with other choices where they are given; or an InputError."""
    raise NotImplementedError


def windows_of(text: str, rule: Rule, draw: str = "") -> list[TextWindow]:
    """Return the windows of a text, in their order; `draw` decides where random ones are."""
    raise NotImplementedError
