"""What a report says where nothing differs: a false claim in at most one report in twenty."""

import math
from collections.abc import Callable, Sequence
from dataclasses import asdict, fields
from typing import Any

import numpy as np
import pandas as pd
import pytest

import evalcore
from evalcore.commands.link import LinkRow, PatternCount
from evalcore.compare_rows import CompareRow, compare_methods
from evalcore.paired_tests import Settings
from evalcore.prevalence_links import ProblemOptions, SlopeRow, link_problems
from evalcore.scores import ScoreRow
from ngramscan.outputs.blend import RetentionRow, run_blend
from ngramscan.outputs.keyness import KeynessOptions, KeynessRow, run_keyness
from ngramscan.outputs.ngrams import MinFrequency
from ngramscan.outputs.tiers import TierRow, run_tiers
from ngramscan.patterns.files import parse_patterns
from ngramscan.prevalence.contamination.contaminate import EntryRow
from ngramscan.prevalence.contamination.effects import EffectRow, GivenScore, make_effects
from ngramscan.prevalence.trace import GivenText, TraceOptions, run_trace
from ngramscan.prevalence.trace_methods import DifferenceRow, make_differences
from ngramscan.reporting import to_frame
from ngramscan.reporting.kinds import kind_of
from ngramscan.reporting.page.results import Results
from ngramscan.reporting.sentences.families import count_families
from tests.support.outputs import outputs_of
from tests.support.report_sentences import CLAIM, texts_of
from tests.support.text_index import Counting

COPIED = "the quick brown fox jumps over the lazy dog and then sleeps until the next morning comes"

PATTERNS = parse_patterns(
    """
name: made
patterns:
  - {method: A, tier: T1, kind: narrative, text: alpha}
  - {method: B, tier: T1, kind: narrative, text: beta}
""",
    "made.yaml",
)
Draw = np.random.Generator
Page = dict[str, Results]
"""The results on a page, by the names of their sections."""


def results_of(rows: Sequence[Any], row_type: type) -> Results:
    """Return rows as a page gets them."""
    columns = tuple(field.name for field in fields(row_type))
    kind = kind_of(columns)
    assert kind is not None
    return Results(kind, "rows", columns, [asdict(row) for row in rows])


def hard_problems(draw: Draw, n: int) -> Any:
    """Return how likely right answers to some problems are: from hard to easy, 0.6 on average."""
    return draw.beta(1.5, 1, n)


def comparisons(draw: Draw) -> Page:
    """2 benchmarks of 100 problems, 3 models and all pairs of 4 methods, beside 3 indexes."""
    scores = [
        ScoreRow(dataset, model, method, str(number), None, "strict", float(is_right))
        for dataset in ("d", "e")
        for chances in [hard_problems(draw, 100)]
        for model in ("l", "m", "n")
        for method in ("cot", "f-1", "pot", "zs")
        for number, is_right in enumerate(draw.random(100) < chances)
    ]
    compared, _, _ = compare_methods(scores, settings=Settings(resamples=2000))
    counts = [
        PatternCount(index, method, "T1", f"{method} {number}", float(draw.integers(1, 10**6)))
        for index in ("i", "j", "k")
        for method in ("cot", "f-1", "pot", "zs")
        for number in range(5)
    ]
    frame = evalcore.link(to_frame(counts, PatternCount), to_frame(compared, CompareRow))
    linked = [LinkRow(*row) for row in frame.astype(object).itertuples(index=False)]
    return {"compare": results_of(compared, CompareRow), "link": results_of(linked, LinkRow)}


def effects(draw: Draw) -> Page:
    """4 indexes, each with some other half of 120 entries, and 5 models."""
    chances = hard_problems(draw, 120)
    rows = [
        EntryRow(index, "mini", str(number), 1, 1, 0, None, None, None, verdict, None, None, 0)
        for index in "ijkl"
        for number, is_dirty in enumerate(draw.random(120) < 0.5)
        for verdict in ("dirty" if is_dirty else "clean",)
    ]
    scores = [
        GivenScore("d", model, "cot", str(number), "strict", float(is_right))
        for model in "lmnop"
        for number, is_right in enumerate(draw.random(120) < chances)
    ]
    return {"effects": results_of(make_effects(rows, scores), EffectRow)}


def markers(draw: Draw) -> Page:
    """4 models, whose outputs to 60 problems have the marker of each method half of the time."""
    prompts = ("a", "a+x", "a+y", "b", "b+x", "b+y")
    texts = {
        ("d", model, prompt): [
            " ".join(["some", *["alpha"] * one, *["beta"] * other])
            for one, other in draw.integers(0, 2, (60, 2))
        ]
        for model in "lmno"
        for prompt in prompts
    }
    found = outputs_of(texts)
    retention, tiers = run_blend(found, PATTERNS).retention, run_tiers(found, PATTERNS).rows
    assert len(retention) == 16
    return {"retention": results_of(retention, RetentionRow), "tiers": results_of(tiers, TierRow)}


def words(draw: Draw) -> Page:
    """Outputs of two methods to 80 problems, each with half of 40 words."""
    names = np.array([f"w{number}" for number in range(40)])
    texts = {
        ("d", "m", prompt): [" ".join(names[draw.random(40) < 0.5]) for _ in range(80)]
        for prompt in ("pot", "cot")
    }
    least = MinFrequency(5, 5)
    how = KeynessOptions("pot", ("cot",), "word", (1, 2), least, 50, q=0.5, all=True)
    return {"keyness": results_of(run_keyness(outputs_of(texts), how).rows, KeynessRow)}


def slopes(draw: Draw) -> Page:
    """Two methods, whose answers to 25 groups of 8 problems don't depend on the counts."""
    chances = hard_problems(draw, 25)
    counts = [
        {"topic": f"t{group}", "occurrences": int(count)}
        for group, count in enumerate(draw.lognormal(4, 2, 25))
    ]
    scores = [
        {
            "dataset": "d",
            "model": "m",
            "method": method,
            "id": f"{group} {number}",
            "rule": "strict",
            "value": float(draw.random() < chances[group]),
            "topic": f"t{group}",
        }
        for method in ("cot", "pot")
        for group in range(25)
        for number in range(8)
    ]
    options = ProblemOptions(on="topic", resamples=1999, seed=int(draw.integers(1 << 30)))
    rows, _ = link_problems(pd.DataFrame(counts), pd.DataFrame(scores), (), (), options)
    return {"slopes": results_of(rows, SlopeRow)}


def traces(draw: Draw) -> Page:
    """Two prompts, whose outputs to 30 problems are copied in part or not."""
    own = [" ".join(f"w{number}" for number in draw.integers(0, 10**6, 12)) for _ in range(60)]
    copied = COPIED.split()
    texts = [
        GivenText("d", "m", prompt, str(n), str(n), f"{text} {' '.join(copied[:length])}")
        for prompt, some in (("cot", own[:30]), ("pot", own[30:]))
        for n, text in enumerate(some)
        for length in [int(draw.choice([0, 0, 6, 12]))]
    ]
    found = run_trace(texts, [Counting([COPIED])], TraceOptions())
    rows = make_differences(found, TraceOptions(), 0.95)
    return {"traces": results_of(rows, DifferenceRow)}


def six_benchmarks(draw: Draw) -> Page:
    """Six benchmarks of 60 problems, which are families of their own (`--family dataset`)."""
    scores = [
        ScoreRow(f"d{dataset}", "m", method, str(number), None, "strict", float(is_right))
        for dataset in range(6)
        for chances in [hard_problems(draw, 60)]
        for method in ("cot", "pot")
        for number, is_right in enumerate(draw.random(60) < chances)
    ]
    compared, _, _ = compare_methods(scores, family=["dataset"])
    return {"benchmarks": results_of(compared, CompareRow)}


def six_kinds(draw: Draw) -> Page:
    """All kinds of rows with claims on one page."""
    return {
        **six_benchmarks(draw),
        **effects(draw),
        **markers(draw),
        **words(draw),
        **slopes(draw),
        **traces(draw),
    }


def claims_of(page: Page) -> dict[str, bool]:
    """Return which sections of a page claim something, and whether any does (`page`)."""
    families = count_families(page.values())
    known = {name: results for name, results in page.items() if results.rows}
    claims = {name: any(map(CLAIM.search, texts_of(results))) for name, results in known.items()}
    claims["page"] = any(
        CLAIM.search(text) for one in known.values() for text in texts_of(one, families)
    )
    return claims


def check(make: Callable[[Draw], Page], runs: int) -> None:
    """Count the reports with a false claim, by section: at most .05 and two standard errors."""
    claims: dict[str, int] = {}
    for seed in range(runs):
        for section, has_claim in claims_of(make(np.random.default_rng([31, seed]))).items():
            claims[section] = claims.get(section, 0) + has_claim
    most = 0.05 + 2 * math.sqrt(0.05 * 0.95 / runs)
    assert {name: n / runs for name, n in claims.items() if n / runs > most} == {}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("make", "runs"),
    [
        (comparisons, 5),
        (effects, 5),
        (markers, 10),
        (words, 30),
        (slopes, 10),
        (traces, 10),
        (six_benchmarks, 15),
        (six_kinds, 10),
    ],
)
def test_a_report_claims_nothing_in_many_simulations(
    make: Callable[[Draw], Page], runs: int
) -> None:
    check(make, 40 * runs)


@pytest.mark.parametrize(
    ("make", "runs", "most"),
    [
        (markers, 50, 0),
        (words, 100, 1),
        (traces, 150, 3),
    ],
)
def test_pages_of_few_simulations_claim_no_more_than_their_level(
    make: Callable[[Draw], Page], runs: int, most: int
) -> None:
    """The draws are the same in each run: with twice the level, one more page has a claim."""
    pages = (make(np.random.default_rng([31, seed])) for seed in range(runs))
    assert sum(claims_of(page)["page"] for page in pages) <= most


def test_a_page_of_six_benchmarks_claims_little_where_nothing_differs() -> None:
    check(six_benchmarks, 10)
