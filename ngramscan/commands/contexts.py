"""`ngramscan contexts`: random occurrences in context."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Annotated

from ngramscan.commands.docnorm import DEFAULT_INDEX
from ngramscan.corpora import InputFormat
from ngramscan.errors import InputError, NgramscanError
from ngramscan.indexes.base import MAX_LINE, TIMEOUT_S, IndexOptions
from ngramscan.indexes.catalog import DEFAULT_URL
from ngramscan.indexes.opening import open_indexes
from ngramscan.prevalence.contexts import ContextRow, run_contexts
from ngramscan.prevalence.count import explained
from ngramscan.progress import SILENT, Progress
from ngramscan.report import tables
from ngramscan.report.command import Option, Result, command


@command
def contexts(
    text: str,
    *,
    index: Annotated[str | Sequence[str], Option(metavar="SPEC", is_verbatim=True)] = DEFAULT_INDEX,
    n: Annotated[int, Option(flags="-n", least=1)] = 20,
    width: Annotated[int, Option(least=0)] = 60,
    api_url: Annotated[str, Option(metavar="URL", envvar="NGRAMSCAN_API_URL")] = DEFAULT_URL,
    concurrency: Annotated[int, Option(least=1)] = 4,
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
    ignore_case: bool = False,
    input_format: InputFormat | None = None,
    progress: Progress = SILENT,
) -> Result:
    r"""Show random occurrences of a text in context.

    They show what a pattern really catches. Every occurrence is as likely as any other, so
    documents with many are seen more often.

    Parameters
    ----------
    text : str
        What to look for.
    index : see count
    n : int
        Number of occurrences from each index.
    width : int
        Number of characters on each side; fewer where the terminal is narrow.
    api_url, concurrency, rate, timeout_s, journal, refresh, text_field, workers : see count
    scheduler, sample_files, seed, limit_documents, exclude_source, skip_bad_lines : see count
    max_line, ignore_case, input_format, progress : see count

    Returns
    -------
    DataFrame
        One row per occurrence; see docs/rows.md.

    Raises
    ------
    NgramscanError
        An index could not be asked.
    IncompleteError
        Some occurrences could not be shown; its `rows` has the others.

    Examples
    --------
    $ ngramscan contexts 'step by step' --index dclm -n 50
    $ ngramscan contexts '\frac{' --index scan:corpus.jsonl --format csv
    """
    if not text:
        raise InputError("TEXT", "it is empty; a text to look for was expected")
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise InputError("TEXT", "it is not UTF-8") from error
    options = IndexOptions(
        *(api_url, concurrency, rate, timeout_s, journal, refresh, text_field, workers, scheduler),
        *(sample_files, seed, limit_documents, exclude_source, skip_bad_lines, max_line),
        ignore_case,
        input_format,
    )
    found, failures = [], []
    with open_indexes(index, options, progress) as indexes:
        for one in indexes:
            try:
                found.append(run_contexts(text, one, n, width, seed))
            except NgramscanError as error:
                raise explained(error) from error
    for shown in found:
        drawn = len(shown.rows) + len(shown.failures)
        reasons = Counter(str(explained(failure.error)) for failure in shown.failures)
        for reason, missing in reasons.items():
            failures.append(f"{reason}; {missing} of {drawn} contexts missing ({shown.index})")
    rows = [row for shown in found for row in shown.rows]
    table = partial(tables.print_contexts, found, seed)
    return Result(rows, ContextRow, failures=failures, print_table=table)
