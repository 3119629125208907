r"""Words without fonts, and letters of choices: `\text{(B)}`, `B) 12 apples` and `B` are one."""

import re
import unicodedata
from typing import NamedTuple

_FONT = re.compile(
    r"\\(?:text(?:bf|rm|it|tt|sf|normal)?|math(?:rm|bf|it|sf|tt|normal)|operatorname|mbox|emph"
    r"|boxed|fbox|underline|boldsymbol|bm|pmb)\s*\{([^{}]*)\}"
)
_FONT_SWITCH = re.compile(r"\\(?:bf|rm|it|tt|sf)(?![A-Za-z])\s*")
_MOST_FONTS = 20  # within each other; a hostile text has more
_SPACE = re.compile(r"\\[ ,;:!]|\\q?quad(?![A-Za-z])|[~\u00a0\u202f]")
_BOLD = re.compile(r"(?<![\w)*])\*\*(?=[^\s*])([^*\n]*[^\s*])\*\*(?![\w(*])")
_ESCAPED = re.compile(r"\\([$%&#_])")
_AROUND = (
    *(("\\(", "\\)"), ("\\[", "\\]"), ("$$", "$$"), ("$", "$"), ("{", "}")),
    *(("__", "__"), ("`", "`"), ('"', '"'), ("'", "'"), ("“", "”"), ("‘", "’")),
)


def plain_words(text: str) -> list[str]:
    """Return the words of a text without fonts, what encloses all of it, and its full stop."""
    for _ in range(_MOST_FONTS):
        text, number = _FONT.subn(r"\1", text)
        if not number:
            break
    text = _FONT_SWITCH.sub("", text)
    text = _SPACE.sub(" ", _BOLD.sub(r"\1", text)).strip().removesuffix(".")
    while (inner := _without_enclosure(text)) != text:
        text = inner
    return _ESCAPED.sub(r"\1", text).split()


def _without_enclosure(text: str) -> str:
    for left, right in _AROUND:
        inner = text[len(left) : -len(right)]
        # `$a$ and $b$` is not enclosed: nothing inside closes what is opened outside
        if text == left + inner + right and right not in inner:
            return inner.strip().removesuffix(".")
    return text


class _Choice(NamedTuple):
    letter: str
    is_bracketed: bool
    words: str
    """The words of the choice, if the text has them."""


_CHOICE = re.compile(
    r"(?:(?:[Oo]ption|[Cc]hoice|[Aa]nswer)\s*:?\s*)?"
    r"(?:[(\[{]\s*(?P<bracketed>[A-Za-z])\s*[)\]}][.:]?|(?P<bare>[A-Za-z])(?P<mark>[).:]|\Z))"
    r"(?P<words>.*)",
    re.DOTALL,
)
_ANOTHER = re.compile(r"\s*(?:,|&|/|;|and\b|or\b)|.*\([A-Za-z]\)", re.DOTALL)


def _choice_of(text: str) -> _Choice | None:
    """Return the one choice that a text begins with: `(B)`, `B`, `B) 12 apples`, `Option B`."""
    found = _CHOICE.fullmatch(unicodedata.normalize("NFKC", " ".join(plain_words(text))))
    if found is None or _ANOTHER.match(found["words"]):
        return None
    letter = found["bracketed"] or found["bare"]
    return _Choice(letter, not found["bare"] or found["mark"] == ")", found["words"].strip())


def same_choice(answer: str, gold: str) -> bool:
    """Tell whether an answer is the letter of the gold, which is a choice, or its words."""
    right = _choice_of(gold)
    if right is None or (right.words and not right.is_bracketed):  # `B. Johnson`
        return False
    given = _choice_of(answer)
    if given is None:
        return bool(right.words) and plain_words(answer) == right.words.split()
    if given.is_bracketed or right.is_bracketed:
        return given.letter.upper() == right.letter.upper()
    return given.letter == right.letter
