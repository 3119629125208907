"""Two published tables of contamination, one as claims about the other for `evalcore audit`.

Xu, Liu, Choi, Smith & Hajishirzi 2025, arXiv 2506.12229: table 2 has the dirty entries of 24
benchmarks in 8 corpora in percent, table 7 their numbers.
"""

from __future__ import annotations

import csv
from pathlib import Path

import yaml

from evalcore.commands.audit import AuditRow, audit_rows
from tests.support import command

CORPORA = {
    "Pile": "pile_train",
    "DCLM": "dclm_baseline",
    **{f"CC-{week}": f"cc_2025_{week}" for week in ("05", "08", "13", "18", "21", "26")},
}
DISAGREEING = {
    "MMLU": "Pile DCLM CC-13 CC-18 CC-21 CC-26",
    "MMLU-Pro": "Pile CC-05 CC-13 CC-18 CC-21 CC-26",
    "HLE": "DCLM CC-05",
    "GSM8K": "DCLM CC-05",
    "SWE-bench": "CC-18",
    "ARC-Challenge": "Pile",
    "ARC-Easy": "Pile",
}
TABLES = {
    "contamination_table2": "benchmark,test_size,pile_train,dclm_baseline\n"
    "MMLU,1000,13.20,28.40\nGSM8K,1000,0.00,5.00\nGPQA,448,0.00,0.00\n",
    "contamination_table7": "benchmark,pile_train_dirty,dclm_baseline_dirty\n"
    "MMLU,133,277\nGSM8K,0,4\nGPQA,0,0\n",
}


def write_claims(folder: Path, corpora: dict[str, str]) -> None:
    """Claim of each cell that the number in table 7 is the one that gives the percentage."""
    table = "contamination_table2"
    with (folder / f"{table}.csv").open(encoding="utf-8", newline="") as file:
        benchmarks = [row["benchmark"] for row in csv.DictReader(file)]
    row = f'{table}[benchmark == "{{benchmark}}"]'
    claim = {
        "for": {"benchmark": benchmarks, "corpus": corpora},
        "id": "{benchmark} {corpus.id}",
        "where": "tables 2 and 7",
        "statement": "dirty entries of {benchmark} in {corpus.id}",
        "cell": 'contamination_table7[benchmark == "{benchmark}"].{corpus}_dirty',
        "formula": f"exact_pct({row}.{{corpus}}, of=test_size) * {row}.test_size / 100",
    }
    content = {
        "keys": ["benchmark"],
        "counts": [f"{table}.test_size"],
        # `13.20` is 13.2: the second decimal is always 0.
        "decimals": {f"{table}.{column}": 1 for column in corpora.values()},
        "claims": [claim],
    }
    (folder / "claims.yaml").write_text(yaml.safe_dump(content), encoding="utf-8")


def mismatches(rows: list[AuditRow]) -> dict[str, tuple[str | None, float | None]]:
    assert {row.verdict for row in rows} == {"ok", "mismatch"}
    return {row.id: (row.published, row.recomputed) for row in rows if row.verdict == "mismatch"}


def test_cells_of_two_tables_that_disagree_are_mismatches(tmp_path: Path) -> None:
    for name, text in TABLES.items():
        (tmp_path / f"{name}.csv").write_text(text, encoding="utf-8")
    write_claims(tmp_path, {"Pile": "pile_train", "DCLM": "dclm_baseline"})
    assert mismatches(audit_rows(tmp_path)) == {
        "MMLU Pile": ("133", 132),
        "MMLU DCLM": ("277", 284),
        "GSM8K DCLM": ("4", 50),
    }
    code, out, _ = command.invoke("audit", tmp_path, "--strict")
    assert (code, "3" in out) == (1, True)


def test_the_published_tables_disagree_in_nineteen_cells(shared: Path, tmp_path: Path) -> None:
    for file in (shared / "contamination").glob("*.csv"):
        (tmp_path / file.name).write_bytes(file.read_bytes())
    write_claims(tmp_path, CORPORA)
    rows = audit_rows(tmp_path)
    named = {f"{name} {corpus}" for name, own in DISAGREEING.items() for corpus in own.split()}
    assert (len(rows), len(named)) == (192, 19)
    assert mismatches(rows).keys() == named
