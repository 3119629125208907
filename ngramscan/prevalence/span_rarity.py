"""How rare the words of spans are in an index: the unigram probability of each span.

It is the product over the words of a span of their shares of the index: the count of a word over
the size of the index in tokens, or in bytes where it counts bytes. Where the size is not known,
it is the sum of the counts of all words of the spans.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from ngramscan.errors import NgramscanError
from ngramscan.indexes.base import Index, QueryFailure
from ngramscan.indexes.tokens.base import CountsTokens, MatchesTokens
from ngramscan.prevalence.count import collect_replies
from ngramscan.prevalence.spans import Span, WordText

TextAndSpans = tuple[WordText, Sequence[Span]]
_Word = str | int
"""A word, or the id of a token."""


def measure_rarity(
    texts: Sequence[TextAndSpans], index: Index
) -> tuple[list[dict[Span, float | None]], list[QueryFailure]]:
    """Return the log probability of each span of each text, and the words without a count.

    Each different word is counted once. A span with a word that could not be counted has None.
    """
    names = {
        word: name
        for text, spans in texts
        for span in spans
        for word, name in _words_of(text, span).items()
    }
    counts, errors = _count_words(names, index)
    total = _total(index, counts)
    logarithms = {word: math.log(count / total) for word, count in counts.items() if count}
    probabilities = [
        {span: _sum_over(_word_sequence(text, span), logarithms) for span in spans}
        for text, spans in texts
    ]
    failures = [QueryFailure(index.name, names[word], error) for word, error in errors.items()]
    return probabilities, failures


def _word_sequence(text: WordText, span: Span) -> Sequence[_Word]:
    """Return the words of a span, or its tokens, in their order."""
    if text.tokens is not None:
        return text.token_ids[span.first : span.stop]
    return [text.part(number, number + 1) for number in range(span.first, span.stop)]


def _words_of(text: WordText, span: Span) -> dict[_Word, str]:
    """Return the words of a span, or its tokens, each with its text."""
    words = _word_sequence(text, span)
    names = [text.part(number, number + 1) for number in range(span.first, span.stop)]
    return dict(zip(words, names, strict=True))


def _count_words(
    names: Mapping[_Word, str], index: Index
) -> tuple[dict[_Word, int], dict[_Word, NgramscanError]]:
    """Return the occurrences of some words or tokens, and the errors of the others."""
    tokens = [word for word in names if isinstance(word, int)]
    counts: dict[_Word, int] = {}
    errors: dict[_Word, NgramscanError] = {}
    if not names:
        return counts, errors
    if isinstance(index, CountsTokens):
        for token, answer in index.count_tokens(tokens).items():
            if isinstance(answer, NgramscanError):
                errors[token] = answer
            else:
                counts[token] = answer
    elif isinstance(index, MatchesTokens):
        replies = index.count_ngrams({str(token): [token] for token in tokens})
        counts.update((token, replies[str(token)].occurrences) for token in tokens)
    else:
        words = [word for word in names if isinstance(word, str)]
        counted, failed = collect_replies(index.counts(words), words)
        counts.update((word, count.occurrences) for word, count in counted.items())
        errors.update(failed)
    return counts, errors


def _total(index: Index, counts: Mapping[_Word, int]) -> int:
    """Return the number of places of the index where a word can begin."""
    size = index.size()
    places = size.tokens if index.unit == "tokens" else size.bytes
    return places or sum(counts.values())


def _sum_over(words: Sequence[_Word], logarithms: Mapping[_Word, float]) -> float | None:
    if not all(word in logarithms for word in words):
        return None
    return math.fsum(logarithms[word] for word in words)
