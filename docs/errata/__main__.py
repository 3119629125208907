"""Recompute the figures of the Formula-One Prompting paper from its own tables.

    python -m docs.errata                      verdicts by table, and all mismatches
    python -m docs.errata 'ratio-*' data-total     claims with their formulas, inputs and notes

The names are those of docs/errata/claims.yaml. A mismatch is a result: the exit code is 0.
"""

import sys
from fnmatch import fnmatchcase

import click

from docs.errata.claims import check_paper
from docs.errata.page import explanation, mismatch_table, verdict_table


def main(patterns: list[str]) -> None:
    """Print all verdicts and mismatches, or explain the claims with such names."""
    if not patterns:
        click.echo(f"{verdict_table()}\n\n{mismatch_table('*')}")
    explanations: list[str] = []
    for pattern in patterns:
        claims = [claim for claim in check_paper() if fnmatchcase(claim.id, pattern)]
        if not claims:
            sys.exit(f"no claim {pattern}; names are in docs/errata/claims.yaml")
        explanations += [explanation(claim) for claim in claims]
    click.echo("\n\n".join(explanations), nl=bool(explanations))


if __name__ == "__main__":
    main(sys.argv[1:])
