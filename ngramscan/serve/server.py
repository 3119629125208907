"""The process that serves indexes: its socket, its signals, and its first lines."""

from __future__ import annotations

import asyncio
import errno
import ipaddress
import logging
import os
import signal
import socket
import threading
import webbrowser
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import FrameType
from typing import NamedTuple

import numpy as np
import uvicorn
from starlette.types import ASGIApp

from ngramscan.errors import InputError
from ngramscan.index_files import lost_pages
from ngramscan.index_files.fm9.folders import shard_folders
from ngramscan.index_files.fm9.reader import compile_reader, open_shards
from ngramscan.index_files.formats import is_token_folder
from ngramscan.index_files.tokens.shard import TokenFolder, open_token_folder
from ngramscan.index_files.tokens.tokenizers import check_fit, open_tokenizer
from ngramscan.indexes.kinds import TOKEN_SERVICE
from ngramscan.messages import OptionUse
from ngramscan.progress import Progress, format_bytes
from ngramscan.serve.app import IndexApplication
from ngramscan.serve.connections import Connection
from ngramscan.serve.protocol import ServedIndex
from ngramscan.serve.token_protocol import ServedTokens

KEEP_ALIVE_S = 60
"""How long a connection may be idle between requests."""
GRACE_S = 20
"""How long the process may take to end after the signal to stop."""
_ENDING_S = 2
"""The remaining part of it when the last requests are stopped."""

_BACKLOG = 1024


class Address(NamedTuple):
    """Where a server listens, and its other host names."""

    host: str
    port: int
    other_names: Sequence[str] = ()
    is_opened: bool = False
    """In a browser, as soon as connections are accepted."""


def serve_folders(
    named_folders: Sequence[tuple[str, Sequence[Path]]],
    tokenizer: str | Path | None,
    address: Address,
    concurrency: int,
    max_context: int,
    progress: Progress,
) -> bool:
    """Serve some indexes at an address until a signal arrives.

    The folders of an index stand after its name; empty: it is named after its one folder. The
    result says whether the signal was an interrupt (SIGINT) rather than SIGTERM.
    """
    folders, (host, port, others, is_opened) = name_folders(named_folders), address
    with open_socket(host, port) as listener:
        lost_pages.survive()
        indexes = _open_all(folders, tokenizer, progress)
        hosts = {name.lower() for name in ("localhost", host, socket.gethostname(), *others)}
        by_name = {index.name: index for index in indexes}
        service = IndexApplication(
            by_name, concurrency, progress, hosts=hosts, max_context=max_context
        )

        def ready() -> None:
            for line in _describe(indexes, host, listener):
                progress.notice(line)
            if is_opened:
                threading.Thread(
                    target=_open_page, args=(_url(host, listener), progress), daemon=True
                ).start()

        return _run(service.application, listener, ready)


def name_folders(
    named_folders: Sequence[tuple[str, Sequence[Path]]],
) -> dict[str, Sequence[Path]]:
    """Return the folders of indexes by their names; only indexes over tokens have several."""
    folders_by_name: dict[str, Sequence[Path]] = {}
    for chosen_name, directories in named_folders:
        joined_paths = ",".join(map(str, directories))
        folders = [Path(os.path.realpath(directory)) for directory in directories]
        if len(folders) > 1 and not chosen_name:
            problem = f"an index in several folders needs a name: NAME=tokens:{joined_paths}"
            raise InputError(joined_paths, problem)
        name = chosen_name or folders[0].name
        if not name.isprintable() or not name:
            raise InputError(joined_paths, "the name of this folder can't name an index")
        if name in folders_by_name:
            others = ",".join(map(str, folders_by_name[name]))
            problem = f"{others} has the same name, so requests can't tell them apart"
            raise InputError(joined_paths, problem)
        if len(folders) == 1 and not is_token_folder(directories[0]):
            shard_folders(directories[0])
        folders_by_name[name] = folders
    return folders_by_name


def _open_all(
    folders_by_name: dict[str, Sequence[Path]], tokenizer: str | Path | None, progress: Progress
) -> list[ServedIndex | ServedTokens]:
    indexes: list[ServedIndex | ServedTokens] = []
    for name, folders in folders_by_name.items():
        if len(folders) > 1 or is_token_folder(folders[0]):
            indexes.append(open_tokens(name, open_token_folder(*folders), tokenizer))
        else:
            indexes.append(_open_index(name, folders[0], progress))
    widths = {index.folder.width for index in indexes if isinstance(index, ServedTokens)}
    if tokenizer is not None and widths <= {1}:
        raise InputError(OptionUse("tokenizer", tokenizer), "no index here needs one; leave it out")
    return indexes


def open_tokens(name: str, folder: TokenFolder, tokenizer: str | Path | None) -> ServedTokens:
    """Open an index over tokens and query it once; indexes of bytes take no tokenizer."""
    opened = open_tokenizer(None if folder.width == 1 else tokenizer, folder.width)
    check_fit(opened, folder)
    folder.find([opened.after_space("a")])
    return ServedTokens(name, folder, opened)


def _open_index(name: str, folder: Path, progress: Progress) -> ServedIndex:
    """Open an index and query it once, so that the first client does not have to wait."""
    shards = open_shards(folder)
    compile_reader(shards[0], progress)
    index = ServedIndex(name, shards)
    index.segments(b"a")
    index.window(0, 0, 1, 1)
    shards[0].data.match_starts(b"a", np.zeros(1, np.int64), np.ones(1, np.int64))
    return index


def _url(host: str, listener: socket.socket) -> str:
    """Return the address of this server on this machine."""
    name = "127.0.0.1" if _taken(listener).is_unspecified else host
    return f"http://{f'[{name}]' if ':' in name else name}:{listener.getsockname()[1]}/"


def _taken(listener: socket.socket) -> ipaddress.IPv4Address | ipaddress.IPv6Address:
    return ipaddress.ip_address(listener.getsockname()[0].partition("%")[0])


def _open_page(url: str, progress: Progress) -> None:
    """Open the page; in a thread, as browsers of terminals return at their end."""
    if not webbrowser.open(url):
        progress.notice(f"no browser was found; open {url} in one")


def _describe(
    indexes: Sequence[ServedIndex | ServedTokens], host: str, listener: socket.socket
) -> Iterator[str]:
    url = _url(host, listener)
    for index in indexes:
        yield f"{url}{index.name}: {_size(index)}"
    if not _taken(listener).is_loopback:
        yield f"anyone who can reach {host} can query it: there is no authentication"
    yield f"{url} in a browser: a page to search"
    body = f'{{"index": "{indexes[0].name}", "query_type": "count", "query": "step by step"}}'
    yield f"curl {url} -H 'Content-Type: application/json' -d '{body}'"
    address = f"{url}{indexes[0].name}"
    spec = TOKEN_SERVICE.spec_of(address) if isinstance(indexes[0], ServedTokens) else address
    yield f"ngramscan count f1 --index {spec}"


def _size(index: ServedIndex | ServedTokens) -> str:
    if isinstance(index, ServedTokens):
        folder = index.folder
        tokenized = f"of {index.tokenizer.name}{', backwards' if folder.backwards else ''}"
        text_tokens = folder.tokens - folder.documents
        return f"{folder.documents:,} documents, {text_tokens:,} tokens {tokenized}"
    return f"{index.documents:,} documents, {format_bytes(index.text_bytes)} of text"


def open_socket(host: str, port: int) -> socket.socket:
    """Bind an address, without listening yet."""
    try:
        family, _, _, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        # asyncio sets TCP_NODELAY only if the protocol is explicit; otherwise 40 ms per response.
        listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    except (OSError, UnicodeError) as error:
        raise InputError(OptionUse("host", host), _reason(error)) from error
    try:
        # Connections of a killed server must not block the next one.
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
    except OSError as error:
        listener.close()
        hint = (
            ("; " + OptionUse("port", 0) + " takes any that is free")
            if error.errno == errno.EADDRINUSE
            else ""
        )
        problem = f"{_reason(error)}" + hint
        raise InputError(
            OptionUse("host", host) + " " + OptionUse("port", port), problem
        ) from error
    return listener


def _reason(error: Exception) -> str:
    reason = error.strerror if isinstance(error, OSError) else None
    return (reason or "no address of this machine").lower()


def _run(application: ASGIApp, listener: socket.socket, ready: Callable[[], None]) -> bool:
    """Serve until a signal, and answer the requests in flight; return whether it was SIGINT.

    `ready` is called as soon as connections are accepted.
    """
    try:
        # Fails where two servers have bound one address and this is the slower one.
        listener.listen(_BACKLOG)
    except OSError as error:
        raise InputError(OptionUse("port"), _reason(error)) from error
    # Warnings about clients that don't speak HTTP are hidden; errors of this program are shown.
    logging.getLogger("uvicorn.error").setLevel(logging.ERROR)
    config = uvicorn.Config(
        application,
        http=Connection,
        ws="none",
        lifespan="off",
        log_config=None,
        log_level=logging.ERROR,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        backlog=_BACKLOG,
        timeout_keep_alive=KEEP_ALIVE_S,
        timeout_graceful_shutdown=GRACE_S - _ENDING_S,
    )
    server = _Server(config, ready)
    server.run(sockets=[listener])
    return server.interrupted


class _Server(uvicorn.Server):
    """Ends by returning; the original sends itself the signal again, for its default action."""

    def __init__(self, config: uvicorn.Config, ready: Callable[[], None]) -> None:
        super().__init__(config)
        self.interrupted = False
        self._ready = ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self._ready()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """End the requests in flight, and then the connections whose clients still don't read."""
        await super().shutdown(sockets)
        for connection in list(self.server_state.connections):
            connection.transport.abort()
        await asyncio.sleep(0)  # until they are closed

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:  # noqa: ARG002 - uvicorn passes it
        interrupt = sig == signal.SIGINT
        self.force_exit = self.force_exit or (self.should_exit and interrupt)
        self.interrupted = self.interrupted or interrupt
        self.should_exit = True
