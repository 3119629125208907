"""Read pieces of a remote file, then from an address that never answers: `python -m … URL FOLDER`.

The folder keeps the pieces on disk.
"""

import asyncio
import sys
from collections.abc import Iterable
from pathlib import Path

from ngramscan.progress import Progress
from ngramscan.remote.files import RemoteFile
from ngramscan.remote.ranges import RangeOptions, Ranges
from tests.support.telling import tell


async def read_pieces(ranges: Ranges, file: RemoteFile, starts: Iterable[int], size: int) -> None:
    """Read pieces of a file, all at once."""
    await asyncio.gather(*(ranges.read(file, start, start + size) for start in starts))


def read(url: str, folder: Path) -> None:
    """Read so much that it is stored at once, say so, and then wait for what never comes."""
    with Ranges(RangeOptions(cache_dir=folder), Progress()) as ranges:
        file = ranges.run(ranges.open(url))
        assert file is not None
        ranges.run(read_pieces(ranges, file, range(9_000, 149_000, 100), 1000))
        tell("reading")
        file.address = url.replace("fine", "stall")
        ranges.run(read_pieces(ranges, file, range(150_000, 199_000, 900), 9))


if __name__ == "__main__":
    read(sys.argv[1], Path(sys.argv[2]))
