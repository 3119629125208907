"""A kind of rows, and how it is drawn."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

Scale = Literal["log", "linear", "share"]
Unit = Literal["number", "percent", "points"]
_SHARE = re.compile(
    r"(accuracy|coverage|eta|novelty|share|unanswered|upper_bound)(_\w+)?|\w+_(accuracy|share)"
    r"|\w*formula_density\w*|detectable|discordance|power|retention"
    r"|target_power"
)
_POINTS = re.compile("(difference|slope)(_complete|_corrected|_judged)?")
_WORDS = {
    "has_method": "the prompt asks for the method",
    "n_no_answer": "without an answer",
    "n_unknown": "unknown results",
    "p_adjusted": "p (adjusted)",
    "p_bh": "p (Benjamini–Hochberg)",
    "p_holm": "p (Holm)",
    "rank_of": "ranked",
}


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
    aside: str = ""
    """Text beside the label, with columns in braces: `{with_marker} of {outputs}`."""
    sides: tuple[str, str] = ("", "")
    """The words for values below and above no difference, with columns in braces."""


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of rows."""

    name: str
    """As the command or its option calls it: `count`, `blend --presence`."""
    title: str
    """As a heading of the page."""
    needs: frozenset[str]
    """Columns that only these rows have together."""
    numbers: frozenset[str]
    """Columns that are numbers or truth values; all others are text, though they may look like
    numbers."""
    labels: tuple[str, ...]
    """Columns that tell rows apart, in the order in which they are shown."""
    plots: tuple[Plot, ...] = ()
    """Its figures: each shows the rows that have its values."""
    may_lack: frozenset[str] = frozenset()
    """Needed columns that a data frame lacks where no row has a value; readers complete them."""
    methods: str = ""
    """The template that says how the numbers were made, without its suffix."""

    @property
    def marks(self) -> frozenset[str]:
        """Return the columns by which its rows are recognised."""
        return self.needs - self.may_lack


def make_kind(
    name: str,
    title: str,
    labels: str,
    numbers: str,
    *plots: Plot,
    texts: str = "",
    may_lack: frozenset[str] = frozenset(),
) -> Kind:
    """Return a kind; its columns have spaces between them.

    `numbers` has a bar before those that rows may lack. Those of plots are numbers, too, and rows
    have them and the columns of `labels` and `texts`. Further texts need not be named.
    """
    drawn = frozenset(
        column
        for plot in plots
        for column in (plot.value, plot.low, plot.high, plot.across, *plot.across_limits)
        if column
    )
    all_numbers = drawn.union(numbers.replace("|", " ").split())
    return Kind(
        name,
        title,
        needs=drawn.union(f"{labels} {texts} {numbers.partition('|')[0]}".split()),
        numbers=all_numbers,
        labels=(*labels.split(),),
        plots=plots,
        may_lack=may_lack,
        # Options of a command have its text: `blend --presence` is explained with `blend`.
        methods=name.split(maxsplit=1)[0],
    )


def make_plot(
    value: str,
    panel: str,
    label: str,
    scale: Scale = "linear",
    limits: str | None = "",
    series: str = "",
    across: str = "",
    across_limits: str | None = None,
    aside: str = "",
    sides: tuple[str, str] = ("", ""),
) -> Plot:
    """Return a plot; columns have spaces between them, limits are as in `limits_of`."""
    return Plot(
        value,
        *limits_of(value, limits),
        panel=(*panel.split(),),
        label=(*label.split(),),
        series=series,
        scale=scale,
        across=across,
        across_limits=limits_of(across, across_limits),
        aside=aside,
        sides=sides,
    )


def limits_of(value: str, start: str | None = "") -> tuple[str, str]:
    """Return the columns of a value's limits, which begin with its name or with another start.

    Those of `value` itself are `low` and `high`. None as the start: there are none.
    """
    name = f"{start or value}_".removeprefix("value_")
    return ("", "") if start is None else (f"{name}low", f"{name}high")


def in_words(name: str) -> str:
    """Return the name of a column as a heading."""
    return _WORDS.get(name, name.replace("_", " "))


def unit_of(name: str, rows: Iterable[Mapping[str, Any]]) -> Unit:
    """Return how a column of some rows is shown: fractions are percent, as on the screen."""
    if any(row.get("measure") == "creativity_index" for row in rows):
        return "number"
    if _POINTS.fullmatch(name):
        return "points"
    return "percent" if _SHARE.fullmatch(name) else "number"
