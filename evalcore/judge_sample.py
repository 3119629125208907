"""A stratified random sample of outputs to judge, and what it says about all of them."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from evalcore.scores import ScoreKey
from ngramscan.errors import InputError
from ngramscan.reporting import refuse_other
from ngramscan.statistics.proportions import stratified_share

STRATA = ("dataset", "model", "method", "subtask")
"""Names that may tell strata apart."""
DEFAULT_STRATA = STRATA[:3]
Stratum = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class LabelShareRow:
    """The share of one label of one judge, in all outputs from which a sample was drawn."""

    rule: str
    label: str | None
    """None: the judge's reply is missing or unusable."""
    population: int
    """Outputs that could have been drawn."""
    drawn: int
    count: int
    """Drawn outputs with the label."""
    share: float
    """Estimated share of the population, a fraction: shares of strata, weighted by their size."""
    share_low: float
    share_high: float
    level: float
    per: str
    """What tells strata apart."""
    strata: int
    seed: int


@dataclass(frozen=True, slots=True)
class Sample:
    """Some outputs of each stratum, drawn without replacement."""

    per: Sequence[str]
    seed: int
    drawn: Mapping[Stratum, Sequence[ScoreKey]]
    sizes: Mapping[Stratum, int]
    """All outputs of each stratum."""

    @property
    def weights(self) -> dict[ScoreKey, float]:
        """The number of outputs for which each drawn one stands."""
        return {
            key: self.sizes[stratum] / len(keys)
            for stratum, keys in self.drawn.items()
            for key in keys
        }

    @property
    def described(self) -> str:
        """What was drawn, in words."""
        of = f"{len(self.weights):,} of {sum(self.sizes.values()):,} outputs"
        return f"{of} drawn from {len(self.sizes)} strata ({', '.join(self.per)}), seed {self.seed}"


def check_sample(number: int | None, per: Sequence[str], shares: object) -> None:
    """Raise an InputError for options that need a sample, or strata that there are not."""
    if number is None and (per or shares):
        raise InputError("--per" if per else "--shares", "it goes with --sample N")
    refuse_other("--per", per, STRATA)


def draw_sample(
    outputs: Mapping[ScoreKey, Stratum], number: int, per: Sequence[str], seed: int
) -> Sample:
    """Draw so many outputs from each stratum; all of a stratum that has no more.

    Whether an output is drawn depends on the seed, its names and those of the others in its
    stratum: the same seed draws the same, and a larger number adds to them.
    """
    strata: dict[Stratum, list[ScoreKey]] = defaultdict(list)
    for key, stratum in outputs.items():
        strata[stratum].append(key)
    drawn = {
        stratum: sorted(keys, key=lambda key: hashlib.sha256(repr((seed, *key)).encode()).digest())
        for stratum, keys in strata.items()
    }
    sizes = {stratum: len(keys) for stratum, keys in strata.items()}
    return Sample(per, seed, {stratum: keys[:number] for stratum, keys in drawn.items()}, sizes)


def make_label_shares(
    labels: Mapping[str, Mapping[ScoreKey, str]],
    scale: Iterable[str],
    sample: Sample,
    level: float = 0.95,
) -> Iterator[LabelShareRow]:
    """Yield the share of each label of each judge.

    `labels` are those of the drawn outputs, by rule; `scale` has labels that have a row even if no
    output has them.
    """
    n_drawn = sum(map(len, sample.drawn.values()))
    for rule, of_judge in labels.items():
        found = [*scale, *sorted({*of_judge.values()} - {*scale})]
        for label in [*found, None] if len(of_judge) < n_drawn else found:
            counts = {
                stratum: sum(of_judge.get(key) == label for key in keys)
                for stratum, keys in sample.drawn.items()
            }
            strata = [
                (count, len(sample.drawn[stratum]), sample.sizes[stratum])
                for stratum, count in counts.items()
            ]
            share = stratified_share(strata, level)
            yield LabelShareRow(
                rule=rule,
                label=label,
                population=sum(sample.sizes.values()),
                drawn=n_drawn,
                count=sum(counts.values()),
                share=share.value,
                share_low=share.limits[0],
                share_high=share.limits[1],
                level=level,
                per=",".join(sample.per),
                strata=len(strata),
                seed=sample.seed,
            )
