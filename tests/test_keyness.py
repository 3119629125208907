"""`ngramscan keyness`: its arithmetic, its promises, and the command."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.stats import chi2_contingency, false_discovery_control

import ngramscan
from ngramscan.errors import InputError
from ngramscan.outputs.keyness import (
    KeynessOptions,
    KeynessResult,
    KeynessRow,
    adjusted,
    compare,
    compared_ngrams,
    kind_of,
    to_patterns,
)
from ngramscan.outputs.ngram_rates import log_likelihood
from ngramscan.outputs.ngrams import MinFrequency
from ngramscan.outputs.presence import PresenceTest, Sides
from ngramscan.outputs.tokens import Tokens, split_characters, split_words
from ngramscan.patterns.files import load_patterns
from ngramscan.reporting.tables import print_keyness
from ngramscan.reporting.tables.keyness import mark_whitespace
from tests.support.command import invoke
from tests.support.outputs import refusal, shown_in, write_lines, write_texts

OPTIONS = KeynessOptions("PoT", ("CoT",), "word", (1, 6), MinFrequency(10, 5), 50, 0.05, False)
EVERY_WORD = replace(OPTIONS, lengths=(1, 1), minimum=MinFrequency(1, 1), q=1.0)


def unpaired(own: int, others: int) -> Sides:
    """Return outputs that each answer a problem of their own."""
    return Sides(np.arange(own + others) < own, np.arange(own + others))


def keyness_of(tokens: Tokens, own: int, **options: Any) -> KeynessResult:
    return compare(tokens, unpaired(own, tokens.sizes.size - own), replace(OPTIONS, **options))


def words_of(texts: Sequence[str], own: int) -> tuple[Tokens, dict[str, NDArray[Any]]]:
    tokens = split_words(texts)
    test = PresenceTest(unpaired(own, len(texts) - own), tokens.sizes)
    return tokens, compared_ngrams(tokens, test, EVERY_WORD)[0]


# Closed forms


@pytest.mark.parametrize("table", [(30, 5, 1000, 2000), (0, 7, 50, 80), (3, 3, 10, 10)])
def test_g2_is_that_of_scipy(table: tuple[int, int, int, int]) -> None:
    a, b, c, d = table
    cells = [[a, b], [c - a, d - b]]
    expected = chi2_contingency(cells, correction=False, lambda_="log-likelihood").statistic
    assert log_likelihood([a], [b], c, d)[0] == pytest.approx(expected, abs=1e-9)


@settings(max_examples=30)
@given(st.lists(st.floats(0, 1), min_size=1, max_size=30))
def test_q_is_that_of_scipy(p: list[float]) -> None:
    np.testing.assert_allclose(adjusted(p), false_discovery_control(p), rtol=1e-12)


def test_q_of_several_tests_at_once_is_that_of_as_many_single_ones() -> None:
    p, times = np.array([0.6, 0.03, 0.01, 0.5, 0.02]), np.array([1, 3, 2, 5, 1])
    each = np.repeat(adjusted(p, times), times)
    np.testing.assert_allclose(each, adjusted(np.repeat(p, times)))
    # 5/1 × .01, 5/2 × .02, 5/3 × .03, then 5/4 × .5 and 5/5 × .6, which is less.
    assert adjusted(p) == pytest.approx([0.6, 0.05, 0.05, 0.6, 0.05])


def test_dispersion_of_even_and_of_concentrated_words() -> None:
    _, table = words_of(["x a b", "x a b", "x a b", "y y y", *["c c c"] * 4], 4)
    # y: all in one of four equal documents: (1 - 1/4) / (1 - 1/4); x: DP 1/4, normalised 1/3.
    found = sorted(v for v in table["dispersion"].tolist() if not np.isnan(v))
    assert found == pytest.approx([1 / 3] * 3 + [1.0])
    # A single text has them all, as evenly as can be.
    assert words_of(["x x y", "z"], 1)[1]["dispersion"][:2].tolist() == [0, 0]


# What is found


def bursty(
    draw: np.random.Generator, documents: Sequence[int], words: int, rate: float
) -> list[str]:
    """Return texts whose words come in bursts: a gamma factor per document and word."""
    texts = []
    for size in documents:
        counts = draw.poisson(rate * draw.gamma(0.3, 1 / 0.3, words) * size)
        # A filler keeps the length what it is to be.
        pieces = [f"w{k}" for k in np.repeat(np.arange(words), counts)]
        texts.append(" ".join(pieces + ["f"] * max(size - len(pieces), 1)))
    return texts


def test_intervals_cover_ratios_of_clustered_words() -> None:
    draw = np.random.default_rng(3)
    sizes = draw.integers(400, 1600, 300).tolist()
    texts = bursty(draw, sizes[:150], 1000, 7.5e-4) + bursty(draw, sizes[150:], 1000, 3.75e-4)
    tokens, table = words_of(texts, 150)
    is_word = np.array([tokens.names[tokens.ids[k]] != "f" for k in table["first"]])
    covered = (table["log_ratio_low"] <= 1) & (table["log_ratio_high"] >= 1)
    assert is_word.sum() == 1000
    assert 0.93 <= covered[is_word].mean() <= 0.97


@pytest.mark.parametrize("shared", [False, True])
def test_copies_by_several_models_are_no_evidence(tmp_path: Path, shared: bool) -> None:
    draw = np.random.default_rng(6)
    words = np.array(list("abcdefgh"))
    texts = {prompt: draw.choice(words, (60, 5)).tolist() for prompt in ("pot", "cot")}
    frames = []
    for models in (1, 4):
        for prompt, own in texts.items():
            first = 0 if shared or prompt == "pot" else 60
            records = [{"id": k, "output": " ".join(text)} for k, text in enumerate(own, first)]
            for model in range(models):
                write_lines(tmp_path / f"{models}" / "d" / f"{model}" / f"{prompt}.jsonl", *records)
        more: dict[str, Any] = {"n": "1-2", "min_count": 1, "min_documents": 1, "q": 1, "all": True}
        frames.append(ngramscan.keyness(tmp_path / f"{models}", of="pot", against="cot", **more))
    once, copied = frames
    assert len(once) > 20
    assert copied["ngram"].tolist() == once["ngram"].tolist()
    assert copied["count"].tolist() == (4 * once["count"]).tolist()
    np.testing.assert_allclose(copied["p"], once["p"], rtol=1e-9)


def test_planted_phrases_are_found_and_stand_once() -> None:
    draw = np.random.default_rng(4)
    filler = [" ".join(draw.choice(list("abcdefgh"), 40)) for _ in range(80)]
    own = [f"{text} def solution():\n    return" for text in filler[:40]]
    found = keyness_of(split_words([*own, *filler[40:]]), 40)
    assert [row.ngram for row in found.rows] == ["def solution():\n    return"]
    every = keyness_of(split_words([*own, *filler[40:]]), 40, all=True)
    assert "def" in {row.ngram for row in every.rows}
    assert every.found == found.found == len(every.rows)
    best = found.rows[0]
    assert (best.count, best.other_count, best.document_share) == (40, 0, 1.0)
    assert best.dispersion < 0.2
    assert best.log_ratio_low > 2


def test_nothing_is_found_where_there_is_nothing() -> None:
    assert keyness_of(split_words(["a b c"] * 20), 10).rows == []
    assert keyness_of(split_words([""] * 4), 2).tested == 0
    short = split_characters(["abc"] * 10 + ["a"] * 10)
    assert keyness_of(short, 10, lengths=(2, 6)).tested == 0
    assert keyness_of(short, 10).found == 0


def test_programs_are_told_from_chains_of_thought(shared: Path) -> None:
    outputs = shared / "data/financemath/validation"
    frame = ngramscan.keyness(outputs, of="PoT", against="CoT", n="1-3")
    ngrams = list(frame["ngram"])
    assert "solution" in ngrams[:10]
    assert "return answer" in ngrams[:15]
    assert (frame["q"] <= 0.05).all()


# The command


@pytest.fixture
def outputs(tmp_path: Path) -> Path:
    draw = np.random.default_rng(5)
    phrases = {"cot": "Let's think", "pot": 'return "\\t: #"', "f-1+cot": "\\frac{a}{b}"}
    texts = {
        prompt: [" ".join([*draw.choice(list("abcdef"), 30), phrase]) for _ in range(40)]
        for prompt, phrase in phrases.items()
    }
    return write_texts(tmp_path / "outs", texts)


def test_prompts_that_have_the_method_are_compared_with_those_that_have_not(outputs: Path) -> None:
    ran = invoke("keyness", outputs, "--of", "F-1", "--against", "CoT", "--format", "csv")
    assert (ran.code, ran.stderr) == (0, "")
    assert list(ran.rows[0]) == list(KeynessRow.__dataclass_fields__)
    assert any("\\frac{" in row["ngram"] for row in ran.rows)
    assert all(set(row["ngram"]) & set("\\frac{}") for row in ran.rows)
    assert ran.rows[0]["other_documents"] == "0"
    table = invoke("keyness", outputs, "--of", "CoT", "--against", "PoT")
    assert "80 outputs of CoT against 40 of PoT, paired by the 40 problems" in table.stdout
    frame = ngramscan.keyness(outputs, of="F-1", against="CoT", n=2, top=3)
    assert frame["n"].tolist() == [2, 2, 2]


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
            "50 outputs of pot against 60 of cot, for 50 and 60 problems",
            id="without an id each output is one of its own",
        ),
    ],
)
def test_the_first_lines_say_what_is_compared(
    tmp_path: Path, own: list[dict[str, int]], others: list[dict[str, int]], words: str
) -> None:
    for prompt, records, text in (("pot", own, "a b c d"), ("cot", others, "a b")):
        lines = ({**record, "output": text} for record in records)
        write_lines(tmp_path / "d" / "m" / f"{prompt}.jsonl", *lines)
    ran = invoke("keyness", tmp_path, "--of", "pot", "--against", "cot")
    longer = "outputs of pot are longer than those of cot: the test compares parts of equal length"
    assert (ran.code, ran.stdout.splitlines()[:3]) == (0, ["dataset d · model m", words, longer])
    assert "longer than" not in invoke("keyness", tmp_path, "--of=cot", "--against=pot").stdout


@pytest.mark.parametrize(
    ("own", "others", "named"),
    [
        pytest.param("a", "abcde", "pot of a; cot of a, b, c and 2 more", id="one and several"),
        pytest.param("a", "b", "pot of a; cot of b", id="one and another"),
        pytest.param("ab", "a", "pot of a, b; cot of a", id="several and one"),
        pytest.param("ab", "ba", "", id="the same"),
        pytest.param("a", "a", "", id="one"),
    ],
)
def test_rows_say_that_the_sides_have_different_models(
    tmp_path: Path, own: str, others: str, named: str
) -> None:
    for prompt, models, text in (("pot", own, "x y z"), ("cot", others, "x v w")):
        for model in models:
            lines = ({"id": k, "output": text} for k in range(50))
            write_lines(tmp_path / "d" / model / f"{prompt}.jsonl", *lines)
    # A model without any text on a side is not on it.
    write_lines(tmp_path / "d" / "z" / "pot.jsonl", {"id": 1, "output": ""})
    words = f"different models ({named}): an n-gram may be the style of a model, not of the method"
    frame = ngramscan.keyness(tmp_path, of="pot", against="cot")
    assert set(frame["note"]) == {words if named else ""}
    table = invoke("keyness", tmp_path, "--of=pot", "--against=cot").stdout
    assert (words in table, "different models" in table) == (bool(named), bool(named))


@pytest.mark.parametrize("unit", ["word", "character"])
def test_an_export_is_a_pattern_set_that_count_takes(
    outputs: Path, tmp_path: Path, unit: str
) -> None:
    file = tmp_path / "found.yaml"
    more = ("--unit", unit, "--export", file, "--tier", "t2", "--format", "csv")
    ran = invoke("keyness", outputs, "--of", "PoT", "--against", "CoT", *more)
    assert ran.code == 0
    loaded = load_patterns(file)
    written = [row["ngram"] for row in ran.rows if any(map(str.isalnum, row["ngram"]))]
    assert [pattern.text for pattern in loaded.patterns] == written
    assert {(pattern.method, pattern.tier) for pattern in loaded.patterns} == {("PoT", "T2")}
    corpus = f"scan:{outputs}/d/m/pot.jsonl"
    counted = ngramscan.count(file, index=corpus, text_field="output")
    assert counted["pattern"].tolist() == written
    assert (counted["occurrences"] > 0).all()


def test_rows_are_shown_though_there_is_nothing_to_export(outputs: Path, tmp_path: Path) -> None:
    more = ("--n", "6", "--min-count", "5000", "--export", tmp_path / "none.yaml")
    ran = invoke("keyness", outputs, "--of", "PoT", "--against", "CoT", *more)
    assert (ran.code, "0 n-grams tested" in ran.stdout) == (1, True)
    assert ran.stderr.endswith("none.yaml: not written: no n-gram was found; try a larger --q\n")


HARD = ["yes", "null", "- a", "'\"", "a: b", " # x", "\t", "\n  x"]
HARD += ["é…\u2028\x85", "\x1b", "\\", "1"]


def row_of(text: str) -> KeynessRow:
    numbers = (40, 0.5, 3, 0.1, 900.0, 2.0, 1.5, 2.5, 0.3, 1e-9, 1e-7, 0.95)
    return KeynessRow(text, 1, 1200, 3, 1.0, 2.0, *numbers)


def exported(texts: Sequence[str], file: Path, **options: Any) -> tuple[list[str], list[str]]:
    """Return the texts of a pattern set that was written and read, and what was left out."""
    rows = [row_of(text) for text in texts]
    content, left_out = to_patterns(rows, replace(OPTIONS, **options), file, "T3")
    file.write_text(content, encoding="utf-8")
    loaded = load_patterns(file)
    assert loaded.name == file.stem
    return [pattern.text for pattern in loaded.patterns], left_out


def test_an_export_leaves_out_punctuation_unless_all_is_asked_for(tmp_path: Path) -> None:
    texts, file = ["{", ") :", "x =", "\n  ", "é", "7", "__"], tmp_path / "no.yaml"
    left_out = [f"{file}: n-grams without a letter or digit left out (--all writes them): 4"]
    assert exported(texts, file) == (["x =", "é", "7"], left_out)
    assert exported([*texts, "{"], file, all=True) == (texts, [])
    with pytest.raises(InputError, match="--all writes the others too"):
        exported(texts[:2], file)


def test_hard_texts_come_back_from_an_export(tmp_path: Path) -> None:
    file = tmp_path / "no.yaml"
    left_out = [f"{file}: n-grams left out that no pattern can have: 2"]
    assert exported([*HARD, "\0", "\ud800"], file, of="a: #", all=True) == (HARD, left_out)


def test_the_kind_of_a_pattern_is_that_of_its_content() -> None:
    code = ("def solution():", "x = 3", "answer\n    return")
    assert {kind_of(text) for text in code} == {"code"}
    assert {kind_of(text) for text in ("\\frac{", "\\[")} == {"latex"}
    assert {kind_of(text) for text in ("Let's think", "Step 1:")} == {"narrative"}


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ("--of XX --against CoT", "no outputs of XX; there are: cot, f-1, pot"),
        ("--of CoT --against cot", "--against cot: it is the method of --of"),
        ("--of CoT --against F-1", "no output of --against"),
        ("--of PoT --against CoT --n 1-9", "--n 1-9: a length or a range such as 1-6"),
        ("--of PoT --against CoT --n x", "--n x"),
        ("--of PoT --against CoT --export /no/x.yaml", "there is no folder"),
        ("--of PoT --against CoT --output-field y", "no field 'y'"),
    ],
)
def test_wrong_usage_is_one_line(outputs: Path, more: str, words: str) -> None:
    assert words in refusal("keyness", outputs, *more.split())


def test_options_from_python_are_checked_too(tmp_path: Path) -> None:
    wrong: Any
    for wrong in ({"unit": "line"}, {"q": 0.0}, {"top": 0}, {"min_count": 0}, {"against": ()}):
        with pytest.raises(InputError):
            ngramscan.keyness(tmp_path, **{"of": "PoT", "against": "CoT", **wrong})


# The table


@pytest.mark.parametrize("width", [40, 80, 300])
def test_no_number_is_cut_at_any_width(width: int) -> None:
    rows = [row_of("answer\n    return"), row_of(" [b]")]
    shown = shown_in(width, partial(print_keyness, rows, ["told"]))
    assert "2.0 [1.5, 2.5]" in shown
    assert "·[b]" in shown


def test_what_can_t_be_seen_is_shown() -> None:
    shown = [mark_whitespace(text) for text in ("a\n    b", " a ", "  ")]
    assert shown == ["a⏎····b", "·a·", "··"]
    assert "\x1b" not in mark_whitespace("\x1b[31m")


def test_ngrams_that_are_rarer_on_the_own_side_are_none_of_its_marks() -> None:
    few, many = ["a"] * 32 + ["a b"] * 8, ["a b"] * 40
    assert keyness_of(split_words(few + many), 40).rows == []
    assert "b" in {row.ngram for row in keyness_of(split_words(many + few), 40).rows}
