"""Figures: as many marks as rows, labels beside each other, the same bytes twice."""

from __future__ import annotations

import random
import sys
from collections.abc import Sequence
from itertools import combinations, product
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

import pytest

from ngramscan.errors import InputError
from ngramscan.outputs.blend import run_blend
from ngramscan.outputs.reading import read_outputs
from ngramscan.outputs.strategies import StrategyRow, load_rules, run_strategies
from ngramscan.patterns.files import load_patterns
from ngramscan.prevalence.count import CountRow
from ngramscan.reporting import figures

if TYPE_CHECKING:
    from matplotlib.figure import Figure

OUTPUTS = Path(__file__).resolve().parent.parent / "outputs"
LONG = ["deepseek-ai/DeepSeek-V3.1-Terminus-reasoner", "Qwen/Qwen3-30B-A3B-Thinking-2507-Instruct"]
MODELS = [*LONG, "a", *(f"model-{n}" for n in range(2))]
METHODS = ["CoT", "PoT", "FP/F-1"]
MANY = [*METHODS, "a method with a long name", "Self-Consistency"]


def counts(indexes: int, methods: Sequence[str], patterns: int, estimated: bool) -> list[CountRow]:
    draw = random.Random(1)
    rows = []
    for index, method, number in product(range(indexes), methods, range(patterns)):
        n = 0 if draw.random() < 0.2 else int(10 ** draw.uniform(0, 9))
        text = f"pattern $x$ {number} " + "and so on " * draw.randrange(9)
        limits = (n / 2, n * 2.0) if estimated and n else (None, None)
        keys = (f"index_{index}", method, "T1", "narrative", text, text)
        rows.append(CountRow(*keys, n, None, "s", "t", estimated, *limits))
    return rows


def shares() -> list[StrategyRow]:
    return run_strategies(read_outputs(OUTPUTS), load_rules()).rows


def blends(models: Sequence[str], methods: Sequence[str]) -> list[Any]:
    return [
        SimpleNamespace(
            dataset="d", model=model, prompt=prompt, method=method,
            share=None if prompt == "pot" else n / len(methods), per_1000_characters=1.5 * n,
        )
        for model, prompt in product(models, ("cot", "pot", "f-1", "f-1+cot", "f-1+pot"))
        for n, method in enumerate(methods)
    ]  # fmt: skip


def draw_both(models: Sequence[str], methods: Sequence[str]) -> Figure:
    retention: list[Any] = [
        SimpleNamespace(
            dataset="d", model=model, prefix="f-1", solver=solver, method=method, pairs=1456,
            difference=n / 10 - 0.3, difference_low=n / 10 - 0.4, difference_high=n / 10 - 0.2,
        )
        for model, solver in product(models, ("cot", "pot"))
        for n, method in enumerate(methods)
    ]  # fmt: skip
    return figures.draw_blend(blends(models, methods), retention)


def real_blend() -> Figure:
    found = run_blend(read_outputs(OUTPUTS), load_patterns("f1"))
    return figures.draw_blend(found.rows, found.retention)


def overlapping(figure: Figure) -> list[tuple[str, str]]:
    """Return pairs of texts that cover each other as drawn."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.text import Text

    canvas: Any = FigureCanvasAgg(figure)
    canvas.draw()
    renderer = canvas.get_renderer()
    texts = [
        (text.get_text(), text.get_window_extent(renderer))
        for text in figure.findobj(Text)
        if isinstance(text, Text) and text.get_text().strip() and text.get_visible()
    ]
    page = figure.bbox
    cut = [
        (text, "the page's edge")
        for text, box in texts
        if box.x0 < -1 or box.y0 < -1 or box.x1 > page.x1 + 1 or box.y1 > page.y1 + 1
    ]
    # Boxes have a margin around the letters.
    return cut + [
        (text, other)
        for (text, box), (other, other_box) in combinations(texts, 2)
        if box.padded(-1).overlaps(other_box.padded(-1))
    ]


@pytest.mark.parametrize(
    "draw",
    [
        pytest.param(lambda: figures.draw_count(counts(2, MANY, 8, True)), id="count, many"),
        pytest.param(lambda: figures.draw_count(counts(1, ["CoT"], 1, False)), id="one pattern"),
        pytest.param(lambda: figures.draw_strategies(shares()), id="strategies"),
        pytest.param(real_blend, id="blend of the examples"),
        pytest.param(lambda: figures.draw_blend(blends(["a"], METHODS)), id="blend without pairs"),
        pytest.param(lambda: draw_both(MODELS[:3], MANY[:4]), id="blend, many"),
    ],
)
def test_no_label_covers_another_or_leaves_the_page(draw: Any) -> None:
    assert overlapping(draw()) == []


def test_svg_is_xml_with_texts_and_the_same_twice(tmp_path: Path) -> None:
    one, two = tmp_path / "one.svg", tmp_path / "two.svg"
    rows, of_outputs = counts(1, METHODS, 3, True), shares()
    for first, second in (
        (figures.draw_count(rows), figures.draw_count(rows)),
        (figures.draw_strategies(of_outputs), figures.draw_strategies(of_outputs)),
        (draw_both(["a"], METHODS), draw_both(["a"], METHODS)),
    ):
        figures.save_figure(first, one)
        figures.save_figure(second, two)
        assert one.read_bytes() == two.read_bytes()
        texts = "".join(ElementTree.parse(one).getroot().itertext())
        assert "CoT" in texts
        assert str(tmp_path) not in texts


def places(figure: Figure) -> list[tuple[float, float]]:
    """Return where points are drawn."""
    found: list[Any] = [c for axes in figure.axes for c in axes.collections]
    return [(x, y) for c in found if c.get_gid() == "points" for x, y in c.get_offsets()]


def lines(figure: Figure, gid: str) -> int:
    return sum(1 for axes in figure.axes for line in axes.lines if line.get_gid() == gid)


def test_each_row_has_a_mark() -> None:
    rows = counts(3, METHODS, 20, True)
    figure = figures.draw_count(rows)
    assert len(places(figure)) == len(rows)
    assert lines(figure, "interval") == sum(row.occurrences > 0 for row in rows)
    assert lines(figure, "mean") == 9
    of_outputs = shares()
    axes = figures.draw_strategies(of_outputs).axes[0]
    assert len(axes.patches) == len(of_outputs)
    counted = [text.get_text() for text in axes.texts if text.get_text().isdecimal()]
    assert sorted(counted) == sorted(str(r.with_strategy) for r in of_outputs if r.with_strategy)
    blend = draw_both(["a"], METHODS)
    cells = [text.get_text() for axes in blend.axes[:2] for text in axes.texts]
    assert len(cells) == 2 * 5 * 3
    assert cells[:6] == ["0", "33", "67", "–", "–", "–"]
    assert len(places(blend)) == lines(blend, "interval") == 6


def test_zeros_are_drawn_left_of_all_counts() -> None:
    rows = counts(1, ["CoT"], 30, False)
    figure = figures.draw_count(rows)
    (axes,) = figure.axes
    zeros = sum(not row.occurrences for row in rows)
    at = [x for x, _ in places(figure)]
    assert len(set(at[:zeros])) == 1
    assert axes.get_xlim()[0] < at[0] < min(at[zeros:])
    assert at[zeros:] == sorted(row.occurrences for row in rows if row.occurrences)
    assert axes.get_xticklabels()[0].get_text() == "0"
    all_zero = [row for row in rows if not row.occurrences]
    assert overlapping(figures.draw_count(all_zero)) == []


def test_only_the_rows_of_all_models_are_drawn_where_there_are_some() -> None:
    rows = [*blends(LONG, METHODS), *blends(["all"], METHODS)]
    assert len(figures.draw_blend(rows).axes[0].get_yticks()) == 5


def test_texts_of_any_script_are_no_warning(tmp_path: Path) -> None:
    row = CountRow("x", "ตัวอย่าง", "T1", "narrative", "答え", "答え\n$", 3, None, "s", "t")
    figures.save_figure(figures.draw_count([row]), tmp_path / "a.png")
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")
    figures.save_figure(figures.draw_count([row]), tmp_path / "a.svg")
    assert "答え $" in (tmp_path / "a.svg").read_text(encoding="utf-8")


def test_what_can_t_be_drawn_is_said_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InputError, match=r"a.pdf: a figure's name ends in .svg or .png"):
        figures.check_target(tmp_path / "a.pdf")
    with pytest.raises(InputError, match="there is no folder"):
        figures.check_target(tmp_path / "none" / "a.svg")
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(InputError, match=r"pip install 'ngramscan\[figures\]'"):
        figures.check_target(tmp_path / "a.svg")
    with pytest.raises(InputError, match=r"pip install 'ngramscan\[figures\]'"):
        figures.draw_count(counts(1, METHODS, 12, False))
    assert list(tmp_path.iterdir()) == []
