"""What Python prints for numbers, containers and SymPy's functions, as people write them."""

import pytest

from evalcore.rules.computed import write
from evalcore.rules.python_values import read_value


def written(text: str, gold: str = "5") -> str:
    value = read_value(text)
    assert value is not None
    return write(value, gold)


@pytest.mark.parametrize(
    ("text", "latex"),
    [
        ("Rational(5)", "5"),
        ("Fraction(5)", "5"),
        ("Rational(1, 2)", r"\frac{1}{2}"),
        ("Fraction(1, 2)", r"\frac{1}{2}"),
        ("sqrt(x)", r"\sqrt{x}"),
        ("cbrt(x)", r"\sqrt[3]{x}"),
        ("root(x, 4)", r"\sqrt[4]{x}"),
        ("exp(x)", "e^{x}"),
        ("Abs(x)", r"\left|x\right|"),
        ("factorial(n)", "(n)!"),
        ("binomial(n, k)", r"\binom{n}{k}"),
        ("floor(x)", r"\lfloor x \rfloor "),
        ("ceiling(x)", r"\lceil x \rceil "),
        ("Max(x, y)", r"\max(x,y)"),
        ("Min(x, y)", r"\min(x,y)"),
        ("log(x)", r"\ln(x)"),
        ("log(x, 2)", r"\log_{2}(x)"),
        ("ln(x)", r"\ln(x)"),
        ("asin(x)", r"\arcsin(x)"),
        ("acos(x)", r"\arccos(x)"),
        ("atan(x)", r"\arctan(x)"),
        ("sin(x)", r"\sin(x)"),
        ("cos(x)", r"\cos(x)"),
        ("tan(x)", r"\tan(x)"),
        ("cot(x)", r"\cot(x)"),
        ("sec(x)", r"\sec(x)"),
        ("csc(x)", r"\csc(x)"),
        ("sinh(x)", r"\sinh(x)"),
        ("cosh(x)", r"\cosh(x)"),
        ("tanh(x)", r"\tanh(x)"),
        ("Eq(x, 2)", "x=2"),
        ("Ne(x, 2)", "x≠2"),
        ("x + 2", "x+2"),
        ("x - (y + 2)", "x-(y+2)"),
        ("x/(y + 2)", r"\frac{x}{y+2}"),
        ("x**2", "(x)^{2}"),
        ("pi", r"\pi "),
        ("E", "e"),
        ("I", "i"),
        ("oo", r"\infty "),
        ("inf", r"\infty "),
        ("EmptySet", r"\emptyset "),
        ("Reals", r"\mathbb{R}"),
    ],
)
def test_a_function_or_constant_of_sympy_is_its_latex(text: str, latex: str) -> None:
    assert written(text) == latex


@pytest.mark.parametrize(
    "name",
    [
        *("alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta", "iota", "kappa"),
        *("lambda", "mu", "nu", "xi", "rho", "sigma", "tau", "phi", "chi", "psi", "omega"),
    ],
)
def test_the_name_of_a_greek_letter_is_its_command(name: str) -> None:
    # Python's own word `lambda` can't be a name: SymPy writes it so.
    printed = "lamda" if name == "lambda" else name
    assert written(f"2*{printed}") == rf"2\cdot \{name} "


@pytest.mark.parametrize(
    "text",
    [
        *("[1, 2]", "list([1, 2])", "array([1, 2])", "Array([1, 2])", "deque([1, 2])"),
        *("dict_keys([1, 2])", "dict_values([1, 2])", "Matrix([1, 2])", "matrix([1, 2])"),
        *("ImmutableMatrix([1, 2])", "{1, 2}", "set([1, 2])", "frozenset({1, 2})", "[1 2]"),
    ],
)
def test_the_values_of_a_container_are_listed(text: str) -> None:
    assert written(text) == "1, 2"


@pytest.mark.parametrize("text", ["(1, 2)", "tuple([1, 2])", "[1, 2]"])
def test_a_row_is_a_point_where_the_gold_is_one(text: str) -> None:
    assert written(text, "(5, 6)") == "(1, 2)"


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("float64(0.5)", "0.5"),
        ("np.float32(0.5)", "0.5"),
        ("np.int64(5)", "5"),
        ("uint8(5)", "5"),
        ("longdouble('0.5')", "0.5"),
        ("complex128(1+2j)", r"1+2\cdot i"),
        ("clongdouble(1+2j)", r"1+2\cdot i"),
        ("np.bool_(True)", r"\text{True}"),
        ("str_('a')", "a"),
        ("Integer(5)", "5"),
        ("Float('0.5')", "0.5"),
        ("Decimal('0.5')", "0.5"),
        ("mpf('0.5')", "0.5"),
    ],
)
def test_a_number_of_a_library_is_the_number(text: str, number: str) -> None:
    assert written(text) == number


@pytest.mark.parametrize(
    ("text", "interval"),
    [
        ("Interval(0, 1)", "[0,1]"),
        ("Interval.open(0, 1)", "(0,1)"),
        ("Interval.Lopen(0, 1)", "(0,1]"),
        ("Interval.Ropen(0, 1)", "[0,1)"),
        ("(x > 0) & (x < 1)", "0<x<1"),
        ("(0 <= x) & (x <= 1)", "0≤x≤1"),
    ],
)
def test_an_interval_has_its_brackets(text: str, interval: str) -> None:
    assert written(text) == interval


@pytest.mark.parametrize("text", ["nan", "-nan", "NaN", "unknown(5)", "sqrt(1, 2)", "x ~ 2"])
def test_what_is_no_value_is_not_read(text: str) -> None:
    assert read_value(text) is None
