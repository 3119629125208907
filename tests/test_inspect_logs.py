"""Logs of Inspect: what is read of them, and what is refused."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from evalcore.logs import LogOptions, read_logs
from evalcore.scores import ScoreRow, choose_runs
from ngramscan.errors import InputError
from tests.made_logs import eval_members, failed, header, sample, write_eval, write_json, zip_bytes

AS_RECORDED = LogOptions(missing="as-recorded")
SAMPLES = [sample("s1"), sample("s2", "I", answer="6"), failed("s3")]


def read_one(
    folder: Path, tested: Mapping[str, Any], options: LogOptions | None = None
) -> ScoreRow:
    """Return the row of one sample of a log of two."""
    path = write_eval(folder / "log.eval", [tested, sample("other")], header(dataset={}))
    [found] = [row for row in read_logs([path], options).rows if row.id != "other"]
    return found


@pytest.mark.parametrize(("write", "suffix"), [(write_eval, "eval"), (write_json, "json")])
def test_each_sample_is_one_row(tmp_path: Path, write: Callable[..., Path], suffix: str) -> None:
    of = ("sums", "lab/made", "cot")
    error = "error: RuntimeError('no reply') (no score)"
    assert read_logs([write(tmp_path / f"log.{suffix}", SAMPLES)]).rows == [
        ScoreRow(*of, "s1", None, "answer", 1.0, "5", "answer", "recorded as C", run="E1"),
        ScoreRow(*of, "s2", None, "answer", 0.0, "6", "answer", "recorded as I", run="E1"),
        ScoreRow(*of, "s3", None, "answer", None, None, None, error, run="E1", status="unknown"),
    ]


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        *(("C", 1.0), ("P", 0.5), ("I", 0.0), ("N", 0.0), (True, 1.0), ("Yes", 1.0)),
        *(("0.25", 0.25), (0.75, 0.75), (0, 0.0), (float("nan"), None), (None, None)),
    ],
)
def test_scores_become_numbers(tmp_path: Path, value: object, expected: float | None) -> None:
    row = read_one(tmp_path, sample("s1", value))
    assert row.value == expected
    assert row.reason.startswith("not scored by the tool") is (expected is None)


@pytest.mark.parametrize("value", ["X", 7, -0.1, [1, 0], "inf", 10**400])
def test_a_score_that_is_no_share_is_refused_with_its_place(tmp_path: Path, value: object) -> None:
    message = r"log\.eval: sample s1, epoch 1, answer .*: (no number, nor|a number from 0 to 1)"
    with pytest.raises(InputError, match=message):
        read_one(tmp_path, sample("s1", value))


def test_letters_that_inspect_turns_into_numbers_are_told(tmp_path: Path) -> None:
    path = write_eval(tmp_path / "log.eval", [sample("s1", "P"), sample("s2", "N"), sample("s3")])
    assert read_logs([path]).notices == [
        f"{path}: scores P (partly correct), read as 0.5 as Inspect does: 1",
        f"{path}: scores N (no answer), read as 0 as Inspect does: 1",
    ]


REFUSAL = "I\N{RIGHT SINGLE QUOTATION MARK}m sorry,\nbut I can't help with that."
ONE_LINE = " ".join(REFUSAL.split())
FILTERED = {"choices": [], "completion": "", "error": "not\nsafe"}


@pytest.mark.parametrize(
    ("changes", "kind", "reason"),
    [
        ({"stop_reason": "content_filter"}, "refusal", "refused: stopped by a content filter"),
        ({"output": FILTERED}, "refusal", "refused: not safe"),
        ({"text": " \n"}, "empty reply", "no output"),
        (
            {"text": "", "stop_reason": "max_tokens"},
            *("empty reply", "no output, cut at the token limit"),
        ),
        ({"stop_reason": "max_tokens"}, "cut reply", "cut at the token limit"),
        ({"stop_reason": "model_length"}, "cut reply", "cut at the model's context limit"),
        ({"limit": {"type": "message"}}, "stopped sample", "stopped at its message limit"),
        ({"limit": {"type": "operator"}}, "interrupted sample", "stopped by the person who ran it"),
        ({"invalidation": {"by": "me"}}, "invalidated sample", "invalidated after the run"),
        ({"error": {"message": "too late"}}, "error", "error: too late"),
        (
            {"text": REFUSAL},
            *("apparent refusal", f"looks like a refusal (refusal-phrases/1): {ONE_LINE}"),
        ),
    ],
)
def test_a_failure_is_no_wrong_answer_but_keeps_its_score_on_request(
    tmp_path: Path, changes: Mapping[str, Any], kind: str, reason: str
) -> None:
    tested = sample("s1", "I", answer=None, **changes)
    apart, reason = read_one(tmp_path, tested), f"{reason} (recorded as I)"
    unknown = kind in {"error", "invalidated sample", "interrupted sample"}
    assert (apart.value, apart.reason) == (None, reason)
    assert apart.status == ("unknown" if unknown else "no_answer")
    kept = read_one(tmp_path, tested, AS_RECORDED)
    assert (kept.value, kept.reason, kept.status) == (0.0, reason, "scored")
    log = tmp_path / "log.eval"
    counted = f"{log}: 1 of 2 samples are failures that the log scores as wrong: 1 {kind}; they"
    assert read_logs([log]).notices == [f"{counted} have no value here"]
    assert read_logs([log], AS_RECORDED).notices == [f"{counted} keep that score"]


@pytest.mark.parametrize(
    ("tested", "value", "status"),
    [
        pytest.param(sample("s1", "I", answer=None), 0.0, "not_found", id="no answer is wrong"),
        pytest.param(sample("s1", "I", text=REFUSAL), 0.0, "scored", id="it has an answer"),
        pytest.param(sample("s1", text="", answer=None), 1.0, "scored", id="it was right"),
        pytest.param(
            sample("s1", "I", answer=None, message={"tool_calls": [{"id": "1"}]}),
            *(0.0, "scored"),
            id="a tool call is a reply",
        ),
        pytest.param(sample("s1", error_retries=[{}]), 1.0, "scored", id="an error made good"),
        pytest.param(sample("s1", error=None, limit=None), 1.0, "scored", id="fields of null"),
    ],
)
def test_what_is_no_failure_keeps_its_score(
    tmp_path: Path, tested: Mapping[str, Any], value: float, status: str
) -> None:
    row = read_one(tmp_path, tested)
    assert (row.value, row.status) == (value, status)
    assert read_logs([tmp_path / "log.eval"]).notices == []


@pytest.mark.parametrize(("value", "status"), [("I", "scored"), ("N", "not_found")])
def test_that_no_answer_was_found_is_said_only_where_the_scorer_says_it(
    tmp_path: Path, value: str, status: str
) -> None:
    samples = [sample("s1", value, answer=None), sample("s2", answer=None)]
    path = write_eval(tmp_path / "log.eval", samples, header(dataset={}))
    assert [row.status for row in read_logs([path]).rows] == [status, "scored"]


def test_a_cut_reply_that_was_scored_as_right_is_apart_too(tmp_path: Path) -> None:
    assert read_one(tmp_path, sample("s1", stop_reason="max_tokens")).value is None
    [notice] = read_logs([tmp_path / "log.eval"]).notices
    assert "1 of 2 samples are failures that the log scores above 0: 1 cut reply" in notice


def test_epochs_are_told_apart_and_rows_are_in_the_order_of_the_benchmark(tmp_path: Path) -> None:
    samples = [sample("s2", epoch=2), sample("s1"), failed("s1", epoch=2), sample("s2", "I")]
    path = write_eval(tmp_path / "log.eval", samples, header(config={"epochs": 2}))
    found = [(row.id, row.epoch, row.value) for row in read_logs([path]).rows]
    assert found == [("s1", 1, 1.0), ("s1", 2, None), ("s2", 1, 0.0), ("s2", 2, 1.0)]
    path = write_eval(path, [sample(2), sample(10)], header(dataset={}))
    assert [row.id for row in read_logs([path]).rows] == ["10", "2"], "text where no order is known"


def test_several_scorers_are_several_rules_and_are_read_only_where_asked_for(
    tmp_path: Path,
) -> None:
    scores = {"exact": {"value": "I"}, "judge": {"value": {"form": 0.5, "sum": 1}, "answer": 5}}
    path = write_eval(tmp_path / "log.eval", [sample("s1", scores=scores), failed("s2")])
    assert [(row.id, row.rule, row.value, row.answer) for row in read_logs([path]).rows] == [
        *(("s1", "exact", 0.0, None), ("s1", "judge.form", 0.5, "5"), ("s1", "judge.sum", 1, "5")),
        *(("s2", rule, None, None) for rule in ("exact", "judge.form", "judge.sum")),
    ]
    scores["points"] = {"value": 87}
    write_eval(path, [sample("s1", scores=scores)])
    assert [row.rule for row in read_logs([path], LogOptions(rules=("exact",))).rows] == ["exact"]
    with pytest.raises(InputError, match=r"points 87: a number from 0 to 1"):
        read_logs([path])
    with pytest.raises(InputError, match=r"--rule f1: not in these logs; there are exact, judge.f"):
        read_logs([path], LogOptions(rules=("f1",)))
    write_eval(path, [failed("s1"), failed("s2")])  # the scorer that the task planned
    assert [(row.rule, row.value) for row in read_logs([path]).rows] == [("answer", None)] * 2


def test_the_method_is_what_the_run_was_told_or_is_asked_for(tmp_path: Path) -> None:
    noted: dict[str, dict[str, Any]] = {
        "4": {"metadata": {"method": 4}},
        "pot": {"metadata": None, "task_args": {"method": "pot"}},
    }
    for method, changes in noted.items():
        path = write_eval(tmp_path / "log.eval", SAMPLES, header(**changes))
        assert {row.method for row in read_logs([path]).rows} == {method}
    write_eval(path, SAMPLES, header(metadata={}))
    with pytest.raises(InputError, match=r"log\.eval: it does not name the method; --method NAME"):
        read_logs([path])
    named = read_logs([path], LogOptions(method="pot", model="m", dataset="d")).rows[0]
    assert (named.dataset, named.model, named.method) == ("d", "m", "pot")


def test_cached_tokens_are_tokens_of_the_prompt_and_unknown_ones_are_not_0(tmp_path: Path) -> None:
    cached = {"input_tokens": 10, "input_tokens_cache_read": 7, "input_tokens_cache_write": 2}
    usage = {
        "lab/made": {**cached, "output_tokens": 4, "reasoning_tokens": 3},
        "lab/grader": {"input_tokens": 900, "output_tokens": 50},
    }
    path = write_eval(tmp_path / "log.eval", [sample("s1", model_usage=usage), failed("s2")])
    assert [
        (row.prompt_tokens, row.completion_tokens, row.reasoning_tokens)
        for row in read_logs([path]).usage
    ] == [(19, 4, 3), (None, None, None)]


@pytest.mark.parametrize(
    ("head", "notice"),
    [
        (header(status="cancelled"), "the run did not end well: its status is 'cancelled'"),
        (header(results={"total_samples": 9}), "3 of 9 samples are in it"),
        (header(dataset={"sample_ids": [1, 2]}, config={"epochs": 3}), "3 of 6 samples are in it"),
    ],
)
def test_a_run_that_is_not_whole_is_told(
    tmp_path: Path, head: Mapping[str, Any], notice: str
) -> None:
    path = write_eval(tmp_path / "log.eval", SAMPLES, head)
    assert f"{path}: {notice}" in read_logs([path]).notices


def test_a_log_and_its_copy_in_the_other_format_are_refused_together(tmp_path: Path) -> None:
    for head, message in (
        (header(), r"log\.json: it is the same run as .*log\.eval; name one of them"),
        (
            header(eval_id=None, run_id="R", task_id="T"),
            r"log\.json: .*id 's1', answer: also in .*",
        ),
    ):
        write_eval(tmp_path / "log.eval", SAMPLES, head)
        write_json(tmp_path / "log.json", SAMPLES, head)
        with pytest.raises(InputError, match=message):
            read_logs([tmp_path])
    path = write_json(tmp_path / "log.json", [sample("s1"), sample("s1")])
    with pytest.raises(InputError, match=r"id 's1', answer: there twice"):
        read_logs([path])


def test_a_run_and_its_repetition_are_told_apart_by_when_they_were(tmp_path: Path) -> None:
    early, late = "2026-01-02T03:04:05+02:00", "2026-01-02T03:04:05Z"
    first = write_eval(tmp_path / "1.eval", SAMPLES, header(eval_id="E9", created=early))
    second = header(eval_id="E2", created=late)
    again = write_eval(tmp_path / "2.eval", SAMPLES[1:], second)
    scores = read_logs([first, again])
    runs = ["2026-01-02T01-04-05_E9", "2026-01-02T03-04-05_E2"]
    assert [row.run for row in scores.rows] == [runs[0]] * 3 + [runs[1]] * 2
    assert [row.run for row in scores.usage] == [row.run for row in scores.rows]
    told = f"cot, answer has 2 runs: {runs[0]} (3 rows), {runs[1]} (2 rows); `compare` takes one"
    assert scores.notices[-1] == f"sums, lab/made, {told} (--run)"
    assert {row.run for row in choose_runs(scores.rows, ["latest"])} == {runs[1]}
    for created in ("today", "0001-01-01T00:00:00+14:00"):
        write_eval(again, SAMPLES, header(eval_id=None, created=created))
        assert {row.run for row in read_logs([again]).rows} == {"2"}, "the file names it"


# Files that are refused

SAMPLE = "samples/x.json"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda m: m[:-1], "no member header.json"),
        (lambda m: [x for x in m if "s2" not in x[0]], r"no sample s2, epoch 1, which summaries\."),
        (lambda m: m[-1:], "no samples in it"),
        (lambda m: [*m, (SAMPLE, b"{")], r"samples/x\.json: not valid JSON"),
        (
            lambda m: [*m, (SAMPLE, b'{"id": "\xff"}')],
            r"samples/x\.json: not valid JSON: 'utf-8' codec",
        ),
        (lambda m: [*m, (SAMPLE, b"[]")], r"samples/x\.json: Expected `object`, got `array`"),
        (lambda m: [*m, (SAMPLE, b'{"epoch": 1}')], r"samples/x\.json: Object missing .* `id`"),
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
        *("{", "[]", '{"version": 2, "status": "success"}', json.dumps(header())),
        *(json.dumps({**header(), "samples": samples}) for samples in ([{"epoch": 1}], 5)),
    ],
)
def test_json_that_is_no_log_is_refused(tmp_path: Path, content: str) -> None:
    path = tmp_path / "log.json"
    path.write_text(content)
    with pytest.raises(InputError, match=r"log\.json"):
        read_logs([path], LogOptions(layout="inspect"))


def test_members_are_refused_where_they_can_not_be_read(tmp_path: Path) -> None:
    path = tmp_path / "log.eval"
    content = zip_bytes([("header.json", b"{}")], 0)
    directory = content.index(b"PK\x01\x02")
    for offset, value in ((8, 1), (10, 14)):  # flags; the compression of LZMA
        changed = bytearray(content)
        changed[directory + offset] = value
        path.write_bytes(changed)
        with pytest.raises(InputError, match=r"header\.json: encrypted, or compressed by"):
            read_logs([path])
    path.write_bytes(content.replace(b"header.json", b"footer.json", 1))
    with pytest.raises(InputError, match=r"header\.json: damaged \(File name in directory"):
        read_logs([path])
    for length in range(0, len(content), 7):
        path.write_bytes(content[:length])
        with pytest.raises(InputError, match=r"log\.eval: not a zip file, or truncated"):
            read_logs([path])


@pytest.mark.parametrize("method", [0, 8, 93])
def test_a_changed_byte_is_noticed_or_changes_nothing(tmp_path: Path, method: int) -> None:
    path = tmp_path / "log.eval"
    members = [("header.json", json.dumps(header()).encode()), ("samples/1.json", b'{"id": "s1"}')]
    content = zip_bytes(members, method)
    path.write_bytes(content)
    whole, refused = read_logs([path]).rows, []
    for position in range(len(content)):
        changed = bytearray(content)
        changed[position] ^= 0x55
        path.write_bytes(changed)
        try:
            assert read_logs([path]).rows == whole, position
        except InputError as error:
            refused.append(str(error))
    assert len(refused) > len(content) / 2
    assert any("log.eval:samples/1.json: damaged (" in message for message in refused)
