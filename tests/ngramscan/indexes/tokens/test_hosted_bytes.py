"""Indexes of bytes, local and behind the service, against the bytes of the texts themselves."""

import re
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

import ngramscan
from ngramscan.errors import IncompleteError, RemoteRefused
from ngramscan.index_files.tokens.tokenizers import bytes_of_request, text_of_bytes
from ngramscan.indexes.base import Place, QueryCount, Window, WindowFailure
from ngramscan.indexes.http.client import ApiClient
from ngramscan.indexes.http.identity import PROBES
from ngramscan.indexes.options import IndexOptions
from ngramscan.indexes.tokens.base import TokenMatches, TokenOccurrences
from ngramscan.indexes.tokens.hosted import HostedTokenIndex, open_hosted
from ngramscan.indexes.tokens.local import TokenFolderIndex, open_tokens
from ngramscan.indexes.tokens.replies import TokenDocument, names_bytes, read_bytes
from ngramscan.journal import Journal
from ngramscan.progress import SILENT
from tests.support.command import invoke
from tests.support.corpus_files import jsonl
from tests.support.fake_clock import FakeClock
from tests.support.places import TOKENS
from tests.support.serve_process import read_lines
from tests.support.served_tokens import ask_all, open_index
from tests.support.token_service import TokenServer

TEXTS = [
    r"A literal \x41 is four characters, and \x41\x42 are eight.",
    "A is one character; AB are two. \\frac{1}{2} + \\frac{3}{4}\n\\begin{align}\n",
    "line one\r\nline two\r\n\ttabbed\ttwice\n\n\nthree newlines",
    "naïve caf\u00e9, cafe\u0301; 让我们一步一步地思考 🤖🤖",
    r"\xe4\xb8\x80 is how Python writes 一, and \xZZ or \x4 are nothing",
    "ha ha ha ha; aaaa; a control \x1b[31m sign, and \x7f",
    "",
    "RenéAndré is one word, and \\\\ two signs",
    "Return the sum OR the mean. Return the sum AND the mean.",
    "The words of a longer text are asked for in pieces, which the service reads one by one. " * 9,
    "é" * 700 + " middle " + "一" * 700,
]
QUERIES = [
    "A",
    "AB",
    r"\x41",
    r"\x41\x42",
    r"\x4",
    r"\xZZ",
    r"\xe4\xb8\x80",
    "一",
    "一步",
    "🤖",
    "caf\u00e9",
    "cafe\u0301",
    "\\frac{",
    "\\",
    "\\\\",
    "\n",
    "\n\n",
    "\r\n",
    "line one\r\nline two",
    "\t",
    " ",
    "ha ha",
    "aa",
    "\x1b[31m",
    "Return the sum",
    "é middle 一",
    "the sum OR the mean",
    "sum AND the",
    "nowhere",
    r"é\x41",
    "pieces, which the service",
]


def occurrences(query: str) -> int:
    """Count the bytes of a query in those of the texts; occurrences may overlap."""
    pattern = re.compile(b"(?=" + re.escape(query.encode()) + b")")
    return sum(len(pattern.findall(text.encode())) for text in TEXTS)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the index of the texts, built by the command."""
    here = tmp_path_factory.mktemp("bytes")
    (here / "corpus.jsonl").write_bytes(jsonl(TEXTS))
    ngramscan.index_build(str(here / "corpus.jsonl"), f"tokens:{here / 'index'}")
    return here / "index"


@pytest.fixture(scope="module")
def server(folder: Path) -> Iterator[TokenServer]:
    with TokenServer({"made_bytes": (folder, None)}) as started:
        yield started


@pytest.fixture(scope="module")
def hosted(server: TokenServer) -> Iterator[HostedTokenIndex]:
    with ExitStack() as stack:
        journal = stack.enter_context(Journal(None))
        client = ApiClient(server.url, IndexOptions(), journal, SILENT, FakeClock())
        yield open_hosted("made_bytes", stack.enter_context(client))


@pytest.fixture(scope="module")
def local(folder: Path) -> TokenFolderIndex:
    return open_tokens([folder], None, SILENT)


def counts_of(index: Any, queries: Sequence[str]) -> dict[str, int]:
    counts = [*index.counts(queries)]
    assert [count for count in counts if not isinstance(count, QueryCount)] == []
    return {count.query: count.occurrences for count in counts}


def test_counts_here_and_behind_the_service_are_those_of_the_texts(
    local: TokenFolderIndex, hosted: HostedTokenIndex
) -> None:
    expected = {query: occurrences(query) for query in QUERIES}
    assert sum(number == 0 for number in expected.values()) == 2
    assert counts_of(local, QUERIES) == expected
    assert counts_of(hosted, QUERIES) == expected


def test_rows_say_that_every_occurrence_is_counted(
    folder: Path, server: TokenServer, tmp_path: Path
) -> None:
    specs = [f"tokens:{folder}", f"infini-gram:{server.url}made_bytes"]
    queries = [r"\x41", "caf\u00e9", "\r\n", "\\frac{"]
    rows = ngramscan.count(literal=queries, index=specs, journal=tmp_path / "journal")
    assert rows.occurrences.tolist() == [occurrences(query) for query in queries] * 2
    assert {*rows.note} == {"tokens are bytes: every occurrence of the string"}
    ran = invoke("count", "-e", "A", "--index", specs[1], "--journal", tmp_path / "journal")
    assert "the service can't count the documents of an index of bytes" in ran.stderr


def test_a_plan_asks_nothing_and_later_knows_that_tokens_are_bytes(
    server: TokenServer, tmp_path: Path
) -> None:
    given: dict[str, Any] = {
        "literal": ["\\frac{", "A"],
        "index": f"infini-gram:{server.url}made_bytes",
        "journal": tmp_path / "journal",
    }
    before = len(server.read_log())
    assert ngramscan.count(**given, dry_run=True).requests_at_most.tolist() == [3]
    assert len(server.read_log()) == before
    ngramscan.count(**given)
    assert ngramscan.count(**given, dry_run=True).requests_at_most.tolist() == [6]


def test_an_index_of_words_is_not_asked_for_texts_without_any(tmp_path: Path) -> None:
    folders = {"words": (TOKENS / "v4_pysmall_llama_s3", TOKENS / "llamalike.model")}
    with TokenServer(folders) as server:
        with pytest.raises(IncompleteError, match="tokenized differently"):
            ngramscan.count(
                literal=["\\frac{", "A", "the OR of"],
                index=f"infini-gram:{server.url}words",
                journal=tmp_path / "journal",
            )
        asked = {entry.get("query") for entry in server.read_log()}
        assert not {"\\frac{", "the OR of"} & asked


def test_a_text_takes_one_request_or_two_if_it_looks_like_an_escape(
    server: TokenServer, hosted: HostedTokenIndex
) -> None:
    counts_of(hosted, ["A"])
    for query, requests in (("is one", 1), ("\nis one", 1), (r"is \x20 one", 2)):
        before = len(server.read_log())
        counts_of(hosted, [query])
        assert len(server.read_log()) - before == requests


def test_a_single_letter_with_the_number_of_its_byte_is_no_byte() -> None:
    assert names_bytes(([97], ["a"]), "a")
    assert not names_bytes(([97], ["Ġa"]), "a")
    assert not names_bytes(([64], ["a"]), "a")


# Windows


def places_of(index: Any, query: str) -> list[Place]:
    (located,) = index.lookups([query])
    assert isinstance(located, TokenOccurrences)
    return [
        Place(query, segment.shard, rank)
        for segment in located.found.segments
        for rank in range(segment.low, segment.high)
    ][:12]


@pytest.mark.parametrize("context", [0, 1, 7, 200, 4_000, 10_000])
def test_windows_of_the_service_are_those_of_the_folder(
    local: TokenFolderIndex, hosted: HostedTokenIndex, context: int
) -> None:
    failures = 0
    for query in QUERIES:
        places = places_of(local, query)
        assert places_of(hosted, query) == places
        here = {window.place: window for window in local.windows(places, context)}
        there = {window.place: window for window in hosted.windows(places, context)}
        assert here.keys() == there.keys() == {*places}
        for place, window in there.items():
            expected = here[place]
            assert isinstance(expected, Window)
            if isinstance(window, WindowFailure):
                assert "with \\xHH for some of them, or in the text" in str(window.error)
                failures += 1
                continue
            assert window.offset <= context
            assert (window.document, window.text, window.offset) == (
                expected.document,
                expected.text,
                expected.offset,
            )
            assert window.starts_document == expected.starts_document
            document = TEXTS[int(window.document)].encode()
            assert window.document_bytes == len(document)
            assert window.text in document
    # Where half a character is shown beside text that looks like it.
    assert failures <= 12


def document(*texts: str, shown: int) -> TokenDocument:
    return TokenDocument(0, 9_000, shown, 0, [(text, False) for text in texts], "")


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(b"plain \\x0d text", id="looks like an escape"),
        pytest.param(b"line\r\nline\x1b[0m\tx\n", id="control characters"),
        pytest.param("一步".encode()[1:-1], id="half characters"),
        pytest.param(b"\\x41 is A\r\n", id="an escape that is never shown"),
        pytest.param("\x7f\x80é".encode(), id="shown as they are"),
        pytest.param(b"\xff\xc0abc\xfe", id="no characters"),
    ],
)
def test_bytes_are_read_back_from_what_the_service_shows(content: bytes) -> None:
    assert read_bytes(document(text_of_bytes(content), shown=len(content))) == content


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(b"\\x0d and\r\n", id="one of two"),
        pytest.param(b"\\xe4\\xb8 and " + "一".encode()[:1], id="one of three"),
    ],
)
def test_bytes_that_may_be_text_are_refused(content: bytes) -> None:
    with pytest.raises(RemoteRefused, match="a local index can tell"):
        read_bytes(document(text_of_bytes(content), shown=len(content)))
    with pytest.raises(RemoteRefused):
        read_bytes(document("short", shown=6))
    with pytest.raises(RemoteRefused):
        read_bytes(document("in ", "two", shown=6))


# Documents and traces


def test_documents_of_the_service_are_those_of_the_folder(
    folder: Path, server: TokenServer, tmp_path: Path
) -> None:
    texts = ["ha ha", r"\x41", "\n", "一", "line"]
    given: dict[str, Any] = {"literal": texts, "journal": tmp_path / "journal"}
    here = ngramscan.docnorm(**given, index=f"tokens:{folder}")
    there = ngramscan.docnorm(**given, index=f"infini-gram:{server.url}made_bytes")
    expected = [sum(text in document for document in TEXTS) for text in texts]
    assert here.documents.tolist() == expected
    assert there.documents.tolist() == expected


def test_matches_of_long_texts_are_those_of_the_folder(
    local: TokenFolderIndex, hosted: HostedTokenIndex
) -> None:
    texts = [
        "of a longer text are asked for in pieces, which no one knows",
        "Return the sum OR the mean, and nothing else",
        r"Python writes \x41 and \xe4\xb8\x80 is how, 一",
        "line one\r\nline two 让我们 caf\u00e9",
        "many words that are in no document " * 16 + "The words of a longer text",
    ]
    here, there = [*local.matches(texts)], [*hosted.matches(texts)]
    assert all(isinstance(found, TokenMatches) for found in here)
    assert there == here
    for text, found in zip(texts, here, strict=True):
        assert isinstance(found, TokenMatches)
        assert found.ids == [*text.encode()]


def test_the_cost_of_matches_is_known_once_the_pieces_are(server: TokenServer) -> None:
    text = "which the service reads one by one and finds elsewhere " * 10
    with ExitStack() as stack:
        journal = stack.enter_context(Journal(None))
        client = ApiClient(server.url, IndexOptions(), journal, SILENT, FakeClock())
        index = open_hosted("made_bytes", stack.enter_context(client))
        before = len(server.read_log())
        (found,) = index.matches([text])
        assert isinstance(found, TokenMatches)
        asked = [entry for entry in server.read_log()[before:] if entry.get("query") not in PROBES]
        cost = index.cost_of_matches([text])
        assert cost.requests == cost.requests_at_most == len(asked)


# The service


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (r"\x41", b"A"),
        (r"\xE4\xb8\x80", "一".encode()),
        (r"\\x41", b"\\A"),
        (r"\x4g\x", rb"\x4g\x"),
        (r"é\xff", b"\xc3\xa9\xff"),
    ],
)
def test_the_service_reads_an_escape_as_one_byte(text: str, expected: bytes) -> None:
    assert bytes_of_request(text) == expected


def test_a_served_index_reads_and_shows_bytes_as_the_original_does(folder: Path) -> None:
    index = open_index(folder.rename(folder.parent / "v4_made_bytes"))
    find = {"index": "v4_made_bytes", "query_type": "find"}
    by_text, by_ids = ask_all(
        {"v4_made_bytes": index},
        [{**find, "query": r"line one\x0d\x0a"}, {**find, "query_ids": [*b"line one\r\n"]}],
    )
    assert by_text == by_ids
    ((low, high),) = by_text["segment_by_shard"]
    assert high - low == 1
    shown = {**find, "query_type": "get_doc_by_rank", "s": 0, "rank": low, "query_ids": []}
    (answer,) = ask_all({"v4_made_bytes": index}, [shown])
    assert answer["spans"][0][0].startswith("line one\\x0d\nline two\\x0d\n\ttabbed")
    Path(index.folder.place).rename(folder)


# The original


def test_all_truths_of_bytes_here_and_behind_the_service(shared: Path, tmp_path: Path) -> None:
    path = shared / "tokens" / "index" / "v4_pysmall_bytes"
    truths = [
        row
        for row in read_lines(shared / "tokens" / "truth.jsonl")
        if row["index"] == "v4_pysmall_bytes"
    ]
    assert len(truths) == 77
    with TokenServer({"original": (path, None)}) as server:
        for spec in (f"tokens:{path}", f"infini-gram:{server.url}original"):
            rows = ngramscan.count(
                literal=[row["string"] for row in truths], index=spec, journal=tmp_path / "journal"
            )
            counts = dict(zip(rows["query"], rows.occurrences, strict=True))
            assert counts == {row["string"]: row["string_count"] for row in truths}
