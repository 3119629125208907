"""`ngramscan count` and `index` as a person uses them: tables, rows, files, errors."""

import json
from pathlib import Path

import pandas as pd
import pytest

import ngramscan
from ngramscan.errors import IncompleteError
from tests.support.command import invoke

SET = """\
name: small
patterns:
  - {text: step by step, method: CoT, tier: T1, kind: narrative}
  - {text: "next, we", method: CoT, tier: T2, kind: narrative}
  - {text: '\\frac{', method: F-1, tier: T2, kind: latex}
"""
TEXTS = [
    "step by step by step",
    "Next, we \\frac{1}{2}",
    "next, we rest. \\frac{a}{b} \\frac{c}{d}",
]
COUNT = ("count", "small.yaml", "--index", "scan:c.jsonl")
CUT = '{"text": "a'


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a small pattern set and corpus, which is the current one."""
    (tmp_path / "small.yaml").write_text(SET)
    (tmp_path / "c.jsonl").write_text("".join(json.dumps({"text": t}) + "\n" for t in TEXTS))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_table_shows_counts_totals_ratios_and_what_they_mean() -> None:
    ran = invoke(*COUNT, "--all")
    assert (ran.code, ran.stderr) == (0, "")
    lines = ran.stdout.splitlines()
    assert lines[0] == "scan:c.jsonl · 78 B of text · 3 documents"
    assert sum(len(text) for text in TEXTS) == 78
    shown = {" ".join(line.split()) for line in lines}
    assert shown >= {
        "CoT T1 step by step 2 1",
        "F-1 T2 \\frac{ 3 2",
        "CoT T1+T2 step by step (67%) 3 3",
    }
    assert "Ratios · methods F-1 : CoT" in lines
    assert any(line.split()[:4] == ["T2", "3", "3", "0"] for line in lines)
    assert "sum: sum of pattern counts, overlaps counted repeatedly" in ran.stdout
    assert "per GB" not in ran.stdout, "a rate per gigabyte of 78 bytes says nothing"
    assert not {"\x1b", "…"} & set(ran.stdout), "in a pipe it is whole and has no colour"


def test_of_many_reasons_some_are_shown_and_all_counted(here: Path) -> None:
    specs = []
    for n in range(8):
        (here / f"cut{n}.jsonl").write_text(CUT)
        specs += ["--index", f"scan:cut{n}.jsonl"]
    ran = invoke("count", "small.yaml", *specs)
    assert (ran.code, ran.stdout) == (1, "")
    lines = ran.stderr.splitlines()
    assert len(lines) == 6
    assert lines[-1] == "Error: and 3 more reasons; 24 counts are missing in all"


@pytest.mark.parametrize(
    ("line", "code", "message"),
    [
        ("count key.yaml", 2, "Error: key.yaml:3: patterns[0]: unknown key 'teir'"),
        ("SCAN:cut.jsonl.gz", 1, "Error: cut.jsonl.gz:1: the file is truncated"),
        ("COUNT -o .", 2, "it is a folder"),
        ("COUNT -o no/x.csv", 2, "no such folder: no"),
        ("COUNT -o /proc/x.csv", 2, "can't be written"),
        ("COUNT --totals /proc/x.csv", 2, "can't be written"),
        ("COUNT --tier T9", 2, "'T9' is not one of"),
        ("COUNT --case-variants --ignore-case", 2, "not allowed with --ignore-case"),
        ("COUNT --limit-documents 5 --sample-files 1", 2, "not allowed with --limit-documents"),
        ("COUNT --figure x.gif", 2, "a figure's name ends in .svg, .png or .pdf"),
    ],
)
def test_bad_input_is_one_line_that_names_the_place(
    here: Path, line: str, code: int, message: str
) -> None:
    (here / "key.yaml").write_text(SET.replace("tier: T1", "teir: T1"))
    (here / "cut.jsonl.gz").write_bytes(bytes.fromhex("1f8b0800000000000003ab562a49ad"))
    before = sorted(here.iterdir())
    line = line.replace("SCAN", "count small.yaml --index scan").replace("COUNT", " ".join(COUNT))
    ran = invoke(*line.split())
    assert (ran.code, ran.stdout) == (code, "")
    assert message in ran.stderr
    if "Usage" not in ran.stderr:
        assert ran.stderr.count("\n") == 1
    assert sorted(here.iterdir()) == before


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("timeout", "nan"),
        ("rate", "inf"),
        ("limit-documents", "99999999999999999999"),
    ],
)
def test_numbers_that_no_computer_can_use_are_wrong_usage(option: str, value: str) -> None:
    ran = invoke("count", "small.yaml", "--index", "scan:c.jsonl", f"--{option}", value)
    assert (ran.code, ran.stdout) == (2, ""), ran
    assert ran.stderr.startswith(f"Error: --{option} {value}: must be ")


def test_a_corpus_that_can_not_be_read_leaves_the_rows_of_the_others(here: Path) -> None:
    (here / "cut.jsonl").write_text(CUT)
    ran = invoke(*COUNT, "--index", "scan:cut.jsonl", "-o", "rows.csv")
    assert (ran.code, ran.stdout) == (1, "")
    errors = [line for line in ran.stderr.splitlines() if line.startswith("Error: ")]
    assert len(errors) == 1, ran
    assert errors[0].startswith("Error: cut.jsonl:1: not valid JSON: Unterminated string")
    assert errors[0].endswith("; 3 of 6 counts missing (scan:cut.jsonl)")
    assert pd.read_csv("rows.csv")["occurrences"].tolist() == [2, 1, 3]
    with pytest.raises(IncompleteError, match=r"cut\.jsonl:1: not valid JSON.*3 of 6") as raised:
        ngramscan.count("small.yaml", index=["scan:c.jsonl", "scan:cut.jsonl"])
    assert raised.value.rows["occurrences"].tolist() == [2, 1, 3]


@pytest.mark.parametrize(
    "error", [ZeroDivisionError("x"), ValueError("x"), KeyError("x")], ids=repr
)
def test_an_error_of_our_own_is_no_one_liner(
    error: Exception, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is not anticipated must not look as if it were."""

    def fail(*_: object, **_options: object) -> None:
        raise error

    monkeypatch.setattr("ngramscan.patterns.given.load_given", fail)
    with pytest.raises(type(error)):
        invoke("docnorm", "--dry-run")
