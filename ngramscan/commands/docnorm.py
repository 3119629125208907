"""`ngramscan docnorm`: in how many documents patterns occur."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from ngramscan.commands.count import TextFiles, Texts, load_ahead, refuse_totals, split_by_kind
from ngramscan.commands.index import parse_size
from ngramscan.corpora import InputFormat
from ngramscan.errors import InputError
from ngramscan.indexes.base import CACHE, MAX_LINE, TIMEOUT_S, Index, IndexOptions
from ngramscan.indexes.catalog import DEFAULT_URL
from ngramscan.indexes.opening import open_indexes
from ngramscan.indexes.sizes import sizes_in_words
from ngramscan.indexes.tokens.base import TokenIndex
from ngramscan.patterns.files import PathOrName
from ngramscan.patterns.given import load_given
from ngramscan.patterns.model import Query, Tier
from ngramscan.patterns.overlaps import merged_of_unions
from ngramscan.prevalence.count import collect_replies, describe_missing
from ngramscan.prevalence.docnorm import DocnormResult, DocnormRow, run_docnorm
from ngramscan.prevalence.docnorm_totals import DocnormTotal
from ngramscan.prevalence.draws import (
    DRAWS,
    EXACT_UP_TO,
    LEAST_CONTEXT,
    MAX_DRAWS,
    DocnormOptions,
    DrawRow,
    Estimator,
)
from ngramscan.prevalence.plan import PlanRow, make_plan
from ngramscan.prevalence.token_count import start_lookups, texts_asked
from ngramscan.prevalence.token_docnorm import (
    TokenDocnormRow,
    refuse_first,
    run_token_docnorm,
)
from ngramscan.progress import SILENT, Progress
from ngramscan.reporting import optional_target, tables
from ngramscan.reporting.command import Option, Result, command
from ngramscan.reporting.options import save
from ngramscan.reporting.rows import together

if TYPE_CHECKING:
    from rich.console import Console

DEFAULT_INDEX = "dclm"
DEFAULT_SET = "f1"
CONTEXT = 10_000
DEFAULT_TIERS: tuple[Tier, ...] = ("T1", "T2")


def _share(target: str | float) -> float:
    text = str(target)
    try:
        share = float(text.removesuffix("%")) / (100 if text.endswith("%") else 1)
    except ValueError:
        share = 0.0
    if not 0 < share < 1:
        raise InputError(f"--target {target}", "a share between 0 and 100%, as 10%, was expected")
    return share


@command
def docnorm(
    *patterns: Annotated[PathOrName, Option(is_optional=True)],
    literal: Texts = (),
    literals: TextFiles = (),
    index: Annotated[str | Sequence[str], Option(metavar="SPEC", is_verbatim=True)] = DEFAULT_INDEX,
    tier: Tier | Sequence[Tier] = (),
    method: Annotated[str | Sequence[str], Option(metavar="NAME")] = (),
    draws: Annotated[int | None, Option(metavar="N", least=2)] = None,
    target: Annotated[str | float | None, Option(metavar="P%")] = None,
    max_draws: Annotated[int | None, Option(metavar="N", least=2)] = None,
    estimator: Estimator | None = None,
    exact_up_to: Annotated[int | None, Option(metavar="N", least=0)] = None,
    context: Annotated[int, Option(metavar="BYTES", least=LEAST_CONTEXT)] = CONTEXT,
    totals: Annotated[str | Path | None, Option(metavar="FILE", is_written=True)] = None,
    drawn: Annotated[str | Path | None, Option(metavar="FILE", is_written=True)] = None,
    dry_run: bool = False,
    api_url: Annotated[str, Option(metavar="URL")] = DEFAULT_URL,
    concurrency: Annotated[int | None, Option(least=1)] = None,
    rate: Annotated[float | None, Option(metavar="N", least=0)] = None,
    timeout_s: Annotated[float, Option(flags="--timeout", metavar="SECONDS", over=0)] = TIMEOUT_S,
    journal: Annotated[str | Path | None, Option(metavar="FILE", is_written=True)] = None,
    refresh: bool = False,
    text_field: Annotated[str, Option(metavar="NAME")] = "text",
    workers: Annotated[int | None, Option(least=1)] = None,
    scheduler: Annotated[str | None, Option(metavar="ADDRESS")] = None,
    sample_files: Annotated[str | int | None, Option(metavar="N|P%")] = None,
    seed: Annotated[int, Option(least=0)] = 1,
    limit_documents: Annotated[int | None, Option(least=1)] = None,
    exclude_source: Annotated[str | Sequence[str], Option(metavar="GLOB", is_verbatim=True)] = (),
    skip_bad_lines: bool = False,
    max_line: Annotated[int, Option(metavar="MB", least=1)] = MAX_LINE,
    ignore_case: Annotated[bool, Option("-i --ignore-case")] = False,
    input_format: InputFormat | None = None,
    skip_unknown: bool = False,
    cache: Annotated[str | int, Option(metavar="SIZE")] = CACHE,
    cache_dir: Annotated[str | Path | None, Option(metavar="DIR")] = None,
    tokenizer: Annotated[str | Path | None, Option(metavar="FILE")] = None,
    progress: Progress = SILENT,
) -> Result[DocnormRow] | Result[TokenDocnormRow] | Result[PlanRow]:
    """Count or estimate how many documents contain texts, with intervals.

    PATTERNS are those of count; by default the set f1, tiers T1 and T2. Corpora that are read
    (scan:, python) are counted exactly, and so are local indexes (fm9:DIR, tokens:DIR) up to
    --exact-up-to occurrences of a pattern. Elsewhere, some occurrences are drawn at random and
    their documents read.

    Parameters
    ----------
    *patterns, literal, literals, index, tier, method : see count
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
    dry_run : see count
    api_url, concurrency, rate, timeout_s, journal, refresh, text_field, workers : see count
    scheduler, sample_files, seed, limit_documents, exclude_source, skip_bad_lines : see count
    max_line, ignore_case, input_format, skip_unknown, cache, cache_dir, tokenizer : see count
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
    totals_target, drawn_target = optional_target(totals), optional_target(drawn)
    share = None if target is None else _share(target)
    if share and estimator == "unique":
        raise InputError("--target", "--estimator unique has no interval that draws could narrow")
    if share and draws:
        raise InputError("--draws", "it can't go with --target, which says how many are drawn")
    if max_draws and not share:
        raise InputError("--max-draws", "it goes with --target; without it, --draws says how many")
    if exact_up_to is None:  # who names an estimator wants draws
        exact_up_to = 0 if estimator else EXACT_UP_TO
    norm = DocnormOptions(
        *(draws or DRAWS, share, max_draws or MAX_DRAWS, estimator or "combined"),
        *(context, seed, bool(drawn), exact_up_to),
    )
    if not (patterns or literal or literals):
        patterns, tier = (DEFAULT_SET,), tier or DEFAULT_TIERS
    chosen = load_given(patterns, literal, literals, tier, method)
    refuse_totals(totals, chosen)
    queries = chosen.queries()
    options = IndexOptions(
        *(api_url, concurrency, rate, timeout_s, journal, refresh, text_field, workers, scheduler),
        *(sample_files, seed, limit_documents, exclude_source, skip_bad_lines, max_line),
        *(ignore_case, input_format, skip_unknown, parse_size(cache, "--cache"), cache_dir),
        tokenizer=tokenizer,
    )
    load_ahead("scipy.special")
    with open_indexes(index, options, progress) as indexes:
        of_bytes, of_tokens = split_by_kind(indexes)
        _refuse_for_tokens(of_bytes, of_tokens, norm)
        if dry_run:
            return Result(_plan(queries, of_bytes, of_tokens, norm), PlanRow)
        lookups = start_lookups(queries, of_tokens)
        norming = run_docnorm(queries, of_bytes, norm)
        in_tokens = run_token_docnorm(queries, lookups, norm)
    rows = [*norming.rows, *in_tokens.rows]
    if rows:
        save([*norming.totals, *in_tokens.totals], DocnormTotal, totals_target)
        save(norming.drawn, DrawRow, drawn_target)
    missing = norming.missing + in_tokens.missing
    failures = describe_missing(missing, queries, len(indexes), "estimates")
    table = partial(_print, norming=norming, in_tokens=in_tokens)
    types = [DocnormRow] * bool(of_bytes) + [TokenDocnormRow] * bool(of_tokens)
    sizes = sizes_in_words(norming.sizes | in_tokens.sizes)
    return Result(
        *together(rows, types),
        failures=failures,
        print_table=table,
        is_silent=not rows,
        sizes=sizes,
    )


def _refuse_for_tokens(
    of_bytes: Sequence[Index], of_tokens: Sequence[TokenIndex], options: DocnormOptions
) -> None:
    """Raise an InputError for an option that token-level indexes don't take."""
    if of_tokens and options.keep_draws:
        problem = f"{of_tokens[0].name} is token-level and keeps no texts; contexts shows some"
        raise InputError("--drawn", problem)
    if of_tokens and not of_bytes and options.context != CONTEXT:
        problem = "bytes; of a token-level index as much is read as it shows"
        raise InputError(f"--context {options.context}", problem)
    refuse_first(of_tokens, options)


def _plan(
    queries: Sequence[Query],
    of_bytes: Sequence[Index],
    of_tokens: Sequence[TokenIndex],
    options: DocnormOptions,
) -> list[PlanRow]:
    texts = list(dict.fromkeys(query.text for query in queries))
    each = options.draws if options.target is None else options.max_draws
    lookups = texts + merged_of_unions(queries)
    asked: list[tuple[Index, list[str], list[str]]] = [(one, texts, lookups) for one in of_bytes]
    for tokens in of_tokens:
        of_texts = texts_asked(queries, tokens, force=False)
        asked.append((tokens, of_texts, of_texts))
    plan = []
    for index, own, of_index in asked:
        windows = each * len(_drawn(index, own, options))
        plan += make_plan(len(queries), of_index, windows, options.context, [index])
    return plan


def _drawn(index: Index, texts: list[str], options: DocnormOptions) -> list[str]:
    """Return the texts that may be drawn; where counting documents is cheap, look-ups are, too."""
    if index.documents_of is None or not options.exact_up_to:
        return texts
    found, _ = collect_replies(index.find(texts), texts)
    return [text for text in found if found[text].occurrences > options.exact_up_to]


def _print(
    console: Console,
    norming: DocnormResult[DocnormRow],
    in_tokens: DocnormResult[TokenDocnormRow],
) -> None:
    tables.print_docnorm(norming, console)
    if norming.rows and in_tokens.rows:
        console.print()
    tables.print_token_docnorm(console, in_tokens, norming.rows)
