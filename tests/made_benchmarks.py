"""Small copies of benchmarks in the form of the real ones, made for tests."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any


def write_financemath(folder: Path, size: int = 200, **first: Any) -> Path:
    """Write problems whose answers are `n / 8`; the first one with some changes."""
    rows: list[dict[str, Any]] = [
        {
            "question_id": f"validation-{n}",
            "question": f"What is {n} / 8?",
            "tables": ["| a |\n|---|\n| 1 |"] if n % 2 else [],
            "python_solution": f"def solution():\n    return {n} / 8",
            "ground_truth": round(n / 8, 3),
            "topic": "Accounting" if n % 3 else "Derivatives",
        }
        for n in range(size)
    ]
    rows[0] |= first
    path = folder / "validation.json"
    path.write_text(json.dumps(rows))
    return path


def write_proofbench(folder: Path, size: int = 60) -> Path:
    """Write problems with a solution and guidelines."""
    path = folder / "proofbench_v2.csv"
    columns = (
        *("Problem ID", "Problem", "Solution", "Grading guidelines", "Category", "Level"),
        *("Short Answer", "Source"),
    )
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        for n in range(size):
            texts = (f"PB-Basic-{n:03}", f"Prove {n}.", f"SOLUTION of {n}", f"GUIDELINES of {n}")
            writer.writerow([*texts, "Algebra", "IMO-easy", "", "made"])
    return path
