"""The shipped claims about the paper, against figures that are computed here by other means."""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from statistics import mean

import pytest

from evalcore.audit import AuditRow, audit_rows

ROOT = Path(__file__).resolve().parent.parent
PUBLISHED = ROOT / "evalcore" / "published"


@pytest.fixture(scope="module")
def rows() -> Mapping[str, AuditRow]:
    return {row.id: row for row in audit_rows()}


def read(name: str) -> list[dict[str, str]]:
    with (PUBLISHED / name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_the_documentation_counts_the_verdicts(rows: Mapping[str, AuditRow]) -> None:
    text = (ROOT / "docs" / "audit.md").read_text(encoding="utf-8")
    counts = Counter(row.verdict for row in rows.values())
    said = re.search(
        r"with (\d+) claims\. Of these (\d+) are `ok`,\s+"
        r"(\d+) `rounding`, (\d+) `mismatch`, (\d+) `different quantity` and (\d+) `not derivable`",
        text,
    )
    assert said is not None
    verdicts = ("ok", "rounding", "mismatch", "different quantity", "not derivable")
    assert [int(n) for n in said.groups()] == [len(rows), *(counts[v] for v in verdicts)]
    parts = re.findall(r"^\|[^|]+\| (\d+) \|$", text, re.MULTILINE)
    assert sum(map(int, parts)) == counts["mismatch"]
    inside = [r for r in rows.values() if r.verdict == "ok" and "only inside" in (r.note or "")]
    assert len(inside) == 10


def test_every_mismatch_shows_formula_inputs_and_both_values(rows: Mapping[str, AuditRow]) -> None:
    for row in rows.values():
        if row.verdict == "mismatch":
            assert None not in (row.formula, row.inputs, row.published, row.recomputed), row.id


def test_what_is_not_derivable_says_why(rows: Mapping[str, AuditRow]) -> None:
    assert all(row.note for row in rows.values() if row.verdict == "not derivable")


def test_the_examples_have_the_verdicts_that_were_found_by_hand(
    rows: Mapping[str, AuditRow], shared: Path
) -> None:
    with (shared / "paper" / "audit_examples.csv").open(encoding="utf-8", newline="") as file:
        expected = {row["id"]: row["verdict"] for row in csv.DictReader(file)}
    assert {id_: rows[id_].verdict for id_ in expected} == expected


def test_the_tables_are_the_published_ones(shared: Path) -> None:
    for path in PUBLISHED.glob("*.csv"):
        printed = shared / "paper" / path.name
        if path.name == "text_numbers.csv":  # without the words around each figure
            with path.open(newline="") as ours, printed.open(newline="") as theirs:
                assert list(csv.DictReader(ours)) == [
                    {name: value for name, value in row.items() if name != "quote_latex"}
                    for row in csv.DictReader(theirs)
                ]
        elif path.name != "prompt_phrases.csv":  # of the prompts, see below
            assert path.read_bytes() == printed.read_bytes(), path.name


def test_averages_of_the_main_table_are_those_of_plain_arithmetic(
    rows: Mapping[str, AuditRow],
) -> None:
    main = read("table03_main_results.csv")
    short = {"Zero-Shot": "zs", "CoT": "cot", "PoT": "pot", "F-1": "f1"}
    checked = 0
    for cell in main:
        if cell["model"] != "Overall" or cell["benchmark"] == "Overall":
            continue
        same = [
            float(other["accuracy_pct"])
            for other in main
            if (other["benchmark"], other["method"]) == (cell["benchmark"], cell["method"])
            and other["model"] != "Overall"
        ]
        row = rows[f"main-col-{cell['benchmark']}-{short[cell['method']]}"]
        assert row.recomputed == pytest.approx(mean(same), abs=1e-9)
        assert row.published == cell["accuracy_pct"]
        checked += 1
    assert checked == 16


def test_efficiency_above_all_right_is_found_in_six_cells(rows: Mapping[str, AuditRow]) -> None:
    impossible = 0
    for name in ("table06_efficiency_financemath", "table07_efficiency_olympiadbench"):
        impossible += _above_all_right(f"{name}.csv")
    for name in ("table08_efficiency_imobench", "table09_efficiency_aicrypto"):
        impossible += _above_all_right(f"{name}.csv")
    found = [r for r in rows.values() if r.id.startswith("eff-possible") and r.verdict != "ok"]
    assert len(found) == impossible == 6


def _above_all_right(name: str) -> int:
    cells = (row for row in read(name) if row["model"] != "Average")
    return sum(float(c["efficiency_ratio"]) * float(c["avg_tokens"]) / 100 > 100 for c in cells)


@pytest.mark.parametrize(
    ("claim", "recomputed", "verdict"),
    cases(
        ("every problem counted once", "micro-f1-cot", 2.75, "not derivable"),
        ("674 over 25", "ob-weight-tp-physics", 26.96, "not derivable"),
        ("the order is the other way round", "docnorm-f1-cot", 0.571, "mismatch"),
        ("61.07 in table 24", "weighted-macro-f1", 61.067, "ok"),
        ("and 61.06 in table 3", "main-row-f1-all", 61.0675, "rounding"),
        (
            "categories weighted by points",
            "main-crypto-f1-gpt5",
            (97 * 96.9 + 139 * 98.6 + 61 * 100 + 33 * 100) / 330,
            "ok",
        ),
        ("wins", "wins-53", 53, "ok"),
        ("power", "power-dz", 0.701, "ok"),
        ("bytes, cut not rounded", "corpora-bytes", 81.752, "rounding"),
        ("Wilson, by statsmodels", "judges-unanimous-low", 49.89772, "ok"),
    ),
)
def test_single_claims_have_the_values_that_are_known(
    rows: Mapping[str, AuditRow], claim: str, recomputed: float, verdict: str
) -> None:
    row = rows[claim]
    assert row.verdict == verdict
    assert row.recomputed == pytest.approx(recomputed, abs=0.006)
