"""Write a copy of the corpus `corpus` without every third line and row: `python -m … FOLDER`.

It is started by tests that kill it. Texts have one record, and every third of them leaves.
"""

import sys
from pathlib import Path

from ngramscan.corpora import ReadOptions, open_corpus
from ngramscan.corpora.rewriting import WHOLE_RECORD, Removal, write_without

if __name__ == "__main__":
    corpus = open_corpus("corpus")
    removals = {
        file.path: {1: WHOLE_RECORD, 4: Removal(((0, 5),)), 7: WHOLE_RECORD}
        for file in corpus.files
        if file.format != "text"
    }
    texts = [file.path for file in corpus.files if file.format == "text"]
    removals |= {path: {1: WHOLE_RECORD} for path in texts[::3]}
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    write_without(corpus, Path(sys.argv[1]), removals, ReadOptions())
