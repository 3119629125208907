import json
import random
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ngramscan.clock import now
from ngramscan.errors import InputError
from ngramscan.indexes.base import QueryCount, QueryFailure
from ngramscan.indexes.opening import open_indexes
from ngramscan.indexes.options import IndexOptions
from ngramscan.matching import Normalization, normalized
from ngramscan.prevalence.contamination.answers import find_answers
from ngramscan.prevalence.contamination.contaminate import Entry, queries_of, run_contaminate
from ngramscan.prevalence.contamination.rules import make_rule
from ngramscan.prevalence.contamination.shares import make_shares
from ngramscan.statistics.estimates import Estimate
from tests.support.counted_documents import CountedDocuments
from tests.support.recorder import Recorder

MINI = make_rule("mini")


@pytest.mark.parametrize(
    ("rule", "text", "how", "verdict"),
    [
        pytest.param("gpt4", "The cat sat.", "", "dirty", id="gpt4"),
        pytest.param("gpt4", "The cat  sat.", "", "clean", id="gpt4, another space"),
        pytest.param("gpt4-stripped", "The cat\nsat!", "alphanumeric", "dirty", id="gpt4-stripped"),
        pytest.param(
            "gpt4-stripped", "the cat sat", "alphanumeric", "clean", id="gpt4-stripped, a small t"
        ),
        pytest.param("gpt3", "the CAT, sat", "words", "dirty", id="gpt3"),
        pytest.param("palm", "the cats sat", "words", "clean", id="palm, another word"),
        pytest.param("ngram-3", "The\tcat: sat", "words", "dirty", id="ngram-3"),
    ],
)
def test_each_rule_sees_what_it_says(
    rule: str, text: str, how: Normalization, verdict: str
) -> None:
    index = CountedDocuments([normalized("Then: The cat sat.", how)])
    (row,) = run_contaminate([Entry("1", text)], make_rule(rule), [index]).rows
    assert row.verdict == verdict
    assert row.note == "the whole entry is one window"


# Failures


def test_what_failed_is_unknown_and_counts_neither_as_found_nor_as_absent() -> None:
    entry = Entry("1", "aa bb cc dd ee")
    documents = CountedDocuments(["aa bb cc", "dd ee"], lost=["bb cc"])
    result = run_contaminate([entry], make_rule("mini", 5), [documents])
    (row,) = result.rows
    assert (row.windows, row.asked, row.found) == (4, 3, 2)
    assert (row.eta, row.eta_low, row.eta_high, row.verdict) == (None, 0.5, 0.75, "suspicious")
    assert row.longest_run == 5
    assert [(failure.index, failure.query) for failure in result.missing] == [("a", "bb cc")]


def test_without_windows_nothing_is_asked() -> None:
    index = CountedDocuments(["x"])
    entries = [Entry("1", " \n"), Entry("2", "x")]
    rows = run_contaminate(entries, make_rule("mini", short="skip"), [index]).rows
    assert [(row.windows, row.eta_low, row.verdict) for row in rows] == [(0, None, None)] * 2
    assert {row.note for row in rows} == {"no window of 50 characters in it"}
    assert not index.rounds


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


def test_what_was_not_seen_in_a_sample_of_files_is_unknown(files: str, tmp_path: Path) -> None:
    options = IndexOptions(sample_files=1, journal=tmp_path / "journal")
    with open_indexes([files], options, Recorder()) as indexes:
        rows = run_contaminate(ONE_EACH, make_rule("mini", 9), indexes).rows
    verdicts = [row.verdict for row in rows]
    assert verdicts in (["dirty", "dirty", None, None], ["dirty", None, "dirty", None])
    assert (rows[3].asked, rows[3].eta_low, rows[3].eta_high) == (0, 0, 1)
    assert rows[3].note.endswith("1 of 1 windows are not in the files that were read")


QUESTION = "How many stamps can Emil buy with 50 euros if each one costs 68 cents today?"


@pytest.mark.parametrize(
    ("answer", "before", "after", "is_near"),
    [
        pytest.param("73", "", " Answer: 73 stamps", True, id="the answer follows"),
        pytest.param("73", "73. ", " And so on.", True, id="it precedes"),
        pytest.param(
            "none at all",
            "",
            " It is\n NONE  AT ALL.",
            True,
            id="in capital letters, with other white space",
        ),
        pytest.param(
            "73", "", " 173 or 73.5 or 1,73 or 73,000", False, id="a part of another number"
        ),
        pytest.param("73", "", " 73th", False, id="a part of a word"),
        pytest.param(
            "73",
            "73 x x x x x x x x x x x x x x x x x x x x",
            " x x x x x x x x x x x x x x x x x x x x 73",
            False,
            id="too far away",
        ),
        pytest.param(
            "73", "", " x x x x x x x x x x x x x x 73", True, id="at the last place that is near"
        ),
        pytest.param(
            "73", "73 x x x x x x x x x x x x x x ", "", True, id="at the first place that is near"
        ),
    ],
)
def test_an_answer_is_near_as_a_whole_word_within_some_characters(
    answer: str, before: str, after: str, is_near: bool
) -> None:
    entry = Entry("1", QUESTION, answer)
    index = CountedDocuments([f"{before}{QUESTION}{after}", f"Other. {QUESTION[:60]} 73"])
    result = run_contaminate([entry], MINI, [index])
    (row,) = find_answers(result, [entry], [index], within=31, seed=1)[0].rows
    assert (row.answer, row.occurrences_seen) == ("near" if is_near else "not near", 1)


def test_an_answer_in_the_question_needs_to_be_there_once_more(subtests: pytest.Subtests) -> None:
    entries = [Entry("1", QUESTION, "68"), Entry("2", "never there, not in a single document", "1")]
    for more, answer in (("", "not near"), ("68", "near")):
        with subtests.test(more=more):
            index = CountedDocuments([f"{QUESTION} {more}"])
            result = run_contaminate(entries, MINI, [index])
            found, _ = find_answers(result, entries, [index], 9, 1)
            assert [row.answer for row in found.rows] == [answer, None]
            index._lost = [result.rows[0].rarest or ""]
            found, lost = find_answers(result, entries, [index], 9, 1)
            assert ([row.answer for row in found.rows], len(lost)) == ([None, None], 1)


def test_shares_tell_questions_with_their_answers_from_questions_alone() -> None:
    """Three indexes: with the answer, without, and one whose text can't be seen."""
    texts = [f"What is the meaning of the {word}, and of all the others?" for word in "abcdef"]
    entries = [Entry(str(number), text, "42") for number, text in enumerate(texts)]
    alone = CountedDocuments(texts[1:5], "alone")
    answered = CountedDocuments([f"{text} 42" for text in texts[3:]])
    shy = CountedDocuments(texts, "shy")
    shy._unseen = [texts[5][:50]]
    indexes = [alone, answered, shy]
    result = run_contaminate(entries, make_rule("mini", tail="end"), indexes)
    found, lost = find_answers(result, entries, indexes, 20, 1)
    answers = {
        name: [row.answer for row in found.rows if row.index == name]
        for name in ("alone", "a", "shy", "union")
    }
    no, yes = "not near", "near"
    assert answers["alone"] == [None, no, no, no, no, None]
    assert answers["a"] == [None, None, None, yes, yes, yes]
    assert answers["union"] == [no, no, no, yes, yes, yes]
    assert answers["shy"] == [no] * 5 + [None]
    assert [index for _, index in lost] == ["shy"]
    shares = {
        (row.index, row.verdict): (row.n, row.n_unknown)
        for row in make_shares(found.rows, MINI, 6, None, answers=("near", "not near"))
    }
    assert shares["alone", "dirty"] == (4, 0)
    assert shares["alone", "dirty, answer near"] == (0, 0)
    assert shares["alone", "dirty, answer not near"] == (4, 0)
    assert shares["a", "dirty, answer near"] == (3, 0)
    assert shares["shy", "dirty, answer near"] == (0, 1)


def test_a_string_that_an_entry_repeats_is_asked_once_but_counts_often() -> None:
    index = CountedDocuments(["ab ab"])
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
    rows = run_contaminate(entries, rule, [CountedDocuments([text])], seed=7).rows
    assert {row.rule for row in rows} == {f"{rule.described}, seed 7"}


def test_where_an_index_fails_as_a_whole_nothing_is_known() -> None:
    entries = [Entry("1", "one text"), Entry("2", "and another")]
    result = run_contaminate(entries, MINI, [CountedDocuments(["one text"], answers=0)])
    assert [(row.asked, row.found, row.eta, row.verdict) for row in result.rows] == [
        (0, 0, None, None)
    ] * 2
    assert [(row.eta_low, row.eta_high) for row in result.rows] == [(0, 1)] * 2
    notes = [row.note for row in result.rows]
    assert ["1 of 1 windows could not be counted" in note for note in notes] == [True] * 2, notes
    assert [str(failure.error) for failure in result.missing] == ["the line is dead"] * 2


def test_only_a_window_that_holds_all_is_called_the_whole_entry() -> None:
    entries = [Entry("1", "abcde f"), Entry("2", " abcde\n"), Entry("3", "abc")]
    rows = run_contaminate(entries, make_rule("mini", 5), [CountedDocuments([])]).rows
    whole = "the whole entry is one window"
    assert [(row.windows, row.note) for row in rows] == [(1, ""), (1, whole), (1, whole)]


def test_what_was_seen_is_found_though_its_estimate_is_near_zero() -> None:
    class Sampled(CountedDocuments):
        def answers_to(self, queries: Sequence[str]) -> Iterator[QueryCount | QueryFailure]:
            for query in queries:
                value = 0.4 if query == "seen" else 0.0
                total = Estimate(value, None, None, 0.95)
                yield QueryCount(query, 0, None, "scan", now(), occurrences_estimate=total)

    entries = [Entry("1", "seen"), Entry("2", "not seen")]
    rows = run_contaminate(entries, MINI, [Sampled([])]).rows
    assert [(row.asked, row.rarest_occurrences) for row in rows] == [(1, 1), (0, None)]


def test_all_indexes_are_asked_before_the_first_answer_is_waited_for() -> None:
    log: list[str] = []

    class Logged(CountedDocuments):
        def counts(self, queries: Sequence[str]) -> Iterator[QueryCount | QueryFailure]:
            log.append(f"ask {self.name}")
            return super().counts(queries)

        def answers_to(self, queries: Sequence[str]) -> Iterator[QueryCount | QueryFailure]:
            log.append(f"wait for {self.name}")
            yield from super().answers_to(queries)

    run_contaminate([Entry("1", "x y")], MINI, [Logged(["x"], "a"), Logged(["x"], "b")])
    assert log == ["ask a", "ask b", "wait for a", "wait for b"]


def test_a_wrong_question_stops_the_run() -> None:
    class Refusing(CountedDocuments):
        def answers_to(self, queries: Sequence[str]) -> Iterator[QueryCount | QueryFailure]:
            raise InputError("--index a", "no")
            yield

    with pytest.raises(InputError, match="--index a: no"):
        run_contaminate([Entry("1", "one")], MINI, [Refusing([])])


@settings(max_examples=60)
@given(st.integers(0, 10**6), st.integers(1, 12))
def test_bounds_hold_the_truth_and_shrink_with_each_answer(seed: int, n_lost: int) -> None:
    chance = random.Random(seed)
    entries = [Entry(str(number), " ".join(chance.choices("abcde", k=12))) for number in range(4)]
    rule = make_rule("mini", 5)
    queries = sorted({text for texts in queries_of(entries, rule, 1).values() for text in texts})
    documents = [query for query in queries if chance.random() < 0.5]
    lost = chance.sample(queries, n_lost)
    truth, many, few = (
        run_contaminate(entries, rule, [CountedDocuments(documents, lost=failing)]).rows
        for failing in ([], lost, lost[: n_lost // 2])
    )
    for true, wide, narrow in zip(truth, many, few, strict=True):
        lows = [row.eta_low or 0.0 for row in (wide, narrow, true)]
        highs = [row.eta_high or 0.0 for row in (wide, narrow, true)]
        assert lows == sorted(lows)
        assert highs == sorted(highs, reverse=True)
        assert true.eta_low == true.eta == true.eta_high
        assert wide.verdict in {None, narrow.verdict}
        assert narrow.verdict in {None, true.verdict}
        assert wide.asked <= narrow.asked <= true.asked == true.windows
        if wide.verdict is None:
            unknown = wide.windows - wide.asked
            assert wide.note == f"{unknown} of {wide.windows} windows could not be counted"
