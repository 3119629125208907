"""Texts that few write: every command works with them, or refuses them in one line."""

import json
from pathlib import Path

import click
import pytest

from ngramscan.reporting.overwriting import is_input
from ngramscan.reporting.signatures import hints_of, option_of
from tests.support.command import Ran, invoke
from tests.support.command_parameters import COMMANDS, function_of, read_by

ODD = {
    "half of a character": "a \ud83d b",
    "NUL": "a \0 b",
    "a long word": "x" * 100_000,
    "nothing": "",
}
TYPED = {name: text for name, text in ODD.items() if "\0" not in text}
"""What a terminal can pass on: there, half of a character is a byte that is not UTF-8."""
ASKING = {("ngramscan", "datasets", "fetch"), ("evalcore", "datasets", "fetch")}
OFFLINE = {name: command for name, command in COMMANDS.items() if name not in ASKING}
COLUMNS = [
    *("id", "dataset", "model", "method", "rule", "output", "text", "question", "answer"),
    *("solution", "pattern", "query", "index", "kind", "tier", "label", "reason", "cluster"),
]
VALUES = {"value": 1.0, "count": 2, "occurrences": 2, "documents": 1, "n": 3}
HERE = {
    "index": "scan:plain.jsonl",
    "journal": "journal.sqlite",
    "base_url": "http://127.0.0.1:9/v1",
    "timeout_s": "1",
}
"""No command asks or leaves anything elsewhere."""
LONGEST_LINE = 10_100
PLAIN = json.dumps({**dict.fromkeys(COLUMNS, "a b c d e f"), **VALUES}) + "\n"


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "plain.jsonl").write_text(PLAIN)
    return tmp_path


def command_line(names: tuple[str, ...], given: dict[str, str]) -> list[str]:
    """Return a command with some values, other needed ones, and no address but this machine's."""
    command = OFFLINE[names]
    hints = hints_of(function_of(command))
    values = {**HERE, **given}
    words = list(names[1:])
    for option in command.params:
        name = option.name or ""
        if name not in values and not option.required:
            continue
        value = values.get(name, "plain.jsonl")
        is_spec = name in hints and option_of(hints[name]).is_spec
        value = f"scan:{value}" if is_spec and ":" not in value else value
        words += [value] if isinstance(option, click.Argument) else [option.opts[-1], value]
    return words


def assert_that_it_ends_well(done: Ran) -> None:
    """Whatever else is raised ends the test."""
    assert done.code in {0, 1, 2}, done
    errors = [line for line in done.stderr.splitlines() if line.startswith("Error: ")]
    assert len(errors) == (1 if done.code == 2 else 0) or done.code == 1, done.stderr[-2000:]
    assert max(map(len, done.stderr.splitlines()), default=0) < LONGEST_LINE


FILES = [
    pytest.param(names, read.name, id=f"{' '.join(names)}-{read.name}")
    for names, command in OFFLINE.items()
    for read in read_by(command)
]


@pytest.mark.parametrize("odd", ODD.values(), ids=ODD)
@pytest.mark.parametrize(("names", "read"), FILES)
def test_files_of_odd_texts_are_read_or_refused_in_one_line(
    here: Path, names: tuple[str, ...], read: str, odd: str, subtests: pytest.Subtests
) -> None:
    texts = dict.fromkeys(COLUMNS, odd)
    rows = {
        "all": texts,
        "with_id": {**texts, "id": "1"},
        "with_method": {**texts, "method": "cot"},
    }
    for name, row in rows.items():
        with subtests.test(name):
            (here / f"{name}.jsonl").write_text(json.dumps({**row, **VALUES}) + "\n" + PLAIN)
            line = command_line(names, {read: f"{name}.jsonl"})
            assert_that_it_ends_well(invoke(*line, package=names[0]))


OPTIONS = [
    pytest.param(names, option.name, id=f"{' '.join(names)}-{option.name}")
    for names, command in OFFLINE.items()
    for option in command.params
    if not getattr(option, "is_flag", False)
    and option.name in (hints := hints_of(function_of(command)))
    and not is_input(option.name, hints[option.name])
]


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize(("names", "option"), OPTIONS)
def test_options_of_odd_texts_are_used_or_refused_in_one_line(
    names: tuple[str, ...], option: str, subtests: pytest.Subtests
) -> None:
    texts = {name: TYPED[name] for name in ("a long word", "nothing")}
    for name, text in {"half of a character": "a \udc80 b", **texts}.items():
        with subtests.test(name):
            line = command_line(names, {option: text})
            assert_that_it_ends_well(invoke(*line, package=names[0]))
