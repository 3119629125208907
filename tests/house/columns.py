"""Find the columns of results that no test of their command names.

    python -m tests.house.columns

A column is named where a test reads it: as an attribute (`row.p_adjusted`), as a text
(`row["p_adjusted"]`), or as an argument within an `assert`. The tests of a row type are the modules
that name the type, those named after its module or command, and those that run the command. It
prints each column, and ends with 1 if there is one.
"""

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import click

from docs.row_tables import ROW_TYPES, RowType, columns
from tests.support.places import TESTS


def named_texts(tree: ast.AST) -> Iterator[str]:
    """Yield what a module of tests may name a column by."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            yield node.attr
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value
        elif isinstance(node, ast.Assert):
            for part in ast.walk(node):
                if isinstance(part, ast.keyword) and part.arg:
                    yield part.arg


def tests_of(row_type: RowType) -> re.Pattern[str]:
    """Return a regex that finds, in the path and text of a module, that it tests a row type."""
    command = row_type.commands.split()[0].strip(",")
    module = Path(row_type.module).stem
    return re.compile(
        rf"\A\S*/test_(?:{module}|{command})(?:_\w+)?\.py\n"
        rf"|\b{row_type.name}\b"
        rf"|\binvoke\(\s*\"{command}\"|[\"'(]{command} |\.{command}\("
    )


def columns_without_test(row_type: RowType, modules: dict[str, set[str]]) -> Iterator[str]:
    """Yield the columns of a row type that none of its tests names.

    Parameters
    ----------
    row_type : RowType
        The row type.
    modules : dict of str to set of str
        The texts that each module of tests names, by its path, a line end, and its source.

    """
    is_test = tests_of(row_type)
    named = set[str]().union(*(texts for text, texts in modules.items() if is_test.search(text)))
    for column, _, _ in columns(row_type):
        if column not in named:
            yield f"{row_type.path}: no test names {row_type.name}.{column}"


def read_modules() -> dict[str, set[str]]:
    """Return the texts that each module of tests names, by its path, a line end, and its source."""
    texts = {path: path.read_text(encoding="utf-8") for path in sorted(TESTS.rglob("*.py"))}
    return {f"{path}\n{text}": set(named_texts(ast.parse(text))) for path, text in texts.items()}


if __name__ == "__main__":
    known = read_modules()
    found = [line for row_type in ROW_TYPES for line in columns_without_test(row_type, known)]
    click.echo("\n".join(found) or "every column of every row type is named by a test")
    sys.exit(bool(found))
