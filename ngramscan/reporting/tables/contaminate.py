"""The tables of `contaminate`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from rich.console import Console

from ngramscan.messages import counted
from ngramscan.prevalence.contamination.contaminate import ContaminateResult, EntryRow
from ngramscan.prevalence.contamination.rules import (
    CONTAMINATED,
    COPY_CLASSES,
    PARTLY,
    EntryClass,
    classes_by,
)
from ngramscan.prevalence.contamination.shares import ShareRow
from ngramscan.prevalence.contamination.thresholds import COVERED, RARE, SCORE, WHOLE
from ngramscan.prevalence.several_corpora import UNION
from ngramscan.reporting.layout import UNKNOWN, Layout, cell, p_text, percent, print_columns
from ngramscan.reporting.tables import parts
from ngramscan.reporting.tables.keyness import mark_whitespace

if TYPE_CHECKING:
    from ngramscan.prevalence.contamination.effects import EffectRow  # loads scipy

_SHOWN = 5
"""Entries of each index that the terminal shows."""
_WIDTH = 32
"""Characters of a window that the terminal shows."""
_EFFECTS_NOTE = (
    "difference: {} minus clean, in percentage points; detectable: the least one that 80 of 100"
    " such comparisons would find (–: none). No proof of an effect: entries that are in corpora may"
    " be easier for other reasons"
)


def print_contaminate(
    result: ContaminateResult, shares: Sequence[ShareRow], effects: Sequence[EffectRow],
    console: Console,
) -> None:  # fmt: skip
    """Print the shares of each index, the most contaminated entries, and what scores say."""
    for name, size in result.sizes.items():
        parts.print_index(console, name, size)
    _print_shares(console, shares)
    rules = dict.fromkeys(row.rule for row in result.rows)
    classes = classes_by(next(iter(rules), ""))
    if classes == COPY_CLASSES:
        _print_copies(console, result.rows)
    else:
        _print_entries(console, result.rows)
    if effects:
        _print_effects(console, effects, classes)
    notes = [*notes_on_classes(result.rows, shares), *(f"rule {rule}" for rule in rules)]
    parts.print_notes(console, *notes)


def _print_shares(console: Console, shares: Sequence[ShareRow]) -> None:
    groups = parts.group_by((row for row in shares if row.verdict != "curve"), "index")
    first = [group[0] for group in groups.values()]
    by_name = [{row.verdict: row for row in group} for group in groups.values()]
    columns = {"index": [*groups], "entries": [cell(row.entries) for row in first]}
    for verdict in dict.fromkeys(row.verdict for row in shares if row.verdict != "curve"):
        columns[verdict] = [_share(rows.get(verdict)) for rows in by_name]
    print_columns(console, columns, Layout(2, title="Classes of entries, %"))


def _share(row: ShareRow | None) -> str:
    """Return a share with its interval; where some entries are unknown, the interval alone."""
    if row is None:
        return UNKNOWN
    if row.share is None:
        return f"[{percent(row.share_low)}, {percent(row.share_high)}]"
    return parts.interval(row, "share", percent)


def _print_entries(console: Console, rows: Sequence[EntryRow]) -> None:
    """Print the entries with the largest shares, which are those to look at first."""
    by_index = parts.group_by((row for row in rows if row.rarest), "index")
    printed_rows = [
        row for of_index in by_index.values() for row in sorted(of_index, key=_rank)[:_SHOWN]
    ]
    if not printed_rows:
        return
    columns = {
        "index": [row.index for row in printed_rows],
        "id": [row.id for row in printed_rows],
        "class": [row.verdict or UNKNOWN for row in printed_rows],
        "rarest window": [_shortened(row.rarest or "") for row in printed_rows],
        "its count": [cell(row.rarest_occurrences) for row in printed_rows],
        "found": [f"{row.found:,} of {row.windows:,}" for row in printed_rows],
        "asked": [cell(row.asked if row.asked < row.windows else None) for row in printed_rows],
        "longest run": [cell(row.longest_run) for row in printed_rows],
    }
    if any(row.occurrences_seen for row in rows):
        columns["answer"] = [cell(row.answer) for row in printed_rows]
    title = "Entries with the largest shares of windows found"
    wrapping = frozenset({"rarest window", "id"})
    layout = Layout(4, wrapping=wrapping, optional=("longest run",), headings=1, title=title)
    print_columns(console, columns, layout)
    with_any = sum(map(len, by_index.values()))
    if with_any > len(printed_rows):
        more = counted(with_any - len(printed_rows), "more row")
        parts.print_notes(console, f"{more} with windows that occur: -o FILE has all of them")
        console.print()


def _print_copies(console: Console, rows: Sequence[EntryRow]) -> None:
    """Print the entries that documents have, copied ones first, then by their scores."""
    with_document = [
        row
        for row in rows
        if row.score is not None and row.verdict != "clean" and row.index != UNION
    ]
    by_index = parts.group_by(with_document, "index")
    printed_rows = [
        row
        for of_index in by_index.values()
        for row in sorted(of_index, key=_rank_of_copy)[:_SHOWN]
    ]
    if not printed_rows:
        return
    columns = {
        "index": [row.index for row in printed_rows],
        "id": [row.id for row in printed_rows],
        "class": [row.verdict or UNKNOWN for row in printed_rows],
        "score, %": [percent(row.score) for row in printed_rows],
        "covered, %": [percent(row.covered) for row in printed_rows],
        "document": [row.document or UNKNOWN for row in printed_rows],
        "source": [row.source or UNKNOWN for row in printed_rows],
        "changed numbers": [row.changed or UNKNOWN for row in printed_rows],
    }
    if any(row.answer for row in rows):
        columns["answer"] = [cell(row.answer) for row in printed_rows]
    layout = Layout(
        3,
        wrapping=frozenset({"id", "document", "source", "changed numbers"}),
        optional=("source",),
        headings=1,
        title="Entries that documents have, by class and score",
    )
    print_columns(console, columns, layout)
    if len(with_document) > len(printed_rows):
        more = counted(len(with_document) - len(printed_rows), "more row")
        parts.print_notes(console, f"{more} with text in a document: -o FILE has all of them")
        console.print()


def _rank_of_copy(row: EntryRow) -> tuple[int, float, float]:
    place = -1 if row.verdict is None else COPY_CLASSES.index(row.verdict)
    return -place, -(row.score or 0), -(row.covered or 0)


def _rank(row: EntryRow) -> tuple[float, int]:
    return -(row.eta_low or 0), -row.longest_run


def _shortened(window: str) -> str:
    text = mark_whitespace(window)
    return text if len(text) <= _WIDTH else f"{text[: _WIDTH - 1]}…"


def _print_effects(
    console: Console, effects: Sequence[EffectRow], classes: Sequence[EntryClass]
) -> None:
    """Print accuracies where there are two to compare; the rows of --effects have their limits."""
    contaminated = classes[-1]
    between = " or ".join(name for name in classes if name in PARTLY)
    clean = " or ".join(name for name in classes if name not in {*PARTLY, contaminated})
    title, compared_rows = (
        "Accuracy by class, %",
        [row for row in effects if row.difference is not None],
    )
    columns = {
        **parts.naming(compared_rows, "index", "method"),
        "scored by": [row.score_rule for row in compared_rows],
        "n": [cell(row.n) for row in compared_rows],
        "no class": [cell(row.n_without_verdict or None) for row in compared_rows],
        "no score": [cell(row.n_without_score or None) for row in compared_rows],
        "all": [percent(row.accuracy) for row in compared_rows],
        f"n {clean}": [cell(row.n_clean) for row in compared_rows],
        clean: [percent(row.accuracy_clean) for row in compared_rows],
        between: [percent(row.accuracy_suspicious) for row in compared_rows],
        f"n {contaminated}": [cell(row.n_dirty) for row in compared_rows],
        contaminated: [percent(row.accuracy_dirty) for row in compared_rows],
        "difference": [parts.interval(row, "difference", percent) for row in compared_rows],
        "answer": [row.answer or "all" for row in compared_rows],
        "detectable": [percent(row.detectable) for row in compared_rows],
        "p": [p_text(row.p) for row in compared_rows],
        "p Holm": [p_text(row.p_adjusted) for row in compared_rows],
    }
    if not any(row.answer for row in compared_rows):
        del columns["answer"]
    columns = {"index": columns.pop("index"), **columns}
    optional = ("no class", "no score", between, "n", "all", f"n {clean}", f"n {contaminated}")
    if compared_rows:
        wrapping = frozenset({"model", "method", "dataset"})
        layout = Layout(5, wrapping=wrapping, optional=optional, headings=2, title=title)
        print_columns(console, columns, layout)
    for row in {(row.index, row.note): row for row in effects if row.difference is None}.values():
        parts.print_notes(console, f"{row.index}: {row.note}")
    if compared_rows:
        parts.print_notes(console, _EFFECTS_NOTE.format(contaminated))


def notes_on_classes(rows: Sequence[EntryRow], shares: Sequence[ShareRow]) -> Iterator[str]:
    """Yield which entries the shares leave out, and what they are shares of."""
    first = next(iter(parts.group_by(rows, "index").values()), [])
    if empty := [row.id for row in first if not row.windows]:
        yield f"left out, without a window: {_entries(empty)}"
    if unknown := sum(row.windows > 0 and row.verdict is None for row in rows):
        yield f"class unknown, as windows are: {counted(unknown, 'row')}; intervals allow for them"
    share = shares[0]
    if share.seed is not None:
        drawn_entries = f"{len(first):,} of {share.population:,} entries"
        yield f"{drawn_entries} were drawn at random with seed {share.seed}"
    yield f"intervals: {share.level * 100:g}%, for {share.interval}"
    if classes_by(share.rule) == COPY_CLASSES:
        yield from _thresholds_of_copies()
        return
    below, dirty = share.eta_below, next(row for row in shares if row.verdict in CONTAMINATED)
    if dirty.eta_from and below:
        least, limit = f"{100 * dirty.eta_from:g}%", f"{100 * below:g}%"
        yield f"dirty: {least} or more of the windows found; clean: under {limit}"
    else:
        yield "dirty: any window found; clean: none"


def _thresholds_of_copies() -> Iterator[str]:
    """Yield what the classes of the rule `copied` mean."""
    covered, score, whole = f"{COVERED:.0%}", f"{SCORE:.0%}", f"{WHOLE:.0%}"
    yield (
        f"copied: one document has {covered} or more of the words and {score} or more of the rare"
        f" windows, weighed by their rarity, or {whole} of the windows (rare: up to"
        f" {counted(RARE, 'occurrence')} in the corpus); variant: the same, but with other numbers;"
        " shared: only common text or a part of it occurs; clean: none of these"
    )
    yield "score: the share of the rare windows that the document has; covered: that of the words"


def _entries(ids: Sequence[str]) -> str:
    return f"{len(ids):,} entries, the first is {ids[0]}" if len(ids) > 1 else f"entry {ids[0]}"
