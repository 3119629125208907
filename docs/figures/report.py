"""Make docs/report-example.html from made rows, and its picture for the README.

python -m docs.figures.report             write the page, if it changed
python -m docs.figures.report --check     end with 1 if the page is not the one that would be made
python -m docs.figures.report --picture   draw the picture of the page, too

The picture needs Playwright, Chromium and Pillow. Times are fixed: the same page every time.
"""

from __future__ import annotations

import base64
import contextlib
import io
import re
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

from docs.examples import FOLDERS, REPORT_ROWS, begin, printed
from ngramscan.reporting.page.assemble import make_page
from ngramscan.reporting.page.results import Results, read_results

PAGE = Path(__file__).resolve().parent.parent / "report-example.html"
PICTURE = Path(__file__).resolve().with_suffix(".png")
TITLE = "An example of made rows"
MADE_AT = "2026-11-23T00:00:00+00:00"
COLOURS = 64
WIDTH, HEIGHT = 760, 820


def made_page() -> str:
    """Return the page of the rows that the commands of docs/report.md write."""
    begin("report-example")
    for command in ("mkdir rows", *REPORT_ROWS):
        printed(command)
    with contextlib.chdir(FOLDERS["now"]):
        results = [at_a_fixed_time(read_results(file)) for file in sorted(Path("rows").iterdir())]
    return make_page(results, TITLE, MADE_AT)


def at_a_fixed_time(results: Results) -> Results:
    """Return results that say they were asked for and written at `MADE_AT`."""
    rows: list[dict[str, Any]] = [
        row | {"asked_at": MADE_AT} if "asked_at" in row else row for row in results.rows
    ]
    run = results.run and replace(results.run, finished_at=MADE_AT)
    return replace(results, rows=rows, run=run)


def draw() -> None:
    """Draw the beginning of the page, and beside it one of its figures with a table."""
    from PIL import Image
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path="/usr/bin/chromium", args=["--no-sandbox"]
        )
        page = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT})
        page.goto(PAGE.as_uri())
        parts = []
        for place in ("h1", "h2:has-text('Differences of methods')"):
            page.locator(place).evaluate(
                "each => scrollBy(0, each.getBoundingClientRect().top - 24)"
            )
            parts.append(base64.b64encode(page.screenshot()).decode())
        both = browser.new_page(viewport={"width": 2 * WIDTH + 2, "height": HEIGHT})
        images = "".join(f'<img src="data:image/png;base64,{part}">' for part in parts)
        both.set_content(
            f'<body style="display: flex; gap: 2px; margin: 0; background: grey">{images}'
        )
        image = Image.open(io.BytesIO(both.screenshot())).convert("RGB")
        image.quantize(COLOURS).save(PICTURE, optimize=True)
        browser.close()


def rounded(text: str) -> str:
    """Return a page without the last digits of its numbers, which differ between processors."""
    return re.sub(r"\d+\.\d{10,}", lambda found: f"{float(found[0]):.10g}", text)


if __name__ == "__main__":
    text = made_page()
    if rounded(PAGE.read_text(encoding="utf-8")) != rounded(text):
        if "--check" in sys.argv:
            sys.exit(f"{PAGE.name} is not up to date: python -m docs.figures.report")
        PAGE.write_text(text, encoding="utf-8")
    if "--picture" in sys.argv:
        draw()
