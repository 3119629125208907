"""Sentences about more groups than are named, about none, and about rows that lack something."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import pytest

from ngramscan.reporting.sentences.comparisons import say_comparisons
from ngramscan.reporting.sentences.documents import say_documents
from ngramscan.reporting.sentences.markers import say_confusion, say_isolation, say_presence
from ngramscan.reporting.sentences.phrases import ALPHA
from ngramscan.reporting.sentences.sentence import Sentence
from ngramscan.reporting.sentences.specificity import say_strategies
from ngramscan.reporting.sentences.totals import say_totals
from ngramscan.reporting.sentences.traces import say_curve, say_traces

Row = dict[str, Any]
OUTPUTS: Row = {"dataset": "d", "model": "m", "outputs": 12, "level": 0.95}


def marked(method: str, prompt: str, has_method: bool, share: float, **columns: Any) -> Row:
    names = {"method": method, "prompt": prompt, "has_method": has_method, "share": share}
    return OUTPUTS | names | {"share_low": 0.015, "share_high": 0.35} | columns


def of_prompt(n: int, **columns: Any) -> Row:
    return OUTPUTS | {"index": "i", "prompt": f"p{n}", "kind": "all", "length": 5} | columns


def compared(n: int) -> Row:
    names = {"dataset": "d", "model": "m", "rule": "r", "baseline": "cot", "treatment": f"t{n}"}
    difference = {"difference": 0.2 - n / 100, "difference_low": 0.1, "difference_high": 0.3}
    return names | difference | {"p": 0.001, "p_holm": 0.001, "n": 100}


def total(index: str, value: float, **columns: Any) -> Row:
    names = {"index": index, "tiers": "T1", "method": "F-1", "versus": "CoT", "kind": ""}
    known = {"statistic": "ratio_of_documents", "value": value, "low": None, "high": None}
    return names | known | columns


def say_where_markers_are_confused(rows: Sequence[Row], _alpha: float) -> Iterable[Sentence]:
    return say_confusion(rows)


@pytest.mark.parametrize(
    ("say", "rows", "expected"),
    [
        pytest.param(
            say_where_markers_are_confused,
            [
                marked("CoT", "cot", True, 0.67),
                marked("CoT", "f-1", False, 1 / 12),
                marked("PoT", "pot", True, 1.0),
                marked("PoT", "cot", False, 0.0),
            ],
            [
                "With prompts that lack the method, CoT's markers are in at most 8.3% [1.5, 35] of"
                " the outputs (f-1) and PoT's in no output."
            ],
            id="markers with prompts that lack the method",
        ),
        pytest.param(
            say_where_markers_are_confused,
            [marked("CoT", "f-1", False, 0.5)],
            [],
            id="a method that no prompt asks for is not confused with another",
        ),
        pytest.param(
            say_presence,
            [
                marked("CoT", "cot", True, 0.5, pattern=f"phrase {n}", generic="in all")
                for n in range(6)
            ],
            [
                "CoT's most frequent marker is “phrase 0”: in 50% [1.5, 35] of the outputs of cot.",
                "Frequent without their method as well, so no sign of it: “phrase 0”, “phrase 1”,"
                " “phrase 2” and 3 others.",
            ],
            id="many generic patterns",
        ),
        pytest.param(
            say_isolation,
            [
                OUTPUTS
                | {"method": f"M{n}", "ratio": 2.0 + n, "share_own": 0.6}
                | {"share_others": 0.3, "ratio_low": 1.5, "ratio_high": 9.0}
                for n in range(5)
            ],
            [
                "M0's markers are in 60% of the outputs of its own prompts and in 30% of others"
                " (ratio 2 [1.5, 9]).",
                "M1's markers are in 60% of the outputs of its own prompts and in 30% of others"
                " (ratio 3 [1.5, 9]).",
                "M2's markers are in 60% of the outputs of its own prompts and in 30% of others"
                " (ratio 4 [1.5, 9]).",
                "The ratio is at least as large for M3 and M4.",
            ],
            id="many methods",
        ),
        pytest.param(
            say_strategies,
            [of_prompt(n, strategy="algebra", share=0.5) for n in range(6)],
            [
                "algebra is the most frequent strategy in outputs of p0 (50%), p1 (50%), p2 (50%)"
                " and 3 further prompts."
            ],
            id="many prompts with one strategy",
        ),
        pytest.param(
            say_curve,
            [of_prompt(n, coverage=0.1 + n / 100) for n in range(6)],
            [
                "On average, spans of at least 5 words that occur in i cover 15% of an output of"
                " p5, 14% of one of p4 and 13% of one of p3 (and 3 further groups of outputs)."
            ],
            id="many groups of outputs",
        ),
        pytest.param(
            say_curve, [of_prompt(0, coverage=None)], [], id="a curve without a known value"
        ),
        pytest.param(
            say_traces,
            [
                of_prompt(n, id="1", unit="words", words=10, coverage=0.1, min_words=5)
                for n in range(6)
            ],
            [
                "10% of the words in the outputs of p0, 10% of those of p1 and 10% of those of p2"
                " (and 3 further prompts) are in spans of at least 5 words that occur verbatim in"
                " i."
            ],
            id="outputs of many prompts",
        ),
        pytest.param(
            say_documents,
            [{"index": "d", "pattern": pattern, "documents": 0} for pattern in "ab"],
            ["No document of d has any of 2 phrases."],
            id="phrases that no document has",
        ),
        pytest.param(
            say_documents,
            [
                {"index": index, "pattern": "a", "documents": 500, "documents_low": 500}
                | {"documents_high": 500, "documents_per_million": 50.0}
                for index in "de"
            ],
            ["“a” is in 500 documents of d, 50 in a million."],
            id="equal shares in two corpora",
        ),
        pytest.param(
            say_totals,
            [total("d", 2.0, statistic="ratio_of_unions", tiers=None)],
            ["F-1's phrases are 2 times as frequent as CoT's in d (all phrases)."],
            id="totals without tiers",
        ),
        pytest.param(
            say_totals,
            [total("d", 2.0, low=1.5, high=3.0), total("e", 0.5, low=0.2)],
            [
                "F-1's phrases are in 2 [1.5, 3] times as many documents as CoT's in d (tier T1).",
                "In e, F-1 : CoT is 0.5.",
            ],
            id="a ratio without an upper limit is not on the other side",
        ),
        pytest.param(
            say_comparisons,
            [compared(n) for n in range(5)],
            [
                f"t{n} is more accurate than cot with m on d, scored by r: {20 - n}.0 points"
                " [10.0, 30.0], adjusted p = 0.001, n = 100."
                for n in range(4)
            ]
            + ["One other difference is shown, between another pair."],
            id="more pairs than have a sentence",
        ),
    ],
)
def test_many_groups_and_none_are_said_in_these_words(
    say: Callable[[Sequence[Row], float], Iterable[Sentence]], rows: list[Row], expected: list[str]
) -> None:
    assert [sentence.text for sentence in say(rows, ALPHA)] == expected
