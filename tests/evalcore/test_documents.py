"""Which answers are about one document, and which tasks are one benchmark."""

from collections import defaultdict
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalcore.documents import join_tasks, name_documents
from evalcore.scores import ScoreRow

Given = tuple[str, str, str | None]
"""Method, id, hash."""


def row(method: str, id_: str, hash_: str | None, dataset: str = "d", model: str = "m") -> ScoreRow:
    return ScoreRow(dataset, model, method, id_, None, "r", 1.0, hash=hash_)


def named(*answers: Given) -> list[str]:
    return name_documents([row(*answer) for answer in answers], {"d": "d"})


@pytest.mark.parametrize(
    ("answers", "expected"),
    [
        pytest.param([("a", "1", None), ("b", "1", None)], ["1", "1"], id="ids without hashes"),
        pytest.param([("a", "1", "x"), ("b", "1", "x")], ["1", "1"], id="same hash, same id"),
        pytest.param([("a", "1", "x"), ("b", "9", "x")], ["1", "1"], id="same hash, other ids"),
        pytest.param(
            [("a", "1", "x"), ("b", "1", "y")], ["1", "1 (y)"], id="same id, other hashes"
        ),
        pytest.param(
            [("a", "1", "x"), ("a", "2", "y"), ("b", "1", "y"), ("b", "2", "x")],
            ["1", "2", "2", "1"],
            id="positions in another order",
        ),
        pytest.param([("a", "1", "x"), ("b", "1", None)], ["1", "1"], id="one side has a hash"),
        pytest.param([("b", "1", None), ("a", "1", "x")], ["1", "1"], id="the other side has it"),
        pytest.param(
            [("a", "1", "x"), ("b", "1", "y"), ("c", "1", None)],
            ["1", "1 (y)", "1 (no hash)"],
            id="an id of two documents says nothing",
        ),
        pytest.param(
            [("a", "1", "x"), ("a", "2", "x"), ("b", "1", "x"), ("b", "2", "x")],
            ["1", "2", "1", "2"],
            id="a question that is there twice is paired by id",
        ),
        pytest.param(
            [("a", "1", "x"), ("a", "2", "x"), ("b", "2", "x"), ("b", "1", "x")],
            ["1", "2", "2", "1"],
            id="and in another order, too",
        ),
        pytest.param(
            [("a", "1", "x"), ("a", "2", "x"), ("b", "8", "x"), ("b", "9", "x")],
            ["1", "2", "1", "2"],
            id="by order if the ids are others",
        ),
        pytest.param(
            [("a", "1", "x"), ("a", "2", "x"), ("b", "9", "x"), ("b", "1", "x")],
            ["1", "2", "2", "1"],
            id="by id first, then by order",
        ),
        pytest.param(
            [("a", "1", "x"), ("b", "1", "x"), ("b", "2", "x")],
            ["1", "1", "2"],
            id="more copies in one run",
        ),
        pytest.param(
            [("a", "1", "x"), ("b", "2", "x"), ("c", "1", "x"), ("c", "2", "x")],
            ["1", "1", "1", "2"],
            id="two names of one document, and a run with both",
        ),
    ],
)
def test_a_document_has_one_name(answers: list[Given], expected: list[str]) -> None:
    assert named(*answers) == expected


@given(st.lists(st.tuples(st.sampled_from("ab"), st.sampled_from("1234"), st.sampled_from("xy"))))
def test_equal_hashes_are_paired_as_often_as_both_runs_have_them(answers: list[Any]) -> None:
    answers = list({answer[:2]: answer for answer in answers}.values())
    names = named(*answers)
    counts = defaultdict[str, dict[str, int]](lambda: {"a": 0, "b": 0})
    documents = defaultdict[str, set[str]](set)
    hashes = dict[str, str]()
    for (method, _, hash_), name in zip(answers, names, strict=True):
        assert method not in documents[name]  # no run has a document twice
        documents[name].add(method)
        assert hashes.setdefault(name, hash_) == hash_
        counts[hash_][method] += 1
    for hash_, of_runs in counts.items():
        pairs = [name for name in documents if hashes[name] == hash_ and len(documents[name]) == 2]
        assert len(pairs) == min(of_runs.values())


def task(name: str, method: str, hashes: str, model: str = "m") -> list[ScoreRow]:
    """A task with one document for each letter; a dot is one without a hash."""
    letters = enumerate(hashes)
    return [row(method, str(n), None if x == "." else x, name, model) for n, x in letters]


@pytest.mark.parametrize(
    ("tasks", "benchmarks"),
    [
        pytest.param([("q_cot", "a", "xyz"), ("q_pot", "b", "zyx")], ["q", "q"], id="prompts"),
        pytest.param([("q", "a", "xyz"), ("q_pot", "b", "xyz")], ["q", "q"], id="one has the name"),
        pytest.param(
            [("gsm8k_cot", "a", "xy"), ("gsm8k_code", "b", "xy")],
            ["gsm8k", "gsm8k"],
            id="only whole words are the name",
        ),
        pytest.param(
            [("cot", "a", "xy"), ("pot", "b", "xy")],
            ["cot + pot", "cot + pot"],
            id="no word in common",
        ),
        pytest.param(
            [("q-a/1", "a", "xy"), ("q-a/2", "b", "xy")], ["q-a", "q-a"], id="separators stay"
        ),
        pytest.param(
            [("q_a", "a", "xy"), ("q_b", "b", "xy"), ("q", "c", "vw")],
            ["q_a + q_b", "q_a + q_b", "q"],
            id="the name is that of another task",
        ),
        pytest.param([("q_a", "a", "vwxy"), ("q_b", "b", "xy")], ["q", "q"], id="a part of it"),
        pytest.param([("q_a", "a", "vwxy"), ("q_b", "b", "xyst")], ["q", "q"], id="half"),
        pytest.param(
            [("q_a", "a", "vwxy"), ("q_b", "b", "xrst")], ["q_a", "q_b"], id="less than half"
        ),
        pytest.param([("q_a", "a", "xy"), ("q_b", "b", "vw")], ["q_a", "q_b"], id="none"),
        pytest.param([("q_a", "a", ".."), ("q_b", "b", "..")], ["q_a", "q_b"], id="no hashes"),
        pytest.param(
            [("q_a", "a", "xy"), ("q_b", "a", "xy")], ["q_a", "q_b"], id="the same method"
        ),
        pytest.param(
            [("q_a", "a", "xy", "m"), ("q_b", "b", "xy", "n")], ["q_a", "q_b"], id="other models"
        ),
        pytest.param(
            [("q_a", "a", "xy"), ("q_b", "b", "xy"), ("q_c", "c", "xy")], ["q"] * 3, id="three"
        ),
    ],
)
def test_tasks_are_one_benchmark_if_they_have_the_same_documents(
    tasks: list[Any], benchmarks: list[str]
) -> None:
    rows = [one for arguments in tasks for one in task(*arguments)]
    assert [*join_tasks(rows).values()] == benchmarks
