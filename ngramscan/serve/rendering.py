"""Templates of pages, their content security policy, and pages that are sent in parts."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from ngramscan import __version__
from ngramscan.indexes.base import Index, IndexSize
from ngramscan.messages import counted
from ngramscan.progress import format_bytes, visible, visible_line
from ngramscan.stopping import current_work

RESULTS = '<main id="results">\n'
"""The part of a page before this mark does not depend on the search."""
_WORKING = Markup('<p class="working" role="status">Searching <bdi>{}</bdi> ({} of {})</p>\n')
AnswerT = TypeVar("AnswerT")


class Templates:
    """The templates of pages, and the headers that go with them."""

    def __init__(self, indexes: Mapping[str, Index]) -> None:
        self._indexes = indexes
        self._environment = Environment(
            loader=PackageLoader("ngramscan.serve"),
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        self._environment.filters |= {
            "line": visible_line,
            "visible": visible,
            "text": _shown,
            "size": _size,
            "number": lambda number: f"{number:,}",
            "counted": counted,
        }
        style = self._environment.get_template("style.css").render()
        self._environment.globals |= {"style": Markup(style), "version": __version__}
        digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
        policy = f"default-src 'none'; style-src 'sha256-{digest}'; img-src data:; "
        policy += "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
        self.headers = {
            "Content-Security-Policy": policy,
            "X-Content-Type-Options": "nosniff",
            "Referrer-Policy": "no-referrer",
            "Cache-Control": "no-store",
            "Vary": "Accept",
        }

    def render(self, name: str, **values: Any) -> str:
        """Return a page."""
        indexes = [(name, index.size()) for name, index in self._indexes.items()]
        pieces = self._environment.get_template(name).generate(values, indexes=indexes)
        return "".join(_checked(pieces))


def render_gradually(
    names: Sequence[str],
    answers: Iterable[AnswerT],
    render: Callable[[Sequence[AnswerT]], str],
) -> Iterator[str]:
    """Yield the page up to the results, a progress line per index, and the results."""
    yield "".join(render([]).partition(RESULTS)[:2])
    answering, finished = iter(answers), list[AnswerT]()
    for number, name in enumerate(names, start=1):
        yield str(_WORKING.format(visible_line(name), number, len(names)))
        finished.append(next(answering))
    yield render(finished).partition(RESULTS)[2]


def _checked(pieces: Iterable[str]) -> Iterator[str]:
    """Yield the pieces of a page; if the work is stopped, raise its error between them."""
    work = current_work()
    for piece in pieces:
        work.check()
        yield piece


def _shown(text: str) -> Markup:
    """Return a text in which control characters are visible, and line feeds marked."""
    return escape(visible(text)).replace("\n", Markup('<span class="feed">\n</span>'))


def _size(size: IndexSize) -> str:
    documents = counted(size.documents or 0, "document")
    if size.tokens is not None:
        return f"{documents}, {counted(size.tokens, 'token')}"
    return f"{documents}, {format_bytes(size.bytes or 0)} of text"
