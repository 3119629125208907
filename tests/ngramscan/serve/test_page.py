"""The search page shows what count, docnorm and contexts find, and nothing that a text brings."""

import asyncio
import json
import re
import shutil
import subprocess
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import httpx
import pandas as pd
import pytest
from starlette.types import Message, Scope

import ngramscan
from ngramscan.index_files.fm9.reader import open_shards
from ngramscan.index_files.tokens.shard import open_token_folder
from ngramscan.index_files.tokens.tokenizers import load_tokenizer
from ngramscan.progress import Progress, visible
from ngramscan.serve import app, page, search
from ngramscan.serve.clients import ClientLeftError, Clients, Watch
from ngramscan.serve.protocol import ServedIndex, answer
from ngramscan.serve.token_protocol import ServedTokens
from ngramscan.stopping import working_on
from tests.support.command import invoke
from tests.support.places import TOKENS
from tests.support.serve_process import CLIENT, INDEXES, PATIENCE_S, serving_here
from tests.support.sizes import slow

TOKEN_INDEX = TOKENS / "v4_pysmall_llama_s3"
TOKENIZER = TOKENS / "llamalike.model"
BROWSER = {"Accept": "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"}


@pytest.fixture(scope="module")
def served() -> Iterator[str]:
    with serving_here(*INDEXES, TOKEN_INDEX, tokenizer=TOKENIZER) as one:
        yield one


# --- reading a page back ------------------------------------------------------------------------


@dataclass
class Shown:
    """The occurrences of one index on a page, as texts."""

    contexts: list[tuple[str, ...]] = field(default_factory=list)
    sources: list[str] = field(default_factory=list)
    commands: list[str] = field(default_factory=list)


class Reader(HTMLParser):
    """What a browser makes of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.rows: list[list[str]] = []
        self.data: list[list[int]] = []
        self.sections: list[Shown] = []
        self.problems: list[str] = []
        self.text: list[str] = []
        self.opened: list[tuple[str, str]] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self.tags.append((tag, given))
        self.opened.append((tag, given.get("class") or ""))
        if given.get("class") != "feed":
            self.text = []
        # Token n-grams have a table of their own; of its head nothing is kept.
        if tag == "tr" and (not self.rows or ("tbody", "") in self.opened):
            self.rows.append([])
            self.data.append([])
        elif tag == "data":
            self.data[-1].append(int(given["value"] or ""))
        elif tag == "section":
            self.sections.append(Shown())

    def handle_data(self, data: str) -> None:
        self.text.append(data)

    def handle_endtag(self, tag: str) -> None:
        kind = next((kind for name, kind in reversed(self.opened) if name == tag), "")
        while self.opened and self.opened.pop()[0] != tag:
            pass
        text = "".join(self.text)
        if tag in {"td", "th"} and (len(self.rows) == 1 or ("tbody", "") in self.opened):
            self.rows[-1].append(text)
        elif tag == "code":
            self.sections[-1].commands.append(text)
        elif kind == "left":
            self.sections[-1].contexts.append((text,))
        elif tag == "mark" or kind == "right":
            self.sections[-1].contexts[-1] += (text,)
        elif tag == "p" and kind == "problem":
            self.problems.append(text)
        elif tag == "bdi" and self.sections and self.sections[-1].contexts:
            self.sections[-1].sources.append(text)

    def links(self, rel: str = "") -> list[str]:
        anchors = [
            given for tag, given in self.tags if tag == "a" and rel in (given.get("rel") or "")
        ]
        return [given["href"] or "" for given in anchors]


def visit(url: str, query: str, **headers: str) -> httpx.Response:
    return CLIENT.get(f"{url}?{query}", headers=BROWSER | headers)


def look(url: str, status: int = 200, **fields: Any) -> Reader:
    got = visit(url, urlencode(fields, doseq=True))
    assert (got.status_code, got.headers["content-type"]) == (status, "text/html; charset=utf-8")
    return Reader(got.text)


# --- the same numbers as the commands -----------------------------------------------------------


def spec(folder: Path) -> dict[str, Any]:
    if folder != TOKEN_INDEX:
        return {"index": f"fm9:{folder}"}
    return {"index": f"tokens:{folder}", "tokenizer": TOKENIZER}


def numbers_of(rows: pd.DataFrame, *names: str) -> list[int]:
    (row,) = rows.to_dict("records")
    return [int(row[name] if name in row else row[f"token_{name}"]) for name in names]


def run_line(line: str) -> Any:
    """Run a command line as bash reads it."""
    read = ["bash", "-c", f"printf '%s\\0' {line}"]
    words = subprocess.run(read, capture_output=True, check=True).stdout.decode().split("\0")[:-1]
    if words[0] == "curl":
        return json.loads(subprocess.run(words, capture_output=True, check=True).stdout)
    ran = invoke(*words[1:], "--format", "json")
    assert (words[0], ran.code) == ("ngramscan", 0), ran.stderr
    return json.loads(ran.stdout)


@pytest.mark.parametrize("phrase", ["it's", slow("and the"), '\u202e"a" $(b) \\frac\x1b[1m a'])
def test_command_lines_say_what_the_page_says(served: str, phrase: str) -> None:
    got = look(served, q=phrase, index=["replay", TOKEN_INDEX.name])
    for shown, row in zip(got.sections, got.data[1:], strict=True):
        assert len(shown.commands) == (4 if shown is got.sections[0] else 3) * bool(row)
        for line in shown.commands:
            assert line.isprintable()
            said = run_line(line)
            if " contexts " in line:
                rows = [(one["left"], one["match"], one["right"]) for one in said]
                assert [tuple(map(visible, one)) for one in rows] == shown.contexts
            elif " docnorm " in line:
                assert said[0]["documents"] == row[1]
            elif line.startswith("curl"):
                assert said["count"] == row[0]
            else:
                assert said[0].get("occurrences", said[0].get("token_occurrences")) == row[0]


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
    lines = "".join(f"{json.dumps(one)}\n" for one in documents)
    (folder / "corpus.jsonl").write_text(lines)
    built = invoke("index", "build", folder / "corpus.jsonl", "-o", folder / "<b>&'")
    assert built.code == 0, built.stderr
    with serving_here(folder / "<b>&'") as one:
        yield one


def test_texts_and_metadata_are_shown_and_never_obeyed(hostile: str) -> None:
    usual = {tag for tag, _ in look(hostile, q="absent").tags}
    got = look(hostile, q="needle")
    allowed = usual | {"ol", "li", "mark", "span"}
    assert {tag for tag, _ in got.tags} <= allowed
    assert "script" not in allowed
    for _, given in got.tags:
        assert not [name for name in given if name.startswith("on") or name == "style"]
        assert not re.match(r"(?i)\s*(javascript|data:text)", given.get("href") or "")
    shown = {"".join(one) for one in got.sections[0].contexts}
    assert shown == {visible(text) for text in HOSTILE}
    assert got.links("noreferrer") == ['https://example.org/" onmouseover="alert(1)']
    assert max(map(len, got.sections[0].sources)) <= 201
    for text in HOSTILE:  # as a phrase, too
        again = look(hostile, q=text)
        assert {tag for tag, _ in again.tags} <= allowed
        assert again.data[1][:2] == [1, 1]


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
    [(INDEXES[0], 0.0, 5), (TOKEN_INDEX, 0.0, 5), (TOKEN_INDEX, 1e6, 200)],
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
    one = search.Search({"x": opened(folder).searched(Watch())})
    question = search.Question("the", ("x",))
    with working_on(job):
        assert next(one.ask(question)).occurrences
        job.stop(ClientLeftError)
        with pytest.raises(ClientLeftError):
            next(one.ask(question))
    assert next(one.ask(question)).problems == []


@pytest.mark.parametrize(
    "request_of",
    [
        {"query_type": "find_cnf", "query": "the AND of"},
        {"query_type": "ntd", "query": ""},
    ],
)
def test_long_work_of_the_protocol_stops_when_its_client_has_left(
    request_of: dict[str, Any],
) -> None:
    index = opened(TOKEN_INDEX)
    assert isinstance(index, ServedTokens)
    index.progress, job = Watch(), Clients(1).new_job()
    body = json.dumps({"index": index.name, **request_of}).encode()
    with working_on(job):
        assert "error" not in answer({index.name: index}, body)
        job.stop(ClientLeftError)
        with pytest.raises(ClientLeftError):
            answer({index.name: index}, body)


# --- limits and faults, without a socket --------------------------------------------------------


async def get(service: app.IndexApplication, query: str) -> httpx.Response:
    transport = httpx.ASGITransport(service.application, raise_app_exceptions=False)
    async with httpx.AsyncClient(transport=transport, headers=BROWSER) as client:
        return await client.get(f"http://127.0.0.1/?{query}")


def opened(folder: Path) -> ServedIndex | ServedTokens:
    if folder == TOKEN_INDEX:
        tokenizer = load_tokenizer(TOKENIZER)
        return ServedTokens(folder.name, open_token_folder(folder), tokenizer)
    return ServedIndex(folder.name, open_shards(folder))


def service_of(*folders: Path) -> app.IndexApplication:
    opened = {folder.name: ServedIndex(folder.name, open_shards(folder)) for folder in folders}
    return app.IndexApplication(opened, 1, Progress())


def test_a_browser_sees_which_index_is_being_searched(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = threading.Event()
    sent: list[str] = []
    fill = search.Search._fill

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

    monkeypatch.setattr(search.Search, "_fill", fill_when_seen)
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
    monkeypatch.delattr(search.Search, "_fill")

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
        ("a b", "'a b'"),
        ("it's\n", r"$'it\'s\u000a'"),
        ("\\\u202e", r"$'\\\u202e'"),
    ],
)
def test_text_is_quoted_for_a_shell(text: str, line: str) -> None:
    assert page.quoted(text) == line
    done = subprocess.run(["bash", "-c", f"printf %s {line}"], capture_output=True, check=True)
    assert done.stdout.decode() == text
