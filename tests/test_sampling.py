from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from ngramscan.corpora import CorpusFile
from ngramscan.errors import InputError
from ngramscan.estimates import cluster_total
from ngramscan.indexes.base import IndexSize
from ngramscan.indexes.sampling import estimate_counts, take_sample
from tests import corpus_files
from tests.command import run

FILES = [CorpusFile(f"{n}.jsonl", "jsonl", 1000 + n) for n in range(400)]


def test_a_sample_is_seeded_and_without_replacement() -> None:
    sample = take_sample(FILES, "40", 7)
    assert len({file.path for file in sample.files}) == 40
    assert take_sample(FILES, "10%", 7) == sample
    assert take_sample(FILES, "40", 8).files != sample.files
    assert sample.total_size == sum(file.size or 0 for file in FILES)
    unknown = [*FILES[1:], CorpusFile("x.jsonl", "jsonl", None)]
    assert take_sample(unknown, "40", 7).total_size is None
    assert len(take_sample(FILES, "0.01%", 1).files) == 1


@pytest.mark.parametrize("amount", ["0", "-1", "401", "0%", "101%", "some", "%", "1.5", "nan%"])
def test_amounts_that_are_none_are_refused(amount: str) -> None:
    with pytest.raises(InputError, match=f"--sample-files {amount}: "):
        take_sample(FILES, amount, 1)


def test_an_estimate_done_by_hand() -> None:
    counts, sizes = [10, 20, 0, 5, 9, 11, 7, 3, 12, 8, 15, 20], [1, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 2]
    estimate = cluster_total(counts, sizes, 100, 130.0)
    assert estimate.value == pytest.approx(120 / 14 * 130)
    assert estimate.low is not None
    assert estimate.high is not None
    y, x = np.array(counts), np.array(sizes)
    residuals = y - 120 / 14 * x
    error = 100 * math.sqrt((1 - 12 / 100) / 12 * (residuals**2).sum() / 11) * 1.3 / (14 / 12)
    from scipy import stats

    kurtosis = stats.moment(residuals, 4, center=0) / stats.moment(residuals, 2, center=0) ** 2
    degrees = min(11, 24 / (kurtosis - 1))
    factor = math.exp(stats.t.ppf(0.975, degrees) * error / estimate.value)
    assert estimate.high == pytest.approx(estimate.value * factor)
    assert estimate.low == pytest.approx(estimate.value / factor)


def test_all_clusters_are_exact_and_few_or_rare_ones_have_no_interval() -> None:
    exact = cluster_total([1, 2, 3], [1, 1, 1], 3, 3)
    assert (exact.low, exact.value, exact.high) == (6, 6, 6)
    few = cluster_total([5] * 9, [1] * 9, 100, 100)
    assert (few.value, few.low, few.note) == (500, None, "no interval: only 9 files were read")
    rare = cluster_total([0] * 41 + [1] * 9, [1] * 50, 100, 100)
    assert rare.low is None
    assert rare.note == "no interval: it is in 9 of 50 files, too rare for this sample"
    same = cluster_total([4] * 20, [1] * 20, 100, 100)
    assert (same.low, same.value, same.high) == (400, 400, 400)


@pytest.mark.parametrize(
    ("counts", "sizes", "n"), [([], [], 3), ([1, 2], [1, 1], 1), ([1, 2], [1, 0], 5)]
)
def test_clusters_that_can_not_be_are_refused(counts: list[int], sizes: list[int], n: int) -> None:
    with pytest.raises(ValueError, match="clusters of positive size"):
        cluster_total(counts, sizes, n, 10)


Population = Callable[[np.random.Generator, np.ndarray], np.ndarray]

# Counts of 400 files whose sizes are lognormal; the totals are known.
POPULATIONS: dict[str, Population] = {
    "frequent": lambda draw, size: draw.poisson(size * draw.gamma(4, 1 / 4, size.size)),
    "rare": lambda draw, size: draw.poisson(size / 2000),
    "clustered": lambda draw, size: np.where(
        draw.random(size.size) < 0.25,
        draw.poisson(np.exp(draw.normal(2, 1, size.size)) * size / 1000),
        0,
    ),
}


def coverage(population: Population, seeds: int, n: int = 80) -> tuple[float, float]:
    """Return how often the interval holds the total, and the mean estimate over the total."""
    draw = np.random.default_rng(20261120)
    size = np.exp(draw.normal(0, 0.5, 400)) * 1000
    counts = population(draw, size)
    covered, values = [], []
    for seed in range(seeds):
        chosen = np.random.default_rng(seed).choice(400, n, replace=False)
        estimate = cluster_total(counts[chosen], size[chosen], 400, size.sum())
        values.append(estimate.value / counts.sum())
        if estimate.low is not None and estimate.high is not None:
            covered.append(estimate.low <= counts.sum() <= estimate.high)
    assert len(covered) > 0.9 * seeds
    return float(np.mean(covered)), float(np.mean(values))


@pytest.mark.parametrize("name", POPULATIONS)
def test_the_interval_holds_the_total_as_often_as_it_says(name: str) -> None:
    covered, mean = coverage(POPULATIONS[name], 200)
    assert 0.92 <= covered <= 0.98
    assert 0.93 <= mean <= 1.07


@pytest.mark.slow
@pytest.mark.parametrize("name", POPULATIONS)
def test_the_interval_holds_the_total_over_many_draws(name: str) -> None:
    covered, mean = coverage(POPULATIONS[name], 5000)
    assert 0.92 <= covered <= 0.98
    assert 0.98 <= mean <= 1.02


def make_corpus(folder: Path) -> dict[str, int]:
    draw = np.random.default_rng(3)
    totals = {"solve for": 0, "governing equation": 0, "\\frac{": 0}
    for number in range(60):
        frequent = int(draw.poisson(20))
        clustered = int(draw.poisson(50)) if number % 4 == 0 else 0
        rare = int(number in (5, 50))
        texts = ["solve for x"] * frequent + ["\\frac{1}{2} " * 5] * clustered
        texts += ["governing equation"] * rare + ["nothing"] * 10
        (folder / f"{number:02}.jsonl").write_bytes(corpus_files.jsonl(texts))
        totals["solve for"] += frequent
        totals["\\frac{"] += 5 * clustered
        totals["governing equation"] += rare
    return totals


def test_estimates_are_labelled_in_rows_and_in_the_table(tmp_path: Path) -> None:
    totals = make_corpus(tmp_path)
    arguments = ["count", "f1", "--index", f"scan:{tmp_path}", "--sample-files", "50%", "-q"]
    ran = run(*arguments, "--seed", "5", "--format", "csv")
    assert ran.code == 0
    rows = {row["query"]: row for row in ran.rows}
    assert {row["estimated"] for row in ran.rows} == {"True"}
    row = rows["solve for"]
    assert float(row["occurrences_low"]) <= totals["solve for"] <= float(row["occurrences_high"])
    assert float(row["documents_low"]) <= int(row["documents"]) <= float(row["documents_high"])
    assert row["level"] == "0.95"
    assert row["note"] == "estimate from 30 of 60 files, in proportion to bytes, seed 5"
    rare = rows["governing equation"]
    assert (rare["occurrences_low"], rare["level"]) == ("", "")
    assert re_rare(rare["note"])
    table = run(*arguments, "--seed", "5").stdout
    assert "estimate from 30 of 60 files, in proportion to bytes, seed 5" in table
    assert f"≈{int(row['occurrences']):,} [" in table


def re_rare(note: str) -> bool:
    return "files, too rare for this sample" in note


def test_all_files_as_a_sample_are_the_exact_counts(tmp_path: Path) -> None:
    totals = make_corpus(tmp_path)
    ran = run(
        *("count", "f1", "--index", f"scan:{tmp_path}", "--sample-files", "100%"),
        *("--format", "csv", "-q"),
    )
    found = {row["query"]: row for row in ran.rows}
    for query, total in totals.items():
        row = found[query]
        assert int(row["occurrences"]) == total
        assert float(row["occurrences_low"]) == float(row["occurrences_high"]) == total


def test_few_files_give_no_interval_and_say_so(tmp_path: Path) -> None:
    make_corpus(tmp_path)
    arguments = ["--sample-files", "5", "--format", "csv", "-q"]
    ran = run("count", "f1", "--index", f"scan:{tmp_path}", *arguments)
    assert {row["occurrences_low"] for row in ran.rows} == {""}
    assert all("no interval: only 5 files were read" in row["note"] for row in ran.rows)


def test_without_sizes_the_estimate_is_per_file() -> None:
    files = [CorpusFile(f"https://h/{n}.jsonl", "jsonl") for n in range(100)]
    sample = take_sample(files, "20", 1)
    estimates, size = estimate_counts(sample, [[3]] * 20, [[2]] * 20, [(10, 1000)] * 20)
    assert (estimates[0].occurrences.value, estimates[0].documents.value) == (300, 200)
    assert estimates[0].note == "estimate from 20 of 100 files, per file, seed 1"
    assert size == IndexSize(documents=1000, bytes=100_000)
