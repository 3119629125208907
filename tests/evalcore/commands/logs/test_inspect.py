"""Logs of Inspect of all versions: replies, unscored samples, scales, attempts, crashes."""

import json
from pathlib import Path
from typing import Any

import pytest

from evalcore.commands.logs import read_logs
from evalcore.commands.logs.readers import Log
from evalcore.scales import ScoreScale
from evalcore.scores import ScoreRow
from tests.support.command import invoke
from tests.support.made_logs import (
    Fields,
    failed,
    header,
    refused,
    sample,
    write_inspect,
    write_members,
    zip_bytes,
)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "log.eval"


def read(path: Path, *samples: Fields, head: Fields | None = None, **options: Any) -> Log:
    log = read_logs([write_inspect(path, samples, head or header(dataset={}))], **options)
    log.notices = [notice.removeprefix(f"{path}: ") for notice in log.notices]
    return log


def read_one(path: Path, tested: Fields, **options: Any) -> ScoreRow:
    return read(path, tested, **options).rows[0]


def with_output(tested: Fields, **output: Any) -> Fields:
    """The same sample with another output, such as one without the field `completion`."""
    return {**tested, "output": output}


def choice(content: Any, stop_reason: str = "stop") -> Fields:
    return {"message": {"role": "assistant", "content": content}, "stop_reason": stop_reason}


# Replies

REASONING = {"type": "reasoning", "reasoning": "Two and three."}


@pytest.mark.parametrize(
    "content",
    [
        pytest.param("The sum is 6.", id="a text"),
        pytest.param([{"type": "text", "text": "The sum is 6."}], id="a part of text"),
        pytest.param([REASONING, {"type": "text", "text": "Six."}], id="reasoning and a text"),
        pytest.param([{"type": "image", "image": "data:..."}], id="an image without a text"),
    ],
)
def test_a_wrong_reply_without_completion_stays_wrong(path: Path, content: Any) -> None:
    row = read_one(path, with_output(sample("s1", "I", answer="6"), choices=[choice(content)]))
    assert (row.value, row.status) == (0.0, "scored")


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        pytest.param("", "no output (recorded as I)", id="an empty text"),
        pytest.param([], "no output (recorded as I)", id="no parts"),
        pytest.param([REASONING], "no output (recorded as I)", id="only reasoning"),
        pytest.param(
            "I'm sorry, but I can't help with that.",
            "looks like a refusal (refusal-phrases/1): I'm sorry, but I can't help with that. "
            "(recorded as I)",
            id="a refusal in words",
        ),
    ],
)
def test_a_reply_without_an_answer_is_found_without_completion(
    path: Path, content: Any, reason: str
) -> None:
    tested = with_output(sample("s1", "I", answer=None), choices=[choice(content)])
    row = read_one(path, tested)
    assert (row.value, row.status, row.reason) == (None, "no_answer", reason)


def test_a_message_without_content_is_not_taken_for_an_empty_reply(path: Path) -> None:
    row = read_one(path, with_output(sample("s1", "I"), choices=[{"message": {"role": "user"}}]))
    assert (row.value, row.status) == (0.0, "scored")


def test_a_reply_kept_apart_as_an_attachment_is_read(path: Path) -> None:
    refusal = "I'm sorry, but I can't help with that."
    text = {"text": "attachment://ab12", "answer": None, "attachments": {"ab12": refusal}}
    assert read_one(path, sample("s1", "I", **text)).status == "no_answer"
    assert read_one(path, sample("s1", "I", **{**text, "attachments": {}})).status == "scored"


# Unscored samples

UNSCORED = {"metadata": {"unscored_reason": "grade_parse_failure"}}


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        pytest.param({"scores": None}, "not scored by the tool (no score)", id="no scores"),
        pytest.param({"scores": {}}, "not scored by the tool (no score)", id="empty scores"),
        pytest.param(
            {"scores": {"answer": None}}, "not scored by the tool (recorded as None)", id="null"
        ),
        pytest.param(
            {"scores": {"answer": {"value": None}}},
            "not scored by the tool (recorded as None)",
            id="a null value",
        ),
        pytest.param(
            {"scores": {"answer": {"value": float("nan")}}},
            "not scored by the tool (recorded as nan)",
            id="NaN",
        ),
        pytest.param(
            {"scores": {"answer": {"value": 0, **UNSCORED}}},
            "not scored by the tool: grade_parse_failure (recorded as 0)",
            id="a zero with the reason why it is none",
        ),
        pytest.param({"scores": {}, "text": ""}, "no output (no score)", id="an empty reply"),
        pytest.param(
            {"scores": {}, "stop_reason": "content_filter"},
            "refused: stopped by a content filter (no score)",
            id="a refusal",
        ),
        pytest.param(
            {"scores": {}, "stop_reason": "max_tokens"},
            "cut at the token limit (no score)",
            id="a cut reply",
        ),
    ],
)
def test_an_unscored_sample_is_unknown(path: Path, changes: Fields, reason: str) -> None:
    row = read_one(path, sample("s1", **changes))
    assert (row.rule, row.value, row.status, row.reason) == ("answer", None, "unknown", reason)


def test_a_log_without_any_score_has_rows_of_the_planned_scorer(path: Path) -> None:
    rows = read(path, *(sample(one, scores=None) for one in ("s1", "s2"))).rows
    assert [(row.rule, row.status) for row in rows] == [("answer", "unknown")] * 2
    packaged = header(dataset={}, scorers=[{"name": "some_evals/answer"}])
    assert read(path, sample("s1", scores=None), head=packaged).rows[0].rule == "answer"
    write_inspect(path, [sample("s1", scores=None)], header(scorers=None))
    refused("it has no scores; `inspect score` adds them", [path])


def test_a_wholly_unscored_sample_is_unknown_by_each_named_value(path: Path) -> None:
    rows = read(
        path,
        sample("s1", {"correct": 1, "clear": 0}),
        sample("s2", float("nan")),
        sample("s3", None),
    ).rows
    assert [(row.id, row.rule, row.value) for row in rows] == [
        *(("s1", "answer.correct", 1.0), ("s1", "answer.clear", 0.0)),
        *(
            (name, rule, None)
            for name in ("s2", "s3")
            for rule in ("answer.correct", "answer.clear")
        ),
    ]


# Scores


def test_each_place_of_a_list_is_a_rule(path: Path) -> None:
    log = read(path, sample("s1", ["C", 0.5, False]), sample("s2", ["I", 1]), sample("s3", None))
    assert [(row.id, row.rule, row.value) for row in log.rows] == [
        *(("s1", "answer.1", 1.0), ("s1", "answer.2", 0.5), ("s1", "answer.3", 0.0)),
        *(("s2", "answer.1", 0.0), ("s2", "answer.2", 1.0), ("s2", "answer.3", None)),
        *(("s3", f"answer.{place}", None) for place in (1, 2, 3)),
    ]
    said = "scores of answer are lists; as in Inspect, each place is kept apart: answer.1 to answer"
    assert log.notices[0].startswith(said)


@pytest.mark.parametrize(
    ("value", "scale", "share"),
    [
        pytest.param(7, ScoreScale(0, 10), 0.7, id="points from 0 to 10"),
        pytest.param("7", ScoreScale(0, 10), 0.7, id="points as text"),
        pytest.param(1, ScoreScale(1, 5), 0.0, id="the lowest grade of 1 to 5"),
        pytest.param(4, ScoreScale(1, 5), 0.75, id="a grade of 1 to 5"),
        pytest.param(-0.5, ScoreScale(-1, 1), 0.25, id="a penalty"),
        pytest.param(87.5, ScoreScale(0, 100), 0.875, id="percent"),
        pytest.param(1.0000000000000002, ScoreScale(), 1.0, id="a sum above 1 by rounding"),
        pytest.param("C", ScoreScale(0, 10), 1.0, id="a letter is a share already"),
        pytest.param(True, ScoreScale(0, 10), 1.0, id="a truth value is a share already"),
    ],
)
def test_scores_are_put_on_their_scale(
    path: Path, value: Any, scale: ScoreScale, share: float
) -> None:
    assert read_one(path, sample("s1", value), scale=scale).value == share


def test_a_score_outside_the_scale_is_refused_with_the_cure(path: Path) -> None:
    write_inspect(path, [sample("s1", 7)])
    code, _, stderr = invoke("logs", path)
    cure = "expected a number from 0 to 1; --min-score and --max-score of `evalcore logs` say the"
    assert (code, cure in stderr) == (2, True)
    code, stdout, _ = invoke("logs", path, "--max-score", "10", "--format", "csv", "-q")
    assert (code, ",answer,0.7,5," in stdout) == (0, True)
    assert "from 0 to 5" in invoke("logs", path, "--max-score", "5")[2]
    assert "expected a number above --min-score" in invoke("logs", path, "--max-score", "0")[2]
    assert (
        "--max-score inf: must be between -1,000,000,000 and"
        in invoke("logs", path, "--max-score", "inf")[2]
    )
    assert (
        "--min-score nan: must be between -1,000,000,000 and"
        in invoke("logs", path, "--min-score", "nan")[2]
    )


# Epochs and attempts


@pytest.mark.parametrize(
    ("reducer", "said"),
    [
        pytest.param(["mean"], False, id="the mean, as here"),
        pytest.param(None, False, id="none"),
        pytest.param(["mode"], True, id="the most frequent"),
        pytest.param(["pass_at_2", "max"], True, id="several"),
    ],
)
def test_another_reducer_of_epochs_is_told(path: Path, reducer: Any, said: bool) -> None:
    head = header(dataset={}, config={"epochs": 2, "epochs_reducer": reducer})
    log = read(path, sample("s1"), sample("s1", "I", epoch=2), head=head)
    assert [row.value for row in log.rows] == [1.0, 0.0]
    expected = f"its own results reduce epochs by {', '.join(reducer or ())}; here each epoch has"
    assert any(notice.startswith(expected) for notice in log.notices) == said


def test_the_last_attempt_of_a_sample_counts(path: Path) -> None:
    lost = sample("s1", "C", error={"message": "lost"})
    log = read(path, lost, sample("s2", "I"), sample("s1", "I", answer="6"))
    assert [(row.id, row.value) for row in log.rows] == [("s1", 0.0), ("s2", 0.0)]
    assert log.notices == ["1 earlier attempt left out, since a later one replaced it"]
    plain = read(path.with_suffix(".json"), lost, sample("s2", "I"), sample("s1", "I", answer="6"))
    assert [row.value for row in plain.rows] == [0.0, 0.0]
    refused("it is there twice", [write_inspect(path.with_suffix(".json"), [sample("s1")] * 2)])


# Versions


@pytest.mark.parametrize(
    ("results", "rule"),
    [
        pytest.param({"scorer": {"name": "match"}}, "match", id="a scorer"),
        pytest.param(None, "score", id="no results"),
    ],
)
def test_a_score_of_version_1_has_the_name_of_its_scorer(
    path: Path, results: dict[str, Any] | None, rule: str
) -> None:
    old = {**sample("s1", scores=None), "score": {"value": "C", "answer": "5"}}
    head = {**header(dataset={}, scorers=None), "version": 1, "results": results}
    row = read_one(path.with_suffix(".json"), old, head=head)
    assert (row.rule, row.value, row.answer) == (rule, 1.0, "5")


@pytest.mark.parametrize("indent", [None, 2])
def test_a_log_is_recognised_whatever_its_first_field(
    tmp_path: Path, indent: int | None, subtests: pytest.Subtests
) -> None:
    content = {"samples": [sample("s1", text="x" * 9000)], **header(dataset={})}
    for first, value in content.items():
        with subtests.test(first=first):
            path = tmp_path / f"{first}.json"
            order = {first: value, **content}
            path.write_text(json.dumps(order, indent=indent))
            assert [row.value for row in read_logs([path]).rows] == [1.0]


def test_a_large_sample_in_a_folder_of_its_own_is_read(path: Path) -> None:
    members = {
        "header.json": header(dataset={}),
        "samples/a/1_epoch_1/sample.json": sample("a/1"),
        "samples/a/1_epoch_1/events/0.json": [{"event": "model"}],
        "samples/a/1_epoch_1/messages/0.json": [{"role": "user"}],
        "samples/a/2_epoch_1.json": sample("a/2", "I", answer="6"),
    }
    rows = read_logs([write_members(path, members)]).rows
    assert [(row.id, row.value) for row in rows] == [("a/1", 1.0), ("a/2", 0.0)]


# Runs that were killed


def test_a_crashed_log_is_read_as_far_as_it_goes(path: Path) -> None:
    start = {name: value for name, value in header().items() if name != "status"}
    kept = {"id": "s2", "epoch": 1, "input": "?", "scores": {"answer": {"value": "I"}}}
    lost = {"id": "s3", "epoch": 1, "scores": {}, "error": "RuntimeError('lost')"}
    members: dict[str, Any] = {
        "_journal/start.json": start,
        "samples/s1_epoch_1.json": sample("s1"),
        "_journal/summaries/1.json": [{"id": "s1", "epoch": 1, "scores": {}}, kept],
    }
    log = read_logs([write_members(path, members)])
    assert [(row.id, row.value, row.status) for row in log.rows] == [
        ("s1", 1.0, "scored"),
        ("s2", 0.0, "scored"),
    ]
    assert log.notices == [
        f"{path}: the run was killed, or has not ended; its log is read as far as it goes",
        f"{path}: it has 2 of 3 samples",
    ]
    members["_journal/summaries/2.json"] = [lost]
    last = read_logs([write_members(path, members)]).rows[-1]
    assert (last.id, last.status, last.reason[:20]) == ("s3", "unknown", "error: RuntimeError(")
    del members["_journal/start.json"]
    write_members(path, members)
    refused("no header.json and no _journal/start.json, so it is incomplete; copy it", [path])


def test_a_sample_that_was_cut_is_unknown_and_the_others_are_read(path: Path) -> None:
    whole = json.dumps(sample("s2"))
    members = [
        ("header.json", json.dumps(header(dataset={})).encode()),
        ("samples/s1_epoch_1.json", json.dumps(sample("s1", float("nan"))).encode()),
        ("samples/s2_epoch_1.json", whole[: len(whole) // 2].encode()),
        ("samples/s3_epoch_1.json", json.dumps(sample("s3")).encode()),
    ]
    path.write_bytes(zip_bytes(members))
    log = read_logs([path])
    assert {row.id: row.value for row in log.rows} == {"s1": None, "s2": None, "s3": 1.0}
    said = f"{path}: damaged, so their results are unknown: s2, epoch 1; copy it again"
    assert said in log.notices


def test_an_output_without_choices_may_say_null(path: Path) -> None:
    assert read_one(path, with_output(sample("s1"), choices=None, completion="5")).value == 1.0


@pytest.mark.parametrize("status", ["started", "cancelled", "error"])
def test_a_run_that_did_not_end_well_is_told(path: Path, status: str) -> None:
    log = read(path, sample("s1"), failed("s2"), head=header(status))
    said = {"started": "the run was killed, or has not ended; its log is read as far as it goes"}
    assert log.notices[0] == said.get(status, f"the run did not succeed: its status is {status!r}")
    assert log.notices[1] == "it has 2 of 3 samples"


def test_one_bad_log_does_not_stop_its_folder(tmp_path: Path) -> None:
    write_inspect(tmp_path / "good.eval", [sample("s1")], header(dataset={}))
    bad = tmp_path / "bad.eval"
    bad.write_bytes((tmp_path / "good.eval").read_bytes()[:-30])
    code, stdout, stderr = invoke("logs", tmp_path, "--format", "csv")
    assert (code, stdout.count("\n")) == (1, 2)
    assert f"{bad}: not a .eval file of Inspect, or truncated; copy it again" in stderr
    assert invoke("logs", tmp_path / "good.eval", bad, "-q", "--format", "csv")[:2] == (1, stdout)
    assert invoke("logs", bad)[0] == 2


@pytest.fixture
def comparable(tmp_path: Path) -> Path:
    """A folder with logs of two methods, and one that can't be read."""
    folder = tmp_path / "logs"
    pot = header(eval_id="E2", metadata={"method": "pot"}, dataset={})
    write_inspect(folder / "cot.eval", [sample("s1")], header(dataset={}))
    write_inspect(folder / "pot.eval", [sample("s1", "I", answer="6")], pot)
    invoke("logs", folder, "--usage", tmp_path / "usage.csv", "-q")
    (folder / "third.eval").write_bytes(b"PK")
    return folder


@pytest.mark.parametrize(
    ("command", "options"),
    [
        pytest.param("compare", ["--baseline", "cot"], id="compare"),
        pytest.param("outcomes", ["--baselines", "cot", "--adaptive", "pot"], id="outcomes"),
        pytest.param("efficiency", ["--baseline", "cot", "--usage", "USAGE"], id="efficiency"),
    ],
)
def test_a_bad_log_in_a_folder_is_a_failure_of_what_reads_it(
    comparable: Path, command: str, options: list[str]
) -> None:
    usage = str(comparable.parent / "usage.csv")
    given = [usage if option == "USAGE" else option for option in options]
    code, stdout, stderr = invoke(command, comparable, *given, "--format", "csv")
    bad = f"{comparable / 'third.eval'}: not a .eval file of Inspect"
    assert (code, bad in stderr, "pot" in stdout) == (1, True, True), stderr


def test_a_bad_log_is_named_rather_than_the_method_that_it_would_have(comparable: Path) -> None:
    (comparable / "pot.eval").unlink()
    code, _, stderr = invoke("compare", comparable, "--baseline", "cot")
    assert (code, "third.eval: not a .eval file of Inspect" in stderr) == (2, True), stderr
