"""Logs of other tools as scores: genuine ones with known outcomes, the command, what is found."""

import json
import re
from pathlib import Path
from typing import Any, get_args

import pandas as pd
import pytest

import evalcore
from evalcore.commands.logs import LogLayout, read_logs
from evalcore.commands.logs.kinds import KINDS
from evalcore.scores import ScoreRow, read_scores
from ngramscan.errors import InputError
from ngramscan.reporting import choose_target, write_rows
from tests.support.command import invoke
from tests.support.made_logs import (
    TIME,
    failed,
    header,
    refused,
    row,
    sample,
    write_inspect,
    write_lm_eval,
)

NAMES: dict[str, Any] = {"dataset": "sums", "model": "made"}

# Genuine logs


def truth(shared: Path) -> pd.DataFrame:
    both = (shared / "logs" / name for name in ("truth.csv", "truth_more.csv"))
    found = pd.concat([pd.read_csv(path, index_col="id") for path in both], axis=1)
    return found.astype(object).where(found.notna(), None)


@pytest.mark.parametrize("letter", ["A", "B"])
@pytest.mark.parametrize(
    ("path", "wanted", "column", "missing"),
    [
        pytest.param("inspect/method_{}.eval", ["answer"], "{}", "apart", id="Inspect"),
        pytest.param(
            "lm_eval/method_{}", ["strict-match"], "{}", "apart", id="lm-evaluation-harness, strict"
        ),
        pytest.param(
            "lm_eval/method_{}",
            ["flexible-extract"],
            "{}_flexible",
            "as-recorded",
            id="lm-evaluation-harness, flexible",
        ),
        pytest.param("simple/method_{}.jsonl", ["correct"], "{}", "apart", id="simple lines"),
        pytest.param("inspect/method_a_graded.eval", [], "graded_A", "apart", id="Inspect, graded"),
    ],
)
def test_every_verdict_of_genuine_logs_is_the_planned_one(
    shared: Path, path: str, wanted: list[str], column: str, missing: Any, letter: str
) -> None:
    name = shared / "logs" / path.format(letter.lower())
    log = read_logs([name], replaced_names=NAMES, wanted=wanted, missing=missing)
    assert {row.id: row.value for row in log.rows} == dict(truth(shared)[column.format(letter)])


def test_failures_of_genuine_logs_are_counted_by_kind(shared: Path) -> None:
    def told(path: str) -> str:
        return "\n".join(read_logs([shared / "logs" / path]).notices)

    errors = "empty reply scored as wrong (1), error without a score (2), refusal scored as wrong"
    assert f"4 of 120 samples are failures: {errors} (1); they" in told("inspect/method_b.eval")
    replies = "apparent refusal scored as wrong (1), empty reply scored as wrong (3); they"
    assert f"4 of 120 samples are failures: {replies}" in told("lm_eval/method_b")
    assert "failures" not in told("inspect/method_a.eval") + told("lm_eval/method_a")
    assert "2 replies but one score per rule" in told("lm_eval/method_a_repeats2")


def test_both_formats_of_genuine_logs_agree_with_epochs_tokens_and_runs(
    shared: Path, subtests: pytest.Subtests
) -> None:
    planned, folder = truth(shared), shared / "logs/inspect"
    for name in ("method_a", "method_b"):
        with subtests.test(name=name):
            zipped, plain = (read_logs([folder / f"{name}{end}"]) for end in (".eval", ".json"))
            assert (zipped.rows, zipped.usage) == (plain.rows, plain.usage)
    assert {row.id for row in zipped.usage if row.completion_tokens is None} == {"q068", "q071"}
    few = read_logs([folder / "method_b_12_samples.json"]).rows
    assert len(few) == 12
    assert {(row.id, row.value) for row in few} < {(row.id, row.value) for row in zipped.rows}
    epochs = read_logs([folder / "method_a_epochs2.eval"])
    assert len(epochs.rows) == 80
    assert all(row.value == planned.at[row.id, f"epochs_A_{row.epoch}"] for row in epochs.rows)
    assert any("1 of 80 samples are failures" in notice for notice in epochs.notices)
    # The header of the log says: 1,920 of 8,142 prompt tokens came from the cache.
    usage = read_logs([folder / "method_a_graded.eval"]).usage
    assert sum(row.prompt_tokens or 0 for row in usage) == 6222 + 1920
    runs = "2 runs: 2026-11-20T10-50-10_\\w+ .120 rows., 2026-11-20T10-50-12_\\w+ .80 rows"
    assert re.search(f"answer has {runs}", "\n".join(read_logs(folder.glob("*a*.eval")).notices))


def test_genuine_logs_without_completions_or_scores_keep_what_is_known(
    shared: Path, tmp_path: Path
) -> None:
    content = json.loads((shared / "logs/inspect/method_b.json").read_bytes())
    recorded = read_logs([shared / "logs/inspect/method_b.json"]).rows
    for logged in content["samples"]:
        logged["output"].pop("completion", None)
    path = tmp_path / "old.json"
    path.write_text(json.dumps(dict(reversed(content.items()))))
    assert read_logs([path]).rows == recorded
    for logged in content["samples"]:
        logged.pop("scores")
    path.write_text(json.dumps(content))
    rows = read_logs([path]).rows
    assert len(rows) == 120
    assert {(row.rule, row.value, row.status) for row in rows} == {("answer", None, "unknown")}


# Scores of this package, and the simplest file

ROW = ScoreRow("sums", "made", "cot", "1", None, "strict", 1.0, "5", "boxed/1", "equal")


@pytest.mark.parametrize("suffix", [".csv", ".jsonl", ".json", ".parquet"])
def test_scores_of_this_package_stay_as_they_are_but_for_names(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"scores{suffix}"
    write_rows([ROW], ScoreRow, choose_target(None, path))
    assert read_logs([path]).rows == read_logs([path], wanted=["strict"]).rows == [ROW]
    (renamed,) = evalcore.logs(path, dataset="d", model="m", method="pot").to_dict("records")
    assert (renamed["dataset"], renamed["model"], renamed["method"]) == ("d", "m", "pot")
    with pytest.raises(InputError, match='rule="lenient": expected one of strict'):
        evalcore.logs(path, rule="lenient")


# What is found


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with logs of both tools, scores, and files that are none of them."""
    write_inspect(tmp_path / "inspect" / "a.eval", [sample("s1")], header(dataset={}))
    pot = header(eval_id="E2", metadata={"method": "pot"}, dataset={})
    write_inspect(tmp_path / "inspect" / "b.json", [sample("s1")], pot)
    write_lm_eval(tmp_path / "lm", [row(1), row(2), row(3)], "terms")
    write_rows([ROW], ScoreRow, choose_target(None, tmp_path / "scores.json"))
    (tmp_path / "notes.json").write_text('{"by": "me"}')
    (tmp_path / "problems.jsonl").write_text('{"id": 1, "question": "?"}\n')
    (tmp_path / "list.jsonl").write_text("[1]\n")
    (tmp_path / "notes.txt").write_text("not looked at")
    return tmp_path


@pytest.mark.parametrize(
    ("layout", "methods", "others"),
    [
        pytest.param(
            "auto",
            ["cot", "pot", "cot", "cot", "cot", "cot"],
            "list.jsonl, notes.json, problems.jsonl",
            id="auto",
        ),
        pytest.param(
            "inspect",
            ["cot", "pot"],
            f"list.jsonl, lm/samples_terms_{TIME}.jsonl, notes.json, …",
            id="inspect",
        ),
        pytest.param(
            "lm-eval",
            ["cot", "cot", "cot"],
            "inspect/a.eval, inspect/b.json, list.jsonl, …",
            id="lm-eval",
        ),
        pytest.param(
            "scores", ["cot"], "inspect/a.eval, inspect/b.json, list.jsonl, …", id="scores"
        ),
    ],
)
def test_logs_in_folders_are_found_once_and_other_files_told(
    folder: Path, layout: str, methods: list[str], others: str
) -> None:
    log = read_logs([folder, folder / "lm" / ".."], layout)
    assert [row.method for row in log.rows] == methods
    said = f": not logs, and not read: {others}"
    assert log.notices[:2] == [f"{folder}{said}", f"{folder}/lm/..{said}"]


@pytest.mark.parametrize(
    ("name", "layout", "message"),
    [
        pytest.param("none.eval", "auto", "no such file or folder", id="no such file"),
        pytest.param(
            "notes.json",
            "auto",
            "not a known log; expected a log of Inspect, or samples",
            id="notes",
        ),
        pytest.param(
            f"lm/results_{TIME}.json",
            "auto",
            "the samples, which are in files beside it; expected a log",
            id="results without samples",
        ),
        pytest.param(
            f"lm/results_{TIME}.json", "lm-eval", "without the samples", id="results, as lm-eval"
        ),
        pytest.param(
            "inspect/a.eval", "scores", "a log of Inspect; expected scores", id="a log, as scores"
        ),
        pytest.param(
            "notes.json", "inspect", "missing required field eval", id="notes, as inspect"
        ),
        pytest.param(
            "notes.json", "lm-eval", "notes.json:1: Object missing", id="notes, as lm-eval"
        ),
        pytest.param(
            "problems.jsonl",
            "scores",
            "no column of verdicts; expected id, method and value",
            id="questions, as scores",
        ),
        pytest.param("lm", "inspect", "contains no logs", id="samples, as inspect"),
        pytest.param(
            "empty.jsonl", "auto", "empty.jsonl: it is empty; expected a log", id="an empty file"
        ),
    ],
)
def test_what_is_no_log_is_refused(folder: Path, name: str, layout: str, message: str) -> None:
    (folder / "empty.jsonl").touch()
    refused(message, [folder / name], layout)


def test_each_kind_that_is_read_can_be_asked_for() -> None:
    assert set(get_args(LogLayout)) == {"auto"} | {kind.layout for kind in KINDS if kind.reader}


# The command


def test_the_command_writes_scores_tokens_and_a_summary(tmp_path: Path) -> None:
    target, usage, log = (tmp_path / name for name in ("scores.jsonl", "usage.csv", "log.eval"))
    write_inspect(log, [sample("s1"), sample("s2", "I", text="", answer=None), failed("s3")])
    kinds = "empty reply scored as wrong (1), error without a score (1)"
    said = f"{log}: 2 of 3 samples are failures: {kinds}; they have no value here\n"
    code, stdout, stderr = invoke("logs", log, "-o", target, "--usage", usage)
    assert (code, stdout, stderr[: len(said)]) == (0, "", said)
    assert re.search("sums +lab/made +cot +answer +2 +50.0 ", stderr), "the summary"
    assert [r.value for r in read_scores(target, ScoreRow)] == [1.0, None, None]
    assert pd.read_csv(usage).prompt_tokens.fillna(-1).tolist() == [10, 10, -1]
    assert invoke("logs", log, "-o", target, "-q", "--missing", "as-recorded") == (0, "", "")
    assert [r.value for r in read_scores(target, ScoreRow)] == [1.0, 0.0, None]
    cells = [line.split() for line in invoke("logs", log)[1].splitlines()]
    [summary] = [line for line in cells if line[:1] == ["sums"]]
    [header] = [line for line in cells if "accuracy" in line]
    assert header[-3:] == ["no", "answer", "unknown"]
    assert " ".join(summary[:6] + summary[-2:]) == "sums lab/made cot answer 2 50.0 1 1"
    write_lm_eval(tmp_path / "lm", [row(1), row(2), row(3)])
    assert "these logs do not record tokens" in invoke("logs", tmp_path / "lm", "--usage", usage)[2]


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        pytest.param("inspect", "a log of Inspect", id="a folder"),
        pytest.param("inspect/a.eval", "a log of Inspect", id="a log"),
        pytest.param("lm", "samples of lm-evaluation-harness", id="samples"),
        pytest.param("scores.json", "scores", id="scores"),
    ],
)
def test_logs_in_place_of_outputs_are_named_with_the_command_for_them(
    folder: Path, name: str, kind: str
) -> None:
    questions = folder / "problems.jsonl"
    cure = "already scored; not outputs; `evalcore logs {0}` reads them, `evalcore compare {0}`"
    code, _, stderr = invoke("score", folder / name, "--data", questions, "--rule", "numbers")
    assert (code, f"{kind}, {cure.format(folder / name)}" in stderr) == (2, True), stderr


def test_logs_in_place_of_outputs_are_not_shown(folder: Path) -> None:
    shown = invoke("show", "s1", "--outputs", folder / "lm")[2]
    assert "samples of lm-evaluation-harness, already scored" in shown
