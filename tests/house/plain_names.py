"""Find names that do not say what they hold: bare participles, and types with several meanings.

    python -m tests.house.plain_names

It prints each place, and ends with 1 if there is one.
"""

import ast
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path

import click

from tests.support.places import ROOT

PACKAGES = ("evalcore", "ngramscan")
BARE_WORDS = {
    "asked",
    "drawn",
    "found",
    "given",
    "kept",
    "known",
    "left",
    "of",
    "one",
    "own",
    "read",
    "shown",
    "told",
}
"""Words that say what was done with a value, but not what it is: `counted_documents` is a name."""
SHARED_TYPES = {
    "Booleans": "an array of truth values",
    "Bytes": "an array of bytes",
    "Floats": "an array of numbers, in every module of statistics",
    "Integers": "an array of whole numbers",
    "PlanRow": "a row of `--plan`, and of `evalcore plan`",
    "Problem": "a problem of a benchmark, and one of an index",
    "Row": "a row of any type",
    "Words": "an array of words of eight bytes",
}
"""Type names that several modules may define, and what each means; at most ten."""


def is_command(function: ast.FunctionDef) -> bool:
    """Return whether users type the names of a function's parameters."""
    return any(ast.unparse(decorator) == "command" for decorator in function.decorator_list)


def scopes(node: ast.AST) -> Iterator[ast.stmt]:
    """Yield the outermost functions, and the statements of a module that define neither."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.ClassDef):
            # The fields of a class are columns, or names that other programs chose.
            yield from (scope for scope in scopes(child) if isinstance(scope, ast.FunctionDef))
        elif isinstance(child, ast.stmt):
            yield child


def bound_names(scope: ast.stmt) -> Iterator[tuple[int, str]]:
    """Yield the lines and names of variables and parameters."""
    options = set[ast.arg]()
    if isinstance(scope, ast.FunctionDef) and is_command(scope):
        options |= {*scope.args.args, *scope.args.kwonlyargs}
    for node in ast.walk(scope):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.lineno, node.id
        elif isinstance(node, ast.arg) and node not in options:
            yield node.lineno, node.arg


def bare_names(source: str) -> Iterator[tuple[int, str]]:
    """Yield the lines and names of variables and parameters that are nothing but a bare word.

    `left` is the name of a side where there is a `right`, too.
    """
    for scope in scopes(ast.parse(source)):
        names = [*bound_names(scope)]
        has_right_side = any(name == "right" for _, name in names)
        for line, name in names:
            if name in BARE_WORDS and not (name == "left" and has_right_side):
                yield line, name


def type_names(source: str) -> Iterator[tuple[int, str]]:
    """Yield the lines and names of classes and aliases of types, without a leading underscore."""
    for node in ast.parse(source).body:
        if isinstance(node, ast.ClassDef):
            yield node.lineno, node.name.lstrip("_")
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            target = node.targets[0] if isinstance(node, ast.Assign) else node.target
            name = target.id.lstrip("_") if isinstance(target, ast.Name) else ""
            is_variable = isinstance(node.value, ast.Call) and "TypeVar" in ast.unparse(node.value)
            if name[:1].isupper() and name != name.upper() and not is_variable:
                yield node.lineno, name


def shared_types(sources: Mapping[Path, str]) -> Iterator[tuple[Path, int, str]]:
    """Yield the places of types whose name another module has, too."""
    places = defaultdict[str, list[tuple[Path, int]]](list)
    for path, source in sources.items():
        for line, name in type_names(source):
            places[name].append((path, line))
    for name, found_places in places.items():
        if len(found_places) > 1 and name not in SHARED_TYPES:
            yield from ((path, line, name) for path, line in found_places)


def read_sources() -> dict[Path, str]:
    """Return the modules of both packages by their paths."""
    paths = [path for package in PACKAGES for path in sorted((ROOT / package).rglob("*.py"))]
    return {path.relative_to(ROOT): path.read_text(encoding="utf-8") for path in paths}


def unplain_places() -> list[str]:
    """Return a line for each place."""
    sources, places = read_sources(), list[str]()
    for path, source in sources.items():
        for line, name in bare_names(source):
            places.append(f"{path}:{line}: {name} does not say what it holds")
    for path, line, name in shared_types(sources):
        places.append(f"{path}:{line}: another module has a type {name}, too")
    return places


if __name__ == "__main__":
    places = unplain_places()
    click.echo("\n".join(places) or "every name says what it holds")
    sys.exit(bool(places))
