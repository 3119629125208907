"""The engine of many long literals finds them wherever they stand."""

from hypothesis import given, settings
from hypothesis import strategies as st

from ngramscan.matching import (
    gram_engine,
)
from tests.support import oracle
from tests.support.engine_hits import LETTERS, LOWER, found_by
from tests.support.sizes import sets

# Long literals that share their beginnings and repeat themselves, in texts made of them.
STEMS = st.sampled_from(["ab" * 12, "a" * 24, "é" * 12, " " * 30, "\0" * 9, "aA\0", "b"])


LONG = st.lists(STEMS, min_size=1, max_size=5).map("".join)


@settings(max_examples=sets(40))
@given(
    st.lists(LONG, min_size=1, max_size=8, unique=True),
    st.lists(LONG | st.text(alphabet=LETTERS, max_size=23), max_size=6),
    st.booleans(),
    st.booleans(),
)
def test_long_literals_are_found_wherever_they_stand(
    queries: list[str], texts: list[str], ignore_case: bool, is_view: bool
) -> None:
    texts = [*texts, *queries, queries[0] + queries[-1], f"b{queries[0]}"]
    engine = gram_engine([query.encode() for query in queries], ignore_case)
    assert engine
    for text in texts:
        content = text.encode()
        found = found_by(engine, memoryview(content) if is_view else content)
        lower = LOWER if ignore_case else {}
        expected = [
            oracle.occurrences(query.translate(lower), text.translate(lower)) for query in queries
        ]
        assert [found.count(number) for number in range(len(queries))] == expected


def test_a_literal_far_into_a_long_text_is_found_where_it_is() -> None:
    # Places are looked at 262,144 bytes at a time.
    literals = [b"a literal that stands far into a text of its own", b"and another one"]
    engine = gram_engine(literals, False)
    assert engine
    text = b"".join(b"%07d " % number for number in range(100_000))
    places = (262_150, 600_003, 799_000)
    texts = [text[:place] + literals[0] + b" or" + text[place:] for place in places]
    assert [found_by(engine, found_in) for found_in in texts] == [[0]] * 3


def test_a_text_may_have_more_occurrences_than_there_is_room_for() -> None:
    engine = gram_engine([b"a" * 30, b"a" * 23], False)
    assert engine
    found = found_by(engine, b"a" * 5_000)
    assert (found.count(0), found.count(1)) == (4_971, 4_978)
