"""A corpus → a copy of its files without some documents or passages."""

from ngramscan.corpora.rewriting.passages import locate_passages
from ngramscan.corpora.rewriting.removals import WHOLE_RECORD, Removal
from ngramscan.corpora.rewriting.writing import (
    WrittenFile,
    refuse_overlap,
    refuse_unwritable,
    write_without,
)

__all__ = [
    "WHOLE_RECORD",
    "Removal",
    "WrittenFile",
    "locate_passages",
    "refuse_overlap",
    "refuse_unwritable",
    "write_without",
]
