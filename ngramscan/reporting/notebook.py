"""Progress in a notebook: one line in the output of a cell, which changes during the work."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterable
from typing import Any, Self

import click

from ngramscan.messages import Text, in_python
from ngramscan.progress import Progress, short_amount, visible_line

_EVERY_S = 0.3
"""Seconds between two changes of the line."""


class Notebook(Progress):
    """Shows how far the work is, in the output of the cell that runs."""

    def __init__(self, shell: Any) -> None:
        self._publisher, self._id = shell.display_pub, f"ngramscan-{time.monotonic_ns()}"
        self._lock, self._note = threading.Lock(), ""
        self._done: dict[str, int] = {}
        self._total: dict[str, int] = {}
        self._started_at, self._shown_at, self._line = time.monotonic(), 0.0, ""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_exc: object) -> None:
        with self._lock:
            self._note = ""
            self._show_line(is_last=True)

    def expect(self, amount: int, unit: str) -> None:
        """Add to the work there is of a unit."""
        with self._lock:
            self._total[unit] = self._total.get(unit, 0) + amount
            self._done.setdefault(unit, 0)
            self._show_line()

    def advance(self, amount: int, unit: str) -> None:
        """Add to the work that is done."""
        with self._lock:
            self._done[unit] = self._done.get(unit, 0) + amount
            self._show_line()

    def note(self, text: str) -> None:
        """Show a text behind the amounts; an empty one takes it away."""
        with self._lock:
            self._note = text
            self._show_line()

    def notice(self, text: Text) -> None:
        """Print a line on stderr."""
        click.echo(visible_line(in_python(text)), err=True)

    def show(self, lines: Iterable[str]) -> None:
        """Print lines below the progress."""
        for line in lines:
            click.echo(visible_line(line))

    def _show_line(self, is_last: bool = False) -> None:
        now = time.monotonic()
        if not is_last and now - self._shown_at < _EVERY_S:
            return
        amounts = [
            self._describe(unit, done)
            for unit, done in self._done.items()
            if done or self._total.get(unit)
        ]
        if not amounts and not self._note:  # all was known before
            return
        seconds = f"{now - self._started_at:,.0f} s"
        line = visible_line("; ".join(filter(None, [*amounts, seconds, self._note])))
        self._publisher.publish(
            {"text/plain": line},
            metadata={},
            transient={"display_id": self._id},
            update=bool(self._line),
        )
        self._shown_at, self._line = now, line

    def _describe(self, unit: str, done: int) -> str:
        total, progress = self._total.get(unit, 0), short_amount(done, unit)
        if total >= done:
            progress += f" of {short_amount(total, unit)}"
        return progress if unit.startswith("bytes") else f"{progress} {unit}"


def notebook() -> Notebook | None:
    """Return the progress display of the running notebook; None if no notebook runs this."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython else None
    is_notebook = type(shell).__name__ == "ZMQInteractiveShell"
    return Notebook(shell) if is_notebook else None
