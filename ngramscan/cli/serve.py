"""`ngramscan serve`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from ngramscan.output.options import progress_options
from ngramscan.progress import Terminal


@click.command("serve")
@click.argument(
    "directories",
    metavar="DIR...",
    nargs=-1,
    required=True,
    type=click.Path(exists=True, file_okay=False, path_type=Path),
)
@click.option(
    "--host",
    default="127.0.0.1",
    show_default=True,
    metavar="ADDRESS",
    help="Where to listen; anything but a loopback address lets others ask too.",
)
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=8787,
    show_default=True,
    metavar="N",
    help="0: any that is free.",
)
@click.option(
    "--concurrency",
    type=click.IntRange(min=1),
    metavar="N",
    help="Threads that search.  [default: one per core]",
)
@click.option(
    "--allow-host",
    multiple=True,
    metavar="NAME",
    help="Another name that requests may call this server by, as behind a proxy. Repeatable.  "
    "[default: localhost, this machine's name, any address]",
)
@progress_options
def serve_command(
    directories: Sequence[Path],
    host: str,
    port: int,
    concurrency: int | None,
    allow_host: Sequence[str],
    verbose: bool,
    quiet: bool,
) -> None:
    """Serve local indexes over HTTP, as the public infini-gram-mini service does.

    DIR is an index of `ngramscan index build` or of infini-gram-mini: a shard, or a folder of
    shards. Each is named after its folder. There is no authentication.

    \b
    Examples:
      ngramscan serve my-index other-index
      ngramscan count f1 --index http://127.0.0.1:8787/my-index
    """
    from ngramscan.serve import ServeOptions, serve

    options = ServeOptions(host, port, concurrency or 0, allow_host)
    try:
        with Terminal(quiet, verbose) as progress:
            interrupted = serve(directories, options, progress)
    except KeyboardInterrupt:  # before there was anything to end
        interrupted = True
    if interrupted:
        click.get_current_context().exit(130)
