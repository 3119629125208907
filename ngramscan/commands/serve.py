"""`ngramscan serve`: local indexes behind the protocol of the public service."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from ngramscan.errors import InputError
from ngramscan.processes.pool import usable_cores
from ngramscan.progress import SILENT, Progress
from ngramscan.report.command import NoRows, Option, command


@command
def serve(
    *directories: Annotated[str | Path, Option(metavar="DIR...")],
    host: Annotated[str, Option(metavar="ADDRESS")] = "127.0.0.1",
    port: Annotated[int, Option(least=0, most=65535)] = 8787,
    concurrency: Annotated[int | None, Option(least=1, envvar="")] = None,
    allow_host: Annotated[str | Sequence[str], Option(metavar="NAME")] = (),
    progress: Progress = SILENT,
) -> NoRows:
    """Serve local indexes over HTTP, as the public infini-gram-mini service does.

    DIR is an index of `ngramscan index build` or of infini-gram-mini: a shard, or a folder of
    shards. Each is named after its folder. There is no authentication.

    Parameters
    ----------
    *directories : str or Path
        Indexes.
    host : str
        Where to listen; anything but a loopback address lets others ask too.
    port : int
        0 for any that is free.
    concurrency : int, optional
        Number of threads that search. By default one per core.
    allow_host : str or sequence of str
        Another name that requests may call this server by, as behind a proxy. By default localhost,
        this machine's name and any address.
    progress : Progress
        Reports what is served, and each request.

    Examples
    --------
    $ ngramscan serve my-index other-index
    $ ngramscan count f1 --index http://127.0.0.1:8787/my-index
    """
    try:
        # Slow to import, and of an extra.
        from ngramscan.serve.server import serve_folders
    except ModuleNotFoundError as error:
        problem = f"needs {error.name}: pip install 'ngramscan[serve]'"
        raise InputError("serve", problem) from error
    folders = [Path(directory) for directory in directories]
    threads = concurrency or usable_cores()
    is_interrupted = serve_folders(folders, host, port, threads, allow_host, progress)
    return NoRows(exit_code=130 if is_interrupted else 0)
