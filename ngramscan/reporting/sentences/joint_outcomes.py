"""Where an adaptive method and its baselines succeed, and what their answers cost."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from ngramscan.messages import counted
from ngramscan.reporting.columns import ALL
from ngramscan.reporting.sentences.names import named, scope_of
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

_WHERE = ("dataset", "model", "group", "rule")
_MOST_ROWS = 2
"""Maximum rows, or groups of rows, with a sentence each."""
_MOST_METHODS = 4
_SELECTION = MeasureWords(
    "selection_accuracy", unit="%", limits=("selection_low", "selection_high")
)
_AGREE = MeasureWords("agree", unit="%")
_RIGHT_IF_SAME = MeasureWords("accuracy_agree", unit="%")
_BASELINE_ALONE = MeasureWords("accuracy_baseline_differ", unit="%")
_ADAPTIVE_ALONE = MeasureWords("accuracy_adaptive_differ", unit="%")
_ACCURACY = MeasureWords("accuracy", unit="%")
_TOKENS = MeasureWords("mean_tokens")


def _together_first(rows: Iterable[Row]) -> list[Row]:
    """Return rows of all benchmarks and all models before those of single ones."""
    return sorted(rows, key=lambda row: -sum(row.get(name) == ALL for name in _WHERE[:2]))


def _noun(row: Row) -> str:
    """Return the noun for what is counted: problems, or their pairs with several models."""
    return "pairs of a problem and a model" if row.get("model") == ALL else "problems"


def say_outcomes(rows: Sequence[Row], _alpha: float) -> Iterator[Sentence]:
    """Yield the sentences about rows of `outcomes`: who solves what, and whether it chose well."""
    for row in _together_first(rows)[:_MOST_ROWS]:
        yield from _say_outcome(row)
    yield from more_in_table(len(rows) - _MOST_ROWS, "set", "outcomes")


def _say_outcome(row: Row) -> Iterator[Sentence]:
    adaptive = named(row["adaptive"])
    baselines = [named(name) for name in str(row["baselines"]).split(", ")]
    where = scope_of(row, _WHERE)
    counts = [row.get(name) for name in ("n", "all_fail", "all_solve", "only_adaptive")]
    if None not in counts:
        n, solved_by_none, solved_by_all, alone = (
            number(count) for count in counts if count is not None
        )
        methods = listed([adaptive, *baselines])
        text = f"No method among {methods} solves {solved_by_none} of {n} {_noun(row)}{where}"
        yield finding(f"{text}; all solve {solved_by_all}, and {adaptive} alone solves {alone}.")
    if row.get("selection_accuracy") is not None:
        methods = listed(baselines, "or")
        text = f"Where {methods} is right but not every method is, {adaptive} is right in"
        text += f" {_SELECTION.estimate(row)} of {_noun(row)}{where}."
        yield finding(text, has_interval=_SELECTION.has_interval(row))


def say_agreements(rows: Sequence[Row], _alpha: float) -> Iterator[Sentence]:
    """Yield the sentences about rows of `outcomes --agreements`: right answers, same or not."""
    for row in _together_first(rows)[:_MOST_ROWS]:
        yield from _say_agreement(row)
    yield from more_in_table(len(rows) - _MOST_ROWS, "pair", "methods")


def _say_agreement(row: Row) -> Iterator[Sentence]:
    baseline, adaptive = named(row["baseline"]), named(row["adaptive"])
    where = scope_of(row, _WHERE)
    if row.get("accuracy_agree") is not None:
        part = number(row["n_agree"]) if row.get("agree") is None else _AGREE.estimate(row)
        share = f"{part} of {number(row['n'])} {_noun(row)}"
        text = f"Where {baseline} and {adaptive} give the same answer{where} ({share})"
        text += f", it is right in {_RIGHT_IF_SAME.estimate(row)}."
        has_share = row.get("agree") is not None and _AGREE.has_interval(row)
        yield finding(text, has_interval=has_share or _RIGHT_IF_SAME.has_interval(row))
    sides = ((baseline, _BASELINE_ALONE), (adaptive, _ADAPTIVE_ALONE))
    if all(row.get(measure.value) is not None for _, measure in sides):
        right = [f"{name} is right in {measure.estimate(row)}" for name, measure in sides]
        text = f"Where the answers of {baseline} and {adaptive} are not the same{where}"
        has_interval = any(measure.has_interval(row) for _, measure in sides)
        yield finding(f"{text}, {listed(right)}.", has_interval=has_interval)


def say_wins(rows: Sequence[Row], _alpha: float) -> Iterator[Sentence]:
    """Yield the sentences about rows of `outcomes --wins`."""
    for row in _together_first(rows)[:_MOST_ROWS]:
        cells = f"{number(row['wins'])} of {counted(row['cells'], 'set')} of problems"
        text = f"{named(row['treatment'])} wins on {cells} against {named(row['baseline'])}"
        text += f"{scope_of(row, ('model',))}, ties on {number(row['ties'])}"
        yield Sentence(f"{text} and loses on {number(row['losses'])}{_by_test(row)}.")
    yield from more_in_table(len(rows) - _MOST_ROWS, "pair", "methods")


def _by_test(row: Row) -> str:
    """Return how many wins and losses a test of each set finds."""
    wins, losses, alpha = (row.get(name) for name in ("wins_by_test", "losses_by_test", "alpha"))
    if wins is None or losses is None or alpha is None:
        return ", without a test"
    counts = f"{counted(wins, 'win')} and {counted(losses, 'loss', 'losses')}"
    return f"; tests at a level of {number(alpha)} each, uncorrected, find {counts}"


def say_efficiency(rows: Sequence[Row], _alpha: float) -> Iterator[Sentence]:
    """Yield the sentences about rows of `efficiency`: tokens and accuracy, and the frontier."""
    costed = known_rows(known_rows(rows, "accuracy"), "mean_tokens")
    groups = group_rows(_together_first(costed), *_WHERE)
    for group in [*groups.values()][:_MOST_ROWS]:
        order = sorted(group, key=lambda row: float(row["mean_tokens"]))
        costs = [_cost(row, is_first=row is order[0]) for row in order]
        has_interval = any(
            measure.has_interval(row)
            for row in order[:_MOST_METHODS]
            for measure in (_TOKENS, _ACCURACY)
        )
        yield finding(f"{'; '.join(costs[:_MOST_METHODS])}.", has_interval=has_interval)
        yield from _say_frontier(order)
    yield from more_in_table(len(groups) - _MOST_ROWS, "group", "methods")


def _cost(row: Row, *, is_first: bool) -> str:
    """Return the tokens and the accuracy of a method; its group is named once."""
    tokens, accuracy = _TOKENS.estimate(row), _ACCURACY.estimate(row)
    if not is_first:
        return f"{named(row['method'])} needs {tokens} at {accuracy}"
    where = scope_of(row, _WHERE).strip(", ")
    text = (
        f"{named(row['method'])} needs {tokens} tokens for an answer at an accuracy of {accuracy}"
    )
    return f"{where[0].upper()}{where[1:]}, {text}" if where else text


def _say_frontier(group: Sequence[Row]) -> Iterator[Sentence]:
    """Yield the methods that no other one matches in both accuracy and tokens."""
    best = [row for row in group if row.get("on_frontier")]
    if len(group) < 2 or not best:
        return
    names = []
    for row in best:
        share = row.get("frontier_share")
        resampled = "" if share is None else f" ({number(share, is_share=True)}% of resamples)"
        names.append(f"{named(row['method'])}{resampled}")
    where = scope_of(group[0], _WHERE)
    yield finding(
        f"No other method equals {listed(names, 'or')} in both accuracy and tokens{where}."
    )
