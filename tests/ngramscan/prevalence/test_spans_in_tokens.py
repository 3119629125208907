"""The longest parts of texts in indexes over tokens: brute force, and infini-gram's own answers."""

import json
import random
from collections.abc import Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from ngramscan.errors import IndexFormatError
from ngramscan.index_files.tokens import shard as token_shard
from ngramscan.index_files.tokens.shard import TokenFolder, open_token_folder
from ngramscan.index_files.tokens.tokenizers import load_tokenizer
from ngramscan.indexes.http.identity import PROBES
from ngramscan.indexes.opening import open_indexes
from ngramscan.indexes.options import IndexOptions
from ngramscan.indexes.tokens import hosted_matches
from ngramscan.prevalence.spans import Span, WordText, find_spans
from ngramscan.prevalence.trace import GivenText, TraceOptions, run_trace
from ngramscan.prevalence.trace_spans import count_spans
from ngramscan.progress import Progress
from tests.support.command import invoke, without
from tests.support.killed import repeated_after_kills
from tests.support.outputs import refusal
from tests.support.sizes import slow
from tests.support.token_folders import (
    COPIES,
    genuine,
    run_kernels,
    some_documents,
    write_folder,
)
from tests.support.token_service import TokenServer

LLAMA = COPIES / "llamalike.model"


def occurs(tokens: Sequence[int], documents: Sequence[Sequence[int]]) -> bool:
    n = len(tokens)
    return any(
        document[at : at + n] == tokens
        for document in documents
        for at in range(len(document) - n + 1)
    )


@pytest.mark.parametrize("backwards", [False, True], ids=["forwards", "backwards"])
@pytest.mark.parametrize(
    ("width", "amounts", "ids"),
    [
        pytest.param(1, [3], 2, id="a shard of bytes"),
        pytest.param(2, [9, 0, 7], 3, id="an empty shard"),
        pytest.param(2, [5] * 12, 4, id="12 shards"),
        pytest.param(4, [12, 1], 5, id="a shard of one document"),
    ],
)
def test_ends_are_those_of_a_brute_force(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    width: int,
    amounts: list[int],
    ids: int,
    backwards: bool,
) -> None:
    run_kernels(monkeypatch, as_python=width == 1)
    shards = [some_documents(n + width, amount, ids, 25) for n, amount in enumerate(amounts)]
    folder = open_token_folder(write_folder(tmp_path, shards, width, backwards))
    folder.backwards = backwards
    documents = [document for shard in shards for document in shard]
    rng = random.Random(width)
    for _ in range(12):
        copied = rng.choice([document for document in documents if document])
        text = [*rng.choices(range(ids + 1), k=8), *copied[rng.randrange(len(copied)) :]]
        text += [*rng.choice(documents), ids]
        expected = [
            max(end for end in range(start, len(text) + 1) if occurs(text[start:end], documents))
            for start in range(len(text))
        ]
        assert folder.match_ends(text).tolist() == expected
    assert folder.match_ends([]).tolist() == []


@pytest.mark.parametrize("per_token", [0, 2, 16])
@pytest.mark.parametrize("backwards", [False, True])
@pytest.mark.parametrize("width", [1, 2, 4])
def test_ends_of_repeated_tokens_are_those_of_a_brute_force(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    width: int,
    backwards: bool,
    per_token: int,
) -> None:
    run_kernels(monkeypatch, as_python=width == 1)
    monkeypatch.setattr(token_shard, "_SEARCHED_PER_TOKEN", per_token)
    rng = random.Random(10 * width + backwards)
    largest = (1 << 8 * width) - 2
    pieces = [rng.choices((0, 1, largest, 255 % largest), k=rng.randint(1, 4)) for _ in range(4)]

    def repeated() -> list[int]:
        runs = (rng.choice(pieces) * rng.randint(1, 30) for _ in range(rng.randint(1, 3)))
        return [*chain.from_iterable([*run, *rng.choice(pieces)] for run in runs)]

    shards = [[repeated() for _ in range(2)] for _ in range(2)]
    folder = open_token_folder(write_folder(tmp_path, shards, width, backwards))
    folder.backwards = backwards
    documents = [document for shard in shards for document in shard]
    for _ in range(8):
        text = repeated()
        assert folder.match_ends(text).tolist() == longest_ends(text, documents)


def longest_ends(text: list[int], documents: Sequence[Sequence[int]]) -> list[int]:
    """Return where the longest part from each token on ends, by the definition."""
    ends, end = list[int](), 0
    for start in range(len(text)):
        end = max(start, end)
        while end < len(text) and occurs(text[start : end + 1], documents):
            end += 1
        ends.append(end)
    return ends


WRONG = [("v4_pysmall_llama_s3", "copied", 93, 94, 95), ("v4_pysmall_bytes", "edge", 3, 3, 4)]
"""Where infini-gram 2.6.0 finds less than its index has: a token, its end and the true one.

It does not compare with the first suffix of a shard."""


def test_ends_and_spans_are_those_of_the_engine(shared: Path) -> None:
    lines = (shared / "tracing" / "spans.jsonl").read_text().splitlines()
    rows = [json.loads(line) for line in lines]
    assert len(rows) == 405
    folders = [genuine(shared / "tokens" / "index" / row["index"]) for row in rows]
    ends = [
        folder.match_ends(row["input_ids"]).tolist()
        for folder, row in zip(folders, rows, strict=True)
    ]
    assert ends == [row.get("r_brute", own_ends) for own_ends, row in zip(ends, rows, strict=True)]
    differing, do_occur, found, expected = [], [], [], []
    for folder, row, own_ends in zip(folders, rows, ends, strict=True):
        pairs = zip(own_ends, row["r"], strict=True)
        places = [at for at, (ours, theirs) in enumerate(pairs) if ours != theirs]
        differing += [(row["index"], row["kind"], at, row["r"][at], own_ends[at]) for at in places]
        shards = [shard.words.tolist() for shard in folder.shards] if places else []
        do_occur += [occurs(row["input_ids"][at : own_ends[at]], shards) for at in places]
        if not places:
            found.append(counted_spans(folder, row["input_ids"], own_ends))
            expected.append(row["spans"])
    assert differing == WRONG
    assert do_occur == [True] * len(WRONG)
    assert found == expected


def counted_spans(folder: TokenFolder, ids: list[int], ends: list[int]) -> list[list[int]]:
    """Return where the longest parts begin and end, and how often they occur."""
    before = [0, *ends]
    spans = [(at, end) for at, end in enumerate(ends) if end > max(at, before[at])]
    counts = np.diff(folder.find([ids[at:end] for at, end in spans]))
    return [[at, end, int(n.sum())] for (at, end), n in zip(spans, counts, strict=True)]


def test_a_pointer_that_leads_nowhere_is_an_error(tmp_path: Path) -> None:
    folder = write_folder(tmp_path, [[[1, 2, 3] * 20]], 2)
    table = bytearray((folder / "table.0").read_bytes())
    table[:] = b"\xff" * len(table)
    (folder / "table.0").write_bytes(table)
    with pytest.raises(IndexFormatError, match="the pointer leads to no token"):
        open_token_folder(folder).match_ends([1, 2, 3])


@pytest.mark.parametrize("name", ["v4_pysmall_llama_s3", "v5_pysmall_llama"])
def test_the_command_traces_tokens(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = (COPIES / "corpus_small.jsonl").read_text().splitlines()
    texts = [json.loads(line)["text"] for line in lines]
    copied = max(texts, key=len)[100:700]
    outputs = {"1": f"Zürich 東京 says: {copied} — and “no more”.", "2": "xyzzy"}
    monkeypatch.chdir(tmp_path)
    Path("cot.jsonl").write_text(
        "\n".join(json.dumps({"id": id_, "output": text}) for id_, text in outputs.items())
    )
    command = ("trace", "cot.jsonl", "--index", f"tokens:{COPIES / name}", "--tokenizer", LLAMA)
    ran = invoke(*command, "--spans", "s.csv", "--format", "csv")
    assert ran.code == 0, ran.stderr
    assert [(row["unit"], row["id"]) for row in ran.rows] == [("tokens", "1"), ("tokens", "2")]
    spans = pd.read_csv("s.csv", keep_default_na=False).to_dict("records")
    marked = [outputs[str(span["id"])][span["start"] : span["end"]] for span in spans]
    assert [span["text"] for span in spans] == marked
    assert [part for part in marked if not any(part.strip() in text for text in texts)] == []
    assert min(span["occurrences"] for span in spans) > 0
    assert max(len(span["text"]) for span in spans) > 500
    table = invoke(*command).stdout
    assert "Copied verbatim from the corpus, 5 tokens or more, %" in table


def test_words_and_tokens_are_not_mixed(tmp_path: Path) -> None:
    (tmp_path / "cot.jsonl").write_text('{"id": 1, "output": "a b"}\n')
    index = f"tokens:{COPIES / 'v4_pysmall_llama_s3'},scan:{COPIES / 'corpus_small.jsonl'}"
    stderr = refusal("trace", tmp_path / "cot.jsonl", "--index", index, "--tokenizer", LLAMA)
    assert "byte-level and token-level indexes can't be traced together" in stderr


# A hosted index: a question per token

TOKENIZERS = {"v4_pysmall_llama_s3": LLAMA, "v4_pysmall_olmo2": COPIES / "allenai_dolma2.json.gz"}
NAME = "v4_pysmall_llama_s3"


def serve(name: str, **options: Any) -> TokenServer:
    return TokenServer({name: (COPIES / name, TOKENIZERS[name])}, **options)


def write_outputs(path: Path, *texts: str) -> None:
    lines = [json.dumps({"id": number, "output": text}) for number, text in enumerate(texts)]
    path.write_text("\n".join(lines))


def documents() -> list[str]:
    lines = (COPIES / "corpus_small.jsonl").read_text().splitlines()
    return [json.loads(line)["text"] for line in lines]


@pytest.mark.parametrize("name", [NAME, slow("v4_pysmall_olmo2")])
def test_a_service_gives_the_rows_of_its_files(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    rng, texts = random.Random(1), ["", "a", "this AND that OR so", "…", "\n", " x"]
    own = ("Zürich 東京 ", " “x” AND y OR z ", "  \n 12 x=1; ")
    for document in rng.sample(documents(), 5):
        start = rng.randrange(len(document) + 1)
        texts.append(rng.choice(own) + document[start:][: rng.randrange(250)])
    write_outputs(Path("o.jsonl"), *texts, " and also ".join(["So", *texts[-6:]]))
    common = ("trace", "o.jsonl", "--format", "csv", "--journal", "replies.sqlite", "--index")
    with serve(name) as server:
        spec = f"infini-gram:{server.url}{name}"
        (guess,) = invoke(*common, spec, "--dry-run").rows
        assert not server.read_log()
        far = invoke(*common, spec)
        # Each run also asks whether the host has another index by now.
        asked = [entry for entry in server.read_log() if entry.get("query") not in PROBES]
        n_sent = len(server.read_log())
        (plan,) = invoke(*common, spec, "--dry-run").rows
        again = invoke(*common, spec)
        assert len(server.read_log()) == n_sent + len(PROBES)
    near = invoke(*common, f"tokens:{COPIES / name}", "--tokenizer", TOKENIZERS[name])
    assert (far.code, near.code) == (0, 0), far.stderr
    rows = without(far.rows, "index")
    assert rows == without(near.rows, "index") == without(again.rows, "index")
    assert max(int(row["longest"]) for row in far.rows) > 30
    assert len({json.dumps({**entry, "arrived_at": 0}) for entry in asked}) == len(asked)
    per_token = sum(entry["query_type"] == "infgram_prob" for entry in asked)
    assert 0 < per_token < sum(int(row["words"]) for row in far.rows)  # some begin alike
    assert f"a request per token: {per_token:,} for" in far.stderr
    assert "a request per token" not in again.stderr
    # Two more: the size of an index that is not in the catalog.
    assert plan["requests"] == plan["requests_at_most"] == str(len(asked) - 2)
    assert len(asked) / 1.2 < int(guess["requests"]) < len(asked) * 1.5
    assert len(asked) < int(guess["requests_at_most"])


def spans_in(journal: Path, server: TokenServer, texts: Sequence[str]) -> Any:
    options = IndexOptions(journal=journal)
    with open_indexes([f"infini-gram:{server.url}{NAME}"], options, Progress()) as (index,):
        return find_spans([WordText(text) for text in texts], index, 2)


def test_spans_of_a_service_have_the_counts_of_its_files(tmp_path: Path) -> None:
    text = "Zürich: " + documents()[0][:300] + " see also the file"

    def traced(spec: str, options: IndexOptions) -> tuple[list[Span], dict[str, int]]:
        given = GivenText("", "", "", "", "", text)
        with open_indexes([spec], options, Progress()) as (index,):
            found = run_trace([given], [index], TraceOptions(2, 2))
            counts = count_spans(found, index, 2)
        (only,) = found.traced[index.name]
        return [*only.spans], {part: count.occurrences for part, count in counts.items()}

    with serve(NAME) as server:
        far = traced(f"infini-gram:{server.url}{NAME}", IndexOptions(journal=tmp_path / "r.sqlite"))
    near = traced(f"tokens:{genuine(COPIES / NAME).place}", IndexOptions(tokenizer=LLAMA))
    assert far == near
    assert len(near[0]) == 3
    assert all(near[1].values())


def test_a_service_is_asked_once_about_what_a_long_text_repeats(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hosted_matches, "_LONGEST", 40)
    text = "see also the file; " * 60
    with serve(NAME) as server:
        far = spans_in(tmp_path / "replies.sqlite", server, [text, text + "the end"])
        log = server.read_log()
        asked = [entry for entry in log if entry["query_type"] == "infgram_prob"]
    with open_indexes([f"tokens:{COPIES / NAME}"], IndexOptions(tokenizer=LLAMA), Progress()) as (
        index,
    ):
        near = find_spans([WordText(text), WordText(text + "the end")], index, 2)
    assert far.spans == near.spans
    period = len(near.texts[0].words) // 60
    # Those of the beginning, of one period, and of the ends of both texts.
    assert len(asked) <= 40 + period + 10


def test_a_question_without_the_beginning_is_not_taken_for_one_with_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(hosted_matches, "_LONGEST", 4)
    text = hosted_matches._PlacedTokens([7] * 9, [])
    assert hosted_matches._questions([text]) == [
        [(0, 1), (0, 2), (0, 3), (0, 4), (0, 5), (0, 5), (0, 5), (0, 5), (0, 5)]
    ]


@pytest.mark.parametrize("longest", [60, slow(499)])
def test_parts_longer_than_a_question_are_an_error_of_their_text(
    longest: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hosted_matches, "_LONGEST", longest)
    long = max(documents(), key=len)[: 5 * longest]
    with serve(NAME) as server:
        lost, kept = spans_in(
            tmp_path / "replies.sqlite", server, [long, "see also the file"]
        ).spans
    assert f"{longest} tokens in a row or more occur" in str(lost)
    assert kept


@pytest.mark.parametrize(
    ("lies", "problem"),
    [
        ({"infgram_prob": {"suffix_len": 600}}, "a longest end that can't be true"),
        ({"infgram_prob": {"prompt_cnt": 0}}, "a longest end that can't be true"),
        ({"infgram_prob": {"suffix_len": None}}, "no longest end"),
        ({"infgram_prob": {"token_ids": [1, 2]}}, "a reply about other tokens"),
        ({"count": {"tokens": ["a"]}}, "not a name for each token"),
        ({"count": {"token_ids": [7, 8], "tokens": ["a", "b"]}}, "the tokenizer changes the text"),
    ],
    ids=["too long", "no prompt", "no length", "other tokens", "too few names", "another text"],
)
def test_a_service_that_lies_gives_no_spans(
    lies: dict[str, Any], problem: str, tmp_path: Path
) -> None:
    with serve(NAME, lies=lies) as server:
        (lost,) = spans_in(tmp_path / "replies.sqlite", server, ["see also the file"]).spans
    assert problem in str(lost)


@pytest.mark.integration
def test_a_killed_trace_of_tokens_goes_on_where_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write_outputs(Path("o.jsonl"), *(document[:150] for document in documents()[:2]))
    with serve(NAME, delay=0.03) as server:
        spec = f"infini-gram:{server.url}{NAME}"
        assert repeated_after_kills(server, spec, at=[20]) <= 4 + len(PROBES)


def test_pieces_have_the_tokens_of_the_whole() -> None:
    text = "\n".join(documents())[:40_000] + " x AND y OR z é 1 2  3 " + "東京" * 200 + " end"
    pieces = hosted_matches.pieces_of(text)
    assert " ".join(pieces) == text
    assert len(pieces) > 60
    assert not any(" AND " in piece or " OR " in piece for piece in pieces)
    encoders = {file: load_tokenizer(file).after_space for file in TOKENIZERS.values()}
    found = {file: [*chain.from_iterable(map(encode, pieces))] for file, encode in encoders.items()}
    assert found == {file: encode(text) for file, encode in encoders.items()}
