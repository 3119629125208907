r"""What of an output is code, what formula, what words.

Code is a fenced block that is a program, or lines of Python without a fence. A formula stands
between `$…$`, `$$…$$`, `\(…\)` or `\[…\]`, in an environment of displayed mathematics, or is a line
that is an equation (`x = 3*y`). A dollar sign of an amount (`$600,000`) opens no formula.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Parts:
    """An output, taken apart."""

    has_code: bool
    prose: str
    """All that is no code, formulas too."""
    before_code: str
    """The prose before the last program; empty: there is no program, or nothing before it."""
    words: int
    """Outside of code and formulas."""
    formula_density: float
    """Characters within formulas, delimiters too, of all characters, code too; 0 to 1."""


def take_apart(text: str) -> Parts:
    """Return what of a text is code, formula and words."""
    prose_lines, before = _without_code(text)
    prose = "\n".join(prose_lines)
    rest = _FORMULA.sub(_FORMULA_MARK, prose)
    in_formulas = sum(len(match[0]) for match in _FORMULA.finditer(prose))
    lines = rest.split("\n")
    equations = [_equation_of(line) for line in lines]
    in_formulas += sum(map(len, equations))
    words = sum(
        len(_WORD.findall(line)) for line, equation in zip(lines, equations, strict=True)
        if not equation
    )  # fmt: skip
    density = in_formulas / max(len(text.strip()), 1)
    return Parts(before is not None, prose, "\n".join(prose_lines[: before or 0]), words, density)


# Code

_FENCE = re.compile(r"\s*(?:```+|~~~+)\s*([\w+-]*)")
_LANGUAGES = {"python", "py", "python3", "ipython", "sympy", "sage", "r", "julia", "matlab"} | {
    *("c", "cpp", "java", "javascript", "js", "bash", "octave", "wolfram", "mathematica")
}
_STRONG = re.compile(
    r"\s*(?:def \w+\(.*\).*:|(?:from [\w.]+ )?import [\w.*]+(?: as \w+)?(?:, ?[\w.]+)*"
    r"|[a-z]{2,}_[a-z]{2,}\w* *= *[^=\s].*|print\(.*|return(?: [\w(\[{'\"-].*)?|(?:else|try):"
    r"|for \w+(?:, ?\w+)* in .+:"
    r"|(?:if|elif|while) (?:not )?[\w.()\[\]]+ ?(?:[<>!%]=?|==|in |and |or |is ).*:)\s*(?:#.*)?"
)
"""A line that is hardly anything else than Python."""
_WEAK = re.compile(
    r"\s*(?:#.*|\w[\w.]*(?:\[[^\]]*\])?(?:, *\w+)* *(?:[-+*/%]|\*\*|//)?= *[^=\s].*|[)\]}]+,?"
    r"|\s{4,}\S.*|[\w.]+\(.*\))"
)
"""A line that may be Python: an assignment, which may also be an equation; a comment; a call."""
_LEAST_LINES = 3
_LONGEST_EQUATION = 1000


def _without_code(text: str) -> tuple[list[str], int | None]:
    """Return the lines that are no code, and how many of them stand before the last program."""
    lines = text.split("\n")
    prose: list[str] = []
    before, number = None, 0
    while number < len(lines):
        stop = _end_of_fenced(lines, number) or _end_of_bare(lines, number)
        if stop:
            before, number = len(prose), stop
            continue
        if not _FENCE.match(lines[number]):
            prose.append(lines[number])
        number += 1
    return prose, before


def _end_of_fenced(lines: Sequence[str], start: int) -> int | None:
    """Return where a fenced program ends that starts at a line; without an end, it is the last."""
    opened = _FENCE.match(lines[start])
    if not opened:
        return None
    stop = start + 1
    while stop < len(lines) and not _FENCE.match(lines[stop]):
        stop += 1
    content = lines[start + 1 : stop]
    # A fence may be the end of a program whose start was in the prompt: then what follows is prose.
    is_named = opened[1].lower() in _LANGUAGES and any(line.strip() for line in content)
    if is_named or any(_STRONG.fullmatch(line) for line in content):
        return min(stop + 1, len(lines))
    return None


def _end_of_bare(lines: Sequence[str], start: int) -> int | None:
    """Return where a program without a fence ends that starts at a line."""
    stop = start
    while stop < len(lines) and _may_be_code(lines[stop]):
        stop += 1
    found = [line for line in lines[start:stop] if line.strip()]
    strong = sum(_STRONG.fullmatch(line) is not None for line in found)
    is_program = strong and len(found) >= _LEAST_LINES and bool(lines[start].strip())
    return stop if is_program else None


def _may_be_code(line: str) -> bool:
    return not line.strip() or bool(_STRONG.fullmatch(line) or _WEAK.fullmatch(line))


# Formulas

_FORMULA_MARK = "\x00"
_ENVIRONMENTS = "equation|align|alignat|flalign|gather|multline|eqnarray|displaymath|math|split"
_FORMULA = re.compile(
    rf"\\begin\{{({_ENVIRONMENTS})(\*?)\}}.*?\\end\{{\1\2\}}"
    r"|\\\[.*?\\\]|\\\(.*?\\\)"
    r"|(?<!\\)\$\$.+?(?<!\\)\$\$"
    # Between single dollars as Pandoc has it: no space within the ends, no digit after the last;
    # an amount that goes on in words is none.
    r"|(?<![\\$\w])\$(?![\s$])(?!\d[\d,.]*\w? [A-Za-z]{2})"
    r"(?:\\.|[^$\\\n]){1,2000}?(?<![\s\\])\$(?![\d$])",
    re.DOTALL,
)
_SIDES = re.compile(r"[^=≈]*[\w)\]}%][^=≈]*[=≈][^=≈]*[\w(\[{$\\-].*")
_LABEL = re.compile(r"[\s>*_#•+-]*(?:\d{1,2}[.)]\s+)?(?:[^=:≈]{1,60}:[*_]*\s+)?")
_PROSE = re.compile(
    r"\b(?:the|is|are|was|we|you|that|then|therefore|thus|so|because|since|where|which|this|if|by"
    r"|can|it|to|gives?|let|answer)\b",
    re.IGNORECASE,
)
_WORD = re.compile(r"[^\W\d_]{2,}")


def _equation_of(line: str) -> str:
    """Return the equation that a line is, without its label; empty: it is none."""
    has_sign = "=" in line or "≈" in line
    if not has_sign or _FORMULA_MARK in line or len(line) > _LONGEST_EQUATION:
        return ""
    label = _LABEL.match(line)
    equation = line[label.end() if label else 0 :].strip()
    return equation if _SIDES.fullmatch(equation) and not _PROSE.search(equation) else ""
