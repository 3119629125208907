"""The metadata of documents → the source that a field of them names.

A field is named by its key, or by a path with dots (`metadata.source`). Many corpora keep their
metadata in an object `metadata` or `meta`, so fields are looked for in these as well.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from typing import Any
from urllib.parse import unquote, urlsplit

URL_HOST = "url-host"
"""The name of the host in a document's URL."""
YEAR = "year"
"""The name of the year in a document's date."""
URL_FIELDS = ("url", "source_url", "WARC-Target-URI", "uri", "source")
"""Fields that may hold the URL of a document, by precedence."""
DATE_FIELDS = ("date", "timestamp", "created", "WARC-Date")
"""Fields that may hold the date of a document, by precedence."""

UNREADABLE = "(unreadable)"
"""The host or year of documents whose fields hold something else; no host and no year is it."""

_CONTAINERS = ("metadata", "meta")
_MAY_HOLD_OTHER_THINGS = ("source",)
"""Fields that often hold other texts than URLs: such a text is not an unreadable URL."""
_MAY_LACK_SCHEME = ("url", "source_url", "WARC-Target-URI")
"""Fields in which `example.org/a` is a URL."""

# The parts of a URL

_SCHEME = re.compile(r"[a-z][a-z\d+.-]*:(?!\d+(?:[/?#]|$))", re.IGNORECASE)
"""The colon in `example.org:8080/` is that before a port."""
_HOST_NAME = re.compile(r"(?=.{1,253}$)[a-z\d_-]{1,63}(?:\.[a-z\d_-]{1,63})*")
_DOTTED_NAME = re.compile(r".+\.[a-z][a-z\d-]*[a-z\d]|\d{1,3}(?:\.\d{1,3}){3}")
_FILE_ENDINGS = ("asp", "aspx", "csv", "htm", "html", "json", "jsonl", "jsp", "pdf", "php", "txt")
"""A text that ends like this, without a scheme, is the name of a file and not of a host."""

# The parts of a date

_YEAR = re.compile(r"(?<!\d)((?:1\d|20)\d\d)(?!\d)|(?<!\d)((?:1\d|20)\d\d)(?=\d\d\d\d(?!\d))")
"""A year: alone, or at the start of a date without separators."""
_TIME = re.compile(
    r"""
    (?: (?<=\d)T\d\d:?\d\d (?: :?\d\d )? | \b\d{1,2}:\d\d (?: :\d\d )? )
    (?: [.,]\d+ )?
    (?: \s* [+-]\d\d:?\d\d )?
    (?![\d:])
    """,
    re.VERBOSE,
)
"""The time of a day with its offset from UTC, in which `+1000` is not a year."""
_MONTH_AND_SHORT_YEAR = re.compile(
    r"\b\d{1,2}[ -](?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*[ -](\d\d)(?!\d)",
    re.IGNORECASE,
)
"""`06-Nov-94`, as RFC 850 and RFC 822 write it."""
_FIRST_YEAR_OF_1900S = 50
"""Two digits from here on are a year before 2000 (RFC 2822, section 4.3)."""
_NUMBER = re.compile(r"(\d+)(?:\.\d*)?")
_CALENDAR_FORMS = {
    6: "%Y%m",
    8: "%Y%m%d",
    10: "%Y%m%d%H",
    12: "%Y%m%d%H%M",
    14: "%Y%m%d%H%M%S",
}
"""Dates written as a number, by its digits."""
_EPOCH_UNITS = {
    9: 1,
    10: 1,
    12: 10**3,
    13: 10**3,
    15: 10**6,
    16: 10**6,
    18: 10**9,
    19: 10**9,
}
"""By the digits of a time since 1970: its units per second."""
_MAY_BE_EPOCH_TIMES = (10, 12)
"""With so many digits, a number is a date only if its year is of these centuries:"""
_RECENT_CENTURIES = ("19", "20")


def names_read(by: str) -> tuple[str, ...]:
    """Return the fields of a document that may hold what `by` names."""
    named = {URL_HOST: URL_FIELDS, YEAR: DATE_FIELDS}.get(by, (by, by.partition(".")[0]))
    return tuple(dict.fromkeys([*named, *_CONTAINERS]))


def source_value(fields: Mapping[str, Any], by: str) -> str | None:
    """Return the value by which a document is counted; None if its metadata have none.

    It is `UNREADABLE` where the fields of a URL or date hold something, but no host or year.

    Parameters
    ----------
    fields : mapping
        The metadata of the document.
    by : str
        A field, or a path of fields with dots; `url-host` or `year`.

    Examples
    --------
    >>> source_value({"metadata": {"source": "arxiv"}}, "source")
    'arxiv'
    >>> source_value({"url": "https://www.Example.org/a"}, "url-host")
    'example.org'
    >>> source_value({"created": "2019-03-01T00:00:00Z"}, "year")
    '2019'
    """
    if by == URL_HOST:
        return _first_readable(fields, URL_FIELDS, _host)
    if by == YEAR:
        return _first_readable(fields, DATE_FIELDS, lambda date, _: _year(date))
    return next(_values(fields, by), None)


def field_names_of(fields: Mapping[str, Any]) -> list[str]:
    """Return the names of some fields, and of those in their objects as paths."""
    names = list[str]()
    for name, value in fields.items():
        inner = _as_object(value)
        names += [f"{name}.{inner_name}" for inner_name in inner] if inner else [name]
    return names


def _first_readable(
    fields: Mapping[str, Any], names: tuple[str, ...], read_text: Callable[[str, str], str]
) -> str | None:
    """Return what `read_text` makes of the first value it can read; None if there is no value."""
    value = None
    for name in names:
        for text in _values(fields, name):
            if readable := read_text(text, name):
                return readable
            if name not in _MAY_HOLD_OTHER_THINGS:
                value = UNREADABLE
    return value


def _values(fields: Mapping[str, Any], name: str) -> Iterator[str]:
    """Yield the values of a field, in the document and in its objects of metadata, as texts."""
    containers = [fields, *(_as_object(fields.get(container)) for container in _CONTAINERS)]
    for container in containers:
        text = _as_text(_at_path(container, name))
        if text:
            yield text


def _at_path(fields: Mapping[str, Any], path: str) -> Any:
    """Return the value at a path; a key that has the dots in it comes first."""
    if path in fields:
        return fields[path]
    name, dot, rest = path.partition(".")
    return _at_path(_as_object(fields.get(name)), rest) if dot else None


def _as_object(value: Any) -> Mapping[str, Any]:
    """Return an object, which may be written as JSON in a text; empty if it is none."""
    if isinstance(value, str) and value.startswith("{"):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            return {}
    return value if isinstance(value, Mapping) else {}


def _as_text(value: Any) -> str:
    if value is None or isinstance(value, str):
        return value or ""
    if isinstance(value, (bool, int, float, list, tuple, Mapping)):
        return json.dumps(value, ensure_ascii=False, sort_keys=True, default=str)
    return str(value)


def _host(url: str, field: str) -> str:
    """Return the host of a URL in one form, without `www.`; empty if there is none.

    Names are in small letters, and international ones as in DNS (`xn--bcher-kva.example`).
    """
    url = url.strip()
    has_scheme = url.startswith("//") or _SCHEME.match(url) is not None
    if not has_scheme and field not in _MAY_LACK_SCHEME:
        return ""
    try:
        host = urlsplit(url if has_scheme else f"//{url}").hostname or ""
        name = _host_name(unquote(host))
    except ValueError:
        return ""
    if not has_scheme and not _is_dotted(name):
        return ""
    without_www = name.removeprefix("www.")
    return without_www if "." in without_www else name


def _host_name(host: str) -> str:
    """Return a name or address as it is compared; empty if it is none."""
    if ":" in host:
        return str(ip_address(host))
    if not host.isascii():
        from yarl import URL  # slow to import, and few hosts need it

        host = URL.build(scheme="http", host=host).raw_host or ""
    name = host.lower().removesuffix(".")
    return name if _HOST_NAME.fullmatch(name) else ""


def _is_dotted(name: str) -> bool:
    """Tell whether a text without a scheme is the name of a host, and not of a file."""
    if _DOTTED_NAME.fullmatch(name) is None:
        return ":" in name
    return name.rpartition(".")[2] not in _FILE_ENDINGS


def _year(date: str) -> str:
    """Return the year of a date; empty if there is none. Times since 1970 are in UTC."""
    date = date.strip()
    number = _NUMBER.fullmatch(date)
    if number and len(number[1]) > len("2019"):
        return _year_of_number(number[1])
    without_time = _TIME.sub(" ", date)
    if year := _YEAR.search(without_time):
        return year[1] or year[2]
    if short := _MONTH_AND_SHORT_YEAR.search(without_time):
        century = "19" if int(short[1]) >= _FIRST_YEAR_OF_1900S else "20"
        return century + short[1]
    return ""


def _year_of_number(digits: str) -> str:
    """Return the year of a date without separators, or of a time since 1970; empty if neither."""
    n = len(digits)
    may_be_date = n not in _MAY_BE_EPOCH_TIMES or digits.startswith(_RECENT_CENTURIES)
    if n in _CALENDAR_FORMS and may_be_date:
        try:
            datetime.strptime(digits, _CALENDAR_FORMS[n]).replace(tzinfo=UTC)
        except ValueError:
            pass
        else:
            return digits[:4] if _YEAR.fullmatch(digits[:4]) else ""
    if n not in _EPOCH_UNITS:
        return ""
    seconds = int(digits) // _EPOCH_UNITS[n]
    year = str((datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=seconds)).year)
    return year if _YEAR.fullmatch(year) else ""
