"""The title of a page, without one that is given: what its rows are about."""

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from ngramscan.prevalence.several_corpora import ALL, UNION, is_one_corpus, sum_over
from ngramscan.reporting.kinds import all_kinds
from ngramscan.reporting.page.findings import weight_of
from ngramscan.reporting.page.results import Results
from ngramscan.reporting.sentences.titles import title_of
from tests.support.row_types import KIND_OF
from tests.support.rows_of_results import ROWS_OF

Rows = Sequence[Mapping[str, Any]]


def title(*parts: tuple[str, Rows], left_out: int = 0) -> str:
    """Return the title of a page of rows, each with the name of their kind."""
    results = [
        Results(
            next(kind for kind in all_kinds() if kind.name == name),
            "rows.csv",
            (*rows[0],),
            [dict(row) for row in rows],
            left_out,
        )
        for name, rows in parts
    ]
    return title_of(sorted(results, key=weight_of))


def counts(phrases: int, corpora: int) -> Rows:
    return [
        {"index": f"c{corpus}", "pattern": f"p{phrase}", "method": "CoT"}
        for corpus in range(corpora)
        for phrase in range(phrases)
    ]


def compared(
    treatments: Sequence[str], baselines: Sequence[str], models: Sequence[str], *datasets: str
) -> Rows:
    return [
        {"dataset": dataset, "model": model, "treatment": treatment, "baseline": baseline}
        for dataset in datasets
        for model in models
        for treatment in treatments
        for baseline in baselines
    ]


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        pytest.param(counts(46, 8), "46 phrases in eight corpora", id="many phrases"),
        pytest.param(counts(12, 2), "Twelve phrases in c0 and c1", id="two corpora have names"),
        pytest.param(counts(1, 1), "One phrase in c0", id="one phrase"),
        pytest.param(
            [*counts(46, 8), {"index": "sum over 7 crawl snapshots"}, {"index": "all"}],
            "46 phrases in eight corpora",
            id="a sum over several corpora is none of them",
        ),
        pytest.param(counts(13, 13), "13 phrases in 13 corpora", id="more than twelve"),
        pytest.param(
            [{"index": "i", "pattern": None, "query": name} for name in "ab"],
            "Two phrases in i",
            id="queries without patterns",
        ),
    ],
)
def test_counts_are_phrases_in_corpora(rows: Rows, expected: str) -> None:
    assert title(("count", rows)) == expected


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        pytest.param(
            compared(["f-1"], ["cot", "pot"], ["l", "m", "n", "all"], "FinanceMath"),
            "f-1 against cot and pot on FinanceMath with three models",
            id="one method and its baselines",
        ),
        pytest.param(
            compared(["pot", "f-1"], ["cot", "pot"], ["gpt-4o"], "d", "e"),
            "pot, cot and f-1 on d and e with gpt-4o",
            id="all methods with each other",
        ),
        pytest.param(
            compared(["a", "b", "c"], ["c", "d"], ["m"], *"uvwxyz"),
            "Four methods on six benchmarks with m",
            id="many methods and benchmarks",
        ),
        pytest.param(
            compared(["more accurate than"], ["42"], ["m"], "d"),
            "“more accurate than” against “42” on d with m",
            id="names that could be words or numbers",
        ),
    ],
)
def test_comparisons_are_of_methods_on_benchmarks_with_models(rows: Rows, expected: str) -> None:
    assert title(("compare", rows)) == expected


EFFECT = {"index": "DCLM", "dataset": "GSM8K", "model": "m", "method": "cot"}
ENTRIES = [{"index": "DCLM", "rule": "mini", "id": str(n)} for n in range(120)]
MARKERS = [{"dataset": "d", "model": "m", "prompt": f"p{n}", "method": "CoT"} for n in range(6)]
PAIR = {"dataset": "d", "model": "m", "treatment": "pot", "baseline": "cot", "index": "i"}


@pytest.mark.parametrize(
    ("name", "rows", "expected"),
    [
        pytest.param(
            "totals", [{"index": "i", "method": "CoT"}], "Phrases of CoT in i", id="totals"
        ),
        pytest.param("contaminate", ENTRIES, "120 questions in DCLM", id="questions"),
        pytest.param(
            "contaminate --shares",
            [{"index": "i", "entries": 50}],
            "50 questions in i",
            id="shares of questions",
        ),
        pytest.param(
            "trace", [PAIR | {"prompt": "cot"}], "Outputs of one prompt traced in i", id="trace"
        ),
        pytest.param("blend", MARKERS, "Markers in outputs of six prompts on d with m", id="blend"),
        pytest.param(
            "blend --retention",
            [{"dataset": "d", "model": "m", "prompt_with": "f-1+cot", "prefix": "f-1"}],
            "Markers in outputs of two prompts on d with m",
            id="markers kept",
        ),
        pytest.param(
            "tiers", [MARKERS[0] | {"pattern": "a"}], "Specificity of one phrase to CoT", id="tiers"
        ),
        pytest.param(
            "keyness",
            [{"ngram": "so that"}, {"ngram": "we get"}],
            "Two key n-grams of a method",
            id="keyness",
        ),
        pytest.param(
            "strategies",
            MARKERS,
            "Strategies in outputs of six prompts on d with m",
            id="strategies",
        ),
        pytest.param("score", MARKERS, "Answers of CoT on d with m", id="score"),
        pytest.param(
            "rank",
            [PAIR | {"method": "cot"}, PAIR | {"method": "f-1"}],
            "cot and f-1 on d with m",
            id="rank",
        ),
        pytest.param(
            "plan", [PAIR], "How many problems a comparison of pot and cot needs", id="plan"
        ),
        pytest.param(
            "outcomes",
            [{"dataset": "d", "model": "m", "adaptive": "f-1", "baselines": "cot, pot"}],
            "Joint outcomes of f-1, cot and pot on d with m",
            id="outcomes",
        ),
        pytest.param(
            "efficiency", MARKERS, "Accuracy and tokens of CoT on d with m", id="efficiency"
        ),
        pytest.param("judge --shares", [{"rule": "judge:a"}], "Labels of judge:a", id="labels"),
        pytest.param(
            "agreement",
            [{"statistic": "share", "judges": name} for name in "aabc"],
            "Agreement of three judges",
            id="agreement",
        ),
        pytest.param(
            "link", [PAIR], "Prevalence and accuracy of pot and cot on d with m", id="link"
        ),
    ],
)
def test_each_kind_of_rows_has_its_subject(name: str, rows: Rows, expected: str) -> None:
    assert title((name, rows)) == expected


def test_files_of_one_family_are_described_together() -> None:
    assert title(("contaminate", ENTRIES), ("contaminate --effects", [EFFECT])) == (
        "120 questions of GSM8K in DCLM"
    )
    totals = [{"index": f"c{n}", "method": "CoT"} for n in range(8)]
    assert title(("totals", totals), ("count", counts(46, 8))) == "46 phrases in eight corpora"


def test_what_stands_for_several_corpora_is_no_corpus_in_a_title() -> None:
    names = [f"c{n}" for n in range(8)]
    totals = [
        {"index": index, "method": "CoT"} for index in (*names, "sum over 7 crawl snapshots", "all")
    ]
    assert title(("totals", totals), ("count", counts(46, 8))) == "46 phrases in eight corpora"
    assert title(("totals", totals)) == "Phrases of CoT in eight corpora"
    shares = [{"index": index, "entries": 50} for index in ("DCLM", "pile", "union")]
    assert title(("contaminate --shares", shares)) == "50 questions in DCLM and pile"


def test_the_names_that_stand_for_several_corpora_are_those_of_rows() -> None:
    assert sum_over(7) == "sum over 7 crawl snapshots"
    assert not any(map(is_one_corpus, (sum_over(7), ALL, UNION)))
    assert is_one_corpus("union-of-corpora")


def test_two_subjects_are_joined_the_weightier_first_without_others() -> None:
    parts = [("count", counts(3, 3)), ("blend", MARKERS), ("compare", [PAIR])]
    assert title(*parts) == (
        "pot against cot on d with m; markers in outputs of six prompts on d with m"
    )


def test_rows_that_are_left_out_are_said() -> None:
    assert title(("count", counts(3, 1)), left_out=5) == "Three phrases in c0 (the first 3 rows)"


@pytest.mark.parametrize("kind_title", ROWS_OF)
def test_rows_without_columns_of_later_versions_have_a_title(kind_title: str) -> None:
    kind, rows = KIND_OF[kind_title], ROWS_OF[kind_title]
    text = title_of([Results(kind, "rows.csv", (*rows[0],), rows)])
    assert text
    assert "None" not in text
    assert text[0] not in " ;"


def test_hostile_names_stay_in_quotes() -> None:
    rows = compared(["x\u202e\n" + "z" * 1_000_000], ["”; y"], ["m"], "d")
    text = title(("compare", rows))
    assert text.isprintable()
    assert len(text) < 200
    assert text.endswith('…” against “"; y” on d with m')
