"""Files that can't be read are left out on request, whole and never in silence."""

import gzip
import json
from pathlib import Path

import pytest

import ngramscan
from ngramscan.errors import IncompleteError
from tests.support.command import Ran, invoke
from tests.support.corpus_files import jsonl, parquet

QUERY = "step by step"
TEXTS = [f"{QUERY} {number}" for number in range(3_000)]


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the current folder, with files of several formats, some of which can't be read."""
    monkeypatch.chdir(tmp_path)
    for folder in ("texts", "packed", "tables", "misnamed"):
        Path(folder).mkdir()
        Path(folder, "a.jsonl").write_bytes(jsonl(TEXTS[:5]))
        Path(folder, "z.jsonl").write_bytes(jsonl(TEXTS[:2]))
    Path("texts/paper.txt").write_bytes(b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\nstep by step\n")
    packed = gzip.compress(jsonl(TEXTS))
    Path("packed/m.jsonl.gz").write_bytes(packed[: len(packed) * 3 // 4])
    Path("tables/m.parquet").write_bytes(parquet(TEXTS)[:-100])
    Path("misnamed/m.jsonl").write_bytes(parquet(TEXTS))
    return tmp_path


def count(corpus: str, *arguments: str) -> Ran:
    options = ("--index", corpus, "--journal", "j.sqlite", "--format", "csv")
    return invoke("count", QUERY, *options, *arguments)


BAD = {
    "texts": "texts/paper.txt",
    "packed": "packed/m.jsonl.gz",
    "tables": "tables/m.parquet",
    "misnamed": "misnamed/m.jsonl",
}


@pytest.mark.parametrize("corpus", BAD)
def test_a_bad_file_stops_a_count_with_the_option_that_leaves_it_out(corpus: str) -> None:
    ran = count(corpus)
    assert (ran.code, ran.stdout) == (1, "")
    assert BAD[corpus] in ran.stderr
    assert "; --skip-bad-files leaves out such files; the count of" in ran.stderr
    with pytest.raises(IncompleteError, match="; skip_bad_files leaves out such files"):
        ngramscan.contexts(literal=QUERY, index=corpus, journal="j.sqlite")


@pytest.mark.parametrize("workers", ["1", "2"])
@pytest.mark.parametrize("corpus", BAD)
def test_nothing_of_a_bad_file_is_counted_and_that_is_said(corpus: str, workers: str) -> None:
    for _ in range(2):  # also if the journal has the others
        ran = count(corpus, "--skip-bad-files", "--workers", workers)
        (row,) = ran.rows
        assert (ran.code, row["occurrences"], row["documents"]) == (0, "7", "7")
        assert row["note"] == "skipped: 1 file that can't be read"
        assert f"scan:{corpus}: left out 1 file that can't be read: {BAD[corpus]}" in ran.stderr
    assert count(corpus).code == 1


def test_only_the_first_documents_are_those_of_files_that_can_be_read() -> None:
    ran = count("texts", "--skip-bad-files", "--limit-documents", "6")
    (row,) = ran.rows
    assert (row["occurrences"], row["documents"]) == ("6", "6")
    assert row["note"] == "only the first 6 documents; skipped: 1 file that can't be read"
    stopped = count("texts", "--limit-documents", "6")
    assert (stopped.code, "--skip-bad-files leaves out such files" in stopped.stderr) == (1, True)


def test_all_parts_of_a_file_are_left_out_if_one_is_bad(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ngramscan.corpora.parquet.PART_BYTES", 2_000)
    content = bytearray(parquet(TEXTS, rows=100))
    Path("tables/m.parquet").write_bytes(content)
    whole = count("tables")
    assert whole.rows[0]["occurrences"] == str(len(TEXTS) + 7)
    middle = len(content) // 3
    content[middle : middle + 500] = bytes(500)
    Path("tables/m.parquet").write_bytes(content)
    assert count("tables").code == 1
    for _ in range(2):  # the journal has the parts that can be read
        ran = count("tables", "--skip-bad-files")
        assert (ran.code, ran.rows[0]["occurrences"]) == (0, "7")
        assert ran.rows[0]["note"] == "skipped: 1 file that can't be read"


def test_occurrences_are_shown_of_the_other_files() -> None:
    rows = ngramscan.contexts(
        literal=QUERY, index="texts", n=100, skip_bad_files=True, journal="j.sqlite"
    )
    assert sorted(rows["document"]) == [
        *(f"texts/a.jsonl:{number}" for number in range(1, 6)),
        *(f"texts/z.jsonl:{number}" for number in range(1, 3)),
    ]


def test_a_corpus_of_bad_files_alone_has_no_documents() -> None:
    ran = count("packed/m.jsonl.gz", "--skip-bad-files")
    assert (ran.code, ran.stdout) == (2, "")
    assert "contains no documents; skipped: 1 file that can't be read" in ran.stderr


def test_records_without_a_text_are_not_bad_files() -> None:
    Path("texts/a.jsonl").write_text(json.dumps({"body": "x"}) + "\n")
    Path("tables/n.parquet").write_bytes(parquet([QUERY]))
    ran = count("texts", "--skip-bad-files")
    assert ran.code == 1
    assert "texts/a.jsonl:1: no field 'text'; it has: body" in ran.stderr
    assert "leaves out such files" not in ran.stderr


@pytest.mark.parametrize(
    ("record", "cure", "option"),
    [
        pytest.param(
            '{"text": "x', "; --skip-bad-lines leaves out such lines", "--skip-bad-lines", id="cut"
        ),
        pytest.param('{"text": null}', " (see --skip-null)", "--skip-null", id="null"),
    ],
)
@pytest.mark.parametrize("limit", [(), ("--limit-documents", "10")], ids=["all", "the first"])
def test_the_error_of_a_bad_line_names_the_option_that_leaves_it_out(
    record: str, cure: str, option: str, limit: tuple[str, ...]
) -> None:
    Path("texts/a.jsonl").write_bytes(jsonl(TEXTS[:5]) + record.encode() + b"\n")
    ran = count("texts", "--skip-bad-files", *limit)
    assert (ran.code, ran.stdout) == (1, "")
    assert "texts/a.jsonl:6: " in ran.stderr
    assert f'{cure}; the count of "{QUERY}"' in ran.stderr
    ran = count("texts", "--skip-bad-files", option, *limit)
    assert (ran.code, ran.rows[0]["occurrences"]) == (0, "7")


def test_indexes_don_t_take_the_option() -> None:
    ran = invoke("count", QUERY, "--index", "dclm", "--skip-bad-files", "--dry-run")
    assert ran.code == 2
    assert "--skip-bad-files: only scan: and python take it, not v2_dclm_all" in ran.stderr
