"""Files of version 0.3: those of bytes are read, those of tokens refused with their conversion."""

import csv
import gzip
import io
import json
import shlex
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pandas as pd
import pytest

from ngramscan.errors import InputError
from ngramscan.reporting.keyed_counts import read_counts
from ngramscan.reporting.page.results import read_results
from tests.support.command import invoke

BYTES_COUNTS = """\
index,method,tier,kind,pattern,query,occurrences,documents,source,asked_at,estimated,note
scan:c,A,T1,narrative,the file,the file,18,13,scan,2026-11-20,False,
scan:c,A,T1,narrative,If the,If the,59,24,scan,2026-11-20,False,
"""
TOKEN_COUNTS = """\
index,method,tier,kind,pattern,query,token_occurrences,token_occurrences_after_space,tokens,\
per_million_tokens,source,asked_at,note
tokens:c,A,T1,narrative,the file,the file,12,11,272 1729 | 1237 1729,106.5,tokens,2026-11-20,\
a lower bound
tokens:c,A,T1,narrative,If the,If the,52,36,1047 272,459.25,tokens,2026-11-20,a lower bound
"""
MIXED_COUNTS = """\
index,method,tier,kind,pattern,query,occurrences,documents,source,asked_at,note,per_gigabyte,\
token_occurrences,token_occurrences_after_space,tokens,per_million_tokens
scan:c,A,T1,narrative,the file,the file,18,13,scan,2026-11-20,,3.5,,,,
tokens:c,A,T1,narrative,the file,the file,,,tokens,2026-11-20,low,,12,11,272 1729,106.5
"""
TOKEN_DOCNORM = """\
index,method,tier,pattern,token_occurrences,draws,token_documents,token_documents_low,\
token_documents_high,token_occurrences_per_document,token_occurrences_per_document_low,\
token_occurrences_per_document_high,level,estimator,note,token_documents_lower_estimate,\
token_documents_upper_estimate,token_documents_per_million
tokens:c,,,step by step,627,40,8,3,66,83.5,9.5,209.0,0.95,combined,low,8,8,11834.25
tokens:c,,,the file,12,,,8,9,,1.5,1.5,0.95,combined,low,8,9,
"""
TOTALS = """\
index,tiers,method,versus,statistic,value,low,high,level,note,kind
scan:c,T1,A,,sum_of_pattern_counts,77,,,,sum; estimated from a sample,narrative
scan:c,T1,A,,patterns,2,,,,,narrative
"""
TOKEN_TOTALS = """\
tokens:c,T1,A,,token_sum_of_pattern_counts,64,,,,sum,narrative
tokens:c,T1,A,,token_sum_per_million_tokens,565.75,,,,,narrative
"""


def write(folder: Path, text: str, suffix: str = ".csv") -> Path:
    """Write a table in a format, and return its file."""
    path = folder / f"old counts{suffix}"
    records = list(csv.DictReader(io.StringIO(text)))
    numbers = pd.read_csv(io.StringIO(text))
    if suffix == ".csv":
        path.write_text(text)
    elif suffix == ".jsonl":
        path.write_text("".join(json.dumps(record) + "\n" for record in records))
    elif suffix == ".json":
        path.write_text(json.dumps(records))
    elif suffix == ".csv.gz":
        path.write_bytes(gzip.compress(text.encode()))
    else:
        numbers.to_parquet(path)
    return path


def converted(path: Path) -> Path:
    """Run the command that the refusal of a file prints, and return the file that it writes."""
    with pytest.raises(InputError) as refused:
        read_results(path)
    message = str(refused.value)
    assert "\n" not in message
    command = message.partition("this does both: ")[2]
    new = path.with_name(f"old counts-with-unit{path.name.removeprefix('old counts')}")
    new = new.with_suffix("") if new.suffix == ".gz" else new
    words = shlex.split(command)
    assert (words[0], words[-2:]) == ("python", [str(path), str(new)])
    line = command.replace("python", shlex.quote(sys.executable), 1)
    subprocess.run(["bash", "-c", line], check=True, timeout=120)
    return new


def cells(path: Path, *columns: str) -> list[Sequence[object]]:
    """Return some columns of the rows of a file, as a page reads them."""
    return [tuple(row.get(column) for column in columns) for row in read_results(path).rows]


def test_an_older_file_of_bytes_has_the_unit_bytes(tmp_path: Path) -> None:
    path = write(tmp_path, BYTES_COUNTS)
    assert cells(path, "unit", "occurrences") == [("bytes", 18), ("bytes", 59)]
    assert read_counts(path, "pattern") == {"scan:c": {"the file": 18.0, "If the": 59.0}}
    assert invoke("report", path, "-o", tmp_path / "page.html").code == 0


def test_older_totals_are_estimates_if_their_notes_say_so(tmp_path: Path) -> None:
    path = write(tmp_path, TOTALS)
    assert cells(path, "unit", "estimated") == [("bytes", True), ("bytes", False)]


@pytest.mark.parametrize("suffix", [".csv", ".csv.gz", ".jsonl", ".json", ".parquet"])
def test_the_printed_command_converts_counts_of_tokens(suffix: str, tmp_path: Path) -> None:
    new = converted(write(tmp_path, TOKEN_COUNTS, suffix))
    names = ("index", "unit", "query", "occurrences", "occurrences_after_space", "tokens")
    assert cells(new, *names, "per_million_tokens") == [
        ("tokens:c", "tokens", "the file", 12, 11, "272 1729 | 1237 1729", 106.5),
        ("tokens:c", "tokens", "If the", 52, 36, "1047 272", 459.25),
    ]
    assert not [name for name in read_results(new).columns if name.startswith("token_")]


def test_the_printed_command_converts_counts_of_both_units(tmp_path: Path) -> None:
    new = converted(write(tmp_path, MIXED_COUNTS))
    assert cells(new, "unit", "occurrences", "documents", "occurrences_after_space") == [
        ("bytes", 18, 13, None),
        ("tokens", 12, None, 11),
    ]
    page = tmp_path / "page.html"
    assert invoke("report", new, "-o", page).code == 0
    assert "Counts, over bytes and over tokens" in page.read_text()


def test_the_printed_command_converts_documents_of_tokens(tmp_path: Path) -> None:
    new = converted(write(tmp_path, TOKEN_DOCNORM))
    names = ("unit", "occurrences", "documents", "documents_low", "documents_high")
    assert cells(new, *names, "occurrences_per_document", "documents_upper_estimate") == [
        ("tokens", 627, 8, 3, 66, 83.5, 8),
        ("tokens", 12, None, 8, 9, None, 9),
    ]


def test_the_printed_command_converts_totals_of_both_units(tmp_path: Path) -> None:
    new = converted(write(tmp_path, TOTALS + TOKEN_TOTALS))
    assert cells(new, "unit", "statistic", "value") == [
        ("bytes", "sum_of_pattern_counts", 77),
        ("bytes", "patterns", 2),
        ("tokens", "sum_of_pattern_counts", 64),
        ("tokens", "sum_per_million_tokens", 565.75),
    ]


def test_a_refusal_says_which_columns_to_rename(tmp_path: Path) -> None:
    path = write(tmp_path, TOKEN_COUNTS)
    expected = (
        "rows over tokens of an earlier version; rename token_occurrences to occurrences,"
        " token_occurrences_after_space to occurrences_after_space, and add a column unit: tokens"
    )
    with pytest.raises(InputError) as refused:
        read_counts(path, "pattern")
    assert expected in str(refused.value)
    ran = invoke("report", path, "-o", tmp_path / "page.html")
    assert ran.code == 2
    assert expected in " ".join(ran.stderr.split())


def test_counts_that_a_user_names_are_read_from_any_table(tmp_path: Path) -> None:
    path = write(tmp_path, TOKEN_COUNTS)
    found = read_counts(path, "pattern", "token_occurrences")
    assert found == {"tokens:c": {"the file": 12.0, "If the": 52.0}}


def test_rows_of_an_index_over_tokens_need_a_unit(tmp_path: Path) -> None:
    path = write(tmp_path, BYTES_COUNTS.replace("scan:c", "infini-gram:c"))
    with pytest.raises(InputError, match=r":2: no unit, and infini-gram:c may be over tokens"):
        read_results(path)
