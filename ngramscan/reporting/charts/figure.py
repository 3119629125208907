"""A figure, and limits of how many rows it shows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from markupsafe import Markup

MOST_ROWS, MOST_PANELS = 24, 12
"""Maximum rows and panels of a page."""


@dataclass(frozen=True, slots=True)
class Setting:
    """How much is drawn, and where labels are."""

    fewest_exact: int
    """Minimum number of values without intervals for a figure."""
    most_rows: int
    most_panels: int
    labels_beside: tuple[bool, ...]
    """For each drawing of the same rows: whether labels are to their left, or above."""
    is_paper: bool = False
    """Whether it is drawn small, for a page of a paper."""


ON_A_PAGE = Setting(2, MOST_ROWS, MOST_PANELS, labels_beside=(False, True))
"""A page shows one of two drawings, according to its width."""
IN_A_FILE = Setting(1, 200, 1000, labels_beside=(True,), is_paper=True)


@dataclass(frozen=True, slots=True)
class Figure:
    """One figure."""

    title: str
    caption: str
    """How to read it, and what is left out."""
    svg: Markup
    is_small: bool = False
    """Whether its texts and marks have the size of a page of a paper."""
    is_further: bool = False
    """Whether it shows the same rows in another way, for which a file may have no room."""
