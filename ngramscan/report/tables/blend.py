"""The tables of `blend`."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from rich.console import Console
from rich.text import Text

from ngramscan.outputs.blend import (
    BlendResult,
    BlendRow,
    IsolationRow,
    PresenceRow,
    RetentionRow,
)
from ngramscan.report.layout import UNKNOWN, Layout, cell, print_columns

_FOOTNOTES = (
    "*: the prompt has the method, alone or joined; shares in %, of the outputs that have text,"
    " with 95 % Wilson intervals",
    "all: pooled; outputs of several models to one problem count as many as they are worth",
)
_RETENTION_NOTE = (
    "retention: share with the solver over share alone, of the problems with an output of both;"
    " difference in points with Newcombe's interval for pairs; p: exact McNemar. Not pooled over"
    " models, whose outputs to one problem are no independent pairs"
)
_ISOLATION_NOTE = "ratio: own over others, of all outputs as if they were independent"
_LEAST_METHOD_WIDTH = 19


def print_blending(blending: BlendResult, console: Console) -> None:
    """Print what is in the outputs of each dataset and model, and of all."""
    for dataset, model in dict.fromkeys((row.dataset, row.model) for row in blending.rows):
        console.print(Text(f"{dataset} · {model or 'model not named'}", style="bold"))
        rows = [row for row in blending.rows if (row.dataset, row.model) == (dataset, model)]
        _print_matrix(console, "Outputs with a marker", rows, _share_cell)
        _print_matrix(console, "Occurrences per 1,000 characters", rows, _density_cell)
        _print_retention(
            console, [r for r in blending.retention if (r.dataset, r.model) == (dataset, model)]
        )
        _print_isolation(
            console, [r for r in blending.isolation if (r.dataset, r.model) == (dataset, model)]
        )
        _print_generic(
            console, [r for r in blending.presence if (r.dataset, r.model) == (dataset, model)]
        )
    lines = [*_FOOTNOTES, _ISOLATION_NOTE]
    lines += [_RETENTION_NOTE] if blending.retention else []
    for line in lines:
        console.print(Text(line, style="dim"))


def _percent(value: float | None) -> str:
    return UNKNOWN if value is None else f"{100 * value:.1f}"


def _interval(value: float | None, low: float | None, high: float | None) -> str:
    if value is None:
        return UNKNOWN
    if low is None:
        return _percent(value)
    return f"{_percent(value)} [{_percent(low)}, {_percent(high)}]"


def _share_cell(row: BlendRow) -> str:
    return _interval(row.share, row.share_low, row.share_high) + ("*" if row.has_method else "")


def _density_cell(row: BlendRow) -> str:
    return cell(row.per_1000_characters) + ("*" if row.has_method else "")


def _print_matrix(
    console: Console, title: str, rows: Sequence[BlendRow], show: Callable[[BlendRow], str]
) -> None:
    """Print prompts × methods; where not all methods fit, in several tables."""
    methods = list(dict.fromkeys(row.method for row in rows))
    prompts = {row.prompt: row for row in rows}
    cells = {(row.prompt, row.method): show(row) for row in rows}
    widest = max(map(len, [*prompts, "prompt"]))
    at_once = max(1, (console.width - min(widest, 16) - 6) // _LEAST_METHOD_WIDTH)
    for start in range(0, len(methods), at_once):
        chosen = methods[start : start + at_once]
        columns = {"prompt": list(prompts)}
        columns["outputs"] = [cell(row.outputs) for row in prompts.values()]
        if any(row.absent for row in rows):
            columns["absent"] = [cell(row.absent) for row in prompts.values()]
        columns |= {method: [cells[prompt, method] for prompt in prompts] for method in chosen}
        wrapping = frozenset({"prompt", *chosen})
        layout = Layout(1, wrapping, ("absent", "outputs"), None if start else title)
        print_columns(console, columns, layout)


def _print_retention(console: Console, rows: Sequence[RetentionRow]) -> None:
    if not rows:
        return
    columns = {
        "prefix": [row.prefix for row in rows],
        "solver": [row.solver for row in rows],
        "markers of": [row.method for row in rows],
        "pairs": [cell(row.pairs) for row in rows],
        "alone": [_percent(row.share_alone) for row in rows],
        "with": [_percent(row.share_with) for row in rows],
        "difference": [
            _interval(row.difference, row.difference_low, row.difference_high) for row in rows
        ],
        "retention": [_percent(row.retention) for row in rows],
        "b, c": [f"{cell(row.only_alone)}, {cell(row.only_with)}" for row in rows],
        "p": [cell(row.p) for row in rows],
    }
    wrapping = frozenset({"prefix", "solver", "markers of", "difference"})
    optional = ("markers of", "b, c", "with", "alone", "pairs", "p", "retention")
    print_columns(console, columns, Layout(3, wrapping, optional, "Prefixes with a solver"))
    for row in rows:
        if row.note:
            line = f"{row.prompt_with}: {row.note}"
            console.print(Text(line, style="dim"))


def _print_isolation(console: Console, rows: Sequence[IsolationRow]) -> None:
    columns = {
        "method": [row.method for row in rows],
        "own prompts": [_percent(row.share_own) for row in rows],
        "others": [_percent(row.share_others) for row in rows],
        "ratio": [_ratio(row.ratio, row.ratio_low, row.ratio_high) for row in rows],
    }
    if any(row.note for row in rows):
        columns["note"] = [row.note for row in rows]
    layout = Layout(1, frozenset({"method", "ratio", "note"}), ("note",), "Isolation")
    print_columns(console, columns, layout)


def _ratio(value: float | None, low: float | None, high: float | None) -> str:
    return UNKNOWN if value is None else f"{cell(value)} [{cell(low)}, {cell(high)}]"


def _print_generic(console: Console, presence: Sequence[PresenceRow]) -> None:
    generic = [row for row in presence if row.generic]
    if not generic:
        return
    keys = {(row.method, row.pattern): row.generic or "" for row in generic}
    shares: dict[tuple[str, str], tuple[list[str], list[str]]] = {key: ([], []) for key in keys}
    for row in generic:
        own, others = shares[row.method, row.pattern]
        (own if row.has_method else others).append(f"{row.prompt} {_percent(row.share)}")
    columns = {
        "pattern": [pattern for _, pattern in keys],
        "method": [method for method, _ in keys],
        "own prompts": [", ".join(own) or UNKNOWN for own, _ in shares.values()],
        "others": [", ".join(others) or UNKNOWN for _, others in shares.values()],
        "why": list(keys.values()),
    }
    title = "Generic patterns: they tell no method from another"
    layout = Layout(5, frozenset(columns), ("why", "method"), title)
    print_columns(console, columns, layout)
