"""Shipped benchmarks are listed with their sources, and copies are checked."""

import hashlib
import re
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import yaml

import evalcore
from ngramscan.errors import IncompleteError, InputError
from tests.support.command import invoke
from tests.support.made_benchmarks import write_financemath, write_proofbench


def test_all_copies_that_are_there_are_checked_and_failures_told(tmp_path: Path) -> None:
    write_financemath(tmp_path, question="")
    write_proofbench(tmp_path)
    with pytest.raises(IncompleteError, match=r"question is ''; expected text$") as caught:
        evalcore.datasets_check(data=tmp_path)
    [row] = caught.value.rows.itertuples()
    assert (row.dataset, row.problems, row.subtasks) == ("imo-proofbench", 60, 1)
    for place in (tmp_path / "none", None):
        with pytest.raises(InputError, match=r"no benchmark there; see .* or name a copy"):
            evalcore.datasets_check(data=place)


def test_shipped_benchmarks_are_rows_of_their_files_sources_and_licences(
    subtests: pytest.Subtests,
) -> None:
    rows = evalcore.datasets_list().set_index("name")
    shipped: dict[str, Any] = {}
    for path in Path(evalcore.__file__).with_name("benchmarks").glob("*.yaml"):
        shipped |= yaml.safe_load(path.read_text())["benchmarks"]
    shipped = {name: about for name, about in shipped.items() if name in rows.index}
    assert sorted(shipped) == sorted(rows.index)
    assert len(shipped) >= 8
    for name, about in shipped.items():
        row, (file, sha256) = rows.loc[name], next(iter(about["files"].items()))
        sizes = about.get("sizes") or [None]
        with subtests.test(name=name):
            texts = (row["file"], row["licence"], row["source"], row["note"])
            assert texts == (file, about["licence"], about["source"], about.get("note", ""))
            assert row["url"] == about["url"].format(name=file)
            assert (None if pd.isna(row["sha256"]) else row["sha256"]) == sha256
            assert (None if pd.isna(row["problems"]) else row["problems"]) == sizes[0]


def test_licences_are_those_that_the_authors_state() -> None:
    licences = evalcore.datasets_list().set_index("name")["licence"]
    assert all(len(licence) > 2 for licence in licences)
    assert licences["bbh-word-sorting"] == "MIT"


def test_a_copy_is_checked_with_its_problems_subtasks_and_hash(tmp_path: Path) -> None:
    path = write_financemath(tmp_path)
    (row,) = evalcore.datasets_check("financemath", data=path).to_dict("records")
    sha256 = hashlib.sha256(path.read_bytes()).hexdigest()
    counts = {"dataset": "financemath", "problems": 200, "subtasks": 2, "sha256": sha256}
    assert {name: row[name] for name in counts} == counts
    assert row["fault"] == f"not the published file: its SHA-256 is {sha256}"


def test_benchmarks_are_listed_and_checked_at_the_terminal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write_financemath(tmp_path)
    listed = invoke("datasets", "list")
    (line,) = [line.split() for line in listed.stdout.splitlines() if "financemath" in line]
    assert (listed.code, line[-1]) == (0, "200")
    checked = invoke("datasets", "check", "financemath", "aicrypto", "--data", ".")
    told = r"financemath +not the published file: its SHA-256 is [0-9a-f]{64} +200 +2 *\n"
    assert re.search(told, checked.stdout), checked.stdout
    assert (checked.code, "exam1/problem1.tex" in checked.stderr) == (1, True)
