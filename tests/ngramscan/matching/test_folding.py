"""Texts that a reader takes for the same are searched as the same, others are not."""

import unicodedata
from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ngramscan.matching import Matcher, count_texts
from ngramscan.matching.normalization import Normalization, normalized, normalized_places
from ngramscan.matching.words import words_in

BOTH: tuple[Normalization, ...] = ("words", "alphanumeric")
WORDS: tuple[Normalization, ...] = ("words",)


def nfd(text: str) -> str:
    return unicodedata.normalize("NFD", text)


SAME = [
    pytest.param("crème brûlée", nfd("crème brûlée"), BOTH, id="NFD"),
    pytest.param("정원사는 튤립", nfd("정원사는 튤립"), BOTH, id="Korean in jamo"),
    pytest.param("ガーデン", "ｶﾞｰﾃﾞﾝ", BOTH, id="half-width Katakana"),
    pytest.param("がぎ", nfd("がぎ"), BOTH, id="Japanese in NFD"),
    pytest.param("クमारी".replace("ク", ""), "मारी", BOTH, id="Hindi"),
    pytest.param("क़लम", "\u0958लम", BOTH, id="Devanagari with a dot below"),
    pytest.param("24 pens", "２４ ｐｅｎｓ", BOTH, id="full width"),
    pytest.param("efficient flow", "eﬃcient ﬂow", BOTH, id="ligatures"),
    pytest.param("gardener", "gar\u00adden\u00ader", BOTH, id="soft hyphens"),
    pytest.param("gardener", "gar\u200bde\u2060ner\ufeff", BOTH, id="zero width"),
    pytest.param("\ufeffthe \u200egardener", "the gardener", BOTH, id="byte order and direction"),
    pytest.param("木\ufe00葛\U000e0100", "木葛", BOTH, id="selectors of variants"),
    pytest.param("زرع البستاني", "زرع\u00a0البســــتاني", BOTH, id="tatweel"),
    pytest.param("لا", "\ufefb", BOTH, id="Arabic presentation forms"),
    pytest.param("nineteen rows", "nineteen\u00a0rows", BOTH, id="a space that does not break"),
    pytest.param("nineteen rows", "nineteen\u3000\u2009rows", BOTH, id="wide and thin spaces"),
    pytest.param("don't - stop", "don’t — “stop”", BOTH, id="typographic signs"),
    pytest.param("don't", "donʼt", BOTH, id="an apostrophe that is a letter"),
    pytest.param("Straße STRASSE", "STRASSE straße", WORDS, id="German capitals"),
    pytest.param("GROẞ", "groß", WORDS, id="German large ß"),
    pytest.param("ΟΔΟΣ σε", "οδος ΣΕ", WORDS, id="final sigma"),
    pytest.param("10^2 m", "10² m", BOTH, id="raised digits"),
    pytest.param("10^23 x", "10²³ x", BOTH, id="several raised digits"),
    pytest.param("10^2", "10<sup>2</sup>", BOTH, id="raised by a tag"),
    pytest.param("H2O", "H₂O", BOTH, id="lowered digits"),
    pytest.param("H2O", "H<sub>2</sub>O", BOTH, id="lowered by a tag"),
    pytest.param("1 1/2 cups", "1½ cups", BOTH, id="a fraction"),
    pytest.param("Lego bricks", "Lego™ bricks", BOTH, id="a trade mark"),
    pytest.param("nineteen rows of", "<b>nineteen</b> <i>rows</i> of", BOTH, id="tags"),
    pytest.param("nineteen rows", "nineteen<br/>rows", BOTH, id="a line break of HTML"),
    pytest.param(
        "rows of", '<td class="a b">rows</td><td width=3 nowrap>of</td>', BOTH, id="attributes"
    ),
    pytest.param("rows of", "rows <!-- an <b> aside -->of", BOTH, id="a comment"),
    pytest.param("rows of", "rows&nbsp;of", BOTH, id="an entity"),
    pytest.param("rows & of", "rows &amp;amp; of", BOTH, id="an entity escaped twice"),
    pytest.param("café rows", "caf&eacute; &lt;b&gt;rows&lt;/b&gt;", BOTH, id="escaped HTML"),
    pytest.param("it's", "it&#39;s", BOTH, id="an entity with a number"),
    pytest.param("it’s", "it&#x2019;s", BOTH, id="an entity with a hexadecimal number"),
    pytest.param("nineteen rows", "**nineteen** _rows_", BOTH, id="emphasis of Markdown"),
    pytest.param("the ___ is", "the ______ is", WORDS, id="a blank"),
    pytest.param(
        "nineteen rows of", 'nineteen [rows](https://a.org/x_(y) "so") of', BOTH, id="a link"
    ),
    pytest.param("rows of", "[rows](#part) of", BOTH, id="a link within the page"),
    pytest.param("10,000 rows", r"10\,000~rows", BOTH, id="spaces of LaTeX"),
    pytest.param("gardener", "gar-\ndener", BOTH, id="a word broken at the end of a line"),
    pytest.param("gardener", "gar\u00ad\r\n   dener", BOTH, id="broken at a soft hyphen"),
    pytest.param("gardener", "gar\u2010<br>dener", BOTH, id="broken in HTML"),
    pytest.param("well-known", "well-\nknown", BOTH, id="a compound broken at its hyphen"),
    pytest.param("今天天气", "今天\n天 气", BOTH, id="Chinese wrapped"),
    pytest.param("用Python编程", "用 Python 编程", BOTH, id="spaces around Latin in Chinese"),
]
OTHER = [
    pytest.param("102", "10²", id="raised digits"),
    pytest.param("112 cups", "1½ cups", id="a fraction"),
    pytest.param("a d", "a <b and c> d", id="an inequality"),
    pytest.param("if then", "if a <i then", id="a tag that does not end"),
    pytest.param("f[0] so", "f[0](x) so", id="a call"),
    pytest.param("snakecase", "snake_case", id="a name"),
    pytest.param("snake case", "snake_case", id="a name of two words"),
    pytest.param("cafe", "café", id="a missing accent"),
    pytest.param("istanbul", "İSTANBUL", id="a Turkish capital"),
    pytest.param("ısı", "isi", id="Turkish letters without a dot"),
    pytest.param("的", "得", id="Chinese"),
    pytest.param("कि", "की", id="Hindi with another vowel"),
    pytest.param("ที่", "ทื่", id="Thai with another vowel"),
    pytest.param("كتب", "كِتاب", id="Arabic with another word"),
]


def occurs(entry: str, document: str, normalization: Normalization) -> bool:
    query = normalized(entry, normalization)
    matcher = Matcher([query], normalization=normalization)
    return bool(count_texts(matcher, [f"So: {document}. ".encode()]).occurrences)


@pytest.mark.parametrize(("entry", "document", "normalizations"), SAME)
def test_another_form_of_the_same_text_is_found(
    entry: str, document: str, normalizations: tuple[Normalization, ...]
) -> None:
    found = {
        normalization for normalization in normalizations if occurs(entry, document, normalization)
    }
    assert found == set(normalizations)


@pytest.mark.parametrize(("entry", "document"), OTHER)
def test_another_text_is_not_found(entry: str, document: str) -> None:
    assert not occurs(entry, document, "words")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("It's 3.5\tMetres", " it s 3 5 metres ", id="signs"),
        pytest.param("x_1 = foo_bar(y)", " x_1 foo_bar y ", id="names"),
        pytest.param("a < b > c", " a b c ", id="inequalities"),
        pytest.param("AT&T; R&D", " at t r d ", id="ampersands"),
        pytest.param("\r\n--\n", "", id="no word"),
        pytest.param("3-\n4", " 3 4 ", id="a difference"),
        pytest.param("Anglo-\nSaxon", " anglo saxon ", id="a name after a hyphen"),
    ],
)
def test_plain_texts_are_searched_as_rules_were_published(text: str, expected: str) -> None:
    assert normalized(text, "words") == expected


PIECES = st.sampled_from(
    (
        *("gar-\nde", "<b>", "</td>", "&amp;", "&lt;", "b>", "e\u0301", "\u0301", "İ", "ß", "ﬃ"),
        *("½", "²", "_", "__", " ", "\n", "-", "한", nfd("한"), "\u3131", "\u314f", "ｶ", "ﾞ"),
        *("か\u3099", "中", "ที่", "ำ", "क़", "\u0958", "\ufdfa", "\u00ad", "\u200b", "](/a)"),
        *("<!--", "-->", "™", "Σ", "ς", "\u0345", "\u0390", "\ufe70", "\u00b4", "a", "B", "3"),
        *("\u1100", "\u1161", "\uffa1"),
    )
)


@given(st.lists(PIECES, max_size=12).map("".join))
def test_places_are_those_of_the_same_text(text: str) -> None:
    letters = normalized_places(text, "alphanumeric")
    assert letters.text == normalized(text, "alphanumeric")
    words = normalized_places(text, "words")
    assert words_in(words.text) == normalized(text, "words").split()
    for placed in (letters, words):
        assert len(placed.starts) == len(placed.stops) == len(placed.text)
        assert all(
            0 <= a < b <= len(text) for a, b in zip(placed.starts, placed.stops, strict=True)
        )
        assert placed.starts == sorted(placed.starts)


@pytest.mark.parametrize(
    "piece",
    [
        *("<!--", "<a b=", '<a b="', "<p ", "<p hidden ", "&", "& ", "](/", "](/(", '](www.a "'),
        *("_", "a_", "-", "- ", "a-\n", "e\u0301-\n", "\u00ad \n", "²", "a", "\u0301", "中"),
    ],
)
def test_long_texts_take_no_long_time(piece: str) -> None:
    text = piece * (400_000 // len(piece))
    started = process_time()
    normalized(text, "words")
    assert process_time() - started < 5


WITHIN_A_LINE = [
    *("a", "abbr", "acronym", "b", "bdi", "bdo", "big", "cite", "code", "data", "del", "dfn", "em"),
    *("font", "i", "img", "ins", "kbd", "label", "mark", "q", "s", "samp", "small", "span"),
    *("strike", "strong", "sub", "time", "tt", "u", "var", "wbr"),
]
APART = [
    *("address", "article", "aside", "blockquote", "body", "br", "button", "caption", "center"),
    *("col", "colgroup", "dd", "details", "div", "dl", "dt", "fieldset", "figcaption", "figure"),
    *("footer", "form", "h1", "h2", "h3", "h4", "h5", "h6", "head", "header", "hr", "html"),
    *("iframe", "input", "li", "link", "main", "meta", "nav", "ol", "option", "p", "pre", "script"),
    *("section", "select", "style", "summary", "table", "tbody", "td", "textarea", "tfoot"),
    *("th", "thead", "title", "tr", "ul", "video"),
]


@pytest.mark.parametrize("tag", WITHIN_A_LINE)
def test_tags_of_html_within_a_line_do_not_part_words(tag: str) -> None:
    assert normalized(f"nine<{tag}>teen</{tag.upper()} >s", "words") == " nineteens "


@pytest.mark.parametrize("tag", APART)
def test_other_tags_of_html_part_words(tag: str) -> None:
    assert normalized(f"nine<{tag}>teen</{tag.upper()} >s", "words") == " nine teen s "


@pytest.mark.parametrize(
    "flag",
    [
        *("async", "checked", "controls", "defer", "disabled", "hidden", "nowrap", "open"),
        *("readonly", "required", "selected"),
    ],
)
def test_attributes_without_a_value_are_those_of_html(flag: str) -> None:
    assert normalized(f"nine<b {flag}>teen", "words") == " nineteen "
    assert normalized(f"nine<b {flag}s>teen", "words") == f" nine b {flag}s teen "
