"""Questions of one's own, and the examples of docs/extending.md, done in a copy of the package."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

import evalcore
from tests.support.chat_server import chat_server

ROOT = Path(__file__).resolve().parent.parent
PAGE = (ROOT / "docs" / "extending.md").read_text(encoding="utf-8")
# The last name in backticks before a block says which file it is of.
BLOCK = re.compile(r"`([\w./-]+)`:\n\n```(?:yaml|csv|json|python)\n(.*?)```", re.DOTALL)
CONSOLE = re.compile(r"```console\n\$ (.*?)\n(.*?)```", re.DOTALL)


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the package in which each block of the page stands where the page says."""
    folder = tmp_path_factory.mktemp("copy")
    shutil.copytree(ROOT / "evalcore", folder / "evalcore")
    for name, text in BLOCK.findall(PAGE):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        with (folder / name).open("a", encoding="utf-8") as file:
            file.write(text)
    return folder


@pytest.mark.parametrize(("command", "shown"), CONSOLE.findall(PAGE))
def test_a_command_prints_what_the_page_shows(command: str, shown: str, copy: Path) -> None:
    process = [sys.executable, "-m", *shlex.split(command)]
    env = {**os.environ, "PYTHONPATH": f"{copy}{os.pathsep}{ROOT}"}
    done = subprocess.run(process, cwd=copy, env=env, stdout=subprocess.PIPE, text=True, check=True)
    assert done.stdout.rstrip() == shown.rstrip()


def test_a_benchmark_a_method_and_a_rule_touch_one_file_each() -> None:
    for section in PAGE.split("\n## ")[1:]:
        touched = [name for name, _ in BLOCK.findall(section) if name.startswith("evalcore/")]
        assert len(touched) == 1, section


def reply(messages: Sequence[Mapping[str, str]]) -> str:
    """Say 4, and as a judge whether the answer has a 4."""
    question = messages[-1]["content"]
    if "Golden Answer" in question:
        assert "Golden Answer:\n4\n" in question
        return "\\boxed{Correct}" if "\\boxed{4.0}" in question else "\\boxed{Incorrect}"
    return "It is \\boxed{4.0}." if "2 + 2" in question else "I can't say."


def test_questions_of_ones_own_are_asked_scored_and_judged(tmp_path: Path) -> None:
    data, outputs = tmp_path / "sums.csv", tmp_path / "sums"
    data.write_text("id,question,sum\na,What is 2 + 2?,4\nb,And 4 + 0?,4\n")
    own: dict[str, Any] = {"data": data, "answer_field": "sum"}
    with chat_server(reply) as server:
        asked: dict[str, Any] = {**own, "base_url": server.url}
        evalcore.run(**asked, model="m", methods="cot,zero-shot", output=tmp_path)
        judged = evalcore.judge(outputs, judges="j", **asked, method="cot")
    assert list(judged["value"]) == [1.0, 0.0]
    for rule, value in (("exact", 0.0), ("numbers", 1.0), ("strict", 1.0), ("math", 1.0)):
        scores = evalcore.score(outputs, **own, rule=rule)
        assert list(scores["value"]) == [value, 0.0] * 2
        assert set(scores["dataset"]) == {"sums"}
