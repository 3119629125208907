"""The tables of `blend`."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console

from ngramscan.outputs.blend import (
    BlendResult,
    BlendRow,
    IsolationRow,
    PresenceRow,
    RetentionRow,
)
from ngramscan.report.layout import UNKNOWN, Layout, cell, print_columns
from ngramscan.report.tables import parts

_FOOTNOTES = (
    "*: the prompt has the method, alone or joined; shares in %, of the outputs that have text,"
    " with 95 % Wilson intervals",
    "all: pooled; outputs of several models to one problem count as many as they are worth",
    "ratio: own over others, of all outputs as if they were independent",
)
_RETENTION_NOTE = (
    "retention: share with the solver over share alone, of the problems with an output of both;"
    " difference in points with Newcombe's interval for pairs; p: exact McNemar. Not pooled over"
    " models, whose outputs to one problem are no independent pairs"
)


def print_blend(blending: BlendResult, console: Console) -> None:
    """Print the markers in the outputs of each dataset and model, and of all."""
    retention = parts.group_by(blending.retention, "dataset", "model")
    isolation = parts.group_by(blending.isolation, "dataset", "model")
    presence = parts.group_by(blending.presence, "dataset", "model")
    for scope, rows in parts.scopes(console, blending.rows):
        _print_markers(console, rows)
        _print_retention(console, retention.get(scope, []))
        _print_isolation(console, isolation.get(scope, []))
        _print_generic(console, [row for row in presence.get(scope, []) if row.generic])
    parts.print_notes(console, *_FOOTNOTES, *[_RETENTION_NOTE] * bool(retention))


def _print_markers(console: Console, rows: Sequence[BlendRow]) -> None:
    prompts = {row.prompt: row for row in rows}.values()
    sizes = {"outputs": [cell(row.outputs) for row in prompts]}
    if any(row.absent for row in rows):
        sizes["absent"] = [cell(row.absent) for row in prompts]
    shares, densities = {}, {}
    for row in rows:
        key, star = (row.prompt, row.method), "*" if row.has_method else ""
        shares[key] = parts.interval(row, "share", parts.percent) + star
        densities[key] = cell(row.per_1000_characters) + star
    parts.print_matrix(console, "Outputs with a marker", shares, sizes)
    parts.print_matrix(console, "Occurrences per 1,000 characters", densities, sizes)


def _print_retention(console: Console, rows: Sequence[RetentionRow]) -> None:
    if not rows:
        return
    columns = {
        "prefix+solver": [f"{row.prefix}+{row.solver}" for row in rows],
        "markers of": [row.method for row in rows],
        "pairs": [cell(row.pairs) for row in rows],
        "alone": [parts.percent(row.share_alone) for row in rows],
        "with": [parts.percent(row.share_with) for row in rows],
        "difference": [parts.interval(row, "difference", parts.percent) for row in rows],
        "retention": [parts.percent(row.retention) for row in rows],
        "only alone": [cell(row.only_alone) for row in rows],
        "only with": [cell(row.only_with) for row in rows],
        "p": [cell(row.p) for row in rows],
    }
    wrapping = frozenset({"prefix+solver", "markers of", "difference"})
    optional = ("only alone", "only with", "with", "alone", "pairs", "p", "retention")
    print_columns(console, columns, Layout(2, wrapping, optional, "Prefixes with a solver"))
    parts.print_notes(console, *(f"{row.prompt_with}: {row.note}" for row in rows if row.note))


def _print_isolation(console: Console, rows: Sequence[IsolationRow]) -> None:
    columns = {
        "method": [row.method for row in rows],
        "own prompts": [parts.percent(row.share_own) for row in rows],
        "others": [parts.percent(row.share_others) for row in rows],
        "ratio": [parts.interval(row, "ratio") for row in rows],
    }
    if any(row.note for row in rows):
        columns["note"] = [row.note for row in rows]
    layout = Layout(1, frozenset({"method", "ratio", "note"}), ("note",), "IsolationRow")
    print_columns(console, columns, layout)


def _print_generic(console: Console, rows: Sequence[PresenceRow]) -> None:
    if not rows:
        return
    patterns = parts.group_by(rows, "method", "pattern")
    columns = {
        "method: pattern": [f"{method}: {pattern}" for method, pattern in patterns],
        "own prompts": [_shares(group, True) for group in patterns.values()],
        "others": [_shares(group, False) for group in patterns.values()],
        "why": [group[0].generic or "" for group in patterns.values()],
    }
    title = "Generic patterns: they tell no method from another"
    print_columns(console, columns, Layout(4, frozenset(columns), ("why",), title))


def _shares(rows: Sequence[PresenceRow], own: bool) -> str:
    shares = [f"{row.prompt} {parts.percent(row.share)}" for row in rows if row.has_method == own]
    return ", ".join(shares) or UNKNOWN
