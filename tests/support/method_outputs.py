"""Recorded outputs of three prompts and a pattern set, whose numbers are seen at a glance."""

from pathlib import Path

from tests.support.outputs import write_texts

SMALL_SET = """\
name: small
source: a paper
patterns:
  - {text: step by step, method: CoT, tier: T1, kind: narrative}
  - {text: import math, method: PoT, tier: T2, kind: code}
"""
OUTPUTS = {
    "cot": ["Let's think step by step."] * 6 + ["x y"] * 4,
    "f-1+cot": ["step by step"] * 5 + ["z"] * 5,
    "pot": ["```python\nimport math\n```"] * 10,
}


def write_method_outputs(folder: Path) -> Path:
    """Write the outputs and the set `small.yaml` to a folder; return that of the outputs."""
    (folder / "small.yaml").write_text(SMALL_SET)
    return write_texts(folder / "outputs", OUTPUTS)
