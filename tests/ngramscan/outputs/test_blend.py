"""`ngramscan blend`: counts against brute force, pairs by hand, tables in any width."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pytest

from ngramscan.errors import InputError
from ngramscan.outputs.blend import BlendResult, BlendRow, run_blend
from ngramscan.outputs.reading import Output, OutputSet
from ngramscan.patterns.files import parse_patterns
from ngramscan.reading.output_paths import Group
from ngramscan.statistics.proportions import mcnemar, wilson
from tests.support.outputs import outputs_of
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
        Output(Group("d", "m", prompt), f"{number}#{epoch}", text, "", f"#{epoch}")
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
        return [each for some in (shares, ratios, differences) for one in some for each in one]

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
                group = Group("d", str(model), prompt)
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
        "thus": "in outputs of other methods half as often as in those of its own, or more"
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
