"""Which local files a spec names, also before they are there."""

import glob
import os
from pathlib import Path

import pytest

from ngramscan.corpora.base import Format
from ngramscan.indexes.spec_files import is_read, local_files
from ngramscan.reading.streams import STANDARD_INPUT


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Go to a folder that has a corpus, an index and a linked folder."""
    (tmp_path / "corpus" / "under").mkdir(parents=True)
    (tmp_path / "index").mkdir()
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "index" / "shard").symlink_to("../elsewhere")
    for name in ("corpus/a.jsonl", "corpus/under/b.jsonl", "corpus/note.xyz"):
        (tmp_path / name).write_text('{"text": "a"}\n')
    (tmp_path / "list.txt").write_text("corpus/a.jsonl\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("pattern", "file", "expected"),
    [
        ("*.jsonl", "a.jsonl", True),
        ("*.jsonl", "a.csv", False),
        ("*.jsonl", "under/a.jsonl", False),
        ("*/a.jsonl", "under/a.jsonl", True),
        ("*/a.jsonl", "a.jsonl", False),
        ("**/a.jsonl", "a.jsonl", True),
        ("**/a.jsonl", "x/y/z/a.jsonl", True),
        ("**/a.jsonl", "x/y/z/b.jsonl", False),
        ("x/**/a.jsonl", "x/a.jsonl", True),
        ("x/**/a.jsonl", "x/y/a.jsonl", True),
        ("x/**/a.jsonl", "y/a.jsonl", False),
        ("**/y/*.jsonl", "x/y/a.jsonl", True),
        ("**/y/*.jsonl", "x/y/z/a.jsonl", False),
        ("x/**", "x/y/a.jsonl", True),
        ("x/**", "y/a.jsonl", False),
        ("x/**/**", "x/a.jsonl", True),
        ("x*/a?.jsonl", "xy/ab.jsonl", True),
        ("x*/a?.jsonl", "xy/a.jsonl", False),
        ("[ab].jsonl", "b.jsonl", True),
        ("A*.jsonl", "a.jsonl", False),
        ("*.jsonl", ".a.jsonl", False),
        (".*.jsonl", ".a.jsonl", True),
        ("**/a.jsonl", ".x/a.jsonl", False),
        ("*/a.jsonl", ".x/a.jsonl", False),
    ],
)
def test_a_glob_reads_the_new_files_that_it_would_find(
    folder: Path, pattern: str, file: str, expected: bool
) -> None:
    path = folder / "new" / file
    assert is_read(f"scan:new/{pattern}", None, None, None, path) is expected
    path.parent.mkdir(parents=True)
    path.write_text("")
    found = glob.glob(pattern, root_dir=folder / "new", recursive=True)
    assert (file in found) is expected


@pytest.mark.parametrize(
    ("spec", "file", "expected"),
    [
        ("scan:corpus", "corpus/new.jsonl", True),
        ("scan:corpus", "corpus/under/new.jsonl", True),
        ("scan:corpus", "corpus/.hidden.jsonl", False),
        ("scan:corpus", "new.jsonl", False),
        ("scan:corpus", "corpus2/new.jsonl", False),
        ("scan:corpus/a.jsonl", "corpus/new.jsonl", False),
        ("scan:new.jsonl", "new.jsonl", False),
        ("scan:elsewhere,scan:corpus", "corpus/new.jsonl", True),
        ("scan:index/shard", "elsewhere/new.jsonl", True),
        ("fm9:index", "index/.hidden", True),
        ("fm9:index", "corpus/new.jsonl", False),
        ("scan:file://corpus", "corpus/new.jsonl", True),
        ("scan:simplecache::file://corpus", "corpus/new.jsonl", True),
        ("scan:s3://corpus", "corpus/new.jsonl", False),
        ("scan:-", "-", False),
    ],
)
def test_a_folder_reads_the_new_files_in_it(
    folder: Path, spec: str, file: str, expected: bool
) -> None:
    assert is_read(spec, None, None, None, folder / file) is expected


@pytest.mark.parametrize(
    ("form", "skips_unknown", "excluded", "file", "expected"),
    [
        pytest.param(None, None, None, "corpus/n.xyz", True, id="which ends the reading"),
        pytest.param(None, True, None, "corpus/n.xyz", False, id="unknown ones are skipped"),
        pytest.param("text", True, None, "corpus/n.xyz", True, id="a format is given"),
        pytest.param(None, True, None, "corpus/n.jsonl", True, id="a known one"),
        pytest.param(None, None, ["*n.jsonl"], "corpus/n.jsonl", False, id="excluded"),
        pytest.param(None, None, ["*m.jsonl"], "corpus/n.jsonl", True, id="another is excluded"),
    ],
)
def test_files_that_are_left_out_are_not_read(
    folder: Path,
    form: Format | None,
    skips_unknown: bool | None,
    excluded: list[str] | None,
    file: str,
    expected: bool,
) -> None:
    assert is_read("scan:corpus", form, skips_unknown, excluded, folder / file) is expected


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        pytest.param("scan:corpus/a.jsonl", ["corpus/a.jsonl"], id="a file"),
        pytest.param("scan:corpus/*.jsonl", ["corpus/a.jsonl"], id="a glob"),
        pytest.param(
            "scan:corpus/a.jsonl,scan:corpus/under/b.jsonl",
            ["corpus/a.jsonl", "corpus/under/b.jsonl"],
            id="two files",
        ),
        pytest.param("scan:@list.txt", ["list.txt", "corpus/a.jsonl"], id="a list"),
        pytest.param("scan:corpus", ["corpus"], id="a folder"),
        pytest.param("fm9:index", ["index", "index/shard"], id="an index"),
        pytest.param("scan:file://corpus/a.jsonl", ["corpus/a.jsonl"], id="the URL of a file"),
        pytest.param(
            "scan:zip://inner.jsonl::file://corpus/a.jsonl",
            ["corpus/a.jsonl"],
            id="a part of a file",
        ),
        pytest.param("scan:@file://list.txt", ["list.txt"], id="the URL of a list"),
        pytest.param("scan:nothing.jsonl", [], id="no file"),
        pytest.param("scan:s3://bucket/a.jsonl", [], id="a store"),
    ],
)
def test_the_files_of_a_spec(folder: Path, spec: str, expected: list[str]) -> None:
    found = [path.absolute().relative_to(folder).as_posix() for path in local_files(spec)]
    assert found == expected


def test_a_stream_of_a_spec_is_named_as_it_is(folder: Path) -> None:
    os.mkfifo(folder / "pipe.jsonl")
    assert [*local_files("scan:-")] == [STANDARD_INPUT]
    assert [*local_files("scan:pipe.jsonl")] == [Path("pipe.jsonl")]
    assert not is_read("scan:pipe.jsonl", None, None, None, folder / "pipe.jsonl")


def test_the_corpus_of_python_is_its_own_files() -> None:
    files = [*local_files("python")]
    assert Path(os.__file__) in files
    assert all(path.is_file() for path in files)
