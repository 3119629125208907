"""A server in a process of its own, which says its port and ends when its input does."""

import subprocess
from collections.abc import Sequence
from contextlib import suppress
from typing import Self

from tests.support.places import ROOT


class ServerProcess:
    """A server that prints its port on 127.0.0.1; `url` is its address while it runs."""

    url: str

    def __init__(self, command: Sequence[str]) -> None:
        self._command = command

    def __enter__(self) -> Self:
        pipe = subprocess.PIPE
        self._process = subprocess.Popen(self._command, stdin=pipe, stdout=pipe, cwd=ROOT)
        assert self._process.stdout is not None
        self.url = f"http://127.0.0.1:{int(self._process.stdout.readline())}/"
        return self

    def __exit__(self, *_: object) -> None:
        with suppress(subprocess.TimeoutExpired):
            self._process.communicate(timeout=5)
        self._process.kill()
        self._process.wait()
