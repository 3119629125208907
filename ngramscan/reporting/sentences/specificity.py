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
    """Yield how many patterns are in their declared tier, and the most specific one."""
    broadest_rows = broadest(rows)
    judged = known_rows(broadest_rows, "agrees")
    if judged:
        yield Sentence(_tier_counts(judged))
    ratios = [row for row in known_rows(broadest_rows, "ratio") if row.get("ratio_low") is not None]
    if ratios:
        row = max(ratios, key=lambda row: row["ratio_low"])
        ratio = f"{number(row['ratio'])}{interval_of(row, 'ratio')}"
        first = f"{quoted(row['pattern'])} stands out most by the limits of its ratio: it is"
        method, scope = named(row["method"]), scope_of(row, _SCOPE, broadest_rows)
        text = f"{first} {ratio} times as frequent in outputs of {method} as in others{scope}."
        yield Sentence(text, is_finding=True, has_interval=True)
    if lacking := len(broadest_rows) - len(known_rows(broadest_rows, "ratio")):
        verb = "has" if lacking == 1 else "have"
        first = f"{counted(lacking, 'pattern')} {verb} no ratio"
        yield Sentence(f"{first}, as there is none without an occurrence.")


def _tier_counts(rows: Sequence[Row]) -> str:
    """Return how many of some patterns are in their tier, by the interval or the ratio alone."""
    alone = sum(bool(row["agrees"] and row.get("interval_spans_tiers")) for row in rows)
    within = sum(bool(row["agrees"]) for row in rows) - alone
    first = f"{number(within)} of {counted(len(rows), 'pattern')} {'is' if within == 1 else 'are'}"
    texts = [f"{first} in the declared tier with the whole interval"]
    if alone:
        texts.append(f"{number(alone)} by the ratio alone")
    if others := len(rows) - within - alone:
        texts.append(f"{number(others)} not")
    return f"{', '.join(texts)}."


def say_keyness(rows: Sequence[Row], alpha: float) -> Iterator[Sentence]:
    """Yield how many n-grams are shown to be typical of the method, and the surest ones."""
    typical = [
        row
        for row in known_rows(rows, "q")
        if row["q"] <= alpha and (row.get("log_ratio_low") or 0) > 0
    ]
    n = counted(len(rows), "n-gram")
    share = f"{number(len(typical))} of {n}" if typical else f"Not one of {n}"
    rule = f"q ≤ {level_text(alpha)}, interval of the ratio above 1"
    verb = "are" if len(typical) > 1 else "is"
    text = f"{share} {verb} shown to be typical of the method ({rule})"
    by_limit = sorted(typical, key=lambda row: row["log_ratio_low"], reverse=True)
    if surest := [_times(row) for row in by_limit[:MOST_NAMED]]:
        surest[0] += " times as frequent as in the other outputs"
        text += "; by the surest limits, " if len(typical) > len(surest) else "; "
        text += listed(surest)
    yield Sentence(
        f"{text}.", is_finding=True, has_interval=has_ends(typical, "log_ratio"), is_claim=True
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
    with_share = broadest(known_rows(rows, "share"))
    first: dict[object, list[Row]] = {}
    for group in group_rows(with_share, *_SCOPE, "prompt").values():
        row = max(group, key=lambda row: row["share"])
        first.setdefault(row["strategy"], []).append(row)
    for strategy, rows_of_strategy in first.items():
        texts = [
            f"{named(row['prompt'])} ({share_of(row)}{scope_of(row, _SCOPE, with_share)})"
            for row in rows_of_strategy[:MOST_NAMED]
        ]
        if (n_further := len(rows_of_strategy) - MOST_NAMED) > 0:
            texts.append(counted(n_further, "further prompt"))
        text = f"{named(strategy)} is the most frequent strategy in outputs of {listed(texts)}."
        yield Sentence(text, is_finding=True, has_interval=has_ends(rows_of_strategy, "share"))


def say_strategy_of_each(rows: Sequence[Row], _alpha: float) -> Iterator[Sentence]:
    """Yield how many outputs follow each strategy."""
    counts = Counter(row["strategy"] for row in rows).most_common()
    texts = [f"{number(n)} follow{'s' if n == 1 else ''} {named(name)}" for name, n in counts]
    yield Sentence(f"The outputs are {number(len(rows))}: {listed(texts)}.")
