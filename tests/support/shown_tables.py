"""Tables as a terminal shows them, read back into cells."""

import re
from collections.abc import Iterator


def shown_tables(screen: str) -> list[list[dict[str, str]]]:
    """Return the rows of each table of a screen: cells by their headings, which are on one line."""
    tables: list[list[dict[str, str]]] = []
    spans: list[tuple[int, int]] = []
    heading = ""
    for line, below in _with_next(screen):
        if _is_rule(below):
            heading = line
        elif _is_rule(line):
            spans = [found.span() for found in re.finditer("─+", line)]
            tables.append([])
        elif line.startswith("  ") and spans:
            tables[-1].append(
                {heading[slice(*span)].strip(): line[slice(*span)].strip() for span in spans}
            )
        elif line:  # a text: only tables are indented
            spans = []
    return tables


def _with_next(screen: str) -> Iterator[tuple[str, str]]:
    lines = [line.rstrip() for line in screen.splitlines()]
    yield from zip(lines, [*lines[1:], ""], strict=True)


def _is_rule(line: str) -> bool:
    return bool(re.fullmatch("[ ─]*─", line))
