"""`ngramscan count` and `index` as a person uses them: tables, rows, files, errors."""

from __future__ import annotations

import json
import os
import pty
import threading
from contextlib import redirect_stderr, redirect_stdout, suppress
from io import StringIO
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import ngramscan
from ngramscan.cli import main
from ngramscan.errors import IncompleteError, InputError
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
    ran = invoke(*COUNT)
    assert (ran.code, ran.stderr) == (0, "")
    lines = ran.stdout.splitlines()
    assert lines[0] == "scan:c.jsonl · 78 B of text · 3 documents"
    assert sum(len(text) for text in TEXTS) == 78
    for cells in (
        "CoT T1 step by step 2 1",
        "F-1 T2 \\frac{ 3 2",
        "CoT T1+T2 step by step (67%) 3 3",
    ):
        assert cells.split() in [line.split() for line in lines]
    assert "Ratios · methods F-1 : CoT" in lines
    assert any(line.split()[:4] == ["T2", "3", "3", "0"] for line in lines)
    assert "sum: sum of pattern counts, overlaps counted repeatedly" in ran.stdout
    assert "per GB" not in ran.stdout, "a rate per gigabyte of 78 bytes says nothing"
    assert not {"\x1b", "…"} & set(ran.stdout), "in a pipe it is whole and has no colour"


def test_patterns_that_look_like_markup_are_shown_as_they_are(here: Path) -> None:
    pattern = "{text: '[/INST] :smile:', method: '[bold]', tier: T1, kind: code}"
    (here / "m.yaml").write_text(f"name: m\npatterns: [{pattern}]\n")
    stdout = invoke("count", "m.yaml", "--index", "scan:c.jsonl").stdout
    assert "[/INST] :smile:" in stdout
    assert "[bold]" in stdout


def test_rows_in_all_formats_on_stdout() -> None:
    header, first, *_ = invoke(*COUNT, "--format", "csv").stdout.splitlines()
    assert header == (
        "index,method,tier,kind,pattern,query,occurrences,documents,source,asked_at,"
        "estimated,occurrences_low,occurrences_high,documents_low,documents_high,level,note"
    )
    assert first.startswith("scan:c.jsonl,CoT,T1,narrative,step by step,step by step,2,1,scan,20")
    as_lines, as_json = (invoke(*COUNT, "--format", name).stdout for name in ("jsonl", "json"))
    records = [json.loads(line) for line in as_lines.splitlines()]
    assert [(r["occurrences"], r["documents"]) for r in records] == [(2, 1), (1, 1), (3, 2)]
    queries = [record["query"] for record in json.loads(as_json)]
    assert queries == ["step by step", "next, we", "\\frac{"]


def test_rows_and_totals_in_files(here: Path) -> None:
    before = set(here.iterdir())
    ran = invoke(*COUNT, "-o", "rows.parquet", "--totals", "totals.csv")
    assert ran == (0, "", "")
    assert pd.read_parquet("rows.parquet")["occurrences"].tolist() == [2, 1, 3]
    totals = pd.read_csv("totals.csv")
    ratio = totals.query("statistic == 'ratio_of_sums' and tiers == 'T1+T2'")
    assert ratio["value"].tolist() == [1.0]
    assert {path.name for path in set(here.iterdir()) - before} == {"rows.parquet", "totals.csv"}


def test_variants_tiers_and_methods_select_rows() -> None:
    rows = invoke(*COUNT, "--case-variants", "--method", "cot", "--format", "csv").rows
    counts = {row["query"]: (row["occurrences"], row["documents"]) for row in rows}
    assert counts["step by step"] == ("2", "1")
    assert counts["Step by step"] == ("0", "0")
    assert counts["Next, we"] == ("1", "1")
    assert len(invoke(*COUNT, "--tier", "t1", "--format", "csv").rows) == 1


def test_a_bad_corpus_leaves_the_rows_of_the_others(here: Path) -> None:
    (here / "cut.jsonl").write_text(CUT)
    ran = invoke(*COUNT, "--index", "scan:cut.jsonl", "-o", "rows.csv")
    assert (ran.code, ran.stdout) == (1, "")
    assert ran.stderr.startswith("Error: cut.jsonl:1: not valid JSON: Unterminated string")
    assert ran.stderr.endswith("; 3 of 6 counts missing (scan:cut.jsonl)\n")
    assert len(Path("rows.csv").read_text().splitlines()) == 4
    with pytest.raises(IncompleteError, match=r"cut\.jsonl:1: not valid JSON.*3 of 6") as error:
        ngramscan.count("small.yaml", index=["scan:c.jsonl", "scan:cut.jsonl"])
    assert error.value.rows["occurrences"].tolist() == [2, 1, 3]


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
        ("COUNT -o no/x.csv", 2, "there is no folder no"),
        ("COUNT -o /proc/x.csv", 2, "can't be written"),
        ("COUNT --totals /proc/x.csv", 2, "can't be written"),
        ("COUNT --tier T9", 2, "'T9' is not one of"),
        ("COUNT --case-variants --ignore-case", 2, "it can't go with --ignore-case"),
        ("COUNT --limit-documents 5 --sample-files 1", 2, "can't go with --limit-documents"),
        ("COUNT --figure x.pdf", 2, "a figure's name ends in .svg or .png"),
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
    "options", [{"concurrency": 0}, {"rate": -1.0}, {"workers": 0}, {"limit_documents": 0}]
)
def test_numbers_that_can_not_be_are_refused_in_python_too(options: dict[str, Any]) -> None:
    with pytest.raises(InputError, match=r"is not in the range"):
        ngramscan.count("small.yaml", index="scan:c.jsonl", **options)


@pytest.mark.parametrize(
    ("option", "value"),
    [("timeout", "nan"), ("rate", "inf"), ("limit-documents", "99999999999999999999")],
)
def test_numbers_that_no_computer_can_use_are_wrong_usage(option: str, value: str) -> None:
    ran = invoke("count", "small.yaml", "--index", "scan:c.jsonl", f"--{option}", value)
    assert (ran.code, ran.stdout) == (2, "")
    assert f"{value} is not a number that can be used" in ran.stderr


def test_the_index_list_is_the_catalog() -> None:
    lines = invoke("index", "list", "--format", "csv").stdout.splitlines()
    assert lines[0] == "name,alias,corpus,kind,documents,bytes,tokens,tokenizer"
    assert lines[1] == "v2_dclm_all,dclm,DCLM-baseline,curated,2948096911,16666308904212,,"
    assert len(lines) == 24
    # Tokens of text: without the separators of the documents.
    pile = 'infini-gram:v4_pileval_llama,infini-gram:pileval,"Pile, validation",curated'
    assert f"{pile},214670,,{393769120 - 214670},Llama-2" in lines
    assert "16,666,308,904,212" in invoke("index", "list").stdout
    assert ngramscan.index_list()["alias"].tolist()[:2] == ["dclm", "cc-2025-05"]


def test_index_info_tells_the_size_of_a_corpus() -> None:
    ran = invoke("index", "info", "scan:c.jsonl", "--format", "json")
    (info,) = json.loads(ran.stdout)
    assert (info["name"], info["documents"], info["bytes"]) == ("scan:c.jsonl", 3, 78)


def test_an_error_of_our_own_is_no_one_liner(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is not anticipated must not look as if it were."""
    monkeypatch.setattr("ngramscan.patterns.given.load_given", lambda *_, **_options: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        invoke("docnorm", "--dry-run")


def test_progress_bars_are_for_terminals_only(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a real terminal of 80 columns there are bars and colours; rows are the same."""
    (here / "c.jsonl").write_text((here / "c.jsonl").read_text() * 20_000)
    monkeypatch.setenv("TERM", "xterm-256color")
    leader, follower = pty.openpty()
    shown: list[bytes] = []

    def read() -> None:
        with suppress(OSError):  # the other end was closed
            while part := os.read(leader, 65536):
                shown.append(part)

    reader = threading.Thread(target=read)
    reader.start()
    stdout = StringIO()
    with os.fdopen(follower, "w") as stderr, redirect_stderr(stderr), redirect_stdout(stdout):
        main.main([*COUNT, "--workers", "1"], standalone_mode=False)
    reader.join()
    os.close(leader)
    assert b"B/s" in b"".join(shown)
    assert "\x1b" not in stdout.getvalue()
