"""`ngramscan trace`: measures by their definitions, and prompts compared."""

import random
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import combinations
from statistics import fmean
from typing import Any

import pandas as pd
import pytest
from statsmodels.stats.proportion import proportion_confint

from ngramscan.indexes.base import QueryCount, QueryFailure
from ngramscan.outputs.formulas import kinds_of
from ngramscan.prevalence.trace import GivenText, TraceOptions, TraceResult, TraceRow, run_trace
from ngramscan.prevalence.trace_methods import DifferenceRow, make_curve, make_differences
from tests.support.text_index import Counting
from tests.support.traced_texts import COPIED, DOUBLED, OTHER, given, planted
from tests.support.word_spans import longest_from, spans_of, words_of


def trace(
    *texts: GivenText, documents: Sequence[str] = (COPIED, OTHER), **options: Any
) -> TraceResult:
    return run_trace(texts, [Counting([*documents])], TraceOptions(**options))


def only_row(*texts: GivenText, **options: Any) -> TraceRow:
    (row,) = trace(*texts, **options).rows
    return row


def published_novelty(texts: Sequence[str], documents: Sequence[str], n: int) -> float:
    """Return n-novelty as Merrill et al. 2024 compute it, from the longest suffixes, of words."""
    suffixes, sizes = list[int](), list[int]()
    for text in texts:
        words = words_of(text)
        for last in range(len(words)):
            occurs = (
                any(text[words[first][0] : words[last][1]] in document for document in documents)
                for first in range(last + 1)
            )
            suffixes.append(last + 1 - next((k for k, yes in enumerate(occurs) if yes), last + 1))
        sizes.append(len(words))
    too_short = sum(min(n - 1, size) for size in sizes)
    return (sum(m < n for m in suffixes) - too_short) / (sum(sizes) - too_short)


@pytest.mark.parametrize("n", [2, 3, 5, 8])
def test_novelty_is_the_published_function_of_the_longest_suffixes(n: int) -> None:
    rng = random.Random(n)
    pieces = COPIED.split() + OTHER.split() + ["x", "y"]
    text = " ".join([*rng.choices(pieces, k=20), COPIED[10:60], *rng.choices(pieces, k=9)])
    row = only_row(given(text), min_words=n, index_from=n)
    assert row.novelty == pytest.approx(published_novelty([text], [COPIED, OTHER], n))


def test_coverage_and_the_index_are_those_of_the_definition() -> None:
    text = f"once {COPIED[4:70]} and, rivers and mountains that no one has, {OTHER[:30]} x"
    row = only_row(given(text), min_words=4, index_from=4, index_to=9)
    n = len(words_of(text))
    covered = {
        least: {
            word
            for first, stop in spans_of(text, [COPIED, OTHER], least)
            for word in range(first, stop)
        }
        for least in range(4, 10)
    }
    assert row.coverage == pytest.approx(len(covered[4]) / n)
    expected = sum(1 - len(words) / n for words in covered.values())
    assert row.creativity_index == pytest.approx(expected)
    assert row.longest == max(
        end - first for first, end in enumerate(longest_from(text, [COPIED, OTHER]))
    )
    assert (row.words, row.masked, row.spans) == (n, 0, len(spans_of(text, [COPIED, OTHER], 4)))


def test_words_of_the_question_count_neither_above_nor_below() -> None:
    text = "the quick brown fox jumps over the lazy dog was the question here"
    asked = "Why did the quick brown fox jumps over it?"
    row = only_row(given(text, asked=[asked]))
    # Masked: the quick brown fox jumps over (6 words); left of the span: the lazy dog.
    assert (row.words, row.masked, row.spans, row.longest) == (7, 6, 1, 9)
    assert row.coverage == pytest.approx(3 / 7)
    assert row.novelty == 1.0
    (echo,) = trace(given(asked.lower(), asked=[asked.lower()])).rows
    assert (echo.words, echo.coverage, echo.novelty, echo.spans) == (0, None, None, 0)
    assert echo.creativity_index is None


def test_the_beginning_alone() -> None:
    text = f"{COPIED} and a number of words that no document of this test has"
    row = only_row(given(text), truncate=10)
    assert (row.truncated_words, row.coverage_truncated) == (10, 1.0)
    assert row.coverage == pytest.approx(17 / 29)
    # Of the copied part only four words are in the beginning: too few.
    late = only_row(given("x y z u v w " + COPIED), truncate=10)
    assert (late.coverage_truncated, only_row(given(text)).truncated_words) == (0.0, None)
    # The longer of two spans that overlap is the shorter one in the beginning.
    (both,) = trace(
        given("a b c d e f g h i j k"), documents=["a b c d e", "d e f g h i j k"], truncate=5
    ).rows
    assert both.coverage_truncated == 1.0


def test_words_of_each_kind_alone() -> None:
    prose, formula = "the quick brown fox jumps over it", r"\(a lazy dog and then sleeps\)"
    code = "```python\ndef until():\n    return the + morning\n```"
    text = f"{prose}, {formula}.\n{code}\nand then sleeps until the next."
    places = [(text.index(formula), text.index(formula) + len(formula), "latex")]
    places.append((text.index(code), text.index(code) + len(code) + 1, "code"))
    assert kinds_of(text) == places
    one = replace(given(text, asked=["The fox: quick brown fox jumps over"]), kinds=(*places,))
    rows = {row.kind: row for row in trace(one).rows}
    assert [*rows] == ["all", "narrative", "latex", "code"]
    assert rows["all"].coverage == pytest.approx((1 + 5 + 6) / 20)
    assert [(kind, row.words, row.masked) for kind, row in rows.items()] == [
        ("all", 20, 5),
        ("narrative", 8, 5),
        ("latex", 6, 0),
        ("code", 6, 0),
    ]
    assert rows["narrative"].coverage == pytest.approx(7 / 8)
    assert rows["latex"].coverage == pytest.approx(5 / 6)
    assert rows["code"].coverage == 0
    assert (rows["latex"].novelty, rows["code"].novelty) == (0.5, 1.0)


def test_a_text_without_code_is_narrative() -> None:
    found = trace(replace(given("x y"), kinds=()))
    assert [(row.kind, row.words) for row in found.rows] == [("all", 2), ("narrative", 2)]
    curve = make_curve(found, TraceOptions(), 0.95)
    assert {row.kind for row in curve} == {"all", "narrative"}
    assert not [*make_curve(trace(given("—")), TraceOptions(), 0.95)]


def test_several_indexes_together_have_the_longest_spans_of_any() -> None:
    text = f"{COPIED[:40]} {OTHER}"
    indexes = [Counting([COPIED]), Counting([OTHER, COPIED[4:60]])]
    indexes[0].name, indexes[1].name = "first", "second"
    found = run_trace([given(text)], indexes, TraceOptions())
    assert [row.index for row in found.rows] == ["first", "second", "union"]
    union = found.traced["union"][0]
    assert [(span.first, span.stop) for span in union.spans] == spans_of(text, [COPIED, OTHER], 5)


def test_differences_are_paired_by_problem_within_models(subtests: pytest.Subtests) -> None:
    texts = planted(random.Random(1), 30, 0.3, 0.2)[:-3]  # the last problem lacks three outputs
    found = trace(*texts, documents=[DOUBLED])
    rows = make_differences(found, TraceOptions(), level=0.95)
    assert [(row.model, row.measure) for row in rows] == [
        (model, measure)
        for model in ("a", "b", "all")
        for measure in ("coverage", "novelty", "creativity_index")
    ]
    table = pd.DataFrame(found.rows).pivot_table(
        index=["model", "id"], columns="prompt", values="coverage"
    )
    changes = (table["pot"] - table["cot"]).dropna()
    for row in rows[::3]:
        own = changes if row.model == "all" else changes[row.model]
        with subtests.test(model=row.model):
            assert row.difference == pytest.approx(own.mean())
            assert row.problems == own.reset_index()["id"].nunique()
            assert row.p_holm == min(1.0, row.p_holm or 2.0) >= (row.p or 0.0)
            assert (row.difference_low or 0) > 0
    assert (rows[0].prompt, rows[0].baseline, rows[0].level) == ("pot", "cot", 0.95)
    assert rows[0].mean - rows[0].mean_baseline == pytest.approx(rows[0].difference)


def test_references_are_compared_with_the_outputs_of_each_model() -> None:
    texts = planted(random.Random(2), 12, 0.4, 0.0)
    controls = [
        given(OTHER, model="", prompt="control", id=str(n), problem=str(n)) for n in range(12)
    ]
    found = trace(*texts, *controls)
    pairs = {
        (row.model, row.prompt, row.baseline): row
        for row in make_differences(found, TraceOptions(), level=0.95)
        if row.measure == "coverage"
    }
    expected = {
        (model, *reversed(pair))
        for model in ("a", "b", "all")
        for pair in combinations(["cot", "pot", "control"], 2)
    }
    assert pairs.keys() == expected
    assert {row.mean for names, row in pairs.items() if names[1] == "control"} == {1.0}


def test_the_curve_has_all_lengths_that_are_known() -> None:
    texts = planted(random.Random(3), 12, 0.4, 0.0)
    found = trace(*texts, min_words=3)
    curve = list(make_curve(found, TraceOptions(min_words=3), 0.95))
    assert {(row.model, row.prompt) for row in curve} == {
        (model, prompt) for model in ("a", "b", "all") for prompt in ("cot", "pot")
    }
    pooled = next(row for row in curve if (row.model, row.prompt) == ("all", "cot"))
    every = [row.coverage or 0.0 for row in found.rows if row.prompt == "cot"]
    assert pooled.outputs == 24
    assert pooled.coverage == pytest.approx(fmean(every))
    rows = [row for row in curve if (row.model, row.prompt) == ("a", "cot")]
    assert [row.length for row in rows] == [*range(3, 13)]
    own = [row for row in found.rows if (row.model, row.prompt) == ("a", "cot")]
    assert rows[0].coverage == pytest.approx(fmean(row.coverage or 0.0 for row in own))
    assert rows[0].novelty == pytest.approx(fmean(row.novelty or 0.0 for row in own))
    assert (rows[0].coverage_low or 1) < rows[0].coverage
    assert [row.coverage for row in rows] == sorted((row.coverage for row in rows), reverse=True)


def test_whole_copies_have_the_interval_of_a_proportion() -> None:
    """A text that is copied as a whole has coverage 1 and novelty 0, another one 0 and 1."""
    texts = [given(COPIED, id=str(n), problem=str(n)) for n in range(3)]
    texts += [given("w x y z a b c d", id=str(n), problem=str(n)) for n in range(3, 12)]
    found = trace(*texts, index_from=5, index_to=7)
    assert {(row.index_from, row.index_to) for row in found.rows} == {(5, 7)}
    first = next(make_curve(found, TraceOptions(), 0.9))
    assert (first.length, first.outputs, first.problems, first.level) == (5, 12, 12, 0.9)
    assert (first.coverage, first.novelty) == (3 / 12, 9 / 12)
    limits = (first.coverage_low, first.coverage_high)
    assert limits == pytest.approx(proportion_confint(3, 12, alpha=0.1, method="wilson"))
    limits = (first.novelty_low, first.novelty_high)
    assert limits == pytest.approx(proportion_confint(9, 12, alpha=0.1, method="wilson"))


class Fast(Counting):
    """Answers whether a text is in one document."""

    def counts(self, queries: Sequence[str]) -> Iterator[QueryCount | QueryFailure]:
        for query in queries:
            yield QueryCount(query, query in DOUBLED, None, "scan", "2026-11-24")


def changes_of(texts: Sequence[GivenText], seed: int) -> DifferenceRow:
    found = run_trace(texts, [Fast([])], TraceOptions())
    rows = make_differences(found, TraceOptions(), 0.95)
    return next(row for row in rows if (row.model, row.measure) == ("all", "coverage"))


def hits(seed: int, sets: int, problems: int, more: float) -> tuple[int, int]:
    """Return how many intervals have the true difference, and how many exclude 0."""
    rng, has_truth, excludes = random.Random(seed), 0, 0
    truth = changes_of(planted(rng, 4000, 0.35, more), 1).difference if more else 0.0
    for number in range(sets):
        row = changes_of(planted(rng, problems, 0.35, more), number)
        assert row.difference_low is not None
        assert row.difference_high is not None
        has_truth += row.difference_low <= truth <= row.difference_high
        excludes += not row.difference_low <= 0 <= row.difference_high
    return has_truth, excludes


def test_texts_without_planted_copying_rarely_differ() -> None:
    has_truth, excludes = hits(seed=5, sets=8, problems=20, more=0.0)
    assert excludes <= 2
    assert has_truth + excludes == 8


def whole_or_little(rng: random.Random, problems: int) -> list[GivenText]:
    """Return outputs of a prompt that copies one in ten whole, and of one that copies a tenth."""
    words = DOUBLED.split()
    own = [[f"w{rng.random()}" for _ in range(20)] for _ in range(2 * problems)]
    whole = [words[:20] if rng.random() < 0.1 else texts for texts in own[:problems]]
    little = [
        [*texts[:15], *words[4:9]] if rng.random() < 0.4 else texts for texts in own[problems:]
    ]
    return [
        given(" ".join(text), prompt=prompt, problem=str(number), id=str(number))
        for prompt, texts in (("cot", whole), ("pot", little))
        for number, text in enumerate(texts)
    ]


@pytest.mark.parametrize("sets", [25, pytest.param(600, marks=pytest.mark.slow)])
def test_rare_whole_copies_are_no_difference_if_the_means_are_equal(sets: int) -> None:
    rng, n_rejected = random.Random(7), 0
    for _ in range(sets):
        found = run_trace(whole_or_little(rng, 20), [Fast([])], TraceOptions())
        row = make_differences(found, TraceOptions(), 0.95)[0]
        assert row.measure == "coverage"
        assert row.p is not None
        n_rejected += row.p <= 0.05
    assert n_rejected / sets <= 0.06


def test_intervals_widen_with_unequal_numbers_of_outputs() -> None:
    copied, own = COPIED[4:39], "a b c d e f g"
    texts = [given(own, id=f"{n}", problem=f"{n}") for n in range(20)]
    again = [given(copied, id=f"0.{n}", problem="0") for n in range(6)]
    alone = [given(copied, id=f"x{n}", problem=f"x{n}") for n in range(6)]
    rows = [next(make_curve(trace(*texts, *more), TraceOptions(), 0.95)) for more in (again, alone)]
    assert [(row.outputs, row.problems) for row in rows] == [(26, 20), (26, 26)]
    clustered, independent = ((row.coverage_high or 0) - (row.coverage_low or 0) for row in rows)
    assert clustered > 1.4 * independent


def test_limits_of_differences_are_those_that_the_measures_allow() -> None:
    texts = [
        given(text, prompt=prompt, id=f"{n}", problem=f"{n}")
        for n in range(3)
        for prompt, text in (("cot", COPIED), ("pot", "a b c d e f g h i j k l m"))
    ]
    rows = {row.measure: row for row in make_differences(trace(*texts), TraceOptions(), 0.95)}
    index = rows["creativity_index"]
    assert (index.difference, index.difference_high) == (7.0, 7.0)  # lengths 5 to 11
    assert rows["coverage"].difference_low == -1.0
    assert rows["coverage"].difference == -1.0
    assert (index.test, index.note) == ("nonparametric tilting", "fewer than 10 problems")
    assert (index.family, index.family_tests) == ("index x", 3)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("problems", "more"),
    [
        (20, 0.0),
        (60, 0.0),
        (20, 0.15),
        (60, 0.15),
    ],
)
def test_intervals_have_the_true_difference(problems: int, more: float) -> None:
    has_truth, excludes = hits(seed=6, sets=600, problems=problems, more=more)
    assert has_truth / 600 >= 0.93  # and more with few problems, since any may be copied whole
    if not more:
        assert excludes / 600 <= 0.065
