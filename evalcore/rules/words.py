"""Compare answers that are words (BBH word_sorting) to the letter."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from evalcore.rules import Item, Tools, Verdict


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
