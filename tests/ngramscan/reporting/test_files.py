"""What commands write: files whole or not at all, and nothing else replaced."""

import os
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from ngramscan.errors import DiskFullError
from ngramscan.reporting import check_writable, write_whole
from tests.support.command import invoke


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
    reader.join(timeout=30)
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
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
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
