"""Names that are in the path of a file of results: FOLDER/METHOD.jsonl, METHOD/results.jsonl."""

import re
from pathlib import Path

from ngramscan.reading.streams import unpacked_path

_COMMON = {
    "accuracies",
    "accuracy",
    "data",
    "details",
    "eval",
    "evals",
    "events",
    "log",
    "logs",
    "model_outputs",
    "output",
    "outputs",
    "per_instance_stats",
    "predictions",
    "result",
    "results",
    "run",
    "samples",
    "score",
    "scores",
}
"""Names of files that are the same whatever is in them; their folders may say more."""
_MADE_BY_A_TOOL = re.compile(
    r".*\d{4}-\d\d-\d\dT\d\d.*|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE
)
"""Names with the time of a run, and random ones."""


def name_of_file(path: Path) -> str:
    """Return the name that somebody gave to a file; empty if a tool or a habit named it."""
    name = unpacked_path(path).stem.removesuffix("_samples")
    is_given = name.lower() not in _COMMON and not _MADE_BY_A_TOOL.fullmatch(name)
    return name if is_given else ""


def named_part(path: Path) -> Path:
    """Return the path of a file, or of its folder if the file has no name of its own."""
    whole = unpacked_path(path.absolute())
    return whole if name_of_file(path) else whole.parent
