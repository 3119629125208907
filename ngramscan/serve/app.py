"""The protocols over HTTP: every problem becomes a JSON error, and every resource has a limit.

A request is under way while it waits for a thread and while a thread works on it. With
`MAX_WAITING` more of them than threads, the server asks further clients to come back later. Clients
that are slow to send or to read do not count: they occupy neither a thread nor a place. If there
are many, the slowest are disconnected, so that stalling clients can't exhaust the memory.
"""

from __future__ import annotations

import ipaddress
import re
import time
from collections.abc import AsyncIterator, Callable, Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import partial
from itertools import islice

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, Response, StreamingResponse
from starlette.routing import Route
from starlette.types import ExceptionHandler, Receive, Scope, Send

from ngramscan.errors import IndexChangedError, NgramscanError
from ngramscan.progress import Progress
from ngramscan.serve.bodies import CLOSE, Bodies
from ngramscan.serve.clients import BusyError, Clients, StoppableProgress, TookTooLongError
from ngramscan.serve.copies_page import CopiesPage
from ngramscan.serve.fields import JsonObject, RefusedError, to_json
from ngramscan.serve.page import SearchPage
from ngramscan.serve.protocol import LONGEST_CONTEXT, ServedIndex, answer
from ngramscan.serve.rendering import RESULTS, Templates
from ngramscan.serve.token_protocol import ServedTokens
from ngramscan.serve.trace_page import TracePage
from ngramscan.serve.turns import RequestWork

MAX_WAITING = 128
RETRY_AFTER_S = 1

_TRACE, _COPIES = "/trace", "/copies"
_METHODS = {
    "/": {"GET", "HEAD"},
    _TRACE: {"GET", "HEAD", "POST"},
    _COPIES: {"GET", "HEAD", "POST"},
}
"""The methods of each page."""
_FORM = "application/x-www-form-urlencoded"
_RETRY = {"Retry-After": str(RETRY_AFTER_S)}


class IndexApplication:
    """Answers the requests about some indexes, by their names, as an ASGI `application`."""

    def __init__(
        self,
        indexes: Mapping[str, ServedIndex | ServedTokens],
        concurrency: int,
        progress: Progress,
        hosts: Collection[str] = (),
        max_context: int = LONGEST_CONTEXT,
    ) -> None:
        self._indexes = indexes
        self._hosts = hosts  # the names of this server, in lower case
        self._max_context = max_context
        self._most_under_way = concurrency + MAX_WAITING
        self._progress = progress
        self._clients, watch = Clients(concurrency), StoppableProgress()
        self._under_way = 0
        self._bodies = Bodies()
        # The original service of indexes over tokens lists them there; that over bytes doesn't.
        of_tokens = [index for index in indexes.values() if isinstance(index, ServedTokens)]
        self._token_names = [index.name for index in of_tokens]
        self._methods = ["OPTIONS", "POST", *(["GET", "HEAD"] if self._token_names else [])]
        routes = [
            Route("/", self._ask, methods=self._methods),
            Route("/indexes", self._list, methods=["GET"]),
        ]
        handlers: dict[int | type[Exception], ExceptionHandler] = {
            HTTPException: _http_error,
            ClientDisconnect: _client_left,
            NgramscanError: self._index_error,
            Exception: _internal_error,
        }
        starlette = Starlette(routes=routes, exception_handlers=handlers)
        starlette.router.redirect_slashes = False
        searched = {name: index.searched(watch) for name, index in indexes.items()}
        self._templates = Templates(searched)
        self._page = SearchPage(searched, self._templates)
        self._text_pages: Mapping[str, TracePage | CopiesPage] = {
            _TRACE: TracePage(searched, self._templates),
            _COPIES: CopiesPage(searched, self._templates),
        }
        for index in of_tokens:
            index.progress = watch
        for_browsers = Starlette(
            routes=[
                Route("/", self._show),
                *(Route(path, self._show, methods=["GET", "POST"]) for path in self._text_pages),
            ],
            exception_handlers={
                HTTPException: self._page_error,
                ClientDisconnect: _client_left,
                BusyError: self._page_error,
                Exception: self._page_error,
            },
        )

        async def application(scope: Scope, receive: Receive, send: Send) -> None:
            scope["path"] = re.sub("/+", "/", scope["path"])
            await (for_browsers if _is_of_browser(scope) else starlette)(scope, receive, send)

        self.application = application

    async def _ask(self, request: Request) -> Response:
        if request.method == "OPTIONS":
            return Response(headers={"Allow": ", ".join(self._methods)})
        if request.method in {"GET", "HEAD"}:
            self._check_host(request)
            return _to_response(200, self._token_names)
        started_at = time.perf_counter()
        self._check_host(request)
        if _is_of_another_page(request):
            raise HTTPException(403, "A web page elsewhere may not query this server", CLOSE)
        kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
        if not re.fullmatch(r"application/(.*\+)?json", kind):
            raise HTTPException(415, "Content-Type: expected application/json")
        body = await self._bodies.read(request)
        with self._one_more():
            job = self._clients.new_job()
            response = await self._clients.serve(request, job, partial(self._answer, body))
        self._tell(response.status_code, started_at)
        return response

    async def _show(self, request: Request) -> Response:
        """Answer a browser with a page."""
        started_at = time.perf_counter()
        self._check_host(request)
        work = await self._work_of(request)
        job = self._clients.new_job()
        with self._one_more():
            status, parts = await self._clients.serve(request, job, work)
        if request.method == "HEAD":
            parts = islice(parts, 1)  # nothing is searched

        async def sent() -> AsyncIterator[str]:
            try:
                async for part in self._in_parts(request, job, parts):
                    yield part
            finally:
                self._tell(status, started_at)

        return StreamingResponse(sent(), status, self._templates.headers, media_type="text/html")

    async def _work_of(self, request: Request) -> Callable[[], tuple[int, Iterator[str]]]:
        """Read a request of a browser, and return the work for a thread."""
        is_of_another_page = _is_of_another_page(request)
        text_page = self._text_pages.get(request.scope["path"])
        if text_page is None:
            answer = self._page.decline if is_of_another_page else self._page.answer
            return partial(answer, request.scope["query_string"], str(request.base_url))
        if request.method != "POST":
            return partial(text_page.answer, b"")
        if is_of_another_page:
            raise HTTPException(403, "This text comes from another page: paste it here", CLOSE)
        if request.headers.get("content-type", "").partition(";")[0].strip().lower() != _FORM:
            raise HTTPException(415, f"Content-Type: expected {_FORM}", CLOSE)
        return partial(text_page.answer, await self._bodies.read(request))

    def _page_of(self, request: Request) -> SearchPage | TracePage | CopiesPage:
        return self._text_pages.get(request.scope["path"], self._page)

    async def _in_parts(
        self, request: Request, job: RequestWork, parts: Iterator[str]
    ) -> AsyncIterator[str]:
        """Yield the parts of a page, each from a thread, until its client leaves.

        While the client reads, the request is not under way.
        """
        try:
            while part := await self._next_part(request, job, parts):
                yield part
        except ClientDisconnect:
            return
        except NgramscanError as error:
            yield self._page_of(request).problem(str(error)).partition(RESULTS)[2]
        except Exception:
            # The status is sent already: the page itself has to say it.
            yield self._page_of(request).problem("Internal error").partition(RESULTS)[2]
            raise

    async def _next_part(self, request: Request, job: RequestWork, parts: Iterator[str]) -> str:
        with self._under_way_again():
            return await self._clients.serve(request, job, partial(next, parts, ""))

    @contextmanager
    def _one_more(self) -> Iterator[None]:
        """Count a request as under way, or refuse it."""
        if self._under_way >= self._most_under_way:
            raise HTTPException(503, "Too many requests are under way; come back later", _RETRY)
        with self._under_way_again():
            yield

    @contextmanager
    def _under_way_again(self) -> Iterator[None]:
        """Count a request that was admitted before as under way."""
        self._under_way += 1
        try:
            yield
        finally:
            self._under_way -= 1

    def _tell(self, status: int, started_at: float) -> None:
        milliseconds = (time.perf_counter() - started_at) * 1000
        self._progress.detail(f"{status} in {milliseconds:.1f} ms")

    def _answer(self, body: bytes) -> Response:
        """Do everything that takes time; runs on a worker thread."""
        try:
            return _to_response(200, answer(self._indexes, body, self._max_context))
        except RefusedError as error:
            return _to_response(400, {"error": str(error)})

    def _check_host(self, request: Request) -> None:
        """Refuse requests that call this server by another name.

        A foreign page can point its host name to a loopback address to make a browser call this
        server (DNS rebinding); but then the request has the page's host name. Addresses are safe.
        """
        header = request.headers.get("host", "").strip().lower()
        name = re.sub(r":\d*$", "", header).strip("[]")
        if not name or name in self._hosts:
            return
        with suppress(ValueError):
            ipaddress.ip_address(name)
            return
        problem = f"Unknown host: {name[:100]!r}; see --allow-host"
        raise HTTPException(421, problem, CLOSE)

    async def _list(self, request: Request) -> Response:
        """List the indexes; the original service has no such path."""
        self._check_host(request)
        listed = [self._described(index) for index in self._indexes.values()]
        return _to_response(200, {"indexes": listed})

    def _described(self, index: ServedIndex | ServedTokens) -> JsonObject:
        if isinstance(index, ServedTokens):
            folder = index.folder
            return {
                "name": index.name,
                "documents": folder.documents,
                "tokens": folder.tokens,
                "shards": len(folder.shards),
                "tokenizer": index.tokenizer.name,
            }
        return {
            "name": index.name,
            "documents": index.documents,
            "bytes": index.text_bytes,
            "shards": len(index.shards),
            "max_context": self._max_context,
        }

    async def _page_error(self, request: Request, error: Exception) -> Response:
        """Answer a browser; after an error of this program, its traceback is on stderr."""
        reported = HTTPException(500, "Internal error")
        if isinstance(error, BusyError):
            reported = HTTPException(503, str(error), _RETRY)
        elif isinstance(error, HTTPException):
            reported = error
        headers = {**self._templates.headers, **(reported.headers or {})}
        page = self._page_of(request).problem(reported.detail)
        return HTMLResponse(page, reported.status_code, headers)

    async def _index_error(self, _request: Request, error: Exception) -> Response:
        if isinstance(error, BusyError | TookTooLongError):
            return _to_response(503, {"error": str(error)}, _RETRY)
        self._progress.notice(f"Error: {error}")
        status = 503 if isinstance(error, IndexChangedError) else 500
        return _to_response(status, {"error": str(error)})


def _is_of_browser(scope: Scope) -> bool:
    """Tell whether a request is for a page; everything else is of the protocol."""
    if scope["type"] != "http" or scope["method"] not in _METHODS.get(scope["path"], ()):
        return False
    return any(b"text/html" in value for name, value in scope["headers"] if name == b"accept")


def _is_of_another_page(request: Request) -> bool:
    """Tell whether a browser marks a request as coming from a page of another origin.

    Links, frames, forms and pictures there can't read the response, but would cause work here.
    """
    return request.headers.get("sec-fetch-site", "none") not in {"none", "same-origin"}


def _to_response(
    status: int, document: object, headers: Mapping[str, str] | None = None
) -> Response:
    return Response(to_json(document), status, headers, media_type="application/json")


async def _http_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    problem, headers = error.detail, error.headers
    if error.status_code == 404:
        problem = "There is nothing at this path; expected POST /"
    elif error.status_code == 405:
        expected = "GET" if request.url.path == "/indexes" else "POST"
        problem = f"{request.method} is not allowed; expected {expected}"
    return _to_response(error.status_code, {"error": problem}, headers)


async def _client_left(_request: Request, _: Exception) -> Response:
    return Response(status_code=400)


async def _internal_error(_request: Request, _: Exception) -> Response:
    """Answer after an error of this program; its traceback is on the server's stderr."""
    return _to_response(500, {"error": "Internal error"})
