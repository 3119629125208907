"""Where compiled code is kept."""

from pathlib import Path

from ngramscan.index_files import compiled
from ngramscan.index_files.compiled import folder_of_code, kernel


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
