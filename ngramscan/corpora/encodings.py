"""Detection of texts in UTF-16 and UTF-32, by their first bytes or by their zero bytes.

In most scripts they are valid UTF-8 with zero bytes and other control characters, so without a
check nothing would fail and every count would be 0.
"""

from __future__ import annotations

import codecs

from ngramscan.corpora.streams import first_bytes
from ngramscan.errors import CorpusError
from ngramscan.reading.streams import Chunks

_MARKS = {
    codecs.BOM_UTF32_LE: "UTF-32",
    codecs.BOM_UTF32_BE: "UTF-32",
    codecs.BOM_UTF16_LE: "UTF-16",
    codecs.BOM_UTF16_BE: "UTF-16",
}
"""Byte order marks; UTF-32 before UTF-16, whose marks are prefixes."""
_SAMPLE_BYTES = 4096
_FIRST_PRINTABLE = 0x20
_LAST_PLANE = 0x10
_LEAST_CHARACTERS = 2
_LEAST_SHARE = 0.6
"""Share of characters of UTF-16 with one high byte, below 0x20: in letters and spaces of one
script, nearly all; UTF-8 has a control character in every second place nowhere."""


def encoding_in(text: bytes | memoryview) -> str:
    """Return the encoding of a text that is UTF-16 or UTF-32 from some place on, or empty."""
    head = bytes(text[:_SAMPLE_BYTES])
    for mark, name in _MARKS.items():
        if head.startswith(mark):
            return name
    whole = text if isinstance(text, bytes) else bytes(text)
    if (zero := whole.find(b"\0")) < 0:
        return ""
    return _encoding_with_zeros(head) or _encoding_with_zeros(
        whole[max(0, zero - 1) : zero + _SAMPLE_BYTES]
    )


def _encoding_with_zeros(sample: bytes) -> str:
    """Return the encoding that the places of zero bytes and control characters show."""
    if b"\0" not in sample:
        return ""
    if name := _utf32_of(sample):
        return name
    first, second = sample[::2], sample[1::2]
    if _are_high_bytes(second, others=first):
        return "UTF-16LE"
    return "UTF-16BE" if _are_high_bytes(first, others=second) else ""


def _utf32_of(sample: bytes) -> str:
    """Return whether all groups of four bytes are characters, and in which order."""
    places = [sample[place::4] for place in range(4)]
    if not places[3]:
        return ""
    if not any(places[3]) and max(places[2]) <= _LAST_PLANE:
        return "UTF-32LE"
    return "UTF-32BE" if not any(places[0]) and max(places[1]) <= _LAST_PLANE else ""


def _are_high_bytes(values: bytes, others: bytes) -> bool:
    """Tell whether some bytes are the high bytes of 16-bit characters with other low bytes."""
    if 0 not in values or 0 in others or len(values) < _LEAST_CHARACTERS:
        return False
    low = sum(value < _FIRST_PRINTABLE for value in values)
    return low >= _LEAST_SHARE * len(values)


def refuse_encoding(text: bytes | memoryview, path: str) -> None:
    """Raise a CorpusError for a text that is UTF-16 or UTF-32; it says how to convert it."""
    if name := encoding_in(text):
        cure = f"iconv -f {name} -t UTF-8 FILE converts it"
        raise CorpusError(path, f"it is {name[:6]}, and UTF-8 is expected; {cure}")


def in_utf8(chunks: Chunks, path: str) -> Chunks:
    """Yield chunks whose first ones are not UTF-16 or UTF-32, or raise a CorpusError."""
    head, chunks = first_bytes(chunks, _SAMPLE_BYTES)
    refuse_encoding(head, path)
    yield from chunks
