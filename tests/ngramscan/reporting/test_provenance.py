"""How rows were made stands in Parquet, and beside other files on request."""

import io
import json
import shlex
import subprocess
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import evalcore
import ngramscan
from ngramscan.reporting.page.results import read_results
from ngramscan.reporting.provenance import METADATA, Run, sidecar_of, without_secrets
from tests.support.command import NGRAMSCAN, invoke

TEXT = '{"text": "Let us think step by step."}\n{"text": "step by step by step"}\n'


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    path = tmp_path / "corpus.jsonl"
    path.write_text(TEXT)
    return path


def recorded(path: Path) -> dict[str, Any]:
    """Return the record in a Parquet file, or that beside another one."""
    if path.suffix == ".parquet":
        stored = pq.read_schema(path).metadata[METADATA]
    else:
        stored = sidecar_of(path).read_bytes()
    record: dict[str, Any] = json.loads(stored)
    return record


def run_of(path: Path) -> Run:
    """Return how the rows of a file were made, as a report reads it."""
    results = read_results(path)
    assert results.run
    assert not results.is_changed
    return results.run


def test_a_changed_file_is_said_to_have_changed(corpus: Path) -> None:
    path, page = corpus.with_name("rows.csv"), corpus.with_name("page.html")
    words: list[str | Path] = ["count", "step by step", "--index", f"scan:{corpus}", "-o", path]
    said = "the file has changed since this command wrote it"
    assert invoke(*words, "--provenance").code == 0
    assert invoke("report", path, "-o", page).code == 0
    assert said not in page.read_text()
    path.write_bytes(path.read_bytes().replace(b"3", b"4"))
    assert read_results(path).is_changed
    assert invoke("report", path, "-o", page).code == 0
    assert said in page.read_text()
    assert invoke(*words, "--provenance").code == 0
    assert not read_results(path).is_changed


def test_a_glob_may_name_the_records_too(corpus: Path) -> None:
    path, page = corpus.with_name("rows.csv"), corpus.with_name("page.html")
    invoke("count", "step by step", "--index", f"scan:{corpus}", "-o", path, "--provenance")
    done = invoke("report", path, sidecar_of(path), "-o", page)
    assert (done.code, page.read_text().count("<dt>made by</dt>")) == (0, 1)
    assert invoke("report", sidecar_of(path), "-o", page).code == 2


def test_files_of_options_have_it_too(corpus: Path) -> None:
    entries, shares = corpus.with_name("entries.csv"), corpus.with_name("shares.csv")
    questions = corpus.with_name("questions.jsonl")
    questions.write_text('{"id": "1", "question": "Let us think step by step."}\n')
    words: list[str | Path] = ["contaminate", questions, "--index", f"scan:{corpus}"]
    assert invoke(*words, "--shares", shares, "-o", entries, "--provenance").code == 0
    first, second = recorded(entries), recorded(shares)
    assert first.pop("sha256") != second.pop("sha256")
    assert first == second
    assert run_of(shares).sizes == {f"scan:{corpus}": "46 B of text, 2 documents"}


def test_without_a_file_there_is_nothing_to_write_beside(corpus: Path) -> None:
    words = ["count", "step by step", "--index", f"scan:{corpus}", "--provenance"]
    done = invoke(*words)
    assert done.code == 2
    assert done.stderr == "Error: --provenance: requires -o FILE, next to which it writes\n"
    path = corpus.with_name("rows.csv")
    sidecar_of(path).mkdir()
    done = invoke(*words, "-o", path)
    assert done.code == 2
    assert done.stderr.endswith("rows.csv.provenance.json: it is a folder; expected a file\n")
    assert not path.exists()


def test_a_command_of_a_group_and_one_of_evalcore(tmp_path: Path) -> None:
    path, labels = tmp_path / "rows.parquet", tmp_path / "labels.csv"
    invoke("index", "list", "-o", path)
    assert recorded(path)["command"] == f"ngramscan index list -o {path}"
    labels.write_text("item,judge,label\n1,a,yes\n1,b,no\n2,a,no\n2,b,no\n")
    assert invoke("agreement", labels, "--scale", "nominal", "-o", path).code == 0
    assert recorded(path)["command"] == f"evalcore agreement {labels} --scale nominal -o {path}"


def test_a_call_in_python_is_shown_as_it_was(corpus: Path) -> None:
    path, labels = corpus.with_name("totals.parquet"), corpus.with_name("votes.parquet")
    ngramscan.count("f1", index=[f"scan:{corpus}"], tier="T1", totals=path)
    call = f"ngramscan.count('f1', index=['scan:{corpus}'], totals={path!r}, tier='T1')"
    assert recorded(path)["command"] == call
    frame = pd.DataFrame({"item": [1, 1], "judge": ["a", "b"], "label": ["yes", "no"]})
    evalcore.agreement([frame], votes=labels)
    call = f"evalcore.agreement(labels=[<DataFrame>], votes={labels!r})"
    assert recorded(labels)["command"] == call


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        pytest.param(
            "--api-url https://me:pass@h.org/x",
            "--api-url https://…@h.org/x",
            id="user and password",
        ),
        pytest.param("http://me:pa/ss@h.org:80", "http://…@h.org:80", id="slash in a password"),
        pytest.param(
            "http://token@h.org http://h.org/p", "http://…@h.org http://h.org/p", id="two addresses"
        ),
        pytest.param(
            "a:http://u:p@h,b:http://u:p@h", "a:http://…@h,b:http://…@h", id="comma between them"
        ),
        pytest.param("http://u:p@ss@h.org/a@b", "http://…@h.org/a@b", id="several at signs"),
        pytest.param(
            "s3://b/x?versionId=3&X-Amz-Signature=ab%2F&sig=c",
            "s3://b/x?versionId=3&X-Amz-Signature=…&sig=…",
            id="signatures",
        ),
        pytest.param(
            "'https://h/?api_key=abc#access_token=def'",
            "'https://h/?api_key=…#access_token=…'",
            id="keys in a query and a fragment",
        ),
        pytest.param(
            "'https://h/?q=step&page=2' me@home.org",
            "'https://h/?q=step&page=2' me@home.org",
            id="no secret in a query",
        ),
        pytest.param(
            "http://localhost:8787/my-index", "http://localhost:8787/my-index", id="no secret"
        ),
    ],
)
def test_secrets_in_urls_are_not_kept(given: str, shown: str) -> None:
    assert without_secrets(given) == shown


@pytest.mark.parametrize("suffix", ["csv", "jsonl", "json", "parquet"])
def test_a_file_of_each_format_tells_its_command_line(corpus: Path, suffix: str) -> None:
    started = datetime.now(UTC).replace(microsecond=0)
    words = ["count", "step by step", "-e", "it's $1", "--index", f"scan:{corpus}", "--provenance"]
    path = corpus.with_name(f"rows.{suffix}")
    assert invoke(*words, "-o", path).code == 0
    run = run_of(path)
    assert shlex.split(run.command)[1:] == [*words, "-o", str(path)]
    assert run.version == ngramscan.__version__
    assert started <= datetime.fromisoformat(run.finished_at) <= datetime.now(UTC)
    assert run.failures == ()
    assert run.sizes == {f"scan:{corpus}": "46 B of text, 2 documents"}
    beside = json.loads(Path(f"{path}.provenance.json").read_text())
    assert beside["sha256"] == sha256(path.read_bytes()).hexdigest()


def test_nothing_stands_beside_a_file_unless_it_is_asked_for(corpus: Path) -> None:
    words: list[str | Path] = ["count", "step by step", "--index", f"scan:{corpus}"]
    rows, table, latex = (corpus.with_name(f"rows.{end}") for end in ("parquet", "csv", "tex"))
    assert [invoke(*words, "-o", path).code for path in (rows, table)] == [0, 0]
    assert run_of(rows).command == f"ngramscan {shlex.join(map(str, words))} -o {rows}"
    assert read_results(table).run is None
    assert {path.name for path in corpus.parent.iterdir()} == {
        *("corpus.jsonl", "rows.csv", "rows.parquet")
    }
    assert invoke(*words, "-o", latex, "--provenance").code == 0
    assert recorded(latex)["sha256"] == sha256(latex.read_bytes()).hexdigest()


def test_a_renamed_pair_and_a_compressed_file_are_read(corpus: Path) -> None:
    path = corpus.with_name("rows.csv")
    invoke("count", "step by step", "--index", f"scan:{corpus}", "-o", path, "--provenance")
    other = path.rename(corpus.with_name("other.csv"))
    assert read_results(other).run is None
    sidecar_of(path).rename(sidecar_of(other))
    run = run_of(other)
    subprocess.run(["gzip", str(other)], check=True)
    assert run_of(other.with_name("other.csv.gz")) == run


def test_the_same_rows_differ_in_nothing_but_the_record(tmp_path: Path) -> None:
    path, contents, is_quiet = tmp_path / "rows.parquet", [], []
    for more in ([], ["-q"]):
        invoke("patterns", "show", "f1", "-o", path, *more)
        is_quiet.append(recorded(path)["command"].endswith(" -q"))
        table = pq.read_table(path)
        metadata = {key: text for key, text in table.schema.metadata.items() if key != METADATA}
        content = io.BytesIO()
        pq.write_table(table.replace_schema_metadata(metadata), content)
        contents.append(content.getvalue())
    assert is_quiet == [False, True]
    assert contents[0] == contents[1]


@pytest.mark.parametrize("command", ["count", "docnorm", "contexts"])
def test_the_sizes_of_indexes_are_in_it(corpus: Path, command: str) -> None:
    path = corpus.with_name("rows.parquet")
    invoke(command, "step by step", "--index", f"scan:{corpus}", "-o", path)
    assert run_of(path).sizes == {f"scan:{corpus}": "46 B of text, 2 documents"}


def test_rows_that_the_shell_puts_into_a_file(corpus: Path) -> None:
    words = ["count", "step by step", "--index", f"scan:{corpus}", "--format", "parquet"]
    with corpus.with_name("rows.parquet").open("wb") as stream:
        subprocess.run([*NGRAMSCAN, *words], stdout=stream, check=True)
    assert run_of(Path(stream.name)).command == f"ngramscan {shlex.join(words)}"


def test_options_from_the_environment_stand_before_it(
    corpus: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = corpus.with_name("rows.parquet")
    monkeypatch.setenv("NGRAMSCAN_INDEX", f"scan:{corpus}")
    assert invoke("count", "step by step", "-o", path).code == 0
    typed = f"ngramscan count 'step by step' -o {path}"
    assert run_of(path).command == f"NGRAMSCAN_INDEX=scan:{corpus} {typed}"


def test_what_is_missing_is_in_it(corpus: Path) -> None:
    path = corpus.with_name("rows.parquet")
    gone = "http://127.0.0.1:9/gone"
    words = ["count", "step by step", "--index", f"scan:{corpus}", "--index", gone]
    done = invoke(*words, "-o", path)
    assert done.code == 1
    failures = run_of(path).failures
    assert failures
    assert [f"Error: {line}" for line in failures] == done.stderr.splitlines()[-len(failures) :]


def test_no_secret_reaches_the_files(corpus: Path) -> None:
    path, url = corpus.with_name("rows.parquet"), "https://me:hunter2@example.org/?token=hunter2"
    words = ["count", "step by step", "--index", f"scan:{corpus}", "--api-url", url]
    assert invoke(*words, "-o", path, "--provenance").code == 0
    assert "https://…@example.org/?token=…" in run_of(path).command
    assert b"hunter2" not in path.read_bytes() + sidecar_of(path).read_bytes()


RECORD = {"command": "x", "version": "1", "finished_at": "2026-01-01T00:00:00+00:00"}


RUN = Run("x", "1", "2026-01-01T00:00:00+00:00")


BAD_RECORDS = pytest.mark.parametrize(
    ("stored", "problem"),
    [
        pytest.param("{", "not valid JSON", id="not valid JSON"),
        pytest.param("[1]", "Expected object, got array", id="a list"),
        pytest.param(
            '{"command": "x"}', "Object missing required field version", id="without a version"
        ),
        pytest.param(
            json.dumps(RECORD | {"failures": 1}), "failures: Expected array, got int", id="a number"
        ),
    ],
)


@BAD_RECORDS
def test_a_record_beside_a_file_that_cannot_be_read_is_named(
    corpus: Path, stored: str, problem: str
) -> None:
    rows = corpus.with_name("rows.csv")
    invoke("count", "step by step", "--index", f"scan:{corpus}", "-o", rows)
    sidecar_of(rows).write_text(stored)
    done = invoke("report", rows, "-o", corpus.with_name("page.html"))
    assert done.code == 2
    assert done.stderr.startswith(f"Error: {sidecar_of(rows)}: {problem}")


@BAD_RECORDS
def test_a_record_in_a_file_that_cannot_be_read_is_named(
    corpus: Path, stored: str, problem: str
) -> None:
    rows = corpus.with_name("rows.parquet")
    invoke("count", "step by step", "--index", f"scan:{corpus}", "-o", rows)
    pq.write_table(pq.read_table(rows).replace_schema_metadata({"ngramscan": stored}), rows)
    done = invoke("report", rows, "-o", corpus.with_name("page.html"))
    assert done.code == 2
    assert done.stderr.startswith(f"Error: {rows}: {problem}")


def test_a_later_version_may_say_more_and_others_say_nothing(corpus: Path) -> None:
    rows = corpus.with_name("rows.parquet")
    invoke("count", "step by step", "--index", f"scan:{corpus}", "-o", rows)
    table = pq.read_table(rows)
    newer = json.dumps(RECORD | {"machine": "m"})
    pq.write_table(table.replace_schema_metadata({"ngramscan": newer}), rows)
    assert run_of(rows) == RUN
    pq.write_table(pa.table(table).replace_schema_metadata(None), rows)
    assert read_results(rows).run is None
