"""Recorded outputs of real models score what the authors of the benchmarks published."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pandas as pd
import pytest

import evalcore

MODELS = (
    "gpt-4o",
    "claude-3-5-sonnet-20240620",
    "deepseek-chat",
    "Meta-Llama-3-70B-Instruct",
    "Qwen2-7B-Instruct",
    "gemma-7b-it",
)


def published(folder: Path, method: str) -> dict[str, tuple[float, float]]:
    path = folder / "results" / f"validation_{method}_results.json"
    return {
        entry["model_name"]: (entry["accuracy"], entry["execution_rate"])
        for entry in json.loads(path.read_text())
    }


def verdicts(folder: Path, method: str, model: str) -> dict[str, float]:
    path = folder / "validation" / f"processed_{method}_outputs" / f"{model}.json"
    return {
        entry["question_id"]: float(entry["result"]["acc"])
        for entry in json.loads(path.read_text())
    }


def count_no_answer_as_wrong(rows: pd.DataFrame) -> pd.DataFrame:
    """The authors count an empty output as wrong; 43 of one model are."""
    assert (rows["value"].isna() == (rows["status"] == "no_answer")).all()
    assert set(rows.loc[rows["value"].isna(), "model"]) == {"Qwen2-7B-Instruct"}
    return rows.assign(value=rows["value"].fillna(0.0))


def recorded_texts(folder: Path, method: str, model: str) -> dict[str, str]:
    path = folder / "validation" / f"raw_{method}_outputs" / f"{model}.json"
    return {entry["question_id"]: entry["output"][0] for entry in json.loads(path.read_text())}


@pytest.mark.usefixtures("sandbox_here")
def test_programs_for_financemath(shared: Path) -> None:
    folder = shared / "data" / "financemath"
    rows = evalcore.score(
        folder / "validation" / "raw_pot_outputs",
        dataset="financemath",
        data=folder / "validation.json",
        layout="financemath",
        method="pot",
        rule=["strict", "lenient"],
    )
    assert len(rows) == 2 * 6 * 200
    rows = count_no_answer_as_wrong(rows)
    lenient = rows[rows["rule"] == "lenient"]
    expected = published(folder, "pot")
    disagreements = 0
    for model in MODELS:
        own = lenient[lenient["model"] == model].set_index("id")
        executed = own["answer"].notna()
        assert (100 * own["value"].mean(), 100 * executed.mean()) == pytest.approx(
            expected[model], abs=1e-9
        )
        known = verdicts(folder, "pot", model)
        disagreements += sum(own["value"][name] != value for name, value in known.items())
    assert disagreements <= 1, "of 1,200: at least 99.9 % agree"
    strict = rows[rows["rule"] == "strict"].groupby("model")["value"].mean() * 100
    assert strict["gpt-4o"] == pytest.approx(46.5)
    assert strict["claude-3-5-sonnet-20240620"] == pytest.approx(33.5)


def test_texts_for_financemath(shared: Path) -> None:
    folder = shared / "data" / "financemath"
    rows = evalcore.score(
        folder / "validation" / "raw_cot_outputs",
        dataset="financemath",
        data=folder / "validation.json",
        layout="financemath",
        method="cot",
        rule="lenient",
    )
    assert (rows["extraction"].notna() == rows["answer"].notna()).all()
    rows = count_no_answer_as_wrong(rows)
    expected = published(folder, "cot")
    for model in MODELS:
        own = rows[rows["model"] == model].set_index("id")
        known = verdicts(folder, "cot", model)
        agreeing = sum(own["value"][name] == value for name, value in known.items())
        assert agreeing >= 0.985 * 200, model
        assert 100 * own["value"].mean() == pytest.approx(expected[model][0], abs=0.51), model
        unanswered = own[own["answer"].isna()]
        outputs = recorded_texts(folder, "cot", model)
        assert not any(re.search(r"\d", outputs[name]) for name in unanswered.index), model


@pytest.mark.parametrize(("method", "accuracy"), [("direct", 50.4), ("cot", 40.4)])
def test_word_sorting(shared: Path, method: str, accuracy: float) -> None:
    folder = shared / "data" / "bbh"
    rows = evalcore.score(
        folder / f"code-davinci-002-{method}",
        dataset="bbh-word-sorting",
        data=folder / "word_sorting.json",
        layout="bbh",
    )
    assert len(rows) == 250
    assert 100 * rows["value"].mean() == pytest.approx(accuracy)
    assert (rows["method"] == method).all()
