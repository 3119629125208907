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
    for opening, closing in _ENCLOSURES:
        inner = text[len(opening) : -len(closing)]
        # `$a$ and $b$` is not enclosed: nothing inside closes what is opened outside
        if text == opening + inner + closing and closing not in inner:
            return inner.strip().removesuffix(".")
    return text


class _LetterChoice(NamedTuple):
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


def _choice_of(text: str) -> _LetterChoice | None:
    """Return the one choice that a text begins with: `(B)`, `B`, `B) 12 apples`, `Option B`."""
    plain = _plain(text)
    match = _CHOICE.fullmatch(plain)
    if match is None:
        capital = _CAPITAL_AND_WORDS.fullmatch(plain)
        return capital and _LetterChoice(capital["letter"], False, capital["words"].strip())
    if _ANOTHER.match(match["words"]):
        return None
    letter = match["bracketed"] or match["bare"]
    return _LetterChoice(letter, not match["bare"] or match["mark"] == ")", match["words"].strip())


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
    gold_letters, answer_letters = chosen_letters(gold), chosen_letters(answer)
    if not any(is_list) or not gold_letters or not answer_letters:
        return None
    if all(is_list) and gold_letters != answer_letters and gold_letters != sorted(gold_letters):
        return None  # the reference may be an order
    return sorted(gold_letters) == sorted(answer_letters)


def compare_choices(answer: str, gold: str) -> bool | None:
    """Tell whether an answer chooses what the gold chooses; None if one of them is not a choice.

    Several choices are the same in any order, if the gold's are in the order of the alphabet. A
    choice with its words is the same as its letter, and as its words. `b` and `B` may be variables.
    """
    if (several := _compare_several(answer, gold)) is not None:
        return several
    gold_choice = _choice_of(gold)
    if gold_choice is None or (gold_choice.words and not gold_choice.is_bracketed):  # `B. Johnson`
        return None
    answer_choice = _choice_of(answer)
    if answer_choice is None:
        return (
            True if gold_choice.words and plain_words(answer) == gold_choice.words.split() else None
        )
    if answer_choice.letter == gold_choice.letter:
        return True
    if answer_choice.letter.upper() == gold_choice.letter.upper():
        return True if answer_choice.is_bracketed or gold_choice.is_bracketed else None
    return False if answer_choice.letter.isupper() and gold_choice.letter.isupper() else None
