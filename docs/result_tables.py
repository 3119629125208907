"""The tables of the pages in docs/results, from the rows beside them."""

from __future__ import annotations

import csv
from pathlib import Path

RESULTS = Path(__file__).resolve().parent / "results"


def traced() -> str:
    """Return the differences between texts and programs, for each model and all together."""
    with (RESULTS / "traced.csv").open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if (row["prompt"], row["baseline"]) == PAIR]
    lines = [
        "| model | texts, % | programs, % | difference, points | adjusted p | first 50 words |",
        "|---|---:|---:|---:|---:|---:|",
    ]
    for whole in [row for row in rows if row["measure"] == "coverage"]:
        (first,) = (
            row
            for row in rows
            if (row["model"], row["measure"]) == (whole["model"], "coverage_truncated")
        )
        cells = [
            whole["model"],
            _percent(whole["mean_baseline"]),
            _percent(whole["mean"]),
            _difference(whole),
            f"{float(whole['p_holm']):.2g}",
            _difference(first),
        ]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


PAIR = ("pot", "cot")


def _percent(share: str) -> str:
    return f"{100 * float(share):.1f}"


def _difference(row: dict[str, str]) -> str:
    value, low, high = (_percent(row[f"difference{end}"]) for end in ("", "_low", "_high"))
    return f"{value} [{low}, {high}]"
