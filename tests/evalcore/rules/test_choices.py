"""Letters of choices, as a reader compares them, and words without their fonts."""

import pytest

from evalcore.rules.choices import compare_choices, plain_words


@pytest.mark.parametrize(
    ("answer", "gold", "is_same"),
    [
        pytest.param("(A)", "A", True, id="brackets"),
        pytest.param("A", "(A)", True, id="brackets in the reference"),
        pytest.param("[A]", "(A)", True, id="other brackets"),
        pytest.param("\\text{A}", "A", True, id="a font"),
        pytest.param("\\text{(A)}", "A", True, id="a font around brackets"),
        pytest.param("(\\mathrm{A})", "A", True, id="a font within brackets"),
        pytest.param("\\textbf{(D)}\\ 12", "D", True, id="a font and what the choice says"),
        pytest.param("**B**", "B", True, id="bold type"),
        pytest.param("**(B)** 12 apples", "B", True, id="bold type in front"),
        pytest.param("B) 12", "B", True, id="one bracket"),
        pytest.param("B. 12 apples", "B", True, id="a full stop"),
        pytest.param("B: 12", "B", True, id="a colon"),
        pytest.param("option B", "B", True, id="the word option"),
        pytest.param("Option (B)", "b)", True, id="a small letter in brackets"),
        pytest.param("$\\mathbf{C}$.", "C", True, id="a formula"),
        pytest.param("Ｃ", "C", True, id="full width"),
        pytest.param("12 apples", "(B) 12 apples", True, id="what the choice says alone"),
        pytest.param("B", "(B) 12 apples", True, id="the letter alone"),
        pytest.param("(A)", "B", False, id="another letter"),
        pytest.param("A) 12", "B", False, id="another letter in front"),
        pytest.param("D, Paris", "D", True, id="a comma"),
        pytest.param("D - Paris", "D", True, id="a dash"),
        pytest.param("(D) - Paris", "D", True, id="brackets and a dash"),
        pytest.param("D (Paris)", "D", True, id="words in brackets"),
        pytest.param("letter D", "D", True, id="the word letter"),
        pytest.param("A and C", "(A), (C)", True, id="several"),
        pytest.param("(C) and (A)", "A, C", True, id="several in another order"),
        pytest.param("\\text{A and C}", "A & C", True, id="several in a font"),
        pytest.param("AC", "A, C", True, id="several as a word"),
        pytest.param("(A)(C)", "AC", True, id="several in brackets alone"),
        pytest.param("Both A and C", "A, C", True, id="both"),
        pytest.param("A, B, C", "A, C", False, id="one more"),
        pytest.param("A", "A, C", False, id="one of several"),
        pytest.param("(A) and (C)", "A", False, id="several for one"),
        pytest.param("A or C", "A, C", False, id="one or the other"),
        pytest.param("A, C", "C, A", False, id="an order that may be the answer"),
        pytest.param("BA", "AB", False, id="points"),
        pytest.param("(D)+1", "D", False, id="a formula"),
        pytest.param("(D) - 1", "D", False, id="a difference"),
        pytest.param("a", "A", False, id="another variable"),
        pytest.param("A cat", "A", False, id="an article"),
        pytest.param("(A) or (B)", "A", False, id="two choices"),
        pytest.param("A, B", "A", False, id="a list"),
        pytest.param("(A) is wrong, (B) is right", "A", False, id="another choice behind"),
        pytest.param("B. Smith", "B. Johnson", False, id="names"),
        pytest.param("AB", "A", False, id="two letters"),
        pytest.param("", "A", False, id="nothing"),
        pytest.param("12", "12", False, id="numbers are no choices"),
    ],
)
def test_letters_of_choices_are_compared_as_a_reader_does(
    answer: str, gold: str, is_same: bool
) -> None:
    assert (compare_choices(answer, gold) is True) == is_same


@pytest.mark.parametrize(
    ("text", "words"),
    [
        pytest.param("\\text{ant bee}", ["ant", "bee"], id="a font"),
        pytest.param("\\textbf{\\textit{yes}}.", ["yes"], id="fonts in fonts"),
        pytest.param('**"yes"**', ["yes"], id="quotation marks in bold type"),
        pytest.param("$5\\%$", ["5%"], id="an escaped sign"),
        pytest.param("a\\ b~c", ["a", "b", "c"], id="spaces of LaTeX"),
        pytest.param("$a$ and $b$", ["$a$", "and", "$b$"], id="two formulas"),
        pytest.param("2**3**2", ["2**3**2"], id="powers"),
        pytest.param(r"\(yes\)", ["yes"], id="a formula in a line"),
        pytest.param(r"\[yes\]", ["yes"], id="a formula on its own"),
        pytest.param("$$yes$$.", ["yes"], id="double dollar signs"),
        pytest.param("{yes}", ["yes"], id="braces around all"),
        pytest.param("__yes__", ["yes"], id="bold type with lines"),
        pytest.param("`yes`", ["yes"], id="code"),
        pytest.param("'yes.'", ["yes"], id="single quotation marks"),
        pytest.param("“yes”", ["yes"], id="curved quotation marks"),
        pytest.param("‘yes’", ["yes"], id="curved single quotation marks"),
        pytest.param('"a" or "b"', ['"a"', "or", '"b"'], id="two quotations"),
        pytest.param("{\\bf yes}", ["yes"], id="a switch of fonts"),
        pytest.param("x^{2}", ["x^{2}"], id="braces that mean something"),
    ],
)
def test_fonts_and_what_encloses_a_text_are_no_words(text: str, words: list[str]) -> None:
    assert plain_words(text) == words
