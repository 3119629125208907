"""Rows of documents that were removed from a copy of a corpus: one for each document."""

from ngramscan.prevalence.contamination.removals import (
    DocumentPlace,
    FoundCopy,
    RemovedRow,
    make_removed_rows,
)
from ngramscan.prevalence.contamination.rules import EntryClass


def copy(id_: str, verdict: EntryClass, file: str, record: int, source: str = "") -> FoundCopy:
    return FoundCopy(id_, verdict, DocumentPlace(file, record), source or None)


def test_a_row_has_all_entries_of_a_document_and_the_worst_class() -> None:
    copies = [
        copy("q1", "variant", "b.jsonl", 10),
        copy("q1", "copied", "b.jsonl", 9, "https://b.org"),
        copy("q2", "variant", "b.jsonl", 10, "https://c.org"),
        copy("q3", "copied", "b.jsonl", 10),
        copy("q3", "shared", "a.jsonl", 200),
        copy("q1", "variant", "b.jsonl", 10),
    ]
    rows = make_removed_rows(copies, "scan:c", "copied: 4 words", {DocumentPlace("b.jsonl", 9): 70})
    assert rows == [
        RemovedRow("scan:c", "copied: 4 words", "a.jsonl", 200, None, "q3", "shared", None),
        RemovedRow(
            index="scan:c",
            rule="copied: 4 words",
            file="b.jsonl",
            record=9,
            source="https://b.org",
            entries="q1",
            verdict="copied",
            characters_cut=70,
        ),
        RemovedRow(
            index="scan:c",
            rule="copied: 4 words",
            file="b.jsonl",
            record=10,
            source="https://c.org",
            entries="q1, q2, q3",
            verdict="copied",
            characters_cut=None,
        ),
    ]
