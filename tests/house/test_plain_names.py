"""Names that do not say what they hold are found, and others are not."""

from pathlib import Path

import pytest

from tests.house.plain_names import SHARED_TYPES, bare_names, shared_types, unplain_places

FIRST, SECOND = Path("evalcore/a.py"), Path("ngramscan/b.py")


@pytest.mark.parametrize(
    "source",
    [
        pytest.param("found = 1", id="a variable of a module"),
        pytest.param("def f():\n    known = 1", id="a variable of a function"),
        pytest.param("def f(given): pass", id="a parameter"),
        pytest.param("def f(*, asked): pass", id="a keyword"),
        pytest.param("for one in names: pass", id="a variable of a loop"),
        pytest.param("x = [one for one in names]", id="a variable of a comprehension"),
        pytest.param("if of := 1: pass", id="a named expression"),
        pytest.param("f = lambda read: read", id="a parameter of a lambda"),
        pytest.param("def f():\n    left = 3", id="a left without a right"),
        pytest.param("class A:\n    def f(self, told): pass", id="a parameter of a method"),
    ],
)
def test_a_bare_word_is_found(source: str) -> None:
    assert [*bare_names(source)]


@pytest.mark.parametrize(
    "source",
    [
        pytest.param("found_places = 1", id="a word with a noun"),
        pytest.param("x.found = 1", id="an attribute"),
        pytest.param("f(found=1)", id="a keyword of a call"),
        pytest.param("class A:\n    drawn: int", id="a field"),
        pytest.param("@command\ndef rank(*, of): pass", id="an option"),
        pytest.param("def f(left, right): pass", id="two sides"),
        pytest.param("from files import read", id="an import"),
    ],
)
def test_other_names_are_not_found(source: str) -> None:
    assert [*bare_names(source)] == []


@pytest.mark.parametrize(
    ("first", "second", "is_shared"),
    [
        pytest.param("class Answer: pass", "class Answer: pass", True, id="two classes"),
        pytest.param("class _Answer: pass", "class Answer: pass", True, id="a private one"),
        pytest.param("Answer = str | int", "class Answer: pass", True, id="an alias"),
        pytest.param("class Answer: pass", "class Reply: pass", False, id="two names"),
        pytest.param("Row = dict[str, int]", "Row = list[int]", False, id="with one meaning"),
        pytest.param("A = TypeVar('A')\nT1 = 3", "A = TypeVar('A')\nT1 = 4", False, id="variables"),
    ],
)
def test_types_of_one_name_are_found(first: str, second: str, is_shared: bool) -> None:
    assert bool([*shared_types({FIRST: first, SECOND: second})]) == is_shared


def test_every_name_says_what_it_holds() -> None:
    assert unplain_places() == []


def test_few_types_may_share_their_name() -> None:
    assert len(SHARED_TYPES) <= 10
