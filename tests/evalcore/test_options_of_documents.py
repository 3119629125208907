"""`--cluster` of score, compare, outcomes, efficiency and logs: which problems go together."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import evalcore
from ngramscan.errors import InputError
from ngramscan.statistics.clustered_means import ClusteredMean
from ngramscan.statistics.two_samples import estimate_clustered_accuracy
from tests.support.command import invoke
from tests.support.made_logs import row, sample, write_inspect, write_lm_eval
from tests.support.outputs import write_lines

SIZES = [1, 2, 3, 4, 5, 6, 7, 8]


def passages(sizes: Sequence[int] = SIZES) -> list[str]:
    return [f"p{number}" for number, size in enumerate(sizes) for _ in range(size)]


def scores(sizes: Sequence[int] = SIZES, **columns: Any) -> pd.DataFrame:
    """Right and wrong answers of two methods to problems of some passages."""
    draw = np.random.default_rng(7)
    rows = [
        {"dataset": "d", "model": "m", "method": method, "id": f"{place}", "epoch": None}
        | {"rule": "r", "value": float(draw.random() < chance), "passage": passage, **columns}
        for method, chance in (("cot", 0.4), ("pot", 0.7))
        for place, passage in enumerate(passages(sizes))
    ]
    return pd.DataFrame(rows)


def one(frame: pd.DataFrame, **columns: Any) -> dict[str, Any]:
    for name, value in columns.items():
        frame = frame[frame[name] == value]
    (found,) = json.loads(frame.to_json(orient="records", double_precision=15))
    return dict(found)


def values(frame: pd.DataFrame, method: str) -> Any:
    return frame.loc[frame["method"] == method, "value"].to_numpy()


def test_compare_tests_passages_and_says_so() -> None:
    given = scores()
    found = one(evalcore.compare(given, baseline="cot", cluster="passage"))
    expected = ClusteredMean(values(given, "pot") - values(given, "cot"), passages(), -1, 1)
    assert (found["p"], found["difference"]) == pytest.approx(
        (expected.test(0).value, expected.value)
    )
    limits = found["difference_low"], found["difference_high"]
    assert limits == pytest.approx(expected.estimate().limits)
    assert (found["test"], found["n"], found["n_clusters"]) == (
        "nonparametric tilting over clusters",
        36,
        8,
    )
    few = "only 8 clusters, so uneven that they tell as much as 6 of one size"
    assert few in found["note"]
    assert "p_exact" not in found


COMMANDS: dict[str, dict[str, Any]] = {
    "compare": {"baseline": "cot"},
    "outcomes": {"baselines": "cot", "adaptive": "pot"},
}


@pytest.mark.parametrize("command", COMMANDS)
def test_passages_of_one_problem_each_change_nothing_but_their_number(command: str) -> None:
    given, run, options = scores([1] * 30), getattr(evalcore, command), COMMANDS[command]
    plain = one(run(given, **options))
    assert one(run(given, cluster="passage", **options)) == plain | {"n_clusters": 30}
    assert "n_clusters" not in plain


def test_equal_names_in_two_benchmarks_are_different_clusters() -> None:
    given = pd.concat([scores(), scores(dataset="e")])
    found = one(evalcore.compare(given, baseline="cot", cluster="passage", by="model"))
    assert (found["dataset"], found["n_clusters"]) == ("all", 16)


def test_an_average_over_parts_with_common_passages_has_wide_limits(
    tmp_path: Path,
) -> None:
    given = scores([4] * 10)
    given["subtask"] = [f"s{int(id_) % 2}" for id_ in given["id"]]
    target = tmp_path / "averages.csv"
    evalcore.compare(given, baseline="cot", cluster="passage", averages=target)
    parts = [
        one(evalcore.compare(part, baseline="cot", cluster="passage"))
        for _, part in given.groupby("subtask")
    ]
    (average,) = pd.read_csv(target).to_dict("records")
    ends = [(part["difference_low"], part["difference_high"]) for part in parts]
    found = average["difference_low"], average["difference_high"]
    assert found == pytest.approx(tuple(np.mean(ends, axis=0)))


def test_outcomes_have_intervals_over_passages(tmp_path: Path) -> None:
    given, target = scores(), tmp_path / "agreements.csv"
    options: Any = {"baselines": "cot", "adaptive": "pot", "cluster": "passage"}
    found = one(evalcore.outcomes(given, agreements=target, **options))
    # With one baseline there is a choice only where it is right and the method is wrong.
    lost = (values(given, "cot") == 1) & (values(given, "pot") == 0)
    expected = estimate_clustered_accuracy(np.zeros(lost.sum()), np.array(passages())[lost])
    assert (found["selection_low"], found["selection_high"]) == pytest.approx(expected.limits)
    assert found["n_clusters"] == 8
    (agreed,) = pd.read_csv(target).to_dict("records")
    accepted = agreed["accepted_low"], agreed["accepted_high"]
    same = np.zeros(36)  # no answers are recorded, so none are the same
    assert accepted == pytest.approx(estimate_clustered_accuracy(same, passages()).limits, abs=1e-9)


@pytest.mark.parametrize(
    ("cluster", "wins_by_test"),
    [
        pytest.param(None, 1, id="over problems"),
        pytest.param("passage", 0, id="over passages"),
    ],
)
def test_wins_are_tested_over_passages(
    tmp_path: Path, cluster: str | None, wins_by_test: int
) -> None:
    """All problems of one passage are won, which is one independent win."""
    rows = scores([20, *[2] * 10])
    rows["value"] = [
        float(passage == "p0" and method == "pot")
        for passage, method in zip(rows["passage"], rows["method"], strict=True)
    ]
    target = tmp_path / "wins.csv"
    evalcore.outcomes(rows, baselines="cot", adaptive="pot", wins=target, cluster=cluster)
    (row,) = pd.read_csv(target).to_dict("records")
    assert (row["wins"], row["wins_by_test"]) == (1, wins_by_test)


def test_efficiency_resamples_passages(tmp_path: Path) -> None:
    given, usage = scores([3] * 12), tmp_path / "usage.csv"
    used = given[["dataset", "model", "method", "id", "epoch"]].assign(
        prompt_tokens=10,
        completion_tokens=[int(p[1:]) + 5 for p in given["passage"]],
        reasoning_tokens=None,
    )
    used.to_csv(usage, index=False)
    plain = one(evalcore.efficiency(given, usage=usage), method="cot")
    found = one(evalcore.efficiency(given, usage=usage, cluster="passage"), method="cot")
    expected = estimate_clustered_accuracy(values(given, "cot"), passages([3] * 12))
    assert (found["accuracy_low"], found["accuracy_high"]) == pytest.approx(expected.limits)
    assert (found["n_clusters"], plain.get("n_clusters")) == (12, None)
    # Tokens are the same within a passage, so that three problems tell as much as one.
    widths = [row["mean_tokens_high"] - row["mean_tokens_low"] for row in (plain, found)]
    assert widths[1] > 1.5 * widths[0]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        pytest.param({"passage": None}, "no passage, which cluster needs", id="missing"),
        pytest.param({"passage": "  "}, "no passage, which cluster needs", id="blank"),
        pytest.param({"passage": ["p"]}, "cluster needs a text or a number", id="a list"),
    ],
)
def test_rows_without_a_cluster_are_refused(changes: dict[str, Any], message: str) -> None:
    rows = [{**fields, **changes} for fields in scores([1] * 3).to_dict("records")]
    with pytest.raises(InputError, match=message):
        evalcore.compare(pd.DataFrame(rows), baseline="cot", cluster="passage")


def test_a_problem_has_one_cluster() -> None:
    given = scores([2, 2])
    given.loc[given["method"] == "pot", "passage"] = "other"
    with pytest.raises(InputError, match="id 0 of d has several values of passage"):
        evalcore.compare(given, baseline="cot", cluster="passage")


def test_whole_numbers_are_the_same_name_however_a_table_stores_them() -> None:
    given = scores([2] * 12)
    given["passage"] = [int(id_) // 2 for id_ in given["id"]]
    cot, pot = (part for _, part in given.groupby("method"))
    found = one(
        evalcore.compare([cot, pot.astype({"passage": float})], baseline="cot", cluster="passage")
    )
    assert found["n_clusters"] == 12


def test_clusters_that_are_recorded_but_not_used_are_named() -> None:
    _, _, stderr = invoke("compare", "-", "--baseline", "cot", content=_csv(cluster="c"))
    assert "problems have clusters, but are taken as independent" in stderr
    _, _, stderr = invoke("compare", "-", "--baseline", "cot", content=_csv())
    assert "clusters" not in stderr


def _csv(**columns: Any) -> bytes:
    return scores(**columns).to_csv(index=False).encode()


# Scores and logs

QUESTIONS: list[dict[str, Any]] = [
    {
        "id": str(number),
        "question": f"{number} + 1?",
        "answer": number + 1,
        "text": f"t{number // 4}",
    }
    for number in range(24)
]


@pytest.fixture
def questions(tmp_path: Path) -> Path:
    outputs = [
        {"id": one["id"], "output": f"The answer is {one['answer'] - (one['text'] < 't2')}."}
        for one in QUESTIONS
    ]
    write_lines(tmp_path / "outputs/questions/m/cot.jsonl", *outputs)
    return write_lines(tmp_path / "questions.jsonl", *QUESTIONS)


def test_score_reads_clusters_of_the_questions_and_writes_them(questions: Path) -> None:
    options: Any = {"data": questions, "rule": "numbers"}
    found = evalcore.score(questions.parent / "outputs", cluster="text", **options)
    assert [*found["cluster"]] == [one["text"] for one in QUESTIONS]
    assert "cluster" in evalcore.score(questions.parent / "outputs", **options).attrs["left_out"]


def test_the_accuracy_of_score_is_that_of_clusters(questions: Path) -> None:
    arguments = ("--data", questions, "--rule", "numbers", "--cluster", "text")
    code, stdout, stderr = invoke("score", questions.parent / "outputs", *arguments)
    right = [float(one["text"] >= "t2") for one in QUESTIONS]
    expected = estimate_clustered_accuracy(right, [one["text"] for one in QUESTIONS])
    low, high = (f"{100 * limit:.1f}" for limit in expected.limits)
    assert (code, f"66.7 [{low}, {high}]" in stdout) == (0, True)
    assert "m, cot, numbers: only 6 clusters" in stderr


def test_a_column_that_questions_lack_is_named_with_its_option(questions: Path) -> None:
    with pytest.raises(InputError, match=r"no column passage; .* name the column with cluster"):
        evalcore.score(questions.parent / "outputs", data=questions, cluster="passage")


def inspect_log(path: Path, n: int = 12) -> Path:
    samples = [sample(f"s{i}", "C" if i % 3 else "I", metadata={"text": i // 3}) for i in range(n)]
    return write_inspect(path, samples)


@pytest.mark.parametrize("name", ["a.eval", "a.json"])
def test_logs_of_inspect_have_clusters_in_the_metadata_of_samples(
    tmp_path: Path, name: str
) -> None:
    found = evalcore.logs(inspect_log(tmp_path / name), cluster="text")
    assert dict(zip(found["id"], found["cluster"], strict=True))["s7"] == "2"
    with pytest.raises(InputError, match="metadata of sample s1, epoch 1: no passage, which"):
        evalcore.logs(tmp_path / name, cluster="passage")


def test_logs_of_lm_evaluation_harness_have_clusters_in_documents(tmp_path: Path) -> None:
    rows = [row(i, doc={"id": f"s{i}", "text": f"t{i // 2}"}) for i in range(6)]
    found = evalcore.logs(write_lm_eval(tmp_path, rows), cluster="text")
    assert [*found["cluster"]] == ["t0", "t0", "t1", "t1", "t2", "t2"]


def test_compare_reads_clusters_from_logs(tmp_path: Path) -> None:
    first = inspect_log(tmp_path / "a.json", 36)
    second = json.loads(first.read_text())
    second["eval"] |= {"metadata": {"method": "pot"}, "eval_id": "E2"}
    (tmp_path / "b.json").write_text(json.dumps(second))
    found = one(evalcore.compare([first, tmp_path / "b.json"], baseline="cot", cluster="text"))
    assert (found["n"], found["n_clusters"]) == (36, 12)
