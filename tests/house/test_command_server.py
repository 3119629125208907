"""Commands that a server forks are as those that start by themselves."""

import json
import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

from tests.support.command import NGRAMSCAN, shell_command
from tests.support.command_server import quick_command
from tests.support.serve_process import INDEXES
from tests.support.started import started

CORPUS = '{"text": "step by step"}\n{"text": "a step"}\n'
COUNT = ("count", "-e", "step", "--index", "scan:-", "--format", "csv", "-q")
PATIENCE_S = 120


@pytest.mark.parametrize(
    ("arguments", "stdin"),
    [
        pytest.param(COUNT, CORPUS, id="rows of standard input"),
        pytest.param(("count", "--indx", "x"), "", id="wrong usage"),
        pytest.param(("count", "-e", "a", "--index", "scan:none.jsonl"), "", id="no such file"),
        pytest.param(("--version",), "", id="the version"),
        pytest.param(("patterns", "show", "f1"), "", id="characters beyond ASCII"),
    ],
)
def test_it_prints_and_ends_as_by_itself(arguments: tuple[str, ...], stdin: str) -> None:
    def run(program: tuple[str, ...]) -> tuple[int, str, str]:
        done = subprocess.run(
            [*program, *arguments], input=stdin, capture_output=True, text=True, check=False
        )
        without_times = [line.rpartition(",20")[0] or line for line in done.stdout.splitlines()]
        return done.returncode, "\n".join(without_times), done.stderr

    assert run(quick_command("ngramscan")) == run(NGRAMSCAN)


def test_it_has_the_folder_and_environment_of_who_sent_it(tmp_path: Path) -> None:
    (tmp_path / "c.jsonl").write_text(CORPUS)
    environment = {**os.environ, "NGRAMSCAN_INDEX": "scan:c.jsonl"}
    command = [*quick_command("ngramscan"), "count", "-e", "step", "--format", "jsonl", "-q"]
    said = subprocess.check_output(command, cwd=tmp_path, env=environment, text=True)
    assert json.loads(said)["occurrences"] == 3


@pytest.mark.skipif(not Path("/proc").exists(), reason="this needs /proc to see the processes")
@pytest.mark.parametrize(
    ("sent", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 0), (signal.SIGKILL, -9)]
)
def test_it_ends_by_the_signal_that_its_sender_gets(
    sent: signal.Signals, code: int, tmp_path: Path
) -> None:
    command = [*quick_command("ngramscan"), "serve", str(INDEXES[0]), "--port", "0"]
    with started(command, text=False, stderr=subprocess.PIPE, cwd=tmp_path) as process:
        assert process.stderr
        # Where the index reader is compiled first, that is said before.
        assert any(line.startswith(b"http") for line in process.stderr), "it is ready"
        running = wait_for_command(tmp_path)
        process.send_signal(sent)
        assert process.wait(PATIENCE_S) == code
        wait_for_end(running)


def wait_for_command(folder: Path) -> int:
    """Return the process that has a folder as its own, besides the one that sent it."""
    until = time.monotonic() + PATIENCE_S
    while time.monotonic() < until:
        for entry in Path("/proc").glob("[0-9]*"):
            try:
                words = (entry / "cmdline").read_bytes()
                if (entry / "cwd").resolve() == folder and b"command_server" in words:
                    return int(entry.name)
            except OSError:
                continue  # another process that has ended
        time.sleep(0.02)
    raise AssertionError("the command did not start")


def wait_for_end(pid: int) -> None:
    until = time.monotonic() + PATIENCE_S
    while Path(f"/proc/{pid}").exists():
        assert time.monotonic() < until, "the command still runs"
        time.sleep(0.02)


def test_several_run_at_once_each_with_its_own_streams() -> None:
    command = [*quick_command("ngramscan"), *COUNT]
    pipe = subprocess.PIPE
    started = [subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True) for _ in range(5)]
    outputs = {}
    for number, process in reversed(list(enumerate(started, 1))):
        outputs[number], _ = process.communicate(CORPUS * number, timeout=PATIENCE_S)
    assert [process.returncode for process in started] == [0] * 5
    missing = [number for number in outputs if f",step,{3 * number}," not in outputs[number]]
    assert missing == [], outputs


def test_a_pipeline_of_the_shell_has_both_commands() -> None:
    line = "ngramscan --version | cat; evalcore --version"
    done = subprocess.run(shell_command(line), capture_output=True, text=True, check=True)
    names = [text.split()[0].strip(",") for text in done.stdout.splitlines()]
    assert names == ["ngramscan", "evalcore"]


def test_it_reads_what_the_shell_opened_for_it(tmp_path: Path) -> None:
    (tmp_path / "c.jsonl").write_text(CORPUS)
    line = "ngramscan count -e step --index scan:<(cat c.jsonl) --format csv -q"
    done = subprocess.run(
        shell_command(line), cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert ",step,3," in done.stdout
