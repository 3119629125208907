"""Pattern sets: their queries, selections of them, and sets together."""

import pytest

from ngramscan.errors import InputError
from ngramscan.patterns.files import load_patterns
from ngramscan.patterns.model import Pattern, PatternSet, Query, Scope, merge, scopes


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
    first = PatternSet("one", "A.", (pattern("a"), pattern("b")))
    second = PatternSet("two", "B.", (pattern("c"),))
    assert [p.text for p in merge([first, second]).patterns] == ["a", "b", "c"]
    assert merge([first, second]).name == "one+two"
    with pytest.raises(InputError, match="set three: 'a' of M is also in pattern set one"):
        merge([first, PatternSet("three", "", (pattern("a"),))])


def test_variants_are_a_capital_and_a_typographic_apostrophe() -> None:
    spellings = ["let's start", "Let's start", "let’s start", "Let’s start"]
    assert pattern("let's start").variants() == spellings


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        pytest.param("Therefore", "narrative", id="a capital"),
        pytest.param("42", "narrative", id="a number"),
        pytest.param("a b", "latex", id="LaTeX"),
        pytest.param("let's", "code", id="code"),
    ],
)
def test_some_patterns_have_no_variants(text: str, kind: str) -> None:
    assert pattern(text, kind).variants() == [text]


@pytest.mark.parametrize("pattern", load_patterns("f1").patterns, ids=lambda p: p.text)
def test_no_variant_of_a_shipped_pattern_is_in_another(pattern: Pattern) -> None:
    variants = pattern.variants()
    assert [(v, other) for v in variants for other in variants if v != other and v in other] == []


def test_scopes_are_the_methods_of_each_tier_and_of_t1_with_t2() -> None:
    queries = [Query(tier, Pattern(tier, "M", tier, "code")) for tier in ("T3", "T1", "T2")]
    queries += [Query("N", Pattern("N", "N", "T1", "code")), Query("literal", Pattern("literal"))]
    found = {(scope.tiers, scope.method): scope.texts for scope in scopes(queries)}
    assert found == {
        ("T1", "M"): ["T1"],
        ("T1", "N"): ["N"],
        ("T2", "M"): ["T2"],
        ("T3", "M"): ["T3"],
        ("T1+T2", "M"): ["T1", "T2"],
        ("T1+T2", "N"): ["N"],
    }


def test_kinds_of_a_scope_are_its_parts() -> None:
    kinds = ("code", "latex", "code")
    queries = [Query(f"q{n}", Pattern(f"q{n}", "M", "T1", kind)) for n, kind in enumerate(kinds)]
    (scope,) = scopes(queries)
    assert (scope.kind, scope.is_part) == ("", False)
    parts = [(part.kind, part.texts, part.is_part) for part in scope.by_kind]
    assert parts == [("code", ["q0", "q2"], True), ("latex", ["q1"], True)]
    (alone,) = scopes(queries[:1])
    assert (alone.kind, alone.by_kind) == ("code", [])


def test_two_scopes_have_a_kind_together_if_it_is_the_same() -> None:
    def scope(kind: str) -> Scope:
        return Scope("T1", "M", (Query("q", Pattern("q", "M", "T1", kind)),))

    code = scope("code")
    assert [code.kind_with(other) for other in (None, scope("code"))] == ["code", "code"]
    assert code.kind_with(scope("latex")) == ""
