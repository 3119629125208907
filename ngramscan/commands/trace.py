"""`ngramscan trace`: which parts of outputs are in corpora verbatim."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Annotated, Any

from rich.console import Console

from ngramscan.commands.shared import DEFAULT_INDEX, IndexSpecs, TracingOptions
from ngramscan.errors import InputError, some_of
from ngramscan.indexes.base import Index, finds_spans
from ngramscan.indexes.opening import open_indexes
from ngramscan.indexes.sizes import sizes_in_words
from ngramscan.indexes.tokens.base import finds_matches
from ngramscan.messages import OptionUse, Text, counted
from ngramscan.options import Level, ShowAll
from ngramscan.outputs.formulas import kinds_of
from ngramscan.outputs.reading import (
    ASKED_FIELDS,
    ID_FIELDS,
    Output,
    OutputSet,
    asked_in,
    id_in,
    treat_reasoning,
)
from ngramscan.prevalence.failures import describe_lost
from ngramscan.prevalence.plan import PlanRow, make_plan, make_row
from ngramscan.prevalence.spans import WordText, cost_of_spans, width_in, windows_of
from ngramscan.prevalence.trace import (
    ALL_KINDS,
    GivenText,
    SpanRow,
    TraceOptions,
    TraceResult,
    TraceRow,
    make_spans,
    run_trace,
)
from ngramscan.prevalence.trace_methods import (
    CONTROL,
    CurveRow,
    DifferenceRow,
    make_curve,
    make_differences,
)
from ngramscan.progress import SILENT, Progress
from ngramscan.reading.output_paths import Group
from ngramscan.reading.row_files import Table, name_of, read_table
from ngramscan.reading.streams import name_of as name_of_file
from ngramscan.reading.streams import read_bytes
from ngramscan.reporting import tables
from ngramscan.reporting.command import NewFile, Option, Result, RowsFile, Shared, command

_MORE_PER_WINDOW = 14
"""Questions, at most, that a window takes that occurs: those of the ends of its spans."""
_PLANNED = (
    "requests are for the first windows, requests_at_most for texts that are copied as a whole: a"
    f" window that occurs takes up to {_MORE_PER_WINDOW} more; a corpus that is scanned is read"
    " once, and with --spans twice more"
)
_PLANNED_IN_PLACE = (
    "in place, parts of the texts were searched for this plan: one part of 64 words in fifty, but"
    " not fewer than 16; the requests for all are estimated from theirs"
)
_PLANNED_TOKENS = (
    "a request per token; requests are an estimate until the tokens are in the journal"
)


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
    curve: RowsFile = None,
    differences: RowsFile = None,
    figure: NewFile = None,
    level: Level = 0.95,
    show_all: ShowAll = False,
    progress: Progress = SILENT,
    **options: Annotated[Any, Shared(TracingOptions, without=("ignore_case",))],
) -> Result[TraceRow] | Result[PlanRow]:
    """Find which parts of outputs are in corpora verbatim, and compare prompts.

    OUTPUTS are given as to blend; with --plain they are files of text. A span is a part of an
    output, of whole words, that a corpus has exactly so, and that is in no longer one. Coverage is
    the share of an output's words in spans of at least --min-words. Words that the output shares
    with its question or prompt don't count. A crawl is not the training data of a model.

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
        Also give the coverage of the first so many words of each output.
    mask : str, Path or DataFrame, optional
        Table of questions by id: their words don't count either.
    no_mask : bool
        Count words that the question or prompt has, too.
    control : str, Path or DataFrame, optional
        Table of reference solutions by id, to trace beside the outputs.
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
    """
    if index_from > index_to:
        raise InputError(
            OptionUse("index_from", index_from), OptionUse("index_to") + f" is smaller: {index_to}"
        )
    if no_mask and mask is not None:
        raise InputError(OptionUse("no_mask"), "not allowed with " + OptionUse("mask"))
    wanted = TraceOptions(min_words, index_from, index_to, truncate)
    asked = TracingOptions(**options)
    read = _read_plain(outputs, asked.without_reasoning) if plain else asked.read_outputs(outputs)
    drawn = _draw([each for each in read.outputs if each.has_text], sample, asked.seed)
    masks = None if no_mask else _by_id(mask)
    texts = [_given(each, masks, kinds) for each in drawn]
    if control is not None:
        texts += _controls(control, control_field, texts)
    with open_indexes(index, asked, progress) as indexes:
        if asked.dry_run:
            return Result(
                _plan(texts, wanted, indexes, asked.seed), PlanRow, [*_describe_plan(indexes)]
            )
        if len({opened.unit for opened in indexes}) > 1:
            raise InputError(
                OptionUse("index"),
                "words and tokens are not traced together; trace them one by one",
            )
        found = run_trace(texts, indexes, wanted)
        examples = list(make_spans(found, indexes, min_words, asked.seed)) if spans else []
        sizes = sizes_in_words(found.sizes)
    # Only for a table, a file or a figure: intervals take as long as the rows.
    curves = cache(lambda: list(make_curve(found, wanted, level)))
    changes = cache(lambda: make_differences(found, wanted, level))
    files: list[Any] = [(spans, examples, SpanRow), (curve, curves() if curve else [], CurveRow)]
    files.append((differences, changes() if differences else [], DifferenceRow))
    is_screen = len(found.sizes) > 1 and not (show_all or plain)

    def show(console: Console) -> None:
        if is_screen:
            tables.print_trace_screen(curves(), changes(), min_words, console)
        else:
            tables.print_trace(found, wanted, curves(), changes(), plain, console)

    return Result(
        found.rows,
        TraceRow,
        [
            *read.notices,
            *([] if no_mask or plain else _describe_masks(found)),
            *(_describe_left_out(found, indexes, min_words) if spans else []),
            *_describe_forms(found),
        ],
        describe_lost(((text.error, text.index) for text in found.missing), "text"),
        print_table=show,
        is_screen=is_screen,
        files=files,
        figure=(figure, curves() if figure else []),
        sizes=sizes,
    )


def _read_plain(paths: Sequence[str | Path], without_reasoning: bool) -> OutputSet:
    """Return files of text as outputs without prompts, each named by its file."""
    outputs = []
    for path in paths:
        name, content = name_of_file(Path(path)), read_bytes(Path(path))
        try:
            text = content.decode()
        except UnicodeDecodeError as error:
            raise InputError(name, f"not UTF-8 at byte {error.start} of the file") from error
        outputs.append(Output(Group("", "", ""), id=name, text=text, place=name))
    if not any(each.has_text for each in outputs):
        where = ", ".join(map(name_of, paths)) or OptionUse("outputs")
        raise InputError(where, "no text there")
    return OutputSet(*treat_reasoning(outputs, without_reasoning), "")


def _draw(outputs: list[Output], number: int | None, seed: int) -> list[Output]:
    if number is None or number >= len(outputs):
        return outputs
    drawn = random.Random(seed).sample(range(len(outputs)), number)
    return [outputs[at] for at in sorted(drawn)]


def _by_id(table: Table | None) -> dict[str, tuple[str, ...]]:
    """Return the questions of a table by their ids; without a table, none."""
    found: dict[str, tuple[str, ...]] = {}
    if table is None:
        return found
    for place, row in read_table(table):
        name = _id_of(place, row)
        if not (texts := asked_in(row)):
            problem = f"no question; it has: {some_of(row)}"
            raise InputError(place, f"{problem}; call it {' or '.join(ASKED_FIELDS)}")
        found[name] = texts
    return found


def _id_of(place: str, row: Mapping[str, Any]) -> str:
    if name := id_in(row):
        return name
    problem = f"no id; it has: {some_of(row)}"
    raise InputError(place, f"{problem}; call it {' or '.join(ID_FIELDS)}")


def _given(
    output: Output, masks: Mapping[str, tuple[str, ...]] | None, has_kinds: bool
) -> GivenText:
    """Return an output as a text to trace; without `masks`, nothing is masked."""
    dataset, id_, _ = output.problem
    asked = () if masks is None else (*output.asked, *masks.get(id_, ()))
    problem = id_ and f"{dataset}/{id_}"
    text = output.text or ""
    kinds = tuple(kinds_of(text)) if has_kinds else None
    return GivenText(*output.group, output.id, problem, text, asked, kinds)


def _controls(table: Table, field: str, texts: Sequence[GivenText]) -> list[GivenText]:
    """Return the reference solutions of a table, for the problems of some texts."""
    problems = {text.problem: text for text in texts if text.problem}
    solutions = {}
    for place, row in read_table(table):
        if field not in row:
            problem = f"no column {field}; it has: {some_of(row)} (see "
            raise InputError(place, problem + OptionUse("control_field") + ")")
        if not isinstance(row[field], str) or not row[field].strip():
            raise InputError(place, f"{field} is not text; correct the row or leave it out")
        solutions[_id_of(place, row)] = row[field]
    controls = [
        replace(
            text,
            model="",
            prompt=CONTROL,
            text=solution,
            kinds=None if text.kinds is None else tuple(kinds_of(solution)),
        )
        for problem, text in problems.items()
        if (solution := solutions.get(problem.removeprefix(f"{text.dataset}/")))
    ]
    if not controls:
        raise InputError(name_of(table), "no solution has the id of a traced output")
    return controls


def _describe_masks(found: TraceResult) -> Iterator[Text]:
    rows = [row for row in found.rows if row.prompt != CONTROL]
    if rows and not any(row.masked for row in rows):
        mask = OptionUse("mask", placeholder="FILE")
        yield "no word was masked; " + mask + " gives the questions, whose words outputs repeat"


def _describe_left_out(found: TraceResult, indexes: Sequence[Index], least: int) -> Iterator[Text]:
    """Say how many spans are not in the file of spans."""
    traced = [each for index in indexes for each in found.traced[index.name]]
    left_out = sum(
        len(each.long_spans(least)) - len(each.listed(least))
        for each in traced
        if each.kind == ALL_KINDS
    )
    if left_out:
        said = f"{counted(left_out, 'overlapping span')} of repeated text left out"
        yield OptionUse("spans") + f": {said}; those listed cover the same words"


def _describe_forms(found: TraceResult) -> Iterator[str]:
    """Say which texts only look new, since a corpus has another form of their characters."""
    texts = list(dict.fromkeys((form.index, form.id) for form in found.found_forms))
    if texts:
        first = found.found_forms[0]
        yield (
            f"texts of which more is found in another normal form of Unicode: {len(texts):,}, the"
            f" first is {first.id} ({counted(first.words, 'word')} in {first.form}, as given"
            f" {first.words_as_given:,}, {first.index}); trace the texts in that form as well"
        )


def _plan(
    texts: Sequence[GivenText], options: TraceOptions, indexes: Sequence[Index], seed: int
) -> list[PlanRow]:
    """Return what all tokens take, or the first windows of all texts and at most their spans.

    In place it is what a search of some parts of the texts tells.
    """
    rows = []
    for opened in indexes:
        if finds_matches(opened):
            cost = opened.cost_of_matches([text.text for text in texts])
            rows.append(make_row(opened, len(texts), len(texts), 0, cost))
            continue
        least = options.least_in(opened)
        if finds_spans(opened):
            words = [WordText(text.text) for text in texts]
            cost = cost_of_spans(words, opened, least, seed)
            rows.append(make_row(opened, len(texts), len(texts), 0, cost))
            continue
        windows = dict.fromkeys(
            window
            for text in texts
            for window in windows_of(WordText(text.text), least, width_in(opened, least)).values()
        )
        (row,) = make_plan(len(texts), list(windows), 0, 0, [opened])
        at_most = row.requests_at_most * (1 + _MORE_PER_WINDOW)
        rows.append(replace(row, requests_at_most=at_most))
    return rows


def _describe_plan(indexes: Sequence[Index]) -> Iterator[str]:
    if not all(finds_matches(opened) or finds_spans(opened) for opened in indexes):
        yield _PLANNED
    if any(finds_spans(opened) for opened in indexes):
        yield _PLANNED_IN_PLACE
    if any(finds_matches(opened) for opened in indexes):
        yield _PLANNED_TOKENS
