"""Find names that do not say what they hold: bare participles, and types with several meanings.

    python -m tests.house.plain_names

It prints how many a package has, and each place if it has more than it may have; then it ends with
1. Lower the numbers here as names become plainer, until they are 0.
"""

import ast
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path

import click

from tests.support.places import ROOT

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
MOST_BARE_NAMES = {"evalcore": 0, "ngramscan": 248}
"""How many variables and parameters of a package may have such a name."""
MOST_SHARED_TYPES = {"evalcore": 0, "ngramscan": 19}
"""How many types of a package may have a name that another module has, too."""
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
"""Names of types that may stand in several modules, and their meaning; at most ten."""


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
    paths = [path for package in MOST_BARE_NAMES for path in sorted((ROOT / package).rglob("*.py"))]
    return {path.relative_to(ROOT): path.read_text(encoding="utf-8") for path in paths}


def unplain_places() -> dict[str, list[str]]:
    """Return a line for each place, by the package and what is wrong there."""
    sources, places = read_sources(), defaultdict[str, list[str]](list)
    for path, source in sources.items():
        for line, name in bare_names(source):
            text = f"{path}:{line}: {name} does not say what it holds"
            places[f"{path.parts[0]}: bare names"].append(text)
    for path, line, name in shared_types(sources):
        text = f"{path}:{line}: another module has a type {name}, too"
        places[f"{path.parts[0]}: shared types"].append(text)
    return places


def limits() -> dict[str, int]:
    """Return how many places there may be, by the package and what is wrong there."""
    bare = {f"{package}: bare names": most for package, most in MOST_BARE_NAMES.items()}
    shared = {f"{package}: shared types": most for package, most in MOST_SHARED_TYPES.items()}
    return bare | shared


if __name__ == "__main__":
    places = unplain_places()
    too_many = [kind for kind, most in limits().items() if len(places[kind]) > most]
    for kind in too_many:
        click.echo("\n".join(places[kind]))
    for kind, most in limits().items():
        click.echo(f"{kind}: {len(places[kind])}, at most {most}")
    sys.exit(bool(too_many))
