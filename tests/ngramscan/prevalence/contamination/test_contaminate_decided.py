"""Asking only until verdicts are known: the same verdicts, and no question too many."""

import json
import random
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ngramscan.indexes.base import IndexSize
from ngramscan.indexes.opening import open_indexes
from ngramscan.indexes.options import IndexOptions
from ngramscan.prevalence.contamination.contaminate import (
    Entry,
    EntryRow,
    queries_of,
    run_contaminate,
)
from ngramscan.prevalence.contamination.rules import make_rule
from tests.support.counted_documents import CountedDocuments
from tests.support.recorder import Recorder

WIDTHS = {"mini": 12, "gpt4": 12, "gpt3": 3, "palm": 3}
"""Short windows of each rule."""
SEEDS = st.integers(0, 10**6)


def limits(row: EntryRow) -> tuple[float, float]:
    assert row.eta_low is not None
    assert row.eta_high is not None
    return row.eta_low, row.eta_high


def planted(seed: int, rule_name: str) -> tuple[list[Entry], list[str]]:
    """Return entries that share a beginning, and as documents windows of theirs at random."""
    chance = random.Random(seed)
    n_words = chance.choice([3, 10**4])  # with few words, entries repeat strings
    entries = [
        Entry(str(number), "which is it " + " ".join(words))
        for number in range(chance.randrange(1, 5))
        for words in [[str(chance.randrange(n_words)) for _ in range(15)]]
    ]
    share, queries = chance.random(), queries_of(entries, make_rule(*rule_of(rule_name)), 1)
    documents = [text for texts in queries.values() for text in texts if chance.random() < share]
    return entries, documents


def rule_of(name: str) -> tuple[str, int]:
    return name, WIDTHS[name]


@pytest.mark.parametrize("name", WIDTHS)
@settings(max_examples=30)
@given(SEEDS)
def test_deciding_gives_the_verdicts_of_asking_everything(name: str, seed: int) -> None:
    entries, documents = planted(seed, name)
    rule = make_rule(*rule_of(name))
    everything, decided = CountedDocuments(documents), CountedDocuments(documents)
    full = run_contaminate(entries, rule, [everything]).rows
    rows = run_contaminate(entries, rule, [decided], decide=True).rows
    assert [row.verdict for row in rows] == [row.verdict for row in full]
    assert len(set(decided.asked)) == len(decided.asked)
    assert set(decided.asked) <= set(everything.asked)
    for row, true in zip(rows, full, strict=True):
        assert limits(row)[0] <= limits(true)[0] == limits(true)[1] <= limits(row)[1]
        assert row.eta == (true.eta if row.asked == row.windows else None)


@pytest.mark.parametrize("name", WIDTHS)
@settings(max_examples=30)
@given(SEEDS)
def test_failures_while_deciding_make_no_verdict_wrong(name: str, seed: int) -> None:
    entries, documents = planted(seed, name)
    rule = make_rule(*rule_of(name))
    lost = random.Random(seed).sample(documents, len(documents) // 4)
    failing = CountedDocuments(documents, lost=lost)
    full = run_contaminate(entries, rule, [CountedDocuments(documents)]).rows
    rows = run_contaminate(entries, rule, [failing], decide=True).rows
    for row, true in zip(rows, full, strict=True):
        assert limits(row)[0] <= limits(true)[0] <= limits(row)[1]
        assert row.verdict in {None, true.verdict}
    assert len(set(failing.asked)) == len(failing.asked)


@pytest.mark.parametrize("name", WIDTHS)
@settings(max_examples=20)
@given(SEEDS)
def test_of_one_entry_nothing_is_asked_after_it_is_decided(name: str, seed: int) -> None:
    entries, documents = planted(seed, name)
    rule = make_rule(*rule_of(name))
    decided = CountedDocuments(documents)
    run_contaminate(entries[:1], rule, [decided], decide=True)
    # Answered one by one in the same order, the verdict is open until the last answer.
    all_but_last = decided.asked[:-1]
    rest = set(queries_of(entries[:1], rule, 1)["0"]) - set(all_but_last)
    knows_less = CountedDocuments(documents, lost=sorted(rest))
    (row,) = run_contaminate(entries[:1], rule, [knows_less]).rows
    assert row.verdict is None


def entry_of(n_words: int) -> Entry:
    """Return an entry of so many different words of four digits."""
    return Entry("1", " ".join(f"{number:04}" for number in range(n_words)))


def test_the_first_windows_that_are_asked_are_spread_over_the_entry() -> None:
    index = CountedDocuments([])
    run_contaminate([entry_of(17)], make_rule("mini", 4), [index], decide=True)
    assert [int(query) for query in index.rounds[0]] == [0, 16, 8, 4, 12, 2, 10, 6]
    assert len(index.asked) == 14  # 3 of 17 that may occur are less than 20%


def test_failures_are_replaced_by_other_windows_where_they_can_decide() -> None:
    entry = entry_of(20)
    index = CountedDocuments([entry.text], lost=["0000", "0016"])
    result = run_contaminate([entry], make_rule("mini", 4), [index], decide=True)
    assert (result.rows[0].verdict, result.rows[0].found) == ("dirty", 16)
    assert [failure.query for failure in result.missing] == ["0000", "0016"]


def test_where_everything_fails_every_window_is_asked_once() -> None:
    entry = entry_of(20)
    index = CountedDocuments([entry.text], answers=0)
    result = run_contaminate([entry], make_rule("mini", 4), [index], decide=True)
    (row,) = result.rows
    assert (row.verdict, row.eta_low, row.eta_high) == (None, 0, 1)
    assert sorted(index.asked) == sorted(entry.text.split())
    assert len(result.missing) == 20


def test_the_union_says_where_deciding_left_it_open() -> None:
    entry = entry_of(10)
    first, second = (
        CountedDocuments([entry.text[:24]], "a"),
        CountedDocuments([entry.text[25:]], "b"),
    )
    rows = run_contaminate([entry], make_rule("mini", 4), [first, second], decide=True).rows
    assert [row.verdict for row in rows] == ["suspicious", "suspicious", None]
    assert rows[2].note == "4 of 10 windows are unknown in an index and not found in another"


@pytest.mark.parametrize("decide", [False, True], ids=["everything", "until decided"])
def test_a_corpus_that_is_read_answers_everything_in_one_pass(decide: bool, tmp_path: Path) -> None:
    documents = ["one two three", "one four", "five"]
    lines = [json.dumps({"text": text}) + "\n" for text in documents]
    corpus = tmp_path / "c.jsonl"
    corpus.write_text("".join(lines))
    texts = ["one", "two three", "five", "six", "one two three four and not five of them"]
    entries = [Entry(str(number), text) for number, text in enumerate(texts)]
    options, progress = IndexOptions(journal=tmp_path / "j"), Recorder()
    with open_indexes([f"scan:{corpus}"], options, progress) as indexes:
        result = run_contaminate(entries, make_rule("mini", 9), indexes, decide=decide)
    rows = result.rows
    assert [row.verdict for row in rows] == ["dirty", "dirty", "dirty", "clean", "suspicious"]
    assert [row.rarest_occurrences for row in rows] == [2, 1, 1, None, 1]
    assert (rows[4].windows, rows[4].asked, rows[4].found) == (7, 7, 2)
    assert progress.advanced == corpus.stat().st_size, "read once"
    assert result.sizes == {f"scan:{corpus}": IndexSize(3, 25)}
