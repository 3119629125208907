"""The `evalcore` command: its parts are derived from the functions."""

from __future__ import annotations

import click

from ngramscan import __version__
from ngramscan.report.command import Commands

main = Commands(
    "evalcore",
    [
        *("run", "score", "judge", "logs", "compare", "outcomes", "efficiency"),
        *("agreement", "audit", "link"),
    ],
    keeping=["run", "judge"],
    name="evalcore",
    context_settings={"help_option_names": ["-h", "--help"]},
    help="""Put prompting methods to models, score what they answer, and compare them.

    Exit codes: 0 all done, 1 something could not be done (what was done is kept), 2 wrong usage,
    130 interrupted (kept; the same command goes on).
    """,
)
datasets = Commands(
    "evalcore",
    ["check", "fetch", "list"],
    keeping=["fetch"],
    prefix="datasets_",
    help="Benchmarks: list them, fetch them, check a copy.",
)
main.add_command(datasets, "datasets")
click.version_option(__version__, prog_name="evalcore")(main)
