"""Every format of a corpus: the same documents give the same counts, truncated files none."""

import gzip
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from typing import Any, get_args

import pandas as pd
import pytest

import ngramscan
from ngramscan import corpora
from ngramscan.corpora.base import CorpusFormat
from ngramscan.corpora.formats import FORMATS as READ_FORMATS
from ngramscan.errors import CorpusError
from ngramscan.reading.formats import InputFormat
from tests.support import corpus_files, oracle
from tests.support.corpus_documents import texts_of
from tests.support.hard_texts import F1, make_texts
from tests.support.places import ROOT, TESTS

MORE = ["aa", "a", "ภาษา", "step\nby"]
FORMATS = list(corpus_files.WRITERS)


def count(path: Path, *patterns: str | Path, **options: Any) -> pd.DataFrame:
    return ngramscan.count(*patterns or ["f1"], index=f"scan:{path}", workers=1, **options)


def row_of(rows: pd.DataFrame, query: str = "solve for") -> Any:
    (row,) = rows[rows["query"] == query].itertuples()
    return row


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[str], object]:
    """Return a folder with documents in a file of each format, the documents and their counts."""
    folder, texts = tmp_path_factory.mktemp("formats"), make_texts(8000)
    for name in FORMATS:
        corpus_files.write(folder, name, texts)
    entries = (f'  - {{text: "{text}", method: M, tier: T1, kind: code}}\n' for text in MORE)
    patterns = "name: more\npatterns:\n" + "".join(entries).replace("\nby", "\\nby")
    (folder / "more.yaml").write_text(patterns)
    return folder, texts, oracle.tally([*F1, *MORE], texts)


@pytest.mark.parametrize("name", FORMATS)
def test_documents_come_back_and_counts_are_those_of_brute_force(
    written: tuple[Path, list[str], object], name: str
) -> None:
    folder, texts, tally = written
    assert texts_of(folder / name) == texts
    rows = count(folder / name, "f1", folder / "more.yaml")
    assert (rows["occurrences"].tolist(), rows["documents"].tolist()) == tally


@pytest.mark.parametrize("name", FORMATS[1:])
def test_a_truncated_file_is_an_error_wherever_it_ends(tmp_path: Path, name: str) -> None:
    texts = [*make_texts(60), "\r\n\r\nmore", "the end of a record is cut off too"]
    path = corpus_files.write(tmp_path, name, texts)
    content, ends = path.read_bytes(), set()
    if "wet" in name:
        # Records are whole files: an end just between two of them can't be seen.
        ends = {len(corpus_files.WRITERS[name](texts[:n])) for n in range(len(texts))}
    said = {"c.jsonl": r":\d+: the file is trunc", "c.warc.": r": record \d+ or after: .*trunc"}
    for cut in {
        *range(1, len(content), len(content) // 20),
        *range(len(content) - 9, len(content)),
    }:
        path.write_bytes(content[:cut])
        if cut not in ends:
            with pytest.raises(CorpusError, match=name + said.get(name[:7], "")):
                texts_of(path)


@pytest.mark.parametrize("name", ["c.warc.wet.gz", "c.warc.wet", "c.parquet"])
@pytest.mark.parametrize(
    "content",
    [
        pytest.param(b"", id="nothing"),
        pytest.param(b"hello world, this is no such file\n" * 50, id="a text"),
    ],
)
def test_what_is_not_of_the_format_is_refused(tmp_path: Path, name: str, content: bytes) -> None:
    path = tmp_path / name
    path.write_bytes(gzip.compress(content) if name.endswith("gz") else content)
    with pytest.raises(CorpusError, match=f"{name}.*not a (WARC|Parquet) file|truncated"):
        texts_of(path)


def test_ignoring_case_is_told_in_every_row(tmp_path: Path) -> None:
    path = corpus_files.write(tmp_path, "c.jsonl", ["Solve For x, solve for y, SOLVE FOR Z"])
    rows = count(path, ignore_case=True)
    assert set(rows["note"]) == {"ASCII case ignored"}
    assert row_of(rows).occurrences == 3


@pytest.mark.parametrize("name", FORMATS)
def test_documents_are_excluded_and_limited_in_every_format(tmp_path: Path, name: str) -> None:
    path = corpus_files.write(tmp_path, name, ["solve for x"] * 1500)
    assert row_of(count(path, exclude_source="*/wiki/*")).documents == 1000
    row = row_of(count(path, limit_documents=700))
    assert (row.documents, row.note) == (700, "only the first 700 documents")


def modules_of_formats() -> dict[str, str]:
    """Return the module that defines each format, found by reading all modules of the room."""
    return {
        value.name: module.name
        for module in iter_modules(corpora.__path__)
        if module.name != "formats"
        for value in vars(import_module(f"ngramscan.corpora.{module.name}")).values()
        if isinstance(value, CorpusFormat)
    }


def test_every_format_that_a_module_defines_is_listed() -> None:
    assert modules_of_formats().keys() == {form.name for form in READ_FORMATS}


def test_formats_differ_in_names_and_suffixes() -> None:
    names = [form.name for form in READ_FORMATS]
    suffixes = [suffix for form in READ_FORMATS for suffix in form.suffixes]
    assert len({*names}) == len(names)
    assert len({*suffixes}) == len(suffixes)


def test_the_option_has_every_format_that_files_can_have() -> None:
    assert get_args(InputFormat) == tuple(form.name for form in READ_FORMATS if form.suffixes)


@pytest.mark.parametrize("name", [form.name for form in READ_FORMATS])
def test_every_format_has_tests_of_its_own(name: str) -> None:
    assert (TESTS / f"ngramscan/corpora/test_{modules_of_formats()[name]}.py").is_file()


@pytest.mark.parametrize("form", READ_FORMATS, ids=lambda form: form.name)
def test_the_page_on_scanning_has_every_suffix(form: CorpusFormat) -> None:
    page = (ROOT / "docs/scanning.md").read_text()
    assert [suffix for suffix in form.suffixes if f"`{suffix}`" not in page] == []
