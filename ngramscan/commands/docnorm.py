"""`ngramscan docnorm`: in how many documents patterns occur."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

from ngramscan.commands.shared import (
    DEFAULT_INDEX,
    DEFAULT_SET,
    IndexSpecs,
    PatternOptions,
    Patterns,
    hint_regexes,
    load_ahead,
    refuse_totals,
)
from ngramscan.errors import InputError
from ngramscan.messages import OptionUse, Text, Wording
from ngramscan.options import ShowAll
from ngramscan.patterns.model import Tier
from ngramscan.prevalence.draws import (
    DRAWS,
    EXACT_UP_TO,
    LEAST_CONTEXT,
    MAX_DRAWS,
    DocnormOptions,
    DrawRow,
    Estimator,
)
from ngramscan.progress import SILENT, Progress
from ngramscan.reporting.command import Option, Result, RowsFile, RowTypes, Shared, command

if TYPE_CHECKING:
    from rich.console import Console

    from ngramscan.indexes.base import Index
    from ngramscan.prevalence.docnorm import DocnormResult
    from ngramscan.reporting.latex import PaperTable

CONTEXT = 10_000
DEFAULT_TIERS: tuple[Tier, ...] = ("T1", "T2")


def _share(target: str | float) -> float:
    text = str(target)
    try:
        share = float(text.removesuffix("%")) / (100 if text.endswith("%") else 1)
    except ValueError:
        share = 0.0
    if not 0 < share < 1:
        raise InputError(
            OptionUse("target", target), "expected a share between 0 and 100%, such as 10%"
        )
    return share


@command
def docnorm(
    *patterns: Patterns,
    index: IndexSpecs = DEFAULT_INDEX,
    draws: Annotated[int | None, Option(metavar="N", least=2)] = None,
    target: Annotated[str | float | None, Option(metavar="P%")] = None,
    max_draws: Annotated[int | None, Option(metavar="N", least=2)] = None,
    estimator: Estimator | None = None,
    exact_up_to: Annotated[int | None, Option(metavar="N", least=0)] = None,
    context: Annotated[int, Option(metavar="BYTES", least=LEAST_CONTEXT)] = CONTEXT,
    totals: RowsFile = None,
    drawn: RowsFile = None,
    show_all: ShowAll = False,
    progress: Progress = SILENT,
    for_table: bool = False,
    **options: Annotated[Any, Shared(PatternOptions)],
) -> Annotated[
    Result[Any],
    RowTypes(
        "ngramscan.prevalence.docnorm.DocnormRow",
        "ngramscan.prevalence.plan.PlanRow",
    ),
]:
    """Count or estimate how many documents contain texts, with intervals.

    PATTERNS are those of count; by default the set f1, tiers T1 and T2. Corpora that are read
    (scan:, python) are counted exactly, and so are local indexes (fm9:DIR, tokens:DIR) up to
    --exact-up-to occurrences of a pattern. Elsewhere, some occurrences are drawn at random and
    their documents read.

    Parameters
    ----------
    *patterns, index : see count
    draws : int, optional
        Number of occurrences drawn per pattern that is not counted. By default 200.
    target : str or float, optional
        Instead of `draws`: draw 100, then as many as an interval of ± this share needs.
    max_draws : int, optional
        With `target`, draw no more occurrences per pattern than this. By default 2000.
    estimator : str, optional
        Estimate documents from draws in this way, also where they can be counted; `unique`:
        distinct documents per draw, an upper bound. By default `combined`, where they can't.
    exact_up_to : int, optional
        Count the documents of patterns with at most this many occurrences, in local indexes;
        0: always draw. By default 20,000, about a second per pattern.
    context : int
        Bytes of a document to read on each side; services give 10,000 at most.
    totals : str or Path, optional
        Write the documents and ratios of the methods to this file.
    drawn : str or Path, optional
        Write the occurrences that were drawn, with their text, to this file; patterns that
        were counted have none.
    show_all : see count
    progress : see count

    Returns
    -------
    DataFrame
        One row per pattern and index; see docs/rows.md.

    Raises
    ------
    InputError
        An argument or a file is wrong.
    IncompleteError
        Some estimates are missing; its `rows` has the others.

    Examples
    --------
    $ ngramscan docnorm "step by step" --index python
    $ ngramscan docnorm --dry-run
    $ ngramscan docnorm --method f-1 --target 10% -o documents.csv
    $ ngramscan docnorm mine.yaml --index cc-2025-05 --drawn draws.parquet
    """
    # They are slow to import.
    from ngramscan.indexes.opening import open_indexes
    from ngramscan.indexes.sizes import describe_unknown_sizes, sizes_in_words
    from ngramscan.prevalence.docnorm import DocnormRow, run_docnorm
    from ngramscan.prevalence.docnorm_totals import DocnormTotal
    from ngramscan.prevalence.failures import describe_missing
    from ngramscan.prevalence.plan import PlanRow

    pattern_options = PatternOptions(**options)
    norm = _options(
        context=context,
        seed=pattern_options.seed,
        keep_draws=bool(drawn),
        draws=draws,
        target=target,
        max_draws=max_draws,
        estimator=estimator,
        exact_up_to=exact_up_to,
    )
    notices: list[Text] = []
    if not (patterns or pattern_options.literal or pattern_options.literals_file):
        patterns = (DEFAULT_SET,)
        if not pattern_options.tier:
            pattern_options = replace(pattern_options, tier=DEFAULT_TIERS)
            notices = _describe_default(pattern_options)
    chosen = pattern_options.load(patterns, progress.notice)
    refuse_totals(totals, chosen)
    queries = chosen.queries()
    load_ahead("scipy.special")
    with open_indexes(index, pattern_options, progress, looks_up_documents=True) as indexes:
        _refuse_for_tokens(indexes, norm)
        if pattern_options.dry_run:
            # Slow to import.
            from ngramscan.prevalence.plans import describe_charges, describe_lookups, plan_docnorm

            plan = plan_docnorm(queries, indexes, norm, pattern_options.match_rule)
            charges = describe_charges(plan, pattern_options.reader_pays)
            return Result(plan, PlanRow, [*notices, *describe_lookups(plan), *charges])
        norming = run_docnorm(queries, indexes, norm, pattern_options.match_rule)
    rows, sums = norming.rows, norming.totals
    return Result(
        rows,
        DocnormRow,
        notices=[
            *notices,
            *describe_unknown_sizes(norming.sizes),
            *hint_regexes([(row.pattern, row.occurrences) for row in rows], pattern_options),
        ],
        failures=describe_missing(norming.missing, queries, len(indexes), "estimates"),
        print_table=partial(_print, norming=norming, is_all=show_all),
        is_screen=for_table and not show_all and _has_screen(norming),
        is_silent=not rows,
        files=[(totals, sums, DocnormTotal), (drawn, norming.drawn, DrawRow)] if rows else (),
        paper=partial(_paper, sizes=sizes_in_words(norming.sizes)),
        sizes=sizes_in_words(norming.sizes),
    )


def _describe_default(chosen: PatternOptions) -> list[Text]:
    """Say which patterns are taken where none are named, and how to have all of the set."""
    of_all = replace(chosen, tier=())
    n_chosen, n_all = (len(each.load((DEFAULT_SET,)).patterns) for each in (chosen, of_all))
    tiers = " and ".join(DEFAULT_TIERS)
    cure = Wording(f"ngramscan docnorm {DEFAULT_SET}", f'ngramscan.docnorm("{DEFAULT_SET}")')
    taken = f"{n_chosen} of the {n_all} patterns of {DEFAULT_SET} are counted, those of {tiers}"
    return [taken + "; all: " + cure]


def _options(
    *,
    draws: int | None,
    target: str | float | None,
    max_draws: int | None,
    estimator: Estimator | None,
    exact_up_to: int | None,
    **others: Any,
) -> DocnormOptions:
    """Return how documents are counted or estimated; refuse options that contradict each other."""
    share = None if target is None else _share(target)
    if share and estimator == "unique":
        raise InputError(
            OptionUse("target"),
            OptionUse("estimator", "unique") + " has no interval that draws could narrow",
        )
    if share and draws:
        problem = "not allowed with " + OptionUse("target") + ", which sets the number of draws"
        raise InputError(OptionUse("draws"), problem)
    if max_draws and not share:
        without = "; without it, " + OptionUse("draws") + " sets the number"
        raise InputError(OptionUse("max_draws"), "requires " + OptionUse("target") + without)
    if exact_up_to is None:  # an estimator is for draws
        exact_up_to = 0 if estimator else EXACT_UP_TO
    return DocnormOptions(
        draws=draws or DRAWS,
        target=share,
        max_draws=max_draws or MAX_DRAWS,
        estimator=estimator or "combined",
        exact_up_to=exact_up_to,
        **others,
    )


def _refuse_for_tokens(indexes: Sequence[Index], options: DocnormOptions) -> None:
    """Raise an InputError for an option that token-level indexes don't take."""
    of_tokens = [index for index in indexes if index.unit == "tokens"]
    if of_tokens and options.keep_draws:
        problem = f"{of_tokens[0].name} is token-level and keeps no texts; contexts shows some"
        raise InputError(OptionUse("drawn"), problem)
    if of_tokens == [*indexes] and options.context != CONTEXT:
        problem = "it is in bytes; from token-level indexes, everything that they show is read"
        raise InputError(OptionUse("context", options.context), problem)
    from ngramscan.prevalence.docnorm import refuse_first  # slow to import

    refuse_first(of_tokens, options)


def _paper(rows: Sequence[Any], sizes: Mapping[str, str]) -> Sequence[PaperTable]:
    from ngramscan.reporting.tables.paper import docnorm_tables  # slow to import

    return docnorm_tables(rows, sizes)


def _has_screen(norming: DocnormResult) -> bool:
    from ngramscan.reporting import tables  # slow to import

    return tables.has_docnorm_screen(norming)


def _print(console: Console, norming: DocnormResult, is_all: bool) -> None:
    from ngramscan.reporting import tables  # slow to import

    show = tables.print_docnorm if is_all else tables.print_docnorm_screen
    show(norming, console)
