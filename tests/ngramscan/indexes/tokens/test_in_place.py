"""`tokens:https://…` as commands see it: the rows of the local folder, and what it costs."""

import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from ngramscan.remote.files import HEAD_BYTES
from tests.support.command import Ran, invoke, without
from tests.support.in_place_kinds import LLAMA, OF_A_RUN
from tests.support.outputs import write_lines
from tests.support.places import TOKENS
from tests.support.range_server import RangeServer

NAME = "v4_pysmall_llama_s3"
LITERALS = ("-e", "of the", "-e", "Return the", "-e", "no such words at all")
LEAN = ("--index-memory", "2KB")
TEXTS = [
    json.loads(line)["text"] for line in (TOKENS / "corpus_small.jsonl").read_bytes().splitlines()
]


@pytest.fixture(scope="module")
def server() -> Iterator[RangeServer]:
    with RangeServer(TOKENS, 0.001) as started_server:
        yield started_server


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Write outputs and a benchmark, in which parts of documents are copied."""
    monkeypatch.chdir(tmp_path)
    outputs = [
        {"id": number, "output": f"{TEXTS[7 * number][100:700]} zzz {TEXTS[number][:200]}"}
        for number in range(5)
    ]
    write_lines(tmp_path / "outputs.jsonl", *outputs)
    entries = [{"id": number, "question": TEXTS[9 * number][:300]} for number in range(1, 5)]
    write_lines(tmp_path / "entries.jsonl", *entries, {"id": 9, "question": "zzz " * 40})
    return tmp_path


def near(command: str, *arguments: str) -> Ran:
    return ask(f"tokens:{TOKENS / NAME}", command, *arguments)


def ask(spec: str, command: str, *arguments: str) -> Ran:
    common = ("--index", spec, "--tokenizer", LLAMA, "--format", "csv")
    return invoke(command, *arguments, *common)


COMMANDS = {
    "count": ("count", *LITERALS),
    "count f1": ("count", "f1", "--count-anyway"),
    "docnorm, some drawn": ("docnorm", *LITERALS, "--draws", "5", "--exact-up-to", "0"),
    "contexts": ("contexts", *LITERALS, "-n", "5", "--width", "30"),
    "trace": ("trace", "outputs.jsonl", "--spans", "spans.csv", "--documents", "3"),
    "trace, rare spans": (
        *("trace", "outputs.jsonl", "--spans", "spans.csv"),
        *("--rank", "rarity", "--density", "0.3"),
    ),
    "sources": ("sources", *LITERALS, "--by", "license", "--draws", "500"),
    "contaminate": ("contaminate", "entries.jsonl"),
}


@pytest.mark.parametrize("memory", [LEAN, ()], ids=["nothing kept", "whole files"])
@pytest.mark.parametrize("arguments", COMMANDS.values(), ids=COMMANDS)
def test_rows_are_those_of_the_folder_and_stay_in_the_journal(
    arguments: tuple[str, ...], memory: tuple[str, ...], server: RangeServer, files: Path
) -> None:
    spans = files / "spans.csv"
    expected = near(*arguments)
    assert expected.code == 0, expected.stderr
    expected_spans = spans.read_text() if spans.exists() else ""
    for times_asked in range(2):
        before = len(server.record().requests)
        far = ask(f"tokens:{server.url}{NAME}", *arguments, "--journal", "replies", *memory)
        requests = server.record().requests[before:]
        assert far.code == 0, far.stderr
        assert without(far.rows, *OF_A_RUN) == without(expected.rows, *OF_A_RUN)
        if spans.exists():
            place = f"tokens:{server.url}{NAME}"
            assert spans.read_text() == expected_spans.replace(f"tokens:{TOKENS / NAME}", place)
        searches = [read for read in requests if (read.start, read.stop) != (0, HEAD_BYTES)]
        assert bool(searches) != bool(times_asked), "the second run opens the files, no more"


def test_documents_are_exact_where_all_occurrences_are_drawn(
    server: RangeServer, files: Path
) -> None:
    arguments = ("docnorm", "-e", "Return the", "-e", "command")
    far = ask(f"tokens:{server.url}{NAME}", *arguments, "--journal", "replies", "--all")
    (seen, command), expected = far.rows, near(*arguments).rows
    for name in ("occurrences", "documents", "documents_low", "documents_high", "estimator"):
        assert [seen[name], command[name]] == [row[name] for row in expected], name
    assert seen["estimator"] == "exact"


def test_a_run_without_a_server_takes_the_journal_and_says_so(files: Path) -> None:
    copied = shutil.copytree(TOKENS / NAME, files / NAME)
    with RangeServer(copied) as server:
        arguments = ("contexts", *LITERALS, "-n", "2", "--journal", "replies", *LEAN)
        first = ask(f"tokens:{server.url}", *arguments)
    again = ask(f"tokens:{server.url}", *arguments)
    assert (again.code, again.rows) == (0, first.rows)
    (notice,) = [line for line in again.stderr.splitlines() if "using the replies" in line]
    assert "using the replies in the journal" in notice
    for options in (("-e", "Return"), (*LITERALS, "--refresh")):
        other = ask(f"tokens:{server.url}", "count", *options, "--journal", "replies")
        assert (other.code, other.stdout) == (1, "")


def test_parts_in_the_cache_on_disk_are_not_asked_for_again(
    server: RangeServer, files: Path
) -> None:
    # On disk, there may be four times as much as in memory.
    memory = ("--index-memory", "300KB", "--index-cache", "cache")
    # With more connections, a search reads as far ahead as the server is slow.
    arguments = ("contexts", *LITERALS, "-n", "3", *memory, "--concurrency", "1")
    rows, parts_by_run = [], []
    for journal in ("first", "second"):
        before = len(server.record().requests)
        ran = ask(f"tokens:{server.url}{NAME}", *arguments, "--journal", journal)
        assert ran.code == 0, ran.stderr
        requests = server.record().requests[before:]
        rows.append(ran.rows)
        parts_by_run.append([read for read in requests if read.stop != HEAD_BYTES])
    assert rows[0] == rows[1]
    assert len(parts_by_run[0]) > 100
    assert parts_by_run[1] == []


def test_a_dry_run_says_what_is_searched(server: RangeServer, files: Path) -> None:
    def planned(*arguments: str) -> dict[str, str]:
        (row,) = ask(f"tokens:{server.url}{NAME}", *arguments, "--dry-run", *LEAN).rows
        return row

    def sent(*arguments: str) -> int:
        before = len(server.record().requests)
        journal = ("--journal", f"replies {before}")
        assert ask(f"tokens:{server.url}{NAME}", *arguments, *journal, *LEAN).code == 0
        return len(server.record().requests) - before

    phrase = ("count", "-e", "of the")
    for arguments in (phrase, ("count", "f1", "--count-anyway"), ("contexts", *phrase[1:], "-n9")):
        row = planned(*arguments)
        # Of files as small as these, many reads are one request.
        assert sent(*arguments) < 1.2 * int(row["requests"])
        assert int(row["requests"]) <= int(row["requests_at_most"])
        assert row["dollars"] == ""
    assert int(planned(*phrase)["requests"]) < int(planned("count", "f1")["requests"])
    traced = planned("trace", "outputs.jsonl")
    assert sent("trace", "outputs.jsonl") < 1.2 * int(traced["requests"])


def test_a_trace_says_its_cost_before_it_starts(server: RangeServer, files: Path) -> None:
    arguments = ("trace", "outputs.jsonl", "--journal", "replies", *LEAN)
    first = ask(f"tokens:{server.url}{NAME}", *arguments)
    assert "5 texts will take about " in first.stderr
    again = ask(f"tokens:{server.url}{NAME}", *arguments)
    assert again.code == 0
    assert "will take about" not in again.stderr


@pytest.mark.parametrize(
    ("problem", "change"),
    [
        pytest.param(
            "the tables have",
            lambda folder: (folder / "offset.0").write_bytes(
                (folder / "offset.0").read_bytes()[:-8]
            ),
            id="a document less",
        ),
        pytest.param(
            "table.2: missing; copy it there",
            lambda folder: (folder / "table.2").unlink(),
            id="no table",
        ),
    ],
)
def test_an_index_that_contradicts_itself_is_one_line(
    problem: str, change: Callable[[Path], object], files: Path
) -> None:
    folder = Path(shutil.copytree(TOKENS / NAME, files / NAME))
    change(folder)
    with RangeServer(folder) as server:
        ran = ask(f"tokens:{server.url}", "count", *LITERALS, "--journal", "replies")
    assert (ran.code, ran.stdout) == (1, "")
    (line,) = ran.stderr.splitlines()
    assert problem in line


def test_the_cost_of_windows_is_said_before_they_are_read(
    server: RangeServer, tmp_path: Path
) -> None:
    literals = ("-e", "of the", "-e", "Return the")
    journal = ("--journal", str(tmp_path / "journal"), *LEAN)
    spec = f"tokens:{server.url}{NAME}"
    first = ask(spec, "contexts", *literals, "-n", "6", *journal)
    again = ask(spec, "contexts", *literals, "-n", "6", *journal)
    more = ask(spec, "docnorm", *literals, "--draws", "9", *journal)
    assert "12 windows will take about " in first.stderr
    assert "will take about" not in again.stderr
    assert again.rows == first.rows
    assert "windows will take about " in more.stderr


def test_windows_fail_alone_where_the_server_is_gone(tmp_path: Path) -> None:
    journal = ("--journal", str(tmp_path / "journal"))
    with RangeServer(TOKENS) as started_server:
        spec = f"tokens:{started_server.url}{NAME}"
        known = ask(spec, "contexts", "-e", "of the", "-n", "3", *journal)
        counted = ask(spec, "count", "-e", "of the", "-e", "Return the", *journal)
    assert (known.code, counted.code) == (0, 0)
    again = ask(spec, "contexts", "-e", "of the", "-n", "3", *journal)
    assert (again.code, again.rows) == (0, known.rows)
    both = ask(spec, "contexts", "-e", "of the", "-e", "Return the", "-n", "3", *journal)
    assert both.code == 1
    assert both.rows == known.rows
    assert "no connection" in both.stderr
