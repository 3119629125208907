"""The house as it is drawn in docs/architecture.md, read off the syntax trees; and the linters."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
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

# What a module or package may import of ours: the data flows one way.
MAY_IMPORT = {
    "errors": [],
    "statistics": ["statistics"],
    "screen": [],
    "surrogates": [],
    "exchange": ["errors", "pace", "progress"],
    "regexes": [],
    "progress": ["screen"],
    "journal": ["errors"],
    "pace": ["errors"],
    "yaml_files": ["errors"],
    "output": ["errors", "output", "progress", "screen", "yaml_files"],
    "patterns": ["errors", "regexes", "yaml_files"],
    "overlaps": ["patterns"],
    "matching": ["errors"],
    "outputs": ["errors", "surrogates"],
    "markers": ["matching", "patterns", "regexes"],
    "marked": ["errors", "markers", "outputs", "patterns", "statistics"],
    "tier_ratios": ["blending", "marked", "markers", "outputs", "patterns", "statistics"],
    "blending": ["marked", "outputs", "patterns", "statistics"],
    "spread": ["errors"],
    "cluster": ["errors", "spread"],
    "scanning": ["errors", "corpora", "matching", "spread"],
    "excerpts": ["errors", "corpora", "matching", "scanning", "spread"],
    "corpora": ["errors", "corpora"],
    "fm9": ["errors", "progress", "corpora", "spread", "fm9"],
    "indexes": [
        *(
            "errors",
            "progress",
            "journal",
            "statistics",
            "corpora",
            "matching",
            "spread",
            "cluster",
        ),
        *("exchange", "pace", "scanning", "excerpts", "fm9", "indexes"),
    ],
    "counts": ["errors", "indexes", "patterns", "overlaps"],
    "totals": ["counts", "statistics", "indexes", "overlaps", "patterns"],
    "draws": ["indexes", "matching"],
    "document_estimates": ["statistics"],
    "documents": [
        *("errors", "counts", "draws", "document_estimates", "statistics", "indexes", "overlaps"),
        *("patterns", "totals"),
    ],
    "concordance": ["errors", "draws", "indexes"],
    "formulas": [],
    "strategy_rules": ["errors", "regexes", "yaml_files"],
    "strategy_shares": ["formulas", "outputs", "statistics", "regexes", "strategy_rules"],
    "figures": ["errors", "output", "figures"],
    "tokens": [],
    "ngrams": ["tokens"],
    "presence": [],
    "ngram_rates": ["ngrams", "presence"],
    "contrasts": ["ngram_rates", "ngrams", "presence", "tokens"],
    "serve": ["errors", "progress", "fm9", "serve", "spread"],
    "tables": [
        "blending",
        "concordance",
        "counts",
        "documents",
        "statistics",
        "indexes",
        "contrasts",
        "output",
        "progress",
        "strategy_shares",
        "tables",
        "tier_ratios",
        "totals",
    ],
    "commands": ["*"],
    "cli": ["*"],
    "__main__": ["cli"],
    "": ["commands"],
}
# evalcore may import of ngramscan only what has nothing to do with corpora.
SHARED_WITH_EVALCORE = {
    *("errors", "exchange", "pace", "screen", "surrogates", "journal", "output", "progress"),
    *("statistics", "yaml_files"),
}
# Of its own each module may import those before it, and types to draw figures of.
EVALCORE = (
    *("formats", "benchmarks", "prompts", "records", "endpoint", "run", "sandbox", "extraction"),
    *("rules", "scores", "figures", "score", "judge", "statistics", "pairing"),
    *("compare", "link", "logs", "outcomes", "efficiency", "agreement", "claim_formulas"),
    *("audit", "", "cli", "__main__"),
)
EVALCORE_MAY_IMPORT = {name: list(EVALCORE[: place + 1]) for place, name in enumerate(EVALCORE)}
EVALCORE_MAY_IMPORT["figures"] += ["efficiency", "link"]
# Delayed because they are slow to import and not needed by every command.
DELAYED = {
    "re2",
    "requests",
    "pandas",
    "numpy",
    "pyarrow",
    "scipy",
    "rich",
    "fsspec",
    "fastwarc",
    "dask",
    "matplotlib",
    "ngramscan",
    "evalcore",
    "httpx",
    "latex2sympy2_extended",
    "math_verify",
    "sympy",
}


def imports(tree: ast.AST) -> Iterator[tuple[str, ast.AST]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((alias.name, node) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "absolute imports only"
            module = node.module or ""
            # `from ngramscan import commands` is an import of ngramscan.commands.
            submodules = [f"{module}.{alias.name}" for alias in node.names]
            known = [name for name in submodules if name in MODULES]
            yield from ((name, node) for name in known or [module])


def part(module: str) -> str:
    """Return the module or package of ours below the top one."""
    return module.split(".")[1] if "." in module else ""


@pytest.mark.parametrize("module", MODULES)
def test_imports_follow_the_flow_of_data(module: str) -> None:
    own = module.split(".", maxsplit=1)[0]
    rules = {"ngramscan": MAY_IMPORT, "evalcore": EVALCORE_MAY_IMPORT}
    allowed = rules[own][part(module)]
    tree = ast.parse(MODULES[module].read_text(encoding="utf-8"))
    for name, _ in imports(tree):
        if name.split(".")[0] not in rules or name == "ngramscan":
            continue
        if name.split(".")[0] == own:
            assert "*" in allowed or part(name) in allowed, f"{module} imports {name}"
            assert part(name) != "cli" or part(module) in {"cli", "__main__"}
        else:
            assert own == "evalcore", f"{module} imports {name}"
            assert part(name) in SHARED_WITH_EVALCORE, f"{module} imports {name}"


def test_the_rule_names_every_module_and_no_other() -> None:
    named = {f"ngramscan.{name}".rstrip(".") for name in MAY_IMPORT}
    named |= {f"evalcore.{name}".rstrip(".") for name in EVALCORE_MAY_IMPORT}
    assert {".".join(module.split(".")[:2]) for module in MODULES} == named


@pytest.mark.parametrize("module", MODULES)
def test_only_heavy_libraries_are_imported_in_functions(module: str) -> None:
    tree = ast.parse(MODULES[module].read_text(encoding="utf-8"))
    for function in ast.walk(tree):
        if isinstance(function, ast.FunctionDef):
            for name, _ in imports(function):
                assert name.split(".")[0] in DELAYED, f"{module}.{function.name}: {name}"


def loaded_by(statement: str) -> set[str]:
    program = f"import sys; {statement}; print(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    return {name.split(".")[0] for name in done.stdout.split()}


def test_importing_the_package_loads_nothing_heavy() -> None:
    heavy = {"pandas", "pyarrow", "scipy", "numpy", "httpx", "matplotlib", "hyperscan"}
    assert not heavy & loaded_by("import ngramscan")
    assert not heavy & loaded_by("import ngramscan.cli")
    assert not heavy & loaded_by("import evalcore")
    assert not heavy & loaded_by("import evalcore.cli")
    late = {"pandas", "pyarrow", "scipy", "matplotlib", "httpx", "dask", "fsspec"}
    assert not late & loaded_by("import ngramscan.commands")
    for worker in ("scanning", "excerpts"):
        assert not {*late, "numpy", "rich", "click"} & loaded_by(f"import ngramscan.{worker}")


def test_the_public_names_are_sorted_and_there() -> None:
    for package in (ngramscan, evalcore):
        assert package.__all__ == sorted(package.__all__)
        for name in package.__all__:
            assert callable(getattr(package, name))


@pytest.mark.parametrize(
    "statement",
    [
        pytest.param("import evalcore.audit", id="the module"),
        pytest.param("from evalcore.audit import AuditRow", id="a name in the module"),
        pytest.param("import evalcore; evalcore.audit", id="the function"),
        pytest.param("from evalcore import audit; import evalcore.audit", id="one, then the other"),
    ],
)
def test_a_function_keeps_its_name_whoever_imports_its_module(statement: str) -> None:
    program = f"{statement}\nimport evalcore, inspect\nassert inspect.isfunction(evalcore.audit)"
    program += "\nfrom evalcore.audit import AuditRow, audit\nassert audit is evalcore.audit"
    subprocess.run([sys.executable, "-c", program], check=True)


@pytest.mark.parametrize(
    "command",
    [
        pytest.param(["ruff", "check"], id="ruff check"),
        pytest.param(["ruff", "format", "--check"], id="ruff format"),
        pytest.param(["mypy"], id="mypy --strict"),
    ],
)
def test_the_linters_have_nothing_to_say(command: list[str]) -> None:
    done = subprocess.run(
        [sys.executable, "-m", *command], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
