"""The formats of corpus files."""

from typing import Literal

InputFormat = Literal["jsonl", "text", "warc", "parquet"]
"""The values of `--input-format`."""
