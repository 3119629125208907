r"""Units of answers, however they are written: `5 \mathrm{~m} / \mathrm{s}^2`, `5 m s^{-2}`.

They are names, never quantities: `5 kJ` is not in `J`, and nothing is converted.
"""

import re
from collections import Counter
from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

from evalcore.rules.brackets import enclosed, levels, split
from evalcore.rules.notation import TEXT, clean, in_radians
from evalcore.rules.rewrites import Rewrites, rewritten

_SPELLINGS_OF_UNITS = {
    "degree": ("deg", "degrees"),
    "radian": ("rad", "radians"),
    "second": ("s", "sec", "secs", "seconds"),
    "minute": ("min", "mins", "minutes"),
    "hour": ("h", "hr", "hrs", "hours"),
    "day": ("days",),
    "week": ("weeks",),
    "month": ("months",),
    "year": ("years",),
    "unit": ("units",),
    "dollar": ("dollars",),
    "cent": ("cents",),
    "mm": ("millimeter", "millimeters", "millimetre", "millimetres"),
    "cm": ("centimeter", "centimeters", "centimetre", "centimetres"),
    "dm": ("decimeter", "decimeters"),
    "m": ("meter", "meters", "metre", "metres"),
    "km": ("kilometer", "kilometers", "kilometre", "kilometres"),
    "inch": ("inches",),  # `in` is a word
    "foot": ("ft", "feet"),
    "yard": ("yd", "yards"),
    "mile": ("miles",),
    "litre": ("l", "L", "liter", "liters", "litres"),
    "g": ("gram", "grams"),
    "kg": ("kilogram", "kilograms"),
    "%": ("percent", "pct", "percentage"),
    "km/hour": ("kmh", "kph", "kmph"),
    "mile/hour": ("mph",),
}
"""Units even where no problem names one, and no others are, so that `2n` keeps its n."""
_UNIT_OF_SPELLING = {
    spelling: unit
    for unit, spellings in _SPELLINGS_OF_UNITS.items()
    for spelling in (unit, *spellings)
}
_SYMBOLS = {
    "ampere": "A",
    "amp": "A",
    "atmosphere": "atm",
    "bar": "bar",
    "becquerel": "Bq",
    "calorie": "cal",
    "candela": "cd",
    "coulomb": "C",
    "electronvolt": "eV",
    "farad": "F",
    "gram": "g",
    "gray": "Gy",
    "henry": "H",
    "hertz": "Hz",
    "joule": "J",
    "kelvin": "K",
    "litre": "L",
    "liter": "L",
    "lumen": "lm",
    "metre": "m",
    "meter": "m",
    "mole": "mol",
    "newton": "N",
    "ohm": "Ω",
    "pascal": "Pa",
    "second": "s",
    "siemens": "S",
    "sievert": "Sv",
    "tesla": "T",
    "volt": "V",
    "watt": "W",
    "weber": "Wb",
    "watthour": "Wh",
}
"""Units that may have a prefix, with their symbols."""
_PREFIXES = {
    "yocto": "y",
    "zepto": "z",
    "atto": "a",
    "femto": "f",
    "pico": "p",
    "nano": "n",
    "micro": "μ",
    "milli": "m",
    "centi": "c",
    "deci": "d",
    "hecto": "h",
    "kilo": "k",
    "mega": "M",
    "giga": "G",
    "tera": "T",
    "peta": "P",
    "exa": "E",
    "zetta": "Z",
    "yotta": "Y",
}
_SYMBOLS_WITHOUT_PREFIX = {
    "°C",
    "°F",
    "Å",  # ångström
    "AU",  # astronomical unit
    "au",  # the same
    "ly",  # light year
    "pc",  # parsec
    "rpm",  # revolutions per minute
    "dB",  # decibel
    "u",  # atomic mass unit
    "ha",  # hectare
}
_SYMBOL = re.compile(rf"[{''.join(_PREFIXES.values())}]?(?:{'|'.join(_SYMBOLS.values())})")
"""`J`, `kJ`."""
_NAME = re.compile(rf"({'|'.join(_PREFIXES)}|)({'|'.join(_SYMBOLS)})s?", re.IGNORECASE)
"""`joule`, `kilojoules`."""


def _common_unit(word: str) -> str:
    """Return the unit that a common word or symbol spells; empty if none."""
    if word in _UNIT_OF_SPELLING:
        return _UNIT_OF_SPELLING[word]
    if len(word) > 1:  # `S` is not a second
        return _UNIT_OF_SPELLING.get(word.lower(), "")
    return ""


def _known_unit(word: str) -> str:
    """Return the unit that a word or symbol is; empty if none."""
    if word in _UNIT_OF_SPELLING:
        return _UNIT_OF_SPELLING[word]
    if word in _SYMBOLS_WITHOUT_PREFIX or _SYMBOL.fullmatch(word):
        return word
    if name := _NAME.fullmatch(word):
        prefix, unit = name[1].lower(), name[2].lower()
        symbol = _SYMBOLS[unit]
        if prefix:
            symbol = _PREFIXES[prefix] + symbol
        return _UNIT_OF_SPELLING.get(symbol, symbol)
    return _common_unit(word)


def is_known_unit(text: str) -> bool:
    """Tell whether words name a unit that is one even where no problem names it."""
    return bool(unit_of(text, _known_unit))


def _any_unit(word: str) -> str:
    """Return the unit that a word is where a problem says that it is one: `apples` is `apple`."""
    if unit := _known_unit(word):
        return unit
    return word.removesuffix("s") if len(word) > 3 else word


_REWRITES: Rewrites = (
    # `\frac{m}{s}` → `m/s`
    (r"\\frac\s*\{(.*)\}\s*\{(.*)\}", r"\1/\2"),
    # `\text{m}` → ` {m}`
    (r"\\(?:text|textrm|textbf|mathrm|mathbf|mbox|rm|operatorname)(?![A-Za-z])", " "),
    # `N\cdot m`, `N·m` → `N  m`, `N m`
    (r"\\cdot|[*·⋅]", " "),
    # `per cent` → `percent`
    (r"(?<![A-Za-z])per cent(?![A-Za-z])", "percent"),
    # `km per hour` → `km / hour`
    (r"(?<![A-Za-z])per(?![A-Za-z])", "/"),
    # `light-year` → `light year`
    (r"(?<=[A-Za-z])-(?=[A-Za-z])", " "),
    # `\mu m` → `μ m`
    (r"\\mu(?![A-Za-z])|µ", "μ"),
    # `\AA` → `Å`
    (r"\\AA(?![A-Za-z])", "Å"),
    # `m^{2}`, `sq. ft` → `m^2`, `sq ft`
    (r"[{}()\[\].]", ""),
    # `° C` → `°C`
    (r"°\s+(?=[CF](?![A-Za-z]))", "°"),
    # `k Ω` → `kΩ`
    (r"(?<![A-Za-zμ][kMmG])(?<=[kMmG])\s+(?=Ω)", ""),
    # `μ m` → `μm`
    (r"(?<=μ)\s+", ""),
    # `cubic cm` → `cm^3`
    (r"(?i)(?<![a-z])cubic\s+([a-z]+)", r"\1^3"),
    # `square cm`, `sq cm` → `cm^2`
    (r"(?i)(?<![a-z])(?:square|sq)\s+([a-z]+)", r"\1^2"),
    # `cm sq` → `cm^2`
    (r"(?i)(?<=[a-z])\s+(?:square|sq)(?![a-z])", "^2"),
    # `cm squared` → `cm^2`
    (r"(?i)\s+squared", "^2"),
    # `cm cubed` → `cm^3`
    (r"(?i)\s+cubed", "^3"),
    # `1/s` → `/s`
    (r"^\s*1\s*(?=/)", ""),
)
_PART = re.compile(
    r"\s*(?:(?P<slash>/)|(?P<word>°?[A-Za-zΩμÅ]+|[°%])\s*(?:\^\s*(?P<power>-?\d+))?|\S)"
)


@lru_cache(maxsize=4096)
def unit_of(text: str, unit_of_word: Callable[[str], str] = _any_unit) -> str:
    """Return the canonical name of a unit; empty if the text is none."""
    powers, sign = Counter[str](), 1
    for part in _PART.finditer(rewritten(clean(text), _REWRITES).strip()):
        if part["slash"]:
            sign = -1  # for all that follow: `J/kg K`
            continue
        word = part["word"] or ""
        unit = unit_of_word("degree" if word == "°" else word)
        if not unit:
            return ""
        power = sign * int(part["power"] or 1)
        above, _, below = unit.partition("/")  # `km/hour`
        powers[above] += power
        if below:
            powers[below] -= power
    above_all = [_written(name, power) for name, power in sorted(powers.items()) if power > 0]
    below_all = [_written(name, power) for name, power in sorted(powers.items()) if power < 0]
    if not above_all and not below_all:
        return ""
    return "/".join([" ".join(above_all) or "1", *below_all])


def _written(name: str, power: int) -> str:
    return f"{name}^{abs(power)}" if abs(power) > 1 else name


_BUILDER = re.compile(r"[a-z]\s*(?:∈\s*\\mathbb\{R\}\s*)?(?:[:|]|\\mid)(\s*[^:∈]*[<>≤≥][^:∈]*)")
"""The inside of `{x | x > 2}`; its group is the condition."""
_THOUSANDS = re.compile(r"-?[1-9]\d{0,2}(,\d{3})+(\.\d+)?(?![\d,.]|\s*[-+*/^(\\=])")
_NAME_OF_SET = re.compile(r"^(?:[A-Za-z]|\([A-Za-z, ]+\))\s*[∈=]\s*(?=⦃.*⦄$)")
r"""`x \in` before `\{1, 2\}`."""
_CONDITION_OR_EMPTY = re.compile(r"[:|]|\\mid|\\emptyset|⦃\s*⦄")


class Quantity(NamedTuple):
    """An answer with its unit apart, which is empty if there is none."""

    text: str
    unit: str


def answers(text: str, is_number: bool, unit: str = "") -> list[Quantity]:
    """Return the answers in a text, each with its unit apart; `1,234` may be one or two.

    Parameters
    ----------
    text : str
        An answer, or several with commas between them.
    is_number : bool
        Whether a comma may separate thousands.
    unit : str
        The unit that the problem names, as `unit_of` returns it: it is taken off wherever it
        follows a value, also as a bare letter. Others are only if common (cm, not J) and marked as
        text, or of two letters or more.
    """
    text = clean(text)
    without_unit = (unit and _cut(text, unit)) or text
    if is_number and _THOUSANDS.match(without_unit):
        text = re.sub(r"(?<=\d),(?=\d{3}(?!\d))", "", text)
    text = _without_braces(_NAME_OF_SET.sub("", in_radians(text)))
    signed = [answer for part in split(text, ",") for answer in _with_both_signs(part)]
    return [_without_unit(answer, unit) for answer in signed if answer]


def _without_braces(text: str) -> str:
    r"""Return the elements of a set with commas between them, or its condition: `\{1, 2\}`."""
    brackets, inner = enclosed(text)
    if brackets == "{}" and len(split(inner, ",")) > 1:  # a set without its backslashes
        brackets, text = "⦃⦄", f"⦃{inner}⦄"
    if brackets != "⦃⦄":
        return text
    if builder := _BUILDER.fullmatch(inner):
        return builder[1]
    if _CONDITION_OR_EMPTY.search(inner):
        return text
    return ",".join(dict.fromkeys(split(inner, ","))) or r"\emptyset "


def _with_both_signs(text: str) -> list[str]:
    """Return the two answers that `±2` is; any other text is one."""
    upper = text.replace("±", "+").replace("∓", "-")
    lower = text.replace("±", "-").replace("∓", "+")
    return [upper] if upper == lower else [upper, lower]


_MARKED_OR_FREE = re.compile(  # marked as words, or standing free; one letter may be a variable
    rf"((?:{TEXT}|(?<=[\d\s}})/])[A-Za-z]{{2,}}(?![A-Za-z]))"
    rf"(?:\s|/|\^\{{?\d\}}?|[A-Za-z]++|{TEXT})*+|%)$"
)
_NUMBER = r"[-+]?\s*(?:\d|\.\d)(?:[\d.,\s^{}+-]|\\(?:times|cdot)(?![A-Za-z]))*"
_NUMBER_AND_REST = re.compile(
    rf"(?P<number>{_NUMBER}|.*\\frac\{{{_NUMBER}\}}\{{{_NUMBER}\}}\s*)(?P<rest>\D.*)"
)
_START = re.compile(r"(?<![A-Za-z\\])(?:\\(?=[A-Za-z])|\{(?=\\rm)|[A-Za-zΩμµÅ°%\[(])")
_LONGEST = 120


_NUMBER_AND_WORDS = re.compile(rf"(?P<number>{_NUMBER}?)\s*(?P<words>[A-Za-z][A-Za-z /]*)")


def is_same_quantity(answer: str, gold: str) -> bool:
    """Tell whether two texts are the same number of the same unit: `2 hours`, `2 hrs`, `2`."""
    right = _NUMBER_AND_WORDS.fullmatch(clean(gold))
    match = _NUMBER_AND_WORDS.fullmatch(clean(answer))
    unit = unit_of(right["words"], _common_unit) if right else ""
    if not right or not unit:
        return False
    number = right["number"].strip()
    if not match:
        return clean(answer) == number
    return match["number"].strip() == number and unit_of(match["words"], _common_unit) == unit


def _without_unit(text: str, unit: str) -> Quantity:
    if unit and (value := _cut(text, unit)):
        return Quantity(value, unit)
    if temperature := re.fullmatch(r"(.*\d)\s*°\s*([CF])", text):
        return Quantity(temperature[1], f"°{temperature[2]}")
    if (bare := re.sub(r"(?<=[\w)}])\s*°(?!\s*[\w\\])", "", text)) != text:  # no arc minutes
        return Quantity(bare, "degree")
    for suffix in _MARKED_OR_FREE.finditer(text):
        common, value = unit_of(suffix[1], _common_unit), text[: suffix.start()].strip()
        if common and value:
            return Quantity(value, common)
    return Quantity(text, "")


def _cut(text: str, unit: str) -> str:
    """Return the text before a unit that ends it; empty if it does not end in the unit."""
    brackets, inner = enclosed(text)
    if brackets[:1] in {"(", "["}:
        parts = split(inner, ",")
        values = [_cut(part, unit) or part for part in parts]
        return f"{brackets[0]}{','.join(values)}{brackets[1]}" if values != parts else ""
    level = levels(text)
    for start in _START.finditer(text, max(1, len(text) - _LONGEST)):
        value = re.sub(r"\s*(?:\\cdot|\\times)?\s*$", "", text[: start.start()])
        is_behind_value = re.search(r"[\d})\]!]$|\\pi$", value)
        is_marked = start[0] in {"\\", "{"} and value[-1:] not in "+-/^_=<>"
        if not value or level[start.start() - 1] or not (is_behind_value or is_marked):
            continue
        if unit_of(text[start.start() :]) == unit:
            return value
    return ""


def unit_behind(text: str, is_marked: bool = False) -> str:
    """Return a known unit that follows a number and nothing else; empty if none does.

    `is_marked` asks for one that is marked as text, behind the last of several numbers perhaps:
    `5 A` may be five areas, `2 kT` an energy.
    """
    if is_marked and "{" not in text:
        return ""
    quantity = _NUMBER_AND_REST.fullmatch(split(clean(text), ",")[-1] if is_marked else text)
    if not quantity or (is_marked and not re.match(rf"°?\s*{TEXT}", quantity["rest"])):
        return ""
    return unit_of(quantity["rest"], _known_unit)
