"""The sentences of any kind of rows, for pages, terminals and notebooks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from ngramscan.messages import counted
from ngramscan.reporting.page.results import Results
from ngramscan.reporting.sentences import (
    comparisons,
    contamination,
    counts,
    documents,
    joint_outcomes,
    labels,
    links,
    markers,
    plans,
    scores,
    specificity,
    subjects,
    totals,
    traces,
)
from ngramscan.reporting.sentences.families import count_families, level_of_each
from ngramscan.reporting.sentences.phrases import Row, known_rows, level_text, number
from ngramscan.reporting.sentences.sentence import Sentence


class Section(NamedTuple):
    """The words of a page about rows of one kind."""

    say: Callable[[Sequence[Row], float], Iterable[Sentence]]
    """Says something about rows, at a level of tests."""
    subject: subjects.Subject
    """The subject of the rows in a title."""


SECTIONS: Mapping[str, Section] = {
    "count": Section(counts.say_counts, subjects.COUNTS),
    "totals": Section(totals.say_totals, subjects.TOTALS),
    "contexts": Section(counts.say_contexts, subjects.COUNTS),
    "docnorm": Section(documents.say_documents, subjects.COUNTS),
    "contaminate": Section(contamination.say_entries, subjects.ENTRIES),
    "contaminate --shares": Section(contamination.say_shares, subjects.ENTRIES),
    "contaminate --effects": Section(contamination.say_effects, subjects.ENTRIES),
    "trace": Section(traces.say_traces, subjects.TRACES),
    "trace --curve": Section(traces.say_curve, subjects.TRACES),
    "trace --differences": Section(traces.say_trace_differences, subjects.TRACES),
    "trace --spans": Section(traces.say_spans, subjects.TRACES),
    "blend": Section(markers.say_blend, subjects.MARKERS),
    "blend --presence": Section(markers.say_presence, subjects.MARKERS),
    "blend --retention": Section(markers.say_retention, subjects.MARKERS),
    "blend --isolation": Section(markers.say_isolation, subjects.MARKERS),
    "tiers": Section(specificity.say_tiers, subjects.SPECIFICITY),
    "keyness": Section(specificity.say_keyness, subjects.KEYNESS),
    "strategies": Section(specificity.say_strategies, subjects.STRATEGIES),
    "strategies --per-output": Section(specificity.say_strategy_of_each, subjects.STRATEGIES),
    "show": Section(scores.say_outputs, subjects.SCORES),
    "score": Section(scores.say_scores, subjects.SCORES),
    "compare": Section(comparisons.say_comparisons, subjects.COMPARISONS),
    "rank": Section(comparisons.say_ranks, subjects.RANKS),
    "compare --averages": Section(comparisons.say_averages, subjects.COMPARISONS),
    "plan": Section(plans.say_plans, subjects.PLANS),
    "plan --curve": Section(plans.say_power, subjects.PLANS),
    "outcomes": Section(joint_outcomes.say_outcomes, subjects.OUTCOMES),
    "outcomes --agreements": Section(joint_outcomes.say_agreements, subjects.OUTCOMES),
    "outcomes --wins": Section(joint_outcomes.say_wins, subjects.OUTCOMES),
    "efficiency": Section(joint_outcomes.say_efficiency, subjects.EFFICIENCY),
    "judge --shares": Section(labels.say_label_shares, subjects.LABELS),
    "agreement": Section(labels.say_agreement, subjects.AGREEMENT),
    "agreement --votes": Section(labels.say_votes, subjects.AGREEMENT),
    "link": Section(links.say_links, subjects.LINKS),
    "link --problems": Section(links.say_slopes, subjects.LINKS),
    "link --ranks": Section(links.say_rank_links, subjects.LINKS),
}
"""The words about each kind of rows, by its name; of kinds with one family, the first has the
title."""


def sentences(results: Results, families: int | None = None) -> list[Sentence]:
    """Return the sentences about some rows.

    `families` is the number of families of tests on the page; by default that of these rows.
    """
    if families is None:
        families = count_families([results])
    statements = list(SECTIONS[results.kind.name].say(results.rows, level_of_each(families)))
    if families > 1 and any(sentence.is_claim for sentence in statements):
        statements.append(Sentence(describe_level(families)))
    if any(sentence.has_interval for sentence in statements):
        statements.append(Sentence(describe_brackets(results.rows)))
    return [*_about_left_out(results), *statements]


def describe_brackets(rows: Sequence[Row]) -> str:
    """Return a sentence that explains the brackets in sentences about some rows."""
    levels = {row["level"] for row in known_rows(rows, "level")}
    level = f"{100 * min(levels):g}% confidence " if len(levels) == 1 else ""
    return f"Brackets enclose {level}intervals."


def describe_level(families: int) -> str:
    """Return a sentence on the level of each of several families of tests."""
    level = level_text(level_of_each(families))
    return (
        f"This page has {number(families)} families of tests, so each has a level of {level}:"
        f" a difference is claimed if its adjusted p-value is at most that."
    )


def _about_left_out(results: Results) -> Iterator[Sentence]:
    if results.left_out:
        first = f"The sentences are about the first {counted(len(results.rows), 'row')}"
        yield Sentence(f"{first}; {number(results.left_out)} further ones are left out.")
