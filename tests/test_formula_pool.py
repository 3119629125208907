from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from evalcore.formats import Problem
from evalcore.rules import Item, Verdict, formula_pool
from evalcore.rules.formula_pool import compare_all
from ngramscan.errors import InputError, WorkerLostError

ROOT = Path(__file__).resolve().parent.parent
ENDLESS = r"\prod_{k=1}^{100000000} k"
EQUAL = Verdict(1.0, "equal")


def item(answer: str, gold: str) -> Item:
    return Item(Problem("1", "?", gold), answer)


def compared(*items: Item, seconds: float = 60.0) -> list[Verdict]:
    return list(compare_all(items, seconds, workers=1))


def test_verdicts_come_in_order_and_one_that_takes_too_long_fails_alone() -> None:
    items = [item(f"{k}/2", f"{k / 2}") for k in range(30)]
    items += [item(ENDLESS, "7"), item("1", "2"), item("3", "3")]
    late = Verdict(None, "grader: time-out after 1.5 s", failed=True)
    last = [late, Verdict(0.0, "not equal"), Verdict(1.0, "the same text")]
    assert list(compare_all(items, seconds=1.5, workers=2)) == [EQUAL] * 30 + last


LINUX = pytest.mark.skipif(sys.platform == "darwin", reason="macOS sets no such limit")


@pytest.mark.parametrize(
    ("accident", "said"),
    [
        ("1 / 0", "ZeroDivisionError: division by zero"),
        pytest.param("bytearray(3 << 30)", "MemoryError", marks=LINUX),
        ("(_ for _ in ()).throw(SystemExit(4))", "exit status 4"),
        ("__import__('os').abort()", "was killed by SIGABRT"),
    ],
)
def test_a_crash_fails_its_item_alone_and_says_how(
    accident: str, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    crashing = formula_pool._COMMAND.replace(
        "serve(",
        "import evalcore.rules.mathematics as p; real = p.compare_formulas; "
        f"p.compare_formulas = lambda i: {accident} if i.value == '5' else real(i); serve(",
    )
    monkeypatch.setattr(formula_pool, "_COMMAND", crashing)
    crash, other = compared(item("5", "6"), item("1/2", "0.5"))
    assert (crash.value, crash.failed, other) == (None, True, EQUAL)
    assert said in crash.reason


def test_a_process_that_cannot_start_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(formula_pool, "_COMMAND", "raise SystemExit(3)")
    with pytest.raises(WorkerLostError, match="could not start: the process ended with exit st"):
        compared(item("1/2", "0.5"))


CALLER = """
import subprocess
class Told(subprocess.Popen):
    def __init__(self, *arguments, **options):
        super().__init__(*arguments, **options)
        print(self.pid, flush=True)
subprocess.Popen = Told
from evalcore.formats import Problem
from evalcore.rules import Item
from evalcore.rules.formula_pool import compare_all
print("run", flush=True)
items = [Item(Problem("1", "?", "0.5"), "1/2"), Item(Problem("2", "?", "7"), {answer!r})]
verdicts = compare_all(items, seconds=2, workers=1)
print(next(verdicts).reason, flush=True)
{then}
"""


@pytest.mark.parametrize(
    ("how", "then"),
    [
        (signal.SIGINT, "next(verdicts)"),
        (signal.SIGKILL, "next(verdicts)"),
        (None, "verdicts.close()"),  # a loop that is left early
    ],
)
def test_no_process_outlives_its_parent_or_knows_its_keys(
    tmp_path: Path, how: signal.Signals | None, then: str
) -> None:
    script = tmp_path / "unguarded.py"
    script.write_text(CALLER.format(answer=ENDLESS, then=then), encoding="utf-8")
    caller = subprocess.Popen(
        [sys.executable, str(script)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": str(ROOT), "API_KEY": "secret"},
        text=True,
    )
    assert caller.stdout is not None
    assert caller.stdout.readline() == "run\n"  # and never again
    worker = int(caller.stdout.readline())
    assert caller.stdout.readline() == "equal\n"
    environment = Path(f"/proc/{worker}/environ")
    if how is not None:
        assert not environment.exists() or b"secret" not in environment.read_bytes()
        caller.send_signal(how)
    assert caller.communicate(timeout=60)[0] == ""
    for _ in range(200):
        try:
            os.kill(worker, 0)
        except ProcessLookupError:
            return
        time.sleep(0.05)
    pytest.fail("the process lives on")


def test_without_math_verify_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(InputError, match=r"pip install 'ngramscan\[eval\]'"):
        compared()
