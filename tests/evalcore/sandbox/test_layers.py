"""The layers of the sandbox: which of them hold on a machine, and what they leave."""

import json
import math
import re
import sys
from pathlib import Path

import pytest

from evalcore.sandbox import layers
from evalcore.sandbox.layers import ProgramLimits
from evalcore.sandbox.sandbox import Sandbox
from tests.support.command import invoke
from tests.support.sandbox_programs import (
    PROGRAMS,
    SMALL,
    answer,
    answer_of_file,
    outcome_of,
    require_all_layers,
    run_first,
)

needs_all_layers = pytest.mark.usefixtures("all_layers")


@pytest.fixture(scope="module")
def all_layers() -> None:
    require_all_layers()


@needs_all_layers
@pytest.mark.parametrize("missing", [None, *layers.NAMES])
def test_without_a_layer_programs_read_packages_and_no_other_folders(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, missing: str | None
) -> None:
    packages = tmp_path / "site-packages"
    inside = packages / "inside" / "site-packages"
    inside.mkdir(parents=True)
    for folder, name in ((tmp_path, "own"), (packages, "installed"), (inside, "deep")):
        (folder / f"{name}.py").write_text("x = 1\n")
    monkeypatch.setattr(sys, "path", ["", str(tmp_path), str(packages), str(inside), "/no"])
    states = {n: "missing: left out on request" if n == missing else "ok" for n in layers.NAMES}
    with Sandbox(SMALL, leave_out=[missing] if missing else []) as made:
        outcome = outcome_of(made, answer("import installed, deep\nanswer = installed.x + deep.x"))
        assert (outcome.value, outcome.layers, made.layers) == (2, states, states)
        assert outcome_of(made, answer("import own")).message.startswith("ModuleNotFoundError")
        assert outcome_of(made, answer(f"open({str(tmp_path / 'own.py')!r})")).status == "error"


@needs_all_layers
@pytest.mark.parametrize(
    ("code", "states"),
    [
        pytest.param(
            (PROGRAMS / "refusing_kernel.py").read_text(),
            {
                "limits": "missing: a b",
                "privileges": "missing: nope",
                "namespaces": "missing: the trial ended with status 3",
                "landlock": "missing: the trial ended with status -9",
                "seccomp": "missing: .*no_such_function",
            },
            id="refusing",
        ),
        pytest.param(
            (PROGRAMS / "idle_kernel.py").read_text(),
            {
                "limits": "ok",
                "privileges": "ok",
                "namespaces": "missing: accepted, but the new world shows the old one",
                "landlock": "missing: accepted, but the root folder can be listed",
                "seccomp": "missing: accepted, but a socket could be made",
            },
            id="idle",
        ),
        pytest.param(
            "kernel.NEW_USERS, platform.machine = -1, lambda: 'riscv64'",
            {
                "limits": "ok",
                "privileges": "ok",
                "namespaces": "missing: unshare: Invalid argument",
                "landlock": "ok",
                "seccomp": "missing: the system calls of riscv64 are not known",
            },
            id="other machine",
        ),
    ],
)
def test_a_layer_that_the_kernel_refuses_or_does_not_keep_is_missing(
    monkeypatch: pytest.MonkeyPatch, code: str, states: dict[str, str]
) -> None:
    run_first(monkeypatch, code)
    with Sandbox(SMALL, allow_weak=True) as made:
        assert list(made.layers) == list(states)
        wrong = {
            name: state
            for name, state in made.layers.items()
            if not re.fullmatch(states[name], state)
        }
    assert wrong == {}


@needs_all_layers
def test_rows_and_a_warning_name_a_layer_that_is_missing(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    run_first(monkeypatch, "platform.machine = lambda: 'riscv64'")
    data, outputs = tmp_path / "q.jsonl", tmp_path / "q/m/pot.jsonl"
    outputs.parent.mkdir(parents=True)
    data.write_text('{"id": "1", "question": "?", "answer": "12"}\n')
    program = "```python\ndef solution():\n    return 12\n```"
    outputs.write_text(json.dumps({"id": "1", "output": program}) + "\n")
    options = ("--data", data, "--rule", "numbers", "-o", "-", "--format", "csv")
    ran = invoke("score", tmp_path / "q", *options)
    assert ran.code == 0
    (row,) = ran.rows
    missing = "missing: the system calls of riscv64 are not known"
    assert row["value"] == "1.0"
    assert row["sandbox"].endswith(f"landlock ok; seccomp {missing}")
    assert f"Warning: sandbox without seccomp ({missing})\n" in ran.stderr


@needs_all_layers
@pytest.mark.parametrize("version", [1, 3, 4])
def test_landlock_of_older_kernels_protects_files(
    monkeypatch: pytest.MonkeyPatch, version: int
) -> None:
    asks = f"{version} if each[2:] == (444, None, 0, 1) else real(*each)"
    run_first(monkeypatch, f"real = kernel.call\nkernel.call = lambda *each: {asks}")
    with Sandbox(SMALL, leave_out=["namespaces", "seccomp"]) as made:
        assert made.layers["landlock"] == "ok"
        assert outcome_of(made, answer("open('own', 'w').close()\nanswer = 1")).value == 1
        tried = [outcome_of(made, answer(f"open({path!r})")) for path in ("/etc/passwd", __file__)]
        assert [one.message.partition(":")[0] for one in tried] == ["PermissionError"] * 2


def test_a_program_has_the_resources_that_security_md_names() -> None:
    with Sandbox(allow_weak=True) as sandbox:
        (found,) = sandbox.run([answer_of_file("own_limits.py")])
    memory, *others = json.loads(str(found.value))
    assert 1 << 30 <= memory < 1.2 * (1 << 30), "more is what Python itself takes"
    assert others == [64, math.ceil(ProgramLimits().seconds) + 1, 0, 4096]
