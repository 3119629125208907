"""What metadata call the source of a document, and which of it can be linked to."""

import json

import pytest

from ngramscan.prevalence.metadata import is_web_address, names_of_source, read_metadata


@pytest.mark.parametrize(
    ("metadata", "names"),
    [
        pytest.param({"id": "i", "url": "u", "path": "p", "source": "s"}, [*"usip"], id="in order"),
        pytest.param(
            {"url": "outer", "metadata": {"url": "inner"}}, ["inner", "outer"], id="nested first"
        ),
        pytest.param({"url": 5, "id": "", "path": "p"}, ["p"], id="texts alone"),
        pytest.param({"metadata": "text", "title": "t"}, [], id="nothing that names it"),
        pytest.param(["url"], [], id="a list"),
    ],
)
def test_names_of_a_source(metadata: object, names: list[str]) -> None:
    assert names_of_source(json.dumps(metadata)) == names


@pytest.mark.parametrize("metadata", ["", "plain text", "[1]", "[" * 100_000])
def test_metadata_that_are_no_object_are_empty(metadata: str) -> None:
    assert read_metadata(metadata) == ({}, {})
    assert names_of_source(metadata) == []


@pytest.mark.parametrize(
    ("text", "is_link"),
    [
        ("https://a.org/?b=1&c", True),
        ("HTTP://a.org", True),
        ("https://a.org/" + "x" * 1985, True),
        ("https://a.org/" + "x" * 1986, False),
        (" https://a.org", False),
        ("https://a.org/\u202e", False),
        ("https://[", False),
        ("https:///path", False),
        ("javascript:run()", False),
        ("ftp://a.org", False),
        ("doc-1", False),
    ],
)
def test_an_address_of_the_web_can_be_linked_to(text: str, is_link: bool) -> None:
    assert is_web_address(text) is is_link
