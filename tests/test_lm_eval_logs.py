"""Logs of lm-evaluation-harness: what is read of them, and what is refused."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from evalcore.logs import read_logs
from evalcore.scores import ScoreRow
from ngramscan.errors import InputError
from tests.made_logs import TIME, Fields, results, row, write_lm_eval

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
    chosen = read_logs([tmp_path], wanted=["flexible-extract"]).rows
    assert [r.rule for r in chosen] == ["flexible-extract"] * 3


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


@pytest.mark.parametrize("reply", REFUSALS)
def test_a_refusal_is_no_wrong_answer_and_told(tmp_path: Path, reply: str) -> None:
    path = write_lm_eval(tmp_path, [row(1, 0.0, replies=[reply], **INVALID), row(2), row(3)])
    first = read_logs([tmp_path]).rows[0]
    reason = f"looks like a refusal (refusal-phrases/1): {reply} (recorded as exact_match 0)"
    assert (first.value, first.status, first.reason) == (None, "no_answer", reason)
    said = "1 of 3 samples are failures: apparent refusal scored as wrong (1); they have no value"
    assert told(tmp_path) == [f"{path}: {said} here"]


@pytest.mark.parametrize(
    ("tested", "value", "status"),
    [
        (row(1, 0.0, replies=[" \n"], filtered_resps=[" \n"]), None, "no_answer"),
        (row(1, 0.0, replies=[REFUSALS[0]], filtered_resps=[REFUSALS[0]]), None, "no_answer"),
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
    write_lm_eval(tmp_path, [tested, row(2), row(3)])
    first = read_logs([tmp_path]).rows[0]
    assert (first.value, first.status) == (value, status)
    assert bool(told(tmp_path)) is (value is None)


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
    (tmp_path / "copy").mkdir()
    shutil.copy(renamed, tmp_path / "copy")
    with pytest.raises(InputError, match=r"mine\.jsonl: d/m/cot, id 's3'.*: also in .*mine\.jsonl"):
        read_logs([renamed, tmp_path / "copy"], given=NAMES)


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


def test_documents_that_are_not_there_are_told(tmp_path: Path) -> None:
    path = write_lm_eval(tmp_path, ROWS[:2])
    assert told(tmp_path) == [f"{path}: 2 of 3 documents are in it"]


def swap(old: str, new: str) -> Callable[[str], str]:
    return lambda text: text.replace(old, new, 1)


VALUE = '"exact_match": 1.0'


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda text: text[:-9], r"\.jsonl:6: not valid JSON"),
        (lambda text: text[: text.rindex('{"doc_id"')], "loose has 2 of 3 documents; the file is"),
        (lambda text: text + "[]\n", r"\.jsonl:7: Expected object"),
        (swap('"metrics"', '"numbers"'), r"\.jsonl:1: Object missing required field metrics"),
        (swap(VALUE, '"exact_match": 61'), r"\.jsonl:1: exact_match 61: a number from 0 to 1"),
        (swap(VALUE, '"exact_match": [1, 2]'), r"\.jsonl:1: exact_match \[1, 2\]: a number"),
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
