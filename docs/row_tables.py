"""The columns of rows as tables, from the source: docs/rows.md and docs/evaluation-rows.md."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple


class RowType(NamedTuple):
    """Rows of one kind: the package, the commands that make them, and where their type is."""

    package: str
    commands: str
    module: str
    name: str

    @property
    def path(self) -> Path:
        """The source, seen from the root of the checkout."""
        return Path(self.package) / self.module


ROW_TYPES = (
    RowType("ngramscan", "count", "prevalence/count.py", "CountRow"),
    RowType("ngramscan", "count --totals, docnorm --totals", "prevalence/totals.py", "Total"),
    RowType(
        "ngramscan",
        "docnorm --totals, further columns",
        "prevalence/docnorm_totals.py",
        "DocnormTotal",
    ),
    RowType("ngramscan", "docnorm", "prevalence/docnorm.py", "DocnormRow"),
    RowType("ngramscan", "docnorm --drawn", "prevalence/draws.py", "DrawRow"),
    RowType(
        "ngramscan",
        "count, docnorm, contexts, sources, contaminate, trace --dry-run",
        "prevalence/plan.py",
        "PlanRow",
    ),
    RowType(
        "ngramscan", "contexts, contaminate --contexts", "prevalence/contexts.py", "ContextRow"
    ),
    RowType("ngramscan", "sources", "prevalence/sources.py", "SourceRow"),
    RowType("ngramscan", "contaminate", "prevalence/contamination/contaminate.py", "EntryRow"),
    RowType("ngramscan", "contaminate --shares", "prevalence/contamination/shares.py", "ShareRow"),
    RowType(
        "ngramscan", "contaminate --effects", "prevalence/contamination/effects.py", "EffectRow"
    ),
    RowType(
        "ngramscan", "contaminate --evidence", "prevalence/contamination/evidence.py", "EvidenceRow"
    ),
    RowType(
        "ngramscan", "contaminate --removed", "prevalence/contamination/removals.py", "RemovedRow"
    ),
    RowType("ngramscan", "trace", "prevalence/trace.py", "TraceRow"),
    RowType("ngramscan", "trace --spans", "prevalence/trace_spans.py", "SpanRow"),
    RowType(
        "ngramscan",
        "trace --spans, with --rank rarity",
        "prevalence/trace_spans.py",
        "RareSpanRow",
    ),
    RowType("ngramscan", "trace --retrieved", "prevalence/span_documents.py", "DocumentRow"),
    RowType("ngramscan", "trace --curve", "prevalence/trace_methods.py", "CurveRow"),
    RowType("ngramscan", "trace --differences", "prevalence/trace_methods.py", "DifferenceRow"),
    RowType("ngramscan", "blend", "outputs/blend.py", "BlendRow"),
    RowType("ngramscan", "blend --presence", "outputs/blend.py", "PresenceRow"),
    RowType("ngramscan", "blend --retention", "outputs/blend.py", "RetentionRow"),
    RowType("ngramscan", "blend --isolation", "outputs/blend.py", "IsolationRow"),
    RowType("ngramscan", "tiers", "outputs/tiers.py", "TierRow"),
    RowType("ngramscan", "keyness", "outputs/keyness.py", "KeynessRow"),
    RowType("ngramscan", "strategies", "outputs/strategies.py", "StrategyRow"),
    RowType("ngramscan", "strategies --per-output", "outputs/strategies.py", "OutputStrategyRow"),
    RowType("ngramscan", "patterns list", "commands/patterns.py", "PatternSetRow"),
    RowType("ngramscan", "patterns show", "commands/patterns.py", "PatternRow"),
    RowType("ngramscan", "journal info, journal clear", "journal.py", "JournalRow"),
    RowType("ngramscan", "index list", "indexes/catalog.py", "IndexRow"),
    RowType("ngramscan", "index list --live", "indexes/listing.py", "ListedIndexRow"),
    RowType("ngramscan", "index info", "indexes/sizes.py", "IndexInfo"),
    RowType("ngramscan", "index build", "index_files/fm9/build.py", "BuildRow"),
    RowType(
        "ngramscan", "index build -o tokens:DIR", "index_files/tokens/build.py", "TokenBuildRow"
    ),
    RowType("ngramscan", "index verify", "index_files/findings.py", "Finding"),
    RowType("evalcore", "datasets list", "commands/datasets.py", "DatasetRow"),
    RowType("evalcore", "datasets check", "commands/datasets.py", "CheckRow"),
    RowType("evalcore", "datasets fetch", "commands/datasets.py", "FetchRow"),
    RowType("evalcore", "run (lines of outputs)", "records.py", "Record"),
    RowType("evalcore", "score, logs", "scores.py", "ScoreRow"),
    RowType("evalcore", "logs --usage", "commands/logs/readers.py", "UsageRow"),
    RowType("evalcore", "judge (the columns of score, and)", "judgements.py", "JudgeRow"),
    RowType("evalcore", "judge --shares", "judge_sample.py", "LabelShareRow"),
    RowType("evalcore", "compare", "compare_rows.py", "CompareRow"),
    RowType("evalcore", "compare --averages", "compare_rows.py", "AverageRow"),
    RowType("evalcore", "plan", "commands/plan.py", "PlanRow"),
    RowType("evalcore", "plan --curve", "commands/plan.py", "PowerCurveRow"),
    RowType("evalcore", "rank", "commands/rank.py", "RankedRow"),
    RowType("evalcore", "outcomes", "outcomes_rows.py", "OutcomeRow"),
    RowType("evalcore", "outcomes --wins", "outcomes_rows.py", "WinRow"),
    RowType("evalcore", "outcomes --agreements", "outcomes_rows.py", "AnswersRow"),
    RowType("evalcore", "efficiency", "efficiency_rows.py", "EfficiencyRow"),
    RowType("evalcore", "show", "commands/show.py", "ShowRow"),
    RowType("evalcore", "agreement", "commands/agreement.py", "AgreementRow"),
    RowType("evalcore", "agreement --votes", "commands/agreement.py", "VoteRow"),
    RowType("evalcore", "link", "commands/link.py", "LinkRow"),
    RowType("evalcore", "link --ranks", "commands/link.py", "RankRow"),
    RowType("evalcore", "link --problems", "prevalence_links.py", "SlopeRow"),
)
"""Every row type, in the order of the pages."""
TYPES = {
    "str": "string",
    "int": "integer",
    "WholeNumber": "integer",
    "float": "number",
    "bool": "boolean",
    "Label": "string",
    "Share": "number",
    "Points": "number",
    "_Difference": "number",
    "PValue": "number",
    "HolmP": "number",
    "AdjustedP": "number",
    "BenjaminiHochbergP": "number",
    "UnknownCount": "integer",
    "UnansweredCount": "integer",
    "None": "null",
    "dict[str, Any]": "object",
    "JsonFields": "object",
    "Source": "string",
    "Tier": "string",
    "EntryClass": "string",
    "Access": "string",
    "ListedStatus": "string",
}


def plain_type(annotation: ast.expr) -> str:
    """Return the type of a column without what it says besides: `Annotated[int, ...]` is int."""
    match annotation:
        case ast.Subscript(value=ast.Name(id="Annotated"), slice=ast.Tuple(elts=[inner, *_])):
            return plain_type(inner)
    return ast.unparse(annotation)


def columns(row_type: RowType) -> Iterator[tuple[str, str, str]]:
    """Yield the columns of a row type, their types, and what its source says of each."""
    tree = ast.parse(row_type.path.read_text(encoding="utf-8"))
    found = next(node for node in tree.body if getattr(node, "name", "") == row_type.name)
    assert isinstance(found, ast.ClassDef)
    for node, after in zip(found.body, [*found.body[1:], None], strict=True):
        if isinstance(node, ast.AnnAssign):
            words = ""
            if isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant):
                words = " ".join(str(after.value.value).split()).replace("None", "null")
            kinds = [TYPES[part.strip()] for part in plain_type(node.annotation).split("|")]
            yield ast.unparse(node.target), " or ".join(kinds), words.replace("|", "\\|")


def table(row_type: RowType) -> str:
    """Return the table of a row type as Markdown; columns whose names say all follow it."""
    found = list(columns(row_type))
    lines = ["| column | type | meaning |", "|---|---|---|"]
    lines += [f"| `{name}` | {kind} | {words} |" for name, kind, words in found if words]
    plain = ", ".join(f"`{name}`" for name, _, words in found if not words)
    if len(lines) == 2:
        return f"Columns: {plain}."
    return "\n".join([*lines, *([f"\nAlso: {plain}."] if plain else [])])
