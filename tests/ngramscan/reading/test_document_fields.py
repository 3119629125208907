"""The source of a document, by its metadata."""

from typing import Any

import pytest

from ngramscan.reading.document_fields import field_names_of, names_read, source_value


@pytest.mark.parametrize(
    ("fields", "by", "value"),
    [
        pytest.param({"source": "arxiv"}, "source", "arxiv", id="a field"),
        pytest.param({"metadata": {"source": "a"}}, "metadata.source", "a", id="a path"),
        pytest.param({"metadata": {"source": "a"}}, "source", "a", id="in the metadata"),
        pytest.param({"meta": {"pile_set_name": "P"}}, "pile_set_name", "P", id="in meta"),
        pytest.param({"meta": '{"set": "P"}'}, "set", "P", id="in an object written as text"),
        pytest.param({"meta": "{broken"}, "set", None, id="in a text that is no object"),
        pytest.param({"a.b": "x", "a": {"b": "y"}}, "a.b", "x", id="a key with a dot first"),
        pytest.param({"source": "x", "metadata": {"source": "y"}}, "source", "x", id="outer first"),
        pytest.param({"source": "", "meta": {"source": "y"}}, "source", "y", id="empty is none"),
        pytest.param({"source": None}, "source", None, id="null"),
        pytest.param({"text": "t"}, "source", None, id="no field"),
        pytest.param({"n": 3}, "n", "3", id="a number"),
        pytest.param({"is_new": True}, "is_new", "true", id="a truth value"),
        pytest.param({"tags": ["a", "é"]}, "tags", '["a", "é"]', id="a list"),
        pytest.param({"url": "https://WWW.A.org:80/x"}, "url-host", "a.org", id="host"),
        pytest.param({"url": "http://b.www.org./"}, "url-host", "b.www.org", id="inner www"),
        pytest.param({"url": "a.org/x"}, "url-host", None, id="an address without scheme"),
        pytest.param({"url": "http://[1/"}, "url-host", None, id="a broken address"),
        pytest.param({"source": "http://c.org"}, "url-host", "c.org", id="a URL as source"),
        pytest.param(
            {"WARC-Target-URI": "http://d.org/"}, "url-host", "d.org", id="a header of WARC"
        ),
        pytest.param(
            {"url": "none", "source_url": "http://e.org/"}, "url-host", "e.org", id="the next URL"
        ),
        pytest.param({"date": "2019-05-06"}, "year", "2019", id="a date"),
        pytest.param({"date": "20190506"}, "year", "2019", id="a date without signs"),
        pytest.param({"timestamp": "20190506101112"}, "year", "2019", id="with its time"),
        pytest.param({"created": 1999}, "year", "1999", id="a number of a year"),
        pytest.param({"date": "6 May 2019"}, "year", "2019", id="a date in words"),
        pytest.param({"date": "123456", "created": "2001"}, "year", "2001", id="the next date"),
        pytest.param({"date": "3019"}, "year", None, id="no year"),
    ],
)
def test_value(fields: dict[str, Any], by: str, value: str | None) -> None:
    assert source_value(fields, by) == value


@pytest.mark.parametrize(
    ("by", "names"),
    [
        ("a.b", {"a.b", "a"}),
        ("url-host", {"url", "source_url", "WARC-Target-URI", "uri", "source"}),
        ("year", {"date", "timestamp", "created", "WARC-Date"}),
    ],
)
def test_columns_that_are_read(by: str, names: set[str]) -> None:
    assert {*names_read(by)} == names | {"metadata", "meta"}


def test_names_of_fields_are_paths() -> None:
    fields = {"a": 1, "metadata": {"b": {"c": 1}, "d": 2}, "empty": {}}
    assert field_names_of(fields) == ["a", "metadata.b", "metadata.d", "empty"]
