"""`evalcore audit`."""

from __future__ import annotations

from pathlib import Path

import click

from ngramscan.output import choose_target
from ngramscan.output.options import emit, fail_with, keeps_nothing, output_options


@click.command("audit")
@click.argument("tables", type=click.Path(path_type=Path), required=False)
@click.option(
    "--claims",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="What is claimed, and how it follows.  [default: claims.yaml in TABLES]",
)
@click.option("--strict", is_flag=True, help="End with exit code 1 where a claim is a mismatch.")
@output_options
@keeps_nothing
def audit_command(
    tables: Path | None,
    claims: Path | None,
    strict: bool,
    format_name: str | None,
    output: Path | None,
) -> None:
    """Recompute published figures from published tables.

    TABLES is a folder of CSV files; without it, the tables of the Formula-One Prompting paper.
    Verdicts: ok, rounding (the last decimal), mismatch, different quantity, not derivable. A
    mismatch is a result: the exit code is 0 unless --strict. In the terminal, claims that are ok
    are only counted; every other format has all of them.

    \b
    Examples:
      evalcore audit
      evalcore audit tables/ --claims claims.yaml --strict -o audit.csv
    """
    from evalcore.audit import MISMATCH, AuditRow, audit_rows, print_findings

    target = choose_target(format_name, output)
    rows = audit_rows(tables, claims)
    emit(rows, AuditRow, target, lambda console: print_findings(console, rows))
    wrong = sum(row.verdict == MISMATCH for row in rows)
    if strict and wrong:
        fail_with([f"{wrong} of {len(rows)} claims are mismatches"])
