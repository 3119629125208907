"""The table of the kinds of indexes: each is opened, completed, described and seeded from it."""

from collections.abc import Sequence
from contextlib import ExitStack
from itertools import permutations
from pathlib import Path
from typing import Any, get_args

import pytest

import ngramscan
from ngramscan.cli import complete
from ngramscan.errors import InputError
from ngramscan.indexes import kinds
from ngramscan.indexes.base import CountSource
from ngramscan.indexes.kinds import (
    FM9,
    FORMS,
    KINDS,
    OF_TOKENS,
    SCAN,
    TOKENS,
    IndexKind,
    draw_name,
    expanded,
    kind_of,
)
from ngramscan.indexes.options import IndexOptions
from ngramscan.indexes.resources import Resources
from ngramscan.progress import SILENT
from tests.support.places import ROOT
from tests.support.text_index import Counting

PREFIXES = [kind.prefix for kind in KINDS]


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.prefix)
def test_a_spec_leads_to_its_kind_and_back(kind: IndexKind) -> None:
    spec = kind.spec_of("x") if kind.has_place else kind.prefix
    assert kind_of(spec) is kind
    assert kind.place_in(spec) == ("x" if kind.has_place else "")
    assert kind_of(f"x{spec}") is None


def test_no_prefix_begins_another() -> None:
    assert [pair for pair in permutations(PREFIXES, 2) if pair[1].startswith(pair[0])] == []


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.prefix)
def test_shells_complete_every_kind(kind: IndexKind) -> None:
    offered = complete("index", {"arguments": []}, "")
    assert offered is not None
    assert kind.completion in {"", *offered}


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.prefix)
def test_the_page_on_indexes_has_every_kind(kind: IndexKind) -> None:
    page = (ROOT / "docs/indexes.md").read_text()
    assert f"`{kind.completion}" in page


@pytest.mark.parametrize("option", sorted({name for kind in KINDS for name in kind.options}))
def test_options_of_kinds_are_options_of_indexes(option: str) -> None:
    assert hasattr(IndexOptions(), option)


def test_every_kind_that_is_defined_is_in_the_table() -> None:
    defined = {name: value for name, value in vars(kinds).items() if isinstance(value, IndexKind)}
    assert [name for name, kind in defined.items() if kind not in KINDS] == []


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.prefix)
def test_messages_and_help_show_how_specs_are_written(kind: IndexKind) -> None:
    assert kind.form in FORMS
    assert kind.completion in (ngramscan.count.__doc__ or "")


def test_a_spec_that_ends_at_its_colon_is_refused() -> None:
    with pytest.raises(InputError) as error:
        ngramscan.count("f1", index="fm9:")
    assert f"nothing after the colon; expected {FORMS}" in str(error.value)


def test_a_kind_that_is_added_is_opened_completed_and_suggested(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def open_memory(spec: str, resources: Resources) -> Sequence[Any]:
        assert resources.options.journal == "j"
        index = Counting([memory.place_in(spec)])
        index.name = index.spec = spec
        return [index]

    memory = IndexKind(prefix="memory:", open=open_memory, form="memory:TEXT", completion="memory:")
    monkeypatch.setattr("ngramscan.indexes.kinds.KINDS", (*KINDS, memory))
    monkeypatch.setattr("ngramscan.indexes.opening.KINDS", (*KINDS, memory))
    given: dict[str, Any] = {"index": "dclm,memory:step by step", "journal": "j"}
    with pytest.raises(InputError, match="dclm"):
        ngramscan.count("f1", **given, tokenizer="none")
    rows = ngramscan.count(literal="step", index="memory:step by step", journal="j")
    assert rows[["index", "occurrences"]].to_dict("list") == {
        "index": ["memory:step by step"],
        "occurrences": [2],
    }
    assert "memory:" in (complete("index", {"arguments": []}, "mem") or ())
    with pytest.raises(InputError, match="did you mean memory:step"):
        ngramscan.count(literal="step", index="memry:step", journal="j")


@pytest.mark.parametrize(
    ("index", "name"),
    [
        pytest.param("fm9:some/index", "index", id="a folder"),
        pytest.param("fm9:some/./index/", "index", id="the same folder"),
        pytest.param("tokens:index", "index", id="a folder of tokens"),
        pytest.param("scan:some/corpus.jsonl", "corpus.jsonl", id="a corpus"),
        pytest.param("fm9:https://host/some/index", "index", id="in place"),
        pytest.param("infini-gram:index", "index", id="a service over tokens"),
        pytest.param("infini-gram:http://host:1/index", "index", id="another host over tokens"),
        pytest.param("http://host:1/index/", "index", id="a host"),
        pytest.param("v2_index", "v2_index", id="a hosted index"),
        pytest.param("python", "python", id="the sources of Python"),
    ],
)
def test_draws_depend_on_the_last_part_of_a_name(index: str, name: str) -> None:
    assert draw_name(index) == name


def test_the_home_folder_stands_for_a_tilde(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/someone")
    specs = ("scan:~/a.jsonl", "scan:@~/list", "fm9:~/index", "~/a.jsonl", "python")
    home = "/home/someone"
    assert [expanded(spec) for spec in specs] == [
        f"scan:{home}/a.jsonl",
        f"scan:@{home}/list",
        f"fm9:{home}/index",
        f"{home}/a.jsonl",
        "python",
    ]


PILE = "tokens:s3://infini-gram-lite/index/v4_pileval_llama"
RED_PAJAMA = "s3://infini-gram/index/v4_rpj_llama_s4"


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        pytest.param("tokens:public/v4_pileval_llama", PILE, id="name"),
        pytest.param("tokens:public/pileval", PILE, id="alias"),
        pytest.param("tokens:public/PileVal/", PILE, id="any case"),
        pytest.param(PILE, PILE, id="URL"),
        pytest.param("tokens:public/pileval,public/rpj", f"{PILE},{RED_PAJAMA}", id="two"),
        pytest.param("tokens:mine,public/rpj", f"tokens:mine,{RED_PAJAMA}", id="one of two"),
        pytest.param("tokens:./public/pileval", "tokens:./public/pileval", id="folder"),
        pytest.param("fm9:public/pileval", "fm9:public/pileval", id="other kind"),
    ],
)
def test_a_published_index_is_at_one_url_however_it_is_named(spec: str, expected: str) -> None:
    assert expanded(spec) == expected
    assert expanded(expanded(spec)) == expected


def test_draws_in_published_files_are_those_in_a_copy(tmp_path: Path) -> None:
    copy = tmp_path / "v4_pileval_llama"
    assert draw_name(expanded("tokens:public/pileval")) == draw_name(f"tokens:{copy}")


def test_an_unknown_published_index_is_refused_unless_a_folder_is_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    hint = "did you mean tokens:public/pileval or tokens:public/pileval-gpt2?"
    with pytest.raises(InputError, match="no published index of this name") as error:
        expanded("tokens:public/pilevall")
    assert hint in str(error.value)
    with pytest.raises(InputError, match="see ngramscan index list"):
        expanded("tokens:public/xyzzy")
    (tmp_path / "public" / "pilevall").mkdir(parents=True)
    assert expanded("tokens:public/pilevall") == "tokens:public/pilevall"


@pytest.mark.parametrize(
    ("spec", "hint"),
    [
        ("tokens:pileval", 'no such folder; did you mean index="tokens:public/pileval"?'),
        ("olmoe-mix-dclm", 'index="tokens:public/v4_olmoe-mix-0924-dclm_llama"'),
        ("v4_pileval_llama", 'index="infini-gram:v4_pileval_llama"'),
    ],
)
def test_a_name_without_its_beginning_leads_to_the_published_index(spec: str, hint: str) -> None:
    with pytest.raises(InputError) as error:
        ngramscan.count(literal="x", index=spec)
    assert hint in str(error.value)


def test_a_published_index_says_which_tokenizer_it_needs() -> None:
    for index, tokenizer in (("pileval", "Llama-2"), ("dolmasample", "OLMo")):
        with pytest.raises(InputError, match=f"has the tokens of {tokenizer}; give a file of"):
            ngramscan.count(literal="x", index=f"tokens:public/{index}")


def test_kinds_over_tokens_are_those_that_say_so(tmp_path: Path) -> None:
    assert {SCAN, FM9}.isdisjoint(OF_TOKENS)
    assert TOKENS in OF_TOKENS
    options = IndexOptions(journal=tmp_path / "j")
    with ExitStack() as stack:
        resources = Resources(options, SILENT, stack)
        for kind in OF_TOKENS:
            if not kind.is_of_files:
                (index,) = kind.open(kind.spec_of("dclm"), resources)
                assert index.unit == kind.unit


def test_counts_say_which_kind_of_files_they_are_from() -> None:
    of_files = {kind.word for kind in KINDS if kind.is_of_files}
    assert of_files - {*get_args(CountSource)} == set()
