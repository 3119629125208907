"""The documents of the recorded indexes, by file and as texts."""

import json

from tests.support.places import REPLAY

SHARDS = [REPLAY / "docs" / "a.jsonl", REPLAY / "docs" / "b.jsonl"]
TEXTS = [
    json.loads(line)["text"] for file in SHARDS for line in file.read_text().split("\n") if line
]
