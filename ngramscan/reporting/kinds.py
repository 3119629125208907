"""The kinds of rows that `report` knows: of this package, and of packages that add theirs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache
from importlib import import_module
from importlib.metadata import entry_points

from ngramscan.rows import RowKind, kind_of_type

ENTRY_POINTS = "ngramscan.rows"
"""The group of entry points by which packages name their row types; `row_types` is ours."""
ROW_TYPES = (
    "ngramscan.prevalence.count.CountRow",
    "ngramscan.prevalence.docnorm_totals.DocnormTotal",
    "ngramscan.prevalence.docnorm.DocnormRow",
    "ngramscan.prevalence.contexts.ContextRow",
    "ngramscan.prevalence.sources.SourceRow",
    "ngramscan.prevalence.contamination.contaminate.EntryRow",
    "ngramscan.prevalence.contamination.shares.ShareRow",
    "ngramscan.prevalence.contamination.effects.EffectRow",
    "ngramscan.prevalence.contamination.evidence.EvidenceRow",
    "ngramscan.prevalence.contamination.removals.RemovedRow",
    "ngramscan.prevalence.trace.TraceRow",
    "ngramscan.prevalence.trace_methods.CurveRow",
    "ngramscan.prevalence.trace_methods.DifferenceRow",
    "ngramscan.prevalence.trace_spans.SpanRow",
    "ngramscan.prevalence.span_documents.DocumentRow",
    "ngramscan.outputs.blend.BlendRow",
    "ngramscan.outputs.blend.PresenceRow",
    "ngramscan.outputs.blend.RetentionRow",
    "ngramscan.outputs.blend.IsolationRow",
    "ngramscan.outputs.tiers.TierRow",
    "ngramscan.outputs.keyness.KeynessRow",
    "ngramscan.outputs.strategies.StrategyRow",
    "ngramscan.outputs.strategies.OutputStrategyRow",
)
"""Our row types that have a kind, in the order of a page; those of other packages follow."""


@cache
def all_kinds() -> tuple[RowKind, ...]:
    """Return all kinds of rows, in the order of a page; their modules are imported."""
    others = [point.load() for point in sorted(entry_points(group=ENTRY_POINTS))]
    return tuple(kinds_of([*ROW_TYPES, *(name for row_types in others for name in row_types)]))


def kinds_of(names: Iterable[str]) -> Iterator[RowKind]:
    """Yield the kinds of row types by their dotted names; a type without a kind is an error."""
    for name in names:
        module, _, type_name = name.rpartition(".")
        kind = kind_of_type(getattr(import_module(module), type_name))
        if kind is None:
            raise TypeError(f"{name} has no kind; give it one with `row_kind`")
        yield kind


def kind_of(columns: Iterable[str]) -> RowKind | None:
    """Return the kind of rows with these columns; None: no command writes them.

    Rows of one kind may have all columns of another one: the most specific kind is theirs.
    """
    there = {*columns}
    fitting = [kind for kind in all_kinds() if kind.marks <= there]
    return max(fitting, key=lambda kind: len(kind.marks), default=None)
