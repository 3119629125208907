"""The test bed of copies is as it says: what is planted is there, and no other entry."""

import html
import random
import re
import unicodedata
from collections.abc import Sequence
from functools import cache

import pytest

from benchmarks.copies import decon
from benchmarks.copies.bed import COPIES, EDITED_SHARES, Bed, Entry, make_bed
from benchmarks.copies.measures import measure_rows
from benchmarks.copies.methods import Judged
from benchmarks.copies.nearness import distance, nearest, words_of

SEED, SIZE = 5, 0.02
REORDERED = "options reordered"
CHANGED = (*EDITED_SHARES, REORDERED)
MARKUP = re.compile(r"<[^>]*>|\]\([^)]*\)")
NUMBER = re.compile(r"\d+")


@cache
def bed() -> Bed:
    return make_bed(SEED, SIZE)


def letters(text: str) -> str:
    """Return the letters and digits of a text, however it is written."""
    plain = html.unescape(MARKUP.sub("", text))
    return re.sub(r"[\W_]+", "", unicodedata.normalize("NFKC", plain)).casefold()


def plain_distance(words: Sequence[str], document: Sequence[str]) -> int:
    """Return the fewest edits to some part of a document, cell by cell."""
    above = [0] * (len(document) + 1)
    for row, word in enumerate(words, 1):
        current = [row]
        for column, other in enumerate(document, 1):
            replaced = above[column - 1] + (word != other)
            current.append(min(replaced, above[column] + 1, current[column - 1] + 1))
        above = current
    return min(above)


def entries(kind: str) -> list[Entry]:
    return [entry for entry in bed().entries if entry.kind == kind]


def test_a_seed_makes_the_same_bed_again() -> None:
    first, again, other = (make_bed(seed, 0.005) for seed in (SEED, SEED, SEED + 1))
    assert again == first
    assert other.documents != first.documents


@pytest.mark.parametrize("kind", [kind for kind in COPIES if kind not in CHANGED])
def test_copies_are_in_their_documents(kind: str) -> None:
    assert entries(kind)
    wrong = [
        (entry.question, number)
        for entry in entries(kind)
        for number in entry.documents
        if letters(entry.question) not in letters(bed().documents[number])
    ]
    assert wrong == []


@pytest.mark.parametrize("kind", EDITED_SHARES)
def test_edited_copies_differ_in_their_share_of_words(kind: str) -> None:
    assert entries(kind)
    for entry in entries(kind):
        words = words_of(entry.question)
        (number,) = entry.documents
        edits = plain_distance(words, words_of(bed().documents[number]))
        # A hyphenated word is one for the edit, and two here.
        assert 0 < edits <= EDITED_SHARES[kind] * len(words) + 2, entry.question


@pytest.mark.parametrize("kind", CHANGED)
def test_changed_copies_have_the_numbers_of_the_entry(kind: str) -> None:
    assert entries(kind)
    wrong = [
        entry.question
        for entry in entries(kind)
        if sorted(NUMBER.findall(entry.question))
        != sorted(NUMBER.findall(entry.placed))[: len(NUMBER.findall(entry.question))]
        and not entry.has_answer
    ]
    assert wrong == []


def test_reordered_options_are_the_same_in_another_order() -> None:
    for entry in entries(REORDERED):
        question, *options = [line[4:] for line in entry.question.split("\n")]
        copied_question, *copied_options = [line[4:] for line in entry.placed.split("\n")][:5]
        assert copied_question == question
        assert sorted(copied_options) == sorted(options)
        assert copied_options != options


def test_no_document_has_a_decoy_or_an_absent_entry() -> None:
    absent = [*bed().of("decoy"), *bed().of("absent")]
    assert len(absent) > 20
    corpus = "\n".join(map(letters, bed().documents))
    assert [entry.question for entry in absent if letters(entry.question) in corpus] == []
    shares = nearest({entry.id: entry.question for entry in absent}, bed().documents)
    assert [id_ for id_, share in shares.items() if share <= 1 / 8] == []


def test_documents_of_variants_have_other_numbers_and_nothing_else() -> None:
    variants = entries("numbers changed")
    assert variants
    for entry in variants:
        document = bed().documents[entry.documents[0]]
        assert letters(entry.question) not in letters(document)
        assert NUMBER.sub("#", entry.question) in NUMBER.sub("#", document)


def test_distances_are_those_of_an_alignment_cell_by_cell() -> None:
    draw = random.Random(2)
    for _ in range(200):
        words = draw.choices("abcd", k=draw.randint(1, 8))
        document = draw.choices("abcde", k=draw.randint(0, 20))
        assert distance(words, document) == plain_distance(words, document)


QUESTION = " ".join(f"w{number}" for number in range(60))


@pytest.mark.parametrize(
    ("document", "score"),
    [
        pytest.param(QUESTION, 1.0, id="whole"),
        pytest.param(f"before it {QUESTION} after it", 1.0, id="embedded"),
        # One of 60 words replaced takes five of the 56 n-grams.
        pytest.param(QUESTION.replace("w30", "x"), 51 / 56, id="one word"),
        pytest.param(QUESTION.replace("w20", "x").replace("w40", "x"), 46 / 56, id="two words"),
    ],
)
def test_decon_finds_the_share_of_n_grams(document: str, score: float) -> None:
    assert decon.contaminated([("a", QUESTION, "")], [document]) == {"a": pytest.approx(score)}


def test_decon_misses_a_question_with_three_words_replaced() -> None:
    document = QUESTION.replace("w15", "x").replace("w30", "x").replace("w45", "x")
    assert decon.contaminated([("a", QUESTION, "")], [document]) == {}


def test_decon_needs_the_answer_near_a_question() -> None:
    with_answer = [("a", QUESTION, "four dozen")]
    assert decon.contaminated(with_answer, [QUESTION]) == {}
    assert decon.contaminated(with_answer, [f"{QUESTION} Answer: four dozen"]) == {"a": 1.0}


@pytest.mark.parametrize(
    ("tokens", "least"), [(8, 1.0), (20, 1.0), (35, 0.9), (50, 0.8), (90, 0.8)]
)
def test_decon_asks_more_of_short_entries(tokens: int, least: float) -> None:
    assert decon.threshold(tokens) == pytest.approx(least)


def test_measures_count_what_is_called_a_copy() -> None:
    some = [*bed().of("copied")[:4], *bed().of("variant")[:2], *bed().of("decoy")[:4]]
    small = Bed(some, bed().documents)
    called = [True, True, True, False, True, False, True, False, False, False]
    judged = {
        entry.id: Judged("copied" if is_called else "clean", {})
        for entry, is_called in zip(some, called, strict=True)
    }
    shares = {
        (row.measure, row.truth): (row.k, row.n)
        for row in measure_rows(small, {"a": judged})
        if (row.kind, row.language) == ("all", "all")
    }
    assert shares == {
        ("precision", "all"): (3, 5),
        ("precision without variants", "all"): (3, 4),
        ("recall", "copied"): (3, 4),
        ("called copies", "decoy"): (1, 4),
        ("called copies", "variant"): (1, 2),
    }
