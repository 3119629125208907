"""Run prompting methods on models, score the answers by stated rules, and compare methods.

One function per command, with the same name and options, returning a data frame.
"""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from evalcore.agreement import agreement
    from evalcore.audit import audit
    from evalcore.benchmarks import datasets_check, datasets_fetch, datasets_list
    from evalcore.compare import compare
    from evalcore.efficiency import efficiency
    from evalcore.judge import judge
    from evalcore.link import link
    from evalcore.logs import logs
    from evalcore.outcomes import outcomes
    from evalcore.run import run
    from evalcore.score import score

__all__ = ["agreement", "audit", "compare", "datasets_check", "datasets_fetch", "datasets_list"]
__all__ += ["efficiency", "judge", "link", "logs", "outcomes", "run", "score"]
_MODULES = {name: "benchmarks" if name.startswith("datasets") else name for name in __all__}


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return getattr(import_module(f"evalcore.{_MODULES[name]}"), name)
    raise AttributeError(f"module 'evalcore' has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*_MODULES]


class _Package(ModuleType):
    """Keeps a function under its name when the module of the same name is imported."""

    def __setattr__(self, name: str, value: Any) -> None:
        # Whoever imports a submodule sets it on its package.
        if not (isinstance(value, ModuleType) and name in _MODULES):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package
