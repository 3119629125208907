"""Pipes, standard input and compressed files, against brute force and against the plain file."""

import gzip
import json
import os
import pty
import subprocess
import threading
import time
from pathlib import Path

import pytest

from tests.support import corpus_files, oracle
from tests.support.command import NGRAMSCAN, Ran, invoke
from tests.support.corpus_files import PACK
from tests.support.hard_texts import F1, make_texts
from tests.support.outputs import write_lines
from tests.support.programs import read_pipe
from tests.support.sizes import slow
from tests.support.started import started

TEXTS = make_texts(300)
SEARCH = ("count", "f1", "--format", "csv", "--index")
LINES = b'{"text": "foo, solve for x"}\n{"text": "solve for y, solve for z"}\n'


def piped(content: bytes, *arguments: str | Path) -> Ran:
    return invoke(*arguments, content=content)


def refused(content: bytes, *arguments: str | Path, code: int = 2) -> str:
    """Return the one line that a command writes."""
    done = piped(content, *arguments)
    assert (done.code, done.stdout) == (code, ""), done
    (line,) = done.stderr.splitlines()
    return line.removeprefix("Error: ")


def shell(command: str, folder: Path) -> Ran:
    """Run a pipeline of real programs in bash, where `ngramscan` is this one."""
    script = f'ngramscan() {{ "{NGRAMSCAN[0]}" -m ngramscan "$@"; }}; {command}'
    done = subprocess.run(["bash", "-c", script], capture_output=True, cwd=folder, check=False)
    return Ran(done.returncode, done.stdout.decode(), done.stderr.decode())


def check(done: Ran, texts: list[str]) -> None:
    """Compare counts with those of the definition."""
    assert done.code == 0, done.stderr
    found = {row["query"]: (row["occurrences"], row["documents"]) for row in done.rows}
    occurrences, documents = oracle.tally(F1, texts)
    expected = zip(map(str, occurrences), map(str, documents), strict=True)
    assert found == dict(zip(F1, expected, strict=True))


# A corpus


@pytest.mark.parametrize("name", [n for n in corpus_files.WRITERS if n != "c.parquet"])
def test_a_corpus_through_a_pipe_is_counted_as_by_brute_force(tmp_path: Path, name: str) -> None:
    content, fifo = corpus_files.WRITERS[name](TEXTS), tmp_path / "fifo"
    check(piped(content, *SEARCH, "scan:-"), TEXTS)
    os.mkfifo(fifo)
    writer = threading.Thread(target=fifo.write_bytes, args=(content,), daemon=True)
    writer.start()
    check(invoke(*SEARCH, f"scan:{fifo}"), TEXTS)
    writer.join()


@pytest.mark.integration
def test_pipes_of_a_shell_are_read_as_they_come_from_a_program(tmp_path: Path) -> None:
    corpus_files.write(tmp_path, "c.jsonl.gz", TEXTS)
    count = "ngramscan count f1 --format csv --index"
    check(shell(f"{count} scan:<(zcat c.jsonl.gz)", tmp_path), TEXTS)
    check(shell(f"{count} scan:/dev/stdin < c.jsonl.gz", tmp_path), TEXTS)


@pytest.mark.integration
def test_a_slow_producer_is_waited_for(tmp_path: Path) -> None:
    content = corpus_files.wet(TEXTS[:40])
    command = [*NGRAMSCAN, *SEARCH, "scan:-"]
    with started(command, text=False, stdin=-1, stdout=-1, stderr=-1, cwd=tmp_path) as process:
        assert process.stdin
        for part in (content[:1], content[1:3], content[3:3000]):
            process.stdin.write(part)
            process.stdin.flush()
            time.sleep(0.2)
        stdout, stderr = process.communicate(content[3000:])
    check(Ran(process.returncode, stdout.decode(), stderr.decode()), TEXTS[:40])


@pytest.mark.integration
def test_a_terminal_is_no_corpus(tmp_path: Path) -> None:
    ours, theirs = pty.openpty()
    command = [*NGRAMSCAN, *SEARCH, "scan:-"]
    done = subprocess.run(command, stdin=theirs, capture_output=True, cwd=tmp_path, check=False)
    os.close(ours)
    os.close(theirs)
    assert done.returncode == 2
    assert b"standard input: expected a pipe or file, not a terminal" in done.stderr


PIPED = corpus_files.jsonl(TEXTS)


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(b"\xef\xbb\xbf" + PIPED, id="a mark"),
        pytest.param(b"\n \n" + PIPED, id="empty lines"),
        pytest.param(PIPED.rstrip(b"\n"), id="no end of the last line"),
        pytest.param(b"[" + PIPED.rstrip(b"\n").replace(b"\n", b",\n") + b"]", id="a list"),
    ],
)
def test_the_first_bytes_say_that_json_comes_through_a_pipe(content: bytes) -> None:
    check(piped(content, *SEARCH, "scan:-"), TEXTS)


def test_a_text_through_a_pipe_is_one_document() -> None:
    text = "é solve for\n" * 20_000
    done = piped(text.encode(), *SEARCH, "scan:-")
    check(done, [text])
    assert "standard input: read as text, one document; if it is something else" in done.stderr
    check(piped(PIPED, *SEARCH, "scan:-", "--input-format", "text"), [PIPED.decode()])


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        pytest.param(
            b"\x7fELF\0\0",
            "neither JSON lines, text nor WARC; --input-format says it",
            id="a program",
        ),
        pytest.param(
            "café".encode("latin-1") * 9, "neither JSON lines, text nor WARC", id="Latin-1"
        ),
        pytest.param(
            "step by step".encode("utf-16-le"),
            "it is UTF-16, and UTF-8 is expected; iconv -f UTF-16LE",
            id="UTF-16",
        ),
        pytest.param(
            b"<mediawiki>", "XML of Wikipedia is not read; WikiExtractor converts it", id="XML"
        ),
        pytest.param(
            corpus_files.parquet(["a"]), "Parquet can't be read from a pipe", id="Parquet"
        ),
    ],
)
def test_what_can_not_be_read_from_a_pipe_is_refused(content: bytes, problem: str) -> None:
    assert refused(content, *SEARCH, "scan:-").startswith(f"standard input: {problem}")


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        pytest.param(LINES + b'{"text": "cut of', "3: not valid JSON", id="a truncated line"),
        pytest.param(LINES + b'{"text": "\xff"}\n', "3: not UTF-8", id="Latin-1"),
        pytest.param(
            LINES + b'{"text": "' + b"x" * 2_000_000 + b'"}',
            "3: a line of more than 1 MB",
            id="a long line",
        ),
        pytest.param(
            gzip.compress(LINES)[:-4], "3: the file is truncated", id="truncated data of gzip"
        ),
        pytest.param(
            b"text " * 60_000 + b"\xff", " not UTF-8 at byte 300000", id="Latin-1 behind a text"
        ),
    ],
)
def test_what_is_wrong_in_a_pipe_is_an_error_with_its_place(content: bytes, problem: str) -> None:
    done = piped(content, *SEARCH, "scan:-", "--max-line", "1")
    assert (done.code, done.stdout) == (1, "")
    assert f"standard input:{problem}" in done.stderr


def test_options_of_reading_hold_for_a_pipe() -> None:
    options = ("--skip-bad-lines", "--exclude-source", "b*", "--limit-documents", "2")
    rows = b'{"id": "a", "text": "solve for"}\n{"id": "b", "text": "solve for"}\n{bad\n' + LINES
    check(piped(rows, *SEARCH, "scan:-", *options), ["solve for", "foo, solve for x"])


@pytest.mark.integration
@pytest.mark.parametrize("suffix", [".gz", slow(""), slow(".zst")])
def test_a_pipe_is_never_wholly_in_memory(tmp_path: Path, suffix: str) -> None:
    documents, peaks = [], []
    for times in (1000, 60_000):
        content = PACK[suffix](b"".join(b'{"text": "%0999d"}\n' % n for n in range(times)))
        (tmp_path / "c").write_bytes(content)
        # From bash, as a process begins with the peak of its parent.
        program = Path(read_pipe.__file__)
        done = shell(f"cat c | {NGRAMSCAN[0]} {program}", tmp_path)
        counted, kilobytes = done.stdout.split()
        documents.append(int(counted))
        peaks.append(int(kilobytes))
    assert documents == [1000, 60_000]
    assert peaks[1] - peaks[0] < 40_000


def test_what_needs_files_is_refused_for_a_pipe() -> None:
    options = ("--sample-files 50%", "--scheduler tcp://localhost:1")
    messages = [refused(LINES, *SEARCH, "scan:-", *option.split()) for option in options]
    said = ": standard input: a pipe can't be read that"
    assert [message.partition(" way")[0] for message in messages] == [
        f"{option}{said}" for option in options
    ]
    refusal = refused(LINES, "contexts", "solve for", "--index", "scan:-")
    assert "can't be read again to show texts; write it to a file" in refusal
    refusal = refused(LINES, *SEARCH, "scan:-", "--index", "scan:/dev/stdin")
    assert refusal == "standard input: two inputs are `-`, but it can be read only once"
    done = piped(LINES, *SEARCH, "scan:-", "--index", "scan:-", "--workers", "3")
    assert "standard input: one process reads it; --workers is ignored" in done.stderr
    assert sum(int(row["occurrences"]) for row in done.rows if row["query"] == "solve for") == 3


def test_an_empty_pipe_is_an_error() -> None:
    assert refused(b"", *SEARCH, "scan:-") == "standard input: it is empty; expected a corpus"
    assert "/dev/null: it is empty" in refused(b"", *SEARCH, "scan:/dev/null")


@pytest.mark.parametrize(
    ("name", "content"),
    [
        pytest.param("a.jsonl", b"", id="no byte"),
        pytest.param("b.jsonl", b"\n \n", id="empty lines"),
        pytest.param("c.jsonl.gz", gzip.compress(b""), id="compressed nothing"),
        pytest.param("d.warc", corpus_files.WARC_INFO, id="no record"),
        pytest.param("e.parquet", corpus_files.parquet([]), id="no row"),
    ],
)
def test_a_file_without_a_document_is_an_error(tmp_path: Path, name: str, content: bytes) -> None:
    (tmp_path / name).write_bytes(content)
    refusal = refused(b"", *SEARCH, f"scan:{tmp_path / name}")
    assert refusal == f"scan:{tmp_path / name}: contains no documents"


def test_a_folder_without_a_document_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_bytes(b"")
    done = invoke(*SEARCH, f"scan:{tmp_path}", "--refresh")
    assert (done.code, done.stdout) == (2, "")
    assert done.stderr == f"Error: scan:{tmp_path}: contains no documents\n"
    (tmp_path / "f.jsonl").write_bytes(b'{"id": "a", "text": "solve for"}\n')
    check(invoke(*SEARCH, f"scan:{tmp_path}"), ["solve for"])
    refusal = refused(b"", *SEARCH, f"scan:{tmp_path}", "--exclude-source", "a")
    assert refusal.endswith(": --exclude-source leaves no document")
    (tmp_path / "f.jsonl").write_bytes(b"{bad\n")
    done = invoke(*SEARCH, f"scan:{tmp_path / 'f.jsonl'}", "--skip-bad-lines")
    assert (done.code, done.stdout) == (2, "")
    assert "contains no documents; skipped: 1 not valid JSON" in done.stderr


def test_documents_of_a_compressed_pipe_are_counted_by_docnorm() -> None:
    content = corpus_files.WRITERS["c.jsonl.gz"](TEXTS)
    done = piped(content, "docnorm", "--index", "scan:-", "--format", "jsonl")
    documents = {
        row["pattern"]: row["documents"] for row in map(json.loads, done.stdout.split("\n")[:-1])
    }
    expected = dict(zip(F1, oracle.tally(F1, TEXTS)[1], strict=True))
    assert documents
    assert documents.items() <= expected.items()


def test_a_compressed_pipe_that_ends_too_early_is_an_error() -> None:
    content = corpus_files.WRITERS["c.jsonl.gz"](TEXTS)
    done = piped(content[:4000], *SEARCH, "scan:-")
    assert (done.code, done.stdout) == (1, "")
    assert "Error: standard input:" in done.stderr
    assert "the file is truncated: its compressed data ends too early" in done.stderr


@pytest.mark.parametrize(
    ("name", "form"),
    [
        ("c.jsonl", "jsonl"),
        ("c.jsonl.gz", "jsonl"),
        ("c.jsonl.zst", "jsonl"),
        ("c.parquet", "parquet"),
        ("c.warc.wet", "warc"),
        ("c.warc.wet.gz", "warc"),
    ],
)
def test_an_option_says_the_format_where_the_name_does_not(
    tmp_path: Path, name: str, form: str
) -> None:
    path = tmp_path / "data"
    path.write_bytes(corpus_files.WRITERS[name](TEXTS))
    check(invoke(*SEARCH, f"scan:{path}", "--input-format", form), TEXTS)
    assert "unknown format" in refused(b"", *SEARCH, f"scan:{path}")


# Outputs


GROUP = {"dataset": "d", "model": "m", "id": 1}
OUTPUTS = [
    {**GROUP, "method": "cot", "output": "Let's think step by step"},
    {**GROUP, "method": "pot", "output": "def solution():"},
]
OUTPUT_LINES = b"".join(json.dumps(row).encode() + b"\n" for row in OUTPUTS)
BLEND = ("f1", "--format", "csv")


@pytest.fixture
def output_files(tmp_path: Path) -> list[Path]:
    """Return the files of the outputs of two prompts, as a folder has them."""
    return [
        write_lines(
            tmp_path / f"plain/d/m/{row['method']}.jsonl", {"id": 1, "output": row["output"]}
        )
        for row in OUTPUTS
    ]


@pytest.mark.parametrize(
    "suffixes", [(".gz", ".gz"), (".zst", ".zst"), (".zst", ".zstd")], ids=" and ".join
)
def test_compressed_outputs_are_read_as_the_plain_ones(
    tmp_path: Path, output_files: list[Path], suffixes: tuple[str, str]
) -> None:
    for path, suffix in zip(output_files, suffixes, strict=True):
        packed = tmp_path / f"packed/d/m/{path.name}{suffix}"
        packed.parent.mkdir(parents=True, exist_ok=True)
        packed.write_bytes(PACK[suffix.replace("zstd", "zst")](path.read_bytes()))
    expected = invoke("blend", tmp_path / "plain", *BLEND)
    assert expected.code == 0
    assert invoke("blend", tmp_path / "packed", *BLEND) == expected
    assert invoke("blend", *output_files, *BLEND) == expected


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(OUTPUT_LINES, id="lines"),
        pytest.param(gzip.compress(json.dumps(OUTPUTS).encode()), id="a compressed list"),
    ],
)
def test_outputs_through_a_pipe_are_read_as_those_of_files(
    output_files: list[Path], content: bytes
) -> None:
    assert piped(content, "blend", "-", *BLEND) == invoke("blend", *output_files, *BLEND)
    expected = invoke("strategies", *output_files)
    assert piped(content, "strategies", "-").stdout == expected.stdout


def test_a_field_of_outputs_through_a_pipe_names_their_prompt(output_files: list[Path]) -> None:
    content = OUTPUT_LINES.replace(b'"method"', b'"how"')
    expected = invoke("blend", *output_files, *BLEND)
    assert piped(content, "blend", "-", "--prompt-field", "how", *BLEND) == expected
    refusal = refused(content, "strategies", "-")
    assert refusal.endswith("also at standard input:1; --prompt-field NAME says which prompt")
    stderr = piped(content.replace(b'"id": 1, ', b""), "strategies", "-").stderr
    assert "2 outputs do not name their prompt; --prompt-field NAME says which field" in stderr


def test_what_is_no_output_is_refused(tmp_path: Path, output_files: list[Path]) -> None:
    patterns = tmp_path / "own.yaml"
    patterns.write_text("name: [")
    assert "own.yaml:1: not valid YAML" in refused(b"", "tiers", *output_files, patterns)
    refusal = refused(b"", "blend", *output_files, "f2")
    assert refusal == "f2: no such outputs, and no pattern set; shipped: f1, verify"
    refusal = refused(b"", "strategies", tmp_path / "plain", output_files[0])
    assert "cot.jsonl: a file is given twice" in refusal
    assert refused(b"", "blend", "-") == "standard input: no outputs there"
    assert "standard input:2: not valid JSON" in refused(OUTPUT_LINES[:-9], "blend", "-")
