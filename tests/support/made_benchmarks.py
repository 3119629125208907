"""Small copies of benchmarks in the form of the real ones, made for tests, and what is refused."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ngramscan.errors import InputError


def write(path: Path, content: Any) -> Path:
    """Write bytes, a text with wrong bytes as lone surrogates, or anything else as JSON."""
    path.parent.mkdir(parents=True, exist_ok=True)
    text = content if isinstance(content, bytes | str) else json.dumps(content)
    path.write_bytes(text.encode(errors="surrogateescape") if isinstance(text, str) else text)
    return path


def write_financemath(folder: Path, size: int = 200, **first: Any) -> Path:
    """Write problems whose answers are `n / 8`; the first one with some changes."""
    rows: list[dict[str, Any]] = [
        {
            "question_id": f"validation-{n}",
            "question": f"What is {n} / 8?",
            "tables": ["| a |\n|---|\n| 1 |"] if n % 2 else [],
            "python_solution": f"def solution():\n    return {n} / 8",
            "ground_truth": round(n / 8, 3),
            "topic": "Accounting" if n % 3 else "Derivatives",
        }
        for n in range(size)
    ]
    rows[0] |= first
    return write(folder / "validation.json", rows)


def write_proofbench(folder: Path) -> Path:
    """Write problems with a solution and guidelines."""
    text = "Problem ID,Problem,Solution,Grading guidelines,Category,Level,Short Answer,Source\n"
    for n in range(60):
        text += f"PB-Basic-{n:03},Prove {n}.,SOLUTION of {n},GUIDELINES of {n},"
        text += "Algebra,IMO-easy,,made\n"
    return write(folder / "proofbench_v2.csv", text)


def refused(message: str, call: Callable[..., Any], *given: Any, **more: Any) -> None:
    """Make a call that must be refused in one line."""
    with pytest.raises(InputError, match=message) as caught:
        call(*given, **more)
    assert "\n" not in str(caught.value)
