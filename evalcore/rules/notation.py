r"""How answers are written, so that `\dfrac`, `\left(` or a space can't make a difference."""

import re
import unicodedata
from collections.abc import Iterable
from fractions import Fraction
from itertools import accumulate
from typing import Any

from evalcore.rules.matrices import as_lists
from evalcore.rules.plain_text import as_latex

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
_PLAIN = {
    spelling: f"{sign} " if re.fullmatch(r"\\[A-Za-z]+", sign) else sign
    for sign, spellings in _SPELLINGS.items()
    for spelling in spellings
}
AS_COMMANDS = str.maketrans({sign: f"{_SPELLINGS[sign][0]} " for sign in "≤≥≈≠∈∪∩∖"})
AS_COMMANDS |= str.maketrans({"⦃": r"\{", "⦄": r"\}"})
_TOKEN = re.compile(r"\\(?:[A-Za-z]+|.)|[A-Za-z]+|\*\*|[<>!]=|[^A-Za-z0-9]", re.DOTALL)
TEXT = r"\\(?:text|textrm|textbf|mathrm|mathbf|mbox|rm|operatorname)\s*\{([^{}]*)\}"


def _closed_up(found: re.Match[str]) -> str:
    return found[0].replace(" ", "")


_LAYOUT = (
    (r"\{\s*\\(rm|bf|it|sf|tt)(?![A-Za-z])\s*([^{}]*)\}", r"\\math\1{\2}"),  # the old commands
    (r"\\(?:rm|bf|it|sf|tt)(?![A-Za-z])(?!\s*\{)", ""),
    (r"\\(?:tiny|small|normalsize|[lL]arge|LARGE|[hH]uge|(?:script|text)style)(?![A-Za-z])", ""),
    (r"\\(?:no)?limits(?![A-Za-z])", ""),
    (r"\\[hv]space\*?\s*\{[^{}]*\}|\\(?:hfill|noindent|newline)(?![A-Za-z])", " "),
    (r"\\(?:ensuremath|hbox)\s*(?=\{)", ""),
    (r"\\emph(?=\s*\{)", r"\\textit"),
    (r"\\pmb(?=\s*\{)", r"\\boldsymbol"),
    (
        r"\\operatorname\*?\s*\{\s*((?:arc)?(?:sin|cos|tan)|(?:sin|cos|tan)h|cot|sec|csc|ln|log|max|min"
        r"|gcd)\s*\}",
        r"\\\1 ",
    ),
    (r"\\frac\s+([A-Za-z])\s*([A-Za-z])(?![A-Za-z])", r"\\frac{\1}{\2}"),
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


def _interval(interval: re.Match[str]) -> str:
    """Return an interval such as `]0,1[` with round brackets where it is open."""
    opening = "(" if interval[1] == "]" else "["
    closing = ")" if interval[4] == "[" else "]"
    return f"{opening}{interval[2]},{interval[3]}{closing}"


def _with_minutes(angle: re.Match[str]) -> str:
    """Return an angle of degrees and minutes in degrees."""
    return str(Fraction(angle[1]) + Fraction(angle[2]) / 60).join("()") + "°"


_FONTS = r"\\(?:text|textrm|textbf|textit|mathrm|mathbf|mathit|mathsf|boldsymbol|bm|mbox)"
_REWRITES = (
    (r"\\(?:color|textcolor)\s*\{[^{}]*\}", ""),
    (r"\\(?:underline|framebox)\s*(?=\{)", ""),
    (r"^[`\"'*_\s]+(?=[-\d\\(])|(?<=[\d)}])[`\"*_\\\s]+$", ""),
    (r"(?<![A-Za-z_^{\d.])(\d+(?:\.\d+)?)\s*\((?=[^()]*\))", r"\1\\cdot ("),
    (r"\{\\(?:bf|bfseries)\s+([^{}]*)\}", r"\1"),
    (rf"{_FONTS}\s*\{{([^{{}}A-Za-z\\]*\d[^{{}}A-Za-z\\]*)\}}", r"\1"),  # of a number
    (r"\\(?:mathbf|boldsymbol|bm|pmb)\s*\{([^{}]*\{.*)\}$", r"\1"),  # of a whole formula
    (r"\\mathbb\s*\{?\s*([A-Z])\s*\}?", r"\\mathbb{\1}"),
    (r"\\(?:lor|land|vee|wedge)(?![A-Za-z])", ","),
    (r"\\(?:left|right|[bB]ig[lr]?|displaystyle)(?![A-Za-z])|\\?\$|\\[()\[\]]", ""),
    (r"\\[,;:! ]|\\q?quad(?![A-Za-z])|[~\u00a0\u2009]", " "),
    (r"\^\s*\{\s*\\circ\s*\}|\^\s*\\circ(?![A-Za-z])", "°"),
    (r"√\s*(?:\(([^()]*)\)|(\d+|[A-Za-z]))|(?<![A-Za-z\\])sqrt\s*(\d+)", r"\\sqrt{\1\2\3}"),
    (r"\\(frac|sqrt)\s*(\d|(?<=frac)\s*[A-Za-z](?![A-Za-z])|\\pi(?![A-Za-z]))", r"\\\1{\2}"),
    (r"(\\frac\s*\{[^{}]*\})\s*(\d|[A-Za-z]|\\[a-z]+(?![a-z]|\s*\{))", r"\1{\2}"),
    (r"\\binom\s*([A-Za-z\d])", r"\\binom{\1}"),
    (r"(\\binom\{[^{}]*\})\s*([A-Za-z\d])", r"\1{\2}"),
    (r"\\(?:text|mathrm|mbox)\{\s*,?\s*(?:and|or)\s*\}", ","),
    (r"(?:,\s*)?(?<![A-Za-z\\])(?:and|or)(?![A-Za-z])", ","),
    (rf"_\s*\{{\s*{TEXT}\s*\}}", r"_{\1}"),
    (r"_\s*\{\s*([A-Za-z0-9])\s*\}|_\s+", r"_\1"),
    (r"(?<=[A-Za-z)}])'", r"^{\\prime}"),
    (r"(\\(?:max|min|gcd|lcm))\s*⦃([^⦃⦄]*)⦄", r"\1(\2)"),
    (r"[€£¥₹₽₩](?=\s*[-\d.])|(?<=\d)\s*(?:[€£¥₹₽₩]|USD|EUR|GBP)(?![A-Za-z])", ""),
    (r"\s+", " "),
    (r"(?<![\d ])\d{1,3}(?: \d{3})+(?!\d)", _closed_up),
    (r"(?<!\d)(\d+) ?° ?(\d+(?:\.\d+)?) ?['′](?!['′])", _with_minutes),
    (r"\b(?:negative|minus) (?=\\infty|\d)", "-"),
    (r"(?<=[)\]]) ?U ?(?=[(\[])", "∪"),
    (r"(?<=\\mathbb\{R\}) ?(?:-|\\) ?(?=⦃)", "∖"),
    (r"∪(?= ?[a-z] ?[<>≤≥])", ","),
    (_TURNED_BRACKETS, _interval),
    (rf" ?\( ?(?:≈|{_ABOUT_WORDS}) ?([-\d.,]*\d)[^()]*\)$", r"≈\1"),
    (r"\+ ?/ ?-", "±"),
    (r"(?i) ?\bdegrees? celsius$", "°C"),
    (r"(?i) ?\bdegrees? fahrenheit$", "°F"),
    (
        r"(?i)^(?:all )?real numbers?,? (?:except|other than|excluding)(?: for)? (.+)$",
        r"\\mathbb{R}∖⦃\1⦄",
    ),
    (rf"{_DOMAIN}$", ""),
    (r"(?<=%) (?:increase|decrease|discount|profit|gain|loss|chance|probability|growth)$", ""),
)


_NOTHING = (
    r"(?:\\text\s*\{)?(?:there (?:is|are) )?(?:the empty set|empty set"
    r"|no (?:real )?(?:solutions?|roots?)(?: exists?)?)\}?"
)
_OF_NUMBERS = r"(?:\\text\s*\{)?(?:the )?(?:set of )?(?:all |any )?%s\}?"
_NUMBER_SETS = (
    (r"\mathbb{R}", re.compile(_OF_NUMBERS % r"reals?(?: numbers?)?", re.IGNORECASE)),
    (r"\mathbb{Z}", re.compile(_OF_NUMBERS % r"integers?", re.IGNORECASE)),
    (r"\mathbb{Z}", re.compile(r"\\mathbf\s*\{Z\}")),
    (r"\mathbb{R}", re.compile(r"\\mathbf\s*\{R\}")),
    (r"\mathbb{Q}", re.compile(r"\\mathbf\s*\{Q\}")),
    (r"\mathbb{N}", re.compile(r"\\mathbf\s*\{N\}")),
    (r"\mathbb{C}", re.compile(r"\\mathbf\s*\{C\}")),
    (r"(0,\infty )", re.compile(_OF_NUMBERS % r"positive real(?:s| numbers)", re.IGNORECASE)),
    (r"(-\infty ,0)", re.compile(_OF_NUMBERS % r"negative real(?:s| numbers)", re.IGNORECASE)),
    (r"[0,\infty )", re.compile(_OF_NUMBERS % r"non-?negative real(?:s| numbers)", re.IGNORECASE)),
    (r"\emptyset ", re.compile(_NOTHING, re.IGNORECASE)),
)
"""Sets of numbers, in words or in bold letters."""


def rewritten(text: str, rewrites: Iterable[tuple[str, Any]]) -> str:
    """Return a text in which the matches of each pattern are replaced, one after the other."""
    for pattern, by in rewrites:
        text = re.sub(pattern, by, text)
    return text


def clean(text: str) -> str:
    """Return a text without box, dollar signs, final dot and what LaTeX leaves to taste."""
    text = re.sub(r"(?<=\d)(?:\\,|\\!|\{,\}|\\!,\\!|,\\!)(?=\d{3}(?!\d))", "", text)
    text = as_latex(as_lists(rewritten(text, _LAYOUT)))
    text = _TOKEN.sub(lambda token: _PLAIN.get(token[0], token[0]), text)
    text = rewritten(text, _REWRITES).strip()
    while box := re.fullmatch(r"\\f?box(?:ed)?\s*(\{.*\})[ .]*", text):
        text = enclosed(box[1])[1]
    text = text.rstrip(".,").strip()
    return next((name for name, phrase in _NUMBER_SETS if phrase.fullmatch(text)), text)


def squeezed(text: str) -> str:
    """Return a cleaned text without the spaces that separate nothing: `1 2` keeps its own."""
    text = clean(text.replace("{:}", ":"))
    return re.sub(r"(?<![A-Za-z0-9])\s+|\s+(?![A-Za-z0-9])", "", text)


_OPENING, _CLOSING = "([{⦃⟦⟪", ")]}⦄⟧⟫"


def levels(text: str) -> list[int]:
    """Return how many brackets are open behind each character."""
    return list(accumulate((char in _OPENING) - (char in _CLOSING) for char in text))


def enclosed(text: str) -> tuple[str, str]:
    """Return the pair of brackets that enclose a text, `` for none, and their content."""
    *before, last = levels(text) or [1]
    if last or 0 in before or not re.fullmatch(r"[(\[{⦃⟦⟪].*[)\]}⦄⟧⟫]", text):
        return "", text
    return text[0] + text[-1], text[1:-1].strip()


def split(text: str, separators: str) -> list[str]:
    """Cut a text where a separator stands outside all brackets; what its groups match is kept."""
    level, parts, start = levels(text), list[str](), 0
    for match in re.finditer(separators, text):
        if level[match.start()] == 0:
            parts += [text[start : match.start()].strip(), *match.groups()]
            start = match.end()
    return [*parts, text[start:].strip()]


_HEAD = re.compile(r"\\?(?<![A-Za-z])(sin|cos|tan|cot|sec|csc)((?:\s*\^\s*(?:\{[^{}]*\}|\d))?) ?")
_ANGLE = re.compile(
    r"\\frac\{[^{}]*°[^{}]*\}\{[^{}]*\}"
    r"|(?:[^-+=,°(){}\[\]\\]|\\(?:frac\{[^{}]*\}|cdot|times|pi)|\{[^{}]*\})*?°"
)
_PER_DEGREE = r"\cdot\frac{\pi}{180}"


def in_radians(text: str) -> str:
    """Return a cleaned text with the degrees in trigonometric functions converted."""
    if "°" not in text:
        return text
    level, written, stop = levels(text), "", 0
    for head in _HEAD.finditer(text):
        start = head.end()
        if start < stop or start >= len(text):
            continue
        if text[start] in "([{":
            end = next((k for k in range(start, len(text)) if level[k] < level[start]), start) + 1
            angle = text[start:end]
            if text[end : end + 1] == "°":
                angle, end = f"({angle}°)", end + 1
        elif found := _ANGLE.match(text, start):
            angle, end = f"({found[0]})", found.end()
        else:
            continue
        if "°" in angle:
            name = f"\\{head[1]}{head[2]}{angle.replace('°', _PER_DEGREE)}"
            written, stop = written + text[stop : head.start()] + name, end
    return written + text[stop:]


_SEGMENTS = r"(?<![A-Za-z\\])(?!YES|NO|NONE|TRUE|FALSE)[A-Z]{2,4}(?![A-Za-z])"
_NO_PROSE = (
    rf"{_SEGMENTS}|_\s*\{{[^{{}}]*\}}|\\[A-Za-z]+"
    r"|\b(?:and|or|sin|cos|tan|log|sqrt|max|min|gcd|lcm)\b"
)
_FOR_A_JUDGE = (  # where it stands: among formulas, around them (as §), or anywhere
    ("prose", 0, r"[A-Za-z]{4,}|(?<![A-Za-z])(?:if|for|all|is)(?![A-Za-z])"),
    ("prose", 1, r"[A-Za-z]{3,}|(?<![A-Za-z])(?:if|is|of|no|in)(?![A-Za-z])|\(\s*§"),
    ("written with dots", 2, r"\\(?:[lc]?dots|underbrace)(?![A-Za-z])|\.\.\.|…"),
    ("a set given by a condition", 2, r"\\\{[^{}]*(?:[:|]|\\mid)"),
)


def why_a_judge(gold: str) -> str:
    """Return why a reference answer is one that no algebra can compare, `` for nothing."""
    pieces = [*as_lists(gold).split("$"), ""]
    formulas, around = " ".join(pieces[1::2]), "§".join(pieces[::2])
    bare = [re.sub(_NO_PROSE, " ", re.sub(TEXT, r" \1 ", text)) for text in (formulas, around)]
    texts = (*bare, gold)
    return next((why for why, place, sign in _FOR_A_JUDGE if re.search(sign, texts[place])), "")


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


_DIGITS = r"(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?|\.\d+"
_EXPONENT = r"10\s*\^\s*\{?\s*([-+]?\d{1,3})\s*\}?"
_PLAINER = (
    ("[−–﹣－]", "-"),
    (r"\\(?:text|textbf|mathrm|mathbf|boxed|fbox)\s*\{([^{}]*)\}", r"\1"),
    (r"\{,\}", ","),
    (r"\\(?:times|cdot)(?![A-Za-z])", "×"),
    (r"\\(?:approx|simeq|sim)(?![A-Za-z])", "≈"),
    (r"\\[,!;:]|\\left|\\right|\\[()\[\]]|\*\*|[`\"]", ""),
    (rf"\\[dt]?frac\s*\{{\s*({_DIGITS})\s*\}}\s*\{{\s*({_DIGITS})\s*\}}", r" \1/\2"),
    (r"\\(?=[$%£€#&_ ])|~", " "),
    (r"\s+", " "),  # else the patterns below take quadratic time
    (rf" ?[x×*] ?{_EXPONENT}", r"e\1"),
    (rf"(?<![\w.]){_EXPONENT}", r"1e\1"),
)
_CURRENCY = r"(?:US\$|[$£€¥₤₹]|[A-Z]{3})?"
_END = r"([eE][-+]?\d{1,3})?(?!\d|[.,]\d)"
_VALUE = (
    rf"(?<![\w.,^])([-+]?) ?{_CURRENCY} ?(-?) ?"
    rf"({_DIGITS})(?:\s*/\s*({_DIGITS}))?{_END}(?!-[A-Za-z])"
)
_VALUE_FIRST = rf"(?:(?i:approximately|about|around|roughly)|[\s(:{{])*+{_VALUE}"
_FACTOR = re.compile(rf" ?[x×*] ?{_CURRENCY} ?({_DIGITS}){_END}")
_FORMULA = re.compile(r"\s*[-+*/×x^]\s*[\d(]")


_POWERS_OF_TEN = {"hundred": 2, "thousand": 3, "million": 6, "billion": 9, "trillion": 12}
_POWERS_OF_TEN |= {"k": 3, "m": 6, "mn": 6, "b": 9, "bn": 9, "t": 12}
_WORDS_THAT_SCALE = (
    r"[\s-]*(?:(?i:hundred|thousand|million|billion|trillion)(?i:ths?|s)?|(?i:dozens?)"
    r"|(?<=\d)(?:k|M|mn|bn|B))(?![A-Za-z])"
)
_SCALES = rf"{_WORDS_THAT_SCALE}|\s*(?:[kKMBT]|mn|bn)(?![A-Za-z])"  # with a currency
_ABOUT = r"(?:(?i:about|approximately|around|roughly|maybe|perhaps|else)\s+)?"
_NOUN = r"\s*(?!(?i:at|by|for|from|in|of|on|out|per|with|not|but|is)\b)[^\W\d_]++"
_AND = r"\s*(?:,?\s*(?i:\b(?:or|and|to|nor|vs)\b)|[;&~]) ?"
_OTHER_BEHIND = re.compile(
    rf"(?:(?:{_NOUN}){{0,2}}(?:{_AND}|\s*,\s*)|{_NOUN}\s+|\s+){_ABOUT}{_VALUE}"
)
_OTHER_BEFORE = re.compile(rf"{_VALUE}(?:(?:{_NOUN}){{0,2}}{_AND}|\s*,\s*){_ABOUT}$")
_NOT_IT = re.compile(  # a denial, a bound, or the argument of a function
    r"(?:(?i:\bnot|\bcannot|n't|n’t|\bnever|\bthan|\bat least|\bat most|\bup to|\bover|\bunder"
    r"|\babove|\bbelow|\bexceeds?|\bexcept)(?i:\s+(?:be|exactly|equal to|equals?))?"
    r"|[<>≤≥≠√|]|\\[A-Za-z]+)[\s({]*$"
)
_BOTH = re.compile(r"\bnot (?:only|just|merely)\b.*\bbut\b", re.IGNORECASE)
_NOT_ALL = re.compile(
    r"\s*(?:[-+*/×x]\s*[\d({\\$£€¥₤₹]|:\d|[!²³<>≤≥≠]|\^(?!\s*\{?\s*\\?circ)|\\(?!circ|degree|Omega|mu|q?quad))"
)


def _factor_of(word: str) -> Fraction:
    if word.startswith("dozen"):
        return Fraction(12)
    stem = re.sub("(?<=[a-z]{4})(?:ths?|s)$", "", word)
    power = Fraction(10 ** _POWERS_OF_TEN[stem])
    return 1 / power if re.search("ths?$", word) else power


def read_number(text: str, as_authors: bool) -> float | int | None:
    r"""Read an answer such as `$1,234.50`, `x ≈ −0.5`, `1.2 × 10^3`, `\frac{1}{2}`, `about 3 days`.

    In the text after the last `=` or `≈`, it is the number at the beginning, or, if words come
    first, the last number. A formula is not computed, and percent signs and units never scale.
    FinanceMath's authors take the first of `a or b` and compute products; where they find no number
    they continue with 0, but here there is none.
    """
    text = _after_relations(text)
    if as_authors:
        text = text.partition(" or ")[0]
    found = _find_value(text)
    if found is None or (value := _value_of(found)) is None:
        return None
    end = found.end()
    while as_authors and (factor := _FACTOR.match(text, end)):
        try:
            value *= Fraction("".join(factor.groups("")).replace(",", ""))
        except ValueError:  # more digits than Python reads
            return None
        end = factor.end()
    return None if _FORMULA.match(text, end) else _as_number(value)


_MIXED = re.compile(
    r"(?<![\d./])(\d+)\s*(?:\\[dt]?frac\s*(?:\{\s*(\d+)\s*\}\s*\{\s*(\d+)\s*\}|(\d)\s*(\d))"
    r"|(?:\s|\sand\s)(\d+)/(\d+))(?![\d./])"
)


def _improper(number: re.Match[str]) -> str:
    """Return `2 1/2` as `5/2`."""
    whole, above, below = filter(None, number.groups())
    return f"{int(whole) * int(below) + int(above)}/{int(below)}"


def with_improper_fractions(text: str) -> str:
    r"""Return a text with `5/2` for `2 1/2` and `2\frac{1}{2}`."""
    return _MIXED.sub(_improper, text)


_SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "0123456789-")
_POWER_OF_TEN = re.compile(r"(?<=[×x*] 10|.[×x*]10)[⁰¹²³⁴-⁹⁻]+")
_SMALL_FRACTION = re.compile("[ \u2009]?([¼½¾⅐-⅞])")


def _in_plain_figures(text: str) -> str:
    """Return a text with `2 1/2` for `2½` and `× 10^3` for `× 10³`."""
    text = _POWER_OF_TEN.sub(lambda power: "^" + power[0].translate(_SUPERSCRIPTS), text)
    return _SMALL_FRACTION.sub(
        lambda found: " " + unicodedata.normalize("NFKC", found[1]).replace("⁄", "/"), text
    )


def read_only_number(text: str) -> float | int | None:
    r"""Read the one number that an answer states: as `read_number` does, but no bound on it.

    `12 million` and `$12M` are 12,000,000. There is none in `12 or 13`, `12 apples and 3 pears`,
    `not 12`, `at least 12`, `12!`, `\sqrt{12}`.
    """
    text = with_improper_fractions(_in_plain_figures(re.sub("[<>!]=", "≠", text)))
    text = _after_relations(text)
    text = re.sub(r"(?<![\w.,])\d{1,3}(?: \d{3})+(?![\w.,]|\s\d)", _closed_up, text)
    found = _find_value(text)
    if found is None or (value := _value_of(found)) is None:
        return None
    before, end = text[: found.start()], found.end()
    scales = _SCALES if re.search("[$£€¥₤₹]|[A-Z]{3}", found[0]) else _WORDS_THAT_SCALE
    while scale := re.compile(scales).match(text, end):
        value *= _factor_of(scale[0].strip(" -").lower())
        end = scale.end()
    others = _OTHER_BEHIND.match(text, end), _OTHER_BEFORE.search(before)
    is_other = any(other and _value_of(other) != value for other in others)
    is_other = is_other or bool(_BOTH.search(before))
    if is_other or _NOT_IT.search(before) or _NOT_ALL.match(text, end):
        return None
    return _as_number(-value if re.search(r"(?i)\b(?:minus|negative)\s*$", before) else value)


def _after_relations(text: str) -> str:
    return re.split("[=≈]", rewritten(text, _PLAINER).rstrip("=≈ "))[-1].strip()


def _find_value(text: str) -> re.Match[str] | None:
    return re.match(_VALUE_FIRST, text) or [None, *re.finditer(_VALUE, text)][-1]


def _value_of(found: re.Match[str]) -> Fraction | None:
    *signs, digits, divisor, power = (part.replace(",", "") for part in found.groups(""))
    try:
        value = Fraction(digits + power) / Fraction(divisor or "1")
    except (ZeroDivisionError, ValueError):  # or more digits than Python reads
        return None
    return -value if "-" in signs else value


def _as_number(value: Fraction) -> float | int | None:
    try:
        number = float(value)
    except OverflowError:
        return None
    return value.numerator if value and value.denominator == 1 else number
