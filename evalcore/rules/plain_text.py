r"""Formulas that are typed as plain text, as LaTeX: `2^(n+1)`, `ln(2)`, `exp(x)`, `x¹⁰`, `3½`."""

import re
from collections.abc import Callable

_SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁼⁽⁾ⁿⁱ", "0123456789+-=()ni")
_SUBSCRIPTS = str.maketrans("₀₁₂₃₄₅₆₇₈₉₊₋₌₍₎", "0123456789+-=()")
_FULL_WIDTH = {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)}
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
_WITH_BRACKETS = {"sec": r"\sec", "max": r"\max", "min": r"\min", "gcd": r"\gcd", "lcm": r"\lcm"}
"""Functions only before brackets: `5 sec` and `5 min` are times."""
_GREEK = (
    *("alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta", "iota", "kappa"),
    *("lambda", "rho", "sigma", "tau", "phi", "chi", "psi", "omega"),
    *("Gamma", "Delta", "Theta", "Lambda", "Sigma", "Phi", "Psi", "Omega"),
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


def _pair(inner: str) -> list[str] | None:
    """Return two arguments of a function, if it has two."""
    depth, commas = 0, []
    for place, character in enumerate(inner):
        depth += (character in "([{") - (character in ")]}")
        if character == "," and not depth:
            commas.append(place)
    if len(commas) != 1:
        return None
    return [inner[: commas[0]].strip(), inner[commas[0] + 1 :].strip()]


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
_CALL = re.compile(rf"(?<![A-Za-z\\])({'|'.join(sorted(_CALLS, key=len, reverse=True))})\s*\(")
_POWER = re.compile(r"([\^_])\s*\(")
_SIGNED_POWER = re.compile(r"\^\s*([-+]\s*(?:\d+(?:\.\d+)?|[A-Za-z]))")
_FUNCTION = re.compile(
    rf"(?<![A-Za-z\\])({'|'.join(sorted(_NAMED_FUNCTIONS, key=len, reverse=True))})"
    r"(?:_?(10|2)(?=\s*\()|_(\d+))?(?![A-Za-wz]|[xy][A-Za-z])"
)
_BRACKETED = re.compile(rf"(?<![A-Za-z\\])({'|'.join(_WITH_BRACKETS)})(?=\s*(?:\(|\^))")
_APPLIED = re.compile(
    rf"(?<![A-Za-z\\])(?:(?:{'|'.join(sorted(_NAMED_FUNCTIONS, key=len, reverse=True))}|sqrt|cbrt)"
    r"\s*[-+(\d]"
    rf"|(?:{'|'.join(sorted((*_CALLS, *_WITH_BRACKETS), key=len, reverse=True))})\()"
)
"""A function of a number: `sqrt(4)`, `sin 30`. `choose`, `floor` and others may also be words."""
_GREEK_NAME = re.compile(rf"(?<![A-Za-z\\])({'|'.join(_GREEK)})(?![A-Za-z])")
_SUPERSCRIPT = re.compile("[⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁼⁽⁾ⁿⁱ]+")
_SUBSCRIPT = re.compile("[₀₁₂₃₄₅₆₇₈₉₊₋₌₍₎]+")
_VULGAR = re.compile(f"[{''.join(_FRACTIONS)}]")
_MIXED = re.compile(r"(?<![\d./^_{])(\d+)\s+(\d+)\s*/\s*(\d+)(?![\d/.])")
_MARKED_BOLD = re.compile(r"\s*\*\*(?!\*)(.*[^*])\*\*[ .]*", re.DOTALL)
_TIMES_TEN = re.compile(r"(?<=\d)\s*[x*]\s*(?=10\s*\^)")


_DOTS = r"(?:\.\.\.|…|\\(?:[lc]?dots|ldots|cdots)(?![A-Za-z]))"
_BARRED = "\N{COMBINING MACRON}\N{COMBINING OVERLINE}"


def _with_bar(number: re.Match[str]) -> str:
    return rf"{number[1]}\overline{{{re.sub(f'[{_BARRED}]', '', number[2])}}}"


_REPEATING = (
    # one digit at least three times, or twice as the only one; several digits twice
    (rf"(?<![\d.])(\d*\.)(\d)\2+{_DOTS}", r"\1\\overline{\2}"),
    (rf"(?<![\d.])(\d*\.\d{{0,20}}?)(\d)\2\2+{_DOTS}", r"\1\\overline{\2}"),
    (rf"(?<![\d.])(\d*\.\d{{0,20}}?)(\d{{2,12}}?)\2+{_DOTS}", r"\1\\overline{\2}"),
    (r"(?<![\d.])(\d*\.\d*)\((\d+)\)(?!\d)", r"\1\\overline{\2}"),
    (r"(?<=[\d.])\\dot\s*\{?(\d)\}?(\d*)\\dot\s*\{?(\d)\}?", r"\\overline{\1\2\3}"),
    (r"(?<=[\d.])\\dot\s*\{?(\d)\}?", r"\\overline{\1}"),
    (rf"(?<![\d.])(\d*\.\d{{0,20}}?)((?:\d[{_BARRED}])+)", _with_bar),
)
"""Decimals that repeat, as people type them: `0.333...`, `0.(3)`, `0.\\dot{3}`."""


def with_repeating_decimals(text: str) -> str:
    r"""Return a text in which decimals that repeat have a bar: `0.333...` is `0.\overline{3}`."""
    for pattern, by in _REPEATING:
        text = re.sub(pattern, by, text)
    return text


_TERM = r"(\d+|[A-Za-z])(?![\w^])"
_TYPED = (
    (r"(?i)\blog(?:arithm)? base (\w+) of (\w+|\([^()]*\))", r"\\log_{\1}(\2)"),
    (rf"(?<![\w\\]){_TERM} +choose +{_TERM}", r"\\binom{\1}{\2}"),
    # a quotient of logarithms, not the logarithm of a quotient
    (r"(\\?(?:log|ln)) ?(\d+|[a-z]) ?/ ?(?=\\?(?:log|ln)(?![a-z]))", r"\1(\2)/"),
    # `3/4 pi` has a space where `3/(4pi)` has none
    (
        r"(?<![\w.)}/^])(\d+)/(\d+) +(?=\\?pi(?![a-z])|[π√]|\\?sqrt|[a-z](?![A-Za-z]))",
        r"\\frac{\1}{\2}",
    ),
    (r"(?<=[\w)}])\^(\w)\^(\w|\{[^{}]*\})", r"^{\1^\2}"),
)


def has_function(text: str) -> bool:
    """Tell whether a function is typed with what it is of: `sqrt(4)`, not `we choose 4`."""
    return _APPLIED.search(text) is not None


def as_latex(text: str) -> str:
    """Return a text with what is typed in plain text as LaTeX; LaTeX stays as it is."""
    if bold := _MARKED_BOLD.fullmatch(text):
        text = bold[1]
    text = with_repeating_decimals(text.translate(_FULL_WIDTH))
    for pattern, by in _TYPED:
        text = re.sub(pattern, by, text)
    text = _SUPERSCRIPT.sub(lambda run: _script("^", run[0].translate(_SUPERSCRIPTS)), text)
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


def _function(name: re.Match[str]) -> str:
    base = name[2] or name[3]
    command = _NAMED_FUNCTIONS[name[1]]
    if base is None:
        return f"{command} "
    return rf"\log_{{{base}}}" if name[1] == "log" else name[0]


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
    depth = 1
    for place in range(start, len(text)):
        depth += (text[place] == "(") - (text[place] == ")")
        if not depth:
            return place
    return None
