"""`count`, `docnorm`, `contexts` and `contaminate` where some indexes are token-level."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import ngramscan
from ngramscan.errors import IncompleteError, InputError
from ngramscan.prevalence.count import CountRow
from ngramscan.prevalence.docnorm import DocnormRow
from ngramscan.prevalence.token_count import TokenCountRow
from ngramscan.prevalence.token_docnorm import TokenDocnormRow
from tests.support.command import Ran, invoke
from tests.support.made_tokens import MadeTokens
from tests.support.token_oracle import TOKENS, TokenOracle

FOLDER = TOKENS / "v4_pysmall_llama_s3"
TOKEN_INDEX = f"tokens:{FOLDER}"
CORPUS = f"scan:{TOKENS / 'corpus_small.jsonl'}"
TOKENIZER = TOKENS / "llamalike.model"
LOWER = "token n-grams: a lower bound of the string's occurrences"
SET = """\
name: small
patterns:
  - {text: step by step, method: CoT, tier: T1, kind: narrative}
  - {text: the file, method: CoT, tier: T1, kind: narrative}
  - {text: Return the, method: PoT, tier: T1, kind: narrative}
  - {text: 'def ', method: PoT, tier: T2, kind: code}
"""

Run = Callable[..., Ran]


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "small.yaml").write_text(SET)
    return tmp_path


def run(command: str, *arguments: str, index: str = TOKEN_INDEX) -> Ran:
    return invoke(command, "--index", index, "--tokenizer", TOKENIZER, "-q", *arguments)


BOTH = ("--index", CORPUS)


def test_both_kinds_of_counts_stand_in_columns_of_their_own(here: Path) -> None:
    given = ("small.yaml", "--tier", "T1", *BOTH, "--format", "csv")
    ran = run("count", *given)
    assert (ran.code, ran.stderr) == (0, "")
    columns = [*CountRow.__slots__, *TokenCountRow.__slots__]
    assert [*ran.rows[0]] == [*dict.fromkeys(columns)]
    of_bytes = [row for row in ran.rows if row["index"].startswith("scan:")]
    of_tokens = [row for row in ran.rows if row["index"].startswith("tokens:")]
    assert len(of_bytes) == len(of_tokens) == 3
    lines = (TOKENS / "corpus_small.jsonl").read_text().splitlines()
    texts = [json.loads(line)["text"] for line in lines]
    oracle = TokenOracle(FOLDER)
    for row, other in zip(of_bytes, of_tokens, strict=True):
        assert row["query"] == other["query"]
        assert int(row["documents"]) == sum(row["query"] in text for text in texts)
        assert row["token_occurrences"] == row["tokens"] == ""
        ids = [[int(one) for one in form.split()] for form in other["tokens"].split(" | ")]
        assert int(other["token_occurrences"]) == sum(map(oracle.count, ids))
        assert other["occurrences"] == other["documents"] == other["estimated"] == ""
        assert int(other["token_occurrences"]) <= int(row["occurrences"])
        assert other["note"].partition("; ")[0] == LOWER


def test_an_index_of_one_kind_has_its_columns_alone(here: Path) -> None:
    given: tuple[str, ...] = ("small.yaml", "--tier", "T1", "--format", "csv")
    assert [*run("count", *given).rows[0]] == [*TokenCountRow.__slots__]
    alone = invoke("count", *given, *BOTH)
    assert [*alone.rows[0]] == [*CountRow.__slots__]
    given += ("--draws", "30")
    assert [*run("docnorm", *given).rows[0]] == [*TokenDocnormRow.__slots__]
    assert [*invoke("docnorm", *given, *BOTH).rows[0]] == [*DocnormRow.__slots__]


@pytest.mark.parametrize("command", ["count", "docnorm"])
def test_tables_say_how_the_two_kinds_differ(here: Path, command: str) -> None:
    alone = run(command, "small.yaml", "--tier", "T1")
    assert alone.code == 0
    assert "never to be added" not in alone.stdout
    ran = run(command, "small.yaml", "--tier", "T1", *BOTH)
    assert ran.code == 0
    words = " ".join(ran.stdout.split())
    assert words.count("never to be added") == words.count(LOWER) == 1
    assert "676 documents · 113,088 tokens" in words
    assert "token occurrences" in words
    # The table of the corpus is as it is without the other.
    first = invoke(command, "small.yaml", "--tier", "T1", *BOTH).stdout.split("\n\n")[0]
    assert ran.stdout.startswith(first)


def test_totals_of_tokens_have_names_of_their_own(here: Path) -> None:
    given = ("--tier", "T1", *BOTH, "--totals", "totals.jsonl", "-o", "rows.csv")
    for command in ("count", "docnorm"):
        assert run(command, "small.yaml", *given).code == 0
        rows = [json.loads(line) for line in (here / "totals.jsonl").read_text().splitlines()]
        for row in rows:
            assert row["statistic"].startswith("token_") == (row["index"] == TOKEN_INDEX)
            assert row["index"] != TOKEN_INDEX or "union" not in row["statistic"]
        assert {row["index"] for row in rows} >= {TOKEN_INDEX, CORPUS}


def test_patterns_that_tokens_can_t_count_fail_alone(here: Path) -> None:
    ran = run("count", "small.yaml", "-e", "x)", "--format", "csv")
    assert ran.code == 1
    assert [row["query"] for row in ran.rows] == ["step by step", "the file", "Return the"]
    (line,) = ran.stderr.splitlines()
    assert line.endswith(f"far too low; 2 of 5 counts missing ({TOKEN_INDEX})")
    forced = run("count", "small.yaml", "-e", "x)", "--format", "csv", "--count-anyway")
    assert (forced.code, forced.stderr, len(forced.rows)) == (0, "", 5)
    assert ["far too low" in row["note"] for row in forced.rows] == [False] * 3 + [True] * 2
    documents = run("docnorm", "small.yaml", "--format", "csv", "--draws", "30")
    assert (documents.code, len(documents.rows)) == (1, 3)
    assert documents.stderr.endswith(f'the estimate of "def " in {TOKEN_INDEX} is missing\n')
    with pytest.raises(IncompleteError) as raised:
        ngramscan.count(literal=["x)", "by"], index=TOKEN_INDEX, tokenizer=TOKENIZER)
    assert raised.value.rows["token_occurrences"].dtype == "Int64"


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (("count", "a b", "--count-anyway", *BOTH), "--count-anyway: only token-level indexes"),
        (("count", "a b", "--tokenizer", "t", *BOTH), "--tokenizer: only tokens: takes it, not "),
        (("count", "a b", "--index", TOKEN_INDEX), "--tokenizer"),
        (
            ("docnorm", "a b", "--drawn", "d.csv", "--index", TOKEN_INDEX),
            "--drawn: tokens:",
        ),
        (
            ("docnorm", "a b", "--context", "500", "--index", TOKEN_INDEX),
            "--context 500: bytes; ",
        ),
        (
            ("contaminate", "b.jsonl", "--index", f"python,{TOKEN_INDEX}"),
            f"--index {TOKEN_INDEX}: its counts are lower bounds",
        ),
        (
            ("contaminate", "b.jsonl", "--index", "infini-gram:pileval"),
            "--index infini-gram:pileval: its counts are lower bounds",
        ),
    ],
)
def test_options_that_do_not_go_with_tokens_are_refused_in_a_line(
    here: Path, arguments: tuple[str, ...], problem: str
) -> None:
    if arguments[0] == "docnorm":
        arguments += ("--tokenizer", str(TOKENIZER))
    ran = invoke(*arguments, "-q")
    assert (ran.code, ran.stdout) == (2, "")
    (line,) = ran.stderr.splitlines()
    assert problem in line
    assert not [*here.glob("d.csv")]


def test_a_run_of_both_kinds_writes_all_rows(here: Path) -> None:
    frame: Any = ngramscan.docnorm("small.yaml", index=[TOKEN_INDEX, CORPUS], tokenizer=TOKENIZER,
                                   tier="T1", draws=5000)  # fmt: skip
    oracle = TokenOracle(FOLDER)
    for row in ngramscan.count("small.yaml", index=TOKEN_INDEX, tokenizer=TOKENIZER,
                               tier="T1").to_dict("records"):  # fmt: skip
        ids = [[int(one) for one in form.split()] for form in row["tokens"].split(" | ")]
        own = frame[(frame["index"] == TOKEN_INDEX) & (frame["pattern"] == row["query"])]
        assert own["token_documents"].tolist() == [len(oracle.documents_with(*ids))]
        assert own["documents"].isna().all()
    assert len(frame) == 6


def test_a_figure_has_panels_and_an_axis_for_each_kind(here: Path) -> None:
    assert run("count", "small.yaml", "--tier", "T1", *BOTH, "--figure", "f.svg").code == 0
    drawn = (here / "f.svg").read_text()
    assert ">token occurrences</text>" in drawn
    assert ">occurrences</text>" in drawn
    assert run("count", "small.yaml", "--tier", "T1", "--figure", "g.svg").code == 0
    assert ">occurrences</text>" not in (here / "g.svg").read_text()


# Contexts


def test_contexts_show_phrases_of_tokens() -> None:
    ran = run("contexts", "-e", "the file", "-n", "9", "--format", "csv")
    assert (ran.code, len(ran.rows)) == (0, 9)
    lines = (TOKENS / "corpus_small.jsonl").read_text().splitlines()
    texts = {one["id"]: one["text"] for one in map(json.loads, lines)}
    for row in ran.rows:
        text = texts[json.loads(row["metadata"])["metadata"]["id"]]
        assert row["match"] == "the file"
        assert row["left"] + row["match"] + row["right"] in text
    assert run("contexts", "-e", "the file", "-n", "2").code == 0


def test_a_phrase_that_has_the_tokens_of_another_text_is_not_shown(shared: Path) -> None:
    """OLMo's tokenizer normalises, so that one text has the tokens of another."""
    files = shared / "tokens"
    tokenizer = files / "tokenizers" / "allenai_gpt-neox-olmo-dolma-v1_5.json.gz"
    ran = invoke("contexts", "-e", "cafe\u0301", "--index", f"tokens:{files}/index/v4_pysmall_olmo",
                 "--tokenizer", tokenizer, "--format", "csv")  # fmt: skip
    assert (ran.code, ran.rows) == (1, [])
    (line,) = ran.stderr.splitlines()
    assert "has the tokens of another text" in line
    assert "2 of 2 contexts missing" in line


# A service


@pytest.fixture
def service(monkeypatch: pytest.MonkeyPatch) -> MadeTokens:
    """A service in this process: its client has tests of its own."""
    index = MadeTokens([[[10, 11, 12] * n for n in range(1, 40)]], {"a b": [(10, 11)]},
                       is_service=True)  # fmt: skip
    opener = "ngramscan.indexes.tokens.hosted.open_hosted"
    monkeypatch.setattr(opener, lambda _name, _client: index)
    return index


def test_a_dry_run_asks_nothing_and_counts_requests(here: Path, service: MadeTokens) -> None:
    given = ("--index", "infini-gram:made", *BOTH, "--dry-run", "--format", "csv")
    corpus, hosted = invoke("count", "small.yaml", *given).rows
    assert (corpus["index"], corpus["requests"]) == (CORPUS, "0")
    assert (hosted["index"], hosted["patterns"]) == ("infini-gram:made", "4")
    # The pattern of kind code is not asked for.
    assert (hosted["lookups"], hosted["requests"], hosted["duration"]) == ("3", "9", "0:00:09")
    (forced,) = invoke("count", "small.yaml", "--count-anyway", *given).rows[1:]
    assert (forced["lookups"], forced["requests"]) == ("4", "12")
    _, hosted = invoke("docnorm", "small.yaml", "--draws", "100", *given).rows
    assert (hosted["requests"], hosted["duration"]) == (str(9 + 3 * 200), "0:10:09")
    (hosted,) = invoke("contexts", "a b", "-n", "5", "--index", "infini-gram:made", "--dry-run",
                       "--format", "csv").rows  # fmt: skip
    assert hosted["requests"] == "13"
    assert (service.asked, service.looked_at) == ([], [0, 0])


def test_a_service_counts_estimates_and_refuses_first(service: MadeTokens) -> None:
    given = ("a b", "--index", "infini-gram:made", "--format", "csv")
    (row,) = invoke("count", *given).rows
    assert (row["token_occurrences"], row["source"]) == (str(sum(range(1, 40))), "api")
    (row,) = invoke("docnorm", *given, "--draws", "300").rows
    assert int(row["token_documents_low"]) <= 39 <= int(row["token_documents_high"])
    assert (row["estimator"], row["truncated_share"]) == ("size-bias", "")
    (row,) = invoke("docnorm", *given, "--draws", "800").rows
    assert (row["token_documents"], row["estimator"]) == ("39", "exact")
    ran = invoke("docnorm", *given, "--estimator", "first")
    assert (ran.code, ran.stdout) == (2, "")
    assert ran.stderr.startswith("Error: --estimator first: infini-gram:made doesn't show")


def test_options_are_the_same_in_python() -> None:
    with pytest.raises(InputError, match="count_anyway: only token-level"):
        ngramscan.count("a b", index=CORPUS, count_anyway=True)
