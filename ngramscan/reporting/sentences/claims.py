"""Published figures, recomputed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from ngramscan.reporting.sentences.names import named
from ngramscan.reporting.sentences.phrases import Row, count_of, finding, listed, number
from ngramscan.reporting.sentences.sentence import Sentence

_VERDICTS = {
    "ok": ("follows from the tables", "follow from the tables"),
    "rounding": ("is explained by rounding alone", "are explained by rounding alone"),
    "mismatch": ("contradicts the tables", "contradict the tables"),
    "different quantity": ("compares two quantities", "compare two quantities"),
    "not derivable": ("can't be derived from them", "can't be derived from them"),
}
"""The words for each verdict on one figure and on several."""
_MOST_NAMED = 4


def say_claims(rows: Sequence[Row], _alpha: float) -> Iterator[Sentence]:
    """Yield the sentences about rows of `audit`: how many figures have each verdict."""
    counts = Counter(row["verdict"] for row in rows)
    texts: list[str] = []
    for verdict in [*_VERDICTS, *(other for other in counts if other not in _VERDICTS)]:
        if n := counts[verdict]:
            texts.append(_verdict(verdict, n, "" if texts else f" of {_figures(len(rows))}"))
    yield finding(f"{listed(texts, most=len(texts))}.")
    wrong = [named(row["id"]) for row in rows if row["verdict"] == "mismatch" and row.get("id")]
    if wrong and len(rows) > 1:
        subject = "The mismatch is" if len(wrong) == 1 else "The mismatches are"
        yield Sentence(f"{subject} {listed(wrong, most=_MOST_NAMED)}.")


def _figures(n: int) -> str:
    return count_of(n, "published figure")


def _verdict(verdict: object, n: int, of: str) -> str:
    if verdict is None:
        return f"{number(n)}{of} {'has' if n == 1 else 'have'} no verdict"
    default = (f"is called {named(verdict)}", f"are called {named(verdict)}")
    one, several = _VERDICTS.get(str(verdict), default)
    return f"{number(n)}{of} {one if n == 1 else several}"
