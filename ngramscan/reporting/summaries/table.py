"""A small table that answers a question."""

from __future__ import annotations

from dataclasses import dataclass

from ngramscan.reporting.layout import CellColumns, Layout


@dataclass(frozen=True, slots=True)
class SummaryTable:
    """A table of a first screen, which a page and a notebook show as well."""

    columns: CellColumns
    """The cells of each column as texts, by its heading; all columns have the same length."""
    layout: Layout
    """How it is printed; its title says what the numbers are, with their unit."""
    names: str = ""
    """How to read the short names of corpora in its headings."""
    note: str = ""
    """A line below it, such as how many rows are not in it."""
