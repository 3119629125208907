"""Rows read back from a file or a data frame, for a page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ngramscan.reading.row_files import Table
from ngramscan.report.page.kinds import Kind
from ngramscan.report.page.provenance import Run

MOST_ROWS = 10_000
"""Rows of a table that a page has."""


@dataclass(frozen=True, slots=True)
class Results:
    """The rows of one file."""

    kind: Kind
    name: str
    """The name of the file, or `data frame`."""
    columns: tuple[str, ...]
    rows: Sequence[dict[str, Any]]
    """Each value is an int, a float, a bool, a text or None."""
    left_out: int = 0
    """Rows of the file beyond `MOST_ROWS`."""
    run: Run | None = None
    """How the file was made; None: nobody knows."""


def read_results(table: Table) -> Results:
    """Read the rows of a file; an InputError says that no command of ours writes such rows."""
    raise NotImplementedError
