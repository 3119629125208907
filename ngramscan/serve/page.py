"""The search page: an address in, HTML out, without scripts and external resources."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import urlencode

from ngramscan.indexes.base import Index
from ngramscan.indexes.kinds import TOKEN_SERVICE
from ngramscan.prevalence.contexts import ContextRow
from ngramscan.prevalence.count import CountRow
from ngramscan.prevalence.draws import DRAWS, LEAST_CONTEXT
from ngramscan.prevalence.metadata import is_web_address, names_of_source
from ngramscan.progress import visible_line
from ngramscan.serve.fields import RefusedError
from ngramscan.serve.rendering import Templates, render_gradually
from ngramscan.serve.search import (
    DRAWING_S,
    LONGEST_PHRASE,
    MOST_SHOWN,
    PER_PAGE,
    PhraseAnswer,
    PhraseQuestion,
    PhraseSearch,
    read_question,
)
from ngramscan.serve.token_requests import MOST_TOKENS

_LONGEST_SOURCE = 200


class SearchPage:
    """Responds to browsers' requests about some indexes."""

    def __init__(self, indexes: Mapping[str, Index], templates: Templates) -> None:
        self._names, self._search, self._templates = [*indexes], PhraseSearch(indexes), templates

    def answer(self, query: bytes, url: str) -> tuple[int, Iterator[str]]:
        """Return the status and the page of an address; `url` is this server, with a slash.

        The page comes in parts, so that a browser can show how far a search has come.
        """
        try:
            question = read_question(query, self._names)
        except RefusedError as error:
            return 400, iter([self.problem(str(error))])
        if question is None:
            return 200, iter([self._render(None)])
        return 200, render_gradually(
            question.names,
            self._search.ask(question),
            lambda answers: self._results(question, answers, url),
        )

    def _results(self, question: PhraseQuestion, answers: Sequence[PhraseAnswer], url: str) -> str:
        shown_answers = [
            (answer, [*map(_source, answer.contexts)], [*_commands(answer, question, url)])
            for answer in answers
        ]
        stop = question.start + PER_PAGE
        has_more = any(answer.total > stop for answer in answers) and stop < MOST_SHOWN
        links = {
            "this": _link(question, question.start),
            "before": _link(question, question.start - PER_PAGE) if question.start else "",
            "after": _link(question, stop) if has_more else "",
        }
        return self._render(question, answers=shown_answers, links=links)

    def decline(self, query: bytes, url: str) -> tuple[int, Iterator[str]]:
        """Return the form, filled in with the query of a foreign page, without running it."""
        try:
            question = read_question(query, self._names)
        except RefusedError:
            question = None
        if question is None:
            return self.answer(query, url)  # asks nothing
        problem = "This question comes from another page: choose Search to run it"
        return 403, iter([self._render(question, problem=problem)])

    def problem(self, problem: str) -> str:
        """Return a page that says what is wrong, with an empty form."""
        return self._render(None, problem=problem)

    def _render(self, question: PhraseQuestion | None, **page_values: Any) -> str:
        defaults: dict[str, Any] = {"answers": (), "links": {}, "problem": ""}
        limits: dict[str, float] = {
            "longest": LONGEST_PHRASE,
            "per_page": PER_PAGE,
            "most": MOST_SHOWN,
        }
        limits |= {"all_draws": DRAWS, "drawing_s": DRAWING_S}
        values = {**defaults, **limits, **page_values, "question": question}
        return self._templates.render("page.html", **values)


def _link(question: PhraseQuestion, start: int) -> str:
    """Return the address of a page, without this server's."""
    fields = [("q", question.phrase), *(("index", name) for name in question.names)]
    return f"?{urlencode([*fields, ('seed', question.seed), ('from', start)])}"


# Sources


def _source(row: ContextRow) -> tuple[str, str]:
    """Return where a document comes from, and its address if it is one to link to."""
    texts = names_of_source(row.metadata)
    link = next(filter(is_web_address, texts), "")
    source = link or next(iter(texts), "")
    cut = f"{source[:_LONGEST_SOURCE]}…" if len(source) > _LONGEST_SOURCE else source
    return cut, link


# The same question, asked elsewhere


def _commands(answer: PhraseAnswer, question: PhraseQuestion, url: str) -> Iterator[str]:
    """Yield command lines that give the numbers of one index."""
    count, phrase = answer.count, f"-e {quoted(question.phrase)}"
    if count is None:
        return
    request = {"index": answer.name, "query_type": "count", **_asked(count, question.phrase)}
    if count.tokens is None or len(count.tokens.split()) <= MOST_TOKENS:
        body = quoted(json.dumps(request))
        yield f"curl {quoted(url)} -H 'Content-Type: application/json' -d {body}"
    address = f"{url}{answer.name}"
    spec = address if count.unit == "bytes" else TOKEN_SERVICE.spec_of(address)
    index = f"--index {quoted(spec)}"
    # A client can't know that tokens are bytes, which find every phrase.
    anyway = " --count-anyway" if count.tokens_are_bytes else ""
    yield f"ngramscan count {phrase} {index}{anyway}"
    if count.unit == "bytes" and (options := _docnorm_options(answer, question)):
        yield f"ngramscan docnorm {phrase} {index} {options}"
    n = question.start + PER_PAGE
    yield f"ngramscan contexts {phrase} {index} -n {n} --seed {question.seed}"


def _docnorm_options(answer: PhraseAnswer, question: PhraseQuestion) -> str:
    """Return the options that reproduce the document estimate; empty if it takes too many requests.

    Over HTTP all occurrences are requested one by one; their context doesn't matter.
    """
    if answer.documents is None or not answer.documents.is_exact:
        draws_made = answer.documents.draws if answer.documents else DRAWS
        return (f"--draws {draws_made} " if draws_made < DRAWS else "") + f"--seed {question.seed}"
    draws = max(2, answer.occurrences or 0)
    return f"--draws {draws} --context {LEAST_CONTEXT}" if draws <= MOST_SHOWN else ""


def _asked(count: CountRow, phrase: str) -> dict[str, Any]:
    """Return a query as the protocol of an index takes it."""
    if count.tokens is None:
        return {"query": phrase}
    forms = [[int(token) for token in form.split()] for form in count.tokens.split(" | ")]
    return {"query_ids": forms[0] if len(forms) == 1 else [forms]}


def quoted(text: str) -> str:
    """Quote a text for a shell; control characters use the $'…' syntax of bash and zsh."""
    if visible_line(text) == text:
        return shlex.quote(text)
    characters = (
        f"\\{character}"
        if character in "\\'"
        else character
        if visible_line(character) == character
        else f"\\u{ord(character):04x}"
        for character in text
    )
    return f"$'{''.join(characters)}'"
