"""Kinds of rows: recognised by their columns, against the row types of both packages."""

from __future__ import annotations

from dataclasses import fields
from typing import Any, get_args, get_type_hints

import pytest

from evalcore.agreement import AgreementRow, VoteRow
from evalcore.audit import AuditRow
from evalcore.benchmarks import CheckRow, DatasetRow, FetchRow
from evalcore.compare import AverageRow, CompareRow
from evalcore.efficiency import EfficiencyRow
from evalcore.judge import JudgeRow
from evalcore.link import LinkRow, RankRow
from evalcore.logs.readers import UsageRow
from evalcore.outcomes import OutcomeRow, WinRow
from evalcore.records import Record
from evalcore.scores import ScoreRow
from ngramscan.commands.patterns import PatternRow, PatternSetRow
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
from ngramscan.prevalence.draws import DrawRow
from ngramscan.prevalence.plan import PlanRow
from ngramscan.prevalence.token_count import TokenCountRow
from ngramscan.prevalence.token_docnorm import TokenDocnormRow
from ngramscan.prevalence.totals import Total
from ngramscan.report.page.kinds import KINDS, kind_of
from ngramscan.report.rows import together

TYPES: dict[str, tuple[type, ...]] = {
    "Counts": (CountRow,),
    "Counts over tokens": (TokenCountRow,),
    "Counts, over bytes and over tokens": (CountRow, TokenCountRow),
    "Totals of methods": (Total,),
    "Documents with each pattern": (DocnormRow,),
    "Documents with each pattern, over tokens": (TokenDocnormRow,),
    "Documents with each pattern, over bytes and over tokens": (DocnormRow, TokenDocnormRow),
    "Occurrences in context": (ContextRow,),
    "Contamination of each entry": (EntryRow,),
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
    assert kind.texts == hints.keys() - numbers
    assert kind.needs <= hints.keys()
    for plot in filter(None, (kind.plot, kind.token_plot)):
        assert {plot.value, plot.low, plot.high, plot.across} - {""} <= kind.numbers & kind.needs
        assert {*plot.panel, *plot.label, plot.series} - {""} <= kind.needs
        assert {*plot.panel, *plot.label} <= {*kind.labels, *kind.texts, "n"}
    assert {*kind.labels} <= kind.needs


def test_kinds_are_distinct() -> None:
    """No kind hides a later one, and rows with only the columns that are needed have one kind."""
    for number, kind in enumerate(KINDS):
        assert kind_of(kind.needs) is kind
        assert not any(kind.needs <= later.needs for later in KINDS[number + 1 :])
        for other in KINDS:
            if other.needs <= {*hints_of(kind.title)} and other is not kind:
                assert kind.token_plot  # it is one of the two that are joined


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
