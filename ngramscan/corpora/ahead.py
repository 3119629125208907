"""Reading ahead in a thread, so that text is decompressed while the text before it is searched.

Decompressors and Arrow do not hold the interpreter's lock, nor does the matching engine: one worker
so uses part of a second core, where there is one.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Iterator
from typing import TypeVar

T = TypeVar("T")

_DEPTH = 4
_END = object()


def read_ahead(items: Iterator[T]) -> Iterator[T]:
    """Yield the items of an iterator that runs in a thread, at most a few ahead.

    What the iterator raises is raised here, after all that came before it.
    """
    ahead = _Ahead(items)
    try:
        while (item := ahead.ready.get()) is not _END:
            if isinstance(item, _Raised):
                raise item.error
            yield item  # type: ignore[misc]
    finally:
        ahead.stop()


class _Raised:
    """An exception on its way to the reader."""

    def __init__(self, error: BaseException) -> None:
        self.error = error


class _Ahead:
    """A thread that fills a queue from an iterator."""

    def __init__(self, items: Iterator[object]) -> None:
        self._items = items
        self._stopped = threading.Event()
        self.ready: queue.Queue[object] = queue.Queue(_DEPTH)
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """End the thread, though it be not at the end of its items."""
        self._stopped.set()
        self._thread.join()

    def _run(self) -> None:
        try:
            for item in self._items:
                if not self._put(item):
                    return
        except BaseException as error:  # noqa: BLE001 - raised again by who reads
            self._put(_Raised(error))
        else:
            self._put(_END)

    def _put(self, item: object) -> bool:
        while not self._stopped.is_set():
            try:
                self.ready.put(item, timeout=0.1)
            except queue.Full:
                continue
            return True
        return False
