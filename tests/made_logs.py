"""Small logs in the formats of other tools, made by hand for the tests."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

if sys.version_info >= (3, 14):
    import zipfile
else:
    from backports.zstd import zipfile

TIME = "2026-01-02T03-04-05.678901"


def zip_bytes(members: Sequence[tuple[str, bytes]], method: int = 93) -> bytes:
    """A zip file; 93 is zstd, which Inspect takes."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", method) as archive:
        for name, content in members:
            archive.writestr(zipfile.ZipInfo(name), content, method)
    return file.getvalue()


def header(**changes: Any) -> dict[str, Any]:
    """The header of a log of Inspect."""
    evaluated = {
        "eval_id": "E1",
        "task": "sums",
        "model": "lab/made",
        "metadata": {"method": "cot"},
        "dataset": {"sample_ids": ["s1", "s2", "s3"]},
        "config": {"epochs": 1},
        "scorers": [{"name": "answer"}],
    }
    for name in changes.keys() & {*evaluated, "task_args", "run_id", "created"}:
        evaluated[name] = changes.pop(name)
    return {"version": 2, "status": "success", "eval": evaluated, **changes}


def sample(id_: str | int, value: Any = "C", **changes: Any) -> dict[str, Any]:
    """A sample of Inspect, with one reply, that ended as it should."""
    text = changes.pop("text", "The sum is 5.")
    message, stop = changes.pop("message", {"content": text}), changes.pop("stop_reason", "stop")
    choice = {"message": message, "stop_reason": stop}
    score = {"value": value, "explanation": "…", "history": []}
    if (answer := changes.pop("answer", "5")) is not None:
        score["answer"] = answer
    usage = {"input_tokens": 10, "output_tokens": 4, "total_tokens": 14}
    return {
        "id": id_,
        "epoch": 1,
        "input": "2 + 3?",
        "output": {"model": "lab/made", "choices": [choice], "completion": text},
        "scores": {"answer": score},
        "model_usage": {"lab/made": usage},
        "error_retries": [],
        **changes,
    }


def failed(id_: str, message: str = "RuntimeError('no\n reply')", **changes: Any) -> dict[str, Any]:
    """A sample of Inspect that ended with an error."""
    output = {"model": "lab/made", "choices": [], "completion": ""}
    nothing: dict[str, Any] = {"scores": {}, "output": output, "model_usage": {}}
    return sample(id_, **nothing | {"error": {"message": message, "traceback": "…"}} | changes)


def eval_members(
    samples: Sequence[Mapping[str, Any]], head: Mapping[str, Any] | None = None
) -> list[tuple[str, bytes]]:
    """The members of a log of Inspect, those that repeat the samples among them."""
    summaries = [{name: s[name] for name in ("id", "epoch", "scores")} for s in samples]
    named = [(f"samples/{s['id']}_epoch_{s['epoch']}.json", s) for s in samples]
    members: list[tuple[str, Any]] = [
        ("_journal/start.json", {}),
        *named,
        ("_journal/summaries/1.json", summaries),
        ("summaries.json", summaries),
        ("reductions.json", [{"scorer": "answer", "samples": []}]),
        ("header.json", head or header()),
    ]
    return [(name, json.dumps(content).encode()) for name, content in members]


def write_eval(
    path: Path, samples: Sequence[Mapping[str, Any]], head: Mapping[str, Any] | None = None
) -> Path:
    path.write_bytes(zip_bytes(eval_members(samples, head)))
    return path


def write_json(
    path: Path, samples: Sequence[Mapping[str, Any]], head: Mapping[str, Any] | None = None
) -> Path:
    path.write_text(json.dumps({**(head or header()), "samples": list(samples)}))
    return path


def row(number: int, value: Any = 1.0, **changes: Any) -> dict[str, Any]:
    """A row of lm-evaluation-harness: a document after one filter."""
    replies = changes.pop("replies", [f"The sum is {number}."])
    return {
        "doc_id": number,
        "doc": {"id": f"s{number}", "question": "2 + 3?"},
        "target": "5",
        "resps": [replies],
        "filtered_resps": [str(number)],
        "filter": "strict-match",
        "metrics": ["exact_match"],
        "exact_match": value,
        **changes,
    }


def results(task: str = "sums", **changes: Any) -> dict[str, Any]:
    """What lm-evaluation-harness says of a run."""
    first = [{"function": "regex"}, {"function": "take_first"}]
    config = {
        "task": task,
        "metadata": {"version": 1.0, "method": "cot"},
        "filter_list": [{"name": "strict-match", "filter": first}],
    }
    return {
        "results": {task: {"exact_match,strict-match": 1.0}},
        "configs": {task: config | changes.pop("config", {})},
        "higher_is_better": {task: {"exact_match": True}},
        "n-samples": {task: {"original": 3, "effective": changes.pop("effective", 3)}},
        "model_name": "lab/made",
        **changes,
    }


def write_lm_eval(
    folder: Path,
    rows: Sequence[Mapping[str, Any]],
    run: Mapping[str, Any] | None = None,
    *,
    task: str = "sums",
    time: str = TIME,
) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"samples_{task}_{time}.jsonl"
    path.write_text("".join(json.dumps(fields) + "\n" for fields in rows))
    (folder / f"results_{time}.json").write_text(json.dumps(run or results(task)))
    return path
