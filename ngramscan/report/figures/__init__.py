"""Rows → pictures. matplotlib is imported where one is drawn."""

from ngramscan.report.canvas import check_target, save_figure
from ngramscan.report.figures.blend import draw_blend
from ngramscan.report.figures.contaminate import draw_contaminate
from ngramscan.report.figures.count import draw_count
from ngramscan.report.figures.strategies import draw_strategies

__all__ = ["check_target", "draw_blend", "draw_contaminate", "draw_count", "draw_strategies"]
__all__ += ["save_figure"]
