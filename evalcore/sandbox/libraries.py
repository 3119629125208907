"""Libraries that are loaded once for all programs that name them.

Loading SymPy takes longer than running most programs; a copy of a process that has it costs little.
"""

from __future__ import annotations

import contextlib
import importlib
import re

ALWAYS = (
    *("cmath", "collections", "dataclasses", "datetime", "decimal", "fractions", "functools"),
    *("itertools", "json", "math", "random", "re", "statistics", "string", "typing"),
)
ON_REQUEST = ("numpy", "scipy.stats", "scipy.optimize", "sympy", "pandas")
"""At most eight: a request is one byte, with a bit for each."""


def wanted(source: str) -> int:
    """Return the libraries that a program seems to use, as bits; too many only cost time."""
    words = set(re.findall(r"[A-Za-z_]+", source))
    return sum(1 << bit for bit, name in enumerate(ON_REQUEST) if words.issuperset(name.split(".")))


def load(bits: int) -> None:
    """Load the libraries of these bits; one that isn't installed, the program will miss itself."""
    for bit, name in enumerate(ON_REQUEST):
        if bits >> bit & 1:
            load_one(name)


def load_always() -> None:
    """Load what is small."""
    for name in ALWAYS:
        load_one(name)


def load_one(name: str) -> None:
    """Load a library, if it is installed and works in this world."""
    with contextlib.suppress(ImportError, OSError):
        importlib.import_module(name)
