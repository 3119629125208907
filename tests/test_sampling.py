import math
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from ngramscan import count
from ngramscan.corpora import CorpusFile
from ngramscan.errors import InputError
from ngramscan.indexes.scan.sampling import estimate_total, take_sample
from ngramscan.statistics.estimates import cluster_total
from tests.support import corpus_files
from tests.support.cases import case_table

FILES = [CorpusFile(f"{n}.jsonl", "jsonl", 1000 + n) for n in range(400)]


@pytest.mark.parametrize(
    "amount", ["0", "-1", "401", "0%", "101%", "some", "%", "1.5", "nan%", "inf%", "-5%"]
)
def test_amounts_that_are_none_are_refused(amount: str) -> None:
    with pytest.raises(InputError, match=f"--sample-files {amount}: "):
        take_sample(FILES, amount, 1)


# How files are drawn


# What follows from a sample


@pytest.mark.parametrize(
    ("certain", "counts", "n_all"),
    [([], [10, 20, 0, 5, 9, 11, 7, 3, 12, 8, 15, 20], 100), ([9] * 10, [1, 3], 4)],
)
def test_with_equal_chances_it_is_the_estimate_of_the_text_books(
    certain: list[int], counts: list[int], n_all: int
) -> None:
    n, known, y = len(counts), sum(certain), np.array(counts)
    chances = [1.0] * len(certain) + [n / n_all] * n
    estimate = cluster_total([*certain, *y], np.ones(len(chances)), chances, len(certain) + n_all)
    total = n_all * y.mean()
    assert estimate.value == pytest.approx(known + total)
    squares = (y - y.mean()) ** 2
    variance = (squares.sum() + 2 * squares.max()) / (n - 1)
    error = n_all * math.sqrt((1 - n / n_all) / n * variance)
    factor = math.exp(stats.t.ppf(0.975, n - 1) * error / total)
    low = max(known + total / factor, known + y.sum())
    assert estimate.limits == pytest.approx((low, known + total * factor))


def test_counts_in_proportion_to_size_have_no_error() -> None:
    files = [CorpusFile(f"{n}.jsonl", "jsonl", 10 * 2**n) for n in range(18)]
    sample = take_sample(files, "12", 3)
    counts = [3 * (file.size or 0) for file in sample.files]
    estimate = estimate_total(sample, counts)
    assert estimate.value == pytest.approx(30 * (2**18 - 1))
    assert (estimate.low, estimate.high, estimate.note) == (None, None, NO_VARIATION)


NO_VARIATION = "no interval: the counts of the files do not vary"


@pytest.mark.parametrize(*case_table("clusters"))
def test_few_or_rare_clusters_have_no_interval_and_a_single_large_one_is_told(
    value: float, clusters: list[Any], note: str
) -> None:
    estimate = cluster_total(*clusters)
    assert estimate.value == pytest.approx(value)
    assert estimate.note.startswith(note)
    assert bool(estimate.note) == bool(note)
    assert (estimate.low is None) == (estimate.high is None) == note.startswith("no interval")


@pytest.mark.parametrize(
    ("counts", "sizes", "chances"),
    [([], [], []), ([1, 2], [1, 0], [1, 1]), ([1, 2], [1, 1], [0.5, 1.1]), ([1], [1], [0])],
)
def test_clusters_that_can_not_be_are_refused(
    counts: list[int], sizes: list[int], chances: list[float]
) -> None:
    with pytest.raises(ValueError, match="clusters of positive size"):
        cluster_total(counts, sizes, chances, 10)


# Corpora whose totals are known


Array = NDArray[np.float64]


def rare(random: np.random.Generator, sizes: Array) -> Array:
    return random.poisson(sizes / 50 * random.gamma(1, 1, sizes.size)).astype(float)


# The command


@pytest.fixture(scope="module")
def shards(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, int]]:
    """A corpus of 60 files, and how often some patterns are in it."""
    folder, draw = tmp_path_factory.mktemp("shards"), np.random.default_rng(3)
    totals: Counter[str] = Counter()
    for number in range(60):
        frequent, clustered = int(draw.poisson(20)), 0
        if number % 4 == 0:
            clustered = int(draw.poisson(50))
        rare = int(number in (5, 50))
        texts = ["solve for x"] * frequent + ["\\frac{1}{2} " * 5] * clustered
        texts += ["governing equation"] * rare + ["nothing"] * 10
        (folder / f"{number:02}.jsonl").write_bytes(corpus_files.jsonl(texts))
        totals += {"solve for": frequent, "\\frac{": 5 * clustered, "governing equation": rare}
    return folder, totals


def test_all_files_as_a_sample_are_exact_and_few_give_no_interval(
    shards: tuple[Path, dict[str, int]],
) -> None:
    folder, totals = shards
    frame = count("f1", index=f"scan:{folder}", sample_files="100%")
    rows: Any = frame.set_index("query").to_dict("index")
    for query, total in totals.items():
        row = rows[query]
        assert row["occurrences_low"] == row["occurrences"] == row["occurrences_high"] == total
    few = count("f1", index=f"scan:{folder}", sample_files=5)
    assert few["occurrences_low"].isna().all()
    assert few["note"].str.contains("no interval: only 5 files were read").all()
