"""Logs of tools other than Inspect and lm-evaluation-harness: what is read, and what they lack."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from evalcore.commands.logs import read_logs
from evalcore.commands.logs.readers import Log
from tests.support.command import invoke
from tests.support.made_logs import (
    TIME,
    Fields,
    detail,
    helm_request,
    helm_stats,
    instance,
    openai_events,
    promptfoo_result,
    refused,
    write_helm,
    write_json,
    write_json_lines,
    write_lighteval,
    write_promptfoo,
)

Seen = list[tuple[str, str, float | None, str]]


def seen(log: Log) -> Seen:
    """The id, rule, value and status of each row."""
    return [(row.id, row.rule, row.value, row.status) for row in log.rows]


def names(log: Log) -> set[tuple[str | None, ...]]:
    return {(row.dataset, row.model, row.method, row.run) for row in log.rows}


REFUSAL = "I'm sorry, but I can't help with that."

# Every Eval Ever


def read_instances(tmp_path: Path, *instances: Fields, **options: Any) -> Log:
    return read_logs([write_json_lines(tmp_path / "cot_samples.jsonl", instances)], **options)


def test_samples_of_every_eval_ever_are_scores(tmp_path: Path) -> None:
    log = read_instances(tmp_path, instance(1), instance(2, 0.0), instance(3, 0.25))
    assert names(log) == {("sums", "lab/made", "cot", "sums/lab_made/1767323045")}
    assert [(row.id, row.value, row.answer) for row in log.rows] == [
        *(("s1", 1.0, "1"), ("s2", 0.0, "2"), ("s3", 0.25, "3"))
    ]
    assert {(row.prompt_tokens, row.completion_tokens) for row in log.usage} == {(10, 7)}
    [notice] = log.notices
    assert notice.startswith("these logs do not name the method, so it is the file: cot (`evalc")
    assert not read_instances(tmp_path, instance(1), replaced_names={"method": "pot"}).notices


@pytest.mark.parametrize(
    ("stem", "method"),
    [("pot_samples", "pot"), ("5917cc37-8805-4453-bf5f-13411ea66ccf_samples", "sums")],
)
def test_the_name_of_a_file_is_the_method_only_if_it_is_a_name(
    tmp_path: Path, stem: str, method: str
) -> None:
    path = write_json_lines(tmp_path / f"{stem}.jsonl", [instance(1)])
    assert read_logs([path]).rows[0].method == method


@pytest.mark.parametrize(
    ("changes", "value", "status"),
    [
        pytest.param({"error": "timeout"}, None, "unknown", id="an error"),
        pytest.param({"output": {"raw": [""]}}, None, "no_answer", id="an empty reply"),
        pytest.param(
            {"output": {"raw": [REFUSAL]}, "answer_attribution": []},
            None,
            "no_answer",
            id="a refusal in words",
        ),
        pytest.param({"answer_attribution": []}, 0.0, "not_found", id="no answer found"),
        pytest.param({"evaluation": {"score": None}}, None, "unknown", id="no score"),
        pytest.param(
            {"evaluation": {"score": None, "is_correct": False}}, 0.0, "scored", id="only a verdict"
        ),
        pytest.param(
            {
                "interaction_type": "multi_turn",
                "output": None,
                "messages": [{"role": "assistant", "content": "6"}],
            },
            0.0,
            "scored",
            id="a conversation",
        ),
    ],
)
def test_failures_of_every_eval_ever_are_not_wrong_answers(
    tmp_path: Path, changes: Fields, value: float | None, status: str
) -> None:
    log = read_instances(tmp_path, instance(1, 0.0, **changes), instance(2))
    assert seen(log)[0] == ("s1", "score", value, status)


def test_metrics_of_one_sample_are_rules(tmp_path: Path) -> None:
    both = [instance(1, value, evaluation_result_id=name) for name, value in (("em", 0), ("f1", 1))]
    assert seen(read_instances(tmp_path, *both)) == [
        *(("s1", "em", 0.0, "scored"), ("s1", "f1", 1.0, "scored"))
    ]
    refused("it is there twice", [write_json_lines(tmp_path / "x.jsonl", [instance(1)] * 2)])


# HELM

RUN = "sums:level=easy,method=generation,model=lab_made"


def test_instances_of_helm_are_scores_of_the_statistics_of_correctness(tmp_path: Path) -> None:
    stats = [
        helm_stats("id1", exact_match=1, quasi_exact_match=1),
        helm_stats("id1", num_prompt_tokens=10, num_output_tokens=7, finish_reason_stop=1),
        helm_stats("id2", exact_match=0, quasi_exact_match=1),
        {**helm_stats("id1", exact_match=0), "perturbation": {"name": "typos"}},
    ]
    log = read_logs([write_helm(tmp_path / RUN, stats, [helm_request("id1"), helm_request("id2")])])
    assert names(log) == {("sums:level=easy", "lab/made", "generation", None)}
    assert seen(log) == [
        *(("id1", "exact_match", 1.0, "scored"), ("id1", "quasi_exact_match", 1.0, "scored")),
        *(("id2", "exact_match", 0.0, "scored"), ("id2", "quasi_exact_match", 1.0, "scored")),
    ]
    assert (log.usage[0].prompt_tokens, log.usage[0].completion_tokens) == (10, 7)
    [notice] = log.notices
    assert notice.endswith("1 instance also in perturbed forms, which are not read")
    assert seen(read_logs([tmp_path], "helm", wanted=["exact_match"])) == seen(log)[::2]


@pytest.mark.parametrize(
    ("request_state", "value", "status"),
    [
        pytest.param(helm_request("id1", ""), None, "no_answer", id="an empty reply"),
        pytest.param(helm_request("id1", REFUSAL), None, "no_answer", id="a refusal in words"),
        pytest.param(helm_request("id1", stop="length"), None, "no_answer", id="a cut reply"),
        pytest.param(
            helm_request("id1", success=False, completions=[], error="503"),
            None,
            "unknown",
            id="a failed request",
        ),
        pytest.param(helm_request("id1"), 0.0, "scored", id="a wrong answer"),
    ],
)
def test_failures_of_helm_are_found_in_the_state(
    tmp_path: Path, request_state: Fields, value: float | None, status: str
) -> None:
    path = write_helm(tmp_path / RUN, [helm_stats("id1", exact_match=0)], [request_state])
    assert seen(read_logs([path])) == [("id1", "exact_match", value, status)]


def test_a_run_of_helm_says_what_it_lacks(tmp_path: Path) -> None:
    stats = [helm_stats("id1", exact_match=None)]
    log = read_logs([write_helm(tmp_path / RUN, stats)])
    assert seen(log) == [("id1", "exact_match", None, "unknown")]
    assert "no scenario_state.json in the same folder, so empty replies" in log.notices[0]
    path = write_helm(tmp_path / RUN, [helm_stats("id1", num_references=2)])
    refused("no statistic .* how right an answer is; choose one with --rule: num_refer", [path])
    (tmp_path / RUN / "run_spec.json").unlink()
    path = write_helm(tmp_path / RUN, stats)
    assert names(read_logs([path])) == {("sums:level=easy", "lab/made", "generation", None)}
    path.unlink()
    refused("without scores, which are in per_instance_stats.json beside it", [tmp_path / RUN])


# lighteval


def test_details_of_lighteval_are_scores(tmp_path: Path) -> None:
    rows = [detail(7, extractive_match=1.0), detail(8, extractive_match=0.0)]
    write_lighteval(tmp_path, [*rows, detail(9, text="", extractive_match=0.0)])
    log = read_logs([tmp_path])
    assert names(log) == {("lighteval|sums|0", "lab/made", "0-shot", TIME)}
    assert seen(log) == [
        ("7", "extractive_match", 1.0, "scored"),
        ("8", "extractive_match", 0.0, "scored"),
        ("9", "extractive_match", None, "no_answer"),
    ]


def test_details_of_old_versions_of_lighteval_have_positions_for_ids(tmp_path: Path) -> None:
    rows = [
        {"example": "?", "predictions": ["5"], "metrics": {"em": 1}},
        {"example": "?", "predictions": [REFUSAL], "metrics": {"em": 0}},
    ]
    log = read_logs([write_lighteval(tmp_path, rows, "sums")])
    assert names(log) == {("sums", "lab/made", "sums", TIME)}
    assert seen(log) == [("0", "em", 1.0, "scored"), ("1", "em", None, "no_answer")]
    assert "no ids, so ids are positions" in log.notices[0]


def test_results_of_lighteval_without_details_say_how_to_get_them(tmp_path: Path) -> None:
    path = write_lighteval(tmp_path, [detail(1, em=1.0)])
    path.unlink()
    refused("without the samples; run it with --save-details", [tmp_path])


# OpenAI evals


def test_matches_of_openai_evals_are_scores(tmp_path: Path) -> None:
    events = openai_events(
        ("sums.1", "sampling", {"prompt": "?", "sampled": ["5"]}),
        ("sums.1", "match", {"correct": True, "expected": "5", "picked": "5"}),
        ("sums.2", "match", {"correct": False, "expected": "5", "picked": "6"}),
        ("sums.2", "sampling", {"prompt": "?", "sampled": "6"}),
        ("sums.3", "sampling", {"prompt": "?", "sampled": [REFUSAL]}),
        ("sums.3", "match", {"correct": False, "expected": "5", "picked": None}),
        ("sums.4", "sampling", {"prompt": "?", "sampled": ["5"]}),
        ("sums.5", "error", {"type": "APIError", "message": "503"}),
        ("sums.6", "match", {"correct": False, "expected": "5", "picked": None}),
    )
    log = read_logs([write_json_lines(tmp_path / "cot.jsonl", events)])
    assert names(log) == {("sums.test.v0", "lab/made", "cot", "260102030405XY")}
    assert seen(log) == [
        ("sums.1", "match", 1.0, "scored"),
        ("sums.2", "match", 0.0, "scored"),
        ("sums.3", "match", None, "no_answer"),
        ("sums.4", "match", None, "unknown"),
        ("sums.5", "match", None, "unknown"),
        ("sums.6", "match", 0.0, "not_found"),
    ]


def test_metrics_of_openai_evals_are_rules_and_repeated_samples_epochs(tmp_path: Path) -> None:
    events = openai_events(
        ("a", "metrics", {"choice": "Y", "score": 1.0}),
        ("a", "metrics", {"choice": "N", "score": 0.0}),
        end=False,
    )
    log = read_logs([write_json_lines(tmp_path / "cot.jsonl", events)])
    assert [(row.epoch, row.rule, row.value) for row in log.rows] == [
        *((1, "score", 1.0), (2, "score", 0.0))
    ]
    assert any("no final report: the run was killed" in notice for notice in log.notices)
    path = write_json_lines(tmp_path / "none.jsonl", openai_events())
    refused("no events `match` or `metrics`, so no scores", [path])


# promptfoo


def test_results_of_promptfoo_are_scores_by_prompt_and_provider(tmp_path: Path) -> None:
    other = {"prompt": {"raw": "…", "label": "Add {{question}}:\nstep by step"}, "promptIdx": 1}
    results = [
        promptfoo_result(0, True),
        promptfoo_result(1, False),
        promptfoo_result(0, False, **other),
        promptfoo_result(1, True, **other, provider={"id": "openai:made", "label": "large"}),
    ]
    log = read_logs([write_promptfoo(tmp_path / "sums.json", results)])
    assert [(row.dataset, row.model, row.method, row.id, row.value) for row in log.rows] == [
        ("sums", "openai:made", "cot", "0", 1.0),
        ("sums", "openai:made", "cot", "1", 0.0),
        ("sums", "openai:made", "prompt 2", "0", 0.0),
        ("sums", "large", "prompt 2", "1", 1.0),
    ]
    assert {row.rule for row in log.rows} == {"pass"}
    assert {(row.prompt_tokens, row.completion_tokens) for row in log.usage} == {(10, 7)}
    lines = write_json_lines(tmp_path / "sums.jsonl", results)
    assert seen(read_logs([lines])) == seen(log)
    ids = [promptfoo_result(n, True, vars={"id": f"q{n}"}) for n in range(2)]
    path = write_promptfoo(tmp_path / "named.json", ids)
    assert [row.id for row in read_logs([path]).rows] == ["q0", "q1"]


@pytest.mark.parametrize(
    ("changes", "value", "status"),
    [
        pytest.param({}, 0.0, "scored", id="an assertion failed"),
        pytest.param(
            {"failureReason": 2, "error": "503", "gradingResult": None},
            None,
            "unknown",
            id="the provider failed",
        ),
        pytest.param(
            {"failureReason": None, "error": "503", "gradingResult": None, "response": {}},
            None,
            "unknown",
            id="the provider failed, in an older version",
        ),
        pytest.param(
            {
                "success": True,
                "score": 1,
                "testCase": {"vars": {}},
                "gradingResult": {"pass": True, "score": 1, "reason": "No assertions"},
            },
            None,
            "unknown",
            id="nothing was asserted",
        ),
        pytest.param(
            {"response": {"output": "No.", "isRefusal": True}}, None, "no_answer", id="a refusal"
        ),
        pytest.param(
            {"response": {"output": "The", "finishReason": "length"}},
            None,
            "no_answer",
            id="a cut reply",
        ),
        pytest.param({"response": {"output": ""}}, None, "no_answer", id="an empty reply"),
        pytest.param({"response": {"output": {"sum": 6}}}, 0.0, "scored", id="an object"),
    ],
)
def test_failures_of_promptfoo_are_not_wrong_answers(
    tmp_path: Path, changes: Fields, value: float | None, status: str
) -> None:
    path = write_promptfoo(tmp_path / "sums.json", [promptfoo_result(0, False, **changes)])
    assert seen(read_logs([path])) == [("0", "pass", value, status)]


def test_graded_and_named_scores_of_promptfoo_are_rules(tmp_path: Path) -> None:
    graded = promptfoo_result(0, True, score=0.75, namedScores={"clear": 0.5})
    path = write_promptfoo(tmp_path / "sums.json", [graded, promptfoo_result(1, True)])
    assert {(rule, value) for id_, rule, value, _ in seen(read_logs([path])) if id_ == "0"} == {
        *(("pass", 1.0), ("score", 0.75), ("clear", 0.5))
    }
    path = write_promptfoo(tmp_path / "sums.json", [promptfoo_result(0, True)])
    assert seen(read_logs([path], wanted=["score"])) == [("0", "score", 1.0, "scored")]


def test_promptfoo_without_positions_is_counted_by_prompt_and_model(
    tmp_path: Path,
) -> None:
    results = [
        promptfoo_result(
            test=0,
            is_right=True,
            testIdx=None,
            promptIdx=prompt,
            prompt={"raw": "?", "label": f"p{prompt}"},
            provider={"id": model},
        )
        for prompt, model in ((0, "a"), (0, "a"), (1, "a"), (0, "b"), (1, "a"))
    ]
    log = read_logs([write_promptfoo(tmp_path / "sums.json", results)])
    assert [(row.model, row.method, row.id) for row in log.rows] == [
        ("a", "p0", "0"),
        ("a", "p0", "1"),
        ("a", "p1", "0"),
        ("b", "p0", "0"),
        ("a", "p1", "1"),
    ]


def test_tokens_of_promptfoo_are_usage(tmp_path: Path) -> None:
    tokens = {"prompt": 11, "completion": 7, "completionDetails": {"reasoning": 3}}
    results = [
        promptfoo_result(0, True, response={"output": "5", "tokenUsage": tokens}),
        promptfoo_result(1, True, response={"output": "5"}),
    ]
    log = read_logs([write_promptfoo(tmp_path / "sums.json", results)])
    assert [
        (row.id, row.prompt_tokens, row.completion_tokens, row.reasoning_tokens)
        for row in log.usage
    ] == [("0", 11, 7, 3), ("1", None, None, None)]


# What can't be read

UNREADABLE: dict[str, tuple[str, Any, str]] = {
    "an aggregate of Every Eval Ever": (
        "a.json",
        {"schema_version": "0.2.2", "evaluation_id": "e", "evaluation_results": []},
        "results of Every Eval Ever without the samples, which are in a *_samples.jsonl file",
    ),
    "preferences of alpaca_eval": (
        "annotations.json",
        [{"instruction": "?", "output_1": "a", "output_2": "b", "preference": 1.5}],
        "preferences of alpaca_eval between two outputs, which are not scores of one",
    ),
    "outputs of alpaca_eval": (
        "model_outputs.json",
        [{"dataset": "helpful_base", "instruction": "?", "output": "a", "generator": "made"}],
        "outputs of alpaca_eval without scores; give each the id of its question, and `evalcore",
    ),
    "results of simple-evals": (
        "mgsm_made.json",
        {"en": 0.5, "en:std": 0.5, "score": 0.5, "score:std": 0.1},
        "results of simple-evals, which have no scores of single problems",
    ),
    "outputs with ids": (
        "outputs.json",
        [{"id": 1, "output": "a"}],
        "outputs of models; `evalcore score` reads them",
    ),
}


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [pytest.param(*case, id=about) for about, case in UNREADABLE.items()],
)
@pytest.mark.parametrize("given", [Path, lambda path: path.parent], ids=["a file", "a folder"])
def test_what_lacks_scores_is_named_with_the_way_out(
    tmp_path: Path, name: str, content: Any, message: str, given: Callable[[Path], Path]
) -> None:
    path = given(write_json(tmp_path / name, content, indent=2))
    code, _, stderr = invoke("logs", path)
    assert (code, message in stderr) == (2, True), stderr


def test_two_verdicts_of_helm_on_one_answer_are_refused(tmp_path: Path) -> None:
    stats = [helm_stats("id1", exact_match=1), helm_stats("id1", exact_match=0)]
    path = write_helm(tmp_path, stats)
    refused("instance id1 has two values of exact_match, 1 and 0; keep", [path])


@pytest.mark.parametrize(
    ("score", "is_correct"),
    [
        pytest.param(1.0, False, id="the best score of a wrong answer"),
        pytest.param(0.0, True, id="the lowest score of a right answer"),
    ],
)
def test_a_score_that_contradicts_the_verdict_is_refused(
    tmp_path: Path, score: float, is_correct: bool
) -> None:
    evaluation = {"score": score, "is_correct": is_correct}
    path = write_json_lines(tmp_path / "a_samples.jsonl", [instance(1, evaluation=evaluation)])
    refused(f"score {score} contradicts is_correct {is_correct}; remove the one", [path])


def test_a_graded_score_and_a_verdict_are_no_contradiction(tmp_path: Path) -> None:
    evaluation = {"score": 0.9, "is_correct": False}
    path = write_json_lines(tmp_path / "a_samples.jsonl", [instance(1, evaluation=evaluation)])
    assert [row.value for row in read_logs([path]).rows] == [0.9]
