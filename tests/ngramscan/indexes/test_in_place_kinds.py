"""Indexes of every kind that are queried in place: the rows of the local folder, or an error."""

import os
import random
import re
import shlex
import shutil
import sqlite3
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import datetime
from itertools import count
from pathlib import Path
from types import SimpleNamespace

import fsspec
import pytest

from ngramscan import clock
from tests.support.command import NGRAMSCAN, Ran, without
from tests.support.in_place_kinds import KINDS, OF_A_RUN, InPlaceKind
from tests.support.object_store import BUCKET, KEYS, object_store
from tests.support.range_server import Faults, RangeServer
from tests.support.real_servers import nginx

UNLUCKY = Faults(seed=3, rate=0.2)


@pytest.fixture(scope="module", params=KINDS)
def kind(request: pytest.FixtureRequest) -> InPlaceKind:
    return KINDS[request.param]


@pytest.fixture(scope="module")
def four(kind: InPlaceKind, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return an index of four shards."""
    return kind.write_shards(tmp_path_factory.mktemp("served") / "four")


@pytest.fixture
def ask(kind: InPlaceKind, tmp_path: Path) -> Callable[..., Ran]:
    """Return a function that runs a command on the literals in an index in place."""

    def run(url: str, *options: str, command: str = "count") -> Ran:
        return kind.run(command, url, "--journal", tmp_path / "journal", *options)

    return run


def sources(ran: Ran) -> set[str]:
    return {row["source"] for row in ran.rows}


def occurrences(ran: Ran) -> list[int]:
    assert ran.code == 0, ran.stderr
    return [int(row["occurrences"]) for row in ran.rows]


def same_rows(far: Ran, near: Ran) -> None:
    """Check that an index in place has the rows of the local folder."""
    assert (far.code, near.code) == (0, 0), far.stderr + near.stderr
    assert without(far.rows, *OF_A_RUN) == without(near.rows, *OF_A_RUN)


# The same rows


COMMANDS: dict[str, tuple[str, ...]] = {
    "count": (),
    "contexts": ("-n", "3", "--width", "30"),
    "docnorm": ("--draws", "4", "--exact-up-to", "0"),
}


@pytest.mark.parametrize("command", COMMANDS)
def test_rows_are_those_of_the_folder_where_a_fifth_of_replies_fails(
    command: str, kind: InPlaceKind, four: Path, tmp_path: Path
) -> None:
    options = COMMANDS[command] + (kind.draw_options if command == "docnorm" else ())
    with RangeServer(four.parent, 0.001, UNLUCKY) as server:
        lean = ("--journal", str(tmp_path / "journal"), *kind.lean_options)
        far = kind.run(command, f"{server.url}four", *options, *lean)
        faults = {request.fault for request in server.record().requests}
    assert {"500", "cut", "wrong_range"} <= faults
    same_rows(far, kind.run(command, four, *options))


@pytest.mark.integration
def test_nginx_has_the_rows_of_the_folder(
    kind: InPlaceKind, four: Path, ask: Callable[..., Ran], tmp_path: Path
) -> None:
    for folder in (four, *four.parents):  # the server runs as another user
        if folder.owner() == tmp_path.owner() and folder != Path("/"):
            folder.chmod(folder.stat().st_mode | 0o055)
    with nginx(four.parent, tmp_path / "state") as url:
        counted, shown = ask(f"{url}four"), ask(f"{url}four", "-n2", command="contexts")
    same_rows(counted, kind.run("count", four))
    same_rows(shown, kind.run("contexts", four, "-n2"))


@pytest.mark.integration
def test_an_index_on_s3_is_counted_without_a_request_that_fails(
    kind: InPlaceKind, four: Path, ask: Callable[..., Ran], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in KEYS.items():
        monkeypatch.setenv(name, value)
    with object_store() as store:  # which closes each connection, as it says in each answer
        monkeypatch.setitem(fsspec.config.conf, "s3", {"endpoint_url": store.endpoint})
        for path in sorted(path for path in four.rglob("*") if path.is_file()):
            store.put(f"{BUCKET}/index/{path.relative_to(four)}", path.read_bytes())
        far = ask(f"s3://{BUCKET}/index", *kind.lean_options, "--timeout", "60", "-v")
    assert "again in" not in far.stderr
    same_rows(far, kind.run("count", four))


@pytest.mark.integration
def test_few_descriptors_are_enough_for_many_shards(kind: InPlaceKind, tmp_path: Path) -> None:
    kind.link_shards(tmp_path / "many", 15)
    literal = ("-e", kind.literals[0])
    with RangeServer(tmp_path / "many", 0.01) as server:
        options = [*literal, *kind.options, "--index", kind.spec(server.url), "--format", "csv"]
        count_there = [*NGRAMSCAN, "count", *options, "--journal", str(tmp_path / "journal")]
        command = ["sh", "-c", f"ulimit -n 64; exec {shlex.join(count_there)}"]
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    far = Ran(done.returncode, done.stdout, done.stderr)
    assert far.stderr == ""
    same_rows(far, kind.run_on("count", tmp_path / "many", *literal))


# What is kept


def test_a_second_run_searches_nothing_and_other_files_are_searched(
    kind: InPlaceKind,
    four: Path,
    ask: Callable[..., Ran],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    later = count(10**9, 60).__next__  # whoever looks at a clock is a minute later
    monkeypatch.setattr(time, "time", later)
    dates = SimpleNamespace(now=lambda zone: datetime.fromtimestamp(later(), zone))
    monkeypatch.setattr(clock, "datetime", dates)
    folder = shutil.copytree(four, tmp_path / "index")
    options = ("-n1", "--width=9", *kind.lean_options)
    with RangeServer(tmp_path, faults=UNLUCKY) as server:
        url = f"{server.url}index"
        first, again = ask(url), ask(url)
        shown = ask(url, *options, command="contexts")
        shown_again = ask(url, *options, command="contexts")
        same_rows(first, kind.run("count", folder))
        same_rows(again, first)
        same_rows(shown, kind.run("contexts", folder, "-n1", "--width=9"))
        same_rows(shown_again, shown)
        assert (len(first.rows), len(shown.rows)) == (4, 3)
        assert (sources(first), sources(again)) == ({kind.source}, {"journal"})
        # One shard becomes another one: what the journal has is not true of it.
        kind.swap_shards(folder)
        mixed = ask(url, "-n2", "--width=9", command="contexts")
        same_rows(mixed, kind.run("contexts", folder, "-n2", "--width=9"))
        swapped, refreshed = ask(url), ask(url, "--refresh")
        same_rows(swapped, kind.run("count", folder))
        same_rows(refreshed, swapped)
        assert sources(refreshed) == {kind.source}
        assert occurrences(swapped) != occurrences(first)


DAMAGED = {
    "cut": '{"fingerprint',
    "a list of texts": '["a"]',
    "a number": "-7",
    "deep": "[" * 100_000,
    "half a place": "[[0, 2.5, 4]]",
    "an infinite place": "[[0, 2, Infinity]]",
    "no number": "[[0, NaN, 4]]",
    "a place before the first": "[[0, -1, 4]]",
    "true for a shard": "[[true, 2, 4]]",
}


@pytest.mark.parametrize("damaged", DAMAGED.values(), ids=DAMAGED)
@pytest.mark.parametrize("of_files", [True, False], ids=["files", "counts"])
def test_a_damaged_reply_in_the_journal_is_asked_again(
    kind: InPlaceKind,
    four: Path,
    ask: Callable[..., Ran],
    tmp_path: Path,
    of_files: bool,
    damaged: str,
) -> None:
    with RangeServer(four) as server:
        before = ask(server.url)
        with closing(sqlite3.connect(tmp_path / "journal", isolation_level=None)) as journal:
            where = f"request {'=' if of_files else '<>'} 'files'"
            changed = journal.execute(f"UPDATE replies SET reply = ? WHERE {where}", [damaged])
            assert changed.rowcount >= (1 if of_files else len(kind.literals))
        again = ask(server.url)
        same_rows(again, before)
        assert sources(again) == {"journal" if of_files else kind.source}


UNMARKED = (
    "its server sends no ETag and no date, or the files have just changed: counts are not kept"
)
REMOVED = r"files changed since an earlier run; the parts of them in --index-cache are removed"


@pytest.mark.parametrize("validator", ["etag", "date", "no_etag"])
def test_an_index_that_was_replaced_is_counted_anew_whatever_the_disk_has(
    validator: str, kind: InPlaceKind, tmp_path: Path
) -> None:
    draw, folder = random.Random(3), tmp_path / "served" / validator
    words = ["".join(draw.choices("etaoinshr", k=draw.randrange(2, 8))) for _ in range(300)]
    texts = [" ".join(draw.choices(words, k=60)) + f" {kind.words[0]}" for _ in range(60)]
    others = [*texts[:-1], texts[-1].replace(*kind.words)]
    first = kind.write_texts(tmp_path / "first", texts)
    second = kind.write_texts(tmp_path / "second", others)
    names = sorted(path.name for path in first.iterdir())
    sizes = [(second / name).stat().st_size for name in names]
    assert [(first / name).stat().st_size for name in names] == sizes
    shutil.copytree(first, folder)
    faults = Faults(always={f"{validator}/": validator})
    with RangeServer(folder.parent, faults=faults) as server:

        def count_word(literal: str, *options: str) -> tuple[int, str]:
            place, journal = f"{server.url}{validator}", ("--journal", tmp_path / "journal")
            keep = ("--index-cache", tmp_path / "kept", "-v")
            ran = kind.run_on("count", place, "-e", literal, *journal, *keep, *options)
            assert ran.code == 0, ran.stderr
            (row,) = ran.rows
            assert (UNMARKED in row["note"]) == (validator == "no_etag")
            return int(row["occurrences"]), ran.stderr

        original, other = kind.words
        assert count_word(original)[0] == 60
        before = len(server.record().requests)
        number, stderr = count_word(original, "--refresh")
        assert (number, "changed" in stderr) == (60, False)
        requests = server.record().requests[before:]
        if validator != "no_etag":  # of which nothing is kept
            assert {request.start for request in requests} == {0}
            assert len({request.path for request in requests}) == len(requests)
        for name in names:
            shutil.copyfile(second / name, folder / name)
            os.utime(folder / name, (1e9, 1e9))
        number, stderr = count_word(other)
        assert number == 1
        assert bool(re.search(REMOVED, stderr)) == (validator != "no_etag")
        # A reply of the other index is not taken for one of this.
        assert count_word(original)[0] == 59
        number, stderr = count_word(original, "--refresh")
        assert (number, "changed" in stderr) == (59, False)


# What goes wrong


@pytest.mark.parametrize("request_number", [30, 120])
def test_a_file_that_changes_under_way_is_an_error_and_never_a_count(
    request_number: int, kind: InPlaceKind, four: Path, ask: Callable[..., Ran]
) -> None:
    with RangeServer(four, faults=Faults(changed_from=request_number)) as server:
        ran = ask(server.url, *kind.lean_options)
    assert (ran.code, ran.rows) == (1, [])
    assert "it changed while it was read" in ran.stderr


WRONG = {
    "fm9": {
        "none/": ("404", "no index there: neither manifest.json nor data.fm9 in it"),
        "closed/": ("403", "HTTP 403, access denied; is it public"),
        "cut/1/meta.fm9": ("404", "/1/meta.fm9: missing; copy"),
        "gap/1/": ("404", "/gap: shard 1 is missing: there are others up to 3; copy it"),
        "partly/3/": ("403", "access denied"),
    },
    "tokens": {
        "none/": ("404", "no index over tokens there: it lacks tokenized.0, table.0, offset.0"),
        "table.0/": ("404", "a file of an index over tokens; expected its folder, http://"),
        "tokenized/": ("404", "a file of an index over tokens; expected its folder, http://"),
        "closed/": ("403", "HTTP 403, access denied; is it public"),
        "cut/table.1": ("404", "/cut/table.1: missing; copy"),
        "gap/": ("gap", "/gap/tokenized.1: missing; copy"),
        "partly/table.3": ("403", "access denied"),
    },
}
"""By kind: the beginnings of paths, what is wrong there, and what is said."""


def wrong_places() -> Iterator[pytest.ParameterSet]:
    for name, places in WRONG.items():
        for place, (fault, said) in places.items():
            yield pytest.param(KINDS[name], place, fault, said, id=f"{name}-{place}")


@pytest.mark.parametrize(("wrong_kind", "place", "fault", "said"), list(wrong_places()))
def test_what_is_missing_or_refused_is_one_line_with_the_cure(
    wrong_kind: InPlaceKind, place: str, fault: str, said: str, tmp_path: Path
) -> None:
    folder, _, _ = place.partition("/")
    served = wrong_kind.write_shards(tmp_path / "served" / folder)
    if fault == "gap":
        for path in served.glob("*.1"):
            path.unlink()
    faults = Faults() if fault == "gap" else Faults(always={place: fault})
    with RangeServer(tmp_path / "served", faults=faults) as server:
        url = server.url.replace("//", "//me:secret@") + folder
        ran = wrong_kind.run("count", url, "--journal", tmp_path / "journal")
    assert (ran.code != 0, ran.stdout) == (True, "")
    assert said in ran.stderr
    assert "secret" not in ran.stderr
    assert len(ran.stderr.strip().splitlines()) == 1


def files_of(folder: Path) -> list[Path]:
    """Return the files of the last of four shards."""
    paths = [path for path in sorted(folder.rglob("*")) if path.is_file()]
    return [path for path in paths if "3" in {path.parent.name, path.suffix[1:]}]


@pytest.mark.parametrize("share", [0.4, 0.0], ids=["short", "empty"])
def test_a_file_that_is_cut_is_an_error_with_its_address(
    share: float, kind: InPlaceKind, four: Path, tmp_path: Path
) -> None:
    folder = shutil.copytree(four, tmp_path / "served" / "index")
    codes, addresses = {}, {}
    with RangeServer(tmp_path / "served") as server:
        for path in files_of(folder):
            content = path.read_bytes()
            path.write_bytes(content[: int(len(content) * share)])
            journal = ("--journal", tmp_path / f"journal-{path.name}")
            ran = kind.run("contexts", f"{server.url}index", *journal, "-n", "400")
            codes[path.name] = ran.code
            addresses[path.name] = f"Error: {server.url}index" in ran.stderr
            path.write_bytes(content)
    assert len(codes) >= 4
    assert codes == dict.fromkeys(codes, 1)
    assert addresses == dict.fromkeys(codes, True)
