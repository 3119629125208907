"""Processes of tests, which end with them."""

import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any


@contextmanager
def started(
    command: Sequence[str], *, text: bool = True, **options: Any
) -> Iterator[subprocess.Popen[Any]]:
    """Start a process, with pipes of text or of bytes; it is killed at the end, if it still runs.

    `Popen` itself waits for its process at the end, which never comes if a test fails before.
    """
    with subprocess.Popen(command, text=text, **options) as process:
        try:
            yield process
        finally:
            process.kill()
