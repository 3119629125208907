"""pass@k and pass^k: the chance that any, or that all, of k answers to a problem are right."""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class PassRate:
    """The chance that any of `k` answers is right (pass@k), or that all are (pass^k)."""

    k: int
    all_right: bool = False

    @property
    def name(self) -> str:
        """Return the name of the measure, as `pass@5` or `pass^5`."""
        return f"pass^{self.k}" if self.all_right else f"pass@{self.k}"

    @property
    def column(self) -> str:
        """Return the name of its column, which is also the name of its option."""
        return "pass_hat" if self.all_right else "pass_at"

    def estimate(self, n: int, n_right: int) -> float:
        """Estimate it without bias from `n_right` right ones of `n` answers to one problem.

        That is the share of all sets of k of these answers in which any is right, or all are.

        Raises
        ------
        ValueError
            There are fewer than k answers, or more right ones than answers.

        Notes
        -----
        Sources: Chen et al. 2021, arXiv:2107.03374 (pass@k); Yao et al. 2024, arXiv:2406.12045
        (pass^k).
        """
        if not 0 <= n_right <= n or not 1 <= self.k <= n:
            raise ValueError(f"{self.name} from {n_right} right ones of {n} answers")
        if self.all_right:
            return math.comb(n_right, self.k) / math.comb(n, self.k)
        return 1 - math.comb(n - n_right, self.k) / math.comb(n, self.k)
