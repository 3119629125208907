"""Logs of Inspect: what is read of them, and what is refused."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from evalcore.logs import LogOptions, LogScores, UsageRow, read_logs
from evalcore.score_runs import choose_runs
from evalcore.scoring.base import ScoreRow
from ngramscan.errors import InputError
from tests.made_logs import (
    eval_members,
    failed,
    header,
    sample,
    write_eval,
    write_json,
    zip_bytes,
)

AS_RECORDED = LogOptions(missing="as-recorded")
SAMPLES = [sample("s1"), sample("s2", "I", answer="6"), failed("s3")]
WRITERS = [
    pytest.param(write_eval, "eval", id=".eval"),
    pytest.param(write_json, "json", id=".json"),
]


def read_one(
    folder: Path, tested: Mapping[str, Any], options: LogOptions | None = None
) -> ScoreRow:
    """Return the row of one sample of a log of two."""
    head = header(dataset={})
    path = write_eval(folder / "log.eval", [tested, sample("other")], head)
    [found] = [row for row in read_logs([path], options).rows if row.id != "other"]
    return found


@pytest.mark.parametrize(("write", "suffix"), WRITERS)
def test_each_sample_is_one_row(tmp_path: Path, write: Callable[..., Path], suffix: str) -> None:
    path = write(tmp_path / f"log.{suffix}", SAMPLES)
    of = ("sums", "lab/made", "cot")
    assert read_logs([path]).rows == [
        ScoreRow(*of, "s1", None, "answer", 1.0, "5", "answer", "recorded as C", run="E1"),
        ScoreRow(*of, "s2", None, "answer", 0.0, "6", "answer", "recorded as I", run="E1"),
        ScoreRow(
            *(*of, "s3", None, "answer", None, None, None),
            reason="error: RuntimeError('no reply') (no score)",
            run="E1",
            status="unknown",
        ),
    ]


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        pytest.param("C", 1.0, id="correct"),
        pytest.param("P", 0.5, id="partly correct"),
        pytest.param("I", 0.0, id="incorrect"),
        pytest.param("N", 0.0, id="no answer"),
        pytest.param(True, 1.0, id="a truth value"),
        pytest.param("Yes", 1.0, id="a word"),
        pytest.param("0.25", 0.25, id="a number as text"),
        pytest.param(0.75, 0.75, id="a number"),
        pytest.param(0, 0.0, id="a whole number"),
        pytest.param(float("nan"), None, id="not scored"),
        pytest.param(None, None, id="null"),
    ],
)
def test_scores_become_numbers(tmp_path: Path, value: object, expected: float | None) -> None:
    row = read_one(tmp_path, sample("s1", value))
    assert row.value == expected
    if expected is None:
        assert row.reason.startswith("not scored by the tool")


@pytest.mark.parametrize(
    "value",
    [
        pytest.param("X", id="an unknown letter"),
        pytest.param(7, id="a number above 1"),
        pytest.param(-0.1, id="a number below 0"),
        pytest.param([1, 0], id="a list"),
        pytest.param("inf", id="infinity"),
    ],
)
def test_a_score_that_is_no_share_is_refused_with_its_place(tmp_path: Path, value: object) -> None:
    with pytest.raises(
        InputError, match=r"log\.eval: sample s1, epoch 1, answer .*expected|no num"
    ):
        read_one(tmp_path, sample("s1", value))


def test_letters_that_inspect_turns_into_numbers_are_told(tmp_path: Path) -> None:
    path = write_eval(tmp_path / "log.eval", [sample("s1", "P"), sample("s2", "N"), sample("s3")])
    notices = "\n".join(read_logs([path]).notices)
    assert "scores P (partly correct), read as 0.5 as Inspect does: 1" in notices
    assert "scores N (no answer), read as 0 as Inspect does: 1" in notices


REFUSAL = "I\N{RIGHT SINGLE QUOTATION MARK}m sorry,\nbut I can't help with that."


@pytest.mark.parametrize(
    ("tested", "kind", "reason"),
    [
        pytest.param(
            sample("s1", "I", stop_reason="content_filter", answer=None),
            *("refusal", "refused: stopped by a content filter (recorded as I)"),
            id="a content filter",
        ),
        pytest.param(
            sample("s1", "I", output={"choices": [], "completion": "", "error": "not\nsafe"}),
            *("refusal", "refused: not safe (recorded as I)"),
            id="a refusal that the provider explains",
        ),
        pytest.param(
            sample("s1", "I", text=" \n", answer=None),
            *("empty reply", "no output (recorded as I)"),
            id="an empty reply",
        ),
        pytest.param(
            sample("s1", "I", text="", answer=None, stop_reason="max_tokens"),
            *("empty reply", "no output, cut at the token limit (recorded as I)"),
            id="an empty reply at the token limit",
        ),
        pytest.param(
            sample("s1", "I", stop_reason="max_tokens"),
            *("cut reply", "cut at the token limit (recorded as I)"),
            id="a cut reply",
        ),
        pytest.param(
            sample("s1", "I", stop_reason="model_length"),
            *("cut reply", "cut at the model's context limit (recorded as I)"),
            id="a reply that filled the context",
        ),
        pytest.param(
            sample("s1", "I", limit={"type": "message", "limit": 5.0}),
            *("stopped sample", "stopped at its message limit (recorded as I)"),
            id="a sample that reached a limit",
        ),
        pytest.param(
            sample("s1", "I", limit={"type": "operator", "limit": 1.0}),
            *("interrupted sample", "stopped by the person who ran it (recorded as I)"),
            id="a sample that somebody stopped",
        ),
        pytest.param(
            sample("s1", "I", invalidation={"author": "me"}),
            *("invalidated sample", "invalidated after the run (recorded as I)"),
            id="an invalidated sample",
        ),
        pytest.param(
            sample("s1", "I", error={"message": "too late"}),
            *("error", "error: too late (recorded as I)"),
            id="an error after which it was scored",
        ),
        pytest.param(
            sample("s1", "I", text=REFUSAL, answer=None),
            "apparent refusal",
            "looks like a refusal (refusal-phrases/1): "
            f"{' '.join(REFUSAL.split())} (recorded as I)",
            id="a text that begins like a refusal",
        ),
    ],
)
def test_a_failure_is_no_wrong_answer_but_keeps_its_score_on_request(
    tmp_path: Path, tested: Mapping[str, Any], kind: str, reason: str
) -> None:
    apart = read_one(tmp_path, tested)
    assert (apart.value, apart.reason) == (None, reason)
    nothing_known = kind in {"error", "invalidated sample", "interrupted sample"}
    assert apart.status == ("unknown" if nothing_known else "no_answer")
    kept = read_one(tmp_path, tested, AS_RECORDED)
    assert (kept.value, kept.reason, kept.status) == (0.0, reason, "scored")
    counted = f"1 of 2 samples are failures that the log scores as wrong: 1 {kind}; they"
    log = tmp_path / "log.eval"
    assert read_logs([log]).notices == [f"{log}: {counted} have no value here"]
    assert read_logs([log], AS_RECORDED).notices == [f"{log}: {counted} keep that score"]


@pytest.mark.parametrize(
    ("tested", "value", "status"),
    [
        pytest.param(
            *(sample("s1", "I", answer=None), 0.0, "not_found"),
            id="a reply without an answer is wrong",
        ),
        pytest.param(
            *(sample("s1", "I", text=REFUSAL), 0.0, "scored"), id="who answers does not refuse"
        ),
        pytest.param(
            *(sample("s1", text="", answer=None), 1.0, "scored"), id="a scorer may look elsewhere"
        ),
        pytest.param(
            sample("s1", "I", answer=None, message={"tool_calls": [{"id": "1"}]}),
            *(0.0, "scored"),
            id="a tool call is a reply",
        ),
        pytest.param(
            *(sample("s1", error_retries=[{"message": "once"}]), 1.0, "scored"),
            id="an error made good",
        ),
        pytest.param(
            *(sample("s1", error=None, limit=None), 1.0, "scored"), id="fields that are null"
        ),
    ],
)
def test_what_is_no_failure_keeps_its_score(
    tmp_path: Path, tested: Mapping[str, Any], value: float, status: str
) -> None:
    row = read_one(tmp_path, tested)
    assert (row.value, row.status) == (value, status)
    assert read_logs([tmp_path / "log.eval"]).notices == []


@pytest.mark.parametrize(
    ("value", "status"),
    [pytest.param("I", "scored", id="I"), pytest.param("N", "not_found", id="N")],
)
def test_that_no_answer_was_found_is_said_only_where_the_scorer_says_it(
    tmp_path: Path, value: str, status: str
) -> None:
    samples = [sample("s1", value, answer=None), sample("s2", answer=None)]
    path = write_eval(tmp_path / "log.eval", samples, header(dataset={}))
    assert [row.status for row in read_logs([path]).rows] == [status, "scored"]


def test_a_cut_reply_that_was_scored_as_right_is_apart_too(tmp_path: Path) -> None:
    row = read_one(tmp_path, sample("s1", stop_reason="max_tokens"))
    assert row.value is None
    [notice] = read_logs([tmp_path / "log.eval"]).notices
    assert "1 of 2 samples are failures that the log scores above 0: 1 cut reply" in notice


def test_epochs_are_told_apart_and_an_error_in_one_is_no_error_in_the_other(
    tmp_path: Path,
) -> None:
    samples = [sample("s2", epoch=2), sample("s1"), failed("s1", epoch=2), sample("s2", "I")]
    path = write_eval(tmp_path / "log.eval", samples, header(config={"epochs": 2}))
    found = [(row.id, row.epoch, row.value) for row in read_logs([path]).rows]
    assert found == [("s1", 1, 1.0), ("s1", 2, None), ("s2", 1, 0.0), ("s2", 2, 1.0)]


def test_several_scorers_are_several_rules(tmp_path: Path) -> None:
    scores = {"exact": {"value": "I"}, "judge": {"value": {"form": 0.5, "sum": 1}, "answer": 5}}
    samples = [sample("s1", scores=scores), failed("s2")]
    path = write_eval(tmp_path / "log.eval", samples)
    found = {(row.id, row.rule): (row.value, row.answer) for row in read_logs([path]).rows}
    assert found == {
        ("s1", "exact"): (0.0, None),
        ("s1", "judge.form"): (0.5, "5"),
        ("s1", "judge.sum"): (1.0, "5"),
        ("s2", "exact"): (None, None),
        ("s2", "judge.form"): (None, None),
        ("s2", "judge.sum"): (None, None),
    }


def test_a_rule_that_is_not_asked_for_need_not_be_readable(tmp_path: Path) -> None:
    scores = {"exact": {"value": "C"}, "points": {"value": 87}}
    path = write_eval(tmp_path / "log.eval", [sample("s1", scores=scores)])
    assert [row.rule for row in read_logs([path], LogOptions(rules=("exact",))).rows] == ["exact"]
    with pytest.raises(InputError, match=r"points 87: a number from 0 to 1"):
        read_logs([path])
    with pytest.raises(InputError, match=r"--rule f1: not in these logs; there are exact, points"):
        read_logs([path], LogOptions(rules=("f1",)))


def test_where_every_sample_failed_the_planned_scorer_is_the_rule(tmp_path: Path) -> None:
    path = write_eval(tmp_path / "log.eval", [failed("s1"), failed("s2")])
    assert [(row.rule, row.value) for row in read_logs([path]).rows] == [("answer", None)] * 2


def test_a_whole_number_as_id_is_text_here(tmp_path: Path) -> None:
    path = write_eval(tmp_path / "log.eval", [sample(2), sample(10)], header(dataset={}))
    assert [row.id for row in read_logs([path]).rows] == ["10", "2"]


@pytest.mark.parametrize(
    ("changes", "method"),
    [
        pytest.param({"metadata": {"method": 4}}, "4", id="of the metadata"),
        pytest.param({"metadata": None, "task_args": {"method": "pot"}}, "pot", id="an argument"),
    ],
)
def test_the_method_is_what_the_run_was_told(
    tmp_path: Path, changes: Mapping[str, Any], method: str
) -> None:
    path = write_eval(tmp_path / "log.eval", SAMPLES, header(**changes))
    assert {row.method for row in read_logs([path]).rows} == {method}


def test_a_method_that_the_log_does_not_name_is_asked_for(tmp_path: Path) -> None:
    path = write_eval(tmp_path / "log.eval", SAMPLES, header(metadata={}))
    with pytest.raises(InputError, match=r"log\.eval: it does not name the method; --method NAME"):
        read_logs([path])
    named = read_logs([path], LogOptions(method="pot", model="m", dataset="d")).rows[0]
    assert (named.dataset, named.model, named.method) == ("d", "m", "pot")


def tokens(scores: LogScores) -> list[tuple[int | None, int | None, int | None]]:
    return [
        (row.prompt_tokens, row.completion_tokens, row.reasoning_tokens) for row in scores.usage
    ]


def test_cached_tokens_are_tokens_of_the_prompt_and_unknown_ones_are_not_0(tmp_path: Path) -> None:
    cached = {"input_tokens": 10, "input_tokens_cache_read": 7, "input_tokens_cache_write": 2}
    usage = {
        "lab/made": {**cached, "output_tokens": 4, "reasoning_tokens": 3},
        "lab/grader": {"input_tokens": 900, "output_tokens": 50},
    }
    path = write_eval(tmp_path / "log.eval", [sample("s1", model_usage=usage), failed("s2")])
    scores = read_logs([path])
    assert tokens(scores) == [(19, 4, 3), (None, None, None)]
    assert isinstance(scores.usage[0], UsageRow)


@pytest.mark.parametrize(
    ("head", "notice"),
    [
        pytest.param(header(status="cancelled"), "its status is 'cancelled'", id="not ended well"),
        pytest.param(header(results={"total_samples": 9}), "3 of 9 samples are in it", id="total"),
        pytest.param(
            header(dataset={"sample_ids": [1, 2]}, config={"epochs": 3}),
            "3 of 6 samples are in it",
            id="ids and epochs",
        ),
    ],
)
def test_a_run_that_is_not_whole_is_told(
    tmp_path: Path, head: Mapping[str, Any], notice: str
) -> None:
    path = write_eval(tmp_path / "log.eval", SAMPLES, head)
    assert any(notice in told for told in read_logs([path]).notices)


# Files that are refused


def test_a_log_and_its_copy_in_the_other_format_are_refused_together(tmp_path: Path) -> None:
    write_eval(tmp_path / "log.eval", SAMPLES)
    write_json(tmp_path / "log.json", SAMPLES)
    message = r"log\.json: it is the same run as .*log\.eval; name one of them"
    with pytest.raises(InputError, match=message):
        read_logs([tmp_path])
    old = header(run_id="R", task_id="T", eval_id=None)
    write_eval(tmp_path / "log.eval", SAMPLES, old)
    write_json(tmp_path / "log.json", SAMPLES, old)
    with pytest.raises(InputError, match=r"log\.json: .*id 's1', answer: also in .*log\.eval"):
        read_logs([tmp_path])


def test_a_run_and_its_repetition_are_told_apart_by_when_they_were(tmp_path: Path) -> None:
    early, late = "2026-01-02T03:04:05+02:00", "2026-01-02T03:04:05Z"
    head = header(eval_id="E9", created=early)
    first = write_eval(tmp_path / "1.eval", SAMPLES, head)
    again = write_eval(tmp_path / "2.eval", SAMPLES[1:], header(eval_id="E2", created=late))
    scores = read_logs([first, again])
    runs = ["2026-01-02T01-04-05_E9", "2026-01-02T03-04-05_E2"]
    assert [row.run for row in scores.rows] == [runs[0]] * 3 + [runs[1]] * 2
    assert [row.run for row in scores.usage] == [row.run for row in scores.rows]
    told = f"cot, answer has 2 runs: {runs[0]} (3 rows), {runs[1]} (2 rows); `compare` takes one"
    assert scores.notices[-1] == f"sums, lab/made, {told} (--run)"
    assert {row.run for row in choose_runs(scores.rows, ["latest"])} == {runs[1]}
    write_eval(again, SAMPLES[1:], header(eval_id="E2", metadata={"method": "pot"}))
    assert choose_runs(read_logs([first, again]).rows) == read_logs([first, again]).rows


def test_a_log_without_an_id_is_the_run_that_its_file_names(tmp_path: Path) -> None:
    path = write_eval(tmp_path / "mine.eval", SAMPLES, header(eval_id=None, created="today"))
    assert {row.run for row in read_logs([path]).rows} == {"mine"}


def test_one_sample_twice_in_a_log_is_refused(tmp_path: Path) -> None:
    path = write_json(tmp_path / "log.json", [sample("s1"), sample("s1")])
    with pytest.raises(InputError, match=r"id 's1', answer: there twice"):
        read_logs([path])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        pytest.param(lambda m: m[:-1], "no member header.json", id="no header"),
        pytest.param(
            lambda m: [x for x in m if "s2" not in x[0]],
            r"no sample s2, epoch 1, which summaries\.json lists",
            id="a sample is missing",
        ),
        pytest.param(
            lambda m: [x for x in m if "s" not in x[0] or "header" in x[0]],
            "no samples in it",
            id="no samples",
        ),
        pytest.param(
            lambda m: [*m, ("samples/x.json", b"{")], r"samples/x\.json: no JSON", id="no JSON"
        ),
        pytest.param(
            lambda m: [*m, ("samples/x.json", b"[]")],
            r"samples/x\.json: Expected `object`, got `array`",
            id="no sample",
        ),
        pytest.param(
            lambda m: [*m, ("samples/x.json", b'{"epoch": 1}')],
            r"samples/x\.json: Object missing required field `id`",
            id="a sample without an id",
        ),
    ],
)
def test_members_that_are_missing_or_malformed_are_named(
    tmp_path: Path, change: Callable[[Any], Any], message: str
) -> None:
    path = tmp_path / "log.eval"
    path.write_bytes(zip_bytes(change(eval_members(SAMPLES))))
    with pytest.raises(InputError, match=message):
        read_logs([path])


@pytest.mark.parametrize(
    "content",
    [
        pytest.param("{", id="cut"),
        pytest.param("[]", id="a list"),
        pytest.param('{"version": 2, "status": "success"}', id="no header"),
        pytest.param(json.dumps(header()), id="no samples"),
        pytest.param(json.dumps({**header(), "samples": [{"epoch": 1}]}), id="a sample without id"),
    ],
)
def test_json_that_is_no_log_is_refused(tmp_path: Path, content: str) -> None:
    path = tmp_path / "log.json"
    path.write_text(content)
    with pytest.raises(InputError, match=r"log\.json"):
        read_logs([path], LogOptions(layout="inspect"))


# Zip files


@pytest.mark.parametrize("method", [0, 8, 93])
def test_members_are_read_however_they_are_compressed(tmp_path: Path, method: int) -> None:
    path = tmp_path / "log.eval"
    path.write_bytes(zip_bytes(eval_members(SAMPLES), method, extra=b"\x00\x00\x04\x00four"))
    assert len(read_logs([path]).rows) == 3


def test_another_compression_and_encryption_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "log.eval"
    content = zip_bytes([("header.json", b"{}")], 0)
    directory = content.index(b"PK\x01\x02")
    for offset, value in ((8, 1), (10, 14)):  # flags; the compression of LZMA
        changed = bytearray(content)
        changed[directory + offset] = value
        path.write_bytes(changed)
        with pytest.raises(InputError, match=r"header\.json: encrypted, or compressed by"):
            read_logs([path])


def test_a_cut_file_is_refused_wherever_it_is_cut(tmp_path: Path) -> None:
    path = tmp_path / "log.eval"
    content = zip_bytes(eval_members(SAMPLES[:1]))
    for length in range(0, len(content), 7):
        path.write_bytes(content[:length])
        with pytest.raises(InputError, match=r"log\.eval: no zip file, or not a whole one"):
            read_logs([path])


def test_a_changed_byte_is_noticed_or_changes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "log.eval"
    members = [m for m in eval_members(SAMPLES[:1]) if "_" not in m[0] or "samples" in m[0]]
    content = zip_bytes(members)
    path.write_bytes(content)
    whole = read_logs([path]).rows
    refused = 0
    for position in range(len(content)):
        changed = bytearray(content)
        changed[position] ^= 0x55
        path.write_bytes(changed)
        try:
            rows = read_logs([path]).rows
        except InputError:
            refused += 1
        else:
            assert rows == whole, position
    assert refused > len(content) / 2


@pytest.mark.parametrize("method", [0, 8, 93])
def test_a_damaged_member_is_named(tmp_path: Path, method: int) -> None:
    path = tmp_path / "log.eval"
    members = eval_members(SAMPLES)
    content = bytearray(zip_bytes(members, method))
    start = content.index(b"samples/s2_epoch_1.json") + len("samples/s2_epoch_1.json")
    content[start + 40] ^= 0xFF
    path.write_bytes(content)
    with pytest.raises(InputError, match=r"log\.eval:samples/s2_epoch_1\.json: damaged"):
        read_logs([path])
