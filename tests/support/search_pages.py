"""The search page as a browser gets it, read back, and how commands name the same indexes."""

from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import httpx
import pandas as pd

from ngramscan.index_files.fm9.reader import open_shards
from ngramscan.progress import Progress
from ngramscan.serve import app
from ngramscan.serve.protocol import ServedIndex
from tests.support.places import TOKENS
from tests.support.serve_process import CLIENT

TOKEN_INDEX = TOKENS / "v4_pysmall_llama_s3"
TOKENIZER = TOKENS / "llamalike.model"


BROWSER = {"Accept": "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"}


@dataclass
class Shown:
    """The occurrences of one index on a page, as texts."""

    contexts: list[tuple[str, ...]] = field(default_factory=list)
    sources: list[str] = field(default_factory=list)
    commands: list[str] = field(default_factory=list)


class Reader(HTMLParser):
    """What a browser makes of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.rows: list[list[str]] = []
        self.data: list[list[int]] = []
        self.sections: list[Shown] = []
        self.problems: list[str] = []
        self.text: list[str] = []
        self.opened: list[tuple[str, str]] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self.tags.append((tag, given))
        self.opened.append((tag, given.get("class") or ""))
        if given.get("class") != "feed":
            self.text = []
        # Token n-grams have a table of their own; of its head nothing is kept.
        if tag == "tr" and (not self.rows or ("tbody", "") in self.opened):
            self.rows.append([])
            self.data.append([])
        elif tag == "data":
            self.data[-1].append(int(given["value"] or ""))
        elif tag == "section":
            self.sections.append(Shown())

    def handle_data(self, data: str) -> None:
        self.text.append(data)

    def handle_endtag(self, tag: str) -> None:
        kind = next((kind for name, kind in reversed(self.opened) if name == tag), "")
        while self.opened and self.opened.pop()[0] != tag:
            pass
        text = "".join(self.text)
        if tag in {"td", "th"} and (len(self.rows) == 1 or ("tbody", "") in self.opened):
            self.rows[-1].append(text)
        elif tag == "code":
            self.sections[-1].commands.append(text)
        elif kind == "left":
            self.sections[-1].contexts.append((text,))
        elif tag == "mark" or kind == "right":
            self.sections[-1].contexts[-1] += (text,)
        elif tag == "p" and kind == "problem":
            self.problems.append(text)
        elif tag == "bdi" and self.sections and self.sections[-1].contexts:
            self.sections[-1].sources.append(text)

    def links(self, rel: str = "") -> list[str]:
        anchors = [
            given for tag, given in self.tags if tag == "a" and rel in (given.get("rel") or "")
        ]
        return [given["href"] or "" for given in anchors]


def visit(url: str, query: str, **headers: str) -> httpx.Response:
    """Return the answer to a query as a browser asks."""
    return CLIENT.get(f"{url}?{query}", headers=BROWSER | headers)


def look(url: str, status: int = 200, **fields: Any) -> Reader:
    """Read the page that answers a query."""
    got = visit(url, urlencode(fields, doseq=True))
    assert (got.status_code, got.headers["content-type"]) == (status, "text/html; charset=utf-8")
    return Reader(got.text)


def spec(folder: Path) -> dict[str, Any]:
    """Return how commands name an index, and what they need for it."""
    if folder != TOKEN_INDEX:
        return {"index": f"fm9:{folder}"}
    return {"index": f"tokens:{folder}", "tokenizer": TOKENIZER}


def numbers_of(rows: pd.DataFrame, *names: str) -> list[int]:
    """Return numbers of the only row, over bytes or over tokens."""
    (row,) = rows.to_dict("records")
    return [int(row[name] if name in row else row[f"token_{name}"]) for name in names]


async def get(service: app.IndexApplication, query: str) -> httpx.Response:
    """Ask a service without a socket, as a browser does."""
    transport = httpx.ASGITransport(service.application, raise_app_exceptions=False)
    async with httpx.AsyncClient(transport=transport, headers=BROWSER) as client:
        return await client.get(f"http://127.0.0.1/?{query}")


def service_of(*folders: Path) -> app.IndexApplication:
    """Return the service of some indexes, with one thread."""
    opened = {folder.name: ServedIndex(folder.name, open_shards(folder)) for folder in folders}
    return app.IndexApplication(opened, 1, Progress())
