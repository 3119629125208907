"""Rows → files, terminal, data frames; and the options that say where they go.

Every command ends here, so that all formats mean the same everywhere.
"""

from ngramscan.output.rows import (
    FORMATS,
    Target,
    check_writable,
    choose_target,
    optional_target,
    to_frame,
    to_text,
    write_rows,
    write_whole,
)

__all__ = [
    "FORMATS",
    "Target",
    "check_writable",
    "choose_target",
    "optional_target",
    "to_frame",
    "to_text",
    "write_rows",
    "write_whole",
]
