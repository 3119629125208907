"""Pattern sets, and the queries that count them.

A pattern is one literal; its method and its text identify it. A query is one string to count in an
index: the text itself or, on request, one of its case variants.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from os import PathLike
from typing import Literal, get_args

from ngramscan.errors import InputError
from ngramscan.messages import OptionUse

PathOrName = str | PathLike[str]
Tier = Literal["T1", "T2", "T3"]
TIERS: tuple[Tier, ...] = get_args(Tier)
"""How specific a pattern is to its method: words of the prompt, words of its outputs, proxies."""

KINDS = ("narrative", "latex", "code")


@dataclass(frozen=True, slots=True)
class Pattern:
    """One literal to count."""

    text: str
    method: str | None = None
    """The way of prompting that the pattern attests; None for a literal given by itself."""
    tier: str | None = None
    """One of `TIERS`."""
    kind: str | None = None
    """One of `KINDS`; patterns of kind latex and code have no case variants."""
    note: str = ""
    expands: str = ""
    """The words of the source that this pattern interprets; empty if the source has the text."""
    longer_words: tuple[str, ...] = ()
    """Other words that contain the text; its count includes them."""

    @property
    def key(self) -> tuple[str, str]:
        """Method and text, which a set may have only once."""
        return self.method or "", self.text

    def variants(self) -> list[str]:
        """Return the text, then its other spellings: first letter capital, typographic quote."""
        if self.kind in {"latex", "code"}:
            return [self.text]
        spellings = [self.text, self.text[0].upper() + self.text[1:]]
        spellings += [spelling.replace("'", "’") for spelling in spellings]
        return list(dict.fromkeys(spellings))


@dataclass(frozen=True, slots=True)
class Query:
    """One string to count in an index, and the pattern that its count belongs to."""

    text: str
    pattern: Pattern


@dataclass(frozen=True, slots=True)
class Regex:
    """A regular expression that marks a method in models' outputs, never in corpora."""

    method: str
    name: str
    regex: str
    """In RE2 syntax."""
    note: str = ""

    @property
    def key(self) -> tuple[str, str]:
        """Method and name, which a set may have only once."""
        return self.method, self.name


@dataclass(frozen=True, slots=True)
class PatternSet:
    """The content of one pattern file, or of several merged."""

    name: str
    source: str
    patterns: tuple[Pattern, ...]
    regexes: tuple[Regex, ...] = ()

    @property
    def methods(self) -> list[str]:
        """The methods in the order of the patterns; literals have none."""
        return list(dict.fromkeys(p.method for p in self.patterns if p.method))

    @property
    def entries(self) -> list[Pattern | Regex]:
        """The patterns, then the regexes."""
        return [*self.patterns, *self.regexes]

    def select(self, tiers: Sequence[str] = (), methods: Sequence[str] = ()) -> PatternSet:
        """Return the patterns of the given tiers and methods; without either, all of them.

        Upper and lower case are alike, and a part of a method's name will do: `f-1` selects
        `FP/F-1`. Regexes have no tier, so choosing tiers leaves them out.
        """
        marked = dict.fromkeys(entry.method for entry in self.entries if entry.method)
        names = {method: {method.lower(), *method.lower().split("/")} for method in marked}
        present = {pattern.tier for pattern in self.patterns if pattern.tier}
        tier_names = {tier: {tier.lower()} for tier in sorted(present)}
        chosen = {self._named("method", method, names) for method in methods} or set(names)
        tiers_chosen = {self._named("tier", tier, tier_names) for tier in tiers} or present
        patterns = tuple(p for p in self.patterns if p.method in chosen and p.tier in tiers_chosen)
        regexes = tuple(r for r in self.regexes if r.method in chosen and not tiers)
        if not patterns and not regexes:
            requested = ", ".join([*methods, *tiers])
            raise InputError(f"pattern set {self.name}", f"it has no pattern of {requested}")
        return PatternSet(self.name, self.source, patterns, regexes)

    def _named(self, kind: str, wanted_name: str, names: Mapping[str, set[str]]) -> str:
        """Return the method or tier that has this name, in upper or lower case."""
        for full_name, spellings in names.items():
            if wanted_name.lower() in spellings:
                return full_name
        problem = f"pattern set {self.name} has no such {kind}; it has {', '.join(names)}"
        raise InputError(OptionUse(kind, wanted_name), problem)

    def queries(self, case_variants: bool = False) -> list[Query]:
        """Return the strings to count, in the order of the patterns."""
        if not self.patterns:
            problem = "it has only regexes, and corpora are searched for literal texts only"
            raise InputError(f"pattern set {self.name}", problem)
        return [
            Query(text, pattern)
            for pattern in self.patterns
            for text in (pattern.variants() if case_variants else [pattern.text])
        ]


def merge(sets: Sequence[PatternSet]) -> PatternSet:
    """Return one set with the patterns of all; refuse a pattern that two of them have."""
    set_of_key: dict[tuple[str, str], str] = {}
    for pattern_set in sets:
        for entry in pattern_set.entries:
            if entry.key in set_of_key:
                method, text = entry.key
                problem = f"{text!r} of {method} is also in pattern set {set_of_key[entry.key]}"
                raise InputError(f"pattern set {pattern_set.name}", problem)
            set_of_key[entry.key] = pattern_set.name
    return PatternSet(
        name="+".join(pattern_set.name for pattern_set in sets),
        source=" ".join(pattern_set.source for pattern_set in sets),
        patterns=tuple(pattern for pattern_set in sets for pattern in pattern_set.patterns),
        regexes=tuple(regex for pattern_set in sets for regex in pattern_set.regexes),
    )


@dataclass(frozen=True, slots=True)
class Scope:
    """The queries of one method and some tiers, or those of one kind, which make one total."""

    tiers: str
    """One tier, or `T1+T2`."""
    method: str
    queries: tuple[Query, ...]
    is_part: bool = False
    """Queries of other kinds are left out."""

    @property
    def kind(self) -> str:
        """The kind of all patterns; empty if they have several kinds."""
        kinds = {query.pattern.kind or "" for query in self.queries}
        return kinds.pop() if len(kinds) == 1 else ""

    @property
    def by_kind(self) -> list[Scope]:
        """The queries of each kind; empty if all are of the same kind."""
        kinds = dict.fromkeys(query.pattern.kind for query in self.queries if query.pattern.kind)
        parts = [tuple(q for q in self.queries if q.pattern.kind == kind) for kind in kinds]
        return [replace(self, queries=part, is_part=True) for part in parts if len(parts) > 1]

    def kind_with(self, other_scope: Scope | None) -> str:
        """Return the kind of all patterns of both; empty if they have several kinds."""
        return self.kind if other_scope is None or self.kind == other_scope.kind else ""

    @property
    def texts(self) -> list[str]:
        """The texts of the queries, each once."""
        return list(dict.fromkeys(query.text for query in self.queries))


def scopes(queries: Sequence[Query]) -> list[Scope]:
    """Return the queries of each total: each method in each tier, and in T1 with T2.

    Literals without a method are in none of them.
    """
    present = {query.pattern.tier for query in queries}
    totals = []
    for label in (*TIERS, "T1+T2"):
        tiers = set(label.split("+"))
        if not tiers <= present:
            continue
        chosen = [query for query in queries if query.pattern.tier in tiers]
        for method in dict.fromkeys(q.pattern.method for q in chosen if q.pattern.method):
            of_method = tuple(query for query in chosen if query.pattern.method == method)
            totals.append(Scope(label, method, of_method))
    return totals
