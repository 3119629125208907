"""The lists of services: real servers, and replies that are no lists."""

import json
import socket
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

import ngramscan
from ngramscan.indexes.catalog import INFINI_GRAM, INFINI_GRAM_MINI, HostedService, IndexRow
from ngramscan.indexes.listing import ListedIndex, compare_with_catalog
from tests.support.command import invoke
from tests.support.places import REPLAY, TOKENS
from tests.support.serve_process import serving_here
from tests.support.service import FORBIDDEN, ApiServer, Reply
from tests.support.token_service import TokenServer

IN_BOTH = "in both"
NEW = "not in the catalog"
UNLISTED = "not listed"
NAMES = [row.service_name for row in INFINI_GRAM.indexes]


def as_list(*entries: object) -> Reply:
    return Reply(200, json.dumps(entries).encode())


@pytest.fixture
def public(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Reply]]:
    """Run the public service on this machine; yield its list, to be replaced."""
    listings: list[Reply] = [as_list(*NAMES)]

    class Public(TokenServer):
        def list(self, path: str) -> Reply:
            return listings[-1] if path == "/" else super().list(path)

    with Public({}) as server:
        service: HostedService = replace(INFINI_GRAM, url=server.url)
        services = (INFINI_GRAM_MINI, service)
        monkeypatch.setattr("ngramscan.indexes.catalog.SERVICES", services)
        monkeypatch.setattr("ngramscan.indexes.listing.SERVICES", services)
        yield listings


def test_a_list_like_the_catalog_has_the_same_names_in_its_order(public: list[Reply]) -> None:
    public.append(as_list(*reversed(NAMES)))
    ran = invoke("index", "list", "--live", "--format", "csv")
    assert (ran.code, [row["name"] for row in ran.rows]) == (0, NAMES[::-1])
    assert {row["status"] for row in ran.rows} == {IN_BOTH}
    assert {row["description"] for row in ran.rows} == {""}
    assert [row["spec"] for row in ran.rows] == [f"infini-gram:{name}" for name in NAMES[::-1]]
    assert ran.stderr == "infini-gram-mini has no list of its indexes to ask for\n"


def test_new_and_absent_indexes_are_marked(public: list[Reply]) -> None:
    entries = [{"index": name, "desc": f"about {name}"} for name in [*NAMES[1:], "v4_new_olmo2"]]
    public.append(as_list(*entries))
    ran = invoke("index", "list", "--live", "--format", "jsonl")
    rows = {row["name"]: row for row in map(json.loads, ran.stdout.splitlines())}
    statuses = dict.fromkeys(NAMES[1:], IN_BOTH) | {"v4_new_olmo2": NEW, NAMES[0]: UNLISTED}
    assert {name: row["status"] for name, row in rows.items()} == statuses
    assert [*rows][-1] == NAMES[0]
    new = rows["v4_new_olmo2"]
    assert (new["description"], new["corpus"]) == ("about v4_new_olmo2", None)
    assert (rows[NAMES[0]]["description"], rows[NAMES[0]]["corpus"]) == (
        None,
        INFINI_GRAM.indexes[0].corpus,
    )
    notice = (
        "1 index not in the catalog of this version; 1 index not listed, which may still answer"
    )
    assert notice in ran.stderr


def test_every_run_asks_again(public: list[Reply]) -> None:
    for name in ("v4_first", "v4_second"):
        public.append(as_list(name))
        rows = ngramscan.index_list(live=True)
        assert rows[rows.status == NEW].name.tolist() == [name]


def test_an_empty_list_lacks_all_of_the_catalog(public: list[Reply]) -> None:
    public.append(as_list())
    rows = ngramscan.index_list(live=True)
    assert rows.name.tolist() == NAMES
    assert {*rows.status} == {UNLISTED}


def test_the_screen_shows_names_and_marks(public: list[Reply]) -> None:
    public.append(as_list({"index": "v4_new", "desc": "Dolma \x1b[31m3"}, NAMES[0]))
    ran = invoke("index", "list", "--live", "--wide")
    (line,) = [line for line in ran.stdout.splitlines() if "v4_new" in line]
    assert NEW in line
    assert "infini-gram:v4_new" in line
    assert "\x1b" not in ran.stdout
    assert ran.stdout.count(UNLISTED) == len(NAMES) - 1


@pytest.mark.parametrize(
    ("reply", "problem"),
    [
        pytest.param(Reply(403, FORBIDDEN, "text/html"), "HTTP 403: an HTML page", id="403"),
        pytest.param(
            Reply(200, b"<html></html>", "text/html"),
            "HTTP 200, but not a list of indexes",
            id="a page",
        ),
        pytest.param(Reply(200, b"[{"), "HTTP 200, but not a list of indexes", id="half JSON"),
        pytest.param(
            Reply(200, b'{"count": 3}'), "HTTP 200, but not a list of indexes", id="other JSON"
        ),
        pytest.param(
            as_list("v4_a", {"desc": "no name"}),
            "HTTP 200, but an entry of its list has no name of an index",
            id="no name",
        ),
        pytest.param(
            as_list("v4_a", 3),
            "HTTP 200, but an entry of its list has no name of an index",
            id="a number",
        ),
        pytest.param(Reply(500, b'{"error": "out of luck"}'), "HTTP 500: out of luck", id="500"),
        pytest.param(Reply(0, None), "connection lost", id="no reply"),
    ],
)
def test_a_reply_that_is_no_list_is_one_line(
    public: list[Reply], reply: Reply, problem: str
) -> None:
    public.append(reply)
    ran = invoke("index", "list", "--live")
    assert (ran.code, ran.stdout) == (1, "")
    assert ran.stderr.startswith("Error: http://127.0.0.1:")
    assert problem in ran.stderr
    assert ran.stderr.count("\n") == 1


def test_a_host_without_a_server_is_one_line() -> None:
    with closing(socket.socket()) as unused:
        unused.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{unused.getsockname()[1]}/"
        ran = invoke("index", "list", "--live", "--api-url", url)
    assert (ran.code, ran.stdout) == (1, "")
    assert ran.stderr.startswith(f"Error: {url}: no connection (")
    assert ran.stderr.count("\n") == 1


def test_a_service_over_bytes_lists_nothing() -> None:
    with ApiServer({}) as server:
        ran = invoke("index", "list", "--live", "--api-url", server.url)
    assert ran == (1, "", f"Error: {server.url}: HTTP 405: an HTML page\n")


def test_another_host_has_specs_with_its_address() -> None:
    folders = {"v4_pileval_llama": (TOKENS / "v4_pysmall_llama_s3", TOKENS / "llamalike.model")}
    with TokenServer(folders) as server:
        rows = ngramscan.index_list(live=True, api_url=server.url)
        listed = rows[rows.status == IN_BOTH]
        assert listed.spec.tolist() == [f"infini-gram:{server.url}v4_pileval_llama"]
        unlisted = rows[rows.status == UNLISTED]
        assert [f"infini-gram:{name}" for name in unlisted.name] == unlisted.spec.tolist()
        assert len(unlisted) == len(NAMES) - 1
        counts = ngramscan.count(literal="step by step", index=listed.spec.tolist())
        assert counts.occurrences.tolist() > [0]


def test_indexes_that_are_served_here_are_listed_with_their_units() -> None:
    folders = (REPLAY / "index" / "replay", TOKENS / "v4_pysmall_llama_s3")
    with serving_here(*folders, tokenizer=TOKENS / "llamalike.model") as url:
        rows = ngramscan.index_list(live=True, api_url=url)
        listed = rows[rows.status != UNLISTED]
        assert dict(zip(listed.name, listed.spec, strict=True)) == {
            "replay": f"{url}replay",
            "v4_pysmall_llama_s3": f"infini-gram:{url}v4_pysmall_llama_s3",
        }
        assert {*listed.status} == {NEW}
        # Both protocols, and so the catalogs of both services.
        catalog: list[IndexRow] = [*INFINI_GRAM_MINI.indexes, *INFINI_GRAM.indexes]
        assert (rows.status == UNLISTED).sum() == len(catalog)
        for spec in listed.spec:
            assert ngramscan.count(literal="the", index=spec).occurrences.iloc[0] > 0


def test_a_name_of_the_catalog_is_found_in_the_unit_of_the_index() -> None:
    of_bytes = compare_with_catalog("http://h/", [ListedIndex("v2_pileval", "", "bytes")])
    of_tokens = compare_with_catalog("http://h/", [ListedIndex("v2_pileval", "", "tokens")])
    assert (of_bytes[0].status, of_tokens[0].status) == (IN_BOTH, NEW)


def test_an_address_needs_live_unless_it_is_for_all_commands(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    ran = invoke("index", "list", "--api-url", "http://localhost:1/")
    assert ran == (2, "", "Error: --api-url http://localhost:1/: requires --live\n")
    monkeypatch.setenv("NGRAMSCAN_API_URL", "http://localhost:1/")
    assert invoke("index", "list", "-o", tmp_path / "rows.csv").code == 0
    assert invoke("index", "list", "--live").code == 1
