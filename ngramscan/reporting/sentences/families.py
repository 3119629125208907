"""Families of tests on a page, and the level of each of them.

P-values in rows are adjusted within their family. With several families on a page, each gets an
equal part of the level (Bonferroni). The p-values themselves are not changed: row, figure and
sentence show the same one.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from ngramscan.reporting.columns import ALL
from ngramscan.reporting.page.results import Results
from ngramscan.reporting.sentences.differences import adjusted_p
from ngramscan.reporting.sentences.phrases import ALPHA, Row

COMPARISONS = "comparisons"
"""The tests of `compare`, which rows of `link` repeat for each index."""
_Test = tuple[Any, ...]
_Family = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Tests:
    """The columns that identify the tests of one kind of rows."""

    kind: str
    """Kinds of rows with the same name here may have the same tests."""
    names: tuple[str, ...]
    """Columns that name a test; rows of one test have the same values in all of them."""
    family: tuple[str, ...] = ()
    """Columns that name a family in rows that have no column `family`."""
    p: str = ""
    """The column of adjusted p-values; if empty, see `adjusted_p`."""


_PAIR = ("dataset", "model", "group", "rule", "baseline", "treatment", "difference", "p")
_COMPARED = Tests(COMPARISONS, _PAIR, ("rule",))
TESTS: dict[str, Tests] = {
    "compare": _COMPARED,
    "link": _COMPARED,
    "link --problems": Tests(
        "slopes", ("counts", "dataset", "model", "rule", "method", "baseline", "slope", "p")
    ),
    # Rows of several indexes have one test if the same entries are dirty there.
    "contaminate --effects": Tests(
        "effects", ("dataset", "model", "method", "score_rule", "answer", "difference", "p")
    ),
    "blend --retention": Tests(
        "retention",
        ("dataset", "model", "prefix", "solver", "method", "prompt_with", "difference", "p"),
    ),
    "trace --differences": Tests(
        "traces",
        ("index", "dataset", "model", "prompt", "baseline", "kind", "measure", "difference", "p"),
        ("index",),
    ),
    "keyness": Tests("keyness", ("ngram", "n", "p", "q"), p="q"),
}
"""The kinds of rows with p-values that sentences claim something by."""


def level_of_each(families: int) -> float:
    """Return the level of each of some families; all together have the level of the page."""
    return ALPHA / max(families, 1)


def count_families(results: Iterable[Results]) -> int:
    """Return the number of families of tests in some files; a family in two files counts once.

    A family with more tests than its p-values were adjusted for comes from several runs of a
    command into one file, and counts once per run.
    """
    families: dict[str, list[tuple[frozenset[_Test], int]]] = defaultdict(list)
    for result in results:
        if tests := TESTS.get(result.kind.name):
            families[tests.kind] += _families(result.rows, tests)
    return sum(
        runs
        for families_of_kind in families.values()
        for _, runs in _without_parts(families_of_kind)
    )


def _families(rows: Sequence[Row], tests: Tests) -> Iterator[tuple[frozenset[_Test], int]]:
    """Yield the tests of each family of a file, and how many times it counts."""
    members: dict[_Family, set[_Test]] = defaultdict(set)
    sizes: dict[_Family, int] = {}
    for row in rows:
        if (row.get(tests.p) if tests.p else adjusted_p(row)) is None:
            continue
        family = _name_of(row, tests)
        members[family].add(tuple(row.get(name) or "" for name in tests.names))
        sizes[family] = row.get("family_tests") or 0
    for family, tests_of_family in members.items():
        size = sizes[family]
        yield frozenset(tests_of_family), math.ceil(len(tests_of_family) / size) if size else 1


def _name_of(row: Row, tests: Tests) -> _Family:
    if family := row.get("family"):
        return "family", str(family)
    models = "all" if tests.kind == COMPARISONS and row.get("model") == ALL else ""
    return models, ", ".join(str(row.get(name)) for name in tests.family)


def _without_parts(
    families: Sequence[tuple[frozenset[_Test], int]],
) -> Iterator[tuple[frozenset[_Test], int]]:
    """Yield the families that are not a subset of another one; of equal ones, the first."""
    by_size = sorted(families, key=lambda family: -len(family[0]))
    larger: list[frozenset[_Test]] = []
    for tests, runs in by_size:
        if not any(tests <= larger_family for larger_family in larger):
            larger.append(tests)
            yield tests, runs
