"""Rows of results that are drawn, and what their figures show, read from the SVG."""

import math
import random
import re
from collections.abc import Callable, Iterator
from decimal import Decimal
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from ngramscan.reporting.charts.figure import MOST_ROWS, Figure
from ngramscan.reporting.charts.panels import draw
from ngramscan.reporting.kinds import all_kinds, kind_of
from ngramscan.reporting.page.results import Results

Row = dict[str, Any]
SVG = "{http://www.w3.org/2000/svg}"
PLACE = 1e-4
"""Places are written with four digits."""


def results_of(rows: list[Row], title: str) -> Results:
    """Return rows as a page reads them, of the kind that has this title."""
    kind = next(one for one in all_kinds() if one.title == title)
    columns = (*rows[0],) if rows else (*sorted(kind.needs),)
    found = kind_of(columns)
    assert found is not None
    assert found.title == title
    return Results(kind, "rows.csv", columns, rows)


COUNTED: Row = {
    "index": "pile",
    "method": "CoT",
    "tier": "T1",
    "kind": "literal",
    "documents": None,
    "level": 0.95,
}
COMPARED: Row = {
    "dataset": "gsm8k",
    "model": "m",
    "rule": "exact",
    "baseline": "direct",
    "n": 9,
    "accuracy_baseline": 0.5,
    "accuracy_treatment": 0.5,
    "p": 0.5,
    "p_holm": 0.5,
}
MARKED: Row = {
    "dataset": "gsm8k",
    "model": "m",
    "method": "CoT",
    "outputs": 9,
    "has_method": True,
    "with_marker": 3,
    "level": 0.95,
}
SPENT: Row = {"dataset": "gsm8k", "model": "m", "rule": "exact", "n": 9, "accuracy_high": 0.95}
SHARED: Row = {"index": "pile", "rule": "13-grams", "entries": 100, "n": 1, "level": 0.95}


def count(query: str, occurrences: Any, low: Any = None, high: Any = None, **more: Any) -> Row:
    """Return a row of `count`."""
    row = COUNTED | {"pattern": query, "query": query, "occurrences": occurrences}
    return row | {"occurrences_low": low, "occurrences_high": high} | more


ISOLATION = "Markers in outputs of their own method and of others"


def isolated(method: str, ratio: Any, low: Any = None, high: Any = None) -> Row:
    """Return a row of the ratio of a method's markers in its own outputs and in others."""
    row: Row = {"dataset": "d", "model": "m", "method": method, "outputs_own": 9}
    row |= {"outputs_others": 9, "share_own": 0.1, "share_others": 0.1, "difference": 0.0}
    return row | {"ratio": ratio, "ratio_low": low, "ratio_high": high, "level": 0.95}


def compare(treatment: str, difference: float, low: Any, high: Any) -> Row:
    """Return a row of a difference of two methods."""
    row = COMPARED | {"treatment": treatment, "difference": difference}
    return row | {"difference_low": low, "difference_high": high}


def outputs(prompt: str, share: Any, low: Any, high: Any, **more: Any) -> Row:
    """Return a row of the share of outputs with markers."""
    return MARKED | {"prompt": prompt, "share": share, "share_low": low, "share_high": high} | more


def efficiency(method: str, accuracy: float, tokens: Any, best: bool) -> Row:
    """Return a row of accuracy and tokens."""
    row = SPENT | {"method": method, "accuracy": accuracy, "accuracy_low": accuracy - 0.04}
    row |= {"mean_tokens": tokens, "mean_tokens_low": tokens and tokens * 0.9}
    return row | {"mean_tokens_high": tokens and tokens * 1.1, "on_frontier": best}


def share(verdict: str, eta: float, value: Any, low: float, high: float) -> Row:
    """Return a row of the contaminated share of a benchmark."""
    row = SHARED | {"verdict": verdict, "eta_from": eta, "share": value}
    return row | {"share_low": low, "share_high": high}


def parse(figure: Figure, drawing: int = 0) -> ET.Element:
    """Return the root of one drawing of a figure."""
    return ET.fromstring(f"<div>{figure.svg}</div>")[drawing]


def only(rows: list[Row], title: str) -> tuple[Figure, ET.Element]:
    """Return the only figure of some rows, and its root."""
    (figure,) = draw(results_of(rows, title))
    return figure, parse(figure)


def marks(root: ET.Element) -> list[ET.Element]:
    """Return the marks of rows."""
    return [one for one in root.iter(f"{SVG}g") if one.get("class") == "row"]


def of_class(root: ET.Element, name: str) -> list[ET.Element]:
    """Return the elements of a class."""
    return [one for one in root.iter() if one.get("class") == name]


def places(mark: ET.Element, name: str) -> list[tuple[float, float]]:
    """Return the places of the dots, bars or arrows of a mark."""
    around = [one for one in mark.iter(f"{SVG}svg") if of_class(one, name)]
    return [(float(one.attrib["x"].rstrip("%")), float(one.attrib["y"])) for one in around]


def inverse(root: ET.Element, is_log: bool, down: bool = False) -> Callable[[float], float]:
    """Return how places become values, from the first and the last line of the grid."""
    keys = ("y1", "y2") if down else ("x1", "x2")
    found = [
        (float(one.attrib[keys[0]].rstrip("%")), float(one.attrib["data-tick"]))
        for one in of_class(root, "grid")
        if one.get(keys[0]) == one.get(keys[1])
    ]
    apart = [place for place, value in found if is_log and value == 0]
    scale = [(x, math.log10(v) if is_log else v) for x, v in found if v > 0 or not is_log]
    (x0, v0), (x1, v1) = scale[0], scale[-1]
    # All other lines agree with these two.
    for x, v in scale:
        assert x == pytest.approx(x0 + (x1 - x0) * (v - v0) / (v1 - v0), abs=2 * PLACE)

    def value_at(place: float) -> float:
        if any(abs(place - one) < PLACE for one in apart):
            return 0.0
        value = v0 + (v1 - v0) * (place - x0) / (x1 - x0)
        return 10**value if is_log else value

    return value_at


def title_of(mark: ET.Element) -> str:
    """Return the tooltip of a mark."""
    return mark.findtext(f"{SVG}title") or ""


def numbers_in(text: str) -> list[float]:
    """Return the numbers that a text says, shares and points as parts of 1."""
    found = re.findall(r"(−?[\d,]*\d(?:\.\d+)?(?:E[+−]\d+)?)(%| percentage points)?", text)
    plain = [(one.replace(",", "").replace("−", "-"), unit) for one, unit in found]
    return [float(Decimal(one) / (100 if unit else 1)) for one, unit in plain]


def retained(solver: str, low: float, high: float) -> Row:
    """Return a row of markers that outputs keep with a solver."""
    row: Row = {"dataset": "d", "model": "m", "prefix": "f-1", "solver": solver, "method": "F-1"}
    row |= {"prompt_with": f"f-1+{solver}", "pairs": 9, "share_alone": 0.5, "share_with": 0.5}
    return row | {"p": 1.0, "difference": 0.0, "difference_low": low, "difference_high": high}


def statistic(name: str, value: float) -> Row:
    """Return a row of the agreement of judges."""
    row = {"statistic": name, "judges": "all", "label": None, "items": 9, "value": value}
    return row | {"low": value - 1, "high": value + 1}


def random_rows(title: str) -> Iterator[Row]:
    """Yield as many rows of a kind as a figure has room for, with intervals."""
    draws = random.Random(7)
    for place in range(MOST_ROWS):
        name = "x" * (place + 1)
        if title == ISOLATION:
            value = 10 ** draws.uniform(-1, 6)
            yield isolated(name, value, value * 0.7, value * 3)
        elif title == "Differences of methods":
            value = draws.uniform(-0.3, 0.6)
            yield compare(name, value, value - 0.1, value + 0.05)
        else:
            value = draws.uniform(0.1, 0.9)
            yield outputs(name, value, value - 0.1, value + 0.05)


KINDS_OF_ROWS = [
    pytest.param(ISOLATION, "ratio", True, id="ratio"),
    pytest.param("Differences of methods", "difference", False, id="difference"),
    pytest.param("Outputs with markers of each method", "share", False, id="share"),
]
"""Titles, each with the column of its values and whether their axis is logarithmic."""
