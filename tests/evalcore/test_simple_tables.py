"""Tables of ids and verdicts, as people have them, are compared like scores."""

import io
import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import evalcore
from ngramscan.errors import InputError
from tests.support.command import invoke

WIDE = "id,A,B\nq1,1,0\nq2,1,0\nq3,0,1\nq4,1,1\nq5,,1\n"
LONG = "id,method,value\n" + "".join(
    f"{line.split(',')[0]},{method},{line.split(',')[place]}\n"
    for place, method in ((1, "A"), (2, "B"))
    for line in WIDE.splitlines()[1:]
)
FIGURES = {"baseline": "A", "treatment": "B", "n": 4, "n_unknown": 1}
FIGURES |= {"baseline_only": 2, "treatment_only": 1}


def figures(given: Any, **options: Any) -> dict[str, Any]:
    [row] = evalcore.compare(given, **options).to_dict("records")
    return {name: row[name] for name in FIGURES}


def jsonl(text: str) -> str:
    rows = pd.read_csv(io.StringIO(text), dtype=object).to_dict("records")
    lines = ({key: cell for key, cell in row.items() if pd.notna(cell)} for row in rows)
    return "".join(json.dumps(line) + "\n" for line in lines)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        pytest.param("t.csv", WIDE, id="a column for each method"),
        pytest.param("t.csv", "\ufeff" + WIDE, id="with a byte order mark"),
        pytest.param("t.csv", WIDE.replace(",1", ",TRUE").replace(",0", ",FALSE"), id="as R has"),
        pytest.param("t.csv", WIDE.replace(",1", ",yes").replace(",0", ",No"), id="yes and no"),
        pytest.param("t.csv", WIDE.replace(",1", ", pass").replace(",0", ", fail"), id="pass"),
        pytest.param("t.csv", WIDE.replace("q5,,", "q5,NA,"), id="NA is unknown"),
        pytest.param("t.csv", WIDE.replace(",1", ",1.0").replace(",0", ",0.0"), id="floats"),
        pytest.param("t.csv", WIDE.replace("id,", ",", 1), id="the index of pandas"),
        pytest.param("t.csv", WIDE.replace("id,A,B", "ID, A, B"), id="capitals and blanks"),
        pytest.param("t.csv", LONG.replace("method,value", "Method,Correct"), id="capitals"),
        pytest.param("t.jsonl", jsonl(WIDE), id="lines without a key where it is unknown"),
        pytest.param("t.csv", LONG, id="a row for each answer"),
        pytest.param("t.csv", LONG.replace("value", "correct"), id="correct"),
        pytest.param("t.csv", LONG.replace("value", "score"), id="score"),
        pytest.param("t.jsonl", jsonl(LONG), id="lines for each answer"),
        pytest.param("t.jsonl", jsonl(LONG.replace("value", "correct")), id="lines with correct"),
    ],
)
def test_the_simplest_files_are_compared(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")
    assert figures(tmp_path / name) == FIGURES
    [row] = evalcore.compare(tmp_path / name).to_dict("records")
    assert (row["dataset"], row["model"], row["rule"]) == ("t", "", "correct")


def frames() -> dict[str, pd.DataFrame]:
    wide, long = (pd.read_csv(io.StringIO(text)) for text in (WIDE, LONG))
    truths = wide.assign(A=wide["A"].astype("boolean"), B=wide["B"] == 1)
    return {
        "a column for each method": wide,
        "the id is the index": wide.set_index("id"),
        "an id and an index of numbers as text": wide.set_axis(list("01010")),
        "the index has no name": wide.set_index("id").rename_axis(index=None),
        "true and false": truths,
        "a row for each answer": long,
        "a row for each answer, by id": long.set_index("id"),
        "id and method are the index": long.set_index(["id", "method"]),
        "the index is that of a part": pd.concat([wide, wide]).iloc[5:],
        "categories": long.astype({"method": "category"}),
    }


@pytest.mark.parametrize("kind", list(frames()))
def test_the_simplest_frames_are_compared(kind: str) -> None:
    assert figures(frames()[kind]) == FIGURES


def test_files_named_after_methods_are_one_benchmark(tmp_path: Path) -> None:
    rows = [line.split(",") for line in WIDE.splitlines()[1:]]
    for place, method in ((1, "A"), (2, "B")):
        lines = "".join(f"{cells[0]},{cells[place]}\n" for cells in rows)
        (tmp_path / f"{method}.csv").write_text(f"id,correct\n{lines}")
    assert figures([tmp_path / "A.csv", tmp_path / "B.csv"]) == FIGURES


COT, POT = ("id,correct\n1,1\n2,0\n", "id,correct\n1,1\n2,1\n")


def with_other_ids(text: str) -> str:
    return text.replace("\n1,", "\na,").replace("\n2,", "\nb,")


def write_files(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (folder / name).parent.mkdir(exist_ok=True, parents=True)
        (folder / name).write_text(text)


@pytest.mark.parametrize("is_folder", [False, True])
@pytest.mark.parametrize(
    ("files", "datasets"),
    [
        pytest.param({"cot/gsm8k.csv": COT, "pot/gsm8k.csv": POT}, ["gsm8k"], id="one file each"),
        pytest.param(
            {"m1/cot/gsm8k.csv": COT, "m1/pot/gsm8k.csv": POT}, ["gsm8k"], id="in a further folder"
        ),
        pytest.param(
            {
                "cot/gsm8k.csv": COT,
                "pot/gsm8k.csv": POT,
                "cot/svamp.csv": with_other_ids(COT),
                "pot/svamp.csv": with_other_ids(POT),
            },
            ["gsm8k", "svamp"],
            id="benchmarks of other ids",
        ),
        pytest.param(
            {"cot/gsm8k.csv": COT, "pot/gsm8k.csv": POT, "cot/sv.csv": COT, "pot/sv.csv": POT},
            ["gsm8k", "sv"],
            id="benchmarks of the same ids, folders with the names of usual methods",
        ),
        pytest.param(
            {"gsm8k/cot.csv": COT, "gsm8k/pot.csv": POT, "sv/cot.csv": COT, "sv/pot.csv": POT},
            ["gsm8k", "sv"],
            id="folders are benchmarks",
        ),
    ],
)
def test_a_folder_of_tables_is_a_method_if_the_files_are_benchmarks(
    tmp_path: Path, files: dict[str, str], datasets: list[str], is_folder: bool
) -> None:
    write_files(tmp_path, files)
    given = tmp_path if is_folder else [tmp_path / name for name in files]
    rows = evalcore.compare(given, baseline="cot").to_dict("records")
    assert [row["dataset"] for row in rows] == datasets
    assert {(row["treatment"], row["n"], row["treatment_only"]) for row in rows} == {("pot", 2, 1)}


def test_files_of_one_folder_are_methods_if_only_they_have_the_same_ids(tmp_path: Path) -> None:
    other = {"a": with_other_ids(COT), "b": with_other_ids(POT)}
    files = {"x/a.csv": COT, "x/b.csv": POT, "y/a.csv": other["a"], "y/b.csv": other["b"]}
    write_files(tmp_path, files)
    rows = evalcore.compare(tmp_path, baseline="a").to_dict("records")
    assert [(row["dataset"], row["treatment"], row["n"]) for row in rows] == [
        ("x", "b", 2),
        ("y", "b", 2),
    ]


@pytest.mark.parametrize(
    "other",
    [
        pytest.param({"x/cot.csv": COT, "y/cot.csv": COT}, id="the file has a usual name"),
        pytest.param({"x/mine.csv": COT, "y/mine.csv": with_other_ids(COT)}, id="other problems"),
    ],
)
def test_one_method_on_two_benchmarks_is_the_file(tmp_path: Path, other: dict[str, str]) -> None:
    write_files(tmp_path, other)
    rows = evalcore.logs(tmp_path)
    assert list(rows["dataset"].unique()) == ["x", "y"]
    assert list(rows["method"].unique()) == [Path(next(iter(other))).stem]


def test_a_benchmark_of_one_method_leaves_the_folders_methods(tmp_path: Path) -> None:
    files = {"a/gsm8k.csv": COT, "b/gsm8k.csv": POT, "c/svamp.csv": COT}
    write_files(tmp_path, files)
    rows = evalcore.logs(tmp_path)[["dataset", "method"]].drop_duplicates()
    assert list(rows.itertuples(index=False, name=None)) == [
        ("gsm8k", "a"),
        ("gsm8k", "b"),
        ("svamp", "c"),
    ]


def test_a_table_that_cannot_be_read_does_not_stop_the_others_in_folders(tmp_path: Path) -> None:
    files = {"a/gsm8k.csv": COT, "b/gsm8k.csv": POT, "c/gsm8k.csv": "id,correct\n1,7\n"}
    write_files(tmp_path, files)
    done = invoke("logs", tmp_path, "--format", "csv")
    assert (done.code, done.stdout.count("\n")) == (1, 5)
    assert "c/gsm8k.csv:2: correct is '7'" in done.stderr
    assert {line.split(",")[2] for line in done.stdout.splitlines()[1:]} == {"a", "b"}


def test_a_column_of_methods_counts_more_than_the_folder(tmp_path: Path) -> None:
    text = "id,method,correct\n1,{0},1\n2,{0},0\n"
    write_files(tmp_path, {"x/t.csv": text.format("cot"), "y/t.csv": text.format("pot")})
    [row] = evalcore.compare([tmp_path / "x/t.csv", tmp_path / "y/t.csv"]).to_dict("records")
    assert (row["baseline"], row["treatment"], row["n"]) == ("cot", "pot", 2)


def test_what_a_simple_table_does_not_say_is_said(tmp_path: Path) -> None:
    path = tmp_path / "runs.csv"
    path.write_text(WIDE.replace("\n", ",why?\n").replace(",why?", ",question", 1))
    done = invoke("compare", path)
    assert done.code == 0
    assert done.stderr.splitlines()[:2] == [
        f"{path}: methods are the columns A, B; left out: question; dataset is runs; "
        "rule is correct; no model",
        "the baseline is A, and not B; --baseline METHOD chooses it",
    ]


def test_graded_values_and_columns_of_problems_are_kept(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("id,A,B,points\n1,0.25,1,3\n2,0.5,0,1\n")
    [row] = evalcore.compare(path, weight="points").to_dict("records")
    assert (row["accuracy_baseline"], row["accuracy_treatment"]) == (1.25 / 4, 3 / 4)


def test_columns_of_scores_are_no_methods(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("id,model,subtask,hash,A,B\n1,m,s,0,1,0\n2,m,s,1,1,1\n")
    [row] = evalcore.compare(path).to_dict("records")
    assert (row["model"], row["baseline"], row["treatment"], row["n"]) == ("m", "A", "B", 2)


def test_other_commands_read_simple_tables_too(tmp_path: Path) -> None:
    path, counts = tmp_path / "t.csv", tmp_path / "counts.csv"
    path.write_text("id,A,B\n" + "".join(f"{n},{n % 2},{n % 3 // 2}\n" for n in range(12)))
    counts.write_text("id,count\n" + "".join(f"{n},{n * n}\n" for n in range(12)))
    [row] = evalcore.outcomes(path, baselines="A", adaptive="B").to_dict("records")
    assert (row["n"], row["dataset"]) == (12, "t")
    slopes = evalcore.link(counts, path, problems=True)
    assert [*slopes["method"]] == ["A", "B", "B"]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        pytest.param(
            "task_id,A,B\n1,1,0\n",
            "no column id; rename `task_id` to `id` if that is meant; expected id, method and",
            id="no id",
        ),
        pytest.param("A,B\n1,0\n", "no column id; expected id, method and value; or", id="nor one"),
        pytest.param("id\n1\n", "no column of verdicts; expected id, method and", id="only ids"),
        pytest.param("id,q\n1,why\n", "no column of verdicts; expected id, ", id="only texts"),
        pytest.param("id,method,x\n1,a,1\n", "no column value; a verdict may also ", id="no value"),
        pytest.param(
            "id,method,correct,score\n1,a,1,1\n",
            "correct and score may both be the verdict; rename one of them to `value`",
            id="two verdicts",
        ),
        pytest.param("id,A,B\n1,1,0\n2,1,maybe\n", "t.csv:3: B is 'maybe'; expected true", id="no"),
        pytest.param("id,A,B\n1,1,0\n2,1,85\n", "t.csv:3: B is '85'; expected true ", id="percent"),
        pytest.param("id,A,B\n1,1,0\n2,1,-1\n", "t.csv:3: B is '-1'; expected true", id="below 0"),
        pytest.param("id,A,B\n1,1,0\n2,1,inf\n", "t.csv:3: B is 'inf'; expected ", id="infinite"),
        pytest.param("id,A,B\n1,1,0\n1,1,1\n", "two rows of t A 1 correct", id="an id twice"),
        pytest.param(
            "id,A,B,C\n1,1,0,1\n", "expected either a baseline or .*the methods are A, B, C", id="3"
        ),
    ],
)
def test_what_a_simple_table_lacks_is_named_with_the_cure(
    tmp_path: Path, text: str, problem: str
) -> None:
    path = tmp_path / "t.csv"
    path.write_text(text)
    with pytest.raises(InputError, match=problem):
        evalcore.compare(path)


def test_a_frame_of_one_method_must_name_it() -> None:
    with pytest.raises(InputError, match="data frame: no column method; expected id, method and"):
        evalcore.compare(pd.DataFrame({"id": [1], "correct": [1]}))


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(WIDE.replace(",", ";"), id="semicolons"),
        pytest.param(WIDE.replace(",", "\t"), id="tabs"),
        pytest.param(WIDE.replace("q3,", "\n,,\nq3,") + ",,\n", id="empty rows of a spreadsheet"),
        pytest.param(WIDE.replace(",1", ",✓").replace(",0", ",✗"), id="ticks"),
        pytest.param(WIDE.replace(",1", ",passed").replace(",0", ",failed"), id="passed"),
    ],
)
def test_tables_of_spreadsheets_are_compared(tmp_path: Path, text: str) -> None:
    path = tmp_path / "t.csv"
    path.write_text(text, encoding="utf-8")
    assert figures(path) == FIGURES
    assert len(evalcore.logs(path)) == 10


@pytest.mark.parametrize(
    ("ids", "others"),
    [
        pytest.param(["1 ", " 2"], ["1", "2"], id="blanks around an id"),
        pytest.param(["1.0", "2.0"], ["1", "2"], id="whole numbers that became floats"),
        pytest.param(["-1.0", "0.0"], ["-1", "0"], id="negative ones"),
    ],
)
def test_ids_of_spreadsheets_and_frames_are_those_of_others(
    tmp_path: Path, ids: list[str], others: list[str]
) -> None:
    for method, names in (("cot", ids), ("pot", others)):
        (tmp_path / f"{method}.csv").write_text(f"id,correct\n{names[0]},1\n{names[1]},0\n")
    [row] = evalcore.compare([tmp_path / "cot.csv", tmp_path / "pot.csv"]).to_dict("records")
    assert (row["n"], row["n_unknown"]) == (2, 0)


def test_whole_ids_of_a_frame_and_of_json_may_be_floats(tmp_path: Path) -> None:
    frame = pd.DataFrame({"id": [1.0, 2.0], "A": [1, 0], "B": [1, 1]})
    assert list(evalcore.compare(frame)["n"]) == [2]
    (tmp_path / "cot.jsonl").write_text('{"id":1.0,"correct":1}\n{"id":"x","correct":0}\n')
    assert list(evalcore.logs(tmp_path / "cot.jsonl")["id"]) == ["1", "x"]


def test_ids_with_decimals_stay_apart(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("id,A,B\n1.0,1,0\n1.1,1,1\n1,0,0\n")
    assert list(evalcore.compare(tmp_path / "t.csv")["n"]) == [3]


@pytest.mark.parametrize("name", ["mean", "Average", "Total", "Overall accuracy"])
@pytest.mark.parametrize("is_long", [False, True])
def test_a_summary_of_the_other_rows_is_no_problem(
    tmp_path: Path, name: str, is_long: bool
) -> None:
    path = tmp_path / "t.csv"
    wide, long = f"{WIDE}{name},.5,.5\n", f"{LONG}{name},A,.5\n{name},B,.5\n"
    path.write_text(long if is_long else wide)
    with pytest.raises(InputError, match=rf"t.csv:\d+: id '{name}': a summary of the other rows"):
        evalcore.compare(path)


def test_a_problem_may_have_the_name_of_a_summary(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("id,A,B\na,1,0\nb,1,0\nmean,1,0\nc,1,1\nd,0,1\n")
    assert list(evalcore.compare(tmp_path / "t.csv")["n"]) == [5]


@pytest.mark.parametrize(
    ("header", "cure"),
    [
        pytest.param(
            "id,strategy,correct", "`strategy` tells apart; rename it to `method`", id="m"
        ),
        pytest.param("id,prompt,score", "`prompt` tells apart; rename it to `method`", id="prompt"),
    ],
)
def test_a_column_that_tells_answers_apart_is_named(tmp_path: Path, header: str, cure: str) -> None:
    path = tmp_path / "t.csv"
    path.write_text(LONG.replace("id,method,value", header))
    with pytest.raises(InputError, match=cure):
        evalcore.compare(path)


def test_a_column_that_numbers_repeated_answers_is_named(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("id,method,seed,correct\n1,A,1,1\n1,A,2,0\n1,B,1,1\n1,B,2,1\n")
    with pytest.raises(InputError, match="`seed` tells apart; rename it to `epoch` if it names"):
        evalcore.compare(path)
