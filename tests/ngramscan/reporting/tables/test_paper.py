"""`-o counts.tex`: patterns × corpora as a paper has them."""

from __future__ import annotations

import re
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ngramscan.prevalence.count import CountRow
from ngramscan.prevalence.docnorm import DocnormRow
from ngramscan.reporting.tables.paper import count_tables, docnorm_tables
from tests.support.command import invoke as run
from tests.support.outputs import write_lines

BIG = 2 * 10**9
LATEX = shutil.which("pdflatex")


def row(index: str, pattern: str, occurrences: int, **others: Any) -> CountRow:
    names = ("CoT", "T1", "narrative") if pattern != "x & y_z%" else ("PoT", "T1", "code")
    keys = (index, "bytes", *names, pattern, pattern)
    made = CountRow(*keys, occurrences, None, "api", "2026", bytes=BIG)
    values: dict[str, Any] = {"per_gigabyte": occurrences / 2, **others}
    return replace(made, **values)


def of_documents(index: str, value: int | None, low: int, high: int, million: bool) -> DocnormRow:
    rate = 10.0 if million else None
    return DocnormRow(
        index=index,
        unit="bytes",
        method=None,
        tier=None,
        pattern="step by step",
        occurrences=1234,
        documents=value,
        documents_low=low,
        documents_high=high,
        occurrences_per_document=None if value is None else 1234 / value,
        occurrences_per_document_low=1234 / high,
        occurrences_per_document_high=1234 / low if low else None,
        level=0.95,
        estimator="combined",
        documents_lower_estimate=low,
        documents_upper_estimate=high,
        documents_per_million=None if value is None or rate is None else value * rate,
        documents_per_million_low=rate and low * rate,
        documents_per_million_high=rate and high * rate,
    )


def cells_of(latex: str) -> list[list[str]]:
    """Return the lines of a tabular, each cell as often as it is wide."""
    (spec, body) = re.findall(r"\\begin\{tabular\}\{@\{\}(\w+)@\{\}\}\n(.*?)\\end", latex, re.S)[0]
    rules = r"\\(?:toprule|midrule|bottomrule|addlinespace)|\\cmidrule\(l\)\{\d+-\d+\}"
    lines = [line.removesuffix(r" \\") for line in re.sub(rules, "", body).split("\n") if line]
    table = []
    for line in lines:
        wide: list[str] = []
        for cell in re.split(r"(?<!\\) ?& ", line):
            found = re.fullmatch(r"\\multicolumn\{(\d+)\}\{c\}\{(.*)\}", cell)
            wide += [found[2]] * int(found[1]) if found else [cell]
        assert len(wide) == len(spec)
        table.append(wide)
    return table


def test_corpora_are_columns_below_the_unit_of_their_numbers() -> None:
    rows = [
        row("v2_dclm_all", "step by step", 1_000_000),
        row("v2_dclm_all", "let us", 7),
        row("v2_dclm_all", "x & y_z%", 0),
        row("v2_cc-2025-05", "step by step", 3, estimated=True),
        row("v2_cc-2025-05", "x & y_z%", 30),
        row("http://h/x", "step by step", 12345, bytes=None, per_gigabyte=None),
        row("tiny", "step by step", 4, bytes=1000, per_gigabyte=4e6),
    ]
    (table,) = count_tables(rows, {"v2_dclm_all": "16.67 TB of text"})
    latex = table.to_latex()
    assert latex.startswith("% a gigabyte is 10^9 bytes of text\n% v2_dclm_all: 16.67 TB of text\n")
    assert cells_of(latex) == [
        ["", "", "", *["occurrences per gigabyte"] * 2, *["occurrences"] * 2],
        ["method", "tier", "pattern", "dclm", "cc-2025-05", "http://h/x", "tiny"],
        ["CoT", "T1", "step by step", "500{,}000", r"$\approx$1.50", "12{,}345", "4"],
        ["", "", "let us", "3.50", "--", "--", "--"],
        ["PoT", "T1", r"x \& y\_z\%", "0", "15.0", "--", "--"],
    ]
    assert latex.count(r"\addlinespace") == 1
    assert r"\cmidrule(l){4-5}\cmidrule(l){6-7}" in latex


def test_one_corpus_has_counts_and_rates_side_by_side() -> None:
    plain = [replace(row("x", "step by step", 20), method=None, tier=None, kind=None)]
    (table,) = count_tables(plain, {})
    assert cells_of(table.to_latex()) == [
        ["pattern", "occurrences", "per GB"],
        ["step by step", "20", "10.0"],
    ]
    (alone,) = count_tables([replace(plain[0], bytes=None, per_gigabyte=None, documents=3)], {})
    assert cells_of(alone.to_latex())[1] == ["step by step", "20", "3"]


def test_tokens_have_a_table_of_their_own() -> None:
    names = (None, None, None, "step by step", "step by step")
    tokens = CountRow(
        "infini-gram:x",
        "tokens",
        *names,
        occurrences=9,
        documents=None,
        source="api",
        asked_at="2026",
        occurrences_after_space=9,
        tokens="1 2",
        per_million_tokens=0.00012,
    )
    tables = count_tables([row("x", "step by step", 20), tokens], {})
    last = [cells_of(table.to_latex())[0][-1] for table in tables]
    assert last == ["per GB", "per million tokens"]
    assert cells_of(tables[1].to_latex())[1] == ["step by step", "9", r"$1.2 \cdot 10^{-4}$"]


def test_documents_have_intervals_and_two_estimates_only_limits() -> None:
    rows = [
        of_documents("a", 12, 10, 14, million=True),
        of_documents("b", None, 0, 1400, million=True),
        of_documents("c", 12, 12, 12, million=False),
    ]
    (table,) = docnorm_tables(rows, {})
    latex = table.to_latex()
    assert latex.startswith("% brackets enclose 95% confidence intervals\n")
    assert cells_of(latex) == [
        ["", *["documents per million documents"] * 2, "documents"],
        ["pattern", "a", "b", "c"],
        ["step by step", "120 [100, 140]", "[0, 14{,}000]", "12"],
    ]
    (one,) = docnorm_tables(rows[1:2], {})
    assert cells_of(one.to_latex())[1][-1] == r"[0.881, $\infty$]"


@pytest.mark.parametrize("command", ["count", "docnorm"])
def test_the_file_of_a_command_is_that_table(command: str, tmp_path: Path) -> None:
    lines = [{"text": "step by step & let us do it \\begin{equation}"}] * 3
    specs = [f"scan:{write_lines(tmp_path / name, *lines)}" for name in ("a.jsonl", "b.jsonl")]
    given = [part for spec in specs for part in ("--index", spec)]
    file = tmp_path / "out.tex"
    ran = run(command, "f1", "--tier", "T1", *given, "-o", file)
    assert ran.code == 0, ran.stderr
    latex = file.read_text()
    head, *body = [line for line in cells_of(latex) if line[2] != ""]
    assert len(head) == 5
    assert f"wrote {file}: {len(body)} rows" in ran.stderr
    assert run(command, "f1", "--tier", "T1", *given, "--format", "latex").stdout == latex
    if LATEX:
        begin = r"\documentclass{article}\usepackage{booktabs}\begin{document}"
        whole = tmp_path / "paper.tex"
        whole.write_text(f"{begin}\n{latex}\n\\end{{document}}\n")
        done = subprocess.run(
            [LATEX, "-interaction=nonstopmode", "-halt-on-error", whole.name],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout[-2000:]
