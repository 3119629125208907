"""Values of the column `index` that stand for several corpora, not for one."""

from __future__ import annotations

ALL = "all"
"""No corpus: rows on the patterns themselves."""
UNION = "union"
"""All corpora together: what is in any of them."""
_SUM = "sum over "


def sum_over(n: int) -> str:
    """Return the name of sums over some snapshots of the crawl."""
    return f"{_SUM}{n} crawl snapshots"


def is_one_corpus(index: object) -> bool:
    """Tell whether the index of a row is the name of a single corpus."""
    return index not in {ALL, UNION} and not str(index).startswith(_SUM)
