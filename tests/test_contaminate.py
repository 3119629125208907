from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ngramscan.clock import now
from ngramscan.errors import InputError, RemoteUnavailable
from ngramscan.indexes.base import IndexSize, QueryCount, QueryFailure
from ngramscan.indexes.opening import open_indexes
from ngramscan.indexes.options import IndexOptions
from ngramscan.matching import Normalization, normalized
from ngramscan.prevalence.contaminate import (
    UNION,
    ContaminateResult,
    Entry,
    EntryRow,
    queries_of,
    run_contaminate,
)
from ngramscan.prevalence.contamination_rules import make_rule, windows_of
from ngramscan.statistics.estimates import Estimate
from tests.support.recorder import Recorder
from tests.support.text_index import TextIndex

MINI = make_rule("mini")
SHORT_WORDS = st.sampled_from(["a", "b", "ab", "é", "aé", "ba", "b.", "A"])
PHRASES = st.lists(SHORT_WORDS, max_size=9).map(" ".join)
ENTRIES = st.lists(PHRASES, min_size=1, max_size=4).map(
    lambda texts: [Entry(str(number), text) for number, text in enumerate(texts)]
)


class Documents(TextIndex):
    """Counts in documents in memory; some queries fail, and it may give up after some answers."""

    def __init__(
        self, texts: Sequence[str], name: str = "a", lost: Sequence[str] = (), answers: int = 10**9
    ) -> None:
        super().__init__(texts, lost=lost)
        self.name, self._answers = name, answers
        self.rounds: list[list[str]] = []

    @property
    def asked(self) -> list[str]:
        return [query for queries in self.rounds for query in queries]

    def counts(self, queries: Sequence[str]) -> Iterator[QueryCount | QueryFailure]:
        assert queries
        assert len(set(queries)) == len(queries)
        self.rounds.append(list(queries))
        return self._collect(queries[::-1])  # any order is allowed

    def _collect(self, queries: Sequence[str]) -> Iterator[QueryCount | QueryFailure]:
        for found in self.find(queries):
            if not self._answers:
                raise RemoteUnavailable("the line is dead")
            self._answers -= 1
            if isinstance(found, QueryFailure):
                yield found
            else:
                yield QueryCount(found.query, found.occurrences, None, "api", now())


# An oracle that shares nothing with the code


class Seen(NamedTuple):
    start: int
    stop: int
    text: str
    occurrences: int


def naive_windows(text: str, width: int, unit: str) -> list[tuple[int, int, str]]:
    """Return all stretches of so many words, or of so many characters that begin at a word."""
    if unit == "words":
        words = list(re.finditer(r"\w+", text))
        runs = [words[i : i + width] for i in range(max(1, len(words) - width + 1))]
        return [
            (run[0].start(), run[-1].end(), f" {' '.join(w[0].lower() for w in run)} ")
            for run in runs
            if run
        ]
    text = text.strip()
    if 0 < len(text) < width:
        return [(0, len(text), text)]
    begins = re.finditer(rf"(?<!\S)(?=\S)(?=([\s\S]{{{width}}}))", text)
    return [(at.start(), at.start() + width, at[1]) for at in begins]


def naive_count(query: str, documents: Sequence[str]) -> int:
    pattern = re.compile(b"(?=" + re.escape(query.encode()) + b")")
    return sum(len(pattern.findall(document.encode())) for document in documents)


def naive_run(seen: Sequence[Seen]) -> int:
    """Try all stretches of windows."""
    runs = [0]
    for start in range(len(seen)):
        for stop in range(start + 1, len(seen) + 1):
            part = seen[start:stop]
            joined = all(second.start <= first.stop for first, second in pairwise(part))
            if joined and all(window.occurrences for window in part):
                runs.append(part[-1].stop - part[0].start)
    return max(runs)


def naive_row(entry: Entry, documents: Sequence[str], width: int, unit: str) -> tuple[object, ...]:
    seen = [
        Seen(*window, naive_count(window[2], documents))
        for window in naive_windows(entry.text, width, unit)
    ]
    found = [window for window in seen if window.occurrences]
    if not seen:
        return (entry.id, 0, 0, None, None, None, None, 0)
    verdict = "dirty" if 10 * len(found) >= 8 * len(seen) else "suspicious"
    verdict = "clean" if 10 * len(found) < 2 * len(seen) else verdict
    rarest = sorted(found, key=lambda window: window.occurrences)[:1]
    evidence = (rarest[0].text, rarest[0].occurrences) if rarest else (None, None)
    eta = len(found) / len(seen)
    return (entry.id, len(seen), len(found), eta, verdict, *evidence, naive_run(seen))


def columns(row: EntryRow) -> tuple[object, ...]:
    assert row.eta_low == row.eta == row.eta_high
    assert row.asked == row.windows
    evidence = row.rarest, row.rarest_occurrences
    return (row.id, row.windows, row.found, row.eta, row.verdict, *evidence, row.longest_run)


@given(ENTRIES, st.lists(PHRASES, max_size=6), st.integers(1, 7))
def test_rows_are_those_of_brute_force(
    entries: list[Entry], documents: list[str], width: int
) -> None:
    result = run_contaminate(entries, make_rule("mini", width), [Documents(documents)])
    expected = [naive_row(entry, documents, width, "characters") for entry in entries]
    assert [columns(row) for row in result.rows] == expected
    assert not result.missing
    words = [re.sub(r"\W+", " ", text.lower()).split() for text in documents]
    read = [f" {' '.join(each)} " for each in words]
    index = Documents([normalized(text, "words") for text in documents])
    result = run_contaminate(entries, make_rule(f"ngram-{width}"), [index])
    expected = [naive_row(entry, read, width, "words") for entry in entries]
    assert [columns(row) for row in result.rows] == expected


@pytest.mark.parametrize(
    ("rule", "text", "how", "verdict"),
    [
        ("gpt4", "The cat sat.", "", "dirty"),
        ("gpt4", "The cat  sat.", "", "clean"),
        ("gpt4-stripped", "The cat\nsat!", "alphanumeric", "dirty"),
        ("gpt4-stripped", "the cat sat", "alphanumeric", "clean"),
        ("gpt3", "the CAT, sat", "words", "dirty"),
        ("palm", "the cats sat", "words", "clean"),
        ("ngram-3", "The\tcat: sat", "words", "dirty"),
    ],
)
def test_each_rule_sees_what_it_says(
    rule: str, text: str, how: Normalization, verdict: str
) -> None:
    index = Documents([normalized("Then: The cat sat.", how)])
    (row,) = run_contaminate([Entry("1", text)], make_rule(rule), [index]).rows
    assert row.verdict == verdict
    assert row.note == "the whole entry is one window"


def test_a_string_that_an_entry_repeats_is_asked_once_and_counts_each_time() -> None:
    index = Documents(["ab ab"])
    (row,) = run_contaminate([Entry("1", "ab ab ab xyz")], make_rule("mini", 4), [index]).rows
    assert index.asked == ["ab a", "ab x"]
    assert (row.windows, row.asked, row.found, row.eta) == (3, 3, 2, 2 / 3)
    assert index.asked == queries_of([Entry("1", "ab ab ab xyz")], make_rule("mini", 4), 1)["1"]


def test_random_windows_depend_on_the_seed_and_the_entry_alone() -> None:
    rule, text = make_rule("gpt4", 5), "one two three four five six seven"
    entries = [Entry("1", text), Entry("2", text)]
    alone = queries_of(entries[1:], rule, 1)
    assert queries_of(entries, rule, 1)["2"] == alone["2"]
    assert queries_of(entries, rule, 1)["1"] != alone["2"]
    assert queries_of(entries[1:], rule, 2) != alone
    rows = run_contaminate(entries, rule, [Documents([text])], seed=7).rows
    assert {row.rule for row in rows} == {f"{rule.described}, seed 7"}


def test_all_indexes_are_started_before_the_first_is_collected() -> None:
    log: list[str] = []

    class Logged(Documents):
        def counts(self, queries: Sequence[str]) -> Iterator[QueryCount | QueryFailure]:
            log.append(f"start {self.name}")
            return super().counts(queries)

        def _collect(self, queries: Sequence[str]) -> Iterator[QueryCount | QueryFailure]:
            log.append(f"collect {self.name}")
            yield from super()._collect(queries)

    run_contaminate([Entry("1", "x y")], MINI, [Logged(["x"], "a"), Logged(["x"], "b")])
    assert log == ["start a", "start b", "collect a", "collect b"]


# Failures


def limits(row: EntryRow) -> tuple[float, float]:
    assert row.eta_low is not None
    assert row.eta_high is not None
    return row.eta_low, row.eta_high


def test_what_failed_is_unknown_and_counts_neither_as_found_nor_as_absent() -> None:
    entry = Entry("1", "aa bb cc dd ee")
    documents = Documents(["aa bb cc", "dd ee"], lost=["bb cc"])
    result = run_contaminate([entry], make_rule("mini", 5), [documents])
    (row,) = result.rows
    assert (row.windows, row.asked, row.found) == (4, 3, 2)
    assert (row.eta, row.eta_low, row.eta_high, row.verdict) == (None, 0.5, 0.75, "suspicious")
    assert row.longest_run == 5
    assert [(one.index, one.query) for one in result.missing] == [("a", "bb cc")]


@settings(max_examples=60)
@given(st.integers(0, 10**6), st.integers(1, 12))
def test_bounds_hold_the_truth_and_shrink_with_each_answer(seed: int, n_lost: int) -> None:
    chance = random.Random(seed)
    entries = [Entry(str(i), " ".join(chance.choices("abcde", k=12))) for i in range(4)]
    rule = make_rule("mini", 5)
    queries = sorted({query for each in queries_of(entries, rule, 1).values() for query in each})
    documents = [query for query in queries if chance.random() < 0.5]
    lost = chance.sample(queries, n_lost)

    def rows(*lost: str) -> list[EntryRow]:
        return run_contaminate(entries, rule, [Documents(documents, lost=lost)]).rows

    truth, many, few = rows(), rows(*lost), rows(*lost[: n_lost // 2])
    expected = [naive_row(entry, documents, 5, "characters") for entry in entries]
    assert [columns(row) for row in truth] == expected
    for true, wide, narrow in zip(truth, many, few, strict=True):
        low, high = limits(narrow)
        assert limits(wide)[0] <= low <= limits(true)[0] == limits(true)[1] <= high
        assert high <= limits(wide)[1]
        assert wide.verdict in (None, narrow.verdict)
        assert narrow.verdict in (None, true.verdict)
        assert wide.asked <= narrow.asked
        if wide.verdict is None:
            unknown = wide.windows - wide.asked
            assert wide.note == f"{unknown} of {wide.windows} windows could not be counted"


def test_where_an_index_fails_as_a_whole_nothing_is_known() -> None:
    entries = [Entry("1", "one text"), Entry("2", "and another")]
    result = run_contaminate(entries, MINI, [Documents(["one text"], answers=0)])
    for row in result.rows:
        assert (row.asked, row.found, row.eta, row.verdict) == (0, 0, None, None)
        assert (row.eta_low, row.eta_high) == (0, 1)
        assert "1 of 1 windows could not be counted" in row.note
    assert [str(one.error) for one in result.missing] == ["the line is dead"] * 2


def test_a_wrong_question_stops_the_run() -> None:
    class Refusing(Documents):
        def counts(self, queries: Sequence[str]) -> Iterator[QueryCount | QueryFailure]:
            raise InputError("--index a", "no")
            yield

    with pytest.raises(InputError, match="--index a: no"):
        run_contaminate([Entry("1", "one")], MINI, [Refusing([])])


def test_only_a_window_that_holds_all_is_called_the_whole_entry() -> None:
    entries = [Entry("1", "abcde f"), Entry("2", " abcde\n"), Entry("3", "abc")]
    rows = run_contaminate(entries, make_rule("mini", 5), [Documents([])]).rows
    whole = "the whole entry is one window"
    assert [(row.windows, row.note) for row in rows] == [(1, ""), (1, whole), (1, whole)]


def test_without_windows_nothing_is_asked() -> None:
    index = Documents(["x"])
    entries = [Entry("1", " \n"), Entry("2", "x")]
    rows = run_contaminate(entries, make_rule("mini", short="skip"), [index]).rows
    assert [(row.windows, row.eta_low, row.verdict) for row in rows] == [(0, None, None)] * 2
    assert {row.note for row in rows} == {"no window of 50 characters in it"}
    assert not index.rounds


# The union


@given(
    ENTRIES,
    st.lists(st.lists(PHRASES, max_size=3), min_size=2, max_size=3),
    st.lists(PHRASES, max_size=4),
)
def test_the_union_knows_what_any_index_has_and_what_none_has(
    entries: list[Entry], corpora: list[list[str]], lost: list[str]
) -> None:
    rule = make_rule("mini", 3)
    indexes = [Documents(texts, str(n), lost if n else ()) for n, texts in enumerate(corpora)]
    result = run_contaminate(entries, rule, indexes)
    assert len(result.rows) == (len(corpora) + 1) * len(entries)
    together = [text for texts in corpora for text in texts]
    for entry, row in zip(entries, result.rows[-len(entries) :], strict=True):
        strings = [window.query for window in windows_of(entry.text, rule)]
        known = [n for n, _ in enumerate(corpora)]
        found = [
            any(naive_count(s, corpora[n]) for n in known if not n or s not in lost)
            for s in strings
        ]
        absent = [not seen and s not in lost for s, seen in zip(strings, found, strict=True)]
        assert (row.index, row.windows, row.found) == (UNION, len(strings), sum(found))
        assert row.asked == sum(found) + sum(absent)
        assert (row.rarest, row.rarest_occurrences) == (None, None)
        if row.eta is not None:
            assert row.eta == naive_row(entry, together, 3, "characters")[3]


# Only until the verdict is known


def planted(seed: int, rule_name: str) -> tuple[list[Entry], list[str]]:
    """Return entries that share a beginning, and as documents windows of theirs at random."""
    chance = random.Random(seed)
    n = chance.choice([3, 10**4])  # some repeat strings
    entries = [
        Entry(str(i), "which is it " + " ".join(str(chance.randrange(n)) for _ in range(15)))
        for i in range(chance.randrange(1, 5))
    ]
    rule, share = make_rule(rule_name, WIDTHS.get(rule_name)), chance.random()
    queries = queries_of(entries, rule, 1).values()
    return entries, [query for each in queries for query in each if chance.random() < share]


WIDTHS = {"mini": 12, "gpt4": 12, "gpt3": 3, "palm": 3}


@settings(max_examples=60)
@given(st.integers(0, 10**6), st.sampled_from(sorted(WIDTHS)))
def test_deciding_gives_the_verdicts_of_asking_everything_with_no_question_more(
    seed: int, name: str
) -> None:
    entries, documents = planted(seed, name)
    rule = make_rule(name, WIDTHS[name])
    everything, decided = Documents(documents), Documents(documents)
    lost = random.Random(seed).sample(documents, len(documents) // 4)
    failing = Documents(documents, lost=lost)
    full = run_contaminate(entries, rule, [everything]).rows
    rows = run_contaminate(entries, rule, [decided], decide=True).rows
    assert [row.verdict for row in rows] == [row.verdict for row in full]
    assert len(set(decided.asked)) == len(decided.asked)
    assert set(decided.asked) <= set(everything.asked)
    for row, true in zip(rows, full, strict=True):
        assert limits(row)[0] <= limits(true)[0] == limits(true)[1] <= limits(row)[1]
        assert row.eta in {None, true.eta}
        assert (row.eta is None) == (row.asked < row.windows)
    for row, true in zip(
        run_contaminate(entries, rule, [failing], decide=True).rows, full, strict=True
    ):
        assert limits(row)[0] <= limits(true)[0] <= limits(row)[1]
        assert row.verdict in {None, true.verdict}
    assert len(set(failing.asked)) == len(failing.asked)


@settings(max_examples=40)
@given(st.integers(0, 10**6), st.sampled_from(sorted(WIDTHS)))
def test_of_one_entry_nothing_is_asked_after_it_is_decided(seed: int, name: str) -> None:
    entries, documents = planted(seed, name)
    rule = make_rule(name, WIDTHS[name])
    decided = Documents(documents)
    run_contaminate(entries[:1], rule, [decided], decide=True)
    # Answered one by one in the same order, the verdict is open until the last answer.
    all_but_last = decided.asked[:-1]
    rest = set(queries_of(entries[:1], rule, 1)["0"]) - set(all_but_last)
    (row,) = run_contaminate(entries[:1], rule, [Documents(documents, lost=sorted(rest))]).rows
    assert row.verdict is None


def test_the_first_windows_that_are_asked_are_spread_over_the_entry() -> None:
    entry = Entry("1", " ".join(f"{number:04}" for number in range(1, 18)))
    index = Documents([])
    run_contaminate([entry], make_rule("mini", 4), [index], decide=True)
    first = [int(query) - 1 for query in index.rounds[0]]
    assert first == [0, 16, 8, 4, 12, 2, 10, 6]
    assert len(index.asked) == 14  # 3 of 17 that may occur are less than 20%


def test_failures_are_replaced_by_other_windows_where_they_can_decide() -> None:
    entry = Entry("1", " ".join(f"{number:04}" for number in range(20)))
    index = Documents([entry.text], lost=["0000", "0016"])
    result = run_contaminate([entry], make_rule("mini", 4), [index], decide=True)
    assert (result.rows[0].verdict, result.rows[0].found) == ("dirty", 16)
    assert len(result.missing) == 2
    index = Documents([entry.text], answers=0)
    result = run_contaminate([entry], make_rule("mini", 4), [index], decide=True)
    assert (result.rows[0].verdict, result.rows[0].eta_low, result.rows[0].eta_high) == (None, 0, 1)
    assert len(result.missing) == len(set(index.asked)) == len(index.asked) == 20


def test_the_union_says_where_deciding_left_it_open() -> None:
    entry = Entry("1", " ".join(f"{number:04}" for number in range(10)))
    first, second = Documents([entry.text[:24]], "a"), Documents([entry.text[25:]], "b")
    rows = run_contaminate([entry], make_rule("mini", 4), [first, second], decide=True).rows
    assert [row.verdict for row in rows] == ["suspicious", "suspicious", None]
    assert rows[2].note == "4 of 10 windows are unknown in an index and not found in another"


# Corpora that are read


@pytest.fixture
def files(tmp_path: Path) -> str:
    for number, texts in enumerate([["one two three"], ["one four", "five"]]):
        lines = [json.dumps({"text": text}) for text in texts]
        (tmp_path / f"{number}.jsonl").write_text("\n".join(lines))
    return f"scan:{tmp_path}/*.jsonl"


ONE_EACH = [
    Entry(str(number), text) for number, text in enumerate(["one", "two three", "five", "six"])
]


def scanned(
    spec: str, entries: Sequence[Entry] = ONE_EACH, decide: bool = False, **options: Any
) -> tuple[ContaminateResult, Recorder]:
    progress = Recorder()
    with open_indexes([spec], IndexOptions(**options), progress) as indexes:
        return run_contaminate(entries, make_rule("mini", 9), indexes, decide=decide), progress


def test_a_corpus_that_is_read_answers_everything_in_one_pass(files: str, tmp_path: Path) -> None:
    entries = [*ONE_EACH, Entry("4", "one two three four and not five of them")]
    for decide in (False, True):
        result, progress = scanned(files, entries, decide, journal=tmp_path / f"{decide}")
        rows = result.rows
        assert [row.verdict for row in rows[:4]] == ["dirty", "dirty", "dirty", "clean"]
        assert [row.rarest_occurrences for row in rows[:4]] == [2, 1, 1, None]
        assert (rows[4].windows, rows[4].asked, rows[4].found) == (7, 7, 2)
        assert progress.done["bytes"] == progress.announced["bytes"]
        assert len(progress.expected) == 1
    assert result.sizes == {files: IndexSize(3, 25)}


def test_what_was_not_seen_in_a_sample_of_files_is_unknown(files: str, tmp_path: Path) -> None:
    rows = scanned(files, sample_files=1, journal=tmp_path / "journal")[0].rows
    verdicts = [row.verdict for row in rows]
    assert verdicts in (["dirty", "dirty", None, None], ["dirty", None, "dirty", None])
    assert (rows[3].asked, rows[3].eta_low, rows[3].eta_high) == (0, 0, 1)
    assert rows[3].note.endswith("1 of 1 windows are not in the files that were read")


def test_what_was_seen_is_found_though_its_estimate_is_near_zero() -> None:
    class Sampled(Documents):
        def _collect(self, queries: Sequence[str]) -> Iterator[QueryCount | QueryFailure]:
            for query in queries:
                value = 0.4 if query == "seen" else 0.0
                total = Estimate(value, None, None, 0.95)
                yield QueryCount(query, 0, None, "scan", now(), occurrences_estimate=total)

    entries = [Entry("1", "seen"), Entry("2", "not seen")]
    rows = run_contaminate(entries, MINI, [Sampled([])]).rows
    assert [(row.asked, row.rarest_occurrences) for row in rows] == [(1, 1), (0, None)]


def test_the_first_documents_are_the_corpus_that_is_asked_about(files: str, tmp_path: Path) -> None:
    rows = scanned(files, limit_documents=1, journal=tmp_path / "journal")[0].rows
    assert [row.verdict for row in rows] == ["dirty", "dirty", "clean", "clean"]
