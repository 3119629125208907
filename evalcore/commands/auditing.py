"""`evalcore audit`: published figures recomputed from the published tables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import TYPE_CHECKING

from evalcore.claim_checks import (
    MISMATCH,
    OK,
    VERDICTS,
    AuditRow,
    check_claims,
    read_claims,
    read_tables,
)
from ngramscan.output import strict_keywords, to_frame

if TYPE_CHECKING:
    import pandas as pd
    from rich.console import Console

_CLAIMS_FILE = "claims.yaml"


def audit_with(tables: Path | None, claims: Path | None) -> list[AuditRow]:
    """Recompute the claims of a file; the paper's where nothing else is named."""
    folder: Path | Traversable = tables or resources.files("evalcore") / "published"
    found = read_claims(claims or folder / _CLAIMS_FILE)
    return check_claims(read_tables(folder, found.reading), found)


def describe_mismatches(rows: Sequence[AuditRow]) -> list[str]:
    """Return what makes a strict audit fail."""
    count = sum(row.verdict == MISMATCH for row in rows)
    return [f"{count} of {len(rows)} claims are mismatches"] if count else []


def print_findings(console: Console, rows: Sequence[AuditRow]) -> None:
    """Print all claims that are not ok, and how many have which verdict."""
    for row in rows:
        if row.verdict != OK:
            console.print("\n".join(_describe(row)), soft_wrap=True)
    counts = Counter(row.verdict for row in rows)
    console.print(", ".join(f"{counts[verdict]} {verdict}" for verdict in VERDICTS))


def _describe(row: AuditRow) -> Iterator[str]:
    yield f"{row.verdict}: {row.id} ({row.where})"
    yield f"  {row.statement}"
    decimals = len((row.published or "").partition(".")[2]) + 2
    figures = [f"published {row.published}"] if row.published is not None else []
    if row.recomputed is not None:
        figures.append(f"recomputed {row.recomputed:,.{decimals}f}")
    if row.low is not None and row.high is not None and row.low < row.high:
        figures.append(f"from {row.low:,.{decimals}f} to {row.high:,.{decimals}f}")
    if figures:
        yield f"  {', '.join(figures)}"
    for name in ("formula", "inputs", "note"):
        if text := getattr(row, name):
            yield f"  {name}: {text}"
    yield ""


@strict_keywords
def audit(tables: str | Path | None = None, *, claims: str | Path | None = None) -> pd.DataFrame:
    """Recompute published figures from published tables.

    Parameters
    ----------
    tables : str, Path or None
        A folder of CSV files; None: the tables of the Formula-One Prompting paper.
    claims : str, Path or None
        What is claimed, and how it follows; None: `claims.yaml` in that folder.

    Returns
    -------
    DataFrame
        One row per claim: `id, where, statement, published, recomputed, low, high, verdict,
        formula, inputs, note`. The verdict is `ok`, `rounding`, `mismatch` or `not derivable`.

    Raises
    ------
    InputError
        A file can't be read, or a formula can't be computed.
    """
    rows = audit_with(Path(tables) if tables else None, Path(claims) if claims else None)
    return to_frame(rows, AuditRow)
