"""The labels of judges, and their agreement."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from ngramscan.messages import counted
from ngramscan.reporting.sentences.names import named, short_rule
from ngramscan.reporting.sentences.phrases import (
    MeasureWords,
    Row,
    finding,
    group_rows,
    known_rows,
    listed,
    more_in_table,
    number,
)
from ngramscan.reporting.sentences.sentence import Sentence

_MOST_JUDGES = 3
_MOST_LABELS = 4
_SHARE = MeasureWords("share", unit="%")
_COEFFICIENT = MeasureWords("value", limits=("low", "high"))
_COEFFICIENTS = {
    "krippendorff_alpha": "Krippendorff's alpha",
    "fleiss_kappa": "Fleiss' kappa",
    "cohen_kappa": "Cohen's kappa",
    "weighted_kappa": "Weighted kappa",
}
"""The names of coefficients, those of all judges first."""
_UNANIMOUS = MeasureWords("value", unit="%", limits=("low", "high"))


def say_label_shares(rows: Sequence[Row], _alpha: float) -> Iterator[Sentence]:
    """Yield the sentences about rows of `judge --shares`: how often a judge gives each label."""
    judges = group_rows(known_rows(rows, "share"), "rule")
    for (rule,), group in [*judges.items()][:_MOST_JUDGES]:
        order = sorted(group, key=lambda row: -float(row["share"]))
        shares = [f"{_label(row)} to {_SHARE.estimate(row)}" for row in order]
        first = order[0]
        outputs = (
            f"{counted(first['population'], 'output')}, estimated from {number(first['drawn'])}"
        )
        text = f"{short_rule(rule)} gives {listed(shares, most=_MOST_LABELS)} of {outputs}."
        yield finding(text, has_interval=any(map(_SHARE.has_interval, order[:_MOST_LABELS])))
    yield from more_in_table(len(judges) - _MOST_JUDGES, "judge")


def _label(row: Row) -> str:
    label = row.get("label")
    return "no usable label" if label is None else named(label)


def say_agreement(rows: Sequence[Row], _alpha: float) -> Iterator[Sentence]:
    """Yield the sentences about rows of `agreement`: coefficients, then unanimous labels."""
    judges = [named(row["judges"]) for row in rows if row.get("statistic") == "share"]
    everyone = listed([*dict.fromkeys(judges)]) or "all judges"
    computed = known_rows(rows, "value")
    for statistic in _COEFFICIENTS:
        group = [row for row in computed if row["statistic"] == statistic]
        for row in group[:_MOST_JUDGES]:
            text = _coefficient(row, everyone)
            yield finding(text, has_interval=_COEFFICIENT.has_interval(row))
        yield from more_in_table(len(group) - _MOST_JUDGES, "pair", "judges")
    for row in computed:
        if row["statistic"] == "unanimous":
            share = f"{_UNANIMOUS.estimate(row)} of {counted(row['items'], 'item')}"
            text = f"All judges give the same label to {share}."
            yield finding(text, has_interval=_UNANIMOUS.has_interval(row))
            break


def _coefficient(row: Row, everyone: str) -> str:
    """Return a coefficient in words, with its judges and the number of items."""
    judges = everyone
    if row["judges"] not in {None, "all"}:
        judges = listed([named(name) for name in str(row["judges"]).split(" · ")])
    name = _COEFFICIENTS[row["statistic"]]
    return f"{name} of {judges} is {_COEFFICIENT.estimate(row)} over {_items(row)}."


def _items(row: Row) -> str:
    return "unknown items" if row.get("items") is None else counted(row["items"], "item")


def say_votes(rows: Sequence[Row], _alpha: float) -> Iterator[Sentence]:
    """Yield the sentences about rows of `agreement --votes`: the labels that have most votes."""
    counts = Counter(row["label"] for row in known_rows(rows, "label")).most_common()
    labels = [f"{named(label)} for {number(n)}" for label, n in counts]
    items = counted(len(rows), "item")
    undecided = len(rows) - sum(n for _, n in counts)
    lack = f"{number(undecided)} {'has' if undecided == 1 else 'have'} tied votes or none"
    if not labels:
        yield finding(f"No label has a majority of the votes on {items}: {lack}.")
        return
    tied = f"; {lack}" if undecided else ""
    yield finding(f"The label with the most votes is {listed(labels)} of {items}{tied}.")
