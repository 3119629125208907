"""Pattern sets: their queries, selections of them, and sets together."""

import pytest

from ngramscan.errors import InputError
from ngramscan.patterns.files import load_patterns
from ngramscan.patterns.model import Pattern, PatternSet, merge


def pattern(text: str, kind: str = "narrative") -> Pattern:
    return Pattern(text=text, method="M", tier="T1", kind=kind)


def test_queries_are_literal_unless_variants_are_asked_for() -> None:
    small = PatternSet("s", "", (pattern("next, we"), pattern("\\frac{", "latex")))
    assert [query.text for query in small.queries()] == ["next, we", "\\frac{"]
    assert [query.text for query in small.queries(True)] == ["next, we", "Next, we", "\\frac{"]
    assert {query.pattern.text for query in small.queries(True)} == {"next, we", "\\frac{"}


def test_selection_takes_methods_by_any_name_and_tiers_in_any_case() -> None:
    f1 = load_patterns("f1")
    assert f1.select(methods=["f-1"]).methods == ["FP/F-1"]
    assert f1.select(methods=["FP/F-1", "cot"]).methods == ["CoT", "FP/F-1"]
    assert {p.tier for p in f1.select(tiers=["t1", "T3"]).patterns} == {"T1", "T3"}
    assert len(f1.select().patterns) == 46
    with pytest.raises(InputError, match="has no such method; it has CoT, PoT, FP/F-1"):
        f1.select(methods=["tot"])
    with pytest.raises(InputError, match=r"--tier T4: .* has no such tier; it has T1, T2, T3"):
        f1.select(tiers=["T4"])
    with pytest.raises(InputError, match="has no pattern of f-1, T3"):
        f1.select(tiers=["T3"], methods=["f-1"])


def test_merged_sets_keep_their_order_and_refuse_a_pattern_twice() -> None:
    one = PatternSet("one", "A.", (pattern("a"), pattern("b")))
    two = PatternSet("two", "B.", (pattern("c"),))
    assert [p.text for p in merge([one, two]).patterns] == ["a", "b", "c"]
    assert merge([one, two]).name == "one+two"
    with pytest.raises(InputError, match="set three: 'a' of M is also in pattern set one"):
        merge([one, PatternSet("three", "", (pattern("a"),))])
