"""Spans of texts in indexes of every kind: those of a brute force over the documents."""

import random
from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, cast

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ngramscan.errors import IndexFormatError, NgramscanError, RemoteUnavailable
from ngramscan.index_files import compiled
from ngramscan.index_files.fm9 import kernels
from ngramscan.index_files.fm9.reader import Fm9File
from ngramscan.indexes.opening import open_indexes
from ngramscan.indexes.options import IndexOptions
from ngramscan.matching.excerpts import ExcerptFinder
from ngramscan.prevalence.spans import (
    Span,
    WordText,
    _window_places,
    find_spans,
    spans_within,
    windows_of,
)
from tests.support import fm9_reference
from tests.support.corpus_files import jsonl
from tests.support.opened_indexes import of_a_scan, of_a_service, of_files, of_files_in_place
from tests.support.recorder import Recorder
from tests.support.sizes import slow
from tests.support.text_index import Counting
from tests.support.word_spans import spans_of, words_of

PARTS = ("a", "b", "aa", "é", " ", " ", ". ", "\n", "_")


def drawn_text(rng: random.Random, parts: Sequence[str], n: int) -> str:
    return "".join(rng.choices(parts, k=n))


def with_copies(rng: random.Random, documents: Sequence[str], n: int) -> str:
    """Return a text with parts of documents between words of its own."""
    text = ""
    for _ in range(n):
        document = rng.choice(documents)
        start = rng.randrange(len(document) + 1)
        text += drawn_text(rng, PARTS, rng.randrange(12)) + document[start:][: rng.randrange(300)]
    return text


@pytest.fixture(scope="module")
def documents() -> list[str]:
    rng = random.Random(3)
    words = [drawn_text(rng, "abcdé", rng.randint(1, 4)) for _ in range(40)]
    return [
        *(" ".join(rng.choices(words, k=rng.randint(1, 120))) for _ in range(12)),
        *(drawn_text(rng, PARTS, rng.randint(1, 200)) for _ in range(6)),
        "a b " * 60,
    ]


@pytest.fixture(scope="module")
def texts(documents: list[str]) -> list[str]:
    rng = random.Random(4)
    copied = [with_copies(rng, documents, rng.randint(1, 4)) for _ in range(40)]
    edges = [
        "",
        " .",
        "a",
        "zz",
        *documents[:3],
        documents[0] + documents[1],
        "a b " * 90,
        "\x00 a",
    ]
    return [*copied, *edges]


Opened = Callable[[Path, list[str]], Any]


@pytest.mark.parametrize(
    ("opened", "least"),
    [
        *((of_files, least) for least in (1, 2, 5)),
        (of_a_service, 5),
        (of_a_scan, 5),
        *(slow(opened, 2) for opened in (of_a_service, of_a_scan)),
        (of_files_in_place, 5),
    ],
)
def test_spans_are_those_of_a_brute_force(
    opened: Opened, least: int, texts: list[str], documents: list[str], tmp_path: Path
) -> None:
    texts = texts[:: 1 + (least == 5)]
    with opened(tmp_path, documents) as index:
        found = find_spans([WordText(text) for text in texts], index, least).spans
    lists = [[] if isinstance(spans, NgramscanError) else spans for spans in found]
    assert [[(span.first, span.stop) for span in spans] for spans in lists] == [
        spans_of(text, documents, least) for text in texts
    ]


class Shown:
    """Documents of which all is shown that may be shared, a few bytes of them at once."""

    unit = "bytes"

    def __init__(self, documents: Sequence[str]) -> None:
        self._documents = [document.encode() for document in documents]

    def excerpts(self, texts: Sequence[bytes], windows: Sequence[Any]) -> list[bytes]:
        return list(ExcerptFinder(texts, windows).find_in_all(self._documents, at_once=40))


SIGNS = ("ab", "word ", "12", "_", " ", ", ", "=", "é", "—", "字", "🙂", "\n    ", "documented")


@given(
    st.lists(st.lists(st.sampled_from(SIGNS), max_size=40).map("".join), min_size=1, max_size=4),
    st.lists(st.tuples(st.integers(0, 99), st.integers(0, 99), st.integers(1, 80)), max_size=4),
    st.integers(1, 6),
)
def test_what_is_shown_of_documents_has_all_that_is_shared(
    documents: list[str], copies: list[tuple[int, int, int]], least: int
) -> None:
    parts = []
    for number, start, size in copies:
        document = documents[number % len(documents)]
        parts.append(document[start % (len(document) + 1) :][:size])
    for between in ("", " ", "—", " other words, "):
        text = between.join(["", *parts, ""])
        places, encoded = zip(*WordText(text).byte_places(), strict=True), text.encode()
        words = [text[start:end] for start, end in words_of(text)]
        assert [encoded[start:end].decode() for start, end in places] == words
        (spans,) = find_spans([WordText(text)], cast(Any, Shown(documents)), least).spans
        assert isinstance(spans, list)
        found = [(span.first, span.stop) for span in spans]
        assert found == spans_of(text, documents, least)


@pytest.mark.parametrize(
    ("text", "document", "expected"),
    [
        ("a " * 4000, "a " * 2000, [(first, first + 2000) for first in range(2001)]),
        ("a b " * 2000, "a b " * 1000, [(first, first + 2000) for first in range(0, 2001, 2)]),
        (
            "a b c " * 2000,
            "b c a " * 1000,
            [(0, 2998), *((first, first + 3000) for first in range(1, 3001, 3)), (3001, 6000)],
        ),
        ("x" * 100_000 + " a b", "x" * 100_000 + " a b c", [(0, 3)]),
    ],
    ids=["one word", "two words", "period of three", "a word of 100 kB"],
)
def test_repeated_text_ends(text: str, document: str, expected: list[tuple[int, int]]) -> None:
    (spans,) = find_spans([WordText(text)], cast(Any, Shown([document])), 3).spans
    assert isinstance(spans, list)
    assert [(span.first, span.stop) for span in spans] == expected


def test_little_is_shown_of_what_is_not_shared() -> None:
    rng = random.Random(5)
    words = ["".join(rng.choices("abcdefgh", k=rng.randint(1, 8))) for _ in range(200)]
    texts = [" ".join(rng.choices(words, k=100)) for _ in range(200)]
    index = Shown([" ".join(rng.choices(words, k=100_000)), texts[0]])
    windows = [_window_places(*WordText(text).byte_places(), 5) for text in texts]
    shown = index.excerpts([text.encode() for text in texts], windows)
    assert len(texts[0]) <= sum(map(len, shown)) < 2 * len(texts[0])
    assert any(texts[0].encode() in part for part in shown)


@given(
    st.lists(st.text(st.sampled_from("ab .é"), max_size=60), max_size=3),
    st.text(st.sampled_from("ab .é"), max_size=60),
    st.integers(1, 6),
)
def test_spans_within_another_text(documents: list[str], text: str, least: int) -> None:
    # By windows of all words, as a scan is asked; texts in memory answer.
    for document in [*documents, text, text + "b"]:
        found = spans_within(WordText(text), document, least)
        assert [(span.first, span.stop) for span in found] == spans_of(text, [document], least)


def written(folder: Path, documents: Sequence[str]) -> Fm9File:
    joined = b"".join(b"\xff" + document.encode() for document in documents)
    (folder / "data.fm9").write_bytes(fm9_reference.build_fm9(joined + b"\xfa"))
    return Fm9File(folder / "data.fm9")


@given(
    st.lists(st.text(st.sampled_from("ab."), min_size=1, max_size=40), min_size=1, max_size=3),
    st.text(st.sampled_from("abc."), max_size=50),
    st.data(),
)
def test_match_starts_are_those_of_a_brute_force(
    documents: list[str], text: str, data: st.DataObject
) -> None:
    ends = sorted(data.draw(st.sets(st.integers(1, max(1, len(text))), max_size=12)))
    ends = [end for end in ends if end <= len(text)]
    with TemporaryDirectory() as folder:
        file = written(Path(folder), documents)
        begins = np.zeros(len(ends), np.int64)
        starts = file.match_starts(text.encode(), begins, np.array(ends, np.int64))
    assert starts.tolist() == [
        min(
            start
            for start in range(end + 1)
            if any(text[start:end] in document for document in documents)
        )
        for end in ends
    ]


@pytest.mark.parametrize("pieces", [2, slow(4)])
def test_a_copied_text_is_searched_in_linear_time(
    pieces: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng, steps = random.Random(9), 0
    words = ["".join(rng.choices("abcdefgh", k=5)) for _ in range(500)]
    documents = [" ".join(rng.choices(words, k=50)) for _ in range(6)]
    text = " | ".join(documents[:pieces]).encode()
    search = cast(compiled.Kernel, kernels._before).function

    def counted(*arguments: Any) -> Any:
        nonlocal steps
        steps += 1
        return search(*arguments)

    monkeypatch.setattr(kernels, "_before", counted)
    monkeypatch.setattr(compiled, "FEW_STEPS", 1 << 40)
    monkeypatch.setattr(compiled.WarmingKernel, "calls_left", 1 << 40)
    ends = np.array([place for place, byte in enumerate(text) if byte == 32], np.int64)
    starts = written(tmp_path, documents).match_starts(text, np.zeros_like(ends), ends)
    assert len(np.unique(starts)) >= pieces
    assert steps < 5 * len(text)


def test_damage_is_an_error(tmp_path: Path) -> None:
    file = written(tmp_path, ["abab baba " * 300])
    raw = bytearray((tmp_path / "data.fm9").read_bytes())
    met = 0
    for place in range(200, len(raw), max(1, len(raw) // 60)):
        raw[place] ^= 0xFF
        (tmp_path / "data.fm9").write_bytes(raw)
        raw[place] ^= 0xFF
        try:
            ends = np.arange(1, 20)
            found = Fm9File(tmp_path / "data.fm9").match_starts(
                b"abab baba abab babaab", ends * 0, ends
            )
            assert (found >= 0).all()
            assert (found <= ends).all()
        except IndexFormatError:
            met += 1
    assert met > 5
    with pytest.raises(IndexFormatError, match="changed"):
        file.match_starts(b"abab", np.array([0]), np.array([4]))


def test_files_that_are_skipped_are_said_once(tmp_path: Path) -> None:
    (tmp_path / "corpus.jsonl").write_bytes(jsonl(["a b c d e f g"]) + b"broken\n")
    progress = Recorder()
    options = IndexOptions(workers=1, skip_bad_lines=True, journal=tmp_path / "replies.sqlite")
    with open_indexes([f"scan:{tmp_path}/corpus.jsonl"], options, progress) as (index,):
        assert find_spans([WordText("a b c d e f")], index, 2).spans == [[Span(0, 6)]]
    assert len([line for line in progress.notices if "skipped" in line]) == 1


def test_a_failed_count_is_the_error_of_its_text_alone() -> None:
    index = Counting(["a b c d e f g h"], lost=["c d"])
    texts = [WordText("a b c d e f g"), WordText("b c d"), WordText("x y z a b c")]
    lost, *others = find_spans(texts, index, 3).spans
    assert isinstance(lost, RemoteUnavailable)
    assert others == [[Span(0, 3)], [Span(3, 6)]]


@pytest.mark.parametrize("seed", range(8))
def test_a_service_is_asked_as_often_as_said(seed: int) -> None:
    rng = random.Random(seed)
    words = [f"w{number}" for number in range(4000)]
    index = Counting([" ".join(words)])
    planted, parts = list[Span](), list[str]()
    for copied in (3000, rng.randint(5, 400), rng.randint(5, 20)):
        parts += ["x"] * rng.randint(1, 50) + rng.sample(words, rng.randint(0, 100)) + ["y"]
        planted.append(Span(len(parts), len(parts) + copied))
        start = rng.randrange(len(words) - copied)
        parts += [*words[start : start + copied], "z"]
    text = WordText(" ".join(parts))
    assert find_spans([text], index, 5).spans == [planted]
    windows = windows_of(text, 5, 3)
    assert len(index.asked) <= len(set(windows.values())) + 8 * len(planted)  # however long
    assert len(index.asked) == len(set(index.asked))


@pytest.mark.parametrize("vocabulary", [3, 8, 30, 200, 3000])
def test_a_window_that_occurs_takes_few_questions_more(vocabulary: int) -> None:
    rng = random.Random(vocabulary)
    words = [f"w{number}" for number in range(vocabulary)]
    for _ in range(20):
        documents = [" ".join(rng.choices(words, k=rng.randint(1, 300))) for _ in range(20)]
        parts = list[str]()
        for _ in range(rng.randint(1, 6)):
            copied = rng.choice(documents).split()
            parts += rng.choices([*words, "x", "y", "z"], k=rng.randint(0, 40))
            parts += copied[rng.randrange(len(copied)) :][: rng.randint(1, 200)]
        index, text = Counting(documents), WordText(" ".join(parts))
        (spans,) = find_spans([text], index, 5).spans
        assert isinstance(spans, list)
        found = [(span.first, span.stop) for span in spans]
        assert found == spans_of(text.text, documents, 5)
        windows = windows_of(text, 5, 3)
        occurring = [n for n in windows if any(windows[n] in document for document in documents)]
        outside = [n for n in occurring if not any(a <= n and n + 3 <= b for a, b in found)]
        more = len(index.asked) - len({*windows.values()})
        assert more <= 14 * len(spans) + 4 * len(outside)
        assert len(index.asked) == len({*index.asked})
