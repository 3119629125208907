"""A benchmark planted in a corpus: every index says what the rules' definitions say of it."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import pytest

from ngramscan.corpora import ReadOptions, open_corpus
from ngramscan.index_files.fm9.build import BuildOptions, build_index
from ngramscan.indexes.http.identity import PROBES
from ngramscan.indexes.opening import open_indexes
from ngramscan.indexes.options import IndexOptions
from ngramscan.prevalence.contamination.contaminate import (
    ContaminateResult,
    Entry,
    EntryRow,
    queries_of,
    queries_of_forms,
    run_contaminate,
)
from ngramscan.prevalence.contamination.rules import make_rule
from ngramscan.progress import SILENT
from tests.support.planted import (
    Expected,
    Planted,
    Span,
    expect_mini,
    expect_words,
    make_planted,
    write_planted,
)
from tests.support.range_server import Faults as RangeFaults
from tests.support.range_server import RangeServer
from tests.support.service import ApiServer, Faults
from tests.support.sizes import slow

SMALL, LARGE = (0.3, 2), (105, 10)
"""Megabytes of the corpus, and how often it has the entries of `KINDS`."""
STEPS = {"http": 5, "in place": 9}
"""Servers are asked only for entries of the small benchmark this far apart."""
UNLUCKY = Faults(seed=23, rate=0.02, kinds=("500", "cut", "429"))
WORDS: dict[str, tuple[int, Span, Span]] = {
    "gpt3": (13, (0, 1), (0, 1)),
    "palm": (8, (7, 10), (7, 10)),
    "ngram-8": (8, (1, 5), (4, 5)),
    "ngram-5": (5, (1, 5), (4, 5)),
}
"""By the rule: words in a row, and the shares that make an entry suspicious and dirty."""


class Built(NamedTuple):
    planted: Planted
    corpus: Path
    shards: list[Path]
    expected: dict[str, Expected]
    """By the rule mini."""

    @property
    def entries(self) -> list[Entry]:
        return [Entry(entry.id, entry.text) for entry in self.planted.entries]


@pytest.fixture(scope="module", params=[pytest.param(SMALL, id="small"), slow(LARGE, id="large")])
def built(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Built:
    folder, (megabytes, times) = tmp_path_factory.mktemp("planted"), request.param
    planted = make_planted(megabytes, times)
    _, corpus = write_planted(folder, planted)
    options = BuildOptions(shard_bytes=int(megabytes * 700_000))
    build_index(open_corpus(str(corpus)), folder / "index", SILENT, ReadOptions(), options)
    return Built(planted, corpus, sorted((folder / "index").glob("[0-9]")), expect_mini(planted))


@contextmanager
def spec_of(kind: str, built: Built) -> Iterator[str]:
    """Yield the spec of an index; servers fail now and then."""
    index = built.shards[0].parent
    if kind == "http":
        with ApiServer({"made": built.shards}, faults=UNLUCKY) as server:
            yield f"{server.url}made"
            assert {request["fault"] for request in server.read_log()} >= {"500", "cut", "429"}
    elif kind == "in place":
        with RangeServer(index, faults=RangeFaults(seed=2, rate=0.2)) as far:
            yield f"fm9:{far.url}"
            assert {request.fault for request in far.record().requests} >= {"500", "cut"}
    else:
        yield f"fm9:{index}" if kind == "fm9" else f"scan:{built.corpus}"


def looked_for(
    entries: Sequence[Entry],
    spec: str,
    folder: Path,
    rule: str = "mini",
    decide: bool = False,
    workers: int = 1,
) -> ContaminateResult:
    chosen = make_rule(rule)
    options = IndexOptions(
        journal=folder / "journal", workers=workers, normalization=chosen.normalization
    )
    with open_indexes([spec], options, SILENT) as indexes:
        return run_contaminate(entries, chosen, indexes, decide=decide)


def said(rows: list[EntryRow]) -> dict[str, Expected]:
    """Return what rows say about entries, once it is sure that everything was asked."""
    bounds = [(row.asked, row.eta_low, row.eta_high) for row in rows]
    assert bounds == [(row.windows, row.eta, row.eta) for row in rows]
    return {row.id: Expected(*(getattr(row, name) for name in Expected._fields)) for row in rows}


@pytest.mark.parametrize("kind", ["scan 1", "scan 2", "fm9", "http", "in place"])
def test_every_index_says_of_each_entry_what_the_definition_says(
    kind: str, built: Built, tmp_path: Path
) -> None:
    asked = built.entries[:: STEPS.get(kind, 1) if len(built.entries) < 100 else 1]
    with spec_of(kind, built) as spec:
        found = looked_for(asked, spec, tmp_path, workers=2 if kind == "scan 2" else 1)
    assert not found.missing
    assert said(found.rows) == {entry.id: built.expected[entry.id] for entry in asked}
    assert {row.verdict for row in found.rows} == {"clean", "suspicious", "dirty"}


@pytest.mark.parametrize("rule", WORDS)
def test_rules_of_words_say_in_a_scan_what_their_definitions_say(
    rule: str, built: Built, tmp_path: Path
) -> None:
    found = looked_for(built.entries, f"scan:{built.corpus}", tmp_path, rule)
    assert said(found.rows) == expect_words(built.planted, *WORDS[rule])


def alphanumeric(text: str) -> str:
    return "".join(character for character in text if character.isalnum())


@pytest.mark.parametrize("rule", ["gpt4", "gpt4-stripped"])
def test_three_random_windows_decide_by_any_of_them(
    rule: str, built: Built, tmp_path: Path
) -> None:
    shape = alphanumeric if rule == "gpt4-stripped" else str
    texts = [shape(text) for text in built.planted.texts]
    found = looked_for(built.entries, f"scan:{built.corpus}", tmp_path, rule)
    drawn = queries_of(built.entries, make_rule(rule), 1)
    own = {entry.id: shape(entry.text.strip()) for entry in built.entries}
    sizes = {
        id_: [len(window) for window in drawn[id_] if window in text] for id_, text in own.items()
    }
    assert sizes == {
        id_: [min(50, len(text))] * min(3, max(1, len(text) - 49)) for id_, text in own.items()
    }
    expected = []
    for entry in built.entries:
        windows = drawn[entry.id]
        is_found = [any(window in document for document in texts) for window in windows]
        verdict = "dirty" if any(is_found) else "clean"
        expected.append((entry.id, len(windows), sum(is_found), verdict))
    assert [(row.id, row.windows, row.found, row.verdict) for row in found.rows] == expected


def test_verdicts_take_fewer_requests_than_shares(
    built: Built, tmp_path: Path, subtests: pytest.Subtests
) -> None:
    entries, asked = built.entries[:: 2 * STEPS["http"]], []
    everything = {
        window for own in queries_of(entries, make_rule("mini"), 1).values() for window in own
    }
    of_forms = {*queries_of_forms(entries, make_rule("mini"), 1)} - everything
    for decide in (False, True):
        with ApiServer({"made": built.shards}) as server:
            spec, folder = f"{server.url}made", tmp_path / str(decide)
            rows = looked_for(entries, spec, folder, decide=decide).rows
            requests = [request["query"] for request in server.read_log()]
        asked.append([query for query in requests if query not in {*of_forms, *PROBES}])
        expected = {row.id: built.expected[row.id] for row in rows}
        verdicts = {id_: entry.verdict for id_, entry in expected.items()}
        etas = {id_: entry.eta for id_, entry in expected.items()}
        with subtests.test("verdicts", decide=decide):
            assert {row.id: row.verdict for row in rows} == verdicts
        with subtests.test("shares", decide=decide):
            outside = {
                row.id: (row.eta_low, row.eta_high, etas[row.id])
                for row in rows
                if not (row.eta_low or 0) <= (etas[row.id] or 0) <= (row.eta_high or 0)
            }
            assert outside == {}
            assert decide or {row.id: row.eta for row in rows} == etas
    assert sorted(asked[0]) == sorted(everything), "each window once"
    assert set(asked[1]) < everything
    assert len(asked[1]) == len(set(asked[1])) < 0.8 * len(everything)
