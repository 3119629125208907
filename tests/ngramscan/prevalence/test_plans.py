"""Plans against what a service is really asked."""

import json
import random
from pathlib import Path

import pytest

from ngramscan.indexes.opening import open_indexes
from ngramscan.indexes.options import IndexOptions
from ngramscan.prevalence.contamination.contaminate import Entry
from ngramscan.prevalence.contamination.copied_entries import CONTEXT, run_copied
from ngramscan.prevalence.contamination.rules import make_rule
from ngramscan.prevalence.plans import (
    describe_copied_plan,
    describe_trace_plan,
    plan_contaminate,
    plan_trace,
)
from ngramscan.prevalence.trace import TraceOptions, run_trace
from ngramscan.prevalence.trace_spans import ListingOptions
from ngramscan.progress import SILENT
from tests.support.corpus_files import jsonl
from tests.support.in_place_kinds import LLAMA
from tests.support.places import TOKENS
from tests.support.range_server import RangeServer
from tests.support.service import ApiServer
from tests.support.traced_texts import given

FOLDER = TOKENS / "v4_pysmall_llama_s3"
LISTING = ListingOptions(5)
RULE = make_rule("copied")


def drawn_text(draw: random.Random, n_words: int) -> str:
    return " ".join(f"w{draw.randrange(99999)}" for _ in range(n_words))


def test_a_plan_of_copies_is_kept_by_the_requests_of_a_service(tmp_path: Path) -> None:
    draw = random.Random(7)
    copied = [drawn_text(draw, 20) for _ in range(5)]
    absent = [drawn_text(draw, 20) for _ in range(3)]
    documents = [
        f"{drawn_text(draw, 30)} {text} {drawn_text(draw, 30)}" for text in [*copied, *copied[:2]]
    ]
    # An entry twice, in which nothing is asked for again, and one without words.
    texts = [*copied, copied[0], *absent, "..."]
    entries = [Entry(str(number), text) for number, text in enumerate(texts)]
    (tmp_path / "corpus.jsonl").write_bytes(jsonl(documents))
    options = IndexOptions(journal=tmp_path / "replies.sqlite")
    scan = f"scan:{tmp_path / 'corpus.jsonl'}"
    with (
        ApiServer({"x": tmp_path / "corpus.jsonl"}) as api,
        open_indexes([f"{api.url}x", scan], options, SILENT) as indexes,
    ):
        row, scan_row = plan_contaminate(entries, RULE, 1, indexes, 0, CONTEXT)
        assert api.read_log() == []
        run_copied(entries, RULE, indexes[:1], 1)
        asked = [request["query_type"] for request in api.read_log()]
    n_windows = 8 * (20 - 4 + 1)
    assert (row.patterns, row.lookups, row.requests) == (n_windows, n_windows, n_windows)
    # Capital letters of the windows of entries that were not found; small ones are as written.
    assert asked.count("count") == n_windows + 3 * (20 - 4 + 1)
    assert 5 <= asked.count("find") <= 50
    assert 7 <= asked.count("get_doc_by_rank") <= row.windows_at_most == 50 * 9
    # At most 17 windows of each entry are looked up, and the capital letters of all are counted.
    assert row.requests_at_most == n_windows + 9 * 17 + 450 + n_windows
    assert len(asked) <= row.requests_at_most
    assert (scan_row.lookups, scan_row.windows_at_most, scan_row.requests_at_most) == (0, 0, 0)
    assert scan_row.bytes == (tmp_path / "corpus.jsonl").stat().st_size
    (notice,) = describe_copied_plan(RULE, [row, scan_row])
    assert "up to 50 windows on documents for each entry" in notice
    assert describe_copied_plan(RULE, [scan_row]) == []
    assert describe_copied_plan(make_rule("mini"), [row]) == []


def document_of(number: int) -> str:
    line = (TOKENS / "corpus_small.jsonl").read_text("utf-8").splitlines()[number]
    text: str = json.loads(line)["text"]
    return text


TRACED_TEXTS = {
    "nothing copied": drawn_text(random.Random(3), 60),
    "all copied": " ".join(document_of(0).split()[:200]),
}


@pytest.mark.parametrize("text", TRACED_TEXTS.values(), ids=TRACED_TEXTS)
def test_a_trace_in_place_takes_no_more_than_its_plan(text: str, tmp_path: Path) -> None:
    # So little memory that no file is kept whole.
    options = IndexOptions(journal=tmp_path / "replies.sqlite", tokenizer=LLAMA, index_memory="2KB")
    with (
        RangeServer(FOLDER.parent) as server,
        open_indexes([f"tokens:{server.url}{FOLDER.name}"], options, SILENT) as indexes,
    ):
        texts = [given(text)]
        (row,) = plan_trace(texts, TraceOptions(), indexes, 1, LISTING, None)
        before = len(server.record().requests)
        run_trace(texts, indexes, TraceOptions())
        requests = len(server.record().requests) - before
        (notice,) = describe_trace_plan(indexes, LISTING, None)
    assert 0 < requests <= row.requests <= row.requests_at_most
    assert "of usual outputs" in str(notice)


def test_only_plans_of_services_speak_of_requests_per_token() -> None:
    with open_indexes([f"tokens:{FOLDER}"], IndexOptions(tokenizer=LLAMA), SILENT) as local:
        assert [*describe_trace_plan(local, LISTING, None)] == []
    with open_indexes(["infini-gram:dclm"], IndexOptions(), SILENT) as hosted:
        (notice,) = describe_trace_plan(hosted, LISTING, None)
    assert str(notice).startswith("a request per token;")
