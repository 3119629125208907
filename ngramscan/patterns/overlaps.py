"""How queries overlap, so that totals count no place in a text twice."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, permutations

from ngramscan.matching.rules import EXACT, MatchRule
from ngramscan.patterns.model import Query, scopes


def nesting(texts: Iterable[str]) -> dict[str, list[str]]:
    """Map each text that contains other `texts` to the contained ones."""
    unique = list(dict.fromkeys(texts))
    inner = {text: [o for o in unique if o != text and o in text] for text in unique}
    return {text: others for text, others in inner.items() if others}


def closing_forms(texts: Iterable[str]) -> dict[str, str]:
    r"""Return the `\begin{x}` of each `\end{x}`, where both are in `texts`."""
    unique = set(texts)
    return {
        text: opening
        for text in unique
        if text.startswith("\\end{") and (opening := "\\begin{" + text[5:]) in unique
    }


def merged_strings(first: str, second: str) -> list[str]:
    """Return the strings in which the end of `first` is the start of `second`.

    Only whole words may overlap ("using the formula for", never "solve foreturn answer"): other
    overlaps do not occur in text, and each string costs a query.
    """
    merged = []
    for shared in range(1, min(len(first), len(second))):
        word_starts = not (first[-shared - 1].isalnum() and first[-shared].isalnum())
        word_ends = not (second[shared - 1].isalnum() and second[shared].isalnum())
        if word_starts and word_ends and first.endswith(second[:shared]):
            merged.append(first + second[shared:])
    return merged


def plan_union(texts: Iterable[str]) -> tuple[list[str], list[str]]:
    """Plan how to count each occurrence of overlapping queries once.

    Returns the queries that contain no other and do not close another, and the strings in which two
    of them overlap. Each of these strings was counted twice, so the union is the sum over the
    queries minus the sum over the strings.
    """
    unique = list(dict.fromkeys(texts))
    dropped = nesting(unique).keys() | closing_forms(unique).keys()
    independent = [text for text in unique if text not in dropped]
    merged = (string for pair in permutations(independent, 2) for string in merged_strings(*pair))
    return independent, list(dict.fromkeys(merged))


def compared(text: str, rule: MatchRule) -> str:
    """Return a text as it is compared with others by a rule: texts that are alike count alike."""
    return text.encode().lower().decode() if rule.ignore_case else text


def merged_of_unions(queries: Sequence[Query], rule: MatchRule = EXACT) -> list[str]:
    """Return the strings whose counts the unions need in addition to the queries.

    A union of one kind may need more, since a query and one that contains it may differ in kind.
    """
    if not rule.has_overlaps:
        return []
    merged: dict[str, None] = {}
    for total in scopes(queries):
        for scope in (total, *total.by_kind):
            merged |= dict.fromkeys(plan_union(compared(text, rule) for text in scope.texts)[1])
    counted = {compared(query.text, rule) for query in queries}
    return [text for text in merged if text not in counted]


def union_of_occurrences(
    texts: Iterable[str], occurrences: Mapping[str, int], rule: MatchRule = EXACT
) -> int | None:
    """Return the occurrences of some queries, each place once.

    None if a count is missing, or if by their rule overlaps are not strings to be counted.
    """
    if not rule.has_overlaps:
        return None
    independent, merged = plan_union(compared(text, rule) for text in texts)
    occurrences = {compared(text, rule): number for text, number in occurrences.items()}
    if not occurrences.keys() >= {*independent, *merged}:
        return None
    return sum(occurrences[text] for text in independent) - sum(
        occurrences[text] for text in merged
    )


@dataclass(frozen=True, slots=True)
class Overlap:
    """The reason why two counts, or a count and a word, are not independent."""

    relation: str
    """`equal_`, `nested_`, `overlapping_` or `paired_patterns`, or `longer_words`."""
    method: str
    other_method: str
    sentence: str


def describe_overlaps(queries: Sequence[Query]) -> list[Overlap]:
    """Return the overlaps; first those between methods, as they weaken a ratio of the two.

    Literals without a method are part of no total and are left out.
    """
    queries = [query for query in queries if query.pattern.method]
    pairs = [pair for pair in combinations(queries, 2) if pair[0].pattern != pair[1].pattern]
    overlaps = [overlap for pair in pairs if (overlap := _describe(*pair))]
    overlaps.sort(key=lambda overlap: overlap.method == overlap.other_method)
    return [*overlaps, *_describe_closing_forms(queries), *_describe_longer_words(queries)]


def _describe(query: Query, other_query: Query) -> Overlap | None:
    a, b = query.text, other_query.text
    merged = merged_strings(a, b) + merged_strings(b, a)
    if a == b:
        relation, sentence = "equal_patterns", f'"{a}" is in both lists'
    elif a in b or b in a:
        longer, shorter = (b, a) if a in b else (a, b)
        relation, sentence = "nested_patterns", f'"{shorter}" also counts every "{longer}"'
    elif merged:
        relation = "overlapping_patterns"
        sentence = f'"{a}" and "{b}" both count in "{merged[0]}"'
    else:
        return None
    return Overlap(relation, query.pattern.key[0], other_query.pattern.key[0], sentence)


def _describe_closing_forms(queries: Sequence[Query]) -> Iterator[Overlap]:
    methods = {query.text: query.pattern.key[0] for query in queries}
    for closing, opening in sorted(closing_forms(methods).items()):
        yield Overlap(
            "paired_patterns",
            methods[opening],
            methods[closing],
            f"{opening} and {closing} are the same environments; the union counts the first",
        )


def _describe_longer_words(queries: Sequence[Query]) -> Iterator[Overlap]:
    for pattern in dict.fromkeys(query.pattern for query in queries):
        if pattern.longer_words:
            words = ", ".join(f'"{word}"' for word in pattern.longer_words)
            sentence = f'"{pattern.text}" also counts the longer {words}'
            yield Overlap("longer_words", pattern.key[0], pattern.key[0], sentence)
