"""The commands as functions of Python: their options are those of the terminal, and no others."""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
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
from evalcore.records import Record, record_path
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
    texts = ["step by step", "let us do it step by step", "def f(): pass", "Let us"]
    (tmp_path / "c.jsonl").write_text("".join(json.dumps({"text": t}) + "\n" for t in texts))
    for method, text in (("cot", "let us go step by step"), ("pot", "def f(): return 1")):
        path = tmp_path / "outputs" / "d" / "m" / f"{method}.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        lines = [{"id": str(number), "output": f"{text} {number}"} for number in range(12)]
        path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return tmp_path


def score_rows(value_of: Callable[[str, int], float | None]) -> list[ScoreRow]:
    return [
        ScoreRow(
            dataset="d",
            model=model,
            method=method,
            id=str(number),
            epoch=None,
            rule=rule,
            value=value_of(method, number),
            answer=None if number % 3 else "4",
            extraction=None,
            reason="",
        )
        for model in ("m", "n")
        for method in ("cot", "pot")
        for number in range(12)
        for rule in ("strict", "lenient")
    ]


def written(rows: list[Any], row_type: type, name: str) -> Path:
    path = Path(name)
    write_rows(rows, row_type, choose_target(None, path))
    return path


@pytest.fixture
def rows(here: Path) -> list[ScoreRow]:
    """Scores of two methods by two rules; the last problem of one method has none."""
    values = {"cot": 3, "pot": 2}
    return score_rows(
        lambda method, n: None if (method, n) == ("pot", 11) else float(n % values[method] == 0)
    )


# Signatures


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


@pytest.mark.parametrize(
    ("name", "given", "meant"),
    [
        pytest.param("ngramscan.count", "ignorecase", "ignore_case", id="an underscore too few"),
        pytest.param("ngramscan.count", "mthod", "method", id="a letter too few"),
        pytest.param("ngramscan.count", "limit_document", "limit_documents", id="a singular"),
        pytest.param("evalcore.compare", "leve", "level", id="cut off"),
        pytest.param("evalcore.compare", "rules", "rule", id="a plural"),
        pytest.param("evalcore.score", "Rule", "rule", id="a capital"),
    ],
)
def test_the_nearest_option_is_what_was_meant(name: str, given: str, meant: str) -> None:
    with pytest.raises(TypeError, match=f"no option '{given}'; did you mean '{meant}'"):
        FUNCTIONS[name]("x", **{given: True})


ONLY_TERMINAL = {"format", "csv_safe", "quiet", "verbose", "help", "stars", "strict"}
OTHER_NAMES = {"judge": "judges", "param": "params", "timeout": "timeout_s"}


def commands(group: click.Group, prefix: str) -> Iterator[tuple[str, click.Command]]:
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command
        if isinstance(command, click.Group):
            yield from commands(command, f"{prefix}{name}_")
        else:
            yield f"{prefix}{name}", command


COMMANDS = {
    name: command
    for main, prefix in ((ngramscan_main, "ngramscan."), (evalcore_main, "evalcore."))
    for name, command in commands(main, prefix)
    if name in FUNCTIONS
}


@pytest.mark.parametrize("name", COMMANDS)
def test_the_function_has_the_options_of_the_command_and_their_defaults(name: str) -> None:
    parameters = inspect.signature(FUNCTIONS[name]).parameters
    only = ONLY_TERMINAL | ({"output"} if "output" not in parameters else set())
    only |= {"ngramscan.index_info": {"refresh"}}.get(name, set())
    context = click.Context(COMMANDS[name])
    for option in COMMANDS[name].params:
        if isinstance(option, click.Argument):
            continue
        long = max(option.opts, key=len).lstrip("-").replace("-", "_")
        if long in only:
            continue
        called = OTHER_NAMES.get(long, long)
        called = "methods" if (name, long) == ("evalcore.run", "method") else called
        default = parameters[called].default
        if default is inspect.Parameter.empty:
            assert option.required
            continue
        in_terminal = option.get_default(context)
        # What is not set is a mark of click's own, and what may be repeated is empty then.
        if isinstance(in_terminal, Sequence) and not isinstance(in_terminal, str):
            in_terminal = ",".join(in_terminal)
        plain = in_terminal if isinstance(in_terminal, str | int | float | Path) else None
        assert str(plain or None) == str(default or None)


def test_every_function_has_its_command() -> None:
    assert set(COMMANDS) == set(FUNCTIONS)


# One string is one value


def test_one_string_is_taken_as_one_value(here: Path, rows: list[ScoreRow]) -> None:
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

    frame = to_frame(rows, ScoreRow)
    lenient = evalcore.compare(frame, baseline="cot", treatment="pot", rule="lenient", by="model")
    assert set(lenient["rule"]) == {"lenient"}
    assert set(lenient["treatment"]) == {"pot"}
    both = evalcore.compare(frame, baseline="cot", by=["dataset", "model"], family="rule")
    assert set(both["rule"]) == {"strict", "lenient"}
    logged = written(rows, ScoreRow, "s.jsonl")
    assert set(evalcore.logs(logged, rule="lenient")["rule"]) == {"lenient"}


def test_a_figure_that_count_is_asked_for_is_that_of_the_terminal(here: Path) -> None:
    ngramscan.count("small.yaml", index="scan:c.jsonl", figure="python.svg", totals="t.csv")
    shown = ["count", "small.yaml", "--index", "scan:c.jsonl", "--figure", "t.svg"]
    assert CliRunner().invoke(ngramscan_main, shown).exit_code == 0
    assert (here / "python.svg").read_bytes() == (here / "t.svg").read_bytes()
    assert (here / "t.csv").read_text().startswith("index,")


def test_a_dry_run_of_docnorm_returns_what_it_would_take(here: Path) -> None:
    plan = ngramscan.docnorm("small.yaml", index="scan:c.jsonl", dry_run=True)
    assert plan[["index", "patterns", "requests_at_most"]].values.tolist() == [
        ["scan:c.jsonl", 3, 0]
    ]


# What is not there

SMALL: dict[str, Any] = {"index": "scan:c.jsonl"}


@pytest.mark.parametrize(
    ("name", "arguments", "options", "message"),
    [
        ("count", ("small.yaml",), {**SMALL, "tier": ["T9"]}, "--tier T9: .* it has T1, T2"),
        ("count", ("small.yaml",), {**SMALL, "tier": ["T1", "T3"]}, "--tier T3: .* it has T1, T2"),
        ("count", ("small.yaml",), {**SMALL, "method": ["nope"]}, "--method nope: .* CoT, PoT"),
        ("docnorm", ("small.yaml",), {**SMALL, "tier": "T9"}, "--tier T9: .* it has T1, T2"),
        ("blend", ("outputs", "small.yaml"), {"tier": "T9"}, "--tier T9: .* it has T1, T2"),
        ("tiers", ("outputs", "small.yaml"), {"method": "no"}, "--method no: .* CoT, PoT"),
        ("tiers", ("outputs", "small.yaml"), {"measure": "no"}, "--measure no: .* occurrences"),
        ("keyness", ("outputs",), {"of": "no", "against": "pot"}, "no outputs of no; .* cot, pot"),
        ("keyness", ("outputs",), {"of": "cot", "against": "pot", "unit": "x"}, "--unit x: .*word"),
    ],
)
def test_what_a_pattern_set_or_outputs_do_not_have_is_an_error_that_names_what_there_is(
    here: Path, name: str, arguments: tuple[str, ...], options: dict[str, Any], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        FUNCTIONS[f"ngramscan.{name}"](*arguments, **options)


BASE: dict[str, Any] = {"baseline": "cot"}
PAIR: dict[str, Any] = {"baselines": "cot", "adaptive": "pot", "rule": "strict"}


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("compare", {**BASE, "rule": "nope"}, "--rule nope: not scored; there are strict, lenient"),
        ("compare", {**BASE, "rule": ["strict", "nope"]}, "--rule nope: .* strict, lenient"),
        ("compare", {**BASE, "treatment": "nope"}, "method nope: .* cot, pot"),
        ("compare", {"baseline": "nope"}, "method nope: .* cot, pot"),
        ("compare", {**BASE, "family": "nope"}, "--family nope: one of dataset, model"),
        ("compare", {**BASE, "by": "nope"}, "--by nope: one of dataset, model was"),
        ("compare", {**BASE, "interval": "nope"}, "--interval nope: one of newcombe, bootstrap"),
        (
            "compare",
            {**BASE, "graded_test": "t"},
            "--graded-test t: one of bootstrap-t, signed-rank",
        ),
        ("compare", {**BASE, "zeros": "nope"}, "--zeros nope: one of dropped, pratt"),
        ("outcomes", {**PAIR, "rule": "nope"}, "--rule nope: .* strict, lenient"),
        ("outcomes", {**PAIR, "rule": ["strict", "nope"]}, "--rule nope: .* strict, lenient"),
        ("outcomes", {**PAIR, "adaptive": "nope"}, "methods there: cot, pot"),
        ("outcomes", {**PAIR, "baselines": "cot,no"}, "methods there: cot, pot"),
        ("agreement", {"level": "nope"}, "--level nope: one of nominal, ordinal, interval"),
    ],
)
def test_what_scores_do_not_have_is_an_error_that_names_what_there_is(
    rows: list[ScoreRow], name: str, options: dict[str, Any], message: str
) -> None:
    frame = to_frame(rows, ScoreRow)
    if name == "agreement":
        frame = pd.DataFrame({"item": ["1"], "judge": ["a"], "label": ["x"]})
    with pytest.raises(InputError, match=message):
        FUNCTIONS[f"evalcore.{name}"](frame, **options)


def test_recorded_outputs_of_another_method_are_named(rows: list[ScoreRow]) -> None:
    options: dict[str, Any] = {"outputs": "outputs", "rule": "strict"}
    with pytest.raises(InputError, match="--baseline nope: one of cot, pot was expected"):
        evalcore.efficiency(to_frame(rows, ScoreRow), baseline="nope", **options)
    with pytest.raises(
        InputError, match=r"--dataset nope: unknown benchmark; known are .*financemath"
    ):
        evalcore.score("outputs", dataset="nope")
    with pytest.raises(InputError, match="--extraction nope: one of boxed/1"):
        evalcore.score("outputs", dataset="financemath", extraction="nope")
    with pytest.raises(InputError, match="--rule nope: unknown for financemath; it has strict"):
        evalcore.score("outputs", dataset="financemath", rule="nope")


# Data frames in the place of files


def test_the_frames_of_scores_are_taken_as_their_files_are(rows: list[ScoreRow]) -> None:
    frame, file = to_frame(rows, ScoreRow), written(rows, ScoreRow, "s.jsonl")
    unchanged = frame.copy()
    calls: list[tuple[str, dict[str, Any]]] = [
        ("compare", {"baseline": "cot", "draws": 200}),
        ("outcomes", PAIR),
    ]
    for name, options in calls:
        function = FUNCTIONS[f"evalcore.{name}"]
        expected = function(file, **options)
        assert_frame_equal(function(frame, **options), expected)
        parts = [frame[frame["model"] == "m"], frame[frame["model"] == "n"]]
        assert_frame_equal(function(parts, **options), expected)
    assert_frame_equal(frame, unchanged)


def test_a_frame_that_went_through_csv_has_the_same_values(rows: list[ScoreRow]) -> None:
    file = written(rows, ScoreRow, "s.csv")
    frame = pd.read_csv(file, dtype={"id": str, "answer": str})  # nan for what is missing
    assert frame["value"].isna().any()
    assert_frame_equal(
        evalcore.compare(frame, all_pairs=True), evalcore.compare(file, all_pairs=True)
    )


def test_a_frame_without_a_column_is_refused_with_its_name(rows: list[ScoreRow]) -> None:
    frame = to_frame(rows, ScoreRow).drop(columns="method")
    with pytest.raises(InputError, match="data frame, row 1: no column method; rows of"):
        evalcore.compare(frame, all_pairs=True)
    with pytest.raises(TypeError, match="int: a file or a data frame was expected"):
        evalcore.compare(5, all_pairs=True)  # type: ignore[arg-type]


def record(model: str, method: str, number: int) -> bytes:
    named: dict[str, Any] = {"dataset": "d", "model": model, "method": method, "id": str(number)}
    return Record(**named, output="x", prompt_tokens=9, completion_tokens=5).line()


@pytest.fixture
def recorded(rows: list[ScoreRow]) -> Path:
    """The outputs that were scored."""
    for model in ("m", "n"):
        for method in ("cot", "pot"):
            path = record_path(Path("recorded"), "d", model, method)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(b"".join(record(model, method, number) for number in range(12)))
    return Path("recorded")


def test_scores_in_a_frame_have_the_costs_of_the_file(rows: list[ScoreRow], recorded: Path) -> None:
    options: dict[str, Any] = {"outputs": recorded, "rule": "strict", "draws": 100}
    frame, file = to_frame(rows, ScoreRow), written(rows, ScoreRow, "s.jsonl")
    assert_frame_equal(evalcore.efficiency(frame, **options), evalcore.efficiency(file, **options))
    with pytest.raises(InputError, match="--outputs: missing"):
        evalcore.efficiency(frame)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        pytest.param(b"", r"cot\.jsonl: it is empty; delete it, or .*evalcore run", id="empty"),
        pytest.param(b"\n \n", r"cot\.jsonl: it is empty", id="white space"),
        pytest.param(
            record("m", "cot", 0) + record("m", "cot", 1)[:-9],
            r"cot\.jsonl:2: the last line was not written to its end; run `evalcore run` again, or",
            id="cut as a killed run leaves it",
        ),
        pytest.param(
            record("m", "cot", 0) + b'{"output": "x", "id',
            r"cot\.jsonl:2: the last line was not written to its end; delete it",
            id="cut, and not of a run",
        ),
    ],
)
def test_an_empty_or_cut_file_of_records_is_named_with_its_cure(
    rows: list[ScoreRow], recorded: Path, content: bytes, message: str
) -> None:
    record_path(recorded, "d", "m", "cot").write_bytes(content)
    with pytest.raises(InputError, match=message):
        evalcore.efficiency(to_frame(rows, ScoreRow), outputs=recorded, rule="strict")


def test_judgements_and_labels_in_frames_agree_as_in_files(rows: list[ScoreRow]) -> None:
    judged = [
        replace(row, rule=f"judge:{who}", answer=str(int(row.id) % number % 2))
        for row in rows
        for who, number in (("a", 3), ("b", 5))
        if row.rule == "strict" and row.model == "m"
    ]
    frame, file = to_frame(judged, ScoreRow), written(judged, ScoreRow, "j.jsonl")
    assert_frame_equal(evalcore.agreement(frame, draws=100), evalcore.agreement(file, draws=100))
    wide = pd.DataFrame({"item": range(8), "a": list("xyxyxyxy"), "b": [*list("xyxyxyx"), None]})
    wide.to_csv("wide.csv", index=False)
    assert_frame_equal(
        evalcore.agreement(wide, draws=100), evalcore.agreement("wide.csv", draws=100)
    )


def test_counts_and_comparisons_are_linked_as_they_were_returned(rows: list[ScoreRow]) -> None:
    counted = ngramscan.count("small.yaml", index="scan:c.jsonl")
    scores = to_frame(rows, ScoreRow)
    compared = evalcore.compare(scores, all_pairs=True)
    counted.to_csv("counts.csv", index=False)
    compared.to_parquet("compared.parquet")
    by_files = evalcore.link("counts.csv", "compared.parquet", rule="strict")
    assert_frame_equal(evalcore.link(counted, compared, rule="strict"), by_files)
    assert not by_files.empty
    assert (
        len(evalcore.link(counted, scores, rule=["strict"], tier="t1")) == 3
    )  # two models, and both
    for options, message in (
        ({"rule": "nope"}, "--rule nope: not scored; there are strict, lenient"),
        ({"tier": ["T9"]}, "--tier T9: not among the counts; there are T1, T2"),
        ({"measure": "nope"}, "--measure nope: one of occurrences, documents"),
    ):
        with pytest.raises(InputError, match=message):
            evalcore.link(counted, compared, **options)


# What can't go together

COUNT = ["count", "small.yaml", "--index", "scan:c.jsonl"]
OUTCOMES = ["evalcore", "outcomes", "none.csv", "--baselines", "a", "--adaptive", "b"]
JUDGE = ["evalcore", "judge", "none", "--dataset", "financemath", "--judge", "m"]
ONE_FILE = [
    ["ngramscan", *COUNT, "--totals", "x.csv", "-o", "x.csv"],
    ["ngramscan", *COUNT, "--totals", "x.csv", "--journal", "./x.csv"],
    ["ngramscan", "docnorm", "none.yaml", "--draws", "x.csv", "--totals", "x.csv"],
    ["ngramscan", "contexts", "a", "--journal", "x.csv", "-o", "x.csv"],
    ["ngramscan", "index", "info", "dclm", "--journal", "x.csv", "-o", "x.csv"],
    ["ngramscan", "blend", "none", "--presence", "x.csv", "--isolation", "x.csv"],
    ["ngramscan", "blend", "none", "--retention", "x.csv", "-o", "link/x.csv"],
    ["ngramscan", "keyness", "none", "--of", "a", "--against", "b", "--export", "x", "-o", "x"],
    ["ngramscan", "strategies", "none", "--per-output", "x.csv", "-o", "x.csv"],
    ["evalcore", "compare", "none.csv", "--all-pairs", "--averages", "x.csv", "-o", "x.csv"],
    [*OUTCOMES, "--wins", "x.csv", "-o", "x.csv"],
    ["evalcore", "efficiency", "none.csv", "--figure", "x.svg", "-o", "x.svg", "--format", "csv"],
    ["evalcore", "agreement", "none.csv", "--votes", "x.csv", "-o", "x.csv"],
    ["evalcore", "link", "none.csv", "none.csv", "--ranks", "x.csv", "-o", "x.csv"],
    ["evalcore", "logs", "none", "--usage", "x.csv", "-o", "x.csv"],
    ["evalcore", "score", "none", "--dataset", "financemath", "--figure", "x.svg", "-o", "x.svg"],
    [*JUDGE, "--journal", "x.csv", "-o", "x.csv"],
]


@pytest.mark.parametrize("arguments", ONE_FILE, ids=" ".join)
def test_two_outputs_into_one_file_are_refused_before_any_work(
    here: Path, arguments: list[str]
) -> None:
    (here / "link").symlink_to(here)
    before = sorted(here.iterdir())
    main = {"ngramscan": ngramscan_main, "evalcore": evalcore_main}[arguments[0]]
    done = CliRunner().invoke(main, arguments[1:])
    assert (done.exit_code, done.stdout) == (2, "")
    assert re.fullmatch(r"Error: --.* writes to the same file; two .*\n", done.stderr)
    assert sorted(here.iterdir()) == before


@pytest.mark.parametrize(
    ("name", "arguments", "options"),
    [
        ("ngramscan.count", ["small.yaml"], {"totals": "x.svg", "figure": Path("x.svg")}),
        ("ngramscan.docnorm", [], {"totals": "x.csv", "draws": "./x.csv"}),
        ("ngramscan.blend", ["none"], {"retention": "x.svg", "figure": "link/x.svg"}),
        ("ngramscan.strategies", ["none"], {"per_output": "x.svg", "figure": "x.svg"}),
        ("evalcore.link", ["a.csv", "b.csv"], {"ranks": "x.svg", "figure": "x.svg"}),
    ],
)
def test_two_outputs_into_one_file_are_refused_in_python(
    here: Path, name: str, arguments: list[str], options: dict[str, Any]
) -> None:
    (here / "link").symlink_to(here)
    with pytest.raises(InputError, match="writes to the same file"):
        FUNCTIONS[name](*arguments, **options)


def test_spellings_that_are_counted_as_one_are_not_counted_apart_too(here: Path) -> None:
    with pytest.raises(InputError, match="--case-variants: it can't go with --ignore-case"):
        ngramscan.count("small.yaml", index="python", case_variants=True, ignore_case=True)
    done = CliRunner().invoke(ngramscan_main, [*COUNT, "--case-variants", "--ignore-case"])
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr.startswith("Error: --case-variants: it can't go with --ignore-case; ")


# Interruptions, and files of other encodings


@pytest.mark.parametrize(
    "arguments",
    [
        ["blend", "outputs", "small.yaml"],
        ["tiers", "outputs", "small.yaml"],
        ["keyness", "outputs", "--of", "cot", "--against", "pot"],
        ["strategies", "outputs"],
    ],
    ids=lambda arguments: arguments[0],
)
def test_a_command_that_is_interrupted_while_it_reads_outputs_says_that_nothing_was_kept(
    here: Path, arguments: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def stopped(_path: Path) -> bytes:
        raise KeyboardInterrupt

    monkeypatch.setattr(Path, "read_bytes", stopped)
    done = CliRunner().invoke(ngramscan_main, [*arguments, "-o", "rows.csv"])
    said = (done.exit_code, done.stdout, done.stderr)
    assert said == (130, "", "Interrupted; nothing was kept.\n")
    assert not (here / "rows.csv").exists()


def test_a_line_of_outputs_that_was_cut_is_named_with_what_to_do(here: Path) -> None:
    with (here / "outputs" / "d" / "m" / "pot.jsonl").open("a") as file:
        file.write('{"id": "12", "outp')
    with pytest.raises(InputError, match=r"pot\.jsonl:13: no JSON: .*; --skip-bad-lines leaves"):
        ngramscan.blend("outputs", "small.yaml")


LATIN = "a,b\nx,y\nné,z\n".encode("latin-1")


@pytest.mark.parametrize(
    "arguments",
    [
        ["compare", "l.csv", "--all-pairs"],
        ["outcomes", "l.csv", "--baselines", "a", "--adaptive", "b"],
        ["efficiency", "l.csv", "--outputs", "outputs"],
        ["agreement", "l.csv"],
        ["link", "l.csv", "l.csv"],
        ["logs", "l.csv"],
        ["audit", "tables"],
    ],
    ids=" ".join,
)
def test_a_table_that_is_not_utf8_is_one_line_with_its_name(
    here: Path, arguments: list[str]
) -> None:
    (here / "tables").mkdir()
    for path in (here / "l.csv", here / "tables" / "l.csv"):
        path.write_bytes(LATIN)
    (here / "tables" / "claims.yaml").write_text("claims: []\n")
    done = CliRunner().invoke(evalcore_main, arguments)
    assert (done.exit_code, done.stdout) == (2, "")
    assert re.fullmatch(r"Error: (?:tables/)?l\.csv(:\d)?: not UTF-8[^\n]*\n", done.stderr)
