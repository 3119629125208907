"""What the file of results of lm-evaluation-harness says of a run: names, filters, metrics."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec

from evalcore.log_files.decoding import convert, decode, read_bytes

_TIME = r"\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d(?:\.\d+)?"
_SAMPLES = re.compile(rf"samples_(?P<task>.+)_(?P<time>{_TIME})\.jsonl")

_FILTERS_OF_ALL = {"majority_vote", "take_first_k"}
"""Filters that look at several replies to one document."""


class _Function(msgspec.Struct):
    function: str


class _Filter(msgspec.Struct):
    name: str
    filter: list[_Function] = []


class _Task(msgspec.Struct):
    metadata: dict[str, Any] | None = None
    filter_list: list[_Filter] | None = None


class _Number(msgspec.Struct):
    effective: int


class _Results(msgspec.Struct):
    configs: dict[str, _Task] = {}
    model_name: str | None = None
    higher_is_better: dict[str, dict[str, bool | None]] = {}
    numbers: dict[str, _Number] = msgspec.field(default_factory=dict, name="n-samples")


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """What is known of the run of one task. None: not known."""

    task: str | None = None
    model: str | None = None
    method: str | None = None
    time: str | None = None
    """When the run ended, as in the names of its files."""
    documents: int | None = None
    higher_is_better: Mapping[str, bool | None] = field(default_factory=dict)
    filters: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """The functions of each filter."""

    def takes_first(self, name: str) -> bool:
        """Tell whether a filter leaves the first of several replies alone."""
        return not self.filters.get(name, frozenset()) & _FILTERS_OF_ALL


def read_run(path: Path, most: int) -> Run:
    """Return what the file of results beside a file of samples says; little where there is none.

    Raises
    ------
    InputError
        That file is malformed.
    """
    named = _SAMPLES.fullmatch(path.name)
    if named is None:
        return Run()
    task, time = named["task"], named["time"]
    # Runs that were told to write to one file put its name in the place of `results`.
    beside = sorted(path.parent.glob(f"*_{time}.json"))
    if not beside:
        return Run(task=task, time=time)
    results = convert(str(beside[0]), decode(str(beside[0]), read_bytes(beside[0], most)), _Results)
    config = results.configs.get(task, _Task())
    method = (config.metadata or {}).get("method")
    number = results.numbers.get(task)
    return Run(
        task=task,
        model=results.model_name,
        method=None if method is None else str(method),
        time=time,
        documents=number.effective if number else None,
        higher_is_better=results.higher_is_better.get(task, {}),
        filters={f.name: frozenset(g.function for g in f.filter) for f in config.filter_list or ()},
    )
