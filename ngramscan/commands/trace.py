"""`ngramscan trace`: which parts of outputs are in corpora verbatim."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Annotated, Any

from rich.console import Console

from ngramscan.commands.shared import DEFAULT_INDEX, IndexSpecs, TracingOptions
from ngramscan.errors import InputError
from ngramscan.indexes.opening import open_indexes
from ngramscan.indexes.options import MATCH_OPTIONS
from ngramscan.indexes.sizes import sizes_in_words
from ngramscan.messages import OptionUse
from ngramscan.options import Level, ShowAll
from ngramscan.outputs.plain_texts import is_typed_text, read_plain_texts
from ngramscan.prevalence.failures import describe_lost
from ngramscan.prevalence.plan import PlanRow
from ngramscan.prevalence.plans import describe_charges, describe_trace_plan, plan_trace
from ngramscan.prevalence.span_documents import (
    PER_SPAN,
    DocumentRow,
    ListedSpans,
    look_up_spans,
    make_documents,
)
from ngramscan.prevalence.trace import TraceOptions, TraceResult, TraceRow, run_trace
from ngramscan.prevalence.trace_methods import (
    CurveRow,
    DifferenceRow,
    make_curve,
    make_differences,
)
from ngramscan.prevalence.trace_spans import (
    ListingOptions,
    RareSpanRow,
    SpanRank,
    SpanRow,
    make_spans,
)
from ngramscan.prevalence.traced_texts import read_controls, read_questions, text_of
from ngramscan.progress import SILENT, Progress
from ngramscan.reading.row_files import Table
from ngramscan.reporting import tables
from ngramscan.reporting.command import NewFile, Option, Result, RowsFile, Shared, command
from ngramscan.statistics.streams import draw_sample


def _measured_lengths(
    min_words: int, index_from: int, index_to: int, truncate: int | None
) -> TraceOptions:
    """Return the lengths of spans to measure; an InputError says that they are in no order."""
    if index_from > index_to:
        raise InputError(
            OptionUse("index_from", index_from), OptionUse("index_to") + f" is smaller: {index_to}"
        )
    return TraceOptions(min_words, index_from, index_to, truncate)


def _refuse_unlisted(options: ListingOptions, documents: int | None, are_listed: bool) -> None:
    """Raise an InputError for options about listed spans, where no spans are listed."""
    if are_listed:
        return
    values = {
        "rank": options.rank,
        "max_occurrences": options.max_occurrences,
        "density": options.density,
        "documents": documents,
    }
    for name, value in values.items():
        if value is not None:
            file = "retrieved" if name == "documents" else "spans"
            problem = "it is about the spans that are listed; add "
            cures = OptionUse(file, placeholder="FILE") + " or " + OptionUse("plain", True)
            raise InputError(OptionUse(name, value), problem + cures)


def _span_files(
    spans: str | Path | None,
    retrieved: str | Path | None,
    result: TraceResult,
    listed: ListedSpans,
    rank: SpanRank | None,
) -> list[Any]:
    """Return the files of the listed spans and of their documents, with their rows."""
    files: list[Any] = []
    if spans:
        rows = list(make_spans(result, listed.listing, listed.examples))
        files.append((spans, rows, RareSpanRow if rank == "rarity" else SpanRow))
    if retrieved:
        documents = list(make_documents(result, listed.listing, listed.documents))
        files.append((retrieved, documents, DocumentRow))
    return files


@command
def trace(
    *outputs: str | Path,
    index: IndexSpecs = DEFAULT_INDEX,
    min_words: Annotated[int, Option(least=1)] = 5,
    index_from: Annotated[int, Option(least=1, is_rare=True)] = 5,
    index_to: Annotated[int, Option(least=1, is_rare=True)] = 11,
    truncate: Annotated[int | None, Option(metavar="WORDS", least=1)] = None,
    mask: Annotated[Table | None, Option(metavar="FILE")] = None,
    no_mask: bool = False,
    control: Annotated[Table | None, Option(metavar="FILE")] = None,
    control_field: Annotated[str, Option(metavar="NAME")] = "solution",
    kinds: bool = False,
    plain: bool = False,
    sample: Annotated[int | None, Option(metavar="N", least=1)] = None,
    spans: RowsFile = None,
    documents: Annotated[int | None, Option(metavar="N", least=1)] = None,
    retrieved: RowsFile = None,
    rank: SpanRank | None = None,
    max_occurrences: Annotated[int | None, Option(metavar="N", least=1)] = None,
    density: Annotated[float | None, Option(metavar="D", over=0, most=1)] = None,
    curve: RowsFile = None,
    differences: RowsFile = None,
    figure: NewFile = None,
    level: Level = 0.95,
    show_all: ShowAll = False,
    progress: Progress = SILENT,
    **options: Annotated[Any, Shared(TracingOptions, without=MATCH_OPTIONS)],
) -> Result[TraceRow] | Result[PlanRow]:
    """Find which parts of outputs are in corpora verbatim, and compare prompts.

    OUTPUTS are given as to blend; with --plain they are files of text. Texts with a space in them
    that no file is called are traced themselves. A span is a part of an
    output, of whole words, that is found verbatim in a corpus, and not inside a longer one.
    Coverage is the share of an output's words in spans of at least --min-words. Words that the
    output shares with its question or prompt don't count. A crawl is not the training data of a
    model.

    Parameters
    ----------
    *outputs : str or Path
        Folders of outputs, files, or `-` for standard input.
    index : see count
    min_words : int
        Words of the shortest spans.
    index_from : int
        Words of the shortest spans in the creativity index.
    index_to : int
        Words of the longest spans in the creativity index.
    truncate : int, optional
        Also give the coverage of this many words at the start of each output.
    mask : str, Path or DataFrame, optional
        Table of questions by id: their words don't count either.
    no_mask : bool
        Count words that the question or prompt has, too.
    control : str, Path or DataFrame, optional
        Table of reference solutions by id, to trace with the outputs.
    control_field : str
        Column of the reference solutions.
    kinds : bool
        Also give rows for the words of prose, of formulas (latex) and of code alone.
    plain : bool
        Read OUTPUTS as plain texts, and print each with its spans underlined.
    sample : int, optional
        Draw this many outputs at random, and trace no others.
    spans : str or Path, optional
        Write each span with its occurrences and a document that has it to this file; in repeated
        text, where more than 16 spans share a word, as many as cover the same words.
    documents : int, optional
        Retrieve up to this many documents for each listed span, drawn at random, and rank those of
        an output by the words that they share with it (BM25). --plain shows the first ten of each
        text. By default 10 with --retrieved.
    retrieved : str or Path, optional
        Write the documents of each listed span, with their source and the text around the span, to
        this file.
    rank : str, optional
        List the longest spans of an output first, or the rarest: those whose words are least
        probable in the index. By default in the order of the text. Like the next two options, it
        decides which spans are listed or underlined, and in which order, but never what counts as
        copied: no coverage, novelty or creativity index depends on it.
    max_occurrences : int, optional
        Don't list spans that occur more often in the index.
    density : float, optional
        List at most this many spans for each word of an output: the first by --rank, by default the
        longest.
    curve : str or Path, optional
        Write coverage and n-novelty by length, for each prompt, to this file.
    differences : str or Path, optional
        Write the paired differences between prompts to this file.
    figure : str or Path, optional
        Draw coverage by length of spans: .svg, .png or .pdf.
    level : float
        Confidence level of intervals.
    show_all : see count
    progress : see count

    Returns
    -------
    DataFrame
        One row per output and index, then per output in any of several; see docs/rows.md.

    Raises
    ------
    InputError
        An argument or a file is wrong.
    IncompleteError
        Some outputs could not be traced; its `rows` has the others.

    Examples
    --------
    $ ngramscan trace outputs/ --index python --differences differences.csv
    $ ngramscan trace outputs/ --index fm9:my-index --spans spans.csv
    $ ngramscan trace outputs/ --index dclm --sample 20 --dry-run
    $ ngramscan trace essay.txt --plain --index python
    $ ngramscan trace essay.txt --plain --index fm9:my-index --documents 5 --rank rarity
    """
    if no_mask and mask is not None:
        raise InputError(OptionUse("no_mask"), "not allowed with " + OptionUse("mask"))
    wanted = _measured_lengths(min_words, index_from, index_to, truncate)
    tracing_options = TracingOptions(**options)
    plain = plain or any(map(is_typed_text, outputs))
    listing_options = ListingOptions(min_words, rank, max_occurrences, density)
    _refuse_unlisted(listing_options, documents, are_listed=bool(spans or retrieved or plain))
    per_span = documents or (PER_SPAN if retrieved else None)
    recorded_outputs = (
        read_plain_texts(outputs, tracing_options.without_reasoning)
        if plain
        else tracing_options.read_outputs(outputs)
    )
    sampled_outputs = draw_sample(
        [each for each in recorded_outputs.outputs if each.has_text], sample, tracing_options.seed
    )
    masks = None if no_mask else read_questions(mask)
    texts = [text_of(each, masks, kinds) for each in sampled_outputs]
    if control is not None:
        texts += read_controls(control, control_field, texts)
    with open_indexes(index, tracing_options, progress) as indexes:
        if tracing_options.dry_run:
            plan = plan_trace(
                texts, wanted, indexes, tracing_options.seed, listing_options, per_span
            )
            notices = describe_trace_plan(indexes, listing_options, per_span)
            charges = describe_charges(plan, tracing_options.reader_pays)
            return Result(plan, PlanRow, [*notices, *charges])
        if len({opened.unit for opened in indexes}) > 1:
            raise InputError(
                OptionUse("index"),
                "byte-level and token-level indexes can't be traced together; run them separately",
            )
        result = run_trace(texts, indexes, wanted)
        listed = look_up_spans(
            result,
            indexes,
            listing_options,
            per_span,
            needs_examples=bool(spans),
            seed=tracing_options.seed,
        )
        sizes = sizes_in_words(result.sizes)
    # Only for a table, a file or a figure: intervals take as long as the rows.
    curves = cache(lambda: list(make_curve(result, wanted, level)))
    changes = cache(lambda: make_differences(result, wanted, level))
    files = _span_files(spans, retrieved, result, listed, rank)
    files.append((curve, curves() if curve else [], CurveRow))
    files.append((differences, changes() if differences else [], DifferenceRow))
    is_screen = len(result.sizes) > 1 and not (show_all or plain)

    def show(console: Console) -> None:
        if plain:
            tables.print_traced_texts(result, min_words, listed, console)
        elif is_screen:
            tables.print_trace_screen(curves(), changes(), min_words, console)
        else:
            tables.print_trace(result, wanted, curves(), changes(), console)

    return Result(
        result.rows,
        TraceRow,
        [
            *recorded_outputs.notices,
            *([] if no_mask or plain else tables.describe_masks(result)),
            *(
                tables.describe_unlisted_spans(result, listed, listing_options)
                if listed.listing
                else []
            ),
            *tables.describe_trace_forms(result),
        ],
        describe_lost(((text.error, text.index) for text in result.missing), "text"),
        print_table=show,
        is_screen=is_screen,
        files=files,
        figure=(figure, curves() if figure else []),
        sizes=sizes,
    )
