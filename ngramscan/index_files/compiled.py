"""Compilation of the inner loops that read, write and check indexes; their array types."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache, cached_property, update_wrapper
from importlib.util import find_spec
from pathlib import Path
from threading import Timer, local
from typing import Any, TypeVar, cast

import numpy as np
import numpy.typing as npt

from ngramscan.progress import SILENT, Progress
from ngramscan.stopping import GO, current_work

if find_spec("numba") is None:  # said now, when an index is opened, not in the middle of its work
    raise ModuleNotFoundError("No module named 'numba'", name="numba")

Bytes = npt.NDArray[np.uint8]
Words = npt.NDArray[np.uint64]
Integers = npt.NDArray[np.int64]

Int = Any
"""An int64: numba takes it for an `int`, but in numpy's stubs array elements are not one."""

STOPPED = -2
"""Returned by a kernel that found its flag set; when called again, it continues."""
NO_FLAG: Bytes = np.full(1, GO, np.uint8)
"""A flag that is never set, for calls of a few steps."""

FEW_STEPS = 100
"""As Python they take a quarter of a second."""
_LONG_S = 1.5
"""Compiling for longer is said."""
_COMPILING = "compiling the index reader, once: about 5 s"

_KernelT = TypeVar("_KernelT", bound=Callable[..., object])
_ResultT = TypeVar("_ResultT")
_chosen_by_type: list[tuple[Callable[..., object], Callable[..., object]]] = []


class Kernel:
    """A function that is compiled at its first call, and kept on disk."""

    def __init__(self, function: Callable[..., object], **options: Any) -> None:
        update_wrapper(self, function)
        self.function = function
        self._options = {"nogil": True, "error_model": "numpy", **options}

    def __call__(self, *arguments: object) -> object:
        """Run the compiled function."""
        return self.compiled(*arguments)

    @cached_property
    def compiled(self) -> Callable[..., object]:
        """The function as numba calls it."""
        numba = _load_numba()
        try:
            with _cache_of_these_sources(numba):
                compiled = numba.njit(cache=True, **self._options)(self.function)
        except RuntimeError:  # no writable place for the cache
            compiled = numba.njit(**self._options)(self.function)
        return cast(Callable[..., object], compiled)


class _Thread(local):
    runs_python = False
    """Whether the thread is in a kernel that runs as Python."""


_thread = _Thread()


class WarmingKernel(Kernel):
    """A kernel of small steps that runs as Python until it is called often.

    Loading numba and compiled code takes half a second; without them a phrase takes 30 ms. A kernel
    and the kernels that it calls all run as Python or all compiled: compiled code returns a 64-bit
    word to Python as a plain integer, which other compiled code would take for a signed one.
    """

    calls_left = 60_000
    """Calls of all such kernels that will still run as Python, 5 µs each."""

    def __call__(self, *arguments: object) -> object:
        """Run the function as Python, or compiled after many calls."""
        if not _thread.runs_python and WarmingKernel.calls_left <= 0:
            return self.compiled(*arguments)
        WarmingKernel.calls_left -= 1
        if _thread.runs_python:
            return self.function(*arguments)
        _thread.runs_python = True
        try:
            with np.errstate(over="ignore"):  # words wrap around, as they do when compiled
                return self.function(*arguments)
        finally:
            _thread.runs_python = False


def folder_of_code(package: Path) -> Path:
    """Return the folder of compiled code that belongs to the sources of a package as they are.

    numba compares only the file of a kernel. It would run code that was compiled with older
    versions of the functions it calls, and it can't read code whose types were renamed; an upgrade
    leaves both on disk.
    """
    content = hashlib.sha256()
    for path in sorted(package.rglob("*.py")):
        content.update(path.read_bytes())
    return package / "__pycache__" / f"kernels-{content.hexdigest()[:12]}"


@contextmanager
def _cache_of_these_sources(numba: Any) -> Iterator[None]:
    """Let numba keep compiled code by version of the sources, unless NUMBA_CACHE_DIR is set."""
    chosen = numba.config.CACHE_DIR
    numba.config.CACHE_DIR = chosen or str(_folder_of_own_code())
    try:
        yield
    finally:
        numba.config.CACHE_DIR = chosen


@cache
def _folder_of_own_code() -> Path:
    return folder_of_code(Path(__file__).parent)


@cache
def _load_numba() -> Any:
    import numba
    from numba.extending import overload, typeof_impl

    def type_of(kernel: Kernel, _: object) -> object:
        compiled: Any = kernel.compiled
        return numba.types.Dispatcher(compiled)

    for kind in (Kernel, WarmingKernel):
        typeof_impl.register(kind)(type_of)
    for chosen, choose in _chosen_by_type:
        options: Any = {"_nrt": False}
        overload(chosen, options, strict=False)(choose)
    return numba


def kernel(function: _KernelT) -> _KernelT:
    """Compile a function at its first call."""
    return cast(_KernelT, Kernel(function))


def lean_kernel(function: _KernelT) -> _KernelT:
    """Compile a function that makes no arrays, as `kernel` does.

    It doesn't count references to its arrays, which would take half of the time of small functions
    that pass them on.
    """
    return cast(_KernelT, Kernel(function, _nrt=False))


def warming_kernel(function: _KernelT) -> _KernelT:
    """Compile a function as `lean_kernel` does, after many calls of such functions."""
    return cast(_KernelT, WarmingKernel(function, _nrt=False))


def expect_steps(steps: int) -> None:
    """Switch to compiled kernels if the expected steps, or bytes of patterns, are many."""
    if steps > FEW_STEPS:
        WarmingKernel.calls_left = 0


def compile_for(work: Callable[[], object], progress: Progress = SILENT) -> None:
    """Run all kernels compiled from now on, before many calls.

    The kernels that `work` calls are compiled immediately; `progress` gets a notice if that takes
    long, as it does once per machine.
    """
    if WarmingKernel.calls_left <= 0:
        return
    WarmingKernel.calls_left = 0
    with _notice_of_compiling(progress):
        work()


@contextmanager
def _notice_of_compiling(progress: Progress) -> Iterator[None]:
    """Say it if kernels are compiled meanwhile; to load compiled code from disk is not worth it."""
    _load_numba()
    from numba.core import event

    class PassListener(event.Listener):
        """Starts the notice at the first pass of the compiler."""

        notice: Timer | None = None

        def on_start(self, _event: object) -> None:
            if self.notice is None:
                self.notice = Timer(_LONG_S, progress.notice, [_COMPILING])
                self.notice.daemon = True
                self.notice.start()

        def on_end(self, _event: object) -> None:
            """Do nothing: other passes follow."""

    listener = PassListener()
    with event.install_listener("numba:run_pass", listener):
        try:
            yield
        finally:
            if listener.notice is not None:
                listener.notice.cancel()


def run_to_end(kernel: Callable[..., int], *arguments: object) -> int:
    """Call a kernel until it has finished, with the flag of the current work; return its result.

    If the work is stopped, its error is raised here.
    """
    work = current_work()
    while (outcome := kernel(*arguments, work.flag)) == STOPPED:
        work.look()
    return outcome


def by_type(choose: Callable[..., Callable[..., _ResultT]]) -> Callable[..., _ResultT]:
    """Make a function that kernels call; `choose` returns it for arguments, or for their types."""

    def chosen(*arguments: object) -> _ResultT:
        return choose(*arguments)(*arguments)

    _chosen_by_type.append((chosen, choose))
    return chosen
