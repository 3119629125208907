"""What is said of the sources of phrases, word by word."""

from typing import Any

import pytest

from ngramscan.reporting.sentences.phrases import ALPHA
from ngramscan.reporting.sentences.sources import say_sources


def found(value: str, share: float, **columns: Any) -> dict[str, Any]:
    """Return a row of `sources`, exact unless limits are given."""
    row: dict[str, Any] = {"index": "d", "query": "a b", "by": "source", "value": value}
    row |= {"is_missing": False, "all_occurrences": 10, "occurrence_share": share}
    row |= {"occurrence_share_low": share, "occurrence_share_high": share}
    return row | columns


DRAWN = {
    "occurrence_share_low": 0.5,
    "occurrence_share_high": 0.7,
    "document_share": 0.8,
    "document_share_low": 0.4,
    "document_share_high": 0.9,
}


@pytest.mark.parametrize(
    ("rows", "texts"),
    [
        pytest.param(
            [found("web", 0.4), found("arxiv", 0.6)],
            ["60.0% of the occurrences of “a b” in d are from the source arxiv."],
            id="exact",
        ),
        pytest.param(
            [found("web", 0.6, **DRAWN)],
            [
                "60.0% [50.0%, 70.0%] of the occurrences of “a b” in d are from the source web, and"
                " 80.0% [40.0%, 90.0%] of the documents with it."
            ],
            id="from draws",
        ),
        pytest.param(
            [found("(none)", 0.6, is_missing=True, by="year")],
            ["60.0% of the occurrences of “a b” in d are from documents without a year."],
            id="without a value",
        ),
        pytest.param(
            [found("2020", 0.6, by="year")],
            ["60.0% of the occurrences of “a b” in d are from the year 2020."],
            id="a year without quotes",
        ),
        pytest.param(
            [found("(unreadable)", 0.6, is_unreadable=True, by="url-host")],
            ["60.0% of the occurrences of “a b” in d are from documents with an unreadable host."],
            id="unreadable",
        ),
        pytest.param(
            [
                found("web", 0.6, per_gigabyte=10.0, estimated=True, **DRAWN),
                found("mail", 0.4, per_gigabyte=40.0, estimated=True),
            ],
            [
                "60.0% [50.0%, 70.0%] of the occurrences of “a b” in d are from the source web, and"
                " 80.0% [40.0%, 90.0%] of the documents with it."
            ],
            id="from a sample of files",
        ),
        pytest.param(
            [found("a.org", 0.6, by="url-host")],
            ["60.0% of the occurrences of “a b” in d are from the host a.org."],
            id="hosts",
        ),
        pytest.param(
            [found("2 parts", 0.6, by="pile set")],
            ["60.0% of the occurrences of “a b” in d are from the “pile set” “2 parts”."],
            id="another field",
        ),
        pytest.param(
            [
                found("web", 0.6, per_gigabyte=10.0),
                found("mail", 0.3, per_gigabyte=40.0),
                found("arxiv", 0.1, per_gigabyte=5.0),
            ],
            [
                "60.0% of the occurrences of “a b” in d are from the source web.",
                "Per gigabyte of its source, it is most frequent in the source mail (40) and least"
                " in the source arxiv (5), of the sources that have it.",
            ],
            id="with sizes",
        ),
        pytest.param(
            [found("web", 1.0, query=f"q{n}", all_occurrences=n) for n in range(5)],
            [
                *(
                    f"100.0% of the occurrences of “q{n}” in d are from the source web."
                    for n in (4, 3, 2)
                ),
                "The table has 2 further phrases.",
            ],
            id="many phrases",
        ),
    ],
)
def test_sentences(rows: list[dict[str, Any]], texts: list[str]) -> None:
    sentences = [*say_sources(rows, ALPHA)]
    assert [sentence.text for sentence in sentences] == texts
    assert all(sentence.has_interval == ("[" in sentence.text) for sentence in sentences)
