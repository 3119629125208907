"""Some files of a corpus, drawn at random, and what they say about all of them.

Files differ in size, and most of what is counted is in the large ones. So where sizes are known, a
file is drawn with a chance in proportion to its bytes, and is certain to be read where that chance
reaches 1. A tenth of the chance is the same for all files: counts that have nothing to do with
size, as the number of documents where each file is one, would otherwise hang on the few small files
that happen to be drawn (a defensive mixture: Hesterberg 1995, doi:10.1080/00401706.1995.10484303).
The draw is systematic along the files in random order (Hartley & Rao 1962, Annals of Mathematical
Statistics 33:350).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ngramscan.corpora import CorpusFile
from ngramscan.errors import InputError
from ngramscan.messages import OptionUse
from ngramscan.statistics.estimates import Estimate, cluster_share, cluster_total

ALIKE = 0.1
"""The part of the inclusion probability that does not depend on size."""


@dataclass(frozen=True, slots=True)
class Sample:
    """Files that were drawn without replacement."""

    files: list[CorpusFile]
    sizes: list[int]
    """Bytes of each, at least 1; all are 1 if the size of any file of the corpus is unknown."""
    chances: list[float]
    """How likely each was to be drawn; 1: certain."""
    total_size: int
    """Size of all files of the corpus, in the same unit."""
    description: str
    """How many files were drawn, and how."""


def take_sample(files: Sequence[CorpusFile], amount: str, seed: int) -> Sample:
    """Draw some files; `amount` is a number, or a share of all with %, or an InputError."""
    n = _number(amount, len(files))
    knows_sizes = all(file.size is not None for file in files)
    sizes = [max(file.size or 0, 1) if knows_sizes else 1 for file in files]
    chances = _chances(np.array(sizes, dtype=np.float64), n)
    drawn_numbers = _draw(chances, np.random.default_rng(seed))
    by = "in proportion to bytes" if knows_sizes else "with equal chances"
    certain = int((chances == 1).sum()) if n < len(files) else 0
    with_certainty = f" ({certain} of them certain)" if certain else ""
    amount_read = f"estimate from {n} of {len(files)} files"
    return Sample(
        files=[files[i] for i in drawn_numbers],
        sizes=[sizes[i] for i in drawn_numbers],
        chances=[float(chances[i]) for i in drawn_numbers],
        total_size=sum(sizes),
        description=f"{amount_read}, drawn {by}{with_certainty}, seed {seed}",
    )


def _chances(sizes: NDArray[np.float64], n: int) -> NDArray[np.float64]:
    """Return how likely each file is to be among n, whose chances sum to n."""
    measure = (1 - ALIKE) * sizes / sizes.sum() + ALIKE / sizes.size
    chances = np.ones(sizes.size)
    others = np.ones(sizes.size, dtype=bool)
    while others.any():
        chances[others] = (n - (~others).sum()) * measure[others] / measure[others].sum()
        if not (others & (chances >= 1 - 1e-9)).any():
            break
        others &= chances < 1 - 1e-9
        chances[~others] = 1
    return chances


def _draw(chances: NDArray[np.float64], random: np.random.Generator) -> list[int]:
    order = random.permutation(np.flatnonzero(chances < 1))
    ends = np.cumsum(chances[order])
    points = random.random() + np.arange(round(ends[-1]) if order.size else 0)
    by_chance = order[np.minimum(np.searchsorted(ends, points, side="right"), order.size - 1)]
    return sorted([*np.flatnonzero(chances == 1).tolist(), *by_chance.tolist()])


def _number(amount: str, n_files: int) -> int:
    where = OptionUse("sample_files", amount)
    try:
        share = float(amount.removesuffix("%")) / 100 if amount.endswith("%") else None
        n = round(share * n_files) if share is not None else int(amount)
    except (ValueError, OverflowError) as error:
        raise InputError(where, "expected a number of files, or a share like 1%") from error
    n = max(n, 1) if share and share > 0 else n
    if not 0 < n <= n_files:
        number = "only one file" if n_files == 1 else f"{n_files} files"
        raise InputError(where, f"the corpus has {number}")
    return n


def estimate_total(sample: Sample, values: Sequence[int]) -> Estimate:
    """Estimate a total over all files from the values of the sampled files."""
    return cluster_total(values, sample.sizes, sample.chances, sample.total_size)


def estimate_share(
    sample: Sample, values: Sequence[int], totals: Sequence[int], level: float
) -> Estimate:
    """Estimate the share of some values in their totals, over all files, from the sampled files."""
    return cluster_share(values, totals, sample.sizes, sample.chances, sample.total_size, level)
