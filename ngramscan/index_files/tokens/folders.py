"""The files of an index over tokens in a folder."""

from __future__ import annotations

from pathlib import Path

from ngramscan.errors import IndexFormatError, InputError
from ngramscan.index_files.formats import is_shard, token_files
from ngramscan.messages import OptionUse, Text

NEEDED = ("tokenized", "table", "offset")
"""The files that each shard has."""


def list_files(directory: Path) -> dict[str, int]:
    """Return the files of an index with their sizes."""
    where = str(directory)
    try:
        if sizes := dict(token_files(directory)):
            return sizes
        inner = [path for path in directory.iterdir() if path.is_dir()]
    except FileNotFoundError as error:
        raise InputError(where, "no such folder") from error
    except NotADirectoryError as error:
        raise InputError(where, "not a folder; expected that of an index") from error
    except OSError as error:
        raise IndexFormatError(where, f"can't be read: {error.strerror}") from error
    if any((folder / "tokenized").exists() for folder in (directory, *inner)):
        problem: Text = (
            "an index of version 6, a folder per shard, which is not read; only 4 and 5 are"
        )
    elif any(map(is_shard, (directory, *inner))):
        cure = OptionUse("index", f"fm9:{directory}")
        problem = "an index over bytes, not over tokens; to query it: " + cure
    else:
        problem = f"not an index over tokens: it lacks {', '.join(f'{name}.0' for name in NEEDED)}"
    raise InputError(where, problem)
