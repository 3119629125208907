"""Tasks over real processes."""

import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable, Generator
from multiprocessing import Pipe
from pathlib import Path
from typing import Any

import pytest

from ngramscan.errors import (
    CorpusError,
    WorkerLostError,
)
from ngramscan.processes import pool
from ngramscan.processes.pool import Report, run_on_processes
from tests.support import worker_tasks
from tests.support.dask_cluster import wait_until
from tests.support.places import ROOT, TESTS
from tests.support.recorder import Recorder
from tests.support.started import started
from tests.support.worker_tasks import watch_of

pytestmark = pytest.mark.integration

HOW_LOST = ("SIGKILL", "exit code 3")


def run(work: Callable[[Any, Report], Any], tasks: list[Any], workers: int) -> Any:
    """Return what was done, by task, and what was heard meanwhile."""
    seen = Recorder()
    done = list(run_on_processes(work, tasks, workers, watch_of(seen)))
    assert len({end.task for end in done}) == len(done) == len(tasks)
    return {end.task: end.error or end.result for end in done}, seen


@pytest.mark.parametrize("workers", [1, 2])
def test_a_task_that_takes_more_memory_than_there_is_fails_alone(workers: int) -> None:
    done, _ = run(worker_tasks.take_memory, [10, 1 << 60, 20], workers)
    assert (done[0], done[2]) == (10, 20)
    assert str(done[1]) == "out of memory; use fewer --workers, or a machine with more memory"


@pytest.mark.parametrize("workers", [1, 3])
def test_every_task_is_done_once_and_an_anticipated_error_is_a_result(workers: int) -> None:
    done, seen = run(worker_tasks.odd_ones_fail, list(range(40)), workers)
    assert [done[n] for n in range(0, 40, 2)] == list(range(0, 40, 2))
    errors = {n: done[n] for n in range(1, 40, 2)}
    assert {type(error) for error in errors.values()} == {CorpusError}
    assert {n: (str(error), str(error.where)) for n, error in errors.items()} == {
        n: (f"file{n}: it is odd", f"file{n}") for n in errors
    }
    assert seen.advanced == 40
    assert run(worker_tasks.square, [], workers)[0] == {}


def test_a_worker_answers_with_reports_results_and_tracebacks(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(pool, "_REPORT_EVERY_S", -1.0)
    ours, theirs = Pipe()
    worker = threading.Thread(target=pool.do_tasks, args=[os.dup(theirs.fileno())])
    theirs.close()
    worker.start()
    ours.send(worker_tasks.odd_ones_fail)
    heard = []
    for task in (4, 3, "x"):
        ours.send((7, task))
        heard.append([ours.recv() for _ in range(3) if ours.poll(5)])
    ours.close()
    worker.join(timeout=60)
    assert not worker.is_alive()
    right, wrong, mistaken = heard
    assert right == [1, 0, pool.Done(7, 4, None)]
    assert repr(wrong[2].error) == repr(CorpusError("file3", "it is odd"))
    assert (wrong[2].task, str(wrong[2].error.where)) == (7, "file3")
    assert (mistaken[:2], "TypeError" in mistaken[2]) == ([1, 0], True)


def test_a_mistake_of_ours_is_raised_with_its_traceback() -> None:
    with pytest.raises(RuntimeError, match="ZeroDivisionError"):
        run(worker_tasks.crash, [1, 2, 3], 2)


def test_another_process_does_the_task_of_a_lost_one_or_it_is_given_up(tmp_path: Path) -> None:
    done, seen = run(worker_tasks.die, [(n, str(tmp_path)) for n in range(10)], 2)
    lost = done.pop(1)
    assert done == {n: n for n in range(10) if n != 1}
    assert isinstance(lost, WorkerLostError)
    problem = "a worker process was lost 3 times at the same task (exit code 3)"
    assert str(lost) == f"{problem}; if memory ran out, --workers 1 needs less"
    told = [f"a worker process was lost ({how}); another does its task" for how in HOW_LOST]
    assert sorted(seen.notices) == sorted(2 * told)
    assert seen.advanced == 9  # what the lost attempts had reported was taken back


def test_a_reader_that_stops_ends_the_processes() -> None:
    before = children()
    stream = run_on_processes(worker_tasks.square, list(range(100)), 2, watch_of(Recorder()))
    next(stream)
    assert len(children() - before) == 2
    assert isinstance(stream, Generator)
    stream.close()
    assert children() - before == set()


def children(pid: int | None = None) -> set[str]:
    process = pid or os.getpid()
    return set(Path(f"/proc/{process}/task/{process}/children").read_text().split())


def test_processes_run_no_script_again_and_end_with_their_parent(tmp_path: Path) -> None:
    """The usual way of multiprocessing would run a script without a main guard in every process."""
    script = TESTS / "support" / "programs" / "take_first_of_many.py"
    command = [sys.executable, str(shutil.copy(script, tmp_path))]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    with started(command, stdout=subprocess.PIPE, env=environment) as parent:
        assert parent.stdout
        assert [parent.stdout.readline() for _ in range(2)] == ["started\n", "True\n"]
        workers = children(parent.pid)
        parent.kill()
        assert len(workers) == 2
        assert parent.stdout.read() == ""
    wait_until(lambda: not any(is_running(pid) for pid in workers))


def test_workers_in_a_long_step_of_compiled_code_end_with_their_parent() -> None:
    command = [sys.executable, "-m", "tests.support.programs.hold_two_workers"]
    with started(command, stdout=subprocess.PIPE, cwd=ROOT) as parent:
        assert parent.stdout
        assert parent.stdout.readline() == "held\n"
        workers = children(parent.pid)
        parent.kill()
    assert len(workers) == 2
    wait_until(lambda: not any(is_running(pid) for pid in workers))  # the step takes much longer


def is_running(pid: str) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False
