"""Documents of a hosted index, drawn, and of a local one, counted.

    python benchmarks/docnorm.py          # 100 draws of 42 patterns
    python benchmarks/docnorm.py FOLDER   # 200 phrases in 205 MB of text on this machine

The first is against a loopback server that answers after a fixed delay. It prints the command's
wall time against the time of the requests themselves (delay × requests / concurrency, which no
client can go below) and against the same requests sent by plain httpx from a pool of as many
threads, in alternating rounds.

The second compares documents, unions and their ratio with a search of every document, and prints
the processor time per occurrence after the start. FOLDER keeps the corpus and its index.
"""

from __future__ import annotations

import json
import os
import platform
import random
import re
import statistics
import subprocess
import sys
import sysconfig
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pandas as pd
import yaml

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

import ngramscan
from ngramscan.patterns.files import load_patterns
from tests.support.service import ApiServer

DELAY_S = 0.02
CONCURRENCY = 8
DRAWS = 100
ROUNDS = 5
WORDS = ("the", "river", "counted", "a", "lighthouse", "after", "rain", "because", "many", "people")


def write_corpus(file: Path) -> None:
    """Write documents of which each pattern has several hundred occurrences."""
    draw = random.Random(1)
    texts = [pattern.text for pattern in load_patterns("f1").select(["T1", "T2"]).patterns]
    with file.open("w", encoding="utf-8") as lines:
        for number in range(800):
            n = draw.randrange(50, 900)
            words = [draw.choice(WORDS if draw.random() < 0.93 else texts) for _ in range(n)]
            lines.write(json.dumps({"text": " ".join(words), "id": number}) + "\n")


def run_docnorm(url: str, journal: Path) -> float:
    command = [sys.executable, "-m", "ngramscan", "docnorm", "--draws", str(DRAWS), "-q"]
    command += ["--api-url", url, "--journal", str(journal), "--concurrency", str(CONCURRENCY)]
    started_at = time.perf_counter()
    subprocess.run([*command, "--rate", "0"], check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - started_at


def send_plainly(url: str, questions: list[dict[str, Any]]) -> float:
    started_at = time.perf_counter()
    with httpx.Client() as client, ThreadPoolExecutor(CONCURRENCY) as pool:
        for answer in pool.map(lambda question: client.post(url, json=question), questions):
            assert "error" not in answer.json()
    return time.perf_counter() - started_at


def questions_of(server: ApiServer) -> list[dict[str, Any]]:
    """Return what was asked, from the server's log."""
    return [
        {
            **{name: entry[name] for name in ("index", "query_type", "query", "s", "rank")
               if entry.get(name) is not None},
            **({"max_ctx_len": 10_000} if "rank" in entry else {}),
        }
        for entry in server.read_log()
    ]  # fmt: skip


# A local index

TEXT_BYTES = 205_000_000
PHRASES, MOST_OCCURRENCES = 200, 20_000
_SOURCES = (sysconfig.get_paths()["stdlib"], "/usr/share/doc", "/usr/lib/python3", "/usr/share")


def texts_here() -> Iterator[str]:
    """Yield the text files of this machine: sources and documentation, until there are enough."""
    size, seen = 0, set[Path]()
    for root in map(Path, _SOURCES):
        for path in sorted(root.rglob("*")):
            if path.is_symlink() or not path.is_file() or path in seen:
                continue
            seen.add(path)
            try:
                text = path.read_bytes().decode()
            except (OSError, UnicodeDecodeError):
                continue
            if text and "\0" not in text:
                size += len(text.encode())
                yield text
            if size >= TEXT_BYTES:
                return


def build(folder: Path) -> tuple[Path, Path]:
    """Return the corpus and its index, which are made if they aren't there."""
    corpus, index = folder / "corpus.jsonl", folder / "index"
    if not corpus.exists():
        folder.mkdir(parents=True, exist_ok=True)
        with corpus.open("w", encoding="utf-8") as lines:
            lines.writelines(json.dumps({"text": text}) + "\n" for text in texts_here())
    command = [sys.executable, "-m", "ngramscan", "index", "build", str(corpus), "-o", str(index)]
    if not index.exists():
        subprocess.run(command, check=True)
    return corpus, index


def choose_phrases(texts: Sequence[bytes], index: str) -> list[str]:
    """Return phrases of one to four words, as many of each power of two of occurrences."""
    draw = random.Random(1)
    found = set[str]()
    for text in draw.sample(texts, 3_000):
        words = re.findall(r"[\w.'-]+", text.decode())
        for _ in range(3):
            start, length = draw.randrange(len(words) or 1), draw.randint(1, 4)
            phrase = " ".join(words[start : start + length])
            found |= {phrase} if phrase.strip() else set()
    counts = ngramscan.count(literal=sorted(found), index=index)
    by_size: dict[int, list[str]] = {}
    for phrase, n in zip(counts["pattern"], counts["occurrences"], strict=True):
        if 0 < n <= MOST_OCCURRENCES:
            by_size.setdefault(int(n).bit_length(), []).append(phrase)
    groups = [draw.sample(group, len(group)) for group in by_size.values()]
    in_turn = [group[i] for i in range(len(found)) for group in groups if i < len(group)]
    return in_turn[:PHRASES]


def search(
    texts: Sequence[bytes], phrases: Sequence[str]
) -> tuple[Counter[str], dict[str, set[int]]]:
    """Return the occurrences of each phrase, overlapping ones too, and its documents."""
    occurrences, documents = Counter[str](), {phrase: set[int]() for phrase in phrases}
    for number, text in enumerate(texts):
        for phrase in phrases:
            needle = phrase.encode()
            start = text.find(needle)
            while start >= 0:
                occurrences[phrase] += 1
                documents[phrase].add(number)
                start = text.find(needle, start + 1)
    return occurrences, documents


def measure_local(folder: Path) -> None:
    corpus, directory = build(folder)
    index = f"fm9:{directory}"
    with corpus.open(encoding="utf-8") as lines:
        texts = [json.loads(line)["text"].encode() for line in lines]
    phrases = choose_phrases(texts, index)
    methods = {"A": phrases[::2], "B": phrases[1::2]}
    patterns = [
        {"method": method, "tier": "T1", "kind": "narrative", "text": phrase}
        for method, own in methods.items()
        for phrase in own
    ]
    (folder / "phrases.yaml").write_text(yaml.safe_dump({"name": "p", "patterns": patterns}))
    ngramscan.docnorm(literal="a", index=index, exact_up_to=1, draws=2)  # the start
    started_at, at_work = time.perf_counter(), time.process_time()
    rows = ngramscan.docnorm(folder / "phrases.yaml", index=index, totals=folder / "totals.csv")
    seconds, processor_s = time.perf_counter() - started_at, time.process_time() - at_work
    occurrences, documents = search(texts, phrases)
    for row in rows.to_dict("records"):
        n, truth = occurrences[row["pattern"]], len(documents[row["pattern"]])
        names = ("occurrences", "documents", "documents_low", "documents_high", "estimator")
        assert [row[name] for name in names] == [n, truth, truth, truth, "exact"], row
    totals = pd.read_csv(folder / "totals.csv").set_index(["statistic", "method"])["value"]
    unions = {m: len(set().union(*(documents[one] for one in own))) for m, own in methods.items()}
    assert all(totals["documents", method] == n for method, n in unions.items())
    assert totals["ratio_of_documents", "B"] == unions["B"] / unions["A"]
    total = int(rows["occurrences"].sum())
    print(f"{len(texts):,} documents, {sum(map(len, texts)):,} bytes")
    print(f"{len(rows)} phrases of {rows['occurrences'].min()} to {rows['occurrences'].max():,}")
    print(f"{total:,} occurrences, all documents, unions {unions} and their ratio as searched")
    each = processor_s / total * 1e6
    print(f"{seconds:.1f} s, {processor_s:.1f} s of processor: {each:.1f} µs per occurrence")


# A hosted index


def measure_hosted() -> None:
    seconds: dict[str, list[float]] = {"docnorm": [], "plain httpx": []}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_corpus(folder / "c.jsonl")
        with ApiServer({"v2_dclm_all": [folder / "c.jsonl"]}, delay=DELAY_S) as server:
            run_docnorm(server.url, folder / "warm.sqlite")
            questions = questions_of(server)
            for number in range(ROUNDS):
                seconds["docnorm"].append(run_docnorm(server.url, folder / f"{number}.sqlite"))
                seconds["plain httpx"].append(send_plainly(server.url, questions))
    floor_s = DELAY_S * len(questions) / CONCURRENCY
    print(f"{platform.platform()}, {os.cpu_count()} cores, Python {platform.python_version()}")
    print(f"{len(questions)} requests; alone: {floor_s:.2f} s")
    for name, values in seconds.items():
        median = statistics.median(values)
        print(f"{name:12} median {median:.2f} s, {median / floor_s:.2f} of the requests alone")
    print(json.dumps(seconds))


if __name__ == "__main__":
    if sys.argv[1:]:
        measure_local(Path(sys.argv[1]))
    else:
        measure_hosted()
