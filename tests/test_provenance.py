"""How files of rows were made is remembered under their content."""

from __future__ import annotations

import os
import shlex
import sqlite3
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path

import pandas as pd
import pytest

import evalcore
import ngramscan
from ngramscan.journal import default_path
from ngramscan.reporting.page.provenance import Run, recall, remember, without_secrets
from ngramscan.reporting.rows import key_of
from tests.support.command import NGRAMSCAN, invoke

TEXT = '{"text": "Let us think step by step."}\n{"text": "step by step by step"}\n'
RUN = Run("ngramscan count x", "1.0", "2026-01-01T00:00:00+00:00", ("a failure",), {"a": "2 bytes"})


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    path = tmp_path / "corpus.jsonl"
    path.write_text(TEXT)
    return path


@pytest.fixture
def runs() -> Path:
    return default_path().with_name("runs.sqlite")


def recalled(path: Path) -> Run:
    run = recall(path.read_bytes())
    assert run
    return run


@pytest.mark.parametrize("suffix", ["csv", "jsonl", "json", "parquet", "tex"])
def test_a_file_of_each_format_tells_its_command_line(corpus: Path, suffix: str) -> None:
    started = datetime.now(UTC).replace(microsecond=0)
    given = ["count", "step by step", "-e", "it's $1", "--index", f"scan:{corpus}"]
    path = corpus.with_name(f"rows.{suffix}")
    assert invoke(*given, "-o", path).code == 0
    run = recalled(path)
    assert shlex.split(run.command)[1:] == [*given, "-o", str(path)]
    assert run.version == ngramscan.__version__
    assert started <= datetime.fromisoformat(run.finished_at) <= datetime.now(UTC)
    assert run.failures == ()
    assert run.sizes == {f"scan:{corpus}": "46 B of text, 2 documents"}


def test_a_changed_file_has_none(corpus: Path) -> None:
    path = corpus.with_name("rows.csv")
    invoke("count", "step by step", "--index", f"scan:{corpus}", "-o", path)
    content = path.read_bytes()
    assert recall(content)
    assert recall(content + b"\n") is None
    assert recall(content.replace(b"3", b"4")) is None
    assert recall(b"") is None


@pytest.mark.parametrize("command", ["count", "docnorm", "contexts"])
def test_the_sizes_of_indexes_are_in_it(corpus: Path, command: str) -> None:
    path = corpus.with_name("rows.csv")
    invoke(command, "step by step", "--index", f"scan:{corpus}", "-o", path)
    assert recalled(path).sizes == {f"scan:{corpus}": "46 B of text, 2 documents"}


def test_files_of_options_are_remembered_too(corpus: Path) -> None:
    entries, shares = corpus.with_name("entries.csv"), corpus.with_name("shares.csv")
    questions = corpus.with_name("questions.jsonl")
    questions.write_text('{"id": "1", "question": "Let us think step by step."}\n')
    given: list[str | Path] = ["contaminate", questions, "--index", f"scan:{corpus}"]
    assert invoke(*given, "--shares", shares, "-o", entries).code == 0
    assert recalled(entries) == recalled(shares)
    assert recalled(shares).sizes == {f"scan:{corpus}": "46 B of text, 2 documents"}


def test_rows_that_the_shell_puts_into_a_file(corpus: Path) -> None:
    given = ["count", "step by step", "--index", f"scan:{corpus}", "--format", "csv"]
    with corpus.with_name("rows.csv").open("wb") as stream:
        subprocess.run([*NGRAMSCAN, *given], stdout=stream, check=True)
    assert recalled(Path(stream.name)).command == f"ngramscan {shlex.join(given)}"


def test_a_command_of_a_group_and_one_of_evalcore(tmp_path: Path) -> None:
    path, labels = tmp_path / "rows.csv", tmp_path / "labels.csv"
    invoke("index", "list", "-o", path)
    assert recalled(path).command == f"ngramscan index list -o {path}"
    labels.write_text("item,judge,label\n1,a,yes\n1,b,no\n2,a,no\n2,b,no\n")
    assert invoke("agreement", labels, "--scale", "nominal", "-o", path).code == 0
    assert recalled(path).command == f"evalcore agreement {labels} --scale nominal -o {path}"


def test_options_from_the_environment_stand_before_it(
    corpus: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = corpus.with_name("rows.csv")
    monkeypatch.setenv("NGRAMSCAN_INDEX", f"scan:{corpus}")
    assert invoke("count", "step by step", "-o", path).code == 0
    typed = f"ngramscan count 'step by step' -o {path}"
    assert recalled(path).command == f"NGRAMSCAN_INDEX=scan:{corpus} {typed}"


def test_what_is_missing_is_in_it(corpus: Path) -> None:
    path = corpus.with_name("rows.csv")
    gone = "http://127.0.0.1:9/gone"
    given = ["count", "step by step", "--index", f"scan:{corpus}", "--index", gone]
    done = invoke(*given, "-o", path)
    assert done.code == 1
    failures = recalled(path).failures
    assert failures
    assert [f"Error: {line}" for line in failures] == done.stderr.splitlines()[-len(failures) :]


def test_a_call_in_python_is_shown_as_it_was(corpus: Path) -> None:
    path, labels = corpus.with_name("totals.csv"), corpus.with_name("votes.csv")
    ngramscan.count("f1", index=[f"scan:{corpus}"], tier="T1", totals=path)
    call = f"ngramscan.count('f1', index=['scan:{corpus}'], totals={path!r}, tier='T1')"
    assert recalled(path).command == call
    frame = pd.DataFrame({"item": [1, 1], "judge": ["a", "b"], "label": ["yes", "no"]})
    evalcore.agreement([frame], votes=labels)
    assert recalled(labels).command == f"evalcore.agreement(labels=[<DataFrame>], votes={labels!r})"


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        ("--api-url https://me:pass@h.org/x", "--api-url https://…@h.org/x"),
        ("http://me:pa/ss@h.org:80", "http://…@h.org:80"),
        ("http://token@h.org http://h.org/p", "http://…@h.org http://h.org/p"),
        ("a:http://u:p@h,b:http://u:p@h", "a:http://…@h,b:http://…@h"),
        ("http://u:p@ss@h.org/a@b", "http://…@h.org/a@b"),
        ("s3://b/x?versionId=3&X-Amz-Signature=ab%2F&sig=c", None),
        ("'https://h/?api_key=abc#access_token=def'", "'https://h/?api_key=…#access_token=…'"),
        ("'https://h/?q=step&page=2' me@home.org", "'https://h/?q=step&page=2' me@home.org"),
        ("http://localhost:8787/my-index", "http://localhost:8787/my-index"),
    ],
)
def test_secrets_in_urls_are_not_kept(given: str, shown: str | None) -> None:
    shown = shown or "s3://b/x?versionId=3&X-Amz-Signature=…&sig=…"
    assert without_secrets(given) == shown


def test_no_secret_reaches_the_cache(corpus: Path, runs: Path) -> None:
    path, url = corpus.with_name("rows.csv"), "https://me:hunter2@example.org/?token=hunter2"
    assert invoke("count", "-e", url, "--index", f"scan:{corpus}", "-o", path).code == 0
    assert "https://…@example.org/?token=…" in recalled(path).command
    assert b"hunter2" not in b"".join(one.read_bytes() for one in runs.parent.glob("runs.*"))
    assert runs.stat().st_mode & 0o777 == 0o600


def test_a_cache_that_cannot_be_written_is_no_error(
    corpus: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, blocked = corpus.with_name("rows.csv"), corpus.with_name("a file")
    blocked.touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(blocked))
    done = invoke("count", "step by step", "--index", f"scan:{corpus}", "-o", path)
    assert (done.code, recall(path.read_bytes())) == (0, None)
    assert "runs.sqlite" not in done.stderr
    assert sorted(one.name for one in corpus.parent.iterdir()) == [
        *("a file", "corpus.jsonl", "rows.csv")
    ]


@pytest.mark.parametrize("stored", ["[1]", "{", '{"command": "x"}', '{"failures": 1}'])
def test_a_run_that_cannot_be_read_is_none(runs: Path, stored: str) -> None:
    remember([key_of(b"rows")], RUN)
    with sqlite3.connect(runs) as connection:
        connection.execute("UPDATE replies SET reply = ?", [stored])
    connection.close()
    assert recall(b"rows") is None
    runs.write_bytes(b"not a database, " * 99)
    remember([key_of(b"rows")], RUN)
    assert recall(b"rows") is None


def test_the_last_run_of_the_same_content_counts() -> None:
    remember([key_of(b"rows"), key_of(b"more")], RUN)
    assert (recall(b"rows"), recall(b"more")) == (RUN, RUN)
    newer = Run("other", "1.0", "2027-01-01T00:00:00+00:00", (), {})
    remember([key_of(b"rows")], newer)
    assert (recall(b"rows"), recall(b"more")) == (newer, RUN)


@pytest.mark.integration
def test_processes_and_threads_write_at_once(tmp_path: Path) -> None:
    program = """if True:
        import sys
        from ngramscan.reporting.page.provenance import Run, remember
        from ngramscan.reporting.rows import key_of
        for n in range(20):
            name = f"{sys.argv[1]} {n}"
            remember([key_of(name.encode())], Run(name, "1", "2026-01-01T00:00:00+00:00"))
    """
    started = [
        subprocess.Popen([sys.executable, "-c", program, str(k)], env=os.environ) for k in range(4)
    ]
    names = [f"thread {n}" for n in range(40)]
    with ThreadPoolExecutor(4) as threads:
        list(threads.map(lambda name: remember([key_of(name.encode())], RUN), names))
    assert [one.wait() for one in started] == [0] * 4
    assert all(recall(name.encode()) == RUN for name in names)
    for name in (f"{k} {n}" for k in range(4) for n in range(20)):
        run = recall(name.encode())
        assert run
        assert run.command == name
