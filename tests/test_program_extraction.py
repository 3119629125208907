from __future__ import annotations

import ast
import json
from pathlib import Path

import pytest

from evalcore.program_extraction import extract_program
from evalcore.scoring.base import Extracted
from ngramscan.errors import InputError

FUNCTION = "def solution():\n    return 1"


@pytest.mark.parametrize(
    ("output", "program"),
    [
        pytest.param("", None, id="an empty output has none"),
        pytest.param(f"```python\nimport argparse\n{FUNCTION}\n```", None, id="argparse has none"),
        pytest.param(f"Here:\n```python\n{FUNCTION}\n```\nDone.", FUNCTION, id="a block of Python"),
        pytest.param(
            f"```python\n{FUNCTION}\n```\n```python\nno\n```", FUNCTION, id="the first one"
        ),
        pytest.param(
            f"```\nno\n```\n```python\n{FUNCTION}\n```", FUNCTION, id="Python comes first"
        ),
        pytest.param(f"```\n{FUNCTION}\n```", FUNCTION, id="any other block will do"),
        pytest.param("    return 1\n```\nDone.", FUNCTION, id="a body that ends at a fence"),
        pytest.param("return 1\n```", FUNCTION, id="such a body without indent"),
        pytest.param("    return 1", FUNCTION, id="a body without fences"),
        pytest.param("return 1", FUNCTION, id="neither indent nor fences"),
        pytest.param(FUNCTION, FUNCTION, id="a bare function stays"),
        pytest.param(f"`{FUNCTION}`", FUNCTION, id="single backticks at the ends go"),
        pytest.param(f"{FUNCTION}\n```\n", FUNCTION, id="a fence and a line break at the end go"),
        pytest.param(f"\n ```{FUNCTION}\n", FUNCTION, id="and so they do at the beginning"),
        pytest.param(
            f"```python\n{FUNCTION}", f"python\n{FUNCTION}", id="an unclosed block does not run"
        ),
    ],
)
def test_the_authors_rule_finds_functions(output: str, program: str | None) -> None:
    rule = "financemath-authors/2"
    assert extract_program(output, rule) == (program and Extracted(program, rule))


@pytest.mark.parametrize(
    ("output", "program"),
    [
        pytest.param("answer = 1", None, id="no fence, no program"),
        pytest.param("use ```x``` here", None, id="a fence within a line is none"),
        pytest.param("```python\n\n```", None, id="an empty block"),
        pytest.param("```python\nanswer = 1\n```", "answer = 1", id="one block"),
        pytest.param(
            "```Python3\nanswer = 1\n```", "answer = 1", id="another name of the language"
        ),
        pytest.param("```python\nno\n```\nBetter:\n```py\nyes\n```", "yes", id="the last block"),
        pytest.param(
            "```python\nyes\n```\n```\n42\n```", "yes", id="its output is not the program"
        ),
        pytest.param(
            "```bash\nls\n```\n```\nyes\n```", "yes", id="no language rather than another"
        ),
        pytest.param("```bash\nls\n```", None, id="another language"),
        pytest.param(
            "1. So\n   ```python\n   if x:\n       y\n   ```", "if x:\n    y", id="in a list"
        ),
        pytest.param("```python\nanswer = 1", "answer = 1", id="unclosed: to the end of the text"),
    ],
)
def test_the_rule_for_scripts_takes_the_last_block(output: str, program: str | None) -> None:
    assert extract_program(output, "fenced/1") == (program and Extracted(program, "fenced/1"))


def test_an_unknown_rule_is_refused() -> None:
    with pytest.raises(
        InputError, match="rule fenced/9: unknown; expected one of financemath-auth"
    ):
        extract_program("", "fenced/9")


def test_every_output_whose_program_ran_for_its_authors_has_one_that_defines_the_function(
    shared: Path,
) -> None:
    files = sorted((shared / "data/financemath/validation/processed_pot_outputs").glob("*.json"))
    rows = [row for file in files for row in json.loads(file.read_text(encoding="utf-8"))]
    assert len(rows) == 1200
    ran = [row for row in rows if row["result"]["execution_rate"]]
    assert len(ran) == 904
    for row in ran:
        found = extract_program(row["output"][0], "financemath-authors/2")
        assert found is not None, row["question_id"]
        statements = ast.parse(found.text).body
        assert any(isinstance(s, ast.FunctionDef) and s.name == "solution" for s in statements)
