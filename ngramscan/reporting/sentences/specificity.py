"""Tiers of patterns, key n-grams and strategies of methods."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from ngramscan.messages import counted
from ngramscan.reporting.sentences.names import named, quoted, scope_of
from ngramscan.reporting.sentences.phrases import (
    Row,
    group_rows,
    known_rows,
    level_text,
    listed,
    number,
)
from ngramscan.reporting.sentences.sentence import Sentence
from ngramscan.reporting.sentences.shares import (
    MOST_NAMED,
    broadest,
    has_ends,
    interval_of,
    share_of,
)

_SCOPE = ("dataset", "model")


def say_tiers(rows: Sequence[Row], _alpha: float) -> Iterator[Sentence]:
    """Yield how many patterns are in their declared tier, and which one tells most."""
    shown = broadest(rows)
    known = known_rows(shown, "agrees")
    if known:
        yield Sentence(_tier_counts(known))
    ratios = [row for row in known_rows(shown, "ratio") if row.get("ratio_low") is not None]
    if ratios:
        row = max(ratios, key=lambda row: row["ratio_low"])
        ratio = f"{number(row['ratio'])}{interval_of(row, 'ratio')}"
        first = f"{quoted(row['pattern'])} stands out most by the limits of its ratio: it is"
        method, scope = named(row["method"]), scope_of(row, _SCOPE, shown)
        text = f"{first} {ratio} times as frequent in outputs of {method} as in others{scope}."
        yield Sentence(text, is_finding=True, has_interval=True)
    if lacking := len(shown) - len(known_rows(shown, "ratio")):
        verb = "has" if lacking == 1 else "have"
        first = f"{counted(lacking, 'pattern')} {verb} no ratio"
        yield Sentence(f"{first}, as there is none without an occurrence.")


def _tier_counts(rows: Sequence[Row]) -> str:
    """Return how many of some patterns are in their tier, by the interval or the ratio alone."""
    alone = sum(bool(row["agrees"] and row.get("interval_spans_tiers")) for row in rows)
    whole = sum(bool(row["agrees"]) for row in rows) - alone
    first = f"{number(whole)} of {counted(len(rows), 'pattern')} {'is' if whole == 1 else 'are'}"
    texts = [f"{first} in the declared tier with the whole interval"]
    if alone:
        texts.append(f"{number(alone)} by the ratio alone")
    if others := len(rows) - whole - alone:
        texts.append(f"{number(others)} not")
    return f"{', '.join(texts)}."


def say_keyness(rows: Sequence[Row], alpha: float) -> Iterator[Sentence]:
    """Yield how many n-grams are shown to be typical of the method, and the surest ones."""
    found = [
        row
        for row in known_rows(rows, "q")
        if row["q"] <= alpha and (row.get("log_ratio_low") or 0) > 0
    ]
    n = counted(len(rows), "n-gram")
    some = f"{number(len(found))} of {n}" if found else f"Not one of {n}"
    rule = f"q ≤ {level_text(alpha)}, interval of the ratio above 1"
    verb = "are" if len(found) > 1 else "is"
    text = f"{some} {verb} shown to be typical of the method ({rule})"
    by_limit = sorted(found, key=lambda row: row["log_ratio_low"], reverse=True)
    if surest := [_times(row) for row in by_limit[:MOST_NAMED]]:
        surest[0] += " times as frequent as in the other outputs"
        text += "; by the surest limits, " if len(found) > len(surest) else "; "
        text += listed(surest)
    yield Sentence(
        f"{text}.", is_finding=True, has_interval=has_ends(found, "log_ratio"), is_claim=True
    )


def _times(row: Row) -> str:
    """Return an n-gram with the ratio of its rates and its interval."""
    ratio, *ends = (
        "no limit" if value is None else number(2.0**value)
        for value in (row["log_ratio"], row.get("log_ratio_low"), row.get("log_ratio_high"))
    )
    return f"{quoted(row['ngram'])} is {ratio} [{', '.join(ends)}]"


def say_strategies(rows: Sequence[Row], _alpha: float) -> Iterator[Sentence]:
    """Yield which strategy most outputs of each prompt follow."""
    known = broadest(known_rows(rows, "share"))
    first: dict[object, list[Row]] = {}
    for group in group_rows(known, *_SCOPE, "prompt").values():
        row = max(group, key=lambda row: row["share"])
        first.setdefault(row["strategy"], []).append(row)
    for strategy, some in first.items():
        texts = [
            f"{named(row['prompt'])} ({share_of(row)}{scope_of(row, _SCOPE, known)})"
            for row in some[:MOST_NAMED]
        ]
        if (rest := len(some) - MOST_NAMED) > 0:
            texts.append(counted(rest, "further prompt"))
        text = f"{named(strategy)} is the most frequent strategy in outputs of {listed(texts)}."
        yield Sentence(text, is_finding=True, has_interval=has_ends(some, "share"))


def say_strategy_of_each(rows: Sequence[Row], _alpha: float) -> Iterator[Sentence]:
    """Yield how many outputs follow each strategy."""
    counts = Counter(row["strategy"] for row in rows).most_common()
    texts = [f"{number(n)} follow{'s' if n == 1 else ''} {named(name)}" for name, n in counts]
    yield Sentence(f"The outputs are {number(len(rows))}: {listed(texts)}.")
