"""Make docs/report-example.html of the rows in docs/results.

python -m docs.figures.report             write the page, if it changed
python -m docs.figures.report --check     end with 1 if the page is not the one that would be made

Times are fixed: the same page every time.
"""

from __future__ import annotations

import contextlib
import re
import shlex
import sys
from dataclasses import replace
from pathlib import Path

from docs.examples import REPORT, TERMINALS, begin, printed
from ngramscan.reporting.page.assemble import make_page
from ngramscan.reporting.page.results import Results, read_results

PAGE = Path(__file__).resolve().parent.parent / "report-example.html"
MADE_AT = "2026-11-28T00:00:00+00:00"


def make_example() -> str:
    """Return the page that the commands of docs/report.md write, at a fixed time."""
    begin("report-example")
    *before, command = REPORT
    for line in before:
        printed(line)
    words = shlex.split(command)
    with contextlib.chdir(TERMINALS["now"].folder):
        files = [Path(word) for word in words if word.endswith(".csv")]
        results = [at_a_fixed_time(read_results(file)) for file in files]
    return make_page(results, words[words.index("--title") + 1], MADE_AT)


def at_a_fixed_time(results: Results) -> Results:
    """Return results whose command ended at `MADE_AT`."""
    return replace(results, run=results.run and replace(results.run, finished_at=MADE_AT))


def rounded(text: str) -> str:
    """Return a page without the last digits of its numbers, which differ between processors."""
    return re.sub(r"\d+\.\d{10,}", lambda found: f"{float(found[0]):.10g}", text)


if __name__ == "__main__":
    text = make_example()
    if rounded(PAGE.read_text(encoding="utf-8")) != rounded(text):
        if "--check" in sys.argv:
            sys.exit(f"{PAGE.name} is not up to date: python -m docs.figures.report")
        PAGE.write_text(text, encoding="utf-8")
