"""Indexes on object stores that change while they are asked."""

import threading
from pathlib import Path

import fsspec
import pytest

from tests.support import corpus_files
from tests.support.command import Ran, invoke
from tests.support.in_place_kinds import KINDS, InPlaceKind
from tests.support.object_store import BUCKET, KEYS, ObjectStore, object_store

TEXTS = ("old words of a text", "new words of a text")
QUERIES = ("-e", "old words", "-e", "new words", "-e", "of a text")
ROUNDS, PAUSE_S = 6, 0.3


def built(kind: InPlaceKind, folder: Path, text: str, times: int) -> Path:
    folder.mkdir()
    corpus = corpus_files.write(folder, "c.jsonl", [f"{text} {number}" for number in range(times)])
    spec = kind.spec(folder / "index")
    assert invoke("index", "build", corpus, "-o", spec, *kind.options, "-q").code == 0
    return folder / "index"


def put(store: ObjectStore, index: Path) -> None:
    """Upload an index, as its owner: other accounts may not replace what is there."""
    files = fsspec.filesystem("s3", endpoint_url=store.endpoint)
    for path in sorted(index.glob("*")):
        files.pipe_file(f"{BUCKET}/index/{path.name}", path.read_bytes())


def counted(ran: Ran) -> tuple[int, ...]:
    return tuple(int(row["occurrences"]) for row in ran.rows)


@pytest.mark.integration
@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_an_index_on_s3_that_is_replaced_is_never_a_mixture(
    kind: InPlaceKind, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in KEYS.items():
        monkeypatch.setenv(name, value)
    indexes = [
        built(kind, tmp_path / "old", TEXTS[0], times=300),
        built(kind, tmp_path / "new", TEXTS[1], times=500),
    ]
    right = {(300, 0, 300), (0, 500, 500)}
    is_over = threading.Event()
    with object_store() as store:
        monkeypatch.setitem(fsspec.config.conf, "s3", {"endpoint_url": store.endpoint})
        put(store, indexes[0])

        def replace_again_and_again() -> None:
            turn = 0
            while not is_over.wait(PAUSE_S):
                turn += 1
                put(store, indexes[turn % 2])

        attacker = threading.Thread(target=replace_again_and_again)
        attacker.start()
        spec = ("--index", kind.spec(f"s3://{BUCKET}/index"), *kind.options)
        try:
            for number in range(ROUNDS):
                journal = ("--journal", tmp_path / f"{number}.sqlite", "--format", "csv")
                ran = invoke("count", *QUERIES, *spec, *journal, "--timeout", "9")
                if ran.code == 0:
                    assert counted(ran) in right
                else:
                    assert ran.code in {1, 2}
                    assert "s3://bucket/index" in ran.stderr
        finally:
            is_over.set()
            attacker.join()
