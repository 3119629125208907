"""Rows → pictures. matplotlib is imported where one is drawn."""

from ngramscan.reporting.canvas import check_target, save_figure
from ngramscan.reporting.figures.blend import draw_blend
from ngramscan.reporting.figures.contaminate import draw_contaminate
from ngramscan.reporting.figures.count import draw_count
from ngramscan.reporting.figures.strategies import draw_strategies

__all__ = ["check_target", "draw_blend", "draw_contaminate", "draw_count", "draw_strategies"]
__all__ += ["save_figure"]
