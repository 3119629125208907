"""The tables of the pages in docs/results, from the rows beside them."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import evalcore

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
            _interval(whole, "difference"),
            f"{float(whole['p_holm']):.2g}",
            _interval(first, "difference"),
        ]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def shift_ciphers() -> str:
    """Return the slopes with and without rot-13, for each prompt and each pair of prompts."""
    tables = [RESULTS / f"shift-ciphers{end}.csv" for end in ("-counts", "")]
    rows = evalcore.link(*tables, problems=True, without="13")
    shown = rows.assign(rho=rows["rho"].map("{:.2f}".format).replace("nan", ""))
    lines = [
        "| shifts | prompt | rho | slope, points per tenfold count | p | adjusted p |",
        "|---|---|---:|---:|---:|---:|",
    ]
    for row in shown.astype(object).where(rows.notna(), "").to_dict(orient="records"):
        shifts = "without rot-13" if "without" in row["counts"] else "all"
        prompt = f"{row['method']} − {row['baseline']}" if row["baseline"] else row["method"]
        p_values = [f"{row[name]:.2g}" for name in ("p", "p_adjusted")]
        cells = [shifts, prompt, row["rho"], _interval(row, "slope"), *p_values]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


PAIR = ("pot", "cot")


def _percent(share: str | float) -> str:
    return f"{100 * float(share):.1f}"


def _interval(row: Mapping[str, Any], name: str) -> str:
    value, low, high = (_percent(row[f"{name}{end}"]) for end in ("", "_low", "_high"))
    return f"{value} [{low}, {high}]"
