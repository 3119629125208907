"""Sentences about rows, never beyond what their intervals allow."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import partial

from ngramscan.reporting.page.phrases import (
    ALPHA,
    MOST_GROUPS,
    Difference,
    Measure,
    Row,
    adjusted_p,
    by_group,
    count_of,
    group_rows,
    known_rows,
    label_of,
    number,
    p_of,
    quoted,
    say_differences,
    say_gaps,
    say_range,
    share_of,
)
from ngramscan.reporting.page.results import Results

_Say = Callable[[Sequence[Row]], Iterator[str]]
_PAIR = ("dataset", "model", "rule", "treatment", "baseline")
_OUTPUTS = ("dataset", "model", "prompt", "method", "pattern")
_QUOTED = re.compile("“[^”]*”")


def sentences(results: Results) -> list[str]:
    """Return what some rows say, in words."""
    said = [*_SAY[results.kind.name](results.rows)]
    if any("[" in _QUOTED.sub("", one) for one in said):
        levels = {row["level"] for row in known_rows(results.rows, "level")}
        level = f"{100 * min(levels):g}% confidence " if len(levels) == 1 else ""
        said.append(f"Brackets enclose {level}intervals.")
    if results.left_out:
        first = f"The sentences are about the first {count_of(len(results.rows), 'row')}"
        said.insert(0, f"{first}; {number(results.left_out)} further ones are left out.")
    return said


def _say_counts(rows: Sequence[Row]) -> Iterator[str]:
    measure = Measure("the number of occurrences", "occurrences", "occurrences")
    yield from _say_indexes(rows, measure, "query")
    tokens = Measure("the number of occurrences of token n-grams", "token_occurrences")
    yield from _say_indexes(rows, tokens, "query")


def _say_documents(rows: Sequence[Row]) -> Iterator[str]:
    measure = Measure("the number of documents with the pattern", "documents", "documents")
    yield from _say_indexes(rows, measure, "pattern")
    noun = "the number of documents with token n-grams of the pattern"
    yield from _say_indexes(rows, Measure(noun, *["token_documents"] * 2), "pattern")
    if partly := sum((row.get("truncated_share") or 0) > 0 for row in rows):
        yield f"In {count_of(partly, 'row')}, some documents were seen only in part."
    numbers = ("documents", "token_documents")
    if bounded := sum(all(row.get(name) is None for name in numbers) for row in rows):
        first = f"Not among these numbers: {count_of(bounded, 'row')} with two estimates"
        yield f"{first}, as occurrences in hidden parts of documents would matter."


def _say_indexes(rows: Sequence[Row], measure: Measure, label: str) -> Iterator[str]:
    """Say the range in each index, as numbers of indexes of different sizes are not compared."""
    known = known_rows(rows, measure.value)

    def say(index: str, group: list[Row]) -> Iterator[str]:
        here = Measure(f"In {index}, {measure.noun}", measure.value, measure.limits)
        yield next(say_range(group, here, [label, "method", "tier"]))

    yield from by_group(known, ["index"], say)
    if measure.value.startswith("token_") and known:
        yield "Numbers over tokens are lower bounds of those of the strings."
    estimated = [row for row in known if _is_estimated(row)]
    if estimated:
        without = sum(measure.interval(row) == (None, None) for row in estimated)
        lack = f", {number(without)} without an interval" * (without > 0)
        yield f"Estimates: {number(len(estimated))} of {count_of(len(known), 'number')}{lack}."


def _is_estimated(row: Row) -> bool:
    return bool(row.get("estimated")) or row.get("estimator") not in {None, "exact"}


def _say_totals(rows: Sequence[Row]) -> Iterator[str]:
    for name, over in (("", ""), ("token_", " over tokens")):
        ratios = [row for row in rows if row["statistic"] == f"{name}ratio_of_geometric_means"]
        measure = Measure(f"The ratio of geometric means{over}", "value", "")
        yield from say_range(ratios, measure, ["index", "tiers", "method", "versus"])
    numbers = [row for row in rows if row["index"] != "all"]  # which are remarks on overlaps
    if unknown := len(numbers) - len(known_rows(numbers, "value")):
        yield f"Unknown: {number(unknown)} of {count_of(len(numbers), 'statistic')}; see the notes."
    if any("ratio_of_sums" in (row["statistic"] or "") for row in rows):
        yield "Ratios of sums depend on the lengths of the lists, so nothing is read into them."


def _say_contexts(rows: Sequence[Row]) -> Iterator[str]:
    patterns, indexes = (count_of(len(group_rows(rows, one)), one) for one in ("pattern", "index"))
    where = f"{patterns} in {indexes.replace('indexs', 'indexes')}"
    yield f"Shown: {count_of(len(rows), 'occurrence')} of {where}; these are examples, not counts."


def _tally(rows: Sequence[Row], column: str, noun: str) -> str:
    counts = Counter(row.get(column) for row in rows).most_common()
    said = [f"{number(n)} {'unknown' if one is None else quoted(one)}" for one, n in counts]
    return f"{count_of(len(rows), noun)}: {', '.join(said)}."


def _say_tally(rows: Sequence[Row], column: str, noun: str, by: Sequence[str]) -> Iterator[str]:
    yield from by_group(rows, by, lambda name, group: [f"By {name}, {_tally(group, column, noun)}"])


def _say_entries(rows: Sequence[Row]) -> Iterator[str]:
    yield from _say_tally(rows, "verdict", "verdict", ["rule", "index"])
    yield from say_gaps(rows, Measure("The share of windows that occur", "eta"))


def _say_shares(rows: Sequence[Row]) -> Iterator[str]:
    dirty, labels = [row for row in rows if row["verdict"] == "dirty"], ["index", "rule"]
    measure = share_of("The share of dirty entries", "share", "share", "entries")
    yield from say_range(dirty, measure, labels)
    for row in [row for row in dirty if row["share"] is None][:MOST_GROUPS]:
        low, high = measure.interval(row)
        if low is not None and high is not None:
            ends = f"{measure.said(low)}% and {measure.said(high)}%"
            yield f"It may be anything between {ends}{label_of(row, rows, labels)}."


def _say_markers(rows: Sequence[Row]) -> Iterator[str]:
    marker = "the pattern" if "with_pattern" in rows[0] else "markers"
    for has_method, verb in ((True, "have"), (False, "lack")):
        noun = f"Where prompts {verb} the method, the share of outputs with {marker}"
        some = [row for row in rows if row["has_method"] is has_method]
        yield from say_range(some, share_of(noun, "share", "share", "outputs"), _OUTPUTS)


def _say_tiers(rows: Sequence[Row]) -> Iterator[str]:
    if known := known_rows(rows, "agrees"):
        spans = [bool(row.get("interval_spans_tiers")) for row in known if row["agrees"]]
        in_some = f"In {number(spans.count(False))} of {count_of(len(known), 'row')}"
        others = f"; in {count_of(spans.count(True), 'other')}, only the ratio does" * any(spans)
        yield f"{in_some}, the ratio and its interval lie in the declared tier{others}."
    yield from _say_ratios(rows)


def _say_ratios(rows: Sequence[Row]) -> Iterator[str]:
    measure = Measure("The ratio of a method's own outputs to others", "ratio", "ratio")
    yield from say_range(rows, measure, _OUTPUTS)


def _say_keyness(rows: Sequence[Row]) -> Iterator[str]:
    found = [row for row in known_rows(rows, "q") if row["q"] <= ALPHA]
    above = sum((row["log_ratio_low"] or 0) > 0 for row in found)
    in_some = f"For {number(above)} of {count_of(len(rows), 'n-gram')}"
    yield f"{in_some}, q is at most {ALPHA} and the interval of the log ratio is above 0."
    yield from say_range(rows, Measure("The log ratio", "log_ratio", "log_ratio"), ["ngram"])


def _say_strategies(rows: Sequence[Row]) -> Iterator[str]:
    def say(name: str, group: list[Row]) -> Iterator[str]:
        measure = share_of(f"The share of {name} in the outputs", "share", "share", "outputs")
        yield from say_range(group, measure, ["dataset", "model", "prompt"])

    yield from by_group(rows, ["strategy"], say)


def _say_scores(rows: Sequence[Row]) -> Iterator[str]:
    yield from _say_tally(rows, "status", "score", ["rule"])
    yield from say_gaps(rows, Measure("The value", "value"))


def _say_accuracies(rows: Sequence[Row]) -> Iterator[str]:
    """Say which accuracies differ; each rule, and models together, are families of their own."""
    tested = [row for row in rows if adjusted_p(row) is not None]
    families = len({(row["rule"], row["model"] == "all") for row in tested})
    every = [
        row if (p := adjusted_p(row)) is None else {**row, "p_adjusted": min(1.0, families * p)}
        for row in rows
    ]
    yield from say_differences(every, _COMPARE)
    if families > 1:
        yield f"Adjusted p-values are multiplied by {families}, the number of families of tests."


def _say_comparisons(rows: Sequence[Row]) -> Iterator[str]:
    yield from _say_accuracies(rows)
    if unknown := [row for row in rows if row.get("n_unknown")]:
        most = max(row["n_unknown"] for row in unknown)
        in_some = f"In {number(len(unknown))} of {count_of(len(rows), 'row')}"
        yield f"{in_some}, pairs with an unknown result are left out: up to {number(most)}."


def _say_averages(rows: Sequence[Row]) -> Iterator[str]:
    measure = Measure("The average difference", "difference", "difference", "n", " points")
    yield from say_range(rows, measure, ["average", *_PAIR])
    yield "Averages were not tested, so nothing is claimed about them."


def _say_outcomes(rows: Sequence[Row]) -> Iterator[str]:
    measure = share_of("The selection accuracy", "selection_accuracy", "selection")
    yield from say_range(rows, measure, ["dataset", "model", "rule", "adaptive", "baselines"])


def _say_wins(rows: Sequence[Row]) -> Iterator[str]:
    for row in rows[:MOST_GROUPS]:
        pair = f"{quoted(row['treatment'])} against {quoted(row['baseline'])}"
        label, cells = label_of(row, rows, ["model"]), count_of(row["cells"], "cell")
        wins, losses = row["wins"], row["losses"]
        found = f"{count_of(wins, 'win')}, {count_of(row['ties'], 'tie')}"
        ending = f"{number(losses)} {'loss' if losses == 1 else 'losses'}"
        yield f"{pair}{label} in {cells}, untested: {found}, {ending}."


def _say_efficiency(rows: Sequence[Row]) -> Iterator[str]:
    labels = ["dataset", "model", "method", "rule"]
    yield from say_range(rows, share_of("The accuracy", "accuracy", "accuracy", "n"), labels)
    tokens = Measure("The mean number of tokens", "mean_tokens", "mean_tokens", "n_tokens")
    yield from say_range(rows, tokens, labels)


def _say_agreement(rows: Sequence[Row]) -> Iterator[str]:
    for (statistic,), group in group_rows(rows, "statistic").items():
        name = f"The statistic {quoted(str(statistic).replace('_', ' '))}"
        if statistic == "unanimous":
            yield from say_range(group, share_of(name, "value", "", "items"), ["judges"])
        elif statistic not in {"majority", "share", "missing"}:
            yield from say_range(group, Measure(name, "value", "", "items"), ["judges"])


def _say_votes(rows: Sequence[Row]) -> Iterator[str]:
    undecided = len(rows) - len(known_rows(rows, "label"))
    yield f"Tied votes or none: {number(undecided)} of {count_of(len(rows), 'item')}."


def _say_links(rows: Sequence[Row]) -> Iterator[str]:
    ratio = Measure("The prevalence ratio of two methods", "prevalence_ratio", "prevalence")
    yield from say_range(rows, ratio, ["index", "measure", *_PAIR])
    # A comparison has a row for each index.
    yield from _say_accuracies([own[0] for own in group_rows(rows, *_PAIR).values()])
    yield "That prevalence and accuracy stand in one row doesn't say that they are connected."


def _say_ranks(rows: Sequence[Row]) -> Iterator[str]:
    labels = ["index", "measure", "dataset", "model", "rule"]
    yield from say_range(rows, Measure("The value of Kendall's tau", "tau", n="methods"), labels)
    if tested := known_rows(rows, "p"):
        n = len(tested)
        p = p_of(min(1.0, n * min(row["p"] for row in tested)))
        yield f"The smallest p-value, adjusted for {count_of(n, 'test')} (Bonferroni): {p}."


_COMPARE = Difference(
    ("dataset", "model", "rule"),
    lambda row: (quoted(row["treatment"]), quoted(row["baseline"])),
    "was more accurate than",
    "was less accurate than",
)
_EFFECTS = Difference(
    ("index", "dataset", "model", "method", "score_rule"),
    lambda _: ("Dirty entries", "clean ones"),
    "had higher scores than",
    "had lower scores than",
)
_RETENTION = Difference(
    ("dataset", "model", "method", "solver"),
    lambda row: (quoted(row["prompt_with"]), f"{quoted(row['prefix'])} alone"),
    "had markers in more outputs than",
    "had markers in fewer outputs than",
    n="pairs",
)
_SAY: dict[str, _Say] = {
    "count": _say_counts,
    "docnorm": _say_documents,
    "totals": _say_totals,
    "contexts": _say_contexts,
    "contaminate": _say_entries,
    "contaminate --shares": _say_shares,
    "contaminate --effects": partial(say_differences, words=_EFFECTS),
    "blend": _say_markers,
    "blend --presence": _say_markers,
    "blend --retention": partial(say_differences, words=_RETENTION),
    "blend --isolation": _say_ratios,
    "tiers": _say_tiers,
    "keyness": _say_keyness,
    "strategies": _say_strategies,
    "strategies --per-output": lambda rows: iter([_tally(rows, "strategy", "output")]),
    "score": _say_scores,
    "compare": _say_comparisons,
    "compare --averages": _say_averages,
    "outcomes": _say_outcomes,
    "outcomes --wins": _say_wins,
    "efficiency": _say_efficiency,
    "agreement": _say_agreement,
    "agreement --votes": _say_votes,
    "audit": lambda rows: iter([_tally(rows, "verdict", "published figure")]),
    "link": _say_links,
    "link --ranks": _say_ranks,
}
"""By the names of kinds."""
