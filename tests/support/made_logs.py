"""Small logs in the formats of other tools, made by hand for the tests."""

import io
import json
import sys
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

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
