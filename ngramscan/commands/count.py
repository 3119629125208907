"""`ngramscan count`: how often patterns occur."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

from ngramscan.commands.shared import (
    IndexSpecs,
    PatternOptions,
    Patterns,
    load_ahead,
    refuse_totals,
    split_by_kind,
)
from ngramscan.errors import InputError
from ngramscan.options import WHAT
from ngramscan.progress import SILENT, Progress
from ngramscan.reporting.command import NewFile, Option, Result, Rows, RowsFile, Shared, command
from ngramscan.reporting.rows import together

if TYPE_CHECKING:
    from rich.console import Console

    from ngramscan.indexes.base import Index
    from ngramscan.indexes.tokens.base import TokenIndex
    from ngramscan.patterns.model import Query
    from ngramscan.prevalence.count import CountResult, CountRow
    from ngramscan.prevalence.plan import PlanRow
    from ngramscan.prevalence.token_count import TokenCountRow
    from ngramscan.prevalence.totals import Total


@command
def count(
    *patterns: Patterns,
    index: IndexSpecs = "paper",
    case_variants: Annotated[bool, Option(heading=WHAT, is_rare=True)] = False,
    count_anyway: Annotated[bool, Option(heading=WHAT, is_rare=True)] = False,
    totals: RowsFile = None,
    figure: NewFile = None,
    progress: Progress = SILENT,
    for_table: bool = False,
    **options: Annotated[Any, Shared(PatternOptions)],
) -> Annotated[
    Result[Any],
    Rows(
        "ngramscan.prevalence.count.CountRow",
        "ngramscan.prevalence.token_count.TokenCountRow",
        "ngramscan.prevalence.plan.PlanRow",
    ),
]:
    """Count how often texts occur in corpora.

    PATTERNS are texts with a space in them, pattern sets in YAML files, or names of shipped sets
    (see `ngramscan patterns list`). Give a single word with -e. Hosted indexes know occurrences
    only; in corpora that are read (scan:, python), documents are counted too. Pattern sets also
    have totals of each method.

    Parameters
    ----------
    *patterns : str or Path
        Texts with a space in them, pattern files, or names of shipped sets; `-` reads a pattern
        set from standard input.
    index : str or sequence of str
        Where to count: a hosted index, `paper` (its eight corpora), http://HOST:PORT/NAME,
        scan:PATH, fm9:DIR_OR_URL, infini-gram:NAME, tokens:DIR or `python`.
    case_variants : bool
        Also count spellings with a capital first letter or a typographic apostrophe; not of
        patterns of kind latex or code.
    count_anyway : bool
        Count patterns in token-level indexes even if they don't begin and end with a word: their
        counts are far too low.
    totals : str or Path, optional
        Write totals and ratios of the methods to this file.
    figure : str or Path, optional
        Draw the occurrences of each pattern, by method: .svg or .png.
    progress : Progress
        Reports requests and bytes read.

    Returns
    -------
    DataFrame
        One row per query and index; see docs/rows.md.

    Raises
    ------
    InputError
        An argument or a file is wrong.
    IncompleteError
        Some counts are missing; its `rows` has the others, and so has the journal.

    Examples
    --------
    $ ngramscan count "step by step" "let's think" --index python
    $ ngramscan count -e foo --index scan:corpus.jsonl
    $ ngramscan count -f phrases.txt --index python -o counts.csv
    $ ngramscan count f1 --index dclm --tier T1,T2 -o dclm.csv
    $ ngramscan count f1 mine.yaml --index 'scan:shards/*.jsonl.zst'
    """
    # They are slow to import.
    from ngramscan.indexes.opening import open_indexes
    from ngramscan.indexes.sizes import sizes_in_words
    from ngramscan.prevalence.count import CountRow, describe_missing, run_count
    from ngramscan.prevalence.plan import PlanRow
    from ngramscan.prevalence.token_count import TokenCountRow, run_token_count, start_lookups
    from ngramscan.prevalence.totals import Total

    asked = PatternOptions(**options)
    if case_variants and asked.ignore_case:
        problem = "it can't go with --ignore-case: each spelling would count all of them"
        raise InputError("--case-variants", problem)
    chosen = asked.load(patterns)
    refuse_totals(totals, chosen)
    queries = chosen.queries(case_variants)
    if needs_totals := bool(chosen.methods) and (for_table or totals is not None):
        load_ahead("scipy.special")  # for their interval
    with open_indexes(index, asked, progress) as indexes:
        of_bytes, of_tokens = split_by_kind(indexes)
        if count_anyway and not of_tokens:
            problem = "only token-level indexes (infini-gram:, tokens:) refuse patterns without it"
            raise InputError("--count-anyway", problem)
        if asked.dry_run:
            plan = _plan(queries, of_bytes, of_tokens, needs_totals, count_anyway)
            return Result(plan, PlanRow)
        lookups = start_lookups(queries, of_tokens, count_anyway)
        counting = run_count(queries, of_bytes, needs_totals)
        in_tokens = run_token_count(queries, lookups, count_anyway)
    rows: list[CountRow | TokenCountRow] = [*counting.rows, *in_tokens.rows]
    sums = _totals(counting, in_tokens) if needs_totals else []
    if known := sum(row.source == "journal" for row in rows):
        progress.notice(f"{known} of {len(rows)} counts are from the journal; --refresh asks again")
    failures = describe_missing(counting.missing + in_tokens.missing, queries, len(indexes))
    types = [CountRow] * bool(of_bytes) + [TokenCountRow] * bool(of_tokens)
    return Result(
        *together(rows, types),
        failures=failures,
        print_table=partial(_print, counting=counting, in_tokens=in_tokens, totals=sums),
        is_silent=not rows,
        figure=(figure, rows) if rows else (),
        files=[(totals, sums, Total)] if rows else (),
        sizes=sizes_in_words(counting.sizes | in_tokens.sizes),
        first_columns=("pattern", "occurrences", "documents"),
    )


def _plan(
    queries: Sequence[Query],
    of_bytes: Sequence[Index],
    of_tokens: Sequence[TokenIndex],
    needs_totals: bool,
    count_anyway: bool,
) -> list[PlanRow]:
    from ngramscan.prevalence.count import texts_of
    from ngramscan.prevalence.plan import make_plan
    from ngramscan.prevalence.token_count import texts_asked

    plan = make_plan(len(queries), texts_of(queries, needs_totals), 0, 0, of_bytes)
    for index in of_tokens:
        plan += make_plan(len(queries), texts_asked(queries, index, count_anyway), 0, 0, [index])
    return plan


def _totals(counting: CountResult[CountRow], in_tokens: CountResult[TokenCountRow]) -> list[Total]:
    from ngramscan.prevalence.totals import make_token_totals, make_totals

    of_bytes = make_totals(counting) if counting.sizes else []
    return of_bytes + make_token_totals(in_tokens)


def _print(
    console: Console,
    counting: CountResult[CountRow],
    in_tokens: CountResult[TokenCountRow],
    totals: Sequence[Total],
) -> None:
    from ngramscan.reporting import tables

    tables.print_count(console, counting, totals)
    if counting.rows and in_tokens.rows:
        console.print()
    tables.print_token_count(console, in_tokens, totals, bool(counting.rows))
