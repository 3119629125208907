"""People who run programs in sandboxes, and what they must find unharmed afterwards."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parent.parent
NOBODY = 65534
SECRET = "secret-" + "5b1f8a"
LINUX = sys.platform == "linux"


def person_params() -> list[Any]:
    """As root and as an ordinary user where the tests run as root, else as who runs them."""
    if os.getuid() != 0:
        return [pytest.param(os.getuid(), id="this user")]
    return [pytest.param(0, id="root"), pytest.param(NOBODY, id="nobody")]


class Person:
    """A process of a user that runs programs, with a home that holds something dear."""

    def __init__(self, user: int, folder: Path) -> None:
        self.user = user
        self.home = folder / "home"
        self.temporary = folder / "temporary"
        for each in (self.home, self.temporary):
            each.mkdir()
        (self.home / "dear.txt").write_text(SECRET)
        for path in (self.home, self.temporary, self.home / "dear.txt"):
            os.chown(path, user, -1)
        environment = {"HOME": str(self.home), "TMPDIR": str(self.temporary), "API_KEY": SECRET}
        self.process = subprocess.Popen(
            [sys.executable, str(ROOT / "tests" / "sandbox_person.py"), str(user)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=environment,
            cwd="/",
        )
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.asks, self.answers = self.process.stdin, self.process.stdout
        if self.answers.readline() != "ready\n":
            _, told = self.process.communicate()
            pytest.skip(f"no process of user {user}: {told.strip().splitlines()[-1]}")

    def send(self, programs: Any, limits: dict[str, float] | None = None, **options: Any) -> None:
        asked = {"programs": programs, "limits": limits or {}, "options": options}
        self.asks.write(json.dumps(asked) + "\n")
        self.asks.flush()

    def ask(self, *arguments: Any, **options: Any) -> dict[str, Any]:
        self.send(*arguments, **options)
        return self.receive()

    def receive(self) -> dict[str, Any]:
        answer = self.answers.readline()
        assert answer, self.process.stderr.read() if self.process.stderr else ""
        return dict(json.loads(answer))

    def processes(self) -> list[int]:
        """All that was started to run this person's programs: their command names the folder."""
        found = []
        for entry in Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(FileNotFoundError, ProcessLookupError):
                command = (entry / "cmdline").read_bytes()
                state, parent = (entry / "stat").read_text().rsplit(")", 1)[1].split()[:2]
                # Dead ones have no command; a zombie child of the person is one too many.
                zombie = state == "Z" and int(parent) == self.process.pid
                if zombie or str(self.temporary).encode() in command:
                    found.append(int(entry.name))
        return [number for number in found if number != self.process.pid]

    def wait_for_processes(self, wanted: int, within_s: float = 10.0) -> None:
        until = time.monotonic() + within_s
        while len(self.processes()) < wanted:
            assert time.monotonic() < until, "the programs were never started"
            time.sleep(0.01)

    def assert_nothing_left(self, within_s: float = 5.0) -> None:
        until = time.monotonic() + within_s
        while left := [*map(str, self.processes()), *os.listdir(self.temporary)]:
            assert time.monotonic() < until, f"left: {left}"
            time.sleep(0.02)
        assert [path.name for path in self.home.iterdir()] == ["dear.txt"]
        assert (self.home / "dear.txt").read_text() == SECRET

    def close(self) -> None:
        self.process.kill()
        self.process.communicate()


@contextlib.contextmanager
def person_of(user: int) -> Iterator[Person]:
    # Not below pytest's own folder, which other users can't enter.
    with tempfile.TemporaryDirectory(prefix="sandboxed-") as name:
        Path(name).chmod(0o755)
        person = Person(user, Path(name))
        try:
            yield person
        finally:
            person.close()
