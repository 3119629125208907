"""Passages of indexes that are not read, against a search of all documents, written a second time.

The documents are drawn: words of their own, and copies of the sought texts with edits.
"""

import json
import random
import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import pytest

from ngramscan.corpora import ReadOptions, open_corpus
from ngramscan.errors import RemoteUnavailable
from ngramscan.index_files.fm9.build import BuildOptions, build_index
from ngramscan.index_files.tokens.build import build_token_index
from ngramscan.index_files.tokens.tokenizers import load_tokenizer
from ngramscan.indexes.base import (
    FoundPassages,
    Index,
    Occurrences,
    Place,
    QueryCount,
    QueryFailure,
    SoughtTexts,
    Window,
    WindowFailure,
)
from ngramscan.indexes.opening import open_indexes
from ngramscan.indexes.options import IndexOptions
from ngramscan.matching.placed_words import placed_words
from ngramscan.prevalence.contamination.index_passages import (
    FORMS_LOOKED_AT,
    LOOKED_AT,
    find_passages,
)
from ngramscan.progress import SILENT
from tests.support.corpus_files import jsonl
from tests.support.places import TOKENS
from tests.support.range_server import RangeServer
from tests.support.service import ApiServer
from tests.support.text_index import Counting
from tests.support.token_service import TokenServer

WIDTH, LEAST_SHARE = 4, 0.2
LLAMA = TOKENS / "llamalike.model"


def sought_texts(texts: Sequence[str], context: int = 30, most: int = 10) -> SoughtTexts:
    """Return texts of ASCII words, or words of other letters that are written with spaces."""
    words, as_written = list[list[str]](), list[list[str]]()
    for text in texts:
        places = [match.span() for match in re.finditer(r"\w+", text)]
        words.append([text[start:stop].lower() for start, stop in places])
        runs = [places[at : at + WIDTH] for at in range(max(1, len(places) - WIDTH + 1))]
        as_written.append([text[run[0][0] : run[-1][1]] for run in runs if run])
    return SoughtTexts(words, as_written, WIDTH, LEAST_SHARE, context, most)


# Brute force


def naive_count(window: str, documents: Sequence[str]) -> int:
    """Return how often a window occurs as it is written, overlapping ones included."""
    pattern = re.compile(f"(?={re.escape(window)})")
    return sum(len(pattern.findall(document)) for document in documents)


def naive_best(text: str, document: str, within: tuple[int, int] | None = None) -> int:
    """Return the most different windows of a text that a span of a document has, of all spans.

    `within`: of the spans that have these characters.
    """
    places = [match.span() for match in re.finditer(r"\w+", document)]
    words, sought = (re.findall(r"\w+", each.lower()) for each in (document, text))
    longest = len(sought) + len(sought) // 2 + 10
    size = min(WIDTH, len(sought))
    windows = {tuple(sought[at : at + size]) for at in range(len(sought) - size + 1)}
    hits = [tuple(words[at : at + size]) in windows for at in range(len(words))]
    best = 0
    for first in range(len(words)):
        span = words[first : first + longest]
        start, stop = places[first][0], places[first + len(span) - 1][1]
        if hits[first] and (within is None or (start <= within[0] and within[1] <= stop)):
            runs = {tuple(span[at : at + size]) for at in range(len(span) - size + 1)}
            best = max(best, len(runs & windows))
    return best if best >= LEAST_SHARE * len(windows) else 0


def naive_passages(texts: Sequence[str], documents: Sequence[str]) -> dict[int, dict[str, int]]:
    """Return the most windows of a span with a rare window as it is written, by document."""
    passages: dict[int, dict[str, int]] = {}
    for number, text in enumerate(texts):
        passages[number] = {}
        for window in set(sought_texts([text]).as_written[0]):
            if not 1 <= naive_count(window, documents) <= 10:
                continue
            pattern = re.compile(f"(?=({re.escape(window)}))")
            for document_number, document in enumerate(documents):
                for match in pattern.finditer(document):
                    best = naive_best(text, document, match.span(1))
                    name = str(document_number)
                    if best > passages[number].get(name, 0):
                        passages[number][name] = best
    return passages


def shown_passages(found: FoundPassages, texts: Sequence[str]) -> dict[int, dict[str, int]]:
    """Return the windows of the best span of each passage, by text and document."""
    passages: dict[int, dict[str, int]] = {number: {} for number in range(len(texts))}
    for passage in found.passages:
        of_text = passages[passage.text_number]
        assert passage.document not in of_text
        of_text[passage.document] = naive_best(texts[passage.text_number], passage.text)
    return passages


# Drawn documents


class Drawn(NamedTuple):
    texts: list[str]
    documents: list[str]


def edited(draw: random.Random, words: Sequence[str], rate: float) -> list[str]:
    """Return words of which some are left out, replaced or followed by another."""
    edited_words = list[str]()
    for word in words:
        kind = draw.random() / rate if rate else 9
        if kind < 0.3:
            continue
        edited_words.append(word if kind > 0.7 else f"new{draw.randrange(99)}")
        if 0.7 < kind < 1:
            edited_words.append(f"more{draw.randrange(99)}")
    return edited_words


def draw_corpus(seed: int, n_texts: int = 24, n_documents: int = 36) -> Drawn:
    """Draw texts, and documents with copies of them: whole, edited, cut, or side by side."""
    draw = random.Random(seed)
    vocabulary = [
        "".join(draw.choices("abcdeéжß", k=draw.randint(1, 9))).replace("ß", "s")
        for _ in range(400)
    ]
    template = draw.choices(vocabulary, k=8)
    texts = list[list[str]]()
    for number in range(n_texts):
        words = draw.choices(vocabulary, k=draw.choice((3, 9, 30, 60, 120)))
        texts.append([*template, *words] if number % 4 == 0 else words)
    documents = list[str]()
    for number in range(n_documents):
        parts = list[str]()
        for _ in range(draw.randint(1, 4)):
            parts += draw.choices(vocabulary, k=draw.choice((0, 0, 3, 40, 200)))
            if draw.random() < 0.6:
                text = draw.choice(texts)
                start = draw.choice((0, 0, draw.randrange(len(text))))
                parts += edited(draw, text[start:], draw.choice((0, 0, 0.05, 0.1, 0.3)))
            if number % 3 == 0:
                parts += template
        separators = [" ", " ", " ", " ", ", ", "\n", ". "]
        documents.append("".join(word + draw.choice(separators) for word in parts).strip() or "x")
    return Drawn([" ".join(words) for words in texts], documents)


# Indexes of the same documents


class BuiltIndexes(NamedTuple):
    folder: Path
    drawn: Drawn


def build(folder: Path, drawn: Drawn, shard_bytes: int = 20_000) -> BuiltIndexes:
    (folder / "corpus.jsonl").write_bytes(jsonl(drawn.documents))
    options = BuildOptions(shard_bytes=shard_bytes)
    corpus = open_corpus(str(folder / "corpus.jsonl"))
    build_index(corpus, folder / "made", SILENT, ReadOptions(), options)
    return BuiltIndexes(folder, drawn)


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> BuiltIndexes:
    return build(tmp_path_factory.mktemp("built"), draw_corpus(100))


@contextmanager
def opened(kind: str, built: BuiltIndexes, journal: Path) -> Iterator[Index]:
    """Yield an index of the same files: local, in place, or of a service."""
    made, options = built.folder / "made", IndexOptions(journal=journal / "replies.sqlite")
    if kind == "local":
        with open_indexes([f"fm9:{made}"], options, SILENT) as (index,):
            yield index
    elif kind == "in place":
        with (
            RangeServer(built.folder) as server,
            open_indexes([f"fm9:{server.url}made"], options, SILENT) as (index,),
        ):
            yield index
    else:
        shards = sorted(made.glob("[0-9]"))
        with (
            ApiServer({"made": shards}) as api,
            open_indexes([f"{api.url}made"], options, SILENT) as (index,),
        ):
            yield index


@pytest.mark.parametrize("seed", range(8))
def test_passages_are_those_of_a_brute_force(seed: int, tmp_path: Path) -> None:
    drawn = draw_corpus(seed)
    built = build(tmp_path, drawn)
    with opened("local", built, tmp_path) as index:
        found = find_passages(sought_texts(drawn.texts, most=50), index, 1)
    assert found.errors == []
    assert found.occurrences == [
        [naive_count(window, drawn.documents) for window in windows]
        for windows in sought_texts(drawn.texts).as_written
    ]
    shown, expected = shown_passages(found, drawn.texts), naive_passages(*drawn)
    assert sum(map(len, expected.values())) > 20
    for number, text in enumerate(drawn.texts):
        # Spans without a rare window are seen if they are near, or if common ones are drawn.
        whole = {name: naive_best(text, drawn.documents[int(name)]) for name in shown[number]}
        assert expected[number].keys() <= shown[number].keys()
        for name, n_windows in shown[number].items():
            assert max(1, expected[number].get(name, 0)) <= n_windows <= whole[name]
    for passage in found.passages:
        document = drawn.documents[int(passage.document)]
        assert passage.text in document
        assert json.loads(passage.metadata)["linenum"] == int(passage.document)


@pytest.mark.parametrize("kind", ["in place", "service"])
def test_all_kinds_of_indexes_have_the_same_passages(
    kind: str, built: BuiltIndexes, tmp_path: Path
) -> None:
    sought = sought_texts(built.drawn.texts)
    with opened("local", built, tmp_path) as index:
        local = find_passages(sought, index, 1)
    with opened(kind, built, tmp_path) as index:
        found = find_passages(sought, index, 1)
    assert found == local
    assert len(local.passages) > 20


# Indexes of tokens

PLAIN = (
    *("the", "cat", "sat", "on", "a", "mat", "and", "saw", "two", "dogs", "run", "over", "green"),
    *("hills", "under", "grey", "clouds"),
)


def plain_words(seed: int, n: int) -> str:
    """Return words that a tokenizer divides at spaces."""
    return " ".join(random.Random(seed).choices(PLAIN, k=n))


@pytest.mark.parametrize("kind", ["local", "service"])
def test_copies_are_found_in_indexes_of_tokens(kind: str, tmp_path: Path) -> None:
    texts = [plain_words(seed, 30) for seed in range(6)]
    parts = [
        f"{plain_words(50 + number, 90)} {text} {plain_words(70 + number, 90)}"
        for number, text in enumerate(texts[:4])
    ]
    (tmp_path / "corpus.jsonl").write_bytes(jsonl([*parts, plain_words(99, 400)]))
    corpus, tokenizer = open_corpus(str(tmp_path / "corpus.jsonl")), load_tokenizer(LLAMA)
    build_token_index(corpus, tmp_path / "made", tokenizer, ReadOptions(), SILENT)
    options = IndexOptions(journal=tmp_path / "replies.sqlite", tokenizer=LLAMA)
    sought = sought_texts(texts)
    with ExitStack() as stack:
        spec = f"tokens:{tmp_path / 'made'}"
        if kind == "service":
            server = stack.enter_context(TokenServer({"made": (tmp_path / "made", LLAMA)}))
            spec, options = f"infini-gram:{server.url}made", replace(options, tokenizer=None)
        (index,) = stack.enter_context(open_indexes([spec], options, SILENT))
        found = find_passages(sought, index, 1)
    assert found.errors == []
    for number, text in enumerate(texts):
        windows, counts = sought.as_written[number], found.occurrences[number]
        for window, count in zip(windows, counts, strict=True):
            assert count is not None
            assert (number < 4 and text in parts[number]) <= count
            assert count <= naive_count(window, [*parts, plain_words(99, 400)])
    shown = shown_passages(found, texts)
    for number in range(4):
        assert shown[number][str(number)] == len(set(sought.as_written[number]))
    for passage in found.passages:
        assert passage.text in [*parts, plain_words(99, 400)][int(passage.document)]


# What is looked at

LONG = plain_words(1, 40)
OTHER = " ".join(f"w{number}" for number in range(60))


def test_a_passage_has_context_on_both_sides_or_ends_with_its_document() -> None:
    before, after = "é" * 500 + " ", " ж" * 300
    documents = [f"{before}{LONG}{after}", f"{LONG}{after}", f"{before}{LONG}", LONG]
    index = Counting(documents)
    found = find_passages(sought_texts([LONG], context=50), index, 1)
    texts = {passage.document: passage.text for passage in found.passages}
    assert len(texts) == 4
    for number, document in enumerate(documents):
        text = texts[f"0/{number}"]
        left, right = text.split(LONG)
        assert text in document
        assert len(left) >= 50 or document.startswith(text)
        assert len(right) >= 50 or document.endswith(text)
        assert len(text) < 1500
    assert {passage.metadata for passage in found.passages} == {'{"shard": 0}'}


def test_a_copy_near_the_end_of_what_was_fetched_has_its_context() -> None:
    start, end = OTHER[:220], OTHER[220:]
    after = " z" * 400
    for n_spaces in range(0, 200, 5):
        copied = f"{start}{' ' * n_spaces}{end}"
        found = find_passages(sought_texts([OTHER], context=50), Counting([copied + after]), 1)
        (passage,) = found.passages
        assert len(passage.text) >= len(copied) + 50


def test_more_is_fetched_where_a_copy_is_longer_than_its_text() -> None:
    """Markup makes it seven times as long; only its first windows are as written."""
    words = OTHER.split()
    marked = " ".join([*words[:5], *(f'<b class="mark">{word}</b>' for word in words[5:])])
    index = Counting([f"{plain_words(5, 500)} {marked} {plain_words(6, 500)}"])
    (passage,) = find_passages(sought_texts([OTHER]), index, 1).passages
    assert marked in passage.text
    assert len(passage.text) < 8 * len(marked)


def test_the_best_passage_of_a_document_is_that_with_most_windows() -> None:
    words = OTHER.split()
    half, whole = " ".join(words[:30]), " ".join(words[20:])
    filler = plain_words(7, 800)
    index = Counting([f"{half} {filler} {whole} {filler} {half}"])
    (passage,) = find_passages(sought_texts([OTHER]), index, 1).passages
    assert whole in passage.text


def test_only_the_best_documents_are_returned_the_best_first() -> None:
    words = OTHER.split()
    documents = [" ".join(words[: 20 + 5 * number]) for number in range(6)]
    sought = sought_texts([OTHER], most=3)
    found = find_passages(sought, Counting(documents), 1)
    assert [passage.document for passage in found.passages] == ["0/5", "0/4", "0/3"]


def test_a_document_with_more_windows_comes_before_one_with_rarer_ones() -> None:
    words = OTHER.split()
    rarer, larger = " ".join(words[:20]), " ".join(words[15:])
    found = find_passages(sought_texts([OTHER]), Counting([rarer, larger, larger]), 1)
    assert [passage.document for passage in found.passages] == ["0/1", "0/2", "0/0"]


def test_documents_with_too_few_windows_are_left_out() -> None:
    words = OTHER.split()
    windows = len(words) - WIDTH + 1
    least = -(-windows // 5)
    documents = [" ".join(words[: least + number + WIDTH - 1]) for number in (-1, 0)]
    found = find_passages(sought_texts([OTHER]), Counting(documents), 1)
    assert [passage.document for passage in found.passages] == ["0/1"]


@pytest.mark.parametrize("side", ["left", "right"])
def test_no_part_of_a_word_at_the_end_of_a_text_counts(side: str) -> None:
    """One window too few, and one that would be there if a longer word were cut."""
    words = OTHER.split()
    copied = " ".join(words[:14])
    for n_letters in range(300, 500):
        filler = (" long" * 2 + " longerword" * 60)[-n_letters:]
        if side == "left":
            document = f"{'y ' * 300}zzzw50 w51 w52 w53 {filler} {copied}"
        else:
            document = f"{copied} {filler[::-1]} w50 w51 w52 w53zzz{' y' * 300}"
        found = find_passages(sought_texts([OTHER]), Counting([document]), 1)
        assert found.passages == []


def test_a_copy_that_a_text_shows_only_in_part_is_looked_at() -> None:
    """Only its first words are as written, where the text around a part of the entry ends."""
    words = OTHER.split()
    copied = " ".join([*words[:6], *(word.upper() for word in words[6:])])
    for n_letters in range(250, 450, 4):
        filler = (" xyz" * 150)[-n_letters:]
        index = Counting([f"{' '.join(words[:20])} {filler} {copied} {plain_words(2, 400)}"])
        (passage,) = find_passages(sought_texts([OTHER]), index, 1).passages
        assert copied in passage.text


# Draws

MANY = [f"{plain_words(100 + number, 30)} {OTHER} end{number}" for number in range(60)]


def test_few_occurrences_of_common_windows_are_drawn_by_seed() -> None:
    index = Counting(MANY)
    sought = sought_texts([OTHER], most=50)
    found = find_passages(sought, index, 1)
    assert set(found.occurrences[0]) == {60}
    assert 1 <= index.looked_at <= 10
    assert len(found.passages) == index.looked_at
    documents = {passage.document for passage in found.passages}
    assert find_passages(sought, Counting(MANY), 1) == found
    others = find_passages(sought, Counting(MANY), 2)
    assert {passage.document for passage in others.passages} != documents


@pytest.mark.parametrize("seed", range(1, 9))
def test_no_occurrence_is_drawn_twice(seed: int) -> None:
    index = Counting(MANY[:11])
    found = find_passages(sought_texts([OTHER]), index, seed)
    assert index.looked_at == len(found.passages) == 4


def test_common_windows_are_drawn_where_rare_ones_lead_to_no_copy() -> None:
    words = [*OTHER.split(), "rare", "end", "of", "it"]
    text = " ".join(words)
    stray = "it is a rare end of it all"
    index = Counting([*MANY, stray])
    found = find_passages(sought_texts([text]), index, 1)
    assert found.occurrences[0][-1] == 1
    assert index.looked_at > 1
    assert found.passages
    assert all(OTHER in passage.text for passage in found.passages)


def test_common_windows_are_drawn_where_rare_ones_lead_to_a_small_part() -> None:
    rare = " ".join(f"r{number}" for number in range(30))
    found = find_passages(sought_texts([f"{OTHER} {rare}"]), Counting([*MANY, rare]), 1)
    texts = [passage.text for passage in found.passages]
    assert any(OTHER in text for text in texts)
    assert any(rare in text for text in texts)


def test_fifty_occurrences_are_looked_at_with_some_of_common_windows() -> None:
    """Each rare window is in ten documents of its own, where nothing else of the text is."""
    rare = " ".join(f"r{number}" for number in range(60))
    windows = sought_texts([rare]).as_written[0]
    documents = [f"{window} x{number}" for window in windows for number in range(10)]
    index = Counting(documents)
    assert find_passages(sought_texts([rare]), index, 1).passages == []
    assert index.looked_at == 30
    index = Counting([*documents, *MANY])
    found = find_passages(sought_texts([f"{OTHER} {rare}"]), index, 1)
    assert 31 <= index.looked_at <= LOOKED_AT
    assert found.passages
    assert all(OTHER in passage.text for passage in found.passages)


@pytest.mark.parametrize(("times", "form"), [(11, str), (5, str.upper)], ids=["common", "forms"])
def test_ten_occurrences_of_common_windows_or_of_forms_are_looked_at(
    times: int, form: Callable[[str], str]
) -> None:
    """Each window is in documents of its own, where nothing else of the text is."""
    windows = sought_texts([OTHER]).as_written[0]
    index = Counting([f"{form(window)} x{n}" for window in windows for n in range(times)])
    assert find_passages(sought_texts([OTHER]), index, 1).passages == []
    assert index.looked_at == 10


def test_what_was_shown_is_not_fetched_again() -> None:
    index = Counting([f"{plain_words(3, 300)} {OTHER} {plain_words(4, 300)}"])
    find_passages(sought_texts([OTHER], context=300), index, 1)
    assert index.looked_at == 1


def test_texts_that_share_a_window_are_shown_by_one_request() -> None:
    index = Counting([f"{plain_words(3, 60)} {OTHER} {plain_words(4, 60)}"])
    found = find_passages(sought_texts([OTHER, OTHER]), index, 1)
    assert [passage.text_number for passage in found.passages] == [0, 1]
    assert index.looked_at == 1


# Other forms


@pytest.mark.parametrize(
    ("text", "written"),
    [
        (OTHER, OTHER.upper()),
        (OTHER.title(), OTHER),
        (OTHER.replace(" ", "\n"), OTHER),
        (OTHER.replace(" ", "  ").upper(), OTHER),
        (OTHER.replace("w", "é"), unicodedata.normalize("NFD", OTHER.replace("w", "é"))),
        (unicodedata.normalize("NFD", OTHER.replace("w", "é")), OTHER.replace("w", "é")),
        (OTHER.replace("w", "ｗ"), OTHER),
    ],
    ids=[
        "capitals",
        "small letters",
        "lines",
        "small letters with single spaces",
        "decomposed",
        "composed",
        "full width",
    ],
)
def test_copies_in_other_forms_are_found(text: str, written: str) -> None:
    index = Counting([f"{plain_words(3, 60)} {written} {plain_words(4, 60)}"])
    placed = placed_words(text)
    runs = range(len(placed.words) - WIDTH + 1)
    windows = [text[placed.starts[at] : placed.stops[at + WIDTH - 1]] for at in runs]
    sought = SoughtTexts([placed.words], [windows], WIDTH, LEAST_SHARE, 30, 10)
    found = find_passages(sought, index, 1)
    assert found.occurrences == [[0] * len(windows)]
    (passage,) = found.passages
    assert written in passage.text
    assert index.looked_at <= FORMS_LOOKED_AT


def test_other_forms_are_asked_for_only_where_nothing_was_found() -> None:
    index = Counting([f"{plain_words(3, 60)} {OTHER[:150]}"])
    find_passages(sought_texts([OTHER]), index, 1)
    assert set(index.asked) == set(sought_texts([OTHER]).as_written[0])
    index = Counting(["nothing"])
    find_passages(sought_texts([OTHER]), index, 1)
    assert any(query.isupper() for query in index.asked)


# Failures


def test_a_count_that_failed_is_not_known_and_its_error_is_there() -> None:
    sought = sought_texts([OTHER])
    lost = sought.as_written[0][3]
    index = Counting([f"{OTHER} end"], lost=[lost])
    found = find_passages(sought, index, 1)
    assert found.occurrences[0] == [None if number == 3 else 1 for number in range(57)]
    assert [str(error) for error in found.errors] == ["engine crashed"]
    assert [OTHER in passage.text for passage in found.passages] == [True]


class Unlocated(Counting):
    """An index that counts, but fails to look up."""

    def counts(self, queries: Sequence[str]) -> Iterator[QueryCount | QueryFailure]:
        for located in super().find(queries):
            assert isinstance(located, Occurrences)
            yield QueryCount(located.query, located.occurrences, None, "scan", "2026-11-30")

    def find(self, queries: Sequence[str]) -> Iterator[Occurrences | QueryFailure]:
        for query in queries:
            yield QueryFailure(self.name, query, RemoteUnavailable("not located"))


def test_a_window_that_could_not_be_looked_up_is_an_error() -> None:
    found = find_passages(sought_texts([OTHER]), Unlocated([OTHER]), 1)
    assert found.occurrences == [[1] * 57]
    assert {str(error) for error in found.errors} == {"not located"}
    assert found.passages == []


def test_a_form_that_could_not_be_counted_is_an_error() -> None:
    lost = sought_texts([OTHER]).as_written[0][3].upper()
    found = find_passages(sought_texts([OTHER]), Counting(["nothing"], lost=[lost]), 1)
    assert [str(error) for error in found.errors] == ["engine crashed"]
    assert found.occurrences == [[0] * 57]


def test_a_window_that_could_not_be_shown_leaves_others_and_an_error() -> None:
    sought = sought_texts([OTHER, LONG])
    index = Counting([OTHER, LONG], unseen=sought.as_written[0])
    found = find_passages(sought, index, 1)
    assert [passage.text_number for passage in found.passages] == [1]
    assert {str(error) for error in found.errors} == {"no window"}
    assert 1 <= len(found.errors) <= LOOKED_AT


class Ending(Counting):
    """An index that ends while it looks up, or while it shows."""

    def __init__(self, *shards: Sequence[str], ends_in: str) -> None:
        super().__init__(*shards)
        self._ends_in = ends_in

    def find(self, queries: Sequence[str]) -> Iterator[Occurrences | QueryFailure]:
        yield from islice(super().find(queries), 1 if self._ends_in == "find" else None)
        if self._ends_in == "find":
            raise RemoteUnavailable("gone")

    def windows(self, places: Sequence[Place], context: int) -> Iterator[Window | WindowFailure]:
        yield from islice(super().windows(places, context), 1)
        raise RemoteUnavailable("gone")


@pytest.mark.parametrize("ends_in", ["find", "windows"])
def test_an_index_that_ends_leaves_what_it_said_before(ends_in: str) -> None:
    texts = [OTHER, OTHER.replace("w", "v"), OTHER.replace("w", "u")]
    index = Ending(texts, ends_in=ends_in)
    found = find_passages(sought_texts(texts), index, 1)
    assert {str(error) for error in found.errors} == {"gone"}
    counts = [count for of_text in found.occurrences for count in of_text]
    assert counts.count(1) == (1 if ends_in == "find" else 171)
    assert counts.count(None) == (170 if ends_in == "find" else 0)
    assert found.passages


def test_each_of_many_texts_has_its_passage_once() -> None:
    texts = [" ".join(f"{letter}{number}" for letter in "abcdef") for number in range(1002)]
    documents = [texts[0], texts[500], texts[1001]]
    found = find_passages(sought_texts(texts), Counting(documents), 1)
    passages = [(passage.text_number, passage.document) for passage in found.passages]
    assert passages == [(0, "0/0"), (500, "0/1"), (1001, "0/2")]


def test_texts_without_words_have_no_passages() -> None:
    sought = SoughtTexts([[], ["a"]], [[], ["a"]], WIDTH, LEAST_SHARE, 30, 10)
    found = find_passages(sought, Counting(["b a b"]), 1)
    assert found.occurrences == [[], [1]]
    assert [passage.text_number for passage in found.passages] == [1]
    assert find_passages(SoughtTexts([], [], 4, 0.2, 0, 1), Counting(["a"]), 1).passages == []
