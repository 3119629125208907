"""Rows → figures as inline SVG, which follow the colours of the page."""

from __future__ import annotations

from dataclasses import dataclass

from markupsafe import Markup

from ngramscan.report.page.results import Results


@dataclass(frozen=True, slots=True)
class Figure:
    """One figure."""

    title: str
    caption: str
    """How to read it, and what is left out."""
    svg: Markup


def draw(results: Results) -> list[Figure]:
    """Return the figures of some rows; none where a figure would say nothing."""
    raise NotImplementedError
