from __future__ import annotations

import csv
from pathlib import Path

import pytest

from ngramscan.errors import InputError
from ngramscan.patterns.files import load_patterns, parse_patterns, shipped_sets
from ngramscan.patterns.model import Pattern, PatternSet, Query, merge, scopes


def entry(**changes: str) -> str:
    fields = {"text": "'a b'", "method": "CoT", "tier": "T1", "kind": "narrative"} | changes
    return "{" + ", ".join(f"{key}: {value}" for key, value in fields.items() if value) + "}"


def document(*entries: str) -> str:
    return "name: mine\nsource: me\npatterns:\n" + "".join(f"  - {line}\n" for line in entries)


def test_the_shipped_set_is_the_papers_table(shared: Path) -> None:
    with (shared / "paper" / "patterns.csv").open(encoding="utf-8", newline="") as file:
        expected = [
            (row["method"], row["tier"], row["kind"], row["pattern"], row["status"] == "expanded")
            for row in csv.DictReader(file)
        ]
    f1 = load_patterns("f1")
    found = [(p.method, p.tier, p.kind, p.text, bool(p.expands)) for p in f1.patterns]
    assert found == expected
    assert "Formula-One Prompting" in f1.source


def test_the_shipped_set_has_46_patterns_of_three_methods() -> None:
    f1 = load_patterns("f1")
    assert shipped_sets() == ["f1"]
    assert len(f1.patterns) == 46
    assert f1.methods == ["CoT", "PoT", "FP/F-1"]
    assert [p.text for p in f1.patterns if p.expands][-1] == "\\end{align*}"
    assert load_patterns(Path(__file__).parent.parent / "patterns" / "f1.yaml") == f1


@pytest.mark.parametrize(
    ("message", "content"),
    [
        ("mine.yaml:1: a mapping was expected", "- a\n- b\n"),
        ("mine.yaml: a mapping was expected", ""),
        ("mine.yaml:2: not valid YAML", "name: [\n"),
        ("mine.yaml: not valid YAML", "name: a\x00b\n"),
        ("mine.yaml:1: no patterns", "name: x\n"),
        ("mine.yaml:2: patterns: a list", "name: x\npatterns: []\n"),
        ("mine.yaml:2: patterns: a list", "name: x\npatterns: 3\n"),
        ("mine.yaml:5: patterns[1]: unknown key 'teir'", document(entry(), entry(teir="T1"))),
        ("mine.yaml:1: unknown key 'nmae'", "nmae: x\n"),
        ("mine.yaml:1: unknown key ", "? [a]\n: b\n"),
        ("mine.yaml:4: patterns[0].text: it is empty", document(entry(text="''"))),
        ("patterns[0].method: it is empty", document(entry(method="''"))),
        ("patterns[0].text: a string", document(entry(text="12"))),
        ("patterns[0].text: a string", document(entry(text="[a]"))),
        ("patterns[0].text: a string", document(entry(text="2026-99-99"))),
        ("'T4' is none of T1, T2, T3", document(entry(tier="T4"))),
        ("'prose' is none of", document(entry(kind="prose"))),
        ("a NUL character", document(entry(text='"a\\0b"'))),
        ("a lone surrogate", document(entry(text='"a\\ud800"'))),
        ("patterns[0]: no tier", document(entry(tier=""))),
        ("patterns[0]: a mapping was expected", document("text")),
        ("the key 'text' stands twice", document("{text: a, text: b, method: M}")),
        ("longer_words: a list", document(entry(longer_words="abc"))),
        ("longer_words[0]: a string", document(entry(longer_words="[1]"))),
        ("mine.yaml:5: 'a b' of CoT is also on line 4", document(entry(), entry(tier="T2"))),
        ("'a b' of CoT is also on line 1", f"{{name: x, patterns: [{entry()}, {entry()}]}}"),
    ],
)
def test_a_set_that_breaks_the_format_is_refused_with_its_place(message: str, content: str) -> None:
    with pytest.raises(InputError) as error:
        parse_patterns(content, "mine.yaml")
    assert message in str(error.value)
    assert "\n" not in str(error.value)


def test_the_same_text_may_belong_to_two_methods() -> None:
    both = parse_patterns(document(entry(), entry(method="PoT")), "mine.yaml")
    assert both.methods == ["CoT", "PoT"]


def test_files_that_can_not_be_read_are_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"nope\.yaml: no such file .*; shipped sets: f1"):
        load_patterns(tmp_path / "nope.yaml")
    (tmp_path / "latin.yaml").write_bytes("name: é".encode("latin-1"))
    with pytest.raises(InputError, match=r"latin\.yaml: not UTF-8 at byte 6"):
        load_patterns(tmp_path / "latin.yaml")
    with pytest.raises(InputError, match="is a directory"):
        load_patterns(tmp_path)


def pattern(text: str, kind: str = "narrative") -> Pattern:
    return Pattern(text=text, method="M", tier="T1", kind=kind)


def test_variants_are_capital_and_typographic_and_disjoint() -> None:
    spellings = ["let's start", "Let's start", "let’s start", "Let’s start"]
    assert pattern("let's start").variants() == spellings
    for text, kind in (("Therefore", "narrative"), ("42", "narrative"), ("a b", "latex")):
        assert pattern(text, kind).variants() == [text]
    for one in load_patterns("f1").patterns:
        texts = one.variants()
        assert not [(text, other) for text in texts for other in texts if text != other in text]


def test_queries_are_literal_unless_variants_are_asked_for() -> None:
    small = PatternSet("s", "", (pattern("next, we"), pattern("\\frac{", "latex")))
    assert [query.text for query in small.queries()] == ["next, we", "\\frac{"]
    assert [query.text for query in small.queries(True)] == ["next, we", "Next, we", "\\frac{"]
    assert {query.pattern.text for query in small.queries(True)} == {"next, we", "\\frac{"}


def test_selection_takes_methods_by_any_of_their_names_and_tiers_in_any_case() -> None:
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


def test_scopes_are_the_methods_in_each_tier_and_in_the_papers_t1_with_t2() -> None:
    found = scopes([Query(tier, Pattern(tier, "M", tier, "code")) for tier in ("T3", "T1", "T2")])
    texts = {scope.tiers: scope.texts for scope in found}
    assert texts == {"T1": ["T1"], "T2": ["T2"], "T3": ["T3"], "T1+T2": ["T1", "T2"]}
    found = scopes([Query("a", Pattern("a", method, "T1", "code")) for method in ("M", "N")])
    assert [(scope.tiers, scope.method) for scope in found] == [("T1", "M"), ("T1", "N")]
