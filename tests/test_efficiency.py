"""What correct answers cost, against sums written out; the frontier."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import fields, replace
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console
from scipy.special import ndtri

from evalcore import efficiency
from evalcore.commands.efficiency import EfficiencyRow, estimate_costs, pareto_frontier
from evalcore.commands.logs import UsageRow
from evalcore.records import Record, record_path
from evalcore.scores import ScoreRow, print_summaries, summarise
from ngramscan.errors import InputError
from ngramscan.prevalence.contamination_effects import make_effects
from ngramscan.reporting import choose_target, to_frame, write_rows
from ngramscan.reporting.page.results import read_results
from ngramscan.reporting.page.words import sentences
from ngramscan.statistics.proportions import wilson
from ngramscan.statistics.resampling import Resampling
from ngramscan.statistics.two_samples import estimate_accuracy
from tests.support.command import Ran, invoke
from tests.support.sizes import sets
from tests.test_contamination_effects import entry, score

USAGE = [field.name for field in fields(UsageRow)][:8]


class Made:
    """Scores and tokens in a folder; each answer is (value, prompt, completion, reasoning).

    The value is None for no answer, and "?" where nothing is known.
    """

    def __init__(self, folder: Path) -> None:
        self.scores, self.usage = folder / "scores.jsonl", folder / "usage.jsonl"
        self.rows: list[ScoreRow] = []
        self.used: list[UsageRow] = []

    def add(self, model: str, method: str, answers: Sequence[Any], epochs: int = 1) -> None:
        for number, answer in enumerate(answers):
            value, *tokens = (*answer, None, None, None)[:4]
            epoch = number % epochs + 1 if epochs > 1 else None
            names = ("d", model, method, str(number // epochs), epoch)
            status, value = "no_answer" * (value is None), None if value == "?" else value
            self.rows.append(ScoreRow(*names, "r", value, "", "", "", status=status))
            self.used.append(UsageRow(**dict(zip(USAGE, (*names, *tokens), strict=True))))

    def write(self) -> None:
        write_rows(self.rows, ScoreRow, choose_target(None, self.scores))
        write_rows(self.used, UsageRow, choose_target(None, self.usage))

    def found(self, **options: Any) -> dict[str, dict[str, Any]]:
        self.write()
        frame = efficiency(self.scores, **{"usage": self.usage, **options})
        rows = json.loads(frame.to_json(orient="records", double_precision=15))
        return {f"{row['model']} {row['method']}": row for row in rows}

    def command(self, *more: str) -> Ran:
        self.write()
        return invoke("efficiency", self.scores, "--usage", self.usage, *more)


@pytest.fixture
def made(tmp_path: Path) -> Made:
    return Made(tmp_path)


def check(row: dict[str, Any], note: str = "", **expected: Any) -> None:
    assert {name: row[name] for name in expected} == pytest.approx(expected)
    assert note in row["note"]


def test_costs_are_those_of_sums(made: Made) -> None:
    made.add("m", "zero-shot", [(1, 10, 100, 40), (0, 12, 300, 60), (0.5, 14, 200, 50)])
    made.add("m", "cot", [(1, 45, 500), (1, 47, 100), (None, 49, 300)])
    found = made.found()
    zero_shot, cot = found["m zero-shot"], found["m cot"]
    check(zero_shot, n=3, n_no_answer=0, correct=1.5, accuracy=0.5, mean_tokens=200)
    check(zero_shot, tokens_per_correct=400, accuracy_per_100_tokens=0.25, mean_of_ratios=None)
    check(zero_shot, mean_prompt_tokens=12, mean_reasoning_tokens=50, prompt_overhead=None)
    assert zero_shot["note"].endswith("100_tokens: no interval: 3 items; 10 are needed")
    check(cot, n=3, n_no_answer=1, n_unknown=0, correct=2, tokens_per_correct=450)
    check(cot, prompt_overhead=35, prompt_overhead_n=3, mean_reasoning_tokens=None)
    check(cot, on_frontier=True, frontier_share=None)
    check(made.found(tokens="total")["m zero-shot"], mean_tokens=212)
    dropped = made.found(no_answer="exclude")["m cot"]
    check(dropped, n=2, n_no_answer=1, accuracy=1, mean_tokens=300, mean_completion_tokens=300)


def test_tokens_that_are_not_known_are_in_no_mean_and_cost_nothing(made: Made) -> None:
    made.add("m", "cot", [(1, 10, 100), (1, 10, None), (0, None, 300)])
    made.add("m", "pot", [(1,), (0,), (1,)])
    made.add("unknown", "cot", [(1, 10, 100), (0, 10, 300), ("?", 10, 9000)])
    found = made.found()
    check(found["unknown cot"], n=2, n_unknown=1, accuracy=0.5, mean_tokens=200)
    cot, pot = found["m cot"], found["m pot"]
    check(cot, n=3, n_tokens=2, accuracy=2 / 3, mean_tokens=200, tokens_per_correct=400)
    check(cot, accuracy_per_100_tokens=0.25, note="tokens are known for 2 of 3 outputs")
    alone = "no overhead: no problem has prompt tokens of this method and zero-shot"
    check(cot, on_frontier=True, note=alone)
    check(pot, mean_tokens=None, tokens_per_correct=None, on_frontier=None)
    check(pot, note="no tokens are known")
    check(made.found(tokens="total")["m cot"], n_tokens=1)


def test_none_correct_and_no_tokens_at_all_give_notes_instead_of_quotients(made: Made) -> None:
    made.add("m", "cot", [(0, 1, 100), (0, 1, 100)])
    made.add("m", "pot", [(1, 1, 0), (1, 1, 0)])
    made.add("n", "cot", [(None, 1, 5)])
    found = made.found(no_answer="exclude")
    check(found["m cot"], "none is correct", tokens_per_correct=None, accuracy_per_100_tokens=0)
    check(found["m pot"], "there are no tokens", accuracy_per_100_tokens=None)
    none = found["n cot"]
    check(none, "there are no outputs", n=0, accuracy=None, mean_tokens=None, on_frontier=None)


def test_rows_of_all_models_have_both_kinds_of_ratio(made: Made) -> None:
    made.add("cheap", "cot", [(1, 1, 10), (1, 1, 10)])
    made.add("dear", "cot", [(1, 1, 1000), (0, 1, 1000)])
    made.add("dear", "pot", [(1, 1, 1000), (0, 1, None)])
    found = made.found()
    check(found["all cot"], n=4, correct=3, mean_tokens=505, mean_of_ratios=(10 + 0.05) / 2)
    check(found["all cot"], accuracy_per_100_tokens=0.75 / 505 * 100)
    check(found["all pot"], mean_of_ratios=0.1, note="mean of ratios of 1 of 2 models")
    made.add("none", "cot", [(1,), (1,)])
    unknown = "no mean of ratios: a model's tokens are not known"
    check(made.found()["all cot"], mean_of_ratios=None, note=unknown)


def sums_of(right: Any, tokens: Any, models: int = 1) -> Any:
    """Return the sums of problems, to each of which some models gave an answer."""
    outputs = np.full(len(right), models)
    return np.column_stack([outputs, right, outputs, right, tokens]).astype(float)


def log_of_ratio(above: Any, below: Any) -> tuple[float, float]:
    """The logarithm of a ratio of sums over problems, and its standard error by the jackknife."""
    left_out = np.log((above.sum() - above) / (below.sum() - below))
    error = np.sqrt((len(above) - 1) * np.var(left_out))
    return float(np.log(above.sum() / below.sum())), float(error)


def test_intervals_are_those_of_problems_copied_one_by_one_with_jackknifed_errors() -> None:
    generator = np.random.default_rng(2)
    n = 60
    values = (generator.random(2 * n) < 0.6).astype(float)
    tokens = np.round(np.exp(generator.normal(5, 1, 2 * n)))
    right, used = values.reshape(2, n).sum(axis=0), tokens.reshape(2, n).sum(axis=0)
    ((found, _),) = estimate_costs(sums_of(right, used, 2)[None], [("m",)], Resampling(6000, 3))
    parts = {"tokens_per_correct": (used, right), "mean_tokens": (used, np.full(n, 2.0))}
    for name, (above, below) in parts.items():
        value, error = log_of_ratio(above, below)
        copies = generator.integers(0, n, (6000, n))
        drawn = [log_of_ratio(above[chosen], below[chosen]) for chosen in copies]
        low, high = np.quantile([(one - value) / its for one, its in drawn], [0.025, 0.975])
        low, high = min(low, -2.001), max(high, 2.001)
        more = np.log((above.sum() + above) / (below.sum() + below)) - value  # one problem more
        error = np.hypot(error, np.abs(more).max())
        limits = np.exp([value - high * error, value - low * error])
        assert (found[f"{name}_low"], found[f"{name}_high"]) == pytest.approx(limits, rel=0.03)
    per_100, cost = "accuracy_per_100_tokens", "tokens_per_correct"
    assert found[f"{per_100}_low"] == pytest.approx(100 / found[f"{cost}_high"])
    assert found[f"{per_100}_high"] == pytest.approx(100 / found[f"{cost}_low"])
    assert found["frontier_share"] == 1


Of = tuple[float, float, float]


def made_costs(draw: np.random.Generator, n: int, models: int, of: Of) -> tuple[Any, Any]:
    """Return right answers and lognormal tokens, summed over models that find the same things hard.

    `of` is the log-sd of the tokens, the accuracy, and how far long answers are wrong ones.
    """
    spread, accuracy, correlation = of
    shared = 0.5 if models > 1 else 1.0

    def normal() -> Any:
        own = draw.normal(size=(n, models)) * np.sqrt(1 - shared)
        return draw.normal(size=(n, 1)) * np.sqrt(shared) + own

    long = normal()
    hard = correlation * long + np.sqrt(1 - correlation**2) * normal()
    return (hard < ndtri(accuracy)).sum(axis=1), np.exp(6 + spread * long).sum(axis=1)


def least_coverage(n: int, models: int, of: Of, runs: int) -> float:
    """Return the share of intervals with the truth in them, among those given, of any column."""
    spread, accuracy, _ = of
    mean = np.exp(6 + spread**2 / 2)
    truths = {"mean_tokens": mean, "tokens_per_correct": mean / accuracy}
    truths["accuracy_per_100_tokens"] = 100 * accuracy / mean
    draw = np.random.default_rng(4)
    covered: dict[str, list[bool]] = {name: [] for name in truths}
    for seed in range(runs):
        sums = sums_of(*made_costs(draw, n, models, of), models)
        ((found, _),) = estimate_costs(sums[None], [("m",)], Resampling(400, seed))
        for name, truth in truths.items():
            if f"{name}_low" in found:
                covered[name].append(found[f"{name}_low"] <= truth <= found[f"{name}_high"])
                ends = found[f"{name}_high"] / found[name], found[name] / found[f"{name}_low"]
                assert name == "accuracy" or max(ends) <= 20
    assert all(len(hits) > 0.65 * runs for hits in covered.values())
    return float(min(map(np.mean, covered.values())))


@pytest.mark.parametrize("models", [1, 5])
def test_intervals_cover_costs_of_very_skewed_tokens(models: int) -> None:
    assert least_coverage(30, models, (1.5, 0.9, 0.5), runs=300) >= 0.88


@pytest.mark.slow
@pytest.mark.parametrize("models", [1, 5])
@pytest.mark.parametrize("spread", [0.5, 1.0, 1.5])
@pytest.mark.parametrize("rest", [(0.1, 0.5), (0.5, -0.5), (0.9, 0.5)])
def test_intervals_cover_costs_in_many_runs(
    models: int, spread: float, rest: tuple[float, float]
) -> None:
    assert least_coverage(30, models, (spread, *rest), 2000) >= 0.88
    assert least_coverage(100, models, (spread, *rest), 2000) >= 0.92


def test_a_cost_without_a_useful_upper_limit_has_no_interval(made: Made) -> None:
    tokens = [*range(100, 119), 100_000_000]
    made.add("m", "cot", [(float(k % 2), 1, used) for k, used in enumerate(tokens)])
    row = made.found()["m cot"]
    assert row["accuracy_low"] is not None
    for name in ("mean_tokens", "tokens_per_correct", "accuracy_per_100_tokens"):
        assert row[name] is not None
        assert (row[f"{name}_low"], row[f"{name}_high"]) == (None, None)
    assert "too few or too unequal: a limit is over 20 times" in row["note"]
    # Of tokens with log-sd 1.5, limits of 20 problems would reach a million times the mean.
    draw, given = np.random.default_rng(4), 0
    for seed in range(60):
        sums = sums_of(*made_costs(draw, 20, 1, (1.5, 0.5, -0.5)))
        ((found, _),) = estimate_costs(sums[None], [("m",)], Resampling(200, seed))
        if "mean_tokens_high" in found:
            given += 1
            assert found["mean_tokens_high"] <= 20 * found["mean_tokens"]
    assert given > 30


def test_a_row_does_not_depend_on_the_order_of_rows_or_on_what_else_is_in_the_file(
    made: Made, tmp_path: Path
) -> None:
    draw = np.random.default_rng(6)

    def add(to: Made, model: str, method: str, n: int) -> None:
        answers = zip(
            draw.beta(1, 1, n), [5] * n, draw.lognormal(5, 0.5, n).astype(int).tolist(), strict=True
        )
        to.add(model, method, [*answers], epochs=2)

    for method in ("cot", "pot"):
        add(made, "m", method, 40)
    alone = made.found(resamples=300)
    add(made, "m", "f-1", 60)  # with more problems
    add(made, "another", "cot", 40)
    more = made.found(resamples=300)
    for name, row in alone.items():
        relative = {"on_frontier", "frontier_share"}
        assert {key: row[key] for key in row.keys() - relative} == {
            key: more[name][key] for key in row.keys() - relative
        }
    for _ in range(2):
        made.rows = [made.rows[place] for place in draw.permutation(len(made.rows))]
        assert made.found(resamples=300) == more


def test_the_share_of_draws_on_the_frontier_says_how_sure_it_is() -> None:
    tokens = [100] * 40
    better, worse = ([1.0] * 24 + [0.0] * 16), ([0.0] * 20 + [1.0] * 20)
    both = np.stack([sums_of(right, tokens) for right in (better, worse)])
    (first, _), (second, _) = estimate_costs(both, [("better",), ("worse",)], Resampling(2000, 1))
    assert (first["on_frontier"], second["on_frontier"]) == (True, False)
    assert 0.6 < first["frontier_share"] < 0.95
    assert first["frontier_share"] + second["frontier_share"] >= 1


COSTS = st.tuples(st.integers(0, 4), st.one_of(st.just(np.nan), st.integers(1, 4)))


@given(st.lists(COSTS, min_size=1, max_size=7))
def test_on_the_frontier_is_what_nothing_beats(points: list[tuple[int, float]]) -> None:
    def is_beaten(a: int, c: float) -> bool:  # comparisons with nan are false
        return any(b >= a and d <= c and (b > a or d < c) for b, d in points)

    expected = [not np.isnan(c) and not is_beaten(a, c) for a, c in points]
    right, cost = np.array(points, dtype=float).T
    assert pareto_frontier(right, cost).tolist() == expected


def test_repeated_answers_are_drawn_with_their_problem(made: Made) -> None:
    made.add("m", "cot", [(float(k < 12), 1, 100) for k in range(24)], epochs=2)
    row = made.found(resamples=4000)["m cot"]
    assert (row["n"], row["accuracy"]) == (24, 0.5)
    # The interval of 12 problems, not of 24 answers: 0.5 ± 1.96 · sqrt(0.5 · 0.5 / 12).
    assert row["accuracy_high"] - row["accuracy_low"] == pytest.approx(0.56, abs=0.08)


def test_an_accuracy_has_one_interval_wherever_it_is_shown(made: Made) -> None:
    right = [1.0] * 31 + [0.0] * 19
    made.add("m", "cot", [(one, 10, 100 + k) for k, one in enumerate(right)])
    row = made.found()["m cot"]
    assert (row["accuracy_low"], row["accuracy_high"]) == pytest.approx(wilson(31, 50).limits)
    (summary,) = summarise(made.rows)
    assert summary[6:9] == pytest.approx([row[f"accuracy{end}"] for end in ("", "_low", "_high")])
    entries = [entry(str(number), "clean") for number in range(50)]
    (effect,) = make_effects(entries, [score(k, one) for k, one in enumerate(right)])
    assert (effect.accuracy_clean_low, effect.accuracy_clean_high) == summary[7:9]
    shown = StringIO()
    print_summaries(Console(file=shown, width=200), made.rows)
    (words, *_) = sentences(read_results(to_frame([EfficiencyRow(**row)], EfficiencyRow)))
    for text in (shown.getvalue(), made.command("--format", "table").stdout):
        assert "62.0 [48.2, 74.1]" in text
    assert words.startswith("The accuracy is 62.0%, with a wide interval between 48.2% and 74.1%")


@pytest.mark.parametrize("values", [(0.0, 1.0), (0.0, 0.25, 1.0)])
@pytest.mark.parametrize("epochs", [1, 3])
def test_grades_and_epochs_have_one_interval_too(
    made: Made, values: tuple[float, ...], epochs: int
) -> None:
    answers = np.random.default_rng(9).choice(values, 60)
    made.add("m", "cot", [(float(one), 10, 100) for one in answers], epochs)
    row, (summary,) = made.found()["m cot"], summarise(made.rows)
    assert row["accuracy_low"] == pytest.approx(summary.accuracy_low)
    assert row["accuracy_high"] == pytest.approx(summary.accuracy_high)
    entries = [entry(str(number), "clean") for number in range(60 // epochs)]
    given = [replace(score(one.id, one.value), epoch=one.epoch) for one in made.rows]
    (effect,) = make_effects(entries, given)
    found = effect.accuracy_clean_low, effect.accuracy_clean_high
    assert found == pytest.approx((summary.accuracy_low, summary.accuracy_high))


@pytest.mark.parametrize(
    ("mean", "correlation"),
    [
        (0.5, 0.5),
        *(
            pytest.param(*each, marks=pytest.mark.slow)
            for each in [(0.5, 0.1), (0.8, 0.1), (0.8, 0.5)]
        ),
    ],
)
def test_intervals_cover_accuracies_of_several_answers(mean: float, correlation: float) -> None:
    draw, total = np.random.default_rng(8), 1 / correlation - 1
    covered = 0
    for _ in range(sets(500)):
        chances = draw.beta(mean * total, (1 - mean) * total, 50)
        found = estimate_accuracy(draw.random(200) < chances.repeat(4), np.arange(50).repeat(4))
        covered += found.limits[0] <= mean <= found.limits[1]
    assert covered / sets(500) == pytest.approx(0.95, abs=0.02)


@pytest.mark.parametrize("suffix", [".svg", ".png"])
def test_the_command_prints_rows_and_draws_the_frontier(made: Made, suffix: str) -> None:
    generator = np.random.default_rng(1)
    for model, k in (("one", 1), ("two", 3)):
        for number, method in enumerate(("zero-shot", "cot", "pot")):
            right = (generator.random(30) < 0.4 + 0.1 * number).astype(float).tolist()
            tokens = generator.normal(100 * k + 60 * number, 10, 30).astype(int).tolist()
            made.add(model, method, [*zip(right, [50 + number] * 30, tokens, strict=True)])
    figure = made.scores.with_name(f"frontier{suffix}")
    code, stdout, stderr = made.command("--figure", str(figure), "--resamples", "300")
    assert (code, stderr) == (0, "Intervals: 300 bootstrap samples of problems, seed 1\n")
    assert "tokens per correct" in stdout
    accuracy = made.found(resamples=300)["all cot"]["accuracy"]
    first = next(line.split() for line in stdout.splitlines() if " cot " in line)
    assert {"all", f"{100 * accuracy:.1f}"} <= {*first}, "all models come first, in percent"
    assert figure.stat().st_size > 5000
    if suffix == ".svg":
        drawn = figure.read_text(encoding="utf-8")
        words = {"zero-shot", "pot", "accuracy", "mean tokens"}
        assert words <= {*re.findall(">([^<]+)<", drawn)}
        assert all(f" · {model} · " in drawn for model in ("one", "two", "all"))
        assert 'class="frontier"' in drawn


def test_outputs_and_scores_that_do_not_match_or_are_not_known_are_told(made: Made) -> None:
    made.add("m", "cot", [(1, 1, 5), (1, 1, 5), ("?", 1, 9000)])
    made.rows[0] = ScoreRow("d", "m", "pot", "1", None, "r", 1.0, "", "", "")
    code, _, stderr = made.command()
    assert code == 0
    assert "1 of 3 outputs are left out: their result is unknown" in stderr
    assert "1 of 3 scored outputs are not among the recorded ones" in stderr
    assert "1 of 3 recorded outputs are left out: not scored" in stderr


REFUSED: list[tuple[str, str | None, str]] = [
    ("usage", None, "outputs: missing; scores don't hold token counts"),
    ("outputs", "outputs", "usage: not allowed with outputs"),
    ("tokens", "no", 'tokens="no": one of completion, total'),
    ("no_answer", "no", 'no_answer="no": one of wrong, exclude'),
    ("baseline", "no", 'baseline="no": one of cot was expected'),
    ("figure", "f.svg", "nothing to draw: no tokens are known"),
]


def test_options_that_do_not_fit_are_refused(made: Made) -> None:
    made.add("m", "cot", [(1,)])
    for option, value, problem in REFUSED:
        with pytest.raises(InputError, match=problem):
            made.found(**{option: value})


def test_tokens_are_those_of_recorded_outputs(tmp_path: Path) -> None:
    names: dict[str, Any] = {"dataset": "d", "model": "m", "method": "cot", "id": "1"}
    path = record_path(tmp_path, "d", "m", "cot")
    path.parent.mkdir(parents=True)
    path.write_bytes(Record(**names, output="x", prompt_tokens=10, completion_tokens=40).line())
    score = ScoreRow(**names, epoch=None, rule="r", value=1.0, answer="", extraction="", reason="")
    frame = efficiency(to_frame([score], ScoreRow), outputs=tmp_path, tokens="total")
    assert list(frame["mean_tokens"]) == list(frame["tokens_per_correct"]) == [50.0]
