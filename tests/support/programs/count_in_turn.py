"""Count one text and then all in an index, and tell whether numba is loaded: `… INDEX TEXT…`."""

import sys

from ngramscan import count
from tests.support.telling import tell

if __name__ == "__main__":
    index, *texts = sys.argv[1:]
    for number in (1, len(texts)):
        rows = count(literal=texts[:number], index=index)
        tell(len(rows), "numba" in sys.modules)
