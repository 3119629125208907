"""Limits of the system on what a process may have."""

import resource
import sys
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def limited(what: int, limit: int) -> Iterator[None]:
    """Let this process, and those that it starts, have only so much of something."""
    soft, hard = resource.getrlimit(what)
    resource.setrlimit(what, (limit, hard))
    sys.dont_write_bytecode = True  # a limit on sizes would truncate it
    try:
        yield
    finally:
        resource.setrlimit(what, (soft, hard))
        sys.dont_write_bytecode = False
