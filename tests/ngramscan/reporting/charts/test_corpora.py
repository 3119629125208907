"""Figures of counts: corpora side by side on a page of a paper, and snapshots over time."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from ngramscan.indexes.catalog import PAPER
from ngramscan.patterns.files import load_patterns
from ngramscan.prevalence.count import CountRow
from ngramscan.prevalence.totals import Total
from ngramscan.reporting.charts.figure import IN_A_FILE, ON_A_PAGE, Figure
from ngramscan.reporting.charts.files import save_figure
from ngramscan.reporting.charts.panels import draw
from ngramscan.reporting.kinds import kind_of
from ngramscan.reporting.page.assemble import make_page
from ngramscan.reporting.page.results import Results
from ngramscan.reporting.rows import record_of
from ngramscan.reporting.snapshots import times_of
from ngramscan.reporting.summaries.names import last_names
from tests.support.command import invoke
from tests.support.figures import marks, overlapping, texts_of
from tests.support.places import ROOT

EXAMPLES = ROOT / "docs/examples"
SVG = "{http://www.w3.org/2000/svg}"
NAMES = [index.name for index in PAPER]
SNAPSHOTS = NAMES[1:]
PHRASES = ("step by step", "let's think", "\\frac{")


def row_of(index: str, query: str, occurrences: int, **more: Any) -> CountRow:
    given: dict[str, Any] = {
        "method": "CoT",
        "tier": "T1",
        "kind": "narrative",
        "bytes": 10**9 + len(index),
    } | more
    size = given["bytes"]
    rate = None if size is None else occurrences / size * 1e9
    return CountRow(
        index=index,
        unit="bytes",
        pattern=query,
        query=query,
        occurrences=occurrences,
        documents=None,
        source="api",
        asked_at="t",
        per_gigabyte=rate,
        **given,
    )


def total_of(index: str, method: str, tier: str, value: float | None) -> Total:
    return Total(index, "bytes", tier, method, None, "union_per_gigabyte", value)


def results_of(rows: Sequence[Any]) -> Results:
    records = [record_of(row) for row in rows]
    kind = kind_of(records[0])
    assert kind is not None
    return Results(kind, "rows.csv", (*records[0],), records)


def some(indexes: Sequence[str], **more: Any) -> list[CountRow]:
    """Return counts that are all different."""
    return [
        row_of(index, query, 10 + 7 * place + 100 * number, **more)
        for place, index in enumerate(indexes)
        for number, query in enumerate(PHRASES)
    ]


def paper(path: Path) -> tuple[ElementTree.Element, list[CountRow]]:
    """Save the figure of the 46 phrases in the eight corpora, and return it with its rows."""
    patterns = load_patterns("f1").patterns
    rows = [
        row_of(
            index,
            one.text,
            1 + 37 * place * number,
            method=one.method,
            tier=one.tier,
            kind=one.kind,
        )
        for place, index in enumerate(NAMES, start=1)
        for number, one in enumerate(patterns)
    ]
    lists = dict.fromkeys((one.method or "", one.tier or "") for one in patterns)
    totals = [
        total_of(index, method, tier, 3.5 + place)
        for place, index in enumerate(NAMES)
        for method, tier in lists
    ]
    save_figure(path, totals, rows)
    return ElementTree.parse(path).getroot(), rows


def drawn(figure: Figure, place: int = 0) -> ElementTree.Element:
    return ElementTree.fromstring(f"<div>{figure.svg}</div>")[place]


def titles(figures: Sequence[Figure]) -> list[str]:
    return [figure.title for figure in figures]


def looks(sheet: ElementTree.Element) -> dict[str, tuple[str, int]]:
    """Return the colour and the number of parts of the outline of each mark, by its tooltip."""
    found = {}
    for mark in marks(sheet):
        path = next(one for one in mark.iter(f"{SVG}path") if one.get("class") == "dot")
        shape = path.attrib["d"].count("-") + 100 * path.attrib["d"].count("a")
        colour = mark.attrib["color"].rpartition("#")[2].rstrip(")")
        found[mark.findtext(f"{SVG}title") or ""] = (colour, shape)
    return found


def test_phrases_in_the_eight_corpora_fit_on_a_page_of_a_paper(tmp_path: Path) -> None:
    sheet, _ = paper(tmp_path / "a.svg")
    assert float(sheet.attrib["width"]) <= 7 * 96
    assert float(sheet.attrib["height"]) <= 9 * 96
    sizes = {float(one.get("font-size", 12)) for one in sheet.iter(f"{SVG}text")}
    assert min(sizes) >= 8, "six points"
    assert overlapping(sheet) == []
    assert texts_of(sheet, "title") == ["Methods by tier in 8 corpora", "46 phrases in 8 corpora"]


def test_each_corpus_has_a_mark_for_each_phrase_with_its_exact_value(tmp_path: Path) -> None:
    sheet, rows = paper(tmp_path / "a.svg")
    expected = sorted(repr(row.per_gigabyte) for row in rows)
    assert len(expected) == 46 * 8
    of_phrases = marks(sheet)[-len(expected) :]
    assert sorted(mark.attrib["data-value"] for mark in of_phrases) == expected
    row = rows[-1]
    (mark,) = [one for one in of_phrases if one.get("data-value") == repr(row.per_gigabyte)]
    said = mark.findtext(f"{SVG}title") or ""
    assert said.startswith(f"{row.query} in {row.index}: ")
    assert said.endswith(f"; {row.occurrences:,} occurrences")


@pytest.mark.parametrize("first", [0, 3])
def test_a_corpus_has_the_same_colour_and_mark_in_a_file_and_on_a_page(
    tmp_path: Path, first: int
) -> None:
    rows = some(NAMES[first:] + NAMES[:first])
    save_figure(tmp_path / "a.svg", rows)
    first_figure = ElementTree.parse(tmp_path / "a.svg").getroot().find(f"{SVG}svg")
    assert first_figure is not None
    in_file = looks(first_figure)
    on_page = looks(drawn(draw(results_of(rows))[0], 1))
    assert on_page == {said: in_file[said] for said in on_page}
    assert len({*on_page.values()}) == len(NAMES)


def test_phrases_that_occur_nowhere_are_named_below() -> None:
    rows = some(NAMES[:2]) + [row_of(name, "not at all", 0) for name in NAMES[:2]]
    (figure,) = draw(results_of(rows))
    assert "Without any occurrence: “not at all”." in figure.caption
    assert "not at all" not in texts_of(drawn(figure), "label")
    (alone,) = draw(results_of(rows[-2:]))
    assert texts_of(drawn(alone), "label") == ["not at all"]


def test_one_corpus_has_one_mark_per_phrase_and_no_legend() -> None:
    (figure,) = draw(results_of(some(NAMES[:1])))
    assert figure.title == "3 phrases in dclm"
    assert len(marks(drawn(figure))) == 3
    assert texts_of(drawn(figure), "series") == []


def test_without_sizes_occurrences_are_shown_and_the_axis_says_so() -> None:
    known = some(["a"])
    (rates,) = draw(results_of(known))
    assert texts_of(drawn(rates), "tick")[-1] == "occurrences per gigabyte"
    (counts,) = draw(results_of([*known, *some(["b"], bytes=None)]))
    assert texts_of(drawn(counts), "tick")[-1] == "occurrences"
    assert "Sizes of corpora are unknown" in counts.caption
    values = {mark.attrib["data-value"] for mark in marks(drawn(counts))}
    assert values == {"10", "110", "210"}


def test_on_a_page_the_most_frequent_phrases_are_shown_in_their_order() -> None:
    rows = [row_of("a", f"phrase {number}", 100 - number) for number in range(40)]
    (figure,) = draw(results_of(rows))
    shown = texts_of(drawn(figure), "label")
    assert shown == [f"phrase {number}" for number in range(len(shown))]
    assert f"{len(shown)} of 40 rows, the most frequent phrases." in figure.caption
    assert len(marks(drawn(draw(results_of(rows), IN_A_FILE)[0]))) == 40


def test_snapshots_are_lines_in_order_of_time_with_names_at_their_ends(tmp_path: Path) -> None:
    rows = some([*reversed(SNAPSHOTS)])
    lines, dots = draw(results_of(rows))
    assert titles([lines, dots]) == [
        "3 phrases in 7 snapshots, over time",
        "3 phrases in 7 snapshots",
    ]
    sheet = drawn(lines, 1)
    assert sorted(str(name) for name in texts_of(sheet, "series")) == sorted(PHRASES)
    of_phrase = [mark for mark in marks(sheet) if PHRASES[0] in "".join(mark.itertext())]
    across = [float(next(mark.iter(f"{SVG}circle")).attrib["cx"][:-1]) for mark in of_phrase]
    assert across == sorted(across)
    assert ["".join(mark.itertext()).split(":")[0] for mark in of_phrase] == [
        f"{PHRASES[0]} in {name}" for name in SNAPSHOTS
    ]
    steps = [one for one in sheet.iter(f"{SVG}line") if one.get("class") == "step"]
    assert len(steps) == len(PHRASES) * (len(SNAPSHOTS) - 1)
    save_figure(tmp_path / "a.svg", rows)
    assert texts_of(ElementTree.parse(tmp_path / "a.svg").getroot(), "title")[0] == lines.title


def test_other_corpora_have_marks_beside_the_lines() -> None:
    dots, lines = draw(results_of(some(NAMES)))
    assert not dots.is_further
    assert lines.is_further
    sheet = drawn(lines, 1)
    assert len(marks(sheet)) == len(PHRASES) * len(NAMES)
    assert "dclm" in texts_of(sheet, "tick")
    steps = [one for one in sheet.iter(f"{SVG}line") if one.get("class") == "step"]
    assert len(steps) == len(PHRASES) * (len(SNAPSHOTS) - 1), "none leads to the other corpus"


def test_a_file_has_no_further_figure_for_which_its_page_has_no_room(tmp_path: Path) -> None:
    save_figure(tmp_path / "few.svg", some(NAMES))
    few = ElementTree.parse(tmp_path / "few.svg").getroot()
    assert texts_of(few, "title")[1:] == ["3 phrases in 8 corpora, over time"]
    many, _ = paper(tmp_path / "many.svg")
    assert not any("over time" in str(title) for title in texts_of(many, "title"))


def test_corpora_are_named_by_the_last_part_of_their_path_if_these_differ() -> None:
    paths = ["scan:/a/b/one.jsonl", "fm9:/a/b/two/", "v2_dclm_all", "mine"]
    assert [*last_names(paths).values()] == ["one.jsonl", "two", "dclm", "mine"]
    alike = ["scan:/a/one.jsonl", "scan:/b/one.jsonl", "scan:/b/two.jsonl"]
    assert [*last_names(alike).values()] == [*alike[:2], "two.jsonl"]


@pytest.mark.parametrize(
    ("names", "ordered"),
    [
        pytest.param(["cc-2025-30", "v2_cc_2025-05", "dclm", "CC-MAIN-2024-51"],
                     ["CC-MAIN-2024-51", "v2_cc_2025-05", "cc-2025-30"], id="crawls"),
        pytest.param(["2024", "2023", "2025"], ["2023", "2024", "2025"], id="years"),
        pytest.param(["2024-05", "2024-05-31", "2024-01"], ["2024-01", "2024-05", "2024-05-31"],
                     id="months and days"),
        pytest.param(["2024-05", "2024-50", "2024-20"], ["2024-05", "2024-20", "2024-50"],
                     id="weeks without a prefix"),
        pytest.param(["2024-W50", "2024-W05", "2023-W52"], ["2023-W52", "2024-W05", "2024-W50"],
                     id="weeks"),
        pytest.param(["2024", "2025", "mine"], [], id="two are no line"),
        pytest.param(["c4-2019", "2024-13-40", "20245", "cc-2025-99"], [], id="no times"),
    ],
)  # fmt: skip
def test_names_of_snapshots_have_times(names: list[str], ordered: list[str]) -> None:
    assert list(times_of(names)) == ordered


def test_a_pdf_has_the_texts_and_the_same_bytes_twice(tmp_path: Path) -> None:
    rows = some(NAMES)
    for name in ("a.pdf", "b.pdf"):
        save_figure(tmp_path / name, rows)
    content = (tmp_path / "a.pdf").read_bytes()
    assert content.startswith(b"%PDF-")
    assert content == (tmp_path / "b.pdf").read_bytes()
    assert b"CreationDate" not in content
    assert b"/CIDFontType2" in content or b"/TrueType" in content
    assert b"/Type3" not in content
    if command := shutil.which("pdftotext"):
        asked = [command, str(tmp_path / "a.pdf"), "-"]
        text = subprocess.run(asked, capture_output=True, text=True, check=True).stdout
        assert "step by step" in text
        assert "3 phrases in 8 corpora" in text


def test_totals_are_marks_per_method_and_tier() -> None:
    totals = [
        total_of(index, method, tier, value)
        for index in ("a", "b")
        for method, tier, value in (("CoT", "T1", 2.5), ("CoT", "T2", 0.5), ("PoT", "T1", 4.0))
    ]
    totals += [
        total_of("a", "CoT", "T1+T2", 3.0),
        total_of("sum over 2 crawl snapshots", "CoT", "T1", 9.0),
    ]
    (figure,) = draw(results_of(totals))
    assert figure.title == "Methods by tier in 2 corpora"
    assert texts_of(drawn(figure), "group") == ["CoT", "PoT"]
    assert texts_of(drawn(figure), "label") == ["T1", "T2", "T1"]
    values = [mark.attrib["data-value"] for mark in marks(drawn(figure))]
    assert values == ["2.5", "2.5", "0.5", "0.5", "4.0", "4.0"]
    assert draw(results_of([total_of("a", "CoT", "T1", None)]), ON_A_PAGE) == []


def test_the_command_draws_methods_above_phrases(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(EXAMPLES, tmp_path / "examples")
    monkeypatch.chdir(tmp_path / "examples")
    indexes = ("--index", "scan:corpus.jsonl", "--index", "scan:crawl.jsonl")
    done = invoke("count", "mine.yaml", *indexes, "-o", "a.csv", "--figure", "a.svg")
    assert done.code == 0, done.stderr
    sheet = ElementTree.parse("a.svg").getroot()
    assert texts_of(sheet, "title") == ["Methods by tier in 2 corpora", "4 phrases in 2 corpora"]
    assert texts_of(sheet, "group") == ["CoT", "F-1", "CoT T1", "F-1 T2"]


def test_a_page_has_each_figure_once_and_those_of_single_entries_folded() -> None:
    entries = [
        {"index": "a", "rule": "mini: x", "id": str(place), "windows": 4, "found": place}
        | {"verdict": "dirty", "eta": place / 4, "eta_low": place / 4, "eta_high": place / 4}
        for place in range(1, 5)
    ]
    kind = kind_of(entries[0])
    assert kind is not None
    results = [results_of(some(NAMES)), Results(kind, "entries.csv", (*entries[0],), entries)]
    page = make_page(results, None, "2026-01-01T00:00:00+00:00")
    captions = re.findall("<figcaption>(.*?)</figcaption>", page)
    assert captions[0] == "3 phrases in 8 corpora"
    assert len(captions) == len({*captions}) == 3
    of_entries = page.partition("Contamination of each entry · a")[0]
    assert of_entries.rpartition("<details")[2].count("</details>") == 0
