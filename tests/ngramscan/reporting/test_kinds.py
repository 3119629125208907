"""Kinds of rows: recognised by their columns, and read back from every format with their types."""

import ast
import random
from collections.abc import Iterable, Iterator
from dataclasses import fields
from pathlib import Path
from types import NoneType
from typing import Any, get_args, get_type_hints

import pandas as pd
import pytest

from docs.row_tables import ROW_TYPES
from evalcore.commands.datasets import CheckRow, DatasetRow, FetchRow
from evalcore.commands.logs import UsageRow
from evalcore.judgements import JudgeRow
from evalcore.records import Record
from evalcore.scores import ScoreRow, SummaryRow
from ngramscan.commands.patterns import PatternRow, PatternSetRow
from ngramscan.indexes.catalog import IndexRow
from ngramscan.indexes.sizes import IndexInfo
from ngramscan.journal import JournalRow
from ngramscan.prevalence.draws import DrawRow
from ngramscan.prevalence.plan import PlanRow
from ngramscan.reporting.kinds import all_kinds, kind_of
from ngramscan.reporting.page.results import read_results
from ngramscan.reporting.rows import Target, to_bytes, to_frame
from ngramscan.rows import Plot, RowKind
from tests.support.places import ROOT
from tests.support.row_types import KIND_OF, TYPES, hints_of, numbers_of, type_named


def kind_with(columns: Iterable[str]) -> RowKind:
    """Return the kind of rows with some columns, which have one."""
    kind = kind_of(columns)
    assert kind is not None
    return kind


NEVER_IN_A_FILE = {SummaryRow}
"""Row types that are only printed and drawn."""


def types_with_a_kind() -> Iterator[type]:
    """Yield the row types with a decorator that gives them a kind, from the source of both."""
    for package in ("ngramscan", "evalcore"):
        for path in sorted((ROOT / package).rglob("*.py")):
            module = ".".join(path.relative_to(ROOT).with_suffix("").parts)
            for node in ast.parse(path.read_bytes()).body:
                if isinstance(node, ast.ClassDef) and "_kind" in decorators_of(node):
                    yield type_named(f"{module}.{node.name}")


def decorators_of(node: ast.ClassDef) -> str:
    return " ".join(map(ast.unparse, node.decorator_list))


def test_every_type_with_a_kind_is_listed() -> None:
    assert len(all_kinds()) == len(KIND_OF) == len(TYPES)
    listed = {parent for row_type in TYPES.values() for parent in row_type.__mro__}
    assert {*types_with_a_kind()} - listed == NEVER_IN_A_FILE, "add it to kinds.py or row_types.py"


def test_every_type_with_a_kind_has_a_table_in_the_docs() -> None:
    documented = {row_type.name for row_type in ROW_TYPES}
    names = {row_type.__name__ for row_type in {*types_with_a_kind()} - NEVER_IN_A_FILE}
    assert names - documented == set(), "add it to docs/row_tables.py"


@pytest.mark.parametrize("title", TYPES)
def test_rows_are_recognised_by_their_columns(title: str) -> None:
    hints = hints_of(title)
    assert kind_with(hints).title == title
    assert KIND_OF[title].needs <= hints.keys()


@pytest.mark.parametrize("title", TYPES)
def test_a_kind_knows_which_columns_are_numbers(title: str) -> None:
    numbers = {
        name
        for name, hint in hints_of(title).items()
        if {int, float, bool} & {hint, *get_args(hint)}
    }
    assert numbers_of(KIND_OF[title]) == numbers


@pytest.mark.parametrize(
    ("kind", "plot"),
    [
        pytest.param(kind, plot, id=f"{kind.title}: {plot.value} {number}")
        for kind in all_kinds()
        for number, plot in enumerate(kind.plots, 1)
    ],
)
def test_figures_have_places_of_numbers_and_names_of_texts(kind: RowKind, plot: Plot) -> None:
    places = {*plot.drawn}
    assert places <= numbers_of(kind) & kind.needs
    names = {*plot.panel, *plot.label, plot.series} - {""}
    assert names <= {*kind.needs, "group"}, "older rows have no group"


@pytest.mark.parametrize("title", TYPES)
def test_rows_with_no_more_than_a_kind_needs_are_of_that_kind(title: str) -> None:
    assert kind_with(KIND_OF[title].needs) is KIND_OF[title]


def test_no_kind_is_hidden_behind_an_earlier_one() -> None:
    within = {
        (kind.title, other.title)
        for kind in all_kinds()
        for other in all_kinds()
        if other is not kind and other.needs <= hints_of(kind.title).keys()
    }
    assert within == {
        ("Outputs for a problem, side by side", "Scores of answers"),
        ("Planned comparisons", "Power against the number of problems"),
    }
    place_of = {kind.title: place for place, kind in enumerate(all_kinds())}
    hidden = [(wide, narrow) for wide, narrow in within if place_of[wide] > place_of[narrow]]
    assert hidden == []


@pytest.mark.parametrize(
    "row_type",
    [
        DrawRow,
        PlanRow,
        PatternRow,
        PatternSetRow,
        JournalRow,
        IndexRow,
        IndexInfo,
        UsageRow,
        Record,
        DatasetRow,
        CheckRow,
        FetchRow,
    ],
)
def test_other_rows_have_no_kind(row_type: type) -> None:
    columns = get_type_hints(row_type)
    assert len(columns) > 1
    assert kind_of(columns) is None


def test_judged_scores_are_scores() -> None:
    assert kind_with(get_type_hints(JudgeRow)).name == "score"


LIKE_NUMBERS = ("42", "007", "1e5", "true", "nan", "None", "-0", "1_0", " 3 ", "½", "=1+1", "")


def made_value(hint: Any, dice: random.Random) -> Any:
    """Return a value that a column may have."""
    kinds = {hint, *get_args(hint)}
    if type(None) in kinds and dice.random() < 0.2:
        return None
    if bool in kinds:
        return dice.random() < 0.5
    if float in kinds:
        return dice.choice([0.0, -1.5, 1e-300, 0.1 + 0.2, 3.0, float("inf"), dice.random()])
    if int in kinds:
        return dice.choice([0, 7, 2**62, dice.randrange(1000)])
    return dice.choice([*LIKE_NUMBERS, "a\r\nb", "x\0\x1b[31m\u202e", "<script>\"'&,"])


def made_rows(title: str, n: int) -> tuple[list[Any], type[Any]]:
    """Return random rows of a kind, and their type."""
    dice, row_type = random.Random(title), TYPES[title]
    rows = []
    for _ in range(n):
        values = {name: made_value(hint, dice) for name, hint in get_type_hints(row_type).items()}
        if row_type is ScoreRow:
            values |= {"value": dice.choice([0.0, 0.25, 1.0]), "status": "scored"}
        if "unit" in KIND_OF[title].if_absent:
            values["unit"] = dice.choice(["bytes", "tokens"])
        rows.append(row_type(**values))
    return rows, row_type


def expected(row: Any, name: str, hint: object) -> Any:
    """Return a value as a page has it: of a text that may be unknown, an empty one is unknown."""
    value = getattr(row, name)
    return None if value == "" and NoneType in get_args(hint) else value


@pytest.mark.parametrize("suffix", ["csv", "jsonl", "json", "parquet", "data frame"])
@pytest.mark.parametrize("title", TYPES)
def test_every_format_is_read_back(title: str, suffix: str, tmp_path: Path) -> None:
    rows, row_type = made_rows(title, 30)
    names = [field.name for field in fields(row_type)]
    hints = get_type_hints(row_type)
    table: Path | pd.DataFrame = to_frame(rows, row_type)
    if suffix != "data frame":
        table = tmp_path / f"rows.{suffix}"
        table.write_bytes(to_bytes(rows, row_type, Target(suffix)))
    results = read_results(table)
    assert results.kind.title == title
    assert [*results.columns] == names
    assert (results.left_out, results.run) == (0, None)
    assert results.name == ("data frame" if suffix == "data frame" else str(table))
    wanted = [{name: expected(row, name, hints[name]) for name in names} for row in rows]
    assert [{name: read[name] for name in names} for read in results.rows] == wanted
    numbers, texts = {int, float, bool, NoneType}, {str, NoneType}
    allowed = {name: numbers if name in numbers_of(results.kind) else texts for name in names}
    read_types = {name: {type(read[name]) for read in results.rows} for name in names}
    wrong_types = {name: types for name, types in read_types.items() if types - allowed[name]}
    assert wrong_types == {}
