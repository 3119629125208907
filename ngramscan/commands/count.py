"""`ngramscan count`: how often patterns occur."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Sequence
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from ngramscan.commands.index import parse_size
from ngramscan.corpora import InputFormat
from ngramscan.errors import InputError
from ngramscan.indexes.base import CACHE, MAX_LINE, TIMEOUT_S, Index, IndexOptions
from ngramscan.indexes.catalog import DEFAULT_URL
from ngramscan.indexes.opening import DEFAULT_SPEC, open_indexes
from ngramscan.indexes.sizes import sizes_in_words
from ngramscan.indexes.tokens.base import TokenIndex, is_token_level
from ngramscan.patterns.files import PathOrName
from ngramscan.patterns.given import load_given
from ngramscan.patterns.model import PatternSet, Query, Tier
from ngramscan.prevalence.count import (
    CountResult,
    CountRow,
    describe_missing,
    run_count,
    texts_of,
)
from ngramscan.prevalence.plan import PlanRow, make_plan
from ngramscan.prevalence.token_count import (
    TokenCountRow,
    run_token_count,
    start_lookups,
    texts_asked,
)
from ngramscan.prevalence.totals import Total, make_token_totals, make_totals
from ngramscan.progress import SILENT, Progress
from ngramscan.reporting import optional_target, tables
from ngramscan.reporting.charts.files import check_target, save_figure
from ngramscan.reporting.command import Option, Result, command
from ngramscan.reporting.options import save
from ngramscan.reporting.rows import together

if TYPE_CHECKING:
    from rich.console import Console

Texts = Annotated[str | Sequence[str], Option("-e --literal", metavar="TEXT", is_verbatim=True)]
TextFiles = Annotated[
    str | Sequence[PathOrName], Option("-f --literals", metavar="FILE", is_verbatim=True)
]


def load_ahead(module: str) -> None:
    """Import a slow module, which is needed at the end, while requests are under way."""
    threading.Thread(target=import_module, args=(module,), daemon=True).start()


def refuse_totals(totals: object, chosen: PatternSet) -> None:
    """Raise an InputError where totals were asked for and no pattern has a method."""
    if totals and not chosen.methods:
        problem = "only patterns of a method have totals, and literals have no method"
        raise InputError(f"--totals {totals}", problem)


@command
def count(
    *patterns: Annotated[PathOrName, Option(is_optional=True)],
    literal: Texts = (),
    literals: TextFiles = (),
    index: Annotated[str | Sequence[str], Option(metavar="SPEC", is_verbatim=True)] = DEFAULT_SPEC,
    tier: Tier | Sequence[Tier] = (),
    method: Annotated[str | Sequence[str], Option(metavar="NAME")] = (),
    case_variants: bool = False,
    totals: Annotated[str | Path | None, Option(metavar="FILE", is_written=True)] = None,
    figure: Annotated[str | Path | None, Option(metavar="FILE", is_written=True)] = None,
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
    force: bool = False,
    progress: Progress = SILENT,
    for_table: bool = False,
) -> Result[CountRow] | Result[TokenCountRow] | Result[PlanRow]:
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
    literal : str or sequence of str
        Count this text as it is.
    literals : str or sequence of str or Path
        Count each line of this file as it is; empty lines are skipped, `-` is standard input.
    index : str or sequence of str
        Where to count: a hosted index, `paper` (its eight corpora), http://HOST:PORT/NAME,
        scan:PATH, fm9:DIR_OR_URL, infini-gram:NAME, tokens:DIR or `python`.
    tier : str or sequence of str
        Only patterns of this tier, from pattern sets.
    method : str or sequence of str
        Only patterns of this method, from pattern sets.
    case_variants : bool
        Also count spellings with a capital first letter or a typographic apostrophe; not of
        patterns of kind latex or code.
    totals : str or Path, optional
        Write totals and ratios of the methods to this file.
    figure : str or Path, optional
        Draw the occurrences of each pattern, by method: .svg or .png.
    dry_run : bool
        Print how many requests, bytes, hours and dollars it would take, one row per index, and ask
        nothing but the headers of index files.
    api_url : str
        Address of the service that has the hosted indexes.
    concurrency : int, optional
        Maximum number of simultaneous requests. By default 4; 256 for index files in place.
    rate : float, optional
        Maximum requests per second; 0 for no limit. By default 4; no limit for loopback addresses.
    timeout_s : float
        Maximum seconds per request, from connecting to the last byte of the reply.
    journal : str or Path, optional
        File that keeps replies. By default ~/.cache/ngramscan/replies.sqlite, on macOS
        ~/Library/Caches/ngramscan/replies.sqlite.
    refresh : bool
        Ask again even where the journal has the reply.
    text_field : str
        Field of JSON lines, or column of Parquet files, that holds the text.
    workers : int, optional
        Number of processes that read a corpus. By default one per core.
    scheduler : str, optional
        Read on a running Dask cluster at this address: tcp://HOST:PORT.
    sample_files : str or int, optional
        Estimate all counts from a random sample of this many files (50) or this share (10%).
    seed : int
        Random seed.
    limit_documents : int, optional
        Read only this many documents, from the start of a corpus.
    exclude_source : str or sequence of str
        Leave out documents whose path, URL or id matches this glob.
    skip_bad_lines : bool
        Skip JSON lines that can't be read, and count them, instead of stopping.
    max_line : int
        Maximum length of a line of JSON, in MB; a longer one is an error.
    ignore_case : bool
        Ignore the case of ASCII letters, in corpora that are read.
    input_format : str, optional
        Format of corpus files. By default their names say it; for scan:- the first bytes do.
    skip_unknown : bool
        Leave out files whose names say no format, instead of stopping.
    cache : str or int
        Memory for parts of index files in place: 256MB, or bytes.
    cache_dir : str or Path, optional
        Folder that keeps parts of index files in place for later runs.
    tokenizer : str or Path, optional
        SentencePiece model or tokenizer.json of a local token-level index.
    force : bool
        Count patterns in token-level indexes even if they don't begin and end with a word: their
        counts are far too low.
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
    if case_variants and ignore_case:
        problem = "it can't go with --ignore-case: each spelling would count all of them"
        raise InputError("--case-variants", problem)
    target, picture = optional_target(totals), Path(figure) if figure else None
    check_target(picture)
    chosen = load_given(patterns, literal, literals, tier, method)
    refuse_totals(totals, chosen)
    queries = chosen.queries(case_variants)
    options = IndexOptions(
        *(api_url, concurrency, rate, timeout_s, journal, refresh, text_field, workers, scheduler),
        *(sample_files, seed, limit_documents, exclude_source, skip_bad_lines, max_line),
        *(ignore_case, input_format, skip_unknown, parse_size(cache, "--cache"), cache_dir),
        tokenizer=tokenizer,
    )
    if needs_totals := bool(chosen.methods) and (for_table or target is not None):
        load_ahead("scipy.special")  # for their interval
    with open_indexes(index, options, progress) as indexes:
        of_bytes, of_tokens = split_by_kind(indexes)
        if force and not of_tokens:
            problem = "only token-level indexes (infini-gram:, tokens:) refuse patterns without it"
            raise InputError("--force", problem)
        if dry_run:
            return Result(_plan(queries, of_bytes, of_tokens, needs_totals, force), PlanRow)
        lookups = start_lookups(queries, of_tokens, force)
        counting = run_count(queries, of_bytes, needs_totals)
        in_tokens = run_token_count(queries, lookups, force)
    rows: list[CountRow | TokenCountRow] = [*counting.rows, *in_tokens.rows]
    sums = _totals(counting, in_tokens) if needs_totals else []
    if known := sum(row.source == "journal" for row in rows):
        progress.notice(f"{known} of {len(rows)} counts are from the journal; --refresh asks again")
    if rows:
        save(sums, Total, target)
    if rows and picture:
        save_figure(picture, rows)
    failures = describe_missing(counting.missing + in_tokens.missing, queries, len(indexes))
    table = partial(_print, counting=counting, in_tokens=in_tokens, totals=sums)
    types = [CountRow] * bool(of_bytes) + [TokenCountRow] * bool(of_tokens)
    sizes = sizes_in_words(counting.sizes | in_tokens.sizes)
    return Result(
        *together(rows, types),
        failures=failures,
        print_table=table,
        is_silent=not rows,
        sizes=sizes,
    )


def split_by_kind(indexes: Iterable[Index]) -> tuple[list[Index], list[TokenIndex]]:
    """Return the indexes of bytes and the token-level ones: their rows are of two types."""
    of_bytes, of_tokens = list[Index](), list[TokenIndex]()
    for index in indexes:
        if is_token_level(index):
            of_tokens.append(index)
        else:
            of_bytes.append(index)
    return of_bytes, of_tokens


def _plan(
    queries: Sequence[Query],
    of_bytes: Sequence[Index],
    of_tokens: Sequence[TokenIndex],
    needs_totals: bool,
    force: bool,
) -> list[PlanRow]:
    plan = make_plan(len(queries), texts_of(queries, needs_totals), 0, 0, of_bytes)
    for one in of_tokens:
        plan += make_plan(len(queries), texts_asked(queries, one, force), 0, 0, [one])
    return plan


def _totals(counting: CountResult[CountRow], in_tokens: CountResult[TokenCountRow]) -> list[Total]:
    of_bytes = make_totals(counting) if counting.sizes else []
    return of_bytes + make_token_totals(in_tokens)


def _print(
    console: Console,
    counting: CountResult[CountRow],
    in_tokens: CountResult[TokenCountRow],
    totals: Sequence[Total],
) -> None:
    tables.print_count(console, counting, totals)
    if counting.rows and in_tokens.rows:
        console.print()
    tables.print_token_count(console, in_tokens, totals, bool(counting.rows))
