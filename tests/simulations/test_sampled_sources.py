"""Shares of sources from a sample of files: how often the limits of all of them hold together."""

from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from numpy.typing import NDArray

from ngramscan.corpora import CorpusFile
from ngramscan.indexes.scan.sampling import estimate_share, take_sample
from ngramscan.statistics.estimates import level_of_each
from tests.support.sizes import sets

FILES = 400
Counts = NDArray[np.int64]


class MadeCorpus(NamedTuple):
    """Files of random sizes, and how the occurrences in them are spread over sources."""

    shares: tuple[float, ...]
    """The expected share of each source."""
    likeness: float
    """How alike the sources of different files are; near 0: each file has a single source."""
    log_sd: float = 1.0
    """Standard deviation of the logarithm of sizes, and in half of it of rates."""
    has_sizes: bool = True

    def counts(self, random: np.random.Generator) -> tuple[NDArray[np.float64], Counts]:
        """Return the size of each file, and its occurrences by source."""
        sizes = np.exp(random.normal(np.log(20_000), self.log_sd, FILES)).round()
        rates = np.exp(random.normal(0, self.log_sd / 2, FILES)) / 500
        shares = np.array(self.shares)
        of_files = shares + np.zeros((FILES, 1))
        if self.likeness:
            of_files = random.dirichlet(self.likeness * shares, FILES)
        return sizes, random.poisson((sizes * rates)[:, None] * of_files)


CORPORA = {
    "two sources": MadeCorpus((0.7, 0.3), likeness=2),
    "four sources": MadeCorpus((0.5, 0.25, 0.15, 0.1), likeness=4),
    "a source per file": MadeCorpus((0.6, 0.4), likeness=0.2),
    "all files alike": MadeCorpus((0.8, 0.15, 0.05), likeness=0),
    "sizes very different": MadeCorpus((0.6, 0.3, 0.1), likeness=3, log_sd=2.0),
    "sizes alike": MadeCorpus((0.6, 0.3, 0.1), likeness=3, log_sd=0.0),
    "sizes unknown": MadeCorpus((0.6, 0.3, 0.1), likeness=3, log_sd=0.7, has_sizes=False),
    "many sources": MadeCorpus((0.3, *[0.05] * 14), likeness=10),
}


@pytest.mark.parametrize("n", [40, 120])
@pytest.mark.parametrize("name", CORPORA)
def test_limits_hold_for_all_sources_together(name: str, n: int) -> None:
    made, random = CORPORA[name], np.random.default_rng(11)
    held, n_shares, n_intervals, ratios = [], 0, 0, []
    for seed in range(sets(200)):
        if seed % 10 == 0:
            sizes, counts = made.counts(random)
            known_sizes = sizes.astype(int).tolist() if made.has_sizes else [None] * FILES
            files = [CorpusFile(f"{at}.txt", "text", size) for at, size in enumerate(known_sizes)]
            truths = counts.sum(axis=0) / counts.sum()
        sample = take_sample(files, str(n), seed)
        sampled_counts = counts[[int(Path(file.path).stem) for file in sample.files]]
        totals = sampled_counts.sum(axis=1).tolist()
        sources = np.flatnonzero(sampled_counts.sum(axis=0))
        level = level_of_each(0.95, sources.size)
        estimates = [
            estimate_share(sample, sampled_counts[:, source].tolist(), totals, level)
            for source in sources
        ]
        assert sum(estimate.value for estimate in estimates) == pytest.approx(1)
        ratios.append(estimates[0].value / truths[sources[0]])
        n_shares += sources.size
        n_intervals += sum(estimate.low is not None for estimate in estimates)
        held.append(
            all(
                estimate.low is None or estimate.limits[0] <= truth <= estimate.limits[1]
                for estimate, truth in zip(estimates, truths[sources], strict=True)
            )
        )
    assert np.mean(held) >= 0.93
    assert np.mean(ratios) == pytest.approx(1, abs=0.05)
    # Otherwise hardly any limits were tried.
    assert n_intervals >= 0.5 * n_shares
