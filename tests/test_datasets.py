"""What loaders prove about benchmarks, on small made files and, where present, on the real ones."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from evalcore.benchmarks import (
    AbsentError,
    benchmarks,
    check_each,
    describe_datasets,
    find_benchmark,
    load_dataset,
)
from evalcore.formats import Problem
from ngramscan.errors import InputError
from tests.made_benchmarks import write_financemath, write_proofbench

ANSWER_COLUMNS = ("Problem ID", "Problem", "Short Answer", "Category", "Subcategory", "Source")


def write(path: Path, text: str | bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


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


def physics(folder: Path, **changes: Any) -> Problem:
    rows = [olympiad_row(0, **changes), *(olympiad_row(number) for number in range(1, 236))]
    write(folder / "OE_TO_physics_en_COMP.jsonl", "\n".join(map(json.dumps, rows)))
    return load_dataset("olympiadbench-oe-physics", folder).problems[0]


def answerbench(path: Path, change: Mapping[int, str] | None = None, broken: int = 0) -> Path:
    """Write 400 problems: answers changed, or a quotation mark missing before one, as upstream."""
    names = [f"imo-bench-algebra-{number:03}" for number in range(401)]
    answers = {number: f"${number}$" for number in range(1, 401)} | dict(change or {})
    file = io.StringIO(newline="")
    writer = csv.writer(file)
    writer.writerow(ANSWER_COLUMNS)
    for number, answer in answers.items():
        row = [names[number], f'Find\n"{number}".\n', answer, "Algebra", "Equation", "Made up"]
        writer.writerow(row)
    whole = f'Find\n""{broken}"".\n",${broken}$,Algebra'
    text = file.getvalue()
    assert not broken or whole in text
    return write(path, text.replace(whole, f'Find\n""{broken}"".\n,${broken}$",Algebra'))


def exam_files(folder: Path) -> Path:
    """Points as they are in the published files: 110 in each exam."""
    for exam in (1, 2, 3):
        for number in range(1, 7):
            points = 20 if number == 6 else 18
            text = f"\\paragraph{{Problem {number} ({points} points)}}\nProve that $1 = 1$.\n"
            write(folder / f"exam{exam}/problem{number}.tex", text)
    return folder


# Where files are


def test_every_benchmark_is_described_by_one_row_by_name() -> None:
    rows = describe_datasets()
    assert [row.name for row in rows] == sorted(benchmarks())
    for row in rows:
        assert row.url.startswith("https://")
        assert "{" not in row.url
        assert row.sha256 is None or len(row.sha256) == 64
        assert (row.sha256 is None) == row.note.startswith("not pinned"), row.name


def test_a_benchmark_that_is_not_there_says_what_to_do(tmp_path: Path) -> None:
    for row in describe_datasets():
        cure = f"dataset {row.name}: not fetched yet; run `evalcore datasets fetch {row.name}`"
        with pytest.raises(AbsentError, match=cure):
            load_dataset(row.name, None)
        with pytest.raises(AbsentError, match=f"no {row.file}.* in it"):
            load_dataset(row.name, tmp_path)
    with pytest.raises(AbsentError, match="nowhere: no such file or folder"):
        load_dataset("financemath", tmp_path / "nowhere")


def test_a_file_its_folder_and_a_folder_of_folders_give_the_same(tmp_path: Path) -> None:
    (tmp_path / "financemath").mkdir()
    file = write_financemath(tmp_path / "financemath")
    sha256 = hashlib.sha256(file.read_bytes()).hexdigest()
    for path in (file, file.parent, tmp_path):
        dataset = load_dataset("financemath", path)
        assert (len(dataset), dataset.sha256) == (200, sha256)
        assert dataset.faults == (f"not the published file: its SHA-256 is {sha256}",)


def test_a_file_that_may_not_be_read_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(self: Path) -> bytes:
        raise PermissionError(13, "Permission denied")

    file = write_financemath(tmp_path)
    monkeypatch.setattr(Path, "read_bytes", refuse)
    with pytest.raises(InputError, match=r"validation\.json: permission denied"):
        load_dataset("financemath", file)


def test_all_copies_that_are_there_are_checked_and_failures_told(tmp_path: Path) -> None:
    write_financemath(tmp_path, question="")
    write_proofbench(tmp_path)
    rows, failures = check_each([], tmp_path)
    assert [(row.dataset, row.problems, row.subtasks) for row in rows] == [
        ("imo-proofbench", 60, 1)
    ]
    assert "question is ''" in failures[0]
    assert check_each(["aicrypto"], tmp_path)[1] == [f"{tmp_path}: no exam1/problem1.tex in it"]
    assert check_each([], tmp_path / "none")[1][0].endswith("or name a copy with --data")


@pytest.mark.parametrize(
    ("name", "file", "content", "message"),
    [
        pytest.param("financemath", "validation.json", b"[{]", "not valid JSON: ", id="JSON"),
        pytest.param(
            "financemath", "validation.json", b"[\xff]", "not valid JSON: ", id="not UTF-8"
        ),
        pytest.param("financemath", "validation.json", b"{}", "a JSON list", id="no list"),
        pytest.param(
            "financemath", "validation.json", b"[1]", "not a JSON object", id="no objects"
        ),
        pytest.param("bbh-word-sorting", "word_sorting.json", b"[]", "not BIG-Bench", id="BBH"),
        pytest.param("imo-answerbench", "answerbench_v2.csv", b"a\n1,2\n", "more cells", id="CSV"),
        pytest.param("imo-answerbench", "answerbench_v2.csv", b"\xff", "not UTF-8 at", id="bytes"),
        pytest.param(
            *("imo-answerbench", "answerbench_v2.csv", b"a\n" + b"x" * 200_000),
            "not valid CSV: field larger",
            id="a field without end",
        ),
        pytest.param(
            *("olympiadbench-tp-maths", "TP_TO_maths_en_COMP.parquet", b"PAR1"),
            "no Parquet file",
            id="Parquet",
        ),
        pytest.param(
            *("imo-proofbench", "proofbench_v2.csv", b"Problem ID,Problem\nPB-1,Prove it.\n"),
            ":2: no column Category; there are Problem ID, Problem",
            id="a column is missing",
        ),
    ],
)
def test_a_file_of_a_wrong_format_is_refused_in_one_line(
    name: str, file: str, content: bytes, message: str, tmp_path: Path
) -> None:
    write(tmp_path / file, content)
    with pytest.raises(InputError, match=rf"{file}.*{message}") as caught:
        load_dataset(name, tmp_path)
    assert "\n" not in str(caught.value)


# FinanceMath


def test_a_financemath_problem_has_its_tables_before_and_its_program_beside_it(
    tmp_path: Path,
) -> None:
    file = write_financemath(tmp_path, tables=["| a |", "| b |"], ground_truth=0.14300000000000002)
    dataset = load_dataset("financemath", file)
    first, second, third = dataset.problems[:3]
    assert first.text == "Table:\n| a |\n\n| b |\n\nQuestion: What is 0 / 8?"
    assert third.text == "Question: What is 2 / 8?"
    assert (second.id, second.gold, second.subtask) == ("validation-1", "0.125", "Accounting")
    program = "def solution():\n    return 1 / 8"
    assert second.details == {"program": program, "ground_truth": 0.125}
    assert "1 answers have more than 3 decimals, the first is validation-0" in dataset.faults


@pytest.mark.parametrize(
    ("change", "message"),
    [
        pytest.param({"question": None}, "[1]: question is None; expected a t", id="no question"),
        pytest.param({"question": " "}, "[1]: question is ' '; expected a t", id="an empty one"),
        pytest.param({"tables": "| a |"}, "tables: Expected array, got str", id="a bare table"),
        pytest.param({"tables": [1]}, "[0]: Expected str, got int", id="a number for a table"),
        pytest.param({"ground_truth": True}, "ground_truth is True", id="a truth for a number"),
        pytest.param({"ground_truth": "8"}, "Expected float, got str", id="a text for a number"),
        pytest.param({"ground_truth": float("nan")}, "ground_truth is nan", id="not a number"),
        pytest.param({"question_id": "validation-9"}, "id validation-9 occurs more", id="twice"),
    ],
)
def test_a_wrong_row_is_refused_with_its_place(
    change: dict[str, Any], message: str, tmp_path: Path
) -> None:
    with pytest.raises(InputError, match=re.escape(message)) as caught:
        load_dataset("financemath", write_financemath(tmp_path, **change))
    assert "validation.json" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_wrong_number_of_problems_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="199 problems; expected 200"):
        load_dataset("financemath", write_financemath(tmp_path, size=199))


# IMO-Bench


def test_a_broken_row_is_refused_without_a_whole_first_version(tmp_path: Path) -> None:
    file = answerbench(tmp_path / "answerbench_v2.csv", broken=36)
    for _ in range(2):
        with pytest.raises(InputError, match="row 36: imo-bench-algebra-036 has no Sou") as caught:
            load_dataset("imo-answerbench", file)
        cure = "put a whole answerbench.csv of the same project beside this file"
        assert str(caught.value).endswith(cure)
        answerbench(tmp_path / "answerbench.csv", broken=36)


def test_a_broken_row_is_taken_from_the_first_version(tmp_path: Path) -> None:
    answerbench(tmp_path / "answerbench.csv")
    file = answerbench(tmp_path / "answerbench_v2.csv", {5: "$\\frac{1}{2}"}, broken=36)
    dataset = load_dataset("imo-answerbench", file)
    problem = dataset.problems[35]
    assert (problem.text, problem.gold) == ('Find\n"36".', "$36$")
    assert problem.details == {"category": "Algebra", "subcategory": "Equation"}
    assert dataset.faults[:3] == (
        "imo-bench-algebra-036 has no Source: its fields are shifted upstream; "
        "it was taken from answerbench.csv",
        "answerbench.csv beside it is not the published file",
        "imo-bench-algebra-005: its answer has a $ without its pair",
    )


def test_the_first_version_is_told_by_its_hash(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = answerbench(tmp_path / "answerbench.csv")
    sha256 = hashlib.sha256(file.read_bytes()).hexdigest()
    made = replace(benchmarks()["imo-answerbench"], first_version={file.name: sha256})
    monkeypatch.setitem(benchmarks(), "imo-answerbench", made)
    faults = load_dataset("imo-answerbench", tmp_path).faults
    assert faults == ("this is the first version, which its authors call deprecated",)


def test_a_proof_problem_has_no_gold_and_its_solution_is_not_in_the_text(tmp_path: Path) -> None:
    problem = load_dataset("imo-proofbench", write_proofbench(tmp_path)).problems[0]
    assert (problem.text, problem.gold, dict(problem.fields)) == ("Prove 0.", None, {})
    guidelines = {"solution": "SOLUTION of 0", "guidelines": "GUIDELINES of 0"}
    assert problem.details == {**guidelines, "level": "IMO-easy"}


# OlympiadBench

ONE = "The answer of The problem should be a numerical value. "
ALIKE = "The problem has multiple answers, each of them should be "
ORDER = "The problem has multiple answers, with the answers in order being "
NO_UNIT = ", note that the unit of the answer should not be included in \\boxed{}"
SEVERAL = {"is_multiple_answer": True}


@pytest.mark.parametrize(
    ("changes", "kind", "boxed", "unit"),
    [
        pytest.param({}, ONE, "answer}", "", id="one answer"),
        pytest.param({"unit": "km"}, ONE, "answer}(unit)", NO_UNIT, id="a unit after the box"),
        pytest.param({"answer_type": "Tuple"}, "", "answer}", "", id="a tuple is not announced"),
        pytest.param(
            SEVERAL, f"{ALIKE}a numerical value. ", "multiple answers connected", "", id="several"
        ),
        pytest.param(
            {**SEVERAL, "answer_type": "Equation,Equation"},
            *(f"{ALIKE}an equation. ", "multiple", ""),
            id="several whose kinds are the same",
        ),
        pytest.param(
            {**SEVERAL, "answer_type": "Numerical,Interval"},
            *(f"{ORDER}a numerical value, an interval. ", "multiple", ""),
            id="several of different kinds",
        ),
    ],
)
def test_the_kind_and_form_of_the_answer_are_said_as_the_authors_say_them(
    changes: dict[str, Any], kind: str, boxed: str, unit: str, tmp_path: Path
) -> None:
    problem = physics(tmp_path, **changes)
    assert problem.fields["answer_type_text"] == kind
    assert problem.fields["boxed_format"].startswith(f"\\boxed{{{boxed}")
    assert problem.fields["unit_text"] == unit
    assert problem.details["unit"] == changes.get("unit")


def test_tolerances_are_numbers_and_contexts_stand_before_questions(tmp_path: Path) -> None:
    for stated, tolerance in ((None, None), ("1e-1", 0.1), ("1e-1,,0.02", (0.1, None, 0.02))):
        assert physics(tmp_path, error=stated).details["tolerance"] == tolerance
    problem = physics(tmp_path, context="A ball falls.", question="See <img_1>.")
    assert problem.text == "A ball falls.\nSee <img_1>."
    faults = load_dataset("olympiadbench-oe-physics", tmp_path).faults
    assert faults == ("1 problems need a picture, the first is 0",)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        pytest.param({"error": "small"}, ":1: error is small; expected a number", id="tolerance"),
        pytest.param({"answer_type": "Poem"}, ":1: answer_type is Poem; expected", id="a kind"),
        pytest.param({"final_answer": None}, ":1: final_answer: Expected array", id="no answer"),
        pytest.param({"solution": [1]}, ":1: solution[0]: Expected str", id="solution"),
        pytest.param({"is_multiple_answer": None}, "is_multiple_answer: Expected bool", id="null"),
        pytest.param({"question": ""}, ":1: question: Expected str of length >= 1", id="empty"),
    ],
)
def test_a_wrong_olympiad_row_is_refused(
    changes: dict[str, Any], message: str, tmp_path: Path
) -> None:
    with pytest.raises(InputError, match=re.escape(message)):
        physics(tmp_path, **changes)


@pytest.mark.parametrize("ending", ["jsonl", "json", "parquet"])
def test_proof_problems_are_read_from_each_format_that_copies_have(
    ending: str, tmp_path: Path
) -> None:
    nothing = {"final_answer": None, "is_multiple_answer": None, "answer_type": None}
    frame = pd.DataFrame([olympiad_row(number, **nothing) for number in range(25)])
    file = tmp_path / f"TP_TO_physics_en_COMP.{ending}"
    if ending == "parquet":
        frame.to_parquet(file)
    else:
        frame.to_json(file, orient="records", lines=ending == "jsonl")
    dataset = load_dataset("olympiadbench-tp-physics", tmp_path)
    problem = dataset.problems[24]
    assert (problem.id, problem.gold, problem.subtask) == ("24", None, "TP_physics")
    assert (dataset.faults, dict(problem.fields)) == ((), {})
    assert problem.details["solution"] == ["The secret solution 24."]
    assert "secret" not in problem.text


def test_both_editions_of_the_maths_problems_are_known(tmp_path: Path) -> None:
    for size, told in ((674, False), (675, True)):
        rows = [json.dumps(olympiad_row(number)) for number in range(size)]
        file = write(tmp_path / "OE_TO_maths_en_COMP.jsonl", "\n".join(rows))
        faults = load_dataset("olympiadbench-oe-maths", file).faults
        assert any("the paper has 674" in fault for fault in faults) == told


# Word sorting, and exams


def test_word_sorting_has_ids_by_place_and_its_canary_is_looked_for(tmp_path: Path) -> None:
    examples = [{"input": f"Sort: b{n} a{n}", "target": f"a{n} b{n}"} for n in range(250)]
    file = write(tmp_path / "word_sorting.json", json.dumps({"examples": examples}))
    dataset = load_dataset("bbh-word-sorting", file)
    problem = dataset.problems[249]
    assert (problem.id, problem.text) == ("word_sorting-249", "Sort: b249 a249")
    assert (problem.gold, problem.subtask) == ("a249 b249", "word_sorting")
    assert dataset.faults[0] == "the canary that keeps it out of training data is gone"


def test_exams_are_read_from_their_folder_with_points_and_a_common_hash(tmp_path: Path) -> None:
    folder = exam_files(tmp_path / "aicrypto")
    definitions = "\\paragraph{Definitions.}\nA set.\n\n\\paragraph{Problem 1 (18 points)} Show it."
    write(folder / "exam1/problem1.tex", definitions)
    write(folder / "exam2/problem1.tex", "**Problem 1 (18 points)** Show it.\n")
    dataset = load_dataset("aicrypto", tmp_path)
    first, problem = dataset.problems[0], dataset.problems[11]
    assert (problem.id, problem.subtask, problem.gold) == ("exam2/problem6", "exam2", None)
    assert (first.text, first.details, problem.details) == (
        *(definitions, {"points": 18}, {"points": 20}),
    )
    assert dataset.faults == ()
    content = b"".join(file.read_bytes() for file in sorted(folder.glob("*/*.tex")))
    assert dataset.sha256 == hashlib.sha256(content).hexdigest()


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


def test_missing_points_and_problems_are_told(tmp_path: Path) -> None:
    write(exam_files(tmp_path) / "exam1/problem2.tex", "\\paragraph{Problem 2 (8 points)}")
    faults = load_dataset("aicrypto", tmp_path).faults
    assert faults == ("the points add up to 320; the benchmark has 330",)
    for name in ("exam2/problem3.tex", "exam3/problem6.tex"):
        (tmp_path / name).unlink()
    with pytest.raises(InputError, match=r"2 of 18 files are missing.*exam2/problem3\.tex"):
        load_dataset("aicrypto", tmp_path)


# The real files


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
def test_the_real_files_are_the_pinned_ones_and_no_solution_is_in_a_prompt(
    name: str, size: int, faults: int, shared: Path
) -> None:
    dataset = load_dataset(name, shared / "data")
    row = next(row for row in describe_datasets() if row.name == name)
    assert (len(dataset), dataset.sha256, len(dataset.faults)) == (size, row.sha256, faults)
    for problem in dataset.problems:
        visible = "\n".join([problem.text, *problem.fields.values()])
        hidden = [problem.details.get(key) for key in ("program", "solution", "guidelines")]
        for secret in hidden:
            for text in secret if isinstance(secret, list) else [secret or ""]:
                assert len(text) < 30 or text not in visible, problem.id


def test_the_repaired_real_row_does_not_show_its_answer(shared: Path) -> None:
    problems = load_dataset("imo-answerbench", shared / "data").problems
    problem = next(each for each in problems if each.id == "imo-bench-algebra-036")
    assert (problem.gold, problem.subtask) == ("$Y(x)=A+\\frac{B}{x}-x$", "Algebra")
    assert "Y(x)=" not in problem.text
    for name, file in (("answerbench", "answerbench.csv"), ("proofbench", "proofbench.csv")):
        faults = load_dataset(f"imo-{name}", shared / "data" / "imobench" / file).faults
        assert faults[-1] == "this is the first version, which its authors call deprecated"


# Questions of one's own

ROWS: list[dict[str, Any]] = [
    {"id": 1, "question": "Capital of France? ", "answer": "Paris"},
    *({"id": n, "question": f"{n} + {n}?", "answer": 2 * n} for n in (2, 3)),
]


def json_lines(path: Path, rows: Sequence[dict[str, Any]] = ROWS) -> Path:
    return write(path, "\n".join(map(json.dumps, rows)))


@pytest.mark.parametrize("ending", ["csv", "json", "jsonl", "parquet"])
def test_questions_of_ones_own_need_three_columns_and_no_yaml(ending: str, tmp_path: Path) -> None:
    file, frame = json_lines(tmp_path / f"mine.{ending}"), pd.DataFrame(ROWS)
    if ending == "csv":
        frame.to_csv(file, index=False)
    elif ending == "json":
        frame.to_json(file, orient="records")
    elif ending == "parquet":
        frame.astype({"answer": str}).to_parquet(file)
    dataset = load_dataset(find_benchmark(None, file), file)
    assert [(each.id, each.text, each.gold) for each in dataset.problems] == [
        *(("1", "Capital of France?", "Paris"), ("2", "2 + 2?", "4"), ("3", "3 + 3?", "6"))
    ]
    assert (dataset.name, dataset.faults) == ("mine", ())
    assert load_dataset("other", file).name == "other"


def test_columns_are_named_by_options_and_others_are_left_out(tmp_path: Path) -> None:
    rows = [{"key": "a", "text": "Why?", "gold": "Because.", "question": "No.", "hint": "x"}]
    file = json_lines(tmp_path / "mine.jsonl", rows)
    [problem] = load_dataset(find_benchmark(None, file, "key", "text", "gold"), file).problems
    assert problem == Problem("a", "Why?", "Because.")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        pytest.param({"id": 3}, "mine.jsonl: id 3 occurs more than once", id="an id twice"),
        pytest.param({"question": " "}, "jsonl:1: question is ' '; expected a text", id="empty"),
        pytest.param({"answer": None}, "jsonl:1: answer is None; expected a text", id="none"),
        pytest.param({"answer": True}, "jsonl:1: answer is True; expected a text", id="a truth"),
        pytest.param({"answer": ["a"]}, "jsonl:1: answer is ['a']; expected", id="several"),
    ],
)
def test_a_wrong_question_is_refused_with_its_place(
    change: dict[str, Any], message: str, tmp_path: Path
) -> None:
    file = json_lines(tmp_path / "mine.jsonl", [{**ROWS[0], **change}, *ROWS[1:]])
    with pytest.raises(InputError, match=re.escape(message)):
        load_dataset(find_benchmark(None, file), file)


def test_a_column_that_is_missing_names_its_option(tmp_path: Path) -> None:
    file = json_lines(tmp_path / "mine.jsonl")
    cure = (
        "no column gold; there are id, question, answer; mine is no known benchmark, so --answer-f"
    )
    with pytest.raises(InputError, match=cure):
        load_dataset(find_benchmark(None, file, answer_field="gold"), file)
    with pytest.raises(InputError, match="0 problems; expected one or more"):
        load_dataset("mine", write(tmp_path / "empty.csv", "id,question,answer\n"))


@pytest.mark.parametrize(
    ("name", "data", "key", "message"),
    [
        pytest.param("imo", None, "id", "--dataset imo: unknown benchmark; known are a", id="name"),
        pytest.param("imo", "folder", "id", "need only --data FILE (.csv, .jsonl", id="a folder"),
        pytest.param(None, None, "id", "--dataset: missing; known are aicrypto", id="nothing"),
        pytest.param("financemath", "a.csv", "key", "--id-field: the columns of fin", id="known"),
        pytest.param(None, "financemath.csv", "id", "has the name of a benchmark", id="its name"),
    ],
)
def test_what_is_no_benchmark_says_what_there_is(
    name: str | None, data: str | None, key: str, message: str
) -> None:
    with pytest.raises(InputError, match=re.escape(message)):
        find_benchmark(name, Path(data) if data else None, key)
