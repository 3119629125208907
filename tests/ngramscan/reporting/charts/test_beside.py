"""Few marks have their names beside them, which cover no other mark."""

from xml.etree import ElementTree as ET

import pytest

from tests.support.drawn_rows import SVG, efficiency, marks, of_class, only, places, title_of


def names_beside(root: ET.Element) -> list[ET.Element]:
    """Return what holds the name of each mark, if names are beside marks."""
    return [
        part for part in root.iter(f"{SVG}svg") if part is not root and of_class(part, "series")
    ]


def test_names_are_beside_few_marks_and_in_a_legend_of_many() -> None:
    few = [efficiency(f"method {place}", place / 10, 100.0 * place, False) for place in range(1, 9)]
    _, root = only(few, "Accuracy and tokens")
    methods = [row["method"] for row in few]
    assert [title_of(mark).partition(":")[0] for mark in marks(root)] == methods
    names = names_beside(root)
    assert [of_class(name, "series")[0].text for name in names] == methods
    dots = [places(mark, "dot")[0] for mark in marks(root)]
    assert [name.attrib["x"] for name in names] == [f"{x:g}%" for x, _ in dots]
    heights = [float(name.attrib["y"]) for name in names]
    assert heights == pytest.approx([y for _, y in dots], abs=12)
    many = [*few, efficiency("method 9", 0.9, 900.0, False)]
    _, root = only(many, "Accuracy and tokens")
    assert names_beside(root) == []
    legend = of_class(root, "series")
    assert len({name.attrib["x"] for name in legend}) == 1
    assert len(legend) == len(many)


def test_names_cover_neither_each_other_nor_other_marks() -> None:
    close = [efficiency(f"method {place}", 0.5, 100.0, False) for place in range(4)]
    _, root = only(close, "Accuracy and tokens")
    sides = {
        (name.attrib["y"], of_class(name, "series")[0].attrib["text-anchor"])
        for name in names_beside(root)
    }
    assert len(sides) == len(close)
