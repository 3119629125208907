"""What readers of logs are asked for, and what each gives back of one file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from evalcore.records import Number
from evalcore.scoring.base import NO_ANSWER, NOT_FOUND, SCORED, UNKNOWN, ScoreRow
from ngramscan.errors import InputError

LAYOUTS = ("auto", "inspect", "lm-eval", "scores")
"""Which tool wrote: told from the files, Inspect, lm-evaluation-harness, or this package."""

MISSING = ("apart", "as-recorded")
"""Failures have no value; or that which the log gives them."""

MAX_LINE = 256
"""The longest line, sample or file of JSON, in MB, unless another is asked for."""

NOTHING_KNOWN = frozenset(
    {"error", "invalidated sample", "interrupted sample", "unscored sample"},
)
"""Kinds of failures that say nothing of the model; in all others it gave no answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LogOptions:
    """How logs are read. A name that is given takes the place of what a log says, or does not."""

    layout: str = "auto"
    """One of `LAYOUTS`."""
    dataset: str | None = None
    model: str | None = None
    method: str | None = None
    rules: tuple[str, ...] = ()
    """Which scorers, filters or metrics to read; none: all."""
    missing: str = "apart"
    """One of `MISSING`."""
    max_line: int = MAX_LINE
    """The longest line, sample or file of JSON, in MB."""

    @property
    def most_line_bytes(self) -> int:
        """Return the same in bytes."""
        return self.max_line * 1_000_000

    def wants(self, rule: str) -> bool:
        """Tell whether the scores of a rule are to be read."""
        return not self.rules or rule in self.rules

    @property
    def keeps_recorded(self) -> bool:
        """Tell whether failures keep the value that the log gives them."""
        return self.missing == "as-recorded"


@dataclass(frozen=True, slots=True)
class Subject:
    """What the scores of a run are about."""

    dataset: str
    model: str
    method: str
    run: str | None = None
    """Of several runs of the method, which: when it began, and its name."""


def choose_subject(
    file: Path, options: LogOptions, dataset: str | None, model: str | None, method: str | None
) -> Subject:
    """Return what a run is about: the user's names before those of the log.

    Parameters
    ----------
    file : Path
        The log.
    options : LogOptions
        The names of the user.
    dataset, model, method : str or None
        Those of the log; None: it has none.

    Raises
    ------
    InputError
        Neither of them says one of the names.
    """
    found = {
        "dataset": options.dataset or dataset,
        "model": options.model or model,
        "method": options.method or method,
    }
    for name, value in found.items():
        if not value:
            raise InputError(str(file), f"it does not name the {name}; --{name} NAME does")
    return Subject(**{name: value for name, value in found.items() if value})


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a sample has no answer that could be judged."""

    kind: str
    """One of `failures.KINDS`."""
    reason: str

    @property
    def status(self) -> str:
        """Return what is known of the output."""
        return UNKNOWN if self.kind in NOTHING_KNOWN else NO_ANSWER


@dataclass(frozen=True, slots=True, kw_only=True)
class LoggedScore:
    """What a log says of one sample by one rule."""

    id: str
    epoch: int | None
    rule: str
    value: float | None
    """As recorded; None: the log has none."""
    recorded: str | None
    """The value as the log writes it; None: there is none."""
    answer: str | None
    failure: Failure | None
    was_sought: bool
    """The scorer looked for an answer in a reply, so that none means that it found none."""

    @property
    def is_not_found(self) -> bool:
        """Tell whether the reply is complete, and wrong because no answer was found in it."""
        found = self.answer is not None or self.failure is not None
        return self.was_sought and not found and self.value == 0

    def row(self, subject: Subject, keeps_recorded: bool) -> ScoreRow:
        """Return the row of scores, in which a failure has a value only if that is kept."""
        reason = "no score" if self.recorded is None else f"recorded as {self.recorded}"
        value, status = self.value, NOT_FOUND if self.is_not_found else SCORED
        if self.failure:
            reason = f"{self.failure.reason} ({reason})"
            if value is None or not keeps_recorded:
                value, status = None, self.failure.status
        return ScoreRow(
            dataset=subject.dataset,
            model=subject.model,
            method=subject.method,
            id=self.id,
            epoch=self.epoch,
            rule=self.rule,
            value=value,
            answer=self.answer,
            extraction=None if self.answer is None else self.rule,
            reason=reason,
            run=subject.run,
            status=status,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class UsageRow:
    """How many tokens one answer took. None: not recorded, which is not 0."""

    dataset: str
    model: str
    method: str
    id: str
    epoch: int | None
    prompt_tokens: Number | None
    """Those that came from a cache among them."""
    completion_tokens: Number | None
    """Those of the reasoning among them."""
    reasoning_tokens: Number | None
    run: str | None = None
    """As in the rows of scores."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LogFile:
    """What one file gave."""

    path: Path
    rows: Sequence[ScoreRow]
    rules: Sequence[str]
    """All rules of the file, also those that were not asked for."""
    usage: Sequence[UsageRow] = ()
    notices: Sequence[str] = field(default=())
    run: str | None = None
    """What identifies the run, where the tool says: its files in other formats say the same."""


def rename(row: ScoreRow, options: LogOptions) -> ScoreRow:
    """Return a row with the names that the user gave."""
    return replace(
        row,
        dataset=options.dataset or row.dataset,
        model=options.model or row.model,
        method=options.method or row.method,
    )
