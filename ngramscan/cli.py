"""The `ngramscan` command: its parts are derived from the functions in `commands`."""

from __future__ import annotations

from collections.abc import Sequence

import click

from ngramscan import __version__
from ngramscan.reporting.command import Commands

main = Commands(
    "ngramscan.commands",
    [
        *("count", "docnorm", "contexts", "contaminate"),
        *("blend", "tiers", "keyness", "strategies", "report", "serve"),
    ],
    keeping=["count", "docnorm", "contexts", "contaminate"],
    name="ngramscan",
    context_settings={"help_option_names": ["-h", "--help"]},
    help="""Corpus statistics: what language models were trained on, with intervals.

    Exit codes: 0 all done, 1 something could not be done (what was done is kept), 2 wrong usage,
    130 interrupted (what was done is kept; run the same command to go on).
    """,
)
click.version_option(__version__, prog_name="ngramscan")(main)


def _add_group(name: str, names: list[str], text: str, keeping: Sequence[str] = ()) -> None:
    group = Commands("ngramscan.commands", names, keeping, f"{name}_", name=name, help=text)
    main.add_command(group)


_add_group(
    "index",
    ["list", "info", "build", "add", "verify"],
    "List the hosted indexes; build, check and describe local ones.",
    keeping=["build", "add"],
)
_add_group(
    "journal",
    ["info", "clear"],
    """Show or remove stored replies.

    Nothing is asked twice: replies are in ~/.cache/ngramscan/replies.sqlite, on macOS in
    ~/Library/Caches/ngramscan/replies.sqlite, or in the file of --journal.
    """,
)
_add_group(
    "patterns",
    ["list", "show"],
    "List the pattern sets that come with ngramscan; show one of them, or your own.",
)
