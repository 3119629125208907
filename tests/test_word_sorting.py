from __future__ import annotations

import json
from pathlib import Path

import pytest

from evalcore.extraction import BBH_RULES, extract
from evalcore.scoring.words import exact


@pytest.mark.parametrize(
    ("answer", "value", "reason"),
    [
        pytest.param("ant bee cat", 1.0, "equal", id="the same words"),
        pytest.param(" ant bee cat.\n", 1.0, "equal", id="white space and a full stop at the ends"),
        pytest.param("bee ant cat", 0.0, "the same words in another order", id="another order"),
        pytest.param("ant bee", 0.0, "other words", id="a word is missing"),
        pytest.param("ant bee bee cat", 0.0, "other words", id="a word twice"),
        pytest.param("Ant bee cat", 0.0, "other words", id="a capital"),
        pytest.param("ant, bee, cat", 0.0, "other words", id="commas"),
        pytest.param("", 0.0, "other words", id="nothing"),
    ],
)
def test_words_are_compared_to_the_letter(answer: str, value: float, reason: str) -> None:
    verdict = exact(answer, "ant bee cat")
    assert (verdict.value, verdict.reason) == (value, reason)


@pytest.mark.parametrize(
    ("folder", "accuracy", "without_answer"),
    [
        pytest.param("code-davinci-002-direct", 50.4, 0, id="direct prompts"),
        pytest.param("code-davinci-002-cot", 40.4, 146, id="chain of thought"),
    ],
)
def test_recorded_outputs_give_the_published_accuracy(
    shared: Path, folder: str, accuracy: float, without_answer: int
) -> None:
    (file,) = (shared / "data" / "bbh" / folder).glob("*.json")
    outputs = json.loads(file.read_text(encoding="utf-8"))["outputs"]
    answers = [extract(output["prediction"], BBH_RULES) for output in outputs]
    right = sum(
        exact(answer.text, output["target"]).value or 0
        for answer, output in zip(answers, outputs, strict=True)
        if answer
    )
    assert answers.count(None) == without_answer
    assert right * 100 / len(outputs) == pytest.approx(accuracy)
