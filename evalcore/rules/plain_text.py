r"""Formulas that are typed as plain text, as LaTeX: `2^(n+1)`, `ln(2)`, `exp(x)`, `x¹⁰`, `3½`."""

import re
from collections.abc import Callable, Iterable

from evalcore.rules.rewrites import Rewrites, rewritten

_SUPERSCRIPT_SIGNS = {
    "⁰": "0",
    "¹": "1",
    "²": "2",
    "³": "3",
    "⁴": "4",
    "⁵": "5",
    "⁶": "6",
    "⁷": "7",
    "⁸": "8",
    "⁹": "9",
    "⁺": "+",
    "⁻": "-",
    "⁼": "=",
    "⁽": "(",
    "⁾": ")",
    "ⁿ": "n",
    "ⁱ": "i",
}
SUPERSCRIPTS = str.maketrans(_SUPERSCRIPT_SIGNS)
_SUBSCRIPT_SIGNS = {
    "₀": "0",
    "₁": "1",
    "₂": "2",
    "₃": "3",
    "₄": "4",
    "₅": "5",
    "₆": "6",
    "₇": "7",
    "₈": "8",
    "₉": "9",
    "₊": "+",
    "₋": "-",
    "₌": "=",
    "₍": "(",
    "₎": ")",
}
_SUBSCRIPTS = str.maketrans(_SUBSCRIPT_SIGNS)
_FULL_WIDTH = {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)}
"""`５` is `5`: forms of ASCII as wide as Chinese characters."""
_FRACTIONS = {
    "½": r"\frac{1}{2}",
    "⅓": r"\frac{1}{3}",
    "⅔": r"\frac{2}{3}",
    "¼": r"\frac{1}{4}",
    "¾": r"\frac{3}{4}",
    "⅕": r"\frac{1}{5}",
    "⅖": r"\frac{2}{5}",
    "⅗": r"\frac{3}{5}",
    "⅘": r"\frac{4}{5}",
    "⅙": r"\frac{1}{6}",
    "⅚": r"\frac{5}{6}",
    "⅐": r"\frac{1}{7}",
    "⅛": r"\frac{1}{8}",
    "⅜": r"\frac{3}{8}",
    "⅝": r"\frac{5}{8}",
    "⅞": r"\frac{7}{8}",
    "⅑": r"\frac{1}{9}",
    "⅒": r"\frac{1}{10}",
}
_NAMED_FUNCTIONS = {
    "arcsin": r"\arcsin",
    "arccos": r"\arccos",
    "arctan": r"\arctan",
    "asin": r"\arcsin",
    "acos": r"\arccos",
    "atan": r"\arctan",
    "arcsinh": r"\operatorname{arsinh}",
    "arccosh": r"\operatorname{arcosh}",
    "arctanh": r"\operatorname{artanh}",
    "arsinh": r"\operatorname{arsinh}",
    "arcosh": r"\operatorname{arcosh}",
    "artanh": r"\operatorname{artanh}",
    "asinh": r"\operatorname{arsinh}",
    "acosh": r"\operatorname{arcosh}",
    "atanh": r"\operatorname{artanh}",
    "sinh": r"\sinh",
    "cosh": r"\cosh",
    "tanh": r"\tanh",
    "sin": r"\sin",
    "cos": r"\cos",
    "tan": r"\tan",
    "cot": r"\cot",
    "csc": r"\csc",
    "ln": r"\ln",
    "log": r"\log",
}
"""Functions whose argument may follow without brackets: `sin x`."""
_WITH_BRACKETS = {
    "sec": r"\sec",
    "max": r"\max",
    "min": r"\min",
    "gcd": r"\gcd",
    "lcm": r"\lcm",
}
"""Functions only before brackets: `5 sec` and `5 min` are times."""
_GREEK_NAMES = (
    "alpha",
    "beta",
    "gamma",
    "delta",
    "epsilon",
    "zeta",
    "eta",
    "theta",
    "iota",
    "kappa",
    "lambda",
    "rho",
    "sigma",
    "tau",
    "phi",
    "chi",
    "psi",
    "omega",
    "Gamma",
    "Delta",
    "Theta",
    "Lambda",
    "Sigma",
    "Phi",
    "Psi",
    "Omega",
)
_GREEK_LETTERS = {
    "α": "alpha",
    "β": "beta",
    "γ": "gamma",
    "δ": "delta",
    "ε": "epsilon",
    "θ": "theta",
    "λ": "lambda",
    "ρ": "rho",
    "σ": "sigma",
    "τ": "tau",
    "φ": "phi",
    "ϕ": "phi",
    "ψ": "psi",
    "ω": "omega",
}


_STEPS = {
    "(": 1,
    "[": 1,
    "{": 1,
    ")": -1,
    "]": -1,
    "}": -1,
}
"""By how many levels a bracket leads inwards."""


def _pair(inner: str) -> list[str] | None:
    """Return two arguments of a function, if it has two."""
    depth, commas = 0, list[int]()
    for place, character in enumerate(inner):
        depth += _STEPS.get(character, 0)
        if character == "," and not depth:
            commas.append(place)
    if len(commas) != 1:
        return None
    (comma,) = commas
    return [inner[:comma].strip(), inner[comma + 1 :].strip()]


def _binomial(inner: str) -> str | None:
    pair = _pair(inner)
    return rf"\binom{{{pair[0]}}}{{{pair[1]}}}" if pair else None


_CALLS: dict[str, Callable[[str], str | None]] = {
    "sqrt": lambda inner: rf"\sqrt{{{inner}}}",
    "cbrt": lambda inner: rf"\sqrt[3]{{{inner}}}",
    "exp": lambda inner: rf"e^{{{inner}}}",
    "abs": lambda inner: rf"|{inner}|",
    "floor": lambda inner: rf"\lfloor {inner}\rfloor ",
    "ceil": lambda inner: rf"\lceil {inner}\rceil ",
    "ceiling": lambda inner: rf"\lceil {inner}\rceil ",
    "factorial": lambda inner: rf"({inner})!",
    "binom": _binomial,
    "binomial": _binomial,
    "comb": _binomial,
    "choose": _binomial,
}


def _longest_first(names: Iterable[str]) -> str:
    """Return a pattern for any of some names, `arcsin` before `sin`."""
    return "|".join(sorted(names, key=len, reverse=True))


_CALL = re.compile(rf"(?<![A-Za-z\\])({_longest_first(_CALLS)})\s*\(")
_POWER = re.compile(r"([\^_])\s*\(")
_SIGNED_POWER = re.compile(r"\^\s*([-+]\s*(?:\d+(?:\.\d+)?|[A-Za-z]))")
_FUNCTION = re.compile(
    rf"(?<![A-Za-z\\])(?P<name>{_longest_first(_NAMED_FUNCTIONS)})"
    r"(?:_?(?P<common_base>10|2)(?=\s*\()|_(?P<base>\d+))?(?![A-Za-wz]|[xy][A-Za-z])"
)
_BRACKETED = re.compile(rf"(?<![A-Za-z\\])({'|'.join(_WITH_BRACKETS)})(?=\s*(?:\(|\^))")
_APPLIED = re.compile(
    rf"(?<![A-Za-z\\])(?:(?:{_longest_first(_NAMED_FUNCTIONS)}|sqrt|cbrt)"
    r"\s*[-+(\d]"
    rf"|(?:{_longest_first((*_CALLS, *_WITH_BRACKETS))})\()"
)
"""A function of a number: `sqrt(4)`, `sin 30`. `choose`, `floor` and others may also be words."""
_GREEK_NAME = re.compile(rf"(?<![A-Za-z\\])({'|'.join(_GREEK_NAMES)})(?![A-Za-z])")
_SUPERSCRIPT = re.compile(f"[{''.join(_SUPERSCRIPT_SIGNS)}]+")
_SUBSCRIPT = re.compile(f"[{''.join(_SUBSCRIPT_SIGNS)}]+")
_VULGAR = re.compile(f"[{''.join(_FRACTIONS)}]")
_MIXED = re.compile(r"(?<![\d./^_{])(\d+)\s+(\d+)\s*/\s*(\d+)(?![\d/.])")
_MARKED_BOLD = re.compile(r"\s*\*\*(?!\*)(.*[^*])\*\*[ .]*", re.DOTALL)
_TIMES_TEN = re.compile(r"(?<=\d)\s*[x*]\s*(?=10\s*\^)")


_DOTS = r"(?:\.\.\.|…|\\(?:[lc]?dots|ldots|cdots)(?![A-Za-z]))"
_BARRED = "\N{COMBINING MACRON}\N{COMBINING OVERLINE}"


def _with_bar(number: re.Match[str]) -> str:
    return rf"{number[1]}\overline{{{re.sub(f'[{_BARRED}]', '', number[2])}}}"


_REPEATING: Rewrites = (
    # `0.333...`: one digit at least three times, or twice as the only one → `0.\overline{3}`
    (rf"(?<![\d.])(\d*\.)(\d)\2+{_DOTS}", r"\1\\overline{\2}"),
    # `0.1666...` → `0.1\overline{6}`
    (rf"(?<![\d.])(\d*\.\d{{0,20}}?)(\d)\2\2+{_DOTS}", r"\1\\overline{\2}"),
    # `0.1212...`: several digits twice → `0.\overline{12}`
    (rf"(?<![\d.])(\d*\.\d{{0,20}}?)(\d{{2,12}}?)\2+{_DOTS}", r"\1\\overline{\2}"),
    # `0.1(6)` → `0.1\overline{6}`
    (r"(?<![\d.])(\d*\.\d*)\((\d+)\)(?!\d)", r"\1\\overline{\2}"),
    # `0.\dot{1}2\dot{3}` → `0.\overline{123}`
    (r"(?<=[\d.])\\dot\s*\{?(\d)\}?(\d*)\\dot\s*\{?(\d)\}?", r"\\overline{\1\2\3}"),
    # `0.\dot{3}` → `0.\overline{3}`
    (r"(?<=[\d.])\\dot\s*\{?(\d)\}?", r"\\overline{\1}"),
    # `0.16̅` → `0.1\overline{6}`
    (rf"(?<![\d.])(\d*\.\d{{0,20}}?)((?:\d[{_BARRED}])+)", _with_bar),
)
"""Decimals that repeat, as people type them: `0.333...`, `0.(3)`, `0.\\dot{3}`."""


def with_repeating_decimals(text: str) -> str:
    r"""Return a text in which decimals that repeat have a bar: `0.333...` is `0.\overline{3}`."""
    return rewritten(text, _REPEATING)


_TERM = r"(\d+|[A-Za-z])(?![\w^])"
_TYPED: Rewrites = (
    # `log base 2 of 8` → `\log_{2}(8)`
    (r"(?i)\blog(?:arithm)? base (\w+) of (\w+|\([^()]*\))", r"\\log_{\1}(\2)"),
    # `5 choose 2` → `\binom{5}{2}`
    (rf"(?<![\w\\]){_TERM} +choose +{_TERM}", r"\\binom{\1}{\2}"),
    # `ln 8/ln 2`, a quotient, not the logarithm of one → `ln(8)/ln 2`
    (r"(\\?(?:log|ln)) ?(\d+|[a-z]) ?/ ?(?=\\?(?:log|ln)(?![a-z]))", r"\1(\2)/"),
    # `3/4 pi`, with a space that the product 4pi would not have → `\frac{3}{4}pi`
    (
        r"(?<![\w.)}/^])(\d+)/(\d+) +(?=\\?pi(?![a-z])|[π√]|\\?sqrt|[a-z](?![A-Za-z]))",
        r"\\frac{\1}{\2}",
    ),
    # `2^3^x` → `2^{3^x}`
    (r"(?<=[\w)}])\^(\w)\^(\w|\{[^{}]*\})", r"^{\1^\2}"),
)


def has_function(text: str) -> bool:
    """Tell whether a function is typed with what it is of: `sqrt(4)`, not `we choose 4`."""
    return _APPLIED.search(text) is not None


def as_latex(text: str) -> str:
    """Return a text with what is typed in plain text as LaTeX; LaTeX stays as it is."""
    if bold := _MARKED_BOLD.fullmatch(text):
        text = bold[1]
    text = rewritten(with_repeating_decimals(text.translate(_FULL_WIDTH)), _TYPED)
    text = _SUPERSCRIPT.sub(lambda run: _script("^", run[0].translate(SUPERSCRIPTS)), text)
    text = _SUBSCRIPT.sub(lambda run: _script("_", run[0].translate(_SUBSCRIPTS)), text)
    text = _VULGAR.sub(lambda sign: _FRACTIONS[sign[0]], text)
    text = _MIXED.sub(_mixed_number, text)
    text = _TIMES_TEN.sub(r"\\times ", text)
    text = re.sub(r"∛\s*(?:\(([^()]*)\)|(\w+))", r"\\sqrt[3]{\1\2}", text)
    text = _replace_bracketed(text, _CALL, lambda opening, inner: _CALLS[opening[1]](inner))
    text = _FUNCTION.sub(_function, text)
    text = _BRACKETED.sub(lambda name: _WITH_BRACKETS[name[1]], text)
    text = _replace_bracketed(text, _POWER, lambda opening, inner: f"{opening[1]}{{{inner}}}")
    text = _SIGNED_POWER.sub(r"^{\1}", text)
    for letter, name in _GREEK_LETTERS.items():
        text = text.replace(letter, f"\\{name} ")
    return _GREEK_NAME.sub(r"\\\1 ", text)


def _script(sign: str, characters: str) -> str:
    return f"{sign}{characters}" if len(characters) == 1 else f"{sign}{{{characters}}}"


def _mixed_number(parts: re.Match[str]) -> str:
    whole, above, below = parts.groups()
    is_mixed = len(above) <= len(below) and int(above[:9]) < int(below[:9])
    return rf"{whole}\frac{{{above}}}{{{below}}}" if is_mixed else parts[0]


def _function(function: re.Match[str]) -> str:
    r"""Return `sin` as `\sin `, `log2` and `log_2` as `\log_{2}`."""
    name, base = function["name"], function["common_base"] or function["base"]
    if base is None:
        return f"{_NAMED_FUNCTIONS[name]} "
    return rf"\log_{{{base}}}" if name == "log" else function[0]


def _replace_bracketed(
    text: str, opening: re.Pattern[str], replace: Callable[[re.Match[str], str], str | None]
) -> str:
    """Replace an opening with its bracket, from the last to the first, so that inner ones go first.

    A bracket without its pair stays, and so does what `replace` returns None for.
    """
    for start in reversed(list(opening.finditer(text))):
        stop = _closing(text, start.end())
        if stop is None:
            continue
        new = replace(start, text[start.end() : stop])
        if new is not None:
            text = text[: start.start()] + new + text[stop + 1 :]
    return text


def _closing(text: str, start: int) -> int | None:
    """Return the place of the bracket that closes the one before `start`; None if it is missing."""
    depth = 1
    for place in range(start, len(text)):
        if text[place] == "(":
            depth += 1
        elif text[place] == ")":
            depth -= 1
        if not depth:
            return place
    return None
