"""`ngramscan sources` as a person runs it: tables, files, plans, errors."""

import json
from pathlib import Path

import pytest

import ngramscan
from tests.support.command import invoke, invoke_ending

TOKENS = Path(__file__).parents[2] / "tokens"
LLAMA = TOKENS / "llamalike.model"

WEB = {"source": "web", "url": "https://www.a.org/x"}
ARXIV = {"source": "arxiv", "url": "https://arxiv.org/y", "date": "2020-01-01"}
MAIL = {"author": "m"}


@pytest.fixture
def corpus(tmp_path: Path) -> str:
    documents = [
        {"text": "two steps, two steps", "metadata": ARXIV},
        {"text": "two steps", "metadata": WEB},
        {"text": "two steps" + " more" * 100, "metadata": WEB},
        {"text": "nothing of the kind", "metadata": MAIL},
        {"text": "two steps by mail", "metadata": MAIL},
    ]
    path = tmp_path / "c.jsonl"
    path.write_text("".join(json.dumps(document) + "\n" for document in documents))
    return f"scan:{path}"


def test_table(corpus: str) -> None:
    ran = invoke_ending(0, "sources", "two steps", "-e", "xyz", "--index", corpus)
    lines = ran.stdout.splitlines()
    assert lines[0] == f'{corpus} · "two steps" · 5 occurrences'
    assert [line.split() for line in lines[3:6]] == [
        ["arxiv", "2", "40.0", "1", "25.0", "100,000,000"],
        ["web", "2", "40.0", "2", "50.0", "3,861,004"],
        ["(none)", "1", "20.0", "1", "25.0", "27,777,778"],
    ]
    assert f"{corpus} has no occurrence of 'xyz'\n" in ran.stderr


@pytest.mark.parametrize("width", [40, 80, 200])
def test_a_table_fits_the_terminal(
    corpus: str, width: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    ran = invoke_ending(0, "sources", "two steps", "--index", corpus, "--by", "url-host")
    table = [line for line in ran.stdout.splitlines() if not line.startswith("scan:")]
    assert all(len(line) <= width for line in table)
    assert all(name in ran.stdout for name in ("arxiv.org", "a.org", "(none)"))


def test_the_terminal_shows_the_top_and_files_have_all(tmp_path: Path) -> None:
    path = tmp_path / "many.jsonl"
    lines = [
        json.dumps({"text": "key " * (number + 1), "source": f"s{number}"}) for number in range(40)
    ]
    path.write_text("\n".join(lines))
    given = ("sources", "-e", "key", "--index", f"scan:{path}")
    shown = invoke_ending(0, *given).stdout
    assert len(shown.splitlines()) <= 24
    assert [f"s{number} " in shown for number in (39, 30, 29)] == [True, True, False]
    assert "30 more values, with 465 occurrences (56.7%)" in shown
    assert "s37 " not in invoke_ending(0, *given, "--top", "2").stdout
    assert len(invoke_ending(0, *given, "--format", "csv").rows) == 40
    invoke_ending(0, *given, "--top", "2", "-o", tmp_path / "rows.csv")
    assert len((tmp_path / "rows.csv").read_text().splitlines()) == 41


def test_several_phrases_fit_on_a_screen(corpus: str) -> None:
    texts = ["steps", "two", "by", "s", "w", "n", "o"]
    phrases = [argument for text in texts for argument in ("-e", text)]
    ran = invoke_ending(0, "sources", *phrases, "--index", corpus)
    assert len(ran.stdout.splitlines()) <= 24
    assert "not shown: 4 phrases with fewer occurrences (see --top)" in ran.stdout
    everything = invoke_ending(0, "sources", *phrases, "--index", corpus, "--top", "5").stdout
    assert all(f'"{text}"' in everything for text in texts)
    assert "not shown" not in everything


def test_columns_of_a_pattern_set(corpus: str, tmp_path: Path) -> None:
    sets = tmp_path / "set.yaml"
    sets.write_text(
        "name: s\npatterns:\n  - {text: two steps, method: m, tier: T1, kind: narrative}\n"
    )
    rows = invoke_ending(
        0, "sources", sets, "--index", corpus, "--by", "year", "--format", "csv"
    ).rows
    (row,) = [row for row in rows if row["value"] == "2020"]
    names = ("unit", "method", "tier", "kind", "pattern", "query", "by", "is_missing")
    assert [row[name] for name in names] == [
        *("bytes", "m", "T1", "narrative", "two steps", "two steps", "year", "False"),
    ]
    assert [row["value"] for row in rows] == ["(none)", "2020"]


def test_data_frame(corpus: str) -> None:
    rows = ngramscan.sources("two steps", index=corpus, by="metadata.source")
    assert dict(zip(rows["value"], rows["occurrences"], strict=True)) == {
        "arxiv": 2,
        "web": 2,
        "(none)": 1,
    }


def test_draws_are_said_with_their_limits(corpus: str, tmp_path: Path) -> None:
    ngramscan.index_build(corpus, output=tmp_path / "index")
    index = f"fm9:{tmp_path / 'index'}"
    given = ("sources", "-e", "e", "--index", index, "--exact-up-to", "0", "--draws", "50")
    ran = invoke_ending(0, *given, "--seed", "3")
    screen = " ".join(ran.stdout.split())
    assert "occurrences, 50 drawn at random, seed 3" in screen
    assert "95% limits, which hold for all values of a phrase together" in screen
    assert "the limits hold for all values" not in screen
    same = invoke_ending(0, *given, "--seed", "3", "--format", "csv")
    assert {row["seed"] for row in same.rows} == {"3"}
    assert {row["level"] for row in same.rows} == {"0.95"}
    assert {row["draws"] for row in same.rows} == {"50"}


def test_plans(corpus: str, tmp_path: Path) -> None:
    given = ("sources", "two steps", "--dry-run", "--format", "csv", "--index")
    (scan,) = invoke_ending(0, *given, corpus).rows
    size = Path(corpus.removeprefix("scan:")).stat().st_size
    assert (scan["bytes"], scan["windows_at_most"]) == (str(size), "0")
    (hosted,) = invoke_ending(0, *given, "dclm", "--draws", "30").rows
    assert (hosted["lookups"], hosted["windows_at_most"]) == ("1", "30")
    ngramscan.index_build(corpus, output=tmp_path / "index")
    (local,) = invoke_ending(0, *given, f"fm9:{tmp_path / 'index'}").rows
    assert local["windows_at_most"] == "0"
    (drawn,) = invoke_ending(0, *given, f"fm9:{tmp_path / 'index'}", "--exact-up-to", "0").rows
    assert drawn["windows_at_most"] == "200"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            ["--by", "origin"],
            "--by origin: no document of {corpus} has it; fields of their metadata: "
            "metadata.source, metadata.url, metadata.date, metadata.author",
        ),
        (
            ["--index", "infini-gram:dolma-v1_7"],
            "--index infini-gram:v4_dolma-v1_7_llama: a hosted index over tokens shows no metadata",
        ),
    ],
    ids=["no such field", "hosted tokens"],
)
def test_errors_are_a_line(corpus: str, options: list[str], message: str) -> None:
    ran = invoke_ending(2, "sources", "two steps", "--index", corpus, *options)
    assert ran.stderr.startswith("Error: " + message.format(corpus=corpus))
    assert (ran.stderr.count("\n"), ran.stdout) == (1, "")


def test_a_file_that_cant_be_read_leaves_no_rows(corpus: str, tmp_path: Path) -> None:
    (tmp_path / "d.jsonl").write_text('{"text": "two steps", "source": "a"}\n{"text":')
    ran = invoke("sources", "two steps", "--index", f"scan:{tmp_path}", "--format", "csv")
    assert (ran.code, ran.rows) == (1, [])
    assert "d.jsonl:2: not valid JSON" in ran.stderr
    assert 'the lookup of "two steps" in' in ran.stderr


def test_a_sample_of_files_is_said_with_its_limits(tmp_path: Path) -> None:
    for number in range(40):
        documents = [{"text": "key " * 3, "source": f"s{(number + n) % 3}"} for n in range(4)]
        documents += [{"text": "key", "source": "rare"}] if number in {4, 5, 6} else []
        lines = "".join(json.dumps(document) + "\n" for document in documents)
        (tmp_path / f"{number}.jsonl").write_text(lines)
    given = ("sources", "-e", "key", "--index", f"scan:{tmp_path}", "--sample-files", "30")
    ran = invoke_ending(0, *given)
    screen = " ".join(ran.stdout.split())
    assert '· "key" · ≈48' in screen
    assert "drawn at random" not in screen
    assert "estimate from 30 of 40 files, drawn in proportion to bytes, seed 1" in screen
    assert "95% limits, which hold for all values of a phrase together" in screen
    rows = {row["value"]: row for row in invoke_ending(0, *given, "--format", "csv").rows}
    row = rows["s1"]
    limits = [f"{100 * float(row[f'occurrence_share_{end}']):.1f}" for end in ("low", "high")]
    assert f"[{limits[0]}, {limits[1]}]" in screen
    assert "(no interval)" in screen
    assert "no interval: the value, or all others, are in too few of the files" in screen
    assert (row["estimated"], row["draws"], row["seed"]) == ("True", "", "1")
    assert rows["rare"]["occurrence_share_low"] == ""


def test_a_local_index_over_tokens() -> None:
    """The occurrences are those of `count`, the documents those of `docnorm`."""
    index = (*("--index", f"tokens:{TOKENS / 'v4_pysmall_llama_s3'}"), "--tokenizer", LLAMA)
    rows = invoke_ending(0, "sources", "-e", "self", *index, "--by", "id", "--format", "csv").rows
    (counted,) = invoke_ending(0, "count", "-e", "self", *index, "--format", "csv").rows
    (documents,) = invoke_ending(0, "docnorm", "-e", "self", *index, "--format", "csv").rows
    assert len(rows) == int(documents["documents"]) > 10
    assert {row["unit"] for row in rows} == {"tokens"}
    assert sum(int(row["occurrences"]) for row in rows) == int(counted["occurrences"])
    assert sum(int(row["documents"]) for row in rows) == int(documents["documents"])
    note = "token n-grams: a lower bound of the string's occurrences"
    assert note in rows[0]["note"]
    screen = " ".join(
        invoke_ending(0, "sources", "-e", "self", *index, "--by", "id").stdout.split()
    )
    assert screen.count(note) == 1


def test_figure_and_page(corpus: str, tmp_path: Path) -> None:
    figure, rows, page = (tmp_path / name for name in ("f.svg", "rows.csv", "page.html"))
    invoke_ending(0, "sources", "two steps", "--index", corpus, "-o", rows, "--figure", figure)
    assert all(f">{name}<" in figure.read_text() for name in ("arxiv", "web", "(none)"))
    invoke_ending(0, "report", rows, "-o", page)
    text = page.read_text()
    assert "Sources of occurrences" in text
    assert "are from the source arxiv, and 25.0% of the documents with it." in text
