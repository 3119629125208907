"""The identity of a host's index, since the host may give another index the same name."""

from __future__ import annotations

import hashlib
import json
import uuid
from collections.abc import Callable, Iterable

import httpx

from ngramscan.errors import RemoteError
from ngramscan.indexes.http.client import ApiClient
from ngramscan.indexes.http.replies import Reply
from ngramscan.journal import DAMAGED
from ngramscan.remote.exchange import NoConnectionError, TransientError

PROBES = ("the", "e ", "\u4e2d")
"""Texts whose ranks tell one index from another: they depend on all of the text."""
_IDENTITY = "identity"


def identify(client: ApiClient, name: str, probes: Iterable[Callable[[], str]]) -> str:
    """Return a text for the keys of replies that stands for the content of an index.

    It is made from the answers to probes. A host that is away has replaced no index: then it is the
    last text that is known.
    """
    try:
        ranks = [probe() for probe in probes]
    except NoConnectionError:
        return last_identity(client, name)
    except (RemoteError, TransientError, *DAMAGED):
        return f"{uuid.uuid4().hex} "  # an unknown index equals no other
    identity = hashlib.sha256("".join(ranks).encode()).hexdigest()[:16] + " "
    client.journal.put(client.url, name, _IDENTITY, identity)
    return identity


def last_identity(client: ApiClient, name: str) -> str:
    """Return the text that identified an index when it was last asked; empty if it never was."""
    stored_replies = client.journal.get(client.url, name, [_IDENTITY])
    return stored_replies[_IDENTITY].text if _IDENTITY in stored_replies else ""


def ask_ranks(client: ApiClient, form: Reply, read_reply: Callable[[httpx.Response], Reply]) -> str:
    """Ask a host where a text is, again if it is busy; return the ranks as text."""

    def read_ranks(response: httpx.Response) -> str:
        return json.dumps(read_reply(response)["segment_by_shard"])

    body = json.dumps(form)
    try:
        return read_ranks(client.service.post(body))
    except NoConnectionError:
        raise
    except TransientError:
        return client.service.ask(body, read_ranks)[0]
