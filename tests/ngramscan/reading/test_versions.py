"""Inputs that another program writes while a command reads them are never read as a mixture."""

import json
import os
import random
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from ngramscan.errors import FileChangedError
from ngramscan.reading.row_files import read_table
from ngramscan.reading.streams import open_unpacked, read_bytes, read_raw
from ngramscan.reading.versions import one_version_each
from ngramscan.reading.yaml_files import read_text
from tests.support.command import Ran, invoke
from tests.support.file_changes import append, overwrite, replace, restore_time, truncate
from tests.support.rewriter import rewritten_in_place

_RANDOM = random.Random(1)
OLD, NEW = (word + _RANDOM.randbytes(200_000) for word in (b"old", b"new"))
WRITES = [overwrite, restore_time, append, truncate]
CURE = "run the same command again when no other program writes it"
CHANGED = f"it changed while it was read; {CURE}"


# One reading


@pytest.mark.parametrize("write", WRITES)
def test_a_file_that_is_written_while_it_is_read_is_an_error(
    write: Callable[[Path, bytes], object], tmp_path: Path
) -> None:
    path = tmp_path / "file"
    path.write_bytes(OLD)
    chunks = read_raw(path)
    next(chunks)
    write(path, NEW)
    with pytest.raises(FileChangedError) as error:
        list(chunks)
    assert str(error.value) == f"{path}: {CHANGED}"


def test_a_file_that_is_replaced_is_read_to_its_end(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(OLD)
    chunks = read_raw(path)
    start = next(chunks)
    replace(path, NEW)
    assert start + b"".join(chunks) == OLD


@pytest.mark.parametrize(
    "look",
    [
        pytest.param(lambda path: path.chmod(0o600), id="another mode"),
        pytest.param(lambda path: os.link(path, f"{path}2"), id="another name"),
    ],
)
def test_what_leaves_the_content_is_no_change(
    look: Callable[[Path], object], tmp_path: Path
) -> None:
    path = tmp_path / "file"
    path.write_bytes(OLD)
    chunks = read_raw(path)
    start = next(chunks)
    look(path)
    assert start + b"".join(chunks) == OLD


def test_two_writes_within_a_step_of_the_clock_are_told_apart(tmp_path: Path) -> None:
    """A file is first read when its time is older than that of any later write can be."""
    path = tmp_path / "file"
    for _ in range(20):
        path.write_bytes(OLD)
        chunks = read_raw(path)
        next(chunks)
        overwrite(path, NEW)
        with pytest.raises(FileChangedError):
            list(chunks)


def test_a_file_that_is_written_all_the_time_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(OLD)

    def read() -> bytes | str:
        try:
            with one_version_each():
                content = read_bytes(path)
                time.sleep(0.03)  # a command does something with it
                return content
        except FileChangedError as error:
            return str(error.where)

    with rewritten_in_place(path, (OLD, NEW)) as rewriter:
        for _ in range(30):
            started_at = time.monotonic()
            is_right = read() in {OLD, NEW, str(path)}
            assert is_right or rewriter.was_interrupted(started_at)


# Several readings by one command


@pytest.mark.parametrize("write", [*WRITES, replace])
@pytest.mark.parametrize(
    "read",
    [
        pytest.param(read_bytes, id="whole"),
        pytest.param(read_text, id="as text"),
        pytest.param(lambda path: open_unpacked(path).read(9), id="its beginning"),
        pytest.param(lambda path: list(read_table(path)), id="its rows"),
    ],
)
def test_a_command_reads_one_version_of_a_file(
    read: Callable[[Path], object], write: Callable[[Path, bytes], object], tmp_path: Path
) -> None:
    path = tmp_path / "file.csv"
    path.write_bytes(b"a,b\n1,2\n" * 99)

    def read_again() -> None:
        with one_version_each():
            read(path)
            read(path)
            write(path, b"b,a\n1,2\n" * 99)
            read(path)

    with pytest.raises(FileChangedError) as error:
        read_again()
    assert str(error.value) == f"{path}: {CHANGED}"
    with one_version_each():
        read(path)  # the next command is another one


@pytest.mark.parametrize("write", WRITES)
def test_a_program_that_writes_on_after_a_file_was_read_is_noticed(
    write: Callable[[Path, bytes], object], tmp_path: Path
) -> None:
    path = tmp_path / "file"
    path.write_bytes(OLD)

    def read_early() -> None:
        with one_version_each():
            read_bytes(path)
            write(path, NEW)

    with pytest.raises(FileChangedError) as error:
        read_early()
    assert str(error.value) == f"{path}: {CHANGED}"


@pytest.mark.parametrize(
    "write",
    [
        pytest.param(lambda path, content: path.unlink(), id="no file"),
        pytest.param(replace, id="another file"),
    ],
)
def test_what_replaces_a_file_that_was_read_is_another_one(
    write: Callable[[Path, bytes], object], tmp_path: Path
) -> None:
    path = tmp_path / "file"
    path.write_bytes(OLD)
    with one_version_each():
        assert read_bytes(path) == OLD
        write(path, NEW)


# Commands


class Reading(NamedTuple):
    """A command, and the file among its inputs that is rewritten, with its two contents."""

    file: str
    contents: tuple[bytes, bytes]
    command: tuple[str, ...]


def lines(rows: Iterable[dict[str, Any]]) -> bytes:
    return b"".join(json.dumps(row).encode() + b"\n" for row in rows)


def outputs(start: str) -> bytes:
    text = f"{start} and the number of apples in the basket is "
    return lines({"id": f"{n:04}", "output": f"{text * 3} {n % 7}"} for n in range(600))


def scores(value: int) -> bytes:
    rows = ((method, n) for method in ("cot", "pot") for n in range(900))
    return lines(
        {
            "dataset": "d",
            "model": "m",
            "method": method,
            "id": f"{n:04}",
            "rule": "numbers",
            "value": value if method == "cot" and n % 3 else n % 2,
        }
        for method, n in rows
    )


def counts(number: int) -> bytes:
    return lines(
        {
            "index": "i",
            "method": ("CoT", "PoT")[n % 2],
            "tier": "T1",
            "kind": "narrative",
            "pattern": f"p{n:04}",
            "query": f"p{n:04}",
            "occurrences": number + n,
            "documents": None,
            "source": "scan",
            "asked_at": "2026-01-01T00:00:00Z",
        }
        for n in range(900)
    )


def corpus(word: str) -> bytes:
    return lines(
        {"text": f"{word} and the number of apples in the basket is {n % 9}"} for n in range(5_000)
    )


STEPS, PROGRAM = "Let's think step by step: ", "def solve(n): return n + 1"
OUTPUTS = outputs(STEPS), outputs(PROGRAM)
SCORES, COUNTS = (scores(0), scores(1)), (counts(1000), counts(5000))
CORPUS = corpus(STEPS), corpus(PROGRAM)
OUTPUT_FILE, OTHER_OUTPUTS = "outs/d/m/cot.jsonl", "outs/d/m/pot.jsonl"
READINGS = {
    "trace of outputs": Reading(OUTPUT_FILE, OUTPUTS, ("trace", "outs", "--index", "scan:c.jsonl")),
    "trace in a corpus": Reading("c.jsonl", CORPUS, ("trace", "outs", "--index", "scan:c.jsonl")),
    "blend": Reading(OUTPUT_FILE, OUTPUTS, ("blend", "outs")),
    "strategies": Reading(OUTPUT_FILE, OUTPUTS, ("strategies", "outs")),
    "tiers": Reading(OUTPUT_FILE, OUTPUTS, ("tiers", "outs")),
    "keyness": Reading(
        OUTPUT_FILE, OUTPUTS, ("keyness", "outs", "--of", "cot", "--against", "pot", "--n", "1")
    ),
    "compare": Reading("s.jsonl", SCORES, ("compare", "s.jsonl", "--baseline", "cot")),
    "rank": Reading("s.jsonl", SCORES, ("rank", "s.jsonl")),
    "link of counts": Reading("n.jsonl", COUNTS, ("link", "n.jsonl", "s.jsonl")),
    "link to scores": Reading("s.jsonl", SCORES, ("link", "n.jsonl", "s.jsonl")),
    "show": Reading(OUTPUT_FILE, OUTPUTS, ("show", "0007", "--outputs", "outs")),
}


@pytest.fixture
def inputs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path(OUTPUT_FILE).parent.mkdir(parents=True)
    Path(OTHER_OUTPUTS).write_bytes(outputs("Something else"))
    for name, contents in {
        OUTPUT_FILE: OUTPUTS,
        "c.jsonl": CORPUS,
        "s.jsonl": SCORES,
        "n.jsonl": COUNTS,
    }.items():
        Path(name).write_bytes(contents[0])
    return tmp_path


def rows_of(reading: Reading) -> Ran:
    return invoke(*reading.command, "--format", "jsonl", "-q")


@pytest.mark.parametrize("kind", READINGS)
@pytest.mark.usefixtures("inputs")
def test_a_command_has_the_rows_of_one_version_or_names_the_file(kind: str) -> None:
    reading = READINGS[kind]
    path = Path(reading.file)
    expected = []
    for content in reading.contents:
        path.write_bytes(content)
        expected.append(rows_of(reading))
    assert [ran.code for ran in expected] == [0, 0], expected[0].stderr
    assert expected[0].stdout != expected[1].stdout
    with rewritten_in_place(path, reading.contents) as rewriter:
        for _ in range(8):
            started_at = time.monotonic()
            ran = rows_of(reading)
            if ran.code == 0:
                is_right = ran.stdout in {ran_alone.stdout for ran_alone in expected}
                assert is_right or rewriter.was_interrupted(started_at)
            else:
                assert (ran.code, ran.stdout) == (1, "")
                assert reading.file in ran.stderr
                assert "chang" in ran.stderr or "is writing it" in ran.stderr


class _AtOpening:
    """What happens when this process opens a file for the second time."""

    path = ""
    left = 0
    change: Callable[[], object] = staticmethod(lambda: None)

    @classmethod
    def hear(cls, event: str, arguments: tuple[Any, ...]) -> None:
        is_counted = event == "open" and cls.left and isinstance(arguments[0], str | Path)
        if not is_counted or os.path.abspath(arguments[0]) != cls.path:
            return
        cls.left -= 1
        if not cls.left:
            cls.change()


sys.addaudithook(_AtOpening.hear)


@contextmanager
def changed_at_the_second_opening(path: Path, content: bytes) -> Iterator[None]:
    _AtOpening.path, _AtOpening.left = str(path.absolute()), 2
    _AtOpening.change = staticmethod(lambda: overwrite(path, content))
    try:
        yield
        assert not _AtOpening.left, "it was opened once only"
    finally:
        _AtOpening.left = 0


@pytest.mark.parametrize(
    ("file", "content", "command"),
    [
        pytest.param("n.jsonl", COUNTS[1], ("report", "n.jsonl", "-o", "page.html"), id="report"),
        pytest.param(
            "s.jsonl", SCORES[1], ("compare", "s.jsonl", "--baseline", "cot"), id="compare"
        ),
        pytest.param("s.jsonl", SCORES[1], ("rank", "s.jsonl"), id="rank"),
        pytest.param(
            "q.jsonl",
            lines({"question": f"q{n}", "answer": "8"} for n in range(9)),
            ("score", "outs", "--data", "q.jsonl", "--rule", "numbers", "--dataset", "d"),
            id="score",
        ),
        pytest.param(
            "c.jsonl",
            CORPUS[1],
            ("trace", "outs", "--index", "scan:c.jsonl", "--spans", "spans.jsonl"),
            id="trace",
        ),
    ],
)
@pytest.mark.usefixtures("inputs")
def test_a_file_that_is_rewritten_between_two_readings_is_named(
    file: str, content: bytes, command: tuple[str, ...]
) -> None:
    Path("q.jsonl").write_bytes(lines({"question": f"q{n}", "answer": "7"} for n in range(9)))
    with changed_at_the_second_opening(Path(file), content):
        ran = invoke(*command)
    assert ran.code == 1
    assert f"Error: {file}: " in ran.stderr
    assert "changed" in ran.stderr
    assert not Path("page.html").exists()
