"""The catalog of public services, and of the indexes that they have."""

import pytest

from ngramscan.indexes import catalog
from ngramscan.indexes.base import COMMON_CONTEXT
from ngramscan.indexes.catalog import (
    SERVICES,
    HostedService,
    IndexRow,
    byte_indexes,
    find_hosted,
    find_token_index,
    near_token_names,
    service_at,
    service_of,
    token_indexes,
)
from tests.support.places import ROOT


@pytest.mark.parametrize("service", SERVICES, ids=lambda service: service.name)
def test_a_service_is_found_by_its_address_and_its_indexes(service: HostedService) -> None:
    assert service_at(service.url) is service
    assert {service_of(row).name for row in service.indexes} == {service.name}
    assert service_at("http://127.0.0.1:9/") is None


@pytest.mark.parametrize("service", SERVICES, ids=lambda service: service.name)
def test_the_pages_name_every_service_and_its_rate(service: HostedService) -> None:
    assert f"{service.rate:g} for {service.name}" in (ROOT / "docs/rows.md").read_text()
    assert f"{service.name} hosts" in (ROOT / "docs/indexes.md").read_text()


@pytest.mark.parametrize("service", SERVICES, ids=lambda service: service.name)
def test_every_service_shows_the_context_that_all_indexes_show(
    service: HostedService,
) -> None:
    assert service.longest_context >= COMMON_CONTEXT


def test_every_service_that_is_defined_is_listed() -> None:
    defined = [value for value in vars(catalog).values() if isinstance(value, HostedService)]
    assert {service.name for service in defined} == {service.name for service in SERVICES}


def test_names_and_addresses_of_services_differ() -> None:
    assert len({service.url for service in SERVICES}) == len(SERVICES)
    assert len({service.name for service in SERVICES}) == len(SERVICES)


@pytest.mark.parametrize("hosted", byte_indexes(), ids=lambda hosted: hosted.alias)
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


@pytest.mark.parametrize("row", token_indexes(), ids=lambda row: row.alias)
def test_an_index_over_tokens_is_found_by_its_name_and_alias(row: IndexRow) -> None:
    assert find_token_index(row.service_name.upper()) is row
    assert find_token_index(row.alias.removeprefix("infini-gram:")) is row
    assert row.tokens
    assert row.tokens > row.documents


def test_names_and_aliases_of_indexes_over_tokens_differ() -> None:
    names = [name for row in token_indexes() for name in (row.name, row.alias)]
    assert len(names) == len({*names})


def test_near_names_are_those_that_have_a_word_or_are_spelled_alike() -> None:
    assert near_token_names("dolma") == [
        row.alias for row in token_indexes() if "dolma" in row.alias
    ]
    assert near_token_names("pilevall")[0] == "infini-gram:pileval"


def test_tokens_of_text_are_those_of_the_documentation_without_separators() -> None:
    row = find_token_index("v4_pileval_llama")
    assert row
    # Documents and tokens of the service's documentation (infini-gram.readthedocs.io).
    assert (row.documents, row.tokens) == (214_670, 393_769_120 - 214_670)
