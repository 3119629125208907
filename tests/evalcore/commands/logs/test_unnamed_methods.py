"""Methods that logs do not name: the file, the folder or the task names them."""

from pathlib import Path
from typing import Any

import pytest

import evalcore
from evalcore.commands.logs import read_logs
from evalcore.commands.logs.readers import Log
from tests.support.command import invoke
from tests.support.made_logs import (
    header,
    instance,
    openai_events,
    sample,
    write_inspect,
    write_json_lines,
)

RANDOM = "5917cc37-8805-4453-bf5f-13411ea66ccf_samples.jsonl"
MADE = "2026-01-02T03-04-05+00-00_sums_Xy12"


def write_unnamed(path: Path, task: str = "sums", **changes: Any) -> Path:
    """Write a log of Inspect that doesn't say how the model was prompted."""
    path.parent.mkdir(parents=True, exist_ok=True)
    samples = [sample("s1", "C", input="2+3?", target="5"), sample("s2", input="4+1?", target="5")]
    about = {"metadata": None, "dataset": {}, "task": task, "eval_id": str(path), **changes}
    return write_inspect(path, samples, header(**about))


def methods(log: Log) -> list[str]:
    rows: list[Any] = [*log.rows, *log.usage]
    return list(dict.fromkeys(row.method for row in rows))


@pytest.mark.parametrize(
    ("names", "source", "expected"),
    [
        pytest.param(["cot.eval", "pot.eval"], "file", ["cot", "pot"], id="names of files"),
        pytest.param(["cot.json", "pot.eval"], "file", ["cot", "pot"], id="of both formats"),
        pytest.param(["cot/x.eval", "pot/y.eval"], "file", ["x", "y"], id="files in folders"),
        pytest.param(["cot/x.eval", "pot/x.eval"], "folder", ["cot", "pot"], id="one file name"),
        pytest.param(
            ["cot/logs.eval", "pot/logs.eval"], "folder", ["cot", "pot"], id="a common file name"
        ),
        pytest.param(
            [f"cot/{MADE}.eval", f"pot/{MADE}.eval"], "folder", ["cot", "pot"], id="the tool's name"
        ),
        pytest.param([f"{MADE}.eval"], "task", ["sums"], id="one log with the tool's name"),
        pytest.param(["log.eval"], "task", ["sums"], id="one log with a common name"),
    ],
)
@pytest.mark.parametrize("is_folder", [False, True], ids=["files", "their folder"])
def test_a_method_is_named_by_the_file_or_the_folder(
    tmp_path: Path, is_folder: bool, names: list[str], source: str, expected: list[str]
) -> None:
    paths = [write_unnamed(tmp_path / name) for name in names]
    log = read_logs([tmp_path] if is_folder else paths)
    assert methods(log) == expected
    named = f"these logs do not name the method, so it is the {source}: {', '.join(expected)}"
    assert f"{named} (`evalcore logs --method NAME` names it)" in log.notices


def test_two_tasks_of_one_folder_are_methods_of_one_benchmark(tmp_path: Path) -> None:
    for task in ("sums_cot", "sums_pot"):
        write_unnamed(tmp_path / f"2026-01-02T03-04-05+00-00_{task}_Xy.eval", task)
    [row] = evalcore.compare(tmp_path).to_dict("records")
    assert (row["dataset"], row["baseline"], row["treatment"]) == ("sums", "sums_cot", "sums_pot")


def test_two_logs_are_compared_by_the_names_of_their_files(tmp_path: Path) -> None:
    paths = [write_unnamed(tmp_path / name) for name in ("cot.eval", "pot.eval")]
    done = invoke("compare", *paths, "--format", "csv")
    assert done.code == 0
    assert "sums,lab/made,,answer,cot,pot,2," in done.stdout


def test_a_name_in_the_log_or_an_option_is_the_method(tmp_path: Path) -> None:
    paths = [
        write_unnamed(tmp_path / "a.eval", metadata={"method": "cot"}),
        write_unnamed(tmp_path / "b.eval"),
    ]
    assert methods(read_logs(paths)) == ["cot", "b"]
    log = read_logs(paths[1:], replaced_names={"method": "pot"})
    assert (methods(log), log.notices) == (["pot"], [])


def test_two_runs_of_one_task_stay_runs_of_one_method(tmp_path: Path) -> None:
    for hour in (3, 4):
        write_unnamed(tmp_path / f"2026-01-02T0{hour}-04-05+00-00_sums_Xy12.eval")
    log = read_logs([tmp_path])
    assert methods(log) == ["sums"]
    assert "sums, lab/made, sums, answer has 2 runs" in log.notices[-1]


def test_logs_of_other_tools_follow_the_same_rule(tmp_path: Path) -> None:
    for method in ("cot", "pot"):
        write_json_lines(tmp_path / f"{method}/{RANDOM}", [instance(1), instance(2)])
    assert methods(read_logs([tmp_path])) == ["cot", "pot"]
    events = openai_events(("a", "match", {"correct": True, "picked": "5"}))
    path = write_json_lines(tmp_path / "evals/run.jsonl", events)
    assert methods(read_logs([path])) == ["sums.test.v0"]
