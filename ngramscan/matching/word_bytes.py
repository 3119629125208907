"""Words of documents as bytes: those of `normalized`, in a tenth of its time for most documents.

Most steps of normalization change few documents, and most characters by themselves; these steps
are taken where something changes, and these characters are changed in the bytes of many documents
at once. Words with combining marks and other rare characters go the longer way, and so do documents
in scripts without spaces.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ngramscan.matching.folding import (
    folded_characters,
    is_changed_apart,
    is_invisible,
    is_joining,
    may_have_markup,
    without_markup,
)
from ngramscan.matching.normalization import IsBroken, mended, without_emphasis
from ngramscan.matching.word_windows import BETWEEN_DOCUMENTS, JoinedDocuments, join_documents
from ngramscan.matching.words import is_spaced_letter, words_in

Integers = NDArray[np.int64]
Bytes = NDArray[np.uint8]

_SPACE = ord(" ")
_UNDERSCORE = ord("_")
_HYPHEN_OF_ASCII = ord("-")
_LETTERS = bytearray(range(256))
"""Capital letters become small ones, and ASCII that is not of words becomes blanks."""
_LETTERS[:128] = [
    ord(chr(code).lower()) if chr(code).isalnum() or code == _UNDERSCORE else _SPACE
    for code in range(128)
]
_IS_LETTER = np.array([True] * 256)
_IS_LETTER[:128] = [chr(code).isalnum() for code in range(128)]
"""Bytes of letters and digits, where other characters beyond ASCII are gone."""
_HYPHEN = "\u2010"
_HYPHEN_THAT_JOINS = "\u2011"
_ENDS_OF_LINES = "\x85\u2028"
_MAY_BREAK_WORD = re.compile(rb"-(?<=[\w\x80-\xff]-)[ \t]*+(?:\r\n|[\n\r\v\f])[ \t]*+[\w\x80-\xff]")
"""Matches wherever a word may be mended that a hyphen of ASCII breaks at the end of a line."""
_PRECEDES_HYPHEN = _IS_LETTER.copy()
_PRECEDES_HYPHEN[_UNDERSCORE] = True
_FOLLOWS_HYPHEN = np.zeros(256, np.bool_)
_FOLLOWS_HYPHEN[[*b" \t\n\r\v\f"]] = True
_SOFT_HYPHEN = "\u00ad".encode()
_SOFT_HYPHEN_OF_LINE = re.compile(rb"\xc2\xad(?=[ \t]*+[\r\n])")
_HYPHENS_AND_ENDS = (_HYPHEN, _HYPHEN_THAT_JOINS, *_ENDS_OF_LINES)
_PART_OF_WORDS = re.compile(rf"[\w{_HYPHEN}{_ENDS_OF_LINES}-]")
_ASCII_BLANKS = "\t\n\v\f\r "
_FROM_OTHER = re.compile(r"[^\x00-\x7f][^\t-\r ]*")
"""Characters up to the next blank of ASCII; the first is beyond ASCII."""
_REMOVED = b"\xff"
"""Stands for a byte of an invisible character; never part of UTF-8."""
_LEAD = 0xC0
"""The least first byte of a character of several."""

_BYTES_PER_RARE = 100
"""In a text with fewer bytes for each rare character, all characters go the longer way."""

_UNKNOWN = 0
_SLOW = 1
_BLANK = 2
_SIGN = 3
_SMALL = 4
_CAPITAL = 5
_INVISIBLE = 6
_OTHER_HYPHEN = 7
"""A hyphen or the end of a line, which may break a word together with its neighbours."""


class WordBytes(NamedTuple):
    """The words of some documents in UTF-8, with one or more blanks between them."""

    documents: JoinedDocuments
    is_in_place: list[bool]
    """Whether the bytes of each word are as far from the start of its document as they were."""


def word_bytes(documents: Sequence[bytes], is_broken: IsBroken, width: int) -> WordBytes:
    """Return the words of documents: those of `normalized(document, "words", is_broken)`.

    Parameters
    ----------
    documents : sequence of bytes
        In UTF-8, or nearly.
    is_broken : callable
        As `normalized` takes it; the same for capital and small letters.
    width : int
        Words, at most, of the windows that are looked for in the documents.
    """
    texts = [
        document if document.isascii() and not may_have_markup(document) else _prepared(document)
        for document in documents
    ]
    changed = [
        number
        for number, (text, document) in enumerate(zip(texts, documents, strict=True))
        if text is not document and text != document
    ]
    shorter, slow = _fold_characters(texts, is_broken)
    changed += shorter + slow
    joined = join_documents(texts, width)
    mended_ones = [number for number in _with_hyphens(joined) if _mend(texts, number, is_broken)]
    if mended_ones:
        changed += mended_ones
        joined = join_documents(texts, width)
    _blank_underscores(joined, slow)
    is_in_place = [True] * len(texts)
    for number in changed:
        is_in_place[number] = False
    return WordBytes(joined._replace(text=joined.text.translate(_LETTERS)), is_in_place)


def _prepared(document: bytes) -> bytes:
    """Return a document in UTF-8, without markup."""
    text = document if document.isascii() else _as_utf8(document)
    if may_have_markup(text):
        text = without_markup(text.decode()).encode()
    if _SOFT_HYPHEN[1:] in text:  # to look for one byte is fastest
        text = _SOFT_HYPHEN_OF_LINE.sub(b"-", text)
    return text


def _mend(texts: list[bytes], number: int, is_broken: IsBroken) -> bool:
    """Mend the broken words of a text, and tell whether it has any."""
    text = texts[number]
    if not _MAY_BREAK_WORD.search(text):
        return False
    texts[number] = mended(text.decode(), is_broken).encode()
    return len(texts[number]) < len(text)


def _as_utf8(document: bytes) -> bytes:
    """Return a document in UTF-8."""
    try:
        str(document, "utf-8")
    except UnicodeDecodeError:
        return str(document, "utf-8", "replace").encode()
    return document


def _fold_characters(texts: list[bytes], is_broken: IsBroken) -> tuple[list[int], list[int]]:
    """Fold the characters of texts, so that all bytes beyond ASCII are of words.

    Return the numbers of texts whose length changes, and of those that became words.
    """
    others = [number for number, text in enumerate(texts) if not text.isascii()]
    shorter, rare, slow = list[int](), list[int](), list[int]()
    for number, form in zip(
        others, _simple_forms([texts[n] for n in others], is_broken), strict=True
    ):
        text = texts[number]
        if form.is_simple:
            texts[number] = form.text
            if len(form.text) < len(text):
                shorter.append(number)
        elif form.n_rare * _BYTES_PER_RARE <= len(text):
            rare.append(number)
            texts[number] = _with_folded_runs(text)
        else:
            slow.append(number)
            texts[number] = _words_of(folded_characters(text.decode()), is_broken)
    for number, form in zip(rare, _simple_forms([texts[n] for n in rare], is_broken), strict=True):
        if form.is_simple:
            texts[number] = form.text
        else:
            slow.append(number)
            texts[number] = _words_of(texts[number].decode(), is_broken)
    return shorter + rare, slow


def _with_folded_runs(text: bytes) -> bytes:
    """Return a text with the characters of words with rare ones as they are compared."""
    readable, parts, stop = text.decode(), list[str](), 0
    for match in _FROM_OTHER.finditer(readable):
        start = match.start()
        while start > stop and readable[start - 1] not in _ASCII_BLANKS:
            start -= 1
        parts += [readable[stop:start], folded_characters(readable[start : match.end()]).casefold()]
        stop = match.end()
    return "".join([*parts, readable[stop:]]).encode()


def _words_of(text: str, is_broken: IsBroken) -> bytes:
    """Return the words of a text whose characters are folded."""
    readable = without_emphasis(mended(text, is_broken)).casefold()
    return " ".join(words_in(readable)).encode()


class _SimpleForm(NamedTuple):
    """A text with ASCII and small letters in the places of characters beyond ASCII."""

    text: bytes
    n_rare: int
    """Characters for which there is no such thing."""

    @property
    def is_simple(self) -> bool:
        return not self.n_rare


def _simple_forms(texts: Sequence[bytes], is_broken: IsBroken) -> list[_SimpleForm]:
    """Return texts with ASCII and small letters in the places of characters beyond ASCII."""
    if not texts:
        return []
    joined = join_documents(texts, width=1)
    data = np.frombuffer(joined.text, np.uint8)
    places = np.flatnonzero(data >= _LEAD)
    places = places[data[places] != BETWEEN_DOCUMENTS]
    codes, lengths = _codes_at(data, places)
    kinds = _characters().kinds_of(codes)

    def texts_with(kind: int) -> set[int]:
        numbers = np.searchsorted(joined.begins, places[kinds == kind], "right") - 1
        return {*np.unique(numbers).tolist()}

    for kind, byte in ((_BLANK, b" "), (_SIGN, b"."), (_INVISIBLE, _REMOVED)):
        changing = np.flatnonzero(kinds == kind)
        for offset in range(4):
            changing = changing[lengths[changing] > offset]
            data[places[changing] + offset] = byte[0]
    is_capital = kinds == _CAPITAL
    _write(data, places[is_capital], _characters().small_letters[codes[is_capital]])
    forms = [
        bytes(joined.text[begin : begin + len(text)])
        for text, begin in zip(texts, joined.begins.tolist(), strict=False)
    ]
    for number in texts_with(_INVISIBLE):
        forms[number] = forms[number].replace(_REMOVED, b"")
    for number in texts_with(_OTHER_HYPHEN):
        forms[number] = _without_other_hyphens(forms[number], is_broken)
    slow = np.searchsorted(joined.begins, places[kinds == _SLOW], "right") - 1
    n_rare = np.bincount(slow, minlength=len(texts)).tolist()
    return [_SimpleForm(form, n) for form, n in zip(forms, n_rare, strict=True)]


def _without_other_hyphens(text: bytes, is_broken: IsBroken) -> bytes:
    """Return a text with mended words, and with dots for hyphens and line ends beyond ASCII."""
    readable = text.decode().replace(_HYPHEN_THAT_JOINS, _HYPHEN)
    text = mended(readable, is_broken).encode()
    for sign in _HYPHENS_AND_ENDS:
        text = text.replace(sign.encode(), b"." * len(sign.encode()))
    return text


def _with_hyphens(joined: JoinedDocuments) -> list[int]:
    """Return the numbers of documents with a hyphen between a word and a blank."""
    data = np.frombuffer(joined.text, np.uint8)
    hyphens = np.flatnonzero(data == _HYPHEN_OF_ASCII)
    hyphens = hyphens[_FOLLOWS_HYPHEN.take(data.take(hyphens + 1))]
    hyphens = hyphens[_PRECEDES_HYPHEN.take(data.take(hyphens - 1))]
    is_chosen = np.zeros(len(joined.begins), np.bool_)
    is_chosen[np.searchsorted(joined.begins, hyphens, "right") - 1] = True
    numbers: list[int] = np.flatnonzero(is_chosen).tolist()
    return numbers


def _blank_underscores(joined: JoinedDocuments, slow: Sequence[int]) -> None:
    """Put blanks in the places of underscores around words, apart from documents that are words."""
    data = np.frombuffer(joined.text, np.uint8)
    places = np.flatnonzero(data == _UNDERSCORE)
    if not len(places):
        return
    firsts = np.flatnonzero(np.append(True, places[1:] > places[:-1] + 1))
    lasts = np.append(firsts[1:], len(places)) - 1
    is_within = _IS_LETTER[data[places[firsts] - 1]] & _IS_LETTER[data[places[lasts] + 1]]
    is_word = np.zeros(len(joined.begins), np.bool_)
    is_word[list(slow)] = True
    is_within |= is_word[np.searchsorted(joined.begins, places[firsts], "right") - 1]
    data[places[~np.repeat(is_within, lasts - firsts + 1)]] = _SPACE


def _codes_at(data: Bytes, places: Integers) -> tuple[Integers, Integers]:
    """Return the code points and lengths of the characters of several bytes at some places."""
    first = data[places].astype(np.int64)
    second, third, fourth = (
        (data[places + offset] & 0x3F).astype(np.int64) for offset in (1, 2, 3)
    )
    lengths = 2 + (first >= 0xE0) + (first >= 0xF0)
    of_two = (first & 0x1F) << 6 | second
    of_three = (first & 0x0F) << 12 | second << 6 | third
    of_four = (first & 0x07) << 18 | second << 12 | third << 6 | fourth
    return np.choose(lengths - 2, [of_two, of_three, of_four]), lengths


def _write(data: Bytes, places: Integers, codes: Integers) -> None:
    """Write characters of two to four bytes to some places."""
    is_long, is_longest = codes >= 0x800, codes >= 0x10000
    for length, chosen in (
        (2, ~is_long),
        (3, is_long & ~is_longest),
        (4, is_longest),
    ):
        at, of_length = places[chosen], codes[chosen]
        for offset in range(1, length):
            data[at + offset] = of_length >> 6 * (length - 1 - offset) & 0x3F | 0x80
        data[at] = of_length >> 6 * (length - 1) | (0xF00 >> length & 0xFF)


class _Characters:
    """How each character beyond ASCII changes, as far as it was met."""

    def __init__(self) -> None:
        self._kinds = np.zeros(0x110000, np.uint8)
        self.small_letters = np.zeros(0x110000, np.int64)
        """The small letter of each capital letter that was met."""

    def kinds_of(self, codes: Integers) -> Bytes:
        """Return the kinds of some characters."""
        kinds = self._kinds[codes]
        unknown = np.unique(codes[kinds == _UNKNOWN]).tolist()
        if not unknown:
            return kinds
        for code in unknown:
            self._kinds[code], self.small_letters[code] = _kind_of(chr(code))
        return self._kinds[codes]


@cache
def _characters() -> _Characters:
    return _Characters()


def _kind_of(character: str) -> tuple[int, int]:
    """Return how a character changes wherever it stands, and its small letter."""
    if character in _HYPHENS_AND_ENDS:
        return _OTHER_HYPHEN, 0
    if is_invisible(character):
        return _INVISIBLE, 0
    compatible = unicodedata.normalize("NFKC", character)
    if is_changed_apart(character) or any(map(is_joining, (character, *compatible))):
        return _SLOW, 0
    return _kind_of_small(character, compatible.casefold())


def _kind_of_small(character: str, small: str) -> tuple[int, int]:
    """Return the same of a character that always becomes some others."""
    if not small.strip(" "):
        kind = _BLANK
    elif not _PART_OF_WORDS.search(small):
        kind = _SIGN
    elif not (len(small) == 1 and small.isalnum() and is_spaced_letter(small)):
        kind = _SLOW
    elif small == character:
        kind = _SMALL
    elif _size(small) == _size(character):
        kind = _CAPITAL
    else:
        kind = _SLOW
    return kind, ord(small) if kind == _CAPITAL else 0


def _size(character: str) -> int:
    return len(character.encode())
