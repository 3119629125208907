"""The longest parts of texts in a hosted index over tokens, and what they cost."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from itertools import pairwise

import pytest

from ngramscan.errors import RemoteRefused
from ngramscan.indexes.http.client import ApiClient
from ngramscan.indexes.options import IndexOptions
from ngramscan.indexes.tokens.base import MatchesTokens, TokenMatches
from ngramscan.indexes.tokens.hosted import HostedTokenIndex, open_hosted
from ngramscan.indexes.tokens.hosted_matches import (
    HostedMatcher,
    _LongestEnd,
    _PlacedTokens,
    pieces_of,
)
from ngramscan.indexes.tokens.local import open_tokens
from ngramscan.journal import Journal
from ngramscan.progress import SILENT
from tests.support.fake_clock import FakeClock
from tests.support.places import TOKENS
from tests.support.token_oracle import TokenOracle
from tests.support.token_service import TokenServer

NAME, TOKENIZER = "v4_pysmall_llama_s3", TOKENS / "llamalike.model"
TEXTS = ["see also the file", "", "the file zzqx step by step", "see also the end of the file"]
Opened = Callable[[], tuple[HostedTokenIndex, ApiClient]]


@pytest.fixture(scope="module")
def server() -> Iterator[TokenServer]:
    with TokenServer({NAME: (TOKENS / NAME, TOKENIZER)}) as started:
        yield started


@pytest.fixture
def opened(server: TokenServer) -> Iterator[Opened]:
    """Open indexes with one journal; they are closed at the end of the test."""
    with ExitStack() as stack:
        journal = stack.enter_context(Journal(None))

        def open_index() -> tuple[HostedTokenIndex, ApiClient]:
            made = ApiClient(server.url, IndexOptions(), journal, SILENT, FakeClock())
            client = stack.enter_context(made)
            return open_hosted(NAME, client), client

        yield open_index


def longest_parts(matches: TokenMatches) -> Iterator[tuple[int, int]]:
    """Yield first token of each match that is in no longer one, and the token behind it."""
    ends = [0, *matches.ends]
    for start, (before, end) in enumerate(pairwise(ends)):
        if end > max(before, start):
            yield start, end


def test_matches_and_their_counts_are_those_of_the_files(opened: Opened) -> None:
    index, _ = opened()
    assert isinstance(index, MatchesTokens)
    local = open_tokens([TOKENS / NAME], TOKENIZER, SILENT)
    found = [*index.matches(TEXTS)]
    assert found == [*local.matches(TEXTS)]
    oracle = TokenOracle(TOKENS / NAME)
    ngrams = {
        str(matches.ids[start:end]): matches.ids[start:end]
        for matches in found
        if isinstance(matches, TokenMatches)
        for start, end in longest_parts(matches)
    }
    assert len(ngrams) > 5
    counts = index.count_ngrams(ngrams)
    assert {text: count.occurrences for text, count in counts.items()} == {
        text: oracle.count(ids) for text, ids in ngrams.items()
    }
    assert {(count.query == text, count.documents) for text, count in counts.items()} == {
        (True, None)
    }


@pytest.mark.parametrize(
    ("texts", "requests_at_most", "requests"),
    [
        pytest.param([], 0, 0, id="no text"),
        # 17 bytes of 3.2 per token are 5 tokens, and 18 at most; and a question about the piece.
        pytest.param(["see also the file"], 18 + 1, 5 + 1, id="a text"),
        pytest.param(["see also the file"] * 2, 2 * 18 + 1, 2 * 5 + 1, id="the same text twice"),
        pytest.param(["this AND that"], 13 + 2 + 2, 4 + 2, id="a text of two pieces"),
        pytest.param(["", "é"], 3 + 1, 1 + 1, id="a character of two bytes"),
    ],
)
def test_the_cost_of_texts_whose_tokens_are_not_known(
    opened: Opened, texts: list[str], requests_at_most: int, requests: int
) -> None:
    index, _ = opened()
    cost = index.cost_of_matches(texts)
    assert (cost.requests_at_most, cost.requests) == (requests_at_most, requests)
    assert (cost.seconds, cost.bytes) == (requests, 0)  # one per second


def test_the_cost_of_texts_whose_tokens_are_known_is_exact(opened: Opened) -> None:
    index, _ = opened()
    (found,) = index.matches(TEXTS[:1])
    assert isinstance(found, TokenMatches)
    again, _ = opened()
    costs = [again.cost_of_matches(TEXTS[:1] * times) for times in (1, 2)]
    requests = 1 + len(found.ids)
    assert [(cost.requests_at_most, cost.requests, cost.seconds) for cost in costs] == [
        (requests, requests, requests)
    ] * 2


@pytest.mark.parametrize(
    ("lengths", "is_possible"),
    [
        ([1, 2, 3], True),
        ([1, 1, 2], True),
        ([0, 0, 0], True),
        ([1, 0, 1], True),
        ([1, 1, 3], False),
        ([0, 2, 3], False),
    ],
    ids=str,
)
def test_lengths_of_matches_that_contradict_each_other_are_refused(
    opened: Opened, lengths: list[int], is_possible: bool
) -> None:
    index, client = opened()
    matcher = HostedMatcher("made", client, index._question)
    ends = [_LongestEnd(length, 1, "api", "") for length in lengths]
    found = matcher._joined(_PlacedTokens([5, 6, 7], [(0, 1), (1, 2), (2, 3)]), ends)
    assert isinstance(found, TokenMatches) is is_possible
    if isinstance(found, RemoteRefused):
        assert str(found) == "made: lengths of matches that contradict each other"


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        pytest.param("", [], id="nothing"),
        pytest.param("a", ["a"], id="a word"),
        pytest.param("a b", ["a b"], id="two words"),
        pytest.param("x AND y", ["x", "AND y"], id="AND"),
        pytest.param("x OR", ["x", "OR"], id="OR at the end"),
        pytest.param("x ANDY y", ["x ANDY y"], id="ANDY"),
        pytest.param("a " * 244 + "ab", ["a " * 244 + "ab"], id="490 bytes"),
        pytest.param("a " * 244 + "abc", [("a " * 244).strip(), "abc"], id="491 bytes"),
    ],
)
def test_pieces_of_a_text_have_no_operator_and_490_bytes(text: str, pieces: list[str]) -> None:
    assert pieces_of(text) == pieces
