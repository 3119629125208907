"""The compiled loops against the definition: bits counted one by one, patterns found one by one."""

import random
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from ngramscan.errors import IndexFormatError
from ngramscan.index_files.compiled import WarmingKernel
from ngramscan.index_files.fm9.reader import Fm9File
from ngramscan.matching import count_by_brute_force
from tests.support import fm9_reference as reference
from tests.support.places import REPLAY, ROOT


def test_a_contradiction_that_a_question_meets_is_an_error(tmp_path: Path) -> None:
    draw = random.Random(8)
    text = b"\xff" + bytes(draw.choices(b"abcdefgh", k=60_000)) + b"\xfa"
    raw, met = reference.build_fm9(text), Counter[str]()
    patterns = [text[place : place + 3] for place in draw.sample(range(60_000), 33)]
    for number in range(150):
        damaged = bytearray(raw)
        for _ in range(6):
            damaged[draw.randrange(2_000, len(raw))] ^= 1 << draw.randrange(8)
        (tmp_path / "x.fm9").write_bytes(damaged)
        start = 350 * number
        questions: dict[str, Callable[[Fm9File], Any]] = {
            "field rrr: the bits": lambda file: file.find(patterns),
            "field rrr or sa_sample": partial(Fm9File.locate, ranks=[start + 3, 77, 1001]),
            "field rrr or isa_sample": partial(Fm9File.extract, starts=[start], stops=[start + 30]),
        }
        for problem, ask in questions.items():
            with suppress(IndexFormatError):
                file = Fm9File(tmp_path / "x.fm9")
                try:
                    answer = ask(file)
                except IndexFormatError as error:
                    met[problem] += problem in str(error)
                else:  # never what stands for a failure
                    assert b"\0" not in answer[0] if isinstance(answer, list) else answer.min() >= 0
    assert min(met[problem] for problem in questions) > 1


# Before they are compiled

AS_PYTHON = 10_000_000


def both_ways(ask: Callable[[], Any]) -> list[Any]:
    """Ask kernels as Python and compiled; the answers, or what the errors say."""
    answers: list[Any] = []
    before = WarmingKernel.calls_left
    for left in (AS_PYTHON, 0):
        WarmingKernel.calls_left = left
        try:
            answers.append(ask())
            assert 0 < WarmingKernel.calls_left < left or not left, "they ran the other way"
        except IndexFormatError as error:
            answers.append(str(error))
    WarmingKernel.calls_left = before
    return answers


def ask_all(path: Path, patterns: list[bytes], places: list[int]) -> list[Any]:
    file = Fm9File(path)
    # One by one: many at once are compiled.
    texts = [file.extract([place], [place + 30])[0] for place in places]
    positions = [file.locate([place]).tolist() for place in places]
    return [file.find(patterns).tolist(), positions, texts]


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    "alphabet", [b"ab", bytes(range(1, 200))], ids=["two letters", "199 letters"]
)
def test_before_they_are_compiled_the_answers_are_the_same(tmp_path: Path, alphabet: bytes) -> None:
    draw = random.Random(len(alphabet))
    text = b"\xff" + bytes(draw.choices(alphabet, k=1_500)) + b"ab" * 1_000 + b"\xfa"
    (tmp_path / "x.fm9").write_bytes(reference.build_fm9(text))
    places = draw.sample(range(1_500), 5)
    patterns = [text[place : place + 3] for place in places] + [b"\xfe"]
    first, second = both_ways(partial(ask_all, tmp_path / "x.fm9", patterns, places))
    assert first == second
    segments, _, texts = first
    sizes = [high - low for low, high in segments]
    assert sizes == [count_by_brute_force(pattern, text) for pattern in patterns]
    assert texts == [text[place : place + 30] for place in places]


@pytest.mark.filterwarnings("error")
def test_before_they_are_compiled_damage_has_the_same_consequence(tmp_path: Path) -> None:
    draw = random.Random(8)
    text = b"\xff" + bytes(draw.choices(b"abcdefgh", k=3_000)) + b"\xfa"
    raw, is_error = reference.build_fm9(text), Counter[bool]()
    for _ in range(16):
        damaged = bytearray(raw)
        damaged[draw.randrange(len(raw))] ^= 1 << draw.randrange(8)
        (tmp_path / "x.fm9").write_bytes(damaged)
        first, second = both_ways(partial(ask_all, tmp_path / "x.fm9", [b"ab", b"h"], [5, 77]))
        assert first == second
        is_error[isinstance(first, str)] += 1
    assert min(is_error[True], is_error[False]) > 2


def test_numba_is_loaded_for_many_phrases_alone() -> None:
    index = f"fm9:{REPLAY / 'index/replay2'}"
    phrases = [f"step {number}" for number in range(40)]
    command = [sys.executable, "-m", "tests.support.programs.count_in_turn", index, *phrases]
    said = subprocess.check_output(command, text=True, cwd=ROOT)
    assert said.splitlines() == ["1 False", "40 True"]


def test_a_search_that_began_as_python_ends_as_python(tmp_path: Path) -> None:
    """Halfway, words of 64 bits would come back from compiled code as integers with a sign."""
    draw = random.Random(6)
    text = b"\xff" + bytes(draw.choices(range(1, 200), k=8_000)) + b"\xfa"
    (tmp_path / "x.fm9").write_bytes(reference.build_fm9(text))
    file = Fm9File(tmp_path / "x.fm9")
    patterns = [text[at : at + 2] for at in draw.sample(range(8_000), 16)]
    before, wrong = WarmingKernel.calls_left, []
    for pattern in patterns:
        for left in (1, 7, 23, 64, 150, 400):
            WarmingKernel.calls_left = left
            ((low, high),) = file.find([pattern]).tolist()
            if high - low != count_by_brute_force(pattern, text):
                wrong.append((pattern, left))
    WarmingKernel.calls_left = before
    assert not wrong
