"""`ngramscan patterns`: the pattern sets that come with this package, and what is in one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

from ngramscan.commands.shared import SelectionOptions
from ngramscan.patterns.files import load_patterns, shipped_sets
from ngramscan.patterns.model import PathOrName, Pattern, PatternSet
from ngramscan.patterns.overlaps import describe_overlaps
from ngramscan.reporting.command import Option, Result, Shared, command
from ngramscan.reporting.layout import Layout, cell, print_columns
from ngramscan.reporting.options import listed
from ngramscan.reporting.tables import parts

if TYPE_CHECKING:
    from rich.console import Console


@dataclass(frozen=True, slots=True)
class PatternSetRow:
    """A pattern set that comes with this package."""

    name: str
    patterns: int
    methods: str
    tiers: str
    source: str
    """The publication that the patterns are from."""


@dataclass(frozen=True, slots=True)
class PatternRow:
    """A pattern of a set, or a regex."""

    method: str | None
    tier: str | None
    """None for a regex, which marks models' outputs only."""
    kind: str | None
    """`narrative`, `latex`, `code` or `regex`."""
    text: str
    """The text, or the regular expression."""
    within: str
    """The other patterns of the set that contain it, with `; ` between them; its count includes
    theirs."""
    longer_words: str
    """Longer words that contain it, with `; ` between them; its count includes theirs."""
    note: str
    """For a regex its name; for a pattern that the source only describes, what it says."""


@command
def patterns_list() -> Result[PatternSetRow]:
    """List the pattern sets that come with this package.

    Examples
    --------
    $ ngramscan patterns list
    """
    rows = []
    for name in shipped_sets():
        patterns = load_patterns(name)
        tiers = sorted({pattern.tier for pattern in patterns.patterns if pattern.tier})
        about = ", ".join(patterns.methods), ", ".join(tiers), patterns.source
        rows.append(PatternSetRow(name, len(patterns.patterns), *about))
    return Result(rows, PatternSetRow)


@command
def patterns_show(
    name: Annotated[PathOrName, Option(metavar="NAME|FILE")],
    **options: Annotated[Any, Shared(SelectionOptions)],
) -> Result[PatternRow]:
    """Show the patterns of a set, and which of them overlap.

    Parameters
    ----------
    name : str or Path
        A shipped set or a pattern file.

    Examples
    --------
    $ ngramscan patterns show f1
    $ ngramscan patterns show f1 --tier T1 --method cot
    $ ngramscan patterns show mine.yaml --format csv
    """
    selection = SelectionOptions(**options)
    pattern_set = load_patterns(name).select(listed(selection.tier), listed(selection.method))
    texts = dict.fromkeys(pattern.text for pattern in pattern_set.patterns)
    rows = [
        PatternRow(
            method=pattern.method,
            tier=pattern.tier,
            kind=pattern.kind,
            text=pattern.text,
            within="; ".join(text for text in texts if pattern.text in text != pattern.text),
            longer_words="; ".join(pattern.longer_words),
            note="; ".join(filter(None, [_described(pattern), pattern.note])),
        )
        for pattern in pattern_set.patterns
    ]
    for regex in pattern_set.regexes:
        note = ": ".join(filter(None, [regex.name, regex.note]))
        rows.append(PatternRow(regex.method, None, "regex", regex.regex, "", "", note))
    return Result(rows, PatternRow, print_table=partial(_print_patterns, pattern_set, rows))


def _described(pattern: Pattern) -> str:
    return f'the source says "{pattern.expands}"' if pattern.expands else ""


def _print_patterns(pattern_set: PatternSet, rows: Sequence[PatternRow], console: Console) -> None:
    heading = [f"{pattern_set.name} · patterns: {len(pattern_set.patterns)}", pattern_set.source]
    parts.print_notes(console, *filter(None, heading))
    names = ("method", "tier", "kind", "text")
    columns = {name: [cell(getattr(row, name)) for row in rows] for name in names}
    ends = parts.section_ends(rows, "method")
    print_columns(console, columns, Layout(4, frozenset({"text"}), section_ends=ends))
    overlaps = describe_overlaps(pattern_set.queries()) if pattern_set.patterns else []
    parts.print_notes(console, *dict.fromkeys(overlap.sentence for overlap in overlaps))
    for note, noted in parts.group_by(rows, "note").items():
        if note:
            parts.print_notes(console, f"{', '.join(row.text for row in noted)}: {note}")
