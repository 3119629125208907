"""Numbers that the pages and SECURITY.md name are those of the code."""

import inspect
import re
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from evalcore.commands.efficiency import FARTHEST
from evalcore.endpoint import LONGEST_COMPLETION_BYTES
from evalcore.rules import formula_pool
from evalcore.sandbox.layers import Limits
from ngramscan.commands.docnorm import CONTEXT as DOCNORM_CONTEXT
from ngramscan.index_files.fm9 import layout
from ngramscan.indexes import base
from ngramscan.indexes import options as index_options
from ngramscan.indexes.http import client
from ngramscan.outputs import presence
from ngramscan.prevalence import draws, estimators
from ngramscan.reading import streams
from ngramscan.remote import exchange, pace
from ngramscan.reporting.charts import panels
from ngramscan.reporting.page import display, results
from ngramscan.serve import app, search, server
from ngramscan.statistics import bounded_means, estimates, resampling

ROOT = Path(__file__).parent.parent
WORDS = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"]
NUMBERS = {word: float(number) for number, word in enumerate(WORDS, 1)}
FRACTIONS = {"a third": 1 / 3, "a fifth": 1 / 5, "a twentieth": 1 / 20, "a tenth": 1 / 10}
UNITS = {"kB": 1e3, "MB": 1e6, "GB": 1e9, "GiB": 2.0**30, "%": 0.01, "a minute": 60.0}
NUMBER = rf"({'|'.join([*NUMBERS, *FRACTIONS])}|a minute|[\d][\d,.]*)(?: ?({'|'.join(UNITS)}))?"


@cache
def text_of(page: str) -> str:
    return " ".join((ROOT / page).read_text(encoding="utf-8").replace("`", "").split())


def number_in(page: str, phrase: str) -> float:
    """Return the number that a page has in place of the # of a phrase, which it has once."""
    before, after = map(re.escape, phrase.split("#"))
    found = set(re.findall(before + NUMBER + after, text_of(page)))
    assert len(found) == 1, f"{page}: {phrase} is there {len(found)} times"
    ((number, unit),) = found
    named = NUMBERS | FRACTIONS | UNITS
    value = named[number] if number in named else float(number.rstrip(".,").replace(",", ""))
    return value * UNITS.get(unit, 1.0)


def default_of(function: Any, name: str) -> Any:
    return inspect.signature(function).parameters[name].default


LIMITS = Limits()
PROMISES: list[tuple[str, str, float]] = [
    ("SECURITY.md", "decompression (# for counts and windows", client.LONGEST_REPLY_BYTES),
    ("SECURITY.md", "counts and windows, # for completions", LONGEST_COMPLETION_BYTES),
    ("SECURITY.md", "--max-bytes, # by default", streams.MAX_BYTES.get()),
    ("docs/shell.md", "read whole, up to # after", streams.MAX_BYTES.get()),
    ("docs/shell.md", "writes to within # seconds", streams._WRITER_WAIT_S),
    ("docs/evaluation.md", "in memory, # seconds and 1 GiB", LIMITS.seconds),
    ("docs/evaluation.md", "30 seconds and #.", LIMITS.memory_bytes),
    ("docs/evaluation.md", "up to # attempts. Questions", exchange.ATTEMPTS),
    ("docs/evaluation.md", "more than # seconds is computed once more",
     default_of(formula_pool.compare_all, "seconds")),
    ("docs/indexes.md", "shows at most # bytes on each side", base.COMMON_CONTEXT),
    ("docs/indexes.md", "at most --rate requests (#) are sent", base.PUBLIC_RATE),
    ("docs/indexes.md", "at most --concurrency (#) at a time", client._CONCURRENCY),
    ("docs/indexes.md", "as Retry-After says, or #,", pace.HOST_PAUSE_S),
    ("docs/indexes.md", "lowers the rate by #;", 1 - pace._DROP),
    ("docs/indexes.md", "at the lowest rate (# per second)", pace.LOWEST_RATE),
    ("docs/indexes.md", "are retried, up to # attempts", exchange.ATTEMPTS),
    ("docs/indexes.md", "--timeout seconds (#) from", index_options.TIMEOUT_S),
    ("docs/indexes.md", "a reply may have #, decompressed", client.LONGEST_REPLY_BYTES),
    ("docs/in-place.md", "at most --concurrency (#) at a time", base.IN_PLACE_CONCURRENCY),
    ("docs/in-place.md", "up to # steps back", layout.SA_STEP - 1),
    ("docs/in-place.md", "in parallel for each # bytes", layout.ISA_STEP),
    ("docs/index.md", "patterns with up to # occurrences", draws.EXACT_UP_TO),
    ("docs/tokens.md", "At most # request per second", base.TOKEN_RATE),
    ("docs/serve.md", "bodies have # seconds each", app.BODY_TIMEOUT_S),
    ("docs/serve.md", "bodies have # seconds each", server.HEADERS_S),
    ("docs/serve.md", "exact up to # occurrences", draws.EXACT_UP_TO),
    ("docs/serve.md", "interval from # draws", draws.DRAWS),
    ("docs/serve.md", "fit into # seconds per index", search.DRAWING_S),
    ("docs/serve.md", "per index (at least #;", search._TIMED),
    ("docs/serve.md", "occurrences in context, # at a time", search.PER_PAGE),
    ("docs/serve.md", "previous ones, up to #.", search.MOST_SHOWN),
    ("docs/serve.md", "phrase has at most # characters", search.LONGEST_PHRASE),
    ("docs/serve.md", "after # seconds no further index", search.MOST_SECONDS),
    ("docs/docnorm.md", "at most --exact-up-to (#, about", draws.EXACT_UP_TO),
    ("docs/docnorm.md", "draws a pilot of #,", draws.PILOT),
    ("docs/docnorm.md", "with # bytes of text on each side", DOCNORM_CONTEXT),
    ("docs/docnorm.md", "If K is more than # of T", estimators.REPLACEMENT_SHARE),
    ("docs/report.md", "has the first # rows of each file", results.MOST_ROWS),
    ("docs/report.md", "Tables begin with # rows", display.FIRST_ROWS),
    ("docs/report.md", "A figure has up to # rows", panels.MOST_ROWS),
    ("docs/comparing.md", "far end to those observed, with # of their weight",
     bounded_means.ADDED_WEIGHT),
    ("docs/comparing.md", "more than # times the value", FARTHEST),
    ("docs/comparing.md", "if there are fewer than # problems", resampling.ITEMS_FOR_AN_INTERVAL),
    ("docs/keyness.md", "the same problems (at least #,", presence.FEWEST_PAIRS),
    ("docs/scanning.md", "no interval from fewer than # files", estimates.CLUSTERS_FOR_AN_INTERVAL),
]  # fmt: skip


@pytest.mark.parametrize(
    ("page", "phrase", "value"), PROMISES, ids=[f"{each[0]}: {each[1]}" for each in PROMISES]
)
def test_a_number_of_a_page_is_that_of_the_code(page: str, phrase: str, value: float) -> None:
    assert number_in(page, phrase) == pytest.approx(value)
