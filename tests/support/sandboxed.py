"""People who run programs in sandboxes, and what they must find unharmed afterwards.

As a program, this is such a person, asked by lines of JSON: `programs`, `limits`, `options` of the
sandbox, and the `grace` of its supervisors. Each is answered by a line: `layers` and `outcomes`, or
`error`.
"""

import contextlib
import dataclasses
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

# Not that of places: as a program, run by its path, this can import no other module of the tests.
ROOT = Path(__file__).resolve().parents[2]
SECRET = "secret-" + "5b1f8a"
WITHIN_S = 60.0
"""How long to wait for what takes a moment: more only says that the machine is busy."""
# As root and as an ordinary user where the tests run as root, else as who runs them.
USERS = [os.getuid()] if os.getuid() else [0, 65534]


class Person:
    """A process of a user that runs programs, with a home that holds something dear."""

    def __init__(self, user: int, folder: Path) -> None:
        self.home, self.temporary = folder / "home", folder / "temporary"
        self.home.mkdir()
        self.temporary.mkdir()
        (self.home / "dear.txt").write_text(SECRET)
        for path in (self.home, self.temporary, self.home / "dear.txt"):
            os.chown(path, user, -1)
        argv = [sys.executable, "-u", __file__, str(user)]
        env = {"HOME": str(self.home), "TMPDIR": str(self.temporary), "API_KEY": SECRET}
        pipes: Any = dict.fromkeys(["stdin", "stdout", "stderr"], subprocess.PIPE)
        self.process: Any = subprocess.Popen(argv, text=True, bufsize=1, env=env, cwd="/", **pipes)

    def send(
        self,
        programs: Any,
        limits: dict[str, float] | None = None,
        grace: float = 30.0,
        **options: Any,
    ) -> None:
        asked = {"programs": programs, "limits": limits or {}, "grace": grace, "options": options}
        self.process.stdin.write(json.dumps(asked) + "\n")

    def receive(self) -> dict[str, Any]:
        answer = self.process.stdout.readline()
        assert answer, self.process.stderr.read()
        return dict(json.loads(answer))

    def processes(self) -> list[int]:
        """All that was started to run this person's programs, parents before their children.

        Their command names the folder. Their numbers tell no order: those begin again at 1.
        """
        parents: dict[int, int] = {}
        for entry in Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(FileNotFoundError, ProcessLookupError):
                command = (entry / "cmdline").read_bytes()
                state, parent = (entry / "stat").read_text().rsplit(")", 1)[1].split()[:2]
                # Dead ones have no command; a zombie child of the person is one too many.
                zombie = state == "Z" and int(parent) == self.process.pid
                if zombie or str(self.temporary).encode() in command:
                    parents[int(entry.name)] = int(parent)
        parents.pop(self.process.pid, None)

        def ancestors(number: int) -> int:
            return 1 + ancestors(parents[number]) if number in parents else 0

        return sorted(parents, key=ancestors)

    def wait_for_processes(self, wanted: int) -> None:
        until = time.monotonic() + WITHIN_S
        while len(self.processes()) < wanted:
            assert time.monotonic() < until, "the programs were never started"
            time.sleep(0.01)

    def wait_for_a_ready_program(self) -> list[int]:
        """Return the processes when the last of them has called itself ready."""
        until = time.monotonic() + WITHIN_S
        while True:
            assert time.monotonic() < until, "the program was never ready"
            processes = self.processes()
            with contextlib.suppress(IndexError, FileNotFoundError, ProcessLookupError):
                if Path(f"/proc/{processes[-1]}/comm").read_text() == "ready\n":
                    return processes
            time.sleep(0.01)

    def wait_for_the_end_of(self, process: int) -> None:
        until = time.monotonic() + WITHIN_S
        while process in self.processes():
            assert time.monotonic() < until, f"process {process} lives on"
            time.sleep(0.02)

    def assert_nothing_left(self) -> None:
        until = time.monotonic() + WITHIN_S
        while left := [*map(str, self.processes()), *os.listdir(self.temporary)]:
            assert time.monotonic() < until, f"left: {left}"
            time.sleep(0.02)
        assert {each.name: each.read_text() for each in self.home.iterdir()} == {"dear.txt": SECRET}


@contextlib.contextmanager
def person_of(user: int) -> Iterator[Person]:
    import pytest

    # Not below pytest's own folder, which other users can't enter.
    with tempfile.TemporaryDirectory(prefix="sandboxed-") as name:
        Path(name).chmod(0o755)
        person = Person(user, Path(name))
        try:
            first = person.process.stdout.readline()
            if first.startswith("can't become"):  # as in a container without mounts of its own
                pytest.skip(first.strip())
            assert first == "ready\n", person.process.stderr.read()
            yield person
        finally:
            person.process.kill()
            person.process.communicate()


def become(user: int) -> None:
    """Become an ordinary user who can read Python and this repository, wherever they are."""
    from evalcore.sandbox import kernel

    kernel.call("unshare", "unshare", kernel.NEW_MOUNTS)
    kernel.mount("", "/", None, kernel.PRIVATE | kernel.RECURSIVE)
    for path in dict.fromkeys([sys.base_prefix, sys.prefix, str(ROOT)]):
        if not Path(path).stat().st_mode & 0o001:
            raise PermissionError(f"{path} is closed to other users")
        closed = [p for p in reversed(Path(path).parents) if not p.stat().st_mode & 0o001]
        if closed:
            descriptor = os.open(path, os.O_PATH)
            kernel.mount("tmpfs", str(closed[0]), "tmpfs", 0)
            closed[0].chmod(0o755)
            Path(path).mkdir(parents=True)
            own = f"/proc/self/fd/{descriptor}"
            kernel.mount(own, path, None, kernel.BIND | kernel.RECURSIVE)
            os.close(descriptor)
    os.setgroups([])
    os.setgid(user)
    os.setuid(user)
    # As any process of that user, and not only what has changed its user: readable by the same.
    kernel.control(4, "set dumpable", 1)


def answer(asked: dict[str, Any]) -> dict[str, object]:
    from evalcore.sandbox import sandbox as sandbox_module
    from evalcore.sandbox.layers import ProgramLimits
    from evalcore.sandbox.sandbox import Program, Sandbox
    from ngramscan.errors import SandboxError

    sandbox_module.GRACE_S = asked["grace"]
    try:
        with Sandbox(ProgramLimits(**asked["limits"]), **asked["options"]) as sandbox:
            outcomes = sandbox.run(Program(*each) for each in asked["programs"])
            return {"layers": sandbox.layers, "outcomes": [*map(dataclasses.asdict, outcomes)]}
    except SandboxError as error:
        return {"error": str(error)}


if __name__ == "__main__":
    sys.path[0] = str(ROOT)
    if int(sys.argv[1]) != os.getuid():
        try:
            become(int(sys.argv[1]))
        except OSError as error:
            sys.stdout.write(f"can't become user {sys.argv[1]}: {error}\n")
            sys.exit(1)
    sys.stdout.write("ready\n")
    for line in sys.stdin:
        sys.stdout.write(json.dumps(answer(json.loads(line))) + "\n")
