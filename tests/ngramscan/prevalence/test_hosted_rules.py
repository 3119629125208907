"""Counts by rules in hosted indexes, against a search of the texts that the server has."""

import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from scipy.stats import hypergeom

import ngramscan
from ngramscan.errors import IncompleteError
from ngramscan.matching import MatchRule
from ngramscan.matching.written_forms import written_forms
from ngramscan.prevalence.hosted_rules import whole_word_estimate
from tests.support.command import invoke
from tests.support.match_oracle import matches
from tests.support.service import ApiServer, Faults

WORDS = [
    *("let", "us", "Let", "LET", "US", "user"),
    *("é", "let_us", "outlet", "a", "let us", "u\u0301s"),
]
SPACES = [" ", "  ", "\n", "\r\n", "\t", "\u00a0", "", ".", " ("]
QUERIES = ["let us", "us", "Let ", "é", "nowhere"]
RULES = {
    "w": MatchRule(whole_words=True),
    "s": MatchRule(any_space=True),
    "i": MatchRule(ignore_case=True),
    "ws": MatchRule(whole_words=True, any_space=True),
    "wsi": MatchRule(whole_words=True, any_space=True, ignore_case=True),
}


def made_texts(n: int) -> list[str]:
    """Return texts of up to 15 words, which the definition is slow to search."""
    chance = random.Random(5)
    texts = list[str]()
    for _ in range(n):
        words = [chance.choice(WORDS) for _ in range(chance.choice([1, 6, 15]))]
        texts.append("".join(word + chance.choice(SPACES) for word in words))
    return texts


TEXTS = made_texts(90)


@pytest.fixture
def files(tmp_path: Path) -> list[Path]:
    paths = []
    for part, half in enumerate((TEXTS[:40], TEXTS[40:])):
        path = tmp_path / f"{part}.jsonl"
        path.write_text("".join(json.dumps({"text": text}) + "\n" for text in half))
        paths.append(path)
    return paths


@pytest.fixture
def server(files: list[Path]) -> Iterator[ApiServer]:
    with ApiServer({"x": files}) as server:
        yield server


def count(server: ApiServer, folder: Path, rule: MatchRule, **options: Any) -> pd.DataFrame:
    named: dict[str, Any] = {
        "literal": QUERIES,
        "journal": folder / "replies.sqlite",
        "whole_words": rule.whole_words,
        "any_space": rule.any_space,
        "ignore_case": rule.ignore_case,
        **options,
    }
    return ngramscan.count(index=f"{server.url}x", **named)


def by_forms(query: str, rule: MatchRule) -> int:
    """Count the forms of a query in the texts, as whole words if the rule says so."""
    exact = MatchRule(whole_words=rule.whole_words)
    forms = written_forms(query, rule)
    return sum(len(matches(form, text, exact)) for form in forms for text in TEXTS)


@pytest.mark.parametrize("name", RULES)
def test_few_occurrences_are_all_looked_at(server: ApiServer, tmp_path: Path, name: str) -> None:
    rule = RULES[name]
    all_drawn = {"draws": 100_000} if rule.whole_words else {}
    rows = count(server, tmp_path, rule, **all_drawn)
    assert rows["query"].tolist() == QUERIES
    assert rows["occurrences"].tolist() == [by_forms(query, rule) for query in QUERIES]
    by_rule = [sum(len(matches(query, text, rule)) for text in TEXTS) for query in QUERIES]
    assert all(n <= most for n, most in zip(rows["occurrences"], by_rule, strict=True))
    assert rows["occurrences"].sum() > 100
    assert not rows["estimated"].any()
    assert rows["source"].tolist() == ["api"] * len(QUERIES)
    if name == "w":
        assert rows["occurrences"].tolist() == by_rule


def test_many_occurrences_are_estimated_from_draws(server: ApiServer, tmp_path: Path) -> None:
    rule = RULES["w"]
    hits = 0
    for seed in range(1, 21):
        row = count(server, tmp_path, rule, literal="us", draws=40, seed=seed).iloc[0]
        n_all = sum(text.count("us") for text in TEXTS)
        assert row.note == (
            "whole words; estimated from 40 draws, with 95% limits;"
            f" drawn from {n_all:,} occurrences, whole words or not"
        )
        assert (row.estimated, row.level, row.is_trusted) == (True, 0.95, True)
        assert "documents" not in row
        k = round(row.occurrences / n_all * 40)
        assert row.occurrences == round(k / 40 * n_all)
        assert row.occurrences_low <= row.occurrences <= row.occurrences_high
        hits += row.occurrences_low <= by_forms("us", rule) <= row.occurrences_high
    assert hits >= 18


def test_the_row_names_its_forms(server: ApiServer, tmp_path: Path) -> None:
    notes = count(server, tmp_path, RULES["wsi"], literal=["let us", "42"], draws=9999)[
        "note"
    ].tolist()
    begin, forms = notes[0].split("; forms ")
    assert begin == (
        "whole words; any white space; ASCII case ignored;"
        " a lower bound: the sum of the usual forms of a text, which its row names"
    )
    assert forms == (
        '"let us", "Let us", "Let Us", "LET US"'
        r' with white space " ", "\n", "  ", "\r\n", "\t"'
    )
    assert notes[1] == "whole words; any white space; ASCII case ignored"


@pytest.mark.parametrize("name", RULES)
def test_plans_have_the_requests(server: ApiServer, tmp_path: Path, name: str) -> None:
    rule = RULES[name]
    draws = {"draws": 7} if rule.whole_words else {}
    literal = ["us", "let us"]
    plan = count(server, tmp_path, rule, literal=literal, dry_run=True, **draws).iloc[0]
    assert server.read_log() == []
    count(server, tmp_path, rule, literal=literal, **draws)
    kinds = [asked["query_type"] for asked in server.read_log()]
    # Besides the probes that tell whether the index is the one of an earlier run.
    forms = {form for query in literal for form in written_forms(query, rule)}
    assert kinds.count("count") == plan.lookups == len(forms)
    assert kinds.count("get_doc_by_rank") <= plan.windows_at_most
    located = len(forms) if rule.whole_words else 0
    assert plan.windows_at_most == (14 if rule.whole_words else 0)
    assert plan.requests_at_most == len(forms) + located + plan.windows_at_most


@pytest.mark.parametrize("name", RULES)
def test_a_second_run_asks_nothing_again(server: ApiServer, tmp_path: Path, name: str) -> None:
    first = count(server, tmp_path, RULES[name])
    asked = [each for each in server.read_log() if each["query_type"] != "find"]
    again = count(server, tmp_path, RULES[name])
    later = [each for each in server.read_log() if each["query_type"] != "find"]
    assert later == asked
    assert again["source"].tolist() == ["journal"] * len(QUERIES)
    columns = ["occurrences", "note"]
    assert again[columns].equals(first[columns])


@pytest.mark.parametrize(
    ("name", "form", "body", "problem"),
    [
        pytest.param("s", "let\tus", {}, "no count in the reply", id="a count without draws"),
        pytest.param("ws", "let\tus", {}, "no count in the reply", id="a count with draws"),
        pytest.param(
            "ws",
            "let us",
            {"count": 1, "cnt": 2, "segment_by_shard": [[0, 2], [0, 0]]},
            "2 places of 'let us', but a count of 1",
            id="other places than counted",
        ),
        pytest.param(
            "w",
            "let us",
            {"count": 2, "cnt": 2, "segment_by_shard": [[0, 2], [0, 0]]},
            "no window in the reply",
            id="a draw",
        ),
    ],
)
def test_a_part_that_fails_is_no_smaller_number(
    files: list[Path], tmp_path: Path, name: str, form: str, body: dict[str, Any], problem: str
) -> None:
    faults = Faults(bodies={form: json.dumps(body)})
    with (
        ApiServer({"x": files}, faults=faults) as server,
        pytest.raises(IncompleteError, match=problem) as error,
    ):
        count(server, tmp_path, RULES[name], literal=["let us", "us"])
    assert error.value.rows["query"].tolist() == ["us"]


def test_draws_need_whole_words_in_a_hosted_index(server: ApiServer, files: list[Path]) -> None:
    problem = "Error: --draws 9: only --whole-words in a hosted index draws occurrences"
    for index, option in ((f"{server.url}x", "-i"), (f"scan:{files[0]}", "-w")):
        done = invoke("count", "-e", "us", option, "--draws", "9", "--index", index)
        assert (done.code, done.stdout, done.stderr.strip()) == (2, "", problem)


@pytest.mark.parametrize("n_all", [201, 250, 1000, 10**4, 10**6, 10**8])
@pytest.mark.parametrize("share", [0, 0.01, 0.3, 0.86, 1])
def test_limits_cover_the_true_number(n_all: int, share: float) -> None:
    n_whole = round(share * n_all)
    coverage = 0.0
    for k in range(max(0, 200 - (n_all - n_whole)), min(200, n_whole) + 1):
        low, high = whole_word_estimate(k, 200, n_all).limits
        assert k <= low <= round(k / 200 * n_all) <= high <= n_all - 200 + k
        if low <= n_whole <= high:
            coverage += hypergeom.pmf(k, n_all, n_whole, 200)
    assert coverage >= 0.93


def test_limits_of_a_huge_index_are_those_of_a_large_one() -> None:
    large, huge = whole_word_estimate(60, 200, 10**8), whole_word_estimate(60, 200, 10**13)
    assert huge.limits == pytest.approx([limit * 1e5 for limit in large.limits], rel=1e-4)


def test_forms_with_the_same_ranks_in_two_shards_are_told_apart(tmp_path: Path) -> None:
    """Each shard has another form, at the ranks where the other shard has its own."""
    shards = [tmp_path / "spaces.jsonl", tmp_path / "lines.jsonl"]
    for path, space in zip(shards, [" ", "\n"], strict=True):
        path.write_text(json.dumps({"text": f"let{space}us, let{space}us; let{space}user"}) + "\n")
    with ApiServer({"x": shards}) as server:
        rows = count(server, tmp_path, RULES["ws"], literal="let us")
    assert rows["occurrences"].tolist() == [4]
