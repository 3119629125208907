"""Labels of people for outputs that a judge scored: reading them, and what they correct."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import evalcore
from ngramscan.errors import IncompleteError, InputError
from ngramscan.statistics.judged_means import JudgedMean
from tests.support.command import invoke

N, LABELLED = 60, 24


def made(methods: tuple[str, ...] = ("cot", "f-1"), model: str = "m") -> pd.DataFrame:
    """Return a judge's verdicts, and in the column `truth` those of people."""
    generator = np.random.default_rng(4)
    rows = pd.DataFrame(
        [
            {"dataset": "d", "model": model, "method": method, "id": str(number)}
            for method in methods
            for number in range(N)
        ]
    )
    truth = (generator.random(len(rows)) < 0.6).astype(float)
    errs = generator.random(len(rows)) < 0.15
    return rows.assign(rule="judge:j", value=np.where(errs, 1 - truth, truth), truth=truth)


def labels_of(scores: pd.DataFrame, first: int = LABELLED, *columns: str) -> pd.DataFrame:
    """Return people's labels of the first problems."""
    labelled = scores[scores["id"].astype(int) < first]
    return labelled[["id", "method", *columns]].assign(label=labelled["truth"])


SCORES = made()
JUDGED = SCORES.drop(columns="truth")
LABELS = labels_of(SCORES)


def compared(labels: Any, scores: pd.DataFrame = JUDGED, **options: Any) -> dict[str, Any]:
    rows = evalcore.compare(scores, baseline="cot", labels=labels, **options)
    return {str(name): value for name, value in rows.iloc[0].items()}


def expected_difference() -> JudgedMean:
    sides = {method: part.reset_index() for method, part in SCORES.groupby("method")}
    judged = sides["f-1"]["value"] - sides["cot"]["value"]
    truth = (sides["f-1"]["truth"] - sides["cot"]["truth"]).where(np.arange(N) < LABELLED)
    return JudgedMean(judged, truth, -1, 1)


def test_a_comparison_is_corrected_by_labels_of_both_outputs() -> None:
    row, expected = compared(LABELS), expected_difference()
    low, high = expected.estimate().limits
    p = expected.test(0.0)
    assert row["n_labelled"] == LABELLED
    assert [row["difference"], row["difference_low"], row["difference_high"]] == pytest.approx(
        [expected.value, low, high]
    )
    assert [row["p"], row["p_holm"]] == pytest.approx([p.value] * 2)
    assert row["judge_weight"] == pytest.approx(expected.judge_weight)
    assert row["difference_judged"] == pytest.approx(expected.judged)
    assert row["accuracy_treatment"] - row["accuracy_baseline"] == pytest.approx(expected.value)
    assert row["test"] == "judge corrected by labels, tilting"
    assert "p_exact" not in row


def test_without_labels_the_columns_of_the_correction_are_empty() -> None:
    left_out = evalcore.compare(JUDGED, baseline="cot").attrs["left_out"]
    assert {"n_labelled", "judge_weight", "difference_judged"} <= {*left_out}


WIDE = LABELS.pivot_table(index="id", columns="method", values="label").reset_index()
WORDS = LABELS.assign(label=LABELS["label"].map({1.0: "Right", 0.0: "wrong"}))
NAMED = labels_of(SCORES, LABELLED, "dataset", "model").rename(columns={"label": "value"})


@pytest.mark.parametrize(
    "labels",
    [
        pytest.param(WIDE, id="a column for each method"),
        pytest.param(WORDS, id="words"),
        pytest.param(NAMED, id="with names, and a column value"),
        pytest.param(NAMED.assign(rule="anna"), id="as rows of scores"),
        pytest.param(LABELS.sample(frac=1, random_state=1), id="in another order"),
        pytest.param(
            pd.concat([LABELS, pd.DataFrame([{"id": "50", "method": "cot", "label": None}])]),
            id="with an empty cell, which is no label",
        ),
    ],
)
def test_labels_have_the_forms_of_scores(labels: pd.DataFrame) -> None:
    assert compared(labels)["difference"] == pytest.approx(expected_difference().value)


@pytest.mark.parametrize(
    ("labels", "scores", "message"),
    [
        pytest.param(
            pd.concat([LABELS, LABELS[:1]]),
            JUDGED,
            "id 0 of cot already has a label",
            id="two labels of one output",
        ),
        pytest.param(
            LABELS,
            pd.concat([JUDGED, JUDGED.assign(model="other")]),
            "2 outputs may be meant; add a column dataset or model or epoch",
            id="a label that may be about two models",
        ),
        pytest.param(
            LABELS.assign(id="x" + LABELS["id"]),
            JUDGED,
            "no label is about an output of the scores, such as method cot, id x0",
            id="ids of something else",
        ),
        pytest.param(
            LABELS.assign(label=None), JUDGED, "no row has a label", id="nothing but empty cells"
        ),
        pytest.param(
            LABELS.assign(label=6),
            JUDGED,
            "value is 6.*a number from 0 to 1",
            id="points that are no fractions",
        ),
        pytest.param(
            LABELS.assign(hash="a"),
            JUDGED.assign(hash="b"),
            "id 0 of cot is about another document in the scores: their hashes differ",
            id="another document of the same id",
        ),
    ],
)
def test_labels_that_are_not_clear_are_refused(
    labels: pd.DataFrame, scores: pd.DataFrame, message: str
) -> None:
    with pytest.raises(InputError, match=message):
        compared(labels, scores)


def test_few_labels_give_no_interval_and_show_nothing() -> None:
    row = compared(labels_of(SCORES, 9))
    assert pd.isna([row["difference_low"], row["difference_high"]]).all()
    assert (row["p"], row["p_holm"]) == (1.0, 1.0)
    assert row["note"] == "no interval: 9 labelled problems; 10 are needed"


def test_a_pair_of_methods_without_labels_is_missing_and_not_zero() -> None:
    scores = made(("cot", "f-1", "pot"))
    labels = labels_of(scores[scores["method"] != "pot"])
    missing = "pot − cot: nothing to compare; no pair has labels"
    with pytest.raises(IncompleteError, match=missing) as error:
        evalcore.compare(scores.drop(columns="truth"), baseline="cot", labels=labels)
    assert [*error.value.rows["treatment"]] == ["f-1"]


def test_outputs_without_an_answer_are_wrong_and_need_no_label() -> None:
    lacks = (JUDGED["method"] == "cot") & (JUDGED["id"].astype(int) % 4 == 0)
    scores = JUDGED.assign(value=JUDGED["value"].mask(lacks), status="scored")
    scores.loc[lacks, "status"] = "no_answer"
    labels = LABELS[~lacks.loc[LABELS.index]]
    assert compared(labels, scores)["n_labelled"] == LABELLED
    excluded = compared(labels, scores, no_answer="exclude")
    assert excluded["n_labelled"] == LABELLED - len(range(0, LABELLED, 4))


def test_ranks_use_corrected_accuracies() -> None:
    row = evalcore.rank(JUDGED, labels=LABELS).set_index("method").loc["cot"]
    own = SCORES[SCORES["method"] == "cot"]
    truth = own["truth"].where(np.arange(N) < LABELLED)
    expected = JudgedMean(own["value"], truth, 0, 1)
    assert row["accuracy"] == pytest.approx(expected.value)
    assert row["accuracy_low"] == pytest.approx(expected.estimate().limits[0])
    assert [row["n_labelled"], row["accuracy_judged"]] == [LABELLED, own["value"].mean()]


def test_what_cannot_be_corrected_is_not_ranked() -> None:
    labels = LABELS[LABELS["method"] == "cot"]
    with pytest.raises(InputError, match="nothing to rank; d, m, judge:j: no label of m, f-1"):
        evalcore.rank(JUDGED, labels=labels, of="methods")


def test_labelled_outputs_unlike_the_others_give_a_warning(tmp_path: Path) -> None:
    JUDGED.to_csv(tmp_path / "s.csv", index=False)
    chosen = SCORES[(SCORES["value"] == 0) | (SCORES["id"] == "59")]
    chosen[["id", "method"]].assign(label=chosen["truth"]).to_csv(tmp_path / "l.csv", index=False)
    done = invoke(
        "compare",
        tmp_path / "s.csv",
        "--baseline",
        "cot",
        "--labels",
        tmp_path / "l.csv",
    )
    said = " ".join(done.stderr.split())
    assert "have labels of people, which must be a random part of those with an answer" in said
    assert "Warning: d, m, cot, judge:j: the mean score of labelled and of other outputs is" in said
