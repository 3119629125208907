"""Counts of token n-grams: against an enumeration of all tokens; their rows and totals."""

from __future__ import annotations

import gzip
import json
from collections.abc import Sequence
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

from ngramscan.corpora import ReadOptions, open_corpus
from ngramscan.index_files.tokens.build import build_token_index
from ngramscan.index_files.tokens.shard import open_token_folder
from ngramscan.index_files.tokens.tokenizers import load_tokenizer
from ngramscan.indexes.base import IndexSize
from ngramscan.indexes.tokens.base import TokenIndex
from ngramscan.indexes.tokens.local import TokenFolderIndex, open_tokens
from ngramscan.patterns.model import Pattern, Query
from ngramscan.prevalence.count import (
    CountResult,
    CountRow,
    describe_missing,
    run_count,
    start_lookups,
)
from ngramscan.prevalence.token_count import TokenCountRow
from ngramscan.prevalence.totals import Total, make_totals
from ngramscan.progress import Progress
from ngramscan.reporting import to_frame, to_text
from ngramscan.reporting.rows import together
from ngramscan.reporting.tables import print_count
from tests.support.made_tokens import MadeTokens
from tests.support.token_oracle import TOKENS, TokenOracle

LOWER = "token n-grams: a lower bound of the string's occurrences"
REFUSED = "tokens: a pattern of kind latex or code, or one that doesn't begin and end with a word"
SPACES = f"{LOWER}; the tokenizer reads ▁ (U+2581) as a space; such texts are counted, too"
PHRASES = ("step by step", "Return the", "object", "Let's think", "zebra crossing", "café")


def query(
    text: str, method: str | None = None, tier: str | None = "T1", kind: str | None = "narrative"
) -> Query:
    return Query(text, Pattern(text, method, tier, kind))


def count(
    queries: Sequence[Query | str], *indexes: TokenIndex, count_anyway: bool = False
) -> CountResult[TokenCountRow]:
    asked = [query(one) if isinstance(one, str) else one for one in queries]
    return run_count(asked, indexes, count_anyway=count_anyway)


def opened(folder: Path, tokenizer: Path | None) -> TokenIndex:
    return open_tokens(folder, tokenizer, Progress())


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
    text_tokens = oracle.tokens - oracle.documents
    found = count(PHRASES, opened(TOKENS / name, TOKENS / tokenizer))
    assert not found.missing
    assert [row.query for row in found.rows] == [*PHRASES]
    for row in found.rows:
        forms = [[int(one) for one in ids.split()] for ids in row.tokens.split(" | ")]
        counts = [oracle.count(ids) for ids in forms]
        assert row.token_occurrences == sum(counts)
        assert row.token_occurrences_after_space in counts
        assert row.per_million_tokens == pytest.approx(sum(counts) / text_tokens * 1e6)
        alike = SPACES if " " in row.query and "llama" in name else LOWER
        assert (row.source, row.note) == ("tokens", alike)
    lines = (TOKENS / "corpus_small.jsonl").read_text().splitlines()
    texts = [json.loads(line)["text"] for line in lines]
    for row in found.rows:
        assert row.token_occurrences <= sum(_places(row.query, text) for text in texts)
    assert sum(row.token_occurrences for row in found.rows) > 700


def _places(needle: str, text: str) -> int:
    return sum(text.startswith(needle, start) for start in range(len(text)))


def test_a_count_above_that_of_the_string_says_why(tmp_path: Path) -> None:
    """Texts that a tokenizer reads as the phrase: the count isn't a lower bound there."""
    texts = ["go step▁by▁step now", "think step by step", "a step▁by step", "cafe\u0301 au lait"]
    path = tmp_path / "corpus.jsonl"
    path.write_text("".join(json.dumps({"text": text}) + "\n" for text in texts))
    for tokenizer, is_piece in (("llamalike.model", True), ("allenai_dolma2.json.gz", False)):
        made = load_tokenizer(TOKENS / tokenizer)
        folder = tmp_path / f"of_{tokenizer}"
        build_token_index(open_corpus(str(path)), folder, made, ReadOptions(), Progress())
        rows = count(["step by step", "step", "café"], opened(folder, TOKENS / tokenizer)).rows
        found = {row.query: (row.token_occurrences, row.note) for row in rows}
        assert found["step by step"] == ((3, SPACES) if is_piece else (1, LOWER))
        for query in ("step", "café"):
            strings = sum(text.count(query) for text in texts)
            assert found[query][1] == LOWER
            assert found[query][0] <= strings


def test_a_tokenizer_that_normalises_says_what_it_reads_alike(tmp_path: Path) -> None:
    """NFKC and small letters, as some tokenizers have them."""
    made = json.loads(gzip.decompress((TOKENS / "allenai_dolma2.json.gz").read_bytes()))
    kinds = [{"type": "NFKC"}, {"type": "Lowercase"}]
    made["normalizer"] = {"type": "Sequence", "normalizers": kinds}
    tokenizer = tmp_path / "tokenizer.json"
    tokenizer.write_text(json.dumps(made))
    path, folder = tmp_path / "corpus.jsonl", tmp_path / "x"
    path.write_text('{"text": "a café, a cafe\u0301, a CAFÉ, a ｃａｆé"}\n')
    read = open_corpus(str(path)), folder, load_tokenizer(tokenizer), ReadOptions(), Progress()
    build_token_index(*read)
    made_by = load_tokenizer(tokenizer)  # the texts that it returns are not those of the folder
    index = TokenFolderIndex("tokens:x", open_token_folder(folder), made_by, Progress())
    (row,) = count(["café"], index).rows
    assert row.token_occurrences == 4
    assert row.note == (
        f"{LOWER}; the tokenizer reads decomposed letters as composed ones, full-width characters "
        "as ASCII, capital letters as small ones; such texts are counted, too"
    )


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
    for row in found.rows:
        if row.query in truths:
            assert row.token_occurrences == truths[row.query]
            assert row.note == "tokens are bytes: every occurrence of the string"


# Patterns that tokens can't count


@pytest.mark.parametrize(
    "one",
    [
        *("x)", "\\frac{", " step", "step ", "don't!", "_name", "\n", "·"),
        *(query("step", kind="code"), query("step", kind="latex")),
    ],
)
@pytest.mark.parametrize("is_service", [False, True])
def test_what_is_no_phrase_of_words_is_refused_without_force(
    one: Query | str, is_service: bool
) -> None:
    index = MadeTokens([[[97, 98]]], {}, is_service=is_service)
    text = one if isinstance(one, str) else one.text
    found = count([one, "by"], index)
    assert [row.query for row in found.rows] == ["by"]
    assert [failure.query for failure in found.missing] == [text]
    (line,) = describe_missing(found.missing, found.queries, 1)
    assert line.startswith(
        f"{REFUSED}, is other tokens at each place; --count-anyway counts it, far too"
    )
    assert line.endswith(f'; the count of "{text}" in {index.name} is missing')
    assert index.asked == (["by"] if is_service else [text, "by"])
    forced = count([one, "by"], index, count_anyway=True)
    assert not forced.missing
    assert [row.note for row in forced.rows] == [
        f"{LOWER}; far too low: not a phrase that begins and ends with a word",
        LOWER,
    ]


@pytest.mark.parametrize(
    "text", ["step", "Step 1", "don’t", "naïve café", "一步", "cafe\u0301", "७"]
)
def test_words_of_any_script_are_counted(text: str) -> None:
    assert not count([text], MadeTokens([[[97, 98]]], {})).missing


def test_a_reason_stands_once_for_many_patterns() -> None:
    found = count(["x)", "(x", "by"], MadeTokens([[[1]]], {}, lost=["by"]))
    first, second = describe_missing(found.missing, found.queries, 1)
    assert first.startswith("engine crashed; ")
    assert second.endswith("2 of 3 counts missing (tokens:made)")


def test_services_are_asked_before_anything_is_collected() -> None:
    index = MadeTokens([[[1]]], {}, is_service=True)
    start_lookups([query("step"), query("step", "A"), query("by")], [index])
    assert index.asked == ["step", "by"]


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


def test_totals_have_names_of_their_own_and_no_union() -> None:
    queries = [query("ab", "A"), query("abc", "A"), query("d", "B"), query("e", "B")]
    totals = totals_of(MadeTokens(DOCUMENTS, MADE), *queries)
    assert all(one.statistic.startswith("token_") for one in totals)
    assert not any("union" in one.statistic for one in totals)
    values = {(one.method, one.versus, one.statistic): one.value for one in totals}
    assert values["A", None, "token_sum_of_pattern_counts"] == 3
    assert values["B", None, "token_sum_of_pattern_counts"] == 4
    assert values["B", None, "token_patterns_without_occurrence"] == 1
    assert values["A", None, "token_sum_per_million_tokens"] == 3 / 12 * 1e6
    assert values["B", "A", "token_ratio_of_sums"] == 4 / 3
    assert values["B", "A", "token_ratio_of_geometric_means"] == pytest.approx(
        (4.5 * 0.5 / (2.5 * 1.5)) ** 0.5
    )


def test_totals_without_a_count_are_unknown() -> None:
    queries = [query("ab", "A"), query("x)", "A"), query("d", "B")]
    totals = totals_of(MadeTokens(DOCUMENTS, MADE), *queries)
    of_a = [one for one in totals if "A" in {one.method, one.versus}]
    assert {one.value for one in of_a} == {None}
    assert {one.note for one in of_a} == {"missing counts: 1"}


def test_a_rate_without_the_size_of_the_index_is_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    index = MadeTokens(DOCUMENTS, MADE)
    monkeypatch.setattr(index, "size", IndexSize)
    (rate,) = [one for one in totals_of(index, query("d", "B")) if "million" in one.statistic]
    assert (rate.value, rate.note) == (None, "the number of tokens in the index is unknown")


# Rows


KEYS = ("x", None, None, None, "p", "p")


def test_rows_of_two_types_have_the_columns_of_both() -> None:
    one = CountRow(*KEYS, 3, 2, "scan", "t")
    other = TokenCountRow(*KEYS, 5, 4, "1 2", 0.5, "api", "t", LOWER)
    rows, row_type = together([one, other], [CountRow, TokenCountRow])
    first, second = (json.loads(line) for line in to_text(rows, row_type, "jsonl").splitlines())
    assert [*first] == [*dict.fromkeys([*CountRow.__slots__, *TokenCountRow.__slots__])]
    assert (first["occurrences"], first["token_occurrences"], first["tokens"]) == (3, None, None)
    assert (second["occurrences"], second["documents"], second["estimated"]) == (None, None, None)
    assert (second["token_occurrences"], second["per_million_tokens"]) == (5, 0.5)
    types = to_frame(rows, row_type).dtypes
    assert [str(types[name]) for name in ("occurrences", "token_occurrences", "estimated")] == [
        *("Int64", "Int64", "boolean"),
    ]
    assert together([one], [CountRow]) == ([one], CountRow)


@pytest.mark.parametrize("width", [80, 200])
def test_a_table_per_index_says_once_that_counts_are_lower_bounds(width: int) -> None:
    indexes = MadeTokens(DOCUMENTS, MADE), MadeTokens(DOCUMENTS, MADE, is_service=True)
    found = count([query("ab", "A"), query("d", "B")], *indexes)
    console = Console(width=width, record=True, file=StringIO())
    print_count(console, found, make_totals(found))
    shown = console.export_text()
    assert shown.count(LOWER) == 1
    for name in ("tokens:made", "infini-gram:made"):
        assert shown.count(f"{name} · 3 documents · 12 tokens\n") == 1
    assert shown.count("after a space") == 2
    assert "union" not in shown
    assert "never to be added" not in shown
    assert all(len(line) <= width for line in shown.splitlines())
