"""What an entry is, by the passages of documents that have some of its windows."""

import random
from collections import Counter
from itertools import combinations
from math import log2

import pytest

from ngramscan.indexes.base import Passage
from ngramscan.matching.placed_words import placed_words
from ngramscan.matching.word_windows import longest_passage, windows_of_words
from ngramscan.prevalence.contamination.copies import (
    CopyMatch,
    WeighedEntry,
    best_span,
    judge,
    match_passage,
    places_of_words,
)
from ngramscan.stopping import STOP, Work, working_on

GARDENER = (
    "A gardener plants 19 rows of tulips with 24 bulbs in every row and then gives away 70 bulbs"
    " to a neighbour who lost hers to frost before she counts how many bulbs are left in the shed"
)


def passage(text: str, number: int = 0) -> Passage:
    return Passage(0, f"corpus.jsonl:{number}", text, "")


def weighed(text: str, documents: list[str], size: float | None = None) -> WeighedEntry:
    """Return an entry with the counts of its windows in some documents."""
    placed = placed_words(text)
    windows = windows_of_words(placed.words, 4)
    counts = Counter[tuple[str, ...]]()
    for document in documents:
        words = list(placed_words(document).words)
        counts.update(
            tuple(words[at : at + len(windows[0])])
            for at in range(len(words) - len(windows[0]) + 1)
        )
    bytes_of_text = size or sum(len(document.encode()) for document in documents)
    return WeighedEntry(text, placed, 4, [counts[window] for window in windows], bytes_of_text)


def verdict(text: str, documents: list[str]) -> str | None:
    entry = weighed(text, documents)
    return judge(entry, [passage(document, n) for n, document in enumerate(documents)]).verdict


# The best span, by brute force


def brute_force_span(windows: list[tuple[str, ...]], words: list[str]) -> tuple[int, int] | None:
    """Return the first of the shortest spans that begin and end with a window and have most."""
    size = len(windows[0])
    longest = longest_passage(len(windows) + size - 1)
    best = None
    most = 0
    # By their ends, as spans that end earlier come first, and of these the longest.
    for stop in range(size, len(words) + 1):
        for first in range(max(0, stop - longest), stop - size + 1):
            inside = {tuple(words[at : at + size]) for at in range(first, stop - size + 1)}
            n = len(inside & set(windows))
            if n > most:
                most, best = n, (first, stop)
    return best if best and most >= 0.15 * len(set(windows)) else None


def test_the_best_span_has_as_many_windows_as_any() -> None:
    draw = random.Random(5)
    for _ in range(300):
        words = draw.choices("abcde", k=draw.randint(1, 30))
        windows = windows_of_words(draw.choices("abcde", k=draw.randint(1, 12)), 3)
        expected = brute_force_span(windows, words)
        span = best_span(windows, words)
        assert (span is None) == (expected is None)
        if span and expected:
            found, most = (
                set(windows) & set(windows_of_words(words[first:stop], len(windows[0])))
                for first, stop in (span, expected)
            )
            assert len(found) == len(most)
            assert span[1] == expected[1]


def test_a_span_is_no_longer_than_said() -> None:
    words = [f"w{number}" for number in range(20)]
    far = [*words[:10], *["x"] * 21, *words[10:]]
    span = best_span(windows_of_words(words, 4), far)
    assert span is not None
    assert span[1] - span[0] <= longest_passage(20) == 40
    assert span[1] <= 10 or span[0] >= 31 or span[1] - span[0] == 40


# Score and covered words, by brute force


def brute_force(entry: WeighedEntry, match: CopyMatch) -> tuple[float, float]:
    """Return the score and the covered share of a span, word by word."""
    words = list(entry.placed.words)
    span = " ".join(match.words[match.first : match.stop])
    beside = longest_passage(len(words)) - (match.stop - match.first)
    area = " ".join(match.placed.words[max(0, match.first - beside) : match.stop + beside])
    windows = {" ".join(words[at : at + 4]): at for at in range(len(words) - 3)}
    counts = {" ".join(window): count or 0 for window, count in entry.counts.items()}
    inside = [window for window in windows if f" {window} " in f" {span} "]
    covered = {
        place
        for at in range(len(words) - 1)
        if f" {words[at]} {words[at + 1]} " in f" {area} "
        for place in (at, at + 1)
    }

    def weight(window: str) -> float:
        return log2(entry.size / max(counts[window], 0.5))

    rare = [window for window in windows if counts[window] <= 10]
    return (
        sum(weight(window) for window in inside if window in rare) / sum(map(weight, rare)),
        len(covered) / len(words),
    )


def test_score_and_covered_words_are_those_of_brute_force() -> None:
    draw = random.Random(6)
    vocabulary = [first + second for first in "abcdefgh" for second in "aeiou"]
    judged = 0
    for _ in range(200):
        words = draw.choices(vocabulary, k=draw.randint(8, 30))
        edited = [draw.choice(vocabulary) if draw.random() < 0.15 else word for word in words]
        document = " ".join([*draw.choices(vocabulary, k=15), *edited])
        common = " ".join(words[:6])
        documents = [document, *[f"{common} {number}." for number in range(draw.choice([0, 20]))]]
        entry = weighed(" ".join(words), documents)
        match = match_passage(entry, passage(document))
        if match is None:
            continue
        judged += 1
        assert (match.score, match.covered) == pytest.approx(brute_force(entry, match))
        is_copied = match.covered >= 0.75 and match.score >= 0.35 and bool(match.rare)
        is_whole = len(match.windows) >= 0.95 * len(entry.counts)
        assert (match.verdict == "copied") == (is_copied or is_whole)
    assert judged > 150


# Verdicts


def edited(text: str, share: float, seed: int) -> str:
    """Insert, delete, replace or misspell a share of the words; numbers stay."""
    draw = random.Random(seed)
    words = text.split()
    for at in sorted(draw.sample(range(len(words)), round(share * len(words))), reverse=True):
        if any(character.isdigit() for character in words[at]):
            continue
        kind = draw.choice(["insert", "delete", "replace", "misspell"])
        if kind == "insert":
            words.insert(at, draw.choice(["really", "kindly", "perhaps"]))
        elif kind == "delete":
            del words[at]
        else:
            words[at] = words[at][1:] + "x" if kind == "misspell" else "something"
    return " ".join(words)


OTHERS = [f"Page {number} is about the weather and has nothing else." for number in range(30)]


@pytest.mark.parametrize(
    "copy",
    [
        pytest.param(GARDENER, id="whole"),
        pytest.param(GARDENER.upper(), id="upper case"),
        pytest.param(GARDENER.replace(" row", "\nrow").replace("bul", "bul-\n"), id="wrapped"),
        pytest.param("See here: " * 30 + GARDENER + " And so on." * 30, id="embedded"),
        pytest.param(f"<p>{GARDENER.replace('tulips', '<b>tulips</b>')}</p>", id="markup"),
        pytest.param(GARDENER.replace("19", "１９"), id="full width"),
        *[pytest.param(edited(GARDENER, 0.125, seed), id=f"edited {seed}") for seed in range(8)],
    ],
)
def test_a_copy_is_copied(copy: str) -> None:
    assert verdict(GARDENER, [*OTHERS, copy]) == "copied"


def test_a_question_that_many_pages_have_whole_is_copied() -> None:
    assert verdict(GARDENER, [*OTHERS, *[GARDENER] * 40]) == "copied"


def test_a_problem_that_many_pages_have_with_other_numbers_is_shared() -> None:
    pages = [GARDENER.replace("19", str(number)) for number in range(30, 60)]
    assert verdict(GARDENER, [*OTHERS, *pages]) == "shared"


def test_other_numbers_make_a_variant() -> None:
    copy = GARDENER.replace("19", "21").replace("70", "64")
    entry = weighed(GARDENER, [*OTHERS, copy])
    judgement = judge(entry, [passage(copy)])
    assert judgement.verdict == "variant"
    changed = judgement.matches[0].changed
    pairs = [(entry.placed.words[at], judgement.matches[0].words[to]) for at, to in changed]
    assert pairs == [("19", "21"), ("70", "64")]


def test_a_copy_comes_before_a_variant() -> None:
    variant = GARDENER.replace("19", "21")
    entry = weighed(GARDENER, [variant, GARDENER])
    judgement = judge(entry, [passage(variant, 0), passage(GARDENER, 1)])
    assert judgement.verdict == "copied"
    assert [match.verdict for match in judgement.matches] == ["copied", "variant"]
    assert judgement.matches[0].passage.document == "corpus.jsonl:1"


OPTIONS = ["12 red apples", "15 green pears", "18 ripe plums", "20 sour cherries"]


@pytest.mark.parametrize("order", [(1, 0, 3, 2), (3, 2, 1, 0), (2, 3, 0, 1)])
def test_reordered_options_change_no_number(order: tuple[int, ...]) -> None:
    stem = "Which of these did the old baker buy from the market on the hill last Sunday morning?"
    letters = "ABCD"
    text = f"{stem} " + " ".join(
        f"{letter}) {option}" for letter, option in zip(letters, OPTIONS, strict=True)
    )
    copy = f"{stem} " + " ".join(
        f"{letter}) {OPTIONS[at]}" for letter, at in zip(letters, order, strict=True)
    )
    assert verdict(text, [*OTHERS, copy]) == "copied"


TEMPLATE = (
    "Construct a complete truth table for the following argument and use it to decide whether the"
    " argument is valid or invalid."
)


@pytest.mark.parametrize("n_documents", [11, 30, 300])
def test_a_template_of_many_pages_is_shared(n_documents: int) -> None:
    text = f"{TEMPLATE} If P then Q, and not R, therefore S or not P."
    pages = [f"Exercise {number}. {TEMPLATE} Argument {number}." for number in range(n_documents)]
    assert verdict(text, [*OTHERS, *pages]) == "shared"


@pytest.mark.parametrize("n_documents", [1, 5, 50])
def test_a_quotation_in_a_question_is_shared(n_documents: int) -> None:
    quotation = (
        "Four score and seven years ago our fathers brought forth on this continent a new nation"
        " conceived in liberty"
    )
    text = (
        f"{quotation}. Which president began a speech with this sentence, and in which year was"
        " the cemetery dedicated?"
    )
    assert verdict(text, [*OTHERS, *[f"{quotation}, and so on."] * n_documents]) == "shared"


def test_common_windows_of_several_pages_are_shared() -> None:
    text = "the sum of the first ten numbers is greater than the sum of all the other ones here"
    halves = ["the sum of the first ten numbers is what", "greater than the sum of all the other"]
    assert verdict(text, [*OTHERS, *halves]) == "shared"


def test_a_question_of_a_few_words_that_everyone_asks_is_shared() -> None:
    assert verdict("What is the capital of France?", ["What is the capital of France?"] * 20) == (
        "shared"
    )


def test_an_entry_of_one_window_is_never_copied() -> None:
    assert verdict("Who painted Guernica", ["Who painted Guernica? Picasso."]) == "shared"


def test_another_text_is_clean() -> None:
    assert verdict(GARDENER, OTHERS) == "clean"


def test_unknown_counts_leave_no_verdict_unless_a_document_decides() -> None:
    entry = weighed(GARDENER, OTHERS)
    unknown = WeighedEntry(entry.text, entry.placed, 4, [None, *entry.occurrences[1:]], 1e6)
    assert judge(unknown, []).verdict is None
    assert judge(unknown, [passage(GARDENER)]).verdict == "copied"


def test_a_passage_with_few_windows_is_no_match() -> None:
    entry = weighed(GARDENER, OTHERS)
    assert match_passage(entry, passage("A gardener plants 19 rows of beans.")) is None


def test_places_of_words_are_ranges_of_characters() -> None:
    placed = placed_words("One <b>two</b> three, four")
    for chosen in (*combinations(range(4), 2), (0, 1, 2, 3)):
        ranges = places_of_words(placed, set(chosen))
        covered = " ".join(
            placed_words(text).words[0]
            for text in ("One <b>two</b> three, four"[start:stop] for start, stop in ranges)
        )
        assert covered.split()[0] == placed.words[chosen[0]]
    assert places_of_words(placed, {0, 1, 3}) == [(0, 10), (22, 26)]


# Work that is stopped


class StoppedError(Exception):
    """Work was stopped."""


class StoppingWork(Work):
    """Work that is stopped when it is looked at for the third time."""

    def __init__(self) -> None:
        super().__init__()
        self.flag[0] = STOP
        self.looks = 0

    def look(self) -> None:
        self.looks += 1
        if self.looks == 3:
            raise StoppedError


def test_work_that_is_stopped_compares_no_further_document() -> None:
    documents = [f"{GARDENER} {n}" for n in range(5)]
    entry, work = weighed(GARDENER, documents), StoppingWork()
    with pytest.raises(StoppedError), working_on(work):
        judge(entry, [passage(document, n) for n, document in enumerate(documents)])
    assert work.looks == 3
    two = [passage(document, n) for n, document in enumerate(documents[:2])]
    with working_on(StoppingWork()):
        stopped_late = judge(entry, two)
    assert stopped_late.verdict == judge(entry, two).verdict == "copied"
