"""What a log gives: score rows, tokens, notices; and its JSON, with its place in every error."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import msgspec

from evalcore.records import Number
from evalcore.scores import NO_ANSWER, NOT_FOUND, UNKNOWN, ScoreRow
from ngramscan.errors import InputError

Decoded = TypeVar("Decoded")
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
_REFUSAL_RULE = "refusal-phrases/1"
"""The phrases below; a change of them is a new version."""
_REFUSAL = re.compile(
    r"(?:(?:(?:i am|i'm) (?:very |so |really |truly )?sorry|sorry|i apologi[sz]e|my apologies"
    r"|unfortunately|as an ai(?: language)?(?: model| assistant)?)[,.;:!]? *(?:but )?)?"
    r"(?:i (?:can ?not|can't|will not|won't|am unable to|am not able to|must decline to"
    r"|decline to|have to decline to|refuse to)|i'm (?:unable|not able) to) "
    r"(?:answer|assist|help|comply|fulfil|fulfill|provide|discuss|engage|participate|support"
    r"|continue with|do (?:this|that|so))\b"
)


class LogOptions(NamedTuple):
    """How logs are read, as `evalcore logs` says it; names that are given replace those of logs."""

    layout: str = "auto"
    dataset: str | None = None
    model: str | None = None
    method: str | None = None
    rules: Sequence[str] = ()
    missing: str = "apart"
    max_line: int = 256

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
    """Includes tokens that came from a cache."""
    completion_tokens: Number | None
    """Includes those of the reasoning."""
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
    rules: dict[str, bool] = field(default_factory=dict)
    """All rules of the file, also those not read, and whether one ever says what it scored."""
    run_id: str | None = None
    """Identifies the run, where the tool says: its files in other formats say the same."""
    names: dict[str, Any] = field(default_factory=dict)
    """Dataset, model, method and run of all rows."""
    _failures: dict[tuple[str, str, int | None], str] = field(default_factory=dict)
    """The kind, by what the log makes of it and by sample."""

    def set_names(self, run: str | None = None, **names: str | None) -> None:
        """Say what the rows are about: the user's names before those of the log."""
        self.names = {"run": run}
        for name, found in names.items():
            self.names[name] = getattr(self.options, name) or found
            if not self.names[name]:
                raise InputError(str(self.path), f"it does not name the {name}; --{name} NAME does")

    def lines(self) -> Iterator[tuple[str, bytes]]:
        """Yield each line of the file that is not empty, after its place."""
        with self.path.open("rb") as file:
            lines = iter(lambda: file.readline(self.options.max_line * 1_000_000 + 2), b"")
            for number, line in enumerate(lines, 1):
                self.refuse_long(f"{self.path}:{number}", len(line.removesuffix(b"\n")))
                if line.strip():
                    yield f"{self.path}:{number}", line

    def read_json(self, path: Path, kind: type[Decoded]) -> Decoded:
        """Return the value of a file of JSON: this one, or one beside it."""
        self.refuse_long(str(path), path.stat().st_size)
        return decode(str(path), path.read_bytes(), kind)

    def refuse_long(self, place: str, length: int) -> None:
        """Raise an InputError where a line, sample or file of JSON is longer than it may be."""
        if length > self.options.max_line * 1_000_000:
            problem = f"more than {self.options.max_line} MB in one; --max-line MB takes more"
            raise InputError(place, problem)

    def tell(self, notice: str) -> None:
        """Add a notice."""
        self.notices.append(f"{self.path}: {notice}")

    def add(self, row: dict[str, Any], failure: Failure | None, was_sought: bool) -> None:
        """Add a row of what is recorded; `was_sought`: the scorer looked for an answer."""
        status, found = "", None if row["answer"] is None else row["rule"]
        if failure:
            kind, reason = failure
            scored = "none" if row["value"] is None else "right" if row["value"] else "wrong"
            self._failures.setdefault((scored, row["id"], row["epoch"]), kind)
            row["reason"] = f"{reason} ({row['reason']})"
            if row["value"] is None or self.options.missing == "apart":
                row["value"], status = None, _FAILURES[kind][1]
        elif was_sought and found is None and row["value"] == 0:
            status = NOT_FOUND
        self.rows.append(ScoreRow(**self.names, **row, extraction=found, status=status))

    def tell_failures(self) -> None:
        """Say how many samples are failures, by what the log makes of them and by kind."""
        keeps = self.options.missing == "as-recorded"
        kept = "; they keep that score" if keeps else "; they have no value here"
        samples = len({(row.id, row.epoch) for row in self.rows})
        for scored, said, end in (
            ("wrong", "that the log scores as wrong", kept),
            ("right", "that the log scores above 0", kept),
            ("none", "without a score in the log", ""),
        ):
            n = Counter(kind for (own, *_), kind in self._failures.items() if own == scored)
            kinds = [(n[one], one if n[one] == 1 else more) for one, (more, _) in _FAILURES.items()]
            if listed := ", ".join(f"{count} {kind}" for count, kind in kinds if count):
                self.tell(f"{n.total()} of {samples} samples are failures {said}: {listed}{end}")


def find_failure(
    cut: Failure | None, replies: Sequence[str], value: float | None, answer: str | None
) -> Failure | None:
    """Return why replies hold no answer to judge; an answer that was extracted is one.

    A cut reply is one whatever its score: to leave out only the wrong ones would favour the method
    that fails more often. Texts are read only where they scored nothing.
    """
    nothing_scored = bool(replies) and not value
    if nothing_scored and not any(reply.strip() for reply in replies):
        return "empty reply", f"no output, {cut[1]}" if cut else "no output"
    if cut:
        return cut
    if nothing_scored and answer is None:
        texts = [one_line(reply[:1000]) for reply in replies]
        plain = [text.replace("\N{RIGHT SINGLE QUOTATION MARK}", "'").lower() for text in texts]
        if all(map(_REFUSAL.match, plain)):
            return "apparent refusal", f"looks like a refusal ({_REFUSAL_RULE}): {texts[0][:80]}"
    return None if value is not None else ("unscored sample", "not scored by the tool")


def one_line(text: object) -> str:
    """Return a text without line breaks."""
    return " ".join(str(text).split())


def decode(place: str, content: bytes, kind: type[Decoded]) -> Decoded:
    """Return the value of a JSON text; fields that a structure does not have are left out."""
    with suppress(ValueError, RecursionError):
        content.decode()  # what is left out is checked too
        return msgspec.json.decode(content, type=kind)
    try:
        return msgspec.convert(json.loads(content), kind)  # knows NaN, which tools write
    except msgspec.ValidationError as error:
        raise InputError(place, str(error)) from error
    except (ValueError, RecursionError) as error:
        raise InputError(place, f"not valid JSON: {error}") from error


def to_share(place: str, value: Any, also: str = "") -> float:
    """Return a score that must be from 0 to 1."""
    if not isinstance(value, int | float) or not 0 <= value <= 1:
        problem = f"a number from 0 to 1{also} was expected; --rule reads other scores"
        raise InputError(place, problem)
    return float(value)
