"""The kinds of rows that commands write, recognised by their columns."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

Scale = Literal["log", "linear", "share"]


@dataclass(frozen=True, slots=True)
class Plot:
    """The figure of a kind: a value with its interval for each row, by the names of columns."""

    value: str
    low: str = ""
    high: str = ""
    """Empty, both: there is no interval."""
    panel: tuple[str, ...] = ()
    """One panel for each combination of these."""
    label: tuple[str, ...] = ()
    """The name of a row within a panel."""
    series: str = ""
    """Colour and mark; empty: all the same."""
    scale: Scale = "linear"
    across: str = ""
    """The column of the other axis; empty: the labels, one below the other."""


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of rows."""

    name: str
    """As the command or its option calls it: `count`, `blend --presence`."""
    title: str
    """As a heading of the page."""
    needs: frozenset[str]
    """Columns that only these rows have together."""
    texts: frozenset[str]
    """Columns that are text, even where they look like numbers."""
    labels: tuple[str, ...]
    """Columns that tell rows apart, in the order in which they are shown."""
    plot: Plot | None = None
    methods: str = ""
    """The template that says how the numbers were made, without its suffix."""


KINDS: tuple[Kind, ...] = ()
"""All kinds, the most special first."""


def kind_of(columns: Iterable[str]) -> Kind | None:
    """Return the kind of rows with these columns; None: no command writes them."""
    there = {*columns}
    return next((kind for kind in KINDS if kind.needs <= there), None)
