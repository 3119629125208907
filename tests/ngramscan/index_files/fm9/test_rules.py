"""Search by rules: the same occurrences as the definition, whatever the texts."""

import random
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from ngramscan.errors import InputError
from ngramscan.index_files.fm9.reader import Shard, extend_in_all
from ngramscan.index_files.fm9.rules import RuleSearch
from ngramscan.indexes.base import Place, Window
from ngramscan.indexes.fm9 import LocalFm9Index, open_fm9
from ngramscan.matching.rules import MatchRule
from ngramscan.progress import Progress
from tests.support import match_oracle
from tests.support.fm9_shards import write_shard
from tests.support.rule_cases import CHARACTERS, PHRASES, RULES


def written(folder: Path, texts: list[str]) -> Path:
    """Write an index in two shards."""
    half = len(texts) // 2
    for name, part in (("0", texts[:half]), ("1", texts[half:])):
        write_shard(folder / name, [text.encode() for text in part], [b"{}"] * len(part))
    return folder


def places(index: LocalFm9Index, query: str) -> list[Place]:
    (located,) = index.find([query])
    return [
        Place(query, segment.shard, rank)
        for segment in located.segments
        for rank in range(segment.low, segment.high)
    ]


@pytest.mark.parametrize("seed", range(4))
def test_occurrences_are_those_of_the_definition(tmp_path: Path, seed: int) -> None:
    draw = random.Random(seed)

    def drawn_text(longest: int) -> str:
        return "".join(draw.choices(CHARACTERS, k=draw.randint(1, longest)))

    texts = [drawn_text(25) for _ in range(12)]
    drawn_queries = [drawn_text(3) for _ in range(12)]
    written(tmp_path, texts)
    for rule in RULES:
        index = open_fm9(tmp_path, Progress(), rule=rule)
        for query in dict.fromkeys([*PHRASES, *drawn_queries]):
            if rule.any_space and query.isspace():
                continue
            shown = index.windows(places(index, query), 1 << 40)
            windows = [window for window in shown if isinstance(window, Window)]
            located = [
                (int(window.document), window.offset, window.stop - window.offset)
                for window in windows
            ]
            expected = [
                (number, start, length)
                for number, text in enumerate(texts)
                for start, length in match_oracle.byte_matches(query, text, rule)
            ]
            assert (rule, query, sorted(located)) == (rule, query, expected)


def test_a_place_that_is_no_occurrence_fails(tmp_path: Path) -> None:
    written(tmp_path, ["a b", "ab a"])
    index = open_fm9(tmp_path, Progress(), rule=MatchRule(whole_words=True))
    located = {(place.shard, place.rank) for place in places(index, "a")}
    others = [
        Place("a", shard, rank)
        for shard in (0, 1)
        for rank in range(4)
        if (shard, rank) not in located
    ]
    assert not any(isinstance(reply, Window) for reply in index.windows(others, 10))


def test_a_long_run_of_white_space_is_followed_to_its_end(tmp_path: Path) -> None:
    text = "a" + "\n" * 1000 + "b a b a" + " \n" * 50 + "b"
    written(tmp_path, [text, "a b"])
    index = open_fm9(tmp_path, Progress(), rule=MatchRule(any_space=True))
    assert len(places(index, "a b")) == 4


def test_too_many_forms_are_refused(tmp_path: Path) -> None:
    write_shard(tmp_path, [b"a" + b"\n" * 100 + b"b"], [b"{}"])
    shard = Shard(tmp_path)
    ranks, extend = np.array([[0, shard.ranks]], np.int64), partial(extend_in_all, [shard])
    rule = MatchRule(any_space=True)
    assert len(RuleSearch(rule, extend, ranks, most_ranges=102).find("a b")) == 1
    with pytest.raises(InputError) as error:
        RuleSearch(rule, extend, ranks, most_ranges=101).find("a b")
    assert str(error.value) == (
        "'a b': it occurs in too many forms by this rule: more than 101 ranges of the index; leave"
        " out a rule, or read the corpus with scan:PATH"
    )
