"""The page of spans shows the traced texts, each span where it is, and obeys none of them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd
import pytest

from ngramscan.errors import InputError
from ngramscan.progress import visible
from ngramscan.reporting.page.display import MOST_TEXT
from ngramscan.reporting.page.results import read_results
from ngramscan.reporting.page.traced import MOST_TEXTS, mark_texts
from tests.support.browser import visiting
from tests.support.command import invoke
from tests.support.marked_texts import ReadText, read_texts
from tests.support.sizes import slow

if TYPE_CHECKING:
    from playwright.sync_api import Browser

COPIED = "the quick brown fox jumps over the lazy dog and then sleeps until the next morning comes"
HOSTILE = (
    'so we </div></mark><script>hacked = 1</script> "><img src=x onerror=hacked=1> {{ 7 }} &amp;'
)
DOCUMENTS = [
    {"text": COPIED, "url": 'https://example.org/?q="><script>hacked=1</script>'},
    {"text": f"{COPIED[32:]} and we all wake up to see it", "url": "javascript:hacked=1"},
    {"text": HOSTILE, "url": "https://example.org/plain"},
]
NUMBER = MOST_TEXTS + 5


def output(number: int) -> str:
    """Return a text with two spans that overlap, and one of a hostile document."""
    return f"{number}\n\t{COPIED} and we all wake up\u202e!\n{HOSTILE}\n{COPIED[:30]} {number} é"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("traced")
    records = [
        {"id": f"q{n}", "question": "the quick brown fox jumps", "output": output(n)}
        for n in range(NUMBER)
    ]
    for name, rows in (("outputs", records), ("corpus", DOCUMENTS)):
        lines = "".join(f"{json.dumps(row)}\n" for row in rows)
        (made / f"{name}.jsonl").write_text(lines)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(made)
        index = ("--index", "scan:corpus.jsonl", "--workers", "1")
        done = invoke("trace", "outputs.jsonl", *index, "--spans", "spans.jsonl", "--format", "csv")
        assert done.code == 0, done.stderr
        done = invoke("report", "spans.jsonl", "-o", "page.html")
        assert done.code == 0, done.stderr
    return made


def rows_of(folder: Path) -> list[dict[str, Any]]:
    lines = (folder / "spans.jsonl").read_text().split("\n")
    return [json.loads(line) for line in lines if line]


@pytest.fixture(scope="module")
def texts_of_page(folder: Path) -> list[ReadText]:
    return read_texts((folder / "page.html").read_text())


@pytest.fixture(scope="module")
def rows_of_file(folder: Path) -> list[dict[str, Any]]:
    return rows_of(folder)


def test_a_page_shows_as_many_texts_as_it_may(folder: Path) -> None:
    page = (folder / "page.html").read_text()
    assert len(read_texts(page)) == MOST_TEXTS
    assert f"Texts shown: {MOST_TEXTS} of {NUMBER} texts with a span" in page
    assert 'href="javascript:' not in page


def beginning_of_note(row: dict[str, Any]) -> str:
    """Return how the note of a span begins."""
    times = f"{row['occurrences']} occurrence{'s' * (row['occurrences'] > 1)} in scan:"
    return f"{row['words']} words; {times}"


@pytest.mark.parametrize("number", range(MOST_TEXTS))
def test_spans_on_the_page_are_those_of_the_file(
    texts_of_page: list[ReadText], rows_of_file: list[dict[str, Any]], number: int
) -> None:
    text, shown = output(number), texts_of_page[number]
    rows = [row for row in rows_of_file if row["id"] == f"q{number}"]
    assert [row["output"] for row in rows] == [text, None, None, None]
    # An escape is longer than its character.
    places = [len(visible(text[: row["start"]])) for row in rows]
    assert shown.text == visible(text)
    assert [mark.start for mark in shown.marks] == places
    inside = {at for row in rows for at in range(row["start"], row["end"])}
    characters = [at for at, _ in enumerate(text) for _ in visible(text[at])]
    assert shown.marked == [at for at, place in enumerate(characters) if place in inside]
    notes = [mark.note for mark in shown.marks]
    beginnings = [beginning_of_note(row) for row in rows]
    assert [
        note[: len(beginning)] for note, beginning in zip(notes, beginnings, strict=True)
    ] == beginnings
    sources = [json.loads(row["metadata"])["source"] for row in rows]
    assert [note.rpartition("example: ")[2] for note in notes] == sources
    overlaps = ["; overlaps the next one; whole: “" in note for note in notes]
    assert overlaps == [True, False, False, False]
    assert f"whole: “{rows[0]['text']}”" in notes[0]
    masked = ["also in the question" in note for note in notes]
    assert masked == [row["masked"] > 0 for row in rows] == [True, False, False, True]


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        pytest.param(
            {"start": 1},
            "spans.jsonl: q0: a span is not at its start and end in the output",
            id="another start",
        ),
        pytest.param(
            {"end": None},
            "spans.jsonl: q0: a span is not at its start and end in the output",
            id="no end",
        ),
        pytest.param(
            {"end": 20, "text": "the quick brown f"},
            "spans.jsonl: q0: a span contains another; was the file changed?",
            id="within another from its start",
        ),
        pytest.param(
            {
                "start": 7,
                "text": (
                    "quick brown fox jumps over the lazy dog and then sleeps until the next "
                    "morning comes"
                ),
            },
            "spans.jsonl: q0: a span contains another; was the file changed?",
            id="within another to its end",
        ),
    ],
)
def test_spans_that_do_not_fit_their_text_are_refused(
    folder: Path, tmp_path: Path, change: dict[str, Any], problem: str
) -> None:
    rows = rows_of(folder)
    (tmp_path / "spans.jsonl").write_text(
        "".join(f"{json.dumps(row)}\n" for row in [rows[0], *rows[1:], rows[0] | change])
    )
    with pytest.raises(InputError, match=problem):
        mark_texts(read_results(tmp_path / "spans.jsonl"), 10**6)


def test_a_text_beyond_the_rows_of_a_page_is_left_out(folder: Path) -> None:
    rows = pd.DataFrame(rows_of(folder))
    shown = mark_texts(
        read_results(rows.assign(output=rows["output"].where(rows["id"] == "q2"))), 10**6
    )
    assert shown
    assert ([text.name for text in shown.texts], shown.total) == (["q2"], NUMBER)


def test_what_is_left_out_is_said(folder: Path) -> None:
    rows = pd.DataFrame(rows_of(folder))
    results = read_results(rows)
    shown = mark_texts(results, 10**6)
    assert shown
    few = mark_texts(results, shown.size_bytes // 4)
    assert few
    assert 0 < len(few.texts) < MOST_TEXTS
    assert few.total == NUMBER
    assert few.size_bytes <= shown.size_bytes // 4
    assert mark_texts(read_results(rows.drop(columns="output")), 10**6) is None
    first = rows[rows["id"] == "q0"]
    long = first.assign(output=first["output"] + "x" * MOST_TEXT)
    cut = mark_texts(read_results(long), 10**6)
    assert cut
    assert cut.texts[0].remark == f"{len(output(0)):,} more characters, with 0 spans, are not shown"


@pytest.mark.parametrize("column", ["index", "dataset", "model", "prompt"])
def test_texts_are_named_by_what_tells_them_apart(folder: Path, column: str) -> None:
    rows = pd.DataFrame(rows_of(folder))
    first = rows[rows["id"] == "q0"]
    both = pd.concat([first.assign(**{column: name}) for name in ("here", "there")])
    shown = mark_texts(read_results(both), 10**6)
    assert shown
    assert [text.name for text in shown.texts] == ["here · q0", "there · q0"]


@pytest.mark.parametrize("width", [390, slow(1280)])
def test_spans_are_reached_with_the_keyboard(browser: Browser, folder: Path, width: int) -> None:
    address = (folder / "page.html").as_uri()
    with visiting(browser, address, viewport={"width": width, "height": 900}) as visit:
        marks = visit.page.locator("details[open] mark[tabindex]")
        visit.page.locator("details[open] summary").first.focus()
        for number in range(4):
            visit.page.keyboard.press("Tab")
            note = marks.nth(number).locator("[role=tooltip]")
            visit.wait_for_focus(marks.nth(number))
            assert marks.nth(number).get_attribute("aria-describedby") == note.get_attribute("id")
            assert note.is_visible()
            box = note.bounding_box()
            assert box
            assert box["x"] >= 0
            assert box["x"] + box["width"] <= width
            if note.locator("a").count():
                visit.page.keyboard.press("Tab")
                assert note.is_visible()
        marks.first.hover()
        assert marks.first.locator("[role=tooltip]").is_visible()
        assert visit.page.evaluate("window.hacked") is None
        assert not visit.is_wider_than_the_window()
        visit.check_both_themes()
