"""N-grams are those of a count by the definition."""

from __future__ import annotations

import re
from collections import Counter, defaultdict

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ngramscan import ngrams
from ngramscan.ngrams import Least, Tokens, count_ngrams, split_characters, split_words, usual_forms

TEXTS = st.lists(st.text(alphabet="ab_é1 (\n", max_size=25), min_size=1, max_size=8)

Found = dict[tuple[str, ...], dict[int, int]]


def words_of(text: str) -> list[str]:
    return re.findall(r"\w+|[^\w\s]", text)


def by_definition(texts: list[list[str]], longest: int, least: Least) -> Found:
    found: dict[tuple[str, ...], Counter[int]] = defaultdict(Counter)
    for number, tokens in enumerate(texts):
        for n in range(1, longest + 1):
            for at in range(len(tokens) - n + 1):
                found[tuple(tokens[at : at + n])][number] += 1
    return {
        ngram: dict(documents)
        for ngram, documents in found.items()
        if documents.total() >= least.count and len(documents) >= least.documents
    }


def by_arrays(tokens: Tokens, longest: int, least: Least) -> Found:
    found: Found = {}
    known: dict[int, list[tuple[str, ...]]] = defaultdict(list)
    for part in count_ngrams(tokens, longest, least):
        stops = np.append(part.starts[1:], part.counts.size)
        for i, position in enumerate(part.first):
            ngram = tuple(tokens.names[int(k)] for k in tokens.ids[position : position + part.n])
            runs = slice(part.starts[i], stops[i])
            documents = part.documents[runs].tolist()
            assert len(set(documents)) == len(documents)
            assert ngram not in found
            found[ngram] = dict(zip(documents, part.counts[runs].tolist(), strict=True))
            known[part.n].append(ngram)
            if part.n > 1:
                assert known[part.n - 1][part.prefixes[i]] == ngram[:-1]
                assert known[part.n - 1][part.suffixes[i]] == ngram[1:]
    return found


@settings(deadline=None)
@given(TEXTS, st.integers(1, 4), st.integers(1, 3), st.sampled_from([3, 1 << 22]))
def test_words_are_counted_as_by_the_definition(
    texts: list[str], count: int, documents: int, part: int
) -> None:
    least = Least(count, documents)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ngrams, "_PART", part)
        found = by_arrays(split_words(texts), 6, least)
    assert found == by_definition([words_of(text) for text in texts], 6, least)


@settings(deadline=None)
@given(TEXTS, st.integers(1, 3))
def test_characters_are_counted_as_by_the_definition(texts: list[str], count: int) -> None:
    least = Least(count, 1)
    found = by_arrays(split_characters(texts), 5, least)
    assert found == by_definition([list(text) for text in texts], 5, least)


@given(TEXTS)
def test_the_form_of_an_n_gram_is_the_most_frequent_one(texts: list[str]) -> None:
    tokens = split_words(texts)
    forms: dict[tuple[str, ...], Counter[str]] = defaultdict(Counter)
    for text in texts:
        spans = list(re.finditer(r"\w+|[^\w\s]", text))
        for first, last in zip(spans, spans[2:], strict=False):
            form = text[first.start() : last.end()]
            forms[tuple(words_of(form))][form] += 1
    placed = [(int(p.first[i]), 3) for p in count_ngrams(tokens, 3, Least(1, 1)) if p.n == 3
              for i in range(p.first.size)]  # fmt: skip
    shown = usual_forms(tokens, placed, len(texts))
    assert len(shown) == len(forms)
    for form in shown:
        counts = forms[tuple(words_of(form))]
        assert counts[form] == max(counts.values())


def test_large_keys_are_sorted_too() -> None:
    keys = np.array([1 << 62, 5, 1 << 62, 5, 7], dtype=np.int64)
    ordered, order = ngrams._sorted(keys)
    assert ordered.tolist() == [5, 5, 7, 1 << 62, 1 << 62]
    assert order.tolist() == [1, 3, 4, 0, 2]


def test_no_text_has_no_n_gram() -> None:
    assert not list(count_ngrams(split_words(["", " \n"]), 3, Least(1, 1)))
    assert not list(count_ngrams(split_characters([""]), 3, Least(1, 1)))
