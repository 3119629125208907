import json
import os
import re
import signal
import subprocess
import sys
import time
from contextlib import suppress
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from evalcore.benchmarks import find_benchmark, load_dataset
from evalcore.formats import Problem
from evalcore.rules import Grade, Item, formula_pool
from evalcore.rules.formula_pool import compare_all, compare_texts
from ngramscan.errors import InputError, WorkerLostError
from tests.support.cases import cases, file_text
from tests.support.sizes import slow


def item(answer: str, gold: str, **details: Any) -> Item:
    return Item(Problem("1", "?", gold, details=details), answer)


def compared(task: Item) -> Grade:
    from evalcore.rules.mathematics import compare_formulas

    return compare_formulas(task)


def verdict(answer: str, gold: str, **details: Any) -> Grade:
    task = item(answer, gold, **details)
    return compare_texts(task) or compared(task)


@pytest.mark.parametrize(
    "case",
    cases(Path(__file__).with_suffix(".formulas.csv")),
    ids=lambda case: f"{case['answer']} {case['gold']}",
)
def test_an_answer_in_any_notation_is_the_gold_or_is_not(case: dict[str, str]) -> None:
    tolerance = [float(each) for each in case["tolerance"].split()] or None
    is_several = case["unit"] == "several"
    known = {"is_multiple_answer": True} if is_several else {"unit": case["unit"]}
    found = verdict(case["answer"], case["gold"], **known, tolerance=tolerance)
    assert (found.value, found.failed) == (float(case["value"]), False)
    assert case["reason"] in {"", found.reason}


def test_what_is_too_long_or_too_deep_is_wrong_with_the_reason() -> None:
    assert verdict("1" * 10_001, "1")[:2] == (0.0, "longer than 10,000 characters")
    assert verdict("(" * 61 + ")" * 61, "1")[:2] == (0.0, "brackets nested deeper than 60")


def test_what_can_not_be_compared_is_an_error() -> None:
    too_large = verdict("9^{9^{9^{9}}}", "8^{8^{8^{8^8}}}")
    unread = verdict("5", r"x+\foo")
    said = "grader: two numbers of more than 100000 digits can't be compared"
    assert too_large == Grade(None, said, failed=True)
    assert unread[::2] == (None, True)
    assert "grader: the reference answer can't be read: 'x+" in unread.reason
    assert verdict(r"$x +\foo$", r"x+\foo") == Grade(1.0, "the same text")
    found = verdict("1, 3", "1, 2", tolerance=(0.1, 0.1, 0.1), is_multiple_answer=True)
    assert found == Grade(None, "grader: 3 tolerances for 2 answers", failed=True)


NEEDS_A_JUDGE = "needs a judge: the reference answer is "
PROSE = ["odd $n$", "no solutions", "n is prime", "$x=1$ for some $a>0$", "2 if n is even"]
PROSE += ["1 ($n=2$)", r"1 \text{if } n=2", "5 ($n=2", r"$1$, $n \text{ is even}$"]
FORMULAS = ["5", "$2n$", r"\frac{a}{b}", "1, 2", r"$\sin x$", r"5 \text{ or } 6", "$XZ-XY$"]


def needs_a_judge(gold: str) -> bool:
    return getattr(compare_texts(item("?", gold)), "reason", "").startswith(NEEDS_A_JUDGE)


def test_prose_is_for_a_judge_unless_the_text_is_the_same() -> None:
    assert [gold for gold in [*PROSE, *FORMULAS] if needs_a_judge(gold)] == PROSE
    golds = ("odd $n$", r"$n \text{ is odd}$")
    assert [verdict("even $n$", one) for one in golds] == [Grade(None, f"{NEEDS_A_JUDGE}prose")] * 2
    assert verdict("odd n", " odd $n$.").value == 1.0
    assert verdict("1,2,3", r"1,2,\ldots,3").reason == f"{NEEDS_A_JUDGE}written with dots"
    assert "a set given by a condition" in verdict("5", r"\{ (a,b): ab>1 \}").reason


def test_the_scoring_examples_of_olympiadbench_agree(shared: Path) -> None:
    rows = json.loads((shared / "data/olympiadbench/scoring_examples.json").read_bytes())
    examples = [(one["GT"], answer) for one in rows for answer in one["Ans"]]
    assert len(examples) == 36
    for gold, answer in examples:
        stated = answer.get("precision")
        each = [float(one) for one in stated] if isinstance(stated, list) else float(stated or 0)
        found = verdict(answer["answer"], gold, tolerance=each or None)
        assert (found.value == 1.0) == answer["equal"], answer


@pytest.fixture
def golds(shared: Path) -> list[Problem]:
    olympiad, imo = (find_benchmark(name) for name in ("olympiadbench-oe-maths", "imo-answerbench"))
    maths = load_dataset(olympiad, shared / "data/olympiadbench/OE_TO_maths_en_COMP.jsonl")
    return [
        *maths.problems,
        *load_dataset(imo, shared / "data/imobench/answerbench_v2.csv").problems,
    ]


@pytest.mark.parametrize("every", [8, slow(1)])
def test_every_gold_accepts_itself_boxed_and_by_algebra(golds: list[Problem], every: int) -> None:
    texts = [str(problem.gold).replace("$", "").rstrip(" .") for problem in golds[:675]]
    boxed = [Item(one, rf"\boxed{{{text}}}") for one, text in zip(golds, texts, strict=False)]
    assert {one.value for one in compare_all(boxed[::every], workers=1)} == {1.0}
    formulas = [Item(one, str(one.gold)) for one in golds if not needs_a_judge(str(one.gold))]
    assert len(formulas) == 674 + 369  # of 675 and 400
    for task in formulas[::every]:
        assert compared(task).value == 1.0, task
        assert compare_texts(task) == Grade(1.0, "the same text")


@pytest.mark.parametrize(("every", "steps"), [(32, 1), slow(1, 9)])
def test_no_gold_of_another_digit_is_right(golds: list[Problem], every: int, steps: int) -> None:
    with_tolerance = [gold for gold in golds if gold.details.get("tolerance")]
    items = [
        Item(gold, f"{text[: digit.start()]}{(int(digit[0]) + step) % 10}{text[digit.end() :]}")
        for gold in [*golds[::every], *with_tolerance]
        for text in [str(gold.gold)]
        for digit in [*re.finditer("[0-9]", text)][::-every]
        for step in range(1, steps + 1)
    ]
    assert len(items) > 1000 // every
    verdicts = list(compare_all(items, workers=1))
    assert not any(one.failed for one in verdicts)
    accepted = [item for item, one in zip(items, verdicts, strict=True) if one.value == 1.0]
    for problem, answer, _ in accepted:
        difference = abs(Fraction(str(answer)) - Fraction(str(problem.gold)))
        assert difference <= Fraction(str(problem.details["tolerance"]))
    assert ("4.2", "4.3") in [(problem.gold, answer) for problem, answer, _ in accepted]


ENDLESS = r"\prod_{k=1}^{100000000} k"
SAME = Grade(1.0, "equal")


# The third recurses too deeply, or is too late for that.
CANT_BE_READ = [(f"(1, {ENDLESS})", "(1, 2)"), ("|" * 3000, "x^2"), ("2^" * 1000 + "1", "7")]


@pytest.mark.parametrize("n", [1, slow(3)])
def test_an_answer_that_can_not_be_read_is_wrong_if_its_gold_can(n: int) -> None:
    items = [item(*case) for case in [*CANT_BE_READ[:n], ("1/2", "0.5"), ("7", ENDLESS)]]
    *wrong, right, unknown = compare_all(items, seconds=0.5, workers=1)
    reason = r"answer can't be read: (time-out after 0.5 s|RecursionError: .*)"
    assert [one.reason for one in wrong if not re.fullmatch(reason, one.reason)] == []
    assert [(one.value, one.failed) for one in wrong] == [(0.0, False)] * n
    assert unknown == Grade(None, "grader: time-out after 0.5 s", failed=True)
    assert right == SAME


ACCIDENTS = {
    # macOS sets no limit.
    "bytearray(3 << 30) and 1 / 0": "MemoryError" if sys.platform == "linux" else "ZeroDivision",
    "__import__('os').abort()": "was killed by SIGABRT",
}


def test_a_crash_fails_one(monkeypatch: pytest.MonkeyPatch) -> None:
    cases = ", ".join(f"'{n}': lambda: {accident}" for n, accident in enumerate(ACCIDENTS, 11))
    crashing = f"import evalcore.rules.mathematics as p; real = p.compare_formulas; a = {{{cases}}}"
    crashing += "; p.compare_formulas = lambda i: a.get(str(i.value), lambda: real(i))(); serve("
    command = formula_pool._COMMAND.replace("serve(", crashing)
    monkeypatch.setattr(formula_pool, "_COMMAND", command)
    items = [item(value, "0.5") for value in ("11", "1/2", "12")]
    verdicts = list(compare_all(items, seconds=60, workers=1))
    assert verdicts[1] == SAME
    for crash, said in zip(verdicts[::2], ACCIDENTS.values(), strict=True):
        assert (crash.value, crash.failed) == (None, True)
        assert said in crash.reason


def test_what_cannot_start_or_is_not_installed_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(formula_pool, "_COMMAND", "raise SystemExit(3)")
    with pytest.raises(WorkerLostError, match="could not start: the process ended with exit st"):
        list(compare_all([item("1/2", "0.5")]))
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(InputError, match=r"pip install 'ngramscan\[eval\]'"):
        list(compare_all([]))


CALLER = file_text("mathematics_caller")


@pytest.mark.parametrize("how", [slow(signal.SIGINT), signal.SIGKILL, None])  # or a loop left early
def test_no_process_outlives_its_parent_or_knows_its_keys(tmp_path: Path, how: Any) -> None:
    script, then = tmp_path / "unguarded.py", "next(verdicts)" if how else "verdicts.close()"
    script.write_text(CALLER.format(answer=ENDLESS, then=then))
    known = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "API_KEY": "secret"}
    command, pipe = [sys.executable, str(script)], subprocess.PIPE
    with subprocess.Popen(command, stdout=pipe, stderr=pipe, env=known, text=True) as caller:
        assert caller.stdout is not None
        assert caller.stdout.readline() == "run\n"  # and never again
        worker = int(caller.stdout.readline())
        assert caller.stdout.readline() == "equal\n"
        environment = Path(f"/proc/{worker}/environ")
        if how:
            assert not environment.exists() or b"secret" not in environment.read_bytes()
            caller.send_signal(how)
        assert caller.communicate(timeout=60)[0] == ""
    with suppress(ProcessLookupError):
        for _ in range(100):  # five seconds
            os.kill(worker, 0)
            time.sleep(0.05)
        pytest.fail("the process lives on")
