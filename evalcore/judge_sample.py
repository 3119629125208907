"""A stratified random sample of outputs to judge, and what it says about all of them."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256

from evalcore.scores import ScoreKey, ScoreRow, key_of
from ngramscan.rows import Label, Plot, Share, row_kind
from ngramscan.statistics.estimates import fields_of
from ngramscan.statistics.proportions import stratified_share

STRATA = ("dataset", "model", "method", "subtask")
"""Names that may tell strata apart."""
Stratum = tuple[str, ...]


@row_kind(
    "judge --shares",
    "Estimated shares of the judges' labels",
    Plot(
        "share",
        label=("rule", "label"),
        scale="share",
        aside="{count} of {drawn} drawn",
    ),
    key=("population", "drawn", "count", "per"),
)
@dataclass(frozen=True, slots=True)
class LabelShareRow:
    """The share of one label of one judge, in all outputs from which a sample was drawn."""

    rule: Label
    label: Label | None
    """None: the judge's reply is missing or unusable."""
    population: int
    """Outputs that could have been drawn."""
    drawn: int
    count: int
    """Drawn outputs with the label."""
    share: Share
    """Estimated share of the population, a fraction: shares of strata, weighted by their size."""
    share_low: Share
    share_high: Share
    level: float
    per: str
    """The names that tell strata apart."""
    strata: int
    seed: int


@dataclass(frozen=True, slots=True)
class JudgeSample:
    """Some outputs of each stratum, drawn without replacement."""

    per: Sequence[str]
    seed: int
    keys: Mapping[Stratum, Sequence[ScoreKey]]
    sizes: Mapping[Stratum, int]
    """All outputs of each stratum."""

    @property
    def weights(self) -> dict[ScoreKey, float]:
        """The number of outputs for which each drawn one stands."""
        return {
            key: self.sizes[stratum] / len(keys)
            for stratum, keys in self.keys.items()
            for key in keys
        }

    @property
    def described(self) -> str:
        """The sizes of the sample and of the population, in words."""
        outputs = f"{len(self.weights):,} of {sum(self.sizes.values()):,} outputs"
        strata = f"{len(self.sizes)} strata ({', '.join(self.per)})"
        return f"{outputs} drawn from {strata}, seed {self.seed}"


def draw_sample(
    outputs: Mapping[ScoreKey, Stratum], number: int, per: Sequence[str], seed: int
) -> JudgeSample:
    """Draw a number of outputs from each stratum; all of a stratum that has no more.

    Whether an output is drawn depends on the seed, its names and those of the others in its
    stratum: the same seed draws the same, and a larger number adds to them.
    """
    strata: dict[Stratum, list[ScoreKey]] = defaultdict(list)
    for key in sorted(outputs, key=lambda key: sha256(repr((seed, *key)).encode()).digest()):
        strata[outputs[key]].append(key)
    drawn_keys = {stratum: keys[:number] for stratum, keys in strata.items()}
    return JudgeSample(per, seed, drawn_keys, Counter(outputs.values()))


def make_label_shares(
    rows: Iterable[ScoreRow], rules: Iterable[str], scale: Iterable[str], sample: JudgeSample
) -> Iterator[LabelShareRow]:
    """Yield the share of each label of each judge, whose rule is `judge:NAME`.

    `rows` are about the drawn outputs; `scale` has labels that have a row even if no output has
    them.
    """
    labels = {(row.rule, key_of(row)): row.answer for row in rows}
    for rule in rules:
        strata = [
            (Counter(labels.get((rule, key)) for key in keys), sample.sizes[stratum])
            for stratum, keys in sample.keys.items()
        ]
        in_all = sum((counts for counts, _ in strata), Counter[str | None]())
        labels_with_rows = [
            *scale,
            *sorted(filter(None, in_all)),
            *([None] if None in in_all else []),
        ]
        for label in dict.fromkeys(labels_with_rows):
            share = stratified_share([(n[label], n.total(), size) for n, size in strata])
            yield LabelShareRow(
                rule=rule,
                label=label,
                population=sum(sample.sizes.values()),
                drawn=in_all.total(),
                count=in_all[label],
                **fields_of("share", share),
                level=share.level,
                per=",".join(sample.per),
                strata=len(strata),
                seed=sample.seed,
            )
