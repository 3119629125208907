"""What goes wrong in a stream is an error of its file."""

import queue
import threading
from collections.abc import Generator, Iterator
from itertools import islice

import fsspec
import fsspec.implementations.memory
import pytest

from ngramscan.corpora.base import CorpusFile
from ngramscan.corpora.streams import open_file, read_ahead
from ngramscan.errors import CorpusError


def test_what_fsspec_raises_is_an_error_of_the_file(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> bytes:
        raise ValueError("the library below\nis in trouble")

    fsspec.filesystem("memory").pipe("/lost.txt", b"content")
    monkeypatch.setattr(fsspec.implementations.memory.MemoryFile, "read", fail)
    with (
        pytest.raises(CorpusError, match=r"can't be read \(the library below is in trouble\)"),
        open_file(CorpusFile("memory://lost.txt", "text")) as file,
    ):
        file.read(10)


def numbers_and_an_error() -> Iterator[int]:
    yield from range(9)
    raise CorpusError("c", "at the end")


def test_reading_ahead_keeps_the_order_and_errors() -> None:
    ahead = read_ahead(numbers_and_an_error())
    assert list(islice(ahead, 9)) == list(range(9))
    with pytest.raises(CorpusError, match="at the end"):
        next(ahead)


def test_reading_ahead_ends_with_its_reader() -> None:
    threads = threading.active_count()
    ahead = read_ahead(numbers_and_an_error())
    next(ahead)
    assert threading.active_count() > threads
    assert isinstance(ahead, Generator)
    ahead.close()
    assert threading.active_count() == threads


def read_and_fail(place: str) -> None:
    with open_file(CorpusFile(place, "text")) as file:
        assert file.read(3) == b"con"
        raise KeyError("a mistake")


def test_a_mistake_of_ours_is_not_taken_for_an_error_of_the_file() -> None:
    fsspec.filesystem("memory").pipe("/mistake.txt", b"content")
    with pytest.raises(KeyError, match="a mistake"):
        read_and_fail("memory://mistake.txt")


def test_an_iterator_may_be_closed_by_its_own_thread() -> None:
    """The garbage collector closes a dropped iterator in whichever thread it runs."""
    may_close, errors = threading.Event(), queue.Queue[BaseException | None]()

    def numbers() -> Iterator[int]:
        yield 1
        may_close.wait(60)
        assert isinstance(ahead, Generator)
        try:
            ahead.close()
        except BaseException as error:
            errors.put(error)
            raise
        errors.put(None)
        yield 2

    ahead = read_ahead(numbers())
    assert next(ahead) == 1
    may_close.set()
    assert errors.get(timeout=60) is None
