"""Agreement of judges against other software, and definitions written out."""

from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import krippendorff
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.stats import t

from evalcore import agreement
from evalcore.commands.agreement import coefficient
from ngramscan.errors import InputError
from tests.support.sizes import sets, slow


def coefficients(rows: Any, **options: Any) -> pd.DataFrame:
    """Return the coefficients of a table with one row per item and one column per judge."""
    labels = pd.DataFrame(rows, dtype=object).add_prefix("j").reset_index(names="item")
    found = agreement(labels, **options)
    named = found[found["statistic"].str.contains("kappa|alpha")]
    return named.drop_duplicates("statistic").set_index("statistic")


labels = st.sampled_from([None, 1.0, 2.0, 4.0, 7.5])
tables = st.integers(2, 4).flatmap(
    lambda judges: st.lists(st.tuples(*[labels] * judges), min_size=1, max_size=9)
)


@given(tables, st.sampled_from(["nominal", "ordinal", "interval"]))
@settings(max_examples=60)
def test_alpha_is_that_of_the_package_krippendorff(rows: Any, level: Any) -> None:
    found = coefficients(rows, scale=level).loc["krippendorff_alpha"]
    data = np.array(rows, dtype=float)
    data[np.isfinite(data).sum(axis=1) < 2] = np.nan
    if len(np.unique(data[np.isfinite(data)])) < 2:
        reason = "not defined: all labels are the same" if found["items"] else "no items"
        assert pd.isna(found.value)
        assert found.note == f"{level}; {reason}"
    else:
        expected = krippendorff.alpha(data.T, level_of_measurement=level)
        assert found.value == pytest.approx(expected, abs=1e-10)


def disagreements(counts: NDArray[Any], weights: NDArray[Any]) -> NDArray[Any]:
    """Observed and expected disagreement of three judges, by Fleiss, about weighted items."""
    shares = weights @ counts / (3 * weights.sum())
    apart = weights @ (9 - (counts**2).sum(axis=1)) / (6 * weights.sum())
    return np.array([apart, 1 - (shares**2).sum()])


def test_limits_are_those_of_the_tilted_influences_of_items() -> None:
    codes = np.random.default_rng(5).integers(0, 3, size=(40, 3))
    found = coefficients(codes).loc["fleiss_kappa"]
    own = (codes[:, :, None] == np.arange(3)).sum(axis=1)
    items, weights = np.concatenate([own, 3 * np.eye(3, dtype=int)]), np.repeat([1.0, 0.0], [40, 3])
    observed, expected = disagreements(items, weights)
    assert found.value == pytest.approx(1 - observed / expected)
    # How the logarithms change with a little more of an item.
    step = 1e-6 * np.eye(43)
    more = [np.log(disagreements(items, weights + one)) for one in step]
    influences = 40 * (np.array(more) - np.log([observed, expected])) / 1e-6
    distances = []
    for limit, farthest in ((found.low, np.max), (found.high, np.min)):
        ratio, supposed = 1 - found.value, 1 - limit
        residuals = ratio * (influences[:, 0] - influences[:, 1])
        residuals += (ratio - supposed) * (1 + influences[:, 1])
        points = np.append(residuals[:40], farthest(residuals))

        def total(slope: float, points: NDArray[Any] = points) -> float:
            return float(np.exp(slope * points) @ points)

        tilted = np.exp(brentq(total, -30, 30) * points)
        error = np.sqrt(tilted @ points**2 / tilted.sum() / 40)
        distances.append(abs(residuals[:40].mean() / error))
    assert distances == pytest.approx([t.ppf(0.975, 39)] * 2, rel=1e-4)


def labelled(draw: np.random.Generator, n: int, shares: list[float], kappa: float) -> Any:
    """Return labels of three judges, any two of whom agree beyond chance with that kappa."""
    true = draw.choice(len(shares), size=(n, 1), p=shares)
    own = draw.choice(len(shares), size=(n, 3), p=shares)
    return np.where(draw.random((n, 3)) < np.sqrt(kappa), true, own)


class Measure(NamedTuple):
    """A coefficient: for how many judges, how far labels are apart, and what it adds for chance."""

    judges: int
    apart: Any
    surplus: int | None


MEASURES = {
    "Cohen": Measure(2, "nominal", None),
    "linear": Measure(2, "linear", None),
    "quadratic": Measure(2, "quadratic", None),
    "Fleiss": Measure(3, "nominal", 0),
    "alpha": Measure(3, "interval", 1),
}


def coverage(name: str, n: int, share: float, kappa: float, runs: int, labels: int = 5) -> float:
    """Return the share of intervals with the true kappa in them, among those that are given."""
    draw, covered, measure = np.random.default_rng(8), [], MEASURES[name]
    shares = [share, *[(1 - share) / (labels - 1)] * (labels - 1)]
    for _ in range(runs):
        codes = labelled(draw, n, shares, kappa)[:, : measure.judges]
        values = np.arange(float(len(shares)))
        _, _, low, high, _ = coefficient(codes, values, measure.apart, measure.surplus)
        if low is not None and high is not None:
            covered.append(low <= kappa <= high)
    assert len(covered) > 0.04 * runs
    return float(np.mean(covered))


MANY = product(MEASURES, [0.5, 0.8, 0.9, 0.95], [0.0, 0.4, 0.8])
TWO_LABELS = product(["Cohen", "Fleiss", "alpha"], [0.5, 0.95], [0.0, 0.4, 0.8])
QUICK = [("Cohen", 0.95, 0.4), ("alpha", 0.95, 0.8)]


@pytest.mark.parametrize(
    ("name", "share", "kappa"), [each if each in QUICK else slow(*each) for each in TWO_LABELS]
)
def test_intervals_of_rare_labels_are_not_too_wide(name: str, share: float, kappa: float) -> None:
    runs = sets(80)
    covered = coverage(name, 200, share, kappa, runs, labels=2)
    chance = 2 * np.sqrt(0.05 * 0.95 / runs)
    assert 0.93 - chance <= covered <= min(0.975 + chance, 0.9999)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "share", "kappa"), list(MANY))
def test_intervals_cover_kappas_in_many_runs(name: str, share: float, kappa: float) -> None:
    if not (name != "alpha" and share == 0.95 and kappa == 0.8):  # one of 30 has an interval
        assert coverage(name, 30, share, kappa, 800) >= 0.87
    assert coverage(name, 200, share, kappa, 800) >= 0.92


def weighted_by_definition(pairs: list[tuple[str, str]], worth: dict[str, float], k: int) -> float:
    seen = [abs(worth[a] - worth[b]) ** k for a, b in pairs]
    mixed = [abs(worth[a] - worth[b]) ** k for a, _ in pairs for _, b in pairs]
    return float(1 - np.mean(seen) / np.mean(mixed))


@pytest.mark.parametrize(("k", "weights"), [(1, "linear"), (2, "quadratic")])
def test_weights_count_numbers_by_value_and_others_by_their_order(k: int, weights: str) -> None:
    words = [("low", "low"), ("mid", "high"), ("high", "high"), ("low", "mid"), ("high", "mid")] * 3
    places, values = {"low": 0.0, "mid": 1.0, "high": 2.0}, {"low": 1.0, "mid": 2.0, "high": 9.0}
    by_order = coefficients(words, weights=weights, scale="ordinal", order="low, mid,high")
    row = by_order.loc["weighted_kappa"]
    assert row.value == pytest.approx(weighted_by_definition(words, places, k))
    assert (row.note, row.judges, row["items"]) == (f"{weights} weights", "j0 · j1", 15)
    assert row.low < row.value < row.high
    alpha, pairs = by_order.loc["krippendorff_alpha"], [[places[a], places[b]] for a, b in words]
    theirs = krippendorff.alpha(np.array(pairs, dtype=float).T, level_of_measurement="ordinal")
    assert alpha.value == pytest.approx(theirs)
    assert alpha.note == "ordinal"
    numbers = [(values[a], values[b]) for a, b in words]
    by_value = coefficients(numbers, weights=weights).value
    assert by_value["weighted_kappa"] == pytest.approx(weighted_by_definition(words, values, k))
    assert by_value["cohen_kappa"] == by_order.value["cohen_kappa"]


MANY_LABELS = "item,judge,label\n" + "".join(f"{n},x,{n}\n{n},y,{n}\n" for n in range(51))


@pytest.mark.parametrize(
    ("name", "content", "options", "message"),
    [
        ("no.csv", None, {}, "no such file"),
        ("l.txt", "item\n", {}, r"a table \(\.csv, \.jsonl or"),
        ("l.csv", "item,judge,label\n", {}, "no rows"),
        ("l.csv", "a,b\n1,2\n", {}, "the columns are a, b; expected item, judge and label, or"),
        ("l.csv", "item\n1\n", {}, "the columns are item; expected item, judge and label, or"),
        ("l.csv", "item,judge,label\n1,x,a\n,y,a\n", {}, r"l\.csv:3: no item"),
        (
            "l.csv",
            "item,judge,label\n1,x,a\n1,x,b\n",
            {},
            r"l\.csv:3: item '1' already has a label of x at",
        ),
        ("l.csv", "item,judge,label\n1,x,a\n2,x,b\n", {}, "judges: 1; expected at least two"),
        ("l.jsonl", '{"item": 1, "x": [1], "y": 2}', {}, r"label \[1\]; expected text or"),
        (
            "l.jsonl",
            '{"dataset":"d","model":"m","method":"a","id":"1","rule":"r","value":1}',
            {},
            r"l\.jsonl:1: rule r; expected rows of `evalcore judge`",
        ),
        (
            "l.csv",
            "item,judge,label\n1,x,a\n1,y,3\n",
            {"scale": "interval"},
            "'a' is not a number$",
        ),
        (
            "l.csv",
            "item,judge,label\n1,x,a\n1,y,3\n",
            {"scale": "ordinal"},
            "'a' is not a number; give the order of labels with order",
        ),
        (
            "l.csv",
            "item,judge,label\n1,x,a\n1,y,3\n",
            {"weights": "linear"},
            "weights=\"linear\": label 'a' is not a number",
        ),
        (
            "l.csv",
            "item,judge,label\n1,x,a\n1,y,b\n",
            {"scale": "ordinal", "order": "a"},
            "order: expected each label once: a, b",
        ),
        (
            "l.csv",
            "item,judge,label\n1,x,a\n1,y,b\n",
            {"scale": "ordinal", "order": "a,b,a"},
            "expected each label once: a, b",
        ),
        (
            "l.csv",
            "item,judge,label\n1,x,a\n1,y,b\n",
            {"order": "a,b"},
            'order: not used by scale="nominal"',
        ),
        (
            "l.csv",
            "item,judge,label\n1,x,a\n1,y,b\n",
            {"scale": "interval", "order": "a,b"},
            'order: not used by scale="interval", but by ordinal',
        ),
        (
            "l.csv",
            MANY_LABELS,
            {},
            "51 different ones; at most 50",
        ),
    ],
)
def test_what_can_not_be_used_is_refused(
    tmp_path: Path, name: str, content: str | None, options: dict[str, Any], message: str
) -> None:
    if content is not None:
        (tmp_path / name).write_text(content)
    with pytest.raises(InputError, match=message):
        agreement(tmp_path / name, **options)
    with pytest.raises(InputError, match="judges: 0; expected at least two"):
        agreement([])
