"""The commands as functions of Python: their options are those of the terminal, and no others."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import pandas as pd
import pytest
from click.testing import CliRunner
from pandas.testing import assert_frame_equal

import evalcore
import ngramscan
from evalcore.cli import main as evalcore_main
from evalcore.records import read_records
from evalcore.scores import ScoreRow
from ngramscan.cli import main as ngramscan_main
from ngramscan.errors import InputError
from ngramscan.report import to_frame

FUNCTIONS: dict[str, Callable[..., Any]] = {
    f"{package.__name__}.{name}": getattr(package, name)
    for package in (ngramscan, evalcore)
    for name in package.__all__
}
SET = """\
name: small
patterns:
  - {text: step by step, method: CoT, tier: T1, kind: narrative}
  - {text: let us, method: CoT, tier: T2, kind: narrative}
  - {text: def f, method: PoT, tier: T1, kind: code}
"""


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Patterns, a corpus and outputs of models, in the current folder."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "small.yaml").write_text(SET)
    (tmp_path / "link").symlink_to(tmp_path)
    texts = ["step by step", "let us do it step by step", "def f(): pass", "Let us"]
    pd.DataFrame({"text": texts}).to_json("c.jsonl", orient="records", lines=True)
    for method, text in (("cot", "let us go step by step"), ("pot", "def f(): return 1")):
        outputs = pd.DataFrame(
            {"id": map(str, range(12)), "output": [f"{text} {n}" for n in range(12)]}
        )
        for model in ("m", "n"):
            path = tmp_path / "outputs" / "d" / model / f"{method}.jsonl"
            path.parent.mkdir(parents=True, exist_ok=True)
            used = outputs.assign(prompt_tokens=9, completion_tokens=5)
            used.to_json(path, orient="records", lines=True)
    return tmp_path


@pytest.fixture
def frame(here: Path) -> pd.DataFrame:
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


ONLY_TERMINAL = {"format", "csv_safe", "quiet", "verbose", "help", "stars", "strict"}
MAINS = {"ngramscan": ngramscan_main, "evalcore": evalcore_main}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_options_are_those_of_signature_docstring_and_command(name: str) -> None:
    parameters = inspect.signature(FUNCTIONS[name]).parameters
    known = {key: one.kind is not one.VAR_POSITIONAL for key, one in parameters.items()}
    assert inspect.Parameter.VAR_KEYWORD not in {one.kind for one in parameters.values()}
    _, _, section = (inspect.getdoc(FUNCTIONS[name]) or "").partition("\nParameters\n---")
    entries, *_ = re.split(r"\n[A-Z]\w+\n-+\n", section)
    heads = re.findall(r"^(\*?\w+(?:, \*?\w+)*) : (?:see \w+|.+\n    \S)", entries, re.MULTILINE)
    documented = [one.strip("*") for head in heads for one in head.split(", ")]
    assert [one for one in documented if one not in ONLY_TERMINAL] == list(known)
    for option in filter(known.get, known):
        misspelt = option + option[-1]
        with pytest.raises(TypeError, match=rf"no option '{misspelt}'; did you mean '{option}'\?"):
            FUNCTIONS[name](**{misspelt: 1})

    only = ONLY_TERMINAL | {"output"} | ({"refresh"} if name == "ngramscan.index_info" else set())
    package, _, words = name.partition(".")
    command: Any = MAINS[package]
    for word in words.split("_"):
        command = command.get_command(click.Context(command), word)
    for option in command.params:
        long = max(option.opts, key=len).lstrip("-").replace("-", "_")
        called = option.name if option.name in parameters else long
        if isinstance(option, click.Argument) or called in only - set(parameters):
            continue
        default, given = parameters[called].default, option.get_default(click.Context(command))
        assert option.required == (default is inspect.Parameter.empty)
        # What is not set is a mark of click's own, and what may be repeated is empty then.
        text = ",".join(given) if isinstance(given, list | tuple) else given
        plain = text if isinstance(text, str | int | float | Path) else None
        assert option.required or str(plain or None) == str(default or None)


def test_one_string_is_taken_as_one_value(here: Path) -> None:
    def count(**options: Any) -> list[str]:
        found = ngramscan.count("small.yaml", index="scan:c.jsonl", **options)
        return [f"{row.pattern} {row.occurrences}" for row in found.itertuples()]

    assert count(tier="T1") == count(tier=["T1"]) == ["step by step 2", "def f 1"]
    assert count(tier="t2") == ["let us 1"]
    assert count(method="CoT") == count(method=["cot"]) == ["step by step 2", "let us 1"]
    assert count(exclude_source="*:2")[0] == count(exclude_source=["*:2"])[0]
    blended = ngramscan.blend("outputs", "small.yaml", tier="T1", method="PoT")
    assert set(blended["method"]) == {"PoT"}
    assert set(ngramscan.tiers("outputs", "small.yaml", method="CoT")["method"]) == {"CoT"}


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("compare", {"baseline": "cot", "draws": 200}),
        ("outcomes", {"baselines": "cot", "adaptive": "pot", "rule": "strict"}),
        ("efficiency", {"outputs": "outputs", "rule": "strict", "draws": 100}),
    ],
)
def test_the_frames_of_scores_are_taken_as_their_files_are(
    frame: pd.DataFrame, name: str, options: dict[str, Any]
) -> None:
    function, unchanged = FUNCTIONS[f"evalcore.{name}"], frame.copy()
    frame.to_json("s.jsonl", orient="records", lines=True)
    frame.to_csv("s.csv", index=False)
    expected = function("s.jsonl", **options)
    csv = pd.read_csv("s.csv", dtype={"id": str, "answer": str})
    assert csv["value"].isna().any(), "nan for what is missing"
    parts = [frame[frame["model"] == model] for model in ("m", "n")]
    for scores in (frame, parts, csv):
        assert_frame_equal(function(scores, **options), expected)
    assert_frame_equal(frame, unchanged)


def test_other_frames_are_taken_as_they_were_returned(frame: pd.DataFrame) -> None:
    wide = pd.DataFrame({"item": range(8), "a": list("xyxyxyxy"), "b": [*list("xyxyxyx"), None]})
    wide.to_csv("wide.csv", index=False)
    by_file = evalcore.agreement("wide.csv", draws=100)
    assert_frame_equal(evalcore.agreement(wide, draws=100), by_file)
    counted = ngramscan.count("small.yaml", index="scan:c.jsonl")
    compared = evalcore.compare(frame, all_pairs=True, draws=200)
    counted.to_csv("counts.csv", index=False)
    compared.to_parquet("compared.parquet")
    by_files = evalcore.link("counts.csv", "compared.parquet", rule="strict")
    assert_frame_equal(evalcore.link(counted, compared, rule="strict"), by_files)
    linked = evalcore.link(counted, frame, rule=["strict"], tier="t1")
    assert len(linked) == 3, "two models, and both"


def refused(problem: str, name: str, *given: Any, **options: Any) -> None:
    with pytest.raises((InputError, TypeError), match=problem):
        FUNCTIONS[name](*given, **options)


RUNS = [("2026-01-02T03-04-05_Ka", 11, 7.0), ("2026-01-03T00-00-00_Kb", 6, 700.0)]


def test_costs_and_links_of_several_runs_are_not_merged(frame: pd.DataFrame) -> None:
    strict, problem = frame[frame["rule"] == "strict"], "cot, strict has 2 runs"
    number = strict["id"].astype(int)
    parts = [strict[number < n].assign(run=run, completion_tokens=k) for run, n, k in RUNS]
    scores, counts = pd.concat(parts), ngramscan.count("small.yaml", index="scan:c.jsonl")
    scores.assign(prompt_tokens=1, reasoning_tokens=None).to_csv("used.csv", index=False)
    refused(problem, "evalcore.efficiency", scores, usage="used.csv")
    refused(problem, "evalcore.link", counts, scores)
    for run, n, tokens in RUNS:
        costs = evalcore.efficiency(scores, usage="used.csv", run=run, draws=100)
        assert (set(costs["n"]), set(costs["mean_tokens"])) == ({n, 2 * n}, {tokens})
        assert len(evalcore.link(counts, scores, run=run)) == 3


def test_what_is_refused_is_named(here: Path, frame: pd.DataFrame) -> None:
    nameless, same = frame.drop(columns="method"), "writes to the same file"
    refused(
        "data frame, row 1: no column method; rows of", "evalcore.compare", nameless, all_pairs=True
    )
    refused("int: a file or a data frame was expected", "evalcore.compare", 5, all_pairs=True)
    refused(same, "ngramscan.blend", "none", retention="x.svg", figure=Path("link/x.svg"))
    refused(same, "evalcore.link", "a.csv", "b.csv", ranks="x.svg", figure="x.svg")
    both: dict[str, Any] = {"case_variants": True, "ignore_case": True, "index": "python"}
    alone = "--case-variants: it can't go with --ignore-case"
    refused(alone, "ngramscan.count", "small.yaml", **both)
    (here / "l.csv").write_bytes("a,b\nx,y\nné,z\n".encode("latin-1"))
    for name, *tables in (("agreement", "l.csv"), ("link", "l.csv", "l.csv"), ("logs", "l.csv")):
        refused(r"^l\.csv:3: not UTF-8.*$", f"evalcore.{name}", *tables)
    (here / "outputs" / "d" / "m" / "cot.jsonl").write_bytes(b"\n \n")
    with pytest.raises(InputError, match=r"\.jsonl: it is empty; delete it, or .*evalcore run"):
        read_records(Path("outputs"))


COUNT = "count small.yaml --index scan:c.jsonl"
ONE_FILE = [
    f"ngramscan {COUNT} --totals x.csv -o x.csv",
    "ngramscan docnorm none.yaml --draws x.csv --totals x.csv",
    "ngramscan contexts a --journal x.csv -o x.csv",
    "ngramscan blend none --presence x.csv --isolation x.csv",
    "ngramscan blend none --retention x.csv -o link/x.csv",
    "ngramscan keyness none --of a --against b --export x -o x",
    "ngramscan strategies none --per-output x.csv -o x.csv",
    "evalcore compare none.csv --all-pairs --averages x.csv -o x.csv",
    "evalcore judge none --dataset financemath --judge m --journal x.csv -o x.csv",
]


@pytest.mark.parametrize("line", ONE_FILE)
def test_two_outputs_into_one_file_are_refused_before_any_work(here: Path, line: str) -> None:
    before = sorted(here.iterdir())
    package, *arguments = line.split()
    done = CliRunner().invoke(MAINS[package], arguments)
    assert (done.exit_code, done.stdout) == (2, "")
    assert re.fullmatch(r"Error: --.* writes to the same file; two .*\n", done.stderr)
    assert sorted(here.iterdir()) == before
