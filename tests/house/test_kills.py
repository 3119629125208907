"""Commands killed at random: the next run has the rows of an undisturbed one, and nothing is left.

Only the process that a person started is killed; what it started has to end by itself.
"""

import os
import random
import re
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path

import pytest

from tests.support.command import NGRAMSCAN
from tests.support.dask_cluster import dask_cluster, wait_until
from tests.support.in_place_kinds import TOKEN_KIND
from tests.support.places import REPLAY, TOKENS
from tests.support.range_server import RangeServer
from tests.support.serve_process import serving
from tests.support.sizes import slow
from tests.support.started import started

TOKENIZER = TOKENS / "allenai_dolma2.json.gz"
CHANGING = re.compile(
    rb"(?<=,)(?:api|fm9|tokens|journal)(?=,)|\d{4}-\d\d-\d\dT[\d:.]+(Z|\+00:00)"
    rb"|\d+ \w+ \d{4}, \d\d:\d\d UTC|\"seconds\":\S+"
)
"""Times, and where a count comes from, which differ from run to run."""
Surroundings = Callable[[Path], Iterator[str]]


def nothing(_: Path) -> Iterator[str]:
    yield ""


def a_service(_: Path) -> Iterator[str]:
    with serving(indexes=(REPLAY / "index" / "replay2",)) as served:
        yield served.url


def a_store(_: Path) -> Iterator[str]:
    with RangeServer(REPLAY / "index", 0.002) as server:
        yield server.url


def a_token_store(folder: Path) -> Iterator[str]:
    TOKEN_KIND.write_shards(folder / "served")
    with RangeServer(folder / "served", 0.002) as server:
        yield server.url


def a_cluster(folder: Path) -> Iterator[str]:
    with dask_cluster(folder) as cluster:
        cluster.start_worker()
        yield cluster.address


def count(spec: str, *options: str) -> list[str]:
    files = ["-o", "out/rows.csv", "--journal", "out/journal"]
    return ["count", "f1", "--index", spec, *files, *options]


def build(out: str, *options: str) -> list[str]:
    return ["index", "build", "corpus", "-o", out, *options]


KEEP = ("--index-cache", "out/journal-of-ranges", "--index-memory", "50KB")
"""Options with which much is read, and kept; like a journal, its pages differ."""
RUNS: Mapping[str, tuple[Surroundings, Callable[[str], list[str]]]] = {
    "scan": (nothing, lambda _: count("scan:corpus", "--workers", "2")),
    "http": (a_service, lambda url: count(f"{url}replay2", "--rate", "200")),
    "in place": (a_store, lambda url: count(f"fm9:{url}replay2", *KEEP)),
    "tokens in place": (
        a_token_store,
        lambda url: count(f"tokens:{url}", "--count-anyway", *KEEP, *TOKEN_KIND.options),
    ),
    "fm9 build": (nothing, lambda _: build("out/index", "--shard-size", "200000")),
    "token build": (nothing, lambda _: build("tokens:out/index", "--tokenizer", f"{TOKENIZER}")),
    "token build of version 6": (
        nothing,
        lambda _: build("tokens:out/index", "--index-version", "6"),
    ),
    "Dask build": (
        a_cluster,
        lambda address: build("out/index", "--shard-size", "200000", "--scheduler", address),
    ),
    "report": (nothing, lambda _: ["report", "rows.csv", "-o", "out/page.html"]),
}


def content(folder: Path) -> dict[str, bytes]:
    """Return all files, without times; the pages of a journal are empty here, as they differ."""
    files = [path for path in folder.rglob("*") if path.is_file() or path.is_symlink()]
    found = {f"{path.relative_to(folder)}": CHANGING.sub(b"", path.read_bytes()) for path in files}
    return {name: b"" if name.startswith("journal") else text for name, text in found.items()}


def empty(folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()


def processes_with(mark: str) -> list[int]:
    """Return the processes whose environment has a mark."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            try:
                if mark.encode() in (entry / "environ").read_bytes():
                    found.append(int(entry.name))
            except OSError:
                continue
    return found


@pytest.mark.integration
@pytest.mark.parametrize("kills", [1, slow(20)])
@pytest.mark.parametrize("kind", RUNS)
def test_a_command_killed_at_random_ends_as_if_undisturbed(
    kind: str, kills: int, tmp_path: Path
) -> None:
    surroundings, arguments = RUNS[kind]
    (tmp_path / "corpus").mkdir()
    for number, file in enumerate(sorted((REPLAY / "docs").glob("*.jsonl")) * 3):
        shutil.copy(file, tmp_path / "corpus" / f"{number}.jsonl")
    options = "--index", "scan:corpus", "-o", "rows.csv", "-q"
    subprocess.run([*NGRAMSCAN, "count", "f1", *options], cwd=tmp_path, check=True)
    random_numbers, mark = random.Random(kind), f"{time.time_ns()}-{kind}"
    environment = {**os.environ, "KILLED_BY_A_TEST": mark}
    with contextmanager(surroundings)(tmp_path) as place:
        command = [*NGRAMSCAN, *arguments(place), "-q"]

        def start() -> AbstractContextManager[subprocess.Popen[str]]:
            return started(command, cwd=tmp_path, env=environment, start_new_session=True)

        empty(tmp_path / "out")
        started_at = time.monotonic()
        with start() as process:
            assert process.wait() == 0
        lasts = time.monotonic() - started_at
        expected = content(tmp_path / "out")
        killed = 0
        while killed < kills:
            if killed % 5 == 0:  # from the beginning, or on top of what earlier ones left
                empty(tmp_path / "out")
            with start() as process:
                try:
                    process.wait(random_numbers.uniform(0, lasts))
                except subprocess.TimeoutExpired:
                    process.send_signal(signal.SIGKILL)
                    killed += 1
            wait_until(lambda: not processes_with(mark))
            # What is built is not built again. A worker of a cluster may still be at work.
            with suppress(FileNotFoundError):
                if content(tmp_path / "out") == expected:
                    empty(tmp_path / "out")
        with start() as process:
            assert process.wait() == 0
        assert content(tmp_path / "out") == expected
