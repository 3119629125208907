"""The page of rows: it has what the rows have, loads nothing, and runs nothing but its script."""

from __future__ import annotations

import base64
import hashlib
import json
import math
import re
import webbrowser
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from html.parser import HTMLParser
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd
import pytest

import ngramscan
from ngramscan.commands.report import Page
from ngramscan.errors import InputError
from ngramscan.prevalence.count import CountRow
from ngramscan.progress import format_bytes
from ngramscan.reporting.kinds import all_kinds, kind_of
from ngramscan.reporting.page.assemble import make_page
from ngramscan.reporting.page.display import show_rows, source_of
from ngramscan.reporting.page.findings import find
from ngramscan.reporting.page.results import Results
from ngramscan.reporting.provenance import Run
from ngramscan.reporting.sentences.sentence import Sentence
from ngramscan.rows import RowKind, Share, columns_of
from tests.support.command import invoke
from tests.support.row_types import KIND_OF, numbers_of
from tests.support.rows_of_results import (
    COUNTED,
    DIFFERENCES,
    FOUND,
    HOSTILE,
    NUMBERS,
    ROWS_OF,
    compared,
)

if TYPE_CHECKING:
    from playwright.sync_api import Browser

VOID = {"meta", "input", "br", "hr", "img", "link"}
WHEN = "2026-03-04T05:06:07Z"


@dataclass
class Element:
    """An element of a page."""

    tag: str
    attributes: dict[str, str | None]
    text: str = ""
    children: list[Element] = field(default_factory=list)

    def all(self, tag: str = "") -> Iterator[Element]:
        for child in self.children:
            if tag in {"", child.tag}:
                yield child
            yield from child.all(tag)

    @property
    def whole(self) -> str:
        return self.text + "".join(child.whole for child in self.children)


class Reader(HTMLParser):
    """Reads a page; elements that are not closed in order are an error."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.root = Element("root", {})
        self.open = [self.root]
        self.feed(text)
        self.close()
        assert self.open == [self.root]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert len({name for name, _ in attrs}) == len(attrs)
        made = Element(tag, dict(attrs))
        self.open[-1].children.append(made)
        if tag not in VOID:
            self.open.append(made)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.open[-1].children.append(Element(tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop().tag == tag

    def handle_data(self, data: str) -> None:
        self.open[-1].text += data


def read(page: str) -> Element:
    return Reader(page).root


def count_row(**others: Any) -> dict[str, Any]:
    return COUNTED | others


def context_row(**others: Any) -> dict[str, Any]:
    return FOUND | others


@dataclass(frozen=True, slots=True, kw_only=True)
class CountWithShares(CountRow):
    """A row of numbers in units of several kinds."""

    share: Share | None
    eta: Share | None


def results_of(rows: Sequence[dict[str, Any]], name: str = "rows.csv", **others: Any) -> Results:
    kind = kind_of(rows[0])
    assert kind
    return Results(kind, name, (*rows[0],), rows, **others)


def page_of(rows: Sequence[dict[str, Any]], **others: Any) -> str:
    return make_page([results_of(rows, **others)], "A title", WHEN)


def data_of(page: Element) -> Iterator[dict[str, Any]]:
    for script in page.all("script"):
        if script.attributes.get("type") == "application/json":
            yield json.loads(script.text)


def rows_of(data: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the rows that a page has for its script."""
    kept = [dict(zip(data["shown"], row, strict=True)) | data["same"] for row in data["rows"]]
    return [{name: row[name] for name in data["columns"]} for row in kept]


# Numbers and texts


def test_the_page_has_every_value_of_the_rows() -> None:
    numbers = [*NUMBERS, math.inf, -math.inf]
    rows = [
        count_row(occurrences=n, query=HOSTILE[n % len(HOSTILE)], occurrences_low=value)
        for n, value in enumerate(numbers)
    ]
    (data,) = data_of(read(page_of(rows)))
    assert data["columns"] == [*rows[0]]
    kept = [float(row["occurrences_low"]) for row in rows_of(data)]
    assert kept == numbers
    assert [row["query"] for row in rows_of(data)] == [row["query"] for row in rows]
    same = [row | {"occurrences_low": None} for row in rows_of(data)]
    assert same == [row | {"occurrences_low": None} for row in rows]


def facts_of(element: Element) -> dict[str, str]:
    """Return the terms and descriptions of the first list of them."""
    facts = next(element.all("dl"))
    terms = [term.whole.strip() for term in facts.all("dt")]
    return dict(zip(terms, [one.whole.strip() for one in facts.all("dd")], strict=True))


def table_of(page: Element) -> Element:
    """Return the only table of all rows of a file, with what is said above it."""
    (rows,) = (one for one in page.all("div") if one.attributes.get("class") == "rows")
    return rows


def test_columns_that_say_the_same_everywhere_stand_once() -> None:
    rows = table_of(read(page_of([count_row(occurrences=n) for n in range(3)])))
    said = facts_of(rows)
    assert said["source"] == "scan"
    assert said["empty in all rows"].startswith("documents, occurrences low, ")
    assert said["empty in all rows"].endswith(", level, note")
    assert [heading.whole for heading in rows.all("th")] == ["occurrences"]


def test_one_row_is_a_table_of_all_its_columns() -> None:
    row = count_row()
    headings = [heading.whole for heading in table_of(read(page_of([row]))).all("th")]
    columns = KIND_OF["Counts"].columns
    assert sorted(headings) == sorted(columns[name].heading for name in row)


def test_long_texts_are_shown_in_part_and_kept() -> None:
    text, huge = "word " * 200, "x" * 1_000_000
    page = page_of([count_row(query=text), count_row(query=huge)])
    assert len(page) < 200_000
    whole = [one.text for one in read(page).all("div") if one.attributes.get("class") == "whole"]
    assert whole[0] == text
    assert whole[1] == "x" * 10_000 + "… (990,000 more characters)"
    assert "truncated on this page: 1 text." in page


def test_ten_thousand_rows_make_less_than_5_mb() -> None:
    rows = [
        count_row(query=f"pattern {n}", occurrences=n * 7919, occurrences_low=n / 7, note="a note")
        for n in range(10_000)
    ]
    page = page_of(rows)
    (data,) = data_of(read(page))
    assert len(page.encode()) < 5_000_000
    assert rows_of(data) == rows


def test_contexts_show_the_match_between_its_sides() -> None:
    rows = [context_row(rank=n, left=f"{n} left " * 40) for n in range(3)]
    page = read(page_of(rows))
    assert [heading.whole for heading in page.all("th")] == ["left", "match", "right", "rank"]
    assert [mark.text for mark in page.all("mark")] == ["p"] * 3
    left = next(page.all("td"))
    assert next(left.all("summary")).text == f"… {rows[0]['left'][-80:]}"


def test_rows_beyond_the_limits_are_said_to_be_left_out() -> None:
    rows = [count_row(query=f"{n} {'q' * 9000}") for n in range(1000)]
    page = page_of(rows, left_out=500)
    (data,) = data_of(read(page))
    kept = len(data["rows"])
    assert 350 < kept < 500
    assert len(page.encode()) < 5_000_000
    assert rows_of(data) == rows[:kept]
    assert f"1,500 rows, the first {kept} of which are on this page" in page
    assert f"{1500 - kept:,} rows of the file, which the page doesn&#39;t have" in page


def test_columns_of_what_was_found_come_after_those_that_tell_rows_apart() -> None:
    kind = next(kind for kind in all_kinds() if kind.name == "compare")
    names = (
        *("dataset", "model", "n", "accuracy_baseline", "p_exact", "p_holm", "difference"),
        *("difference_low", "difference_high", "treatment"),
    )
    rows = [dict.fromkeys(names, value) | {"dataset": "d"} for value in (0.5, 0.25)]
    table = show_rows(Results(kind, "rows.csv", names, rows), 10**6)
    shown = [column.name for column in table.columns]
    assert shown[:2] == ["model", "treatment"]
    assert shown[2:] == ["difference", "p_holm", "n", "accuracy_baseline", "p_exact"]


def test_the_first_screen_has_findings_that_their_sections_have(subtests: pytest.Subtests) -> None:
    rows = {title: some for title, some in ROWS_OF.items() if title != "Counts"}
    rows[DIFFERENCES] = [compared()]
    parts = [Results(KIND_OF[title], "rows.csv", (*case[0],), case) for title, case in rows.items()]
    page = read(make_page(parts, "All", WHEN))
    named = {str(element.attributes.get("id")): element for element in page.all("section")}
    findings = [*named["summary"].all("li")]
    assert 3 <= len(findings) <= 5
    for finding in findings:
        with subtests.test(finding=finding.text):
            (link,) = finding.all("a")
            section = named[(link.attributes["href"] or "")[1:]]
            assert finding.text.strip() in {line.text for line in section.all("li")}
            assert "[" in finding.text or "No difference is shown" in finding.text
    assert DIFFERENCES in findings[0].whole, "comparisons come first"
    assert next(named["summary"].all("figcaption")).text.startswith(DIFFERENCES)
    sentences = [Sentence("B."), Sentence("A is 1 [0, 2].", is_finding=True), Sentence("C.")]
    assert [sentence.text for sentence in find([(parts[0], sentences)])] == ["A is 1 [0, 2]."]
    order = [
        next(section.all("h2")).text for name, section in named.items() if name.startswith("rows-")
    ]
    titles = {part.kind.title: part.title for part in parts}
    assert order == [titles[kind.title] for kind in all_kinds() if kind.title in rows]


def test_rows_without_a_figure_are_unfolded_however_many_there_are() -> None:
    contexts = page_of([context_row(document=str(n)) for n in range(20)])
    assert '<details class="fold only" open>' in contexts
    counts = page_of([count_row(query=str(n), occurrences=n) for n in range(20)])
    assert '<details class="fold only"' not in counts


def test_the_first_screen_explains_brackets_if_its_findings_have_some() -> None:
    counts = [count_row(query=str(n), occurrences=n) for n in range(3)]
    assert "Brackets enclose" not in page_of(counts)
    row = compared()
    compares = Results(KIND_OF[DIFFERENCES], "rows.csv", (*row,), [row])
    assert "Brackets enclose" in make_page([compares], "A title", WHEN)


def test_findings_say_where_their_rows_are_from_unless_the_sentence_does() -> None:
    row = {"dataset": "FinanceMath", "model": "m", "index": "i"}
    kind = KIND_OF[DIFFERENCES]
    parts = [
        (
            Results(kind, "rows.csv", (*row,), [row, row | {"model": "n"}]),
            "About n on FinanceMath.",
        ),
        (Results(kind, "rows.csv", (*row,), [row], left_out=9), "A mean [0, 1]."),
    ]
    found = find([(one, [Sentence(text, is_finding=True)]) for one, text in parts])
    assert [one.scope for one in found] == [
        "in i",
        "with m on FinanceMath in i, the first 1 row only",
    ]


def test_what_holds_for_the_whole_page_is_said_once() -> None:
    rows = [compared(rule="r"), compared(rule="s")]
    kind = KIND_OF[DIFFERENCES]
    page = make_page([Results(kind, "rows.csv", (*rows[0],), rows)] * 2, None, WHEN)
    assert page.count("Brackets enclose intervals.") == 1
    assert page.count("This page has 2 families of tests") == 1


def test_missing_values_are_said_in_words() -> None:
    rows = [compared(n_unknown=3), compared(difference=None, n_unknown=4), compared(n_unknown=0)]
    kind = KIND_OF[DIFFERENCES]
    page = make_page([Results(kind, "rows.csv", (*rows[0],), rows)], None, WHEN)
    assert "<li>no difference for 1 of 3 rows</li>" in page
    assert "<li>7 unknown results, counted in each row that leaves them out</li>" in page
    assert "<title>pot against cot on d with m</title>" in page
    assert "no number of occurrences for 1 of 2 rows" in page_of(
        [count_row(), count_row(occurrences=None)]
    )


# What a page may do


def test_the_page_runs_its_own_script_and_loads_nothing() -> None:
    page = read(page_of([count_row(), count_row(occurrences=4)]))
    (policy,) = (
        one.attributes["content"] or ""
        for one in page.all("meta")
        if "http-equiv" in one.attributes
    )
    assert policy.startswith("default-src 'none'; ")
    (style,) = page.all("style")
    (script,) = (one for one in page.all("script") if not one.attributes)
    for name, element in (("style", style), ("script", script)):
        digest = base64.b64encode(hashlib.sha256(element.text.encode()).digest()).decode()
        assert f"{name}-src 'sha256-{digest}';" in policy
    loading = ("fetch(", "XMLHttpRequest", "innerHTML", "eval(", "import(", "@import", "url(")
    assert [word for word in loading if word in script.text + style.text] == []


def test_no_text_becomes_an_element_or_an_attribute() -> None:
    rows = [
        count_row(**dict.fromkeys(("index", "method", "pattern", "query", "note"), hostile))
        for hostile in HOSTILE
    ]
    contexts = [
        context_row(
            left=hostile,
            match=hostile,
            right=hostile,
            document=hostile,
            metadata=json.dumps({"url": hostile}),
        )
        for hostile in HOSTILE
    ]
    run = Run(
        HOSTILE[0],
        HOSTILE[1],
        HOSTILE[2],
        HOSTILE,
        dict.fromkeys(HOSTILE, HOSTILE[0]),
    )
    parts = [
        results_of(rows, HOSTILE[0], run=run),
        *(results_of(contexts, hostile) for hostile in HOSTILE),
    ]
    text = make_page(parts, HOSTILE[1], WHEN)
    text.encode()
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e]", text)
    page = read(text)
    assert "49" not in next(page.all("tbody")).whole
    elements = [*page.all()]
    active = {"img", "iframe", "object", "embed", "form", "link", "base"}
    assert [element.tag for element in elements if element.tag in active] == []
    names = {name for element in elements for name in element.attributes}
    assert [name for name in names if name.startswith("on") or name in {"src", "style"}] == []
    links = [element.attributes.get("href") or "#" for element in elements]
    assert [link for link in links if not link.startswith("#")] == []
    assert len([script for script in page.all("script") if not script.attributes]) == 1
    assert len([*data_of(page)]) == len(parts)


@pytest.mark.parametrize(
    ("metadata", "name", "url"),
    [
        pytest.param(
            '{"metadata": {"url": "https://a.org/?b=1&c"}}',
            "https://a.org/?b=1&c",
            True,
            id="nested metadata",
        ),
        pytest.param(
            '{"url": "HTTP://a.org", "source": "s"}', "HTTP://a.org", True, id="upper case"
        ),
        pytest.param('{"url": "javascript:ran()"}', "javascript:ran()", False, id="javascript"),
        pytest.param('{"url": " https://a.org"}', " https://a.org", False, id="a space before"),
        pytest.param(
            '{"url": "https://a.org/\\u202e"}',
            "https://a.org/\u202e",
            False,
            id="a sign that turns text around",
        ),
        pytest.param('{"url": "https://["}', "https://[", False, id="half an address"),
        pytest.param('{"url": 5, "id": "doc-1"}', "doc-1", False, id="a number as address"),
        pytest.param("plain text", "plain text", False, id="plain text"),
        pytest.param("[1]", "[1]", False, id="a list"),
        pytest.param("[" * 100_000, "[" * 100_000, False, id="long 0"),
    ],
)
def test_a_source_is_a_link_only_if_it_is_of_the_web(metadata: str, name: str, url: bool) -> None:
    assert source_of(metadata) == (name, name if url else "")
    page = read(page_of([context_row(metadata=metadata), context_row(rank=1)]))
    links = [one for one in page.all("a") if "target" in one.attributes]
    assert [one.attributes["href"] for one in links] == [name] * url
    assert all(one.attributes["rel"] == "noreferrer noopener" for one in links)


def test_the_script_shows_rows_as_the_page_does(browser: Browser, tmp_path: Path) -> None:
    values = [*NUMBERS, None, float("inf"), *(10**n / 7 for n in range(-9, 17))]
    counts = [
        count_row(query=HOSTILE[n % len(HOSTILE)], note="n" * 40 * n, occurrences_low=value)
        | {"occurrences": n / 8, "share": value, "eta": n / 1600}
        for n, value in enumerate(values)
    ]
    contexts = [
        context_row(
            left=hostile * 9, match=hostile, right=hostile * 9, metadata=json.dumps({"url": url})
        )
        for hostile in HOSTILE
        for url in ("https://a.org/?<b>&c", "javascript:ran()", "", "s" * 90)
    ]
    path = tmp_path / "page.html"
    counted = results_of(counts)
    with_shares = replace(counted.kind, columns=columns_of(CountWithShares))
    parts = [replace(counted, kind=with_shares), results_of(contexts)]
    path.write_text(make_page(parts, "Rows", WHEN))
    page = browser.new_page()
    page.goto(path.as_uri())
    page.evaluate("document.querySelectorAll('.fold').forEach((one) => (one.open = true))")
    cells = "all => all.map(one => [one.className, one.dataset.value ?? null, one.innerHTML])"
    before = page.eval_on_selector_all("td", cells)
    for box in page.locator("input").all():
        box.fill("nothing has this")
        box.fill("")
    after = page.eval_on_selector_all("td", cells)
    page.close()
    assert [(kind, text) for kind, _, text in after] == [(kind, text) for kind, _, text in before]
    pairs = [(value, own) for (_, value, _), (_, own, _) in zip(before, after, strict=True)]
    changed = [(value, own) for value, own in pairs if value != own]
    assert [(value, own) for value, own in changed if float(value) != float(own)] == []


# Methods and provenance


@pytest.mark.parametrize("kind", all_kinds(), ids=lambda kind: kind.title)
def test_a_page_says_how_rows_of_each_kind_are_made(kind: RowKind) -> None:
    texts = dict.fromkeys(kind.needs - numbers_of(kind), "x")
    rows = [texts | dict.fromkeys(numbers_of(kind), value) for value in (0, 0.25, 0.5)]
    page = read(make_page([Results(kind, "rows.csv", (*rows[0],), rows)], "Rows", WHEN))
    (methods,) = (one for one in page.all("section") if one.attributes.get("id") == "methods")
    assert len(methods.whole) > 300
    assert [one.tag for one in methods.all("h3")] == ["h3"]
    assert kind.title in {one.whole for one in page.all("h2")}


def test_the_page_says_how_files_were_made_and_what_is_missing() -> None:
    run = Run("ngramscan count f1 -o a.csv", "9.8.7", WHEN, ("x: no reply",), {"dclm": "17 TB"})
    rows = [count_row(occurrences=n, note="an estimate", seed=20260101) for n in range(3)]
    page = read(page_of(rows, run=run))
    (made,) = (one for one in page.all("section") if one.attributes.get("id") == "provenance")
    said = facts_of(made)
    assert said["made by"] == run.command
    assert (said["version"], said["finished"]) == ("ngramscan 9.8.7", WHEN)
    assert (said["size of dclm"], said["seed"]) == ("17 TB", "20260101")
    assert (said["missing"], said["notes"]) == ("x: no reply", "an estimate (3 rows)")


def test_a_file_that_does_not_say_how_it_was_made_is_unknown() -> None:
    assert "unknown: the file does not say" in page_of([count_row()])


def test_two_files_of_a_kind_are_told_apart() -> None:
    parts = [results_of([count_row()], name) for name in ("first.csv", "second.csv")]
    page = read(make_page(parts, "Both", WHEN))
    contents = next(page.all("nav")).whole
    assert "Counts (first.csv)" in contents
    assert "Counts (second.csv)" in contents
    ids = [one.attributes["id"] for one in page.all() if "id" in one.attributes]
    assert len(ids) == len({*ids})
    links = {one.attributes["href"] for one in page.all("a")}
    assert links <= {f"#{name}" for name in ids}


# The command and the function


@pytest.mark.parametrize("name", ["page.pdf", "page.HTML"])
def test_a_page_among_files_of_rows_is_refused_with_its_option(
    name: str,
) -> None:
    ran = invoke("report", "rows.csv", name)
    assert (ran.code, ran.stdout) == (2, "")
    cure = "-o page.html writes the page, in HTML"
    assert ran.stderr == f"Error: {name}: not a file of rows; {cure}\n"


@pytest.mark.parametrize("name", ["page.pdf", "page.docx", "page.md", "page.ipynb", "page.PDF"])
def test_a_page_is_not_written_under_a_name_of_another_format(tmp_path: Path, name: str) -> None:
    counts = tmp_path / "counts.csv"
    pd.DataFrame([count_row()]).to_csv(counts, index=False)
    file = tmp_path / name
    done = invoke("report", counts, "-o", file)
    said = f"Error: -o {file}: a report is a page in HTML; name it page.html"
    if file.suffix.lower() == ".pdf":
        said += "; a browser prints it as PDF, and --figure FILE.pdf of a command draws its figure"
    assert (done.code, done.stdout, done.stderr) == (2, "", f"{said}\n")
    with pytest.raises(InputError, match="a report is a page in HTML; name it"):
        ngramscan.report(counts).save(file)
    assert not file.exists()


@pytest.mark.parametrize("name", ["page.html", "page.HTM", "page"])
def test_a_page_is_written_under_a_name_that_promises_nothing_else(
    tmp_path: Path, name: str
) -> None:
    counts = tmp_path / "counts.csv"
    pd.DataFrame([count_row()]).to_csv(counts, index=False)
    assert invoke("report", counts, "-o", tmp_path / name).code == 0
    assert (tmp_path / name).read_text().startswith("<!")


@pytest.fixture
def counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file of rows in the current folder."""
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "counts.jsonl"
    path.write_text("".join(json.dumps(count_row(occurrences=n)) + "\n" for n in range(3)))
    return path


def test_the_command_writes_a_page_and_says_its_size_in_bytes(counts: Path) -> None:
    rows = [count_row(occurrences=n, note="数" * 3000) for n in range(3)]
    counts.write_text("".join(json.dumps(row) + "\n" for row in rows))
    done = invoke("report", counts)
    page = Path("report.html").read_bytes()
    size = format_bytes(len(page))
    assert (done.code, done.stdout) == (0, "")
    assert done.stderr == f"report.html: 3 rows of 1 table, {size}\n"
    assert b"<h1>One phrase in x</h1>" in page


def test_a_title_is_a_text(counts: Path) -> None:
    done = invoke("report", counts, counts, "-o", "other.html", "--title", "Two <files>", "-q")
    assert (done.code, done.stderr) == (0, "")
    assert "<h1>Two &lt;files&gt;</h1>" in Path("other.html").read_text()


def test_html_in_a_frame_is_escaped_once() -> None:
    assert 'srcdoc="&lt;b&gt;&amp;amp;&quot;"' in Page('<b>&amp;"')._repr_html_()


def test_the_page_goes_to_standard_output(counts: Path, tmp_path: Path) -> None:
    done = invoke("report", counts, "-o", "-")
    assert done.code == 0
    assert read(done.stdout)
    assert [path.name for path in tmp_path.iterdir()] == [counts.name]


def test_the_browser_opens_the_page(
    counts: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[str] = []
    monkeypatch.setattr(webbrowser, "open", opened.append)
    assert invoke("report", counts, "--open").code == 0
    assert opened == [(tmp_path / "report.html").as_uri()]
    done = invoke("report", counts, "-o", "-", "--open")
    assert (done.code, len(opened)) == (2, 1)


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        pytest.param(["other.csv"], "other.csv: ", id="other columns"),
        pytest.param(["absent.csv"], "absent.csv: ", id="no such file"),
        pytest.param(
            ["counts.jsonl", "-o", "absent/report.html"],
            "no such folder: absent",
            id="no such folder",
        ),
        pytest.param(["counts.jsonl", "-o", "."], "it is a folder", id="a folder as target"),
        pytest.param([], "Missing argument", id="no file named"),
    ],
)
def test_wrong_input_makes_no_page(
    arguments: list[str], problem: str, counts: Path, tmp_path: Path
) -> None:
    (tmp_path / "other.csv").write_text("some,columns\n1,2\n")
    (tmp_path / "report.html").write_text("the page of before")
    done = invoke("report", *arguments)
    assert done.code == 2
    assert problem in done.stderr
    assert (tmp_path / "report.html").read_text() == "the page of before"


def test_a_notebook_shows_the_page_in_a_frame(counts: Path, tmp_path: Path) -> None:
    frame = pd.DataFrame([count_row(occurrences=n) for n in range(3)])
    page = ngramscan.report(frame, counts, title="Both")
    assert isinstance(page, Page)
    assert [path.name for path in tmp_path.iterdir()] == [counts.name], "nothing is written"
    (shown,) = read(page._repr_html_()).children
    assert shown.tag == "iframe"
    assert shown.attributes["srcdoc"] == page.html
    assert "allow-same-origin" not in (shown.attributes["sandbox"] or "")
    assert repr(page).startswith("<Page of ")
    page.save("own.html")
    assert Path("own.html").read_text() == page.html
    ngramscan.report(frame, output="also.html")
    assert "data frame" in Path("also.html").read_text()
    with pytest.raises(InputError, match="expected a file of rows"):
        ngramscan.report()


def test_a_table_without_rows_has_no_section(tmp_path: Path) -> None:
    full, empty = tmp_path / "full.csv", tmp_path / "empty.csv"
    full.write_text("index,pattern,document,left,match,right,metadata\ni,a,0,,a,,\n")
    empty.write_text("index,pattern,document,left,match,right,metadata\n")
    page = tmp_path / "page.html"
    ran = invoke("report", full, empty, "-o", page)
    assert ran.code == 0
    lines = ran.stderr.splitlines()
    assert lines[0] == f"{empty}: no rows; the page has no section for it"
    assert lines[1].startswith(f"{page}: 1 row of 1 table, ")
    assert page.read_text().count('<section id="rows-') == 1
    alone = invoke("report", empty, "-o", tmp_path / "other.html")
    assert (alone.code, alone.stderr) == (2, "Error: RESULTS: no rows in any of them\n")
    assert not (tmp_path / "other.html").exists()
