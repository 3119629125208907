"""Rows → files, terminal, data frames; and the options that say where they go.

Every command ends here, so that all formats mean the same everywhere.
"""

from ngramscan.report.arguments import (
    listed,
    refuse_other,
    refuse_same_file,
    several,
    strict_keywords,
)
from ngramscan.report.files import check_writable, write_whole
from ngramscan.report.rows import (
    FORMATS,
    Target,
    choose_target,
    optional_target,
    to_frame,
    to_text,
    write_rows,
)

__all__ = [
    "FORMATS",
    "Target",
    "check_writable",
    "choose_target",
    "listed",
    "optional_target",
    "refuse_other",
    "refuse_same_file",
    "several",
    "strict_keywords",
    "to_frame",
    "to_text",
    "write_rows",
    "write_whole",
]
