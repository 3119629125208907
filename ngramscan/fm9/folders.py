"""The folders of an index: one that is a shard, or one with shards in it."""

from __future__ import annotations

from pathlib import Path

from ngramscan.errors import InputError
from ngramscan.fm9.layout import FILES

_MADE = "ngramscan index build makes one of a corpus"


def index_folder(place: str | Path) -> Path:
    """Return the folder of an index from its path or from its spec, `fm9:DIR`."""
    return Path(str(place).removeprefix("fm9:")).expanduser()


def is_shard(folder: Path) -> bool:
    """Whether a folder has any file of a shard."""
    return any((folder / name).exists() for name in FILES)


def shard_folders(directory: Path) -> list[Path]:
    """Return the folders of the shards of an index, in their order.

    Where there is none, an InputError says how to make one. A folder with only some files of a
    shard is one, too: without it all counts would be too low.
    """
    if not directory.is_dir():
        problem = "not a folder" if directory.exists() else "no such folder"
        raise InputError(str(directory), f"{problem}; that of an index was expected ({_MADE})")
    if is_shard(directory):
        return [directory]
    inner = [path for path in directory.iterdir() if is_shard(path)]
    if not inner:
        problem = f"not an index: no {', '.join(FILES)} in it or in a folder of it; {_MADE}"
        raise InputError(str(directory), problem)
    return sorted(inner, key=_shard_order)


def _shard_order(path: Path) -> tuple[int, str]:
    number = int(path.name) if path.name.isascii() and path.name.isdigit() else -1
    return number, path.name
