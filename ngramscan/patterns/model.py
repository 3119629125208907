"""Pattern sets: what is counted, read from YAML and checked.

A pattern is one literal; its identity is its method and its text. A query is one string that is put
to an index: the text itself or, on request, one of its case variants.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from ngramscan.errors import InputError

Tier = Literal["T1", "T2", "T3"]
TIERS: tuple[Tier, ...] = get_args(Tier)
"""How specific a pattern is to its method: words of the prompt, words of its outputs, proxies."""

KINDS = ("narrative", "latex", "code")


@dataclass(frozen=True, slots=True)
class Pattern:
    """One literal to count."""

    text: str
    method: str
    """The way of prompting that the pattern attests."""
    tier: str
    """One of `TIERS`."""
    kind: str
    """One of `KINDS`; only narrative patterns have case variants."""
    note: str = ""
    expands: str = ""
    """The words of the source of which this pattern is a reading; empty: printed as it is."""
    longer_words: tuple[str, ...] = ()
    """Other words that contain the text; its count includes them."""

    def variants(self) -> list[str]:
        """Return the text, then its other spellings: first letter capital, typographic quote."""
        if self.kind != "narrative":
            return [self.text]
        spellings = [self.text, self.text[0].upper() + self.text[1:]]
        spellings += [spelling.replace("'", "’") for spelling in spellings]
        return list(dict.fromkeys(spellings))


@dataclass(frozen=True, slots=True)
class Query:
    """One string to put to an index, and the pattern it counts for."""

    text: str
    pattern: Pattern


@dataclass(frozen=True, slots=True)
class Regex:
    """A marker of a method in outputs of models; never counted in corpora."""

    method: str
    name: str
    regex: str
    """As RE2 reads it."""
    note: str = ""


@dataclass(frozen=True, slots=True)
class PatternSet:
    """The content of one pattern file, or of several merged."""

    name: str
    source: str
    patterns: tuple[Pattern, ...]
    regexes: tuple[Regex, ...] = ()

    @property
    def methods(self) -> list[str]:
        """The methods in the order of the patterns."""
        return list(dict.fromkeys(pattern.method for pattern in self.patterns))

    @property
    def marked_methods(self) -> list[str]:
        """The methods of patterns or regexes."""
        return list(dict.fromkeys([*self.methods, *(regex.method for regex in self.regexes)]))

    def select(self, tiers: Sequence[str] = (), methods: Sequence[str] = ()) -> PatternSet:
        """Return the patterns of the given tiers and methods; nothing given selects all.

        Both may be given in any case, a method also by one of its names: `f-1` selects `FP/F-1`.
        Regexes have no tier, so that naming one leaves them out.
        """
        chosen = {self._method(method) for method in methods} or set(self.marked_methods)
        named = {self._tier(tier) for tier in tiers} or set(TIERS)
        kept = tuple(p for p in self.patterns if p.method in chosen and p.tier in named)
        regexes = tuple(r for r in self.regexes if r.method in chosen and not tiers)
        if not kept and not regexes:
            asked = ", ".join([*methods, *tiers])
            raise InputError(f"pattern set {self.name}", f"it has no pattern of {asked}")
        return PatternSet(self.name, self.source, kept, regexes)

    def _method(self, asked: str) -> str:
        for method in self.marked_methods:
            if asked.lower() in {method.lower(), *method.lower().split("/")}:
                return method
        raise InputError(
            f"--method {asked}",
            f"pattern set {self.name} has no such method; it has {', '.join(self.marked_methods)}",
        )

    def _tier(self, asked: str) -> str:
        known = [tier for tier in TIERS if any(pattern.tier == tier for pattern in self.patterns)]
        if asked.upper() in known:
            return asked.upper()
        problem = f"pattern set {self.name} has no such tier; it has {', '.join(known)}"
        raise InputError(f"--tier {asked}", problem)

    def queries(self, case_variants: bool = False) -> list[Query]:
        """Return what to ask, in the order of the patterns."""
        if not self.patterns:
            raise InputError(
                f"pattern set {self.name}", "only regexes, which corpora are not asked"
            )
        return [
            Query(text, pattern)
            for pattern in self.patterns
            for text in (pattern.variants() if case_variants else [pattern.text])
        ]


def merge(sets: Sequence[PatternSet]) -> PatternSet:
    """Return one set with the patterns of all; the same pattern in two of them is refused."""
    seen: dict[tuple[str, str], str] = {}
    for pattern_set in sets:
        texts = [(pattern.method, pattern.text) for pattern in pattern_set.patterns]
        names = [(regex.method, regex.name) for regex in pattern_set.regexes]
        for method, text in texts + names:
            first = seen.setdefault((method, text), pattern_set.name)
            if first != pattern_set.name:
                raise InputError(
                    f"pattern set {pattern_set.name}",
                    f"{text!r} of {method} is also in pattern set {first}",
                )
    return PatternSet(
        name="+".join(pattern_set.name for pattern_set in sets),
        source=" ".join(pattern_set.source for pattern_set in sets),
        patterns=tuple(pattern for pattern_set in sets for pattern in pattern_set.patterns),
        regexes=tuple(regex for pattern_set in sets for regex in pattern_set.regexes),
    )


def tier_scopes(tiers: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """Return the groups of tiers that totals are made of: each alone, and T1 with T2."""
    present = set(tiers)
    scopes: dict[str, tuple[str, ...]] = {tier: (tier,) for tier in TIERS if tier in present}
    if {"T1", "T2"} <= present:
        scopes["T1+T2"] = ("T1", "T2")
    return scopes


@dataclass(frozen=True, slots=True)
class Scope:
    """What one total is of: the queries of one method and some tiers."""

    tiers: str
    """One tier, or `T1+T2`."""
    method: str
    queries: tuple[Query, ...]

    @property
    def texts(self) -> list[str]:
        """What is asked, each once."""
        return list(dict.fromkeys(query.text for query in self.queries))


def scopes(queries: Sequence[Query]) -> list[Scope]:
    """Return what totals are made of: each method in each group of tiers that it has."""
    found = []
    for label, tiers in tier_scopes(query.pattern.tier for query in queries).items():
        chosen = [query for query in queries if query.pattern.tier in tiers]
        for method in dict.fromkeys(query.pattern.method for query in chosen):
            own = tuple(query for query in chosen if query.pattern.method == method)
            found.append(Scope(label, method, own))
    return found
