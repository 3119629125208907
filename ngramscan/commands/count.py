"""`ngramscan count`: how often patterns occur."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

from ngramscan.commands.shared import (
    IndexSpecs,
    PatternOptions,
    Patterns,
    hint_regexes,
    load_ahead,
    refuse_totals,
)
from ngramscan.errors import InputError
from ngramscan.messages import OptionUse, counted
from ngramscan.options import WHAT, ShowAll
from ngramscan.progress import SILENT, Progress
from ngramscan.reporting.command import NewFile, Option, Result, RowsFile, RowTypes, Shared, command

if TYPE_CHECKING:
    from rich.console import Console

    from ngramscan.prevalence.count import CountResult, FormCount
    from ngramscan.prevalence.totals import Total
    from ngramscan.reporting.latex import PaperTable


@command
def count(
    *patterns: Patterns,
    index: IndexSpecs = "paper",
    case_variants: Annotated[bool, Option(heading=WHAT, is_rare=True)] = False,
    count_anyway: Annotated[bool, Option(heading=WHAT, is_rare=True)] = False,
    draws: Annotated[int | None, Option(metavar="N", least=2, heading=WHAT, is_rare=True)] = None,
    totals: RowsFile = None,
    figure: NewFile = None,
    show_all: ShowAll = False,
    progress: Progress = SILENT,
    for_table: bool = False,
    **options: Annotated[Any, Shared(PatternOptions)],
) -> Annotated[
    Result[Any],
    RowTypes(
        "ngramscan.prevalence.count.CountRow",
        "ngramscan.prevalence.plan.PlanRow",
    ),
]:
    """Count how often texts occur in corpora.

    PATTERNS are texts with a space in them, pattern sets in YAML files, or names of shipped sets
    (see `ngramscan patterns list`). Give a single word with -e. Hosted indexes report occurrences
    only; in corpora that are read (scan:, python), documents are counted too. Pattern sets also
    have totals of each method.

    Parameters
    ----------
    *patterns : str or Path
        Texts with a space in them, pattern files, or names of shipped sets; `-` reads a pattern
        set from standard input.
    index : str or sequence of str
        Where to count: a hosted index, `paper` (its eight corpora), http://HOST:PORT/NAME,
        scan:PATH, fm9:DIR_OR_URL, infini-gram:NAME, tokens:DIR_OR_URL or `python`. A path needs no
        prefix.
        NAME=SPEC gives a corpus a name, which rows and messages show.
    case_variants : bool
        Also count spellings with a capital first letter or a typographic apostrophe; not of
        patterns of kind latex or code.
    count_anyway : bool
        Count patterns in token-level indexes even if they don't begin and end with a word: their
        counts are far too low.
    draws : int, optional
        With --whole-words in a hosted index, number of occurrences drawn per text to see which are
        whole words. By default 200.
    totals : str or Path, optional
        Write totals and ratios of the methods to this file.
    figure : str or Path, optional
        Draw the methods, and each pattern, in all corpora side by side: .svg, .png or .pdf.
    show_all : bool
        Show all tables instead of the summary.
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
    $ ngramscan count f1 --index web=corpus.jsonl --index mine='shards/*.jsonl.zst'
    """
    # They are slow to import.
    from ngramscan.indexes.kinds import is_hosted
    from ngramscan.indexes.opening import open_indexes
    from ngramscan.indexes.sizes import describe_unknown_sizes, sizes_in_words
    from ngramscan.prevalence.count import CountRow, run_count
    from ngramscan.prevalence.failures import describe_missing
    from ngramscan.prevalence.hosted_rules import follow_rule
    from ngramscan.prevalence.plan import PlanRow
    from ngramscan.prevalence.totals import Total, make_totals

    pattern_options = PatternOptions(**options)
    rule = pattern_options.match_rule
    if case_variants and rule.ignore_case:
        reason = "each spelling would count all of them"
        problem = "not allowed with " + OptionUse("ignore_case") + f": {reason}"
        raise InputError(OptionUse("case_variants"), problem)
    if case_variants and rule.is_regex:
        problem = "not allowed with " + OptionUse("regex") + "; " + OptionUse("ignore_case")
        raise InputError(OptionUse("case_variants"), problem + " counts them too")
    chosen = pattern_options.load(patterns, progress.notice)
    refuse_totals(totals, chosen)
    queries = chosen.queries(case_variants)
    if needs_totals := bool(chosen.methods) and (
        for_table or totals is not None or figure is not None
    ):
        load_ahead("scipy.special")  # for their interval
    with open_indexes(index, pattern_options, progress, follows_rules=True) as opened:
        indexes = follow_rule(opened, rule, draws, pattern_options.seed)
        if draws and not (rule.whole_words and any(is_hosted(each.spec) for each in indexes)):
            problem = "only " + OptionUse("whole_words") + " in a hosted index draws occurrences"
            raise InputError(OptionUse("draws", draws), problem)
        if count_anyway and all(each.unit == "bytes" for each in indexes):
            reason = "only token-level indexes (infini-gram:, tokens:) refuse patterns without it"
            raise InputError(OptionUse("count_anyway"), reason)
        if pattern_options.dry_run:
            # Slow to import.
            from ngramscan.prevalence.plans import describe_charges, describe_rule_plan, plan_count

            plan = plan_count(queries, indexes, needs_totals, count_anyway, rule)
            charges = describe_charges(plan, pattern_options.reader_pays)
            return Result(plan, PlanRow, [*describe_rule_plan(indexes, rule), *charges])
        counting = run_count(queries, indexes, needs_totals, count_anyway, rule)
    rows = counting.rows
    sums = make_totals(counting) if needs_totals else []
    if n_stored := sum(row.source == "journal" for row in rows):
        progress.notice(
            f"{n_stored} of {len(rows)} counts are from the journal ("
            + OptionUse("refresh")
            + " to request again)"
        )
    failures = describe_missing(counting.missing, queries, len(indexes))
    return Result(
        rows,
        CountRow,
        notices=[
            *_describe_forms(counting.form_counts),
            *describe_unknown_sizes(counting.sizes),
            *hint_regexes([(row.query, row.occurrences) for row in rows], pattern_options),
        ],
        failures=failures,
        print_table=partial(_print, counting=counting, totals=sums, is_all=show_all),
        is_screen=for_table and not show_all and _has_screen(counting),
        is_silent=not rows,
        figure=(figure, sums, rows) if rows else (),
        files=[(totals, sums, Total)] if rows else (),
        paper=partial(_paper, sizes=sizes_in_words(counting.sizes)),
        sizes=sizes_in_words(counting.sizes),
        first_columns=("pattern", "occurrences", "documents"),
    )


def _describe_forms(form_counts: Sequence[FormCount]) -> list[str]:
    """Return which queries occur in another normal form of Unicode, a line each."""
    from ngramscan.prevalence.failures import SHOWN_REASONS

    lines = [
        f'"{each.query}" occurs {counted(each.occurrences, "time")} more in {each.index} in'
        f" Unicode's form {each.form}, which is not counted"
        f" (as given: {counted(each.occurrences_given, 'time')}); count that form as well"
        for each in form_counts
    ]
    if more := lines[SHOWN_REASONS:]:
        lines[SHOWN_REASONS:] = [f"and {len(more)} more queries occur in another form"]
    return lines


def _paper(rows: Sequence[Any], sizes: Mapping[str, str]) -> Sequence[PaperTable]:
    from ngramscan.reporting.tables.paper import count_tables  # slow to import

    return count_tables(rows, sizes)


def _has_screen(counting: CountResult) -> bool:
    from ngramscan.reporting import tables

    return tables.has_count_screen(counting)


def _print(console: Console, counting: CountResult, totals: Sequence[Total], is_all: bool) -> None:
    from ngramscan.reporting import tables

    show = tables.print_count if is_all else tables.print_count_screen
    show(console, counting, totals)
