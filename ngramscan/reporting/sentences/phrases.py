"""Numbers, names, ranges and differences in words.

A difference is called one only if its interval excludes zero and its adjusted p-value is at most
the level of each family of tests on the page, which is .05 if there is one family. Numbers are
rounded as in tables. Names that could be taken for words are in quotes, intervals in brackets.
"""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ngramscan.progress import visible_line
from ngramscan.reporting.columns import ALL
from ngramscan.reporting.layout import cell, p_text, percent
from ngramscan.reporting.plots import in_words, limits_of
from ngramscan.reporting.sentences.sentence import Sentence

Row = Mapping[str, Any]
ALPHA = 0.05
"""The level of a page: it has a false claim in at most one of twenty cases."""
MOST_GROUPS = 2
"""Groups of rows, such as those of an index, that have a sentence each."""
_LONGEST_NAME = 60
_PLAIN_NAME = re.compile(rf"(?=.*[^\W\d_])[\w.+:/@#-]{{1,{_LONGEST_NAME}}}(?<![.:])")
"""A name of letters, digits and signs that no sentence begins or ends with."""
_QUOTED = re.compile("“[^”]*”")
_MOST_LISTED = 6
_MOST_PAIRS = 4
"""Pairs and directions whose differences have a sentence each."""
_USUAL_LEVEL = 0.95
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
_UNION = "union"
"""The index of rows on what is in any of several corpora."""
_TOGETHER = {
    "model": "all models together",
    "dataset": "all benchmarks together",
    "index": "any of the corpora",
}
_ALWAYS_NAMED = frozenset({"rule", "score_rule"})
"""Columns that say what a score is, which sentences name even if all rows have the same."""


@dataclass(frozen=True, slots=True)
class Measure:
    """A column that is put into words, and its interval: called with rows, it says their range."""

    noun: str
    """With its article, in the singular."""
    value: str
    labels: str = ""
    """The columns that name a row, with spaces between them."""
    n: str = ""
    """The column with the number of observations."""
    unit: str = ""
    """`%` or ` points`: the value is a fraction."""
    limits: str | None = ""
    """As in `limits_of`; None: there is no interval."""

    def text(self, value: float) -> str:
        """Return a value without its unit."""
        return number(value, is_share=bool(self.unit))

    def interval(self, row: Row) -> tuple[float | None, float | None]:
        """Return the limits of a row; None: unknown, or there is none on that side."""
        low, high = limits_of(self.value, self.limits)
        return row.get(low), row.get(high)

    def ends(self, row: Row) -> str:
        """Return the limits of a row in words; nothing where there is no interval."""
        limits, unit = self.interval(row), self.unit.removesuffix(" points")
        if limits in {(None, None), (row[self.value],) * 2}:
            return ""
        return ", ".join("no limit" if end is None else self.text(end) + unit for end in limits)

    def estimate(self, row: Row) -> str:
        """Return a value with its unit and, in brackets, its interval."""
        ends = self.ends(row)
        return f"{self.text(row[self.value])}{self.unit}" + (f" [{ends}]" if ends else "")

    def __call__(self, rows: Sequence[Row]) -> Iterator[str]:
        """Say between which values of the rows the measure lies, and what is unknown about it."""
        if known := known_rows(rows, self.value):
            least = min(known, key=lambda row: row[self.value])
            most = max(known, key=lambda row: row[self.value])
            if len(known) == 1:
                yield f"{self.noun} is {self._estimate(least, rows)}."
            elif least[self.value] == most[self.value]:
                value = self.text(least[self.value]) + self.unit
                yield f"{self.noun} is {value} in each of {count_of(len(known), 'row')}."
            else:
                both = f"from {self._estimate(least, rows)} to {self._estimate(most, rows)}"
                yield f"{self.noun} ranges {both}{self._how_far_apart(least, most)}."
        yield from self.gaps(rows)

    def _estimate(self, row: Row, rows: Sequence[Row]) -> str:
        """Return a value, its interval, which is said to be wide if it is, and the row's name."""
        (low, high), ends = self.interval(row), self.ends(row)
        text = self.text(row[self.value]) + self.unit
        if ends:
            widest = 0.2 if self.unit else abs(row[self.value])
            is_wide = low is not None and high is not None and high - low > widest
            between = f", with a wide interval between {ends.replace(', ', ' and ')}"
            text += between if is_wide else f" [{ends}]"
        if (n := row.get(self.n)) is not None:
            text += f", n = {number(n)}"
        others = sum(other[self.value] == row[self.value] for other in rows) - 1
        name = label_of(row, rows, self.labels)
        if name and others:
            name = f"{name[:-1]} and {count_of(others, 'other')})"
        return text + name

    def _how_far_apart(self, least: Row, most: Row) -> str:
        """Return what the intervals of two extremes say: no more than that they overlap."""
        high, low = self.interval(least)[1], self.interval(most)[0]
        if high is None or low is None or not (self.ends(least) or self.ends(most)):
            return ""
        overlap, untested = "their intervals overlap", "they were not tested against each other"
        return f"; {overlap if high >= low else untested}"

    def gaps(self, rows: Sequence[Row], of: str = "row") -> Iterator[str]:
        """Say in how many rows the measure or its interval is unknown."""
        known, noun = known_rows(rows, self.value), self.noun[0].lower() + self.noun[1:]
        without = [row for row in known if self.interval(row) == (None, None)]
        gaps = {"is unknown": len(rows) - len(known)}
        if self.limits is not None:
            gaps["has no interval"] = len(without)
        for lack, times in gaps.items():
            if times:
                yield f"{in_some(times, len(rows), of)}, {noun} {lack}."


def number(value: float, *, is_share: bool = False) -> str:
    """Return a number, or a fraction in percent, as tables show it."""
    return (percent(value) if is_share else cell(value)).replace("-", "−")


def count_of(n: int, noun: str) -> str:
    """Return a number of things."""
    return f"{number(n)} {noun}{'s' * (n != 1)}"


def finding(text: str) -> Sentence:
    """Return a sentence that may open a page."""
    return Sentence(text, is_finding=True, has_interval="[" in _QUOTED.sub("", text))


def listed(texts: Sequence[str], last: str = "and", most: int = _MOST_LISTED) -> str:
    """Return texts as a list in words: `a, b and c`, at most some of them."""
    shown = [*texts[:most]]
    if (others := len(texts) - most) > 0:
        shown.append(count_of(others, "other"))
    if len(shown) < 2:
        return "".join(shown)
    return f"{', '.join(shown[:-1])} {last} {shown[-1]}"


def ordinal(n: int) -> str:
    """Return the number of a place: 1st, 12th."""
    ending = "th"
    if n % 100 not in {11, 12, 13}:
        ending = {1: "st", 2: "nd", 3: "rd"}.get(n % 10, "th")
    return f"{number(n)}{ending}"


def more_in_table(n: int, noun: str, of: str = "") -> Iterator[Sentence]:
    """Yield how many things of a kind have no sentence, if there are any: `2 pairs of methods`."""
    of = f" of {of}" if of else ""
    if n == 1:
        yield Sentence(f"The table has one further {noun}{of}.")
    elif n > 1:
        yield Sentence(f"The table has {number(n)} further {noun}s{of}.")


def in_some(some: int, n: int, noun: str) -> str:
    """Return in which part of some things something is so."""
    return f"In {number(some)} of {count_of(n, noun)}"


def p_of(p: float) -> str:
    """Return what a p-value is."""
    text = "<0.001" if p < 0.001 else p_text(p)
    return f"p {text[0]} {text[1:]}" if text[0] in "<>" else f"p = {text}"


def quoted(name: object) -> str:
    """Return a name in quotes, without anything that ends them early or turns the line around."""
    short = str(name)[: _LONGEST_NAME + 1].replace("“", '"').replace("”", '"')
    text = visible_line(short[:_LONGEST_NAME])
    return f"“{text}{'…' * (len(short) > _LONGEST_NAME)}”"


def named(name: object) -> str:
    """Return a name in a sentence: in quotes only if it could be taken for words or a number."""
    text = str(name)
    return text if _PLAIN_NAME.fullmatch(text) and not _is_number(text) else quoted(text)


def short_rule(rule: object) -> str:
    """Return the name of a rule without the explanation that may follow it."""
    return named(str(rule).partition(": ")[0])


def scope_of(row: Row, columns: Iterable[str], rows: Sequence[Row] = ()) -> str:
    """Return where something holds, with a blank before it: ` with gpt-4o on FinanceMath`.

    Names that all of several `rows` share are left out, except rules: they say what a score is.
    """
    wanted = {name: row[name] for name in columns if row.get(name) not in {None, ""}}
    if rows:
        wanted = {name: value for name, value in wanted.items() if _is_telling(name, value, rows)}
    text = last = ""
    for column in sorted(wanted, key=_place_of):
        preposition = _PREPOSITIONS.get(column, f" with {in_words(column)}")
        name = short_rule(wanted[column]) if column in _ALWAYS_NAMED else named(wanted[column])
        if wanted[column] in {ALL, _UNION}:
            name = _TOGETHER.get(column, name)
        text += f" and {name}" if preposition == last else f"{preposition} {name}"
        last = preposition
    return text


def _place_of(column: str) -> int:
    """Return the place of a column's name in a sentence; rules come last."""
    known = [*_PREPOSITIONS]
    return known.index(column if column in known else "index")


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def label_of(row: Row, rows: Sequence[Row], columns: str, more: Sequence[str] = ()) -> str:
    """Return the names that tell a row from the others, in parentheses; all names of a lone row.

    `more` is said of the row, too.
    """
    known = {column: row.get(column) for column in columns.split()}
    names = [
        "all models" if (column, name) == ("model", ALL) else quoted(name)
        for column, name in known.items()
        if name not in {None, ""} and _is_telling(column, name, rows)
    ]
    names += more
    return f" ({', '.join(names)})" if names else ""


def _is_telling(column: str, name: object, rows: Sequence[Row]) -> bool:
    """Tell whether a name is said: it may be that of all rows."""
    if len(rows) == 1 or column in _ALWAYS_NAMED:
        return True
    return any(other.get(column) != name for other in rows)


def known_rows(rows: Iterable[Row], column: str) -> list[Row]:
    """Return the rows with a value in a column."""
    return [row for row in rows if row.get(column) is not None]


def group_rows(rows: Iterable[Row], *columns: str) -> dict[tuple[Any, ...], list[Row]]:
    """Return the rows with the same values in some columns."""
    found: dict[tuple[Any, ...], list[Row]] = defaultdict(list)
    for row in rows:
        found[tuple(row.get(column) for column in columns)].append(row)
    return found


def by_group(
    rows: Sequence[Row], columns: Sequence[str], say: Callable[[str, list[Row]], Iterable[str]]
) -> Iterator[str]:
    """Let a function say something about each of the first groups, given its name."""
    groups = group_rows(rows, *columns)
    for names, group in [*groups.items()][:MOST_GROUPS]:
        given = [quoted(name) for name in names if name is not None]
        yield from say(", ".join(given) or "no name", group)
    if (others := len(groups) - MOST_GROUPS) > 0:
        more = f"{count_of(others, 'other value')} of {' and '.join(columns)}"
        yield f"The table also has {more}."


# Differences.


_POINTS = Measure("The difference", "difference", unit=" points")


def adjusted_p(row: Row) -> float | None:
    """Return the p-value that allows for the number of tests; None: unknown."""
    columns = ("p_adjusted", "p_holm", "p_bh")
    adjusted = [row[column] for column in columns if row.get(column) is not None]
    return adjusted[0] if adjusted else None


def is_shown(row: Row, alpha: float = ALPHA) -> bool:
    """Tell whether a difference excludes zero, by its interval and by its adjusted p-value."""
    (low, high), p = _POINTS.interval(row), adjusted_p(row)
    if low is None or high is None or p is None:
        return False
    return bool(low <= row["difference"] <= high and (low > 0 or high < 0) and p <= alpha)


@dataclass(frozen=True, slots=True)
class Verbs:
    """How the first of two is called, compared with the second."""

    above: str
    below: str


@dataclass(frozen=True, slots=True)
class Difference:
    """How a difference is called; it says of rows, each a comparison, which were shown."""

    labels: str
    """The columns that say where a difference holds, with blanks between them."""
    subjects: Callable[[Row], tuple[str, str]]
    """The two that are compared, as at the beginning of a sentence and within one. A first one of
    several words doesn't begin with a name, unless this is in quotes."""
    verbs: Callable[[Row], Verbs]
    n: Callable[[Row], str]
    """How many values were compared, in words; empty: it is not known."""
    more: Callable[[Row], Sequence[str]] = lambda _: ()
    """Further facts about a row, said after where it holds."""
    values: Callable[[Row], str] = lambda _: ""
    """The two values that are compared, in words; empty: they are not known."""
    topic: Callable[[Row], str] = lambda _: ""
    """In what the two are compared, as ` in scores`, where their verb is not said."""

    def __call__(self, rows: Sequence[Row], alpha: float = ALPHA) -> Iterator[str]:
        """Say which differences were shown at a level, and that others were not."""
        for sentence in self.say(rows, alpha):
            yield sentence.text

    def say(self, rows: Sequence[Row], alpha: float = ALPHA) -> Iterator[Sentence]:
        """Yield the sentences about rows: the differences that were shown, then the others."""
        known = known_rows(rows, "difference")
        texts = [*self._shown(known, alpha), *self._not_shown(known, alpha)]
        for text in texts:
            yield replace(finding(text), is_claim=True)
        for text in _gaps_of_differences(rows, known):
            yield Sentence(text)

    def _shown(self, known: Sequence[Row], alpha: float) -> Iterator[str]:
        """Yield the largest difference of each pair and direction, and how many others it has."""
        groups: dict[tuple[Any, ...], list[Row]] = defaultdict(list)
        for row in known:
            if is_shown(row, alpha):
                groups[row["difference"] < 0, *self.subjects(row)].append(row)
        weightiest = {key: max(group, key=_weight) for key, group in groups.items()}
        order = sorted(groups, key=lambda key: _weight(weightiest[key]), reverse=True)
        # Each direction has a sentence, whatever their number.
        first = {key[0]: key for key in reversed(order)}
        order = [*sorted(first.values()), *(key for key in order if key not in first.values())]
        for key in order[:_MOST_PAIRS]:
            is_below, first_subject, second = key
            row = weightiest[key]
            verb = self.verbs(row).below if is_below else self.verbs(row).above
            where = scope_of(row, self.labels.split())
            text = f"{first_subject} {verb} {second}{where}{self._numbers(row)}"
            yield f"{text}{_one_of(len(groups[key]), is_largest=row.get('model') != ALL)}."
        if rest := sum(len(groups[key]) for key in order[_MOST_PAIRS:]):
            if rest == 1:
                yield "One other difference is shown, between another pair."
            else:
                yield f"{number(rest)} other differences are shown, between other pairs."

    def _not_shown(self, known: Sequence[Row], alpha: float) -> Iterator[str]:
        """Yield that differences were not shown, with the one that is known least precisely."""
        others = [row for row in known if not is_shown(row, alpha)]
        if not others:
            return
        row = max(others, key=_width)
        first, second = self.subjects(row)
        first = _within(first)
        numbers = f"{self._numbers(row)}{_why_not(row, alpha)}"
        if len(others) == 1:
            where = scope_of(row, self.labels.split())
            both = f"{first} and {second}{self.topic(row)}"
            yield f"No difference is shown between {both}{where}{numbers}."
            return
        widest = ""
        if _width(row) > 0:
            where = scope_of(row, self.labels.split(), known)
            both = f"{first} against {second}{self.topic(row)}"
            widest = f"; the widest interval is that of {both}{where}{numbers}"
        if len(others) < len(known):
            some = f"{number(len(others))} of {number(len(known))} comparisons"
            yield f"For the other {some}, no difference is shown{widest}."
            return
        some = "either of two" if len(others) == 2 else f"any of {number(len(others))}"
        yield f"No difference is shown in {some} comparisons{widest}."

    def _numbers(self, row: Row) -> str:
        """Return a difference in words; a p-value without an interval would show nothing."""
        p, ends, n, values = adjusted_p(row), _POINTS.ends(row), self.n(row), self.values(row)
        facts = [values] if values else []
        interval = f" [{ends}]" if ends else ""
        facts.append(f"{_POINTS.text(row['difference'])} points{interval}")
        if p is not None and _width(row) >= 0:
            facts.append(f"adjusted {p_of(p)}")
        if n:
            facts.append(n)
        further = "".join(f", {one}" for one in self.more(row))
        return f"{further}: {', '.join(facts)}"


def _weight(row: Row) -> tuple[bool, float]:
    """Return how much a difference says: all models together say most, then the largest."""
    return row.get("model") == ALL, abs(row["difference"])


def _within(subject: str) -> str:
    """Return the first words of a sentence as they are within one."""
    if " " not in subject or subject.startswith("“"):
        return subject
    return f"{subject[0].lower()}{subject[1:]}"


def _one_of(n: int, *, is_largest: bool) -> str:
    """Return which of several differences in one direction a sentence has chosen."""
    if n == 1:
        return ""
    some = "two" if n == 2 else number(n)
    which = "one"
    if is_largest:
        which = "the larger" if n == 2 else "the largest"
    return f", {which} of {some} such differences"


def _gaps_of_differences(rows: Sequence[Row], known: Sequence[Row]) -> Iterator[str]:
    """Yield why nothing can be claimed about some comparisons."""
    if raw := sum(adjusted_p(row) is None for row in known_rows(known, "p")):
        some = "The p-value" if raw == 1 else f"The p-values of {number(raw)} comparisons"
        verb = "is" if raw == 1 else "are"
        yield f"{some} {verb} not adjusted for the number of tests, so nothing is claimed."
    if unknown := len(rows) - len(known):
        yield f"No difference could be computed for {number(unknown)} of {number(len(rows))} rows."
    without = sum(_POINTS.interval(row) == (None, None) for row in known)
    if without == 1 == len(known):
        yield "The difference has no interval."
    elif without:
        verb = "has" if without == 1 else "have"
        yield f"{number(without)} of {number(len(known))} differences {verb} no interval."


def _why_not(row: Row, alpha: float) -> str:
    """Return why a difference was not shown, if its interval or its p-value alone would show it."""
    (low, high), p = _POINTS.interval(row), adjusted_p(row)
    if low is None or high is None:
        return ""
    excludes = low > 0 or high < 0
    if p is None:
        return "; it was not tested" * (excludes and row.get("p") is None)
    if excludes:
        return _why_not_by_p(row, p, alpha)
    if p > ALPHA:
        return ""
    level = row.get("level") or _USUAL_LEVEL
    if abs(level - _USUAL_LEVEL) > 1e-9:
        return f"; the {100 * level:g}% interval includes 0"
    return f"; interval and test disagree: the interval includes 0, but p is at most {ALPHA}"


def _why_not_by_p(row: Row, p: float, alpha: float) -> str:
    """Return why a difference whose interval excludes zero was not shown."""
    alone, level = row.get("p"), row.get("level") or _USUAL_LEVEL
    if p <= alpha:
        return "; the value is outside its interval"
    if p <= ALPHA:
        return f"; this page claims a difference if p is at most {level_text(alpha)}"
    if alone is not None and alone > ALPHA:
        if level < _USUAL_LEVEL:
            return f"; the {100 * level:g}% interval excludes 0, but p is above {ALPHA}"
        return f"; interval and test disagree: the interval excludes 0, but p is above {ALPHA}"
    return "; the interval is not adjusted for the number of tests"


def level_text(alpha: float) -> str:
    """Return a level in words, with three digits at most, and never larger than it is."""
    digits = 2 - math.floor(math.log10(alpha))
    return f"{math.floor(alpha * 10**digits + 1e-9) / 10**digits:g}"


def _width(row: Row) -> float:
    low, high = _POINTS.interval(row)
    return -1.0 if low is None or high is None else float(high - low)
