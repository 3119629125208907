"""`ngramscan serve` as a process of its own, for the length of a `with` block."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

REPLAY = Path(__file__).parent / "replay"
INDEXES = (REPLAY / "index" / "replay", REPLAY / "index" / "replay2")


@dataclass
class Served:
    """A server that accepts connections, and what it told on stderr so far."""

    process: subprocess.Popen[str]
    url: str
    lines: list[str]
    reader: threading.Thread

    @property
    def port(self) -> int:
        return int(self.url.rstrip("/").rpartition(":")[2])

    def end(self, signal_number: int) -> int:
        """Send a signal, wait, and return the exit code."""
        self.process.send_signal(signal_number)
        code = self.process.wait(timeout=60)
        self.reader.join(timeout=10)
        return code

    def resident_bytes(self) -> int:
        """Return how much memory the process holds; 0 where that can't be read off, as on macOS."""
        file = Path(f"/proc/{self.process.pid}/statm")
        if not file.exists():
            return 0
        pages = file.read_text(encoding="ascii").split()[1]
        return int(pages) * os.sysconf("SC_PAGE_SIZE")


@contextmanager
def serving(*arguments: str | Path, indexes: tuple[Path, ...] = INDEXES) -> Iterator[Served]:
    """Start a server on a free port, unless told otherwise, and wait until it is ready."""
    options = [str(argument) for argument in arguments]
    if "--port" not in options:
        options += ["--port", "0"]
    command = [sys.executable, "-m", "ngramscan", "serve", *map(str, indexes), *options]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, encoding="utf-8") as process:
        lines: list[str] = []
        ready = threading.Event()

        def read() -> None:
            assert process.stderr
            for line in process.stderr:
                lines.append(line.rstrip("\n"))
                if line.startswith("ngramscan count f1 --index "):
                    ready.set()
            ready.set()

        reader = threading.Thread(target=read, daemon=True)
        reader.start()
        try:
            assert ready.wait(120)
            assert process.poll() is None, lines
            url = lines[-1].split("--index ")[-1].rpartition("/")[0] + "/"
            yield Served(process, url, lines, reader)
        finally:
            process.kill()
            process.wait(timeout=60)
            reader.join(timeout=10)
