"""The source of a document, by its metadata."""

from typing import Any

import pytest

from ngramscan.reading.document_fields import (
    UNREADABLE,
    field_names_of,
    names_read,
    source_value,
)


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
    ],
)
def test_value(fields: dict[str, Any], by: str, value: str | None) -> None:
    assert source_value(fields, by) == value


@pytest.mark.parametrize(
    ("url", "host"),
    [
        ("http://example.org", "example.org"),
        ("HTTPS://WWW.Example.ORG/A", "example.org"),
        ("https://example.org:8080/a", "example.org"),
        ("https://example.org:/a", "example.org"),
        ("https://user@example.org/a", "example.org"),
        ("https://user:pass%40word@example.org:80/a@b", "example.org"),
        ("https://example.org?q=http://other.org/", "example.org"),
        ("https://example.org#a", "example.org"),
        ("https://example.org./a", "example.org"),
        ("https://www.example.org.:443/", "example.org"),
        ("  https://example.org/a\n", "example.org"),
        ("ftp://ftp.example.org/a", "ftp.example.org"),
        ("s3://bucket/key", "bucket"),
        ("http://localhost:8000/", "localhost"),
        ("http://my_site.example.org/", "my_site.example.org"),
        ("https://%65xample.org/", "example.org"),
        # Only a whole part `www` is left out, and never all but the last.
        ("http://www.com/", "www.com"),
        ("http://www2.example.org/", "www2.example.org"),
        ("http://wwwexample.org/", "wwwexample.org"),
        # International names are as in DNS, however they are written.
        ("https://bücher.example/a", "xn--bcher-kva.example"),
        ("https://BÜCHER.example/a", "xn--bcher-kva.example"),
        ("https://b%C3%BCcher.example/a", "xn--bcher-kva.example"),
        ("https://xn--bcher-kva.example/a", "xn--bcher-kva.example"),
        ("https://例え。jp/", "xn--r8jz45g.jp"),
        ("https://faß.example/", "xn--fa-hia.example"),
        # Addresses
        ("http://192.0.2.7:80/", "192.0.2.7"),
        ("http://[2001:DB8::1]/", "2001:db8::1"),
        ("http://[2001:db8:0:0:0:0:0:1]:8080/a", "2001:db8::1"),
        # Without a scheme
        ("example.org", "example.org"),
        ("example.org/a/b", "example.org"),
        ("www.example.org/a", "example.org"),
        ("//example.org/a", "example.org"),
        ("example.org:8080/a", "example.org"),
        ("example.org:8080", "example.org"),
        ("user@example.org:80/a", "example.org"),
        ("192.0.2.7/a", "192.0.2.7"),
        ("bücher.example/a", "xn--bcher-kva.example"),
        # No host
        ("none", UNREADABLE),
        ("not a url", UNREADABLE),
        ("/relative/path", UNREADABLE),
        ("relative/path.html", UNREADABLE),
        ("index.html", UNREADABLE),
        ("data.jsonl", UNREADABLE),
        ("http://", UNREADABLE),
        ("http:///a", UNREADABLE),
        ("https://?q", UNREADABLE),
        ("http://[1/", UNREADABLE),
        ("http://[::1", UNREADABLE),
        ("http://[zz::1]/", UNREADABLE),
        ("http://a..b/", UNREADABLE),
        ("http://exa mple.org/", UNREADABLE),
        (f"http://{'a' * 64}.org/", UNREADABLE),
        ("urn:isbn:0451450523", UNREADABLE),
        ("mailto:a@example.org", UNREADABLE),
        ("file:///home/a.txt", UNREADABLE),
        ("doi:10.1000/182", UNREADABLE),
        ("3.14", UNREADABLE),
        ("\u200b", UNREADABLE),
    ],
)
def test_host_of_a_url(url: str, host: str) -> None:
    assert source_value({"url": url}, "url-host") == host
    assert source_value({"metadata": {"url": url}}, "url-host") == host
    assert source_value({"url": url, "uri": "http://next.org"}, "url-host") == (
        "next.org" if host == UNREADABLE else host
    )


@pytest.mark.parametrize(
    ("fields", "host"),
    [
        pytest.param({"source": "web"}, None, id="a source that is a word"),
        pytest.param({"source": "example.org"}, None, id="a source without a scheme"),
        pytest.param({"source": "http://c.org:80/x"}, "c.org", id="a source that is a URL"),
        pytest.param({"uri": "a/b.txt"}, UNREADABLE, id="a path as URI"),
        pytest.param({"url": 3}, UNREADABLE, id="a number"),
        pytest.param({"url": ""}, None, id="an empty text"),
        pytest.param({"url": None, "source": "web"}, None, id="null"),
        pytest.param({"url": "x", "source": "web"}, UNREADABLE, id="an unreadable URL and a word"),
    ],
)
def test_host_of_other_fields(fields: dict[str, Any], host: str | None) -> None:
    assert source_value(fields, "url-host") == host


@pytest.mark.parametrize(
    ("date", "year"),
    [
        # ISO 8601
        ("2023", "2023"),
        ("2023-05", "2023"),
        ("2023-05-01", "2023"),
        ("2023/05/01", "2023"),
        ("2023-05-01T10:11:12Z", "2023"),
        ("2023-05-01T10:11:12.123456+10:00", "2023"),
        ("2023-05-01 10:11:12 +1000", "2023"),
        ("20230501", "2023"),
        ("202305", "2023"),
        ("20230501T101112Z", "2023"),
        ("20230501101112", "2023"),
        ("202305011011", "2023"),
        ("2023050110", "2023"),
        ("2023-W18-1", "2023"),
        ("2023-121", "2023"),
        ("1999-2003", "1999"),
        ("2023-00-00", "2023"),
        ("1611-01-01", "1611"),
        # RFC 2822, RFC 850, asctime, and dates as people write them
        ("Mon, 01 May 2023 10:11:12 +0000", "2023"),
        ("Mon, 1 May 2023 20:19:12 GMT", "2023"),
        ("1 May 2023", "2023"),
        ("Sunday, 06-Nov-94 08:49:37 GMT", "1994"),
        ("06 Nov 22 08:49:37 +1000", "2022"),
        ("6 Nov 49 20:19 +1030", "2049"),
        ("Mon May  1 20:11:12 2023", "2023"),
        ("Mon May  1 20:11:12 +1000 2023", "2023"),
        ("May 1, 2023", "2023"),
        ("01.05.2023", "2023"),
        ("05/01/2023", "2023"),
        ("01-05-2023", "2023"),
        ("10:15:30.2021 01-05-2023", "2023"),
        ("2023年5月1日", "2023"),
        # Numbers
        (2023, "2023"),
        (2023.0, "2023"),
        (20230501, "2023"),
        (0, UNREADABLE),
        (1588888888, "2020"),
        ("1588888888", "2020"),
        (1588888888.75, "2020"),
        (1588888888123, "2020"),
        (1588888888123456, "2020"),
        (1588888888123456789, "2020"),
        (978307199, "2000"),
        (978307200, "2001"),
        (978307200000, "2001"),
        # As a date this would be of the year 1512.
        (1512121200, "2017"),
        ([2023, 5, 1], "2023"),
        # No year
        ("unknown", UNREADABLE),
        ("n.d.", UNREADABLE),
        ("yesterday at 20:19", UNREADABLE),
        ("May", UNREADABLE),
        ("06:20", UNREADABLE),
        ("0000-00-00", UNREADABLE),
        ("-0044-03-15", UNREADABLE),
        ("3019", UNREADABLE),
        ("0999", UNREADABLE),
        ("21000101", UNREADABLE),
        ("20231301", UNREADABLE),
        ("123456", UNREADABLE),
        (15888888, UNREADABLE),
        (9999999999, UNREADABLE),
        ("9" * 40, UNREADABLE),
        (True, UNREADABLE),
        ("", None),
        (None, None),
    ],
)
def test_year_of_a_date(date: Any, year: str | None) -> None:
    assert source_value({"date": date}, "year") == year
    assert source_value({"meta": {"timestamp": date}}, "year") == year
    assert source_value({"date": date, "created": "1987-01-01"}, "year") == (
        "1987" if year in {None, UNREADABLE} else year
    )


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
