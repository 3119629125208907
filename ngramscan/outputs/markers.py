"""Markers of methods in outputs: how often each occurs in each text.

Literals are counted as in corpora, at every byte offset, overlaps included, but upper and lower
case of ASCII letters are one unless asked otherwise. (Other letters always differ, as do straight
and typographic apostrophes.) Regexes are counted as RE2 finds them, without overlaps, and say by
themselves whether case matters. A literal inside another (`step by step` in `think step by step`)
is an occurrence of both.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ngramscan.matching import Matcher
from ngramscan.patterns.model import PatternSet
from ngramscan.patterns.regexes import compile_regex, whole

REGEX_TIER = "regex"
"""What stands for the tier of a regex, which has none."""


@dataclass(frozen=True, slots=True)
class Marker:
    """What shows a method in an output."""

    method: str
    tier: str
    """One of `TIERS`, or `REGEX_TIER`."""
    name: str
    """The literal itself, or the name of a regex."""
    regex: str | None = None


def markers_of(patterns: PatternSet) -> list[Marker]:
    """Return the markers of a pattern set: its patterns, then its regexes."""
    literals = [Marker(pattern.method, pattern.tier, pattern.text) for pattern in patterns.patterns]
    regexes = [Marker(r.method, REGEX_TIER, r.name, r.regex) for r in patterns.regexes]
    return [*literals, *regexes]


def count_markers(
    markers: Sequence[Marker], texts: Sequence[str], case_sensitive: bool = False
) -> NDArray[np.int64]:
    """Count markers in texts.

    Parameters
    ----------
    markers : sequence of Marker
        What to count.
    texts : sequence of str
        Where.
    case_sensitive : bool
        Upper and lower case differ, in literals.

    Returns
    -------
    array of int, shape (texts, markers)
        Occurrences.

    Raises
    ------
    EngineError
        In the first texts, the matching engine found other counts than brute force.
    """
    counts = np.zeros((len(texts), len(markers)), dtype=np.int64)
    literals = [number for number, marker in enumerate(markers) if marker.regex is None]
    counts[:, literals] = _count_literals(
        [markers[i].name for i in literals], texts, case_sensitive
    )
    for number, marker in enumerate(markers):
        if marker.regex is not None:
            find = compile_regex(marker.regex).finditer
            counts[:, number] = [sum(1 for _ in find(whole(text))) for text in texts]
    return counts


def _count_literals(
    literals: Sequence[str], texts: Sequence[str], case_sensitive: bool
) -> NDArray[np.int64]:
    matcher = Matcher(literals, ignore_case=not case_sensitive)
    numbers = {query: number for number, query in enumerate(matcher.queries)}
    counts = np.zeros((len(texts), len(numbers)), dtype=np.int64)
    found: list[int] = []

    def hit(
        number: int, _start: int = 0, _end: int = 0, _flags: int = 0, _context: object = None
    ) -> None:
        found.append(number)

    for row, text in enumerate(texts):
        # A lone surrogate, which JSON may escape, is no character of any literal.
        matcher.scan(text.encode(errors="replace"), hit)
        if found:
            counts[row] = np.bincount(found, minlength=len(numbers))
            found.clear()
    return counts[:, [numbers[literal] for literal in literals]]
