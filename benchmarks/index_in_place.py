"""Counting the set f1 in an index in place, over a server on this machine that answers late.

    python benchmarks/index_in_place.py INDEX [LATENCY_MS [FAULTS]]

INDEX is a folder, best of four shards of 250 MB of text; FAULTS is the share of requests that fail.
A step is dependent if its place is known only from the one before; the longest chain of them, times
the latency, is the least time that any client can need. Aims: 1.5 times that, at most 3% of the
bytes of the index, under 400 MB of memory. The second run asks nothing: what it takes is the start
of the program, which is not counted.
"""

from __future__ import annotations

import json
import os
import platform
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks.measured_command import counts_of, run_ngramscan
from ngramscan.index_files.fm9 import kernels, layout
from ngramscan.index_files.fm9.reader import Fm9File, open_shards
from ngramscan.index_files.fm9.tables import (
    BEFORE,
    LEFT,
    RANK,
    RANK_WIDTH,
    RIGHT,
    SIZE,
    START,
    Tables,
)
from ngramscan.patterns.given import load_given
from tests.support.range_server import Faults, RangeServer

SUPERBLOCK = layout.BLOCK * layout.SUPERBLOCK


def dependent_steps(file: Fm9File, pattern: bytes) -> int:
    """Return how many steps of a search need bytes of the file, read by the local reader."""
    t, steps = file.tables, 0
    suffixes = [pattern[at:] for at in range(len(pattern) - 1, -1, -1)]
    ranges = file.find(suffixes).tolist()
    for suffix, found in zip(suffixes[1:], ranges, strict=False):
        low, high = found
        number, code = 0, int(t.codes[suffix[0]])
        for _ in range(int(t.lengths[suffix[0]])):
            if low == high:
                return steps
            node = t.nodes[number]
            ones, needs = [], False
            for at in (low, high):
                if at == node[SIZE]:
                    ones.append(int(t.nodes[node[RIGHT], SIZE]))
                    continue
                place = int(node[START]) + at
                got = int(kernels.bit_and_ones(t, place)) >> 1
                ones.append(got - int(node[BEFORE]))
                needs |= at > 0 and not is_uniform(t, place // SUPERBLOCK)
            steps += needs
            low, high = ones if code & 1 else (low - ones[0], high - ones[1])
            number = int(node[RIGHT if code & 1 else LEFT])
            code >>= 1
    return steps


def is_uniform(t: Tables, number: int) -> bool:
    place, width = t.at[RANK], t.at[RANK_WIDTH]
    ones, after = (kernels.read_entry(t.data, place, width, at) for at in (number, number + 1))
    return int(after - ones) in {0, SUPERBLOCK}


def main() -> None:
    index = Path(sys.argv[1]).resolve()
    latency_s = float(sys.argv[2]) / 1000 if len(sys.argv) > 2 else 0.03
    faults = Faults(rate=float(sys.argv[3]) if len(sys.argv) > 3 else 0.0)
    shards = open_shards(index)
    patterns = {query.text.encode() for query in load_given(["f1"], (), (), (), ()).queries()}
    steps = max(dependent_steps(shard.data, one) for shard in shards for one in patterns)
    size = sum(shard.index_bytes for shard in shards)
    near = run_ngramscan("count", "f1", "--index", f"fm9:{index}")
    with RangeServer(index, latency_s, faults) as server, tempfile.TemporaryDirectory() as name:
        journal = ("--journal", f"{name}/journal", *sys.argv[4:])
        far = run_ngramscan("count", "f1", "--index", f"fm9:{server.url}", *journal)
        first = server.record().requests
        again = run_ngramscan("count", "f1", "--index", f"fm9:{server.url}", *journal)
        requests = len(server.record().requests) - len(first)
    counts_in_place, *local_counts = counts_of([far, near])
    assert [counts_in_place] == local_counts, "other counts"
    read = sum(one.stop - one.start for one in first)
    report = {
        "machine": f"{platform.machine()}, {os.cpu_count()} cores",
        "shards": len(shards),
        "index_mb": round(size / 1e6, 1),
        "patterns": len(patterns),
        "dependent_steps": steps,
        "least_s": round(steps * latency_s, 2),
        "seconds": round(far.seconds, 2),
        "start_s": round(again.seconds, 2),
        "times_the_least": round((far.seconds - again.seconds) / (steps * latency_s or 1), 2),
        "cpu_s": round(far.cpu_s, 2),
        "cpu_of_a_local_count_s": round(near.cpu_s, 2),
        "requests": len(first),
        "bytes_share_percent": round(100 * read / size, 2),
        "memory_mb": round(far.megabytes),
        "second_run_requests": requests,
    }
    print(json.dumps(report, indent=2))


if __name__ == "__main__":
    main()
