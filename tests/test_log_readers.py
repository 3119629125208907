"""What the files of Inspect and of lm-evaluation-harness say, and which are refused."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from evalcore.logs import read_logs
from evalcore.scores import ScoreRow, choose_runs
from ngramscan.errors import InputError
from tests import made_logs
from tests.made_logs import (
    TIME,
    Fields,
    failed,
    header,
    results,
    row,
    sample,
    write_eval,
    write_lm_eval,
    zip_bytes,
)

# Inspect

SAMPLES = [sample("s1"), sample("s2", "I", answer="6"), failed("s3")]


def read_one(folder: Path, tested: Fields, **options: Any) -> tuple[ScoreRow, list[str]]:
    """Return the row of one sample of a log of two, and the notices."""
    path = write_eval(folder / "log.eval", [tested, sample("other")], header(dataset={}))
    log = read_logs([path], **options)
    [found] = [row for row in log.rows if row.id != "other"]
    return found, [notice.removeprefix(f"{path}: ") for notice in log.notices]


@pytest.mark.parametrize("suffix", ["eval", "json"])
def test_each_sample_is_one_row(tmp_path: Path, suffix: str) -> None:
    path = getattr(made_logs, f"write_{suffix}")(tmp_path / f"log.{suffix}", SAMPLES)
    of, error = ("sums", "lab/made", "cot"), "error: RuntimeError('no reply') (no score)"
    assert read_logs([path]).rows == [
        ScoreRow(*of, "s1", None, "answer", 1.0, "5", "answer", "recorded as C", run="E1"),
        ScoreRow(*of, "s2", None, "answer", 0.0, "6", "answer", "recorded as I", run="E1"),
        ScoreRow(*of, "s3", None, "answer", None, None, None, error, run="E1", status="unknown"),
    ]


def test_scores_become_numbers_and_letters_are_told(tmp_path: Path) -> None:
    numbers = {"C": 1.0, "P": 0.5, "I": 0.0, "N": 0.0, "Yes": 1.0, "0.25": 0.25, 0.75: 0.75}
    for value, expected in {**numbers, True: 1.0, 0: 0.0}.items():
        assert read_one(tmp_path, sample("s1", value))[0].value == expected
    for unknown in (float("nan"), None):
        row, _ = read_one(tmp_path, sample("s1", unknown))
        assert (row.value, row.reason[:22]) == (None, "not scored by the tool")
    for letter, told in (("P", "partly correct), read as 0.5"), ("N", "no answer), read as 0")):
        _, notices = read_one(tmp_path, sample("s1", letter))
        assert notices == [f"scores {letter} ({told} as Inspect does: 1"]
    for no_share in ("X", 7, -0.1, [1, 0], "inf", 10**400):
        with pytest.raises(InputError, match=r"log\.eval: sample s1, epoch 1, answer .*: a number"):
            read_one(tmp_path, sample("s1", no_share))


REFUSAL = "I\N{RIGHT SINGLE QUOTATION MARK}m sorry,\nbut I can't help with that."
LOOKS = f"looks like a refusal (refusal-phrases/1): {' '.join(REFUSAL.split())}"
FILTERED = {"choices": [], "completion": "", "error": "not\nsafe"}
CUT = {"text": "", "stop_reason": "max_tokens"}


@pytest.mark.parametrize(
    ("changes", "kind", "reason"),
    [
        ({"stop_reason": "content_filter"}, "refusal", "refused: stopped by a content filter"),
        ({"output": FILTERED}, "refusal", "refused: not safe"),
        ({"text": " \n"}, "empty reply", "no output"),
        (CUT, "empty reply", "no output, cut at the token limit"),
        ({"stop_reason": "max_tokens"}, "cut reply", "cut at the token limit"),
        ({"stop_reason": "model_length"}, "cut reply", "cut at the model's context limit"),
        ({"limit": {"type": "message"}}, "stopped sample", "stopped at its message limit"),
        ({"limit": {"type": "operator"}}, "interrupted sample", "stopped by the person who ran it"),
        ({"invalidation": {"by": "me"}}, "invalidated sample", "invalidated after the run"),
        ({"error": {"message": "too late"}}, "error", "error: too late"),
        ({"text": REFUSAL}, "apparent refusal", LOOKS),
        ({"text": REFUSAL, "answer": REFUSAL}, "apparent refusal", LOOKS),
    ],
)
def test_a_failure_is_no_wrong_answer_but_keeps_its_score_on_request(
    tmp_path: Path, changes: Fields, kind: str, reason: str
) -> None:
    tested, reason = sample("s1", "I", **{"answer": None, **changes}), f"{reason} (recorded as I)"
    unknown = kind in {"error", "invalidated sample", "interrupted sample"}
    said = f"1 of 2 samples are failures: {kind} scored as wrong (1)"
    row, notices = read_one(tmp_path, tested)
    assert (row.value, row.reason, row.status == "unknown") == (None, reason, unknown)
    assert notices == [f"{said}; they have no value here"]
    row, notices = read_one(tmp_path, tested, missing="as-recorded")
    assert (row.value, row.reason, row.status) == (0.0, reason, "scored")
    assert notices == [f"{said}; scores are kept"]


CALL = {"tool_calls": [{"id": "1"}]}


@pytest.mark.parametrize(
    ("tested", "value", "status"),
    [
        pytest.param(sample("s1", "I", answer=None), 0.0, "not_found", id="no answer is wrong"),
        pytest.param(sample("s1", "I", text=REFUSAL), 0.0, "scored", id="it has an answer"),
        pytest.param(sample("s1", text="", answer=None), 1.0, "scored", id="it was right"),
        pytest.param(sample("s1", "I", answer=None, message=CALL), 0.0, "scored", id="a tool call"),
        pytest.param(sample("s1", error_retries=[{}]), 1.0, "scored", id="an error made good"),
        pytest.param(
            sample("s1", stop_reason="max_tokens"), None, "no_answer", id="right, but cut"
        ),
        pytest.param(sample("s1", error=None, limit=None), 1.0, "scored", id="fields of null"),
    ],
)
def test_what_is_no_failure_keeps_its_score(
    tmp_path: Path, tested: Fields, value: float | None, status: str
) -> None:
    row, notices = read_one(tmp_path, tested)
    assert (row.value, row.status) == (value, status)
    said = "1 of 2 samples are failures: cut reply scored above 0 (1); they have no value here"
    assert notices == [said] * (value is None)


def test_that_no_answer_was_found_is_said_only_where_the_scorer_says_it(tmp_path: Path) -> None:
    for value, status in (("I", "scored"), ("N", "not_found")):
        samples = [sample("s1", value, answer=None), sample("s2", answer=None)]
        path = write_eval(tmp_path / "log.eval", samples)
        assert [row.status for row in read_logs([path]).rows] == [status, "scored"]


def test_epochs_are_told_apart_and_rows_are_in_the_order_of_the_benchmark(tmp_path: Path) -> None:
    samples = [sample("s2", epoch=2), sample("s1"), failed("s1", epoch=2), sample("s2", "I")]
    path = write_eval(tmp_path / "log.eval", samples, header(config={"epochs": 2}))
    found = [(row.id, row.epoch, row.value) for row in read_logs([path]).rows]
    assert found == [("s1", 1, 1.0), ("s1", 2, None), ("s2", 1, 0.0), ("s2", 2, 1.0)]
    path = write_eval(path, [sample(2), sample(10)], header(dataset={}))
    assert [row.id for row in read_logs([path]).rows] == ["10", "2"], "text where no order is known"


def test_several_scorers_are_several_rules_and_read_only_where_asked_for(tmp_path: Path) -> None:
    scores = {"exact": {"value": "I"}, "judge": {"value": {"form": 0.5, "sum": 1}, "answer": 5}}
    path = write_eval(tmp_path / "log.eval", [sample("s1", scores=scores), failed("s2")])
    assert [(row.id, row.rule, row.value, row.answer) for row in read_logs([path]).rows] == [
        *(("s1", "exact", 0.0, None), ("s1", "judge.form", 0.5, "5"), ("s1", "judge.sum", 1, "5")),
        *(("s2", rule, None, None) for rule in ("exact", "judge.form", "judge.sum")),
    ]
    write_eval(path, [sample("s1", scores={**scores, "points": {"value": 87}})])
    assert [row.rule for row in read_logs([path], wanted=["exact"]).rows] == ["exact"]
    with pytest.raises(InputError, match=r"points 87: a number from 0 to 1"):
        read_logs([path])
    write_eval(path, [failed("s1"), failed("s2")])  # the scorer that the task planned
    assert [(row.rule, row.value) for row in read_logs([path]).rows] == [("answer", None)] * 2


def test_the_method_is_what_the_run_was_told_or_is_asked_for(tmp_path: Path) -> None:
    path = tmp_path / "log.eval"
    for noted in ({"metadata": {"method": 4}}, {"metadata": None, "task_args": {"method": 4}}):
        write_eval(path, SAMPLES, header(**noted))
        assert {row.method for row in read_logs([path]).rows} == {"4"}
    write_eval(path, SAMPLES, header(metadata={}))
    with pytest.raises(InputError, match=r"log\.eval: it does not name the method; --method NAME"):
        read_logs([path])


def test_cached_tokens_are_tokens_of_the_prompt_and_unknown_ones_are_not_0(tmp_path: Path) -> None:
    cached = {"input_tokens": 10, "input_tokens_cache_read": 7, "input_tokens_cache_write": 2}
    made = {**cached, "output_tokens": 4, "reasoning_tokens": 3}
    usage = {"lab/made": made, "lab/grader": {"input_tokens": 900, "output_tokens": 50}}
    path = write_eval(tmp_path / "log.eval", [sample("s1", model_usage=usage), failed("s2")])
    rows = read_logs([path]).usage
    found = [(row.prompt_tokens, row.completion_tokens, row.reasoning_tokens) for row in rows]
    assert found == [(19, 4, 3), (None, None, None)]


def test_a_run_that_is_not_whole_is_told(tmp_path: Path) -> None:
    head = header("cancelled", dataset={"sample_ids": [1, 2]}, config={"epochs": 3})
    path = write_eval(tmp_path / "log.eval", SAMPLES, head)
    ended = f"{path}: the run did not end well: its status is 'cancelled'"
    assert read_logs([path]).notices[:2] == [ended, f"{path}: 3 of 6 samples are in it"]
    write_eval(path, SAMPLES, {**header(), "results": {"total_samples": 9}})
    assert f"{path}: 3 of 9 samples are in it" in read_logs([path]).notices


def test_a_log_and_its_copy_in_the_other_format_are_refused_together(tmp_path: Path) -> None:
    write_eval(tmp_path / "log.eval", SAMPLES)
    path = made_logs.write_json(tmp_path / "log.json", SAMPLES)
    with pytest.raises(InputError, match=r"log\.json: .*id 's1', answer: also in .*log\.eval"):
        read_logs([tmp_path])
    with pytest.raises(InputError, match=r"log\.json: .*id 's1', tokens: also in .*log\.eval"):
        read_logs([tmp_path], wanted=["other"])
    made_logs.write_json(path, [sample("s1"), sample("s1")])
    with pytest.raises(InputError, match=r"id 's1', answer: there twice"):
        read_logs([path])


def test_a_run_and_its_repetition_are_told_apart_by_when_they_were(tmp_path: Path) -> None:
    early = header(eval_id="E9", created="2026-01-02T03:04:05+02:00")
    first = write_eval(tmp_path / "1.eval", SAMPLES, early)
    late = header(eval_id="E2", created="2026-01-02T03:04:05Z")
    again = write_eval(tmp_path / "2.eval", SAMPLES[1:], late)
    scores, runs = read_logs([first, again]), ["2026-01-02T01-04-05_E9", "2026-01-02T03-04-05_E2"]
    for rows in (scores.rows, scores.usage):
        assert [row.run for row in rows] == [runs[0]] * 3 + [runs[1]] * 2
    told = f"cot, answer has 2 runs: {runs[0]} (3 rows), {runs[1]} (2 rows); `compare` takes one"
    assert scores.notices[-1] == f"sums, lab/made, {told} (--run)"
    assert {row.run for row in choose_runs(scores.rows, ["latest"])} == {runs[1]}
    for created in ("today", "0001-01-01T00:00:00+14:00"):
        write_eval(again, SAMPLES, header(eval_id=None, created=created))
        assert {row.run for row in read_logs([again]).rows} == {"2"}, "the file names it"
    write_eval(again, SAMPLES, header(eval_id=None, run_id="R", task_id="T"))
    assert {row.run for row in read_logs([again]).rows} == {"R/T"}


# Files that are refused

X = "samples/x.json"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda m: m[:-1], "no member header.json"),
        (lambda m: [x for x in m if "s2" not in x[0]], r"no sample s2, epoch 1, which summaries\."),
        (lambda m: m[-1:], "no samples in it"),
        (lambda m: [*m, (X, b"{")], r"samples/x\.json: not valid JSON"),
        (lambda m: [*m, (X, b'{"id": "\xff"}')], r"x\.json: not valid JSON: 'utf-8' codec"),
        (lambda m: [*m, (X, b"[]")], r"samples/x\.json: Expected object, got array"),
        (lambda m: [*m, (X, b'{"epoch": 1}')], r"samples/x\.json: Object missing .* id"),
    ],
)
def test_members_that_are_missing_or_malformed_are_named(
    tmp_path: Path, change: Callable[[Any], Any], message: str
) -> None:
    path = tmp_path / "log.eval"
    path.write_bytes(zip_bytes(change(made_logs.eval_members(SAMPLES))))
    with pytest.raises(InputError, match=message):
        read_logs([path])


def test_members_are_refused_where_they_can_not_be_read(tmp_path: Path) -> None:
    path = tmp_path / "log.eval"
    content = zip_bytes([("header.json", b"{}")], 0)
    directory = content.index(b"PK\x01\x02")
    # Flags; the compression of LZMA.
    for offset, value, message in ((8, 1, "encrypted"), (10, 14, "compressed by another method")):
        changed = bytearray(content)
        changed[offset - 2] = changed[directory + offset] = value
        path.write_bytes(changed)
        with pytest.raises(InputError, match=rf"header\.json: damaged \(.*{message}"):
            read_logs([path])
    path.write_bytes(content[:-7])
    with pytest.raises(InputError, match=r"log\.eval: not a zip file, or truncated"):
        read_logs([path])


@pytest.mark.parametrize("method", [0, 8, 93])
def test_a_changed_byte_is_noticed_or_changes_nothing(tmp_path: Path, method: int) -> None:
    path, refused = tmp_path / "log.eval", []
    members = [("header.json", json.dumps(header()).encode()), (X, b'{"id": "s1"}')]
    content = zip_bytes(members, method)
    path.write_bytes(content)
    whole = read_logs([path]).rows
    for position in range(len(content)):
        changed = bytearray(content)
        changed[position] ^= 0x55
        path.write_bytes(changed)
        try:
            assert read_logs([path]).rows == whole, position
        except InputError as error:
            refused.append(str(error))
    assert len(refused) > len(content) / 2
    assert any("log.eval:samples/x.json: damaged (" in message for message in refused)


# lm-evaluation-harness

ROWS = [row(3), row(1, 0.0), row(2)]
NO_STOP_REASONS = "lm-evaluation-harness records no errors and no stop reasons"
NAMES = {"dataset": "d", "model": "m", "method": "cot"}


def told(folder: Path, **options: Any) -> list[str]:
    """Return the notices of a folder, but for the one that every such log has."""
    notices = read_logs([folder], **options).notices
    assert sum(notice.startswith(NO_STOP_REASONS) for notice in notices) == 1
    return [notice for notice in notices if not notice.startswith(NO_STOP_REASONS)]


def test_each_document_is_one_row_with_the_id_of_the_dataset(tmp_path: Path) -> None:
    write_lm_eval(tmp_path, ROWS)
    of, rule, said = ("sums", "lab/made", "cot"), "strict-match", "recorded as exact_match"
    assert read_logs([tmp_path]).rows == [
        ScoreRow(*of, f"s{n}", None, rule, value, str(n), rule, f"{said} {value:g}", run=TIME)
        for n, value in ((3, 1.0), (1, 0.0), (2, 1.0))
    ]
    assert told(tmp_path) == []


def test_several_filters_are_several_rules_and_not_mixed(tmp_path: Path) -> None:
    write_lm_eval(tmp_path, [*ROWS, *(row(n, filter="flexible-extract") for n in (1, 2, 3))])
    values = {(r.rule, r.id): r.value for r in read_logs([tmp_path]).rows}
    assert len(values) == 6
    assert (values["strict-match", "s1"], values["flexible-extract", "s1"]) == (0.0, 1.0)


def test_rules_are_filters_or_metrics(tmp_path: Path) -> None:
    two = {"metrics": ["acc", "acc_norm"], "acc": True, "acc_norm": 0}
    for fields, rules in (
        ({"filter": "none"}, ["exact_match"]),
        (two, ["acc,strict-match", "acc_norm,strict-match"]),  # as results name them
        ({"filter": "none", **two}, ["acc", "acc_norm"]),
    ):
        write_lm_eval(tmp_path, [row(1, **fields)])
        assert [r.rule for r in read_logs([tmp_path]).rows] == rules


INVALID = {"filtered_resps": ["[invalid]"]}
REFUSALS = (
    "I can't help with that.",
    "I\N{RIGHT SINGLE QUOTATION MARK}m sorry, I won\u2019t do that.",
    "As an AI language model, I am unable to provide it.",
    "Unfortunately, I must decline to answer.",
)
ANSWERS = (
    "Sorry, I made a mistake. The sum is 5.",
    "I cannot see why, but the sum is 5.",
    "The sum is 5. I cannot answer more.",
    "I can answer this: 5",
)


@pytest.mark.parametrize(
    ("tested", "value", "status"),
    [
        (row(1, 0.0, replies=[" \n"], filtered_resps=[" \n"]), None, "no_answer"),
        (row(1, 0.0, replies=[REFUSALS[0]], filtered_resps=[REFUSALS[0]]), None, "no_answer"),
        *((row(1, 0.0, replies=[text], **INVALID), None, "no_answer") for text in REFUSALS),
        (row(1, float("nan")), None, "unknown"),
        *((row(1, 0.0, replies=[text], **INVALID), 0.0, "not_found") for text in ANSWERS),
        (row(1, 0.0, replies=["I cannot answer 5."]), 0.0, "scored"),
        (row(1, replies=["I cannot answer."], **INVALID), 1.0, "scored"),
        # How likely texts are: no replies.
        (row(1, 0.0, resps=[[["-1.5", "False"]]], filtered_resps=[["-1.5"]]), 0.0, "scored"),
    ],
)
def test_only_failures_have_no_value(
    tmp_path: Path, tested: Fields, value: float | None, status: str
) -> None:
    path = write_lm_eval(tmp_path, [tested, row(2)])
    first = read_logs([tmp_path]).rows[0]
    assert (first.value, first.status) == (value, status)
    lacking, *failures = told(tmp_path)
    assert lacking == f"{path}: 2 of 3 documents are in it"
    assert len(failures) == (value is None)


def test_of_several_replies_the_first_is_scored_and_a_vote_fails_only_where_all_do(
    tmp_path: Path,
) -> None:
    several = (["", "5"], ["", ""], ["5", "5"])
    rows = [row(n, 0.0, replies=replies, **INVALID) for n, replies in enumerate(several, 1)]
    steps = [{"function": "majority_vote"}, {"function": "take_first"}]
    vote = {"filter_list": [{"name": "strict-match", "filter": steps}]}
    for config, values, of in (
        ({}, [None, None, 0.0], "of the first; the others are not scored"),
        (vote, [0.0, None, 0.0], "of all together"),
    ):
        path = write_lm_eval(tmp_path, rows, results(config=config))
        assert [r.value for r in read_logs([tmp_path]).rows] == values
        said = f"documents have 2 replies and one score by each rule, {of}"
        assert told(tmp_path)[0] == f"{path}: {said}"


def test_positions_are_ids_only_where_the_dataset_has_none_and_that_is_told(tmp_path: Path) -> None:
    write_lm_eval(tmp_path, [row(n, doc={"question": "?"}) for n in (2, 0, 1)])
    assert [r.id for r in read_logs([tmp_path]).rows] == ["2", "0", "1"]
    assert "no field 'id', so ids are positions" in told(tmp_path)[0]
    write_lm_eval(tmp_path, [row(n, doc={"id": 10 * n}) for n in (2, 0, 1)])
    assert [r.id for r in read_logs([tmp_path]).rows] == ["20", "0", "10"]


def test_two_runs_of_a_task_in_one_folder_are_told_apart(tmp_path: Path) -> None:
    time = "2026-01-03T00-00-00"
    later = [
        shutil.copy(path, str(path).replace(TIME, time))
        for path in (write_lm_eval(tmp_path, ROWS), tmp_path / f"results_{TIME}.json")
    ]
    rows = read_logs([tmp_path]).rows
    assert [r.run for r in rows] == [TIME] * 3 + [time] * 3
    several = f"has 2 runs: {TIME} (3 rows), {time} (3 rows); `compare` takes one (--run)"
    assert told(tmp_path) == [f"sums, lab/made, cot, strict-match {several}"]
    renamed = Path(later[0]).rename(tmp_path / "mine.jsonl")
    assert {r.run for r in read_logs([renamed], given=NAMES).rows} == {"mine"}


def test_methods_that_are_tasks_of_their_own_are_one_benchmark_on_request(tmp_path: Path) -> None:
    for name in ("cot", "pot"):
        run = results(f"sums_{name}", {"metadata": {"method": name}})
        write_lm_eval(tmp_path / name, ROWS, run, f"sums_{name}")
    assert told(tmp_path) == [
        "sums_cot, sums_pot have the same ids and other methods: --dataset NAME reads them as one "
        "benchmark, so that they can be compared"
    ]
    assert told(tmp_path, given={"dataset": "sums"}) == []


def test_results_are_found_under_another_name_and_names_asked_for_without_them(
    tmp_path: Path,
) -> None:
    path, named = write_lm_eval(tmp_path, ROWS), {"model": "m", "method": "cot"}
    beside = (tmp_path / f"results_{TIME}.json").rename(tmp_path / f"mine_{TIME}.json")
    assert {r.model for r in read_logs([path]).rows} == {"lab/made"}
    beside.unlink()
    with pytest.raises(InputError, match=r"it does not name the model; --model NAME does"):
        read_logs([path])
    assert {r.dataset for r in read_logs([path], given=named).rows} == {"sums"}
    with pytest.raises(InputError, match=r"it does not name the dataset"):
        read_logs([path.rename(tmp_path / "mine.jsonl")], given=named)


VALUE = '"exact_match": 1.0'


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda text: text[:-9], r"\.jsonl:6: not valid JSON"),
        (lambda text: text[: text.rindex('{"doc_id"')], "loose has 2 of 3 documents; the file is"),
        (lambda text: text + "[]\n", r"\.jsonl:7: Expected object"),
        (
            lambda text: text.replace('"metrics"', '"m"'),
            r"1: Object missing required field metrics",
        ),
        (
            lambda text: text.replace(VALUE, '"exact_match": 61', 1),
            r"\.jsonl:1: exact_match 61: a n",
        ),
        (
            lambda text: text.replace(VALUE, '"exact_match": []', 1),
            r"1: exact_match \[\]: a number",
        ),
        (lambda text: text.replace(VALUE, '"other": 1', 1), r"1: exact_match: the row has no such"),
        (lambda text: text + text.splitlines()[0] + "\n", r"id 's3', .*: there twice"),
        (lambda text: "", r"no rows in it"),
    ],
)
def test_malformed_lines_are_refused_with_their_place(
    tmp_path: Path, change: Callable[[str], str], message: str
) -> None:
    path = write_lm_eval(tmp_path, [*ROWS, *(row(n, filter="loose") for n in (1, 2, 3))])
    path.write_text(change(path.read_text()))
    with pytest.raises(InputError, match=message):
        read_logs([path], "lm-eval")


def test_a_metric_that_is_better_when_lower_is_refused(tmp_path: Path) -> None:
    rows = [r | {"metrics": ["exact_match", "brier"], "brier": 0.25} for r in ROWS]
    run = results(higher_is_better={"sums": {"exact_match": True, "brier": False}})
    write_lm_eval(tmp_path, rows, run)
    with pytest.raises(InputError, match=r"\.jsonl:1: brier: less of it is better; --rule"):
        read_logs([tmp_path])
    assert read_logs([tmp_path], wanted=["exact_match,strict-match"]).rows


def test_malformed_results_are_refused(tmp_path: Path) -> None:
    path = write_lm_eval(tmp_path, ROWS)
    for content in ("{", "[]", '{"configs": {"sums": 1}}'):
        (tmp_path / f"results_{TIME}.json").write_text(content)
        with pytest.raises(InputError, match=r"results_.*\.json: "):
            read_logs([path])
