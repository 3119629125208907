"""What goes wrong in a stream is an error of its file."""

import fsspec
import fsspec.implementations.memory
import pytest

from ngramscan.corpora.base import CorpusFile
from ngramscan.corpora.streams import open_file
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
