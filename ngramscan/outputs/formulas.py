r"""Split an output into code, formulas and words.

Code is a fenced block that is a program, or lines of Python without a fence. A formula is
enclosed by `$…$`, `$$…$$`, `\(…\)` or `\[…\]`, in an environment of displayed mathematics, or is a
line that is an equation (`x = 3*y`). A dollar sign of an amount (`$600,000`) opens no formula.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate

from ngramscan.matching.words import count_lettered_words


@dataclass(frozen=True, slots=True)
class TextParts:
    """An output, taken apart."""

    has_code: bool
    prose: str
    """Everything but code, formulas included."""
    before_code: str
    """The prose before the last program; empty without a program or prose before it."""
    words: int
    """Words outside of code and formulas."""
    formula_density: float
    """Share of all characters, code included, that are in formulas, delimiters included."""


def take_apart(text: str) -> TextParts:
    """Split a text into code, formulas and words."""
    prose_lines, before = _without_code(text)
    prose = "\n".join(prose_lines)
    spans = list(_formulas(prose))
    starts, stops = [*(start for start, _ in spans), len(prose)], [0, *(stop for _, stop in spans)]
    between = (prose[stop:start] for stop, start in zip(stops, starts, strict=True))
    in_formulas, words = sum(stop - start for start, stop in spans), 0
    for line in _FORMULA_MARK.join(between).split("\n"):
        if equation := _equation_of(line):
            in_formulas += len(equation)
        else:
            words += count_lettered_words(line)
    density = in_formulas / max(len(text.strip()), 1)
    return TextParts(
        has_code=before is not None,
        prose=prose,
        before_code="\n".join(prose_lines[: before or 0]),
        words=words,
        formula_density=density,
    )


def kinds_of(text: str) -> list[tuple[int, int, str]]:
    """Return where code (`code`) and formulas (`latex`) start and stop in a text, in order.

    The rest is narrative. An equation without delimiters is, too.
    """
    lines = text.split("\n")
    starts = [0, *accumulate(len(line) + 1 for line in lines)]
    programs = [(starts[start], min(starts[stop], len(text))) for start, stop in _programs(lines)]
    prose, copied_to = "", 0
    for start, stop in programs:
        prose += text[copied_to:start] + "\n" * (stop - start)
        copied_to = stop
    formulas = _formulas(prose + text[copied_to:])
    located = [(*place, "code") for place in programs] + [(*place, "latex") for place in formulas]
    return sorted(located)


_FENCE = re.compile(r"\s*(?:```+|~~~+)\s*([\w+-]*)")
_LANGUAGES = {"python", "py", "python3", "ipython", "sympy", "sage", "r", "julia", "matlab"} | {
    *("c", "cpp", "java", "javascript", "js", "bash", "octave", "wolfram", "mathematica")
}
_STRONG = re.compile(
    r"\s*(?:def \w+\([^)]*\).*:|(?:from [\w.]+ )?import [\w.*]+(?: as \w+)?(?:, ?[\w.]+)*"
    r"|[a-z]{2,}_[a-z]{2}\w* *= *[^=\s].*|print\(.*|return(?: [\w(\[{'\"-].*)?|(?:else|try):"
    r"|for \w+(?:, ?\w+)* in .+:"
    r"|(?:if|elif|while) (?:not )?[\w.()\[\]]+ ?(?:[<>!%]=?|==|in |and |or |is ).*:)\s*(?:#.*)?"
)
"""A line that is almost certainly Python."""
_WEAK = re.compile(
    r"\s*(?:#.*|\w[\w.]*(?:\[[^\]]*\])?(?:, *\w+)* *(?:[-+*/%]|\*\*|//)?= *[^=\s].*|[)\]}]+,?"
    r"|\s{4,}\S.*|[\w.]+\(.*\))"
)
"""A line that may be Python: an assignment, which may also be an equation; a comment; a call."""
_LEAST_LINES = 3
_LONGEST_EQUATION = 1000


def _without_code(text: str) -> tuple[list[str], int | None]:
    """Return the lines that are not code, and how many of them precede the last program."""
    lines = text.split("\n")
    prose: list[str] = []
    before, copied_to = None, 0
    for start, stop in [*_programs(lines), (len(lines), len(lines))]:
        prose += [line for line in lines[copied_to:start] if not _FENCE.match(line)]
        before, copied_to = (before if start == len(lines) else len(prose)), stop
    return prose, before


def _programs(lines: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Yield the lines of each program as a half-open range."""
    bare, number = _ends_of_bare_code(lines), 0
    while number < len(lines):
        if stop := _end_of_fenced(lines, number) or bare[number]:
            yield number, stop
        number = stop or number + 1


def _end_of_fenced(lines: Sequence[str], start: int) -> int:
    """Return the end of the fenced program that starts at a line; 0 if no program does."""
    opening = _FENCE.match(lines[start])
    if not opening:
        return 0
    stop = start + 1
    while stop < len(lines) and not _FENCE.match(lines[stop]):
        stop += 1
    content = lines[start + 1 : stop]
    # A fence may be the end of a program whose start was in the prompt: then prose follows.
    is_named = opening[1].lower() in _LANGUAGES and any(line.strip() for line in content)
    is_program = is_named or any(_STRONG.fullmatch(line) for line in content)
    return min(stop + 1, len(lines)) if is_program else 0


def _ends_of_bare_code(lines: Sequence[str]) -> list[int]:
    """Return, for each line, the end of the unfenced program that starts there; 0 if none does."""
    filled = [bool(line.strip()) for line in lines]
    strong = [bool(line.strip() and _STRONG.fullmatch(line)) for line in lines]
    filled_before, strong_before = [0, *accumulate(filled)], [0, *accumulate(strong)]
    ends, stop = [0] * len(lines), len(lines)
    for start in reversed(range(len(lines))):
        if filled[start] and not strong[start] and not _WEAK.fullmatch(lines[start]):
            stop = start
        is_long = filled_before[stop] - filled_before[start] >= _LEAST_LINES
        if filled[start] and is_long and strong_before[stop] > strong_before[start]:
            ends[start] = stop
    return ends


# Formulas

_FORMULA_MARK = "\x00"
_ENVIRONMENTS = "equation|align|alignat|flalign|gather|multline|eqnarray|displaymath|math|split"
_OPENING = re.compile(
    rf"\\begin\{{(?P<environment>(?:{_ENVIRONMENTS})\*?)\}}|\\\[|\\\(|(?<!\\)\$\$"
    # Between single dollars by Pandoc's rule: no space within the ends, no digit after the last.
    # An amount followed by words is not a formula.
    r"|(?<![\\$\w])\$(?![\s$])(?!\d[\d,.]*\w? [A-Za-z]{2})"
    r"(?:\\.|[^$\\\n]){1,2000}?(?<![\s\\])\$(?![\d$])",
    re.DOTALL,
)
"""The beginning of a formula; a formula between single dollars as a whole."""
_DOLLARS = re.compile(r"(?<!\\)\$\$")
_SIGN = re.compile("[=≈]")
_LEFT, _RIGHT = re.compile(r"[\w)\]}%]"), re.compile(r"[\w(\[{$\\-]")
"""Each side of an equation must match."""
_LABEL = re.compile(r"[\s>*_#•+-]*(?:\d{1,2}[.)]\s+)?(?:[^=:≈]{1,60}:[*_]*\s+)?")
_PROSE = re.compile(
    r"\b(?:the|is|are|was|we|you|that|then|therefore|thus|so|because|since|where|which|this|if|by"
    r"|can|it|to|gives?|let|answer)\b",
    re.IGNORECASE,
)


def _formulas(text: str) -> Iterator[tuple[int, int]]:
    """Yield where formulas start and stop, without overlaps; in time linear in the text."""
    unclosed: set[str] = set()  # closings that are not in the rest of the text
    position = 0
    while opening := _OPENING.search(text, position):
        start, position = opening.span()
        closing = _CLOSINGS.get(opening[0]) or opening["environment"]
        if closing is None:
            yield start, position
            continue
        if closing not in unclosed and (stop := _end_of_formula(text, position, closing)):
            yield start, stop
            position = stop
        else:
            unclosed.add(closing)
            position = start + 1


_CLOSINGS = {"\\[": "\\]", "\\(": "\\)", "$$": "$$"}


def _end_of_formula(text: str, start: int, closing: str) -> int:
    """Return the end of the formula whose content starts at a place; 0 if it never closes."""
    if closing == "$$":
        closing_match = _DOLLARS.search(text, start + 1)
        return closing_match.end() if closing_match else 0
    mark = closing if closing in _CLOSINGS.values() else f"\\end{{{closing}}}"
    place = text.find(mark, start)
    return place + len(mark) if place >= 0 else 0


def _equation_of(line: str) -> str:
    """Return a line that is an equation, without its label; otherwise an empty string."""
    has_sign = "=" in line or "≈" in line
    if not has_sign or _FORMULA_MARK in line or len(line) > _LONGEST_EQUATION:
        return ""
    label = _LABEL.match(line)
    equation = line[label.end() if label else 0 :].strip()
    left_side, *right_sides = _SIGN.split(equation, maxsplit=2)
    has_sides = (
        bool(right_sides) and bool(_LEFT.search(left_side)) and bool(_RIGHT.search(right_sides[0]))
    )
    return equation if has_sides and not _PROSE.search(equation) else ""
