"""Rows → what a person reads in the terminal."""

from ngramscan.reporting.layout import print_rows
from ngramscan.reporting.tables.blend import print_blend
from ngramscan.reporting.tables.blend_screen import print_blend_screen
from ngramscan.reporting.tables.contaminate import print_contaminate
from ngramscan.reporting.tables.contexts import print_contexts
from ngramscan.reporting.tables.count import print_count
from ngramscan.reporting.tables.count_screen import has_count_screen, print_count_screen
from ngramscan.reporting.tables.docnorm import print_docnorm
from ngramscan.reporting.tables.docnorm_screen import has_docnorm_screen, print_docnorm_screen
from ngramscan.reporting.tables.keyness import print_keyness
from ngramscan.reporting.tables.several_corpora import (
    print_contaminate_screen,
    print_trace_screen,
)
from ngramscan.reporting.tables.sources import print_sources
from ngramscan.reporting.tables.strategies import print_strategies
from ngramscan.reporting.tables.tiers import print_tiers
from ngramscan.reporting.tables.tiers_screen import has_tiers_screen, print_tiers_screen
from ngramscan.reporting.tables.trace import (
    describe_masks,
    describe_trace_forms,
    describe_unlisted_spans,
    print_trace,
    print_traced_texts,
)

__all__ = [
    "describe_masks",
    "describe_trace_forms",
    "describe_unlisted_spans",
    "has_count_screen",
    "has_docnorm_screen",
    "has_tiers_screen",
    "print_blend",
    "print_blend_screen",
    "print_contaminate",
    "print_contaminate_screen",
    "print_contexts",
    "print_count",
    "print_count_screen",
    "print_docnorm",
    "print_docnorm_screen",
    "print_keyness",
    "print_rows",
    "print_sources",
    "print_strategies",
    "print_tiers",
    "print_tiers_screen",
    "print_trace",
    "print_trace_screen",
    "print_traced_texts",
]
