"""Put small faults into modules, one at a time, and tell which of them no test notices.

    just mutate ngramscan/statistics --sample 100

The tests run once with coverage first, so that a fault is tried by the tests alone that run its
line, the quickest first. Everything happens in copies of the tree; lines of survivors.csv, which
has a reason for each, are passed over.
"""

from __future__ import annotations

import ast
import copy
import csv
import importlib
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast
from xml.etree import ElementTree

import click
import pytest
from coverage import CoverageData

ROOT = Path(__file__).resolve().parent.parent
SURVIVORS = Path(__file__).with_name("survivors.csv")
MOST_TESTS, MOST_SECONDS = 1500, 60.0
"""Of a line that very many tests run, only the quickest ones try a fault."""
CONTEXT_ENDS = r"^none\||(\|(setup|run|teardown)| \((setup|call|teardown)\))$"
"""What coverage and pytest put around the name of a test."""
SWAPPED: dict[type[ast.AST], type[ast.AST]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.And: ast.Or,
    ast.Or: ast.And,
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Div,
    ast.Mod: ast.Mult,
    ast.Pow: ast.Mult,
}
RENAMED = {"min": "max", "max": "min", "any": "all", "all": "any", "floor": "ceil", "ceil": "floor"}


@dataclass(frozen=True)
class Fault:
    """One change of a module; `before` and `after` are the statement that it stands in."""

    path: str
    lines: range
    before: str
    after: str
    text: str

    def __str__(self) -> str:
        return f"{self.path}:{self.lines.start}\n  - {self.before}\n  + {self.after}"


def with_another(node: ast.AST) -> ast.AST | None:
    """Return a node with another operator or function, or None where it has none of ours."""
    other: Any = copy.deepcopy(node)
    match node:
        case ast.Compare(ops=[op]) if type(op) in SWAPPED:
            other.ops = [SWAPPED[type(op)]()]
        case ast.BinOp(op=op) | ast.BoolOp(op=op) if type(op) in SWAPPED:
            other.op = SWAPPED[type(op)]()
        case ast.Name(id=name) if name in RENAMED:
            other.id = RENAMED[name]
        case ast.Attribute(attr=name) if name in RENAMED:
            other.attr = RENAMED[name]
        case ast.If(test=test) | ast.IfExp(test=test) | ast.While(test=test):
            other.test = ast.UnaryOp(ast.Not(), test)
        case _:
            return None
    return cast(ast.AST, other)


def another_value(value: object) -> object:
    """Return another constant of the same type; None where there is none."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return value + 1
    if isinstance(value, float):
        return value * 1.25 + 0.01
    if not isinstance(value, str) or not value.strip("?"):
        return None
    return value[:-1] if value.endswith("?") else f"{value[:-1]}?"


def replacement(node: ast.AST) -> ast.AST | None:
    """Return what a node may be replaced by, a fault that a person could make."""
    match node:
        case ast.UnaryOp(op=ast.Not() | ast.USub(), operand=operand):
            return operand
        case ast.Constant(value=value):
            other = another_value(value)
            return None if other is None else ast.Constant(other)  # type: ignore[arg-type]
        case ast.Continue():
            return ast.Break()
        case ast.AugAssign() | ast.Expr(value=ast.Call()) | ast.Raise():
            return ast.Pass()
    return with_another(node)


def is_passed_over(node: ast.AST) -> bool:
    """Whether a node is a docstring, a type, or what only tells the type checker."""
    match node:
        case ast.Expr(value=ast.Constant()) | ast.ImportFrom() | ast.Import():
            return True
        case ast.If(test=ast.Name(id="TYPE_CHECKING")):
            return True
        case ast.Call(func=ast.Name(id="cast" | "TypeVar" | "NewType")):
            return True
    return False


def places(node: ast.AST, statement: ast.AST) -> Iterator[tuple[Any, str, int | None, ast.AST]]:
    """Yield the places of nodes that may be replaced, each with the statement that it stands in."""
    for field, value in ast.iter_fields(node):
        if field in ("annotation", "returns", "decorator_list", "type_params"):
            continue
        for number, child in enumerate(value) if isinstance(value, list) else [(None, value)]:
            if not isinstance(child, ast.AST) or is_passed_over(child):
                continue
            within = child if isinstance(child, ast.stmt) else statement
            yield node, field, number, within
            yield from places(child, within)


def put(parent: Any, field: str, number: int | None, node: ast.AST) -> None:
    if number is None:
        setattr(parent, field, node)
    else:
        getattr(parent, field)[number] = node


def first_lines(statement: ast.AST) -> str:
    """Return a statement on one line, without the statements below it."""
    shown = copy.copy(statement)
    for field in ("body", "orelse", "finalbody", "handlers"):
        if isinstance(getattr(shown, field, None), list):
            setattr(shown, field, [])
    return " ".join(ast.unparse(ast.fix_missing_locations(shown)).split())


def lines_of(statement: Any) -> range:
    """Return the lines of a statement; of one with a body its head alone, of a function its all.

    None of one that is run at import, even if tests run functions that it has.
    """
    if not (statement.col_offset or isinstance(statement, ast.FunctionDef)):
        return range(statement.lineno, statement.lineno)
    body = [] if isinstance(statement, ast.FunctionDef) else getattr(statement, "body", [])
    return range(statement.lineno, body[0].lineno if body else statement.end_lineno + 1)


def faults_of(root: Path, path: str) -> Iterator[Fault]:
    tree = ast.parse((root / path).read_text(encoding="utf-8"))
    found = [each for top in tree.body if not is_passed_over(top) for each in places(top, top)]
    for parent, field, number, statement in found:
        value = getattr(parent, field)
        node = value if number is None else value[number]
        before = first_lines(statement)
        if (other := replacement(node)) is not None:
            put(parent, field, number, other)
            after = first_lines(other if node is statement else statement)
            text = ast.unparse(ast.fix_missing_locations(tree))
            put(parent, field, number, node)
            yield Fault(path, lines_of(statement), before, after, text)


def unchanged(faults: Sequence[Fault]) -> list[Fault]:
    """Return no fault at all, in the module of the first one, which no test may notice."""
    if not faults:
        return []
    path, text = faults[0].path, (ROOT / faults[0].path).read_text(encoding="utf-8")
    return [Fault(path, range(1, 1 + text.count("\n")), "", "", ast.unparse(ast.parse(text)))]


def environment(copied: Path) -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(copied), "PYTHONHASHSEED": "0"}


def copy_tree(folder: Path) -> Path:
    """Copy the tree to a folder of its own, beside a link to the shared data."""
    folder.mkdir(parents=True)
    if (ROOT.parent / "shared").is_dir():
        (folder / "shared").symlink_to(ROOT.parent / "shared")
    left_out = shutil.ignore_patterns(".mutation", ".venv")
    return Path(shutil.copytree(ROOT, folder / "tree", ignore=left_out))


def measure(folder: Path, chosen: tuple[str, ...]) -> None:
    """Run tests once with coverage, also of programs that they start, and keep who ran what."""
    folder.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as temporary:
        copied, data = copy_tree(Path(temporary) / "copy"), Path(temporary) / "data"
        settings = Path(temporary) / "settings"
        settings.write_text(
            f"[run]\nsource = {copied / 'ngramscan'},{copied / 'evalcore'}\ndata_file = {data}\n"
            "patch = subprocess\nparallel = true\ncontext = ${PYTEST_CURRENT_TEST-none}\n"
        )
        coverage = ["--cov", f"--cov-config={settings}", "--cov-context=test", "--cov-report="]
        argv = [sys.executable, "-m", "pytest", "-q", *coverage, f"--junitxml={folder / 'report'}"]
        environ = environment(copied)
        if subprocess.run([*argv, *chosen], cwd=copied, env=environ, check=False).returncode:
            raise click.ClickException("tests fail without any fault; mend them first")
        keep(CoverageData(str(data)), ElementTree.parse(folder / "report"), copied, folder)


def keep(data: CoverageData, report: Any, copied: Path, folder: Path) -> None:
    """Write who ran what: for each module and line, the tests that ran it, the quickest first."""
    data.read()
    seconds = {
        f"{case.attrib['classname'].replace('.', '/')}.py::{case.attrib['name']}": float(
            case.attrib["time"]
        )
        for case in report.iter("testcase")
    }
    known: dict[str, dict[int, list[str]]] = {name: {} for name in data.measured_files()}
    for name in data.measured_files():
        for line, contexts in data.contexts_by_lineno(name).items():
            tests = {re.sub(CONTEXT_ENDS, "", context) for context in contexts} & seconds.keys()
            known[name][line] = sorted(tests, key=seconds.__getitem__)
    relative = {str(Path(name).relative_to(copied)): lines for name, lines in known.items()}
    (folder / "tests.json").write_text(json.dumps([seconds, relative]))


def run_tests(copied: Path, chosen: Sequence[str], log: Path) -> int:
    """Run tests in a copy of the tree, in a process that has imported nothing of ours yet."""
    os.setsid()
    with log.open("wb") as file:
        os.dup2(file.fileno(), 1)
        os.dup2(file.fileno(), 2)
    os.chdir(copied)
    os.environ.update(environment(copied))
    sys.path.insert(0, str(copied))
    options = ["-q", "-x", "-n0", "-p", "no:cacheprovider", "--override-ini=addopts="]
    options += ["--import-mode=importlib"]  # modules in two folders may have the same name
    return int(pytest.main([*options, f"--rootdir={copied}", *chosen]))


class Trial:
    """A fault that is being tried in a copy of the tree, which is as before afterwards."""

    def __init__(self, fault: Fault, chosen: Sequence[str], seconds: float, copied: Path) -> None:
        self.fault, self.copied, self.noticed = fault, copied, False
        self.path = copied / fault.path
        self.original = self.path.read_bytes()
        self.path.write_text(fault.text, encoding="utf-8")
        self.until = time.monotonic() + 20 + 5 * seconds
        self.process = os.fork()
        if self.process == 0:
            code = 1
            try:
                code = run_tests(copied, chosen, copied.parent / "log")
                sys.stdout.flush()
            finally:
                os._exit(code)

    def has_ended(self) -> bool:
        ended, status = os.waitpid(self.process, os.WNOHANG)
        is_late = time.monotonic() > self.until
        if not ended and not is_late:
            return False
        with suppress(ProcessLookupError):
            os.killpg(self.process, signal.SIGKILL)
        if not ended:
            os.waitpid(self.process, 0)
        self.noticed = is_late or os.waitstatus_to_exitcode(status) != 0
        self.path.write_bytes(self.original)
        return True


def chosen_tests(fault: Fault, seconds: dict[str, float], ran: dict[str, list[str]]) -> list[str]:
    """Return the tests that run a fault's lines; of what is run at import, those of the module."""
    of_lines = {test for line in fault.lines for test in ran.get(str(line), ())}
    tests = of_lines or {test for each in ran.values() for test in each}
    quickest, chosen = sorted(tests, key=seconds.__getitem__)[:MOST_TESTS], list[str]()
    for test in quickest:
        if sum(map(seconds.__getitem__, chosen)) < MOST_SECONDS:
            chosen.append(test)
    return chosen


def try_all(faults: Sequence[Fault], folder: Path, workers: int) -> Iterator[tuple[Fault, bool]]:
    """Yield each fault and whether a test noticed it."""
    seconds, ran = json.loads((folder / "tests.json").read_text())
    for library in ("numpy", "scipy.stats", "scipy.optimize", "pandas", "numba"):
        importlib.import_module(library)  # once, and not for every fault
    waiting, running = list(reversed(faults)), list[Trial]()
    with tempfile.TemporaryDirectory() as temporary:
        free = [copy_tree(Path(temporary) / str(number)) for number in range(workers)]
        while waiting or running:
            while waiting and free:
                fault = waiting.pop()
                chosen = chosen_tests(fault, seconds, ran.get(fault.path, {}))
                if not chosen:
                    yield fault, False
                    continue
                lasting = sum(map(seconds.__getitem__, chosen))
                running.append(Trial(fault, chosen, lasting, free.pop()))
            for trial in [each for each in running if each.has_ended()]:
                running.remove(trial)
                free.append(trial.copied)
                yield trial.fault, trial.noticed
            time.sleep(0.02)


@click.command()
@click.argument("paths", nargs=-1, required=True)
@click.option("--sample", type=int, help="Try only so many faults of each path, drawn by a seed.")
@click.option("--seed", default=0, show_default=True)
@click.option("--workers", default=2, show_default=True)
@click.option("--tests", "chosen", multiple=True, help="Tests to use; all by default.")
@click.option("--again", is_flag=True, help="Ask anew which tests run which lines.")
def main(
    paths: tuple[str, ...],
    sample: int | None,
    seed: int,
    workers: int,
    chosen: tuple[str, ...],
    again: bool,
) -> None:
    """Put small faults into modules, one at a time, and list those that no test notices."""
    folder = ROOT / ".mutation"
    if again or not (folder / "tests.json").exists():
        measure(folder, chosen)
    with SURVIVORS.open(encoding="utf-8", newline="") as file:
        listed = {(row["path"], row["before"], row["after"]) for row in csv.DictReader(file)}
    missed = Counter[str]()
    for path in paths:
        modules = sorted((ROOT / path).rglob("*.py")) or [ROOT / path]
        names = [str(each.relative_to(ROOT)) for each in modules]
        faults = [fault for name in names for fault in faults_of(ROOT, name)]
        known = [each for each in faults if (each.path, each.before, each.after) in listed]
        tried = [each for each in faults if each not in known]
        if sample is not None:
            tried = random.Random(seed).sample(tried, min(sample, len(tried)))
        for fault, noticed in try_all([*unchanged(tried), *tried], folder, workers):
            if not fault.before and noticed:
                raise click.ClickException(f"{fault.path}: tests fail though nothing is changed")
            if fault.before and not noticed:
                missed[path] += 1
                click.echo(fault)
        share = 1 - missed[path] / max(1, len(tried))
        click.echo(f"{path}: {share:.1%} of {len(tried)} noticed, {len(known)} listed")
    sys.exit(bool(missed))


if __name__ == "__main__":
    main()
