"""The page of `ngramscan report` in a real browser: nothing leaves it, and all of it works."""

from __future__ import annotations

import csv
import io
import json
import math
import re
import shutil
import threading
from collections.abc import Iterator, Sequence
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd
import pytest
from playwright.sync_api import expect

import ngramscan
from ngramscan.prevalence.contexts import ContextRow
from ngramscan.prevalence.count import CountRow
from ngramscan.reporting.layout import cell, percent
from ngramscan.reporting.rows import Target, to_bytes
from tests.support.browser import COLORS, PATIENCE_MS, WIDTHS, Visit, visiting
from tests.support.command import invoke
from tests.support.places import ROOT
from tests.support.sizes import slow

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Locator

EXAMPLES = ROOT / "docs/examples"
Cells = dict[str, Any]
SCORES = ("scores.jsonl", "--rule", "numbers")
COMMANDS = {
    "count.csv": ("count", "mine.yaml", "--index", "scan:corpus.jsonl"),
    "docnorm.jsonl": ("docnorm", "mine.yaml", "--index", "scan:corpus.jsonl"),
    "contexts.json": ("contexts", "-e", "buys", "-n", "40", "--index", "scan:crawl.jsonl"),
    "entries.parquet": (
        *("contaminate", "exam.jsonl", "--index", "scan:crawl.jsonl", "--rule", "mini"),
    ),
    "presence.csv": ("blend", "outputs/example-formulas"),
    "comparisons.csv": ("compare", *SCORES, "--baseline", "cot"),
    "efficiency.csv": ("efficiency", *SCORES, "--usage", "usage.jsonl"),
}
FURTHER = {
    "count.csv": {"--totals": "totals.csv"},
    "entries.parquet": {"--shares": "shares.csv"},
    "presence.csv": {"--presence": "presence.jsonl"},
}
NOT_RUN = "window.hacked = true; alert(1); fetch('http://127.0.0.1:9/')"
BIDI_AND_CONTROLS = re.compile(
    "[\0-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]"
)
HOSTILE = (
    f"<script>{NOT_RUN}</script>",
    f"</script><script>{NOT_RUN}</script>",
    f"<!--<script>{NOT_RUN}</script>",
    f'</textarea></title></style><img src=x onerror="{NOT_RUN}">',
    f'<svg onload="{NOT_RUN}"><title></svg>',
    f'\'" autofocus onfocus="{NOT_RUN}" x="',
    "<iframe srcdoc='<script>parent.hacked = true</script>'></iframe><base href='//127.0.0.1:9/'>",
    "{{ 7 * 7 }} ${7 * 7} {% raw %} &lt;b&gt; \\u003cb\\u003e",
    "\x1b[31mred\x1b]0;title\x07 \0 \u202egnp.exe \u2066x\u2069 \u2028 \u2029 \x9b2J",
    "é" * 200_000,
    "x" * 200_000 + " \ufffd half",
)


def as_value(value: Any) -> Any:
    """Return a value of a file as all formats have it."""
    if value is None or value == "" or pd.isna(value):
        return None
    if isinstance(value, bool) or value in {"True", "False"}:
        return str(value)
    try:
        return float(value)
    except (TypeError, ValueError):
        return value


def read_rows(path: Path) -> list[Cells]:
    """Read a file of rows, without any of the code that a page uses."""
    if path.suffix == ".parquet":
        frame = pd.read_parquet(path)
        rows = frame.astype(object).to_dict("records")
    elif path.suffix == ".csv":
        rows = list(csv.DictReader(io.StringIO(path.read_text(), newline="")))
    elif path.suffix == ".json":
        rows = json.loads(path.read_text())
    else:
        rows = [json.loads(line) for line in path.read_text().split("\n") if line]
    return [{str(name): as_value(value) for name, value in row.items()} for row in rows]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder with files of rows, a page of all of them, and a server of its files."""
    made = tmp_path_factory.mktemp("report") / "examples"
    shutil.copytree(EXAMPLES, made)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(made)
        for name, command in COMMANDS.items():
            further = [part for pair in FURTHER.get(name, {}).items() for part in pair]
            done = invoke(*command, *further, "-o", name, "--provenance")
            assert done.code == 0, done.stderr
        done = invoke("report", *FILES, "-o", "page.html")
        assert done.code == 0, done.stderr
        yield made


FILES = [*COMMANDS, *(name for further in FURTHER.values() for name in further.values())]


@pytest.fixture(scope="module")
def page(folder: Path) -> str:
    return (folder / "page.html").as_uri()


@pytest.fixture(scope="module")
def http_page(folder: Path) -> Iterator[str]:
    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(folder))) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/page.html"
        server.shutdown()
        thread.join()


ROWS = ".box:not(.summary)"
"""The box of the table of all rows of a part; a summary has one of its own."""


def sections(visit: Visit) -> dict[str, Locator]:
    """Return the part of each file, by its name, unfolded."""
    visit.page.evaluate("document.querySelectorAll('.fold').forEach((one) => (one.open = true))")
    parts = visit.page.locator("section.results").all()
    names = [str(part.locator(ROWS).get_attribute("aria-label")) for part in parts]
    return {name.removeprefix("Rows of "): part for name, part in zip(names, parts, strict=True)}


VALUE = """const value = (cell) => cell.dataset.value
    ?? cell.querySelector(".whole")?.textContent ?? cell.textContent;"""
SORTED = f"""heads => {{ {VALUE} return heads.map((head) => [1, 2].map(() => {{
    head.querySelector("button").click();
    const rows = [...head.closest("table").tBodies[0].rows];
    return [head.ariaSort, rows.map((row) => value(row.cells[head.cellIndex]))]; }})); }}"""


def shown_rows(part: Locator) -> list[Cells]:
    """Read a table back: the exact values of numbers, the texts of other cells."""
    found = part.evaluate(
        f"""part => {{ {VALUE} """
        """ const same = [...part.querySelectorAll("dl.facts dt[data-column]")].map((name) =>
                [name.dataset.column, value(name.nextElementSibling)]);
            const ends = ({ low, high }) => (low === undefined ? [] : [low, high]);
            const names = [...part.querySelectorAll(".box:not(.summary) thead th")].flatMap((one) =>
                [one.dataset.column, ...ends(one.dataset)]);
            const rows = [...part.querySelectorAll(".box:not(.summary) tbody tr")].map((row) =>
                [...row.cells].flatMap((cell) => [value(cell), ...ends(cell.dataset)]));
            return [same, names, rows];
        }"""
    )
    same, names, rows = found
    constant = {name: as_value(value) for name, value in same}
    return [
        constant | {name: as_value(value) for name, value in zip(names, row, strict=True)}
        for row in rows
    ]


def show_all(part: Locator) -> None:
    more = part.locator("button.more")
    while more.is_visible():
        more.click()


def numbers(row: Cells) -> Cells:
    return {
        name: value
        for name, value in row.items()
        if isinstance(value, float) and name != "metadata"  # shown as the source that is in it
    }


# The test's own eyes


def click_and_wait(visit: Visit) -> None:
    """Click, and give the page time to do what it should not; `visiting` tells whether it did."""
    visit.page.locator("button").click()
    for _ in range(PATIENCE_MS // 50):
        if visit.has_done_something():
            return
        visit.page.wait_for_timeout(50)


@pytest.mark.parametrize(
    "wrong",
    [
        "<script>missing()</script>",
        "<script>console.error('x')</script>",
        "<script>alert(1)</script>",
        "<script>open('about:blank')</script>",
        "<script>fetch('http://127.0.0.1:9/')</script>",
        "<img src='none.png' alt=''>",
    ],
)
def test_what_goes_wrong_on_a_page_is_noticed(browser: Browser, tmp_path: Path, wrong: str) -> None:
    path = tmp_path / "page.html"
    path.write_text(f"<!doctype html><title>x</title><button>x</button>{wrong}")
    with pytest.raises(AssertionError), visiting(browser, path.as_uri()) as visit:
        click_and_wait(visit)


def test_violations_are_noticed(browser: Browser, tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    path.write_text("<!doctype html><title>x</title><input><p style='color: #eee'>pale</p>")
    with visiting(browser, path.as_uri()) as visit:
        found = [one.partition(":")[0] for one in visit.violations()]
        assert {"html-has-lang", "color-contrast", "label"} <= {*found}


# The page


@pytest.mark.parametrize("width", WIDTHS)
def test_it_fits_and_is_accessible(browser: Browser, page: str, width: int) -> None:
    with visiting(browser, page, viewport={"width": width, "height": 900}) as visit:
        assert not visit.is_wider_than_the_window()
        visit.check_both_themes()


def test_every_number_on_it_is_that_of_its_row(
    browser: Browser, http_page: str, folder: Path, subtests: pytest.Subtests
) -> None:
    compared = 0
    with visiting(browser, http_page) as visit:
        parts = sections(visit)
        assert sorted(parts) == sorted(FILES)
        for name, part in parts.items():
            with subtests.test(name=name):
                expected = read_rows(folder / name)
                show_all(part)
                shown = shown_rows(part)
                assert [numbers(row) for row in shown] == [numbers(row) for row in expected], name
                compared += sum(len(numbers(row)) for row in shown)
                titles = part.locator(f"{ROWS} td.number").evaluate_all(
                    "cells => cells.map((cell) => [cell.title, cell.dataset.value || 'unknown'])"
                )
                assert [title for title, value in titles if title != value] == []
    assert compared > 2000


def test_what_is_rounded_is_near_its_value(browser: Browser, page: str) -> None:
    with visiting(browser, page) as visit:
        cells = visit.page.locator(f"{ROWS} td.number").evaluate_all(
            "cells => cells.map((cell) => [cell.textContent, cell.closest('table').rows[0]"
            ".cells[cell.cellIndex].textContent, Object.values(cell.dataset)])"
        )
    assert len(cells) > 500
    far = []
    for text, heading, values in cells:
        is_fraction = heading.endswith((", %", ", points"))
        expected = [float(value) * (100 if is_fraction else 1) for value in values if value]
        figures = re.findall(r"[^][ ,–]+", re.sub(r"(?<=\d),(?=\d)", "", text))
        shown = [float(figure) for figure in figures]
        if len(shown) == len(expected) + 1:
            shown.remove(math.inf)  # there is no upper limit
        if shown != pytest.approx(expected, rel=6e-3, abs=0.0501 if is_fraction else 0):
            far.append((heading, text, expected))
    assert far == []


def in_order(values: list[Any], is_id: bool, is_descending: bool) -> list[Any]:
    """Return the values of a column as a table that is sorted by it has them."""
    known = [value for value in values if value is not None]
    # Ids are names, even where they look like numbers.
    known = [str(int(value)) for value in known] if is_id else known
    # A line feed would break a line of the table, so it is shown as a sign.
    shown = [
        as_value(value.replace("\n", "⏎") if isinstance(value, str) else value)
        for value in sorted(known, reverse=is_descending)
    ]
    return shown + [None] * (len(values) - len(known))


@pytest.mark.parametrize("name", ["count.csv", "comparisons.csv", "contexts.json"])
def test_rows_are_sorted_by_any_column(
    browser: Browser, page: str, folder: Path, name: str, subtests: pytest.Subtests
) -> None:
    with visiting(browser, page) as visit:
        part, rows = sections(visit)[name], read_rows(folder / name)
        show_all(part)
        heads = part.locator(f"{ROWS} thead th")
        columns = heads.evaluate_all("heads => heads.map((head) => head.dataset.column)")
        for column, sorted_rows in zip(columns, heads.evaluate_all(SORTED), strict=True):
            if column == "metadata":
                continue  # shown as the source that is in it
            values = [row[column] for row in rows]
            with subtests.test(column=column):
                shown = [
                    (order, [as_value(text) for text in texts]) for order, texts in sorted_rows
                ]
                assert shown == [
                    ("ascending", in_order(values, column == "id", is_descending=False)),
                    ("descending", in_order(values, column == "id", is_descending=True)),
                ]
        assert part.locator("[aria-sort=descending]").count() == 1


OVERHANG = """(cell) => {
    const box = cell.closest(".box").getBoundingClientRect();
    return Math.max(0, cell.getBoundingClientRect().right - box.right);
}"""


@pytest.mark.parametrize(
    ("name", "cell", "width"),
    [
        pytest.param("comparisons.csv", "th[data-column=p_holm]", 1280, id="p-values"),
        pytest.param("contexts.json", "th[data-column=metadata]", 1280, id="sources"),
        pytest.param("contexts.json", "tbody td.right", 390, id="contexts on a phone"),
        pytest.param("contexts.json", "tbody td.source", 390, id="sources on a phone"),
    ],
)
def test_what_was_found_is_in_sight_without_scrolling(
    browser: Browser, page: str, name: str, cell: str, width: int
) -> None:
    with visiting(browser, page, viewport={"width": width, "height": 900}) as visit:
        found = sections(visit)[name].locator(cell).first
        assert found.is_visible()
        assert found.evaluate(OVERHANG) == 0


def test_contexts_are_shown_on_a_phone_without_a_touch(browser: Browser, page: str) -> None:
    with visiting(browser, page, viewport={"width": 390, "height": 900}) as visit:
        box = visit.page.get_by_role("region", name="Rows of contexts.json")
        assert box.locator("td.match").first.is_visible()
        assert not visit.page.get_by_role("region", name="Rows of count.csv").is_visible()


def test_line_ends_of_texts_are_a_sign_as_drawn_and_as_sorted(
    browser: Browser, page: str, folder: Path
) -> None:
    assert any("\n" in str(row["right"]) for row in read_rows(folder / "contexts.json"))
    with visiting(browser, page) as visit:
        part = sections(visit)["contexts.json"]
        for _ in range(2):
            texts = part.locator("td.left, td.right").all_inner_texts()
            assert any("⏎" in text for text in texts)
            assert not any("\\n" in text for text in texts)
            part.locator(f"{ROWS} thead th button").first.click()


def test_rows_are_filtered_and_counted_aloud(browser: Browser, page: str) -> None:
    with visiting(browser, page) as visit:
        part = sections(visit)["entries.parquet"]
        show_all(part)
        rows, field = shown_rows(part), part.get_by_label("Filter")
        aloud = part.locator("[role=status]")
        field.fill("DIRTY")
        found = [row for row in rows if row["verdict"] == "dirty"]
        assert 0 < len(found) < len(rows)
        expect(aloud).to_contain_text(f"{len(found)} of {len(rows)} rows", timeout=PATIENCE_MS)
        assert shown_rows(part) == found
        field.fill("no row has this")
        expect(aloud).to_contain_text(f"0 of {len(rows)} rows", timeout=PATIENCE_MS)
        assert shown_rows(part) == []
        field.fill("")
        visit.wait_until(lambda: shown_rows(part) == rows, "not all rows came back")


def test_rows_are_copied_as_csv_and_latex(
    browser: Browser, http_page: str, folder: Path, subtests: pytest.Subtests
) -> None:
    granted = ["clipboard-read", "clipboard-write"]
    with visiting(browser, http_page, permissions=granted) as visit:
        for name, part in sections(visit).items():
            with subtests.test(name=name):
                part.locator("button.csv").click()
                part.get_by_text(re.compile(r"^Copied [0-9]")).wait_for()
                text = visit.page.evaluate("navigator.clipboard.readText()")
                copied = list(csv.DictReader(io.StringIO(text, newline="")))
                values = [{name: as_value(value) for name, value in row.items()} for row in copied]
                assert values == read_rows(folder / name)
                part.locator("button.latex").click()
                part.get_by_text("as LaTeX").wait_for()
                latex = visit.page.evaluate("navigator.clipboard.readText()")
                assert latex.count("\\\\\n") == len(values) + 1
                assert "\\begin{tabular}" in latex
                assert "\\end{tabular}" in latex


def test_without_permission_what_is_copied_stands_selected(
    browser: Browser, page: str, folder: Path
) -> None:
    with visiting(browser, page) as visit:
        part = sections(visit)["count.csv"]
        # As browsers do that know no clipboard, or refuse it.
        visit.page.evaluate("() => { navigator.clipboard.writeText = () => Promise.reject(); }")
        part.get_by_label("Filter").fill("frac")
        part.get_by_label("Filter").fill("sqrt")
        part.locator("button.csv").click()
        field = part.locator("textarea")
        field.wait_for()
        rows = list(csv.DictReader(io.StringIO(field.input_value())))
        assert [row["query"] for row in rows] == ["\\sqrt{"]
        assert field.evaluate("one => one.selectionEnd - one.selectionStart === one.value.length")
        visit.wait_for_focus(field)


def test_the_keyboard_alone_reaches_and_works_everything(browser: Browser, page: str) -> None:
    with visiting(browser, page) as visit:
        visit.check_focus()
        press = visit.page.keyboard.press
        part = sections(visit)["count.csv"]
        head = part.locator(f"{ROWS} thead th").filter(has_text="occurrences").first
        for key, order in (("Enter", "ascending"), ("Space", "descending")):
            head.locator("button").focus()
            press(key)
            expect(head).to_have_attribute("aria-sort", order, timeout=PATIENCE_MS)
        part.get_by_label("Filter").focus()
        visit.page.keyboard.type("sqrt")
        visit.wait_until(lambda: len(shown_rows(part)) == 1, "the filter left more than one row")
        visit.page.locator("a.skip").focus()
        press("Enter")
        visit.wait_for_focus(visit.page.locator("main"))


def background(visit: Visit) -> int:
    """Return how bright the page is, from 0 to 765."""
    color = visit.page.evaluate("getComputedStyle(document.body).backgroundColor")
    return sum(int(part) for part in re.findall(r"\d+", color)[:3])


def test_the_theme_follows_the_system_and_a_button(browser: Browser, page: str) -> None:
    with visiting(browser, page, color_scheme="dark") as visit:
        assert background(visit) < 200
        visit.page.emulate_media(color_scheme="light")
        visit.wait_until(lambda: background(visit) > 600, "it is not light with the system")
        visit.page.locator("#theme").click()
        visit.wait_until(lambda: background(visit) < 200, "the button did not make it dark")
        assert visit.violations(*COLORS) == []
        visit.page.locator("#theme").click()
        visit.wait_until(lambda: background(visit) > 600, "the button did not make it light")


@pytest.mark.parametrize("color_scheme", ["light", slow("dark")])
def test_it_is_printed_dark_on_white_without_controls(
    browser: Browser, page: str, color_scheme: str
) -> None:
    with visiting(browser, page, color_scheme=color_scheme) as visit:
        visit.page.emulate_media(media="print")
        text = "getComputedStyle(document.querySelector('h1')).color"
        assert background(visit) in {0, 765}, "white, or none"
        assert sum(map(int, re.findall(r"\d+", visit.page.evaluate(text))[:3])) < 300
        controls = ("#theme", ".tools", "button.more")
        assert not [one for one in controls if visit.page.locator(one).first.is_visible()]
        assert all(one.is_visible() for one in visit.page.locator("table").all())


def test_without_scripts_it_can_be_read(browser: Browser, page: str) -> None:
    with visiting(browser, page, java_script_enabled=False) as visit:
        assert visit.page.locator(f"section.results {ROWS} table").count() == len(FILES)
        assert visit.page.locator("tbody tr").count() > 300
        controls = visit.page.locator("#theme, .tools, button.more, textarea").all()
        assert [control.inner_html() for control in controls if control.is_visible()] == []


def test_the_page_says_how_its_rows_were_made(browser: Browser, page: str, folder: Path) -> None:
    with visiting(browser, page) as visit:
        sections(visit)
        provenance = visit.page.locator("#provenance").inner_text()
    commands = [" ".join(command[:2]) for command in COMMANDS.values()]
    files = [f"-o {name}" for name in COMMANDS]
    assert [text for text in [*commands, *files] if text not in provenance] == []
    assert ngramscan.__version__ in provenance
    assert f"{(folder / 'corpus.jsonl').name}" in provenance


def spellings(value: float) -> set[str]:
    """Return the texts that a page may show for a number."""
    texts = {cell(value), cell(int(value)), f"{percent(value)}%", percent(value)}
    return {text.replace("-", "−") for text in texts}


def test_tooltips_of_figures_have_the_values_of_rows(
    browser: Browser, page: str, folder: Path, subtests: pytest.Subtests
) -> None:
    with visiting(browser, page) as visit:
        for name, part in sections(visit).items():
            rows = read_rows(folder / name)
            known = {value for row in rows for value in numbers(row).values()}
            marks = part.locator("figure svg g.row").evaluate_all(
                "all => all.map((one) => [one.querySelector('title').textContent,"
                " Object.values(one.dataset)])"
            )
            numbers_of_marks = [(title, float(text)) for title, texts in marks for text in texts]
            unknown = [(title, value) for title, value in numbers_of_marks if value not in known]
            untold = [
                (title, value)
                for title, value in numbers_of_marks
                if not any(text in title for text in spellings(value))
            ]
            with subtests.test(name=name):
                assert unknown == []
                assert untold == []


# Hostile rows


def context_of(text: str, source: str = "") -> ContextRow:
    metadata = json.dumps({"url": source}) if source else text
    return ContextRow("scan:x", text, text, None, text, text, text, 0, 1, metadata)


def counted(text: str, occurrences: int) -> CountRow:
    at = "2026-01-01T00:00:00+00:00"
    names = (text, text, text, text, text)
    return CountRow("scan:x", "bytes", *names, occurrences, 1, "scan", at, note=text)


LINKS = (
    "javascript:window.hacked=true",
    " javascript:window.hacked=true",
    "java\nscript:window.hacked=true",
    "data:text/html,<script>1</script>",
    "vbscript:x",
    "file:///etc/passwd",
    "//127.0.0.1:9/x",
    'https://example.org/?q="><script>window.hacked=true</script>',
    "https://example.org/\u202egnp.exe",
    "https://example.org/plain",
)


@pytest.fixture
def hostile_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    contexts = [*map(context_of, HOSTILE), *(context_of("x", link) for link in LINKS)]
    counts = [counted(text, number) for number, text in enumerate(HOSTILE)]
    evil = f"<img src=x onerror={NOT_RUN.replace('/', '')}>"
    files = [tmp_path / f"{evil}.jsonl", tmp_path / "counts.json", tmp_path / "contexts.parquet"]
    of_files: list[Sequence[Any]] = [contexts, counts, contexts]
    for path, rows in zip(files, of_files, strict=True):
        path.write_bytes(to_bytes(rows, type(rows[0]), Target(path.suffix[1:])))
    lines = [json.loads(line) for line in files[0].read_text().split("\n") if line]
    changed = [line | {HOSTILE[1]: HOSTILE[3]} for line in lines]
    files[0].write_text("".join(json.dumps(line) + "\n" for line in changed))
    done = invoke("report", *files, "--title", HOSTILE[4], "-o", tmp_path / "page.html")
    assert done.code == 0, done.stderr
    return (tmp_path / "page.html").as_uri()


def test_hostile_rows_run_nothing_and_break_nothing(
    browser: Browser, hostile_page: str, tmp_path: Path, subtests: pytest.Subtests
) -> None:
    assert (tmp_path / "page.html").stat().st_size < 5_000_000
    with visiting(browser, hostile_page, viewport={"width": 375, "height": 800}) as visit:
        assert not visit.is_wider_than_the_window()
        parts = sections(visit)
        assert len(parts) == 3
        for name, part in parts.items():
            with subtests.test(name=name):
                show_all(part)
                head = part.locator(f"{ROWS} thead th button").first
                head.click()
                part.get_by_label("Filter").fill("<script>")
                part.get_by_label("Filter").fill("")
                part.locator("button.csv").click()
                part.locator("button.latex").click()
                part.locator("td summary").evaluate_all("all => all.forEach((one) => one.click())")
                assert part.locator(f"{ROWS} tbody tr").count() >= len(HOSTILE)
        assert visit.page.evaluate("window.hacked") is None
        whole = visit.page.content()
        assert not BIDI_AND_CONTROLS.search(whole.replace("\n", ""))
        assert "\\x1b[31m" in visit.page.locator("main").inner_text()
        allowed = "script[type='application/json'], body > script"
        assert visit.page.locator("script").count() == visit.page.locator(allowed).count()
        foreign = "iframe, base, object, embed, img, form, [onerror], [onload], [onfocus]"
        active = visit.page.locator(foreign).evaluate_all("all => all.map((one) => one.outerHTML)")
        assert active == []
        links = visit.page.locator("a").evaluate_all("all => all.map((one) => one.href)")
        assert "https://example.org/plain" in links
        assert all(link.startswith((visit.page.url, "https://")) for link in links)
        assert visit.violations() == []


@pytest.mark.parametrize(("rows", "is_cut"), [(10_000, False), slow(200_000, True)])
def test_of_many_rows_few_are_drawn_and_all_are_found(
    browser: Browser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rows: int, is_cut: bool
) -> None:
    made = [counted(f"step {number}", number) for number in range(rows)]
    (tmp_path / "rows.csv").write_bytes(to_bytes(made, CountRow, Target("csv")))
    monkeypatch.chdir(tmp_path)
    done = invoke("report", "rows.csv", "-o", "page.html")
    assert done.code == 0, done.stderr
    assert (tmp_path / "page.html").stat().st_size < 5_000_000
    with visiting(browser, (tmp_path / "page.html").as_uri()) as visit:
        part = sections(visit)["rows.csv"]
        for asked in ("", "step", ""):  # as it is opened, and drawn anew
            part.get_by_label("Filter").fill(asked)
            expect(part.locator(f"{ROWS} tbody tr")).to_have_count(100, timeout=PATIENCE_MS)
        part.get_by_label("Filter").fill("step 9999")
        expect(part.locator(f"{ROWS} tbody tr")).to_have_count(1, timeout=PATIENCE_MS)
        assert [row["occurrences"] for row in shown_rows(part)] == [9999.0]
        said = " ".join(visit.page.locator("main").inner_text().split())
        assert f"{rows:,} rows" in said
        assert ("190,000 rows" in said) == is_cut
        assert ("the first 10,000" in said) == is_cut
