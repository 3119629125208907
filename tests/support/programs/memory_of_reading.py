"""Read a corpus with lines of at most 1 MB; print the error, and the kilobytes that it took.

python -m tests.support.programs.memory_of_reading CORPUS
"""

import resource
import sys

from ngramscan.corpora import ReadOptions, open_corpus, read_piece
from ngramscan.errors import CorpusError


def most_kilobytes() -> int:
    """Return the most memory that this process has had."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


if __name__ == "__main__":
    piece = open_corpus(sys.argv[1]).pieces()[0]
    before = most_kilobytes()
    try:
        list(read_piece(piece, ReadOptions(most_line_bytes=1_000_000)))
    except CorpusError as error:
        sys.stdout.write(f"{error}\n")
    sys.stdout.write(f"{most_kilobytes() - before}\n")
