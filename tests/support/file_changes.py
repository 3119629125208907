"""What other programs do to a file while it is read."""

import os
from pathlib import Path


def overwrite(path: Path, content: bytes) -> None:
    """Write other content into the same file."""
    with path.open("r+b") as file:
        file.write(content)
        file.truncate()


def restore_time(path: Path, content: bytes) -> None:
    """Write other content into the same file, and set back its time."""
    status = path.stat()
    overwrite(path, content)
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))


def replace(path: Path, content: bytes) -> None:
    """Put another file in its place, of the same time."""
    status, other = path.stat(), path.with_name("other")
    other.write_bytes(content)
    os.utime(other, ns=(status.st_atime_ns, status.st_mtime_ns))
    other.replace(path)


def append(path: Path, content: bytes) -> None:
    """Write more behind what the file has."""
    with path.open("ab") as file:
        file.write(content)


def truncate(path: Path, _content: bytes) -> None:
    """Cut off the second half of the file."""
    os.truncate(path, path.stat().st_size // 2)
