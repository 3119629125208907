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
_ENCLOSURES = (
    ("\\(", "\\)"),
    ("\\[", "\\]"),
    ("$$", "$$"),
    ("$", "$"),
    ("{", "}"),
    ("__", "__"),
    ("`", "`"),
    ('"', '"'),
    ("'", "'"),
    ("“", "”"),
    ("‘", "’"),
)
"""Signs that may enclose a whole text without being part of it; longer ones first."""


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
    for left, right in _ENCLOSURES:
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


_NAMED = (
    r"(?:(?i:(?:the |an? )?(?:correct |right |best )?(?:option|choice|answer|letter)(?: is)?)"
    r"\s*:?\s*)?"
)
_CHOICE = re.compile(
    rf"{_NAMED}(?:[(\[{{]\s*(?P<bracketed>[A-Za-z])\s*[)\]}}][.:]?"
    r"|(?P<bare>[A-Za-z])(?P<mark>[).:]|\Z))(?!\s*[=<>+*/^]|\s*+-\s*+(?![A-Za-z]{2}))(?P<words>.*)",
    re.DOTALL,
)
_CAPITAL_AND_WORDS = re.compile(  # `D, Paris`, `D - Paris`, `D (Paris)`
    rf"{_NAMED}(?P<letter>[A-J])(?:,\s+|\s+[-–—]+\s+|\s+\()(?P<words>[A-Za-z]{{3}}[^,;()]*)\)?"
)
_ANOTHER = re.compile(r"\s*(?:,|&|/|;|and\b|or\b)|.*\([A-Za-z]\)", re.DOTALL)


def _plain(text: str) -> str:
    return unicodedata.normalize("NFKC", " ".join(plain_words(text)))


def _choice_of(text: str) -> _Choice | None:
    """Return the one choice that a text begins with: `(B)`, `B`, `B) 12 apples`, `Option B`."""
    plain = _plain(text)
    found = _CHOICE.fullmatch(plain)
    if found is None:
        capital = _CAPITAL_AND_WORDS.fullmatch(plain)
        return capital and _Choice(capital["letter"], False, capital["words"].strip())
    if _ANOTHER.match(found["words"]):
        return None
    letter = found["bracketed"] or found["bare"]
    return _Choice(letter, not found["bare"] or found["mark"] == ")", found["words"].strip())


_LETTER = r"(?:[(\[]\s*[A-J]\s*[)\]]|[A-J])[.:]?"
_SEVERAL = re.compile(
    rf"(?:(?i:both)\s+)?{_LETTER}(?:(?:\s*[,;&]\s*(?:(?i:and)\s+)?|\s+(?i:and)\s+){_LETTER})+"
    r"|(?:\([A-J]\)\s*){2,}"
)
_RUN = re.compile("[A-J]{2,8}")


def _letters_of_several(text: str) -> list[str]:
    """Return the letters of a text that lists choices: `A and C`, `(A), (C)`; else none."""
    plain = _plain(text)
    if not _SEVERAL.fullmatch(plain):
        return []
    return re.findall(r"(?<![A-Za-z])[A-J](?![A-Za-z])", plain)


def _is_run(text: str) -> bool:
    return bool(_RUN.fullmatch(_plain(text)))


def chosen_letters(text: str) -> list[str]:
    """Return the letters of the choices that a text names: of one, of several, of a run."""
    if several := _letters_of_several(text):
        return several
    if _is_run(text):
        return list(_plain(text))
    choice = _choice_of(text)
    return [choice.letter.upper()] if choice else []


def _compare_several(answer: str, gold: str) -> bool | None:
    """Compare choices if a text lists several; `ABD` is a list if the other text has one."""
    is_list = [bool(_letters_of_several(text)) for text in (gold, answer)]
    right, given = chosen_letters(gold), chosen_letters(answer)
    if not any(is_list) or not right or not given:
        return None
    if all(is_list) and right != given and right != sorted(right):
        return None  # the reference may be an order
    return sorted(right) == sorted(given)


def compare_choices(answer: str, gold: str) -> bool | None:
    """Tell whether an answer chooses what the gold chooses; None if one of them is not a choice.

    Several choices are the same in any order, if the gold's are in the order of the alphabet. A
    choice with its words is the same as its letter, and as its words. `b` and `B` may be variables.
    """
    if (several := _compare_several(answer, gold)) is not None:
        return several
    right = _choice_of(gold)
    if right is None or (right.words and not right.is_bracketed):  # `B. Johnson`
        return None
    given = _choice_of(answer)
    if given is None:
        return True if right.words and plain_words(answer) == right.words.split() else None
    if given.letter == right.letter:
        return True
    if given.letter.upper() == right.letter.upper():
        return True if given.is_bracketed or right.is_bracketed else None
    return False if given.letter.isupper() and right.letter.isupper() else None
