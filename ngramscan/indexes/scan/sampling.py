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

from ngramscan.corpora import CorpusFile, Piece, split
from ngramscan.errors import InputError
from ngramscan.indexes.base import IndexSize
from ngramscan.statistics.estimates import Estimate, cluster_total

ALIKE = 0.1
"""The part of the chance to be drawn that does not depend on size."""


@dataclass(frozen=True, slots=True)
class Sample:
    """Files that were drawn without replacement."""

    files: list[CorpusFile]
    chances: list[float]
    """How likely each was to be drawn; 1: certain."""
    n_files: int
    """Of all files, drawn or not."""
    total_size: int | None
    """Bytes of all files; None: not all are known, and each file was as likely as any other."""
    seed: int

    def pieces(self) -> list[Piece]:
        """Return what there is to read."""
        return [piece for file in self.files for piece in split(file)]

    @property
    def description(self) -> str:
        """Return what was drawn and how."""
        by = "with equal chances" if self.total_size is None else "in proportion to bytes"
        certain = self.chances.count(1) if len(self.files) < self.n_files else 0
        told = f" ({certain} of them certain)" if certain else ""
        return (
            f"estimate from {len(self.files)} of {self.n_files} files, drawn {by}{told},"
            f" seed {self.seed}"
        )


@dataclass(frozen=True, slots=True)
class QueryEstimate:
    """What a sample says of one query."""

    occurrences: Estimate
    documents: Estimate
    note: str


def take_sample(files: Sequence[CorpusFile], amount: str, seed: int) -> Sample:
    """Draw some files; `amount` is a number, or a share of all with %.

    Raises
    ------
    InputError
        The amount is neither, or more than there are.
    """
    n = _number(amount, len(files))
    sizes = _sizes(files)
    chances = _chances(np.array(sizes or [1] * len(files), dtype=np.float64), n)
    drawn = _draw(chances, np.random.default_rng(seed))
    return Sample(
        [files[i] for i in drawn],
        [float(chances[i]) for i in drawn],
        len(files),
        None if sizes is None else sum(sizes),
        seed,
    )


def _sizes(files: Sequence[CorpusFile]) -> list[int] | None:
    """Return the bytes of each file, at least 1; None where not all are known."""
    sizes = [file.size for file in files]
    return None if None in sizes else [max(size or 0, 1) for size in sizes]


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
    """Return the numbers of the files that are drawn, in order."""
    order = random.permutation(np.flatnonzero(chances < 1))
    ends = np.cumsum(chances[order])
    points = random.random() + np.arange(round(ends[-1]) if order.size else 0)
    by_chance = order[np.minimum(np.searchsorted(ends, points, side="right"), order.size - 1)]
    return sorted([*np.flatnonzero(chances == 1).tolist(), *by_chance.tolist()])


def _number(amount: str, n_files: int) -> int:
    where = f"--sample-files {amount}"
    try:
        share = float(amount.removesuffix("%")) / 100 if amount.endswith("%") else None
        n = round(share * n_files) if share is not None else int(amount)
    except ValueError as error:
        raise InputError(where, "a number of files, or a share like 1%, was expected") from error
    n = max(n, 1) if share else n
    if not 0 < n <= n_files:
        raise InputError(where, f"between 1 and {n_files} files, all there are, were expected")
    return n


def estimate_total(sample: Sample, values: Sequence[int]) -> Estimate:
    """Estimate a total over all files from its values in those of the sample."""
    sizes = _sizes(sample.files) if sample.total_size is not None else None
    return cluster_total(
        values,
        sizes or [1] * len(values),
        sample.chances,
        sample.total_size or sample.n_files,
    )


def estimate_counts(
    sample: Sample,
    occurrences: Sequence[Sequence[int]],
    documents: Sequence[Sequence[int]],
    sizes: Sequence[tuple[int, int]],
) -> tuple[list[QueryEstimate], IndexSize]:
    """Estimate the counts of each query, and the size, of all files.

    Parameters
    ----------
    sample : Sample
        The files that were read.
    occurrences, documents : sequences, shape (files, queries)
        What was counted in each file.
    sizes : sequence, shape (files, 2)
        Documents and bytes of text of each file.
    """
    estimates = []
    for per_query, in_documents in zip(
        zip(*occurrences, strict=True), zip(*documents, strict=True), strict=True
    ):
        of_occurrences = estimate_total(sample, per_query)
        of_documents = estimate_total(sample, in_documents)
        notes = [sample.description, of_occurrences.note]
        if of_documents.note and not of_occurrences.note:
            notes.append(f"documents: {of_documents.note}")
        note = "; ".join(part for part in notes if part)
        estimates.append(QueryEstimate(of_occurrences, of_documents, note))
    columns = zip(*sizes, strict=True)
    n_documents, n_bytes = (estimate_total(sample, column).value for column in columns)
    return estimates, IndexSize(round(n_documents), round(n_bytes))
