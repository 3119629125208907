"""First screens of counts that are missing, and of corpora of which a sample was read."""

import csv
import json
import re
from collections.abc import Callable
from pathlib import Path
from shutil import copytree
from typing import Any

import pytest

import ngramscan
from tests.support.command import Ran, invoke
from tests.support.places import REPLAY
from tests.support.serve_process import INDEXES
from tests.support.service import ApiServer, Reply

DOCS = sorted((REPLAY / "docs").glob("*.jsonl"))[0]
DCLM, FIRST, SECOND = "v2_dclm_all", "v2_cc-2025-05", "v2_cc-2025-08"
SET = """\
name: small
patterns:
  - {text: step by step, method: CoT, tier: T1, kind: narrative}
  - {text: the answer is, method: CoT, tier: T1, kind: narrative}
  - {text: 'def solve(', method: PoT, tier: T1, kind: code}
"""
Asked = dict[str, Any]


class Failing(ApiServer):
    """A service that refuses some questions for ever."""

    def __init__(self, *indexes: str, fails: Callable[[Asked], bool]) -> None:
        super().__init__(dict.fromkeys(indexes, DOCS))
        self._fails = fails

    def reply(self, body: bytes) -> Reply:
        if self._fails(json.loads(body)):
            return Reply(400, b'{"error": "too hard"}')
        return super().reply(body)


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    (tmp_path / "small.yaml").write_text(SET)
    return tmp_path


def asked(here: Path, fails: Callable[[Asked], bool], *arguments: str) -> Ran:
    indexes = (DCLM, FIRST, SECOND)
    options = [option for name in indexes for option in ("--index", name)]
    with Failing(*indexes, fails=fails) as server:
        given = ("--api-url", server.url, "--journal", here / "j", "--quiet")
        return invoke(*arguments, *options, *given)


def cells(ran: Ran) -> list[list[str]]:
    return [line.split() for line in ran.stdout.splitlines()]


def is_of_first(question: Asked) -> bool:
    return bool(question["index"] == FIRST)


def is_code_in_first(question: Asked) -> bool:
    return is_of_first(question) and question.get("query") == "def solve("


def is_step(question: Asked) -> bool:
    return question.get("query") == "step by step"


def test_a_count_that_is_missing_is_a_dash_and_the_exit_code_is_1(here: Path) -> None:
    ran = asked(here, is_code_in_first, "count", "small.yaml")
    assert ran.code == 1
    assert "the count of" in ran.stderr
    rows = cells(ran)
    [of_method] = [row for row in rows if row[:1] == ["PoT"]]
    assert [text == "–" for text in of_method[1:]] == [False, True, False]
    [of_phrase] = [row for row in rows if row[:2] == ["def", "solve("]]
    assert [text == "–" for text in of_phrase[-3:]] == [False, True, False]
    assert "–: counts are missing" in ran.stdout
    assert "–: unknown" in ran.stdout


def test_documents_that_are_missing_are_a_dash_and_the_exit_code_is_1(here: Path) -> None:
    ran = asked(here, is_code_in_first, "docnorm", "small.yaml", "--draws", "5")
    assert ran.code == 1
    [of_phrase] = [row for row in cells(ran) if row[:2] == ["def", "solve("]]
    assert [text == "–" for text in of_phrase[-3:]] == [False, True, False]
    assert "–: unknown" in ran.stdout


@pytest.mark.parametrize(
    "arguments",
    [
        pytest.param(("count", "small.yaml"), id="methods"),
        pytest.param(("count", "step by step", "the answer is"), id="phrases"),
        pytest.param(("count", "step by step"), id="one phrase"),
        pytest.param(("docnorm", "small.yaml", "--draws", "5"), id="documents"),
    ],
)
def test_an_index_that_never_answers_is_named_and_the_others_are_shown(
    here: Path, arguments: tuple[str, ...]
) -> None:
    ran = asked(here, is_of_first, *arguments)
    assert ran.code == 1
    assert f"no counts are known in {FIRST}" in ran.stdout
    # All tables have the same short names.
    assert "cc-2025-08" in ran.stdout
    assert "2025-05 to" not in ran.stdout


def test_phrases_without_any_count_are_counted(here: Path) -> None:
    ran = asked(here, is_step, "count", "small.yaml")
    assert ran.code == 1
    assert "1 phrase without a count in any corpus" in ran.stdout
    [of_method] = [row for row in cells(ran) if row[:1] == ["CoT"]]
    assert of_method[1:] == ["–", "–", "–"]


def test_a_screen_without_any_count_is_empty(here: Path) -> None:
    ran = asked(here, is_step, "count", "step by step")
    assert (ran.code, ran.stdout) == (1, "")


def test_a_ratio_of_one_kind_is_not_that_of_a_list_with_missing_counts(here: Path) -> None:
    mixed = SET.replace("'def solve(', method: PoT", "'def solve(', method: CoT")
    more = "  - {text: so we, method: PoT, tier: T1, kind: narrative}\n"
    (here / "mixed.yaml").write_text(mixed + more)
    ran = asked(here, is_code_in_first, "count", "mixed.yaml")
    assert ran.code == 1
    assert f"In {SECOND}, PoT : CoT is" in ran.stdout


# Samples


@pytest.fixture
def shards(here: Path) -> tuple[str, ...]:
    """Write a corpus of forty files and an exact one; return their options."""
    (here / "shards").mkdir()
    for place in range(40):
        words = "think step by step " * (1 + place % 3)
        (here / "shards" / f"{place}.jsonl").write_text(json.dumps({"text": words}) + "\n")
    copytree(INDEXES[0], here / "exact")
    return ("--index", "scan:shards/*.jsonl", "--index", "fm9:exact", "--sample-files", "35")


def test_an_estimate_beside_an_exact_count_has_a_sign(shards: tuple[str, ...]) -> None:
    ran = invoke("count", "small.yaml", *shards, "--quiet")
    assert (ran.code, ran.stderr) == (0, "")
    [of_method] = [row for row in cells(ran) if row[:1] == ["CoT"]]
    [of_phrase] = [row for row in cells(ran) if row[:3] == ["step", "by", "step"]]
    assert [text[0] == "≈" for text in of_method[-2:]] == [True, False]
    assert [text[0] == "≈" for text in of_phrase[-2:]] == [True, False]
    assert ran.stdout.count("≈: estimated from a sample") == 2
    words = " ".join(ran.stdout.split())
    assert "scan:shards/*.jsonl: estimate from 35 of 40 files" in words
    assert "one of PoT's phrases occurs in the sample" in words


def test_the_counts_of_a_phrase_have_room_for_an_interval(shards: tuple[str, ...]) -> None:
    ran = invoke("count", "step by step", *shards, "--quiet")
    [estimated] = [line for line in ran.stdout.splitlines() if line.startswith("  scan:shards")]
    [exact] = [line for line in ran.stdout.splitlines() if line.startswith("  fm9:exact")]
    assert re.search(r"≈[\d,]+ \[[\d,]+, [\d,]+\]", estimated)
    assert "[" not in exact


def test_totals_of_a_sample_say_that_they_are_estimates(shards: tuple[str, ...]) -> None:
    invoke("count", "small.yaml", *shards, "--quiet", "--totals", "totals.csv")
    lines = Path("totals.csv").read_text().splitlines()
    unions = [line for line in lines if ",union_of_occurrences," in line]
    is_sample = ["estimated from a sample" in line for line in unions]
    assert is_sample == [line.startswith("scan:") for line in unions]
    assert any(is_sample)


def test_documents_of_a_sample_have_a_sign(shards: tuple[str, ...]) -> None:
    ran = invoke("docnorm", "small.yaml", *shards, "--quiet")
    assert ran.code == 0, ran.stderr
    [of_phrase] = [row for row in cells(ran) if row[:3] == ["step", "by", "step"]]
    assert [text[0] == "≈" for text in of_phrase[-2:]] == [True, False]


def test_a_sample_of_few_files_has_no_documents_of_methods(here: Path) -> None:
    for place in range(5):
        Path(f"{place}.jsonl").write_text('{"text": "think step by step"}\n')
    given = ("--index", "scan:*.jsonl", "--sample-files", "2", "--quiet")
    ran = invoke("docnorm", "small.yaml", *given)
    assert "Documents with any phrase" not in ran.stdout
    assert "no documents of whole methods: no interval: too few files" in ran.stdout
    assert "step by step is in" in ran.stdout.replace("“", "").replace("”", "")


def test_phrases_that_occur_nowhere_have_no_table(here: Path) -> None:
    for place in range(5):
        Path(f"{place}.jsonl").write_text('{"text": "nothing of it"}\n')
    ran = invoke("docnorm", "small.yaml", "--index", "scan:*.jsonl", "--quiet")
    assert "  phrase " not in ran.stdout
    assert "3 phrases occur nowhere" in ran.stdout
    assert "No document of “scan:*.jsonl” has any of 3 phrases." in ran.stdout


# Documents per million


def test_totals_of_documents_have_their_rate(here: Path) -> None:
    texts = ["step by step", *["other"] * 1999]
    Path("c.jsonl").write_text("".join(json.dumps({"text": text}) + "\n" for text in texts))
    given = ("--index", "scan:c.jsonl", "--quiet", "--totals", "totals.csv", "-o", "rows.csv")
    assert invoke("docnorm", "small.yaml", *given).code == 0
    rows = csv.DictReader(Path("totals.csv").read_text().splitlines())
    rates = {
        row["method"]: [row["value"], row["low"], row["high"]]
        for row in rows
        if row["statistic"] == "documents_per_million"
    }
    assert rates["CoT"] == ["500.0", "500.0", "500.0"]
    assert rates["PoT"] == ["0.0", "0.0", "0.0"]
    page = ngramscan.report("rows.csv", "totals.csv").html
    assert "Documents with any phrase of a method per million documents" in page
    said = "Per million documents of scan:c.jsonl (tier T1), 500 have a phrase of CoT."
    assert said in page


# Frames


def test_frames_of_read_and_indexed_corpora_keep_documents(shards: tuple[str, ...]) -> None:
    frame = ngramscan.count("step by step", index=["scan:shards/*.jsonl", "fm9:exact"])
    known = dict(zip(frame["index"], frame["documents"], strict=True))
    assert known["scan:shards/*.jsonl"] == 40
    assert frame["documents"].isna().sum() == 1
    alone = ngramscan.count("step by step", index="fm9:exact")
    assert "documents" not in alone
    assert "documents" in alone.attrs["left_out"]
