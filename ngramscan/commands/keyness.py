"""`ngramscan keyness`: what distinguishes the outputs of one method from others."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal

from ngramscan.commands.shared import OutputOptions, load_ahead
from ngramscan.errors import InputError
from ngramscan.messages import OptionUse
from ngramscan.outputs.keyness import (
    KeynessOptions,
    KeynessRow,
    describe_keyness,
    run_keyness,
    to_patterns,
)
from ngramscan.outputs.ngrams import MinFrequency
from ngramscan.patterns.model import Tier
from ngramscan.reporting import check_writable, tables, write_whole
from ngramscan.reporting.command import Option, Result, Shared, command

_LENGTHS = {"word": (1, 6), "character": (4, 12)}
"""The default lengths; the larger is the largest there is."""


def _lengths(n: str | int | None, unit: str) -> tuple[int, int]:
    if n is None:
        return _LENGTHS[unit]
    largest = _LENGTHS[unit][1]
    match = re.fullmatch(r"(\d{1,3})(?:-(\d{1,3}))?", str(n))
    lengths = (int(match[1]), int(match[2] or match[1])) if match else (0, 0)
    if not 1 <= lengths[0] <= lengths[1] <= largest:
        problem = f"expected a length or a range such as 1-{largest}, in {unit}s, up to {largest}"
        raise InputError(OptionUse("n", n), problem)
    return lengths


@command
def keyness(
    *outputs: str | Path,
    of: Annotated[str, Option(metavar="METHOD")],
    against: Annotated[str | Sequence[str], Option(metavar="METHOD")],
    unit: Literal["word", "character"] = "word",
    n: Annotated[str | int | None, Option(metavar="LENGTHS")] = None,
    min_count: Annotated[int, Option(least=1)] = 10,
    min_documents: Annotated[int, Option(least=1)] = 5,
    top: Annotated[int, Option(least=1)] = 50,
    q: Annotated[float, Option(over=0, most=1)] = 0.05,
    all: bool = False,
    export: Annotated[str | Path | None, Option(metavar="FILE.yaml", is_written=True)] = None,
    tier: Tier = "T3",
    **options: Annotated[Any, Shared(OutputOptions)],
) -> Result[KeynessRow]:
    """Find the n-grams that distinguish the outputs of one method from those of others.

    OUTPUTS are given as to blend. Outputs of prompts that have the method of
    --of as a part (`f-1+cot`) are compared with those that have one of --against and not that one.

    Parameters
    ----------
    *outputs : see blend
    of : str
        Method to find the n-grams of.
    against : str or sequence of str
        Method to compare with.
    unit : str
        Unit of n-grams: `word` or `character`.
    n : str or int, optional
        Length of n-grams, or a range such as 2-4. By default 1-6 words or 4-12 characters.
    min_count : int
        Minimum number of occurrences of an n-gram, both sides together.
    min_documents : int
        Minimum number of outputs with an n-gram, both sides together.
    top : int
        Maximum number of n-grams to show or write.
    q : float
        Accepted share of false discoveries.
    all : bool
        Also show n-grams that occur only within a longer one; also export those without a letter or
        digit.
    export : str or Path, optional
        Write the n-grams shown that have a letter or digit as a pattern set for `ngramscan count`.
    tier : str
        Tier of the patterns that --export writes.

    Returns
    -------
    DataFrame
        One row per n-gram, largest G2 first.

    Examples
    --------
    $ ngramscan keyness outputs/ --of PoT --against CoT
    $ ngramscan keyness outputs/ --of F-1 --against CoT --against PoT --export f1-found.yaml
    $ ngramscan keyness outputs/ --of CoT --against PoT --unit character --n 6-10
    """
    if not against:
        raise InputError(OptionUse("against"), "expected a method")
    for method in against:
        if method.lower() == of.lower():
            raise InputError(OptionUse("against", method), "the same method as " + OptionUse("of"))
    minimum, file = MinFrequency(min_count, min_documents), Path(export) if export else None
    wanted = KeynessOptions(of, against, unit, _lengths(n, unit), minimum, top, q, all)
    if file:
        check_writable(file)
    recorded_outputs = OutputOptions(**options).read_outputs(outputs)
    load_ahead("scipy.special")
    result = run_keyness(recorded_outputs, wanted)
    notices, failures = list(recorded_outputs.notices), []
    if file:
        try:
            text, left_out = to_patterns(result.rows, wanted, file, tier)
            write_whole(file, lambda new: new.write_text(text, encoding="utf-8"))
            notices += left_out
        except InputError as error:  # the rows are there all the same
            failures.append(str(error))
    table = partial(
        tables.print_keyness, result.rows, describe_keyness(recorded_outputs, result, wanted)
    )
    return Result(result.rows, KeynessRow, notices, failures, print_table=table)
