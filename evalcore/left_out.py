"""What is left out of a comparison, since nothing is known of it, and how that is told."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple


class LeftOut(NamedTuple):
    """Pairs of answers, or problems, of which nothing is known for one of the methods."""

    unknown: int = 0
    """All were asked, but what an answer was worth is not known."""
    one_sided: int = 0
    """Not all of them were asked."""

    @property
    def n(self) -> int:
        """Return how many they are."""
        return self.unknown + self.one_sided

    def told(self, what: str) -> str:
        """Return how many they are, and why; `what` names one."""
        reasons = [f"{self.unknown:,} with an unknown result"] * bool(self.unknown)
        reasons += [f"{self.one_sided:,} not put to every method"] * bool(self.one_sided)
        return f"{_counted(self.n, what)} left out: {', '.join(reasons)}"


def _counted(n: int, what: str) -> str:
    return f"{n:,} {what}" if n == 1 else f"{n:,} {what}s"


def say_left_out(found: Iterable[LeftOut], n_known: int, what: str) -> str:
    """Return the line that comes before all others; empty where nothing is left out.

    Parameters
    ----------
    found : iterable of LeftOut
        Of every cell.
    n_known : int
        How many pairs or problems of these cells are not left out.
    what : str
        The name of one.
    """
    n = sum(each.n for each in found)
    if not n:
        return ""
    verb = "is" if n == 1 else "are"
    reason = "nothing is known of one of the answers"
    return f"{n:,} of {_counted(n + n_known, what)} {verb} left out, since {reason}"
