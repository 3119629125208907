"""How often single tokens occur in an index: from its files `unigram`, or from its tables.

A file has lines of an id and a count, or, in older indexes, a count in each line: the first one is
that of token 0.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from ngramscan.errors import IndexFormatError
from ngramscan.index_files.tokens.shard import TokenFolder


def count_tokens(folder: TokenFolder, ids: Sequence[int]) -> dict[int, int]:
    """Return the occurrences of some tokens in all shards.

    Parameters
    ----------
    folder : TokenFolder
        The index.
    ids : sequence of int
        The tokens.

    Returns
    -------
    dict of int to int
        The count of each token, by its id.

    Raises
    ------
    IndexFormatError
        A file `unigram` has a line that is not a count, or can't be read.
    """
    text_files = [shard.text.path for shard in folder.shards]
    paths = [path.with_name(path.name.replace("tokenized", "unigram")) for path in text_files]
    if not all(path.is_file() for path in paths):
        ranks = folder.find([[token] for token in ids])
        counts = (ranks[..., 1] - ranks[..., 0]).sum(axis=1).tolist()
        return dict(zip(ids, counts, strict=True))
    totals = Counter[int]()
    for path in paths:
        totals.update(read_unigrams(path))
    return {token: totals[token] for token in ids}


def read_unigrams(path: Path) -> dict[int, int]:
    """Return the count of each token in a file, by its id; those of separators are among them."""
    try:
        lines = path.read_text("ascii").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise IndexFormatError(str(path), f"can't be read: {error}") from error
    counts: dict[int, int] = {}
    for number, line in enumerate(lines):
        fields = line.split()
        if len(fields) not in {1, 2} or not all(field.isdecimal() for field in fields):
            raise IndexFormatError(
                f"{path}, line {number + 1}", f"not a token and its count: {line[:50]!r}"
            )
        token = int(fields[0]) if len(fields) == 2 else number
        counts[token] = int(fields[-1])
    return counts
