"""Other forms of a text, which a reader takes for the same."""

from __future__ import annotations

import html
import random
import re
import unicodedata
from collections.abc import Callable

from benchmarks.copies.edits import units_of
from benchmarks.copies.problems import language

HALF_WIDTH_KATAKANA = {
    unicodedata.normalize("NFKC", chr(point)): chr(point) for point in range(0xFF66, 0xFF9E)
}
FULL_WIDTH = {point: point + 0xFEE0 for point in range(0x21, 0x7F)} | {0x20: 0x3000}
TRANSLATED = {
    "spaced": str.maketrans({",": "，", ".": "。", "?": "？", ":": "：", ";": "；", "'": "’"}),
    "unspaced": str.maketrans({"，": ", ", "。": ". ", "？": "? ", "、": ", ", "：": ": "}),
}
TYPOGRAPHIC = str.maketrans({"'": "’", "-": "\u2010", "(": "[", ")": "]"})


def wrap(text: str, draw: random.Random, name: str) -> str:
    """Break lines at 40 to 70 columns; scripts without spaces between any two characters."""
    width, indent = draw.randint(40, 70), " " * draw.choice((0, 0, 2, 4))
    lines = []
    for paragraph in text.split("\n"):
        if language(name).is_spaced:
            lines += _wrapped_words(paragraph.split(), width, hyphenate=False)
        else:
            lines += _wrapped_characters(paragraph, width)
    return "\n".join(indent + line for line in lines)


def hyphenate(text: str, draw: random.Random, name: str) -> str:
    """Break lines within words, with a hyphen, at 40 to 70 columns."""
    del name
    width = draw.randint(40, 70)
    lines = []
    for paragraph in text.split("\n"):
        lines += _wrapped_words(paragraph.split(), width, hyphenate=True)
    return "\n".join(lines)


def _wrapped_words(words: list[str], width: int, *, hyphenate: bool) -> list[str]:
    lines, line = [], ""
    for word in words:
        room = width - len(line) - 2
        rest = word
        if line and len(line) + 1 + len(word) > width:
            can_break = hyphenate and word.isalpha() and 2 <= room <= len(word) - 2
            if can_break:
                line, rest = f"{line} {word[:room]}-", word[room:]
            lines.append(line)
            line = rest
        else:
            line = f"{line} {word}" if line else word
    return [*lines, line]


def _wrapped_characters(text: str, width: int) -> list[str]:
    lines, line = [], ""
    pieces = re.split(r"(\d+)", text)
    units = [unit for piece in pieces for unit in ([piece] if piece.isdigit() else units_of(piece))]
    for unit in units:
        if len(line) + len(unit) > width // 2:
            lines.append(line)
            line = ""
        line += unit
    return [*lines, line]


def upper(text: str, draw: random.Random, name: str) -> str:
    """Return capital letters."""
    del draw, name
    return text.upper()


def html_markup(text: str, draw: random.Random, name: str) -> str:
    """Put paragraphs and some words into tags, with entities."""
    paragraphs = []
    for paragraph in text.split("\n"):
        pieces = []
        for piece in re.split(r"(\s+)", paragraph):
            escaped = html.escape(piece).replace("'", "&rsquo;")
            if escaped.strip() and language(name).is_spaced and draw.random() < 0.12:
                tags = draw.choice(
                    (
                        ("<b>", "</b>"),
                        ('<a href="https://example.org/page?id=7">', "</a>"),
                        ('<span class="term" data-id="42">', "</span>"),
                        ("<em>", "</em>"),
                    )
                )
                escaped = escaped.join(tags)
            elif escaped == " " and draw.random() < 0.1:
                escaped = "&nbsp;"
            pieces.append(escaped)
        paragraphs.append(f'<p class="q">{"".join(pieces)}</p>')
    return "<div>\n" + "\n".join(paragraphs) + "\n</div>"


def markdown(text: str, draw: random.Random, name: str) -> str:
    """Put some words into emphasis or links, and paragraphs into a quotation or a list."""
    start = draw.choice(("> ", "- ", "## ", ""))
    lines = []
    for paragraph in text.split("\n"):
        pieces = []
        for piece in re.split(r"(\s+)", paragraph):
            is_word = bool(piece.strip()) and language(name).is_spaced
            if is_word and draw.random() < 0.12:
                written = (f"**{piece}**", f"_{piece}_", f"[{piece}](https://example.org/{{1}})")
                pieces.append(draw.choice(written))
            else:
                pieces.append(piece)
        lines.append(start + "".join(pieces))
    return "\n\n".join(lines)


def full_width(text: str, draw: random.Random, name: str) -> str:
    """Return full-width Latin letters and digits, and half-width katakana."""
    del draw
    wide = text.translate(FULL_WIDTH)
    if name == "japanese":
        wide = "".join(HALF_WIDTH_KATAKANA.get(character, character) for character in wide)
    return wide


def decomposed(text: str, draw: random.Random, name: str) -> str:
    """Return Unicode's form NFD."""
    del draw, name
    return unicodedata.normalize("NFD", text)


def compatible(text: str, draw: random.Random, name: str) -> str:
    """Return ligatures, special spaces and one sign for three dots, as in texts taken from PDF."""
    del draw, name
    for letters, ligature in (("ffi", "ﬃ"), ("ffl", "ﬄ"), ("ff", "ﬀ"), ("fi", "ﬁ"), ("fl", "ﬂ")):
        text = text.replace(letters, ligature)
    return text.replace(" of ", "\u00a0of\u2009").replace("...", "…")


def typographic(text: str, draw: random.Random, name: str) -> str:
    """Return typographic quotation marks, hyphens, brackets and dashes."""
    del draw, name
    return text.translate(TYPOGRAPHIC).replace(", ", " – ").join("“”")


def translated(text: str, draw: random.Random, name: str) -> str:
    """Return the punctuation of another script."""
    del draw
    return text.translate(TRANSLATED["spaced" if language(name).is_spaced else "unspaced"])


FORMS: dict[str, Callable[[str, random.Random, str], str]] = {
    "wrapped": wrap,
    "hyphenated": hyphenate,
    "upper case": upper,
    "HTML": html_markup,
    "Markdown": markdown,
    "full width": full_width,
    "NFD": decomposed,
    "ligatures": compatible,
    "typographic": typographic,
    "translated punctuation": translated,
}
