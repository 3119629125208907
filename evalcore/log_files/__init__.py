"""Per-sample results of other tools, read into rows of scores.

The tools are no dependency: their files are read as they are documented and as they were found.
"""

from evalcore.log_files.base import LAYOUTS, MISSING, LogOptions, UsageRow
from evalcore.log_files.reading import LogScores, read_logs

__all__ = ["LAYOUTS", "MISSING", "LogOptions", "LogScores", "UsageRow", "read_logs"]
