"""The tables of docs/errata.md."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase

from docs.errata.claims import CheckedClaim, check_paper
from docs.errata.verdicts import VERDICTS

PLACES = re.compile(r"\b(?P<kind>table|figure)s? (?:\d+(?:, | and | to ))*(?P<number>\d+)")
"""Tables and figures that a claim names, with the last of several numbers."""


def markdown_table(heads: Sequence[str], rule: str, rows: Sequence[Sequence[object]]) -> str:
    """Return rows as a table in Markdown; `rule` is the line below the heads."""
    lines = [f"| {' | '.join(heads)} |", rule]
    lines += [f"| {' | '.join(str(part) for part in row)} |" for row in rows]
    return "\n".join(lines)


def mismatch_table(*patterns: str) -> str:
    """Return the claims that do not hold, among those with such ids, as a table."""
    rows: list[tuple[str, str, str, str]] = []
    for pattern in patterns:
        matching = [
            claim
            for claim in check_paper()
            if claim.verdict == "mismatch" and fnmatchcase(claim.id, pattern)
        ]
        if not matching:
            raise ValueError(f"no claim {pattern} is a mismatch")
        rows += [_mismatch_row(claim) for claim in matching]
    return markdown_table(
        ("claim", "statement", "printed", "recomputed"), "|---|---|---:|---:|", rows
    )


def _mismatch_row(claim: CheckedClaim) -> tuple[str, str, str, str]:
    assert claim.published is not None
    assert claim.recomputed is not None
    decimals = max(2, len(claim.published.partition(".")[2]))
    recomputed = f"{claim.recomputed:,.{decimals}f}".rstrip("0").rstrip(".")
    return f"`{claim.id}`", claim.statement.replace("|", "\\|"), claim.published, recomputed


def verdict_table() -> str:
    """Return how many claims about each table of the paper have which verdict."""
    counts: dict[tuple[str, int], Counter[str]] = defaultdict(Counter)
    for claim in check_paper():
        counts[place_of(claim)][claim.verdict] += 1
    rows = [
        [f"{kind} {number or ''}".strip(), *_cells(counts[kind, number])]
        for kind, number in sorted(counts)
    ]
    rows.append(["all", *_cells(sum(counts.values(), Counter()))])
    return markdown_table(("where", *VERDICTS), f"|---|{'---:|' * len(VERDICTS)}", rows)


def _cells(counts: Counter[str]) -> Iterator[str]:
    for verdict in VERDICTS:
        yield str(counts[verdict] or "")


def place_of(claim: CheckedClaim) -> tuple[str, int]:
    """Return the last table or figure that a claim names, or the text."""
    # "tables 3 and 11": a claim is mostly about the later, more detailed table.
    matches = list(PLACES.finditer(claim.where))
    return (matches[-1]["kind"], int(matches[-1]["number"])) if matches else ("text", 0)


def explanation(claim: CheckedClaim) -> str:
    """Return a claim with its formula, inputs and note, a line each."""
    values = {
        "where": claim.where,
        "statement": claim.statement,
        "published": claim.published,
        "recomputed": _figure(claim.recomputed),
        "low": _figure(claim.low),
        "high": _figure(claim.high),
        "verdict": claim.verdict,
        "formula": claim.formula,
        "inputs": claim.inputs,
        "note": claim.note,
    }
    lines = [f"{name}: {value}" for name, value in values.items() if value is not None]
    return "\n  ".join([claim.id, *lines])


def _figure(value: float | None) -> str | None:
    return None if value is None else f"{value:.6g}"
