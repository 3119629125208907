import pytest

from ngramscan.patterns.overlaps import merged_strings
from tests.support.cases import case_table


@pytest.mark.parametrize(*case_table("only_whole_words_overlap"))
def test_only_whole_words_overlap(first: str, second: str, merged: list[str]) -> None:
    assert merged_strings(first, second) == merged
