"""The longest parts of texts in indexes over tokens: brute force, and infini-gram's own answers."""

import json
import random
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from ngramscan.errors import IndexFormatError
from ngramscan.index_files.tokens.shard import open_token_folder
from tests.support.command import invoke
from tests.test_token_files import COPIES, genuine, some_documents, write_folder

LLAMA = COPIES / "llamalike.model"


def occurs(tokens: Sequence[int], documents: Sequence[Sequence[int]]) -> bool:
    n = len(tokens)
    return any(
        document[at : at + n] == tokens
        for document in documents
        for at in range(len(document) - n + 1)
    )


@pytest.mark.parametrize("backwards", [False, True])
@pytest.mark.parametrize(
    ("width", "amounts", "ids"), [(1, [3], 2), (2, [9, 0, 7], 3), (2, [5] * 12, 4), (4, [12, 1], 5)]
)
def test_ends_are_those_of_a_brute_force(
    tmp_path: Path, width: int, amounts: list[int], ids: int, backwards: bool
) -> None:
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


WRONG = [("v4_pysmall_llama_s3", "copied", 93, 94, 95), ("v4_pysmall_bytes", "edge", 3, 3, 4)]
"""Where infini-gram 2.6.0 finds less than its index has: a token, its end and the true one."""


def test_ends_and_spans_are_those_of_the_engine(shared: Path) -> None:
    differing = []
    rows = [*map(json.loads, (shared / "tracing" / "spans.jsonl").read_text().splitlines())]
    assert len(rows) == 405
    for row in rows:
        folder = genuine(shared / "tokens" / "index" / row["index"])
        ends = folder.match_ends(row["input_ids"]).tolist()
        assert ends == row.get("r_brute", ends)
        places = [
            at
            for at, (ours, theirs) in enumerate(zip(ends, row["r"], strict=True))
            if ours != theirs
        ]
        if places:
            (at,) = places
            differing.append((row["index"], row["kind"], at, row["r"][at], ends[at]))
            part = row["input_ids"][at : ends[at]]
            assert any(
                (np.lib.stride_tricks.sliding_window_view(shard.words, len(part)) == part)
                .all(axis=1)
                .any()
                for shard in folder.shards
            )
            continue
        before = [0, *ends]
        spans = [(at, end) for at, end in enumerate(ends) if end > max(at, before[at])]
        counts = np.diff(folder.find([row["input_ids"][at:end] for at, end in spans]))
        found = [[at, end, int(n.sum())] for (at, end), n in zip(spans, counts, strict=True)]
        assert found == row["spans"]
    assert differing == WRONG


def test_a_pointer_that_leads_nowhere_is_an_error(tmp_path: Path) -> None:
    folder = write_folder(tmp_path, [[[1, 2, 3] * 20]], 2)
    table = bytearray((folder / "table.0").read_bytes())
    table[:] = b"\xff" * len(table)
    (folder / "table.0").write_bytes(table)
    with pytest.raises(IndexFormatError, match="the pointer leads to no token"):
        open_token_folder(folder).match_ends([1, 2, 3])


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("v4_pysmall_llama_s3", ("--tokenizer", str(LLAMA))),
        ("v5_pysmall_llama", ("--tokenizer", str(LLAMA))),
    ],
)
def test_the_command_traces_tokens(
    name: str, options: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = (COPIES / "corpus_small.jsonl").read_text().splitlines()
    texts = [json.loads(line)["text"] for line in lines]
    copied = max(texts, key=len)[100:700]
    outputs = {"1": f"Zürich 東京 says: {copied} — and “no more”.", "2": "xyzzy"}
    monkeypatch.chdir(tmp_path)
    Path("cot.jsonl").write_text(
        "\n".join(json.dumps({"id": id_, "output": text}) for id_, text in outputs.items())
    )
    index = ("--index", f"tokens:{COPIES / name}")
    ran = invoke("trace", "cot.jsonl", *index, *options, "--spans", "s.csv", "--format", "csv")
    assert ran.code == 0, ran.stderr
    assert [(row["unit"], row["id"]) for row in ran.rows] == [("tokens", "1"), ("tokens", "2")]
    spans = pd.read_csv("s.csv", keep_default_na=False).to_dict("records")
    for span in spans:
        text = outputs[str(span["id"])][span["start"] : span["end"]]
        assert text == span["text"]
        assert any(text.strip() in each for each in texts)
        assert span["occurrences"] > 0
    assert max(len(span["text"]) for span in spans) > 500
    table = invoke("trace", "cot.jsonl", *index, *options).stdout
    assert "Copied verbatim from the corpus, 5 tokens or more, %" in table


def test_words_and_tokens_are_not_mixed(tmp_path: Path) -> None:
    (tmp_path / "cot.jsonl").write_text('{"id": 1, "output": "a b"}\n')
    index = f"tokens:{COPIES / 'v4_pysmall_llama_s3'},scan:{COPIES / 'corpus_small.jsonl'}"
    ran = invoke("trace", tmp_path / "cot.jsonl", "--index", index, "--tokenizer", LLAMA)
    assert (ran.code, ran.stderr.count("\n")) == (2, 1)
    assert "words and tokens are not traced together" in ran.stderr
    ran = invoke("trace", tmp_path / "cot.jsonl", "--index", "infini-gram:c4train")
    assert "it takes a request per token" in ran.stderr
