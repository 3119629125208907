"""The commands as functions of Python: what they take, refuse and return."""

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import evalcore
import ngramscan
from evalcore.records import read_records
from evalcore.scores import ScoreRow
from ngramscan.errors import InputError
from ngramscan.reporting import to_frame

SET = """\
name: small
patterns:
  - {text: step by step, method: CoT, tier: T1, kind: narrative}
  - {text: let us, method: CoT, tier: T2, kind: narrative}
  - {text: def f, method: PoT, tier: T1, kind: code}
"""
TEXTS = ("step by step", "let us do it step by step", "def f(): pass", "Let us")
OUTPUTS = {"cot": "let us go step by step", "pot": "def f(): return 1"}


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Patterns, a corpus and outputs of models, in the current folder."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "small.yaml").write_text(SET)
    (tmp_path / "link").symlink_to(tmp_path)
    documents = [json.dumps({"id": f"doc-{n}", "text": text}) for n, text in enumerate(TEXTS)]
    (tmp_path / "c.jsonl").write_text("\n".join(documents))
    for method, text in OUTPUTS.items():
        used = {"output": text, "prompt_tokens": 9, "completion_tokens": 5}
        lines = [json.dumps({"id": str(n), **used}) + "\n" for n in range(12)]
        for model in ("m", "n"):
            path = tmp_path / "outputs" / "d" / model / f"{method}.jsonl"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("".join(lines))
    return tmp_path


@pytest.fixture
def frame() -> pd.DataFrame:
    """Scores of two methods by two rules; the last problem of one method has none."""
    rows = [
        ScoreRow("d", model, method, str(n), None, rule, value, None if n % 3 else "4", None, "")
        for model in ("m", "n")
        for method, every in (("cot", 3), ("pot", 2))
        for n in range(12)
        for value in [None if (method, n) == ("pot", 11) else float(n % every == 0)]
        for rule in ("strict", "lenient")
    ]
    return to_frame(rows, ScoreRow)


def test_what_is_refused_is_named(here: Path, frame: pd.DataFrame) -> None:
    (here / "l.csv").write_bytes("a,b\nx,y\nné,z\n".encode("latin-1"))
    (here / "outputs" / "d" / "m" / "cot.jsonl").write_bytes(b"\n \n")
    nameless, same = frame.drop(columns="method"), "writes to the same file"
    bad: Any = 5
    for call, problem in (
        (lambda: evalcore.compare(nameless, all_pairs=True), "data frame: no column method; exp"),
        (lambda: evalcore.compare(bad, all_pairs=True), "int: expected a file or a data frame"),
        (lambda: ngramscan.blend("none", retention="x.svg", figure=Path("link/x.svg")), same),
        (lambda: evalcore.link("a.csv", "b.csv", ranks="x.svg", figure="x.svg"), same),
        (lambda: evalcore.agreement("l.csv"), r"^l\.csv:3: not UTF-8.*$"),
        (lambda: evalcore.link("l.csv", "l.csv"), r"^l\.csv:3: not UTF-8.*$"),
        (lambda: evalcore.logs("l.csv"), r"^l\.csv:3: not UTF-8.*$"),
        (lambda: ngramscan.count("f1", tier=bad), 'tier="5": expected one of T1, T2, T3'),
        (
            lambda: read_records(Path("outputs/d/m/cot.jsonl")),
            r"it is empty; run `evalcore run` again",
        ),
    ):
        with pytest.raises((InputError, TypeError), match=problem):
            call()
