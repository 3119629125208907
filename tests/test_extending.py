"""Questions of one's own, and the examples of docs/extending.md, done in a copy of the package."""

import re
import shutil
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PAGE = (ROOT / "docs" / "extending.md").read_text(encoding="utf-8")
# The last name in backticks before a block says which file it is of.
BLOCK = re.compile(r"`([\w./-]+)`:\n\n```(?:yaml|csv|json|python)\n(.*?)```", re.DOTALL)


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the package in which each block of the page stands where the page says."""
    folder = tmp_path_factory.mktemp("copy")
    shutil.copytree(ROOT / "evalcore", folder / "evalcore")
    for name, text in BLOCK.findall(PAGE):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        with (folder / name).open("a", encoding="utf-8") as file:
            file.write(text)
    return folder
