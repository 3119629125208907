"""A process that has imported both packages, and forks a child for each command that it is sent.

Where a test needs a command in a process of its own but not what its start does, a child of this
server is ready within milliseconds, and a new Python takes a second of the processor for imports.
A child is a process as any other: with the streams, folder and environment of who sent the command
(`programs/send_command.py`), killed when that one is killed. Tests of kills, of imports and of
starts run real ones.
"""

import atexit
import fcntl
import gc
import importlib
import os
import runpy
import selectors
import signal
import socket
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path
from typing import NoReturn

from tests.support.places import ROOT

SEND = Path(__file__).parent / "programs" / "send_command.py"
IMPORTED = (
    "pandas",
    "ngramscan.cli",
    "ngramscan.commands.count",
    "ngramscan.indexes.opening",
    "ngramscan.indexes.sizes",
    "ngramscan.prevalence.count",
    "ngramscan.reporting.rows",
    "ngramscan.reporting.tables",
    "ngramscan.serve.server",
    "evalcore.cli",
    "evalcore.commands.score",
)
"""What commands import; not what starts threads, which a child would lack."""
MOST_FILES, BEYOND = 64, 512
"""How many open files a command may be sent with, and a number that none of them has."""


@cache
def quick_command(package: str) -> tuple[str, ...]:
    """Return how a package's command is run by a child of this worker's server.

    It is a new Python where coverage is measured, which children that are forked don't report.
    """
    coverage = sys.modules.get("coverage")
    if coverage and coverage.Coverage.current():
        return sys.executable, "-m", package
    return sys.executable, "-IS", str(SEND), _started(), package


@cache
def _started() -> str:
    """Start the server of this worker, and return the path of its socket."""
    folder = tempfile.mkdtemp(prefix="commands")
    path = f"{folder}/socket"
    command = [sys.executable, "-m", "tests.support.command_server", path]
    process = subprocess.Popen(
        command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True
    )
    assert process.stdin
    assert process.stdout
    assert process.stdout.readline() == b"ready\n"
    process.stdout.close()

    def end() -> None:
        process.communicate()
        os.rmdir(folder)

    atexit.register(end)
    return path


class Children:
    """The commands that run, each with the connection of who sent it."""

    def __init__(self, path: str) -> None:
        self.running = dict[int, socket.socket]()
        self.selector = selectors.DefaultSelector()
        self.listening = socket.socket(socket.AF_UNIX)
        self.listening.bind(path)
        self.listening.listen(64)
        self.woken, self.waking = socket.socketpair()
        self.waking.setblocking(False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(self.waking.fileno())
        for file in (self.listening, self.woken, sys.stdin.buffer):
            self.selector.register(file, selectors.EVENT_READ)

    def serve(self) -> None:
        """Start commands and tell their ends until standard input is closed."""
        while True:
            for key, _ in self.selector.select():
                if key.fileobj is sys.stdin.buffer:
                    return
                if key.fileobj is self.listening:
                    self.start(self.listening.accept()[0])
                elif key.fileobj is self.woken:
                    self.woken.recv(4096)
                    self.tell_ends()
                else:
                    self.kill(key.data)

    def start(self, connection: socket.socket) -> None:
        """Fork a child for the command that a connection brings."""
        length, files, _, _ = socket.recv_fds(connection, 8, MOST_FILES)
        content = _read(connection, int.from_bytes(length, "big"))
        pid = os.fork()
        if pid == 0:
            self.selector.close()
            self.listening.close()
            _run(content.decode("utf-8", "surrogateescape").split("\0"), files)
        for file in files:
            os.close(file)
        self.running[pid] = connection
        self.selector.register(connection, selectors.EVENT_READ, pid)
        connection.sendall(b"%d\n" % pid)

    def tell_ends(self) -> None:
        """Answer those whose commands have ended."""
        while self.running:
            pid, status = os.waitpid(-1, os.WNOHANG)
            if not pid:
                return
            connection = self.running.pop(pid)
            if connection in self.selector.get_map():
                self.selector.unregister(connection)
                connection.sendall(b"%d\n" % os.waitstatus_to_exitcode(status))
            connection.close()

    def kill(self, pid: int) -> None:
        """Kill the command of one that is gone before its end."""
        self.selector.unregister(self.running[pid])
        os.kill(pid, signal.SIGKILL)


def _read(connection: socket.socket, size: int) -> bytes:
    parts = list[bytes]()
    while size:
        parts.append(connection.recv(min(size, 1 << 16)))
        size -= len(parts[-1])
    return b"".join(parts)


def _run(texts: list[str], files: list[int]) -> NoReturn:
    """Be the command: with these files, folder, arguments and environment, until its end.

    What it raises leaves the interpreter as it would if the command had been started by itself.
    """
    folder, numbers, number, *rest = texts
    # First beyond all numbers that they shall have, so that none takes the place of another.
    moved = [fcntl.fcntl(file, fcntl.F_DUPFD_CLOEXEC, BEYOND) for file in files]
    for file in files:
        os.close(file)
    for target, file in zip(map(int, numbers.split(",")), moved, strict=True):
        os.dup2(file, target)
        os.close(file)
    package, *arguments = rest[: int(number)]
    os.chdir(folder)
    os.environ.clear()
    for text in rest[int(number) :]:
        name, _, value = text.partition("=")
        os.environ[name] = value
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    sys.stdin = os.fdopen(0, encoding="utf-8", closefd=False)
    sys.stdout = os.fdopen(1, "w", encoding="utf-8", closefd=False)
    sys.stderr = os.fdopen(2, "w", encoding="utf-8", errors="backslashreplace", closefd=False)
    sys.argv = [package, *arguments]
    sys.path[0] = folder
    runpy.run_module(package, run_name="__main__")
    sys.exit(0)


def main() -> None:
    """Serve at the path of a socket until standard input is closed, then kill what still runs."""
    for name in IMPORTED:
        importlib.import_module(name)
    gc.freeze()  # a child's collections would copy what it shares with the server
    children = Children(sys.argv[1])
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    children.serve()
    for pid in children.running:
        os.kill(pid, signal.SIGKILL)
    os.unlink(sys.argv[1])


if __name__ == "__main__":
    main()
