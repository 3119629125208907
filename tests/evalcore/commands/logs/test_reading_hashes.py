"""The document of an answer in logs of tools: what its hash covers, and what it does not."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

import evalcore
from evalcore.commands.logs import read_logs
from evalcore.formats import hash_document
from tests.support.made_logs import (
    Fields,
    detail,
    header,
    helm_request,
    helm_stats,
    instance,
    openai_events,
    promptfoo_result,
    sample,
    write_helm,
    write_inspect,
    write_json_lines,
    write_lighteval,
    write_members,
    write_promptfoo,
)


def hashes(path: Path) -> list[str | None]:
    return [row.hash for row in read_logs([path]).rows]


# Inspect


def of_sample(folder: Path, **changes: Any) -> str | None:
    return hashes(write_inspect(folder / "log.eval", [sample("s1", **changes)]))[0]


IMAGE = {"type": "image", "image": "data:1"}
ATTACHED = {"attachments": {"ab": "2+3?"}}


@pytest.mark.parametrize(
    ("changes", "is_same"),
    [
        pytest.param({"input": [{"role": "user", "content": "2+3?"}]}, True, id="a message"),
        pytest.param(
            {
                "input": [
                    {"role": "system", "content": "Think."},
                    {"role": "user", "content": [{"type": "text", "text": "2+3?"}]},
                ]
            },
            True,
            id="a system message is part of the prompt",
        ),
        pytest.param({"input": "attachment://ab", **ATTACHED}, True, id="an attachment"),
        pytest.param(
            {"input": [{"role": "user", "content": "attachment://ab"}], **ATTACHED},
            True,
            id="a message in an attachment",
        ),
        pytest.param({"target": ["5"]}, True, id="a list of one target"),
        pytest.param({"target": "6"}, False, id="another target"),
        pytest.param({"input": "2+4?"}, False, id="another question"),
        pytest.param(
            {"input": [{"role": "user", "content": [{"type": "text", "text": "2+3?"}, IMAGE]}]},
            False,
            id="an image in addition",
        ),
    ],
)
def test_the_hash_of_inspect_is_that_of_the_problem(
    tmp_path: Path, changes: Fields, is_same: bool
) -> None:
    first = of_sample(tmp_path, input="2+3?", target="5")
    second = of_sample(tmp_path, **{"input": "2+3?", "target": "5", **changes})
    assert (first == second) == is_same


def test_choices_of_inspect_may_be_in_any_order(tmp_path: Path) -> None:
    one = of_sample(tmp_path, input="2+3?", target="A", choices=["5", "6"])
    assert one == of_sample(tmp_path, input="2+3?", target="B", choices=["6", "5"])
    assert one != of_sample(tmp_path, input="2+3?", target="B", choices=["6", "7"])


def test_a_summary_has_no_hash_since_its_input_may_be_shortened(tmp_path: Path) -> None:
    whole = sample("s1", input="2+3?", target="5")
    members = {
        "_journal/start.json": header(dataset={}),
        "samples/s1_epoch_1.json": whole,
        "_journal/summaries/1.json": [whole, {**whole, "id": "s2", "input": "2+…"}],
    }
    path = write_members(tmp_path / "killed.eval", members)
    assert hashes(path) == [hash_document("2+3?", "5"), None]


# Others


def test_every_eval_ever_records_the_hash_or_it_is_made_alike(tmp_path: Path) -> None:
    recorded = "e6b4e5c4b1e8c8a2"
    lines = [instance(1, sample_hash=recorded), instance(2), instance(3, input={"raw": None})]
    path = write_json_lines(tmp_path / "cot_samples.jsonl", lines)
    assert hashes(path) == [recorded, hash_document("?2"), None]


def helm_hash(folder: Path, text: str, references: Sequence[str], n_requests: int) -> str | None:
    request = helm_request("id1")
    listed = [{"output": {"text": reference}, "tags": []} for reference in references]
    request["instance"] |= {"input": {"text": text}, "references": listed}
    path = write_helm(folder, [helm_stats("id1", exact_match=1)], [request] * n_requests)
    return hashes(path)[0]


def test_the_hash_of_helm_is_that_of_the_instance(tmp_path: Path) -> None:
    folder = tmp_path / "sums:model=lab_made"
    one = helm_hash(folder, "2+3?", ["5", "6"], 1)
    assert one == helm_hash(folder, "2+3?", ["6", "5"], 2) == hash_document("2+3?", "5", "6")
    assert one != helm_hash(folder, "2+3?", ["5", "7"], 1)
    assert helm_hash(folder, "", ["5"], 1) is None
    (folder / "scenario_state.json").unlink()
    assert hashes(folder) == [None]


def test_the_hash_of_lighteval_is_that_of_the_question_and_choices(tmp_path: Path) -> None:
    one, two = detail(0, em=1.0), detail(1, em=1.0)
    one["doc"] |= {"query": "2+3?", "choices": ["5", "6"]}
    two["doc"] |= {"query": "2+3?", "choices": ["6", "5"]}
    first, second = hashes(write_lighteval(tmp_path, [one, two]))
    assert first == second == hash_document("2+3?", "5", "6")
    old = [{"example": "2+3?", "predictions": ["5"], "metrics": {"em": 1}}]
    assert hashes(write_lighteval(tmp_path, old)) == [hash_document("2+3?")]


def test_the_hash_of_promptfoo_is_that_of_the_variables(tmp_path: Path) -> None:
    results = [
        promptfoo_result(0, True, testCase={"vars": variables, "assert": [{}]})
        for variables in (
            {"question": "2+3?", "id": "q1"},
            {"id": 7, "question": "2+3?", "sessionId": "a1", "_conversation": []},
            {"question": "2+4?"},
            {},
        )
    ]
    results[3]["vars"] = {}
    results = [one | {"testIdx": number} for number, one in enumerate(results)]
    first, second, third, last = hashes(write_promptfoo(tmp_path / "sums.json", results))
    assert first == second != third
    assert last is None


def test_openai_evals_have_ids_only(tmp_path: Path) -> None:
    events = openai_events(
        ("a", "sampling", {"prompt": "Think. 2+3?", "sampled": "5"}),
        ("a", "match", {"correct": True, "expected": "5", "picked": "5"}),
    )
    assert hashes(write_json_lines(tmp_path / "cot.jsonl", events)) == [None]


def test_shuffled_samples_of_another_tool_are_paired_by_their_hash(tmp_path: Path) -> None:
    orders = {"cot": (1, 2, 3), "pot": (3, 1, 2)}
    paths = []
    for method, numbers in orders.items():
        lines = [
            instance(number, float(number == 1), sample_id=str(place), sample_hash=f"{number:064x}")
            for place, number in enumerate(numbers)
        ]
        paths.append(write_json_lines(tmp_path / f"{method}_samples.jsonl", lines))
    [row] = evalcore.compare(paths).to_dict("records")
    assert (row["n"], row["baseline_only"], row["treatment_only"]) == (3, 0, 0)
