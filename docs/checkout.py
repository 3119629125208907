"""The files of a fresh clone, for commands that shall run as they do there."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def files_of_checkout(*folders: str) -> list[str]:
    """Return the files that git knows, in some folders or all: those of a fresh clone."""
    if not (ROOT / ".git").exists():  # a source distribution has no other files
        found = [path for name in folders or ("",) for path in (ROOT / name).rglob("*")]
        return [str(path.relative_to(ROOT)) for path in found if path.is_file()]
    listed = subprocess.run(
        ["git", "ls-files", "-z", *folders], cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True
    )
    return [name for name in listed.stdout.split("\0") if name and (ROOT / name).exists()]


def copy_checkout(folder: Path, *folders: str) -> None:
    """Copy the files of a fresh clone, in some folders or all."""
    for name in files_of_checkout(*folders):
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, target, follow_symlinks=False)
