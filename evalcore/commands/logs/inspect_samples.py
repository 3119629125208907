"""The fields of a log of Inspect that are read: its header and its samples."""

import json
import re
from typing import Any

import msgspec

from evalcore.formats import JsonFields, hash_document
from evalcore.records import WholeNumber

_ATTACHMENT = re.compile(r"attachment://(\w+)")


class InspectPlan(msgspec.Struct, frozen=True):
    """Fields of `dataset`, `config` and `results`: the samples of the run, and its scorers."""

    sample_ids: list[str | int] | None = None
    samples: int | None = None
    epochs: int | None = None
    epochs_reducer: list[str] | str | None = None
    total_samples: int | None = None
    scorer: JsonFields | str | None = None
    """The only scorer of a log of version 1."""
    scores: list[JsonFields] | None = None


class InspectRun(msgspec.Struct):
    """A run: its task, its model, and how it was made."""

    task: str
    model: str
    eval_id: str | None = None
    run_id: str | None = None
    task_id: str | None = None
    created: str | None = None
    task_args: JsonFields | None = None
    metadata: JsonFields | None = None
    dataset: InspectPlan = InspectPlan()
    config: InspectPlan = InspectPlan()
    scorers: list[JsonFields] | None = None


class InspectUsage(msgspec.Struct, frozen=True):
    """Tokens of a sample."""

    input_tokens: WholeNumber | None = None
    input_tokens_cache_read: WholeNumber | None = None
    input_tokens_cache_write: WholeNumber | None = None
    output_tokens: WholeNumber | None = None
    reasoning_tokens: WholeNumber | None = None


class InspectChoice(msgspec.Struct, frozen=True):
    """A reply of the model, and why it ended."""

    stop_reason: str | None = None
    message: JsonFields = {}


class InspectOutput(msgspec.Struct, frozen=True):
    """The replies of the model, or its error."""

    choices: list[InspectChoice] | None = None
    completion: str | None = None
    error: str | None = None


class InspectSampleKey(msgspec.Struct):
    """The key of a sample among the others of a log."""

    id: str | int
    epoch: int = 1


class InspectSample(InspectSampleKey):
    """A problem in one epoch: its texts, the replies and their scores."""

    output: InspectOutput = InspectOutput()
    scores: dict[str, JsonFields | None] | None = None
    score: JsonFields | None = None
    """The only score in a log of version 1."""
    error: JsonFields | str | None = None  # errors that a later attempt made good are elsewhere
    limit: JsonFields | str | None = None
    invalidation: Any = None
    model_usage: dict[str, InspectUsage] | None = None
    metadata: JsonFields | None = None
    input: Any = ""
    target: Any = ""
    choices: list[Any] | None = None
    attachments: dict[str, Any] | None = None
    """Long texts, which other texts refer to as `attachment://` and the key."""

    def hash(self) -> str | None:
        """Return the hash of the problem: its texts and choices, and what is right."""
        problem = [self.with_attachments(text) for text in _problem_texts(self.input)]
        if not any(problem):
            return None
        if self.choices:  # may be shuffled, and then the letter of the right one differs
            references = sorted(map(_identity_of, self.choices))
        else:
            targets = self.target if isinstance(self.target, list) else [self.target]
            references = [_identity_of(target) for target in targets]
        full_references = [self.with_attachments(reference) for reference in references]
        return hash_document(*problem, *full_references)

    def with_attachments(self, text: str) -> str:
        """Return a text with what it refers to in its place."""
        texts = self.attachments or {}
        return _ATTACHMENT.sub(lambda reference: str(texts.get(reference[1], reference[0])), text)


def _problem_texts(messages: Any) -> list[str]:
    """Return the messages of an input, but for those of the system: they are part of the prompt."""
    if not isinstance(messages, list):
        return [_identity_of(messages)]
    fields = [message if isinstance(message, dict) else {} for message in messages]
    return [
        _identity_of(message_fields.get("content"))
        for message_fields in fields
        if message_fields.get("role") != "system"
    ]


def _identity_of(content: Any) -> str:
    """Return what tells a message, a choice or a target from another: its text, or all of it."""
    parts = content if isinstance(content, list) else []
    has_other_parts = any(text_of_content([part]) is None for part in parts)
    text = None if has_other_parts else text_of_content(content)
    return json.dumps(content, sort_keys=True) if text is None else text


def text_of_content(content: Any) -> str | None:
    """Return the text of a message, which may have parts; its reasoning is not part of it."""
    if not isinstance(content, list):
        return content if isinstance(content, str) else None
    parts = [part for part in content if isinstance(part, dict) and part.get("type") != "reasoning"]
    texts = [str(part.get("text") or "") for part in parts if part.get("type") == "text"]
    return None if parts and not texts else "\n".join(texts)


class InspectHeader(msgspec.Struct):
    """A log; of a `.eval` file, its samples are added when its members are read."""

    eval: InspectRun
    status: str = "unknown"
    results: InspectPlan | None = None
    samples: list[InspectSample] | None = None
