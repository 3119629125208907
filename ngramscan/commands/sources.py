"""`ngramscan sources`: where occurrences come from."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

from ngramscan.commands.shared import (
    DEFAULT_INDEX,
    IndexSpecs,
    PatternOptions,
    Patterns,
    load_ahead,
)
from ngramscan.options import OUTPUT
from ngramscan.prevalence.draws import DRAWS, EXACT_UP_TO
from ngramscan.progress import SILENT, Progress
from ngramscan.reporting.command import NewFile, Option, Result, RowTypes, Shared, command

if TYPE_CHECKING:
    from rich.console import Console

    from ngramscan.prevalence.sources import SourcesResult


@command
def sources(
    *patterns: Patterns,
    index: IndexSpecs = DEFAULT_INDEX,
    by: Annotated[str, Option(metavar="FIELD")] = "source",
    draws: Annotated[int, Option(metavar="N", least=2)] = DRAWS,
    exact_up_to: Annotated[int, Option(metavar="N", least=0)] = EXACT_UP_TO,
    top: Annotated[int | None, Option(metavar="N", least=1, heading=OUTPUT, is_shown=True)] = None,
    figure: NewFile = None,
    progress: Progress = SILENT,
    **options: Annotated[Any, Shared(PatternOptions)],
) -> Annotated[
    Result[Any],
    RowTypes("ngramscan.prevalence.sources.SourceRow", "ngramscan.prevalence.plan.PlanRow"),
]:
    r"""Show from which sources the occurrences of texts come.

    Sources are the values of a field in the metadata of documents. Corpora that are read (scan:,
    python) are counted exactly, with the size of each source, or estimated from --sample-files.
    Local indexes (fm9:DIR, tokens:DIR) are exact up to --exact-up-to occurrences of a pattern.
    Elsewhere, some occurrences are drawn at random. PATTERNS are those of count.

    Parameters
    ----------
    *patterns, index : see count
    by : str
        Field of the metadata, also a path as `metadata.source`; `url-host`: host of the URL,
        `year`: of the date. Texts without a host or year count as `(unreadable)`.
    draws : int
        Number of occurrences drawn per pattern that is not counted.
    exact_up_to : int
        Look up all occurrences of patterns with at most this many, in local indexes; 0: always
        draw.
    top : int, optional
        Number of values that the terminal shows for each pattern. By default 10, and 3 for several
        patterns; files have all.
    figure : str or Path, optional
        Draw the share of each value, for each pattern and corpus: .svg, .png or .pdf.
    progress : see count

    Returns
    -------
    DataFrame
        One row per query, index and value of the field; see docs/rows.md.

    Raises
    ------
    InputError
        An argument or a file is wrong, or no document has the field.
    IncompleteError
        Some sources are missing; its `rows` has the others.

    Examples
    --------
    $ ngramscan sources -e '\frac{' --index scan:sourced.jsonl --by url-host
    $ ngramscan sources "step by step" --by url-host --draws 400 --dry-run
    $ ngramscan sources f1 --method f-1 --index scan:sourced.jsonl --by metadata.source
    """
    # They are slow to import.
    from ngramscan.indexes.opening import open_indexes
    from ngramscan.indexes.sizes import describe_unknown_sizes, sizes_in_words
    from ngramscan.prevalence.failures import describe_missing
    from ngramscan.prevalence.plan import PlanRow
    from ngramscan.prevalence.sources import (
        SourceRow,
        SourcesOptions,
        describe_absent,
        run_sources,
    )

    pattern_options = PatternOptions(**options)
    sources_options = SourcesOptions(by, draws, pattern_options.seed, exact_up_to)
    queries = pattern_options.load(patterns, progress.notice).queries()
    load_ahead("scipy.special")
    with open_indexes(index, pattern_options, progress, looks_up_documents=True) as indexes:
        if pattern_options.dry_run:
            # Slow to import.
            from ngramscan.prevalence.plans import describe_charges, plan_sources

            plan = plan_sources(queries, indexes, sources_options)
            return Result(plan, PlanRow, describe_charges(plan, pattern_options.reader_pays))
        result = run_sources(queries, indexes, sources_options, pattern_options.match_rule)
    return Result(
        result.rows,
        SourceRow,
        notices=[*describe_absent(result), *describe_unknown_sizes(result.sizes)],
        failures=describe_missing(result.missing, queries, len(indexes), "lookups"),
        print_table=partial(_print, result=result, top=top),
        is_screen=True,
        is_silent=not result.rows,
        figure=(figure, result.rows) if result.rows else (),
        sizes=sizes_in_words(result.sizes),
    )


def _print(console: Console, result: SourcesResult, top: int | None) -> None:
    from ngramscan.reporting import tables  # slow to import

    tables.print_sources(result, top, console)
