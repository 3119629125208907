"""What is read as a set of real numbers."""

import pytest

from evalcore.rules.real_sets import NoRealSetError, read_real_set


@pytest.mark.parametrize(
    "texts",
    [
        pytest.param(["x<1", "y>2"], id="two variables"),
        pytest.param(["x<y"], id="two variables in one relation"),
        pytest.param(["x=y<2"], id="an equation in a chain"),
        pytest.param(["(2,1)"], id="no interval"),
        pytest.param(["2x=(0,1)"], id="no name"),
        pytest.param([], id="nothing"),
    ],
)
def test_what_is_not_one_set_of_real_numbers_is_compared_otherwise(texts: list[str]) -> None:
    from evalcore.rules.expressions import read_expression

    with pytest.raises(NoRealSetError):
        read_real_set(texts, False, read_expression)
