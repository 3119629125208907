"""What correct answers cost, against sums written out; the frontier."""

import json
import re
from collections.abc import Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import ndtri
from scipy.stats import t

from evalcore import efficiency
from evalcore.commands.logs import UsageRow
from evalcore.efficiency_rows import estimate_costs, find_frontier
from evalcore.records import Record, record_path
from evalcore.scores import ScoreRow, summarise
from ngramscan.errors import InputError
from ngramscan.prevalence.contamination.effects import make_effects
from ngramscan.reporting import choose_target, to_frame, write_rows
from ngramscan.statistics.resampling import Resampling
from ngramscan.statistics.two_samples import estimate_accuracy
from tests.support.command import Ran, invoke
from tests.support.contaminated_entries import entry, score
from tests.support.sizes import sets, slow
from tests.support.tiered_scores import SCORES

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
            status = "no_answer" if value is None else ""
            known = None if value == "?" else value
            self.rows.append(ScoreRow(*names, "r", known, "", "", "", status=status))
            self.used.append(UsageRow(**dict(zip(USAGE, (*names, *tokens), strict=True))))

    def write(self) -> None:
        write_rows(self.rows, ScoreRow, choose_target(None, self.scores))
        write_rows(self.used, UsageRow, choose_target(None, self.usage))

    def found(self, **options: Any) -> dict[str, dict[str, Any]]:
        self.write()
        frame = efficiency(self.scores, **{"usage": self.usage, **options})
        rows = [
            dict.fromkeys(frame.attrs["left_out"]) | row
            for row in json.loads(frame.to_json(orient="records", double_precision=15))
        ]
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


def sums_of(right: Any, tokens: Any, models: int = 1) -> Any:
    """Return the sums of problems, to each of which some models gave an answer."""
    outputs = np.full(len(right), models)
    return np.column_stack([outputs, right, outputs, right, tokens]).astype(float)


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


def log_of_ratio(above: Any, below: Any) -> tuple[float, float]:
    """Return the logarithm of a ratio of sums over problems, and its error by the jackknife."""
    left_out = np.log((above.sum() - above) / (below.sum() - below))
    error = np.sqrt((len(above) - 1) * np.var(left_out))
    return float(np.log(above.sum() / below.sum())), float(error)


def limits_by_copies(above: Any, below: Any, draw: np.random.Generator) -> Any:
    """Return the limits of a ratio of sums, by copying problems one by one."""
    n = len(above)
    value, error = log_of_ratio(above, below)
    drawn = []
    for _ in range(6000):
        chosen = draw.integers(0, n, n)
        copied, error_of_copies = log_of_ratio(above[chosen], below[chosen])
        drawn.append((copied - value) / error_of_copies)
    # As a t interval of n problems at least, and of an error that one problem more could show.
    low, high = np.quantile(drawn, [0.025, 0.975])
    low, high = min(low, -t.ppf(0.975, n - 1)), max(high, t.ppf(0.975, n - 1))
    more = np.log((above.sum() + above) / (below.sum() + below)) - value
    error = np.hypot(error, np.abs(more).max())
    return np.exp([value - high * error, value - low * error])


def test_limits_are_those_of_problems_copied_one_by_one(
    made: Made, subtests: pytest.Subtests
) -> None:
    generator = np.random.default_rng(2)
    right = (generator.random(60) < 0.6).astype(float)
    tokens = np.round(np.exp(generator.normal(5, 1, 60)))
    prompts = np.round(np.exp(generator.normal(4, 1, 60)))
    answers = zip(
        right.tolist(), prompts.astype(int).tolist(), tokens.astype(int).tolist(), strict=True
    )
    made.add("m", "cot", [*answers])
    row = made.found(price_in=2, price_out=10, resamples=6000)["m cot"]
    dollars, outputs = (2 * prompts + 10 * tokens) / 1e6, np.ones(60)
    ratios = {
        ("mean_tokens", "mean_tokens_low", "mean_tokens_high"): (tokens, outputs),
        ("tokens_per_correct", "tokens_per_correct_low", "tokens_per_correct_high"): (
            tokens,
            right,
        ),
        ("cost_per_answer", "cost_per_answer_low", "cost_per_answer_high"): (dollars, outputs),
        ("cost_per_correct", "cost_per_correct_low", "cost_per_correct_high"): (dollars, right),
    }
    for (name, low, high), (above, below) in ratios.items():
        with subtests.test(name=name):
            assert row[name] == pytest.approx(above.sum() / below.sum())
            limits = limits_by_copies(above, below, generator)
            # Both draw 6,000 times, so that their limits differ by a few percent.
            assert (row[low], row[high]) == pytest.approx(tuple(limits), rel=0.06)
    of_tokens = 100 / row["tokens_per_correct_high"], 100 / row["tokens_per_correct_low"]
    limits = row["accuracy_per_100_tokens_low"], row["accuracy_per_100_tokens_high"]
    assert limits == pytest.approx(of_tokens)


def test_a_cost_without_a_useful_upper_limit_has_no_interval(
    made: Made, subtests: pytest.Subtests
) -> None:
    tokens = [*range(100, 119), 100_000_000]
    made.add("m", "cot", [(float(number % 2), 1, used) for number, used in enumerate(tokens)])
    row = made.found()["m cot"]
    assert row["accuracy_low"] is not None
    for name in ("mean_tokens", "tokens_per_correct", "accuracy_per_100_tokens"):
        with subtests.test(name=name):
            assert row[name] is not None
            assert (row[f"{name}_low"], row[f"{name}_high"]) == (None, None)
    assert "too few or too unequal: a limit is over 20 times" in row["note"]


def test_costs_are_those_of_sums(made: Made) -> None:
    made.add("m", "zero-shot", [(1, 10, 100, 40), (0, 12, 300, 60), (0.5, 14, 200, 50)])
    made.add("m", "cot", [(1, 45, 500), (1, 47, 100), (None, 49, 300)])
    found = made.found()
    zero_shot, cot = found["m zero-shot"], found["m cot"]
    assert (cot["dataset"], cot["model"], cot["method"], cot["rule"]) == ("d", "m", "cot", "r")
    expected = {
        "n": 3,
        "n_no_answer": 0,
        "n_tokens": 3,
        "correct": 1.5,
        "accuracy": 0.5,
        "mean_tokens": 200,
        "tokens_per_correct": 400,
        "accuracy_per_100_tokens": 0.25,
        "mean_of_ratios": None,
        "mean_prompt_tokens": 12,
        "mean_completion_tokens": 200,
        "mean_reasoning_tokens": 50,
        "prompt_overhead": None,
        "prompt_overhead_n": None,
    }
    check(zero_shot, "no interval: 3 items; 10 are needed", **expected)
    check(cot, n=3, n_no_answer=1, n_unknown=0, correct=2, tokens_per_correct=450)
    check(cot, prompt_overhead=35, prompt_overhead_n=3, mean_reasoning_tokens=None)
    check(cot, on_frontier=True, frontier_share=None)
    check(made.found(tokens="total")["m zero-shot"], mean_tokens=212)
    dropped = made.found(no_answer="exclude")["m cot"]
    check(dropped, n=2, n_no_answer=1, accuracy=1, mean_tokens=300, mean_completion_tokens=300)


def test_tokens_that_are_not_known_are_in_no_mean(made: Made) -> None:
    made.add("m", "cot", [(1, 10, 100), (1, 10, None), (0, None, 300)])
    made.add("m", "pot", [(1,), (0,), (1,)])
    made.add("unknown", "cot", [(1, 10, 100), (0, 10, 300), ("?", 10, 9000)])
    found = made.found(baseline="cot")
    check(found["unknown cot"], n=2, n_unknown=1, accuracy=0.5, mean_tokens=200)
    cot, pot = found["m cot"], found["m pot"]
    check(cot, n=3, n_tokens=2, accuracy=2 / 3, mean_tokens=200, tokens_per_correct=400)
    check(cot, "tokens are known for 2 of 3 outputs", accuracy_per_100_tokens=0.25)
    check(pot, "no tokens are known", mean_tokens=None, tokens_per_correct=None, on_frontier=None)
    check(made.found(tokens="total", baseline="cot")["m cot"], n_tokens=1)


def test_nothing_correct_and_no_tokens_have_notes_instead_of_quotients(made: Made) -> None:
    made.add("m", "cot", [(0, 1, 100), (0, 1, 100)])
    made.add("m", "pot", [(1, 1, 0), (1, 1, 0)])
    made.add("n", "cot", [(None, 1, 5)])
    found = made.found(no_answer="exclude", baseline="cot")
    check(found["m cot"], "none is correct", tokens_per_correct=None, accuracy_per_100_tokens=0)
    check(found["m pot"], "there are no tokens", accuracy_per_100_tokens=None)
    none = found["n cot"]
    check(none, "there are no outputs", n=0, accuracy=None, mean_tokens=None, on_frontier=None)


def test_repeated_answers_are_drawn_with_their_problem(made: Made) -> None:
    made.add("m", "cot", [(float(number < 12), 1, 100) for number in range(24)], epochs=2)
    row = made.found(resamples=4000)["m cot"]
    assert (row["n"], row["accuracy"]) == (24, 0.5)
    # The interval of 12 problems, not of 24 answers: 0.5 ± 1.96 · sqrt(0.5 · 0.5 / 12).
    assert row["accuracy_high"] - row["accuracy_low"] == pytest.approx(0.56, abs=0.08)


def test_a_row_does_not_depend_on_other_rows_or_their_order(made: Made) -> None:
    draw = np.random.default_rng(6)

    def add(model: str, method: str, n: int) -> None:
        tokens = draw.lognormal(5, 0.5, n).astype(int).tolist()
        answers = [(value, 5, used) for value, used in zip(draw.beta(1, 1, n), tokens, strict=True)]
        made.add(model, method, answers, epochs=2)

    add("m", "cot", 40)
    add("m", "pot", 40)
    alone = made.found(resamples=300, baseline="cot")
    add("m", "f-1", 60)  # with more problems
    add("another", "cot", 40)
    more = made.found(resamples=300, baseline="cot")
    of_all_rows = {"on_frontier", "frontier_share", "note"}
    own = {
        name: {key: value for key, value in row.items() if key not in of_all_rows}
        for name, row in alone.items()
    }
    among_more = {name: {key: more[name][key] for key in row} for name, row in own.items()}
    assert among_more == own
    made.rows = [made.rows[place] for place in draw.permutation(len(made.rows))]
    assert made.found(resamples=300, baseline="cot") == more


def test_tokens_are_those_of_recorded_outputs(tmp_path: Path) -> None:
    names: dict[str, Any] = {"dataset": "d", "model": "m", "method": "cot", "id": "1"}
    path = record_path(tmp_path, "d", "m", "cot")
    path.parent.mkdir(parents=True)
    path.write_bytes(Record(**names, output="x", prompt_tokens=10, completion_tokens=40).line())
    given = ScoreRow(**names, epoch=None, rule="r", value=1.0, answer="", extraction="", reason="")
    frame = efficiency(to_frame([given], ScoreRow), outputs=tmp_path, tokens="total")
    assert [*frame["mean_tokens"]] == [*frame["tokens_per_correct"]] == [50.0]


def test_the_command_prints_rows_and_draws_the_frontier(made: Made) -> None:
    draw = np.random.default_rng(1)
    for model, factor in (("one", 1), ("two", 3)):
        for number, method in enumerate(("zero-shot", "cot", "pot")):
            right = (draw.random(30) < 0.4 + 0.1 * number).astype(float).tolist()
            tokens = draw.normal(100 * factor + 60 * number, 10, 30).astype(int).tolist()
            made.add(model, method, [*zip(right, [50 + number] * 30, tokens, strict=True)])
    figure = made.scores.with_name("frontier.svg")
    code, stdout, stderr = made.command("--figure", str(figure), "--resamples", "300")
    assert (code, stderr) == (0, "Intervals: 300 bootstrap samples of problems, seed 1\n")
    accuracy = made.found(resamples=300)["all cot"]["accuracy"]
    first = next(line.split() for line in stdout.splitlines() if " cot " in line)
    assert {"all", f"{100 * accuracy:.1f}"} <= {*first}, "all models come first, in percent"
    drawn = figure.read_text()
    assert {"zero-shot", "pot", "mean tokens"} <= {*re.findall(">([^<]+)<", drawn)}
    assert 'class="frontier"' in drawn


def test_a_method_of_which_nothing_is_known_has_no_accuracy(made: Made) -> None:
    made.add("m", "cot", [("?", 10, 5)] * 3)
    made.add("m", "pot", [(1.0, 10, 5)] * 3)
    row = made.found()["m cot"]
    assert (row["n"], row["accuracy"], row["on_frontier"]) == (0, None, None)
    assert row["note"].startswith("there are no outputs; no tokens are known")


@pytest.mark.parametrize("models", [slow(1), 5])
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


COSTS = st.tuples(st.integers(0, 4), st.one_of(st.just(np.nan), st.integers(1, 4)))


@given(st.lists(COSTS, min_size=1, max_size=7))
def test_on_the_frontier_is_what_nothing_beats(points: list[tuple[int, float]]) -> None:
    def is_beaten(a: int, c: float) -> bool:  # comparisons with nan are false
        return any(b >= a and d <= c and (b > a or d < c) for b, d in points)

    expected = [not np.isnan(c) and not is_beaten(a, c) for a, c in points]
    right, cost = np.array(points, dtype=float).T
    assert find_frontier(right, cost).tolist() == expected


@pytest.mark.parametrize(
    "values",
    [pytest.param((0.0, 1.0), id="right or wrong"), pytest.param((0.0, 0.25, 1.0), id="grades")],
)
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
    [(0.5, 0.5), *(slow(*each) for each in [(0.5, 0.1), (0.8, 0.1), (0.8, 0.5)])],
)
def test_intervals_cover_accuracies_of_several_answers(mean: float, correlation: float) -> None:
    draw, total = np.random.default_rng(8), 1 / correlation - 1
    covered = 0
    for _ in range(sets(150)):
        chances = draw.beta(mean * total, (1 - mean) * total, 50)
        found = estimate_accuracy(draw.random(200) < chances.repeat(4), np.arange(50).repeat(4))
        covered += found.limits[0] <= mean <= found.limits[1]
    assert covered / sets(150) == pytest.approx(0.95, abs=0.03)


def test_outputs_and_scores_that_do_not_match_or_are_not_known_are_told(made: Made) -> None:
    made.add("m", "cot", [(1, 1, 5), (1, 1, 5), ("?", 1, 9000)])
    made.rows[0] = ScoreRow("d", "m", "pot", "1", None, "r", 1.0, "", "", "")
    code, _, stderr = made.command()
    assert code == 0
    assert "1 of 3 outputs are left out: their result is unknown" in stderr
    assert "1 of 3 scored outputs are not among the recorded ones" in stderr
    assert "1 of 3 recorded outputs are left out: not scored" in stderr


def test_costs_are_those_written_out_and_need_both_token_counts(made: Made) -> None:
    made.add("m", "cot", [(1, 1000, 200), (0, 3000, 100), (0.5, None, 900), ("?", 9, 9)])
    made.add("m", "pot", [(0, 1000, 200)])
    found = made.found(price_in=2, price_out=10)
    dollars = (1000 * 2 + 200 * 10 + 3000 * 2 + 100 * 10) / 1e6
    costs = {"cost_per_answer": dollars / 2, "cost_per_correct": dollars}
    check(found["m cot"], "costs are known for 2 of 3 outputs", **costs)
    check(found["m pot"], cost_per_answer=0.004, cost_per_correct=None)
    check(made.found()["m cot"], cost_per_answer=None, cost_per_correct=None)


@pytest.mark.parametrize(
    ("option", "value", "problem"),
    [
        pytest.param(
            "usage", None, "outputs: missing; scores don't hold token counts", id="no tokens"
        ),
        pytest.param(
            "outputs", "outputs", "usage: not allowed with outputs", id="tokens and outputs"
        ),
        pytest.param("price_in", 1, "price_out: missing; costs need both prices", id="one price"),
        pytest.param(
            "tokens",
            "no",
            'tokens="no": expected one of completion, total',
            id="an unknown kind of tokens",
        ),
        pytest.param(
            "no_answer",
            "no",
            'no_answer="no": expected one of wrong, exclude',
            id="an unknown treatment of no answer",
        ),
        pytest.param(
            "baseline", "no", 'baseline="no": expected one of cot', id="an unknown baseline"
        ),
        pytest.param(
            "figure", "f.svg", "nothing to draw: no tokens are known", id="a figure of nothing"
        ),
    ],
)
def test_options_that_do_not_fit_are_refused(
    made: Made, option: str, value: Any, problem: str
) -> None:
    made.add("m", "cot", [(1,)])
    with pytest.raises(InputError, match=problem):
        made.found(**{option: value})


def test_costs_have_intervals_in_proportion_to_the_prices(
    made: Made, subtests: pytest.Subtests
) -> None:
    tokens = np.random.default_rng(4).lognormal(5, 0.7, 40).astype(int).tolist()
    made.add("m", "cot", [(float(number % 3 > 0), 100, n) for number, n in enumerate(tokens)])
    first, second = (made.found(price_in=0, price_out=price)["m cot"] for price in (10, 20))
    columns = {"cost_per_answer": "mean_tokens", "cost_per_correct": "tokens_per_correct"}
    for name, of_tokens in columns.items():
        for end in ("", "_low", "_high"):
            with subtests.test(column=name + end):
                cost, count = first[name + end], first[of_tokens + end]
                assert second[name + end] == pytest.approx(2 * cost)
                # Other draws of problems than those of tokens.
                assert cost == pytest.approx(count * 10 / 1e6, rel=0.05)


def test_too_few_priced_problems_have_costs_without_an_interval(made: Made) -> None:
    made.add("m", "cot", [(1, 100, 50)] * 9)
    row = made.found(price_in=1, price_out=1)["m cot"]
    assert (row["cost_per_answer_low"], row["cost_per_correct_high"]) == (None, None)
    assert "cost_per_answer, cost_per_correct: no interval" in row["note"]


CHEAP = [(1, 10, 50)] * 12
WORSE = [(0, 10, 900)] * 12


@pytest.mark.parametrize(
    "order",
    [
        pytest.param(("b", "c", "a"), id="not that of their names"),
        pytest.param(("c", "a", "b"), id="another one"),
        pytest.param(("a", "b", "c"), id="that of their names"),
    ],
)
def test_the_frontier_share_is_that_of_its_own_method(made: Made, order: tuple[str, ...]) -> None:
    # Of all resamples a is on the frontier in each, for nothing beats it; c in none, for a does.
    answers = {"a": CHEAP, "b": [*CHEAP[:6], *WORSE[:6]], "c": WORSE}
    for name in order:
        made.add("m", name, answers[name])
    found = made.found(baseline="a", resamples=200)
    shares = {name: found[f"m {name}"]["frontier_share"] for name in order}
    # b equals a only where none of its six worse answers is drawn: once in 2**12 resamples.
    assert shares == {"a": 1.0, "b": pytest.approx(0, abs=0.02), "c": 0.0}
    assert [found[f"m {name}"]["on_frontier"] for name in "abc"] == [True, False, False]


def test_frontier_shares_are_those_of_the_chance_that_a_method_is_beaten(made: Made) -> None:
    """`b` is cheaper always, and as good as `a` unless one problem is drawn."""
    made.add("m", "z", [(1, 10, 100)] * 12)
    made.add("m", "y", [(0, 10, 50), *[(1, 10, 50)] * 11])
    made.add("m", "x", [(0, 10, 200)] * 12)
    found = made.found(baseline="z", resamples=4000)
    # z is better than y where the first problem is drawn, which 12 draws of 12 miss so often.
    missed = (11 / 12) ** 12
    check(found["m y"], frontier_share=1.0)
    check(found["m x"], frontier_share=0.0)
    assert found["m z"]["frontier_share"] == pytest.approx(1 - missed, abs=0.03)


def test_means_of_tokens_and_ratios_are_those_written_out(made: Made) -> None:
    made.add("m", "zero-shot", [(1, 10, 100, 40), (0, 30, 300, 60)])
    made.add("m", "cot", [(1, 15, 50, 10), (1, 50, 150, None), (1, None, 400, 20)])
    made.add("n", "zero-shot", [(1, 10, 20), (1, 30, 20)])
    made.add("n", "cot", [(0, 25, 10), (1, 50, 30)])
    made.add("o", "zero-shot", [(0, 10, 500), (1, 30, 300)])
    found = made.found()
    check(found["m cot"], mean_prompt_tokens=32.5, mean_completion_tokens=200)
    check(found["m cot"], mean_reasoning_tokens=15)
    check(found["m cot"], prompt_overhead=(5 + 20) / 2, prompt_overhead_n=2)
    check(found["m cot"], mean_of_ratios=None, accuracy_per_100_tokens=100 * 3 / 600)
    check(found["n cot"], mean_reasoning_tokens=None, prompt_overhead_n=2)
    check(found["m zero-shot"], prompt_overhead=None, prompt_overhead_n=None)
    of_m, of_n, of_o = 100 * 1 / 400, 100 * 2 / 40, 100 * 1 / 800
    # The median would be that of m, and the ratio of the sums 100 · 4 / 1240.
    check(found["all zero-shot"], mean_of_ratios=(of_m + of_n + of_o) / 3)
    check(found["all zero-shot"], accuracy_per_100_tokens=100 * 4 / 1240)
    both = (100 * 3 / 600 + 100 * 1 / 40) / 2
    check(found["all cot"], "mean of ratios of 2 of 3 models", mean_of_ratios=both)
    check(found["all cot"], prompt_overhead=(5 + 20 + 15 + 20) / 4, prompt_overhead_n=4)


@pytest.mark.parametrize(("no_answer", "n"), [("wrong", 17), ("exclude", 13)])
def test_what_has_no_result_costs_nothing(tmp_path: Path, no_answer: str, n: int) -> None:
    table = SCORES[(SCORES["dataset"] == "a") & (SCORES["model"] == "m1")].head(20)
    status = ["unknown"] * 3 + ["no_answer"] * 4 + ["scored"] * 13
    value = table["value"].where(np.array(status) == "scored")
    usage = tmp_path / "u.jsonl"
    tokens = {"completion_tokens": 1, "prompt_tokens": 1, "reasoning_tokens": 1, "epoch": None}
    table.assign(**tokens).to_json(usage, orient="records", lines=True)
    scores = table.assign(status=status, value=value, method="cot", id=range(20))
    row = efficiency(scores, usage=usage, no_answer=no_answer).iloc[0]
    assert (row["n"], row["n_unknown"], row["n_no_answer"]) == (n, 3, 4)
    assert row["accuracy"] == pytest.approx(value.sum() / n)
