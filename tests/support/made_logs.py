"""Small logs in the formats of other tools, made by hand for the tests."""

import io
import json
import sys
import warnings
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow
import pytest
from pyarrow import parquet

from evalcore.commands.logs import read_logs
from ngramscan.errors import InputError

if sys.version_info >= (3, 14):
    import zipfile
else:
    from backports.zstd import zipfile

TIME = "2026-01-02T03-04-05.678901"
Fields = Mapping[str, Any]
CACHED = {"input_tokens_cache_read": 7, "input_tokens_cache_write": 2}
USED = {"input_tokens": 1, **CACHED, "output_tokens": 4, "reasoning_tokens": 3}


def refused(message: str, *arguments: Any, **options: Any) -> None:
    with pytest.raises(InputError, match=message):
        read_logs(*arguments, **options)


def zip_bytes(members: Sequence[tuple[str, bytes]], method: int = 93) -> bytes:
    """A zip file; 93 is zstd, which Inspect takes."""
    file = io.BytesIO()
    with warnings.catch_warnings(), zipfile.ZipFile(file, "w", method) as archive:
        warnings.filterwarnings("ignore", "Duplicate name")  # as of a sample that was repeated
        for name, content in members:
            archive.writestr(zipfile.ZipInfo(name), content, method)
    return file.getvalue()


def header(status: str = "success", **changes: Any) -> dict[str, Any]:
    evaluated: dict[str, Any] = {"eval_id": "E1", "task": "sums", "model": "lab/made"}
    evaluated |= {"metadata": {"method": "cot"}, "dataset": {"sample_ids": ["s1", "s2", "s3"]}}
    evaluated |= {"config": {"epochs": 1}, "scorers": [{"name": "answer"}]}
    return {"version": 2, "status": status, "eval": evaluated | changes}


def sample(id_: str | int, value: Any = "C", **changes: Any) -> dict[str, Any]:
    """A sample of Inspect, with one reply, that ended as it should."""
    text, answer = changes.pop("text", "The sum is 5."), changes.pop("answer", "5")
    message, stop = changes.pop("message", {"content": text}), changes.pop("stop_reason", "stop")
    choice = {"message": message, "stop_reason": stop}
    return {
        "id": id_,
        "epoch": 1,
        "output": {"model": "lab/made", "choices": [choice], "completion": text},
        "scores": {"answer": {"value": value} | ({"answer": answer} if answer else {})},
        "model_usage": {"lab/made": USED, "lab/grader": {"input_tokens": 900}},
        **changes,
    }


def failed(id_: str, **changes: Any) -> dict[str, Any]:
    nothing = {"scores": {}, "output": {"choices": [], "completion": ""}, "model_usage": {}}
    return sample(id_, **nothing, error={"message": "RuntimeError('no\n reply')"}, **changes)


def eval_members(samples: Sequence[Fields], head: Fields | None = None) -> list[tuple[str, bytes]]:
    """The members of a log of Inspect, those that repeat the samples among them."""
    named = [(f"samples/{one['id']}_epoch_{one['epoch']}.json", one) for one in samples]
    again = [(name, samples) for name in ("_journal/summaries/1.json", "summaries.json")]
    members = [*named, *again, ("header.json", head or header())]
    return [(name, json.dumps(content).encode()) for name, content in members]


def write_inspect(path: Path, samples: Sequence[Fields], head: Fields | None = None) -> Path:
    path.parent.mkdir(exist_ok=True)
    content = json.dumps({**(head or header()), "samples": samples}).encode()
    is_zip = path.suffix == ".eval"
    path.write_bytes(zip_bytes(eval_members(samples, head)) if is_zip else content)
    return path


def write_members(path: Path, members: Mapping[str, Any]) -> Path:
    """Write a log of Inspect from its members."""
    content = [(name, json.dumps(member).encode()) for name, member in members.items()]
    path.write_bytes(zip_bytes(content))
    return path


def row(number: int, value: Any = 1.0, **changes: Any) -> dict[str, Any]:
    """A row of lm-evaluation-harness: a document after one filter."""
    replies = changes.pop("replies", [f"The sum is {number}."])
    known = {"doc_id": number, "doc": {"id": f"s{number}"}, "resps": [replies]}
    known |= {"filtered_resps": [str(number)], "filter": "strict-match"}
    return {**known, "metrics": ["exact_match"], "exact_match": value, **changes}


def write_lm_eval(folder: Path, rows: Sequence[Fields], task: str = "sums", **config: Any) -> Path:
    """Write samples of lm-evaluation-harness, and what it says of the run beside them."""
    goals = config.pop("goals", {"exact_match": True})
    run = {
        "results": {task: {"exact_match,strict-match": 1.0}},
        "configs": {task: {"metadata": {"method": "cot"}, **config}},
        "higher_is_better": {task: goals},
        "n-samples": {task: {"original": 3, "effective": 3}},
        "model_name": "lab/made",
    }
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"results_{TIME}.json").write_text(json.dumps(run))
    path = folder / f"samples_{task}_{TIME}.jsonl"
    path.write_text("".join(json.dumps(fields) + "\n" for fields in rows))
    return path


def write_json(path: Path, content: Any, indent: int | None = None) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content, indent=indent))
    return path


def write_json_lines(path: Path, rows: Iterable[Fields]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(fields) + "\n" for fields in rows))
    return path


# Every Eval Ever


def instance(number: int, score: float = 1.0, **changes: Any) -> dict[str, Any]:
    """A line of the schema for instances, of a question with one turn."""
    attribution = {"turn_idx": 0, "source": "output.raw", "extracted_value": str(number)}
    return {
        "schema_version": "instance_level_eval_0.2.2",
        "evaluation_id": "sums/lab_made/1767323045",
        "model_id": "lab/made",
        "evaluation_name": "sums",
        "sample_id": f"s{number}",
        "interaction_type": "single_turn",
        "input": {"raw": "?", "reference": [str(number)]},
        "output": {"raw": [f"The sum is {number}."]},
        "answer_attribution": [{**attribution, "extraction_method": "regex", "is_terminal": True}],
        "evaluation": {"score": score, "is_correct": score == 1},
        "token_usage": {"input_tokens": 10, "output_tokens": 7, "total_tokens": 17},
        **changes,
    }


# HELM


def helm_stats(id_: str, **values: float | None) -> dict[str, Any]:
    """What one metric says of an instance: statistics over one answer, or over none."""
    stats = [
        {"name": {"name": name, "split": "test"}, "count": 0, "sum": 0}
        if value is None
        else {"name": {"name": name, "split": "test"}, "count": 1, "sum": value, "mean": value}
        for name, value in values.items()
    ]
    return {"instance_id": id_, "train_trial_index": 0, "stats": stats}


def helm_request(id_: str, text: str = "5", stop: str = "stop", **result: Any) -> dict[str, Any]:
    completion = {"text": text, "logprob": 0, "tokens": [], "finish_reason": {"reason": stop}}
    return {
        "instance": {"input": {"text": "?"}, "references": [], "split": "test", "id": id_},
        "train_trial_index": 0,
        "result": {"success": True, "completions": [completion], **result},
    }


def write_helm(folder: Path, stats: Sequence[Fields], requests: Sequence[Fields] = ()) -> Path:
    """Write the folder of a run of HELM."""
    adapter = {"method": "generation", "model": "lab/made", "model_deployment": "lab/made"}
    scenario = {"class_name": "helm.Sums", "args": {}}
    run = {"name": folder.name, "scenario_spec": scenario, "adapter_spec": adapter}
    write_json(folder / "run_spec.json", run, 2)
    write_json(folder / "scenario.json", {"name": "sums", "description": "", "tags": []}, 2)
    if requests:
        state = {"adapter_spec": adapter, "request_states": requests}
        write_json(folder / "scenario_state.json", state, 2)
    write_json(folder / "stats.json", [{"name": {"name": "exact_match"}, "count": 1}], 2)
    return write_json(folder / "per_instance_stats.json", stats, 2)


# lighteval


def write_lighteval(folder: Path, rows: Sequence[Fields], task: str = "lighteval|sums|0") -> Path:
    """Write the details of a task, in Parquet, below the folder of the model."""
    path = folder / f"details/lab/made/{TIME}/details_{task}_{TIME}.parquet"
    path.parent.mkdir(parents=True, exist_ok=True)
    parquet.write_table(pyarrow.Table.from_pylist(list(rows)), path)
    write_json(
        folder / f"results/lab/made/results_{TIME}.json", {"config_general": {}, "results": {}}
    )
    return path


def detail(number: int, text: str = "The sum is 5.", **metric: float | None) -> dict[str, Any]:
    return {
        "doc": {"query": "?", "id": str(number), "choices": ["5"], "gold_index": [0]},
        "model_response": {"text": [text], "output_tokens": [[1, 2]]},
        "metric": metric,
    }


# OpenAI evals


def openai_events(*events: tuple[str, str, Fields], end: bool = True) -> list[dict[str, Any]]:
    """The lines of a run: what was run, events of samples, and the final report."""
    spec = {"completion_fns": ["lab/made"], "eval_name": "sums.test.v0", "run_id": "260102030405XY"}
    lines: list[dict[str, Any]] = [{"spec": spec}]
    for number, (id_, kind, data) in enumerate(events):
        about = {"run_id": "260102030405XY", "event_id": number, "sample_id": id_, "type": kind}
        lines.append({**about, "data": data, "created_by": "", "created_at": "2026-01-02"})
    return lines + ([{"final_report": {"accuracy": 0.5}}] if end else [])


# promptfoo


def promptfoo_result(test: int, is_right: bool, **changes: Any) -> dict[str, Any]:
    """A result with one assertion."""
    reason = "All assertions passed" if is_right else "Expected output to equal 5"
    verdict = {"pass": is_right, "score": float(is_right), "reason": reason}
    return {
        "promptIdx": 0,
        "testIdx": test,
        "promptId": "p1",
        "provider": {"id": "openai:made", "label": ""},
        "prompt": {"raw": "Add: {{question}}", "label": "cot"},
        "vars": {"question": "?"},
        "testCase": {"vars": {"question": "?"}, "assert": [{"type": "equals", "value": "5"}]},
        "response": {"output": "5", "tokenUsage": {"prompt": 10, "completion": 7, "total": 17}},
        "success": is_right,
        "score": float(is_right),
        "failureReason": 0 if is_right else 1,
        "gradingResult": {**verdict, "componentResults": [verdict]},
        "namedScores": {},
        **({} if is_right else {"error": reason}),
        **changes,
    }


def write_promptfoo(path: Path, results: Sequence[Fields]) -> Path:
    inner = {"version": 3, "timestamp": "2026-01-02T03:04:05Z", "prompts": [], "results": results}
    return write_json(
        path, {"evalId": "eval-1", "results": inner, "config": {}, "shareableUrl": None}
    )
