"""The first screens of `count` and `docnorm`: the answer in few lines, corpora side by side."""

import re
from collections.abc import Iterator
from pathlib import Path
from shutil import copytree

import pytest
from rich.console import Console

import ngramscan
from ngramscan.indexes.catalog import PAPER
from ngramscan.reporting.snapshots import times_of
from ngramscan.reporting.summaries.counts import summarize_counts
from ngramscan.reporting.summaries.names import short_names
from ngramscan.reporting.summaries.numbers import (
    PER_GIGABYTE,
    rate_unit,
    short_count,
    short_number,
    size_unit,
)
from ngramscan.reporting.summaries.totals import summarize_totals
from tests.support.command import Ran, invoke
from tests.support.serve_process import INDEXES, serving_here

NAMES = [entry.name for entry in PAPER]
SET = """\
name: small
patterns:
  - {text: step by step, method: CoT, tier: T1, kind: narrative}
  - {text: first we, method: CoT, tier: T2, kind: narrative}
  - {text: 'def solve(', method: PoT, tier: T1, kind: code}
  - {text: import math, method: PoT, tier: T2, kind: code}
"""
LATER = '{"text": "step by step, step by step"}\n{"text": "def solve(x): import math"}\n'
EARLIER = '{"text": "think step by step"}\n{"text": "import math, import math"}\n'


@pytest.fixture(scope="module")
def eight(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a server of eight small indexes under the names of the paper."""
    folder = tmp_path_factory.mktemp("eight")
    for name in NAMES:
        copytree(INDEXES[0], folder / name)
    with serving_here(*(folder / name for name in NAMES)) as url:
        yield url


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    (tmp_path / "small.yaml").write_text(SET)
    (tmp_path / "2023.jsonl").write_text(EARLIER)
    (tmp_path / "2024.jsonl").write_text(LATER)
    return tmp_path


TWO = ("--index", "scan:2023.jsonl", "--index", "scan:2024.jsonl")


def asked(command: str, url: str, journal: Path, *more: str) -> Ran:
    ran = invoke(command, "f1", "--api-url", url, "--journal", journal / "j", "-q", *more)
    assert ran.code == 0, ran.stderr
    return ran


@pytest.mark.parametrize(
    ("command", "indexes", "most"),
    [
        pytest.param("count", "paper", 40, id="count in eight corpora"),
        pytest.param("count", "dclm", 24, id="count in one corpus"),
        pytest.param("docnorm", "paper", 40, id="docnorm in eight corpora"),
        pytest.param("docnorm", "dclm", 24, id="docnorm in one corpus"),
    ],
)
def test_a_screen_of_a_usual_terminal_has_all_of_the_answer(
    eight: str, here: Path, command: str, indexes: str, most: int
) -> None:
    more = ("--draws", "10") if command == "docnorm" else ()
    lines = asked(command, eight, here, "--index", indexes, *more).stdout.splitlines()
    assert len(lines) <= most
    assert max(map(len, lines)) <= 80
    assert lines[-1].startswith("--all: 46 phrases") or "--all: 46 phrases" in " ".join(lines[-2:])
    methods = {line.split()[1] for line in lines if re.match(r"  T\d(\+T2)? ", line)}
    assert methods == {"CoT", "PoT", "FP/F-1"}
    if indexes == "paper":
        # Each table has all corpora beside each other.
        rules = [n for n, line in enumerate(lines) if set(line.strip()) == {"─", " "}]
        assert min(len(lines[n].split()) for n in rules) > len(NAMES)
        headers = [(lines[n - 2].split()[-8:], lines[n - 1].split()) for n in rules]
        years, weeks = ["dclm", *["2025-"] * 7], ["05", "08", "13", "18", "21", "26", "30"]
        assert headers == [(years, weeks)] * len(rules)


def test_a_pipe_gets_the_screen_of_a_terminal(
    eight: str, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    piped = asked("count", eight, here).stdout
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(Console, "is_terminal", True)
    shown = asked("count", eight, here).stdout
    assert re.sub(r"\x1b\[[0-9;]*m", "", shown) == piped


def test_all_shows_each_phrase_in_each_corpus(eight: str, here: Path) -> None:
    lines = asked("count", eight, here, "--all").stdout.splitlines()
    assert len(lines) > 600
    assert sum(line.split()[2:5] == ["step", "by", "step"] for line in lines) == 8
    assert "Ratios" in " ".join(lines)


def test_a_screen_with_any_column_is_as_wide_as_it_needs(eight: str, here: Path) -> None:
    lines = asked("count", eight, here, "--wide").stdout.splitlines()
    assert "2025-05" in " ".join(line for line in lines if "phrase" in line)


def test_two_corpora_stand_side_by_side(here: Path) -> None:
    ran = invoke("count", "small.yaml", *TWO)
    assert (ran.code, ran.stderr) == (0, "")
    assert ran.stdout == (
        "scan:2023.jsonl · 42 B of text · 2 documents\n"
        "scan:2024.jsonl · 51 B of text · 2 documents\n"
        "names are short for scan:….jsonl\n"
        "Occurrences of any phrase of a method\n"
        "  tier   method  2023  2024\n"
        "  ─────  ──────  ────  ────\n"
        "  T1     CoT        1     2\n"
        "  T1     PoT        0     1\n"
        "  T2     CoT        0     0\n"
        "  T2     PoT        2     1\n"
        "  T1+T2  CoT        1     2\n"
        "  T1+T2  PoT        2     2\n"
        "\n"
        "Occurrences\n"
        "  phrase        method  tier  2023  2024\n"
        "  ────────────  ──────  ────  ────  ────\n"
        "  (kB of text)                0.04  0.05\n"
        "  step by step  CoT     T1       1     2\n"
        "  import math   PoT     T2       2     1\n"
        "  def solve(    PoT     T1       0     1\n"
        "1 more phrase occurs nowhere\n"
        "\n"
        "PoT's phrases are 2 times as frequent as CoT's in scan:2023.jsonl (tiers T1 and\n"
        "T2); phrase by phrase, no difference is shown.\n"
        "In scan:2024.jsonl, PoT : CoT is 1.\n"
        "--all: 4 phrases in each corpus, totals, ratios; -o FILE writes all rows\n"
    )


def test_texts_without_a_method_have_all_counts_side_by_side(here: Path) -> None:
    ran = invoke("count", "step by step", "import math", *TWO)
    assert "Occurrences\n" in ran.stdout
    assert "Documents\n" in ran.stdout
    assert "  import math      2     1\n" in ran.stdout
    assert "  import math      1     1\n" in ran.stdout


def test_a_single_text_has_a_row_for_each_corpus(here: Path) -> None:
    ran = invoke("count", "import math", *TWO)
    rows = [line.split() for line in ran.stdout.splitlines()]
    assert ["corpus", "kB", "of", "text", "occurrences", "documents"] in rows
    assert ["2023", "0.04", "2", "1"] in rows
    assert ["2024", "0.05", "1", "1"] in rows


def test_few_texts_in_one_corpus_are_shown_with_all_that_is_known(here: Path) -> None:
    given = ("count", "step by step", "import math", "--index", "scan:2024.jsonl")
    assert invoke(*given).stdout == invoke(*given, "--all").stdout


def test_many_texts_in_one_corpus_are_as_many_as_have_room(here: Path) -> None:
    (here / "texts.txt").write_text("\n".join(f"text {n}" for n in range(99)) + "\nimport math\n")
    ran = invoke("count", "-f", "texts.txt", "--index", "scan:2024.jsonl")
    assert len(ran.stdout.splitlines()) <= 24
    assert "99 more phrases occur nowhere" in ran.stdout
    assert "“import math” is the most frequent of 100 phrases: once in" in ran.stdout


def test_documents_of_two_corpora_stand_side_by_side(here: Path) -> None:
    ran = invoke("docnorm", "small.yaml", *TWO)
    assert (ran.code, ran.stderr) == (0, "")
    assert "  T2     PoT        1     1\n" in ran.stdout
    assert "  step by step  CoT     T1       1     1\n" in ran.stdout
    assert "documents are exact: all were read" in ran.stdout


def test_a_page_has_the_summary_of_a_screen(here: Path) -> None:
    (here / "odd.yaml").write_text(SET.replace("import math", "import <b>"))
    (here / "2024.jsonl").write_text('{"text": "import <b>, step by step, step by step"}\n')
    ran = invoke("count", "odd.yaml", *TWO, "-o", "counts.csv", "--totals", "totals.csv")
    assert ran.code == 0, ran.stderr
    page = ngramscan.report("counts.csv", "totals.csv").html
    tables = re.findall(r'<div class="box summary".*?</table>', page, flags=re.DOTALL)
    assert len(tables) == 2
    assert [re.findall("<caption>([^<]*)", one) for one in tables] == [
        ["Occurrences "],
        ["Occurrences of any phrase of a method "],
    ]
    assert "<td>import &lt;b&gt;</td>" in tables[0]
    rows = [re.findall("<td[^>]*>([^<]*)</td>", row) for row in tables[1].split("<tr>")]
    assert ["T1", "CoT", "1", "2"] in rows


def of_method(index: str, union: int | None) -> dict[str, object]:
    names = {"index": index, "tiers": "T1", "method": "CoT", "versus": None, "kind": ""}
    return {**names, "statistic": "union_of_occurrences", "value": union, "note": ""}


def test_a_corpus_without_any_count_is_named_instead_of_a_column() -> None:
    rows = [of_method("a", 3), of_method("b", None), of_method("c", 5)]
    (table,) = summarize_totals(rows, 12)
    assert [*table.columns] == ["tier", "method", "a", "c"]
    assert table.note == "no counts are known in b"
    (table,) = summarize_totals(rows[:2], 12)
    assert table.columns["occurrences"] == ["3"]
    assert table.note == "no counts are known in b"


def test_a_corpus_without_any_phrase_has_no_table_of_phrases() -> None:
    rows = [{"index": "a", "pattern": text, "occurrences": 0} for text in "pqrstu"]
    assert not summarize_counts(rows, 3)


def test_python_has_no_option_for_what_a_terminal_shows() -> None:
    with pytest.raises(TypeError, match="show_all"):
        ngramscan.count("a b", show_all=True)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "–"),
        (0, "0"),
        (0.001, "<0.01"),
        (0.005, "0.01"),
        (0.0285, "0.03"),
        (9.994, "9.99"),
        (9.996, "10.0"),
        (99.96, "100"),
        (9999.4, "9,999"),
        (9999.6, "10.0k"),
        (158_333, "158k"),
        (999_600, "1.00M"),
        (18_633_540, "18.6M"),
        (2.5e13, "25.0T"),
    ],
)
def test_a_number_of_a_summary_is_short(value: float | None, text: str) -> None:
    assert short_number(value) == text
    assert len(text) <= 5


def test_numbers_of_things_have_no_decimals() -> None:
    assert [short_count(n) for n in (None, 0, 7, 1234, 12345)] == ["–", "0", "7", "1,234", "12.3k"]


def test_rates_below_one_are_per_terabyte() -> None:
    assert rate_unit([0.5, None]).name == "per terabyte"
    assert rate_unit([0.5, 1.0]) == rate_unit([0, None]) == rate_unit([]) == PER_GIGABYTE
    assert [size_unit([n]).name for n in (10**12, 10**9, 10**6, 10**3, 0)] == [
        "TB",
        "GB",
        "MB",
        "kB",
        "kB",
    ]


@pytest.mark.parametrize(
    ("names", "short", "note"),
    [
        pytest.param(["python"], ["python"], "", id="one"),
        pytest.param(["a", "b"], ["a", "b"], "", id="nothing shared"),
        pytest.param(
            ["v2_dclm_all", "v2_cc_2025-05", "v2_cc-2025-30"],
            ["dclm", "2025-05", "2025-30"],
            "dclm: v2_dclm_all; 2025-05 to 2025-30: v2_cc_2025-05 to v2_cc-2025-30",
            id="crawls by their week",
        ),
        pytest.param(
            ["v2_cc-2025-05", "python"],
            ["cc-2025-05", "python"],
            "cc-2025-05: v2_cc-2025-05",
            id="a single crawl",
        ),
        pytest.param(
            ["scan:a/x.jsonl", "scan:a/y.jsonl"],
            ["x", "y"],
            "names are short for scan:a/….jsonl",
            id="paths",
        ),
        pytest.param(
            ["fm9:one", "fm9:one.more"],
            ["one", "one.more"],
            "names are short for fm9:…",
            id="begins",
        ),
        pytest.param(["alike", "alien"], ["alike", "alien"], "", id="no whole part shared"),
        pytest.param(["a:x", "a:"], ["a:x", "a:"], "", id="one would have no name"),
    ],
)
def test_names_of_corpora_are_without_what_they_share(
    names: list[str], short: list[str], note: str
) -> None:
    found = short_names(names)
    assert [found.of(name) for name in names] == short
    assert found.note == note


def test_snapshots_are_known_by_their_names() -> None:
    crawls = times_of(["cc-2025-30", "dclm", "cc-2025-05"], fewest=2)
    assert [*crawls] == ["cc-2025-05", "cc-2025-30"]
    years = times_of(["2024", "2021-05", "2022", "x"], fewest=2)
    assert [*years] == ["2021-05", "2022", "2024"]
    assert times_of(["2024", "x"], fewest=2) == times_of(["1", "2"], fewest=2) == {}
