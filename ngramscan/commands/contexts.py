"""`ngramscan contexts`: random occurrences in context."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Annotated

from ngramscan.commands.count import TextFiles, Texts
from ngramscan.commands.docnorm import DEFAULT_INDEX
from ngramscan.commands.index import parse_size
from ngramscan.corpora import InputFormat
from ngramscan.indexes.base import CACHE, MAX_LINE, TIMEOUT_S, IndexOptions
from ngramscan.indexes.catalog import DEFAULT_URL
from ngramscan.indexes.opening import open_indexes
from ngramscan.indexes.sizes import sizes_in_words
from ngramscan.patterns.files import PathOrName
from ngramscan.patterns.given import load_given
from ngramscan.patterns.model import Tier
from ngramscan.prevalence.contexts import ContextRow, ContextsResult, bytes_of, run_contexts
from ngramscan.prevalence.count import describe_missing, explained
from ngramscan.prevalence.plan import PlanRow, make_plan
from ngramscan.progress import SILENT, Progress
from ngramscan.reporting import tables
from ngramscan.reporting.command import Option, Result, command


@command
def contexts(
    *patterns: Annotated[PathOrName, Option(is_optional=True)],
    literal: Texts = (),
    literals: TextFiles = (),
    index: Annotated[str | Sequence[str], Option(metavar="SPEC", is_verbatim=True)] = DEFAULT_INDEX,
    tier: Tier | Sequence[Tier] = (),
    method: Annotated[str | Sequence[str], Option(metavar="NAME")] = (),
    n: Annotated[int, Option(flags="-n", least=1)] = 20,
    width: Annotated[int, Option(least=0)] = 60,
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
) -> Result[ContextRow] | Result[PlanRow]:
    r"""Show random occurrences of texts in context.

    They show what a pattern really catches. Every occurrence is as likely as any other, so
    documents that contain many are shown more often. PATTERNS are those of count.

    Parameters
    ----------
    *patterns, literal, literals, index, tier, method : see count
    n : int
        Number of occurrences of each pattern from each index.
    width : int
        Number of characters on each side; fewer in a narrow terminal.
    dry_run, api_url, concurrency, rate, timeout_s, journal, refresh, text_field : see count
    workers, scheduler, sample_files, seed, limit_documents, exclude_source : see count
    skip_bad_lines, max_line, ignore_case, input_format, skip_unknown, cache : see count
    cache_dir, tokenizer, progress : see count

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
    queries = load_given(patterns, literal, literals, tier, method).queries()
    texts = list(dict.fromkeys(query.text for query in queries))
    options = IndexOptions(
        *(api_url, concurrency, rate, timeout_s, journal, refresh, text_field, workers, scheduler),
        *(sample_files, seed, limit_documents, exclude_source, skip_bad_lines, max_line),
        *(ignore_case, input_format, skip_unknown, parse_size(cache, "--cache"), cache_dir),
        tokenizer=tokenizer,
    )
    found, missing = [], []
    with open_indexes(index, options, progress) as indexes:
        if dry_run:
            plan = make_plan(len(queries), texts, n * len(texts), bytes_of(width), indexes)
            return Result(plan, PlanRow)
        for one in indexes:
            shown, failed = run_contexts(texts, one, n, width, seed)
            found += shown
            missing += failed
        sizes = sizes_in_words({one.name: one.size() for one in indexes})
    rows = [row for shown in found for row in shown.rows]
    failures = describe_missing(missing, queries, len(indexes), "lookups")
    failures += _describe_lost(found)
    table = partial(tables.print_contexts, found, seed)
    return Result(
        rows, ContextRow, failures=failures, print_table=table, is_silent=not found, sizes=sizes
    )


def _describe_lost(found: Sequence[ContextsResult]) -> list[str]:
    drawn, lost = Counter[str](), Counter[tuple[str, str]]()
    for one in found:
        drawn[one.index] += len(one.rows) + len(one.failures)
        lost.update((str(explained(failure.error)), one.index) for failure in one.failures)
    return [
        f"{reason}; {n} of {drawn[index]} contexts missing ({index})"
        for (reason, index), n in lost.items()
    ]
