"""What the files of Inspect and of lm-evaluation-harness say, and which are refused."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

import pytest

from evalcore.commands.logs import read_logs
from evalcore.commands.logs.readers import Log
from evalcore.scores import ScoreRow
from ngramscan.errors import InputError
from tests.support import made_logs
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


def read_one(path: Path, tested: Fields, **options: Any) -> tuple[ScoreRow, list[str]]:
    """Return the row of one sample of a log of two, and the notices."""
    log = read(path, tested, sample("z"), head=header(dataset={}), **options)
    return log.rows[0], log.notices


def test_each_sample_is_one_row(path: Path) -> None:
    of, error = ("sums", "lab/made", "cot"), "error: RuntimeError('no reply') (no score)"
    log = read(path, *SAMPLES)
    assert log.rows == [
        ScoreRow(*of, "s1", None, "answer", 1.0, "5", "answer", "recorded as C", run="E1"),
        ScoreRow(*of, "s2", None, "answer", 0.0, "6", "answer", "recorded as I", run="E1"),
        ScoreRow(*of, "s3", None, "answer", None, None, None, error, run="E1", status="unknown"),
    ]
    used = [dataclasses.astuple(row) for row in log.usage]
    tokens = {"s1": (10, 4, 3), "s2": (10, 4, 3), "s3": (None, None, None)}
    assert used == [(*of, id_, None, *three, "E1") for id_, three in tokens.items()]


def test_scores_become_numbers_and_letters_are_told(path: Path) -> None:
    numbers = {"C": 1.0, "P": 0.5, "I": 0.0, "N": 0.0, "Yes": 1.0, "0.25": 0.25, 0.75: 0.75}
    for value, expected in {**numbers, True: 1.0, 0: 0.0}.items():
        assert read_one(path, sample("s1", value))[0].value == expected
    for unknown in (float("nan"), None):
        row, _ = read_one(path, sample("s1", unknown))
        assert (row.value, row.reason[:22]) == (None, "not scored by the tool")
    for said in ("P (partly correct), read as 0.5", "N (no answer), read as 0"):
        assert read_one(path, sample("s1", said[0]))[1] == [f"scores {said} as Inspect does: 1"]
    for no_share in ("X", 7, -0.1, [1, 0], "inf", 10**400):
        made_logs.write_inspect(path, [sample("s1", no_share)])
        refused(r"log\.eval: sample s1, epoch 1, answer .*: a number from 0 to 1", [path])


REFUSAL = "I\N{RIGHT SINGLE QUOTATION MARK}m sorry,\nbut I can't help with that."
LOOKS = f"looks like a refusal (refusal-phrases/1): {' '.join(REFUSAL.split())}"
CUT = {"stop_reason": "max_tokens"}


def test_a_failure_is_no_wrong_answer_but_keeps_its_score_on_request(path: Path) -> None:
    for changes, kind, reason in (
        ({"stop_reason": "content_filter"}, "refusal", "refused: stopped by a content filter"),
        ({"output": {"choices": [], "error": "not\nsafe"}}, "refusal", "refused: not safe"),
        ({"text": " \n"}, "empty reply", "no output"),
        ({**CUT, "text": ""}, "empty reply", "no output, cut at the token limit"),
        (CUT, "cut reply", "cut at the token limit"),
        ({"stop_reason": "model_length"}, "cut reply", "cut at the model's context limit"),
        ({"limit": {"type": "message"}}, "stopped sample", "stopped at its message limit"),
        ({"limit": {"type": "operator"}}, "interrupted sample", "stopped by the person who ran it"),
        ({"invalidation": {"by": "me"}}, "invalidated sample", "invalidated after the run"),
        ({"error": {"message": "too late"}, "text": ""}, "error", "error: too late"),
        ({"text": REFUSAL}, "apparent refusal", LOOKS),
        ({"text": REFUSAL, "answer": REFUSAL}, "apparent refusal", LOOKS),
    ):
        tested = sample("s1", "I", **{"answer": None, **changes})
        unknown = kind in {"error", "invalidated sample", "interrupted sample"}
        for missing, value, status, kept in (
            ("apart", None, "unknown" if unknown else "no_answer", "they have no value here"),
            ("as-recorded", 0.0, "scored", "scores are kept"),
        ):
            row, notices = read_one(path, tested, missing=missing)
            assert (row.value, row.reason) == (value, f"{reason} (recorded as I)")
            assert row.status == status
            assert notices == [f"1 of 2 samples are failures: {kind} scored as wrong (1); {kept}"]


def test_what_is_no_failure_keeps_its_score(path: Path) -> None:
    for tested, value, status in (
        (sample("s1", "I", answer=None), 0.0, "not_found"),
        (sample("s1", "I", text=REFUSAL), 0.0, "scored"),  # it has an answer
        (sample("s1", text="", answer=None), 1.0, "scored"),
        (sample("s1", "I", answer=None, message={"tool_calls": [{"id": "1"}]}), 0.0, "scored"),
        (sample("s1", error_retries=[{}], error=None, limit=None), 1.0, "scored"),
    ):
        row, notices = read_one(path, tested)
        assert (row.value, row.status, notices) == (value, status, [])
    row, notices = read_one(path, sample("s1", **CUT))
    said = "1 of 2 samples are failures: cut reply scored above 0 (1); they have no value here"
    assert (row.value, row.status, notices) == (None, "no_answer", [said])
    for letter, status in (("I", "scored"), ("N", "not_found")):  # a scorer that says no answers
        log = read(path, sample("s1", letter, answer=None))
        assert log.rows[0].status == status


def test_rows_are_in_the_order_of_the_benchmark_or_else_of_the_text(path: Path) -> None:
    for ids, found in (([2, 10], "2/1 2/2 10/1 10/2"), ([], "10/1 10/2 2/1 2/2")):
        samples = [sample(2, epoch=2), sample(10), failed("10", epoch=2), sample(2)]
        rows = read(path, *samples, head=header(dataset={"sample_ids": ids})).rows
        assert " ".join(f"{row.id}/{row.epoch}" for row in rows) == found


def test_several_scorers_are_several_rules_and_read_only_where_asked_for(path: Path) -> None:
    scores = {"exact": {"value": "I"}, "judge": {"value": {"form": 0.5, "sum": 1}, "answer": 5}}
    rows = read(path, sample("s1", scores=scores), failed("s2")).rows
    assert [(row.id, row.rule, row.value, row.answer) for row in rows] == [
        *(("s1", "exact", 0.0, None), ("s1", "judge.form", 0.5, "5"), ("s1", "judge.sum", 1, "5")),
        *(("s2", rule, None, None) for rule in ("exact", "judge.form", "judge.sum")),
    ]
    tested = sample("s1", scores={**scores, "points": {"value": 87}})
    assert [row.rule for row in read(path, tested, wanted=["exact"]).rows] == ["exact"]
    refused("points 87: a number from 0 to 1", [path])
    [row] = read(path, failed("s1")).rows  # the scorer that the task planned
    assert (row.rule, row.value) == ("answer", None)


def test_the_method_is_what_the_run_was_told_or_is_asked_for(path: Path) -> None:
    for noted in ({"metadata": {"method": 4}}, {"metadata": None, "task_args": {"method": 4}}):
        assert {row.method for row in read(path, *SAMPLES, head=header(**noted)).rows} == {"4"}
    made_logs.write_inspect(path, SAMPLES, header(metadata={}))
    refused(r"log\.eval: it has no method; give it with --method NAME", [path])


def test_a_run_that_is_not_whole_is_told(path: Path) -> None:
    head = header("cancelled", dataset={"sample_ids": [1, 2]}, config={"epochs": 3})
    ended = "the run did not succeed: its status is 'cancelled'"
    log = read(path, *SAMPLES, head=head)
    assert (log.notices[:2], log.rows[0].epoch) == ([ended, "it has 3 of 6 samples"], 1)
    head = {**header(), "results": {"total_samples": 9}}
    assert "it has 3 of 9 samples" in read(path, *SAMPLES, head=head).notices


def test_a_log_and_its_copy_in_the_other_format_are_refused_together(path: Path) -> None:
    folder, copy = [path.parent], path.with_suffix(".json")
    for one in (path, copy):
        made_logs.write_inspect(one, SAMPLES)
    refused(r"log\.json: .*id 's1', answer: also in .*log\.eval", folder)
    refused(r"log\.json: .*id 's1', tokens: also in .*log\.eval", folder, wanted=["other"])
    refused("id 's1', answer: it is there", [made_logs.write_inspect(copy, [sample("s1")] * 2)])


def test_a_run_and_its_repetition_are_told_apart_by_when_they_were(path: Path) -> None:
    early = header(eval_id="E9", created="2026-01-02T03:04:05+02:00")
    late = header(eval_id="E2", created="2026-01-02T03:04:05Z")
    again = made_logs.write_inspect(path.with_name("2.eval"), SAMPLES[1:], late)
    scores = read_logs([made_logs.write_inspect(path, SAMPLES, early), again])
    runs = ["2026-01-02T01-04-05_E9", "2026-01-02T03-04-05_E2"]
    for rows in (scores.rows, scores.usage):
        assert [row.run for row in rows] == [runs[0]] * 3 + [runs[1]] * 2
    for named, run in (
        ({"created": "today"}, "2"),
        ({"created": "0001-01-01T00:00:00+14:00"}, "2"),
        ({"run_id": "R", "task_id": "T"}, "R/T"),
    ):
        assert read(again, *SAMPLES, head=header(eval_id=None, **named)).rows[0].run == run


def test_members_that_are_missing_or_malformed_are_named(path: Path) -> None:
    whole, x = made_logs.eval_members(SAMPLES), "samples/x.json"
    for members, message in (
        (whole[:-1], r"log\.eval: it has no header.json"),
        ([one for one in whole if "s2" not in one[0]], "it lacks sample s2, epoch 1 of summaries"),
        (whole[-1:], "it has no samples"),
        ([*whole, (x, b"{")], "samples/x.json: not valid JSON"),
        ([*whole, (x, b'{"id": "\xff"}')], "x.json: not valid JSON: 'utf-8' codec"),
        ([*whole, (x, b'{"epoch": 1}')], "samples/x.json: Object missing .* id"),
    ):
        path.write_bytes(made_logs.zip_bytes(members))
        refused(message, [path])


@pytest.mark.parametrize("method", [0, 8, 93])
def test_a_changed_byte_is_noticed_or_changes_nothing(path: Path, method: int) -> None:
    told, about = "", {"eval": {"task": "t", "model": "m", "metadata": {"method": "c"}}}
    members = [("header.json", json.dumps(about).encode()), ("samples/1.json", b'{"id": "s1"}')]
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
    for problem in ("samples/1.json: damaged (", "is encrypted", "log.eval: not a .eval file"):
        assert problem in told
    path.write_bytes(made_logs.zip_bytes(members, 14))  # LZMA
    refused(r"header\.json: damaged \(compressed by another method\)", [path])


# lm-evaluation-harness

ROWS = [row(3), row(1, 0.0), row(2)]


def read_rows(folder: Path, rows: list[dict[str, Any]], **config: Any) -> list[ScoreRow]:
    made_logs.write_lm_eval(folder, rows, **config)
    return read_logs([folder]).rows


def told(folder: Path, **options: Any) -> list[str]:
    """Return the notices of a folder, but for the one that every such log has."""
    notices, said = read_logs([folder], **options).notices, "harness records no errors: empty"
    [common] = [notice for notice in notices if said in notice]
    return [notice for notice in notices if notice != common]


def test_each_document_is_one_row_with_the_id_of_the_dataset(tmp_path: Path) -> None:
    of, rule, said = ("sums", "lab/made", "cot"), "strict-match", "recorded as exact_match"
    assert read_rows(tmp_path, ROWS) == [
        ScoreRow(*of, f"s{n}", None, rule, value, str(n), rule, f"{said} {value:g}", run=TIME)
        for n, value in ((3, 1.0), (1, 0.0), (2, 1.0))
    ]
    assert told(tmp_path) == []


def test_rules_are_filters_or_metrics(tmp_path: Path) -> None:
    two = {"metrics": ["acc", "acc_norm"], "acc": True, "acc_norm": 0}
    for fields, rules in (
        ({"filter": "none"}, ["exact_match"]),
        (two, ["acc,strict-match", "acc_norm,strict-match"]),  # as results name them
        ({"filter": "none", **two}, ["acc", "acc_norm"]),
    ):
        assert [r.rule for r in read_rows(tmp_path, [row(1, **fields)])] == rules


def test_only_failures_have_no_value(tmp_path: Path) -> None:
    for replied, found, value, status in (
        (" \n", " \n", None, "no_answer"),
        (REFUSAL, REFUSAL, None, "no_answer"),
        ("I can't help with that.", "[invalid]", None, "no_answer"),
        ("I\u2019m sorry, I won\u2019t do that.", "[invalid]", None, "no_answer"),
        ("As an AI language model, I am unable to provide it.", "[invalid]", None, "no_answer"),
        ("Unfortunately, I must decline to answer.", "[invalid]", None, "no_answer"),
        ("Sorry, I made a mistake. The sum is 5.", "[invalid]", 0.0, "not_found"),
        ("I cannot see why, but the sum is 5.", "[invalid]", 0.0, "not_found"),
        ("The sum is 5. I cannot answer more.", "[invalid]", 0.0, "not_found"),
        ("I cannot answer 5.", "5", 0.0, "scored"),
        (["-1.5", "False"], ["-1.5"], 0.0, "scored"),  # how likely texts are: no replies
    ):
        tested = row(1, 0.0, replies=[replied], filtered_resps=[found])
        first = read_rows(tmp_path, [tested, row(2)])[0]
        assert (first.value, first.status) == (value, status)
        lacking, *failures = told(tmp_path)
        assert lacking.endswith("it has 2 of 3 documents")
        assert len(failures) == (value is None)
    right = row(1, replies=[REFUSAL], filtered_resps=["[invalid]"])
    rows = read_rows(tmp_path, [right, row(2, float("nan"))])
    assert [(one.value, one.status) for one in rows] == [(1.0, "scored"), (None, "unknown")]


def test_of_several_replies_the_first_is_scored_and_a_vote_needs_one(tmp_path: Path) -> None:
    several = {1: ["", "5"], 2: ["", ""], 3: ["5", "5"]}
    rows = [row(n, 0.0, replies=replies, filtered_resps=[""]) for n, replies in several.items()]
    for function, values, of in (
        ("regex", [None, None, 0.0], "of the first; the others are not scored"),
        ("majority_vote", [0.0, None, 0.0], "of all together"),
    ):
        steps = [{"function": function}, {"function": "take_first"}]
        filters = [{"name": "strict-match", "filter": steps}]
        assert [r.value for r in read_rows(tmp_path, rows, filter_list=filters)] == values
        said = f": documents have 2 replies but one score per rule: that {of}"
        assert told(tmp_path)[0].endswith(said)


def test_positions_are_ids_only_where_the_dataset_has_none_and_that_is_told(tmp_path: Path) -> None:
    rows = read_rows(tmp_path, [row(n, doc={"question": "?"}) for n in (2, 0, 1)])
    assert [r.id for r in rows] == ["2", "0", "1"]
    assert "no field 'id', so ids are positions" in told(tmp_path)[0]


def test_two_runs_of_a_task_in_one_folder_are_told_apart(tmp_path: Path) -> None:
    time = "2026-01-03T00-00-00"
    made_logs.write_lm_eval(tmp_path, ROWS)
    for path in tmp_path.glob("*"):
        path.with_name(path.name.replace(TIME, time)).write_bytes(path.read_bytes())
    assert [r.run for r in read_logs([tmp_path]).rows] == [TIME] * 3 + [time] * 3
    several = f"has 2 runs: {TIME} (3 rows), {time} (3 rows); `compare` takes one of them (--run)"
    assert told(tmp_path) == [f"sums, lab/made, cot, strict-match {several}"]


def test_methods_that_are_tasks_of_their_own_are_one_benchmark_on_request(tmp_path: Path) -> None:
    for name in ("cot", "pot"):
        made_logs.write_lm_eval(tmp_path / name, ROWS, f"sums_{name}", metadata={"method": name})
    [notice] = told(tmp_path)
    assert notice.startswith("sums_cot, sums_pot have the same ids but different methods: --d")
    assert told(tmp_path, given={"dataset": "sums"}) == []


def test_results_may_have_another_name_and_names_are_asked_for(tmp_path: Path) -> None:
    path, named = made_logs.write_lm_eval(tmp_path, ROWS), {"model": "m", "method": "cot"}
    beside = (tmp_path / f"results_{TIME}.json").rename(tmp_path / f"mine_{TIME}.json")
    assert {r.model for r in read_logs([path]).rows} == {"lab/made"}
    beside.unlink()
    refused("it has no model; give it with --model NAME", [path])
    assert {r.dataset for r in read_logs([path], given=named).rows} == {"sums"}
    path = path.rename(tmp_path / "mine.jsonl")
    refused("it has no dataset", [path], given=named)
    assert {r.run for r in read_logs([path], given={**named, "dataset": "d"}).rows} == {"mine"}


def test_malformed_lines_and_results_are_refused_with_their_place(tmp_path: Path) -> None:
    rows = [*ROWS, *(row(n, filter="loose") for n in (1, 2, 3))]
    path = made_logs.write_lm_eval(tmp_path, rows)
    whole, value = path.read_text(), '"exact_match": 1.0'
    for text, message in (
        (whole[:-9], r"\.jsonl:6: not valid JSON"),
        (whole[: whole.rindex('{"doc_id"')], "truncated: 2 of 3 documents of loose"),
        (whole + "[]\n", r"\.jsonl:7: Expected object"),
        (whole.replace('"metrics"', '"m"'), "1: Object missing required field metrics"),
        (whole.replace(value, '"exact_match": 61'), r"\.jsonl:1: exact_match 61: a number"),
        (whole.replace(value, '"other": 1'), "1: exact_match: the row lacks this score"),
        (whole + whole.splitlines()[0] + "\n", "id 's3', .*: it is there twice"),
        ("", "it is empty; one row per"),
    ):
        path.write_text(text)
        refused(message, [path], "lm-eval")
    path.write_text(whole)
    for content in ("{", "[]", '{"configs": {"sums": 1}}'):
        (tmp_path / f"results_{TIME}.json").write_text(content)
        refused(r"results_.*\.json: ", [path])


def test_a_metric_that_is_better_when_lower_is_refused(tmp_path: Path) -> None:
    rows = [r | {"metrics": ["exact_match", "brier"], "brier": 0.25} for r in ROWS]
    made_logs.write_lm_eval(tmp_path, rows, goals={"exact_match": True, "brier": False})
    refused(r"\.jsonl:1: brier: lower is better; choose", [tmp_path])
    assert read_logs([tmp_path], wanted=["exact_match,strict-match"]).rows
