"""Units behind a number: recognised only if they are in the table, so that `2n` keeps its n."""

from __future__ import annotations

import re

from evalcore.scoring.math_text import DEGREE, clean

_NAMES = {
    "degree": "deg degree degrees",
    "radian": "rad radian radians",
    "second": "s sec secs second seconds",
    "minute": "min mins minute minutes",
    "hour": "h hr hrs hour hours",
    "day": "day days",
    "week": "week weeks",
    "month": "month months",
    "year": "year years",
    "mm": "mm millimeter millimeters millimetre millimetres",
    "cm": "cm centimeter centimeters centimetre centimetres",
    "dm": "dm decimeter decimeters",
    "m": "m meter meters metre metres",
    "km": "km kilometer kilometers kilometre kilometres",
    "inch": "inch inches",
    "foot": "ft foot feet",
    "yard": "yd yard yards",
    "mile": "mile miles",
    "g": "g gram grams",
    "kg": "kg kilogram kilograms",
    "litre": "l liter liters litre litres",
    "unit": "unit units",
    "dollar": "dollar dollars",
    "cent": "cent cents",
    "%": "% percent",
}
_CANONICAL = {alias: name for name, aliases in _NAMES.items() for alias in aliases.split()}
_JOINED = {"kmh": "km/h", "kph": "km/h", "kmph": "km/h", "mph": "mile/h"}
_POWERS = {"square": "^2", "sq": "^2", "cubic": "^3"}
_WRAPPER = re.compile(r"\\(?:text|textrm|mathrm|mbox|rm|operatorname)\s*\{([^{}]*)\}")
_SUFFIX = re.compile(
    r"(?P<unit>(?:"
    r"\\(?:text|textrm|mathrm|mbox|rm|operatorname)\s*\{[^{}]*\}"  # marked as words
    r"|(?<=[\d\s})/])[A-Za-z]{2,}(?![A-Za-z])"  # or standing free; one letter may be a variable
    r")(?:\s|/|\^\{?\d\}?|[A-Za-z]++|\\(?:text|textrm|mathrm|mbox|rm)\s*\{[^{}]*\})*+|%)$"
)

_DEGREES = re.compile(rf"(?<=[\w)}}])\s*{DEGREE}(?!\s*[\w\\])")
"""Degree signs behind a number; not those with arc minutes behind them."""


def unit_named(text: str) -> str | None:
    """Return the one name of a unit however it is written, or None: not a unit we know."""
    text = _WRAPPER.sub(r"\1", clean(text)).replace(DEGREE, "degree").lower()
    words = text.replace(" per ", "/").replace("{", "").replace("}", "").replace(".", "").split()
    power = "".join(_POWERS[word] for word in words if word in _POWERS)
    text = "".join(word for word in words if word not in _POWERS)
    parts = _JOINED.get(text, text).split("/")
    named = [_part_named(part) for part in parts]
    if not text or None in named:
        return None
    return "/".join(str(name) for name in named) + power


def _part_named(part: str) -> str | None:
    """Return the name of a unit without a quotient, with its power."""
    base, caret, power = part.partition("^")
    if base not in _CANONICAL or (caret and power not in {"2", "3"}):
        return None
    return _CANONICAL[base] + caret + power


def without_unit(text: str) -> tuple[str, str]:
    """Return a cleaned text without the unit at its end, and the unit, `` for none."""
    if (bare := _DEGREES.sub("", text)) != text:
        return bare, "degree"
    for match in _SUFFIX.finditer(text):
        unit = unit_named(match["unit"])
        value = text[: match.start()].strip()
        if unit is not None and value:
            return value, unit
    return text, ""
