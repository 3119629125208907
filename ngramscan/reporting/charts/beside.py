"""Placement of names next to marks in a scatter plot, without overlaps."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ngramscan.reporting.charts.shapes import colour, halo, short, tag

if TYPE_CHECKING:
    from markupsafe import Markup

_LONGEST = 24
_CHARACTER = 1.2
"""Percentages of the width: a compromise between a phone and a wide page."""
_HEIGHT, _MARK = 12.0, 6.0
"""Pixels: the height of a name, and half the height of a mark."""
_PLACES = (-9.0, 19.0, -23.0, 33.0, -37.0, 47.0)
"""Pixels from a mark down to the baseline of its name, best first."""


@dataclass(frozen=True, slots=True)
class Spot:
    """A mark with a name."""

    name: str
    style: int
    share: float
    """Its place across, as a percentage of the width."""
    level: float
    """Its place down, in pixels."""


@dataclass(frozen=True, slots=True)
class _Rectangle:
    left: float
    right: float
    top: float
    bottom: float

    def covers(self, other_box: _Rectangle) -> bool:
        is_beside = self.right < other_box.left or other_box.right < self.left
        return not (is_beside or self.bottom < other_box.top or other_box.bottom < self.top)


def name_spots(spots: Sequence[Spot]) -> list[Markup]:
    """Return the names of marks: each on the first side of its mark with enough room."""
    occupied = [
        _Rectangle(spot.share - 1, spot.share + 1, spot.level - _MARK, spot.level + _MARK)
        for spot in spots
    ]
    parts = []
    for spot in spots:
        places = list(_places(spot))
        free = [
            (anchor, level)
            for anchor, level in places
            if not any(_box(spot, anchor, level).covers(taken_box) for taken_box in occupied)
        ]
        anchor, level = (free or places)[0]
        occupied.append(_box(spot, anchor, level))
        aside = "7" if anchor == "start" else "-7"
        looks = {"class_": "series", "text_anchor": anchor, "fill": colour(spot.style)}
        text = halo(short(spot.name, _LONGEST), x=aside, y="0", **looks)
        parts.append(tag("svg", text, x=f"{spot.share:g}%", y=f"{level:g}", overflow="visible"))
    return parts


def _places(spot: Spot) -> Iterator[tuple[str, float]]:
    """Yield sides and levels of a name, best first."""
    width = _CHARACTER * len(short(spot.name, _LONGEST))
    sides = ["start"] if spot.share + width < 96 else []
    if spot.share - width > 4 or not sides:
        sides.append("end")
    for place in _PLACES:
        for side in sides:
            yield side, spot.level + place


def _box(spot: Spot, anchor: str, level: float) -> _Rectangle:
    width = _CHARACTER * len(short(spot.name, _LONGEST)) + 1
    start = spot.share if anchor == "start" else spot.share - width
    return _Rectangle(start, start + width, level - _HEIGHT, level)
