"""Some files of a corpus, drawn at random, and what they say about all of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ngramscan.corpora import CorpusFile, Piece, split
from ngramscan.errors import InputError
from ngramscan.estimates import Estimate, cluster_total
from ngramscan.indexes.base import IndexSize


@dataclass(frozen=True, slots=True)
class Sample:
    """Files that were drawn without replacement, each as likely as any other."""

    files: list[CorpusFile]
    n_files: int
    """Of all files, drawn or not."""
    total_size: int | None
    """Bytes of all files; None: not all are known."""
    seed: int

    def pieces(self) -> list[Piece]:
        """Return what there is to read."""
        return [piece for file in self.files for piece in split(file)]

    @property
    def description(self) -> str:
        """Return what was drawn and how totals are made of it."""
        by = "in proportion to bytes" if self.total_size is not None else "per file"
        return f"estimate from {len(self.files)} of {self.n_files} files, {by}, seed {self.seed}"


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
    drawn = np.random.default_rng(seed).choice(len(files), n, replace=False)
    sizes = [file.size for file in files]
    known = [size for size in sizes if size]
    total = sum(known) if len(known) == len(sizes) else None
    return Sample([files[i] for i in sorted(drawn)], len(files), total, seed)


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
    if sample.total_size is None:
        return cluster_total(values, [1] * len(values), sample.n_files, sample.n_files)
    bytes_on_disk = [file.size or 0 for file in sample.files]
    return cluster_total(values, bytes_on_disk, sample.n_files, sample.total_size)


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
        notes = (sample.description, of_occurrences.note)
        note = "; ".join(part for part in notes if part)
        estimates.append(QueryEstimate(of_occurrences, of_documents, note))
    columns = zip(*sizes, strict=True)
    n_documents, n_bytes = (estimate_total(sample, column).value for column in columns)
    return estimates, IndexSize(round(n_documents), round(n_bytes))
