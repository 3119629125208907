"""Summary tables and sentences → the first screen of a terminal."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from io import StringIO

from rich.console import Console

from ngramscan.reporting.layout import print_columns, print_line
from ngramscan.reporting.sentences.sentence import Sentence
from ngramscan.reporting.summaries.table import SummaryTable

LINES_OF_ONE, LINES_OF_SEVERAL = 24, 40
"""Lines of a screen about one corpus, and about several."""
_MOST_ROWS, _LEAST_ROWS = 20, 3
_MOST_SENTENCES = 2
_HAS_OPTIONS = ContextVar("has_options", default=True)
"""Whether the reader can give options, as in a terminal."""


@dataclass(frozen=True, slots=True)
class Screen:
    """The first screen of a command."""

    tables: Callable[[int], Iterable[SummaryTable]]
    """Returns the tables, given the maximum of rows for long ones."""
    sentences: Sequence[Sentence]
    """Sentences about the rows; the first of the findings among them are shown."""
    more: str
    """The last line: further results, and how to see them."""
    most_lines: int
    notes: Sequence[str] = ()
    """Notes without which the tables can't be read, a line each."""
    headings: Sequence[str] = ()
    """Lines above the tables that describe the corpora."""


def print_screen(screen: Screen, console: Console) -> None:
    """Print a screen, with as many rows and sentences as its lines have room for."""
    findings = [sentence.text for sentence in screen.sentences if sentence.is_finding]
    n_rows, sentences = _fitting(screen, findings, console.width)
    _print(screen, n_rows, sentences, console)


def lines_of(tables: Sequence[SummaryTable], width: int) -> list[str]:
    """Return some tables as lines of plain text."""
    text = StringIO()
    _print_tables(tables, _console_on(text, width))
    return text.getvalue().splitlines()


def screen_lines(print_table: Callable[[Console], None], width: int) -> list[str]:
    """Return a screen as lines of text for a notebook, without a terminal's options."""
    text = StringIO()
    token = _HAS_OPTIONS.set(False)
    try:
        print_table(_console_on(text, width))
    finally:
        _HAS_OPTIONS.reset(token)
    return text.getvalue().splitlines()


def _console_on(text: StringIO, width: int) -> Console:
    # A console in memory ignores the notebook and environment variables.
    return Console(
        file=text,
        width=width,
        markup=False,
        highlight=False,
        emoji=False,
        force_terminal=False,
        force_jupyter=False,
    )


def _fitting(screen: Screen, findings: Sequence[str], width: int) -> tuple[int, Sequence[str]]:
    """Return the maximum of rows of long tables, and the sentences.

    If space is short, the second sentence is dropped before rows are.
    """
    sizes_of_tables = range(_MOST_ROWS, _LEAST_ROWS - 1, -1)
    for sizes in (sizes_of_tables, [0]):
        for n_sentences in range(_MOST_SENTENCES, 0, -1):
            sentences = findings[:n_sentences]
            for n_rows in sizes:
                if _lines(screen, n_rows, sentences, width) <= screen.most_lines:
                    return n_rows, sentences
    return 0, findings[:1]


def _lines(screen: Screen, n_rows: int, sentences: Sequence[str], width: int) -> int:
    """Return how many lines a screen takes."""
    text = StringIO()
    _print(screen, n_rows, sentences, _console_on(text, width))
    # The last line is always counted, so that all readers see the same rows.
    return text.getvalue().count("\n") + (0 if _HAS_OPTIONS.get() else 1)


def _print(screen: Screen, n_rows: int, sentences: Sequence[str], console: Console) -> None:
    for heading in screen.headings:
        print_line(console, heading, "bold")
    _print_tables([*screen.tables(n_rows)], console)
    for text in sentences:
        print_line(console, text)
    more = [screen.more] if _HAS_OPTIONS.get() else []
    for text in (*screen.notes, *more):
        print_line(console, text, "dim")


def _print_tables(tables: Sequence[SummaryTable], console: Console) -> None:
    for names in dict.fromkeys(table.names for table in tables if table.names):
        print_line(console, names, "dim")
    for table in tables:
        if any(table.columns.values()):
            print_columns(console, table.columns, table.layout, table.note)
        elif table.note:
            print_line(console, table.note, "dim")
            console.print()
