"""Programs for a sandbox, and sandboxes on machines that lack something."""

from pathlib import Path
from typing import Any

import pytest

from evalcore.sandbox import sandbox as sandbox_module
from evalcore.sandbox.layers import ProgramLimits
from evalcore.sandbox.sandbox import Outcome, Program, Sandbox
from ngramscan.errors import SandboxError

SMALL = ProgramLimits(seconds=60, memory_bytes=64 << 20, result_bytes=8192)
PROGRAMS = Path(__file__).with_name("programs")


def solution(body: str) -> Program:
    """Return a program whose function `solution` has this body."""
    return Program(f"def solution():\n    {body}")


def answer(source: str) -> Program:
    """Return a program whose variable `answer` counts."""
    return Program(source, "answer")


def answer_of_file(name: str) -> Program:
    """Return such a program of tests/support/programs."""
    return answer((PROGRAMS / name).read_text())


def forging(told: bytes, then: str = "os._exit(0)") -> Program:
    """Return a program that writes its result itself."""
    return answer(f"import os\nos.write(3, {told!r})\n{then}")


def outcome_of(sandbox: Sandbox, program: Program) -> Outcome:
    """Return the outcome of one program."""
    (outcome,) = sandbox.run([program])
    return outcome


def error_of(**options: Any) -> str:
    """Return the error of a sandbox that can't be made, or can't run anything."""
    with pytest.raises(SandboxError) as caught, Sandbox(SMALL, **options) as made:
        outcome_of(made, answer("answer = 1"))
    return str(caught.value)


def run_first(monkeypatch: pytest.MonkeyPatch, code: str) -> None:
    """Have the first process of each sandbox run a piece of code before it does anything."""
    before = "from evalcore.sandbox import kernel, layers, zygote\nimport platform"
    start = sandbox_module.START.replace("\nmain(", f"\n{before}\n{code}\nmain(")
    monkeypatch.setattr(sandbox_module, "START", start)


def require_all_layers() -> None:
    """Skip a test where the machine lacks a layer of the sandbox."""
    with Sandbox(SMALL, allow_weak=True) as made:
        missing = [f"{name} {state}" for name, state in made.layers.items() if state != "ok"]
    if missing:
        pytest.skip(f"this machine lacks layers of the sandbox: {missing}")
