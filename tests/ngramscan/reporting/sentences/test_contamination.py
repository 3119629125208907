"""Sentences about contamination: rows and their exact text."""

from typing import Any

import pytest

from tests.support.report_sentences import results_of, texts_of

ENTRY = "Contamination of each entry"
SHARE = "Contaminated shares of the benchmark"
EFFECT = "Scores on clean and on contaminated entries"
EVIDENCE = "Entries and the documents that have most of them"
REMOVED = "Documents and passages removed from a corpus"
BY_COPIED = "copied: 4 words from each word on; words in lower case"
COPIED = {"rule": BY_COPIED, "verdict": "copied"}
VARIANT = {"rule": BY_COPIED, "verdict": "variant"}
COMMON = {"rule": BY_COPIED, "verdict": "shared"}
CLEAN = {"rule": BY_COPIED, "verdict": "clean"}
UNDECIDED = {"rule": BY_COPIED, "verdict": None}
ROWS: dict[str, dict[str, Any]] = {
    ENTRY: {
        "index": "i",
        "rule": "mini: 50 characters from each word on; tail drop, short whole, stripped",
        "id": "1",
        "windows": 10,
        "found": 9,
        "verdict": "dirty",
        "answer": None,
    },
    SHARE: {
        "index": "dclm",
        "rule": "mini: 50 characters from each word on; tail drop, short whole, stripped",
        "verdict": "dirty",
        "entries": 120,
        "population": 120,
        "share": 0.1,
        "share_low": 0.058,
        "share_high": 0.167,
        "level": 0.95,
    },
    EFFECT: {
        "index": "i",
        "dataset": "d",
        "model": "m",
        "method": "cot",
        "score_rule": "r",
        "answer": "",
        "n": 60,
        "accuracy_dirty": 0.7,
        "accuracy_clean": 0.5,
        "difference": 0.2,
        "difference_low": 0.05,
        "difference_high": 0.34,
        "level": 0.95,
        "p": 0.01,
        "p_adjusted": 0.02,
    },
    EVIDENCE: {
        "index": "i",
        "rule": BY_COPIED,
        "id": "1",
        "verdict": "copied",
        "text": "a",
        "passage": "a",
    },
    REMOVED: {
        "index": "i",
        "rule": BY_COPIED,
        "file": "c.jsonl",
        "record": 1,
        "entries": "1, 2",
        "verdict": "copied",
        "characters_cut": None,
    },
}
"""A row of each kind, which cases have with other values."""


@pytest.mark.parametrize(
    ("title", "changes", "said"),
    [
        pytest.param(
            ENTRY,
            [{}, {}, {"verdict": "suspicious"}, {"verdict": "clean"}, {"verdict": None}],
            [
                (
                    "2 of 5 questions occur in i almost whole (rule mini), 1 in part, 1 does "
                    "not, 1 is not decided."
                ),
            ],
            id="questions that occur whole, in part and not",
        ),
        pytest.param(
            ENTRY,
            [
                {"index": "i", "verdict": "dirty"},
                {"index": "i", "verdict": "clean"},
                {"index": "j", "verdict": "clean"},
                {"index": "j", "verdict": "clean"},
                {"index": "union", "verdict": "dirty"},
                {"index": "union", "verdict": "clean"},
            ],
            [
                (
                    "1 of 2 questions occurs in any of the corpora almost whole (rule mini), 1 "
                    "does not."
                ),
                "Among the 2 corpora, i has most (1 dirty) and j fewest (0).",
            ],
            id="any corpus before the single ones",
        ),
        pytest.param(
            ENTRY,
            [{}, {"index": "j"}],
            [
                "1 of 1 question occurs in i almost whole (rule mini).",
                "Each of the 2 corpora has 1 of them.",
            ],
            id="two corpora with the same number",
        ),
        pytest.param(
            ENTRY,
            [
                {"rule": "gpt3: 13 words from each word on; words in lower case"},
                {
                    "rule": "gpt3: 13 words from each word on; words in lower case",
                    "verdict": "clean",
                },
            ],
            [
                "1 of 2 questions shares 13 words in a row with i (rule gpt3), 1 does not.",
            ],
            id="a rule of words in a row",
        ),
        pytest.param(
            ENTRY,
            [
                {
                    "rule": "gpt4: 50 characters at 3 random places, seed 1; short whole, stripped",
                    "verdict": "clean",
                }
            ],
            [
                ("Not one of 1 question shares a random part of 50 characters with i (rule gpt4)."),
            ],
            id="a rule of random parts",
        ),
        pytest.param(
            ENTRY,
            [{"rule": "palm: 8 words from each word on; words in lower case"}],
            [
                "1 of 1 question occurs in i for the most part (rule palm).",
            ],
            id="a rule of most of a question",
        ),
        pytest.param(
            ENTRY,
            [{"answer": "near"}, {"answer": "not near"}],
            [
                (
                    "2 of 2 questions occur in i almost whole (rule mini); 1 of the dirty ones "
                    "with the answer near."
                ),
            ],
            id="answers near the questions",
        ),
        pytest.param(
            ENTRY,
            [{"rule": "Is “x” dirty?\n"}],
            [
                '1 of 1 question is dirty in i (rule “Is "x" dirty?\\n”).',
            ],
            id="a rule of a file that others made",
        ),
        pytest.param(
            ENTRY,
            [COPIED] * 12 + [VARIANT] * 3 + [COMMON] * 40 + [CLEAN] * 65,
            [
                (
                    "12 of 120 questions were copied into a document of i (rule copied), 3 more "
                    "with other numbers, 40 share common text with it, 65 do not occur."
                ),
            ],
            id="questions that were copied, in part and not",
        ),
        pytest.param(
            ENTRY,
            [COPIED, VARIANT, COMMON, CLEAN, UNDECIDED],
            [
                (
                    "1 of 5 questions was copied into a document of i (rule copied), 1 more with "
                    "other numbers, 1 shares common text with it, 1 does not occur, 1 is not "
                    "decided."
                ),
            ],
            id="one question of each class",
        ),
        pytest.param(
            ENTRY,
            [VARIANT, VARIANT, CLEAN],
            [
                (
                    "Not one of 3 questions was copied into a document of i (rule copied), but 2 "
                    "were with other numbers, 1 does not occur."
                ),
            ],
            id="variants alone",
        ),
        pytest.param(
            ENTRY,
            [VARIANT, UNDECIDED, UNDECIDED],
            [
                (
                    "Not one of 3 questions was copied into a document of i (rule copied), but 1 "
                    "was with other numbers, 2 are not decided."
                ),
            ],
            id="one variant",
        ),
        pytest.param(
            ENTRY,
            [CLEAN, CLEAN],
            ["Not one of 2 questions was copied into a document of i (rule copied)."],
            id="nothing was copied",
        ),
        pytest.param(
            ENTRY,
            [
                COPIED | {"answer": "near"},
                COPIED | {"answer": "not near"},
                VARIANT | {"answer": "near"},
            ],
            [
                (
                    "2 of 3 questions were copied into a document of i (rule copied), 1 more with "
                    "other numbers; 1 of the copied ones with the answer near."
                ),
            ],
            id="answers near what was copied",
        ),
        pytest.param(
            ENTRY,
            [
                COPIED,
                CLEAN,
                COMMON | {"index": "j"},
                CLEAN | {"index": "j"},
                COPIED | {"index": "union"},
                COMMON | {"index": "union"},
            ],
            [
                (
                    "1 of 2 questions was copied into a document of any of the corpora (rule "
                    "copied), 1 shares common text with them."
                ),
                "Among the 2 corpora, i has most (1 copied) and j fewest (0).",
            ],
            id="copies in any corpus",
        ),
        pytest.param(
            SHARE,
            [COPIED, CLEAN | {"share": 0.9}, COPIED | {"verdict": "copied, answer near"}],
            [
                (
                    "10% [5.8, 17] of the 120 questions were copied into a document of dclm (rule "
                    "copied)."
                ),
                "10% [5.8, 17] were copied into a document of dclm with the answer near.",
                "Brackets enclose 95% confidence intervals.",
            ],
            id="a share of copies",
        ),
        pytest.param(
            SHARE,
            [COPIED | {"share": None, "share_low": 0.2, "share_high": 0.6, "population": 1319}],
            [
                (
                    "Between 20% and 60% of the 1,319 questions of the file were copied into a "
                    "document of dclm (rule copied): not all of their windows are known, "
                    "estimated from 120."
                ),
            ],
            id="a share of copies that is not known",
        ),
        pytest.param(
            EVIDENCE,
            [{}, {"id": "2"}, {"id": "3", "verdict": "variant"}, {"id": "4", "verdict": "shared"}],
            [
                (
                    "4 questions are shown with the document of i that has most of each: 2 copied, "
                    "1 with other numbers and 1 with common text."
                ),
            ],
            id="documents of several questions",
        ),
        pytest.param(
            EVIDENCE,
            [{"index": name} for name in "ijkl"],
            [
                "1 question is shown with the document of i that has most of it: 1 copied.",
                "1 question is shown with the document of j that has most of it: 1 copied.",
                "1 question is shown with the document of k that has most of it: 1 copied.",
                "The table has one further index.",
            ],
            id="documents of four corpora",
        ),
        pytest.param(
            REMOVED,
            [{}, {"record": 2}, {"characters_cut": 1000}, {"characters_cut": 234}],
            [
                "2 documents were removed from a copy of i.",
                "1,234 characters were cut from a copy of i, in 2 documents.",
            ],
            id="documents and passages that were removed",
        ),
        pytest.param(
            REMOVED,
            [{"index": "i"}, *({"index": name, "characters_cut": 1} for name in "jkl")],
            [
                "1 document was removed from a copy of i.",
                "1 character was cut from a copy of j, in 1 document.",
                "1 character was cut from a copy of k, in 1 document.",
                "The table has one further index.",
            ],
            id="removals from four corpora",
        ),
        pytest.param(
            EFFECT,
            [{"rule": BY_COPIED}, {"rule": BY_COPIED, "answer": "not near", "p_adjusted": 0.07}],
            [
                (
                    "Copied questions have higher scores than clean ones with m and cot on d in "
                    "i, scored by r: 70% against 50%, 20.0 points [5.0, 34.0], adjusted p = "
                    "0.020, n = 60."
                ),
                (
                    "No difference is shown between copied questions without the answer near and "
                    "clean ones in scores with m and cot on d in i, scored by r: 70% against "
                    "50%, 20.0 points [5.0, 34.0], adjusted p = 0.070, n = 60; the interval is "
                    "not adjusted for the number of tests."
                ),
                "Brackets enclose 95% confidence intervals.",
            ],
            id="an effect of copies",
        ),
        pytest.param(
            ENTRY,
            [{"rule": "a"}, {"rule": "b"}, {"rule": "c"}, {"rule": "d"}],
            [
                "1 of 1 question is dirty in i (rule a).",
                "1 of 1 question is dirty in i (rule b).",
                "1 of 1 question is dirty in i (rule c).",
                "The table has one further rule.",
            ],
            id="four rules of contamination",
        ),
        pytest.param(
            SHARE,
            [{}, {"verdict": "clean", "share": 0.9}],
            [
                "10% [5.8, 17] of the 120 questions are dirty by mini in dclm.",
                "Brackets enclose 95% confidence intervals.",
            ],
            id="a share",
        ),
        pytest.param(
            SHARE,
            [{"population": 1319}],
            [
                (
                    "10% [5.8, 17] of the 1,319 questions of the file are dirty by mini in "
                    "dclm, estimated from 120."
                ),
                "Brackets enclose 95% confidence intervals.",
            ],
            id="a share of a sample",
        ),
        pytest.param(
            SHARE,
            [
                {"index": "i", "share": 0.2, "share_low": 0.1, "share_high": 0.4},
                {"index": "j", "share": 0.1, "share_low": 0.05, "share_high": 0.2},
                {"index": "k", "share": 0.3, "share_low": 0.15, "share_high": 0.6},
                {"index": "union", "share": 0.4, "share_low": 0.2, "share_high": 0.8},
            ],
            [
                "40% [20, 80] of the 120 questions are dirty by mini in any of the corpora.",
                "30% [15, 60] of the 120 questions are dirty by mini in k.",
                "10% [5, 20] of the 120 questions are dirty by mini in j.",
                "Brackets enclose 95% confidence intervals.",
            ],
            id="any corpus, then the largest and the smallest share",
        ),
        pytest.param(
            SHARE,
            [{"share": None, "share_low": 0.2, "share_high": 0.6}],
            [
                (
                    "Between 20% and 60% of the 120 questions are dirty by mini in dclm: not "
                    "all of their windows are known."
                ),
            ],
            id="a share that is not known",
        ),
        pytest.param(
            SHARE,
            [{"share": None, "share_low": None, "share_high": 0.6}],
            [
                "It is not known how many of the 120 questions are dirty by mini in dclm.",
            ],
            id="a share without limits that is not known",
        ),
        pytest.param(
            SHARE,
            [
                {},
                {
                    "verdict": "dirty, answer near",
                    "share": 0.05,
                    "share_low": 0.02,
                    "share_high": 0.1,
                },
            ],
            [
                "10% [5.8, 17] of the 120 questions are dirty by mini in dclm.",
                "5% [2, 10] are dirty in dclm with the answer near.",
                "Brackets enclose 95% confidence intervals.",
            ],
            id="a share with the answer near",
        ),
        pytest.param(
            EFFECT,
            [{}],
            [
                (
                    "Dirty questions have higher scores than clean ones with m and cot on d in "
                    "i, scored by r: 70% against 50%, 20.0 points [5.0, 34.0], adjusted p = "
                    "0.020, n = 60."
                ),
                "Brackets enclose 95% confidence intervals.",
            ],
            id="an effect",
        ),
        pytest.param(
            EFFECT,
            [
                {
                    "difference": -0.2,
                    "difference_low": -0.3,
                    "difference_high": -0.1,
                    "accuracy_dirty": 0.3,
                    "p_adjusted": 0.004,
                },
                {"model": "n", "p": 0.07, "p_adjusted": 0.07},
            ],
            [
                (
                    "Dirty questions have lower scores than clean ones with m and cot on d in "
                    "i, scored by r: 30% against 50%, −20.0 points [−30.0, −10.0], adjusted p ="
                    " 0.004, n = 60."
                ),
                (
                    "No difference is shown between dirty questions and clean ones in scores "
                    "with n and cot on d in i, scored by r: 70% against 50%, 20.0 points [5.0, "
                    "34.0], adjusted p = 0.070, n = 60; interval and test disagree: the "
                    "interval excludes 0, but p is above 0.05."
                ),
                "Brackets enclose 95% confidence intervals.",
            ],
            id="effects downwards, and none",
        ),
        pytest.param(
            EFFECT,
            [
                {"answer": "near"},
                {
                    "answer": "not near",
                    "difference": -0.1,
                    "difference_low": -0.2,
                    "difference_high": -0.05,
                    "accuracy_dirty": None,
                },
            ],
            [
                (
                    "Dirty questions with the answer near have higher scores than clean ones "
                    "with m and cot on d in i, scored by r: 70% against 50%, 20.0 points [5.0, "
                    "34.0], adjusted p = 0.020, n = 60."
                ),
                (
                    "Dirty questions without the answer near have lower scores than clean ones "
                    "with m and cot on d in i, scored by r: −10.0 points [−20.0, −5.0], "
                    "adjusted p = 0.020, n = 60."
                ),
                "Brackets enclose 95% confidence intervals.",
            ],
            id="an effect by answers",
        ),
        pytest.param(
            EFFECT,
            [
                {
                    "index": "union",
                    "difference": 0.0,
                    "difference_low": -0.1,
                    "difference_high": 0.1,
                    "p": 1.0,
                    "p_adjusted": 1.0,
                }
            ],
            [
                (
                    "No difference is shown between dirty questions and clean ones in scores "
                    "with m and cot on d in any of the corpora, scored by r: 70% against 50%, "
                    "0.0 points [−10.0, 10.0], adjusted p = 1, n = 60."
                ),
                "Brackets enclose 95% confidence intervals.",
            ],
            id="effects in any corpus",
        ),
    ],
)
def test_rows_are_said_in_these_words(
    title: str, changes: list[dict[str, Any]], said: list[str]
) -> None:
    rows = [ROWS[title] | change for change in changes]
    assert texts_of(results_of(title, rows)) == said
