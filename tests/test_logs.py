"""Logs of other tools as scores: genuine ones with known outcomes, the command, what is found."""

from __future__ import annotations

import csv
import json
from collections.abc import Sequence
from functools import partial
from math import comb
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import evalcore
from evalcore.cli.logs import logs_command
from evalcore.commands.log_reading import logs
from evalcore.logs import LogOptions, read_logs
from evalcore.logs.archive import open_archive
from evalcore.logs.decoding import read_bytes
from evalcore.logs.finding import recognise
from evalcore.score_files import read_scores
from evalcore.scoring.base import ScoreRow
from ngramscan.errors import InputError
from ngramscan.output import choose_target, write_rows
from ngramscan.output.options import Group
from tests.made_logs import failed, header, row, sample, write_eval, write_json, write_lm_eval

INSPECT = ("inspect/method_a.eval", "inspect/method_b.eval")
INSPECT_JSON = ("inspect/method_a.json", "inspect/method_b.json")
LM_EVAL = ("lm_eval/method_a", "lm_eval/method_b")
SIMPLE = ("simple/method_a.jsonl", "simple/method_b.jsonl")
UNKNOWN = {"q056", "q068", "q071", "q073"}


def paired(rows: Sequence[ScoreRow], rule: str) -> tuple[int, int, int]:
    """Count the pairs of two methods, and those in which only the one or the other is right."""
    methods = list(dict.fromkeys(r.method for r in rows))
    first, second = (
        {r.id: r.value for r in rows if (r.method, r.rule) == (method, rule)} for method in methods
    )
    pairs = [(first[key], second[key]) for key in first.keys() & second.keys()]
    known = [(a, b) for a, b in pairs if a is not None and b is not None]
    return len(known), sum(a > b for a, b in known), sum(b > a for a, b in known)


def exact_p(b: int, c: int) -> float:
    """McNemar's exact test, by its definition."""
    tail = sum(comb(b + c, k) for k in range(min(b, c) + 1))
    return min(1.0, float(2 * tail) / float(2 ** (b + c)))


# Genuine logs


@pytest.mark.parametrize(
    ("paths", "missing", "rule", "expected", "p"),
    [
        pytest.param(INSPECT, "apart", "answer", (116, 17, 9), 0.168638, id=".eval, apart"),
        pytest.param(
            INSPECT, "as-recorded", "answer", (118, 18, 9), 0.122078, id=".eval, as recorded"
        ),
        pytest.param(INSPECT_JSON, "apart", "answer", (116, 17, 9), 0.168638, id=".json, apart"),
        pytest.param(
            INSPECT_JSON, "as-recorded", "answer", (118, 18, 9), 0.122078, id=".json, as recorded"
        ),
        pytest.param(LM_EVAL, "apart", "strict-match", (116, 17, 9), 0.168638, id="strict, apart"),
        pytest.param(
            *(LM_EVAL, "as-recorded", "strict-match", (120, 19, 9), 0.087159),
            id="strict, as recorded",
        ),
        pytest.param(
            *(LM_EVAL, "apart", "flexible-extract", (116, 22, 12), 0.121449),
            id="flexible, apart",
        ),
        pytest.param(
            *(LM_EVAL, "as-recorded", "flexible-extract", (120, 24, 12), 0.065245),
            id="flexible, as recorded",
        ),
        pytest.param(SIMPLE, "apart", "correct", (116, 17, 9), 0.168638, id="id and correct"),
    ],
)
def test_genuine_logs_give_the_known_pairs(
    shared: Path,
    paths: Sequence[str],
    missing: str,
    rule: str,
    expected: tuple[int, int, int],
    p: float,
) -> None:
    options = LogOptions(missing=missing, dataset="word-problems", model="made")
    rows = read_logs([shared / "logs" / path for path in paths], options).rows
    assert paired(rows, rule) == expected
    assert exact_p(*expected[1:]) == pytest.approx(p, abs=5e-7)


@pytest.mark.parametrize(
    ("paths", "no_answer", "rule", "expected", "n_unknown"),
    [
        pytest.param(INSPECT, "wrong", "answer", (118, 18, 9), 2, id=".eval"),
        pytest.param(INSPECT, "exclude", "answer", (116, 17, 9), 2, id=".eval, excluded"),
        pytest.param(LM_EVAL, "wrong", "strict-match", (120, 19, 9), 0, id="strict"),
        pytest.param(LM_EVAL, "exclude", "strict-match", (116, 17, 9), 0, id="strict, excluded"),
        pytest.param(LM_EVAL, "wrong", "flexible-extract", (120, 24, 12), 0, id="flexible"),
        pytest.param(
            LM_EVAL, "exclude", "flexible-extract", (116, 22, 12), 0, id="flexible, excluded"
        ),
        pytest.param(SIMPLE, "wrong", "correct", (116, 17, 9), 4, id="id and correct"),
    ],
)
def test_genuine_logs_are_compared_on_what_is_known_of_them(
    shared: Path,
    tmp_path: Path,
    paths: Sequence[str],
    no_answer: str,
    rule: str,
    expected: tuple[int, int, int],
    n_unknown: int,
) -> None:
    scores = tmp_path / "scores.jsonl"
    options = LogOptions(dataset="word-problems", model="made")
    rows = read_logs([shared / "logs" / path for path in paths], options).rows
    write_rows(rows, ScoreRow, choose_target(None, scores))
    methods = list(dict.fromkeys(row.method for row in rows))
    chosen: dict[str, Any] = {"rule": [rule], "no_answer": no_answer}
    frame = evalcore.compare(scores, baseline=methods[0], **chosen)
    (found,) = frame.to_dict("records")
    n, only_first, only_second = expected
    assert (found["n"], found["c"], found["b"]) == expected
    assert found["difference"] == pytest.approx(100 * (only_second - only_first) / n)
    assert found["n_unknown"] == n_unknown
    frame = evalcore.flips(scores, baseline=methods[0], treatment=methods[1], **chosen)
    (found,) = frame.to_dict("records")
    assert (found["n"], found["baseline_only"], found["treatment_only"]) == expected
    assert found["n_unknown"] == n_unknown


def test_genuine_runs_of_one_method_are_not_merged(shared: Path, tmp_path: Path) -> None:
    scores = tmp_path / "scores.jsonl"
    rows = read_logs(sorted((shared / "logs/inspect").glob("*.eval"))).rows
    write_rows(rows, ScoreRow, choose_target(None, scores))
    compare = partial(evalcore.compare, scores, baseline="A", rule=["answer"])
    names = "2026-11-20T10-50-10_\\w+ \\(120 rows\\), 2026-11-20T10-50-12_\\w+ \\(80 rows\\)"
    with pytest.raises(
        InputError, match=f"mockllm/model, A, answer has 2 runs: {names}; --run NAME"
    ):
        compare()
    (once,) = compare(run=["10-50-10"]).to_dict("records")
    assert (once["n"], once["c"], once["b"], once["n_unknown"]) == (118, 18, 9, 2)
    (twice,) = compare(run=["latest"]).to_dict("records")
    assert (twice["n"], twice["n_unknown"]) == (79, 81)
    planned, more = truth(shared, "truth.csv"), truth(shared, "truth_more.csv")
    differences = [
        second - first
        for id_, values in more.items()
        for first in (values["epochs_A_1"], values["epochs_A_2"])
        for second in [planned[id_]["B"]]
        if first is not None and second is not None
    ]
    assert len(differences) == 79
    assert twice["difference"] == pytest.approx(100 * sum(differences) / 79)


def truth(shared: Path, name: str) -> dict[str, dict[str, float | None]]:
    with (shared / "logs" / name).open(newline="") as file:
        return {
            line["id"]: {
                key: float(text) if text else None
                for key, text in line.items()
                if key not in {"id", "cell"}
            }
            for line in csv.DictReader(file)
        }


@pytest.mark.parametrize(
    ("paths", "rule"),
    [
        pytest.param(INSPECT, "answer", id=".eval"),
        pytest.param(INSPECT_JSON, "answer", id=".json"),
        pytest.param(LM_EVAL, "strict-match", id="lm-eval"),
        pytest.param(SIMPLE, "correct", id="id and correct"),
    ],
)
def test_every_verdict_of_genuine_logs_is_the_planned_one(
    shared: Path, paths: Sequence[str], rule: str
) -> None:
    planned = truth(shared, "truth.csv")
    for path, column in zip(paths, "AB", strict=True):
        options = LogOptions(rules=(rule,), dataset="word-problems", model="made")
        found = {r.id: r.value for r in read_logs([shared / "logs" / path], options).rows}
        assert found == {id_: values[column] for id_, values in planned.items()}


def test_the_flexible_filter_of_genuine_logs_reads_as_planned(shared: Path) -> None:
    planned = truth(shared, "truth_more.csv")
    for path, column in zip(LM_EVAL, ("A_flexible", "B_flexible"), strict=True):
        options = LogOptions(rules=("flexible-extract",), missing="as-recorded")
        found = {r.id: r.value for r in read_logs([shared / "logs" / path], options).rows}
        assert found == {id_: values[column] for id_, values in planned.items()}


def test_both_formats_of_a_genuine_run_give_the_same_rows_and_tokens(shared: Path) -> None:
    for one, other in zip(INSPECT, INSPECT_JSON, strict=True):
        zipped, plain = (read_logs([shared / "logs" / path]) for path in (one, other))
        assert zipped.rows == plain.rows
        assert zipped.usage == plain.usage
    with pytest.raises(InputError, match=r"method_a\.json: it is the same run as .*a\.eval"):
        read_logs([shared / "logs/inspect"])


def test_failures_of_genuine_logs_are_counted_by_kind(shared: Path) -> None:
    def told(path: str) -> str:
        return "\n".join(read_logs([shared / "logs" / path]).notices)

    scored = "failures that the log scores as wrong"
    assert f"2 of 120 samples are {scored}: 1 refusal, 1 empty reply" in told(INSPECT[1])
    assert "2 of 120 samples are failures without a score in the log: 2 errors" in told(INSPECT[1])
    assert f"4 of 120 samples are {scored}: 1 apparent refusal, 3 empty replies" in told(LM_EVAL[1])
    assert "failures" not in told(INSPECT[0]) + told(LM_EVAL[0])
    rows = read_logs([shared / "logs" / INSPECT[1]]).rows
    assert {r.id for r in rows if r.value is None} == UNKNOWN


def test_grades_epochs_and_repeats_of_genuine_logs(shared: Path) -> None:
    planned = truth(shared, "truth_more.csv")
    folder = shared / "logs"
    graded = {r.id: r.value for r in read_logs([folder / "inspect/method_a_graded.eval"]).rows}
    assert graded == {id_: values["graded_A"] for id_, values in planned.items()}
    epochs = read_logs([folder / "inspect/method_a_epochs2.eval"])
    assert len(epochs.rows) == 80
    for r in epochs.rows:
        assert r.value == planned[r.id][f"epochs_A_{r.epoch}"]
    assert any("1 of 80 samples are failures" in notice for notice in epochs.notices)
    repeats = read_logs([folder / "lm_eval/method_a_repeats2"])
    assert len(repeats.rows) == 40
    assert {r.epoch for r in repeats.rows} == {None}
    assert any("2 replies and one score by each rule" in notice for notice in repeats.notices)
    few = read_logs([folder / "inspect/method_b_12_samples.json"]).rows
    strict = truth(shared, "truth.csv")
    assert {r.id: r.value for r in few} == {r.id: strict[r.id]["B"] for r in few}
    assert len(few) == 12


def test_tokens_of_genuine_logs_add_up(shared: Path) -> None:
    # The header of the log says: 1,920 of 8,142 prompt tokens came from the cache.
    usage = read_logs([shared / "logs/inspect/method_a_graded.eval"]).usage
    assert sum(r.prompt_tokens or 0 for r in usage) == 6222 + 1920
    assert sum(r.completion_tokens or 0 for r in usage) == 2491
    unknown = read_logs([shared / "logs" / INSPECT[1]]).usage
    assert {r.id for r in unknown if r.completion_tokens is None} == {"q068", "q071"}


# Scores of this package, and the simplest file

ROW = ScoreRow("sums", "made", "cot", "1", None, "strict", 1.0, "5", "boxed/1", "equal")


@pytest.mark.parametrize("suffix", [".csv", ".jsonl", ".json", ".parquet"])
def test_scores_of_this_package_stay_as_they_are_but_for_names(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"scores{suffix}"
    write_rows([ROW], ScoreRow, choose_target(None, path))
    assert read_logs([path]).rows == [ROW]
    [renamed] = read_logs([path], LogOptions(dataset="d", model="m", method="pot")).rows
    assert (renamed.dataset, renamed.model, renamed.method) == ("d", "m", "pot")
    assert read_logs([path], LogOptions(rules=("strict",))).rows == [ROW]
    with pytest.raises(InputError, match=r"--rule lenient: not in these logs; there are strict"):
        read_logs([path], LogOptions(rules=("lenient",)))


NAMES = LogOptions(dataset="sums", model="made")


def test_lines_of_id_and_correct_are_scores_of_the_method_that_the_file_names(
    tmp_path: Path,
) -> None:
    path = tmp_path / "cot.jsonl"
    path.write_text(
        '{"id": "a", "correct": true}\n\n{"id": 2, "correct": false}\n'
        '{"id": "c", "correct": null}\n'
    )
    found = [(r.method, r.id, r.rule, r.value) for r in read_logs([path], NAMES).rows]
    values = [("a", 1.0), ("2", 0.0), ("c", None)]
    assert found == [("cot", id_, "correct", value) for id_, value in values]
    assert read_logs([path], NAMES).rows[2].reason == "recorded as unknown"
    with pytest.raises(InputError, match=r"it does not name the dataset; --dataset NAME does"):
        read_logs([path])


@pytest.mark.parametrize(
    "line",
    [
        pytest.param('{"id": "b", "correct": "yes"}', id="a word"),
        pytest.param('{"id": "b"}', id="nothing"),
        pytest.param('{"id": null, "correct": true}', id="no id"),
        pytest.param("{", id="no JSON"),
    ],
)
def test_malformed_lines_of_id_and_correct_are_refused(tmp_path: Path, line: str) -> None:
    path = tmp_path / "cot.jsonl"
    path.write_text(f'{{"id": "a", "correct": true}}\n{line}\n')
    with pytest.raises(InputError, match=r"cot\.jsonl:2: "):
        read_logs([path], NAMES)


# What is found


def made_folder(folder: Path) -> Path:
    """A folder with logs of both tools, scores, and a file that is none of them."""
    write_eval(folder / "inspect" / "a.eval", [sample("s1")], header(dataset={}))
    pot = header(eval_id="E2", metadata={"method": "pot"}, dataset={})
    write_json(folder / "inspect" / "b.json", [sample("s1")], pot)
    write_lm_eval(folder / "lm", [row(1), row(2), row(3)], task="terms")
    write_rows([ROW], ScoreRow, choose_target(None, folder / "scores.json"))
    (folder / "notes.json").write_text('{"by": "me"}')
    (folder / "problems.jsonl").write_text('{"id": 1, "question": "?"}\n')
    (folder / "notes.txt").write_text("not looked at")
    return folder


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "inspect").mkdir()
    return made_folder(tmp_path)


@pytest.mark.parametrize(
    ("layout", "methods", "passed_over"),
    [
        pytest.param("auto", ["cot", "pot", "cot", "cot", "cot", "cot"], 2, id="auto"),
        pytest.param("inspect", ["cot", "pot"], 4, id="inspect"),
        pytest.param("lm-eval", ["cot", "cot", "cot"], 5, id="lm-eval"),
        pytest.param("scores", ["cot"], 5, id="scores"),
    ],
)
def test_logs_in_folders_are_found_and_other_files_told(
    folder: Path, layout: str, methods: list[str], passed_over: int
) -> None:
    scores = read_logs([folder], LogOptions(layout=layout))
    assert [r.method for r in scores.rows] == methods
    assert scores.notices[0].startswith(f"{folder}: not read, since they are no such logs: ")
    shown = scores.notices[0].removesuffix(", …").count(", ") + 1
    assert shown == 1 + min(passed_over, 3), "and the comma of the sentence"
    assert scores.notices[0].endswith(", …") is (passed_over > 3)


def test_a_log_that_is_named_twice_is_read_once(folder: Path) -> None:
    log = folder / "inspect" / "a.eval"
    assert len(read_logs([log, folder / "inspect", folder / "lm" / ".." / "inspect"]).rows) == 2


@pytest.mark.parametrize(
    ("name", "layout", "message"),
    [
        pytest.param("none.eval", "auto", "no such file or folder", id="nothing there"),
        pytest.param("notes.json", "auto", "no log that is known; a log of Inspect", id="unknown"),
        pytest.param("problems.jsonl", "auto", "no log that is known", id="unknown lines"),
        pytest.param("list.jsonl", "auto", "no log that is known", id="lines of lists"),
        pytest.param("notes.txt", "auto", "no log that is known", id="another suffix"),
        pytest.param("lm/results_*.json", "auto", "without the samples, which are", id="results"),
        pytest.param("lm/results_*.json", "lm-eval", "without the samples", id="results, named"),
        pytest.param("inspect/a.eval", "scores", "another layout", id="another layout"),
        pytest.param("inspect/a.eval", "x", "--layout x: one of auto,", id="unknown layout"),
        pytest.param("inspect/b.json", "lm-eval", "another layout; samples", id="named as other"),
        pytest.param("notes.json", "inspect", "missing required field `eval`", id="named"),
        pytest.param("notes.json", "lm-eval", "notes.json:1: Object missing", id="named too"),
        pytest.param("empty", "auto", "no logs there", id="an empty folder"),
        pytest.param("lm", "inspect", "no logs there", id="a folder of the other tool"),
    ],
)
def test_what_is_no_log_is_refused(folder: Path, name: str, layout: str, message: str) -> None:
    (folder / "empty").mkdir()
    (folder / "list.jsonl").write_text("[1]\n")
    path = next(iter(folder.glob(name)), folder / name)
    with pytest.raises(InputError) as caught:
        read_logs([path], LogOptions(layout=layout))
    assert message in str(caught.value)


def test_what_can_not_be_opened_is_refused(tmp_path: Path) -> None:
    # A folder can't be read as a file, whoever asks.
    readers = (read_bytes, recognise, lambda path, most: open_archive(path, most).__enter__())
    for read in readers:
        with pytest.raises(InputError, match=f"{tmp_path}: can't be read"):
            read(tmp_path, 1000)


def test_an_unknown_way_to_treat_failures_is_refused(folder: Path) -> None:
    with pytest.raises(InputError, match="--missing zero: one of apart, as-recorded was expected"):
        read_logs([folder], LogOptions(missing="zero"))


# The command


def invoke(*arguments: str | Path) -> tuple[int, str, str]:
    main = Group("evalcore", commands={"logs": logs_command})
    result = CliRunner().invoke(main, ["logs", *map(str, arguments)])
    return result.exit_code, result.stdout, result.stderr


@pytest.fixture
def log(tmp_path: Path) -> Path:
    samples = [sample("s1"), sample("s2", "I", text="", answer=None), failed("s3")]
    return write_eval(tmp_path / "log.eval", samples)


def test_the_command_writes_scores_that_can_be_read_again(log: Path) -> None:
    target = log.with_name("scores.jsonl")
    code, stdout, stderr = invoke(log, "-o", target)
    assert (code, stdout) == (0, "")
    assert stderr == (
        f"{log}: 1 of 3 samples are failures that the log scores as wrong: 1 empty reply; they "
        f"have no value here\n{log}: 1 of 3 samples are failures without a score in the log: "
        "1 error\n"
    )
    assert [r.value for r in read_scores(target)] == [1.0, None, None]
    assert invoke(log, "-o", target, "-q", "--missing", "as-recorded") == (0, "", "")
    assert [r.value for r in read_scores(target)] == [1.0, 0.0, None]


def test_the_command_prints_rows_or_a_summary(log: Path) -> None:
    code, stdout, _ = invoke(log, "--format", "jsonl", "--method", "pot", "--rule", "answer")
    assert code == 0
    rows = [json.loads(line) for line in stdout.splitlines()]
    assert [(r["method"], r["rule"]) for r in rows] == [("pot", "answer")] * 3
    code, stdout, _ = invoke(log)
    assert code == 0
    cells = [line.split() for line in stdout.splitlines()]
    assert ["sums", "lab/made", "cot", "answer", "2", "50.0"] in [line[:6] for line in cells]
    assert cells[1][-3:] == ["no", "answer", "unknown"]
    assert [line[-2:] for line in cells if line[:1] == ["sums"]] == [["1", "1"]]


def test_the_command_writes_tokens_to_a_file_of_their_own(log: Path, tmp_path: Path) -> None:
    usage = tmp_path / "usage.csv"
    assert invoke(log, "--usage", usage, "-q", "--format", "csv")[0] == 0
    with usage.open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [r["prompt_tokens"] for r in rows] == ["10", "10", ""]
    write_lm_eval(tmp_path / "lm", [row(1), row(2), row(3)])
    code, _, stderr = invoke(tmp_path / "lm", "--usage", usage)
    assert (code, "these logs do not record tokens" in stderr) == (0, True)


def test_wrong_usage_is_one_line_and_ends_with_2(log: Path) -> None:
    for arguments in (("none.eval",), (log, "--rule", "f1"), (log, "-o", "scores.txt")):
        code, stdout, stderr = invoke(*arguments)
        assert (code, stdout) == (2, "")
        assert stderr.startswith("Error: ")
        assert stderr.count("\n") == 1
    assert invoke()[0] == 2


def test_the_function_returns_the_rows_of_the_command(log: Path, tmp_path: Path) -> None:
    usage = tmp_path / "usage.jsonl"
    frame = logs(log, rule="answer", usage=usage, missing="as-recorded")
    assert list(frame["id"]) == ["s1", "s2", "s3"]
    assert frame["value"].isna().tolist() == [False, False, True]
    assert len(usage.read_text().splitlines()) == 3
