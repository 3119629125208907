"""Formulas as people type them, compared with the same as LaTeX."""

import pytest

from evalcore.formats import Problem
from evalcore.rules import AnswerToGrade
from evalcore.rules.formula_pool import compare_texts


def is_right(answer: str, gold: str) -> bool:
    from evalcore.rules.mathematics import compare_formulas

    item = AnswerToGrade(Problem("1", "?", gold), answer)
    grade = compare_texts(item) or compare_formulas(item)
    assert not grade.failed
    return grade.value == 1.0


@pytest.mark.parametrize(
    ("letter", "name"),
    [
        ("α", "alpha"),
        ("β", "beta"),
        ("γ", "gamma"),
        ("δ", "delta"),
        ("ε", "epsilon"),
        ("θ", "theta"),
        ("λ", "lambda"),
        ("ρ", "rho"),
        ("σ", "sigma"),
        ("τ", "tau"),
        ("φ", "phi"),
        ("ϕ", "phi"),
        ("ψ", "psi"),
        ("ω", "omega"),
    ],
)
def test_a_greek_letter_is_its_command(letter: str, name: str) -> None:
    assert is_right(f"2{letter} + 1", rf"1 + 2\{name}")


@pytest.mark.parametrize(
    "name",
    [
        *("alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta", "iota", "kappa"),
        *("lambda", "rho", "sigma", "tau", "phi", "chi", "psi", "omega"),
        *("Gamma", "Delta", "Theta", "Lambda", "Sigma", "Phi", "Psi", "Omega"),
    ],
)
def test_the_name_of_a_greek_letter_is_its_command(name: str) -> None:
    assert is_right(f"2*{name} + 1", rf"1 + 2\{name}")
    assert not is_right(f"2*{name} + 1", r"1 + 2\xi")


@pytest.mark.parametrize(
    ("typed", "latex"),
    [
        ("arcsin x", r"\arcsin(x)"),
        ("arccos x", r"\arccos(x)"),
        ("arctan x", r"\arctan(x)"),
        ("asin x", r"\arcsin(x)"),
        ("acos x", r"\arccos(x)"),
        ("atan x", r"\arctan(x)"),
        ("sinh x", r"\frac{e^x-e^{-x}}{2}"),
        ("cosh x", r"\frac{e^x+e^{-x}}{2}"),
        ("tanh x", r"\frac{e^x-e^{-x}}{e^x+e^{-x}}"),
        ("arcsinh(2)", r"\ln(2+\sqrt{5})"),
        ("arsinh(2)", r"\ln(2+\sqrt{5})"),
        ("asinh(2)", r"\ln(2+\sqrt{5})"),
        ("arccosh(2)", r"\ln(2+\sqrt{3})"),
        ("arcosh(2)", r"\ln(2+\sqrt{3})"),
        ("acosh(2)", r"\ln(2+\sqrt{3})"),
        ("arctanh(1/2)", r"\frac{1}{2}\ln 3"),
        ("artanh(1/2)", r"\frac{1}{2}\ln 3"),
        ("atanh(1/2)", r"\frac{1}{2}\ln 3"),
        ("sin x", r"\sin(x)"),
        ("cos x", r"\cos(x)"),
        ("tan x", r"\frac{\sin x}{\cos x}"),
        ("cot x", r"\frac{\cos x}{\sin x}"),
        ("csc x", r"\frac{1}{\sin x}"),
        ("sec(x)", r"\frac{1}{\cos x}"),
        ("ln 2", r"\ln(2)"),
        ("log(100)", "2"),
        ("log_2(8)", "3"),
        ("log base 2 of 8", "3"),
        ("max(2, 3)", "3"),
        ("min(2, 3)", "2"),
        ("gcd(12, 18)", "6"),
        ("lcm(4, 6)", "12"),
        ("sqrt(8)", r"2\sqrt{2}"),
        ("cbrt(8)", "2"),
        ("exp(2)", "e^2"),
        ("abs(-3)", "3"),
        ("floor(7/2)", "3"),
        ("ceil(7/2)", "4"),
        ("ceiling(7/2)", "4"),
        ("factorial(5)", "120"),
        ("binom(5, 2)", "10"),
        ("binomial(5, 2)", "10"),
        ("comb(5, 2)", "10"),
        ("choose(5, 2)", "10"),
        ("5 choose 2", "10"),
    ],
)
def test_a_typed_function_is_the_function(typed: str, latex: str) -> None:
    assert is_right(typed, latex)


@pytest.mark.parametrize(
    ("typed", "number"),
    [
        ("sqrt(4)", "4"),
        ("sqrt 4", "4"),
        ("cbrt(8)", "8"),
        ("abs(-3)", "-3"),
        ("sin(30)", "30"),
        ("factorial(5)", "5"),
        ("floor(7/2)", "7/2"),
        ("log(100)", "100"),
        ("exp(2)", "2"),
    ],
)
def test_a_function_of_a_number_is_not_the_number(typed: str, number: str) -> None:
    assert not is_right(typed, number)


@pytest.mark.parametrize(
    "text",
    ["we choose 4", "we choose (4)", "approximately (4)", "Answer(4)", "on floor 4", "max 4"],
)
def test_a_number_behind_a_word_is_the_number(text: str) -> None:
    assert is_right(text, "4")


@pytest.mark.parametrize(
    ("typed", "latex"),
    [
        ("½", r"\frac{1}{2}"),
        ("⅓", r"\frac{1}{3}"),
        ("⅔", r"\frac{2}{3}"),
        ("¼", r"\frac{1}{4}"),
        ("¾", r"\frac{3}{4}"),
        ("⅕", r"\frac{1}{5}"),
        ("⅖", r"\frac{2}{5}"),
        ("⅗", r"\frac{3}{5}"),
        ("⅘", r"\frac{4}{5}"),
        ("⅙", r"\frac{1}{6}"),
        ("⅚", r"\frac{5}{6}"),
        ("⅐", r"\frac{1}{7}"),
        ("⅛", r"\frac{1}{8}"),
        ("⅜", r"\frac{3}{8}"),
        ("⅝", r"\frac{5}{8}"),
        ("⅞", r"\frac{7}{8}"),
        ("⅑", r"\frac{1}{9}"),
        ("⅒", r"\frac{1}{10}"),
        ("3½", r"\frac{7}{2}"),
        ("3 1/2", r"\frac{7}{2}"),
        ("3/4 pi", r"\frac{3\pi}{4}"),
    ],
)
def test_a_typed_fraction_is_the_fraction(typed: str, latex: str) -> None:
    assert is_right(typed, latex)


@pytest.mark.parametrize(
    ("typed", "latex"),
    [
        ("x⁰¹²³⁴", "x^{01234}"),
        ("x⁵⁶⁷⁸⁹", "x^{56789}"),
        ("x⁺⁻⁼⁽⁾ⁿⁱ", "x^{+-=()ni}"),
        ("a₀₁₂₃₄", "a_{01234}"),
        ("a₅₆₇₈₉", "a_{56789}"),
        ("a₊₋₌₍₎", "a_{+-=()}"),
    ],
)
def test_raised_and_lowered_signs_are_read_in_order(typed: str, latex: str) -> None:
    from evalcore.rules.plain_text import as_latex

    assert as_latex(typed) == latex


@pytest.mark.parametrize(
    ("typed", "latex"),
    [
        pytest.param("0.33...", r"0.\overline{3}", id="twice as the only digit"),
        pytest.param("0.8333...", r"0.8\overline{3}", id="three times behind another"),
        pytest.param("0.833...", "0.833...", id="only twice behind another"),
        pytest.param("0.8333…", r"0.8\overline{3}", id="a sign for dots"),
        pytest.param(r"0.8333\ldots", r"0.8\overline{3}", id="a command for dots"),
        pytest.param("0.142857142857...", r"0.\overline{142857}", id="six digits twice"),
        pytest.param("0.1(6)", r"0.1\overline{6}", id="brackets"),
        pytest.param(r"0.\dot{3}", r"0.\overline{3}", id="a dot"),
        pytest.param(r"0.\dot{1}4285\dot{7}", r"0.\overline{142857}", id="two dots"),
        pytest.param("0.3\u0305", r"0.\overline{3}", id="a line above"),
        pytest.param("0.1212", "0.1212", id="no dots"),
    ],
)
def test_decimals_that_repeat_have_a_bar(typed: str, latex: str) -> None:
    from evalcore.rules.plain_text import with_repeating_decimals

    assert with_repeating_decimals(typed) == latex
