"""Pipes, standard input and compressed files, against brute force and against the plain file."""

import gzip
import json
import os
import pty
import subprocess
import threading
import time
from pathlib import Path

import pandas as pd
import pytest

from ngramscan.errors import InputError
from ngramscan.reading.row_files import read_table
from tests.support import corpus_files, oracle
from tests.support.cases import objects
from tests.support.command import NGRAMSCAN, Ran, invoke
from tests.support.corpus_files import PACK
from tests.support.hard_texts import F1, make_texts
from tests.support.outputs import write_lines
from tests.support.sizes import slow

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
    writer = threading.Thread(target=fifo.write_bytes, args=(content,))
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
    with subprocess.Popen(command, stdin=-1, stdout=-1, stderr=-1, cwd=tmp_path) as process:
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


def test_the_first_bytes_say_what_comes_through_a_pipe() -> None:
    lines = corpus_files.jsonl(TEXTS)
    as_list = b"[" + lines.rstrip(b"\n").replace(b"\n", b",\n") + b"]"
    for content in (b"\xef\xbb\xbf" + lines, b"\n \n" + lines, lines.rstrip(b"\n"), as_list):
        check(piped(content, *SEARCH, "scan:-"), TEXTS)
    text = "é solve for\n" * 20_000
    done = piped(text.encode(), *SEARCH, "scan:-")
    check(done, [text])
    assert "standard input: read as text, one document; if it is something else" in done.stderr
    check(piped(lines, *SEARCH, "scan:-", "--input-format", "text"), [lines.decode()])
    problems = {
        b"\x7fELF\0\0": "neither JSON lines, text nor WARC; --input-format says it",
        "café".encode("latin-1") * 9: "neither JSON lines, text nor WARC",
        "step by step".encode(
            "utf-16-le"
        ): "it is UTF-16, and UTF-8 is expected; iconv -f UTF-16LE",
        b"<mediawiki>": "XML of Wikipedia is not read; WikiExtractor converts it",
        corpus_files.parquet(["a"]): "Parquet can't be read from a pipe",
    }
    told = {content: refused(content, *SEARCH, "scan:-") for content in problems}
    assert not {
        content: said
        for content, said in told.items()
        if not said.startswith(f"standard input: {problems[content]}")
    }


def test_what_is_wrong_in_a_pipe_is_an_error_with_its_place() -> None:
    cases = {
        LINES + b'{"text": "cut of': "3: not valid JSON",
        LINES + b'{"text": "\xff"}\n': "3: not UTF-8",
        LINES + b'{"text": "' + b"x" * 2_000_000 + b'"}': "3: a line of more than 1 MB",
        gzip.compress(LINES)[:-4]: "3: the file is truncated",
        b"text " * 60_000 + b"\xff": " not UTF-8 at byte 300000",
    }
    for content, problem in cases.items():
        told = piped(content, *SEARCH, "scan:-", "--max-line", "1")
        assert (told.code, told.stdout) == (1, "")
        assert f"standard input:{problem}" in told.stderr
    options = ("--skip-bad-lines", "--exclude-source", "b*", "--limit-documents", "2")
    rows = b'{"id": "a", "text": "solve for"}\n{"id": "b", "text": "solve for"}\n{bad\n' + LINES
    check(piped(rows, *SEARCH, "scan:-", *options), ["solve for", "foo, solve for x"])


MEMORY = """
import resource, sys
from ngramscan.corpora import ReadOptions, open_corpus, read_piece
(piece,) = open_corpus("-").pieces()
print(sum(len(batch.texts) for batch in read_piece(piece, ReadOptions())))
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""


@pytest.mark.integration
@pytest.mark.parametrize("suffix", [".gz", *map(slow, ("", ".zst"))])
def test_a_pipe_is_never_wholly_in_memory(tmp_path: Path, suffix: str) -> None:
    (tmp_path / "read.py").write_text(MEMORY)
    peaks = []
    for times in (1000, 60_000):
        content = PACK[suffix](b"".join(b'{"text": "%0999d"}\n' % n for n in range(times)))
        (tmp_path / "c").write_bytes(content)
        # From bash, as a process begins with the peak of its parent.
        done = shell(f"cat c | {NGRAMSCAN[0]} read.py", tmp_path)
        documents, kilobytes = map(int, done.stdout.split())
        assert documents == times
        peaks.append(kilobytes)
    assert peaks[1] - peaks[0] < 40_000


def test_what_needs_files_is_refused_for_a_pipe() -> None:
    options = ("--sample-files 50%", "--scheduler tcp://localhost:1")
    each = [refused(LINES, *SEARCH, "scan:-", *one.split()) for one in options]
    said = ": standard input: a pipe can't be read that"
    assert [text.partition(" way")[0] for text in each] == [f"{one}{said}" for one in options]
    told = refused(LINES, "contexts", "solve for", "--index", "scan:-")
    assert "can't be read again to show texts; write it to a file" in told
    told = refused(LINES, *SEARCH, "scan:-", "--index", "scan:/dev/stdin")
    assert told == "standard input: two inputs are `-`, but it can be read only once"
    done = piped(LINES, *SEARCH, "scan:-", "--index", "scan:-", "--workers", "3")
    assert "standard input: one process reads it, whatever --workers says" in done.stderr
    assert sum(int(row["occurrences"]) for row in done.rows if row["query"] == "solve for") == 3


def test_a_corpus_without_a_document_is_an_error(tmp_path: Path, subtests: pytest.Subtests) -> None:
    assert refused(b"", *SEARCH, "scan:-") == "standard input: it is empty; expected a corpus"
    assert "/dev/null: it is empty" in refused(b"", *SEARCH, "scan:/dev/null")
    for name, content in {
        "a.jsonl": b"",
        "b.jsonl": b"\n \n",
        "c.jsonl.gz": gzip.compress(b""),
        "d.warc": corpus_files.WARC_INFO,
        "e.parquet": corpus_files.parquet([]),
    }.items():
        with subtests.test(name=name):
            (tmp_path / name).write_bytes(content)
            told = refused(b"", *SEARCH, f"scan:{tmp_path / name}")
            assert told == f"scan:{tmp_path / name}: contains no documents"
    done = invoke(*SEARCH, f"scan:{tmp_path}", "--refresh")
    assert (done.code, done.stdout) == (2, "")
    assert done.stderr == f"Error: scan:{tmp_path}: contains no documents\n"
    (tmp_path / "f.jsonl").write_bytes(b'{"id": "a", "text": "solve for"}\n')
    check(invoke(*SEARCH, f"scan:{tmp_path}"), ["solve for"])
    told = refused(b"", *SEARCH, f"scan:{tmp_path}", "--exclude-source", "a")
    assert told.endswith(": --exclude-source leaves no document")
    (tmp_path / "f.jsonl").write_bytes(b"{bad\n")
    done = invoke(*SEARCH, f"scan:{tmp_path / 'f.jsonl'}", "--skip-bad-lines")
    assert (done.code, done.stdout) == (2, "")
    assert "contains no documents; skipped: 1 not valid JSON" in done.stderr


# Outputs


def test_outputs_come_from_several_places_compressed_and_through_pipes(tmp_path: Path) -> None:
    texts = {"cot": "Let's think step by step", "pot": "def solution():"}
    for method, text in texts.items():
        write_lines(tmp_path / f"plain/d/m/{method}.jsonl", {"id": 1, "output": text})
        content = (tmp_path / f"plain/d/m/{method}.jsonl").read_bytes()
        for suffix in (".gz", ".zst"):
            other = "d" * (suffix == ".zst" and method == "pot")  # .zstd, as some write it
            path = tmp_path / f"packed{suffix}/d/m/{method}.jsonl{suffix}{other}"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(PACK[suffix](content))
    expected = invoke("blend", tmp_path / "plain", "f1", "--format", "csv")
    files = sorted((tmp_path / "plain").rglob("*.jsonl"))
    group = {"dataset": "d", "model": "m", "id": 1}
    fields = [group | {"method": method, "output": text} for method, text in texts.items()]
    lines = b"".join(json.dumps(one).encode() + b"\n" for one in fields)
    listed = gzip.compress(json.dumps(fields).encode())
    places = ([tmp_path / "packed.gz"], [tmp_path / "packed.zst", "f1"], files, [*files, "f1"])
    assert [invoke("blend", *given, "--format", "csv") for given in places] == [expected] * 4
    both, strategies = (lines, listed), invoke("strategies", *files).stdout
    assert [piped(one, "blend", "-", "f1", "--format", "csv") for one in both] == [expected] * 2
    assert [piped(one, "strategies", "-").stdout for one in both] == [strategies] * 2
    content = lines.replace(b'"method"', b'"how"')
    assert piped(content, "blend", "-", "--prompt-field", "how", "--format", "csv") == expected
    told = refused(content, "strategies", "-")
    assert told.endswith("also at standard input:1; --prompt-field NAME says which prompt")
    told = piped(content.replace(b'"id": 1, ', b""), "strategies", "-").stderr
    assert "2 outputs do not name their prompt; --prompt-field NAME says which field" in told
    (tmp_path / "one.yaml").write_text("name: [")
    assert "one.yaml:1: not valid YAML" in refused(b"", "tiers", *files, tmp_path / "one.yaml")
    told = refused(b"", "blend", *files, "f2")
    assert told == "f2: no such outputs, and no pattern set; shipped: f1, verify"
    told = refused(b"", "strategies", tmp_path / "plain", files[0])
    assert "cot.jsonl: a file is given twice" in told
    assert refused(b"", "blend", "-") == "standard input: no outputs there"
    assert "standard input:2: not valid JSON" in refused(lines[:-9], "blend", "-")


# Rows


ROWS = [{"item": f"é{n}", "judge": judge, "label": "yes"} for n in range(3) for judge in "ab"]


def tables(folder: Path) -> dict[str, bytes]:
    """Return the same rows in each form, by suffix."""
    frame = pd.DataFrame(ROWS)
    frame.to_parquet(folder / "t.parquet")
    lines, listed = "".join(json.dumps(row) + "\n" for row in ROWS), json.dumps(ROWS, indent=1)
    texts = {".csv": frame.to_csv(index=False), ".jsonl": lines, ".json": listed}
    forms = {suffix: text.encode() for suffix, text in texts.items()}
    return forms | {".parquet": (folder / "t.parquet").read_bytes()}


def test_a_json_list_is_a_table_whatever_its_suffix(tmp_path: Path) -> None:
    forms = tables(tmp_path)
    (tmp_path / "list.jsonl").write_bytes(forms[".json"])
    assert [row for _, row in read_table(tmp_path / "list.jsonl")] == ROWS


def test_what_is_no_table_is_told_by_its_content(tmp_path: Path) -> None:
    forms = tables(tmp_path)
    forms["cut"] = gzip.compress(forms[".csv"])[:-9]
    for name, content, problem in map(dict.values, objects("no_tables")):
        (tmp_path / name).write_bytes(forms.get(content, content.encode()))
        with pytest.raises(InputError) as error:
            list(read_table(tmp_path / name))
        assert str(error.value).startswith(f"{tmp_path / name}: {problem}")
    with pytest.raises(InputError, match=r"no such file or folder; did you mean .*/t\.jsonl\?"):
        list(read_table(tmp_path / "tt.jsonl"))
    with pytest.raises(InputError, match=r": a folder; expected a table \(\.csv, .*"):
        list(read_table(tmp_path))
