"""The sentences of any kind of rows, for pages, terminals and notebooks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

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
    totals,
    traces,
)
from ngramscan.reporting.sentences.families import count_families, level_of_each
from ngramscan.reporting.sentences.phrases import Row, known_rows, level_text, number
from ngramscan.reporting.sentences.sentence import Sentence

_Say = Callable[[Sequence[Row], float], Iterable[Sentence]]
SAY: dict[str, _Say] = {
    "count": counts.say_counts,
    "totals": totals.say_totals,
    "contexts": counts.say_contexts,
    "docnorm": documents.say_documents,
    "contaminate": contamination.say_entries,
    "contaminate --shares": contamination.say_shares,
    "contaminate --effects": contamination.say_effects,
    "trace": traces.say_traces,
    "trace --curve": traces.say_curve,
    "trace --differences": traces.say_trace_differences,
    "trace --spans": traces.say_spans,
    "blend": markers.say_blend,
    "blend --presence": markers.say_presence,
    "blend --retention": markers.say_retention,
    "blend --isolation": markers.say_isolation,
    "tiers": specificity.say_tiers,
    "keyness": specificity.say_keyness,
    "strategies": specificity.say_strategies,
    "strategies --per-output": specificity.say_strategy_of_each,
    "show": scores.say_outputs,
    "score": scores.say_scores,
    "compare": comparisons.say_comparisons,
    "rank": comparisons.say_ranks,
    "compare --averages": comparisons.say_averages,
    "plan": plans.say_plans,
    "plan --curve": plans.say_power,
    "outcomes": joint_outcomes.say_outcomes,
    "outcomes --agreements": joint_outcomes.say_agreements,
    "outcomes --wins": joint_outcomes.say_wins,
    "efficiency": joint_outcomes.say_efficiency,
    "judge --shares": labels.say_label_shares,
    "agreement": labels.say_agreement,
    "agreement --votes": labels.say_votes,
    "link": links.say_links,
    "link --problems": links.say_slopes,
    "link --ranks": links.say_rank_links,
}
"""Functions that say something about rows, at a level of tests, by the names of kinds."""


def sentences(results: Results, families: int | None = None) -> list[Sentence]:
    """Return the sentences about some rows.

    `families` is the number of families of tests on the page; by default that of these rows.
    """
    if families is None:
        families = count_families([results])
    statements = list(SAY[results.kind.name](results.rows, level_of_each(families)))
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
