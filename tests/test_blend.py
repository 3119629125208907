"""`ngramscan blend`: counts against brute force, pairs by hand, tables in any width."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

import ngramscan
from ngramscan.errors import InputError
from ngramscan.outputs.blend import BlendResult, BlendRow, PresenceRow, RetentionRow, run_blend
from ngramscan.outputs.markers import Marker, count_markers
from ngramscan.outputs.reading import Group, Output, OutputSet, read_outputs
from ngramscan.patterns.files import load_patterns, parse_patterns
from ngramscan.report.tables import print_blending
from ngramscan.statistics.proportions import mcnemar, wilson
from tests.command import run

PATTERNS = """
name: own
patterns:
  - {method: CoT, tier: T1, kind: narrative, text: step by step}
  - {method: CoT, tier: T1, kind: narrative, text: think step by step}
  - {method: FP/F-1, tier: T1, kind: narrative, text: governing equation}
  - {method: FP/F-1, tier: T2, kind: narrative, text: thus}
  - {method: PoT, tier: T2, kind: code, text: 'def solve('}
regexes:
  - {method: PoT, name: fence, regex: '```python\\b'}
"""
SET = parse_patterns(PATTERNS, "own.yaml")
F = "The governing equation is x = 1, thus 1."
G = "thus it is 1"
CODE = "```python\ndef solve(x):\n```"
STEPS = "Think Step by step: thus 1"


def brute_force(literal: str, text: str, case_sensitive: bool = False) -> int:
    def folded(string: str) -> bytes:
        return string.encode() if case_sensitive else string.encode().lower()

    sought, searched = folded(literal), folded(text)
    return sum(searched.startswith(sought, i) for i in range(len(searched)))


def outputs_of(texts: dict[tuple[str, str, str], list[str | None]], ids: bool = True) -> OutputSet:
    found = OutputSet()
    for group, own in texts.items():
        for number, text in enumerate(own):
            place = f"{'/'.join(group)}:{number}"
            found.outputs.append(Output(Group(*group), str(number) if ids else "", text, place))
    return found


def blending_of(ids: bool = True) -> BlendResult:
    texts: dict[tuple[str, str, str], list[str | None]] = {
        ("d", "m", "f-1"): [F, F, F, G],
        ("d", "m", "f-1+pot"): [F + CODE, CODE + G, F, CODE + G],
        ("d", "m", "f-1+cot"): [F + STEPS, STEPS, None, ""],
        ("d", "m", "zero-shot"): [G, G, G, "1"],
    }
    return run_blend(outputs_of(texts, ids), SET)


def row_of(blending: BlendResult, prompt: str, method: str) -> BlendRow:
    (row,) = [r for r in blending.rows if (r.prompt, r.method) == (prompt, method)]
    return row


# Counting


@given(st.lists(st.text("abAÀà’é\0", max_size=30), max_size=6), st.booleans())
def test_markers_are_counted_as_by_brute_force(texts: list[str], case_sensitive: bool) -> None:
    literals = ["a", "aba", "AB", "À", "bb"]
    markers = [Marker("A", "T1", literal) for literal in literals]
    counts = count_markers(markers, texts, case_sensitive)
    expected = [[brute_force(lit, text, case_sensitive) for lit in literals] for text in texts]
    assert counts.tolist() == expected


def test_regexes_are_counted_as_they_are_written() -> None:
    markers = [Marker("A", "regex", "r", r"a+"), Marker("A", "T1", "a"), Marker("B", "T1", "A")]
    assert count_markers(markers, ["aa Aa", "\ud800a"]).tolist() == [[2, 4, 4], [1, 1, 1]]
    assert count_markers([], ["a"]).shape == (1, 0)


@pytest.mark.parametrize(
    ("regex", "words"),
    [
        ("{method: A, name: n, regex: '('}", "own.yaml:5: regexes[0].regex: not a regular"),
        ("{method: A, name: n, regex: 'a*'}", "own.yaml:5: regexes[0].regex: it matches the empty"),
        ("{method: '', name: n, regex: a}", "own.yaml:5: regexes[0].method: it is empty"),
        ("{method: A, regex: a}", "own.yaml:5: regexes[0]: no name"),
        ("{method: A, name: n, regex: a, tier: T1}", "regexes[0]: unknown key 'tier'"),
        ("{method: A, name: n, regex: a}\n - {method: A, name: n, regex: b}", "also on line 5"),
    ],
)
def test_a_regex_is_checked_when_it_is_loaded(regex: str, words: str) -> None:
    start = "name: x\npatterns:\n - {method: A, tier: T1, kind: code, text: a}\nregexes:\n - "
    with pytest.raises(InputError) as error:
        parse_patterns(start + regex, "own.yaml")
    assert words in str(error.value)


def test_regexes_are_never_counted_in_corpora() -> None:
    assert "fence" not in [query.text for query in SET.queries()]
    assert [r.name for r in SET.select(methods=["pot"]).regexes] == ["fence"]
    assert SET.select(tiers=["T2"]).regexes == ()
    alone = parse_patterns(PATTERNS + "  - {method: X, name: n, regex: a}", "o").select((), ["x"])
    with pytest.raises(InputError, match="only regexes"):
        alone.queries()


@pytest.mark.parametrize("case_sensitive", [False, True])
def test_the_counts_of_real_outputs_are_those_of_brute_force(
    shared: Path, case_sensitive: bool
) -> None:
    found = read_outputs(shared / "data" / "financemath" / "validation")
    patterns = load_patterns("f1")
    blending = run_blend(found, patterns, case_sensitive)
    rows = {(r.model, r.prompt, r.method, r.pattern): r for r in blending.presence}
    groups = found.groups()
    assert len(groups) == 12
    for group, outputs in groups.items():
        texts = [o.text or "" for o in outputs]
        by_method: dict[str, list[int]] = {method: [0] * 200 for method in patterns.methods}
        for pattern in patterns.patterns:
            counts = [count_fast(pattern.text, text, case_sensitive) for text in texts]
            row = rows[group.model, group.prompt, pattern.method, pattern.text]
            assert row.occurrences == sum(counts)
            assert row.with_pattern == sum(map(bool, counts))
            so_far = by_method[pattern.method]
            by_method[pattern.method] = [a + b for a, b in zip(so_far, counts, strict=True)]
        n, characters = sum(bool(t.strip()) for t in texts), sum(len(t) for t in texts if t.strip())
        for blend in blending.rows:
            if (blend.model, blend.prompt) == (group.model, group.prompt):
                counts = by_method[blend.method]
                assert (blend.outputs, blend.absent) == (n, 200 - n)
                assert blend.occurrences == sum(counts)
                assert blend.share == pytest.approx(sum(map(bool, counts)) / n)
                assert blend.per_1000_characters == pytest.approx(1000 * sum(counts) / characters)


def count_fast(literal: str, text: str, case_sensitive: bool) -> int:
    sought, searched = literal.encode(), text.encode()
    if not case_sensitive:
        sought, searched = sought.lower(), searched.lower()
    count, start = 0, searched.find(sought)
    while start >= 0:
        count, start = count + 1, searched.find(sought, start + 1)
    return count


# Rows


def test_presence_and_density_are_of_outputs_that_have_text() -> None:
    row = row_of(blending_of(), "f-1+cot", "CoT")
    assert (row.outputs, row.absent, row.with_marker, row.share, row.own) == (2, 2, 2, 1.0, True)
    assert row.occurrences == 4
    assert row.per_1000_characters == pytest.approx(4000 / (len(F + STEPS) + len(STEPS)))
    assert (row.share_low, row.share_high) == (wilson(2, 2).low, 1)
    row = row_of(blending_of(), "f-1", "PoT")
    assert (row.with_marker, row.share, row.own) == (0, 0, False)


def test_a_prompt_without_text_has_no_share() -> None:
    blending = run_blend(outputs_of({("d", "m", "cot"): [None, ""]}), SET)
    row = row_of(blending, "cot", "CoT")
    assert (row.outputs, row.absent, row.share, row.per_1000_characters) == (0, 2, None, None)
    assert blending.isolation[0].note == "no outputs to compare with"
    show(blending, 80)


def test_an_unknown_prompt_is_said_once_and_has_rows() -> None:
    blending = blending_of()
    assert blending.notices == ["prompt zero-shot: no method of the patterns chosen"]
    assert row_of(blending, "zero-shot", "FP/F-1").share == 0.75


def test_what_stays_of_a_prefix_is_told_in_pairs() -> None:
    only = parse_patterns(PATTERNS, "o").select(["T1"])
    texts: dict[tuple[str, str, str], list[str | None]] = {
        ("d", "m", "FP"): [*[F] * 8, *[G] * 4],
        ("d", "m", "f-1+pot"): [F] * 3 + [CODE] * 5 + [F] * 1 + [CODE] * 2 + [None],
    }
    (row,) = run_blend(outputs_of(texts), only).retention
    assert (row.prefix, row.solver, row.method) == ("f-1", "pot", "FP/F-1")
    assert (row.prompt_alone, row.prompt_with) == ("FP", "f-1+pot")
    assert (row.pairs, row.unpaired, row.only_alone, row.only_with) == (11, 1, 5, 1)
    assert (row.share_alone, row.share_with) == pytest.approx((8 / 11, 4 / 11))
    assert row.difference == pytest.approx(-4 / 11)
    assert row.retention == pytest.approx(0.5)
    assert row.p == mcnemar(5, 1)
    assert row.difference_low is not None
    assert row.difference_high is not None
    assert row.difference_low < -4 / 11 < row.difference_high
    assert row.note == "1 outputs without a partner are left out"


def test_samples_are_paired_by_problem_and_epoch(tmp_path: Path) -> None:
    for prompt, texts in {"FP": [F, G, F, G], "f-1+pot": [F, F, CODE, CODE]}.items():
        records = [
            {"id": f"p{n % 2}", "epoch": 1 + n // 2, "output": text} for n, text in enumerate(texts)
        ]
        (tmp_path / f"{prompt}.jsonl").write_text("\n".join(map(json.dumps, records)))
    only = parse_patterns(PATTERNS, "o").select(["T1"])
    (row,) = run_blend(read_outputs(tmp_path), only).retention
    assert (row.pairs, row.unpaired, row.only_alone, row.only_with) == (4, 0, 1, 1)


def test_without_ids_nothing_is_tested() -> None:
    blending = blending_of(ids=False)
    row = blending.retention[0]
    assert row.note == "not paired, no test: no problem id is in both prompts"
    assert (row.pairs, row.p, row.difference_low, row.share_alone) == (0, None, None, 1.0)
    assert row.difference == 0


def test_a_prefix_with_zero_shot_behind_it_stands_alone() -> None:
    texts: dict[tuple[str, str, str], list[str | None]] = {
        ("d", "m", "F-1+ZS"): [F, F],
        ("d", "m", "f-1+pot"): [F, CODE],
    }
    (row,) = run_blend(outputs_of(texts), SET).retention
    assert (row.prompt_alone, row.solver, row.pairs) == ("F-1+ZS", "pot", 2)
    assert (row.share_alone, row.share_with) == (1.0, 0.5)


def test_a_prefix_that_never_stands_alone_has_no_retention() -> None:
    (row,) = run_blend(outputs_of({("d", "m", "f-1+pot"): [F, CODE]}), SET).retention
    assert (row.prompt_alone, row.share_alone, row.share_with, row.p) == (None, None, 0.5, None)
    assert row.note == "no outputs of prompt f-1 alone"


def test_isolation_compares_own_prompts_with_all_others() -> None:
    (row,) = [r for r in blending_of().isolation if r.method == "PoT"]
    assert (row.outputs_own, row.outputs_others) == (4, 10)
    assert (row.share_own, row.share_others, row.difference) == (0.75, 0, 0.75)
    assert row.ratio is not None
    assert row.ratio > 10
    assert "a half" in row.note


def isolation_coverage(
    population: tuple[tuple[int, int], int, float, tuple[float, float]], runs: int, seed: int
) -> float:
    """Return how often the interval of the pooled ratio covers the true one.

    Two methods are asked different problems, so many each, by so many models. The chance of a
    marker has a beta distribution between problems, with the given correlation of outputs to the
    same problem and the given means.
    """
    problems, models, correlation, shares = population
    random = np.random.default_rng(seed)
    total = (1 - correlation) / correlation
    hits = []
    for _ in range(runs):
        found = OutputSet()
        for prompt, n, share in zip(("pot", "cot"), problems, shares, strict=True):
            chances = random.beta(share * total, (1 - share) * total, n)
            for model in range(models):
                group = Group("d", str(model), prompt)
                for number, has in enumerate(random.random(n) < chances):
                    text = CODE if has else "1"
                    found.outputs.append(Output(group, f"{prompt}-{number}", text, ""))
        (row,) = [
            r
            for r in run_blend(found, SET.select(["T2"], ["PoT"])).isolation
            if (r.dataset, r.model) == ("d", "all")
        ]
        assert row.ratio_low is not None
        assert row.ratio_high is not None
        hits.append(row.ratio_low <= shares[0] / shares[1] <= row.ratio_high)
    return float(np.mean(hits))


POPULATIONS = [
    ((40, 40), 5, 0.6, (0.5, 0.5)),
    ((100, 100), 5, 0.3, (0.7, 0.3)),
    ((30, 120), 5, 0.6, (0.9, 0.1)),
    ((120, 30), 3, 0.3, (0.3, 0.1)),
]


def test_isolation_covers_the_ratio_where_methods_have_different_problems() -> None:
    assert isolation_coverage(POPULATIONS[0], 150, 1) >= 0.92


@pytest.mark.slow
@pytest.mark.parametrize("population", POPULATIONS, ids=str)
def test_isolation_covers_the_ratio_in_many_simulations(
    population: tuple[tuple[int, int], int, float, tuple[float, float]],
) -> None:
    assert isolation_coverage(population, 300, 1) >= 0.93


def test_generic_patterns_are_named_with_the_reason() -> None:
    generic = {r.pattern: r.generic for r in blending_of().presence if r.generic}
    assert generic == {"thus": "in half or more of the outputs of every prompt"}
    texts: dict[tuple[str, str, str], list[str | None]] = {
        ("d", "m", "f-1"): [G, "", "x", "x", "x"],
        ("d", "m", "cot"): [G, "x", "x", "x", "x", "x"],
    }
    rows = run_blend(outputs_of(texts), SET).presence
    assert {r.pattern: r.generic for r in rows if r.generic} == {
        "thus": "in prompts without its method half as often as in its own, or more"
    }


def test_pooled_rows_are_sums_with_wider_intervals() -> None:
    texts: dict[tuple[str, str, str], list[str | None]] = {
        (dataset, model, "f-1"): [*[F] * 6, *["x"] * 6] for dataset in "de" for model in "mn"
    }
    rows = run_blend(outputs_of(texts), SET.select(["T1"], ["fp"])).rows
    by_scope = {(r.dataset, r.model): r for r in rows}
    assert list(by_scope) == [
        *[("d", "m"), ("d", "n"), ("e", "m"), ("e", "n"), ("d", "all"), ("e", "all")],
        *[("all", "m"), ("all", "n"), ("all", "all")],
    ]
    everything = by_scope["all", "all"]
    assert (everything.outputs, everything.with_marker, everything.share) == (48, 24, 0.5)
    alone, independent = wilson(12, 24), wilson(24, 48)
    assert alone.low is not None
    assert independent.low is not None
    assert everything.share_low is not None
    assert everything.share_low == pytest.approx(alone.low, abs=0.01)
    assert everything.share_low < independent.low - 0.03
    with pytest.raises(InputError, match="named 'all'"):
        run_blend(outputs_of({("d", "all", "f-1"): [F]}), SET)


# The command


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    texts: dict[str, list[str | None]] = {
        "f-1": [F, F, G],
        "f-1+pot": [F + CODE, CODE, None],
        "zero-shot": [G, "1", "2"],
    }
    for prompt, own in texts.items():
        file = tmp_path / "outputs" / "d" / "m" / f"{prompt}.jsonl"
        file.parent.mkdir(parents=True, exist_ok=True)
        lines = (json.dumps({"id": n, "output": t}) + "\n" for n, t in enumerate(own))
        file.write_text("".join(lines), encoding="utf-8")
    (tmp_path / "own.yaml").write_text(PATTERNS, encoding="utf-8")
    return tmp_path


def test_the_command_prints_all_tables(folder: Path) -> None:
    ran = run("blend", folder / "outputs", folder / "own.yaml")
    assert ran.code == 0
    for words in (
        "d · m",
        "Outputs with a marker",
        "Occurrences per 1,000 characters",
        "Prefixes with a solver",
        "Isolation",
    ):
        assert words in ran.stdout
    for words in (
        "of 9 outputs 1 are missing and 0 empty",
        "prompt zero-shot: no method of the patterns chosen",
    ):
        assert words in ran.stderr
    assert "f-1+pot: 1 outputs without a partner are left out" in ran.stdout


def test_rows_go_where_they_are_asked_to(folder: Path) -> None:
    ran = run(
        *("blend", folder / "outputs", folder / "own.yaml", "--format", "csv"),
        *("--presence", folder / "p.csv", "--retention", folder / "r.jsonl"),
        *("--isolation", folder / "i.parquet", "--figure", folder / "f.svg"),
    )
    assert ran.code == 0
    assert "prompt zero-shot" in ran.stderr
    assert list(ran.rows[0]) == list(BlendRow.__dataclass_fields__)
    assert len(ran.rows) == 9
    head = (folder / "p.csv").read_text(encoding="utf-8").splitlines()[0]
    assert head == ",".join(PresenceRow.__dataclass_fields__)
    (line,) = (folder / "r.jsonl").read_text(encoding="utf-8").splitlines()
    assert list(json.loads(line)) == list(RetentionRow.__dataclass_fields__)
    assert (folder / "i.parquet").exists()
    assert "</svg>" in (folder / "f.svg").read_text(encoding="utf-8")


def test_a_figure_of_another_format_is_refused_before_any_work(folder: Path) -> None:
    ran = run("blend", folder / "outputs", "--figure", folder / "f.txt")
    assert (ran.code, ran.stdout, ran.stderr.count("\n")) == (2, "", 1)


def test_the_default_set_is_the_paper_s_and_can_be_narrowed(folder: Path) -> None:
    rows = run("blend", folder / "outputs", "--method", "f-1", "--format", "csv").rows
    assert {row["method"] for row in rows} == {"FP/F-1"}
    ran = run("blend", folder / "outputs", "--method", "nothing")
    assert (ran.code, ran.stdout) == (2, "")
    assert ran.stderr.count("\n") == 1
    exact = run("blend", folder / "outputs", "--case-sensitive", "--format", "csv")
    assert exact.code == 0


def test_from_python_it_is_a_data_frame(folder: Path) -> None:
    frame = ngramscan.blend(folder / "outputs", folder / "own.yaml", presence=folder / "p.jsonl")
    assert list(frame.columns) == list(BlendRow.__dataclass_fields__)
    assert len(frame) == 9
    assert (folder / "p.jsonl").exists()
    with pytest.raises(InputError, match="no such file"):
        ngramscan.blend(folder / "nowhere")


def show(blending: BlendResult, width: int) -> list[str]:
    file = io.StringIO()
    print_blending(blending, Console(file=file, width=width, markup=False, highlight=False))
    return file.getvalue().splitlines()


@pytest.mark.parametrize("width", [40, 60, 80, 120, 300])
def test_nothing_is_cut_in_a_narrow_terminal(width: int) -> None:
    blending = blending_of()
    lines = show(blending, width)
    assert max(map(len, lines)) <= width
    assert "…" not in "".join(lines)
    words = " ".join(lines).split()
    for row in blending.rows:
        values: list[Any] = [row.share, row.share_low, row.share_high]
        for value in values:
            assert any(f"{100 * value:.1f}" in word for word in words)
    assert {"CoT", "PoT", "FP/F-1"} <= set(words)
