"""Documents with all that is hard to count: empty ones, overlaps, characters of many bytes."""

import random

from ngramscan.patterns.files import load_patterns

F1 = [pattern.text for pattern in load_patterns("f1").patterns]


def make_texts(n: int) -> list[str]:
    """Return documents with all that is hard: empty, non-ASCII, overlaps, patterns alone."""
    draw = random.Random(1)
    words = [*F1, "aaa", "ภาษาไทย", "é", "\n", "step\nby", "\x00", "the", "of", "\\", "{"]
    words += ["中文", "😀"]
    fixed = ["", "a" * 50, "ภาษา" * 3, *F1, "step by step by step", "\r\nx\r\n", '"quoted"\\n']
    drawn = n - len(fixed)
    return fixed + [" ".join(draw.choices(words, k=draw.randrange(12))) for _ in range(drawn)]
