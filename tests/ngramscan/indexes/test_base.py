"""The values that all indexes return, and the abilities that only some have."""

from importlib import import_module
from pkgutil import walk_packages

import pytest

from ngramscan import indexes
from ngramscan.indexes.base import (
    Cost,
    CountsBySource,
    FindsPassages,
    FindsSpans,
    Index,
    Locates,
    MatchesSuffixes,
    Occurrences,
    Place,
    ReadsDocuments,
    ReadsMetadata,
    Segment,
    ShowsExcerpts,
    Window,
    requests_at,
)
from ngramscan.indexes.fm9 import (
    Fm9Index,
    FollowsRule,
    LocalFm9Index,
    RuledFm9Index,
    RuledInPlaceFm9Index,
)
from ngramscan.indexes.http.index import ApiIndex
from ngramscan.indexes.in_place import InPlaceIndex
from ngramscan.indexes.scan.index import ScanIndex
from ngramscan.indexes.tokens.base import CountsTokens, MatchesTokens
from ngramscan.indexes.tokens.files import TokenFilesIndex
from ngramscan.indexes.tokens.hosted import HostedTokenIndex
from ngramscan.indexes.tokens.in_place import InPlaceTokenIndex
from ngramscan.indexes.tokens.local import TokenFolderIndex

ABILITIES = (
    ReadsDocuments,
    CountsBySource,
    ShowsExcerpts,
    FindsPassages,
    Locates,
    ReadsMetadata,
    MatchesSuffixes,
    FindsSpans,
    MatchesTokens,
    CountsTokens,
)
INDEXES: dict[type, set[type]] = {
    ScanIndex: {ReadsDocuments, CountsBySource, ShowsExcerpts, FindsPassages},
    Fm9Index: set(),
    LocalFm9Index: {Locates, ReadsMetadata, MatchesSuffixes},
    FollowsRule: set(),
    RuledFm9Index: {Locates, ReadsMetadata, MatchesSuffixes},
    RuledInPlaceFm9Index: set(),
    InPlaceIndex: {FindsSpans},
    ApiIndex: set(),
    TokenFilesIndex: {CountsTokens, MatchesTokens, ReadsMetadata},
    InPlaceTokenIndex: {CountsTokens, MatchesTokens, ReadsMetadata},
    TokenFolderIndex: {CountsTokens, Locates, MatchesTokens, ReadsMetadata},
    HostedTokenIndex: {CountsTokens, MatchesTokens},
}
"""The abilities of each index."""


@pytest.mark.parametrize(
    ("seconds", "duration"),
    [
        (0.0, "0:00:00"),
        (0.6, "0:00:01"),
        (59.4, "0:00:59"),
        (60.0, "0:01:00"),
        (3599.0, "0:59:59"),
        (3600.0, "1:00:00"),
        (100 * 3600 + 61.0, "100:01:01"),
    ],
)
def test_the_duration_of_a_cost(seconds: float, duration: str) -> None:
    assert Cost(seconds=seconds).duration == duration


def test_requests_at_a_rate_take_their_time() -> None:
    assert requests_at(4.0, 10) == Cost(requests_at_most=10, requests=10, bytes=0, seconds=2.5)


def test_costs_are_added_field_by_field() -> None:
    sum_of_costs = Cost(1, 2, 3, 4.0, 5.0) + Cost(10, 20, 30, 40.0, 50.0)
    assert sum_of_costs == Cost(11, 22, 33, 44.0, 55.0)


def test_occurrences_are_the_sum_of_those_of_the_shards() -> None:
    found = Occurrences("é", (Segment(0, 5, 9), Segment(2, 0, 1)))
    assert [segment.occurrences for segment in found.segments] == [4, 1]
    assert (found.occurrences, found.needles, found.found) == (5, (b"\xc3\xa9",), found)


@pytest.mark.parametrize(
    ("document_bytes", "is_truncated"), [(3, False), (4, True)], ids=["whole", "cut"]
)
def test_a_window_tells_whether_a_part_of_the_document_is_hidden(
    document_bytes: int, is_truncated: bool
) -> None:
    window = Window(Place("a", 0, 0), "1", document_bytes, b"a b", 0, True, "")
    assert (window.length, window.is_truncated) == (document_bytes, is_truncated)


@pytest.mark.parametrize("index", INDEXES, ids=lambda index: index.__name__)
def test_each_kind_of_index_has_its_abilities(index: type[Index]) -> None:
    abilities = {ability for ability in ABILITIES if issubclass(index, ability)}
    assert abilities == INDEXES[index]


def test_the_table_of_abilities_has_every_index() -> None:
    names = [found.name for found in walk_packages(indexes.__path__, "ngramscan.indexes.")]
    classes = {
        value
        for name in names
        for value in vars(import_module(name)).values()
        if isinstance(value, type) and {"counts", "find", "windows"} <= {*dir(value)}
    }
    assert {each for each in classes if not is_protocol(each)} == INDEXES.keys()


def is_protocol(each: type) -> bool:
    """Tell whether a class only says what others have."""
    return bool(getattr(each, "_is_protocol", False))


def test_asking_for_an_ability_reads_no_property() -> None:
    class Host:
        @property
        def longest_context(self) -> int:
            raise AssertionError("a request was sent")

    assert not any(isinstance(Host(), ability) for ability in ABILITIES)
