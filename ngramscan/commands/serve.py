"""`ngramscan serve`: local indexes over the protocols of the public services."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from ngramscan.errors import InputError, needs_extra
from ngramscan.indexes.base import COMMON_CONTEXT
from ngramscan.indexes.kinds import index_folder, index_folders
from ngramscan.messages import OptionUse
from ngramscan.options import CORPUS_NAME
from ngramscan.processes.pool import usable_cores
from ngramscan.progress import SILENT, Progress
from ngramscan.reporting.command import NoRows, Option, command


@command
def serve(
    *directories: Annotated[str | Path, Option(metavar="DIR...")],
    host: Annotated[str, Option(metavar="ADDRESS")] = "127.0.0.1",
    port: Annotated[int, Option(least=0, most=65535)] = 8787,
    concurrency: Annotated[int | None, Option(least=1, envvar="")] = None,
    allow_host: Annotated[str | Sequence[str], Option(metavar="NAME")] = (),
    max_context: Annotated[int, Option(metavar="BYTES", least=COMMON_CONTEXT)] = COMMON_CONTEXT,
    tokenizer: Annotated[str | Path | None, Option(metavar="FILE")] = None,
    open_browser: Annotated[bool, Option("--open")] = False,
    progress: Progress = SILENT,
) -> NoRows:
    """Serve local indexes over HTTP.

    The protocol is that of the public infini-gram-mini service. DIR is an index made by
    `ngramscan index build` or by infini-gram-mini: a shard, or a folder of shards. An index over
    tokens, as infini-gram makes them, is served in the protocol of infini-gram. Each index is named
    after its folder, or NAME=DIR gives it a name; NAME=tokens:DIR,DIR joins folders of tokens. A
    browser gets a page to search them. Clients are not authenticated.

    Parameters
    ----------
    *directories : str or Path
        Folders of indexes, or NAME=DIR.
    host : str
        Address to listen on; other machines can reach it unless this is a loopback address.
    port : int
        Port to listen on; 0 takes any that is free.
    concurrency : int, optional
        Number of threads that search. By default one per core.
    allow_host : str or sequence of str
        Another name of this server, for example behind a proxy. By default it answers requests to
        localhost, to this machine's name and to any address.
    max_context : int
        Maximum text on each side of an occurrence; as large as the longest document, it lets
        clients see documents whole.
    tokenizer : str or Path, optional
        Tokenizer of the indexes over tokens: a SentencePiece model or a tokenizer.json, or a folder
        with one.
    open_browser : bool
        Open the search page in the browser.
    progress : Progress
        Reports the indexes, and each request.

    Examples
    --------
    $ ngramscan serve my-index web=other-index
    $ ngramscan count f1 --index http://127.0.0.1:8787/my-index
    """
    with needs_extra("ngramscan serve", "serve"):  # which is slow to import, too
        from ngramscan.serve.server import Address, serve_folders
    folders = _named_folders(directories)
    address = Address(host, port, allow_host, open_browser)
    ways = concurrency or usable_cores(), max_context
    is_interrupted = serve_folders(folders, tokenizer, address, *ways, progress)
    return NoRows(exit_code=130 if is_interrupted else 0)


def _named_folders(directories: Sequence[str | Path]) -> list[tuple[str, Sequence[Path]]]:
    """Return folders after the name that a user gives their index; empty: that of the folder.

    The name of a folder may have an equals sign, too.
    """
    named_folders = list[tuple[str, Sequence[Path]]]()
    for directory in directories:
        if "://" in str(directory):
            problem = "serve needs an index on this machine; other commands read it in place ("
            raise InputError(str(directory), problem + OptionUse("index", placeholder="URL") + ")")
        name, sign, place = str(directory).partition("=")
        is_named = sign and place and re.fullmatch(CORPUS_NAME, name)
        if is_named and not os.path.exists(index_folder(directory)):
            named_folders.append((name, index_folders(place)))
        else:
            named_folders.append(("", index_folders(directory)))
    return named_folders
