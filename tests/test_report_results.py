"""Rows that a page reads: recognised by their columns, and read back from every format."""

from __future__ import annotations

import csv
import json
import random
import time
from dataclasses import fields, replace
from pathlib import Path
from typing import Any, get_args, get_type_hints

import pandas as pd
import pytest

from evalcore.benchmarks import CheckRow, DatasetRow, FetchRow
from evalcore.commands.agreement import AgreementRow, VoteRow
from evalcore.commands.audit import AuditRow
from evalcore.commands.compare import AverageRow, CompareRow
from evalcore.commands.efficiency import EfficiencyRow
from evalcore.commands.judge import JudgeRow
from evalcore.commands.link import LinkRow, RankRow
from evalcore.commands.logs.readers import UsageRow
from evalcore.commands.outcomes import OutcomeRow, WinRow
from evalcore.records import Record
from evalcore.scores import ScoreRow
from ngramscan.commands.patterns import PatternRow, PatternSetRow
from ngramscan.errors import InputError
from ngramscan.indexes.catalog import IndexRow
from ngramscan.indexes.sizes import IndexInfo
from ngramscan.journal import JournalRow
from ngramscan.outputs.blend import BlendRow, IsolationRow, PresenceRow, RetentionRow
from ngramscan.outputs.keyness import KeynessRow
from ngramscan.outputs.strategies import OutputStrategyRow, StrategyRow
from ngramscan.outputs.tiers import TierRow
from ngramscan.prevalence.contaminate import EntryRow
from ngramscan.prevalence.contamination_effects import EffectRow
from ngramscan.prevalence.contamination_shares import ShareRow
from ngramscan.prevalence.contexts import ContextRow
from ngramscan.prevalence.count import CountRow
from ngramscan.prevalence.docnorm import DocnormRow
from ngramscan.prevalence.docnorm_totals import DocnormTotal
from ngramscan.prevalence.draws import DrawRow
from ngramscan.prevalence.plan import PlanRow
from ngramscan.prevalence.token_count import TokenCountRow
from ngramscan.prevalence.token_docnorm import TokenDocnormRow
from ngramscan.prevalence.trace import SpanRow, TraceRow
from ngramscan.prevalence.trace_methods import CurveRow, DifferenceRow
from ngramscan.reporting.kinds import KINDS, kind_of
from ngramscan.reporting.page.results import MOST_ROWS, read_results
from ngramscan.reporting.rows import Target, to_bytes, to_frame, together

TYPES: dict[str, tuple[type, ...]] = {
    "Counts": (CountRow,),
    "Counts over tokens": (TokenCountRow,),
    "Counts, over bytes and over tokens": (CountRow, TokenCountRow),
    "Totals of methods": (DocnormTotal,),
    "Documents with each pattern": (DocnormRow,),
    "Documents with each pattern, over tokens": (TokenDocnormRow,),
    "Documents with each pattern, over bytes and over tokens": (DocnormRow, TokenDocnormRow),
    "Occurrences in context": (ContextRow,),
    "Contamination of each entry": (EntryRow,),
    "Coverage of outputs by length of spans": (CurveRow,),
    "Differences of what prompts copy": (DifferenceRow,),
    "Parts of outputs that the corpus has": (SpanRow,),
    "How much of each output is in the corpus": (TraceRow,),
    "Contaminated shares of the benchmark": (ShareRow,),
    "Scores on clean and on contaminated entries": (EffectRow,),
    "Outputs with markers of each method": (BlendRow,),
    "Outputs with each pattern": (PresenceRow,),
    "Markers that outputs keep with a solver": (RetentionRow,),
    "Markers in outputs of their own method and of others": (IsolationRow,),
    "Specificity of each pattern": (TierRow,),
    "Key n-grams of the method": (KeynessRow,),
    "Strategies of outputs": (StrategyRow,),
    "Strategy of each output": (OutputStrategyRow,),
    "Scores of answers": (ScoreRow,),
    "Differences of methods": (CompareRow,),
    "Average differences of methods": (AverageRow,),
    "Joint outcomes of the adaptive method and its baselines": (OutcomeRow,),
    "Wins, ties and losses": (WinRow,),
    "Accuracy and tokens": (EfficiencyRow,),
    "Agreement of judges": (AgreementRow,),
    "Votes on each item": (VoteRow,),
    "Published figures, recomputed": (AuditRow,),
    "Prevalence and accuracy of pairs of methods": (LinkRow,),
    "Prevalence and accuracy, ranks of methods": (RankRow,),
}
"""The row types of each kind, by its title."""


def hints_of(title: str) -> dict[str, Any]:
    """Return the columns of a kind's rows, with their types."""
    types = TYPES[title]
    row_type = together([], types)[1] if len(types) > 1 else types[0]
    return get_type_hints(row_type)


def test_every_kind_is_listed() -> None:
    assert len(KINDS) == len(TYPES)
    assert {kind.title for kind in KINDS} == {*TYPES}


@pytest.mark.parametrize("title", TYPES)
def test_rows_are_recognised_by_their_columns(title: str) -> None:
    hints = hints_of(title)
    kind = kind_of(hints)
    assert kind is not None
    assert kind.title == title
    numbers = {n for n, hint in hints.items() if {int, float, bool} & {hint, *get_args(hint)}}
    assert kind.numbers == numbers
    assert kind.needs <= hints.keys()
    for plot in kind.plots:
        assert {plot.value, plot.low, plot.high, plot.across, *plot.across_limits} - {
            ""
        } <= kind.numbers & kind.needs
        assert {*plot.panel, *plot.label, plot.series} - {""} <= kind.needs
        assert {*plot.panel, *plot.label} <= {*kind.needs - kind.numbers, "n"}
    assert {*kind.labels} <= kind.needs


def test_kinds_are_distinct() -> None:
    """No kind hides a later one, and rows with only the columns that are needed have one kind."""
    for number, kind in enumerate(KINDS):
        assert kind_of(kind.needs) is kind
        assert not any(kind.needs <= later.needs for later in KINDS[number + 1 :])
        for other in KINDS:
            if other.needs <= {*hints_of(kind.title)} and other is not kind:
                assert len(kind.plots) == 2  # it is one of the two that are joined


@pytest.mark.parametrize(
    "row_type",
    [
        *(DrawRow, PlanRow, PatternRow, PatternSetRow, JournalRow, IndexRow, IndexInfo),
        *(UsageRow, Record, DatasetRow, CheckRow, FetchRow),
    ],
)
def test_other_rows_have_no_kind(row_type: Any) -> None:
    names = getattr(row_type, "__struct_fields__", None) or [f.name for f in fields(row_type)]
    assert len(names) > 1
    assert kind_of(names) is None


def test_judged_scores_are_scores() -> None:
    kind = kind_of(get_type_hints(JudgeRow))
    assert kind is not None
    assert kind.name == "score"


LIKE_NUMBERS = ("42", "007", "1e5", "true", "nan", "None", "-0", "1_0", " 3 ", "½", "=1+1", "")
EMPTY = {"left", "right", "metadata", "note", "reason", "test", "tokens"}


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
    dice, types = random.Random(title), TYPES[title]
    rows = []
    for one in types * n:
        hints = get_type_hints(one).items()
        values = {name: made_value(hint, dice) for name, hint in hints}
        valid = {"value": dice.choice([0.0, 0.25, 1.0]), "status": "scored"}
        rows.append(one(**values | valid if one is ScoreRow else values))
    found, row_type = together(rows, types)
    return list(found), row_type


def expected(row: Any, name: str) -> Any:
    """Return a value as a page has it: nothing, where the column is text, is said in one way."""
    value = getattr(row, name)
    return ("" if name in EMPTY else None) if value in {None, ""} else value


@pytest.mark.parametrize("title", TYPES)
def test_every_format_is_read_back(title: str, tmp_path: Path) -> None:
    rows, row_type = made_rows(title, 30)
    names = [field.name for field in fields(row_type)]
    wanted = [{name: expected(row, name) for name in names} for row in rows]
    tables: list[Any] = [to_frame(rows, row_type)]
    for suffix in ("csv", "jsonl", "json", "parquet"):
        tables.append(tmp_path / f"rows.{suffix}")
        tables[-1].write_bytes(to_bytes(rows, row_type, Target(suffix)))
    for table in tables:
        results = read_results(table)
        assert results.kind.title == title
        assert [*results.columns] == names
        assert (results.left_out, results.run) == (0, None)
        assert results.name == ("data frame" if isinstance(table, pd.DataFrame) else str(table))
        for read, row in zip(results.rows, wanted, strict=True):
            assert read == row
            for name, value in read.items():
                kinds = (int, float, bool) if name in results.kind.numbers else (str,)
                assert value is None or type(value) in kinds


COUNTED = CountRow("i", "cot", "T1", None, "42", "007", 5, None, "scan", "2026-01-01T00:00:00Z")


def test_missing_numbers_are_none_in_every_frame() -> None:
    frame = pd.DataFrame([{"documents": float("nan")}, {"documents": 3.0}])
    for field in fields(CountRow):
        if field.name != "documents":
            frame[field.name] = getattr(COUNTED, field.name)
    frame["pattern"] = 42  # as pandas reads CSV
    results = read_results(frame)
    assert [row["documents"] for row in results.rows] == [None, 3.0]
    assert [row["pattern"] for row in results.rows] == ["42", "42"]


def test_columns_that_users_added_are_texts(tmp_path: Path) -> None:
    path = tmp_path / "counts.jsonl"
    values = to_frame([COUNTED], CountRow).astype(object).where(lambda one: one.notna(), None)
    row = values.iloc[0].to_dict() | {"mine": "007", "list": [1, "é"]}
    path.write_text(json.dumps(row))
    found = read_results(path).rows[0]
    assert found["mine"] == "007"
    assert found["list"] == '[1, "é"]'


@pytest.mark.parametrize("bad", ["many", "1_000", "9" * 5000, "0x1"])
def test_what_is_no_number_is_refused_with_its_place(bad: str, tmp_path: Path) -> None:
    path = tmp_path / "counts.csv"
    text = to_bytes(
        [COUNTED, replace(COUNTED, occurrences=98765)], CountRow, Target("csv")
    ).decode()
    path.write_text(text.replace("98765", bad))
    with pytest.raises(InputError, match=r"counts.csv:3: occurrences: .* is not a number") as found:
        read_results(path)
    assert len(str(found.value)) < len(str(path)) + 150


def test_unknown_columns_are_named_with_what_was_expected(tmp_path: Path) -> None:
    path = tmp_path / "other.csv"
    path.write_text("name,age\nx,3\n")
    with pytest.raises(InputError, match=r"other.csv: .* rows of name, age; .* count, docnorm, "):
        read_results(path)
    path.write_bytes(
        to_bytes([COUNTED], CountRow, Target("csv")).replace(b"occurrences,", b"hits,")
    )
    with pytest.raises(InputError, match=r"rows of `count` also have occurrences$"):
        read_results(path)
    path.write_text(",".join(f"{n}{'x' * 500}" for n in range(500)) + "\n" + "1," * 499 + "1\n")
    with pytest.raises(InputError) as found:
        read_results(path)
    assert len(str(found.value)) < len(str(path)) + 1200
    path.with_suffix(".jsonl").write_text(
        '{"item": "a", "label": "x", "votes": 2, "judges": 3}\n{}'
    )
    with pytest.raises(InputError, match=r"other.jsonl:2: it lacks item, judges, label, votes"):
        read_results(path.with_suffix(".jsonl"))


def test_long_tables_and_long_texts(tmp_path: Path) -> None:
    path = tmp_path / "long.csv"
    header, line = to_bytes([COUNTED], CountRow, Target("csv")).splitlines()
    path.write_bytes(b"\n".join([header, *[line] * 200_000]))
    started = time.monotonic()
    results = read_results(path)
    assert time.monotonic() - started < 30
    assert (len(results.rows), results.left_out) == (MOST_ROWS, 200_000 - MOST_ROWS)
    limit = csv.field_size_limit()
    text = "<script>\x1b" * 100_000
    path.write_bytes(to_bytes([replace(COUNTED, pattern=text)], CountRow, Target("csv")))
    assert read_results(path).rows[0]["pattern"] == text
    assert csv.field_size_limit() == limit
