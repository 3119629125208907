"""Rows → what a person reads in the terminal."""

from ngramscan.output.layout import print_rows
from ngramscan.tables.blending import print_blending
from ngramscan.tables.contexts import print_contexts
from ngramscan.tables.counting import print_counting
from ngramscan.tables.documents import print_norming
from ngramscan.tables.keyness import print_keyness
from ngramscan.tables.strategies import print_strategies
from ngramscan.tables.tier_ratios import print_tiering

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
