"""Put prompting methods to models, score the answers by stated rules, and compare methods.

One function per command, with the same name and options, returning a data frame. Importing this
package imports nothing heavy.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from evalcore.commands.agreements import agreement
    from evalcore.commands.auditing import audit
    from evalcore.commands.comparing import compare
    from evalcore.commands.joint_outcomes import complementarity, flips, outcomes
    from evalcore.commands.judging import judge
    from evalcore.commands.linking import link
    from evalcore.commands.log_reading import logs
    from evalcore.commands.running import run
    from evalcore.commands.scoring import score
    from evalcore.commands.token_costs import efficiency

_MODULES = {
    "agreement": "agreements",
    "audit": "auditing",
    "compare": "comparing",
    "complementarity": "joint_outcomes",
    "efficiency": "token_costs",
    "flips": "joint_outcomes",
    "judge": "judging",
    "link": "linking",
    "logs": "log_reading",
    "outcomes": "joint_outcomes",
    "run": "running",
    "score": "scoring",
}
__all__ = [
    "agreement",
    "audit",
    "compare",
    "complementarity",
    "efficiency",
    "flips",
    "judge",
    "link",
    "logs",
    "outcomes",
    "run",
    "score",
]


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return getattr(import_module(f"evalcore.commands.{_MODULES[name]}"), name)
    raise AttributeError(f"module 'evalcore' has no attribute {name!r}")
