"""Build an index of a corpus in a folder, then one per line of input: `python -m … CORPUS FOLDER`.

Each line names a place, which a child process builds at; it has imported everything by then. Its
number is printed when it begins, and its status when it has ended.
"""

import os
import sys

import fsspec

from ngramscan.corpora import ReadOptions, open_corpus
from ngramscan.errors import NgramscanError
from ngramscan.index_files.fm9.build import BuildOptions, build_index
from ngramscan.progress import SILENT
from tests.support.telling import tell

SHARD_BYTES = 700


def build(corpus: str, place: str) -> None:
    """Build an index of small shards."""
    options = BuildOptions(SHARD_BYTES)
    build_index(open_corpus(corpus), place, SILENT, ReadOptions(), options)


def build_and_exit(corpus: str, place: str) -> None:
    """Build an index, and end this process without what its parent would do at the end."""
    try:
        build(corpus, place)
    except NgramscanError as error:
        tell(error)
        os._exit(1)
    os._exit(0)


if __name__ == "__main__":
    fsspec.get_filesystem_class("s3")  # it takes long to load
    build(sys.argv[1], sys.argv[2])
    for line in sys.stdin:
        child = os.fork()
        if child == 0:
            build_and_exit(sys.argv[1], line.strip())
        tell(child)
        tell(os.waitpid(child, 0)[1])
