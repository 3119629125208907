"""The indexes that a service lists now, compared with those of the catalog.

infini-gram's service lists names at its address, since 2025-12 with a description of each; it lists
those that its demonstration shows, and may have others. `ngramscan serve` lists its indexes below
`indexes`, with their sizes. infini-gram-mini's service has no list.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import httpx

from ngramscan.errors import RemoteRefused, RemoteUnavailable, RemoteUnreachable
from ngramscan.indexes.base import Unit
from ngramscan.indexes.catalog import (
    SERVICES,
    TOKEN_PREFIX,
    IndexRow,
    byte_indexes,
    find_hosted,
    find_token_index,
    service_at,
    token_indexes,
)
from ngramscan.indexes.http.client import ApiClient
from ngramscan.indexes.options import IndexOptions
from ngramscan.journal import Journal
from ngramscan.messages import counted
from ngramscan.progress import SILENT
from ngramscan.remote.error_words import error_words
from ngramscan.remote.exchange import NoConnectionError, TransientError, read_json
from ngramscan.rows import Label

LISTING_PROTOCOL = "infini-gram"
"""The protocol of the public service that lists its indexes."""
_NAME_FIELDS = ("index", "name")
"""Fields of an entry that have its name: of the original service, and of `ngramscan serve`."""

ListedStatus = Literal["in both", "not in the catalog", "not listed"]


@dataclass(frozen=True, slots=True)
class ListedIndexRow:
    """One index that a service lists, or that only the catalog has."""

    name: Label
    """As the service or the catalog calls it."""
    status: ListedStatus
    """Whether the service lists it and the catalog has it; one that is not listed may answer."""
    spec: str
    """As `--index` takes it; of an index that is not listed, as the catalog has it."""
    description: str | None
    """By the service; null: it tells none."""
    corpus: str | None
    """By the catalog; null: it is not there."""
    service: str
    """Address of the service."""


class ListedIndex(NamedTuple):
    """An index as a service lists it."""

    name: str
    description: str
    """Empty: it tells none."""
    unit: Unit


def list_live(options: IndexOptions, url: str = "") -> list[ListedIndexRow]:
    """Ask a service what indexes it has now, and compare them with the catalog.

    Parameters
    ----------
    options : IndexOptions
        How long a reply may take.
    url : str
        Address of the service; empty: the public services that list their indexes.

    Returns
    -------
    list of ListedIndexRow
        Those that the service lists, in its order, then those that only the catalog has.

    Raises
    ------
    RemoteError
        The service can't be reached, or its reply is not a list of indexes. Nothing is kept.
    """
    urls = [url] if url else [each.url for each in SERVICES if each.protocol == LISTING_PROTOCOL]
    rows = []
    for each in urls:
        with ApiClient(each, options, Journal(None), SILENT) as client:
            rows += compare_with_catalog(client.url, ask_for_list(client))
    return rows


def describe_differences(rows: Sequence[ListedIndexRow]) -> str:
    """Return how a list differs from the catalog, as a sentence; empty: it does not."""
    new = sum(row.status == "not in the catalog" for row in rows)
    unlisted = sum(row.status == "not listed" for row in rows)
    parts = []
    if new:
        parts.append(f"{counted(new, 'index', 'indexes')} not in the catalog of this version")
    if unlisted:
        parts.append(f"{counted(unlisted, 'index', 'indexes')} not listed, which may still answer")
    return "; ".join(parts)


def compare_with_catalog(url: str, listed: Sequence[ListedIndex]) -> list[ListedIndexRow]:
    """Return the indexes that a service lists, then those that only the catalog has."""
    rows = [_listed_row(url, index) for index in listed]
    units = {index.unit for index in listed} or {"tokens"}
    in_catalog = {_row_in_catalog(index) for index in listed}
    candidates = [row for row in (*byte_indexes(), *token_indexes()) if row.unit in units]
    rows += [
        ListedIndexRow(
            name=row.service_name,
            status="not listed",
            spec=row.name,
            description=None,
            corpus=row.corpus,
            service=url,
        )
        for row in candidates
        if row not in in_catalog
    ]
    return rows


def _listed_row(url: str, index: ListedIndex) -> ListedIndexRow:
    row = _row_in_catalog(index)
    return ListedIndexRow(
        name=index.name,
        status="in both" if row else "not in the catalog",
        spec=_spec(url, index),
        description=index.description or None,
        corpus=row.corpus if row else None,
        service=url,
    )


def _row_in_catalog(index: ListedIndex) -> IndexRow | None:
    find = find_token_index if index.unit == "tokens" else find_hosted
    return find(index.name)


def _spec(url: str, index: ListedIndex) -> str:
    """Return how `--index` names an index of a service."""
    place = index.name if service_at(url) else url + index.name
    return TOKEN_PREFIX + place if index.unit == "tokens" else place


# Lists


def ask_for_list(client: ApiClient) -> list[ListedIndex]:
    """Return the indexes that a host lists; a RemoteError says that it lists none.

    The public service is asked at its address only; another host may be `ngramscan serve`.
    """
    if service_at(client.url) is None:
        with suppress(RemoteRefused):
            return _ask_at(client, "indexes")
    return _ask_at(client, "")


def _ask_at(client: ApiClient, path: str) -> list[ListedIndex]:
    try:
        return read_list(client.service.get(path))
    except NoConnectionError as error:
        raise RemoteUnreachable(f"{client.url}: {error}") from error
    except TransientError as error:
        raise RemoteUnavailable(f"{client.url}: {error}") from error
    except RemoteRefused as error:
        raise RemoteRefused(f"{client.url}: {error}") from error


def read_list(response: httpx.Response) -> list[ListedIndex]:
    """Return the indexes of a reply; a RemoteRefused says that it is not a list of them."""
    status, body = response.status_code, read_json(response.content)
    if status != 200:
        words = error_words(body, response)[:200]
        raise RemoteRefused(f"HTTP {status}" + (f": {words}" if words else ""))
    entries = body.get("indexes") if isinstance(body, dict) else body
    if not isinstance(entries, list):
        raise RemoteRefused("HTTP 200, but not a list of indexes")
    return [_read_entry(entry) for entry in entries]


def _read_entry(entry: Any) -> ListedIndex:
    if isinstance(entry, str) and entry:
        return ListedIndex(entry, "", "tokens")
    fields = entry if isinstance(entry, dict) else {}
    names = [fields[field] for field in _NAME_FIELDS if isinstance(fields.get(field), str)]
    if not any(names):
        raise RemoteRefused("HTTP 200, but an entry of its list has no name of an index")
    description = fields.get("desc")
    # `ngramscan serve` tells the bytes of indexes over bytes.
    return ListedIndex(
        name=next(filter(None, names)),
        description=description if isinstance(description, str) else "",
        unit="bytes" if "bytes" in fields else "tokens",
    )
