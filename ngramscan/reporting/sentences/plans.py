"""Planned comparisons, and power by number of problems."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ngramscan.messages import counted
from ngramscan.reporting.sentences.names import named, scope_of
from ngramscan.reporting.sentences.phrases import (
    Row,
    finding,
    group_rows,
    known_rows,
    more_in_table,
    number,
)
from ngramscan.reporting.sentences.sentence import Sentence

_WHERE = ("dataset", "model", "rule")
_CURVE = (*_WHERE, "baseline", "treatment", "epochs", "difference")
_MOST_PLANS = 3
"""Maximum plans with a sentence each."""


def say_plans(rows: Sequence[Row], _alpha: float) -> Iterator[Sentence]:
    """Yield the sentences about rows of `plan`: how many problems each needs."""
    computed = known_rows(known_rows(rows, "difference"), "target_power")
    for row in computed[:_MOST_PLANS]:
        yield finding(f"{_needed(row)}{_at_hand(row)}.")
    yield from more_in_table(len(computed) - _MOST_PLANS, "plan")


def _needed(row: Row) -> str:
    """Return how many problems show a difference."""
    power = _percent(row["target_power"])
    where = f"{_difference(row)} with {power} power"
    if row.get("needed_n") is None:
        return f"No number of problems up to ten million shows {where}"
    clusters = row.get("needed_clusters")
    inside = "" if clusters is None else f" in {counted(clusters, 'cluster')}"
    verb = "shows" if row["needed_n"] == 1 else "show"
    return f"{counted(row['needed_n'], 'problem')}{inside} {verb} {where}"


def _at_hand(row: Row) -> str:
    """Return the power of the available problems, and the difference that they can show."""
    n, power, detectable = (row.get(name) for name in ("n", "power", "detectable"))
    if n is None or (power is None and detectable is None):
        return ""
    texts = []
    if power is not None:
        texts.append(f"have {_percent(power)} power")
    if detectable is not None:
        points = number(detectable, is_share=True)
        texts.append(f"can show {points} points with {_percent(row['target_power'])}")
    return f"; {counted(n, 'problem')} {' and '.join(texts)}"


def say_power(rows: Sequence[Row], _alpha: float) -> Iterator[Sentence]:
    """Yield the sentences about rows of `plan --curve`: the ends of each curve."""
    computed = [
        row for row in known_rows(rows, "power") if None not in (row["n"], row["difference"])
    ]
    curves = group_rows(computed, *_CURVE)
    for curve in [*curves.values()][:_MOST_PLANS]:
        first, last = (choose(curve, key=lambda row: float(row["n"])) for choose in (min, max))
        problems = counted(first["n"], "problem")
        text = f"The power to show {_difference(first)} is {_percent(first['power'])}"
        text += f" with {problems}"
        if last["n"] != first["n"]:
            text += f" and {_percent(last['power'])} with {number(last['n'])}"
        yield finding(f"{text}.")
    yield from more_in_table(len(curves) - _MOST_PLANS, "curve")


def _difference(row: Row) -> str:
    """Return which difference is to be found, between which methods, from how many answers."""
    text = f"a difference of {number(row['difference'], is_share=True)} points"
    if row.get("treatment") and row.get("baseline"):
        text += f" between {named(row['treatment'])} and {named(row['baseline'])}"
    text += scope_of(row, _WHERE)
    if (epochs := row.get("epochs")) is not None and epochs > 1:
        text += f", with {counted(epochs, 'answer')} to each problem"
    return text + ("," if "," in text else "")


def _percent(share: float) -> str:
    return f"{number(share, is_share=True)}%"
