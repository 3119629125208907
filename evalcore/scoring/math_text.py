r"""The text of a mathematical answer: cleaned, split into its answers, freed of its unit.

Two answers are compared only after both went through here, so that what LaTeX leaves to taste
(`\dfrac`, `\left(`, a space, a dollar sign) can't make a difference.
"""

from __future__ import annotations

import re

DEGREE = "°"
_WRAPPED = r"\\(?:text|textrm|textbf|mathrm|mathbf|mbox|rm|operatorname)\s*\{([^{}]*)\}"
_REWRITES: tuple[tuple[str, str], ...] = (
    (r"\\(?:left|right|bigl|bigr|Bigl|Bigr|big|Big|displaystyle)(?![A-Za-z])", ""),
    (r"(?<=\d)(?:\\,|\\!|\{,\}|\\!,\\!|,\\!)(?=\d{3}(?!\d))", ""),
    (r"\\[,;:! ]|\\q?quad(?![A-Za-z])|~|\u00a0|\u2009", " "),
    (r"\\\[(?!\s*\d+\s*(?:pt|em)\])|\\\]|\\\(|\\\)|\$", ""),
    (r"\\[dtc]frac(?![A-Za-z])", r"\\frac"),
    (r"\\(?:leqslant|leq|leqq)(?![A-Za-z])|≤|<=", r"\\le "),
    (r"\\(?:geqslant|geq|geqq)(?![A-Za-z])|≥|>=", r"\\ge "),
    (r"\\(?:neq)(?![A-Za-z])|≠|!=", r"\\ne "),
    (r"\\lt(?![A-Za-z])", "<"),
    (r"\\gt(?![A-Za-z])", ">"),
    (r"\\lbrace(?![A-Za-z])", r"\\{"),
    (r"\\rbrace(?![A-Za-z])", r"\\}"),
    (r"\^\s*\{\s*\\circ\s*\}|\^\s*\\circ(?![A-Za-z])|\\degree(?![A-Za-z])|º", DEGREE),
    (r"\\%", "%"),
    (r"[−–]", "-"),
    (r"×", r"\\times "),
    (r"·|\*(?!\*)(?<!\*\*)", r"\\cdot "),
    (r"\*\*", "^"),
    (r"π|(?<![A-Za-z\\])pi(?![A-Za-z])", r"\\pi "),
    (r"∞|(?<![A-Za-z\\])(?:inf|infinity)(?![A-Za-z])", r"\\infty "),
    (r"∪", r"\\cup "),
    (r"∈", r"\\in "),
    (r"±", r"\\pm "),
    (r"²", "^2"),
    (r"³", "^3"),
    (r"(?<![A-Za-z\\])sqrt\s*\(([^()]*)\)", r"\\sqrt{\1}"),
    (r"√\s*\(([^()]*)\)|√\s*(\d+)", r"\\sqrt{\1\2}"),
    (r"\\sqrt\s*(\d)", r"\\sqrt{\1}"),
    (r"\\frac\s*(\d)\s*(\d)", r"\\frac{\1}{\2}"),
    (r"\\frac\s*(\d)\s*(?=\{)", r"\\frac{\1}"),
    (r"(\\frac\{[^{}]*\})\s*(\d)", r"\1{\2}"),
    (r"\\(?:text|mathrm|mbox)\{\s*,?\s*(?:and|or)\s*\}", ","),
    (r",?(?<![A-Za-z\\])(?:and|or)(?![A-Za-z])|;", ","),
    (r"_\s*\{\s*" + _WRAPPED + r"\s*\}", r"_{\1}"),
    (r"_\s*\{\s*([A-Za-z0-9])\s*\}", r"_\1"),
    (r"_\s+", "_"),
    (r"\s+", " "),
)
_RULES = tuple((re.compile(pattern), by) for pattern, by in _REWRITES)


def clean(text: str) -> str:
    """Return a text without box, dollar signs, final dot and what LaTeX leaves to taste."""
    text = _unboxed(text.strip().replace("\\$", "").strip("$ \n"))
    for pattern, by in _RULES:
        text = pattern.sub(by, text)
    return text.strip().rstrip(".,").strip()


def squeezed(text: str) -> str:
    """Return a cleaned text without the spaces that separate nothing: `1 2` keeps its own."""
    return re.sub(r"(?<![A-Za-z0-9])\s+|\s+(?![A-Za-z0-9])", "", clean(text))


def _unboxed(text: str) -> str:
    """Return the content of a box that is the whole text."""
    while match := re.match(r"\\f?boxed\s*\{|\\fbox\s*\{", text):
        start = match.end()
        if _closing(text, start) != len(text.rstrip(" .")) - 1:
            break
        text = text.rstrip(" .")[start:-1].strip().strip("$").strip()
    return text


def _closing(text: str, start: int) -> int:
    """Return where the bracket closes that was opened before `start`; -1: nowhere."""
    depth = 1
    for place in range(start, len(text)):
        depth += (text[place] in "([{") - (text[place] in ")]}")
        if depth == 0:
            return place
    return -1


def depth(text: str) -> int:
    """Return how deeply the brackets of a text are nested."""
    level = deepest = 0
    for char in text:
        level += (char in "([{") - (char in ")]}")
        deepest = max(deepest, level)
    return deepest


def split(text: str, separators: str) -> list[str]:
    """Cut a text where a separator stands outside all brackets.

    Parameters
    ----------
    text : str
        Cleaned.
    separators : str
        A regular expression; what it matches is kept, between the parts, where it has a group.

    Returns
    -------
    list of str
        Stripped; one part where no separator was found.
    """
    outside, level = [], 0
    for char in text:
        level -= char in ")]}"
        outside.append(level == 0)
        level += char in "([{"
    parts, start = [], 0
    for match in re.finditer(separators, text):
        if outside[match.start()] and outside[match.end() - 1]:
            parts += [text[start : match.start()].strip(), *match.groups()]
            start = match.end()
    return [*parts, text[start:].strip()]


def enclosed(text: str) -> tuple[str, str, str] | None:
    """Return bracket, content and bracket of a text that one pair of brackets encloses."""
    shape = re.fullmatch(r"(\\\{|[(\[])(.*?)(\\\}|[)\]])", text)
    if shape is None or _closing(text, len(shape[1])) != len(text) - 1:
        return None
    return shape[1], shape[2].strip(), shape[3]


def answers(text: str, *, number: bool) -> list[str]:
    r"""Return the answers of a cleaned text, of which a comma or the braces of a set make several.

    Parameters
    ----------
    text : str
        Cleaned.
    number : bool
        `1,234` is one number with a separator, not two answers.

    Returns
    -------
    list of str
        In their order; `\pm` makes two of one.
    """
    if number and re.fullmatch(r"-?\d{1,3}(,\d{3})+(\.\d+)?", text):
        return [text.replace(",", "")]
    inner = enclosed(text)
    if inner is not None and inner[0] == "\\{" and not re.search(r"[:|]|\\mid", inner[1]):
        text = inner[1]
    found = [part for part in split(text, ",") if part]
    return [one for part in found for one in _both_signs(part)]


def _both_signs(text: str) -> list[str]:
    """Return the two readings of a text with a plus-minus sign."""
    if not re.search(r"\\pm(?![A-Za-z])", text):
        return [text]
    return [
        re.sub(r"\\mp(?![A-Za-z])", lower, re.sub(r"\\pm(?![A-Za-z])", upper, text))
        for upper, lower in (("+", "-"), ("-", "+"))
    ]


_PROSE_IN_FORMULAS = re.compile(r"[A-Za-z]{4,}|(?<![A-Za-z])(?:if|for|all|is)(?![A-Za-z])")
_PROSE_OUTSIDE = re.compile(r"[A-Za-z]{3,}|(?<![A-Za-z])(?:if|is|of|no|in)(?![A-Za-z])")
_NO_PROSE = re.compile(r"\b(?:and|or|sin|cos|tan|log|sqrt|max|min|gcd|lcm)\b")


def is_prose(gold: str) -> bool:
    """Tell whether a reference answer is words, cases or conditions that no algebra can compare."""
    formulas = " ".join(re.findall(r"\$([^$]*)(?:\$|$)", gold))
    outside = re.sub(r"\$[^$]*(?:\$|$)", " § ", gold)
    if re.search(r"\(\s*§", outside) or "\\text{if" in gold:
        return True  # a condition behind an answer
    return any(
        words.search(_NO_PROSE.sub(" ", _without_commands(text)))
        for text, words in ((formulas, _PROSE_IN_FORMULAS), (outside, _PROSE_OUTSIDE))
    )


def why_a_judge(gold: str) -> str:
    """Return what makes a reference answer one for a judge, `` for nothing."""
    if is_prose(gold):
        return "prose"
    if re.search(r"\\(?:[lc]?dots|underbrace)(?![A-Za-z])|\.\.\.|…", gold):
        return "written with dots"
    if re.search(r"\\\{[^{}]*(?:[:|]|\\mid)", gold):
        return "a set given by a condition"
    return ""


def _without_commands(text: str) -> str:
    """Return a text without the names of LaTeX's commands, subscripts and units."""
    text = re.sub(r"_\s*\{[^{}]*\}", " ", re.sub(_WRAPPED, r" \1 ", text))
    return re.sub(r"\\[A-Za-z]+", " ", text)
