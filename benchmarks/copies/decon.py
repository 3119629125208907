"""An oracle: decon's published design for finding benchmark entries in training documents.

Source: allenai/decon (Ai2, 2025), doc/simple.md, doc/simple-details.md and config/default.yaml,
https://github.com/allenai/decon. It is written from these descriptions, not from the code:

* n-grams of 5 tokens of the questions are indexed. Every tenth n-gram of a document is looked up;
* where one is found, its neighbours are looked up in both directions, until each entry that has
  the n-gram missed 11 in a row;
* the overlap is the inverse document frequency of the n-grams that were found, over that of all
  n-grams of the question;
* entries of 20 tokens or fewer need an overlap of 1, those of 50 or more one of 0.8, and those
  between as much as a straight line between them says;
* with answers, the overlap of the question weighs 0.75 and the answer near it 0.25; a question with
  fewer than 20 n-grams gives a part of its weight to the answer.

Three choices are ours. Tokens are words in lower case without punctuation, and characters in
scripts without spaces (decon uses cl100k by default). The inverse document frequency of an n-gram
is log(1 + N / df). Lookups begin with frequent n-grams too, which decon leaves out for speed.
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from benchmarks.copies.edits import units_of

NGRAM = 5
SAMPLE_EVERY = 10
MOST_MISSES = 11
THRESHOLD = 0.8
PERFECT_UNTIL, LENIENT_FROM = 20, 50
QUESTION_WEIGHT = 0.75
CONFIDENT_FROM = 20
LEAST_ANSWER_DISTANCE = 120
_UNSPACED = re.compile(r"[\u0e00-\u0e7f\u3040-\u30ff\u3400-\u9fff]")
_PUNCTUATION = re.compile(r"[!’\"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~”“‘،؟。？！，、：；\s]+")

Ngram = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Question:
    """A question and its answer, as tokens."""

    id: str
    ngrams: frozenset[Ngram]
    answer: tuple[str, ...]
    """Empty: answers don't count."""
    tokens: int
    """Tokens of the question and its answer."""


def tokens_of(text: str) -> list[str]:
    """Return the words of a text, or its characters in scripts without spaces."""
    tokens: list[str] = []
    for word in _PUNCTUATION.sub(" ", text.lower()).split():
        tokens += units_of(word) if _UNSPACED.search(word) else [word]
    return tokens


def ngrams_of(tokens: Sequence[str]) -> list[Ngram]:
    """Return the n-grams; a shorter text is one n-gram as a whole."""
    return [tuple(tokens[i : i + NGRAM]) for i in range(max(1, len(tokens) - NGRAM + 1))]


class Reference:
    """The n-grams of a benchmark."""

    def __init__(self, entries: Iterable[tuple[str, str, str]]) -> None:
        """Take ids, questions and answers; an empty answer doesn't count."""
        self.questions: dict[str, Question] = {}
        self._having: defaultdict[Ngram, set[str]] = defaultdict(set)
        for id_, text, answer in entries:
            tokens, answer_tokens = tokens_of(text), tuple(tokens_of(answer))
            question = Question(
                id_, frozenset(ngrams_of(tokens)), answer_tokens, len(tokens) + len(answer_tokens)
            )
            self.questions[id_] = question
            for ngram in question.ngrams:
                self._having[ngram].add(id_)
        self._sums = {
            id_: sum(map(self.weight, question.ngrams)) for id_, question in self.questions.items()
        }

    def weight(self, ngram: Ngram) -> float:
        """Return the inverse document frequency of an n-gram among the questions."""
        return math.log(1 + len(self.questions) / len(self._having[ngram]))

    def scores(self, document: str) -> dict[str, float]:
        """Return the largest score of each question that the document has n-grams of."""
        tokens = tokens_of(document)
        ngrams = ngrams_of(tokens)
        scores: dict[str, float] = {}
        for start, stop, matched in self._clusters(ngrams):
            for id_, found_ngrams in matched.items():
                overlap = sum(map(self.weight, found_ngrams)) / self._sums[id_]
                near = self._answer_is_near(id_, tokens, start, stop)
                score = self._score(self.questions[id_], min(overlap, 1.0), near=near)
                scores[id_] = max(score, scores.get(id_, 0.0))
        return scores

    def _clusters(
        self, ngrams: Sequence[Ngram]
    ) -> Iterator[tuple[int, int, Mapping[str, set[Ngram]]]]:
        """Yield the first and last place of each cluster, and the n-grams found, by question."""
        place = 0
        while place < len(ngrams):
            ids = self._having.get(ngrams[place])
            if not ids:
                place += SAMPLE_EVERY
                continue
            matched = {id_: {ngrams[place]} for id_ in ids}
            start = self._expand(ngrams, place, -1, matched)
            stop = self._expand(ngrams, place, 1, matched)
            yield start, stop, matched
            place = stop + 1

    def _expand(
        self, ngrams: Sequence[Ngram], place: int, step: int, matched: Mapping[str, set[Ngram]]
    ) -> int:
        """Look up neighbours in one direction; return the last place at which one was found."""
        misses: Counter[str] = Counter()
        active, last = set(matched), place
        while active and 0 <= (place := place + step) < len(ngrams):
            hits = active & self._having.get(ngrams[place], set())
            for id_ in hits:
                matched[id_].add(ngrams[place])
                misses[id_] = 0
                last = place
            for id_ in active - hits:
                misses[id_] += 1
            active = {id_ for id_ in active if misses[id_] < MOST_MISSES}
        return last

    def _answer_is_near(self, id_: str, tokens: Sequence[str], start: int, stop: int) -> bool:
        answer = self.questions[id_].answer
        if not answer:
            return False
        distance = max(2 * len(answer), LEAST_ANSWER_DISTANCE)
        around = tokens[max(0, start - distance) : stop + NGRAM + distance]
        size = len(answer)
        return any(tuple(around[i : i + size]) == answer for i in range(len(around) - size + 1))

    def _score(self, question: Question, overlap: float, *, near: bool) -> float:
        if not question.answer:
            return overlap
        confidence = min(1.0, 0.5 + 0.5 * len(question.ngrams) / CONFIDENT_FROM)
        weight = QUESTION_WEIGHT * confidence
        return weight * overlap + (1 - weight) * near


def threshold(tokens: int) -> float:
    """Return the least score of a contaminated entry of some length."""
    if tokens <= PERFECT_UNTIL:
        return 1.0
    share = min(1.0, (tokens - PERFECT_UNTIL) / (LENIENT_FROM - PERFECT_UNTIL))
    return 1 - (1 - THRESHOLD) * share


def contaminated(
    entries: Iterable[tuple[str, str, str]], documents: Iterable[str]
) -> dict[str, float]:
    """Return the score of each entry that is found in some document.

    `entries` are ids, questions and answers; an empty answer doesn't count.
    """
    reference = Reference(entries)
    best: dict[str, float] = {}
    for document in documents:
        for id_, score in reference.scores(document).items():
            least = threshold(reference.questions[id_].tokens)
            if score >= least - 1e-9:
                best[id_] = max(score, best.get(id_, 0.0))
    return best
