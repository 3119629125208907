"""Logs of other tools as scores: genuine ones with known outcomes, the command, what is found."""

from __future__ import annotations

import csv
import re
import socket
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import evalcore
from evalcore.cli import main
from evalcore.logs import read_logs
from evalcore.scores import ScoreRow, read_scores
from ngramscan.errors import InputError
from ngramscan.output import choose_target, write_rows
from tests.made_logs import failed, header, row, sample, write_eval, write_json, write_lm_eval

INSPECT = ("inspect/method_a.eval", "inspect/method_b.eval")
INSPECT_JSON = ("inspect/method_a.json", "inspect/method_b.json")
LM_EVAL = ("lm_eval/method_a", "lm_eval/method_b")
SIMPLE = ("simple/method_a.jsonl", "simple/method_b.jsonl")
NAMES: dict[str, Any] = {"dataset": "sums", "model": "made"}

# Genuine logs


def truth(shared: Path) -> dict[str, dict[str, float | None]]:
    found: dict[str, dict[str, float | None]] = {}
    for name in ("truth.csv", "truth_more.csv"):
        with (shared / "logs" / name).open(newline="") as file:
            for line in csv.DictReader(file):
                id_, _ = line.pop("id"), line.pop("cell", None)
                values = {key: float(text) if text else None for key, text in line.items()}
                found[id_] = found.get(id_, {}) | values
    return found


@pytest.mark.parametrize(
    ("paths", "rules", "columns", "missing"),
    [
        (INSPECT, ["answer"], ("A", "B"), "apart"),
        (INSPECT_JSON, ["answer"], ("A", "B"), "apart"),
        (LM_EVAL, ["strict-match"], ("A", "B"), "apart"),
        (LM_EVAL, ["flexible-extract"], ("A_flexible", "B_flexible"), "as-recorded"),
        (SIMPLE, ["correct"], ("A", "B"), "apart"),
        (["inspect/method_a_graded.eval"], [], ["graded_A"], "apart"),
    ],
)
def test_every_verdict_of_genuine_logs_is_the_planned_one(
    shared: Path, paths: Sequence[str], rules: list[str], columns: Sequence[str], missing: str
) -> None:
    for path, column in zip(paths, columns, strict=True):
        log = read_logs([shared / "logs" / path], given=NAMES, wanted=rules, missing=missing)
        assert {r.id: r.value for r in log.rows} == {
            id_: values[column] for id_, values in truth(shared).items()
        }


def test_both_formats_of_a_genuine_run_give_the_same_rows_and_tokens(shared: Path) -> None:
    for one, other in zip(INSPECT, INSPECT_JSON, strict=True):
        zipped, plain = (read_logs([shared / "logs" / path]) for path in (one, other))
        assert (zipped.rows, zipped.usage) == (plain.rows, plain.usage)
    unknown = {row.id for row in zipped.usage if row.completion_tokens is None}
    assert unknown == {"q068", "q071"}
    few = read_logs([shared / "logs/inspect/method_b_12_samples.json"]).rows
    verdicts = {row.id: row.value for row in zipped.rows}
    assert [row.value for row in few] == [verdicts[row.id] for row in few]
    assert len(few) == 12
    with pytest.raises(InputError, match=r"method_a\.json: .* 'q001', answer: also in .*a\.eval"):
        read_logs([shared / "logs/inspect"])


def test_failures_of_genuine_logs_are_counted_by_kind(shared: Path) -> None:
    def told(path: str) -> str:
        return "\n".join(read_logs([shared / "logs" / path]).notices)

    errors = "empty reply scored as wrong (1), error without a score (2), refusal scored as wrong"
    assert f"4 of 120 samples are failures: {errors} (1); they" in told(INSPECT[1])
    replies = "apparent refusal scored as wrong (1), empty reply scored as wrong (3); they"
    assert f"4 of 120 samples are failures: {replies}" in told(LM_EVAL[1])
    assert "failures" not in told(INSPECT[0]) + told(LM_EVAL[0])
    assert "2 replies and one score by each rule" in told("lm_eval/method_a_repeats2")


def test_epochs_tokens_and_runs_of_genuine_logs(shared: Path) -> None:
    planned, folder = truth(shared), shared / "logs/inspect"
    epochs = read_logs([folder / "method_a_epochs2.eval"])
    assert len(epochs.rows) == 80
    assert all(row.value == planned[row.id][f"epochs_A_{row.epoch}"] for row in epochs.rows)
    assert any("1 of 80 samples are failures" in notice for notice in epochs.notices)
    # The header of the log says: 1,920 of 8,142 prompt tokens came from the cache.
    usage = read_logs([folder / "method_a_graded.eval"]).usage
    assert sum(row.prompt_tokens or 0 for row in usage) == 6222 + 1920
    runs = "2 runs: 2026-11-20T10-50-10_\\w+ .120 rows., 2026-11-20T10-50-12_\\w+ .80 rows"
    assert re.search(f"answer has {runs}", "\n".join(read_logs(folder.glob("*a*.eval")).notices))


# Scores of this package, and the simplest file

ROW = ScoreRow("sums", "made", "cot", "1", None, "strict", 1.0, "5", "boxed/1", "equal")


@pytest.mark.parametrize("suffix", [".csv", ".jsonl", ".json", ".parquet"])
def test_scores_of_this_package_stay_as_they_are_but_for_names(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"scores{suffix}"
    write_rows([ROW], ScoreRow, choose_target(None, path))
    assert read_logs([path]).rows == read_logs([path], wanted=["strict"]).rows == [ROW]
    renamed = evalcore.logs(path, dataset="d", model="m", method="pot")
    assert renamed[["dataset", "model", "method"]].values.tolist() == [["d", "m", "pot"]]
    with pytest.raises(InputError, match=r"--rule lenient: not scored; there are strict"):
        evalcore.logs(path, rule="lenient")


def test_lines_of_id_and_correct_are_scores_of_the_method_that_the_file_names(
    tmp_path: Path,
) -> None:
    path = tmp_path / "cot.jsonl"
    lines = ['{"id": "a", "correct": true}', "", '{"id": 2, "correct": false}']
    path.write_text("\n".join([*lines, '{"id": "c", "correct": null}']))
    log = read_logs([path], given=NAMES)
    assert [(r.method, r.rule, r.id, r.value) for r in log.rows] == [
        ("cot", "correct", *one) for one in (("a", 1.0), ("2", 0.0), ("c", None))
    ]
    assert (log.rows[2].reason, log.rows[2].status) == ("recorded as unknown", "unknown")
    with pytest.raises(InputError, match=r"it does not name the dataset; --dataset NAME does"):
        read_logs([path])
    for line in ('{"id": "b", "correct": "yes"}', '{"id": "b"}', '{"id": null, "correct": true}'):
        path.write_text(f"{lines[0]}\n{line}\n")
        with pytest.raises(InputError, match=r"cot\.jsonl:2: "):
            read_logs([path], given=NAMES)


# What is found


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with logs of both tools, scores, and files that are none of them."""
    (tmp_path / "inspect").mkdir()
    (tmp_path / "empty").mkdir()
    write_eval(tmp_path / "inspect" / "a.eval", [sample("s1")], header(dataset={}))
    pot = header(eval_id="E2", metadata={"method": "pot"}, dataset={})
    write_json(tmp_path / "inspect" / "b.json", [sample("s1")], pot)
    write_lm_eval(tmp_path / "lm", [row(1), row(2), row(3)], task="terms")
    write_rows([ROW], ScoreRow, choose_target(None, tmp_path / "scores.json"))
    (tmp_path / "notes.json").write_text('{"by": "me"}')
    (tmp_path / "problems.jsonl").write_text('{"id": 1, "question": "?"}\n')
    (tmp_path / "list.jsonl").write_text("[1]\n")
    (tmp_path / "notes.txt").write_text("not looked at")
    return tmp_path


@pytest.mark.parametrize(
    ("layout", "methods", "passed_over"),
    [
        ("auto", "cot pot cot cot cot cot", "list.jsonl, notes.json, problems.jsonl"),
        ("inspect", "cot pot", "list.jsonl, lm/samples_terms_*.jsonl, notes.json, …"),
        ("lm-eval", "cot cot cot", "inspect/a.eval, inspect/b.json, list.jsonl, …"),
        ("scores", "cot", "inspect/a.eval, inspect/b.json, list.jsonl, …"),
    ],
)
def test_logs_in_folders_are_found_once_and_other_files_told(
    folder: Path, layout: str, methods: str, passed_over: str
) -> None:
    again = folder / "lm" / ".."
    log = read_logs([folder, again], layout)
    assert [r.method for r in log.rows] == methods.split()
    [samples] = [path.name for path in folder.glob("lm/samples*")]
    passed_over = passed_over.replace("samples_terms_*.jsonl", samples)
    assert log.notices[:2] == [
        f"{path}: not read, since they are no such logs: {passed_over}" for path in (folder, again)
    ]


@pytest.mark.parametrize(
    ("name", "layout", "message"),
    [
        ("none.eval", "auto", "no such file or folder"),
        ("notes.json", "auto", "no log that is known; expected a log of Inspect, or samples"),
        ("problems.jsonl", "auto", "no log that is known"),
        ("list.jsonl", "auto", "no log that is known"),
        ("notes.txt", "auto", "no log that is known"),
        ("lm/results_*.json", "auto", "the samples, which are in files beside it; expected a log"),
        ("lm/results_*.json", "lm-eval", "without the samples"),
        ("inspect/a.eval", "scores", "a log of Inspect; expected scores"),
        ("inspect/b.json", "lm-eval", "a log of Inspect; expected samples"),
        ("notes.json", "inspect", "missing required field eval"),
        ("notes.json", "lm-eval", "notes.json:1: Object missing"),
        ("problems.jsonl", "scores", "no log that is known; expected scores, or lines of"),
        ("empty", "auto", "no logs there"),
        ("lm", "inspect", "no logs there"),
    ],
)
def test_what_is_no_log_is_refused(folder: Path, name: str, layout: str, message: str) -> None:
    path = next(iter(folder.glob(name)), folder / name)
    with pytest.raises(InputError, match=re.escape(message)):
        read_logs([path], layout)


@pytest.mark.parametrize("name", ["a.eval", "a.json", "a.jsonl"])
def test_what_can_not_be_opened_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.chdir(tmp_path)
    with socket.socket(socket.AF_UNIX) as opened:
        opened.bind(name)  # nobody can open it as a file
        with pytest.raises(InputError, match=rf"^{name}: "):
            read_logs([name])


# The command


def invoke(*arguments: str | Path) -> tuple[int, str, str]:
    result = CliRunner().invoke(main, ["logs", *map(str, arguments)])
    return result.exit_code, result.stdout, result.stderr


@pytest.fixture
def log(tmp_path: Path) -> Path:
    samples = [sample("s1"), sample("s2", "I", text="", answer=None), failed("s3")]
    return write_eval(tmp_path / "log.eval", samples)


def test_the_command_writes_scores_that_can_be_read_again(log: Path) -> None:
    target = log.with_name("scores.jsonl")
    kinds = "empty reply scored as wrong (1), error without a score (1)"
    said = f"{log}: 2 of 3 samples are failures: {kinds}; they have no value here\n"
    assert invoke(log, "-o", target) == (0, "", said)
    assert [r.value for r in read_scores(target)] == [1.0, None, None]
    assert invoke(log, "-o", target, "-q", "--missing", "as-recorded") == (0, "", "")
    assert [r.value for r in read_scores(target)] == [1.0, 0.0, None]


def test_the_command_prints_a_summary(log: Path) -> None:
    code, stdout, _ = invoke(log)
    cells = [line.split() for line in stdout.splitlines()]
    [summary] = [line for line in cells if line[:1] == ["sums"]]
    assert (code, cells[1][-3:]) == (0, ["no", "answer", "unknown"])
    assert " ".join(summary[:6] + summary[-2:]) == "sums lab/made cot answer 2 50.0 1 1"


def test_the_command_writes_tokens_to_a_file_of_their_own(log: Path, tmp_path: Path) -> None:
    usage = tmp_path / "usage.csv"
    assert invoke(log, "--usage", usage, "-q", "--format", "csv")[0] == 0
    with usage.open(newline="") as file:
        assert [r["prompt_tokens"] for r in csv.DictReader(file)] == ["10", "10", ""]
    write_lm_eval(tmp_path / "lm", [row(1), row(2), row(3)])
    code, _, stderr = invoke(tmp_path / "lm", "--usage", usage)
    assert (code, "these logs do not record tokens" in stderr) == (0, True)


def test_wrong_usage_is_one_line_and_ends_with_2(log: Path) -> None:
    assert invoke(log, "--rule", "f1") == (
        2,
        "",
        "Error: --rule f1: not scored; there are answer\n",
    )
    assert invoke()[0] == 2
