"""What commands write: files whole or not at all, and nothing else replaced."""

from __future__ import annotations

import os
import re
import signal
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from ngramscan.errors import InputError
from ngramscan.report import check_writable, write_whole
from tests.command import run

INFO = ("index", "list", "--format", "csv", "-o")


def test_symlink_is_followed(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    target, link = tmp_path / "folder" / "rows.csv", tmp_path / "link.csv"
    link.symlink_to(target)
    assert run(*INFO, link).code == 0
    assert link.is_symlink()
    assert target.read_text().startswith("name,")
    assert os.listdir(target.parent) == ["rows.csv"]


def test_pipe_is_written(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    read: list[str] = []
    reader = threading.Thread(target=lambda: read.append(pipe.read_text()))
    reader.start()
    assert run(*INFO, pipe).code == 0
    reader.join(timeout=30)
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    assert read[0].startswith("name,")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can make a device")
def test_device_is_written_and_stays(tmp_path: Path) -> None:
    device = tmp_path / "null"
    try:
        os.mknod(device, 0o666 | stat.S_IFCHR, os.makedev(1, 3))
        device.write_bytes(b"")
    except OSError as error:
        pytest.skip(f"no devices here: {error}")
    assert run(*INFO, device).code == 0
    assert stat.S_ISCHR(device.stat().st_mode)


def test_stdout_by_its_name_is_written() -> None:
    done = run(*INFO, "/dev/stdout")
    assert done.code == 0
    assert len(done.rows) == 10


@pytest.mark.parametrize("arguments", [("index", "list"), INFO[:-1], (*INFO, "/dev/full")])
def test_full_disk_is_one_line(arguments: tuple[str, ...]) -> None:
    with Path("/dev/full").open("wb") as full:
        command = [sys.executable, "-m", "ngramscan", *arguments]
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1
    assert "no space left on device" in done.stderr


def test_no_room_for_a_file_is_one_line_and_the_old_one_stays(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text("old\n")
    command = ["bash", "-c", f'ulimit -f 0; exec "{sys.executable}" "$@"', "-"]
    command += ["-m", "ngramscan", *INFO, str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == f"Error: {path}: can't be written (file too large)\n"
    assert [file.read_text() for file in tmp_path.iterdir()] == ["old\n"]


def test_no_room_for_a_journal_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "c.jsonl").write_text('{"text": "step by step"}\n')
    command = ["bash", "-c", f'ulimit -f 4; exec "{sys.executable}" "$@"', "-"]
    command += ["-m", "ngramscan", "count", "f1", "--index", f"scan:{tmp_path / 'c.jsonl'}"]
    command += ["--journal", str(tmp_path / "j.sqlite")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (1, "")
    assert re.fullmatch(r"Error: --journal \S+: can't be opened as a journal .*\n", done.stderr)


WRITE = """
import sys, time
from pathlib import Path
from ngramscan.output import write_whole

def write(path):
    path.write_text("half")
    print("writing", flush=True)
    time.sleep(60)

write_whole(Path(sys.argv[1]), write)
"""


def test_what_a_killed_run_left_goes_with_the_next(tmp_path: Path) -> None:
    path = tmp_path / "figure.svg"
    command = [sys.executable, "-c", WRITE, str(path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        assert process.stdout
        process.stdout.readline()
        (left,) = tmp_path.iterdir()
        assert stat.S_IMODE(left.stat().st_mode) == 0o600
        process.send_signal(signal.SIGKILL)
    write_whole(path, lambda file: file.write_text("whole"))
    assert {file.name: file.read_text() for file in tmp_path.iterdir()} == {"figure.svg": "whole"}


def test_what_another_run_writes_now_stays(tmp_path: Path) -> None:
    path = tmp_path / "figure.svg"
    command = [sys.executable, "-c", WRITE, str(path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        assert process.stdout
        process.stdout.readline()
        write_whole(path, lambda file: file.write_text("whole"))
        assert len(list(tmp_path.iterdir())) == 2
        process.kill()


def test_failed_writing_keeps_what_was_there(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text("before")

    def fail(file: Path) -> None:
        file.write_text("half")
        raise OSError(28, "No space left on device")

    with pytest.raises(InputError, match="no space left"):
        write_whole(path, fail)
    assert {file.name: file.read_text() for file in tmp_path.iterdir()} == {"rows.csv": "before"}


def test_mode_of_a_file_stays_and_a_new_one_follows_the_mask(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    write_whole(path, lambda file: file.write_text(""))
    mask = os.umask(0)
    os.umask(mask)
    assert stat.S_IMODE(path.stat().st_mode) == 0o666 & ~mask
    path.chmod(0o640)
    write_whole(path, lambda file: file.write_text(""))
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


def test_folder_or_missing_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="it is a folder"):
        check_writable(tmp_path)
    with pytest.raises(InputError, match="there is no folder"):
        check_writable(tmp_path / "no" / "rows.csv")


def test_journal_is_for_no_one_else(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"text": "step"}\n')
    journal = tmp_path / "journal"
    scan = f"scan:{tmp_path / 'a.jsonl'}"
    assert run("contexts", "step", "--index", scan, "--journal", journal).code == 0
    assert stat.S_IMODE(journal.stat().st_mode) == 0o600
