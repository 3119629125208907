"""Formulas compared in processes that a timer ends where they compute for too long.

They are commands: a fork would carry the caller's threads and locks, a spawn run its script again.
"""

import importlib.util
import logging
import os
import pickle
import resource
import signal
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import ExitStack, suppress
from functools import partial
from itertools import cycle
from typing import Any

from evalcore.formats import Problem
from evalcore.rules import AnswerToGrade, Grade, computed
from evalcore.rules.amounts import compare_amounts
from evalcore.rules.brackets import levels
from evalcore.rules.labels import compare_counts, compare_labels
from evalcore.rules.notation import is_text, obstacle_to_algebra, squeezed, words
from evalcore.rules.number_words import with_digits
from evalcore.rules.units import is_same_quantity, unit_behind
from ngramscan.errors import InputError, WorkerLostError

MAX_CHARACTERS = 10_000
MAX_DEPTH = 60  # of brackets
MEMORY_BYTES = 2 << 30  # of one process; SymPy itself takes a tenth of it
START_SECONDS = 120
_COMMAND = (
    "import sys; from ngramscan.processes.lifeline import end_with; end_with(int(sys.argv[3])); "
    "from evalcore.rules.formula_pool import serve; serve(float(sys.argv[1]), sys.argv[2])"
)
_FOR_A_JUDGE = "needs a judge: the reference answer is "
_ENVIRONMENT = ("PATH", "HOME", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH")  # no keys


def compare_all(
    items: Iterable[AnswerToGrade], seconds: float = 10.0, workers: int | None = None
) -> Generator[Grade, None, None]:
    """Yield a verdict on each, in order, `failed` where a process crashed or took too long.

    `seconds` of processor time are one comparison's. An answer that does so alone, where its gold
    alone does not, is wrong.
    """
    if importlib.util.find_spec("math_verify") is None:
        raise InputError("mathematics", "grading needs math-verify: pip install 'ngramscan[eval]'")
    compared_texts = [(item, compare_texts(item)) for item in items]
    others = [item for item, verdict in compared_texts if verdict is None]
    number = min(workers or os.cpu_count() or 1, len(others))
    with ExitStack() as stack:
        shares = [others[first::number] for first in range(number)]
        start = partial(_start, seconds, stack)
        turns = cycle([_results(share, start(share), start, seconds) for share in shares])
        for item, verdict in compared_texts:
            outcome = verdict or next(next(turns))
            yield _blame(item, outcome, start, seconds) if isinstance(outcome, str) else outcome


def compare_texts(item: AnswerToGrade) -> Grade | None:
    """Return the verdict where the text alone decides; None where algebra is needed."""
    answer, gold = str(item.value), item.problem.gold or ""
    if len(answer) > MAX_CHARACTERS:
        return Grade(0.0, f"longer than {MAX_CHARACTERS:,} characters")
    if max(levels(answer), default=0) > MAX_DEPTH:
        return Grade(0.0, f"brackets nested deeper than {MAX_DEPTH}")
    if (grade := _compare_same(item)) is not None:
        return grade
    if (grade := _compare_meaning(item, answer, gold)) is not None:
        return grade
    counted = computed.readings(item.value, gold)[0] if item.is_computed else answer
    grade = None if _has_unit(item) else compare_counts(counted, gold)
    return grade or _compare_prose(answer, gold)


def _compare_meaning(item: AnswerToGrade, answer: str, gold: str) -> Grade | None:
    """Return the verdict where truth values, a choice or the words of a text decide."""
    truth = computed.is_truth(item.value, gold) if item.is_computed else None
    if truth is not None:
        return Grade(float(truth), "the same truth value" if truth else "the other truth value")
    if (grade := compare_labels(answer, gold, item.problem.text)) is not None:
        return grade
    if not is_text(gold):
        return None
    answer_words, gold_words = words(with_digits(answer)), words(with_digits(gold))
    if item.is_computed and answer_words != gold_words:
        answer_words = words(computed.readings(item.value, gold)[0])
    if item.is_computed and computed.is_set(item.value):
        answer_words, gold_words = sorted(answer_words), sorted(gold_words)
    return _compare_words(answer_words, gold_words)


def _has_unit(item: AnswerToGrade) -> bool:
    return bool(item.problem.details.get("unit"))


def _compare_same(item: AnswerToGrade) -> Grade | None:
    """Compare amounts and the same text; None for anything else."""
    answer, gold = str(item.value), item.problem.gold or ""
    if not _has_unit(item) and (grade := compare_amounts(answer, gold)) is not None:
        return grade
    if squeezed(answer) == squeezed(gold) != "":
        return Grade(1.0, "the same text")
    return None


def _compare_prose(answer: str, gold: str) -> Grade | None:
    """Return the verdict on a gold that has words in it; None if it is a formula."""
    why = reason_for_judge(gold)
    if not why:
        return None
    if _without_articles(answer) == _without_articles(gold) != []:
        return Grade(1.0, "the same words")
    if is_same_quantity(answer, gold):
        return Grade(1.0, "the same quantity")
    return Grade(None, f"{_FOR_A_JUDGE}{why}")


def _without_articles(text: str) -> list[str]:
    return [word for word in words(text) if word not in {"a", "an", "the"}]


def reason_for_judge(gold: str) -> str:
    """Return why a reference answer is one that only a judge can compare; empty if none."""
    if is_text(gold) or unit_behind(gold, is_marked=True):
        return ""
    return obstacle_to_algebra(gold)


def _compare_words(answer_words: list[str], gold_words: list[str]) -> Grade:
    """Compare texts word by word; whether more or fewer words say the same, they don't tell."""
    if answer_words == gold_words != []:
        return Grade(1.0, "the same words")
    if len(answer_words) == len(gold_words) and sorted(answer_words) != sorted(gold_words):
        return Grade(0.0, "other words")
    return Grade(None, f"{_FOR_A_JUDGE}prose")


def _start(
    seconds: float, stack: ExitStack, items: Sequence[AnswerToGrade], work: str = "compare_formulas"
) -> subprocess.Popen[bytes]:
    life, own_end = os.pipe()
    with os.fdopen(life), tempfile.TemporaryFile() as file:
        pickle.dump(items, file)
        file.seek(0)
        process = subprocess.Popen(
            [sys.executable, "-P", "-c", _COMMAND, str(seconds), work, str(life)],
            pass_fds=[life],
            stdin=file,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={name: os.environ[name] for name in _ENVIRONMENT if name in os.environ}
            | {"PYTHONPATH": os.pathsep.join(sys.path)},
            start_new_session=True,  # Ctrl-C is the parent's to handle
        )
    stack.callback(os.close, own_end)
    stack.enter_context(process)
    stack.callback(process.kill)
    return process


def _results(
    items: Sequence[AnswerToGrade], process: Any, start: Any, seconds: float
) -> Iterator[Any]:
    """Yield what a process says of its items; behind one that ended it, another continues."""
    is_ready = False
    for number in range(len(items)):
        process = process or start(items[number:])
        if not is_ready and isinstance(crash := _heard(process, START_SECONDS), str):
            raise WorkerLostError(f"grader: a process could not start: {crash}")
        heard = _heard(process, seconds)
        if not (is_ready := not isinstance(heard, str)):
            process = None
        yield heard


def _blame(item: AnswerToGrade, problem: str, start: Any, seconds: float) -> Grade:
    """Return the verdict on an answer whose comparison ended the process.

    It is at fault only if it does that alone, too: the gold may be hard to compute, or the two hard
    to compare.
    """
    start_alone = partial(start, work="evaluate")
    alone = [item._replace(value=item.problem.gold or ""), item]
    gold, answer = _results(alone, None, start_alone, seconds)
    if isinstance(answer, str) and not isinstance(gold, str):
        return Grade(0.0, f"answer can't be read: {answer}")
    return Grade(None, f"grader: {problem}", failed=True)


def _heard(process: Any, seconds: float) -> Any:
    """Return what the process says next, or a text on what became of it."""
    with suppress(EOFError, pickle.UnpicklingError):
        return pickle.load(process.stdout)
    status = process.wait()
    if status in (-signal.SIGALRM, -signal.SIGPROF):
        return f"time-out after {seconds:g} s"
    if status < 0:
        return f"the process was killed by {signal.Signals(-status).name}"
    return f"the process ended with exit status {status}"


def serve(seconds: float, work: str) -> None:
    """Be such a process: say when it is ready, and a verdict for each item on standard input.

    `work` names the function of `mathematics` that gives the verdicts.
    """
    warnings.simplefilter("ignore")
    logging.disable()
    with suppress(ValueError, OSError):  # macOS knows the limit but sets it only sometimes
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    sys.set_int_max_str_digits(0)
    for number in (signal.SIGALRM, signal.SIGPROF):
        signal.signal(number, signal.SIG_DFL)
    signal.alarm(START_SECONDS)
    caller = os.fdopen(os.dup(1), "wb", buffering=0)
    os.dup2(2, 1)  # what a library prints is nobody's
    sys.excepthook = lambda kind, error, _: pickle.dump(
        f"{kind.__name__}: {' '.join(str(error).split())[:200]}".rstrip(": "), caller
    )
    from evalcore.rules import mathematics

    verdict_on = getattr(mathematics, work)
    items = pickle.load(sys.stdin.buffer)
    pickle.dump(verdict_on(AnswerToGrade(Problem("", "", "y+1"), "x+1")), caller)
    signal.alarm(0)
    for item in items:
        signal.setitimer(signal.ITIMER_PROF, seconds)  # on a busy machine the same verdicts
        verdict = verdict_on(item)
        signal.setitimer(signal.ITIMER_PROF, 0)
        pickle.dump(verdict, caller)
