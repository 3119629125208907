"""Tests lie where what they test lies, so that the test of a line of code is found by its path."""

import ast
import re
from pathlib import Path

import pytest

from docs.checkout import files_of_checkout
from tests.support.places import ROOT, TESTS

PACKAGES = ("evalcore", "ngramscan")
ROOMS = sorted(
    path.parent.relative_to(ROOT)
    for package in PACKAGES
    for path in (ROOT / package).rglob("__init__.py")
)
OTHERS = ("browser", "house", "simulations", "support")
"""Folders of tests that no room of the packages is mirrored by."""
TEST_MODULES = sorted(path.relative_to(TESTS) for path in TESTS.rglob("test_*.py"))
TOO_LONG = 70
OF_AN_EXAMPLE = "tests/ngramscan/commands/test_sizes.py"
"""What CONTRIBUTING.md shows how to add."""


def names_in(room: Path) -> set[str]:
    """Return what a test module of a room may be named after: the room, and what is in it."""
    inside = {path.stem for path in (ROOT / room).iterdir() if path.suffix in ("", ".py")}
    return {room.name, *inside}


@pytest.mark.parametrize("room", ROOMS, ids=str)
def test_every_room_has_a_folder_of_tests(room: Path) -> None:
    assert list((TESTS / room).glob("test_*.py")), f"no tests in tests/{room}"


@pytest.mark.parametrize("room", ROOMS, ids=str)
def test_test_modules_are_named_after_modules_of_their_room(room: Path) -> None:
    known = names_in(room)
    wrong = [
        path.name
        for path in sorted((TESTS / room).glob("test_*.py"))
        if not any(re.fullmatch(rf"test_{name}(?:_\w+)?", path.stem) for name in known)
    ]
    assert wrong == [], f"tests/{room}: modules there: {', '.join(sorted(known))}"


def test_every_test_module_lies_in_a_room_or_in_a_folder_of_its_own() -> None:
    rooms = {*ROOMS, *map(Path, OTHERS)}
    wrong = [
        path for path in TEST_MODULES if path.parent not in rooms and path.parts[0] not in OTHERS
    ]
    assert wrong == []


@pytest.mark.parametrize("path", TEST_MODULES, ids=str)
def test_a_test_module_imports_no_other(path: Path) -> None:
    imported = [
        f"{node.module}.{alias.name}"
        for node in ast.walk(ast.parse((TESTS / path).read_text(encoding="utf-8")))
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    ]
    assert [name for name in imported if re.match(r"tests\..*\btest_", name)] == []


@pytest.mark.parametrize("path", TEST_MODULES, ids=str)
def test_names_of_tests_can_be_read_at_a_glance(path: Path) -> None:
    tree = ast.parse((TESTS / path).read_text(encoding="utf-8"))
    names = [node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    assert [name for name in names if len(name) >= TOO_LONG] == []


def test_every_test_that_a_text_names_is_there() -> None:
    wrong = [
        f"{file}: {named}"
        for file in map(Path, files_of_checkout())
        if file.suffix == ".md" or file.parts[0] in PACKAGES
        if file.suffix in (".md", ".py") and file.name != "CHANGELOG.md"
        for named in re.findall(r"\btests/[\w/.-]+\.(?:py|csv|jsonl)\b", (ROOT / file).read_text())
        if not (ROOT / named).exists() and named != OF_AN_EXAMPLE
    ]
    assert wrong == []
