"""Entries and documents are side by side on the page, marked where they share text."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from ngramscan.errors import InputError
from ngramscan.prevalence.contamination.evidence import EvidenceRow
from ngramscan.progress import visible
from ngramscan.reporting.kinds import all_kinds
from ngramscan.reporting.page.assemble import make_page
from ngramscan.reporting.page.display import MOST_TEXT
from ngramscan.reporting.page.results import Results, read_results
from ngramscan.reporting.page.side_by_side import MOST_PAIRS, TextPairs, pair_texts
from ngramscan.reporting.rows import to_frame
from tests.support.browser import WIDTHS, visiting
from tests.support.command import invoke
from tests.support.contaminated_entries import evidence
from tests.support.side_by_side import shown_texts

if TYPE_CHECKING:
    from playwright.sync_api import Browser

HOSTILE = "</div></mark><script>hacked = 1</script> <img src=x onerror=hacked=1> {{ 7 }} \u202e"
IDLE = "The committee met on Tuesday to hear reports about roads. "
TIME = "2026-01-01T00:00:00Z"


def results_of(rows: list[EvidenceRow]) -> Results:
    return read_results(to_frame(rows, EvidenceRow))


def pairs_of(rows: list[EvidenceRow], most_bytes: int = 10**6) -> TextPairs:
    pairs = pair_texts(results_of(rows), most_bytes)
    assert pairs is not None
    return pairs


def test_copied_entries_come_first_then_the_largest_scores() -> None:
    rows = [
        evidence("common", "shared", score=0.99),
        evidence("low", score=0.3),
        evidence("other numbers", "variant", score=1.0),
        evidence("high", score=0.8),
    ]
    assert [pair.name for pair in pairs_of(rows).pairs] == [
        "high",
        "low",
        "other numbers",
        "common",
    ]


def test_a_pair_says_what_its_row_has() -> None:
    row = evidence(
        "q7",
        "variant",
        score=0.875,
        covered=2 / 3,
        source="https://example.org/a?b=1",
        changed="49 → 50",
        answer="not near",
    )
    (pair,) = pairs_of([row]).pairs
    assert (pair.name, pair.summary) == ("q7", "variant, score 87.5%, covered 66.7%")
    assert (pair.document, pair.source, pair.url) == ("crawl.jsonl:7", row.source, row.source)
    assert pair.notes == ["changed numbers: 49 → 50", "the answer is not near"]
    assert pair.remark == ""
    assert [(piece.text, piece.is_shared, piece.is_rare) for piece in pair.entry] == [
        ("How ", True, False),
        ("many red hats ar", True, True),
        ("e there", True, False),
        ("?", False, False),
    ]
    assert [piece.text for piece in pair.passage if not piece.is_shared] == ["They asked ", "."]


@pytest.mark.parametrize("source", ["javascript:hacked=1", "dump 7", "ftp://example.org/"])
def test_only_web_addresses_are_links(source: str) -> None:
    (pair,) = pairs_of([evidence("q", source=source)]).pairs
    assert (pair.source, pair.url) == (source, "")


def test_entries_in_several_corpora_are_named_with_them() -> None:
    rows = [evidence("q"), evidence("q", index="b")]
    assert [pair.name for pair in pairs_of(rows).pairs] == ["a · q", "b · q"]


def test_other_rows_have_no_pairs() -> None:
    kind = next(kind for kind in all_kinds() if kind.name == "contaminate")
    assert pair_texts(Results(kind, "x", (), []), 10**6) is None


@pytest.mark.parametrize(
    "change",
    [
        pytest.param({"text": "short"}, id="another entry"),
        pytest.param({"rare_in_passage": "15-99"}, id="beyond the passage"),
        pytest.param({"shared_in_text": "all of it"}, id="no places"),
    ],
)
def test_places_that_do_not_fit_their_text_are_refused(change: dict[str, str]) -> None:
    with pytest.raises(InputError, match=r"data frame: q1: .*; was the file changed\?"):
        pairs_of([evidence("q1", "copied", **change)])


def test_few_pairs_are_shown_and_the_others_counted() -> None:
    rows = [evidence(f"q{n}", score=n / 100) for n in range(MOST_PAIRS + 7)]
    pairs = pairs_of(rows)
    assert (len(pairs.pairs), pairs.total) == (MOST_PAIRS, MOST_PAIRS + 7)
    assert pairs.pairs[0].name == f"q{MOST_PAIRS + 6}"
    few = pairs_of(rows, pairs.size_bytes // 4)
    assert 0 < len(few.pairs) < MOST_PAIRS
    assert few.size_bytes <= pairs.size_bytes // 4
    assert few.total == MOST_PAIRS + 7
    page = make_page([results_of(rows)], None, TIME)
    assert f"Pairs shown: {MOST_PAIRS} of {MOST_PAIRS + 7} entries with a document" in page
    page = make_page([replace(results_of(rows[:2]), left_out=9)], None, TIME)
    assert "Pairs shown: 2 of 11 entries with a document" in page


def test_the_size_of_pairs_is_what_a_page_needs_for_them() -> None:
    rows = [evidence(f"q{n}", passage="&" * 300 + HOSTILE) for n in range(MOST_PAIRS)]
    pairs = pairs_of([*rows])
    page = make_page([results_of(rows)], None, TIME)
    start, end = page.index('<ul class="levels pair-marks"'), page.index("Pairs shown")
    assert 0.5 < pairs.size_bytes / len(page[start:end].encode()) < 2


def test_a_long_text_is_cut_short_and_its_rest_counted() -> None:
    row = evidence("q", text="How many red hats are there?" + "x" * MOST_TEXT)
    (pair,) = pairs_of([row]).pairs
    assert sum(len(piece.text) for piece in pair.entry) == MOST_TEXT
    assert pair.remark == "28 more characters of the entry are not shown"
    (pair,) = pairs_of([evidence("q", text=row.text, passage=f"{' ' * 38}{row.text}")]).pairs
    assert pair.remark == (
        "28 more characters of the entry and 66 more characters of the document are not shown"
    )


def test_the_page_marks_what_both_texts_have() -> None:
    row = evidence(
        "q",
        "variant",
        text="Ann has 49 red hats.",
        passage="So Bob\n has 50 red hats!",
        shared_in_text="4-7 11-19",
        rare_in_text="11-14",
        shared_in_passage="8-11 15-23",
        rare_in_passage="15-18",
        changed_in_text="8-10",
        changed_in_passage="12-14",
    )
    page = make_page([results_of([row])], None, TIME)
    assert shown_texts(page) == [
        "Ann [has] <49> {red}[ hats].",
        "So Bob\n [has] <50> {red}[ hats]!",
    ]


def test_hostile_texts_stay_texts() -> None:
    row = evidence(
        HOSTILE, document=HOSTILE, source=HOSTILE, changed=HOSTILE, text=HOSTILE, passage=HOSTILE,
        shared_in_text="", rare_in_text="", shared_in_passage="", rare_in_passage="",
    )  # fmt: skip
    page = make_page([results_of([row])], None, TIME)
    assert shown_texts(page) == [visible(HOSTILE)] * 2
    assert "<script>hacked" not in page
    assert "<img" not in page
    assert "\u202e" not in page


# What a command wrote, in a browser


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the evidence of a small benchmark, and a page of it."""
    made = tmp_path_factory.mktemp("evidence")
    problem = (
        "Mina stacked 31 wooden crates beside the lighthouse, and the tide carried 12 of them "
        "to the far shore before noon; how many crates were still beside the lighthouse?"
    )
    documents = [
        {"text": f"{IDLE}{problem.upper()} {IDLE}", "source": "https://example.org/crates"},
        {"text": f"{IDLE}\n{problem.replace('31', '47')}\n{IDLE}"},
        *({"text": f"{n} {IDLE * 3}"} for n in range(50)),
    ]
    entries = [
        {"id": "copied", "question": problem},
        {"id": "variant", "question": problem.replace("31", "58")},
        {
            "id": "part",
            "question": (
                "Mina stacked 99 wooden crates beside the lighthouse, and the tide was low, so she "
                "went home to cook a large dinner"
            ),
        },
        {"id": "none", "question": "Where do the geese of the northern lakes spend the winter?"},
    ]
    for name, rows in (("corpus", documents), ("questions", entries)):
        (made / f"{name}.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(made)
        done = invoke(
            *("contaminate", "questions.jsonl", "--index", "scan:corpus.jsonl", "--workers", "1"),
            *("--evidence", "evidence.csv"),
        )
        assert done.code == 0, done.stderr
        done = invoke("report", "evidence.csv", "-o", "page.html")
        assert done.code == 0, done.stderr
    return made


def test_a_page_of_a_command_shows_copies_and_changed_numbers(folder: Path) -> None:
    page = (folder / "page.html").read_text()
    rest = (
        "wooden crates beside the lighthouse, and the tide carried 12 of them to the far shore "
        "before noon; how many crates were still beside the lighthouse"
    )
    copied = f"Mina stacked 31 {rest}"
    first_texts, (part, document) = shown_texts(page)[:4], shown_texts(page)[4:]
    assert first_texts == [
        f"{{{copied}}}?",
        f"{IDLE}{{{copied.upper()}}}? {IDLE}",
        f"Mina stacked <58> {{{rest}}}?",
        f"{IDLE}MINA STACKED <31> {{{rest.upper()}}}? {IDLE}",
    ]
    # Without a copy, another number says nothing.
    assert part.startswith("Mina stacked 99 {wooden crates beside the lighthouse, and the tide}")
    assert "<" not in part + document
    assert "shared, score " in page
    assert 'href="https://example.org/crates"' in page
    assert "copied, score 100.0%, covered 100.0%" in page
    assert "none" not in re.findall("<summary><strong>(.*?)</strong>", page)


@pytest.mark.parametrize("width", WIDTHS)
def test_texts_are_in_columns_where_there_is_room(
    browser: Browser, folder: Path, width: int
) -> None:
    address = (folder / "page.html").as_uri()
    with visiting(browser, address, viewport={"width": width, "height": 900}) as visit:
        boxes = [side.bounding_box() for side in visit.page.locator(".sides .traced").all()[:2]]
        assert None not in boxes
        (entry, document) = [box for box in boxes if box]
        is_beside = document["x"] >= entry["x"] + entry["width"]
        is_below = document["y"] >= entry["y"] + entry["height"]
        assert (is_beside, is_below) == ((True, False) if width > 800 else (False, True))
        assert not visit.is_wider_than_the_window()
        visit.check_both_themes()


def test_marks_are_told_apart_without_colours(browser: Browser, folder: Path) -> None:
    address = (folder / "page.html").as_uri()
    with visiting(browser, address, java_script_enabled=False) as visit:
        lines = {
            name: visit.page.locator(f".pair-marks .{name}").evaluate(
                "mark => { const s = getComputedStyle(mark);"
                " return [s.borderBottomWidth, s.borderTopWidth, s.borderBottomStyle]; }"
            )
            for name in ("shared", "rare", "changed")
        }
        assert lines == {
            "shared": ["1px", "0px", "solid"],
            "rare": ["3px", "0px", "solid"],
            "changed": ["2px", "2px", "solid"],
        }
        assert visit.page.locator(".sides .traced").first.is_visible()
        visit.page.emulate_media(media="print")
        first, second = visit.page.locator(".sides").first.locator(".traced").all()
        above, below = first.bounding_box(), second.bounding_box()
        assert above
        assert below
        assert below["y"] >= above["y"] + above["height"]
