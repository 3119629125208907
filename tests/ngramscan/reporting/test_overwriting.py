"""No command overwrites what it reads, nor one output by another, whatever the files are called."""

import os
import subprocess
import sys
from importlib import resources
from pathlib import Path

import click
import pytest
from platformdirs import user_cache_path

from ngramscan.reading.own_files import shipped_folders
from ngramscan.reporting.options import FilePath
from ngramscan.reporting.signatures import hints_of, option_of
from tests.support.command import invoke
from tests.support.command_parameters import COMMANDS, function_of, read_by, written_by

CONTENT = '{"id": "1", "text": "a word", "output": "a word"}\n'


def typed(command: click.Command, given: dict[str, str]) -> list[str]:
    """Return a command line with some values, and others for what is also needed."""
    words: list[str] = []
    for option in command.params:
        name = option.name or ""
        if name not in given and not option.required:
            continue
        value = given.get(name, "other.jsonl")
        words += [value] if isinstance(option, click.Argument) else [option.opts[-1], value]
    return words


PAIRS = [
    pytest.param(names, read.name, written.name, id=f"{' '.join(names)}-{read.name}-{written.name}")
    for names, command in COMMANDS.items()
    for read in read_by(command)
    for written in written_by(command)
]


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "rows.jsonl").write_text(CONTENT)
    (tmp_path / "rows.jsonl").write_text(CONTENT)
    (tmp_path / "other.jsonl").write_text(CONTENT)
    return tmp_path


def refusal(names: tuple[str, ...], **given: str) -> str:
    """Return the only line that a command writes, which refuses what is given."""
    package, *words = names
    command = COMMANDS[names]
    done = invoke(*words, *typed(command, given), package=package)
    assert (done.code, done.stdout) == (2, ""), done
    (line,) = done.stderr.splitlines()
    return line


@pytest.mark.parametrize(("names", "read", "written"), PAIRS)
def test_an_output_that_is_an_input_is_refused(
    here: Path, names: tuple[str, ...], read: str, written: str
) -> None:
    hint = hints_of(function_of(COMMANDS[names]))[read]
    asked = "scan:rows.jsonl" if option_of(hint).is_spec else "rows.jsonl"
    line = refusal(names, **{read: asked, written: "rows.jsonl"})
    assert "rows.jsonl: the command also reads it, by " in line
    assert (here / "rows.jsonl").read_text() == CONTENT


def test_every_path_of_a_command_is_read_or_written() -> None:
    """A new option with a path is an input unless its type says that it is written."""
    covered = {
        (names, path.name)
        for names, command in COMMANDS.items()
        for path in (*read_by(command), *written_by(command))
    }
    paths = {
        (names, path.name)
        for names, command in COMMANDS.items()
        for path in command.params
        if isinstance(path.type, FilePath)
    }
    assert paths - covered == set()
    assert paths
    flags = {path.opts[-1] for command in COMMANDS.values() for path in written_by(command)}
    assert flags >= {"--output", "--spans", "--curve", "--totals", "--figure", "--journal"}
    assert flags >= {"--averages", "--shares", "--usage", "--votes", "--ranks", "--export"}


COUNT = ("count", "-e", "word", "--workers", "1")


def count_refused(*more: str) -> None:
    done = invoke(*COUNT, *more)
    assert (done.code, done.stdout) == (2, ""), done
    assert "the command also reads it, by --" in done.stderr


@pytest.mark.parametrize(
    ("index", "output"),
    [
        pytest.param("scan:rows.jsonl", "./folder/../rows.jsonl", id="another way there"),
        pytest.param("scan:rows.jsonl", "symbolic.jsonl", id="a symbolic link to it"),
        pytest.param("scan:symbolic.jsonl", "rows.jsonl", id="what is read through a link"),
        pytest.param("scan:rows.jsonl", "hard.jsonl", id="a hard link to it"),
        pytest.param("scan:rows.jsonl", "linked/../rows.jsonl", id="after a link to a folder"),
        pytest.param("scan:folder", "folder/rows.jsonl", id="in a folder that is read"),
        pytest.param("scan:linked", "folder/rows.jsonl", id="in a folder, through a link"),
        pytest.param("scan:folder/*.jsonl", "folder/rows.jsonl", id="of a glob"),
        pytest.param("scan:*.jsonl,scan:folder", "folder/rows.jsonl", id="of the second spec"),
        pytest.param("scan:other.jsonl,folder", "folder/rows.jsonl", id="comma in a path"),
        pytest.param("scan:@names.txt", "folder/rows.jsonl", id="in a list"),
        pytest.param("scan:@names.txt", "names.txt", id="the list"),
        pytest.param("fm9:folder", "folder/rows.jsonl", id="in an index"),
        pytest.param("fm9:shards", "folder/rows.jsonl", id="in a shard that is a link"),
        pytest.param("tokens:shards", "folder/rows.jsonl", id="in a linked shard over tokens"),
        pytest.param("scan:file://{here}/rows.jsonl", "rows.jsonl", id="a URL of it"),
        pytest.param("scan:file://rows.jsonl", "rows.jsonl", id="a relative URL"),
        pytest.param("scan:local://{here}/rows.jsonl", "rows.jsonl", id="its other protocol"),
        pytest.param("scan:file://{here}/*.jsonl", "rows.jsonl", id="a glob of URLs"),
        pytest.param("scan:file://{here}/folder", "folder/rows.jsonl", id="a URL of its folder"),
        pytest.param("fm9:file://{here}/folder", "folder/rows.jsonl", id="a URL of an index"),
        pytest.param("scan:simplecache::file://{here}/rows.jsonl", "rows.jsonl", id="a kept copy"),
        pytest.param("scan:zip://a.jsonl::{here}/rows.jsonl", "rows.jsonl", id="an archive"),
        pytest.param("scan:@urls.txt", "rows.jsonl", id="a URL in a list"),
        pytest.param("tokens:folder", "folder/rows.jsonl", id="in an index over tokens"),
    ],
)
def test_other_names_of_an_input_are_refused(here: Path, index: str, output: str) -> None:
    (here / "symbolic.jsonl").symlink_to("rows.jsonl")
    os.link("rows.jsonl", "hard.jsonl")
    (here / "linked").symlink_to("folder")
    (here / "names.txt").write_text("folder/rows.jsonl\n")
    (here / "urls.txt").write_text(f"file://{here}/rows.jsonl\n")
    (here / "shards").mkdir()
    (here / "shards" / "0").symlink_to("../folder")
    index = index.format(here=here)
    if index == "scan:other.jsonl,folder":
        (here / "other.jsonl,folder").mkdir()
        os.link("folder/rows.jsonl", "other.jsonl,folder/rows.jsonl")
    count_refused("--index", index, "-o", output, "--format", "jsonl")
    assert (here / "rows.jsonl").read_text() == (here / "folder" / "rows.jsonl").read_text()


@pytest.mark.parametrize(
    ("first", "second"),
    [
        pytest.param("a.csv", "a.csv", id="the same name"),
        pytest.param("a.csv", "./folder/../a.csv", id="another way there"),
        pytest.param("old.csv", "symbolic.csv", id="a symbolic link"),
        pytest.param("old.csv", "hard.csv", id="a hard link"),
        pytest.param("a.csv", "new.csv", id="a link to a file that is not there yet"),
        pytest.param("a.csv", "A.csv", id="upper and lower case"),
        pytest.param("\xe9.csv", "e\u0301.csv", id="composed and decomposed letters"),
        pytest.param("a.csv", "a.csv.provenance.json", id="the record beside a file"),
    ],
)
@pytest.mark.parametrize("is_swapped", [False, True], ids=["rows first", "totals first"])
def test_two_outputs_that_are_one_file_are_refused(
    here: Path, first: str, second: str, is_swapped: bool
) -> None:
    (here / "old.csv").write_text("old")
    (here / "symbolic.csv").symlink_to("old.csv")
    (here / "new.csv").symlink_to("a.csv")
    os.link("old.csv", "hard.csv")
    rows, totals = (second, first) if is_swapped else (first, second)
    options = ("--index", "scan:rows.jsonl", "--format", "csv", "--provenance")
    done = invoke("count", "f1", *options, "-o", rows, "--totals", totals)
    assert (done.code, done.stdout) == (2, ""), done
    assert "writes to the same file; expected two files" in done.stderr
    assert (here / "old.csv").read_text() == "old"


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize(
    "output",
    [
        pytest.param("replies.sqlite", id="the database"),
        pytest.param("replies.sqlite-wal", id="its log"),
        pytest.param("replies.sqlite-shm", id="its shared memory"),
    ],
)
def test_an_output_is_not_a_file_of_the_journal(output: str) -> None:
    options = ("--journal", "replies.sqlite", "-o", output, "--format", "csv")
    done = invoke(*COUNT, "--index", "scan:rows.jsonl", *options)
    assert done.code == 2
    assert "writes to the same file" in done.stderr


READERS = (
    ("count", "-e", "word", "--index", "scan:-"),
    ("count", "-e", "word", "--index", "scan:/dev/stdin"),
    ("count", "-f", "-", "--index", "scan:other.jsonl"),
    ("blend", "-"),
    ("blend", "/dev/stdin"),
    ("trace", "-", "--index", "scan:other.jsonl"),
)


@pytest.mark.parametrize("words", READERS, ids=" ".join)
def test_standard_input_from_a_file_is_an_input(here: Path, words: tuple[str, ...]) -> None:
    program = [sys.executable, "-m", "ngramscan", *words, "-o", "rows.jsonl"]
    with open("rows.jsonl") as rows:
        done = subprocess.run(program, check=False, stdin=rows, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (2, "")
    assert "-o rows.jsonl: the command also reads it, by " in done.stderr
    assert (here / "rows.jsonl").read_text() == CONTENT


@pytest.mark.parametrize("place", ["shards", "folder", "tokens:folder"])
def test_a_shard_that_verify_reads_through_a_link_is_an_input(here: Path, place: str) -> None:
    (here / "shards").mkdir()
    (here / "shards" / "0").symlink_to("../folder")
    names = ("ngramscan", "index", "verify")
    line = refusal(names, directory=place, output="folder/rows.jsonl")
    assert "folder/rows.jsonl: the command also reads it, by DIR" in line


def folder_of(owner: str) -> Path:
    """Return the folder of shipped pattern sets, of what is in evalcore, or of the cache."""
    if owner == "patterns":
        (patterns,) = (folder for folder in shipped_folders() if folder.is_dir())
        return patterns
    if owner == "evalcore":
        return Path(str(resources.files("evalcore")))
    return user_cache_path("ngramscan")


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize(
    "words",
    [
        pytest.param(("patterns", "list"), id="patterns list"),
        pytest.param(("count", "f1", "--index", "scan:rows.jsonl"), id="count"),
    ],
)
@pytest.mark.parametrize(
    ("owner", "name"),
    [
        pytest.param("patterns", "f1.yaml", id="a pattern set"),
        pytest.param("evalcore", "benchmarks/financemath.yaml", id="a benchmark"),
        pytest.param("cache", "replies.sqlite", id="replies"),
        pytest.param("cache", "judgements.sqlite", id="judgements"),
        pytest.param("cache", "datasets/financemath/test.json", id="a dataset"),
    ],
)
def test_files_that_commands_read_unasked_are_not_overwritten(
    owner: str, name: str, words: tuple[str, ...]
) -> None:
    file = folder_of(owner) / name
    before = file.read_bytes() if file.exists() else None
    try:
        done = invoke(*words, "-o", str(file), "--format", "csv")
        assert (done.code, done.stdout) == (2, "")
        expected = f"-o {file}: one of ngramscan's own files"
        assert expected in done.stderr
    finally:
        after = file.read_bytes() if file.exists() else None
        if before is not None and after != before:
            file.write_bytes(before)
    assert after == before


def test_a_journal_may_be_the_usual_one(here: Path) -> None:
    usual = str(user_cache_path("ngramscan") / "replies.sqlite")
    done = invoke(*COUNT, "--index", "scan:rows.jsonl", "--journal", usual, "--format", "csv")
    assert done.code == 0, done.stderr


@pytest.mark.parametrize(
    "output",
    [
        pytest.param("folder/counts.tex", id="a new file in a folder that is read"),
        pytest.param("/dev/null", id="a device"),
        pytest.param("copy/rows.jsonl", id="a copy with one name"),
    ],
)
def test_other_files_are_written_as_before(here: Path, output: str) -> None:
    """A journal in a folder that is read is written, too."""
    (here / "copy").mkdir()
    (here / "copy" / "rows.jsonl").write_text(CONTENT)
    scanned = (*COUNT, "--index", "scan:folder", "--skip-unknown", "--journal", "folder/r.sqlite")
    done = invoke(*scanned, "-o", output, "--format", "csv")
    assert done.code == 0, done.stderr
    assert (here / "folder" / "rows.jsonl").read_text() == CONTENT
    assert (here / output).read_text() != CONTENT


@pytest.mark.parametrize("is_there", [False, True], ids=["new", "old"])
@pytest.mark.parametrize(
    ("index", "output", "options"),
    [
        pytest.param("scan:folder", "folder/new.jsonl", (), id="of the corpus's format"),
        pytest.param("scan:folder", "folder/new.csv", (), id="of a format that would be read"),
        pytest.param("scan:linked", "folder/new.jsonl", (), id="through a link"),
        pytest.param("scan:folder", "folder/under/new.jsonl", (), id="in a folder of it"),
        pytest.param("scan:folder/*.jsonl", "folder/new.jsonl", (), id="that a glob finds"),
        pytest.param("scan:**/r*.jsonl", "folder/rows2.jsonl", (), id="that ** finds"),
        pytest.param("scan:rows.jsonl,scan:folder", "folder/new.jsonl", (), id="of another part"),
        pytest.param(
            "scan:folder",
            "folder/new.csv",
            ("--skip-unknown", "--input-format", "text"),
            id="which the format given says how to read",
        ),
        pytest.param("fm9:folder", "folder/new.csv", (), id="among the files of an index"),
    ],
)
def test_an_output_that_the_next_run_would_read_is_refused(
    here: Path, index: str, output: str, options: tuple[str, ...], is_there: bool
) -> None:
    """The first run is refused like the second, before which the file is there."""
    (here / "linked").symlink_to("folder")
    (here / "folder" / "under").mkdir()
    if is_there:
        (here / output).write_text(CONTENT)
    done = invoke(*COUNT, "--index", index, *options, "-o", output, "--format", "csv")
    assert (done.code, done.stdout) == (2, ""), done
    assert f"{output}: the command also reads it, by --index" in done.stderr
    assert "; name a" in done.stderr
    assert (here / output).exists() == is_there


@pytest.mark.parametrize(
    ("index", "output", "options"),
    [
        pytest.param("scan:folder", "folder/a.tex", ("--skip-unknown",), id="of no known format"),
        pytest.param("scan:folder", "folder/.a.jsonl", (), id="hidden"),
        pytest.param("scan:folder", "folder/.git/a.jsonl", (), id="in a hidden folder"),
        pytest.param("scan:folder", "folder/under/.git/deep/a.jsonl", (), id="below a hidden one"),
        pytest.param("scan:folder/*.jsonl", "folder/.a.jsonl", (), id="hidden from a glob"),
        pytest.param("scan:**/r*.jsonl", "folder/.git/rows.jsonl", (), id="hidden from **"),
        pytest.param(
            "scan:folder", "folder/a.jsonl", ("--exclude-source", "*/a.jsonl"), id="excluded"
        ),
        pytest.param("scan:folder/*.jsonl", "folder/a.csv", (), id="that no glob finds"),
        pytest.param("scan:*/*.jsonl", "a.jsonl", (), id="above what a glob finds"),
        pytest.param("scan:folder", "folder2.jsonl", (), id="of another name"),
    ],
)
def test_an_output_that_no_run_reads_is_written_again_and_again(
    here: Path, index: str, output: str, options: tuple[str, ...]
) -> None:
    (here / output).parent.mkdir(parents=True, exist_ok=True)
    for _ in range(2):
        done = invoke(*COUNT, "--index", index, *options, "-o", output, "--format", "csv")
        assert done.code == 0, done.stderr


@pytest.mark.parametrize(
    ("output", "is_refused"),
    [
        pytest.param("outputs/rows.csv", False, id="a table"),
        pytest.param("outputs/a/rows.jsonl", True, id="outputs"),
    ],
)
def test_tables_may_lie_among_outputs(here: Path, output: str, is_refused: bool) -> None:
    folder = here / "outputs" / "a"
    folder.mkdir(parents=True)
    (folder / "cot.jsonl").write_text('{"id": 1, "output": "Let us think step by step."}\n')
    codes = [invoke("blend", "outputs", "-o", output).code for _ in range(2)]
    assert codes == ([2, 2] if is_refused else [0, 0])


@pytest.mark.parametrize(
    "text",
    ["word " * 2000, "~nobody-of-this-name likes", "a b\udc80"],
    ids=["long", "home", "half"],
)
def test_a_text_that_no_file_can_be_called_is_no_input(here: Path, text: str) -> None:
    (here / "counts.csv").write_text("old")
    done = invoke("count", "-e", text, text, "--index", "scan:rows.jsonl", "-o", "counts.csv")
    assert done.code in {0, 2}
    assert "Traceback" not in done.stderr
    assert "also reads it" not in done.stderr
