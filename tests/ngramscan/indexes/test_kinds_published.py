"""Published indexes by name, on a store in place of S3: the rows of a local copy."""

import os
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path

import fsspec
import pytest

from ngramscan.indexes.catalog import PUBLISHED_UNIONS, published_urls
from tests.support.command import Ran, invoke, without
from tests.support.in_place_kinds import OF_A_RUN
from tests.support.object_store import KEYS, ObjectStore, object_store
from tests.support.paying_store import paying_store
from tests.support.places import TOKENS

pytestmark = pytest.mark.integration
SOURCE = TOKENS / "v4_pysmall_llama_s3"
LLAMA = TOKENS / "llamalike.model"
TEXTS = ("-e", "step by step", "-e", "the file", "-e", "no such words at all")
PILE = "tokens:s3://infini-gram-lite/index/v4_pileval_llama"
UNION = PUBLISHED_UNIONS["olmo-2-32b"]


@pytest.fixture(scope="module")
def moto() -> Iterator[ObjectStore]:
    """Run a store with the two buckets of the catalog, in which all indexes are one of ours."""
    with object_store() as store:
        store.put("infini-gram")
        store.put("infini-gram-lite")
        urls = [url for name in ("pileval", *UNION) for url in published_urls(name)]
        for url in urls:
            for path in sorted(SOURCE.iterdir()):
                store.put(f"{url.removeprefix('s3://')}/{path.name}", path.read_bytes())
        yield store


@pytest.fixture
def connect(monkeypatch: pytest.MonkeyPatch) -> Iterator[pytest.MonkeyPatch]:
    """Forget stores and credentials before and after a test."""
    clients = fsspec.get_filesystem_class("s3")
    monkeypatch.delitem(fsspec.config.conf, "s3", raising=False)
    monkeypatch.setenv("AWS_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", os.devnull)
    for name, value in KEYS.items():
        monkeypatch.setenv(name, value)
    clients.clear_instance_cache()
    yield monkeypatch
    clients.clear_instance_cache()


def run(command: str, index: str, journal: Path, *options: str) -> Ran:
    given: Sequence[str | Path] = ("--tokenizer", LLAMA, "--journal", journal, "--format", "csv")
    return invoke(command, *TEXTS, "--index", index, *given, *options)


def test_a_name_an_alias_and_the_url_are_one_index(
    moto: ObjectStore, connect: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    connect.setenv("AWS_ENDPOINT_URL", moto.endpoint)
    journal = tmp_path / "journal"
    by_name = run("count", "tokens:public/v4_pileval_llama", journal)
    local = run("count", f"tokens:{SOURCE}", journal)
    assert (by_name.code, by_name.stderr) == (0, "")
    assert without(by_name.rows, *OF_A_RUN) == without(local.rows, *OF_A_RUN)
    assert int(by_name.rows[0]["occurrences"]) > 0
    assert {row["index"] for row in by_name.rows} == {PILE}
    for index in ("tokens:public/PileVal", PILE, f"{PILE}/"):
        again = run("count", index, journal)
        assert without(again.rows, "source") == without(by_name.rows, "source")
        assert {row["source"] for row in again.rows} == {"journal"}


def test_draws_in_published_files_are_those_in_a_local_copy(
    moto: ObjectStore, connect: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    connect.setenv("AWS_ENDPOINT_URL", moto.endpoint)
    copy = shutil.copytree(SOURCE, tmp_path / "v4_pileval_llama")
    drawn = ("--draws", "7", "--exact-up-to", "0")
    far = run("docnorm", "tokens:public/pileval", tmp_path / "journal", *drawn)
    near = run("docnorm", f"tokens:{copy}", tmp_path / "journal", *drawn)
    assert (far.code, near.code) == (0, 0)
    assert without(far.rows, "index") == without(near.rows, "index")
    assert far.rows[0]["draws"] == "7"


def test_all_training_data_of_a_model_is_one_index_that_readers_pay(
    moto: ObjectStore, connect: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    index, journal = "tokens:public/olmo-2-32b", tmp_path / "journal"
    with paying_store(moto) as store:
        connect.setenv("AWS_ENDPOINT_URL", store.endpoint)
        refused = run("count", index, journal)
        assert (refused.code, refused.stdout) == (2, "")
        assert "Error: s3://infini-gram: the bucket's owner has the reader pay" in refused.stderr
        assert store.answered == []
        paid = run("count", index, journal, "--requester-pays")
        assert (paid.code, paid.stderr) == (0, "")
        assert store.charged == store.answered
    local = run("count", f"tokens:{SOURCE}", journal)
    assert [int(row["occurrences"]) for row in paid.rows] == [
        len(UNION) * int(row["occurrences"]) for row in local.rows
    ]
    urls = ",".join(url for name in UNION for url in published_urls(name))
    assert {row["index"] for row in paid.rows} == {f"tokens:{urls}"}
