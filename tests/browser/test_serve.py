"""The search page of `ngramscan serve` in a real browser."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlencode

import pytest
from playwright.sync_api import expect

from tests.support.browser import PATIENCE_MS, WIDTHS, Visit, visiting
from tests.support.command import invoke
from tests.support.serve_process import serving
from tests.support.sizes import slow

if TYPE_CHECKING:
    from playwright.sync_api import Browser

NOT_RUN = "window.hacked = true; alert(1)"
HOSTILE = [
    f"evil <script>{NOT_RUN}</script> evil",
    f'evil "><img src=x onerror="{NOT_RUN}"> evil',
    f"evil </script></title></q><svg onload='{NOT_RUN}'> evil",
    "evil \x1b[31m \u202egnp.exe \u2066x\u2069 evil",
    "evil {{ 7 * 7 }} evil",
]
LINKS = ["javascript:window.hacked=true", "https://example.org/plain", "data:text/html,x"]


@pytest.fixture(scope="module")
def indexes(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, ...]:
    """Two indexes: one of plain documents, one of hostile ones."""
    folder = tmp_path_factory.mktemp("indexes")
    plain = [f"Let us think step by step about {number}, step by step." for number in range(60)]
    built = []
    for name, texts in (("plain", plain), ("hostile", HOSTILE * 2)):
        lines = [
            json.dumps({"text": text, "url": LINKS[number % len(LINKS)]})
            for number, text in enumerate(texts)
        ]
        (folder / f"{name}.jsonl").write_text("\n".join(lines) + "\n")
        done = invoke("index", "build", f"scan:{folder / name}.jsonl", "-o", folder / name)
        assert done.code == 0, done.stderr
        built.append(folder / name)
    return tuple(built)


@pytest.fixture(scope="module")
def url(indexes: tuple[Path, ...]) -> Iterator[str]:
    with serving(indexes=indexes) as served:
        yield served.url


def asking(url: str, phrase: str, **fields: str) -> str:
    return f"{url}?{urlencode({'q': phrase, **fields})}"


def values(visit: Visit) -> list[list[int]]:
    """Read the table back: the exact numbers of each index."""
    return [
        [int(str(one.get_attribute("value"))) for one in row.locator("data").all()]
        for row in visit.page.locator("tbody tr").all()
    ]


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("phrase", ["step", *map(slow, ("evil", "", "is nowhere"))])
def test_it_fits_and_is_accessible(browser: Browser, url: str, phrase: str, width: int) -> None:
    place = asking(url, phrase) if phrase else url
    viewport = {"width": width, "height": 900}
    with visiting(browser, place, viewport=viewport) as visit:
        assert not visit.is_wider_than_the_window()
        visit.check_both_themes()


def test_the_numbers_are_those_of_the_commands(
    browser: Browser, url: str, indexes: tuple[Path, ...]
) -> None:
    counted = invoke("count", "-e", "step", "--index", f"fm9:{indexes[0]}", "--format", "csv").rows
    given = ("--draws", "200", "--seed", "1", "--format", "csv")
    docnorm = invoke("docnorm", "-e", "step", "--index", f"fm9:{indexes[0]}", *given).rows
    with visiting(browser, asking(url, "step")) as visit:
        first, second = values(visit)
        assert first[0] == int(counted[0]["occurrences"]) == 240
        assert first[1] == int(docnorm[0]["documents"])
        assert second[0] == 0
        assert f"{first[0]:,}" in visit.page.locator("tbody tr").first.inner_text()
        matches = visit.page.locator("mark").all_inner_texts()
        assert matches == ["step"] * 20


def test_a_phrase_is_typed_and_contexts_are_turned_with_the_keyboard(
    browser: Browser, url: str
) -> None:
    with visiting(browser, url) as visit:
        press = visit.page.keyboard.press
        visit.wait_for_focus(visit.page.locator("input#q"))
        visit.page.keyboard.type("step by")
        press("Enter")
        visit.page.locator("mark").first.wait_for()
        assert "q=step+by" in visit.page.url
        first = visit.page.locator("ol").first.inner_text()
        following = visit.page.get_by_role("link", name=re.compile("Next"))
        following.focus()
        press("Enter")
        visit.page.get_by_role("link", name=re.compile("Previous")).wait_for()
        assert visit.page.locator("ol").first.inner_text() != first
        assert len(visit.page.locator("mark").all()) == 20
        visit.page.go_back()
        expect(visit.page.locator("ol").first).to_have_text(
            first, use_inner_text=True, timeout=PATIENCE_MS
        )


def test_everything_is_reached_with_a_visible_focus(browser: Browser, url: str) -> None:
    with visiting(browser, asking(url, "step")) as visit:
        visit.check_focus()


def test_the_link_of_a_page_shows_the_same_page(browser: Browser, url: str) -> None:
    with visiting(browser, asking(url, "step", seed="7", index="plain")) as visit:
        shown = visit.page.locator("main").inner_text()
        link = visit.page.get_by_role("link", name="Link to this page")
        address = link.evaluate("one => one.href")
    with visiting(browser, address) as visit:
        assert visit.page.locator("main").inner_text() == shown


def test_the_lines_for_a_terminal_find_the_same(browser: Browser, url: str) -> None:
    with visiting(browser, asking(url, "step", index="plain")) as visit:
        (found,) = values(visit)
        visit.page.locator("summary").click()
        lines = visit.page.locator("pre code").all_inner_texts()
    curl = next(line for line in lines if line.startswith("curl"))
    said = subprocess.run(["bash", "-c", curl], capture_output=True, text=True, check=True).stdout
    assert json.loads(said)["count"] == found[0]
    count = next(line for line in lines if line.startswith("ngramscan count"))
    shown = subprocess.run(
        ["bash", "-c", f"{count} --format csv -q"], capture_output=True, text=True, check=True
    )
    assert f",{found[0]}," in shown.stdout


@pytest.mark.parametrize("width", [390, slow(1280)])
def test_a_text_is_traced_with_the_keyboard(browser: Browser, url: str, width: int) -> None:
    viewport = {"width": width, "height": 900}
    with visiting(browser, f"{url}trace", viewport=viewport) as visit:
        press = visit.page.keyboard.press
        visit.wait_for_focus(visit.page.locator("textarea"))
        visit.page.keyboard.type(f"So: think step by step about 7, step.\n{HOSTILE[0]} x")
        visit.page.get_by_role("button", name="Trace").focus()
        press("Enter")
        links = visit.page.locator(".traced a")
        links.first.wait_for()
        assert links.all_inner_texts() == [
            "think step by step about 7, step",
            f"evil <script>{NOT_RUN}</script> evil",
        ]
        links.first.focus()
        press("Tab")
        note = links.nth(1).locator("xpath=../span[@role='tooltip']")
        visit.wait_for_focus(links.nth(1))
        expect(note).to_be_visible(timeout=PATIENCE_MS)
        assert note.inner_text() == "9 words; 2 occurrences"
        assert visit.page.evaluate("window.hacked") is None
        assert not visit.is_wider_than_the_window()
        visit.check_both_themes()
        target = links.first.evaluate("one => one.href")
    with visiting(browser, target) as visit:
        assert visit.page.locator("mark").all_inner_texts() == ["think step by step about 7, step"]


@pytest.mark.parametrize("width", WIDTHS)
def test_copies_are_found_with_the_keyboard(browser: Browser, url: str, width: int) -> None:
    viewport = {"width": width, "height": 900}
    with visiting(browser, f"{url}copies", viewport=viewport) as visit:
        visit.wait_for_focus(visit.page.locator("textarea"))
        visit.page.keyboard.type(f"{HOSTILE[0]} LET us think step by step about 8, step by step")
        visit.page.get_by_role("button", name="Find copies").focus()
        visit.page.keyboard.press("Enter")
        sides = visit.page.locator(".sides .traced")
        sides.first.wait_for()
        entry, document = (side.bounding_box() for side in sides.all()[:2])
        assert entry
        assert document
        is_beside = document["x"] >= entry["x"] + entry["width"]
        is_below = document["y"] >= entry["y"] + entry["height"]
        assert (is_beside, is_below) == ((True, False) if width > 800 else (False, True))
        assert "step by step" in " ".join(visit.page.locator(".sides mark").all_inner_texts())
        assert visit.page.evaluate("window.hacked") is None
        assert not visit.is_wider_than_the_window()
        visit.check_both_themes()


def test_hostile_documents_and_phrases_run_nothing(
    browser: Browser, url: str, subtests: pytest.Subtests
) -> None:
    with visiting(browser, url) as visit:
        for phrase in ("evil", HOSTILE[0], '"><script>window.hacked=1</script>', "\u202e"):
            with subtests.test(phrase=phrase):
                visit.page.goto(asking(url, phrase))
                assert visit.page.evaluate("window.hacked") is None
                assert (
                    visit.page.locator("script, img, svg, iframe, [onerror], [onload]").count() == 0
                )
                links = visit.page.locator("main a").evaluate_all(
                    "all => all.map((one) => one.href)"
                )
                assert all(one.startswith((url, "https://example.org/plain")) for one in links)
                text = visit.page.locator("main").inner_text()
                assert not re.search("[\0-\x08\x1b\u202a-\u202e\u2066-\u2069]", text)
                if phrase == "evil":
                    assert "https://example.org/plain" in links
                    assert f"<script>{NOT_RUN}</script>" in " ".join(text.split())


def test_what_is_wrong_is_said_on_a_page(
    browser: Browser, url: str, subtests: pytest.Subtests
) -> None:
    with visiting(browser, url) as visit:
        for query in (f"q={'x' * 1001}", "q=step&seed=x", "q=step&index=none"):
            with subtests.test(query=query):
                visit.page.goto(f"{url}?{query}")
                assert visit.page.locator("[role=alert]").inner_text()
                assert "400" in visit.take_error()
                assert visit.errors == []
        assert visit.violations() == []


def test_it_is_printed_and_read_without_scripts(browser: Browser, url: str) -> None:
    with visiting(browser, asking(url, "step"), java_script_enabled=False) as visit:
        visit.page.emulate_media(media="print")
        assert visit.page.locator("table").is_visible()
        assert not visit.page.locator("form").is_visible()


def test_the_page_is_not_for_other_clients(url: str) -> None:
    curl = ["curl", "-s", "-o", "/dev/null", "-w", "%{content_type}", url]
    said = subprocess.run(curl, capture_output=True, text=True, check=True).stdout
    assert "html" not in said
