"""`ngramscan patterns` as a person runs it: rows by value, the screen, and what is refused."""

from pathlib import Path

import pytest
import yaml

import ngramscan
from ngramscan.patterns.files import load_patterns
from tests.support.command import invoke
from tests.support.outputs import refusal
from tests.support.places import ROOT

SET = r"""name: mine
source: a paper
patterns:
  - {text: step by step, method: CoT, tier: T1, kind: narrative}
  - {text: think step by step, method: CoT, tier: T2, kind: narrative, note: rare,
     longer_words: [think step by steps, rethink step by step]}
  - {text: 'we think step by step', method: PoT, tier: T3, kind: code, expands: 'steps', note: odd}
regexes:
  - {method: CoT, name: steps, regex: 'a+b', note: a sum}
  - {method: PoT, name: bare, regex: 'b+'}
"""


@pytest.fixture
def mine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Return the name of a set in the current folder, which is empty otherwise."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.yaml").write_text(SET)
    return "mine.yaml"


def test_the_shipped_sets_are_listed_with_what_their_files_say() -> None:
    ran = invoke("patterns", "list", "--format", "csv")
    assert (ran.code, ran.stderr) == (0, "")
    f1, verify = ran.rows
    assert (f1["name"], f1["patterns"], f1["methods"]) == ("f1", "46", "CoT, PoT, FP/F-1")
    assert f1["tiers"] == "T1, T2, T3"
    assert (verify["name"], verify["patterns"], verify["tiers"]) == ("verify", "9", "T1, T2")
    assert verify["methods"] == "Verify, Revise"
    files = [ROOT / "patterns/f1.yaml", ROOT / "patterns/verify.yaml"]
    sources = [yaml.safe_load(file.read_text())["source"].strip() for file in files]
    assert [f1["source"], verify["source"]] == sources
    assert ngramscan.patterns_list()["methods"].tolist() == [f1["methods"], verify["methods"]]


def test_patterns_of_a_set_are_rows_with_what_contains_them(mine: str) -> None:
    ran = invoke("patterns", "show", mine, "--format", "csv")
    assert (ran.code, ran.stderr) == (0, "")
    first, second, third, regex, bare = ran.rows
    assert first == {
        "method": "CoT",
        "tier": "T1",
        "kind": "narrative",
        "text": "step by step",
        "within": "think step by step; we think step by step",
        "longer_words": "",
        "note": "",
    }
    assert (second["tier"], second["within"]) == ("T2", "we think step by step")
    assert second["longer_words"] == "think step by steps; rethink step by step"
    assert (third["tier"], third["kind"], third["within"]) == ("T3", "code", "")
    assert [second["note"], third["note"]] == ["rare", 'the source says "steps"; odd']
    assert (regex["method"], regex["tier"], regex["kind"]) == ("CoT", "", "regex")
    assert (regex["text"], regex["note"]) == ("a+b", "steps: a sum")
    assert (bare["method"], bare["text"], bare["note"]) == ("PoT", "b+", "bare")


def test_the_screen_says_what_a_pattern_counts_and_its_notes(mine: str) -> None:
    ran = invoke("patterns", "show", mine)
    assert (ran.code, ran.stderr) == (0, "")
    assert [line.rstrip() for line in ran.stdout.splitlines()] == [
        "mine · patterns: 3",
        "a paper",
        "  method  tier  kind       text",
        "  ──────  ────  ─────────  ─────────────────────",
        "  CoT     T1    narrative  step by step",
        "  CoT     T2    narrative  think step by step",
        "",
        "  PoT     T3    code       we think step by step",
        "",
        "  CoT     –     regex      a+b",
        "",
        "  PoT     –     regex      b+",
        "",
        '"step by step" also counts every "we think step by step"',
        '"think step by step" also counts every "we think step by step"',
        '"step by step" also counts every "think step by step"',
        '"think step by step" also counts the longer "think step by steps", "rethink step by step"',
        "think step by step: rare",
        'we think step by step: the source says "steps"; odd',
        "a+b: steps: a sum",
        "b+: bare",
    ]


def test_patterns_of_the_shipped_set_name_the_longer_ones() -> None:
    frame = ngramscan.patterns_show("f1").set_index("text")
    texts = [pattern.text for pattern in load_patterns("f1").patterns]
    assert list(frame.index) == texts
    longer = {
        text: "; ".join(other for other in texts if text in other and text != other)
        for text in texts
    }
    assert frame["within"].to_dict() == longer
    assert frame.loc["\\leq", "longer_words"] == "\\leqslant; \\leqq"


def test_an_unknown_set_is_refused_with_the_nearest_name() -> None:
    assert refusal("patterns", "show", "f2") == "f2: no such file or shipped set; did you mean f1?"


def test_tiers_and_methods_choose_among_the_patterns(mine: str) -> None:
    ran = invoke("patterns", "show", mine, "--tier", "T1,T2", "--method", "cot", "--format", "csv")
    assert [row["text"] for row in ran.rows] == ["step by step", "think step by step"]
    ran = invoke("patterns", "show", mine, "--method", "PoT", "--format", "csv")
    assert [row["text"] for row in ran.rows] == ["we think step by step", "b+"]
    assert "no such method; it has CoT, PoT" in refusal("patterns", "show", mine, "--method", "x")
    assert ngramscan.patterns_show(mine, tier="T3")["text"].tolist() == ["we think step by step"]
