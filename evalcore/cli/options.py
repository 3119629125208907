"""Options that several commands of `evalcore` share."""

from __future__ import annotations

from pathlib import Path

import click

from evalcore.records import LAYOUTS
from ngramscan.output.options import all_of

dataset_options = all_of(
    click.option("--dataset", required=True, metavar="NAME", help="See `evalcore datasets list`."),
    click.option(
        "--data",
        type=click.Path(path_type=Path),
        metavar="PATH",
        help="A local copy of the benchmark.  [default: the one that was fetched]",
    ),
)
"""What every command takes that needs a benchmark."""

model_options = all_of(
    click.option(
        "--base-url",
        metavar="URL",
        envvar="OPENAI_BASE_URL",
        show_envvar=True,
        help="Of an endpoint that speaks the protocol of OpenAI's chat completions.",
    ),
    click.option(
        "--api-key-env",
        metavar="VARIABLE",
        default="OPENAI_API_KEY",
        show_default=True,
        help="The environment variable that holds the key.",
    ),
    click.option(
        "--concurrency",
        type=click.IntRange(min=1),
        default=16,
        show_default=True,
        metavar="N",
        help="Requests under way at once.",
    ),
    click.option(
        "--rate",
        type=click.FloatRange(min=0, min_open=True),
        metavar="N",
        help="Requests per second at most.  [default: no limit]",
    ),
    click.option(
        "--timeout",
        "timeout_s",
        type=click.FloatRange(min=0, min_open=True),
        metavar="SECONDS",
        default=600.0,
        show_default=True,
        help="Without any byte of an answer, after which it is asked again.",
    ),
    click.option(
        "--temperature",
        type=float,
        default=0.0,
        show_default=True,
        metavar="T",
        help="Of sampling; 0: the likeliest words.",
    ),
    click.option("--max-tokens", type=click.IntRange(min=1), metavar="N", help="Of an answer."),
    click.option(
        "--param",
        "params",
        multiple=True,
        metavar="KEY=VALUE",
        help="One more field of each request, JSON or text; again for more. `temperature=null` "
        "leaves the temperature out.",
    ),
)
"""What every command takes that asks a model."""

records_options = all_of(
    click.option(
        "--layout",
        type=click.Choice(LAYOUTS),
        default="evalcore",
        show_default=True,
        help="How the files of the outputs are laid out.",
    ),
    click.option(
        "--method",
        metavar="NAME",
        help="Which method the outputs were written after, where the layout does not say.",
    ),
)
"""What every command takes that reads recorded outputs."""
