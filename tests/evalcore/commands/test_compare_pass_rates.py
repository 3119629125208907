"""pass@k and pass^k in `evalcore compare` and `evalcore score`."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import evalcore
from ngramscan.errors import InputError
from ngramscan.statistics.bounded_means import BoundedMean
from ngramscan.statistics.pass_rates import PassRate
from tests.support.command import invoke
from tests.support.outputs import write_lines

Letters = Mapping[str, Sequence[str]]


def scores(letters: Letters) -> pd.DataFrame:
    """One text per problem of each method, a letter per epoch: 1, 0, - no answer, ? unknown."""
    rows: list[dict[str, Any]] = [
        {"dataset": "d", "model": "m", "method": method, "id": str(number), "epoch": epoch}
        | {"rule": "r", "value": {"1": 1.0, "0": 0.0, "h": 0.5}.get(letter)}
        | {"status": {"-": "no_answer", "?": "unknown"}.get(letter, "scored")}
        | {"passage": f"p{number // 2}"}
        for method, problems in letters.items()
        for number, epochs in enumerate(problems)
        for epoch, letter in enumerate(epochs, 1)
    ]
    return pd.DataFrame(rows)


def compared(given: pd.DataFrame, **options: Any) -> dict[str, Any]:
    return only(evalcore.compare(given, baseline="cot", **options))


def only(frame: pd.DataFrame) -> dict[str, Any]:
    (found,) = json.loads(frame.to_json(orient="records", double_precision=15))
    return dict(found)


FIRST = ["1000", "0000", "1100", "0000", "1111", "0100"]


SECOND = ["1110", "0000", "1111", "1000", "1111", "0110"]


@pytest.mark.parametrize("option", ["pass_at", "pass_hat"])
def test_compare_takes_the_differences_of_problems(option: str) -> None:
    rate = PassRate(2, all_right=option == "pass_hat")
    given = scores({"cot": FIRST, "pot": SECOND})
    found = compared(given, **{option: 2})
    first, second = (
        np.array([rate.estimate(4, one.count("1")) for one in own]) for own in (FIRST, SECOND)
    )
    expected = BoundedMean(second - first, -1, 1)
    assert (found["n"], found["rule"]) == (6, f"r ({rate.name})")
    assert (found["accuracy_baseline"], found["accuracy_treatment"]) == pytest.approx(
        (first.mean(), second.mean())
    )
    limits = found["difference_low"], found["difference_high"]
    assert limits == pytest.approx(expected.estimate().limits)
    assert found["p"] == pytest.approx(expected.test(0).value)


@pytest.mark.parametrize("option", ["pass_at", "pass_hat"])
def test_the_rate_of_one_answer_is_the_accuracy(option: str) -> None:
    table = scores({"cot": FIRST, "pot": SECOND})
    plain = only(evalcore.compare(table, baseline="cot"))
    row = compared(table, **{option: 1})
    assert row["difference"] == pytest.approx(plain["difference"])


def test_all_answers_together_are_right_or_wrong_and_tested_as_such() -> None:
    found = only(evalcore.compare(scores({"cot": FIRST, "pot": SECOND}), baseline="cot", pass_at=4))
    assert found["test"] == "mid-p McNemar"
    assert (found["treatment_only"], found["baseline_only"]) == (1, 0)


def test_rates_and_clusters_go_together() -> None:
    given = scores({"cot": FIRST * 5, "pot": SECOND * 5})
    found = only(evalcore.compare(given, baseline="cot", pass_at=2, cluster="passage"))
    assert (found["n"], found["n_clusters"]) == (30, 15)
    assert found["test"] == "nonparametric tilting over clusters"


def compare_text(letters: Letters, *options: str) -> tuple[int, str]:
    content = scores(letters).to_csv(index=False).encode()
    code, _, stderr = invoke("compare", "-", "--baseline", "cot", *options, content=content)
    return code, stderr


def test_problems_with_too_few_answers_are_left_out_and_counted() -> None:
    given = {"cot": [*FIRST, "1", "10?"], "pot": [*SECOND, "1111", "1111"]}
    code, stderr = compare_text(given, "--pass-at", "3")
    shortage = "d, m, cot, r: 2 of 8 problems have fewer than 3 known answers (epochs)"
    assert (code, f"{shortage}, which pass@3 needs; they are left out" in stderr) == (0, True)
    found = evalcore.compare(scores(given), baseline="cot", pass_at=3)
    assert (only(found)["n"], only(found)["n_unknown"]) == (6, 2)


@pytest.mark.parametrize(
    ("given", "options", "message"),
    [
        pytest.param(
            {"cot": ["1", "0"], "pot": ["1111", "0000"]},
            ("--pass-at", "2"),
            "--pass-at 2: d, m, cot, r: 2 of 2 problems have fewer than 2 known answers",
            id="no problem of a method has enough answers",
        ),
        pytest.param(
            {"cot": ["1h", "00"], "pot": ["11", "00"]},
            ("--pass-hat", "2"),
            "--pass-hat 2: d, m, cot, r, id 0: value 0.5 is neither right nor wrong;"
            " set a limit with --right-from",
            id="an answer is graded",
        ),
        pytest.param(
            {"cot": ["11"], "pot": ["11"]},
            ("--pass-hat", "2", "--pass-at", "2"),
            "--pass-hat: not allowed with --pass-at",
            id="two rates at once",
        ),
    ],
)
def test_what_has_no_rate_is_refused(given: Letters, options: Sequence[str], message: str) -> None:
    code, stderr = compare_text(given, *options)
    assert (code, message in stderr) == (2, True)


def test_grades_are_right_from_a_limit_on() -> None:
    given = scores({"cot": ["hh", "00", "10"], "pot": ["11", "00", "10"]})
    found = only(evalcore.compare(given, baseline="cot", pass_hat=2, right_from=0.5))
    assert found["accuracy_baseline"] == pytest.approx(1 / 3)


WITHOUT_ANSWERS = {"cot": ["1-", "0-", "11"], "pot": ["11", "11", "00"]}


@pytest.mark.parametrize(("treatment", "mean"), [("wrong", 1 / 3), ("exclude", 1.0)])
def test_missing_answers_are_wrong_unless_they_are_excluded(treatment: Any, mean: float) -> None:
    row = compared(scores(WITHOUT_ANSWERS), pass_hat=2, no_answer=treatment)
    assert row["accuracy_baseline"] == pytest.approx(mean)


def test_missing_answers_that_are_wrong_are_told() -> None:
    _, stderr = compare_text(WITHOUT_ANSWERS, "--pass-hat", "2")
    assert "pass^2: 2 outputs without an answer counted as wrong" in stderr


@pytest.fixture
def outputs(tmp_path: Path) -> Path:
    lines = [
        {"id": str(number), "epoch": epoch, "output": f"The answer is {number * int(letter)}."}
        for number, letters in enumerate(FIRST, 1)
        for epoch, letter in enumerate(letters, 1)
    ]
    write_lines(tmp_path / "outputs/questions/m/cot.jsonl", *lines)
    questions = [{"id": str(n), "question": "?", "answer": n} for n in range(1, 7)]
    write_lines(tmp_path / "questions.jsonl", *questions)
    return tmp_path


def test_score_shows_both_rates_with_intervals(outputs: Path, subtests: pytest.Subtests) -> None:
    options = ("--data", outputs / "questions.jsonl", "--rule", "numbers")
    rates = ("--pass-at", "2", "--pass-hat", "2")
    code, stdout, _ = invoke("score", outputs / "outputs", *options, *rates)
    assert code == 0
    for all_right in (False, True):
        with subtests.test(all_right=all_right):
            rate = PassRate(2, all_right)
            values = [rate.estimate(4, letters.count("1")) for letters in FIRST]
            low, high = BoundedMean(values, 0, 1).estimate().limits
            shown = f"{100 * np.mean(values):.1f} [{100 * low:.1f}, {100 * high:.1f}]"
            assert rate.name in stdout
            assert shown in stdout


def test_score_keeps_its_rows_where_a_rate_is_not_known(outputs: Path) -> None:
    target = outputs / "scores.csv"
    options = ("--data", outputs / "questions.jsonl", "--rule", "numbers", "-o", target)
    code, _, stderr = invoke("score", outputs / "outputs", *options, "--pass-at", "5")
    shortage = "questions, m, cot, numbers: 6 of 6 problems have fewer than 5 known answers"
    assert (code, shortage in stderr) == (1, True)
    assert len(pd.read_csv(target)) == 24


def test_options_of_rates_need_a_positive_number() -> None:
    with pytest.raises(InputError, match="pass_at=0"):
        evalcore.compare(scores({"cot": ["1"], "pot": ["1"]}), baseline="cot", pass_at=0)
