"""Sentences about rows, never beyond what their intervals allow."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from ngramscan.reporting.sentences.phrases import (
    MOST_GROUPS,
    Difference,
    Measure,
    Row,
    Verbs,
    by_group,
    count_of,
    group_rows,
    in_some,
    known_rows,
    label_of,
    level_text,
    number,
    quoted,
)
from ngramscan.reporting.sentences.sentence import Sentence

_Say = Callable[[Sequence[Row]], Iterable[str]]


@dataclass(frozen=True, slots=True)
class _Claims:
    """Statements about tests, which depend on the level that each family of tests has."""

    say: Callable[[Sequence[Row], float], Iterable[str]]


_PAIR = "dataset model group rule treatment baseline"
_OUTPUT = "index dataset model prompt id"
_OUTPUTS = "dataset model prompt method pattern tier measure"
_QUOTED = re.compile("“[^”]*”")


def earlier(kind: str, rows: Sequence[Row], alpha: float) -> Iterator[Sentence]:
    """Yield the sentences of a kind of rows that has no module of its own yet."""
    for say in _SAY[kind]:
        texts = say.say(rows, alpha) if isinstance(say, _Claims) else say(rows)
        for text in texts:
            plain = _QUOTED.sub("", text)
            has_interval = "[" in plain or "with a wide interval between" in plain
            yield Sentence(
                text,
                is_finding=has_interval or "no difference is shown" in plain.lower(),
                has_interval="[" in plain,
                is_claim=isinstance(say, _Claims),
            )


# What several kinds of rows say


def _where(column: str, value: object, say: _Say) -> _Say:
    """Say something about the rows with a value in a column."""
    return lambda rows: say([row for row in rows if row[column] == value])


def _always(text: str) -> _Say:
    return lambda _: [text]


def _tally(column: str, noun: str, *by: str) -> _Say:
    """Say how often each value occurs, in all rows or in groups of them."""

    def say(rows: Sequence[Row], start: str = "") -> str:
        counts = Counter(row.get(column) for row in rows).most_common()
        texts = [f"{number(n)} {'unknown' if name is None else quoted(name)}" for name, n in counts]
        return f"{start}{count_of(len(rows), noun)}: {', '.join(texts)}."

    if not by:
        return lambda rows: [say(rows)]
    return lambda rows: by_group(rows, by, lambda name, group: [say(group, f"By {name}, ")])


def _markers(marker: str) -> Iterator[_Say]:
    for has_method, verb in ((True, "have"), (False, "lack")):
        noun = f"Where prompts {verb} the method, the share of outputs with {marker}"
        yield _where("has_method", has_method, Measure(noun, "share", _OUTPUTS, "outputs", "%"))


# What one kind of rows says


_SHARE = Measure("The share of dirty entries", "share", "index rule", "entries", "%")


def _say_bounds(rows: Sequence[Row]) -> Iterator[str]:
    unknown = [row for row in rows if row["verdict"] == "dirty" and row["share"] is None]
    for row in unknown[:MOST_GROUPS]:
        if None not in _SHARE.interval(row):
            ends = _SHARE.ends(row).replace(", ", " and ")
            yield f"It may be anything between {ends}{label_of(row, rows, _SHARE.labels)}."


def _say_curve(rows: Sequence[Row]) -> Iterator[str]:
    """Say the coverage by the shortest spans of each index."""
    labels = "index dataset model prompt kind"
    n = "outputs" if any(row.get("problems") is None for row in rows) else "problems"
    for _, group in islice(group_rows(rows, "index").items(), MOST_GROUPS):
        least = min(row["length"] for row in group)
        noun = f"The mean share of words in spans of at least {number(least)} words"
        shortest = [row for row in group if row["length"] == least]
        yield from Measure(noun, "coverage", labels, n, "%")(shortest)


def _say_copied(rows: Sequence[Row], alpha: float) -> Iterator[str]:
    return _COPIED([row for row in rows if row["measure"] == "coverage"], alpha)


def _say_spans(rows: Sequence[Row]) -> Iterator[str]:
    groups = group_rows(rows, *_OUTPUT.split())
    outputs = count_of(len(groups), "output")
    longest = count_of(max(row["words"] for row in rows), "word")
    yield f"Shown: {count_of(len(rows), 'span')} of {outputs}, the longest of {longest}."


def _say_outputs(rows: Sequence[Row]) -> Iterator[str]:
    outputs = group_rows(rows, "dataset", "model", "method", "id", "epoch")
    problems = group_rows(rows, "dataset", "id")
    shown = f"{count_of(len(outputs), 'output')} for {count_of(len(problems), 'problem')}"
    yield f"Shown: {shown}."


def _say_tiers(rows: Sequence[Row]) -> Iterator[str]:
    if known := known_rows(rows, "agrees"):
        spans = [bool(row.get("interval_spans_tiers")) for row in known if row["agrees"]]
        first = in_some(spans.count(False), len(known), "row")
        others = f"; in {count_of(spans.count(True), 'other')}, only the ratio does" * any(spans)
        yield f"{first}, the ratio and its interval are within the declared tier{others}."


def _say_keyness(rows: Sequence[Row], alpha: float) -> Iterator[str]:
    found = [row for row in known_rows(rows, "q") if row["q"] <= alpha]
    above = sum((row["log_ratio_low"] or 0) > 0 for row in found)
    first = f"For {number(above)} of {count_of(len(rows), 'n-gram')}"
    level = level_text(alpha)
    yield f"{first}, q is at most {level} and the interval of the log ratio is above 0."


def _say_strategies(rows: Sequence[Row]) -> Iterator[str]:
    share = Measure("", "share", "dataset model prompt", "outputs", "%")
    return by_group(
        rows,
        ["strategy"],
        lambda name, group: replace(share, noun=f"The share of {name} in the outputs")(group),
    )


def _of(column: str, noun: str = "") -> Callable[[Row], str]:
    """Return how many values there are by a column, in words; empty: it is not known."""

    def say(row: Row) -> str:
        n = row.get(column)
        if n is None:
            return ""
        return f"n = {count_of(n, noun) if noun else number(n)}"

    return say


_COPYING = Verbs(
    "have a larger share of words copied from the corpus than",
    "have a smaller share of words copied from the corpus than",
)
_DIRTY = {
    "near": "Dirty entries with the answer near",
    "not near": "Dirty entries without the answer near",
}
_EFFECTS = Difference(
    "index dataset model method score_rule",
    lambda row: (_DIRTY.get(row["answer"], "Dirty entries"), "clean ones"),
    lambda _: Verbs("have higher scores than", "have lower scores than"),
    _of("n"),
)
_COPIED = Difference(
    "index dataset model kind",
    lambda row: (f"Outputs of {quoted(row['prompt'])}", f"those of {quoted(row['baseline'])}"),
    lambda _: _COPYING,
    _of("problems"),
)
_RETENTION = Difference(
    "dataset model method solver",
    lambda row: (quoted(row["prompt_with"]), f"{quoted(row['prefix'])} alone"),
    lambda _: Verbs("has markers in more outputs than", "has markers in fewer outputs than"),
    _of("pairs"),
)
_RATIO = Measure("The ratio of a method's own outputs to others", "ratio", _OUTPUTS)
_SAY: dict[str, Sequence[_Say | _Claims]] = {
    "contaminate": (
        _tally("verdict", "verdict", "rule", "index"),
        Measure("The share of windows that occur", "eta", limits=None).gaps,
    ),
    "contaminate --shares": (_where("verdict", "dirty", _SHARE), _say_bounds),
    "contaminate --effects": (_Claims(_EFFECTS),),
    "trace": (
        Measure(
            "The share of words in spans",
            "coverage",
            "index dataset model prompt id kind",
            unit="%",
            limits=None,
        ),
    ),
    "trace --spans": (_say_spans,),
    "trace --curve": (_say_curve,),
    "trace --differences": (_Claims(_say_copied),),
    "blend": (*_markers("markers"),),
    "blend --presence": (*_markers("the pattern"),),
    "blend --retention": (_Claims(_RETENTION),),
    "blend --isolation": (_RATIO,),
    "tiers": (_say_tiers, _RATIO),
    "keyness": (_Claims(_say_keyness), Measure("The log ratio", "log_ratio", "ngram")),
    "strategies": (_say_strategies,),
    "strategies --per-output": (_tally("strategy", "output"),),
    "show": (_say_outputs,),
    "score": (_tally("status", "score", "rule"), Measure("The value", "value", limits=None).gaps),
}
"""The statements about rows, by the names of kinds."""
