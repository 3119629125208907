"""`ngramscan blend` on 100 MB of generated outputs.

    python benchmarks/outputs.py

Prints the wall time of the command, and that of reading the same files with `json` alone.
"""

from __future__ import annotations

import json
import random
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from ngramscan.patterns.files import load_patterns

MEGABYTES = 100
PROMPTS = ("cot", "pot", "f-1", "f-1+cot", "f-1+pot", "zero-shot")
MODELS = ("a", "b", "c")
OUTPUT_CHARACTERS = 4000
ROUNDS = 3
WORDS = ("the", "river", "counted", "a", "lighthouse", "after", "rain", "because", "many", "x = 1")
PATTERN_SHARE = 0.02
"""Of words that are a pattern: about one in 300 characters, as in outputs with formulas."""


def write_outputs(folder: Path) -> int:
    """Write outputs of several models and prompts; return their size."""
    draw = random.Random(1)
    texts = [pattern.text for pattern in load_patterns("f1").patterns]
    each = MEGABYTES * 1_000_000 // (len(MODELS) * len(PROMPTS) * OUTPUT_CHARACTERS)
    size = 0
    for model in MODELS:
        for prompt in PROMPTS:
            file = folder / "generated" / model / f"{prompt}.jsonl"
            file.parent.mkdir(parents=True, exist_ok=True)
            with file.open("w", encoding="utf-8") as lines:
                for number in range(each):
                    words = draw.choices(WORDS, k=OUTPUT_CHARACTERS // 6)
                    for at in range(0, len(words), round(1 / PATTERN_SHARE)):
                        words[at] = draw.choice(texts)
                    text = " ".join(words)[:OUTPUT_CHARACTERS]
                    lines.write(json.dumps({"id": number, "output": text}) + "\n")
            size += file.stat().st_size
    return size


def seconds_of(command: list[str]) -> float:
    started_at = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - started_at


def read_plainly(folder: Path) -> float:
    started_at = time.perf_counter()
    for file in folder.rglob("*.jsonl"):
        with file.open(encoding="utf-8") as lines:
            for line in lines:
                json.loads(line)
    return time.perf_counter() - started_at


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        size = write_outputs(folder)
        print(f"{size / 1e6:.0f} MB")
        command = [sys.executable, "-m", "ngramscan", "blend", str(folder)]
        blend = [seconds_of(command) for _ in range(ROUNDS)]
        plain = [read_plainly(folder) for _ in range(ROUNDS)]
        print(f"blend        {statistics.median(blend):6.2f} s  (of {ROUNDS} rounds)")
        print(f"json alone   {statistics.median(plain):6.2f} s")


if __name__ == "__main__":
    main()
