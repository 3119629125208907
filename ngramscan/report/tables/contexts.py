"""Occurrences in context, as lines with the matches below each other."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from rich.cells import cell_len, set_cell_size
from rich.console import Console
from rich.text import Text

from ngramscan.prevalence.contexts import ContextRow, ContextsResult

_LEAST_SIDE = 12
_GAP = "  "


def print_contexts(concordances: Sequence[ContextsResult], seed: int, console: Console) -> None:
    """Print what was drawn; in a narrow terminal less of what stands around it."""
    for concordance in concordances:
        console.print(Text(_headline(concordance, seed), style="bold"), soft_wrap=True)
        _print_lines(console, concordance.rows)
        console.print()


def _print_lines(console: Console, rows: Sequence[ContextRow]) -> None:
    sources = [_source(row) for row in rows]
    widths = _widths(console.width, rows, sources)
    for row, source in zip(rows, sources, strict=True):
        line = Text(no_wrap=True, overflow="crop")
        line.append(_end_of(_plain(row.left), widths.left))
        line.append(_plain(row.match), style="bold red")
        right = set_cell_size(_plain(row.right), widths.right)
        if widths.source:
            line.append(right + _GAP)
            line.append(_shortened(source, widths.source), style="dim")
        else:
            line.append(right.rstrip())
        console.print(line)


@dataclass(frozen=True, slots=True)
class _Widths:
    """In cells of the terminal; 0: not shown."""

    left: int
    right: int
    source: int


def _widths(width: int, rows: Sequence[ContextRow], sources: Sequence[str]) -> _Widths:
    def widest(texts: Iterable[str]) -> int:
        return max(map(cell_len, texts), default=0)

    match = widest(_plain(row.match) for row in rows)
    source = min(widest(sources), max(width // 4, _LEAST_SIDE))
    room = width - match - source - len(_GAP)
    if room < 2 * _LEAST_SIDE:
        source, room = 0, width - match
    side = max(room // 2, _LEAST_SIDE)
    return _Widths(
        min(widest(_plain(row.left) for row in rows), side),
        min(widest(_plain(row.right) for row in rows), side),
        source,
    )


def _headline(concordance: ContextsResult, seed: int) -> str:
    n, total = len(concordance.rows), concordance.occurrences
    drawn = f"{n:,} drawn at random, seed {seed}" if n < total else "all"
    return f"{concordance.index} · {concordance.text!r} · {total:,} occurrences, {drawn}"


def _end_of(text: str, width: int) -> str:
    """Return the last cells of a text, filled up in front."""
    while cell_len(text) > width:
        text = text[1:]
    return " " * (width - cell_len(text)) + text


def _shortened(source: str, width: int) -> str:
    """Return where a document comes from; of a long path the end, which tells files apart."""
    return source if cell_len(source) <= width else "…" + _end_of(source, width - 1)


_SHOWN = {"\n": "¶", "\t": " ", "\r": ""}


def _plain(text: str) -> str:
    """Return a text on one line, without what a terminal would obey."""
    return "".join(_SHOWN.get(c, c if c.isprintable() else "·") for c in text)


def _source(row: ContextRow) -> str:
    """Return where a document comes from, as far as its metadata tell; its number else."""
    try:
        metadata = json.loads(row.metadata) if row.metadata else {}
    except (ValueError, RecursionError):
        metadata = {}
    parts = [f"#{row.document}" if row.document.isdigit() else row.document]
    inner = metadata.get("metadata") if isinstance(metadata, dict) else None
    if isinstance(inner, dict):
        parts += [str(inner[name]) for name in ("url", "source", "id") if name in inner][:1]
    if isinstance(metadata, dict) and metadata.get("source"):
        parts.append(str(metadata["source"]))
    return _plain(" ".join(parts))
