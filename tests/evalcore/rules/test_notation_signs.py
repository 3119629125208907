"""Other spellings of signs, and names of sets of numbers: each is what it stands for."""

import pytest

from evalcore.rules.notation import clean


@pytest.mark.parametrize(
    ("sign", "spelling"),
    [
        *(("≤", spelling) for spelling in (r"\le", r"\leq", r"\leqslant", r"\leqq", "<=")),
        *(("≥", spelling) for spelling in (r"\ge", r"\geq", r"\geqslant", r"\geqq", ">=")),
        *(("≠", spelling) for spelling in (r"\ne", r"\neq", "!=")),
        *(("≈", spelling) for spelling in (r"\approx", r"\sim", r"\simeq", r"\cong")),
        *(("≈", spelling) for spelling in (r"\thickapprox", "≃", "≅")),
        *(("∖", spelling) for spelling in (r"\setminus", r"\smallsetminus", r"\backslash")),
        *(("-", spelling) for spelling in ("−", "–", "﹣")),
        *((r"\cdot", spelling) for spelling in ("·", "*", "⋅", "∙")),
        ("∈", r"\in"),
        ("∪", r"\cup"),
        ("∪", r"\bigcup"),
        ("∩", r"\cap"),
        ("<", r"\lt"),
        (">", r"\gt"),
        ("±", r"\pm"),
        ("±", "+/-"),
        ("∓", r"\mp"),
        ("%", r"\%"),
        (",", ";"),
        (r"\times", "×"),
        (r"\div", "÷"),
        ("^", "**"),
        ("°", r"\degree"),
        ("°", "º"),
        ("°", r"^\circ"),
        ("°", r"^{\circ}"),
    ],
)
def test_a_sign_between_two_numbers_has_other_spellings(sign: str, spelling: str) -> None:
    def closed_up(text: str) -> str:
        return clean(text).replace(" ", "")

    assert closed_up(f"2 {spelling} 3") == closed_up(f"2 {sign} 3")
    assert closed_up(f"2 {spelling} 3") != closed_up("2 3")


@pytest.mark.parametrize(
    ("spelling", "plain"),
    [
        (r"\dfrac{1}{2}", r"\frac{1}{2}"),
        (r"\tfrac{1}{2}", r"\frac{1}{2}"),
        (r"\cfrac{1}{2}", r"\frac{1}{2}"),
        (r"\dbinom{5}{2}", r"\binom{5}{2}"),
        (r"\tbinom{5}{2}", r"\binom{5}{2}"),
        ("2π", r"2\pi"),
        ("2 pi", r"2 \pi"),
        ("∞", r"\infty"),
        ("inf", r"\infty"),
        ("infinity", r"\infty"),
        ("oo", r"\infty"),
        (r"\varnothing", r"\emptyset"),
        ("∅", r"\emptyset"),
        (r"\lg(5)", r"\log_{10}(5)"),
        ("⌊x⌋", r"\lfloor x\rfloor"),
        ("⌈x⌉", r"\lceil x\rceil"),
        (r"\langle 1,2\rangle", "(1,2)"),
        ("⟨1,2⟩", "(1,2)"),
        ("〈1,2〉", "(1,2)"),
        (r"\lbrace 1,2\rbrace", r"\{1,2\}"),
        (r"5\Omega", "5Ω"),
        ("5\N{OHM SIGN}", "5Ω"),
    ],
)
def test_a_command_has_other_spellings(spelling: str, plain: str) -> None:
    assert clean(spelling).replace(" ", "") == clean(plain).replace(" ", "")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("ℝ", r"\mathbb{R}"),
        (r"\R", r"\mathbb{R}"),
        (r"\Reals", r"\mathbb{R}"),
        (r"\reals", r"\mathbb{R}"),
        (r"\mathbf{R}", r"\mathbb{R}"),
        (r"\mathbb R", r"\mathbb{R}"),
        ("all real numbers", r"\mathbb{R}"),
        ("the set of all reals", r"\mathbb{R}"),
        (r"\text{all real numbers}", r"\mathbb{R}"),
        ("any real", r"\mathbb{R}"),
        ("ℤ", r"\mathbb{Z}"),
        (r"\Z", r"\mathbb{Z}"),
        (r"\mathbf{Z}", r"\mathbb{Z}"),
        ("all integers", r"\mathbb{Z}"),
        ("any integer", r"\mathbb{Z}"),
        ("ℕ", r"\mathbb{N}"),
        (r"\N", r"\mathbb{N}"),
        (r"\mathbf{N}", r"\mathbb{N}"),
        ("ℚ", r"\mathbb{Q}"),
        (r"\Q", r"\mathbb{Q}"),
        (r"\mathbf{Q}", r"\mathbb{Q}"),
        ("ℂ", r"\mathbb{C}"),
        (r"\mathbf{C}", r"\mathbb{C}"),
        ("all positive real numbers", r"(0,\infty )"),
        ("negative reals", r"(-\infty ,0)"),
        ("non-negative real numbers", r"[0,\infty )"),
        ("nonnegative reals", r"[0,\infty )"),
        ("no solution", r"\emptyset "),
        ("there are no real solutions", r"\emptyset "),
        ("no real roots", r"\emptyset "),
        ("the empty set", r"\emptyset "),
    ],
)
def test_sets_of_numbers_have_names(text: str, expected: str) -> None:
    assert clean(text) == expected
