"""`count`, `docnorm`, `contexts` and `contaminate` where some indexes are token-level."""

from pathlib import Path

import pytest

from tests.support.command import Ran, invoke
from tests.support.outputs import refusal
from tests.support.places import TOKENS

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


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "small.yaml").write_text(SET)
    return tmp_path


def run(command: str, *arguments: str, index: str = TOKEN_INDEX) -> Ran:
    return invoke(command, "--index", index, "--tokenizer", TOKENIZER, "-q", *arguments)


BOTH = ("--index", CORPUS)


@pytest.mark.parametrize("command", ["count", "docnorm"])
def test_tables_say_how_the_two_kinds_differ(here: Path, command: str) -> None:
    alone = run(command, "small.yaml", "--tier", "T1", "--all")
    assert alone.code == 0
    assert "never to be added" not in alone.stdout
    ran = run(command, "small.yaml", "--tier", "T1", "--all", *BOTH)
    assert ran.code == 0
    words = " ".join(ran.stdout.split())
    assert words.count("never to be added") == words.count(LOWER) == 1
    assert "676 documents · 113,088 tokens" in words
    assert "token occurrences" in words
    # The table of the corpus is as it is without the other.
    first = invoke(command, "small.yaml", "--tier", "T1", "--all", *BOTH).stdout.split("\n\n")[0]
    assert ran.stdout.startswith(first)


@pytest.mark.parametrize("command", ["count", "docnorm"])
def test_a_first_screen_never_mixes_the_two_kinds(here: Path, command: str) -> None:
    ran = run(command, "small.yaml", "--tier", "T1", *BOTH)
    assert ran.code == 0
    words = " ".join(ran.stdout.split())
    assert words.count("never to be added") == words.count(LOWER) == 1
    assert "676 documents · 113,088 tokens" in words
    assert words.count(" method ") >= 2, "a table for each"
    assert words.index("of text") < words.index("113,088 tokens"), "bytes come first"


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        pytest.param(
            ["count", "a b", "--count-anyway", "--index", "{corpus}"],
            "--count-anyway: only token-level indexes",
            id="count-anyway without tokens",
        ),
        pytest.param(
            ["count", "a b", "--tokenizer", "t", "--index", "{corpus}"],
            "--tokenizer: only tokens: takes it, not ",
            id="a tokenizer without tokens",
        ),
        pytest.param(["count", "a b", "--index", "{tokens}"], "--tokenizer", id="no tokenizer"),
        pytest.param(
            ["docnorm", "a b", "--drawn", "d.csv", "--index", "{tokens}"],
            "--drawn: tokens:",
            id="drawn",
        ),
        pytest.param(
            ["docnorm", "a b", "--context", "500", "--index", "{tokens}"],
            "--context 500: it is in bytes; ",
            id="context in bytes",
        ),
        pytest.param(
            ["contaminate", "b.jsonl", "--index", "python,{tokens}", "--rule", "mini"],
            "--index {tokens}: its counts are lower bounds",
            id="contaminate with tokens",
        ),
        pytest.param(
            ["contaminate", "b.jsonl", "--index", "infini-gram:pileval", "--rule", "mini"],
            "--index infini-gram:pileval: its counts are lower bounds",
            id="contaminate with a service",
        ),
    ],
)
def test_options_that_do_not_go_with_tokens_are_refused_in_a_line(
    here: Path, arguments: list[str], problem: str
) -> None:
    if arguments[0] == "docnorm":
        arguments = [*arguments, "--tokenizer", str(TOKENIZER)]
    given = (one.format(corpus=CORPUS, tokens=TOKEN_INDEX) for one in arguments)
    assert problem.format(tokens=TOKEN_INDEX) in refusal(*given, "-q")
    assert not [*here.glob("d.csv")]


# Contexts


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
