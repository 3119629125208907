"""All parts → one HTML file, without anything outside it."""

from __future__ import annotations

import base64
import hashlib
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ngramscan import __version__
from ngramscan.messages import counted
from ngramscan.prevalence.contamination import thresholds
from ngramscan.prevalence.contamination.rules import COPY_CLASSES, classes_by
from ngramscan.prevalence.marks import LEVELS
from ngramscan.progress import marked_line
from ngramscan.reporting.charts.figure import Figure
from ngramscan.reporting.charts.panels import draw
from ngramscan.reporting.kinds import all_kinds
from ngramscan.reporting.layout import cell
from ngramscan.reporting.page.display import ShownRows, shortened, show_rows
from ngramscan.reporting.page.findings import PageFinding, brackets, find, weight_of
from ngramscan.reporting.page.procedures import procedures_of
from ngramscan.reporting.page.results import Results
from ngramscan.reporting.page.side_by_side import TextPairs, pair_texts
from ngramscan.reporting.page.traced import TracedTexts, mark_texts
from ngramscan.reporting.sentences.assemble import describe_level, sentences
from ngramscan.reporting.sentences.families import count_families
from ngramscan.reporting.sentences.sentence import Sentence
from ngramscan.reporting.sentences.titles import title_of
from ngramscan.reporting.summaries.assemble import summaries
from ngramscan.reporting.summaries.table import SummaryTable

if TYPE_CHECKING:
    from jinja2 import Environment

MOST_BYTES = 4_400_000
"""Bytes of all rows of a page, shown and as JSON: with them a page stays below 5 MB."""
_TEMPLATES = Path(__file__).with_name("templates")
_ABOUT = ("index", "rule", "score_rule", "estimator", "source", "test", "seed", "level", "asked_at")
"""Columns that say how rows were made."""
_MEASURES = {
    "occurrences": "number of occurrences",
    "documents": "number of documents",
    "eta": "share of windows that occur",
    "tau": "Kendall's tau",
}
"""Columns that are numbers of things, and symbols, in words."""
_MOST_LINES = 12
_FOLDED = {"contaminate"}
"""Kinds whose figures show single entries, which another kind summarizes."""


@dataclass(frozen=True, slots=True)
class _Section:
    """The parts of a page that show one file of rows."""

    id: str
    results: Results
    is_ambiguous: bool
    """Another file has rows of the same kind."""
    sentences: Sequence[Sentence]
    summaries: Sequence[SummaryTable]
    figures: Sequence[Figure]
    traced: TracedTexts | None
    paired: TextPairs | None
    table: ShownRows
    facts: Sequence[tuple[str, str]]
    missing: Sequence[str]
    notes: Sequence[str]

    @property
    def opening(self) -> Sequence[Figure]:
        """The figure that may open the page, if any; those of single entries are folded."""
        return () if self.results.kind.name in _FOLDED else self.figures[:1]

    def unfolded(self, opens: bool) -> Sequence[Figure]:
        """Return the figure that is not folded: the second, if the first opens the page."""
        first = int(opens)
        return self.figures[first : first + 1] if self.opening else ()

    def folded(self, opens: bool) -> Sequence[Figure]:
        """Return the other figures."""
        return self.figures[1 + opens :] if self.opening else self.figures


def make_page(results: Sequence[Results], title: str | None, made_at: str) -> str:
    """Return the page of some results; `made_at` is ISO 8601, UTC."""
    from markupsafe import Markup  # slow to import, with jinja2

    order = [kind.title for kind in all_kinds()]
    results = sorted(results, key=lambda result: order.index(result.kind.title))
    kinds = Counter(result.kind.name for result in results)
    families = count_families(results)
    parts = [*_parts_of(results, kinds, families)]
    methods = list(dict.fromkeys(result.kind.methods for result in results if result.kind.methods))
    findings = find([(part.results, part.sentences) for part in parts])
    enclosed = brackets(
        [
            (parts[finding.part].results, [sentence])
            for finding in findings
            for sentence in parts[finding.part].sentences
            if sentence.text == finding.text
        ]
    )
    level = describe_level(families) if families > 1 else ""
    parts = [_without(part, {enclosed, level}) for part in parts]
    return (
        _environment()
        .get_template("page.html")
        .render(
            title=marked_line(title or title_of(sorted(results, key=weight_of))),
            findings=findings,
            brackets=enclosed,
            opening=_opening(parts, findings),
            level=level,
            made_at=made_at,
            version=__version__,
            parts=parts,
            methods=methods,
            kinds=kinds,
            has_copies=_has_classes(results, True),
            has_published_rules=_has_classes(results, False),
            procedures={
                name: procedures_of(result for result in results if result.kind.methods == name)
                for name in methods
            },
            style=Markup((_TEMPLATES / "style.css").read_text(encoding="utf-8")),
            script=Markup((_TEMPLATES / "script.js").read_text(encoding="utf-8")),
        )
    )


def _has_classes(results: Sequence[Results], of_copies: bool) -> bool:
    """Tell whether the entries of some rows were judged by `copied`, or by another rule."""
    rules = {
        row.get("rule")
        for result in results
        if result.kind.methods == "contaminate"
        for row in result.rows
    }
    return any((classes_by(rule) == COPY_CLASSES) is of_copies for rule in rules)


def _parts_of(
    results: Sequence[Results], kinds: Mapping[str, int], families: int
) -> Iterator[_Section]:
    """Yield the parts of a page; `kinds` has how many results there are of each kind."""
    bytes_left = MOST_BYTES
    for n, result in enumerate(results, 1):
        # The bytes that a file doesn't need are for the next ones.
        share = bytes_left // (len(results) - n + 1)
        traced = mark_texts(result, share // 2)
        paired = pair_texts(result, share // 2)
        of_texts = sum(texts.size_bytes for texts in (traced, paired) if texts)
        table = show_rows(result, share - of_texts)
        bytes_left -= of_texts + table.size_bytes
        yield _Section(
            f"rows-{n}",
            result,
            kinds[result.kind.name] > 1,
            sentences(result, families),
            summaries(result),
            draw(result),
            traced,
            paired,
            table,
            list(_facts(result)),
            list(_missing(result, table)),
            list(_notes(result)),
        )


def _without(part: _Section, texts: Collection[str]) -> _Section:
    """Return a part without the sentences that the first screen has for the whole page."""
    further = [sentence for sentence in part.sentences if sentence.text not in texts]
    return replace(part, sentences=further)


def _opening(parts: Sequence[_Section], findings: Sequence[PageFinding]) -> Figure | None:
    """Return the figure of the first screen, which belongs to the weightiest finding with one."""
    order = [parts[finding.part] for finding in findings] + [*parts]
    return next((part.opening[0] for part in order if part.opening), None)


@cache
def _environment() -> Environment:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(_TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"counted": counted, "visible": marked_line, "shortened": shortened}
    environment.filters["shown_time"] = _shown_time
    environment.globals |= {"hash": _hash, "levels": LEVELS, "thresholds": thresholds, "zip": zip}
    return environment


def _hash(text: str) -> str:
    """Return the hash of a style or a script for a content security policy."""
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


def _shown_time(time: str) -> str:
    return f"{datetime.fromisoformat(time):%d %B %Y, %H:%M} UTC".lstrip("0")


def _facts(results: Results) -> Iterator[tuple[str, str]]:
    """Yield the columns about how the rows were made."""
    for name in _ABOUT:
        values = {row[name]: None for row in results.rows if row.get(name) is not None}
        if not values:
            continue
        if name == "asked_at":
            first, last = min(values), max(values)
            yield name, first if first == last else f"{first} to {last}"
            continue
        listed = [_said(value) for value in list(values)[:_MOST_LINES]]
        n_others = len(values) - len(listed)
        more = f" and {n_others:,} more" if n_others > 0 else ""
        yield name, ", ".join(listed) + more


def _said(value: Any) -> str:
    if isinstance(value, str):
        return value
    # A seed is a name, not an amount.
    is_seed = isinstance(value, int) and not isinstance(value, bool)
    return str(value) if is_seed else cell(value)


def _missing(results: Results, table: ShownRows) -> Iterator[str]:
    """Yield what is missing in the rows, by their run and by the rows themselves."""
    if results.run:
        yield from results.run.failures
    if table.total > table.rows_on_page:
        left_out = counted(table.total - table.rows_on_page, "row")
        yield f"{left_out} of the file, which the page doesn't have"
    value = results.kind.plots[0].value if results.kind.plots else ""
    if value and (absent := sum(row[value] is None for row in results.rows)):
        noun = _MEASURES.get(value, results.kind.columns[value].heading)
        yield f"no {noun} for {absent:,} of {counted(len(results.rows), 'row')}"
    if unknown := sum(row["n_unknown"] for row in results.rows if row.get("n_unknown")):
        yield f"{counted(unknown, 'unknown result')}, counted in each row that leaves them out"


def _notes(results: Results) -> Iterator[str]:
    """Yield a warning if the file has changed, then the most common notes of the rows.

    The notes say why values are missing or estimated.
    """
    if results.is_changed:
        yield "the file has changed since this command wrote it"
    notes = Counter(row["note"] for row in results.rows if row.get("note"))
    for note, times in notes.most_common(_MOST_LINES):
        yield f"{note} ({counted(times, 'row')})"
    if len(notes) > _MOST_LINES:
        yield f"{len(notes) - _MOST_LINES:,} other notes, in the table"
