"""Builds that are killed before each of their changes: the same command makes the same index."""

import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.support import corpus_files
from tests.support.command import NGRAMSCAN, Ran
from tests.support.places import ROOT

pytestmark = pytest.mark.integration

TOKENIZER = ROOT / "tests" / "tokens" / "allenai_dolma2.json.gz"
MOST_CHANGES = 400


class Build(NamedTuple):
    """A command that builds an index in `out`."""

    options: tuple[str, ...]
    corpus: str = "c"
    is_piped: bool = False
    command: str = "build"
    kills: tuple[int, ...] = ()
    """Some changes before which it is killed by day."""

    @property
    def arguments(self) -> list[str]:
        return ["index", self.command, "scan:-" if self.is_piped else self.corpus, *self.options]


BUILDS: Mapping[str, Build] = {
    "fm9, one shard": Build(("-o", "out"), kills=(8, 19, 22)),
    "fm9, shards": Build(("-o", "out", "--shard-size", "1500"), kills=(6, 20, 35, 36)),
    "fm9, two workers": Build(
        ("-o", "out", "--shard-size", "1500", "--workers", "2"), kills=(4, 9)
    ),
    "fm9 of a pipe": Build(("-o", "out", "--shard-size", "1500"), is_piped=True, kills=(3, 20, 32)),
    "tokens are bytes": Build(("-o", "tokens:out"), kills=(3, 8)),
    "tokens": Build(("-o", "tokens:out", "--tokenizer", str(TOKENIZER)), kills=(8,)),
    "tokens of a pipe": Build(("-o", "tokens:out"), is_piped=True, kills=(8,)),
    "documents added": Build(("out", "--shard-size", "1500"), command="add", kills=(5, 12, 42)),
}


@pytest.fixture
def here(tmp_path: Path) -> Path:
    (tmp_path / "c").mkdir()
    texts = [f"document {number} has the words é and ä " * 8 for number in range(12)]
    (tmp_path / "c" / "a.jsonl").write_bytes(corpus_files.jsonl(texts[:7]))
    (tmp_path / "c" / "b.jsonl").write_bytes(corpus_files.jsonl(texts[7:]))
    return tmp_path


def contents(folder: Path) -> dict[str, str]:
    files = (path for path in sorted(folder.rglob("*")) if path.is_file())
    return {
        path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in files
    }


def run(here: Path, build: Build, program: Sequence[str] = NGRAMSCAN) -> Ran:
    done = subprocess.run(
        [*program, *build.arguments],
        cwd=here,
        input=(here / "c" / "a.jsonl").read_text() if build.is_piped else "",
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    return Ran(done.returncode, done.stdout, done.stderr)


def begin(here: Path, build: Build) -> None:
    """Put what the command finds."""
    shutil.rmtree(here / "out", ignore_errors=True)
    if build.command == "add":
        first = Build(("-o", "out"), corpus="c/a.jsonl")
        assert run(here, first).code == 0


def refuse_difference(here: Path, build: Build, change: int, expected: dict[str, str]) -> int:
    """Kill a build before a change, and run it again; return how the killed one ended."""
    begin(here, build)
    killed = run(here, build, [sys.executable, "-m", "tests.support.killed_at", f"{change}"])
    again = run(here, build)
    assert (again.code, again.stderr.count("Error")) == (0, 0), (change, again.stderr)
    assert contents(here) == expected, change
    if killed.code == 0:
        assert "already built from these" in again.stderr
    return killed.code


@pytest.mark.parametrize("kind", BUILDS)
def test_a_killed_build_is_finished_by_the_same_command(
    kind: str, here: Path, subtests: pytest.Subtests
) -> None:
    build = BUILDS[kind]
    begin(here, build)
    assert run(here, build).code == 0
    expected = contents(here)
    for change in build.kills:
        with subtests.test(change=change):
            assert refuse_difference(here, build, change, expected) == -signal.SIGKILL
    assert refuse_difference(here, build, MOST_CHANGES, expected) == 0


@pytest.mark.slow
@pytest.mark.parametrize("kind", BUILDS)
def test_a_build_killed_before_any_change_is_finished_by_the_same_command(
    kind: str, here: Path
) -> None:
    build = BUILDS[kind]
    begin(here, build)
    assert run(here, build).code == 0
    expected, change = contents(here), 1
    while (code := refuse_difference(here, build, change, expected)) == -signal.SIGKILL:
        change += 1
    assert code == 0


@pytest.mark.parametrize(
    ("kind", "options", "cure"),
    [
        pytest.param("fm9, one shard", ("--shard-size", "1500"), "ngramscan index add", id="fm9"),
        pytest.param("fm9, shards", ("--text-field", "id"), "ngramscan index add", id="shards"),
        pytest.param("tokens are bytes", ("--text-field", "id"), "delete this one", id="tokens"),
    ],
)
def test_another_build_into_the_same_folder_is_refused_with_the_cure(
    kind: str, options: tuple[str, ...], cure: str, here: Path
) -> None:
    build = BUILDS[kind]
    rows = [{"id": f"{number} é", "text": "a"} for number in range(9)]
    (here / "c" / "a.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (here / "c" / "b.jsonl").unlink()
    assert run(here, build).code == 0
    expected = contents(here)
    other = run(here, build._replace(options=(*build.options, *options)))
    assert (other.code, contents(here)) == (2, expected)
    assert cure in other.stderr


@pytest.mark.parametrize("kind", ["fm9, shards", "tokens are bytes"])
def test_a_corpus_that_was_changed_is_another_one(kind: str, here: Path) -> None:
    assert run(here, BUILDS[kind]).code == 0
    file = here / "c" / "a.jsonl"
    file.write_bytes(file.read_bytes().replace(b"words", b"wards"))
    assert run(here, BUILDS[kind]).code == 2


@pytest.mark.parametrize(
    ("kind", "name"), [("fm9, one shard", "data.fm9"), ("tokens are bytes", "table.0")]
)
def test_a_finished_index_that_lost_bytes_is_not_said_to_be_built(
    kind: str, name: str, here: Path
) -> None:
    assert run(here, BUILDS[kind]).code == 0
    path = here / "out" / name
    os.truncate(path, path.stat().st_size - 1)
    ran = run(here, BUILDS[kind])
    assert ran.code != 0
    assert name in ran.stderr
