"""Rows → files, terminal, data frames; and the options that say where they go.

Every command ends here, so that all formats mean the same everywhere.
"""

from ngramscan.reporting.files import check_writable, write_whole
from ngramscan.reporting.options import listed, refuse_other
from ngramscan.reporting.rows import choose_target, to_frame, to_text, write_rows

__all__ = ["check_writable", "choose_target", "listed", "refuse_other"]
__all__ += ["to_frame", "to_text", "write_rows", "write_whole"]
