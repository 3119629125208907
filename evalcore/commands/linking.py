"""`evalcore link`: counts of patterns beside comparisons of methods."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypedDict, Unpack

from evalcore.commands.comparing import p_text, read_all
from evalcore.comparisons import CompareRow, compare_methods
from evalcore.figures.prevalence_links import draw_links
from evalcore.paired_results import CompareSettings
from evalcore.prevalence_links import (
    Linked,
    LinkRow,
    LinkSettings,
    PatternCount,
    RankRow,
    link_prevalence,
)
from evalcore.row_files import read_rows, read_table
from ngramscan.errors import InputError
from ngramscan.output import optional_target, to_frame, write_rows
from ngramscan.output.canvas import check_target, save_figure
from ngramscan.output.layout import Layout, print_columns, print_rows, rate

if TYPE_CHECKING:
    import pandas as pd
    from rich.console import Console


class LinkOptions(TypedDict, total=False):
    """All options of `link` but the two files."""

    measure: Literal["occurrences", "documents"]
    tier: Sequence[str]
    map: Sequence[str]
    rule: Sequence[str]
    ranks: str | Path | None
    figure: str | Path | None


def link_with(counts: Path, scores: Path, options: LinkOptions) -> Linked:
    """Join a file of counts with one of comparisons, or of scores."""
    target = optional_target(options.get("ranks"))
    figure = options.get("figure")
    check_target(Path(figure) if figure else None)
    patterns = read_rows(counts, PatternCount, "rows of `ngramscan count` or `docnorm`")
    settings = LinkSettings(
        measure=options.get("measure", "occurrences"),
        tiers=options.get("tier") or ("T1", "T2"),
        names=dict(_named(text) for text in options.get("map", ())),
    )
    linked = link_prevalence(patterns, _compared(scores, options.get("rule", ())), settings)
    if target:
        write_rows(linked.ranks, RankRow, target)
    if figure:
        save_figure(draw_links(linked.rows), Path(figure))
    return linked


def _named(text: str) -> tuple[str, str]:
    method, equals, name = text.partition("=")
    if not equals or not method or not name:
        raise InputError(f"--map {text}", "METHOD=NAME was expected")
    return method, name


def _compared(path: Path, rules: Sequence[str]) -> list[CompareRow]:
    """Return the comparisons of a file; where it holds scores, of all pairs of methods."""
    _, first = next(iter(read_table(path)), ("", {}))
    if "difference" not in first:
        return compare_methods(read_all([path], rules), CompareSettings()).rows
    rows = read_rows(path, CompareRow, "rows of `evalcore compare` or `score`")
    return [row for row in rows if not rules or row.rule in rules]


def print_linked(console: Console, linked: Linked) -> None:
    """Print prevalence beside accuracy, then how their orders agree."""
    rows = linked.rows
    columns = {
        "index": [row.index for row in rows],
        "dataset": [row.dataset for row in rows],
        "model": [row.model for row in rows],
        "methods": [f"{row.treatment} : {row.baseline}" for row in rows],
        f"{rows[0].measure}": [
            _with(rate(row.prevalence_ratio), row.prevalence_low, row.prevalence_high)
            for row in rows
        ],
        "accuracy": [
            _with(f"{row.difference:+.1f}", row.difference_low, row.difference_high) for row in rows
        ],
        "p": [p_text(row.p) for row in rows],
    }
    print_columns(console, columns, Layout(4, frozenset({"model"}), ("dataset", "p", "index")))
    if ordered := [rank for rank in linked.ranks if rank.tau is not None]:
        console.print("Order of methods by prevalence and by accuracy\n")
        print_rows(console, ordered, RankRow)


def _with(value: str, low: float | None, high: float | None) -> str:
    if low is None or high is None:
        return f"{value} (no interval)"
    return f"{value} [{rate(low)}, {rate(high)}]"


def link(counts: str | Path, scores: str | Path, **options: Unpack[LinkOptions]) -> pd.DataFrame:
    """Put counts of patterns beside comparisons of methods, as `evalcore link` does.

    Parameters
    ----------
    counts : str or Path
        Rows of `ngramscan count` or `docnorm`.
    scores : str or Path
        Rows of `evalcore compare`, or scores.
    **options
        As the command has them; `tier`, `map` and `rule` are sequences.

    Returns
    -------
    DataFrame
        One row per index, cell and pair of methods.

    Raises
    ------
    InputError
        A file or an argument is wrong, or nothing can be joined.
    """
    return to_frame(link_with(Path(counts), Path(scores), options).rows, LinkRow)
