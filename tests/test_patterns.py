import pytest

from ngramscan.errors import InputError
from ngramscan.patterns.files import load_patterns, parse_patterns
from ngramscan.patterns.model import Pattern, PatternSet, merge


def entry(**changes: str) -> str:
    fields = {"text": "'a b'", "method": "CoT", "tier": "T1", "kind": "narrative"} | changes
    return "{" + ", ".join(f"{key}: {value}" for key, value in fields.items() if value) + "}"


def document(*entries: str) -> str:
    return "name: mine\nsource: me\npatterns:\n" + "".join(f"  - {line}\n" for line in entries)


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


def pattern(text: str, kind: str = "narrative") -> Pattern:
    return Pattern(text=text, method="M", tier="T1", kind=kind)


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
