"""The kinds of files: each form by which one is recognised, and what needs no mention."""

from collections.abc import Collection, Sequence
from pathlib import Path

import pandas as pd
import pytest

from evalcore.commands.logs import read_logs
from evalcore.commands.logs.kinds import recognise
from tests.support.made_logs import (
    helm_stats,
    refused,
    row,
    write_helm,
    write_json,
    write_json_lines,
    write_lm_eval,
)

RUN = "sums:model=lab_made"


def write_fields(path: Path, fields: Sequence[str]) -> Path:
    """Write a file of one row or object that has some fields, in the format of its name."""
    content = dict.fromkeys(fields, "1")
    if path.suffix == ".csv":
        pd.DataFrame([content]).to_csv(path, index=False)
    elif path.suffix == ".parquet":
        pd.DataFrame([content]).to_parquet(path)
    elif path.suffix == ".jsonl":
        write_json_lines(path, [content])
    else:
        write_json(path, content)
    return path


ROWS = ("dataset", "model", "method", "id", "rule")
READ = [
    ("inspect", "a.json", ("eval", "status")),
    ("lm-eval", "a.jsonl", ("doc_id", "filtered_resps")),
    ("every-eval-ever", "a.jsonl", ("schema_version", "sample_id", "evaluation")),
    ("helm", "per_instance_stats.jsonl", ("instance_id", "stats")),
    ("helm", "a.jsonl", ("instance_id", "train_trial_index", "stats")),
    ("lighteval", "a.parquet", ("metric", "model_response")),
    ("lighteval", "a.csv", ("metrics", "predictions")),
    ("lighteval", "details_a.parquet", ("other",)),
    ("openai-evals", "a.jsonl", ("spec",)),
    ("openai-evals", "a.jsonl", ("run_id", "event_id", "sample_id")),
    ("promptfoo", "a.json", ("results", "shareableUrl")),
    ("promptfoo", "a.json", ("results", "evalId")),
    ("promptfoo", "a.json", ("results", "stats", "version")),
    ("promptfoo", "a.jsonl", ("promptIdx", "testIdx")),
    ("promptfoo", "a.jsonl", ("gradingResult", "success")),
    ("scores", "a.jsonl", ROWS),
    ("scores", "a.csv", ROWS),
    ("scores", "a.parquet", ROWS),
    ("scores", "a.csv", ("question", "cot", "pot")),
]


@pytest.mark.parametrize(
    ("layout", "name", "fields"),
    [pytest.param(*case, id=f"{case[0]}: {', '.join(case[2])}") for case in READ],
)
def test_a_log_is_recognised_by_its_fields(
    tmp_path: Path, layout: str, name: str, fields: Sequence[str]
) -> None:
    assert recognise(write_fields(tmp_path / name, fields))[0].layout == layout


@pytest.mark.parametrize(
    ("name", "fields"),
    [
        pytest.param("a.json", ("eval",), id="Inspect"),
        pytest.param("a.jsonl", ("doc_id", "resps"), id="lm-evaluation-harness"),
        pytest.param("a.jsonl", ("schema_version", "sample_id"), id="Every Eval Ever"),
        pytest.param("a.jsonl", ("instance_id", "stats"), id="HELM, in a file of another name"),
        pytest.param("a.json", ("results", "stats"), id="promptfoo"),
        pytest.param("a.jsonl", ("dataset", "model", "method", "rule"), id="scores"),
        pytest.param("a.json", ("name", "description"), id="a scenario of another name"),
        pytest.param("a.txt", ROWS, id="another suffix"),
        pytest.param("a.eval.gz", ROWS, id="a compressed archive"),
    ],
)
def test_a_file_with_a_part_of_the_fields_is_no_log(
    tmp_path: Path, name: str, fields: Sequence[str]
) -> None:
    kind, _ = recognise(write_fields(tmp_path / name, fields))
    assert (kind.name, kind.reader) == ("not a known log", None)


HELM = "a file of a HELM run without scores, which are in per_instance_stats.json beside it"
LM_EVAL = "results of lm-evaluation-harness without the samples, which are in files beside it"
COMPANIONS = [
    (HELM, "scenario_state.json", ("adapter_spec", "request_states")),
    (HELM, "run_spec.json", ("adapter_spec", "scenario_spec")),
    (HELM, "scenario.json", ("name", "description")),
    (HELM, "stats.jsonl", ("name", "count")),
    (HELM, "instances.jsonl", ("input", "references")),
    (HELM, "some_predictions.jsonl", ("instance_id",)),
    (HELM, "display_requests.jsonl", ("instance_id",)),
    (LM_EVAL, "results.json", ("results", "configs")),
    (LM_EVAL, "results.json", ("results", "versions")),
    (LM_EVAL, "results.json", ("results", "n-shot")),
    (
        "results of Every Eval Ever without the samples, which are in a *_samples.jsonl file",
        "a.json",
        ("schema_version", "evaluation_results"),
    ),
    (
        "results of lighteval without the samples; run it with --save-details, which writes them "
        "to details_*.parquet",
        "results.json",
        ("config_general", "results"),
    ),
]


def named_alike(path: Path) -> Path:
    """Return a path with the suffix of HELM's files, which are JSON lists."""
    return path.with_suffix(".json") if path.suffix == ".jsonl" else path


@pytest.mark.parametrize(
    ("kind", "name", "fields"),
    [pytest.param(*case, id=f"{case[1]}: {', '.join(case[2])}") for case in COMPANIONS],
)
def test_files_beside_a_log_need_no_mention(
    tmp_path: Path, kind: str, name: str, fields: Sequence[str]
) -> None:
    content = dict.fromkeys(fields, "1")
    path = named_alike(tmp_path / "logs" / name)
    path.parent.mkdir()
    write_json(path, [content] if name.endswith(".jsonl") else content)
    assert recognise(path)[0].name == kind
    refused(kind.split(";", maxsplit=1)[0].replace("*", r"\*"), [path])
    write_lm_eval(tmp_path / "logs", [row(1)])
    notices = read_logs([tmp_path / "logs"]).notices
    assert [notice for notice in notices if "not logs" in notice] == []


@pytest.mark.parametrize(
    ("name", "fields", "kind"),
    [
        pytest.param(
            "a.json",
            ("score", "metrics", "htmls"),
            "results of simple-evals, which have no scores of single problems; give lines of "
            '"id" and "correct"',
            id="simple-evals",
        ),
        pytest.param(
            "a.jsonl",
            ("question_id", "output"),
            "outputs of models; `evalcore score` reads them",
            id="outputs with ids of questions",
        ),
    ],
)
def test_what_is_no_companion_is_told(
    tmp_path: Path, name: str, fields: Collection[str], kind: str
) -> None:
    path = write_fields(tmp_path / name, list(fields))
    assert recognise(path)[0].name == kind
    write_lm_eval(tmp_path, [row(1)])
    (notice,) = [text for text in read_logs([tmp_path]).notices if "not logs" in text]
    assert notice == f"{tmp_path}: not logs, and not read: {name}"


def test_statistics_of_helm_are_recognised_in_any_folder(tmp_path: Path) -> None:
    path = write_helm(tmp_path / RUN, [helm_stats("id1", exact_match=1)])
    assert recognise(path)[0].layout == "helm"
