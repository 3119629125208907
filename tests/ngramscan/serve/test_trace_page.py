"""The page that traces a text has the spans of `ngramscan trace --plain`, and bounds its work."""

import html
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx
import pandas as pd
import pytest

from ngramscan.progress import visible
from ngramscan.serve.bodies import MAX_BODY_BYTES
from ngramscan.serve.search import LONGEST_PHRASE
from ngramscan.serve.texts import LONGEST_TEXT
from tests.support.command import invoke
from tests.support.marked_texts import ReadMark, read_texts
from tests.support.places import TOKENS
from tests.support.serve_process import CLIENT, serving_here
from tests.support.sizes import slow

TOKEN_INDEX = TOKENS / "v4_pysmall_llama_s3"
TOKENIZER = TOKENS / "llamalike.model"
DOCUMENTS = [
    json.loads(line)["text"]
    for line in (TOKENS / "corpus_small.jsonl").read_text().split("\n")
    if line
]
REPEATED = "a b " * 150
HOSTILE = (
    '</textarea></div><script>alert(1)</script><a onclick="x">é \u202e\x1b[31m{{ 7 * 7 }} &amp;'
)


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """An index over bytes with a hostile document and a repeated one, and one over tokens."""
    folder = tmp_path_factory.mktemp("traced")
    documents = [*DOCUMENTS, f"so it is that {HOSTILE} and on", REPEATED]
    lines = [json.dumps({"text": text}) for text in documents]
    (folder / "corpus.jsonl").write_text("\n".join(lines) + "\n")
    built = invoke("index", "build", folder / "corpus.jsonl", "-o", folder / "bytes")
    assert built.code == 0, built.stderr
    return folder / "bytes", TOKEN_INDEX


@pytest.fixture(scope="module")
def served(folders: tuple[Path, Path]) -> Iterator[str]:
    with serving_here(*folders, tokenizer=TOKENIZER) as url:
        yield url


HTML = {"Accept": "text/html"}


def post(served: str, fields: dict[str, Any], **headers: str) -> httpx.Response:
    return CLIENT.post(f"{served}trace", data=fields, headers=HTML | headers)


@dataclass
class Link:
    """A span on a page."""

    start: int
    phrase: str
    note: str
    index: str


def read_page(page: str) -> list[tuple[str, list[Link]]]:
    """Return the text of each index as a page shows it, and its links."""
    return [(text.text, [link_of(mark) for mark in text.marks]) for text in read_texts(page)]


def link_of(mark: ReadMark) -> Link:
    found = re.search('href="([^"]*)"', mark.html)
    assert found
    query = parse_qs(urlsplit(html.unescape(found[1])).query)
    (phrase,), (index,) = query["q"], query["index"]
    return Link(mark.start, phrase, mark.note, index)


def pieces() -> str:
    """Return a text of copied and other parts, with ends of lines, that overlap in the corpus."""
    long = max(DOCUMENTS, key=len)
    parts = [document[at : at + 90] for document in DOCUMENTS[:6] for at in (0, 40, 71)]
    return f"{' qqq <b> é '.join(parts)}\n\nzzz\n{long[:1500]}"


@pytest.mark.parametrize("min_words", [5, slow(3)])
@pytest.mark.parametrize("number", [0, 1], ids=["bytes", "tokens"])
def test_the_spans_are_those_of_the_command(
    served: str, folders: tuple[Path, Path], tmp_path: Path, number: int, min_words: int
) -> None:
    text, folder = visible(pieces()), folders[number]
    (tmp_path / "text.txt").write_text(text)
    got = post(served, {"text": text.replace("\n", "\r\n"), "words": min_words})  # as browsers do
    sections = read_page(got.text)
    assert (got.status_code, len(sections)) == (200, 2)
    shown, links = sections[number]
    options = ["--index", f"fm9:{folder}"]
    if folder == TOKEN_INDEX:
        options = ["--index", f"tokens:{folder}", "--tokenizer", str(TOKENIZER)]
    options += ["--min-words", str(min_words), "--spans", str(tmp_path / "spans.csv")]
    done = invoke("trace", tmp_path / "text.txt", "--plain", *options)
    assert done.code == 0, done.stderr
    rows = pd.read_csv(tmp_path / "spans.csv", keep_default_na=False).to_dict("records")
    assert shown == text
    assert [(link.start, link.phrase) for link in links] == [
        (row["start"], row["text"][: len(link.phrase)])
        for row, link in zip(rows, links, strict=True)
    ]
    assert {link.index for link in links} == {folder.name}
    beginnings = [f"{row['words']:,} {row['unit']}; {row['occurrences']:,} occ" for row in rows]
    assert [
        (link.note, beginning)
        for link, beginning in zip(links, beginnings, strict=True)
        if beginning not in link.note
    ] == []
    is_cut = [len(row["text"]) > LONGEST_PHRASE for row in rows]
    assert [link.phrase != row["text"] for row, link in zip(rows, links, strict=True)] == is_cut
    assert [f"its first {len(link.phrase):,} characters" in link.note for link in links] == is_cut
    lengths = [len(link.phrase) for link, cut in zip(links, is_cut, strict=True) if cut]
    assert [n for n in lengths if not 0.9 * LONGEST_PHRASE < n <= LONGEST_PHRASE] == []
    assert len(links) > 5


def test_a_page_of_repeated_text_has_few_links_and_counts_its_spans(
    served: str,
) -> None:
    got = post(served, {"text": "a b " * 300, "index": "bytes"})
    ((_, links),) = read_page(got.text)
    assert f"151 spans ({len(links)} shown) of 5 words or more, 100.0% of 600 words" in got.text
    assert len(links) <= 35
    assert {link.note.partition(";")[0] for link in links} == {"300 words"}


def test_a_link_shows_the_contexts_of_its_span(served: str, subtests: pytest.Subtests) -> None:
    got = post(served, {"text": pieces(), "index": "bytes"})
    ((_, links),) = read_page(got.text)
    for link in links[:: max(1, len(links) // 4)]:
        with subtests.test(start=link.start):
            page = CLIENT.get(served, params={"q": link.phrase, "index": "bytes"}, headers=HTML)
            found = re.search(r'<data value="(\d+)">', page.text)
            assert found
            if "characters" not in link.note:
                assert f"; {int(found[1]):,} occ" in link.note


def test_a_text_is_shown_and_never_obeyed(served: str) -> None:
    usual = {*re.findall("<([a-z0-9]+)", post(served, {"text": "and so it is, or is not"}).text)}
    got = post(served, {"text": f"\n{HOSTILE}", "index": "bytes", "words": 1})
    ((shown, links),) = read_page(got.text)
    assert links
    assert shown == visible(f"\n{HOSTILE}")
    assert {*re.findall("<([a-z0-9]+)", got.text)} <= usual | {"a", "mark", "span"}
    assert "<script" not in got.text
    # The form has the text to send again, with its first line feed.
    field = re.search(r"<textarea[^>]*>\n(.*?)</textarea>", got.text, re.DOTALL)
    assert field
    assert html.unescape(field[1]) == f"\n{HOSTILE}"


@pytest.mark.parametrize(
    ("fields", "headers", "status", "problem"),
    [
        pytest.param({"text": " \n"}, {}, 400, "text: enter a text", id="blank"),
        pytest.param(
            {"text": ["a", "b"]}, {}, 400, "text: it was given 2 times; expected once", id="twice"
        ),
        pytest.param(
            {"text": "a", "index": "none"},
            {},
            400,
            "no index named none; available: bytes",
            id="unknown index",
        ),
        pytest.param(
            {"text": "a", "words": "0"},
            {},
            400,
            "words: expected a whole number from 1 to 100",
            id="no words",
        ),
        pytest.param(
            {"text": "x" * (LONGEST_TEXT + 1)},
            {},
            400,
            "text: 10,001 characters; the limit is",
            id="long text",
        ),
        pytest.param(
            {"text": "x" * (MAX_BODY_BYTES + 1)}, {}, 413, "The body is too long", id="long body"
        ),
        pytest.param(
            {"text": "a"},
            {"Sec-Fetch-Site": "cross-site"},
            403,
            "comes from another page",
            id="from another site",
        ),
        pytest.param(
            {"text": "a"},
            {"Sec-Fetch-Site": "same-site"},
            403,
            "comes from another page",
            id="from another host of the site",
        ),
        pytest.param(
            {"text": "a"},
            {"Content-Type": "text/plain"},
            415,
            "Content-Type: expected application/x-www-f",
            id="other content type",
        ),
        pytest.param(
            {"text": "a"}, {"Host": "elsewhere.example"}, 421, "Unknown host", id="other host"
        ),
    ],
)
def test_what_is_refused_is_said_beside_the_form(
    served: str, fields: dict[str, Any], headers: dict[str, str], status: int, problem: str
) -> None:
    got = post(served, fields, **headers)
    said = re.search('<p class="problem" role="alert">(.*?)</p>', got.text)
    assert got.status_code == status
    assert said
    assert problem in html.unescape(said[1])
    assert "<textarea" in got.text
    assert '<div class="traced"' not in got.text
    assert "default-src 'none'" in got.headers["content-security-policy"]


def test_a_link_from_elsewhere_shows_an_empty_form(served: str) -> None:
    got = CLIENT.get(f"{served}trace?text=abc", headers=HTML | {"Sec-Fetch-Site": "cross-site"})
    assert got.status_code == 200
    assert "abc" not in got.text
