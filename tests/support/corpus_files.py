"""The same documents in every format, for tests of reading."""

import gzip
import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

PACK: dict[str, Callable[[bytes], bytes]] = {"": bytes, ".gz": gzip.compress, ".zst": zstd.compress}


def jsonl(texts: Sequence[str]) -> bytes:
    rows = ({"id": i, "url": url(i), "text": text} for i, text in enumerate(texts))
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


def url(number: int) -> str:
    return f"https://example.org/{'blog' if number % 3 else 'wiki'}/{number}"


def warc_record(number: int, text: str) -> bytes:
    body = text.encode()
    head = (
        f"WARC/1.0\r\nWARC-Type: conversion\r\nWARC-Target-URI: {url(number)}\r\n"
        f"WARC-Date: 2026-11-20T00:00:00Z\r\nWARC-Record-ID: <urn:uuid:{number:032x}>\r\n"
        f"Content-Type: text/plain\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    return head.encode() + body + b"\r\n\r\n"


WARC_INFO = (
    b"WARC/1.0\r\nWARC-Type: warcinfo\r\nWARC-Date: 2026-11-20T00:00:00Z\r\n"
    b"WARC-Record-ID: <urn:uuid:0>\r\nContent-Length: 5\r\n\r\nsoft\n\r\n\r\n"
)


def wet_gz(texts: Sequence[str]) -> bytes:
    records = (gzip.compress(warc_record(i, text), 1) for i, text in enumerate(texts))
    return gzip.compress(WARC_INFO) + b"".join(records)


def wet(texts: Sequence[str]) -> bytes:
    return WARC_INFO + b"".join(warc_record(i, text) for i, text in enumerate(texts))


def parquet(texts: Sequence[str], kind: pa.DataType | None = None, rows: int = 7_000) -> bytes:
    table = pa.table(
        {
            "id": pa.array(range(len(texts))),
            "url": pa.array([url(i) for i in range(len(texts))], pa.string()),
            "text": pa.array(texts, pa.string()).cast(kind or pa.string()),
        }
    )
    sink = pa.BufferOutputStream()
    pq.write_table(table, sink, row_group_size=rows, compression="zstd")
    return bytes(sink.getvalue().to_pybytes())


WRITERS: dict[str, Callable[[Sequence[str]], bytes]] = {
    "c.jsonl": jsonl,
    "c.jsonl.gz": lambda texts: gzip.compress(jsonl(texts), 1),
    "c.jsonl.zst": lambda texts: zstd.compress(jsonl(texts)),
    "c.parquet": parquet,
    "c.warc.wet.gz": wet_gz,
    "c.warc.wet": wet,
}


def write(folder: Path, name: str, texts: Sequence[str]) -> Path:
    path = folder / name
    path.write_bytes(WRITERS[name](texts))
    return path
