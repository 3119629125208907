"""Files of figures: the charts of a page, the same bytes twice, and painted as they are drawn."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from ngramscan.errors import InputError
from ngramscan.indexes.base import IndexSize
from ngramscan.prevalence.count import CountRow
from ngramscan.reporting.charts.files import check_target, save_figure

if TYPE_CHECKING:
    pass

ROW = CountRow("x", "ตัวอย่าง", "T1", "narrative", "答え", "答え\n$", 3, None, "s", "t")


def test_texts_of_any_script_are_no_warning(tmp_path: Path) -> None:
    save_figure(tmp_path / "a.png", [ROW])
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")
    save_figure(tmp_path / "a.svg", [ROW])
    assert "答え" in (tmp_path / "a.svg").read_text()


def test_what_cannot_be_drawn_is_said_first(tmp_path: Path, monkeypatch: Any) -> None:
    with pytest.raises(InputError, match=r"a.gif: a figure's name ends in .svg, .png or .pdf"):
        check_target(tmp_path / "a.gif")
    with pytest.raises(InputError, match="no such folder"):
        check_target(tmp_path / "none" / "a.svg")
    with pytest.raises(InputError, match="nothing to draw"):
        save_figure(tmp_path / "a.svg", [])
    with pytest.raises(ValueError, match="no figure for rows of documents, bytes"):
        save_figure(tmp_path / "a.svg", [IndexSize()])
    monkeypatch.setitem(sys.modules, "matplotlib", None)  # only pictures of pixels need it
    save_figure(tmp_path / "a.svg", [ROW])
    assert [path.name for path in tmp_path.iterdir()] == ["a.svg"]
