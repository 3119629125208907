"""The formats of corpus files."""

from typing import Literal

InputFormat = Literal["jsonl", "text", "warc", "parquet", "arrow", "csv", "tsv"]
"""The values of `--input-format`."""
