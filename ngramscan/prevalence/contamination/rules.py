"""Rules of contamination: which windows of a text are looked for, and what finding them means.

* `copied` is ours: see `copies`.
* `mini` is the rule of infini-gram-mini (Xu et al. 2025, arXiv:2506.12229, §4.1), with the
  thresholds of Llama 2 (Touvron et al. 2023, arXiv:2307.09288, A.6).
* `gpt4` is the rule of GPT-4 (OpenAI 2023, arXiv:2303.08774, appendix C).
* `gpt3` is the rule of GPT-3 (Brown et al. 2020, arXiv:2005.14165, appendix C), though always with
  13 words.
* `palm` is the rule of PaLM (Chowdhery et al. 2022, arXiv:2204.02311, §8).
"""

from __future__ import annotations

import hashlib
import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import accumulate
from math import ceil
from typing import Literal, NamedTuple

from ngramscan.errors import InputError, nearest
from ngramscan.matching.normalization import Normalization, normalized_places
from ngramscan.matching.placed_words import placed_words
from ngramscan.matching.words import chunk_starts
from ngramscan.messages import OptionUse
from ngramscan.prevalence.contamination.thresholds import WINDOW_WORDS, described_thresholds

WindowUnit = Literal["characters", "bytes", "words"]
Tail = Literal["drop", "cut", "end"]
Short = Literal["whole", "skip"]
EntryClass = Literal["clean", "suspicious", "dirty", "shared", "variant", "copied"]
"""By the published rules an entry is clean, suspicious or dirty; by `copied` it is clean, shared, a
variant or copied."""
PUBLISHED_CLASSES: tuple[EntryClass, ...] = ("clean", "suspicious", "dirty")
"""The classes by the published rules, from clean to contaminated."""
COPY_CLASSES: tuple[EntryClass, ...] = ("clean", "shared", "variant", "copied")
"""The classes by the rule `copied`, from clean to contaminated."""
CONTAMINATED: tuple[EntryClass, ...] = ("dirty", "copied")
"""The classes of entries that a corpus contains, by any rule."""
PARTLY: tuple[EntryClass, ...] = ("suspicious", "variant")
"""The classes between those and the entries that a corpus does not contain; what is shared is
common text, which tells nothing about the entry."""
COPIED = "copied"
"""The rule, and its class, of entries that were copied into a document."""


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
    """How windows are taken from a text, and the shares of found windows at which classes begin."""

    name: str
    """`mini`, `gpt4`, `gpt4-stripped`, `gpt3`, `palm` or `ngram-N`."""
    unit: WindowUnit
    """The unit of the width; a window of bytes is shorter where its last character would be cut."""
    width: int
    suspicious_from: str = "0"
    """The least share of windows found, as decimals: `0.2`. `0`: any window."""
    dirty_from: str = "0"
    normalization: Normalization = ""
    draws: int | None = None
    """Random windows per text, which begin at any character; None: one at the beginning of each
    word. For windows of characters, white space separates words, apart from scripts without it."""
    tail: Tail = "drop"
    """Windows that the end of the text cuts short: left out, kept as they are, or moved to end
    there (once)."""
    short: Short = "whole"
    """A text shorter than a window: it is one window, or it has none."""
    strip: bool = True
    """Leave out white space at both ends of the text first."""

    @property
    def weighs(self) -> bool:
        """Whether windows are weighed by their rarity, and looked for together in one document."""
        return self.name == COPIED

    @property
    def classes(self) -> tuple[EntryClass, ...]:
        """The classes of entries by this rule, from clean to contaminated."""
        return COPY_CLASSES if self.weighs else PUBLISHED_CLASSES

    @property
    def described(self) -> str:
        """The rule with all its choices, as rows record it."""
        if self.weighs:
            windows = f"{self.width} words from each word on"
            return f"{self.name}: {windows}; {described_thresholds()}"
        is_drawn = self.draws is not None
        where = f"at {self.draws} random places" if is_drawn else "from each word on"
        choices = [] if is_drawn else [f"tail {self.tail}"]
        choices.append(f"short {self.short}")
        if self.normalization:
            choices.append(_SEARCHED[self.normalization])
        else:
            choices.append("stripped" if self.strip else "not stripped")
        return f"{self.name}: {self.width} {self.unit} {where}; {', '.join(choices)}"

    def least(self, share: str, windows: int) -> int:
        """Return the least number of found windows that makes up a share, 1 at the least."""
        return max(1, ceil(Fraction(share) * windows))

    def found_by_verdict(self, windows: int) -> dict[EntryClass, tuple[int, int]]:
        """Return the least and the greatest number of found windows for each possible verdict."""
        suspicious = self.least(self.suspicious_from, windows)
        dirty = self.least(self.dirty_from, windows)
        ranges: dict[EntryClass, tuple[int, int]] = {
            "clean": (0, suspicious - 1),
            "suspicious": (suspicious, dirty - 1),
            "dirty": (dirty, windows),
        }
        return {verdict: (low, high) for verdict, (low, high) in ranges.items() if low <= high}


@dataclass(frozen=True, slots=True)
class DescribedRule:
    """A rule as rows record it, without its other choices."""

    name: str
    window: str
    """The length of its windows: `50 characters`."""


def read_described(description: str) -> DescribedRule | None:
    """Return the rule that `Rule.described` described; None if it has another form."""
    name, _, choices = description.partition(": ")
    width, _, others = choices.partition(" ")
    unit, _, where = others.partition(" ")
    is_ours = name in _RULES or _is_ngram(name)
    if not (is_ours and width.isdecimal() and unit in {"characters", "bytes", "words"} and where):
        return None
    return DescribedRule(name, f"{width} {unit}")


def classes_by(description: object) -> tuple[EntryClass, ...]:
    """Return the classes of entries by a rule that `Rule.described` described.

    A rule of another form has those of the published rules.
    """
    name = str(description).partition(":")[0]
    return COPY_CLASSES if name == COPIED else PUBLISHED_CLASSES


def _is_ngram(name: str) -> bool:
    prefix, _, length = name.partition("-")
    return prefix == "ngram" and length.isdecimal()


_SEARCHED = {"alphanumeric": "letters and digits alone", "words": "words in lower case"}
_RULES = {
    rule.name: rule
    for rule in (
        Rule(COPIED, "words", WINDOW_WORDS, normalization="words"),
        Rule("mini", "characters", 50, suspicious_from="0.2", dirty_from="0.8"),
        Rule("gpt4", "characters", 50, draws=3),
        Rule("gpt4-stripped", "characters", 50, normalization="alphanumeric", draws=3),
        Rule("gpt3", "words", 13, normalization="words"),
        Rule("palm", "words", 8, suspicious_from="0.7", dirty_from="0.7", normalization="words"),
    )
}
_NAMES = f"{', '.join(_RULES)} or ngram-N (windows of N words)"


def make_rule(
    name: str,
    width: int | None = None,
    unit: Literal["characters", "bytes"] | None = None,
    tail: Tail | None = None,
    short: Short | None = None,
    strip: bool = True,
) -> Rule:
    """Return a rule by its name, with other choices where they are given.

    An InputError says that there is no such rule, or that a choice makes no sense with it.
    """
    rule = _named(name)
    _refuse_choices(rule, width, unit, tail, short, strip)
    rule = replace(
        rule,
        width=rule.width if width is None else width,
        unit=unit or rule.unit,
        tail=tail or rule.tail,
        short=short or rule.short,
        strip=strip,
    )
    least, why = 1, ""
    if rule.unit == "bytes":
        least, why = 4, ", the bytes of the longest character"
    if rule.width < least:
        where = OptionUse("rule", name) if width is None else OptionUse("window", width)
        raise InputError(where, f"the width must be at least {least}{why}")
    return rule


def _refuse_choices(
    rule: Rule,
    width: int | None,
    unit: WindowUnit | None,
    tail: Tail | None,
    short: Short | None,
    strip: bool,
) -> None:
    """Raise an InputError for a choice that makes no sense with a rule."""
    name = rule.name
    if width is not None and name not in _RULES:
        raise InputError(
            OptionUse("window", width),
            "the name says the length; " + OptionUse("rule", f"ngram-{width}"),
        )
    if unit is not None and rule.unit == "words":
        raise InputError(OptionUse("window_unit", unit), f"windows of rule {name} are words")
    if tail is not None and rule.draws is not None:
        raise InputError(
            OptionUse("tail", tail), f"random windows of rule {name} end within the text"
        )
    if rule.weighs:
        _refuse_weighed(rule, tail, short)

    if not strip and rule.normalization:
        problem = f"rule {name} searches {_SEARCHED[rule.normalization]}, without white space"
        raise InputError(OptionUse("no_strip"), problem)


def _refuse_weighed(rule: Rule, tail: Tail | None, short: Short | None) -> None:
    if short is not None:
        problem = f"rule {rule.name} has a way of its own with short texts"
        raise InputError(OptionUse("short", short), problem)
    if tail is not None:
        problem = f"rule {rule.name} leaves out windows that are cut short"
        raise InputError(OptionUse("tail", tail), problem)


def _named(name: str) -> Rule:
    if name in _RULES:
        return _RULES[name]
    if words := re.fullmatch(r"ngram-(\d{1,6})", name, re.ASCII):
        return replace(
            _RULES["mini"], name=name, unit="words", width=int(words[1]), normalization="words"
        )
    near = nearest(name, _RULES)
    meant = f"did you mean {near}? " if near else ""
    raise InputError(OptionUse("rule", name), f"no such rule; {meant}(all: {_NAMES})")


def windows_of(text: str, rule: Rule, place_seed: str = "") -> list[TextWindow]:
    """Return the windows of a text without half surrogates, in their order.

    `place_seed` decides where random windows are. A text in which there is nothing to search (only
    white space; no word) has no windows.
    """
    windows: list[TextWindow] = []
    searched = _searched(text, rule)
    if not text.strip() or not searched.units:
        return windows
    for start, stop in _spans(searched, rule, place_seed):
        units = searched.units[start:stop]
        query = "".join(units) if rule.unit != "words" else f" {' '.join(units)} "
        windows.append(TextWindow(searched.starts[start], searched.stops[stop - 1], query))
    return windows


class _Searched(NamedTuple):
    """The characters or words of a text that are searched."""

    units: Sequence[str]
    starts: Sequence[int]
    """Where each begins in the text as it was given."""
    stops: Sequence[int]
    word_starts: Sequence[int]
    """Numbers of the units with which words begin."""


def _searched(text: str, rule: Rule) -> _Searched:
    if rule.unit == "words":
        placed_text = placed_words(text)
        n_words = range(len(placed_text.words))
        return _Searched(placed_text.words, placed_text.starts, placed_text.stops, n_words)
    placed = normalized_places(text, rule.normalization)
    first, behind = 0, len(placed.text)
    if rule.strip:
        first = behind - len(placed.text.lstrip())
        behind = max(first, len(placed.text.rstrip()))
    stripped_part = slice(first, behind)
    searched = placed.text[stripped_part]
    return _Searched(
        searched, placed.starts[stripped_part], placed.stops[stripped_part], chunk_starts(searched)
    )


def _spans(searched: _Searched, rule: Rule, place_seed: str) -> list[tuple[int, int]]:
    """Return the start and the end of each window, in units; the end is exclusive."""
    n, in_bytes = len(searched.units), rule.unit == "bytes"
    # The sizes of the text before each unit, and of the whole text, in the unit of the width.
    before: Sequence[int] = range(n + 1)
    if in_bytes:
        before = [0, *accumulate(len(character.encode()) for character in searched.units)]
    total = before[-1]
    if total < rule.width:
        return [(0, n)] if rule.short == "whole" else []
    last = bisect_right(before, total - rule.width) - 1  # the last start of a window that fits
    if rule.draws is not None:
        starts: Sequence[int] = _drawn_places(last + 1, rule.draws, place_seed)
    else:
        starts = searched.word_starts
    spans = [
        (start, bisect_right(before, before[start] + rule.width) - 1)
        for start in starts
        if start <= last
    ]
    cut = starts[len(spans) :]
    if rule.tail == "cut":
        spans += [(start, n) for start in cut]
    moved = bisect_left(before, total - rule.width), n
    if rule.tail == "end" and cut and moved not in spans[-1:]:
        spans.append(moved)
    return spans


def _drawn_places(places: int, draws: int, place_seed: str) -> list[int]:
    """Return different numbers below `places`, in their order; all, if there are no more."""
    if places <= draws:
        return list(range(places))
    drawn_numbers: set[int] = set()
    attempt = 0
    # Hashes, as the generators of libraries may give other numbers in later versions.
    while len(drawn_numbers) < draws:
        digest = hashlib.sha256(f"{place_seed}/{attempt}".encode()).digest()
        drawn_numbers.add(int.from_bytes(digest) % places)
        attempt += 1
    return sorted(drawn_numbers)
