"""`evalcore link`: counts of patterns beside comparisons of methods."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypedDict

from evalcore.compare import CompareRow, compare_methods, p_text, read_all
from evalcore.figures.prevalence_links import draw_links
from evalcore.prevalence_links import (
    Linked,
    LinkRow,
    LinkSettings,
    PatternCount,
    RankRow,
    link_prevalence,
)
from evalcore.row_files import GivenTable, Table, as_table, read_rows, read_table
from evalcore.score_runs import choose_runs
from evalcore.scores import refuse_unscored
from ngramscan.errors import InputError
from ngramscan.output import (
    optional_target,
    refuse_other,
    refuse_same_file,
    several,
    strict_keywords,
    to_frame,
    write_rows,
)
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
    run: Sequence[str]
    ranks: str | Path | None
    figure: str | Path | None


MEASURES = ("occurrences", "documents")


def link_with(counts: Table, scores: Table, options: LinkOptions) -> Linked:
    """Join a table of counts with one of comparisons, or of scores."""
    refuse_other("--measure", options.get("measure", MEASURES[0]), MEASURES)
    target = optional_target(options.get("ranks"))
    figure = options.get("figure")
    check_target(Path(figure) if figure else None)
    patterns = read_rows(counts, PatternCount, "rows of `ngramscan count` or `docnorm`")
    settings = LinkSettings(
        measure=options.get("measure", "occurrences"),
        tiers=_tiers(options.get("tier", ()), patterns) or ("T1", "T2"),
        names=dict(_named(text) for text in options.get("map", ())),
    )
    compared, told = _compared(scores, options.get("rule", ()), options.get("run", ()))
    linked = link_prevalence(patterns, compared, settings)
    linked = linked._replace(notices=[*told, *linked.notices])
    if target:
        write_rows(linked.ranks, RankRow, target)
    if figure:
        save_figure(draw_links(linked.rows), Path(figure))
    return linked


def _tiers(asked: Iterable[str], patterns: Iterable[PatternCount]) -> list[str]:
    """Return the tiers that are asked for as the counts write them."""
    known = {row.tier.lower(): row.tier for row in patterns}
    for tier in asked:
        if tier.lower() not in known:
            problem = f"not among the counts; there are {', '.join(known.values())}"
            raise InputError(f"--tier {tier}", problem)
    return [known[tier.lower()] for tier in asked]


def _named(text: str) -> tuple[str, str]:
    method, equals, name = text.partition("=")
    if not equals or not method or not name:
        raise InputError(f"--map {text}", "METHOD=NAME was expected")
    return method, name


def _compared(
    table: Table, rules: Sequence[str], runs: Sequence[str]
) -> tuple[list[CompareRow], list[str]]:
    """Return the comparisons of a table, and what they leave out.

    Where the table holds scores, they are of all pairs of methods.
    """
    _, first = next(iter(read_table(table)), ("", {}))
    if "difference" not in first:
        rows = choose_runs(read_all([table], rules), runs)
        found = compare_methods(rows)
        return found.rows, [*filter(None, [found.left_out]), *found.failures]
    compared = read_rows(table, CompareRow, "rows of `evalcore compare` or `score`")
    refuse_unscored(rules, (row.rule for row in compared))
    return [row for row in compared if not rules or row.rule in rules], []


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


@strict_keywords
def link(
    counts: GivenTable,
    scores: GivenTable,
    *,
    measure: Literal["occurrences", "documents"] = "occurrences",
    tier: str | Sequence[str] = (),
    map: str | Sequence[str] = (),
    rule: str | Sequence[str] = (),
    run: str | Sequence[str] = (),
    ranks: str | Path | None = None,
    figure: str | Path | None = None,
) -> pd.DataFrame:
    """Put counts of patterns beside comparisons of methods, as `evalcore link` does.

    Parameters
    ----------
    counts : str, Path or DataFrame
        Rows of `ngramscan count` or `docnorm`: a file, or what they returned.
    scores : str, Path or DataFrame
        Rows of `evalcore compare`, or score rows, which are then compared in all pairs.
    measure : str
        What prevalence is: `occurrences` or `documents`.
    tier : str or sequence of str
        Only patterns of these tiers. By default T1 and T2.
    map : str or sequence of str
        What the pattern sets call a method: `"METHOD=NAME"`.
    rule : str or sequence of str
        Only scores by these rules.
    run : str or sequence of str
        The runs to take of methods that have several: names, parts of them, or `latest`.
    ranks : str or Path, optional
        Write how the orders of methods agree to this file.
    figure : str or Path, optional
        Draw differences of accuracies against ratios of prevalences: .svg or .png.

    Returns
    -------
    DataFrame
        One row per index, cell and pair of methods.

    Raises
    ------
    InputError
        A file or an argument is wrong, or nothing can be joined.
    """
    refuse_same_file({"--ranks": ranks, "--figure": figure})
    options = LinkOptions(
        measure=measure,
        tier=several(tier),
        map=several(map),
        rule=several(rule),
        run=several(run),
        ranks=ranks,
        figure=figure,
    )
    return to_frame(link_with(as_table(counts), as_table(scores), options).rows, LinkRow)
