r"""Regular expressions of users, by an engine whose time is linear in the text.

Python's own engine can take minutes on a line where an expression nearly matches in many ways:
`(a+)+$`. RE2 has no such expressions; what it lacks instead are back references and conditions on
what stands before or behind, and its classes (`\w`, `\b`) are those of ASCII.
"""

from __future__ import annotations

from typing import Any


def compile_regex(regex: str, flags: str = "") -> Any:
    """Compile an expression; with flags `i` case is ignored, with `m` `^` and `$` are of lines.

    Raises
    ------
    ValueError
        RE2 can't read it, or it matches the empty text; says why.
    """
    import re2  # slow to import, and most pattern sets have no regex

    options = re2.Options()
    options.log_errors = False
    try:
        compiled = re2.compile(f"(?{flags}){regex}" if flags else regex, options)
    except re2.error as error:
        said = error.args[0] if error.args else error
        said = said.decode(errors="replace") if isinstance(said, bytes) else str(said)
        raise ValueError(f"not a regular expression of RE2: {said}") from error
    except UnicodeEncodeError as error:
        raise ValueError("not a regular expression of RE2: half a character") from error
    if compiled.search(""):
        raise ValueError("it matches the empty text")
    return compiled


def whole(text: str) -> str:
    """Return a text without halves of characters, which JSON may escape and RE2 can't read."""
    return text if text.isascii() else text.encode(errors="replace").decode()
