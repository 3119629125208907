"""The catalog of public services, and of the indexes that they have."""

from collections.abc import Sequence

import pytest

from ngramscan.indexes import catalog
from ngramscan.indexes.base import COMMON_CONTEXT
from ngramscan.indexes.catalog import (
    PUBLISHED,
    PUBLISHED_UNIONS,
    SERVICES,
    HostedService,
    IndexRow,
    access_to,
    byte_indexes,
    find_hosted,
    find_published,
    find_token_index,
    near_published_names,
    near_token_names,
    published_at,
    published_urls,
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


# Published files

DOCUMENTED = {
    "v4_olmoe-mix-0924-dclm_llama": (2_948_096_911, 4_341_627_197_578, 33 * 2**40),
    "v4_olmoe-mix-0924-nodclm_llama": (133_343_623, 233_848_504_469, 1.8 * 2**40),
    "v4_olmo-2-0325-32b-anneal-adapt_llama": (82_461_386, 35_153_386_430, 268 * 2**30),
    "v4_olmo-2-1124-13b-anneal-adapt_llama": (82_534_460, 35_273_912_238, 269 * 2**30),
    "v4_olmoe-0125-1b-7b-anneal-adapt_llama": (82_513_183, 35_262_277_074, 269 * 2**30),
    "v4_dolma-v1_7_llama": (3_403_336_408, 2_604_642_372_173, 20 * 2**40),
    "v4_rpj_llama_s4": (931_361_530, 1_385_942_948_192, 8.9 * 2**40),
    "v4_piletrain_llama": (210_607_728, 383_299_322_520, 2.5 * 2**40),
    "v4_c4train_llama": (364_868_892, 198_079_554_945, 1.3 * 2**40),
    "v4_dolma-v1_6-sample_llama": (13_095_416, 9_178_218_956, 62 * 2**30),
    "v4_dolmasample_olmo": (13_095_416, 8_039_098_124, 53 * 2**30),
    "v4_pileval_llama": (214_670, 393_769_120, 2.3 * 2**30),
    "v4_pileval_gpt2": (214_670, 383_326_404, 2.2 * 2**30),
}
"""Documents, tokens with separators and bytes of files: "Pre-built Indexes" of infini-gram's
documentation."""
FREE = ["v4_dolmasample_olmo", "v4_pileval_llama", "v4_pileval_gpt2"]


def test_published_indexes_are_those_of_the_documentation() -> None:
    sizes = {
        row.service_name: (row.documents, (row.tokens or 0) + row.documents, row.index_bytes)
        for row in PUBLISHED
    }
    assert sizes == {
        name: (documents, tokens, round(size))
        for name, (documents, tokens, size) in DOCUMENTED.items()
    }
    assert [row.service_name for row in PUBLISHED if not row.requester_pays] == FREE


def test_published_files_are_in_the_bucket_of_those_who_pay() -> None:
    folders = {"free": "s3://infini-gram-lite/index/", "requester pays": "s3://infini-gram/index/"}
    for row in PUBLISHED:
        assert row.access
        assert row.url == folders[row.access] + row.service_name
        assert published_at(row.url) is published_at(f"{row.url}/") is row
        assert access_to(f"{row.url}/tokenized.0") == row.access
    assert published_at("s3://infini-gram/index/v4_olmo-3") is None
    assert access_to("s3://infini-gram/index/v4_olmo-3") == "requester pays"
    assert access_to("s3://infini-gram-mini/index/v2_pileval") is None


@pytest.mark.parametrize("row", PUBLISHED, ids=lambda row: row.alias)
def test_a_published_index_is_found_by_its_name_and_alias(row: IndexRow) -> None:
    assert find_published(row.service_name.upper()) is row
    assert find_published(row.short_alias) is row
    assert row.url not in {other.url for other in PUBLISHED if other is not row}


@pytest.mark.parametrize(
    ("hosted_name", "parts"),
    [
        ("dclm", ["olmoe-mix-dclm"]),
        ("olmo-mix", ["olmoe-mix-dclm", "olmoe-mix-nodclm"]),
        *PUBLISHED_UNIONS.items(),
    ],
)
def test_published_parts_add_up_to_what_the_service_has(
    hosted_name: str, parts: Sequence[str]
) -> None:
    hosted, rows = find_token_index(hosted_name), [find_published(part) for part in parts]
    assert hosted
    assert hosted.documents == sum(row.documents for row in rows if row)
    assert hosted.tokens == sum(row.tokens or 0 for row in rows if row)


def test_a_union_has_the_files_of_its_parts() -> None:
    assert published_urls("OLMo-2-32B") == (
        "s3://infini-gram/index/v4_olmoe-mix-0924-dclm_llama",
        "s3://infini-gram/index/v4_olmoe-mix-0924-nodclm_llama",
        "s3://infini-gram/index/v4_olmo-2-0325-32b-anneal-adapt_llama",
    )
    assert published_urls("pileval") == ("s3://infini-gram-lite/index/v4_pileval_llama",)
    assert published_urls("nothing") == ()
    assert not {*PUBLISHED_UNIONS} & {row.short_alias for row in PUBLISHED}


def test_near_names_of_published_indexes_are_suggested() -> None:
    assert near_published_names("pilevall")[0] == "tokens:public/pileval"
    assert near_published_names("v4_pileval_lama")[0] == "tokens:public/pileval"
    assert near_published_names("dolma") == [row.alias for row in PUBLISHED if "dolma" in row.alias]
    assert near_published_names("olmo-2-32")[0] == "tokens:public/olmo-2-32b"
    assert near_published_names("") == []
