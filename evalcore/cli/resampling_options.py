"""Options of commands whose intervals come from items drawn again."""

from __future__ import annotations

import click

from ngramscan.output.options import all_of

resampling_options = all_of(
    click.option(
        "--draws",
        type=click.IntRange(min=100),
        default=2000,
        show_default=True,
        metavar="N",
        help="How often items are drawn again, for intervals.",
    ),
    click.option(
        "--seed",
        type=click.IntRange(min=0),
        default=1,
        show_default=True,
        help="Of what is drawn at random.",
    ),
)
"""What a command takes that gives bootstrap intervals."""
