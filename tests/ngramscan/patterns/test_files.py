"""Files of patterns: what breaks the format is refused with its place."""

from pathlib import Path

import pytest

from ngramscan.errors import InputError
from ngramscan.patterns.files import parse_patterns
from tests.support.cases import case_table


@pytest.mark.parametrize(*case_table(Path(__file__).with_suffix(".malformed_patterns.jsonl")))
def test_a_set_that_breaks_the_format_is_refused_with_its_place(message: str, content: str) -> None:
    with pytest.raises(InputError) as error:
        parse_patterns(content, "mine.yaml")
    assert message in str(error.value)
    assert "\n" not in str(error.value)
