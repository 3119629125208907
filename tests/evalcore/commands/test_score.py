import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from io import StringIO
from pathlib import Path
from typing import Any, get_args

import pandas as pd
import pytest
from statsmodels.stats.proportion import proportion_confint

import evalcore
from evalcore.benchmarks import Dataset, benchmarks, find_benchmark
from evalcore.commands.score import choose_scoring, score_records
from evalcore.extraction import PROGRAM_RULES
from evalcore.extraction import RULES as TEXT_RULES
from evalcore.formats import AnswerPlace, Problem
from evalcore.prompts import load_templates
from evalcore.records import Record
from evalcore.rules import RULES, Grade, Tools
from evalcore.sandbox.sandbox import Outcome, Program
from evalcore.scores import ScoreRow, outputs_valued, read_scores, summarise
from ngramscan.errors import InputError, SandboxError
from ngramscan.reporting import choose_target, to_frame, write_rows
from tests.support.outputs import write_lines, write_texts
from tests.support.places import ROOT
from tests.support.sizes import slow

LAYERS = {"limits": "ok", "landlock": "missing: not on this system"}
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


def test_scripts_are_asked_for_a_variable_and_functions_for_a_value() -> None:
    outputs = ("```python\nanswer = 2\n```", FUNCTION)
    found = rows([record(one, "pot", dataset=MATH.name) for one in outputs], dataset=MATH)
    assert [row.reason.split(", ")[1] for row in found] == ["no answer", "no solution()"]
    words = Dataset("bbh-word-sorting", PROBLEMS, "0")
    (row,) = rows([record(FUNCTION, "f-1", dataset=words.name)], dataset=words)
    assert (row.sandbox, row.status) == (None, "not_found")


@pytest.mark.parametrize(("value", "strict"), [(0.50003, 1.0), (0.52, 0.0)])
def test_lenient_compares_with_the_reference_program_strict_with_gold(
    value: float, strict: float
) -> None:
    ended = Outcome("ok", value, layers=LAYERS)
    outcomes = {"return 0.5": ended, "REFERENCE 0.5": ended}
    graded = rows([record(FUNCTION, "pot")], "strict", "lenient", **outcomes)
    assert [row.value for row in graded] == [strict, 1.0]
    assert graded[0].sandbox == "limits ok; landlock missing: not on this system"


def test_a_reference_program_that_fails_is_an_error() -> None:
    with pytest.raises(SandboxError, match=r"problem 1: its reference .*error no solution"):
        scored([record(FUNCTION, "pot")], "lenient", **{"return 0.5": Outcome("ok", 1)})


def test_benchmarks_name_rules_that_there_are(subtests: pytest.Subtests) -> None:
    financemath = find_benchmark("financemath")
    with pytest.raises(InputError, match="--rule exact: expected one of strict, lenient"):
        choose_scoring(financemath, ["exact"], [])
    with pytest.raises(InputError, match="no rule can score it; use `evalcore judge"):
        choose_scoring(find_benchmark("imo-proofbench"), [], [])
    chosen = choose_scoring(financemath, ["lenient", "strict", "lenient"], [])
    assert list(chosen.rules) == ["lenient", "strict"]
    known = [find_benchmark(None, Path("mine.jsonl")), *benchmarks().values()]
    assert choose_scoring(known[0], [*RULES], []).rules == tuple(RULES)  # one's own have all
    assert all(name.rpartition("/")[2].isdigit() for name in (*TEXT_RULES, *PROGRAM_RULES))
    for benchmark in known:
        with subtests.test(benchmark=benchmark.name):
            methods = load_templates(benchmark).methods.values()
            assert {method.answer for method in methods} <= {*get_args(AnswerPlace)}
            assert {*benchmark.extraction} <= {*TEXT_RULES}
            assert {*benchmark.programs.values()} <= {*PROGRAM_RULES}
            assert {*benchmark.rules} <= {*RULES}


@pytest.mark.parametrize(
    ("fields", "value", "reason", "status"),
    [
        pytest.param(
            {"refusal": "I can't help"}, None, "refused: I can't help", "no_answer", id="a refusal"
        ),
        pytest.param(
            {"finish_reason": "length"}, None, "cut at the token limit", "no_answer", id="a cut one"
        ),
        pytest.param({"output": " \n"}, None, "no output", "no_answer", id="blanks"),
        pytest.param({"output": None}, None, "no output", "no_answer", id="none"),
        pytest.param({"output": "Hm."}, 0.0, "no answer found", "not_found", id="no answer in it"),
        pytest.param(
            {"output": "import argparse. The answer is 3.", "method": "pot"},
            0.0,
            "no program found",
            "not_found",
            id="no program",
        ),
        pytest.param(
            {"output": FUNCTION, "method": "pot"},
            0.0,
            "program: error, no solution()",
            "scored",
            id="a program without its function",
        ),
        pytest.param(
            {"output": BOTH, "method": "f-1"},
            1.0,
            "equal at 3 decimals; program: error, no solution()",
            "scored",
            id="a text beside such a program",
        ),
    ],
)
def test_an_output_is_scored_where_it_is_a_whole_answer(
    fields: dict[str, Any], value: float | None, reason: str, status: str
) -> None:
    (row,) = rows([record(**{"output": "The answer is 0.5.", **fields})])
    assert (row.value, row.reason, row.status) == (value, reason, status)


@pytest.mark.parametrize(
    ("output", "exact", "numbers"),
    [
        pytest.param("I am not sure", "I am not sure", None, id="a statement alone"),
        pytest.param("I am not sure.\nIt may be many.", None, None, id="two statements"),
        pytest.param(
            "The answer is impossible to give.", "impossible to give", None, id="words as an answer"
        ),
        pytest.param("\\boxed{\\text{none}}", "\\text{none}", None, id="a word in a box"),
        pytest.param(
            "Of 3 cases, the answer is unknown.", "unknown", None, id="a number of something else"
        ),
        pytest.param("The answer is 12 apples.", "12 apples", "12 apples", id="a unit"),
        pytest.param("The answer is 12 or 13.", "12 or 13", "12 or 13", id="two numbers"),
        pytest.param(
            "Apples:\nall in all $12 million.", "$12 million", "$12 million", id="a last number"
        ),
    ],
)
def test_prose_without_a_number_is_no_answer_to_a_rule_for_numbers(
    tmp_path: Path, output: str, exact: str | None, numbers: str | None
) -> None:
    data = write_lines(tmp_path / "q.jsonl", {"id": "1", "question": "?", "answer": "12"})
    outputs = write_lines(tmp_path / "q/m/cot.jsonl", {"id": "1", "output": output})
    frame = evalcore.score(outputs, data=data, rule=["exact", "numbers"])
    rows = frame.reindex(columns=["rule", "answer", "extraction", "status"]).set_index("rule")
    answers = {"exact": exact, "numbers": numbers}
    assert rows["answer"].dropna().to_dict() == {
        rule: answer for rule, answer in answers.items() if answer is not None
    }
    assert rows["status"].to_dict() == {
        rule: "not_found" if answer is None else "scored" for rule, answer in answers.items()
    }
    assert rows["extraction"].isna().to_dict() == {
        rule: answer is None for rule, answer in answers.items()
    }


@pytest.mark.parametrize(
    ("method", "output", "answer", "extraction"),
    [
        pytest.param("cot", "Therefore, the answer is 3.", "3", "the-answer-is/1", id="a text"),
        pytest.param("cot", FUNCTION, "0.5", "last-number/1", id="a program is a text"),
        pytest.param(
            "pot", FUNCTION, "7", "program, financemath-authors/2", id="a program for pot"
        ),
        pytest.param("f-1", BOTH, "7", "program, fenced/1", id="both for f-1"),
        pytest.param("f-1+verify", "The answer is 3.", "3", "the-answer-is/1", id="a text for f-1"),
        pytest.param("mine", BOTH, "7", "program, fenced/1", id="both for another method"),
        pytest.param(
            "F-1+PoT", FUNCTION, "7", "program, financemath-authors/2", id="a variant with programs"
        ),
        pytest.param("f-1+cot", FUNCTION, "0.5", "last-number/1", id="a variant with texts"),
        pytest.param("mine+CoT", FUNCTION, "0.5", "last-number/1", id="another one with texts"),
    ],
)
def test_a_method_says_whether_text_or_program_is_the_answer(
    method: str, output: str, answer: str, extraction: str
) -> None:
    (row,) = rows([record(output, method)], **{"return 0.5": Outcome("ok", 7)})
    assert (row.answer, row.extraction) == (answer, extraction)


def test_what_a_sandbox_or_a_grader_lost_is_an_error(
    subtests: pytest.Subtests,
) -> None:
    lost = Outcome("lost", message="its watcher ended", layers=LAYERS)
    for method in ("pot", "f-1"):
        with subtests.test(method=method):
            (row,), failures = scored([record(BOTH, method)], **{"return 0.5": lost})
            assert (row.value, row.answer, row.status) == (None, None, "unknown")
            assert failures == [f"financemath, m, {method}, 1: sandbox: its watcher ended"]
    (row,), failures = scored([record("\\boxed{5}", dataset=MATH.name)], dataset=MATH)
    assert (row.value, row.status, row.extraction) == (None, "unknown", "boxes/1")
    assert failures == ["olympiadbench-oe-maths, m, cot, 1: grader: ran out of time"]
    with pytest.raises(InputError, match="financemath/m/cot: financemath has no problem with"):
        scored([record("x", id="9")])


def test_a_figure_of_which_nothing_is_known_is_refused(tmp_path: Path) -> None:
    data, outputs = tmp_path / "q.jsonl", tmp_path / "q/m/cot.jsonl"
    outputs.parent.mkdir(parents=True)
    data.write_text(
        '{"id": "1", "question": "?", "answer": "all odd $n$"}\n'
        '{"id": "2", "question": "?", "answer": "5"}\n'
    )
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
def test_rows_come_back_from_tables(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"scores{suffix}"
    write_rows(ROWS, ScoreRow, choose_target(None, path))
    assert read_scores(path, ScoreRow) == ROWS


@pytest.mark.parametrize("suffix", [".csv", ".jsonl", ".json", ".parquet"])
def test_tables_of_others_are_read_as_scores(tmp_path: Path, suffix: str) -> None:
    changes: list[dict[str, Any]] = [
        {},
        {"value": None},
        {"value": 0.0},
        {"value": None, "status": "no_answer"},
    ]
    rows = [
        GOOD | {"id": number, "judge": "j", "status": None} | changed
        for number, changed in enumerate(changes, 1)
    ]
    found = read_scores(write_table(tmp_path / f"scores{suffix}", rows), ScoreRow)
    assert [row.status for row in found] == ["scored", "unknown", "scored", "no_answer"]
    assert found[0] == ScoreRow("d", "m", "a", "1", None, "r", 1.0)
    without = [{name: row[name] for name in GOOD} for row in rows[:3]]
    again = read_scores(write_table(tmp_path / f"without{suffix}", without), ScoreRow)
    assert again == found[:3]


def test_wrong_outputs_are_those_that_every_rule_finds_wrong() -> None:
    values = {"1": (1, 1), "2": (0, 1), "3": (0, None), "4": (None, None)}
    rows = [
        replace(ROW, id=number, rule=str(rule), value=value, status="")
        for number, by_rule in values.items()
        for rule, value in enumerate(by_rule)
    ]
    table = to_frame(rows, ScoreRow)
    assert outputs_valued(table, 0.0) == {("d", "m", "cot", "3", None)}
    assert outputs_valued(table, None) == {("d", "m", "cot", "4", None)}


def test_a_summary_counts_no_answer_as_wrong_and_no_unknown_result() -> None:
    right, wrong = record("The answer is 0.5."), record("The answer is 1.", method="f-1")
    given = rows([right, record(None, id="2"), wrong])
    low, high = proportion_confint(1, 2, method="wilson")
    first, second = summarise(given)
    assert (first.dataset, first.model, first.method, first.rule, first.run) == (
        *("financemath", "m", "cot", "strict"),
        None,
    )
    assert (first.n, first.accuracy, first.answered, first.n_no_answer) == (2, 0.5, 0.5, 1)
    assert (first.accuracy_low, first.accuracy_high) == pytest.approx((low, high))
    assert (second.n, second.accuracy, second.answered, second.n_no_answer) == (1, 0.0, 1.0, 0)
    unknown, _ = scored([record("\\boxed{5}", dataset=MATH.name)], dataset=MATH)
    (nothing,) = summarise(unknown)
    assert (nothing.n, nothing.accuracy, nothing.n_unknown) == (0, None, 1)


def good_line(**changes: Any) -> str:
    """Return a score as a line of JSON, with other fields where they are given."""
    return json.dumps(GOOD | changes)


@pytest.mark.parametrize(
    ("suffix", "content", "said"),
    [
        pytest.param("csv", "a,b\n1,2\n", ":2: no columns dataset", id="other columns"),
        pytest.param(
            "csv",
            "dataset,model,method,id,rule,value\nd,m,a,1,r,good\n",
            ":2: value: Expected float",
            id="a word as a value",
        ),
        pytest.param(
            "csv",
            "dataset,model,method,id,rule,value\nd,m,é,1,r,1\n",
            ":2: not UTF-8; save the table",
            id="another encoding",
        ),
        pytest.param(
            "csv",
            "dataset,model,method,id,rule,value\nd,m,a,1,r\n",
            ":2: more or fewer cells than columns",
            id="a cell too few",
        ),
        pytest.param(
            "csv",
            "dataset,model,method,id,rule,value,value\nd,m,a,1,r,1,0\n",
            ": two columns have one name",
            id="two columns of one name",
        ),
        pytest.param("json", "{}", "a JSON list of rows", id="an object of JSON"),
        pytest.param("jsonl", "\n{\n", ":2: not valid JSON", id="half a line"),
        pytest.param("jsonl", "[1]\n", ":1: not a JSON object", id="a list as a line"),
        pytest.param("jsonl", "{}\n", ":1: no columns dataset, model", id="an empty object"),
        pytest.param(
            "jsonl",
            "\n" + good_line(value=1.5),
            ":2: value 1.5; expected a number f",
            id="a value above 1",
        ),
        pytest.param(
            "jsonl",
            good_line(value="yes"),
            ":1: value: Expected float",
            id="a word as the value",
        ),
        pytest.param(
            "jsonl",
            good_line(model=["m"]),
            ":1: model: Expected str, got array",
            id="a list as a name",
        ),
        pytest.param(
            "jsonl",
            good_line(status="unknown"),
            ":1: status unknown, but value 1",
            id="unknown with a value",
        ),
        pytest.param(
            "jsonl",
            good_line(value=None, status="scored"),
            ":1: status scored, but no value",
            id="scored without a value",
        ),
        pytest.param(
            "jsonl",
            good_line(status="wrong"),
            ":1: status wrong, but value 1; expected scored or not_found",
            id="another status",
        ),
        pytest.param("parquet", "no", "not a Parquet file", id="not Parquet"),
        pytest.param("txt", "", "a table (.csv, .jsonl or .parquet)", id="another suffix"),
    ],
)
def test_malformed_rows_are_refused_with_their_place(
    tmp_path: Path, suffix: str, content: str, said: str
) -> None:
    path = tmp_path / f"s.{suffix}"
    path.write_text(content, encoding="latin-1")
    with pytest.raises(InputError) as error:
        read_scores(path, ScoreRow)
    assert (str(path) + said if said[0] == ":" else said) in str(error.value)


def test_a_column_under_another_name_is_refused_by_its_own(tmp_path: Path) -> None:
    renamed = pd.DataFrame([GOOD, GOOD | {"method": "b"}]).rename(columns={"value": "none"})
    path = write_table(tmp_path / "scores.jsonl", renamed)
    with pytest.raises(InputError, match=r"scores\.jsonl: no column value; a verdict may"):
        evalcore.logs(path)
    with pytest.raises(InputError, match="data frame: no column value; a verdict may also be in"):
        evalcore.compare(renamed, baseline="a")
    with pytest.raises(InputError, match="no column value; it should have rows of `evalcore sc"):
        read_scores(path, ScoreRow)
    with pytest.raises(InputError, match="no column value; rename `score` to"):
        read_scores(renamed.rename(columns={"none": "score"}), ScoreRow)
    with pytest.raises(InputError, match=r"no such file or folder; expected a table \(\.csv, "):
        read_scores(tmp_path / "none.csv", ScoreRow)


def financemath(shared: Path, made: Path, method: str, every: int) -> tuple[pd.DataFrame, Any, Any]:
    """Return the scores of every so many answers, the published rates, and published verdicts."""
    folder = shared / "data/financemath"
    for path in (folder / f"validation/raw_{method}_outputs").glob("*.json"):
        write_lines(made / method / path.name, json.loads(path.read_bytes())[::every])
    given: dict[str, Any] = {"dataset": "financemath", "layout": "financemath", "method": method}
    given |= {"data": folder / "validation.json", "rule": ["lenient", "strict"]}
    rows = evalcore.score(made / method, **given)
    assert len(rows) == 2 * 6 * 200 // every
    # The authors count an empty output as wrong; 43 of one model are.
    assert (rows["value"].isna() == (rows["status"] == "no_answer")).all()
    assert set(rows.loc[rows["value"].isna(), "model"]) == {"Qwen2-7B-Instruct"}
    rates = pd.read_json(folder / f"results/validation_{method}_results.json")
    verdicts = {
        (path.stem, entry["question_id"]): float(entry["result"]["acc"])
        for path in (folder / "validation" / f"processed_{method}_outputs").glob("*.json")
        for entry in json.loads(path.read_bytes())
    }
    return rows, rates.set_index("model_name"), pd.Series(verdicts)


@pytest.mark.usefixtures("sandbox_here")
@pytest.mark.parametrize("every", [10, slow(1)])
def test_published_verdicts_and_comparisons_of_financemath(
    shared: Path, tmp_path: Path, every: int, subtests: pytest.Subtests
) -> None:
    programs, published, verdicts = financemath(shared, tmp_path, "pot", every)
    texts, rates_of_texts, verdicts_of_texts = financemath(shared, tmp_path, "cot", 1)
    by_rule = programs.assign(value=programs["value"].fillna(0)).set_index(["rule", "model", "id"])
    lenient = by_rule.loc["lenient"]
    assert (lenient["value"] != verdicts[lenient.index]).sum() <= 1, "at least 99.9% agree"

    # Another model looked up the answers of texts for the authors.
    assert (texts["extraction"].notna() == texts["answer"].notna()).all()
    outputs = shared / "data/financemath/validation/raw_cot_outputs"
    by_model: Any = texts[texts["rule"] == "lenient"].set_index(["model", "id"]).groupby("model")
    for model, own in by_model:
        with subtests.test(model=model):
            value = own["value"].fillna(0)
            assert (value == verdicts_of_texts[own.index]).mean() >= 0.985, model
            assert 100 * value.mean() == pytest.approx(rates_of_texts["accuracy"][model], abs=0.51)
            written = pd.read_json(outputs / f"{model}.json").set_index("question_id")["output"]
            unanswered = own[own["reason"] == "no answer found"].index.get_level_values("id")
            assert not any(re.search(r"\d", written[name][0]) for name in unanswered), model
            in_words = own[own["status"] == "not_found"].drop(unanswered, level="id")
            assert in_words["reason"].str.fullmatch(r"not a number: \D*").all()

    questions = pd.read_json(shared / "data/financemath/validation.json")
    topics = texts["id"].map(questions.set_index("question_id")["topic"])
    assert (texts["subtask"] == topics).all()
    right = texts.assign(right=texts["value"] == 1).set_index(["model", "subtask", "id", "rule"])
    both = right["right"].unstack()
    gained = (both["lenient"] & ~both["strict"]).groupby(["model", "subtask"]).agg(["size", "sum"])
    rules: dict[str, Any] = {"baselines": "strict", "adaptive": "lenient", "between": "rules"}
    outcomes = evalcore.outcomes(texts, by="subtask", **rules)
    outcomes = outcomes[outcomes["model"] != "all"]
    topics_of_rows = outcomes["group"].str.removesuffix(", cot")
    expected = gained.loc[[*zip(outcomes["model"], topics_of_rows, strict=True)]]
    assert outcomes[["n", "only_adaptive"]].to_numpy().tolist() == expected.to_numpy().tolist()

    if every > 1:
        return
    for model, own in lenient.groupby("model"):
        with subtests.test(model=model):
            shares = (100 * own["value"].mean(), 100 * own["answer"].notna().mean())
            assert shares == pytest.approx(
                tuple(published.loc[model, ["accuracy", "execution_rate"]])
            )
    compared = evalcore.compare(pd.concat([texts, programs]), baseline="cot")
    page = pd.read_csv(ROOT / "docs/results/methods.csv")
    compared = pd.read_csv(StringIO(compared[[*page]].to_csv(index=False)))
    pd.testing.assert_frame_equal(compared, page, rtol=1e-9)


@pytest.mark.parametrize(("method", "accuracy"), [("direct", 50.4), ("cot", 40.4)])
def test_word_sorting(shared: Path, method: str, accuracy: float) -> None:
    folder = shared / "data" / "bbh"
    given: dict[str, Any] = {"dataset": "bbh-word-sorting", "data": folder / "word_sorting.json"}
    rows: Any = evalcore.score(folder / f"code-davinci-002-{method}", **given, layout="bbh")
    assert (len(rows), set(rows["method"])) == (250, {method})
    assert 100 * rows["value"].mean() == pytest.approx(accuracy)


def test_a_whole_number_longer_than_any_float_is_an_answer(tmp_path: Path) -> None:
    long = 10**400
    questions = write_lines(
        tmp_path / "q.jsonl", {"id": "1", "question": "10**400?", "answer": long}
    )
    outputs = write_lines(
        tmp_path / "q/m/cot.jsonl", {"id": "1", "output": f"The answer is {long}."}
    )
    found = evalcore.score(outputs, data=questions, dataset="q", rule="exact")
    assert [*found["value"]] == [1.0]


def score_outputs(folder: Path, method: str, outputs: Sequence[str]) -> list[tuple[Any, ...]]:
    """Return value, status, answer and reason of outputs to problems whose answer is 5."""
    made = write_texts(folder / "outputs", {method: outputs})
    questions = [{"id": str(number), "question": "?", "answer": "5"} for number in range(3)]
    data = write_lines(folder / "d.jsonl", *questions)
    found = evalcore.score(made, data=data, rule="numbers")
    columns = found[["value", "status", "answer", "reason"]].astype(object)
    return [tuple(row) for row in columns.where(columns.notna(), None).to_numpy()]


def test_reasoning_is_not_scored(tmp_path: Path) -> None:
    outputs = [
        "<think>It may be \\boxed{5}, since",
        "<think>Maybe \\boxed{12}</think>\nIt is \\boxed{5}.",
        "<think>It is \\boxed{5}</think>",
    ]
    assert score_outputs(tmp_path, "cot", outputs) == [
        (None, "no_answer", None, "the output ends within its reasoning"),
        (1.0, "scored", "5", "equal"),
        (None, "no_answer", None, "no output but reasoning"),
    ]


@pytest.mark.usefixtures("sandbox_here")
def test_a_program_in_reasoning_is_a_draft(tmp_path: Path) -> None:
    draft = "<think>\n```python\nanswer = 4\n```\n</think>"
    outputs = [f"{draft}\n```python\nanswer = 5\n```", draft, f"{draft}\nIt is 5."]
    found = score_outputs(tmp_path, "pot", outputs)
    assert [row[:2] for row in found] == [(1.0, "scored"), (None, "no_answer"), (0.0, "not_found")]
