"""Programs in the sandbox, beside a plain subprocess for each, in alternating rounds.

    python benchmarks/sandbox.py

Half of the programs import NumPy. Prints the wall time per program, the median of the rounds.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor

from evalcore.sandbox.sandbox import Program, Sandbox

PROGRAMS, ROUNDS, WORKERS = 200, 5, 2


def made(number: int) -> str:
    before = "import numpy as np" if number % 2 else "import math"
    value = f"float(np.sqrt({number}))" if number % 2 else f"math.sqrt({number})"
    return f"{before}\ndef solution():\n    return {value}\n"


SOURCES = [made(number) for number in range(PROGRAMS)]


def plain(source: str) -> float:
    command = [sys.executable, "-I", "-c", f"{source}\nprint(solution())"]
    return float(subprocess.run(command, capture_output=True, check=True, timeout=30).stdout)


def by_subprocess(sources: Sequence[str]) -> list[float]:
    with ThreadPoolExecutor(WORKERS) as pool:
        return list(pool.map(plain, sources))


def by_sandbox(sources: Sequence[str]) -> list[float]:
    with Sandbox(workers=WORKERS) as sandbox:
        outcomes = sandbox.run([Program(source) for source in sources])
        return [float(str(outcome.value)) for outcome in outcomes]


def seconds(run: Callable[[Sequence[str]], list[float]]) -> float:
    started_at = time.perf_counter()
    values = run(SOURCES)
    assert all(abs(value**2 - number) < 1e-9 for number, value in enumerate(values))
    return time.perf_counter() - started_at


def main() -> None:
    rounds = [[seconds(run) for run in (by_sandbox, by_subprocess)] for _ in range(ROUNDS)]
    ours, theirs = (statistics.median(times) for times in zip(*rounds, strict=True))
    print(f"sandbox {1000 * ours / PROGRAMS:.1f} ms, subprocess {1000 * theirs / PROGRAMS:.1f} ms")
    print(f"ratio {ours / theirs:.2f}")


if __name__ == "__main__":
    main()
