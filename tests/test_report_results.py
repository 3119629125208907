"""Rows that a page reads: recognised by their columns, and read back from every format."""

import json
from dataclasses import fields, replace
from pathlib import Path
from typing import Any, get_type_hints

import pandas as pd
import pytest

from evalcore.commands.agreement import AgreementRow, VoteRow
from evalcore.commands.audit import AuditRow
from evalcore.commands.compare import AverageRow, CompareRow
from evalcore.commands.efficiency import EfficiencyRow
from evalcore.commands.link import LinkRow, RankRow
from evalcore.commands.outcomes import AnswersRow, OutcomeRow, WinRow
from evalcore.commands.show import ShowRow
from evalcore.judge_sample import LabelShareRow
from evalcore.prevalence_links import SlopeRow
from evalcore.scores import ScoreRow
from ngramscan.errors import InputError
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
from ngramscan.prevalence.token_count import TokenCountRow
from ngramscan.prevalence.token_docnorm import TokenDocnormRow
from ngramscan.prevalence.trace import SpanRow, TraceRow
from ngramscan.prevalence.trace_methods import CurveRow, DifferenceRow
from ngramscan.reporting.page.results import read_results
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
    "Outputs for a problem, side by side": (ShowRow,),
    "Scores of answers": (ScoreRow,),
    "Differences of methods": (CompareRow,),
    "Average differences of methods": (AverageRow,),
    "Joint outcomes of the adaptive method and its baselines": (OutcomeRow,),
    "Accuracy where two methods agree": (AnswersRow,),
    "Wins, ties and losses": (WinRow,),
    "Accuracy and tokens": (EfficiencyRow,),
    "Estimated shares of the judges' labels": (LabelShareRow,),
    "Agreement of judges": (AgreementRow,),
    "Votes on each item": (VoteRow,),
    "Published figures, recomputed": (AuditRow,),
    "Prevalence and accuracy of pairs of methods": (LinkRow,),
    "Prevalence and accuracy, ranks of methods": (RankRow,),
    "Accuracy per tenfold count": (SlopeRow,),
}
"""The row types of each kind, by its title."""


def hints_of(title: str) -> dict[str, Any]:
    """Return the columns of a kind's rows, with their types."""
    types = TYPES[title]
    row_type = together([], types)[1] if len(types) > 1 else types[0]
    return get_type_hints(row_type)


EMPTY = {"left", "right", "metadata", "note", "reason", "test", "tokens"}


def expected(row: Any, name: str) -> Any:
    """Return a value as a page has it: nothing, where the column is text, is said in one way."""
    value = getattr(row, name)
    return ("" if name in EMPTY else None) if value in {None, ""} else value


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
    with pytest.raises(InputError, match=r"other.csv: .* columns name, age; .* count, totals, "):
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
