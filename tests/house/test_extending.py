"""A benchmark, a method and a rule that are added as docs/extending.md says do what it prints."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.places import ROOT

PAGE = (ROOT / "docs/extending.md").read_text()
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```", re.DOTALL | re.MULTILINE)
FILES = (
    "packages/evalcore/benchmarks/capitals.yaml",
    "capitals.csv",
    "outputs/capitals/some-model/cot.jsonl",
    "packages/evalcore/benchmarks/any-benchmark.yaml",
    "questions.jsonl",
    "packages/evalcore/rules/__init__.py",
    "outputs/questions/some-model/cot.jsonl",
)
"""The files that the page shows or extends, in its order."""
COPIED = 'evalcore() { "$PYTHON" -P -m evalcore "$@"; }; '
"""What runs the copy of the package instead of the installed one."""


def test_what_the_page_adds_to_the_package_does_what_it_prints(
    tmp_path: Path, subtests: pytest.Subtests
) -> None:
    for name in ("ngramscan", "evalcore"):
        shutil.copytree(ROOT / name, tmp_path / "packages" / name)
    blocks = BLOCK.findall(PAGE)
    shown = [text for kind, text in blocks if kind not in {"sh", "console"}]
    assert [name for name in FILES if Path(name).name not in PAGE] == []
    for name, text in zip(FILES, shown, strict=True):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        before = path.read_text() if path.exists() else ""
        path.write_text(before + text)
    printed = [text for kind, text in blocks if kind == "console"]
    assert len(printed) == 3
    for text in printed:
        command, _, expected = text.removeprefix("$ ").partition("\n")
        with subtests.test(command=command):
            done = subprocess.run(
                ["bash", "-c", COPIED + command],
                cwd=tmp_path,
                env={
                    **os.environ,
                    "PYTHONPATH": str(tmp_path / "packages"),
                    "PYTHON": sys.executable,
                },
                capture_output=True,
                text=True,
                check=False,
            )
            assert done.returncode == 0, done.stderr
            assert done.stdout.strip() == expected.strip()
