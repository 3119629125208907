"""Indexes asked where they lie, over a server with faults: the answers of the local reader."""

import json
import random
import shutil
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from operator import attrgetter
from pathlib import Path

import numpy as np
import pytest

from ngramscan.errors import IndexFormatError, NgramscanError
from ngramscan.index_files.fm9 import in_place_shards
from ngramscan.index_files.fm9.in_place_shards import InPlaceShard, find_in_all, open_in_place
from ngramscan.index_files.fm9.in_place_spans import SearchedText, find_spans
from ngramscan.index_files.fm9.layout import FILES
from ngramscan.index_files.fm9.manifest import describe_shard, in_folder, to_manifest
from ngramscan.index_files.fm9.reader import open_shards
from ngramscan.prevalence.spans import WordText, windows_of
from ngramscan.progress import SILENT
from ngramscan.remote.ranges import RangeOptions, Ranges
from tests.support.command import Ran, invoke, without
from tests.support.corpus_files import jsonl
from tests.support.fm9_shards import DOCUMENTS, occurring, write_shard
from tests.support.in_place_kinds import write_four_fm9
from tests.support.places import REPLAY
from tests.support.range_server import Faults, RangeServer
from tests.support.rounds import InRounds
from tests.support.sizes import slow
from tests.support.sparse_fm9 import WORD, write_long_index
from tests.support.word_spans import spans_of

INDEXES = REPLAY / "index"
TABLES = 30_000
"""Enough memory for the ranks and pointers of a shard, but not for the whole."""
UNLUCKY = Faults(seed=3, rate=0.2)
LONG = next(text for text in DOCUMENTS if 200 < len(text) < 400)
LITERALS = ("step by step", "the answer is", "no such words at all", "formula")


@pytest.fixture(scope="module")
def four(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_four_fm9(tmp_path_factory.mktemp("four"))


@contextmanager
def opened(url: str, memory: int = 1 << 30) -> Iterator[tuple[Ranges, list[InPlaceShard]]]:
    with Ranges(RangeOptions(), SILENT) as ranges:
        yield ranges, open_in_place(ranges, url, memory)


def asked(url: str, tmp_path: Path, *options: str, command: str = "count") -> Ran:
    literals = [part for text in LITERALS for part in ("-e", text)]
    spec = ("--index", f"fm9:{url}", "--journal", str(tmp_path / "journal"), "--format", "csv")
    return invoke(command, *literals, *spec, *options)


def searched(text: str) -> SearchedText:
    words = WordText(text)
    windows = [(first, first + 3) for first in windows_of(words, 5, 3)]
    return SearchedText(text.encode(), np.stack(words.byte_places(), axis=1), windows, 5)


@pytest.fixture(scope="module")
def folder_of_words(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[str]]:
    """Return an index of documents of words that are about as frequent as those of a language."""
    rng, folder = random.Random(7), tmp_path_factory.mktemp("words")
    words = ["".join(rng.choices("etaoinshrdlu", k=rng.randint(2, 9))) for _ in range(3000)]
    weights = [1 / (rank + 5) for rank in range(len(words))]
    documents = [" ".join(rng.choices(words, weights, k=1200)) for _ in range(400)]
    # Parts of some are in others too, which sort first: what is followed may not be the longest.
    documents += [
        text[start : start + 3000] + " a" for text in documents[:12] for start in (0, 1500, 2500)
    ]
    (folder / "corpus.jsonl").write_bytes(jsonl(documents))
    built = invoke("index", "build", folder / "corpus.jsonl", "-o", folder / "index")
    assert built.code == 0, built.stderr
    return folder / "index", documents


def texts_with_copies(documents: list[str], copied: int, seed: int) -> list[str]:
    """Return texts of the words of documents, in each of which so many are copied in one piece."""
    rng, texts = random.Random(seed), []
    words = [word for document in documents[:9] for word in document.split()]
    for document in rng.choices(documents[:20], k=max(4, 12 - copied)):
        start = rng.randrange(1200 - copied)
        part = document.split()[start : start + copied]
        texts.append(" ".join([*rng.choices(words, k=30), *part, *rng.choices(words, k=30)]))
    return texts


@pytest.mark.parametrize("copied", [slow(0), 10, slow(300)])
def test_a_trace_takes_as_many_requests_as_said(
    copied: int,
    folder_of_words: tuple[Path, list[str]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    folder, documents = folder_of_words
    monkeypatch.setattr(in_place_shards, "_KEPT_BYTES", 60_000)  # less than the index has
    texts = texts_with_copies(documents, copied, seed=copied)
    lines = [json.dumps({"id": number, "output": text}) for number, text in enumerate(texts)]
    (tmp_path / "o.jsonl").write_text("\n".join(lines))
    with RangeServer(folder) as server:
        spec = ("--index", f"fm9:{server.url}")
        kept = ("--journal", tmp_path / "journal", "--format", "csv")
        common = ("trace", tmp_path / "o.jsonl", *spec, *kept)
        planned = invoke(*common, "--dry-run")
        assert "parts of the texts were searched for this plan" in planned.stderr
        headers = len(server.record().requests)
        ran = invoke(*common)
        used = len(server.record().requests) - headers
        assert ran.code == 0, ran.stderr
        again = invoke(*common)
        opened = len(server.record().requests) - headers - used
        assert again.rows == ran.rows
        assert opened < used / 20  # whether the files are the same is all that is asked
    near = invoke("trace", tmp_path / "o.jsonl", "--index", f"fm9:{folder}", "--format", "csv")
    assert without(near.rows, "index") == without(ran.rows, "index")
    assert max(int(row["longest"]) for row in ran.rows) >= copied
    (plan,) = planned.rows
    assert used / 1.2 < int(plan["requests"]) < 1.4 * used
    assert used < int(plan["requests_at_most"])


def test_the_rounds_of_a_trace_do_not_grow_with_what_is_copied(
    folder_of_words: tuple[Path, list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, documents = folder_of_words
    rounds, words, copied = InRounds(monkeypatch), documents[30].split(), 120
    text = " ".join(["zz", *words[40 : 40 + copied], "zz", *words[7:9]])
    options = RangeOptions(cache_bytes=0)  # as if the index were much larger
    with RangeServer(folder) as server, Ranges(options, SILENT) as ranges:
        far = open_in_place(ranges, server.url, 60_000)
        rounds.number = 0
        assert find_spans(ranges, far, [searched(text)]) == [[(1, copied + 1)]]
        steps = far[0].data.layout.size / far[0].data.n * far[0].data.rounds_per_step
    # Each byte that is searched takes a round per level of its code.
    window, doublings = 30, (len(text) // 64).bit_length()
    assert rounds.number < steps * (window + 3 * (24 + 32) + 64 * doublings)
    assert rounds.number < steps * len(text) / 3


@pytest.mark.parametrize("seed", range(2))
def test_where_words_are_rare_a_trace_ends(seed: int, tmp_path: Path) -> None:
    # Several occurrences, in which a search gets far without meeting the start of a word.
    rng = random.Random(seed)
    gaps = [" ", "\n" + " " * 40, "#" * 150, " " * 300, "é" * 90 + " "]
    parts = ["".join(rng.choices(["a", "bb", "ccc", *gaps], k=30)) for _ in range(6)]
    documents = ["".join(rng.choices(parts, k=6)) for _ in range(8)]
    texts = ["".join(rng.choices(parts, k=5)) + "zz" for _ in range(4)]
    write_shard(tmp_path / "0", [text.encode() for text in documents], [b"{}"] * 8)
    with RangeServer(tmp_path) as server, opened(server.url) as (ranges, far):
        found = find_spans(ranges, far, [*map(searched, texts)])
    assert found == [spans_of(text, documents, 5) for text in texts]


# The same answers


@pytest.mark.parametrize(
    ("name", "memory", "n"),
    [
        ("replay2", 0, 6),
        ("four", 4 * TABLES, 5),
        ("four", 1 << 30, 6),
        slow("replay2", 0, 25),
        slow("replay", TABLES, 60),
        slow("four", 1 << 30, 25),
        slow("four", 4 * TABLES, 60),
    ],
)
def test_counts_windows_and_documents_equal_those_of_the_local_reader(
    name: str, memory: int, n: int, four: Path
) -> None:
    folder = four if name == "four" else INDEXES / name
    local, draw = open_shards(folder), random.Random(5)
    long, context = (LONG.encode(), 1 << 40) if memory > 10 * TABLES else (b"", 20)
    queries = [long, b"\n", b"\xff", b"\xfa", b"\0"]
    while len(queries) < n:
        shard = draw.choice(local)
        start = draw.randrange(shard.ranks - 40)
        (text,) = shard.data.extract([start], [start + draw.randrange(1, 9)])
        wrong = bytes([draw.randrange(256)])
        queries.append(text if len(queries) % 5 else text[1:] + wrong)
    with RangeServer(folder, 0.002, UNLUCKY) as server, opened(server.url, memory) as (ranges, far):
        known = [occurring(shard.find(queries).tolist()) for shard in local]
        found = find_in_all(ranges, far, queries)
        assert [occurring(segments.tolist()) for segments in found] == known
        sizes = attrgetter("documents", "text_bytes", "index_bytes")
        assert [sizes(shard) for shard in far] == [sizes(shard) for shard in local]
        near, remote = local[0], far[0]
        ranks = [draw.randrange(near.ranks), near.find(queries)[0][0]]
        windows = [near.windows([rank], np.array([9]), context) for rank in ranks]
        assert [remote.windows([rank], np.array([9]), context) for rank in ranks] == windows
        documents = [windows[-1][0].document]
        assert remote.metadata(documents) == near.metadata(documents)
        faults = {request.fault for request in server.record().requests}
        assert {"500", "cut", "wrong_range"} & faults


@pytest.mark.parametrize(
    "lengths",
    [
        pytest.param([1] * 700 + [9000], id="a long one at the end"),
        pytest.param([9000] + [1] * 700, id="a long one first"),
        pytest.param([3, 0] * 300, id="each second empty"),
    ],
)
def test_the_document_of_a_position_is_found_however_long_they_are(
    lengths: list[int], tmp_path: Path
) -> None:
    texts = [b"ab" * (length // 2) + b"c" * (length % 2) for length in lengths]
    write_shard(tmp_path / "index", texts, [b"{}"] * len(texts))
    (near,) = open_shards(tmp_path / "index")
    ranks = np.random.default_rng(1).integers(0, near.ranks, 25).tolist()
    ones = np.ones(len(ranks), np.int64)
    with RangeServer(tmp_path) as server, opened(f"{server.url}index") as (_, (far,)):
        assert far.windows(ranks, ones, 0) == near.windows(ranks, ones, 0)


@pytest.mark.parametrize("size", [slow(1 << 32), 1 << 40])
def test_beyond_all_disks_the_right_places_are_asked_for(tmp_path: Path, size: int) -> None:
    try:
        text = write_long_index(tmp_path, size // len(WORD) + 5, [size])
    except OSError as error:
        pytest.skip(f"no sparse file of this size here: {error}")
    patterns = [WORD[:1], WORD * 5, WORD * 20 + b"ph", b"hh"]
    with RangeServer(tmp_path) as server, opened(server.url) as (ranges, (far,)):
        (found,) = find_in_all(ranges, [far], patterns)
        assert found[:3].tolist() == [[*text.segment(pattern)] for pattern in patterns[:3]]
        assert found[3, 0] == found[3, 1]
        before = len(server.record().requests)
        places = [size - 1, size + 6]
        windows = far.windows([text.rank(at) for at in places], np.array([2, 2]), 10)
        assert [window.text for window in windows] == [text.text(at - 10, at + 12) for at in places]
        requests = server.record().requests
        layout = far.data.layout
        # The sample behind the text that was read, and the numbers of far blocks.
        sample = layout.isa.offset + layout.isa.width * (-(-(size + 11) // 64)) // 8
        assert any(request.start <= sample < request.stop for request in requests[before:])
        size_of_file = (tmp_path / "data.fm9").stat().st_size
        stops = [request.stop for request in requests if request.path == "data.fm9"]
        assert max(stops) <= size_of_file
        assert sum(request.stop - request.start for request in requests) < 500_000


# Commands


def test_a_dry_run_asks_for_headers_only(four: Path, tmp_path: Path) -> None:
    with RangeServer(four) as server:
        (plan,) = asked(server.url, tmp_path, "--dry-run", "--index-memory", "240KB").rows
        headers = server.record().requests
        of_files = [request for request in headers if (four / request.path).is_file()]
        assert sum(request.stop - request.start for request in of_files) < 250_000
        asked(server.url, tmp_path, "--index-memory", "240KB")
        needed = len(server.record().requests) - 2 * len(headers)
        (tmp_path / "t").write_text(" ".join(f"{'and' * 30}{n}qz" for n in range(100, 160)))
        options = ("--index", f"fm9:{server.url}", "--index-memory=240KB", "--format=csv")
        (traced,) = invoke("trace", tmp_path / "t", "--plain", *options, "--dry-run").rows
    assert 10 < int(traced["requests"]) < 5000 < int(traced["requests_at_most"])
    assert 100 < needed <= int(plan["requests_at_most"])
    assert 0 < int(plan["requests"]) <= int(plan["requests_at_most"])
    assert int(plan["bytes"]) > 50 * int(plan["requests"])
    given = ("--dry-run", "--format=csv", "--index")
    (local,) = invoke("contexts", "step by step", *given, f"fm9:{four}").rows
    assert (local["requests"], local["bytes"]) == ("0", "0")
    docs = REPLAY / "docs"
    (scan,) = invoke("count", "a b", *given, f"scan:{docs}/*.jsonl").rows
    assert int(scan["bytes"]) == sum(path.stat().st_size for path in docs.glob("*.jsonl"))


# What goes wrong


def test_a_manifest_lists_the_shards(tmp_path: Path) -> None:
    folder = write_four_fm9(tmp_path / "index")
    shards = open_shards(folder)
    entries = [
        in_folder(describe_shard(shard.directory, shard.documents, shard.text_bytes), str(number))
        for number, shard in enumerate(shards)
    ]
    manifest = folder / "manifest.json"
    manifest.write_bytes(to_manifest(reversed(entries)))
    with RangeServer(folder) as server:
        with opened(server.url) as (_, far):
            documents = [shard.documents for shard in reversed(shards)]
            assert [shard.documents for shard in far] == documents
        (folder / "2" / "data_offset").write_bytes(b"12345678")
        with pytest.raises(IndexFormatError, match=r"2/data_offset: 8 bytes, but manifest.json"):
            look_around(server.url)
        shutil.rmtree(folder / "2")
        with pytest.raises(IndexFormatError, match=r"2/data.fm9: missing, but manifest.json lists"):
            look_around(server.url)
        (folder / "plan.json").write_text(json.dumps({"shards": []}))
        with pytest.raises(NgramscanError, match="incomplete: it is still being built"):
            look_around(server.url)


def look_around(url: str, memory: int = 1 << 30) -> None:
    with opened(url, memory) as (ranges, (far,)):
        find_in_all(ranges, [far], [text.encode() for text in LITERALS])
        far.windows([5, 900], np.ones(2, np.int64), 50)
        far.metadata([0, far.documents - 1])


@pytest.mark.parametrize("name", FILES)
def test_a_damaged_file_is_an_error_and_leads_nowhere(name: str, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(INDEXES / "replay", tmp_path / "index"))
    content = bytearray((folder / name).read_bytes())
    content[len(content) // 2 :: 3] = b"\xff" * len(content[len(content) // 2 :: 3])
    (folder / name).write_bytes(content)
    with RangeServer(folder) as server, pytest.raises(IndexFormatError):
        look_around(server.url)


def test_the_last_pointer_ends_where_the_numbers_end(tmp_path: Path) -> None:
    # Behind its eight pointers of 15 bits is one byte less than a pointer, then another field.
    text = "".join(random.Random(1).choices("abcdefgh ", k=8700))
    write_shard(tmp_path, [text.encode()], [b"{}"])
    patterns = [part.encode() for part in {*map("".join, pairwise(text))}]
    with RangeServer(tmp_path) as server, opened(server.url, 0) as (ranges, far):
        (found,) = find_in_all(ranges, far, patterns)
    assert far[0].data.layout.btnrp.bits == 8 * 15
    pairs = Counter(map("".join, pairwise(text)))
    assert np.diff(found)[:, 0].tolist() == [pairs[part.decode()] for part in patterns]


@pytest.mark.parametrize("memory", [TABLES, 0], ids=["tables in memory", "nothing in memory"])
def test_pointers_that_lead_out_of_the_numbers_are_refused(memory: int, tmp_path: Path) -> None:
    shutil.copytree(INDEXES / "replay", tmp_path / "index")
    with RangeServer(tmp_path / "index") as server:
        with opened(server.url) as (_, (far,)):
            field = far.data.layout.btnrp
        with (tmp_path / "index" / "data.fm9").open("r+b") as file:
            file.seek(field.offset)
            file.write(b"\xff" * (field.bits // 8))
        with pytest.raises(IndexFormatError, match="btnrp: a pointer leads out"):
            look_around(server.url, memory)
