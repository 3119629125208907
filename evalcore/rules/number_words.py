"""Numbers that are written in words: `twenty-one`, `a million`, `two thirds`, `third`."""

import re

_UNITS = (
    *("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"),
    *("eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen"),
    *("eighteen", "nineteen"),
)
_TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
NUMBER_WORDS = {word: number for number, word in enumerate(_UNITS)}
NUMBER_WORDS |= {word: 10 * tens for tens, word in enumerate(_TENS, 2)}
_SCALES = {"thousand": 10**3, "million": 10**6, "billion": 10**9, "trillion": 10**12}
_ORDINALS = {
    word: number
    for number, word in enumerate(
        (
            *("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth"),
            *("tenth", "eleventh", "twelfth"),
        ),
        1,
    )
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

_BELOW_20 = "|".join(sorted(_UNITS, key=len, reverse=True))
_BELOW_100 = rf"(?:(?:{'|'.join(_TENS)})(?:[- ](?:{'|'.join(_UNITS[1:10])}))?|{_BELOW_20})"
_BELOW_1000 = rf"(?:(?:{_BELOW_100}|a) hundred(?:(?: and)? {_BELOW_100})?|{_BELOW_100})"
_SCALE = "|".join(_SCALES)
_WHOLE = (
    rf"(?:(?:{_BELOW_1000}|a) (?:{_SCALE})"
    rf"(?:,?(?: and)? {_BELOW_1000}(?: (?:{_SCALE}))?){{0,3}}|{_BELOW_1000})"
)
_WHOLE_NUMBER = re.compile(rf"\b{_WHOLE}\b", re.IGNORECASE)
_FRACTION = re.compile(
    rf"(?:({_WHOLE}) and )?(?:({_WHOLE}|an?)[- ])?({'|'.join(_PARTS)})s?", re.IGNORECASE
)


def with_digits(text: str) -> str:
    """Return a text whose number words are digits, if it has no digits: `four solutions`.

    A fraction or an ordinal has to be the whole text: `two thirds`, `third`.
    """
    if re.search(r"\d", text):
        return text
    if text.lower() in _ORDINALS:
        return str(_ORDINALS[text.lower()])
    if fraction := _FRACTION.fullmatch(text):
        return _fraction(fraction)
    return _WHOLE_NUMBER.sub(lambda words: str(_value(words[0])), text)


def _fraction(fraction: re.Match[str]) -> str:
    whole, above, part = fraction.groups()
    below = _PARTS[part.lower()]
    number = 1 if above is None or above.lower() in {"a", "an"} else _value(above)
    return f"{(_value(whole) if whole else 0) * below + number}/{below}"


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
