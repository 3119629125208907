"""Files and folders of a corpus that are left out are said: hidden ones, links, pipes."""

import os
from pathlib import Path

import pytest

from ngramscan.corpora import open_corpus
from ngramscan.errors import CorpusError, InputError
from tests.support.corpus_documents import read_documents


def test_hidden_files_that_would_be_read_are_said(tmp_path: Path) -> None:
    for name in ("a.jsonl", ".b.jsonl", ".gitignore", ".git/config", ".old/deep/c.jsonl.gz"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text('{"text": "a"}\n')
    corpus = open_corpus(str(tmp_path))
    assert [file.path for file in corpus.files] == [f"{tmp_path}/a.jsonl"]
    told = (
        f"scan:{tmp_path}: hidden files and folders left out: 2, the first is {tmp_path}/.b.jsonl"
    )
    assert corpus.notices == [told]


def test_hidden_files_behind_an_address_are_said(tmp_path: Path) -> None:
    for name in ("a.jsonl", ".b.jsonl", ".gitignore"):
        (tmp_path / name).write_text('{"text": "a"}\n')
    (notice,) = open_corpus(f"local://{tmp_path}").notices  # as on a store
    assert f"hidden files left out: 1, the first is {tmp_path}/.b.jsonl" in notice


HIDDEN = (
    ".ipynb_checkpoints/a.jsonl",
    "sub/.git/a.jsonl",
    "sub/.git/deep/a.jsonl",
    "sub/.a.jsonl",
)


@pytest.mark.parametrize("protocol", ["", "local://"], ids=["folder", "store"])
@pytest.mark.parametrize(
    ("pattern", "read"),
    [
        pytest.param("", ["a.jsonl", "sub/b.jsonl", "sub/deep/c.jsonl"], id="all below"),
        pytest.param("/*.jsonl", ["a.jsonl"], id="a glob"),
        pytest.param("/*/*.jsonl", ["sub/b.jsonl"], id="a glob of folders"),
        pytest.param(
            "/**/*.jsonl", ["a.jsonl", "sub/b.jsonl", "sub/deep/c.jsonl"], id="a glob of all below"
        ),
        pytest.param("/sub/.git", ["sub/.git/a.jsonl", "sub/.git/deep/a.jsonl"], id="named itself"),
        pytest.param("/sub/.git/*.jsonl", ["sub/.git/a.jsonl"], id="named before a glob"),
        pytest.param("/*/.g*/*.jsonl", ["sub/.git/a.jsonl"], id="a glob of hidden ones"),
        pytest.param("/sub/.*.jsonl", ["sub/.a.jsonl"], id="a glob of hidden files"),
    ],
)
def test_hidden_files_are_read_only_if_they_are_named(
    tmp_path: Path, protocol: str, pattern: str, read: list[str]
) -> None:
    """Wherever in a path the hidden folder is, below the place or behind a part of a glob."""
    top = tmp_path / ".home" / "corpus"  # that the corpus itself is in a hidden folder is no matter
    for name in (*HIDDEN, "a.jsonl", "sub/b.jsonl", "sub/deep/c.jsonl"):
        (top / name).parent.mkdir(parents=True, exist_ok=True)
        (top / name).write_text('{"text": "a"}\n')
    corpus = open_corpus(f"{protocol}{top}{pattern}")
    assert [file.path.removeprefix("file://") for file in corpus.files] == [
        f"{top}/{name}" for name in read
    ]


def test_links_to_folders_are_said(tmp_path: Path) -> None:
    for folder in ("corpus", "elsewhere"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "a.jsonl").write_text('{"text": "a"}\n')
    (tmp_path / "corpus" / "more").symlink_to(tmp_path / "elsewhere")
    (notice,) = open_corpus(str(tmp_path / "corpus")).notices
    assert "links to folders left out: 1, the first is " in notice
    assert notice.endswith("/corpus/more; give them as corpora of their own")


def test_a_link_to_nothing_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"text": "a"}\n')
    (tmp_path / "b.jsonl").symlink_to(tmp_path / "gone.jsonl")
    with pytest.raises(CorpusError, match=r"b\.jsonl:1: can't be read \(No such file"):
        read_documents(tmp_path)
    assert len(open_corpus(str(tmp_path), exclude=("*/b.jsonl",)).files) == 1


def test_links_that_lead_back_to_themselves_are_said(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"text": "a"}\n')
    (tmp_path / "b.jsonl").symlink_to("b.jsonl")
    (notice,) = open_corpus(str(tmp_path)).notices
    assert "links that lead back to themselves left out: 1, the first is" in notice


def test_a_pipe_in_a_folder_is_no_file_of_the_corpus(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"text": "a"}\n')
    os.mkfifo(tmp_path / "b.jsonl")
    with pytest.raises(InputError, match=r"unknown formats: 1, the first is .*b\.jsonl"):
        open_corpus(str(tmp_path))


def test_folders_that_a_glob_names_are_said(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"text": "a"}\n')
    (tmp_path / "more").mkdir()
    (tmp_path / "more" / "b.jsonl").write_text('{"text": "b"}\n')
    (notice,) = open_corpus(f"{tmp_path}/*").notices
    assert "folders left out: 1, the first is" in notice
    corpus = open_corpus(f"{tmp_path}/**")
    assert (len(corpus.files), corpus.notices) == (2, [])
