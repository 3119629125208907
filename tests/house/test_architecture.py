"""The house as docs/architecture.md draws it, read off the syntax trees."""

import ast
import re
import subprocess
import sys
import tomllib
import types
from collections.abc import Iterator
from functools import cache
from importlib.metadata import packages_distributions
from itertools import permutations

import pytest

import evalcore
import ngramscan
from tests.support.places import ROOT

MODULES = {
    ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path
    for package in ("ngramscan", "evalcore")
    for path in sorted((ROOT / package).rglob("*.py"))
}

# What a room of ngramscan may import of the others; an index knows strings, not patterns.
MAY_IMPORT: dict[str, tuple[str, ...]] = {
    "messages": (),
    "errors": ("messages",),
    "options": (),
    "deciding_options": (),
    "statistics": ("messages",),
    "progress": ("messages",),
    "rows": (),
    "clock": (),
    "stopping": (),
    "journal": ("errors", "messages", "clock"),
    "reading": ("errors", "messages"),
    "processes": ("errors", "messages"),
    "remote": ("errors", "messages", "progress", "reading"),
    "patterns": ("errors", "messages", "reading", "corpora", "matching"),
    "corpora": ("errors", "messages", "deciding_options", "reading", "remote"),
    "matching": ("errors", "messages"),
    "index_files": (
        "errors",
        "messages",
        "progress",
        "stopping",
        "remote",
        "reading",
        "processes",
        "corpora",
        "matching",
    ),
    "serve": (
        "errors",
        "messages",
        "progress",
        "stopping",
        "processes",
        "index_files",
        "statistics",
        "patterns",
        "indexes",
        "prevalence",
    ),
    "indexes": (
        "errors",
        "messages",
        "rows",
        "options",
        "deciding_options",
        "reading",
        "progress",
        "stopping",
        "clock",
        "journal",
        "remote",
        "processes",
        "statistics",
        "corpora",
        "matching",
        "index_files",
    ),
    "prevalence": (
        "errors",
        "messages",
        "rows",
        "progress",
        "stopping",
        "reading",
        "statistics",
        "patterns",
        "matching",
        "indexes",
        "outputs",
    ),
    "outputs": ("errors", "messages", "rows", "statistics", "reading", "patterns", "matching"),
    "reporting": (
        "errors",
        "messages",
        "rows",
        "options",
        "progress",
        "clock",
        "journal",
        "reading",
        "statistics",
        "indexes",
        "prevalence",
        "outputs",
    ),
    "commands": ("*",),
    "synonyms": ("reporting",),
    "cli": ("reporting", "indexes", "patterns", "reading", "synonyms"),
    "__main__": ("cli",),
    "": ("commands", "errors"),
}
# Of these evalcore may import: they have nothing to do with corpora.
SHARED = (
    "errors",
    "messages",
    "options",
    "progress",
    "rows",
    "clock",
    "journal",
    "processes",
    "reading",
    "remote",
    "statistics",
    "reporting",
)
# Each module of evalcore may import those before it, wherever the commands are.
EVALCORE = (
    "commands",
    "row_types",
    "options",
    "extraction",
    "formats",
    "benchmarks",
    "datasets",
    "prompts",
    "finish_reasons",
    "records",
    "chat_replies",
    "endpoint",
    "sandbox",
    "rules",
    "run",
    "path_names",
    "scales",
    "table_ids",
    "simple_tables",
    "scores",
    "epochs",
    "documents",
    "logs",
    "score",
    "judge_sample",
    "judge_replies",
    "judgements",
    "judge",
    "labels",
    "paired_tests",
    "answer_table",
    "messages",
    "score_options",
    "pairing",
    "compare_rows",
    "compare",
    "rank",
    "pilots",
    "plan",
    "prevalence_links",
    "link",
    "outcomes_rows",
    "outcomes",
    "efficiency_rows",
    "efficiency",
    "show",
    "agreement",
    "synonyms",
    "cli",
    "__main__",
)
# Imported in functions, since they are slow to import and not needed by every command.
DELAYED = (
    "dask",
    "fastwarc",
    "fsspec",
    "httpx",
    "hyperscan",
    "latex2sympy2_extended",
    "math_verify",
    "matplotlib",
    "numba",
    "numpy",
    "lz4",
    "pandas",
    "pyarrow",
    "re2",
    "requests",
    "rich",
    "scipy",
    "sympy",
    "jinja2",
    "markupsafe",
    "sentencepiece",
    "tokenizers",
    "evalcore",
    "ngramscan",
    "yarl",
)


def room_of(module: str) -> str:
    module = module.replace("evalcore.commands.", "evalcore.")
    return module.split(".")[1] if "." in module else ""


def allowed_for(module: str) -> set[str]:
    room = room_of(module)
    if module.startswith("evalcore"):
        # The package itself has no name and imports what its commands need.
        order = (*EVALCORE[:-2], "", *EVALCORE[-2:])
        return {*order[: order.index(room) + 1]}
    allowed = MAY_IMPORT[room]
    return {*MAY_IMPORT} - {"cli"} if allowed == ("*",) else {room, *allowed}


def imports(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "absolute imports only"
            # `from ngramscan import commands` is an import of ngramscan.commands.
            submodules = [f"{node.module}.{alias.name}" for alias in node.names]
            yield from [name for name in submodules if name in MODULES] or [node.module or ""]


@cache
def tree_of(module: str) -> ast.Module:
    return ast.parse(MODULES[module].read_text())


def strays(module: str) -> Iterator[str]:
    """Yield what a module imports though its room may not."""
    package, tree = module.split(".", maxsplit=1)[0], tree_of(module)
    for name in imports(tree):
        if name.startswith(f"{package}."):
            is_allowed = room_of(name) in allowed_for(module)
        elif name.startswith("ngramscan."):
            of_ours = name.startswith("ngramscan.reporting.tables")
            is_allowed = room_of(name) in SHARED and not of_ours
        else:
            is_allowed = not name.startswith("evalcore")
        if not is_allowed:
            yield name
    for function in ast.walk(tree):
        if isinstance(function, ast.FunctionDef):
            delayed = {name.split(".")[0] for name in imports(function)}
            yield from (f"{name}, in a function" for name in delayed.difference(DELAYED))


def test_imports_follow_the_flow_of_data() -> None:
    found = {module: [*strays(module)] for module in MODULES}
    assert {module: names for module, names in found.items() if names} == {}


def declared_libraries() -> set[str]:
    """Return the libraries that an installation has, with any extra but that for tests."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    lists = [project["dependencies"], *(extras[name] for name in extras.keys() - {"test"})]
    names = (re.match(r"[\w.-]+", line) for lines in lists for line in lines)
    return {re.sub(r"[-_.]+", "-", name[0]).lower() for name in names if name}


def test_every_library_that_is_imported_is_declared() -> None:
    imported = {name.split(".")[0] for module in MODULES for name in imports(tree_of(module))}
    # compression: in the library of Python 3.14.
    known = {"ngramscan", "evalcore", "compression", *sys.stdlib_module_names}
    declared, found_in = declared_libraries(), packages_distributions()
    undeclared = {
        name
        for name in imported - known
        if not declared & {re.sub(r"[-_.]+", "-", one).lower() for one in found_in[name]}
    }
    assert not undeclared


def test_the_formats_of_index_files_share_a_base_and_nothing_else() -> None:
    formats = ("ngramscan.index_files.fm9", "ngramscan.index_files.tokens")
    foreign = [
        f"{module} imports {name}"
        for own, another in permutations(formats)
        for module in MODULES
        if module == own or module.startswith(f"{own}.")
        for name in imports(tree_of(module))
        if name.startswith(another)
    ]
    assert foreign == []


def loaded_by(statement: str) -> set[str]:
    program = f"import sys; {statement}; print(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    return {name.split(".")[0] for name in done.stdout.split()}


def test_importing_the_package_loads_nothing_heavy() -> None:
    late = {"pandas", "pyarrow", "scipy", "matplotlib", "httpx", "dask", "fsspec"}
    heavy = {*late, "numpy", "hyperscan"}
    modules = ("ngramscan", "ngramscan.cli", "evalcore", "evalcore.cli")
    assert not [module for module in modules if heavy & loaded_by(f"import {module}")]
    assert not heavy & loaded_by("import ngramscan.commands.count")
    worker = loaded_by(
        "import ngramscan.indexes.scan.counting, ngramscan.indexes.scan.window_tasks"
    )
    assert not {*heavy, "rich", "click"} & worker


@pytest.mark.parametrize("package", [ngramscan, evalcore])
def test_no_module_of_a_package_bears_the_name_of_a_function(package: types.ModuleType) -> None:
    # Whoever imported such a module would put it where the function was.
    names = package.__all__
    assert not {f"{package.__name__}.{name}" for name in names} & MODULES.keys()
