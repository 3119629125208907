"""Rows → pictures. matplotlib is imported where one is drawn."""

from ngramscan.figures.accuracy import draw_accuracy
from ngramscan.figures.blend import draw_blend
from ngramscan.figures.canvas import check_target, save_figure
from ngramscan.figures.prevalence import draw_prevalence
from ngramscan.figures.strategies import draw_strategies

__all__ = [
    "check_target",
    "draw_accuracy",
    "draw_blend",
    "draw_prevalence",
    "draw_strategies",
    "save_figure",
]
