"""The commands as functions of Python: what they take, refuse and return."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from pandas.testing import assert_frame_equal

import evalcore
import ngramscan
from evalcore.records import read_records
from evalcore.scores import ScoreRow
from ngramscan.errors import InputError
from ngramscan.reporting import to_frame
from tests.support.command import invoke

SET = """\
name: small
patterns:
  - {text: step by step, method: CoT, tier: T1, kind: narrative}
  - {text: let us, method: CoT, tier: T2, kind: narrative}
  - {text: def f, method: PoT, tier: T1, kind: code}
"""
TEXTS = ("step by step", "let us do it step by step", "def f(): pass", "Let us")
OUTPUTS = {"cot": "let us go step by step", "pot": "def f(): return 1"}
COUNT: dict[str, Any] = {"index": "scan:c.jsonl", "workers": 1}


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


def test_python_and_the_terminal_run_the_same_function() -> None:
    options = ("--index", "scan:c.jsonl", "--case-variants", "--totals", "terminal.csv")
    ran = invoke("count", "small.yaml", *options, "-o", "rows.csv")
    assert ran == (0, "", "")
    found = ngramscan.count("small.yaml", **COUNT, case_variants=True, totals="python.csv")
    assert Path("python.csv").read_text() == Path("terminal.csv").read_text()
    found.to_csv("python.csv", index=False)
    in_python, in_terminal = pd.read_csv("python.csv"), pd.read_csv("rows.csv")
    assert [*in_python][:3] == ["pattern", "occurrences", "documents"], "what is read first"
    in_terminal = in_terminal[[*in_python]]
    assert_frame_equal(in_python.assign(asked_at=""), in_terminal.assign(asked_at=""))
    assert [str(found[name].dtype) for name in ("pattern", "documents")] == ["string", "Int64"]


def test_one_string_is_taken_as_one_value() -> None:
    def count(**options: Any) -> list[str]:
        found = ngramscan.count("small.yaml", **COUNT, **options)
        return [f"{row.pattern} {row.occurrences}" for row in found.itertuples()]

    assert count(tier="T1") == count(tier=["T1"]) == ["step by step 2", "def f 1"]
    assert count(tier="t2") == ["let us 1"]
    assert count(method="CoT") == count(method=["cot"]) == ["step by step 2", "let us 1"]
    assert count(exclude_source="doc-1") == ["step by step 1", "let us 0", "def f 1"]
    blended = ngramscan.blend("outputs", "small.yaml", tier="T1", method="PoT")
    assert set(blended["method"]) == {"PoT"}


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("compare", {"baseline": "cot", "resamples": 100}),
        ("outcomes", {"baselines": "cot", "adaptive": "pot", "rule": "strict"}),
        ("efficiency", {"outputs": "outputs", "rule": "strict", "resamples": 100}),
    ],
)
def test_the_frames_of_scores_are_taken_as_their_files_are(
    frame: pd.DataFrame, name: str, options: dict[str, Any]
) -> None:
    function, unchanged = getattr(evalcore, name), frame.copy()
    frame.to_json("s.jsonl", orient="records", lines=True)
    frame.to_csv("s.csv", index=False)
    expected = function("s.jsonl", **options)
    csv = pd.read_csv("s.csv", dtype={"id": str, "answer": str})
    assert csv["value"].isna().any(), "nan for what is missing"
    parts = [frame[frame["model"] == model] for model in ("m", "n")]
    for scores in (frame, parts, csv) if name == "compare" else (frame,):
        assert_frame_equal(function(scores, **options), expected)
    assert_frame_equal(frame, unchanged)


def test_other_frames_are_taken_as_they_were_returned(frame: pd.DataFrame) -> None:
    wide = pd.DataFrame({"item": range(8), "a": list("xyxyxyxy"), "b": [*list("xyxyxyx"), None]})
    wide.to_csv("wide.csv", index=False)
    by_file = evalcore.agreement("wide.csv")
    assert_frame_equal(evalcore.agreement(wide), by_file)
    counted = ngramscan.count("small.yaml", **COUNT)
    compared = evalcore.compare(frame, all_pairs=True, resamples=100)
    counted.to_csv("counts.csv", index=False)
    compared.to_parquet("compared.parquet")
    by_files = evalcore.link("counts.csv", "compared.parquet", rule="strict")
    assert_frame_equal(evalcore.link(counted, compared, rule="strict"), by_files)
    linked = evalcore.link(counted, frame, rule=["strict"], tier="t1")
    assert len(linked) == 3, "two models, and both"


RUNS = [("2026-01-02T03-04-05_Ka", 11, 7.0), ("2026-01-03T00-00-00_Kb", 6, 700.0)]


def test_costs_and_links_of_several_runs_are_not_merged(frame: pd.DataFrame) -> None:
    strict, problem = frame[frame["rule"] == "strict"], "cot, strict has 2 runs"
    number = strict["id"].astype(int)
    parts = [strict[number < n].assign(run=run, completion_tokens=k) for run, n, k in RUNS]
    scores, counts = pd.concat(parts), ngramscan.count("small.yaml", **COUNT)
    scores.assign(prompt_tokens=1, reasoning_tokens=None).to_csv("used.csv", index=False)
    with pytest.raises(InputError, match=problem):
        evalcore.efficiency(scores, usage="used.csv")
    with pytest.raises(InputError, match=problem):
        evalcore.link(counts, scores)
    for run, n, tokens in RUNS:
        costs = evalcore.efficiency(scores, usage="used.csv", run=run, resamples=100)
        assert (set(costs["n"]), set(costs["mean_tokens"])) == ({n, 2 * n}, {tokens})
        assert len(evalcore.link(counts, scores, run=run)) == 3


def test_what_is_refused_is_named(here: Path, frame: pd.DataFrame) -> None:
    (here / "l.csv").write_bytes("a,b\nx,y\nné,z\n".encode("latin-1"))
    (here / "outputs" / "d" / "m" / "cot.jsonl").write_bytes(b"\n \n")
    nameless, same = frame.drop(columns="method"), "writes to the same file"
    bad: Any = 5
    for call, problem in (
        (
            lambda: evalcore.compare(nameless, all_pairs=True),
            "row 1: no column method; it should",
        ),
        (lambda: evalcore.compare(bad, all_pairs=True), "int: a file or a data frame was expected"),
        (lambda: ngramscan.blend("none", retention="x.svg", figure=Path("link/x.svg")), same),
        (lambda: evalcore.link("a.csv", "b.csv", ranks="x.svg", figure="x.svg"), same),
        (lambda: evalcore.agreement("l.csv"), r"^l\.csv:3: not UTF-8.*$"),
        (lambda: evalcore.link("l.csv", "l.csv"), r"^l\.csv:3: not UTF-8.*$"),
        (lambda: evalcore.logs("l.csv"), r"^l\.csv:3: not UTF-8.*$"),
        (lambda: ngramscan.count("f1", tier=bad), "tier=5: one of T1, T2, T3 was expected"),
        (lambda: read_records(Path("outputs")), r"it is empty; run `evalcore run` again"),
    ):
        with pytest.raises((InputError, TypeError), match=problem):
            call()


@pytest.mark.parametrize(
    "line",
    [
        "ngramscan count small.yaml --index scan:c.jsonl --totals x.csv -o x.csv",
        "ngramscan docnorm none.yaml --drawn x.csv --totals x.csv",
        "ngramscan contexts a --journal x.csv -o x.csv",
        "ngramscan blend none --retention x.csv -o link/x.csv",
        "ngramscan keyness none --of a --against b --export x -o x",
        "evalcore compare none.csv --all-pairs --averages x.csv -o x.csv",
        "evalcore judge none --dataset financemath --judge m --journal x.csv -o x.csv",
    ],
)
def test_two_outputs_into_one_file_are_refused_before_any_work(here: Path, line: str) -> None:
    before = sorted(here.iterdir())
    package, *arguments = line.split()
    ran = invoke(*arguments, package=package)
    assert (ran.code, ran.stdout) == (2, "")
    assert re.fullmatch(r"Error: --.* writes to the same file; two .*\n", ran.stderr)
    assert sorted(here.iterdir()) == before
