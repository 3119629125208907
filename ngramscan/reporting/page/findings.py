"""Sentences of all parts of a page → the few that open it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ngramscan.messages import counted
from ngramscan.reporting.page.results import Results
from ngramscan.reporting.sentences.assemble import describe_brackets
from ngramscan.reporting.sentences.names import named, scope_of
from ngramscan.reporting.sentences.sentence import Sentence

_ORDER = (
    "compare",
    "link --problems",
    "link",
    "totals",
    "contaminate --effects",
    "contaminate --shares",
    "blend",
    "blend --retention",
    "trace --differences",
    "tiers",
    "rank",
    "compare --averages",
    "outcomes",
    "outcomes --agreements",
    "efficiency",
    "link --ranks",
    "blend --presence",
    "blend --isolation",
    "keyness",
    "strategies",
    "trace --curve",
    "docnorm",
    "count",
    "judge --shares",
    "agreement",
    "plan",
)
"""Kinds whose sentences are findings, by what readers look for first."""
_LEAST, _MOST = 3, 5
_MOST_CHARACTERS = 640
"""Limits that leave room for the beginning of a figure on the first screen."""
_SCOPE = ("dataset", "model", "index")
"""Columns that say where rows are from."""


@dataclass(frozen=True, slots=True)
class PageFinding:
    """A sentence that opens the page."""

    text: str
    part: int
    """The place of its part."""
    scope: str
    """The common origin of the part's rows, unless the sentence names it."""


def find(parts: Sequence[tuple[Results, Sequence[Sentence]]]) -> list[PageFinding]:
    """Return the findings of some parts, each with its sentences, in the order of their weight."""
    places = sorted(range(len(parts)), key=lambda place: weight_of(parts[place][0]))
    candidates = {
        place: [sentence.text for sentence in parts[place][1] if sentence.is_finding]
        for place in places
    }
    if not any(candidates.values()):
        candidates = {
            place: [sentence.text for sentence in parts[place][1][:1]] for place in places
        }
    # Comparisons may have differences in both directions; others have one sentence at first.
    first = [
        (place, text)
        for place in places
        for text in candidates[place][: 2 if parts[place][0].kind.name == "compare" else 1]
    ]
    all_candidates = [(place, text) for place in places for text in candidates[place]]
    findings: list[PageFinding] = []
    size = 0
    for place, text in dict.fromkeys([*first, *all_candidates]):
        size += len(text)
        is_enough = len(findings) >= _LEAST and (
            size > _MOST_CHARACTERS or (place, text) not in first
        )
        if is_enough or len(findings) == _MOST:
            break
        findings.append(PageFinding(text, place, ", ".join(_scope(parts[place][0], text))))
    return findings


def brackets(parts: Sequence[tuple[Results, Sequence[Sentence]]]) -> str:
    """Return a sentence on the brackets in some parts; empty if there are none."""
    texts = {
        describe_brackets(results.rows)
        for results, sentences in parts
        if any(sentence.has_interval for sentence in sentences)
    }
    if len(texts) > 1:
        return "Brackets enclose intervals."
    return texts.pop() if texts else ""


def weight_of(results: Results) -> int:
    """Return the rank of a kind of rows in the order of readers' interest."""
    name = results.kind.name
    return _ORDER.index(name) if name in _ORDER else len(_ORDER)


def _scope(results: Results, text: str) -> Iterator[str]:
    row = results.rows[0]
    columns = [
        name
        for name in _SCOPE
        if row.get(name) not in {None, ""}
        and all(any_row.get(name) == row[name] for any_row in results.rows)
        and not _is_named(row[name], text)
    ]
    if where := scope_of(row, columns).strip():
        yield where
    if results.left_out:
        yield f"the first {counted(len(results.rows), 'row')} only"


def _is_named(name: object, text: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(named(name))}(?!\w)", text) is not None
