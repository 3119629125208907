"""Counts of token n-grams: against an enumeration of all tokens; their rows and totals."""

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from ngramscan.indexes.base import IndexSize
from ngramscan.indexes.tokens.base import TokenIndex
from ngramscan.indexes.tokens.local import open_tokens
from ngramscan.patterns.model import Pattern, Query
from ngramscan.prevalence.count import CountResult, run_count
from ngramscan.prevalence.totals import Total, make_totals
from ngramscan.progress import Progress
from tests.support.made_tokens import MadeTokens
from tests.support.places import TOKENS
from tests.support.token_oracle import TokenOracle

LOWER = "token n-grams: a lower bound of the string's occurrences"
SPACES = f"{LOWER}; the tokenizer reads ▁ (U+2581) as a space; such texts are counted, too"
PHRASES = ("step by step", "Return the", "object", "Let's think", "zebra crossing", "café")


def query(
    text: str, method: str | None = None, tier: str | None = "T1", kind: str | None = "narrative"
) -> Query:
    return Query(text, Pattern(text, method, tier, kind))


def count(
    queries: Sequence[Query | str], *indexes: TokenIndex, count_anyway: bool = False
) -> CountResult:
    asked = [query(text) if isinstance(text, str) else text for text in queries]
    return run_count(asked, indexes, count_anyway=count_anyway)


def opened(folder: Path, tokenizer: Path | None) -> TokenIndex:
    return open_tokens([folder], tokenizer, Progress())


@pytest.mark.parametrize(
    ("name", "tokenizer"),
    [
        ("v4_pysmall_llama_s3", "llamalike.model"),
        ("v5_pysmall_llama", "llamalike.model"),
        ("v4_pysmall_olmo2", "allenai_dolma2.json.gz"),
    ],
)
def test_counts_are_those_of_an_enumeration(name: str, tokenizer: str) -> None:
    oracle = TokenOracle(TOKENS / name)
    text_tokens = sum(int(np.sum(tokens != oracle.separator)) for tokens in oracle.shards)
    found = count(PHRASES, opened(TOKENS / name, TOKENS / tokenizer))
    assert not found.missing
    assert [row.query for row in found.rows] == [*PHRASES]
    counts = {
        row.query: [oracle.count(as_numbers(ids)) for ids in str(row.tokens).split(" | ")]
        for row in found.rows
    }
    occurrences = {row.query: row.occurrences for row in found.rows}
    assert occurrences == {text: sum(of_forms) for text, of_forms in counts.items()}
    after_space = {row.query: row.occurrences_after_space for row in found.rows}
    assert {text for text, n in after_space.items() if n not in counts[text]} == set()
    assert {row.query: row.per_million_tokens for row in found.rows} == pytest.approx(
        {text: n / text_tokens * 1e6 for text, n in occurrences.items()}
    )
    assert {row.query: (row.source, row.note) for row in found.rows} == {
        text: ("tokens", SPACES if " " in text and "llama" in name else LOWER) for text in PHRASES
    }
    lines = (TOKENS / "corpus_small.jsonl").read_text().splitlines()
    texts = [json.loads(line)["text"] for line in lines]
    strings = {phrase: sum(_places(phrase, text) for text in texts) for phrase in PHRASES}
    assert {text: n for text, n in occurrences.items() if n > strings[text]} == {}
    assert sum(row.occurrences for row in found.rows) > 700


def as_numbers(ids: str) -> list[int]:
    return [int(number) for number in ids.split()]


def _places(needle: str, text: str) -> int:
    return sum(text.startswith(needle, start) for start in range(len(text)))


def test_tokens_that_are_bytes_count_any_string(shared: Path) -> None:
    folder = shared / "tokens" / "index" / "v4_pysmall_bytes"
    lines = (shared / "tokens" / "truth.jsonl").read_text().splitlines()
    truths = {
        row["string"]: row["string_count"]
        for row in map(json.loads, lines)
        if row["index"] == folder.name
    }
    found = count([*truths, query("step", kind="code")], opened(folder, None))
    assert not found.missing
    rows = [row for row in found.rows if row.query in truths]
    assert {row.query: row.occurrences for row in rows} == truths
    assert {row.note for row in rows} == {"tokens are bytes: every occurrence of the string"}


# Totals


def totals_of(index: MadeTokens, *queries: Query, count_anyway: bool = False) -> list[Total]:
    return make_totals(count(queries, index, count_anyway=count_anyway))


MADE: dict[str, list[tuple[int, ...]]] = {
    "ab": [(1, 2)],
    "abc": [(1, 2, 3)],
    "d": [(4,), (5,)],
    "e": [(6,)],
}
DOCUMENTS = [[[1, 2, 3, 9, 1, 2], [4, 9, 5, 4]], [[9, 4]]]


def test_totals_without_a_count_are_unknown() -> None:
    queries = [query("ab", "A"), query("x)", "A"), query("d", "B")]
    totals = totals_of(MadeTokens(DOCUMENTS, MADE), *queries)
    of_a = [total for total in totals if "A" in {total.method, total.versus}]
    assert {total.value for total in of_a} == {None}
    assert {total.note for total in of_a} == {"missing counts: 1"}


def test_a_rate_without_the_size_of_the_index_is_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    index = MadeTokens(DOCUMENTS, MADE)
    monkeypatch.setattr(index, "size", IndexSize)
    totals = totals_of(index, query("d", "B"))
    (rate,) = [total for total in totals if "million" in total.statistic]
    assert (rate.value, rate.note) == (None, "the number of tokens in the index is unknown")
