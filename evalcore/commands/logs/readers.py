"""The readers of all tools: their files, scores with and without a value, tokens and notices."""

from __future__ import annotations

import codecs
import json
import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import msgspec

from evalcore.finish_reasons import Ending, classify_finish_reason
from evalcore.formats import JsonFields
from evalcore.path_names import TableName
from evalcore.records import WholeNumber
from evalcore.scales import FROM_0_TO_1, ScoreScale
from evalcore.scores import ScoreRow
from ngramscan.errors import InputError
from ngramscan.messages import OptionUse, Wording
from ngramscan.reading.row_files import decoded_as, is_json_list, list_items, read_table
from ngramscan.reading.score_values import NO_ANSWER, NOT_FOUND, UNKNOWN
from ngramscan.reading.streams import open_unpacked, unpacked_path
from ngramscan.reading.surrogates import replace_halves

_Kind = TypeVar("_Kind")
_SHARES = {
    "C": 1.0,
    "P": 0.5,
    "I": 0.0,
    "N": 0.0,
    "yes": 1.0,
    "true": 1.0,
    "no": 0.0,
    "false": 0.0,
}
"""Correct, partly correct, incorrect, no answer, as Inspect's metrics read them, and its words."""
_UNKNOWN = {"error", "invalidated sample", "interrupted sample", "unscored sample"}
"""Failures that leave open what the model would have answered."""
_TABLES = {".csv", ".parquet"}
_RULE = "refusal-phrases/1"  # a change of the phrases is a new version
_REFUSAL = re.compile(
    r"(?:(?:(?:i am|i'm) (?:very |so |really |truly )?sorry|sorry|i apologi[sz]e|my apologies"
    r"|unfortunately|as an ai(?: language)?(?: model| assistant)?)[,.;:!]? *(?:but )?)?"
    r"(?:i (?:can ?not|can't|will not|won't|am unable to|am not able to|must decline to"
    r"|decline to|have to decline to|refuse to)|i'm (?:unable|not able) to) "
    r"(?:answer|assist|help|comply|fulfil|fulfill|provide|discuss|engage|participate|support"
    r"|continue with|do (?:this|that|so))\b"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class UsageRow:
    """Number of tokens of one answer. None means not recorded, which is not 0."""

    dataset: str
    model: str
    method: str
    id: str
    epoch: int | None
    prompt_tokens: WholeNumber | None
    """Includes tokens from a cache."""
    completion_tokens: WholeNumber | None
    """Includes those of the reasoning."""
    reasoning_tokens: WholeNumber | None
    run: str | None = None


@dataclass(frozen=True, slots=True)
class LogFile:
    """A file of another tool, and how to read it."""

    path: Path
    replaced_names: Mapping[str, Any] = field(default_factory=dict)
    """Names that replace those in the file."""
    wanted: Sequence[str] = ()
    """The rules to read; empty means all."""
    missing: str = "apart"
    max_line: int = 256
    scale: ScoreScale = FROM_0_TO_1
    cluster: str | None = None
    """The field that names the cluster of a problem: of a sample's metadata, or of a document."""
    named: TableName | None = None
    """The names of a table of scores that its path tells apart from others."""

    def wants(self, rule: str) -> bool:
        """Tell whether to read the scores of a rule."""
        return rule in (self.wanted or [rule])

    def names(
        self, run: str | None, notes: Sequence[JsonFields | None], **names: str | None
    ) -> JsonFields:
        """Return the names that all rows share; the method is in the first notes that have one.

        It is empty if no notes have one; see unnamed_methods.py.
        """
        methods = [(note or {}).get("method") for note in notes]
        method = next((str(method) for method in methods if method is not None), "")
        names |= {"method": method, **self.replaced_names}
        for kind, name in names.items():
            if not name and kind != "method":
                naming = Wording(f"`evalcore logs --{kind} NAME`", f"`evalcore.logs({kind}=NAME)`")
                raise InputError(self.path, f"it has no {kind}; " + naming + " names it")
        return {"run": run, **names}

    def records(self) -> Iterator[tuple[str, JsonFields]]:
        """Yield each row of a table, or each object of lines or of a list of JSON, by place."""
        if unpacked_path(self.path).suffix in _TABLES:
            yield from read_table(self.path)
            return
        for place, line in self.lines():
            yield place, decode(place, line, JsonFields)

    def row(
        self, place: str, names: JsonFields, rule: str, score: Any, answer: str | None = None
    ) -> ScoreRow:
        """Return a row with the score that a tool recorded, if it recorded one."""
        value = to_number(f"{place}, {rule} {score!r}", score, self.scale)
        reason = "no score" if value is None else one_line(f"recorded as {score}")
        return ScoreRow(**names, rule=rule, value=value, answer=answer, reason=reason)

    def is_list(self) -> bool:
        """Tell whether the file is a JSON list."""
        with open_unpacked(self.path) as file:
            return is_json_list(file.read(1000))

    def lines(self) -> Iterator[tuple[str, bytes]]:
        """Yield each line that is not empty, or each item of a JSON list, with its place."""
        if self.is_list():
            content, _ = replace_halves(self._content_of(self.path))
            for place, item in list_items(self.path, content):
                yield place, json.dumps(item).encode()
            return
        with open_unpacked(self.path) as file:
            lines = iter(lambda: file.readline(self.max_line * 1_000_000 + 2), b"")
            for number, line in enumerate(lines, 1):
                self.refuse_long(f"{self.path}:{number}", len(line.removesuffix(b"\n")))
                if line.strip():
                    yield f"{self.path}:{number}", line.removeprefix(codecs.BOM_UTF8)

    def read_json(self, path: Path, kind: type[_Kind]) -> _Kind:
        """Return the value of a JSON file: this one, or one beside it."""
        return decode(path, self._content_of(path).removeprefix(codecs.BOM_UTF8), kind)

    def _content_of(self, path: Path) -> bytes:
        with open_unpacked(path) as file:
            content = file.read(self.max_line * 1_000_000 + 1)
        self.refuse_long(path, len(content))
        return content

    def refuse_long(self, place: object, length: int) -> None:
        """Raise an InputError if a line, sample or file of JSON is too long."""
        if length > self.max_line * 1_000_000:
            raise InputError(place, f"longer than {self.max_line} MB; see " + OptionUse("max_line"))


@dataclass(slots=True)
class Log:
    """The content of one file or of several."""

    rules: set[str] = field(default_factory=set)
    """All rules, including those not read."""
    rows: list[ScoreRow] = field(default_factory=list)
    usage: list[UsageRow] = field(default_factory=list)
    notices: list[str] = field(default_factory=list)
    failures: list[InputError] = field(default_factory=list)
    """Why some of the files can't be read."""

    def add(self, log: Log, path: Path) -> None:
        """Add the content of a file, whose notices get its name."""
        self.rules |= log.rules
        self.rows += log.rows
        self.usage += log.usage
        self.notices += [f"{path}: {notice}" for notice in log.notices]


class Recorded(NamedTuple):
    """A score as a tool recorded it, and what tells whether the model answered at all."""

    row: ScoreRow
    replies: Sequence[str]
    is_sought: bool
    """Whether the tool would have recorded an answer that it found."""
    failure: str = ""
    """The kind of failure that the tool recorded, such as `cut reply`; empty if none."""
    cause: str = ""


def add_scores(log: Log, file: LogFile, scores: Iterable[Recorded]) -> None:
    """Add a row for each score: as recorded, or without a value if the model did not answer.

    A cut reply is a failure whatever its score: leaving out only the wrong ones would favour the
    method that fails more often.
    """
    failures: set[tuple[str, int | None, str]] = set()
    for score in scores:
        row, (failure, cause) = score.row, _failure_of(score)
        if failure:
            result = "scored above 0" if row.value else "scored as wrong"
            result = "without a score" if row.value is None else result
            failures.add((row.id, row.epoch, f"{failure} {result}"))
            row = replace(row, reason=f"{cause} ({row.reason})")
            if row.value is None or file.missing == "apart":
                # Without a score, it is not known what the tool would have made of the reply.
                is_unknown = row.value is None or failure in _UNKNOWN
                status = UNKNOWN if is_unknown else NO_ANSWER
                row = replace(row, value=None, status=status)
        elif score.is_sought and row.answer is None and row.value == 0:
            row = replace(row, status=NOT_FOUND)
        log.rows.append(row if row.answer is None else replace(row, extraction=row.rule))
    if failures:
        kinds = Counter(kind for *_, kind in failures)
        listed = ", ".join(f"{kind} ({kinds[kind]})" for kind in sorted(kinds))
        failed = len({(id_, epoch) for id_, epoch, _ in failures})
        samples = len({(row.id, row.epoch) for row in log.rows})
        treatment = (
            "scores are kept" if file.missing == "as-recorded" else "they have no value here"
        )
        log.notices.append(f"{failed} of {samples} samples are failures: {listed}; {treatment}")


def _failure_of(score: Recorded) -> tuple[str, str]:
    """Return the kind and the cause of a failure; replies are read only if they scored nothing."""
    row, replies, _, failure, cause = score
    texts = [] if row.value else [one_line(reply)[:1000] for reply in replies]
    if texts and not any(texts) and failure in {"", "cut reply", "stopped sample"}:
        return "empty reply", f"no output, {cause}" if cause else "no output"
    plain = [text.replace("\N{RIGHT SINGLE QUOTATION MARK}", "'").lower() for text in texts]
    if failure:
        return failure, cause
    if texts and row.answer in {None, *replies} and all(map(_REFUSAL.match, plain)):
        return "apparent refusal", f"looks like a refusal ({_RULE}): {texts[0][:80]}"
    return ("unscored sample", "not scored by the tool") if row.value is None else ("", "")


def failure_of_ending(word: str | None) -> tuple[str, str]:
    """Return the kind and the cause of a failure, by a tool's word for how a reply ended."""
    ending, cause = classify_finish_reason(word)
    if ending is Ending.REFUSED:
        return "refusal", f"refused: {cause}"
    return ("cut reply", cause) if cause else ("", "")


def one_line(text: object) -> str:
    """Return a text without line breaks and runs of blanks."""
    return " ".join(str(text).split())


def decode(place: object, content: bytes, kind: type[_Kind]) -> _Kind:
    """Return the value of a JSON text; fields that a structure lacks are left out."""
    with suppress(ValueError, RecursionError):
        content.decode()  # checks also what is left out
        return msgspec.json.decode(content, type=kind)
    # Knows NaN, which tools write; outputs may be cut within a character.
    return decoded_as(kind, place, replace_halves(content)[0])


def to_number(place: str, value: Any, scale: ScoreScale) -> float | None:
    """Return a score as a share, from 0 to 1; None if the tool has none, written as null or NaN.

    Letters, words and truth values are shares already; numbers are put on the scale.
    """
    if isinstance(value, bool):
        return float(value)
    if isinstance(value, str):
        word = value.strip()
        if (share := _SHARES.get(word, _SHARES.get(word.lower()))) is not None:
            return share
        with suppress(ValueError):
            value = float(word)
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return None
    if not isinstance(value, int | float):
        raise InputError(
            place, "expected a number from 0 to 1 or C, P, I, N; see " + OptionUse("rule")
        )
    if (share := scale.share_of(value)) is None:
        expected = f"expected a number from {scale.lowest:g} to {scale.highest:g}"
        scale_options = OptionUse("min_score") + " and " + OptionUse("max_score")
        cure = " of `evalcore logs` say the scale, " + OptionUse("rule") + " leaves it out"
        raise InputError(place, f"{expected}; " + scale_options + cure)
    return share
