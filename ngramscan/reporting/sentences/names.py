"""Names in sentences, and where something holds: ` with gpt-4o on FinanceMath`.

Names that could be taken for words or numbers are in quotes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from ngramscan.prevalence.several_corpora import UNION
from ngramscan.progress import visible_line
from ngramscan.reporting.columns import ALL
from ngramscan.reporting.sentences.phrases import Row

_LONGEST_NAME = 60
_PLAIN_NAME = re.compile(rf"(?=.*[^\W\d_])[\w.+:/@#-]{{1,{_LONGEST_NAME}}}(?<![.:])")
"""A name of letters, digits and signs that no sentence begins or ends with."""
_PREPOSITIONS = {
    "model": " with",
    "method": " with",
    "prompt": " with",
    "dataset": " on",
    "group": " for",
    "index": " in",
    "kind": " for words of kind",
    "rule": ", scored by",
    "score_rule": ", scored by",
}
"""The words before the names of a column, in the order in which a sentence has the columns."""
_TOGETHER = {
    "model": "all models together",
    "dataset": "all benchmarks together",
    "index": "any of the corpora",
}
_ALWAYS_NAMED = frozenset({"rule", "score_rule"})
"""Columns that say what a score is, which sentences name even if all rows have the same."""


def quoted(name: object) -> str:
    """Return a name in quotes, without anything that ends them early or turns the line around."""
    short = str(name)[: _LONGEST_NAME + 1].replace("“", '"').replace("”", '"')
    text = visible_line(short[:_LONGEST_NAME])
    is_cut = len(short) > _LONGEST_NAME
    return f"“{text}…”" if is_cut else f"“{text}”"


def named(name: object) -> str:
    """Return a name in a sentence: in quotes only if it could be taken for words or a number."""
    text = str(name)
    return text if _PLAIN_NAME.fullmatch(text) and not _is_number(text) else quoted(text)


def corpus(index: object) -> str:
    """Return the name of a corpus in a sentence, or a phrase for all corpora together."""
    if index is None or index == "":
        return "a corpus without a name"
    return _TOGETHER["index"] if index == UNION else named(index)


def short_rule(rule: object) -> str:
    """Return the name of a rule without the explanation that may follow it."""
    return named(str(rule).partition(": ")[0])


def scope_of(row: Row, columns: Iterable[str], rows: Sequence[Row] = ()) -> str:
    """Return where something holds, with a blank before it: ` with gpt-4o on FinanceMath`.

    Names that all of several `rows` share are left out, except rules: they say what a score is.
    """
    named_values = {name: row[name] for name in columns if row.get(name) not in {None, ""}}
    if rows:
        named_values = {
            name: value for name, value in named_values.items() if _is_telling(name, value, rows)
        }
    text = last = ""
    for column in sorted(named_values, key=_place_of):
        preposition = _PREPOSITIONS.get(column, f" with {column.replace('_', ' ')}")
        name = (
            short_rule(named_values[column])
            if column in _ALWAYS_NAMED
            else named(named_values[column])
        )
        if named_values[column] in {ALL, UNION}:
            name = _TOGETHER.get(column, name)
        text += f" and {name}" if preposition == last else f"{preposition} {name}"
        last = preposition
    return text


def _place_of(column: str) -> int:
    """Return the place of a column's name in a sentence; rules come last."""
    columns = [*_PREPOSITIONS]
    return columns.index(column if column in columns else "index")


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _is_telling(column: str, name: object, rows: Sequence[Row]) -> bool:
    """Tell whether a sentence needs a name: not if all rows have it."""
    if len(rows) == 1 or column in _ALWAYS_NAMED:
        return True
    return any(row.get(column) != name for row in rows)
