"""Agreement of judges against other software, and definitions written out."""

import json
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
from statsmodels.stats.inter_rater import cohens_kappa, fleiss_kappa
from statsmodels.stats.proportion import proportion_confint

from evalcore import agreement
from evalcore.commands.agreement import coefficient
from ngramscan.errors import InputError
from tests.support.command import invoke
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


# Krippendorff's example of four judges and twelve units, with labels missing.
CANONICAL = [
    *("11.1", "2232", "3333", "3333", "2222", "1234"),
    *("4444", "1121", "2222", ".555", "..11", ".3.."),
]


@pytest.mark.parametrize(
    ("level", "alpha"), [("nominal", 0.743), ("ordinal", 0.815), ("interval", 0.849)]
)
def test_alpha_of_the_textbook_example(level: str, alpha: float) -> None:
    rows = [[None if label == "." else label for label in unit] for unit in CANONICAL]
    found = coefficients(rows, scale=level).loc["krippendorff_alpha"]
    assert found.value == pytest.approx(alpha, abs=5e-4)
    assert found["items"] == 11, "a unit with one label can't be compared"
    assert found.low < alpha < found.high


triples = st.lists(st.tuples(*[st.integers(0, 3)] * 3), min_size=2, max_size=20)


@given(triples, st.sampled_from(["linear", "quadratic"]))
@settings(max_examples=60)
def test_kappas_are_those_of_statsmodels(rows: list[tuple[int, ...]], weights: str) -> None:
    table, codes, pairs = coefficients(rows, weights=weights), np.array(rows), np.zeros((4, 4))
    np.add.at(pairs, (codes[:, 0], codes[:, 1]), 1)
    counts = (codes[:, :, None] == np.arange(4)).sum(axis=1)
    vary, differ = (len(np.unique(codes[:, :judges])) > 1 for judges in (3, 2))
    expected = {"fleiss_kappa": fleiss_kappa(counts) if vary else None}
    for name, weight in (("cohen_kappa", None), ("weighted_kappa", weights)):
        kappa = cohens_kappa(pairs, wt=weight, return_results=False) if differ else None
        expected[name] = kappa
    values = {name: None if pd.isna(table.value[name]) else table.value[name] for name in expected}
    assert values == pytest.approx(expected, abs=1e-10)
    undefined = [name for name, value in expected.items() if value is None]
    notes = {name: table.note[name] for name in undefined}
    reason = "not defined: all labels are the same"
    assert [name for name, note in notes.items() if reason in note] == undefined, notes


def test_items_without_all_labels_are_in_no_kappa_in_whatever_order() -> None:
    rows = [[0, 0], [1, 1], [0, 1], [1, 1]] * 5
    few = coefficients(rows)
    pd.testing.assert_frame_equal(few, coefficients(rows[::-1]))
    many = coefficients([*rows, [None, 1], [0, None]])
    kappas, columns = ["cohen_kappa", "fleiss_kappa"], ["items", "value", "low", "high"]
    pd.testing.assert_frame_equal(many.loc[kappas, columns], few.loc[kappas, columns])


@pytest.mark.parametrize(
    ("rows", "note"),
    [
        pytest.param([[0, 0], [1, 1]] * 4, "8 items; 10 are needed", id="few items"),
        pytest.param([[0, 0], [1, 1]] * 20, "all items give the same value", id="equal labels"),
        pytest.param([[0, 1]] * 20, "all items give the same value", id="opposite labels"),
        pytest.param(
            [[0, 0]] * 30 + [[0, 1], [1, 1], [1, 0], [1, 1]],
            "all but 4 of 34 items have the same labels",
            id="rare labels",
        ),
    ],
)
def test_where_there_is_no_interval_a_note_says_why(rows: list[list[int]], note: str) -> None:
    found = coefficients(rows, scale="ordinal")
    assert found.value.notna().all()
    assert found.low.isna().all()
    assert found.note.str.endswith(f"no interval: {note}").all()


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
        pytest.param("no.csv", None, {}, "no such file", id="no file"),
        pytest.param("l.txt", "item\n", {}, r"a table \(\.csv, \.jsonl or", id="another suffix"),
        pytest.param("l.csv", "item,judge,label\n", {}, "no rows", id="no rows"),
        pytest.param(
            "l.csv",
            "a,b\n1,2\n",
            {},
            "the columns are a, b; expected item, judge and label, or",
            id="two unknown columns",
        ),
        pytest.param(
            "l.csv",
            "item\n1\n",
            {},
            "the columns are item; expected item, judge and label, or",
            id="one column",
        ),
        pytest.param(
            "l.csv", "item,judge,label\n1,x,a\n,y,a\n", {}, r"l\.csv:3: no item", id="no item"
        ),
        pytest.param(
            "l.csv",
            "item,judge,label\n1,x,a\n1,x,b\n",
            {},
            r"l\.csv:3: item '1' already has a label of x at",
            id="two labels of a judge",
        ),
        pytest.param(
            "l.csv",
            "item,judge,label\n1,x,a\n2,x,b\n",
            {},
            "judges: 1; expected at least two",
            id="one judge",
        ),
        pytest.param(
            "l.jsonl",
            '{"item": 1, "x": [1], "y": 2}',
            {},
            r"label \[1\]; expected text or",
            id="a list as label",
        ),
        pytest.param(
            "l.jsonl",
            '{"dataset":"d","model":"m","method":"a","id":"1","rule":"r","value":1}',
            {},
            r"l\.jsonl:1: rule r; expected rows of `evalcore judge`",
            id="rows of another command",
        ),
        pytest.param(
            "l.csv",
            "item,judge,label\n1,x,a\n1,y,3\n",
            {"scale": "interval"},
            "'a' is not a number$",
            id="no number on an interval scale",
        ),
        pytest.param(
            "l.csv",
            "item,judge,label\n1,x,a\n1,y,3\n",
            {"scale": "ordinal"},
            "'a' is not a number; give the order of labels with order",
            id="no number on an ordinal scale",
        ),
        pytest.param(
            "l.csv",
            "item,judge,label\n1,x,a\n1,y,3\n",
            {"weights": "linear"},
            "weights=\"linear\": label 'a' is not a number",
            id="no number to weigh",
        ),
        pytest.param(
            "l.csv",
            "item,judge,label\n1,x,a\n1,y,b\n",
            {"scale": "ordinal", "order": "a"},
            "order: expected each label once: a, b",
            id="too few labels in the order",
        ),
        pytest.param(
            "l.csv",
            "item,judge,label\n1,x,a\n1,y,b\n",
            {"scale": "ordinal", "order": "a,b,a"},
            "expected each label once: a, b",
            id="a label twice in the order",
        ),
        pytest.param(
            "l.csv",
            "item,judge,label\n1,x,a\n1,y,b\n",
            {"order": "a,b"},
            'order: not used by scale="nominal"',
            id="an order of a nominal scale",
        ),
        pytest.param(
            "l.csv",
            "item,judge,label\n1,x,a\n1,y,b\n",
            {"scale": "interval", "order": "a,b"},
            'order: not used by scale="interval", but by ordinal',
            id="an order of an interval scale",
        ),
        pytest.param(
            "l.csv", MANY_LABELS, {}, "51 different ones; at most 50", id="too many labels"
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


def test_no_labels_are_refused() -> None:
    with pytest.raises(InputError, match="judges: 0; expected at least two"):
        agreement([])


# Of each item, the labels of the judges x, y and z; a dot is a missing one.
LABELS = {"1": "aab", "2": "aaa", "3": "bbb", "4": "ab.", "5": "ab.", "6": ".a."}
CELLS = [
    (item, judge, None if label == "." else label)
    for item, given in LABELS.items()
    for judge, label in zip("xyz", given, strict=True)
]
JUDGED = [
    {"dataset": "d", "model": "m", "method": "f-1", "epoch": None, "value": None, "id": item}
    | {"rule": f"judge:{judge}", "answer": label}
    for item, judge, label in CELLS
]
PLAIN = [{"item": item, "judge": judge, "label": label} for item, judge, label in CELLS]
LONG = "item,judge,label\n" + "".join(
    f"{item},{judge},{label or ''}\n" for item, judge, label in CELLS
)
WIDE = "item,x,y,z\n" + "".join(
    f"{item},{','.join(given.replace('.', ' '))}\n" for item, given in LABELS.items()
)
FORMS = {
    "labels.csv": LONG,
    "wide.csv": WIDE,
    "judged.jsonl": "".join(json.dumps(row) + "\n" for row in JUDGED),
    "labels.jsonl": "".join(json.dumps(row) + "\n" for row in PLAIN),
}


@pytest.mark.parametrize("name", FORMS)
def test_all_forms_of_labels_give_the_same_rows(
    tmp_path: Path, name: str, subtests: pytest.Subtests
) -> None:
    path, votes = tmp_path / name, tmp_path / "votes.csv"
    path.write_text(FORMS[name])
    rows = json.loads(agreement(path, votes=votes).to_json(orient="records", double_precision=15))
    by_key = {(row["statistic"], row["judges"], row["label"]): row for row in rows}
    shares = {
        ("unanimous", "all", None): (2, 3),
        ("majority", "all", "a"): (3, 6),
        ("majority", "all", "b"): (1, 6),
        ("majority", "all", None): (2, 6),
        ("share", "x", "a"): (4, 5),
        ("share", "x", "b"): (1, 5),
        ("share", "y", "a"): (3, 6),
        ("missing", "z", None): (3, 6),
    }
    assert {key: (by_key[key]["count"], by_key[key]["items"]) for key in shares} == shares
    for key, (count, items) in shares.items():
        with subtests.test(key=key):
            low, high = proportion_confint(count, items, method="wilson")
            values = [by_key[key][column] for column in ("value", "low", "high")]
            assert values == pytest.approx([count / items, low, high], abs=1e-9)
    assert by_key["majority", "all", None]["note"] == "tied votes"
    assert ("missing", "y", None) not in by_key
    pair = by_key["cohen_kappa", "x · y", None]
    assert (pair["items"], pair["value"], pair["low"]) == (5, pytest.approx(2 / 7), None)
    assert pair["note"] == "no interval: 5 items; 10 are needed"
    assert by_key["fleiss_kappa", "all", None]["items"] == 3
    assert by_key["krippendorff_alpha", "all", None]["items"] == 5
    # The label that most judges give, how many give it, and how many judges there are.
    table = pd.read_csv(votes, dtype=str, keep_default_na=False)
    assert [tuple(row) for row in table[["label", "votes", "judges"]].to_numpy()] == [
        ("a", "2", "3"),
        ("a", "3", "3"),
        ("b", "3", "3"),
        ("", "1", "2"),
        ("", "1", "2"),
        ("a", "1", "1"),
    ]
    assert all(item.endswith(str(number)) for number, item in enumerate(table["item"], 1))


def test_the_command_prints_rows(tmp_path: Path) -> None:
    path = tmp_path / "labels.csv"
    path.write_text(LONG)
    done = invoke("agreement", path)
    assert (done.code, "cohen kappa" in done.stdout, done.stderr) == (0, True, "")
    shares = [line.split() for line in done.stdout.splitlines() if "unanimous" in line]
    assert shares == [["unanimous", "all", "3", "2", "66.7", "[20.8,", "93.9]"]]
    assert "krippendorff alpha: nominal; no interval: 5 items; 10 are needed" in done.stdout
