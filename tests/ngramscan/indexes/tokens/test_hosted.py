"""The hosted token-level service end to end: the command against a server with faults."""

import json
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ngramscan.index_files.tokens.tokenizers import Tokenizer, load_tokenizer
from ngramscan.indexes.base import IndexSize, Place, QueryCount, QueryFailure, WindowFailure
from ngramscan.indexes.http.client import ApiClient
from ngramscan.indexes.http.identity import PROBES
from ngramscan.indexes.options import IndexOptions
from ngramscan.indexes.tokens.base import Form, MarkedWindow, TokenOccurrences
from ngramscan.indexes.tokens.hosted import HostedTokenIndex, _most, open_hosted
from ngramscan.indexes.tokens.replies import TokenDocument
from ngramscan.journal import Journal
from ngramscan.prevalence.plan import make_plan
from ngramscan.progress import Progress
from tests.support.command import Ran
from tests.support.command import invoke as run
from tests.support.fake_clock import FakeClock
from tests.support.places import TOKENS
from tests.support.service import FAULT_KINDS, Faults
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
            kept = stack.enter_context(Journal(journal))
            client = ApiClient(server.url, IndexOptions(**options), kept, Progress(), FakeClock())
            return open_hosted(name, stack.enter_context(client))

        yield open_one


def test_a_service_takes_three_requests_per_text_and_two_per_window(opened: Opened) -> None:
    with serve(*FILES) as server:
        index = opened(server)
        (plan,) = make_plan(2, ["a", "b"], 60, 100, [index])
        assert not server.read_log()
        (at_rate,) = make_plan(2, ["a", "b"], 60, 100, [opened(server, rate=2.0)])
    assert (plan.requests, plan.requests_at_most, plan.duration) == (126, 126, "0:02:06")
    assert (at_rate.requests, at_rate.duration) == (126, "0:01:03")


def n_grams(name: str, text: str, tokenizers: dict[str, Tokenizer]) -> list[tuple[int, ...]]:
    """Return the n-grams of a text: after a space, and at the beginning of a line."""
    both = tokenizers[name].after_space(text), tokenizers[name].after_newline(text)
    return list(dict.fromkeys(tuple(ids) for ids in both if ids))


def test_every_count_is_exact_though_a_part_of_the_answers_are_faults(
    tmp_path: Path, tokenizers: dict[str, Tokenizer], oracles: dict[str, TokenOracle]
) -> None:
    kinds = (*FAULT_KINDS, "cut")
    faults = Faults(seed=3, rate=0.3, kinds=kinds, burst403_at=30, stall_s=0.1)
    with serve(*FILES, faults=faults) as server:
        ran = count(server.url, tmp_path / "j.sqlite", "--concurrency", "16", names=tuple(FILES))
        met = {entry["fault"] for entry in server.read_log()}
    assert ran.code == 0, ran.stderr
    assert "paused 1 s: the server answers HTTP 403" in ran.stderr
    # Which ones depends on the order of the requests.
    assert len(met) >= len({*kinds, "burst403", None}) - 1
    counts = {
        (name, text): [oracles[name].count(gram) for gram in n_grams(name, text, tokenizers)]
        for name in FILES
        for text in (*PHRASES, ABSENT)
    }
    rows = {(row["index"].rpartition("/")[2], row["query"]): row for row in ran.rows}
    assert len(rows) == len(ran.rows)
    assert {key: int(row["occurrences"]) for key, row in rows.items()} == {
        key: sum(of_grams) for key, of_grams in counts.items()
    }
    assert {key: int(row["occurrences_after_space"]) for key, row in rows.items()} == {
        key: of_grams[0] for key, of_grams in counts.items()
    }


def test_no_question_has_an_operator_or_is_asked_twice(tmp_path: Path) -> None:
    journal = tmp_path / "j.sqlite"
    with serve(*FILES) as server:
        first = count(server.url, journal, "--timeout", "120")
        log = server.read_log()
        second = count(server.url, journal, "--timeout", "120")
        more = server.read_log()[len(log) :]
    assert first.code == 0
    questions = [json.dumps({**entry, "arrived_at": 0}, sort_keys=True) for entry in log]
    assert sorted(questions) == sorted({*questions})
    assert not [entry for entry in questions if " AND " in entry or " OR " in entry]
    assert [entry for entry in more if entry.get("query") not in PROBES] == []
    assert {row["source"] for row in second.rows} == {"journal"}
    counts = [row["occurrences"] for row in first.rows]
    assert [row["occurrences"] for row in second.rows] == counts


def test_a_host_that_goes_on_refusing_is_given_up(tmp_path: Path, opened: Opened) -> None:
    with serve(LLAMA, faults=Faults(forbid_after=10)) as server:
        index = opened(server, tmp_path / "j.sqlite")
        failures = [found for found in index.lookups(PHRASES) if isinstance(found, QueryFailure)]
        assert failures
        assert "HTTP 403: an HTML page, " in str(failures[0].error)
        assert len(server.read_log()) < 30


# Sizes, names


def test_the_size_of_an_index_outside_the_catalog_is_asked_for(
    server: TokenServer, oracles: dict[str, TokenOracle], opened: Opened
) -> None:
    size = opened(server).size()
    tokens = sum(map(len, oracles[LLAMA].shards))
    assert (size.documents, size.tokens) == (676, tokens - 676)
    # In that index 65535 may be a word, so that nothing can be said.
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
    kept_rows, new_rows, fresh_rows = again.rows, after.rows, fresh.rows
    assert {row["source"] for row in kept_rows} == {"journal"}
    assert {row["source"] for row in new_rows} == {"api"}
    name = "occurrences"
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
    found = {lookup.query: lookup for lookup in opened(server).lookups([text, "the file"])}
    failed = found[text]
    assert isinstance(failed, QueryFailure)
    assert problem in str(failed.error)
    assert isinstance(found["the file"], TokenOccurrences)
    assert len([entry for entry in server.read_log() if entry.get("query") == text]) <= 1


@pytest.mark.parametrize("latest", ["the file", "\\nthe file"], ids=["of a text", "of a line"])
def test_a_count_is_as_new_as_the_latest_of_its_answers(
    server: TokenServer, opened: Opened, tmp_path: Path, latest: str
) -> None:
    file = tmp_path / "j.sqlite"
    (asked,) = opened(server, file).counts(["the file"])
    with closing(sqlite3.connect(file)) as connection:
        connection.execute("UPDATE replies SET asked_at = '2020-01-01T00:00:00Z'")
        update = "UPDATE replies SET asked_at = '2021-01-01T00:00:00Z' WHERE request LIKE ?"
        updated = connection.execute(update, [f'%"query": "{latest}"%'])
        assert updated.rowcount == 1
        connection.commit()
    (kept,) = opened(server, file).counts(["the file"])
    assert isinstance(asked, QueryCount)
    assert isinstance(kept, QueryCount)
    assert (kept.source, kept.asked_at) == ("journal", "2021-01-01T00:00:00Z")
    assert replace(kept, source="api", asked_at=asked.asked_at) == asked


# Documents


@pytest.mark.parametrize(
    ("ids", "shown", "length", "offset", "marked", "most"),
    [
        pytest.param((7,), 9, 9, 2, 2, 2, id="a document that is shown whole"),
        pytest.param((7, 7, 7), 9, 9, 2, 2, 6, id="two more may begin inside of each"),
        pytest.param((7, 8, 7), 9, 9, 2, 1, 2, id="one more may begin inside of it"),
        pytest.param((7, 8, 9), 9, 9, 2, 1, 1, id="none may begin inside of it"),
        # Of ten hidden tokens behind those shown, each can begin an occurrence.
        pytest.param((7,), 9, 19, 2, 1, 11, id="tokens behind are hidden"),
        # At every second of the ten, the first of which ends what is shown.
        pytest.param((7, 8), 9, 19, 2, 1, 6, id="tokens behind are hidden, of two each"),
        pytest.param((7, 8), 9, 19, 4_999, 1, 6, id="a token before the middle"),
        pytest.param((7, 8), 9, 19, 5_000, 1, 7, id="tokens on both sides are hidden"),
    ],
)
def test_the_most_occurrences_of_a_document_by_hand(
    ids: tuple[int, ...], shown: int, length: int, offset: int, marked: int, most: int
) -> None:
    seen = TokenDocument(0, length, shown, offset, [], "")
    assert _most(Form(ids, ()), seen, marked) == most


@pytest.mark.parametrize(
    ("context", "shown"),
    [
        # Twice: a token per three bytes, those of the query, and eight more.
        pytest.param(30, 2 * (10 + 1 + 8), id="30 bytes"),
        pytest.param(10_000, 2 * (3333 + 1 + 8), id="10,000 bytes"),
        pytest.param(30_000, 10_000, id="more than the service shows"),
    ],
)
def test_so_many_tokens_are_asked_for_that_they_have_the_context(
    opened: Opened, context: int, shown: int
) -> None:
    with serve(OLMO) as server:
        index = opened(server, name=OLMO)
        (found,) = index.lookups(["the"])
        assert isinstance(found, TokenOccurrences)
        assert [len(form.ids) for form in found.forms] == [1, 1]
        part = found.forms[0].segments[0]
        (window,) = index.windows([Place("the", part.shard, part.low)], context)
        asked = [entry for entry in server.read_log() if entry["query_type"] == "get_doc_by_rank"]
    assert not isinstance(window, WindowFailure), window
    assert [entry["max_disp_len"] for entry in asked] == [shown, shown]


@pytest.mark.parametrize("every", [12, slow(5)])
def test_marked_occurrences_bound_those_of_the_document(
    server: TokenServer,
    tokenizers: dict[str, Tokenizer],
    oracles: dict[str, TokenOracle],
    opened: Opened,
    every: int,
    subtests: pytest.Subtests,
) -> None:
    index, oracle = opened(server), oracles[LLAMA]
    texts = ["vermilion", "step by step", "ha ha", "zyxmarker", "of"]
    lookups = [lookup for lookup in index.lookups(texts) if isinstance(lookup, TokenOccurrences)]
    forms_of = {lookup.query: lookup.forms for lookup in lookups}
    exact, bounded = 0, 0
    for query, forms in forms_of.items():
        places = [
            place
            for form in forms
            for part in form.segments
            for place in range_places(query, part.shard, part.low, part.high)
        ][::every]
        held = oracle.documents_with(*(form.ids for form in forms))
        with subtests.test(query=query):
            for window in index.examine(places, forms_of):
                assert isinstance(window, MarkedWindow)
                assert window.least <= held[int(window.document)] <= window.most
                exact += window.least == window.most
                bounded += window.least < window.most
        with subtests.test("documents", query=query):
            documents = {
                int(window.document)
                for window in index.examine(places, {})
                if not isinstance(window, WindowFailure)
            }
            assert documents <= {*held}
    assert exact > 50
    assert bounded > 5


def range_places(query: str, shard: int, low: int, high: int) -> Iterator[Place]:
    return (Place(query, shard, rank) for rank in range(low, high))


@pytest.mark.parametrize("context", [10, 200])
@pytest.mark.parametrize(
    ("name", "queries"),
    [
        pytest.param(LLAMA, ["Return the", "vermilion", "café"], id="llama"),
        pytest.param(OLMO, ["the file"], id="olmo"),
    ],
)
def test_windows_show_the_text_of_the_documents(
    name: str, queries: list[str], context: int, server: TokenServer, opened: Opened
) -> None:
    lines = (TOKENS / "corpus_small.jsonl").read_text("utf-8").splitlines()
    texts = [json.loads(line)["text"] for line in lines]
    index = opened(server, name=name)
    places = [
        place
        for found in index.lookups(queries)
        if isinstance(found, TokenOccurrences)
        for segment in found.found.segments
        for place in range_places(found.query, segment.shard, segment.low, segment.high)
    ][:60]
    assert len(places) > 10
    for window in index.windows(places, context):
        assert not isinstance(window, WindowFailure), window
        document, shown = texts[json.loads(window.metadata)["linenum"]], window.text.decode()
        assert shown in document
        assert window.text[window.offset :].startswith(window.place.query.encode())
        assert not window.starts_document or document.startswith(shown)
        assert window.document_bytes >= len(window.text)


# Replies that lie


@pytest.mark.parametrize(
    ("lies", "problem"),
    [
        ({"find": {"cnt": 1}}, "segments that do not sum to their count"),
        ({"count": {"token_ids": None}}, "no tokens of the query"),
        ({"find": {"token_ids": [272], "tokens": ["▁the"]}}, "tokens of another text"),
        ({"find": {"token_ids": [1, 2]}}, "a reply about other tokens"),
        ({"count": {"tokens": []}}, "no names of tokens"),
        (
            {"count": {"token_ids": [13, 272], "tokens": ["<0x0A>", "▁the"]}},
            "tokens of another text",
        ),
    ],
    ids=ascii,
)
def test_a_service_that_lies_gives_no_count(
    lies: dict[str, Any], problem: str, opened: Opened
) -> None:
    with serve(LLAMA, lies=lies) as server:
        (count,) = opened(server).counts(["the file"])
    assert isinstance(count, QueryFailure)
    assert problem in str(count.error)


def test_single_tokens_have_their_counts(
    server: TokenServer, opened: Opened, oracles: dict[str, TokenOracle]
) -> None:
    ids = [415, 2936, 272, 13]
    counts = opened(server).count_tokens(ids)
    assert counts == {token: oracles[LLAMA].count([token]) for token in ids}
    assert all(counts.values())


@pytest.mark.parametrize(
    ("lies", "problem"),
    [
        ({"token_ids": [5]}, "a reply about other tokens"),
        ({"approx": True}, "no exact count"),
        ({"count": "many"}, "no exact count"),
    ],
    ids=ascii,
)
def test_a_token_that_a_service_lies_about_has_no_count(
    lies: dict[str, Any], problem: str, opened: Opened
) -> None:
    with serve(LLAMA, lies={"count": lies}) as server:
        counts = opened(server).count_tokens([415, 272])
    assert {*counts} == {415, 272}
    assert all(problem in str(error) for error in counts.values())


@pytest.mark.parametrize(
    ("lies", "problem"),
    [
        ({"spans": [["nothing of it", None]]}, "does not show"),
        ({"doc_len": 1}, "contradictory lengths"),
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
