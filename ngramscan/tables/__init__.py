"""Rows → what a person reads in the terminal."""

from ngramscan.tables.contexts import print_contexts
from ngramscan.tables.counting import print_counting
from ngramscan.tables.documents import print_norming
from ngramscan.tables.layout import print_rows, stdout_console

__all__ = ["print_contexts", "print_counting", "print_norming", "print_rows", "stdout_console"]
