"""Traces in indexes of others, whose answers fail, are cut or late, or whose workers die.

Every trace has the rows of an undisturbed one, or ends with an error.
"""

import json
import random
import threading
from pathlib import Path

import pytest

from tests.support.command import Ran, invoke, without
from tests.support.dask_cluster import dask_cluster
from tests.support.places import TOKENS
from tests.support.service import FAULT_KINDS, ApiServer, Faults
from tests.support.token_service import TokenServer

pytestmark = pytest.mark.integration

NAME = "v4_pysmall_llama_s3"
TOKENIZER = TOKENS / "llamalike.model"
CORPUS = TOKENS / "corpus_small.jsonl"
KINDS = [*FAULT_KINDS, "cut"]


@pytest.fixture
def outputs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return outputs that copy documents."""
    monkeypatch.chdir(tmp_path)
    draw = random.Random(1)
    texts = [json.loads(line)["text"] for line in CORPUS.read_text().splitlines()]
    Path("corpus.jsonl").write_text("".join(json.dumps({"text": text}) + "\n" for text in texts))
    copies = [f"So, {text[:60]} and {text[20:90]}" for text in draw.sample(texts, 4)]
    rows = [json.dumps({"id": number, "output": text}) for number, text in enumerate(copies)]
    Path("o.jsonl").write_text("\n".join(rows))
    return tmp_path / "o.jsonl"


def trace(outputs: Path, *options: str | Path) -> Ran:
    ran = invoke("trace", outputs, "--format", "csv", *options)
    assert ran.code == 0, ran.stderr
    assert ran.rows
    return ran


def refuse_other_rows(far: Ran, near: Ran) -> None:
    assert without(far.rows, "index") == without(near.rows, "index")


def faults(kind: str) -> Faults:
    return Faults(seed=1, rate=0.1, kinds=(kind,), stall_s=0.05)


@pytest.mark.parametrize("kind", KINDS)
def test_a_service_whose_answers_fail_gives_the_rows_of_its_corpus(
    kind: str, outputs: Path
) -> None:
    near = trace(outputs, "--index", "scan:corpus.jsonl", "--workers", "1")
    with ApiServer({"x": Path("corpus.jsonl").absolute()}, faults=faults(kind)) as server:
        far = trace(outputs, "--index", f"{server.url}x", "--rate", "500")
    refuse_other_rows(far, near)


@pytest.mark.parametrize("kind", KINDS)
def test_a_service_of_tokens_that_fails_gives_the_rows_of_its_files(
    kind: str, outputs: Path
) -> None:
    near = trace(outputs, "--index", f"tokens:{TOKENS / NAME}", "--tokenizer", TOKENIZER)
    with TokenServer({NAME: (TOKENS / NAME, TOKENIZER)}, faults=faults(kind)) as server:
        far = trace(outputs, "--index", f"infini-gram:{server.url}{NAME}", "--rate", "500")
    refuse_other_rows(far, near)


def test_a_cluster_of_which_a_worker_dies_gives_the_same_rows(outputs: Path) -> None:
    folder = outputs.parent / "corpus"
    folder.mkdir()
    lines = Path("corpus.jsonl").read_text().splitlines(keepends=True)
    for number in range(30):
        (folder / f"{number}.jsonl").write_text("".join(lines[number::30]))
    near = trace(outputs, "--index", f"scan:{folder}", "--workers", "1")
    with dask_cluster(outputs.parent) as cluster:
        cluster.start_worker()
        doomed = cluster.start_worker()
        killer = threading.Timer(0.3, doomed.kill)
        killer.start()
        far = trace(outputs, "--index", f"scan:{folder}", "--scheduler", cluster.address)
        killer.join()
    refuse_other_rows(far, near)
