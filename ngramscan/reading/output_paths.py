"""Paths of recorded outputs: they name the benchmark, the model and the prompt."""

import re
from pathlib import Path
from typing import NamedTuple

_OUR_PATH = re.compile(
    r"(?P<dataset>[^/]+)/(?P<model>[^/]+)/(?P<prompt>[^/]+)\.jsonl(\.gz|\.zstd?)?"
)
_FINANCEMATH_PATH = re.compile(
    r"(?P<dataset>[^/]+)/raw_(?P<prompt>[^/]+)_outputs/(?P<model>[^/]+)\.json(\.gz|\.zstd?)?"
)


class PromptGroup(NamedTuple):
    """Where an output comes from: one file in the usual layout."""

    dataset: str
    model: str
    prompt: str


def group_of(file: Path) -> PromptGroup | None:
    """Return the group that the end of a path names, in our layout or in FinanceMath's."""
    end = "/".join(file.absolute().parts[-3:])
    match = _OUR_PATH.fullmatch(end) or _FINANCEMATH_PATH.fullmatch(end)
    return PromptGroup(**match.groupdict()) if match else None
