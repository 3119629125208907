"""Recorded outputs of real models score what the authors of the benchmarks published."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, cast

import pandas as pd
import pytest

import evalcore


def read(path: Path) -> Any:
    return json.loads(path.read_text())


def score(shared: Path, method: str, rule: list[str]) -> tuple[pd.DataFrame, pd.DataFrame, Any]:
    """Return our rows, and the published accuracies of models and verdicts on outputs."""
    folder = shared / "data" / "financemath"
    given: dict[str, Any] = {"dataset": "financemath", "layout": "financemath", "method": method}
    given |= {"data": folder / "validation.json", "rule": rule}
    rows = evalcore.score(folder / f"validation/raw_{method}_outputs", **given)
    assert len(rows) == len(rule) * 6 * 200
    # The authors count an empty output as wrong; 43 of one model are.
    assert (rows["value"].isna() == (rows["status"] == "no_answer")).all()
    assert set(rows.loc[rows["value"].isna(), "model"]) == {"Qwen2-7B-Instruct"}
    rates = pd.DataFrame(read(folder / "results" / f"validation_{method}_results.json"))
    verdicts = {
        (path.stem, entry["question_id"]): float(entry["result"]["acc"])
        for path in (folder / "validation" / f"processed_{method}_outputs").glob("*.json")
        for entry in read(path)
    }
    rows = rows.assign(value=rows["value"].fillna(0.0)).set_index(["rule", "model", "id"])
    return rows, rates.set_index("model_name"), pd.Series(verdicts)


@pytest.mark.usefixtures("sandbox_here")
def test_programs_for_financemath(shared: Path) -> None:
    rows, published, verdicts = score(shared, "pot", ["strict", "lenient"])
    lenient, strict = rows.loc["lenient"], rows.loc["strict"].groupby("model")["value"].mean()
    for model, own in lenient.groupby("model"):
        shares = (100 * own["value"].mean(), 100 * own["answer"].notna().mean())
        assert shares == pytest.approx(tuple(published.loc[model, ["accuracy", "execution_rate"]]))
    assert (lenient["value"] != verdicts[lenient.index]).sum() <= 1, "at least 99.9 % agree"
    models = ["gpt-4o", "claude-3-5-sonnet-20240620"]
    assert (100 * strict[models]).tolist() == pytest.approx([46.5, 33.5])


def test_texts_for_financemath(shared: Path) -> None:
    rows, published, verdicts = score(shared, "cot", ["lenient"])
    assert (rows["extraction"].notna() == rows["answer"].notna()).all()
    outputs = shared / "data/financemath/validation/raw_cot_outputs"
    for model, own in cast("Any", rows.loc["lenient"].groupby("model")):
        assert (own["value"] == verdicts[own.index]).mean() >= 0.985, model
        assert 100 * own["value"].mean() == pytest.approx(published["accuracy"][model], abs=0.51)
        texts = {one["question_id"]: one["output"][0] for one in read(outputs / f"{model}.json")}
        unanswered = own[own["answer"].isna()].index.get_level_values("id")
        assert not any(re.search(r"\d", texts[name]) for name in unanswered), model


@pytest.mark.parametrize(("method", "accuracy"), [("direct", 50.4), ("cot", 40.4)])
def test_word_sorting(shared: Path, method: str, accuracy: float) -> None:
    folder = shared / "data" / "bbh"
    given: dict[str, Any] = {"dataset": "bbh-word-sorting", "data": folder / "word_sorting.json"}
    rows: Any = evalcore.score(folder / f"code-davinci-002-{method}", **given, layout="bbh")
    assert (len(rows), set(rows["method"])) == (250, {method})
    assert 100 * rows["value"].mean() == pytest.approx(accuracy)
