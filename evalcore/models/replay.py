"""Recorded outputs in the place of a model: the whole way of a run, without asking anyone."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from evalcore.models.base import Messages, ProblemKey, Reply
from evalcore.records import Record, folder_name, messages_sha256, read_records
from ngramscan.errors import InputError, RemoteRefused


class Replay:
    """Answers as one model did, by dataset, method, problem and epoch.

    >>> Replay(Path("outputs"), "gpt-4o")
    """

    def __init__(self, path: Path, model: str) -> None:
        self.name = model
        self._path = path
        records = [
            record
            for record in read_records(path)
            if folder_name(record.model) == folder_name(model)
        ]
        if not records:
            raise InputError(str(path), f"no recorded outputs of {model!r} there")
        self._records = {
            ProblemKey(record.dataset, record.method, record.id, record.epoch): record
            for record in records
        }

    @property
    def parameters(self) -> Mapping[str, Any]:
        """What tells these answers from those of a model that was asked now."""
        return {"replayed": True}

    def ask(self, messages: Messages, key: ProblemKey, /) -> Reply:
        """Return what was recorded; raise RemoteRefused where nothing is, or to other messages."""
        record = self._records.get(key)
        if record is None:
            raise RemoteRefused(f"{self._path}: no recorded output of {_named(key)}")
        if record.messages_sha256 not in {None, messages_sha256(messages)}:
            problem = f"the recorded output of {_named(key)} was written to other messages"
            raise RemoteRefused(f"{self._path}: {problem}")
        return _reply(record)


def _named(key: ProblemKey) -> str:
    epoch = "" if key.epoch is None else f", epoch {key.epoch}"
    return f"{key.dataset}, {key.method}, {key.id}{epoch}"


def _reply(record: Record) -> Reply:
    return Reply(
        output=record.output,
        reasoning=record.reasoning,
        refusal=record.refusal,
        finish_reason=record.finish_reason,
        prompt_tokens=record.prompt_tokens,
        completion_tokens=record.completion_tokens,
        reasoning_tokens=record.reasoning_tokens,
        model=record.reported_model,
        latency_s=record.latency_s,
        attempts=record.attempts or 1,
    )
