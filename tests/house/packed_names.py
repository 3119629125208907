"""Find texts in the source that are lists of column names, or regexes over them.

    python -m tests.house.packed_names

A row type says what its columns are; a list of names is a tuple. It prints each place, and ends
with 1 if there is one.
"""

import ast
import re
import sys
from collections.abc import Collection, Iterator
from pathlib import Path

import click

from docs.row_tables import ROW_TYPES, columns
from tests.support.places import ROOT

MOST_NAMES = 3
"""A text may have so many names of columns, with spaces or bars between them."""


def documentation(tree: ast.AST) -> set[ast.expr]:
    """Return the texts of a module that stand alone, as docstrings do."""
    return {node.value for node in ast.walk(tree) if isinstance(node, ast.Expr)}


def packed_names(source: str, names: Collection[str]) -> Iterator[tuple[int, str]]:
    """Yield the lines and texts of a module that are lists of names, or regexes over them."""
    tree = ast.parse(source)
    left_out = documentation(tree)
    for node in ast.walk(tree):
        if not isinstance(node, ast.Constant) or not isinstance(node.value, str):
            continue
        if node in left_out:
            continue
        words = re.split(r"[\s=,;]+", node.value.strip())
        is_list = all(word in names for word in words)
        parts = re.findall(r"\w+", node.value) if "|" in node.value else []
        known = [part for part in parts if "_" in part and part in names]
        if (is_list and len(words) > MOST_NAMES) or len(known) > MOST_NAMES:
            yield node.lineno, node.value


def column_names() -> set[str]:
    """Return the names of the columns of all row types."""
    return {column for row_type in ROW_TYPES for column, _, _ in columns(row_type)}


def packed_names_of(folder: Path) -> Iterator[str]:
    """Yield the places in a folder of modules where a text is a list of names."""
    names = column_names()
    for path in sorted(folder.rglob("*.py")):
        for line, text in packed_names(path.read_text(encoding="utf-8"), names):
            yield f"{path.relative_to(ROOT)}:{line}: {text[:60]!r} is a list of columns"


if __name__ == "__main__":
    packages = (ROOT / "evalcore", ROOT / "ngramscan")
    found = [place for package in packages for place in packed_names_of(package)]
    click.echo("\n".join(found) or "no text is a list of columns")
    sys.exit(bool(found))
