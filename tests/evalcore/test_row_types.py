"""`ngramscan report` imports all row types: that must not load what only commands need."""

import subprocess
import sys

import pytest

from evalcore.row_types import ROW_TYPES
from tests.support.places import ROOT

HEAVY = (
    "aiohttp",
    "httpx",
    "matplotlib",
    "numba",
    "pandas",
    "pyarrow",
    "requests",
    "scipy.optimize",
    "scipy.special",
    "scipy.stats",
    "sqlite3",
    "sympy",
    "torch",
    "transformers",
)
PROGRAM = f"""
import sys
from importlib import import_module
from evalcore.row_types import ROW_TYPES
for name in ROW_TYPES:
    module, _, row_type = name.rpartition(".")
    getattr(import_module(module), row_type)
print(*sorted(set({HEAVY!r}) & set(sys.modules)))
"""


def test_importing_all_row_types_loads_nothing_heavy() -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True, cwd=ROOT
    )
    assert done.stdout.split() == []


@pytest.mark.parametrize("name", ROW_TYPES)
def test_a_row_type_is_named_once(name: str) -> None:
    assert ROW_TYPES.count(name) == 1
