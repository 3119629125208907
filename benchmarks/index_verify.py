"""Checking an index of 100 MB of text, beside `sha256sum`, in alternating rounds.

    python benchmarks/index_verify.py [MEGABYTES]

Prints the processor time of each command per byte of text, without what it takes to check an index
of one document. Aims: `--deep` at most 0.3 microseconds; without it a few times `sha256sum`.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

import ngramscan
from benchmarks.index_build import documents
from ngramscan.index_files.fm9.layout import FILES
from ngramscan.index_files.fm9.reader import Shard

ROUNDS = 3
NGRAMSCAN = (sys.executable, "-m", "ngramscan", "index", "verify", "-q")
COMMANDS = {
    "index verify": NGRAMSCAN,
    "index verify --deep": (*NGRAMSCAN, "--deep"),
    "sha256sum": ("sha256sum",),
}


def build(folder: Path, texts: Sequence[str]) -> int:
    """Build an index, and return the bytes of its text and metadata."""
    lines = (json.dumps({"text": text, "n": n}) + "\n" for n, text in enumerate(texts))
    folder.with_suffix(".jsonl").write_text("".join(lines), encoding="utf-8")
    ngramscan.index_build(str(folder.with_suffix(".jsonl")), output=folder)
    shard = Shard(folder)
    return shard.data.n + shard.meta.n


def cost(command: Sequence[str], folder: Path) -> float:
    """Return the seconds of processor time that a command takes."""
    places = [folder / name for name in FILES] if command[0] == "sha256sum" else [folder]
    process = subprocess.Popen([*command, *places], cwd=ROOT, stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0
    return used.ru_utime + used.ru_stime


def main() -> None:
    megabytes = int(sys.argv[1]) if len(sys.argv) > 1 else 100
    with tempfile.TemporaryDirectory() as name:
        small, large = Path(name) / "small", Path(name) / "large"
        build(small, ["one"])
        size = build(large, list(documents(megabytes * 1_000_000)))
        rounds = [
            {each: cost(way, large) - cost(way, small) for each, way in COMMANDS.items()}
            for _ in range(ROUNDS)
        ]
    print(f"{size / 1e6:.0f} MB of text and metadata")
    for each in COMMANDS:
        seconds = statistics.median(costs[each] for costs in rounds)
        print(f"{each:20} {seconds / size * 1e6:.4f} us per byte")


if __name__ == "__main__":
    main()
