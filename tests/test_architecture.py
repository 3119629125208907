"""The house as docs/architecture.md draws it, read off the syntax trees."""

import ast
import re
import subprocess
import sys
import tomllib
import types
from collections.abc import Iterator
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

import evalcore
import ngramscan

ROOT = Path(__file__).resolve().parent.parent
MODULES = {
    ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path
    for package in ("ngramscan", "evalcore")
    for path in sorted((ROOT / package).rglob("*.py"))
}

# What a room of ngramscan may import of the others; an index knows strings, not patterns.
MAY_IMPORT = {
    "errors": "",
    "options": "",
    "statistics": "",
    "progress": "",
    "clock": "",
    "journal": "errors clock",
    "reading": "errors",
    "processes": "errors",
    "remote": "errors progress",
    "patterns": "errors reading",
    "corpora": "errors reading remote",
    "matching": "errors",
    "index_files": "errors progress remote reading processes corpora",
    "serve": "errors progress processes index_files statistics patterns indexes prevalence",
    "indexes": "errors options reading progress clock journal remote processes statistics corpora"
    " matching index_files",
    "prevalence": "errors reading statistics patterns matching indexes",
    "outputs": "errors statistics reading patterns matching",
    "reporting": "errors options progress clock journal reading statistics indexes prevalence"
    " outputs",
    "commands": "*",
    "cli": "reporting indexes patterns reading",
    "__main__": "cli",
    "": "commands errors",
}
# Of these evalcore may import: they have nothing to do with corpora.
SHARED = {
    *("errors", "options", "progress", "clock", "journal", "reading", "remote", "statistics"),
    "reporting",
}
# Each module of evalcore may import those before it, wherever the commands are.
EVALCORE = (
    "commands",
    *("options", "formats", "benchmarks", "prompts", "records", "endpoint", "run", "sandbox"),
    *("extraction", "rules", "scores", "score", "judge_sample", "judge", "logs", "paired_tests"),
    *("pairing", "compare", "prevalence_links", "link", "outcomes", "efficiency", "show"),
    *("agreement", "claim_formulas"),
    *("audit", "", "cli", "__main__"),
)
# Imported in functions, since they are slow to import and not needed by every command.
DELAYED = {
    *("dask", "fastwarc", "fsspec", "httpx", "hyperscan", "latex2sympy2_extended", "math_verify"),
    *(
        "matplotlib",
        "numba",
        "numpy",
        "pandas",
        "pyarrow",
        "re2",
        "requests",
        "rich",
        "scipy",
        "sympy",
    ),
    *("jinja2", "markupsafe", "sentencepiece", "tokenizers"),
    *("evalcore", "ngramscan"),
}


def room_of(module: str) -> str:
    module = module.replace("evalcore.commands.", "evalcore.")
    return module.split(".")[1] if "." in module else ""


def allowed_for(module: str) -> set[str]:
    room = room_of(module)
    if module.startswith("evalcore"):
        return {*EVALCORE[: EVALCORE.index(room) + 1]}
    allowed = MAY_IMPORT[room].split()
    return {*MAY_IMPORT} - {"cli"} if allowed == ["*"] else {room, *allowed}


def imports(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "absolute imports only"
            # `from ngramscan import commands` is an import of ngramscan.commands.
            submodules = [f"{node.module}.{alias.name}" for alias in node.names]
            yield from [name for name in submodules if name in MODULES] or [node.module or ""]


def strays(module: str, tree: ast.Module) -> Iterator[str]:
    """Yield what a module imports though its room may not."""
    package = module.split(".", maxsplit=1)[0]
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
            yield from (f"{name}, in a function" for name in delayed - DELAYED)


def test_imports_follow_the_flow_of_data() -> None:
    found = {
        module: [*strays(module, ast.parse(path.read_text(encoding="utf-8")))]
        for module, path in MODULES.items()
    }
    assert {module: names for module, names in found.items() if names} == {}


def declared_libraries() -> set[str]:
    """Return the libraries that an installation has, with any extra but that for tests."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    lists = [project["dependencies"], *(extras[name] for name in extras.keys() - {"test"})]
    names = (re.match(r"[\w.-]+", line) for lines in lists for line in lines)
    return {re.sub(r"[-_.]+", "-", name[0]).lower() for name in names if name}


def test_every_library_that_is_imported_is_declared() -> None:
    imported = {
        name.split(".")[0]
        for path in MODULES.values()
        for name in imports(ast.parse(path.read_text(encoding="utf-8")))
    }
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
    for module, path in MODULES.items():
        if module.startswith("ngramscan.index_files."):
            home = module.split(".")[2]
            others = {"fm9", "tokens"} - {home}
            for name in imports(ast.parse(path.read_text(encoding="utf-8"))):
                assert not name.startswith(
                    tuple(f"ngramscan.index_files.{other}" for other in others)
                ), f"{module} imports {name}"


def test_the_rule_names_every_room_and_no_other() -> None:
    named = {f"ngramscan.{name}".rstrip(".") for name in MAY_IMPORT}
    named |= {f"evalcore.{name}".rstrip(".") for name in EVALCORE}
    rooms = (module.replace("evalcore.commands.", "evalcore.") for module in MODULES)
    assert {".".join(room.split(".")[:2]) for room in rooms} == named


def loaded_by(statement: str) -> set[str]:
    program = f"import sys; {statement}; print(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    return {name.split(".")[0] for name in done.stdout.split()}


def test_importing_the_package_loads_nothing_heavy() -> None:
    late = {"pandas", "pyarrow", "scipy", "matplotlib", "httpx", "dask", "fsspec"}
    heavy = {*late, "numpy", "hyperscan"}
    for module in ("ngramscan", "ngramscan.cli", "evalcore", "evalcore.cli"):
        assert not heavy & loaded_by(f"import {module}")
    assert not heavy & loaded_by("import ngramscan.commands.count")
    worker = loaded_by(
        "import ngramscan.indexes.scan.counting, ngramscan.indexes.scan.window_tasks"
    )
    assert not {*heavy, "rich", "click"} & worker


@pytest.mark.parametrize("package", [ngramscan, evalcore])
def test_the_public_names_are_sorted_and_there(package: object) -> None:
    names = package.__all__  # type: ignore[attr-defined]
    assert names == sorted(names)
    assert all(callable(getattr(package, name)) for name in names)


@pytest.mark.parametrize("package", [ngramscan, evalcore])
def test_no_module_of_a_package_bears_the_name_of_a_function(package: types.ModuleType) -> None:
    # Whoever imported such a module would put it where the function was.
    names = package.__all__
    assert not {f"{package.__name__}.{name}" for name in names} & MODULES.keys()


@pytest.mark.parametrize(
    ("room", "word", "row_type"),
    [
        ("prevalence", "count", "CountRow"),
        ("prevalence", "docnorm", "DocnormRow"),
        ("prevalence", "contexts", "ContextRow"),
        ("prevalence", "contaminate", "EntryRow"),
        ("prevalence", "trace", "TraceRow"),
        ("outputs", "blend", "BlendRow"),
        ("outputs", "tiers", "TierRow"),
        ("outputs", "keyness", "KeynessRow"),
        ("outputs", "strategies", "StrategyRow"),
    ],
)
def test_a_command_bears_one_word_everywhere(room: str, word: str, row_type: str) -> None:
    for package in ("commands", room, "reporting.tables"):
        assert f"ngramscan.{package}.{word}" in MODULES
    assert f"class {row_type}" in MODULES[f"ngramscan.{room}.{word}"].read_text()
    assert (ROOT / "docs" / f"{word}.md").is_file()


def test_every_command_has_a_page() -> None:
    words = [name.split(".")[2] for name in MODULES if name.startswith("ngramscan.commands.")]
    words.remove("shared")
    assert not [word for word in words if not (ROOT / "docs" / f"{word}.md").is_file()]


# The size of things: what is longer is several things


def test_the_root_has_few_modules() -> None:
    assert len([*(ROOT / "ngramscan").glob("*.py")]) <= 8
