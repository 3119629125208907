"""Parquet without some rows: what stays is equal in all columns, types, codecs and metadata."""

import datetime
import decimal
import io
import json
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ngramscan.corpora.base import CorpusFile, ReadOptions
from ngramscan.corpora.rewriting.parquet_files import check_parquet, rewrite_parquet
from ngramscan.corpora.rewriting.removals import WHOLE_RECORD, Removal
from ngramscan.errors import CorpusError

ROWS = 40
TWO_TEXTS = ["first", "second"]
CODECS = {"text": "zstd", "id": "none", "kind": "gzip", "score": "snappy"}


def table_of(kind: pa.DataType | None = None) -> pa.Table:
    """Return rows with all that is hard: nested columns, dictionaries, nulls, exact times."""
    numbers = range(ROWS)
    texts = [None if n == 7 else f"text {n} é" for n in numbers]
    day = datetime.datetime(2026, 11, 30, tzinfo=datetime.UTC)
    columns = {
        "id": pa.array(numbers, pa.int16()),
        "text": pa.array(texts, pa.string()).cast(kind or pa.string()),
        "kind": pa.array(
            [None if n % 5 == 0 else f"k{n % 3}" for n in numbers]
        ).dictionary_encode(),
        "messages": pa.array(
            [
                None if n == 3 else [{"role": "user", "content": f"m{n}", "n": None}] * (n % 3)
                for n in numbers
            ],
            pa.list_(pa.struct({"role": pa.string(), "content": pa.string(), "n": pa.int8()})),
        ),
        "when": pa.array(
            [(day.timestamp() * 10**9) + n for n in numbers], pa.timestamp("ns", "UTC")
        ),
        "price": pa.array([decimal.Decimal(n) / 100 for n in numbers], pa.decimal128(9, 2)),
        "time": pa.array(range(ROWS), pa.time64("us")),
        "score": pa.array([None if n % 4 == 0 else n / 7 for n in numbers], pa.float32()),
        "map": pa.array([[("a", n)] for n in numbers], pa.map_(pa.string(), pa.int64())),
        "blob": pa.array([bytes([n, 255]) for n in numbers], pa.binary(2)),
    }
    return pa.table(columns).replace_schema_metadata({"huggingface": "{}", "é": "ü"})


def written(path: Path, table: pa.Table, **options: Any) -> CorpusFile:
    options = {
        "row_group_size": 15,
        "compression": {name: CODECS.get(name, "lz4") for name in table.column_names},
        **options,
    }
    pq.write_table(table, path, **options)
    return CorpusFile(str(path), "parquet", path.stat().st_size)


def rewritten(
    file: CorpusFile, removals: Mapping[int, Removal], field: str = "text"
) -> pq.ParquetFile:
    sizes: list[int] = []
    outputs = [io.BytesIO(), io.BytesIO()]
    for output in outputs:
        rewrite_parquet(file, output, removals, ReadOptions(text_field=field), sizes.append)
    assert outputs[0].getvalue() == outputs[1].getvalue()
    return pq.ParquetFile(pa.BufferReader(outputs[0].getvalue()), page_checksum_verification=True)


def expected_table(table: pa.Table, removals: Mapping[int, Removal]) -> pa.Table:
    """Return the rows that stay; all passages in these tests are the first two characters."""
    stays = [n for n in range(table.num_rows) if removals.get(n + 1) != WHOLE_RECORD]
    cut_rows = {number for number, removal in removals.items() if removal.ranges}
    texts = [table["text"][n].as_py() for n in stays]
    new = [text[2:] if n + 1 in cut_rows else text for n, text in zip(stays, texts, strict=True)]
    place = table.schema.get_field_index("text")
    column = pa.array(
        new, pa.string() if pa.types.is_dictionary(table["text"].type) else table["text"].type
    )
    return table.take(stays).set_column(
        place, table.schema.field(place), column.cast(table["text"].type)
    )


@pytest.mark.parametrize(
    "kind",
    [pa.string(), pa.large_string(), pa.dictionary(pa.int32(), pa.string())],
    ids=str,
)
def test_rows_that_stay_are_equal_in_all_columns(tmp_path: Path, kind: pa.DataType) -> None:
    table = table_of(kind)
    file = written(tmp_path / "c.parquet", table, write_page_index=True)
    source = pq.ParquetFile(file.path)
    # Rows 16 to 30 are the second row group, which leaves; row 8 has no text.
    removals = dict.fromkeys((1, 15, *range(16, 31), 40), WHOLE_RECORD) | {
        3: Removal(((0, 2),)),
        33: Removal(((1, 2), (0, 1))),
    }
    new = rewritten(file, removals)
    read = new.read()
    assert read.schema.equals(source.schema_arrow, check_metadata=True)
    expected = expected_table(source.read(), removals)
    assert read.to_pylist() == expected.to_pylist()
    assert read.drop(["text", "kind"]).equals(expected.drop(["text", "kind"]))
    assert new.schema.equals(source.schema)
    assert [new.metadata.row_group(n).num_rows for n in range(new.num_row_groups)] == [13, 9]
    for number in range(source.metadata.num_columns):
        first, second = (each.metadata.row_group(0).column(number) for each in (source, new))
        for name in (
            "path_in_schema",
            "compression",
            "has_dictionary_page",
            "is_stats_set",
            "has_column_index",
        ):
            assert getattr(first, name) == getattr(second, name)


def test_a_file_of_which_no_row_stays_has_its_schema(tmp_path: Path) -> None:
    file = written(tmp_path / "c.parquet", table_of())
    new = rewritten(file, {n: WHOLE_RECORD for n in range(1, ROWS + 1) if n != 8})
    assert new.read().to_pylist() == table_of().slice(7, 1).to_pylist()
    file = written(tmp_path / "d.parquet", pa.table({"text": ["a"]}))
    new = rewritten(file, {1: WHOLE_RECORD})
    assert new.metadata.num_rows == 0
    assert new.schema_arrow == pa.schema({"text": pa.string()})


@pytest.mark.parametrize(
    "options",
    [
        pytest.param({"version": "1.0"}, id="version 1.0"),
        pytest.param({"use_compliant_nested_type": False}, id="old names in lists"),
        pytest.param({"store_schema": False}, id="no Arrow schema"),
        pytest.param({"use_deprecated_int96_timestamps": True}, id="INT96"),
        pytest.param({"store_decimal_as_integer": True}, id="decimals as integers"),
        pytest.param({"compression": "brotli", "use_dictionary": False}, id="no dictionaries"),
        pytest.param({"write_statistics": ["id"]}, id="statistics of a column"),
        pytest.param({"write_time_adjusted_to_utc": True}, id="times in UTC"),
        pytest.param({"sorting_columns": [pq.SortingColumn(0)]}, id="sorted"),
    ],
)
def test_other_ways_to_write_a_file_are_kept(tmp_path: Path, options: dict[str, Any]) -> None:
    file = written(tmp_path / "c.parquet", table_of(), **options)
    source, new = pq.ParquetFile(file.path), rewritten(file, {2: WHOLE_RECORD})
    check_parquet(file, ReadOptions())
    assert new.read().to_pylist() == source.read().take([0, *range(2, ROWS)]).to_pylist()
    assert new.schema_arrow.equals(source.schema_arrow, check_metadata=True)
    assert new.metadata.row_group(0).sorting_columns == source.metadata.row_group(0).sorting_columns
    for number in range(source.metadata.num_columns):
        first, second = (each.metadata.row_group(0).column(number) for each in (source, new))
        for name in (
            "path_in_schema",
            "physical_type",
            "compression",
            "has_dictionary_page",
            "is_stats_set",
        ):
            assert getattr(first, name) == getattr(second, name)


def by_duckdb(query: str) -> list[dict[str, Any]]:
    made = subprocess.run(["duckdb", "-json", "-c", query], capture_output=True, check=True)
    rows: list[dict[str, Any]] = json.loads(made.stdout or b"[]")
    return rows


def test_files_of_another_program_are_the_same_to_it(tmp_path: Path) -> None:
    path, new = tmp_path / "c.parquet", tmp_path / "new.parquet"
    columns = (
        "i AS id",
        "'text ' || i AS text",
        "[i, i + 1] AS list",
        "{'a': i, 'b': [{'c': 'x' || i}]} AS nested",
        "map {'k': i} AS pairs",
        "i::decimal(9, 2) AS price",
        "timestamp '2026-11-30 10:00:00' + to_seconds(i) AS at",
        "timestamptz '2026-11-30 10:00:00+02' AS zoned",
        "uuid() AS uuid",
        """'{"a": 1}'::json AS json""",
        "(i % 7)::utinyint AS tiny",
        "CASE WHEN i % 3 = 0 THEN NULL ELSE time '10:00:00' END AS time",
    )
    rows = f"SELECT {', '.join(columns)} FROM range(5000) AS r(i)"
    options = "FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE 2048"
    by_duckdb(f"COPY ({rows}) TO '{path}' ({options})")
    file = CorpusFile(str(path), "parquet", path.stat().st_size)
    with new.open("wb") as output:
        removals = {2: WHOLE_RECORD, 5: Removal(((0, 5),))}
        rewrite_parquet(file, output, removals, ReadOptions(), lambda _: None)
    types = [by_duckdb(f"DESCRIBE SELECT * FROM '{each}'") for each in (path, new)]
    assert types[0] == types[1]
    before, after = (by_duckdb(f"SELECT * FROM '{each}' ORDER BY id") for each in (path, new))
    del before[1]
    before[3]["text"] = "4"
    assert before == after
    assert pq.ParquetFile(new).num_row_groups == 3


def test_metadata_stay_without_an_arrow_schema(tmp_path: Path) -> None:
    path = tmp_path / "c.parquet"
    table = pa.table({"text": TWO_TEXTS})
    with pq.ParquetWriter(path, table.schema, store_schema=False) as writer:
        writer.write_table(table)
        writer.add_key_value_metadata({"origin": "é"})
    new = rewritten(CorpusFile(str(path), "parquet", path.stat().st_size), {1: WHOLE_RECORD})
    assert new.metadata.metadata == {b"origin": "é".encode()}
    assert new.read()["text"].to_pylist() == TWO_TEXTS[1:]


def test_a_column_that_would_be_another_is_refused_by_name(tmp_path: Path) -> None:
    path = tmp_path / "c.parquet"
    by_duckdb(f"COPY (SELECT 'a' AS text, INTERVAL 1 DAY AS span) TO '{path}' (FORMAT parquet)")
    file = CorpusFile(str(path), "parquet", path.stat().st_size)
    message = r"c\.parquet: columns that can't be written again as they are: span; write the file"
    with pytest.raises(CorpusError, match=message):
        check_parquet(file, ReadOptions())


def test_a_file_with_cut_texts_is_not_said_to_be_sorted(tmp_path: Path) -> None:
    file = written(tmp_path / "c.parquet", table_of(), sorting_columns=[pq.SortingColumn(1)])
    new = rewritten(file, {1: Removal(((0, 1),))})
    assert new.metadata.row_group(0).sorting_columns == ()


def test_texts_inside_of_columns_are_cut(tmp_path: Path) -> None:
    table = table_of()
    file = written(tmp_path / "c.parquet", table)
    # Row 6 has two messages: m5⏎m5.
    new = rewritten(file, {6: Removal(((1, 4),)), 5: WHOLE_RECORD}, "messages[role=user].content")
    expected = table.take([n for n in range(ROWS) if n != 4]).to_pylist()
    expected[4]["messages"][0]["content"] = "m"
    expected[4]["messages"][1]["content"] = "5"
    assert new.read().to_pylist() == expected


def test_bytes_are_cut_by_characters(tmp_path: Path) -> None:
    table = pa.table({"text": pa.array(["éab".encode(), "中文".encode()], pa.binary())})
    new = rewritten(
        written(tmp_path / "c.parquet", table), {1: Removal(((1, 2),)), 2: Removal(((0, 1),))}
    )
    assert new.read()["text"].to_pylist() == ["éb".encode(), "文".encode()]


def test_values_next_to_a_text_that_would_change_stop_it(tmp_path: Path) -> None:
    kind = pa.struct({"content": pa.string(), "x": pa.float32()})
    table = pa.table({"m": pa.array([{"content": "abc", "x": float("nan")}], kind)})
    file = written(tmp_path / "c.parquet", table)
    with pytest.raises(
        CorpusError, match=r"c\.parquet: row 1: its text can't be cut: other values"
    ):
        rewritten(file, {1: Removal(((0, 1),))}, "m.content")
    assert rewritten(file, {1: WHOLE_RECORD}, "m.content").metadata.num_rows == 0


def test_a_file_without_rows_has_none_to_remove(tmp_path: Path) -> None:
    file = written(tmp_path / "c.parquet", pa.table({"text": pa.array([], pa.string())}))
    check_parquet(file, ReadOptions())
    with pytest.raises(CorpusError, match=r"c\.parquet: it has 0 rows, and row 1 was to be"):
        rewritten(file, {1: WHOLE_RECORD})


@pytest.mark.parametrize(
    ("number", "message"),
    [
        pytest.param(41, "c.parquet: it has 40 rows, and row 41 was to be removed", id="after"),
        pytest.param(8, "c.parquet: row 8: field 'text' is null", id="null"),
        pytest.param(1, "c.parquet: row 1: its text has 8 characters", id="too long"),
    ],
)
def test_rows_that_are_not_there_stop_it(tmp_path: Path, number: int, message: str) -> None:
    file = written(tmp_path / "c.parquet", table_of())
    with pytest.raises(CorpusError, match=message):
        rewritten(file, {number: Removal(((0, 99),))})


def test_a_damaged_row_group_stops_it(tmp_path: Path) -> None:
    path = tmp_path / "c.parquet"
    file = written(path, table_of(), compression="zstd", write_page_checksum=True)
    path.write_bytes(bytes(90) + path.read_bytes()[90:])
    with pytest.raises(CorpusError, match=r"c\.parquet: row group 0: can't be read"):
        rewritten(file, {1: WHOLE_RECORD})
