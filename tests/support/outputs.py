"""Recorded outputs, made and written; what refuses them; a count by the definition."""

import io
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console

from ngramscan.outputs.reading import Output, OutputSet
from ngramscan.reading.output_paths import PromptGroup
from tests.support.command import invoke

Texts = Mapping[tuple[str, str, str], Sequence[str | None]]


def outputs_of(texts: Texts, ids: bool = True) -> OutputSet:
    """Return the texts of groups as outputs, to problems 0, 1 … of each."""
    outputs = [
        Output(PromptGroup(*group), str(number) if ids else "", text, f"{'/'.join(group)}:{number}")
        for group, own in texts.items()
        for number, text in enumerate(own)
    ]
    return OutputSet(outputs, [], "made")


def write_lines(file: Path, *records: Any) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("".join(json.dumps(record) + "\n" for record in records))
    return file


def write_texts(folder: Path, texts: Mapping[str, Sequence[str | None]]) -> Path:
    """Write outputs to problems 0, 1 … by prompt."""
    for prompt, own in texts.items():
        records = [{"id": number, "output": text} for number, text in enumerate(own)]
        write_lines(folder / "d" / "m" / f"{prompt}.jsonl", *records)
    return folder


def refusal(*arguments: str | Path) -> str:
    """Return the one line with which a command refuses what it is given."""
    ran = invoke(*arguments)
    assert (ran.code, ran.stdout, ran.stderr.count("\n")) == (2, "", 1), ran
    return ran.stderr.removeprefix("Error: ").rstrip("\n")


def shown_in(width: int, print_table: Callable[[Console], None]) -> str:
    """Return what a table prints in a terminal of some width, in which nothing is cut."""
    file = io.StringIO()
    print_table(Console(file=file, width=width, markup=False, highlight=False))
    assert max(map(len, file.getvalue().splitlines())) <= width
    assert "…" not in file.getvalue()
    return file.getvalue()


def count_starts(literal: str, text: str, case_sensitive: bool = False) -> int:
    """Count occurrences in bytes, overlaps included, by the definition."""
    sought, searched = literal.encode(), text.encode()
    if not case_sensitive:
        sought, searched = sought.lower(), searched.lower()
    count, start = 0, searched.find(sought)
    while start >= 0:
        count, start = count + 1, searched.find(sought, start + 1)
    return count
