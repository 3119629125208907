"""Read a corpus from standard input; write how many documents it has, and the peak of memory."""

import resource
import sys

from ngramscan.corpora import ReadOptions, open_corpus, read_piece

if __name__ == "__main__":
    (piece,) = open_corpus("-").pieces()
    documents = sum(len(batch.texts) for batch in read_piece(piece, ReadOptions()))
    kilobytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    sys.stdout.write(f"{documents} {kilobytes}\n")
