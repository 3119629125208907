import math
from collections import Counter
from collections.abc import Callable
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
from tests.support.cases import objects
from tests.support.sizes import sets, slow

FILES = [CorpusFile(f"{n}.jsonl", "jsonl", 1000 + n) for n in range(400)]


@pytest.mark.parametrize(
    "amount",
    [
        "0",
        "-1",
        "401",
        "0%",
        "101%",
        "some",
        "%",
        "1.5",
        "nan%",
        "inf%",
        "-5%",
    ],
)
def test_amounts_that_are_none_are_refused(amount: str) -> None:
    with pytest.raises(InputError, match=f"--sample-files {amount}: "):
        take_sample(FILES, amount, 1)


# How files are drawn


# What follows from a sample


@pytest.mark.parametrize(
    ("certain", "counts", "n_all"),
    [
        ([], [10, 20, 0, 5, 9, 11, 7, 3, 12, 8, 15, 20], 100),
        ([9, 9, 9, 9, 9, 9, 9, 9, 9, 9], [1, 3], 4),
    ],
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


@pytest.mark.parametrize(
    ("value", "clusters", "note"),
    [
        (
            500,
            [
                [5, 5, 5, 5, 5, 5, 5, 5, 5],
                [1, 1, 1, 1, 1, 1, 1, 1, 1],
                [0.09, 0.09, 0.09, 0.09, 0.09, 0.09, 0.09, 0.09, 0.09],
                100,
            ],
            "no interval: only 9 files were read",
        ),
        (
            18,
            [
                [
                    0,
                    0,
                    0,
                    0,
                    0,
                    0,
                    0,
                    0,
                    0,
                    0,
                    0,
                    0,
                    0,
                    0,
                    0,
                    0,
                    0,
                    0,
                    0,
                    0,
                    0,
                    0,
                    0,
                    0,
                    0,
                    0,
                    0,
                    0,
                    0,
                    0,
                    0,
                    0,
                    0,
                    0,
                    0,
                    0,
                    0,
                    0,
                    0,
                    0,
                    0,
                    1,
                    1,
                    1,
                    1,
                    1,
                    1,
                    1,
                    1,
                    1,
                ],
                [
                    1,
                    1,
                    1,
                    1,
                    1,
                    1,
                    1,
                    1,
                    1,
                    1,
                    1,
                    1,
                    1,
                    1,
                    1,
                    1,
                    1,
                    1,
                    1,
                    1,
                    1,
                    1,
                    1,
                    1,
                    1,
                    1,
                    1,
                    1,
                    1,
                    1,
                    1,
                    1,
                    1,
                    1,
                    1,
                    1,
                    1,
                    1,
                    1,
                    1,
                    1,
                    1,
                    1,
                    1,
                    1,
                    1,
                    1,
                    1,
                    1,
                    1,
                ],
                [
                    0.5,
                    0.5,
                    0.5,
                    0.5,
                    0.5,
                    0.5,
                    0.5,
                    0.5,
                    0.5,
                    0.5,
                    0.5,
                    0.5,
                    0.5,
                    0.5,
                    0.5,
                    0.5,
                    0.5,
                    0.5,
                    0.5,
                    0.5,
                    0.5,
                    0.5,
                    0.5,
                    0.5,
                    0.5,
                    0.5,
                    0.5,
                    0.5,
                    0.5,
                    0.5,
                    0.5,
                    0.5,
                    0.5,
                    0.5,
                    0.5,
                    0.5,
                    0.5,
                    0.5,
                    0.5,
                    0.5,
                    0.5,
                    0.5,
                    0.5,
                    0.5,
                    0.5,
                    0.5,
                    0.5,
                    0.5,
                    0.5,
                    0.5,
                ],
                100,
            ],
            "no interval: it is in 9 of 50 files, t",
        ),
        (
            118,
            [
                [
                    9,
                    9,
                    9,
                    9,
                    9,
                    9,
                    9,
                    9,
                    9,
                    9,
                    9,
                    9,
                    1,
                    0,
                    0,
                    0,
                    0,
                    0,
                    0,
                    0,
                    0,
                    0,
                    0,
                    0,
                    0,
                    0,
                    0,
                    0,
                    0,
                    0,
                    0,
                    0,
                ],
                [
                    1,
                    1,
                    1,
                    1,
                    1,
                    1,
                    1,
                    1,
                    1,
                    1,
                    1,
                    1,
                    1,
                    1,
                    1,
                    1,
                    1,
                    1,
                    1,
                    1,
                    1,
                    1,
                    1,
                    1,
                    1,
                    1,
                    1,
                    1,
                    1,
                    1,
                    1,
                    1,
                ],
                [
                    1.0,
                    1.0,
                    1.0,
                    1.0,
                    1.0,
                    1.0,
                    1.0,
                    1.0,
                    1.0,
                    1.0,
                    1.0,
                    1.0,
                    0.1,
                    0.1,
                    0.1,
                    0.1,
                    0.1,
                    0.1,
                    0.1,
                    0.1,
                    0.1,
                    0.1,
                    0.1,
                    0.1,
                    0.1,
                    0.1,
                    0.1,
                    0.1,
                    0.1,
                    0.1,
                    0.1,
                    0.1,
                ],
                212,
            ],
            "no interval: it is in 1 of 20 files drawn by chance",
        ),
        (
            400,
            [
                [4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4],
                [1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1],
                [
                    0.2,
                    0.2,
                    0.2,
                    0.2,
                    0.2,
                    0.2,
                    0.2,
                    0.2,
                    0.2,
                    0.2,
                    0.2,
                    0.2,
                    0.2,
                    0.2,
                    0.2,
                    0.2,
                    0.2,
                    0.2,
                    0.2,
                    0.2,
                ],
                100,
            ],
            "no interval: the counts of the files do not vary",
        ),
        (
            2000,
            [
                [9, 11, 9, 11, 9, 11, 9, 11, 9, 11, 9, 11, 9, 11, 9, 11, 9, 11, 9, 11],
                [1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1],
                [
                    0.1,
                    0.1,
                    0.1,
                    0.1,
                    0.1,
                    0.1,
                    0.1,
                    0.1,
                    0.1,
                    0.1,
                    0.1,
                    0.1,
                    0.1,
                    0.1,
                    0.1,
                    0.1,
                    0.1,
                    0.1,
                    0.1,
                    0.1,
                ],
                200,
            ],
            "",
        ),
        (
            2400,
            [
                [9, 11, 9, 11, 9, 11, 9, 11, 9, 11, 9, 11, 9, 11, 9, 11, 9, 11, 9, 11, 40],
                [1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1],
                [
                    0.1,
                    0.1,
                    0.1,
                    0.1,
                    0.1,
                    0.1,
                    0.1,
                    0.1,
                    0.1,
                    0.1,
                    0.1,
                    0.1,
                    0.1,
                    0.1,
                    0.1,
                    0.1,
                    0.1,
                    0.1,
                    0.1,
                    0.1,
                    0.1,
                ],
                210,
            ],
            "unreliable interval: one file makes up 17%",
        ),
        (
            2040,
            [
                [9, 11, 9, 11, 9, 11, 9, 11, 9, 11, 9, 11, 9, 11, 9, 11, 9, 11, 9, 11, 40],
                [1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 4],
                [
                    0.1,
                    0.1,
                    0.1,
                    0.1,
                    0.1,
                    0.1,
                    0.1,
                    0.1,
                    0.1,
                    0.1,
                    0.1,
                    0.1,
                    0.1,
                    0.1,
                    0.1,
                    0.1,
                    0.1,
                    0.1,
                    0.1,
                    0.1,
                    1,
                ],
                204,
            ],
            "",
        ),
    ],
)
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
    [
        ([], [], []),
        ([1, 2], [1, 0], [1, 1]),
        ([1, 2], [1, 1], [0.5, 1.1]),
        ([1], [1], [0]),
    ],
)
def test_clusters_that_can_not_be_are_refused(
    counts: list[int], sizes: list[int], chances: list[float]
) -> None:
    with pytest.raises(ValueError, match="clusters of positive size"):
        cluster_total(counts, sizes, chances, 10)


# Corpora whose totals are known


Array = NDArray[np.float64]
MakeCounts = Callable[[np.random.Generator, Array], Array]


def rates(log_sd: float, with_size: float = 0, part: float = 1) -> MakeCounts:
    """Return counts at lognormal rates, per file, which may go up or down with the size."""

    def counts(random: np.random.Generator, sizes: Array) -> Array:
        rate = np.exp(random.normal(0, log_sd, sizes.size)) * (sizes / 20) ** with_size
        return np.where(random.random(sizes.size) < part, random.poisson(sizes * rate), 0.0)

    return counts


def rare(random: np.random.Generator, sizes: Array) -> Array:
    return random.poisson(sizes / 50 * random.gamma(1, 1, sizes.size)).astype(float)


# Standard deviation of log sizes, counts, and the least coverage; below 0 sizes are not known.
CORPORA: dict[str, tuple[float, MakeCounts, float]] = {
    row["id"]: (row["log_sd"], rates(*row["rates"]) if row["rates"] else rare, row["least"])
    for row in objects("corpora_of_files")
} | {"sizes 1.5, a document per file": (1.5, lambda _, sizes: np.ones(sizes.size), 0.92)}
QUICK = [(name, 5, sets(25)) for name in ("sizes 2, rates 1", "sizes not known, 0.5, rates 0.5")]
MANY = [slow(name, 40, 100) for name in CORPORA]


@pytest.mark.parametrize("n", [20, 80])
@pytest.mark.parametrize(("name", "n_corpora", "samples"), [*QUICK, *MANY])
def test_the_interval_holds_the_total(name: str, n_corpora: int, samples: int, n: int) -> None:
    log_sd, make_counts, least = CORPORA[name]
    random, values, hits = np.random.default_rng(20261120), [], []
    for seed in range(n_corpora * samples):
        if seed % samples == 0:
            sizes = np.exp(random.normal(np.log(20_000), abs(log_sd), 400)).round()
            counts = make_counts(random, sizes / 1000).astype(int)
            told = [None] * 400 if log_sd < 0 else sizes.astype(int).tolist()
            files = [CorpusFile(f"{at}.jsonl", "jsonl", size) for at, size in enumerate(told)]
        sample = take_sample(files, str(n), seed)
        drawn = counts[[int(Path(file.path).stem) for file in sample.files]]
        estimate, total = estimate_total(sample, drawn.tolist()), int(counts.sum())
        values.append(estimate.value / total)
        if estimate.low is not None and estimate.high is not None:
            hits.append(estimate.low <= total <= estimate.high)
    few = 2 * math.sqrt(0.05 * 0.95 / len(hits)) if n_corpora == 5 else 0
    assert np.mean(hits) >= least - few
    assert np.mean(values) == pytest.approx(1, abs=0.06 if n_corpora == 40 else 0.15)


def test_files_are_drawn_as_often_as_their_chances_say() -> None:
    sizes, seeds = [100_000, 400, 100, 100, 100, 100, 100, 100], sets(750)
    files = [CorpusFile(f"{at}.jsonl", "jsonl", size) for at, size in enumerate(sizes)]
    times: Counter[int] = Counter()
    for seed in range(seeds):
        sample = take_sample(files, "3", seed)
        drawn = [int(Path(file.path).stem) for file in sample.files]
        times.update(drawn)
        assert sample.chances[0] == 1
    # Two of the others: nine tenths of their chance are in proportion to bytes, a tenth is alike.
    measure = np.array(sizes[1:]) * 0.9 / sum(sizes) + 0.1 / 8
    expected = [1.0, *(2 * measure / measure.sum())]
    assert sample.chances == pytest.approx([expected[file] for file in drawn])
    for file, chance in enumerate(expected):
        error = math.sqrt(chance * (1 - chance) / seeds)
        assert times[file] / seeds == pytest.approx(chance, abs=4 * error)


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
    assert "occurrences_low" in few.attrs["left_out"]
    assert few["note"].str.contains("no interval: only 5 files were read").all()
