"""Sentences about rows: the exact text of each, no claim beyond rows, no number of its own."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ngramscan.reporting.kinds import KINDS
from ngramscan.reporting.layout import cell, p_text, percent
from ngramscan.reporting.page.results import Results
from ngramscan.reporting.page.words import sentences
from tests.test_report_results import TYPES, hints_of

KIND_OF = {kind.title: kind for kind in KINDS}
CLAIM = re.compile(
    r"\b(differs?|different|higher|lower|more|less|fewer|better|worse|exceeds?|outperforms?"
    r"|greater|smaller|significant\w*|improve\w*|causes?|because|effects?)\b",
    re.IGNORECASE,
)
SAID = re.compile(r"\d+(?:,\d{3})*(?:\.\d+)?(?:e[+-]\d+)?")
NAMES = st.sampled_from(
    ["cot", "pot", "42", "1e5", "more", "“x” differs", "</script>", "a\nb\x1b[31m\u202e", "7" * 99]
)
FRACTIONS = st.one_of(
    st.sampled_from([0.0, 0.05, 0.0499999, 0.050001, 1.0, -1.0]),
    st.floats(-1, 1).map(lambda one: round(one, 6)),
)
LARGE = st.one_of(FRACTIONS, st.floats(0, 1e7), st.sampled_from([float("inf"), 1e-12]))
SIZES = st.one_of(st.integers(0, 9), st.integers(0, 10**12))


def values_of(hint: Any) -> st.SearchStrategy[Any]:
    """Return the values that a column may have."""
    kinds = {hint, *get_args(hint)}
    found: st.SearchStrategy[Any] = NAMES
    if bool in kinds:
        found = st.booleans()
    elif float in kinds:
        found = FRACTIONS if not {int} & kinds else LARGE
    elif int in kinds:
        found = SIZES
    return st.none() | found if type(None) in kinds else found


def rows_of(title: str) -> st.SearchStrategy[list[dict[str, Any]]]:
    """Return random rows of a kind; their limits are in order, but anything else goes."""
    hints = hints_of(title)
    columns = {name: values_of(hint) for name, hint in hints.items()}
    if "statistic" in columns:
        columns["statistic"] = st.sampled_from(
            ["ratio_of_geometric_means", "ratio_of_sums", "unanimous", "krippendorff_alpha"]
        )
    if "verdict" in columns:
        columns["verdict"] = st.sampled_from(["clean", "dirty", None])
    return st.lists(st.fixed_dictionaries(columns).map(ordered), min_size=1, max_size=4)


def ordered(row: dict[str, Any]) -> dict[str, Any]:
    """Return a row whose intervals contain its value, as all of ours do."""
    for low in [name for name in row if name.endswith("low")]:
        high = f"{low[:-3]}high"
        for value in (low[:-4], "value", "prevalence_ratio", "selection_accuracy"):
            three = [one for one in (low, value, high) if row.get(one) is not None]
            if value in row and len(three) > 1 and (value == low[:-4] or low[:3] in {"low", "pre"}):
                row |= dict(zip(three, sorted(row[one] for one in three), strict=True))
    return row


def results_of(title: str, rows: list[dict[str, Any]], left_out: int = 0) -> Results:
    """Return rows as a page gets them."""
    return Results(KIND_OF[title], "rows.csv", (*rows[0],), rows, left_out)


def without_names(said: str) -> str:
    """Return a sentence without what is quoted, and without phrases that only look like claims."""
    plain = re.sub("“[^”]*”", "NAME", said)
    return plain.replace("lower bounds", "").replace("No difference", "")


def may_claim(row: Mapping[str, Any]) -> bool:
    """Tell whether a difference may be called one, by the rule of the page."""
    low, high = row.get("difference_low"), row.get("difference_high")
    p = (
        row["p_holm"]
        if row.get("p_adjusted") is None and "p_holm" in row
        else row.get("p_adjusted")
    )
    if low is None or high is None or p is None:
        return False
    return not low <= 0 <= high and p <= 0.05


def derivable(rows: Iterable[Mapping[str, Any]]) -> set[str]:
    """Return the numbers that sentences about some rows may have, as they are written."""
    rows = list(rows)
    found = {str(n) for n in range(len(rows) + 1)} | {"0.05", "0.001", "0.999"}
    for value in {one for row in rows for one in row.values() if isinstance(one, int | float)}:
        tested = [p_text(min(1.0, n * value)) for n in range(5) if 0 <= value <= 1]
        found |= {cell(value), percent(value), f"{100 * value:g}", *tested}
    return {one.replace(",", "").removeprefix("-") for one in found}


@pytest.mark.parametrize("title", TYPES)
@settings(max_examples=8)
@given(data=st.data())
def test_words_claim_nothing_and_have_no_number_of_their_own(title: str, data: Any) -> None:
    rows = data.draw(rows_of(title))
    said = sentences(results_of(title, rows))
    assert len(said) <= 12
    known = derivable(rows)
    for sentence in said:
        assert sentence.endswith(".")
        assert sentence.isprintable()
        assert len(sentence) < 2000
        plain = without_names(sentence)
        assert "None" not in plain
        for found in SAID.findall(plain.replace("n-gram", "").replace("−", "-")):
            assert found.replace(",", "") in known, sentence
    if not any(map(may_claim, rows)):
        assert not [one for one in said if CLAIM.search(without_names(one))]


# The text of each sentence.

Some = dict[str, Any]
COMPARED: Some = {
    "dataset": "d",
    "model": "m",
    "rule": "r",
    "baseline": "cot",
    "treatment": "pot",
    "n": 1500,
    "difference": 0.05123,
    "difference_low": 0.010009,
    "difference_high": 0.09211,
    "p": 0.0041,
    "p_holm": 0.0246,
    "n_unknown": 0,
}
LESS = {"difference": -0.2, "difference_low": -0.3, "difference_high": -0.1, "p_holm": 1e-9}
NONE = {"difference": 0.01, "difference_low": -0.041, "difference_high": 0.06, "p_holm": 1.0}
BARE = {"difference_low": None, "difference_high": None}
COUNT: Some = {"index": "i", "method": "cot", "tier": "T1", "query": "a", "occurrences": 10}
LIMITS = {"occurrences_low": 4, "occurrences_high": 1701.5, "estimated": True, "level": 0.95}
DOCUMENTS: Some = {
    "index": "i",
    "method": None,
    "tier": None,
    "pattern": "a",
    "documents": 80,
    "documents_low": 71,
    "documents_high": 90,
    "estimator": "size-bias",
    "truncated_share": 0.0,
    "level": 0.95,
}
TOTAL: Some = {
    "index": "i",
    "tiers": "T1",
    "method": "pot",
    "versus": "cot",
    "statistic": "ratio_of_geometric_means",
    "value": 2.5,
    "low": 1.6,
    "high": 3.9,
}
TOKENS = {"statistic": "token_ratio_of_geometric_means", "value": 0.5, "low": None, "high": None}
CONTEXT: Some = {
    "index": "i",
    "pattern": "a",
    "left": "",
    "match": "a",
    "right": "",
    "document": "1",
}
ENTRY: Some = {"index": "i", "rule": "mini", "id": "1", "verdict": "clean", "eta": 0.1}
TRACED: Some = {"index": "i", "dataset": "d", "model": "m", "prompt": "cot", "id": "1"}
CURVE: Some = {
    **{name: TRACED[name] for name in ("index", "dataset", "model", "prompt")},
    "length": 5,
    "outputs": 200,
    "coverage": 0.031,
    "coverage_low": 0.024,
    "coverage_high": 0.044,
    "level": 0.95,
}
COPIED: Some = {
    "index": "i",
    "dataset": "d",
    "model": "m",
    "prompt": "pot",
    "baseline": "cot",
    "measure": "coverage",
    "problems": 200,
    "difference": -0.02,
    "difference_low": -0.03,
    "difference_high": -0.01,
    "p": 0.001,
    "p_holm": 0.003,
    "level": 0.95,
}
SHARE: Some = {
    "index": "i",
    "rule": "mini",
    "verdict": "dirty",
    "entries": 50,
    "share": 0.62,
    "share_low": 0.481504,
    "share_high": 0.741372,
}
UNKNOWN_SHARE = {"share": None, "share_low": 0.2, "share_high": 0.6}
EFFECT: Some = {
    "index": "i",
    "dataset": "d",
    "model": "m",
    "method": "cot",
    "score_rule": "r",
    "n": 60,
    "difference": 0.2,
    "difference_low": 0.05,
    "difference_high": 0.34,
    "level": 0.95,
    "p": 0.01,
    "p_adjusted": 0.02,
}
MARKER: Some = {
    "dataset": "d",
    "model": "m",
    "prompt": "cot",
    "method": "cot",
    "has_method": True,
    "outputs": 400,
    "share": 0.9,
    "share_low": 0.867,
    "share_high": 0.926,
    "level": 0.95,
}
RETAINED: Some = {
    "dataset": "d",
    "model": "m",
    "prefix": "f-1",
    "solver": "pot",
    "method": "F-1",
    "prompt_with": "f-1+pot",
    "pairs": 40,
    "level": 0.95,
    "p": 0.001,
    "p_adjusted": 0.0015,
    "difference": 0.2,
    "difference_low": 0.05,
    "difference_high": 0.34,
}
TIER: Some = {
    "dataset": "d",
    "model": "m",
    "method": "cot",
    "pattern": "a",
    "ratio": 12.0,
    "ratio_low": 10.4,
    "ratio_high": 13.9,
    "agrees": True,
    "interval_spans_tiers": False,
    "level": 0.95,
}
KEY: Some = {
    "ngram": "so that",
    "q": 0.01,
    "level": 0.9,
    "log_ratio": 2.0,
    "log_ratio_low": 1.1,
    "log_ratio_high": 2.9,
}
STRATEGY: Some = {
    "dataset": "d",
    "model": "m",
    "prompt": "cot",
    "strategy": "CoT",
    "outputs": 50,
    "share": 0.62,
    "share_low": 0.481504,
    "share_high": 0.741372,
    "level": 0.95,
}
SCORE: Some = {"rule": "strict", "status": "scored", "value": 1.0}
AVERAGE: Some = {**COMPARED, "average": "micro"}
OUTCOME: Some = {
    "dataset": "d",
    "model": "m",
    "rule": "r",
    "adaptive": "f-1",
    "baselines": "cot",
    "selection_accuracy": 0.62,
    "selection_low": 0.481504,
    "selection_high": 0.741372,
}
WINS: Some = {
    "model": "m",
    "treatment": "f-1",
    "baseline": "cot",
    "cells": 3,
    "wins": 1,
    "ties": 0,
    "losses": 2,
    "wins_by_test": 1,
    "ties_by_test": 2,
    "losses_by_test": 0,
    "alpha": 0.05,
}
COST: Some = {
    "dataset": "d",
    "model": "m",
    "method": "cot",
    "rule": "r",
    "n": 50,
    "n_tokens": 48,
    "accuracy": 0.62,
    "accuracy_low": 0.481504,
    "accuracy_high": 0.741372,
    "mean_tokens": 512.25,
    "mean_tokens_low": 480.5,
    "mean_tokens_high": 550.0,
}
AGREED: Some = {
    "statistic": "cohen_kappa",
    "judges": "a · b",
    "items": 50,
    "label": None,
    "count": None,
    "value": 0.62,
    "low": 0.481504,
    "high": 0.741372,
}
LINKED: Some = {
    "index": "i",
    "measure": "occurrences",
    **COMPARED,
    "p_adjusted": 0.0246,
    "prevalence_ratio": 4.0,
    "prevalence_low": 2.5,
    "prevalence_high": 6.25,
}
del LINKED["p_holm"], LINKED["n_unknown"], LINKED["n"]
RANK: Some = {
    "index": "i",
    "measure": "occurrences",
    "dataset": "d",
    "model": "m",
    "rule": "r",
    "methods": 4,
    "tau": 0.667,
    "p": 0.0417,
}
DIFFERENCES = "Differences of methods"
CASES: dict[str, tuple[str, list[Some]]] = {
    "a difference that was shown": (DIFFERENCES, [COMPARED]),
    "differences in both directions, the largest of each": (
        DIFFERENCES,
        [
            COMPARED,
            {**COMPARED, "dataset": "e", **LESS},
            {**COMPARED, "dataset": "f", **LESS, "difference": -0.25},
        ],
    ),
    "a difference whose interval has its limit at 0": (
        DIFFERENCES,
        [{**COMPARED, "difference_low": 0.0}],
    ),
    "a difference whose interval includes 0 though p is small": (
        DIFFERENCES,
        [{**COMPARED, "difference_low": -0.0004}],
    ),
    "a difference whose interval excludes 0 though p is not small": (
        DIFFERENCES,
        [{**COMPARED, "p": 0.06, "p_holm": 0.06}],
    ),
    "a difference whose interval excludes 0, but not after adjusting": (
        DIFFERENCES,
        [{**COMPARED, "p_holm": 0.050001}],
    ),
    "a difference that neither shows": (DIFFERENCES, [{**COMPARED, **NONE}]),
    "a difference without an interval": (DIFFERENCES, [{**COMPARED, **BARE, "p_holm": 1e-6}]),
    "a difference without a lower limit": (DIFFERENCES, [{**COMPARED, "difference_low": None}]),
    "a difference without an upper limit": (DIFFERENCES, [{**COMPARED, "difference_high": None}]),
    "a difference that is exact": (
        DIFFERENCES,
        [
            {
                **COMPARED,
                "difference": 0.0,
                "difference_low": 0.0,
                "difference_high": 0.0,
                "p_holm": 1.0,
            }
        ],
    ),
    "a difference outside its interval, in a damaged file": (
        DIFFERENCES,
        [{**COMPARED, "difference_low": 0.06}],
    ),
    "a difference without an adjusted p": (DIFFERENCES, [{**COMPARED, "p_holm": None}]),
    "a difference that was not tested": (DIFFERENCES, [{**COMPARED, "p_holm": None, "p": None}]),
    "one difference of several": (
        DIFFERENCES,
        [COMPARED, {**COMPARED, "dataset": "e", "n_unknown": 7, **NONE}],
    ),
    "several differences without an interval": (
        DIFFERENCES,
        [{**COMPARED, **BARE}, {**COMPARED, **BARE, "dataset": "e"}],
    ),
    "several differences without an adjusted p": (
        DIFFERENCES,
        [{**COMPARED, "p_holm": None}, {**COMPARED, "dataset": "e", "p_holm": None}],
    ),
    "differences that are unknown": (
        DIFFERENCES,
        [
            COMPARED,
            {**COMPARED, "dataset": "e", **BARE, "difference": None, "p_holm": None, "p": None},
        ],
    ),
    "differences by two rules and for all models": (
        DIFFERENCES,
        [COMPARED, {**COMPARED, "rule": "s", "p_holm": 0.4}, {**COMPARED, "model": "all", **NONE}],
    ),
    "averages": ("Average differences of methods", [AVERAGE]),
    "a count": ("Counts", [{**COUNT, "method": None, "tier": None}]),
    "counts of several indexes, one of them estimated": (
        "Counts",
        [
            COUNT,
            {**COUNT, "query": "b", "occurrences": 400, **LIMITS},
            {**COUNT, "index": "j"},
            {**COUNT, "index": "k"},
        ],
    ),
    "counts of many indexes": ("Counts", [{**COUNT, "index": one} for one in "ijkl"]),
    "an estimated count with a narrow interval": (
        "Counts",
        [{**COUNT, **LIMITS, "occurrences_low": 9, "occurrences_high": 11}],
    ),
    "estimated counts without an interval": (
        "Counts",
        [
            {**COUNT, "estimated": True},
            {**COUNT, "query": "b", "occurrences": 4, "estimated": True},
        ],
    ),
    "a count without an upper limit": ("Counts", [{**COUNT, **LIMITS, "occurrences_high": None}]),
    "an infinite count": ("Counts", [{**COUNT, "occurrences": float("inf")}]),
    "counts that several queries have": (
        "Counts",
        [
            {**COUNT, "query": query, "occurrences": n}
            for query, n in zip("abcd", (0, 5, 5, 5), strict=True)
        ],
    ),
    "counts of which two others are largest": (
        "Counts",
        [
            {**COUNT, "query": query, "occurrences": n}
            for query, n in zip("abc", (0, 5, 5), strict=True)
        ],
    ),
    "counts that are all the same": ("Counts", [COUNT, {**COUNT, "query": "b"}]),
    "counts of rows without names": ("Counts", [{"index": None, "query": "", "occurrences": 1}]),
    "bytes and tokens": (
        "Counts, over bytes and over tokens",
        [
            {**COUNT, "occurrences": 1234, "token_occurrences": None},
            {**COUNT, "query": "b", "occurrences": None, "token_occurrences": 99},
        ],
    ),
    "documents": ("Documents with each pattern", [DOCUMENTS]),
    "documents with intervals that are apart, one seen in part": (
        "Documents with each pattern",
        [
            DOCUMENTS,
            {
                **DOCUMENTS,
                "pattern": "b",
                "documents": 600,
                "documents_low": 560,
                "documents_high": 650,
                "truncated_share": 0.5,
            },
        ],
    ),
    "documents with intervals that overlap": (
        "Documents with each pattern",
        [
            DOCUMENTS,
            {
                **DOCUMENTS,
                "pattern": "b",
                "documents": 100,
                "documents_low": 90,
                "documents_high": 111,
            },
        ],
    ),
    "documents that are exact": (
        "Documents with each pattern",
        [
            {
                **DOCUMENTS,
                "documents": n,
                "documents_low": n,
                "documents_high": n,
                "estimator": "exact",
                "pattern": f"p{n}",
            }
            for n in (3, 9)
        ],
    ),
    "documents over tokens": (
        "Documents with each pattern, over tokens",
        [
            {
                **DOCUMENTS,
                **{
                    f"token_{name}": DOCUMENTS[name]
                    for name in ("documents", "documents_low", "documents_high")
                },
                "documents": None,
            }
        ],
    ),
    "totals": (
        "Totals of methods",
        [
            {**TOTAL, "statistic": "ratio_of_sums", "value": 31.0},
            TOTAL,
            {**TOTAL, "statistic": "patterns", "value": None},
            {**TOTAL, "index": "all", "value": None, "statistic": "nested"},
        ],
    ),
    "totals over tokens": ("Totals of methods", [{**TOTAL, **TOKENS}]),
    "contexts": ("Occurrences in context", [CONTEXT, {**CONTEXT, "index": "j", "pattern": "b"}]),
    "entries": (
        "Contamination of each entry",
        [ENTRY, ENTRY, {**ENTRY, "verdict": "dirty"}, {**ENTRY, "verdict": None, "eta": None}],
    ),
    "what is in outputs": (
        "How much of each output is in the corpus",
        [
            {**TRACED, "coverage": 0.031},
            {**TRACED, "id": "2", "coverage": 0.2},
            {**TRACED, "id": "3", "coverage": None},
        ],
    ),
    "spans": (
        "Parts of outputs that the corpus has",
        [{**TRACED, "words": 7}, {**TRACED, "words": 5}, {**TRACED, "prompt": "pot", "words": 6}],
    ),
    "curves": (
        "Coverage of outputs by length of spans",
        [CURVE, {**CURVE, "length": 6, "coverage": 0.01}],
    ),
    "curves of two indexes": (
        "Coverage of outputs by length of spans",
        [CURVE, {**CURVE, "index": "j", "length": 2}, {**CURVE, "index": "j", "prompt": "pot"}],
    ),
    "less that is copied": (
        "Differences of what prompts copy",
        [COPIED, {**COPIED, "measure": "novelty", "difference": 0.5}],
    ),
    "more that is copied, and no difference": (
        "Differences of what prompts copy",
        [
            {**COPIED, "difference": 0.02, "difference_low": 0.01, "difference_high": 0.03},
            {**COPIED, "model": "n", "difference_high": 0.004, "p": 0.2, "p_holm": 0.4},
        ],
    ),
    "a share": ("Contaminated shares of the benchmark", [SHARE, {**SHARE, "verdict": "clean"}]),
    "shares that are unknown": (
        "Contaminated shares of the benchmark",
        [{**SHARE, **UNKNOWN_SHARE}, {**SHARE, **UNKNOWN_SHARE, "index": "j", "share_low": None}],
    ),
    "an effect": ("Scores on clean and on contaminated entries", [EFFECT]),
    "effects downwards, and none": (
        "Scores on clean and on contaminated entries",
        [
            {**EFFECT, **LESS, "p_adjusted": 0.004},
            {**EFFECT, "model": "n", "p": 0.07, "p_adjusted": 0.07},
        ],
    ),
    "markers": (
        "Outputs with markers of each method",
        [
            MARKER,
            {
                **MARKER,
                "method": "pot",
                "has_method": False,
                "share": 0.31,
                "share_low": 0.25,
                "share_high": 0.375,
            },
            {
                **MARKER,
                "prompt": "pot",
                "has_method": False,
                "share": 0.0,
                "share_low": 0.0,
                "share_high": 0.0096,
            },
        ],
    ),
    "single patterns": (
        "Outputs with each pattern",
        [{**MARKER, "pattern": "a", "with_pattern": 360}],
    ),
    "retention": (
        "Markers that outputs keep with a solver",
        [
            RETAINED,
            {**RETAINED, "solver": "cot", "prompt_with": "f-1+cot", **LESS, "p_adjusted": 0.0},
        ],
    ),
    "isolation": (
        "Markers in outputs of their own method and of others",
        [
            {**TIER, "pattern": None, "method": name, "ratio_low": low, "ratio_high": high}
            for name, low, high in (("cot", 10.4, 13.9), ("pot", None, None))
        ],
    ),
    "tiers": ("Specificity of each pattern", [TIER]),
    "tiers that the ratio alone is in, or not even the ratio": (
        "Specificity of each pattern",
        [
            TIER,
            {**TIER, "pattern": "b", "ratio_low": 7.0, "interval_spans_tiers": True},
            {
                **TIER,
                "pattern": "c",
                "ratio": 1.0,
                "ratio_low": 0.4,
                "ratio_high": 2.5,
                "agrees": False,
                "interval_spans_tiers": True,
            },
        ],
    ),
    "tiers that are unknown": (
        "Specificity of each pattern",
        [
            {
                **TIER,
                "agrees": None,
                "interval_spans_tiers": None,
                "ratio": None,
                "ratio_low": None,
                "ratio_high": None,
            }
        ],
    ),
    "key n-grams": (
        "Key n-grams of the method",
        [KEY, {**KEY, "ngram": "thus", "q": 0.051}, {**KEY, "ngram": "so", "log_ratio_low": 0.0}],
    ),
    "strategies": (
        "Strategies of outputs",
        [
            STRATEGY,
            {
                **STRATEGY,
                "strategy": "PoT",
                "share": 0.38,
                "share_low": 0.2586,
                "share_high": 0.5185,
            },
        ],
    ),
    "strategies of each output": (
        "Strategy of each output",
        [{"strategy": "CoT"}, {"strategy": "CoT"}, {"strategy": "Direct"}],
    ),
    "scores": ("Scores of answers", [SCORE, {**SCORE, "status": "unknown", "value": None}]),
    "outcomes": (
        "Joint outcomes of the adaptive method and its baselines",
        [
            OUTCOME,
            {
                **OUTCOME,
                "model": "n",
                "selection_accuracy": 0.0004,
                "selection_low": 0.0,
                "selection_high": 0.0009,
            },
        ],
    ),
    "wins": (
        "Wins, ties and losses",
        [WINS, {**WINS, "model": "all", "cells": 1, "wins": 0, "ties": 1, "losses": 1}, WINS],
    ),
    "costs": ("Accuracy and tokens", [COST]),
    "agreement": (
        "Agreement of judges",
        [
            AGREED,
            {**AGREED, "statistic": "unanimous", "judges": "all", "value": 0.5, "count": 25},
            {**AGREED, "statistic": "majority", "judges": "all"},
        ],
    ),
    "votes": ("Votes on each item", [{"label": "yes"}, {"label": None}]),
    "published figures": (
        "Published figures, recomputed",
        [{"verdict": "ok"}, {"verdict": "mismatch"}, {"verdict": "ok"}],
    ),
    "prevalence and accuracy, a comparison in two indexes": (
        "Prevalence and accuracy of pairs of methods",
        [
            LINKED,
            {
                **LINKED,
                "index": "j",
                "prevalence_ratio": 0.5,
                "prevalence_low": 0.3,
                "prevalence_high": 0.8,
            },
            {**LINKED, "model": "n", **NONE, "p_adjusted": 1.0},
        ],
    ),
    "prevalence and accuracy of a file without adjusted p": (
        "Prevalence and accuracy of pairs of methods",
        [{**LINKED, "p_adjusted": None}],
    ),
    "ranks": (
        "Prevalence and accuracy, ranks of methods",
        [
            RANK,
            {**RANK, "index": "j", "tau": -0.333, "p": 0.75},
            {**RANK, "index": "k", "tau": None, "p": None},
        ],
    ),
    "ranks that were not tested": (
        "Prevalence and accuracy, ranks of methods",
        [{**RANK, "p": None}],
    ),
}
EXPECTED = {
    name: said
    for part in Path(__file__).with_name("report_sentences.txt").read_text().split("\n\n")
    for name, *said in [part.removeprefix("## ").splitlines()]
}
"""What is said of each case; a case without rows here, or without a text there, is an error."""


@pytest.mark.parametrize("case", dict.fromkeys([*CASES, *EXPECTED]))
def test_each_sentence_has_its_text(case: str) -> None:
    title, rows = CASES[case]
    assert sentences(results_of(title, rows)) == EXPECTED[case]


def test_rows_that_are_left_out_are_said_first() -> None:
    said = sentences(results_of("Occurrences in context", [CONTEXT, CONTEXT], 190_000))
    assert said == [
        "The sentences are about the first 2 rows; 190,000 further ones are left out.",
        "Shown: 2 occurrences of 1 pattern in 1 index; these are examples, not counts.",
    ]


@pytest.mark.parametrize("p", [0.0, 0.0009994, 0.001, 0.04996, 0.9994, 0.9996, 1.0])
def test_a_p_value_is_never_said_to_be_one_or_zero_unless_it_is(p: float) -> None:
    said = sentences(results_of(DIFFERENCES, [{**COMPARED, **NONE, "p_holm": p}]))[0]
    texts = {0.001: "= 0.001", 0.04996: "= 0.050", 0.9994: "= 0.999", 0.9996: "> 0.999", 1.0: "= 1"}
    assert f", adjusted p {texts.get(p, '< 0.001')}, n = 1,500" in said


def test_hostile_names_stay_names() -> None:
    name = "x” was more accurate than “y\u202e\x1b[31m\n" + "z" * 1_000_000
    said, _ = sentences(results_of(DIFFERENCES, [{**COMPARED, **NONE, "treatment": name}]))
    shown = r'“x" was more accurate than "y\u202e\x1b[31m\n' + "z" * (60 - name.index("z")) + "…”"
    assert said.startswith(
        f"No difference was shown between {shown} and “cot” (“d”, “m”, “r”): diff"
    )


@pytest.mark.parametrize("title", TYPES)
def test_columns_that_may_be_missing_are_not_missed(title: str) -> None:
    kind, hints = KIND_OF[title], hints_of(title)
    row = {name: 1 if name in kind.numbers else "x" for name in hints if name in kind.needs}
    assert all(one.endswith(".") for one in sentences(results_of(title, [row, row])))
