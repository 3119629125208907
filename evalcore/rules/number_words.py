"""Numbers that are written in words: `twenty-one`, `a million`, `two thirds`, `third`."""

import re

_SMALL_NUMBERS = {
    "zero": 0,
    "one": 1,
    "two": 2,
    "three": 3,
    "four": 4,
    "five": 5,
    "six": 6,
    "seven": 7,
    "eight": 8,
    "nine": 9,
    "ten": 10,
    "eleven": 11,
    "twelve": 12,
    "thirteen": 13,
    "fourteen": 14,
    "fifteen": 15,
    "sixteen": 16,
    "seventeen": 17,
    "eighteen": 18,
    "nineteen": 19,
}
_TENS = {
    "twenty": 20,
    "thirty": 30,
    "forty": 40,
    "fifty": 50,
    "sixty": 60,
    "seventy": 70,
    "eighty": 80,
    "ninety": 90,
}
NUMBER_WORDS = _SMALL_NUMBERS | _TENS
_SCALES = {
    "thousand": 10**3,
    "million": 10**6,
    "billion": 10**9,
    "trillion": 10**12,
}
_ORDINALS = {
    "first": 1,
    "second": 2,
    "third": 3,
    "fourth": 4,
    "fifth": 5,
    "sixth": 6,
    "seventh": 7,
    "eighth": 8,
    "ninth": 9,
    "tenth": 10,
    "eleventh": 11,
    "twelfth": 12,
}
_PARTS = {
    "half": 2,
    "halves": 2,
    "quarter": 4,
    "third": 3,
    "fourth": 4,
    "fifth": 5,
    "sixth": 6,
    "seventh": 7,
    "eighth": 8,
    "ninth": 9,
    "tenth": 10,
    "hundredth": 100,
}

_BELOW_10 = "|".join(word for word, number in _SMALL_NUMBERS.items() if 1 <= number <= 9)
_BELOW_20 = "|".join(sorted(_SMALL_NUMBERS, key=len, reverse=True))  # `sixteen` before `six`
_BELOW_100 = rf"(?:(?:{'|'.join(_TENS)})(?:[- ](?:{_BELOW_10}))?|{_BELOW_20})"
_BELOW_1000 = rf"(?:(?:{_BELOW_100}|a) hundred(?:(?: and)? {_BELOW_100})?|{_BELOW_100})"
_SCALE = "|".join(_SCALES)
_WHOLE = (
    rf"(?:(?:{_BELOW_1000}|a) (?:{_SCALE})"
    rf"(?:,?(?: and)? {_BELOW_1000}(?: (?:{_SCALE}))?){{0,3}}|{_BELOW_1000})"
)
_WHOLE_NUMBER = re.compile(rf"\b{_WHOLE}\b", re.IGNORECASE)
_FRACTION = re.compile(
    rf"(?:(?P<whole>{_WHOLE}) and )?(?:(?P<above>{_WHOLE}|an?)[- ])?(?P<part>{'|'.join(_PARTS)})s?",
    re.IGNORECASE,
)


def with_digits(text: str) -> str:
    """Return a text whose number words are digits, if it has no digits: `four solutions`.

    A fraction or an ordinal has to be the whole text: `two thirds`, `third`.
    """
    if re.search(r"\d", text):
        return text
    if text.lower() in _ORDINALS:
        return str(_ORDINALS[text.lower()])
    # Without case, regexes take the dotless `ı` for `i` and the long `ſ` for `s`.
    if text.isascii() and (fraction := _FRACTION.fullmatch(text)):
        return _fraction(fraction)
    return _WHOLE_NUMBER.sub(
        lambda words: str(_value(words[0])) if words[0].isascii() else words[0], text
    )


def _fraction(fraction: re.Match[str]) -> str:
    """Return `two and a half` as `5/2`."""
    above, below = fraction["above"] or "a", _PARTS[fraction["part"].lower()]
    numerator = 1 if above.lower() in {"a", "an"} else _value(above)
    if fraction["whole"]:
        numerator += _value(fraction["whole"]) * below
    return f"{numerator}/{below}"


def _value(words: str) -> int:
    """Return the value of words such as `one hundred and five thousand`."""
    total = current = 0
    for word in re.findall("[a-z]+", words.lower()):
        if word == "hundred":
            current *= 100
        elif word in _SCALES:
            total, current = total + current * _SCALES[word], 0
        elif word == "a":
            current = 1
        else:
            current += NUMBER_WORDS.get(word, 0)  # "and" adds nothing
    return total + current
