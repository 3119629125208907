"""The catalog of hosted indexes over bytes."""

import pytest

from ngramscan.indexes.catalog import CATALOG, IndexRow, find_hosted


@pytest.mark.parametrize("hosted", CATALOG, ids=lambda hosted: hosted.alias)
def test_an_index_is_found_by_its_name_alias_and_both_spellings(hosted: IndexRow) -> None:
    names = (hosted.name, hosted.alias, hosted.alias.upper(), *hosted.spellings)
    assert {name: find_hosted(name) for name in names} == dict.fromkeys(names, hosted)


def test_a_crawl_has_two_spellings_and_an_unknown_name_none() -> None:
    crawl = find_hosted("cc_2025-13")
    assert crawl is not None
    assert crawl.spellings == ("v2_cc-2025-13", "v2_cc_2025-13")
    assert find_hosted("c4") is None


def test_the_sizes_of_the_pile_are_those_that_the_service_documents() -> None:
    pile = find_hosted("pileval")
    assert pile is not None
    assert (pile.documents, pile.bytes) == (214_670, 1_344_908_273)
