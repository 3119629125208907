"""Sentences about rows, never beyond what their intervals allow."""

from __future__ import annotations

from ngramscan.report.page.results import Results


def sentences(results: Results) -> list[str]:
    """Return what some rows say, in words."""
    raise NotImplementedError
