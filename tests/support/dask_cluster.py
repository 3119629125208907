"""A Dask scheduler on loopback and its workers, each a process of its own."""

import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path


def wait_until(is_so: Callable[[], bool]) -> None:
    """Wait for a condition, a minute at most."""
    ends = time.monotonic() + 60
    while not is_so():
        assert time.monotonic() < ends
        time.sleep(0.02)


class Cluster:
    """A scheduler and its workers."""

    def __init__(self, folder: Path, environment: Mapping[str, str] | None) -> None:
        self.folder, self.environment = folder, environment
        self.processes: list[subprocess.Popen[bytes]] = []
        file = folder / "scheduler.json"
        self.start("scheduler", "--port", "0", "--no-show", "--scheduler-file", str(file))
        wait_until(lambda: file.exists() and bool(file.read_text()))
        self.address = json.loads(file.read_text())["address"]

    def start(self, program: str, *options: str) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", f"distributed.cli.dask_{program}", *options]
        command += ["--host", "127.0.0.1", "--no-dashboard"]
        out = subprocess.DEVNULL
        process = subprocess.Popen(command, stdout=out, stderr=out, env=self.environment)
        self.processes.append(process)
        return process

    def start_worker(self) -> subprocess.Popen[bytes]:
        from dask.distributed import Client

        options = "--nthreads", "1", "--no-nanny", "--local-directory", str(self.folder)
        with Client(self.address, set_as_default=False) as client:  # type: ignore[no-untyped-call]
            there = len(client.scheduler_info()["workers"])
            worker = self.start("worker", self.address, *options)
            client.wait_for_workers(there + 1, timeout=60)
        return worker


@contextmanager
def dask_cluster(folder: Path, environment: Mapping[str, str] | None = None) -> Iterator[Cluster]:
    """Start a scheduler; it has no workers yet."""
    cluster = Cluster(folder, environment)
    try:
        yield cluster
    finally:
        for process in reversed(cluster.processes):
            process.kill()
            process.wait()
