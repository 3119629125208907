"""What is not counted is said: records of WARC, encodings, files of a folder, empty files."""

import gzip
import os
from pathlib import Path

import pytest

import ngramscan
from ngramscan.corpora import ReadOptions, open_corpus, read_piece
from ngramscan.corpora.encodings import encoding_in
from ngramscan.errors import CorpusError, InputError
from tests.support import corpus_files
from tests.support.command import invoke


def skipped_in(path: Path) -> dict[str, int]:
    skipped: dict[str, int] = {}
    for piece in open_corpus(str(path)).pieces():
        for batch in read_piece(piece, ReadOptions()):
            skipped |= batch.skipped
    return skipped


# WARC


def record(kind: str, body: bytes = b"HTTP/1.1 200 OK\r\n\r\nstep by step") -> bytes:
    head = (
        f"WARC/1.0\r\nWARC-Type: {kind}\r\nWARC-Target-URI: http://example.org/\r\n"
        "WARC-Date: 2026-11-20T00:00:00Z\r\nWARC-Record-ID: <urn:uuid:1>\r\n"
        f"Content-Length: {len(body)}\r\n\r\n"
    )
    return head.encode() + body + b"\r\n\r\n"


KINDS = ["response", "revisit", "resource", "request", "metadata", "continuation"]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("packing", ["", ".gz"])
def test_records_without_text_are_counted(tmp_path: Path, kind: str, packing: str) -> None:
    path = tmp_path / f"c.warc{packing}"
    parts = [corpus_files.WARC_INFO, record("conversion", b"step by step"), record(kind)]
    pack = corpus_files.PACK[packing]
    path.write_bytes(b"".join(map(pack, [*parts, record(kind)])))
    assert skipped_in(path) == {"records without text": 2}
    (row,) = ngramscan.count(literal="step by step", index=f"scan:{path}").itertuples()
    assert (row.occurrences, row.note) == (1, "skipped: 2 records without text")


def test_a_single_record_without_text_is_one_record(tmp_path: Path) -> None:
    path = tmp_path / "c.warc"
    path.write_bytes(record("conversion", b"a") + record("response"))
    done = invoke("count", "-e", "a", "--index", f"scan:{path}")
    assert "skipped: 1 record without text" in done.stderr


def test_an_index_says_which_records_it_leaves_out(tmp_path: Path) -> None:
    path = tmp_path / "c.warc"
    path.write_bytes(record("conversion", b"a") + record("response") * 3)
    done = invoke("index", "build", str(path), "-o", str(tmp_path / "index"))
    assert (done.code, "skipped: 3 records without text" in done.stderr) == (0, True)


def test_a_warc_without_text_says_what_it_has_and_how_to_get_text(tmp_path: Path) -> None:
    path = tmp_path / "c.warc"
    path.write_bytes(corpus_files.WARC_INFO + record("response") * 2 + record("request"))
    with pytest.raises(CorpusError) as error:
        skipped_in(path)
    assert str(error.value) == (
        f"{path}: no conversion record, which would have text; it has 2 response, 1 request"
        " records; extract the text first (resiliparse, trafilatura), or take the .wet.gz of"
        " the crawl"
    )


# Encodings

SENTENCES = {
    "English": "Take it step by step, and step by step again.\n",
    "Russian": "Это предложение написано по-русски, и в нём есть пробелы.\n",
    "Greek": "Αυτή είναι μια πρόταση στα ελληνικά.\n",
    "Arabic": "هذه جملة مكتوبة باللغة العربية.\n",
    "Hindi": "यह वाक्य हिन्दी में लिखा गया है।\n",
    "Thai": "ประโยคนี้ เขียนเป็นภาษาไทย\n",
    "Chinese": "这个句子是用中文写的, 2026.\n",
}


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be"])
@pytest.mark.parametrize("language", SENTENCES)
@pytest.mark.parametrize("times", [1, 300])
def test_a_text_in_another_encoding_without_a_mark_is_refused(
    tmp_path: Path, language: str, encoding: str, times: int
) -> None:
    path = tmp_path / "c.txt"
    path.write_bytes((SENTENCES[language] * times).encode(encoding))
    with pytest.raises(CorpusError, match=f"it is {encoding[:6].upper()}|not UTF-8 at byte"):
        skipped_in(path)


@pytest.mark.parametrize("name", ["c.txt", "c.jsonl", "c.json", "c.csv", "c.txt.gz", "c.jsonl.gz"])
@pytest.mark.parametrize(
    ("encoding", "cure"),
    [
        (
            "utf-16",
            "it is UTF-16, and UTF-8 is expected; iconv -f UTF-16 -t UTF-8 FILE converts it",
        ),
        ("utf-32", "it is UTF-32, and UTF-8 is expected; iconv -f UTF-32 -t UTF-8"),
        ("utf-16-le", "iconv -f UTF-16LE -t UTF-8 FILE"),
        ("utf-16-be", "iconv -f UTF-16BE -t UTF-8 FILE"),
        ("utf-32-le", "iconv -f UTF-32LE -t UTF-8 FILE"),
        ("utf-32-be", "iconv -f UTF-32BE -t UTF-8 FILE"),
    ],
)
def test_an_encoding_is_named_with_its_cure_in_every_format(
    tmp_path: Path, name: str, encoding: str, cure: str
) -> None:
    content = '{"text": "step by step"}\n{"text": "b"}\n'.encode(encoding)
    (tmp_path / name).write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
    with pytest.raises(CorpusError, match=cure):
        skipped_in(tmp_path / name)


def test_an_encoding_is_refused_where_bad_lines_are_skipped(tmp_path: Path) -> None:
    path = tmp_path / "c.jsonl"
    path.write_bytes('{"text": "a"}\n'.encode("utf-16-le"))
    options = ReadOptions(skip_bad_lines=True)
    with pytest.raises(CorpusError, match="it is UTF-16"):
        list(read_piece(open_corpus(str(path)).pieces()[0], options))


@pytest.mark.parametrize("prefix", [b"text in UTF-8\n", b"of odd length\n\n"])
def test_utf16_behind_text_in_utf8_is_refused(tmp_path: Path, prefix: bytes) -> None:
    (tmp_path / "c.txt").write_bytes(prefix * 700 + ("step by step " * 99).encode("utf-16-le"))
    with pytest.raises(CorpusError, match="it is UTF-16"):
        skipped_in(tmp_path / "c.txt")


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(b"", id="nothing"),
        pytest.param(b"step by step", id="a text"),
        pytest.param(b"a\0b", id="a zero byte"),
        pytest.param(b"\0", id="only a zero byte"),
        pytest.param(b"one\0two\0three\0four\0", id="names with zero bytes between"),
        pytest.param(b"1\n2\n3\n4\n", id="lines of one digit"),
        pytest.param(b"\t\t\t\t\n\n\n\n", id="control characters"),
        pytest.param("é中😀\0".encode() * 9, id="more than ASCII"),
        pytest.param(b"text" * 2000 + b"\0" + b"text" * 2000, id="a zero byte far inside"),
    ],
)
def test_texts_in_utf8_are_no_other_encoding(text: bytes) -> None:
    assert encoding_in(text) == ""


# Files


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
        skipped_in(tmp_path)
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


@pytest.mark.parametrize(
    ("name", "content"),
    [
        pytest.param("b.jsonl", b"", id="no byte"),
        pytest.param("b.jsonl", b"\n\r\n \n", id="empty lines"),
        pytest.param("b.jsonl.gz", gzip.compress(b""), id="compressed nothing"),
        pytest.param("b.json", b"[]", id="an empty list"),
        pytest.param("b.csv", b"text\n", id="a header"),
        pytest.param("b.csv", b"", id="no header"),
        pytest.param("b.parquet", corpus_files.parquet([]), id="no row"),
        pytest.param("b.warc", corpus_files.WARC_INFO, id="no record"),
    ],
)
def test_files_without_documents_are_counted(tmp_path: Path, name: str, content: bytes) -> None:
    (tmp_path / "a.jsonl").write_text('{"text": "a"}\n')
    (tmp_path / name).write_bytes(content)
    (row,) = ngramscan.count(literal="a", index=f"scan:{tmp_path}").itertuples()
    assert (row.occurrences, row.note) == (1, "skipped: 1 file without documents")


def test_a_damaged_list_of_files_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"text": "a"}\n')
    path = tmp_path / "c.paths.gz"
    path.write_bytes(gzip.compress(b"a.jsonl\n") + b"b.jsonl\n")
    with pytest.raises(CorpusError, match="damaged; skipped: 8 bytes behind the end of gzip data"):
        open_corpus(str(path))
