"""The row type of each kind of results, and its columns."""

from typing import Any, get_type_hints

from evalcore.commands.agreement import AgreementRow, VoteRow
from evalcore.commands.link import LinkRow, RankRow
from evalcore.commands.plan import PlanRow, PowerCurveRow
from evalcore.commands.rank import RankedRow
from evalcore.commands.show import ShowRow
from evalcore.compare_rows import AverageRow, CompareRow
from evalcore.efficiency_rows import EfficiencyRow
from evalcore.judge_sample import LabelShareRow
from evalcore.outcomes_rows import AnswersRow, OutcomeRow, WinRow
from evalcore.prevalence_links import SlopeRow
from evalcore.scores import ScoreRow
from ngramscan.outputs.blend import BlendRow, IsolationRow, PresenceRow, RetentionRow
from ngramscan.outputs.keyness import KeynessRow
from ngramscan.outputs.strategies import OutputStrategyRow, StrategyRow
from ngramscan.outputs.tiers import TierRow
from ngramscan.prevalence.contamination.contaminate import EntryRow
from ngramscan.prevalence.contamination.effects import EffectRow
from ngramscan.prevalence.contamination.shares import ShareRow
from ngramscan.prevalence.contexts import ContextRow
from ngramscan.prevalence.count import CountRow
from ngramscan.prevalence.docnorm import DocnormRow
from ngramscan.prevalence.docnorm_totals import DocnormTotal
from ngramscan.prevalence.trace import SpanRow, TraceRow
from ngramscan.prevalence.trace_methods import CurveRow, DifferenceRow
from ngramscan.reporting.kinds import all_kinds
from ngramscan.rows import RowKind

KIND_OF = {kind.title: kind for kind in all_kinds()}
"""Kinds of results, by their titles."""

TYPES: dict[str, type] = {
    "Counts": CountRow,
    "Totals of methods": DocnormTotal,
    "Documents with each pattern": DocnormRow,
    "Occurrences in context": ContextRow,
    "Contamination of each entry": EntryRow,
    "Coverage of outputs by length of spans": CurveRow,
    "Differences of what prompts copy": DifferenceRow,
    "Parts of outputs that the corpus has": SpanRow,
    "How much of each output is in the corpus": TraceRow,
    "Contaminated shares of the benchmark": ShareRow,
    "Scores on clean and on contaminated entries": EffectRow,
    "Outputs with markers of each method": BlendRow,
    "Outputs with each pattern": PresenceRow,
    "Markers that outputs keep with a solver": RetentionRow,
    "Markers in outputs of their own method and of others": IsolationRow,
    "Specificity of each pattern": TierRow,
    "Key n-grams of the method": KeynessRow,
    "Strategies of outputs": StrategyRow,
    "Strategy of each output": OutputStrategyRow,
    "Outputs for a problem, side by side": ShowRow,
    "Scores of answers": ScoreRow,
    "Differences of methods": CompareRow,
    "Average differences of methods": AverageRow,
    "Joint outcomes of the adaptive method and its baselines": OutcomeRow,
    "Accuracy where two methods agree": AnswersRow,
    "Wins, ties and losses": WinRow,
    "Accuracy and tokens": EfficiencyRow,
    "Estimated shares of the judges' labels": LabelShareRow,
    "Agreement of judges": AgreementRow,
    "Votes on each item": VoteRow,
    "Prevalence and accuracy of pairs of methods": LinkRow,
    "Prevalence and accuracy, ranks of methods": RankRow,
    "Accuracy per tenfold count": SlopeRow,
    "Ranks": RankedRow,
    "Planned comparisons": PlanRow,
    "Power against the number of problems": PowerCurveRow,
}
"""The row type of each kind, by its title."""


def hints_of(title: str) -> dict[str, Any]:
    """Return the columns of a kind's rows, with their types."""
    return get_type_hints(TYPES[title])


def numbers_of(kind: RowKind) -> set[str]:
    """Return the columns of a kind's rows that hold numbers or truth values."""
    return {column.name for column in kind.columns if column.is_number}
