"""The tables of `trace`, and texts with their spans underlined."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from statistics import fmean

from rich.console import Console
from rich.text import Text

from ngramscan.messages import OptionUse, counted
from ngramscan.messages import Text as Message
from ngramscan.prevalence.marks import cut_where_marked
from ngramscan.prevalence.trace import ALL_KINDS, Traced, TraceOptions, TraceResult, TraceRow
from ngramscan.prevalence.trace_methods import CONTROL, CurveRow, DifferenceRow
from ngramscan.progress import visible
from ngramscan.reporting.layout import Layout, cell, p_text, percent, print_columns, print_line
from ngramscan.reporting.tables import parts

_MARKS = "⟦", "⟧"
"""Around spans where nothing can be underlined."""


def print_trace(
    result: TraceResult,
    options: TraceOptions,
    curves: Sequence[CurveRow],
    differences: Sequence[DifferenceRow],
    is_plain: bool,
    console: Console,
) -> None:
    """Print the prompts and how they differ; of plain texts, print the texts."""
    if is_plain:
        for index, traced in result.traced.items():
            for each in [text for text in traced if text.kind == ALL_KINDS]:
                _print_text(index, each, options.min_words, console)
        return
    _print_prompts(result.rows, options, curves, console)
    if differences:
        _print_differences(differences, console)


def _print_prompts(
    rows: Sequence[TraceRow],
    options: TraceOptions,
    curves: Sequence[CurveRow],
    console: Console,
) -> None:
    least, unit = options.min_words, rows[0].unit if rows else "words"
    groups = parts.group_by(rows, "index", "dataset", "model", "prompt", "kind")
    means = {
        (row.index, row.dataset, row.model, row.prompt, row.kind): row
        for row in curves
        if row.length == least
    }
    by_model: dict[tuple[str, ...], list[tuple[str, ...]]] = {}
    for key in groups:
        by_model.setdefault(key[:3], []).append(key)
    together = [key for keys in by_model.values() for key in keys if key in means]
    prompts = [(key, groups[key], means[key]) for key in together]
    if not prompts:
        return
    columns = {
        **parts.naming([curve for _, _, curve in prompts], "index", "prompt", "kind"),
        "outputs": [cell(curve.outputs) for *_, curve in prompts],
        unit: [cell(round(fmean(row.words for row in some))) for _, some, _ in prompts],
        "masked": [cell(round(fmean(row.masked for row in some))) for _, some, _ in prompts],
        "coverage": [parts.interval(curve, "coverage", percent) for *_, curve in prompts],
        f"new {least}-grams": [parts.interval(curve, "novelty", percent) for *_, curve in prompts],
        "creativity index": [_mean_index(some) for _, some, _ in prompts],
        "longest": [cell(max(row.longest for row in some)) for _, some, _ in prompts],
    }
    title = f"Copied verbatim from the corpus, {least} {unit} or more, %"
    optional = ("masked", "creativity index", "longest", unit, "outputs")
    if {*columns["kind"]} == {ALL_KINDS}:
        del columns["kind"]
    texts = 4 + ("kind" in columns)
    layout = Layout(texts, frozenset({"model", "prompt"}), optional, headings=3, title=title)
    print_columns(console, {"index": columns.pop("index"), **columns}, layout)
    lengths = f"{options.index_from} to {options.index_to}"
    notes = [
        f"coverage: mean share of an output's {unit} in spans found verbatim in the corpus;"
        f" {unit} of its question or prompt are left out (masked)",
        f"creativity index: sum of 1 - coverage over spans of {lengths} {unit} or more",
    ]
    if any(row.note for row in curves):
        notes.append("no interval: fewer than ten problems, or all alike")
    parts.print_notes(console, *notes)


def _mean_index(rows: Sequence[TraceRow]) -> str:
    creativity_indexes = [row.creativity_index for row in rows if row.creativity_index is not None]
    return f"{fmean(creativity_indexes):.2f}" if creativity_indexes else "–"


def _print_differences(rows: Sequence[DifferenceRow], console: Console) -> None:
    coverage_rows = [row for row in rows if row.measure == "coverage" and row.kind == ALL_KINDS]
    console.print()
    columns = {
        **parts.naming(coverage_rows, "index"),
        "prompts": [f"{row.prompt} - {row.baseline}" for row in coverage_rows],
        "problems": [cell(row.problems) for row in coverage_rows],
        "difference": [parts.interval(row, "difference", percent) for row in coverage_rows],
        "p": [p_text(row.p) for row in coverage_rows],
        "p Holm": [p_text(row.p_holm) for row in coverage_rows],
    }
    title = "Differences of coverage on the same problems, percentage points"
    layout = Layout(4, frozenset({"model", "prompts"}), ("problems",), headings=3, title=title)
    print_columns(console, {"index": columns.pop("index"), **columns}, layout)


def _print_text(index: str, traced: Traced, least: int, console: Console) -> None:
    spans, measures = traced.long_spans(least), traced.profile.measures(least)
    share = percent(measures.coverage)
    summary = f"{counted(len(spans), 'span')}, {share}% of {counted(measures.words, 'word')}"
    print_line(console, f"{index} · {traced.given.id} · {summary}", "bold")
    line = Text()
    opening, closing = ("", "") if console.is_terminal else _MARKS
    for part, is_marked in cut_where_marked(traced.text.text, traced.marks_of(spans)):
        if is_marked:
            line.append(f"{opening}{visible(part)}{closing}", style="underline")
        else:
            line.append(visible(part))
    console.print(line, soft_wrap=not console.is_terminal)


# Notices below the tables


def describe_masks(result: TraceResult) -> Iterator[Message]:
    """Say that no word was masked, if none was."""
    rows = [row for row in result.rows if row.prompt != CONTROL]
    if rows and not any(row.masked for row in rows):
        yield (
            "no word was masked; "
            + OptionUse("mask", placeholder="FILE")
            + " gives the questions, whose words outputs repeat"
        )


def describe_unlisted_spans(result: TraceResult, least: int) -> Iterator[Message]:
    """Say how many spans are not in the file of spans."""
    traced = [each for index in result.sizes for each in result.traced[index]]
    unlisted = sum(
        len(each.long_spans(least)) - len(each.listed(least))
        for each in traced
        if each.kind == ALL_KINDS
    )
    if unlisted:
        said = f"{counted(unlisted, 'overlapping span')} of repeated text left out"
        yield OptionUse("spans") + f": {said}; those listed cover the same words"


def describe_trace_forms(result: TraceResult) -> Iterator[str]:
    """Say which texts only look new, since a corpus has another form of their characters."""
    texts = list(dict.fromkeys((form.index, form.id) for form in result.found_forms))
    if texts:
        first = result.found_forms[0]
        yield (
            f"texts of which more is found in another normal form of Unicode: {len(texts):,}, the"
            f" first is {first.id} ({counted(first.words, 'word')} in {first.form}, as given"
            f" {first.words_as_given:,}, {first.index}); trace the texts in that form as well"
        )
