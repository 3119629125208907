"""`infini-gram:NAME`: the hosted service over tokens."""

from __future__ import annotations

from ngramscan.indexes.http.index import ApiClient
from ngramscan.indexes.tokens.base import TokenIndex


def open_hosted(name: str, client: ApiClient) -> TokenIndex:
    """Return an index of a host, by its name or alias in the catalog or by any other name."""
    raise NotImplementedError
