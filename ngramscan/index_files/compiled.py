"""Compiles the inner loops of reading, writing and checking indexes; the types of their numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba
import numpy as np
import numpy.typing as npt
from numba.extending import overload

Bytes = npt.NDArray[np.uint8]
Words = npt.NDArray[np.uint64]
Integers = npt.NDArray[np.int64]

Int = Any
"""An int64: numba takes `int`, but numpy's stubs say otherwise for an array's elements."""

_Kernel = TypeVar("_Kernel", bound=Callable[..., object])
_Result = TypeVar("_Result")


def kernel(function: _Kernel, **options: Any) -> _Kernel:
    """Compile a function at its first call, and keep the code on disk."""
    options |= {"nogil": True, "error_model": "numpy"}
    try:
        return cast(_Kernel, numba.njit(cache=True, **options)(function))
    except RuntimeError:  # no writable place for the cache
        return cast(_Kernel, numba.njit(**options)(function))


def lean_kernel(function: _Kernel) -> _Kernel:
    """Compile a function that makes no arrays, as `kernel` does.

    It doesn't count references to its arrays, which takes half of the time where small functions
    pass them on to each other.
    """
    return kernel(function, _nrt=False)


def by_type(choose: Callable[..., Callable[..., _Result]]) -> Callable[..., _Result]:
    """Make a function that compiled code calls; `choose` returns it for types of arguments."""

    def chosen(*_: object) -> _Result:
        raise NotImplementedError

    options: Any = {"_nrt": False}
    overload(chosen, options, strict=False)(choose)
    return chosen
