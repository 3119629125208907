"""`ngramscan` that is killed before its Nth change of a file: `python -m … N ARGUMENTS…`.

Changes are those within the working folder: files that are opened to be written, renamed or
removed, and folders that are made or removed.
"""

import os
import signal
import sys
from typing import Any

from ngramscan.cli import main

_CHANGES = {"os.rename", "os.remove", "os.mkdir", "os.rmdir"}


def kill_before(number: int) -> None:
    """Have this process killed by the system before it makes a change."""
    folder, changes = os.getcwd(), 0

    def is_change(event: str, arguments: tuple[Any, ...]) -> bool:
        is_writing = event == "open" and isinstance(arguments[2], int)
        is_writing = is_writing and bool(arguments[2] & (os.O_WRONLY | os.O_RDWR))
        if not (is_writing or event in _CHANGES) or isinstance(arguments[0], int):
            return False
        return os.path.abspath(os.fsdecode(arguments[0])).startswith(folder)

    def hear(event: str, arguments: tuple[Any, ...]) -> None:
        nonlocal changes
        if is_change(event, arguments):
            changes += 1
            if changes == number:
                os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(hear)


if __name__ == "__main__":
    kill_before(int(sys.argv[1]))
    main(sys.argv[2:])
