"""The examples of docs/extending.md, done as it says in a copy of the package."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PAGE = (ROOT / "docs" / "extending.md").read_text(encoding="utf-8")
# The last name in backticks before a block says which file it is of.
BLOCK = re.compile(r"`([\w./-]+)`:\n\n```(?:yaml|csv|json|python)\n(.*?)```", re.DOTALL)
CONSOLE = re.compile(r"```console\n(.*?)```", re.DOTALL)


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the package in which each block of the page stands where the page says."""
    folder = tmp_path_factory.mktemp("copy")
    shutil.copytree(ROOT / "evalcore", folder / "evalcore")
    for name, text in BLOCK.findall(PAGE):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("a", encoding="utf-8") as file:
            file.write(text)
    return folder


@pytest.mark.parametrize(
    ("command", "shown"),
    [block.removeprefix("$ ").split("\n", 1) for block in CONSOLE.findall(PAGE)],
)
def test_a_command_of_the_page_prints_what_the_page_shows(
    command: str, shown: str, copy: Path
) -> None:
    name, *arguments = shlex.split(command)
    done = subprocess.run(
        [sys.executable, "-m", name, *arguments],
        cwd=copy,
        env={**os.environ, "PYTHONPATH": f"{copy}{os.pathsep}{ROOT}"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout.rstrip()) == (0, shown.rstrip()), done.stderr


def test_a_benchmark_a_method_and_a_rule_touch_one_file_each() -> None:
    for section in PAGE.split("\n## ")[1:]:
        touched = [name for name, _ in BLOCK.findall(section) if name.startswith("evalcore/")]
        assert len(touched) == 1, section
