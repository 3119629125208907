"""The names of the formats of corpus files, which `corpora.formats` lists with their readers."""

from typing import Literal

InputFormat = Literal["jsonl", "text", "warc", "parquet", "arrow", "csv", "tsv"]
"""The values of `--input-format`."""
