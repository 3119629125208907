"""Compare answers that are words to the letter (BBH word_sorting), or numbers up to rounding."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from evalcore.rules.base import Item, Tools, Verdict
from evalcore.rules.financemath import read_number


def exact(items: Sequence[Item], _tools: Tools) -> Iterator[Verdict]:
    """Yield whether each text is the gold, white space and one full stop at the ends apart."""
    for problem, value, _ in items:
        said, right = (
            text.strip().removesuffix(".").rstrip() for text in (str(value), problem.gold or "")
        )
        if said == right:
            yield Verdict(1.0, "equal")
        elif sorted(said.split()) == sorted(right.split()):
            yield Verdict(0.0, "the same words in another order")
        else:
            yield Verdict(0.0, "other words")


def numbers(items: Sequence[Item], _tools: Tools) -> Iterator[Verdict]:
    """Yield whether each answer is the number that the gold is.

    Two integers must be equal, other numbers within a millionth of the larger. Currency and percent
    signs, thousands commas and units are read over, and never scale a number; see `read_number`.
    """
    for problem, value, _ in items:
        said, right = read_number(str(value)), read_number(problem.gold or "")
        if right is None:
            yield Verdict(None, f"the gold is not a number: {problem.gold!r:.40}")
        elif said is None:
            yield Verdict(0.0, f"not a number: {' '.join(str(value).split())[:40]!r}")
        elif said == right:
            yield Verdict(1.0, "equal")
        elif (said % 1 or right % 1) and math.isclose(said, right, rel_tol=1e-6):
            yield Verdict(1.0, "equal within a millionth")
        else:
            yield Verdict(0.0, f"{said:.12g} is not {right:.12g}")
