"""The commands as functions of Python: their options are those of the terminal, and no others."""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Callable, Iterator, Sequence
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
from evalcore.records import Record, read_records, record_path
from evalcore.scores import ScoreRow
from ngramscan.cli import main as ngramscan_main
from ngramscan.errors import InputError
from ngramscan.output import choose_target, to_frame, write_rows

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
    (tmp_path / "c.jsonl").write_text("".join(json.dumps({"text": t}) + "\n" for t in texts))
    for method, text in (("cot", "let us go step by step"), ("pot", "def f(): return 1")):
        path = tmp_path / "outputs" / "d" / "m" / f"{method}.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        lines = [{"id": str(number), "output": f"{text} {number}"} for number in range(12)]
        path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return tmp_path


@pytest.fixture
def rows(here: Path) -> list[ScoreRow]:
    """Scores of two methods by two rules; the last problem of one method has none."""
    values = {
        (method, n): None if (method, n) == ("pot", 11) else float(n % every == 0)
        for method, every in (("cot", 3), ("pot", 2))
        for n in range(12)
    }
    return [
        ScoreRow("d", model, method, str(n), None, rule, value, None if n % 3 else "4", None, "")
        for model in ("m", "n")
        for (method, n), value in values.items()
        for rule in ("strict", "lenient")
    ]


@pytest.fixture
def frame(rows: list[ScoreRow]) -> pd.DataFrame:
    return to_frame(rows, ScoreRow)


def written(rows: list[ScoreRow], name: str) -> Path:
    write_rows(rows, ScoreRow, choose_target(None, Path(name)))
    return Path(name)


ONLY_TERMINAL = {"format", "csv_safe", "quiet", "verbose", "help", "stars", "strict"}
OTHER_NAMES = {"judge": "judges", "param": "params", "timeout": "timeout_s"}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_option_stands_in_the_signature_and_in_the_docstring(name: str) -> None:
    parameters = inspect.signature(FUNCTIONS[name]).parameters.values()
    assert inspect.Parameter.VAR_KEYWORD not in {one.kind for one in parameters}
    sections = re.split(r"\n([A-Z]\w+)\n-+\n", inspect.getdoc(FUNCTIONS[name]) or "")
    entries = sections[sections.index("Parameters") + 1] if parameters else ""
    heads = re.findall(r"^(\*?\w+(?:, \w+)*) : (?:see \w+|.+\n    \S)", entries, re.MULTILINE)
    documented = [one.strip("*") for head in heads for one in head.split(", ")]
    assert [one for one in documented if one not in ONLY_TERMINAL] == [
        one.name for one in parameters
    ]


@pytest.mark.parametrize("name", [name for name in FUNCTIONS if name != "ngramscan.index_list"])
def test_an_option_that_is_not_there_is_an_error_that_names_the_nearest(name: str) -> None:
    parameters = inspect.signature(FUNCTIONS[name]).parameters.values()
    known = [one.name for one in parameters if one.kind is not inspect.Parameter.VAR_POSITIONAL]
    for option in known:
        misspelt = option + option[-1]
        with pytest.raises(TypeError, match=rf"no option '{misspelt}'; did you mean '{option}'\?"):
            FUNCTIONS[name](**{misspelt: 1})


def commands(group: click.Group, prefix: str) -> Iterator[tuple[str, click.Command]]:
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command
        if isinstance(command, click.Group):
            yield from commands(command, f"{prefix}{name}_")
        elif f"{prefix}{name}" in FUNCTIONS:
            yield f"{prefix}{name}", command


MAINS = {"ngramscan": ngramscan_main, "evalcore": evalcore_main}
COMMANDS = {
    name: command for each, main in MAINS.items() for name, command in commands(main, f"{each}.")
}


@pytest.mark.parametrize("name", COMMANDS)
def test_the_function_has_the_options_of_the_command_and_their_defaults(name: str) -> None:
    parameters = inspect.signature(FUNCTIONS[name]).parameters
    only = ONLY_TERMINAL | ({"output"} if "output" not in parameters else set())
    only |= {"ngramscan.index_info": {"refresh"}}.get(name, set())
    for option in COMMANDS[name].params:
        long = max(option.opts, key=len).lstrip("-").replace("-", "_")
        if isinstance(option, click.Argument) or long in only:
            continue
        called = OTHER_NAMES.get(long, long)
        called = "methods" if (name, long) == ("evalcore.run", "method") else called
        default = parameters[called].default
        if default is inspect.Parameter.empty:
            assert option.required
            continue
        in_terminal = option.get_default(click.Context(COMMANDS[name]))
        # What is not set is a mark of click's own, and what may be repeated is empty then.
        if isinstance(in_terminal, Sequence) and not isinstance(in_terminal, str):
            in_terminal = ",".join(in_terminal)
        plain = in_terminal if isinstance(in_terminal, str | int | float | Path) else None
        assert str(plain or None) == str(default or None)


def test_every_function_has_its_command() -> None:
    assert set(COMMANDS) == set(FUNCTIONS)


def test_one_string_is_taken_as_one_value(rows: list[ScoreRow], frame: pd.DataFrame) -> None:
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
    lenient = evalcore.compare(frame, baseline="cot", treatment="pot", rule="lenient", by="model")
    assert (set(lenient["rule"]), set(lenient["treatment"])) == ({"lenient"}, {"pot"})
    both = evalcore.compare(frame, baseline="cot", by=["dataset", "model"], family="rule")
    assert set(both["rule"]) == {"strict", "lenient"}
    logged = evalcore.logs(written(rows, "s.jsonl"), rule="lenient")
    assert set(logged["rule"]) == {"lenient"}


def record(model: str, method: str, number: int) -> bytes:
    named: dict[str, Any] = {"dataset": "d", "model": model, "method": method, "id": str(number)}
    return Record(**named, output="x", prompt_tokens=9, completion_tokens=5).line()


@pytest.fixture
def recorded(here: Path) -> None:
    """The outputs that were scored."""
    for model, method in (("m", "cot"), ("m", "pot"), ("n", "cot"), ("n", "pot")):
        path = record_path(Path("recorded"), "d", model, method)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"".join(record(model, method, number) for number in range(12)))


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("compare", {"baseline": "cot", "draws": 200}),
        ("outcomes", {"baselines": "cot", "adaptive": "pot", "rule": "strict"}),
        ("efficiency", {"outputs": "recorded", "rule": "strict", "draws": 100}),
    ],
)
@pytest.mark.usefixtures("recorded")
def test_the_frames_of_scores_are_taken_as_their_files_are(
    rows: list[ScoreRow], frame: pd.DataFrame, name: str, options: dict[str, Any]
) -> None:
    function, unchanged = FUNCTIONS[f"evalcore.{name}"], frame.copy()
    expected = function(written(rows, "s.jsonl"), **options)
    csv = pd.read_csv(written(rows, "s.csv"), dtype={"id": str, "answer": str})
    assert csv["value"].isna().any(), "nan for what is missing"
    parts = [frame[frame["model"] == model] for model in ("m", "n")]
    for scores in (frame, parts, csv):
        assert_frame_equal(function(scores, **options), expected)
    assert_frame_equal(frame, unchanged)


def test_a_frame_without_a_column_is_refused_with_its_name(frame: pd.DataFrame) -> None:
    with pytest.raises(InputError, match="data frame, row 1: no column method; rows of"):
        evalcore.compare(frame.drop(columns="method"), all_pairs=True)
    with pytest.raises(TypeError, match="int: a file or a data frame was expected"):
        evalcore.compare(5, all_pairs=True)  # type: ignore[arg-type]


CUT, NOT_ENDED = record("m", "cot", 1)[:-9], "the last line was not written to its end; "
BROKEN = [
    (b"\n \n", r"\.jsonl: it is empty; delete it, or .*evalcore run"),
    (record("m", "cot", 0) + CUT, rf"\.jsonl:2: {NOT_ENDED}delete it .*evalcore run"),
]


@pytest.mark.parametrize(("content", "message"), BROKEN, ids=["empty", "cut"])
def test_an_empty_or_cut_file_of_records_is_named_with_its_cure(
    tmp_path: Path, content: bytes, message: str
) -> None:
    (tmp_path / "cot.jsonl").write_bytes(content)
    with pytest.raises(InputError, match=message):
        read_records(tmp_path)


def test_labels_in_frames_agree_as_in_files(here: Path) -> None:
    wide = pd.DataFrame({"item": range(8), "a": list("xyxyxyxy"), "b": [*list("xyxyxyx"), None]})
    wide.to_csv("wide.csv", index=False)
    by_file = evalcore.agreement("wide.csv", draws=100)
    assert_frame_equal(evalcore.agreement(wide, draws=100), by_file)


def test_counts_and_comparisons_are_linked_as_they_were_returned(frame: pd.DataFrame) -> None:
    counted = ngramscan.count("small.yaml", index="scan:c.jsonl")
    compared = evalcore.compare(frame, all_pairs=True)
    counted.to_csv("counts.csv", index=False)
    compared.to_parquet("compared.parquet")
    by_files = evalcore.link("counts.csv", "compared.parquet", rule="strict")
    assert_frame_equal(evalcore.link(counted, compared, rule="strict"), by_files)
    linked = evalcore.link(counted, frame, rule=["strict"], tier="t1")
    assert len(linked) == 3, "two models, and both"


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


def test_two_outputs_into_one_file_are_refused_in_python(here: Path) -> None:
    with pytest.raises(InputError, match="writes to the same file"):
        ngramscan.blend("none", retention="x.svg", figure=Path("link/x.svg"))
    with pytest.raises(InputError, match="writes to the same file"):
        evalcore.link("a.csv", "b.csv", ranks="x.svg", figure="x.svg")


def test_spellings_that_are_counted_as_one_are_not_counted_apart_too(here: Path) -> None:
    with pytest.raises(InputError, match="--case-variants: it can't go with --ignore-case"):
        ngramscan.count("small.yaml", index="python", case_variants=True, ignore_case=True)


@pytest.mark.parametrize(
    "line", ["compare l.csv --all-pairs", "agreement l.csv", "link l.csv l.csv", "logs l.csv"]
)
def test_a_table_that_is_not_utf8_is_one_line_with_its_name(here: Path, line: str) -> None:
    (here / "l.csv").write_bytes("a,b\nx,y\nné,z\n".encode("latin-1"))
    done = CliRunner().invoke(evalcore_main, line.split())
    assert (done.exit_code, done.stdout) == (2, "")
    assert re.fullmatch(r"Error: l\.csv:3: not UTF-8[^\n]*\n", done.stderr)
