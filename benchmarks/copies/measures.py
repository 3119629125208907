"""Precision and recall of the methods, from their verdicts and the truth."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Literal

from benchmarks.copies.bed import Bed, Entry, Truth
from benchmarks.copies.methods import Judged
from ngramscan.statistics.proportions import wilson

Measure = Literal[
    "precision",
    "precision without variants",
    "recall",
    "called copies",
    "variants right",
]
ALL = "all"


@dataclass(frozen=True, slots=True)
class MeasureRow:
    """One share of entries, by one method."""

    method: str
    measure: Measure
    """`precision`: entries called copies that are; `recall`: copies that are called so; `called
    copies`: other entries that are called copies; `variants right`: variants that are called so."""
    truth: str
    kind: str
    language: str
    n: int
    k: int
    share: float
    share_low: float
    share_high: float
    """Limits of Wilson's interval at 95%."""


def measure_rows(bed: Bed, judged: Mapping[str, Mapping[str, Judged]]) -> list[MeasureRow]:
    """Return the measures of each method: of all entries, by kind and by language."""
    rows: list[MeasureRow] = []
    for method, verdicts in judged.items():
        rows += precision_rows(bed, method, verdicts)
        for truth in ("copied", "decoy", "variant", "absent"):
            rows += rows_of_truth(bed, method, verdicts, truth)
    return rows


def precision_rows(bed: Bed, method: str, verdicts: Mapping[str, Judged]) -> Iterable[MeasureRow]:
    """Yield the share of right ones among the entries that are called copies."""
    called = [entry for entry in bed.entries if verdicts[entry.id].is_contaminated]
    measures: tuple[Measure, ...] = ("precision", "precision without variants")
    for measure in measures:
        counted = [entry for entry in called if measure == "precision" or entry.truth != "variant"]
        if counted:
            right = sum(entry.truth == "copied" for entry in counted)
            yield make_row(method, measure, ALL, ALL, ALL, right, len(counted))


def rows_of_truth(
    bed: Bed, method: str, verdicts: Mapping[str, Judged], truth: Truth
) -> Iterable[MeasureRow]:
    """Yield the shares of entries with this truth that are called copies."""
    entries = bed.of(truth)
    if not entries:
        return
    measure: Measure = "recall" if truth == "copied" else "called copies"

    def is_contaminated(entry: Entry) -> bool:
        return verdicts[entry.id].is_contaminated

    yield from shares(method, measure, truth, entries, is_contaminated)
    if truth == "variant" and any(judged.verdict == "variant" for judged in verdicts.values()):

        def is_variant(entry: Entry) -> bool:
            return verdicts[entry.id].verdict == "variant"

        yield from shares(method, "variants right", truth, entries, is_variant)


def shares(
    method: str,
    measure: Measure,
    truth: Truth,
    entries: Sequence[Entry],
    counts: Callable[[Entry], bool],
) -> Iterable[MeasureRow]:
    """Yield a share of all entries, of each kind, and of each language."""
    kinds = list(dict.fromkeys(entry.kind for entry in entries))
    languages = list(dict.fromkeys(entry.language for entry in entries))
    groups = [(ALL, ALL), *((kind, ALL) for kind in kinds), *((ALL, name) for name in languages)]
    for kind, language in groups:
        group = [
            entry
            for entry in entries
            if kind in (ALL, entry.kind) and language in (ALL, entry.language)
        ]
        k = sum(map(counts, group))
        yield make_row(method, measure, truth, kind, language, k, len(group))


def make_row(
    method: str, measure: Measure, truth: str, kind: str, language: str, k: int, n: int
) -> MeasureRow:
    """Return a row with Wilson's interval."""
    estimate = wilson(k, n)
    low, high = estimate.limits
    return MeasureRow(
        method=method,
        measure=measure,
        truth=truth,
        kind=kind,
        language=language,
        n=n,
        k=k,
        share=round(k / n, 4),
        share_low=round(low, 4),
        share_high=round(high, 4),
    )


def write_rows(rows: Sequence[MeasureRow], path: Path) -> None:
    """Write the rows as CSV."""
    with path.open("w", encoding="utf-8", newline="") as file:
        names = [column.name for column in fields(MeasureRow)]
        writer = csv.DictWriter(file, names, lineterminator="\n")
        writer.writeheader()
        writer.writerows(asdict(row) for row in rows)
