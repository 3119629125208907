"""`ngramscan keyness`: its arithmetic, its promises, and the command."""

import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chi2_contingency, false_discovery_control, fisher_exact, t

import ngramscan
from ngramscan.errors import InputError
from ngramscan.outputs.keyness import (
    KeynessOptions,
    KeynessResult,
    KeynessRow,
    adjusted,
    compare,
    describe_keyness,
    describe_models,
    kind_of,
    run_keyness,
    to_patterns,
)
from ngramscan.outputs.ngrams import MinFrequency
from ngramscan.outputs.tokens import NumberedTexts, split_characters, split_words
from ngramscan.patterns.files import load_patterns
from tests.support.command import invoke
from tests.support.keyness_sides import OPTIONS, unpaired
from tests.support.outputs import Texts, outputs_of, refusal, write_lines, write_texts


def keyness_of(tokens: NumberedTexts, own: int, **options: Any) -> KeynessResult:
    return compare(tokens, unpaired(own, tokens.sizes.size - own), replace(OPTIONS, **options))


@settings(max_examples=30)
@given(st.lists(st.floats(0, 1), min_size=1, max_size=30))
def test_q_is_that_of_scipy(p: list[float]) -> None:
    np.testing.assert_allclose(adjusted(p), false_discovery_control(p), rtol=1e-12)


def test_planted_phrases_are_found_and_stand_once() -> None:
    draw = np.random.default_rng(4)
    filler = [" ".join(draw.choice(list("abcdefgh"), 40)) for _ in range(80)]
    own = [f"{text} def solution():\n    return" for text in filler[:40]]
    found = keyness_of(split_words([*own, *filler[40:]]), 40)
    assert [row.ngram for row in found.rows] == ["def solution():\n    return"]
    every = keyness_of(split_words([*own, *filler[40:]]), 40, all=True)
    assert "def" in {row.ngram for row in every.rows}
    assert every.significant == found.significant == len(every.rows)
    best = found.rows[0]
    assert (best.count, best.other_count, best.document_share) == (40, 0, 1.0)
    assert best.dispersion < 0.2
    assert best.log_ratio_low > 2


def test_counts_and_rates_of_both_sides_are_those_counted_by_hand() -> None:
    tokens = split_words(["a b b", "a a a b", "a c", "c c c c c", "b a a"])
    found = keyness_of(tokens, 2, lengths=(1, 1), minimum=MinFrequency(1, 1), q=1.0, all=True)
    (row,) = [row for row in found.rows if row.ngram == "b"]
    # Three of 7 words in both outputs; one of 10 words in one of the three others.
    assert (row.count, row.documents, row.other_count, row.other_documents) == (3, 2, 1, 1)
    assert (row.document_share, row.other_document_share) == pytest.approx((2 / 2, 1 / 3))
    assert (row.per_million, row.other_per_million) == pytest.approx((3e6 / 7, 1e6 / 10))
    cells = [[3, 1], [7 - 3, 10 - 1]]
    expected = chi2_contingency(cells, correction=False, lambda_="log-likelihood").statistic
    assert row.g2 == pytest.approx(expected)


@pytest.fixture
def outputs(tmp_path: Path) -> Path:
    draw = np.random.default_rng(5)
    phrases = {"cot": "Let's think", "pot": 'return "\\t: #"', "f-1+cot": "\\frac{a}{b}"}
    texts = {
        prompt: [" ".join([*draw.choice(list("abcdef"), 30), phrase]) for _ in range(40)]
        for prompt, phrase in phrases.items()
    }
    return write_texts(tmp_path / "outs", texts)


@pytest.mark.parametrize(
    ("own", "others", "words"),
    [
        pytest.param(
            [{"id": number} for number in range(50)],
            [{"id": number} for number in range(52)],
            "50 outputs of pot against 52 of cot, paired by the 50 problems that both answer;"
            " 2 that one side alone answers are not tested",
            id="a problem is what has an id",
        ),
        pytest.param(
            [{"id": number, "epoch": epoch} for number in range(40) for epoch in (0, 1)],
            [{"id": number} for number in range(40)],
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
    assert set(frame.get("note", [""])) == {words if named else ""}
    table = invoke("keyness", tmp_path, "--of=pot", "--against=cot").stdout
    assert (words in table, "different models" in table) == (bool(named), bool(named))


def test_rows_are_shown_though_there_is_nothing_to_export(outputs: Path, tmp_path: Path) -> None:
    more = ("--n", "6", "--min-count", "5000", "--export", tmp_path / "none.yaml")
    ran = invoke("keyness", outputs, "--of", "PoT", "--against", "CoT", *more)
    assert (ran.code, "0 n-grams tested" in ran.stdout) == (1, True)
    assert ran.stderr.endswith("none.yaml: not written: no n-gram was found; try a larger --q\n")


def row_of(text: str) -> KeynessRow:
    numbers = (40, 0.5, 3, 0.1, 900.0, 2.0, 1.5, 2.5, 0.3, 1e-9, 1e-7, 0.95)
    return KeynessRow(text, 1, 1200, 3, 1.0, 2.0, *numbers)


def exported(texts: Sequence[str], file: Path, **options: Any) -> tuple[list[str], list[str]]:
    """Return the texts of a pattern set that was written and read, and what was left out."""
    rows = [row_of(text) for text in texts]
    content, left_out = to_patterns(rows, replace(OPTIONS, **options), file, "T3")
    file.write_text(content)
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


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ("--of XX --against CoT", "no outputs of XX; available: cot, f-1, pot"),
        ("--of CoT --against cot", "--against cot: the same method as --of"),
        ("--of CoT --against F-1", "no output of --against"),
        ("--of PoT --against CoT --n 1-9", "--n 1-9: expected a length or a range such as 1-6"),
        ("--of PoT --against CoT --n x", "--n x"),
        ("--of PoT --against CoT --export /no/x.yaml", "no such folder"),
        ("--of PoT --against CoT --output-field y", "no field 'y'"),
    ],
)
def test_wrong_usage_is_one_line(outputs: Path, more: str, words: str) -> None:
    assert words in refusal("keyness", outputs, *more.split())


@pytest.mark.parametrize(
    ("option", "value"),
    [("unit", "line"), ("q", 0.0), ("top", 0), ("min_count", 0), ("against", ())],
    ids=["unit", "q", "top", "min_count", "against"],
)
def test_options_from_python_are_checked_too(tmp_path: Path, option: str, value: Any) -> None:
    options = {"of": "PoT", "against": "CoT", option: value}
    with pytest.raises(InputError):
        ngramscan.keyness(tmp_path, **options)


def test_ngrams_that_are_rarer_on_the_own_side_are_none_of_its_marks() -> None:
    few, many = ["a"] * 32 + ["a b"] * 8, ["a b"] * 40
    assert keyness_of(split_words(few + many), 40).rows == []
    assert "b" in {row.ngram for row in keyness_of(split_words(many + few), 40).rows}


@pytest.mark.parametrize("is_shared", [False, True], ids=["other problems", "the same problems"])
def test_copies_of_outputs_by_several_models_are_no_evidence(
    tmp_path: Path, is_shared: bool
) -> None:
    draw = np.random.default_rng(6)
    texts = {prompt: draw.choice(list("abcdefgh"), (60, 5)).tolist() for prompt in ("pot", "cot")}
    every: dict[str, Any] = {"n": "1-2", "min_count": 1, "min_documents": 1, "q": 1, "all": True}
    found = []
    for models in (1, 4):
        for prompt, own in texts.items():
            first = 0 if is_shared or prompt == "pot" else 60
            records = [{"id": k, "output": " ".join(text)} for k, text in enumerate(own, first)]
            for model in range(models):
                write_lines(tmp_path / f"{models}/d/{model}/{prompt}.jsonl", *records)
        found.append(ngramscan.keyness(tmp_path / f"{models}", of="pot", against="cot", **every))
    once, copied = found
    assert len(once) > 20
    assert copied["ngram"].tolist() == once["ngram"].tolist()
    assert copied["count"].tolist() == (4 * once["count"]).tolist()
    np.testing.assert_allclose(copied["p"], once["p"], rtol=1e-9)


@pytest.mark.parametrize(
    ("tokens", "own", "lengths"),
    [
        pytest.param(split_words(["a b c"] * 20), 10, (1, 6), id="equal texts"),
        pytest.param(split_words([""] * 4), 2, (1, 6), id="empty texts"),
        pytest.param(split_characters(["abc"] * 10 + ["a"] * 10), 10, (2, 6), id="one character"),
    ],
)
def test_nothing_is_found_where_there_is_nothing(
    tokens: NumberedTexts, own: int, lengths: tuple[int, int]
) -> None:
    found = keyness_of(tokens, own, lengths=lengths)
    assert (found.rows, found.significant) == ([], 0)


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


HARD = [
    "a: b #",
    "'a'",
    '"a"',
    "- a",
    "a\\n",
    "a\n  b",
    "\ta",
    "é😀",
    "null",
    "{a}",
    "&a *b",
    "1.0",
    " a ",
]


def test_hard_texts_come_back_from_an_export(tmp_path: Path) -> None:
    file = tmp_path / "no.yaml"
    left_out = [f"{file}: n-grams left out that no pattern can have: 2"]
    assert exported([*HARD, "\0", "\ud800"], file, of="a: #", all=True) == (HARD, left_out)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("def solution():", "code"),
        ("x = 3", "code"),
        ("answer\n    return", "code"),
        ("\\frac{", "latex"),
        ("\\[", "latex"),
        ("Let's think", "narrative"),
        ("Step 1:", "narrative"),
    ],
)
def test_the_kind_of_an_exported_pattern_is_that_of_its_content(text: str, kind: str) -> None:
    assert kind_of(text) == kind


def test_outputs_of_prompts_with_the_method_are_compared_with_the_others(outputs: Path) -> None:
    ran = invoke("keyness", outputs, "--of", "CoT", "--against", "PoT")
    assert "80 outputs of CoT against 40 of PoT, paired by the 40 problems" in ran.stdout
    rows = ngramscan.keyness(outputs, of="F-1", against="CoT")
    assert all(set(ngram) & set("\\frac{}") for ngram in rows["ngram"])
    assert rows["other_documents"].tolist() == [0] * len(rows)
    two = ngramscan.keyness(outputs, of="F-1", against="CoT", n=2, top=3)
    assert two["n"].tolist() == [2, 2, 2]


def test_programs_are_told_from_chains_of_thought(shared: Path) -> None:
    outputs = shared / "data/financemath/validation"
    rows = ngramscan.keyness(outputs, of="PoT", against="CoT", n="1-3")
    ngrams = rows["ngram"].tolist()
    assert "solution" in ngrams[:10]
    assert "return answer" in ngrams[:15]
    assert (rows["q"] <= 0.05).all()


def test_tests_and_ratios_of_a_row_are_those_done_by_hand() -> None:
    # Nine of twelve outputs have x, three of the others; each has four words.
    own, others = ["x b c d"] * 9 + ["a b c d"] * 3, ["x b c d"] * 3 + ["a b c d"] * 9
    options = {"lengths": (1, 1), "minimum": MinFrequency(1, 1), "q": 1.0, "all": True}
    found = keyness_of(split_words([*own, *others]), 12, **options)
    (row,) = [row for row in found.rows if row.ngram == "x"]
    assert (row.n, row.level, row.note) == (1, 0.95, "")
    p = fisher_exact(np.array([[9, 3], [3, 9]]), "greater").pvalue
    assert row.p == pytest.approx(p)
    # Of the five words, b, c and d are in all outputs, and a in fewer than expected.
    assert row.q == pytest.approx(5 * p)
    assert found.tested == 5
    assert row.log_ratio == pytest.approx(math.log2(9.5 / 3.5))
    # A ratio estimate over problems: of 4 words each, 9 and 3 times one occurrence.
    variances = [
        (12 / 11 * (k * (1 - k / 12) ** 2 + (12 - k) * (k / 12) ** 2) + 0.5) / (k + 0.5) ** 2
        for k in (9, 3)
    ]
    degrees = sum(variances) ** 2 / (variances[0] ** 2 / 8 + variances[1] ** 2 / 2)
    half = t.ppf(0.975, degrees) * math.sqrt(sum(variances)) / math.log(2)
    assert row.log_ratio_low == pytest.approx(row.log_ratio - half)
    assert row.log_ratio_high == pytest.approx(row.log_ratio + half)


def test_q_of_n_grams_that_share_a_row_counts_each_of_them() -> None:
    p, times = np.array([0.6, 0.03, 0.01, 0.5, 0.02]), np.array([1, 3, 2, 5, 1])
    of_each = np.repeat(adjusted(p, times), times)
    np.testing.assert_allclose(of_each, adjusted(np.repeat(p, times)))
    # 5/1 × .01, 5/2 × .02, 5/3 × .03, then 5/4 × .5 and 5/5 × .6, which is less.
    assert adjusted(p) == pytest.approx([0.6, 0.05, 0.05, 0.6, 0.05])


def options_of(**changes: Any) -> KeynessOptions:
    return replace(OPTIONS, **{"minimum": MinFrequency(1, 1), "q": 1.0, "all": True, **changes})


def lines_above(texts: Texts, found_inside: int = 0) -> list[str]:
    """Return the lines above the table of the outputs of PoT against those of CoT."""
    outputs, options = outputs_of(texts), options_of()
    found = replace(run_keyness(outputs, options), found_inside=found_inside)
    return describe_keyness(outputs, found, options)


@pytest.mark.parametrize(
    ("found_inside", "words"),
    [
        (0, " at q ≤ 1; "),
        (1, " at q ≤ 1, 1 of them only within longer ones; "),
        (1234, " at q ≤ 1, 1,234 of them only within longer ones; "),
    ],
)
def test_n_grams_within_longer_ones_are_counted(found_inside: int, words: str) -> None:
    texts = {("d", "m", "PoT"): ["a b"] * 2, ("d", "m", "CoT"): ["a c"] * 2}
    lines = lines_above(texts, found_inside=found_inside)
    assert words in lines[-1]
    assert lines[-1].startswith("5 n-grams tested, ")
    assert " in a larger share of outputs of PoT at q ≤ 1" in lines[-1]


def test_outputs_of_both_sides_and_their_problems_are_counted() -> None:
    same = {("d", "m", "PoT"): ["a b"] * 41, ("d", "m", "CoT"): ["a c"] * 40}
    assert lines_above(same)[1] == (
        "41 outputs of PoT against 40 of CoT, paired by the 40 problems that both answer;"
        " 1 that one side alone answers are not tested"
    )
    assert len(lines_above(same)) == 3
    others = {("d", "m", "PoT"): ["a b"] * 2, ("e", "m", "CoT"): ["a c"] * 3}
    assert lines_above(others)[1] == "2 outputs of PoT against 3 of CoT, for 2 and 3 problems"


def test_outputs_of_longer_texts_are_compared_in_parts() -> None:
    texts = {("d", "m", "PoT"): ["a b c d e f g h"] * 3, ("d", "m", "CoT"): ["a c"] * 3}
    assert lines_above(texts)[2] == (
        "outputs of PoT are longer than those of CoT: the test compares parts of equal length"
    )


@pytest.mark.parametrize(
    ("own", "others", "words"),
    [
        (["m"], ["m"], ""),
        (["n", "m"], ["m", "n"], ""),
        (["m"], ["n"], "PoT of m; CoT of n"),
        (["c", "a", "b"], ["m"], "PoT of a, b, c; CoT of m"),
        (["d", "c", "a", "b"], ["m"], "PoT of a, b, c and 1 more; CoT of m"),
        (["m"], ["e", "d", "c", "a", "b"], "PoT of m; CoT of a, b, c and 2 more"),
        (["m"], [""], "PoT of m; CoT of unnamed"),
    ],
    ids=["one", "the same two", "others", "three", "four", "five", "unnamed"],
)
def test_different_models_of_the_sides_are_named(
    own: list[str], others: list[str], words: str
) -> None:
    texts = {("d", model, "PoT"): ["a b"] for model in own}
    texts |= {("d", model, "CoT"): ["a b"] for model in others}
    meaning = "an n-gram may be the style of a model, not of the method"
    expected = f"different models ({words}): {meaning}" if words else ""
    assert describe_models(outputs_of(texts), options_of()) == expected


def test_models_without_text_are_not_named() -> None:
    texts: Texts = {("d", "m", "PoT"): ["a"], ("d", "m", "CoT"): ["a"], ("d", "n", "CoT"): [None]}
    assert describe_models(outputs_of(texts), options_of()) == ""


@pytest.mark.parametrize(
    ("groups", "scope"),
    [
        ([("d", "m")], "dataset d · model m"),
        ([("e", "m"), ("d", "m")], "dataset d, e · model m"),
        ([("d", "n"), ("d", "m")], "dataset d · 2 models"),
        ([("d", "")], "dataset d"),
    ],
    ids=["one of each", "two datasets", "two models", "no model"],
)
def test_datasets_and_models_are_said_first(groups: list[tuple[str, str]], scope: str) -> None:
    texts = {(*group, prompt): ["a b"] for group in groups for prompt in ("PoT", "CoT")}
    assert lines_above({**texts, ("f", "x", "zero-shot"): ["a"]})[0] == scope
