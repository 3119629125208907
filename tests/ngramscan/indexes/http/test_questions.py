"""Questions about one item: they wait where no answer is known, and go on where they were."""

import pytest

from ngramscan.errors import RemoteRefused
from ngramscan.indexes.http.questions import Answer, HostQuestion, Lookup, Questions, answer_to


def ask_nobody() -> Answer[int]:
    raise AssertionError("the host is not asked")


def question(request: str) -> HostQuestion[int]:
    return HostQuestion(request, len, ask_nobody)


def sum_of(*requests: str, begun: list[str]) -> Questions[int]:
    """Ask one after another; note which questions were put."""
    total = 0
    for request in requests:
        begun.append(request)
        number, _, _ = yield from answer_to(question(request))
        if number < 0:
            raise RemoteRefused(f"{request}: below 0")
        total += number
    return total


def test_questions_go_on_where_they_waited() -> None:
    begun: list[str] = []
    replies: dict[str, Answer[int]] = {"a": (1, "journal", ""), "b": (2, "journal", "")}
    lookup = Lookup(sum_of("a", "b", "c", "d", begun=begun))
    assert not lookup.advance(lambda asked: replies.get(asked.request))
    assert begun == ["a", "b", "c"]
    assert lookup.advance(lambda asked: (len(asked.request), "api", ""))
    assert begun == ["a", "b", "c", "d"], "no question is put twice"
    assert lookup.result == 1 + 2 + 1 + 1


def test_without_questions_nothing_is_asked() -> None:
    lookup = Lookup(sum_of(begun=[]))
    assert lookup.advance(lambda _: None)
    assert lookup.result == 0


def test_an_answer_that_is_refused_ends_the_questions() -> None:
    begun: list[str] = []
    lookup = Lookup(sum_of("a", "b", begun=begun))
    with pytest.raises(RemoteRefused, match="a: below 0"):
        lookup.advance(lambda _: (-1, "journal", ""))
    assert begun == ["a"]
