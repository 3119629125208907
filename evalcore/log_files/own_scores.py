"""Rows of scores of this package, and lines `{"id": …, "correct": …}` that anyone can write."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import msgspec

from evalcore.log_files.base import LogFile, LogOptions, Subject, choose_subject, rename
from evalcore.log_files.decoding import convert, decode, read_lines
from evalcore.score_files import read_scores
from evalcore.scoring.base import ScoreRow

SIMPLE_RULE = "correct"


def read_own(path: Path, options: LogOptions) -> LogFile:
    """Read rows of scores, as `score` and `judge` write them; they say themselves what is missing.

    Parameters
    ----------
    path : Path
        The file.
    options : LogOptions
        Which rules to read, and names that take the place of those of the rows.

    Raises
    ------
    InputError
        A row is malformed; says where.
    """
    rows = read_scores(path)
    return LogFile(
        path=path,
        rows=[rename(row, options) for row in rows if options.wants(row.rule)],
        rules=list(dict.fromkeys(row.rule for row in rows)),
    )


class _Line(msgspec.Struct):
    id: str | int
    correct: bool | None


def read_simple(path: Path, options: LogOptions) -> LogFile:
    """Read lines that only say of each id whether the answer is correct; null: not known.

    Parameters
    ----------
    path : Path
        The file; its name is that of the method unless one is given.
    options : LogOptions
        The names of the dataset and the model.

    Raises
    ------
    InputError
        A line is malformed, or a name is not given; says where.
    """
    subject = choose_subject(path, options, None, None, path.stem)
    most = options.most_line_bytes
    rows = list(_simple(path, subject, most)) if options.wants(SIMPLE_RULE) else []
    return LogFile(path=path, rows=rows, rules=[SIMPLE_RULE])


def _simple(path: Path, subject: Subject, most: int) -> Iterator[ScoreRow]:
    for place, line in read_lines(path, most):
        said = convert(place, decode(place, line), _Line)
        yield ScoreRow(
            dataset=subject.dataset,
            model=subject.model,
            method=subject.method,
            id=str(said.id),
            epoch=None,
            rule=SIMPLE_RULE,
            value=None if said.correct is None else float(said.correct),
            answer=None,
            extraction=None,
            reason="recorded as unknown" if said.correct is None else "as recorded",
        )
