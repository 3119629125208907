"""The `evalcore` command: options in, rows out; all work is done elsewhere."""

from __future__ import annotations

import click

from evalcore.cli.datasets import datasets_group
from ngramscan import __version__
from ngramscan.output.command import Commands

__all__ = ["main"]


main = Commands(
    "evalcore",
    [
        *("run", "score", "judge", "logs", "compare", "flips", "complementarity", "outcomes"),
        *("efficiency", "agreement", "audit", "link"),
    ],
    keeping=["run", "judge"],
    name="evalcore",
    context_settings={"help_option_names": ["-h", "--help"]},
    help="""Put prompting methods to models, score what they answer, and compare them.

    Exit codes: 0 all done, 1 something could not be done (what was done is kept), 2 wrong usage,
    130 interrupted (kept; the same command goes on).
    """,
)
main = click.version_option(__version__, prog_name="evalcore")(main)

for command in (datasets_group,):
    main.add_command(command)
