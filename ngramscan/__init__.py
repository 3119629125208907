"""Corpus statistics for people who study what language models were trained on.

One function per command, with the same name and options, returning a data frame:
`ngramscan.count("step by step", index="python")`. Importing this package imports nothing heavy.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from ngramscan.errors import IncompleteError, InputError, NgramscanError, RemoteError

if TYPE_CHECKING:
    from ngramscan.commands.blend import blend
    from ngramscan.commands.contaminate import contaminate
    from ngramscan.commands.contexts import contexts
    from ngramscan.commands.count import count
    from ngramscan.commands.docnorm import docnorm
    from ngramscan.commands.index import (
        index_add,
        index_build,
        index_info,
        index_list,
        index_verify,
    )
    from ngramscan.commands.journal import journal_clear, journal_info
    from ngramscan.commands.keyness import keyness
    from ngramscan.commands.patterns import patterns_list, patterns_show
    from ngramscan.commands.report import report
    from ngramscan.commands.sources import sources
    from ngramscan.commands.strategies import strategies
    from ngramscan.commands.tiers import tiers
    from ngramscan.commands.trace import trace

__version__ = "0.3.0"
__all__ = ["IncompleteError", "InputError", "NgramscanError", "RemoteError"]
__all__ += ["blend", "contaminate", "contexts", "count", "docnorm", "index_add", "index_build"]
__all__ += ["index_info", "index_list", "index_verify", "journal_clear", "journal_info"]
__all__ += ["keyness", "patterns_list", "patterns_show", "report", "sources", "strategies", "tiers"]
__all__ += ["trace"]


def __getattr__(name: str) -> Any:
    if name in __all__:
        command, _, _ = name.partition("_")  # index_build is in the module of index
        return getattr(import_module(f"ngramscan.commands.{command}"), name)
    raise AttributeError(f"module 'ngramscan' has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
