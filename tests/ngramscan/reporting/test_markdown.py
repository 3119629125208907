"""Tables in Markdown, read back by a parser of Markdown."""

from dataclasses import dataclass

import pytest
from markdown_it import MarkdownIt

from ngramscan.reporting.markdown import to_markdown


@dataclass(frozen=True)
class Row:
    """A row with each kind of value."""

    name: str
    p_value: str
    number: int | None
    share: float
    empty: int | None = None


def parsed(text: str) -> list[list[str]]:
    """Return the cells of the only table in a text, as a reader sees them."""
    tokens = MarkdownIt("commonmark").enable("table").parse(text)
    assert [token.type for token in tokens if token.type == "table_open"] == ["table_open"]
    lines: list[list[str]] = []
    for token in tokens:
        if token.type == "tr_open":
            lines.append([])
        if token.type == "inline":
            assert {child.type for child in token.children or ()} <= {"text", "text_special"}
            lines[-1].append("".join(child.content for child in token.children or ()))
    return lines


def test_a_table_has_headings_and_three_digits_and_no_empty_column() -> None:
    rows = [Row("cot", "0.324", 1234567, 0.123456), Row("pot", "4.1e-04", None, 12.0)]
    text = to_markdown(rows, Row)
    assert parsed(text) == [
        ["name", "p value", "number", "share"],
        ["cot", "0.324", "1,234,567", "0.123"],
        ["pot", "4.1e-04", "–", "12"],
    ]
    assert text.splitlines()[1] == "| :--- | ---: | ---: | ---: |"


def test_a_table_without_rows_has_all_headings() -> None:
    assert parsed(to_markdown([], Row)) == [["name", "p value", "number", "share", "empty"]]


@pytest.mark.parametrize(
    "name",
    [
        pytest.param("a|b", id="the end of a cell"),
        pytest.param("\\|", id="a backslash before it"),
        pytest.param("`code` and *stars* and __lines__", id="emphasis and code"),
        pytest.param("[a](http://b.example) ![c](d)", id="links and pictures"),
        pytest.param("<b>bold</b> <https://a.example>", id="HTML and addresses"),
        pytest.param("&amp; &lt;", id="entities"),
        pytest.param("~~struck~~", id="struck out"),
        pytest.param("# no heading", id="a heading"),
        pytest.param("- no list", id="a list"),
        pytest.param("$x_1$", id="a formula"),
    ],
)
def test_a_text_is_shown_as_it_is(name: str) -> None:
    assert parsed(to_markdown([Row(name, "", 1, 0.5)], Row))[1] == [name, "1", "0.5"]


def test_a_text_of_several_lines_stays_in_its_cell() -> None:
    assert parsed(to_markdown([Row("step\nby | step", "", 1, 0.5)], Row))[1][0] == "step by | step"
