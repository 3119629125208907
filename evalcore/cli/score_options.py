"""Options of commands that read scores."""

from __future__ import annotations

import click

from evalcore.solved_problems import MISSING

rule_option = click.option(
    "--rule",
    "rule",
    multiple=True,
    metavar="NAME",
    help="Whose values are taken, where several rules scored; again for several benchmarks.",
)
missing_option = click.option(
    "--missing",
    type=click.Choice(MISSING),
    default=MISSING[0],
    show_default=True,
    help="What a problem without a scored answer is.",
)
