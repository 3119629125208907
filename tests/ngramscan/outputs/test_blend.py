"""`ngramscan blend`: counts against brute force, pairs by hand, tables in any width."""

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

from ngramscan.errors import InputError
from ngramscan.outputs.blend import BlendResult, BlendRow, run_blend
from ngramscan.outputs.reading import Output, OutputSet, read_outputs
from ngramscan.patterns.files import load_patterns, parse_patterns
from ngramscan.reading.output_paths import PromptGroup
from ngramscan.reporting.tables.blend import print_blend
from ngramscan.statistics.clusters import ClusteredShare
from ngramscan.statistics.proportions import Pairs, mcnemar, paired_difference, wilson
from tests.support.outputs import count_starts, outputs_of, shown_in, write_lines
from tests.support.sizes import slow

PATTERNS = r"""
name: own
patterns:
  - {method: CoT, tier: T1, kind: narrative, text: step by step}
  - {method: CoT, tier: T1, kind: narrative, text: think step by step}
  - {method: FP/F-1, tier: T1, kind: narrative, text: governing equation}
  - {method: FP/F-1, tier: T2, kind: narrative, text: thus}
  - {method: PoT, tier: T2, kind: code, text: 'def solve('}
regexes:
  - {method: PoT, name: fence, regex: '```python\b'}
"""
SET = parse_patterns(PATTERNS, "own.yaml")
F = "The governing equation is x = 1, thus 1."
G = "thus it is 1"
CODE = "```python\ndef solve(x):\n```"
STEPS = "Think Step by step: thus 1"


def of_prompts(texts: Mapping[str, Sequence[str | None]], ids: bool = True) -> OutputSet:
    return outputs_of({("d", "m", name): own for name, own in texts.items()}, ids)


def blend_of(ids: bool = True) -> BlendResult:
    texts: dict[str, list[str | None]] = {
        "f-1": [F, F, F, G],
        "f-1+pot": [F + CODE, CODE + G, F, CODE + G],
        "f-1+cot": [F + STEPS, STEPS, None, ""],
        "zero-shot": [G, G, G, "1"],
    }
    return run_blend(of_prompts(texts, ids), SET)


def row_of(result: BlendResult, prompt: str, method: str) -> BlendRow:
    (row,) = [r for r in result.rows if (r.prompt, r.method) == (prompt, method)]
    return row


def test_presence_and_density_are_of_outputs_that_have_text() -> None:
    result = blend_of()
    row = row_of(result, "f-1+cot", "CoT")
    assert (row.outputs, row.absent, row.with_marker, row.share) == (2, 2, 2, 1.0)
    assert (row.occurrences, row.has_method) == (4, True)
    assert row.per_1000_characters == pytest.approx(4000 / (len(F + STEPS) + len(STEPS)))
    assert (row.share_low, row.share_high) == (wilson(2, 2).low, 1)
    row = row_of(result, "f-1", "PoT")
    assert (row.with_marker, row.share, row.has_method) == (0, 0, False)
    # A prompt without a known method is said once, and has rows.
    assert result.notices == ["prompt zero-shot: it names no method of the chosen patterns"]
    assert row_of(result, "zero-shot", "FP/F-1").share == 0.75


def epochs_of(texts: Mapping[str, Sequence[str]], epochs: int) -> OutputSet:
    """Return each text as the outputs of so many epochs."""
    outputs = [
        Output(PromptGroup("d", "m", prompt), f"{number}#{epoch}", text, "", f"#{epoch}")
        for prompt, own in texts.items()
        for number, text in enumerate(own)
        for epoch in range(epochs)
    ]
    return OutputSet(outputs, [], "")


def test_copies_in_several_epochs_are_no_evidence() -> None:
    texts = {"f-1": [F] * 9 + [G] * 5, "f-1+pot": [F + CODE] * 2 + [CODE] * 8 + [F + CODE] * 4}
    once, copied = (run_blend(epochs_of(texts, epochs), SET.select(["T1"])) for epochs in (1, 5))

    def limits(result: BlendResult) -> list[float | None]:
        shares = [(row.share_low, row.share_high) for row in result.rows]
        shares += [(row.share_low, row.share_high) for row in result.presence]
        ratios = [(row.ratio_low, row.ratio_high) for row in result.isolation if not row.note]
        (row,) = result.retention
        differences = [(row.pairs, row.difference_low, row.difference_high, row.p)]
        return [limit for row in (*shares, *ratios, *differences) for limit in row]

    assert limits(copied) == pytest.approx(limits(once))
    (row,) = once.retention
    assert (row.only_alone, row.only_with, row.p) == (7, 4, mcnemar(7, 4))
    assert row_of(once, "f-1", "FP/F-1").share_low == wilson(9, 14).low


def test_p_values_of_retention_are_adjusted_within_their_table() -> None:
    texts = {(d, "m", "f-1"): [F] * 10 for d in "de"}
    texts |= {("d", "m", "f-1+pot"): [CODE] * 8 + [F] * 2, ("e", "m", "f-1+pot"): [CODE] * 10}
    texts |= {("e", "m", "f-1+cot"): [STEPS] * 7 + [F] * 3, ("e", "n", "f-1+cot"): [F] * 3}
    rows = run_blend(outputs_of(texts), SET.select(["T1"])).retention
    *tested, untested = sorted(rows, key=lambda row: (row.p is None, row.p))
    # Ten and eight of ten in e and d, seven in e; then both datasets together, of 20 and of 10.
    p = [mcnemar(n, 0) for n in (18, 10, 8, 7, 7)]
    assert [row.p for row in tested] == p
    assert [row.p_adjusted for row in tested] == pytest.approx(
        [5 * p[0], 4 * p[1], 3 * p[2], 2 * p[3], 2 * p[3]]
    )
    assert {row.family for row in tested} == {"5 retention tests of this table"}
    assert (untested.model, untested.p_adjusted, untested.family) == ("n", None, "")


def test_without_ids_nothing_is_tested() -> None:
    row = blend_of(ids=False).retention[0]
    assert row.note == "not paired, no test: the prompts share no problem id"
    assert (row.pairs, row.p, row.difference_low, row.share_alone) == (0, None, None, 1.0)
    assert row.difference == 0


def test_a_prefix_stands_alone_also_with_zero_shot_or_has_no_retention() -> None:
    texts = {"F-1+ZS": [F, F], "f-1+pot": [F, CODE]}
    (row,) = run_blend(of_prompts(texts), SET).retention
    assert (row.prompt_alone, row.solver, row.pairs) == ("F-1+ZS", "pot", 2)
    assert (row.share_alone, row.share_with) == (1.0, 0.5)
    longer = of_prompts({"f-1+cot+zs": [F, F], "f-1+cot+pot": [F, CODE]})
    assert {row.prompt_alone for row in run_blend(longer, SET).retention} == {"f-1+cot+zs"}
    (row,) = run_blend(of_prompts({"f-1+pot": [F, CODE]}), SET).retention
    assert (row.prompt_alone, row.share_alone, row.share_with, row.p) == (None, None, 0.5, None)
    assert row.note == "no outputs of prompt f-1 alone"


class Population(NamedTuple):
    """Two methods that are asked different problems, so many each, by so many models.

    The chance of a marker has a beta distribution between problems, with these means, and with
    this correlation of outputs to the same problem.
    """

    problems: tuple[int, int]
    models: int
    correlation: float
    shares: tuple[float, float]


def isolation_coverage(population: Population, runs: int) -> float:
    """Return how often the interval of the pooled ratio covers the true one."""
    shares = population.shares
    random = np.random.default_rng(1)
    total = (1 - population.correlation) / population.correlation
    markers = SET.select(["T2"], ["PoT"])
    hits = []
    for _ in range(runs):
        outputs = []
        for prompt, n, share in zip(("pot", "cot"), population.problems, shares, strict=True):
            chances = random.beta(share * total, (1 - share) * total, n)
            for model in range(population.models):
                group = PromptGroup("d", str(model), prompt)
                for number, has in enumerate(random.random(n) < chances):
                    outputs.append(Output(group, f"{prompt}-{number}", CODE if has else "1", ""))
        rows = run_blend(OutputSet(outputs, [], ""), markers).isolation
        (row,) = [row for row in rows if (row.dataset, row.model) == ("d", "all")]
        hits.append((row.ratio_low or 9) <= shares[0] / shares[1] <= (row.ratio_high or 0))
    return float(np.mean(hits))


EQUAL_SHARES = Population((40, 40), 5, 0.6, (0.5, 0.5))


@pytest.mark.parametrize(
    ("population", "runs", "least"),
    [
        pytest.param(EQUAL_SHARES, 60, 0.9, id="equal shares, a few sets"),
        slow(EQUAL_SHARES, 300, 0.93, id="equal shares"),
        slow(Population((100, 100), 5, 0.3, (0.7, 0.3)), 300, 0.93, id="many problems"),
        slow(Population((30, 120), 5, 0.6, (0.9, 0.1)), 300, 0.93, id="few of its own"),
        slow(Population((120, 30), 3, 0.3, (0.3, 0.1)), 300, 0.93, id="few of others"),
    ],
)
def test_isolation_covers_the_ratio(population: Population, runs: int, least: float) -> None:
    assert isolation_coverage(population, runs) >= least


def test_generic_patterns_are_named_with_the_reason() -> None:
    generic = {r.pattern: r.generic for r in blend_of().presence if r.generic}
    assert generic == {"thus": "in half or more of the outputs of every prompt"}
    texts = of_prompts({"f-1": [G, "", "x", "x", "x"], "cot": [G, "x", "x", "x", "x", "x"]})
    rows = run_blend(texts, SET).presence
    assert {r.pattern: r.generic for r in rows if r.generic} == {
        "thus": "at least half as frequent in other methods' outputs"
    }


def test_pooled_rows_are_sums_with_wider_intervals() -> None:
    texts = {(d, m, "f-1"): [F] * 6 + ["x"] * 6 for d in "de" for m in "mn"}
    rows = run_blend(outputs_of(texts), SET.select(["T1"], ["fp"])).rows
    by_scope = {(r.dataset, r.model): r for r in rows}
    assert list(by_scope) == [
        *[("d", "m"), ("d", "n"), ("e", "m"), ("e", "n"), ("d", "all"), ("e", "all")],
        *[("all", "m"), ("all", "n"), ("all", "all")],
    ]
    everything = by_scope["all", "all"]
    assert (everything.outputs, everything.with_marker, everything.share) == (48, 24, 0.5)
    # As if each problem had one output, not the two or four of several models.
    assert everything.share_low == pytest.approx(wilson(12, 24).low, abs=0.01)
    assert (everything.share_low or 1) < (wilson(24, 48).low or 0) - 0.03
    with pytest.raises(InputError, match="named 'all'"):
        run_blend(outputs_of({("d", "all", "f-1"): [F]}), SET)


def test_rows_of_retention_are_those_done_by_hand() -> None:
    with_solver = [F] * 3 + [CODE] * 5 + [F] + [CODE] * 2 + [None]
    texts = of_prompts({"FP": [F] * 8 + [G] * 4, "f-1+pot": with_solver})
    (row,) = run_blend(texts, SET.select(["T1"])).retention
    assert (row.dataset, row.model, row.method) == ("d", "m", "FP/F-1")
    assert (row.prefix, row.solver) == ("f-1", "pot")
    assert (row.prompt_alone, row.prompt_with) == ("FP", "f-1+pot")
    # The last of twelve problems has no output with the solver.
    assert (row.pairs, row.unpaired, row.only_alone, row.only_with) == (11, 1, 5, 1)
    assert row.note == "outputs without a partner, left out: 1"
    assert (row.share_alone, row.share_with) == pytest.approx((8 / 11, 4 / 11))
    assert (row.difference, row.retention) == pytest.approx((-4 / 11, 0.5))
    expected = paired_difference(Pairs(3, 5, 1, 2), 0.95)
    assert (row.difference_low, row.difference_high) == pytest.approx(expected.limits)
    assert (row.p, row.test, row.level) == (mcnemar(5, 1), "exact McNemar", 0.95)
    assert (row.p_adjusted, row.family) == (row.p, "1 retention test of this table")


def test_pairs_are_problems_however_many_epochs_they_have(tmp_path: Path) -> None:
    for prompt, texts in {"FP": [F, G, G, F, G, G], "f-1+pot": [F, F, CODE, CODE, CODE]}.items():
        records = ({"id": n % 3, "epoch": n // 3, "output": t} for n, t in enumerate(texts))
        write_lines(tmp_path / f"{prompt}.jsonl", *records)
    (row,) = run_blend(read_outputs(tmp_path), SET.select(["T1"])).retention
    # Shares alone are 1, 0 and 0; with the solver 1/2, 1/2 and 0.
    assert (row.pairs, row.unpaired, row.only_alone, row.only_with) == (3, 0, 1, 1)
    assert (row.share_alone, row.share_with) == pytest.approx((1 / 3, 1 / 3))
    assert (row.difference, row.retention, row.p) == pytest.approx((0, 1, 1))
    assert row.test == "sign flips"
    assert (row.difference_low or 0) < 0 < (row.difference_high or 0)


def test_rows_of_isolation_are_those_done_by_hand() -> None:
    (row,) = [row for row in blend_of().isolation if row.method == "PoT"]
    assert (row.dataset, row.model, row.level) == ("d", "m", 0.95)
    # Three of four outputs of f-1+pot; none of ten others with text.
    assert (row.outputs_own, row.outputs_others) == (4, 10)
    assert (row.share_own, row.share_others, row.difference) == (0.75, 0, 0.75)
    assert row.ratio == pytest.approx((3.5 / 4.5) / (0.5 / 10.5))
    assert "a half" in row.note
    own, others = [CODE] * 30 + ["1"] * 30, [CODE] * 24 + ["1"] * 36
    texts: dict[str, list[str | None]] = {"pot": [*own], "cot": [*[None] * 60, *others]}
    rows = run_blend(of_prompts(texts), SET.select(["T2"])).isolation
    (row,) = [row for row in rows if row.method == "PoT"]
    expected = ClusteredShare([1] * 30 + [0] * 30, range(60)).ratio(
        ClusteredShare([1] * 24 + [0] * 36, range(60, 120)), 0.95
    )
    assert (row.ratio, row.ratio_low, row.ratio_high) == pytest.approx((1.25, *expected.limits))


def test_isolation_is_paired_by_problem() -> None:
    own, others = [CODE] * 30 + ["1"] * 30, [CODE] * 24 + ["1"] * 36
    found = {}
    for name, second in (("paired", others), ("apart", [*[None] * 60, *others])):
        rows = run_blend(of_prompts({"pot": own, "cot": second}), SET.select(["T2"])).isolation
        (found[name],) = [row for row in rows if row.method == "PoT"]
    paired, apart = found["paired"], found["apart"]
    assert paired.ratio == apart.ratio == 1.25
    assert (apart.ratio_low or 9) < 0.9 < (paired.ratio_low or 0)
    assert (paired.ratio_high or 9) < 1.6 < (apart.ratio_high or 0)


def test_a_prompt_without_text_has_no_share() -> None:
    result = run_blend(of_prompts({"cot": [None, ""]}), SET)
    row = row_of(result, "cot", "CoT")
    assert (row.outputs, row.absent, row.share, row.per_1000_characters) == (0, 2, None, None)
    assert result.isolation[0].note == "no outputs to compare with"
    assert shown_in(80, partial(print_blend, result))


def test_rows_of_presence_are_those_done_by_hand() -> None:
    rows = [row for row in blend_of().presence if row.pattern == "thus"]
    by_prompt = {row.prompt: row for row in rows}
    assert list(by_prompt) == ["f-1", "f-1+pot", "f-1+cot", "zero-shot"]
    row = by_prompt["zero-shot"]
    assert (row.dataset, row.model, row.method, row.tier) == ("d", "m", "FP/F-1", "T2")
    assert (row.has_method, row.outputs, row.with_pattern) == (False, 4, 3)
    assert (row.share, row.occurrences, row.level) == (0.75, 3, 0.95)
    assert (row.share_low, row.share_high) == wilson(3, 4).limits
    assert by_prompt["f-1"].has_method
    assert by_prompt["f-1+pot"].with_pattern == 4


@pytest.mark.parametrize("case_sensitive", [False, True])
def test_counts_in_published_outputs_are_those_of_brute_force(
    shared: Path, case_sensitive: bool, subtests: pytest.Subtests
) -> None:
    read = read_outputs(shared / "data/financemath/validation")
    read.outputs = [output for output in read.outputs if output.group.model == "gemma-7b-it"]
    result = run_blend(read, load_patterns("f1"), case_sensitive)
    assert {row.prompt for row in result.rows} == {"cot", "pot"}
    for blend in result.rows:
        texts = [out.text or "" for out in read.outputs if out.group.prompt == blend.prompt]
        key = (blend.prompt, blend.method)
        presence = [row for row in result.presence if (row.prompt, row.method) == key]
        of_patterns = [
            np.array([count_starts(row.pattern, text, case_sensitive) for text in texts])
            for row in presence
        ]
        counts = sum(of_patterns, np.zeros(len(texts), dtype=int))
        n, characters = sum(bool(t.strip()) for t in texts), sum(len(t) for t in texts if t.strip())
        with subtests.test(prompt=blend.prompt, method=blend.method):
            assert [row.occurrences for row in presence] == [own.sum() for own in of_patterns]
            assert [row.with_pattern for row in presence] == [
                (own > 0).sum() for own in of_patterns
            ]
            assert (blend.outputs, blend.absent) == (n, 200 - n)
            assert blend.occurrences == counts.sum()
            assert blend.share == pytest.approx((counts > 0).sum() / n)
            assert blend.per_1000_characters == pytest.approx(1000 * counts.sum() / characters)
