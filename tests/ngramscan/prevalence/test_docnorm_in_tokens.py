"""Documents of token n-grams, counted and estimated, against an enumeration of all tokens."""

from io import StringIO
from itertools import product
from typing import Any

import numpy as np
import pytest
from rich.console import Console

from ngramscan.errors import InputError
from ngramscan.indexes.base import Place
from ngramscan.indexes.tokens.base import TokenIndex, TokenOccurrences, TokenWindow, as_text
from ngramscan.patterns.model import Pattern, Query
from ngramscan.prevalence.docnorm import DocnormResult, DocnormRow, refuse_first, run_docnorm
from ngramscan.prevalence.draws import DocnormOptions, Estimator, document_share, draw_places
from ngramscan.reporting.tables import print_docnorm
from tests.support.made_tokens import REACH, Ids, MadeTokens, starts

ESTIMATORS: tuple[Estimator, ...] = ("combined", "size-bias", "first")


def query(text: str, method: str | None = "A") -> Query:
    return Query(text, Pattern(text, method, "T1", "narrative" if method else None))


def norm(index: TokenIndex, *queries: Query | str, **options: Any) -> DocnormResult:
    asked = [query(text) if isinstance(text, str) else text for text in queries]
    return run_docnorm(asked, [index], DocnormOptions(**options))


def documents_total(result: DocnormResult) -> Any:
    (total,) = [
        total
        for total in result.totals
        if (total.statistic, total.method, total.versus) == ("documents", "A", None)
    ]
    return total


def covers(row: DocnormRow, truth: int) -> bool:
    assert row.documents_low is not None
    assert row.documents_high is not None
    return row.documents_low <= truth <= row.documents_high


# Made-up documents: Pareto occurrences, long documents, overlapping and shared n-grams

# "two" has an n-gram of "one", "longer" contains one; "three" overlaps itself.
QUERIES: dict[str, tuple[Ids, ...]] = {
    "one": ((10, 11), (12, 11)),
    "two": ((12, 11), (13, 14)),
    "longer": ((10, 11, 15),),
    "three": ((16, 16),),
    "four": ((17,),),
    "rare": ((18, 19),),
}


def make_documents(n: int, longest: int) -> list[list[int]]:
    random = np.random.default_rng(3)
    grams = [ids for forms in QUERIES.values() for ids in forms]
    documents = []
    for _ in range(n):
        # Several n-grams tend to be in the same documents.
        many = random.pareto(1.1, len(grams)) * random.integers(0, 2, len(grams))
        counts = np.minimum(many * (1 if longest < 5000 else 4), 60).astype(int)
        counts[-1] = random.random() < 0.02
        pieces = [
            list(gram) for gram, k in zip(grams, counts.tolist(), strict=True) for _ in range(k)
        ]
        gap = longest // (len(pieces) + 1)
        filled = [
            [*random.integers(100, 60_000, random.integers(0, gap + 1)), *piece] for piece in pieces
        ]
        order = random.permutation(len(filled)).tolist()
        documents.append([int(token) for number in order for token in filled[number]] or [99])
    return documents


@pytest.fixture(scope="module", params=[400, 20_000], ids=["short", "long"])
def shards(request: pytest.FixtureRequest) -> list[list[list[int]]]:
    documents = make_documents(300 if request.param == 400 else 60, request.param)
    if request.param > 5000:
        assert sum(len(document) > 5_000 for document in documents) > 20
    third = len(documents) // 3
    return [documents[:third], [], documents[third:]]


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_shares_sum_to_one_in_every_document(
    shards: list[list[list[int]]], estimator: Estimator
) -> None:
    """Among all occurrences of n-grams that belong to several queries; bounds lie around 1."""
    index = MadeTokens(shards, QUERIES)
    lookups = [index._found(name) for name in QUERIES]
    known = {lookup.query: lookup for lookup in lookups if isinstance(lookup, TokenOccurrences)}
    owners = {
        **{as_text(ids): "one" for ids in QUERIES["one"]},
        as_text(QUERIES["two"][1]): "two",
        as_text(QUERIES["three"][0]): "three",
    }
    low, high = dict[str, float](), dict[str, float]()
    for name in ("one", "two", "longer", "three"):
        places = [
            Place(name, segment.shard, rank)
            for segment in known[name].found.segments
            for rank in range(segment.low, segment.high)
        ]
        for window in index.examine(places, {name: known[name].forms}):
            assert isinstance(window, TokenWindow)
            share = document_share(window, owners, REACH, estimator)
            low[window.document] = low.get(window.document, 0) + share.lowest
            high[window.document] = high.get(window.document, 0) + share.highest
    documents = {
        f"{shard}/{number}": len(text)
        for shard, texts in enumerate(index.texts)
        for number, text in enumerate(texts)
        if starts([*owners], text)
    }
    assert {name for name, total in high.items() if total} == documents.keys()
    short = {name for name, length in documents.items() if length <= 5000}
    ones = dict.fromkeys(short, pytest.approx(1))
    assert {name: low[name] for name in short} == ones
    assert {name: high[name] for name in short} == ones
    long = documents.keys() - short
    assert {name: low[name] for name in long if low[name] > 1 + 1e-9} == {}
    assert {name: high[name] for name in long if high[name] < 1 - 1e-9} == {}


# What rows and totals say


def pieces(*counts: int) -> list[list[int]]:
    return [[17, 99] * count or [99] for count in counts]


def test_documents_of_all_occurrences_are_asked_for_without_their_tokens() -> None:
    index = MadeTokens([pieces(3, 1, 20)], QUERIES)
    (row,) = norm(index, "four", draws=24).rows
    assert (row.documents, row.draws, row.unique_documents) == (3, 24, 3)
    assert row.occurrences_per_document == 8
    assert index.looked_at == [24, 0]
    assert row.note == "token n-grams: a lower bound of the string's occurrences"


def test_documents_and_totals_say_their_unit() -> None:
    index = MadeTokens([pieces(3, 1, 20)], QUERIES)
    result = norm(index, "four", query("rare", "B"))
    assert [row.unit for row in result.rows] == ["tokens", "tokens"]
    statistics = {(total.unit, total.statistic) for total in result.totals}
    assert statistics == {
        ("tokens", "documents"),
        ("tokens", "documents_per_million"),
        ("tokens", "ratio_of_documents"),
    }


def test_drawn_occurrences_are_examined_once() -> None:
    index = MadeTokens([pieces(*[1] * 40, *[20] * 20)], QUERIES)
    (row,) = norm(index, "four", draws=100).rows
    assert (row.draws, row.estimator, row.truncated_share) == (100, "combined", 0)
    assert index.looked_at == [0, 100]
    assert covers(row, 60)
    service = MadeTokens([pieces(*[1] * 40, *[20] * 20)], QUERIES, is_service=True)
    (row,) = norm(service, "four", draws=100).rows
    assert (row.estimator, row.truncated_share) == ("size-bias", None)
    assert covers(row, 60)


def test_a_row_of_drawn_tokens_has_the_mean_of_their_shares() -> None:
    counts = [0, 1, 2, 3, 4] * 25
    index = MadeTokens([pieces(*counts)], QUERIES)
    (row,) = norm(index, "four", draws=60, estimator="size-bias").rows
    (found,) = index.lookups(["four"])
    assert isinstance(found, TokenOccurrences)
    places = draw_places(found, 60, 1, index.name, with_replacement=False)
    shares = [1 / counts[index._ranks[0][place.rank][0]] for place in places]
    documents, low, high = row.documents, row.documents_low, row.documents_high
    assert (row.occurrences, row.level, row.seed) == (250, 0.95, 1)
    assert documents == round(250 * float(np.mean(shares)))
    assert low is not None
    assert high is not None
    assert low < 100 <= high
    assert row.documents_lower_estimate == row.documents_upper_estimate == documents
    of_finite_population = np.sqrt(1 - 60 / 250)
    expected = 250 * np.std(shares, ddof=1) / np.sqrt(60) * of_finite_population
    assert row.standard_error == pytest.approx(expected)
    assert row.occurrences_per_document == pytest.approx(1 / np.mean(shares))
    assert row.occurrences_per_document_low == pytest.approx(250 / high)
    assert row.occurrences_per_document_high == pytest.approx(250 / low)
    assert row.documents_per_million == pytest.approx(documents / 125 * 1e6)
    assert row.documents_per_million_low == pytest.approx(low / 125 * 1e6)
    assert row.documents_per_million_high == pytest.approx(high / 125 * 1e6)


def test_long_documents_of_tokens_have_two_estimates() -> None:
    long = [17, 17, *[99] * (2 * REACH)]
    index = MadeTokens([[long] * 30 + [[17]] * 30], QUERIES)
    (row,) = norm(index, "four", draws=40, estimator="size-bias").rows
    (found,) = index.lookups(["four"])
    assert isinstance(found, TokenOccurrences)
    places = draw_places(found, 40, 1, index.name, with_replacement=False)
    documents = [index._ranks[0][place.rank][0] for place in places]
    assert row.documents is None
    assert row.unique_documents == row.documents_lower_estimate == len(set(documents))
    shares = [0.5 if number < 30 else 1.0 for number in documents]
    assert row.documents_upper_estimate == round(90 * np.mean(shares))
    assert row.truncated_share == np.mean([number < 30 for number in documents])
    assert row.documents_per_million is None


def test_a_service_gives_a_union_that_needs_the_places_of_one_pattern() -> None:
    index = MadeTokens([pieces(*[2] * 60), [[18, 19], [18, 19, 17]]], QUERIES, is_service=True)
    result = norm(index, "four", "rare", draws=50)
    total = documents_total(result)
    assert total.low <= 62 <= total.high
    texts = [[12, 11, 16, 16, 13, 14]] * 60
    result = norm(MadeTokens([texts], QUERIES, is_service=True), "two", "three", draws=50)
    total = documents_total(result)
    assert total.value is None
    assert total.note == "the index doesn't show where patterns are in a document"


@pytest.mark.parametrize("width", [80, 200])
def test_a_table_says_what_was_drawn_and_that_it_is_a_lower_bound(width: int) -> None:
    index = MadeTokens([pieces(*[1] * 40, *[20] * 20), [[18, 19]]], QUERIES)
    result = norm(index, "four", query("rare", "B"), draws=100)
    console = Console(width=width, record=True, file=StringIO())
    print_docnorm(result, console)
    shown = console.export_text()
    words = " ".join(shown.split())
    assert words.startswith("tokens:made · 61 documents · ")
    assert words.count("token n-grams: a lower bound of the string's occurrences") == 1
    assert "drawn with seed 1" in words
    assert f"{result.rows[0].documents} [" in words
    assert "never to be added" not in words
    assert all(len(line) <= width for line in shown.splitlines())


def test_a_rank_that_holds_another_n_gram_is_no_draw() -> None:
    index = MadeTokens([pieces(*[1] * 30)], QUERIES)
    index._found("four")
    index._ranks[0][:] = [(number, 1) for number, _ in index._ranks[0]]
    (failure,) = norm(index, "four", draws=10).missing
    assert "no occurrence of 'four'" in str(failure.error)


def test_the_first_occurrence_is_not_known_to_a_service() -> None:
    index, local = MadeTokens([[]], QUERIES, is_service=True), MadeTokens([[]], QUERIES)
    with pytest.raises(InputError, match="--estimator first: infini-gram:made doesn't show"):
        refuse_first([local, index], DocnormOptions(estimator="first"))
    for kept, estimator in product([local], ESTIMATORS):
        refuse_first([kept], DocnormOptions(estimator=estimator))
