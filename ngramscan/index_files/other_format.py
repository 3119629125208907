"""Where an address has no index of one format: whether it has one of the other, and its spec."""

from __future__ import annotations

from collections.abc import Sequence

from ngramscan.errors import RemoteRefused
from ngramscan.messages import Message, OptionUse, message_of
from ngramscan.remote.ranges import Ranges
from ngramscan.remote.stores import shown
from ngramscan.remote.together import together

_OF_TOKENS = ("tokenized.0", "tokenized", "0/tokenized", "00/tokenized")
_OF_BYTES = ("data.fm9", "0/data.fm9")


async def lead_to_tokens(ranges: Ranges, folder: str) -> Message | None:
    """Return how an index over tokens at an address is named; None: there is none."""
    if await _has_any(ranges, folder, _OF_TOKENS):
        return _lead("an index over tokens; to query it: ", f"tokens:{_place(folder)}")
    return None


async def lead_to_bytes(ranges: Ranges, folder: str) -> Message | None:
    """Return how an index over bytes at an address is named; None: there is none."""
    if await _has_any(ranges, folder, _OF_BYTES):
        return _lead("an index over bytes; to query it: ", f"fm9:{_place(folder)}")
    return None


async def _has_any(ranges: Ranges, folder: str, names: Sequence[str]) -> bool:
    """Tell whether one of some files is at an address; a refusal says nothing about that."""
    try:
        return any(await together(ranges.open(folder + name) for name in names))
    except RemoteRefused:
        return False


def _place(folder: str) -> str:
    return shown(folder).rstrip("/")


def _lead(problem: str, spec: str) -> Message:
    return message_of(problem) + OptionUse("index", spec)
