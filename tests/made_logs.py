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
Fields = Mapping[str, Any]


def zip_bytes(members: Sequence[tuple[str, bytes]], method: int = 93) -> bytes:
    """A zip file; 93 is zstd, which Inspect takes."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", method) as archive:
        for name, content in members:
            archive.writestr(zipfile.ZipInfo(name), content, method)
    return file.getvalue()


def header(status: str = "success", **changes: Any) -> dict[str, Any]:
    """The header of a log of Inspect."""
    evaluated: dict[str, Any] = {"eval_id": "E1", "task": "sums", "model": "lab/made"}
    evaluated |= {"metadata": {"method": "cot"}, "dataset": {"sample_ids": ["s1", "s2", "s3"]}}
    evaluated |= {"config": {"epochs": 1}, "scorers": [{"name": "answer"}]}
    return {"version": 2, "status": status, "eval": evaluated | changes}


def sample(id_: str | int, value: Any = "C", **changes: Any) -> dict[str, Any]:
    """A sample of Inspect, with one reply, that ended as it should."""
    text, answer = changes.pop("text", "The sum is 5."), changes.pop("answer", "5")
    message, stop = changes.pop("message", {"content": text}), changes.pop("stop_reason", "stop")
    choice = {"message": message, "stop_reason": stop}
    score = {"value": value, "explanation": "…"} | ({"answer": answer} if answer else {})
    return {
        "id": id_,
        "epoch": 1,
        "output": {"model": "lab/made", "choices": [choice], "completion": text},
        "scores": {"answer": score},
        "model_usage": {"lab/made": {"input_tokens": 10, "output_tokens": 4, "total_tokens": 14}},
        "error_retries": [],
        **changes,
    }


def failed(id_: str, **changes: Any) -> dict[str, Any]:
    """A sample of Inspect that ended with an error."""
    nothing = {"scores": {}, "output": {"choices": [], "completion": ""}, "model_usage": {}}
    error = {"message": "RuntimeError('no\n reply')", "traceback": "…"}
    return sample(id_, **{**nothing, "error": error, **changes})


def eval_members(samples: Sequence[Fields], head: Fields | None = None) -> list[tuple[str, bytes]]:
    """The members of a log of Inspect, those that repeat the samples among them."""
    named = [(f"samples/{one['id']}_epoch_{one['epoch']}.json", one) for one in samples]
    again = [(name, samples) for name in ("_journal/summaries/1.json", "summaries.json")]
    members = [*named, *again, ("header.json", head or header())]
    return [(name, json.dumps(content).encode()) for name, content in members]


def write_eval(path: Path, samples: Sequence[Fields], head: Fields | None = None) -> Path:
    path.write_bytes(zip_bytes(eval_members(samples, head)))
    return path


def write_json(path: Path, samples: Sequence[Fields], head: Fields | None = None) -> Path:
    path.write_text(json.dumps({**(head or header()), "samples": list(samples)}))
    return path


def row(number: int, value: Any = 1.0, **changes: Any) -> dict[str, Any]:
    """A row of lm-evaluation-harness: a document after one filter."""
    replies = changes.pop("replies", [f"The sum is {number}."])
    return {
        "doc_id": number,
        "doc": {"id": f"s{number}", "question": "2 + 3?"},
        "resps": [replies],
        "filtered_resps": [str(number)],
        "filter": "strict-match",
        "metrics": ["exact_match"],
        "exact_match": value,
        **changes,
    }


def results(task: str = "sums", config: Fields | None = None, **changes: Any) -> dict[str, Any]:
    """What lm-evaluation-harness says of a run."""
    first = [{"function": "regex"}, {"function": "take_first"}]
    known: dict[str, Any] = {"metadata": {"version": 1.0, "method": "cot"}}
    known["filter_list"] = [{"name": "strict-match", "filter": first}]
    return {
        "results": {task: {"exact_match,strict-match": 1.0}},
        "configs": {task: {**known, **(config or {})}},
        "higher_is_better": {task: {"exact_match": True}},
        "n-samples": {task: {"original": 3, "effective": 3}},
        "model_name": "lab/made",
        **changes,
    }


def write_lm_eval(
    folder: Path, rows: Sequence[Fields], run: Fields | None = None, task: str = "sums"
) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"samples_{task}_{TIME}.jsonl"
    path.write_text("".join(json.dumps(fields) + "\n" for fields in rows))
    (folder / f"results_{TIME}.json").write_text(json.dumps(run or results(task)))
    return path
