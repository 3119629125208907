"""Options that several commands of `ngramscan` share."""

from __future__ import annotations

from pathlib import Path

import click

from ngramscan.output.options import all_of
from ngramscan.patterns import TIERS

selection_options = all_of(
    click.option(
        "--tier",
        "tiers",
        multiple=True,
        type=click.Choice(TIERS, case_sensitive=False),
        help="Only patterns of this tier; again for more.",
    ),
    click.option(
        "--method",
        "methods",
        multiple=True,
        metavar="NAME",
        help="Only patterns of this method; again for more.",
    ),
)
"""What every command takes that has pattern sets."""

access_options = all_of(
    click.option(
        "--api-url",
        envvar="NGRAMSCAN_API_URL",
        default="https://api.infini-gram-mini.io/",
        show_default=True,
        show_envvar=True,
        metavar="URL",
        help="Where hosted indexes are asked.",
    ),
    click.option(
        "--concurrency",
        type=click.IntRange(min=1),
        default=4,
        show_default=True,
        help="Requests under way at once.",
    ),
    click.option(
        "--rate",
        type=click.FloatRange(min=0),
        metavar="N",
        help="Requests per second at most; 0: no limit.  [default: 4; 0 for loopback addresses]",
    ),
    click.option(
        "--timeout",
        "timeout_s",
        type=click.FloatRange(min=0, min_open=True),
        default=45.0,
        show_default=True,
        metavar="SECONDS",
        help="How long a request may take, to the last byte of its answer.",
    ),
    click.option(
        "--journal",
        type=click.Path(path_type=Path, dir_okay=False),
        metavar="FILE",
        help="Where replies are kept.  [default: in the user's cache folder]",
    ),
    click.option("--refresh", is_flag=True, help="Ask also what the journal has."),
)
"""What every command takes that opens indexes."""

scan_options = all_of(
    click.option(
        "--text-field",
        default="text",
        show_default=True,
        metavar="NAME",
        help="The field of JSON lines, or column of Parquet, that holds the text.",
    ),
    click.option(
        "--workers",
        type=click.IntRange(min=1),
        metavar="N",
        help="Processes that read a corpus.  [default: one per core]",
    ),
    click.option(
        "--scheduler",
        metavar="ADDRESS",
        help="Read on a Dask cluster that is running: tcp://HOST:PORT.",
    ),
    click.option(
        "--sample-files",
        metavar="N|P%",
        help="Read only some files, drawn at random, and estimate the counts of all.",
    ),
    click.option(
        "--seed", type=int, default=1, show_default=True, help="Of what is drawn at random."
    ),
    click.option(
        "--limit-documents",
        type=click.IntRange(min=1),
        metavar="N",
        help="Read only the first documents of a corpus.",
    ),
    click.option(
        "--exclude-source",
        multiple=True,
        metavar="GLOB",
        help="Leave out documents whose path, URL or id matches; again for more.",
    ),
    click.option(
        "--skip-bad-lines",
        is_flag=True,
        help="Skip malformed JSON lines, and count them, instead of stopping.",
    ),
    click.option(
        "--max-line",
        type=click.IntRange(min=1),
        default=256,
        show_default=True,
        metavar="MB",
        help="The longest line of JSON; a longer one is an error.",
    ),
    click.option(
        "--ignore-case", is_flag=True, help="Count upper and lower case of ASCII letters as one."
    ),
)
"""What every command takes that may read a corpus."""


recorded_options = all_of(
    click.option(
        "--output-field",
        default="output",
        show_default=True,
        metavar="NAME",
        help="The field of a record that holds what the model wrote.",
    ),
    click.option(
        "--variant-field",
        metavar="NAME",
        help="A field with the variant, where one file has several.",
    ),
    click.option(
        "--skip-bad-lines",
        is_flag=True,
        help="Skip malformed JSON lines, and count them, instead of stopping.",
    ),
)
"""What every command takes that reads recorded outputs."""
