from __future__ import annotations

import gzip
import json
import sys
import time
from pathlib import Path

import pytest

from ngramscan.corpora import open_corpus
from ngramscan.errors import CorpusError
from ngramscan.indexes.base import IndexSize, QueryCount
from ngramscan.indexes.scan.index import ScanIndex, ScanOptions
from ngramscan.patterns.files import load_patterns
from ngramscan.progress import Progress
from tests import oracle
from tests.command import run

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

TEXTS = [pattern.text for pattern in load_patterns("f1").patterns]


def write_jsonl(path: Path, texts: list[str]) -> bytes:
    content = "".join(json.dumps({"id": i, "text": t}) + "\n" for i, t in enumerate(texts)).encode()
    path.write_bytes(content)
    return content


def test_a_scan_counts_occurrences_and_documents_and_its_size(
    tmp_path: Path, silent: Progress
) -> None:
    texts = ["step by step by step", "", "é step", "aaa"]
    write_jsonl(tmp_path / "c.jsonl", texts)
    index = ScanIndex(open_corpus(str(tmp_path)), ScanOptions(), silent)
    assert index.size() == IndexSize(None, None)
    queries = ["step by step", "step", "aa", "é"]
    counts = {reply.query: reply for reply in index.counts(queries)}
    assert all(
        isinstance(reply, QueryCount) and reply.source == "scan" for reply in counts.values()
    )
    occurrences, documents = oracle.tally(queries, texts)
    assert [counts[query].occurrences for query in queries] == occurrences == [2, 4, 2, 1]
    assert [counts[query].documents for query in queries] == documents == [1, 2, 1, 1]
    assert index.size() == IndexSize(4, sum(len(text.encode()) for text in texts))


def test_a_corpus_with_a_cut_file_has_no_counts_at_all(tmp_path: Path, silent: Progress) -> None:
    write_jsonl(tmp_path / "a.jsonl", ["a"])
    (tmp_path / "b.jsonl").write_bytes(b'{"text": "a')
    index = ScanIndex(open_corpus(str(tmp_path)), ScanOptions(), silent)
    with pytest.raises(CorpusError, match=r"b\.jsonl:1"):
        list(index.counts(["a"]))
    assert index.size() == IndexSize(None, None)


def test_the_recorded_outputs_are_counted_as_by_brute_force(shared: Path, tmp_path: Path) -> None:
    files = sorted((shared / "data" / "financemath" / "validation").glob("raw_*_outputs/*.json"))
    texts = [row["output"][0] or "" for file in files for row in json.loads(file.read_bytes())]
    assert len(texts) == 2400
    content = write_jsonl(tmp_path / "c.jsonl", texts)
    (tmp_path / "c.jsonl.gz").write_bytes(gzip.compress(content))
    (tmp_path / "c.jsonl.zst").write_bytes(zstd.compress(content))
    expected = oracle.tally(TEXTS, texts)
    assert sum(expected[0]) > 5_000
    for name in ("c.jsonl", "c.jsonl.gz", "c.jsonl.zst"):
        ran = run("count", "f1", "--index", f"scan:{tmp_path / name}", "--format", "csv")
        assert (ran.code, ran.stderr) == (0, "")
        assert [row["query"] for row in ran.rows] == TEXTS
        assert [int(row["occurrences"]) for row in ran.rows] == expected[0]
        assert [int(row["documents"]) for row in ran.rows] == expected[1]


def test_the_embedded_corpus_has_patterns_of_all_methods() -> None:
    started_at = time.monotonic()
    ran = run("count", "f1", "--index", "python", "--format", "csv")
    assert time.monotonic() - started_at < 60
    assert ran.code == 0
    found: dict[str, int] = {}
    for row in ran.rows:
        found[row["method"]] = found.get(row["method"], 0) + int(row["occurrences"])
        assert int(row["documents"]) <= int(row["occurrences"])
    assert set(found) == {"CoT", "PoT", "FP/F-1"}
    assert min(found.values()) > 0
