"""`ngramscan keyness`: its arithmetic, its promises, and the command."""

from __future__ import annotations

import io
import json
import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from rich.console import Console
from scipy.stats import chi2_contingency, false_discovery_control

import ngramscan
from ngramscan.commands.keyness import Question, kind_of, write_patterns
from ngramscan.errors import InputError
from ngramscan.outputs.keyness import (
    Keyness,
    KeynessOptions,
    KeynessRow,
    adjusted,
    compare,
    compared_ngrams,
)
from ngramscan.outputs.ngram_rates import log_likelihood
from ngramscan.outputs.ngrams import MinFrequency
from ngramscan.outputs.presence import Sides
from ngramscan.outputs.tokens import Tokens, split_characters, split_words
from ngramscan.patterns.files import load_patterns
from ngramscan.report.tables import print_keyness
from ngramscan.report.tables.keyness import visible
from tests.command import run
from tests.keyness_designs import WORDS, Design, Population


def unpaired(own: int, others: int) -> Sides:
    """Return outputs that each answer a problem of their own."""
    return Sides.of(np.arange(own + others) < own, np.arange(own + others))


def keyness_of(tokens: Tokens, own: int, options: KeynessOptions) -> Keyness:
    return compare(tokens, unpaired(own, tokens.sizes.size - own), options)


# Closed forms


@pytest.mark.parametrize("table", [(30, 5, 1000, 2000), (0, 7, 50, 80), (3, 3, 10, 10)])
def test_g2_is_that_of_scipy(table: tuple[int, int, int, int]) -> None:
    a, b, c, d = table
    expected = chi2_contingency(
        [[a, b], [c - a, d - b]], correction=False, lambda_="log-likelihood"
    ).statistic
    assert log_likelihood([a], [b], c, d)[0] == pytest.approx(expected, abs=1e-9)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=30))
def test_q_is_that_of_scipy(p: list[float]) -> None:
    np.testing.assert_allclose(adjusted(p), false_discovery_control(p), rtol=1e-12)


def test_q_is_benjamini_and_hochberg_s_by_hand() -> None:
    # 5/1 × .01, 5/2 × .02, 5/3 × .03, then 5/4 × .5 and 5/5 × .6, which is less.
    assert adjusted([0.6, 0.03, 0.01, 0.5, 0.02]) == pytest.approx([0.6, 0.05, 0.05, 0.6, 0.05])


def test_dispersion_of_even_and_of_concentrated_words() -> None:
    own = ["x a b", "x a b", "x a b", "y y y"]
    table = compared_ngrams(
        split_words([*own, *["c c c"] * 4]),
        unpaired(4, 4),
        KeynessOptions(1, 1, MinFrequency(1, 1), q=1),
    )
    at = dict(zip(table["count"].tolist(), table["dispersion"].tolist(), strict=True))
    # y: all in one of four equal documents: (1 - 1/4) / (1 - 1/4); x: DP 1/4, normalised 1/3.
    found = sorted(round(float(v), 6) for v in table["dispersion"] if not np.isnan(v))
    assert at
    assert found == [round(1 / 3, 6)] * 3 + [1.0]


# What is found


def bursty(
    draw: np.random.Generator, documents: Sequence[int], words: int, rates: NDArray[np.float64]
) -> list[str]:
    """Return texts whose words come in bursts: a gamma factor per document and word."""
    texts = []
    for size in documents:
        weights = rates * draw.gamma(0.3, 1 / 0.3, words)
        counts = draw.poisson(weights * size)
        # A filler keeps the length what it is to be.
        pieces = [f"w{k}" for k in np.repeat(np.arange(words), counts)]
        texts.append(" ".join(pieces + ["f"] * max(size - len(pieces), 1)))
    return texts


def write_population(folder: Path, design: Design, population: Population, seed: int) -> Path:
    """Write outputs of `pot` and `cot` whose words are w0, w1 … and fillers."""
    random = np.random.default_rng(seed)
    is_own, problems = design.outputs()
    counts, lengths = population.draw(random, is_own, problems)
    written: Counter[tuple[str, int]] = Counter()
    files: dict[Path, list[str]] = defaultdict(list)
    for output, (own, problem) in enumerate(zip(is_own, problems.tolist(), strict=True)):
        prompt = "pot" if own else "cot"
        model = f"m{written[prompt, problem]}"
        written[prompt, problem] += 1
        words = [f"w{k}" for k in np.repeat(np.arange(WORDS), counts[:, output])]
        text = " ".join(words + ["f"] * max(int(1000 * lengths[output]) - len(words), 1))
        line = json.dumps({"id": problem, "output": text})
        files[folder / "outputs" / "d" / model / f"{prompt}.jsonl"].append(line + "\n")
    for file, lines in files.items():
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("".join(lines), encoding="utf-8")
    return folder / "outputs"


def discoveries(outputs: Path, planted: int) -> tuple[float, float]:
    """Return the share of false discoveries, and of planted words found."""
    found = ngramscan.keyness(outputs, of="pot", against="cot", n=1, min_count=5, top=WORDS)
    words = [int(ngram[1:]) for ngram in found["ngram"] if ngram != "f"]
    false = sum(word >= planted for word in words)
    return false / max(len(words), 1), (len(words) - false) / max(planted, 1)


@pytest.mark.parametrize("shared", [False, True])
def test_several_models_are_no_false_discoveries(tmp_path: Path, shared: bool) -> None:
    design = Design((60, 60), (5, 5), shared)
    found = [
        discoveries(
            write_population(tmp_path / str(seed), design, Population("topics", 0), seed), 0
        )
        for seed in range(4)
    ]
    assert np.mean([false for false, _ in found]) <= 0.25


def test_few_problems_against_many_have_the_power_of_fisher_s_test(tmp_path: Path) -> None:
    found = [
        discoveries(
            write_population(tmp_path / str(seed), Design((30, 120)), Population(), seed), 30
        )
        for seed in range(3)
    ]
    false, power = np.mean(found, axis=0)
    assert false <= 0.05
    # Fisher's test finds .47 of them.
    assert power >= 0.4


def test_intervals_cover_ratios_of_clustered_words() -> None:
    draw = np.random.default_rng(3)
    words = 1200
    rates = np.full(words, 1.5e-4)
    sizes = [int(size) for size in draw.integers(1000, 4000, 300)]
    texts = bursty(draw, sizes[:150], words, rates * 2) + bursty(draw, sizes[150:], words, rates)
    options = KeynessOptions(1, 1, MinFrequency(1, 1), q=1.0)
    tokens = split_words(texts)
    table = compared_ngrams(tokens, unpaired(150, 150), options)
    is_word = np.array([tokens.names[tokens.ids[k]] != "f" for k in table["first"]])
    covered = (table["log_ratio_low"] <= 1) & (table["log_ratio_high"] >= 1)
    assert is_word.sum() == words
    assert 0.93 <= covered[is_word].mean() <= 0.97


def test_planted_phrases_are_found_and_stand_once() -> None:
    draw = np.random.default_rng(4)
    filler = [" ".join(draw.choice(list("abcdefgh"), 40)) for _ in range(80)]
    own = [f"{text} def solution():\n    return" for text in filler[:40]]
    found = keyness_of(split_words([*own, *filler[40:]]), 40, KeynessOptions())
    assert [row.ngram for row in found.rows] == ["def solution():\n    return"]
    every = keyness_of(split_words([*own, *filler[40:]]), 40, KeynessOptions(all=True))
    assert "def" in {row.ngram for row in every.rows}
    assert every.found == found.found == len(every.rows)
    best = found.rows[0]
    assert (best.count, best.other_count, best.document_share) == (40, 0, 1.0)
    assert best.dispersion < 0.2
    assert best.log_ratio_low > 2


def test_nothing_is_found_where_there_is_nothing() -> None:
    same = ["a b c"] * 20
    assert keyness_of(split_words(same), 10, KeynessOptions()).rows == []
    assert keyness_of(split_words([""] * 4), 2, KeynessOptions()).tested == 0
    short = split_characters(["abc"] * 10 + ["a"] * 10)
    assert keyness_of(short, 10, KeynessOptions(2, 6)).tested == 0
    assert keyness_of(short, 10, KeynessOptions(1, 6)).found == 0


# The command


def write_outputs(folder: Path) -> Path:
    draw = np.random.default_rng(5)
    for prompt in ("cot", "pot", "f-1+cot"):
        file = folder / "outs" / "d" / "m" / f"{prompt}.jsonl"
        file.parent.mkdir(parents=True, exist_ok=True)
        phrase = {"cot": "Let's think", "pot": 'return "\\t: #"', "f-1+cot": "\\frac{a}{b}"}
        lines = [
            {"id": k, "output": " ".join([*draw.choice(list("abcdef"), 30), phrase[prompt]])}
            for k in range(40)
        ]
        file.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return folder / "outs"


def test_prompts_that_have_the_method_are_compared_with_those_that_have_not(
    tmp_path: Path,
) -> None:
    outputs = write_outputs(tmp_path)
    ran = run("keyness", outputs, "--of", "F-1", "--against", "CoT", "--format", "csv")
    assert (ran.code, ran.stderr) == (0, "")
    assert list(ran.rows[0]) == list(KeynessRow.__dataclass_fields__)
    assert any("\\frac{" in row["ngram"] for row in ran.rows)
    assert all(set(row["ngram"]) & set("\\frac{}") for row in ran.rows)
    assert {row["other_documents"] for row in ran.rows[:1]} == {"0"}
    table = run("keyness", outputs, "--of", "CoT", "--against", "PoT")
    assert "80 outputs of CoT against 40 of PoT, paired by the 40 problems" in table.stdout
    frame = ngramscan.keyness(outputs, of="F-1", against="CoT", n=2, top=3)
    assert set(frame["n"]) == {2}
    assert len(frame) == 3


@pytest.mark.parametrize(
    ("own", "others", "words"),
    [
        pytest.param(
            [{"id": k} for k in range(50)],
            [{"id": k} for k in range(52)],
            "50 outputs of pot against 52 of cot, paired by the 50 problems that both answer;"
            " 2 that one side alone answers are not tested",
            id="a problem is what has an id",
        ),
        pytest.param(
            [{"id": k // 2, "epoch": k % 2} for k in range(80)],
            [{"id": k} for k in range(40)],
            "80 outputs of pot against 40 of cot, paired by the 40 problems that both answer",
            id="epochs are outputs to one problem",
        ),
        pytest.param(
            [{}] * 50,
            [{}] * 60,
            "50 outputs of pot against 60 of cot, to 50 and 60 problems",
            id="without an id each output is one of its own",
        ),
    ],
)
def test_the_first_line_says_which_problems_are_compared(
    tmp_path: Path, own: list[dict[str, int]], others: list[dict[str, int]], words: str
) -> None:
    for prompt, records in (("pot", own), ("cot", others)):
        file = tmp_path / "d" / "m" / f"{prompt}.jsonl"
        file.parent.mkdir(parents=True, exist_ok=True)
        lines = (json.dumps({**record, "output": "a b c"}) + "\n" for record in records)
        file.write_text("".join(lines), encoding="utf-8")
    ran = run("keyness", tmp_path, "--of", "pot", "--against", "cot")
    assert (ran.code, ran.stdout.splitlines()[0]) == (0, words)


def test_longer_outputs_are_announced(tmp_path: Path) -> None:
    for prompt, text in (("pot", "a b c d"), ("cot", "a b")):
        file = tmp_path / "d" / "m" / f"{prompt}.jsonl"
        file.parent.mkdir(parents=True, exist_ok=True)
        lines = (json.dumps({"id": k, "output": text}) + "\n" for k in range(50))
        file.write_text("".join(lines), encoding="utf-8")
    ran = run("keyness", tmp_path, "--of", "pot", "--against", "cot")
    longer = "outputs of pot are longer than those of cot: the test is of parts of equal length"
    assert ran.stdout.splitlines()[1] == longer
    shorter = run("keyness", tmp_path, "--of", "cot", "--against", "pot")
    assert "longer than" not in shorter.stdout


@pytest.mark.parametrize("unit", ["word", "character"])
def test_an_export_is_a_pattern_set_that_count_takes(tmp_path: Path, unit: str) -> None:
    outputs, file = write_outputs(tmp_path), tmp_path / "found.yaml"
    more = ("--unit", unit, "--export", file, "--tier", "t2", "--format", "csv")
    ran = run("keyness", outputs, "--of", "PoT", "--against", "CoT", *more)
    assert ran.code == 0
    loaded = load_patterns(file)
    written = [row["ngram"] for row in ran.rows if any(map(str.isalnum, row["ngram"]))]
    assert [pattern.text for pattern in loaded.patterns] == written
    assert {(pattern.method, pattern.tier) for pattern in loaded.patterns} == {("PoT", "T2")}
    corpus = f"scan:{outputs}/d/m/pot.jsonl"
    counted = run("count", file, "--index", corpus, "--text-field", "output", "--format", "csv")
    assert counted.code == 0, counted.stderr
    assert [row["pattern"] for row in counted.rows] == written
    assert all(int(row["occurrences"]) > 0 for row in counted.rows)


HARD = [
    "yes",
    "null",
    "- a",
    "'\"",
    "a: b",
    " # x",
    "\t",
    "\n  x",
    "é…\u2028\x85",
    "\x1b",
    "\\",
    "1",
]


def test_an_export_leaves_out_punctuation_unless_all_is_asked_for(tmp_path: Path) -> None:
    rows = [row_of(text) for text in ["{", ") :", "x =", "\n  ", "é", "7", "__"]]
    file = tmp_path / "no.yaml"
    told = write_patterns(rows, asked_of("PoT"), file, "T3")
    assert [pattern.text for pattern in load_patterns(file).patterns] == ["x =", "é", "7"]
    assert told == [f"{file}: n-grams without a letter or digit left out (--all writes them): 4"]
    every = asked_of("PoT", all_of_them=True)
    assert write_patterns(rows, every, file, "T3") == []
    assert len(load_patterns(file).patterns) == 7
    with pytest.raises(InputError, match="--all writes the others too"):
        write_patterns(rows[:2], asked_of("PoT"), file, "T3")


def test_hard_texts_come_back_from_an_export(tmp_path: Path) -> None:
    rows = [row_of(text) for text in [*HARD, "\0", "\ud800"]]
    asked = asked_of("a: #", all_of_them=True)
    told = write_patterns(rows, asked, tmp_path / "no.yaml", "T3")
    loaded = load_patterns(tmp_path / "no.yaml")
    assert [pattern.text for pattern in loaded.patterns] == HARD
    assert loaded.name == "no"
    assert told == [f"{tmp_path / 'no.yaml'}: n-grams left out that no pattern can have: 2"]
    with pytest.raises(InputError, match="no n-gram was found"):
        write_patterns([], asked, tmp_path / "none.yaml", "T3")


def asked_of(method: str, all_of_them: bool = False) -> Question:
    return Question(method, ("CoT",), KeynessOptions(all=all_of_them))


def row_of(text: str) -> KeynessRow:
    return KeynessRow(
        text, 1, 1200, 3, 1.0, 2.0, 40, 0.5, 3, 0.1, 900.0, 2.0, 1.5, 2.5, 0.3, 1e-9, 1e-7, 0.95
    )


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("\\frac{", "latex"),
        ("\\[", "latex"),
        ("def solution():", "code"),
        ("x = 3", "code"),
        ("answer\n    return", "code"),
        ("Let's think", "narrative"),
        ("Step 1:", "narrative"),
    ],
)
def test_the_kind_of_a_pattern_is_that_of_its_content(text: str, kind: str) -> None:
    assert kind_of(text) == kind


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (["--of", "XX", "--against", "CoT"], "no outputs of XX; there are: cot, f-1, pot"),
        (["--of", "CoT", "--against", "cot"], "--against cot: it is the method of --of"),
        (["--of", "CoT", "--against", "F-1"], "no output of --against"),
        (["--of", "PoT", "--against", "CoT", "--n", "1-9"], "--n 1-9: a length, or two as 1-6"),
        (["--of", "PoT", "--against", "CoT", "--n", "x"], "--n x"),
        (["--of", "PoT", "--against", "CoT", "--export", "/no/x.yaml"], "there is no folder"),
        (["--of", "PoT", "--against", "CoT", "--output-field", "y"], "no field 'y'"),
    ],
)
def test_wrong_usage_is_one_line(tmp_path: Path, more: list[str], words: str) -> None:
    ran = run("keyness", write_outputs(tmp_path), *more)
    assert (ran.code, ran.stdout) == (2, "")
    assert words in ran.stderr
    assert ran.stderr.count("\n") == 1


def test_options_from_python_are_checked_too(tmp_path: Path) -> None:
    wrong: Any
    for wrong in ({"unit": "line"}, {"q": 0.0}, {"top": 0}, {"min_count": 0}):
        with pytest.raises(InputError):
            ngramscan.keyness(tmp_path, of="PoT", against="CoT", **wrong)


# The table


@pytest.mark.parametrize("width", [40, 60, 80, 120, 300])
def test_no_number_is_cut_at_any_width(width: int) -> None:
    file = io.StringIO()
    console = Console(file=file, width=width, markup=False, highlight=False)
    print_keyness([row_of("answer\n    return"), row_of(" [b]")], ["told"], console)
    shown = re.sub(r"\x1b\[[0-9;]*m", "", file.getvalue())
    assert max(map(len, shown.splitlines())) <= width
    assert "2.0 [1.5, 2.5]" in shown
    assert "·[b]" in shown


def test_what_can_t_be_seen_is_shown() -> None:
    assert visible("a\n    b") == "a⏎····b"
    assert visible(" a ") == "·a·"
    assert visible("  ") == "··"
    assert "\x1b" not in visible("\x1b[31m")


def test_programs_are_told_from_chains_of_thought(shared: Path) -> None:
    outputs = shared / "data/financemath/validation"
    frame = ngramscan.keyness(outputs, of="PoT", against="CoT", top=50)
    ngrams = list(frame["ngram"])
    assert "def solution():" in ngrams
    assert "solution" in ngrams[:10]
    assert "return answer" in ngrams[:15]
    assert (frame["q"] <= 0.05).all()
