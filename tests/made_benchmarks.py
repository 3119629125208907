"""Small copies of benchmarks in the form of the real ones, made for tests."""

from __future__ import annotations

import csv
import json
from pathlib import Path


def write_financemath(folder: Path, size: int = 200) -> Path:
    """Write problems whose answers are `n / 8`."""
    rows = [
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
            name = f"PB-Basic-{n:03}"
            solution, guidelines = f"SOLUTION of {n}", f"GUIDELINES of {n}"
            writer.writerow(
                [name, f"Prove {n}.", solution, guidelines, "Algebra", "IMO-easy", "", "made"]
            )
    return path
