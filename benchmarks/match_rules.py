"""Counting by each rule of matching in a local corpus, against counting exact texts.

    python benchmarks/match_rules.py [--megabytes 200] [--index-megabytes 20] [--rounds 5]

Makes the corpus of `scan.py` (seeded) as one file of JSON lines, and reads and counts in it in this
process: the patterns of f1 and ten phrases by each rule, and ten regular expressions. All run once
per round, one after the other, so that whatever else the machine does falls on all of them. Printed
are the median seconds of a processor, and the median over rounds of the speed, as a share of the
speed of exact texts. At last it builds an index of the first `--index-megabytes`, and prints the
median milliseconds in which the phrases are found by each rule, per phrase, and how many ranges of
the index they have.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks.scan import make_documents, to_jsonl
from ngramscan.corpora import Piece, ReadOptions, identified, open_corpus, split
from ngramscan.indexes.fm9 import open_fm9
from ngramscan.indexes.scan.counting import Question, count_piece
from ngramscan.matching import MatchRule
from ngramscan.patterns.files import load_patterns
from ngramscan.progress import SILENT

PHRASES = (
    "step by step",
    "solve",
    "let's think",
    "the answer is",
    "formula",
    "write a program",
    "equation",
    "break down",
    "therefore",
    "variables",
)
EXPRESSIONS = (
    r"step[- ]by[- ]steps?",
    r"(?:re)?solv(?:e|ing)",
    r"[Ll]et(?:'s|’s| us) think",
    r"the (?:final )?answer is",
    r"formula[es]?",
    r"(?i)write (?:a|the) program",
    r"equations?\b",
    r"break(?:ing)?\s+down",
    r"(?:therefore|hence), \w+",
    r"variables? [a-z]\b",
)


class Measured(NamedTuple):
    """Queries and a rule that are timed, and the case whose speed is 1."""

    name: str
    queries: Sequence[str]
    rule: MatchRule
    baseline: str


F1 = [pattern.text for pattern in load_patterns("f1").patterns]
CASES = (
    Measured("f1, exact", F1, MatchRule(), "f1, exact"),
    Measured("f1, whole words", F1, MatchRule(whole_words=True), "f1, exact"),
    Measured("f1, any space", F1, MatchRule(any_space=True), "f1, exact"),
    Measured("f1, any case", F1, MatchRule(ignore_case=True), "f1, exact"),
    Measured("ten phrases", PHRASES, MatchRule(), "ten phrases"),
    Measured("ten, whole words", PHRASES, MatchRule(whole_words=True), "ten phrases"),
    Measured("ten, any space", PHRASES, MatchRule(any_space=True), "ten phrases"),
    Measured("ten expressions", EXPRESSIONS, MatchRule(is_regex=True), "ten phrases"),
)


def seconds_of(case: Measured, pieces: Sequence[Piece]) -> float:
    """Return the processor time of reading and counting all pieces."""
    question = Question(case.queries, ReadOptions(), case.rule, normalization="")
    question.matcher()  # compiled once per worker
    started_at = time.process_time()
    for piece in pieces:
        count_piece(piece, lambda _: None, question)
    return time.process_time() - started_at


INDEX_RULES = (
    MatchRule(),
    MatchRule(whole_words=True),
    MatchRule(any_space=True),
    MatchRule(ignore_case=True),
    MatchRule(whole_words=True, any_space=True, ignore_case=True),
)


def time_index(folder: Path, rounds: int) -> None:
    """Print how long the phrases take in an index, by each rule."""
    print(f"\n{'ten phrases, fm9':50} ms each  ranges")
    for rule in INDEX_RULES:
        milliseconds, ranges = [], 0
        for _ in range(rounds + 1):  # the first one loads compiled code
            index = open_fm9(folder, SILENT, rule=rule)
            next(index.find(["\x01"]))  # so that the table of characters is there
            started_at = time.perf_counter()
            ranges = sum(len(located.segments) for located in index.find(PHRASES))
            milliseconds.append(1000 * (time.perf_counter() - started_at) / len(PHRASES))
        name = ", ".join(rule.notes) or "exact"
        print(f"{name:50} {statistics.median(milliseconds[1:]):7.2f} {ranges:7,}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--megabytes", type=float, default=200)
    parser.add_argument("--index-megabytes", type=float, default=20)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        texts = make_documents(
            np.random.default_rng(arguments.seed), int(arguments.megabytes * 1e6), "web"
        )
        path = Path(folder) / "corpus.jsonl"
        path.write_bytes(to_jsonl(texts))
        pieces = [
            piece for file in identified(open_corpus(str(path)).files) for piece in split(file)
        ]
        seconds: dict[str, list[float]] = {case.name: [] for case in CASES}
        for _ in range(arguments.rounds):
            for case in CASES:
                seconds[case.name].append(seconds_of(case, pieces))
        n_indexed = round(len(texts) * min(1.0, arguments.index_megabytes / arguments.megabytes))
        small, index = Path(folder) / "small.jsonl", Path(folder) / "index"
        small.write_bytes(to_jsonl(texts[:n_indexed]))
        command = [sys.executable, "-m", "ngramscan", "index", "build", str(small)]
        subprocess.run([*command, "-o", str(index)], check=True, cwd=ROOT)
        time_index(index, arguments.rounds)
    print(f"{arguments.megabytes:g} MB of text, {len(texts):,} documents")
    print(f"{'':20} seconds  speed")
    for case in CASES:
        pairs = zip(seconds[case.baseline], seconds[case.name], strict=True)
        speed = statistics.median(plain / timed for plain, timed in pairs)
        print(f"{case.name:20} {statistics.median(seconds[case.name]):7.2f} {speed:6.2f}")


if __name__ == "__main__":
    main()
