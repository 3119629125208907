"""`ngramscan index verify`: is a local index what it should be."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ngramscan.errors import InputError
from ngramscan.output import strict_keywords, to_frame
from ngramscan.progress import Progress, Silent

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, slots=True)
class Finding:
    """One row: something wrong in an index."""

    shard: str
    file: str
    place: str
    """The field, entry, rank or document."""
    problem: str


def findings(directory: Path, deep: bool, progress: Progress) -> list[Finding]:
    """Return what is wrong in the shards of an index; nothing where it is sound.

    Raises
    ------
    InputError
        The directory is no index, or a library is not installed.
    """
    try:
        # Slow to import, and of an extra.
        from ngramscan.fm9.checks import verify_shard
        from ngramscan.fm9.reader import shard_folders
    except ModuleNotFoundError as error:
        problem = f"{error.name} is not installed; pip install 'ngramscan[index]'"
        raise InputError("ngramscan index verify", problem) from error
    return [
        Finding(str(folder), Path(found.file).name, found.place, found.problem)
        for folder in shard_folders(directory)
        for found in verify_shard(folder, deep, progress)
    ]


@strict_keywords
def index_verify(directory: str | Path, *, deep: bool = False) -> pd.DataFrame:
    """Check a local index, as `ngramscan index verify` does.

    Parameters
    ----------
    directory : str or Path
        A shard, or a directory of them.
    deep : bool
        Check every entry of every file, not only some; takes about as long as building it.

    Returns
    -------
    DataFrame
        One row per thing that is wrong: shard, file, place, problem; none where it is sound.

    Raises
    ------
    InputError
        The directory is no index.
    """
    return to_frame(findings(Path(directory), deep, Silent()), Finding)
