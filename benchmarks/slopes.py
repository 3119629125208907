"""How the processor time of commands grows when a text becomes twice as long.

    python benchmarks/slopes.py [WORD ...]

For each command, or those whose names have one of some words, and for seven shapes of text (see
tests/support/text_shapes.py): the seconds for the longer text over those for one of half its
length, which is 2 where time is linear and 4 where it is the square; then the bytes of the longer
text. Texts become longer until a command takes a tenth of a second more than for a short
one, a time that is left out of both. Aim: at most 2.3.
"""

from __future__ import annotations

import contextlib
import inspect
import io
import json
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from rich.console import Console

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

import evalcore
import ngramscan
from tests.support.text_shapes import SHAPES, TextShape

SHORT_BYTES, MOST_BYTES = 500, 4_096_000
LEAST_BYTES = 16 * SHORT_BYTES
"""The time for the short text, which is left out of all, counts little beside the time for this."""
LEAST_SECONDS = 0.1
"""Shorter times are not compared: too much of them is noise."""
REPEATS = 2
TOKENIZER = ROOT / "tests" / "tokens" / "llamalike.model"

Work = Callable[[], object]


class Slope(NamedTuple):
    """Two times of a command, of which the second is for a text of twice as many bytes.

    Both are without the time that the command takes for a short text.
    """

    size_bytes: int
    """The size of the longer text."""
    shorter_s: float
    longer_s: float

    @property
    def ratio(self) -> float:
        """The longer time over the shorter one, or over a time that can be measured."""
        return self.longer_s / max(self.shorter_s, LEAST_SECONDS / 8)


@dataclass(frozen=True, slots=True)
class Subject:
    """A command, and how its files are made."""

    title: str
    prepare: Callable[[Path, TextShape, int], Work]
    """Writes files with a text of so many bytes into a folder; returns what reads them."""


def write_rows(path: Path, *rows: dict[str, Any]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    return path


def write_outputs(folder: Path, text: str) -> Path:
    """Write two outputs of each of two methods, one of them with the text."""
    for method, output in (("cot", text), ("pot", f"so it is {text}")):
        rows = ({"id": "0", "output": output}, {"id": "1", "output": "x, so 1"})
        write_rows(folder / "outputs" / "d" / "m" / f"{method}.jsonl", *rows)
    return folder / "outputs"


def contaminate(rule: str, folder: Path, shape: TextShape, size: int, **options: Any) -> Work:
    """Search the windows of a text in one document of its shape."""
    entry = {"id": "0", "question": shape.text(size), "answer": "a"}
    benchmark = write_rows(folder / "benchmark.jsonl", entry)
    corpus = write_rows(folder / "corpus.jsonl", {"text": shape.document(size)})
    options = {"workers": 1, "refresh": True, "journal": folder / "journal.sqlite", **options}
    return lambda: ngramscan.contaminate(benchmark, index=f"scan:{corpus}", rule=rule, **options)


def contaminate_near(folder: Path, shape: TextShape, size: int) -> Work:
    """Look also for the answer near the places, and for their contexts."""
    options = {"answer_field": "answer", "contexts": folder / "contexts.csv"}
    return contaminate("mini", folder, shape, size, **options)


def read_outputs(
    command: Callable[..., object], folder: Path, shape: TextShape, size: int, **options: Any
) -> Work:
    outputs = write_outputs(folder, shape.text(size))
    return lambda: command(outputs, **options)


def keyness(unit: str, folder: Path, shape: TextShape, size: int) -> Work:
    options = {"of": "pot", "against": "cot", "min_count": 1, "min_documents": 1}
    return read_outputs(ngramscan.keyness, folder, shape, size, unit=unit, **options)


def show(folder: Path, shape: TextShape, size: int) -> Work:
    """Print the outputs for one problem."""
    outputs = write_outputs(folder, shape.text(size))

    def print_outputs() -> None:
        shown: Any = inspect.unwrap(evalcore.show)("0", outputs=outputs)
        shown.print_table(Console(file=io.StringIO(), width=100))

    return print_outputs


def report(folder: Path, shape: TextShape, size: int) -> Work:
    """Make a page of rows that have the text."""
    rows = folder / "contexts.jsonl"
    corpus = write_rows(folder / "corpus.jsonl", {"text": shape.document(size)})
    options: dict[str, Any] = {"index": f"scan:{corpus}", "n": 9, "width": size, "workers": 1}
    literal = shape.document(size)[:8].strip()
    contexts: Any = ngramscan.contexts(literal=[literal], **options)
    contexts.to_json(rows, orient="records", lines=True)
    return lambda: ngramscan.report(rows, output=folder / "page.html")


def score(rule: str, folder: Path, shape: TextShape, size: int) -> Work:
    outputs = write_outputs(folder, shape.text(size))
    problems = ({"id": number, "question": "How many?", "answer": "1"} for number in "01")
    data = write_rows(folder / "problems.jsonl", *problems)
    fields: dict[str, Any] = {
        "id_field": "id",
        "question_field": "question",
        "answer_field": "answer",
    }
    return lambda: evalcore.score(outputs, rule=rule, data=data, **fields)


def count_long(folder: Path, shape: TextShape, size: int) -> Work:
    """Count a literal of half the text."""
    corpus = write_rows(folder / "corpus.jsonl", {"text": shape.document(size)})
    options: dict[str, Any] = {"workers": 1, "journal": folder / "journal.sqlite"}
    literal = shape.text(size // 2).strip()
    return lambda: ngramscan.count(
        literal=[literal], index=f"scan:{corpus}", refresh=True, **options
    )


def trace(kind: str, folder: Path, shape: TextShape, size: int) -> Work:
    """Search the spans of a text in one document of its shape, by a backend."""
    outputs = write_rows(folder / "out" / "cot.jsonl", {"id": "0", "output": shape.text(size)})
    corpus = write_rows(folder / "corpus.jsonl", {"text": shape.document(size)})
    options: dict[str, Any] = {"tokenizer": TOKENIZER} if kind == "tokens" else {}
    index = f"scan:{corpus}"
    if kind != "scan":
        index = f"{kind}:{folder / 'index'}"
        built = index if kind == "tokens" else folder / "index"
        ngramscan.index_build(str(corpus), output=built, workers=1, **options)
    options |= {"refresh": True, "journal": folder / "journal.sqlite", "workers": 1}
    return lambda: ngramscan.trace(outputs, index=index, **options)


SUBJECTS = [
    *(
        Subject(f"contaminate, {rule}", partial(contaminate, rule))
        for rule in ("mini", "gpt4", "gpt4-stripped", "gpt3", "palm", "ngram-8")
    ),
    Subject("contaminate, answers", contaminate_near),
    Subject("blend", partial(read_outputs, ngramscan.blend)),
    Subject("tiers", partial(read_outputs, ngramscan.tiers)),
    *(Subject(f"keyness, {unit}s", partial(keyness, unit)) for unit in ("word", "character")),
    Subject("strategies", partial(read_outputs, ngramscan.strategies)),
    Subject("show", show),
    Subject("report", report),
    *(Subject(f"score, {rule}", partial(score, rule)) for rule in ("exact", "numbers")),
    Subject("count, long literal", count_long),
]
TRACES = [Subject(f"trace, {kind}", partial(trace, kind)) for kind in ("scan", "fm9", "tokens")]


def seconds(work: Work) -> float:
    """Return the processor time of this process, which other programs do not lengthen."""
    quiet = io.StringIO()
    with contextlib.redirect_stderr(quiet), contextlib.redirect_stdout(quiet):
        started_at = time.process_time()
        work()
        return time.process_time() - started_at


def least_seconds(subject: Subject, shape: TextShape, size: int) -> float:
    """Return the least of several times: what else happens makes them longer."""
    with tempfile.TemporaryDirectory() as folder:
        work = subject.prepare(Path(folder), shape, size)
        return min(seconds(work) for _ in range(REPEATS))


def measure(subject: Subject, shape: TextShape) -> Slope:
    """Return how the time grows where the text is so long that the time depends on it."""
    start_s = least_seconds(subject, shape, SHORT_BYTES)
    size, shorter_s, longer_s = SHORT_BYTES, 0.0, 0.0
    while (size < LEAST_BYTES or longer_s < LEAST_SECONDS) and 2 * size <= MOST_BYTES:
        size *= 2
        shorter_s, longer_s = longer_s, least_seconds(subject, shape, size) - start_s
    return Slope(size, shorter_s, longer_s)


def main(*words: str) -> None:
    print(f"{'':22}" + "".join(f"{shape.title[:18]:>20}" for shape in SHAPES))
    for subject in [*SUBJECTS, *TRACES]:
        if words and not any(word in subject.title for word in words):
            continue
        print(f"{subject.title:22}", end="")
        for shape in SHAPES:
            slope = measure(subject, shape)
            print(f"{f'{slope.ratio:.2f} ({slope.size_bytes:,})':>20}", end="", flush=True)
        print()


if __name__ == "__main__":
    main(*sys.argv[1:])
