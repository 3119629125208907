"""Patterns that overlap in a text."""

from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ngramscan.patterns.files import load_patterns
from ngramscan.patterns.model import Pattern, Query
from ngramscan.patterns.overlaps import (
    Overlap,
    closing_forms,
    describe_overlaps,
    merged_strings,
    nesting,
    plan_union,
    union_of_occurrences,
)
from tests.support import oracle


@pytest.mark.parametrize(
    ("first", "second", "merged"),
    [
        pytest.param("plan a", "a step", ["plan a step"], id="a word of one letter"),
        pytest.param("so =", "= x", ["so = x"], id="a sign"),
        pytest.param("solve for", "formula of", [], id="a word that the second begins with"),
        pytest.param("platform", "form of", [], id="the end of a word of the first"),
        pytest.param("a b", "bc d", [], id="a letter that another word begins with"),
        pytest.param("step by step", "step-by-step", ["step by step-by-step"], id="a hyphen"),
    ],
)
def test_only_whole_words_overlap(first: str, second: str, merged: list[str]) -> None:
    assert merged_strings(first, second) == merged


def test_longer_queries_count_the_shorter_ones_within_them() -> None:
    inner = nesting(["step by step", "think step by step", "step", "x"])
    assert inner == {"step by step": ["step"], "think step by step": ["step by step", "step"]}


def test_an_end_of_latex_closes_its_begin_where_both_are_counted() -> None:
    texts = ["\\begin{align}", "\\end{align}", "\\end{equation}"]
    assert closing_forms(texts) == {"\\end{align}": "\\begin{align}"}


def places_of(queries: Sequence[str], corpus: str) -> int:
    """Return at how many places of a corpus one of the queries begins."""
    starts = {start for start in range(len(corpus)) for q in queries if corpus.startswith(q, start)}
    return len(starts)


@settings(max_examples=40)
@given(st.lists(st.sampled_from(["using", "the", "formula", "for", "it"]), max_size=12))
def test_a_union_counts_what_overlaps_once(words: list[str]) -> None:
    corpus = " ".join(words)
    texts = ["using the formula", "the formula for", "using the formula quickly"]
    kept, merged = plan_union(texts)
    assert (kept, merged) == (texts[:2], ["using the formula for"])
    counts = {text: oracle.occurrences_fast(text, corpus) for text in (*kept, *merged)}
    overlapping = corpus.count("using the formula for")
    assert union_of_occurrences(texts, counts) == places_of(kept, corpus) - overlapping
    del counts[merged[0]]
    assert union_of_occurrences(texts, counts) is None


def test_unions_of_the_shipped_set_drop_nested_and_closing_forms() -> None:
    patterns = load_patterns("f1").patterns
    of_method = {
        method: plan_union(p.text for p in patterns if p.method == method)
        for method in ("CoT", "FP/F-1")
    }
    steps, _ = of_method["CoT"]
    assert "step by step" in steps
    assert "think step by step" not in steps
    formulas, merged = of_method["FP/F-1"]
    assert "\\begin{equation*}" in formulas
    assert [text for text in formulas if text.startswith("\\end")] == []
    assert merged == ["using the formula for"]


def test_overlaps_between_methods_are_told_first() -> None:
    overlaps = describe_overlaps(load_patterns("f1").queries())
    between = [overlap for overlap in overlaps if overlap.method != overlap.other_method]
    assert overlaps[: len(between)] == between
    sentence = '"first, we need to" and "we need to find" both count in "first, we need to find"'
    (overlap,) = [overlap for overlap in between if overlap.sentence == sentence]
    assert overlap.relation == "overlapping_patterns"
    assert {overlap.method, overlap.other_method} == {"CoT", "FP/F-1"}


@pytest.mark.parametrize(
    ("first", "second", "relation", "sentence"),
    [
        pytest.param(
            "solve for",
            "solve for",
            "equal_patterns",
            '"solve for" is in both lists',
            id="one text of two methods",
        ),
        pytest.param(
            "solve for",
            "we solve for",
            "nested_patterns",
            '"solve for" also counts every "we solve for"',
            id="a longer one",
        ),
        pytest.param(
            "\\begin{align}",
            "\\end{align}",
            "paired_patterns",
            "\\begin{align} and \\end{align} are the same environments; the union counts the first",
            id="an environment of LaTeX",
        ),
    ],
)
def test_overlaps_of_two_methods_are_described(
    first: str, second: str, relation: str, sentence: str
) -> None:
    patterns = Pattern(first, "A", "T1", "code"), Pattern(second, "B", "T1", "code")
    overlaps = describe_overlaps([Query(pattern.text, pattern) for pattern in patterns])
    assert overlaps == [Overlap(relation, "A", "B", sentence)]


def test_longer_words_of_a_pattern_are_told() -> None:
    pattern = Pattern("solve for", "A", "T1", "narrative", longer_words=("solve forward",))
    sentence = '"solve for" also counts the longer "solve forward"'
    overlaps = describe_overlaps([Query(pattern.text, pattern)])
    assert overlaps == [Overlap("longer_words", "A", "A", sentence)]


def test_variants_of_a_pattern_and_literals_do_not_overlap() -> None:
    spelled = Pattern("next, we", "A", "T1", "narrative")
    literal = Pattern("next, we go")
    queries = [
        *(Query(text, spelled) for text in spelled.variants()),
        Query("next, we go", literal),
    ]
    assert describe_overlaps(queries) == []
