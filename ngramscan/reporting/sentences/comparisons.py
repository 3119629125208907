"""Comparisons of methods, averages and ranks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ngramscan.messages import counted
from ngramscan.reporting.columns import ALL
from ngramscan.reporting.sentences.differences import DifferenceWords, Verbs
from ngramscan.reporting.sentences.names import named, scope_of
from ngramscan.reporting.sentences.phrases import (
    MeasureWords,
    Row,
    group_rows,
    known_rows,
    more_in_table,
    number,
    ordinal,
)
from ngramscan.reporting.sentences.sentence import Sentence

_ACCURATE = Verbs("is more accurate than", "is less accurate than")
_MEAN_SCORE = Verbs("has a higher mean score than", "has a lower mean score than")
_WHERE = ("dataset", "model", "group", "rule")
_MOST_LISTS = 3
"""Lists of ranks, and pairs with averages, that have a sentence each."""
_MOST_RANKED = 4
"""Ranks of a list in a sentence."""
_AVERAGE = MeasureWords("difference", unit=" points")
_AVERAGES = {
    "micro": "The micro average",
    "macro over subtasks": "The macro average over subtasks",
    "macro over benchmarks": "The macro average over benchmarks",
}


def _verbs(row: Row) -> Verbs:
    """Return the verbs for a comparison: accuracies of right answers, or scores."""
    scale, test = row.get("scale"), row.get("test")
    # Rows without a scale have it in their test, if it is McNemar's.
    is_binary = scale == "right or wrong" if scale else not test or "McNemar" in test
    return _ACCURATE if is_binary and not row.get("weight") else _MEAN_SCORE


def _compared_problems(row: Row) -> str:
    """Return how many problems were compared, and pairs of answers if these are more."""
    pairs, problems = row.get("n"), row.get("n_problems")
    if problems is None and row.get("model") == ALL and pairs is not None:
        return counted(pairs, "pair") + " of answers"  # which are not independent
    n = pairs if problems is None else problems
    if n is None:
        return ""
    if pairs is None or pairs == n:
        return f"n = {number(n)}"
    return f"n = {counted(n, 'problem')} ({counted(pairs, 'pair')} of answers)"


def _how_scored(row: Row) -> list[str]:
    """Return the weights of scores, and the threshold from which on they count as right."""
    texts = []
    if weight := row.get("weight"):
        texts.append(f"weighted by {named(weight)}")
    if (least := row.get("right_from")) is not None:
        texts.append(f"right from {number(least)}")
    return texts


def _accuracies(row: Row) -> str:
    """Return the two accuracies in words; empty if one of them is unknown."""
    pair = [row.get(f"accuracy_{side}") for side in ("treatment", "baseline")]
    if None in pair:
        return ""
    return " against ".join(
        f"{number(accuracy, is_share=True)}%" for accuracy in pair if accuracy is not None
    )


COMPARED = DifferenceWords(
    _WHERE,
    lambda row: (named(row["treatment"]), named(row["baseline"])),
    _verbs,
    _compared_problems,
    _how_scored,
    _accuracies,
)
"""The words for comparisons of methods, here and for links with prevalence."""


def say_comparisons(rows: Sequence[Row], alpha: float) -> Iterator[Sentence]:
    """Yield the sentences about rows of `compare`."""
    yield from COMPARED.say(rows, alpha)
    unknown = [row["n_unknown"] for row in rows if row.get("n_unknown")]
    if len(rows) == 1 and unknown:
        pairs = counted(unknown[0], "pair")
        verb = "is" if unknown[0] == 1 else "are"
        yield Sentence(f"{pairs} with an unknown result {verb} left out.")
    elif unknown:
        share = f"{number(len(unknown))} of {number(len(rows))} comparisons"
        most = number(max(unknown))
        yield Sentence(
            f"Pairs with an unknown result are left out of {share}, at most {most} each."
        )


def say_ranks(rows: Sequence[Row], _alpha: float) -> Iterator[Sentence]:
    """Yield the sentences about rows of `rank`: the places in each list."""
    lists = group_rows(known_rows(rows, "rank"), "dataset", "group", "rule")
    for group in [*lists.values()][:_MOST_LISTS]:
        yield Sentence(_places(group, rows), is_finding=True, has_interval=True)
    yield from more_in_table(len(lists) - _MOST_LISTS, "list")
    if lists:
        yield Sentence("The limits of ranks hold for all in a list together.")


def _places(group: Sequence[Row], rows: Sequence[Row]) -> str:
    """Return the first places of a list of ranks."""
    ranked = sorted(group, key=lambda row: float(row["rank"]))
    has_models = len({row.get("model") for row in rows}) > 1
    columns = ("dataset", "group", "rule") if has_models else _WHERE
    where = scope_of(ranked[0], columns)
    among = "" if ranked[0].get("rank_of") is None else f" of {number(ranked[0]['rank_of'])}"
    texts: list[str] = []
    for row in ranked[:_MOST_RANKED]:
        name = named(row["method"]) + (scope_of(row, ("model",)) if has_models else "")
        verb, place = (" ranks", f"{among}{where}") if not texts else ("", "")
        limits = f"[{_end(row.get('rank_low'))}, {_end(row.get('rank_high'))}]"
        texts.append(f"{name}{verb} {ordinal(row['rank'])} {limits}{place}")
    if (others := len(ranked) - _MOST_RANKED) > 0:
        texts.append(f"{counted(others, 'other')} follow")
    return "; ".join(texts) + "."


def _end(limit: float | None) -> str:
    return "no limit" if limit is None else number(limit)


def say_averages(rows: Sequence[Row], _alpha: float) -> Iterator[Sentence]:
    """Yield the sentences about rows of `compare --averages`, those of all models first."""
    known_averages = known_rows(rows, "difference")
    order = sorted(known_averages, key=lambda row: row.get("model") != ALL)
    for row in order[:_MOST_LISTS]:
        ends = _AVERAGE.ends(row)
        interval = f" [{ends}]" if ends else ""
        values = _accuracies(row)
        accuracies = f", {values}" if values else ""
        pair = f"{named(row['treatment'])} minus {named(row['baseline'])}"
        where = scope_of(row, _WHERE)
        where += "," if "," in where else ""
        text = f"{_average(row)} of {pair}{where}"
        points = _AVERAGE.text(row["difference"])
        count = "" if row.get("n") is None else f", n = {number(row['n'])}"
        yield Sentence(
            f"{text} is {points} points{interval}{accuracies}{count}.",
            is_finding=bool(ends),
            has_interval=bool(ends),
        )
    yield from more_in_table(len(order) - _MOST_LISTS, "average")
    yield Sentence("Averages are not tested, so nothing is claimed about them.")


def _average(row: Row) -> str:
    """Return the name of an average, as the beginning of a sentence."""
    return _AVERAGES.get(row["average"], f"The average {named(row['average'])}")
