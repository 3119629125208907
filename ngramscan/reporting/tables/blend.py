"""The tables of `blend`."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from rich.console import Console

from ngramscan.outputs.blend import (
    BlendResult,
    BlendRow,
    IsolationRow,
    PresenceRow,
    RetentionRow,
)
from ngramscan.outputs.markers import ALL
from ngramscan.reporting.columns import pooled_first
from ngramscan.reporting.layout import UNKNOWN, Layout, cell, percent, print_columns
from ngramscan.reporting.tables import parts

_SHARES = (
    "percentages of the outputs that have text, with 95% Wilson intervals; similar outputs for the"
    " same problem count for less"
)
_STAR = "*: the prompt has the method, alone or joined to others"
_POOLED = "all: all models together"
_RETENTION = (
    "retention: share with the solver over share alone, means over the problems with outputs of"
    " both; difference in percentage points, with Newcombe's interval for pairs; p: exact McNemar"
    " test, or with several outputs for a problem a test of random signs of the problems'"
    " differences"
)
_ADJUSTED = "adjusted p: by Holm's method, for {}"
_RATIO = "ratio: share with the method's own prompts over share with others"
_HALF = "≈: one share is zero; the ratio is the one with a half added to both numbers of outputs"


def print_blend(blending: BlendResult, console: Console) -> None:
    """Print the markers in the outputs, in those of all models together first."""
    rows, isolation = pooled_first(blending.rows), pooled_first(blending.isolation)
    title = "Outputs with a marker, %"
    _print_markers(console, title, rows, lambda row: parts.interval(row, "share", percent))
    title = "Occurrences of markers per 1,000 characters"
    _print_markers(console, title, rows, lambda row: cell(row.per_1000_characters))
    _print_retention(console, blending.retention)
    _print_isolation(console, isolation)
    generic = pooled_first(row for row in blending.presence if row.generic)
    for reason, group in parts.group_by(generic, "generic").items():
        _print_generic(console, reason, group)
    families = dict.fromkeys(row.family for row in blending.retention)
    parts.print_notes(
        console,
        _SHARES,
        *([_STAR] if any(row.has_method for row in rows) else []),
        *([_POOLED] if any(row.model == ALL for row in rows) else []),
        *([_RETENTION] if blending.retention else []),
        *[_ADJUSTED.format(family) for family in families if family],
        *([_RATIO] if any(row.ratio is not None for row in isolation) else []),
        *([_HALF] if any(row.ratio is not None and row.note for row in isolation) else []),
    )


def _print_markers(
    console: Console, title: str, rows: Sequence[BlendRow], show: Callable[[BlendRow], str]
) -> None:
    named_rows, cells = parts.pivot(
        rows, "method", lambda row: show(row) + ("*" if row.has_method else "")
    )
    columns = parts.naming(named_rows, "prompt")
    columns["outputs"] = [cell(row.outputs) for row in named_rows]
    columns["absent"] = [cell(row.absent or None) for row in named_rows]
    layout = Layout(
        texts=3,
        wrapping=frozenset({"prompt"}),
        optional=("absent", "outputs"),
        headings=2,
        title=title,
    )
    print_columns(console, columns | cells, layout)


def _print_retention(console: Console, rows: Sequence[RetentionRow]) -> None:
    if not rows:
        return
    columns = {
        **parts.naming(rows),
        "prompt": [f"{row.prefix}+{row.solver}" for row in rows],
        "markers of": [row.method for row in rows],
        "pairs": [cell(row.pairs) for row in rows],
        "unpaired": [cell(row.unpaired or None) for row in rows],
        "alone": [percent(row.share_alone) for row in rows],
        "with": [percent(row.share_with) for row in rows],
        "difference": [parts.interval(row, "difference", percent) for row in rows],
        "retention": [percent(row.retention) for row in rows],
        "only alone": [cell(row.only_alone) for row in rows],
        "only with": [cell(row.only_with) for row in rows],
        "p": [cell(row.p) for row in rows],
        "adjusted p": [cell(row.p_adjusted) for row in rows],
    }
    optional = ("only alone", "only with", "unpaired", "retention", "pairs", "p")
    title = "Markers of a prefix, alone and with a solver, %"
    wrapping = frozenset({"prompt", "markers of"})
    layout = Layout(4, wrapping=wrapping, optional=optional, headings=2, title=title)
    print_columns(console, columns, layout)
    notes = [f"{row.prompt_with}: {row.note}" for row in rows if row.note and not row.pairs]
    parts.print_notes(console, *dict.fromkeys(notes))


def _print_isolation(console: Console, rows: Sequence[IsolationRow]) -> None:
    columns = {
        **parts.naming(rows, "method"),
        "own prompts": [percent(row.share_own) for row in rows],
        "others": [percent(row.share_others) for row in rows],
        "ratio": [
            ("≈" if row.ratio is not None and bool(row.note) else "") + parts.interval(row, "ratio")
            for row in rows
        ],
        "note": [row.note if row.ratio is None else "" for row in rows],
    }
    title = "Markers with prompts of their own method and of others, %"
    layout = Layout(3, wrapping=frozenset({"method", "note"}), headings=2, title=title)
    print_columns(console, columns, layout)


def _print_generic(console: Console, reason: str, rows: Sequence[PresenceRow]) -> None:
    patterns = [*parts.group_by(rows, "dataset", "model", "method", "pattern").values()]
    first_rows = [group[0] for group in patterns]
    columns = {
        **parts.naming(first_rows, "method", "pattern"),
        "own prompts": [_shares(group, True) for group in patterns],
        "others": [_shares(group, False) for group in patterns],
    }
    title = f"Generic patterns, {reason}, %"
    layout = Layout(4, wrapping=frozenset({"pattern"}), headings=2, title=title)
    print_columns(console, columns, layout)


def _shares(rows: Sequence[PresenceRow], has_method: bool) -> str:
    shares = [row.share for row in rows if row.has_method == has_method and row.share is not None]
    if not shares:
        return UNKNOWN
    ends = dict.fromkeys(map(percent, (min(shares), max(shares))))
    return "–".join(ends)
