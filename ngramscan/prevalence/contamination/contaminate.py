"""Entries of a benchmark × indexes → how much of each entry is in them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain

from ngramscan.errors import NgramscanError
from ngramscan.indexes.base import Index, IndexSize, QueryCount, QueryFailure, ReadsDocuments
from ngramscan.matching import normalized
from ngramscan.matching.forms import NormalForm, other_forms
from ngramscan.prevalence.contamination.evidence import EvidenceRow
from ngramscan.prevalence.contamination.rules import EntryClass, Rule, TextWindow, windows_of
from ngramscan.prevalence.count import collect_replies
from ngramscan.prevalence.several_corpora import UNION
from ngramscan.rows import Label, Plot, Share, row_kind


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry of a benchmark."""

    id: str
    text: str
    answer: str = ""
    """Empty: not known."""


@row_kind(
    "contaminate",
    "Contamination of each entry",
    Plot(
        "eta",
        panel=("index", "rule"),
        label=("id",),
        scale="share",
        series="verdict",
    ),
    key=("windows", "found", "verdict"),
    counts="found",
)
@dataclass(frozen=True, slots=True)
class EntryRow:
    """How much of one entry occurs in one index, or in any of them (`union`)."""

    index: Label
    rule: Label
    """The rule with all its choices, and the seed of random windows."""
    id: Label
    windows: int
    asked: int
    """Windows that are known to occur, or not to."""
    found: int
    """Windows that occur."""
    eta: Share | None
    """Share of the windows that occur; None: some are unknown, or there are none."""
    eta_low: Share | None
    """The share if no unknown window occurs; None: there are no windows."""
    eta_high: Share | None
    """The share if all of them do."""
    verdict: EntryClass | None
    """None: the bounds of the share don't agree on one, or there are no windows."""
    rarest: str | None
    """The window found with the fewest occurrences, the first of these; None: no window was
    found, and in the union."""
    rarest_occurrences: int | None
    longest_run: int
    """Characters of the longest part of the entry that successive windows found cover; they
    overlap or touch."""
    note: str = ""
    """Why windows are unknown or there are none; that the whole entry is one window."""
    answer: str | None = None
    """Where the entry occurs, its answer is `near` or `not near`; None: not known, not looked for,
    or the entry is clean."""
    occurrences_seen: int | None = None
    """Occurrences of the rarest window around which the answer was looked for; None: none."""
    score: Share | None = None
    """By the rule `copied`: the share of the rare windows, weighed by their rarity, that the best
    document has; None: another rule, or no document has enough windows."""
    covered: Share | None = None
    """The share of the words of the entry that windows in this document cover."""
    document: str | None = None
    """The document that has most of the entry; None: as of `score`, and in the union."""
    source: str | None = None
    """The source of this document, as its metadata name it."""
    changed: str | None = None
    """Numbers that are others in this document: `49 → 50, 3 → 4`; None: none."""


@dataclass(frozen=True, slots=True)
class EntryForm:
    """An entry of which more windows occur in another normal form of Unicode."""

    index: str
    id: str
    form: NormalForm
    windows: int
    found: int


@dataclass(frozen=True, slots=True)
class ContaminateResult:
    """The entries of a benchmark in some indexes."""

    rows: list[EntryRow] = field(default_factory=list)
    """In the order of the indexes, the union last, then of the entries."""
    missing: list[QueryFailure] = field(default_factory=list)
    """Windows that could not be counted."""
    sizes: dict[str, IndexSize] = field(default_factory=dict)
    found_forms: list[EntryForm] = field(default_factory=list)
    """Entries that a rule without normalization calls clean for the form of their characters."""
    whole_entries: list[str] = field(default_factory=list)
    """Ids of the entries that are a single window as a whole."""
    evidence: list[EvidenceRow] = field(default_factory=list)
    """The best document of each entry that is not clean by the rule `copied`."""


def run_contaminate(
    entries: Sequence[Entry],
    rule: Rule,
    indexes: Sequence[Index],
    seed: int = 1,
    decide: bool = False,
) -> ContaminateResult:
    """Look for the windows of all entries in each index, and in all indexes together.

    Each index is asked for all different windows at once. A window whose count failed is unknown,
    not absent; so is one that was not seen where only a sample of the files was read. Where only
    the first documents are read, these are the corpus. An InputError says that an index can't be
    queried in this way.

    Parameters
    ----------
    entries : sequence of Entry
        Each with an id of its own.
    rule : Rule
        Which windows are looked for, and what finding them means.
    indexes : sequence of Index
        Services are asked at the same time.
    seed : int
        Random seed; random windows of an entry don't depend on the other entries.
    decide : bool
        Ask for windows of an entry in an index only until its verdict there is known, in rounds.
        Its share is then known only if all windows happened to be asked for, and the union may
        have no verdict. A corpus that is read is asked for all: one pass answers everything.
    """
    windows = [windows_of(entry.text, rule, _place_seed(entry, seed)) for entry in entries]
    forms = [_windows_of_forms(entry, rule, seed) for entry in entries]
    of_forms = _texts(chain.from_iterable(chain.from_iterable(each.values() for each in forms)))
    answers = _ask(windows, rule, indexes, decide, list(of_forms))
    for index, of_index in zip(indexes, answers, strict=True):
        if not isinstance(index, ReadsDocuments):
            _ask_for_forms(windows, forms, rule, index, of_index)
    entry_texts = _texts(chain.from_iterable(windows))
    missing = [
        QueryFailure(of_index.index, text, error)
        for of_index in answers
        for text, error in of_index.errors.items()
        if text in entry_texts
    ]
    result = ContaminateResult(
        missing=missing,
        sizes={index.name: index.size() for index in indexes},
        whole_entries=[
            entry.id
            for entry, of_entry in zip(entries, windows, strict=True)
            if is_one_window(entry, of_entry, rule)
        ],
    )
    for of_index in answers:
        result.found_forms.extend(_found_forms(entries, windows, forms, rule, of_index))
    if len(indexes) > 1:
        answers.append(_union(answers))
    described = rule.described + (f", seed {seed}" if rule.draws else "")
    for of_index in answers:
        result.rows.extend(
            make_entry_row(entry, of_entry, of_index, rule=rule, described=described)
            for entry, of_entry in zip(entries, windows, strict=True)
        )
    return result


def queries_of(entries: Sequence[Entry], rule: Rule, seed: int) -> Mapping[str, Sequence[str]]:
    """Return the distinct strings that are looked for, by the id of the entry."""
    return {
        entry.id: list(_texts(windows_of(entry.text, rule, _place_seed(entry, seed))))
        for entry in entries
    }


def _place_seed(entry: Entry, seed: int) -> str:
    """Return what decides where the random windows of an entry are."""
    return f"{seed}/{entry.id}"


def _texts(windows: Iterable[TextWindow]) -> dict[str, None]:
    return dict.fromkeys(window.query for window in windows)


# Other normal forms of Unicode

_Forms = Mapping[NormalForm, Sequence[TextWindow]]


def _windows_of_forms(entry: Entry, rule: Rule, seed: int) -> _Forms:
    """Return the windows of the other forms of an entry; a rule that normalizes needs none."""
    if rule.normalization:
        return {}
    place_seed = _place_seed(entry, seed)
    return {
        name: windows_of(form, rule, place_seed) for name, form in other_forms(entry.text).items()
    }


def queries_of_forms(entries: Sequence[Entry], rule: Rule, seed: int) -> list[str]:
    """Return the distinct strings that are looked for, at most, in other normal forms."""
    windows = (
        window
        for entry in entries
        for of_form in _windows_of_forms(entry, rule, seed).values()
        for window in of_form
    )
    return list(_texts(windows))


def _n_found(windows: Sequence[TextWindow], answers: Answers) -> int:
    return sum(bool(answers.occurrences.get(window.query)) for window in windows)


def _may_be_clean(windows: Sequence[TextWindow], rule: Rule, answers: Answers) -> bool:
    return _n_found(windows, answers) < rule.least(rule.suspicious_from, len(windows))


def _ask_for_forms(
    windows: Sequence[Sequence[TextWindow]],
    forms: Sequence[_Forms],
    rule: Rule,
    index: Index,
    answers: Answers,
) -> None:
    """Ask an index, where each string costs a request, for the forms of clean entries alone."""
    clean = (
        of_forms.values()
        for of_entry, of_forms in zip(windows, forms, strict=True)
        if _may_be_clean(of_entry, rule, answers)
    )
    texts = _texts(chain.from_iterable(chain.from_iterable(clean)))
    if batch := [text for text in texts if text not in answers.occurrences]:
        answers.add(index.counts(batch), batch)


def _found_forms(
    entries: Sequence[Entry],
    windows: Sequence[Sequence[TextWindow]],
    forms: Sequence[_Forms],
    rule: Rule,
    answers: Answers,
) -> Iterator[EntryForm]:
    """Yield the forms of clean entries that are not clean."""
    for entry, of_entry, of_forms in zip(entries, windows, forms, strict=True):
        if not _may_be_clean(of_entry, rule, answers):
            continue
        for name, of_form in of_forms.items():
            if of_form and not _may_be_clean(of_form, rule, answers):
                n_found = _n_found(of_form, answers)
                yield EntryForm(answers.index, entry.id, name, len(of_form), n_found)


# Asking


@dataclass(slots=True)
class Answers:
    """The answers of one index, or of all together, about the strings that it was asked for."""

    index: str
    why_unknown: str
    """Why strings that did not fail may be unknown, after the number of windows."""
    occurrences: dict[str, int] = field(default_factory=dict)
    """Estimates where a sample was read; unknown strings are left out."""
    errors: dict[str, NgramscanError] = field(default_factory=dict)

    def add(self, stream: Iterator[QueryCount | QueryFailure], texts: Sequence[str]) -> None:
        """Take note of the counts of some strings, and of those that have none."""
        counts, errors = collect_replies(stream, texts)
        self.errors |= errors
        for text, count in counts.items():
            estimate = count.occurrences_estimate
            if estimate is None:
                self.occurrences[text] = count.occurrences
            elif estimate.value > 0:  # seen, though the estimate may be rounded to 0
                self.occurrences[text] = max(1, count.occurrences)


def _ask(
    windows: Sequence[Sequence[TextWindow]],
    rule: Rule,
    indexes: Sequence[Index],
    decide: bool,
    of_forms: Sequence[str],
) -> list[Answers]:
    """Ask all indexes for windows; those that are read, for windows of other forms as well."""
    texts = list(_texts(chain.from_iterable(windows)))
    plans = []
    for index in indexes:
        is_read = isinstance(index, ReadsDocuments)
        why = "are not in the files that were read" if is_read else "were not queried"
        answers = Answers(index.name, why)
        in_rounds = decide and not is_read
        at_once = list(dict.fromkeys([*texts, *of_forms])) if is_read else texts
        rounds = _rounds(windows, rule, answers) if in_rounds else iter([at_once])
        plans.append((index, answers, rounds))
    while True:
        # Calling `counts` starts the requests of a hosted index: call all, then collect.
        streams = [
            (answers, index.counts(batch), batch)
            for index, answers, rounds in plans
            if (batch := next(rounds, []))
        ]
        if not streams:
            return [answers for _, answers, _ in plans]
        for answers, stream, batch in streams:
            answers.add(stream, batch)


def _rounds(
    windows: Sequence[Sequence[TextWindow]], rule: Rule, answers: Answers
) -> Iterator[list[str]]:
    """Yield the strings to ask for next until each entry is decided, or nothing of it is left."""
    undecided = [_Undecided(of_entry, rule) for of_entry in windows]
    while undecided:
        batch = list(dict.fromkeys(text for entry in undecided for text in entry.take(answers)))
        undecided = [entry for entry in undecided if entry.taken]
        if batch:
            yield batch


class _Undecided:
    """One entry whose windows are asked for until its verdict is known."""

    def __init__(self, windows: Sequence[TextWindow], rule: Rule) -> None:
        self._times = Counter(window.query for window in windows)
        self._windows, self._found, self._absent = len(windows), 0, 0
        self._ranges = list(rule.found_by_verdict(len(windows)).values())
        # Neighbours share most of their text, and so their answer. Numbers in the order of their
        # bits, the last one first, are evenly spread from the beginning on, as are their strings.
        texts = list(self._times)
        order = sorted(range(len(texts)), key=lambda number: f"{number:032b}"[::-1])
        self._left = [texts[number] for number in reversed(order)]
        self.taken: list[str] = []

    def take(self, answers: Answers) -> list[str]:
        """Return as few further strings as could decide the entry, after what is known by now."""
        for text in self.taken:
            self._add(text, answers)
        self.taken, covered = [], 0
        while self._left and covered < self._least_needed():
            text = self._left.pop()
            if not self._add(text, answers):
                self.taken.append(text)
                covered += self._times[text]
        return self.taken

    def _add(self, text: str, answers: Answers) -> bool:
        """Take note of the answer for a string; False: it was not asked for yet."""
        occurrences = answers.occurrences.get(text)
        if occurrences:
            self._found += self._times[text]
        elif occurrences == 0:
            self._absent += self._times[text]
        return occurrences is not None or text in answers.errors

    def _least_needed(self) -> int:
        """Return how many windows must be answered at least until both bounds agree."""
        return min(
            max(0, low - self._found) + max(0, self._windows - high - self._absent)
            for low, high in self._ranges
            if self._found <= high and low <= self._windows - self._absent
        )


def _union(answers: Sequence[Answers]) -> Answers:
    """Return 1 for strings that occur in any index, and 0 for strings absent from all of them."""
    texts = chain.from_iterable(of_index.occurrences for of_index in answers)
    union = Answers(UNION, "are unknown in an index and not found in another")
    for text in dict.fromkeys(texts):
        in_each = [of_index.occurrences.get(text) for of_index in answers]
        if any(in_each):
            union.occurrences[text] = 1
        elif None not in in_each:
            union.occurrences[text] = 0
    return union


# Rows


def make_entry_row(
    entry: Entry, windows: Sequence[TextWindow], answers: Answers, rule: Rule, described: str
) -> EntryRow:
    """Return how much of an entry occurs, by the occurrences of its windows.

    `described` is the rule as the row records it.
    """
    n, counts = len(windows), [answers.occurrences.get(window.query) for window in windows]
    n_asked, n_found = n - counts.count(None), sum(bool(count) for count in counts)
    most = n - n_asked + n_found
    ranges = rule.found_by_verdict(n).items() if n else ()
    verdict = next((name for name, (low, high) in ranges if low <= n_found and most <= high), None)
    seen = [(count, number) for number, count in enumerate(counts) if count]
    rarest = windows[min(seen)[1]].query if seen and answers.index != UNION else None
    return EntryRow(
        index=answers.index,
        rule=described,
        id=entry.id,
        windows=n,
        asked=n_asked,
        found=n_found,
        eta=n_found / n if n and n_asked == n else None,
        eta_low=n_found / n if n else None,
        eta_high=most / n if n else None,
        verdict=verdict,
        rarest=rarest,
        rarest_occurrences=None if rarest is None else answers.occurrences[rarest],
        longest_run=_longest_run(windows, answers.occurrences),
        note="; ".join(_notes(entry, windows, answers, rule=rule, verdict=verdict)),
    )


def _longest_run(windows: Sequence[TextWindow], occurrences: Mapping[str, int]) -> int:
    longest, start, stop = 0, 0, -1
    for window in windows:
        if not occurrences.get(window.query):
            stop = -1
            continue
        if window.start > stop:
            start = window.start
        stop = window.stop
        longest = max(longest, stop - start)
    return longest


def is_one_window(entry: Entry, windows: Sequence[TextWindow], rule: Rule) -> bool:
    """Tell whether an entry is no longer than a window, which is then the whole entry."""
    if len(windows) != 1:
        return False
    outside = entry.text[: windows[0].start], entry.text[windows[0].stop :]
    return not any(normalized(part, rule.normalization).strip() for part in outside)


def _notes(
    entry: Entry,
    windows: Sequence[TextWindow],
    answers: Answers,
    rule: Rule,
    verdict: EntryClass | None,
) -> Iterator[str]:
    n = len(windows)
    if not n:
        yield f"no window of {rule.width} {rule.unit} in it"
    elif is_one_window(entry, windows, rule):
        yield "the whole entry is one window"
    if verdict or not n:
        return
    unknown = [window.query for window in windows if window.query not in answers.occurrences]
    failed = sum(text in answers.errors for text in unknown)
    if failed:
        yield f"{failed} of {n} windows could not be counted"
    if others := len(unknown) - failed:
        yield f"{others} of {n} windows {answers.why_unknown}"
