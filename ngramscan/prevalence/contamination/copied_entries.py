"""Entries of a benchmark × indexes → which entries were copied into documents, by rule `copied`."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ngramscan.errors import NgramscanError
from ngramscan.indexes.base import FindsPassages, FoundPassages, Index, Passage, SoughtTexts
from ngramscan.matching.folding import folded
from ngramscan.matching.placed_words import PlacedWords, placed_words
from ngramscan.matching.word_windows import longest_passage, windows_of_words
from ngramscan.prevalence.contamination.answers import AnswerNearness, count_whole_words
from ngramscan.prevalence.contamination.contaminate import (
    Answers,
    ContaminateResult,
    Entry,
    EntryRow,
    make_entry_row,
)
from ngramscan.prevalence.contamination.copies import (
    CopyMatch,
    Judgement,
    WeighedEntry,
    area_of,
    covered_words,
    judge,
    places_of_words,
)
from ngramscan.prevalence.contamination.evidence import EvidenceRow, write_places
from ngramscan.prevalence.contamination.index_passages import find_passages
from ngramscan.prevalence.contamination.rules import (
    COPIED,
    COPY_CLASSES,
    EntryClass,
    Rule,
    make_rule,
    windows_of,
)
from ngramscan.prevalence.contamination.thresholds import LEAST_SHARE
from ngramscan.prevalence.several_corpora import UNION
from ngramscan.reading.document_fields import source_value

MOST_PASSAGES = 10
"""Documents of each entry that are compared with it, those with the most windows."""
_UNKNOWN_SIZE = 1e12
"""Stands for the bytes of an index of unknown size: only the ratio of weights matters."""
IN_A_DOCUMENT: tuple[EntryClass, ...] = ("copied", "variant")
"""The classes of entries that one document has."""
_NOTES: dict[str | None, str] = {
    "shared": "shared: no document has most of it (rule copied)",
    "clean": "shared: what was found is common text (rule copied)",
    "variant": "variant: a document has it with other numbers (rule copied)",
}
"""Notes of published rules on entries that were not copied."""
_CHARACTERS_OF_WORD = 8
_BESIDE = 2000
"""Characters beside a span, at most, that may belong to a copy."""
CONTEXT = 200
"""Characters of a document on each side of what it shares with an entry."""


@dataclass(frozen=True, slots=True)
class WeighedEntries:
    """Entries weighed by the occurrences in one index, and the passages that have most of them."""

    index: str
    entries: Mapping[str, WeighedEntry]
    """By the id of the entry."""
    passages: Mapping[str, Sequence[Passage]]
    answers: Answers
    """The occurrences of windows."""
    is_sample: bool
    """Only some of the files were read."""
    errors: Sequence[NgramscanError] = field(default=())
    """Why windows or passages are missing."""

    def judge(self) -> Mapping[str, Judgement]:
        """Return what each entry is, by its id."""
        judgements = dict[str, Judgement]()
        for id_, entry in self.entries.items():
            judgement = judge(entry, self.passages[id_])
            # Documents that were not read may have others.
            if self.is_sample and judgement.verdict not in IN_A_DOCUMENT:
                judgement = replace(judgement, verdict=None)
            judgements[id_] = judgement
        return judgements


def weigh_entries(
    entries: Sequence[Entry],
    rule: Rule,
    index: Index,
    seed: int,
    context: int,
    most: int = MOST_PASSAGES,
) -> WeighedEntries:
    """Look for the windows of entries in an index, and for the documents that have most of them.

    Parameters
    ----------
    entries : sequence of Entry
        Each with an id of its own.
    rule : Rule
        A rule that weighs windows.
    index : Index
        Any kind of index; `FindsPassages` answers in one pass, others by counts and occurrences.
    seed : int
        Random seed for occurrences that are drawn where a window is frequent.
    context : int
        Characters on each side of a passage that are fetched with it.
    most : int
        Documents, at most, that are compared with each entry.
    """
    placed = [placed_words(entry.text) for entry in entries]
    windows = [windows_of(entry.text, rule) for entry in entries]
    sought = SoughtTexts(
        texts=[of_entry.words for of_entry in placed],
        as_written=[
            [entry.text[window.start : window.stop] for window in of_entry]
            for entry, of_entry in zip(entries, windows, strict=True)
        ],
        width=rule.width,
        least_share=LEAST_SHARE,
        context=context + _characters_beside(placed),
        most=most,
    )
    found_passages = _passages_in(sought, index, seed)
    size = index.size()
    bytes_or_tokens = float(size.bytes or size.tokens or _UNKNOWN_SIZE)
    passages: dict[str, list[Passage]] = {entry.id: [] for entry in entries}
    for passage in found_passages.passages:
        passages[entries[passage.text_number].id].append(passage)
    answers = Answers(index.name, "could not be counted")
    for of_entry_windows, occurrences in zip(windows, found_passages.occurrences, strict=True):
        answers.occurrences.update(
            (window.query, count)
            for window, count in zip(of_entry_windows, occurrences, strict=True)
            if count is not None
        )
    return WeighedEntries(
        index.name,
        entries={
            entry.id: WeighedEntry(entry.text, of_entry, rule.width, occurrences, bytes_or_tokens)
            for entry, of_entry, occurrences in zip(
                entries, placed, found_passages.occurrences, strict=True
            )
        },
        passages=passages,
        answers=answers,
        is_sample=size.documents_estimate is not None,
        errors=found_passages.errors,
    )


def _characters_beside(entries: Sequence[PlacedWords]) -> int:
    """Return how many characters beside a span may belong to the copy of the longest entry."""
    words = longest_passage(max((len(entry.words) for entry in entries), default=0))
    return min(_BESIDE, _CHARACTERS_OF_WORD * words)


def _passages_in(sought: SoughtTexts, index: Index, seed: int) -> FoundPassages:
    if isinstance(index, FindsPassages):
        return index.passages(sought)
    return find_passages(sought, index, seed)


@dataclass(frozen=True, slots=True)
class CopiedResult:
    """The entries of a benchmark in some indexes, by the rule `copied`."""

    result: ContaminateResult
    weighed: Sequence[WeighedEntries]
    """By index."""

    @property
    def lost(self) -> list[tuple[NgramscanError, str]]:
        """Failures, each with the index."""
        return [(error, of_index.index) for of_index in self.weighed for error in of_index.errors]


def run_copied(
    entries: Sequence[Entry],
    rule: Rule,
    indexes: Sequence[Index],
    seed: int,
    within: int | None = None,
    most: int = MOST_PASSAGES,
) -> CopiedResult:
    """Tell which entries were copied into each index, and into any.

    `within`: see `rows_of_weighed`; `most`: see `weigh_entries`. An InputError says that an index
    can't be queried in this way.
    """
    context = CONTEXT if within is None else max(CONTEXT, within)
    weighed = [weigh_entries(entries, rule, index, seed, context, most) for index in indexes]
    rows, evidence = rows_of_weighed(entries, rule, weighed, within)
    sizes = {index.name: index.size() for index in indexes}
    return CopiedResult(ContaminateResult(rows, sizes=sizes, evidence=evidence), weighed)


def explain_found(
    result: ContaminateResult,
    entries: Sequence[Entry],
    indexes: Sequence[Index],
    seed: int,
    within: int | None = None,
) -> tuple[ContaminateResult, list[tuple[NgramscanError, str]]]:
    """Note which entries that a published rule found have text that is common, by rule `copied`.

    Only entries that are not clean are looked for. With `within`, say also whether their answers
    are near, as `rows_of_weighed` does.
    """
    by_id = {entry.id: entry for entry in entries}
    rule = make_rule(COPIED)
    context = CONTEXT if within is None else max(CONTEXT, within)
    explained: dict[tuple[str, str], EntryRow] = {}
    evidence, lost = list[EvidenceRow](), list[tuple[NgramscanError, str]]()
    for index in indexes:
        not_clean = [
            by_id[row.id]
            for row in result.rows
            if row.index == index.name and row.verdict not in {None, "clean"}
        ]
        if not not_clean:
            continue
        weighed = weigh_entries(not_clean, rule, index, seed, context)
        rows, of_index = rows_of_weighed(not_clean, rule, [weighed], within)
        explained |= {(row.index, row.id): row for row in rows}
        evidence += of_index
        lost += [(error, index.name) for error in weighed.errors]
    noted = [_explained(row, explained, indexes, within) for row in result.rows]
    return replace(result, rows=noted, evidence=evidence), lost


def _explained(
    row: EntryRow,
    explained: Mapping[tuple[str, str], EntryRow],
    indexes: Sequence[Index],
    within: int | None,
) -> EntryRow:
    """Return the row of a published rule with a note on what the rule `copied` says of it."""
    names = [index.name for index in indexes] if row.index == UNION else [row.index]
    judged = [explained[name, row.id] for name in names if (name, row.id) in explained]
    if not judged:
        return row
    answers = [each.answer for each in judged if each.answer]
    if within is not None:
        answer = "near" if "near" in answers else next(iter(answers), None)
        seen = sum(each.occurrences_seen or 0 for each in judged)
        row = replace(row, answer=answer, occurrences_seen=seen or None)
    best = max(judged, key=lambda each: COPY_CLASSES.index(each.verdict or "clean"))
    if best.verdict in _NOTES and row.verdict:
        row = replace(row, note="; ".join(filter(None, (row.note, _NOTES[best.verdict]))))
    return row


def rows_of_weighed(
    entries: Sequence[Entry], rule: Rule, weighed: Sequence[WeighedEntries], within: int | None
) -> tuple[list[EntryRow], list[EvidenceRow]]:
    """Return a row per index and entry, then those of the union, and the documents as evidence.

    `within` characters on each side of what was copied, the answers of entries are looked for;
    None: they are not.
    """
    rows, evidence = list[EntryRow](), list[EvidenceRow]()
    for of_index in weighed:
        judgements = of_index.judge()
        for entry in entries:
            judgement = judgements[entry.id]
            windows = windows_of(entry.text, rule)
            base = make_entry_row(entry, windows, of_index.answers, rule, rule.described)
            answer, seen = None, None
            if within is not None and entry.answer and judgement.matches:
                answer, seen = _answer_near(entry, judgement, within)
            best = judgement.matches[0] if judgement.matches else None
            row = replace(
                base,
                verdict=judgement.verdict if windows else None,
                answer=answer,
                occurrences_seen=seen,
                **_fields_of(entry, best),
            )
            rows.append(row)
            if best and row.verdict not in {None, "clean"}:
                evidence.append(_evidence(entry, row, rule, best))
    if len(weighed) > 1:
        by_id: dict[str, list[EntryRow]] = defaultdict(list)
        for row in rows:
            by_id[row.id].append(row)
        rows += [_union(by_id[entry.id]) for entry in entries]
    return rows, evidence


def _fields_of(entry: Entry, match: CopyMatch | None) -> dict[str, Any]:
    """Return the columns of a row about the best document."""
    if match is None:
        return {}
    return {
        "score": match.score,
        "covered": match.covered,
        "document": match.passage.document,
        "source": source_of(match.passage),
        "changed": _changed(placed_words(entry.text), match),
    }


def source_of(passage: Passage) -> str | None:
    """Return the source of a document, as its metadata name it."""
    fields = json.loads(passage.metadata) if passage.metadata else {}
    return source_value(fields, "source") or source_value(fields, "url")


def _changed(placed: PlacedWords, match: CopyMatch) -> str | None:
    if match.verdict != "variant":
        return None
    changed = [f"{placed.words[at]} → {match.words[to]}" for at, to in match.changed]
    return ", ".join(changed) or None


def _answer_near(entry: Entry, judgement: Judgement, within: int) -> tuple[AnswerNearness, int]:
    """Tell whether the answer is near in any of the documents that decide the verdict."""
    deciding = [match for match in judgement.matches if match.verdict == judgement.verdict]
    in_entry = count_whole_words(entry.answer, folded(entry.text))
    for match in deciding:
        start = max(0, match.start_character - within)
        area = match.passage.text[start : match.stop_character + within]
        if count_whole_words(entry.answer, folded(area)) > in_entry:
            return "near", len(deciding)
    return "not near", len(deciding)


def _evidence(entry: Entry, row: EntryRow, rule: Rule, match: CopyMatch) -> EvidenceRow:
    """Return an entry beside a document."""
    placed = placed_words(entry.text)
    windows = windows_of_words(placed.words, rule.width)
    first, stop = match.first, match.stop
    in_span = windows_of_words(match.words[first:stop], len(windows[0]))
    cut = _shown_part(match, len(placed.words))
    changed = match.changed if row.verdict == "variant" else ()
    assert row.verdict is not None
    return EvidenceRow(
        index=row.index,
        rule=row.rule,
        id=row.id,
        verdict=row.verdict,
        score=match.score,
        covered=match.covered,
        document=match.passage.document,
        source=row.source,
        text=entry.text,
        passage=match.passage.text[cut],
        shared_in_text=_ranges(placed, covered_words(windows, match.windows)),
        rare_in_text=_ranges(placed, covered_words(windows, match.rare)),
        shared_in_passage=_ranges(
            match.placed, _moved(covered_words(in_span, match.windows), first), cut
        ),
        rare_in_passage=_ranges(
            match.placed, _moved(covered_words(in_span, match.rare), first), cut
        ),
        changed=row.changed,
        answer=row.answer,
        changed_in_text=_ranges(placed, {word for word, _ in changed}),
        changed_in_passage=_ranges(match.placed, {word for _, word in changed}, cut),
    )


def _shown_part(match: CopyMatch, n_words: int) -> slice:
    """Return the part of a passage that belongs to a copy, with its context."""
    first, stop = area_of((match.first, match.stop), n_words, len(match.words))
    start = max(0, match.placed.starts[first] - CONTEXT)
    return slice(start, match.placed.stops[stop - 1] + CONTEXT)


def _moved(words: Iterable[int], first: int) -> set[int]:
    return {first + word for word in words}


def _ranges(placed: PlacedWords, words: set[int], cut: slice = slice(0, None)) -> str:
    """Return the ranges of characters that words cover in a part of their text."""
    ranges = [
        (start - cut.start, stop - cut.start)
        for start, stop in places_of_words(placed, words)
        if start >= cut.start and (cut.stop is None or stop <= cut.stop)
    ]
    return write_places(ranges)


def _union(rows: Sequence[EntryRow]) -> EntryRow:
    """Return an entry in any of some indexes: its worst verdict, where one is known for all."""
    verdicts = [row.verdict for row in rows]
    known_verdicts = [verdict for verdict in verdicts if verdict is not None]
    worst = max(known_verdicts, key=COPY_CLASSES.index, default=None)
    verdict = worst if worst == COPIED or None not in verdicts else None
    best = max(rows, key=lambda row: (row.verdict == verdict, row.score or 0, row.covered or 0))
    answers = {row.answer for row in rows if row.verdict == verdict and row.answer}
    answer = "near" if "near" in answers else next(iter(answers), None)
    return replace(
        best,
        index=UNION,
        found=max(row.found for row in rows),
        verdict=verdict,
        rarest=None,
        rarest_occurrences=None,
        document=None,
        source=None,
        answer=answer,
        note="",
    )
