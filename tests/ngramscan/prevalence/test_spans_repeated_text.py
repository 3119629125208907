"""Numbers of texts that repeat themselves: those of their definitions, and they end."""

import random

import numpy as np
import pytest
from numpy.typing import NDArray

from ngramscan.prevalence import spans as spans_module
from ngramscan.prevalence.spans import Span, WordText, spans_within
from ngramscan.prevalence.trace import GivenText, Traced
from tests.support.word_spans import spans_of


def traced(
    n: int,
    spans: list[Span],
    is_masked: NDArray[np.bool_],
    kinds: tuple[tuple[int, int, str], ...] = (),
) -> Traced:
    text = WordText("a " * n)
    given = GivenText("", "", "", "", "", text.text, kinds=kinds)
    return Traced(given, text, is_masked, spans, 1)


def by_definition(output: Traced, first_words: int, length: int) -> list[int]:
    """Return the words in spans of a length, the n-grams of it, and those that are in spans."""
    counts = output.counts[:first_words].tolist()
    cut = [range(span.first, min(span.stop, len(counts))) for span in output.spans]
    longest = [max((len(span) for span in cut if n in span), default=0) for n in range(len(counts))]
    covered = sum(
        reach >= length for reach, does_count in zip(longest, counts, strict=True) if does_count
    )
    ngrams = [range(n, n + length) for n in range(len(counts) - length + 1)]
    unmasked = [ngram for ngram in ngrams if all(counts[n] for n in ngram)]
    present = [n for n in unmasked if any(s.start <= n.start and n.stop <= s.stop for s in cut)]
    return [covered, len(unmasked), len(present)]


@pytest.mark.parametrize("seed", range(60))
def test_measures_of_overlapping_spans_are_those_of_their_definition(seed: int) -> None:
    rng = random.Random(seed)
    n = rng.randint(1, 40)
    k = rng.randint(0, min(n, 12))
    pairs = zip(sorted(rng.sample(range(n), k)), sorted(rng.sample(range(n), k)), strict=True)
    spans = [Span(first, last + 1) for first, last in pairs if first <= last]
    output = traced(n, spans, np.array([rng.random() < 0.2 for _ in range(n)]))
    for first_words in (n, rng.randint(0, n)):
        profile = output.profile_of(first_words)
        for length in range(1, 8):
            measures = profile.measures(length)
            found = [measures.covered, measures.ngrams, measures.ngrams - measures.absent]
            assert found == by_definition(output, first_words, length)
    expected = [span for span in spans if output.counts[span.first : span.stop].any()]
    assert output.counting(1) == expected


def test_a_long_text_of_one_word_is_measured_soon() -> None:
    n = 200_000
    spans = [Span(first, first + n // 2) for first in range(n // 2 + 1)]
    places = range(0, 2 * n, 8)
    output = traced(n, spans, np.zeros(n, np.bool_), tuple((at, at + 1, "latex") for at in places))
    assert output.profile.measures(5).coverage == 1
    assert len(output.counting(5)) == len(spans)
    assert {part.kind: part.profile.words for part in output.of_kinds()} == {
        "narrative": n - n // 4,
        "latex": n // 4,
    }


@pytest.mark.parametrize("seed", range(40))
def test_masks_of_long_texts_are_those_of_short_ones(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = random.Random(seed)
    text, other = ("".join(rng.choices(["a", "b", "é", " ", ". "], k=80)) for _ in range(2))
    monkeypatch.setattr(spans_module, "_COMPARED_DIRECTLY", 0)
    for document in (other, other + text[3:50], text * 2, ""):
        for least in (1, 2, 5):
            found = [
                (span.first, span.stop) for span in spans_within(WordText(text), document, least)
            ]
            assert found == spans_of(text, [document], least)


def test_masks_of_tokens_are_those_of_their_own_places(monkeypatch: pytest.MonkeyPatch) -> None:
    text, tokens = "abab xy abab", [(0, 2), (2, 4), (4, 7), (7, 8), (8, 9), (9, 12)]
    given = WordText(text, tokens)
    direct = spans_within(given, "abab", 1)
    monkeypatch.setattr(spans_module, "_COMPARED_DIRECTLY", 0)
    assert spans_within(given, "abab", 1) == direct == [Span(0, 2), Span(4, 6)]


def test_a_mask_of_a_long_text_of_one_word_ends() -> None:
    n = 60_000
    found = spans_within(WordText("a " * n), "a " * (n // 2), 5)
    assert found == [Span(first, first + n // 2) for first in range(n // 2 + 1)]
