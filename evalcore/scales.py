"""Scales of scores: what a wrong and a right answer get."""

import math
from typing import NamedTuple


class ScoreScale(NamedTuple):
    """The scores of a wrong and of a right answer, if they are numbers."""

    lowest: float = 0.0
    highest: float = 1.0

    def share_of(self, score: float) -> float | None:
        """Return a score as a share, from 0 to 1; None if it is not on the scale."""
        if not self.lowest <= score <= self.highest and not self._is_rounded(score):
            return None
        share = (score - self.lowest) / (self.highest - self.lowest)
        return min(max(share, 0.0), 1.0)

    def _is_rounded(self, score: float) -> bool:
        """Tell whether a score misses an end only by rounding, as sums of parts may."""
        ends = self if isinstance(score, float) else ()
        return any(math.isclose(score, end, rel_tol=1e-12, abs_tol=1e-12) for end in ends)


FROM_0_TO_1 = ScoreScale()
