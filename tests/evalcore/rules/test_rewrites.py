"""Rewrites do what the comments above them say."""

import ast
import re
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest

import evalcore.rules
from evalcore.rules.rewrites import Rewrites, rewritten

MODULES = sorted(Path(evalcore.rules.__file__).parent.glob("*.py"))
QUOTED = re.compile("`([^`]*)`")


def tables(source: str) -> Iterator[tuple[str, ast.Tuple]]:
    """Yield the names of the tables of rewrites in a module, and their syntax."""
    for node in ast.parse(source).body:
        match node:
            case ast.AnnAssign(
                target=ast.Name(id=name),
                annotation=ast.Name(id="Rewrites"),
                value=ast.Tuple() as table,
            ):
                yield name, table


def examples() -> Iterator[object]:
    for path in MODULES:
        source = path.read_text(encoding="utf-8")
        lines = source.splitlines()
        for name, table in tables(source):
            for number, entry in enumerate(table.elts):
                comment = lines[entry.lineno - 2].strip()
                shown = f"{path.stem}, line {entry.lineno}"
                yield pytest.param(path.stem, name, number, comment, id=shown)


@pytest.mark.parametrize(("module", "name", "number", "comment"), list(examples()))
def test_a_rewrite_has_an_example_that_is_right(
    module: str, name: str, number: int, comment: str
) -> None:
    """Several examples have one result, or as many results."""
    rewrites: Rewrites = getattr(import_module(f"evalcore.rules.{module}"), name)
    assert comment.startswith("# `")
    before, _, after = comment.partition(" → ")
    texts, results = QUOTED.findall(before), QUOTED.findall(after)
    if len(results) == 1:
        results *= len(texts)
    assert [rewritten(text, [rewrites[number]]) for text in texts] == results


def test_rewrites_with_examples_are_found_in_several_modules() -> None:
    names = {path.stem for path in MODULES if list(tables(path.read_text(encoding="utf-8")))}
    assert {"notation", "numerals", "units"} <= names
