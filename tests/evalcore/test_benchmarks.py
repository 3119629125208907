"""Loaders of benchmarks, tried on small files and, where these are present, on the real ones."""

import hashlib
import math
import re
from collections.abc import Callable, Mapping
from itertools import product
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from evalcore.benchmarks import Dataset, benchmarks, find_benchmark, load_dataset
from evalcore.formats import Problem
from tests.support.made_benchmarks import refused, write, write_financemath
from tests.support.outputs import write_lines

PHYSICS = "olympiadbench-oe-physics"


def load(name: str | None, path: Path | None) -> Dataset:
    return load_dataset(find_benchmark(name, path), path)


def olympiad(size: int, **first: Any) -> pd.DataFrame:
    same: dict[str, Any] = {
        "context": None,
        "unit": None,
        "error": None,
        "subfield": "Algebra",
        "is_multiple_answer": False,
        "answer_type": "Numerical",
        "solution": ["The secret solution."],
    }
    rows = [
        {"id": n, "question": f"Find $x = {n}$.", "final_answer": [f"${n}$"], **same}
        for n in range(size)
    ]
    rows[0] |= first
    return pd.DataFrame(rows, dtype=object)


def write_frame(path: Path, frame: pd.DataFrame) -> Path:
    if path.suffix == ".csv":
        frame.to_csv(path, index=False)
    elif path.suffix == ".parquet":
        frame.to_parquet(path)
    else:
        frame.to_json(path, orient="records", lines=path.suffix == ".jsonl")
    return path


def physics(folder: Path, **first: Any) -> Path:
    return write_frame(folder / "OE_TO_physics_en_COMP.jsonl", olympiad(236, **first))


def answerbench(path: Path, change: Mapping[int, str] | None = None, broken: int = 0) -> Path:
    """Write 400 problems: answers changed, or a quotation mark missing before one, as upstream."""
    text = "Problem ID,Problem,Short Answer,Category,Subcategory,Source\n"
    for number in range(1, 401):
        answer = (change or {}).get(number, f"${number}$")
        cells = f',{answer}"' if number == broken else f'",{answer}'
        text += f'imo-bench-algebra-{number:03},"Find\n""{number}"".\n{cells},'
        text += "Algebra,Equation,Made up\n"
    return write(path, text)


def exams(folder: Path, **texts: str) -> Path:
    """Write problems with the points of the published files: 110 in each exam."""
    for exam, number in product(("exam1", "exam2", "exam3"), range(1, 7)):
        points = 20 if number == 6 else 18
        text = f"\\paragraph{{Problem {number} ({points} points)}}\nProve that $1 = 1$.\n"
        text = texts.get(f"{exam}_{number}", text)
        write(folder / exam / f"problem{number}.tex", text)
    return folder


@pytest.mark.parametrize("name", list(benchmarks()))
def test_a_benchmark_that_is_not_there_says_what_to_do(tmp_path: Path, name: str) -> None:
    refused(f"--dataset {name}: .* run `evalcore datasets fetch {name}`", load, name, None)
    refused(f"contains no {next(iter(benchmarks()[name].files))}", load, name, tmp_path)
    refused("nowhere: no such file or folder", load, name, tmp_path / "nowhere")


MADE: dict[str, Callable[..., Path]] = {"financemath": write_financemath, PHYSICS: physics}
MADE["aicrypto"] = exams


@pytest.mark.parametrize(
    ("name", "what", "value", "message"),
    [
        pytest.param(
            "financemath",
            "validation.json",
            "[{]",
            "validation.json: not valid JSON: ",
            id="not JSON",
        ),
        pytest.param(
            "bbh-word-sorting",
            "word_sorting.json",
            "[]",
            "word_sorting.json: Expected object",
            id="a list",
        ),
        pytest.param(
            "bbh-word-sorting",
            "word_sorting.json",
            "{}",
            "examples: Expected array",
            id="no examples",
        ),
        pytest.param(
            "imo-answerbench",
            "answerbench_v2.csv",
            "a\n1\n",
            "answerbench_v2.csv:2: no column Problem ID, Problem, Short",
            id="a table of something else",
        ),
        pytest.param("mine", "empty.csv", "id,question,answer\n", "no rows", id="no questions"),
        pytest.param(
            "aicrypto",
            "exam1_2",
            "Prove it.",
            "problem2.tex: problems with points: none",
            id="an exam without points",
        ),
        pytest.param(
            "aicrypto",
            "exam1_2",
            "**Problem 3 (1 points)**",
            "points: 3; expected one",
            id="a problem of another number",
        ),
        pytest.param(
            "financemath", "size", 199, "199 problems; expected 200", id="a problem too few"
        ),
        pytest.param(
            "financemath",
            "question",
            " ",
            "[1]: question is ' '; expected text",
            id="a blank question",
        ),
        pytest.param(
            "financemath",
            "tables",
            "| a |",
            "[1]: tables: Expected array, got str",
            id="a table that is a text",
        ),
        pytest.param(
            "financemath",
            "ground_truth",
            True,
            "[1]: ground_truth is True; expected text",
            id="an answer that is a truth value",
        ),
        pytest.param(
            "financemath",
            "ground_truth",
            "8",
            "[1]: ground_truth: Expected float, got str",
            id="an answer that is a text",
        ),
        pytest.param(
            "financemath",
            "ground_truth",
            math.nan,
            "[1]: ground_truth is nan; expected text",
            id="an answer that is no number",
        ),
        pytest.param(
            "olympiadbench-oe-physics",
            "error",
            "small",
            "COMP.jsonl:1: error: $[0]: Expected float | null, got str",
            id="an error that is a word",
        ),
        pytest.param(
            "olympiadbench-oe-physics",
            "answer_type",
            "Poem",
            ":1: answer_type is Poem; expected Numerical, Expression, ",
            id="an unknown type of answer",
        ),
        pytest.param(
            "olympiadbench-oe-physics",
            "question",
            "",
            ":1: question: Expected str of length >= 1",
            id="an empty question",
        ),
        pytest.param(
            "mine",
            "a.csv",
            "id,question,answer\n3,a,b\n3,c,d\n",
            "csv: id 3 occurs more than once",
            id="an id twice",
        ),
        pytest.param(
            "imo-answerbench",
            "answerbench_v2.csv",
            "a\n" + "x" * 200_000,
            "csv:2: no column Problem ID",
            id="a long cell",
        ),
    ],
)
def test_wrong_is_refused(name: str, what: str, value: Any, message: str, tmp_path: Path) -> None:
    is_file = "." in what
    made = write(tmp_path / what, value) if is_file else MADE[name](tmp_path, **{what: value})
    refused(re.escape(message), load, name, made)


def test_a_financemath_problem_has_tables_before_and_a_program_beside_it(tmp_path: Path) -> None:
    file = write_financemath(tmp_path, tables=["| a |", "| b |"], ground_truth=0.14300000000000002)
    dataset = load("financemath", file)
    first, second, third = dataset.problems[:3]
    assert first.text == "Table:\n| a |\n\n| b |\n\nQuestion: What is 0 / 8?"
    assert third.text == "Question: What is 2 / 8?"
    assert (second.id, second.gold, second.subtask) == ("validation-1", "0.125", "Accounting")
    program = "def solution():\n    return 1 / 8"
    assert second.details == {"program": program, "ground_truth": 0.125}
    assert "1 answers have more than 3 decimals, the first is validation-0" in dataset.faults


@pytest.mark.parametrize(
    "place",
    [
        pytest.param("financemath/validation.json", id="a file"),
        pytest.param("financemath", id="its folder"),
        pytest.param(".", id="a folder of folders"),
    ],
)
def test_a_file_its_folder_and_a_folder_of_folders_give_the_same(
    tmp_path: Path, place: str
) -> None:
    file = write_financemath(tmp_path / "financemath")
    sha256 = hashlib.sha256(file.read_bytes()).hexdigest()
    dataset = load("financemath", tmp_path / place)
    assert (len(dataset.problems), dataset.sha256) == (200, sha256)
    assert dataset.faults == (f"not the published file: its SHA-256 is {sha256}",)


@pytest.mark.parametrize(
    ("stated", "tolerance"),
    [
        pytest.param(None, None, id="none"),
        pytest.param("1e-1", 0.1, id="one"),
        pytest.param("1e-1,,0.02", (0.1, None, 0.02), id="one of each answer"),
    ],
)
def test_tolerances_are_numbers(tmp_path: Path, stated: str | None, tolerance: Any) -> None:
    dataset = load(PHYSICS, physics(tmp_path, error=stated))
    assert dataset.problems[0].details["tolerance"] == tolerance


def test_a_context_stands_before_its_question(tmp_path: Path) -> None:
    dataset = load(PHYSICS, physics(tmp_path, context="A ball falls.", question="<img_1>"))
    assert dataset.problems[0].text == "A ball falls.\n<img_1>"
    assert dataset.faults == ("1 problems need a picture, the first is 0",)


@pytest.mark.parametrize("ending", ["jsonl", "json", "parquet"])
def test_proof_problems_are_read_from_all_their_formats(ending: str, tmp_path: Path) -> None:
    frame = olympiad(25).assign(final_answer=None, is_multiple_answer=None, answer_type=None)
    write_frame(tmp_path / f"TP_TO_physics_en_COMP.{ending}", frame)
    dataset = load("olympiadbench-tp-physics", tmp_path)
    details = {"solution": ["The secret solution."]}
    expected = Problem("24", "Find $x = 24$.", None, "TP_physics", details=details)
    assert (dataset.problems[24], dataset.faults) == (expected, ())


@pytest.mark.parametrize(("size", "is_told"), [(674, False), (675, True)])
def test_both_editions_of_the_maths_problems_are_known(
    tmp_path: Path, size: int, is_told: bool
) -> None:
    file = write_frame(tmp_path / "OE_TO_maths_en_COMP.jsonl", olympiad(size))
    faults = load("olympiadbench-oe-maths", file).faults
    assert any("the paper has 674" in fault for fault in faults) == is_told


def test_exams_are_read_from_their_folder_with_points_and_one_hash(tmp_path: Path) -> None:
    definitions = "\\paragraph{Definitions.}\nA set.\n\n\\paragraph{Problem 1 (18 points)} Show it."
    folder = exams(tmp_path / "aicrypto", exam1_1=definitions, exam2_1="**Problem 1 (18 points)**")
    dataset = load("aicrypto", tmp_path)
    expected = Problem("exam1/problem1", definitions, None, "exam1", details={"points": 18})
    assert (dataset.problems[0], dataset.faults) == (expected, ())
    content = b"".join(file.read_bytes() for file in sorted(folder.glob("*/*.tex")))
    assert dataset.sha256 == hashlib.sha256(content).hexdigest()


OWN: list[dict[str, Any]] = [
    {"id": 1, "question": "Capital of France? ", "answer": "Paris"},
    {"id": 2, "question": "2 + 2?", "answer": "4"},
]


@pytest.mark.parametrize("ending", ["csv", "json", "jsonl", "parquet"])
def test_questions_of_ones_own_need_three_columns_and_no_yaml(ending: str, tmp_path: Path) -> None:
    file = write_frame(tmp_path / f"mine.{ending}", pd.DataFrame(OWN))
    dataset = load(None, file)
    assert [(each.id, each.text, each.gold) for each in dataset.problems] == [
        ("1", "Capital of France?", "Paris"),
        ("2", "2 + 2?", "4"),
    ]
    assert (dataset.name, dataset.faults) == ("mine", ())
    assert load("other", file).name == "other"


def test_questions_without_ids_are_numbered_as_in_their_file(tmp_path: Path) -> None:
    rows = [{"question": f"{n} + 1?", "answer": f"{n + 1}"} for n in range(3)]
    file = write_lines(tmp_path / "mine.jsonl", *rows)
    dataset = load(None, file)
    assert [(each.id, each.text) for each in dataset.problems] == [
        ("1", "0 + 1?"),
        ("2", "1 + 1?"),
        ("3", "2 + 1?"),
    ]
    assert dataset.faults == ("no column id; the problems are numbered in the order of the file",)


@pytest.mark.parametrize(
    "rows",
    [
        pytest.param([{"id": "a"}, {}], id="one has an id"),
        pytest.param([{"task_id": "a"}, {"task_id": "b"}], id="another column may be the id"),
        pytest.param([{}, {"key": "b"}], id="it may be in another row"),
    ],
)
def test_questions_are_not_numbered_where_ids_may_be_there(
    rows: list[dict[str, str]], tmp_path: Path
) -> None:
    filled = [{"question": "Why?", "answer": "Because.", **row} for row in rows]
    refused("no column id", load, None, write_lines(tmp_path / "mine.jsonl", *filled))


def test_columns_are_named_by_options_and_others_are_left_out(tmp_path: Path) -> None:
    row = {"key": "a", "text": "Why?", "gold": "Because.", "question": "No.", "hint": "x"}
    file = write(tmp_path / "mine.jsonl", row)
    [problem] = load_dataset(find_benchmark(None, file, "key", "text", "gold"), file).problems
    assert (problem.id, problem.text, problem.gold) == ("a", "Why?", "Because.")
    cure = "no column id, answer; the columns are key, .* mine is not .* --id-field key, --an"
    refused(cure, load, None, file)


def test_a_broken_row_is_taken_from_a_whole_first_version(tmp_path: Path) -> None:
    file = answerbench(tmp_path / "answerbench_v2.csv", {5: "$\\frac{1}{2}"}, broken=36)
    for _ in range(2):
        refused("imo-bench-algebra-036 has no Source.* put a", load, "imo-answerbench", file)
        answerbench(tmp_path / "answerbench.csv", broken=36)
    answerbench(tmp_path / "answerbench.csv")
    dataset = load("imo-answerbench", file)
    problem = dataset.problems[35]
    assert (problem.text, problem.gold) == ('Find\n"36".', "$36$")
    assert problem.details == {"category": "Algebra", "subcategory": "Equation"}
    assert dataset.faults[:3] == (
        "imo-bench-algebra-036 has no Source: its fields are shifted upstream; "
        "it was taken from answerbench.csv",
        "answerbench.csv beside it is not the published file",
        "imo-bench-algebra-005: its answer has a $ without its pair",
    )


NO_UNIT = ", note that the unit of the answer should not be included in \\boxed{}"


@pytest.mark.parametrize(
    ("kinds", "unit", "several", "boxed", "said"),
    [
        pytest.param(
            "Numerical",
            None,
            False,
            "answer",
            "The answer of The problem should be a numerical value. ",
            id="a number",
        ),
        pytest.param("Tuple", "km", False, "answer", "", id="a tuple with a unit"),
        pytest.param(
            "Equation,Equation",
            None,
            True,
            "multiple answers connected with commas",
            "The problem has multiple answers, each of them should be an equation. ",
            id="two equations",
        ),
        pytest.param(
            "Numerical,Interval",
            None,
            True,
            "multiple answers connected with commas",
            (
                "The problem has multiple answers, with the answers in order being a numerical "
                "value, an interval. "
            ),
            id="a number and an interval",
        ),
    ],
)
def test_the_answer_is_asked_for_as_the_authors_do(
    kinds: str, unit: str | None, several: bool, boxed: str, said: str, tmp_path: Path
) -> None:
    folder = physics(tmp_path, answer_type=kinds, is_multiple_answer=several, unit=unit)
    problem = load(PHYSICS, folder).problems[0]
    assert problem.fields == {
        "answer_type_text": said,
        "boxed_format": f"\\boxed{{{boxed}}}" + "(unit)" * bool(unit),
        "unit_text": NO_UNIT * bool(unit),
    }
    stated = {"unit": unit, "is_multiple_answer": several}
    assert stated.items() <= problem.details.items()


def test_word_sorting_has_ids_by_place_and_its_canary_is_looked_for(tmp_path: Path) -> None:
    examples = [{"input": f"Sort: b{n} a{n}", "target": f"a{n} b{n}"} for n in range(250)]
    file = write(tmp_path / "word_sorting.json", {"examples": examples})
    dataset = load("bbh-word-sorting", file)
    expected = Problem("word_sorting-249", "Sort: b249 a249", "a249 b249", "word_sorting")
    assert dataset.problems[249] == expected
    assert dataset.faults[0] == "the canary that keeps it out of training data is gone"


def test_missing_points_and_problems_are_told(tmp_path: Path) -> None:
    exams(tmp_path, exam1_2="\\paragraph{Problem 2 (8 points)}")
    told = "the points add up to 320; the benchmark has 330"
    assert load("aicrypto", tmp_path).faults == (told,)
    for name in ("exam2/problem3.tex", "exam3/problem6.tex"):
        (tmp_path / name).unlink()
    refused(r"2 of 18 files missing: exam2/problem3\.tex", load, "aicrypto", tmp_path)


def secrets_of(problem: Problem) -> list[str]:
    """Return the long texts of a problem that would give its answer away."""
    texts: list[str] = []
    for key in ("program", "solution", "guidelines"):
        secret = problem.details.get(key) or ""
        texts += secret if isinstance(secret, list) else [secret]
    return [text for text in texts if len(text) >= 30]


@pytest.mark.parametrize(
    ("name", "size", "faults"),
    [
        ("financemath", 200, 0),
        ("imo-answerbench", 400, 3),
        ("imo-proofbench", 60, 0),
        ("olympiadbench-oe-maths", 675, 1),
        ("bbh-word-sorting", 250, 0),
    ],
)
def test_the_real_benchmarks_are_the_pinned_ones_and_show_no_solution(
    name: str, size: int, faults: int, shared: Path
) -> None:
    dataset = load(name, shared / "data")
    pinned = next(iter(benchmarks()[name].files.values()))
    assert (len(dataset.problems), dataset.sha256, len(dataset.faults)) == (size, pinned, faults)
    revealing = []
    for problem in dataset.problems:
        visible = "\n".join([problem.text, *problem.fields.values()])
        if any(text in visible for text in secrets_of(problem)):
            revealing.append(problem.id)
    assert revealing == []


def test_the_repaired_real_row_does_not_show_its_answer(shared: Path) -> None:
    problems = load("imo-answerbench", shared / "data").problems
    (problem,) = (problem for problem in problems if problem.id == "imo-bench-algebra-036")
    assert (problem.gold, problem.subtask) == ("$Y(x)=A+\\frac{B}{x}-x$", "Algebra")
    assert "Y(x)=" not in problem.text


@pytest.mark.parametrize("name", ["answerbench", "proofbench"])
def test_the_first_version_of_a_real_benchmark_is_called_deprecated(
    name: str, shared: Path
) -> None:
    faults = load(f"imo-{name}", shared / f"data/imobench/{name}.csv").faults
    assert faults[-1] == "this is the first version, which the authors call deprecated"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        pytest.param(
            ["imo"], "--dataset imo: unknown benchmark; .*; known: aicrypto", id="unknown"
        ),
        pytest.param(
            ["imo", Path()],
            r"for your own questions give --data FILE \(JSONL, CSV, JSON or",
            id="unknown, with a folder",
        ),
        pytest.param([None], "--dataset: missing; .*; known: aicrypto", id="no name"),
        pytest.param(
            ["financemath", None, "key"],
            "--id-field: the columns of financemath are fixed",
            id="a column of a shipped one",
        ),
        pytest.param(
            [None, Path("financemath.csv")],
            "if it is a copy of the benchmark, add --data",
            id="a file with its name",
        ),
    ],
)
def test_what_is_no_benchmark_says_what_there_is(arguments: list[Any], message: str) -> None:
    refused(message, find_benchmark, *arguments)
