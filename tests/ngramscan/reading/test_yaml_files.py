"""YAML of users: values by their kind, and errors that name the line and the key at fault."""

from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from ngramscan.errors import InputError
from ngramscan.reading.yaml_files import Node, as_type, compose_yaml, parse_yaml, read_text


class Settings(msgspec.Struct, forbid_unknown_fields=True):
    """Settings with a name and a number."""

    name: str
    number: int = 3


@pytest.mark.parametrize(
    ("content", "text"),
    [
        (b"\xef\xbb\xbfa\r\nb\rc\n", "a\nb\nc\n"),
        ("é\n".encode(), "é\n"),
        (b"", ""),
        (b"x" * 200_000 + b"y", "x" * 200_000 + "y"),
    ],
    ids=["mark and line ends", "UTF-8", "empty", "longer than a read"],
)
def test_a_text_is_read_whatever_ends_its_lines(tmp_path: Path, content: bytes, text: str) -> None:
    (tmp_path / "a.yaml").write_bytes(content)
    assert read_text(tmp_path / "a.yaml") == text


def test_a_text_that_cannot_be_read_is_refused_with_its_name(tmp_path: Path) -> None:
    file = tmp_path / "a.yaml"
    with pytest.raises(InputError) as error:
        read_text(file)
    assert str(error.value) == f"{file}: no such file or directory"
    file.write_bytes(b"ab\xff")
    with pytest.raises(InputError) as error:
        read_text(file)
    assert str(error.value) == f"{file}: not UTF-8 at byte 2"


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("a: 1\nb: [x, 'y']", {"a": 1, "b": ["x", "y"]}),
        ("- {a: 1}\n- {a: 2}", [{"a": 1}, {"a": 2}]),
        ("", None),
    ],
    ids=["a mapping", "the same key of two", "nothing"],
)
def test_what_yaml_says_is_its_value(text: str, value: object) -> None:
    assert parse_yaml(text, "a.yaml") == value


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("x: 1\ny:\n  a: 1\n  b: 2\n  a: 3\n", "a.yaml:3: not valid YAML: a appears twice"),
        ("x: 1\ny: [1\n", "a.yaml:3: not valid YAML: expected ',' or ']'"),
        ("x: \x07", "a.yaml: not valid YAML: unacceptable character"),
        ("x: 2026-13-40", "a.yaml: not valid YAML: month must be in 1..12"),
        ("[" * 5000, "a.yaml: not valid YAML: it is nested too deeply"),
        ("x: !!python/object:os.system a", "a.yaml:1: not valid YAML: could not determine"),
    ],
    ids=["a key twice", "an open list", "a control character", "no date", "deep", "an object"],
)
def test_what_is_no_yaml_is_refused_with_its_line(text: str, problem: str) -> None:
    with pytest.raises(InputError) as error:
        parse_yaml(text, "a.yaml")
    assert str(error.value).startswith(problem)


def test_values_become_types() -> None:
    assert as_type({"name": "a"}, Settings, "a.yaml") == Settings("a", 3)
    assert as_type({"name": "a", "number": "7"}, Settings, "t", strict=False) == Settings("a", 7)


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        ({"name": 1}, "a.yaml: name: Expected str, got int"),
        ({"name": "a", "number": "7"}, "a.yaml: number: Expected int, got str"),
        ({"number": 7}, "a.yaml: Object missing required field name"),
        (
            {"name": "a", "nmae": 1},
            "a.yaml: Object contains unknown field nmae; known are name, number",
        ),
    ],
    ids=["another type", "a number as text", "a missing key", "an unknown key"],
)
def test_a_value_of_another_type_is_refused_with_its_key(value: object, problem: str) -> None:
    with pytest.raises(InputError) as error:
        as_type(value, Settings, "a.yaml")
    assert str(error.value) == problem


DOCUMENT = """\
name: first
list:
  - one
  - {deep: [x, 3]}
empty: []
blank: ''
number: 3
nul: "a\\0b"
half: "\\ud83d"
"""
KEYS = frozenset({"name", "list", "empty", "blank", "number", "nul", "half"})


def fields() -> dict[str, Node]:
    """Return the values of the document."""
    return compose_yaml(DOCUMENT, "a.yaml").fields(KEYS)


def test_nodes_know_their_lines_and_values() -> None:
    found = fields()
    assert [found[name].line for name in ("name", "list", "blank", "number")] == [1, 3, 6, 7]
    assert found["name"].string() == "first"
    assert found["name"].choice(["other", "first"]) == "first"
    assert [item.line for item in found["list"].items()] == [3, 4]
    deep = found["list"].items()[1].fields({"deep"}, {"more"})["deep"]
    assert deep.value() == ["x", 3]
    assert str(deep.error("wrong")) == "a.yaml:4: list[1].deep: wrong"
    assert found["empty"].items(may_be_empty=True) == []
    assert found["blank"].string(may_be_empty=True) == ""
    assert compose_yaml("", "a.yaml").line == 1
    assert str(compose_yaml("", "a.yaml").error("wrong")) == "a.yaml: wrong"
    assert str(compose_yaml("a", "a.yaml").error("wrong")) == "a.yaml:1: wrong"


@pytest.mark.parametrize(
    ("read", "key", "problem"),
    [
        pytest.param(Node.items, "name", ":1: name: expected a list", id="no list"),
        pytest.param(
            Node.items, "empty", ":5: empty: expected a list that is not empty", id="empty list"
        ),
        pytest.param(
            Node.string, "number", ":7: number: expected a string; put it in quotes", id="a number"
        ),
        pytest.param(
            Node.string, "empty", ":5: empty: expected a string; put it in quotes", id="no scalar"
        ),
        pytest.param(Node.string, "blank", ":6: blank: it is empty", id="an empty text"),
        pytest.param(Node.string, "nul", ":8: nul: it has a NUL character", id="a NUL"),
        pytest.param(
            Node.string, "half", ":9: half: it has a lone surrogate, which is not text", id="a half"
        ),
    ],
)
def test_a_value_of_another_kind_is_refused_with_its_line_and_key(
    read: Callable[[Node], object], key: str, problem: str
) -> None:
    node = fields()[key]
    with pytest.raises(InputError) as error:
        read(node)
    assert str(error.value) == f"a.yaml{problem}"


def test_a_text_that_is_no_choice_is_refused() -> None:
    node = fields()["name"]
    with pytest.raises(InputError, match=r"a\.yaml:1: name: 'first' is none of a, b$"):
        node.choice(["a", "b"])


def test_a_date_that_there_is_not_is_refused_with_its_line() -> None:
    node = compose_yaml("a: 2026-13-40", "a.yaml").fields({"a"})["a"]
    with pytest.raises(InputError, match=r"a\.yaml:1: a: not valid YAML: month must be in 1\.\.12"):
        node.value()


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("[a]", ":1: expected a mapping"),
        ("a: 1\nc: 2", ":2: unknown key 'c'; known: a, b, d"),
        ("a: 1\n\na: 2", ":3: the key 'a' appears twice"),
        ("b: 1", ":1: no a, no d"),
    ],
    ids=["no mapping", "an unknown key", "a key twice", "missing keys"],
)
def test_a_mapping_of_other_keys_is_refused_with_its_line(text: str, problem: str) -> None:
    node = compose_yaml(text, "a.yaml")
    with pytest.raises(InputError) as error:
        node.fields({"a", "d"}, {"b"})
    assert str(error.value) == f"a.yaml{problem}"
