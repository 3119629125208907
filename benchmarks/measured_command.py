"""Commands in processes of their own, with the time and memory that they take."""

from __future__ import annotations

import csv
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


@dataclass(frozen=True)
class MeasuredRun:
    """A run that ended well."""

    rows: list[dict[str, str]]
    seconds: float
    cpu_s: float
    megabytes: float
    """The most memory at a time."""


def run_ngramscan(*arguments: str | Path) -> MeasuredRun:
    """Run a command that prints its rows, whose own messages are not shown."""
    texts = [str(argument) for argument in arguments]
    command = [sys.executable, "-m", "ngramscan", *texts, "--format", "csv", "-q"]
    started_at = time.perf_counter()
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT) as process:
        assert process.stdout is not None
        rows = list(csv.DictReader(process.stdout))
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    seconds = time.perf_counter() - started_at
    assert process.returncode == 0, command
    return MeasuredRun(rows, seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1000)


def counts_of(runs: Sequence[MeasuredRun]) -> list[list[tuple[str, str]]]:
    """Return the queries and occurrences of each run."""
    return [[(row["query"], row["occurrences"]) for row in run.rows] for run in runs]
