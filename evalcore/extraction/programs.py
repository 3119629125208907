"""Programs in outputs: what to run, by named rules with versions."""

import re
import textwrap
from collections.abc import Callable, Mapping


def _financemath_program(output: str) -> str | None:
    """Take the first block, or all, as FinanceMath's authors do, to the letter of their results."""
    if not output or "argparse" in output:
        return None
    block = re.search(r"(?s)```python(.*?)```", output) or re.search(r"(?s)```(.*?)```", output)
    if block:
        program = block[1].strip("\n")
    elif "def solution():" in output:
        program = output.strip()  # so that the backticks of a fence are at the end
    else:
        indent = "" if output.startswith("    ") else "    "
        body = output.partition("```")[0] if output.count("```") == 1 else output
        program = f"def solution():\n{indent}{body}"  # with which the prompt ended
    return program.strip("`").strip()


def _fenced_program(output: str) -> str | None:
    """Take the last block marked as Python, or else the last block that is marked as nothing."""
    fences = re.findall(r"(?ms)^[ \t]*```([^`\n]*)\n(.*?)(?:^[ \t]*```[ \t]*$|\Z)", output)
    blocks = {re.sub("^python3?$", "py", name.strip().lower()): body for name, body in fences}
    program = textwrap.dedent(blocks.get("py") or blocks.get("") or "")
    return program.strip("\n").rstrip() or None


PROGRAM_RULES: Mapping[str, Callable[[str], str | None]] = {
    "financemath-authors/2": _financemath_program,
    "fenced/1": _fenced_program,
}
FUNCTION_RULES = frozenset({"financemath-authors/2"})
"""Rules whose programs are always functions called `solution`; others find scripts too."""
