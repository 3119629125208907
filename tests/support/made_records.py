"""Records of replies, made for tests."""

from typing import Any

from evalcore.records import Record


def recorded(**fields: Any) -> Record:
    """Return the record of the answer 4 to problem 1, with other fields where they are given."""
    known = {"dataset": "sums", "model": "lab/made-1", "method": "cot", "parameters": {}}
    return Record(**{"id": "1", "output": "4"} | known | fields)
