"""The title of a page: what its rows are about."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

from ngramscan.reporting.page.results import Results
from ngramscan.reporting.sentences.assemble import DESCRIPTIONS
from ngramscan.reporting.sentences.phrases import number
from ngramscan.reporting.sentences.subjects import IN_WORDS

_MOST_SUBJECTS = 2


def title_of(results: Iterable[Results]) -> str:
    """Return the title of a page of some results, those that matter most first."""
    families: dict[str, list[Results]] = defaultdict(list)
    for result in results:
        families[DESCRIPTIONS[result.kind.name].subject.family].append(result)
    first, *others = [_describe(family) for family in [*families.values()][:_MOST_SUBJECTS]]
    text, begins_with_name = first
    if not begins_with_name or text.split(" ")[0] in IN_WORDS:
        text = f"{text[0].upper()}{text[1:]}"
    return "; ".join([text, *(description for description, _ in others)])


def _describe(family: Sequence[Results]) -> tuple[str, bool]:
    """Return the subject of a family's rows, and whether it begins with a name."""
    order = [*DESCRIPTIONS]
    first_kind = min((result.kind.name for result in family), key=order.index)
    subject = DESCRIPTIONS[first_kind].subject
    text = subject.describe([row for result in family for row in result.rows])
    if shortened := [result for result in family if result.left_out]:
        text += f" (the first {number(len(shortened[0].rows))} rows)"
    return text, subject.begins_with_name
