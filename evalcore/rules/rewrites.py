"""Tables of rewrites: patterns and their replacements, one after the other."""

import re
from collections.abc import Callable, Sequence

Rewrites = Sequence[tuple[str, str | Callable[[re.Match[str]], str]]]
"""Patterns, each with its replacement, in the order in which they are applied.

A comment above each has an example, `before` → `after`, which a test tries.
"""


def rewritten(text: str, rewrites: Rewrites) -> str:
    """Return a text in which the matches of each pattern are replaced, one after the other."""
    for pattern, replacement in rewrites:
        text = re.sub(pattern, replacement, text)
    return text
