r"""The terminal as a person sees it: progress, and foreign texts that can't control it.

A backend knows its own units (requests, bytes), so it reports to a `Progress`; the command decides
whether that is shown. Texts of corpora, models and servers, and names of files, may hold escape
sequences that move the cursor or reorder what is read: they are shown as escapes, like `\x1b`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Self

from ngramscan.messages import Text

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Task, TaskID

_PIPE_WIDTH = 1000
_STEERING = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f"  # C0 but tab and line feed, DEL, C1
    "\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069"  # line separators, bidirectional controls
    "\ud800-\udfff]"  # halves of characters, as names of files that are not UTF-8 have them
)


class Progress:
    """Progress reporting for backends; this base class ignores all reports."""

    def expect(self, amount: int, unit: str) -> None:
        """Say that `amount` more of `unit` will be done."""

    def advance(self, amount: int, unit: str) -> None:
        """Say that `amount` of `unit` is done."""

    def note(self, text: str) -> None:
        """Show why progress has stalled; an empty string clears it."""

    def notice(self, text: Text) -> None:
        """Say something that stays true after the work is done."""

    def detail(self, text: str) -> None:
        """Show a message only if details were asked for."""


SILENT = Progress()


class Terminal(Progress):
    """Progress bars on stderr, one per unit, with rate and remaining time; none in a pipe.

    >>> with Terminal(quiet=False) as progress:
    ...     progress.expect(368, "answers")
    """

    def __init__(self, quiet: bool, verbose: bool = False) -> None:
        from rich import progress as rich

        self._quiet = quiet
        self._console = open_console(stderr=True)
        self._bars = rich.Progress(
            rich.TextColumn("{task.description}", markup=False),
            rich.BarColumn(bar_width=20),
            rich.TextColumn("{task.fields[done]}"),
            rich.TimeRemainingColumn(compact=True),
            rich.TextColumn("{task.fields[note]}", style="yellow", markup=False),
            console=self._console,
            disable=quiet or not self._console.is_terminal,
            transient=True,
        )
        self._tasks: dict[str, TaskID] = {}
        self._verbose = verbose

    def __enter__(self) -> Self:
        self._bars.start()
        return self

    def __exit__(self, *_exc: object) -> None:
        self._bars.stop()

    def expect(self, amount: int, unit: str) -> None:
        """Lengthen the bar of a unit."""
        if self._bars.disable:
            return
        if unit not in self._tasks:
            self._tasks[unit] = self._bars.add_task(unit, total=0, done="", note="")
        task = self._task(unit)
        self._bars.update(task.id, total=(task.total or 0) + amount or None)

    def advance(self, amount: int, unit: str) -> None:
        """Move the bar of a unit."""
        if self._bars.disable:
            return
        task = self._task(unit)
        self._bars.update(task.id, advance=amount)
        speed = f"{short_amount(task.speed, unit)}/s" if task.speed else ""
        total = f" of {short_amount(task.total, unit)}" if task.total else ""
        done = f"{short_amount(task.completed, unit)}{total}"
        self._bars.update(task.id, done=f"{done}  {speed}")

    def note(self, text: str) -> None:
        """Show a text behind the bars; where there are none, on a line of its own."""
        if self._bars.disable and text:
            self.notice(text)
        for task_id in self._tasks.values():
            self._bars.update(task_id, note=visible(text))

    def notice(self, text: Text) -> None:
        """Print a line above the bars, also where there are none, as in a log."""
        if not self._quiet:
            self._console.print(str(text), soft_wrap=True)

    def detail(self, text: str) -> None:
        """Print a line above the bars where details are wanted."""
        if self._verbose:
            self.notice(text)

    def _task(self, unit: str) -> Task:
        return next(task for task in self._bars.tasks if task.id == self._tasks[unit])


def short_amount(amount: float, unit: str) -> str:
    """Return an amount of a unit; one of bytes says so."""
    return format_bytes(amount) if unit.startswith("bytes") else f"{amount:,.0f}"


def format_bytes(amount: float) -> str:
    """Return an amount of bytes in a unit that keeps it short, powers of 1000."""
    for unit in ("B", "kB", "MB", "GB"):
        if amount < 1000:
            return f"{amount:.3g} {unit}"
        amount /= 1000
    return f"{amount:,.4g} TB"


# Foreign texts


def visible(text: str) -> str:
    """Return a text with every character that steers a terminal as an escape."""
    return _STEERING.sub(lambda match: _escape(ord(match[0])), text)


def visible_line(text: str) -> str:
    """Return a text on one line: line feeds and tabs are escapes too."""
    return visible(text).replace("\n", "\\n").replace("\t", "\\t")


def marked_line(text: str) -> str:
    """Return a text on one line for a page or a figure: ⏎ for each line end, a space for a tab."""
    return visible(text).replace("\n", "⏎").replace("\t", " ")


def visible_json(text: str) -> str:
    """Return JSON with its own escapes for such characters, so that nothing is lost."""
    return _STEERING.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def _escape(code: int) -> str:
    if 0xDC80 <= code <= 0xDCFF:  # a byte of a file name that is not UTF-8
        return f"\\x{code - 0xDC00:02x}"
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"


def open_console(stderr: bool = False, is_wide: bool = False, is_screen: bool = False) -> Console:
    """Return a console that shows texts as they are; piped, it is as wide as the widest row.

    One that `is_wide` is so in a terminal, too; one that `is_screen` is as wide as a terminal,
    even if it is piped.
    """
    from rich.console import Console, ConsoleDimensions
    from rich.segment import Segment

    class VisibleConsole(Console):
        """Console that escapes control characters."""

        def render(self, renderable: Any, options: Any = None) -> Iterable[Segment]:
            """Render, with foreign control characters escaped."""
            for segment in super().render(renderable, options):
                yield segment if segment.control else segment._replace(text=visible(segment.text))

        def on_broken_pipe(self) -> None:
            """Leave it to the command, which ends quietly; rich would end with 1."""
            raise BrokenPipeError

    # Patterns are data: "[bold]" and ":key:" in them must not be read as markup.
    console = VisibleConsole(stderr=stderr, highlight=False, markup=False, emoji=False)
    if is_wide or not (stderr or is_screen or console.is_terminal):
        console.size = ConsoleDimensions(_PIPE_WIDTH, console.height)
    return console
