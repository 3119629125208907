"""Samples of files: how they are drawn, and what follows, against totals that are known."""

import json
import math
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import pairwise, permutations
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray
from scipy import stats

from ngramscan import count
from ngramscan.corpora import CorpusFile, open_corpus
from ngramscan.errors import InputError
from ngramscan.indexes.options import IndexOptions
from ngramscan.indexes.scan.index import ScanIndex
from ngramscan.indexes.scan.sampling import Sample, estimate_total, take_sample
from ngramscan.progress import SILENT
from tests.support import corpus_files
from tests.support.command import invoke
from tests.support.sizes import sets, slow

FILES = [CorpusFile(f"{n}.jsonl", "jsonl", 1000 + n) for n in range(400)]


@pytest.mark.parametrize(
    "amount", ["0", "-1", "401", "0%", "101%", "some", "%", "1.5", "nan%", "inf%", "-5%"]
)
def test_amounts_that_are_none_are_refused(amount: str) -> None:
    with pytest.raises(InputError, match=f"--sample-files {amount}: "):
        take_sample(FILES, amount, 1)


def test_a_sample_is_seeded_and_without_replacement() -> None:
    sample = take_sample(FILES, "40", 7)
    assert len({file.path for file in sample.files}) == 40
    assert take_sample(FILES, "10%", 7) == sample
    assert take_sample(FILES, "40", 8).files != sample.files
    assert sample.total_size == sum(file.size or 0 for file in FILES)
    unknown = [*FILES[1:], CorpusFile("x.jsonl", "jsonl", None)]
    assert take_sample(unknown, "40", 7).total_size == 400
    assert len(take_sample(FILES, "0.01%", 1).files) == 1


# How files are drawn


def numbers_of(sample: Sample) -> tuple[int, ...]:
    return tuple(int(Path(file.path).stem) for file in sample.files)


def files_of(sizes: Sequence[int | None]) -> list[CorpusFile]:
    return [CorpusFile(f"{n}.jsonl", "jsonl", size) for n, size in enumerate(sizes)]


@pytest.mark.parametrize("n", [1, 7, 49, 50])
@pytest.mark.parametrize(
    "sizes",
    [
        pytest.param([1000] * 50, id="alike"),
        pytest.param([1, 10, 100, 1000, 10_000] * 10, id="of five sizes"),
        pytest.param([0] * 30 + [5] * 20, id="most empty"),
        pytest.param([0] * 49 + [10**9], id="all but one empty"),
    ],
)
def test_as_many_files_are_read_as_asked_for_and_none_twice(sizes: list[int], n: int) -> None:
    for seed in range(10):
        sample = take_sample(files_of(sizes), str(n), seed)
        numbers = numbers_of(sample)
        assert len(numbers) == len(sample.chances) == n
        assert list(numbers) == sorted(set(numbers))
        assert all(0 < chance <= 1 for chance in sample.chances)


@pytest.mark.parametrize(
    ("sizes", "n", "certain", "chance"),
    [
        # 2 · (0.9 · size / 36 + 0.1 / 4)
        pytest.param([19, 6, 6, 5], 2, " (1 of them certain)", 1.0, id="exactly 1"),
        pytest.param([18, 7, 6, 5], 2, "", 0.95, id="a little less"),
        pytest.param([20, 6, 5, 5], 2, " (1 of them certain)", 1.0, id="more"),
        pytest.param([10_000, 300, 300, 300], 2, " (1 of them certain)", 1.0, id="far more"),
        pytest.param([1, 2, 3, 4], 4, "", 1.0, id="all files"),
    ],
)
def test_a_file_is_certain_where_its_chance_reaches_one(
    sizes: list[int], n: int, certain: str, chance: float
) -> None:
    for seed in range(20):
        sample = take_sample(files_of(sizes), str(n), seed)
        described = f"estimate from {n} of 4 files, drawn in proportion to bytes{certain}"
        assert sample.description == f"{described}, seed {seed}"
        chances = dict(zip(numbers_of(sample), sample.chances, strict=True))
        assert chances.get(0, chance) == pytest.approx(chance, abs=1e-12)
        assert chance < 1 or 0 in chances
        assert sample.sizes == [sizes[number] for number in numbers_of(sample)]


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
    """So the estimate of Horvitz and Thompson is exactly right on average."""
    samples, seeds = all_samples(TINY, 2), sets(1000)
    assert sum(samples.values()) == pytest.approx(1)
    drawn: Counter[tuple[int, ...]] = Counter()
    chances: dict[int, float] = {}
    for seed in range(seeds):
        sample = take_sample(files_of(TINY), "2", seed)
        drawn[numbers_of(sample)] += 1
        chances |= zip(numbers_of(sample), sample.chances, strict=True)
    assert chances == pytest.approx(
        {
            file: sum(chance for files, chance in samples.items() if file in files)
            for file in range(len(TINY))
        }
    )
    assert set(drawn) <= set(samples)
    common = {files: chance for files, chance in samples.items() if chance > 0.008}
    expected = np.array(list(common.values())) * seeds
    observed = np.array([drawn[files] for files in common])
    assert ((observed - expected) ** 2 / expected).sum() < stats.chi2.ppf(0.999, len(common))


# What follows from a sample


def test_counts_in_proportion_to_size_have_no_error() -> None:
    files = [CorpusFile(f"{n}.jsonl", "jsonl", 10 * 2**n) for n in range(18)]
    sample = take_sample(files, "12", 3)
    counts = [3 * (file.size or 0) for file in sample.files]
    estimate = estimate_total(sample, counts)
    assert estimate.value == pytest.approx(30 * (2**18 - 1))
    assert (estimate.low, estimate.high) == (None, None)
    assert estimate.note == "no interval: the counts of the files do not vary"


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


class MadeCorpus(NamedTuple):
    """Files of random sizes, and how the counts in them come about."""

    log_sd: float
    """Standard deviation of the logarithm of sizes."""
    counts: MakeCounts
    least: float = 0.92
    """The least share of samples whose interval holds the total."""
    has_sizes: bool = True


CORPORA = {
    "sizes 2, rates 1": MadeCorpus(2.0, rates(1.0)),
    "sizes 1, rates 1": MadeCorpus(1.0, rates(1.0)),
    "sizes 2, rates 0.5": MadeCorpus(2.0, rates(0.5)),
    "sizes 2, rates 1, higher in large files": MadeCorpus(2.0, rates(1.0, 0.3)),
    "sizes 2, rates 1, lower in large files": MadeCorpus(2.0, rates(1.0, -0.3)),
    "sizes 1, counts without regard to size": MadeCorpus(1.0, rates(1.0, -1.0)),
    "sizes 2, counts without regard to size": MadeCorpus(2.0, rates(1.0, -1.0), 0.88),
    "sizes 2, rare: one in 50,000 bytes": MadeCorpus(2.0, rare),
    "sizes 1, in a quarter of files": MadeCorpus(1.0, rates(1.0, part=0.25), 0.9),
    "sizes 2, rates 1.5": MadeCorpus(2.0, rates(1.5), 0.86),
    "sizes alike, rates 1": MadeCorpus(0.0, rates(1.0)),
    "sizes not known, 0.5, rates 0.5": MadeCorpus(0.5, rates(0.5), has_sizes=False),
    "sizes not known, 1, rates 1": MadeCorpus(1.0, rates(1.0), 0.85, has_sizes=False),
    "sizes not known, 2, rates 1": MadeCorpus(2.0, rates(1.0), 0.7, has_sizes=False),
    "sizes 1.5, a document per file": MadeCorpus(1.5, lambda _, sizes: np.ones(sizes.size)),
}
QUICK = [(name, 5, sets(25)) for name in ("sizes 2, rates 1", "sizes not known, 0.5, rates 0.5")]
MANY = [slow(name, 40, 100) for name in CORPORA]


@pytest.mark.parametrize("n", [20, 80])
@pytest.mark.parametrize(("name", "n_corpora", "samples"), [*QUICK, *MANY])
def test_the_interval_holds_the_total(name: str, n_corpora: int, samples: int, n: int) -> None:
    made = CORPORA[name]
    random, values, hits = np.random.default_rng(20261120), [], []
    for seed in range(n_corpora * samples):
        if seed % samples == 0:
            sizes = np.exp(random.normal(np.log(20_000), made.log_sd, 400)).round()
            counts = made.counts(random, sizes / 1000).astype(int)
            known = sizes.astype(int).tolist() if made.has_sizes else [None] * 400
            files = [CorpusFile(f"{at}.jsonl", "jsonl", size) for at, size in enumerate(known)]
        sample = take_sample(files, str(n), seed)
        drawn = counts[[int(Path(file.path).stem) for file in sample.files]]
        estimate, total = estimate_total(sample, drawn.tolist()), int(counts.sum())
        values.append(estimate.value / total)
        if estimate.low is not None and estimate.high is not None:
            hits.append(estimate.low <= total <= estimate.high)
    few = 2 * math.sqrt(0.05 * 0.95 / len(hits)) if n_corpora == 5 else 0
    assert np.mean(hits) >= made.least - few
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
    errors = [math.sqrt(chance * (1 - chance) / seeds) for chance in expected]
    assert [times[file] / seeds for file in range(len(files))] == [
        pytest.approx(chance, abs=4 * error) for chance, error in zip(expected, errors, strict=True)
    ]


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
    columns = ("occurrences_low", "occurrences", "occurrences_high")
    assert {query: [rows[query][column] for column in columns] for query in totals} == {
        query: [total] * 3 for query, total in totals.items()
    }
    few = count("f1", index=f"scan:{folder}", sample_files=5)
    assert "occurrences_low" in few.attrs["left_out"]
    assert few["note"].str.contains("no interval: only 5 files were read").all()


def test_estimates_are_labelled_in_rows_and_in_the_table(
    shards: tuple[Path, dict[str, int]],
) -> None:
    folder, totals = shards
    spec = f"scan:{folder}"
    frame = count("f1", index=spec, sample_files="50%", seed=5)
    rows: Any = frame.set_index("query").to_dict("index")
    assert all(row["estimated"] for row in rows.values())
    row, rare = rows["solve for"], rows["governing equation"]
    assert row["occurrences_low"] <= totals["solve for"] <= row["occurrences_high"]
    assert row["documents_low"] <= row["documents"] <= row["documents_high"]
    assert row["level"] == 0.95
    description = "estimate from 30 of 60 files, drawn in proportion to bytes (14 of them certain)"
    assert row["note"] == f"{description}, seed 5"
    assert pd.isna(rare["occurrences_low"])
    assert "files, too rare for this sample" in rare["note"]
    ran = invoke("count", "f1", "--index", spec, "--sample-files=50%", "--seed=5", "-q", "--all")
    assert description in " ".join(ran.stdout.split())
    assert f"≈{row['occurrences']:,} [" in ran.stdout


def test_without_sizes_the_estimate_is_per_file(tmp_path: Path) -> None:
    for number in range(100):
        text = "a" * (5 if number % 2 else 3)
        (tmp_path / f"{number}.jsonl").write_text(json.dumps({"text": text}) + "\n")
    corpus = open_corpus(str(tmp_path))
    files = [replace(file, size=None, status="") for file in corpus.files]
    index = ScanIndex(replace(corpus, files=files), IndexOptions(sample_files="20", seed=1), SILENT)
    (counted,) = index.counts(["a"])
    drawn = numbers_of(take_sample(files, "20", 1))
    assert counted.occurrences == 5 * sum(5 if number % 2 else 3 for number in drawn)
    assert (counted.documents, index.size().documents) == (100, 100)
    assert counted.note == (
        "estimate from 20 of 100 files, drawn with equal chances, seed 1;"
        " documents: no interval: the counts of the files do not vary"
    )
