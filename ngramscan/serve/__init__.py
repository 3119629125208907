"""Local indexes behind the infini-gram-mini HTTP protocol, for whatever asks the public service."""

from __future__ import annotations

import ipaddress
import socket
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ngramscan.errors import InputError
from ngramscan.processes.pool import usable_cores
from ngramscan.progress import Progress, format_bytes
from ngramscan.serve.protocol import ServedIndex

__all__ = ["ServeOptions", "serve_folders"]


@dataclass(frozen=True, slots=True)
class ServeOptions:
    """Where and how; the options of the command."""

    host: str = "127.0.0.1"
    port: int = 8787
    """0: any that is free."""
    concurrency: int = 0
    """Threads that search; 0: one per core."""
    allow_host: Sequence[str] = ()
    """Further names that requests may call this server by."""


def serve_folders(directories: Sequence[Path], options: ServeOptions, progress: Progress) -> bool:
    """Serve some indexes, each named after its folder, until a signal comes.

    Returns
    -------
    bool
        Whether it was interrupted (SIGINT) rather than told to end (SIGTERM).

    Raises
    ------
    InputError
        The extra is not installed, two folders have one name, or the address can't be taken.
    IndexFormatError
        A folder holds no index, or a corrupt one; nothing was served then.
    """
    try:
        from ngramscan.serve import app, server
    except ModuleNotFoundError as error:
        raise InputError("serve", _needs(error.name)) from error
    folders = name_folders(directories)
    listener = server.open_socket(options.host, options.port)
    try:
        indexes = {name: open_index(name, folder, progress) for name, folder in folders.items()}
        concurrency = options.concurrency or usable_cores()
        hosts = {"localhost", options.host, socket.gethostname(), *options.allow_host}
        hosts = {name.lower() for name in hosts}
        service = app.Service(indexes, concurrency, progress, hosts)
        url = _url(options.host, listener)

        def ready() -> None:
            for line in describe(indexes, url, options.host):
                progress.notice(line)

        return server.run(service.application(), listener, ready)
    finally:
        listener.close()


def name_folders(directories: Sequence[Path]) -> dict[str, Path]:
    """Return folders by the names of their indexes."""
    folders: dict[str, Path] = {}
    for directory in directories:
        folder = directory.resolve()
        if not folder.name.isprintable() or not folder.name:
            raise InputError(str(directory), "the name of this folder can't name an index")
        if folder.name in folders:
            problem = f"{folders[folder.name]} has the same name, so requests can't tell them apart"
            raise InputError(str(directory), problem)
        folders[folder.name] = folder
    return folders


def open_index(name: str, folder: Path, progress: Progress) -> ServedIndex:
    """Open an index and ask it something, so that the first who asks does not wait."""
    try:
        from ngramscan.fm9.reader import open_shards
    except ModuleNotFoundError as error:
        raise InputError("serve", _needs(error.name)) from error
    index = ServedIndex(name, open_shards(folder, progress))
    index.segments(b"a")
    index.window(0, 0, 1, 1)
    return index


def describe(indexes: Mapping[str, ServedIndex], url: str, host: str) -> list[str]:
    """Return, for people, what is served where and how to ask it."""
    lines = [
        f"{url}{name}: {index.documents:,} documents, {format_bytes(index.text_bytes)} of text"
        for name, index in indexes.items()
    ]
    if not _is_loopback(host):
        lines.append(f"whoever reaches {host} can ask: there is no authentication")
    name = next(iter(indexes))
    body = f'{{"index": "{name}", "query_type": "count", "query": "step by step"}}'
    lines.append(f"curl {url} -H 'Content-Type: application/json' -d '{body}'")
    lines.append(f"ngramscan count f1 --index {url}{name}")
    return lines


def _needs(module: str | None) -> str:
    return f"needs {module}: pip install 'ngramscan[serve]'"


def _url(host: str, listener: socket.socket) -> str:
    address, port = listener.getsockname()[:2]
    if ipaddress.ip_address(address.partition("%")[0]).is_unspecified:
        host = "127.0.0.1"
    return f"http://{f'[{host}]' if ':' in host else host}:{port}/"


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
