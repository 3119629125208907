from __future__ import annotations

import csv
from itertools import pairwise, permutations
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ngramscan.patterns.files import load_patterns
from ngramscan.patterns.model import Pattern, Query
from ngramscan.patterns.overlaps import (
    closing_forms,
    describe_overlaps,
    merged_strings,
    nesting,
    plan_union,
    union_of_occurrences,
)
from tests.support.oracle import occurrences_fast


def test_nesting_and_closing_forms_name_the_shorter_and_the_opening_strings() -> None:
    inner = nesting(["step by step", "think step by step", "step", "x"])
    assert inner == {"step by step": ["step"], "think step by step": ["step by step", "step"]}
    texts = ["\\begin{align}", "\\end{align}", "\\end{equation}"]
    assert closing_forms(texts) == {"\\end{align}": "\\begin{align}"}


def test_merged_strings_share_whole_words() -> None:
    for first, second, merged in (
        ("using the formula", "the formula for", ["using the formula for"]),
        ("first, we need to", "we need to find", ["first, we need to find"]),
        ("solve for", "return answer", []),
        ("step by step", "step-by-step", ["step by step-by-step"]),
    ):
        assert merged_strings(first, second) == merged


def test_the_overlaps_that_the_audit_found_are_found(shared: Path) -> None:
    with (shared / "paper" / "pattern_overlaps.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    f1 = load_patterns("f1")
    texts = [p.text for p in f1.patterns]
    merged = {string for pair in permutations(texts, 2) for string in merged_strings(*pair)}
    inner = nesting(texts)
    words = {p.text: p.longer_words for p in f1.patterns}
    for row in rows:
        match row["relation"]:
            case "nested":
                assert row["pattern"] in inner[row["other_pattern"]]
            case "overlap":
                assert row["merged_string"] in merged
            case "paired":
                assert closing_forms(texts)[row["other_pattern"]] == row["pattern"]
            case "unwanted extension":
                assert "; ".join(words[row["pattern"]]) == row["other_pattern"]


def places(texts: list[str], corpus: str) -> int:
    """Count occurrences, but two that share a word only once: by positions, not by strings."""
    found = sorted(
        (start, start + len(text))
        for text in texts
        for start in range(len(corpus))
        if corpus.startswith(text, start)
    )
    return len(found) - sum(stop > next_start for (_, stop), (next_start, _) in pairwise(found))


@settings(max_examples=40)
@given(st.lists(st.sampled_from(["using", "the", "formula", "for", "it"]), max_size=12))
def test_the_union_counts_each_place_once(words: list[str]) -> None:
    texts = ["using the formula", "the formula for", "using the formula quickly"]
    corpus = " ".join(words)
    kept, merged = plan_union(texts)
    assert kept == ["using the formula", "the formula for"]
    counts = {text: occurrences_fast(text, corpus) for text in (*kept, *merged)}
    assert union_of_occurrences(texts, counts) == places(kept, corpus)
    del counts[merged[0]]
    assert union_of_occurrences(texts, counts) is None


def test_the_union_of_the_shipped_set_drops_nested_and_closing_forms() -> None:
    f1 = load_patterns("f1")
    cot, _ = plan_union(p.text for p in f1.patterns if p.method == "CoT")
    assert "think step by step" not in cot
    assert "step by step" in cot
    formulas, merged = plan_union(p.text for p in f1.patterns if p.method == "FP/F-1")
    assert [text for text in formulas if text.startswith("\\end")] == []
    assert "\\begin{equation*}" in formulas
    assert merged == ["using the formula for"]


def test_overlaps_between_methods_are_told_first() -> None:
    told = describe_overlaps(load_patterns("f1").queries())
    between = [overlap for overlap in told if overlap.method != overlap.other_method]
    assert told[: len(between)] == between
    sentence = '"first, we need to" and "we need to find" both count in "first, we need to find"'
    assert sentence in {overlap.sentence for overlap in between}


def test_a_text_of_two_methods_and_longer_words_are_told() -> None:
    one = Pattern("solve for", "A", "T1", "narrative", longer_words=("solve forward",))
    other = Pattern("solve for", "B", "T1", "narrative")
    told = describe_overlaps([Query(p.text, p) for p in (one, other)])
    assert [(o.relation, o.sentence) for o in told] == [
        ("equal_patterns", '"solve for" is in both lists'),
        ("longer_words", '"solve for" also counts the longer "solve forward"'),
    ]
    spelled = Pattern("next, we", "A", "T1", "narrative")  # variants of one pattern do not overlap
    assert describe_overlaps([Query(text, spelled) for text in spelled.variants()]) == []


@pytest.mark.parametrize(
    ("first", "second", "merged"),
    [
        pytest.param("plan a", "a step", ["plan a step"], id="a word of one letter"),
        pytest.param("so =", "= x", ["so = x"], id="a sign"),
        pytest.param("solve for", "formula of", [], id="a word that the second begins with"),
        pytest.param("platform", "form of", [], id="the end of a word of the first"),
    ],
)
def test_only_whole_words_overlap(first: str, second: str, merged: list[str]) -> None:
    assert merged_strings(first, second) == merged
