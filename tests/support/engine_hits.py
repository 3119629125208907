"""Texts that are hard to search, and what an engine finds in them."""

from ngramscan.matching import Engine, TextBytes

# Few letters, one of two bytes that shares its first byte with another: overlaps, nested queries
# and hits inside a character are frequent.
LETTERS = "aAbéèÉ\n\0"
LOWER = str.maketrans("A", "a")


def found_by(engine: Engine, text: TextBytes) -> list[int]:
    """Return the numbers of the queries that an engine finds, one for each occurrence."""
    found: list[int] = []
    engine.scan(text, lambda number, *_: found.append(number))
    return found
