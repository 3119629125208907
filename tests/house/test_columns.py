"""Columns that no test names are found, and every row type is looked at."""

import ast
from pathlib import Path

import pytest

from docs.row_tables import ROW_TYPES, RowType
from tests.house.columns import columns_without_test, named_texts
from tests.support.places import ROOT

KEYNESS = RowType("ngramscan", "keyness", "outputs/keyness.py", "KeynessRow")
NOT_WRITTEN = {
    "GroupedRow": "a ScoreRow with its group, while it is compared",
    "MessageRow": "what --dry-run shows of a prompt, on the screen only",
    "SummaryRow": "a line of the screen of score",
}


def missing(path: str, source: str) -> list[str]:
    modules = {f"{path}\n{source}": set(named_texts(ast.parse(source)))}
    lines = columns_without_test(KEYNESS, modules)
    return [line.rpartition(".")[2] for line in lines]


@pytest.mark.parametrize(
    ("path", "source"),
    [
        pytest.param("tests/test_keyness.py", "assert row.log_ratio == 1", id="an attribute"),
        pytest.param("tests/test_keyness.py", 'assert row["log_ratio"] == 1', id="a key"),
        pytest.param("tests/test_keyness.py", "assert same(log_ratio=1)", id="an argument"),
        pytest.param("tests/test_x.py", "KeynessRow\nassert a.log_ratio == 1", id="by its type"),
        pytest.param("tests/test_x.py", 'invoke("keyness")\na.log_ratio', id="by its command"),
    ],
)
def test_a_column_that_a_test_of_its_command_names_is_not_listed(path: str, source: str) -> None:
    assert "log_ratio" not in missing(path, source)


@pytest.mark.parametrize(
    ("path", "source"),
    [
        pytest.param("tests/test_blend.py", "assert row.log_ratio == 1", id="in other tests"),
        pytest.param("tests/test_keyness.py", "make(log_ratio=1)", id="as what is put in"),
        pytest.param("tests/test_keyness.py", 'assert row["log_ratio_low"] == 1', id="in part"),
        pytest.param("tests/test_keyness.py", "log_ratio = 1", id="as a variable"),
    ],
)
def test_a_column_that_no_test_of_its_command_names_is_listed(path: str, source: str) -> None:
    assert "log_ratio" in missing(path, source)


def test_every_row_type_is_looked_at() -> None:
    named = {
        (path.relative_to(ROOT), node.name)
        for package in ("evalcore", "ngramscan")
        for path in (ROOT / package).rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ClassDef) and node.name.endswith("Row")
    }
    listed = {(row_type.path, row_type.name) for row_type in ROW_TYPES}
    others = {name for _, name in named - listed}
    assert others == set(NOT_WRITTEN)
    assert all(Path(row_type.path).is_file() for row_type in ROW_TYPES)
