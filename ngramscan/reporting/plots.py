"""Kinds of rows, and how each is drawn."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

Scale = Literal["log", "linear", "share"]


@dataclass(frozen=True, slots=True)
class Plot:
    """The figure of a kind: a value with its interval for each row, by the names of columns."""

    value: str
    low: str = ""
    high: str = ""
    """Empty, both: there is no interval."""
    panel: tuple[str, ...] = ()
    """One panel for each combination of these."""
    label: tuple[str, ...] = ()
    """The name of a row within a panel."""
    series: str = ""
    """Colour and mark; empty: all the same."""
    scale: Scale = "linear"
    across: str = ""
    """The column of the other axis; empty: the labels, one below the other."""
    across_limits: tuple[str, str] = ("", "")
    """The limits of `across`."""
    aside: tuple[str, ...] = ()
    """Numbers that stand beside the label, such as the size of a group."""


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of rows."""

    name: str
    """As the command or its option calls it: `count`, `blend --presence`."""
    title: str
    """As a heading of the page."""
    needs: frozenset[str]
    """Columns that only these rows have together."""
    texts: frozenset[str]
    """Columns that are text, even where they look like numbers."""
    numbers: frozenset[str]
    """Columns that are numbers or truth values; others, which users added, are text."""
    labels: tuple[str, ...]
    """Columns that tell rows apart, in the order in which they are shown."""
    plots: tuple[Plot, ...] = ()
    """Its figures: each shows the rows that have its values."""
    methods: str = ""
    """The template that says how the numbers were made, without its suffix."""


def make_kind(name: str, title: str, labels: str, texts: str, numbers: str, *plots: Plot) -> Kind:
    """Return a kind; its columns have spaces between them, and after a bar those it may lack.

    Columns of `labels` are texts, and those of `plot` numbers, without being named again.
    """
    drawn = {
        column
        for plot in plots
        for column in (plot.value, plot.low, plot.high, plot.across, *plot.across_limits)
        if column
    }
    all_numbers = {*numbers.replace("|", " ").split(), *drawn}
    all_texts = {*labels.split(), *texts.replace("|", " ").split()} - all_numbers
    needs = {*labels.split(), *drawn, *_before_bar(texts), *_before_bar(numbers)}
    return Kind(
        name,
        title,
        needs=frozenset(needs),
        texts=frozenset(all_texts),
        numbers=frozenset(all_numbers),
        labels=(*labels.split(),),
        plots=plots,
        # Options of a command have its text: `blend --presence` is explained with `blend`.
        methods=name.split(maxsplit=1)[0],
    )


def _before_bar(columns: str) -> list[str]:
    return columns.partition("|")[0].split()


def make_plot(
    value: str, limits: str, panel: str, label: str, scale: Scale = "linear", **others: Any
) -> Plot:
    """Return a plot; `limits` are a beginning of two names, panel and label have spaces between."""
    low, high = limits_of(limits)
    groups: dict[str, Any] = {"panel": (*panel.split(),), "label": (*label.split(),)}
    return Plot(value, low, high, scale=scale, **groups, **others)


def limits_of(name: str) -> tuple[str, str]:
    """Return the columns of limits that begin with a name; of an empty one, none."""
    return (f"{name}_low", f"{name}_high") if name else ("", "")
