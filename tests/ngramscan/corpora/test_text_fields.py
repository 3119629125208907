"""Where the text of a record is: one path language for JSON lines, lists, Parquet and Arrow."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import ngramscan
from ngramscan.errors import CorpusError
from tests.support.command import invoke
from tests.support.corpus_documents import read_documents

TALK = [
    {"role": "user", "content": "Is it so?"},
    {"role": "assistant", "content": "Step by step."},
    {"role": "assistant", "content": "So it is."},
]


def write_lines(path: Path, rows: list[dict[str, Any]]) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))


def write_list(path: Path, rows: list[dict[str, Any]]) -> None:
    path.write_text(json.dumps(rows, indent=2))


def write_parquet(path: Path, rows: list[dict[str, Any]]) -> None:
    pq.write_table(pa.Table.from_pylist(rows), path)


def write_arrow(path: Path, rows: list[dict[str, Any]]) -> None:
    table = pa.Table.from_pylist(rows)
    with pa.ipc.new_stream(str(path), table.schema) as stream:
        stream.write_table(table)


def write_feather(path: Path, rows: list[dict[str, Any]]) -> None:
    table = pa.Table.from_pylist(rows)
    with pa.ipc.new_file(str(path), table.schema) as file:
        file.write_table(table)


WRITERS: dict[str, Callable[[Path, list[dict[str, Any]]], None]] = {
    "c.jsonl": write_lines,
    "c.json": write_list,
    "c.parquet": write_parquet,
    "c.arrow": write_arrow,
    "c.feather": write_feather,
}


@pytest.mark.parametrize("name", WRITERS)
@pytest.mark.parametrize(
    ("row", "field", "text"),
    [
        pytest.param({"text": "plain"}, "text", "plain", id="a string"),
        pytest.param({"text": ["a", "b"]}, "text", "a\nb", id="a list of strings"),
        pytest.param({"text": [["a"], ["b", "c"]]}, "text", "a\nb\nc", id="lists in a list"),
        pytest.param({"doc": {"body": "inside"}}, "doc.body", "inside", id="an object"),
        pytest.param({"a": {"b": {"c": "deep"}}}, "a.b.c", "deep", id="three levels"),
        pytest.param(
            {"messages": TALK},
            "messages.content",
            "Is it so?\nStep by step.\nSo it is.",
            id="a list of objects",
        ),
        pytest.param(
            {"messages": TALK},
            "messages[role=assistant].content",
            "Step by step.\nSo it is.",
            id="those of one role",
        ),
        pytest.param({"a.b": "flat"}, "a.b", "flat", id="a name with a dot"),
        pytest.param({"m[role=x].c": "odd"}, "m[role=x].c", "odd", id="a name like a path"),
        pytest.param(
            {"m": [{"role": "a.b", "c": "dotted"}, {"role": "d", "c": "no"}]},
            "m[role=a.b].c",
            "dotted",
            id="a value with a dot",
        ),
        pytest.param({"m": [{"c": "said"}, {"c": None}]}, "m.c", "said", id="a null beside a text"),
        pytest.param({"body": "yes", "t": "no"}, "text,body,t", "yes", id="the first of several"),
        pytest.param({"m": [{"c": "x"}], "n": 3}, "text,m.c", "x", id="a path of several"),
        pytest.param({"a,b": "whole", "a": "no"}, "a,b", "whole", id="a name with a comma"),
        pytest.param({"m": [{"k": "a,b", "c": "x"}]}, "m[k=a,b].c", "x", id="a value with a comma"),
    ],
)
def test_a_text_is_found_by_its_path(
    tmp_path: Path, name: str, row: dict[str, Any], field: str, text: str
) -> None:
    WRITERS[name](tmp_path / name, [row, row])
    assert read_documents(tmp_path / name, text_field=field) == ([text, text], [1, 2], {})


@pytest.mark.parametrize("name", WRITERS)
@pytest.mark.parametrize(
    ("row", "field", "problem"),
    [
        pytest.param({"text": 3}, "text", r"'text' is int(64)?", id="a number"),
        pytest.param({"text": ["a", None], "n": [3]}, "n", "'n' is int", id="a list of numbers"),
        pytest.param({"a": {"b": "x"}}, "a.c", "no field 'a.c'", id="no such field inside"),
        pytest.param({"a": {"b": "x"}}, "c.b", "no (field|column) 'c", id="no such field"),
        pytest.param({"a": {"b": "x"}}, "a", "'a' is dict; expected a string", id="an object"),
        pytest.param(
            {"messages": TALK},
            "messages[role=system].content",
            "no object in 'messages' has role=system; they have: user, assistant",
            id="no such role",
        ),
        pytest.param({"m": [{"c": None}]}, "m.c", "is null", id="nothing but nulls"),
        pytest.param(
            {"title": "x"},
            "text,body",
            "no (field|column) 'text,body'; it has: title",
            id="several",
        ),
    ],
)
def test_a_path_that_leads_to_no_text_is_refused(
    tmp_path: Path, name: str, row: dict[str, Any], field: str, problem: str
) -> None:
    WRITERS[name](tmp_path / name, [row])
    with pytest.raises(CorpusError, match=problem):
        read_documents(tmp_path / name, text_field=field)


def test_each_record_has_its_text_in_the_first_field_that_it_has(tmp_path: Path) -> None:
    rows = [{"body": "one", "text": "no"}, {"text": "two"}, {"body": "three"}]
    for name in ("c.jsonl", "c.json"):
        WRITERS[name](tmp_path / name, rows)
        texts, _, _ = read_documents(tmp_path / name, text_field="body,text")
        assert texts == ["one", "two", "three"]
    write_lines(tmp_path / "bad.jsonl", [*rows, {"title": "x"}])
    with pytest.raises(CorpusError, match=r"bad.jsonl:4: no field 'body,text'; it has: title"):
        read_documents(tmp_path / "bad.jsonl", text_field="body,text")


@pytest.mark.parametrize("name", WRITERS)
@pytest.mark.parametrize(
    ("rows", "field"),
    [
        pytest.param([{"text": "a"}, {"text": None}, {"text": "b"}], "text", id="strings"),
        pytest.param(
            [{"m": [{"c": "a"}]}, {"m": [{"c": None}]}, {"m": [{"c": "b"}]}], "m.c", id="inside"
        ),
    ],
)
def test_nulls_are_refused_or_skipped_and_counted(
    tmp_path: Path, name: str, rows: list[dict[str, Any]], field: str
) -> None:
    WRITERS[name](tmp_path / name, rows)
    with pytest.raises(CorpusError, match=r"2: .* is null; expected a string \(see --skip-null\)"):
        read_documents(tmp_path / name, text_field=field)
    assert read_documents(tmp_path / name, text_field=field, skip_null=True) == (
        ["a", "b"],
        [1, 3],
        {"null": 1},
    )


@pytest.mark.parametrize(
    ("name", "cure"),
    [
        pytest.param("c.jsonl", "; --skip-bad-lines leaves out such lines", id="JSON lines"),
        pytest.param("c.parquet", r" \(see --text-field\)", id="Parquet"),
    ],
)
def test_the_error_of_a_text_of_another_type_names_an_option(
    tmp_path: Path, name: str, cure: str
) -> None:
    WRITERS[name](tmp_path / name, [{"m": [{"c": 3}]}])
    problem = rf"1: field 'm.c' is int; expected a string{cure}$"
    with pytest.raises(CorpusError, match=problem):
        read_documents(tmp_path / name, text_field="m.c")


def test_skipped_nulls_are_said_in_every_row_and_bad_lines_still_stop(tmp_path: Path) -> None:
    path = tmp_path / "c.jsonl"
    write_lines(path, [{"text": "step by step"}, {"text": None}])
    options = ("-e", "step by step", "--index", f"scan:{path}", "--skip-null", "--format", "csv")
    done = invoke("count", *options)
    assert (done.code, "skipped: 1 null" in done.stdout) == (0, True)
    with path.open("a") as file:
        file.write("{bad\n")
    assert invoke("count", *options).code == 1


def test_an_index_is_built_from_paths_and_keeps_the_other_fields(tmp_path: Path) -> None:
    rows: list[dict[str, Any]] = [{"id": "x", "messages": TALK}, {"id": "y", "messages": None}]
    write_lines(tmp_path / "c.jsonl", rows)
    built = ngramscan.index_build(
        str(tmp_path / "c.jsonl"),
        output=tmp_path / "index",
        text_field="messages[role=assistant].content",
        skip_null=True,
    )
    assert built["documents"].tolist() == [1]
    contexts = ngramscan.contexts(literal="Step by step.", index=f"fm9:{tmp_path / 'index'}")
    (metadata,) = (json.loads(line) for line in contexts["metadata"])
    assert metadata["metadata"] == {"id": "x"}


@pytest.mark.parametrize(
    "kind",
    [
        pytest.param(pa.string_view(), id="string_view"),
        pytest.param(pa.large_string(), id="large_string"),
        pytest.param(pa.dictionary(pa.int32(), pa.large_string()), id="dictionary"),
        pytest.param(pa.binary(), id="binary"),
        pytest.param(pa.large_binary(), id="large_binary"),
    ],
)
@pytest.mark.parametrize("suffix", ["parquet", "arrow"])
def test_strings_of_every_arrow_type_are_read(
    tmp_path: Path, kind: pa.DataType, suffix: str
) -> None:
    texts = ["step by step", "", "é中😀" * 9, None]
    table = pa.table({"text": pa.array(texts).cast(kind)})
    path = tmp_path / f"c.{suffix}"
    if suffix == "parquet":
        pq.write_table(table, path)
    else:
        with pa.ipc.new_file(str(path), table.schema) as file:
            file.write_table(table)
    assert read_documents(path, skip_null=True) == (texts[:3], [1, 2, 3], {"null": 1})


def test_bytes_of_a_column_that_are_not_utf8_are_refused(tmp_path: Path) -> None:
    pq.write_table(pa.table({"text": [b"fine", b"\xe9"]}), tmp_path / "c.parquet")
    with pytest.raises(CorpusError, match="the text is not UTF-8"):
        read_documents(tmp_path / "c.parquet")


@pytest.mark.parametrize("name", ["c.parquet", "c.arrow", "c.csv"])
def test_two_columns_of_one_name_are_refused(tmp_path: Path, name: str) -> None:
    table = pa.table([pa.array(["a"]), pa.array(["b"])], names=["text", "text"])
    pq.write_table(table, tmp_path / "c.parquet")
    with pa.ipc.new_file(str(tmp_path / "c.arrow"), table.schema) as file:
        file.write_table(table)
    (tmp_path / "c.csv").write_text("text,text\na,b\n")
    with pytest.raises(CorpusError, match="several columns are named 'text'; rename all but"):
        read_documents(tmp_path / name)
