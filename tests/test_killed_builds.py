"""Builds that are killed before each of their changes: the same command makes the same index."""

import hashlib
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
from tests.support.sizes import slow

pytestmark = pytest.mark.integration

ROOT = Path(__file__).parent.parent
TOKENIZER = ROOT / "tests" / "tokens" / "allenai_dolma2.json.gz"
MOST_CHANGES = 400


class Build(NamedTuple):
    """A command that builds an index in `out`."""

    options: tuple[str, ...]
    corpus: str = "c"
    is_piped: bool = False
    command: str = "build"
    stride: int = 7
    """By day, it is killed before every so manieth change."""

    @property
    def arguments(self) -> list[str]:
        return ["index", self.command, "scan:-" if self.is_piped else self.corpus, *self.options]


BUILDS: Mapping[str, Build] = {
    "fm9, one shard": Build(("-o", "out")),
    "fm9, shards": Build(("-o", "out", "--shard-size", "1500"), stride=17),
    "fm9, two workers": Build(("-o", "out", "--shard-size", "1500", "--workers", "2"), stride=5),
    "fm9 of a pipe": Build(("-o", "out", "--shard-size", "1500"), is_piped=True, stride=17),
    "tokens are bytes": Build(("-o", "tokens:out"), stride=2),
    "tokens": Build(("-o", "tokens:out", "--tokenizer", str(TOKENIZER)), stride=5),
    "tokens of a pipe": Build(("-o", "tokens:out"), is_piped=True, stride=3),
    "documents added": Build(("out", "--shard-size", "1500"), command="add", stride=17),
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


@pytest.mark.parametrize("is_whole", [False, slow(True)])
@pytest.mark.parametrize("kind", BUILDS)
def test_a_build_killed_before_any_change_is_finished_by_the_same_command(
    kind: str, is_whole: bool, here: Path
) -> None:
    build = BUILDS[kind]
    begin(here, build)
    assert run(here, build).code == 0
    expected = contents(here)
    killing = [sys.executable, "-m", "tests.support.killed_at"]
    for change in range(1, MOST_CHANGES, 1 if is_whole else build.stride):
        begin(here, build)
        killed = run(here, build, [*killing, f"{change}"])
        again = run(here, build)
        assert (again.code, again.stderr.count("Error")) == (0, 0), (change, again.stderr)
        assert contents(here) == expected, change
        if killed.code == 0:  # it has fewer changes
            assert "already" in again.stderr
            return
        assert killed.code == -signal.SIGKILL, killed.stderr
    pytest.fail("it has more changes")
