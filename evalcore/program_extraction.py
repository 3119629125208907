"""Find the program in an output."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable, Mapping

from evalcore.scoring.base import Extracted
from ngramscan.errors import InputError

_FENCE = "```"
_PYTHON_BLOCK = re.compile(r"```python(.*?)```", re.DOTALL)
_ANY_BLOCK = re.compile(r"```(.*?)```", re.DOTALL)
_FUNCTION = "def solution():"
_PYTHON = ("python", "python3", "py")
_BLOCK = re.compile(
    r"^[ \t]*```(?P<name>[^`\n]*)\n(?P<body>.*?)(?:^[ \t]*```[ \t]*$|\Z)", re.DOTALL | re.MULTILINE
)


def _financemath_program(output: str) -> str | None:
    """Do what the evaluation of FinanceMath's authors does, to the letter of its published results.

    It takes the first block, and makes a function of an output that goes on where a prompt ending
    in `def solution():` stopped.
    """
    if not output or "argparse" in output:
        return None
    block = _PYTHON_BLOCK.search(output) or _ANY_BLOCK.search(output)
    if block:
        program = block[1].strip("\n")
    elif _FUNCTION in output:
        program = output.strip()  # so that the backticks of a fence are at the end
    else:
        indent = "" if output.startswith("    ") else "    "
        body = output.split(_FENCE, maxsplit=1)[0] if output.count(_FENCE) == 1 else output
        program = f"{_FUNCTION}\n{indent}{body}"
    return program.strip("`").strip()


def _fenced_program(output: str) -> str | None:
    """Take the last block marked as Python, or else the last block that is marked as nothing.

    A model that corrects itself does so further down; its sample of what is printed comes last
    too, and is seldom marked as Python. As Markdown has it, a block that is not closed runs to the
    end of the text.
    """
    marked, unmarked = None, None
    for block in _BLOCK.finditer(output):
        name = block["name"].strip().lower()
        if name in _PYTHON:
            marked = textwrap.dedent(block["body"])
        elif not name:
            unmarked = textwrap.dedent(block["body"])
    program = (marked or unmarked or "").strip("\n").rstrip()
    return program or None


PROGRAM_RULES: Mapping[str, Callable[[str], str | None]] = {
    "financemath-authors/2": _financemath_program,
    "fenced/1": _fenced_program,
}


def extract_program(output: str, rule: str) -> Extracted | None:
    """Find the program in an output by a named rule.

    Parameters
    ----------
    output : str
        What a model wrote.
    rule : str
        One of `PROGRAM_RULES`: `financemath-authors/2` for functions called `solution`, where an
        output without any fence is a program as well; `fenced/1` for scripts.

    Returns
    -------
    Extracted or None
        None where the rule finds no program. What it finds need not be valid Python.

    Raises
    ------
    InputError
        There is no such rule.
    """
    if rule not in PROGRAM_RULES:
        raise InputError(f"rule {rule}", f"unknown; expected one of {', '.join(PROGRAM_RULES)}")
    program = PROGRAM_RULES[rule](output)
    return None if program is None else Extracted(program, rule)
