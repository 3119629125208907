"""What several figures share, beside the canvas."""

from __future__ import annotations

from collections.abc import Sequence
from operator import attrgetter
from typing import TYPE_CHECKING

from ngramscan.report.canvas import COLOURS, MARKS, common, finish

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

PROMPT = attrgetter("dataset", "model", "prompt")


def style(number: int) -> tuple[str, str]:
    """Return the colour and the mark of a method, by its place among them."""
    return COLOURS[number % len(COLOURS)], MARKS[number % len(MARKS)]


def label_row(axes: Axes, height: float, text: str) -> None:
    """Write at the right of a row, outside of the axes."""
    place = axes.get_yaxis_transform()
    axes.text(1.015, height, text, transform=place, va="center", fontsize=8, gid="label")


def finish_prompts(
    figure: Figure, title: str, keys: Sequence[tuple[str, ...]], width: float
) -> Figure:
    """Put a title above that has what is the same in all keys."""
    of = common(keys)
    return finish(figure, f"{title}: {of}" if of else title, width)
