"""A run of made problems in a process of its own, to be killed: `python -m tests.run_process`."""

from __future__ import annotations

import sys
from pathlib import Path

from evalcore.asking import Usage
from evalcore.endpoint import ChatModel, Endpoint, read_key
from evalcore.run import Task, run_task

METHODS = ("cot", "pot", "f-1")
PROBLEMS = 200
KEY_VARIABLE = "TEST_CHAT_KEY"


def made_task(method: str, problems: int = PROBLEMS) -> Task:
    """Return problems that a prompt of one method asks."""
    questions = [
        (f"p-{number}", [{"role": "user", "content": f"{method}: what is {number} + 1?"}])
        for number in range(problems)
    ]
    return Task("sums", method, questions, dataset_sha256="d" * 64, prompts_sha256="e" * 64)


def main(url: str, folder: str) -> int:
    endpoint = Endpoint(url, "lab/made-1", timeout_s=2.0)
    problems = []
    with ChatModel(endpoint, read_key(KEY_VARIABLE)) as model:
        for method in METHODS:
            result = run_task(model, made_task(method), Path(folder), Usage())
            problems += [result.problem] if result.problem else []
    for problem in problems:
        sys.stderr.write(f"{problem}\n")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
