"""What loaders prove about benchmarks, on small made files and, where present, on the real ones."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from evalcore.benchmarks import (
    AbsentError,
    Dataset,
    benchmarks,
    check_each,
    describe_datasets,
    find_benchmark,
    load_dataset,
)
from ngramscan.errors import InputError
from tests.made_benchmarks import write_proofbench

ANSWER_COLUMNS = ("Problem ID", "Problem", "Short Answer", "Category", "Subcategory", "Source")


def finance_row(number: int, **changes: Any) -> dict[str, Any]:
    row = {
        "question_id": f"validation-{number}",
        "question": f"What is {number} plus one?",
        "tables": [],
        "python_solution": f"def solution():\n    return {number} + 1  # the secret program",
        "ground_truth": float(number + 1),
        "topic": "Accounting",
    }
    return {**row, **changes}


def olympiad_row(number: int, **changes: Any) -> dict[str, Any]:
    row = {
        "id": number,
        "subfield": "Algebra",
        "context": None,
        "question": f"Find the root of $x = {number}$.",
        "solution": [f"The secret solution {number}."],
        "final_answer": [f"${number}$"],
        "is_multiple_answer": False,
        "unit": None,
        "answer_type": "Numerical",
        "error": None,
    }
    return {**row, **changes}


def proof_row(number: int, **changes: Any) -> dict[str, Any]:
    nothing = {"final_answer": None, "is_multiple_answer": None, "answer_type": None}
    return olympiad_row(number, **{**nothing, **changes})


def answer_row(number: int) -> list[str]:
    name = f"imo-bench-algebra-{number:03}"
    return [name, f'Find\n"{number}".\n', f"${number}$", "Algebra", "Equation", "Made up"]


def csv_text(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    file = io.StringIO(newline="")
    csv.writer(file).writerows([columns, *rows])
    return file.getvalue()


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode())
    return path


def finance_file(folder: Path, first: dict[str, Any] | None = None, size: int = 200) -> Path:
    rows = [first or finance_row(0), *(finance_row(number) for number in range(1, size))]
    return write(folder / "validation.json", json.dumps(rows))


def physics_file(folder: Path, first: dict[str, Any]) -> Path:
    rows = [first, *(olympiad_row(number) for number in range(1, 236))]
    return write(folder / "OE_TO_physics_en_COMP.jsonl", "\n".join(map(json.dumps, rows)))


def exam_files(folder: Path) -> Path:
    """Points as they are in the published files: 110 in each exam."""
    for exam in (1, 2, 3):
        for number in range(1, 7):
            points = 20 if number == 6 else 18
            text = f"\\paragraph{{Problem {number} ({points} points)}}\nProve that $1 = 1$.\n"
            write(folder / f"exam{exam}/problem{number}.tex", text)
    return folder


def physics(folder: Path, **changes: Any) -> Dataset:
    return load_dataset(
        "olympiadbench-oe-physics", physics_file(folder, olympiad_row(0, **changes))
    )


def test_every_benchmark_is_described_by_one_row_by_name() -> None:
    rows = describe_datasets()
    assert [row.name for row in rows] == sorted(benchmarks())
    for row in rows:
        assert row.url.startswith("https://")
        assert row.sha256 is None or len(row.sha256) == 64
        assert (row.sha256 is None) == row.note.startswith("not pinned"), row.name


def test_a_benchmark_that_is_not_there_says_what_to_do(tmp_path: Path) -> None:
    for row in describe_datasets():
        cure = f"dataset {row.name}: not fetched yet; run `evalcore datasets fetch {row.name}`"
        with pytest.raises(AbsentError, match=cure):
            load_dataset(row.name, None)
        with pytest.raises(AbsentError, match=f"no {row.file}.* in it"):
            load_dataset(row.name, tmp_path)


def test_a_path_that_does_not_exist_is_refused(tmp_path: Path) -> None:
    with pytest.raises(AbsentError, match="nowhere: no such file or folder"):
        load_dataset("financemath", tmp_path / "nowhere")


def test_a_file_its_folder_and_a_folder_of_folders_give_the_same(tmp_path: Path) -> None:
    file = finance_file(tmp_path / "financemath")
    sha256 = hashlib.sha256(file.read_bytes()).hexdigest()
    for path in (file, file.parent, tmp_path):
        dataset = load_dataset("financemath", path)
        assert len(dataset) == 200
        assert dataset.sha256 == sha256


def test_a_file_that_is_not_the_published_one_is_told_but_loaded(tmp_path: Path) -> None:
    dataset = load_dataset("financemath", finance_file(tmp_path))
    assert dataset.faults == (f"not the published file: its SHA-256 is {dataset.sha256}",)


def test_tables_stand_before_the_question(tmp_path: Path) -> None:
    first = finance_row(0, tables=["| a |\n|---|\n| 1 |", "| b |"], question="How much?")
    problems = load_dataset("financemath", finance_file(tmp_path, first)).problems
    assert problems[0].text == "Table:\n| a |\n|---|\n| 1 |\n\n| b |\n\nQuestion: How much?"
    assert problems[1].text == "Question: What is 1 plus one?"


def test_a_financemath_problem_has_its_program_beside_the_text(tmp_path: Path) -> None:
    problem = load_dataset("financemath", finance_file(tmp_path)).problems[7]
    assert (problem.id, problem.gold, problem.subtask) == ("validation-7", "8.0", "Accounting")
    assert problem.details["ground_truth"] == 8.0
    assert "secret" in problem.details["program"]
    assert "secret" not in problem.text


def test_answers_with_binary_noise_are_told(tmp_path: Path) -> None:
    first = finance_row(0, ground_truth=0.14300000000000002)
    faults = load_dataset("financemath", finance_file(tmp_path, first)).faults
    assert "1 answers have more than 3 decimals, the first is validation-0" in faults


@pytest.mark.parametrize(
    ("change", "message"),
    [
        pytest.param({"question": None}, "[1]: question is None; expected a t", id="no question"),
        pytest.param({"question": " "}, "[1]: question is ' '; expected a t", id="an empty one"),
        pytest.param({"tables": "| a |"}, "it is str; expected array", id="a bare table"),
        pytest.param({"tables": [1]}, "tables: [0] is int; expected str", id="a number for one"),
        pytest.param({"ground_truth": True}, "ground_truth is True", id="a truth for a number"),
        pytest.param({"ground_truth": "8"}, "it is str; expected float", id="a text for a number"),
        pytest.param({"ground_truth": float("nan")}, "ground_truth is nan", id="not a number"),
        pytest.param({"question_id": "validation-9"}, "id validation-9 stands there", id="twice"),
    ],
)
def test_a_wrong_row_is_refused_with_its_place(
    change: dict[str, Any], message: str, tmp_path: Path
) -> None:
    with pytest.raises(InputError, match=re.escape(message)) as caught:
        load_dataset("financemath", finance_file(tmp_path, finance_row(0, **change)))
    assert "validation.json" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_missing_column_is_told_from_a_wrong_one(tmp_path: Path) -> None:
    row = finance_row(0)
    del row["ground_truth"]
    with pytest.raises(InputError, match="no column ground_truth; there are question_id"):
        load_dataset("financemath", finance_file(tmp_path, row))


def test_a_wrong_number_of_problems_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="199 problems; expected 200"):
        load_dataset("financemath", finance_file(tmp_path, size=199))


@pytest.mark.parametrize(
    ("name", "file", "content", "message"),
    [
        pytest.param("financemath", "validation.json", b"[{]", "no JSON", id="broken JSON"),
        pytest.param("financemath", "validation.json", b"[\xff]", "no JSON", id="not UTF-8"),
        pytest.param("financemath", "validation.json", b"{}", "a JSON list of", id="no list"),
        pytest.param("financemath", "validation.json", b"[1]", "no JSON object", id="no objects"),
        pytest.param(
            "bbh-word-sorting", "word_sorting.json", b"[]", "not BIG-Bench Hard's", id="examples"
        ),
        pytest.param(
            "olympiadbench-tp-maths",
            "TP_TO_maths_en_COMP.parquet",
            b"PAR1",
            "no Parquet file",
            id="broken Parquet",
        ),
        pytest.param(
            "imo-answerbench", "answerbench_v2.csv", b"a,b\n1,2,3\n", "row 1: more cells", id="CSV"
        ),
        pytest.param(
            "imo-answerbench",
            "answerbench_v2.csv",
            b"a\n" + b"x" * 200_000,
            "not valid CSV: field larger",
            id="a field without end",
        ),
        pytest.param(
            "imo-answerbench", "answerbench_v2.csv", b"\xff", "not UTF-8 at byte 0", id="bytes"
        ),
        pytest.param(
            "imo-proofbench",
            "proofbench_v2.csv",
            b"Problem ID,Problem\nPB-1,Prove it.\n",
            "csv:2: no column Category; there are Problem ID, Problem$",
            id="a column is missing",
        ),
    ],
)
def test_a_file_of_a_wrong_format_is_refused_in_one_line(
    name: str, file: str, content: bytes, message: str, tmp_path: Path
) -> None:
    (tmp_path / file).write_bytes(content)
    with pytest.raises(InputError, match=message) as caught:
        load_dataset(name, tmp_path)
    assert "\n" not in str(caught.value)


def test_a_file_that_may_not_be_read_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = finance_file(tmp_path)

    def refuse(self: Path) -> bytes:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "read_bytes", refuse)
    with pytest.raises(InputError, match=r"validation\.json: permission denied"):
        load_dataset("financemath", file)


def broken_answerbench(folder: Path, number: int = 36) -> Path:
    """The fault of the published file: the quotation mark before the answer is missing."""
    rows = [answer_row(each) for each in range(1, 401)]
    text = csv_text(ANSWER_COLUMNS, rows)
    whole = f'Find\n""{number}"".\n",${number}$,Algebra'
    assert whole in text
    text = text.replace(whole, f'Find\n""{number}"".\n,${number}$",Algebra')
    return write(folder / "answerbench_v2.csv", text)


def test_a_broken_row_is_refused_without_a_whole_first_version(tmp_path: Path) -> None:
    file = broken_answerbench(tmp_path)
    for _ in range(2):
        with pytest.raises(InputError, match="row 36: imo-bench-algebra-036 has no Sou") as caught:
            load_dataset("imo-answerbench", file)
        assert str(caught.value).endswith(
            "put a whole answerbench.csv of the same project beside this file"
        )
        write(tmp_path / "answerbench.csv", file.read_bytes().decode())


def test_the_row_that_is_broken_upstream_is_taken_from_the_first_version(tmp_path: Path) -> None:
    rows = [answer_row(number) for number in range(1, 401)]
    write(tmp_path / "answerbench.csv", csv_text(ANSWER_COLUMNS, rows))
    dataset = load_dataset("imo-answerbench", broken_answerbench(tmp_path))
    problem = dataset.problems[35]
    assert (problem.text, problem.gold) == ('Find\n"36".', "$36$")
    assert problem.subtask == "Algebra"
    assert dataset.faults[0] == (
        "imo-bench-algebra-036 has no Source: its fields are shifted upstream; "
        "it was taken from answerbench.csv"
    )
    assert dataset.faults[1] == "answerbench.csv beside it is not the published file"


def test_the_first_version_is_told_by_its_hash(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = [answer_row(number) for number in range(1, 401)]
    file = write(tmp_path / "answerbench.csv", csv_text(ANSWER_COLUMNS, rows))
    sha256 = hashlib.sha256(file.read_bytes()).hexdigest()
    made = replace(benchmarks()["imo-answerbench"], first_version={file.name: sha256})
    monkeypatch.setitem(benchmarks(), "imo-answerbench", made)
    faults = load_dataset("imo-answerbench", tmp_path).faults
    assert faults == ("this is the first version, which its authors call deprecated",)


def test_a_formula_that_is_not_closed_is_told(tmp_path: Path) -> None:
    rows = [answer_row(number) for number in range(1, 401)]
    rows[4][2] = "$\\frac{1}{2}"
    file = write(tmp_path / "answerbench_v2.csv", csv_text(ANSWER_COLUMNS, rows))
    assert "imo-bench-algebra-005: its answer has a $ without its pair" in (
        load_dataset("imo-answerbench", file).faults
    )


def test_a_proof_problem_has_no_gold_and_its_solution_is_not_in_the_text(tmp_path: Path) -> None:
    problem = load_dataset("imo-proofbench", write_proofbench(tmp_path)).problems[0]
    assert (problem.text, problem.gold, dict(problem.fields)) == ("Prove 0.", None, {})
    assert problem.details == {
        "solution": "SOLUTION of 0",
        "guidelines": "GUIDELINES of 0",
        "level": "IMO-easy",
    }


@pytest.mark.parametrize(
    ("changes", "answer_type_text"),
    [
        pytest.param(
            {}, "The answer of The problem should be a numerical value. ", id="one answer"
        ),
        pytest.param(
            {"is_multiple_answer": True},
            "The problem has multiple answers, each of them should be a numerical value. ",
            id="several answers of one kind",
        ),
        pytest.param(
            {"is_multiple_answer": True, "answer_type": "Equation,Equation"},
            "The problem has multiple answers, each of them should be an equation. ",
            id="several answers whose kinds are the same",
        ),
        pytest.param(
            {"is_multiple_answer": True, "answer_type": "Numerical,Interval"},
            "The problem has multiple answers, with the answers in order being a numerical value, "
            "an interval. ",
            id="several answers of different kinds",
        ),
        pytest.param({"answer_type": "Tuple"}, "", id="a tuple is not announced"),
    ],
)
def test_the_kind_of_the_answer_is_said_as_the_authors_say_it(
    changes: dict[str, Any], answer_type_text: str, tmp_path: Path
) -> None:
    problem = physics(tmp_path, **changes).problems[0]
    assert problem.fields["answer_type_text"] == answer_type_text


@pytest.mark.parametrize(
    ("several", "unit", "boxed_format", "unit_text"),
    [
        pytest.param(False, None, "\\boxed{answer}", "", id="one answer"),
        pytest.param(
            *(True, None, "\\boxed{multiple answers connected with commas}", ""),
            id="several answers",
        ),
        pytest.param(
            *(False, "km", "\\boxed{answer}(unit)"),
            ", note that the unit of the answer should not be included in \\boxed{}",
            id="a unit stands behind the box",
        ),
    ],
)
def test_the_form_of_the_answer_is_said_as_the_authors_say_it(
    several: bool, unit: str | None, boxed_format: str, unit_text: str, tmp_path: Path
) -> None:
    problem = physics(tmp_path, is_multiple_answer=several, unit=unit).problems[0]
    assert problem.fields["boxed_format"] == boxed_format
    assert problem.fields["unit_text"] == unit_text
    assert problem.details["unit"] == unit


@pytest.mark.parametrize(
    ("stated", "tolerance"),
    [
        pytest.param(None, None, id="none"),
        pytest.param("1e-1", 0.1, id="one"),
        pytest.param("1e-1,,0.02", (0.1, None, 0.02), id="one for each answer"),
    ],
)
def test_tolerances_are_numbers(stated: str | None, tolerance: Any, tmp_path: Path) -> None:
    assert physics(tmp_path, error=stated).problems[0].details["tolerance"] == tolerance


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        pytest.param({"error": "small"}, ":1: error is small; expected a n", id="tolerance"),
        pytest.param({"answer_type": "Poem"}, ":1: answer_type is Poem; expected", id="a kind"),
        pytest.param(
            {"final_answer": None}, ":1: final_answer is null; expected array", id="no answer"
        ),
        pytest.param({"solution": [1]}, r":1: solution\[0\] is int; expected str", id="solution"),
        pytest.param(
            {"is_multiple_answer": None}, "is_multiple_answer is null; expected bool", id="null"
        ),
    ],
)
def test_a_wrong_olympiad_row_is_refused(
    changes: dict[str, Any], message: str, tmp_path: Path
) -> None:
    with pytest.raises(InputError, match=message):
        physics(tmp_path, **changes)


def test_the_context_of_a_problem_stands_before_its_question(tmp_path: Path) -> None:
    problem = physics(tmp_path, context="A ball falls.", question="How fast?").problems[0]
    assert problem.text == "A ball falls.\nHow fast?"


def test_problems_that_need_a_picture_are_told(tmp_path: Path) -> None:
    dataset = physics(tmp_path, question="See <img_1>.")
    assert dataset.faults == ("1 problems need a picture, the first is 0",)


@pytest.mark.parametrize("ending", ["jsonl", "json", "parquet"])
def test_proof_problems_are_read_from_each_format_that_copies_have(
    ending: str, tmp_path: Path
) -> None:
    rows = [proof_row(number) for number in range(25)]
    file = tmp_path / f"TP_TO_physics_en_COMP.{ending}"
    if ending == "parquet":
        import pyarrow as pa
        from pyarrow import parquet

        parquet.write_table(pa.Table.from_pylist(rows), file)
    else:
        lines = "\n".join(map(json.dumps, rows)) + "\n"
        write(file, lines if ending == "jsonl" else json.dumps(rows))
    dataset = load_dataset("olympiadbench-tp-physics", tmp_path)
    assert dataset.faults == ()
    problem = dataset.problems[24]
    assert (problem.id, problem.gold, problem.subtask) == ("24", None, "TP_physics")
    assert dict(problem.fields) == {}
    assert problem.details["solution"] == ["The secret solution 24."]
    assert "secret" not in problem.text


@pytest.mark.parametrize(
    ("size", "faults"),
    [
        pytest.param(674, 0, id="the number of the paper"),
        pytest.param(675, 1, id="one more is told"),
    ],
)
def test_both_editions_of_the_maths_problems_are_known(
    size: int, faults: int, tmp_path: Path
) -> None:
    rows = [json.dumps(olympiad_row(number)) for number in range(size)]
    file = write(tmp_path / "OE_TO_maths_en_COMP.jsonl", "\n".join(rows))
    found = load_dataset("olympiadbench-oe-maths", file).faults
    told = [fault for fault in found if "the paper has 674" in fault]
    assert len(told) == faults


def test_word_sorting_has_ids_by_place_and_its_canary_is_looked_for(tmp_path: Path) -> None:
    examples = [{"input": f"Sort: b{n} a{n}", "target": f"a{n} b{n}"} for n in range(250)]
    file = write(tmp_path / "word_sorting.json", json.dumps({"examples": examples}))
    dataset = load_dataset("bbh-word-sorting", file)
    problem = dataset.problems[249]
    assert (problem.id, problem.text, problem.gold) == (
        *("word_sorting-249", "Sort: b249 a249", "a249 b249"),
    )
    assert dataset.faults[0] == "the canary that keeps it out of training data is gone"


def test_exams_are_read_from_their_folder_with_points_and_a_common_hash(tmp_path: Path) -> None:
    exam_files(tmp_path / "aicrypto")
    dataset = load_dataset("aicrypto", tmp_path)
    problem = dataset.problems[11]
    assert (problem.id, problem.subtask, problem.gold) == ("exam2/problem6", "exam2", None)
    assert problem.details == {"points": 20}
    assert sum(each.details["points"] for each in dataset.problems) == 330
    assert dataset.faults == ()
    files = sorted((tmp_path / "aicrypto").glob("*/*.tex"))
    assert dataset.sha256 == hashlib.sha256(b"".join(f.read_bytes() for f in files)).hexdigest()


def test_a_heading_in_markdown_and_definitions_before_it_are_understood(tmp_path: Path) -> None:
    exam_files(tmp_path)
    write(tmp_path / "exam2/problem1.tex", "**Problem 1 (18 points)** Show it.\n")
    definitions = "\\paragraph{Definitions.}\nA set.\n\n\\paragraph{Problem 1 (18 points)} Show it."
    write(tmp_path / "exam1/problem1.tex", definitions)
    problems = load_dataset("aicrypto", tmp_path).problems
    assert problems[0].text == definitions
    assert problems[6].details == {"points": 18}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        pytest.param("Prove it.", r"problem2\.tex: problems with points: none", id="no heading"),
        pytest.param("\\paragraph{Problem 3 (18 points)}", "points: 3; expected one", id="other"),
    ],
)
def test_a_file_that_is_not_the_problem_of_its_name_is_refused(
    text: str, message: str, tmp_path: Path
) -> None:
    write(exam_files(tmp_path) / "exam1/problem2.tex", text)
    with pytest.raises(InputError, match=message):
        load_dataset("aicrypto", tmp_path)


def test_points_that_do_not_add_up_are_told(tmp_path: Path) -> None:
    write(exam_files(tmp_path) / "exam1/problem2.tex", "\\paragraph{Problem 2 (8 points)}")
    faults = load_dataset("aicrypto", tmp_path).faults
    assert faults == ("the points add up to 320; the benchmark has 330",)


def test_missing_exam_problems_are_counted(tmp_path: Path) -> None:
    exam_files(tmp_path)
    (tmp_path / "exam2/problem3.tex").unlink()
    (tmp_path / "exam3/problem6.tex").unlink()
    with pytest.raises(InputError, match=r"2 of 18 files are missing.*exam2/problem3\.tex"):
        load_dataset("aicrypto", tmp_path)


@pytest.mark.parametrize(
    ("name", "size", "faults"),
    [
        pytest.param("financemath", 200, 0, id="financemath"),
        pytest.param("imo-answerbench", 400, 3, id="imo-answerbench"),
        pytest.param("imo-proofbench", 60, 0, id="imo-proofbench"),
        pytest.param("olympiadbench-oe-maths", 675, 1, id="olympiadbench"),
        pytest.param("bbh-word-sorting", 250, 0, id="word sorting"),
    ],
)
def test_the_real_files_are_the_pinned_ones(
    name: str, size: int, faults: int, shared: Path
) -> None:
    dataset = load_dataset(name, shared / "data")
    row = next(row for row in describe_datasets() if row.name == name)
    assert len(dataset) == size
    assert dataset.sha256 == row.sha256
    assert len(dataset.faults) == faults


def test_no_real_solution_is_in_what_a_prompt_may_name(shared: Path) -> None:
    for name in ("financemath", "imo-answerbench", "imo-proofbench", "olympiadbench-oe-maths"):
        for problem in load_dataset(name, shared / "data").problems:
            visible = "\n".join([problem.text, *problem.fields.values()])
            hidden = [problem.details.get(key) for key in ("program", "solution", "guidelines")]
            for secret in hidden:
                for text in secret if isinstance(secret, list) else [secret or ""]:
                    assert len(text) < 30 or text not in visible, problem.id


def test_the_repaired_real_row_does_not_show_its_answer(shared: Path) -> None:
    dataset = load_dataset("imo-answerbench", shared / "data")
    problem = next(each for each in dataset.problems if each.id == "imo-bench-algebra-036")
    assert problem.gold == "$Y(x)=A+\\frac{B}{x}-x$"
    assert "Y(x)=" not in problem.text
    assert problem.subtask == "Algebra"


def test_the_first_versions_are_recognised(shared: Path) -> None:
    for name, file in (("answerbench", "answerbench.csv"), ("proofbench", "proofbench.csv")):
        faults = load_dataset(f"imo-{name}", shared / "data" / "imobench" / file).faults
        assert faults[-1] == "this is the first version, which its authors call deprecated"


def test_all_copies_that_are_there_are_checked_and_failures_told(tmp_path: Path) -> None:
    finance_file(tmp_path / "financemath", finance_row(0, question=""))
    write_proofbench(tmp_path)
    rows, failures = check_each([], tmp_path)
    assert [(row.dataset, row.problems, row.subtasks) for row in rows] == [
        ("imo-proofbench", 60, 1)
    ]
    assert "question is ''" in failures[0]
    assert check_each(["aicrypto"], tmp_path)[1] == [f"{tmp_path}: no exam1/problem1.tex in it"]
    assert check_each([], tmp_path / "none")[1][0].endswith("or name a copy with --data")


# Questions of one's own

ROWS = [{"id": 1, "question": "Capital of France? ", "answer": "Paris"}]
ROWS += [{"id": n, "question": f"{n} + {n}?", "answer": 2 * n} for n in (2, 3)]


def questions(path: Path, rows: Sequence[dict[str, Any]] = ROWS) -> Path:
    import pandas as pd

    frame = pd.DataFrame(rows)
    if path.suffix == ".csv":
        frame.to_csv(path, index=False)
    elif path.suffix == ".parquet":
        frame.astype({name: "string" for name in frame if name != "id"}).to_parquet(path)
    else:
        frame.to_json(path, orient="records", lines=path.suffix == ".jsonl")
    return path


@pytest.mark.parametrize("ending", ["csv", "json", "jsonl", "parquet"])
def test_questions_of_ones_own_need_three_columns_and_no_yaml(ending: str, tmp_path: Path) -> None:
    file = questions(tmp_path / f"mine.{ending}")
    dataset = load_dataset(find_benchmark(None, file), file)
    assert [(each.id, each.text, each.gold) for each in dataset.problems] == [
        *(("1", "Capital of France?", "Paris"), ("2", "2 + 2?", "4"), ("3", "3 + 3?", "6"))
    ]
    assert (dataset.name, dataset.faults) == ("mine", ())
    assert find_benchmark("other", file).name == "other"


def test_columns_are_named_by_options_and_others_are_left_out(tmp_path: Path) -> None:
    rows = [{"key": "a", "text": "Why?", "gold": "Because.", "question": "No.", "hint": "x"}]
    file = questions(tmp_path / "mine.jsonl", rows)
    [problem] = load_dataset(find_benchmark(None, file, "key", "text", "gold"), file).problems
    assert (problem.id, problem.text, problem.gold) == ("a", "Why?", "Because.")
    assert (problem.fields, problem.details) == ({}, {})


@pytest.mark.parametrize(
    ("change", "message"),
    [
        pytest.param({"id": 3}, "mine.jsonl: id 3 stands there more than once", id="an id twice"),
        pytest.param({"question": " "}, "jsonl:1: question is ' '; expected a text", id="empty"),
        pytest.param({"answer": None}, "jsonl:1: answer is None; expected a text", id="none"),
        pytest.param({"answer": True}, "jsonl:1: answer is True; expected a text", id="a truth"),
        pytest.param({"answer": ["a"]}, "jsonl:1: answer is ['a']; expected", id="several"),
    ],
)
def test_a_wrong_question_is_refused_with_its_place(
    change: dict[str, Any], message: str, tmp_path: Path
) -> None:
    lines = [json.dumps(row) for row in [{**ROWS[0], **change}, *ROWS[1:]]]
    file = write(tmp_path / "mine.jsonl", "\n".join(lines))
    with pytest.raises(InputError, match=re.escape(message)):
        load_dataset(find_benchmark(None, file), file)


def test_a_column_that_is_missing_names_its_option(tmp_path: Path) -> None:
    file = questions(tmp_path / "mine.csv")
    cure = "csv:2: no column gold; there are id, question, answer; --answer-field names another"
    with pytest.raises(InputError, match=cure):
        load_dataset(find_benchmark(None, file, answer_field="gold"), file)
    file.write_text("id,question,answer\n")
    with pytest.raises(InputError, match="0 problems; expected one or more"):
        load_dataset(find_benchmark(None, file), file)


@pytest.mark.parametrize(
    ("name", "data", "columns", "message"),
    [
        pytest.param("imo", None, {}, "--dataset imo: unknown benchmark; known are a", id="name"),
        pytest.param("imo", "folder", {}, "need only --data FILE (.csv, .jsonl", id="a folder"),
        pytest.param(None, None, {}, "--dataset: missing; known are aicrypto", id="nothing"),
        pytest.param(
            "financemath", "a.jsonl", {"id_field": "key"}, "--id-field: the columns of", id="known"
        ),
        pytest.param(None, "financemath.csv", {}, "has the name of a benchmark", id="its name"),
    ],
)
def test_what_is_no_benchmark_says_what_there_is(
    name: str | None, data: str | None, columns: dict[str, str], message: str
) -> None:
    with pytest.raises(InputError, match=re.escape(message)):
        find_benchmark(name, Path(data) if data else None, **columns)
