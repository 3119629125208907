"""Run prompting methods on models, score the answers by stated rules, and compare methods.

One function per command, with the same name and options, returning a data frame.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from evalcore.commands.agreement import agreement
    from evalcore.commands.compare import compare
    from evalcore.commands.datasets import datasets_check, datasets_fetch, datasets_list
    from evalcore.commands.efficiency import efficiency
    from evalcore.commands.judge import judge
    from evalcore.commands.link import link
    from evalcore.commands.logs import logs
    from evalcore.commands.outcomes import outcomes
    from evalcore.commands.plan import plan
    from evalcore.commands.rank import rank
    from evalcore.commands.run import run
    from evalcore.commands.score import score
    from evalcore.commands.show import show

__all__ = ["agreement", "compare", "datasets_check", "datasets_fetch", "datasets_list"]
__all__ += ["efficiency", "judge", "link", "logs", "outcomes", "plan", "rank", "run"]
__all__ += ["score", "show"]


def __getattr__(name: str) -> Any:
    if name in __all__:
        command, _, _ = name.partition("_")  # datasets_list is in the module of datasets
        return getattr(import_module(f"evalcore.commands.{command}"), name)
    raise AttributeError(f"module 'evalcore' has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*__all__]
