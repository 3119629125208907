r"""Numbers as people write them: `$1,234.50`, `1.2 × 10^3`, `\frac{1}{2}`, `12 million`."""

import re
import unicodedata
from fractions import Fraction

from evalcore.rules.notation import closed_up
from evalcore.rules.plain_text import SUPERSCRIPTS
from evalcore.rules.rewrites import Rewrites, rewritten

_DIGITS = r"(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?|\.\d+"
_EXPONENT = r"10\s*\^\s*\{?\s*([-+]?\d{1,3})\s*\}?"
_PLAINER: Rewrites = (
    # `−5` → `-5`
    ("[−–﹣－]", "-"),
    # `\text{5}` → `5`
    (r"\\(?:text|textbf|mathrm|mathbf|boxed|fbox)\s*\{([^{}]*)\}", r"\1"),
    # `1{,}234` → `1,234`
    (r"\{,\}", ","),
    # `2 \times 3` → `2 × 3`
    (r"\\(?:times|cdot)(?![A-Za-z])", "×"),
    # `x \approx 5` → `x ≈ 5`
    (r"\\(?:approx|simeq|sim)(?![A-Za-z])", "≈"),
    # `\left(5\right)` → `(5)`
    (r"\\[,!;:]|\\left|\\right|\\[()\[\]]|\*\*|[`\"]", ""),
    # `\frac{1}{2}` → ` 1/2`
    (rf"\\[dt]?frac\s*\{{\s*({_DIGITS})\s*\}}\s*\{{\s*({_DIGITS})\s*\}}", r" \1/\2"),
    # `\$5` → ` $5`
    (r"\\(?=[$%£€#&_ ])|~", " "),
    # `1   or 2` → `1 or 2`; else the patterns below take quadratic time
    (r"\s+", " "),
    # `1.2 × 10^3` → `1.2e3`
    (rf" ?[x×*] ?{_EXPONENT}", r"e\1"),
    # `10^3` → `1e3`
    (rf"(?<![\w.]){_EXPONENT}", r"1e\1"),
)
_CURRENCY_SIGN = "[$£€¥₤₹]"
_CURRENCY = rf"(?:US\$|{_CURRENCY_SIGN}|[A-Z]{{3}})?"
_END = r"(?!\d|[.,]\d)"
_VALUE = (
    rf"(?<![\w.,^])(?P<sign>[-+]?) ?{_CURRENCY} ?(?P<sign_behind>-?) ?"
    rf"(?P<digits>{_DIGITS})(?:\s*/\s*(?P<divisor>{_DIGITS}))?"
    rf"(?P<exponent>[eE][-+]?\d{{1,3}})?{_END}(?!-[A-Za-z])"
)
_VALUE_FIRST = rf"(?:(?i:approximately|about|around|roughly)|[\s(:{{])*+{_VALUE}"
_FACTOR = re.compile(rf" ?[x×*] ?{_CURRENCY} ?({_DIGITS})([eE][-+]?\d{{1,3}})?{_END}")
_FORMULA = re.compile(r"\s*[-+*/×x^]\s*[\d(]")


_POWERS_OF_TEN = {
    "hundred": 2,
    "thousand": 3,
    "million": 6,
    "billion": 9,
    "trillion": 12,
    "k": 3,
    "m": 6,
    "mn": 6,
    "b": 9,
    "bn": 9,
    "t": 12,
}
_SCALES = (
    r"[\s-]*(?:(?i:hundred|thousand|million|billion|trillion)(?i:ths?|s)?|(?i:dozens?)"
    r"|(?<=\d)(?:k|M|mn|bn|B))(?![A-Za-z])"
)
_SCALES_OF_MONEY = rf"{_SCALES}|\s*(?:[kKMBT]|mn|bn)(?![A-Za-z])"
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
_NOT_ONLY_BUT = re.compile(r"\bnot (?:only|just|merely)\b.*\bbut\b", re.IGNORECASE)
_NOT_ALL = re.compile(
    r"\s*(?:[-+*/×x]\s*[\d({\\$£€¥₤₹]|:\d|[!²³<>≤≥≠]|\^(?!\s*\{?\s*\\?circ)|\\(?!circ|degree|Omega|mu|q?quad))"
)
_IS_NEGATIVE = re.compile(r"\b(?:minus|negative)\s*$", re.IGNORECASE)


def _factor_of(word: str) -> Fraction:
    """Return the number by which a word scales: `million`, `hundredths`, `dozen`."""
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
    match = _find_value(text)
    if match is None or (value := _value_of(match)) is None:
        return None
    end = match.end()
    while as_authors and (factor := _FACTOR.match(text, end)):
        try:
            value *= Fraction("".join(factor.groups("")).replace(",", ""))
        except ValueError:  # more digits than Python reads
            return None
        end = factor.end()
    return None if _FORMULA.match(text, end) else _as_number(value)


_MIXED = re.compile(
    r"(?<![\d./])(?P<whole>\d+)\s*(?:"
    # `2\frac{1}{2}`
    r"\\[dt]?frac\s*(?:\{\s*(?P<above>\d+)\s*\}\s*\{\s*(?P<below>\d+)\s*\}"
    # `2\frac12`
    r"|(?P<above_digit>\d)\s*(?P<below_digit>\d))"
    # `2 1/2`, `2 and 1/2`
    r"|(?:\s|\sand\s)(?P<above_slash>\d+)/(?P<below_slash>\d+))(?![\d./])"
)


def _improper(number: re.Match[str]) -> str:
    """Return `2 1/2` as `5/2`."""
    above = int(number["above"] or number["above_digit"] or number["above_slash"])
    below = int(number["below"] or number["below_digit"] or number["below_slash"])
    return f"{int(number['whole']) * below + above}/{below}"


def with_improper_fractions(text: str) -> str:
    r"""Return a text with `5/2` for `2 1/2` and `2\frac{1}{2}`."""
    return _MIXED.sub(_improper, text)


_POWER_OF_TEN = re.compile(r"(?<=[×x*] 10|.[×x*]10)[⁰¹²³⁴-⁹⁻]+")
_FRACTION_SIGN = re.compile("[ \u2009]?([¼½¾⅐-⅞])")


def _in_plain_figures(text: str) -> str:
    """Return a text with `2 1/2` for `2½` and `× 10^3` for `× 10³`."""
    text = _POWER_OF_TEN.sub(lambda power: "^" + power[0].translate(SUPERSCRIPTS), text)
    return _FRACTION_SIGN.sub(
        lambda fraction: " " + unicodedata.normalize("NFKC", fraction[1]).replace("⁄", "/"), text
    )


def read_only_number(text: str) -> float | int | None:
    r"""Read the one number that an answer states: as `read_number` does, but no bound on it.

    `12 million` and `$12M` are 12,000,000. There is none in `12 or 13`, `12 apples and 3 pears`,
    `not 12`, `at least 12`, `12!`, `\sqrt{12}`.
    """
    text = with_improper_fractions(_in_plain_figures(re.sub("[<>!]=", "≠", text)))
    text = _after_relations(text)
    # `1 234` → `1234`
    text = re.sub(r"(?<![\w.,])\d{1,3}(?: \d{3})+(?![\w.,]|\s\d)", closed_up, text)
    match = _find_value(text)
    if match is None or (value := _value_of(match)) is None:
        return None
    before, end = text[: match.start()], match.end()
    is_money = re.search(rf"{_CURRENCY_SIGN}|[A-Z]{{3}}", match[0])
    scales = re.compile(_SCALES_OF_MONEY if is_money else _SCALES)
    while scale := scales.match(text, end):
        value *= _factor_of(scale[0].strip(" -").lower())
        end = scale.end()
    if _NOT_IT.search(before) or _NOT_ALL.match(text, end) or _NOT_ONLY_BUT.search(before):
        return None
    for other in (_OTHER_BEHIND.match(text, end), _OTHER_BEFORE.search(before)):
        if other and _value_of(other) != value:
            return None
    return _as_number(-value if _IS_NEGATIVE.search(before) else value)


def _after_relations(text: str) -> str:
    """Return what is behind the last `=` or `≈`."""
    return re.split("[=≈]", rewritten(text, _PLAINER).rstrip("=≈ "))[-1].strip()


def _find_value(text: str) -> re.Match[str] | None:
    """Return the number at the beginning of a text, or else the last one."""
    if first := re.match(_VALUE_FIRST, text):
        return first
    return next(reversed(list(re.finditer(_VALUE, text))), None)


def _value_of(match: re.Match[str]) -> Fraction | None:
    """Return the number that `_VALUE` matched; None if Python can't read it."""
    digits = (match["digits"] + (match["exponent"] or "")).replace(",", "")
    divisor = (match["divisor"] or "1").replace(",", "")
    try:
        value = Fraction(digits) / Fraction(divisor)
    except (ZeroDivisionError, ValueError):  # or more digits than Python reads
        return None
    return -value if "-" in {match["sign"], match["sign_behind"]} else value


def _as_number(value: Fraction) -> float | int | None:
    """Return an integer as one, anything else as a float; None if it is too large for a float."""
    try:
        number = float(value)
    except OverflowError:
        return None
    return value.numerator if value and value.denominator == 1 else number
