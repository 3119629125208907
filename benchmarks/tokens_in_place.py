"""Counting n-grams in an index over tokens in place, over a server here that answers late.

    python benchmarks/tokens_in_place.py FOLDER [LATENCY_MS [TOKENIZER [OPTIONS...]]]

FOLDER is best what `benchmarks/token_shards.py` writes: 8 shards of 50 million tokens. One phrase
and the set f1 are counted, the median of three runs each, all with a new journal. A second run
takes its counts from the journal: its time, of the program's start and of opening the index, is
subtracted. Rounds are requests of a shard that had to wait for each other; they are counted in a
run of their own, with so many connections that no request waits for another one.

Prints what was measured and the bounds; counts must be those of the folder.
"""

from __future__ import annotations

import os
import platform
import statistics
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks.late_server import LateServer, Record
from benchmarks.measured_command import MeasuredRun, counts_of, run_ngramscan

TOKENIZER = ROOT / "tests" / "tokens" / "llamalike.model"
QUERIES = {"one phrase": ("-e", "step by step"), "f1": ("f1", "--count-anyway")}
REPEATS = 3
ALL_AT_ONCE = 4096
"""Connections with which no request waits for another one."""
TIMES_THE_LEAST = 1.5
PHRASE_S = 1.2
REQUESTS_PER_S = 5000
BYTES_SHARE = 0.01
MEGABYTES = 400
PLAN_FACTOR = 1.2


@dataclass(frozen=True)
class Measured:
    """What the counts of some queries took."""

    runs: list[MeasuredRun]
    again: list[MeasuredRun]
    """Runs whose counts were in the journal."""
    records: list[Record]
    opening: Record
    all_at_once: Record
    plan: dict[str, str]

    @property
    def seconds(self) -> float:
        """Seconds without the program's start, and without what opens the index."""
        start_s = statistics.median(run.seconds for run in self.again)
        return statistics.median(run.seconds for run in self.runs) - start_s

    @property
    def rounds(self) -> int:
        """Rounds of searches."""
        return self.all_at_once.rounds - self.opening.rounds

    @property
    def requests(self) -> int:
        """Requests in all, the median."""
        return round(statistics.median(record.requests for record in self.records))

    @property
    def sent_bytes(self) -> int:
        """Bytes in all, the median."""
        return round(statistics.median(record.sent_bytes for record in self.records))


@dataclass(frozen=True)
class Bound:
    """A number that was measured, and the most that it may be."""

    name: str
    measured: float
    most: float
    unit: str


def measure(server: LateServer, common: Sequence[str | Path]) -> Measured:
    """Run a command several times."""

    def run(journal: str, *options: str | Path) -> tuple[MeasuredRun, Record]:
        server.clear()
        done = run_ngramscan(*common, "--journal", journal, *options)
        return done, server.record()

    runs, again, records, openings = [], [], [], []
    with tempfile.TemporaryDirectory() as folder:
        for number in range(REPEATS):
            done, record = run(f"{folder}/{number}")
            runs.append(done)
            records.append(record)
            done, record = run(f"{folder}/{number}")
            again.append(done)
            openings.append(record)
        _, all_at_once = run(f"{folder}/all", "--concurrency", str(ALL_AT_ONCE))
        planned, _ = run(f"{folder}/plan", "--dry-run")
    return Measured(runs, again, records, openings[0], all_at_once, planned.rows[0])


def bounds(name: str, measured: Measured, latency_s: float, index_bytes: int) -> Iterator[Bound]:
    """Yield the bounds of the counts of some queries."""
    by_rounds = measured.rounds * latency_s
    if name == "f1":
        least_s = max(by_rounds, measured.requests / REQUESTS_PER_S)
    else:
        least_s = by_rounds
        yield Bound("seconds of one phrase", measured.seconds, PHRASE_S, "s")
    yield Bound("seconds by rounds and requests", measured.seconds, TIMES_THE_LEAST * least_s, "s")
    share = measured.sent_bytes / index_bytes
    yield Bound("share of the index", 100 * share, 100 * BYTES_SHARE, "%")
    megabytes = max(run.megabytes for run in measured.runs)
    yield Bound("memory", megabytes, MEGABYTES, "MB")
    hours, minutes, seconds = map(int, measured.plan["duration"].split(":"))
    print(f"  planned seconds, with those of opening: {3600 * hours + 60 * minutes + seconds}")
    for quantity, real in {
        "requests": measured.requests,
        "bytes": measured.sent_bytes,
    }.items():
        planned = float(measured.plan[quantity])
        factor = max(planned / real, real / planned)
        yield Bound(f"planned {quantity}, {planned:,.6g}", factor, PLAN_FACTOR, "times")


def report(name: str, measured: Measured, latency_s: float, index_bytes: int) -> None:
    """Print what was measured, and the bounds."""
    first = measured.records[0]
    print(f"{name}: {len(measured.runs[0].rows)} rows")
    print(f"  {measured.requests:,} requests, {first.most_at_once} of them at once at most")
    print(
        f"  {measured.opening.requests:,} of them open the index, {measured.opening.sent_bytes:,} B"
    )
    print(f"  {measured.sent_bytes:,} bytes of {index_bytes:,}")
    opening_rounds = measured.opening.rounds
    print(f"  {measured.rounds} rounds of searches, {opening_rounds} that open the index")
    seconds = ", ".join(f"{run.seconds:.2f}" for run in measured.runs)
    again = ", ".join(f"{run.seconds:.2f}" for run in measured.again)
    print(f"  {seconds} s in all; {again} s from the journal")
    for bound in bounds(name, measured, latency_s, index_bytes):
        verdict = "" if bound.measured <= bound.most else "  TOO MUCH"
        numbers = f"{bound.measured:8,.2f} of {bound.most:8,.2f} {bound.unit}"
        print(f"  {bound.name:34} {numbers}{verdict}")


def main() -> None:
    folder = Path(sys.argv[1]).resolve()
    latency_s = float(sys.argv[2]) / 1000 if len(sys.argv) > 2 else 0.03
    tokenizer = sys.argv[3] if len(sys.argv) > 3 else str(TOKENIZER)
    options = ("--tokenizer", tokenizer, *sys.argv[4:])
    index_bytes = sum(path.stat().st_size for path in folder.iterdir())
    shards = len(list(folder.glob("table.*")))
    print(f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}")
    print(f"{shards} shards, {index_bytes / 1e9:.2f} GB, {latency_s * 1000:g} ms per reply")
    with LateServer(folder, latency_s) as server:
        for name, queries in QUERIES.items():
            near = run_ngramscan("count", *queries, "--index", f"tokens:{folder}", *options)
            far = ("count", *queries, "--index", f"tokens:{server.url}", *options)
            measured = measure(server, far)
            runs = [*measured.runs, *measured.again]
            assert counts_of(runs) == counts_of([near]) * len(runs), "other counts"
            report(name, measured, latency_s, index_bytes)


if __name__ == "__main__":
    main()
