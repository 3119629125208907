"""How rows were made stands in Parquet, and beside other files on request."""

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow.parquet as pq
import pytest

import evalcore
import ngramscan
from ngramscan.reporting.page.results import read_results
from ngramscan.reporting.provenance import METADATA, Run, sidecar_of, without_secrets
from tests.support.command import invoke

TEXT = '{"text": "Let us think step by step."}\n{"text": "step by step by step"}\n'


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    path = tmp_path / "corpus.jsonl"
    path.write_text(TEXT)
    return path


def recorded(path: Path) -> dict[str, Any]:
    """Return the record in a Parquet file, or that beside another one."""
    if path.suffix == ".parquet":
        return json.loads(pq.read_schema(path).metadata[METADATA])  # type: ignore[no-any-return]
    return json.loads(sidecar_of(path).read_text())  # type: ignore[no-any-return]


def run_of(path: Path) -> Run:
    """Return how the rows of a file were made, as a report reads it."""
    results = read_results(path)
    assert results.run
    assert not results.is_changed
    return results.run


def test_a_changed_file_is_said_to_have_changed(corpus: Path) -> None:
    path, page = corpus.with_name("rows.csv"), corpus.with_name("page.html")
    given: list[str | Path] = ["count", "step by step", "--index", f"scan:{corpus}", "-o", path]
    said = "the file has changed since this command wrote it"
    assert invoke(*given, "--provenance").code == 0
    assert invoke("report", path, "-o", page).code == 0
    assert said not in page.read_text()
    path.write_bytes(path.read_bytes().replace(b"3", b"4"))
    assert read_results(path).is_changed
    assert invoke("report", path, "-o", page).code == 0
    assert said in page.read_text()
    assert invoke(*given, "--provenance").code == 0
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
    given: list[str | Path] = ["contaminate", questions, "--index", f"scan:{corpus}"]
    assert invoke(*given, "--shares", shares, "-o", entries, "--provenance").code == 0
    first, second = recorded(entries), recorded(shares)
    assert first.pop("sha256") != second.pop("sha256")
    assert first == second
    assert run_of(shares).sizes == {f"scan:{corpus}": "46 B of text, 2 documents"}


def test_without_a_file_there_is_nothing_to_write_beside(corpus: Path) -> None:
    given = ["count", "step by step", "--index", f"scan:{corpus}", "--provenance"]
    done = invoke(*given)
    assert done.code == 2
    assert done.stderr == "Error: --provenance: it goes with -o FILE, beside which it writes\n"
    path = corpus.with_name("rows.csv")
    sidecar_of(path).mkdir()
    done = invoke(*given, "-o", path)
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
