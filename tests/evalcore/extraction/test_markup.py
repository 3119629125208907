"""Replies without a fence around all of them, tags of HTML, and what is struck out."""

import pytest

from evalcore.extraction import without_markup


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        pytest.param("18<br>for 9", "18\nfor 9", id="a line break"),
        pytest.param("18<BR/>for 9", "18\nfor 9", id="a line break in capitals"),
        pytest.param("<b>18</b> eggs", "18 eggs", id="bold type"),
        pytest.param('<span class="x">18</span>', "18", id="an attribute"),
        pytest.param('a<p class="x">18</p>', "a\n18\n", id="a paragraph with an attribute"),
        pytest.param("<B>18</B>", "18", id="capitals"),
        pytest.param("x <b> y", "x <b> y", id="a tag that nothing closes"),
        pytest.param("<answer>18</answer>", "<answer>18</answer>", id="a tag of another name"),
        pytest.param("so ~~9~~ 18", "so  18", id="struck out"),
        pytest.param("about ~~9 or ~~10", "about ~~9 or ~~10", id="signs for about"),
        pytest.param("x~~9~~ 18", "x~~9~~ 18", id="within a word"),
        pytest.param("~~9\n8~~ 18", "~~9\n8~~ 18", id="two lines are not struck out"),
        pytest.param("```\n\n18\n```", "18", id="a fence around all"),
        pytest.param("~~~\n18\n~~~\n", "18", id="a fence of tildes"),
        pytest.param("````\n18\n````", "18", id="a fence of four"),
        pytest.param("```\n18\n~~~", "```\n18\n~~~", id="a fence that nothing closes"),
        pytest.param("```\n18\n```\n9", "```\n18\n```\n9", id="a fence around a part"),
        pytest.param("```python\n18\n```", "```python\n18\n```", id="a program"),
        pytest.param("```\n1\n```\n```\n2\n```", "```\n1\n```\n```\n2\n```", id="two fences"),
    ],
)
def test_a_reply_is_read_as_its_page_shows_it(text: str, shown: str) -> None:
    assert without_markup(text) == shown


@pytest.mark.parametrize(
    "name",
    [
        *("text", "txt", "plaintext", "plain", "markdown", "md", "latex", "tex", "math", "json"),
        *("none", "output", "answer", "LaTeX"),
    ],
)
def test_a_fence_of_no_programming_language_is_taken_off(name: str) -> None:
    assert without_markup(f"```{name}\n18\n```") == "18"


@pytest.mark.parametrize(
    "name", ["p", "div", "li", "ul", "ol", "h1", "h6", "tr", "table"],
)  # fmt: skip
def test_a_block_of_a_page_is_on_lines_of_its_own(name: str) -> None:
    assert without_markup(f"a<{name}>18</{name}>b") == "a\n18\nb"


@pytest.mark.parametrize(
    "name", ["b", "strong", "i", "em", "u", "mark", "span", "font", "code", "td", "th", "big"],
)  # fmt: skip
def test_a_font_of_a_page_is_no_text(name: str) -> None:
    assert without_markup(f"a<{name}>18</{name}>b") == "a18b"
