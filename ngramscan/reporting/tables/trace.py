"""The tables of `trace`, and texts with their spans underlined and their documents."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from statistics import fmean

from rich.console import Console
from rich.padding import Padding
from rich.text import Text

from ngramscan.messages import OptionUse, counted, joined
from ngramscan.messages import Text as Message
from ngramscan.prevalence.contexts import ContextRow
from ngramscan.prevalence.marks import cut_where_marked
from ngramscan.prevalence.span_documents import ListedSpans, RankedDocument, rank_documents
from ngramscan.prevalence.spans import Span
from ngramscan.prevalence.trace import ALL_KINDS, Traced, TraceOptions, TraceResult, TraceRow
from ngramscan.prevalence.trace_methods import CONTROL, CurveRow, DifferenceRow
from ngramscan.prevalence.trace_spans import ListingOptions
from ngramscan.progress import visible
from ngramscan.reporting.layout import Layout, cell, p_text, percent, print_columns, print_line
from ngramscan.reporting.tables import parts

_MARKS = "⟦", "⟧"
"""Around spans where nothing can be underlined."""
_MOST_DOCUMENTS = 10
"""Documents of a text that are shown."""
_INDENT = 3
_SIDE, _MOST_MATCHED = 80, 160
"""Characters that are shown on each side of a span in a document, and of the span itself."""


def print_trace(
    result: TraceResult,
    options: TraceOptions,
    curves: Sequence[CurveRow],
    differences: Sequence[DifferenceRow],
    console: Console,
) -> None:
    """Print the prompts and how they differ."""
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


def print_traced_texts(
    result: TraceResult,
    least: int,
    listed_spans: ListedSpans,
    console: Console,
) -> None:
    """Print each text with its spans underlined, and the documents that share most with it.

    Parameters
    ----------
    result : TraceResult
        The traces of the texts.
    least : int
        Words of the shortest spans.
    listed_spans : ListedSpans
        The spans to underline, if any are left out, and their documents, if they are wanted.
    console : Console
        Where the texts are printed.
    """
    for index, traced_texts in result.traced.items():
        whole_texts = [traced for traced in traced_texts if traced.kind == ALL_KINDS]
        listed_texts = listed_spans.listing.get(index, ())
        for number, traced in enumerate(whole_texts):
            shown_spans = traced.long_spans(least)
            if listed_spans.leaves_out:
                shown_spans = sorted(listed_texts[number].spans, key=lambda span: span.first)
            _print_text(index, traced, shown_spans, least, console)
            if index in listed_spans.documents:
                documents = rank_documents(listed_texts[number], listed_spans.documents[index])
                _print_documents(documents, traced.unit, console)


def _print_text(
    index: str, traced: Traced, shown_spans: Sequence[Span], least: int, console: Console
) -> None:
    spans, measures = traced.long_spans(least), traced.profile.measures(least)
    share = percent(measures.coverage)
    number = counted(len(spans), "span")
    if len(shown_spans) < len(spans):
        number += f" ({len(shown_spans):,} shown)"
    summary = f"{number}, {share}% of {counted(measures.words, 'word')}"
    print_line(console, f"{index} · {traced.given.id} · {summary}", "bold")
    line = Text()
    opening, closing = ("", "") if console.is_terminal else _MARKS
    for part, is_marked in cut_where_marked(traced.text.text, traced.marks_of(shown_spans)):
        if is_marked:
            line.append(f"{opening}{visible(part)}{closing}", style="underline")
        else:
            line.append(visible(part))
    console.print(line, soft_wrap=not console.is_terminal)


def _print_documents(documents: Sequence[RankedDocument], unit: str, console: Console) -> None:
    """Print the documents that share most with a text, each with the longest span in it."""
    if not documents:
        return
    number = counted(len(documents), "document")
    if len(documents) > _MOST_DOCUMENTS:
        number = f"{_MOST_DOCUMENTS} of {number}"
    print_line(console, f"{number}, by the words that they share with the text", "bold")
    for rank, document in enumerate(documents[:_MOST_DOCUMENTS], 1):
        longest, row = max(document.occurrences, key=lambda occurrence: occurrence[0].words)
        spans = f"a span of {counted(longest.words, unit.removesuffix('s'))}"
        if len(document.occurrences) > 1:
            spans = f"{len(document.occurrences)} spans of up to {longest.words:,} {unit}"
        is_number = document.name.isdecimal()
        name = f"document {document.name}" if is_number else document.name
        facts = [f"{rank}. {name}", f"score {document.score:.1f}", spans]
        if not document.name.startswith(document.source):
            facts.insert(1, document.source)
        print_line(console, " · ".join(facts))
        excerpt = _excerpt(row, console.is_terminal)
        if console.is_terminal:
            console.print(Padding(excerpt, (0, 0, 0, _INDENT)))
        else:
            console.print(Text(" " * _INDENT) + excerpt, soft_wrap=True)
    console.print()


def _excerpt(row: ContextRow, is_terminal: bool) -> Text:
    """Return a span with some of the text around it, on one line."""
    left, match, right = map(_on_one_line, (row.left, row.match, row.right))
    opening, closing = ("", "") if is_terminal else _MARKS
    excerpt = Text(left if len(left) <= _SIDE else "…" + left[-_SIDE:], style="dim")
    excerpt.append(f"{opening}{_middle_cut(match)}{closing}", style="not dim underline")
    excerpt.append(right if len(right) <= _SIDE else right[:_SIDE] + "…")
    return excerpt


def _on_one_line(text: str) -> str:
    return visible(re.sub(r"\s+", " ", text))


def _middle_cut(text: str) -> str:
    """Return a text, without its middle if it is long."""
    if len(text) <= _MOST_MATCHED:
        return text
    return f"{text[: _MOST_MATCHED // 2]} … {text[-_MOST_MATCHED // 2 :]}"


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


def describe_unlisted_spans(
    result: TraceResult, listed_spans: ListedSpans, options: ListingOptions
) -> Iterator[Message]:
    """Say how many spans are not listed, because of an option or of repeated text."""
    traced = [each for index in result.sizes for each in result.traced[index]]
    least = options.least
    limits = {"max_occurrences": options.max_occurrences, "density": options.density}
    limiting_options = [
        OptionUse(name, value) for name, value in limits.items() if value is not None
    ]
    if limiting_options:
        total = sum(len(each.long_spans(least)) for each in traced if each.kind == ALL_KINDS)
        listed = sum(
            len(text.spans) for index in result.sizes for text in listed_spans.listing[index]
        )
        if listed < total:
            yield (
                joined(limiting_options, ", ") + f": {listed:,} of {counted(total, 'span')} listed"
            )
        return
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
