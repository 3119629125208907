"""HTTP around the protocol: what is no question gets a JSON error, and everything has a bound.

A request under way is one whose body is read, which waits for a thread, or which is computed.
There are at most `MAX_WAITING` more of them than threads; what comes then is told to come back, so
that neither a burst nor clients that stall take memory without end.
"""

from __future__ import annotations

import asyncio
import ipaddress
import time
from collections.abc import Collection, Mapping
from concurrent.futures import ThreadPoolExecutor

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ExceptionHandler

from ngramscan.errors import IndexChangedError, NgramscanError
from ngramscan.progress import Progress
from ngramscan.serve.protocol import Fields, RefusedError, ServedIndex, answer, to_json

MAX_BODY_BYTES = 1_000_000
BODY_TIMEOUT_S = 10.0
MAX_WAITING = 128
RETRY_AFTER_S = 1

_ALLOWED = {"Allow": "OPTIONS, POST"}
_CLOSE = {"Connection": "close"}


class Service:
    """Answers the requests about some indexes.

    Parameters
    ----------
    indexes : mapping
        By name.
    concurrency : int
        Threads that search.
    progress : Progress
        Told of every request, as a detail, and of indexes that turn out to be corrupt.
    hosts : collection of str
        Names, in lower case, that requests may call this server by, beside addresses.
    """

    def __init__(
        self,
        indexes: Mapping[str, ServedIndex],
        concurrency: int,
        progress: Progress,
        hosts: Collection[str] = (),
    ) -> None:
        self._indexes = indexes
        self._hosts = hosts
        self._most_under_way = concurrency + MAX_WAITING
        self._progress = progress
        self._threads = ThreadPoolExecutor(concurrency, thread_name_prefix="search")
        self._under_way = 0

    def application(self) -> Starlette:
        """Return the ASGI application."""
        handlers: dict[int | type[Exception], ExceptionHandler] = {
            HTTPException: _http_error,
            ClientDisconnect: _nobody_listens,
            IndexChangedError: self._index_changed,
            NgramscanError: self._index_error,
            Exception: _internal_error,
        }
        routes = [
            Route("/", self._ask, methods=["POST"]),
            Route("/", self._no_question, methods=["OPTIONS", "GET", "PUT", "PATCH", "DELETE"]),
            Route("/indexes", self._list, methods=["GET"]),
        ]
        application = Starlette(routes=routes, exception_handlers=handlers)
        application.router.redirect_slashes = False
        return application

    async def _ask(self, request: Request) -> Response:
        started_at = time.perf_counter()
        if self._under_way >= self._most_under_way:
            retry = {"Retry-After": str(RETRY_AFTER_S)}
            raise HTTPException(503, "Too many requests are under way; come back later", retry)
        self._check_host(request)
        self._under_way += 1
        try:
            _check_content_type(request)
            body = await _read_body(request)
            loop = asyncio.get_running_loop()
            status, reply = await loop.run_in_executor(self._threads, self._reply, body)
        finally:
            self._under_way -= 1
        milliseconds = (time.perf_counter() - started_at) * 1000
        self._progress.detail(f"{status} in {milliseconds:.1f} ms")
        return _json_response(status, reply)

    def _reply(self, body: bytes) -> tuple[int, bytes]:
        """Do everything that takes time, on a thread of its own."""
        try:
            return 200, to_json(answer(self._indexes, body))
        except RefusedError as error:
            return 400, to_json({"error": str(error)})

    def _check_host(self, request: Request) -> None:
        """Refuse requests that call this server by a name that is not its own.

        A page elsewhere can let the name of its own host lead to a loopback address, and so have a
        browser ask; the name in the request is still that of the page. An address is no such name.
        """
        name = _host_name(request.headers.get("host", ""))
        if name and name not in self._hosts and not _is_address(name):
            problem = f"Unknown host: {name[:100]!r}; see --allow-host"
            raise HTTPException(421, problem, _CLOSE)

    async def _no_question(self, request: Request) -> Response:
        if request.method == "OPTIONS":
            return Response(headers=_ALLOWED)
        raise HTTPException(405, f"{request.method} is not allowed; POST was expected", _ALLOWED)

    async def _list(self, request: Request) -> Response:
        """Tell what is served; the original has no such place."""
        self._check_host(request)
        listed = [
            {
                "name": index.name,
                "documents": index.documents,
                "bytes": index.text_bytes,
                "shards": len(index.shards),
            }
            for index in self._indexes.values()
        ]
        return _json_response(200, to_json({"indexes": listed}))

    async def _index_changed(self, _request: Request, error: Exception) -> Response:
        self._progress.notice(f"Error: {error}")
        return _error(503, str(error))

    async def _index_error(self, _request: Request, error: Exception) -> Response:
        self._progress.notice(f"Error: {error}")
        return _error(500, str(error))


def _host_name(header: str) -> str:
    """Return a Host header without its port, in lower case."""
    name, colon, port = header.strip().lower().rpartition(":")
    return (name if colon and port.isdecimal() else header.strip().lower()).strip("[]")


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


def _check_content_type(request: Request) -> None:
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    is_json = kind == "application/json" or (
        kind.startswith("application/") and kind.endswith("+json")
    )
    if not is_json:
        raise HTTPException(415, "Content-Type: application/json was expected")


async def _read_body(request: Request) -> bytes:
    """Return the body.

    Raises
    ------
    HTTPException
        It is too long, by its declared length or by what came, or comes too slowly.
    """
    too_long = HTTPException(413, f"The body is too long; {MAX_BODY_BYTES} bytes are the most")
    declared = request.headers.get("content-length", "")
    if declared.isdecimal() and int(declared[:20]) > MAX_BODY_BYTES:
        raise too_long
    body = bytearray()
    try:
        async with asyncio.timeout(BODY_TIMEOUT_S):
            async for part in request.stream():
                body += part
                if len(body) > MAX_BODY_BYTES:
                    raise too_long
    except TimeoutError as error:
        problem = f"The body did not come within {BODY_TIMEOUT_S:.0f} s"
        raise HTTPException(408, problem, _CLOSE) from error
    return bytes(body)


# --- answers ------------------------------------------------------------------------------------


def _json_response(status: int, body: bytes, headers: Mapping[str, str] | None = None) -> Response:
    return Response(body, status, headers, media_type="application/json")


def _error(status: int, problem: str, headers: Mapping[str, str] | None = None) -> Response:
    fields: Fields = {"error": problem}
    return _json_response(status, to_json(fields), headers)


async def _http_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    problem = error.detail
    if error.status_code == 404:
        problem = "There is nothing at this path; POST / was expected"
    elif problem == "Method Not Allowed":
        problem = f"{request.method} is not allowed here"
    return _error(error.status_code, problem, error.headers)


async def _nobody_listens(_request: Request, _: Exception) -> Response:
    return Response(status_code=400)


async def _internal_error(_request: Request, _: Exception) -> Response:
    """Answer for a fault of this program; who runs it finds the traceback on stderr."""
    return _error(500, "Internal error")
