"""Agreement of judges against statsmodels, definitions written out, and published figures."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from statsmodels.stats.inter_rater import cohens_kappa
from statsmodels.stats.inter_rater import fleiss_kappa as fleiss_oracle

from evalcore.cli.agreement import agreement_command
from evalcore.commands.agreements import agreement
from evalcore.kappas import (
    Coefficient,
    Level,
    Weights,
    cohen_kappa,
    fleiss_kappa,
    krippendorff_alpha,
    label_counts,
)
from evalcore.statistics import Resampling
from ngramscan.errors import InputError
from ngramscan.output.options import Group

FEW = Resampling(draws=100)
FOUR = np.arange(4.0)
MAIN = Group(commands=[agreement_command])
LONG = "item,judge,label\n"
# Krippendorff's example of four judges and twelve units, with labels missing.
CANONICAL = """
1 2 3 3 2 1 4 1 2 . . .
1 2 3 3 2 2 4 1 2 5 . 3
. 3 3 3 2 3 4 2 2 5 1 .
1 2 3 3 2 4 4 1 2 5 1 .
"""


def codes_of(rows: list[list[int]]) -> np.ndarray:
    return np.array(rows, dtype=np.int64)


def canonical() -> np.ndarray:
    judges = [line.split() for line in CANONICAL.split("\n") if line]
    rows = [
        [-1 if one == "." else int(one) - 1 for one in unit] for unit in zip(*judges, strict=True)
    ]
    return codes_of(rows)


def alpha_by_definition(codes: np.ndarray, values: np.ndarray, level: str) -> float | None:
    """Over all ordered pairs of labels, one by one."""
    units = [[code for code in row if code >= 0] for row in codes.tolist()]
    units = [unit for unit in units if len(unit) > 1]
    pooled = [code for unit in units for code in unit]

    def apart(a: int, b: int) -> float:
        if level == "nominal":
            return float(a != b)
        if level == "interval":
            return float((values[a] - values[b]) ** 2)
        low, high = min(a, b), max(a, b)
        between = sum(low <= code <= high for code in pooled)
        return (between - (pooled.count(a) + pooled.count(b)) / 2) ** 2 if a != b else 0.0

    observed = sum(
        apart(a, b) / (len(unit) - 1) for unit in units for a, b in permutations(unit, 2)
    ) / len(pooled)
    n = len(pooled)
    expected = sum(apart(a, b) for a, b in permutations(pooled, 2)) / (n * (n - 1))
    return 1 - observed / expected if expected else None


tables = st.integers(2, 4).flatmap(
    lambda judges: st.lists(
        st.lists(st.integers(-1, 3), min_size=judges, max_size=judges), min_size=1, max_size=9
    )
)


@given(tables, st.sampled_from(["nominal", "ordinal", "interval"]))
@settings(max_examples=60, deadline=None)
def test_alpha_is_that_of_its_definition(rows: list[list[int]], level: Level) -> None:
    codes, values = codes_of(rows), np.array([1.0, 2.0, 4.0, 7.5])
    found = krippendorff_alpha(codes, values, level, FEW)
    if (codes >= 0).sum(axis=1).max() < 2:
        assert (found.n, found.value, found.note) == (0, None, "there are no items")
        return
    expected = alpha_by_definition(codes, values, level)
    if expected is None:
        assert found.value is None
        assert found.note == "not defined: all labels are the same"
    else:
        assert found.value == pytest.approx(expected, abs=1e-10)


@pytest.mark.parametrize(
    ("level", "alpha"),
    [
        pytest.param("nominal", 0.743, id="nominal"),
        pytest.param("ordinal", 0.815, id="ordinal"),
        pytest.param("interval", 0.849, id="interval"),
    ],
)
def test_alpha_of_the_textbook_example(level: Level, alpha: float) -> None:
    found = krippendorff_alpha(canonical(), np.arange(1.0, 6.0), level, Resampling())
    assert found.value == pytest.approx(alpha, abs=5e-4)
    assert found.n == 11, "a unit with one label can't be compared"
    assert found.low is not None
    assert found.high is not None
    assert found.low < alpha < found.high


@given(tables)
@settings(max_examples=60, deadline=None)
def test_kappas_are_those_of_statsmodels(rows: list[list[int]]) -> None:
    codes = np.maximum(codes_of(rows), 0)
    fleiss, cohen = fleiss_kappa(codes, 4, FEW), cohen_kappa(codes[:, :2], FOUR, FEW)
    counts = np.zeros((4, 4))
    np.add.at(counts, (codes[:, 0], codes[:, 1]), 1)
    if len(np.unique(codes)) > 1:
        oracle = fleiss_oracle(label_counts(codes, 4))
        assert fleiss.value == pytest.approx(oracle, abs=1e-10)
    else:
        assert fleiss.value is None
    if len(np.unique(codes[:, :2])) > 1:
        oracle = cohens_kappa(counts, return_results=False)
        assert cohen.value == pytest.approx(oracle, abs=1e-10)
    else:
        assert (cohen.value, cohen.note) == (None, "not defined: all labels are the same")


def test_items_without_all_labels_are_in_no_kappa() -> None:
    rows = [[0, 0], [1, 1], [0, 1], [1, 1]]
    more = [*rows, [-1, 1], [0, -1]]
    values = np.arange(2.0)
    assert cohen_kappa(codes_of(more), values, FEW) == cohen_kappa(codes_of(rows), values, FEW)
    assert fleiss_kappa(codes_of(more), 2, FEW) == fleiss_kappa(codes_of(rows), 2, FEW)


def log_disagreement(counts: np.ndarray) -> np.ndarray:
    """The logarithm of 1 - Fleiss' kappa of three judges, shape (..., items, labels)."""
    apart = (9 - (counts**2).sum(axis=-1)).mean(axis=-1) / 6
    shares = counts.mean(axis=-2) / 3
    return np.asarray(np.log(apart / (1 - (shares**2).sum(axis=-1))))


def jackknifed_error(counts: np.ndarray) -> float:
    n = len(counts)
    left_out = np.stack([np.delete(counts, k, axis=0) for k in range(n)])
    return float(np.sqrt((n - 1) * np.var(log_disagreement(left_out))))


def test_limits_are_those_of_items_copied_one_by_one_with_jackknifed_errors() -> None:
    generator = np.random.default_rng(5)
    codes = generator.integers(0, 3, size=(40, 3))
    found = fleiss_kappa(codes, 3, Resampling(8000, 1))
    counts = label_counts(codes, 3)
    value = log_disagreement(counts)
    assert found.value == pytest.approx(1 - np.exp(value))
    copies = [counts[generator.integers(0, 40, 40)] for _ in range(1000)]
    distances = [(log_disagreement(one) - value) / jackknifed_error(one) for one in copies]
    low, high = np.quantile(distances, [0.025, 0.975])
    assert high > 2.023 > -low, "one of them is Student's"
    low = -2.023
    possible = [*counts, *(3 * np.eye(3))]
    one_more = max(abs(log_disagreement(np.vstack([counts, row])) - value) for row in possible)
    error = np.hypot(jackknifed_error(counts), one_more)
    assert found.low == pytest.approx(1 - np.exp(value - low * error), abs=0.02)
    assert found.high == pytest.approx(1 - np.exp(value - high * error), abs=0.02)


def labelled(
    draw: np.random.Generator, n: int, shares: list[float], kappa: float
) -> NDArray[np.int64]:
    """Return labels of three judges, any two of whom agree beyond chance with that kappa."""
    true = draw.choice(len(shares), size=(n, 1), p=shares)
    own = draw.choice(len(shares), size=(n, 3), p=shares)
    return np.where(draw.random((n, 3)) < np.sqrt(kappa), true, own)


def coverage(make: Callable[[NDArray[np.int64], Resampling], Coefficient], of: Any) -> float:
    """Return the share of intervals with the true kappa in them, among those that are given."""
    n, shares, kappa, runs = of
    draw, covered = np.random.default_rng(8), []
    for seed in range(runs):
        found = make(labelled(draw, n, shares, kappa), Resampling(400, seed))
        if found.low is not None:
            assert found.high is not None
            covered.append(found.low <= kappa <= found.high)
    assert len(covered) > 0.15 * runs
    return float(np.mean(covered))


MADE: dict[str, Callable[[NDArray[np.int64], Resampling], Coefficient]] = {
    "Cohen": lambda codes, of: cohen_kappa(codes[:, :2], np.arange(5.0), of),
    "linear": lambda codes, of: cohen_kappa(codes[:, :2], np.arange(5.0), of, "linear"),
    "quadratic": lambda codes, of: cohen_kappa(codes[:, :2], np.arange(5.0), of, "quadratic"),
    "Fleiss": lambda codes, of: fleiss_kappa(codes, 5, of),
    "alpha": lambda codes, of: krippendorff_alpha(codes, np.arange(5.0), "interval", of),
}


@pytest.mark.parametrize(
    ("name", "shares", "kappa"),
    [
        pytest.param("Cohen", [0.8, 0.2], 0.0, id="Cohen, rare label, no agreement"),
        pytest.param("Fleiss", [0.9, 0.1], 0.4, id="Fleiss, rarer label"),
        pytest.param("quadratic", [0.8, 0.05, 0.05, 0.05, 0.05], 0.4, id="quadratic weights"),
    ],
)
def test_intervals_cover_kappas_of_skewed_labels(
    name: str, shares: list[float], kappa: float
) -> None:
    assert coverage(MADE[name], (30, shares, kappa, 250)) >= 0.92


@pytest.mark.slow
@pytest.mark.parametrize("name", MADE)
@pytest.mark.parametrize("share", [0.2, 0.5, 0.8, 0.9, 0.95])
@pytest.mark.parametrize("kappa", [0.0, 0.4, 0.8])
def test_intervals_cover_kappas_in_many_runs(name: str, share: float, kappa: float) -> None:
    shares = [share, *[(1 - share) / 4] * 4]
    assert coverage(MADE[name], (30, shares, kappa, 800)) >= 0.9
    assert coverage(MADE[name], (100, shares, kappa, 800)) >= 0.93


@pytest.mark.parametrize(
    ("rows", "note"),
    [
        pytest.param([[0, 0], [1, 1]] * 4, "8 items; 10 are needed", id="few items"),
        pytest.param([[0, 0], [1, 1]] * 20, "the judges never disagree", id="perfect agreement"),
        pytest.param([[0, 1]] * 20, "all items give the same value", id="the same labels"),
    ],
)
def test_where_there_is_no_interval_a_note_says_why(rows: list[list[int]], note: str) -> None:
    for found in (
        cohen_kappa(codes_of(rows), np.arange(2.0), FEW),
        fleiss_kappa(codes_of(rows), 2, FEW),
        krippendorff_alpha(codes_of(rows), np.arange(2.0), "ordinal", FEW),
    ):
        assert found.value is not None
        assert (found.low, found.high, found.note) == (None, None, f"no interval: {note}")


def test_the_seed_says_which_items_are_drawn() -> None:
    codes = labelled(np.random.default_rng(1), 40, [0.6, 0.4], 0.5)
    one, same, other = (fleiss_kappa(codes, 2, Resampling(200, seed)) for seed in (3, 3, 4))
    assert one == same
    assert one != other


# Weighted kappa


@given(
    st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=2, max_size=30),
    st.sampled_from(["linear", "quadratic"]),
)
@settings(max_examples=60, deadline=None)
def test_weighted_kappas_are_those_of_statsmodels(
    pairs: list[tuple[int, int]], weights: Weights
) -> None:
    codes = np.array(pairs, dtype=np.int64)
    found = cohen_kappa(codes, FOUR, FEW, weights)
    counts = np.zeros((4, 4))
    np.add.at(counts, (codes[:, 0], codes[:, 1]), 1)
    if len(np.unique(codes)) > 1:
        oracle = cohens_kappa(counts, wt=weights, return_results=False)
        assert found.value == pytest.approx(oracle, abs=1e-10)
    else:
        assert found.note == "not defined: all labels are the same"


def weighted_by_definition(pairs: list[tuple[str, str]], worth: dict[str, float], k: int) -> float:
    """Over all pairs of items, one by one: disagreement seen, and that of labels put together."""
    seen = sum(abs(worth[a] - worth[b]) ** k for a, b in pairs) / len(pairs)
    mixed = [abs(worth[a] - worth[b]) ** k for a, _ in pairs for _, b in pairs]
    return 1 - seen / (sum(mixed) / len(mixed))


def test_weights_count_numbers_by_value_and_other_labels_by_their_order(tmp_path: Path) -> None:
    words = [("low", "low"), ("mid", "high"), ("high", "high"), ("low", "mid"), ("high", "mid")] * 3
    numbers = {"low": "1", "mid": "2", "high": "9"}
    ordered, valued = tmp_path / "w.csv", tmp_path / "n.csv"
    for path, names in ((ordered, {name: name for name in numbers}), (valued, numbers)):
        lines = [f"{n},{names[a]},{names[b]}\n" for n, (a, b) in enumerate(words)]
        path.write_text("item,x,y\n" + "".join(lines), encoding="utf-8")
    places = {"low": 0.0, "mid": 1.0, "high": 2.0}
    values = {name: float(number) for name, number in numbers.items()}
    for weights, k in (("linear", 1), ("quadratic", 2)):
        by_order = agreement(ordered, weights=weights, order="low,mid,high").set_index("statistic")
        row = by_order.loc["weighted_kappa"]
        assert row.value == pytest.approx(weighted_by_definition(words, places, k))
        assert (row.note, row.judges, row["items"]) == (f"{weights} weights", "x · y", 15)
        assert row.low < row.value < row.high
        by_value = agreement(valued, weights=weights).set_index("statistic").value
        expected = weighted_by_definition(words, values, k)
        assert by_value["weighted_kappa"] == pytest.approx(expected)
        assert by_value["cohen_kappa"] == by_order.value["cohen_kappa"]


# Files and the command


TABLE = {"1": "aab", "2": "aaa", "3": "bbb", "4": "ab.", "5": "ab.", "6": ".a."}


def write_long(path: Path) -> Path:
    lines = [
        f"{item},{judge},{'' if label == '.' else label}"
        for item, row in TABLE.items()
        for judge, label in zip("xyz", row, strict=True)
    ]
    path.write_text(LONG + "\n".join(lines), encoding="utf-8")
    return path


def write_wide(path: Path) -> Path:
    lines = [",".join([item, *row.replace(".", " ")]) for item, row in TABLE.items()]
    path.write_text("item,x,y,z\n" + "\n".join(lines), encoding="utf-8")
    return path


def write_judged(path: Path) -> Path:
    common = {"dataset": "d", "model": "m", "method": "f-1", "epoch": None, "value": None}
    lines = [
        json.dumps(
            common
            | {"id": item, "rule": f"judge:{judge}", "answer": None if label == "." else label}
        )
        for item, row in TABLE.items()
        for judge, label in zip("xyz", row, strict=True)
    ]
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


def write_json_lines(path: Path) -> Path:
    lines = [
        json.dumps({"item": item, "judge": judge, "label": label if label != "." else None})
        for item, row in TABLE.items()
        for judge, label in zip("xyz", row, strict=True)
    ]
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("name", "write"),
    [
        pytest.param("labels.csv", write_long, id="a row per item and judge"),
        pytest.param("wide.csv", write_wide, id="a column per judge"),
        pytest.param("judged.jsonl", write_judged, id="rows of judges"),
        pytest.param("labels.jsonl", write_json_lines, id="JSON lines"),
    ],
)
def test_all_forms_of_labels_give_the_same_rows(
    tmp_path: Path, name: str, write: Callable[[Path], Path]
) -> None:
    path = write(tmp_path / name)
    votes = tmp_path / "votes.csv"
    frame = agreement(path, votes=votes)
    rows = json.loads(frame.to_json(orient="records"))
    found = {(row["statistic"], row["judges"], row["label"]): row for row in rows}

    def share(statistic: str, judge: str, label: str | None) -> tuple[int, int]:
        row = found[statistic, judge, label]
        return row["count"], row["items"]

    assert share("unanimous", "all", None) == (2, 3)
    assert share("majority", "all", "a") == (3, 6)
    assert share("majority", "all", "b") == (1, 6)
    assert share("majority", "all", None) == (2, 6)
    assert found["majority", "all", None]["note"] == "tied votes"
    assert share("share", "x", "a") == (4, 5)
    assert share("missing", "z", None) == (3, 6)
    assert ("missing", "y", None) not in found
    pair = found["cohen_kappa", "x · y", None]
    assert pair["items"] == 5
    assert pair["value"] == pytest.approx(2 / 7)
    assert pair["low"] is None
    assert pair["note"] == "no interval: 5 items; 10 are needed"
    assert found["fleiss_kappa", "all", None]["items"] == 3
    assert found["krippendorff_alpha", "all", None]["items"] == 5
    with votes.open(encoding="utf-8") as file:
        told = [(r["label"], r["votes"], r["judges"]) for r in csv.DictReader(file)]
    assert told == [("a", "2", "3"), ("a", "3", "3"), ("b", "3", "3")] + [("", "1", "2")] * 2 + [
        ("a", "1", "1")
    ]


@pytest.mark.parametrize(
    ("name", "content", "options", "message"),
    [
        pytest.param("no.csv", None, {}, "no such file", id="no file"),
        pytest.param("l.txt", "item\n", {}, r"one of \.csv, \.jsonl", id="another suffix"),
        pytest.param("l.csv", LONG, {}, "no rows there", id="no rows"),
        pytest.param("l.csv", "a,b\n1,2\n", {}, "columns a, b; columns item", id="other columns"),
        pytest.param(
            "l.csv", LONG + "1,x\n", {}, r"l\.csv:2: more or fewer cells", id="a short line"
        ),
        pytest.param("l.csv", LONG + "1,x,a\n,y,a\n", {}, r"l\.csv:3: no item", id="no item"),
        pytest.param(
            "l.csv",
            LONG + "1,x,a\n1,x,b\n",
            {},
            r"l\.csv:3: item '1' has a label of x also",
            id="2",
        ),
        pytest.param("l.csv", LONG + "1,x,a\n2,x,b\n", {}, "of 1 judge; at least two", id="alone"),
        pytest.param("l.jsonl", "{", {}, r"l\.jsonl:1: no JSON", id="no JSON"),
        pytest.param("l.jsonl", "[]", {}, "no JSON object", id="no object"),
        pytest.param(
            "l.jsonl", '{"item": 1, "x": [1], "y": 2}', {}, r"label \[1\]; a text", id="a list"
        ),
        pytest.param(
            "l.jsonl",
            '{"dataset": "d", "model": "m", "method": "a", "id": "1", "rule": "r", "value": 1}',
            {},
            "rule r; rows of `evalcore judge`",
            id="rows of a rule",
        ),
        pytest.param("l.csv", LONG + "1,x,a\n1,y,b\n", {"level": "no"}, "one of nominal", id="lvl"),
        pytest.param(
            "l.csv", LONG + "1,x,a\n1,y,3\n", {"level": "interval"}, "'a' is no number$", id="texts"
        ),
        pytest.param(
            "l.csv", LONG + "1,x,a\n1,y,3\n", {"level": "ordinal"}, "--order says", id="no order"
        ),
        pytest.param(
            "l.csv",
            LONG + "1,x,a\n1,y,b\n",
            {"level": "ordinal", "order": "a"},
            "--order: without b",
            id="an order without a label",
        ),
        pytest.param(
            "l.csv",
            LONG + "1,x,a\n1,y,b\n",
            {"level": "ordinal", "order": "a,b,a"},
            "stands in it twice",
            id="an order with a label twice",
        ),
        pytest.param(
            "l.csv", LONG + "1,x,a\n1,y,b\n", {"order": "a,b"}, "level nominal has none", id="order"
        ),
        pytest.param(
            "l.csv",
            LONG + "".join(f"{n},{j},{n}\n" for n in range(51) for j in "xy"),
            {},
            "51 different ones; at most 50",
            id="measured numbers",
        ),
    ],
)
def test_what_can_not_be_used_is_refused(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    content: str | None,
    options: dict[str, Any],
    message: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    if content is not None:
        Path(name).write_text(content, encoding="utf-8")
    with pytest.raises(InputError, match=message):
        agreement(name, **options)


def test_an_order_is_that_of_alpha(tmp_path: Path) -> None:
    pairs = [*zip("llmmhhlmmlh", "lmmhhhhlmlm", strict=True)]
    words, numbers = tmp_path / "words.csv", tmp_path / "numbers.csv"
    lines = [f"{n},{a},{b}\n" for n, (a, b) in enumerate(pairs)]
    words.write_text("item,x,y\n" + "".join(lines), encoding="utf-8")
    coded = ["".join(str("lmh".index(c)) if c in "lmh" else c for c in line) for line in lines]
    numbers.write_text("item,x,y\n" + "".join(coded), encoding="utf-8")
    ordered = agreement(words, level="ordinal", order="l, m, h")
    plain = agreement(numbers, level="ordinal")
    columns = ["value", "low", "high"]
    assert ordered.loc[:2, columns].equals(plain.loc[:2, columns])
    assert "ordinal" in ordered.note[2]


def test_the_command_prints_rows_and_says_how_often_it_drew(tmp_path: Path) -> None:
    path = str(write_long(tmp_path / "labels.csv"))
    done = CliRunner().invoke(MAIN, ["agreement", path, "--draws", "200", "--seed", "7"])
    assert done.exit_code == 0, done.stderr
    assert "cohen_kappa" in done.stdout
    assert done.stderr == "Intervals of coefficients: 200 draws of items, seed 7\n"
