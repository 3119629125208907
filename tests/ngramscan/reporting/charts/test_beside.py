"""Few marks have their names beside them, which cover no other mark."""

from tests.support.drawn_rows import SVG, efficiency, marks, of_class, only, title_of


def test_names_are_beside_few_marks_and_in_a_legend_of_many() -> None:
    few = [efficiency(f"method {place}", place / 10, 100.0 * place, False) for place in range(1, 9)]
    _, root = only(few, "Accuracy and tokens")
    beside = [one for one in root.iter(f"{SVG}svg") if of_class(one, "series")]
    named = [one for one in beside if one is not root]
    for row, mark, name in zip(few, marks(root), named[1:], strict=False):
        assert row["method"] in title_of(mark)
        assert name.attrib["x"].endswith("%")
    assert len(named) == len(few)
    many = [*few, efficiency("method 9", 0.9, 900.0, False)]
    _, root = only(many, "Accuracy and tokens")
    legend = of_class(root, "series")
    assert len({one.attrib["x"] for one in legend}) == 1
    assert len(legend) == len(many)


def test_names_cover_neither_each_other_nor_other_marks() -> None:
    close = [efficiency(f"method {place}", 0.5, 100.0, False) for place in range(4)]
    _, root = only(close, "Accuracy and tokens")
    named = [one for one in root.iter(f"{SVG}svg") if one is not root and of_class(one, "series")]
    places = {(one.attrib["y"], of_class(one, "series")[0].attrib["text-anchor"]) for one in named}
    assert len(places) == len(close)
