"""A Dask scheduler on loopback and its workers, each a process of its own."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path


def wait_until(is_so: Callable[[], bool]) -> None:
    ends = time.monotonic() + 60
    while not is_so():
        assert time.monotonic() < ends
        time.sleep(0.02)


@dataclass
class Cluster:
    """A scheduler and its workers."""

    file: Path
    environment: Mapping[str, str] | None = None
    address: str = ""
    processes: list[subprocess.Popen[bytes]] = field(default_factory=list)

    def start(self, program: str, *options: str) -> subprocess.Popen[bytes]:
        common = ["--host", "127.0.0.1", "--no-dashboard", "--scheduler-file", str(self.file)]
        process = subprocess.Popen(
            [sys.executable, "-m", f"distributed.cli.dask_{program}", *common, *options],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env=self.environment,
        )
        self.processes.append(process)
        return process

    def start_worker(self) -> subprocess.Popen[bytes]:
        from dask.distributed import Client

        with Client(self.address, set_as_default=False) as client:  # type: ignore[no-untyped-call]
            there = len(client.scheduler_info()["workers"])
            folder = ["--local-directory", str(self.file.parent)]
            worker = self.start("worker", "--nthreads", "1", "--no-nanny", *folder)
            client.wait_for_workers(there + 1, timeout=60)
        return worker


@contextmanager
def dask_cluster(folder: Path, environment: Mapping[str, str] | None = None) -> Iterator[Cluster]:
    """Start a scheduler; it has no workers yet."""
    cluster = Cluster(folder / "scheduler.json", environment)
    cluster.start("scheduler", "--port", "0", "--no-show")
    try:
        wait_until(lambda: cluster.file.exists() and bool(cluster.file.read_text()))
        cluster.address = json.loads(cluster.file.read_text())["address"]
        yield cluster
    finally:
        for process in reversed(cluster.processes):
            process.kill()
            process.wait()
