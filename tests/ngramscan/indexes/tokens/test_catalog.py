"""The catalog of hosted indexes over tokens."""

import pytest

from ngramscan.indexes.tokens.catalog import (
    TOKEN_CATALOG,
    TokenIndexRow,
    find_token_index,
    near_token_names,
)


@pytest.mark.parametrize("row", TOKEN_CATALOG, ids=lambda row: row.alias)
def test_an_index_is_found_by_its_name_and_alias(row: TokenIndexRow) -> None:
    assert find_token_index(row.service_name.upper()) is row
    assert find_token_index(row.alias.removeprefix("infini-gram:")) is row
    assert row.tokens > row.documents


def test_names_and_aliases_differ() -> None:
    names = [name for row in TOKEN_CATALOG for name in (row.name, row.alias)]
    assert len(names) == len({*names})


def test_near_names_are_those_that_have_a_word_or_are_spelled_alike() -> None:
    assert near_token_names("dolma") == [row.alias for row in TOKEN_CATALOG if "dolma" in row.alias]
    assert near_token_names("pilevall")[0] == "infini-gram:pileval"


def test_tokens_of_text_are_those_of_the_documentation_without_separators() -> None:
    row = find_token_index("v4_pileval_llama")
    assert row
    # Documents and tokens of the service's documentation (infini-gram.readthedocs.io).
    assert (row.documents, row.tokens) == (214_670, 393_769_120 - 214_670)
