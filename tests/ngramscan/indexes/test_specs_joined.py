"""`tokens:DIR,DIR`: several folders or URLs that are one index, in specs."""

from pathlib import Path

import pytest

from ngramscan.cli import complete
from ngramscan.indexes.kinds import TOKENS, draw_name, expanded
from ngramscan.indexes.spec_files import is_read, local_files
from ngramscan.indexes.specs import IndexSpec, read_specs
from tests.support.command import invoke


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Go to a folder that has some folders and a file."""
    monkeypatch.chdir(tmp_path)
    for folder in ("first", "second", "with,comma", "year=2020", "v2_dclm_all"):
        Path(folder).mkdir()
    Path("web.jsonl").write_text('{"text": "a b"}\n')
    return tmp_path


@pytest.mark.parametrize(
    ("value", "specs"),
    [
        pytest.param("tokens:first,second", [("", "tokens:first,second")], id="two folders"),
        pytest.param("tokens:a,b,c", [("", "tokens:a,b,c")], id="three that are not there"),
        pytest.param("tokens:a, b,", [("", "tokens:a,b")], id="spaces and a comma at the end"),
        pytest.param("olmo=tokens:a,b", [("olmo", "tokens:a,b")], id="a name for both"),
        pytest.param(
            "tokens:a,b,tokens:c,d",
            [("", "tokens:a,b"), ("", "tokens:c,d")],
            id="a prefix begins another index",
        ),
        pytest.param(
            "x=tokens:a,b,y=tokens:c",
            [("x", "tokens:a,b"), ("y", "tokens:c")],
            id="a name begins another index",
        ),
        pytest.param(
            "tokens:a,b,web=web.jsonl",
            [("", "tokens:a,b"), ("web", "web.jsonl")],
            id="a name without a prefix does, too",
        ),
        pytest.param(
            "tokens:a,year=2020", [("", "tokens:a,year=2020")], id="a folder with an equals sign"
        ),
        pytest.param(
            "tokens:a,dclm,b",
            [("", "tokens:a"), ("", "dclm"), ("", "b")],
            id="a hosted index begins another, and ends the list",
        ),
        pytest.param(
            "tokens:a,v2_dclm_all",
            [("", "tokens:a"), ("", "v2_dclm_all")],
            id="a hosted index goes before a folder of its name",
        ),
        pytest.param(
            "tokens:v4_pileval_llama,v4_pileval_gpt2",
            [("", "tokens:v4_pileval_llama,v4_pileval_gpt2")],
            id="downloaded folders have the names of token indexes",
        ),
        pytest.param(
            "tokens:a,python,paper",
            [("", "tokens:a"), ("", "python"), ("", "paper")],
            id="words for corpora",
        ),
        pytest.param(
            "first,tokens:a,b", [("", "first"), ("", "tokens:a,b")], id="a path before it"
        ),
        pytest.param(
            "tokens:with,comma", [("", "tokens:with,comma")], id="one folder with a comma"
        ),
        pytest.param("tokens:s3://a/x,s3://a/y", [("", "tokens:s3://a/x,s3://a/y")], id="two URLs"),
        pytest.param(
            "tokens:https://h/x,https://h/y,http://h/z",
            [("", "tokens:https://h/x,https://h/y,http://h/z")],
            id="addresses after a URL",
        ),
        pytest.param(
            "tokens:a,https://h/x",
            [("", "tokens:a"), ("", "https://h/x")],
            id="an address after a folder is an index of a service",
        ),
        pytest.param(
            "fm9:first,second", [("", "fm9:first,second")], id="other kinds stay as they were"
        ),
    ],
)
def test_places_after_a_comma_belong_to_the_index_before_them(
    value: str, specs: list[tuple[str, str]]
) -> None:
    expected = [IndexSpec(place, name) for name, place in specs]
    assert read_specs([value]) == expected
    assert read_specs([str(spec) for spec in expected]) == expected


def test_two_values_stay_two_indexes() -> None:
    assert read_specs(["tokens:first", "tokens:second"]) == [
        IndexSpec("tokens:first"),
        IndexSpec("tokens:second"),
    ]


def test_a_mapping_joins_folders_too() -> None:
    assert read_specs({"both": "tokens:first,second"}) == [IndexSpec("tokens:first,second", "both")]


def test_a_folder_with_a_comma_is_one_place() -> None:
    assert TOKENS.places_in("tokens:with,comma") == ["with,comma"]
    assert TOKENS.places_in("tokens:first,second") == ["first", "second"]


def test_the_home_folder_stands_for_each_tilde(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/someone")
    assert expanded("tokens:~/a,b,~/c") == "tokens:/home/someone/a,b,/home/someone/c"


def test_draws_depend_on_the_last_part_of_each_place() -> None:
    assert draw_name("tokens:x/first,/y/second/") == "first,second"
    assert draw_name("tokens:s3://bucket/first,s3://other/second/") == "first,second"
    assert draw_name("tokens:with,comma") == "with,comma"


def test_no_file_of_any_folder_is_overwritten() -> None:
    assert [path.name for path in local_files("both=tokens:first,second")] == ["first", "second"]
    for place in ("first/table.0", "second/table.0"):
        assert is_read("tokens:first,second", None, None, (), Path(place))
    assert not is_read("tokens:first,second", None, None, (), Path("table.0"))
    written = invoke("count", "-e", "a", "--index", "tokens:first,second", "-o", "second/new.csv")
    assert written.code == 2
    assert "second/new.csv: the command also reads it" in written.stderr


def test_shells_complete_the_last_place() -> None:
    def offered(typed: str) -> list[str]:
        values = complete("index", {"arguments": []}, typed) or ()
        return [value for value in values if value.startswith(typed)]

    assert offered("tokens:first,se") == ["tokens:first,second/"]
    assert offered("both=tokens:first,se") == ["both=tokens:first,second/"]
    assert offered("tokens:with,") == ["tokens:with,comma/"]


@pytest.mark.parametrize(
    ("spec", "problem"),
    [
        (
            "tokens:first,s3://bucket/x",
            "--index tokens:first,s3://bucket/x: s3://bucket/x is a URL, and first is not; "
            "give URLs only, or folders only",
        ),
        (
            "tokens:s3://bucket/x,s3://bucket/x/",
            "--index tokens:s3://bucket/x,s3://bucket/x/: s3://bucket/x is given twice: documents "
            "would be counted twice; give each URL once",
        ),
        ("tokens:first,none", "none: no such folder"),
        ("tokens:first,web.jsonl", "web.jsonl: not a folder; expected that of an index"),
        ("tokens:,", "--index tokens:,: nothing after the colon; expected "),
    ],
)
def test_places_that_can_not_be_joined_are_refused(spec: str, problem: str, here: Path) -> None:
    for file in ("tokenized", "table", "offset"):
        (here / "first" / f"{file}.0").write_bytes(
            {"tokenized": b"\xffa", "table": b"\x01\x00", "offset": bytes(8)}[file]
        )
    done = invoke("count", "-e", "a", "--index", spec, "-q")
    assert done.code == 2
    assert done.stderr.partition("Error: ")[2].startswith(problem)
    assert done.stderr.count("\n") <= 1


def test_many_long_places_are_not_too_long_together() -> None:
    places = [f"{number}{'x' * 100}" for number in range(60)]
    done = invoke("count", "-e", "a", "--index", f"tokens:{','.join(places)}", "-q")
    assert done.code == 2
    assert f"{places[0]}: no such folder" in done.stderr
