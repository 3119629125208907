"""Logs of Inspect: what is read of them, and what is refused."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from evalcore.logs import read_logs
from evalcore.scores import ScoreRow, choose_runs
from ngramscan.errors import InputError
from tests import made_logs
from tests.made_logs import Fields, failed, header, sample, write_eval, zip_bytes

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


@pytest.mark.parametrize("value", ["X", 7, -0.1, [1, 0], "inf", 10**400])
def test_a_score_that_is_no_share_is_refused_with_its_place(tmp_path: Path, value: object) -> None:
    with pytest.raises(InputError, match=r"log\.eval: sample s1, epoch 1, answer .*: a number"):
        read_one(tmp_path, sample("s1", value))


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
        pytest.param(sample("s1", error=None, limit=None), 1.0, "scored", id="fields of null"),
    ],
)
def test_what_is_no_failure_keeps_its_score(
    tmp_path: Path, tested: Fields, value: float, status: str
) -> None:
    row, notices = read_one(tmp_path, tested)
    assert (row.value, row.status, notices) == (value, status, [])


def test_a_cut_reply_that_was_scored_as_right_is_apart_too(tmp_path: Path) -> None:
    row, [notice] = read_one(tmp_path, sample("s1", stop_reason="max_tokens"))
    assert (row.value, "failures: cut reply scored above 0 (1); " in notice) == (None, True)


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
    named = read_logs([path], given={"method": "pot", "model": "m", "dataset": "d"}).rows[0]
    assert (named.dataset, named.model, named.method) == ("d", "m", "pot")


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


def test_a_log_and_its_copy_in_the_other_format_are_refused_together(tmp_path: Path) -> None:
    write_eval(tmp_path / "log.eval", SAMPLES)
    path = made_logs.write_json(tmp_path / "log.json", SAMPLES)
    with pytest.raises(InputError, match=r"log\.json: .*id 's1', answer: also in .*log\.eval"):
        read_logs([tmp_path])
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


# Files that are refused

X = "samples/x.json"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda m: m[:-1], "no member header.json"),
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


def test_json_that_is_no_log_is_refused(tmp_path: Path) -> None:
    path, head = tmp_path / "log.json", header()
    for said in ("{", "[]", '{"status": "success"}', head, head | {"samples": [{}]}):
        path.write_text(said if isinstance(said, str) else json.dumps(said))
        with pytest.raises(InputError, match=r"log\.json: "):
            read_logs([path], "inspect")


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
    path.write_bytes(content.replace(b"header.json", b"footer.json", 1))
    with pytest.raises(InputError, match=r"header\.json: damaged \(File name in directory"):
        read_logs([path])
    for length in range(0, len(content), 7):
        path.write_bytes(content[:length])
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
