"""`ngramscan contaminate` as a person runs it: benchmarks, screens, files, figures, failures."""

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from rich.console import Console

from ngramscan.errors import InputError
from ngramscan.prevalence.contamination.benchmark_entries import read_entries
from ngramscan.prevalence.contamination.shares import ShareRow
from ngramscan.statistics.streams import draw_sample
from tests.support.command import Ran, invoke
from tests.support.completion import offers
from tests.support.figures import marks, overlapping, saved, texts_of
from tests.support.outputs import refusal
from tests.support.places import ROOT

EXAMPLES = ROOT / "docs/examples"
Rows = list[dict[str, Any]]
ALL_CLASSES = ("clean", "suspicious", "dirty")
ALWAYS = ("--index", "scan:crawl.jsonl", "--workers", "1", "-q", "--rule", "mini")


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The files of the pages: a benchmark of 120 questions, a crawl with 60 of them, and scores."""
    for name in ("exam.jsonl", "crawl.jsonl", "scores.jsonl", "corpus.jsonl"):
        (tmp_path / name).symlink_to(EXAMPLES / name)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def read_lines(path: str) -> Rows:
    return [json.loads(line) for line in Path(path).read_text().splitlines()]


def contaminate(*more: str | Path) -> Ran:
    return invoke("contaminate", "exam.jsonl", *ALWAYS, *more)


# What is in the crawl


@pytest.mark.usefixtures("here")
def test_shares_effects_and_evidence_go_to_files_of_their_own(subtests: pytest.Subtests) -> None:
    files = ("--shares", "s.csv", "--effects", "e.csv", "--contexts", "c.csv")
    more = ("--index", "scan:corpus.jsonl", "--scores", "scores.jsonl", *files)
    entries = pd.DataFrame(contaminate(*more, "--format", "csv").rows)
    indexes = list(dict.fromkeys(entries["index"]))
    assert indexes == ["scan:crawl.jsonl", "scan:corpus.jsonl", "union"]
    shares = pd.read_csv("s.csv")
    for index in indexes:
        counted = entries[entries["index"] == index]["verdict"].value_counts()
        of_classes = shares[shares["index"] == index][:3]
        expected = [counted.get(verdict, 0) for verdict in of_classes["verdict"]]
        with subtests.test(index=index):
            assert of_classes["n"].tolist() == expected
            assert of_classes["share"].tolist() == [n / 120 for n in expected]
    scores = pd.DataFrame(read_lines("scores.jsonl")).merge(
        entries[entries["index"] == "union"], on="id"
    )
    effects = pd.read_csv("e.csv")
    of_union: list[Any] = list(effects[effects["index"] == "union"].itertuples())
    for row in of_union:
        with subtests.test(model=row.model, method=row.method):
            own = scores[(scores["model"] == row.model) & (scores["method"] == row.method)]
            means = own.groupby("verdict")["value"].mean()
            assert (row.accuracy_clean, row.accuracy_dirty) == pytest.approx(
                (means["clean"], means["dirty"])
            )
            assert row.difference == pytest.approx(means["dirty"] - means["clean"])
    evidence = pd.read_csv("c.csv")
    not_clean = entries[(entries["index"] == "scan:crawl.jsonl") & (entries["verdict"] != "clean")]
    assert set(evidence["pattern"]) == set(not_clean["rarest"])
    pages = [row["text"] for row in read_lines("crawl.jsonl")]
    texts = [f"{row.left}{row.match}{row.right}" for row in evidence.fillna("").itertuples()]
    assert [text for text in texts if not any(text in page for page in pages)] == []


@pytest.mark.usefixtures("here")
def test_answers_near_the_questions_are_told_apart() -> None:
    exam = pd.read_json("exam.jsonl", lines=True)
    # The crawl ends each whole question with "Answer: see page N.", where N is in the question.
    page = exam["question"].str.extract(r"takes (\d+)")[0]
    exam["answer"] = ("page " + page).where(exam["id"] % 10 == 1, "page 4321")
    exam.to_json("answers.jsonl", orient="records", lines=True)
    files = ("--shares", "s.csv", "--scores", "scores.jsonl", "--effects", "e.csv")
    command = ("contaminate", "answers.jsonl", *ALWAYS, "--answer-field", "answer", *files)
    assert "dirty, answer not near" in invoke(*command).stdout
    rows = pd.DataFrame(invoke(*command, "--format", "csv").rows)
    dirty = rows[rows["verdict"] == "dirty"]
    near = dirty["id"].astype(int) % 10 == 1
    assert dirty["answer"].to_list() == ["near" if is_near else "not near" for is_near in near]
    shares = pd.read_csv("s.csv").set_index("verdict")["n"]
    assert shares["dirty, answer near"] == near.sum() == shares["dirty, answer not near"] == 12
    scored = pd.DataFrame(read_lines("scores.jsonl")).merge(dirty, on="id")
    means = scored.groupby(["model", "method", "answer"])["value"].mean()
    effects = pd.read_csv("e.csv").dropna(subset="answer")
    assert len(effects) == len(means) == 16
    accuracies = effects.set_index(["model", "method", "answer"])["accuracy_dirty"]
    assert accuracies.to_dict() == pytest.approx(means.to_dict())


# Benchmarks


@pytest.mark.parametrize(
    ("content", "more", "problem"),
    [
        pytest.param(
            '{"id": 1, "question": ""}',
            [],
            "1: question is empty; correct the row or leave it out",
            id="empty",
        ),
        pytest.param(
            '{"id": 1, "question": null}',
            [],
            "1: question is None, which is not text; correct",
            id="null",
        ),
        pytest.param(
            '{"id": 1, "question": ["a"]}',
            [],
            "1: question is ['a'], which is not text; correct",
            id="a list",
        ),
        pytest.param(
            '{"id": true, "question": "a"}',
            [],
            "1: id is True, which is not text; correct",
            id="a truth value as id",
        ),
        pytest.param(
            '{"id": "", "question": "a"}', [], "1: id is empty; correct", id="an empty id"
        ),
        pytest.param(
            '{"id": NaN, "question": "a"}',
            [],
            "1: id is nan, which is not text; correct",
            id="no number as id",
        ),
        pytest.param(
            '{"question": "a"}\n{"id": 1}',
            [],
            "2: no column question; the columns are id; name",
            id="no question in one line",
        ),
        pytest.param(
            '{"id": 1, "Problem": "a", "answer": 1}',
            [],
            "1: no column question; the columns are id, Problem, answer; --field Problem if that",
            id="another field",
        ),
        pytest.param(
            '{"ID": 1, "question": "a"}',
            ["--id-field", "id"],
            "1: no column id; the columns are ID, question; --id-field ID if that is meant",
            id="another id field",
        ),
        pytest.param(
            '{"id": 1, "question": "a"}\n{"id": 2, "question": "b"}\n{"id": "1", "question": "c"}',
            [],
            "3: the id '1' is also at q.jsonl:1; entries need ids that differ: --id-field names",
            id="an id twice",
        ),
        pytest.param(
            '{"id": 1, "question": "a\\ud83d b"}',
            [],
            "1: question has a lone surrogate at character 1, half of a character; correct the row",
            id="a lone surrogate",
        ),
        pytest.param(
            '{"id": 1, "question": "caf\udce9"}',
            [],
            "1: not valid JSON: 'utf-8' codec can't decode",
            id="not UTF-8",
        ),
        pytest.param("", [], " it is empty", id="an empty file"),
        pytest.param("[1]", [], " its content is", id="a list as entry"),
    ],
)
def test_what_can_t_be_an_entry_is_one_line(
    content: str, more: list[str], problem: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("q.jsonl").write_bytes(content.encode(errors="surrogateescape"))
    told = refusal("contaminate", "q.jsonl", "--index", "scan:q.jsonl", *more)
    assert told.startswith("q.jsonl" if problem == " its content is" else f"q.jsonl:{problem}")


@pytest.mark.parametrize(
    ("more", "problem"),
    [
        pytest.param(
            ["--effects", "e.csv"],
            "--effects: requires --scores, which has the scores",
            id="effects without scores",
        ),
        pytest.param(
            ["--score-rule", "x"],
            "--score-rule: requires --scores",
            id="a score rule without scores",
        ),
        pytest.param(
            ["--scores", "scores.jsonl", "--score-rule", "number"],
            "--score-rule number: expected one of numbers; did you mean numbers?",
            id="an unknown score rule",
        ),
        pytest.param(
            ["--scores", "exam.jsonl"],
            "exam.jsonl:1: no columns dataset, model, method, rule, va",
            id="scores without columns",
        ),
        pytest.param(
            ["--rule", "minni"],
            "--rule minni: no such rule; did you mean mini?",
            id="an unknown rule",
        ),
        pytest.param(
            ["--shares", "x.csv", "--effects", "x.csv"],
            "--effects x.csv: --shares writes to the",
            id="two tables in one file",
        ),
        pytest.param(
            ["--figure", "f.gif"],
            "f.gif: a figure's name ends in .svg, .png or .pdf",
            id="a figure of another format",
        ),
        pytest.param(
            ["--answer-within", "9"],
            "--answer-within: requires --answer-field",
            id="a distance without answers",
        ),
        pytest.param(
            ["--answer-field", "answer"],
            "exam.jsonl:1: no column answer; the columns are id, question",
            id="no such answer field",
        ),
    ],
)
@pytest.mark.usefixtures("here")
def test_wrong_usage_is_one_line(more: list[str], problem: str) -> None:
    ran = contaminate(*more)
    assert (ran.code, ran.stdout, ran.stderr.count("\n")) == (2, "", 1)
    assert ran.stderr.startswith(f"Error: {problem}")


def test_a_folder_names_the_tables_in_it(here: Path) -> None:
    with pytest.raises(InputError, match=r"it is a folder; name one of its files: .*corpus\.jsonl"):
        read_entries(here, "question")


@pytest.mark.usefixtures("here")
def test_what_was_read_otherwise_than_meant_is_a_notice() -> None:
    texts = "Who?", "Is this a question of fifty characters, or of more?"
    content = "".join(json.dumps({"question": text}) + "\n" for text in texts).encode()
    ran = invoke(
        *("contaminate", "-", "--index", "scan:corpus.jsonl", "--sample", "9", "--rule", "mini"),
        content=content,
    )
    assert ran.code == 0
    assert ran.stderr == (
        "standard input: no column id, so ids are the numbers of the rows, from 1\n"
        "--sample 9: the file has no more than 2 entries; all are looked at\n"
        "entries no longer than a window: 1, the first is 1; each is looked for as a whole"
        " (--short skip leaves out shorter ones)\n"
    )


def test_a_sample_is_drawn_by_its_seed_and_keeps_the_order(here: Path) -> None:
    entries = read_entries(here / "exam.jsonl", "question").entries
    drawn = draw_sample(entries, 30, 1)
    assert [int(one.id) for one in drawn] == sorted(int(one.id) for one in drawn)
    assert len({one.id for one in drawn}) == 30
    assert draw_sample(entries, 30, 1) == drawn != draw_sample(entries, 30, 2)
    times = Counter(one.id for seed in range(400) for one in draw_sample(entries, 30, seed))
    assert 60 < min(times.values()) <= max(times.values()) < 140  # 100 each are expected
    ran = contaminate("--sample", "30", "--seed", "4", "--shares", "s.csv")
    assert "30 of 120 entries were drawn at random with seed 4" in ran.stdout
    assert set(pd.read_csv("s.csv")["population"]) == {120}


# Screens and figures


@pytest.mark.parametrize(("width", "colour"), [(60, True), (80, False), (140, True)])
@pytest.mark.usefixtures("here")
def test_a_screen_fits_and_cuts_no_number(
    width: int, colour: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    monkeypatch.setenv("TERM" if colour else "NO_COLOR", "xterm")
    monkeypatch.setattr(Console, "is_terminal", True)
    command = ["--index", "scan:corpus.jsonl", "--scores", "scores.jsonl"]
    first, shown = (
        re.sub(r"\x1b\[[0-9;]*m", "", contaminate(*command, *more).stdout)
        for more in ((), ("--all",))
    )
    assert max(map(len, [*first.splitlines(), *shown.splitlines()])) <= width
    numbers = ("20.0 [13.8, 28.0]", "54.2 [45.3, 62.8]", "12.8 [-10.2, 32.3]", "0.339")
    assert not [text for text in numbers if text not in shown]
    assert "scan:corpus.jsonl: no dirty entries" in shown
    assert "rule mini: 50 characters" in shown


def shares(indexes: int, classes: tuple[str, ...], known: bool = True) -> list[ShareRow]:
    names = [f"scan:/data/corpora/a-long-name-of-a-corpus-{i}/*.jsonl.zst" for i in range(indexes)]
    return [
        ShareRow(
            name, "mini", verdict, 0.0, None, 1000, 1000, 300, 0, number / 10 + 0.05 if known
            else None, number / 10, number / 10 + 0.1, 0.95, None, "entries like these",
        )
        for name in [*names[: indexes - 1], "union"]
        for number, verdict in enumerate((*classes, "curve"))
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("indexes", "classes"),
    [
        pytest.param(1, ("clean", "dirty"), id="one index and two classes"),
        pytest.param(5, ALL_CLASSES, id="five indexes and all classes"),
    ],
)
def test_a_figure_has_a_mark_and_an_interval_per_share(
    indexes: int, classes: tuple[str, ...], tmp_path: Path
) -> None:
    rows = shares(indexes, classes)
    sheet = saved(tmp_path / "a.svg", rows)
    assert overlapping(sheet) == []
    drawn = marks(sheet)
    assert len(drawn) == indexes * len(classes) + indexes
    assert all({"data-value", "data-low", "data-high"} <= {*mark.attrib} for mark in drawn)
    assert any(" · union · " in (text or "") for text in texts_of(sheet, "title"))
    unknown = marks(saved(tmp_path / "b.svg", shares(indexes, classes, known=False)))
    assert len(unknown) == len(drawn)
    assert not any("data-value" in mark.attrib for mark in unknown)


def test_a_shell_is_offered_rules_and_columns(here: Path) -> None:
    assert offers("ngramscan contaminate exam.jsonl --rule gpt4") == ["gpt4", "gpt4-stripped"]
    assert offers("ngramscan contaminate exam.jsonl --field q") == ["question"]
    assert offers("ngramscan contaminate none.jsonl --field q") == []
    assert (here / "exam.jsonl").exists()
