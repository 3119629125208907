"""A program that writes two contents into a file in turn, without ever making another file."""

import random
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

_LONGEST_PAUSE_S = 0.06
_INTERRUPTED_S = 0.015


@dataclass(frozen=True)
class Rewriter:
    """The program, while it runs."""

    path: Path

    @property
    def _interruptions(self) -> Path:
        return self.path.with_name(".interruptions")

    def was_interrupted(self, since: float) -> bool:
        """Tell whether the machine had it wait in the middle of a write.

        Readers then see a file that no program seems to write.
        """
        time.sleep(0.1)  # it may still wait
        times = self._interruptions.read_text().split()
        return any(float(ended_at) > since for ended_at in times)

    def write(self, contents: list[bytes], draw: random.Random) -> None:
        """Write contents in turn, in bursts, so that many readings are in the middle of one."""
        with self.path.open("r+b", buffering=0) as file, self._interruptions.open("w") as log:
            sys.stdout.write("started\n")
            sys.stdout.flush()
            while True:
                burst_ends = time.monotonic() + draw.uniform(0, _LONGEST_PAUSE_S)
                while (started_at := time.monotonic()) < burst_ends:
                    for content in contents:
                        file.seek(0)
                        file.write(content)
                    if time.monotonic() - started_at > _INTERRUPTED_S:
                        log.write(f"{time.monotonic()}\n")
                        log.flush()
                time.sleep(draw.uniform(0, _LONGEST_PAUSE_S))


@contextmanager
def rewritten_in_place(path: Path, contents: tuple[bytes, bytes]) -> Iterator[Rewriter]:
    """Have another process write contents of one length into a file, over and over."""
    assert len(contents[0]) == len(contents[1])
    copies = [path.with_name(f".version-{number}") for number in range(2)]
    for copy, content in zip(copies, contents, strict=True):
        copy.write_bytes(content)
    command = [sys.executable, __file__, str(path), *map(str, copies)]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        assert process.stdout
        process.stdout.readline()
        try:
            yield Rewriter(path)
        finally:
            process.kill()


if __name__ == "__main__":
    Rewriter(Path(sys.argv[1])).write(
        [Path(name).read_bytes() for name in sys.argv[2:]], random.Random(1)
    )
