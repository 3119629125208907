"""Corpora and index files on web servers: real ones, and one that fails on purpose."""

import io
import json
import os
import shutil
from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ngramscan.errors import IndexChangedError
from ngramscan.remote.ranges import RangeOptions, Ranges
from tests.support.command import invoke
from tests.support.in_place_kinds import KINDS, InPlaceKind
from tests.support.packers import PACKERS
from tests.support.range_server import Faults, RangeServer
from tests.support.real_servers import SERVERS, free_port, nginx, tinyproxy
from tests.support.service import ApiServer

TEXT, OTHER = "a the b", "a eht b"
OLD = 1_500_000_000
"""A time of change long ago."""
NAMES = {"first": TEXT, "second": OTHER}
EACH_KIND = pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
PROXIES = ("http_proxy", "https_proxy", "all_proxy", "no_proxy")


@pytest.fixture(autouse=True)
def no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in PROXIES:
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)


def write(path: Path, text: str = TEXT, lines: int = 5, at: float = OLD) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"{json.dumps({'text': text})}\n" * lines)
    os.utime(path, (at, at))
    return path


def count(url: str, journal: Path, *options: str, literal: str = " the ") -> Any:
    return count_in(f"scan:{url}", journal, *options, literal=literal)


def count_in(index: str, journal: Path, *options: str, literal: str) -> Any:
    return invoke(
        "count", "-e", literal, "--index", index, "--journal", journal, "--format=csv", *options
    )


def occurrences(ran: Any) -> int:
    assert ran.code == 0, ran.stderr
    (row,) = ran.rows
    return int(row["occurrences"])


@pytest.fixture
def root(tmp_path: Path) -> Path:
    write(tmp_path / "root" / "f.jsonl")
    (tmp_path / "root").chmod(0o755)
    for folder in (tmp_path, *tmp_path.parents):  # a server may run as another user
        if folder.owner() == Path(tmp_path).owner() and folder != Path("/"):
            folder.chmod(folder.stat().st_mode | 0o055)
    return tmp_path / "root"


# What tells one file from another


@pytest.mark.parametrize("kind", ["etag", "weak", "date", "no_etag"])
def test_a_file_that_was_replaced_is_counted_anew(kind: str, tmp_path: Path) -> None:
    file = write(tmp_path / "root" / kind / "f.jsonl")
    with RangeServer(tmp_path / "root", faults=Faults(always={f"{kind}/": kind})) as server:
        url = f"{server.url}{kind}/f.jsonl"
        assert occurrences(count(url, tmp_path / "journal")) == 5
        again = count(url, tmp_path / "journal")
        assert occurrences(again) == 5
        assert ("using cached results" in again.stderr) == (kind != "no_etag")
        assert ("are not kept" in again.stderr) == (kind == "no_etag")
        write(file, OTHER, at=OLD + 60)
        assert occurrences(count(url, tmp_path / "journal")) == 0


def test_a_listed_file_that_was_replaced_is_counted_anew(tmp_path: Path) -> None:
    file = write(tmp_path / "root" / "f.jsonl")
    (tmp_path / "root" / "all.paths").write_text("f.jsonl\n")
    with RangeServer(tmp_path / "root") as server:
        assert occurrences(count(f"{server.url}all.paths", tmp_path / "journal")) == 5
        again = count(f"{server.url}all.paths", tmp_path / "journal")
        assert "using cached results" in again.stderr
        write(file, OTHER, at=OLD + 60)
        assert occurrences(count(f"{server.url}all.paths", tmp_path / "journal")) == 0


def test_addresses_that_differ_in_their_query_alone_are_two_files(tmp_path: Path) -> None:
    write(tmp_path / "root" / "f.jsonl")
    with RangeServer(tmp_path / "root") as server:
        assert occurrences(count(f"{server.url}f.jsonl?id=1", tmp_path / "journal")) == 5
        other = count(f"{server.url}f.jsonl?id=2", tmp_path / "journal")
        assert "using cached results" not in other.stderr


def test_two_addresses_that_rows_can_not_tell_apart_are_refused(tmp_path: Path) -> None:
    write(tmp_path / "root" / "f.jsonl")
    with RangeServer(tmp_path / "root") as server:
        ran = count(
            f"{server.url}f.jsonl?id=1", tmp_path / "j", "--index", f"scan:{server.url}f.jsonl?id=2"
        )
    assert ran.code == 2
    assert "differ only in the query" in ran.stderr


# Addresses


@pytest.mark.parametrize("server", SERVERS)
@pytest.mark.parametrize(
    ("name", "address"),
    [
        pytest.param("f.jsonl", "f.jsonl", id="plain"),
        pytest.param("f.jsonl", "f.jsonl?download=true", id="query"),
        pytest.param("f.jsonl", "f.jsonl?X-Amz-Signature=a%2Fb&X-Amz-Expires=60", id="presigned"),
        pytest.param("f.jsonl", "f.jsonl#part", id="fragment"),
        pytest.param("a b.jsonl", "a b.jsonl", id="space"),
        pytest.param("a b.jsonl", "a%20b.jsonl", id="escaped space"),
        pytest.param("a+b.jsonl", "a+b.jsonl", id="plus"),
        pytest.param("a#b.jsonl", "a%23b.jsonl", id="escaped number sign"),
        pytest.param("100%.jsonl", "100%.jsonl", id="percent"),
        pytest.param("ü-北京.jsonl", "ü-北京.jsonl", id="unicode"),
        pytest.param("f.jsonl", "", id="folder"),
        pytest.param("f.jsonl", "*.jsonl", id="glob"),
    ],
)
def test_any_address_is_read(
    server: str, name: str, address: str, root: Path, tmp_path: Path
) -> None:
    if name != "f.jsonl":
        (root / "f.jsonl").rename(root / name)
    options = {"rules": "autoindex on;"} if server == "nginx" else {}
    with SERVERS[server](root, tmp_path / "state", **options) as url:
        ran = count(url + address, tmp_path / "journal")
        assert occurrences(ran) == 5
        assert "Signature" not in ran.stdout + ran.stderr
        assert "using cached results" in count(url + address, tmp_path / "journal").stderr


@pytest.mark.parametrize(("kind", "code"), [("basic", 0), ("401", 2)], ids=["right", "wrong"])
def test_a_login_is_sent_to_its_host_alone_and_never_shown(
    kind: str, code: int, tmp_path: Path
) -> None:
    write(tmp_path / "root" / kind / "f.jsonl")
    with RangeServer(tmp_path / "root", faults=Faults(always={f"{kind}/": kind})) as server:
        url = server.url.replace("//", "//someone:secret@") + f"{kind}/f.jsonl"
        ran = count(url, tmp_path / "journal", "-v")
    assert ran.code == code, ran.stderr
    assert "secret" not in ran.stdout + ran.stderr
    kept = b"".join(path.read_bytes() for path in tmp_path.glob("journal*"))
    assert bool(kept) == (code == 0)  # a run that reads nothing makes no journal
    assert b"secret" not in kept


def test_a_redirect_is_followed(root: Path, tmp_path: Path) -> None:
    rules = "location /old/ { rewrite ^/old/(.*)$ /$1?X-Amz-Signature=abc redirect; }"
    with nginx(root, tmp_path / "state", rules) as url:
        assert occurrences(count(f"{url}old/f.jsonl", tmp_path / "journal")) == 5


# Formats and compressions


def lines_of(texts: list[str]) -> bytes:
    return "".join(f"{json.dumps({'text': text})}\n" for text in texts).encode()


def packed_lines(suffix: str, texts: list[str]) -> bytes:
    return PACKERS[suffix](lines_of(texts))


def arrow_of(texts: list[str], new: Any = pa.ipc.new_file) -> bytes:
    sink, table = io.BytesIO(), pa.table({"text": texts})
    with new(sink, table.schema) as writer:
        writer.write_table(table, max_chunksize=1000)
    return sink.getvalue()


def parquet_of(texts: list[str]) -> bytes:
    sink = io.BytesIO()
    pq.write_table(pa.table({"text": texts}), sink)
    return sink.getvalue()


CONTENTS: dict[str, Callable[[list[str]], bytes]] = {
    **{f"f.jsonl{suffix}": partial(packed_lines, suffix) for suffix in PACKERS},
    "F.JSONL.BZ2": partial(packed_lines, ".bz2"),
    "named/f.jsonl": partial(packed_lines, ".xz"),
    "named/f.jsonl.gz": partial(packed_lines, ".zst"),
    "plain/f.jsonl.gz.txt": lambda texts: "\n".join(texts).encode(),
    "f.json": lambda texts: json.dumps([{"text": text} for text in texts]).encode(),
    "f.csv": lambda texts: "\n".join(["text", *texts]).encode(),
    "f.tsv.xz": lambda texts: PACKERS[".xz"]("\n".join(["text", *texts]).encode()),
    "f.arrow": arrow_of,
    "stream/f.arrow": partial(arrow_of, new=pa.ipc.new_stream),
    "f.parquet": parquet_of,
}


@pytest.mark.parametrize("name", CONTENTS)
def test_every_format_is_read_again_only_if_it_changed(name: str, tmp_path: Path) -> None:
    file = tmp_path / "root" / name
    file.parent.mkdir(parents=True)
    file.write_bytes(CONTENTS[name]([TEXT] * 3000))
    os.utime(file, (OLD, OLD))
    faults = Faults(seed=3, rate=0.3, kinds=("500", "drop", "cut"))
    with RangeServer(tmp_path / "root", faults=faults) as server:
        assert occurrences(count(server.url + name, tmp_path / "journal")) == 3000
        again = count(server.url + name, tmp_path / "journal")
        assert occurrences(again) == 3000
        assert "using cached results" in again.stderr
        file.write_bytes(CONTENTS[name]([OTHER] * 3000))
        os.utime(file, (OLD + 60, OLD + 60))
        assert occurrences(count(server.url + name, tmp_path / "journal")) == 0


def test_a_file_of_another_format_than_its_name_says_is_named(tmp_path: Path) -> None:
    (tmp_path / "f.jsonl").write_bytes(parquet_of([TEXT]))
    with RangeServer(tmp_path) as server:
        ran = count(f"{server.url}f.jsonl", tmp_path / "journal")
    assert ran.code == 1
    assert "it is Parquet, not JSON; give it with --input-format parquet" in ran.stderr


def test_a_saved_dataset_is_read_without_the_files_that_describe_it(
    root: Path, tmp_path: Path
) -> None:
    (root / "f.jsonl").unlink()
    (root / "data.arrow").write_bytes(arrow_of([TEXT] * 5, pa.ipc.new_stream))
    for name in ("state.json", "dataset_info.json"):
        (root / name).write_text("{}")
    with nginx(root, tmp_path / "state", "autoindex on;") as url:
        assert occurrences(count(url, tmp_path / "journal")) == 5


def test_hidden_files_of_a_page_are_left_out_with_a_word(root: Path, tmp_path: Path) -> None:
    (root / "list.html").write_text('<html><a href="f.jsonl">f</a> <a href=".h.jsonl">h</a>')
    with nginx(root, tmp_path / "state", "index list.html;") as url:
        ran = count(url, tmp_path / "journal")
    assert occurrences(ran) == 5
    assert f"hidden files and folders left out: 1, the first is {url}.h.jsonl" in ran.stderr


@pytest.mark.parametrize(
    "name", [".git/h.jsonl", "sub/.git/h.jsonl", "sub/.git/deep/h.jsonl"], ids=lambda name: name
)
def test_files_in_hidden_folders_of_a_page_are_left_out(
    root: Path, tmp_path: Path, name: str
) -> None:
    write(root / name)
    (root / "list.html").write_text(f'<html><a href="f.jsonl">f</a> <a href="{name}">h</a>')
    with nginx(root, tmp_path / "state", "index list.html;") as url:
        ran = count(url, tmp_path / "journal")
    assert occurrences(ran) == 5
    assert f"hidden files and folders left out: 1, the first is {url}{name}" in ran.stderr


@pytest.mark.parametrize("name", ["f.bin", "f.zip"])
def test_a_query_is_not_shown_where_the_format_is_unknown(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(b"content")
    with RangeServer(tmp_path) as server:
        ran = count(f"{server.url}{name}?X-Amz-Signature=secret", tmp_path / "journal")
    assert ran.code == 2
    assert "secret" not in ran.stderr


# Failures


@pytest.mark.parametrize(
    ("kind", "problem"),
    [
        pytest.param("404", "HTTP 404, there is no such file", id="404"),
        pytest.param("401", "HTTP 401, access denied; it needs a login", id="401"),
        pytest.param("403", "HTTP 403, access denied; is it public", id="403"),
        pytest.param("html", "an HTML page, not a file; check the address", id="page"),
        pytest.param("loop", "redirected in a circle", id="circle"),
        pytest.param("later", "HTTP 503; it says to retry in 3600 s", id="later"),
    ],
)
def test_why_a_file_is_not_read_is_said(kind: str, problem: str, tmp_path: Path) -> None:
    write(tmp_path / "root" / kind / "f.jsonl")
    with RangeServer(tmp_path / "root", faults=Faults(always={f"{kind}/": kind})) as server:
        url = f"{server.url}{kind}/f.jsonl"
        ran = count(url, tmp_path / "journal")
    assert ran.code == 2
    assert f"scan:{url}: {problem}" in ran.stderr


@pytest.mark.parametrize(
    ("url", "problem"),
    [
        pytest.param("http://127.0.0.1:9/f.jsonl", "no connection", id="nothing listens"),
        pytest.param("http://no.invalid/f.jsonl", "there is no host no.invalid", id="no host"),
    ],
)
def test_a_server_that_is_not_there_is_said(url: str, problem: str, tmp_path: Path) -> None:
    ran = count(url, tmp_path / "journal")
    assert ran.code == 2
    assert problem in ran.stderr


def test_a_server_without_tls_is_said(root: Path, tmp_path: Path) -> None:
    with nginx(root, tmp_path / "state") as url:
        ran = count(url.replace("http:", "https:") + "f.jsonl", tmp_path / "journal")
    assert ran.code == 2
    assert "TLS failed" in ran.stderr


@pytest.mark.parametrize("kinds", [("500",), ("503", "429"), ("drop",), ("cut",)], ids="-".join)
def test_a_file_is_read_although_half_of_the_answers_fail(
    kinds: tuple[str, ...], tmp_path: Path
) -> None:
    write(tmp_path / "root" / "f.jsonl", lines=20_000)
    faults = Faults(seed=5, rate=0.5, kinds=kinds)
    with RangeServer(tmp_path / "root", faults=faults) as server:
        assert occurrences(count(f"{server.url}f.jsonl", tmp_path / "journal")) == 20_000


def test_a_rate_limit_slows_a_scan_down(root: Path, tmp_path: Path) -> None:
    for number in range(8):
        shutil.copy2(root / "f.jsonl", root / f"{number}.jsonl")
    (root / "all.paths").write_text("".join(f"{number}.jsonl\n" for number in range(8)))
    zone = "limit_req_zone $binary_remote_addr zone=z:1m rate=20r/s;"
    with nginx(root, tmp_path / "state", "limit_req zone=z;", zone) as url:
        assert occurrences(count(f"{url}all.paths", tmp_path / "journal")) == 40


@pytest.mark.parametrize(
    ("kind", "rules"),
    [
        pytest.param(KINDS["fm9"], "limit_req zone=z;", id="fm9"),
        # Names of shards are tried to open one, up to a hundred at once.
        pytest.param(KINDS["tokens"], "limit_req zone=z burst=80 nodelay;", id="tokens"),
    ],
)
def test_a_rate_limit_slows_index_files_in_place_down(
    kind: InPlaceKind, rules: str, root: Path, tmp_path: Path
) -> None:
    texts = [f"a text {number} that says hello, and again hello" for number in range(200)]
    folder = kind.write_texts(root / "index", texts)
    zone = "limit_req_zone $binary_remote_addr zone=z:1m rate=10r/s;"
    with nginx(root, tmp_path / "state", rules, zone) as url:
        journal = ("--journal", str(tmp_path / "journal"), *kind.lean_options)
        far = kind.run_on("count", f"{url}index/", "-e", "hello", *journal)
    near = kind.run_on("count", folder, "-e", "hello")
    assert " 503 " in (tmp_path / "state" / "access.log").read_text()
    assert occurrences(far) == occurrences(near) == 400


def test_pieces_of_a_file_without_tag_and_date_are_read_again(tmp_path: Path) -> None:
    (tmp_path / "no_etag").mkdir()
    file = tmp_path / "no_etag" / "f"
    file.write_bytes(b"a" * 100_000)
    with (
        RangeServer(tmp_path, faults=Faults(always={"no_etag/": "no_etag"})) as server,
        Ranges(RangeOptions()) as ranges,
    ):
        opened = ranges.run(ranges.require(f"{server.url}no_etag/f"))
        assert ranges.run(ranges.read(opened, 50_000, 50_100)) == b"a" * 100
        ranges.check()
        file.write_bytes(b"a" * 50_000 + b"b" * 50_000)  # of the same length and beginning
        with pytest.raises(IndexChangedError, match="it changed while it was read"):
            ranges.check()


# Hosted indexes


def test_another_index_under_the_same_name_gives_its_own_counts(tmp_path: Path) -> None:
    corpora = {name: write(tmp_path / f"{name}.jsonl", text) for name, text in NAMES.items()}
    port = free_port()
    counted = []
    for name in ("first", "first", "second"):
        with ApiServer({"corpus": corpora[name]}, port=port) as server:
            ran = count_in(f"{server.url}corpus", tmp_path / "journal", literal="the")
        counted.append((occurrences(ran), ran.rows[0]["source"]))
    away = count_in(f"{server.url}corpus", tmp_path / "journal", literal="the")
    assert counted == [(5, "api"), (5, "journal"), (0, "api")]
    assert (occurrences(away), away.rows[0]["source"]) == (0, "journal")


# Proxies


@pytest.mark.parametrize("name", ["HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"])
def test_a_proxy_sees_every_request(
    name: str, root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with (
        nginx(root, tmp_path / "state") as url,
        tinyproxy(tmp_path / "proxy", "someone:secret") as (proxy, log),
    ):
        monkeypatch.setenv(name, proxy)
        assert occurrences(count(f"{url}f.jsonl", tmp_path / "journal")) == 5
        sent = (tmp_path / "state" / "access.log").read_text().count("GET /f.jsonl")
        assert sent == log.read_text().count(f"GET {url}f.jsonl") > 0
        monkeypatch.setenv(name, proxy.replace("someone:secret@", ""))
        refused = count(f"{url}f.jsonl", tmp_path / "other")
        assert refused.code == 2
        assert "HTTP 407: the proxy refuses; it needs a login" in refused.stderr


def test_no_proxy_is_asked_for_hosts_that_are_left_out(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTP_PROXY", f"http://127.0.0.1:{free_port()}")
    with nginx(root, tmp_path / "state") as url:
        monkeypatch.setenv("NO_PROXY", url.removeprefix("http://").rstrip("/"))
        assert occurrences(count(f"{url}f.jsonl", tmp_path / "journal")) == 5


def test_a_proxy_of_another_kind_is_refused_by_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ALL_PROXY", "socks5://someone:secret@127.0.0.1:1080")
    ran = count("http://127.0.0.1:9/f.jsonl", tmp_path / "journal")
    assert ran.code == 2
    assert "ALL_PROXY: a proxy of the kind socks5:// can't be used" in ran.stderr
    assert "secret" not in ran.stderr


# Hosts that answer with a page


def pages(root: Path, state: Path) -> AbstractContextManager[str]:
    (root / "app.html").write_text("<!doctype html><title>app</title>")
    return nginx(root, state, "location / { try_files $uri /app.html; }")


@EACH_KIND
def test_an_index_is_counted_where_unknown_names_give_a_page(
    kind: InPlaceKind, root: Path, tmp_path: Path
) -> None:
    folder = kind.write_shards(root / "index")
    given = ("-e", kind.literals[0])
    with pages(root, tmp_path / "state") as url:
        far, nothing = (
            kind.run_on("count", f"{url}{name}/", *given, "--journal", tmp_path / "journal")
            for name in ("index", "nothing")
        )
    assert occurrences(far) == occurrences(kind.run_on("count", folder, *given)) > 0
    assert nothing.code == 2
    assert "the server answers HTML to names it lacks" in nothing.stderr


@pytest.mark.parametrize("address", ["http://[::1/a.jsonl", "http://me:secret@[::1/a.jsonl"])
def test_an_address_that_can_not_be_read_is_one_line_without_its_login(address: str) -> None:
    refused = invoke("count", "-e", "a", "--index", f"scan:{address}")
    assert (refused.code, refused.stderr.count("\n")) == (2, 1)
    assert "not a URL; expected https://…" in refused.stderr
    assert "secret" not in refused.stderr
