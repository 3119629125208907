"""Buckets whose readers pay, in a store that denies and checks requests as S3 does."""

import os
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import fsspec
import pytest

import ngramscan
from ngramscan.errors import InputError, RemoteRefused
from ngramscan.indexes.catalog import REQUESTER_PAYS_BUCKETS
from ngramscan.remote.ranges import RangeOptions, Ranges
from ngramscan.remote.requester_pays import (
    dollars_for,
    is_configured,
    is_on_s3,
    refuse_unpaid,
    store_options,
)
from tests.support.command import Ran, invoke, invoke_ending, without
from tests.support.corpus_files import jsonl
from tests.support.object_store import BUCKET, KEYS, ObjectStore, object_store
from tests.support.paying_store import PayingStore, paying_store
from tests.support.places import REPLAY

INDEX = REPLAY / "index" / "replay2"
"""Two shards without a manifest, so that they are listed."""
IN_PLACE = f"fm9:s3://{BUCKET}/index"
TEXTS = ("-e", "step by step", "-e", "the answer is", "-e", "no such words at all")
DOCUMENTS = ["one step and one step more", "no words of this kind", "a step"]
PRICES = "about $0.40 per million requests and $0.09 per GB to the internet"
CURE = f"the bucket's owner has the reader pay ({PRICES}): --requester-pays, with credentials of"
KEYS_CURE = "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or run: aws configure"


@pytest.fixture(scope="module")
def moto() -> Iterator[ObjectStore]:
    with object_store() as store:
        for path in sorted(INDEX.glob("*/*")):
            store.put(f"{BUCKET}/index/{path.relative_to(INDEX)}", path.read_bytes())
        for number, document in enumerate(DOCUMENTS):
            store.put(f"{BUCKET}/corpus/{number}.jsonl", jsonl([document]))
        yield store


@pytest.fixture
def store(moto: ObjectStore, monkeypatch: pytest.MonkeyPatch) -> Iterator[PayingStore]:
    """Have a store answer for S3, and give its clients the right credentials."""
    with paying_store(moto) as answering:
        for name, value in KEYS.items():
            monkeypatch.setenv(name, value)
        monkeypatch.setenv("AWS_ENDPOINT_URL", answering.endpoint)
        monkeypatch.setenv("AWS_CONFIG_FILE", os.devnull)
        monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", os.devnull)
        monkeypatch.delitem(fsspec.config.conf, "s3", raising=False)
        clients = fsspec.get_filesystem_class("s3")
        clients.clear_instance_cache()
        yield answering
        clients.clear_instance_cache()


def forget_credentials(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.delenv(name)


def count(tmp_path: Path, index: str, *options: str) -> Ran:
    journal = str(tmp_path / "journal.sqlite")
    return invoke("count", *TEXTS, "--index", index, "--journal", journal, *options)


def refused(tmp_path: Path, index: str, *options: str, code: int = 1) -> str:
    ran = count(tmp_path, index, *options)
    assert (ran.code, ran.stdout) == (code, "")
    return ran.stderr


def test_an_index_is_counted_as_locally_where_the_reader_pays(
    store: PayingStore, tmp_path: Path
) -> None:
    paid = count(tmp_path, IN_PLACE, "--requester-pays", "--format", "csv")
    local = count(tmp_path, f"fm9:{INDEX}", "--format", "csv")
    assert (paid.code, paid.stderr) == (0, "")
    assert without(paid.rows, "index", "asked_at") == without(local.rows, "index", "asked_at")
    # Listing too, and no request without the payer, which the owner would pay.
    assert store.charged == store.answered
    assert any("?prefix=index/" in request.path for request in store.charged)
    assert any(request.path.endswith("1/data.fm9") for request in store.charged)


def test_a_chain_to_s3_is_read_where_the_reader_pays(store: PayingStore) -> None:
    content = (INDEX / "0" / "data.fm9").read_bytes()
    url = f"simplecache::s3://{BUCKET}/index/0/data.fm9"
    with Ranges(RangeOptions()) as ranges, pytest.raises(RemoteRefused, match="Forbidden"):
        ranges.run(ranges.require(url))
    assert store.charged == []
    with Ranges(RangeOptions(requester_pays=True)) as ranges:
        file = ranges.run(ranges.require(url))
        assert ranges.run(ranges.read(file, 5000, 5009)) == content[5000:5009]
        assert ranges.run(ranges.list(f"simplecache::s3://{BUCKET}/index")) == ["0/", "1/"]
    assert store.charged != []


@pytest.mark.parametrize("has_credentials", [True, False], ids=["signed", "anonymous"])
def test_a_refusal_without_the_option_has_the_cure_and_its_price(
    store: PayingStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, has_credentials: bool
) -> None:
    if not has_credentials:
        forget_credentials(monkeypatch)
    message = refused(tmp_path, IN_PLACE)
    assert f"Error: s3://{BUCKET}/index/" in message
    assert f"HTTP 403, access denied; is it public, is its name right? If {CURE}" in message
    assert {request.code for request in store.answered} == {"AccessDenied"}
    assert any(request.is_signed for request in store.answered) == has_credentials


def test_in_python_the_option_is_named_as_a_keyword(store: PayingStore, tmp_path: Path) -> None:
    with pytest.raises(RemoteRefused, match=r"internet\): requester_pays, with credentials"):
        ngramscan.count(literal="step", index=IN_PLACE, journal=tmp_path / "journal")
    assert store.charged == []


def test_who_pays_without_credentials_gets_one_line_and_sends_nothing(
    store: PayingStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    forget_credentials(monkeypatch)
    message = refused(tmp_path, IN_PLACE, "--requester-pays")
    assert message.startswith(f"Error: s3://{BUCKET}/index/")
    assert message.endswith(f": who pays must sign, and there are no credentials; {KEYS_CURE}\n")
    assert message.count("\n") == 1
    assert store.answered == []


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("AWS_ACCESS_KEY_ID", "InvalidAccessKeyId"),
        ("AWS_SECRET_ACCESS_KEY", "SignatureDoesNotMatch"),
    ],
)
def test_wrong_credentials_are_said_to_be_wrong(
    store: PayingStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, code: str
) -> None:
    monkeypatch.setenv(name, "wrong")
    message = refused(tmp_path, IN_PLACE, "--requester-pays")
    assert f": HTTP 403, S3 refuses the credentials ({code}); {KEYS_CURE}" in message
    assert store.charged == []


@pytest.mark.parametrize(
    ("decision", "is_paid"),
    [
        (True, True),
        ("True", True),
        ("yes", True),
        (False, False),
        ("False", False),  # as it is in the environment, where fsspec reads JSON
        ("0", False),
        ("", False),
    ],
    ids=repr,
)
def test_the_configuration_of_fsspec_decides_without_the_option(
    store: PayingStore,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    decision: object,
    is_paid: bool,
) -> None:
    monkeypatch.setitem(fsspec.config.conf, "s3", {"requester_pays": decision})
    assert is_configured() == is_paid
    for index in (IN_PLACE, f"scan:s3://{BUCKET}/corpus/0.jsonl"):
        store.answered.clear()
        assert (count(tmp_path, index, "--format", "csv").code == 0) == is_paid
        assert bool(store.charged) == is_paid


def test_an_expired_signature_is_renewed_with_the_payer(store: PayingStore) -> None:
    content = (INDEX / "0" / "data.fm9").read_bytes()
    with Ranges(RangeOptions(requester_pays=True)) as ranges:
        file = ranges.run(ranges.require(f"s3://{BUCKET}/index/0/data.fm9"))
        first_address = file.address
        assert ranges.run(ranges.read(file, 5000, 5009)) == content[5000:5009]
        time.sleep(1.1)  # signatures have whole seconds
        store.signed_until = datetime.now(UTC).replace(microsecond=0)
        file.asked_at -= 3600
        store.answered.clear()
        assert ranges.run(ranges.read(file, 6000, 6009)) == content[6000:6009]
        assert ranges.run(ranges.read(file, 7000, 7009)) == content[7000:7009]
    assert file.address != first_address
    assert {request.code for request in store.answered} == {"AccessDenied", ""}
    assert all(request.is_charged or request.code for request in store.answered)


def test_what_failed_is_asked_for_again_with_the_payer(store: PayingStore) -> None:
    content = (INDEX / "0" / "data.fm9").read_bytes()
    with Ranges(RangeOptions(requester_pays=True)) as ranges:
        file = ranges.run(ranges.require(f"s3://{BUCKET}/index/0/data.fm9"))
        store.failures_left = 1  # after which aiohttp asks
        assert ranges.run(ranges.read(file, 5000, 5009)) == content[5000:5009]
    assert store.failures_left == 0
    assert store.charged == store.answered


@pytest.mark.parametrize("place", ["corpus/", "corpus/*.jsonl", "list"])
def test_corpora_are_read_where_the_reader_pays(
    store: PayingStore, tmp_path: Path, place: str
) -> None:
    corpus = f"scan:s3://{BUCKET}/{place}"
    if place == "list":
        names = [f"s3://{BUCKET}/corpus/{number}.jsonl" for number in range(len(DOCUMENTS))]
        (tmp_path / "list.txt").write_text("\n".join(names))
        corpus = f"scan:@{tmp_path / 'list.txt'}"
    options = ("--index", corpus, "--journal", str(tmp_path / "journal"), "--format", "csv")
    unpaid = invoke("count", "-e", "step", *options)
    assert (unpaid.code == 0, CURE in unpaid.stderr) == (False, True)
    assert store.charged == []
    store.answered.clear()
    # Two processes: what the user decided reaches those that read.
    paid = invoke_ending(0, "count", "-e", "step", *options, "--workers", "2", "--requester-pays")
    words = sum(document.count("step") for document in DOCUMENTS)
    assert [int(row["occurrences"]) for row in paid.rows] == [words]
    assert store.charged == store.answered != []


def test_a_corpus_without_credentials_says_how_to_set_them(
    store: PayingStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    forget_credentials(monkeypatch)
    message = refused(tmp_path, f"scan:s3://{BUCKET}/corpus/", "--requester-pays", code=2)
    assert message.endswith(f"(Unable to locate credentials); {KEYS_CURE}\n")
    assert store.answered == []


def test_an_index_is_built_of_a_corpus_whose_reader_pays(
    store: PayingStore, tmp_path: Path
) -> None:
    build = ("index", "build", f"s3://{BUCKET}/corpus/", "-o", tmp_path / "index", "-q")
    assert CURE in invoke_ending(2, *build).stderr
    assert store.charged == []
    invoke_ending(0, *build, "--requester-pays")
    ran = invoke_ending(
        0, "count", "-e", "step", "--index", f"fm9:{tmp_path / 'index'}", "--format", "csv"
    )
    assert [row["occurrences"] for row in ran.rows] == ["3"]


@pytest.mark.parametrize("kind", ["fm9:", "scan:"])
def test_a_bucket_known_for_paying_readers_gets_no_other_request(
    store: PayingStore, tmp_path: Path, kind: str
) -> None:
    (bucket,) = REQUESTER_PAYS_BUCKETS
    place = f"{kind}s3://{bucket}/index/x"
    message = refused(tmp_path, place, code=2)
    problem = f"the bucket's owner has the reader pay, {PRICES}"
    cure = "to pay: --requester-pays, with credentials of your account"
    assert message == f"Error: s3://{bucket}: {problem}; {cure}\n"
    assert (store.answered, store.region_lookups) == ([], 0)
    assert count(tmp_path, place, "--requester-pays").code != 0  # the store has no such bucket
    assert store.answered[0].path.startswith(f"/{bucket}")
    assert all(request.is_charged for request in store.answered)


def test_an_address_on_the_web_of_a_bucket_leads_to_the_option(
    store: PayingStore, tmp_path: Path
) -> None:
    message = refused(tmp_path, f"fm9:{store.endpoint}/{BUCKET}/index")
    cure = "If the bucket's owner has the reader pay, use s3://… with --requester-pays\n"
    assert message.endswith(f"has a signed URL expired? {cure}")


@pytest.mark.parametrize("index", [f"fm9:{INDEX}", "python", "https://127.0.0.1:9/x"])
def test_the_option_is_refused_where_nothing_is_on_s3(tmp_path: Path, index: str) -> None:
    message = refused(tmp_path, index, "--requester-pays", code=2)
    problem = f"only addresses that begin with s3:// take it, not {index}"
    assert message == f"Error: --requester-pays: {problem}\n"


def test_the_option_in_the_environment_is_for_all_commands(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NGRAMSCAN_REQUESTER_PAYS", "1")
    assert count(tmp_path, f"fm9:{INDEX}").code == 0


@pytest.mark.parametrize(
    "command",
    [
        ("count", "-e", "step by step"),
        ("contexts", "-e", "step by step"),
        ("docnorm", "-e", "step by step"),
        ("sources", "-e", "step by step", "--by", "url-host"),
        ("trace", "TEXT.txt", "--plain"),
        ("contaminate", "ENTRIES.jsonl"),
    ],
    ids=lambda command: command[0],
)
def test_plans_have_the_charge_of_s3_and_say_who_pays(
    store: PayingStore, tmp_path: Path, command: tuple[str, ...]
) -> None:
    (tmp_path / "TEXT.txt").write_text("let us go on step by step, and then the answer is 5")
    question = b'{"question": "let us go on step by step to 5 of it, as others do it"}'
    (tmp_path / "ENTRIES.jsonl").write_bytes(question)
    given = [tmp_path / part if (tmp_path / part).exists() else part for part in command]
    options = ("--index", IN_PLACE, "--dry-run", "--journal", tmp_path / "journal")
    ran = invoke_ending(0, *given, *options, "--requester-pays", "--format", "csv")
    (row,) = ran.rows
    # 40 cents for a million requests, 9 for a gigabyte.
    charge = int(row["requests"]) * 0.4e-6 + int(row["bytes"]) * 9e-11
    assert float(row["dollars"]) == pytest.approx(charge, rel=0.006)
    assert charge > 0
    said = "S3 charges less than a cent for this, to your account where the bucket's owner has"
    assert said in ran.stderr
    assert store.charged == store.answered


@pytest.mark.parametrize("index", [f"fm9:{INDEX}", "dclm"])
def test_plans_of_other_indexes_have_no_charge(index: str) -> None:
    ran = invoke_ending(0, "count", *TEXTS, "--index", index, "--dry-run", "--format", "csv")
    assert [row["dollars"] for row in ran.rows] == [""]
    assert "S3" not in ran.stderr


def test_the_owner_of_a_public_bucket_pays(
    moto: ObjectStore, store: PayingStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", moto.endpoint)
    ran = count(tmp_path, IN_PLACE, "--dry-run")
    assert ran.code == 0
    assert "S3 charges less than a cent for this, to the bucket's owner\n" in ran.stderr
    assert store.answered == []


def test_the_charge_of_requests_and_bytes() -> None:
    assert dollars_for(1_000_000, 0) == pytest.approx(0.40)
    assert dollars_for(0, 2_000_000_000) == pytest.approx(0.18)


@pytest.mark.parametrize(
    ("url", "options", "is_there"),
    [
        ("s3://bucket/f", {"s3": {"requester_pays": True}}, True),
        ("s3a://bucket/f", {"s3a": {"requester_pays": True}}, True),
        ("simplecache::s3://bucket/f", {"s3": {"requester_pays": True}}, True),
        ("https://s3.amazonaws.com/bucket/f", {}, False),
        ("hs3://bucket/f", {}, False),
        ("/folder/s3/f", {}, False),
    ],
)
def test_which_addresses_are_on_s3(url: str, options: dict[str, object], is_there: bool) -> None:
    assert store_options(url, True) == options
    assert is_on_s3(url) == is_there


def test_all_parts_of_an_address_may_be_in_buckets_whose_readers_pay() -> None:
    paying = frozenset({"theirs"})
    refuse_unpaid("s3://ours/a,s3://theirs-too/b", False, paying)
    refuse_unpaid("s3://theirs/a", True, paying)
    for url in ("s3://ours/a,s3://theirs/b", "simplecache::s3://theirs/b", "s3a://theirs"):
        with pytest.raises(InputError, match=r"^s3://theirs: the bucket's owner has the "):
            refuse_unpaid(url, False, paying)
