"""The last steps of a process before it runs a program that must do no harm."""

from __future__ import annotations

import fcntl
import os
import signal
from dataclasses import dataclass, replace

from evalcore.sandbox import kernel, landlock, rlimits, seccomp
from evalcore.sandbox.folders import DEVICES

RESULT = 3
"""The descriptor for the result, beside 0, 1 and 2; a program finds no others open."""
REPORT = 4
"""The descriptor for `Channels.confined`, closed before the program runs."""
CONFINED = b"+"


@dataclass(frozen=True, slots=True)
class World:
    """What is the same for all programs."""

    active: frozenset[str]
    """Names of the layers that are to be used."""
    readable: tuple[str, ...]
    base: str | None
    """Where folders to work in are made; None: each program has a file system of its own."""
    mapped: int | None
    """A descriptor that tells how much address space is in use; None where no system tells."""

    def has(self, layer: str) -> bool:
        """Return whether a layer is to be used."""
        return layer in self.active


@dataclass(frozen=True, slots=True)
class Channels:
    """Descriptors that a program starts with, besides an empty input."""

    output: int
    result: int
    ready: int
    """Ends without a word if the supervisor dies before the program can be tied to its life."""
    confined: int
    """Where it is told that the program is confined (`CONFINED`), or why it can't be."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """What one program may use; see `Limits`."""

    seconds: float
    memory_bytes: int
    files_bytes: int
    result_bytes: int


def confine(world: World, bounds: Bounds, work: str, channels: Channels) -> None:
    """Take all rights from this process but those that computing needs; or say why not, and end.

    Parameters
    ----------
    world : World
        Which layers there are.
    bounds : Bounds
        The limits of this program.
    work : str
        The only folder that it may write.
    channels : Channels
        Where its output and result go, its permission to start comes from, and this is reported.
    """
    os.setsid()
    for number in (signal.SIGTERM, signal.SIGCHLD):
        signal.signal(number, signal.SIG_DFL)
    kernel.die_with_parent(signal.SIGKILL)
    wait_for_permission(channels.ready)
    report = channels.confined
    try:
        in_use = 0 if world.mapped is None else rlimits.mapped_bytes(world.mapped)
        arrange(channels)
        report = REPORT
        os.chdir(work)
        os.environ.update(HOME=work, TMPDIR=work)
        apply_layers(world, replace(bounds, memory_bytes=in_use + bounds.memory_bytes), work)
    except (OSError, ValueError) as error:
        os.write(report, str(error).encode(errors="replace")[:1000])
        os._exit(1)
    os.write(REPORT, CONFINED)
    os.close(REPORT)


def apply_layers(world: World, bounds: Bounds, work: str) -> None:
    """Put up the layers that a process puts up for itself; the filter of system calls comes last.

    Parameters
    ----------
    world : World
        Which layers there are.
    bounds : Bounds
        The limits, with all the memory that is in use already.
    work : str
        The only folder that may be written.

    Raises
    ------
    OSError, ValueError
        A layer that was found at the start can't be used now.
    """
    if world.has("privileges"):
        kernel.drop_capabilities()
        kernel.forbid_new_privileges()
    if world.has("landlock"):
        landlock.apply(world.readable, (work, *DEVICES))
    if world.has("limits"):
        rlimits.apply(bounds.seconds, bounds.memory_bytes, bounds.files_bytes)
    if world.has("seccomp"):
        kernel.forbid_new_privileges()
        seccomp.apply()


def wait_for_permission(ready: int) -> None:
    """Go on when the supervisor says so; end where it is dead."""
    if not os.read(ready, 1):
        os._exit(1)


def arrange(channels: Channels) -> None:
    """Give the descriptors 0 to 4 their meaning, and close all others."""
    empty = os.open(os.devnull, os.O_RDWR)
    sources = (empty, channels.output, empty, channels.result, channels.confined)
    # Copies above the five numbers, lest one be overwritten before it has been copied.
    copies = [fcntl.fcntl(source, fcntl.F_DUPFD, REPORT + 1) for source in sources]
    for number, copy in enumerate(copies):
        os.dup2(copy, number, inheritable=False)
    os.closerange(REPORT + 1, os.sysconf("SC_OPEN_MAX"))
