"""What one log gives: score rows, tokens of answers, and which samples have no answer to judge."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from evalcore.records import Number
from evalcore.scores import NO_ANSWER, NOT_FOUND, SCORED, UNKNOWN, ScoreRow
from ngramscan.errors import InputError

MAX_LINE = 256
"""The longest line, sample or file of JSON, in MB."""

Failure = tuple[str, str]
"""Why a sample has no answer to judge: one of `_FAILURES`, and the reason."""
_FAILURES = {
    "error": ("errors", UNKNOWN),
    "invalidated sample": ("invalidated samples", UNKNOWN),
    "interrupted sample": ("interrupted samples", UNKNOWN),
    "refusal": ("refusals", NO_ANSWER),
    "apparent refusal": ("apparent refusals", NO_ANSWER),
    "empty reply": ("empty replies", NO_ANSWER),
    "cut reply": ("cut replies", NO_ANSWER),
    "stopped sample": ("stopped samples", NO_ANSWER),
    "unscored sample": ("unscored samples", UNKNOWN),
}
"""By kind: the plural, and what is known of the output."""
_REFUSAL = re.compile(
    r"(?:(?:(?:i am|i'm) (?:very |so |really |truly )?sorry|sorry|i apologi[sz]e|my apologies"
    r"|unfortunately|as an ai(?: language)?(?: model| assistant)?)[,.;:!]? *(?:but )?)?"
    r"(?:i (?:can ?not|can't|will not|won't|am unable to|am not able to|must decline to"
    r"|decline to|have to decline to|refuse to)|i'm (?:unable|not able) to) "
    r"(?:answer|assist|help|comply|fulfil|fulfill|provide|discuss|engage|participate|support"
    r"|continue with|do (?:this|that|so))\b"
)
_REFUSAL_RULE = "refusal-phrases/1"
"""The list of phrases above; a change of them is a new version."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LogOptions:
    """How logs are read. A name that is given takes the place of what a log says, or does not."""

    layout: str = "auto"
    dataset: str | None = None
    model: str | None = None
    method: str | None = None
    rules: tuple[str, ...] = ()
    """Which scorers, filters or metrics to read; none: all."""
    missing: str = "apart"
    max_line: int = MAX_LINE

    @property
    def most(self) -> int:
        """Return the longest line in bytes."""
        return self.max_line * 1_000_000

    def wants(self, rule: str) -> bool:
        """Tell whether the scores of a rule are to be read."""
        return not self.rules or rule in self.rules


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


@dataclass(slots=True)
class Log:
    """What one file gives, collected sample by sample."""

    path: Path
    options: LogOptions
    rows: list[ScoreRow] = field(default_factory=list)
    usage: list[UsageRow] = field(default_factory=list)
    notices: list[str] = field(default_factory=list)
    rules: Iterable[str] = ()
    """All rules of the file, also those that were not asked for."""
    run_id: str | None = None
    """What identifies the run, where the tool says: its files in other formats say the same."""
    names: dict[str, Any] = field(default_factory=dict)
    """Dataset, model, method and run of all rows."""
    _failures: dict[str, dict[tuple[str, int | None], str]] = field(default_factory=dict)
    """By what the log makes of them and by sample, the kind."""

    def set_names(self, run: str | None = None, **names: str | None) -> None:
        """Say what the rows are about: the user's names before those of the log."""
        self.names = {"run": run}
        for name, found in names.items():
            self.names[name] = getattr(self.options, name) or found
            if not self.names[name]:
                raise InputError(str(self.path), f"it does not name the {name}; --{name} NAME does")

    def tell(self, what: str) -> None:
        """Add a notice."""
        self.notices.append(f"{self.path}: {what}")

    def add(self, fields: dict[str, Any], failure: Failure | None, was_sought: bool) -> None:
        """Add a row of what is recorded; `was_sought`: the scorer looked for an answer."""
        found = fields["rule"] if fields["answer"] is not None else None
        row = ScoreRow(**self.names, **fields, extraction=found)
        if failure:
            kind, reason = failure
            recorded = "none" if row.value is None else "right" if row.value else "wrong"
            self._failures.setdefault(recorded, {}).setdefault((row.id, row.epoch), kind)
            keeps = row.value is not None and self.options.missing == "as-recorded"
            value, status = (row.value, SCORED) if keeps else (None, _FAILURES[kind][1])
            row = replace(row, value=value, status=status, reason=f"{reason} ({row.reason})")
        elif was_sought and row.answer is None and row.value == 0:
            row = replace(row, status=NOT_FOUND)
        self.rows.append(row)

    def tell_failures(self) -> None:
        """Say how many samples are failures, by what the log makes of them and by kind."""
        keeps = self.options.missing == "as-recorded"
        kept = "; they keep that score" if keeps else "; they have no value here"
        samples = len({(row.id, row.epoch) for row in self.rows})
        for recorded, said, end in (
            ("wrong", "that the log scores as wrong", kept),
            ("right", "that the log scores above 0", kept),
            ("none", "without a score in the log", ""),
        ):
            if found := self._failures.get(recorded):
                counts = Counter(found.values())
                numbers = [(counts[kind], kind, _FAILURES[kind][0]) for kind in _FAILURES]
                kinds = ", ".join(f"{n} {one if n == 1 else more}" for n, one, more in numbers if n)
                self.tell(f"{len(found)} of {samples} samples are failures {said}: {kinds}{end}")


def find_failure(
    cut: Failure | None, replies: Sequence[str], value: float | None, answer: str | None
) -> Failure | None:
    """Return why replies hold no answer to judge; an answer that was extracted is one.

    That a reply was cut holds whatever the score: to leave out only the wrong ones would favour the
    method that fails more often. A text is read for more only where it scored nothing, since a
    scorer may have looked at something else than the text.
    """
    nothing_scored = bool(replies) and not value
    if nothing_scored and not any(reply.strip() for reply in replies):
        return "empty reply", f"no output, {cut[1]}" if cut else "no output"
    if cut:
        return cut
    if nothing_scored and answer is None and all(map(_is_refusal, replies)):
        quoted = one_line(replies[0])[:80]
        return "apparent refusal", f"looks like a refusal ({_REFUSAL_RULE}): {quoted}"
    return None if value is not None else ("unscored sample", "not scored by the tool")


def _is_refusal(reply: str) -> bool:
    start = one_line(reply[:1000].replace("\N{RIGHT SINGLE QUOTATION MARK}", "'"))
    return _REFUSAL.match(start.lower()) is not None


def one_line(text: object) -> str:
    """Return a text without line breaks."""
    return " ".join(str(text).split())
