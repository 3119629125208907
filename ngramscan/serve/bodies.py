"""Bodies of requests, limited in length, time and number."""

from __future__ import annotations

import asyncio

from starlette.exceptions import HTTPException
from starlette.requests import Request

MAX_BODY_BYTES = 1_000_000
BODY_TIMEOUT_S = 10.0
MOST_BODIES = 256
"""Maximum of concurrent reads; beyond it, the longest-running one is aborted."""
CLOSE = {"Connection": "close"}


class Bodies:
    """Reads the bodies of requests."""

    def __init__(self) -> None:
        self._limits: dict[asyncio.Timeout, None] = {}
        """Bodies that are being read, oldest first."""

    async def read(self, request: Request) -> bytes:
        """Return the body of a request; an HTTPException says that it is too long or too slow."""
        problem = f"The body is too long; the limit is {MAX_BODY_BYTES} bytes"
        too_long = HTTPException(413, problem)
        declared = request.headers.get("content-length", "")
        if declared.isdecimal() and int(declared[:20]) > MAX_BODY_BYTES:
            raise too_long
        body = bytearray()
        limit = asyncio.timeout(BODY_TIMEOUT_S)
        try:
            async with limit:
                self._add(limit)
                async for part in request.stream():
                    body += part
                    if len(body) > MAX_BODY_BYTES:
                        raise too_long
        except TimeoutError as error:
            problem = f"The body did not arrive within {BODY_TIMEOUT_S:.0f} s"
            raise HTTPException(408, problem, CLOSE) from error
        finally:
            self._limits.pop(limit, None)
        return bytes(body)

    def _add(self, limit: asyncio.Timeout) -> None:
        if len(self._limits) >= MOST_BODIES:
            oldest = next(iter(self._limits))
            del self._limits[oldest]
            oldest.reschedule(asyncio.get_running_loop().time())
        self._limits[limit] = None
