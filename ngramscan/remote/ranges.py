"""Parts of remote files: many small reads at once, each asked for once, checked and kept.

A query is a chain of small reads, each of which needs the previous one, and hundreds of chains run
at once. So reads of one turn of the event loop are merged into requests. Pieces are kept under
their exact bounds: an index is read in pieces that always have the same.
"""

from __future__ import annotations

import asyncio
import random
import resource
import threading
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Coroutine, Generator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Self, TypeVar

from ngramscan.errors import IndexChangedError, RemoteRefused, RemoteUnavailable
from ngramscan.messages import OptionUse
from ngramscan.progress import SILENT, Progress
from ngramscan.remote.exchange import NoConnectionError, RateLimitedError, TransientError
from ngramscan.remote.files import NoFileError, RemoteFile, Source, changed
from ngramscan.remote.pace import LONGEST_PAUSE_S, RequestRate
from ngramscan.remote.range_cache import RangeCache
from ngramscan.remote.retries import Retries, RetryPolicy
from ngramscan.remote.stores import is_http, shown
from ngramscan.remote.whole_files import WholeFile

RETRIES = RetryPolicy(
    retryable=TransientError,
    # A run sends ten thousands of requests: where one in five fails, seven in a row do.
    attempts=10,
    attempts_to_connect=3,
    # About 30 s in all, but a server that fails now and then hardly slows a chain of reads down.
    first_pause_s=0.03,
    growth=2.5,
)
LATENCY_S = 0.03
"""The usual time for an answer to a small request, for estimates."""
_GAP_BYTES = 512
"""Reads that lie closer are one request: its headers alone are as long."""
PIECE_BYTES = 1 << 20
"""Longer reads are several requests."""
_OTHER_FILES = 40
"""Descriptors for everything else: the journal, and libraries that are loaded late."""
_ENTRY_BYTES = 400
"""Memory of a piece in addition to its bytes."""
_MOST_SAMPLES, _SAMPLE_BYTES = 16, 4096
"""Pieces, and bytes of each, by which a file without tag and date is recognized."""

T = TypeVar("T")
RangeKey = tuple[RemoteFile, int, int]
"""File, start, stop."""
BytesOrFuture = bytes | asyncio.Future[bytes]
"""Bytes, or the future of those that are under way."""


@dataclass(frozen=True, slots=True)
class RangeOptions:
    """How remote files are read."""

    concurrency: int = 256
    """Most requests at a time; fewer where the process may not open so many connections."""
    rate: float | None = None
    """Maximum requests per second; 0: no limit, until a server asks for fewer. None: the same, and
    users have no option for it.
    """
    timeout_s: float = 45
    """Time limit of one request."""
    cache_bytes: int = 256_000_000
    """Memory for what was read."""
    cache_dir: Path | None = None
    """Folder for what was read, up to four times as much; None: it is not kept after the run."""
    requester_pays: bool = False
    """The user pays for reading from buckets of S3 whose owners want that."""
    paying_buckets: frozenset[str] = frozenset()
    """Buckets of S3 whose readers pay: they get no request from a user who doesn't."""


class Ranges:
    """The remote files of one run, read on an event loop in a thread of its own.

    Coroutines run on that loop, by `run`; any thread may call it. Errors: RemoteRefused,
    RemoteUnavailable, and IndexChangedError if a file is not the one that was opened.

    >>> with Ranges(RangeOptions(), progress) as ranges:
    ...     file = ranges.run(ranges.open("https://example.org/index/data.fm9"))
    ...     ranges.run(ranges.read(file, 0, 28))
    """

    def __init__(self, options: RangeOptions, progress: Progress = SILENT) -> None:
        self._options, self._progress = options, progress
        self.requests = self.bytes = self.hits = 0
        """Requests sent, bytes received, and reads that needed no request."""
        self.changed: list[str] = []
        """Files that were opened and have another version in the cache on disk."""
        self._slots = asyncio.Semaphore(_most_at_once(options.concurrency))
        self._waiting: dict[RemoteFile, list[tuple[int, int]]] = {}
        self._under_way: dict[RangeKey, asyncio.Future[bytes]] = {}
        # The least recently used first; the oldest key of a dict takes ever longer to find.
        self._kept: OrderedDict[RangeKey, bytes] = OrderedDict()
        self._kept_bytes = 0
        self.pages: list[str] = []
        """Files for which a server sent an HTML page instead, as if they were there."""
        self._samples: dict[RemoteFile, dict[int, bytes]] = {}
        self.concurrency = _most_at_once(options.concurrency)
        """Most requests at a time."""
        self.latency_s = LATENCY_S
        """The shortest time in which a request was answered; until then, what is usual."""
        self._resume_at = 0.0
        self._answers = 0
        self._is_slowed = False
        most_bytes, folder = 4 * options.cache_bytes, options.cache_dir
        self._disk = RangeCache(folder, most_bytes, progress) if folder else None
        self._loop = asyncio.new_event_loop()
        self._rate = RequestRate(options.rate or 0.0, self._loop.time())
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        self._source = self.run(self._make_source())

    async def _make_source(self) -> Source:
        options = self._options
        return Source(
            _most_at_once(options.concurrency),
            requester_pays=options.requester_pays,
            paying_buckets=options.paying_buckets,
        )

    def run(self, coroutine: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine and return its result; Ctrl-C cancels it."""
        future = asyncio.run_coroutine_threadsafe(coroutine, self._loop)
        try:
            return future.result()
        finally:
            future.cancel()

    async def open(self, url: str) -> RemoteFile | None:
        """Return a file as it is now; None if there is none."""
        try:
            file = await self._patiently(shown(url), lambda: self._source.open(url))
        except NoFileError as error:
            if error.is_page:
                self.pages.append(shown(url))
            return None
        self.bytes += len(file.head)
        if self._disk and self._disk.add(file):
            self.changed.append(file.url)
        return file

    async def require(self, url: str, needs_parts: bool = True) -> RemoteFile:
        """Return a file as it is now; raise a NoFileError if there is none."""
        return await self._patiently(shown(url), lambda: self._source.open(url, needs_parts))

    def read_through(self, url: str, stamp: str = "", is_page: bool = False) -> Generator[bytes]:
        """Yield the content of a file on a web server, in chunks.

        Any thread but the loop's may call it. An IndexChangedError says that the file was replaced
        meanwhile, or that it has not the tag or date `stamp`. A page is an error unless `is_page`.
        """
        file = WholeFile(self._source, url, stamp, is_page)
        try:
            while not file.at_end:
                if chunk := self.run(self._patiently(file.name, file.more)):
                    yield chunk
        finally:
            self._loop.call_soon_threadsafe(file.close)

    def check(self) -> None:
        """Raise what `check_unmarked` raises; any thread but the loop's may call it."""
        if self._samples:
            self.run(self.check_unmarked())

    async def check_unmarked(self) -> None:
        """Raise an IndexChangedError if a file without tag and date has changed since it was read.

        Its size, its first bytes, and some pieces that were read are compared.
        """
        await asyncio.gather(*(self._compare(*sample) for sample in [*self._samples.items()]))

    async def _compare(self, file: RemoteFile, pieces: dict[int, bytes]) -> None:
        now = await self.require(file.origin)
        if (now.size, now.etag, now.head) != (file.size, file.etag, file.head):
            raise changed(file)
        for start, content in [*pieces.items()]:
            fetch = partial(self._source.fetch, file, start, start + len(content))
            if await self._patiently(file.url, fetch) != content:
                raise changed(file)

    async def read(self, file: RemoteFile, start: int, stop: int) -> bytes:
        """Return exactly the bytes from start to stop."""
        starts = range(start, stop, PIECE_BYTES)
        reads = [self.start(file, at, min(at + PIECE_BYTES, stop)) for at in starts]
        return b"".join([await finished(read) for read in reads])

    def start(self, file: RemoteFile, start: int, stop: int) -> BytesOrFuture:
        """Start to read a piece of at most a megabyte, on the loop; `finished` waits for it."""
        if not 0 <= start <= stop <= file.size:
            raise ValueError(f"{file.url}: bytes {start} to {stop} of {file.size}")
        if stop <= len(file.head) or start == stop:
            return file.head[start:stop]
        key = (file, start, stop)
        if (content := self._recall(key)) is not None:
            self.hits += 1
            return content
        if (future := self._under_way.get(key)) is None:
            future = self._under_way[key] = self._loop.create_future()
            if not self._waiting:
                self._loop.call_soon(self._fetch_waiting)
            self._waiting.setdefault(file, []).append((start, stop))
        return future

    def kept(self, file: RemoteFile, start: int, stop: int) -> bytes | None:
        """Return a piece that takes no request; None: it has to be read."""
        return self._recall((file, start, stop))

    async def read_whole(self, url: str, most: int) -> bytes | None:
        """Return the content of a file of at most `most` bytes; None if there is no such file."""
        file = await self.open(url)
        if file is None:
            return None
        if file.size > most:
            raise RemoteRefused(f"{file.url}: {file.size:,} bytes, more than the {most:,} expected")
        return await self.read(file, 0, file.size)

    async def list(self, url: str) -> Sequence[str] | None:
        """Return the names of what a folder has, folders with a slash; None: it can't be listed."""
        if is_http(url):
            return None
        return await self._patiently(shown(url), lambda: self._source.entries(url))

    def _fetch_waiting(self) -> None:
        """Start the requests for all reads that came since the last turn of the loop."""
        waiting, self._waiting = self._waiting, {}
        for file, wanted in waiting.items():
            for pieces in _merged(wanted):
                start, stop = pieces[0][0], max(stop for _, stop in pieces)
                fetch = partial(self._source.fetch, file, start, stop)
                task = self._loop.create_task(self._patiently(file.url, fetch))
                task.add_done_callback(partial(self._hand_out, file, pieces))

    def _hand_out(
        self, file: RemoteFile, pieces: Sequence[tuple[int, int]], fetched: asyncio.Task[bytes]
    ) -> None:
        """Give the bytes of one request to those who wait for its pieces."""
        error = None if fetched.cancelled() else fetched.exception()
        body = b"" if error or fetched.cancelled() else fetched.result()
        self.bytes += len(body)
        for start, stop in pieces:
            key = (file, start, stop)
            future = self._under_way.pop(key)
            if fetched.cancelled():
                future.cancel()
            elif error:
                future.set_exception(error)
                future.exception()  # nobody may be left who waits for it
            else:
                content = body[start - pieces[0][0] : stop - pieces[0][0]]
                self._keep(key, content)
                self._sample(file, start, content)
                future.set_result(content)
                if self._disk:
                    self._disk.put(file, start, content)
        if self._disk and isinstance(error, IndexChangedError):
            self._disk.forget(file)

    def _recall(self, key: RangeKey) -> bytes | None:
        if (content := self._kept.get(key)) is not None:
            self._kept.move_to_end(key)
        elif self._disk and (content := self._disk.get(*key)) is not None:
            self._keep(key, content)
        return content

    def _keep(self, key: RangeKey, content: bytes) -> None:
        if len(content) >= PIECE_BYTES:  # parts of tables, which who reads them keeps
            return
        self._kept[key] = content
        self._kept_bytes += len(content) + _ENTRY_BYTES
        while self._kept_bytes > self._options.cache_bytes:
            _, oldest = self._kept.popitem(last=False)
            self._kept_bytes -= len(oldest) + _ENTRY_BYTES

    def _sample(self, file: RemoteFile, start: int, content: bytes) -> None:
        if file.etag:
            return
        samples = self._samples.setdefault(file, {})
        if len(samples) < _MOST_SAMPLES:
            samples[start] = content[:_SAMPLE_BYTES]

    async def _patiently(self, name: str, ask: Callable[[], Awaitable[T]]) -> T:
        """Return the result of `ask`; repeat it if that may help."""
        retries, answers = Retries(RETRIES), 0
        while True:
            asked_at = self._loop.time()
            with retries:
                async with self._slots:
                    await self._take_turn()
                    asked_at = self._loop.time()
                    self.requests += 1
                    answer = await self._within_time(ask)
                taken_s = self._loop.time() - asked_at
                self.latency_s = min(self.latency_s, taken_s) if self._answers else taken_s
                self._answers += 1
                self._rate.answered()
                return answer
            is_slow_down = isinstance(retries.error, RateLimitedError)
            # While others are answered, to be asked to slow down costs time alone.
            if is_slow_down and self._answers > answers and retries.failures > 1:
                retries.forgive()
            answers = self._answers
            self._refuse_more(name, retries)
            if is_slow_down and self._rate.slow_down(self._loop.time(), asked_at):
                self._tell_slowed(name)
            await self._wait_after(name, retries)

    async def _within_time(self, ask: Callable[[], Awaitable[T]]) -> T:
        """Return the result of `ask`; raise a TransientError if it takes too long."""
        try:
            async with asyncio.timeout(self._options.timeout_s):
                return await ask()
        except TimeoutError as error:
            raise TransientError(f"no answer in {self._options.timeout_s:g} s") from error

    async def _take_turn(self) -> None:
        """Wait until a request may be sent."""
        while (pause := self._resume_at - self._loop.time()) > 0:
            await asyncio.sleep(pause)
        now = self._loop.time()
        if (pause := self._rate.take_turn(now) - now) > 0:
            await asyncio.sleep(pause)

    def _refuse_more(self, name: str, retries: Retries[TransientError]) -> None:
        """Raise an error if no more attempts make sense."""
        error = retries.error
        is_away = isinstance(error, NoConnectionError) and not self._answers
        if not retries.are_exhausted(is_away):
            return
        has_cure = isinstance(error, RateLimitedError) and self._options.rate is not None
        cure = (
            (" (" + OptionUse("rate", placeholder="N") + " asks more slowly)") if has_cure else ""
        )
        problem = f"{name}: {error}" + cure + f", after {retries.failures} attempts"
        raise RemoteUnavailable(problem) from error

    def _tell_slowed(self, name: str) -> None:
        if not self._is_slowed:
            self._is_slowed = True
            self._progress.notice(f"{name}: the server asks for fewer requests; they slow down")

    async def _wait_after(self, name: str, retries: Retries[TransientError]) -> None:
        """Wait before the next attempt: not at all at first, unless asked to slow down."""
        error = retries.error
        is_slow_down = isinstance(error, RateLimitedError)
        pause = RETRIES.pause_s(retries.failures if is_slow_down else retries.failures - 1)
        seconds = max(pause * random.uniform(0.5, 1.5), error.retry_after or 0.0)
        if seconds > LONGEST_PAUSE_S:
            raise RemoteUnavailable(f"{name}: {error}; it says to retry in {seconds:.0f} s")
        self._progress.detail(f"{name}: {error}; again in {seconds:.1f} s")
        if is_slow_down:  # that is meant for all requests
            self._resume_at = max(self._resume_at, self._loop.time() + seconds)
        else:
            await asyncio.sleep(seconds)

    def close(self) -> None:
        """End all requests and close all connections."""
        if not self._loop.is_closed():
            asyncio.run_coroutine_threadsafe(self._end(), self._loop).result()
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join()
            self._loop.close()
            if self._disk:
                self._disk.close()

    async def _end(self) -> None:
        tasks = asyncio.all_tasks() - {asyncio.current_task()}
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await self._source.close()
        await self._loop.shutdown_default_executor()  # names of hosts are looked up there

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


async def finished(reading: BytesOrFuture) -> bytes:
    """Return the bytes of a reading when they are there."""
    # Whoever stops waiting must not stop it for others.
    return reading if isinstance(reading, bytes) else await asyncio.shield(reading)


def _most_at_once(concurrency: int) -> int:
    """Return how many requests can be under way at once: each of two pools keeps connections."""
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY:
        return concurrency
    return max(1, min(concurrency, (soft - _OTHER_FILES) // 2))


def _merged(wanted: list[tuple[int, int]]) -> list[list[tuple[int, int]]]:
    """Return intervals in groups: those of one group are near each other, and not too long."""
    groups: list[list[tuple[int, int]]] = []
    stop = first = 0
    for piece in sorted(wanted):
        if groups and piece[0] - stop <= _GAP_BYTES and piece[1] - first <= PIECE_BYTES:
            groups[-1].append(piece)
        else:
            groups.append([piece])
            first = piece[0]
        stop = max(stop, piece[1])
    return groups
