"""Tokenizers: the same tokens as the indexer's and the service's, and their texts again.

The oracle is what infini-gram 2.6.0 wrote and answered: `tests/tokens`, and the exchanges in the
shared folder.
"""

import gzip
import json
import random
import re
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from tokenizers import AddedToken, decoders, models, normalizers
from tokenizers import Tokenizer as Library

from ngramscan.errors import InputError
from ngramscan.index_files.tokens.shard import TokenFolder, open_token_folder
from ngramscan.index_files.tokens.tokenizers import (
    Tokenizer,
    check_fit,
    describe_choice,
    load_tokenizer,
    open_tokenizer,
)
from tests.support.command import invoke
from tests.support.places import TOKENS
from tests.support.token_folders import write_folder

LLAMA, OLMO2 = TOKENS / "llamalike.model", TOKENS / "allenai_dolma2.json.gz"
NEOX = "allenai_gpt-neox-olmo-dolma-v1_5.json.gz"
TOKENIZER_OF = {
    "v4_pysmall_llama_s3": LLAMA.name,
    "v5_pysmall_llama": LLAMA.name,
    "v4_pysmall_olmo2": OLMO2.name,
    "v4_pystdlib_llama": LLAMA.name,
    "v4_pysmall_olmo": NEOX,
    "v4_pysmall_bytes": None,
}
TEXTS = [
    json.loads(line)["text"] for line in (TOKENS / "corpus_small.jsonl").read_text().splitlines()
]


@pytest.fixture(scope="module")
def llama() -> Tokenizer:
    return open_tokenizer(LLAMA, 2)


@pytest.fixture(scope="module")
def olmo2() -> Tokenizer:
    return open_tokenizer(OLMO2, 4)


# Documents


@pytest.mark.parametrize("name", ["v4_pysmall_llama_s3", "v5_pysmall_llama", "v4_pysmall_olmo2"])
def test_tokens_of_documents_are_those_of_the_indexer(name: str) -> None:
    folder = open_token_folder(TOKENS / name)
    tokenizer = load_tokenizer(TOKENS / str(TOKENIZER_OF[name]))
    check_fit(tokenizer, folder)
    assert folder.backwards == name.startswith("v5")
    shards = len(folder.shards)  # of which each has every so manieth document
    texts = [text for first in range(shards) for text in TEXTS[first::shards]]
    assert folder.documents == len(texts)
    tokens = [folder.tokens_of(number).tolist() for number in range(len(texts))]
    assert [tokenizer.of_document(text) for text in texts] == tokens
    contents = [tokenizer.content(ids).removeprefix(tokenizer.lead) for ids in tokens]
    assert contents == [text.encode() for text in texts]


def test_names_of_special_tokens_in_a_text_are_these(llama: Tokenizer) -> None:
    text = "The strings <s> and </s> and <unk> and [INST] are text here. </s>"
    pieces = "▁The ▁strings ▁ <s> ▁and ▁ </s> ▁and ▁ <unk> ▁and ▁[ INST ] ▁are ▁text ▁here . ▁ </s>"
    assert llama.pieces(llama.of_document(text)) == pieces.split()
    assert llama.content(llama.of_document(text)) == f" {text}".encode()
    assert llama.content(llama.of_document("<s>x")) == b"<s>x"


# Queries


@pytest.mark.parametrize(
    ("query", "llama_ids", "olmo2_ids"),
    [
        pytest.param("step by step", [3707, 486, 3707], [3094, 555, 3094], id="words"),
        pytest.param("think ", [1073, 29871], [1781, 220], id="a space behind"),
        pytest.param(" think", [1073], [220, 1781], id="a space in front"),
        pytest.param("  think", [259, 1073], [256, 1781], id="two spaces in front"),
        pytest.param("一步", [28969, 29783], [220, 15120, 65782], id="Chinese"),
        pytest.param("🤖", [243, 162, 167, 153], None, id="a sign of four bytes"),
        pytest.param("</s>", [2], None, id="the end of a text"),
        pytest.param("<s>", [1], None, id="the beginning of a text"),
        pytest.param("", [], [], id="nothing"),
    ],
)
def test_queries_are_what_the_service_makes_of_them(
    query: str,
    llama_ids: list[int],
    olmo2_ids: list[int] | None,
    llama: Tokenizer,
    olmo2: Tokenizer,
) -> None:
    assert llama.after_space(query) == llama_ids
    assert olmo2_ids is None or olmo2.after_space(query) == olmo2_ids


@pytest.mark.parametrize("text", ["Return the", "think", "\\frac{", "x = 1", "naïve", "一步", "🤖"])
@pytest.mark.parametrize("name", ["llama", "olmo2"])
def test_tokens_at_a_line_are_those_of_a_document(
    name: str, text: str, request: pytest.FixtureRequest
) -> None:
    tokenizer: Tokenizer = request.getfixturevalue(name)
    ids = tokenizer.after_newline(text)
    assert ids is not None
    assert tokenizer.content(ids) == text.encode()
    document = tokenizer.of_document(f"Some words,\n{text}")
    assert document[-len(ids) :] == ids
    assert tokenizer.content(document[: -len(ids)]).endswith(b",\n")


def test_a_newline_that_merges_with_the_text_leaves_no_tokens_of_its_own(
    llama: Tokenizer, olmo2: Tokenizer
) -> None:
    assert olmo2.pieces(olmo2.of_document("a\n\nb")) == ["a", "ĊĊ", "b"]
    assert olmo2.after_newline("\nthink") is None
    assert llama.after_newline("\nthink") == [13, *(llama.after_newline("think") or [])]
    assert llama.after_newline("") is olmo2.after_newline("") is None


def test_bytes_are_their_own_tokens() -> None:
    tokenizer = open_tokenizer(None, 1)
    assert (tokenizer.name, tokenizer.vocabulary, tokenizer.end_of_text) == ("bytes", 255, 0)
    ids = [0xC3, 0xA4, 0x0A]
    assert tokenizer.of_document("ä\n") == tokenizer.after_space("ä\n") == ids
    assert tokenizer.after_newline("ä\n") is None
    assert tokenizer.pieces(ids) == ["Ã", "¤", "\n"]
    assert tokenizer.content(ids) == "ä\n".encode()
    # The service shows bytes of no character, and control characters, as escapes.
    assert tokenizer.shown([*ids[1:], 0x0D]) == "\\xa4\n\\x0d"
    assert tokenizer.of_request("ä\\x0A") == ids
    assert tokenizer.after_space("\\x0A") == [*b"\\x0A"]


# Tokens as text


def test_shown_texts_lose_a_space_with_llama_only(llama: Tokenizer, olmo2: Tokenizer) -> None:
    assert llama.shown(llama.after_space("step by")) == "step by"
    assert olmo2.shown(olmo2.after_space("step by")) == " step by"
    assert llama.content(llama.after_space("step by")) == b" step by"
    assert llama.shown([259, 1073, 2]) == "  think</s>"
    robot = llama.after_space("🤖")
    assert (llama.shown(robot), llama.shown([*robot[:3], 1073])) == ("🤖", "\ufffd" * 3 + " think")
    assert llama.content(robot[:3]) == "🤖".encode()[:3]


def test_a_token_of_another_vocabulary_is_an_error(llama: Tokenizer, olmo2: Tokenizer) -> None:
    with pytest.raises(InputError, match="it has 32,000 tokens, but not 32000, which the index"):
        llama.content([5, 32000])
    with pytest.raises(InputError, match=r"allenai_dolma2\.json\.gz: it has 100,278 tokens"):
        olmo2.pieces([4294967295])
    assert (llama.end_of_text, olmo2.end_of_text) == (2, 100257)


# Folders, as of models from Hugging Face


OTHER_KIND = json.dumps({"model": {"vocab": [["a", 0.5]]}, "pre_tokenizer": {"type": "Metaspace"}})


def write_snapshot(folder: Path, files: Mapping[str, Path | str]) -> Path:
    """Write files as links to others, as in the cache of Hugging Face, or as texts."""
    folder.mkdir()
    (folder / "config.json").write_text("{}")
    for name, content in files.items():
        if isinstance(content, Path):
            (folder / name).symlink_to(content)
        else:
            (folder / name).write_text(content)
    return folder


@pytest.mark.parametrize(
    ("files", "name", "vocabulary", "is_said"),
    [
        ({"tokenizer.model": LLAMA}, "tokenizer.model", 32_000, False),
        ({"tokenizer.json": OLMO2}, "tokenizer.json", 100_278, False),
        (
            {"tokenizer.model": LLAMA, "tokenizer.json": OLMO2},
            "tokenizer.json",
            100_278,
            True,
        ),
        (
            {"tokenizer.model": LLAMA, "tokenizer.json": OTHER_KIND},
            "tokenizer.model",
            32_000,
            True,
        ),
    ],
    ids=["a model", "a JSON file", "the JSON file of both", "the model, if JSON is another kind"],
)
def test_a_folder_has_one_tokenizer(
    files: Mapping[str, Path | str], name: str, vocabulary: int, is_said: bool, tmp_path: Path
) -> None:
    folder = write_snapshot(tmp_path / "model", files)
    tokenizer = load_tokenizer(folder)
    assert (tokenizer.name, tokenizer.vocabulary) == (name, vocabulary)
    file = load_tokenizer({"tokenizer.model": LLAMA, "tokenizer.json": OLMO2}[name])
    assert [tokenizer.of_document(text) for text in TEXTS[:50]] == [
        file.of_document(text) for text in TEXTS[:50]
    ]
    said = f"{folder}: tokenized by {name}, one of tokenizer.json and tokenizer.model there"
    assert describe_choice(folder, tokenizer) == (said if is_said else "")


@pytest.mark.parametrize(
    ("files", "where", "problem"),
    [
        ({}, "", "the folder has neither tokenizer.json nor tokenizer.model"),
        ({"tokenizer.json": OTHER_KIND}, "/tokenizer.json", "another kind of tokenizer; expected "),
        (
            {"tokenizer.json": '{"model": ', "tokenizer.model": LLAMA},
            "/tokenizer.json",
            "not a tokenizer.json; expected a SentencePiece model",
        ),
        (
            {"tokenizer.json": Path("/no/such/blob"), "tokenizer.model": LLAMA},
            "/tokenizer.json",
            "No such file or directory; expected",
        ),
    ],
    ids=["nothing", "another kind alone", "a file that is cut", "a link without its file"],
)
def test_a_folder_without_a_tokenizer_is_refused(
    files: Mapping[str, Path | str], where: str, problem: str, tmp_path: Path
) -> None:
    folder = write_snapshot(tmp_path / "model", files)
    with pytest.raises(InputError) as error:
        load_tokenizer(folder)
    assert str(error.value).startswith(f"--tokenizer {folder}{where}: {problem}")


def test_the_home_folder_of_a_tokenizer_may_be_a_tilde(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_snapshot(tmp_path / "model", {"tokenizer.json": OLMO2, "tokenizer.model": LLAMA})
    monkeypatch.setenv("HOME", str(tmp_path))
    tokenizer = load_tokenizer("~/model")
    assert tokenizer.vocabulary == load_tokenizer(Path("~/model/tokenizer.json")).vocabulary
    assert describe_choice("~/model", tokenizer)


def test_commands_take_the_folder_of_a_model(tmp_path: Path) -> None:
    both = write_snapshot(
        tmp_path / "both", {"tokenizer.json": OTHER_KIND, "tokenizer.model": LLAMA}
    )
    place = TOKENS / "v4_pysmall_llama_s3"
    said = f"{both}: tokenized by tokenizer.model, one of tokenizer.json and tokenizer.model there"
    counts = []
    for tokenizer in (both, LLAMA, f"in={both}"):
        command = ("count", "-e", "step by step", "--index", f"in=tokens:{place}")
        done = invoke(*command, "--tokenizer", tokenizer, "--format", "csv")
        assert (done.code, said in done.stderr) == (0, tokenizer != LLAMA)
        counts += [row["occurrences"] for row in done.rows]
    assert counts == ["627", "627", "627"]
    built = invoke(
        *("index", "build", TOKENS / "corpus_small.jsonl", "-o", f"tokens:{tmp_path / 'x'}"),
        *("--tokenizer", both, "--format", "csv"),
    )
    assert (built.code, said in built.stderr) == (0, True)
    assert [row["tokens"] for row in built.rows] == ["113088"]
    empty = write_snapshot(tmp_path / "empty", {})
    refused = invoke("count", "-e", "a", "--index", f"tokens:{place}", "--tokenizer", empty)
    problem = "the folder has neither tokenizer.json nor tokenizer.model"
    assert (refused.code, refused.stderr) == (2, f"Error: --tokenizer {empty}: {problem}\n")


# A tokenizer.json of Llama's kind


def converted(model: Path) -> str:
    """Return a tokenizer.json as transformers makes it of a SentencePiece model."""
    from sentencepiece import SentencePieceProcessor

    processor = SentencePieceProcessor(model_file=str(model))
    ids = {processor.id_to_piece(number): number for number in range(processor.get_piece_size())}
    pairs = [
        (ids[piece], (piece[:cut], piece[cut:]))
        for piece in ids
        for cut in range(1, len(piece))
        if piece[:cut] in ids and piece[cut:] in ids and not processor.is_byte(ids[piece])
    ]

    def rank(merge: tuple[int, tuple[str, str]]) -> tuple[float, ...]:
        merged, (left, right) = merge
        return -processor.get_score(merged), ids[left], ids[right]

    merges = [pair for _, pair in sorted(pairs, key=rank)]
    library = Library(models.BPE(ids, merges, unk_token="<unk>", fuse_unk=True, byte_fallback=True))
    library.normalizer = normalizers.Sequence(
        [normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")]
    )
    steps = [decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse()]
    library.decoder = decoders.Sequence([*steps, decoders.Strip(" ", 1, 0)])
    library.add_special_tokens(
        [AddedToken(name, normalized=False) for name in ("<unk>", "<s>", "</s>")]
    )
    library.enable_truncation(8)
    return library.to_str()


def test_a_tokenizer_json_of_llama_is_as_good_as_its_model(
    llama: Tokenizer, tmp_path: Path
) -> None:
    path = tmp_path / "tokenizer.json"
    path.write_text(converted(LLAMA))
    tokenizer = open_tokenizer(path, 2)
    assert (tokenizer.name, tokenizer.vocabulary) == ("tokenizer.json", 32000)
    assert (tokenizer.end_of_text, tokenizer.lead) == (2, b" ")
    # The libraries part long runs of spaces otherwise, and put a space after special tokens or not.
    plain = [text for text in TEXTS if "<s>" not in text and " " * 14 not in text]
    assert len(plain) > len(TEXTS) * 0.95
    tokens = [llama.of_document(text) for text in plain]
    assert [tokenizer.of_document(text) for text in plain] == tokens
    contents = [llama.content(ids) for ids in tokens]
    assert [tokenizer.content(ids) for ids in tokens] == contents
    assert [tokenizer.shown(ids) for ids in tokens] == [llama.shown(ids) for ids in tokens]
    texts = ("step by step", "think ", " think", "</s>", "一步", "🤖", "\nthink")
    after_spaces = [llama.after_space(text) for text in texts]
    assert [tokenizer.after_space(text) for text in texts] == after_spaces
    after_newlines = [llama.after_newline(text) for text in texts]
    assert [tokenizer.after_newline(text) for text in texts] == after_newlines
    folder = open_token_folder(TOKENS / "v5_pysmall_llama")
    check_fit(tokenizer, folder)
    assert folder.backwards


# Which one fits


def write_index(directory: Path, documents: list[list[int]]) -> TokenFolder:
    return open_token_folder(write_folder(directory, [documents], 2))


def test_a_tiny_index_has_its_tokenizer(llama: Tokenizer, olmo2: Tokenizer, tmp_path: Path) -> None:
    texts = [
        "Return the sum of a list of numbers.",
        "",
        "If it is empty, raise ValueError (or None).",
    ]
    mine = write_index(tmp_path / "mine", [llama.of_document(text) for text in texts])
    check_fit(llama, mine)
    assert not mine.backwards
    reverse = write_index(tmp_path / "v5", [llama.of_document(text)[::-1] for text in texts])
    check_fit(llama, reverse)
    assert reverse.backwards
    with pytest.raises(InputError, match="aren't made by it"):
        check_fit(olmo2, mine)
    empty = write_index(tmp_path / "empty", [[], []])
    check_fit(llama, empty)
    assert not empty.backwards


# Files


NO_TOKENIZERS = {
    "noise": (
        random.Random(1).randbytes(3000),
        "not a tokenizer; expected a SentencePiece model or a tokenizer.json",
    ),
    "half.model": (LLAMA.read_bytes()[:200_000], "not a tokenizer; "),
    "deep.json": (b"[" * 100_000, "not a tokenizer.json; "),
    "cut.json.gz": (OLMO2.read_bytes()[:-9], "not a gzip file, or truncated; "),
    "text.json.gz": (gzip.compress(b"text"), "not a tokenizer; "),
    "empty": (b"", "the file is empty; "),
    "other.json": (b'{"model": {"name": "x"}}', "not a tokenizer.json; "),
    "list.json": (b"[1]", "not a tokenizer.json; "),
    "words.json": (
        b'{"model": {"type": "WordPiece", "vocab": {"a": 0}}}',
        "another kind of tokenizer; ",
    ),
    "broken.json": (
        b'{"model": {"type": "BPE", "vocab": {"<0x0A>": 0}, "merges": 3}}',
        "not a tokenizer.json: ",
    ),
}
"""Names of files, their contents, and what is wrong with them."""


@pytest.mark.parametrize("name", NO_TOKENIZERS)
def test_a_file_that_is_no_tokenizer_is_one_line(name: str, tmp_path: Path) -> None:
    content, problem = NO_TOKENIZERS[name]
    (tmp_path / name).write_bytes(content)
    with pytest.raises(InputError) as raised:
        open_tokenizer(tmp_path / name, 2)
    assert str(raised.value).startswith(f"--tokenizer {tmp_path / name}: {problem}")
    assert "\n" not in str(raised.value)


def test_a_tokenizer_that_is_no_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"directory; expected a SentencePiece model"):
        open_tokenizer(tmp_path / "nowhere", 2)


# All that was recorded


@cache
def shared_tokenizer(shared: Path, name: str) -> Tokenizer:
    file = TOKENIZER_OF[name]
    return load_tokenizer(file and shared / "tokens" / "tokenizers" / file)


def recorded(shared: Path) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    for line in (shared / "tokens" / "exchanges.jsonl").read_text().splitlines():
        exchange = json.loads(line)
        if exchange["via"] != "http" or exchange["status"] != 200:
            continue
        request, reply = exchange["request"], exchange["reply"]
        if "token_ids" in reply:
            yield request | {"index": request.get("index") or request["corpus"]}, reply


def spans_of(ids: list[int], query: list[int]) -> Iterator[list[int]]:
    """Yield the parts of a text as the service divides it: each occurrence, and what is between."""
    start = at = 0
    while at < len(ids):
        if query and ids[at : at + len(query)] == query:
            yield from filter(None, (ids[start:at], query))
            start = at = at + len(query)
        else:
            at += 1
    if start < len(ids):
        yield ids[start:]


def test_queries_are_as_recorded(shared: Path) -> None:
    recorded_tokens = [
        (request["index"], request["query"], reply["token_ids"])
        for request, reply in recorded(shared)
        if request.get("query") is not None and not re.search(r" AND | OR |\\x", request["query"])
    ]
    assert len(recorded_tokens) > 150
    lines = (shared / "tokens" / "truth.jsonl").read_text().splitlines()
    truths = [json.loads(line) for line in lines]
    recorded_tokens += [(row["index"], row["string"], row["token_ids"]) for row in truths]
    assert [
        (name, query, shared_tokenizer(shared, name).after_space(query))
        for name, query, _ in recorded_tokens
    ] == recorded_tokens


def test_names_of_tokens_are_as_recorded(shared: Path) -> None:
    recorded_names = [
        (request["index"], reply["token_ids"], reply["tokens"])
        for request, reply in recorded(shared)
        if reply["token_ids"] and isinstance(reply["token_ids"][0], int)
        if None not in reply["tokens"]
    ]
    assert len(recorded_names) > 150
    assert [
        (name, ids, shared_tokenizer(shared, name).pieces(ids)) for name, ids, _ in recorded_names
    ] == recorded_names


def test_longest_suffixes_are_as_recorded(shared: Path) -> None:
    found, expected = [], []
    for request, reply in recorded(shared):
        if "longest_suffix" in reply:
            ids = reply["token_ids"]
            prompt = ids[:-1] if request["query_type"] == "infgram_prob" else ids
            suffix = prompt[len(prompt) - reply["suffix_len"] :]
            found.append((request, shared_tokenizer(shared, request["index"]).shown(suffix)))
            expected.append((request, reply["longest_suffix"]))
    assert len(expected) > 5
    assert found == expected


def test_spans_are_as_recorded(shared: Path) -> None:
    found, expected = [], []
    for request, reply in recorded(shared):
        if request["query_type"] not in {"get_doc_by_rank", "search_docs"} or "error" in reply:
            continue
        folder = open_token_folder(shared / "tokens" / "index" / request["index"])
        tokenizer, query = shared_tokenizer(shared, request["index"]), reply["token_ids"]
        for document in reply.get("documents", [reply]):
            offset, shown = document["needle_offset"], document["disp_len"]
            if any(isinstance(part, list) for part in query) or offset > shown:
                continue
            ids = document["token_ids"]
            if "documents" not in reply:
                seen = folder.excerpt(request["s"], request["rank"], 1, 0, 1)
                start = seen.start - offset
                ids = folder.tokens_of(seen.document).tolist()[start : start + shown]
            texts = [tokenizer.shown(part) for part in spans_of(ids, query)]
            found.append((request, texts))
            expected.append((request, [text for text, _ in document["spans"]]))
    assert len(expected) > 50
    assert found == expected
