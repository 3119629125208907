"""The same text in other normal forms of Unicode: other bytes, which a verbatim search misses."""

from __future__ import annotations

import unicodedata
from typing import Literal, get_args

NormalForm = Literal["NFC", "NFD", "NFKC"]


def other_forms(text: str) -> dict[NormalForm, str]:
    """Return the forms of a text that differ from it and from each other, by their names.

    >>> list(other_forms("caf\u00e9")), list(other_forms("２４")), list(other_forms("cafe"))
    (['NFD'], ['NFKC'], [])
    """
    if text.isascii():
        return {}
    forms: dict[NormalForm, str] = {}
    for name in get_args(NormalForm):
        form = unicodedata.normalize(name, text)
        if form != text and form not in forms.values():
            forms[name] = form
    return forms
