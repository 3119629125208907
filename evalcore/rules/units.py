r"""Units of answers, however they are written: `5 \mathrm{~m} / \mathrm{s}^2`, `5 m s^{-2}`.

They are names, never quantities: `5 kJ` is not in `J`, and nothing is converted.
"""

import re
from collections import Counter
from collections.abc import Callable
from functools import lru_cache

from evalcore.rules.notation import TEXT, clean, enclosed, in_radians, levels, rewritten, split

# These are units even where no problem names one, and no others, so that `2n` keeps its n.
_COMMON = """
degree deg degrees; radian rad radians; second s sec secs seconds; minute min mins minutes;
hour h hr hrs hours; day days; week weeks; month months; year years; unit units; dollar dollars;
mm millimeter millimeters millimetre millimetres; cm centimeter centimeters centimetre centimetres;
dm decimeter decimeters; m meter meters metre metres; km kilometer kilometers kilometre kilometres;
inch inches; foot ft feet; yard yd yards; mile miles; litre l L liter liters litres; cent cents;
g gram grams; kg kilogram kilograms; % percent pct percentage; km/hour kmh kph kmph; mile/hour mph
"""
_UNITS = {alias: names.split()[0] for names in _COMMON.split(";") for alias in names.split()}
_SYMBOLS = """
ampere A; amp A; atmosphere atm; bar bar; becquerel Bq; calorie cal; candela cd; coulomb C;
electronvolt eV; farad F; gram g; gray Gy; henry H; hertz Hz; joule J; kelvin K; litre L; liter L;
lumen lm; metre m; meter m; mole mol; newton N; ohm Ω; pascal Pa; second s; siemens S; sievert Sv;
tesla T; volt V; watt W; weber Wb; watthour Wh
"""
_SYMBOL_OF = dict(names.split() for names in _SYMBOLS.split(";"))
_PREFIXES = """
yocto y; zepto z; atto a; femto f; pico p; nano n; micro μ; milli m; centi c; deci d; hecto h;
kilo k; mega M; giga G; tera T; peta P; exa E; zetta Z; yotta Y
"""
_PREFIX_OF = dict(names.split() for names in _PREFIXES.split(";"))
_WITH_SYMBOL = re.compile(rf"[{''.join(_PREFIX_OF.values())}]?(?:{'|'.join(_SYMBOL_OF.values())})")
_WITH_WORD = re.compile(rf"({'|'.join(_PREFIX_OF)}|)({'|'.join(_SYMBOL_OF)})s?", re.IGNORECASE)
_OF_THEIR_OWN = {"°C", "°F", "Å", "AU", "au", "ly", "pc", "rpm", "dB", "u", "ha"}


def _common(word: str) -> str:
    return _UNITS.get(word) or (_UNITS.get(word.lower(), "") if len(word) > 1 else "")


def _known(word: str) -> str:
    if word in _UNITS:
        return _UNITS[word]
    if word in _OF_THEIR_OWN or _WITH_SYMBOL.fullmatch(word):
        return word
    if found := _WITH_WORD.fullmatch(word):
        prefix, unit = (part.lower() for part in found.groups())
        symbol = _PREFIX_OF.get(prefix, "") + _SYMBOL_OF[unit]
        return _UNITS.get(symbol, symbol)
    return _common(word)


def is_known_unit(text: str) -> bool:
    """Tell whether words name a unit that is one even where no problem names it."""
    return bool(unit_of(text, _known))


def _any(word: str) -> str:
    return _known(word) or (word.removesuffix("s") if len(word) > 3 else word)


_WORDS = (
    (r"\\frac\s*\{(.*)\}\s*\{(.*)\}", r"\1/\2"),
    (r"\\(?:text|textrm|textbf|mathrm|mathbf|mbox|rm|operatorname)(?![A-Za-z])|\\cdot|[*·⋅]", " "),
    (r"(?<![A-Za-z])per(?![A-Za-z])", "/"),
    (r"(?<=[A-Za-z])-(?=[A-Za-z])", " "),
    (r"\\mu(?![A-Za-z])|µ", "μ"),
    (r"\\AA(?![A-Za-z])", "Å"),
    (r"[{}()\[\].]", ""),
    (r"°\s+(?=[CF](?![A-Za-z]))", "°"),
    (r"(?<![A-Za-zμ][kMmG])(?<=[kMmG])\s+(?=Ω)|(?<=μ)\s+", ""),
    (r"(?i)(?<![a-z])cubic\s+([a-z]+)", r"\1^3"),
    (r"(?i)(?<![a-z])(?:square|sq)\s+([a-z]+)", r"\1^2"),
    (r"(?i)(?<=[a-z])\s+(?:square|sq)(?![a-z])|\s+squared", "^2"),
    (r"(?i)\s+cubed", "^3"),
    (r"^\s*1\s*(?=/)", ""),
)
_PART = re.compile(r"\s*(?:(/)|(°?[A-Za-zΩμÅ]+|[°%])\s*(?:\^\s*(-?\d+))?|\S)")


@lru_cache(maxsize=4096)
def unit_of(text: str, name: Callable[[str], str] = _any) -> str:
    """Return the one name of a unit however it is written, `` for what is none."""
    powers, sign = Counter[str](), 1
    for slash, word, power in _PART.findall(rewritten(clean(text), _WORDS).strip()):
        if slash:
            sign = -1  # for all that follow: `J/kg K`
            continue
        if not (found := name("degree" if word == "°" else word)):
            return ""
        for part in found.split("/"):
            powers[part] += (sign if found.startswith(part) else -sign) * int(power or 1)
    above = [_written(*entry) for entry in sorted(powers.items()) if entry[1] > 0]
    under = [_written(*entry) for entry in sorted(powers.items()) if entry[1] < 0]
    return "/".join([" ".join(above) or "1", *under]) if above or under else ""


def _written(name: str, power: int) -> str:
    return f"{name}^{abs(power)}" if abs(power) > 1 else name


def answers(text: str, is_number: bool, unit: str = "") -> list[tuple[str, str]]:
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
    alone = (unit and _cut(text, unit)) or text
    if is_number and re.match(r"-?[1-9]\d{0,2}(,\d{3})+(\.\d+)?(?![\d,.]|\s*[-+*/^(\\=])", alone):
        text = re.sub(r"(?<=\d),(?=\d{3}(?!\d))", "", text)
    text = re.sub(r"^[A-Za-z]\s*[∈=]\s*(?=⦃.*⦄$)", "", in_radians(text))
    brackets, inner = enclosed(text)
    if brackets == "{}" and len(split(inner, ",")) > 1:  # a set without its backslashes
        brackets, text = "⦃⦄", f"⦃{inner}⦄"
    if brackets == "⦃⦄" and not re.search(r"[:|]|\\mid|\\emptyset|⦃\s*⦄", inner):
        text = ",".join(dict.fromkeys(split(inner, ","))) or r"\emptyset "
    return [
        _without_unit(answer, unit)
        for part in split(text, ",")
        for answer in dict.fromkeys(part.replace("±", a).replace("∓", b) for a, b in ("+-", "-+"))
        if answer
    ]


_SUFFIX = re.compile(  # marked as words, or standing free; one letter may be a variable
    rf"((?:{TEXT}|(?<=[\d\s}})/])[A-Za-z]{{2,}}(?![A-Za-z]))"
    rf"(?:\s|/|\^\{{?\d\}}?|[A-Za-z]++|{TEXT})*+|%)$"
)
_NUMBER = r"[-+]?\s*(?:\d|\.\d)(?:[\d.,\s^{}+-]|\\(?:times|cdot)(?![A-Za-z]))*"
_QUANTITY = re.compile(rf"({_NUMBER}|.*\\frac\{{{_NUMBER}\}}\{{{_NUMBER}\}}\s*)(\D.*)")
_START = re.compile(r"(?<![A-Za-z\\])(?:\\(?=[A-Za-z])|\{(?=\\rm)|[A-Za-zΩμµÅ°%\[(])")
_LONGEST = 120


def _without_unit(text: str, unit: str) -> tuple[str, str]:
    if unit and (value := _cut(text, unit)):
        return value, unit
    if (bare := re.sub(r"(?<=[\w)}])\s*°(?!\s*[\w\\])", "", text)) != text:  # no arc minutes
        return bare, "degree"
    for match in _SUFFIX.finditer(text):
        found, value = unit_of(match[1], _common), text[: match.start()].strip()
        if found and value:
            return value, found
    return text, ""


def _cut(text: str, unit: str) -> str:
    """Return what precedes a unit at the end of a text, `` if it isn't there."""
    brackets, inner = enclosed(text)
    parts = split(inner, ",") if brackets[:1] in {"(", "["} else []
    if parts:
        values = [_cut(part, unit) or part for part in parts]
        return f"{brackets[0]}{','.join(values)}{brackets[1]}" if values != parts else ""
    level = levels(text)
    for start in _START.finditer(text, max(1, len(text) - _LONGEST)):
        value = re.sub(r"\s*(?:\\cdot|\\times)?\s*$", "", text[: start.start()])
        is_behind = re.search(r"[\d})\]!]$|\\pi$", value)
        is_marked = start[0] in {"\\", "{"} and value[-1:] not in "+-/^_=<>"
        is_there = not level[start.start() - 1] and value and (is_behind or is_marked)
        if is_there and unit_of(text[start.start() :]) == unit:
            return value
    return ""


def unit_behind(text: str, is_marked: bool = False) -> str:
    """Return a known unit that follows a number and nothing else, `` for none.

    `is_marked` asks for one that is marked as text, behind the last of several numbers perhaps:
    `5 A` may be five areas, `2 kT` an energy.
    """
    if is_marked and "{" not in text:
        return ""
    found = _QUANTITY.fullmatch(split(clean(text), ",")[-1] if is_marked else text)
    if not found or (is_marked and not re.match(rf"°?\s*{TEXT}", found[2])):
        return ""
    return unit_of(found[2], _known)
