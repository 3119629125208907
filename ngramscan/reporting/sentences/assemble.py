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
    sources,
    specificity,
    subjects,
    totals,
    traces,
)
from ngramscan.reporting.sentences.families import count_families, level_of_each
from ngramscan.reporting.sentences.phrases import Row, known_rows, level_text, number
from ngramscan.reporting.sentences.sentence import Sentence


class KindDescription(NamedTuple):
    """The sentences about rows of one kind, and their subject in a title."""

    say: Callable[[Sequence[Row], float], Iterable[Sentence]]
    """Says something about rows, at a level of tests."""
    subject: subjects.Subject
    """The subject of the rows in a title."""


DESCRIPTIONS: Mapping[str, KindDescription] = {
    "count": KindDescription(counts.say_counts, subjects.COUNTS),
    "totals": KindDescription(totals.say_totals, subjects.TOTALS),
    "contexts": KindDescription(counts.say_contexts, subjects.COUNTS),
    "docnorm": KindDescription(documents.say_documents, subjects.COUNTS),
    "sources": KindDescription(sources.say_sources, subjects.SOURCES),
    "contaminate": KindDescription(contamination.say_entries, subjects.ENTRIES),
    "contaminate --shares": KindDescription(contamination.say_shares, subjects.ENTRIES),
    "contaminate --effects": KindDescription(contamination.say_effects, subjects.ENTRIES),
    "contaminate --evidence": KindDescription(contamination.say_evidence, subjects.ENTRIES),
    "contaminate --removed": KindDescription(contamination.say_removed, subjects.ENTRIES),
    "trace": KindDescription(traces.say_traces, subjects.TRACES),
    "trace --curve": KindDescription(traces.say_curve, subjects.TRACES),
    "trace --differences": KindDescription(traces.say_trace_differences, subjects.TRACES),
    "trace --spans": KindDescription(traces.say_spans, subjects.TRACES),
    "trace --retrieved": KindDescription(traces.say_retrieved, subjects.TRACES),
    "blend": KindDescription(markers.say_blend, subjects.MARKERS),
    "blend --presence": KindDescription(markers.say_presence, subjects.MARKERS),
    "blend --retention": KindDescription(markers.say_retention, subjects.MARKERS),
    "blend --isolation": KindDescription(markers.say_isolation, subjects.MARKERS),
    "tiers": KindDescription(specificity.say_tiers, subjects.SPECIFICITY),
    "keyness": KindDescription(specificity.say_keyness, subjects.KEYNESS),
    "strategies": KindDescription(specificity.say_strategies, subjects.STRATEGIES),
    "strategies --per-output": KindDescription(
        specificity.say_strategy_of_each, subjects.STRATEGIES
    ),
    "show": KindDescription(scores.say_outputs, subjects.SCORES),
    "score": KindDescription(scores.say_scores, subjects.SCORES),
    "compare": KindDescription(comparisons.say_comparisons, subjects.COMPARISONS),
    "rank": KindDescription(comparisons.say_ranks, subjects.RANKS),
    "compare --averages": KindDescription(comparisons.say_averages, subjects.COMPARISONS),
    "plan": KindDescription(plans.say_plans, subjects.PLANS),
    "plan --curve": KindDescription(plans.say_power, subjects.PLANS),
    "outcomes": KindDescription(joint_outcomes.say_outcomes, subjects.OUTCOMES),
    "outcomes --agreements": KindDescription(joint_outcomes.say_agreements, subjects.OUTCOMES),
    "outcomes --wins": KindDescription(joint_outcomes.say_wins, subjects.OUTCOMES),
    "efficiency": KindDescription(joint_outcomes.say_efficiency, subjects.EFFICIENCY),
    "judge --shares": KindDescription(labels.say_label_shares, subjects.LABELS),
    "agreement": KindDescription(labels.say_agreement, subjects.AGREEMENT),
    "agreement --votes": KindDescription(labels.say_votes, subjects.AGREEMENT),
    "link": KindDescription(links.say_links, subjects.LINKS),
    "link --problems": KindDescription(links.say_slopes, subjects.LINKS),
    "link --ranks": KindDescription(links.say_rank_links, subjects.LINKS),
}
"""How each kind of rows is described, by its name; of kinds with one family, the first has the
title."""


def sentences(results: Results, families: int | None = None) -> list[Sentence]:
    """Return the sentences about some rows.

    `families` is the number of families of tests on the page; by default that of these rows.
    """
    if families is None:
        families = count_families([results])
    statements = list(DESCRIPTIONS[results.kind.name].say(results.rows, level_of_each(families)))
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
