"""Fixtures that tests of several rooms use."""

import json

import pytest

from ngramscan.index_files.fm9.reader import Shard, compile_reader, open_shards
from tests.support.command import invoke
from tests.support.repeated_texts import REPEATED_DOCUMENTS, match_starts


@pytest.fixture(scope="module")
def shard(tmp_path_factory: pytest.TempPathFactory) -> Shard:
    """Return an index of the documents that repeat themselves, whose loops are compiled."""
    folder = tmp_path_factory.mktemp("repeated")
    lines = "".join(f"{json.dumps({'text': text})}\n" for text in REPEATED_DOCUMENTS)
    (folder / "corpus.jsonl").write_text(lines)
    built = invoke("index", "build", folder / "corpus.jsonl", "-o", folder / "index")
    assert built.code == 0, built.stderr
    (opened,) = open_shards(folder / "index")
    compile_reader(opened)
    match_starts(opened, "a b")
    return opened
