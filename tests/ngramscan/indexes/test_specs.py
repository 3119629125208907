"""Names that users give to corpora, and paths without a prefix, through the command line."""

import shutil
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

import ngramscan
from ngramscan.cli import complete
from ngramscan.errors import InputError
from ngramscan.indexes.specs import IndexSpec, read_specs, spec_of_path
from ngramscan.prevalence.several_corpora import ALL, UNION
from tests.support.command import Ran, invoke
from tests.support.corpus_files import jsonl
from tests.support.fm9_shards import write_shard
from tests.support.range_server import RangeServer
from tests.support.service import ApiServer
from tests.support.token_folders import write_folder

QUERY = "step by step"
TEXTS = ["step by step by step", "none", "let us think step by step. Then step by step again"] * 20
OCCURRENCES = sum(text.startswith(QUERY, at) for text in TEXTS for at in range(len(text)))


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the current folder, with the texts as a corpus and as indexes."""
    monkeypatch.chdir(tmp_path)
    Path("web.jsonl").write_bytes(jsonl(TEXTS))
    shutil.copy("web.jsonl", "a=b.jsonl")
    for folder in ("corpus", "year=2020"):
        Path(folder).mkdir()
        shutil.copy("web.jsonl", Path(folder, "part=1.jsonl"))
    write_shard(Path("my-index"), [text.encode() for text in TEXTS], [b"{}"] * len(TEXTS))
    write_folder(Path("my-tokens"), [[[*text.encode()] for text in TEXTS]], 1)
    return tmp_path


@pytest.fixture
def places(here: Path) -> Iterator[dict[str, str]]:
    """Yield a spec of each kind of index that has the texts."""
    with ExitStack() as stack:
        ranges = stack.enter_context(RangeServer(here))
        service = stack.enter_context(ApiServer({"x": here / "web.jsonl"}))
        yield {
            "scan": "scan:web.jsonl",
            "path": "corpus/",
            "fm9": "fm9:my-index",
            "in-place": f"fm9:{ranges.url}my-index",
            "service": f"{service.url}x",
            "tokens": "tokens:my-tokens",
        }


def run(command: str, *arguments: str) -> Ran:
    ran = invoke(command, QUERY, *arguments, "--journal", "j.sqlite", "--format", "csv")
    assert ran.code == 0, ran.stderr
    return ran


def index_options(specs: dict[str, str]) -> list[str]:
    return [part for name, spec in specs.items() for part in ("--index", f"{name}={spec}")]


@pytest.mark.parametrize("command", ["count", "docnorm", "contexts"])
def test_a_name_stands_in_the_rows_of_every_kind_of_index(
    command: str, places: dict[str, str]
) -> None:
    byte_places = {name: spec for name, spec in places.items() if name != "tokens"}
    chosen = places if command == "count" else byte_places
    named = run(command, *index_options(chosen)).rows
    for name, spec in chosen.items():
        rows = [row for row in named if row["index"] == name]
        plain = run(command, "--index", spec).rows
        changing = {"index", "asked_at", "source"}
        assert [{key: row[key] for key in row.keys() - changing} for row in rows] == [
            {key: row[key] for key in row.keys() - changing} for row in plain
        ]
    if command == "count":
        assert {row["index"]: int(row["occurrences"]) for row in named} == dict.fromkeys(
            chosen, OCCURRENCES
        )


def test_another_name_asks_for_nothing_again(here: Path) -> None:
    with ApiServer({"x": here / "web.jsonl"}) as api:
        first = run("docnorm", "--index", f"first={api.url}x", "--exact-up-to", "0")
        asked = [entry for entry in api.read_log() if entry.get("query") == QUERY]
        again = run("docnorm", "--index", f"second={api.url}x", "--exact-up-to", "0")
        assert [entry for entry in api.read_log() if entry.get("query") == QUERY] == asked
    assert asked
    numbers = [
        {key: row[key] for key in row if key not in {"index", "asked_at", "source"}}
        for ran in (first, again)
        for row in ran.rows
    ]
    assert numbers[0] == numbers[1]
    run("count", "--index", "first=scan:web.jsonl")
    read = run("count", "--index", "second=web.jsonl")
    assert "second: using cached results for 1 of 1 parts" in read.stderr


def test_sentences_tables_totals_plans_and_failures_have_the_names() -> None:
    two = ["--index", "web=web.jsonl,code=corpus"]
    shown = invoke("count", QUERY, *two)
    expected = f"“{QUERY}” occurs {OCCURRENCES} times in web and {OCCURRENCES} times in code."
    assert expected in shown.stdout
    assert "scan:" not in shown.stdout
    counted = invoke("count", "f1", *two, "--totals", "totals.csv", "--figure", "figure.svg")
    assert counted.code == 0
    totals = Path("totals.csv").read_text()
    assert {line.split(",")[0] for line in totals.splitlines()[1:]} >= {"web", "code"}
    assert "scan:" not in totals
    assert ">web<" in Path("figure.svg").read_text()
    plan = invoke("count", QUERY, *two, "--dry-run", "--format", "csv")
    assert [row["index"] for row in plan.rows] == ["web", "code"]
    failed = invoke("count", QUERY, "--index", "away=http://127.0.0.1:9/x", *two)
    assert failed.code == 1
    assert "away" in failed.stderr
    assert "web" in failed.stdout


def test_a_report_shows_the_names() -> None:
    two = ["--index", "web=web.jsonl,code=corpus"]
    assert invoke("count", "f1", *two, "-o", "rows.csv").code == 0
    assert invoke("report", "rows.csv", "-o", "page.html").code == 0
    page = Path("page.html").read_text()
    assert ">web<" in page
    assert ">code<" in page


def test_python_takes_names_as_a_mapping_and_as_texts() -> None:
    options: dict[str, Any] = {"literal": QUERY, "journal": "j.sqlite"}
    values: list[Any] = [
        {"web": "scan:web.jsonl", "code": "corpus"},
        ["web=scan:web.jsonl", "code=corpus"],
        "web=web.jsonl,code=corpus",
    ]
    for index in values:
        rows = ngramscan.count(**options, index=index)
        assert rows["index"].tolist() == ["web", "code"]
        assert rows["occurrences"].tolist() == [OCCURRENCES, OCCURRENCES]
    options["index"] = {"web": ["a.jsonl", "b.jsonl"]}
    with pytest.raises(InputError, match="web: expected one text for each name"):
        ngramscan.count(**options)


@pytest.mark.parametrize(
    ("text", "specs"),
    [
        pytest.param("web=scan:web.jsonl", [("web", "scan:web.jsonl")], id="a name"),
        pytest.param("dclm=v2_dclm_all", [("dclm", "v2_dclm_all")], id="the same hosted index"),
        pytest.param("a=b.jsonl", [("", "a=b.jsonl")], id="a file"),
        pytest.param("c=a=b.jsonl", [("c", "a=b.jsonl")], id="a name of this file"),
        pytest.param("year=2020", [("", "year=2020")], id="a folder"),
        pytest.param("year=2020/*.jsonl", [("", "year=2020/*.jsonl")], id="a glob"),
        pytest.param("scan:x?a=b", [("", "scan:x?a=b")], id="a spec"),
        pytest.param("http://host/x?a=b", [("", "http://host/x?a=b")], id="an address"),
        pytest.param("./x=y/z", [("", "./x=y/z")], id="a path"),
        pytest.param(
            "a=scan:x,y,b=fm9:z", [("a", "scan:x,y"), ("b", "fm9:z")], id="commas of both kinds"
        ),
        pytest.param("a=dclm,b=rpj", [("a", "dclm"), ("b", "rpj")], id="hosted indexes"),
    ],
)
def test_an_equals_sign_separates_a_name_only_where_no_file_has_it(
    text: str, specs: list[tuple[str, str]]
) -> None:
    assert read_specs([text]) == [IndexSpec(place, name) for name, place in specs]


def test_a_file_with_an_equals_sign_is_counted() -> None:
    (row,) = run("count", "--index", "a=b.jsonl").rows
    assert (row["index"], int(row["occurrences"])) == ("scan:a=b.jsonl", OCCURRENCES)


@pytest.mark.parametrize("word", [ALL, UNION])
def test_words_that_stand_for_several_corpora_are_no_names(word: str) -> None:
    with pytest.raises(InputError, match=f"{word} already means something else"):
        read_specs([f"{word}=web.jsonl"])


@pytest.mark.parametrize(
    ("path", "spec"),
    [
        pytest.param("web.jsonl", "scan:web.jsonl", id="a file"),
        pytest.param("corpus/", "scan:corpus/", id="a folder"),
        pytest.param("corp*/*.jsonl", "scan:corp*/*.jsonl", id="a glob"),
        pytest.param("my-index", "fm9:my-index", id="a shard"),
        pytest.param("my-tokens", "tokens:my-tokens", id="an index over tokens"),
        pytest.param("-", "scan:-", id="standard input"),
        pytest.param("dclm", "dclm", id="a hosted index"),
        pytest.param("nothing", "nothing", id="no file"),
    ],
)
def test_a_path_is_taken_without_its_prefix(path: str, spec: str) -> None:
    assert spec_of_path(path) == spec


@pytest.mark.parametrize("path", ["web.jsonl", "corpus", "corpus/*.jsonl", "my-index", "my-tokens"])
def test_a_path_is_counted(path: str) -> None:
    (row,) = run("count", "--index", path).rows
    assert int(row["occurrences"]) == OCCURRENCES
    assert row["index"] == spec_of_path(path)
    assert invoke("index", "info", path).code == 0


def test_standard_input_is_a_corpus() -> None:
    ran = invoke(
        "count", "-e", QUERY, "--index", "piped=-", "--format", "csv", content=jsonl(TEXTS)
    )
    assert [(row["index"], row["occurrences"]) for row in ran.rows] == [("piped", str(OCCURRENCES))]


def test_a_word_that_is_also_a_file_is_the_word_and_that_is_said() -> None:
    Path("python").write_text("x")
    ran = invoke("count", "-e", QUERY, "--index", "python", "--dry-run")
    notice = "python: the name of an index is meant, not the file or folder here, which is --index"
    assert f"{notice} ./python\n" in ran.stderr


def test_a_published_index_goes_before_a_folder_and_that_is_said() -> None:
    write_folder(Path("public", "pileval"), [[[*QUERY.encode()]]], 1)
    ran = invoke("count", "-e", QUERY, "--index", "tokens:public/pileval", "--dry-run")
    notice = "tokens:public/pileval: a published index is meant, not the folder here, which is"
    assert f"{notice} --index tokens:./public/pileval\n" in ran.stderr
    assert "v4_pileval_llama has the tokens of Llama-2" in ran.stderr
    (row,) = run("count", "--index", "tokens:./public/pileval").rows
    assert row["occurrences"] == "1"


def test_a_folder_that_may_be_two_things_is_said_to_be() -> None:
    shutil.copy("web.jsonl", "my-index")
    ran = run("count", "--index", "my-index")
    assert "my-index: taken as --index fm9:my-index; it may also be --index scan:my-index\n" in (
        ran.stderr
    )
    assert "may also be" not in run("count", "--index", "corpus").stderr


def test_shells_complete_what_follows_a_name() -> None:
    def offered(typed: str) -> list[str]:
        values = complete("index", {"arguments": []}, typed) or ()
        return [value for value in values if value.startswith(typed)]

    assert offered("web=scan:co") == ["web=scan:corpus/"]
    assert offered("web=py") == ["web=python"]
    assert offered("corp") == ["corpus/"]
    assert offered("a=b") == ["a=b.jsonl"]
    assert offered("tokens:my-t") == ["tokens:my-tokens/"]
    assert offered("tokens:public/pile") == [
        "tokens:public/piletrain",
        "tokens:public/pileval",
        "tokens:public/pileval-gpt2",
    ]


def test_no_file_of_a_named_corpus_is_overwritten() -> None:
    before = Path("web.jsonl").read_bytes()
    for spec in ("web=scan:web.jsonl", "web=web.jsonl", "web.jsonl"):
        ran = invoke("count", "-e", QUERY, "--index", spec, "-o", "web.jsonl")
        assert (ran.code, "the command also reads it" in ran.stderr) == (2, True)
    assert Path("web.jsonl").read_bytes() == before


# Options of single corpora


def occurrences_of(*arguments: str) -> dict[str, int]:
    return {row["index"]: int(row["occurrences"]) for row in run("count", *arguments).rows}


@pytest.fixture
def two_fields() -> list[str]:
    """Write two corpora whose texts are in different fields; return the options that name them."""
    Path("code.jsonl").write_text('{"content": "step by step", "text": "none"}\n' * 7)
    Path("lines.dat").write_text('{"text": "step by step"}\n{"text": "step by step"}\n')
    return ["--index", "web=web.jsonl,code=code.jsonl"]


@pytest.mark.parametrize(
    "value", ["code=content", "text,code=content", "content,web=text", "web=text,code=content"]
)
def test_corpora_have_text_fields_of_their_own(value: str, two_fields: list[str]) -> None:
    counts = occurrences_of(*two_fields, "--text-field", value)
    assert counts == {"web": OCCURRENCES, "code": 7}
    assert occurrences_of(*two_fields) == {"web": OCCURRENCES, "code": 0}


def test_python_takes_the_options_of_corpora_as_a_mapping(two_fields: list[str]) -> None:
    rows = ngramscan.count(
        literal=QUERY, index=two_fields[1], text_field={"code": "content"}, journal="j.sqlite"
    )
    assert rows["occurrences"].tolist() == [OCCURRENCES, 7]
    with pytest.raises(InputError, match="method: a mapping; expected a value or a list"):
        ngramscan.count("f1", index="python", method={"a": "b"})


def test_corpora_have_formats_limits_and_samples_of_their_own(two_fields: list[str]) -> None:
    three = [*two_fields, "--index", "lines=scan:lines.dat"]
    options = ["--input-format", "lines=jsonl", "--limit-documents", "web=1,lines=1"]
    assert occurrences_of(*three, *options, "--text-field", "code=content") == {
        "web": 2,
        "code": 7,
        "lines": 1,
    }
    sampled = run("count", "--index", "all-of=corpus,part=corpus", "--sample-files", "part=1").rows
    assert [(row["index"], row["estimated"]) for row in sampled] == [
        ("all-of", "False"),
        ("part", "True"),
    ]


def test_globs_of_one_corpus_leave_the_others_whole() -> None:
    Path("other").mkdir()
    shutil.copy("web.jsonl", "other/part=1.jsonl")
    shutil.copy("web.jsonl", "other/b.jsonl")
    shutil.copy("web.jsonl", "corpus/b.jsonl")
    two = ["--index", "one=corpus,other=other"]
    assert occurrences_of(*two, "--exclude-source", "one=*part=1*") == {
        "one": OCCURRENCES,
        "other": 2 * OCCURRENCES,
    }
    assert occurrences_of(*two, "--exclude-source", "*part=1*") == {
        "one": OCCURRENCES,
        "other": OCCURRENCES,
    }


@pytest.mark.parametrize(
    ("option", "value", "problem"),
    [
        ("--text-field", "cod=content", "no corpus is named cod; expected one of web, code, index"),
        ("--exclude-source", "wbe=*", "no corpus is named wbe; expected one of web, code, index"),
        ("--text-field", "index=content", "only scan: takes it, not index, which is fm9:my-index"),
        ("--exclude-source", "index=*.x", "only scan: and python take it, not index, which is fm9"),
        ("--tokenizer", "web=my.model", "only tokens: takes it, not web, which is scan:web.jsonl"),
        ("--limit-documents", "web=0", "--limit-documents 0: must be at least 1"),
        ("--limit-documents", "web=1,web=2", "two values for web; expected one"),
        ("--limit-documents", "web=x", "'x' is not a valid integer"),
        ("--text-field", "web=", "it is empty; give a value, or leave it out"),
    ],
)
def test_options_of_corpora_that_are_not_there_are_refused(
    option: str, value: str, problem: str, two_fields: list[str]
) -> None:
    ran = invoke("count", QUERY, *two_fields, "--index", "index=my-index", option, value)
    assert (ran.code, ran.stdout) == (2, "")
    assert problem in ran.stderr


def test_an_index_is_built_of_one_corpus_which_has_no_name() -> None:
    ran = invoke("index", "build", "corpus", "-o", "new", "--text-field", "web=text")
    assert ran.code == 2
    assert "no corpus is named web" in ran.stderr
