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
