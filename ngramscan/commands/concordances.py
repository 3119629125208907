"""`ngramscan contexts`: random occurrences in context."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Unpack

from ngramscan.commands.access import AccessOptions, index_options
from ngramscan.commands.documents import DEFAULT_INDEX
from ngramscan.commands.missing import explained
from ngramscan.concordance import Concordance, Context, find_contexts
from ngramscan.errors import IncompleteError, InputError, NgramscanError
from ngramscan.indexes import IndexOptions, open_indexes
from ngramscan.indexes.base import RankedIndex
from ngramscan.output import to_frame
from ngramscan.progress import Progress, Silent

if TYPE_CHECKING:
    import pandas as pd


def contexts_in(
    text: str,
    specs: Sequence[str],
    n: int,
    width: int,
    options: IndexOptions,
    progress: Progress,
) -> list[Concordance]:
    """Draw occurrences of a text in the indexes of some specs.

    Raises
    ------
    NgramscanError
        An index could not be asked.
    """
    if not text:
        raise InputError("TEXT", "it is empty; a text to look for was expected")
    for name, number, least in (("-n", n, 1), ("--width", width, 0)):
        if number < least:
            raise InputError(f"{name} {number}", f"at least {least} was expected")
    concordances = []
    with open_indexes(specs or [DEFAULT_INDEX], options, progress) as indexes:
        for index in indexes:
            assert isinstance(index, RankedIndex), "all of ours are"
            try:
                concordances.append(find_contexts(text, index, n, width, options.scan.seed))
            except NgramscanError as error:
                raise explained(error) from error
    return concordances


def describe_failures(concordances: Sequence[Concordance]) -> list[str]:
    """Return what could not be shown, one line per index and reason."""
    lines = []
    for one in concordances:
        reasons: dict[str, int] = {}
        for failure in one.failures:
            reason = str(explained(failure.error))
            reasons[reason] = reasons.get(reason, 0) + 1
        drawn = len(one.contexts) + len(one.failures)
        lines += [
            f"{reason}; {n} of {drawn} contexts missing ({one.index})"
            for reason, n in reasons.items()
        ]
    return lines


def contexts(
    text: str,
    index: str | Sequence[str] = (),
    n: int = 20,
    width: int = 60,
    **access: Unpack[AccessOptions],
) -> pd.DataFrame:
    """Show random occurrences of a text in context, as `ngramscan contexts` does.

    Parameters
    ----------
    text : str
        What to look for.
    index : str or sequence of str
        Specs of indexes; none: `dclm`.
    n : int
        How many occurrences in each index.
    width : int
        Characters on each side.
    **access
        As in `count`; `seed` is that of the draw.

    Returns
    -------
    DataFrame
        One row per occurrence; see docs/rows.md.

    Raises
    ------
    NgramscanError
        An index could not be asked.
    IncompleteError
        Some occurrences could not be shown; its `rows` has the others.
    """
    specs = [index] if isinstance(index, str) else list(index)
    found = contexts_in(text, specs, n, width, index_options(access), Silent())
    frame = to_frame([row for one in found for row in one.contexts], Context)
    if lines := describe_failures(found):
        raise IncompleteError("; ".join(lines), frame)
    return frame
