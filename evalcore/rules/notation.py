r"""How answers are written: cleaned of what LaTeX leaves to taste, split, freed of their units.

Two answers are compared only after both went through here, so that `\dfrac`, `\left(`, a space or
a dollar sign can't make a difference.
"""

from __future__ import annotations

import re
from itertools import accumulate, pairwise

_DEGREE = "°"
_WORDS_IN = r"\\(?:text|textrm|textbf|mathrm|mathbf|mbox|rm|operatorname)\s*\{([^{}]*)\}"
_NO_LETTER = "(?![A-Za-z])"
_REWRITES = [
    (re.compile(pattern.replace("~/", _NO_LETTER).replace("/~", r"(?<![A-Za-z\\])")), by)
    for pattern, by in (
        (r"\\(?:left|right|bigl|bigr|Bigl|Bigr|big|Big|displaystyle)~/", ""),
        (r"(?<=\d)(?:\\,|\\!|\{,\}|\\!,\\!|,\\!)(?=\d{3}(?!\d))", ""),
        (r"\\[,;:! ]|\\q?quad~/|~|\u00a0|\u2009", " "),
        (r"\\\[(?!\s*\d+\s*(?:pt|em)\])|\\\]|\\\(|\\\)|\$", ""),
        (r"\\[dtc]frac~/", r"\\frac"),
        (r"\\(?:leqslant|leq|leqq)~/|≤|<=", r"\\le "),
        (r"\\(?:geqslant|geq|geqq)~/|≥|>=", r"\\ge "),
        (r"\\(?:neq)~/|≠|!=", r"\\ne "),
        (r"\\lt~/", "<"),
        (r"\\gt~/", ">"),
        (r"\\lbrace~/", r"\\{"),
        (r"\\rbrace~/", r"\\}"),
        (r"\^\s*\{\s*\\circ\s*\}|\^\s*\\circ~/|\\degree~/|º", _DEGREE),
        (r"\\%", "%"),
        (r"[−–]", "-"),
        (r"×", r"\\times "),
        (r"·|\*(?!\*)(?<!\*\*)", r"\\cdot "),
        (r"\*\*", "^"),
        (r"π|/~pi~/", r"\\pi "),
        (r"∞|/~(?:inf|infinity)~/", r"\\infty "),
        (r"∪", r"\\cup "),
        (r"∈", r"\\in "),
        (r"±", r"\\pm "),
        (r"²", "^2"),
        (r"³", "^3"),
        (r"/~sqrt\s*\(([^()]*)\)", r"\\sqrt{\1}"),
        (r"√\s*\(([^()]*)\)|√\s*(\d+)", r"\\sqrt{\1\2}"),
        (r"\\sqrt\s*(\d)", r"\\sqrt{\1}"),
        (r"\\frac\s*(\d)\s*(\d)", r"\\frac{\1}{\2}"),
        (r"\\frac\s*(\d)\s*(?=\{)", r"\\frac{\1}"),
        (r"(\\frac\{[^{}]*\})\s*(\d)", r"\1{\2}"),
        (r"\\(?:text|mathrm|mbox)\{\s*,?\s*(?:and|or)\s*\}", ","),
        (r",?/~(?:and|or)~/|;", ","),
        (r"_\s*\{\s*" + _WORDS_IN + r"\s*\}", r"_{\1}"),
        (r"_\s*\{\s*([A-Za-z0-9])\s*\}", r"_\1"),
        (r"_\s+", "_"),
        (r"\s+", " "),
    )
]


def clean(text: str) -> str:
    """Return a text without box, dollar signs, final dot and what LaTeX leaves to taste."""
    text = text.strip().replace("\\$", "").strip("$ \n")
    while match := re.match(r"\\f?boxed\s*\{|\\fbox\s*\{", text):
        bare = text.rstrip(" .")
        if _closing(text, match.end()) != len(bare) - 1:
            break
        text = bare[match.end() : -1].strip().strip("$").strip()
    for pattern, by in _REWRITES:
        text = pattern.sub(by, text)
    return text.strip().rstrip(".,").strip()


def squeezed(text: str) -> str:
    """Return a cleaned text without the spaces that separate nothing: `1 2` keeps its own."""
    return re.sub(r"(?<![A-Za-z0-9])\s+|\s+(?![A-Za-z0-9])", "", clean(text))


def levels(text: str) -> list[int]:
    """Return how many brackets are open behind each character."""
    return list(accumulate((char in "([{") - (char in ")]}") for char in text))


def _closing(text: str, start: int) -> int:
    """Return where the bracket closes that was opened before `start`; -1: nowhere."""
    open_behind = levels(text)
    outside = open_behind[start - 1] - 1
    return next((at for at in range(start, len(text)) if open_behind[at] == outside), -1)


def split(text: str, separators: str) -> list[str]:
    """Cut a text where a separator stands outside all brackets; what its groups match is kept."""
    outside = [min(pair) == 0 for pair in pairwise([0, *levels(text)])]
    parts, start = [], 0
    for match in re.finditer(separators, text):
        if outside[match.start()] and outside[match.end() - 1]:
            parts += [text[start : match.start()].strip(), *match.groups()]
            start = match.end()
    return [*parts, text[start:].strip()]


def enclosed(text: str) -> tuple[str, str, str] | None:
    """Return bracket, content and bracket of a text that one pair of brackets encloses."""
    found = re.fullmatch(r"(\\\{|[(\[])(.*?)(\\\}|[)\]])", text)
    if found is None or _closing(text, len(found[1])) != len(text) - 1:
        return None
    return found[1], found[2].strip(), found[3]


def answers(text: str, *, is_number: bool) -> list[tuple[str, str]]:
    r"""Return the answers of a cleaned text: a comma, the braces of a set and `\pm` make several.

    Where one number is expected, `1,234` is one with a separator.
    """
    if is_number and re.fullmatch(r"-?\d{1,3}(,\d{3})+(\.\d+)?", text):
        text = text.replace(",", "")
    inner = enclosed(text)
    if inner is not None and inner[0] == "\\{" and not re.search(r"[:|]|\\mid", inner[1]):
        text = inner[1]
    parts = [part for part in split(text, ",") if part]
    return [_without_unit(one) for part in parts for one in _both_signs(part)]


def _both_signs(text: str) -> list[str]:
    """Return the two readings of a text with a plus-minus sign."""
    if not re.search(r"\\pm(?![A-Za-z])", text):
        return [text]
    upper = [re.sub(r"\\pm(?![A-Za-z])", sign, text) for sign in "+-"]
    return [re.sub(r"\\mp(?![A-Za-z])", s, one) for s, one in zip("-+", upper, strict=True)]


_PROSE_IN_FORMULAS = re.compile(r"[A-Za-z]{4,}|(?<![A-Za-z])(?:if|for|all|is)(?![A-Za-z])")
_PROSE_OUTSIDE = re.compile(r"[A-Za-z]{3,}|(?<![A-Za-z])(?:if|is|of|no|in)(?![A-Za-z])")
_NO_PROSE = re.compile(r"\b(?:and|or|sin|cos|tan|log|sqrt|max|min|gcd|lcm)\b")


def is_prose(gold: str) -> bool:
    """Tell whether a reference answer is words, cases or conditions that no algebra can compare."""
    formulas = " ".join(re.findall(r"\$([^$]*)(?:\$|$)", gold))
    outside = re.sub(r"\$[^$]*(?:\$|$)", " § ", gold)
    if re.search(r"\(\s*§", outside) or "\\text{if" in gold:
        return True  # a condition behind an answer
    for text, words in ((formulas, _PROSE_IN_FORMULAS), (outside, _PROSE_OUTSIDE)):
        bare = re.sub(r"_\s*\{[^{}]*\}", " ", re.sub(_WORDS_IN, r" \1 ", text))
        if words.search(_NO_PROSE.sub(" ", re.sub(r"\\[A-Za-z]+", " ", bare))):
            return True
    return False


def why_a_judge(gold: str) -> str:
    """Return what makes a reference answer one for a judge, `` for nothing."""
    if is_prose(gold):
        return "prose"
    if re.search(r"\\(?:[lc]?dots|underbrace)(?![A-Za-z])|\.\.\.|…", gold):
        return "written with dots"
    return "a set given by a condition" * bool(re.search(r"\\\{[^{}]*(?:[:|]|\\mid)", gold))


# Units: only those in the table, so that `2n` keeps its n

_UNIT_NAMES = """
degree deg degrees; radian rad radians; second s sec secs seconds; minute min mins minutes;
hour h hr hrs hours; day days; week weeks; month months; year years; unit units; dollar dollars;
mm millimeter millimeters millimetre millimetres; cm centimeter centimeters centimetre centimetres;
dm decimeter decimeters; m meter meters metre metres; km kilometer kilometers kilometre kilometres;
inch inches; foot ft feet; yard yd yards; mile miles; litre l liter liters litres; cent cents;
g gram grams; kg kilogram kilograms; % percent
"""
_UNITS = {alias: names.split()[0] for names in _UNIT_NAMES.split(";") for alias in names.split()}
_JOINED = {"kmh": "km/h", "kph": "km/h", "kmph": "km/h", "mph": "mile/h"}
_POWERS = {"square": "^2", "sq": "^2", "cubic": "^3"}
_MARKED = r"\\(?:text|textrm|mathrm|mbox|rm|operatorname)\s*\{([^{}]*)\}"
_MARKED_NEXT = r"\\(?:text|textrm|mathrm|mbox|rm)\s*\{[^{}]*\}"
_SUFFIX = re.compile(
    # marked as words, or standing free; one letter may be a variable
    rf"((?:{_MARKED}|(?<=[\d\s}})/])[A-Za-z]{{2,}}(?![A-Za-z]))"
    rf"(?:\s|/|\^\{{?\d\}}?|[A-Za-z]++|{_MARKED_NEXT})*+|%)$"
)
_DEGREES = re.compile(rf"(?<=[\w)}}])\s*{_DEGREE}(?!\s*[\w\\])")
"""Degree signs behind a number; not those with arc minutes behind them."""


def unit_named(text: str) -> str | None:
    """Return the one name of a unit however it is written; None: not a unit we know."""
    text = re.sub(_MARKED, r"\1", clean(text)).replace(_DEGREE, "degree").lower()
    words = re.sub(r"[{}.]", "", text.replace(" per ", "/")).split()
    text = "".join(word for word in words if word not in _POWERS)
    named = []
    for part in _JOINED.get(text, text).split("/"):
        base, caret, power = part.partition("^")
        if base not in _UNITS or (caret and power not in {"2", "3"}):
            return None
        named.append(_UNITS[base] + caret + power)
    return "/".join(named) + "".join(_POWERS.get(word, "") for word in words)


def _without_unit(text: str) -> tuple[str, str]:
    """Return a cleaned text without the unit at its end, and the unit, `` for none."""
    if (bare := _DEGREES.sub("", text)) != text:
        return bare, "degree"
    for match in _SUFFIX.finditer(text):
        unit = unit_named(match[1])
        value = text[: match.start()].strip()
        if unit is not None and value:
            return value, unit
    return text, ""
