from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import combinations, pairwise, permutations
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray
from scipy import stats

from ngramscan import count, docnorm
from ngramscan.corpora import CorpusFile, open_corpus
from ngramscan.errors import InputError
from ngramscan.indexes.options import IndexOptions
from ngramscan.indexes.scan.index import ScanIndex
from ngramscan.indexes.scan.sampling import Sample, estimate_total, take_sample
from ngramscan.progress import SILENT
from ngramscan.statistics.estimates import UNTRUSTED, cluster_total
from tests.support import corpus_files
from tests.support.command import run
from tests.support.sizes import sets

FILES = [CorpusFile(f"{n}.jsonl", "jsonl", 1000 + n) for n in range(400)]


def test_a_sample_is_seeded_and_without_replacement() -> None:
    sample = take_sample(FILES, "40", 7)
    assert len({file.path for file in sample.files}) == 40
    assert take_sample(FILES, "10%", 7) == sample
    assert take_sample(FILES, "40", 8).files != sample.files
    assert sample.total_size == sum(file.size or 0 for file in FILES)
    unknown = [*FILES[1:], CorpusFile("x.jsonl", "jsonl", None)]
    assert take_sample(unknown, "40", 7).total_size == 400
    assert len(take_sample(FILES, "0.01%", 1).files) == 1


@pytest.mark.parametrize(
    "amount", ["0", "-1", "401", "0%", "101%", "some", "%", "1.5", "nan%", "inf%", "-5%"]
)
def test_amounts_that_are_none_are_refused(amount: str) -> None:
    with pytest.raises(InputError, match=f"--sample-files {amount}: "):
        take_sample(FILES, amount, 1)


# How files are drawn


def files_of(sizes: Sequence[int | None]) -> list[CorpusFile]:
    return [CorpusFile(f"{n}.jsonl", "jsonl", size) for n, size in enumerate(sizes)]


def numbers_of(sample: Sample) -> tuple[int, ...]:
    return tuple(int(Path(file.path).stem) for file in sample.files)


@pytest.mark.parametrize("n", [1, 7, 49, 50])
@pytest.mark.parametrize(
    "sizes",
    [[1000] * 50, [1, 10, 100, 1000, 10_000] * 10, [0] * 30 + [5] * 20, [0] * 49 + [10**9]],
)
def test_as_many_files_are_read_as_asked_for_and_none_twice(sizes: list[int], n: int) -> None:
    for seed in range(10):
        sample = take_sample(files_of(sizes), str(n), seed)
        numbers = numbers_of(sample)
        assert len(numbers) == len(sample.chances) == n
        assert all(one < other for one, other in pairwise(numbers))
        assert all(0 < chance <= 1 for chance in sample.chances)


def test_a_large_file_is_always_read_and_the_others_in_proportion_to_their_bytes() -> None:
    sizes, seeds = [100_000, 400, 100, 100, 100, 100, 100, 100], sets(750)
    times: Counter[int] = Counter()
    for seed in range(seeds):
        sample = take_sample(files_of(sizes), "3", seed)
        times.update(numbers_of(sample))
        assert sample.chances[0] == 1
        # The certain file is as if it was not there: two of the others, of 1,000 bytes in all.
        assert sum(sample.chances[1:]) < 2
    assert times[0] == seeds
    # Nine tenths of the chance are in proportion to bytes, a tenth is alike.
    measure = np.array(sizes[1:]) * 0.9 / sum(sizes) + 0.1 / 8
    expected = 2 * measure / measure.sum()
    for file, chance in enumerate(expected, 1):
        error = math.sqrt(chance * (1 - chance) / seeds)
        assert times[file] / seeds == pytest.approx(chance, abs=4 * error)


TINY = [700, 1, 250, 300, 120, 60]


def all_samples(sizes: list[int], n: int) -> dict[tuple[int, ...], float]:
    """Return every sample there can be with its probability; each order and start is gone through.

    Written for files of which none is certain.
    """
    chances = n * (0.9 * np.array(sizes) / sum(sizes) + 0.1 / len(sizes))
    assert chances.max() < 1
    samples: dict[tuple[int, ...], float] = defaultdict(float)
    for order in permutations(range(len(sizes))):
        ends = np.cumsum(chances[list(order)])
        starts = sorted({0.0, 1.0, *(ends % 1).tolist()})
        for start, stop in pairwise(starts):
            points = (start + stop) / 2 + np.arange(n)
            drawn = tuple(sorted(order[i] for i in np.searchsorted(ends, points)))
            samples[drawn] += (stop - start) / math.factorial(len(sizes))
    return dict(samples)


def test_over_all_samples_of_a_tiny_corpus_the_chances_are_right() -> None:
    samples, seeds = all_samples(TINY, 2), sets(1000)
    assert sum(samples.values()) == pytest.approx(1)
    drawn: Counter[tuple[int, ...]] = Counter()
    told: dict[int, float] = {}
    for seed in range(seeds):
        sample = take_sample(files_of(TINY), "2", seed)
        drawn[numbers_of(sample)] += 1
        told |= zip(numbers_of(sample), sample.chances, strict=True)
    # So Horvitz and Thompson's estimate is exactly right on average.
    for file, chance in told.items():
        assert chance == pytest.approx(sum(p for files, p in samples.items() if file in files))
    assert set(told) == set(range(6))
    assert set(drawn) <= set(samples)
    common = {files: chance for files, chance in samples.items() if chance > 0.008}
    expected = np.array(list(common.values())) * seeds
    observed = np.array([drawn[files] for files in common])
    assert ((observed - expected) ** 2 / expected).sum() < stats.chi2.ppf(0.999, len(common))


# What follows from a sample


def test_an_estimate_done_by_hand() -> None:
    # Two files are certain; ten of 40 were drawn, the larger ones with twice the chance.
    counts = [100, 50, 10, 20, 4, 5, 9, 11, 7, 3, 12, 8]
    sizes = [50, 40, 2, 2, 1, 1, 1, 1, 1, 1, 2, 1]
    chances = [1, 1, 0.4, 0.4, 0.2, 0.2, 0.2, 0.2, 0.2, 0.2, 0.4, 0.2]
    estimate = cluster_total(counts, sizes, chances, 90 + 60)
    y, x, p = (np.array(column[2:], dtype=float) for column in (counts, sizes, chances))
    per_size = (y / p).sum() / (x / p).sum()
    assert (x / p).sum() == pytest.approx(50)
    assert estimate.value == pytest.approx(150 + per_size * 60)
    residuals = 60 / 50 * (y - per_size * x) / p
    squares = (1 - p) * residuals**2
    error = math.sqrt(10 / 9 * (squares.sum() + 2 * squares.max()))
    factor = math.exp(stats.t.ppf(0.975, 9) * error / (per_size * 60))
    assert estimate.high == pytest.approx(150 + per_size * 60 * factor)
    assert estimate.low == pytest.approx(150 + per_size * 60 / factor)
    assert estimate.note == "unreliable interval: one file makes up 12% of the estimate"


def test_with_equal_chances_it_is_the_estimate_of_the_text_books() -> None:
    counts = [10, 20, 0, 5, 9, 11, 7, 3, 12, 8, 15, 20]
    estimate = cluster_total(counts, [1] * 12, [0.12] * 12, 100)
    y = np.array(counts)
    assert estimate.value == pytest.approx(100 * y.mean())
    squares = (y - y.mean()) ** 2
    variance = (squares.sum() + 2 * squares.max()) / 11
    error = 100 * math.sqrt((1 - 0.12) / 12 * variance)
    assert estimate.high == pytest.approx(
        estimate.value * math.exp(stats.t.ppf(0.975, 11) * error / estimate.value)
    )


def test_over_all_samples_with_equal_chances_the_mean_estimate_is_the_total() -> None:
    counts = [0, 3, 4, 9, 30, 2, 2]
    estimates = [
        cluster_total([counts[i] for i in drawn], [1] * 3, [3 / 7] * 3, 7).value
        for drawn in combinations(range(7), 3)
    ]
    assert np.mean(estimates) == pytest.approx(50)


def test_counts_in_proportion_to_size_have_no_error() -> None:
    sample = take_sample(files_of([10 * 2**n for n in range(18)]), "12", 3)
    counts = [3 * (file.size or 0) for file in sample.files]
    estimate = estimate_total(sample, counts)
    assert estimate.value == pytest.approx(30 * (2**18 - 1))
    assert (estimate.low, estimate.high, estimate.note) == (None, None, NO_VARIATION)


NO_VARIATION = "no interval: the counts of the files do not vary"
CLUSTERS = [
    (500, ([5] * 9, [1] * 9, [0.09] * 9, 100), "no interval: only 9 files were read"),
    (18, ([0] * 41 + [1] * 9, [1] * 50, [0.5] * 50, 100), "no interval: it is in 9 of 50 files, t"),
    (
        *(118, ([9] * 12 + [1] + [0] * 19, [1] * 32, [1.0] * 12 + [0.1] * 20, 212)),
        "no interval: it is in 1 of 20 files drawn by chance",
    ),
    (400, ([4] * 20, [1] * 20, [0.2] * 20, 100), NO_VARIATION),
    (2000, ([9, 11] * 10, [1] * 20, [0.1] * 20, 200), ""),
    (
        2400,
        ([9, 11] * 10 + [40], [1] * 21, [0.1] * 21, 210),
        f"{UNTRUSTED}: one file makes up 17%",
    ),
    # A file that was certain to be read adds no error, however large it is.
    (2040, ([9, 11] * 10 + [40], [1] * 20 + [4], [0.1] * 20 + [1], 204), ""),
]


@pytest.mark.parametrize(("value", "clusters", "note"), CLUSTERS)
def test_few_or_rare_clusters_have_no_interval_and_a_single_large_one_is_told(
    value: float, clusters: tuple[list[int], list[int], list[float], int], note: str
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
MakeCounts = Callable[[np.random.Generator, Array], Array]


def rates(log_sd: float, with_size: float = 0) -> MakeCounts:
    """Return counts at lognormal rates, per file, which may go up or down with the size."""

    def counts(random: np.random.Generator, sizes: Array) -> Array:
        rate = np.exp(random.normal(0, log_sd, sizes.size)) * (sizes / 20) ** with_size
        return random.poisson(sizes * rate).astype(float)

    return counts


def in_a_quarter(random: np.random.Generator, sizes: Array) -> Array:
    return np.where(random.random(sizes.size) < 0.25, rates(1)(random, sizes), 0)


def rare(random: np.random.Generator, sizes: Array) -> Array:
    return random.poisson(sizes / 50 * random.gamma(1, 1, sizes.size)).astype(float)


# Standard deviation of log sizes, counts, least coverage, and whether sizes are known.
CORPORA: dict[str, tuple[float, MakeCounts, float, bool]] = {
    "sizes 2, rates 1": (2, rates(1), 0.92, True),
    "sizes 1, rates 1": (1, rates(1), 0.92, True),
    "sizes 2, rates 0.5": (2, rates(0.5), 0.92, True),
    "sizes 2, rates 1, higher in large files": (2, rates(1, 0.3), 0.92, True),
    "sizes 2, rates 1, lower in large files": (2, rates(1, -0.3), 0.92, True),
    "sizes 1.5, a document per file": (1.5, lambda _, sizes: np.ones(sizes.size), 0.92, True),
    "sizes 1, counts without regard to size": (1, rates(1, -1), 0.92, True),
    "sizes 2, counts without regard to size": (2, rates(1, -1), 0.88, True),
    "sizes 2, rare: one in 50,000 bytes": (2, rare, 0.92, True),
    "sizes 1, in a quarter of files": (1, in_a_quarter, 0.9, True),
    "sizes 2, rates 1.5": (2, rates(1.5), 0.86, True),
    "sizes alike, rates 1": (0, rates(1), 0.92, True),
    "sizes not known, 0.5, rates 0.5": (0.5, rates(0.5), 0.92, False),
    "sizes not known, 1, rates 1": (1, rates(1), 0.85, False),
    "sizes not known, 2, rates 1": (2, rates(1), 0.7, False),
}


def outcome(name: str, n: int, n_corpora: int, samples: int) -> tuple[float, float]:
    """Take samples of several corpora of 400 files, and see whether the intervals have the total.

    Returns coverage, and mean of the estimates over the total.
    """
    log_sd, make_counts, _, knows_sizes = CORPORA[name]
    random = np.random.default_rng(20261120)
    values, holds = [], []
    for corpus in range(n_corpora):
        sizes = np.exp(random.normal(np.log(20_000), log_sd, 400)).round()
        counts = make_counts(random, sizes / 1000).astype(int)
        files = files_of(sizes.astype(int).tolist() if knows_sizes else [None] * 400)
        total = int(counts.sum())
        for seed in range(samples):
            sample = take_sample(files, str(n), corpus * samples + seed)
            estimate = estimate_total(sample, counts[list(numbers_of(sample))].tolist())
            values.append(estimate.value / total)
            if estimate.low is not None and estimate.high is not None:
                holds.append(estimate.low <= total <= estimate.high)
    return float(np.mean(holds)), float(np.mean(values))


QUICK = ("sizes 2, rates 1", 10, sets(25))
MANY = [pytest.param(name, 40, 100, marks=pytest.mark.slow) for name in CORPORA]


@pytest.mark.parametrize("n", [20, 80])
@pytest.mark.parametrize(("name", "n_corpora", "samples"), [QUICK, *MANY])
def test_the_interval_holds_the_total(name: str, n_corpora: int, samples: int, n: int) -> None:
    coverage, mean = outcome(name, n, n_corpora, samples)
    assert coverage >= CORPORA[name][2]
    assert mean == pytest.approx(1, abs=0.06)


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


def rows_of(frame: pd.DataFrame, key: str = "query") -> dict[Any, dict[Any, Any]]:
    return frame.set_index(key).to_dict("index")


def test_estimates_are_labelled_in_rows_and_in_the_table(
    shards: tuple[Path, dict[str, int]],
) -> None:
    folder, totals = shards
    spec = f"scan:{folder}"
    rows = rows_of(count("f1", index=spec, sample_files="50%", seed=5))
    assert all(row["estimated"] for row in rows.values())
    row, rare = rows["solve for"], rows["governing equation"]
    assert row["occurrences_low"] <= totals["solve for"] <= row["occurrences_high"]
    assert row["documents_low"] <= row["documents"] <= row["documents_high"]
    assert row["level"] == 0.95
    description = "estimate from 30 of 60 files, drawn in proportion to bytes (14 of them certain)"
    assert row["note"] == f"{description}, seed 5"
    assert pd.isna(rare["occurrences_low"])
    assert pd.isna(rare["level"])
    assert "files, too rare for this sample" in rare["note"]
    ran = run("count", "f1", "--index", spec, "--sample-files", "50%", "--seed", "5", "-q")
    assert description in ran.stdout
    assert f"≈{row['occurrences']:,} [" in ran.stdout


def test_all_files_as_a_sample_are_exact_and_few_give_no_interval(
    shards: tuple[Path, dict[str, int]],
) -> None:
    folder, totals = shards
    rows = rows_of(count("f1", index=f"scan:{folder}", sample_files="100%"))
    for query, total in totals.items():
        row = rows[query]
        assert row["occurrences_low"] == row["occurrences"] == row["occurrences_high"] == total
    few = count("f1", index=f"scan:{folder}", sample_files=5)
    assert few["occurrences_low"].isna().all()
    assert few["note"].str.contains("no interval: only 5 files were read").all()


def test_a_size_that_is_estimated_is_not_shown_as_known(
    shards: tuple[Path, dict[str, int]],
) -> None:
    spec = f"scan:{shards[0]}"

    def heading(*options: str) -> str:
        return run("count", "f1", "--index", spec, "-q", *options).stdout.split("  method ")[0]

    exact = heading()
    assert heading("--sample-files", "100%") == exact
    known = re.search(r" · (\S+) (\S+) of text · ([\d,]+) documents", exact)
    sampled = heading("--sample-files", "50%", "--seed", "5").replace("\n", " ")
    number = r"([\d.,]+)(?: [kM]?B)?"
    form = rf"≈{number} \[{number}, {number}\]"
    found = re.search(rf" · {form} of text · {form} documents", sampled)
    assert known, exact
    assert found, sampled
    truths = known[1], known[3]
    for truth, ends in zip(truths, (found.groups()[:3], found.groups()[3:]), strict=True):
        value, low, high, true = (float(one.replace(",", "")) for one in (*ends, truth))
        assert low <= true <= high
        assert low < value < high
    few = heading("--sample-files", "5")
    assert few.count("(no interval: only 5 files were read)") == 2
    assert few.count("≈") == 2


def test_rows_say_which_interval_a_single_file_decides(tmp_path: Path) -> None:
    for number in range(45):
        heavy = number % 3 == 0
        texts = ["solve for x"] * (60 if heavy else 1) + ["governing equation"] * (20 + number % 2)
        texts += ["nothing" * 2] * (1 if heavy else 60)
        (tmp_path / f"{number:02}.jsonl").write_bytes(corpus_files.jsonl(texts))
    spec, totals = f"scan:{tmp_path}", tmp_path / "totals.csv"
    rows = rows_of(count("f1", index=spec, sample_files=15))
    said, doubtful = f"{UNTRUSTED}: one file makes up 1", rows["solve for"]
    assert said in doubtful["note"]
    assert doubtful["occurrences_low"] < doubtful["occurrences_high"]
    assert UNTRUSTED not in rows["governing equation"]["note"]
    table = run("count", "f1", "--index", spec, "--sample-files", "15", "-q").stdout
    assert table.count("(doubtful)") == 2  # occurrences and documents of one pattern
    assert "doubtful: a single file makes up more than a tenth of the estimate" in table
    frame = docnorm("f1", index=spec, sample_files=15, method="f-1", totals=totals)
    assert said in rows_of(frame, "pattern")["solve for"]["note"]
    notes = pd.read_csv(totals).query("statistic == 'documents'")["note"]
    assert notes.str.contains(UNTRUSTED).any()


def test_without_sizes_the_estimate_is_per_file(tmp_path: Path) -> None:
    for n in range(100):
        (tmp_path / f"{n}.jsonl").write_text('{"text": "%s"}\n' % ("a" * (3 + 2 * (n % 2))))
    corpus = open_corpus(str(tmp_path))
    corpus = replace(corpus, files=[replace(file, size=None, status="") for file in corpus.files])
    index = ScanIndex(corpus, IndexOptions(sample_files="20", seed=1), SILENT)
    (counted,) = index.counts(["a"])
    drawn = numbers_of(take_sample(corpus.files, "20", 1))
    assert counted.occurrences == 5 * sum(3 + 2 * (n % 2) for n in drawn)
    assert (counted.documents, index.size().documents) == (100, 100)
    assert counted.note == (
        "estimate from 20 of 100 files, drawn with equal chances, seed 1;"
        f" documents: {NO_VARIATION}"
    )
