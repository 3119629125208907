"""The `ngramscan` command: options in, rows out; all work is done elsewhere."""

from __future__ import annotations

import click

from ngramscan import __version__
from ngramscan.cli.blending import blend_command
from ngramscan.cli.contexts import contexts_command
from ngramscan.cli.counting import count_command
from ngramscan.cli.documents import docnorm_command
from ngramscan.cli.indexes import index_group
from ngramscan.cli.keyness import keyness_command
from ngramscan.cli.serve import serve_command
from ngramscan.cli.strategies import strategies_command
from ngramscan.cli.tiering import tiers_command
from ngramscan.output.options import Group

__all__ = ["main"]


@click.group(cls=Group, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="ngramscan")
def main() -> None:
    """Corpus statistics: what language models were trained on, with intervals.

    Exit codes: 0 all done, 1 something could not be done (what was done is kept), 2 wrong usage,
    130 interrupted (kept; the same command goes on).
    """


for command in (
    count_command,
    docnorm_command,
    contexts_command,
    index_group,
    keyness_command,
    serve_command,
):
    main.add_command(command)
main.add_command(strategies_command)
main.add_command(blend_command)
main.add_command(tiers_command)
