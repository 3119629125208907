"""The table of `keyness`."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console

from ngramscan.outputs.keyness import KeynessRow
from ngramscan.reporting.layout import Layout, cell, print_columns, print_line, rate
from ngramscan.reporting.tables import parts

_VISIBLE = {"\n": "⏎", "\r": "␍", "\t": "⇥", "\u00a0": "⍽"}
_FOOTNOTES = (
    "log ratio: 1 is twice as frequent, with {level:.0%} intervals; G2 only ranks the n-grams",
    "q: false discovery rate of a test of the number of outputs, with problems as clusters",
    "DP: dispersion, 0 evenly spread over the outputs of the method, 1 in a single one",
)


def print_keyness(rows: Sequence[KeynessRow], lines: Sequence[str], console: Console) -> None:
    """Print n-grams, below some lines about what was compared, the first as a headline."""
    for number, line in enumerate(lines):
        print_line(console, line, "" if number else "bold")
    if not rows:
        return
    columns = {
        "n-gram": [mark_whitespace(row.ngram) for row in rows],
        "count": [cell(row.count) for row in rows],
        "others": [cell(row.other_count) for row in rows],
        "per million": [rate(row.per_million) for row in rows],
        "others' per million": [rate(row.other_per_million) for row in rows],
        "outputs": [f"{row.document_share:.1%}" for row in rows],
        "others' outputs": [f"{row.other_document_share:.1%}" for row in rows],
        "G2": [rate(row.g2) for row in rows],
        "log ratio": [parts.interval(row, "log_ratio", "{:z.1f}".format) for row in rows],
        "DP": [f"{row.dispersion:.2f}" for row in rows],
        "q": [f"{row.q:.1g}" for row in rows],
    }
    rates = ("per million", "others' per million", "DP", "q", "others' outputs", "outputs", "G2")
    optional = (*rates, "others", "count")
    print_columns(console, columns, Layout(1, frozenset({"n-gram"}), optional))
    parts.print_notes(console, *(line.format(level=rows[0].level) for line in _FOOTNOTES))


def mark_whitespace(text: str) -> str:
    """Return a text on one line, with signs for line ends, tabs and spaces at its ends."""
    inner = "".join(_VISIBLE.get(letter, letter) for letter in text)
    body = inner.strip(" ")
    before, _, after = inner.partition(body) if body else (inner, "", "")
    marked_text = "·" * len(before) + body.replace("  ", "··") + "·" * len(after)
    return "".join(letter if letter.isprintable() else "�" for letter in marked_text)
