"""`ngramscan contexts`: random occurrences in context."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

from ngramscan.commands.shared import (
    DEFAULT_INDEX,
    IndexSpecs,
    PatternOptions,
    Patterns,
    hint_regexes,
)
from ngramscan.messages import Text
from ngramscan.progress import SILENT, Progress
from ngramscan.reporting.command import Option, Result, RowTypes, Shared, command

if TYPE_CHECKING:
    from ngramscan.prevalence.contexts import ContextsResult


@command
def contexts(
    *patterns: Patterns,
    index: IndexSpecs = DEFAULT_INDEX,
    n: Annotated[int, Option(flags="-n", least=1)] = 20,
    width: Annotated[int, Option(least=0)] = 60,
    progress: Progress = SILENT,
    **options: Annotated[Any, Shared(PatternOptions)],
) -> Annotated[
    Result[Any],
    RowTypes("ngramscan.prevalence.contexts.ContextRow", "ngramscan.prevalence.plan.PlanRow"),
]:
    r"""Show random occurrences of texts in context.

    They show what a pattern really catches. Every occurrence is as likely as any other, so
    documents that contain many are shown more often. PATTERNS are those of count.

    Parameters
    ----------
    *patterns, index : see count
    n : int
        Number of occurrences of each pattern from each index.
    width : int
        Number of characters on each side; fewer in a narrow terminal.
    progress : see count

    Returns
    -------
    DataFrame
        One row per occurrence; see docs/rows.md.

    Raises
    ------
    InputError
        An argument or a file is wrong.
    IncompleteError
        Some occurrences could not be shown; its `rows` has the others.

    Examples
    --------
    $ ngramscan contexts 'step by step' --index dclm -n 50
    $ ngramscan contexts -e '\frac{' --index scan:corpus.jsonl --format csv
    $ ngramscan contexts f1 --method pot --index python -n 3
    """
    # They are slow to import.
    from ngramscan.indexes.opening import open_indexes
    from ngramscan.indexes.sizes import sizes_in_words
    from ngramscan.prevalence.contexts import ContextRow, run_contexts
    from ngramscan.prevalence.failures import describe_missing
    from ngramscan.prevalence.plan import PlanRow
    from ngramscan.reporting import tables

    pattern_options = PatternOptions(**options)
    queries = pattern_options.load(patterns, progress.notice).queries()
    texts = list(dict.fromkeys(query.text for query in queries))
    results, missing = [], []
    with open_indexes(index, pattern_options, progress) as indexes:
        if pattern_options.dry_run:
            # Slow to import.
            from ngramscan.prevalence.plans import (
                describe_charges,
                describe_rule_plan,
                plan_contexts,
            )

            plan = plan_contexts(queries, indexes, n, width)
            notices = describe_rule_plan(indexes, pattern_options.match_rule)
            charges = describe_charges(plan, pattern_options.reader_pays)
            return Result(plan, PlanRow, [*notices, *charges])
        for opened in indexes:
            index_results, failed = run_contexts(texts, opened, n, width, pattern_options.seed)
            results += index_results
            missing += failed
        sizes = sizes_in_words({opened.name: opened.size() for opened in indexes})
    failures = describe_missing(missing, queries, len(indexes), "lookups")
    return Result(
        [row for result in results for row in result.rows],
        ContextRow,
        notices=hint_regexes(
            [(result.text, result.occurrences) for result in results], pattern_options
        ),
        failures=failures + _describe_lost(results),
        print_table=partial(
            tables.print_contexts, results, pattern_options.seed, pattern_options.match_rule.notes
        ),
        is_silent=not results,
        sizes=sizes,
    )


def _describe_lost(results: Sequence[ContextsResult]) -> list[Text]:
    from ngramscan.prevalence.failures import describe_lost  # slow to import

    draws_by_index = Counter[str]()
    for result in results:
        draws_by_index[result.index] += len(result.rows) + len(result.failures)
    lost = [(failure.error, result.index) for result in results for failure in result.failures]
    return describe_lost(lost, "context", draws_by_index)
