"""The commands as functions: the same names and options, returning data frames."""

from evalcore.commands.judging import judge
from evalcore.commands.running import run
from evalcore.commands.scoring import score

__all__ = ["judge", "run", "score"]
