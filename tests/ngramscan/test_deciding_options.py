"""What is kept of a run is used by another only if all options that decide its content agree."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from ngramscan import deciding_options
from ngramscan.corpora import ReadOptions
from ngramscan.indexes.scan.counting import Question
from ngramscan.indexes.scan.kept import key_of
from ngramscan.matching import MatchRule, Normalization
from tests.support.command import invoke
from tests.support.command_options import COMMANDS
from tests.support.places import TOKENS

EVALCORE_DECIDES = {
    "answer_field": "the question",
    "base_url": "the address whose replies the journal of judges has",
    "data": "the question",
    "dataset": "the file of records",
    "epochs": "the number of each answer",
    "id_field": "the id of a record",
    "judges": "the model whose replies the journal has",
    "layout": "the outputs that a judge sees",
    "limit": "which questions are asked",
    "max_tokens": "the parameters of a record and of a request",
    "method": "the outputs that a judge sees",
    "methods": "the messages of a record",
    "model": "the file of records",
    "outputs": "the outputs that a judge sees",
    "params": "the parameters of a record and of a request",
    "per": "which outputs a judge sees",
    "prompts": "the messages of a record",
    "question_field": "the question",
    "replay": "the parameters of a record say that it was replayed",
    "sample": "which outputs a judge sees",
    "scores": "which outputs a judge sees",
    "seed": "which outputs a judge sees",
    "task": "the messages to a judge",
    "temperature": "the parameters of a record and of a request",
}
"""Options of `run` and `judge` that decide a reply, by name, and what has them of what is kept."""

EVALCORE_DECIDES_NOT = {
    "api_key_env": "a reply is the same whoever pays for it",
    "cluster": "is read for intervals, after all replies",
    "concurrency": "is about time",
    "dry_run": "asks nothing",
    "format_name": "shows rows",
    "has_sidecar": "shows rows",
    "help_all": "asks nothing",
    "is_csv_safe": "shows rows",
    "journal": "is where replies are kept",
    "max_bytes": "refuses a file, but changes none",
    "output": "is where records are kept",
    "price_in": "is about money",
    "price_out": "is about money",
    "quiet": "is about messages",
    "rate": "is about time",
    "shares": "is written after all replies",
    "timeout_s": "is about time, and a late reply is none",
    "sort": "shows rows",
    "token_budget": "ends a run, and what is missing stays so",
    "verbose": "is about messages",
    "wide": "shows rows",
}
"""Options of `run` and `judge` that don't, and why."""

EVALCORE_KEEPING = {"run", "judge"}


class Table(NamedTuple):
    """The options of a package that decide what is kept, those that don't, and its commands."""

    deciding: frozenset[str]
    others: frozenset[str]
    keeping_nothing: frozenset[str]


TABLES = {
    "ngramscan": Table(
        deciding_options.DECIDING,
        deciding_options.NOT_DECIDING,
        deciding_options.KEEPING_NOTHING,
    ),
    "evalcore": Table(
        frozenset(EVALCORE_DECIDES),
        frozenset(EVALCORE_DECIDES_NOT),
        frozenset(
            name.removeprefix("evalcore.") for name in COMMANDS if name.startswith("evalcore.")
        )
        - EVALCORE_KEEPING,
    ),
}
KEEPING = [
    name
    for name in COMMANDS
    if name.partition(".")[2] not in TABLES[name.partition(".")[0]].keeping_nothing
]


def options_of_command(name: str) -> set[str]:
    """Return the names of all parameters of a command, those of every command among them."""
    return {one["name"] for one in COMMANDS[name]["params"]} - {"_click_default_help"}


@pytest.mark.parametrize("name", KEEPING)
def test_every_option_of_a_command_that_keeps_results_is_listed(name: str) -> None:
    table = TABLES[name.partition(".")[0]]
    options = options_of_command(name)
    assert options - table.deciding - table.others == set(), "add it to deciding_options.py"


@pytest.mark.parametrize("package", TABLES)
def test_no_option_both_decides_and_does_not_and_each_is_one_of_a_command(package: str) -> None:
    table = TABLES[package]
    names = [name for name in KEEPING if name.startswith(f"{package}.")]
    assert table.deciding & table.others == set()
    existing = {option for name in names for option in options_of_command(name)}
    assert (table.deciding | table.others) - existing == set()
    assert {f"{package}.{name}" for name in table.keeping_nothing} <= COMMANDS.keys()


def test_commands_that_keep_nothing_have_no_journal_to_keep_it_in() -> None:
    others = COMMANDS.keys() - set(KEEPING) - {"ngramscan.journal_info", "ngramscan.journal_clear"}
    assert [name for name in others if "journal" in options_of_command(name)] == []


def test_every_field_of_reading_and_matching_is_of_an_option() -> None:
    read = {field.name for field in fields(ReadOptions)}
    of_options = {*deciding_options.READING.values(), *deciding_options.LIMITS.values()}
    assert read - of_options == {"with_sources", "with_fields", "field_names"}, (
        "they only add what is not counted"
    )
    asked = {field.name for field in fields(Question)}
    in_digest = {"queries", "unions", "digest"}
    assert asked - in_digest - {"read"} == {"rule", "normalization"}
    assert {field.name for field in fields(MatchRule)} == {*deciding_options.MATCHING.values()}


# The proof: what is kept of a run with one value is not used by a run with another


LINES = [
    {"text": "Step by step, one step.", "other": "no", "url": "a.org/1"},
    {"text": "a step by a step. A STEP", "other": "a step", "url": "b.org/2"},
]
QUESTION = "How many apples are left over when she gives eleven of all her apples away today?"


def make_inputs(folder: Path) -> None:
    """Write corpora of which each option changes what is counted, and a benchmark."""
    lines = [json.dumps(line) + "\n" for line in LINES]
    (folder / "c.jsonl").write_text("".join(lines))
    (folder / "bad.jsonl").write_text(lines[0] + "{\n" + lines[1])
    (folder / "null.jsonl").write_text(lines[0] + '{"text": null}\n')
    (folder / "wide.jsonl").write_text(lines[0] + json.dumps({"text": "step" * 300_000}) + "\n")
    (folder / "long.txt").write_text("a step " * 40_000)
    many = folder / "many"
    many.mkdir()
    for number in range(4):
        (many / f"{number}.txt").write_text("a step " * (number * number + 1))
    (many / "README").write_text("a step")
    (folder / "q.jsonl").write_text(
        json.dumps({"id": 1, "question": QUESTION, "answer": "eleven", "hint": "by a step"}) + "\n"
    )
    (folder / "copied.jsonl").write_text(json.dumps({"text": QUESTION.upper()}) + "\n")


COUNT = ("count", "-e", "step")
SCAN = (*COUNT, "--index", "scan:c.jsonl")
MANY = (*COUNT, "--index", "scan:many")
SPACED = ("count", "-e", "step. A", "-e", "Ste", "--index", "scan:c.jsonl")
CONTAMINATE = ("contaminate", "q.jsonl", "--index", "scan:copied.jsonl")


class Change(NamedTuple):
    """A command with one option in two ways."""

    command: tuple[str, ...]
    before: tuple[str, ...]
    after: tuple[str, ...]


CHANGES = {
    "exclude_source": Change(SCAN, (), ("--exclude-source", "b.org/*")),
    "field": Change(CONTAMINATE, (), ("--field", "hint")),
    "ignore_case": Change(SCAN, (), ("-i",)),
    "index": Change(COUNT, ("--index", "scan:c.jsonl"), ("--index", "scan:long.txt")),
    "input_format": Change(SCAN, (), ("--input-format", "text")),
    "limit_documents": Change(SCAN, (), ("--limit-documents", "1")),
    "literal": Change(("count", "--index", "scan:c.jsonl"), ("-e", "step"), ("-e", "a")),
    "max_bytes": Change((*COUNT, "--index", "scan:long.txt"), (), ("--max-bytes", "10000")),
    "max_line": Change((*COUNT, "--index", "scan:wide.jsonl"), (), ("--max-line", "1")),
    "n": Change(
        ("contexts", "-e", "step", "--index", "scan:many", "--skip-unknown"),
        ("-n", "2"),
        ("-n", "3"),
    ),
    "rule": Change(CONTAMINATE, ("--rule", "gpt3"), ("--rule", "mini")),
    "sample_files": Change(
        (*MANY, "--skip-unknown"), ("--sample-files", "2"), ("--sample-files", "3")
    ),
    "seed": Change(
        (*MANY, "--skip-unknown", "--sample-files", "2"), ("--seed", "1"), ("--seed", "3")
    ),
    "skip_bad_lines": Change((*COUNT, "--index", "scan:bad.jsonl"), ("--skip-bad-lines",), ()),
    "skip_null": Change((*COUNT, "--index", "scan:null.jsonl"), ("--skip-null",), ()),
    "skip_unknown": Change(MANY, ("--skip-unknown",), ()),
    "text_field": Change(SCAN, (), ("--text-field", "other")),
    "any_space": Change(SPACED, (), ("--any-space",)),
    "regex": Change(SPACED, (), ("--regex",)),
    "whole_words": Change(SPACED, (), ("-w",)),
    "width": Change(
        ("contexts", "-e", "step", "--index", "scan:long.txt"),
        ("--width", "60"),
        ("--width", "100"),
    ),
}


class Answer(NamedTuple):
    """What a command answers, without when it was asked."""

    code: int
    rows: list[dict[str, Any]]
    error: str


def answer(command: tuple[str, ...], journal: Path) -> Answer:
    done = invoke(*command, "--journal", journal, "-o", "-", "--format", "jsonl")
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    for row in rows:
        row.pop("asked_at", None)
    errors = [line for line in done.stderr.splitlines() if line.startswith("Error")]
    return Answer(done.code, rows, "\n".join(errors))


@pytest.mark.parametrize("is_reversed", [False, True], ids=["forwards", "backwards"])
@pytest.mark.parametrize("option", CHANGES)
def test_a_run_after_one_with_another_option_answers_as_a_new_one(
    option: str, is_reversed: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    make_inputs(tmp_path)
    command, before, after = CHANGES[option]
    if is_reversed:
        before, after = after, before
    first = answer((*command, *before), tmp_path / "kept.sqlite")
    second = answer((*command, *after), tmp_path / "kept.sqlite")
    fresh = answer((*command, *after), tmp_path / "new.sqlite")
    assert second == fresh
    assert first != fresh, "or the option changes nothing in this case"
    assert 2 not in (first.code, second.code) or option == "skip_unknown"


def test_the_proof_has_every_option_whose_value_is_in_a_key() -> None:
    """Those that choose an index or texts are in keys by what they choose, and some are proved."""
    in_keys = {*deciding_options.READING, *deciding_options.LIMITS, "rule"}
    in_keys |= {*deciding_options.MATCHING}
    assert in_keys - CHANGES.keys() == set()
    assert CHANGES.keys() <= deciding_options.DECIDING


class Build(NamedTuple):
    """A corpus, and two ways to build an index of it that differ in one option."""

    corpus: str
    before: tuple[str, ...]
    after: tuple[str, ...]


TOKENIZER = str(TOKENS / "llamalike.model")
BUILDS = {
    "exclude_source": Build("c.jsonl", (), ("--exclude-source", "b.org/*")),
    "input_format": Build("c.jsonl", (), ("--input-format", "text")),
    "memory": Build("c.jsonl", ("--memory", "16GB"), ("--memory", "15GB")),
    "shard_size": Build("c.jsonl", ("--shard-size", "2MB"), ("--shard-size", "1MB")),
    "skip_bad_lines": Build("bad.jsonl", ("--skip-bad-lines",), ()),
    "skip_null": Build("null.jsonl", ("--skip-null",), ()),
    "skip_unknown": Build("many", ("--skip-unknown",), ("--input-format", "text")),
    "text_field": Build("c.jsonl", (), ("--text-field", "other")),
}
"""For each option of a build that decides its content, a build that it changes."""

TOKEN_BUILDS = {
    "exclude_source": BUILDS["exclude_source"],
    "index_version": Build("c.jsonl", (), ("--index-version", "6")),
    "input_format": BUILDS["input_format"],
    "skip_unknown": BUILDS["skip_unknown"],
    "text_field": BUILDS["text_field"],
    "tokenizer": Build("c.jsonl", (), ("--tokenizer", TOKENIZER)),
}
"""The same of an index over tokens: one of the same tokens is the same, whatever was asked for."""

NOT_DECIDING_A_BUILD = {
    "max_bytes": ("--max-bytes", "3000000"),
    "max_line": ("--max-line", "2"),
    "workers": ("--workers", "2"),
}
REFUSED = {
    "fm9": "the folder is not empty",
    "tokens": "the folder has an index ",
}


@pytest.fixture
def corpora(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("numba", reason="builds need the extra [index]")
    monkeypatch.chdir(tmp_path)
    make_inputs(tmp_path)


def both_ways(kind: str, builds: Mapping[str, Build]) -> Iterator[Any]:
    """Yield each build before the other one; what can't be read without an option is first."""
    for option, build in builds.items():
        yield pytest.param(kind, build, id=f"{kind}-{option}")
        if option not in {"skip_bad_lines", "skip_null"}:
            turned = Build(build.corpus, build.after, build.before)
            yield pytest.param(kind, turned, id=f"{kind}-{option}-backwards")


@pytest.mark.usefixtures("corpora")
@pytest.mark.parametrize(
    ("kind", "build"), [*both_ways("fm9", BUILDS), *both_ways("tokens", TOKEN_BUILDS)]
)
def test_a_finished_build_is_there_and_refuses_another_option(kind: str, build: Build) -> None:
    corpus, before, after = build
    command = ("index", "build", corpus, "-o", "tokens:built" if kind == "tokens" else "built")
    assert invoke(*command, *before).code == 0
    again = invoke(*command, *before)
    assert (again.code, "already built" in again.stderr) == (0, True)
    other = invoke(*command, *after)
    assert (other.code, "already built" in other.stderr) == (2, False)
    assert REFUSED[kind] in other.stderr


@pytest.mark.usefixtures("corpora")
@pytest.mark.parametrize("option", NOT_DECIDING_A_BUILD)
def test_a_finished_build_is_there_whatever_other_options_say(option: str) -> None:
    command = ("index", "build", "c.jsonl", "-o", "built")
    assert invoke(*command).code == 0
    again = invoke(*command, *NOT_DECIDING_A_BUILD[option])
    assert (again.code, "already built" in again.stderr) == (0, True)


@pytest.mark.usefixtures("corpora")
@pytest.mark.parametrize("index", ["built", "tokens:built"], ids=["fm9", "tokens"])
def test_a_finished_build_refuses_one_of_another_corpus(index: str) -> None:
    assert invoke("index", "build", "c.jsonl", "-o", index).code == 0
    other = invoke("index", "build", "copied.jsonl", "-o", index)
    assert (other.code, "already built" in other.stderr) == (2, False)


def test_proofs_of_builds_have_every_option_that_decides_their_content() -> None:
    deciding = options_of_command("ngramscan.index_build") & deciding_options.DECIDING
    proved = {*BUILDS, *TOKEN_BUILDS, "corpus"}
    assert deciding - {*deciding_options.LIMITS} == proved
    assert NOT_DECIDING_A_BUILD.keys() & proved == set()


def test_the_same_texts_searched_by_other_rules_have_other_keys() -> None:
    read = ReadOptions()
    rules: list[Normalization] = ["", "words", "alphanumeric"]
    questions = [Question(["a"], read, MatchRule(), normalization=rule) for rule in rules]
    assert len({key_of(question) for question in questions}) == len(rules)
