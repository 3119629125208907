"""Entries of a benchmark with verdicts, their documents, and scores for them."""

from typing import Any

from ngramscan.prevalence.contamination.contaminate import EntryRow
from ngramscan.prevalence.contamination.effects import GivenScore
from ngramscan.prevalence.contamination.evidence import EvidenceRow
from ngramscan.prevalence.contamination.rules import EntryClass, make_rule


def entry(id_: str, verdict: EntryClass | None, index: str = "a") -> EntryRow:
    """Return a row; only the index, the id and the verdict matter here."""
    return EntryRow(index, "mini", id_, 1, 1, 0, None, None, None, verdict, None, None, 0)


def entries(clean: int, suspicious: int = 0, dirty: int = 0) -> list[EntryRow]:
    """Return entries numbered from 0: the clean ones first, the dirty ones last."""
    sizes: dict[EntryClass, int] = {"clean": clean, "suspicious": suspicious, "dirty": dirty}
    verdicts = [verdict for verdict, n in sizes.items() for _ in range(n)]
    return [entry(str(number), verdict) for number, verdict in enumerate(verdicts)]


def judged_entry(
    id_: str,
    verdict: EntryClass | None,
    index: str = "a",
    *,
    score: float | None = None,
    covered: float | None = None,
    document: str | None = None,
    source: str | None = None,
    changed: str | None = None,
    answer: str | None = None,
) -> EntryRow:
    """Return an entry that was judged by the rule `copied`, with three of four windows found."""
    return EntryRow(
        index=index,
        rule=make_rule("copied").described,
        id=id_,
        windows=4,
        asked=4,
        found=3,
        eta=0.75,
        eta_low=0.75,
        eta_high=0.75,
        verdict=verdict,
        rarest="the cat sat on",
        rarest_occurrences=1,
        longest_run=20,
        answer=answer,
        score=score,
        covered=covered,
        document=document,
        source=source,
        changed=changed,
    )


def score(id_: int | str, value: float | None, status: str = "") -> GivenScore:
    """Return a score of one model and method for an entry."""
    return GivenScore("gsm8k", "m", "cot", str(id_), "exact", value, status)


def evidence(id_: str, verdict: EntryClass = "copied", **changes: Any) -> EvidenceRow:
    """Return an entry and its document, which have one part in common; other fields as given."""
    values: dict[str, Any] = {
        "index": "a",
        "rule": make_rule("copied").described,
        "score": 0.875,
        "covered": 0.9,
        "document": "crawl.jsonl:7",
        "source": None,
        "text": "How many red hats are there?",
        "passage": "They asked how many red hats are there.",
        "shared_in_text": "0-27",
        "rare_in_text": "4-20",
        "shared_in_passage": "11-38",
        "rare_in_passage": "15-31",
        "changed_in_text": "",
        "changed_in_passage": "",
        "changed": None,
        "answer": None,
    }
    return EvidenceRow(id=id_, verdict=verdict, **(values | changes))
