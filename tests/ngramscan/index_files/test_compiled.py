"""Where compiled code is kept, and when compiling is said."""

import os
import subprocess
import sys
from pathlib import Path

from ngramscan.index_files import compiled
from ngramscan.index_files.compiled import folder_of_code, kernel
from tests.support.places import ROOT


def test_other_sources_have_other_compiled_code(tmp_path: Path) -> None:
    (tmp_path / "inner").mkdir()
    callee = tmp_path / "inner/callee.py"
    callee.write_text("A = 1\n")
    before = folder_of_code(tmp_path)
    callee.write_text("A = 2\n")
    after = folder_of_code(tmp_path)
    assert before != after
    callee.write_text("A = 1\n")
    assert folder_of_code(tmp_path) == before


@kernel
def _increased(number: int) -> int:
    return number + 1


def test_code_is_kept_apart_from_that_of_other_sources() -> None:
    assert _increased(1) == 2
    folder = folder_of_code(Path(compiled.__file__).parent)
    assert list(folder.rglob("*_increased*.nbi"))


ADDING = """
import time

from ngramscan.index_files import compiled
from ngramscan.progress import Progress


class Printing(Progress):
    def notice(self, text):
        print(text)


@compiled.kernel
def increased(number):
    return number + 1


def work():
    assert increased(1) == 2
    time.sleep(0.2)


compiled._LONG_S = 0.0
compiled.compile_for(work, Printing())
"""


def test_compiling_is_said_only_while_something_is_compiled(tmp_path: Path) -> None:
    program = tmp_path / "adding.py"
    program.write_text(ADDING)
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path), "PYTHONPATH": str(ROOT)}
    command = [sys.executable, str(program)]
    first, again = (
        subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
        for _ in range(2)
    )
    assert first.stdout == "compiling the index reader, once: about 5 s\n"
    assert again.stdout == ""
