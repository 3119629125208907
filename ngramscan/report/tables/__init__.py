"""Rows → what a person reads in the terminal."""

from ngramscan.report.layout import print_rows
from ngramscan.report.tables.blend import print_blend
from ngramscan.report.tables.contaminate import print_contaminate
from ngramscan.report.tables.contexts import print_contexts
from ngramscan.report.tables.count import print_count
from ngramscan.report.tables.docnorm import print_docnorm
from ngramscan.report.tables.keyness import print_keyness
from ngramscan.report.tables.strategies import print_strategies
from ngramscan.report.tables.tiers import print_tiers
from ngramscan.report.tables.token_count import print_token_count
from ngramscan.report.tables.token_docnorm import print_token_docnorm

__all__ = ["print_blend", "print_contaminate", "print_contexts", "print_count", "print_docnorm"]
__all__ += ["print_keyness", "print_rows", "print_strategies", "print_tiers", "print_token_count"]
__all__ += ["print_token_docnorm"]
