"""What the files of Inspect and of lm-evaluation-harness say, and which are refused."""

import hashlib
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from evalcore.commands.logs import read_logs
from evalcore.commands.logs.readers import Log, UsageRow
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


def test_each_sample_is_one_row_with_its_tokens(path: Path) -> None:
    of, error = ("sums", "lab/made", "cot"), "error: RuntimeError('no reply') (no score)"
    log = read(path, *SAMPLES)
    assert [replace(row, hash=None) for row in log.rows] == [
        ScoreRow(*of, "s1", None, "answer", 1.0, "5", "answer", "recorded as C", run="E1"),
        ScoreRow(*of, "s2", None, "answer", 0.0, "6", "answer", "recorded as I", run="E1"),
        ScoreRow(*of, "s3", None, "answer", None, None, None, error, run="E1", status="unknown"),
    ]
    # Tokens from a cache and written to it are tokens of the prompt: 1 + 7 + 2.
    tokens = {"s1": (10, 4, 3), "s2": (10, 4, 3), "s3": (None, None, None)}
    assert log.usage == [
        UsageRow(
            dataset="sums",
            model="lab/made",
            method="cot",
            id=id_,
            epoch=None,
            prompt_tokens=prompt,
            completion_tokens=completion,
            reasoning_tokens=reasoning,
            run="E1",
        )
        for id_, (prompt, completion, reasoning) in tokens.items()
    ]


REFUSAL = "I\N{RIGHT SINGLE QUOTATION MARK}m sorry,\nbut I can't help with that."
LOOKS = f"looks like a refusal (refusal-phrases/1): {' '.join(REFUSAL.split())}"
CUT = {"stop_reason": "max_tokens"}


@pytest.mark.parametrize("missing", ["apart", "as-recorded"])
@pytest.mark.parametrize(
    ("changes", "kind", "reason"),
    [
        pytest.param(
            {"stop_reason": "content_filter"},
            "refusal",
            "refused: stopped by a content filter",
            id="a filter",
        ),
        pytest.param(
            {"output": {"choices": [], "error": "not\nsafe"}},
            "refusal",
            "refused: not safe",
            id="a refused request",
        ),
        pytest.param({"text": " \n"}, "empty reply", "no output", id="blanks"),
        pytest.param(
            {**CUT, "text": ""}, "empty reply", "no output, cut at the token limit", id="cut empty"
        ),
        pytest.param(CUT, "cut reply", "cut at the token limit", id="cut"),
        pytest.param(
            {"stop_reason": "model_length"},
            "cut reply",
            "cut at the model's context limit",
            id="cut at the context",
        ),
        pytest.param(
            {"limit": {"type": "message"}},
            "stopped sample",
            "stopped at its message limit",
            id="a limit of messages",
        ),
        pytest.param(
            {"limit": {"type": "operator"}},
            "interrupted sample",
            "stopped by the person who ran it",
            id="a person",
        ),
        pytest.param(
            {"invalidation": {"by": "me"}},
            "invalidated sample",
            "invalidated after the run",
            id="invalidated",
        ),
        pytest.param(
            {"error": {"message": "too late"}, "text": ""}, "error", "error: too late", id="error"
        ),
        pytest.param({"text": REFUSAL}, "apparent refusal", LOOKS, id="a refusal in words"),
        pytest.param(
            {"text": REFUSAL, "answer": REFUSAL},
            "apparent refusal",
            LOOKS,
            id="a refusal taken for the answer",
        ),
    ],
)
def test_a_failure_is_no_wrong_answer_but_keeps_its_score_on_request(
    path: Path, changes: Fields, kind: str, reason: str, missing: Any
) -> None:
    tested = sample("s1", "I", **{"answer": None, **changes})
    log = read(path, tested, sample("z"), head=header(dataset={}), missing=missing)
    row = log.rows[0]
    is_unknown = kind in {"error", "invalidated sample", "interrupted sample"}
    if missing == "apart":
        status, kept = "unknown" if is_unknown else "no_answer", "they have no value here"
        assert (row.value, row.status) == (None, status)
    else:
        kept = "scores are kept"
        assert (row.value, row.status) == (0.0, "scored")
    assert row.reason == f"{reason} (recorded as I)"
    assert log.notices == [f"1 of 2 samples are failures: {kind} scored as wrong (1); {kept}"]


@pytest.mark.parametrize(
    ("tested", "value", "status"),
    [
        pytest.param(sample("s1", "I", answer=None), 0.0, "not_found", id="no answer found"),
        pytest.param(sample("s1", "I", text=REFUSAL), 0.0, "scored", id="an answer beside it"),
        pytest.param(sample("s1", text="", answer=None), 1.0, "scored", id="right without a text"),
        pytest.param(
            sample("s1", "I", answer=None, message={"tool_calls": [{"id": "1"}]}),
            0.0,
            "scored",
            id="a call of a tool",
        ),
        pytest.param(
            sample("s1", error_retries=[{}], error=None, limit=None),
            1.0,
            "scored",
            id="an error that passed",
        ),
    ],
)
def test_what_is_no_failure_keeps_its_score(
    path: Path, tested: Fields, value: float, status: str
) -> None:
    row, notices = read_one(path, tested)
    assert (row.value, row.status, notices) == (value, status, [])


def test_a_cut_reply_that_was_scored_as_right_is_told(path: Path) -> None:
    row, notices = read_one(path, sample("s1", **CUT))
    said = "1 of 2 samples are failures: cut reply scored above 0 (1); they have no value here"
    assert (row.value, row.status, notices) == (None, "no_answer", [said])


@pytest.mark.parametrize(("letter", "status"), [("I", "scored"), ("N", "not_found")])
def test_a_scorer_without_answers_says_only_by_n_that_none_was_found(
    path: Path, letter: str, status: str
) -> None:
    assert read(path, sample("s1", letter, answer=None)).rows[0].status == status


@pytest.mark.parametrize(
    ("ids", "order"),
    [
        pytest.param([2, 10], [("2", 1), ("2", 2), ("10", 1), ("10", 2)], id="the benchmark's"),
        pytest.param([], [("10", 1), ("10", 2), ("2", 1), ("2", 2)], id="that of the texts"),
    ],
)
def test_rows_are_in_the_order_of_the_benchmark_or_of_the_ids(
    path: Path, ids: list[int], order: list[tuple[str, int]]
) -> None:
    samples = [sample(2, epoch=2), sample(10), failed("10", epoch=2), sample(2)]
    rows = read(path, *samples, head=header(dataset={"sample_ids": ids})).rows
    assert [(row.id, row.epoch) for row in rows] == order


def test_a_log_and_its_copy_in_the_other_format_are_refused_together(path: Path) -> None:
    for copy in (path, path.with_suffix(".json")):
        made_logs.write_inspect(copy, SAMPLES)
    refused(r"log\.json: .*id 's1', answer: also in .*log\.eval", [path.parent])
    refused(r"log\.json: .*id 's1', tokens: also in .*log\.eval", [path.parent], wanted=["other"])


def test_a_run_and_its_repetition_are_told_apart_by_when_they_were(path: Path) -> None:
    early = header(eval_id="E9", created="2026-01-02T03:04:05+02:00")
    late = header(eval_id="E2", created="2026-01-02T03:04:05Z")
    again = made_logs.write_inspect(path.with_name("2.eval"), SAMPLES[1:], late)
    scores = read_logs([made_logs.write_inspect(path, SAMPLES, early), again])
    runs = ["2026-01-02T01-04-05_E9", "2026-01-02T03-04-05_E2"]
    assert [row.run for row in scores.rows] == [runs[0]] * 3 + [runs[1]] * 2
    assert [row.run for row in scores.usage] == [runs[0]] * 3 + [runs[1]] * 2


@pytest.mark.parametrize(
    ("about", "run"),
    [
        pytest.param({"created": "today"}, "log", id="a time that can't be read"),
        pytest.param({"created": "0001-01-01T00:00:00+14:00"}, "log", id="a time before all"),
        pytest.param({"run_id": "R", "task_id": "T"}, "R/T", id="ids of the run and the task"),
    ],
)
def test_a_run_without_an_id_or_a_time_has_the_next_best_name(
    path: Path, about: Fields, run: str
) -> None:
    assert read(path, *SAMPLES, head=header(eval_id=None, **about)).rows[0].run == run


MEMBERS = made_logs.eval_members(SAMPLES)


@pytest.mark.parametrize(
    ("members", "message"),
    [
        pytest.param(
            [member for member in MEMBERS if "s2" not in member[0]],
            "it lacks sample s2, epoch 1 of summaries",
            id="a sample too few",
        ),
        pytest.param(MEMBERS[-1:], "it has no samples", id="no samples"),
        pytest.param(
            [*MEMBERS, ("samples/x.json", b'{"epoch": 1}')],
            "samples/x.json: Object missing .* id",
            id="a sample without an id",
        ),
    ],
)
def test_members_that_are_missing_or_malformed_are_named(
    path: Path, members: list[tuple[str, bytes]], message: str
) -> None:
    path.write_bytes(made_logs.zip_bytes(members))
    refused(message, [path])


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


@pytest.mark.parametrize(
    ("replied", "found", "value", "status"),
    [
        pytest.param(" \n", " \n", None, "no_answer", id="blanks"),
        pytest.param(REFUSAL, REFUSAL, None, "no_answer", id="a refusal"),
        pytest.param(
            "I can't help with that.", "[invalid]", None, "no_answer", id="without an answer"
        ),
        pytest.param(
            "I\u2019m sorry, I won\u2019t do that.", "[invalid]", None, "no_answer", id="curled"
        ),
        pytest.param(
            "As an AI language model, I am unable to provide it.",
            "[invalid]",
            None,
            "no_answer",
            id="a model that says what it is",
        ),
        pytest.param(
            "Unfortunately, I must decline to answer.", "[invalid]", None, "no_answer", id="decline"
        ),
        pytest.param(
            "Sorry, I made a mistake. The sum is 5.", "[invalid]", 0.0, "not_found", id="a mistake"
        ),
        pytest.param(
            "I cannot see why, but the sum is 5.", "[invalid]", 0.0, "not_found", id="a doubt"
        ),
        pytest.param(
            "The sum is 5. I cannot answer more.", "[invalid]", 0.0, "not_found", id="an end"
        ),
        pytest.param("I cannot answer 5.", "5", 0.0, "scored", id="an answer was found"),
        pytest.param(
            ["-1.5", "False"], ["-1.5"], 0.0, "scored", id="how likely texts are: no replies"
        ),
    ],
)
def test_only_failures_of_documents_have_no_value(
    tmp_path: Path, replied: Any, found: Any, value: float | None, status: str
) -> None:
    tested = row(1, 0.0, replies=[replied], filtered_resps=[found])
    first = read_rows(tmp_path, [tested, row(2)])[0]
    assert (first.value, first.status) == (value, status)
    lacking, *failures = told(tmp_path)
    assert lacking.endswith("it has 2 of 3 documents")
    assert len(failures) == (1 if value is None else 0)


def test_a_right_refusal_is_scored_and_a_score_that_is_no_number_unknown(tmp_path: Path) -> None:
    right = row(1, replies=[REFUSAL], filtered_resps=["[invalid]"])
    rows = read_rows(tmp_path, [right, row(2, float("nan"))])
    assert [(r.value, r.status) for r in rows] == [(1.0, "scored"), (None, "unknown")]


@pytest.mark.parametrize(
    ("function", "values", "of"),
    [
        pytest.param(
            "regex", [None, None, 0.0], "of the first; the others are not scored", id="the first"
        ),
        pytest.param("majority_vote", [0.0, None, 0.0], "of all together", id="a vote"),
    ],
)
def test_of_several_replies_the_first_is_scored_and_a_vote_needs_one(
    tmp_path: Path, function: str, values: list[float | None], of: str
) -> None:
    replies = {1: ["", "5"], 2: ["", ""], 3: ["5", "5"]}
    rows = [row(n, 0.0, replies=several, filtered_resps=[""]) for n, several in replies.items()]
    steps = [{"function": function}, {"function": "take_first"}]
    filters = [{"name": "strict-match", "filter": steps}]
    made_logs.write_lm_eval(tmp_path, rows, filter_list=filters)
    assert [r.value for r in read_logs([tmp_path]).rows] == values
    assert told(tmp_path)[0].endswith(
        f": documents have 2 replies but one score per rule: that {of}"
    )


def test_results_may_have_another_name_and_other_names_are_asked_for(tmp_path: Path) -> None:
    path = made_logs.write_lm_eval(tmp_path, ROWS)
    beside = (tmp_path / f"results_{TIME}.json").rename(tmp_path / f"mine_{TIME}.json")
    assert {r.model for r in read_logs([path]).rows} == {"lab/made"}
    beside.unlink()
    given = {"model": "m", "method": "cot"}
    assert {r.dataset for r in read_logs([path], replaced_names=given).rows} == {"sums"}
    path = path.rename(tmp_path / "mine.jsonl")
    refused("it has no dataset", [path], replaced_names=given)
    rows = read_logs([path], replaced_names={**given, "dataset": "d"}).rows
    assert {(r.dataset, r.model, r.method, r.run) for r in rows} == {("d", "m", "cot", "mine")}


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
    assert not [
        text for text in told(tmp_path, replaced_names={"dataset": "sums"}) if "same ids" in text
    ]


@pytest.mark.parametrize(
    ("methods", "ids", "doc"),
    [
        pytest.param(("cot", "cot"), ((1, 2), (1, 2)), None, id="of one method"),
        pytest.param(("cot", "pot"), ((1, 2), (1, 3)), None, id="with other ids"),
        pytest.param(("cot", "pot"), ((1, 2), (1, 2)), {"question": "?"}, id="with hashes"),
    ],
)
def test_other_tasks_are_not_taken_for_one_benchmark(
    tmp_path: Path, methods: tuple[str, str], ids: tuple[tuple[int, int], ...], doc: Any
) -> None:
    for method, numbers, name in zip(methods, ids, ("sums_a", "sums_b"), strict=True):
        rows = [row(number, doc=doc) for number in numbers]
        made_logs.write_lm_eval(tmp_path / name, rows, name, metadata={"method": method})
    assert [text for text in told(tmp_path) if "same ids" in text] == []


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
