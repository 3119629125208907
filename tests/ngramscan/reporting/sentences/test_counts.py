"""What is said of counts, totals and contexts, word by word."""

from collections.abc import Sequence
from typing import Any

import pytest

from ngramscan.reporting.sentences.counts import say_contexts, say_counts
from ngramscan.reporting.sentences.phrases import ALPHA
from ngramscan.reporting.sentences.totals import say_totals

GB = 10**9


def counted(index: str | None, query: str, n: float, **columns: Any) -> dict[str, Any]:
    """Return a row of `count`, of a corpus of a gigabyte unless something else is said."""
    row: dict[str, Any] = {"index": index, "query": query, "pattern": query, "occurrences": n}
    return row | {"bytes": GB, "per_gigabyte": float(n)} | columns


UNKNOWN_SIZE = {"bytes": None, "per_gigabyte": None}


def said_of(rows: Sequence[dict[str, Any]]) -> list[str]:
    return [sentence.text for sentence in say_counts(rows, ALPHA)]


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        pytest.param(
            [counted("dclm", "a b", 475)],
            ["“a b” occurs 475 times (475 per GB) in dclm."],
            id="a phrase in a corpus",
        ),
        pytest.param(
            [counted("dclm", "a b", 1, **UNKNOWN_SIZE)],
            ["“a b” occurs once in dclm."],
            id="a phrase in a corpus of unknown size",
        ),
        pytest.param(
            [{"index": "dclm", "query": "a b", "occurrences": 2}],
            ["“a b” occurs 2 times in dclm."],
            id="rows of an older file",
        ),
        pytest.param(
            [counted("dclm", "a b", 3, bytes=999_999, per_gigabyte=3000.0)],
            ["“a b” occurs 3 times in dclm."],
            id="a small corpus, of which a rate says nothing",
        ),
        pytest.param(
            [counted("dclm", "a b", 0)], ["“a b” does not occur in dclm."], id="an absent phrase"
        ),
        pytest.param(
            [counted("d", "a", 0), counted("e", "b", 0), counted("e", "a", 0)],
            ["None of 2 phrases occurs in 2 corpora."],
            id="nothing occurs",
        ),
        pytest.param(
            [counted(index, query, n) for index, n in (("d", 7), ("e", 0)) for query in "ab"],
            [
                "“a” is the most frequent of 2 phrases in 1 of 2 corpora: 7 times (7 per GB) in d;"
                " the other has none of them."
            ],
            id="a corpus without any of the phrases",
        ),
        pytest.param(
            [
                counted("d", "a", 7),
                counted("d", "b", 9),
                counted("d", "c", 0, estimated=True, occurrences_low=0, occurrences_high=3),
            ],
            ["“b” is the most frequent of 3 phrases: 9 times (9 per GB) in d."],
            id="a phrase of which no draw is a whole word",
        ),
        pytest.param(
            [counted("d", "a", 7), counted("d", "b", 9), counted("d", "c", 0)],
            [
                "“b” is the most frequent of 3 phrases: 9 times (9 per GB) in d.",
                "“c” does not occur in d.",
            ],
            id="phrases in a corpus, one of them absent",
        ),
        pytest.param(
            [counted("d", "a", 9), counted("d", "b", 9), counted("d", "c", 1)],
            ["“a” is the most frequent of 3 phrases, with 1 other: 9 times (9 per GB) in d."],
            id="two phrases that are equally frequent",
        ),
        pytest.param(
            [
                counted("d", "a", 7),
                counted("d", "b", 9),
                counted("e", "a", 30, per_gigabyte=15.0),
                counted("e", "b", 40, per_gigabyte=20.0),
            ],
            [
                "“b” is the most frequent of 2 phrases in both corpora: most often in e,"
                " 20 per GB, and least often in d, 9."
            ],
            id="phrases in two corpora",
        ),
        pytest.param(
            [
                counted("d", "a", 7),
                counted("d", "b", 9),
                counted("e", "a", 30),
                counted("e", "b", 4),
                counted("f", "a", 7),
                counted("f", "b", 5),
            ],
            [
                "“a” is the most frequent of 2 phrases in 2 of 3 corpora: most often in e,"
                " 30 per GB, and least often in d, 7."
            ],
            id="another phrase in one of the corpora",
        ),
        pytest.param(
            [counted("d", "a b", 7), counted("e", "a b", 7), counted("f", "a b", 7)],
            ["“a b” occurs 7 per GB in all 3 corpora."],
            id="the same rate everywhere",
        ),
        pytest.param(
            [
                counted("d", "a", 7, **UNKNOWN_SIZE),
                counted("e", "a", 9),
                counted("f", "a", 5),
            ],
            ["“a” occurs 7 times in d and 9 times (9 per GB) in e."],
            id="a corpus of unknown size, which is not compared",
        ),
        pytest.param(
            [
                counted("d", "a", 12, estimated=True, occurrences_low=9, occurrences_high=15.5),
            ],
            ["“a” occurs about 12 times [9, 15.5] (12 per GB) in d."],
            id="an estimate",
        ),
        pytest.param(
            [
                counted("d", "a", 12, estimated=True, occurrences_low=9, **UNKNOWN_SIZE),
            ],
            ["“a” occurs about 12 times [9, no limit] in d."],
            id="an estimate without an upper limit",
        ),
        pytest.param(
            [
                counted("cc-2025-30", "a", 93),
                counted("cc-2025-05", "a", 71),
                counted("cc-2025-13", "a", 80),
                counted("cc-2025-05", "b", 5),
                counted("cc-2025-30", "b", 4),
                counted("cc-2025-05", "c", 2),
                counted("cc-2025-30", "c", 2),
            ],
            [
                "“a” is the most frequent of 3 phrases in all 3 corpora: most often in cc-2025-30,"
                " 93 per GB, and least often in cc-2025-05, 71.",
                "From cc-2025-05 to cc-2025-30, “a” went from 71 to 93 per GB; of 3 phrases, 1 rose"
                " and 1 fell.",
            ],
            id="snapshots",
        ),
        pytest.param(
            [counted(None, "“x” is in all\u202e", 3, **UNKNOWN_SIZE)],
            ['“"x" is in all\\u202e” occurs 3 times in a corpus without a name.'],
            id="hostile names",
        ),
        pytest.param(
            [
                counted("t", "a", 9, unit="tokens", per_million_tokens=1.5),
                counted("t", "b", 3, unit="tokens", per_million_tokens=0.5),
            ],
            [
                "As n-grams of tokens, “a”, the most frequent of 2 phrases, occurs 9 times,"
                " 1.5 per million tokens in t: lower bounds of what the strings occur."
            ],
            id="n-grams of tokens",
        ),
    ],
)
def test_counts_are_said_as_a_colleague_would(
    rows: list[dict[str, Any]], expected: list[str]
) -> None:
    assert said_of(rows) == expected


# Contexts


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        pytest.param(
            [("python", "a b")],
            "This is 1 occurrence of “a b” in python: an example, not a count.",
            id="one",
        ),
        pytest.param(
            [("python", "a b")] * 3,
            "These are 3 occurrences of “a b” in python: examples, not counts.",
            id="a phrase",
        ),
        pytest.param(
            [("python", "a"), ("dclm", "b")],
            "These are 2 occurrences of 2 phrases in 2 corpora: examples, not counts.",
            id="phrases and corpora",
        ),
    ],
)
def test_contexts_are_examples(rows: list[tuple[str, str]], expected: str) -> None:
    given = [{"index": index, "pattern": pattern} for index, pattern in rows]
    assert [one.text for one in say_contexts(given, ALPHA)] == [expected]


# Totals


def total(index: str, statistic: str, value: float | None, **columns: Any) -> dict[str, Any]:
    """Return a row of `totals`, by default of F-1 against CoT."""
    row: dict[str, Any] = {"index": index, "tiers": "T1+T2", "method": "F-1", "versus": "CoT"}
    return row | {"statistic": statistic, "value": value, "kind": "", "note": ""} | columns


def largest(
    index: str, method: str, phrase: str, *, count: int, union: int
) -> list[dict[str, Any]]:
    """Return the totals of a method that tell how much of it its largest phrase makes."""
    names: dict[str, Any] = {"method": method, "versus": None}
    return [
        total(index, "largest_pattern_count", count, **names),
        total(index, "union_of_occurrences", union, **names),
        total(index, "largest_pattern_share", 0.1, note=phrase, **names),
    ]


UNION, GEOMETRIC = "ratio_of_unions", "ratio_of_geometric_means"


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        pytest.param(
            [
                total("dclm", UNION, 3.89),
                total("dclm", UNION, 4.6, versus="PoT"),
                total("dclm", UNION, 0.846, method="PoT"),
            ],
            [
                "F-1's phrases are 3.89 times as frequent as CoT's and 4.6 times PoT's;"
                " PoT's phrases are 0.846 times as frequent as CoT's in dclm (tiers T1 and"
                " T2)."
            ],
            id="three methods in a corpus",
        ),
        pytest.param(
            [
                total("dclm", UNION, 3.89),
                total("a", UNION, 1.2),
                total("b", UNION, 0.9),
                total("c", UNION, 0.8),
            ],
            [
                "F-1's phrases are 3.89 times as frequent as CoT's in dclm (tiers T1 and T2).",
                "In the other 3 corpora, F-1 : CoT is between 0.8 and 1.2, below 1 in b and c.",
            ],
            id="corpora in which it is otherwise",
        ),
        pytest.param(
            [total("dclm", UNION, 0.5), total("a", UNION, 1.2)],
            [
                "F-1's phrases are 0.5 times as frequent as CoT's in dclm (tiers T1 and T2).",
                "In a, F-1 : CoT is 1.2, above 1.",
            ],
            id="another corpus, in which it is otherwise",
        ),
        pytest.param(
            [
                total("d", UNION, 2.0),
                *[total(f"e{n}", UNION, 0.5 + n) for n in range(4)],
                *[total(f"f{n}", UNION, 0.25) for n in range(3)],
            ],
            [
                "F-1's phrases are 2 times as frequent as CoT's in d (tiers T1 and T2).",
                "In the other 7 corpora, F-1 : CoT is between 0.25 and 3.5, below 1 in 4 of them.",
            ],
            id="many corpora in which it is otherwise",
        ),
        pytest.param(
            [total("d", UNION, 0.0), total("d", UNION, 0.0, method="PoT"), total("e", UNION, 3.0)],
            [
                "None of F-1's phrases occurs; none of PoT's phrases occurs in d (tiers T1 and"
                " T2).",
                "In e, F-1 : CoT is 3, above 1.",
            ],
            id="methods without any occurrence",
        ),
        pytest.param(
            [total("d", UNION, 1.0, tiers="T1")],
            ["F-1's phrases are as frequent as CoT's in d (tier T1)."],
            id="equally frequent, one tier",
        ),
        pytest.param(
            [total("d", UNION, 9.0, kind="latex"), total("d", UNION, 2.0)],
            ["F-1's phrases are 2 times as frequent as CoT's in d (tiers T1 and T2)."],
            id="all kinds of phrases together, not one of them",
        ),
        pytest.param(
            [total("d", UNION, 9.0, tiers="T3"), total("d", UNION, 2.0)],
            ["F-1's phrases are 2 times as frequent as CoT's in d (tiers T1 and T2)."],
            id="both tiers together, not others",
        ),
        pytest.param(
            [total("d", GEOMETRIC, 0.698, low=0.112, high=4.34)],
            [
                "The ratio of geometric means, per phrase, F-1 : CoT is 0.698 [0.112, 4.34] in d"
                " (tiers T1 and T2): no difference is shown."
            ],
            id="an interval that includes 1",
        ),
        pytest.param(
            [total("d", GEOMETRIC, 3.0, low=1.5, high=6.0)],
            [
                "The ratio of geometric means, per phrase, F-1 : CoT is 3 [1.5, 6] in d (tiers T1"
                " and T2); the phrases are not a random sample, so nothing is claimed."
            ],
            id="an interval that excludes 1, which claims nothing",
        ),
        pytest.param(
            [
                total("d", GEOMETRIC, 0.698, low=0.112, high=4.34),
                total("e", GEOMETRIC, 2.0, low=0.5, high=None),
            ],
            [
                "The ratio of geometric means, per phrase, F-1 : CoT is 0.698 [0.112, 4.34] in d"
                " (tiers T1 and T2); both intervals include 1: no difference is shown."
            ],
            id="intervals that all include 1",
        ),
        pytest.param(
            [
                total("d", GEOMETRIC, 0.698, low=0.112, high=4.34),
                total("e", GEOMETRIC, 2.0, low=1.5, high=3.0),
            ],
            [
                "The ratio of geometric means, per phrase, F-1 : CoT is 0.698 [0.112, 4.34] in d"
                " (tiers T1 and T2); 1 of 2 intervals includes 1, and nothing is claimed by the"
                " others, which are not adjusted."
            ],
            id="intervals of which some include 1",
        ),
        pytest.param(
            [total("d", GEOMETRIC, 2.0)],
            [
                "The ratio of geometric means, per phrase, F-1 : CoT is 2 in d (tiers T1 and T2),"
                " without an interval."
            ],
            id="a ratio without an interval",
        ),
        pytest.param(
            [total("t", GEOMETRIC, 0.5, tiers="T1", unit="tokens")],
            [
                "The ratio of geometric means, over n-grams of tokens, F-1 : CoT is 0.5 in t (tier"
                " T1), without an interval."
            ],
            id="over tokens",
        ),
        pytest.param(
            [
                *largest("d", "F-1", "\\begin{equation}", count=489, union=1178),
                *largest("d", "CoT", "so, so", count=475, union=617),
                *largest("d", "PoT", "\\end{align}", count=7, union=5),
                *largest("e", "F-1", "other", count=9, union=10),
            ],
            [
                "In d, “\\begin{equation}” makes 41.5% of F-1's, “so, so” makes 77.0% of CoT's"
                " occurrences."
            ],
            id="the largest phrases",
        ),
        pytest.param(
            [total("d", "ratio_of_documents", 1.36, low=1.28, high=1.45)],
            [
                "F-1's phrases are in 1.36 [1.28, 1.45] times as many documents as CoT's in d"
                " (tiers T1 and T2)."
            ],
            id="documents",
        ),
        pytest.param(
            [total("d", "ratio_of_documents", 1.01, low=0.94, high=1.08)],
            [
                "F-1's phrases are in 1.01 [0.94, 1.08] times as many documents as CoT's (no"
                " difference is shown) in d (tiers T1 and T2).",
            ],
            id="an estimated ratio that may be 1",
        ),
        pytest.param(
            [
                total("d", "ratio_of_documents", 1.36, low=1.28, high=1.45),
                total("e", "ratio_of_documents", 0.9, low=0.8, high=1.1),
                total("f", "ratio_of_documents", 0.7, low=0.6, high=0.8),
            ],
            [
                "F-1's phrases are in 1.36 [1.28, 1.45] times as many documents as CoT's in d"
                " (tiers T1 and T2).",
                "In the other 2 corpora, F-1 : CoT is between 0.7 and 0.9, with its interval below"
                " 1 in f.",
            ],
            id="documents of other corpora, one of them otherwise with all of its interval",
        ),
        pytest.param(
            [
                total("d", "ratio_of_sums", 31.0),
                total("d", UNION, None),
                total("all", "nested", None),
            ],
            ["No two methods are compared in these totals."],
            id="ratios of sums, of which nothing is said",
        ),
    ],
)
def test_totals_are_said_as_a_colleague_would(
    rows: list[dict[str, Any]], expected: list[str]
) -> None:
    assert [sentence.text for sentence in say_totals(rows, ALPHA)] == expected
