"""Files of patterns: what breaks the format is refused with its place."""

import csv
from pathlib import Path

import pytest

from ngramscan.errors import InputError
from ngramscan.patterns.files import load_patterns, parse_patterns, shipped_sets
from tests.support.cases import case_table
from tests.support.places import ROOT


@pytest.mark.parametrize(*case_table(Path(__file__).with_suffix(".malformed_patterns.jsonl")))
def test_a_set_that_breaks_the_format_is_refused_with_its_place(message: str, content: str) -> None:
    with pytest.raises(InputError) as error:
        parse_patterns(content, "mine.yaml")
    assert message in str(error.value)
    assert "\n" not in str(error.value)


def test_the_shipped_set_of_the_paper_has_46_patterns_of_three_methods() -> None:
    f1 = load_patterns("f1")
    assert shipped_sets() == ["f1", "verify"]
    assert (len(f1.patterns), f1.methods) == (46, ["CoT", "PoT", "FP/F-1"])
    assert [pattern.text for pattern in f1.patterns if pattern.expands][-1] == "\\end{align*}"
    assert load_patterns(ROOT / "patterns/f1.yaml") == f1


def test_the_shipped_set_is_the_table_of_the_paper(shared: Path) -> None:
    with (shared / "paper/patterns.csv").open(encoding="utf-8", newline="") as file:
        expected = [
            (row["method"], row["tier"], row["kind"], row["pattern"], row["status"] == "expanded")
            for row in csv.DictReader(file)
        ]
    f1 = load_patterns("f1")
    assert "Formula-One Prompting" in f1.source
    assert expected == [(p.method, p.tier, p.kind, p.text, bool(p.expands)) for p in f1.patterns]


def test_a_text_may_belong_to_two_methods() -> None:
    entries = [f"{{text: a b, method: {name}, tier: T1, kind: code}}" for name in ("CoT", "PoT")]
    content = f"name: mine\nsource: me\npatterns:\n  - {entries[0]}\n  - {entries[1]}\n"
    both = parse_patterns(content, "mine.yaml")
    assert [(pattern.text, pattern.method) for pattern in both.patterns] == [
        ("a b", "CoT"),
        ("a b", "PoT"),
    ]


@pytest.mark.parametrize("line", ["source: ''\n", ""], ids=["empty", "none"])
def test_a_set_need_not_have_a_source(line: str) -> None:
    entry = "{text: a b, method: CoT, tier: T1, kind: code}"
    assert parse_patterns(f"name: mine\n{line}patterns: [{entry}]\n", "mine.yaml").source == ""


def test_files_of_patterns_that_can_not_be_read_are_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"nope\.yaml: no such file .*; shipped sets: f1, verify"):
        load_patterns(tmp_path / "nope.yaml")
    (tmp_path / "latin.yaml").write_bytes("name: é".encode("latin-1"))
    with pytest.raises(InputError, match=r"latin\.yaml: not UTF-8 at byte 6"):
        load_patterns(tmp_path / "latin.yaml")
    with pytest.raises(InputError, match="is a directory"):
        load_patterns(tmp_path)
