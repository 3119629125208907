from __future__ import annotations

import os
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ngramscan.errors import CorpusError, WorkerLostError
from ngramscan.processes.pool import Report, Watch, run_on_processes
from tests import worker_tasks


class Seen:
    """What a watch was told."""

    def __init__(self) -> None:
        self.amount = 0
        self.notices: list[str] = []

    @property
    def watch(self) -> Watch:
        return Watch(self._add, self.notices.append)

    def _add(self, amount: int) -> None:
        self.amount += amount


def run(
    work: Callable[[Any, Report], Any], tasks: list[Any], workers: int, seen: Seen | None = None
) -> dict[int, Any]:
    done = list(run_on_processes(work, tasks, workers, (seen or Seen()).watch))
    assert len({one.task for one in done}) == len(done) == len(tasks)
    return {one.task: one.error or one.result for one in done}


@pytest.mark.parametrize("workers", [1, 2, 5])
def test_every_task_is_done_once(workers: int) -> None:
    assert run(worker_tasks.square, list(range(40)), workers) == {n: n * n for n in range(40)}
    assert run(worker_tasks.square, [], workers) == {}


@pytest.mark.parametrize("workers", [1, 2])
def test_an_anticipated_error_is_a_result_and_the_others_go_on(workers: int) -> None:
    done = run(worker_tasks.odd_ones_fail, list(range(6)), workers)
    assert [done[n] for n in (0, 2, 4)] == [0, 2, 4]
    for n in (1, 3, 5):
        assert isinstance(done[n], CorpusError)
        assert str(done[n]) == f"file{n}: it is odd"
        assert done[n].where == f"file{n}"


def test_a_mistake_of_ours_is_raised_with_its_traceback() -> None:
    with pytest.raises(RuntimeError, match="ZeroDivisionError"):
        run(worker_tasks.crash, [1, 2, 3], 2)


def test_the_task_of_a_killed_process_is_done_by_another(tmp_path: Path) -> None:
    seen = Seen()
    tasks = [(n, str(tmp_path)) for n in range(20)]
    assert run(worker_tasks.die_once, tasks, 2, seen) == {n: n for n in range(20)}
    assert seen.notices == ["a worker process was lost (SIGKILL); another does its task"] * 4
    assert seen.amount == 16 + 4  # what the lost attempts had reported was taken back


def test_a_task_that_kills_every_process_is_given_up_and_the_others_are_done() -> None:
    seen = Seen()
    done = run(worker_tasks.always_die, [0, 1, 2, 3], 2, seen)
    assert [done[n] for n in (0, 2, 3)] == [0, 2, 3]
    assert isinstance(done[1], WorkerLostError)
    assert "lost 3 times at the same task (exit code 3)" in str(done[1])
    assert len(seen.notices) == 2


def test_a_reader_that_stops_ends_the_processes() -> None:
    before = children()
    stream = run_on_processes(worker_tasks.square, list(range(100)), 2, Seen().watch)
    next(stream)
    assert len(children() - before) == 2
    stream.close()  # type: ignore[attr-defined]
    assert children() - before == set()


def children() -> set[str]:
    path = Path(f"/proc/self/task/{os.getpid()}/children")
    return set(path.read_text().split())


def test_processes_end_when_their_parent_is_killed() -> None:
    program = (
        "import time\nfrom tests.worker_tasks import square\n"
        "from ngramscan.processes.pool import *\n"
        "stream = run_on_processes(square, list(range(9)), 2, Watch(print, print))\n"
        "next(stream); time.sleep(60)\n"
    )
    root = Path(__file__).resolve().parent.parent
    parent = subprocess.Popen([sys.executable, "-c", program], cwd=root, stdout=subprocess.DEVNULL)
    listing = Path(f"/proc/{parent.pid}/task/{parent.pid}/children")
    while len(workers := listing.read_text().split()) < 2:
        time.sleep(0.02)
    parent.kill()
    parent.wait()
    ended_by = time.monotonic() + 10
    while any(is_running(pid) for pid in workers):
        assert time.monotonic() < ended_by
        time.sleep(0.02)


def is_running(pid: str) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def test_a_script_without_a_main_guard_may_count(tmp_path: Path) -> None:
    """The usual way of multiprocessing would run the script once more in every process."""
    script = tmp_path / "analysis.py"
    for n in range(4):
        (tmp_path / f"{n}.jsonl").write_text('{"text": "solve for x"}\n' * 250_000)
    script.write_text(
        textwrap.dedent(f"""
        import ngramscan
        print("started")
        frame = ngramscan.count("f1", index="scan:{tmp_path}/*.jsonl", workers=2)
        print(frame.query("query == 'solve for'")["documents"].item())
        """)
    )
    done = subprocess.run(
        [sys.executable, str(script)], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout == "started\n1000000\n"
