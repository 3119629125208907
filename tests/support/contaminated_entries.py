"""Entries of a benchmark with verdicts, and scores for them."""

from ngramscan.prevalence.contamination.contaminate import EntryRow
from ngramscan.prevalence.contamination.effects import GivenScore
from ngramscan.prevalence.contamination.rules import EntryClass


def entry(id_: str, verdict: EntryClass | None, index: str = "a") -> EntryRow:
    """Return a row; only the index, the id and the verdict matter here."""
    return EntryRow(index, "mini", id_, 1, 1, 0, None, None, None, verdict, None, None, 0)


def entries(clean: int, suspicious: int = 0, dirty: int = 0) -> list[EntryRow]:
    """Return entries numbered from 0: the clean ones first, the dirty ones last."""
    sizes: dict[EntryClass, int] = {"clean": clean, "suspicious": suspicious, "dirty": dirty}
    verdicts = [verdict for verdict, n in sizes.items() for _ in range(n)]
    return [entry(str(number), verdict) for number, verdict in enumerate(verdicts)]


def score(id_: int | str, value: float | None, status: str = "") -> GivenScore:
    """Return a score of one model and method for an entry."""
    return GivenScore("gsm8k", "m", "cot", str(id_), "exact", value, status)
