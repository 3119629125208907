"""All parts → one HTML file, without anything outside it."""

from __future__ import annotations

from collections.abc import Sequence

from ngramscan.report.page.results import Results


def make_page(results: Sequence[Results], title: str, made_at: str) -> str:
    """Return the page of some results; `made_at` is ISO 8601, UTC."""
    raise NotImplementedError
