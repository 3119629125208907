"""Rows of comparisons, with what they leave out before them and what could not be done behind."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

import click

from ngramscan.output import Target
from ngramscan.output.options import fail_with, tell


class Found(Protocol):
    """What a comparison gives."""

    @property
    def rows(self) -> Sequence[Any]:
        """Return the rows."""

    @property
    def left_out(self) -> str:
        """Return how much nothing is known of; empty: of all something is."""

    @property
    def notices(self) -> Sequence[str]:
        """Return what is to be known beside the rows."""

    @property
    def failures(self) -> Sequence[str]:
        """Return what there is no row of, and why."""


def show(found: Found, target: Target, quiet: bool, emit_rows: Callable[[], None]) -> None:
    """Print the rows of a comparison, or write them to a file.

    Parameters
    ----------
    found : Found
        The comparison.
    target : Target
        Where the rows go. A table has what is left out as its first line.
    quiet : bool
        Show no notices.
    emit_rows : callable
        Prints or writes the rows.
    """
    is_table = target.format == "table"
    if found.left_out and (is_table or not quiet):
        click.echo(found.left_out, err=not is_table)
    if found.rows or not is_table:
        emit_rows()
    tell(found.notices, quiet)
    fail_with(found.failures)
