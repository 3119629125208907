"""The spans of 10,000 outputs in one pass over a corpus, against counting f1 in it.

    python benchmarks/trace_scan.py [MEGABYTES [ROUNDS [CORPUS.jsonl OUTPUTS]]]

Without a corpus, that of contaminate.py is made (default 800 MB), and outputs of 150 words of its
text in a random order, every second one with 20 words as they are there: far more is shared than in
real outputs. Both commands run in turn, with one worker, on the corpus and on its first quarter.
Medians of processor time count. The difference of the two corpora is the time that documents take;
the rest is start and, for trace, the outputs. Aim: less than five seconds for 10,000 outputs, and
half the speed of f1 for the documents.
"""

from __future__ import annotations

import json
import random
import resource
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks.contaminate import make_corpus

OUTPUTS, WORDS, COPIED = 10_000, 150, 20


def make_outputs(corpus: Path, path: Path) -> None:
    draw = random.Random(4)
    with corpus.open(encoding="utf-8") as file:
        words = [
            word
            for line, _ in zip(file, range(500), strict=False)
            for word in json.loads(line)["text"].split(" ")
        ]
    with path.open("w", encoding="utf-8") as file:
        for number in range(OUTPUTS):
            some = draw.sample(words, WORDS)
            if number % 2:
                at = draw.randrange(len(words) - COPIED)
                some[50:50] = words[at : at + COPIED]
            file.write(json.dumps({"id": number, "model": "m", "output": " ".join(some)}) + "\n")


def processor_seconds() -> float:
    """Return the processor time of all commands that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def first_quarter(corpus: Path, path: Path) -> Path:
    least = corpus.stat().st_size // 4
    with corpus.open("rb") as file, path.open("wb") as part:
        part.writelines(file.readlines(least))
    return path


def main(megabytes: str = "800", rounds: str = "3", *given: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        corpus, outputs = map(Path, given or (f"{folder}/corpus.jsonl", f"{folder}/outputs.jsonl"))
        if not given:
            make_corpus(corpus, int(megabytes) * 1_000_000)
            make_outputs(corpus, outputs)
        corpora = corpus, first_quarter(corpus, Path(folder) / "quarter.jsonl")
        sizes = [each.stat().st_size / 1e6 for each in corpora]
        arguments = {"count": "f1", "trace": str(outputs)}
        seconds: dict[str, list[list[float]]] = {name: [[], []] for name in arguments}
        for number in range(int(rounds)):
            for name, argument in arguments.items():
                for part, each in enumerate(corpora):
                    journal = f"{folder}/{name}{number}{part}.sqlite"
                    command = [sys.executable, "-m", "ngramscan", name, argument, "--quiet"]
                    command += ["--index", f"scan:{each}", "--workers", "1", "--journal", journal]
                    start = processor_seconds()
                    subprocess.run([*command, "-o", f"{folder}/rows.csv"], check=True)
                    seconds[name][part].append(processor_seconds() - start)
    speeds = {}
    for name, runs in seconds.items():
        whole, quarter = map(statistics.median, runs)
        speeds[name] = (sizes[0] - sizes[1]) / (whole - quarter)
        rest = whole - sizes[0] / speeds[name]
        print(f"{name}: {whole:.1f} s; documents {speeds[name]:.0f} MB/s, the rest {rest:.1f} s")
    print(f"ratio of speeds: {speeds['trace'] / speeds['count']:.2f}")


if __name__ == "__main__":
    main(*sys.argv[1:])
