"""The hosted token-level service end to end: the command against a server with faults."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import httpx
import pytest

from ngramscan.errors import RemoteRefused
from ngramscan.index_files.tokens.tokenizers import Tokenizer, load_tokenizer
from ngramscan.indexes.base import IndexSize, Place, QueryFailure, WindowFailure
from ngramscan.indexes.http.client import ApiClient
from ngramscan.indexes.options import IndexOptions
from ngramscan.indexes.tokens import replies
from ngramscan.indexes.tokens.base import MarkedWindow, TokenOccurrences
from ngramscan.indexes.tokens.hosted import HostedTokenIndex, open_hosted
from ngramscan.indexes.tokens.replies import (
    TokenDocument,
    positions_of,
    read_after_newline,
    read_segments,
    read_token_reply,
)
from ngramscan.journal import Journal
from ngramscan.prevalence.plan import make_plan
from ngramscan.progress import Progress
from ngramscan.remote.exchange import TransientError
from tests.support.cases import case_table
from tests.support.command import Ran
from tests.support.command import invoke as run
from tests.support.fake_clock import FakeClock
from tests.support.places import TOKENS
from tests.support.sizes import slow
from tests.support.token_oracle import TokenOracle
from tests.support.token_service import TokenServer

LLAMA, OLMO = "v4_pysmall_llama_s3", "v4_pysmall_olmo2"
FILES = {LLAMA: "llamalike.model", OLMO: "allenai_dolma2.json.gz"}
PHRASES = ("step by step", "Return", "the file", "see also", "vermilion", "ha ha", "of the", "as")
Opened = Callable[..., HostedTokenIndex]
ABSENT = "no such phrase anywhere zzz"


def serve(*names: str, **options: Any) -> TokenServer:
    return TokenServer({name: (TOKENS / name, TOKENS / FILES[name]) for name in names}, **options)


@pytest.fixture(scope="module")
def tokenizers() -> dict[str, Tokenizer]:
    return {name: load_tokenizer(TOKENS / file) for name, file in FILES.items()}


@pytest.fixture(scope="module")
def oracles() -> dict[str, TokenOracle]:
    return {name: TokenOracle(TOKENS / name) for name in FILES}


@pytest.fixture(scope="module")
def server() -> Iterator[TokenServer]:
    with serve(*FILES) as started:
        yield started


def count(url: str, journal: Path, *more: str | Path, names: tuple[str, ...] = (LLAMA,)) -> Ran:
    indexes = [part for name in names for part in ("--index", f"infini-gram:{url}{name}")]
    asked = [part for text in (*PHRASES, ABSENT) for part in ("-e", text)]
    return run("count", *asked, *indexes, "--journal", journal, "--format", "csv", *more)


@pytest.fixture
def opened() -> Iterator[Opened]:
    """Open indexes; their clients and journals are closed at the end of the test."""
    with ExitStack() as stack:

        def open_one(
            server: TokenServer, journal: Path | None = None, name: str = LLAMA, **options: Any
        ) -> HostedTokenIndex:
            kept, given = stack.enter_context(Journal(journal)), IndexOptions(**options)
            client = ApiClient(server.url, given, kept, Progress(), FakeClock())
            return open_hosted(name, stack.enter_context(client))

        yield open_one


def test_a_service_takes_three_requests_per_text_and_two_per_window(opened: Opened) -> None:
    with serve(*FILES) as server:
        index = opened(server)
        (plan,) = make_plan(2, ["a", "b"], 60, 100, [index])
        assert not server.read_log()
    assert (plan.requests, plan.requests_at_most, plan.duration) == (126, 126, "0:02:06")


# Sizes, names


def test_the_size_of_an_index_outside_the_catalog_is_asked_for(
    server: TokenServer, oracles: dict[str, TokenOracle], opened: Opened
) -> None:
    size = opened(server).size()
    tokens = sum(map(len, oracles[LLAMA].shards))
    assert (size.documents, size.tokens) == (676, tokens - 676)
    # There 65535 is a word: nobody knows.
    assert opened(server, name=OLMO).size() == IndexSize()


def test_names_lead_to_the_catalog_only_at_the_public_service() -> None:
    with (
        Journal(None) as journal,
        ApiClient("https://api.infini-gram.io/", IndexOptions(), journal, Progress()) as client,
    ):
        known, unknown = open_hosted("dclm", client), open_hosted("v4_new", client)
    assert known.name == "infini-gram:v4_dclm-baseline_llama"
    assert known.size().documents == 2948096911
    assert unknown.name == "infini-gram:v4_new"


def test_another_index_under_the_same_name_gives_its_own_counts(tmp_path: Path) -> None:
    with serve(*FILES) as server:
        server.rename(LLAMA, "corpus")
        before = count(server.url, tmp_path / "kept.db", names=("corpus",))
        again = count(server.url, tmp_path / "kept.db", names=("corpus",))
        server.rename(OLMO, "corpus")
        after = count(server.url, tmp_path / "kept.db", names=("corpus",))
        fresh = count(server.url, tmp_path / "new.db", names=("corpus",))
    kept_rows, new_rows, fresh_rows = (each.rows for each in (again, after, fresh))
    assert {row["source"] for row in kept_rows} == {"journal"}
    assert {row["source"] for row in new_rows} == {"api"}
    name = "token_occurrences"
    assert [row[name] for row in new_rows] == [row[name] for row in fresh_rows]
    assert [row[name] for row in new_rows] != [row[name] for row in before.rows]


def test_an_unknown_index_is_one_line_with_a_near_name(tmp_path: Path, server: TokenServer) -> None:
    ran = count(server.url, tmp_path / "j.sqlite", names=("v4_pile",))
    assert ran.code == 1
    assert ran.stderr.count("Invalid index: v4_pile") == 1
    assert not ran.rows


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("this AND that", "'AND' between spaces is an operator"),
        ("this OR that", "'OR' between spaces is an operator"),
        pytest.param("x" * 1001, "limit your input to <= 1000 characters", id="too long"),
    ],
)
def test_texts_that_the_service_refuses_fail_alone(
    server: TokenServer, text: str, problem: str, opened: Opened
) -> None:
    found = {one.query: one for one in opened(server).lookups([text, "the file"])}
    failed = found[text]
    assert isinstance(failed, QueryFailure)
    assert problem in str(failed.error)
    assert isinstance(found["the file"], TokenOccurrences)
    assert len([one for one in server.read_log() if one.get("query") == text]) <= 1


# Documents


@pytest.mark.parametrize("every", [12, slow(5)])
def test_marked_occurrences_bound_those_of_the_document(
    server: TokenServer,
    tokenizers: dict[str, Tokenizer],
    oracles: dict[str, TokenOracle],
    opened: Opened,
    every: int,
) -> None:
    index, oracle = opened(server), oracles[LLAMA]
    texts = ["vermilion", "step by step", "ha ha", "zyxmarker", "of"]
    found = [one for one in index.lookups(texts) if isinstance(one, TokenOccurrences)]
    by_query = {one.query: one.forms for one in found}
    exact, bounded = 0, 0
    for one in found:
        places = [
            place
            for form in one.forms
            for part in form.segments
            for place in range_places(one.query, part.shard, part.low, part.high)
        ][::every]
        held = oracle.documents_with(*(form.ids for form in one.forms))
        for window in index.examine(places, by_query):
            assert isinstance(window, MarkedWindow)
            assert window.least <= held[int(window.document)] <= window.most
            exact += window.least == window.most
            bounded += window.least < window.most
        documents = {
            window.document
            for window in index.examine(places, {})
            if not isinstance(window, WindowFailure)
        }
        assert {*map(int, documents)} <= {*held}
    assert exact > 50
    assert bounded > 5


def range_places(query: str, shard: int, low: int, high: int) -> Iterator[Place]:
    return (Place(query, shard, rank) for rank in range(low, high))


# Replies that lie


@pytest.mark.parametrize(*case_table(Path(__file__).with_suffix(".wrong_token_replies.jsonl")))
def test_a_reply_that_can_not_be_true_is_refused(read: str, reply: dict[str, Any]) -> None:
    more = {"most_shown": 16} if read == "read_document" else {}
    with pytest.raises(RemoteRefused):
        getattr(replies, read)(reply, **more)


@pytest.mark.parametrize(
    "reply",
    [
        {"cnt": 3, "segment_by_shard": [[0, 2]]},
        {"cnt": 2, "segment_by_shard": [[2, 0]]},
        {"cnt": 2, "segment_by_shard": [[0, 2]], "approx": True},
        {"cnt": 20, "segment_by_shard": [[0, 20]]},
        {"count": 2},
    ],
    ids=ascii,
)
def test_segments_that_can_not_be_true_are_refused(reply: dict[str, Any]) -> None:
    with pytest.raises(RemoteRefused):
        read_segments(reply, 10)


@pytest.mark.parametrize(
    ("ids", "pieces", "rest"),
    [
        ([13, 5, 6], ["<0x0A>", "st", "ep"], [5, 6]),
        ([220, 198, 7], ["Ġ", "Ċ", "x"], [7]),
        ([198, 7], ["ĠĊ", "x"], [7]),
        ([198, 7], ["Ċx", "y"], []),
        ([271, 7], ["ĠĊĊ", "x"], []),
        ([13, 13, 7], ["<0x0A>", "<0x0A>", "x"], [13, 7]),
        ([5, 198, 7], ["a", "Ċ", "x"], []),
        ([10, 65], ["\n", "A"], [65]),
        ([5], ["x"], []),
    ],
    ids=ascii,
)
def test_the_tokens_after_a_newline(ids: list[int], pieces: list[str], rest: list[int]) -> None:
    assert read_after_newline({"token_ids": ids, "tokens": pieces}) == tuple(rest)


@pytest.mark.parametrize(
    ("lies", "problem"),
    [
        ({"find": {"cnt": 1}}, "segments that do not sum to their count"),
        ({"count": {"token_ids": None}}, "no tokens of the query"),
        ({"find": {"token_ids": [272], "tokens": ["▁the"]}}, "tokens of another text"),
        ({"find": {"token_ids": [1, 2]}}, "a reply about other tokens"),
        ({"count": {"tokens": []}}, "no names of tokens"),
    ],
    ids=ascii,
)
def test_a_service_that_lies_gives_no_count(
    lies: dict[str, Any], problem: str, opened: Opened
) -> None:
    with serve(LLAMA, lies=lies) as server:
        (one,) = opened(server).counts(["the file"])
    assert isinstance(one, QueryFailure)
    assert problem in str(one.error)


@pytest.mark.parametrize(
    ("lies", "problem"),
    [
        ({"spans": [["nothing of it", None]]}, "does not show"),
        ({"doc_len": 1}, "contradicting lengths"),
        ({"token_ids": [5]}, "a reply about other tokens"),
        ({"spans": 5}, "no document in the reply"),
    ],
    ids=ascii,
)
def test_a_document_that_lies_is_a_failure(
    lies: dict[str, Any], problem: str, opened: Opened
) -> None:
    with serve(LLAMA, lies={"get_doc_by_rank": lies}) as server:
        index = opened(server)
        (found,) = index.lookups(["vermilion"])
        assert isinstance(found, TokenOccurrences)
        part = found.forms[0].segments[0]
        places = [*range_places("vermilion", part.shard, part.low, part.low + 1)]
        (marked,) = index.examine(places, {"vermilion": found.forms})
        (window,) = index.windows(places, 50)
        (nowhere,) = index.examine(
            [places[0].__class__("vermilion", 0, 1)], {"vermilion": [*found.forms]}
        )
    assert isinstance(marked, WindowFailure)
    assert problem in str(marked.error)
    assert isinstance(window, WindowFailure)
    assert isinstance(nowhere, WindowFailure)


@pytest.mark.parametrize(
    ("status", "error", "passes"),
    [
        (200, "Some item(s) in your query_ids are out-of-range!", False),
        (200, "maxnum must be an integer in [1, 10]!", False),
        (200, "Web request timed out. Please try again later.", True),
        (200, "engine busy", True),
        (500, "[Flask] Internal server error: x", True),
        (400, "[Flask] Missing required field: 'index'", False),
    ],
)
def test_errors_pass_or_stay(status: int, error: str, passes: bool) -> None:
    request = httpx.Request("POST", "http://x/")
    response = httpx.Response(status, json={"error": error}, request=request)
    with pytest.raises(TransientError if passes else RemoteRefused):
        read_token_reply(response)


def test_the_match_is_found_in_the_text_though_spans_lose_spaces() -> None:
    spans = [("see the", False), ("step by step", True), ("and", False), ("step by step", True)]
    document = TokenDocument(0, 9, 9, 2, spans, "")
    text = "see the step by step and step by step."
    assert positions_of(document, text, "step by step") == [8, 25]
    assert positions_of(document, "other", "step by step") == []
