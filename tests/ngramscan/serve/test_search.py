"""The search page: it shows what the commands find, and asks for nothing else."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import httpx
import pandas as pd
import pytest

import ngramscan
from ngramscan.progress import visible
from ngramscan.serve import app
from tests.support.dask_cluster import wait_until
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
from tests.support.serve_process import INDEXES, JSON, THE, Served, ask, send, serving

FOLDERS = (*INDEXES, TOKEN_INDEX)
NAMES = ", ".join(folder.name for folder in FOLDERS)


@pytest.fixture(scope="module")
def served() -> Iterator[Served]:
    with serving("--tokenizer", str(TOKENIZER), "--concurrency", "4", indexes=FOLDERS) as running:
        yield running


def look_until_done(url: str, **fields: Any) -> Reader:
    """Look again where a busy machine left indexes unasked, at least one less each time."""
    for _ in FOLDERS:
        got = look(url, **fields)
        if not any(problem.startswith("not asked: ") for problem in got.problems):
            break
    return got


def shown_of(rows: pd.DataFrame) -> list[tuple[str, ...]]:
    return [
        tuple(map(visible, row)) for row in rows[["left", "match", "right"]].itertuples(index=False)
    ]


def expected_of(phrase: str, folder: Path, seed: int) -> tuple[list[int], list[tuple[str, ...]]]:
    given = {"literal": phrase, **spec(folder)}
    count = numbers_of(ngramscan.count(**given), "occurrences")
    found = ngramscan.docnorm(**given, draws=200, seed=seed)
    is_exact = found["estimator"].tolist() == ["exact"]
    names = ["documents"] if is_exact else ["documents", "documents_low", "documents_high"]
    contexts = ngramscan.contexts(**given, n=20, seed=seed)
    return count + numbers_of(found, *names), shown_of(contexts)


def table_row(cells: list[str]) -> list[Any]:
    """Return the name of an index, and its occurrences and documents, as numbers."""
    name, *numbers = cells[:3]
    return [name, *(int(number.replace(",", "")) for number in numbers)]


def test_page_shows_what_the_commands_find_to_eight_clients_at_once(
    served: Served, subtests: pytest.Subtests
) -> None:
    phrases = {"step by step": 7, "in the": 1, "it's": 2, "zqxjkv": 1}
    with ThreadPoolExecutor(8) as pool:
        asked = [*phrases.items()] * 2
        looks = pool.map(lambda pair: look_until_done(served.url, q=pair[0], seed=pair[1]), asked)
        checks = pool.map(ask, [served.url] * 50, [THE] * 50)
    assert {check.json()["count"] for check in checks} == {2918}
    pages = list(zip(asked, looks, strict=True))
    for phrase, seed in phrases.items():
        expected = [expected_of(phrase, folder, seed) for folder in FOLDERS]
        numbers = [numbers for numbers, _ in expected]
        contexts = [rows for _, rows in expected]
        table = [[folder.name, *row[:2]] for folder, row in zip(FOLDERS, numbers, strict=True)]
        for number, got in enumerate(got for about, got in pages if about == (phrase, seed)):
            with subtests.test(phrase, number=number):
                assert not got.problems
                assert got.data[1:] == numbers
                assert [table_row(cells) for cells in got.rows[1:]] == table
                assert [section.contexts for section in got.sections] == contexts


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_pages_show_the_draws_of_contexts_and_all_occurrences_once(
    served: Served, folder: Path
) -> None:
    given = {"literal": "in the", **spec(folder)}
    (total,) = numbers_of(ngramscan.count(**given), "occurrences")
    assert total > 30
    every, at = list[tuple[str, ...]](), 0
    got = look(served.url, q="in the", index=folder.name)
    while True:
        every += got.sections[0].contexts
        after = got.links("next")
        if at + 20 < total:
            assert every == shown_of(ngramscan.contexts(**given, n=at + 20))
            assert len(after) == 1
        else:
            assert not after
            break
        at += 20
        got = Reader(visit(served.url, after[0].removeprefix("?")).text)
        assert len(got.links("prev")) == 1
    assert sorted(every) == sorted(shown_of(ngramscan.contexts(**given, n=total)))
    beyond = look(served.url, q="in the", index=folder.name, **{"from": 20 * (total // 20 + 1)})
    assert beyond.sections[0].contexts == []


def test_no_more_than_a_thousand_occurrences_are_shown(served: Served) -> None:
    last = look(served.url, q="the", index="replay", **{"from": 980})
    rows = ngramscan.contexts(literal="the", index=f"fm9:{INDEXES[0]}", n=1000)
    assert last.sections[0].contexts == shown_of(rows)[980:]
    assert last.links("next") == []


def test_form_and_link_keep_the_question(served: Served) -> None:
    fields = {"q": 'a "b" <i>', "index": "replay2", "seed": "3"}
    got = Reader(visit(served.url, urlencode(fields)).text)
    inputs = {
        given["name"]: given for tag, given in got.tags if tag == "input" and "value" in given
    }
    assert (inputs["q"]["value"], inputs["seed"]["value"]) == ('a "b" <i>', "3")
    boxes = [given["value"] for tag, given in got.tags if tag == "input" and "checked" in given]
    assert boxes == ["replay2"]
    assert f"?{urlencode([*fields.items(), ('from', 0)])}" in got.links()
    everything = look(served.url, q="a")
    assert [shown.contexts != [] for shown in everything.sections] == [True] * 3


def test_headers_allow_nothing_but_the_style_and_the_form(served: Served) -> None:
    got = visit(served.url, "q=zqxjkv")
    (style,) = re.findall("<style>(.*?)</style>", got.text, re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    policy = dict(part.split(" ", 1) for part in got.headers["content-security-policy"].split("; "))
    assert policy == {
        "default-src": "'none'",
        "style-src": f"'sha256-{digest}'",
        "img-src": "data:",
        "form-action": "'self'",
        "base-uri": "'none'",
        "frame-ancestors": "'none'",
    }
    assert got.headers["x-content-type-options"] == "nosniff"
    assert got.headers["referrer-policy"] == "no-referrer"
    assert got.headers["cache-control"] == "no-store"
    assert "https://" not in style
    assert "url(" not in style


@pytest.mark.parametrize(
    ("query", "problem"),
    [
        ("q=a&index=nope", f"no index named nope; available: {NAMES}"),
        ("index=%3Cb%3E", f"no index named <b>; available: {NAMES}"),
        ("q=", "phrase: it is empty; enter a phrase"),
        ("q=a%00", "phrase: it has a NUL character"),
        ("q=" + "x" * 1001, "phrase: 1,001 characters; the limit is 1,000"),
        ("q=%ff", "The form is not valid UTF-8"),
        ("q=a&q=b", "q: it was given 2 times; expected once"),
        ("q=a&seed=-1", f"seed: expected a whole number from 0 to {2**53}"),
        ("q=a&seed=" + "9" * 5000, f"seed: expected a whole number from 0 to {2**53}"),
        ("q=a&from=7", "from: it is 7; expected a multiple of 20"),
        ("q=a&from=1000", "from: expected a whole number from 0 to 980"),
    ],
    ids=[
        "no such index",
        "an index like an element",
        "nothing",
        "NUL",
        "too long",
        "not UTF-8",
        "twice",
        "a negative seed",
        "a huge seed",
        "an odd place",
        "too far",
    ],
)
def test_wrong_question_is_a_page_with_one_line(served: Served, query: str, problem: str) -> None:
    got = visit(served.url, query)
    assert got.status_code == 400
    assert got.headers["content-security-policy"]
    assert Reader(got.text).problems == [problem]


def test_longest_phrase_is_searched(served: Served) -> None:
    assert look(served.url, q="\N{GRINNING FACE}" * 1000).data[1] == [0, 0]


def test_phrase_that_tokens_cannot_count_says_so_and_the_others_go_on(served: Served) -> None:
    got = look(served.url, q=" near the old mill.")
    counts = [
        numbers_of(ngramscan.count(literal=" near the old mill.", **spec(folder)), "occurrences")
        for folder in INDEXES
    ]
    assert min(counts) > [0]
    assert [row[:1] for row in got.data[1:]] == [*counts, []]
    assert got.rows[3][1:] == ["–"] * 3
    assert len(got.problems) == 1
    assert "doesn't begin and end with a word" in got.problems[0]


def test_other_clients_get_the_protocol_as_before(served: Served) -> None:
    names = send(served.url, None, {}, "GET")
    assert (names.headers["content-type"], names.json()) == ("application/json", [TOKEN_INDEX.name])
    assert ask(served.url, THE, **BROWSER).json()["count"] == 2918
    assert send(served.url, None, BROWSER, "GET", "/indexes").json()["indexes"]
    assert send(served.url, None, BROWSER, "OPTIONS").content == b""
    assert send(served.url, None, BROWSER, "GET", "/else").json()["error"]
    assert send(served.url, b"{}", JSON | BROWSER).json()["error"].startswith("Missing required")
    with serving() as bytes_only:
        assert send(bytes_only.url, None, {}, "GET").status_code == 405
        assert look(bytes_only.url).problems == []


def test_page_of_another_host_is_refused(served: Served) -> None:
    got = visit(served.url, "q=the", Host="evil.example")
    assert got.status_code == 421
    assert Reader(got.text).problems == ["Unknown host: 'evil.example'; see --allow-host"]


def test_busy_server_is_a_page_that_asks_to_come_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(app, "MAX_WAITING", 0)

    async def scene() -> list[httpx.Response]:
        service = service_of(INDEXES[0])
        return await asyncio.gather(*(get(service, "q=the") for _ in range(5)))

    pages = asyncio.run(scene())
    assert sorted(page.status_code for page in pages) == [200, 503, 503, 503, 503]
    busy = next(page for page in pages if page.status_code == 503)
    assert busy.headers["retry-after"] == "1"
    assert Reader(busy.text).problems == ["Too many requests are under way; come back later"]


def test_open_opens_the_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script, opened = tmp_path / "browser", tmp_path / "opened"
    script.write_text(f'#!/bin/sh\necho "$1" > {opened}.part && mv {opened}.part {opened}\n')
    script.chmod(0o755)
    monkeypatch.setenv("BROWSER", f"{script} %s")
    with serving("--open") as running:
        wait_until(opened.exists)
        assert opened.read_text() == f"{running.url}\n"
