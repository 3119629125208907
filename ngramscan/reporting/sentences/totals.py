"""Whose phrases are more frequent: totals of methods, and ratios of two methods.

Ratios of sums depend on the lengths of the lists, so sentences leave them out. The interval of a
ratio of geometric means is over phrases that were chosen by hand, and it has no p-value that could
be adjusted for the number of ratios: sentences say which intervals include 1, and claim nothing
about the others.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ngramscan.indexes.base import Unit
from ngramscan.messages import counted
from ngramscan.prevalence.several_corpora import is_one_corpus
from ngramscan.reporting.sentences.counts import corpora
from ngramscan.reporting.sentences.names import corpus, named, quoted
from ngramscan.reporting.sentences.phrases import (
    UNITS,
    Row,
    group_rows,
    known_rows,
    listed,
    number,
    select_unit,
)
from ngramscan.reporting.sentences.sentence import Sentence

_ALL_TIERS = "T1+T2"
_MOST_SHARES, _MOST_NAMED = 3, 2
_COMPARED: Mapping[tuple[Unit, str], tuple[str, str]] = {
    ("bytes", "ratio_of_unions"): ("phrases are", "as frequent as"),
    ("bytes", "ratio_of_documents"): ("phrases are in", "as many documents as"),
    ("tokens", "ratio_of_documents"): ("n-grams of tokens are in", "as many documents as"),
}
"""Words on a ratio of two methods, by its unit: those before the ratio, and those after it."""
_PER_MILLION = "documents_per_million"
LEAST_DOCUMENTS = 1_000
"""Minimum documents of a corpus for a meaningful rate per million."""
_PER_PHRASE = "ratio_of_geometric_means"


def say_totals(rows: Sequence[Row], _alpha: float) -> Iterator[Sentence]:
    """Yield the sentences about rows of `totals`."""
    chosen = [row for row in _wholes(rows) if row.get("tiers") == _tiers_of(rows)]
    statements = [
        *_say_ratios(chosen),
        *_say_per_million(chosen),
        *_say_per_phrase(chosen),
        *_say_largest(chosen),
    ]
    if not statements:
        statements.append(Sentence("No two methods are compared in these totals."))
    yield from statements


def _wholes(rows: Sequence[Row]) -> Iterator[Row]:
    """Yield the totals of corpora; those of one kind of phrases only if there are no others."""
    of_corpora = [row for row in rows if is_one_corpus(row.get("index"))]
    names = ("index", "unit", "tiers", "method", "versus")
    for group in group_rows(of_corpora, *names).values():
        # All statistics of the whole list have its kind, known or not.
        whole_kind = min(str(row.get("kind") or "") for row in group)
        yield from (row for row in group if str(row.get("kind") or "") == whole_kind)


def _tiers_of(rows: Sequence[Row]) -> object:
    """Return the tiers that sentences are about: the two together, or the first ones."""
    tiers = [row.get("tiers") for row in rows if row.get("versus") is not None]
    tiers = tiers or [row.get("tiers") for row in rows if is_one_corpus(row.get("index"))]
    return _ALL_TIERS if _ALL_TIERS in tiers else next(iter(tiers), None)


def _of_tiers(row: Row) -> str:
    tiers = row.get("tiers")
    if tiers is None:
        return "all phrases"
    return "tiers T1 and T2" if tiers == _ALL_TIERS else f"tier {named(tiers)}"


# Two methods


def _say_ratios(rows: Sequence[Row]) -> Iterator[Sentence]:
    """Say how two methods compare in the first corpus, and how far the others differ."""
    for (unit, statistic), words in _COMPARED.items():
        in_unit = select_unit(rows, unit)
        ratios = _with_value(in_unit, statistic)
        if not ratios:
            continue
        index = ratios[0].get("index")
        first = [row for row in ratios if row.get("index") == index]
        by_method = [*group_rows(first, "method").values()]
        by_method.sort(key=lambda group: -max(row["value"] for row in group))
        text_of_methods = "; ".join(_of_method(words, group) for group in by_method)
        if not any(row["value"] for row in first):
            text_of_methods = f"N{text_of_methods.removeprefix('n')}"
        per_phrase = _in_short(in_unit, index)
        text = f"{text_of_methods} in {corpus(index)} ({_of_tiers(ratios[0])}){per_phrase}."
        # No ratio is given for a method that occurs nowhere, and none for exactly once.
        has_interval = any(
            _has_interval(row) and bool(_times(row))
            for group in by_method
            if any(row["value"] for row in group)
            for row in group
        )
        yield Sentence(text, is_finding=True, has_interval=has_interval)
        yield from _say_elsewhere(first, [row for row in ratios if row.get("index") != index])


def _with_value(rows: Sequence[Row], statistic: str) -> list[Row]:
    """Return the totals of one statistic that have a value."""
    return known_rows([row for row in rows if row["statistic"] == statistic], "value")


def _of_method(words: tuple[str, str], rows: Sequence[Row]) -> str:
    """Return how one method compares with each other one."""
    subject, compared = words
    if not any(row["value"] for row in rows):
        where = " in the sample" if any(is_estimated(row) for row in rows) else ""
        return f"none of {_name(rows[0]['method'])}'s {subject.split(' ')[0]} occurs{where}"
    parts = [f"{_times(rows[0])}{compared} {_name(rows[0]['versus'])}'s{_undecided(rows[0])}"]
    for row in rows[1:]:
        times = _times(row)
        parts.append(f"{times or f'{compared} '}{_name(row['versus'])}'s{_undecided(row)}")
    listed = parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"
    return f"{_name(rows[0]['method'])}'s {subject} {listed}"


def _undecided(row: Row) -> str:
    """Return that an estimated ratio shows no difference; empty if it is exact, or shows one."""
    low, high = row.get("low"), row.get("high")
    is_exact = low is None or low == high
    return "" if is_exact or not _has_one(row) else " (no difference is shown)"


def _times(row: Row) -> str:
    """Return how many times; empty for exactly once."""
    text = _ratio(row)
    return "" if text == "1" else f"{text} times "


def is_estimated(row: Row) -> bool:
    """Tell whether a total is one of estimated counts."""
    return bool(row.get("estimated"))


def _name(method: object) -> str:
    return "a method without a name" if method is None else named(method)


def _ratio(row: Row) -> str:
    low, high, value = row.get("low"), row.get("high"), row["value"]
    if low is None or not _has_interval(row):
        return f"about {number(value)}" if is_estimated(row) else number(value)
    return f"{number(value)} [{number(low)}, {'no limit' if high is None else number(high)}]"


def _has_interval(row: Row) -> bool:
    """Tell whether a total has limits, which are in brackets; an exact one has none."""
    return row.get("low") is not None and row["low"] != row.get("high")


def _say_elsewhere(first: Sequence[Row], rows: Sequence[Row]) -> Iterator[Sentence]:
    """Give the range of ratios in other corpora, and those where the other method is ahead."""
    if not rows:
        return
    sides = {(row.get("method"), row.get("versus")): row["value"] >= 1 for row in first}
    texts = []
    for pair, group in group_rows(rows, "method", "versus").items():
        text = f"{_name(pair[0])} : {_name(pair[1])} is {_range(group)}"
        if pair in sides:
            text += _otherwise(sides[pair], group)
        texts.append(text)
    n = len(group_rows(rows, "index"))
    where = f"the other {corpora(n)}" if n > 1 else corpus(rows[0].get("index"))
    yield Sentence(f"In {where}, {'; '.join(texts)}.", is_finding=True)


def _range(rows: Sequence[Row]) -> str:
    values = [row["value"] for row in rows]
    least, most = number(min(values)), number(max(values))
    return least if least == most else f"between {least} and {most}"


def _otherwise(is_above: bool, rows: Sequence[Row]) -> str:
    """Return the corpora in which a ratio is on the other side of 1; empty if there are none.

    An estimated ratio counts only if its whole interval is there.
    """
    others = [row for row in rows if _is_beyond(row, not is_above)]
    if not others:
        return ""
    side = "above 1" if not is_above else "below 1"
    if any(row.get("low") is not None for row in rows):
        side = f"with its interval {side}"
    if len(others) == len(rows):
        return f", {side}" if len(rows) == 1 else f", {side} in all of them"
    if len(others) <= _MOST_NAMED:
        return f", {side} in {' and '.join(corpus(row.get('index')) for row in others)}"
    return f", {side} in {number(len(others))} of them"


def _is_beyond(row: Row, is_above: bool) -> bool:
    """Tell whether a ratio, or the nearest limit of its interval, is above or below 1."""
    end = row.get("low" if is_above else "high")
    nearest = row["value"] if row.get("low") is None else end
    if nearest is None:
        return False
    return bool(nearest > 1 if is_above else nearest < 1)


def _say_per_million(rows: Sequence[Row]) -> Iterator[Sentence]:
    """Say how many of a million documents of the first corpus have a phrase of each method."""
    for unit in UNITS:
        in_unit = select_unit(rows, unit)
        rates = _with_value(in_unit, _PER_MILLION)
        index = rates[0].get("index") if rates else None
        first = [row for row in rates if row.get("index") == index and row["value"] > 0]
        if not first or _documents_of(first[0], in_unit) < LEAST_DOCUMENTS:
            continue
        by_rate = sorted(first, key=lambda row: -row["value"])
        have_one = "have an n-gram of tokens" if unit == "tokens" else "have a phrase"
        texts = [
            f"{_ratio(row)} {have_one if place == 0 else 'one'} of {_name(row.get('method'))}"
            for place, row in enumerate(by_rate[:_MOST_SHARES])
        ]
        where = f"Per million documents of {corpus(index)} ({_of_tiers(first[0])})"
        text = f"{where}, {listed(texts)}."
        has_interval = any(_has_interval(row) for row in by_rate[:_MOST_SHARES])
        yield Sentence(text, is_finding=True, has_interval=has_interval)


def _documents_of(rate: Row, rows: Sequence[Row]) -> float:
    """Return the number of all documents, from a total and its rate; 0 if unknown."""
    names = ("index", "method", "kind")
    counts = [
        row["value"]
        for row in _with_value(rows, "documents")
        if all(row.get(name) == rate.get(name) for name in names)
    ]
    return counts[0] / rate["value"] * 1e6 if counts else 0.0


# Phrase by phrase


def _say_per_phrase(rows: Sequence[Row]) -> Iterator[Sentence]:
    for unit in UNITS:
        ratios = _with_value(select_unit(rows, unit), _PER_PHRASE)
        if not ratios:
            continue
        row = ratios[0]
        basis = "over n-grams of tokens" if unit == "tokens" else "per phrase"
        pair = f"{_name(row.get('method'))} : {_name(row.get('versus'))}"
        ratio_text = f"The ratio of geometric means, {basis}, {pair} is {_ratio(row)}"
        ratio_text += f" in {corpus(row.get('index'))} ({_of_tiers(row)})"
        text = f"{ratio_text}{_judged(ratios)}."
        has_interval = _has_interval(row)
        yield Sentence(text, is_finding=has_interval, has_interval=has_interval)


def _in_short(rows: Sequence[Row], index: object) -> str:
    """Return that phrase by phrase no difference is shown in a corpus; empty if one may be."""
    ratios = [
        row
        for row in known_rows(rows, "low")
        if row["statistic"] == _PER_PHRASE and row.get("index") == index
    ]
    if not ratios or not all(_has_one(row) for row in ratios):
        return ""
    return "; phrase by phrase, no difference is shown"


def _judged(ratios: Sequence[Row]) -> str:
    """Return whether the intervals of some ratios include 1."""
    with_limits = [row for row in ratios if row.get("low") is not None]
    if not with_limits:
        return ", without an interval"
    with_one = sum(_has_one(row) for row in with_limits)
    if len(with_limits) == 1:
        if with_one:
            return ": no difference is shown"
        return "; the phrases are not a random sample, so nothing is claimed"
    if with_one == len(with_limits):
        intervals = "both" if len(with_limits) == 2 else f"all {number(len(with_limits))}"
        return f"; {intervals} intervals include 1: no difference is shown"
    n = f"{number(with_one)} of {counted(len(with_limits), 'interval')}"
    verb = "includes" if with_one == 1 else "include"
    return f"; {n} {verb} 1, and nothing is claimed by the others, which are not adjusted"


def _has_one(row: Row) -> bool:
    high = row.get("high")
    return bool(row["low"] <= 1 and (high is None or high >= 1))


def largest_share(of_one: Mapping[str, Row]) -> float | None:
    """Return the largest phrase's share of a method's occurrences, each place counted once.

    None if it is unknown, or if the phrase ends environments, whose places don't count.
    """
    count, union = (
        of_one.get(statistic, {}).get("value")
        for statistic in ("largest_pattern_count", "union_of_occurrences")
    )
    if count is None or not union or count > union:
        return None
    return float(count / union)


def _say_largest(rows: Sequence[Row]) -> Iterator[Sentence]:
    """Say which phrase makes most of each method's occurrences in the first corpus."""
    texts: dict[object, list[str]] = {}
    single = [row for row in select_unit(rows, "bytes") if row.get("versus") is None]
    for (index, method), group in group_rows(single, "index", "method").items():
        of_one = {str(row["statistic"]): row for row in group}
        share, phrase = largest_share(of_one), of_one.get("largest_pattern_share", {}).get("note")
        if share is None or not phrase:
            continue
        share_text = f"{quoted(phrase)} makes {number(share, is_share=True)}% of {_name(method)}'s"
        texts.setdefault(index, []).append(share_text)
    for index, said_of_index in [*texts.items()][:1]:
        listed_texts = ", ".join(said_of_index[:_MOST_SHARES])
        yield Sentence(f"In {corpus(index)}, {listed_texts} occurrences.")
