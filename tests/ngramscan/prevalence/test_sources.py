"""Occurrences and documents by source, against a search of each text by itself."""

import json
import random
from collections import Counter
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import ngramscan
from ngramscan.commands.shared import PatternOptions
from ngramscan.errors import InputError
from ngramscan.indexes.opening import open_indexes
from ngramscan.patterns.model import Pattern, Query
from ngramscan.prevalence.sources import (
    MISSING,
    SourceRow,
    SourcesOptions,
    SourcesResult,
    run_sources,
)
from ngramscan.progress import SILENT
from tests.support.corpus_files import PACK, url, wet_gz
from tests.support.match_oracle import matches
from tests.support.range_server import RangeServer
from tests.support.service import ApiServer, Faults

QUERIES = ["aa", "\\frac{", "é b", "nowhere"]
Document = dict[str, Any]


@pytest.fixture(scope="module")
def documents() -> list[Document]:
    """Return documents of several sources, some without one, some with many occurrences."""
    chance = random.Random(3)
    made = []
    for number in range(300):
        words = chance.choices(["aa", "aaa", "\\frac{", "é b", "x"], k=chance.choice([1, 3, 40]))
        fields = {"source": chance.choice(["web", "web", "arxiv", "mail"])}
        metadata = {} if number % 10 == 0 else fields
        made.append({"text": " ".join(words), "url": url(number), "metadata": metadata})
    return made


def brute_force(documents: list[Document], query: str) -> dict[str, tuple[int, int, int, int]]:
    """Return occurrences, documents with the query, all documents and their bytes by source."""
    counts: dict[str, Counter[str]] = {}
    for document in documents:
        text, value = document["text"], document["metadata"].get("source", MISSING)
        starts = sum(text.startswith(query, start) for start in range(len(text)))
        of_source = counts.setdefault(value, Counter())
        of_source.update(occurrences=starts, documents=starts > 0)
        of_source.update(all_documents=1, bytes=len(text.encode()))
    return {
        value: (each["occurrences"], each["documents"], each["all_documents"], each["bytes"])
        for value, each in counts.items()
        if each["occurrences"]
    }


def sources(spec: str, by: str = "source", draws: int = 200, **options: Any) -> SourcesResult:
    exact_up_to = options.pop("exact_up_to", 20_000)
    queries = [Query(text, Pattern(text)) for text in QUERIES]
    with open_indexes([spec], PatternOptions(**options), SILENT) as indexes:
        return run_sources(queries, indexes, SourcesOptions(by, draws, 1, exact_up_to))


def by_value(rows: list[SourceRow], query: str) -> dict[str, SourceRow]:
    return {row.value: row for row in rows if row.query == query}


def check_exact(rows: list[SourceRow], documents: list[Document], has_sizes: bool) -> None:
    """Check each column that has a number against the brute force."""
    for query in QUERIES:
        expected = brute_force(documents, query)
        found = by_value(rows, query)
        assert found.keys() == expected.keys()
        occurrences = sum(each[0] for each in expected.values())
        with_query = sum(each[1] for each in expected.values())
        for value, (n, n_documents, all_documents, size) in expected.items():
            row = found[value]
            assert (row.occurrences, row.documents) == (n, n_documents)
            assert row.all_occurrences == occurrences
            assert row.occurrence_share == n / occurrences
            assert (row.occurrence_share_low, row.occurrence_share_high) == (None, None)
            assert row.document_share == n_documents / with_query
            assert (row.document_share_low, row.document_share_high, row.level) == (None,) * 3
            assert row.is_missing == (value == MISSING)
            assert (row.draws, row.estimated, row.seed) == (None, False, None)
            sizes = (row.source_documents, row.source_bytes, row.per_gigabyte)
            if has_sizes:
                assert sizes == (all_documents, size, n / size * 1e9)
            else:
                assert sizes == (None, None, None)


@pytest.fixture(params=["jsonl", "jsonl.gz", "jsonl.zst", "parquet", "csv"])
def spec(request: pytest.FixtureRequest, tmp_path: Path, documents: list[Document]) -> str:
    """Return a corpus of two files in a format."""
    for part, half in enumerate((documents[:140], documents[140:])):
        path = tmp_path / f"{part}.{request.param}"
        suffix = path.suffix if path.suffix in PACK else ""
        if request.param == "parquet":
            pq.write_table(pa.Table.from_pylist(half, _SCHEMA), path, row_group_size=50)
        elif request.param == "csv":
            lines = [f'"{each["text"]}",{each["metadata"].get("source", "")}' for each in half]
            path.write_text("\n".join(["text,source", *lines]) + "\n")
        else:
            content = "".join(json.dumps(each) + "\n" for each in half).encode()
            path.write_bytes(PACK[suffix](content))
    return f"scan:{tmp_path}"


_SCHEMA = pa.schema(
    [
        ("text", pa.string()),
        ("url", pa.string()),
        ("metadata", pa.struct([("source", pa.string())])),
    ]
)


def test_scan_is_exact_in_all_formats(spec: str, documents: list[Document]) -> None:
    result = sources(spec, workers=1)
    check_exact(result.rows, documents, has_sizes=True)
    assert [query for _, query in result.absent] == ["nowhere"]
    assert result.sizes[result.rows[0].index].documents == len(documents)


def test_rows_are_the_same_with_several_workers_and_from_the_journal(
    tmp_path: Path, documents: list[Document]
) -> None:
    corpus = tmp_path / "corpus"
    corpus.mkdir()
    for part in range(5):
        lines = [json.dumps(each) + "\n" for each in documents[part::5]]
        (corpus / f"{part}.jsonl").write_text("".join(lines))
    journal = tmp_path / "journal.sqlite"
    single = sources(f"scan:{corpus}", workers=1, journal=tmp_path / "other.sqlite").rows
    several = sources(f"scan:{corpus}", workers=2, journal=journal).rows
    again = sources(f"scan:{corpus}", workers=1, journal=journal).rows
    other_field = sources(f"scan:{corpus}", "url-host", workers=1, journal=journal).rows
    assert single == several == again
    assert {row.value for row in other_field} == {"example.org"}


def test_warc_has_the_host_and_year_of_its_header(tmp_path: Path) -> None:
    texts = ["aa aa", "x", "aaa"]
    (tmp_path / "crawl.wet.gz").write_bytes(wet_gz(texts))
    (host,) = by_value(sources(f"scan:{tmp_path}", "url-host").rows, "aa").values()
    (year,) = by_value(sources(f"scan:{tmp_path}", "year").rows, "aa").values()
    assert (host.value, host.occurrences, host.documents) == ("example.org", 4, 2)
    assert (year.value, year.source_documents, year.source_bytes) == ("2026", 3, 9)


def test_other_options_change_what_is_counted(tmp_path: Path, documents: list[Document]) -> None:
    path = tmp_path / "c.jsonl"
    path.write_text("".join(json.dumps(each) + "\n" for each in documents))
    check_exact(sources(f"scan:{path}", limit_documents=77).rows, documents[:77], has_sizes=True)
    first = sources(f"scan:{path}", limit_documents=77).rows[0]
    assert first.note == "only the first 77 documents"


@pytest.mark.parametrize("option", ["whole_words", "any_space", "ignore_case", "regex"])
def test_rules_of_matching_are_those_of_count(
    tmp_path: Path, documents: list[Document], option: str
) -> None:
    texts = [each["text"].replace("é b", "Aa  é\nb") for each in documents[:60]]
    few = [each | {"text": text} for each, text in zip(documents, texts, strict=False)]
    path = tmp_path / "c.jsonl"
    path.write_text("".join(json.dumps(each) + "\n" for each in few))
    queries = ["a+", "A.", r"\\fr"] if option == "regex" else ["aa", "é b", "a a"]
    chosen: dict[str, Any] = {option: True}
    options = PatternOptions(**chosen)
    with open_indexes([f"scan:{path}"], options, SILENT) as indexes:
        patterns = [Query(text, Pattern(text)) for text in queries]
        rows = run_sources(patterns, indexes, SourcesOptions("source")).rows
    for query in queries:
        counts = Counter[str]()
        for each in few:
            value = each["metadata"].get("source", MISSING)
            counts[value] += len(matches(query, each["text"], options.match_rule))
        assert +counts == {value: row.occurrences for value, row in by_value(rows, query).items()}
    assert {row.note for row in rows} == {"; ".join(options.match_rule.notes)}


def test_path_of_files_without_metadata(tmp_path: Path) -> None:
    for name, text in (("a.txt", "aa"), ("b.txt", "aaa")):
        (tmp_path / name).write_text(text)
    found = by_value(sources(f"scan:{tmp_path}", "path").rows, "aa")
    assert {Path(value).name: row.occurrences for value, row in found.items()} == {
        "a.txt": 1,
        "b.txt": 2,
    }


def test_a_field_that_no_document_has_is_refused_with_those_there_are(
    tmp_path: Path, documents: list[Document]
) -> None:
    path = tmp_path / "c.jsonl"
    path.write_text("".join(json.dumps(each) + "\n" for each in documents))
    with pytest.raises(InputError, match=r"fields of their metadata: url, metadata, metadata\.sou"):
        sources(f"scan:{path}", "origin")
    table = tmp_path / "c.csv"
    table.write_text("id,text,lang\n1,aa,en\n")
    with pytest.raises(InputError, match=r"fields of their metadata: id, lang$"):
        sources(f"scan:{table}")


# A sample of files


@pytest.fixture(scope="module")
def files_of_documents(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[Document]]:
    """Return a corpus of 90 files, most of which have documents of one source."""
    folder, chance, made = tmp_path_factory.mktemp("files"), random.Random(5), list[Document]()
    for number in range(90):
        main = chance.choice(["web", "web", "arxiv"])
        in_file = list[Document]()
        for _ in range(chance.choice([2, 5, 30])):
            words = chance.choices(["aa", "aaa", "é b", "x"], k=chance.choice([1, 3, 40]))
            source = chance.choice([main, main, main, "web", "arxiv"])
            metadata = {"source": source} if chance.random() < 0.9 else {}
            in_file.append({"text": " ".join(words), "metadata": metadata})
        lines = "".join(json.dumps(each) + "\n" for each in in_file)
        (folder / f"{number:02}.jsonl").write_text(lines)
        made += in_file
    rare = [{"text": "\\frac{", "metadata": {"source": value}} for value in ("web", "mail")]
    for name, document in zip(("a", "b"), rare, strict=True):
        (folder / f"{name}.jsonl").write_text(json.dumps(document) + "\n")
    return folder, made + rare


def test_all_files_as_a_sample_are_exact(
    files_of_documents: tuple[Path, list[Document]],
) -> None:
    folder, documents = files_of_documents
    exact = sources(f"scan:{folder}").rows
    check_exact(exact, documents, has_sizes=True)
    rows = sources(f"scan:{folder}", sample_files="100%").rows
    assert {(row.estimated, row.level, row.seed, row.draws) for row in rows} == {
        (True, 0.95, 1, None)
    }
    for row, exact_row in zip(rows, exact, strict=True):
        assert row.occurrence_share_low == row.occurrence_share_high == row.occurrence_share
        assert row.document_share_low == row.document_share_high == row.document_share
        names = ["query", "value", "occurrences", "all_occurrences", "documents", "per_gigabyte"]
        names += ["occurrence_share", "document_share", "source_documents", "source_bytes"]
        assert [getattr(row, name) for name in names] == [
            pytest.approx(getattr(exact_row, name)) for name in names
        ]


def test_a_sample_gives_the_totals_of_count_and_limits_that_hold(
    files_of_documents: tuple[Path, list[Document]],
) -> None:
    folder, documents = files_of_documents
    spec = f"scan:{folder}"
    result = sources(spec, sample_files=45, seed=1)
    counted: Any = ngramscan.count(literal="aa", index=spec, sample_files=45, seed=1)
    of_query = by_value(result.rows, "aa")
    assert {row.all_occurrences for row in of_query.values()} == {*counted["occurrences"]}
    expected = brute_force(documents, "aa")
    occurrences = sum(each[0] for each in expected.values())
    with_query = sum(each[1] for each in expected.values())
    assert of_query.keys() == expected.keys() == {"web", "arxiv", MISSING}
    assert sum(row.occurrence_share for row in of_query.values()) == pytest.approx(1)
    for value, (n, n_documents, all_documents, size) in expected.items():
        row = of_query[value]
        total = row.all_occurrences
        assert row.occurrences == pytest.approx(row.occurrence_share * total, abs=1)
        assert row.occurrence_share_low is not None
        assert row.occurrence_share_high is not None
        assert row.document_share_low is not None
        assert row.document_share_high is not None
        assert row.occurrence_share_low < n / occurrences < row.occurrence_share_high
        assert row.document_share_low < n_documents / with_query < row.document_share_high
        assert row.occurrence_share_high - row.occurrence_share_low < 0.4
        for estimated, truth in (
            (row.occurrences, n),
            (row.documents, n_documents),
            (row.source_documents, all_documents),
            (row.source_bytes, size),
            (row.per_gigabyte, n / size * 1e9),
        ):
            assert estimated == pytest.approx(truth, rel=0.4)
        assert row.note.startswith("estimate from 45 of 92 files, drawn in proportion to bytes")
        assert row.note.endswith("the limits hold for all values of a phrase together")


def test_a_source_in_few_of_the_sampled_files_has_no_interval(
    files_of_documents: tuple[Path, list[Document]],
) -> None:
    folder, _ = files_of_documents
    rows = sources(f"scan:{folder}", sample_files=91, seed=2).rows
    rare = by_value(rows, "\\frac{")
    assert rare
    for row in rare.values():
        assert (row.occurrence_share_low, row.occurrence_share_high) == (None, None)
        assert (row.document_share_low, row.document_share_high) == (None, None)
        assert "no interval: it is in 1 of 91 files, too rare for this sample" in row.note
    few = sources(f"scan:{folder}", sample_files=4).rows
    assert all(row.occurrence_share_low is None for row in few)
    assert all("no interval: only 4 files were read" in row.note for row in few)


def test_a_file_with_most_occurrences_makes_limits_unreliable(
    tmp_path: Path,
) -> None:
    for number in range(40):
        times, padding = (300, "") if number == 7 else (3, "x" * 1000)
        text = "aa " * (times + number % 3) + padding
        lines = [
            json.dumps({"text": text, "source": f"s{(number + n) % 2}"})
            for n in range(8 + number % 3)
        ]
        (tmp_path / f"{number}.jsonl").write_text("\n".join(lines))
    seeds = (sources(f"scan:{tmp_path}", sample_files=20, seed=seed).rows for seed in range(9))
    notes = {row.note for rows in seeds for row in rows}
    assert any("; unreliable interval: one file makes up " in note for note in notes)
    assert not any(note.endswith(("documents: ", "; ")) for note in notes)


# Fields that can't be read


def test_unreadable_urls_and_dates_are_a_group_of_their_own(tmp_path: Path) -> None:
    fields: list[Document] = [
        {"url": "http://[1/", "date": "soon"},
        {"url": "https://B\u00fccher.example:80/", "date": "Mon, 1 May 2023 20:19:12 +1000"},
        {"url": "xn--bcher-kva.example/a", "date": 1588888888},
        {},
    ]
    path = tmp_path / "c.jsonl"
    path.write_text("".join(json.dumps({"text": "aa", **each}) + "\n" for each in fields))
    hosts = by_value(sources(f"scan:{path}", "url-host").rows, "aa")
    assert {value: row.occurrences for value, row in hosts.items()} == {
        "xn--bcher-kva.example": 2,
        "(unreadable)": 1,
        MISSING: 1,
    }
    years = by_value(sources(f"scan:{path}", "year").rows, "aa")
    assert years.keys() == {"2023", "2020", "(unreadable)", MISSING}
    for rows in (hosts, years):
        assert {row.value for row in rows.values() if row.is_unreadable} == {"(unreadable)"}
        assert {row.value for row in rows.values() if row.is_missing} == {MISSING}


def test_a_value_of_another_field_is_never_unreadable(tmp_path: Path) -> None:
    path = tmp_path / "c.jsonl"
    path.write_text('{"text": "aa", "source": "(unreadable)"}\n')
    (row,) = sources(f"scan:{path}").rows
    assert (row.value, row.is_unreadable) == ("(unreadable)", False)


# Indexes


@pytest.fixture(scope="module")
def corpus_file(tmp_path_factory: pytest.TempPathFactory, documents: list[Document]) -> Path:
    path = tmp_path_factory.mktemp("corpus") / "c.jsonl"
    path.write_text("".join(json.dumps(each) + "\n" for each in documents))
    return path


@pytest.fixture(scope="module")
def fm9(corpus_file: Path) -> str:
    """Return an index of two shards."""
    folder = corpus_file.parent / "index"
    ngramscan.index_build(f"scan:{corpus_file}", output=folder, shard_size="20KB")
    return f"fm9:{folder}"


def test_local_index_is_exact(fm9: str, documents: list[Document]) -> None:
    result = sources(fm9)
    check_exact(result.rows, documents, has_sizes=False)
    assert (result.sizes[fm9].shards or 0) > 1
    assert [query for _, query in result.absent] == ["nowhere"]


def check_drawn(rows: list[SourceRow], documents: list[Document], draws: int) -> None:
    for query in QUERIES[:3]:
        expected = brute_force(documents, query)
        occurrences = sum(each[0] for each in expected.values())
        with_query = sum(each[1] for each in expected.values())
        found = by_value(rows, query)
        assert sum(row.occurrence_share for row in found.values()) == pytest.approx(1)
        for value, row in found.items():
            assert (row.draws, row.estimated, row.seed, row.level) == (draws, True, 1, 0.95)
            n, n_documents = expected[value][:2]
            assert row.all_occurrences == occurrences
            assert row.occurrence_share_low is not None
            assert row.occurrence_share_high is not None
            assert row.occurrence_share_low <= n / occurrences <= row.occurrence_share_high
            assert row.occurrences == round(row.occurrence_share * occurrences)
            share = n_documents / with_query
            assert row.document_share_low is not None
            assert row.document_share_high is not None
            assert row.document_share_low <= share <= row.document_share_high
            assert abs((row.documents or 0) - n_documents) < with_query / 2
            assert row.note.startswith("the limits hold for all values of a phrase together")


def test_draws_of_a_local_index(fm9: str, documents: list[Document]) -> None:
    rows = sources(fm9, draws=150, exact_up_to=0).rows
    check_drawn(rows, documents, 150)


def test_draws_of_a_service_are_those_of_the_local_index(
    fm9: str, corpus_file: Path, documents: list[Document], tmp_path: Path
) -> None:
    with ExitStack() as stack:
        server = stack.enter_context(ApiServer({"0": Path(fm9.removeprefix("fm9:")) / "0"}))
        options: dict[str, Any] = {"journal": tmp_path / "j.sqlite", "rate": 1000}
        hosted = sources(f"{server.url}0", draws=60, **options)
        n_asked = len(server.read_log())
        again = sources(f"{server.url}0", draws=60, **options)
        # Only whether it is the same index is asked once more.
        asked_again = server.read_log()[n_asked:]
        assert {asked["query_type"] for asked in asked_again} == {"find"}
        assert len(asked_again) < len(QUERIES)
    assert hosted.rows == again.rows
    assert {row.value for row in hosted.rows} >= {"web", "arxiv", "mail", MISSING}
    local = sources(f"{fm9}/0", draws=60, exact_up_to=0).rows
    columns = ("value", "query", "occurrence_share", "document_share", "documents")
    assert [[getattr(row, name) for name in columns] for row in hosted.rows] == [
        [getattr(row, name) for name in columns] for row in local
    ]
    assert all(row.draws == 60 for row in hosted.rows)


def test_draws_of_an_index_in_place_are_those_of_the_local_one(fm9: str, tmp_path: Path) -> None:
    folder = Path(fm9.removeprefix("fm9:"))
    with RangeServer(folder.parent) as server:
        in_place = sources(
            f"fm9:{server.url}{folder.name}", draws=40, journal=tmp_path / "j.sqlite"
        )
    local = sources(fm9, draws=40, exact_up_to=0)
    assert in_place.missing == []
    assert {row.estimated for row in in_place.rows} == {True}
    assert [replace(row, index=fm9) for row in in_place.rows] == local.rows


@pytest.fixture(scope="module")
def tokens(corpus_file: Path) -> str:
    """Return an index over tokens that are bytes, so that it finds all occurrences."""
    folder = corpus_file.parent / "tokens"
    ngramscan.index_build(f"scan:{corpus_file}", output=f"tokens:{folder}")
    return f"tokens:{folder}"


def test_local_index_over_tokens_is_exact(tokens: str, documents: list[Document]) -> None:
    result = sources(tokens)
    check_exact(result.rows, documents, has_sizes=False)
    assert {row.unit for row in result.rows} == {"tokens"}
    assert [query for _, query in result.absent] == ["nowhere"]
    hosts = sources(tokens, "url-host").rows
    assert {row.value for row in hosts} == {"example.org"}


def test_draws_of_a_local_index_over_tokens(tokens: str, documents: list[Document]) -> None:
    rows = sources(tokens, draws=150, exact_up_to=0).rows
    check_drawn(rows, documents, 150)
    assert {row.unit for row in rows} == {"tokens"}


def test_texts_that_a_service_cant_look_up_are_missing(corpus_file: Path, tmp_path: Path) -> None:
    with ApiServer({"x": corpus_file}, faults=Faults(fail_always=("aa",))) as server:
        result = sources(
            f"{server.url}x", draws=10, journal=tmp_path / "j.sqlite", rate=1000, timeout_s=1
        )
    assert [failure.query for failure in result.missing] == ["aa"]
    assert {row.query for row in result.rows} == {*QUERIES[1:3]}


def test_an_index_without_the_field_says_which_there_are(fm9: str) -> None:
    with pytest.raises(InputError, match=r"fields of their metadata: path, url, metadata"):
        sources(fm9, "origin")
    with pytest.raises(InputError, match=r"fields of their metadata: path, url, metadata"):
        sources(fm9, "origin", exact_up_to=0, draws=20)
