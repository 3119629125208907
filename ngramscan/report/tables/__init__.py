"""Rows → what a person reads in the terminal."""

from ngramscan.report.layout import print_rows
from ngramscan.report.tables.blend import print_blending
from ngramscan.report.tables.contexts import print_contexts
from ngramscan.report.tables.count import print_counting
from ngramscan.report.tables.docnorm import print_norming
from ngramscan.report.tables.keyness import print_keyness
from ngramscan.report.tables.strategies import print_strategies
from ngramscan.report.tables.tiers import print_tiering

__all__ = [
    "print_blending",
    "print_contexts",
    "print_counting",
    "print_keyness",
    "print_norming",
    "print_rows",
    "print_strategies",
    "print_tiering",
]
