"""Formulas in outputs: how many characters of a text are in them."""

import pytest

from ngramscan.outputs.formulas import take_apart


@pytest.mark.parametrize(
    ("text", "characters"),
    [
        pytest.param("It is $x+1$ here", 5, id="inline"),
        pytest.param("so $$a\n= b$$", 9, id="displayed"),
        pytest.param(r"so \(a\) and \[b\]", 10, id="brackets"),
        pytest.param("\\begin{align*}\na&=b\n\\end{align*}", 32, id="environment"),
        pytest.param("So\nx = 3*y\nholds", 7, id="a line that is an equation"),
        pytest.param("2. Profit: P = 3 * 4", 9, id="an equation after its label"),
        pytest.param("so the value is = 5 as we see", 0, id="a sentence with a sign"),
        pytest.param("It costs $600,000 and pays $50,000.", 0, id="amounts"),
        pytest.param("from $5 million to$6 million", 0, id="an amount goes on in words"),
        pytest.param("($600,000-$50,000)", 0, id="a difference of amounts"),
        pytest.param(r"It is \$5 or \$6", 0, id="escaped dollars"),
        pytest.param(r"$\$600{,}000 \times 2$", 22, id="an amount within a formula"),
        pytest.param("```python\n# $x+1$\ny_total = 3\nprint(y_total)\n```", 0, id="in code"),
        pytest.param("", 0, id="nothing"),
    ],
)
def test_formula_density_is_the_share_of_characters_in_formulas(text: str, characters: int) -> None:
    assert take_apart(text).formula_density == pytest.approx(characters / max(len(text), 1))


def test_long_lines_take_no_long_time() -> None:
    take_apart("a) " * 50_000 + "= " + "$" * 5000 + "\\begin{align}" * 500)


LANGUAGES = [
    *("python", "py", "python3", "ipython", "sympy", "sage", "r", "julia", "matlab", "c", "cpp"),
    *("java", "javascript", "js", "bash", "octave", "wolfram", "mathematica"),
]


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_block_in_the_name_of_a_language_is_a_program(language: str) -> None:
    assert take_apart(f"It is:\n```{language}\nx\n```").has_code


@pytest.mark.parametrize("language", ["latex", "text", "json", ""])
def test_other_blocks_are_no_programs(language: str) -> None:
    assert not take_apart(f"It is:\n```{language}\nx\n```").has_code


@pytest.mark.parametrize(
    ("lines", "has_code"),
    [
        pytest.param(["a_total = 3", "print(a_total)", "b_total = 4"], True, id="three lines"),
        pytest.param(["a_total = 3", "print(a_total)"], False, id="two lines are too few"),
        pytest.param(["a_total = 3", "", "print(a_total)"], False, id="an empty line is none"),
        pytest.param(["x = 6", "y = 3", "z = 4"], False, id="equations"),
    ],
)
def test_a_program_without_a_fence_has_some_lines_that_nothing_else_has(
    lines: list[str], has_code: bool
) -> None:
    assert take_apart("\n".join(lines)).has_code == has_code


def test_an_output_with_two_programs_is_taken_apart_as_by_hand() -> None:
    program = "```python\nprint(1)\n```\n"
    text = f"Step 1: we add.\nThe sum $x + 1$ is 2.\n{program}Middle words.\n{program}Done now."
    parts = take_apart(text)
    assert parts.has_code
    assert parts.prose == "Step 1: we add.\nThe sum $x + 1$ is 2.\nMiddle words.\nDone now."
    assert parts.before_code == "Step 1: we add.\nThe sum $x + 1$ is 2.\nMiddle words."
    # Step we add; The sum is; Middle words; Done now.
    assert parts.words == 10
    assert parts.formula_density == pytest.approx(7 / len(text))


def test_an_output_without_a_program_is_all_prose() -> None:
    parts = take_apart("Add:\nx = 3*y\nSo three.")
    assert (parts.has_code, parts.prose, parts.before_code) == (
        False,
        "Add:\nx = 3*y\nSo three.",
        "",
    )
    assert parts.words == 3


@pytest.mark.parametrize(
    ("lines", "before"),
    [
        pytest.param(["```python", "x", "```", "b"], "", id="at the start"),
        pytest.param(["a", "```python", "x"], "a", id="not closed"),
        pytest.param(["a", "```python", "", "```", "b"], "", id="empty, so it is no program"),
        pytest.param(["a", "```", "b c", "```", "d"], "", id="a block without a name"),
        pytest.param(["a", "~~~ py", "x", "~~~", "b"], "a", id="tildes and a space"),
        pytest.param(["a", "", "b", "  ```R", "x", "  ```"], "a\n\nb", id="indented"),
    ],
)
def test_prose_before_a_program_is_all_lines_before_it(lines: list[str], before: str) -> None:
    assert take_apart("\n".join(lines)).before_code == before


@pytest.mark.parametrize(
    ("line", "density"),
    [
        pytest.param("x = " + "1" * 996, 1.0, id="1000 characters"),
        pytest.param("x = " + "1" * 997, 0.0, id="1001 characters"),
        pytest.param("$" + "1" * 2000 + "$", 1.0, id="2000 between dollars"),
        pytest.param("$" + "1" * 2001 + "$", 0.0, id="2001 between dollars"),
        pytest.param("a" * 60 + ": x = 2", 5 / 67, id="a label of 60"),
        pytest.param("a" * 61 + ": x = 2", 1.0, id="a label of 61 is none"),
        pytest.param("12. x = 2", 5 / 9, id="a number of two digits"),
        pytest.param("123. x = 2", 1.0, id="a number of three digits is none"),
        pytest.param("x ≈ 2", 1.0, id="about"),
        pytest.param("x =", 0.0, id="no right side"),
        pytest.param("= 3", 0.0, id="no left side"),
    ],
)
def test_lengths_of_equations_and_labels_are_bounded(line: str, density: float) -> None:
    assert take_apart(line).formula_density == pytest.approx(density)
