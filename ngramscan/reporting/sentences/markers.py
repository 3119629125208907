"""Markers of methods in outputs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from ngramscan.messages import counted
from ngramscan.reporting.sentences.differences import (
    DifferenceWords,
    Verbs,
    gaps_of_differences,
    is_shown,
    points_and_p,
    why_not,
)
from ngramscan.reporting.sentences.names import named, quoted, scope_of
from ngramscan.reporting.sentences.phrases import (
    Row,
    finding,
    group_rows,
    known_rows,
    listed,
    more_in_table,
    number,
)
from ngramscan.reporting.sentences.sentence import Sentence
from ngramscan.reporting.sentences.shares import (
    MOST_NAMED,
    against,
    broadest,
    has_ends,
    interval_of,
    most_of,
    n_of,
    share_of,
    share_text,
)

_SCOPE = ("dataset", "model")


def say_blend(rows: Sequence[Row], _alpha: float) -> Iterator[Sentence]:
    """Yield which prompts' outputs have each method's markers, and which others have them, too."""
    with_share = broadest(known_rows(rows, "share"))
    groups = group_rows(with_share, *_SCOPE, "method")
    for group in [*groups.values()][:MOST_NAMED]:
        own_prompts = [row for row in group if row["has_method"]]
        other_prompts = [row for row in group if not row["has_method"]]
        text = (
            _in_own(own_prompts)
            + _in_others(other_prompts, bool(own_prompts))
            + scope_of(group[0], _SCOPE, with_share)
        )
        yield Sentence(f"{text}.", is_finding=True, has_interval=has_ends(group, "share"))
    yield from more_in_table(len(groups) - MOST_NAMED, "method")


def _in_own(rows: Sequence[Row]) -> str:
    """Return in how many outputs of its own prompts a method's markers are."""
    if not rows:
        return ""
    texts = [
        f"{share_of(row)} of {'the outputs' if number == 0 else 'those'} of {named(row['prompt'])}"
        for number, row in enumerate(rows[:MOST_NAMED])
    ]
    if (n_further := len(rows) - MOST_NAMED) > 0:
        texts[-1] += f" (and {counted(n_further, 'further prompt')})"
    return f"{named(rows[0]['method'])}'s markers are in {listed(texts)}"


def _in_others(rows: Sequence[Row], has_own: bool) -> str:
    """Return where a method's markers are though the prompt lacks the method."""
    if not rows:
        return ""
    most = max(rows, key=lambda row: row["share"])
    method = named(most["method"])
    limit = "" if len(rows) == 1 else "at most "
    text = f"{limit}{share_of(most)}" if most["share"] else "none"
    prompt = f" ({named(most['prompt'])})" if most["share"] else ""
    if has_own:
        return f"; where the prompt lacks {method}, in {text}{prompt}"
    return f"{method}'s markers are in {text} of the outputs of prompts without {method}{prompt}"


def say_confusion(rows: Sequence[Row]) -> Iterator[Sentence]:
    """Yield where the markers of each method are most frequent though the prompt lacks it."""
    with_share = broadest(known_rows(rows, "share"))
    texts: list[str] = []
    for group in group_rows(with_share, "method").values():
        others = [row for row in group if not row["has_method"]]
        if not others or not any(row["has_method"] for row in group):
            continue
        most = max(others, key=lambda row: row["share"])
        where = "no output"
        if most["share"]:
            where = f"at most {share_of(most)} of the outputs ({named(most['prompt'])})"
        markers = "in" if texts else "markers are in"
        texts.append(f"{named(most['method'])}'s {markers} {where}")
    if texts:
        text = f"With prompts that lack the method, {listed(texts[:MOST_NAMED])}."
        yield Sentence(text, is_finding=True, has_interval=has_ends(with_share, "share"))


def say_presence(rows: Sequence[Row], _alpha: float) -> Iterator[Sentence]:
    """Yield the most frequent marker of each method, those that occur nowhere, and generic ones."""
    with_share = broadest(known_rows(rows, "share"))
    methods = [*group_rows(with_share, "method").values()]
    for group in methods[:MOST_NAMED]:
        if own_present := [row for row in group if row["has_method"] and row["share"]]:
            row = max(own_present, key=lambda row: row["share"])
            first = f"{named(row['method'])}'s most frequent marker is {quoted(row['pattern'])}"
            text = f"{first}: in {share_of(row)} of the outputs of {named(row['prompt'])}"
            text += scope_of(row, _SCOPE, with_share)
            yield Sentence(f"{text}.", is_finding=True, has_interval=has_ends([row], "share"))
    patterns = group_rows(with_share, "method", "pattern")
    if absent := sum(not any(row["share"] for row in group) for group in patterns.values()):
        share = f"{number(absent)} of {counted(len(patterns), 'pattern')}"
        yield Sentence(f"{share} {'occurs' if absent == 1 else 'occur'} nowhere.")
    generic = dict.fromkeys(quoted(row["pattern"]) for row in with_share if row.get("generic"))
    if generic:
        names = [*generic][:MOST_NAMED]
        if (n_others := len(generic) - MOST_NAMED) > 0:
            names.append(counted(n_others, "other"))
        yield Sentence(f"Frequent without their method as well, so no sign of it: {listed(names)}.")


def say_retention(rows: Sequence[Row], alpha: float) -> Iterator[Sentence]:
    """Yield whether outputs keep the markers of a prefix when a solver follows it.

    A few comparisons have a sentence each.
    """
    compared = known_rows(rows, "difference")
    shares = known_rows(known_rows(compared, "share_alone"), "share_with")
    if len(shares) < len(compared) or len(compared) > MOST_NAMED:
        yield from _RETENTION.say(rows, alpha)
        return
    for row in compared:
        text = f"{_kept(row)}{scope_of(row, _SCOPE, compared)}: {_judged(row, alpha)}."
        has_interval = has_ends([row], "difference")
        yield replace(finding(text, has_interval=has_interval), is_claim=True)
    for text in gaps_of_differences(rows, compared):
        yield Sentence(text)


def _kept(row: Row) -> str:
    """Return in how many outputs the markers of a prefix are, with a solver and alone."""
    first = f"{share_text(row['share_with'])}% of the outputs of {named(row['prompt_with'])}"
    alone = f"{share_text(row['share_alone'])}% of those of {named(row['prefix'])}"
    return f"{named(row['method'])}'s markers are in {first} and {alone}"


def _judged(row: Row, alpha: float) -> str:
    """Return whether outputs lose the markers, with the difference and the number of pairs."""
    facts = ", ".join(filter(None, (points_and_p(row), n_of(row, "pairs"))))
    if is_shown(row, alpha):
        change = "fewer outputs keep them" if row["difference"] < 0 else "more outputs have them"
        return f"{change}, {facts}"
    change = "difference" if row["difference"] > 0 else "loss"
    return f"no {change} is shown, {facts}{why_not(row, alpha)}"


_RETENTION = DifferenceWords(
    ("dataset", "model"),
    lambda row: (f"Outputs of {named(row['prompt_with'])}", f"those of {named(row['prefix'])}"),
    lambda row: Verbs(
        f"have markers of {named(row['method'])} more often than",
        f"have markers of {named(row['method'])} less often than",
    ),
    lambda row: n_of(row, "pairs"),
    values=lambda row: against(row.get("share_with"), row.get("share_alone")),
    topic=lambda row: f" in how many have markers of {named(row['method'])}",
)


def say_isolation(rows: Sequence[Row], _alpha: float) -> Iterator[Sentence]:
    """Yield how often markers are in outputs of their own prompts and of others."""
    with_ratio = [row for row in broadest(rows) if row.get("ratio") is not None]
    by_ratio = sorted(with_ratio, key=lambda row: row["ratio"])
    for row in by_ratio[:MOST_NAMED]:
        own_share, other_share = row.get("share_own"), row.get("share_others")
        ratio = f"{number(row['ratio'])}{interval_of(row, 'ratio')}"
        method, scope = named(row["method"]), scope_of(row, _SCOPE, with_ratio)
        text = (
            f"{method}'s markers are {ratio} times as frequent with its own prompts as with others"
        )
        if own_share is not None and other_share is not None:
            text = f"{method}'s markers are in {share_text(own_share)}% of the outputs"
            text += (
                f" of its own prompts and in {share_text(other_share)}% of others (ratio {ratio}"
            )
            # A share of 0 has no ratio; the row has that of half an output more.
            text += ", with half an output added)" if 0 in {own_share, other_share} else ")"
        yield Sentence(f"{text}{scope}.", is_finding=True, has_interval=has_ends([row], "ratio"))
    if other_methods := [row["method"] for row in by_ratio[MOST_NAMED:]]:
        yield Sentence(f"The ratio is at least as large for {most_of(other_methods, 'method')}.")
