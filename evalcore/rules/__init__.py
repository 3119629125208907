"""Whether an answer is the gold. A rule is one function: items and tools in, a verdict per item."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from evalcore.rules import financemath, mathematics, words
from evalcore.rules.base import Item, Tools, Verdict

__all__ = ["RULES", "Item", "Tools", "Verdict"]

RULES: Mapping[str, Callable[[Sequence[Item], Tools], Iterator[Verdict]]] = {
    "strict": financemath.strict,
    "lenient": financemath.lenient,
    "math": mathematics.math,
    "exact": words.exact,
    "numbers": words.numbers,
}
