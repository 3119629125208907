"""Documents of local indexes: counted from the places of all occurrences, or drawn, also served.

The truth is a search of the texts of all documents, one by one.
"""

import csv
import hashlib
import json
import math
import shutil
import sysconfig
from collections.abc import Iterator
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import yaml
from rich.console import Console

import ngramscan
from ngramscan.patterns.model import Pattern, Query
from ngramscan.prevalence.docnorm import DocnormResult, run_docnorm
from ngramscan.prevalence.draws import DocnormOptions
from ngramscan.reporting.tables import print_docnorm
from tests.support import oracle
from tests.support.command import invoke, without
from tests.support.corpus_files import jsonl
from tests.support.serve_process import serving_here
from tests.support.sizes import sets, slow
from tests.support.text_index import TextIndex

TEXT_BYTES, LONGEST, SHARD = 500_000, 30_000, "200KB"
DRAWN = ("--draws", "20", "--context", "1000")
"""Fewer and less than by default, as extracting texts takes time."""
METHODS = {
    "A": ["return", "import ", "self.", "\\n", "ss", "zq jx kv", "é"],
    "B": ["raise ", "class ", "for x in", "the", "--", "retur"],
}
FREQUENT = 800
"""Between the occurrences of the patterns: some have more."""
WORDS = ["return", "the file", "for x in", "if", "zq jx kv"]


@dataclass(frozen=True)
class Made:
    """A corpus, its indexes over bytes and over tokens that are bytes, and patterns for them."""

    texts: list[str]
    folder: Path

    @property
    def fm9(self) -> str:
        return f"fm9:{self.folder / 'index'}"

    @property
    def tokens(self) -> str:
        return f"tokens:{self.folder / 'tokens'}"

    def rows(self, index: str, *more: str) -> list[dict[str, str]]:
        """Return the rows of the patterns, and write their totals to `t.csv`."""
        asked = ("docnorm", self.folder / "patterns.yaml", "--totals", self.folder / "t.csv")
        ran = invoke(*asked, "--format", "csv", "--index", index, *more)
        lines = ran.stderr.splitlines()
        notices = [line for line in lines if not line.startswith(("compiling", "wrote"))]
        assert (ran.code, notices) == (0, [])
        return ran.rows

    def totals(self) -> list[dict[str, str]]:
        """Return the totals of the last rows."""
        with (self.folder / "t.csv").open(encoding="utf-8") as lines:
            return [*csv.DictReader(lines)]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    """Take sources of Python's library in an order that mixes them; many are long."""
    folder, texts, size = tmp_path_factory.mktemp("local"), list[str](), 0
    root = Path(sysconfig.get_paths()["stdlib"])
    paths = [path for path in root.rglob("*.py") if "site-packages" not in path.parts]
    for path in sorted(paths, key=lambda one: hashlib.sha256(one.name.encode()).digest()):
        text = path.read_text(encoding="utf-8", errors="ignore")
        if len(text.encode()) <= LONGEST and size + len(text.encode()) <= TEXT_BYTES:
            size += len(text.encode())
            texts.append(text)
    assert sum(len(text) > 10_000 for text in texts) > 10
    texts += ["é" * 900 + " return " + "é" * 900, "x" * 995 + "return the ééé " * 90, "éa" * 900]
    (folder / "docs").mkdir()
    for number in range(2):
        (folder / "docs" / f"{number}.jsonl").write_bytes(jsonl(texts[number::2]))
    sets_of = [
        {"method": method, "tier": "T1", "kind": "narrative", "text": text}
        for method, texts_of in METHODS.items()
        for text in texts_of
    ]
    (folder / "patterns.yaml").write_text(yaml.safe_dump({"name": "mine", "patterns": sets_of}))
    for output, more in (("index", ["--shard-size", SHARD]), ("tokens", [])):
        kind = "tokens:" if output == "tokens" else ""
        built = invoke("index", "build", folder / "docs", "-o", f"{kind}{folder / output}", *more)
        assert built.code == 0
    assert len([*(folder / "index").glob("*/data.fm9")]) > 2
    return Made(texts, folder)


# Counted


def test_documents_of_a_local_index_are_those_of_a_search_of_the_texts(made: Made) -> None:
    """Also overlapping and nested patterns, and a pattern without occurrences."""
    rows = made.rows(made.fm9)
    found = {row["pattern"]: (int(row["occurrences"]), int(row["documents"])) for row in rows}
    patterns = [text for texts in METHODS.values() for text in texts]
    occurrences, documents = oracle.tally(patterns, made.texts)
    truth = dict(zip(patterns, zip(occurrences, documents, strict=True), strict=True))
    assert found == truth
    for row in rows:
        assert row["documents_low"] == row["documents_high"] == row["documents"]
        assert (row["estimator"], row["draws"], row["note"]) == ("exact", "", "")


def test_unions_and_ratios_of_a_local_index_are_those_of_a_search(made: Made) -> None:
    made.rows(made.fm9)
    found = {(one["statistic"], one["method"]): float(one["value"]) for one in made.totals()}
    unions = {method: oracle.union_documents(own, made.texts) for method, own in METHODS.items()}
    assert {method: found["documents", method] for method in METHODS} == unions
    assert found["ratio_of_documents", "B"] == pytest.approx(unions["B"] / unions["A"])


def test_a_local_index_and_a_scan_give_the_same_rows_and_totals(made: Made) -> None:
    rows, totals = made.rows(made.fm9), made.totals()
    scanned = made.rows(f"scan:{made.folder / 'docs'}")
    assert without(rows, "index") == without(scanned, "index")
    assert without(totals, "index") == without(made.totals(), "index")


def counted_words(index: str, **options: Any) -> set[str]:
    """Return the words whose documents are counted, as no occurrence was drawn."""
    frame = ngramscan.docnorm(literal=WORDS, index=index, draws=10, **options)
    rows = frame.reindex(columns=["pattern", "draws"]).to_dict("records")
    return {row["pattern"] for row in rows if pd.isna(row["draws"])}


@pytest.mark.parametrize("kind", ["fm9", "tokens"])
@pytest.mark.parametrize("more", [0, -1], ids=["as many as a pattern has", "one less"])
def test_the_bound_is_on_the_occurrences_of_each_pattern(made: Made, kind: str, more: int) -> None:
    occurrences, _ = oracle.tally(WORDS, made.texts)
    bound = occurrences[WORDS.index("the file")] + more
    expected = {word for word, n in zip(WORDS, occurrences, strict=True) if n <= bound}
    assert ("the file" in expected) == (more == 0)
    assert counted_words(getattr(made, kind), exact_up_to=bound) == expected


@pytest.mark.parametrize("kind", ["fm9", "tokens"])
@pytest.mark.parametrize(
    ("options", "counted"),
    [
        pytest.param({"exact_up_to": 0}, set(), id="a bound of 0"),
        pytest.param({"estimator": "size-bias"}, set(), id="an estimator asks for draws"),
        pytest.param(
            {"estimator": "unique", "exact_up_to": 10**6}, {*WORDS}, id="both: the bound holds"
        ),
    ],
)
def test_a_bound_of_0_and_a_named_estimator_ask_for_draws(
    made: Made, kind: str, options: dict[str, Any], counted: set[str]
) -> None:
    assert counted_words(getattr(made, kind), **options) == counted


def test_draws_are_of_the_patterns_that_are_not_counted(made: Made, tmp_path: Path) -> None:
    drawn = tmp_path / "drawn.csv"
    words = ["return", "for x in"]
    ngramscan.docnorm(literal=words, index=made.fm9, drawn=drawn, draws=30, exact_up_to=100)
    assert pd.read_csv(drawn)["pattern"].unique().tolist() == ["return"]


def test_unions_of_counted_and_drawn_patterns_are_covered(made: Made) -> None:
    """The counted documents are certain: no union is below them, and none counts them twice."""
    truth = {method: oracle.union_documents(own, made.texts) for method, own in METHODS.items()}
    covers = list[bool]()
    for seed in range(1, sets(3) + 1):
        rows = made.rows(made.fm9, "--exact-up-to", str(FREQUENT), *DRAWN, f"--seed={seed}")
        counted = {
            method: oracle.union_documents(
                [row["pattern"] for row in rows if row["method"] == method and not row["draws"]],
                made.texts,
            )
            for method in METHODS
        }
        assert all(0 < counted[method] < truth[method] for method in METHODS)
        for total in made.totals():
            low, high = float(total["low"] or 0), float(total["high"] or math.inf)
            if total["statistic"] == "documents":
                assert low >= counted[total["method"]]
                covers.append(low <= truth[total["method"]] <= high)
            elif total["statistic"] == "ratio_of_documents":
                covers.append(low <= truth["B"] / truth["A"] <= high)
    assert len(covers) == 3 * sets(3)
    assert np.mean(covers) >= 0.95 - 3 * math.sqrt(0.95 * 0.05 / len(covers))


def test_documents_of_a_local_index_over_tokens_are_those_of_a_search(made: Made) -> None:
    frame = ngramscan.docnorm(literal=WORDS, index=made.tokens)
    truth = [oracle.union_documents([word], made.texts) for word in WORDS]
    names = [f"documents{end}" for end in ("", "_low", "_high")]
    assert [list(frame[name]) for name in names] == [truth] * 3
    assert set(frame["estimator"]) == {"exact"}
    assert "draws" in frame.attrs["left_out"]


def test_a_dry_run_has_windows_only_for_patterns_above_the_bound(made: Made) -> None:
    given = ("docnorm", *(part for word in WORDS for part in ("-e", word)), "--dry-run")
    further = ((), ("--exact-up-to", "400"), ("--estimator=first",))
    plans = [
        invoke(*given, "--format", "csv", "--index", index, *more).rows
        for index in (made.fm9, made.tokens)
        for more in further
    ]
    assert [plan["windows_at_most"] for (plan,) in plans] == ["0", "400", "1000"] * 2


@pytest.mark.parametrize(("kind", "name"), [("fm9", "data_offset"), ("tokens", "offset.0")])
def test_a_damaged_index_gives_no_number(made: Made, tmp_path: Path, kind: str, name: str) -> None:
    shutil.copytree(made.folder / ("index" if kind == "fm9" else "tokens"), tmp_path / "x")
    (file,) = [*(tmp_path / "x").rglob(name)][:1]
    entries = np.fromfile(file, "<u8")
    entries[[3, 4]] = entries[[4, 3]]
    entries.tofile(file)
    given = ("-e", "return", "--index", f"{kind}:{tmp_path / 'x'}", "--format", "csv")
    ran = invoke("docnorm", *given)
    assert (ran.code, ran.stdout) == (1, "")
    assert f"{file.name}: " in ran.stderr
    assert "entry 4 is not above the one before" in ran.stderr
    assert ran.stderr.count("\n") == 1


def test_a_union_adds_drawn_documents_to_those_that_are_counted(tmp_path: Path) -> None:
    """300 documents have the counted pattern, 200 of them also the drawn one twice; 600 the latter.

    Each draw in another document counts for half a document, so the estimate has no error but the
    share of draws within documents that are known.
    """
    both, counted, drawn = ["seldom often often"] * 200, ["seldom"] * 100, ["often often"] * 600
    texts = [*both, *counted, *drawn, *["neither"] * 1000]
    (tmp_path / "c.jsonl").write_bytes(jsonl(texts))
    assert invoke("index", "build", tmp_path / "c.jsonl", "-o", tmp_path / "i").code == 0
    sets_of = [
        {"method": "A", "tier": "T1", "kind": "narrative", "text": text}
        for text in ("seldom", "often")
    ]
    patterns = tmp_path / "p.yaml"
    patterns.write_text(yaml.safe_dump({"name": "p", "patterns": sets_of}))
    given: dict[str, Any] = {"exact_up_to": 300, "draws": 400}
    totals, draws = tmp_path / "t.csv", tmp_path / "d.csv"
    index = f"fm9:{tmp_path / 'i'}"
    ngramscan.docnorm(patterns, index=index, totals=totals, drawn=draws, **given)
    table = pd.read_csv(totals).set_index("statistic")
    new = pd.read_csv(draws)["text"].eq("often often").mean()
    documents = table.loc["documents"]
    assert documents["value"] == pytest.approx(300 + 1600 * new / 2)
    assert documents["low"] <= 900 <= documents["high"]


# Served


@pytest.fixture(scope="module")
def served_in_part(made: Made) -> Iterator[str]:
    with serving_here(made.folder / "index", max_context=11_000) as url:
        yield f"{url}index"


@pytest.mark.parametrize(
    "more",
    [(), slow(("--context", "101", "--estimator", "size-bias"))],
)
def test_a_served_index_gives_the_numbers_of_its_folder_drawn(
    made: Made, served_in_part: str, tmp_path: Path, more: tuple[str, ...]
) -> None:
    """Characters of two bytes are cut at the ends of windows, and limits reach all documents."""
    local = made.rows(made.fm9, "--exact-up-to", "0", *DRAWN, *more)
    totals = without(made.totals(), "index")
    asked = (*DRAWN, *more, "--journal", str(tmp_path / "j"))
    for _ in ("asked", "from the journal"):
        rows = made.rows(served_in_part, *asked)
        assert without(rows, "index") == without(local, "index")
        assert without(made.totals(), "index") == totals
    assert any(row["documents_high"] == str(len(made.texts)) for row in local)


def test_a_server_that_shows_less_says_so(made: Made, served_in_part: str, tmp_path: Path) -> None:
    given: dict[str, Any] = {"literal": ["return", "é"], "draws": 30, "context": 500_000}

    def rows_of(index: str) -> list[dict[Any, Any]]:
        frame = ngramscan.docnorm(index=index, journal=tmp_path / "j", exact_up_to=0, **given)
        return frame.drop(columns="index").astype(object).fillna("").to_dict("records")

    local, part = map(rows_of, (made.fm9, served_in_part))
    assert {row["truncated_share"] for row in local} == {0}
    said = "at most 11,000 bytes are shown on each side, not 500,000"
    assert [said in row["note"] for row in part] == [row["truncated_share"] > 0 for row in part]
    assert any(said in row["note"] for row in part)
    shown = ("docnorm", "-e", "return", "--draws", "30", "--context", "500000")
    journal = ("--journal", tmp_path / "j")
    assert said in " ".join(invoke(*shown, *journal, "--index", served_in_part).stdout.split())


# Documents seen in part


def norm(*queries: Query) -> DocnormResult:
    """Draw from 300 documents, each cut on both sides of its occurrences."""
    texts = ["." * 1500 + "key word" + "." * 1500 for _ in range(300)]
    return run_docnorm(queries, [TextIndex(texts)], DocnormOptions(draws=100, context=1000))


def query(text: str, method: str) -> Query:
    return Query(text, Pattern(text, method, "T1", "code"))


def test_two_estimates_have_no_middle() -> None:
    result = norm(query("key", "A"), query("word", "B"))
    for row in result.rows:
        assert (row.documents, row.occurrences_per_document) == (None, None)
        estimates = row.documents_lower_estimate, row.documents_upper_estimate
        assert estimates == (row.unique_documents, 300)
        assert (row.documents_low, row.documents_high) == estimates
        said = f"long documents were truncated: estimates from {estimates[0]} to 300"
        assert said in row.note
    unions = [one.value for one in result.totals if one.statistic == "union_of_occurrences"]
    assert unions == [300, 300]
    others = [total for total in result.totals if total.statistic != "union_of_occurrences"]
    assert {total.value for total in others} == {None}
    (ratio,) = [total for total in result.totals if total.versus]
    lower = result.rows[0].documents_lower_estimate
    assert ratio.upper_estimate == 300 / lower
    assert "long documents were truncated: estimates from" in ratio.note


def test_a_table_says_why_documents_are_drawn(made: Made, served_in_part: str) -> None:
    said = "documents are counted in local indexes, up to --exact-up-to occurrences of a pattern"
    asked = ("docnorm", "-e", "the", *DRAWN, "--index")
    assert said in " ".join(invoke(*asked, served_in_part).stdout.split())
    assert said not in " ".join(invoke(*asked, made.fm9).stdout.split())


def test_a_table_shows_two_estimates() -> None:
    result = norm(query("key", "A"), query("word", "B"))
    console = Console(width=200, record=True, file=StringIO())
    print_docnorm(result, console)
    lines = console.export_text().splitlines()
    row = result.rows[0]
    lower = row.documents_lower_estimate
    shown = f"{lower}–300 [{lower}, 300]"
    assert sum(shown in line for line in lines) == 4, "the rows and the totals of their methods"
    assert f"1–{300 / lower:.3g} [1, {300 / lower:.3g}]" in next(
        line for line in lines if "key" in line
    )


def test_the_report_takes_no_middle_for_a_number(tmp_path: Path) -> None:
    rows = norm(query("key", "A")).rows
    index = TextIndex(["key"] * 3)
    rows += run_docnorm([query("key", "A")], [index], DocnormOptions()).rows
    lines = [json.dumps({name: getattr(row, name) for name in row.__slots__}) for row in rows]
    (tmp_path / "d.jsonl").write_text("\n".join(lines))
    assert '"documents": null' in lines[0]
    ran = invoke("report", tmp_path / "d.jsonl", "-o", tmp_path / "r.html")
    assert ran.code == 0
    page = (tmp_path / "r.html").read_text()
    assert "“key” is in 3 documents of x; a document that has it has it once." in page
    said = "“key” is in between 100 and 300 documents of x, as long documents were truncated."
    assert said in page
