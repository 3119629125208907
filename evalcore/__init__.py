"""Put prompting methods to models, score the answers by stated rules, have proofs judged.

One function per command, with the same name and options, returning a data frame. Importing this
package imports nothing heavy.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from evalcore.commands import judge, run, score

__all__ = ["judge", "run", "score"]


def __getattr__(name: str) -> Any:
    if name in __all__:
        from evalcore import commands

        return getattr(commands, name)
    raise AttributeError(f"module 'evalcore' has no attribute {name!r}")
