"""Figures: as many marks as rows, labels beside each other, the same bytes twice."""

from __future__ import annotations

import random
import sys
from collections.abc import Sequence
from itertools import combinations
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

import pytest

from ngramscan.errors import InputError
from ngramscan.outputs.blend import find_blends
from ngramscan.outputs.reading import OutputFields, read_outputs
from ngramscan.outputs.strategies import StrategyShare, classify_outputs
from ngramscan.outputs.strategy_rules import load_rules
from ngramscan.patterns.files import load_patterns
from ngramscan.prevalence.count import CountRow
from ngramscan.report import figures
from tests.command import run

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ROOT = Path(__file__).resolve().parent.parent
LONG = ["deepseek-ai/DeepSeek-V3.1-Terminus-reasoner", "Qwen/Qwen3-30B-A3B-Thinking-2507-Instruct"]
MODELS = [*LONG, "a", *(f"model-{n}" for n in range(2))]


def counts(indexes: int, methods: Sequence[str], patterns: int, estimated: bool) -> list[CountRow]:
    draw = random.Random(1)
    rows = []
    for index in range(indexes):
        for method in methods:
            for number in range(patterns):
                n = 0 if draw.random() < 0.2 else int(10 ** draw.uniform(0, 9))
                text = f"pattern $x$ {number} " + "and so on " * draw.randrange(9)
                limits = (n / 2, n * 2.0) if estimated and n else (None, None)
                keys = (f"index_{index}", method, "T1", "narrative", text, text)
                rows.append(CountRow(*keys, n, None, "s", "t", estimated, *limits))
    return rows


def shares(path: Path) -> list[StrategyShare]:
    return classify_outputs(read_outputs(path, OutputFields()), load_rules()).rows


def blends(models: Sequence[str], methods: Sequence[str]) -> list[Any]:
    return [
        SimpleNamespace(
            dataset="d", model=model, variant=variant, method=method,
            share=None if variant == "pot" else n / len(methods), per_1000_characters=1.5 * n,
        )
        for model in models
        for variant in ("cot", "pot", "f-1", "f-1+cot", "f-1+pot")
        for n, method in enumerate(methods)
    ]  # fmt: skip


def retentions(models: Sequence[str], methods: Sequence[str]) -> list[Any]:
    return [
        SimpleNamespace(
            dataset="d", model=model, prefix="f-1", solver=solver, method=method, pairs=1456,
            difference=n / 10 - 0.3, difference_low=n / 10 - 0.4, difference_high=n / 10 - 0.2,
        )
        for model in models
        for solver in ("cot", "pot")
        for n, method in enumerate(methods)
    ]  # fmt: skip


def real_blend(path: Path) -> Figure:
    found = find_blends(read_outputs(path, OutputFields()), load_patterns("f1"))
    return figures.draw_blend(found.rows, found.retention)


METHODS = ["CoT", "PoT", "FP/F-1"]
MANY = [*METHODS, "a method with a long name", "Tree-of-Thoughts", "Self-Consistency", "M7"]

DRAWN = [
    pytest.param(lambda: figures.draw_prevalence(counts(1, METHODS, 12, False)), id="prevalence"),
    pytest.param(lambda: figures.draw_prevalence(counts(4, MANY, 20, True)), id="prevalence, many"),
    pytest.param(lambda: figures.draw_prevalence(counts(1, ["CoT"], 1, False)), id="one pattern"),
    pytest.param(lambda: figures.draw_strategies(shares(ROOT / "outputs")), id="strategies"),
    pytest.param(lambda: real_blend(ROOT / "outputs"), id="blend of the examples"),
    pytest.param(lambda: figures.draw_blend(blends(["a"], METHODS)), id="blend without pairs"),
    pytest.param(
        lambda: figures.draw_blend(blends(["a"], METHODS), retentions(["a"], METHODS)), id="blend"
    ),
    pytest.param(
        lambda: figures.draw_blend(blends(MODELS, MANY), retentions(MODELS, MANY)), id="blend, many"
    ),
]


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


@pytest.mark.parametrize("draw", DRAWN)
def test_no_label_covers_another_or_leaves_the_page(draw: Any) -> None:
    assert overlapping(draw()) == []


@pytest.mark.parametrize("draw", DRAWN)
def test_svg_is_xml_with_texts_and_the_same_twice(draw: Any, tmp_path: Path) -> None:
    one, two = tmp_path / "one.svg", tmp_path / "two.svg"
    figures.save_figure(draw(), one)
    figures.save_figure(draw(), two)
    assert one.read_bytes() == two.read_bytes()
    tree = ElementTree.parse(one)
    texts = "".join(tree.getroot().itertext())
    assert "CoT" in texts
    assert str(tmp_path) not in texts


def marks(figure: Figure, gid: str) -> int:
    from matplotlib.collections import PathCollection
    from numpy import asarray

    found = [c for axes in figure.axes for c in axes.collections if c.get_gid() == gid]
    return sum(len(asarray(c.get_offsets())) for c in found if isinstance(c, PathCollection))


def lines(figure: Figure, gid: str) -> int:
    return sum(1 for axes in figure.axes for line in axes.lines if line.get_gid() == gid)


def test_each_row_has_a_mark() -> None:
    rows = counts(3, METHODS, 20, True)
    figure = figures.draw_prevalence(rows)
    assert marks(figure, "points") == len(rows)
    assert lines(figure, "interval") == sum(row.occurrences > 0 for row in rows)
    assert lines(figure, "mean") == 9
    of_outputs = shares(ROOT / "outputs")
    assert len(figures.draw_strategies(of_outputs).axes[0].patches) == len(of_outputs)
    blend = figures.draw_blend(blends(["a"], METHODS), retentions(["a"], METHODS))
    cells = [text.get_text() for axes in blend.axes for text in axes.texts if text.get_gid()]
    assert len(cells) == 2 * 5 * 3
    assert cells[:6] == ["0", "33", "67", "–", "–", "–"]
    assert marks(blend, "points") == lines(blend, "interval") == 6


def test_zeros_are_drawn_left_of_all_counts() -> None:
    from numpy import asarray

    rows = counts(1, ["CoT"], 30, False)
    (axes,) = figures.draw_prevalence(rows).axes
    (points,) = [c for c in axes.collections if c.get_gid() == "points"]
    at = asarray(points.get_offsets())[:, 0]
    zeros = [x for x, row in zip(at, rows, strict=True) if not row.occurrences]
    others = [x for x, row in zip(at, rows, strict=True) if row.occurrences]
    assert len(set(zeros)) == 1
    assert zeros[0] < min(others)
    assert axes.get_xlim()[0] < zeros[0]
    assert axes.get_xticklabels()[0].get_text() == "0"
    all_zero = [row for row in rows if not row.occurrences]
    assert overlapping(figures.draw_prevalence(all_zero)) == []


def test_only_the_rows_of_all_models_are_drawn_where_there_are_some() -> None:
    rows = [*blends(MODELS, METHODS), *blends(["all"], METHODS)]
    assert len(figures.draw_blend(rows).axes[0].get_yticks()) == 5


def test_texts_of_any_script_are_no_warning(tmp_path: Path) -> None:
    row = CountRow("x", "ตัวอย่าง", "T1", "narrative", "答え", "答え\n$", 3, None, "s", "t")
    figures.save_figure(figures.draw_prevalence([row]), tmp_path / "a.png")
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")
    figures.save_figure(figures.draw_prevalence([row]), tmp_path / "a.svg")
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
        figures.draw_prevalence(counts(1, METHODS, 12, False))
    assert list(tmp_path.iterdir()) == []


def test_count_draws_its_rows(tmp_path: Path) -> None:
    (tmp_path / "c.txt").write_text("step by step, print(answer), key variables", encoding="utf-8")
    spec = f"scan:{tmp_path / 'c.txt'}"
    more = ("--tier", "T1", "--figure", tmp_path / "c.png", "-o", tmp_path / "c.csv")
    ran = run("count", "f1", "--index", spec, *more)
    assert (ran.code, ran.stdout) == (0, "")
    assert (tmp_path / "c.png").read_bytes().startswith(b"\x89PNG")
    ran = run("count", "f1", "--index", spec, "--figure", tmp_path / "c.jpg")
    assert (ran.code, ran.stdout) == (2, "")
    assert ran.stderr.endswith("c.jpg: a figure's name ends in .svg or .png\n")
