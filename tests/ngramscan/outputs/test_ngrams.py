"""N-grams are those of a count by the definition."""

import re
from collections import Counter, defaultdict

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ngramscan.outputs import ngrams
from ngramscan.outputs.ngrams import MinFrequency, count_ngrams
from ngramscan.outputs.tokens import NumberedTexts, split_characters, split_words

TEXTS = st.lists(st.text(alphabet="ab_é1 (\n😀", max_size=25), min_size=1, max_size=8)
LENGTHS = st.tuples(st.integers(1, 6), st.integers(1, 6)).map(sorted)

Found = dict[tuple[str, ...], dict[int, int]]


def words_of(text: str) -> list[str]:
    return re.findall(r"\w+|[^\w\s]", text)


def by_definition(texts: list[list[str]], lengths: list[int], least: MinFrequency) -> Found:
    found: dict[tuple[str, ...], Counter[int]] = defaultdict(Counter)
    for number, tokens in enumerate(texts):
        for n in range(lengths[0], lengths[1] + 1):
            for at in range(len(tokens) - n + 1):
                found[tuple(tokens[at : at + n])][number] += 1
    return {
        ngram: dict(documents)
        for ngram, documents in found.items()
        if documents.total() >= least.count and len(documents) >= least.documents
    }


def by_arrays(tokens: NumberedTexts, lengths: list[int], least: MinFrequency) -> Found:
    found: Found = {}
    for part in count_ngrams(tokens, (lengths[0], lengths[1]), least):
        stops = np.append(part.starts[1:], part.counts.size)
        for i, position in enumerate(part.first):
            runs = slice(part.starts[i], stops[i])
            documents = part.documents[runs].tolist()
            assert documents == sorted(set(documents))
            for n in range(part.shortest[i], part.n + 1):
                ngram = tuple(tokens.names[int(k)] for k in tokens.ids[position : position + n])
                assert ngram not in found
                found[ngram] = dict(zip(documents, part.counts[runs].tolist(), strict=True))
    return found


# Small parts and keys take the ways that only large texts take otherwise.
@settings(max_examples=80)
@given(
    *(TEXTS, LENGTHS, st.builds(MinFrequency, st.integers(1, 4), st.integers(1, 3))),
    *(st.tuples(st.sampled_from([1, 3, 10, 1 << 21]), st.sampled_from([9, 63])), st.booleans()),
)
def test_n_grams_are_counted_as_by_the_definition(
    texts: list[str], lengths: list[int], least: MinFrequency, limits: tuple[int, int], words: bool
) -> None:
    split = [words_of(text) if words else list(text) for text in texts]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ngrams, "_PART", limits[0])
        patch.setattr(ngrams, "_KEY_BITS", limits[1])
        tokens = split_words(texts) if words else split_characters(texts)
        found = by_arrays(tokens, lengths, least)
    assert found == by_definition(split, lengths, least)


def test_n_grams_of_many_words_are_counted_as_by_the_definition(subtests: pytest.Subtests) -> None:
    random = np.random.default_rng(1)
    texts = [" ".join(f"w{k}" for k in random.zipf(1.3, 300) % 3000) for _ in range(40)]
    least = MinFrequency(3, 2)
    expected = by_definition([words_of(text) for text in texts], [1, 4], least)
    assert len(expected) > 300
    for part, bits in ((100, 63), (5000, 20)):
        with subtests.test(part=part), pytest.MonkeyPatch.context() as patch:
            patch.setattr(ngrams, "_PART", part)
            patch.setattr(ngrams, "_KEY_BITS", bits)
            assert by_arrays(split_words(texts), [1, 4], least) == expected
