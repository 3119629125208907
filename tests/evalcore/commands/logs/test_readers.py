"""What the files of Inspect and of lm-evaluation-harness say, and which are refused."""

import hashlib
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from evalcore.commands.logs import read_logs
from evalcore.commands.logs.readers import Log
from evalcore.scores import ScoreRow
from ngramscan.errors import InputError
from tests.support import made_logs
from tests.support.command import invoke
from tests.support.made_logs import TIME, Fields, failed, header, refused, row, sample

# Inspect

SAMPLES = [sample("s1"), sample("s2", "I", answer="6"), failed("s3")]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "log.eval"


def read(path: Path, *samples: Fields, head: Fields | None = None, **options: Any) -> Log:
    log = read_logs([made_logs.write_inspect(path, samples, head)], **options)
    log.notices = [notice.removeprefix(f"{path}: ") for notice in log.notices]
    return log


def read_one(path: Path, tested: Fields) -> tuple[ScoreRow, list[str]]:
    """Return the row of one sample of a log of two, and the notices."""
    log = read(path, tested, sample("z"), head=header(dataset={}))
    return log.rows[0], log.notices


def test_scores_become_numbers_and_letters_are_told(path: Path) -> None:
    numbers = {"C": 1.0, "P": 0.5, "I": 0.0, "N": 0.0, "Yes": 1.0, "0.25": 0.25, 0.75: 0.75}
    values = {**numbers, True: 1.0, 0: 0.0}
    assert {one: read_one(path, sample("s1", one))[0].value for one in values} == values
    unknown = [read_one(path, sample("s1", one))[0] for one in (float("nan"), None)]
    assert [(row.value, row.reason[:22]) for row in unknown] == [
        (None, "not scored by the tool")
    ] * 2
    said = ["P (partly correct), read as 0.5", "N (no answer), read as 0"]
    told = [read_one(path, sample("s1", one[0]))[1] for one in said]
    assert told == [[f"scores {one} as Inspect does: 1"] for one in said]
    for no_share in ("X", 7, -0.1, "inf", 10**400):
        made_logs.write_inspect(path, [sample("s1", no_share)])
        refused(r"log\.eval: sample s1, epoch 1, answer .*: expected a number from 0 to 1", [path])


def test_several_scorers_are_several_rules_and_read_only_where_asked_for(path: Path) -> None:
    scores = {"exact": {"value": "I"}, "judge": {"value": {"form": 0.5, "sum": 1}, "answer": 5}}
    rows = read(path, sample("s1", scores=scores), failed("s2")).rows
    assert [(row.id, row.rule, row.value, row.answer) for row in rows] == [
        *(("s1", "exact", 0.0, None), ("s1", "judge.form", 0.5, "5"), ("s1", "judge.sum", 1, "5")),
        *(("s2", rule, None, None) for rule in ("exact", "judge.form", "judge.sum")),
    ]
    tested = sample("s1", scores={**scores, "points": {"value": 87}})
    assert [row.rule for row in read(path, tested, wanted=["exact"]).rows] == ["exact"]
    refused("points 87: expected a number from 0 to 1", [path])
    [row] = read(path, failed("s1")).rows  # the scorer that the task planned
    assert (row.rule, row.value) == ("answer", None)


def test_the_method_is_what_the_run_was_told_or_is_asked_for(path: Path) -> None:
    heads = ({"metadata": {"method": 4}}, {"metadata": None, "task_args": {"method": 4}})
    rows = [row for noted in heads for row in read(path, *SAMPLES, head=header(**noted)).rows]
    assert {row.method for row in rows} == {"4"}


SCORED = json.dumps({"id": "s1", "scores": {"answer": {"value": "C"}}}).encode()


@pytest.mark.parametrize("method", [0, 8, 93])
def test_a_changed_byte_is_noticed_or_changes_nothing(path: Path, method: int) -> None:
    told, about = "", {"eval": {"task": "t", "model": "m", "metadata": {"method": "c"}}}
    members = [("header.json", json.dumps(about).encode()), ("samples/1.json", SCORED)]
    content = made_logs.zip_bytes(members, method)
    path.write_bytes(content)
    whole = read_logs([path]).rows
    for position in range(len(content)):
        changed = bytearray(content)
        changed[position] ^= 0x15
        path.write_bytes(changed)
        try:
            assert read_logs([path]).rows == whole, position
        except InputError as error:
            told += f"{error}\n"
    assert told.count("\n") > len(content) / 2
    problems = ("samples/1.json: damaged (", "is encrypted", "log.eval: not a .eval file")
    assert not [problem for problem in problems if problem not in told]
    path.write_bytes(made_logs.zip_bytes(members, 14))  # LZMA
    refused(r"header\.json: damaged \(compressed by another method\)", [path])


# lm-evaluation-harness

ROWS = [row(3), row(1, 0.0), row(2)]


def read_rows(folder: Path, rows: list[dict[str, Any]]) -> list[ScoreRow]:
    made_logs.write_lm_eval(folder, rows)
    return read_logs([folder]).rows


def told(folder: Path, **options: Any) -> list[str]:
    """Return the notices of a folder, but for the one that every such log has."""
    notices, said = read_logs([folder], **options).notices, "harness records no errors: empty"
    [common] = [notice for notice in notices if said in notice]
    return [notice for notice in notices if notice != common]


def test_each_document_is_one_row_with_the_id_of_the_dataset(tmp_path: Path) -> None:
    of, rule, said = ("sums", "lab/made", "cot"), "strict-match", "recorded as exact_match"
    found = read_rows(tmp_path, ROWS)
    assert len({r.hash for r in found}) == 3
    assert [replace(r, hash=None) for r in found] == [
        ScoreRow(*of, f"s{n}", None, rule, value, str(n), rule, f"{said} {value:g}", run=TIME)
        for n, value in ((3, 1.0), (1, 0.0), (2, 1.0))
    ]
    assert told(tmp_path) == []


def test_rules_are_filters_or_metrics(tmp_path: Path) -> None:
    two = {"metrics": ["acc", "acc_norm"], "acc": True, "acc_norm": 0}
    fields: list[dict[str, Any]] = [{"filter": "none"}, two, {"filter": "none", **two}]
    found = [[r.rule for r in read_rows(tmp_path, [row(1, **one)])] for one in fields]
    assert found == [
        ["exact_match"],
        ["acc,strict-match", "acc_norm,strict-match"],  # as results name them
        ["acc", "acc_norm"],
    ]


def test_positions_are_ids_only_where_the_dataset_has_none(tmp_path: Path) -> None:
    rows = read_rows(tmp_path, [row(n, doc={"question": f"{n}?"}) for n in (2, 0, 1)])
    assert [r.id for r in rows] == ["2", "0", "1"]
    assert told(tmp_path) == []  # the hashes of the documents say which they are
    rows = read_rows(tmp_path, [row(n, doc=None) for n in (2, 0, 1)])
    assert [(r.id, r.hash) for r in rows] == [("2", None), ("0", None), ("1", None)]
    lacking = "no doc_hash, and no field question_id, id, idx of ids, so ids are positions, which"
    assert f": {lacking} must mean the same" in told(tmp_path)[0]


@pytest.mark.parametrize(
    ("docs", "ids"),
    [
        pytest.param([{"question_id": 7, "id": "a"}, {"question_id": 8, "id": "b"}], "78", id="q"),
        pytest.param([{"id": "a", "idx": 4}, {"id": "b", "idx": 3}], "ab", id="id"),
        pytest.param([{"idx": 4}, {"idx": 3}], "43", id="idx"),
        pytest.param([{"id": "a", "idx": 4}, {"id": "a", "idx": 3}], "43", id="id not unique"),
        pytest.param([{"id": "a"}, {"id": None}], "01", id="id not of all documents"),
        pytest.param([{"idx": {"answer": 1}}, {"idx": {"answer": 2}}], "01", id="no name"),
        pytest.param([{"id": True}, {"id": False}], "01", id="a truth value"),
    ],
)
def test_the_first_field_that_names_each_document_is_the_id(
    tmp_path: Path, docs: list[Fields], ids: str
) -> None:
    rows = read_rows(tmp_path, [row(n, doc=doc) for n, doc in enumerate(docs)])
    assert [r.id for r in rows] == [*ids]


def test_a_recorded_hash_is_taken_and_an_absent_one_computed_alike(
    tmp_path: Path,
) -> None:
    doc = {"question": "Was ist 2\u00b2?", "answer": 4}
    text = '{\n  "question": "Was ist 2²?",\n  "answer": 4\n}'
    rows = read_rows(tmp_path, [row(0, doc=doc), row(1, doc=doc, doc_hash="ab12")])
    assert [r.hash for r in rows] == [hashlib.sha256(text.encode()).hexdigest(), "ab12"]


def test_two_runs_of_a_task_in_one_folder_are_told_apart(tmp_path: Path) -> None:
    time = "2026-01-03T00-00-00"
    made_logs.write_lm_eval(tmp_path, ROWS)
    for path in tmp_path.glob("*"):
        path.with_name(path.name.replace(TIME, time)).write_bytes(path.read_bytes())
    assert [r.run for r in read_logs([tmp_path]).rows] == [TIME] * 3 + [time] * 3
    several = f"has 2 runs: {TIME} (3 rows), {time} (3 rows); `compare` takes one of them (--run)"
    assert told(tmp_path) == [f"sums, lab/made, cot, strict-match {several}"]


def test_tasks_without_hashes_are_one_benchmark_on_request(tmp_path: Path) -> None:
    rows = [row(n, doc=None) for n in (1, 2)]
    for name in ("cot", "pot"):
        made_logs.write_lm_eval(tmp_path / name, rows, f"sums_{name}", metadata={"method": name})
    [notice] = [text for text in told(tmp_path) if text.startswith("sums")]
    assert notice.startswith("sums_cot, sums_pot have the same ids but different methods: --d")
    assert not [text for text in told(tmp_path, given={"dataset": "sums"}) if "same ids" in text]


def test_the_command_says_which_tasks_compare_takes_as_one_benchmark(tmp_path: Path) -> None:
    for name in ("cot", "pot"):
        made_logs.write_lm_eval(tmp_path / name, ROWS, f"sums_{name}", metadata={"method": name})
    assert (
        "sums_cot, sums_pot have documents in common: `compare` takes them as one benchmark, sums"
        in (invoke("logs", tmp_path).stderr.splitlines())
    )


RIGHT = '"exact_match": 1.0'


@pytest.mark.parametrize(
    ("change", "message"),
    [
        pytest.param(lambda text: text[:-9], r"\.jsonl:6: not valid JSON", id="half a line"),
        pytest.param(
            lambda text: text[: text.rindex('{"doc_id"')],
            "truncated: 2 of 3 documents of loose",
            id="a line too few",
        ),
        pytest.param(lambda text: text + "[]\n", r"\.jsonl:7: Expected object", id="a list"),
        pytest.param(
            lambda text: f"{text}{text.splitlines()[0]}\n",
            "id 's3', .*: it is there twice",
            id="a line twice",
        ),
        pytest.param(
            lambda text: text.replace('"metrics": ["exact_match"]', '"metrics": []'),
            "1: it has no score; expected a metric",
            id="no metric",
        ),
        pytest.param(
            lambda text: text.replace(RIGHT, '"exact_match": 61'),
            r"\.jsonl:1: exact_match 61: expected a number",
            id="a score above 1",
        ),
        pytest.param(
            lambda text: text.replace(RIGHT, '"other": 1'),
            "1: exact_match: the row lacks this score",
            id="another score",
        ),
        pytest.param(lambda text: "", "it is empty; expected one row per", id="an empty file"),
    ],
)
def test_malformed_lines_are_refused_with_their_place(
    tmp_path: Path, change: Callable[[str], str], message: str
) -> None:
    rows = [*ROWS, *(row(n, filter="loose") for n in (1, 2, 3))]
    path = made_logs.write_lm_eval(tmp_path, rows)
    path.write_text(change(path.read_text()))
    refused(message, [path], "lm-eval")


@pytest.mark.parametrize("content", ["{", "[]", '{"configs": {"sums": 1}}'])
def test_malformed_results_are_refused_with_their_place(tmp_path: Path, content: str) -> None:
    path = made_logs.write_lm_eval(tmp_path, ROWS)
    (tmp_path / f"results_{TIME}.json").write_text(content)
    refused(r"results_.*\.json: ", [path])


def test_a_metric_that_is_better_when_lower_is_refused(tmp_path: Path) -> None:
    rows = [r | {"metrics": ["exact_match", "brier"], "brier": 0.25} for r in ROWS]
    made_logs.write_lm_eval(tmp_path, rows, goals={"exact_match": True, "brier": False})
    refused(r"\.jsonl:1: brier: lower is better; choose", [tmp_path])
    assert read_logs([tmp_path], wanted=["exact_match,strict-match"]).rows


def older(number: int, **scores: Any) -> dict[str, Any]:
    """A row of a version that names neither filters nor metrics."""
    known = row(number)
    kept = {name: known[name] for name in ("doc_id", "doc", "resps", "filtered_resps")}
    return {**kept, "target": 1, "arguments": [["?", {"until": []}]], **scores}


def test_rows_that_do_not_name_their_metrics_are_read(tmp_path: Path) -> None:
    rows = read_rows(tmp_path, [older(n, acc=float(n == 1), acc_norm=None) for n in (1, 2, 3)])
    assert [(r.rule, r.value) for r in rows] == [
        ("acc", 1.0),
        ("acc_norm", None),
        ("acc", 0.0),
        ("acc_norm", None),
        ("acc", 0.0),
        ("acc_norm", None),
    ]


FILTERS = [{"name": "strict", "filter": []}, {"name": "loose", "filter": []}]


def test_rows_that_do_not_name_their_filters_have_the_order_of_the_task(tmp_path: Path) -> None:
    rows = [older(n, exact_match=value) for value in (0, 1) for n in (1, 2, 3)]
    made_logs.write_lm_eval(tmp_path, rows, filter_list=FILTERS)
    found = read_logs([tmp_path]).rows
    assert [(r.rule, r.value) for r in found] == [("strict", 0.0)] * 3 + [("loose", 1.0)] * 3


def test_rows_of_unnamed_filters_are_refused_if_the_task_has_others(tmp_path: Path) -> None:
    rows = [older(n, exact_match=value) for value in (0, 1) for n in (1, 2, 3)]
    made_logs.write_lm_eval(tmp_path, rows)
    refused("2 rows per document, but the task has 1 filters; keep the results_", [tmp_path])


def test_documents_that_are_texts_have_a_hash(tmp_path: Path) -> None:
    first, same, other = read_rows(tmp_path, [row(n, doc=text) for n, text in enumerate("aab")])
    assert first.hash == same.hash != other.hash


def test_a_log_without_a_model_names_the_command_that_gives_it(tmp_path: Path) -> None:
    path = made_logs.write_lm_eval(tmp_path, ROWS)
    (tmp_path / f"results_{TIME}.json").unlink()
    refused("it has no model; `evalcore logs --model NAME` names it", [path])


def test_results_of_an_unknown_tool_are_not_said_to_be_of_another(tmp_path: Path) -> None:
    path = made_logs.write_json(tmp_path / "r.json", {"accuracy": 1, "results": [{"id": 1}]})
    refused("not a known log; expected a log of Inspect", [path])
