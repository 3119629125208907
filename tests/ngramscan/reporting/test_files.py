"""What commands write: files whole or not at all, and nothing else replaced."""

import os
import re
import resource
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from ngramscan.errors import DiskFullError, InputError
from ngramscan.reporting import check_writable, write_whole
from tests.support.command import invoke
from tests.support.resource_limits import limited
from tests.support.started import started


def write(path: Path, text: str) -> None:
    check_writable(path)
    write_whole(path, lambda file: file.write_text(text))


def test_a_symlink_is_followed(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    target, link = tmp_path / "folder" / "rows.csv", tmp_path / "link.csv"
    link.symlink_to(target)
    # Of an earlier process that had the number of this one.
    (tmp_path / "folder" / f".rows.csv.{os.uname().nodename}.{os.getpid()}.tmp").touch()
    write(link, "whole")
    assert link.is_symlink()
    assert target.read_text() == "whole"
    assert os.listdir(target.parent) == ["rows.csv"]


def test_a_pipe_is_written(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    read: list[str] = []
    reader = threading.Thread(target=lambda: read.append(pipe.read_text()))
    reader.start()
    write(pipe, "rows")
    reader.join(timeout=60)
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    assert read == ["rows"]


WRITE = """import sys, time
from pathlib import Path
from ngramscan.reporting.files import write_whole
def write(path):
    path.write_text("half")
    print(flush=True)
    time.sleep(60)
write_whole(Path(sys.argv[1]), write)
"""


def test_what_another_run_writes_stays_until_it_is_killed(tmp_path: Path) -> None:
    path = tmp_path / "figure.svg"
    command = [sys.executable, "-c", WRITE, str(path)]
    with started(command, stdout=subprocess.PIPE) as process:
        assert process.stdout
        process.stdout.readline()
        (left,) = tmp_path.iterdir()
        assert stat.S_IMODE(left.stat().st_mode) == 0o600
        write(path, "whole")
        assert set(tmp_path.iterdir()) == {left, path}
        process.kill()
    write(path, "newer")
    assert {file.name: file.read_text() for file in tmp_path.iterdir()} == {"figure.svg": "newer"}


def test_failed_writing_keeps_what_was_there(tmp_path: Path) -> None:
    def fail(file: Path) -> None:
        file.write_text("half")
        raise OSError(28, "No space left on device")

    path = tmp_path / "rows.csv"
    path.write_text("before")
    with pytest.raises(DiskFullError, match=r"can't be written \(no space left on device\)"):
        write_whole(path, fail)
    assert {file.name: file.read_text() for file in tmp_path.iterdir()} == {"rows.csv": "before"}


def test_a_journal_is_for_no_one_else(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"text": "step"}\n')
    journal, scan = tmp_path / "journal", f"scan:{tmp_path / 'a.jsonl'}"
    assert invoke("contexts", "-e", "step", "--index", scan, "--journal", journal).code == 0
    assert stat.S_IMODE(journal.stat().st_mode) == 0o600


def test_stdout_by_its_name_is_written(capfd: pytest.CaptureFixture[str]) -> None:
    write(Path("/dev/stdout"), "rows")
    assert capfd.readouterr().out == "rows"


def test_no_room_for_a_file_is_one_line(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text("old\n")
    with limited(resource.RLIMIT_FSIZE, 0):
        done = invoke("index", "list", "-o", path)
    assert (done.code, done.stdout) == (1, "")
    assert re.fullmatch(rf"Error: {path}: can't be written \(file too large\).*\n", done.stderr)
    assert path.read_text() == "old\n"


def test_no_room_for_a_journal_is_one_line(tmp_path: Path) -> None:
    journal, corpus = tmp_path / "j.sqlite", tmp_path / "c.jsonl"
    corpus.write_text('{"text": "step by step"}\n')
    with limited(resource.RLIMIT_FSIZE, 4096):
        done = invoke("count", "f1", "--index", f"scan:{corpus}", "--journal", journal)
    assert (done.code, done.stdout) == (1, "")
    assert re.fullmatch(rf"Error: --journal {journal}: can't.*\n", done.stderr)


def test_the_mode_of_a_file_stays_and_a_new_one_follows_the_mask(tmp_path: Path) -> None:
    path, beside = tmp_path / "rows.csv", tmp_path / "beside"
    beside.touch()
    write(path, "")
    assert path.stat().st_mode == beside.stat().st_mode
    path.chmod(0o640)
    write(path, "")
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


@pytest.mark.parametrize(
    ("place", "problem"),
    [
        pytest.param(".", "it is a folder", id="a folder"),
        pytest.param("no/x.csv", "no such folder", id="in no folder"),
        pytest.param("/proc/x.csv", r"can't be written \(no such file", id="where nobody writes"),
    ],
)
def test_places_that_can_not_be_written_are_refused(
    tmp_path: Path, place: str, problem: str
) -> None:
    with pytest.raises(InputError, match=problem):
        check_writable(tmp_path / place)
    assert list(tmp_path.iterdir()) == []
