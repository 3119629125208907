"""Cut mapped files while they are read, and tell what is read of them: `python -m … A B OTHER`.

The last file is not one of an index: reading it after it was cut ends this process, as usual.
"""

import mmap
import os
import sys
from pathlib import Path

from ngramscan.errors import IndexChangedError
from ngramscan.index_files import lost_pages
from ngramscan.index_files.mapped import MappedFile, unchanged
from tests.support.telling import tell

SIZE = 40_000


def cut_while_it_is_read(file: MappedFile, path: str) -> None:
    """Read a file that is cut, and then made as it seemed to be before."""
    with unchanged([file]):
        os.truncate(path, 0)
        tell(int(file._data.sum()))
        os.truncate(path, SIZE)
        os.utime(path, (0, 0))
        file._check_state(file._state)
        tell("as it was")


if __name__ == "__main__":
    first, second, other = sys.argv[1:]
    lost_pages.survive()
    files = [MappedFile(Path(first)), MappedFile(Path(second))]
    gone = MappedFile(Path(first))
    del gone  # the file is still mapped once
    try:
        cut_while_it_is_read(files[0], first)
    except IndexChangedError as error:
        tell(str(error.problem)[:24])
    files[1].check()
    tell(int(files[1]._data.sum()))
    descriptor = os.open(other, os.O_RDWR)
    mapped = mmap.mmap(descriptor, SIZE)
    os.truncate(descriptor, 0)
    tell(mapped[SIZE // 2])
