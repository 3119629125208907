"""What no test uses is found: names, fixtures, headings and files of cases."""

import ast
from pathlib import Path

import pytest

from tests.house.unread_names import empty_headings, unread_files, unread_names

TEST, SUPPORT = Path("tests/room/test_x.py"), Path("tests/support/x.py")


@pytest.mark.parametrize(
    "source",
    [
        pytest.param("LIMIT = 3", id="a constant"),
        pytest.param("LOW, HIGH = 1, 2\ndef test_a(): HIGH", id="one of two constants"),
        pytest.param("def made(): pass", id="a function"),
        pytest.param("@pytest.fixture\ndef made(): pass", id="a fixture"),
        pytest.param("class Made: pass", id="a class"),
        pytest.param("limit: int = 3", id="a constant with a type"),
    ],
)
def test_a_name_that_nothing_reads_is_listed(source: str) -> None:
    assert list(unread_names({TEST: ast.parse(source)}))


@pytest.mark.parametrize(
    "source",
    [
        pytest.param("LIMIT = 3\ndef test_a(): LIMIT", id="a constant"),
        pytest.param("@pytest.fixture\ndef made(): pass\ndef test_a(made): pass", id="a fixture"),
        pytest.param(
            "@pytest.fixture\ndef made(): pass\n@pytest.mark.usefixtures('made')\n"
            "def test_a(): pass",
            id="a fixture by its name",
        ),
        pytest.param("@pytest.fixture(autouse=True)\ndef made(): pass", id="of every test"),
        pytest.param("@command\ndef made(): pass", id="a command"),
        pytest.param("pytestmark = 1\ndef test_a(): pass", id="names that pytest reads"),
    ],
)
def test_a_name_that_something_reads_is_not_listed(source: str) -> None:
    assert list(unread_names({TEST: ast.parse(source)})) == []


def test_shared_names_are_read_by_any_module_and_own_ones_by_their_own() -> None:
    reader = ast.parse("from x import LIMIT\ndef test_a(): LIMIT")
    other = Path("tests/room/test_y.py")
    assert list(unread_names({SUPPORT: ast.parse("LIMIT = 3"), other: reader})) == []
    assert list(unread_names({TEST: ast.parse("LIMIT = 3"), other: reader})) == [
        f"{TEST}:1: nothing reads LIMIT"
    ]


@pytest.mark.parametrize(
    ("source", "headings"),
    [
        pytest.param("import x\n\n\n# Files\n\n\ndef test_a(): 1\n", [], id="a test below it"),
        pytest.param("import x\n\n\n# Files\n\n", ["# Files"], id="nothing below it"),
        pytest.param(
            "x\n\n\n# Files\n\n\n# Texts\n\n\ndef test_a(): 1\n", ["# Files"], id="another heading"
        ),
        pytest.param("x\n\n# A sentence that explains.\n\nY = 1\n", [], id="a sentence"),
        pytest.param("x\n\n# what a name is for\nY = 1\n", [], id="beside what it explains"),
    ],
)
def test_headings_with_nothing_below_them_are_listed(source: str, headings: list[str]) -> None:
    found = list(empty_headings(TEST, source))
    assert [line.partition("below ")[2].strip("'") for line in found] == headings


@pytest.mark.parametrize(
    ("file", "source", "is_listed"),
    [
        pytest.param("test_x.csv", 'with_suffix(".csv")', False, id="read"),
        pytest.param("test_x.units.csv", 'with_suffix(".units.csv")', False, id="one of several"),
        pytest.param("test_x.units.csv", 'with_suffix(".csv")', True, id="another is read"),
        pytest.param("cases.csv", 'with_suffix(".csv")', True, id="of no test"),
    ],
)
def test_files_that_the_test_beside_them_does_not_read(
    file: str, source: str, is_listed: bool
) -> None:
    assert bool(list(unread_files([TEST.with_name(file)], {TEST: source}))) == is_listed
