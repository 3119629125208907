"""Tokens of a text → the characters that each of them stands for."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ngramscan.errors import InputError


def token_places(where: str, text: str, contents: Sequence[bytes]) -> list[tuple[int, int]]:
    """Return start and end of each token, in characters; one of several tokens is in all of them.

    `contents` are the bytes of the tokens, which may begin with a space that the text lacks. An
    InputError says that they are those of another text.
    """
    content, of_text = b"".join(contents), text.encode()
    lead = len(content) - len(of_text)
    if content != b" " * lead + of_text or lead not in {0, 1}:
        raise InputError(where, "the tokenizer changes the text, so spans have no places")
    # The number of the character that each byte belongs to, and of the one that it begins.
    begins = np.array([byte & 0xC0 != 0x80 for byte in of_text], np.int64)
    held = np.append(np.cumsum(begins) - 1, len(text))
    ends = np.cumsum([0, *map(len, contents)]) - lead
    starts = held[np.maximum(ends[:-1], 0)].tolist()
    behind = np.append(held[:-1] + 1, len(text))
    stops = [int(behind[end - 1]) if end > 0 else 0 for end in ends[1:].tolist()]
    return list(zip(starts, stops, strict=True))
