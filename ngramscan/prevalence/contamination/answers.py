"""Entries that are not clean → whether their answers are near the questions in the corpus.

A question alone teaches little; with its answer it can be learnt by heart. As decon does (AI2,
github.com/allenai/decon), the answer is looked for close to what matched the question.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Literal, get_args

from ngramscan.errors import NgramscanError
from ngramscan.indexes.base import Index, shown_context
from ngramscan.matching import find_starts
from ngramscan.matching.words import is_whole
from ngramscan.prevalence.contamination.contaminate import ContaminateResult, Entry, EntryRow
from ngramscan.prevalence.contexts import ContextRow, bytes_of, run_contexts
from ngramscan.prevalence.several_corpora import UNION

OCCURRENCES = 10
"""Occurrences of the rarest window that are looked at, drawn at random."""
NEAR = 200
"""Characters on each side of the question."""
AnswerNearness = Literal["near", "not near"]
ANSWERS: tuple[AnswerNearness, ...] = get_args(AnswerNearness)


def find_answers(
    result: ContaminateResult,
    entries: Sequence[Entry],
    indexes: Sequence[Index],
    within: int,
    seed: int,
) -> tuple[ContaminateResult, list[tuple[NgramscanError, str]]]:
    """Say in each row whether the answer is near the question; return also what could not be seen.

    Up to `OCCURRENCES` of the rarest window of each entry that is not clean are looked at, with
    the text around them where the rest of the question would be, and `within` characters more on
    each side. The answer is near if it is there as a whole word, in capital or small letters and
    with any white space, and more often than in the question. In the union it is near if it is in
    any index, and not near if it is in none of those where the entry is not clean. Otherwise, it is
    not known. An InputError: an index can't show its texts.
    """
    by_id = {entry.id: entry for entry in entries}
    seen: dict[tuple[str, str], tuple[AnswerNearness | None, int]] = {}
    lost: list[tuple[NgramscanError, str]] = []
    for index in indexes:
        looked = {
            row.id: row.rarest
            for row in result.rows
            if row.index == index.name and row.rarest and row.verdict != "clean"
        }
        width = max((len(by_id[id_].text) for id_ in looked), default=0) + within
        texts = list(dict.fromkeys(looked.values()))
        results, failed = run_contexts(texts, index, OCCURRENCES, width, seed)
        lost += [(failure.error, index.name) for failure in failed]
        lost += [
            (failure.error, index.name)
            for result_of_text in results
            for failure in result_of_text.failures
        ]
        shown_characters = shown_context(index, bytes_of(width)) // bytes_of(0)
        by_text = {result_of_text.text: result_of_text for result_of_text in results}
        for id_, text in looked.items():
            entry, places = by_id[id_], by_text.get(text)
            if places is None:  # it could not be looked up
                seen[index.name, id_] = None, 0
                continue
            near = any(_is_near(entry, context, within) for context in places.rows)
            is_all = not places.failures and len(entry.text) + within < shown_characters
            answer: AnswerNearness | None = "near" if near else "not near" if is_all else None
            seen[index.name, id_] = answer, len(places.rows)
    rows = [_with_answer(row, seen, indexes) for row in result.rows]
    return replace(result, rows=rows), lost


def _with_answer(
    row: EntryRow,
    seen: Mapping[tuple[str, str], tuple[AnswerNearness | None, int]],
    indexes: Sequence[Index],
) -> EntryRow:
    names = [index.name for index in indexes] if row.index == UNION else [row.index]
    answers_and_counts = [seen[name, row.id] for name in names if (name, row.id) in seen]
    if not answers_and_counts or row.verdict == "clean":
        return row
    answers = {answer for answer, _ in answers_and_counts}
    answer = "near" if "near" in answers else None if None in answers else "not near"
    return replace(row, answer=answer, occurrences_seen=sum(n for _, n in answers_and_counts))


def _is_near(entry: Entry, context: ContextRow, within: int) -> bool:
    start = entry.text.index(context.pattern)
    rest = len(entry.text) - start - len(context.pattern)
    text_before = context.left[max(0, len(context.left) - start - within) :]
    area = f"{text_before}{context.match}{context.right[: rest + within]}"
    return count_whole_words(entry.answer, area) > count_whole_words(entry.answer, entry.text)


def count_whole_words(answer: str, text: str) -> int:
    """Count an answer as a whole word, in capital or small letters and with any white space."""
    sought, searched = (" ".join(each.split()).casefold() for each in (answer, text))
    occurrences, stop = 0, 0
    for start in find_starts(sought, searched):
        behind = start + len(sought)
        if start >= stop and is_whole(searched, start, behind):
            occurrences, stop = occurrences + 1, behind
    return occurrences
