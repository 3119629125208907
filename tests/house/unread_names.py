"""Find what no test uses: names, fixtures, files of cases, and headings with nothing below them.

    python -m tests.house.unread_names

It prints each place, and ends with 1 if there is one.
"""

import ast
import re
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

import click

from tests.support.places import FM9, RECORDED, REPLAY, ROOT, TESTS, TOKENS

RECORDINGS = (FM9, RECORDED, REPLAY, TOKENS)
"""Folders of recorded answers and of indexes."""
HEADING = re.compile(r"(?:\A|\n\n)(# (?!.*[.;:,]\n).*)\n(?=\n)")


def is_hook(name: str) -> bool:
    """Return whether pytest uses a name without a test that names it."""
    return name.startswith(("test_", "pytest_")) or name == "pytestmark"


def is_used_unnamed(node: ast.FunctionDef | ast.ClassDef) -> bool:
    """Return whether a function is a fixture of every test, or a command that is typed."""
    decorators = [ast.unparse(decorator) for decorator in node.decorator_list]
    return "command" in decorators or any("autouse=True" in text for text in decorators)


def defined_names(tree: ast.Module) -> Iterator[tuple[str, int]]:
    """Yield the names that a module defines at its top, and their lines."""
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            if not is_used_unnamed(node):
                yield node.name, node.lineno
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            for part in ast.walk(node):
                if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store):
                    yield part.id, node.lineno


def read_names(tree: ast.Module) -> Iterator[str]:
    """Yield the names that a module reads: also those of fixtures, which are parameters."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            yield node.id
        elif isinstance(node, ast.Attribute):
            yield node.attr
        elif isinstance(node, ast.arg):
            yield node.arg
        elif isinstance(node, ast.alias):
            yield node.name
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value  # a fixture that is asked for by its name, a function of a string


def unread_names(trees: dict[Path, ast.Module]) -> Iterator[str]:
    """Yield the names that a test module defines and doesn't read, and those no module reads."""
    read = {path: set(read_names(tree)) for path, tree in trees.items()}
    everywhere = set[str]().union(*read.values())
    for path, tree in trees.items():
        known = read[path] if path.name.startswith("test_") else everywhere
        for name, line in defined_names(tree):
            if name not in known and not is_hook(name):
                yield f"{path}:{line}: nothing reads {name}"


def empty_headings(path: Path, text: str) -> Iterator[str]:
    """Yield the headings of a test module that no function follows before the next one."""
    parts = HEADING.split(text)
    for heading, below in zip(parts[1::2], parts[2::2], strict=True):
        if not re.search(r"^(?:@|def |class )", below, re.MULTILINE):
            yield f"{path}: nothing stands below {heading!r}"


def unread_files(files: Iterable[Path], sources: dict[Path, str]) -> Iterator[str]:
    """Yield the files beside tests that the module of the same name does not read."""
    for path in files:
        stem, _, suffix = path.name.partition(".")
        reader = sources.get(path.with_name(f"{stem}.py"), "")
        if f'".{suffix}"' not in reader:
            yield f"{path}: {stem}.py beside it does not read it"


def files_of_cases() -> Iterator[Path]:
    """Yield the files among the tests that are neither modules nor recordings."""
    for path in sorted(TESTS.rglob("*")):
        is_recording = any(path.is_relative_to(folder) for folder in RECORDINGS)
        if path.is_file() and path.suffix not in (".py", ".pyc") and not is_recording:
            yield path.relative_to(ROOT)


def unused_places() -> list[str]:
    """Return each place among the tests that nothing uses."""
    paths = sorted(TESTS.rglob("*.py"))
    sources = {path.relative_to(ROOT): path.read_text(encoding="utf-8") for path in paths}
    trees = {path: ast.parse(text) for path, text in sources.items()}
    headings = [place for path, text in sources.items() for place in empty_headings(path, text)]
    return [*unread_names(trees), *headings, *unread_files(files_of_cases(), sources)]


if __name__ == "__main__":
    found = unused_places()
    click.echo("\n".join(found) or "everything that the tests define is used")
    sys.exit(bool(found))
