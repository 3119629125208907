r"""How answers are written, so that `\dfrac`, `\left(` or a space can't make a difference."""

import re
from collections.abc import Sequence
from fractions import Fraction
from typing import Literal, NamedTuple

from evalcore.rules.brackets import enclosed, levels
from evalcore.rules.matrices import as_lists
from evalcore.rules.plain_text import as_latex
from evalcore.rules.rewrites import Rewrites, rewritten

_SPELLINGS = {
    "≤": (r"\le", r"\leq", r"\leqslant", r"\leqq", "<="),
    "≥": (r"\ge", r"\geq", r"\geqslant", r"\geqq", ">="),
    "≠": (r"\ne", r"\neq", "!="),
    "≈": (r"\approx", r"\sim", r"\simeq", r"\cong", r"\thickapprox", "≃", "≅"),
    "∈": (r"\in",),
    "∪": (r"\cup", r"\bigcup"),
    "∩": (r"\cap",),
    "∖": (r"\setminus", r"\smallsetminus", r"\backslash"),
    "⦃": (r"\{", r"\lbrace"),
    "⦄": (r"\}", r"\rbrace"),
    "(": (r"\langle", "⟨", "〈", r"\lparen"),
    ")": (r"\rangle", "⟩", "〉", r"\rparen"),
    "<": (r"\lt",),
    ">": (r"\gt",),
    "±": (r"\pm",),
    "∓": (r"\mp",),
    "°": (r"\degree", "º"),
    "%": (r"\%",),
    "-": ("−", "–", "﹣"),
    ",": (";",),
    r"\frac": (r"\dfrac", r"\tfrac", r"\cfrac"),
    r"\times": ("×",),
    r"\cdot": ("·", "*", "⋅", "∙"),
    r"\div": ("÷",),
    r"\pi": ("π", "pi"),
    r"\infty": ("∞", "inf", "infinity", "oo"),
    "^": ("**",),
    r"\emptyset": (r"\varnothing", "∅"),
    r"\log_{10}": (r"\lg",),
    r"\binom": (r"\dbinom", r"\tbinom"),
    r"\lfloor": ("⌊",),
    r"\rfloor": ("⌋",),
    r"\lceil": ("⌈",),
    r"\rceil": ("⌉",),
    r"\mathbb{R}": ("ℝ", r"\R", r"\Reals", r"\reals"),
    r"\mathbb{Z}": ("ℤ", r"\Z"),
    r"\mathbb{N}": ("ℕ", r"\N"),
    r"\mathbb{Q}": ("ℚ", r"\Q"),
    r"\mathbb{C}": ("ℂ",),
    "\N{GREEK CAPITAL LETTER OMEGA}": (r"\Omega", "\N{OHM SIGN}"),
}
"""The ways of writing a sign, by the one that is kept."""


def _with_space(sign: str) -> str:
    r"""Return a command with a space, so that `\pi` and the `x` behind it don't become `\pix`."""
    return f"{sign} " if re.fullmatch(r"\\[A-Za-z]+", sign) else sign


_SIGN_OF_SPELLING = {
    spelling: _with_space(sign) for sign, spellings in _SPELLINGS.items() for spelling in spellings
}
AS_COMMANDS = str.maketrans(
    {
        "≤": r"\le ",
        "≥": r"\ge ",
        "≈": r"\approx ",
        "≠": r"\ne ",
        "∈": r"\in ",
        "∪": r"\cup ",
        "∩": r"\cap ",
        "∖": r"\setminus ",
        "⦃": r"\{",
        "⦄": r"\}",
    }
)
"""The signs that parsers of LaTeX know only as commands."""
_TOKEN = re.compile(r"\\(?:[A-Za-z]+|.)|[A-Za-z]+|\*\*|[<>!]=|[^A-Za-z0-9]", re.DOTALL)
TEXT = r"\\(?:text|textrm|textbf|mathrm|mathbf|mbox|rm|operatorname)\s*\{([^{}]*)\}"

_COMMANDS_OF_FUNCTIONS = (
    "sin",
    "cos",
    "tan",
    "cot",
    "sec",
    "csc",
    "arcsin",
    "arccos",
    "arctan",
    "sinh",
    "cosh",
    "tanh",
    "ln",
    "log",
    "max",
    "min",
    "gcd",
)
"""Functions that have a command of their own in LaTeX."""
_LAYOUT: Rewrites = (
    # `{\rm cm}` → `\mathrm{cm}`
    (r"\{\s*\\(rm|bf|it|sf|tt)(?![A-Za-z])\s*([^{}]*)\}", r"\\math\1{\2}"),
    # `5\rm cm` → `5 cm`
    (r"\\(?:rm|bf|it|sf|tt)(?![A-Za-z])(?!\s*\{)", ""),
    # `\large 5` → ` 5`
    (r"\\(?:tiny|small|normalsize|[lL]arge|LARGE|[hH]uge)(?![A-Za-z])", ""),
    # `\textstyle 5` → ` 5`
    (r"\\(?:script|text)style(?![A-Za-z])", ""),
    # `\sum\limits_k` → `\sum_k`
    (r"\\(?:no)?limits(?![A-Za-z])", ""),
    # `5\hspace{1mm}m` → `5 m`
    (r"\\[hv]space\*?\s*\{[^{}]*\}", " "),
    # `5\newline m` → `5  m`
    (r"\\(?:hfill|noindent|newline)(?![A-Za-z])", " "),
    # `\hbox{m}` → `{m}`
    (r"\\(?:ensuremath|hbox)\s*(?=\{)", ""),
    # `\emph{no}` → `\textit{no}`
    (r"\\emph(?=\s*\{)", r"\\textit"),
    # `\pmb{v}` → `\boldsymbol{v}`
    (r"\\pmb(?=\s*\{)", r"\\boldsymbol"),
    # `\operatorname{arcsin}x` → `\arcsin x`
    (rf"\\operatorname\*?\s*\{{\s*({'|'.join(_COMMANDS_OF_FUNCTIONS)})\s*\}}", r"\\\1 "),
    # `\frac a b` → `\frac{a}{b}`
    (r"\\frac\s+([A-Za-z])\s*([A-Za-z])(?![A-Za-z])", r"\\frac{\1}{\2}"),
    # `30^{\text{o}}` → `30°`
    (r"\^\s*\{?\s*\\(?:text|mathrm)\s*\{\s*o\s*\}\s*\}?", "°"),
)
"""Commands that only set the type, and older ones that have a newer name."""

_QUANTIFIER = r",? ?(?:\\text ?\{)? ?\b(?:for (?:all|any|every)|where|with) ?\}?"
_OF_SET = r"∈ ?\\mathbb\{[RZ]\}"
_DOMAIN = (
    rf"(?:{_QUANTIFIER} ?[A-Za-z](?: ?{_OF_SET})?"
    rf"|(?<=[\w)}}]) ?, ?[kmn] ?{_OF_SET})"
)
"""Words and signs for the numbers for which a formula holds: `for all x`, `, k ∈ Z`."""
_ABOUT_WORDS = r"(?:about|approx(?:imately|\.)?|roughly|around)(?![A-Za-z])"
_TURNED_BRACKETS = (
    r"(?:(?<=^)|(?<=[∪∩∈=,( ]))([\[\]])([^\[\](),]+),([^\[\](),]+)([\[\]])(?=$|[ ∪∩,)])"
)


def closed_up(number: re.Match[str]) -> str:
    """Return `1 234` as `1234`."""
    return number[0].replace(" ", "")


def _interval(interval: re.Match[str]) -> str:
    """Return an interval such as `]0,1[` with round brackets where it is open."""
    opening = "(" if interval[1] == "]" else "["
    closing = ")" if interval[4] == "[" else "]"
    return f"{opening}{interval[2]},{interval[3]}{closing}"


def _with_minutes(angle: re.Match[str]) -> str:
    """Return an angle of degrees and minutes in degrees."""
    return str(Fraction(angle[1]) + Fraction(angle[2]) / 60).join("()") + "°"


_FONTS = r"\\(?:text|textrm|textbf|textit|mathrm|mathbf|mathit|mathsf|boldsymbol|bm|mbox)"
_REWRITES: Rewrites = (
    # `\color{red} 5` → ` 5`
    (r"\\(?:color|textcolor)\s*\{[^{}]*\}", ""),
    # `\underline{5}` → `{5}`
    (r"\\(?:underline|framebox)\s*(?=\{)", ""),
    # `**5**` → `5`
    (r"^[`\"'*_\s]+(?=[-\d\\(])|(?<=[\d)}])[`\"*_\\\s]+$", ""),
    # `2(x+1)` → `2\cdot (x+1)`
    (r"(?<![A-Za-z_^{\d.])(\d+(?:\.\d+)?)\s*\((?=[^()]*\))", r"\1\\cdot ("),
    # `{\bfseries 5}` → `5`
    (r"\{\\(?:bf|bfseries)\s+([^{}]*)\}", r"\1"),
    # `\mathbf{5}`, a number → `5`
    (rf"{_FONTS}\s*\{{([^{{}}A-Za-z\\]*\d[^{{}}A-Za-z\\]*)\}}", r"\1"),
    # `\boldsymbol{\sqrt{5}}`, a whole formula → `\sqrt{5}`
    (r"\\(?:mathbf|boldsymbol|bm|pmb)\s*\{([^{}]*\{.*)\}$", r"\1"),
    # `\mathbb R` → `\mathbb{R}`
    (r"\\mathbb\s*\{?\s*([A-Z])\s*\}?", r"\\mathbb{\1}"),
    # `x=1\lor x=2` → `x=1, x=2`
    (r"\\(?:lor|land|vee|wedge)(?![A-Za-z])", ","),
    # `\left(1,2\right)` → `(1,2)`
    (r"\\(?:left|right|[bB]ig[lr]?|displaystyle)(?![A-Za-z])|\\?\$|\\[()\[\]]", ""),
    # `5\,m`, `5~m` → `5 m`
    (r"\\[,;:! ]|\\q?quad(?![A-Za-z])|[~\u00a0\u2009]", " "),
    # `30^{\circ}` → `30°`
    (r"\^\s*\{\s*\\circ\s*\}|\^\s*\\circ(?![A-Za-z])", "°"),
    # `√(2)`, `√2`, `sqrt 2` → `\sqrt{2}`
    (r"√\s*(?:\(([^()]*)\)|(\d+|[A-Za-z]))|(?<![A-Za-z\\])sqrt\s*(\d+)", r"\\sqrt{\1\2\3}"),
    # `\frac12`, `\sqrt2` → `\frac{1}2`, `\sqrt{2}`
    (r"\\(frac|sqrt)\s*(\d|(?<=frac)\s*[A-Za-z](?![A-Za-z])|\\pi(?![A-Za-z]))", r"\\\1{\2}"),
    # `\frac{1}2` → `\frac{1}{2}`
    (r"(\\frac\s*\{[^{}]*\})\s*(\d|[A-Za-z]|\\[a-z]+(?![a-z]|\s*\{))", r"\1{\2}"),
    # `\binom 5 2` → `\binom{5} 2`
    (r"\\binom\s*([A-Za-z\d])", r"\\binom{\1}"),
    # `\binom{5} 2` → `\binom{5}{2}`
    (r"(\\binom\{[^{}]*\})\s*([A-Za-z\d])", r"\1{\2}"),
    # `1 \text{ and } 2` → `1 , 2`
    (r"\\(?:text|mathrm|mbox)\{\s*,?\s*(?:and|or)\s*\}", ","),
    # `1, 2, and 3` → `1, 2, 3`
    (r"(?:,\s*)?(?<![A-Za-z\\])(?:and|or)(?![A-Za-z])", ","),
    # `v_{\text{max}}` → `v_{max}`
    (rf"_\s*\{{\s*{TEXT}\s*\}}", r"_{\1}"),
    # `x_{1}`, `x_ 1` → `x_1`
    (r"_\s*\{\s*([A-Za-z0-9])\s*\}|_\s+", r"_\1"),
    # `f'` → `f^{\prime}`
    (r"(?<=[A-Za-z)}])'", r"^{\\prime}"),
    # `\max⦃1, 2⦄` → `\max(1, 2)`
    (r"(\\(?:max|min|gcd|lcm))\s*⦃([^⦃⦄]*)⦄", r"\1(\2)"),
    # `€5`, `5 EUR` → `5`
    (r"[€£¥₹₽₩](?=\s*[-\d.])|(?<=\d)\s*(?:[€£¥₹₽₩]|USD|EUR|GBP)(?![A-Za-z])", ""),
    # `1   2` → `1 2`
    (r"\s+", " "),
    # `1 234 567` → `1234567`
    (r"(?<![\d ])\d{1,3}(?: \d{3})+(?!\d)", closed_up),
    # `45° 30'` → `(91/2)°`
    (r"(?<!\d)(\d+) ?° ?(\d+(?:\.\d+)?) ?['′](?!['′])", _with_minutes),
    # `negative 5`, `minus 5` → `-5`
    (r"\b(?:negative|minus) (?=\\infty|\d)", "-"),
    # `(0,1) U (2,3)` → `(0,1)∪(2,3)`
    (r"(?<=[)\]]) ?U ?(?=[(\[])", "∪"),
    # `\mathbb{R} - ⦃0⦄` → `\mathbb{R}∖⦃0⦄`
    (r"(?<=\\mathbb\{R\}) ?(?:-|\\) ?(?=⦃)", "∖"),
    # `x<1∪x>2` → `x<1,x>2`
    (r"∪(?= ?[a-z] ?[<>≤≥])", ","),
    # `]0,1]` → `(0,1]`
    (_TURNED_BRACKETS, _interval),
    # `1/3 (about 0.33)` → `1/3≈0.33`
    (rf" ?\( ?(?:≈|{_ABOUT_WORDS}) ?([-\d.,]*\d)[^()]*\)$", r"≈\1"),
    # `5 +/- 1` → `5 ± 1`
    (r"\+ ?/ ?-", "±"),
    # `20 degrees Celsius` → `20°C`
    (r"(?i) ?\bdegrees? celsius$", "°C"),
    # `20 degrees Fahrenheit` → `20°F`
    (r"(?i) ?\bdegrees? fahrenheit$", "°F"),
    # `all real numbers except 0` → `\mathbb{R}∖⦃0⦄`
    (
        r"(?i)^(?:all )?real numbers?,? (?:except|other than|excluding)(?: for)? (.+)$",
        r"\\mathbb{R}∖⦃\1⦄",
    ),
    # `2x for all x` → `2x`
    (rf"{_DOMAIN}$", ""),
    # `5% increase` → `5%`
    (r"(?<=%) (?:increase|decrease|discount|profit|gain|loss|chance|probability|growth)$", ""),
)


def _all_numbers(kind: str) -> re.Pattern[str]:
    """Return what matches `all real numbers`, `the set of real numbers` and the like."""
    words = rf"(?:\\text\s*\{{)?(?:the )?(?:set of )?(?:all |any )?{kind}\}}?"
    return re.compile(words, re.IGNORECASE)


_NO_NUMBERS = re.compile(
    r"(?:\\text\s*\{)?(?:there (?:is|are) )?(?:the empty set|empty set"
    r"|no (?:real )?(?:solutions?|roots?)(?: exists?)?)\}?",
    re.IGNORECASE,
)
_NUMBER_SETS = (
    (r"\mathbb{R}", _all_numbers(r"reals?(?: numbers?)?")),
    (r"\mathbb{Z}", _all_numbers(r"integers?")),
    (r"\mathbb{Z}", re.compile(r"\\mathbf\s*\{Z\}")),
    (r"\mathbb{R}", re.compile(r"\\mathbf\s*\{R\}")),
    (r"\mathbb{Q}", re.compile(r"\\mathbf\s*\{Q\}")),
    (r"\mathbb{N}", re.compile(r"\\mathbf\s*\{N\}")),
    (r"\mathbb{C}", re.compile(r"\\mathbf\s*\{C\}")),
    (r"(0,\infty )", _all_numbers(r"positive real(?:s| numbers)")),
    (r"(-\infty ,0)", _all_numbers(r"negative real(?:s| numbers)")),
    (r"[0,\infty )", _all_numbers(r"non-?negative real(?:s| numbers)")),
    (r"\emptyset ", _NO_NUMBERS),
)
"""Sets of numbers, in words or in bold letters."""


def clean(text: str) -> str:
    """Return a text without box, dollar signs, final dot and what LaTeX leaves to taste."""
    # `1{,}234`, `1\,234` → `1234`
    text = re.sub(r"(?<=\d)(?:\\,|\\!|\{,\}|\\!,\\!|,\\!)(?=\d{3}(?!\d))", "", text)
    text = as_latex(as_lists(rewritten(text, _LAYOUT)))
    text = _TOKEN.sub(lambda token: _SIGN_OF_SPELLING.get(token[0], token[0]), text)
    text = rewritten(text, _REWRITES).strip()
    while box := re.fullmatch(r"\\f?box(?:ed)?\s*(\{.*\})[ .]*", text):
        text = enclosed(box[1])[1]
    text = text.rstrip(".,").strip()
    return next((name for name, phrase in _NUMBER_SETS if phrase.fullmatch(text)), text)


def squeezed(text: str) -> str:
    """Return a cleaned text without the spaces that separate nothing: `1 2` keeps its own."""
    text = clean(text.replace("{:}", ":"))
    return re.sub(r"(?<![A-Za-z0-9])\s+|\s+(?![A-Za-z0-9])", "", text)


_FUNCTION_OF_ANGLE = re.compile(
    r"\\?(?<![A-Za-z])(?P<name>sin|cos|tan|cot|sec|csc)(?P<power>(?:\s*\^\s*(?:\{[^{}]*\}|\d))?) ?"
)
_ANGLE = re.compile(
    r"\\frac\{[^{}]*°[^{}]*\}\{[^{}]*\}"
    r"|(?:[^-+=,°(){}\[\]\\]|\\(?:frac\{[^{}]*\}|cdot|times|pi)|\{[^{}]*\})*?°"
)
_PER_DEGREE = r"\cdot\frac{\pi}{180}"


class _Argument(NamedTuple):
    text: str
    stop: int
    """Where it ends in the formula."""


def in_radians(text: str) -> str:
    r"""Return a cleaned text with the degrees in trigonometric functions converted.

    `\sin 30°` is `\sin(30\cdot\frac{\pi}{180})`.
    """
    if "°" not in text:
        return text
    level, converted, stop = levels(text), "", 0
    for function in _FUNCTION_OF_ANGLE.finditer(text):
        if function.end() < stop:  # within the argument of another function
            continue
        argument = _argument(text, function.end(), level)
        if argument and "°" in argument.text:
            radians = argument.text.replace("°", _PER_DEGREE)
            converted += text[stop : function.start()]
            converted += rf"\{function['name']}{function['power']}{radians}"
            stop = argument.stop
    return converted + text[stop:]


def _argument(text: str, start: int, level: Sequence[int]) -> _Argument | None:
    """Return the argument of a function with brackets around it; None if it has no angle."""
    if text[start : start + 1] in {"(", "[", "{"}:
        closing = (place for place in range(start, len(text)) if level[place] < level[start])
        stop = next(closing, start) + 1
        if text[stop : stop + 1] == "°":  # `\sin(30)°`
            return _Argument(f"({text[start:stop]}°)", stop + 1)
        return _Argument(text[start:stop], stop)
    if angle := _ANGLE.match(text, start):
        return _Argument(f"({angle[0]})", angle.end())
    return None


_SEGMENTS = r"(?<![A-Za-z\\])(?!YES|NO|NONE|TRUE|FALSE)[A-Z]{2,4}(?![A-Za-z])"
_NO_PROSE = (
    rf"{_SEGMENTS}|_\s*\{{[^{{}}]*\}}|\\[A-Za-z]+"
    r"|\b(?:and|or|sin|cos|tan|log|sqrt|max|min|gcd|lcm)\b"
)


class _Obstacle(NamedTuple):
    """A reason why algebra can't compare a reference answer."""

    reason: str
    place: Literal["in formulas", "around formulas", "anywhere"]
    pattern: str


_OBSTACLES = (
    # `$5 for all n$`
    _Obstacle(
        "prose",
        "in formulas",
        r"[A-Za-z]{4,}|(?<![A-Za-z])(?:if|for|all|is)(?![A-Za-z])",
    ),
    # `$5$ if $n$ is even`, `all (§)`: § stands for a formula
    _Obstacle(
        "prose",
        "around formulas",
        r"[A-Za-z]{3,}|(?<![A-Za-z])(?:if|is|of|no|in)(?![A-Za-z])|\(\s*§",
    ),
    # `1, 2, \ldots, n`
    _Obstacle(
        "written with dots",
        "anywhere",
        r"\\(?:[lc]?dots|underbrace)(?![A-Za-z])|\.\.\.|…",
    ),
    # `\{x : x > 2\}`
    _Obstacle(
        "a set given by a condition",
        "anywhere",
        r"\\\{[^{}]*(?:[:|]|\\mid)",
    ),
)


def obstacle_to_algebra(gold: str) -> str:
    """Return why algebra can't compare a reference answer; empty if it can."""
    pieces = [*as_lists(gold).split("$"), ""]
    formulas, around = " ".join(pieces[1::2]), "§".join(pieces[::2])
    texts = {
        "in formulas": _without_names(formulas),
        "around formulas": _without_names(around),
        "anywhere": gold,
    }
    for obstacle in _OBSTACLES:
        if re.search(obstacle.pattern, texts[obstacle.place]):
            return obstacle.reason
    return ""


def _without_names(text: str) -> str:
    r"""Return a text without the words that formulas have: `\sin`, `AB`, `x_{max}`, `and`."""
    return re.sub(_NO_PROSE, " ", re.sub(TEXT, r" \1 ", text))


_MARKED = r"\\(?:text|textrm|textbf|textit|mbox)\s*\{[^{}]*\}|\d+(?:\{:\}\d+)+"
_IS_TEXT = re.compile(rf"(?:{_MARKED})(?:{_MARKED}|[\s~,.]|\\[ ,;:!])*")


def is_text(gold: str) -> bool:
    r"""Tell whether a reference answer is a text or a time: `\text{Yes}`, `10{:}30`."""
    return bool(_IS_TEXT.fullmatch(gold.strip().strip("$").strip()))


def words(text: str) -> list[str]:
    """Return the words of a text in small letters, without marks, brackets and punctuation."""
    plain = re.sub(r"\\textit(?=\s*\{)", r"\\text", text.replace("{:}", ":"))
    plain = re.sub(r"\B'|'\B", "", plain)  # else primes
    plain = re.sub(r"\s*:\s*", ":", re.sub(TEXT, r" \1 ", clean(plain)).casefold())
    return [word for word in (word.strip('()[],.;!?"') for word in plain.split()) if word]
