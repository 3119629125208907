"""Options of commands that read scores."""

from __future__ import annotations

import click

from evalcore.scores import NO_ANSWER_IS

rule_option = click.option(
    "--rule",
    "rule",
    multiple=True,
    metavar="NAME",
    help="Whose values are taken, where several rules scored; again for several benchmarks.",
)
run_option = click.option(
    "--run",
    "run",
    multiple=True,
    metavar="NAME",
    help="Which run of a method that has several: its name, a part of it, or `latest`. Repeatable.",
)
no_answer_option = click.option(
    "--no-answer",
    type=click.Choice(NO_ANSWER_IS),
    default=NO_ANSWER_IS[0],
    show_default=True,
    help="What an output counts as that was refused, cut off or empty.",
)
