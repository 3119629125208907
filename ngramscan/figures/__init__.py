"""Rows → pictures. matplotlib is imported where one is drawn."""

from ngramscan.figures.blend import draw_blend
from ngramscan.figures.prevalence import draw_prevalence
from ngramscan.figures.strategies import draw_strategies
from ngramscan.output.canvas import check_target, save_figure

__all__ = [
    "check_target",
    "draw_blend",
    "draw_prevalence",
    "draw_strategies",
    "save_figure",
]
