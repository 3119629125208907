"""The methods that are compared: rules of `ngramscan contaminate`, and decon's design."""

from __future__ import annotations

import csv
import json
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from benchmarks.copies.bed import Bed
from benchmarks.copies.decon import contaminated

ROOT = Path(__file__).resolve().parent.parent.parent
RULES = ("copied", "mini", "gpt4-stripped", "gpt3", "palm", "ngram-8")
DECON, DECON_WITH_ANSWERS = "decon", "decon, with answers"
METHODS = (*RULES, DECON, DECON_WITH_ANSWERS)
CONTAMINATED = frozenset({"copied", "dirty"})
"""Verdicts that an entry is in the corpus, by any rule."""


@dataclass(frozen=True, slots=True)
class Judged:
    """One entry as a method judges it."""

    verdict: str
    """`clean`, `suspicious`, `dirty`, `shared`, `variant` or `copied`."""
    details: Mapping[str, str]
    """The columns of the row, where the method is a rule."""

    @property
    def is_contaminated(self) -> bool:
        """Whether the entry is said to be in the corpus."""
        return self.verdict in CONTAMINATED


def write_bed(bed: Bed, folder: Path) -> None:
    """Write the benchmark and the corpus as JSON lines."""
    with (folder / "questions.jsonl").open("w", encoding="utf-8") as file:
        for entry in bed.entries:
            row = {"id": entry.id, "question": entry.question, "answer": entry.answer}
            file.write(json.dumps(row, ensure_ascii=False) + "\n")
    with (folder / "corpus.jsonl").open("w", encoding="utf-8") as file:
        for number, document in enumerate(bed.documents):
            row = {"id": str(number), "text": document}
            file.write(json.dumps(row, ensure_ascii=False) + "\n")


def judge(bed: Bed, method: str, folder: Path) -> dict[str, Judged]:
    """Return the verdicts of a method by the ids of the entries; `folder` has the bed."""
    if method in RULES:
        return judge_by_rule(method, folder)
    entries = [
        (entry.id, entry.question, entry.answer if method == DECON_WITH_ANSWERS else "")
        for entry in bed.entries
    ]
    scores = contaminated(entries, bed.documents)
    judged = {}
    for entry in bed.entries:
        verdict = "dirty" if entry.id in scores else "clean"
        judged[entry.id] = Judged(verdict, {"score": str(scores.get(entry.id, ""))})
    return judged


def judge_by_rule(rule: str, folder: Path) -> dict[str, Judged]:
    """Run the command as a user would; a CalledProcessError says that it failed."""
    rows = folder / f"{rule}.csv"
    command = [sys.executable, "-m", "ngramscan", "contaminate", str(folder / "questions.jsonl")]
    command += ["--index", f"scan:{folder / 'corpus.jsonl'}", "--rule", rule, "-o", str(rows)]
    command += ["--journal", str(folder / "journal.sqlite"), "--quiet"]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, cwd=ROOT)
    with rows.open(encoding="utf-8", newline="") as file:
        return {row["id"]: Judged(row["verdict"], row) for row in csv.DictReader(file)}
