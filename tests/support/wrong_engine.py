"""An engine that miscounts overlapping occurrences, which the self-check must notice."""

from ngramscan.matching import Engine, Hit, TextBytes


def skip_overlaps(text: TextBytes, hit: Hit) -> None:
    """Find what `bytes.count` would."""
    for _ in range(bytes(text).count(b"aa")):
        hit(0)


SKIPS_OVERLAPS = Engine("bytes.count", skip_overlaps)
