"""The search page shows what count, docnorm and contexts find, and nothing that a text brings."""

import asyncio
import json
import re
import shutil
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from starlette.types import Message, Scope

import ngramscan
from ngramscan.index_files.fm9.reader import open_shards
from ngramscan.index_files.tokens.shard import open_token_folder
from ngramscan.index_files.tokens.tokenizers import load_tokenizer
from ngramscan.progress import Progress, visible
from ngramscan.serve import app, page, search
from ngramscan.serve.clients import ClientLeftError, Clients, StoppableProgress
from ngramscan.serve.protocol import ServedIndex, answer
from ngramscan.serve.token_protocol import ServedTokens
from ngramscan.stopping import working_on
from tests.support.command import invoke
from tests.support.search_pages import (
    BROWSER,
    TOKEN_INDEX,
    TOKENIZER,
    Reader,
    get,
    look,
    numbers_of,
    service_of,
    spec,
    visit,
)
from tests.support.serve_process import INDEXES, PATIENCE_S, serving_here
from tests.support.sizes import slow


@pytest.fixture(scope="module")
def served() -> Iterator[str]:
    with serving_here(*INDEXES, TOKEN_INDEX, tokenizer=TOKENIZER) as url:
        yield url


# --- the same numbers as the commands -----------------------------------------------------------


def run_line(line: str) -> Any:
    """Run a command line as bash reads it."""
    read = ["bash", "-c", f"printf '%s\\0' {line}"]
    words = subprocess.run(read, capture_output=True, check=True).stdout.decode().split("\0")[:-1]
    if words[0] == "curl":
        return json.loads(subprocess.run(words, capture_output=True, check=True).stdout)
    ran = invoke(*words[1:], "--format", "json")
    assert (words[0], ran.code) == ("ngramscan", 0), ran.stderr
    return json.loads(ran.stdout)


@pytest.mark.parametrize(
    "text",
    ["plain", "it's", "it's\x1b", "back\\slash\x07", "$(b) `c` !\x1b", "\u202eé\n", ""],
    ids=ascii,
)
def test_a_quoted_text_is_that_text_for_bash(text: str) -> None:
    quoted = page.quoted(text)
    assert visible(quoted) == quoted
    read = ["bash", "-c", f"printf %s {quoted}"]
    environment = {"LC_ALL": "C.UTF-8"}
    said = subprocess.run(read, capture_output=True, check=True, env=environment).stdout
    assert said.decode() == text


@pytest.mark.parametrize("phrase", ["it's", slow("and the"), '\u202e"a" $(b) \\frac\x1b[1m a'])
def test_command_lines_say_what_the_page_says(
    served: str, phrase: str, subtests: pytest.Subtests
) -> None:
    got = look(served, q=phrase, index=["replay", TOKEN_INDEX.name])
    lengths = [4 if got.data[1] else 0, 3 if got.data[2] else 0]
    assert [len(section.commands) for section in got.sections] == lengths
    for section, row in zip(got.sections, got.data[1:], strict=True):
        for line in section.commands:
            with subtests.test(line):
                assert line.isprintable()
                said = run_line(line)
                if " contexts " in line:
                    texts = [(found["left"], found["match"], found["right"]) for found in said]
                    assert [tuple(map(visible, parts)) for parts in texts] == section.contexts
                elif " docnorm " in line:
                    assert said[0]["documents"] == row[1]
                elif line.startswith("curl"):
                    assert said["count"] == row[0]
                else:
                    assert said[0]["occurrences"] == row[0]


# --- hostile texts ------------------------------------------------------------------------------

HOSTILE = [
    "<script>alert(1)</script> needle </script><script>alert(2)//",
    "<img src=x onerror=alert(1)> needle <svg onload=alert(1)>",
    "\u202etxet\u2066 needle \x1b[31mred\x07",
    "'\"><b>bold needle {{ 7 * 7 }} {% raw %} &amp; &lt;",
    "needle\n\n</p></li></ol></main>",
    "--> ]]> needle <!-- </style><style>*{display:none}</style>",
]
METADATA: list[dict[str, Any]] = [
    {"url": "javascript:alert(1)"},
    {"url": "data:text/html,<script>alert(1)</script>"},
    {"url": 'https://example.org/" onmouseover="alert(1)'},
    {"url": "https://exa\u202emple.org/"},
    {"url": ["https://example.org/"], "id": "<b>7</b>"},
    {"url": "https://example.org/" + "x" * 1_000_000},
]


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("hostile")
    documents = [
        {"text": text, **metadata} for text, metadata in zip(HOSTILE, METADATA, strict=True)
    ]
    lines = "".join(f"{json.dumps(document)}\n" for document in documents)
    (folder / "corpus.jsonl").write_text(lines)
    built = invoke("index", "build", folder / "corpus.jsonl", "-o", folder / "<b>&'")
    assert built.code == 0, built.stderr
    with serving_here(folder / "<b>&'") as url:
        yield url


@pytest.fixture(scope="module")
def usual_tags(hostile: str) -> set[str]:
    """Return the tags that a page with contexts has, whatever the texts."""
    tags = {tag for tag, _ in look(hostile, q="absent").tags}
    assert "script" not in tags
    return tags | {"ol", "li", "mark", "span"}


def test_texts_and_metadata_are_shown_and_never_obeyed(hostile: str, usual_tags: set[str]) -> None:
    got = look(hostile, q="needle")
    assert {tag for tag, _ in got.tags} <= usual_tags
    attributes = [attribute for _, attributes in got.tags for attribute in attributes.items()]
    names = {name for name, _ in attributes}
    assert {name for name in names if name.startswith("on") or name == "style"} == set()
    addresses = [value or "" for name, value in attributes if name == "href"]
    run = re.compile(r"\s*(javascript|data:text)", re.IGNORECASE)
    assert [address for address in addresses if run.match(address)] == []
    shown = {"".join(parts) for parts in got.sections[0].contexts}
    assert shown == {visible(text) for text in HOSTILE}
    assert got.links("noreferrer") == ['https://example.org/" onmouseover="alert(1)']
    assert max(map(len, got.sections[0].sources)) <= 201


@pytest.mark.parametrize(
    "phrase",
    [
        pytest.param(HOSTILE[0], id="scripts"),
        pytest.param(HOSTILE[1], id="images"),
        pytest.param(HOSTILE[2], id="control characters"),
        pytest.param(HOSTILE[3], id="braces and entities"),
        pytest.param(HOSTILE[4], id="ends of elements"),
        pytest.param(HOSTILE[5], id="comments and styles"),
    ],
)
def test_a_phrase_is_looked_for_and_never_obeyed(
    hostile: str, usual_tags: set[str], phrase: str
) -> None:
    got = look(hostile, q=phrase)
    assert {tag for tag, _ in got.tags} <= usual_tags
    assert got.data[1][:2] == [1, 1]


# --- what is refused ----------------------------------------------------------------------------


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_a_question_of_another_page_waits_for_the_person(served: str, site: str) -> None:
    """A link from elsewhere fills in the form, and its button asks."""
    got = visit(served, "q=step+by+step&index=replay2&seed=7", **{"Sec-Fetch-Site": site})
    shown = Reader(got.text)
    assert got.status_code == 403
    assert shown.problems == ["This question comes from another page: choose Search to run it"]
    assert (shown.rows, shown.sections) == ([], [])
    values = {given["name"]: given.get("value") for tag, given in shown.tags if tag == "input"
              and (given["name"] != "index" or "checked" in given)}  # fmt: skip
    assert values == {"q": "step by step", "index": "replay2", "seed": "7"}
    assert visit(served, "", **{"Sec-Fetch-Site": site}).status_code == 200
    wrong = visit(served, "q=a&index=none", **{"Sec-Fetch-Site": site})
    assert wrong.status_code == 400


@pytest.mark.parametrize(
    ("folder", "seconds", "draws"),
    [
        pytest.param(INDEXES[0], 0.0, 5, id="bytes, no time"),
        pytest.param(TOKEN_INDEX, 0.0, 5, id="tokens, no time"),
        pytest.param(TOKEN_INDEX, 1e6, 200, id="tokens, enough time"),
    ],
)
def test_a_frequent_phrase_has_the_draws_that_there_is_time_for(
    monkeypatch: pytest.MonkeyPatch, folder: Path, seconds: float, draws: int
) -> None:
    monkeypatch.setattr(search, "EXACT_UP_TO", 0)
    monkeypatch.setattr(search, "DRAWING_S", seconds)
    asked = {"literal": "the", "draws": draws, "seed": 3, "exact_up_to": 0, **spec(folder)}
    names = "documents", "documents_low", "documents_high"
    expected = numbers_of(ngramscan.docnorm(**asked), *names)
    service = app.IndexApplication({folder.name: opened(folder)}, 1, Progress())
    got = asyncio.run(get(service, "q=the&seed=3")).text
    shown = Reader(got)
    assert shown.data[1][1:] == expected
    words = " ".join(got.split())
    assert f"estimated from {draws} occurrences drawn at random (seed 3; " in words
    assert ("of 200: no more fit into" in words) == (draws < 200)
    assert ("--draws 5 " in "".join(shown.sections[0].commands)) == (
        draws < 200 and folder != TOKEN_INDEX
    )


@pytest.mark.parametrize("folder", [INDEXES[0], TOKEN_INDEX])
def test_a_search_stops_when_its_client_has_left(folder: Path) -> None:
    job = Clients(1).new_job()
    one_search = search.PhraseSearch({"x": opened(folder).searched(StoppableProgress())})
    question = search.PhraseQuestion("the", ("x",))
    with working_on(job):
        assert next(one_search.ask(question)).occurrences
        job.stop(ClientLeftError)
        with pytest.raises(ClientLeftError):
            next(one_search.ask(question))
    assert next(one_search.ask(question)).problems == []


@pytest.mark.parametrize(
    "request_of",
    [
        pytest.param({"query_type": "find_cnf", "query": "the AND of"}, id="find_cnf"),
        pytest.param({"query_type": "ntd", "query": ""}, id="ntd"),
    ],
)
def test_long_work_of_the_protocol_stops_when_its_client_has_left(
    request_of: dict[str, Any],
) -> None:
    index = opened(TOKEN_INDEX)
    assert isinstance(index, ServedTokens)
    index.progress, job = StoppableProgress(), Clients(1).new_job()
    body = json.dumps({"index": index.name, **request_of}).encode()
    with working_on(job):
        assert "error" not in answer({index.name: index}, body)
        job.stop(ClientLeftError)
        with pytest.raises(ClientLeftError):
            answer({index.name: index}, body)


# --- limits and faults, without a socket --------------------------------------------------------


def opened(folder: Path) -> ServedIndex | ServedTokens:
    if folder == TOKEN_INDEX:
        tokenizer = load_tokenizer(TOKENIZER)
        return ServedTokens(folder.name, open_token_folder(folder), tokenizer)
    return ServedIndex(folder.name, open_shards(folder))


def test_a_browser_sees_which_index_is_being_searched(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = threading.Event()
    sent: list[str] = []
    fill = search.PhraseSearch._fill

    def fill_when_seen(*arguments: Any) -> None:
        assert seen.wait(PATIENCE_S)
        seen.clear()
        fill(*arguments)

    async def receive() -> Message:
        await asyncio.Event().wait()  # the client stays
        raise AssertionError

    async def send(message: Message) -> None:
        sent.append(message.get("body", b"").decode())
        if "Searching" in sent[-1]:
            seen.set()

    monkeypatch.setattr(search.PhraseSearch, "_fill", fill_when_seen)
    headers = [(b"host", b"127.0.0.1"), (b"accept", b"text/html")]
    scope: Scope = {
        "type": "http",
        "method": "GET",
        "path": "/",
        "headers": headers,
        "query_string": b"q=the",
        "scheme": "http",
        "server": ("127.0.0.1", 1),
    }
    asyncio.run(service_of(*INDEXES).application(scope, receive, send))
    first, second = (
        f"Searching <bdi>{folder.name}</bdi> ({n} of 2)" for n, folder in enumerate(INDEXES, 1)
    )
    assert "<form" in sent[1]
    assert first in sent[2]
    assert second in sent[3]
    assert Reader("".join(sent)).data[1][0] == 2918


def test_a_head_request_searches_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(search.PhraseSearch, "_fill")

    async def head() -> httpx.Response:
        transport = httpx.ASGITransport(service_of(INDEXES[0]).application)
        async with httpx.AsyncClient(transport=transport, headers=BROWSER) as client:
            return await client.head("http://127.0.0.1/?q=the")

    assert asyncio.run(head()).status_code == 200


def test_error_of_the_program_is_a_page_without_its_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise ZeroDivisionError("a secret")

    monkeypatch.setattr(search, "_count", fail)
    got = asyncio.run(get(service_of(INDEXES[0]), "q=the"))
    assert Reader(got.text).problems == ["Internal error"]
    assert "secret" not in got.text


def test_index_whose_file_was_cut_says_so_and_the_other_goes_on(tmp_path: Path) -> None:
    for name in ("cut", "whole"):
        shutil.copytree(INDEXES[0], tmp_path / name)
    service = service_of(tmp_path / "cut", tmp_path / "whole")
    with (tmp_path / "cut" / "data.fm9").open("r+b") as file:
        file.truncate(100)
    got = Reader(asyncio.run(get(service, "q=the")).text)
    assert got.data[1] == []
    assert got.data[2][0] == 2918
    assert len(got.problems) == 1
    assert "was changed or removed" in got.problems[0]


def test_after_too_long_no_further_index_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search, "MOST_SECONDS", 0.0)
    got = Reader(asyncio.run(get(service_of(*INDEXES), "q=the")).text)
    assert got.data[1:] == [[], []]
    assert got.problems == ["not searched: the others took 0 s; search it alone"] * 2


@pytest.mark.parametrize(
    ("text", "line"),
    [
        pytest.param("a b", "'a b'", id="spaces"),
        pytest.param("it's\n", r"$'it\'s\u000a'", id="a line feed"),
        pytest.param("\\\u202e", r"$'\\\u202e'", id="a sign of direction"),
    ],
)
def test_text_is_quoted_for_a_shell(text: str, line: str) -> None:
    assert page.quoted(text) == line
    done = subprocess.run(["bash", "-c", f"printf %s {line}"], capture_output=True, check=True)
    assert done.stdout.decode() == text
