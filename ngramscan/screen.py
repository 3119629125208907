r"""What the terminal gets: no character of a foreign text may steer it.

Texts of corpora, models and servers, and names of files, may hold escape sequences that move the
cursor, change the title or reorder what is read. They are shown as escapes: `\x1b`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console

_PIPE_WIDTH = 1000
_STEERING = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f"  # C0 but tab and line feed, DEL, C1
    "\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069"  # line separators, bidirectional controls
    "\ud800-\udfff]"  # halves of characters, as names of files that are not UTF-8 have them
)


def visible(text: str) -> str:
    """Return a text with every character that steers a terminal as an escape."""
    return _STEERING.sub(lambda found: _escape(ord(found[0])), text)


def visible_line(text: str) -> str:
    """Return a text on one line: line feeds and tabs are escapes too."""
    return visible(text).replace("\n", "\\n").replace("\t", "\\t")


def visible_json(text: str) -> str:
    """Return JSON with its own escapes for such characters, so that nothing is lost."""
    return _STEERING.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def _escape(code: int) -> str:
    if 0xDC80 <= code <= 0xDCFF:  # a byte of a file name that is not UTF-8
        return f"\\x{code - 0xDC00:02x}"
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"


def open_console(stderr: bool = False) -> Console:
    """Return a console that shows texts as they are; piped, it is as wide as the widest row."""
    from rich.console import Console
    from rich.segment import Segment

    class VisibleConsole(Console):
        """A console on which no text steers the terminal."""

        def render(self, renderable: Any, options: Any = None) -> Iterable[Segment]:
            """Render, with escapes in the place of foreign control characters."""
            for segment in super().render(renderable, options):
                yield segment if segment.control else segment._replace(text=visible(segment.text))

    # Patterns are data: "[bold]" and ":key:" in them are no markup.
    console = VisibleConsole(stderr=stderr, highlight=False, markup=False, emoji=False)
    if not stderr and not console.is_terminal:
        console.width = _PIPE_WIDTH
    return console
