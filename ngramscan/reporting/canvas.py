"""The parts that all figures share: colours, labels and the files they are written to."""

from __future__ import annotations

import importlib.util
import textwrap
import warnings
from collections.abc import Sequence
from itertools import compress
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from ngramscan.errors import InputError
from ngramscan.reporting import check_writable, write_whole

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Okabe and Ito's, which differ for colour-blind readers; in this order also in grey.
COLOURS = ("#0072B2", "#E69F00", "#D55E00", "#56B4E9", "#009E73", "#CC79A7", "#F0E442", "#000000")
MARKS = ("o", "s", "^", "D", "v", "P", "X", "*")
HATCHES = ("", "///", "...", "xx", "\\\\\\", "++", "--", "oo")
GREY = "#666666"
ALL_MODELS = "all"
FORMATS = (".svg", ".png")
PROMPT = attrgetter("dataset", "model", "prompt")
_STYLE: Any = {
    "font.family": "DejaVu Sans",  # comes with matplotlib: the same everywhere
    "font.size": 9,
    "axes.linewidth": 0.7,
    "hatch.linewidth": 0.6,
    "svg.fonttype": "none",
    "svg.hashsalt": "ngramscan",
}


def check_target(path: Path | None) -> None:
    """Raise an InputError if a figure that was asked for can't be drawn or written."""
    if path is None:
        return
    if path.suffix.lower() not in FORMATS:
        raise InputError(str(path), f"a figure's name ends in {' or '.join(FORMATS)}")
    check_library(str(path))
    check_writable(path)


def check_library(where: str = "figures") -> None:
    """Raise an InputError if matplotlib is missing."""
    if importlib.util.find_spec("matplotlib") is None:
        raise InputError(where, "drawing needs matplotlib: pip install 'ngramscan[figures]'")


def save_figure(figure: Figure, path: Path) -> None:
    """Write a figure, whole or not at all; the same figure gives the same bytes."""
    check_target(path)
    from matplotlib import rc_context

    kind = path.suffix.lower().removeprefix(".")
    metadata = {"Date": None} if kind == "svg" else {"Software": None}
    options: dict[str, Any] = {"format": kind, "dpi": 200, "metadata": metadata}
    with rc_context(_STYLE), warnings.catch_warnings():
        # Patterns may be in any script; in SVG the reader's font has what ours lacks.
        warnings.filterwarnings("ignore", message="Glyph .* missing from")
        write_whole(path, lambda file: figure.savefig(file, **options))


def new_figure(
    size: tuple[float, float], panels: tuple[int, int] = (1, 1), **options: Any
) -> tuple[Figure, list[Axes]]:
    """Return a figure of a size in inches and its panels, row by row."""
    check_library()
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    with rc_context(_STYLE):
        figure = Figure(figsize=size, layout="constrained", facecolor="white")
        axes = figure.subplots(*panels, squeeze=False, **options)
    return figure, [one for row in axes for one in row]


def finish(figure: Figure, title: str, width: float) -> Figure:
    """Add a title; dollar signs in labels are no mathematics."""
    from matplotlib import rc_context
    from matplotlib.text import Text

    with rc_context(_STYLE):
        lines = wrap(title, round(width * 11))
        figure.suptitle(lines, x=0.01, ha="left", fontsize=11, fontweight="bold")
    for text in figure.findobj(Text):
        if isinstance(text, Text):
            text.set_parse_math(False)
    return figure


def clean_axes(axes: Axes, grid: Literal["x", "both"] | None = "x") -> None:
    """Remove the lines that show no data."""
    axes.spines[["top", "right"]].set_visible(False)
    axes.tick_params(length=3, width=0.7)
    if grid:
        axes.grid(axis=grid, color="#E0E0E0", lw=0.6)
        axes.set_axisbelow(True)


def wrap(text: str, width: int) -> str:
    """Return a label in lines of a width; only longer words are broken."""
    return textwrap.fill(" ".join(text.split()), width) or "–"


def shorten(text: str, width: int) -> str:
    """Return a label in one line, cut where it is longer."""
    line = " ".join(text.split())
    return line if len(line) <= width else line[: width - 1] + "…"


def lines_of(labels: Sequence[str]) -> int:
    """Return how many lines labels take if each has as many as the longest."""
    return len(labels) * max((label.count("\n") + 1 for label in labels), default=0)


def varying(keys: Sequence[tuple[str, ...]]) -> list[str]:
    """Return labels of keys, without parts that are empty or the same in all."""
    differs = [len(set(part)) > 1 for part in zip(*keys, strict=True)]
    told = [tuple(filter(None, compress(key, differs))) for key in keys]
    return [" · ".join(some or filter(None, key)) for some, key in zip(told, keys, strict=True)]


def common(keys: Sequence[tuple[str, ...]]) -> str:
    """Return the parts that are the same in all keys, for a title; of a single key none."""
    parts = [set(part) for part in zip(*keys, strict=True)] if len(keys) > 1 else []
    return " · ".join(part.pop() for part in parts if len(part) == 1 and part != {""})


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
    """Add a title that names what is the same in all keys."""
    of = common(keys)
    return finish(figure, f"{title}: {of}" if of else title, width)
