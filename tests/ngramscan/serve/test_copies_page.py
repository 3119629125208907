"""The page that finds copies has the verdicts of `ngramscan contaminate`, and bounds its work."""

import html
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from ngramscan.indexes.opening import open_indexes
from ngramscan.indexes.options import IndexOptions
from ngramscan.prevalence.contamination.contaminate import Entry
from ngramscan.prevalence.contamination.copied_entries import run_copied
from ngramscan.prevalence.contamination.rules import make_rule
from ngramscan.progress import SILENT, visible
from ngramscan.serve.bodies import MAX_BODY_BYTES
from ngramscan.serve.entries import LONGEST_ENTRY
from tests.support.command import invoke
from tests.support.places import TOKENS
from tests.support.serve_process import CLIENT, read_lines, serving_here
from tests.support.side_by_side import shown_texts

TOKENIZER = TOKENS / "llamalike.model"
TOKEN_INDEX = TOKENS / "v4_pysmall_llama_s3"
IDLE = "The committee met on Tuesday to hear reports about roads. "
PROBLEM = (
    "Mina stacked 31 wooden crates beside the lighthouse, and the tide carried 12 of them to the "
    "far shore before noon; how many crates were still beside the lighthouse?"
)
HOSTILE = (
    "</textarea></div><script>alert(1)</script> five wooden crates <a onclick=x>beside the</a> "
    "lighthouse \u202e\x1b[31m{{ 7 * 7 }} &amp; they were still there"
)
DOCUMENTS = [
    {"text": f"{IDLE}{PROBLEM.upper()} {IDLE}", "source": "https://example.org/?a=1&b=<2>"},
    {"text": f"{IDLE}so it is that {HOSTILE} and on", "source": "javascript:alert(1)"},
    *({"text": f"{number} {IDLE * 3}"} for number in range(60)),
]
ENTRIES = {
    "copied": PROBLEM,
    "with an edit": PROBLEM.replace("wooden", "heavy wooden").replace("far", "other"),
    "variant": PROBLEM.replace("31", "58"),
    "shared": f"{IDLE}Were any of the {PROBLEM[90:]}",
    "clean": "Where do the geese of the northern lakes spend the winter?",
    "in several lines": PROBLEM.replace(" ", "\n", 3),
}


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """An index over bytes with copies and a hostile document, and one over tokens."""
    folder = tmp_path_factory.mktemp("copies")
    lines = [json.dumps(document) for document in DOCUMENTS]
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
    return CLIENT.post(f"{served}copies", data=fields, headers=HTML | headers)


def rows_of_command(
    text: str, folder: Path, tmp_path: Path
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Return the row of an entry and its evidence, as the command writes them."""
    (tmp_path / "entry.jsonl").write_text(json.dumps({"question": text}))
    options = ["--index", f"fm9:{folder}"]
    files = ["-o", str(tmp_path / "rows.jsonl"), "--evidence", str(tmp_path / "evidence.jsonl")]
    done = invoke("contaminate", tmp_path / "entry.jsonl", *options, *files)
    assert done.code == 0, done.stderr
    (row,), evidence = (read_lines(tmp_path / name) for name in ("rows.jsonl", "evidence.jsonl"))
    return row, evidence


def marked(text: str, shared: str, rare: str, changed: str) -> str:
    """Return a text with [shared], {rare} and <changed> parts, from the places of a row."""
    kinds = [" "] * len(text)
    for places, kind in ((shared, "s"), (rare, "r"), (changed, "c")):
        for place in places.split():
            start, stop = map(int, place.split("-"))
            kinds[start:stop] = kind * (stop - start)
    signs = {" ": ("", ""), "s": ("[", "]"), "r": ("{", "}"), "c": ("<", ">")}
    pieces = re.finditer("s+|r+|c+| +", "".join(kinds))
    return "".join(
        signs[piece[0][0]][0] + visible(text[slice(*piece.span())]) + signs[piece[0][0]][1]
        for piece in pieces
    )


@pytest.mark.parametrize("name", ENTRIES)
def test_the_verdict_and_the_document_are_those_of_the_command(
    served: str, folders: tuple[Path, Path], tmp_path: Path, name: str
) -> None:
    text = ENTRIES[name]
    got = post(served, {"text": text.replace("\n", "\r\n"), "index": "bytes"})
    row, evidence = rows_of_command(text, folders[0], tmp_path)
    assert got.status_code == 200
    assert f"{row['verdict'].capitalize()}: " in got.text
    assert f"{row['found']} of its {row['windows']} windows occur in the index." in got.text
    shown = [
        shown_text
        for each in evidence
        for shown_text in (
            marked(
                each["text"],
                each["shared_in_text"],
                each["rare_in_text"],
                each["changed_in_text"],
            ),
            marked(
                each["passage"],
                each["shared_in_passage"],
                each["rare_in_passage"],
                each["changed_in_passage"],
            ),
        )
    ]
    assert shown_texts(got.text) == shown
    for each in evidence:
        assert f">Document {each['document']}" in got.text
        score, covered = f"{100 * each['score']:.1f}", f"{100 * each['covered']:.1f}"
        assert f"covers {covered}% of its words, with a score of {score}%." in got.text
        assert (f"Changed numbers: {each['changed']}." in got.text) == bool(each["changed"])


def test_entries_have_the_verdicts_that_they_are_named_after(served: str) -> None:
    verdicts = {
        name: re.findall("<p>(Copied|Variant|Shared|Clean|Not known):", got.text)
        for name, text in ENTRIES.items()
        for got in [post(served, {"text": text, "index": "bytes"})]
    }
    assert verdicts == {
        "copied": ["Copied"],
        "with an edit": ["Copied"],
        "variant": ["Variant"],
        "shared": ["Shared"],
        "clean": ["Clean"],
        "in several lines": ["Copied"],
    }


def test_each_chosen_index_is_searched(served: str) -> None:
    got = post(served, {"text": PROBLEM})
    assert re.findall("<bdi>(.*?)</bdi></h3>", got.text) == ["bytes", TOKEN_INDEX.name]
    got = post(served, {"text": PROBLEM, "index": TOKEN_INDEX.name})
    assert re.findall("<bdi>(.*?)</bdi></h3>", got.text) == [TOKEN_INDEX.name]
    assert re.findall("<p>(Copied|Variant|Shared|Clean|Not known):", got.text) == ["Clean"]


def test_an_index_over_tokens_has_the_document_of_the_rule(served: str) -> None:
    lines = (TOKENS / "corpus_small.jsonl").read_text().split("\n")
    text = " ".join(max((json.loads(line)["text"] for line in lines if line), key=len).split()[:60])
    got = post(served, {"text": text, "index": TOKEN_INDEX.name})
    options = IndexOptions(tokenizer=TOKENIZER)
    with open_indexes([f"tokens:{TOKEN_INDEX}"], options, SILENT) as indexes:
        result = run_copied([Entry("", text)], make_rule("copied"), indexes, seed=1).result
    assert result.rows[0].verdict == "copied"
    assert "Copied: " in got.text
    (found,) = result.evidence
    assert shown_texts(got.text) == [
        marked(found.text, found.shared_in_text, found.rare_in_text, ""),
        marked(found.passage, found.shared_in_passage, found.rare_in_passage, ""),
    ]


def test_sources_are_links_only_if_they_are_addresses(served: str) -> None:
    page = post(served, {"text": PROBLEM, "index": "bytes"}).text
    assert 'href="https://example.org/?a=1&amp;b=&lt;2&gt;"' in page
    page = post(served, {"text": HOSTILE, "index": "bytes"}).text
    assert "javascript:alert(1)" in page
    assert 'href="javascript' not in page


def test_a_text_is_shown_and_never_obeyed(served: str) -> None:
    got = post(served, {"text": f"\n{HOSTILE}", "index": "bytes"})
    entry, document = shown_texts(got.text)
    assert re.sub("[][{}]|<(?=[0-9])", "", entry) == re.sub("[][{}]", "", visible(f"\n{HOSTILE}"))
    assert "</textarea></div><script>" in document
    assert "<script" not in got.text
    assert "\u202e" not in got.text.partition("<main")[2]
    # The form has the text to send again, with its first line feed.
    field = re.search(r"<textarea[^>]*>\n(.*?)</textarea>", got.text, re.DOTALL)
    assert field
    assert html.unescape(field[1]) == f"\n{HOSTILE}"


@pytest.mark.parametrize(
    ("fields", "headers", "status", "problem"),
    [
        pytest.param({"text": " \n"}, {}, 400, "text: enter a text with words", id="blank"),
        pytest.param({"text": "?!"}, {}, 400, "text: enter a text with words", id="no words"),
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
            {"text": "x" * (LONGEST_ENTRY + 1)},
            {},
            400,
            "text: 2,001 characters; the limit is 2,000",
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
    assert '<form method="post" action="copies#results">' in got.text
    assert '<div class="traced"' not in got.text
    assert "default-src 'none'" in got.headers["content-security-policy"]


def test_a_link_from_elsewhere_shows_an_empty_form(served: str) -> None:
    got = CLIENT.get(f"{served}copies?text=abc", headers=HTML | {"Sec-Fetch-Site": "cross-site"})
    assert got.status_code == 200
    assert "abc" not in got.text


@pytest.mark.parametrize("path", ["", "trace", "copies"])
def test_every_page_links_to_it(served: str, path: str) -> None:
    page = CLIENT.get(f"{served}{path}", headers=HTML).text
    assert '<a href="copies">' in page
