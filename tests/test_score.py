from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from io import StringIO
from itertools import product
from pathlib import Path
from random import Random
from typing import Any, cast, get_args

import pandas as pd
import pytest
from rich.console import Console

import evalcore
from evalcore.benchmarks import Dataset, benchmarks, find_benchmark
from evalcore.commands.logs import UsageRow
from evalcore.commands.score import choose_scoring, score_records
from evalcore.extraction import PROGRAM_RULES
from evalcore.extraction import RULES as TEXT_RULES
from evalcore.formats import Answers, Problem
from evalcore.prompts import load_templates
from evalcore.records import Record
from evalcore.rules import RULES, Grade, Tools
from evalcore.sandbox.sandbox import Outcome, Program
from evalcore.scores import (
    SUMMARIES,
    ScoreRow,
    outputs_valued,
    print_summaries,
    read_scores,
    summarise,
)
from ngramscan.errors import InputError, SandboxError
from ngramscan.reading.row_files import read_rows
from ngramscan.reporting import choose_target, to_frame, write_rows
from tests.test_figures import MANY, METHODS, MODELS, marks, overlapping, saved

LAYERS = {"limits": "ok", "landlock": "missing: not on this system"}
WRONG = "program: error, no solution()"
FUNCTION = "```python\ndef solution():\n    return 0.5\n```\n"
BOTH = f"{FUNCTION}The answer is 0.5."
PROBLEMS = (
    Problem("1", "?", "0.5", details={"ground_truth": 0.5, "program": "REFERENCE 0.5"}),
    Problem("2", "?", "100.0", details={"ground_truth": 100.0, "program": "REFERENCE 100"}),
)
FINANCE = Dataset("financemath", PROBLEMS, "0" * 64)
MATH = Dataset("olympiadbench-oe-maths", (Problem("1", "?", "5"),), "0")


def record(output: str | None, method: str = "cot", **fields: Any) -> Record:
    given: dict[str, Any] = {"id": "1", "dataset": "financemath", "model": "m"} | fields
    return Record(output=output, method=method, **given)


def scored(
    records: Any, *rules: str, dataset: Any = FINANCE, extraction: Any = (), **ends: Any
) -> tuple[list[ScoreRow], list[str]]:
    crashed = Grade(None, "grader: ran out of time", failed=True)

    def run(one: Program) -> Any:
        failed = Outcome("error", message=f"no {one.answer_from}", layers=LAYERS)
        return next((end for text, end in ends.items() if text in one.source), failed)

    benchmark = choose_scoring(find_benchmark(dataset.name), rules, extraction)
    tools = Tools(lambda given: [*map(run, given)], lambda given: iter([crashed for _ in given]))
    return score_records(records, dataset, benchmark, tools)


def rows(*arguments: Any, **options: Any) -> list[ScoreRow]:
    found, failures = scored(*arguments, **options)
    assert not failures
    return found


# A method, its output, and what is taken for its answer by which rule.
TAKEN = """
cot ~ Therefore, the answer is 3. ~ 3 by the-answer-is/1 ;; cot ~ FUNCTION ~ 0.5 by last-number/1
pot ~ FUNCTION ~ 7 by program, financemath-authors/2 ;; f-1 ~ BOTH ~ 7 by program, fenced/1
f-1+verify ~ The answer is 3. ~ 3 by the-answer-is/1 ;; mine ~ BOTH ~ 7 by program, fenced/1
F-1+PoT ~ FUNCTION ~ 7 by program, financemath-authors/2
f-1+cot ~ FUNCTION ~ 0.5 by last-number/1 ;; mine+CoT ~ FUNCTION ~ 0.5 by last-number/1
"""


@pytest.mark.parametrize("case", TAKEN.strip().replace("\n", " ;; ").split(" ;; "))
def test_a_method_says_whether_text_or_program_is_the_answer(case: str) -> None:
    method, output, taken = case.split(" ~ ")
    output = output.replace("FUNCTION", FUNCTION).replace("BOTH", BOTH)
    (row,) = rows([record(output, method)], **{"return 0.5": Outcome("ok", 7)})
    assert f"{row.answer} by {row.extraction}" == taken


def test_a_script_is_asked_for_its_variable_and_a_function_for_its_value_and_words_never() -> None:
    outputs = ("```python\nanswer = 2\n```", FUNCTION)
    found = rows([record(one, "pot", dataset=MATH.name) for one in outputs], dataset=MATH)
    assert [row.reason.split(", ")[1] for row in found] == ["no answer", "no solution()"]
    words = Dataset("bbh-word-sorting", PROBLEMS, "0")
    (row,) = rows([record(FUNCTION, "f-1", dataset=words.name)], dataset=words)
    assert (row.sandbox, row.status) == (None, "not_found")


def test_rules_can_be_chosen_and_score_side_by_side() -> None:
    given = [record("so 50% it seems"), record("The answer is 100. Or 3?", id="2")]
    found = rows(given, "strict", "lenient", extraction=["the-answer-is/1", "last-number/1"])
    assert [(row.id, row.rule) for row in found] == [*product("12", ("strict", "lenient"))]
    assert [row.value for row in found] == [0.0, 1.0, 1.0, 1.0]
    told = [(row.answer, row.extraction, row.sandbox) for row in found[::2]]
    assert told == [("50%", "last-number/1", None), ("100", "the-answer-is/1", None)]
    with pytest.raises(InputError, match="--extraction best: one of boxed/1, "):
        rows(given, extraction=["best"])


def test_lenient_compares_programs_with_the_reference_program_and_strict_with_the_gold() -> None:
    for value, strict in ((0.50003, 1.0), (0.52, 0.0)):
        ended = Outcome("ok", value, layers=LAYERS)
        outcomes = {"return 0.5": ended, "REFERENCE 0.5": ended}
        found = rows([record(FUNCTION, "pot")], "strict", "lenient", **outcomes)
        assert [row.value for row in found] == [strict, 1.0]
        assert found[0].sandbox == "limits ok; landlock missing: not on this system"
    with pytest.raises(SandboxError, match=r"problem 1: its reference .*error no solution"):
        scored([record(FUNCTION, "pot")], "lenient", **{"return 0.5": Outcome("ok", 1)})


def test_benchmarks_name_rules_that_there_are() -> None:
    financemath = find_benchmark("financemath")
    with pytest.raises(InputError, match="--rule exact: one of strict, lenient was expected"):
        choose_scoring(financemath, ["exact"], [])
    with pytest.raises(InputError, match="no rule can score it; use `evalcore judge"):
        choose_scoring(find_benchmark("imo-proofbench"), [], [])
    chosen = choose_scoring(financemath, ["lenient", "strict", "lenient"], [])
    assert list(chosen.rules) == ["lenient", "strict"]
    known = [find_benchmark(None, Path("mine.jsonl")), *benchmarks().values()]
    assert choose_scoring(known[0], [*RULES], []).rules == tuple(RULES)  # one's own have all
    assert all(name.rpartition("/")[2].isdigit() for name in (*TEXT_RULES, *PROGRAM_RULES))
    for one in known:
        methods = load_templates(one).methods.values()
        assert {each.answer for each in methods} <= {*get_args(Answers)}
        assert {*one.extraction} <= {*TEXT_RULES}
        assert {*one.programs.values()} <= {*PROGRAM_RULES}
        assert {*one.rules} <= {*RULES}


OUTPUTS: list[tuple[dict[str, Any], float | None, str, str]] = [
    ({"refusal": "I can't help"}, None, "refused: I can't help", "no_answer"),
    ({"finish_reason": "length"}, None, "cut at the token limit", "no_answer"),
    ({"output": " \n"}, None, "no output", "no_answer"),
    ({"output": None}, None, "no output", "no_answer"),
    ({"output": "Hm."}, 0.0, "no answer found", "not_found"),
    (
        {"output": "import argparse. The answer is 3.", "method": "pot"},
        0.0,
        "no program found",
        "not_found",
    ),
    ({"output": FUNCTION, "method": "pot"}, 0.0, WRONG, "scored"),
    ({"output": BOTH, "method": "f-1"}, 1.0, f"equal at 3 decimals; {WRONG}", "scored"),
]


def test_an_output_is_scored_where_it_is_a_whole_answer() -> None:
    for fields, *expected in OUTPUTS:
        (row,) = rows([record(**{"output": "The answer is 0.5.", **fields})])
        assert [row.value, row.reason, row.status] == expected


# An output, and for `exact` and `numbers` what is found in it and its status.
WORDS = """
I am not sure ~ I am not sure scored ~ None not_found
I am not sure.⏎It may be many. ~ None not_found ~ None not_found
The answer is impossible to give. ~ impossible to give scored ~ None not_found
\\boxed{\\text{none}} ~ \\text{none} scored ~ None not_found
Of 3 cases, the answer is unknown. ~ unknown scored ~ None not_found
The answer is 12 apples. ~ 12 apples scored ~ 12 apples scored
The answer is 12 or 13. ~ 12 or 13 scored ~ 12 or 13 scored
Apples:⏎all in all $12 million. ~ $12 million scored ~ $12 million scored
"""


def test_prose_without_a_number_is_no_answer_to_a_rule_for_numbers(tmp_path: Path) -> None:
    cases = [line.split(" ~ ") for line in WORDS.strip().replace("⏎", "\\n").splitlines()]
    data, outputs = tmp_path / "q.jsonl", tmp_path / "q/m/cot.jsonl"
    outputs.parent.mkdir(parents=True)
    told = [{"id": str(k), "question": "?", "answer": "12"} for k in range(len(cases))]
    data.write_text("\n".join(map(json.dumps, told)))
    texts = [{"id": str(k), "output": case[0].replace("\\n", "\n")} for k, case in enumerate(cases)]
    outputs.write_text("".join(f"{json.dumps(one)}\n" for one in texts))
    found = evalcore.score(outputs, data=data, rule=["exact", "numbers"])
    for rule, column in (("exact", 1), ("numbers", 2)):
        own: Any = found[found["rule"] == rule].astype(object).where(found.notna(), None)
        said = [f"{row.answer} {row.status}" for row in own.itertuples()]
        assert said == [case[column] for case in cases]
        assert [row.extraction is None for row in own.itertuples()] == [
            case[column].startswith("None") for case in cases
        ]
    own = found[(found["rule"] == "numbers") & (found["id"] == "0")].iloc[0]
    assert (own["value"], own["reason"]) == (0.0, "not a number: 'I am not sure'")


def test_sides_that_give_no_number_are_seen_by_comparisons(tmp_path: Path) -> None:
    data, folder = tmp_path / "q.jsonl", tmp_path / "q/m"
    folder.mkdir(parents=True)
    told = [{"id": str(k), "question": "?", "answer": "12"} for k in range(20)]
    data.write_text("\n".join(map(json.dumps, told)))
    for method, unsure in (("mine+cot", 8), ("cot", 0)):
        texts = ["I am not sure" if k < unsure else "The answer is 12." for k in range(20)]
        lines = [json.dumps({"id": str(k), "output": text}) for k, text in enumerate(texts)]
        (folder / f"{method}.jsonl").write_text("\n".join(lines) + "\n")
    rows = evalcore.score(tmp_path / "q", data=data, rule="numbers")
    (row,) = evalcore.compare(rows, baseline="mine+cot").itertuples()
    assert (row.unanswered_baseline, row.unanswered_treatment) == (0.4, 0.0)


def test_what_a_sandbox_or_a_grader_lost_is_an_error_and_so_is_an_unknown_problem() -> None:
    lost = Outcome("lost", message="its watcher ended", layers=LAYERS)
    for method in ("pot", "f-1"):
        (row,), failures = scored([record(BOTH, method)], **{"return 0.5": lost})
        assert (row.value, row.answer, row.status) == (None, None, "unknown")
        assert failures == [f"financemath, m, {method}, 1: sandbox: its watcher ended"]
    (row,), failures = scored([record("\\boxed{5}", dataset=MATH.name)], dataset=MATH)
    assert (row.value, row.status, row.extraction) == (None, "unknown", "boxes/1")
    assert failures == ["olympiadbench-oe-maths, m, cot, 1: grader: ran out of time"]
    with pytest.raises(InputError, match="financemath/m/cot: financemath has no problem with"):
        scored([record("x", id="9")])


def test_a_summary_counts_no_answer_as_wrong_and_leaves_out_what_is_not_known() -> None:
    right, wrong = record("The answer is 0.5."), record("The answer is 1.", method="f-1")
    given = rows([right, record(None, id="2"), wrong])
    unknown, _ = scored([record("\\boxed{5}", dataset=MATH.name)], dataset=MATH)
    twice = rows([record("The answer is 0.5.", epoch=epoch) for epoch in (1, 2)])
    told = [(one.n, one.accuracy, one.answered, one.n_no_answer) for one in summarise(given)]
    assert told == [(2, 0.5, 0.5, 1), (1, 0.0, 1.0, 0)]
    (nothing,) = summarise(unknown)
    assert (nothing.n, nothing.accuracy, nothing.n_unknown) == (0, None, 1)
    shown = StringIO()
    for each in ([*unknown, *given], twice):
        print_summaries(Console(file=shown, width=120), each)
    for text in (" – ", "50.0 [9.5, 90.5]", "no answer", "100.0 [0.0, 100.0]"):
        assert text in shown.getvalue()


@pytest.mark.parametrize("names", [(["a"], METHODS), (MODELS, MANY)])
def test_a_picture_has_a_mark_per_row_and_no_label_covers_another(
    names: Any, tmp_path: Path
) -> None:
    given = [
        ScoreRow(*one, str(n), None, "strict", float(n < Random(str(one)).uniform(2, 18)))
        for one in product(("FinanceMath", "OlympiadBench"), names[0], names[1])
        for n in range(20)
    ]
    sheet = saved(tmp_path / "a.svg", summarise(given), kind=SUMMARIES)
    assert len([mark for mark in marks(sheet) if "data-high" in mark.attrib]) == len(given) / 20
    assert overlapping(sheet) == []


def test_a_figure_of_which_nothing_is_known_is_refused(tmp_path: Path) -> None:
    data, outputs = tmp_path / "q.jsonl", tmp_path / "q/m/cot.jsonl"
    outputs.parent.mkdir(parents=True)
    data.write_text('{"id": "1", "question": "?", "answer": "all odd $n$"}')
    outputs.write_text('{"id": "1", "output": "3"}\n')
    with pytest.raises(InputError, match="nothing to draw; no output has a known score"):
        evalcore.score(outputs, data=data, rule="math", figure=tmp_path / "a.svg")


ROW = ScoreRow("d", "m", "cot", "1", None, "strict", 1.0, "5", "boxed/1", "equal")
ROWS = [
    ROW,
    replace(ROW, id="2", value=0.0, answer=None, extraction=None, reason="no answer, found"),
    replace(ROW, id="3", value=None, status="unknown", reason="needs a judge", sandbox="limits ok"),
    replace(ROW, id="3", epoch=2, value=0.25, answer="a\nb", run="2026-01-02T03-04-05_E1"),
    replace(ROW, id="4", value=None, status="no_answer", reason="refused"),
    replace(ROW, id="5", value=0.0, status="not_found", answer=None),
]
GOOD = {"dataset": "d", "model": "m", "method": "a", "id": "1", "rule": "r", "value": 1}


def write_table(path: Path, rows: Sequence[Mapping[str, Any]] | pd.DataFrame) -> Path:
    frame, kind = pd.DataFrame(rows), path.suffix[1:].replace("jsonl", "json")
    as_rows = {"orient": "records", "lines": path.suffix == ".jsonl"}
    getattr(frame, f"to_{kind}")(path, **(as_rows if kind == "json" else {"index": False}))
    return path


@pytest.mark.parametrize("suffix", [".csv", ".jsonl", ".json", ".parquet"])
def test_rows_come_back_from_tables_of_ours_and_of_others(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"scores{suffix}"
    write_rows(ROWS, ScoreRow, choose_target(None, path))
    assert read_scores(path) == ROWS
    rows: list[dict[str, Any]] = [{}, {"value": None}, {"value": 0.0}, {}]
    rows[3] = {"value": None, "status": "no_answer"}
    given = [GOOD | {"id": n, "judge": "j", "status": None} | row for n, row in enumerate(rows, 1)]
    found = read_scores(write_table(path, given))
    assert [row.status for row in found] == ["scored", "unknown", "scored", "no_answer"]
    assert found[0] == ScoreRow("d", "m", "a", "1", None, "r", 1.0)
    without = [{name: row[name] for name in GOOD} for row in given[:3]]
    assert read_scores(write_table(path, without)) == found[:3]
    tokens = {"epoch": None, "prompt_tokens": 1, "completion_tokens": None}
    row = GOOD | tokens | {"reasoning_tokens": None}
    (read,) = read_rows(write_table(path, [row]), UsageRow, "tokens")
    assert (read.prompt_tokens, read.completion_tokens) == (1, None)
    row["completion_token"] = row.pop("completion_tokens")  # what may be null must be there
    with pytest.raises(InputError, match="no column completion_tokens; rename `completion_token`"):
        read_rows(write_table(path, [row]), UsageRow, "tokens")


def test_wrong_outputs_are_those_that_every_rule_finds_wrong() -> None:
    given = {"1": (1, 1), "2": (0, 1), "3": (0, None), "4": (None, None)}
    parts: list[Any] = [
        {"id": n, "rule": str(k), "value": own[k]} for n, own in given.items() for k in (0, 1)
    ]
    table = to_frame([replace(ROW, status="", **part) for part in parts], ScoreRow)
    assert outputs_valued(table, 0.0) == {("d", "m", "cot", "3", None)}
    assert outputs_valued(table, None) == {("d", "m", "cot", "4", None)}


# A kind of file, its content, and what is said of it; ⏎ is a line break, and of GOOD some differ.
MALFORMED = r"""
csv: HEADER⏎LONG → :2: not valid CSV ;; csv: a,b⏎1,2⏎ → :2: no columns dataset
csv: HEADER⏎d,m,a,1,r,good⏎ → :2: value: Expected float
csv: HEADER⏎d,m,é,1,r,1⏎ → :2: not UTF-8; save the table
csv: HEADER⏎d,m,a,1,r⏎ → :2: more or fewer cells than columns
csv: HEADER,value⏎d,m,a,1,r,1,0⏎ → : two columns have one name ;; json: {} → a JSON list of rows
jsonl: ⏎{⏎ → :2: not valid JSON ;; jsonl: [1]⏎ → :1: not a JSON object
jsonl: {}⏎ → :1: no columns dataset, model
jsonl: ⏎GOOD, "value": 1.5} → :2: value 1.5; a number f
jsonl: GOOD, "value": "yes"} → :1: value: Expected float
jsonl: GOOD, "model": ["m"]} → :1: model: Expected str, got array
jsonl: GOOD, "status": "unknown"} → :1: status unknown, but value 1
jsonl: GOOD, "value": null, "status": "scored"} → :1: status scored, but no value
jsonl: GOOD, "status": "wrong"} → :1: status wrong, but value 1; expected scored or not_found
parquet: no → not a Parquet file ;; txt: → a table (.csv, .jsonl or .parquet)
"""
SHORT = {"⏎": "\n", "GOOD": json.dumps(GOOD)[:-1], "HEADER": ",".join(GOOD), "LONG": "x" * 200_000}


@pytest.mark.parametrize("case", MALFORMED.strip().replace("\n", " ;; ").split(" ;; "))
def test_malformed_rows_are_refused_with_their_place(tmp_path: Path, case: str) -> None:
    given, _, message = case.partition(" → ")
    suffix, _, content = given.partition(": ")
    for short, whole in SHORT.items():
        content = content.replace(short, whole)
    path = tmp_path / f"s.{suffix.rstrip(':')}"
    path.write_text(content, encoding="latin-1")
    with pytest.raises(InputError) as error:
        read_scores(path)
    assert (str(path) + message if message[0] == ":" else message) in str(error.value)


def test_a_column_under_another_name_is_refused_by_its_own(tmp_path: Path) -> None:
    for wrong, said in (
        ("score", "rename `score` to"),
        ("none", "it should have rows of `evalcore score`"),
    ):
        renamed = pd.DataFrame([GOOD, GOOD | {"method": "b"}]).rename(columns={"value": wrong})
        with pytest.raises(InputError, match=f"no column value; {said}"):
            evalcore.logs(write_table(tmp_path / "scores.jsonl", renamed))
        with pytest.raises(InputError, match=f"data frame, row 1: no column value; {said}"):
            evalcore.compare(renamed, baseline="a")
    path = tmp_path / "all.jsonl"
    path.write_text(json.dumps({"id": "1", "method": "pot", "correct": True}) + "\n")
    with pytest.raises(InputError, match=r"no columns dataset, model, rule, value; rename `corr"):
        evalcore.logs(path, dataset="d", model="m")
    with pytest.raises(InputError, match=r"no such file or folder; a table \(\.csv, "):
        read_scores(tmp_path / "none.csv")


def score(shared: Path, method: str, rule: list[str]) -> tuple[pd.DataFrame, pd.DataFrame, Any]:
    folder = shared / "data" / "financemath"
    given: dict[str, Any] = {"dataset": "financemath", "layout": "financemath", "method": method}
    given |= {"data": folder / "validation.json", "rule": rule}
    rows = evalcore.score(folder / f"validation/raw_{method}_outputs", **given)
    assert len(rows) == len(rule) * 6 * 200
    # The authors count an empty output as wrong; 43 of one model are.
    assert (rows["value"].isna() == (rows["status"] == "no_answer")).all()
    assert set(rows.loc[rows["value"].isna(), "model"]) == {"Qwen2-7B-Instruct"}
    rates = pd.read_json(folder / f"results/validation_{method}_results.json")
    verdicts = {
        (path.stem, entry["question_id"]): float(entry["result"]["acc"])
        for path in (folder / "validation" / f"processed_{method}_outputs").glob("*.json")
        for entry in json.loads(path.read_bytes())
    }
    rows = rows.assign(value=rows["value"].fillna(0.0)).set_index(["rule", "model", "id"])
    return rows, rates.set_index("model_name"), pd.Series(verdicts)


@pytest.mark.usefixtures("sandbox_here")
def test_programs_for_financemath(shared: Path) -> None:
    rows, published, verdicts = score(shared, "pot", ["strict", "lenient"])
    lenient, strict = rows.loc["lenient"], rows.loc["strict"].groupby("model")["value"].mean()
    for model, own in lenient.groupby("model"):
        shares = (100 * own["value"].mean(), 100 * own["answer"].notna().mean())
        assert shares == pytest.approx(tuple(published.loc[model, ["accuracy", "execution_rate"]]))
    assert (lenient["value"] != verdicts[lenient.index]).sum() <= 1, "at least 99.9% agree"
    models = ["gpt-4o", "claude-3-5-sonnet-20240620"]
    assert (100 * strict[models]).tolist() == pytest.approx([46.5, 33.5])


def test_texts_for_financemath(shared: Path) -> None:
    rows, published, verdicts = score(shared, "cot", ["lenient"])
    assert (rows["extraction"].notna() == rows["answer"].notna()).all()
    folder = shared / "data/financemath/validation/raw_cot_outputs"
    for model, own in cast("Any", rows.loc["lenient"].groupby("model")):
        assert (own["value"] == verdicts[own.index]).mean() >= 0.985, model
        assert 100 * own["value"].mean() == pytest.approx(published["accuracy"][model], abs=0.51)
        texts = pd.read_json(folder / f"{model}.json").set_index("question_id")["output"]

        unanswered = own[own["reason"] == "no answer found"].index.get_level_values("id")
        assert not any(re.search(r"\d", texts[name][0]) for name in unanswered), model
        in_words = own[own["status"] == "not_found"].drop(unanswered, level="id")
        assert in_words["reason"].str.fullmatch(r"not a number: \D*").all()


@pytest.mark.parametrize(("method", "accuracy"), [("direct", 50.4), ("cot", 40.4)])
def test_word_sorting(shared: Path, method: str, accuracy: float) -> None:
    folder = shared / "data" / "bbh"
    given: dict[str, Any] = {"dataset": "bbh-word-sorting", "data": folder / "word_sorting.json"}
    rows: Any = evalcore.score(folder / f"code-davinci-002-{method}", **given, layout="bbh")
    assert (len(rows), set(rows["method"])) == (250, {method})
    assert 100 * rows["value"].mean() == pytest.approx(accuracy)
