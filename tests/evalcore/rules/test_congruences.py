"""Congruences, compared by their residues."""

import pytest

from evalcore.rules import Grade
from evalcore.rules.congruences import compare_congruences

SAME = Grade(1.0, "the same residues")
OTHER = Grade(0.0, "other residues")


@pytest.mark.parametrize(
    ("answer", "gold", "verdict"),
    [
        pytest.param(r"3 \pmod 5", r"3 \pmod 5", SAME, id="the same"),
        pytest.param(r"8 \pmod 5", r"3 \pmod 5", SAME, id="one modulus more"),
        pytest.param(r"-2 \pmod 5", r"3 \pmod 5", SAME, id="a negative number"),
        pytest.param(r"2 \pmod 5", r"-2 \pmod 5", OTHER, id="the other sign"),
        pytest.param(r"-2 \pmod 5", r"2 \pmod 5", OTHER, id="a sign too many"),
        pytest.param(r"\pm 1 \pmod 5", r"1, 4 \pmod 5", SAME, id="both signs"),
        pytest.param(r"1 \pmod 5", r"\pm 1 \pmod 5", OTHER, id="one of two"),
        pytest.param(r"1, 3 \pmod 4", r"1 \pmod 2", SAME, id="another modulus"),
        pytest.param(r"1 \pmod 4", r"1 \pmod 2", OTHER, id="half of them"),
        pytest.param("x = 5k + 3", r"3 \pmod 5", SAME, id="a progression"),
        pytest.param("5k - 2", r"3 \pmod 5", SAME, id="a progression with a minus"),
        pytest.param("3 + 5k", r"3 \pmod 5", SAME, id="a progression in the other order"),
        pytest.param("5k + 2", r"3 \pmod 5", OTHER, id="another progression"),
        pytest.param("3", r"3 \pmod 5", Grade(1.0, "the same residue"), id="the residue"),
        pytest.param(
            "8",
            r"3 \pmod 5",
            Grade(None, "needs a judge: a number with the same residue"),
            id="a number with the residue",
        ),
        pytest.param("4", r"3 \pmod 5", Grade(0.0, "another residue"), id="another number"),
        pytest.param(r"3 \pmod 5", "3", Grade(1.0, "the same residue"), id="a gold without it"),
        pytest.param(r"3 \pmod 5", "8", Grade(0.0, "another residue"), id="another gold"),
        pytest.param("x+1", r"3 \pmod 5", None, id="a formula"),
        pytest.param("3", "3", None, id="two numbers"),
        pytest.param(r"3 \pmod 0", "3", None, id="no modulus"),
    ],
)
def test_congruences_are_the_same_with_the_same_residues(
    answer: str, gold: str, verdict: Grade | None
) -> None:
    assert compare_congruences(answer, gold) == verdict
